#include "base/clock.h"
#include "engine/worker/thread.h"
#include "engine/worker/worker_private.h"
#include "opencl/reduction/arithmetic.h"
#include "opencl/reduction/self_test.h"

#include <sched.h>
#include <string.h>

/* These functions are the thread's; those named locked_ need the lock. */

/* The thread leaves the lock to do one thing on the device, and comes back. */
static void locked_leave(struct clr_worker *worker)
{
    worker->since = clr_clock_ns();
    pthread_mutex_unlock(&worker->lock);
}

static void come_back(struct clr_worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    worker->since = 0;
}

static void locked_begin_job(struct clr_worker *worker)
{
    int slot = (worker->oldest + worker->busy) % CLR_REDUCER_SLOTS;
    struct clr_job *job = worker->first;
    struct clr_status status;

    worker->first = job->next;
    if (worker->first == NULL)
        worker->last = &worker->first;
    job->phase = CLR_JOB_RUNNING;
    worker->in_slot[slot] = job;
    worker->busy++;
    locked_leave(worker);
    clr_status_clear(&status);
    clr_reducer_begin(worker->device, slot, job->chunk, job->elements, &status);
    come_back(worker);
    if (clr_worker_locked_is_lost(worker, &status)) {
        clr_worker_locked_fail(worker, &status);
    } else if (status.code != CLR_OK) {
        worker->busy--; /* it is the last one */
        clr_worker_locked_fail_job(worker, slot, &status);
    }
}

static void locked_finish_job(struct clr_worker *worker)
{
    int slot = worker->oldest;
    struct clr_job *job = worker->in_slot[slot];
    struct clr_status status;

    locked_leave(worker);
    clr_status_clear(&status);
    clr_state_clear(&job->state);
    clr_state_extend(&job->state, job->more, clr_operation_more(job->chunk->operation));
    memset(&job->work, 0, sizeof job->work);
    clr_reducer_finish(worker->device, slot, &job->state, &job->work, &status);
    come_back(worker);
    if (clr_worker_locked_is_lost(worker, &status)) {
        clr_worker_locked_fail(worker, &status);
        return;
    }
    worker->oldest = (slot + 1) % CLR_REDUCER_SLOTS;
    worker->busy--;
    if (status.code != CLR_OK) {
        clr_worker_locked_fail_job(worker, slot, &status);
        return;
    }
    worker->in_slot[slot] = NULL;
    worker->shortages = 0;
    clr_worker_locked_end_job(worker, job, CLR_JOB_DONE);
}

/* An opening or a build begins, which can take a driver seconds: who waits for something else is
   told. */
static void locked_start(struct clr_worker *worker)
{
    struct clr_task *task;

    worker->starting = true;
    for (task = worker->tasks[CLR_TASK_URGENT].first; task != NULL; task = task->next)
        pthread_cond_broadcast(&task->changed);
    locked_leave(worker);
}

/* A step of an opening or a build has ended. */
static void locked_mark(struct clr_worker *worker)
{
    worker->milestones++;
    pthread_cond_broadcast(&worker->answered);
}

/* Reports what an opening or a build cost, and how it failed. log: a build's, or NULL. */
static void locked_report_start(struct clr_worker *worker, int64_t start, const char *log,
                                const struct clr_status *status)
{
    worker->starting = false;
    locked_mark(worker);
    worker->report.startup_time += clr_clock_ns() - start;
    if (status->code == CLR_OK)
        return;
    worker->report.status = *status;
    if (log != NULL)
        worker->report.build_log = log;
}

static void locked_build(struct clr_worker *worker, int operation, int element)
{
    struct clr_status status;
    int64_t start = clr_clock_ns();
    char *log = NULL;
    bool tested = false;

    locked_start(worker);
    clr_status_clear(&status);
    if (clr_reducer_build(worker->device, (enum clr_operation)operation, (enum clr_element)element,
                          &log, &status) == CLR_OK) {
        tested = true;
        pthread_mutex_lock(&worker->lock);
        locked_mark(worker);
        pthread_mutex_unlock(&worker->lock);
        clr_self_test(worker->device, (enum clr_operation)operation, (enum clr_element)element,
                      &status);
    }
    come_back(worker);
    locked_report_start(worker, start, log, &status);
    if (status.code == CLR_OK) {
        worker->programs[operation][element] = BUILT;
        worker->report.ready = true;
        return;
    }
    if (log != NULL)
        worker->logs[operation][element] = log;
    if (status.code == CLR_NOMEM) {
        worker->programs[operation][element] = PAUSED;
        clr_backoff_failed(&worker->pauses[operation][element], 1);
        return;
    }
    worker->programs[operation][element] = UNBUILDABLE;
    /* An OpenCL error in a test's commands, unlike a wrong result, leaves the queues unknown. */
    if (tested && status.error != 0)
        clr_worker_locked_fail(worker, &status);
}

