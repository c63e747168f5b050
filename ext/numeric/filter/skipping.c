#include "numeric/filter/skipping.h"

#include "base/memory.h"
#include "numeric/filter/filter_terms.h"
#include "numeric/scan/block.h"
#include "numeric/scan/host_reduce.h"
#include "numeric/scan/loops.h"
#include "numeric/values/column.h"

#include <math.h>
#include <string.h>

_Static_assert((int)CLR_ZONE_ROWS == (int)CLR_BLOCK, "a zone is one of a scan's blocks");

static void find_codes(const struct clr_column *column, size_t first, size_t count,
                       struct clr_zone *zone)
{
    uint32_t least = UINT32_MAX, greatest = 0;
    size_t i;

    for (i = first; i < first + count; i++) {
        const uint32_t code = clr_column_code(column, i);
        least = code < least ? code : least;
        greatest = code > greatest ? code : greatest;
    }
    *zone = (struct clr_zone){.least = least, .greatest = greatest};
}

/* Finds the extremes of values of one type. */
static void find_extremes(const int64_t *values, size_t count, enum clr_tag tag,
                          struct clr_zone *zone)
{
    const bool real = tag == CLR_TAG_REAL;
    struct clr_state state;
    const struct clr_range *range = real ? &state.reals : &state.integers;

    clr_state_clear(&state);
    clr_host_reduce_arrays(CLR_EXTREMES, real ? CLR_REAL : CLR_INTEGER, values, NULL, count,
                           &state);
    zone->least = real ? clr_real_to_key(range->least) : range->least;
    zone->greatest = real ? clr_real_to_key(range->greatest) : range->greatest;
}

/* Finds what a register has, the only one of its block. */
static void find_values(const struct clr_block *block, const struct clr_register *values,
                        struct clr_zone *zone)
{
    const unsigned numbers = values->types & (CLR_TYPE(CLR_TAG_INTEGER) | CLR_TYPE(CLR_TAG_REAL));
    const enum clr_tag tag = numbers & CLR_TYPE(CLR_TAG_REAL) ? CLR_TAG_REAL : CLR_TAG_INTEGER;
    uint64_t all[CLR_BLOCK_WORDS], rows[CLR_BLOCK_WORDS];
    int64_t gathered[CLR_BLOCK];

    *zone = (struct clr_zone){.types = (uint8_t)values->types};
    if (numbers != CLR_TYPE(tag))
        return;
    if (values->types == numbers) {
        find_extremes(values->values, block->count, tag, zone);
        return;
    }
    clr_filter_select_all(block, all);
    clr_row_set_find(block->loops, values, tag, all, rows);
    find_extremes(gathered, block->loops->gather(values->values, rows, gathered, values->values),
                  tag, zone);
}

static bool find_zones_of_values(struct clr_column *column, size_t first, size_t count,
                                 struct clr_zone *zones)
{
    const struct clr_instruction load = {.opcode = CLR_OP_COLUMN};
    struct clr_tally tally = {.x = 0, .y = -1, .filter = -1};
    const struct clr_scan scan = {.instruction_count = 1,
                                  .column_count = 1,
                                  .tally_count = 1,
                                  .filter = -1,
                                  .instructions = &load,
                                  .columns = &column,
                                  .rows = column->rows,
                                  .tallies = &tally};
    struct clr_block *block = clr_block_new(&scan);
    size_t i;

    if (block == NULL)
        return false;
    for (i = 0; i < count; i++) {
        const size_t start = (first + i) * CLR_BLOCK, rest = column->rows - start;

        clr_block_set_rows(block, start, rest < CLR_BLOCK ? rest : CLR_BLOCK);
        clr_block_run(block, CLR_STAGE_TALLIES);
        find_values(block, &block->registers[0], &zones[i]);
    }
    clr_block_free(block);
    return true;
}

bool clr_column_find_zones(struct clr_column *column, size_t first, size_t count,
                           struct clr_zones *zones)
{
    size_t i;

    if (column->codes == NULL)
        return find_zones_of_values(column, first, count, zones->zones + first);
    for (i = first; i < first + count; i++) {
        const size_t start = i * CLR_BLOCK, rest = column->rows - start;

        find_codes(column, start, rest < CLR_BLOCK ? rest : CLR_BLOCK, &zones->zones[i]);
    }
    return true;
}

