#include "opencl/reduction/reducer.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/settings.h"
#include "numeric/scan/host_reduce.h"
#include "opencl/core/calls.h"
#include "opencl/memory/trial.h"
#include "opencl/reduction/passes.h"

#include <math.h>
#include <string.h>

/* The reduction of a chunk's values of one element type. */
struct part {
    enum clr_operation operation;
    int terms; /* of the operation; 0 while nothing is under way */
    cl_mem staging;
    size_t staging_size;
    int64_t bytes, fill_time;
    cl_event unmapped;
};

struct slot {
    cl_command_queue queue;
    struct part parts[CLR_ELEMENTS];
    struct clr_passes passes; /* opened as they are first used */
};

struct clr_reducer {
    struct clr_device_part attachment;
    struct clr_program programs[CLR_OPERATIONS][CLR_ELEMENTS];
    struct slot slots[CLR_REDUCER_SLOTS];
};

static void release(struct clr_device_part *attachment)
{
    struct clr_reducer *reducer = (struct clr_reducer *)(void *)attachment;
    int i, j;

    for (i = 0; i < CLR_REDUCER_SLOTS; i++) {
        for (j = 0; j < CLR_ELEMENTS; j++)
            clr_buffer_release(&reducer->slots[i].parts[j].staging);
        clr_passes_close(&reducer->slots[i].passes);
        clr_queue_release(reducer->slots[i].queue);
    }
    for (i = 0; i < CLR_OPERATIONS; i++) {
        for (j = 0; j < CLR_ELEMENTS; j++)
            clr_program_release(&reducer->programs[i][j]);
    }
}

static const struct clr_device_part_kind reducer_kind = {sizeof(struct clr_reducer), "reductions",
                                                         release, NULL};

static struct clr_reducer *reducer_of(const struct clr_device *device)
{
    return clr_device_find(device, &reducer_kind);
}

/* Returns the device's reducer, which is made if there is none, or NULL. */
static struct clr_reducer *open_reducer(struct clr_device *device, struct clr_status *status)
{
    struct clr_reducer *reducer = reducer_of(device);
    int i;

    if (reducer != NULL)
        return reducer;
    reducer = clr_device_attach(device, &reducer_kind, status);
    for (i = 0; i < CLR_REDUCER_SLOTS && status->code == CLR_OK; i++)
        clr_queue_make(device->context, device->info.id, CL_QUEUE_PROFILING_ENABLE,
                       &reducer->slots[i].queue, status);
    if (status->code == CLR_OK || reducer == NULL)
        return reducer;
    clr_device_detach(device, &reducer->attachment);
    return NULL;
}

const struct clr_program *clr_reducer_program(const struct clr_device *device,
                                              enum clr_operation operation,
                                              enum clr_element element)
{
    static const struct clr_program none;
    const struct clr_reducer *reducer = reducer_of(device);

    return reducer == NULL ? &none : &reducer->programs[operation][element];
}

enum clr_code clr_reducer_build(struct clr_device *device, enum clr_operation operation,
                                enum clr_element element, char **log, struct clr_status *status)
{
    const struct clr_step_kind kind = {operation, element};
    struct clr_reducer *reducer = open_reducer(device, status);
    struct clr_program *program;

    *log = NULL;
    if (reducer == NULL)
        return status->code;
    program = &reducer->programs[operation][element];
    if (program->built)
        return CLR_OK;
    return clr_program_build(program, device->context, &device->info, &kind, 1, NULL, log, status);
}

/* Makes the staging buffer large enough: pinned memory of the host where the driver has it, which
   a map and an unmap move at the bus's full speed (OpenCL 1.2, 5.2.1, CL_MEM_ALLOC_HOST_PTR). */
static enum clr_code size_staging(struct clr_device *device, struct part *part, size_t size,
                                  struct clr_status *status)
{
    const cl_mem_flags flags = CL_MEM_READ_ONLY | CL_MEM_ALLOC_HOST_PTR | CL_MEM_HOST_WRITE_ONLY;
    const struct clr_wanted_buffer wanted = {&part->staging, flags, size};

    if (part->staging_size >= size)
        return CLR_OK;
    clr_buffer_release(&part->staging);
    clr_buffers_make(device->context, &wanted, 1, status);
    part->staging_size = status->code == CLR_OK ? size : 0;
    return status->code;
}

static enum clr_code fill_staging(struct slot *slot, struct part *part,
                                  const struct clr_chunk *chunk, enum clr_element element,
                                  struct clr_status *status)
{
    size_t size = chunk->count[element] * sizeof(double);
    const char *source =
        element == CLR_REAL ? (const char *)chunk->real : (const char *)chunk->integer;
    size_t operand, width = clr_operation_width(chunk->operation);
    int64_t start = clr_clock_ns();
    cl_int error;
    char *mapped;

