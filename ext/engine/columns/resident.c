#include "engine/columns/resident.h"

#include "base/memory.h"
#include "engine/columns/resident_private.h"
#include "engine/operations/request.h"
#include "engine/worker/runtime.h"
#include "numeric/values/column.h"
#include "opencl/memory/resident_column.h"
#include "opencl/memory/upload.h"

/* So many bytes are sent in one step: where more have changed, the column is copied, in pieces. */
enum { CLR_RESIDENT_CHANGE = CLR_UPLOAD_PIECE };

/* Leaves a resident and its column to the end of the process: the device has failed, and nobody
   knows what it still reads. */
static void leave(struct clr_resident *resident)
{
    static _Atomic(struct clr_resident *) left;

    resident->left = atomic_load(&left);
    while (!atomic_compare_exchange_weak(&left, &resident->left, resident))
        continue;
}

/* Drops the resident that the copy was to be made of, if there is one. */
static void forget_before(struct clr_resident *resident)
{
    if (resident->before != NULL)
        clr_task_release(&resident->before->task);
    resident->before = NULL;
}

static void free_resident(struct clr_task *task)
{
    struct clr_resident *resident = clr_resident_of(task);

    pthread_mutex_destroy(&resident->lock);
    if (resident->copy != NULL && clr_resident_column_is_shared(resident->copy)) {
        leave(resident);
        return;
    }
    forget_before(resident);
    clr_column_release(resident->column);
    clr_resident_column_free(NULL, resident->copy);
    clr_memory_free(resident);
}

static bool step_release(struct clr_task *task, struct clr_device *device,
                         struct clr_status *status)
{
    struct clr_resident *resident = clr_resident_of(task);

    (void)status;
    clr_resident_column_free(device, resident->copy);
    resident->copy = NULL;
    return false;
}

/* If the worker's device has failed, the task is not taken, and what lies there is left. */
static void release_resident(struct clr_task *task)
{
    struct clr_resident *resident = clr_resident_of(task);

    clr_task_init(task, CLR_TASK_BACKGROUND, step_release, free_resident);
    clr_worker_post(resident->worker, task);
    clr_task_release(task);
}

/* The upload has failed; the resident keeps the column if it may be tried again. */
static void fail_upload(struct clr_resident *resident, bool passes)
{
    pthread_mutex_lock(&resident->lock);
    resident->pauses = passes;
    clr_backoff_failed(&resident->upload_pause, 1);
    if (!passes) {
        clr_column_release(resident->column);
        resident->column = NULL;
    }
    atomic_store(&resident->state, CLR_RESIDENT_FAILED);
    pthread_mutex_unlock(&resident->lock);
}

static atomic_int_least64_t bytes_copied;

int64_t clr_resident_copied(void)
{
    return atomic_load(&bytes_copied);
}

/* Returns what a device has of a column's rows, in whatever bytes, or of its codes: from that one
   on. */
static const void *find_rows(const struct clr_column *column, size_t first)
{
    const char *all = column->codes != NULL   ? column->codes
                      : column->words != NULL ? column->words
                                              : (const void *)column->values;

    return all == NULL ? NULL : all + first * clr_column_width(column);
}

static const uint8_t *find_tags(const struct clr_column *column, size_t first)
{
    return column->tags == NULL ? NULL : column->tags + first;
}

/* Has the device use the rows where they lie. If it can't they are copied, from now on. */
static bool share(struct clr_resident *resident, const struct clr_device *device)
{
    const struct clr_column *column = resident->column;

    if (!atomic_load(&resident->is_shared))
        return false;
    if (clr_resident_column_share(device, resident->copy, find_rows(column, resident->first),
                                  find_tags(column, resident->first)))
        return true;
    atomic_store(&resident->is_shared, false);
    return false;
}

static size_t ranges_size(const struct clr_resident *resident)
{
    size_t size = 0;
    int i;

    for (i = 0; i < resident->fresh.count; i++)
        size += clr_resident_column_size(resident->kind, resident->fresh.ranges[i].rows);
    return size;
}

/* The copying of so many bytes has ended, well or not. Returns false: it is not to be gone on
   with. */
static bool end_upload(struct clr_resident *resident, size_t bytes, const struct clr_status *status)
{
    if (status->code != CLR_OK) {
        fail_upload(resident, status->code == CLR_NOMEM);
        return false;
    }
    atomic_fetch_add(&bytes_copied, (int64_t)bytes);
    clr_column_release(resident->column);
    resident->column = NULL;
    atomic_store(&resident->state, CLR_RESIDENT_READY);
    return false;
}

