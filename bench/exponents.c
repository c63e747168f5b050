/*
 * The exact sum of values whose exponents are spread over few bits or many, on one thread of the
 * host beside one thread's plain read, and on the device beside its plain read. This is what an
 * exact sum costs where it is at its worst.
 */
#include "base/clock.h"
#include "data.h"
#include "exact.h"
#include "host_read.h"
#include "measure.h"
#include "options.h"
#include "plain.h"

#include <stdio.h>
#include <stdlib.h>

/* Enough for a GPU's whole bandwidth, and so few for a CPU that the part takes seconds. */
enum { CPU_BYTES = 16 << 20, GPU_BYTES = 64 << 20 };

static const int spreads[] = {0, 10, 30, 100, 300, 1000, 2000};

enum { SPREADS = sizeof spreads / sizeof spreads[0] };

/* Of each way, the plain read and the exact sum. */
enum { HOST_READ, HOST_EXACT, DEVICE_READ, DEVICE_EXACT, CASES };

struct host_sum {
    double *values;
    size_t count;
    struct clr_state state;
};

struct exponents_bench {
    const struct bench_options *options;
    struct host_sum host;
    bool has_device;
    struct bench_target target;
    struct bench_plain plain;
    struct bench_exact_reduction exact;
};

/* bench_case's run, with a struct host_sum. */
static int64_t run_host(void *argument)
{
    struct host_sum *sum = argument;
    int64_t start = clr_clock_ns();

    clr_state_clear(&sum->state);
    bench_reduce_on_host(sum->values, sum->count, CLR_SUM, CLR_REAL, &sum->state);
    return clr_clock_ns() - start;
}

static void print(struct bench_line *line, const struct bench_case *cases, int read, int exact)
{
    line->name = "plain read";
    line->times = &cases[read];
    line->reference = NULL;
    line->exact = BENCH_NOT_COMPARED;
    bench_print(line);
    line->name = "exact";
    line->times = &cases[exact];
    line->reference = &cases[read];
    bench_print(line);
}

static void measure_spread(struct exponents_bench *bench, int spread)
{
    bool cpu = bench->has_device && bench->target.info.type == CLR_DEVICE_CPU;
    size_t count = bench->host.count;
    struct bench_host_read one = {bench->host.values, count, 1},
                           all = {bench->host.values, count, bench_host_threads()};
    struct bench_case cases[CASES] = {
        [HOST_READ] = {.run = bench_host_read, .argument = &one},
        [HOST_EXACT] = {.run = run_host, .argument = &bench->host},
        [DEVICE_READ] = {.run = bench_plain_run, .argument = &bench->plain},
        [DEVICE_EXACT] = {.run = bench_exact_run, .argument = &bench->exact},
    };
    struct bench_line line = {.part = "exponents",
                              .device = "host",
                              .element = "real",
                              .operation = "sum",
                              .bytes = (int64_t)(count * sizeof(double)),
                              .spread = &spread};

    bench_progress("exponents: spread over %d bits", spread);
    bench_fill_spread(bench->host.values, count, spread);
    if (bench->has_device)
        bench_upload(&bench->target, bench->exact.buffer, bench->host.values,
                     count * sizeof(double));
    if (cpu)
        cases[DEVICE_READ] = (struct bench_case){.run = bench_host_read, .argument = &all};
    bench_measure(cases, bench->has_device ? CASES : DEVICE_READ, bench->options->runs,
                  bench->options->seconds / SPREADS);
    snprintf(line.notes, sizeof line.notes, "one thread");
    print(&line, cases, HOST_READ, HOST_EXACT);
    if (!bench->has_device)
        return;
    line.device = bench->target.info.name;
    snprintf(line.notes, sizeof line.notes, "share of the %s",
             cpu ? "host's read with all threads" : "device's plain read");
    print(&line, cases, DEVICE_READ, DEVICE_EXACT);
    if (!bench_same_state(&bench->exact.state, &bench->host.state))
        bench_wrong("the sum of exponents spread over %d bits on %s is wrong", spread,
                    bench->target.info.name);
}

/* Opens the device, and its buffer for so many bytes, with values of one exponent for the tuning.
 */
static void open_device(struct exponents_bench *bench, size_t bytes)
{
    bench_plain_open(&bench->plain, &bench->target);
    bench_exact_open(&bench->exact, &bench->target, CLR_SUM, CLR_REAL);
    bench->exact.buffer = bench_buffer(&bench->target, CL_MEM_READ_ONLY, bytes);
    bench->exact.count = bench->host.count;
    bench_fill_spread(bench->host.values, bench->host.count, 0);
    bench_upload(&bench->target, bench->exact.buffer, bench->host.values, bytes);
    bench_plain_tune(&bench->plain, bench->exact.buffer, bytes);
}

void bench_part_exponents(const struct bench_options *options)
{
    static struct exponents_bench bench;
    size_t bytes = CPU_BYTES, i;

    bench.options = options;
    bench.has_device = bench_has_device(options);
    if (bench.has_device) {
        bench_target_open(&bench.target, options);
        if (bench.target.info.type != CLR_DEVICE_CPU)
            bytes = GPU_BYTES;
    }
    bench.host.values = bench_memory(bytes);
    bench.host.count = bytes / sizeof(double);
    if (bench.has_device)
        open_device(&bench, bytes);
    for (i = 0; i < SPREADS; i++)
        measure_spread(&bench, spreads[i]);
    free(bench.host.values);
    if (!bench.has_device)
        return;
    clr_cl.ReleaseMemObject(bench.exact.buffer);
    bench_exact_close(&bench.exact);
    bench_plain_close(&bench.plain);
    bench_target_close(&bench.target);
}
