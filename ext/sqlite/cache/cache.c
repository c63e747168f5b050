#include "sqlite/cache/cache.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/settings.h"
#include "base/system.h"
#include "sqlite/cache/kept_lookups.h"

#include <string.h>
#include <unistd.h>

/* ---- The lock. */

/* How often a watch is asked. */
enum { WATCH_MS = 20 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static pthread_once_t changed_made = PTHREAD_ONCE_INIT;
static int cancel_state; /* what clr_thread_restore_cancel() gets, of the thread with the lock */

static void make_changed(void)
{
    clr_system_cond_init(&changed);
}

void clr_cache_lock(void)
{
    const int state = clr_thread_defer_cancel();

    pthread_once(&changed_made, make_changed);
    pthread_mutex_lock(&lock);
    cancel_state = state;
}

void clr_cache_unlock(void)
{
    const int state = cancel_state;

    pthread_mutex_unlock(&lock);
    clr_thread_restore_cancel(state);
}

void clr_cache_wake(void)
{
    pthread_cond_broadcast(&changed);
}

/* With the lock, which is given up meanwhile: waits for timeout_ms milliseconds at most. */
static void wait_until_woken(int64_t timeout_ms)
{
    const struct timespec deadline = clr_thread_deadline(timeout_ms);
    const int state = cancel_state;

    clr_thread_wait(&changed, &lock, &deadline);
    cancel_state = state;
}

/* With the lock, which is given up meanwhile: waits for clr_cache_wake(), for a few milliseconds at
   most. Returns false if the watch, which may be NULL, wants a stop: it is asked without the lock,
   as it may take its time. */
static bool wait_for_others(const struct clr_watch *watch)
{
    bool wants_stop;

    wait_until_woken(WATCH_MS);
    if (watch == NULL)
        return true;
    clr_cache_unlock();
    wants_stop = watch->wants_stop(watch->context);
    clr_cache_lock();
    return !wants_stop;
}

/* ---- A table and its images. */

/* Whether it is the table of that place. */
static bool is_at(const struct clr_cached_table *table, const struct clr_cache_place *place)
{
    if (table->file != place->file || table->is_filled != place->is_filled ||
        sqlite3_stricmp(table->name, place->table) != 0)
        return false;
    if (place->file != NULL)
        return table->longest == place->longest;
    return table->owner == place->connection && sqlite3_stricmp(table->schema, place->schema) == 0;
}

static struct clr_cached_table *retain_table(struct clr_cached_table *table)
{
    table->references++;
    return table;
}

static void release_table(struct clr_cached_table *table)
{
    struct clr_kept_dictionary *kept;
    struct clr_many_values *note;

    if (--table->references > 0)
        return;
    while ((kept = table->dictionaries) != NULL) {
        table->dictionaries = kept->next;
        clr_dictionary_release(kept->dictionary);
        clr_memory_free(kept);
    }
    while (table->lookups != NULL)
        clr_kept_lookups_remove(&table->lookups);
    while ((note = table->many_values) != NULL) {
        table->many_values = note->next;
        clr_memory_free(note);
    }
    clr_known_file_release(table->file);
    sqlite3_free(table->schema);
    sqlite3_free(table->name);
    clr_memory_free(table);
}

/* Returns a table of that place without images and with one reference, or NULL without memory. */
static struct clr_cached_table *new_table(const struct clr_cache_place *place)
{
    struct clr_cached_table *table = clr_memory_alloc_zero(sizeof *table);

