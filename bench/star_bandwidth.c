/*
 * The device's kernels on queries of the Star Schema Benchmark, one of each flight, as at scale 20:
 * a fact table's columns, with random keys, and what dimensions say of these, as lookups. Beside
 * the plain read of as many bytes as a row has in the columns that the query names.
 */
#include "data.h"
#include "device_scan.h"
#include "measure.h"
#include "numeric/grouping/part.h"
#include "numeric/scan/evaluate.h"
#include "opencl/core/device.h"
#include "opencl/groups/grouper.h"
#include "opencl/memory/resident_column.h"
#include "options.h"
#include "output.h"
#include "plain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The columns of lineorder. Those up to DATE are keys of dimensions, of so many rows. */
enum column { CUSTOMER, PART, SUPPLIER, DATE, DISCOUNT, QUANTITY, PRICE, REVENUE, COST, COLUMNS };

static const struct {
    uint32_t below; /* of the values */
    uint8_t bytes;
} columns[COLUMNS] = {
    [CUSTOMER] = {600000, 4}, [PART] = {1000000, 4},     [SUPPLIER] = {40000, 2},
    [DATE] = {2556, 2},       [DISCOUNT] = {11, 1},      [QUANTITY] = {51, 1},
    [PRICE] = {10000000, 4},  [REVENUE] = {10000000, 4}, [COST] = {100000, 4},
};

/* What is said of a key: whether a value of it, from 0 to below `of`, is less than `true_below`; or
   that value. */
enum lookup {
    YEAR_IS,
    YEAR,
    CATEGORY_IS,
    MAKER_IS,
    BRAND,
    REGION_IS,
    NATION,
    CUSTOMER_REGION_IS,
    LOOKUPS
};

static const struct {
    enum column column;
    uint32_t of, true_below, first;
} lookups[LOOKUPS] = {
    [YEAR_IS] = {DATE, 7, 1, 0},      [YEAR] = {DATE, 7, 0, 1992},
    [CATEGORY_IS] = {PART, 25, 1, 0}, [MAKER_IS] = {PART, 5, 2, 0},
    [BRAND] = {PART, 1000, 0, 0},     [REGION_IS] = {SUPPLIER, 5, 1, 0},
    [NATION] = {CUSTOMER, 25, 0, 0},  [CUSTOMER_REGION_IS] = {CUSTOMER, 5, 1, 0},
};

enum { MOST_INSTRUCTIONS = 32, NONE = -1 };

static const struct {
    const char *name;
    enum lookup conditions[3];
    int condition_count;
    bool discounts; /* and those of the first flight */
    enum lookup keys[2];
    int key_count;
    enum column x, y; /* their product, or their difference; y is COLUMNS: x alone */
} queries[] = {
    {"Q1.1", {YEAR_IS}, 1, true, {0}, 0, PRICE, DISCOUNT},
    {"Q2.1", {CATEGORY_IS, REGION_IS}, 2, false, {YEAR, BRAND}, 2, REVENUE, COLUMNS},
    {"Q3.1", {CUSTOMER_REGION_IS, REGION_IS}, 2, false, {NATION, YEAR}, 2, REVENUE, COLUMNS},
    {"Q4.1", {CUSTOMER_REGION_IS, REGION_IS, MAKER_IS}, 3, false, {YEAR, NATION}, 2, REVENUE, COST},
};
enum { QUERIES = sizeof queries / sizeof *queries };

struct star {
    struct clr_device *device;
    size_t rows;
    struct clr_column *here[COLUMNS];
    struct clr_resident_column *there[COLUMNS];
    uint8_t kinds[COLUMNS];
    struct clr_lookup lookups[LOOKUPS];
};

/* A query as a scan. */
struct star_case {
    struct star *star;
    struct clr_instruction instructions[MOST_INSTRUCTIONS];
    struct clr_scalar constants[3];
    struct clr_lookup lookups[LOOKUPS];
    struct clr_tally tally;
    struct clr_grouping grouping;
    struct clr_scan scan;
    struct clr_group_plan plan; /* of groups */
    int64_t *records;
};

/* ---- The tables. */

