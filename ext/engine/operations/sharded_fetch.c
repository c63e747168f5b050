#include "engine/operations/sharded_fetch.h"

#include "engine/columns/resident_private.h"
#include "engine/operations/request.h"
#include "numeric/values/column.h"

#include <string.h>

/* The copying of the resident that the request holds, to rows of the column from that one on. */
struct fetch_request {
    struct clr_request request;
    struct clr_column *column;
    size_t first;
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
    const struct clr_column *column = fetch->column;
    char *values = column->words != NULL ? column->words : (void *)column->values;
    bool complete = false;

    clr_resident_column_fetch(device, clr_resident_of(fetch->request.held)->copy,
                              values + fetch->first * clr_column_width(column),
                              column->tags + fetch->first, &fetch->done, &complete, status);
    if (complete)
        clr_resident_count_copied(fetch->done);
    return status->code == CLR_OK && !complete;
}

static const struct clr_request_kind fetch_kind = {
    .what = "a column", .turn = CLR_TASK_URGENT, .step = step_fetch, .clear = clear_fetch};

/* Begins a shard's. *begun is NULL unless it returns CLR_SCAN_DONE. */
static enum clr_scan_outcome begin(const struct clr_sharded *copy, int shard,
                                   struct clr_column *column, struct fetch_request **begun,
                                   struct clr_status *status)
{
    const struct clr_shard *of = &clr_sharded_division(copy)->shards[shard];
    struct fetch_request *made = clr_request_new(&fetch_kind, sizeof *made, of->device.worker,
                                                 &clr_sharded_resident(copy, shard)->task, status);
    enum clr_scan_outcome outcome;

    *begun = NULL;
    if (made == NULL)
        return CLR_SCAN_FAILED;
    made->column = clr_column_retain(column);
    made->first = of->first;
    outcome = clr_request_begin(&made->request);
    if (outcome == CLR_SCAN_DONE)
        *begun = made;
    else
        clr_request_release(&made->request);
    return outcome;
}

/* Has the rows of a shard of one kind, in a column of several, all have its tag. */
static void set_tags(const struct clr_shard *shard, uint8_t kind, struct clr_column *column)
{
    if (column->kind == CLR_TAG_MIXED && clr_kind_wide(kind) != CLR_TAG_MIXED)
        memset(column->tags + shard->first, clr_kind_wide(kind), shard->rows);
}

static enum clr_scan_outcome fetch_all(const struct clr_sharded *copy, int64_t timeout_ms,
                                       const struct clr_watch *watch, struct clr_column *column,
                                       struct clr_status *status)
{
    const struct clr_division *division = clr_sharded_division(copy);
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    struct fetch_request *begun[CLR_MOST_SHARDS];
    struct clr_device_work work = {0};
    int s;

    for (s = 0; s < division->count; s++) {
        begun[s] = NULL;
        if (outcome == CLR_SCAN_DONE)
            outcome = begin(copy, s, column, &begun[s], status);
    }
    for (s = 0; s < division->count; s++) {
        if (begun[s] == NULL)
            continue;
        if (outcome == CLR_SCAN_DONE)
            outcome = clr_request_end(&begun[s]->request, timeout_ms, watch, &work, status);
        set_tags(&division->shards[s], clr_sharded_resident(copy, s)->kind, column);
        clr_request_release(&begun[s]->request);
    }
    return outcome;
}

/* Makes a column without rows yet for those of a copy. NULL without memory, and if shards are of
   several frames. */
static struct clr_column *new_column(const struct clr_sharded *copy, struct clr_status *status)
{
    const struct clr_division *division = clr_sharded_division(copy);
    const struct clr_shard *last = &division->shards[division->count - 1];
    const struct clr_resident *resident = clr_sharded_resident(copy, 0);
    const struct clr_frame frame = clr_resident_column_frame(resident->copy);
    uint8_t kind = clr_kind_wide(resident->kind);
    struct clr_column *column;
    int s;

    for (s = 1; s < division->count; s++) {
        const struct clr_resident *other = clr_sharded_resident(copy, s);
        const struct clr_frame one = clr_resident_column_frame(other->copy);

        if (one.bytes != frame.bytes || one.least != frame.least) {
            clr_status_set(status, CLR_INVALID, 0, "%s: shards of several frames", fetch_kind.what);
            return NULL;
        }
        if (clr_kind_wide(other->kind) != kind)
            kind = CLR_TAG_MIXED;
    }
    column = clr_column_new_framed(last->first + last->rows, &frame);
    if (column == NULL) {
        clr_status_set(status, CLR_NOMEM, 0, "no memory for %s", fetch_kind.what);
        return NULL;
    }
    column->rows = last->first + last->rows;
    column->kind = kind;
    return column;
}

enum clr_scan_outcome clr_sharded_fetch(const struct clr_sharded *copy, int64_t timeout_ms,
                                        const struct clr_watch *watch, struct clr_column **column,
                                        struct clr_status *status)
{
    enum clr_scan_outcome outcome;
    struct clr_column *made;

    if (clr_sharded_state(copy) != CLR_RESIDENT_READY)
        return CLR_SCAN_NOT_NOW;
    made = new_column(copy, status);
    if (made == NULL)
        return CLR_SCAN_FAILED;
    outcome = fetch_all(copy, timeout_ms, watch, made, status);
    if (outcome == CLR_SCAN_DONE)
        *column = made;
    else
        clr_column_release(made);
    return outcome;
}
