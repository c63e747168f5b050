#include "sqlite/cache/cache.h"

#include "base/clock.h"
#include "sqlite/cache/cache_tables.h"

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
