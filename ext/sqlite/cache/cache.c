#include "sqlite/cache/cache.h"

#include "base/clock.h"
#include "sqlite/database/connection_database.h"

#include <string.h>

/* How long a refresh waits for queries of older versions, which keep the processors busy meanwhile,
   before it makes a copy, which keeps them busy with nothing else. */
enum { READERS_MS = 250 };

static struct clr_cached_table *tables;

static pthread_once_t prepared = PTHREAD_ONCE_INIT;

/* How many images this thread has entered. */
static _Thread_local int entered;

struct clr_cached_table *clr_cache_first(void)
{
    return tables;
}

/* ---- Images and tables, with the lock. */

static bool is_alone(const struct clr_image *image)
{
    const struct clr_cached_table *table = image->table;

    return image->references == 1 + (table->images == image && !table->is_dropped);
}

/* Drops references to an image. Returns it if it is to be freed, else NULL. */
static struct clr_image *locked_release(struct clr_image *image, int references)
{
    struct clr_image **link = &image->table->images;

    image->references -= references;
    if (image->references > 0)
        return NULL;
    while (*link != image)
        link = &(*link)->next;
    *link = image->next;
    return image;
}

/* Returns an image that was made for a table, which it gets a reference to; NULL is fine. */
static struct clr_image *take_table(struct clr_image *image)
{
    if (image != NULL)
        clr_cached_table_retain(image->table);
    return image;
}

static void free_image(struct clr_image *image)
{
    struct clr_cached_table *table = image->table;

    clr_image_free(image);
    clr_cached_table_release(table);
}

/* Frees what locked_release() has returned, its columns without the lock: that may take its time.
 */
static void locked_dispose(struct clr_image *image)
{
    if (image == NULL)
        return;
    clr_cache_unlock();
    clr_image_drop(image, false);
    clr_cache_lock();
    free_image(image);
}

static struct clr_cached_table *locked_find_table(const struct clr_cache_place *place)
{
    struct clr_cached_table *table = tables;

    while (table != NULL && !clr_cached_table_is(table, place))
        table = table->next;
    return table;
}

static struct clr_cached_table *locked_table(const struct clr_cache_place *place)
{
    struct clr_cached_table *table = locked_find_table(place);

    if (table != NULL)
        return table;
    table = clr_cached_table_new(place);
    if (table != NULL) {
        table->next = tables;
        tables = table;
    }
    return table;
}

void clr_cache_drop_table(struct clr_cached_table *table)
{
    struct clr_cached_table **link = &tables;
    struct clr_image *image = table->images;

    while (*link != table)
        link = &(*link)->next;
    *link = table->next;
    table->is_dropped = true;
    if (image != NULL && locked_release(image, 1) != NULL)
        free_image(image);
    clr_cached_table_release(table);
}

/* Whether another thread changes the table's newest image. */
static bool is_changing_elsewhere(const struct clr_cached_table *table)
{
    return table->images != NULL && table->images->is_changing &&
           !pthread_equal(table->busy, pthread_self());
}

void clr_cache_lock_unchanging(const struct clr_connection *connection)
{
    const struct clr_cached_table *table;

    clr_cache_lock();
    for (table = tables; table != NULL;) {
        if (is_changing_elsewhere(table) && clr_cache_schema(connection, table) != NULL) {
            clr_cache_wait_until_woken(READERS_MS);
            table = tables;
        } else {
            table = table->next;
        }
    }
}

struct clr_image *clr_cache_look_up(const struct clr_connection *connection, const char *schema,
                                    const char *name, bool is_filled)
{
    const struct clr_cached_table *table;

    for (table = tables; table != NULL; table = table->next) {
        const char *known = clr_cache_schema(connection, table);

        if (table->is_filled == is_filled && known != NULL && sqlite3_stricmp(known, schema) == 0 &&
            sqlite3_stricmp(table->name, name) == 0 && table->images != NULL &&
            !table->images->is_changing)
            return table->images;
    }
    return NULL;
}

/* ---- Forking. */

/* In the child the other threads are no more: what they were changing is never complete, and is
   left alone. */
static void unlock_child(void)
{
    struct clr_cached_table *table;

    for (table = tables; table != NULL; table = table->next) {
        if (table->is_busy && pthread_equal(table->busy, pthread_self()))
            continue;
        table->is_busy = table->is_refreshed = false;
        table->stale = 0;
        table->arrivals = NULL;
        if (table->images != NULL && table->images->is_changing)
            table->images = NULL;
    }
    clr_cache_unlock();
}

static void heed_forks(void)
{
    clr_known_file_heed_forks(); /* whose lock is taken after this one */
    pthread_atfork(clr_cache_lock, clr_cache_unlock, unlock_child);
}

/* ---- What a connection has of its own. */

