#include "engine/operations/resident_order.h"

#include "engine/columns/resident_private.h"
#include "engine/operations/request.h"
#include "numeric/values/column.h"
#include "opencl/sort/sorter.h"

#include <string.h>

static void fail_order(struct clr_resident *resident, const struct clr_status *status)
{
    pthread_mutex_lock(&resident->lock);
    resident->order_status = *status;
    clr_backoff_fail(&resident->order_pause);
    pthread_mutex_unlock(&resident->lock);
    atomic_store(&resident->order, CLR_ORDER_FAILED);
}

/* The same, where nothing of the sorted column is on the device yet. */
static void give_up_order(struct clr_resident *resident, const struct clr_status *status)
{
    clr_sorted_column_free(NULL, resident->sorted);
    resident->sorted = NULL;
    fail_order(resident, status);
}

static bool step_build(struct clr_task *task, struct clr_device *device, struct clr_status *status)
{
    struct clr_resident *resident = clr_resident_of(clr_request_of(task)->held);

    task->kind = CLR_TASK_BACKGROUND;
    if (clr_module_open(device, &clr_sorter_kind, &task->log, status) == CLR_OK)
        return true;
    give_up_order(resident, status);
    return false;
}

/* The sorting of the resident that the request holds, after the building of the kernels, if need
   be. */
static bool step_order(struct clr_task *task, struct clr_device *device, struct clr_status *status)
{
    struct clr_resident *resident = clr_resident_of(clr_request_of(task)->held);
    bool complete;

    if (task->kind == CLR_TASK_BUILD)
        return step_build(task, device, status);
    if (atomic_load(&resident->unwanted))
        return false;
    if (clr_resident_sort(device, resident, &complete, status) != CLR_OK) {
        fail_order(resident, status);
        return false;
    }
    if (complete)
        atomic_store(&resident->order, CLR_ORDER_READY);
    return !complete;
}

static const struct clr_request_kind order_kind = {
    .what = "sorting", .turn = CLR_TASK_BUILD, .step = step_order};

static enum clr_code post_order(struct clr_resident *resident, struct clr_status *status)
{
    struct clr_request *order =
        clr_request_new(&order_kind, sizeof *order, resident->worker, &resident->task, status);

    if (order != NULL && clr_request_post(order) != CLR_READY)
        clr_status_set(status, CLR_DEVICE, 0, "the device is out of use");
    return status->code;
}

/* Starts what makes the order, unless another thread has. */
static enum clr_scan_outcome want_order(struct clr_resident *resident, struct clr_status *status)
{
    int unwanted = CLR_ORDER_UNWANTED;

    if (!atomic_compare_exchange_strong(&resident->order, &unwanted, CLR_ORDER_COMING))
        return CLR_SCAN_NOT_NOW;
    resident->sorted = clr_sorted_column_new(clr_kind_wide(resident->kind), resident->rows);
    if (resident->sorted == NULL)
        clr_status_set(status, CLR_NOMEM, 0, "no memory for sorting");
    if (resident->sorted != NULL && post_order(resident, status) == CLR_OK)
        return CLR_SCAN_NOT_NOW;
    give_up_order(resident, status);
    return CLR_SCAN_FAILED;
}

/* The order has failed, for the reason in status. Returns CLR_SCAN_FAILED, or, if it is tried once
   more, as want_order(). */
static enum clr_scan_outcome retry_order(struct clr_resident *resident, struct clr_status *status)
{
    int failed = CLR_ORDER_FAILED;
    bool is_due;

    pthread_mutex_lock(&resident->lock);
    *status = resident->order_status;
    is_due = status->code == CLR_NOMEM && clr_backoff_ask(&resident->order_pause);
    pthread_mutex_unlock(&resident->lock);
    if (!is_due)
        return CLR_SCAN_FAILED;
    clr_status_clear(status);
    atomic_compare_exchange_strong(&resident->order, &failed, CLR_ORDER_UNWANTED);
    return want_order(resident, status);
}

/* The reading of keys from the resident that the request holds. */
struct read_request {
    struct clr_request request;
    const struct clr_sorted_column *sorted;
    struct clr_order order;
};

static bool step_read(struct clr_task *task, struct clr_device *device, struct clr_status *status)
{
    struct read_request *read = (struct read_request *)(void *)task;

    clr_sorted_column_find(device, read->sorted, read->order.ranks, read->order.rank_count,
                           read->order.keys, &read->request.work, status);
    return false;
}

static const struct clr_request_kind read_kind = {
    .what = "reading keys", .turn = CLR_TASK_URGENT, .step = step_read};

static enum clr_scan_outcome read_keys(struct clr_worker *worker, struct clr_resident *resident,
                                       struct clr_order *order, int64_t timeout_ms,
                                       const struct clr_watch *watch, struct clr_device_work *work,
                                       struct clr_status *status)
{
    struct read_request *read =
        clr_request_new(&read_kind, sizeof *read, worker, &resident->task, status);
    enum clr_scan_outcome outcome;

    if (read == NULL)
        return CLR_SCAN_FAILED;
    read->sorted = resident->sorted;
    read->order = *order;
    outcome = clr_request_run(&read->request, timeout_ms, watch, work, status);
    if (outcome == CLR_SCAN_DONE)
        memcpy(order->keys, read->order.keys, sizeof order->keys);
    clr_request_release(&read->request);
    return outcome;
}

static enum clr_code check(const struct clr_resident *resident, const struct clr_order *order,
                           struct clr_status *status)
{
    int i;

    if (clr_kind_wide(resident->kind) != CLR_TAG_INTEGER &&
        clr_kind_wide(resident->kind) != CLR_TAG_REAL)
        return clr_status_set(status, CLR_INVALID, 0, "the column is not of one type of numbers");
    if (order->rank_count < 0 || order->rank_count > CLR_MOST_RANKS)
        return clr_status_set(status, CLR_INVALID, 0, "%d ranks at a time", order->rank_count);
    for (i = 0; i < order->rank_count; i++) {
        if (order->ranks[i] >= resident->rows)
            return clr_status_set(status, CLR_INVALID, 0, "there is no rank %llu among %llu rows",
                                  (unsigned long long)order->ranks[i],
                                  (unsigned long long)resident->rows);
    }
    return CLR_OK;
}

enum clr_scan_outcome clr_resident_order(struct clr_worker *worker, struct clr_resident *resident,
                                         struct clr_order *order, int64_t timeout_ms,
                                         const struct clr_watch *watch,
                                         struct clr_device_work *work, struct clr_status *status)
{
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;

    if (check(resident, order, status) != CLR_OK)
        return CLR_SCAN_FAILED;
    if (clr_resident_state(resident) != CLR_RESIDENT_READY)
        return CLR_SCAN_NOT_NOW;
    switch ((enum clr_order_state)atomic_load(&resident->order)) {
    case CLR_ORDER_UNWANTED:
        return want_order(resident, status);
    case CLR_ORDER_COMING:
        return CLR_SCAN_NOT_NOW;
    case CLR_ORDER_FAILED:
        return retry_order(resident, status);
    case CLR_ORDER_READY:
        break;
    }
    if (order->rank_count > 0)
        outcome = read_keys(worker, resident, order, timeout_ms, watch, work, status);
    if (outcome != CLR_SCAN_DONE)
        return outcome;
    order->runs = *clr_sorted_column_runs(resident->sorted);
    if (!atomic_exchange(&resident->order_counted, true))
        clr_device_work_add(work, clr_sorted_column_work(resident->sorted));
    return CLR_SCAN_DONE;
}
