/*
 * A worker: the thread that owns one device and makes all OpenCL calls on it, and its queue of
 * jobs. The thread that runs SQL submits jobs, polls and waits, and never makes an OpenCL call.
 */
#ifndef CLR_ENGINE_WORKER_H
#define CLR_ENGINE_WORKER_H

#include "base/status.h"
#include "engine/worker/task.h"
#include "engine/worker/team.h"
#include "numeric/exact/chunk.h"
#include "numeric/scan/scan.h"
#include "numeric/states/state.h"
#include "opencl/core/catalog.h"
#include "opencl/core/device.h"

#include <stdbool.h>
#include <stdint.h>

enum clr_readiness { CLR_READY, CLR_STARTING, CLR_FAILED };

enum clr_job_phase { CLR_JOB_IDLE, CLR_JOB_QUEUED, CLR_JOB_RUNNING, CLR_JOB_DONE, CLR_JOB_FAILED };

/*
 * A chunk and what becomes of it. Its owner, a reduction, lends it to a worker from submission
 * until the phase is DONE or FAILED; in the meantime both may read the chunk, and nobody writes
 * to it. phase and abandoned belong to the worker's lock.
 */
struct clr_job {
    struct clr_job *next; /* in the worker's queue, or in the owner's list of free jobs */
    struct clr_chunk *chunk;
    unsigned elements; /* the element types to reduce on the device: bits 1 << element */
    enum clr_job_phase phase;
    bool abandoned;                          /* the owner is gone: the worker frees job and chunk */
    struct clr_state state;                  /* the result, when DONE */
    struct clr_sum more[CLR_MOST_TERMS - 1]; /* the state's further sums */
    struct clr_device_work work;
    struct clr_status status; /* the reason, when FAILED: CLR_NOMEM is this job's matter alone */
};

struct clr_worker;

/* Returns a job with an empty chunk, or NULL without memory. Free with clr_job_free(). */
struct clr_job *clr_job_new(enum clr_operation operation, size_t capacity);
void clr_job_free(struct clr_job *job);

/*
 * Starts the worker of a device, which must stay valid, and its thread. Returns NULL with a status
 * if that fails. Workers live until clr_worker_stop().
 */
struct clr_worker *clr_worker_start(const struct clr_device_info *info, struct clr_status *status);

/*
 * Asks the worker to end after what it is doing at the moment; jobs still queued fail. Returns
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

/* Hands a job over. */
void clr_worker_submit(struct clr_worker *worker, struct clr_job *job);

/* Returns whether the job is DONE or FAILED, and so the owner's again. */
bool clr_worker_poll(struct clr_worker *worker, struct clr_job *job);

/*
 * Takes back a job that the worker has not begun, or waits for it. Returns the phase: IDLE (taken
 * back: nothing was done), DONE, FAILED, or RUNNING if the device got nowhere for timeout_ms
 * milliseconds, in which case it counts as failed from then on: the time of each thing that it does
 * begins with that, however many waited before it.
 */
enum clr_job_phase clr_worker_collect(struct clr_worker *worker, struct clr_job *job,
                                      int64_t timeout_ms);

/*
 * Hands a task over; the worker takes a reference and drops it when the task has ended. Returns
 * CLR_READY, or CLR_FAILED without taking it. One that is awaited is not taken either
 * (CLR_STARTING) while the device is opened or something is built, which can take seconds.
 */
enum clr_readiness clr_worker_post(struct clr_worker *worker, struct clr_task *task);

/*
 * Waits for a task that was posted, as long as the device gets on, with this task or with others.
 * Returns its phase:
 *
 * - CLR_TASK_DONE, or CLR_TASK_FAILED with the reason in status: it has ended. If the device got
 *   nowhere for timeout_ms milliseconds it counts as failed, and the task may still be under way.
 * - CLR_TASK_PENDING: the watch (which may be NULL) wanted a stop, or, for a task of the
 *   background, which takes turns with all others, the time is over. The task may still be under
 *   way.
 * - CLR_TASK_IDLE: something is built first, which can take seconds. Nothing was done, or the task
 *   goes on without anybody who waits for it.
 */
enum clr_task_phase clr_worker_await(struct clr_worker *worker, struct clr_task *task,
                                     int64_t timeout_ms, const struct clr_watch *watch,
                                     struct clr_status *status);

/* Returns whether the device is being opened, or something is built or to be built, which can take
   seconds. */
bool clr_worker_has_builds(struct clr_worker *worker);

/* Returns the description of its device. */
const struct clr_device_info *clr_worker_info(const struct clr_worker *worker);

/* Returns whether the device is out of use, for good. */
bool clr_worker_has_failed(struct clr_worker *worker);

/* Gives up a job that was RUNNING: it is freed now, or by the worker when the device answers. */
void clr_worker_abandon(struct clr_worker *worker, struct clr_job *job);

/* What the tables show; process-wide. */
struct clr_worker_report {
    int64_t startup_time;     /* nanoseconds spent opening the device, building and testing */
    bool failed;              /* the device is out of use for the rest of the process */
    bool ready;               /* at least one program is ready */
    bool integers;            /* the device has doubles, and is quicker without: arithmetic.h */
    struct clr_status status; /* the last error, if any */
    const char *build_log;    /* of the last build that failed, or NULL; never freed */
};
void clr_worker_report(struct clr_worker *worker, struct clr_worker_report *report);

#endif
