#include "plain.h"

#include "data.h"
#include "measure.h"
#include "texts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TUNING_RUNS = 3 };

struct shape {
    size_t vector, unroll;
};

struct geometry {
    size_t group, groups_per_unit;
};

static const struct shape gpu_shapes[] = {{1, 4}, {1, 8}, {2, 2}, {2, 4}, {2, 8}, {4, 2}, {4, 4}};
static const struct shape cpu_shapes[] = {{4, 4}, {4, 8}, {8, 1}, {8, 2}, {8, 4}, {8, 8}};
static const struct geometry gpu_geometries[] = {{256, 4}, {256, 8},  {256, 32}, {512, 4},
                                                 {512, 8}, {1024, 2}, {1024, 8}};
static const struct geometry cpu_geometries[] = {{1, 1}, {1, 2}, {1, 4}};

/* What is read to choose a variant, at most: a CPU takes its time. */
enum { CPU_TUNING_BYTES = 64 << 20, GPU_TUNING_BYTES = 256 << 20 };

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static bool is_cpu(const struct bench_plain *plain)
{
    return plain->target->info.type == CLR_DEVICE_CPU;
}

void bench_plain_open(struct bench_plain *plain, const struct bench_target *target)
{
    const char *source = clr_kernel_plain_sum;
    const struct shape *shapes;
    char options[128];
    size_t i, count;

    memset(plain, 0, sizeof *plain);
    plain->target = target;
    shapes = is_cpu(plain) ? cpu_shapes : gpu_shapes;
    count = is_cpu(plain) ? COUNT(cpu_shapes) : COUNT(gpu_shapes);
    for (i = 0; i < count; i++) {
        struct bench_plain_kernel *kernel = &plain->kernels[plain->kernel_count++];
        cl_int error;
        kernel->vector = shapes[i].vector;
        kernel->unroll = shapes[i].unroll;
        snprintf(options, sizeof options, "-cl-std=CL1.2 -DVECTOR=%zu -DUNROLL=%zu -DCONTIGUOUS=%d",
                 kernel->vector, kernel->unroll, is_cpu(plain));
        kernel->kernel = bench_kernel(target, &source, 1, "plain_sum", options, true);
        error = clr_cl.GetKernelWorkGroupInfo(
            kernel->kernel, target->info.id, CL_KERNEL_WORK_GROUP_SIZE,
            sizeof kernel->largest_group, &kernel->largest_group, NULL);
        bench_check(error, "clGetKernelWorkGroupInfo");
    }
    plain->result =
        bench_buffer(target, CL_MEM_READ_WRITE, BENCH_PLAIN_MOST_GROUPS * sizeof(double));
}

void bench_plain_close(struct bench_plain *plain)
{
    int i;
    for (i = 0; i < plain->kernel_count; i++)
        clr_cl.ReleaseKernel(plain->kernels[i].kernel);
    clr_cl.ReleaseMemObject(plain->result);
}

static size_t count_groups(const struct bench_plain *plain)
{
    size_t loads = plain->bytes / (plain->kernel->vector * sizeof(double));
    size_t needed = (loads + plain->group - 1) / plain->group;
    size_t groups = plain->groups_per_unit * plain->target->info.compute_units;

    groups = groups < needed ? groups : needed;
    return groups < 1 ? 1 : groups < BENCH_PLAIN_MOST_GROUPS ? groups : BENCH_PLAIN_MOST_GROUPS;
}

int64_t bench_plain_run(void *argument)
{
    const struct bench_plain *plain = argument;
    cl_kernel kernel = plain->kernel->kernel;
    cl_ulong count = plain->bytes / (plain->kernel->vector * sizeof(double));
    size_t group = plain->group, global = count_groups(plain) * group;
    cl_event event;

    bench_check(clr_cl.SetKernelArg(kernel, 0, sizeof plain->buffer, &plain->buffer),
                "clSetKernelArg");
    bench_check(clr_cl.SetKernelArg(kernel, 1, sizeof count, &count), "clSetKernelArg");
    bench_check(clr_cl.SetKernelArg(kernel, 2, sizeof plain->result, &plain->result),
                "clSetKernelArg");
    bench_check(clr_cl.SetKernelArg(kernel, 3, group * sizeof(double), NULL), "clSetKernelArg");
    bench_check(clr_cl.EnqueueNDRangeKernel(plain->target->queue, kernel, 1, NULL, &global, &group,
                                            0, NULL, &event),
                "clEnqueueNDRangeKernel");
    return bench_event_time(event);
}

void bench_plain_tune(struct bench_plain *plain, cl_mem buffer, size_t bytes)
{
    const struct geometry *geometries = is_cpu(plain) ? cpu_geometries : gpu_geometries;
    size_t count = is_cpu(plain) ? COUNT(cpu_geometries) : COUNT(gpu_geometries), i;
    size_t most = is_cpu(plain) ? CPU_TUNING_BYTES : GPU_TUNING_BYTES;
    struct bench_plain best = *plain;
    int64_t best_time = INT64_MAX;
    int j;

    plain->buffer = buffer;
    plain->bytes = bytes < most ? bytes : most;
    for (j = 0; j < plain->kernel_count; j++) {
        for (i = 0; i < count; i++) {
            struct bench_case one = {.run = bench_plain_run, .argument = plain};
            plain->kernel = &plain->kernels[j];
            plain->group = geometries[i].group;
            plain->groups_per_unit = geometries[i].groups_per_unit;
            if (plain->group > plain->kernel->largest_group)
                continue;
            bench_measure(&one, 1, TUNING_RUNS, 1);
            if (bench_median(&one) < best_time) {
                best_time = bench_median(&one);
                best = *plain;
            }
        }
    }
    *plain = best;
    plain->bytes = bytes;
}

void bench_plain_verify(struct bench_plain *plain, double right, double sum_of_sizes)
{
    size_t groups, i;
    double *sums, sum = 0;

    bench_plain_run(plain);
    groups = count_groups(plain);
    sums = bench_memory(groups * sizeof *sums);
    bench_check(clr_cl.EnqueueReadBuffer(plain->target->queue, plain->result, CL_TRUE, 0,
                                         groups * sizeof *sums, sums, 0, NULL, NULL),
                "clEnqueueReadBuffer");
    for (i = 0; i < groups; i++)
        sum += sums[i];
    free(sums);
    if (!(fabs(sum - right) <= 1e-9 * sum_of_sizes))
        bench_wrong("the plain sum is %.17g, not %.17g", sum, right);
}

void bench_plain_describe(const struct bench_plain *plain, char *text, size_t size)
{
    snprintf(text, size, "double%zu, %zu loads in flight, groups of %zu, %zu a compute unit",
             plain->kernel->vector, plain->kernel->unroll, plain->group, plain->groups_per_unit);
}
