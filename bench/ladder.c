/*
 * The ladder: the kernels by which the literature teaches reduction, each rung in a file of
 * bench/ladder/, on the same values as the project's own exact kernels, the plain read, and the
 * host's read with all threads. The values are such that any order of additions is exact, so that
 * every rung has to give the right answer.
 *
 * Sources: M. Harris, "Optimizing parallel reduction in CUDA" (NVIDIA, 2007), for the rungs up to
 * the cascading; the reductions of vectors of 4 in the samples of AMD's APP SDK; the dot product of
 * OpenCL primers, as many groups as the other rungs have.
 */
#include "data.h"
#include "exact.h"
#include "host_read.h"
#include "measure.h"
#include "numeric/values/value.h"
#include "options.h"
#include "plain.h"
#include "target.h"
#include "texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    GROUP_LIMIT = 256,
    CASCADE_GROUPS_PER_UNIT = 8,
    HEADLINE_VALUES = 25000000,
    MOST_PASSES = 16
};

enum combining { SUM, MAX, MIN };

struct rung {
    const char *name, *text, *operation;
    enum combining combining;
    size_t values_per_item; /* 0: as many as there are for a fixed number of groups */
    const char *next_text;  /* what adds a dot product's partial sums; NULL: the kernel itself */

    /* Set when it is built. */
    const struct ladder *ladder;
    cl_kernel kernel, next; /* next: for all passes but the first */
    size_t group;
    const char *notes;
    double found;
};

static struct rung rungs[] = {
    {"1 interleaved, divergent", clr_kernel_interleaved_divergent, "sum", SUM, 1, .notes = ""},
    {"2 interleaved, strided index", clr_kernel_interleaved_strided, "sum", SUM, 1, .notes = ""},
    {"3 sequential addressing", clr_kernel_sequential, "sum", SUM, 1, .notes = ""},
    {"4 first add during load", clr_kernel_first_add, "sum", SUM, 2, .notes = ""},
    {"5 last warp unrolled", clr_kernel_last_warp, "sum", SUM, 2, .notes = ""},
    {"6 completely unrolled", clr_kernel_unrolled, "sum", SUM, 2, .notes = ""},
    {"7 cascading", clr_kernel_cascading, "sum", SUM, 0, .notes = ""},
    {"8 row-wise double4", clr_kernel_row_wise, "sum", SUM, 8, .notes = ""},
    {"8 row-wise double4, max", clr_kernel_row_wise, "max", MAX, 8, .notes = ""},
    {"8 row-wise double4, min", clr_kernel_row_wise, "min", MIN, 8, .notes = ""},
    {"9 cascading dot", clr_kernel_cascading_dot, "dot", SUM, 0, clr_kernel_cascading, .notes = ""},
    {"9 row-wise double4 dot", clr_kernel_row_wise_dot, "dot", SUM, 8, clr_kernel_row_wise,
     .notes = ""},
};

enum { RUNGS = sizeof rungs / sizeof rungs[0] };

struct ladder {
    struct bench_target target;
    struct bench_plain plain;
    struct bench_exact_reduction exact[CLR_OPERATIONS];
    double *values;
    cl_mem buffer, partials[2];
    size_t bytes;
};

static size_t divide_up(size_t a, size_t b)
{
    return a / b + (a % b != 0);
}

static size_t count_groups(const struct rung *rung, size_t count)
{
    size_t most = CASCADE_GROUPS_PER_UNIT * (size_t)rung->ladder->target.info.compute_units;
    size_t groups;

    if (rung->values_per_item > 0)
        return divide_up(count, rung->group * rung->values_per_item);
    groups = divide_up(count, rung->group);
    return groups < most ? groups : most;
}

/* bench_case's run, with a struct rung: passes until one value is left. */
static int64_t run_rung(void *argument)
{
    struct rung *rung = argument;
    const struct ladder *ladder = rung->ladder;
    cl_command_queue queue = ladder->target.queue;
    size_t count = ladder->bytes / sizeof(double) / (rung->next_text != NULL ? 2 : 1);
    cl_mem source = ladder->buffer;
    cl_event events[MOST_PASSES];
    int64_t time = 0;
    int passes = 0, i;

    do {
        size_t groups = count_groups(rung, count), global = groups * rung->group;
        cl_ulong n = count;
        cl_mem result = ladder->partials[passes % 2];
        cl_kernel kernel = passes == 0 ? rung->kernel : rung->next;
        bench_check(clr_cl.SetKernelArg(kernel, 0, sizeof source, &source), "clSetKernelArg");
        bench_check(clr_cl.SetKernelArg(kernel, 1, sizeof n, &n), "clSetKernelArg");
        bench_check(clr_cl.SetKernelArg(kernel, 2, sizeof result, &result), "clSetKernelArg");
        bench_check(clr_cl.EnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &rung->group, 0,
                                                NULL, &events[passes]),
                    "clEnqueueNDRangeKernel");
        source = result;
        count = groups;
        passes++;
    } while (count > 1 && passes < MOST_PASSES);
    bench_check(clr_cl.EnqueueReadBuffer(queue, source, CL_TRUE, 0, sizeof rung->found,
                                         &rung->found, 0, NULL, NULL),
                "clEnqueueReadBuffer");
    for (i = 0; i < passes; i++)
        time += bench_event_time(events[i]);
    return time;
}

