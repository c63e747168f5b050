/* Waiting for what a worker's thread does, and noticing that it gets nowhere. */
#include "base/clock.h"
#include "engine/worker/thread.h"
#include "engine/worker/worker_private.h"

#include <sched.h>

static void locked_remove(struct clr_worker *worker, struct clr_job *job)
{
    struct clr_job **link = &worker->first;

    while (*link != job)
        link = &(*link)->next;
    *link = job->next;
    if (job->next == NULL)
        worker->last = link;
}

static void locked_give_up(struct clr_worker *worker, int64_t timeout_ms)
{
    worker->failed = true;
    clr_status_set(&worker->report.status, CLR_DEVICE, 0,
                   "the device did not answer within %lld ms", (long long)timeout_ms);
    clr_worker_locked_fail_queue(worker);
}

/* Whether the thread has been doing one thing for longer than that. The time for which it waited in
   the queue does not count. */
static bool locked_got_nowhere(const struct clr_worker *worker, int64_t timeout_ms)
{
    return worker->since != 0 && clr_clock_ns() - worker->since > timeout_ms * 1000000;
}

/* Waits for the condition, until it is time to see whether the device still gets on, and for
   most_ms milliseconds at most. Returns whether it was woken before that. */
static bool locked_wait(struct clr_worker *worker, pthread_cond_t *condition, int64_t timeout_ms,
                        int64_t most_ms)
{
    const int64_t passed = worker->since != 0 ? (clr_clock_ns() - worker->since) / 1000000 : 0;
    int64_t left = passed < timeout_ms ? timeout_ms - passed + 1 : 1;
    struct timespec deadline = clr_thread_deadline(left < most_ms ? left : most_ms);

    return clr_thread_wait(condition, &worker->lock, &deadline);
}

enum clr_job_phase clr_worker_collect(struct clr_worker *worker, struct clr_job *job,
                                      int64_t timeout_ms)
{
    enum clr_job_phase phase;

    pthread_mutex_lock(&worker->lock);
    if (job->phase == CLR_JOB_QUEUED) {
        locked_remove(worker, job);
        job->phase = CLR_JOB_IDLE;
    }
    while (job->phase == CLR_JOB_RUNNING && !worker->failed) {
        if (locked_got_nowhere(worker, timeout_ms))
            locked_give_up(worker, timeout_ms);
        else
            locked_wait(worker, &worker->answered, timeout_ms, timeout_ms);
    }
    phase = job->phase;
    pthread_mutex_unlock(&worker->lock);
    clr_worker_drop_ended(worker);
    return phase;
}

/* Polls for the answer for a while: to be woken takes as long as a short scan. That is done without
   the lock, which the worker would have to wait for if several threads took it in turn. */
static void spin(const struct clr_task *task)
{
    const int64_t start = clr_clock_ns();

    while (task->phase == CLR_TASK_PENDING && clr_clock_ns() - start < CLR_AWAIT_SPIN_NS)
        sched_yield();
}

/* Whether a build keeps the task from its beginning, or for longer than timeout_ms from its end:
   then its caller does not wait. */
static bool locked_is_kept(const struct clr_worker *worker, const struct clr_task *task,
                           int64_t timeout_ms)
{
    return worker->starting && task->kind == CLR_TASK_URGENT &&
           (!task->has_begun || locked_got_nowhere(worker, timeout_ms));
}

/* Waits until the task has ended, or there is no use in that any more; or until the watch, asked
   without the lock, wants a stop: then it returns true. */
static bool locked_wait_watching(struct clr_worker *worker, struct clr_task *task,
                                 int64_t timeout_ms, const struct clr_watch *watch)
{
    const int64_t end = clr_clock_ns() + timeout_ms * 1000000;
    bool stop = false;

    while (task->phase == CLR_TASK_PENDING && !worker->failed && !stop &&
           !locked_is_kept(worker, task, timeout_ms)) {
        if (!worker->starting && locked_got_nowhere(worker, timeout_ms)) {
            locked_give_up(worker, timeout_ms);
            break;
        }
        if (task->kind != CLR_TASK_URGENT && clr_clock_ns() >= end)
            return true;
        if (locked_wait(worker, &task->changed, timeout_ms,
                        watch != NULL ? CLR_WATCH_MS : timeout_ms) ||
            watch == NULL)
            continue;
        pthread_mutex_unlock(&worker->lock);
        stop = watch->wants_stop(watch->context);
        pthread_mutex_lock(&worker->lock);
    }
    return stop && task->phase == CLR_TASK_PENDING;
}

enum clr_task_phase clr_worker_await(struct clr_worker *worker, struct clr_task *task,
                                     int64_t timeout_ms, const struct clr_watch *watch,
                                     struct clr_status *status)
{
    enum clr_task_phase phase = CLR_TASK_PENDING;
    bool is_mine = false;

    if (task->kind == CLR_TASK_URGENT)
        spin(task);
    pthread_mutex_lock(&worker->lock);
    if (!locked_wait_watching(worker, task, timeout_ms, watch)) {
        phase = task->phase;
        if (phase == CLR_TASK_FAILED)
            *status = task->status;
    }
    if (phase == CLR_TASK_PENDING && worker->failed) {
        *status = worker->report.status;
        phase = CLR_TASK_FAILED;
    } else if (phase == CLR_TASK_PENDING && locked_is_kept(worker, task, timeout_ms)) {
        is_mine = !task->has_begun;
        if (is_mine) {
            clr_task_queue_remove(&worker->tasks[task->kind], task);
            task->phase = CLR_TASK_IDLE;
        }
        phase = CLR_TASK_IDLE;
    }
    pthread_mutex_unlock(&worker->lock);
    if (is_mine)
        clr_task_release(task); /* the worker's reference */
    clr_worker_drop_ended(worker);
    return phase;
}
