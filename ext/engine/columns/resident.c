#include "engine/columns/resident.h"

#include "base/memory.h"
#include "engine/columns/resident_private.h"
#include "engine/worker/runtime.h"
#include "numeric/values/column.h"
#include "opencl/memory/resident_column.h"
#include "opencl/reduction/scan_plan.h"
#include "opencl/scan/scanner.h"

#include <string.h>

static struct clr_resident *resident_of(struct clr_task *task)
{
    return (struct clr_resident *)(void *)((char *)task - offsetof(struct clr_resident, task));
}

static void free_resident(struct clr_task *task)
{
    struct clr_resident *resident = resident_of(task);

    pthread_mutex_destroy(&resident->lock);
    clr_column_release(resident->column);
    clr_sorted_column_free(NULL, resident->sorted);
    clr_resident_column_free(NULL, resident->copy);
    clr_memory_free(resident);
}

static bool step_release(struct clr_task *task, struct clr_device *device, char **log,
                         struct clr_status *status)
{
    struct clr_resident *resident = resident_of(task);

    (void)log, (void)status;
    clr_sorted_column_free(device, resident->sorted);
    resident->sorted = NULL;
    clr_resident_column_free(device, resident->copy);
    resident->copy = NULL;
    return false;
}

/* If the worker's device has failed, the task is not taken, and what lies there is left. */
static void release_resident(struct clr_task *task)
{
    struct clr_resident *resident = resident_of(task);

    clr_task_init(task, CLR_TASK_BACKGROUND, step_release, free_resident);
    clr_worker_post(resident->worker, task);
    clr_task_release(task);
}

/* The copying: once, or once more. */
struct upload_task {
    struct clr_task task;
    struct clr_resident *resident; /* a reference */
};

static void destroy_upload(struct clr_task *task)
{
    clr_task_release(&((struct upload_task *)(void *)task)->resident->task);
    clr_memory_free(task);
}

/* The upload has failed; the resident keeps the column if it may be tried again. */
static void fail_upload(struct clr_resident *resident, bool passes)
{
    pthread_mutex_lock(&resident->lock);
    resident->pauses = passes;
    clr_backoff_fail(&resident->upload_pause);
    if (!passes) {
        clr_column_release(resident->column);
        resident->column = NULL;
    }
    atomic_store(&resident->state, CLR_RESIDENT_FAILED);
    pthread_mutex_unlock(&resident->lock);
}

static bool step_upload(struct clr_task *task, struct clr_device *device, char **log,
                        struct clr_status *status)
{
    struct clr_resident *resident = ((struct upload_task *)(void *)task)->resident;
    const bool unwanted = atomic_load(&resident->unwanted);
    bool complete = false;

    (void)log;
    if (!unwanted)
        clr_resident_column_fill(device, resident->copy, resident->column->values,
                                 resident->column->tags, &complete, status);
    if (unwanted || status->code != CLR_OK) {
        fail_upload(resident, !unwanted && status->code == CLR_NOMEM);
        return false;
    }
    if (!complete)
        return true;
    clr_column_release(resident->column);
    resident->column = NULL;
    atomic_store(&resident->state, CLR_RESIDENT_READY);
    return false;
}

/* Starts copying. Returns CLR_FAILED if the worker takes nothing any more, CLR_STARTING without
   memory. */
static enum clr_readiness post_upload(struct clr_resident *resident)
{
    struct upload_task *upload = clr_memory_alloc(sizeof *upload);
    enum clr_readiness readiness;

    if (upload == NULL)
        return CLR_STARTING;
    clr_task_init(&upload->task, CLR_TASK_BACKGROUND, step_upload, destroy_upload);
    upload->resident = resident;
    clr_task_retain(&resident->task);
    readiness = clr_worker_post(resident->worker, &upload->task);
    clr_task_release(&upload->task);
    return readiness;
}

