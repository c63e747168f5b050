#include "base/memory.h"
#include "engine/columns/resident_private.h"
#include "engine/feed/leaf_feed_private.h"
#include "engine/worker/thread.h"

#include <string.h>

/* How often a thread that waits asks its watch, and whether the device still gets on. */
enum { LOOK_MS = 20 };

static void free_host_rows(struct clr_host_rows *rows)
{
    while (rows != NULL) {
        struct clr_host_rows *next = rows->next;

        clr_memory_free(rows);
        rows = next;
    }
}

static void destroy_feed(struct clr_task *task)
{
    struct clr_leaf_feed *feed = (struct clr_leaf_feed *)(void *)task;
    int i;

    for (i = 0; i < feed->setup.count; i++)
        clr_resident_free(feed->residents[i]);
    free_host_rows(feed->host_rows);
    clr_memory_free(feed->places);
    clr_memory_free(feed->skipped);
    pthread_cond_destroy(&feed->idled);
    pthread_cond_destroy(&feed->turned);
    pthread_cond_destroy(&feed->arrived);
    pthread_mutex_destroy(&feed->lock);
    clr_memory_free(feed);
}

void clr_leaf_feed_locked_turn(struct clr_leaf_feed *feed, enum clr_feed_phase phase)
{
    if (feed->phase != CLR_FEED_GIVEN_UP)
        feed->phase = phase;
    pthread_cond_broadcast(&feed->idled);
    pthread_cond_broadcast(&feed->turned);
}

void clr_leaf_feed_turn(struct clr_leaf_feed *feed, enum clr_feed_phase phase,
                        const struct clr_status *status)
{
    pthread_mutex_lock(&feed->lock);
    if (status != NULL && feed->phase != CLR_FEED_GIVEN_UP)
        feed->status = *status;
    clr_leaf_feed_locked_turn(feed, phase);
    pthread_mutex_unlock(&feed->lock);
}

int clr_leaf_feed_stages(void)
{
    int threads = clr_team_size();

    return (threads < CLR_FEED_THREADS ? threads : CLR_FEED_THREADS) * CLR_FEED_STAGES_PER_THREAD;
}

/* Makes what the stages need, and a resident for each column. */
static bool init(struct clr_leaf_feed *feed)
{
    size_t room = CLR_STAGE_BYTES / feed->setup.usable_size;
    int i;

    feed->places = clr_memory_alloc((size_t)feed->stage_count * room * sizeof *feed->places);
    feed->skipped = clr_memory_alloc(feed->setup.leaves);
    if (feed->places == NULL || feed->skipped == NULL)
        return false;
    for (i = 0; i < feed->stage_count; i++) {
        feed->stages[i].places = feed->places + (size_t)i * room;
        feed->stages[i].room = room;
    }
    for (i = 0; i < feed->setup.count; i++) {
        feed->residents[i] = clr_resident_new_open(feed->worker, CLR_TAG_MIXED);
        if (feed->residents[i] == NULL)
            return false;
        feed->fields[i] = feed->setup.fields[i];
        feed->wants[i] = (struct clr_cell_want){&feed->fields[i], feed->residents[i]->copy};
    }
    feed->setup.fields = feed->fields;
    feed->setup.kinds = NULL; /* the caller's, for whoever begins */
    return true;
}

static struct clr_leaf_feed *new_feed(struct clr_worker *worker, const struct clr_feed_setup *setup)
{
    struct clr_leaf_feed *feed = clr_memory_alloc(sizeof *feed);

    if (feed == NULL)
        return NULL;
    memset(feed, 0, sizeof *feed);
    clr_task_init(&feed->task, CLR_TASK_URGENT, clr_leaf_feed_step, destroy_feed);
    pthread_mutex_init(&feed->lock, NULL);
    clr_thread_cond_init(&feed->idled);
    clr_thread_cond_init(&feed->turned);
    clr_thread_cond_init(&feed->arrived);
    feed->worker = worker;
    feed->setup = *setup;
    feed->stage_count = clr_leaf_feed_stages();
    if (init(feed))
        return feed;
    clr_task_release(&feed->task);
    return NULL;
}