/* The copying, once, or once more: of the resident that the request holds. */
static bool step_upload(struct clr_task *task, struct clr_device *device, struct clr_status *status)
{
    struct clr_resident *resident = clr_resident_of(clr_request_of(task)->held);
    const bool unwanted = atomic_load(&resident->unwanted);
    const struct clr_column *column = resident->column;
    bool complete = false;

    if (!unwanted && resident->before != NULL) {
        clr_resident_column_change(device, resident->copy, resident->before->copy,
                                   find_rows(column, 0), find_tags(column, 0), &resident->fresh,
                                   status);
        forget_before(resident);
        return end_upload(resident, ranges_size(resident), status);
    }
    forget_before(resident);
    if (!unwanted && share(resident, device)) {
        atomic_store(&resident->state, CLR_RESIDENT_READY);
        return false;
    }
    if (!unwanted) {
        column = resident->column;
        clr_resident_column_fill(device, resident->copy, find_rows(column, resident->first),
                                 find_tags(column, resident->first), &complete, status);
    }
    if (unwanted) {
        fail_upload(resident, false);
        return false;
    }
    return status->code == CLR_OK && !complete
               ? true
               : end_upload(resident, clr_resident_size(resident), status);
}

static const struct clr_request_kind upload_kind = {
    .what = "a copy of a column", .turn = CLR_TASK_BACKGROUND, .step = step_upload};

/* Starts copying. Returns CLR_FAILED if the worker takes nothing any more, CLR_STARTING without
   memory. */
static enum clr_readiness post_upload(struct clr_resident *resident)
{
    struct clr_status status;
    struct clr_request *upload =
        clr_request_new(&upload_kind, sizeof *upload, resident->worker, &resident->task, &status);

    return upload == NULL ? CLR_STARTING : clr_request_post(upload);
}

/* Called for each asking about a copy that has failed: tries it once more if it is time. */
static void retry_upload(struct clr_resident *resident)
{
    bool is_due;

    pthread_mutex_lock(&resident->lock);
    is_due = resident->pauses && !clr_backoff_skips(&resident->upload_pause);
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
    struct clr_resident *resident = clr_memory_alloc_zero(sizeof *resident);

    if (resident == NULL)
        return NULL;
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
    atomic_init(&resident->is_shared, false);
    pthread_mutex_init(&resident->lock, NULL);
    clr_task_init(&resident->task, CLR_TASK_BACKGROUND, NULL, release_resident);
    return resident;
}

/* Whether the worker's device can have the column as it is. Who changes a column with addresses has
   to be the only one that refers to it. */
static bool may_share(const struct clr_worker *worker, const struct clr_column *column)
{
    return clr_worker_info(worker)->shared_alignment > 0 && !clr_column_has_addresses(column);
}

/* Starts copying rows of the column to a new resident, which is freed if there is no memory: then
   it returns NULL, and else the resident. */
static struct clr_resident *begin_upload(struct clr_resident *resident, struct clr_column *column)
{
    resident->column = clr_column_retain(column);
    clr_resident_column_set_frame(resident->copy, &column->frame);
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

size_t clr_resident_cost(const struct clr_worker *worker, const struct clr_column *column,
                         size_t rows)
{
    return may_share(worker, column)
               ? 0
               : clr_resident_column_size(clr_column_device_kind(column), rows);
}

struct clr_resident *clr_resident_new(struct clr_worker *worker, struct clr_column *column,
                                      size_t first, size_t rows)
{
    struct clr_resident *resident = make(worker, clr_column_device_kind(column), rows);

    if (resident == NULL)
        return NULL;
    atomic_store(&resident->is_shared, may_share(worker, column));
    resident->first = first;
    return begin_upload(resident, column);
}

struct clr_resident *clr_resident_change(struct clr_resident *before, struct clr_column *column,
                                         const struct clr_row_ranges *ranges)
{
    const uint8_t kind = clr_column_device_kind(column);
    struct clr_resident *resident;

    if (clr_runtime_forked() || atomic_load(&before->state) != CLR_RESIDENT_READY ||
        clr_resident_is_shared(before) || may_share(before->worker, column) ||
        kind != before->kind || !clr_resident_column_is_like(before->copy, &column->frame))
        return NULL;
    resident = make(before->worker, kind, column->rows);
    if (resident == NULL)
        return NULL;
    resident->fresh = *ranges;
    if (ranges_size(resident) > CLR_RESIDENT_CHANGE) {
        clr_resident_free(resident);
        return NULL;
    }
    clr_task_retain(&before->task);
    resident->before = before;
    return begin_upload(resident, column);
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

bool clr_resident_has_failed(const struct clr_resident *resident)
{
    return atomic_load(&resident->state) == CLR_RESIDENT_FAILED;
}

size_t clr_resident_size(const struct clr_resident *resident)
{
    return atomic_load(&resident->is_shared) || clr_resident_has_failed(resident)
               ? 0
               : clr_resident_column_size(resident->kind, resident->rows);
}

bool clr_resident_is_shared(const struct clr_resident *resident)
{
    return atomic_load(&resident->is_shared);
}

bool clr_resident_lends(const struct clr_resident *resident)
{
    return clr_resident_is_shared(resident) && atomic_load(&resident->task.references) == 1;
}

void clr_resident_free(struct clr_resident *resident)
{
    if (resident == NULL || clr_runtime_forked())
        return;
    atomic_store(&resident->unwanted, true);
    clr_task_release(&resident->task);
}