static bool is_below(int64_t a, int64_t b, bool real)
{
    return real ? clr_real_to_key(a) < clr_real_to_key(b) : a < b;
}

/* Adds a zone to a coarse one, which has none yet if it is the first. Where numbers are of two
   types the extremes do not matter; of a zone without numbers they are not defined. */
static void add_zone(struct clr_zone *all, const struct clr_zone *zone, bool is_first)
{
    const unsigned numbers = CLR_TYPE(CLR_TAG_INTEGER) | CLR_TYPE(CLR_TAG_REAL);
    const bool real = (zone->types & CLR_TYPE(CLR_TAG_REAL)) != 0;
    const bool has_any = !is_first && (all->types == 0 || (all->types & numbers) != 0);

    all->types = (uint8_t)(zone->types | (is_first ? 0 : all->types));
    if (zone->types != 0 && (zone->types & numbers) == 0)
        return;
    if (!has_any || is_below(zone->least, all->least, real))
        all->least = zone->least;
    if (!has_any || is_below(all->greatest, zone->greatest, real))
        all->greatest = zone->greatest;
}

void clr_zones_complete(struct clr_zones *zones)
{
    struct clr_zone *coarse = zones->zones + zones->count;
    size_t i;

    zones->types = 0;
    for (i = 0; i < zones->count; i++) {
        zones->types |= zones->zones[i].types;
        add_zone(&coarse[i / CLR_COARSE_ZONES], &zones->zones[i], i % CLR_COARSE_ZONES == 0);
    }
}

/* Stores the first ranges, as far as there is room. Returns how many there are. */
static int divide(const uint32_t *blocks, size_t count, size_t gap, int most,
                  struct clr_row_ranges *ranges)
{
    size_t first = 0, i;

    ranges->count = 0;
    for (i = 1; i <= count; i++) {
        if (i < count && blocks[i] - blocks[i - 1] <= gap)
            continue;
        if (ranges->count == most)
            return most + 1;
        ranges->ranges[ranges->count++] =
            (struct clr_row_range){(size_t)blocks[first] * CLR_ZONE_ROWS,
                                   ((size_t)blocks[i - 1] - blocks[first] + 1) * CLR_ZONE_ROWS};
        first = i;
    }
    return ranges->count;
}

void clr_row_ranges_find(const struct clr_scan *scan, size_t gap, int most,
                         struct clr_row_ranges *ranges)
{
    const size_t count = clr_zones_of(scan->rows);

    ranges->count = 0;
    if (scan->rows == 0)
        return;
    if (scan->blocks == NULL) {
        ranges->count = 1;
        ranges->ranges[0] = (struct clr_row_range){0, scan->rows};
        return;
    }
    most = most < CLR_MOST_ROW_RANGES ? most : CLR_MOST_ROW_RANGES;
    while (divide(scan->blocks, count, gap, most, ranges) > most)
        gap *= 2;
    /* The last block may be short. */
    ranges->ranges[ranges->count - 1].rows -= count * CLR_ZONE_ROWS - scan->rows;
}

/* Blocks, or coarse zones, are looked at so many at a time, a bit for each. What a filter asks
   beyond MOST_TESTS is taken to be true: it takes longer then, and skips less. */
enum { BATCH = CLR_COARSE_ZONES, MOST_TESTS = 32 };

#define NUMBERS (CLR_TYPE(CLR_TAG_INTEGER) | CLR_TYPE(CLR_TAG_REAL))

/* What a block's zone is asked: whether an instruction may be true for one of its rows. */
struct test {
    int number; /* of the instruction */
    int column; /* of the scan */
    const struct clr_zones *zones;
    unsigned types;                  /* it is true for all values of these */
    struct clr_bounds bounds;        /* and for these numbers */
    const struct clr_lookup *lookup; /* or NULL */
    uint32_t *counts; /* of its truths: how many words before each of them have some */
};

struct tests {
    const struct clr_scan *scan;
    bool asked[CLR_MOST_INSTRUCTIONS]; /* the filter, and all that ANDs and ORs join in it */
    int count;
    struct test tests[MOST_TESTS]; /* those of instructions that are asked, in their order */
};

static bool is_joint(const struct clr_instruction *instruction)
{
    return instruction->opcode == CLR_OP_AND || instruction->opcode == CLR_OP_OR;
}