/* What a thread waits with. */
struct waiting {
    pthread_cond_t *condition;
    const atomic_bool *stop;
    const struct clr_watch *watch;
};

/* Gives the feed up if the device has failed or is late. */
static void look_at_worker(struct clr_leaf_feed *feed)
{
    struct clr_status status;

    if (clr_worker_is_late(feed->worker, feed->timeout_ms, &status))
        clr_leaf_feed_turn(feed, CLR_FEED_GIVEN_UP, &status);
}

/* Waits for something to move, with the lock, which is let go of meanwhile. Returns false if the
   thread is to stop. */
static bool locked_wait(struct clr_leaf_feed *feed, const struct waiting *waiting)
{
    struct timespec deadline = clr_thread_deadline(LOOK_MS);
    bool stop = waiting->stop != NULL && atomic_load(waiting->stop);

    if (stop)
        return false;
    if (clr_thread_wait(waiting->condition, &feed->lock, &deadline))
        return true;
    pthread_mutex_unlock(&feed->lock);
    look_at_worker(feed);
    stop = waiting->watch != NULL && waiting->watch->wants_stop(waiting->watch->context);
    pthread_mutex_lock(&feed->lock);
    return !stop;
}

/* Waits as long as the feed is in that phase. Returns the outcome: DONE if the next is the one that
   is wanted. */
static enum clr_scan_outcome await(struct clr_leaf_feed *feed, enum clr_feed_phase phase,
                                   enum clr_feed_phase next, const struct clr_watch *watch,
                                   struct clr_status *status)
{
    const struct waiting waiting = {&feed->turned, NULL, watch};
    enum clr_scan_outcome outcome;
    bool waits = true;

    pthread_mutex_lock(&feed->lock);
    while (feed->phase == phase && waits)
        waits = locked_wait(feed, &waiting);
    if (feed->phase == next)
        outcome = CLR_SCAN_DONE;
    else if (feed->phase == phase)
        outcome = CLR_SCAN_STOPPED;
    else if (feed->phase == CLR_FEED_REFUSED && !feed->is_final)
        outcome = CLR_SCAN_NOT_NOW;
    else
        outcome = CLR_SCAN_FAILED;
    *status = feed->status;
    pthread_mutex_unlock(&feed->lock);
    return outcome;
}

/* Tells the worker that the feed goes on to another phase. */
static void go_on(struct clr_leaf_feed *feed, enum clr_feed_phase from, enum clr_feed_phase to)
{
    pthread_mutex_lock(&feed->lock);
    if (feed->phase == from)
        feed->phase = to;
    pthread_cond_signal(&feed->arrived);
    pthread_mutex_unlock(&feed->lock);
}

enum clr_scan_outcome clr_leaf_feed_begin(struct clr_worker *worker,
                                          const struct clr_feed_setup *setup, int64_t timeout_ms,
                                          const struct clr_watch *watch,
                                          struct clr_leaf_feed **feed, struct clr_status *status)
{
    struct clr_leaf_feed *made;
    enum clr_scan_outcome outcome;

    *feed = NULL;
    /* A build takes the worker seconds, for which whoever asks for the columns would wait. */
    if (clr_worker_has_builds(worker))
        return CLR_SCAN_NOT_NOW;
    made = new_feed(worker, setup);
    if (made == NULL) {
        clr_status_set(status, CLR_NOMEM, 0, "no memory to feed the device");
        return CLR_SCAN_FAILED;
    }
    made->timeout_ms = timeout_ms;
    if (clr_worker_post(worker, &made->task) != CLR_READY) {
        clr_task_release(&made->task);
        return CLR_SCAN_NOT_NOW;
    }
    outcome = await(made, CLR_FEED_BEGINNING, CLR_FEED_OPEN, watch, status);
    if (outcome == CLR_SCAN_DONE)
        *feed = made;
    else
        clr_leaf_feed_free(made);
    return outcome;
}

int clr_leaf_feed_threads(const struct clr_leaf_feed *feed)
{
    return feed->stage_count / CLR_FEED_STAGES_PER_THREAD;
}

struct clr_feed_stage *clr_leaf_feed_take(struct clr_leaf_feed *feed, const atomic_bool *stop)
{
    const struct waiting waiting = {&feed->idled, stop, NULL};
    struct clr_feed_stage *stage = NULL;
    bool waits = true;

