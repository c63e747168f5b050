/* Filters made of terms that AND joins, against a slow reference: bounds of columns, lookups, other
   expressions, in blocks with many rows, few rows and none; and all that again without the blocks
   that zones leave out. */
#include "numeric/scan/evaluate.h"

#include "base/memory.h"
#include "batch.h"
#include "numeric/filter/skipping.h"
#include "numeric/scan/scan.h"
#include "numeric/scan_reference.h"
#include "numeric/scans.h"
#include "random.h"

#include "tap.h"

#include <math.h>

enum { VALUES = 6, CODES = 3, CONSTANTS = 8, LOOKUPS = 4, TALLIES = 5, ENTRIES = 300 };

static struct scans_made made;

static int add(enum clr_opcode opcode, int a, int b)
{
    return scans_add(&made, opcode, a, b);
}

static scalar draw(int tag)
{
    static const int64_t ends[] = {INT64_MIN, INT64_MIN + 1, INT64_MAX - 1, INT64_MAX, 0};
    static const double reals[] = {-INFINITY, INFINITY,  -0.0,
                                   0.0,       0x1p-1074, 0x1.fffffffffffffp1023};

    if (tag == CLR_TAG_NULL)
        return scalar_of(CLR_TAG_NULL, 0);
    if (tag == CLR_TAG_INTEGER)
        return scalar_integer(random_pick(8) == 0 ? ends[random_pick(5)] : random_between(-20, 20));
    return scalar_real(random_pick(8) == 0 ? reals[random_pick(6)]
                                           : (double)random_between(-40, 40) / 2);
}

/* All of one type, or some NULL, or now and then TEXT; the last but one goes up with the rows, and
   sometimes all do. */
static struct clr_column *make_values(int number, size_t rows, bool ordered)
{
    const int tag = number % 2 == 0 ? CLR_TAG_INTEGER : CLR_TAG_REAL;
    struct clr_column *column =
        scans_new((uint8_t)(number < VALUES - 1 ? tag : CLR_TAG_MIXED), rows);
    size_t row;

    for (row = 0; row < rows; row++) {
        scalar value = draw(number < VALUES - 1 || random_pick(5) != 0 ? tag : CLR_TAG_NULL);
        if (number == VALUES - 2)
            value = scalar_integer((int64_t)(row / 512) - 20);
        else if (ordered && value.tag == CLR_TAG_INTEGER)
            value = scalar_integer(20 - (int64_t)(row / 512));
        else if (ordered && value.tag == CLR_TAG_REAL)
            value = scalar_real((double)row / 1000 - 10);
        if (number == VALUES - 1 && random_pick(200000) == 0)
            value = scalar_of(VALUE_BYTES, 0);
        column->values[row] = value.bits;
        if (column->kind == CLR_TAG_MIXED)
            column->tags[row] = (uint8_t)value.tag;
    }
    return column;
}

/* The first is mostly false, the second has NULLs and REALs, the third is once in a while UNSURE,
   and of the fourth nobody knows which results are true. */
static void make_lookup(int number)
{
    struct clr_lookup_results *results = clr_lookup_results_new(ENTRIES);
    int i;

    TAP_NEED(results != NULL, "no memory");
    for (i = 0; i < ENTRIES; i++) {
        scalar value = number == 0 ? scalar_integer(random_pick(20) == 0)
                                   : draw(random_pick(number == 1 ? 3 : 2));
        if (number == 2 && random_pick(2000) == 0)
            value = scalar_of(VALUE_UNSURE, 0);
        results->tags[i] = (uint8_t)value.tag;
        results->values[i] = value.bits;
    }
    clr_lookup_set(&made.lookups[number], results, ENTRIES);
    if (number == 3)
        made.lookups[number].truths = NULL;
}

/* A comparison of a column with a constant, either way round; a lookup; or anything. */
static int make_term(void)
{
    int column = random_pick(VALUES), constant = VALUES + random_pick(CONSTANTS);
    const enum clr_opcode opcode = (enum clr_opcode)random_between(CLR_OP_EQUAL, CLR_OP_IS_NOT);

    switch (random_pick(8)) {
    case 0:
        return VALUES + CONSTANTS + random_pick(LOOKUPS);
    case 1:
        return add(opcode, random_pick(VALUES), random_pick(VALUES));
    case 2:
        return add(CLR_OP_NOT, random_pick(made.scan.instruction_count), 0);
    case 3:
        return add(random_pick(3) == 0 ? CLR_OP_ABSOLUTE : CLR_OP_IS_NULL + random_pick(2), column,
                   0);
    default:
        return random_pick(3) == 0 ? add(opcode, constant, column) : add(opcode, column, constant);
    }
}