static void find_asked(const struct clr_scan *scan, bool asked[CLR_MOST_INSTRUCTIONS])
{
    int i;

    memset(asked, 0, CLR_MOST_INSTRUCTIONS * sizeof *asked);
    asked[scan->filter] = true;
    for (i = scan->filter; i >= 0; i--)
        if (asked[i] && is_joint(&scan->instructions[i]))
            asked[scan->instructions[i].a] = asked[scan->instructions[i].b] = true;
}

/* Finds out what an instruction asks of a column. Returns false if zones can't tell. */
static bool find_test(const struct clr_scan *scan, int number, struct test *test)
{
    const struct clr_instruction *instruction = &scan->instructions[number];
    int operand = number;

    *test = (struct test){.number = number, .bounds = {INT64_MAX, INT64_MIN, INFINITY, -INFINITY}};
    if (instruction->opcode == CLR_OP_LOOKUP) {
        if (scan->lookups[instruction->b].truths == NULL)
            return false;
    } else if (instruction->opcode == CLR_OP_IS_NULL || instruction->opcode == CLR_OP_NOT_NULL) {
        operand = instruction->a;
        test->types = CLR_TYPE(CLR_TAG_NULL);
        if (instruction->opcode == CLR_OP_NOT_NULL)
            test->types = ~test->types;
        if (scan->instructions[operand].opcode != CLR_OP_COLUMN)
            return false;
    } else if (!clr_bounds_find(scan, number, &operand, &test->bounds)) {
        return false;
    }
    test->column = scan->instructions[operand].a;
    return true;
}

/* Columns of several types are wanted wherever they are read: without their zones it is not known
   whether the filter is sure. */
bool clr_skipping_find_columns(const struct clr_scan *scan, bool wanted[CLR_MOST_COLUMNS])
{
    const struct clr_tally none = {.x = -1, .y = -1, .filter = -1};
    bool asked[CLR_MOST_INSTRUCTIONS], used[CLR_MOST_INSTRUCTIONS], any = false;
    struct test test;
    int i;

    memset(wanted, 0, CLR_MOST_COLUMNS * sizeof *wanted);
    if (scan->filter < 0)
        return false;
    find_asked(scan, asked);
    clr_scan_find_used(scan, &none, used);
    for (i = 0; i <= scan->filter; i++) {
        const struct clr_instruction *instruction = &scan->instructions[i];

        if (asked[i] && find_test(scan, i, &test))
            any = wanted[test.column] = true;
        if (used[i] && instruction->opcode == CLR_OP_COLUMN &&
            scan->columns[instruction->a]->kind == CLR_TAG_MIXED)
            wanted[instruction->a] = true;
    }
    return any;
}

/* Gets ready for a lookup. Returns false without memory. */
static bool take_lookup(const struct clr_lookup *lookup, struct test *test)
{
    uint32_t i;

    test->lookup = lookup;
    test->counts = clr_memory_alloc((lookup->count / 32 + (size_t)1) * sizeof *test->counts);
    if (test->counts == NULL)
        return false;
    test->counts[0] = 0;
    for (i = 0; i < lookup->count / 32; i++)
        test->counts[i + 1] = test->counts[i] + (lookup->truths[i] != 0);
    return true;
}

/* Whether a lookup is true for one of the codes from least to greatest. */
static bool has_truths(const struct test *test, uint32_t least, uint32_t greatest)
{
    const uint32_t *truths = test->lookup->truths;
    const uint32_t from_least = UINT32_MAX << least % 32;
    const uint32_t to_greatest = UINT32_MAX >> (31 - greatest % 32);

    least /= 32;
    greatest /= 32;
    if (least == greatest)
        return (truths[least] & from_least & to_greatest) != 0;
    return (truths[least] & from_least) != 0 || (truths[greatest] & to_greatest) != 0 ||
           test->counts[greatest] > test->counts[least + 1];
}

static void find_tests(struct tests *tests)
{
    const struct clr_scan *scan = tests->scan;
    int i;

    find_asked(scan, tests->asked);
    for (i = 0; i <= scan->filter && tests->count < MOST_TESTS; i++) {
        struct test *test = &tests->tests[tests->count];
        const struct clr_instruction *instruction = &scan->instructions[i];
        const struct clr_zones *zones;

        if (!tests->asked[i] || !find_test(scan, i, test))
            continue;
        zones = clr_column_zones(scan->columns[test->column]);
        if (zones == NULL || (instruction->opcode == CLR_OP_LOOKUP &&
                              !take_lookup(&scan->lookups[instruction->b], test)))
            continue;
        test->zones = zones;
        tests->count++;
    }
}

