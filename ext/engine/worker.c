#include "engine/worker.h"

#include "base/clock.h"
#include "base/memory.h"
#include "engine/thread.h"
#include "opencl/self_test.h"

#include <pthread.h>
#include <string.h>

enum program_phase { UNREQUESTED, REQUESTED, BUILT, UNBUILDABLE };

struct clr_worker {
    const struct clr_device_info *info;
    pthread_mutex_t lock;
    pthread_cond_t work_arrived,
        answered; /* answered also tells that starting or the thread has ended */
    bool stopping, ended, failed;
    bool starting; /* the thread is opening the device, or building */
    enum program_phase programs[CLR_OPERATIONS][CLR_ELEMENTS];
    struct clr_job *first, **last; /* the queue */
    struct clr_worker_report report;
    /* Of the builds that failed. Any of them may be on its way to a user, and so none is freed. */
    char *logs[CLR_OPERATIONS][CLR_ELEMENTS];

    /* The thread's own. */
    struct clr_device *device;
    struct clr_job *in_slot[CLR_DEVICE_SLOTS];
    int oldest, busy; /* slots are used in turn */
};

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

/* The functions from here to run() are the thread's; those named locked_ need the lock. */

static void locked_end_job(struct clr_worker *worker, struct clr_job *job, enum clr_job_phase phase)
{
    if (job->abandoned) {
        clr_job_free(job);
        return;
    }
    job->phase = phase;
    pthread_cond_broadcast(&worker->answered);
}

static void locked_fail_queue(struct clr_worker *worker)
{
    while (worker->first != NULL) {
        struct clr_job *job = worker->first;
        worker->first = job->next;
        job->status = worker->report.status;
        locked_end_job(worker, job, CLR_JOB_FAILED);
    }
    worker->last = &worker->first;
}

/* From an error on, the device's queues are in an unknown state: it is never used again. */
static void locked_fail(struct clr_worker *worker, const struct clr_status *status)
{
    int i;

    worker->failed = true;
    worker->report.status = *status;
    for (i = 0; i < CLR_DEVICE_SLOTS; i++) {
        if (worker->in_slot[i] != NULL) {
            worker->in_slot[i]->status = *status;
            locked_end_job(worker, worker->in_slot[i], CLR_JOB_FAILED);
            worker->in_slot[i] = NULL;
        }
    }
    worker->busy = 0;
    locked_fail_queue(worker);
}

static void locked_begin_job(struct clr_worker *worker)
{
    int slot = (worker->oldest + worker->busy) % CLR_DEVICE_SLOTS;
    struct clr_job *job = worker->first;
    struct clr_status status;

    worker->first = job->next;
    if (worker->first == NULL)
        worker->last = &worker->first;
    job->phase = CLR_JOB_RUNNING;
    worker->in_slot[slot] = job;
    worker->busy++;
    pthread_mutex_unlock(&worker->lock);
    clr_status_clear(&status);
    clr_device_begin(worker->device, slot, job->chunk, job->elements, &status);
    pthread_mutex_lock(&worker->lock);
    if (status.code != CLR_OK)
        locked_fail(worker, &status);
}

static void locked_finish_job(struct clr_worker *worker)
{
    int slot = worker->oldest;
    struct clr_job *job = worker->in_slot[slot];
    struct clr_status status;

    pthread_mutex_unlock(&worker->lock);
    clr_status_clear(&status);
    clr_state_clear(&job->state);
    memset(&job->work, 0, sizeof job->work);
    clr_device_finish(worker->device, slot, &job->state, &job->work, &status);
    pthread_mutex_lock(&worker->lock);
    if (status.code != CLR_OK) {
        locked_fail(worker, &status);
        return;
    }
    worker->in_slot[slot] = NULL;
    worker->oldest = (slot + 1) % CLR_DEVICE_SLOTS;
    worker->busy--;
    locked_end_job(worker, job, CLR_JOB_DONE);
}

static bool locked_find_request(struct clr_worker *worker, int *operation, int *element)
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

static void locked_build(struct clr_worker *worker, int operation, int element)
{
    struct clr_status status;
    int64_t start = clr_clock_ns();
    char *log = NULL;
    bool tested = false;

    worker->starting = true;
    pthread_mutex_unlock(&worker->lock);
    clr_status_clear(&status);
    if (clr_device_build(worker->device, (enum clr_operation)operation, (enum clr_element)element,
                         &log, &status) == CLR_OK) {
        tested = true;
        clr_self_test(worker->device, (enum clr_operation)operation, (enum clr_element)element,
                      &status);
    }
    pthread_mutex_lock(&worker->lock);
    worker->starting = false;
    pthread_cond_broadcast(&worker->answered);
    worker->report.startup_time += clr_clock_ns() - start;
    if (status.code == CLR_OK) {
        worker->programs[operation][element] = BUILT;
        worker->report.ready = true;
        return;
    }
    worker->programs[operation][element] = UNBUILDABLE;
    worker->report.status = status;
    worker->logs[operation][element] = log;
    if (log != NULL)
        worker->report.build_log = log;
    /* An OpenCL error in a test's commands, unlike a wrong result, leaves the queues unknown. */
    if (tested && status.cl_error != 0)
        locked_fail(worker, &status);
}

