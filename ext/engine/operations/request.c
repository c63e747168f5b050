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

static bool step_build(struct clr_task *task, struct clr_device *device, struct clr_status *status)
{
    return clr_device_build(device, &task->log, status);
}

/* Has the worker build what was asked for when there is nothing else to do. Without memory nothing
   is built: whoever needs it asks again. Two of these do no harm. */
static void post_build(struct clr_worker *worker)
{
    struct clr_task *task = clr_memory_alloc(sizeof *task);

    if (task == NULL)
        return;
    clr_task_init(task, CLR_TASK_BUILD, step_build, NULL);
    clr_worker_post(worker, task);
    clr_task_release(task);
}

static bool step_request(struct clr_task *task, struct clr_device *device,
                         struct clr_status *status)
{
    struct clr_request *request = clr_request_of(task);
    const bool again = request->kind->step(task, device, status);

    if (request->wants_build && status->code == CLR_OK)
        post_build(request->worker);
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
