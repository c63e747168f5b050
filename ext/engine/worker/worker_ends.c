/* How a worker's jobs and tasks end, and the use of its device. */
#include "engine/worker/worker_private.h"

void clr_worker_locked_end_job(struct clr_worker *worker, struct clr_job *job,
                               enum clr_job_phase phase)
{
    if (job->abandoned) {
        clr_job_free(job);
        return;
    }
    job->phase = phase;
    pthread_cond_broadcast(&worker->answered);
}

void clr_worker_locked_end_task(struct clr_worker *worker, struct clr_task *task,
                                enum clr_task_phase phase, const struct clr_status *status)
{
    task->status = *status;
    task->phase = phase;
    clr_task_queue_push(&worker->over, task);
    pthread_cond_broadcast(&task->changed);
}

void clr_worker_locked_fail_queue(struct clr_worker *worker)
{
    struct clr_task *task;
    int kind;

    while ((task = clr_task_queue_pop(&worker->under_way)) != NULL)
        clr_worker_locked_end_task(worker, task, CLR_TASK_FAILED, &worker->report.status);
    worker->under_way_count = 0;
    for (kind = 0; kind < CLR_TASK_KINDS; kind++) {
        while ((task = clr_task_queue_pop(&worker->tasks[kind])) != NULL)
            clr_worker_locked_end_task(worker, task, CLR_TASK_FAILED, &worker->report.status);
    }
    while (worker->first != NULL) {
        struct clr_job *job = worker->first;
        worker->first = job->next;
        job->status = worker->report.status;
        clr_worker_locked_end_job(worker, job, CLR_JOB_FAILED);
    }
    worker->last = &worker->first;
}

void clr_worker_locked_fail_job(struct clr_worker *worker, int slot,
                                const struct clr_status *status)
{
    struct clr_job *job = worker->in_slot[slot];

    worker->in_slot[slot] = NULL;
    worker->report.status = *status;
    job->status = *status;
    clr_worker_locked_end_job(worker, job, CLR_JOB_FAILED);
}

void clr_worker_locked_fail(struct clr_worker *worker, const struct clr_status *status)
{
    int i;

    worker->failed = true;
    worker->report.status = *status;
    for (i = 0; i < CLR_REDUCER_SLOTS; i++) {
        if (worker->in_slot[i] != NULL)
            clr_worker_locked_fail_job(worker, i, status);
    }
    worker->busy = 0;
    clr_worker_locked_fail_queue(worker);
}

bool clr_worker_locked_is_lost(struct clr_worker *worker, struct clr_status *status)
{
    if (status->code == CLR_NOMEM && status->error != 0 &&
        ++worker->shortages == CLR_MOST_SHORTAGES)
        status->code = CLR_DEVICE;
    return status->code == CLR_DEVICE;
}
