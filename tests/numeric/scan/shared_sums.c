/* Sums of a column with constants added: from one sum, or each by itself where that is not exact.
 */
#include "numeric/scan/shared_sums.h"

#include "base/memory.h"
#include "batch.h"
#include "numeric/scan/evaluate.h"
#include "numeric/scan_reference.h"
#include "numeric/scans.h"
#include "random.h"

#include "tap.h"

enum { ROWS = 3000, COLUMNS = 3, CONSTANTS = 8, TALLIES = 12, FIRST = COLUMNS + CONSTANTS };

static struct clr_column *columns[COLUMNS];
static struct scans_made made;

/* INTEGERs; INTEGERs and NULLs; and the same with a REAL, or with an INTEGER near the ends. */
static void fill_columns(bool is_hard)
{
    size_t row;
    int i;

    for (i = 0; i < COLUMNS; i++) {
        for (row = 0; row < ROWS; row++) {
            columns[i]->tags[row] = i == 0 || random_pick(5) != 0 ? CLR_TAG_INTEGER : CLR_TAG_NULL;
            columns[i]->values[row] = random_between(-1000, 1000);
        }
        row = random_below(ROWS);
        if (is_hard && i == 2 && random_pick(2) == 0) {
            columns[i]->tags[row] = CLR_TAG_REAL;
            columns[i]->values[row] = value_bits_of(0.5);
        } else if (is_hard) {
            columns[i]->tags[row] = CLR_TAG_INTEGER;
            columns[i]->values[row] =
                random_pick(2) == 0 ? INT64_MAX - random_pick(50) : INT64_MIN + random_pick(50);
        }
    }
}

static void make_scan(bool is_hard)
{
    static const unsigned masks[] = {1 << CLR_SUM, 1 << CLR_EXTREMES,
                                     1 << CLR_SUM | 1 << CLR_EXTREMES};
    static const enum clr_opcode opcodes[] = {CLR_OP_ADD, CLR_OP_ADD, CLR_OP_SUBTRACT,
                                              CLR_OP_MULTIPLY};
    int i;

    fill_columns(is_hard);
    scans_begin(&made, columns, COLUMNS);
    for (i = 0; i < CONSTANTS; i++) {
        const int64_t constant =
            i == 7 ? (random_pick(2) == 0 ? INT64_MIN : INT64_MAX) : random_between(-40, 40);
        scans_constant(&made, i == 6 ? CLR_TAG_REAL : CLR_TAG_INTEGER,
                       i == 6 ? value_bits_of(1.5) : constant);
    }
    scans_add(&made, CLR_OP_GREATER, 0, COLUMNS);
    for (i = 0; i < TALLIES; i++) {
        const int column = random_pick(COLUMNS),
                  constant = COLUMNS + random_pick(is_hard ? CONSTANTS : 6);
        const bool turned = random_pick(3) == 0;
        const int number = scans_add(&made, opcodes[random_pick(4)], turned ? constant : column,
                                     turned ? column : constant);

        scans_tally(&made, masks[random_pick(3)], random_pick(6) == 0 ? column : number, -1);
        made.tallies[i].filter = random_pick(3) == 0 ? FIRST : -1;
    }
    made.scan.tally_count = 2 + random_pick(TALLIES - 1);
    made.scan.filter = random_pick(3) == 0 ? FIRST : -1;
}

static void test_random(void)
{
    const int rounds = tap_is_quick() ? 200 : 2000;
    struct clr_state want[TALLIES], found[TALLIES];
    int round, i, exact = 0, begun = 0;
    atomic_bool stop = false;

    batch_begin();
    for (round = 0; round < rounds; round++) {
        struct clr_shared_sums *shared;
        struct clr_scan *scan = &made.scan;
        enum clr_scan_outcome outcome;
        int count;

        make_scan(round % 2 != 0);
        count = scan->tally_count;
        outcome = reference_scan(scan, want);
        shared = clr_shared_sums_begin(scan);
        if (shared == NULL)
            continue;
        begun++;
        batch_ok(scan->tally_count < count - 1, "fewer tallies");
        batch_ok(clr_evaluate(scan, 0, ROWS, found, NULL, &stop) == outcome, "the outcome");
        for (i = 0; i < scan->tally_count; i++)
            scan->tallies[i].state = found[i];
        if (clr_shared_sums_end(shared, scan, outcome == CLR_SCAN_DONE)) {
            exact++;
            for (i = 0; i < count && outcome == CLR_SCAN_DONE; i++)
                batch_ok(reference_same(&made.tallies[i].state, &want[i]), "tally %d of round %d",
                         i, round);
        }
        batch_ok(scan->tallies == made.tallies && scan->tally_count == count,
                 "the scan's own tallies");
    }
    batch_end("sums that share one");
    tap_ok(begun > rounds / 4 && exact > begun / 3 && exact < begun, "%d of %d were exact", exact,
           begun);
}

static void test_no_memory(void)
{
    struct clr_scan *scan = &made.scan;
    int i, count;

    make_scan(false);
    for (i = 0; i < TALLIES; i++) {
        made.instructions[FIRST + 1 + i] = (struct clr_instruction){CLR_OP_ADD, 0, COLUMNS, 0};
        made.tallies[i] = (struct clr_tally){
            .operations = 1 << CLR_SUM, .x = FIRST + 1 + i, .y = -1, .filter = -1};
    }
    made.constants[0].bits = 1;
    scan->tally_count = count = TALLIES;
    clr_memory_fail_after(0);
    tap_ok(clr_shared_sums_begin(scan) == NULL, "without memory none are shared");
    clr_memory_fail_after(-1);
    tap_ok(scan->tallies == made.tallies && scan->tally_count == count,
           "and the scan is as it was");
    tap_ok(clr_shared_sums_end(NULL, scan, true), "which needs no end");
}

TAP_TEST(test_shared_sums)
{
    int i;

    for (i = 0; i < COLUMNS; i++)
        columns[i] = scans_new(i == 0 ? CLR_TAG_INTEGER : CLR_TAG_MIXED, ROWS);
    test_random();
    test_no_memory();
    for (i = 0; i < COLUMNS; i++)
        clr_column_release(columns[i]);
}
