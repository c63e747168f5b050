#include "engine/rows/fed_order.h"

#include "engine/columns/resident_private.h"
#include "engine/operations/request.h"
#include "engine/rows/choice.h"
#include "engine/worker/runtime.h"
#include "numeric/values/column.h"
#include "opencl/sort/sorter.h"

#include <string.h>

/* A column takes up to three times its values' size while it grows, and then two sorted copies: so
   many numbers must have room in a device's memory for each that is sent, for these and others. */
enum { MEMORY_SHARE = 16 };

/*
 * The numbers on the device, and the request that sorts them. It belongs to whoever feeds it and to
 * each request that works on it.
 */
struct clr_ordering {
    struct clr_request request;
    struct clr_resident *resident; /* a reference; the worker appends to its copy */
    uint64_t most;                 /* numbers that may be sent */
    int64_t blocks;                /* that were sent */
    atomic_bool can_sort;          /* the kernels are there */
    atomic_bool failed;            /* not all numbers are there, for this reason: */
    struct clr_status failure;
    /* The worker's while the task is under way. */
    struct clr_order order;
};

static struct clr_ordering *ordering_of(struct clr_task *task)
{
    return (struct clr_ordering *)(void *)task;
}

/* One block on its way to the device, or the building of what sorts. */
struct part {
    struct clr_request request;
    struct clr_ordering *ordering; /* which the request holds */
    struct clr_kept_block *block;  /* a reference, or NULL */
    size_t count;                  /* of its numbers, of which there may be more by now */
};

static void clear_part(struct clr_task *task)
{
    struct part *part = (struct part *)(void *)task;

    if (part->block != NULL)
        clr_kept_block_release(part->block);
}

/* The part keeps the reference to the block, whatever becomes of it. */
static bool post_part(struct clr_ordering *ordering, const struct clr_request_kind *kind,
                      struct clr_kept_block *block)
{
    struct clr_status status;
    struct part *part = clr_request_new(kind, sizeof *part, ordering->request.worker,
                                        &ordering->request.task, &status);

    if (part == NULL) {
        if (block != NULL)
            clr_kept_block_release(block);
        return false;
    }
    part->ordering = ordering;
    part->block = block;
    part->count = block != NULL ? block->run.count : 0;
    return clr_request_post(&part->request) == CLR_READY;
}

static void fail(struct clr_ordering *ordering, const struct clr_status *status)
{
    ordering->failure = *status;
    atomic_store(&ordering->failed, true);
}

static bool step_build(struct clr_task *task, struct clr_device *device, struct clr_status *status)
{
    struct clr_ordering *ordering = ((struct part *)(void *)task)->ordering;

    if (clr_module_open(device, &clr_sorter_kind, &task->log, status) == CLR_OK)
        atomic_store(&ordering->can_sort, true);
    else if (!atomic_load(&ordering->failed))
        fail(ordering, status);
    return false;
}

static bool step_append(struct clr_task *task, struct clr_device *device, struct clr_status *status)
{
    struct part *part = (struct part *)(void *)task;
    struct clr_ordering *ordering = part->ordering;
    struct clr_status sorter;

    if (atomic_load(&ordering->failed) || atomic_load(&ordering->resident->unwanted))
        return false;
    /* The building has its turn after all of these, even if there is nothing to build any more. */
    switch (clr_module_state(device, &clr_sorter_kind, &sorter)) {
    case CLR_OK:
        atomic_store(&ordering->can_sort, true);
        break;
    case CLR_NOMEM:
        break;
    default:
        fail(ordering, &sorter);
        return false;
    }
    if (clr_resident_column_append(device, ordering->resident->copy, part->block->run.values,
                                   part->count, status) != CLR_OK)
        fail(ordering, status);
    return false;
}

/* Comes after all parts, since background tasks take turns. */
static bool step_sort(struct clr_task *task, struct clr_device *device, struct clr_status *status)
{
    struct clr_ordering *ordering = ordering_of(task);
    struct clr_resident *resident = ordering->resident;
    bool sorted;

    ordering->request.outcome = CLR_SCAN_NOT_NOW;
    if (atomic_load(&ordering->failed) || atomic_load(&resident->unwanted))
        return false;
    if (resident->sorted == NULL) {
        if (clr_resident_column_settle(device, status) != CLR_OK)
            return false;
        resident->sorted =
            clr_sorted_column_new(resident->kind, clr_resident_column_rows(resident->copy));
        if (resident->sorted == NULL)
            clr_status_set(status, CLR_NOMEM, 0, "no memory for sorting");
        return resident->sorted != NULL;
    }
    if (clr_resident_sort(device, resident, &sorted, status) != CLR_OK)
        return false;
    if (!sorted)
        return true;
    ordering->order.runs = *clr_sorted_column_runs(resident->sorted);
    ordering->request.work = *clr_sorted_column_work(resident->sorted);
    clr_sorted_column_find(device, resident->sorted, ordering->order.ranks,
                           ordering->order.rank_count, ordering->order.keys,
                           &ordering->request.work, status);
    ordering->request.outcome = CLR_SCAN_DONE;
    return false;
}

static const struct clr_request_kind build_kind = {
    .what = "sorting", .turn = CLR_TASK_BUILD, .step = step_build, .clear = clear_part};
static const struct clr_request_kind append_kind = {
    .what = "sorting", .turn = CLR_TASK_BACKGROUND, .step = step_append, .clear = clear_part};
static const struct clr_request_kind sort_kind = {
    .what = "sorting", .turn = CLR_TASK_BACKGROUND, .step = step_sort};