    mapped =
        clr_cl.EnqueueMapBuffer(slot->queue, part->staging, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION,
                                0, width * size, 0, NULL, NULL, &error);
    if (clr_opencl_check_buffer(status, "clEnqueueMapBuffer", error) != CLR_OK)
        return status->code;
    for (operand = 0; operand < width; operand++)
        memcpy(mapped + operand * size, source + operand * chunk->capacity * sizeof(double), size);
    error =
        clr_cl.EnqueueUnmapMemObject(slot->queue, part->staging, mapped, 0, NULL, &part->unmapped);
    part->bytes = (int64_t)(width * size);
    part->fill_time = clr_clock_ns() - start;
    return clr_opencl_check(status, "clEnqueueUnmapMemObject", error);
}

static enum clr_code begin_part(struct clr_device *device, struct slot *slot,
                                const struct clr_chunk *chunk, enum clr_element element,
                                struct clr_status *status)
{
    struct part *part = &slot->parts[element];
    size_t count = chunk->count[element];
    size_t size = count * clr_operation_width(chunk->operation) * sizeof(double);
    const struct clr_term *terms;
    int i;

    part->operation = chunk->operation;
    terms = clr_operation_terms(chunk->operation, &part->terms);
    if (slot->passes.queue == NULL &&
        clr_passes_open(&slot->passes, device->context, slot->queue, &device->info,
                        (int)CLR_ELEMENTS * CLR_MOST_TERMS, status) != CLR_OK)
        return status->code;
    slot->passes.timed = true; /* chunks overlap: nobody waits for one */
    if (size_staging(device, part, size, status) != CLR_OK ||
        fill_staging(slot, part, chunk, element, status) != CLR_OK)
        return status->code;
    for (i = 0; i < part->terms; i++) {
        const struct clr_term *term = &terms[i];
        if (clr_passes_start(&slot->passes, clr_reducer_program(device, term->operation, element),
                             part->staging, (size_t)term->first * count,
                             (size_t)(term->second - term->first) * count, count, status) != CLR_OK)
            return status->code;
    }
    return CLR_OK;
}

/*
 * After a failure that passes, the slot can be used again, from the beginning. Its staging buffers
 * may be mapped still: they are given back.
 */
static enum clr_code recover(struct slot *slot, struct clr_status *status)
{
    int element;

    if (status->code != CLR_NOMEM)
        return status->code;
    clr_queue_drain(slot->queue, status);
    if (slot->passes.queue != NULL)
        clr_passes_recover(&slot->passes, status);
    for (element = 0; element < CLR_ELEMENTS && status->code == CLR_NOMEM; element++) {
        struct part *part = &slot->parts[element];

        clr_event_release(&part->unmapped);
        clr_buffer_release(&part->staging);
        memset(part, 0, sizeof *part);
    }
    return status->code;
}

enum clr_code clr_reducer_begin(struct clr_device *device, int slot, const struct clr_chunk *chunk,
                                unsigned elements, struct clr_status *status)
{
    struct slot *used = &reducer_of(device)->slots[slot];
    int element;

    for (element = 0; element < CLR_ELEMENTS; element++) {
        if ((elements & 1u << element) &&
            begin_part(device, used, chunk, (enum clr_element)element, status) != CLR_OK)
            return recover(used, status);
    }
    clr_passes_fetch(&used->passes, status);
    return recover(used, status);
}

enum clr_code clr_reducer_finish(struct clr_device *device, int slot, struct clr_state *state,
                                 struct clr_device_work *work, struct clr_status *status)
{
    struct slot *used = &reducer_of(device)->slots[slot];
    const struct clr_term *terms;
    int element, count, i, number = 0;

    if (clr_passes_wait(&used->passes, work, status) != CLR_OK)
        return recover(used, status);
    for (element = 0; element < CLR_ELEMENTS; element++) {
        struct part *part = &used->parts[element];
        if (part->terms == 0)
            continue;
        terms = clr_operation_terms(part->operation, &count);
        for (i = 0; i < count; i++)
            clr_passes_take(&used->passes, number++, terms[i].operation, (enum clr_element)element,
                            state, i);
        part->terms = 0;
        work->bytes += part->bytes;
        work->transfer_time += part->fill_time + clr_event_take_time(&part->unmapped);
    }
    return CLR_OK;
}

/* ---- The examination of a program before its answers are trusted. */

enum { HARD_VALUES = CLR_TRIAL_ROWS };

