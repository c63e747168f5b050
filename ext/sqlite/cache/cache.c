#include "sqlite/cache/cache.h"

#include "base/clock.h"
#include "engine/host/sorted_answers.h"
#include "sqlite/cache/cache_lock.h"
#include "sqlite/cache/cache_memory.h"
#include "sqlite/cache/cached_table.h"

#include <stdatomic.h>
#include <string.h>

/* How long a refresh waits for queries of older versions, which keep the processors busy meanwhile,
   before it makes a copy, which keeps them busy with nothing else. */
enum { READERS_MS = 250 };

/* How long a query that is about to begin its snapshot waits for those that refresh the table:
   longer than they wait for readers, and then it shares their version. They may need a lock that is
   held by this thread, so that there is a limit. */
enum { ARRIVALS_MS = 1000 };

/* How many images this thread has entered. */
static _Thread_local int entered;

/* ---- Entering and leaving. */

/* Returns the image of that version, or NULL. */
static struct clr_image *locked_find(struct clr_cached_table *table, uint32_t root,
                                     const struct clr_database_version *token)
{
    struct clr_image *image = table->images;

    while (image != NULL && (image->is_changing || image->root != root ||
                             memcmp(&image->token, token, sizeof *token) != 0))
        image = image->next;
    return image;
}

static void enter(struct clr_image *image)
{
    image->references++;
    entered++;
}

static void make_busy(struct clr_cached_table *table)
{
    table->is_busy = true;
    table->busy = pthread_self();
}

/* Adds an image of an older version than the newest one. Returns it entered, or NULL. */
static struct clr_image *locked_add_older(struct clr_cached_table *table, uint32_t root,
                                          const struct clr_database_version *token)
{
    struct clr_image *image = clr_cached_image_take(clr_image_new(table, root, token));

    if (image == NULL)
        return NULL;
    image->next = table->images->next;
    table->images->next = image;
    entered++;
    return image;
}

/* Ends an arrival. */
static void locked_depart(struct clr_arrival *arrival)
{
    struct clr_arrival **link;

    if (arrival->table == NULL)
        return;
    link = &arrival->table->arrivals;
    while (*link != arrival)
        link = &(*link)->next;
    *link = arrival->next;
    clr_cached_table_release(arrival->table);
    arrival->table = NULL;
    clr_cache_wake();
}

void clr_cache_arrive(const struct clr_cache_place *place, struct clr_arrival *arrival)
{
    const int64_t end = clr_clock_ns() + ARRIVALS_MS * INT64_C(1000000);
    struct clr_cached_table *table;

    *arrival = (struct clr_arrival){.table = NULL};
    clr_cache_lock();
    while ((table = clr_cache_find_table(place)) != NULL && table->stale > 0 && entered == 0 &&
           clr_clock_ns() < end)
        clr_cache_wait(NULL);
    if (table != NULL) {
        arrival->table = clr_cached_table_retain(table);
        arrival->next = table->arrivals;
        table->arrivals = arrival;
    }
    clr_cache_unlock();
}

void clr_cache_turn_back(struct clr_arrival *arrival)
{
    clr_cache_lock();
    locked_depart(arrival);
    clr_cache_unlock();
}

/* Whether another query that is on its way may have, or has, an older version than this one. */
static bool is_preceded(const struct clr_cached_table *table,
                        const struct clr_database_version *token)
{
    const struct clr_arrival *other = table->arrivals;

    while (other != NULL && other->has_version &&
           !clr_database_version_is_later(token, &other->token))
        other = other->next;
    return other != NULL;
}

/* Waits until the caller, whose version the newest image is not of, may make the table busy: those
   of older versions go first, if they come soon after the table was busy last. Returns FRESH then;
   or if an image of that version has come, or a later one. */
static enum clr_entry locked_await_turn(struct clr_cached_table *table, uint32_t root,
                                        const struct clr_database_version *token,
                                        const struct clr_watch *watch)
{
    bool was_busy = true;
    int64_t end = 0;

    for (;;) {
        if (was_busy && !table->is_busy)
            end = clr_clock_ns() + READERS_MS * INT64_C(1000000);
        was_busy = table->is_busy;
        if (!was_busy && (!is_preceded(table, token) || clr_clock_ns() >= end))
            return CLR_ENTRY_FRESH;
        if (was_busy && pthread_equal(table->busy, pthread_self()))
            return CLR_ENTRY_NESTED;
        if (!clr_cache_wait(watch))
            return CLR_ENTRY_STOPPED;
        if (locked_find(table, root, token) != NULL)
            return CLR_ENTRY_FRESH;
    }
}

