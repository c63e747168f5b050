/* A resident's inside, for those who work on it: ext/engine alone. */
#ifndef CLR_ENGINE_RESIDENT_PRIVATE_H
#define CLR_ENGINE_RESIDENT_PRIVATE_H

#include "engine/columns/resident.h"
#include "engine/worker/backoff.h"
#include "opencl/memory/resident_column.h"
#include "opencl/sort/sorted_column.h"

#include <pthread.h>
#include <stdatomic.h>

enum clr_order_state { CLR_ORDER_UNWANTED, CLR_ORDER_COMING, CLR_ORDER_READY, CLR_ORDER_FAILED };

/*
 * A resident is, when the last reference is dropped, the task of its release, since the worker
 * alone may free what lies on the device. Its owner has a reference, and so has every task that
 * works on it, even if nobody waits for it any more.
 */
struct clr_resident {
    struct clr_task task;
    struct clr_worker *worker;
    struct clr_column *column; /* until it is on the device, or can't be any more */
    struct clr_resident_column *copy;
    uint8_t kind;
    size_t rows;
    atomic_int state;     /* enum clr_residence */
    atomic_bool unwanted; /* its owner is gone */
    /* Its values in order: the worker's while they are COMING, and constant from then on. */
    atomic_int order; /* enum clr_order_state */
    struct clr_sorted_column *sorted;
    atomic_bool order_counted; /* somebody has been told what sorting cost */
    /* What failed for a time, and when that is to be tried again: under the lock. */
    pthread_mutex_t lock;
    bool pauses; /* the upload: it has FAILED, and may be tried again */
    struct clr_backoff upload_pause, order_pause;
    struct clr_status order_status; /* why the order has FAILED */
};

/*
 * Returns a resident of the kind, CLR_TAG_INTEGER or CLR_TAG_REAL, that has no rows: whoever made
 * it appends them to its copy, by tasks of the worker's. It never becomes READY. NULL without
 * memory.
 */
struct clr_resident *clr_resident_new_open(struct clr_worker *worker, uint8_t kind);

/*
 * For the worker: does the next step of sorting the resident's copy into its sorted column, which
 * after a failure is gone. Returns as clr_sorted_column_step().
 */
enum clr_code clr_resident_sort(struct clr_device *device, struct clr_resident *resident,
                                bool *complete, struct clr_status *status);

/*
 * Has the worker do a task, and waits as clr_worker_await() does. Returns CLR_SCAN_DONE;
 * CLR_SCAN_NOT_NOW if the worker does not take it, or builds something first, and CLR_SCAN_STOPPED,
 * after both of which the task may still be under way; CLR_SCAN_FAILED with the status. The caller
 * keeps its reference.
 */
enum clr_scan_outcome clr_resident_run(struct clr_worker *worker, struct clr_task *task,
                                       int64_t timeout_ms, const struct clr_watch *watch,
                                       struct clr_status *status);

/*
 * Has the worker build something, by steps that need nothing but the device, when there is nothing
 * else to do. Without memory nothing is built: whoever needs it asks again. That two of these do
 * the same has to be no harm.
 */
void clr_resident_post_build(struct clr_worker *worker,
                             bool (*step)(struct clr_task *, struct clr_device *, char **,
                                          struct clr_status *));

/* Increases work by what was done on the device; bytes are not counted here. */
void clr_resident_count(struct clr_device_work *work, const struct clr_device_work *done);

#endif
