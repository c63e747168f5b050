#include "engine/columns/copies.h"

#include "base/backoff.h"
#include "base/clock.h"
#include "base/memory.h"
#include "engine/operations/request.h"
#include "engine/worker/team.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

/* ---- The division of rows. */

/* Shards begin at multiples of so many rows. */
enum { STEP = 1024 };

/* Returns where part i of count begins, of so many rows from `first` on. */
static size_t find_start(size_t first, size_t rows, size_t i, size_t count)
{
    const size_t steps = (rows + STEP - 1) / STEP;
    const size_t start = steps / count * i + steps % count * i / count;

    return first + (start * STEP < rows ? start * STEP : rows);
}

/* Returns into how many shards a device's rows are cut. */
static size_t count_cuts(const struct clr_device_info *info, size_t rows)
{
    const size_t steps = (rows + STEP - 1) / STEP;
    const uint64_t most = info->largest_buffer / (STEP * sizeof(int64_t));

    return most == 0 || steps <= most ? 1 : (size_t)((steps + most - 1) / most);
}

static bool add(struct clr_division *division, const struct clr_chosen_device *device, size_t first,
                size_t end)
{
    const size_t cuts = count_cuts(device->info, end - first);
    size_t i;

    for (i = 0; i < cuts; i++) {
        const size_t start = find_start(first, end - first, i, cuts);
        const size_t rows = find_start(first, end - first, i + 1, cuts) - start;

        if (division->count == CLR_MOST_SHARDS)
            return false;
        division->shards[division->count++] = (struct clr_shard){*device, start, rows};
    }
    return true;
}

bool clr_division_make(const struct clr_devices *devices, size_t rows,
                       struct clr_division *division)
{
    const size_t steps = (rows + STEP - 1) / STEP;
    size_t count = (size_t)devices->count, i;

    if (count > steps)
        count = steps > 0 ? steps : 1;
    division->count = 0;
    for (i = 0; i < count; i++) {
        if (!add(division, &devices->list[i], find_start(0, rows, i, count),
                 find_start(0, rows, i + 1, count)))
            return false;
    }
    return true;
}

/* Whether the shards of both have the same devices and first rows. */
static bool begin_alike(const struct clr_division *a, const struct clr_division *b)
{
    int i;

    for (i = 0; i < a->count && i < b->count; i++)
        if (a->shards[i].device.worker != b->shards[i].device.worker ||
            a->shards[i].first != b->shards[i].first)
            return false;
    return a->count == b->count;
}

bool clr_division_is_same(const struct clr_division *a, const struct clr_division *b)
{
    const int last = a->count - 1;

    return begin_alike(a, b) && (last < 0 || a->shards[last].rows == b->shards[last].rows);
}

bool clr_division_begins_device(const struct clr_division *division, int shard)
{
    return shard == 0 ||
           division->shards[shard].device.worker != division->shards[shard - 1].device.worker;
}

/* Returns the devices that have shards. */
static struct clr_devices devices_of(const struct clr_division *division)
{
    struct clr_devices devices = {.count = 0};
    int i;

    for (i = 0; i < division->count; i++)
        if (clr_division_begins_device(division, i))
            devices.list[devices.count++] = division->shards[i].device;
    return devices;
}

int clr_division_devices(const struct clr_division *division)
{
    return devices_of(division).count;
}

/* ---- The copy of a shard. */

/* So many bytes are sent in one step: where more have changed, the column is copied, in pieces. */
enum { MOST_CHANGED = CLR_UPLOAD_PIECE };

/*
 * It is, when the last reference is dropped, the task of its release, since the worker alone may
 * free what lies on the device. Its owner has a reference, and so has every task that works on it,
 * even if nobody waits for it any more.
 */
struct resident {
    struct clr_resident shown;
    struct clr_worker *worker;
    struct clr_column
        *column;           /* until it is on the device, or can't be any more; always if shared */
    atomic_bool is_shared; /* the copy is the column itself, or is to be */
    size_t first;          /* row of the column that it begins with */
    /* Another one, with a reference, of which the copy is to be made, and the rows that are not as
       there; or NULL. */
    struct resident *before;
    struct clr_row_ranges fresh;
    bool is_change; /* there was one */
    size_t rows;
    atomic_int state;     /* enum clr_residence */
    atomic_bool unwanted; /* its owner has given it up */
    /* What failed for a time, and when that is to be tried again: under the lock. */
    pthread_mutex_t lock;
    bool pauses; /* the upload: it has FAILED, and may be tried again */
    struct clr_backoff upload_pause;
    struct resident *left; /* another one that is left to the end of the process */
};

