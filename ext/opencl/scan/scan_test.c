#include "opencl/scan/scan_test.h"

#include "base/memory.h"
#include "numeric/scan/evaluate.h"
#include "opencl/core/device_private.h"
#include "opencl/memory/test_values.h"

#include <string.h>

/* More than a group of work-items takes at once, and no multiple of anything. */
enum { ROWS = 3001 };

/* HARD: of all sizes. COMMON: small, and those of the scan's constants. OTHERS: common ones, and
   where a column has several types some values that are no numbers. */
enum trial_round { HARD, COMMON, OTHERS, ROUNDS };

struct clr_scan_trial {
    struct clr_scan scan; /* its arrays are below, and its columns those of a round */
    struct clr_instruction instructions[CLR_MOST_SCAN_INSTRUCTIONS];
    struct clr_scalar constants[CLR_MOST_SCAN_INSTRUCTIONS];
    struct clr_tally tallies[CLR_MOST_BUNDLE]; /* those of the steps, each once */
    struct clr_scan_plan plan;                 /* of the bundle's steps alone */
};

/* Returns the trial's number of the tally of the bundle's step number i, after adding it if need
   be. */
static int take_tally(struct clr_scan_trial *trial, const struct clr_scan_plan *plan,
                      const struct clr_scan_bundle *bundle, int i)
{
    const int tally = plan->steps[bundle->steps[i]].tally;
    int j;

    for (j = 0; j < i; j++) {
        if (plan->steps[bundle->steps[j]].tally == tally)
            return trial->plan.steps[j].tally;
    }
    trial->tallies[trial->scan.tally_count] = plan->scan->tallies[tally];
    return trial->scan.tally_count++;
}

struct clr_scan_trial *clr_scan_trial_new(const struct clr_scan_plan *plan,
                                          const struct clr_scan_bundle *bundle)
{
    const struct clr_scan *scan = plan->scan;
    struct clr_scan_trial *trial;
    int i;

    trial = clr_memory_alloc_zero(sizeof *trial);
    if (trial == NULL)
        return NULL;
    trial->scan = (struct clr_scan){.instruction_count = scan->instruction_count,
                                    .constant_count = scan->constant_count,
                                    .column_count = scan->column_count,
                                    .filter = scan->filter,
                                    .instructions = trial->instructions,
                                    .constants = trial->constants,
                                    .rows = ROWS,
                                    .tallies = trial->tallies};
    for (i = 0; i < scan->instruction_count; i++)
        trial->instructions[i] = scan->instructions[i];
    for (i = 0; i < scan->constant_count; i++)
        trial->constants[i] = scan->constants[i];
    trial->plan.scan = &trial->scan;
    memcpy(trial->plan.kinds, plan->kinds, sizeof plan->kinds);
    trial->plan.count = bundle->count;
    for (i = 0; i < bundle->count; i++) {
        trial->plan.steps[i] = plan->steps[bundle->steps[i]];
        trial->plan.steps[i].if_reals = false;
        trial->plan.steps[i].tally = take_tally(trial, plan, bundle, i);
    }
    return trial;
}

void clr_scan_trial_free(struct clr_scan_trial *trial)
{
    clr_memory_free(trial);
}

/* ---- The columns. */

/* Returns a value of that type such as columns have, or one that the scan compares with. */
static int64_t common_value(const struct clr_scan_trial *trial, uint8_t tag, uint64_t *seed)
{
    const uint64_t random = clr_test_random(seed);
    const int64_t small = (int64_t)(random >> 32 & 0xff) - 100;
    double real;
    int64_t bits;

    if (trial->scan.constant_count > 0 && (random & 3) == 0) {
        const struct clr_scalar *constant =
            &trial->constants[(random >> 8) % (uint64_t)trial->scan.constant_count];
        if (constant->tag == tag)
            return constant->bits;
    }
    if (tag == CLR_TAG_INTEGER)
        return small;
    real = (double)small + (double)(random >> 40 & 7) / 8;
    memcpy(&bits, &real, sizeof bits);
    return bits;
}

/* Returns the type of a row's value. */
static uint8_t choose_tag(uint8_t kind, enum trial_round round, uint64_t *seed)
{
    const uint64_t random = clr_test_random(seed) >> 32;

    if (kind != CLR_TAG_MIXED)
        return kind;
    if (round == OTHERS && random % 64 == 0)
        return CLR_TAG_BYTES;
    return (uint8_t)(random / 64 % 3); /* NULL, INTEGER, REAL */
}

static void fill(const struct clr_scan_trial *trial, enum trial_round round, int number,
                 struct clr_column *column)
{
    uint64_t seed = CLR_TEST_SEED + (uint64_t)number * 7919;
    size_t i;

    column->kind = trial->plan.kinds[number];
    column->rows = ROWS;
    if (round == HARD)
        clr_test_values(column->values, ROWS,
                        column->kind == CLR_TAG_REAL ? CLR_TAG_REAL : CLR_TAG_INTEGER);
    for (i = 0; i < ROWS; i++) {
        const uint8_t tag = choose_tag(column->kind, round, &seed);

        if (column->kind == CLR_TAG_MIXED)
            column->tags[i] = tag;
        if (tag != CLR_TAG_INTEGER && tag != CLR_TAG_REAL)
            column->values[i] = 0;
        else if (round != HARD)
            column->values[i] = common_value(trial, tag, &seed);
        else if (column->kind == CLR_TAG_MIXED && tag == CLR_TAG_REAL)
            column->values[i] &= ~(INT64_C(1) << 62); /* no NaN */
    }
    /* The hard values are the same in each column: no two have them in the same order. */
    for (i = 0; i < ROWS && round == HARD && column->kind != CLR_TAG_MIXED; i++) {
        const size_t other = clr_test_random(&seed) % ROWS;
        const int64_t value = column->values[i];

        column->values[i] = column->values[other];
        column->values[other] = value;
    }
}

