/*
 * Scans of columns of INTEGERs, and of REALs of two decimals, that a device holds in 1, 2 or 4
 * bytes each, beside the same with all 8: the sum, the extremes, and the sum where it is below a
 * constant.
 */
#include "data.h"
#include "device_scan.h"
#include "measure.h"
#include "numeric/scan/evaluate.h"
#include "opencl/core/device.h"
#include "opencl/memory/resident_column.h"
#include "opencl/reduction/reducer.h"
#include "options.h"
#include "output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Values, or their hundredths, are below MOST; about half of them count where there is a filter. */
enum { WIDTHS = 4, QUERIES = 3, MOST = 250, HUNDRED = 100 };

static const uint8_t widths[WIDTHS] = {8, 4, 2, 1};

static const struct {
    const char *name;
    unsigned operations;
    bool filters;
} queries[QUERIES] = {
    {"sum", 1u << CLR_SUM, false},
    {"extremes", 1u << CLR_EXTREMES, false},
    {"sum, where", 1u << CLR_SUM, true},
};

/* A query of the column in one width. */
struct scan_case {
    struct clr_device *device;
    struct clr_resident_column *column;
    struct clr_instruction instructions[3];
    struct clr_scalar constant;
    struct clr_tally tally;
    struct clr_scan scan;
    uint8_t kind;
};

static int64_t run(void *argument)
{
    struct scan_case *one = argument;

    return bench_scan(one->device, &one->scan, &one->kind, &one->column);
}

static int64_t value_of(uint8_t tag, int64_t integer)
{
    return tag == CLR_TAG_REAL ? clr_decimal_bits(integer, HUNDRED) : integer;
}

/* Returns the frame of a column of REALs or INTEGERs in so many bytes each. */
static struct clr_frame frame_of(uint8_t tag, uint8_t width)
{
    return (struct clr_frame){.bytes = width < 8 ? width : 0,
                              .known_greatest = MOST,
                              .power = tag == CLR_TAG_REAL && width < 8 ? HUNDRED : 0.0};
}

static void make_case(struct scan_case *one, struct clr_device *device, int query,
                      struct clr_resident_column *column, struct clr_column *const *columns)
{
    memset(one, 0, sizeof *one);
    one->device = device;
    one->column = column;
    one->kind = column->kind;
    one->instructions[0] = (struct clr_instruction){CLR_OP_COLUMN, 0, -1, -1};
    one->instructions[1] = (struct clr_instruction){CLR_OP_CONSTANT, 0, -1, -1};
    one->instructions[2] = (struct clr_instruction){CLR_OP_LESS, 0, 1, -1};
    one->constant = (struct clr_scalar){columns[0]->kind, value_of(columns[0]->kind, MOST / 2)};
    one->tally =
        (struct clr_tally){.operations = queries[query].operations, .x = 0, .y = -1, .filter = -1};
    one->scan = (struct clr_scan){.instruction_count = 3,
                                  .constant_count = 1,
                                  .column_count = 1,
                                  .tally_count = 1,
                                  .filter = queries[query].filters ? 2 : -1,
                                  .instructions = one->instructions,
                                  .constants = &one->constant,
                                  .columns = columns,
                                  .tallies = &one->tally,
                                  .rows = columns[0]->rows};
}

static struct clr_resident_column *upload(struct clr_device *device,
                                          const struct clr_column *column, uint8_t width)
{
    const struct clr_frame frame = frame_of(column->kind, width);
    struct clr_column *copied = clr_column_new_framed(column->rows, &frame);
    struct clr_resident_column *copy;

    if (copied == NULL)
        bench_die("no memory");
    copied->kind = column->kind;
    clr_column_put_values(copied, 0, column->values, column->rows);
    copy = clr_resident_column_new(clr_column_device_kind(copied), column->rows);
    if (copy == NULL)
        bench_die("no memory");
    clr_resident_column_set_frame(copy, &frame);
    bench_fill_column(device, copy, width < 8 ? copied->words : (const void *)copied->values);
    clr_column_release(copied);
    return copy;
}

static bool same_range(const struct clr_range *a, const struct clr_range *b)
{
    return a->seen == b->seen && (!a->seen || (a->least == b->least && a->greatest == b->greatest));
}

