#include "engine/worker/worker.h"

#include "base/clock.h"
#include "base/memory.h"
#include "engine/worker/thread.h"
#include "engine/worker/worker_private.h"

#include <sched.h>
#include <string.h>

struct clr_job *clr_job_new(enum clr_operation operation, size_t capacity)
{
    struct clr_job *job = clr_memory_alloc(sizeof *job);

    if (job == NULL)
        return NULL;
    job->chunk = clr_chunk_new(operation, capacity);
    if (job->chunk == NULL) {
        clr_memory_free(job);
        return NULL;
    }
    job->next = NULL;
    job->phase = CLR_JOB_IDLE;
    job->abandoned = false;
    return job;
}

void clr_job_free(struct clr_job *job)
{
    clr_chunk_free(job->chunk);
    clr_memory_free(job);
}

struct clr_worker *clr_worker_start(const struct clr_device_info *info, struct clr_status *status)
{
    struct clr_worker *worker = clr_memory_alloc(sizeof *worker);
    int kind;

    if (worker == NULL) {
        clr_status_set(status, CLR_NOMEM, 0, "no memory for a worker");
        return NULL;
    }
    memset(worker, 0, sizeof *worker);
    worker->info = info;
    worker->last = &worker->first;
    for (kind = 0; kind < CLR_TASK_KINDS; kind++)
        clr_task_queue_init(&worker->tasks[kind]);
    clr_task_queue_init(&worker->over);
    worker->starting = true;
    pthread_mutex_init(&worker->lock, NULL);
    clr_thread_cond_init(&worker->work_arrived);
    clr_thread_cond_init(&worker->answered);
    if (clr_thread_start(clr_worker_run, worker) != 0) {
        clr_status_set(status, CLR_DEVICE, 0, "no thread could be started for the device");
        clr_memory_free(worker);
        return NULL;
    }
    return worker;
}

static bool locked_lives(const struct clr_worker *worker)
{
    return !worker->ended;
}

/* Whether what needs the device has to wait for a time that nobody knows. */
static bool locked_is_starting(const struct clr_worker *worker)
{
    return worker->starting || (!worker->opened && !worker->failed);
}

static bool locked_starts(const struct clr_worker *worker)
{
    return worker->starting && !worker->ended;
}

/*
 * Waits while the condition holds, and as long as the driver gets anywhere: on a busy machine the
 * steps of a start take long together, and whoever exits amid them crashes in the driver.
 */
static void locked_wait_while(struct clr_worker *worker, bool (*holds)(const struct clr_worker *),
                              int64_t timeout_ms)
{
    struct timespec deadline = clr_thread_deadline(timeout_ms);
    unsigned seen = worker->milestones;

    while (holds(worker) &&
           pthread_cond_timedwait(&worker->answered, &worker->lock, &deadline) == 0) {
        if (worker->milestones != seen)
            deadline = clr_thread_deadline(timeout_ms);
        seen = worker->milestones;
    }
}

bool clr_worker_stop(struct clr_worker *worker, int64_t timeout_ms)
{
    bool ended;

    pthread_mutex_lock(&worker->lock);
    worker->stopping = true;
    pthread_cond_broadcast(&worker->work_arrived);
    locked_wait_while(worker, locked_lives, timeout_ms);
    ended = worker->ended;
    pthread_mutex_unlock(&worker->lock);
    return ended;
}

void clr_worker_rest(struct clr_worker *worker, int64_t timeout_ms)
{
    pthread_mutex_lock(&worker->lock);
    worker->resting = true;
    locked_wait_while(worker, locked_starts, timeout_ms);
    pthread_mutex_unlock(&worker->lock);
}

/* Somebody asks for something. */
static void locked_rouse(struct clr_worker *worker)
{
    if (worker->resting)
        pthread_cond_signal(&worker->work_arrived);
    worker->resting = false;
}

enum clr_readiness clr_worker_readiness(struct clr_worker *worker, enum clr_operation operation,
                                        enum clr_element element)
{
    enum clr_program_phase *phase = &worker->programs[operation][element];
    enum clr_readiness readiness = CLR_STARTING;

    pthread_mutex_lock(&worker->lock);
    locked_rouse(worker);
    if (worker->failed || *phase == UNBUILDABLE ||
        (*phase == PAUSED && !clr_backoff_ask(&worker->pauses[operation][element]))) {
        readiness = CLR_FAILED;
    } else if (*phase == BUILT) {
        readiness = CLR_READY;
    } else if (*phase != REQUESTED) {
        *phase = REQUESTED;
        pthread_cond_signal(&worker->work_arrived);
    }
    pthread_mutex_unlock(&worker->lock);
    return readiness;
}

void clr_worker_submit(struct clr_worker *worker, struct clr_job *job)
{
    pthread_mutex_lock(&worker->lock);
    locked_rouse(worker);
    job->next = NULL;
    if (worker->failed) {
        job->phase = CLR_JOB_FAILED;
        job->status = worker->report.status;
    } else {
        job->phase = CLR_JOB_QUEUED;
        *worker->last = job;
        worker->last = &job->next;
        pthread_cond_signal(&worker->work_arrived);
    }
    pthread_mutex_unlock(&worker->lock);
}

bool clr_worker_poll(struct clr_worker *worker, struct clr_job *job)
{
    bool ended;

    pthread_mutex_lock(&worker->lock);
    ended = job->phase == CLR_JOB_DONE || job->phase == CLR_JOB_FAILED;
    pthread_mutex_unlock(&worker->lock);
    return ended;
}

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

/* Whether the thread has been doing one thing for longer than that. How long others waited before
   it is no matter: a device is as healthy as what it does is quick. */
