#include "opencl/scan/scan_test.h"

#include "base/memory.h"
#include "numeric/scan/evaluate.h"
#include "numeric/scan/loops.h"
#include "opencl/core/device.h"

#include <string.h>

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
    trial->tallies[trial->made.scan.tally_count] = plan->scan->tallies[tally];
    return trial->made.scan.tally_count++;
}

struct clr_scan_trial *clr_scan_trial_new(const struct clr_scan_plan *plan,
                                          const struct clr_scan_bundle *bundle)
{
    struct clr_scan_trial *trial = clr_memory_alloc_zero(sizeof *trial);
    int i;

    if (trial == NULL)
        return NULL;
    clr_trial_scan_init(&trial->made, plan->scan, plan->kinds);
    trial->made.scan.tallies = trial->tallies;
    trial->plan.scan = &trial->made.scan;
    memcpy(trial->plan.kinds, plan->kinds, sizeof plan->kinds);
    trial->plan.count = bundle->count;
    for (i = 0; i < bundle->count; i++) {
        trial->plan.steps[i] = plan->steps[bundle->steps[i]];
        trial->plan.steps[i].if_reals = false;
        trial->plan.steps[i].tally = take_tally(trial, plan, bundle, i);
    }
    return trial;
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

static enum clr_code compare(struct clr_scan_trial *trial, const struct clr_scan_run *run,
                             const struct clr_trial_table *table, struct clr_status *status)
{
    struct clr_state expected[CLR_MOST_BUNDLE];
    enum clr_scan_outcome outcome;
    bool unsure = false, inexact = false;
    atomic_bool stop = false;
    int i;

    for (i = 0; i < trial->made.scan.tally_count; i++)
        clr_state_clear(&trial->tallies[i].state);
    outcome = clr_evaluate(&trial->made.scan, 0, CLR_TRIAL_ROWS, expected, NULL, &stop);
    if (outcome == CLR_SCAN_FAILED)
        return clr_status_set(status, CLR_NOMEM, 0, "no memory for the self-test");
    if (run->run(run->context, &trial->plan, table->there, &unsure, &inexact, status) == CLR_OK &&
        !inexact && !same(trial, outcome, unsure, expected))
        clr_status_set(status, CLR_DEVICE, 0,
                       "self-test: the device's result of a scan differs from the host's");
    return status->code;
}

static enum clr_code run_round(struct clr_device *device, struct clr_scan_trial *trial,
                               enum clr_trial_kind kind, const struct clr_scan_run *run,
                               struct clr_status *status)
{
    const struct clr_trial_round round = {kind, CLR_TYPE(CLR_TAG_NULL) | CLR_TYPE(CLR_TAG_INTEGER) |
                                                    CLR_TYPE(CLR_TAG_REAL)};
    struct clr_trial_table table;

    if (clr_trial_table_make(device, &trial->made, &round, &table, status) == CLR_OK)
        compare(trial, run, &table, status);
    clr_trial_table_free(clr_device_unless_lost(device, status), &trial->made, &table);
    return status->code;
}

enum clr_code clr_scan_test(struct clr_device *device, struct clr_scan_trial *trial,
                            const struct clr_scan_run *run, struct clr_status *status)
{
    int kinds = CLR_TRIAL_OTHERS, kind, i;

    for (i = 0; i < trial->made.scan.column_count; i++) {
        if (clr_kind_wide(trial->plan.kinds[i]) == CLR_TAG_MIXED)
            kinds = CLR_TRIAL_ERRORS;
    }
    for (i = 0; i < trial->made.scan.lookup_count; i++) {
        if (trial->made.lookups[i].kind == CLR_TAG_MIXED)
            kinds = CLR_TRIAL_KINDS;
    }
    for (kind = 0; kind < kinds && status->code == CLR_OK; kind++)
        run_round(device, trial, (enum clr_trial_kind)kind, run, status);
    return status->code;
}