    if (table == NULL)
        return NULL;
    table->references = 1;
    table->schema = sqlite3_mprintf("%s", place->schema);
    table->name = sqlite3_mprintf("%s", place->table);
    if (table->schema == NULL || table->name == NULL) {
        release_table(table);
        return NULL;
    }
    if (place->file != NULL)
        table->file = clr_known_file_retain(place->file);
    else
        table->owner = place->connection;
    table->longest = place->longest;
    table->is_filled = place->is_filled;
    return table;
}

/* Whether one query alone is in the image. */
static bool is_alone(const struct clr_image *image)
{
    const struct clr_cached_table *table = image->table;

    return image->references == 1 + (table->images == image && !table->is_dropped);
}

/* Drops references to an image. Returns it if it is to be freed, and in no list then; else NULL. */
static struct clr_image *release_image(struct clr_image *image, int references)
{
    image->references -= references;
    if (image->references > 0)
        return NULL;
    CLR_UNLINK(image->table->images, image);
    return image;
}

/* Returns an image that was made for a table, which it gets a reference to; NULL is fine. */
static struct clr_image *take_image(struct clr_image *image)
{
    if (image != NULL)
        retain_table(image->table);
    return image;
}

/* Frees what that has returned. */
static void free_image(struct clr_image *image)
{
    struct clr_cached_table *table = image->table;

    clr_image_free(image);
    release_table(table);
}

/* The same, its columns without the lock: that may take its time. NULL is fine. */
static void dispose_image(struct clr_image *image)
{
    if (image == NULL)
        return;
    clr_cache_unlock();
    clr_image_drop(image, false, 0);
    clr_cache_lock();
    free_image(image);
}

/* ---- The list. */

/* How long those who look at images wait for who changes one, which may wait for them in turn. */
enum { LONGEST_MS = 1000 };

static struct clr_cached_table *tables;

static pthread_once_t prepared = PTHREAD_ONCE_INIT;

struct clr_cached_table *clr_cache_first(void)
{
    return tables;
}

/* Returns the table of a place, or NULL. */
static struct clr_cached_table *find_table(const struct clr_cache_place *place)
{
    struct clr_cached_table *table = tables;

    while (table != NULL && !is_at(table, place))
        table = table->next;
    return table;
}

/* The same, a new one if there is none, and NULL without memory. */
static struct clr_cached_table *get_table(const struct clr_cache_place *place)
{
    struct clr_cached_table *table = find_table(place);

