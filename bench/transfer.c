/*
 * From the host to the device: what each way of transferring costs, the copying into a staging
 * buffer apart and included, and what it gains to fill one staging buffer while the other one's
 * transfer runs.
 */
#include "base/clock.h"
#include "data.h"
#include "measure.h"
#include "options.h"
#include "plain.h"
#include "target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WAYS = 2, CHUNKS = 4 };

struct transfer {
    const struct bench_target *target;
    cl_command_queue queues[WAYS];
    cl_mem staging[WAYS]; /* CL_MEM_ALLOC_HOST_PTR, mapped and unmapped for each transfer */
    cl_mem pinned[WAYS];  /* likewise, but mapped once */
    char *pinned_memory[WAYS];
    cl_mem device[WAYS];
    char *source; /* ordinary memory */
    size_t bytes;
    struct bench_plain plain;
};

/* What a case measures of a transfer. */
struct task {
    struct transfer *transfer;
    bool fill;    /* the copying into the staging buffer as well */
    bool mapped;  /* map and unmap, or else a write from pinned memory */
    bool overlap; /* two buffers in turn */
};

static void *map(const struct transfer *transfer, int way)
{
    cl_int error;
    void *memory = clr_cl.EnqueueMapBuffer(transfer->queues[way], transfer->staging[way], CL_TRUE,
                                           CL_MAP_WRITE_INVALIDATE_REGION, 0, transfer->bytes, 0,
                                           NULL, NULL, &error);
    bench_check(error, "clEnqueueMapBuffer");
    return memory;
}

static void unmap(const struct transfer *transfer, int way, void *memory)
{
    bench_check(clr_cl.EnqueueUnmapMemObject(transfer->queues[way], transfer->staging[way], memory,
                                             0, NULL, NULL),
                "clEnqueueUnmapMemObject");
}

static void write_buffer(const struct transfer *transfer, int way, const void *from,
                         cl_event *event)
{
    bench_check(clr_cl.EnqueueWriteBuffer(transfer->queues[way], transfer->device[way], CL_FALSE, 0,
                                          transfer->bytes, from, 0, NULL, event),
                "clEnqueueWriteBuffer");
}

static void finish(const struct transfer *transfer, int way)
{
    bench_check(clr_cl.Finish(transfer->queues[way]), "clFinish");
}

static int64_t run_pageable(void *argument)
{
    const struct task *task = argument;
    int64_t start = clr_clock_ns();

    write_buffer(task->transfer, 0, task->transfer->source, NULL);
    finish(task->transfer, 0);
    return clr_clock_ns() - start;
}

static int64_t run_mapped(void *argument)
{
    const struct task *task = argument;
    const struct transfer *transfer = task->transfer;
    int64_t start = clr_clock_ns(), filled;
    void *memory = map(transfer, 0);

    memcpy(memory, transfer->source, transfer->bytes);
    filled = clr_clock_ns();
    unmap(transfer, 0, memory);
    finish(transfer, 0);
    return clr_clock_ns() - (task->fill ? start : filled);
}

static int64_t run_pinned(void *argument)
{
    const struct task *task = argument;
    const struct transfer *transfer = task->transfer;
    int64_t start = clr_clock_ns(), filled;

    memcpy(transfer->pinned_memory[0], transfer->source, transfer->bytes);
    filled = clr_clock_ns();
    write_buffer(transfer, 0, transfer->pinned_memory[0], NULL);
    finish(transfer, 0);
    return clr_clock_ns() - (task->fill ? start : filled);
}

/*
 * The plain read right after a transfer through a mapped buffer: a driver that leaves the values
 * in the host's memory shows it here.
 */
static int64_t run_read_after_mapped(void *argument)
{
    const struct task *task = argument;
    void *memory = map(task->transfer, 0);

    memcpy(memory, task->transfer->source, task->transfer->bytes);
    unmap(task->transfer, 0, memory);
    finish(task->transfer, 0);
    return bench_plain_run(&task->transfer->plain);
}

/* Several chunks through two staging buffers in turn, or through one and waited for each. */
static int64_t run_chunks(void *argument)
{
    const struct task *task = argument;
    const struct transfer *transfer = task->transfer;
    cl_event written[WAYS] = {NULL, NULL};
    int64_t start = clr_clock_ns();
    int chunk, way;

    for (chunk = 0; chunk < CHUNKS; chunk++) {
        way = task->overlap ? chunk % WAYS : 0;
        if (task->mapped) {
            /* The map waits for the buffer's last transfer, as its queue is in order. */
            void *memory = map(transfer, way);
            memcpy(memory, transfer->source, transfer->bytes);
            unmap(transfer, way, memory);
        } else {
            if (written[way] != NULL) {
                bench_check(clr_cl.WaitForEvents(1, &written[way]), "clWaitForEvents");
                clr_cl.ReleaseEvent(written[way]);
            }
            memcpy(transfer->pinned_memory[way], transfer->source, transfer->bytes);
            write_buffer(transfer, way, transfer->pinned_memory[way], &written[way]);
        }
        bench_check(clr_cl.Flush(transfer->queues[way]), "clFlush");
        if (!task->overlap)
            finish(transfer, way);
    }
    for (way = 0; way < WAYS; way++) {
        finish(transfer, way);
        if (written[way] != NULL)
            clr_cl.ReleaseEvent(written[way]);
    }
    return clr_clock_ns() - start;
}

static void check_arrival(const struct transfer *transfer, cl_mem buffer, const char *what)
{
    char *arrived = bench_memory(transfer->bytes);

    bench_check(clr_cl.EnqueueReadBuffer(transfer->queues[0], buffer, CL_TRUE, 0, transfer->bytes,
                                         arrived, 0, NULL, NULL),
                "clEnqueueReadBuffer");
    if (memcmp(arrived, transfer->source, transfer->bytes) != 0)
        bench_wrong("what arrived is not what was sent: %s", what);
    free(arrived);
}

