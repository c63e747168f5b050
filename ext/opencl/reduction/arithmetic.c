#include "opencl/reduction/arithmetic.h"

#include "base/memory.h"
#include "base/settings.h"
#include "numeric/scan/host_reduce.h"
#include "opencl/core/calls.h"
#include "opencl/core/device.h"
#include "opencl/memory/trial.h"
#include "opencl/reduction/passes.h"

#include <math.h>
#include <string.h>

/*
 * Enough for each of a large GPU's work-items to add some values. The device writes them into its
 * own memory: the host has but a few of them, in as many patterns as are of the largest size that
 * there is (OpenCL 1.2, 5.2.2, clEnqueueFillBuffer), each of which fills a region.
 */
enum {
    VALUES = 2 << 20,
    PATTERN = 16,
    PATTERNS = 64,
    DIFFERENT = PATTERN * PATTERNS,
    REPEATED_BITS = 11,
    ROUNDS = 3
};
_Static_assert(DIFFERENT << REPEATED_BITS == VALUES, "all values");

/* What is summed in either arithmetic, of which the chunk has each value once, and its sum. */
struct trial {
    struct clr_chunk *chunk;
    cl_command_queue queue;
    cl_mem values;
    double sum;
};

/* One of the two. */
struct candidate {
    struct clr_device_info info;
    struct clr_program program;
    struct clr_passes passes;
    int64_t *time;
};

/* Values as measurements are: of both signs, and of about a dozen exponents. */
static void fill(struct clr_chunk *chunk)
{
    uint64_t seed = CLR_TEST_SEED;
    size_t i;

    for (i = 0; i < DIFFERENT; i++)
        chunk->real[i] = (double)(int32_t)(clr_test_random(&seed) >> 32) / 3e6;
    chunk->count[CLR_REAL] = DIFFERENT;
}

/* Makes the values, and has the device fill them. */
static enum clr_code make_values(const struct clr_device *device, struct trial *trial,
                                 struct clr_status *status)
{
    const size_t region = VALUES / PATTERNS * sizeof(double);
    cl_int error;
    size_t i;

    trial->values =
        clCreateBuffer(device->context, CL_MEM_READ_WRITE, VALUES * sizeof(double), NULL, &error);
    if (error != CL_SUCCESS)
        return clr_opencl_buffer_failed(status, "clCreateBuffer", error);
    for (i = 0; i < PATTERNS && error == CL_SUCCESS; i++)
        error = clEnqueueFillBuffer(trial->queue, trial->values, trial->chunk->real + i * PATTERN,
                                    PATTERN * sizeof(double), i * region, region, 0, NULL, NULL);
    return error == CL_SUCCESS ? CLR_OK
                               : clr_opencl_buffer_failed(status, "clEnqueueFillBuffer", error);
}

static enum clr_code open_trial(struct clr_device *device, struct trial *trial,
                                struct clr_status *status)
{
    struct clr_state state;
    cl_int error;

    trial->chunk = clr_chunk_new(CLR_SUM, DIFFERENT);
    if (trial->chunk == NULL)
        return clr_status_set(status, CLR_NOMEM, 0, "no memory for a device's trial");
    fill(trial->chunk);
    clr_state_clear(&state);
    clr_host_reduce(trial->chunk, CLR_REAL, &state);
    trial->sum = ldexp(clr_sum_round(&state.sum, 1), REPEATED_BITS);
    trial->queue =
        clCreateCommandQueue(device->context, device->info.id, CL_QUEUE_PROFILING_ENABLE, &error);
    if (error != CL_SUCCESS)
        return clr_opencl_failed(status, "clCreateCommandQueue", error);
    return make_values(device, trial, status);
}

static void close_trial(struct trial *trial)
{
    clr_buffer_release(&trial->values);
    if (trial->queue != NULL)
        clReleaseCommandQueue(trial->queue);
    clr_chunk_free(trial->chunk);
}

/* A program that can't be built is none that this device computes with: that is no failure here. */
static enum clr_code open_candidate(const struct clr_device *device, const struct trial *trial,
                                    struct candidate *candidate, struct clr_status *status)
{
    char *log = NULL;