    if (table != NULL)
        return table;
    table = new_table(place);
    if (table != NULL) {
        table->next = tables;
        tables = table;
    }
    return table;
}

void clr_cache_drop_table(struct clr_cached_table *table)
{
    struct clr_image *image = table->images;

    CLR_UNLINK(tables, table);
    table->is_dropped = true;
    if (image != NULL && release_image(image, 1) != NULL)
        free_image(image);
    release_table(table);
}

/* Whether another thread changes the table's newest image. */
static bool is_changing_elsewhere(const struct clr_cached_table *table)
{
    return table->images != NULL && table->images->is_changing &&
           !pthread_equal(table->busy, pthread_self());
}

void clr_cache_lock_unchanging(const struct clr_connection *connection)
{
    const int64_t end = clr_clock_ns() + LONGEST_MS * INT64_C(1000000);
    const struct clr_cached_table *table;

    clr_cache_lock();
    for (table = tables; table != NULL && clr_clock_ns() < end;) {
        if (is_changing_elsewhere(table) && clr_cache_schema(connection, table) != NULL) {
            wait_for_others(NULL);
            table = tables;
        } else {
            table = table->next;
        }
    }
}

/* ---- Closed files. */

/*
 * The columns of a file that no connection has open any more go after the time that the process's
 * setting column_retention says, or soon after the file was deleted: a thread sees to that, which
 * ends when there is nothing left to wait for. Each such file takes a descriptor: of 16 at most,
 * and of a small part of those that the process may have, columns stay.
 */

/* Of so many closed files columns stay, and of one for each so many descriptors that the process
   may have: a file takes one. */
enum { MOST_FILES = 16, DESCRIPTORS_PER_FILE = 32 };

/* How often it is looked whether closed files have been deleted, whose blocks the descriptors keep.
 */
enum { LOOK_MS = 1000 };

/* Since when the table's file is closed, in ns of clr_clock_ns(); 0: it is not. */
static int64_t closed_since(const struct clr_cached_table *table)
{
    return table->file == NULL ? 0 : clr_known_file_closed(table->file);
}

/* Drops the tables of files that were closed long enough ago, or are deleted. Returns when to look
   at the next ones, in ns of clr_clock_ns(); INT64_MAX: there are none. */
static int64_t locked_drop_due(void)
{
    const int64_t retention = clr_process_setting(CLR_COLUMN_RETENTION) * 1000000;
    const int64_t now = clr_clock_ns(), look = now + LOOK_MS * INT64_C(1000000);
    int64_t next_due = INT64_MAX, closed, due;
    struct clr_cached_table *table, *next;

    for (table = clr_cache_first(); table != NULL; table = next) {
        next = table->next;
        closed = closed_since(table);
        if (closed == 0)
            continue;
        if (closed + retention <= now || clr_known_file_is_lost(table->file))
            clr_cache_drop_table(table);
        else if ((due = closed + retention < look ? closed + retention : look) < next_due)
            next_due = due;
    }
    return next_due;
}

static void drop_file(const struct clr_known_file *file)
{
    struct clr_cached_table *table, *next;

    for (table = clr_cache_first(); table != NULL; table = next) {
        next = table->next;
        if (table->file == file)
            clr_cache_drop_table(table);
    }
}

/* Returns the file that was closed longest ago, or NULL, and how many are closed. */
static const struct clr_known_file *find_oldest_file(int *count)
{
    const struct clr_cached_table *table, *other;
    const struct clr_known_file *oldest = NULL;
    int64_t closed, since = INT64_MAX;

    *count = 0;
    for (table = clr_cache_first(); table != NULL; table = table->next) {
        closed = closed_since(table);
        for (other = clr_cache_first(); closed != 0 && other != table; other = other->next)
            closed = other->file == table->file ? 0 : closed;
        *count += closed != 0;
        if (closed != 0 && closed < since) {
            since = closed;
            oldest = table->file;
        }
    }
    return oldest;
}

static void drop_beyond_most(void)
{
    const uint64_t allowed = clr_file_most() / DESCRIPTORS_PER_FILE;
    const int most = allowed < MOST_FILES ? (int)allowed : MOST_FILES;
    const struct clr_known_file *oldest;
    int count;

    while ((oldest = find_oldest_file(&count)) != NULL && count > most)
        drop_file(oldest);
}

/* Under the cache's lock: whether the thread is to look again, since it looked the last time. */
static bool is_wanted;

/* The process whose thread this is; 0: there is none. A child after fork() has none. */
static pid_t running;

/* The thread that drops what is due, one in the process, until there is nothing left to wait for.
 */
static void *drop_in_time(void *unused)
{
    int64_t due;

    (void)unused;
    clr_cache_lock();
    for (;;) {
        is_wanted = false;
        due = locked_drop_due();
        if (is_wanted)
            continue;
        if (due == INT64_MAX)
            break;
        wait_until_woken((due - clr_clock_ns()) / 1000000 + 1);
    }
    running = 0;
    clr_cache_unlock();
    return NULL;
}

/* Has the thread look soon. Returns false if it can't be started. */
static bool want_thread(void)
{
    is_wanted = true;
    if (running == getpid()) {
        clr_cache_wake();
        return true;
    }
    if (clr_thread_start(drop_in_time, NULL) != 0)
        return false;
    running = getpid();
    return true;
}

static void file_closed(struct clr_known_file *file)
{
    clr_cache_lock();
    drop_beyond_most();
    if (locked_drop_due() != INT64_MAX && !want_thread())
        drop_file(file);
    clr_cache_unlock();
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
        table->is_busy = false;
        table->entering = NULL;
        if (table->images != NULL && table->images->is_changing)
            table->images = NULL;
    }
    make_changed(); /* which knows of the threads that waited, and would wait for them */
    clr_cache_unlock();
}

static void prepare(void)
{
    clr_known_file_notify(file_closed); /* in a fork its lock is taken after this one */
    pthread_atfork(clr_cache_lock, clr_cache_unlock, unlock_child);
}

/* ---- What a connection has of its own. */