static size_t power_of_two(size_t limit)
{
    size_t size = 1;
    while (size * 2 <= limit)
        size *= 2;
    return size;
}

/* Compiles a rung's kernel; *warp becomes false where the compiler does not know the instruction.
 */
static cl_kernel compile(const struct rung *rung, const char *text, bool *warp)
{
    const char *const texts[] = {clr_kernel_ladder, text};
    char options[128];
    cl_kernel kernel;

    for (;;) {
        snprintf(options, sizeof options, "-cl-std=CL1.2 -DGROUP=%zu -DCOMBINING=%d -DWARP_SYNC=%d",
                 rung->group, rung->combining, *warp);
        kernel = bench_kernel(&rung->ladder->target, texts, 2, "rung", options, !*warp);
        if (kernel != NULL)
            return kernel;
        *warp = false;
    }
}

/* The most work-items that a group of a kernel may have. */
static size_t largest_group(const struct ladder *ladder, cl_kernel kernel)
{
    size_t most = 0;

    bench_check(clr_cl.GetKernelWorkGroupInfo(kernel, ladder->target.info.id,
                                              CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL),
                "clGetKernelWorkGroupInfo");
    return most;
}

static void build(struct rung *rung, const struct ladder *ladder)
{
    size_t limit = ladder->target.largest_group, most;
    bool warp = ladder->target.nvidia;

    rung->ladder = ladder;
    rung->group = power_of_two(limit < GROUP_LIMIT ? limit : GROUP_LIMIT);
    for (;;) {
        rung->kernel = compile(rung, rung->text, &warp);
        rung->next = rung->next_text != NULL ? compile(rung, rung->next_text, &warp) : rung->kernel;
        most = largest_group(ladder, rung->kernel);
        if (largest_group(ladder, rung->next) < most)
            most = largest_group(ladder, rung->next);
        if (rung->group <= most)
            break;
        if (rung->next != rung->kernel)
            clr_cl.ReleaseKernel(rung->next);
        clr_cl.ReleaseKernel(rung->kernel);
        rung->group = power_of_two(most);
    }
    if (rung->text == clr_kernel_last_warp || rung->text == clr_kernel_unrolled ||
        rung->text == clr_kernel_cascading || rung->text == clr_kernel_cascading_dot)
        rung->notes = warp ? ", warps synchronised by bar.warp.sync" : ", barriers to the end";
}

static bool is_right(const struct rung *rung, struct clr_state *sum, struct clr_state *dot,
                     const struct clr_state *extremes)
{
    double extreme;
    int64_t bits;

    if (rung->next_text != NULL)
        return rung->found == clr_sum_round(&dot->sum, 1);
    if (rung->combining == SUM)
        return rung->found == clr_sum_round(&sum->sum, 1);
    /* What turns a REAL's bits into its key also turns the key into the bits. */
    bits =
        clr_real_to_key(rung->combining == MAX ? extremes->reals.greatest : extremes->reals.least);
    memcpy(&extreme, &bits, sizeof extreme);
    return rung->found == extreme;
}

static void print_rungs(struct bench_line *line, const struct bench_case *cases,
                        const struct bench_case *host, struct clr_state expected[CLR_OPERATIONS])
{
    size_t i;

    for (i = 0; i < RUNGS; i++) {
        bool right =
            is_right(&rungs[i], &expected[CLR_SUM], &expected[CLR_DOT], &expected[CLR_EXTREMES]);
        line->name = rungs[i].name;
        line->operation = rungs[i].operation;
        line->times = &cases[i];
        line->ratio = bench_ratio(&cases[i], host);
        line->exact = right ? BENCH_EQUAL : BENCH_DIFFERENT;
        snprintf(line->notes, sizeof line->notes, "groups of %zu%s; ratio to the host's read",
                 rungs[i].group, rungs[i].notes);
        bench_print(line);
        if (!right)
            bench_wrong("rung %s is wrong: %.17g", rungs[i].name, rungs[i].found);
    }
}

