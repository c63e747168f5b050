#include "engine/operations/request.h"

#include "base/memory.h"

static void destroy_request(struct clr_task *task)
{
    struct clr_request *request = clr_request_of(task);

    if (request->kind->clear != NULL)
        request->kind->clear(task);
    if (request->held != NULL)
        clr_task_release(request->held);
    clr_memory_free(request);
}

/* A task that builds what was asked for. */
struct build {
    struct clr_task task;
    clr_build_step *build;
};

static bool step_build(struct clr_task *task, struct clr_device *device, struct clr_status *status)
{
    return ((struct build *)(void *)task)->build(device, &task->log, status);
}

static void destroy_build(struct clr_task *task)
{
    clr_memory_free(task);
}

/* Has the worker build what was asked for when there is nothing else to do. Without memory nothing
   is built: whoever needs it asks again. Two of these do no harm. */
static void post_build(struct clr_worker *worker, clr_build_step *build)
{
    struct build *made = clr_memory_alloc(sizeof *made);

    if (made == NULL)
        return;
    clr_task_init(&made->task, CLR_TASK_BUILD, step_build, destroy_build);
    made->build = build;
    clr_worker_post(worker, &made->task);
    clr_task_release(&made->task);
}

static bool step_request(struct clr_task *task, struct clr_device *device,
                         struct clr_status *status)
{
    struct clr_request *request = clr_request_of(task);
    const bool again = request->kind->step(task, device, status);

    if (request->wants_build && status->code == CLR_OK)
        post_build(request->worker, request->kind->build);
    return again;
}

void *clr_request_new(const struct clr_request_kind *kind, size_t size, struct clr_worker *worker,
                      struct clr_task *held, struct clr_status *status)
{
    struct clr_request *request = clr_memory_alloc_zero(size);

    if (request == NULL) {
        clr_status_set(status, CLR_NOMEM, 0, "no memory for %s", kind->what);
        return NULL;
    }
    clr_task_init(&request->task, kind->turn, step_request, destroy_request);
    request->kind = kind;
    request->worker = worker;
    request->held = held == NULL ? NULL : clr_task_retain(held);
    request->outcome = CLR_SCAN_DONE;
    return request;
}

enum clr_readiness clr_request_post(struct clr_request *request)
{
    const enum clr_readiness readiness = clr_worker_post(request->worker, &request->task);

    clr_request_release(request);
    return readiness;
}

enum clr_scan_outcome clr_request_begin(struct clr_request *request)
{
    return clr_worker_post(request->worker, &request->task) == CLR_READY ? CLR_SCAN_DONE
                                                                         : CLR_SCAN_NOT_NOW;
}

enum clr_scan_outcome clr_request_end(struct clr_request *request, int64_t timeout_ms,
                                      const struct clr_watch *watch, struct clr_device_work *work,
                                      struct clr_status *status)
{
    switch (clr_worker_await(request->worker, &request->task, timeout_ms, watch, status)) {
    case CLR_TASK_DONE:
        break;
    case CLR_TASK_PENDING:
        return CLR_SCAN_STOPPED;
    case CLR_TASK_IDLE:
        return CLR_SCAN_NOT_NOW;
    default:
        return CLR_SCAN_FAILED;
    }
    if (request->outcome == CLR_SCAN_FAILED)
        *status = request->reason;
    clr_device_work_add(work, &request->work);
    return request->outcome;
}
