#include "engine/operations/resident_groups.h"

#include "base/memory.h"
#include "engine/columns/resident_private.h"
#include "engine/operations/request.h"
#include "engine/operations/scan_copy.h"
#include "opencl/groups/group_text.h"
#include "opencl/groups/grouper.h"

#include <string.h>

/* A grouping under way. */
struct group_request {
    struct clr_request request;
    struct clr_scan_copy copy;
    struct clr_group_plan plan;
    uint8_t kinds[CLR_MOST_COLUMNS];
    struct clr_group_result result;
};

static struct group_request *group_of(struct clr_task *task)
{
    return (struct group_request *)(void *)task;
}

static void clear_group(struct clr_task *task)
{
    struct group_request *group = group_of(task);

    clr_scan_copy_clear(&group->copy);
    clr_memory_free(group->result.records);
    clr_memory_free(group->result.spills);
}

static bool step_build(struct clr_task *task, struct clr_device *device, struct clr_status *status)
{
    return clr_grouper_build(device, &task->log, status);
}

static bool step_group(struct clr_task *task, struct clr_device *device, struct clr_status *status)
{
    struct group_request *group = group_of(task);
    bool requested;

    clr_grouper_run(device, &group->plan, group->kinds, group->copy.columns, &group->result,
                    &group->request.outcome, &requested, &group->request.work, status);
    if (status->code == CLR_OK && requested)
        clr_build_post(group->request.worker, step_build);
    /* What is doubtful is an answer too: it has been found out, and is not for later. */
    if (group->request.outcome == CLR_SCAN_NOT_NOW && group->result.is_doubtful)
        group->request.outcome = CLR_SCAN_DONE;
    return false;
}

static const struct clr_request_kind group_kind = {
    .what = "groups", .turn = CLR_TASK_URGENT, .step = step_group, .clear = clear_group};

/* Of a shard's rows. */
static struct group_request *new_group(const struct clr_division *division, int shard,
                                       const struct clr_group_plan *plan,
                                       struct clr_sharded *const *copies, struct clr_status *status)
{
    struct group_request *made = clr_request_new(
        &group_kind, sizeof *made, division->shards[shard].device.worker, NULL, status);
    const struct clr_scan part = clr_scan_of_shard(plan->scan, division, shard);
    struct clr_resident *residents[CLR_MOST_COLUMNS];
    int i;

    if (made == NULL)
        return NULL;
    for (i = 0; i < plan->scan->column_count; i++) {
        residents[i] = clr_sharded_resident(copies[i], shard);
        made->kinds[i] = residents[i]->kind;
    }
    clr_scan_copy_init(&made->copy, &part, residents, CLR_MOST_ROW_RANGES);
    made->plan = *plan;
    made->plan.scan = &made->copy.scan;
    made->result.records = clr_memory_alloc((size_t)plan->places * clr_group_device_words(plan) *
                                            sizeof *made->result.records);
    if (made->result.records != NULL)
        return made;
    clr_status_set(status, CLR_NOMEM, 0, "no memory for groups");
    clr_request_release(&made->request);
    return NULL;
}

/* Records without rows stay as they are: zero. */
static void take_records(struct clr_group_part *part, const struct clr_group_result *result)
{
    const struct clr_group_plan *plan = part->plan;
    const size_t words = clr_group_device_words(plan);
    uint64_t *first_rows = part->first_rows.start;
    size_t place;

    for (place = 0; place < plan->places; place++) {
        const int64_t *record = result->records + place * words;

        if (record[0] == 0)
            continue;
        memcpy(clr_group_part_record(part, place), record, (size_t)plan->words * sizeof *record);
        if (first_rows != NULL)
            first_rows[place] = part->first + ~(uint64_t)record[plan->words];
    }
}

static enum clr_scan_outcome take(struct clr_group_part *part,
                                  const struct clr_group_result *result)
{
    enum clr_scan_outcome outcome;
    size_t i;

    clr_group_part_begin(part);
    outcome = part->outcome;
    if (outcome == CLR_SCAN_DONE)
        take_records(part, result);
    for (i = 0; i < result->spill_count && outcome == CLR_SCAN_DONE; i++)
        outcome = clr_group_spills_add(&part->addends.spills, part->memory, &result->spills[i]);
    return outcome;
}

/* Begins a shard's. *begun is NULL unless it returns CLR_SCAN_DONE. */
static enum clr_scan_outcome begin(const struct clr_division *division, int shard,
                                   const struct clr_group_plan *plan,
                                   struct clr_sharded *const *copies, struct group_request **begun,
                                   struct clr_status *status)
{
    struct group_request *made;
    enum clr_scan_outcome outcome;

    *begun = NULL;
    if (!clr_grouper_fits(division->shards[shard].device.info, plan))
        return CLR_SCAN_NOT_NOW;
    made = new_group(division, shard, plan, copies, status);
    if (made == NULL)
        return CLR_SCAN_FAILED;
    outcome = clr_request_begin(&made->request);
    if (outcome == CLR_SCAN_DONE)
        *begun = made;
    else
        clr_request_release(&made->request);
    return outcome;
}

/* Ends it. What is doubtful in one shard is told, and the others are not needed. */
static enum clr_scan_outcome end(struct group_request *begun, struct clr_group_part *part,
                                 int64_t timeout_ms, const struct clr_watch *watch,
                                 struct clr_device_work *work, struct clr_status *status)
{
    const enum clr_scan_outcome outcome =
        clr_request_end(&begun->request, timeout_ms, watch, work, status);

    if (outcome != CLR_SCAN_DONE)
        return outcome;
    if (!begun->result.is_doubtful)
        return take(part, &begun->result);
    part->doubts = begun->result.doubts;
    return CLR_SCAN_NOT_NOW;
}

enum clr_scan_outcome clr_resident_group(const struct clr_division *division,
                                         struct clr_sharded *const *copies,
                                         struct clr_group_part *const *parts, int64_t timeout_ms,
                                         const struct clr_watch *watch,
                                         struct clr_device_work *work, struct clr_status *status)
{
    struct group_request *begun[CLR_MOST_SHARDS];
    enum clr_scan_outcome outcome = CLR_SCAN_DONE, one;
    int s;

    for (s = 0; s < division->count; s++) {
        one = begin(division, s, parts[0]->plan, copies, &begun[s], status);
        if (outcome != CLR_SCAN_FAILED && one != CLR_SCAN_DONE)
            outcome = one;
    }
    for (s = 0; s < division->count; s++) {
        if (begun[s] == NULL)
            continue;
        if (outcome == CLR_SCAN_DONE)
            outcome = end(begun[s], parts[s], timeout_ms, watch, work, status);
        clr_request_release(&begun[s]->request);
    }
    return outcome;
}