static void locked_put_under_way(struct clr_worker *worker, struct clr_task *task)
{
    clr_task_queue_push(&worker->under_way, task);
    worker->under_way_count++;
}

/* The next step of a task that has been taken out of its queue. */
static void locked_step_task(struct clr_worker *worker, struct clr_task *task)
{
    const enum clr_task_kind kind = task->kind;
    struct clr_status status;
    int64_t start = clr_clock_ns();
    bool again;

    task->has_begun = true;
    if (kind == CLR_TASK_BUILD)
        locked_start(worker);
    else
        locked_leave(worker);
    clr_status_clear(&status);
    again = task->step(task, worker->device, &status);
    come_back(worker);
    if (kind == CLR_TASK_BUILD)
        locked_report_start(worker, start, task->log, &status);
    else if (!worker->failed && clr_worker_locked_is_lost(worker, &status))
        clr_worker_locked_fail(worker, &status);
    else if (status.code != CLR_OK && !worker->failed)
        worker->report.status = status;
    else if (kind == CLR_TASK_URGENT && !again)
        worker->shortages = 0;
    /* A build's failure is in the report; the task goes on with what else there is to build. */
    if (worker->failed)
        clr_worker_locked_end_task(worker, task, CLR_TASK_FAILED, &worker->report.status);
    else if (again && task->is_under_way)
        locked_put_under_way(worker, task);
    else if (again)
        clr_task_queue_push(&worker->tasks[task->kind], task);
    else
        clr_worker_locked_end_task(
            worker, task, status.code == CLR_OK ? CLR_TASK_DONE : CLR_TASK_FAILED, &status);
}

static void locked_step_first(struct clr_worker *worker, enum clr_task_kind kind)
{
    locked_step_task(worker, clr_task_queue_pop(&worker->tasks[kind]));
}

/* Waits for the oldest task that is under way. */
static void locked_step_under_way(struct clr_worker *worker)
{
    struct clr_task *task = clr_task_queue_pop(&worker->under_way);

    worker->under_way_count--;
    task->is_under_way = false;
    locked_step_task(worker, task);
}

/* An urgent task begins, if there is one and the device has room; else one is waited for. */
static void locked_step_urgent(struct clr_worker *worker)
{
    if (worker->tasks[CLR_TASK_URGENT].first != NULL &&
        worker->under_way_count < CLR_TASKS_UNDER_WAY)
        locked_step_first(worker, CLR_TASK_URGENT);
    else
        locked_step_under_way(worker);
}

/* Builds something, if there is anything to build. */
static bool locked_build_one(struct clr_worker *worker)
{
    int operation, element;

    worker->build_wanted = 0; /* the next one waits for its turn */
    if (worker->resting)
        return false;
    if (clr_worker_locked_find_request(worker, &operation, &element))
        locked_build(worker, operation, element);
    else if (worker->tasks[CLR_TASK_BUILD].first != NULL)
        locked_step_first(worker, CLR_TASK_BUILD);
    else
        return false;
    return true;
}

/* Whether something to be built has given way to all else for long enough: a process that is never
   idle is to get its programs as well. */
static bool locked_is_build_due(struct clr_worker *worker)
{
    int operation, element;

    if (worker->resting || (worker->tasks[CLR_TASK_BUILD].first == NULL &&
                            !clr_worker_locked_find_request(worker, &operation, &element)))
        worker->build_wanted = 0;
    else if (worker->build_wanted == 0)
        worker->build_wanted = clr_clock_ns();
    return worker->build_wanted != 0 && clr_clock_ns() - worker->build_wanted > CLR_BUILD_DELAY_NS;
}

