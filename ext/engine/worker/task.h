/*
 * A task: work for a worker that is no reduction of a chunk. Poster and worker each hold a
 * reference, so that either may give the other up: what a task needs belongs to the task.
 */
#ifndef CLR_ENGINE_TASK_H
#define CLR_ENGINE_TASK_H

#include "base/status.h"
#include "opencl/core/device.h"
#include "opencl/scan/scanner.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* What a worker may have under way of tasks that go on by themselves: what the device has room
   for. */
enum { CLR_TASKS_UNDER_WAY = CLR_SCAN_SLOTS };

/* In the order in which a worker prefers them; jobs take turns with the first. */
enum clr_task_kind {
    CLR_TASK_URGENT,     /* somebody waits */
    CLR_TASK_BACKGROUND, /* a step after each other thing, or whenever there is nothing else */
    CLR_TASK_BUILD,      /* when there is nothing else, or some time after it was wanted; a failure
                            leaves the device in use */
    CLR_TASK_KINDS
};

enum clr_task_phase { CLR_TASK_IDLE, CLR_TASK_PENDING, CLR_TASK_DONE, CLR_TASK_FAILED };

struct clr_task;

/*
 * A step of a task, called by the worker's thread. Returns whether it is to be called again, which
 * after an error only a build is; those that are under way are called again in their order.
 * CLR_DEVICE also ends the use of the device, and so does CLR_NOMEM from OpenCL several times in a
 * row; in a build neither does.
 */
typedef bool clr_task_step(struct clr_task *task, struct clr_device *device,
                           struct clr_status *status);

struct clr_task {
    /* Set by clr_task_init(). destroy is called by the thread that drops the last reference, which
       holds no lock of the worker's. */
    enum clr_task_kind kind; /* the step of a BUILD may make it BACKGROUND, to go on as such */
    clr_task_step *step;
    void (*destroy)(struct clr_task *task);
    char *log; /* of a build that fails: a text of clr_memory_alloc(), the worker's */
    atomic_int references;
    /* Under the worker's lock. */
    struct clr_task *next;
    bool has_begun;    /* its first step */
    bool is_under_way; /* set by an URGENT one's step: the device goes on by itself, and the next
                          step waits for it, so that others may begin before that */
    /* Written under the lock; who polls it reads it without. */
    _Atomic(enum clr_task_phase) phase;
    /* The task has ended, or a build keeps it from its beginning: its own, since threads that wait
       for other tasks would only be in each other's way. */
    pthread_cond_t changed;
    struct clr_status status; /* the reason, when FAILED */
};

/* First in, first out. */
struct clr_task_queue {
    struct clr_task *first, **last;
};

/* Sets a task up, with one reference, its poster's. */
void clr_task_init(struct clr_task *task, enum clr_task_kind kind, clr_task_step *step,
                   void (*destroy)(struct clr_task *));

/* Any thread may take and drop references. */
struct clr_task *clr_task_retain(struct clr_task *task);
void clr_task_release(struct clr_task *task);

void clr_task_queue_init(struct clr_task_queue *queue);
void clr_task_queue_push(struct clr_task_queue *queue, struct clr_task *task);

/* Takes a task that is in the queue out of it. */
void clr_task_queue_remove(struct clr_task_queue *queue, struct clr_task *task);

/* Returns the first task, now out of the queue, or NULL. */
struct clr_task *clr_task_queue_pop(struct clr_task_queue *queue);

#endif