static struct resident *resident_of(struct clr_task *task)
{
    return (struct resident *)(void *)task;
}

/* Leaves a resident and its column to the end of the process: the device has failed, and nobody
   knows what it still reads. */
static void leave(struct resident *resident)
{
    static _Atomic(struct resident *) left;

    resident->left = atomic_load(&left);
    while (!atomic_compare_exchange_weak(&left, &resident->left, resident))
        continue;
}

/* Drops the resident that the copy was to be made of, if there is one. */
static void forget_before(struct resident *resident)
{
    if (resident->before != NULL)
        clr_task_release(&resident->before->shown.task);
    resident->before = NULL;
}

static void free_resident(struct clr_task *task)
{
    struct resident *resident = resident_of(task);

    pthread_mutex_destroy(&resident->lock);
    if (resident->shown.copy != NULL && resident->shown.copy->is_shared) {
        leave(resident);
        return;
    }
    forget_before(resident);
    clr_column_release(resident->column);
    clr_resident_column_free(NULL, resident->shown.copy);
    clr_memory_free(resident);
}

static bool step_release(struct clr_task *task, struct clr_device *device,
                         struct clr_status *status)
{
    struct resident *resident = resident_of(task);

    (void)status;
    clr_resident_column_free(device, resident->shown.copy);
    resident->shown.copy = NULL;
    return false;
}

/* If the worker's device has failed, the task is not taken, and what lies there is left. */
static void release_resident(struct clr_task *task)
{
    struct resident *resident = resident_of(task);

    clr_task_init(task, CLR_TASK_BACKGROUND, step_release, free_resident);
    clr_worker_post(resident->worker, task);
    clr_task_release(task);
}

/* The upload has failed; the resident keeps the column if it may be tried again. */
static void fail_upload(struct resident *resident, bool passes)
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

int64_t clr_copies_sent(void)
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
static bool share(struct resident *resident, const struct clr_device *device)
{
    const struct clr_column *column = resident->column;

    if (!atomic_load(&resident->is_shared))
        return false;
    if (clr_resident_column_share(device, resident->shown.copy, find_rows(column, resident->first),
                                  find_tags(column, resident->first)))
        return true;
    atomic_store(&resident->is_shared, false);
    return false;
}

static size_t ranges_size(const struct resident *resident)
{
    size_t size = 0;
    int i;

    for (i = 0; i < resident->fresh.count; i++)
        size += clr_resident_column_size(resident->shown.kind, resident->fresh.ranges[i].rows);
    return size;
}

static bool has_failed(const struct resident *resident)
{
    return atomic_load(&resident->state) == CLR_RESIDENT_FAILED;
}

/* Returns the bytes of device memory that it takes. */
static size_t size_of(const struct resident *resident)
{
    return atomic_load(&resident->is_shared) || has_failed(resident)
               ? 0
               : clr_resident_column_size(resident->shown.kind, resident->rows);
}

/* The copying of so many bytes has ended, well or not. Returns false: it is not to be gone on
   with. */
static bool end_upload(struct resident *resident, size_t bytes, const struct clr_status *status)
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

/* One processor copies six bytes in a nanosecond, and fewer beside others; a bus takes fifty. More
   threads have to wait for the memory, which copies to several devices share. */
enum { MOST_COPYING = 8, COPIED_AT_ONCE = 1 << 20 };

static atomic_int copies_under_way;

struct copying {
    char *target;
    const char *source;
    size_t size;
    int count; /* threads */
};

static void copy_part(void *argument, int i, const atomic_bool *stop)
{
    const struct copying *copying = argument;
    const size_t first = copying->size * (size_t)i / (size_t)copying->count;
    const size_t last = copying->size * ((size_t)i + 1) / (size_t)copying->count;

    (void)stop;
    memcpy(copying->target + first, copying->source + first, last - first);
}