/* Whether the newest image, which nobody is changing, is known to be of a later version. */
static bool is_late(const struct clr_cached_table *table, const struct clr_database_version *token)
{
    const struct clr_image *newest = table->images;

    return table->file != NULL && !newest->is_changing &&
           clr_database_version_is_later(&newest->token, token);
}

static enum clr_entry locked_enter(struct clr_cached_table *table, uint32_t root,
                                   const struct clr_database_version *token,
                                   const struct clr_watch *watch, struct clr_image **image)
{
    enum clr_entry entry = CLR_ENTRY_FRESH;

    if (table->images == NULL)
        table->images = clr_cached_image_take(clr_image_new(table, root, token));
    if (table->images == NULL)
        return CLR_ENTRY_NO_MEMORY;
    table->stale++;
    while ((*image = locked_find(table, root, token)) == NULL && !is_late(table, token) &&
           entry == CLR_ENTRY_FRESH) {
        entry = locked_await_turn(table, root, token, watch);
        if (entry != CLR_ENTRY_FRESH || table->is_busy || is_late(table, token) ||
            locked_find(table, root, token) != NULL)
            continue;
        /* It stays stale until end_busy(). */
        make_busy(table);
        table->is_refreshed = true;
        *image = table->images;
        enter(*image);
        return CLR_ENTRY_STALE;
    }
    table->stale--;
    clr_cache_wake();
    if (entry != CLR_ENTRY_FRESH)
        return entry;
    if (*image != NULL)
        enter(*image);
    else
        *image = locked_add_older(table, root, token);
    return *image == NULL ? CLR_ENTRY_NO_MEMORY : CLR_ENTRY_FRESH;
}

enum clr_entry clr_cache_enter(const struct clr_cache_place *place, uint32_t root,
                               const struct clr_database_version *token,
                               const struct clr_watch *watch, struct clr_arrival *arrival,
                               struct clr_image **image)
{
    enum clr_entry entry = CLR_ENTRY_NO_MEMORY;
    struct clr_cached_table *table = NULL;
    bool is_attached;

    is_attached = clr_cache_prepare(place->connection);
    clr_cache_lock();
    if (is_attached)
        table = clr_cache_table(place);
    arrival->has_version = true;
    arrival->token = *token;
    clr_cache_wake();
    if (table != NULL) {
        clr_cached_table_retain(table);
        entry = locked_enter(table, root, token, watch, image);
        clr_cached_table_release(table);
    }
    locked_depart(arrival);
    clr_cache_unlock();
    return entry;
}

void clr_cache_leave(struct clr_image *image)
{
    if (image == NULL)
        return;
    clr_cache_lock();
    entered--;
    clr_cached_image_dispose(clr_cached_image_release(image, 1));
    clr_cache_wake();
    clr_cache_unlock();
}

/* ---- Being busy. */

static void end_busy(struct clr_image *image)
{
    struct clr_cached_table *table = image->table;

    clr_image_measure(image);
    table->stale -= table->is_refreshed;
    table->is_busy = table->is_refreshed = false;
    clr_cache_wake();
}

enum clr_entry clr_cache_begin_load(struct clr_image *image, const struct clr_watch *watch)
{
    struct clr_cached_table *table = image->table;
    enum clr_entry entry = CLR_ENTRY_FRESH;

    clr_cache_lock();
    while (table->is_busy && entry == CLR_ENTRY_FRESH) {
        if (pthread_equal(table->busy, pthread_self()))
            entry = CLR_ENTRY_NESTED;
        else if (!clr_cache_wait(watch))
            entry = CLR_ENTRY_STOPPED;
    }
    /* What one connection alone enters has another version only if a nested query saw it. */
    if (entry == CLR_ENTRY_FRESH && table->owner != NULL && table->images != image)
        entry = CLR_ENTRY_NESTED;
    if (entry == CLR_ENTRY_FRESH)
        make_busy(table);
    clr_cache_unlock();
    return entry;
}

void clr_cache_end_load(struct clr_image *image)
{
    clr_cache_lock();
    end_busy(image);
    clr_cache_unlock();
}

