#include "opencl/groups/group_test.h"

#include "base/memory.h"
#include "numeric/grouping/part.h"
#include "opencl/core/device.h"
#include "opencl/groups/group_text.h"
#include "opencl/memory/trial.h"

#include <stdlib.h>
#include <string.h>

/* Bytes that groups of a trial may take. */
static const uint64_t memory_limit = (uint64_t)1 << 28;

struct clr_group_trial {
    struct clr_trial_scan made;
    struct clr_tally tallies[CLR_MOST_SCAN_TALLIES];
    struct clr_group_plan plan;
};

struct clr_group_trial *clr_group_trial_new(const struct clr_group_plan *plan, const uint8_t *kinds)
{
    struct clr_group_trial *trial = clr_memory_alloc_zero(sizeof *trial);
    int i;

    if (trial == NULL)
        return NULL;
    clr_trial_scan_init(&trial->made, plan->scan, kinds);
    for (i = 0; i < plan->tally_count; i++)
        trial->tallies[i] = plan->scan->tallies[i];
    trial->plan = *plan;
    trial->plan.scan = &trial->made.scan;
    trial->made.scan.tallies = trial->tallies;
    trial->made.scan.tally_count = plan->tally_count;
    trial->made.scan.grouping = &trial->plan.grouping;
    trial->made.scan.values_memory = memory_limit;
    return trial;
}

void clr_group_trial_free(struct clr_group_trial *trial)
{
    clr_memory_free(trial);
}

const struct clr_group_plan *clr_group_trial_plan(const struct clr_group_trial *trial)
{
    return &trial->plan;
}

const uint8_t *clr_group_trial_kinds(const struct clr_group_trial *trial)
{
    return trial->made.kinds;
}

/* Plans small ranges for the keys, whatever they are. */
static void place_anywhere(struct clr_group_plan *plan)
{
    const int count = plan->grouping.key_count;
    int i;

    plan->places = 1;
    for (i = count - 1; i >= 0; i--) {
        plan->keys[i] = (struct clr_group_key){-3, count > 4 ? 2 : 8, plan->places};
        plan->places *= plan->keys[i].size;
    }
}

/* Plans for the trial's columns as they are in this round: ranges and windows alone. */
static enum clr_code plan_round(const struct clr_group_trial *trial, struct clr_group_plan *plan,
                                struct clr_status *status)
{
    struct clr_group_doubts *none = clr_memory_alloc_zero(sizeof *none);
    struct clr_group_plan *fresh = clr_memory_alloc_zero(sizeof *fresh);
    enum clr_scan_outcome outcome = CLR_SCAN_FAILED;
    int i;

    if (none != NULL && fresh != NULL)
        outcome = clr_group_plan_make(fresh, &trial->made.scan, CLR_TRIAL_ROWS,
                                      CLR_GROUPS_ON_DEVICE, none);
    *plan = trial->plan;
    if (outcome == CLR_SCAN_DONE && fresh->numbering == CLR_NUMBERED_DIRECTLY) {
        plan->places = fresh->places;
        memcpy(plan->keys, fresh->keys, sizeof plan->keys);
    } else {
        place_anywhere(plan);
    }
    for (i = 0; outcome == CLR_SCAN_DONE && i < plan->tally_count; i++)
        if (plan->tallies[i].real_high >= 0 && fresh->tallies[i].real_high >= 0)
            plan->tallies[i].window = fresh->tallies[i].window;
    clr_memory_free(fresh);
    clr_memory_free(none);
    return outcome == CLR_SCAN_DONE
               ? CLR_OK
               : clr_status_set(status, CLR_NOMEM, 0, "no memory for the self-test");
}

/* ---- The comparison. */

static int compare_spills(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct clr_group_spill));
}

static bool same_spills(const struct clr_group_spills *expected, struct clr_group_result *found)
{
    const size_t size = sizeof *found->spills;

    if (expected->count != found->spill_count)
        return false;
    if (expected->count == 0)
        return true;
    qsort(expected->spills, expected->count, size, compare_spills);
    qsort(found->spills, found->spill_count, size, compare_spills);
    return memcmp(expected->spills, found->spills, expected->count * size) == 0;
}

static bool same_records(const struct clr_group_part *part, const struct clr_group_result *found)
{
    const struct clr_group_plan *plan = part->plan;
    const size_t words = clr_group_device_words(plan);
    const uint64_t *first_rows = part->first_rows.start;
    uint64_t place;

    for (place = 0; place < plan->places; place++) {
        const int64_t *expected = clr_group_part_record(part, (size_t)place);
        const int64_t *record = found->records + place * words;

        if (memcmp(record, expected, (size_t)plan->words * sizeof *record) != 0)
            return false;
        /* 0 is no row, whose number is the greatest. */
        if (first_rows != NULL && ~(uint64_t)record[plan->words] != first_rows[place])
            return false;
    }
    return true;
}