    if (clr_program_build(&candidate->program, device->context, &candidate->info, CLR_SUM, CLR_REAL,
                          &log, status) == CLR_OK)
        clr_passes_open(&candidate->passes, device->context, trial->queue, &candidate->info, 1,
                        status);
    else if (status->code == CLR_DEVICE)
        clr_status_clear(status);
    clr_memory_free(log);
    candidate->passes.timed = true;
    return status->code;
}

static void close_candidate(struct candidate *candidate)
{
    clr_passes_close(&candidate->passes);
    clr_program_release(&candidate->program);
}

/* Sums the values once. The best time counts; a wrong sum leaves none, and ends the trial of this
   candidate. */
static enum clr_code run(const struct trial *trial, struct candidate *candidate,
                         struct clr_status *status)
{
    struct clr_passes *passes = &candidate->passes;
    struct clr_device_work work = {0};
    struct clr_state state;

    if (clr_passes_start(passes, &candidate->program, trial->values, 0, 0, VALUES, status) !=
            CLR_OK ||
        clr_passes_fetch(passes, status) != CLR_OK ||
        clr_passes_wait(passes, &work, status) != CLR_OK) {
        if (status->code == CLR_NOMEM)
            clr_passes_recover(passes, status);
        return status->code;
    }
    clr_state_clear(&state);
    clr_passes_take(passes, 0, CLR_SUM, CLR_REAL, &state, 0);
    if (clr_sum_round(&state.sum, 1) != trial->sum) {
        *candidate->time = 0;
        close_candidate(candidate);
    } else if (*candidate->time == 0 || work.kernel_time < *candidate->time) {
        *candidate->time = work.kernel_time;
    }
    return CLR_OK;
}

/* Gives back what the host has of both candidates and the trial. What lies on a device that has
   failed is left there. */
static void abandon(struct trial *trial, struct candidate candidates[2])
{
    int i;

    for (i = 0; i < 2; i++) {
        clr_memory_free(candidates[i].passes.kernels);
        clr_memory_free(candidates[i].passes.reductions);
    }
    clr_chunk_free(trial->chunk);
}

enum clr_code clr_arithmetic_measure(struct clr_device *device, struct clr_arithmetic_times *times,
                                     struct clr_status *status)
{
    struct trial trial = {0};
    struct candidate candidates[2] = {{.info = device->info, .time = &times->doubles},
                                      {.info = device->info, .time = &times->integers}};
    int round, i;

    memset(times, 0, sizeof *times);
    candidates[0].info.slow_doubles = false;
    candidates[1].info.slow_doubles = true;
    open_trial(device, &trial, status);
    for (i = device->info.doubles ? 0 : 1; i < 2 && status->code == CLR_OK; i++)
        open_candidate(device, &trial, &candidates[i], status);
    for (round = 0; round < ROUNDS; round++) {
        for (i = 0; i < 2 && status->code == CLR_OK; i++) {
            if (candidates[i].program.built)
                run(&trial, &candidates[i], status);
        }
    }
    if (status->code == CLR_DEVICE) {
        abandon(&trial, candidates);
        return status->code;
    }
    if (status->code != CLR_OK)
        memset(times, 0, sizeof *times);
    clr_status_clear(status);
    for (i = 0; i < 2; i++)
        close_candidate(&candidates[i]);
    close_trial(&trial);
    return CLR_OK;
}

enum clr_code clr_arithmetic_choose(struct clr_device *device, struct clr_status *status)
{
    struct clr_device_info *info = &device->info;
    struct clr_arithmetic_times times;

    if (!info->doubles || info->type == CLR_DEVICE_CPU ||
        clr_process_setting(CLR_DEVICE_ARITHMETIC) != CLR_ARITHMETIC_AUTO)
        return CLR_OK;
    if (clr_arithmetic_measure(device, &times, status) == CLR_OK)
        info->slow_doubles = clr_arithmetic_prefers_integers(&times);
    return status->code;
}
