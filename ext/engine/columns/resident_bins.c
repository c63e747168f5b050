#include "engine/columns/resident_bins.h"

#include "base/memory.h"
#include "engine/columns/resident_private.h"
#include "numeric/bins/bin_bounds.h"
#include "opencl/bins/binner.h"
#include "opencl/bins/binner_open.h"

#include <string.h>

/* The counting, with copies of all it needs: its caller may give it up at any time. */
struct bins_task {
    struct clr_task task;
    struct clr_resident *resident; /* a reference */
    struct clr_bin_bounds bounds;
    enum clr_scan_outcome outcome;
    struct clr_status unusable; /* why the outcome is FAILED */
    struct clr_device_work work;
    uint64_t counts[];
};

static struct bins_task *bins_of(struct clr_task *task)
{
    return (struct bins_task *)(void *)task;
}

static void destroy_bins(struct clr_task *task)
{
    clr_task_release(&bins_of(task)->resident->task);
    clr_bin_bounds_clear(&bins_of(task)->bounds);
    clr_memory_free(task);
}

static bool step_build(struct clr_task *task, struct clr_device *device, char **log,
                       struct clr_status *status)
{
    (void)task;
    clr_binner_open(device, log, status);
    return false;
}

static bool step_count(struct clr_task *task, struct clr_device *device, char **log,
                       struct clr_status *status)
{
    struct bins_task *bins = bins_of(task);
    struct clr_resident *resident = bins->resident;

    (void)log;
    switch (clr_binner_state(device, &bins->unusable)) {
    case CLR_OK:
        bins->outcome = CLR_SCAN_DONE;
        clr_binner_count(device, resident->copy, &bins->bounds, bins->counts, &bins->work, status);
        break;
    case CLR_NOMEM:
        bins->outcome = CLR_SCAN_NOT_NOW;
        clr_resident_post_build(resident->worker, step_build);
        break;
    default:
        bins->outcome = CLR_SCAN_FAILED; /* no error of the task's: the device stays in use */
        break;
    }
    return false;
}

size_t clr_resident_bins_memory(const struct clr_bins *bins)
{
    return ((size_t)bins->count + 2) * sizeof(uint64_t) + clr_bin_bounds_size(bins->count);
}

static struct bins_task *new_task(struct clr_resident *resident, const struct clr_bins *bins)
{
    const size_t counts = ((size_t)bins->count + 2) * sizeof(uint64_t);
    struct bins_task *task = clr_memory_alloc(sizeof *task + counts);

    if (task == NULL)
        return NULL;
    memset(task, 0, sizeof *task + counts);
    if (!clr_bin_bounds_init(&task->bounds, bins,
                             resident->kind == CLR_TAG_REAL ? CLR_KIND_REAL : CLR_KIND_INTEGER)) {
        clr_memory_free(task);
        return NULL;
    }
    clr_task_init(&task->task, CLR_TASK_URGENT, step_count, destroy_bins);
    task->resident = resident;
    clr_task_retain(&resident->task);
    return task;
}

enum clr_scan_outcome clr_resident_bins(struct clr_worker *worker, struct clr_resident *resident,
                                        const struct clr_bins *bins, uint64_t *counts,
                                        int64_t timeout_ms, const struct clr_watch *watch,
                                        struct clr_device_work *work, struct clr_status *status)
{
    enum clr_scan_outcome outcome;
    struct bins_task *task;

    if (resident->kind != CLR_TAG_INTEGER && resident->kind != CLR_TAG_REAL) {
        clr_status_set(status, CLR_INVALID, 0, "the column is not of one type of numbers");
        return CLR_SCAN_FAILED;
    }
    if (clr_resident_state(resident) != CLR_RESIDENT_READY)
        return CLR_SCAN_NOT_NOW;
    task = new_task(resident, bins);
    if (task == NULL) {
        clr_status_set(status, CLR_NOMEM, 0, "no memory for a histogram");
        return CLR_SCAN_FAILED;
    }
    outcome = clr_resident_run(worker, &task->task, timeout_ms, watch, status);
    if (outcome == CLR_SCAN_DONE) {
        outcome = task->outcome;
        if (outcome == CLR_SCAN_FAILED)
            *status = task->unusable;
        clr_resident_count(work, &task->work);
        memcpy(counts, task->counts, ((size_t)bins->count + 2) * sizeof *counts);
    }
    clr_task_release(&task->task);
    return outcome;
}