static void copy_by_threads(void *target, const void *source, size_t size)
{
    struct copying copying = {target, source, size, clr_team_size()};
    const int most = MOST_COPYING / (atomic_fetch_add(&copies_under_way, 1) + 1);

    if (copying.count > most)
        copying.count = most > 0 ? most : 1;
    if ((size_t)copying.count > size / COPIED_AT_ONCE + 1)
        copying.count = (int)(size / COPIED_AT_ONCE + 1);
    clr_team_run(copying.count, copy_part, &copying, NULL);
    atomic_fetch_sub(&copies_under_way, 1);
}

/* The copying, once, or once more: of the resident that the request holds. */
static bool step_upload(struct clr_task *task, struct clr_device *device, struct clr_status *status)
{
    struct resident *resident = resident_of(clr_request_of(task)->held);
    const bool unwanted = atomic_load(&resident->unwanted);
    const struct clr_column *column = resident->column;
    bool complete = false;

    if (!unwanted && resident->before != NULL) {
        /* What its owner has given up, and no task works on, nobody else can get at. */
        const bool may_take = atomic_load(&resident->before->shown.task.references) == 1;

        clr_resident_column_change(device, resident->shown.copy, resident->before->shown.copy,
                                   may_take, find_rows(column, resident->first),
                                   find_tags(column, resident->first), &resident->fresh, status);
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
        clr_resident_column_fill(device, resident->shown.copy, find_rows(column, resident->first),
                                 find_tags(column, resident->first), copy_by_threads, &complete,
                                 status);
    }
    if (unwanted) {
        fail_upload(resident, false);
        return false;
    }
    return status->code == CLR_OK && !complete ? true
                                               : end_upload(resident, size_of(resident), status);
}

static const struct clr_request_kind upload_kind = {
    .what = "a copy of a column", .turn = CLR_TASK_BACKGROUND, .step = step_upload};

/* Starts copying. Returns CLR_FAILED if the worker takes nothing any more, CLR_STARTING without
   memory. */
static enum clr_readiness post_upload(struct resident *resident)
{
    enum clr_readiness readiness;
    struct clr_status status;
    struct clr_request *upload = clr_request_new(&upload_kind, sizeof *upload, resident->worker,
                                                 &resident->shown.task, &status);

    if (upload == NULL)
        return CLR_STARTING;
    readiness = clr_worker_post(resident->worker, &upload->task);
    clr_request_release(upload);
    return readiness;
}

/* Called for each asking about a copy that has failed: tries it once more if it is time. */
static void retry_upload(struct resident *resident)
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

static struct resident *make(struct clr_worker *worker, uint8_t kind, size_t rows)
{
    struct resident *resident = clr_memory_alloc_zero(sizeof *resident);

    if (resident == NULL)
        return NULL;
    resident->shown.copy = clr_resident_column_new(kind, rows);
    if (resident->shown.copy == NULL) {
        clr_memory_free(resident);
        return NULL;
    }
    resident->worker = worker;
    resident->shown.kind = kind;
    resident->rows = rows;
    atomic_init(&resident->state, CLR_RESIDENT_COMING);
    atomic_init(&resident->unwanted, false);
    atomic_init(&resident->is_shared, false);
    pthread_mutex_init(&resident->lock, NULL);
    clr_task_init(&resident->shown.task, CLR_TASK_BACKGROUND, NULL, release_resident);
    return resident;
}

/* Whether the worker's device can have the column as it is. Who changes a column with addresses has
   to be the only one that refers to it. */
static bool may_share(const struct clr_worker *worker, const struct clr_column *column)
{
    return clr_worker_info(worker)->shared_alignment > 0 && !clr_column_has_addresses(column);
}

/* For the owner: gives the device's memory back, once nobody uses it, and the object. Never waits.
   NULL is fine. */
static void give_back(struct resident *resident)
{
    if (resident == NULL || clr_runtime_forked())
        return;
    atomic_store(&resident->unwanted, true);
    clr_task_release(&resident->shown.task);
}

/* Starts copying rows of the column to a new resident, which is freed if there is no memory: then
   it returns NULL, and else the resident. */
