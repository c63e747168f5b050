/* A resident's inside, for those who work on it: ext/engine alone. */
#ifndef CLR_ENGINE_RESIDENT_PRIVATE_H
#define CLR_ENGINE_RESIDENT_PRIVATE_H

#include "base/backoff.h"
#include "engine/columns/resident.h"
#include "opencl/memory/resident_column.h"

#include <pthread.h>
#include <stdatomic.h>

/*
 * A resident is, when the last reference is dropped, the task of its release, since the worker
 * alone may free what lies on the device. Its owner has a reference, and so has every task that
 * works on it, even if nobody waits for it any more.
 */
struct clr_resident {
    struct clr_task task;
    struct clr_worker *worker;
    struct clr_column
        *column;           /* until it is on the device, or can't be any more; always if shared */
    atomic_bool is_shared; /* the copy is the column itself, or is to be */
    size_t first;          /* row of the column that it begins with */
    /* Another one, with a reference, of which the copy is to be made, and the rows that are not as
       there; or NULL. */
    struct clr_resident *before;
    struct clr_row_ranges fresh;
    struct clr_resident_column *copy;
    uint8_t kind; /* as of clr_column_device_kind() */
    size_t rows;
    atomic_int state;     /* enum clr_residence */
    atomic_bool unwanted; /* its owner has given it up */
    /* What failed for a time, and when that is to be tried again: under the lock. */
    pthread_mutex_t lock;
    bool pauses; /* the upload: it has FAILED, and may be tried again */
    struct clr_backoff upload_pause;
    struct clr_resident *left; /* another one that is left to the end of the process */
};

/* Returns the resident that a task is. */
static inline struct clr_resident *clr_resident_of(struct clr_task *task)
{
    return (struct clr_resident *)(void *)task;
}

#endif
