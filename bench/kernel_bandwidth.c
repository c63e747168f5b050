/*
 * The exact kernels on values that the device holds, beside the plain read of as many bytes: the
 * device's plain sum, and the host's read with all threads where the device is the CPU itself.
 */
#include "data.h"
#include "exact.h"
#include "host_read.h"
#include "measure.h"
#include "options.h"
#include "plain.h"

#include <stdio.h>
#include <stdlib.h>

struct kernel_bench {
    const struct bench_options *options;
    struct bench_target target;
    struct bench_plain plain;
    struct bench_exact_reduction reductions[CLR_OPERATIONS][CLR_ELEMENTS];
    cl_mem buffer;
    void *values; /* what the buffer holds; on a CPU device the same memory */
    double seconds;
};

/* Compares a reduction's latest result with the host's. */
static enum bench_exact verify(struct kernel_bench *bench, struct bench_exact_reduction *reduction,
                               const char *data)
{
    enum clr_operation operation = reduction->operation;
    enum clr_element element = reduction->element;
    struct clr_state expected;

    clr_state_clear(&expected);
    bench_reduce_on_host(bench->values, reduction->count, operation, element, &expected);
    if (bench_same_state(&expected, &reduction->state))
        return BENCH_EQUAL;
    bench_wrong("%s of %zu %s values (%s) on %s is wrong", bench_operation_names[operation],
                reduction->count, bench_element_names[element], data, bench->target.info.name);
    return BENCH_DIFFERENT;
}

/* One size: each operation, by the kernels' own time and by the clock on the wall, and the reads.
 */
static void measure_size(struct kernel_bench *bench, enum clr_element element, enum bench_data data,
                         size_t bytes)
{
    const char *kind = data == BENCH_HARD ? "all exponents" : "uniform";
    bool cpu = bench->target.info.type == CLR_DEVICE_CPU;
    struct bench_host_read host = {bench->values, bytes / sizeof(double), bench_host_threads()};
    struct bench_exact_reduction walls[CLR_OPERATIONS];
    struct bench_case cases[2 + 2 * CLR_OPERATIONS] = {
        {.run = bench_plain_run, .argument = &bench->plain},
        {.run = bench_host_read, .argument = &host},
    };
    size_t operations = data == BENCH_HARD ? CLR_EXTREMES : CLR_OPERATIONS, i, first = cpu ? 2 : 1;
    struct bench_line line = {
        .part = "kernel", .device = bench->target.info.name, .bytes = (int64_t)bytes};

    bench_progress("kernel: %s, %s, %zu bytes", bench_element_names[element], kind, bytes);
    bench_plain_tune(&bench->plain, bench->buffer, bytes);
    for (i = 0; i < operations; i++) {
        struct bench_exact_reduction *reduction = &bench->reductions[i][element];
        reduction->buffer = bench->buffer;
        reduction->count = bytes / sizeof(double) / clr_operation_width((enum clr_operation)i);
        walls[i] = *reduction;
        walls[i].wall = true;
        cases[first + 2 * i] = (struct bench_case){.run = bench_exact_run, .argument = reduction};
        cases[first + 2 * i + 1] =
            (struct bench_case){.run = bench_exact_run, .argument = &walls[i]};
    }
    bench_measure(cases, first + 2 * operations, bench->options->runs, bench->seconds);

    line.element = bench_element_names[element];
    line.operation = "sum";
    line.name = "plain read";
    line.times = &cases[0];
    bench_plain_describe(&bench->plain, line.notes, sizeof line.notes);
    bench_print(&line);
    if (cpu) {
        line.device = "host";
        line.name = "host read, all threads";
        line.times = &cases[1];
        snprintf(line.notes, sizeof line.notes, "vectors, %d threads", host.threads);
        bench_print(&line);
        line.device = bench->target.info.name;
    }
    line.reference = &cases[cpu ? 1 : 0];
    for (i = 0; i < operations; i++) {
        struct bench_exact_reduction *reduction = &bench->reductions[i][element];
        line.operation = bench_operation_names[i];
        line.exact = verify(bench, reduction, kind);
        line.name = data == BENCH_HARD ? "exact, all exponents" : "exact";
        line.times = &cases[first + 2 * i];
        snprintf(line.notes, sizeof line.notes, "%d passes, groups of %zu; share of the %s",
                 reduction->launched, reduction->program.group_size,
                 cpu ? "host's read with all threads" : "device's plain read");
        bench_print(&line);
        line.name = data == BENCH_HARD ? "exact, all exponents, wall" : "exact, wall";
        line.times = &cases[first + 2 * i + 1];
        line.exact = verify(bench, &walls[i], kind);
        bench_print(&line);
    }
}

