#include "engine/worker/worker.h"

#include "base/memory.h"
#include "engine/worker/thread.h"
#include "engine/worker/worker_private.h"

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
    clr_task_queue_init(&worker->under_way);
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

void clr_worker_drop_ended(struct clr_worker *worker)
{
    struct clr_task *task;

    do {
        pthread_mutex_lock(&worker->lock);
        task = clr_task_queue_pop(&worker->over);
        pthread_mutex_unlock(&worker->lock);
        if (task != NULL)
            clr_task_release(task);
    } while (task != NULL);
}

static bool locked_lives(const struct clr_worker *worker)
{
    return !worker->ended;
}

/* Whether the device is being opened, or something is built: nobody knows for how long. */
static bool locked_is_starting(const struct clr_worker *worker)
{
    return worker->starting || (!worker->opened && !worker->failed);
}

static bool locked_starts(const struct clr_worker *worker)
{
    return worker->starting && !worker->ended;
}

/* Waits while the condition holds, and is patient once more after each step that the driver has
   ended. */
static void locked_wait_while(struct clr_worker *worker, bool (*holds)(const struct clr_worker *),
                              int64_t timeout_ms)
{
    struct clr_patience patience;
    unsigned seen = worker->milestones;

    clr_patience_begin(&patience, timeout_ms);
    while (holds(worker) && clr_patience_wait(&patience, &worker->answered, &worker->lock)) {
        if (worker->milestones != seen)
            clr_patience_begin(&patience, timeout_ms);
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
        (*phase == PAUSED && clr_backoff_skips(&worker->pauses[operation][element]))) {
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

enum clr_readiness clr_worker_post(struct clr_worker *worker, struct clr_task *task)
{
    enum clr_readiness readiness = CLR_READY;

    pthread_mutex_lock(&worker->lock);
    locked_rouse(worker);
    if (worker->failed) {
        readiness = CLR_FAILED;
    } else if (locked_is_starting(worker) && task->kind == CLR_TASK_URGENT) {
        readiness = CLR_STARTING;
    } else {
        task->phase = CLR_TASK_PENDING;
        clr_task_queue_push(&worker->tasks[task->kind], clr_task_retain(task));
        pthread_cond_signal(&worker->work_arrived);
    }
    pthread_mutex_unlock(&worker->lock);
    return readiness;
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

const struct clr_device_info *clr_worker_info(const struct clr_worker *worker)
{
    return worker->info;
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