static uint32_t draw(uint64_t *state, uint32_t below)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (uint32_t)((*state >> 32) * below >> 32);
}

static void make_column(struct star *star, enum column number)
{
    const struct clr_frame frame = {.bytes = columns[number].bytes,
                                    .known_greatest = columns[number].below - 1};
    const bool is_key = number <= DATE;
    struct clr_column *column = is_key ? clr_column_new_codes(NULL, star->rows, frame.bytes)
                                       : clr_column_new_framed(star->rows, &frame);
    uint64_t state = 88172645463325252 + number;
    void *words;
    size_t i;

    if (column == NULL)
        bench_die("no memory");
    bench_progress("star: column %d of %d", number + 1, COLUMNS);
    column->rows = star->rows;
    if (!is_key)
        column->kind = CLR_TAG_INTEGER;
    words = is_key ? column->codes : column->words;
    for (i = 0; i < star->rows; i++) {
        const uint32_t value = draw(&state, columns[number].below);

        if (frame.bytes == 1)
            ((uint8_t *)words)[i] = (uint8_t)value;
        else if (frame.bytes == 2)
            ((uint16_t *)words)[i] = (uint16_t)value;
        else
            ((uint32_t *)words)[i] = value;
    }
    star->here[number] = column;
    star->kinds[number] = clr_column_device_kind(column);
    star->there[number] = clr_resident_column_new(star->kinds[number], star->rows);
    if (star->there[number] == NULL)
        bench_die("no memory");
    if (!is_key)
        clr_resident_column_set_frame(star->there[number], &frame);
    bench_fill_column(star->device, star->there[number], words);
}

static void make_lookup(struct star *star, enum lookup number)
{
    const uint32_t count = columns[lookups[number].column].below;
    struct clr_lookup_results *results = clr_lookup_results_new(count);
    uint64_t state = 2463534242 + number;
    uint32_t i;

    if (results == NULL)
        bench_die("no memory");
    for (i = 0; i < count; i++) {
        const uint32_t value = lookups[number].column == DATE ? i * lookups[number].of / count
                                                              : draw(&state, lookups[number].of);

        results->tags[i] = CLR_TAG_INTEGER;
        results->values[i] = lookups[number].true_below > 0 ? value < lookups[number].true_below
                                                            : lookups[number].first + value;
    }
    clr_lookup_set(&star->lookups[number], results, count);
}

/* ---- The queries. */

static int add(struct star_case *one, enum clr_opcode opcode, int a, int b)
{
    one->instructions[one->scan.instruction_count] = (struct clr_instruction){opcode, a, b, NONE};
    return one->scan.instruction_count++;
}

static int add_lookup(struct star_case *one, enum lookup lookup)
{
    one->lookups[one->scan.lookup_count] = one->star->lookups[lookup];
    return add(one, CLR_OP_LOOKUP, (int)lookups[lookup].column, one->scan.lookup_count++);
}

static int add_constant(struct star_case *one, int64_t value)
{
    one->constants[one->scan.constant_count] = (struct clr_scalar){CLR_TAG_INTEGER, value};
    return add(one, CLR_OP_CONSTANT, one->scan.constant_count++, NONE);
}

static void add_condition(struct star_case *one, int condition)
{
    int *filter = &one->scan.filter;

    *filter = *filter < 0 ? condition : add(one, CLR_OP_AND, *filter, condition);
}