/* Does one thing. Urgent tasks and jobs take turns, and background tasks with all others. */
static bool locked_serve(struct clr_worker *worker)
{
    bool urgent = worker->tasks[CLR_TASK_URGENT].first != NULL || worker->under_way.first != NULL;
    bool background = worker->tasks[CLR_TASK_BACKGROUND].first != NULL;
    bool begin = worker->first != NULL && worker->busy < CLR_REDUCER_SLOTS;

    if (worker->failed) {
        /* Jobs that were begun are given back. */
        if (worker->busy == 0)
            return false;
        locked_finish_job(worker);
        return true;
    }
    if (locked_is_build_due(worker)) {
        /* Nobody who waits for what the device is at has to wait for a build. */
        if (worker->busy > 0)
            locked_finish_job(worker);
        else if (worker->under_way.first != NULL)
            locked_step_under_way(worker);
        else
            locked_build_one(worker);
        return true;
    }
    if (background && worker->work_last) {
        worker->work_last = false;
        locked_step_first(worker, CLR_TASK_BACKGROUND);
        return true;
    }
    if (urgent && (!worker->urgent_last || (!begin && worker->busy == 0))) {
        worker->urgent_last = worker->work_last = true;
        locked_step_urgent(worker);
        return true;
    }
    worker->urgent_last = false;
    worker->work_last = begin || worker->busy > 0;
    if (begin)
        locked_begin_job(worker);
    else if (worker->busy > 0)
        locked_finish_job(worker);
    else if (background)
        locked_step_first(worker, CLR_TASK_BACKGROUND);
    else
        return locked_build_one(worker);
    return true;
}

/* Opens the device: once more after a pause, as long as that fails for want of something. */
static void locked_open(struct clr_worker *worker)
{
    int64_t pause_ms = CLR_OPEN_PAUSE_MS, start;
    struct clr_device *device;
    struct timespec deadline;
    struct clr_status status;

    while (!worker->stopping && !worker->opened && !worker->failed) {
        start = clr_clock_ns();
        locked_start(worker);
        clr_status_clear(&status);
        if (clr_device_open(worker->info, &device, &status) == CLR_OK)
            clr_arithmetic_choose(device, &status);
        come_back(worker);
        worker->device = device;
        worker->opened = status.code == CLR_OK;
        worker->report.integers = worker->opened && clr_arithmetic_chose_integers(device);
        locked_report_start(worker, start, NULL, &status);
        if (status.code == CLR_OK)
            return;
        if (status.code == CLR_DEVICE)
            clr_worker_locked_fail(worker, &status);
        do {
            deadline = clr_thread_deadline(pause_ms);
            while (!worker->stopping && !worker->failed &&
                   clr_thread_wait(&worker->work_arrived, &worker->lock, &deadline))
                continue;
        } while (worker->resting && !worker->stopping && !worker->failed);
        if (pause_ms < CLR_OPEN_MOST_PAUSE_MS)
            pause_ms *= 2;
    }
}

void *clr_worker_run(void *argument)
{
    struct clr_worker *worker = argument;
    int64_t idle_since = 0;

    pthread_mutex_lock(&worker->lock);
    locked_open(worker);
    while (!worker->stopping) {
        if (worker->over.first != NULL) {
            pthread_mutex_unlock(&worker->lock);
            clr_worker_drop_ended(worker);
            pthread_mutex_lock(&worker->lock);
        } else if (locked_serve(worker)) {
            idle_since = worker->urgent_last ? clr_clock_ns() : 0;
        } else if (clr_clock_ns() - idle_since < CLR_SPIN_NS) {
            /* Another scan may follow at once: see CLR_SPIN_NS. */
            pthread_mutex_unlock(&worker->lock);
            sched_yield();
            pthread_mutex_lock(&worker->lock);
        } else {
            clr_thread_wait(&worker->work_arrived, &worker->lock, NULL);
        }
    }
    while (worker->busy > 0)
        locked_finish_job(worker);
    while (worker->under_way.first != NULL)
        locked_step_under_way(worker);
    worker->failed = true;
    if (worker->report.status.code == CLR_OK)
        clr_status_set(&worker->report.status, CLR_DEVICE, 0, "the process is ending");
    clr_worker_locked_fail_queue(worker);
    worker->ended = true;
    pthread_cond_broadcast(&worker->answered);
    pthread_mutex_unlock(&worker->lock);
    clr_worker_drop_ended(worker);
    return NULL;
}