static bool may_be_true(const struct test *test, const struct clr_zone *zone)
{
    const struct clr_bounds *bounds = &test->bounds;

    if (test->lookup != NULL)
        return has_truths(test, (uint32_t)zone->least, (uint32_t)zone->greatest);
    switch (zone->types & NUMBERS) {
    case 0:
        return (zone->types & test->types) != 0;
    case CLR_TYPE(CLR_TAG_INTEGER):
        return (zone->types & test->types) != 0 ||
               (zone->least <= bounds->greatest && zone->greatest >= bounds->least);
    case CLR_TYPE(CLR_TAG_REAL):
        return (zone->types & test->types) != 0 ||
               (clr_real_of(zone->least) <= bounds->greatest_real &&
                clr_real_of(zone->greatest) >= bounds->least_real);
    default:
        return true;
    }
}

/* Returns for which of up to BATCH blocks from the first on, of so many in all, the filter may be
   true: bits. Coarse ones are those of which there is a coarse zone. */
static uint64_t ask(const struct tests *tests, bool coarse, size_t first, size_t all)
{
    const size_t count = all - first < BATCH ? all - first : BATCH;
    const struct test *test = tests->tests, *end = test + tests->count;
    uint64_t answers[CLR_MOST_INSTRUCTIONS];
    const struct clr_zone *zones;
    size_t k;
    int i;

    for (i = 0; i <= tests->scan->filter; i++) {
        const struct clr_instruction *instruction = &tests->scan->instructions[i];

        answers[i] = UINT64_MAX;
        if (!tests->asked[i])
            continue;
        if (instruction->opcode == CLR_OP_AND)
            answers[i] = answers[instruction->a] & answers[instruction->b];
        else if (instruction->opcode == CLR_OP_OR)
            answers[i] = answers[instruction->a] | answers[instruction->b];
        if (test == end || test->number != i)
            continue;
        zones = test->zones->zones + (coarse ? test->zones->count : 0) + first;
        for (k = 0; k < count; k++)
            if (!may_be_true(test, &zones[k]))
                answers[i] &= ~(UINT64_C(1) << k);
        test++;
    }
    return answers[tests->scan->filter] & UINT64_MAX >> (BATCH - count);
}

/* Lists the blocks for which the filter may be true. */
static size_t list_blocks(const struct tests *tests, size_t all, uint32_t *blocks)
{
    const size_t all_coarse = clr_zones_coarse(all);
    size_t listed = 0, coarse;

    for (coarse = 0; coarse < all_coarse; coarse += BATCH) {
        uint64_t some = ask(tests, true, coarse, all_coarse), found;

        for (; some != 0; some &= some - 1) {
            const size_t first = (coarse + (size_t)__builtin_ctzll(some)) * CLR_COARSE_ZONES;

            for (found = ask(tests, false, first, all); found != 0; found &= found - 1)
                blocks[listed++] = (uint32_t)(first + (size_t)__builtin_ctzll(found));
        }
    }
    return listed;
}

void clr_skipping_find_blocks(struct clr_scan *scan)
{
    const size_t all = clr_zones_of(scan->rows);
    struct tests tests = {.scan = scan};
    uint32_t *blocks = NULL;
    size_t count = all;

    if (scan->filter < 0 || !clr_terms_are_sure(scan))
        return;
    find_tests(&tests);
    if (tests.count > 0)
        blocks = clr_memory_alloc((all + 1) * sizeof *blocks);
    if (blocks != NULL)
        count = list_blocks(&tests, all, blocks);
    while (tests.count > 0)
        clr_memory_free(tests.tests[--tests.count].counts);
    if (count == all) {
        clr_memory_free(blocks);
        return;
    }
    scan->blocks = blocks;
    if (count > 0 && blocks[count - 1] == all - 1)
        scan->rows -= (all - count) * CLR_ZONE_ROWS;
    else
        scan->rows = count * CLR_ZONE_ROWS;
}
