/*
 * Sorting on the device of values that it holds, from the first step to the order: by the clock on
 * the wall.
 */
#include "base/clock.h"
#include "data.h"
#include "measure.h"
#include "numeric/values/column.h"
#include "numeric/values/value.h"
#include "opencl/memory/test_values.h"
#include "opencl/sort/sorted_column.h"
#include "opencl/sort/sorter.h"
#include "options.h"
#include "output.h"

#include <stdio.h>
#include <stdlib.h>

/* What is sorted: numbers whose digits all differ, and INTEGERs below a million. */
enum values { ANY_INTEGERS, ANY_REALS, SMALL_INTEGERS, KINDS };
static const char *const names[KINDS] = {"any 64 bits", "between 0 and 1", "below a million"};
enum { SMALL = 1000000 };

/* Bytes that are sorted: those of a million numbers to a hundred million. */
enum { LEAST = 8 * 1000000, MOST = 8 * 100000000 };

struct sorting {
    struct clr_device *device;
    struct clr_resident_column *column;
    uint8_t kind;
    size_t count;
    struct clr_device_work work; /* of the latest run */
    int64_t *keys;               /* the order that it left; NULL: not wanted */
};

static void check(const struct clr_status *status)
{
    if (status->code != CLR_OK)
        bench_die("%s", status->message);
}

/* Of struct bench_case, with a struct sorting. */
static int64_t run(void *argument)
{
    struct sorting *sorting = argument;
    struct clr_sorted_column *sorted = clr_sorted_column_new(sorting->kind, sorting->count);
    struct clr_device_work ignored = {0};
    struct clr_status status;
    bool complete = false;
    int64_t start = clr_clock_ns(), time;

    if (sorted == NULL)
        bench_die("no memory for sorting");
    clr_status_clear(&status);
    while (!complete) {
        clr_sorted_column_step(sorting->device, sorted, sorting->column, &complete, &status);
        check(&status);
    }
    time = clr_clock_ns() - start;
    sorting->work = *clr_sorted_column_work(sorted);
    if (sorting->keys != NULL) {
        clr_sorted_column_read(sorting->device, sorted, 0, sorting->count, sorting->keys, &ignored,
                               &status);
        check(&status);
    }
    clr_sorted_column_free(sorting->device, sorted);
    return time;
}

/* Whether the keys are those of the values, and in order. */
static enum bench_exact verify(struct sorting *sorting, const int64_t *values, const char *name)
{
    uint64_t sum = 0;
    bool ordered = true;
    size_t i;

    sorting->keys = bench_memory(sorting->count * sizeof(int64_t));
    run(sorting);
    for (i = 0; i < sorting->count; i++) {
        sum += (uint64_t)(sorting->kind == CLR_TAG_REAL ? clr_real_to_key(values[i]) : values[i]);
        sum -= (uint64_t)sorting->keys[i];
        ordered = ordered && (i == 0 || sorting->keys[i - 1] <= sorting->keys[i]);
    }
    free(sorting->keys);
    sorting->keys = NULL;
    if (ordered && sum == 0)
        return BENCH_EQUAL;
    bench_wrong("the order of %zu numbers %s is wrong", sorting->count, name);
    return BENCH_DIFFERENT;
}

static void measure(struct clr_device *device, const struct bench_options *options,
                    const char *name, enum values values, size_t bytes, double seconds)
{
    const enum clr_element element = values == ANY_REALS ? CLR_REAL : CLR_INTEGER;
    struct sorting sorting = {.device = device, .count = bytes / sizeof(int64_t)};
    struct bench_case one = {.run = run, .argument = &sorting};
    struct bench_line line = {.part = "sort",
                              .name = names[values],
                              .device = name,
                              .element = bench_element_names[element],
                              .operation = "sort",
                              .bytes = (int64_t)bytes,
                              .times = &one};
    int64_t *numbers = bench_memory(bytes);
    struct clr_status status;
    size_t i;

    bench_progress("sort: %zu numbers %s", sorting.count, names[values]);
    bench_fill(numbers, sorting.count, element, BENCH_UNIFORM);
    for (i = 0; i < sorting.count && values == SMALL_INTEGERS; i++)
        numbers[i] = (int64_t)((uint64_t)numbers[i] % SMALL);
    sorting.kind = element == CLR_REAL ? CLR_TAG_REAL : CLR_TAG_INTEGER;
    clr_status_clear(&status);
    sorting.column =
        clr_test_column(device, sorting.kind, NULL, numbers, NULL, sorting.count, &status);
    check(&status);
    bench_measure(&one, 1, options->runs, seconds);
    line.exact = verify(&sorting, numbers, names[values]);
    snprintf(line.notes, sizeof line.notes, "%lld launches", (long long)sorting.work.kernels);
    bench_print(&line);
    clr_resident_column_free(device, sorting.column);
    free(numbers);
}

void bench_part_sort(const struct bench_options *options)
{
    struct clr_device_info info = bench_find_device(options);
    size_t sizes[BENCH_MOST_SIZES], count, i;
    struct clr_device *device;
    struct clr_status status;
    char *log = NULL;
    int values;

    clr_status_clear(&status);
    if (clr_device_open(&info, &device, &status) == CLR_OK)
        clr_module_open(device, &clr_sorter_kind, &log, &status);
    check(&status);
    count =
        bench_choose_sizes(options, LEAST, MOST, bench_memory_limit(), KINDS * (options->runs + 2),
                           info.type == CLR_DEVICE_CPU ? 0.05 : 5, sizes);
    for (i = 0; i < count; i++) {
        for (values = 0; values < KINDS; values++)
            measure(device, options, info.name, (enum values)values, sizes[i],
                    options->seconds / (KINDS * (double)count));
    }
    clr_device_close(device);
}
