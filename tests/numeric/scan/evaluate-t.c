/* Scans on the host against a slow reference: random expressions over random columns. */
#include "numeric/scan/evaluate.h"

#include "base/memory.h"
#include "batch.h"
#include "engine/host/host_scan.h"
#include "numeric/scan/loops.h"
#include "numeric/scan_reference.h"
#include "numeric/scans.h"
#include "random.h"

#include "tap.h"

#include <math.h>

enum { MOST_COLUMNS = 6, MOST_CONSTANTS = 4, INSTRUCTIONS = 24, TALLIES = 5 };

/* How a column's values are drawn. */
enum kind {
    ALL_NULL,
    SMALL_INTEGERS,
    INTEGERS,
    FLAGS,
    UNIFORM_REALS,
    REALS,
    SOME_NULLS,
    MOSTLY_NULLS,
    NUMBERS,
    ANYTHING,
    STRETCHES,
    KINDS
};

static struct scans_made made;

static scalar draw_real(bool hard)
{
    if (!hard)
        return scalar_real((double)random_between(-1000, 1000) / 64);
    if (random_below(100) == 0)
        return scalar_real(random_bits() & 1 ? INFINITY : -INFINITY);
    return scalar_real(random_below(2) ? random_hard(1000, 1090) : random_finite());
}

static scalar draw(enum kind kind, size_t row)
{
    switch (kind) {
    case ALL_NULL:
        return scalar_of(VALUE_NULL, 0);
    case SMALL_INTEGERS:
        return scalar_integer(random_between(-50, 50));
    case INTEGERS:
        return scalar_integer(random_integer());
    case FLAGS:
        return scalar_integer((int64_t)random_below(2));
    case UNIFORM_REALS:
        return draw_real(false);
    case REALS:
        return draw_real(true);
    case SOME_NULLS:
        return draw(random_below(20) == 0 ? ALL_NULL : UNIFORM_REALS, row);
    case MOSTLY_NULLS:
        return draw(random_below(20) != 0 ? ALL_NULL : SMALL_INTEGERS, row);
    case NUMBERS:
        return draw((enum kind)random_below(SOME_NULLS), row);
    case ANYTHING:
        return random_below(2000) == 0 ? scalar_of(VALUE_BYTES, 0) : draw(NUMBERS, row);
    default: /* blocks of one type each, with few changes inside them */
        return draw((enum kind)(row / 700 % SOME_NULLS), row);
    }
}

static struct clr_column *make_column(size_t rows)
{
    static const uint8_t tags[] = {CLR_TAG_NULL,    CLR_TAG_INTEGER, CLR_TAG_INTEGER,
                                   CLR_TAG_INTEGER, CLR_TAG_REAL,    CLR_TAG_REAL};
    enum kind kind = (enum kind)random_below(KINDS);
    struct clr_column *column;
    size_t row;

    if (kind == ANYTHING && random_below(4) != 0)
        kind = REALS;
    column = scans_new(kind < SOME_NULLS ? tags[kind] : (uint8_t)CLR_TAG_MIXED, rows);
    for (row = 0; row < rows; row++) {
        scalar value = draw(kind, row);
        column->values[row] = value.bits;
        if (column->kind == CLR_TAG_MIXED)
            column->tags[row] = (uint8_t)value.tag;
    }
    return column;
}

/* Any earlier instruction, or none. */
static int pick_or_none(int count)
{
    return random_below(2) ? -1 : random_pick(count);
}

static void make_tally(struct clr_tally *tally, int count)
{
    static const unsigned masks[] = {0, 1 << CLR_SUM, 1 << CLR_EXTREMES,
                                     1 << CLR_SUM | 1 << CLR_EXTREMES};

    tally->operations = masks[random_below(4)];
    tally->x = tally->operations == 0 ? pick_or_none(count) : random_pick(count);
    tally->y = tally->x >= 0 && random_below(4) == 0 ? random_pick(count) : -1;
    tally->filter = random_below(3) == 0 ? random_pick(count) : -1;
    if (random_below(4) == 0) {
        tally->operations = 1 << CLR_DOT | (random_below(4) == 0 ? 1 << CLR_EXTREMES : 0);
        tally->x = random_pick(count);
        tally->y = random_pick(count);
    }
}

static void make_scan(size_t rows)
{
    struct clr_column *columns[MOST_COLUMNS];
    struct clr_scan *scan = &made.scan;
    const int column_count = random_between(1, MOST_COLUMNS);
    int count, i;

    for (i = 0; i < column_count; i++)
        columns[i] = make_column(rows);
    scans_begin(&made, columns, column_count);
    for (i = random_between(0, MOST_CONSTANTS); i > 0; i--) {
        scalar value = draw(NUMBERS, 0);
        scans_constant(&made, (uint8_t)value.tag, value.bits);
    }
    for (i = random_pick(INSTRUCTIONS); i > 0; i--) {
        count = scan->instruction_count;
        scans_add(&made, (enum clr_opcode)random_between(CLR_OP_ADD, CLR_OPCODES - 1),
                  random_pick(count), random_pick(count));
        made.instructions[count].c = random_pick(count);
    }
    count = scan->instruction_count;
    scan->filter = random_below(2) ? random_pick(count) : -1;
    scan->tally_count = random_between(1, TALLIES);
    for (i = 0; i < scan->tally_count; i++)
        make_tally(&made.tallies[i], count);
}

