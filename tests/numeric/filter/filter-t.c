/* Filters made of terms that AND joins, against a slow reference: bounds of columns, lookups, other
   expressions, in blocks with many rows, few rows and none; and all that again without the blocks
   that zones leave out. */
#include "numeric/scan/evaluate.h"

#include "base/memory.h"
#include "batch.h"
#include "numeric/filter/skipping.h"
#include "numeric/parts.h"
#include "numeric/scan/scan.h"
#include "numeric/scan_reference.h"
#include "random.h"

#include "tap.h"

#include <math.h>

enum { VALUES = 6, CODES = 3, CONSTANTS = 8, LOOKUPS = 4, MOST = 100, TALLIES = 5, ENTRIES = 300 };

static struct clr_instruction instructions[MOST];
static struct clr_scalar constants[CONSTANTS];
static struct clr_column *columns[VALUES + CODES];
static struct clr_lookup lookups[LOOKUPS];
static struct clr_tally tallies[TALLIES];
static int count;

static int pick(int below)
{
    return (int)random_below((uint64_t)below);
}

static int add(enum clr_opcode opcode, int a, int b)
{
    instructions[count] = (struct clr_instruction){opcode, a, b, 0};
    return count++;
}

static scalar draw(int tag)
{
    static const int64_t ends[] = {INT64_MIN, INT64_MIN + 1, INT64_MAX - 1, INT64_MAX, 0};
    static const double reals[] = {-INFINITY, INFINITY,  -0.0,
                                   0.0,       0x1p-1074, 0x1.fffffffffffffp1023};

    if (tag == CLR_TAG_NULL)
        return scalar_of(CLR_TAG_NULL, 0);
    if (tag == CLR_TAG_INTEGER)
        return scalar_integer(pick(8) == 0 ? ends[pick(5)] : random_between(-20, 20));
    return scalar_real(pick(8) == 0 ? reals[pick(6)] : (double)random_between(-40, 40) / 2);
}

/* All of one type, or some NULL, or now and then TEXT; the last but one goes up with the rows, and
   sometimes all do. */
static struct clr_column *make_values(int number, size_t rows, bool ordered)
{
    struct clr_column *column = clr_column_new(rows);
    const int tag = number % 2 == 0 ? CLR_TAG_INTEGER : CLR_TAG_REAL;
    size_t row;

    if (column == NULL)
        tap_bail("no memory");
    column->rows = rows;
    column->kind = number < VALUES - 1 ? (uint8_t)tag : (uint8_t)CLR_TAG_MIXED;
    for (row = 0; row < rows; row++) {
        scalar value = draw(number < VALUES - 1 || pick(5) != 0 ? tag : CLR_TAG_NULL);
        if (number == VALUES - 2)
            value = scalar_integer((int64_t)(row / 512) - 20);
        else if (ordered && value.tag == CLR_TAG_INTEGER)
            value = scalar_integer(20 - (int64_t)(row / 512));
        else if (ordered && value.tag == CLR_TAG_REAL)
            value = scalar_real((double)row / 1000 - 10);
        if (number == VALUES - 1 && pick(200000) == 0)
            value = scalar_of(VALUE_BYTES, 0);
        column->values[row] = value.bits;
        if (column->kind == CLR_TAG_MIXED)
            column->tags[row] = (uint8_t)value.tag;
    }
    return column;
}

static struct clr_column *make_codes(int number, size_t rows, bool ordered)
{
    const uint64_t entries = number == 0 ? 256 : ENTRIES;
    struct clr_column *column = clr_column_new_codes(NULL, rows, (uint8_t)(1 << number));
    struct clr_column *wide = clr_column_new_codes(NULL, rows, sizeof(uint32_t));
    size_t row;

