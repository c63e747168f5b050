#include "engine/operations/sharded_fetch.h"

#include "engine/columns/resident_private.h"
#include "engine/operations/request.h"
#include "numeric/values/column.h"

#include <string.h>

/* Values that are moved from one frame to another at once. */
enum { PIECE = 1024 };

/* The copying of the resident that the request holds, to rows of the column from that one on. The
   values go there by way of a column of their own if the shard has another frame. */
struct fetch_request {
    struct clr_request request;
    struct clr_column *column;
    struct clr_column *part; /* or NULL */
    size_t first;
    size_t done; /* bytes */
};

static void clear_fetch(struct clr_task *task)
{
    clr_column_release(((struct fetch_request *)(void *)task)->part);
    clr_column_release(((struct fetch_request *)(void *)task)->column);
}

/* A piece at a time, so that others have their turns. */
static bool step_fetch(struct clr_task *task, struct clr_device *device, struct clr_status *status)
{
    struct fetch_request *fetch = (struct fetch_request *)(void *)task;
    const struct clr_column *column = fetch->part != NULL ? fetch->part : fetch->column;
    const size_t first = fetch->part != NULL ? 0 : fetch->first;
    char *values = column->words != NULL ? column->words : (void *)column->values;
    bool complete = false;

    clr_resident_column_fetch(device, clr_resident_of(fetch->request.held)->copy,
                              values + first * clr_column_width(column),
                              fetch->column->tags + fetch->first, &fetch->done, &complete, status);
    if (complete)
        clr_resident_count_copied(fetch->done);
    return status->code == CLR_OK && !complete;
}

static const struct clr_request_kind fetch_kind = {
    .what = "a column", .turn = CLR_TASK_URGENT, .step = step_fetch, .clear = clear_fetch};

/* Returns the frame of a shard's values: where there are none on the device, that of zeros. */
static struct clr_frame frame_of(const struct clr_resident *resident)
{
    return clr_kind_has_values(clr_kind_wide(resident->kind))
               ? clr_resident_column_frame(resident->copy)
               : (struct clr_frame){.bytes = 0};
}

/* Begins a shard's. *begun is NULL unless it returns CLR_SCAN_DONE. */
static enum clr_scan_outcome begin(const struct clr_sharded *copy, int shard,
                                   struct clr_column *column, struct fetch_request **begun,
                                   struct clr_status *status)
{
    const struct clr_shard *of = &clr_sharded_division(copy)->shards[shard];
    struct clr_resident *resident = clr_sharded_resident(copy, shard);
    struct fetch_request *made =
        clr_request_new(&fetch_kind, sizeof *made, of->device.worker, &resident->task, status);
    const struct clr_frame frame = frame_of(resident);
    enum clr_scan_outcome outcome;

    *begun = NULL;
    if (made == NULL)
        return CLR_SCAN_FAILED;
    made->column = clr_column_retain(column);
    made->first = of->first;
    if (!clr_frame_is_same(&frame, &column->frame)) {
        made->part = clr_column_new_framed(of->rows, &frame);
        if (made->part == NULL) {
            clr_status_set(status, CLR_NOMEM, 0, "no memory for %s", fetch_kind.what);
            clr_request_release(&made->request);
            return CLR_SCAN_FAILED;
        }
    }
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

/* Puts the values of a shard of another frame, so many, where they belong. */
static void put_part(const struct fetch_request *fetch, size_t rows)
{
    int64_t room[PIECE];
    size_t done, count;

    for (done = 0; done < rows && fetch->part != NULL; done += count) {
        count = rows - done < PIECE ? rows - done : PIECE;
        clr_column_put_values(fetch->column, fetch->first + done,
                              clr_column_values(fetch->part, done, count, room), count);
    }
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
        if (outcome == CLR_SCAN_DONE)
            put_part(begun[s], division->shards[s].rows);
        set_tags(&division->shards[s], clr_sharded_resident(copy, s)->kind, column);
        clr_request_release(&begun[s]->request);
    }
    return outcome;
}

/* Makes a column without rows yet for those of a copy, of the frame of its shards, or one that has
   all their values. NULL without memory. */
static struct clr_column *new_column(const struct clr_sharded *copy, struct clr_status *status)
{
    const struct clr_division *division = clr_sharded_division(copy);
    const struct clr_shard *last = &division->shards[division->count - 1];
    const struct clr_resident *resident = clr_sharded_resident(copy, 0);
    struct clr_frame frame = frame_of(resident), bounds = frame;
    uint8_t kind = clr_kind_wide(resident->kind);
    struct clr_column *column;
    bool is_one = true;
    int s;

    for (s = 1; s < division->count; s++) {
        const struct clr_resident *other = clr_sharded_resident(copy, s);
        const struct clr_frame one = frame_of(other);

        is_one = is_one && clr_frame_is_same(&one, &frame);
        clr_frame_join(&bounds, &one);
        if (clr_kind_wide(other->kind) != kind)
            kind = CLR_TAG_MIXED;
    }
    frame.known_least = bounds.known_least;
    frame.known_greatest = bounds.known_greatest;
    if (!is_one)
        frame = clr_frame_choose(&bounds, 1);
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