static size_t pick_rows(void)
{
    static const size_t sizes[] = {0, 1, 63, 64, 65, 1023, 1024, 1025, 2047, 2048, 2049, 5000};

    if (random_below(12) == 0)
        return (size_t)random_between(31 * 1024, 70 * 1024);
    return sizes[random_below(sizeof sizes / sizeof sizes[0])];
}

/* The scan in two parts, merged into the first one's states. */
static enum clr_scan_outcome run_parts(const struct clr_scan *scan, struct clr_state *states)
{
    struct clr_state others[TALLIES];
    atomic_bool stop = false;
    size_t cut = random_below(scan->rows + 1);
    enum clr_scan_outcome outcome = clr_evaluate(scan, 0, cut, states, NULL, &stop);
    int i;

    if (outcome == CLR_SCAN_DONE)
        outcome = clr_evaluate(scan, cut, scan->rows, others, NULL, &stop);
    for (i = 0; i < scan->tally_count && outcome == CLR_SCAN_DONE; i++)
        clr_state_merge(&states[i], &others[i]);
    return outcome;
}

TAP_TEST(test_random_scans)
{
    const int rounds = tap_is_quick() ? 300 : 3000;
    struct clr_state want[TALLIES], whole[TALLIES], parts[TALLIES];
    atomic_bool stop = false;
    int round, i, done = 0;

    batch_begin();
    for (round = 0; round < rounds; round++) {
        const struct clr_scan *scan = &made.scan;
        enum clr_scan_outcome expected;
        make_scan(pick_rows());
        expected = reference_scan(scan, want);
        done += expected == CLR_SCAN_DONE;
        batch_ok(clr_evaluate(scan, 0, scan->rows, whole, NULL, &stop) == expected,
                 "outcome of round %d", round);
        batch_ok(run_parts(scan, parts) == expected, "outcome of the parts of round %d", round);
        batch_ok(clr_host_scan(&made.scan, NULL) == expected, "outcome of the scan, round %d",
                 round);
        for (i = 0; i < scan->tally_count && expected == CLR_SCAN_DONE; i++) {
            batch_ok(reference_same(&whole[i], &want[i]), "tally %d of round %d", i, round);
            batch_ok(reference_same(&parts[i], &want[i]), "parts, tally %d, round %d", i, round);
            batch_ok(reference_same(&made.tallies[i].state, &want[i]), "scan, tally %d, round %d",
                     i, round);
        }
        scans_release(&made);
    }
    batch_end("random scans");
    tap_ok(done > rounds / 4, "%d of %d scans had results", done, rounds);
}

/* A scan with a tally that needs blocks, and one that does not. */
static void make_plain_scan(size_t rows, bool blocks)
{
    struct clr_column *column = make_column(rows);
    int absolute;

    column->kind = CLR_TAG_INTEGER;
    scans_begin(&made, &column, 1);
    absolute = scans_add(&made, CLR_OP_ABSOLUTE, 0, 0);
    scans_tally(&made, blocks ? 1u << CLR_DOT : 1u << CLR_SUM, 0, blocks ? absolute : -1);
    scans_tally(&made, 1u << CLR_SUM, blocks ? absolute : 0, -1);
}

TAP_TEST(test_stop)
{
    struct clr_state states[2];
    atomic_bool stop = true;
    int blocks;

    for (blocks = 0; blocks < 2; blocks++) {
        make_plain_scan(10, blocks);
        tap_ok(clr_evaluate(&made.scan, 0, 10, states, NULL, &stop) == CLR_SCAN_STOPPED,
               "stopped, %s blocks", blocks ? "with" : "without");
        scans_release(&made);
    }
}

TAP_TEST(test_no_memory)
{
    struct clr_state states[2];
    atomic_bool stop = false;
    enum clr_scan_outcome outcome;
    int after, failed;

    make_plain_scan(10, true);
    for (after = 0;; after++) {
        clr_memory_fail_after(after);
        outcome = clr_evaluate(&made.scan, 0, 10, states, NULL, &stop);
        failed = clr_memory_fail_after(-1);
        if (!failed)
            break;
        tap_ok(outcome == CLR_SCAN_FAILED, "without allocation %d", after);
    }
    for (after = 0;; after++) {
        clr_memory_fail_after(after);
        outcome = clr_host_scan(&made.scan, NULL);
        failed = clr_memory_fail_after(-1);
        if (!failed)
            break;
        tap_ok(outcome == CLR_SCAN_FAILED, "the host's scan without allocation %d", after);
    }
    scans_release(&made);
}