/* Returns how many numbers a device of that memory, in bytes, is sent at the most. */
static uint64_t most_numbers(uint64_t memory)
{
    uint64_t most = memory / (MEMORY_SHARE * sizeof(int64_t));

    return most < UINT32_MAX ? most : UINT32_MAX;
}

static struct clr_ordering *new_ordering(struct clr_worker *worker, enum clr_kind kind,
                                         uint64_t memory)
{
    struct clr_resident *resident =
        clr_resident_new_open(worker, kind == CLR_KIND_REAL ? CLR_TAG_REAL : CLR_TAG_INTEGER);
    struct clr_ordering *ordering;
    struct clr_status status;

    if (resident == NULL)
        return NULL;
    ordering = clr_request_new(&sort_kind, sizeof *ordering, worker, &resident->task, &status);
    clr_task_release(&resident->task); /* the request has a reference of its own */
    if (ordering == NULL)
        return NULL;
    ordering->resident = resident;
    ordering->request.task.is_awaited = true;
    ordering->most = most_numbers(memory);
    if (post_part(ordering, &build_kind, NULL))
        return ordering;
    clr_request_release(&ordering->request);
    return NULL;
}

static void give_up(struct clr_fed_order *fed)
{
    clr_fed_order_end(fed);
    fed->given_up = true;
}

/* Sends the blocks that are new. */
static void send_blocks(struct clr_fed_order *fed, struct clr_kept *kept)
{
    struct clr_ordering *ordering = fed->ordering;
    struct clr_kept_block *block;

    for (block = kept->blocks; block != NULL && block != fed->sent; block = block->next) {
        if (block->run.count == 0)
            continue;
        ordering->blocks++;
        if (!post_part(ordering, &append_kind, clr_kept_block_retain(block))) {
            give_up(fed);
            return;
        }
    }
    fed->sent = kept->blocks;
}

/* What lies in the store itself. */
static void send_first(struct clr_fed_order *fed, const struct clr_kept *kept)
{
    const struct clr_run *first =
        kept->first_reals.count > 0 ? &kept->first_reals : &kept->first_integers;
    struct clr_kept_block *copy = clr_kept_block_copy(first);

    if (copy == NULL || !post_part(fed->ordering, &append_kind, copy))
        give_up(fed);
}

void clr_fed_order_offer(struct clr_fed_order *fed, struct clr_kept *kept,
                         const struct clr_feed *feed, const struct clr_settings *settings)
{
    const struct clr_device_info *info;
    struct clr_worker *worker;

    clr_kept_runs(kept, feed);
    if (kept->first_reals.count + kept->first_integers.count == 0)
        return;
    fed->count += kept->blocks != NULL ? kept->blocks->run.count : CLR_KEPT_FIRST;
    if (fed->given_up)
        return;
    if (clr_kept_is_mixed(kept) || clr_runtime_forked() ||
        (fed->ordering != NULL &&
         (fed->count > fed->ordering->most || atomic_load(&fed->ordering->failed)))) {
        give_up(fed);
        return;
    }
    if (fed->ordering == NULL) {
        worker = clr_choose_device(settings, fed->count, &info);
        if (worker == NULL || clr_worker_is_starting(worker))
            return;
        if (fed->count > most_numbers(info->memory)) {
            fed->given_up = true;
            return;
        }
        fed->ordering = new_ordering(
            worker, kept->first_reals.count > 0 ? CLR_KIND_REAL : CLR_KIND_INTEGER, info->memory);
        if (fed->ordering == NULL) {
            fed->given_up = true;
            return;
        }
    }
    /* What is sent stays in memory until the worker has taken it. */
    if (!clr_worker_is_starting(fed->ordering->request.worker))
        send_blocks(fed, kept);
}

bool clr_fed_order_ask(struct clr_fed_order *fed, struct clr_kept *kept,
                       const struct clr_feed *feed, const struct clr_settings *settings,
                       const struct clr_watch *watch, struct clr_stats *stats,
                       struct clr_order *order)
{
    const struct clr_run *runs = clr_kept_runs(kept, feed);
    struct clr_ordering *ordering = fed->ordering;
    struct clr_device_work work = {0};
    enum clr_scan_outcome outcome;
    struct clr_status status;

    if (ordering == NULL || clr_runtime_forked() || clr_kept_is_mixed(kept))
        return false;
    if (atomic_load(&ordering->failed)) {
        clr_stats_note_failure(stats, &ordering->failure);
        return false;
    }
    if (!atomic_load(&ordering->can_sort))
        return false;
    if (clr_worker_is_starting(ordering->request.worker))
        return false;
    send_blocks(fed, kept);
    if (fed->ordering != NULL)
        send_first(fed, kept);
    if (fed->ordering == NULL)
        return false;
    ordering->order = *order;
    clr_status_clear(&status);
    outcome = clr_request_run(&ordering->request, settings->device_timeout, watch, &work, &status);
    if (outcome == CLR_SCAN_FAILED)
        clr_stats_note_failure(stats, &status);
    else if (atomic_load(&ordering->failed))
        clr_stats_note_failure(stats, &ordering->failure);
    if (outcome != CLR_SCAN_DONE)
        return false;
    *order = ordering->order;
    work.bytes = (int64_t)(clr_runs_count(runs) * sizeof(int64_t));
    clr_stats_count_work(stats, &work, ordering->blocks);
    return true;
}

void clr_fed_order_end(struct clr_fed_order *fed)
{
    if (fed->ordering != NULL && !clr_runtime_forked()) {
        atomic_store(&fed->ordering->resident->unwanted, true);
        clr_request_release(&fed->ordering->request);
    }
    memset(fed, 0, sizeof *fed);
}
