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

/* Whether the device has the module that the request needs. If not, the request ends, and the
   device stays in use. */
static bool has_module(struct clr_request *request, const struct clr_device *device)
{
    switch (clr_module_state(device, request->kind->module, &request->reason)) {
    case CLR_OK:
        return true;
    case CLR_NOMEM:
        request->outcome = CLR_SCAN_NOT_NOW;
        clr_build_post(request->worker, request->kind->build);
        return false;
    default:
        request->outcome = CLR_SCAN_FAILED;
        return false;
    }
}

static bool step_request(struct clr_task *task, struct clr_device *device,
                         struct clr_status *status)
{
    struct clr_request *request = clr_request_of(task);

    if (request->kind->module != NULL && !has_module(request, device))
        return false;
    return request->kind->step(task, device, status);
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

static void destroy_build(struct clr_task *task)
{
    clr_memory_free(task);
}

void clr_build_post(struct clr_worker *worker, clr_task_step *step)
{
    struct clr_task *task = clr_memory_alloc(sizeof *task);

    if (task == NULL)
        return;
    clr_task_init(task, CLR_TASK_BUILD, step, destroy_build);
    clr_worker_post(worker, task);
    clr_task_release(task);
}
