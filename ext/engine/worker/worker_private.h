/* A worker's inside, for its thread and for those who call it. */
#ifndef CLR_ENGINE_WORKER_PRIVATE_H
#define CLR_ENGINE_WORKER_PRIVATE_H

#include "base/backoff.h"
#include "engine/worker/worker.h"
#include "opencl/reduction/reducer.h"

#include <pthread.h>

/*
 * For how long a thread polls before it sleeps: one that waits for a scan, and the worker, for
 * another scan that follows at once. To be woken takes 20 to 50 us on a virtual machine, which is
 * as long as a scan of 20 million values.
 */
enum { CLR_AWAIT_SPIN_NS = 1000000, CLR_SPIN_NS = 200000 };

/* How often a watch is asked while something is waited for. */
enum { CLR_WATCH_MS = 20 };

/* Builds give way to everything else, but not for longer than this. */
enum { CLR_BUILD_DELAY_NS = 500000000 };

/* PAUSED: it could not be built for want of something; asked for often enough, it is REQUESTED. */
enum clr_program_phase { UNREQUESTED, REQUESTED, BUILT, UNBUILDABLE, PAUSED };

/* A device that is short of resources or host memory so many times, with nothing done in between,
   is taken for lost: NVIDIA's says the same when its context is broken. */
enum { CLR_MOST_SHORTAGES = 3 };

/* How long the opening of a device pauses that is short of something: at first, and at most. */
enum { CLR_OPEN_PAUSE_MS = 100, CLR_OPEN_MOST_PAUSE_MS = 10000 };

struct clr_worker {
    const struct clr_device_info *info;
    pthread_mutex_t lock;
    pthread_cond_t work_arrived,
        answered; /* of jobs; it also tells of milestones, and that the thread has ended */
    bool stopping, ended, failed;
    bool opened;         /* the device is */
    bool resting;        /* nothing is opened or built until somebody asks for something */
    bool starting;       /* the thread is opening the device, or building */
    unsigned milestones; /* how often a step of that has ended: who waits sees that it goes on */
    int64_t since;       /* when the thread began what it does now, by the clock; 0: nothing */
    enum clr_program_phase programs[CLR_OPERATIONS][CLR_ELEMENTS];
    struct clr_backoff pauses[CLR_OPERATIONS][CLR_ELEMENTS];
    struct clr_job *first, **last; /* the queue */
    struct clr_task_queue tasks[CLR_TASK_KINDS];
    struct clr_task_queue under_way; /* URGENT ones that the device is at */
    int under_way_count;
    struct clr_task_queue over; /* the worker's references to them are to be dropped */
    struct clr_worker_report report;
    /* Of the builds that failed. Any of them may be on its way to a user, and so none is freed. */
    char *logs[CLR_OPERATIONS][CLR_ELEMENTS];

    /* The thread's own. */
    struct clr_device *device;
    struct clr_job *in_slot[CLR_REDUCER_SLOTS];
    int oldest, busy;            /* slots are used in turn */
    bool urgent_last, work_last; /* what was served: an urgent task; anything not background */
    int shortages;               /* since the device last did something */
    int64_t build_wanted;        /* since when something is to be built; 0: nothing is */
};

/* The thread; argument is the worker. */
void *clr_worker_run(void *argument);

/* Stores a program that is to be built. Returns whether there is one. Needs the lock. */
bool clr_worker_locked_find_request(const struct clr_worker *worker, int *operation, int *element);

/* End a job, or a task that is in no queue, and wake who waits for it. They need the lock, as all
   that are named locked_. */
void clr_worker_locked_end_job(struct clr_worker *worker, struct clr_job *job,
                               enum clr_job_phase phase);
void clr_worker_locked_end_task(struct clr_worker *worker, struct clr_task *task,
                                enum clr_task_phase phase, const struct clr_status *status);

/* Fails the job of a slot, for that reason. */
void clr_worker_locked_fail_job(struct clr_worker *worker, int slot,
                                const struct clr_status *status);

/* For the thread, after an error: the device's queues are in an unknown state, it is never used
   again, and all that is under way or queued fails. */
void clr_worker_locked_fail(struct clr_worker *worker, const struct clr_status *status);

/* For the thread: whether what was done on the device ended so that it must not be used any more.
   What passes is the matter of one job or task, unless it comes again and again: then the status
   becomes CLR_DEVICE. */
bool clr_worker_locked_is_lost(struct clr_worker *worker, struct clr_status *status);

/* Fails all that is queued, for the reason in the report. Needs the lock. */
void clr_worker_locked_fail_queue(struct clr_worker *worker);

/* Drops references to tasks without the lock: what is destroyed may post the release of its
   memory. */
void clr_worker_drop_ended(struct clr_worker *worker);

#endif