static struct resident *begin_upload(struct resident *resident, struct clr_column *column)
{
    resident->column = clr_column_retain(column);
    clr_resident_column_set_frame(resident->shown.copy, &column->frame);
    switch (post_upload(resident)) {
    case CLR_READY:
        return resident;
    case CLR_STARTING:
        give_back(resident);
        return NULL;
    default:
        fail_upload(resident, false);
        return resident;
    }
}

/* Starts copying a shard's rows, their values or their codes. NULL without memory. */
static struct resident *bring(const struct clr_shard *shard, struct clr_column *column)
{
    struct resident *resident =
        make(shard->device.worker, clr_column_device_kind(column), shard->rows);

    if (resident == NULL)
        return NULL;
    atomic_store(&resident->is_shared, may_share(shard->device.worker, column));
    resident->first = shard->first;
    return begin_upload(resident, column);
}

/* Whether a column's values are kept as those of that frame are on devices, for columns of one
   kind. */
static bool is_like(const struct clr_resident_column *column, const struct clr_frame *frame)
{
    const struct clr_frame *own = &column->frame;

    return own->bytes == 0 || (own->least == frame->least && own->power == frame->power);
}

/* Returns those of the rows that a shard has, by their numbers in it. */
static struct clr_row_ranges cut_ranges(const struct clr_row_ranges *ranges,
                                        const struct clr_shard *shard)
{
    struct clr_row_ranges found = {.count = 0};
    int i;

    for (i = 0; i < ranges->count; i++) {
        const struct clr_row_range *range = &ranges->ranges[i];
        const size_t first = range->first > shard->first ? range->first : shard->first;
        const size_t end = range->first + range->rows, last = shard->first + shard->rows;

        if (first < end && first < last)
            found.ranges[found.count++] =
                (struct clr_row_range){first - shard->first, (end < last ? end : last) - first};
    }
    return found;
}

/* Starts making the copy of a column's shard from that of another one's, as clr_sharded_change()
   does. */
static struct resident *change(struct resident *before, const struct clr_shard *shard,
                               struct clr_column *column, const struct clr_row_ranges *ranges)
{
    const uint8_t kind = clr_column_device_kind(column);
    struct resident *resident;

    if (clr_runtime_forked() || atomic_load(&before->state) != CLR_RESIDENT_READY ||
        atomic_load(&before->is_shared) || may_share(before->worker, column) ||
        kind != before->shown.kind || !is_like(before->shown.copy, &column->frame))
        return NULL;
    resident = make(before->worker, kind, shard->rows);
    if (resident == NULL)
        return NULL;
    resident->first = shard->first;
    resident->fresh = cut_ranges(ranges, shard);
    if (ranges_size(resident) > MOST_CHANGED) {
        give_back(resident);
        return NULL;
    }
    clr_task_retain(&before->shown.task);
    resident->before = before;
    resident->is_change = true;
    return begin_upload(resident, column);
}

/* In a child after fork() a worker's lock may be held for ever, and what lies on a device is the
   parent's. */
static enum clr_residence state_of(struct resident *resident)
{
    if (clr_runtime_forked() || clr_worker_has_failed(resident->worker))
        return CLR_RESIDENT_FAILED;
    if (has_failed(resident))
        retry_upload(resident);
    return (enum clr_residence)atomic_load(&resident->state);
}

/* ---- The copy of a column. */

struct clr_sharded {
    atomic_int references;
    struct clr_division division;
    struct resident *residents[];
};

static struct clr_sharded *new_sharded(const struct clr_division *division)
{
    struct clr_sharded *sharded = clr_memory_alloc_zero(
        sizeof *sharded + (size_t)division->count * sizeof(struct resident *));

    if (sharded == NULL)
        return NULL;
    atomic_init(&sharded->references, 1);
    sharded->division = *division;
    return sharded;
}

struct clr_sharded *clr_sharded_new(const struct clr_division *division, struct clr_column *column)
{
    struct clr_sharded *sharded = new_sharded(division);
    int i;

    for (i = 0; sharded != NULL && i < division->count; i++) {
        sharded->residents[i] = bring(&division->shards[i], column);
        if (sharded->residents[i] == NULL) {
            clr_sharded_release(sharded);
            return NULL;
        }
    }
    return sharded;
}