static void free_own(struct clr_connection *connection, void *attachment)
{
    struct clr_cached_table *table, *next;
    struct clr_image_column *column;
    struct clr_image *image;

    (void)attachment;
    clr_cache_lock();
    for (table = tables; table != NULL; table = next) {
        next = table->next;
        if (table->owner == connection) {
            clr_cache_drop_table(table);
        } else if (is_changing_elsewhere(table)) {
            clr_cache_wait_until_woken(READERS_MS);
            next = tables;
        } else {
            for (image = table->images; image != NULL; image = image->next) {
                for (column = image->columns; column != NULL; column = column->next)
                    clr_image_column_disuse(column, connection);
            }
        }
    }
    clr_cache_unlock();
}

static const struct clr_attachment_kind own_kind = {sizeof(struct clr_attachment), free_own};

const char *clr_cache_schema(const struct clr_connection *connection,
                             const struct clr_cached_table *table)
{
    if (table->file == NULL)
        return table->owner == connection ? table->schema : NULL;
    return clr_database_schema_of(connection, table->file);
}

/* ---- Entering and leaving. */

/* Returns the image of that version, or NULL. */
static struct clr_image *locked_find(struct clr_cached_table *table, uint32_t root,
                                     const struct clr_token *token)
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
                                          const struct clr_token *token)
{
    struct clr_image *image = take_table(clr_image_new(table, root, token));

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
    const int64_t end = clr_clock_ns() + READERS_MS * INT64_C(1000000);
    struct clr_cached_table *table;

    *arrival = (struct clr_arrival){.table = NULL};
    clr_cache_lock();
    while ((table = locked_find_table(place)) != NULL && table->stale > 0 && entered == 0 &&
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
static bool is_preceded(const struct clr_cached_table *table, const struct clr_token *token)
{
    const struct clr_arrival *other = table->arrivals;

    while (other != NULL && other->has_version && !clr_token_is_later(token, &other->token))
        other = other->next;
    return other != NULL;
}

/* Waits until the caller, whose version the newest image is not of, may make the table busy.
   Returns FRESH then; or if an image of that version has come, or a later one. */
static enum clr_entry locked_await_turn(struct clr_cached_table *table, uint32_t root,
                                        const struct clr_token *token,
                                        const struct clr_watch *watch)
{
    const int64_t end = clr_clock_ns() + READERS_MS * INT64_C(1000000);

    while (table->is_busy || (is_preceded(table, token) && clr_clock_ns() < end)) {
        if (table->is_busy && pthread_equal(table->busy, pthread_self()))
            return CLR_ENTRY_NESTED;
        if (!clr_cache_wait(watch))
            return CLR_ENTRY_STOPPED;
        if (locked_find(table, root, token) != NULL)
            break;
    }
    return CLR_ENTRY_FRESH;
}

/* Whether the newest image, which nobody is changing, is known to be of a later version. */
static bool is_late(const struct clr_cached_table *table, const struct clr_token *token)
{
    const struct clr_image *newest = table->images;

    return table->file != NULL && !newest->is_changing && clr_token_is_later(&newest->token, token);
}

static enum clr_entry locked_enter(struct clr_cached_table *table, uint32_t root,
                                   const struct clr_token *token, const struct clr_watch *watch,
                                   struct clr_image **image)
{
    enum clr_entry entry = CLR_ENTRY_FRESH;

    if (table->images == NULL)
        table->images = take_table(clr_image_new(table, root, token));
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
                               const struct clr_token *token, const struct clr_watch *watch,
                               struct clr_arrival *arrival, struct clr_image **image)
{
    enum clr_entry entry = CLR_ENTRY_NO_MEMORY;
    struct clr_cached_table *table = NULL;
    bool is_attached;

    pthread_once(&prepared, heed_forks);
    is_attached = clr_connection_attach(place->connection, &own_kind) != NULL;
    clr_cache_lock();
    if (is_attached)
        table = locked_table(place);
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
    locked_dispose(locked_release(image, 1));
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

    while (!is_alone(image) && entered == 1 && clr_clock_ns() < end) {
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
    return locked_release(older, 1 + own);
}

bool clr_cache_begin_change(struct clr_image **image, const struct clr_watch *watch,
                            bool with_columns)
{
    struct clr_image *copy = NULL;
    bool done;

    clr_cache_lock();
    locked_wait_for_others(*image, watch);
    if (!is_alone(*image))
        copy = take_table(with_columns
                              ? clr_image_clone(*image)
                              : clr_image_new((*image)->table, (*image)->root, &(*image)->token));
    done = copy != NULL || is_alone(*image);
    if (done)
        (copy != NULL ? copy : *image)->is_changing = true;
    if (copy != NULL)
        locked_dispose(locked_replace(image, copy));
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
