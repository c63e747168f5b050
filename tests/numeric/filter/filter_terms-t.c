/* Lists of blocks as few ranges of rows: what is in them, and what is left out between them. And
   the bounds that the comparisons of a filter give a column. */
#include "numeric/filter/filter_terms.h"

#include "batch.h"
#include "random.h"

/* SQLite's operators. */
#include "../../../kernels/arithmetic/reals.cl"
#include "../../../kernels/scan/values.cl"
#include "../../../kernels/scan/values_logic.cl"

enum { MOST_BLOCKS = 300 };

static uint32_t blocks[MOST_BLOCKS];

/* Lists some of so many blocks, in runs. Returns the rows of those listed; the last block of all
   has so many. */
static size_t list_blocks(size_t all, size_t last_rows)
{
    size_t count = 0;
    bool listed = false;

    for (size_t i = 0; i < all; i++) {
        if (random_below(20) == 0)
            listed = !listed;
        if (listed)
            blocks[count++] = (uint32_t)i;
    }
    return count == 0 || blocks[count - 1] < all - 1 ? count * CLR_ZONE_ROWS
                                                     : (count - 1) * CLR_ZONE_ROWS + last_rows;
}

/* Whether the ranges have the listed blocks, ascend, and end where the blocks do. */
static bool have_all(const struct clr_row_ranges *ranges, size_t rows)
{
    const size_t count = clr_zones_of(rows), missing = count * CLR_ZONE_ROWS - rows;
    size_t k = 0, end = 0;

    for (int i = 0; i < ranges->count; i++) {
        const struct clr_row_range *range = &ranges->ranges[i];

        if (range->rows == 0 || range->first < end ||
            range->first != (size_t)blocks[k] * CLR_ZONE_ROWS)
            return false;
        end = range->first + range->rows;
        while (k < count && (size_t)blocks[k] * CLR_ZONE_ROWS < end)
            k++;
        if (end != ((size_t)blocks[k - 1] + 1) * CLR_ZONE_ROWS - (k == count ? missing : 0))
            return false;
    }
    return k == count;
}

/* Returns how many blocks lie between two ranges, at least. */
static size_t find_least_gap(const struct clr_row_ranges *ranges)
{
    size_t least = SIZE_MAX;

    for (int i = 1; i < ranges->count; i++) {
        const struct clr_row_range *last = &ranges->ranges[i - 1];
        const size_t between = ranges->ranges[i].first - last->first - last->rows;

        least = between / CLR_ZONE_ROWS < least ? between / CLR_ZONE_ROWS : least;
    }
    return least;
}

/* How many ranges there would be with that gap. */
static int count_ranges(size_t rows, size_t gap)
{
    const size_t count = clr_zones_of(rows);
    int ranges = count > 0;

    for (size_t i = 1; i < count; i++)
        ranges += blocks[i] - blocks[i - 1] > gap;
    return ranges;
}

TAP_TEST(test_random)
{
    const int rounds = tap_is_quick() ? 2000 : 20000;
    struct clr_row_ranges ranges;
    int several = 0;

    for (int round = 0; round < rounds; round++) {
        const size_t all = random_below(MOST_BLOCKS) + 1, gap = random_below(30) + 1;
        const size_t rows = list_blocks(all, random_below(CLR_ZONE_ROWS) + 1);
        const int most = (int)random_below(2 * CLR_MOST_LAUNCHED_RANGES) + 1;
        const int room = most < CLR_MOST_LAUNCHED_RANGES ? most : CLR_MOST_LAUNCHED_RANGES;
        const struct clr_scan scan = {.rows = rows, .blocks = blocks};

        clr_row_ranges_find(&scan, gap, most, &ranges);
        batch_ok(have_all(&ranges, rows), "round %d: %d ranges of %zu rows", round, ranges.count,
                 rows);
        batch_ok(ranges.count <= room && find_least_gap(&ranges) >= gap,
                 "round %d: %d ranges of %d, %zu blocks apart", round, ranges.count, room, gap);
        if (count_ranges(rows, gap) <= room)
            batch_ok(ranges.count == count_ranges(rows, gap), "round %d: all gaps", round);
        several += ranges.count > 1;
    }
    batch_end("ranges of blocks");
    tap_ok(several > rounds / 4, "%d of %d lists have several", several, rounds);
}

TAP_TEST(test_all)
{
    struct clr_scan scan = {.rows = 5000};
    struct clr_row_ranges ranges;

    clr_row_ranges_find(&scan, 1, 3, &ranges);
    tap_ok(ranges.count == 1 && ranges.ranges[0].first == 0 && ranges.ranges[0].rows == 5000,
           "all rows are one range");
    scan.rows = 0;
    clr_row_ranges_find(&scan, 1, 3, &ranges);
    tap_is_int64(ranges.count, 0, "no rows are none");
}

/* ---- Bounds. */

enum { MOST_COMPARISONS = 4, POWER = 100, VALUES = 40 };

struct filter {
    struct clr_instruction instructions[4 * MOST_COMPARISONS + 1];
    struct clr_scalar constants[MOST_COMPARISONS];
    struct clr_scan scan;
};

