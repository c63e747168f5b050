/* How fast the machine and the device read and copy their memory. */
#include "base/clock.h"
#include "data.h"
#include "host_read.h"
#include "measure.h"
#include "options.h"
#include "plain.h"
#include "target.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct copy {
    const struct bench_target *target;
    cl_mem from, to;
    void *host_from, *host_to;
    size_t bytes;
};

static int64_t copy_on_host(void *argument)
{
    const struct copy *copy = argument;
    int64_t start = clr_clock_ns();

    memcpy(copy->host_to, copy->host_from, copy->bytes);
    bench_host_sink = ((volatile double *)copy->host_to)[copy->bytes / sizeof(double) / 2];
    return clr_clock_ns() - start;
}

static int64_t copy_on_device(void *argument)
{
    const struct copy *copy = argument;
    cl_event event;

    bench_check(clr_cl.EnqueueCopyBuffer(copy->target->queue, copy->from, copy->to, 0, 0,
                                         copy->bytes, 0, NULL, &event),
                "clEnqueueCopyBuffer");
    return bench_event_time(event);
}

static void measure_host(const struct bench_options *options, void *values, void *copied,
                         size_t bytes, double seconds)
{
    struct bench_host_read all = {values, bytes / sizeof(double), bench_host_threads()};
    struct bench_host_read one = {values, bytes / sizeof(double), 1};
    struct copy copy = {.host_from = values, .host_to = copied, .bytes = bytes};
    struct bench_case cases[] = {
        {.run = bench_host_read, .argument = &all},
        {.run = bench_host_read, .argument = &one},
        {.run = bench_host_plain_loop, .argument = &one},
        {.run = copy_on_host, .argument = &copy},
    };
    struct bench_line line = {.part = "bandwidth", .element = "real", .bytes = (int64_t)bytes};

    bench_measure(cases, 4, options->runs, seconds);
    line.operation = "sum";
    line.device = "host";
    line.times = &cases[0];
    line.name = "read, all threads";
    snprintf(line.notes, sizeof line.notes, "vectors, %d threads", all.threads);
    bench_print(&line);
    line.times = &cases[1];
    line.name = "read, one thread";
    snprintf(line.notes, sizeof line.notes, "vectors");
    bench_print(&line);
    line.times = &cases[2];
    line.name = "plain loop, one thread";
    snprintf(line.notes, sizeof line.notes, "one value after the other");
    bench_print(&line);
    line.times = &cases[3];
    line.name = "copy, one thread";
    line.operation = "copy";
    line.bytes = 2 * (int64_t)bytes;
    snprintf(line.notes, sizeof line.notes, "bytes read and bytes written");
    bench_print(&line);
}

static void measure_device(const struct bench_options *options, const struct bench_target *target,
                           struct bench_plain *plain, struct copy *copy, const double *values,
                           double seconds)
{
    struct bench_case cases[] = {
        {.run = bench_plain_run, .argument = plain},
        {.run = copy_on_device, .argument = copy},
    };
    struct bench_line line = {.part = "bandwidth",
                              .device = target->info.name,
                              .element = "real",
                              .bytes = (int64_t)copy->bytes};
    struct clr_state state;
    double right;

    bench_plain_tune(plain, copy->from, copy->bytes);
    bench_measure(cases, 2, options->runs, seconds);
    clr_state_clear(&state);
    bench_reduce_on_host((void *)(uintptr_t)values, copy->bytes / sizeof(double), CLR_SUM, CLR_REAL,
                         &state);
    right = clr_sum_round(&state.sum, 1);
    bench_plain_verify(plain, right, right);
    line.times = &cases[0];
    line.operation = "sum";
    line.name = "plain read";
    bench_plain_describe(plain, line.notes, sizeof line.notes);
    bench_print(&line);
    line.times = &cases[1];
    line.operation = "copy";
    line.name = "copy";
    line.bytes *= 2;
    snprintf(line.notes, sizeof line.notes, "bytes read and bytes written");
    bench_print(&line);
}

void bench_part_bandwidth(const struct bench_options *options)
{
    size_t sizes[BENCH_MOST_SIZES], count, i, limit, largest = 0;
    struct bench_target target;
    struct bench_plain plain;
    struct copy copy = {.target = &target};
    double seconds, *values, *copied;

    bench_target_open(&target, options);
    bench_plain_open(&plain, &target);
    limit =
        bench_memory_limit() < target.largest_buffer ? bench_memory_limit() : target.largest_buffer;
    count = bench_choose_sizes(options, (size_t)1 << 24, (size_t)1 << 30, limit,
                               6.0 * (options->runs + 2), 5, sizes);
    for (i = 0; i < count; i++)
        largest = sizes[i] > largest ? sizes[i] : largest;
    values = bench_memory(largest);
    copied = bench_memory(largest);
    bench_fill(values, largest / sizeof *values, CLR_REAL, BENCH_UNIFORM);
    memset(copied, 0, largest);
    copy.from = bench_buffer(&target, CL_MEM_READ_ONLY, largest);
    copy.to = bench_buffer(&target, CL_MEM_READ_WRITE, largest);
    bench_upload(&target, copy.from, values, largest);
    seconds = options->seconds / (2 * (double)count);
    for (i = 0; i < count; i++) {
        bench_progress("bandwidth: %zu bytes", sizes[i]);
        measure_host(options, values, copied, sizes[i], seconds);
        copy.bytes = sizes[i];
        measure_device(options, &target, &plain, &copy, values, seconds);
    }
    free(values);
    free(copied);
    clr_cl.ReleaseMemObject(copy.from);
    clr_cl.ReleaseMemObject(copy.to);
    bench_plain_close(&plain);
    bench_target_close(&target);
}
