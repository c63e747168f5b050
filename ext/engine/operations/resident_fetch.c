#include "engine/operations/resident_fetch.h"

#include "engine/columns/resident_private.h"
#include "engine/operations/request.h"
#include "numeric/values/column.h"

/* The copying of the resident that the request holds. */
struct fetch_request {
    struct clr_request request;
    struct clr_column *column;
    size_t done; /* bytes */
};

static void clear_fetch(struct clr_task *task)
{
    clr_column_release(((struct fetch_request *)(void *)task)->column);
}

/* A piece at a time, so that others have their turns. */
static bool step_fetch(struct clr_task *task, struct clr_device *device, struct clr_status *status)
{
    struct fetch_request *fetch = (struct fetch_request *)(void *)task;
    struct clr_column *column = fetch->column;
    bool complete = false;

    clr_resident_column_fetch(device, clr_resident_of(fetch->request.held)->copy,
                              column->words != NULL ? column->words : column->values, column->tags,
                              &fetch->done, &complete, status);
    if (complete)
        clr_resident_count_copied(fetch->done);
    return status->code == CLR_OK && !complete;
}

static const struct clr_request_kind fetch_kind = {
    .what = "a column", .turn = CLR_TASK_URGENT, .step = step_fetch, .clear = clear_fetch};

enum clr_scan_outcome clr_resident_fetch(struct clr_worker *worker, struct clr_resident *resident,
                                         int64_t timeout_ms, const struct clr_watch *watch,
                                         struct clr_column **column, struct clr_status *status)
{
    enum clr_scan_outcome outcome = CLR_SCAN_FAILED;
    struct clr_device_work work = {0};
    struct fetch_request *fetch;
    struct clr_frame frame;

    if (clr_resident_state(resident) != CLR_RESIDENT_READY)
        return CLR_SCAN_NOT_NOW;
    fetch = clr_request_new(&fetch_kind, sizeof *fetch, worker, &resident->task, status);
    if (fetch == NULL)
        return CLR_SCAN_FAILED;
    frame = clr_resident_column_frame(resident->copy);
    fetch->column = clr_column_new_framed(resident->rows, &frame);
    if (fetch->column != NULL) {
        fetch->column->rows = resident->rows;
        fetch->column->kind = clr_kind_wide(resident->kind);
        outcome = clr_request_run(&fetch->request, timeout_ms, watch, &work, status);
    } else {
        clr_status_set(status, CLR_NOMEM, 0, "no memory for %s", fetch_kind.what);
    }
    if (outcome == CLR_SCAN_DONE)
        *column = clr_column_retain(fetch->column);
    clr_request_release(&fetch->request);
    return outcome;
}