/* Any bits but those of infinities and NaN; every 64th value cancels the one before. */
static double hard_real(uint64_t *seed, size_t i, double previous)
{
    uint64_t bits = clr_test_random(seed);
    double value;

    if (i % 64 == 63)
        return -previous;
    if ((bits >> 52 & 0x7ff) == 0x7ff)
        bits ^= (uint64_t)1 << 62;
    /* Half of the values lie close together, so that expansions are tried as well. */
    if (i % 1000 < 500)
        bits = (bits & ~((uint64_t)0x7ff << 52)) | (uint64_t)(1000 + i % 50) << 52;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void fill_hard(struct clr_chunk *chunk, enum clr_element element, bool infinities)
{
    size_t width = clr_operation_width(chunk->operation), operand, i;
    uint64_t seed = CLR_TEST_SEED;

    chunk->count[element] = HARD_VALUES;
    for (operand = 0; operand < width; operand++) {
        double *real = chunk->real + operand * chunk->capacity;
        int64_t *integer = chunk->integer + operand * chunk->capacity;
        for (i = 0; i < HARD_VALUES; i++) {
            if (element == CLR_REAL)
                real[i] = hard_real(&seed, i, i > 0 ? real[i - 1] : 0.0);
            else
                integer[i] = (int64_t)clr_test_random(&seed);
        }
        if (element == CLR_REAL && infinities)
            real[HARD_VALUES / 2] = INFINITY;
        else if (element == CLR_INTEGER)
            integer[HARD_VALUES / 2] = INT64_MIN;
    }
}

static bool same_answer(struct clr_state *a, struct clr_state *b)
{
    double x = clr_sum_round(&a->sum, 1), y = clr_sum_round(&b->sum, 1);

    return memcmp(&x, &y, sizeof x) == 0 &&
           memcmp(&a->sum.integer, &b->sum.integer, sizeof a->sum.integer) == 0 &&
           clr_test_same_range(&a->integers, &b->integers) &&
           clr_test_same_range(&a->reals, &b->reals);
}

enum clr_code clr_self_test(struct clr_device *device, enum clr_operation operation,
                            enum clr_element element, struct clr_status *status)
{
    struct clr_chunk *chunk = clr_chunk_new(operation, HARD_VALUES);
    struct clr_device_work work;
    struct clr_state expected, found;
    int round;

    if (chunk == NULL)
        return clr_status_set(status, CLR_NOMEM, 0, "no memory for the self-test");
    for (round = 0; round < 2 && status->code == CLR_OK; round++) {
        clr_state_clear(&expected);
        clr_state_clear(&found);
        memset(&work, 0, sizeof work);
        fill_hard(chunk, element, round == 1);
        clr_host_reduce(chunk, element, &expected);
        if (clr_reducer_begin(device, 0, chunk, 1u << element, status) == CLR_OK &&
            clr_reducer_finish(device, 0, &found, &work, status) == CLR_OK &&
            !same_answer(&expected, &found))
            clr_status_set(status, CLR_DEVICE, 0,
                           "self-test: the device's result differs from the host's");
    }
    clr_memory_free(chunk);
    return status->code;
}

/* ---- The choice of the arithmetic. */

/*
 * Enough for each of a large GPU's work-items to add some values. The device writes them into its
 * own memory: the host has but a few of them, in as many patterns as are of the largest size that
 * there is (OpenCL 1.2, 5.2.2, clr_cl.EnqueueFillBuffer), each of which fills a region.
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
static void fill_different(struct clr_chunk *chunk)
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
    const struct clr_wanted_buffer wanted = {&trial->values, CL_MEM_READ_WRITE,
                                             VALUES * sizeof(double)};
    cl_int error = CL_SUCCESS;
    size_t i;

    if (clr_buffers_make(device->context, &wanted, 1, status) != CLR_OK)
        return status->code;
    for (i = 0; i < PATTERNS && error == CL_SUCCESS; i++)
        error =
            clr_cl.EnqueueFillBuffer(trial->queue, trial->values, trial->chunk->real + i * PATTERN,
                                     PATTERN * sizeof(double), i * region, region, 0, NULL, NULL);
    return clr_opencl_check_buffer(status, "clEnqueueFillBuffer", error);
}

static enum clr_code open_trial(struct clr_device *device, struct trial *trial,
                                struct clr_status *status)
{
    struct clr_state state;

    trial->chunk = clr_chunk_new(CLR_SUM, DIFFERENT);
    if (trial->chunk == NULL)
        return clr_status_set(status, CLR_NOMEM, 0, "no memory for a device's trial");
    fill_different(trial->chunk);
    clr_state_clear(&state);
    clr_host_reduce(trial->chunk, CLR_REAL, &state);
    trial->sum = ldexp(clr_sum_round(&state.sum, 1), REPEATED_BITS);
    return clr_queue_make(device->context, device->info.id, CL_QUEUE_PROFILING_ENABLE,
                          &trial->queue, status) == CLR_OK
               ? make_values(device, trial, status)
               : status->code;
}

static void close_trial(struct trial *trial)
{
    clr_buffer_release(&trial->values);
    clr_queue_release(trial->queue);
    clr_memory_free(trial->chunk);
}

/* A program that can't be built is none that this device computes with: that is no failure here. */
static enum clr_code open_candidate(const struct clr_device *device, const struct trial *trial,
                                    struct candidate *candidate, struct clr_status *status)
{
    const struct clr_step_kind kind = {CLR_SUM, CLR_REAL};
    char *log = NULL;

    if (clr_program_build(&candidate->program, device->context, &candidate->info, &kind, 1, NULL,
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
    clr_memory_free(trial->chunk);
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