/* Waits for the others that are in the image, if they are none of this thread. */
static void locked_wait_for_others(const struct clr_image *image, const struct clr_watch *watch)
{
    const int64_t end = clr_clock_ns() + READERS_MS * INT64_C(1000000);

    while (!clr_cached_image_is_alone(image) && entered == 1 && clr_clock_ns() < end) {
        if (!clr_cache_wait(watch))
            return;
    }
}

/* Has another image take the place of the newest one, which the caller has entered. Returns the old
   one if it is to be freed. */
static struct clr_image *locked_replace(struct clr_image **image, struct clr_image *newer)
{
    struct clr_cached_table *table = newer->table;
    const int own = table->is_dropped ? 0 : 1;
    struct clr_image *older = *image;

    newer->references = 1 + own;
    newer->next = table->images;
    table->images = newer;
    *image = newer;
    return clr_cached_image_release(older, 1 + own);
}

bool clr_cache_begin_change(struct clr_image **image, const struct clr_watch *watch,
                            bool with_columns)
{
    struct clr_image *copy = NULL;
    bool done;

    clr_cache_lock();
    locked_wait_for_others(*image, watch);
    if (!clr_cached_image_is_alone(*image))
        copy = clr_cached_image_take(
            with_columns ? clr_image_clone(*image)
                         : clr_image_new((*image)->table, (*image)->root, &(*image)->token));
    done = copy != NULL || clr_cached_image_is_alone(*image);
    if (done)
        (copy != NULL ? copy : *image)->is_changing = true;
    if (copy != NULL)
        clr_cached_image_dispose(locked_replace(image, copy));
    clr_cache_unlock();
    return done;
}

void clr_cache_end_change(struct clr_image *image)
{
    clr_cache_lock();
    image->is_changing = false;
    end_busy(image);
    clr_cache_unlock();
}

/* ---- Columns that are needed. */

static atomic_int_least64_t scans; /* so far */

int64_t clr_cache_scan(void)
{
    return atomic_fetch_add(&scans, 1) + 1;
}

bool clr_cache_pin(struct clr_image *image, const struct clr_field *fields, int count,
                   struct clr_image_column **found)
{
    bool has_all;
    int i;

    clr_cache_lock();
    has_all = image->is_known;
    for (i = 0; i < count && has_all; i++) {
        found[i] = clr_image_find(image, &fields[i]);
        has_all = found[i] != NULL;
    }
    for (i = 0; i < count && has_all; i++)
        found[i]->pins++;
    clr_cache_unlock();
    return has_all;
}

void clr_cache_unpin(struct clr_image_column *const *found, int count)
{
    int i;

    clr_cache_lock();
    for (i = 0; i < count; i++)
        found[i]->pins--;
    clr_cache_unlock();
}

void clr_cache_use(const struct clr_connection *connection, struct clr_image_column *const *found,
                   int count, struct clr_column **columns)
{
    const int64_t number = clr_cache_scan();
    int i;

    clr_cache_lock();
    for (i = 0; i < count; i++) {
        found[i]->hits++;
        found[i]->used = number;
        clr_image_column_use(found[i], connection);
        columns[i] = clr_column_retain(found[i]->column);
    }
    clr_cache_unlock();
}

void clr_cache_measure(struct clr_image *image, struct clr_image_column *const *found, int count)
{
    int i;

    clr_cache_lock();
    for (i = 0; i < count; i++)
        clr_image_measure_column(image, found[i]);
    clr_cache_unlock();
}

/* Returns whether a column's copy is of the division, or there is none, and one may be made. A copy
   of another division goes, if it may. */
static bool locked_suits(struct clr_image_column *column, const struct clr_division *division)
{
    if (column->copy != NULL && clr_division_is_same(clr_sharded_division(column->copy), division))
        return true;
    if (column->copy != NULL && clr_image_column_users(column) > 1 &&
        !clr_sharded_is_lost(column->copy))
        return false;
    clr_sharded_release(column->copy);
    column->copy = NULL;
    return true;
}

/* Returns a column's copy of the division, which is made if need be, or NULL without memory. */
static struct clr_sharded *locked_copy(struct clr_image_column *column,
                                       const struct clr_division *division)
{
    if (column->copy == NULL)
        column->copy = clr_sharded_new(division, column->column);
    return column->copy;
}

bool clr_cache_copies(struct clr_image_column *const *found, int count, size_t rows,
                      const struct clr_devices *devices, struct clr_division *division,
                      struct clr_sharded **copies)
{
    bool has_room, ready;
    int i;