static void make_case(struct star_case *one, struct star *star, int query)
{
    int i, x, y;

    memset(one, 0, sizeof *one);
    one->star = star;
    one->scan = (struct clr_scan){.filter = NONE,
                                  .instructions = one->instructions,
                                  .constants = one->constants,
                                  .columns = star->here,
                                  .column_count = COLUMNS,
                                  .rows = star->rows,
                                  .lookups = one->lookups,
                                  .tallies = &one->tally,
                                  .tally_count = 1,
                                  .values_memory = (uint64_t)1 << 30};
    for (i = 0; i < queries[query].condition_count; i++)
        add_condition(one, add_lookup(one, queries[query].conditions[i]));
    if (queries[query].discounts) {
        x = add(one, CLR_OP_COLUMN, DISCOUNT, NONE);
        add_condition(one, add(one, CLR_OP_GREATER_EQUAL, x, add_constant(one, 1)));
        add_condition(one, add(one, CLR_OP_LESS_EQUAL, x, add_constant(one, 3)));
        x = add(one, CLR_OP_COLUMN, QUANTITY, NONE);
        add_condition(one, add(one, CLR_OP_LESS, x, add_constant(one, 25)));
    }
    for (i = 0; i < queries[query].key_count; i++)
        one->grouping.keys[i] = add_lookup(one, queries[query].keys[i]);
    one->grouping.key_count = queries[query].key_count;
    x = add(one, CLR_OP_COLUMN, (int)queries[query].x, NONE);
    y = queries[query].y == COLUMNS ? NONE : add(one, CLR_OP_COLUMN, (int)queries[query].y, NONE);
    one->tally = (struct clr_tally){.x = x, .y = NONE, .filter = NONE, .operations = 1u << CLR_SUM};
    if (y >= 0 && one->grouping.key_count > 0)
        one->tally.x = add(one, CLR_OP_SUBTRACT, x, y);
    else if (y >= 0)
        one->tally =
            (struct clr_tally){.x = x, .y = y, .filter = NONE, .operations = 1u << CLR_DOT};
    if (one->grouping.key_count > 0)
        one->scan.grouping = &one->grouping;
}

/* Returns the bytes that a row has in the columns that a scan names. */
static size_t row_bytes(const struct clr_scan *scan)
{
    bool named[COLUMNS] = {false};
    size_t bytes = 0;
    int i;

    for (i = 0; i < scan->instruction_count; i++)
        if (scan->instructions[i].opcode == CLR_OP_COLUMN ||
            scan->instructions[i].opcode == CLR_OP_LOOKUP)
            named[scan->instructions[i].a] = true;
    for (i = 0; i < COLUMNS; i++)
        bytes += named[i] ? columns[i].bytes : 0;
    return bytes;
}

/* ---- Runs, on the device and on the host. */

static int64_t group(struct star_case *one)
{
    struct clr_group_result result = {.records = one->records};
    struct star *star = one->star;
    enum clr_scan_outcome outcome;
    struct clr_device_work work;
    struct clr_status status;
    bool requested;

    clr_status_clear(&status);
    do {
        work = (struct clr_device_work){0};
        clr_grouper_run(star->device, &one->plan, star->kinds, star->there, &result, &outcome,
                        &requested, &work, &status);
        bench_die_on(&status, "groups");
        if (requested)
            bench_build(star->device);
    } while (requested);
    if (outcome != CLR_SCAN_DONE || result.spill_count > 0)
        bench_die("a device can't do groups");
    return work.kernel_time;
}

static int64_t run_once(struct star_case *one)
{
    const struct star *star = one->star;

    return one->scan.grouping != NULL
               ? group(one)
               : bench_scan(star->device, &one->scan, star->kinds, star->there);
}

/* The plain read has a context of its own: the first run after it waits for the device to change
   that. */
static int64_t run(void *argument)
{
    run_once(argument);
    return run_once(argument);
}

static void plan_groups(struct star_case *one)
{
    struct clr_group_doubts doubts = {0};

    if (clr_group_plan_make(&one->plan, &one->scan, one->star->rows, CLR_GROUPS_ON_DEVICE,
                            &doubts) != CLR_SCAN_DONE ||
        one->plan.numbering != CLR_NUMBERED_DIRECTLY)
        bench_die("the groups have no places");
    one->records = bench_memory((size_t)one->plan.places * one->plan.stride * sizeof *one->records);
}