    if (column == NULL || wide == NULL)
        tap_bail("no memory");
    column->rows = wide->rows = rows;
    for (row = 0; row < rows; row++)
        ((uint32_t *)wide->codes)[row] =
            (uint32_t)(ordered ? row * entries / rows : random_below(entries));
    clr_column_map_codes(column, 0, wide, 0, rows, NULL);
    clr_column_release(wide);
    return column;
}

/* The first is mostly false, the second has NULLs and REALs, the third is once in a while UNSURE,
   and of the fourth nobody knows which results are true. */
static void make_lookup(int number)
{
    struct clr_lookup_results *results = clr_lookup_results_new(ENTRIES);
    int i;

    if (results == NULL)
        tap_bail("no memory");
    for (i = 0; i < ENTRIES; i++) {
        scalar value =
            number == 0 ? scalar_integer(pick(20) == 0) : draw(pick(number == 1 ? 3 : 2));
        if (number == 2 && pick(2000) == 0)
            value = scalar_of(VALUE_UNSURE, 0);
        results->tags[i] = (uint8_t)value.tag;
        results->values[i] = value.bits;
    }
    memset(&lookups[number], 0, sizeof lookups[number]);
    clr_lookup_set(&lookups[number], results, ENTRIES);
    if (number == 3)
        lookups[number].truths = NULL;
}

/* A comparison of a column with a constant, either way round; a lookup; or anything. */
static int make_term(void)
{
    int column = pick(VALUES), constant = VALUES + pick(CONSTANTS);
    const enum clr_opcode opcode = (enum clr_opcode)random_between(CLR_OP_EQUAL, CLR_OP_IS_NOT);

    switch (pick(8)) {
    case 0:
        return VALUES + CONSTANTS + pick(LOOKUPS);
    case 1:
        return add(opcode, pick(VALUES), pick(VALUES));
    case 2:
        return add(CLR_OP_NOT, pick(count), 0);
    case 3:
        return add(pick(3) == 0 ? CLR_OP_ABSOLUTE : CLR_OP_IS_NULL + pick(2), column, 0);
    default:
        return pick(3) == 0 ? add(opcode, constant, column) : add(opcode, column, constant);
    }
}

static void make_scan(struct clr_scan *scan, size_t rows)
{
    static const unsigned masks[] = {0, 1 << CLR_SUM, 1 << CLR_EXTREMES, 1 << CLR_DOT};
    const bool ordered = pick(3) == 0;
    int terms = random_between(1, 5), i;

    count = 0;
    for (i = 0; i < VALUES; i++) {
        columns[i] = make_values(i, rows, ordered);
        add(CLR_OP_COLUMN, i, -1);
    }
    for (i = 0; i < CONSTANTS; i++) {
        scalar value = draw(i == 0 && pick(8) == 0 ? CLR_TAG_NULL : 1 + i % 2);
        constants[i] = (struct clr_scalar){(uint8_t)value.tag, value.bits};
        add(CLR_OP_CONSTANT, i, -1);
    }
    for (i = 0; i < CODES; i++)
        columns[VALUES + i] = make_codes(i, rows, ordered);
    for (i = 0; i < LOOKUPS; i++) {
        make_lookup(i);
        add(CLR_OP_LOOKUP, VALUES + i % CODES, i);
    }
    *scan = (struct clr_scan){.rows = rows,
                              .instructions = instructions,
                              .constants = constants,
                              .columns = columns,
                              .tallies = tallies,
                              .lookups = lookups,
                              .column_count = VALUES + CODES,
                              .constant_count = CONSTANTS,
                              .lookup_count = LOOKUPS,
                              .tally_count = TALLIES};
    scan->filter = make_term();
    while (--terms > 0)
        scan->filter = pick(3) == 0
                           ? add(pick(4) == 0 ? CLR_OP_OR : CLR_OP_AND, make_term(), scan->filter)
                           : add(CLR_OP_AND, scan->filter, make_term());
    for (i = 0; i < TALLIES; i++) {
        const unsigned mask = masks[pick(4)];
        const int x = pick(4) == 0 ? VALUES + CONSTANTS + pick(2) : pick(VALUES - 1);
        tallies[i] =
            (struct clr_tally){.operations = mask,
                               .x = pick(3) == 0 ? add(CLR_OP_MULTIPLY, x, pick(VALUES)) : x,
                               .y = mask == 1 << CLR_DOT ? pick(VALUES - 1) : -1,
                               .filter = pick(4) == 0 ? make_term() : -1};
    }
    scan->instruction_count = count;
}

