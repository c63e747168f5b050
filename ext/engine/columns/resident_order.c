#include "engine/columns/resident_order.h"

#include "base/memory.h"
#include "engine/columns/resident_private.h"
#include "numeric/values/column.h"
#include "opencl/sort/sorter.h"
#include "opencl/sort/sorter_open.h"

#include <string.h>

/* The building of the kernels, if need be, and then the sorting, of one resident's column. */
struct order_task {
    struct clr_task task;
    struct clr_resident *resident; /* a reference */
};

static struct clr_resident *resident_of(struct clr_task *task)
{
    return ((struct order_task *)(void *)task)->resident;
}

static void destroy_order(struct clr_task *task)
{
    clr_task_release(&resident_of(task)->task);
    clr_memory_free(task);
}

static enum clr_code post_order(struct clr_resident *resident, enum clr_task_kind kind,
                                bool (*step)(struct clr_task *, struct clr_device *, char **,
                                             struct clr_status *),
                                struct clr_status *status)
{
    struct order_task *order = clr_memory_alloc(sizeof *order);

    if (order == NULL)
        return clr_status_set(status, CLR_NOMEM, 0, "no memory for sorting");
    clr_task_init(&order->task, kind, step, destroy_order);
    order->resident = resident;
    clr_task_retain(&resident->task);
    if (clr_worker_post(resident->worker, &order->task) != CLR_READY)
        clr_status_set(status, CLR_DEVICE, 0, "the device is out of use");
    clr_task_release(&order->task);
    return status->code;
}

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

static bool step_sort(struct clr_task *task, struct clr_device *device, char **log,
                      struct clr_status *status)
{
    struct clr_resident *resident = resident_of(task);
    bool complete;

    (void)log;
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

static bool step_build(struct clr_task *task, struct clr_device *device, char **log,
                       struct clr_status *status)
{
    struct clr_resident *resident = resident_of(task);

    if (clr_sorter_open(device, log, status) != CLR_OK ||
        post_order(resident, CLR_TASK_BACKGROUND, step_sort, status) != CLR_OK)
        give_up_order(resident, status);
    return false;
}

/* Starts what makes the order, unless another thread has. */
static enum clr_scan_outcome want_order(struct clr_resident *resident, struct clr_status *status)
{
    int unwanted = CLR_ORDER_UNWANTED;

    if (!atomic_compare_exchange_strong(&resident->order, &unwanted, CLR_ORDER_COMING))
        return CLR_SCAN_NOT_NOW;
    resident->sorted = clr_sorted_column_new(resident->kind, resident->rows);
    if (resident->sorted == NULL)
        clr_status_set(status, CLR_NOMEM, 0, "no memory for sorting");
    if (resident->sorted != NULL &&
        post_order(resident, CLR_TASK_BUILD, step_build, status) == CLR_OK)
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

/* The reading of keys, with copies of all it needs: its caller may give it up at any time. */
struct read_task {
    struct clr_task task;
    struct clr_resident *resident; /* a reference */
    struct clr_order order;
    struct clr_device_work work;
};

static void destroy_read(struct clr_task *task)
{
    clr_task_release(&((struct read_task *)(void *)task)->resident->task);
    clr_memory_free(task);
}

static bool step_read(struct clr_task *task, struct clr_device *device, char **log,
                      struct clr_status *status)
{
    struct read_task *read = (struct read_task *)(void *)task;

    (void)log;
    clr_sorted_column_find(device, read->resident->sorted, read->order.ranks,
                           read->order.rank_count, read->order.keys, &read->work, status);
    return false;
}

static enum clr_scan_outcome read_keys(struct clr_worker *worker, struct clr_resident *resident,
                                       struct clr_order *order, int64_t timeout_ms,
                                       const struct clr_watch *watch, struct clr_device_work *work,
                                       struct clr_status *status)
{
    struct read_task *task = clr_memory_alloc(sizeof *task);
    enum clr_scan_outcome outcome;

    if (task == NULL) {
        clr_status_set(status, CLR_NOMEM, 0, "no memory for reading keys");
        return CLR_SCAN_FAILED;
    }
    clr_task_init(&task->task, CLR_TASK_URGENT, step_read, destroy_read);
    task->resident = resident;
    task->order = *order;
    memset(&task->work, 0, sizeof task->work);
    clr_task_retain(&resident->task);
    outcome = clr_resident_run(worker, &task->task, timeout_ms, watch, status);
    if (outcome == CLR_SCAN_DONE) {
        memcpy(order->keys, task->order.keys, sizeof order->keys);
        clr_resident_count(work, &task->work);
    }
    clr_task_release(&task->task);
    return outcome;
}

static enum clr_code check(const struct clr_resident *resident, const struct clr_order *order,
                           struct clr_status *status)
{
    int i;

    if (resident->kind != CLR_TAG_INTEGER && resident->kind != CLR_TAG_REAL)
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
        clr_resident_count(work, clr_sorted_column_work(resident->sorted));
    return CLR_SCAN_DONE;
}
