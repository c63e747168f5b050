/*
 * Requests: the one way to have something done by a device. A request has copies of, or references
 * to, all that it needs, so that whoever waits for it may give it up at any time. What is asked for
 * differs in the structures that begin with one, and in their steps. They are posted and waited for
 * as all tasks are. Any thread may call these functions.
 */
#ifndef CLR_ENGINE_REQUEST_H
#define CLR_ENGINE_REQUEST_H

#include "engine/worker/worker.h"
#include "numeric/scan/scan.h"

#include <stdbool.h>
#include <stddef.h>

/* What the requests of one kind have in common: a constant. */
struct clr_request_kind {
    const char *what;                     /* in words: "no memory for ..." */
    enum clr_task_kind turn;              /* URGENT: somebody waits */
    clr_task_step *step;                  /* the worker's, see engine/worker/worker.h */
    void (*clear)(struct clr_task *task); /* gives back what it owns besides; may be NULL */
};

struct clr_request {
    struct clr_task task;
    const struct clr_request_kind *kind;
    struct clr_worker *worker;
    struct clr_task *held; /* a reference to what it works on; NULL: nothing */
    /* The worker's, until the task has ended. */
    enum clr_scan_outcome outcome; /* DONE at first */
    bool wants_build;              /* set by a step, which ends it: there is something to build */
    struct clr_device_work work;
};

/*
 * Returns a request with one reference: `size` bytes, zeroed behind the request that they begin
 * with. held is retained, and may be NULL. NULL with CLR_NOMEM in status without memory.
 */
void *clr_request_new(const struct clr_request_kind *kind, size_t size, struct clr_worker *worker,
                      struct clr_task *held, struct clr_status *status);

/* Returns the request that a task begins. */
static inline struct clr_request *clr_request_of(struct clr_task *task)
{
    return (struct clr_request *)(void *)task;
}

/* Drops a reference to a request. */
static inline void clr_request_release(struct clr_request *request)
{
    clr_task_release(&request->task);
}

#endif