/* Called for each asking about a copy that has failed: tries it once more if it is time. */
static void retry_upload(struct clr_resident *resident)
{
    bool is_due;

    pthread_mutex_lock(&resident->lock);
    is_due = resident->pauses && clr_backoff_ask(&resident->upload_pause);
    if (is_due) {
        resident->pauses = false;
        atomic_store(&resident->state, CLR_RESIDENT_COMING);
    }
    pthread_mutex_unlock(&resident->lock);
    if (is_due && post_upload(resident) != CLR_READY)
        fail_upload(resident, true);
}

static struct clr_resident *make(struct clr_worker *worker, uint8_t kind, size_t rows)
{
    struct clr_resident *resident = clr_memory_alloc(sizeof *resident);

    if (resident == NULL)
        return NULL;
    memset(resident, 0, sizeof *resident);
    resident->copy = clr_resident_column_new(kind, rows);
    if (resident->copy == NULL) {
        clr_memory_free(resident);
        return NULL;
    }
    resident->worker = worker;
    resident->kind = kind;
    resident->rows = rows;
    atomic_init(&resident->state, CLR_RESIDENT_COMING);
    atomic_init(&resident->unwanted, false);
    atomic_init(&resident->order, CLR_ORDER_UNWANTED);
    atomic_init(&resident->order_counted, false);
    pthread_mutex_init(&resident->lock, NULL);
    clr_task_init(&resident->task, CLR_TASK_BACKGROUND, NULL, release_resident);
    return resident;
}

struct clr_resident *clr_resident_new_open(struct clr_worker *worker, uint8_t kind)
{
    return make(worker, kind, 0);
}

struct clr_resident *clr_resident_new(struct clr_worker *worker, struct clr_column *column)
{
    struct clr_resident *resident = make(worker, column->kind, column->rows);

    if (resident == NULL)
        return NULL;
    resident->column = clr_column_retain(column);
    switch (post_upload(resident)) {
    case CLR_READY:
        return resident;
    case CLR_STARTING:
        clr_resident_free(resident);
        return NULL;
    default:
        fail_upload(resident, false);
        return resident;
    }
}

enum clr_code clr_resident_sort(struct clr_device *device, struct clr_resident *resident,
                                bool *complete, struct clr_status *status)
{
    if (clr_sorted_column_step(device, resident->sorted, resident->copy, complete, status) !=
        CLR_OK) {
        clr_sorted_column_free(status->code == CLR_DEVICE ? NULL : device, resident->sorted);
        resident->sorted = NULL;
    }
    return status->code;
}

/* In a child after fork() a worker's lock may be held for ever, and what lies on a device is the
   parent's. */
enum clr_residence clr_resident_state(struct clr_resident *resident)
{
    if (clr_runtime_forked() || clr_worker_has_failed(resident->worker))
        return CLR_RESIDENT_FAILED;
    if (atomic_load(&resident->state) == CLR_RESIDENT_FAILED)
        retry_upload(resident);
    return (enum clr_residence)atomic_load(&resident->state);
}

size_t clr_resident_size(const struct clr_resident *resident)
{
    size_t size = clr_resident_column_size(resident->kind, resident->rows);
    int order = atomic_load(&resident->order);

    if (order == CLR_ORDER_COMING || order == CLR_ORDER_READY)
        size += clr_sorted_column_size(resident->rows, order == CLR_ORDER_READY);
    return size;
}

void clr_resident_free(struct clr_resident *resident)
{
    if (resident == NULL || clr_runtime_forked())
        return;
    atomic_store(&resident->unwanted, true);
    clr_task_release(&resident->task);
}

/* A scan under way, with copies of all it needs: its caller may give it up at any time. */
struct scan_task {
    struct clr_task task;
    struct clr_worker *worker;
    struct clr_scan scan; /* its arrays are below, and have no columns */
    struct clr_resident *residents[CLR_MOST_COLUMNS]; /* NULL where it is only prepared for */
    struct clr_resident_column *copies[CLR_MOST_COLUMNS];
    uint8_t kinds[CLR_MOST_COLUMNS];
    enum clr_scan_outcome outcome;
    struct clr_device_work work;
    struct clr_instruction instructions[CLR_MOST_INSTRUCTIONS];
    struct clr_tally tallies[CLR_MOST_TALLIES];
    struct clr_scalar constants[]; /* constant_count of them */
};