static bool locked_got_nowhere(const struct clr_worker *worker, int64_t timeout_ms)
{
    return worker->since != 0 && clr_clock_ns() - worker->since > timeout_ms * 1000000;
}

/* Waits for an answer, until it is time to see whether the device still gets on, and for most_ms
   milliseconds at most. Returns whether it was woken before that. */
static bool locked_wait(struct clr_worker *worker, int64_t timeout_ms, int64_t most_ms)
{
    const int64_t passed = worker->since != 0 ? (clr_clock_ns() - worker->since) / 1000000 : 0;
    int64_t left = passed < timeout_ms ? timeout_ms - passed + 1 : 1;
    struct timespec deadline = clr_thread_deadline(left < most_ms ? left : most_ms);

    return pthread_cond_timedwait(&worker->answered, &worker->lock, &deadline) == 0;
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
            locked_wait(worker, timeout_ms, timeout_ms);
    }
    phase = job->phase;
    pthread_mutex_unlock(&worker->lock);
    clr_worker_drop_ended(worker);
    return phase;
}

bool clr_worker_is_starting(struct clr_worker *worker)
{
    bool starting;

    pthread_mutex_lock(&worker->lock);
    starting = locked_is_starting(worker);
    pthread_mutex_unlock(&worker->lock);
    return starting;
}

enum clr_readiness clr_worker_post(struct clr_worker *worker, struct clr_task *task)
{
    enum clr_readiness readiness = CLR_READY;

    pthread_mutex_lock(&worker->lock);
    locked_rouse(worker);
    if (worker->failed) {
        readiness = CLR_FAILED;
    } else if (locked_is_starting(worker) && task->is_awaited) {
        readiness = CLR_STARTING;
    } else {
        task->phase = CLR_TASK_PENDING;
        clr_task_queue_push(&worker->tasks[task->kind], clr_task_retain(task));
        pthread_cond_signal(&worker->work_arrived);
    }
    pthread_mutex_unlock(&worker->lock);
    return readiness;
}

/* How often who waits for a task is asked whether to go on. */
enum { WATCH_MS = 20 };

/* Waiting in the usual way, and being woken, takes as long as a short scan: most answers come while
   this looks for them. */
static void locked_spin(struct clr_worker *worker, const struct clr_task *task)
{
    const int64_t start = clr_clock_ns();

    while (task->phase == CLR_TASK_PENDING && clr_clock_ns() - start < CLR_AWAIT_SPIN_NS) {
        pthread_mutex_unlock(&worker->lock);
        sched_yield();
        pthread_mutex_lock(&worker->lock);
    }
}

/* Whether nobody has to wait for the task, since something is being built, and it has not begun, or
   is kept from its end for too long. */
static bool locked_is_kept(const struct clr_worker *worker, const struct clr_task *task,
                           int64_t timeout_ms)
{
    return worker->starting && task->kind == CLR_TASK_URGENT &&
           (!task->has_begun || locked_got_nowhere(worker, timeout_ms));
}

/* Waits until the task has ended, or there is no use in that any more; or until the watch, asked
   without the lock, wants a stop: then it returns true. */
static bool locked_wait_watching(struct clr_worker *worker, const struct clr_task *task,
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
        if (locked_wait(worker, timeout_ms, watch != NULL ? WATCH_MS : timeout_ms) || watch == NULL)
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

    pthread_mutex_lock(&worker->lock);
    if (task->kind == CLR_TASK_URGENT)
        locked_spin(worker, task);
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

bool clr_worker_locked_find_request(const struct clr_worker *worker, int *operation, int *element)
{
    int i, j;

    for (i = 0; i < CLR_OPERATIONS; i++) {
        for (j = 0; j < CLR_ELEMENTS; j++) {
            if (worker->programs[i][j] == REQUESTED) {
                *operation = i;
                *element = j;
                return true;
            }
        }
    }
    return false;
}

bool clr_worker_has_builds(struct clr_worker *worker)
{
    int operation, element;
    bool has_builds;

    pthread_mutex_lock(&worker->lock);
    has_builds = locked_is_starting(worker) || worker->tasks[CLR_TASK_BUILD].first != NULL ||
                 clr_worker_locked_find_request(worker, &operation, &element);
    pthread_mutex_unlock(&worker->lock);
    return has_builds;
}

bool clr_worker_is_late(struct clr_worker *worker, int64_t timeout_ms, struct clr_status *status)
{
    bool is_late;

    pthread_mutex_lock(&worker->lock);
    is_late = worker->failed || locked_got_nowhere(worker, timeout_ms);
    if (is_late && !worker->failed && !worker->starting)
        locked_give_up(worker, timeout_ms);
    if (worker->failed)
        *status = worker->report.status;
    else if (is_late)
        clr_status_set(status, CLR_STOPPED, 0, "the device is busy: something is being built");
    pthread_mutex_unlock(&worker->lock);
    clr_worker_drop_ended(worker);
    return is_late;
}

bool clr_worker_has_failed(struct clr_worker *worker)
{
    bool failed;

    pthread_mutex_lock(&worker->lock);
    failed = worker->failed;
    pthread_mutex_unlock(&worker->lock);
    return failed;
}

void clr_worker_abandon(struct clr_worker *worker, struct clr_job *job)
{
    pthread_mutex_lock(&worker->lock);
    if (job->phase == CLR_JOB_RUNNING)
        job->abandoned = true;
    else
        clr_job_free(job);
    pthread_mutex_unlock(&worker->lock);
}

void clr_worker_report(struct clr_worker *worker, struct clr_worker_report *report)
{
    pthread_mutex_lock(&worker->lock);
    *report = worker->report;
    report->failed = worker->failed;
    pthread_mutex_unlock(&worker->lock);
}