/* Whether the device's latest groups are the host's. */
static bool same_groups(const struct star_case *one)
{
    const size_t words = one->plan.stride;
    const atomic_bool never = false;
    struct clr_group_memory memory;
    struct clr_group_part *part;
    bool same = true;
    size_t place;

    atomic_init(&memory.left, (int64_t)1 << 30);
    part = clr_group_part_new(&one->plan, &memory, 0, one->star->rows);
    if (part == NULL)
        bench_die("no memory");
    clr_group_part_run(part, &never);
    if (part->outcome != CLR_SCAN_DONE)
        bench_die("the host can't do a query");
    for (place = 0; place < one->plan.places; place++)
        same = same && memcmp(clr_group_part_record(part, place), one->records + place * words,
                              (size_t)one->plan.words * sizeof *one->records) == 0;
    clr_group_part_free(part);
    return same;
}

static bool same_sum(struct star_case *one)
{
    const atomic_bool never = false;
    struct clr_state expected;

    if (clr_evaluate(&one->scan, 0, one->star->rows, &expected, NULL, &never) != CLR_SCAN_DONE)
        bench_die("no memory");
    return bench_same_state(&expected, &one->tally.state);
}

static void measure_query(const struct bench_options *options, struct bench_plain *plain,
                          struct star *star, int query)
{
    static struct star_case one;
    struct bench_case cases[] = {{.run = bench_plain_run, .argument = plain},
                                 {.run = run, .argument = &one}};
    struct bench_line line = {.part = "star",
                              .device = plain->target->info.name,
                              .element = bench_element_names[CLR_INTEGER],
                              .operation = "sum",
                              .times = &cases[0],
                              .name = "plain read"};
    const cl_double pattern = 1.0;
    cl_mem buffer;

    bench_progress("star: %s", queries[query].name);
    make_case(&one, star, query);
    if (one.scan.grouping != NULL)
        plan_groups(&one);
    line.bytes = (int64_t)(row_bytes(&one.scan) * star->rows / 64 * 64);
    buffer = bench_buffer(plain->target, CL_MEM_READ_ONLY, (size_t)line.bytes);
    bench_check(clr_cl.EnqueueFillBuffer(plain->target->queue, buffer, &pattern, sizeof pattern, 0,
                                         (size_t)line.bytes, 0, NULL, NULL),
                "clEnqueueFillBuffer");
    bench_plain_tune(plain, buffer, (size_t)line.bytes);
    bench_measure(cases, 2, options->runs, options->seconds / QUERIES);
    bench_print(&line);
    line.name = queries[query].name;
    line.times = &cases[1];
    line.reference = &cases[0];
    line.exact = (one.scan.grouping != NULL ? same_groups(&one) : same_sum(&one)) ? BENCH_EQUAL
                                                                                  : BENCH_DIFFERENT;
    if (line.exact == BENCH_DIFFERENT)
        bench_wrong("%s on %s is wrong", line.name, line.device);
    snprintf(line.notes, sizeof line.notes, "%zu rows; share of the device's plain read",
             star->rows);
    bench_print(&line);
    clr_cl.ReleaseMemObject(buffer);
    free(one.records);
}

void bench_part_star(const struct bench_options *options)
{
    struct star star = {.rows = 0};
    struct bench_target target;
    struct bench_plain plain;
    struct clr_status status;
    size_t sizes[BENCH_MOST_SIZES];
    int i;

    bench_target_open(&target, options);
    bench_plain_open(&plain, &target);
    clr_status_clear(&status);
    clr_device_open(&target.info, &star.device, &status);
    bench_die_on(&status, "clr_device_open");
    bench_choose_sizes(options, (size_t)480 << 20, (size_t)480 << 20,
                       bench_memory_limit() / COLUMNS, 1, 1000, sizes);
    star.rows = sizes[0] / columns[REVENUE].bytes;
    for (i = 0; i < COLUMNS; i++)
        make_column(&star, (enum column)i);
    for (i = 0; i < LOOKUPS; i++)
        make_lookup(&star, (enum lookup)i);
    for (i = 0; i < QUERIES; i++)
        measure_query(options, &plain, &star, i);
    for (i = 0; i < LOOKUPS; i++)
        clr_lookup_results_release(star.lookups[i].results);
    for (i = 0; i < COLUMNS; i++) {
        clr_resident_column_free(star.device, star.there[i]);
        clr_column_release(star.here[i]);
    }
    clr_device_close(star.device);
    bench_plain_close(&plain);
    bench_target_close(&target);
}
