#include "engine/columns/resident_fetch.h"

#include "base/memory.h"
#include "engine/columns/resident_private.h"

#include <string.h>

/* With references of its own: its caller may give it up at any time. */
struct fetch_task {
    struct clr_task task;
    struct clr_resident *resident;
    struct clr_column *column;
    size_t done; /* bytes */
};

static struct fetch_task *fetch_of(struct clr_task *task)
{
    return (struct fetch_task *)(void *)task;
}

static void destroy_fetch(struct clr_task *task)
{
    clr_task_release(&fetch_of(task)->resident->task);
    clr_column_release(fetch_of(task)->column);
    clr_memory_free(task);
}

/* A piece at a time, so that others have their turns. */
static bool step_fetch(struct clr_task *task, struct clr_device *device, char **log,
                       struct clr_status *status)
{
    struct fetch_task *fetch = fetch_of(task);
    bool complete = false;

    (void)log;
    clr_resident_column_fetch(device, fetch->resident->copy, fetch->column->values,
                              fetch->column->tags, &fetch->done, &complete, status);
    return status->code == CLR_OK && !complete;
}

static struct fetch_task *new_fetch(struct clr_resident *resident)
{
    struct fetch_task *fetch = clr_memory_alloc(sizeof *fetch);

    if (fetch == NULL)
        return NULL;
    memset(fetch, 0, sizeof *fetch);
    fetch->column = clr_column_new(resident->rows);
    if (fetch->column == NULL) {
        clr_memory_free(fetch);
        return NULL;
    }
    fetch->column->rows = resident->rows;
    fetch->column->kind = resident->kind;
    clr_task_init(&fetch->task, CLR_TASK_URGENT, step_fetch, destroy_fetch);
    clr_task_retain(&resident->task);
    fetch->resident = resident;
    return fetch;
}

enum clr_scan_outcome clr_resident_fetch(struct clr_worker *worker, struct clr_resident *resident,
                                         int64_t timeout_ms, const struct clr_watch *watch,
                                         struct clr_column **column, struct clr_status *status)
{
    struct fetch_task *fetch;
    enum clr_scan_outcome outcome;

    if (clr_resident_state(resident) != CLR_RESIDENT_READY)
        return CLR_SCAN_NOT_NOW;
    fetch = new_fetch(resident);
    if (fetch == NULL) {
        clr_status_set(status, CLR_NOMEM, 0, "no memory for a column");
        return CLR_SCAN_FAILED;
    }
    outcome = clr_resident_run(worker, &fetch->task, timeout_ms, watch, status);
    if (outcome == CLR_SCAN_DONE)
        *column = clr_column_retain(fetch->column);
    clr_task_release(&fetch->task);
    return outcome;
}