static bool is_settled(enum clr_scan_outcome outcome)
{
    return outcome == CLR_SCAN_UNSURE || outcome == CLR_SCAN_NOT_NOW;
}

/* The host stops at its first doubt: which one it is may differ. Where it is that too many values
   lie outside of a window, the device may have been less strict. */
static bool same(const struct clr_group_part *part, enum clr_scan_outcome outcome,
                 struct clr_group_result *found)
{
    int i;

    for (i = 0; i < part->plan->tally_count; i++)
        if (part->doubts.window[i] || found->doubts.window[i])
            return true;
    if (is_settled(part->outcome))
        return is_settled(outcome);
    return outcome == CLR_SCAN_DONE && same_records(part, found) &&
           same_spills(&part->addends.spills, found);
}

static enum clr_code compare_way(const struct clr_group_part *part, int way,
                                 struct clr_resident_column *const *columns,
                                 const struct clr_group_run *run, struct clr_status *status)
{
    const struct clr_group_plan *plan = part->plan;
    struct clr_group_result result = {.spills = NULL};
    enum clr_scan_outcome outcome;

    result.records = clr_memory_alloc_zero((size_t)plan->places * clr_group_device_words(plan) *
                                           sizeof *result.records);
    if (result.records == NULL)
        return clr_status_set(status, CLR_NOMEM, 0, "no memory for the self-test");
    if (run->run(run->context, way, plan, columns, &result, &outcome, status) == CLR_OK &&
        !same(part, outcome, &result))
        clr_status_set(status, CLR_DEVICE, 0,
                       "self-test: the device's groups differ from the host's");
    clr_memory_free(result.records);
    clr_memory_free(result.spills);
    return status->code;
}

static enum clr_code compare(const struct clr_group_plan *plan, const struct clr_trial_table *table,
                             const struct clr_group_run *run, struct clr_status *status)
{
    struct clr_group_memory memory;
    struct clr_group_part *part;
    const atomic_bool never = false;
    int way;

    atomic_init(&memory.left, (int64_t)memory_limit);
    part = clr_group_part_new(plan, &memory, 0, CLR_TRIAL_ROWS);
    if (part != NULL)
        clr_group_part_run(part, &never);
    if (part == NULL || part->outcome == CLR_SCAN_FAILED)
        clr_status_set(status, CLR_NOMEM, 0, "no memory for the self-test");
    for (way = 0; way < run->ways && status->code == CLR_OK; way++)
        compare_way(part, way, table->there, run, status);
    clr_group_part_free(part);
    return status->code;
}

static enum clr_code run_round(struct clr_device *device, struct clr_group_trial *trial,
                               const struct clr_trial_round *round, const struct clr_group_run *run,
                               struct clr_status *status)
{
    struct clr_group_plan *plan = clr_memory_alloc(sizeof *plan);
    struct clr_trial_table table;

    if (plan == NULL)
        return clr_status_set(status, CLR_NOMEM, 0, "no memory for the self-test");
    if (clr_trial_table_make(device, &trial->made, round, &table, status) == CLR_OK &&
        plan_round(trial, plan, status) == CLR_OK)
        compare(plan, &table, run, status);
    clr_trial_table_free(clr_device_unless_lost(device, status), &trial->made, &table);
    clr_memory_free(plan);
    return status->code;
}

enum clr_code clr_group_test(struct clr_device *device, struct clr_group_trial *trial,
                             const struct clr_group_run *run, struct clr_status *status)
{
    enum {
        NULLS = CLR_TYPE(CLR_TAG_NULL),
        INTEGERS = CLR_TYPE(CLR_TAG_INTEGER),
        REALS = CLR_TYPE(CLR_TAG_REAL)
    };
    /* A plan is for some types: with others there is nothing but a doubt to compare. */
    static const struct clr_trial_round rounds[] = {
        {CLR_TRIAL_COMMON, NULLS | INTEGERS | REALS},
        {CLR_TRIAL_COMMON, NULLS | INTEGERS},
        {CLR_TRIAL_COMMON, NULLS | REALS},
        {CLR_TRIAL_COMMON, INTEGERS},
        {CLR_TRIAL_COMMON, REALS},
        {CLR_TRIAL_HARD, NULLS | INTEGERS | REALS},
        {CLR_TRIAL_OTHERS, NULLS | INTEGERS | REALS},
        {CLR_TRIAL_ERRORS, NULLS | INTEGERS | REALS},
    };
    size_t i;

    for (i = 0; i < sizeof rounds / sizeof *rounds && status->code == CLR_OK; i++)
        run_round(device, trial, &rounds[i], run, status);
    return status->code;
}
