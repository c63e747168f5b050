/* Sums of a column with constants added: from one sum, or each by itself where that is not exact.
 */
#include "numeric/scan/shared_sums.h"

#include "base/memory.h"
#include "batch.h"
#include "numeric/parts.h"
#include "numeric/scan/evaluate.h"
#include "numeric/scan_reference.h"
#include "random.h"

#include "tap.h"

enum { ROWS = 3000, COLUMNS = 3, CONSTANTS = 8, TALLIES = 12, FIRST = COLUMNS + CONSTANTS };

static struct clr_column *columns[COLUMNS];
static struct clr_scalar constants[CONSTANTS];
static struct clr_instruction instructions[FIRST + 1 + 2 * TALLIES];
static struct clr_tally tallies[TALLIES];

static int pick(int count)
{
    return (int)random_below((uint64_t)count);
}

/* INTEGERs; INTEGERs and NULLs; and the same with a REAL, or with an INTEGER near the ends. */
static void fill_columns(bool is_hard)
{
    size_t row;
    int i;

    for (i = 0; i < COLUMNS; i++) {
        columns[i]->rows = ROWS;
        columns[i]->kind = i == 0 ? CLR_TAG_INTEGER : CLR_TAG_MIXED;
        for (row = 0; row < ROWS; row++) {
            columns[i]->tags[row] = i == 0 || pick(5) != 0 ? CLR_TAG_INTEGER : CLR_TAG_NULL;
            columns[i]->values[row] = random_between(-1000, 1000);
        }
        row = random_below(ROWS);
        if (is_hard && i == 2 && pick(2) == 0) {
            columns[i]->tags[row] = CLR_TAG_REAL;
            columns[i]->values[row] = value_bits_of(0.5);
        } else if (is_hard) {
            columns[i]->tags[row] = CLR_TAG_INTEGER;
            columns[i]->values[row] = pick(2) == 0 ? INT64_MAX - pick(50) : INT64_MIN + pick(50);
        }
    }
}

static void make_scan(struct clr_scan *scan, bool is_hard)
{
    static const unsigned masks[] = {1 << CLR_SUM, 1 << CLR_EXTREMES,
                                     1 << CLR_SUM | 1 << CLR_EXTREMES};
    static const enum clr_opcode opcodes[] = {CLR_OP_ADD, CLR_OP_ADD, CLR_OP_SUBTRACT,
                                              CLR_OP_MULTIPLY};
    int count = 0, i;

    fill_columns(is_hard);
    for (i = 0; i < COLUMNS; i++)
        instructions[count++] = (struct clr_instruction){CLR_OP_COLUMN, i, -1, -1};
    for (i = 0; i < CONSTANTS; i++) {
        const int64_t constant =
            i == 7 ? (pick(2) == 0 ? INT64_MIN : INT64_MAX) : random_between(-40, 40);
        constants[i] = (struct clr_scalar){i == 6 ? CLR_TAG_REAL : CLR_TAG_INTEGER,
                                           i == 6 ? value_bits_of(1.5) : constant};
        instructions[count++] = (struct clr_instruction){CLR_OP_CONSTANT, i, -1, -1};
    }
    instructions[count++] = (struct clr_instruction){CLR_OP_GREATER, 0, COLUMNS, 0};
    for (i = 0; i < TALLIES; i++) {
        const int column = pick(COLUMNS), constant = COLUMNS + pick(is_hard ? CONSTANTS : 6);
        const bool turned = pick(3) == 0;

        instructions[count] = (struct clr_instruction){opcodes[pick(4)], turned ? constant : column,
                                                       turned ? column : constant, 0};
        tallies[i] = (struct clr_tally){.operations = masks[pick(3)],
                                        .x = pick(6) == 0 ? column : count,
                                        .y = -1,
                                        .filter = pick(3) == 0 ? FIRST : -1};
        count++;
    }
    *scan = (struct clr_scan){.instructions = instructions,
                              .instruction_count = count,
                              .constants = constants,
                              .constant_count = CONSTANTS,
                              .columns = columns,
                              .column_count = COLUMNS,
                              .rows = ROWS,
                              .tallies = tallies,
                              .tally_count = 2 + pick(TALLIES - 1),
                              .filter = pick(3) == 0 ? FIRST : -1};
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
        struct clr_scan scan;
        enum clr_scan_outcome outcome;
        int count;

        make_scan(&scan, round % 2 != 0);
        count = scan.tally_count;
        outcome = reference_scan(&scan, want);
        shared = clr_shared_sums_begin(&scan);
        if (shared == NULL)
            continue;
        begun++;
        batch_ok(scan.tally_count < count - 1, "fewer tallies");
        batch_ok(clr_evaluate(&scan, 0, ROWS, found, NULL, &stop) == outcome, "the outcome");
        for (i = 0; i < scan.tally_count; i++)
            scan.tallies[i].state = found[i];
        if (clr_shared_sums_end(shared, &scan, outcome == CLR_SCAN_DONE)) {
            exact++;
            for (i = 0; i < count && outcome == CLR_SCAN_DONE; i++)
                batch_ok(reference_same(&tallies[i].state, &want[i]), "tally %d of round %d", i,
                         round);
        }
        batch_ok(scan.tallies == tallies && scan.tally_count == count, "the scan's own tallies");
    }
    batch_end("sums that share one");
    tap_ok(begun > rounds / 4 && exact > begun / 3 && exact < begun, "%d of %d were exact", exact,
           begun);
}

static void test_no_memory(void)
{
    struct clr_scan scan;
    int i, count;

    make_scan(&scan, false);
    for (i = 0; i < TALLIES; i++) {
        instructions[FIRST + 1 + i] = (struct clr_instruction){CLR_OP_ADD, 0, COLUMNS, 0};
        tallies[i] = (struct clr_tally){
            .operations = 1 << CLR_SUM, .x = FIRST + 1 + i, .y = -1, .filter = -1};
    }
    constants[0].bits = 1;
    scan.tally_count = count = TALLIES;
    clr_memory_fail_after(0);
    tap_ok(clr_shared_sums_begin(&scan) == NULL, "without memory none are shared");
    clr_memory_fail_after(-1);
    tap_ok(scan.tallies == tallies && scan.tally_count == count, "and the scan is as it was");
    tap_ok(clr_shared_sums_end(NULL, &scan, true), "which needs no end");
}

void shared_sums_tests(void)
{
    int i;

    random_start();
    for (i = 0; i < COLUMNS; i++) {
        columns[i] = clr_column_new(ROWS);
        if (columns[i] == NULL)
            tap_bail("no memory");
    }
    test_random();
    test_no_memory();
    for (i = 0; i < COLUMNS; i++)
        clr_column_release(columns[i]);
}