static void free_scan(void)
{
    int i;

    for (i = 0; i < VALUES + CODES; i++)
        clr_column_release(columns[i]);
    for (i = 0; i < LOOKUPS; i++)
        clr_lookup_results_release(lookups[i].results);
}

/* Leaves out the blocks that zones tell: of all columns that are wanted, or of some. Returns how
   many. */
static size_t skip(struct clr_scan *scan)
{
    const size_t all = clr_zones_of(scan->rows);
    bool wanted[CLR_MOST_COLUMNS];
    int i;

    if (!clr_skipping_find_columns(scan, wanted))
        return 0;
    for (i = 0; i < VALUES + CODES; i++) {
        struct clr_zones *zones = clr_zones_new(scan->rows);
        if (zones == NULL || !clr_column_find_zones(columns[i], 0, all / 2, zones) ||
            !clr_column_find_zones(columns[i], all / 2, all - all / 2, zones))
            tap_bail("no memory");
        clr_zones_complete(zones);
        if (wanted[i] && pick(20) > 0)
            clr_column_set_zones(columns[i], zones);
        else
            clr_zones_free(zones);
    }
    clr_skipping_find_blocks(scan);
    return all - clr_zones_of(scan->rows);
}

int main(void)
{
    static const size_t sizes[] = {1, 1023, 1024, 1025, 4096, 20000, 150000};
    const int rounds = tap_is_quick() ? 300 : 3000;
    struct clr_state want[TALLIES], found[TALLIES];
    atomic_bool stop = false;
    int round, i, done = 0, some = 0;
    size_t skipped, skips = 0, partly = 0;

    random_start();
    batch_begin();
    for (round = 0; round < rounds; round++) {
        enum clr_scan_outcome expected;
        struct clr_scan scan;

        make_scan(&scan, sizes[pick(20) == 0 ? 6 : pick(6)]);
        expected = reference_scan(&scan, want);
        done += expected == CLR_SCAN_DONE;
        some += expected == CLR_SCAN_DONE && want[0].count > 0;
        batch_ok(clr_evaluate(&scan, 0, scan.rows, found, NULL, &stop) == expected,
                 "outcome of round %d", round);
        for (i = 0; i < TALLIES && expected == CLR_SCAN_DONE; i++)
            batch_ok(reference_same(&found[i], &want[i]), "tally %d of round %d", i, round);
        skipped = skip(&scan);
        skips += skipped;
        partly += skipped > 0 && expected == CLR_SCAN_DONE && want[0].count > 0;
        batch_ok(clr_evaluate(&scan, 0, scan.rows, found, NULL, &stop) == expected,
                 "outcome of round %d without %zu blocks", round, skipped);
        for (i = 0; i < TALLIES && expected == CLR_SCAN_DONE; i++)
            batch_ok(reference_same(&found[i], &want[i]), "tally %d of round %d without %zu blocks",
                     i, round, skipped);
        clr_memory_free((void *)scan.blocks);
        free_scan();
    }
    batch_end("filters of several terms");
    tap_ok(done > rounds / 4, "%d of %d scans had results", done, rounds);
    tap_ok(some > rounds / 10, "%d of them had rows", some);
    tap_ok(skips > (size_t)rounds / 2 && partly > (size_t)rounds / 150,
           "%zu blocks were left out, in %zu scans of which others had rows", skips, partly);
    row_ranges_tests();
    return tap_done();
}