    pthread_mutex_lock(&feed->lock);
    while (feed->phase == CLR_FEED_OPEN && feed->idle.count == 0 && waits)
        waits = locked_wait(feed, &waiting);
    if (feed->phase == CLR_FEED_OPEN && feed->idle.count > 0) {
        stage = &feed->stages[clr_feed_pop(&feed->idle)];
        feed->taken++;
    }
    pthread_mutex_unlock(&feed->lock);
    return stage;
}

void clr_leaf_feed_hand_over(struct clr_leaf_feed *feed, struct clr_feed_stage *stage)
{
    int number = (int)(stage - feed->stages);

    pthread_mutex_lock(&feed->lock);
    feed->taken--;
    if (stage->count > 0) {
        clr_feed_push(&feed->full, number);
    } else {
        clr_feed_push(&feed->idle, number);
        pthread_cond_signal(&feed->idled);
    }
    pthread_cond_signal(&feed->arrived); /* also to a worker that waits for its memory */
    pthread_mutex_unlock(&feed->lock);
}

enum clr_scan_outcome clr_leaf_feed_settle(struct clr_leaf_feed *feed, const uint8_t **skipped,
                                           const struct clr_watch *watch, struct clr_status *status)
{
    *skipped = feed->skipped;
    go_on(feed, CLR_FEED_OPEN, CLR_FEED_SETTLING);
    return await(feed, CLR_FEED_SETTLING, CLR_FEED_SETTLED, watch, status);
}

bool clr_leaf_feed_add_rows(struct clr_leaf_feed *feed, int column, size_t first,
                            const int64_t *values, const uint8_t *tags, size_t count)
{
    struct clr_host_rows *rows =
        clr_memory_alloc(sizeof *rows + count * (sizeof *values + sizeof *tags));

    if (rows == NULL)
        return false;
    rows->column = column;
    rows->first = first;
    rows->count = count;
    rows->tags = (uint8_t *)(rows->values + count);
    memcpy(rows->values, values, count * sizeof *values);
    memcpy(rows->tags, tags, count * sizeof *tags);
    pthread_mutex_lock(&feed->lock);
    rows->next = feed->host_rows;
    feed->host_rows = rows;
    pthread_cond_signal(&feed->arrived);
    pthread_mutex_unlock(&feed->lock);
    return true;
}

bool clr_leaf_feed_is_unsuited(struct clr_leaf_feed *feed)
{
    bool is_unsuited;

    pthread_mutex_lock(&feed->lock);
    is_unsuited = feed->is_unsuited;
    pthread_mutex_unlock(&feed->lock);
    return is_unsuited;
}

enum clr_scan_outcome clr_leaf_feed_finish(struct clr_leaf_feed *feed, size_t rows,
                                           struct clr_fed_column *columns,
                                           const struct clr_watch *watch,
                                           struct clr_device_work *work, struct clr_status *status)
{
    enum clr_scan_outcome outcome;
    int i;

    feed->rows = rows; /* which the worker looks at from CLR_FEED_FINISHING on */
    go_on(feed, CLR_FEED_SETTLED, CLR_FEED_FINISHING);
    outcome = await(feed, CLR_FEED_FINISHING, CLR_FEED_FINISHED, watch, status);
    if (outcome != CLR_SCAN_DONE)
        return outcome;
    for (i = 0; i < feed->setup.count; i++) {
        columns[i] =
            (struct clr_fed_column){feed->residents[i], feed->residents[i]->kind, feed->tags[i]};
        feed->residents[i] = NULL;
    }
    clr_device_work_add(work, &feed->work);
    return outcome;
}

void clr_leaf_feed_free(struct clr_leaf_feed *feed)
{
    if (feed == NULL)
        return;
    pthread_mutex_lock(&feed->lock);
    if (feed->phase != CLR_FEED_FINISHED && feed->phase != CLR_FEED_REFUSED)
        feed->phase = CLR_FEED_GIVEN_UP;
    pthread_cond_signal(&feed->arrived);
    pthread_mutex_unlock(&feed->lock);
    clr_task_release(&feed->task);
}
