#include "engine/operations/resident_scan.h"

#include "engine/columns/resident_private.h"
#include "engine/operations/request.h"
#include "engine/operations/scan_copy.h"
#include "opencl/scan/scanner.h"

/* A scan under way. */
struct scan_request {
    struct clr_request request;
    struct clr_scan_copy copy;
    struct clr_scan_plan plan;
    struct clr_scan_slot *slot; /* NULL until the device is at it */
};

static struct scan_request *scan_of(struct clr_task *task)
{
    return (struct scan_request *)(void *)task;
}

static void clear_scan(struct clr_task *task)
{
    clr_scan_copy_clear(&scan_of(task)->copy);
}

static bool step_build(struct clr_task *task, struct clr_device *device, struct clr_status *status)
{
    return clr_scanner_build(device, &task->log, status);
}

static bool step_scan(struct clr_task *task, struct clr_device *device, struct clr_status *status)
{
    struct scan_request *scan = scan_of(task);
    bool requested;

    if (scan->slot != NULL) {
        clr_scanner_end(device, scan->slot, &scan->plan, scan->copy.columns, &scan->request.outcome,
                        &scan->request.work, status);
        return false;
    }
    clr_scanner_begin(device, &scan->plan, scan->copy.columns, &scan->slot, &scan->request.outcome,
                      &requested, &scan->request.work, status);
    if (status->code == CLR_OK && requested)
        clr_build_post(scan->request.worker, step_build);
    task->is_under_way = scan->slot != NULL;
    return task->is_under_way;
}

static const struct clr_request_kind scan_kind = {
    .what = "a scan", .turn = CLR_TASK_URGENT, .step = step_scan, .clear = clear_scan};

static struct scan_request *new_scan(struct clr_worker *worker, const struct clr_scan_plan *plan,
                                     struct clr_resident *const *residents,
                                     struct clr_status *status)
{
    struct scan_request *made = clr_request_new(&scan_kind, sizeof *made, worker, NULL, status);

    if (made == NULL)
        return NULL;
    /* Each step has a result of each range. */
    clr_scan_copy_init(&made->copy, plan->scan, residents,
                       plan->count > 0 ? CLR_MOST_SCAN_STEPS / plan->count : 1);
    made->plan = *plan;
    made->plan.scan = &made->copy.scan;
    return made;
}

/* Asks for the programs of operations that reduce columns as they lie there, as far as the plan has
   such steps, and returns whether they are there. What computes, or filters, has programs of its
   own, which are tested as well: it does not wait for these. */
static enum clr_readiness find_readiness(struct clr_worker *worker,
                                         const struct clr_scan_plan *plan)
{
    enum clr_readiness all = CLR_READY, one;
    int i;

    for (i = 0; i < plan->count; i++) {
        if (plan->steps[i].column < 0)
            continue;
        one = clr_worker_readiness(worker, plan->steps[i].operation, plan->steps[i].element);
        if (one == CLR_FAILED || all == CLR_READY)
            all = one;
    }
    return all;
}

/* Begins a scan. *begun is NULL unless it returns CLR_SCAN_DONE. */
static enum clr_scan_outcome begin(struct clr_worker *worker, const struct clr_scan *scan,
                                   struct clr_resident *const *residents, const uint8_t *kinds,
                                   struct scan_request **begun, struct clr_status *status)
{
    enum clr_scan_outcome outcome;
    struct clr_scan_plan plan;

    *begun = NULL;
    if (!clr_scan_plan_fits(scan))
        return CLR_SCAN_NOT_NOW;
    clr_scan_plan(scan, kinds, &plan);
    if (find_readiness(worker, &plan) != CLR_READY)
        return CLR_SCAN_NOT_NOW;
    *begun = new_scan(worker, &plan, residents, status);
    if (*begun == NULL)
        return CLR_SCAN_FAILED;
    outcome = clr_request_begin(&(*begun)->request);
    if (outcome == CLR_SCAN_DONE)
        return outcome;
    clr_request_release(&(*begun)->request);
    *begun = NULL;
    return outcome;
}

/* Begins the scan of a shard's rows. */
static enum clr_scan_outcome begin_shard(const struct clr_division *division, int number,
                                         const struct clr_scan *scan,
                                         struct clr_sharded *const *copies,
                                         struct scan_request **begun, struct clr_status *status)
{
    struct clr_resident *residents[CLR_MOST_COLUMNS];
    const struct clr_scan part = clr_scan_of_shard(scan, division, number);
    uint8_t kinds[CLR_MOST_COLUMNS];
    int i;

    for (i = 0; i < scan->column_count; i++) {
        residents[i] = clr_sharded_resident(copies[i], number);
        kinds[i] = residents[i]->kind;
    }
    return begin(division->shards[number].device.worker, &part, residents, kinds, begun, status);
}

enum clr_scan_outcome clr_resident_scan(const struct clr_division *division, struct clr_scan *scan,
                                        struct clr_sharded *const *copies, int64_t timeout_ms,
                                        const struct clr_watch *watch, struct clr_device_work *work,
                                        struct clr_status *status)
{
    struct scan_request *begun[CLR_MOST_SHARDS];
    enum clr_scan_outcome outcome = CLR_SCAN_DONE, one;
    int s, i;

    /* All of them, so that after the first query all devices are building what they need. */
    for (s = 0; s < division->count; s++) {
        one = begin_shard(division, s, scan, copies, &begun[s], status);
        if (outcome != CLR_SCAN_FAILED && one != CLR_SCAN_DONE)
            outcome = one;
    }
    for (i = 0; i < scan->tally_count; i++)
        clr_state_clear(&scan->tallies[i].state);
    for (s = 0; s < division->count; s++) {
        if (begun[s] == NULL)
            continue;
        if (outcome == CLR_SCAN_DONE)
            outcome = clr_request_end(&begun[s]->request, timeout_ms, watch, work, status);
        for (i = 0; outcome == CLR_SCAN_DONE && i < scan->tally_count; i++)
            clr_state_merge(&scan->tallies[i].state, &begun[s]->copy.tallies[i].state);
        clr_request_release(&begun[s]->request);
    }
    return outcome;
}
