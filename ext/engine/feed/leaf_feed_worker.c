#include "base/memory.h"
#include "engine/columns/resident_private.h"
#include "engine/feed/leaf_feed_private.h"
#include "engine/operations/request.h"
#include "engine/worker/thread.h"
#include "opencl/cells/decoded_column.h"
#include "opencl/cells/narrowed_column.h"

/* How long the worker waits for more of the feed before it serves other tasks. */
enum { WAIT_MS = 1 };

static bool step_build(struct clr_task *task, struct clr_device *device, struct clr_status *status)
{
    clr_cell_decoder_open(device, clr_leaf_feed_stages(), &task->log, status);
    return false;
}

/* Looks at the device. Returns whether the feed goes on. */
static bool begin(struct clr_leaf_feed *feed, struct clr_device *device, struct clr_status *status)
{
    struct clr_status state;
    int i, stages;

    clr_status_clear(&state);
    switch (clr_module_state(device, &clr_cell_decoder_kind, &state)) {
    case CLR_OK:
        feed->has_decoder = clr_cell_decoder_claim(device);
        break;
    case CLR_NOMEM:
        clr_build_post(feed->worker, step_build);
        break;
    default: /* no error of the task's: the device stays in use */
        feed->is_final = true;
        break;
    }
    if (!feed->has_decoder) {
        clr_leaf_feed_turn(feed, CLR_FEED_REFUSED, &state);
        return false;
    }
    if (clr_cell_decoder_begin(device, feed->setup.leaves, status) != CLR_OK)
        return true;
    stages = clr_cell_decoder_stages(device);
    pthread_mutex_lock(&feed->lock);
    for (i = 0; i < stages && i < feed->stage_count; i++) {
        feed->stages[i].pages = clr_cell_decoder_stage(device, i);
        clr_feed_push(&feed->idle, i);
    }
    feed->stage_count = i;
    clr_leaf_feed_locked_turn(feed, CLR_FEED_OPEN);
    pthread_mutex_unlock(&feed->lock);
    return true;
}

static enum clr_code send(struct clr_leaf_feed *feed, struct clr_device *device, int number,
                          struct clr_status *status)
{
    const struct clr_feed_stage *stage = &feed->stages[number];
    const struct clr_stage_content content = {.bytes = stage->bytes,
                                              .usable_size = feed->setup.usable_size,
                                              .places = stage->places,
                                              .count = stage->count};
    size_t rows = stage->end > feed->setup.rows ? stage->end : feed->setup.rows;
    int i;

    for (i = 0; i < feed->setup.count; i++) {
        if (clr_decoded_column_reserve(device, feed->residents[i]->copy, rows, status) != CLR_OK)
            return status->code;
    }
    if (clr_cell_decoder_send(device, number, &content, feed->wants, feed->setup.count, status) ==
        CLR_OK)
        clr_feed_push(&feed->under_way, number);
    return status->code;
}

/* Looks after the stage that has been under way for longest. Returns whether it is idle now. */
static bool receive(struct clr_leaf_feed *feed, struct clr_device *device, bool wait,
                    struct clr_status *status)
{
    int number = feed->under_way.numbers[feed->under_way.first];
    struct clr_feed_stage *stage = &feed->stages[number];
    bool complete = false;

    if (clr_cell_decoder_receive(device, number, wait, &complete, &feed->work, status) != CLR_OK ||
        !complete)
        return false;
    clr_feed_pop(&feed->under_way);
    stage->bytes = stage->count = stage->end = 0;
    pthread_mutex_lock(&feed->lock);
    clr_feed_push(&feed->idle, number);
    pthread_cond_signal(&feed->idled);
    pthread_mutex_unlock(&feed->lock);
    return true;
}

static void give_up_unsuited(struct clr_leaf_feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    feed->is_unsuited = true;
    clr_leaf_feed_locked_turn(feed, CLR_FEED_GIVEN_UP);
    pthread_mutex_unlock(&feed->lock);
}

/* Learns which pages are skipped. */
static void settle(struct clr_leaf_feed *feed, struct clr_device *device, struct clr_status *status)
{
    size_t skipped = 0, i;

    if (clr_cell_decoder_skipped(device, 0, feed->setup.leaves, feed->skipped, status) != CLR_OK)
        return;
    for (i = 0; i < feed->setup.leaves; i++)
        skipped += feed->skipped[i] != 0;
    if (skipped > feed->setup.most_skipped)
        give_up_unsuited(feed);
    else
        clr_leaf_feed_turn(feed, CLR_FEED_SETTLED, NULL);
}

static void write_host_rows(const struct clr_leaf_feed *feed, struct clr_device *device,
                            struct clr_host_rows *rows, struct clr_status *status)
{
    clr_decoded_column_write(device, feed->residents[rows->column]->copy, rows->first, rows->values,
                             rows->tags, rows->count, status);
    clr_resident_count_copied(rows->count * (sizeof *rows->values + sizeof *rows->tags));
    clr_memory_free(rows);
}

/* Completes the next column: one in a step, as it goes over all rows. */
static void conclude(struct clr_leaf_feed *feed, struct clr_device *device,
                     struct clr_status *status)
{
    const int i = feed->concluded;
    struct clr_resident *resident = feed->residents[i];