static void free_own(struct clr_connection *connection, void *attachment)
{
    struct clr_cached_table *table, *next;

    (void)attachment;
    clr_cache_lock();
    for (table = tables; table != NULL; table = next) {
        next = table->next;
        if (table->owner == connection)
            clr_cache_drop_table(table);
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

/* Without the lock: has the cache forget the connection when that is closed, and heed forks and
   closed files. Returns false without memory. */
static bool prepare_connection(struct clr_connection *connection)
{
    pthread_once(&prepared, prepare);
    return clr_connection_attach(connection, &own_kind) != NULL;
}

/* How long a refresh waits for queries of older versions, which keep the processors busy meanwhile,
   before it makes a copy, which keeps them busy with nothing else. */
enum { READERS_MS = 250 };

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
    struct clr_image *image = take_image(clr_image_new(table, root, token));

    if (image == NULL)
        return NULL;
    image->next = table->images->next;
    table->images->next = image;
    entered++;
    return image;
}

/* Whether another query that enters has an older version than this one. */
static bool is_preceded(const struct clr_cached_table *table,
                        const struct clr_database_version *token)
{
    const struct clr_entering *other = table->entering;

    while (other != NULL && !clr_database_version_is_later(token, other->token))
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
        if (!wait_for_others(watch))
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
        table->images = take_image(clr_image_new(table, root, token));
    if (table->images == NULL)
        return CLR_ENTRY_NO_MEMORY;
    while ((*image = locked_find(table, root, token)) == NULL && !is_late(table, token) &&
           entry == CLR_ENTRY_FRESH) {
        entry = locked_await_turn(table, root, token, watch);
        if (entry != CLR_ENTRY_FRESH || table->is_busy || is_late(table, token) ||
            locked_find(table, root, token) != NULL)
            continue;
        make_busy(table);
        *image = table->images;
        enter(*image);
        return CLR_ENTRY_STALE;
    }
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
                               const struct clr_watch *watch, struct clr_image **image)
{
    const bool is_attached = prepare_connection(place->connection);
    struct clr_entering own = {.token = token}, **link;
    enum clr_entry entry = CLR_ENTRY_NO_MEMORY;
    struct clr_cached_table *table;

    clr_cache_lock();
    table = is_attached ? get_table(place) : NULL;
    if (table != NULL) {
        retain_table(table);
        own.next = table->entering;
        table->entering = &own;
        entry = locked_enter(table, root, token, watch, image);
        /* It is there no more in a child after fork(). */
        for (link = &table->entering; *link != NULL && *link != &own; link = &(*link)->next)
            ;
        if (*link != NULL)
            *link = own.next;
        release_table(table);
        clr_cache_wake();
    }
    clr_cache_unlock();
    return entry;
}

void clr_cache_leave(struct clr_image *image)
{
    if (image == NULL)
        return;
    clr_cache_lock();
    entered--;
    dispose_image(release_image(image, 1));
    clr_cache_wake();
    clr_cache_unlock();
}

/* ---- Being busy. */

enum clr_entry clr_cache_begin_load(struct clr_image *image, const struct clr_watch *watch)
{
    struct clr_cached_table *table = image->table;
    enum clr_entry entry = CLR_ENTRY_FRESH;

    clr_cache_lock();
    while (table->is_busy && entry == CLR_ENTRY_FRESH) {
        if (pthread_equal(table->busy, pthread_self()))
            entry = CLR_ENTRY_NESTED;
        else if (!wait_for_others(watch))
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
    struct clr_cached_table *table = image->table;

    clr_cache_lock();
    image->is_changing = false;
    clr_image_measure(image);
    table->is_busy = false;
    clr_cache_wake();
    clr_cache_unlock();
}

/* Waits for the others that are in the image, if they are none of this thread. */
static void locked_wait_for_others(const struct clr_image *image, const struct clr_watch *watch)
{
    const int64_t end = clr_clock_ns() + READERS_MS * INT64_C(1000000);

    while (!is_alone(image) && entered == 1 && clr_clock_ns() < end) {
        if (!wait_for_others(watch))
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
    return release_image(older, 1 + own);
}

bool clr_cache_begin_change(struct clr_image **image, const struct clr_watch *watch,
                            bool with_columns)
{
    struct clr_image *copy = NULL;
    bool done;

    clr_cache_lock();
    locked_wait_for_others(*image, watch);
    if (!is_alone(*image))
        copy = take_image(with_columns
                              ? clr_image_clone(*image)
                              : clr_image_new((*image)->table, (*image)->root, &(*image)->token));
    done = copy != NULL || is_alone(*image);
    if (done)
        (copy != NULL ? copy : *image)->is_changing = true;
    if (copy != NULL)
        dispose_image(locked_replace(image, copy));
    clr_cache_unlock();
    return done;
}
