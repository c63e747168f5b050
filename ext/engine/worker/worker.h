/*
 * A worker: the thread that owns one device and makes all OpenCL calls on it, and its queues of
 * tasks. The thread that runs SQL posts tasks, polls and waits, and never makes an OpenCL call.
 */
#ifndef CLR_ENGINE_WORKER_H
#define CLR_ENGINE_WORKER_H

#include "base/status.h"
#include "engine/worker/team.h"
#include "numeric/exact/operation.h"
#include "opencl/core/catalog.h"
#include "opencl/core/device.h"
#include "opencl/scan/scanner.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum clr_readiness { CLR_READY, CLR_STARTING, CLR_FAILED };

/* ---- Tasks. */

/* What a worker may have under way of urgent tasks that go on by themselves: what the device has
   room for. */
enum { CLR_TASKS_UNDER_WAY = CLR_SCAN_SLOTS };

/* The first two take turns. */
enum clr_task_kind {
    CLR_TASK_URGENT,     /* somebody waits */
    CLR_TASK_JOB,        /* a chunk's reduction, which its owner does where it has not begun */
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

/* Work for a worker. Poster and worker each hold a reference, so that either may give the other up:
   what a task needs belongs to the task. */
struct clr_task {
    /* Set by clr_task_init(). destroy is called by the thread that drops the last reference, which
       holds no lock of the worker's; NULL: the task is freed. */
    enum clr_task_kind kind;
    clr_task_step *step;
    void (*destroy)(struct clr_task *task);
    char *log; /* of a build that fails: a text of clr_memory_alloc(), the worker's */
    atomic_int references;
    /* Under the worker's lock. */
    struct clr_task *next;
    bool has_begun;    /* its first step */
    bool is_under_way; /* set by the step of an URGENT one or a JOB: the device goes on by itself,
                          and the next step waits for it, so that others may begin before that */
    int place;         /* then a number that no other one under way of its kind has, from 0 on */
    /* Written under the lock; who polls it reads it without. */
    _Atomic(enum clr_task_phase) phase;
    /* The task has ended, or a build keeps it from its beginning: its own, since threads that wait
       for other tasks would only be in each other's way. */
    pthread_cond_t changed;
    struct clr_status status; /* the reason, when FAILED */
};

/* Sets a task up, with one reference, its poster's. */
void clr_task_init(struct clr_task *task, enum clr_task_kind kind, clr_task_step *step,
                   void (*destroy)(struct clr_task *));

/* Any thread may take and drop references. */
struct clr_task *clr_task_retain(struct clr_task *task);
void clr_task_release(struct clr_task *task);

/* Returns whether a task is DONE or FAILED: the worker does not touch it any more. */
static inline bool clr_task_has_ended(const struct clr_task *task)
{
    const enum clr_task_phase phase = atomic_load(&task->phase);

    return phase == CLR_TASK_DONE || phase == CLR_TASK_FAILED;
}

/* ---- Workers. */

struct clr_worker;

/*
 * Starts the worker of a device, which must stay valid, and its thread. Returns NULL with a status
 * if that fails. Workers live until clr_worker_stop().
 */
struct clr_worker *clr_worker_start(const struct clr_device_info *info, struct clr_status *status);

/*
 * Asks the worker to end after what it is doing at the moment; tasks still queued fail. Returns
 * whether its thread ended within timeout_ms milliseconds after the driver last got anywhere, or
 * later if the process was busy meanwhile (clr_patience).
 * OpenCL's objects are left to the end of the process.
 */
bool clr_worker_stop(struct clr_worker *worker, int64_t timeout_ms);

/* Waits while the worker opens its device or builds, for as long as above. What else is to be built
   waits until somebody asks for something again: the process may end before. */
void clr_worker_rest(struct clr_worker *worker, int64_t timeout_ms);

/*
 * Returns whether the device has the program of an operation, below CLR_OPERATIONS, and an element
 * type. If nobody has asked before, the worker starts to build it. Never waits for the device.
 */
enum clr_readiness clr_worker_readiness(struct clr_worker *worker, enum clr_operation operation,
                                        enum clr_element element);

/*
 * Hands a task over; the worker takes a reference and drops it when the task has ended. Returns
 * CLR_READY, or CLR_FAILED without taking it. An urgent one is not taken either (CLR_STARTING)
 * while the device is opened or something is built, which can take seconds.
 */
enum clr_readiness clr_worker_post(struct clr_worker *worker, struct clr_task *task);

/* Announces an urgent task, so that the worker's thread is awake when it comes: for a short time
   the thread looks for it. */
void clr_worker_wake(struct clr_worker *worker);

/*
 * Waits for a task that was posted, as long as the device gets on, with this task or with others.
 * Returns its phase:
 *
 * - CLR_TASK_DONE, or CLR_TASK_FAILED with the reason in status: it has ended. If the device got
 *   nowhere for timeout_ms milliseconds it counts as failed from then on, and the task may still be
 *   under way (clr_task_has_ended()): the time of each thing that the device does begins with that,
 *   however many waited before it.
 * - CLR_TASK_PENDING: the watch (which may be NULL) wanted a stop, or, for a task of the
 *   background, which takes turns with all others, the time is over. The task may still be under
 *   way.
 * - CLR_TASK_IDLE: a job that has not begun is taken back; or something is built first, which can
 *   take seconds: nothing was done, or the task goes on without anybody who waits for it.
 */
enum clr_task_phase clr_worker_await(struct clr_worker *worker, struct clr_task *task,
                                     int64_t timeout_ms, const struct clr_watch *watch,
                                     struct clr_status *status);

/* Returns the description of its device. */
const struct clr_device_info *clr_worker_info(const struct clr_worker *worker);

/* Returns whether the device is out of use, for good. */
bool clr_worker_has_failed(struct clr_worker *worker);

enum { CLR_MOST_LOG = 4096 };

/* What the tables show; process-wide. */
struct clr_worker_report {
    int64_t startup_time; /* nanoseconds spent opening the device, building and testing */
    bool failed;          /* the device is out of use for the rest of the process */
    bool ready;           /* at least one program is ready */
    bool builds;   /* the device is being opened, or something is built or to be, for seconds */
    bool integers; /* the device has doubles, and is quicker without: arithmetic.h */
    struct clr_status status;     /* the last error, if any */
    char build_log[CLR_MOST_LOG]; /* the first bytes of the last one that a compiler gave; or "" */
};
void clr_worker_report(struct clr_worker *worker, struct clr_worker_report *report);

#endif