static void measure_size(const struct bench_options *options, struct ladder *ladder, size_t bytes,
                         double seconds)
{
    enum { HOST = RUNGS + CLR_OPERATIONS, READ, CASES };
    static const char *const names[] = {"10 exact", "10 exact dot", "10 exact extremes"};
    static struct bench_case cases[CASES];
    struct bench_host_read host = {ladder->values, bytes / sizeof(double), bench_host_threads()};
    struct bench_line line = {.part = "ladder",
                              .device = ladder->target.info.name,
                              .element = "real",
                              .bytes = (int64_t)bytes,
                              .reference = &cases[READ]};
    struct clr_state expected[CLR_OPERATIONS];
    size_t i;

    ladder->bytes = bytes;
    bench_plain_tune(&ladder->plain, ladder->buffer, bytes);
    for (i = 0; i < RUNGS; i++)
        cases[i] = (struct bench_case){.run = run_rung, .argument = &rungs[i]};
    for (i = 0; i < CLR_OPERATIONS; i++) {
        struct bench_exact_reduction *exact = &ladder->exact[i];
        exact->buffer = ladder->buffer;
        exact->count = bytes / sizeof(double) / clr_operation_width((enum clr_operation)i);
        cases[RUNGS + i] = (struct bench_case){.run = bench_exact_run, .argument = exact};
        clr_state_clear(&expected[i]);
        bench_reduce_on_host(ladder->values, exact->count, (enum clr_operation)i, CLR_REAL,
                             &expected[i]);
    }
    cases[HOST] = (struct bench_case){.run = bench_host_read, .argument = &host};
    cases[READ] = (struct bench_case){.run = bench_plain_run, .argument = &ladder->plain};
    bench_measure(cases, CASES, options->runs, seconds);

    print_rungs(&line, cases, &cases[HOST], expected);
    for (i = 0; i < CLR_OPERATIONS; i++) {
        struct bench_exact_reduction *exact = &ladder->exact[i];
        bool right = bench_same_state(&exact->state, &expected[i]);
        line.name = names[i];
        line.operation = bench_operation_names[i];
        line.times = &cases[RUNGS + i];
        line.ratio = bench_ratio(&cases[RUNGS + i], &cases[HOST]);
        line.exact = right ? BENCH_EQUAL : BENCH_DIFFERENT;
        snprintf(line.notes, sizeof line.notes, "the project's own; ratio to the host's read");
        bench_print(&line);
        if (!right)
            bench_wrong("%s is wrong", names[i]);
    }
    line.exact = BENCH_NOT_COMPARED;
    line.operation = "sum";
    line.name = "plain read";
    line.times = &cases[READ];
    line.ratio = bench_ratio(&cases[READ], &cases[HOST]);
    bench_plain_describe(&ladder->plain, line.notes, sizeof line.notes);
    bench_print(&line);
    line.device = "host";
    line.name = "host read, all threads";
    line.times = &cases[HOST];
    line.reference = NULL;
    line.ratio = 0;
    snprintf(line.notes, sizeof line.notes, "vectors, %d threads", host.threads);
    bench_print(&line);
}

void bench_part_ladder(const struct bench_options *options)
{
    static struct ladder ladder;
    struct bench_options chosen = *options;
    size_t sizes[BENCH_MOST_SIZES], count, i, limit, largest = 0;

    bench_target_open(&ladder.target, options);
    bench_plain_open(&ladder.plain, &ladder.target);
    for (i = 0; i < CLR_OPERATIONS; i++)
        bench_exact_open(&ladder.exact[i], &ladder.target, (enum clr_operation)i, CLR_REAL);
    for (i = 0; i < RUNGS; i++)
        build(&rungs[i], &ladder);
    if (options->size_count == 0) {
        chosen.sizes[chosen.size_count++] = (size_t)64 << 20;
        chosen.sizes[chosen.size_count++] = HEADLINE_VALUES * sizeof(double);
        if (ladder.target.info.type != CLR_DEVICE_CPU)
            chosen.sizes[chosen.size_count++] = (size_t)1 << 30;
    }
    limit = bench_memory_limit() < ladder.target.largest_buffer ? bench_memory_limit()
                                                                : ladder.target.largest_buffer;
    count = bench_choose_sizes(&chosen, 0, 0, limit, 1, 1, sizes);
    for (i = 0; i < count; i++)
        largest = sizes[i] > largest ? sizes[i] : largest;
    ladder.values = bench_memory(largest);
    bench_fill(ladder.values, largest / sizeof(double), CLR_REAL, BENCH_COUNTABLE);
    ladder.buffer = bench_buffer(&ladder.target, CL_MEM_READ_ONLY, largest);
    bench_upload(&ladder.target, ladder.buffer, ladder.values, largest);
    for (i = 0; i < 2; i++)
        ladder.partials[i] = bench_buffer(&ladder.target, CL_MEM_READ_WRITE,
                                          largest / rungs[0].group + CLR_PARTIAL_SIZE);
    for (i = 0; i < count; i++) {
        bench_progress("ladder: %zu bytes", sizes[i]);
        measure_size(options, &ladder, sizes[i], options->seconds / (double)count);
    }

    free(ladder.values);
    clr_cl.ReleaseMemObject(ladder.buffer);
    for (i = 0; i < 2; i++)
        clr_cl.ReleaseMemObject(ladder.partials[i]);
    for (i = 0; i < RUNGS; i++) {
        if (rungs[i].next != rungs[i].kernel)
            clr_cl.ReleaseKernel(rungs[i].next);
        clr_cl.ReleaseKernel(rungs[i].kernel);
    }
    for (i = 0; i < CLR_OPERATIONS; i++)
        bench_exact_close(&ladder.exact[i]);
    bench_plain_close(&ladder.plain);
    bench_target_close(&ladder.target);
}