    clr_cache_lock();
    has_room = clr_division_make(devices, rows, division);
    for (i = 0; i < count && has_room; i++)
        has_room = locked_suits(found[i], division);
    ready = has_room = has_room && clr_column_device_make_room(found, count, division);
    for (i = 0; i < count && has_room; i++) {
        copies[i] = clr_sharded_retain(locked_copy(found[i], division));
        ready = ready && copies[i] != NULL && clr_sharded_state(copies[i]) == CLR_RESIDENT_READY;
    }
    clr_cache_unlock();
    for (i = 0; i < count && has_room && !ready; i++)
        clr_sharded_release(copies[i]);
    return ready;
}

/* ---- Sorted copies. */

/* Scans that ask for the order of a column before it gets a sorted copy, and others, at least,
   after it could not have one. Sorting takes about as long as ten of them. */
enum { ASKINGS = 2, LEAST_PAUSE = 64 };

/* What is being sorted. */
struct sorting {
    struct clr_column *column; /* with a reference */
    atomic_bool stop;          /* its memory is needed */
};

static bool wants_stop(void *context)
{
    const struct sorting *sorting = context;

    /* Nobody else has that content any more. */
    return atomic_load(&sorting->stop) || atomic_load(&sorting->column->references) == 1;
}

static struct clr_image_column *find_wanted(void)
{
    struct clr_column_place place = {.table = NULL};
    struct clr_image_column *column;

    do
        column = clr_cache_next_column(&place);
    while (column != NULL && (column->sorted != NULL || column->order_asks < ASKINGS));
    return column;
}

/* Gives a copy to all columns that have the content it was made of. Without one they wait before
   they are to have one. */
static void spread(const struct clr_column *content, struct clr_sorted_copy *copy)
{
    struct clr_column_place place = {.table = NULL};
    struct clr_image_column *column;

    while ((column = clr_cache_next_column(&place)) != NULL) {
        if (column->column != content || column->sorted != NULL)
            continue;
        column->sorted = clr_sorted_copy_retain(copy);
        column->order_asks = 0;
        if (copy == NULL)
            clr_backoff_failed(&column->sorting, LEAST_PAUSE);
        clr_image_measure_column(place.image, column);
    }
}

/* Makes the sorted copy of a column that is to have one. Returns when it is to be called again: at
   once, or never. */
static int64_t make_wanted(void)
{
    struct clr_image_column *wanted = find_wanted();
    struct sorting sorting = {.column = NULL};
    const struct clr_watch watch = {wants_stop, &sorting};
    struct clr_sorted_copy *copy = NULL;
    int64_t cost;

    if (wanted == NULL)
        return INT64_MAX;
    atomic_init(&sorting.stop, false);
    sorting.column = clr_column_retain(wanted->column);
    cost = (int64_t)clr_host_sort_cost(sorting.column);
    if (cost > 0 && clr_column_memory_reserve(cost, &sorting.stop)) {
        clr_cache_unlock();
        clr_host_sort(sorting.column, &watch, &copy);
        clr_cache_lock();
        clr_column_memory_unreserve();
        if (atomic_load(&sorting.stop)) {
            clr_sorted_copy_release(copy);
            copy = NULL;
        }
    }
    spread(sorting.column, copy);
    clr_cache_unlock();
    clr_sorted_copy_release(copy);
    clr_column_release(sorting.column);
    clr_cache_lock();
    return 0;
}

bool clr_sorted_copies_take(struct clr_image_column *const *found, const struct clr_scan *scan,
                            struct clr_sorted_copy *copies[CLR_MOST_COLUMNS])
{
    bool is_asked[CLR_MOST_COLUMNS] = {false}, has_one = false, is_due = false;
    int i, number;

    for (i = 0; i < scan->question_count; i++) {
        number = clr_question_column(scan, &scan->questions[i]);
        if (number >= 0)
            is_asked[number] = true;
    }
    clr_cache_lock();
    for (i = 0; i < scan->column_count; i++) {
        copies[i] = is_asked[i] ? clr_sorted_copy_retain(found[i]->sorted) : NULL;
        has_one = has_one || copies[i] != NULL;
        if (is_asked[i] && copies[i] == NULL && !clr_backoff_skips(&found[i]->sorting))
            is_due = ++found[i]->order_asks >= ASKINGS || is_due;
    }
    if (is_due)
        clr_cache_thread_want(make_wanted);
    clr_cache_unlock();
    return has_one;
}