static void *run(void *argument)
{
    struct clr_worker *worker = argument;
    struct clr_status status;
    int64_t start = clr_clock_ns();
    int operation, element;

    clr_status_clear(&status);
    clr_device_open(worker->info, &worker->device, &status);
    pthread_mutex_lock(&worker->lock);
    worker->starting = false;
    pthread_cond_broadcast(&worker->answered);
    worker->report.startup_time = clr_clock_ns() - start;
    if (status.code != CLR_OK)
        locked_fail(worker, &status);
    while (!worker->stopping) {
        if (!worker->failed && worker->first != NULL && worker->busy < CLR_DEVICE_SLOTS)
            locked_begin_job(worker);
        else if (worker->busy > 0)
            locked_finish_job(worker);
        else if (!worker->failed && locked_find_request(worker, &operation, &element))
            locked_build(worker, operation, element);
        else
            pthread_cond_wait(&worker->work_arrived, &worker->lock);
    }
    while (worker->busy > 0)
        locked_finish_job(worker);
    worker->failed = true;
    if (worker->report.status.code == CLR_OK)
        clr_status_set(&worker->report.status, CLR_DEVICE, 0, "the process is ending");
    locked_fail_queue(worker);
    worker->ended = true;
    pthread_cond_broadcast(&worker->answered);
    pthread_mutex_unlock(&worker->lock);
    return NULL;
}

/* The functions from here on are called by any thread. */

struct clr_worker *clr_worker_start(const struct clr_device_info *info, struct clr_status *status)
{
    struct clr_worker *worker = clr_memory_alloc(sizeof *worker);

    if (worker == NULL) {
        clr_status_set(status, CLR_NOMEM, 0, "no memory for a worker");
        return NULL;
    }
    memset(worker, 0, sizeof *worker);
    worker->info = info;
    worker->last = &worker->first;
    worker->starting = true;
    pthread_mutex_init(&worker->lock, NULL);
    pthread_cond_init(&worker->work_arrived, NULL);
    clr_thread_cond_init(&worker->answered);
    if (clr_thread_start(run, worker) != 0) {
        clr_status_set(status, CLR_DEVICE, 0, "no thread could be started for the device");
        clr_memory_free(worker);
        return NULL;
    }
    return worker;
}

bool clr_worker_stop(struct clr_worker *worker, int64_t timeout_ms)
{
    struct timespec deadline = clr_thread_deadline(timeout_ms);
    bool ended;

    pthread_mutex_lock(&worker->lock);
    worker->stopping = true;
    pthread_cond_broadcast(&worker->work_arrived);
    while (!worker->ended &&
           pthread_cond_timedwait(&worker->answered, &worker->lock, &deadline) == 0)
        ;
    ended = worker->ended;
    pthread_mutex_unlock(&worker->lock);
    return ended;
}

void clr_worker_rest(struct clr_worker *worker, int64_t timeout_ms)
{
    struct timespec deadline = clr_thread_deadline(timeout_ms);

    pthread_mutex_lock(&worker->lock);
    while (worker->starting && !worker->ended &&
           pthread_cond_timedwait(&worker->answered, &worker->lock, &deadline) == 0)
        ;
    pthread_mutex_unlock(&worker->lock);
}

enum clr_readiness clr_worker_readiness(struct clr_worker *worker, enum clr_operation operation,
                                        enum clr_element element)
{
    enum clr_readiness readiness = CLR_STARTING;

    pthread_mutex_lock(&worker->lock);
    if (worker->failed || worker->programs[operation][element] == UNBUILDABLE) {
        readiness = CLR_FAILED;
    } else if (worker->programs[operation][element] == BUILT) {
        readiness = CLR_READY;
    } else if (worker->programs[operation][element] == UNREQUESTED) {
        worker->programs[operation][element] = REQUESTED;
        pthread_cond_signal(&worker->work_arrived);
    }
    pthread_mutex_unlock(&worker->lock);
    return readiness;
}

void clr_worker_submit(struct clr_worker *worker, struct clr_job *job)
{
    pthread_mutex_lock(&worker->lock);
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

enum clr_job_phase clr_worker_collect(struct clr_worker *worker, struct clr_job *job,
                                      int64_t timeout_ms)
{
    enum clr_job_phase phase;
    struct timespec deadline;
    int error = 0;

    pthread_mutex_lock(&worker->lock);
    if (job->phase == CLR_JOB_QUEUED) {
        locked_remove(worker, job);
        job->phase = CLR_JOB_IDLE;
    } else if (job->phase == CLR_JOB_RUNNING) {
        deadline = clr_thread_deadline(timeout_ms);
        while (job->phase == CLR_JOB_RUNNING && error == 0)
            error = pthread_cond_timedwait(&worker->answered, &worker->lock, &deadline);
        if (job->phase == CLR_JOB_RUNNING && !worker->failed) {
            worker->failed = true;
            clr_status_set(&worker->report.status, CLR_DEVICE, 0,
                           "the device did not answer within %lld ms", (long long)timeout_ms);
            locked_fail_queue(worker);
        }
    }
    phase = job->phase;
    pthread_mutex_unlock(&worker->lock);
    return phase;
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