static void measure_size(const struct bench_options *options, struct transfer *transfer,
                         double seconds)
{
    struct task mapped = {.transfer = transfer, .mapped = true}, pinned = {.transfer = transfer};
    struct task mapped_fill = mapped, pinned_fill = pinned, mapped_overlap = mapped,
                pinned_overlap = pinned;
    struct bench_case cases[] = {
        {.run = run_pageable, .argument = &pinned},
        {.run = run_mapped, .argument = &mapped},
        {.run = run_mapped, .argument = &mapped_fill},
        {.run = run_pinned, .argument = &pinned},
        {.run = run_pinned, .argument = &pinned_fill},
        {.run = run_read_after_mapped, .argument = &mapped},
        {.run = run_chunks, .argument = &mapped},
        {.run = run_chunks, .argument = &mapped_overlap},
        {.run = run_chunks, .argument = &pinned},
        {.run = run_chunks, .argument = &pinned_overlap},
    };
    static const char *const names[] = {
        "pageable write",
        "mapped, transfer alone",
        "mapped, with filling",
        "pinned write, transfer alone",
        "pinned write, with filling",
        "plain read after mapped",
        "mapped, sequential",
        "mapped, overlapped",
        "pinned write, sequential",
        "pinned write, overlapped",
    };
    const size_t count = sizeof cases / sizeof cases[0], chunks = 6;
    size_t i;

    mapped_fill.fill = pinned_fill.fill = true;
    mapped_overlap.overlap = pinned_overlap.overlap = true;
    bench_plain_tune(&transfer->plain, transfer->staging[0], transfer->bytes);
    bench_measure(cases, count, options->runs, seconds);
    check_arrival(transfer, transfer->device[0], "pinned write");
    check_arrival(transfer, transfer->staging[0], "mapped");
    for (i = 0; i < count; i++) {
        struct bench_line line = {
            .part = "transfer", .name = names[i], .device = transfer->target->info.name};
        line.times = &cases[i];
        line.bytes = (int64_t)(transfer->bytes * (i < chunks ? 1 : CHUNKS));
        if (i >= chunks) {
            snprintf(line.notes, sizeof line.notes, "%d chunks of %zu bytes, with filling%s",
                     CHUNKS, transfer->bytes,
                     i % 2 == 1 ? "; ratio: speed in units of the sequential one" : "");
            if (i % 2 == 1)
                line.ratio = bench_ratio(&cases[i], &cases[i - 1]);
        }
        bench_print(&line);
    }
}

static void open_transfer(struct transfer *transfer, size_t largest)
{
    const cl_mem_flags staging = CL_MEM_READ_ONLY | CL_MEM_ALLOC_HOST_PTR;
    cl_int error;
    int way;

    transfer->source = bench_memory(largest);
    bench_fill(transfer->source, largest / sizeof(double), CLR_REAL, BENCH_UNIFORM);
    for (way = 0; way < WAYS; way++) {
        transfer->queues[way] = bench_queue(transfer->target);
        transfer->staging[way] = bench_buffer(transfer->target, staging, largest);
        transfer->pinned[way] = bench_buffer(transfer->target, staging, largest);
        transfer->device[way] = bench_buffer(transfer->target, CL_MEM_READ_ONLY, largest);
        transfer->pinned_memory[way] =
            clr_cl.EnqueueMapBuffer(transfer->queues[way], transfer->pinned[way], CL_TRUE,
                                    CL_MAP_READ | CL_MAP_WRITE, 0, largest, 0, NULL, NULL, &error);
        bench_check(error, "clEnqueueMapBuffer");
    }
}

static void close_transfer(struct transfer *transfer)
{
    int way;

    for (way = 0; way < WAYS; way++) {
        bench_check(clr_cl.EnqueueUnmapMemObject(transfer->queues[way], transfer->pinned[way],
                                                 transfer->pinned_memory[way], 0, NULL, NULL),
                    "clEnqueueUnmapMemObject");
        finish(transfer, way);
        clr_cl.ReleaseMemObject(transfer->staging[way]);
        clr_cl.ReleaseMemObject(transfer->pinned[way]);
        clr_cl.ReleaseMemObject(transfer->device[way]);
        clr_cl.ReleaseCommandQueue(transfer->queues[way]);
    }
    free(transfer->source);
}

void bench_part_transfer(const struct bench_options *options)
{
    size_t sizes[BENCH_MOST_SIZES], count, i, limit, largest = 0;
    struct bench_target target;
    struct transfer transfer = {.target = &target};

    bench_target_open(&target, options);
    bench_plain_open(&transfer.plain, &target);
    limit = bench_memory_limit() / 2;
    limit = limit < target.largest_buffer / 4 ? limit : target.largest_buffer / 4;
    count = bench_choose_sizes(options, (size_t)1 << 16, (size_t)1 << 30, limit,
                               25.0 * (options->runs + 1),
                               target.info.type == CLR_DEVICE_CPU ? 4 : 12, sizes);
    for (i = 0; i < count; i++)
        largest = sizes[i] > largest ? sizes[i] : largest;
    open_transfer(&transfer, largest);
    for (i = 0; i < count; i++) {
        bench_progress("transfer: %zu bytes", sizes[i]);
        transfer.bytes = sizes[i];
        measure_size(options, &transfer, options->seconds / (double)count);
    }
    close_transfer(&transfer);
    bench_plain_close(&transfer.plain);
    bench_target_close(&target);
}