/* Of REALs it is no matter which part of a sum has them. */
static bool same_state(const struct clr_state *a, const struct clr_state *b)
{
    struct clr_sum x = a->sum, y = b->sum;
    const double rounded[] = {clr_sum_round(&x, 1), clr_sum_round(&y, 1)};

    return a->count == b->count && memcmp(&rounded[0], &rounded[1], sizeof rounded[0]) == 0 &&
           same_range(&a->integers, &b->integers) && same_range(&a->reals, &b->reals);
}

static void measure_query(const struct bench_options *options, struct clr_device *device,
                          const char *name, int query, struct clr_resident_column **copies,
                          struct clr_column *const *columns)
{
    struct bench_case cases[WIDTHS];
    static struct scan_case scans[WIDTHS];
    struct bench_line line = {
        .part = "narrow",
        .device = name,
        .element = bench_element_names[columns[0]->kind == CLR_TAG_REAL ? CLR_REAL : CLR_INTEGER],
        .operation = queries[query].name};
    const atomic_bool stop = false;
    struct clr_state expected;
    char width[32];
    int i;

    bench_progress("narrow: %s", queries[query].name);
    for (i = 0; i < WIDTHS; i++) {
        make_case(&scans[i], device, query, copies[i], columns);
        cases[i] = (struct bench_case){.run = run, .argument = &scans[i]};
    }
    bench_measure(cases, WIDTHS, options->runs, options->seconds / QUERIES / 2);
    if (clr_evaluate(&scans[0].scan, 0, columns[0]->rows, &expected, NULL, &stop) != CLR_SCAN_DONE)
        bench_die("no memory");
    line.name = width;
    line.reference = &cases[0];
    snprintf(line.notes, sizeof line.notes, "%zu values; share of that with 8 bytes each",
             columns[0]->rows);
    for (i = 0; i < WIDTHS; i++) {
        snprintf(width, sizeof width, "bytes of each: %d", widths[i]);
        line.bytes = (int64_t)columns[0]->rows * widths[i];
        line.times = &cases[i];
        line.exact = same_state(&scans[i].tally.state, &expected) ? BENCH_EQUAL : BENCH_DIFFERENT;
        if (line.exact == BENCH_DIFFERENT)
            bench_wrong("the %s of values of %d bytes on %s is wrong", line.operation, widths[i],
                        name);
        bench_print(&line);
    }
}

/* Measures all queries of a column of REALs or INTEGERs. */
static void measure_column(const struct bench_options *options, struct clr_device *device,
                           const char *name, uint8_t tag, size_t rows)
{
    const enum clr_element element = tag == CLR_TAG_REAL ? CLR_REAL : CLR_INTEGER;
    struct clr_column *column = clr_column_new(rows);
    struct clr_resident_column *copies[WIDTHS];
    struct clr_status status;
    char *log;
    size_t i;

    clr_status_clear(&status);
    if (clr_reducer_build(device, CLR_SUM, element, &log, &status) == CLR_OK)
        clr_reducer_build(device, CLR_EXTREMES, element, &log, &status);
    bench_die_on(&status, "clr_reducer_build");
    if (column == NULL)
        bench_die("no memory");
    column->rows = rows;
    column->kind = tag;
    for (i = 0; i < rows; i++)
        column->values[i] = value_of(tag, (int64_t)((uint32_t)i * 2654435769u >> 16) % MOST);
    for (i = 0; i < WIDTHS; i++)
        copies[i] = upload(device, column, widths[i]);
    for (i = 0; i < QUERIES; i++)
        measure_query(options, device, name, (int)i, copies, &column);
    for (i = 0; i < WIDTHS; i++)
        clr_resident_column_free(device, copies[i]);
    clr_column_release(column);
}

void bench_part_narrow(const struct bench_options *options)
{
    const struct clr_device_info info = bench_find_device(options);
    struct clr_device *device = NULL;
    size_t sizes[BENCH_MOST_SIZES], rows;
    struct clr_status status;

    bench_choose_sizes(options, (size_t)1 << 26, (size_t)1 << 26, bench_memory_limit(), 1, 1,
                       sizes);
    clr_status_clear(&status);
    clr_device_open(&info, &device, &status);
    bench_die_on(&status, "clr_device_open");
    rows = sizes[0] / sizeof(int64_t);
    measure_column(options, device, info.name, CLR_TAG_INTEGER, rows);
    measure_column(options, device, info.name, CLR_TAG_REAL, rows);
    clr_device_close(device);
}