static void make_scan(size_t rows)
{
    static const unsigned masks[] = {0, 1 << CLR_SUM, 1 << CLR_EXTREMES, 1 << CLR_DOT};
    struct clr_column *columns[VALUES + CODES];
    struct clr_scan *scan = &made.scan;
    const bool ordered = random_pick(3) == 0;
    int terms = random_between(1, 5), i;

    for (i = 0; i < VALUES; i++)
        columns[i] = make_values(i, rows, ordered);
    for (i = 0; i < CODES; i++)
        columns[VALUES + i] = scans_codes((uint8_t)(1 << i), i == 0 ? 256 : ENTRIES, rows, ordered);
    scans_begin(&made, columns, VALUES + CODES);
    scan->instruction_count = VALUES; /* codes are looked up alone */
    for (i = 0; i < CONSTANTS; i++) {
        scalar value = draw(i == 0 && random_pick(8) == 0 ? CLR_TAG_NULL : 1 + i % 2);
        scans_constant(&made, (uint8_t)value.tag, value.bits);
    }
    for (i = 0; i < LOOKUPS; i++) {
        make_lookup(i);
        add(CLR_OP_LOOKUP, VALUES + i % CODES, i);
    }
    scan->lookup_count = LOOKUPS;
    scan->filter = make_term();
    while (--terms > 0)
        scan->filter = random_pick(3) == 0 ? add(random_pick(4) == 0 ? CLR_OP_OR : CLR_OP_AND,
                                                 make_term(), scan->filter)
                                           : add(CLR_OP_AND, scan->filter, make_term());
    for (i = 0; i < TALLIES; i++) {
        const unsigned mask = masks[random_pick(4)];
        const int x =
            random_pick(4) == 0 ? VALUES + CONSTANTS + random_pick(2) : random_pick(VALUES - 1);

        scans_tally(&made, mask,
                    random_pick(3) == 0 ? add(CLR_OP_MULTIPLY, x, random_pick(VALUES)) : x,
                    mask == 1 << CLR_DOT ? random_pick(VALUES - 1) : -1);
        made.tallies[i].filter = random_pick(4) == 0 ? make_term() : -1;
    }
}

static void free_scan(void)
{
    int i;

    scans_release(&made);
    for (i = 0; i < LOOKUPS; i++)
        clr_lookup_results_release(made.lookups[i].results);
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
        if (zones == NULL || !clr_column_find_zones(scan->columns[i], 0, all / 2, zones) ||
            !clr_column_find_zones(scan->columns[i], all / 2, all - all / 2, zones))
            tap_bail("no memory");
        clr_zones_complete(zones);
        if (wanted[i] && random_pick(20) > 0)
            clr_column_set_zones(scan->columns[i], zones);
        else
            clr_zones_free(zones);
    }
    clr_skipping_find_blocks(scan);
    return all - clr_zones_of(scan->rows);
}

TAP_TEST(test_filters)
{
    static const size_t sizes[] = {1, 1023, 1024, 1025, 4096, 20000, 150000};
    const int rounds = tap_is_quick() ? 300 : 3000;
    struct clr_state want[TALLIES], found[TALLIES];
    atomic_bool stop = false;
    int round, i, done = 0, some = 0;
    size_t skipped, skips = 0, partly = 0;

    batch_begin();
    for (round = 0; round < rounds; round++) {
        enum clr_scan_outcome expected;
        struct clr_scan *scan = &made.scan;

        make_scan(sizes[random_pick(20) == 0 ? 6 : random_pick(6)]);
        expected = reference_scan(scan, want);
        done += expected == CLR_SCAN_DONE;
        some += expected == CLR_SCAN_DONE && want[0].count > 0;
        batch_ok(clr_evaluate(scan, 0, scan->rows, found, NULL, &stop) == expected,
                 "outcome of round %d", round);
        for (i = 0; i < TALLIES && expected == CLR_SCAN_DONE; i++)
            batch_ok(reference_same(&found[i], &want[i]), "tally %d of round %d", i, round);
        skipped = skip(scan);
        skips += skipped;
        partly += skipped > 0 && expected == CLR_SCAN_DONE && want[0].count > 0;
        batch_ok(clr_evaluate(scan, 0, scan->rows, found, NULL, &stop) == expected,
                 "outcome of round %d without %zu blocks", round, skipped);
        for (i = 0; i < TALLIES && expected == CLR_SCAN_DONE; i++)
            batch_ok(reference_same(&found[i], &want[i]), "tally %d of round %d without %zu blocks",
                     i, round, skipped);
        clr_memory_free((void *)scan->blocks);
        free_scan();
    }
    batch_end("filters of several terms");
    tap_ok(done > rounds / 4, "%d of %d scans had results", done, rounds);
    tap_ok(some > rounds / 10, "%d of them had rows", some);
    tap_ok(skips > (size_t)rounds / 2 && partly > (size_t)rounds / 150,
           "%zu blocks were left out, in %zu scans of which others had rows", skips, partly);
}