static struct scan_task *scan_of(struct clr_task *task)
{
    return (struct scan_task *)(void *)((char *)task - offsetof(struct scan_task, task));
}

static void destroy_scan(struct clr_task *task)
{
    struct scan_task *scan = scan_of(task);
    int i;

    for (i = 0; i < scan->scan.column_count; i++) {
        if (scan->residents[i] != NULL)
            clr_task_release(&scan->residents[i]->task);
    }
    clr_memory_free(scan);
}

static void destroy_build(struct clr_task *task)
{
    clr_memory_free(task);
}

static bool step_build(struct clr_task *task, struct clr_device *device, char **log,
                       struct clr_status *status)
{
    (void)task;
    return clr_scanner_build(device, log, status);
}

void clr_resident_post_build(struct clr_worker *worker,
                             bool (*step)(struct clr_task *, struct clr_device *, char **,
                                          struct clr_status *))
{
    struct clr_task *task = clr_memory_alloc(sizeof *task);

    if (task == NULL)
        return;
    clr_task_init(task, CLR_TASK_BUILD, step, destroy_build);
    clr_worker_post(worker, task);
    clr_task_release(task);
}

static bool step_scan(struct clr_task *task, struct clr_device *device, char **log,
                      struct clr_status *status)
{
    struct scan_task *scan = scan_of(task);
    bool requested;

    (void)log;
    clr_scanner_run(device, &scan->scan, scan->copies, &scan->outcome, &requested, &scan->work,
                    status);
    if (status->code == CLR_OK && requested)
        clr_resident_post_build(scan->worker, step_build);
    return false;
}

static bool step_prepare(struct clr_task *task, struct clr_device *device, char **log,
                         struct clr_status *status)
{
    struct scan_task *scan = scan_of(task);
    bool ready, requested;

    (void)log;
    clr_scanner_prepare(device, &scan->scan, scan->kinds, &ready, &requested, status);
    if (status->code == CLR_OK && requested)
        clr_resident_post_build(scan->worker, step_build);
    scan->outcome = ready ? CLR_SCAN_DONE : CLR_SCAN_NOT_NOW;
    return false;
}

/* residents is NULL for a scan that is only prepared for. */
static struct scan_task *new_scan(struct clr_worker *worker, const struct clr_scan *scan,
                                  struct clr_resident *const *residents, const uint8_t *kinds)
{
    size_t constants = (size_t)scan->constant_count * sizeof *scan->constants;
    struct scan_task *task = clr_memory_alloc(sizeof *task + constants);
    int i;

    if (task == NULL)
        return NULL;
    clr_task_init(&task->task, CLR_TASK_URGENT, residents == NULL ? step_prepare : step_scan,
                  destroy_scan);
    task->worker = worker;
    task->scan = *scan;
    memset(&task->work, 0, sizeof task->work);
    for (i = 0; i < scan->instruction_count; i++)
        task->instructions[i] = scan->instructions[i];
    for (i = 0; i < scan->constant_count; i++)
        task->constants[i] = scan->constants[i];
    for (i = 0; i < scan->tally_count; i++)
        task->tallies[i] = scan->tallies[i];
    for (i = 0; i < scan->column_count; i++) {
        task->kinds[i] = kinds[i];
        task->residents[i] = residents == NULL ? NULL : residents[i];
        if (residents == NULL)
            continue;
        clr_task_retain(&residents[i]->task);
        task->copies[i] = residents[i]->copy;
    }
    task->scan.instructions = task->instructions;
    task->scan.constants = task->constants;
    task->scan.tallies = task->tallies;
    task->scan.columns = NULL;
    return task;
}