/* An integer that may matter: small, or at an end. */
static int64_t draw_integer(void)
{
    static const int64_t ends[] = {INT64_MIN, INT64_MIN + 1,   INT64_MAX, INT64_MAX - 1,
                                   0,         INT64_C(1) << 53};

    return random_below(4) == 0 ? ends[random_below(sizeof ends / sizeof *ends)]
                                : (int64_t)random_below(41) - 20;
}

/* A number to compare with: an INTEGER, or a REAL that is whole, half or a hundredth of one. */
static struct clr_scalar draw_constant(void)
{
    static const double ends[] = {INFINITY, -INFINITY, 0x1p63, -0x1p63, -0.0, 0x1p-1074};
    const double divisors[] = {1.0, 2.0, POWER};
    double real = (double)draw_integer() / divisors[random_below(3)];

    if (random_below(2) == 0)
        return (struct clr_scalar){CLR_TAG_INTEGER, draw_integer()};
    if (random_below(5) == 0)
        real = ends[random_below(sizeof ends / sizeof *ends)];
    return (struct clr_scalar){CLR_TAG_REAL, clr_bits_of(real)};
}

/* Adds comparisons of columns 0 and 1, with the column on either side, joined by ANDs. */
static void make_filter(struct filter *filter)
{
    static const enum clr_opcode opcodes[] = {CLR_OP_EQUAL,         CLR_OP_IS,
                                              CLR_OP_LESS,          CLR_OP_LESS_EQUAL,
                                              CLR_OP_GREATER,       CLR_OP_GREATER_EQUAL,
                                              CLR_OP_GREATER_EQUAL, CLR_OP_LESS_EQUAL};
    const int count = (int)random_below(MOST_COMPARISONS) + 1;
    int next = 0;

    filter->scan = (struct clr_scan){.filter = -1,
                                     .column_count = 2,
                                     .instructions = filter->instructions,
                                     .constants = filter->constants};
    for (int i = 0; i < count; i++) {
        const bool turned = random_below(2) == 0;
        const int column = random_below(4) == 0;

        filter->constants[i] = draw_constant();
        filter->instructions[next] = (struct clr_instruction){CLR_OP_COLUMN, column, -1, -1};
        filter->instructions[next + 1] = (struct clr_instruction){CLR_OP_CONSTANT, i, -1, -1};
        filter->instructions[next + 2] =
            (struct clr_instruction){opcodes[random_below(sizeof opcodes / sizeof *opcodes)],
                                     next + turned, next + !turned, -1};
        next += 3;
        if (i > 0) {
            filter->instructions[next] =
                (struct clr_instruction){CLR_OP_AND, filter->scan.filter, next - 1, -1};
            next++;
        }
        filter->scan.filter = next - 1;
    }
    filter->scan.instruction_count = next;
    filter->scan.constant_count = count;
}

static scalar compare(enum clr_opcode opcode, scalar a, scalar b)
{
    switch (opcode) {
    case CLR_OP_EQUAL:
        return scalar_equal(a, b);
    case CLR_OP_IS:
        return scalar_is(a, b);
    case CLR_OP_LESS:
        return scalar_less(a, b);
    case CLR_OP_LESS_EQUAL:
        return scalar_less_equal(a, b);
    case CLR_OP_GREATER:
        return scalar_greater(a, b);
    default:
        return scalar_greater_equal(a, b);
    }
}

/* Whether all comparisons of column 0 are true for a value. */
static bool passes(const struct filter *filter, scalar value)
{
    bool all = true;

    for (int i = 0; i < filter->scan.instruction_count; i++) {
        const struct clr_instruction *at = &filter->instructions[i];
        const struct clr_instruction *a, *b;
        const struct clr_scalar *constant;
        scalar other;

        if (!clr_opcode_compares(at->opcode))
            continue;
        a = &filter->instructions[at->a];
        b = &filter->instructions[at->b];
        if ((a->opcode == CLR_OP_COLUMN ? a : b)->a != 0)
            continue;
        constant = &filter->constants[(a->opcode == CLR_OP_COLUMN ? b : a)->a];
        other = scalar_of(constant->tag, constant->bits);
        all = all && scalar_is_true(a->opcode == CLR_OP_COLUMN ? compare(at->opcode, value, other)
                                                               : compare(at->opcode, other, value));
    }
    return all;
}

TAP_TEST(test_bounds)
{
    const int rounds = tap_is_quick() ? 5000 : 50000;
    static struct filter filter;
    int64_t least, greatest;
    int some = 0;

    for (int round = 0; round < rounds; round++) {
        const bool decimals = random_below(2) == 0;

        make_filter(&filter);
        clr_terms_bound(&filter.scan, 0, decimals ? POWER : 0.0, &least, &greatest);
        for (int i = 0; i < VALUES; i++) {
            const int64_t integer =
                decimals ? (int64_t)random_below(10 * POWER) - 5 * POWER : draw_integer();
            const scalar value = decimals ? scalar_of(VALUE_REAL, clr_decimal_bits(integer, POWER))
                                          : scalar_integer(integer);
            const bool within = integer >= least && integer <= greatest;

            batch_ok(within == passes(&filter, value), "round %d: %s %lld", round,
                     decimals ? "decimal" : "INTEGER", (long long)integer);
            some += within;
        }
    }
    batch_end("bounds of a column");
    tap_ok(some > rounds, "%d values are within them", some);
}
