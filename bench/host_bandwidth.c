/* The exact reduction on one thread of the host, beside one thread's plain read. */
#include "base/clock.h"
#include "data.h"
#include "host_read.h"
#include "measure.h"
#include "options.h"

#include <stdio.h>
#include <stdlib.h>

struct host_case {
    void *values;
    size_t bytes;
    enum clr_operation operation;
    enum clr_element element;
    struct clr_state state;
};

static int64_t run(void *argument)
{
    struct host_case *one = argument;
    size_t count = one->bytes / sizeof(double) / clr_operation_width(one->operation);
    int64_t start = clr_clock_ns();

    clr_state_clear(&one->state);
    bench_reduce_on_host(one->values, count, one->operation, one->element, &one->state);
    return clr_clock_ns() - start;
}

static void measure_size(const struct bench_options *options, void *values,
                         enum clr_element element, size_t bytes, double seconds)
{
    struct bench_host_read read = {values, bytes / sizeof(double), 1};
    struct bench_case cases[1 + CLR_OPERATIONS] = {{.run = bench_host_read, .argument = &read}};
    struct host_case reductions[CLR_OPERATIONS];
    struct bench_line line = {.part = "host",
                              .device = "host",
                              .element = bench_element_names[element],
                              .bytes = (int64_t)bytes};
    int i;

    bench_progress("host: %s, %zu bytes", bench_element_names[element], bytes);
    for (i = 0; i < CLR_OPERATIONS; i++) {
        reductions[i] = (struct host_case){.values = values,
                                           .bytes = bytes,
                                           .operation = (enum clr_operation)i,
                                           .element = element};
        cases[i + 1] = (struct bench_case){.run = run, .argument = &reductions[i]};
    }
    bench_measure(cases, 1 + CLR_OPERATIONS, options->runs, seconds);
    line.name = "read, one thread";
    line.operation = "sum";
    line.times = &cases[0];
    snprintf(line.notes, sizeof line.notes, "vectors");
    bench_print(&line);
    line.name = "exact, one thread";
    line.reference = &cases[0];
    snprintf(line.notes, sizeof line.notes, "share of the read with one thread");
    for (i = 0; i < CLR_OPERATIONS; i++) {
        line.operation = bench_operation_names[i];
        line.times = &cases[i + 1];
        bench_print(&line);
    }
}

void bench_part_host(const struct bench_options *options)
{
    size_t sizes[BENCH_MOST_SIZES], count, i, largest = 0;
    void *values;
    int element;

    count = bench_choose_sizes(options, (size_t)1 << 16, (size_t)1 << 28, bench_memory_limit(),
                               8.0 * (options->runs + 2), 4, sizes);
    for (i = 0; i < count; i++)
        largest = sizes[i] > largest ? sizes[i] : largest;
    values = bench_memory(largest);
    for (element = 0; element < CLR_ELEMENTS; element++) {
        bench_fill(values, largest / sizeof(double), (enum clr_element)element, BENCH_UNIFORM);
        for (i = 0; i < count; i++)
            measure_size(options, values, (enum clr_element)element, sizes[i],
                         options->seconds / (2 * (double)count));
    }
    free(values);
}