/* ---- The comparison. */

/* Whether what was added as doubles is the same. */
static bool same_reals(const struct clr_sum *a, const struct clr_sum *b)
{
    struct clr_sum sums[2] = {*a, *b};
    double rounded[2];
    int i;

    for (i = 0; i < 2; i++) {
        sums[i].integer = (struct clr_int192){0, 0, 0};
        rounded[i] = clr_sum_round(&sums[i], 1);
    }
    return memcmp(&rounded[0], &rounded[1], sizeof rounded[0]) == 0;
}

/* Whether a step found what the host did. */
static bool same_step(const struct clr_scan_step *step, const struct clr_state *found,
                      const struct clr_state *expected)
{
    if (found->count != expected->count || found->non_integers != expected->non_integers)
        return false;
    if (!step->takes)
        return true;
    if (step->operation == CLR_EXTREMES)
        return step->element == CLR_REAL
                   ? clr_test_same_range(&found->reals, &expected->reals)
                   : clr_test_same_range(&found->integers, &expected->integers);
    return step->element == CLR_REAL ? same_reals(&found->sum, &expected->sum)
                                     : memcmp(&found->sum.integer, &expected->sum.integer,
                                              sizeof found->sum.integer) == 0;
}

static bool same(const struct clr_scan_trial *trial, enum clr_scan_outcome outcome, bool unsure,
                 const struct clr_state *expected)
{
    int i;

    if (unsure || outcome == CLR_SCAN_UNSURE)
        return unsure == (outcome == CLR_SCAN_UNSURE);
    for (i = 0; i < trial->plan.count; i++) {
        const struct clr_scan_step *step = &trial->plan.steps[i];
        if (!same_step(step, &trial->tallies[step->tally].state, &expected[step->tally]))
            return false;
    }
    return true;
}

/* ---- The trial. */

/* Both are the scan's columns: those of the host and those of the device. */
struct table {
    struct clr_column *here[CLR_MOST_COLUMNS];
    struct clr_resident_column *there[CLR_MOST_COLUMNS];
};

static enum clr_code make_column(struct clr_device *device, const struct clr_scan_trial *trial,
                                 enum trial_round round, int i, struct table *table,
                                 struct clr_status *status)
{
    struct clr_column *here = table->here[i] = clr_column_new(ROWS);

    if (here == NULL)
        return clr_status_set(status, CLR_NOMEM, 0, "no memory for the self-test");
    fill(trial, round, i, here);
    table->there[i] = clr_test_column(device, here->kind, here->values, here->tags, ROWS, status);
    return status->code;
}

static enum clr_code compare(struct clr_scan_trial *trial, const struct clr_scan_run *run,
                             const struct table *table, struct clr_status *status)
{
    struct clr_state expected[CLR_MOST_BUNDLE];
    enum clr_scan_outcome outcome;
    bool unsure = false, inexact = false;
    atomic_bool stop = false;
    int i;

    trial->scan.columns = table->here;
    for (i = 0; i < trial->scan.tally_count; i++)
        clr_state_clear(&trial->tallies[i].state);
    outcome = clr_evaluate(&trial->scan, 0, ROWS, expected, NULL, &stop);
    if (outcome == CLR_SCAN_FAILED)
        return clr_status_set(status, CLR_NOMEM, 0, "no memory for the self-test");
    if (run->run(run->context, &trial->plan, table->there, &unsure, &inexact, status) == CLR_OK &&
        !inexact && !same(trial, outcome, unsure, expected))
        clr_status_set(status, CLR_DEVICE, 0,
                       "self-test: the device's result of a scan differs from the host's");
    return status->code;
}

static enum clr_code run_round(struct clr_device *device, struct clr_scan_trial *trial,
                               enum trial_round round, const struct clr_scan_run *run,
                               struct clr_status *status)
{
    struct table table = {{NULL}, {NULL}};
    int i;

    for (i = 0; i < trial->scan.column_count && status->code == CLR_OK; i++)
        make_column(device, trial, round, i, &table, status);
    if (status->code == CLR_OK)
        compare(trial, run, &table, status);
    device = clr_device_unless_lost(device, status);
    for (i = 0; i < trial->scan.column_count; i++) {
        clr_column_release(table.here[i]);
        clr_resident_column_free(device, table.there[i]);
    }
    return status->code;
}

enum clr_code clr_scan_test(struct clr_device *device, struct clr_scan_trial *trial,
                            const struct clr_scan_run *run, struct clr_status *status)
{
    bool mixed = false;
    int round, i;

    for (i = 0; i < trial->scan.column_count; i++)
        mixed = mixed || trial->plan.kinds[i] == CLR_TAG_MIXED;
    for (round = 0; round < (mixed ? ROUNDS : OTHERS) && status->code == CLR_OK; round++)
        run_round(device, trial, (enum trial_round)round, run, status);
    return status->code;
}