/* Asks for all programs of operations that the scan needs, and returns whether they are there:
   a device that fails their self-tests is not asked for the programs of expressions. */
static enum clr_readiness find_readiness(struct clr_worker *worker, const struct clr_scan *scan,
                                         const uint8_t *kinds)
{
    struct clr_scan_step steps[CLR_MOST_SCAN_STEPS];
    enum clr_readiness all = CLR_READY, one;
    int i, count = clr_scan_plan(scan, kinds, steps);

    for (i = 0; i < count; i++) {
        one = clr_worker_readiness(worker, steps[i].operation, steps[i].element);
        if (one == CLR_FAILED || all == CLR_READY)
            all = one;
    }
    return all;
}

enum clr_scan_outcome clr_resident_run(struct clr_worker *worker, struct clr_task *task,
                                       int64_t timeout_ms, const struct clr_watch *watch,
                                       struct clr_status *status)
{
    if (clr_worker_post(worker, task) != CLR_READY)
        return CLR_SCAN_NOT_NOW;
    switch (clr_worker_await(worker, task, timeout_ms, watch, status)) {
    case CLR_TASK_DONE:
        return CLR_SCAN_DONE;
    case CLR_TASK_PENDING:
        return CLR_SCAN_STOPPED;
    case CLR_TASK_IDLE:
        return CLR_SCAN_NOT_NOW;
    default:
        return CLR_SCAN_FAILED;
    }
}

void clr_resident_count(struct clr_device_work *work, const struct clr_device_work *done)
{
    work->kernels += done->kernels;
    work->passes += done->passes;
    work->kernel_time += done->kernel_time;
    work->transfer_time += done->transfer_time;
}

enum clr_scan_outcome clr_resident_prepare(struct clr_worker *worker, const struct clr_scan *scan,
                                           const uint8_t *kinds, int64_t timeout_ms,
                                           const struct clr_watch *watch, struct clr_status *status)
{
    enum clr_scan_outcome outcome;
    struct scan_task *task;

    if (find_readiness(worker, scan, kinds) != CLR_READY)
        return CLR_SCAN_NOT_NOW;
    task = new_scan(worker, scan, NULL, kinds);
    if (task == NULL) {
        clr_status_set(status, CLR_NOMEM, 0, "no memory for a scan");
        return CLR_SCAN_FAILED;
    }
    outcome = clr_resident_run(worker, &task->task, timeout_ms, watch, status);
    if (outcome == CLR_SCAN_DONE)
        outcome = task->outcome;
    clr_task_release(&task->task);
    return outcome;
}

enum clr_scan_outcome clr_resident_scan(struct clr_worker *worker, struct clr_scan *scan,
                                        struct clr_resident *const *residents, int64_t timeout_ms,
                                        const struct clr_watch *watch, struct clr_device_work *work,
                                        struct clr_status *status)
{
    uint8_t kinds[CLR_MOST_COLUMNS];
    enum clr_scan_outcome outcome;
    struct scan_task *task;
    int i;

    for (i = 0; i < scan->column_count; i++)
        kinds[i] = residents[i]->kind;
    if (find_readiness(worker, scan, kinds) != CLR_READY)
        return CLR_SCAN_NOT_NOW;
    task = new_scan(worker, scan, residents, kinds);
    if (task == NULL) {
        clr_status_set(status, CLR_NOMEM, 0, "no memory for a scan");
        return CLR_SCAN_FAILED;
    }
    outcome = clr_resident_run(worker, &task->task, timeout_ms, watch, status);
    if (outcome == CLR_SCAN_DONE) {
        outcome = task->outcome;
        clr_resident_count(work, &task->work);
        for (i = 0; outcome == CLR_SCAN_DONE && i < scan->tally_count; i++)
            scan->tallies[i].state = task->tallies[i].state;
    }
    clr_task_release(&task->task);
    return outcome;
}
