#include "sqlite/cache/cache_tables.h"

#include "base/clock.h"
#include "sqlite/cache/cache_lock.h"
#include "sqlite/database/connection_database.h"

/* How long those who look at images wait for who changes one, which may wait for them in turn. */
enum { LONGEST_MS = 1000 };

static struct clr_cached_table *tables;

static pthread_once_t prepared = PTHREAD_ONCE_INIT;

struct clr_cached_table *clr_cache_first(void)
{
    return tables;
}

struct clr_cached_table *clr_cache_find_table(const struct clr_cache_place *place)
{
    struct clr_cached_table *table = tables;

    while (table != NULL && !clr_cached_table_is(table, place))
        table = table->next;
    return table;
}

struct clr_cached_table *clr_cache_table(const struct clr_cache_place *place)
{
    struct clr_cached_table *table = clr_cache_find_table(place);

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
    if (image != NULL && clr_cached_image_release(image, 1) != NULL)
        clr_cached_image_free(image);
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
    const int64_t end = clr_clock_ns() + LONGEST_MS * INT64_C(1000000);
    const struct clr_cached_table *table;

    clr_cache_lock();
    for (table = tables; table != NULL && clr_clock_ns() < end;) {
        if (is_changing_elsewhere(table) && clr_cache_schema(connection, table) != NULL) {
            clr_cache_wait(NULL);
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
    clr_cache_unlock_child();
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

bool clr_cache_prepare(struct clr_connection *connection)
{
    pthread_once(&prepared, heed_forks);
    return clr_connection_attach(connection, &own_kind) != NULL;
}