/* The host's read and a CPU device's compare only if they read the same memory. */
static cl_mem make_buffer(const struct bench_target *target, void *values, size_t size)
{
    cl_int error;
    cl_mem buffer;

    if (target->info.type != CLR_DEVICE_CPU)
        return bench_buffer(target, CL_MEM_READ_ONLY, size);
    buffer = clr_cl.CreateBuffer(target->context, CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR, size,
                                 values, &error);
    bench_check(error, "clCreateBuffer");
    return buffer;
}

static void fill(struct kernel_bench *bench, size_t size, enum clr_element element,
                 enum bench_data data)
{
    const struct bench_target *target = &bench->target;
    cl_int error;
    void *mapped;

    bench_progress("kernel: filling %zu bytes", size);
    if (target->info.type != CLR_DEVICE_CPU) {
        bench_fill(bench->values, size / sizeof(double), element, data);
        bench_upload(target, bench->buffer, bench->values, size);
        return;
    }
    mapped =
        clr_cl.EnqueueMapBuffer(target->queue, bench->buffer, CL_TRUE,
                                CL_MAP_WRITE_INVALIDATE_REGION, 0, size, 0, NULL, NULL, &error);
    bench_check(error, "clEnqueueMapBuffer");
    bench_fill(mapped, size / sizeof(double), element, data);
    error = clr_cl.EnqueueUnmapMemObject(target->queue, bench->buffer, mapped, 0, NULL, NULL);
    bench_check(error, "clEnqueueUnmapMemObject");
    bench_check(clr_cl.Finish(target->queue), "clFinish");
}

void bench_part_kernel(const struct bench_options *options)
{
    static struct kernel_bench bench;
    size_t sizes[BENCH_MOST_SIZES], count, i, limit, largest = 0, hard;
    int operation, element;
    bool gpu;

    bench.options = options;
    bench_target_open(&bench.target, options);
    gpu = bench.target.info.type != CLR_DEVICE_CPU;
    bench_plain_open(&bench.plain, &bench.target);
    for (operation = 0; operation < CLR_OPERATIONS; operation++) {
        for (element = 0; element < CLR_ELEMENTS; element++)
            bench_exact_open(&bench.reductions[operation][element], &bench.target,
                             (enum clr_operation)operation, (enum clr_element)element);
    }
    limit = bench_memory_limit() < bench.target.largest_buffer ? bench_memory_limit()
                                                               : bench.target.largest_buffer;
    /* On a GPU the filling and the verifying, which the host does, are what takes time. */
    count = bench_choose_sizes(options, (size_t)1 << 16, (size_t)1 << 31, limit,
                               gpu ? 20 : 16.0 * (options->runs + 2), gpu ? 5 : 4, sizes);
    for (i = 0; i < count; i++)
        largest = sizes[i] > largest ? sizes[i] : largest;
    hard = largest < (size_t)16 << 20 ? largest : (size_t)16 << 20;
    bench.values = bench_memory(largest);
    bench.buffer = make_buffer(&bench.target, bench.values, largest);
    bench.seconds = options->seconds / (2 * (double)count + 1);
    for (element = 0; element < CLR_ELEMENTS; element++) {
        fill(&bench, largest, (enum clr_element)element, BENCH_UNIFORM);
        for (i = 0; i < count; i++)
            measure_size(&bench, (enum clr_element)element, BENCH_UNIFORM, sizes[i]);
    }
    fill(&bench, hard, CLR_REAL, BENCH_HARD);
    measure_size(&bench, CLR_REAL, BENCH_HARD, hard);

    clr_cl.ReleaseMemObject(bench.buffer);
    free(bench.values);
    for (operation = 0; operation < CLR_OPERATIONS; operation++) {
        for (element = 0; element < CLR_ELEMENTS; element++)
            bench_exact_close(&bench.reductions[operation][element]);
    }
    bench_plain_close(&bench.plain);
    bench_target_close(&bench.target);
}