struct clr_sharded *clr_sharded_change(const struct clr_sharded *before, struct clr_column *column,
                                       const struct clr_row_ranges *ranges)
{
    const struct clr_devices devices = devices_of(&before->division);
    struct clr_division division;
    struct clr_sharded *sharded;
    int i;

    if (!clr_division_make(&devices, column->rows, &division) ||
        !begin_alike(&division, &before->division))
        return NULL;
    sharded = new_sharded(&division);
    for (i = 0; sharded != NULL && i < division.count; i++) {
        sharded->residents[i] = change(before->residents[i], &division.shards[i], column, ranges);
        if (sharded->residents[i] == NULL) {
            clr_sharded_release(sharded);
            return NULL;
        }
    }
    return sharded;
}

struct clr_sharded *clr_sharded_retain(struct clr_sharded *sharded)
{
    if (sharded != NULL)
        atomic_fetch_add(&sharded->references, 1);
    return sharded;
}

void clr_sharded_release(struct clr_sharded *sharded)
{
    int i;

    if (sharded == NULL || atomic_fetch_sub(&sharded->references, 1) > 1)
        return;
    for (i = 0; i < sharded->division.count; i++)
        give_back(sharded->residents[i]);
    clr_memory_free(sharded);
}

const struct clr_division *clr_sharded_division(const struct clr_sharded *sharded)
{
    return &sharded->division;
}

struct clr_resident *clr_sharded_resident(const struct clr_sharded *sharded, int shard)
{
    return &sharded->residents[shard]->shown;
}

enum clr_residence clr_sharded_state(const struct clr_sharded *sharded)
{
    enum clr_residence all = CLR_RESIDENT_READY, one;
    int i;

    /* Of all of them, as those that have failed are tried again by being asked. */
    for (i = 0; i < sharded->division.count; i++) {
        one = state_of(sharded->residents[i]);
        if (one == CLR_RESIDENT_FAILED || all == CLR_RESIDENT_READY)
            all = one;
    }
    return all;
}

bool clr_sharded_await_change(const struct clr_sharded *sharded, int64_t end)
{
    int i;

    for (i = 0; i < sharded->division.count; i++) {
        const struct resident *resident = sharded->residents[i];

        while (resident->is_change && atomic_load(&resident->state) == CLR_RESIDENT_COMING &&
               clr_clock_ns() < end)
            sched_yield();
    }
    return clr_sharded_state(sharded) == CLR_RESIDENT_READY;
}

bool clr_sharded_has_failed(const struct clr_sharded *sharded)
{
    int i = 0;

    while (i < sharded->division.count && !has_failed(sharded->residents[i]))
        i++;
    return i < sharded->division.count;
}

bool clr_sharded_is_lost(const struct clr_sharded *sharded)
{
    int i = 0;

    if (clr_runtime_forked())
        return true;
    while (i < sharded->division.count && !clr_worker_has_failed(sharded->residents[i]->worker))
        i++;
    return i < sharded->division.count;
}

bool clr_sharded_is_shared(const struct clr_sharded *sharded)
{
    int i = 0;

    while (i < sharded->division.count && atomic_load(&sharded->residents[i]->is_shared))
        i++;
    return i == sharded->division.count;
}

bool clr_sharded_lends(const struct clr_sharded *sharded)
{
    return atomic_load(&sharded->references) == 1 && sharded->division.count == 1 &&
           atomic_load(&sharded->residents[0]->is_shared) &&
           atomic_load(&sharded->residents[0]->shown.task.references) == 1;
}

size_t clr_sharded_size(const struct clr_sharded *sharded, const struct clr_worker *worker)
{
    size_t size = 0;
    int i;

    for (i = 0; i < sharded->division.count; i++) {
        if (worker == NULL || sharded->residents[i]->worker == worker)
            size += size_of(sharded->residents[i]);
    }
    return size;
}

size_t clr_sharded_cost(const struct clr_division *division, const struct clr_column *column,
                        const struct clr_worker *worker)
{
    size_t rows = 0;
    int i;

    for (i = 0; i < division->count; i++) {
        if (division->shards[i].device.worker == worker)
            rows += division->shards[i].rows;
    }
    return may_share(worker, column)
               ? 0
               : clr_resident_column_size(clr_column_device_kind(column), rows);
}