    if (clr_decoded_column_conclude(device, resident->copy, feed->rows, &feed->tags[i], status) !=
            CLR_OK ||
        clr_decoded_column_narrow(device, resident->copy, status) != CLR_OK)
        return;
    resident->rows = feed->rows;
    resident->kind = clr_resident_column_kind(resident->copy);
    atomic_store(&resident->state, CLR_RESIDENT_READY);
    feed->concluded++;
}

/* Takes what the threads have for the worker: a stage, or rows; number is -1 where there is none.
   Returns the phase. */
static enum clr_feed_phase take_work(struct clr_leaf_feed *feed, int *number,
                                     struct clr_host_rows **rows)
{
    enum clr_feed_phase phase;

    *number = -1;
    *rows = NULL;
    pthread_mutex_lock(&feed->lock);
    phase = feed->phase;
    if (phase != CLR_FEED_GIVEN_UP && feed->full.count > 0) {
        *number = clr_feed_pop(&feed->full);
    } else if (phase != CLR_FEED_GIVEN_UP && feed->host_rows != NULL) {
        *rows = feed->host_rows;
        feed->host_rows = feed->host_rows->next;
    }
    pthread_mutex_unlock(&feed->lock);
    return phase;
}

static void await_work(struct clr_leaf_feed *feed)
{
    struct timespec deadline = clr_thread_deadline(WAIT_MS);

    pthread_mutex_lock(&feed->lock);
    if (feed->full.count == 0 && feed->host_rows == NULL &&
        (feed->phase == CLR_FEED_OPEN || feed->phase == CLR_FEED_SETTLED))
        clr_thread_wait(&feed->arrived, &feed->lock, &deadline);
    pthread_mutex_unlock(&feed->lock);
}

/* Does what there is to do, what keeps the device busy first. Returns whether the feed goes on. */
static bool serve(struct clr_leaf_feed *feed, struct clr_device *device, struct clr_status *status)
{
    struct clr_host_rows *rows;
    enum clr_feed_phase phase;
    int number;

    while (feed->under_way.count > 0 && receive(feed, device, false, status))
        continue;
    if (status->code != CLR_OK)
        return false;
    if (clr_cell_decoder_skipped_count(device) > feed->setup.most_skipped)
        give_up_unsuited(feed);
    phase = take_work(feed, &number, &rows);
    if (phase == CLR_FEED_GIVEN_UP)
        return false;
    if (number >= 0)
        send(feed, device, number, status);
    else if (rows != NULL)
        write_host_rows(feed, device, rows, status);
    else if (feed->under_way.count > 0)
        receive(feed, device, true, status);
    else if (phase == CLR_FEED_SETTLING)
        settle(feed, device, status);
    else if (phase == CLR_FEED_FINISHING)
        conclude(feed, device, status);
    else
        await_work(feed);
    return status->code == CLR_OK && feed->concluded < feed->setup.count;
}

/*
 * Ends the feed: waits for what is under way, tells who waits, and gives the decoder back as soon
 * as no thread has a stage any more, which it may be reading pages into: whoever got the decoder
 * before that would share this memory. Returns whether the worker is to come again.
 */
static bool end(struct clr_leaf_feed *feed, struct clr_device *device, struct clr_status *status)
{
    struct timespec deadline = clr_thread_deadline(WAIT_MS);
    bool is_held;

    while (feed->under_way.count > 0 && status->code == CLR_OK)
        receive(feed, device, true, status);
    if (status->code != CLR_OK && status->code != CLR_DEVICE) {
        clr_cell_decoder_recover(device, status);
        feed->under_way.count = 0;
    }
    if (feed->failure.code == CLR_OK)
        feed->failure = *status;
    clr_leaf_feed_turn(feed, status->code == CLR_OK ? CLR_FEED_FINISHED : CLR_FEED_GIVEN_UP,
                       status);
    if (status->code == CLR_DEVICE)
        return false; /* nobody will use it any more */
    clr_status_clear(status);
    pthread_mutex_lock(&feed->lock);
    if (feed->taken > 0)
        clr_thread_wait(&feed->arrived, &feed->lock, &deadline);
    is_held = feed->taken > 0;
    pthread_mutex_unlock(&feed->lock);
    if (is_held)
        return true;
    if (feed->has_decoder)
        clr_cell_decoder_release(device);
    *status = feed->failure;
    return false;
}

bool clr_leaf_feed_step(struct clr_task *task, struct clr_device *device, struct clr_status *status)
{
    struct clr_leaf_feed *feed = (struct clr_leaf_feed *)(void *)task;
    enum clr_feed_phase phase;

    pthread_mutex_lock(&feed->lock);
    phase = feed->phase;
    pthread_mutex_unlock(&feed->lock);
    if (phase == CLR_FEED_BEGINNING && !begin(feed, device, status))
        return false;
    if (status->code == CLR_OK && (phase == CLR_FEED_BEGINNING ||
                                   (phase != CLR_FEED_GIVEN_UP && serve(feed, device, status))))
        return true;
    return end(feed, device, status);
}
