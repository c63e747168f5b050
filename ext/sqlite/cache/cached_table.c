#include "sqlite/cache/cached_table.h"

#include "base/clock.h"
#include "base/memory.h"
#include "sqlite/cache/cache_lock.h"
#include "sqlite/database/connection_database.h"

#include <string.h>

/* ---- Dictionaries that are kept. */

/* Returns the link to the field's dictionary, or to the list's end. */
static struct clr_kept_dictionary **find_dictionary(struct clr_kept_dictionary **list,
                                                    const struct clr_field *field)
{
    while (*list != NULL && !clr_field_is_same(&(*list)->field, field))
        list = &(*list)->next;
    return list;
}

struct clr_dictionary *clr_kept_dictionary_find(struct clr_kept_dictionary *list,
                                                const struct clr_field *field,
                                                const struct clr_database_version *token,
                                                int64_t used)
{
    struct clr_kept_dictionary *kept = *find_dictionary(&list, field);

    if (kept == NULL || memcmp(&kept->token, token, sizeof *token) != 0)
        return NULL;
    kept->used = used;
    return kept->dictionary;
}

void clr_kept_dictionary_add(struct clr_kept_dictionary **list, const struct clr_field *field,
                             const struct clr_database_version *token,
                             struct clr_dictionary *dictionary, int64_t used)
{
    struct clr_kept_dictionary **old = find_dictionary(list, field), *kept;

    if (*old != NULL)
        clr_kept_dictionary_drop(old);
    kept = clr_memory_alloc(sizeof *kept);
    if (kept == NULL)
        return;
    *kept = (struct clr_kept_dictionary){.next = *list,
                                         .field = *field,
                                         .token = *token,
                                         .dictionary = clr_dictionary_retain(dictionary),
                                         .used = used};
    *list = kept;
}

struct clr_kept_dictionary **clr_kept_dictionary_oldest(struct clr_kept_dictionary **list,
                                                        int64_t scan)
{
    struct clr_kept_dictionary **oldest = NULL;

    for (; *list != NULL; list = &(*list)->next) {
        if ((*list)->used != scan && (oldest == NULL || (*list)->used < (*oldest)->used))
            oldest = list;
    }
    return oldest;
}

void clr_kept_dictionary_drop(struct clr_kept_dictionary **link)
{
    struct clr_kept_dictionary *kept = *link;

    *link = kept->next;
    clr_dictionary_release(kept->dictionary);
    clr_memory_free(kept);
}

int64_t clr_kept_dictionaries_size(const struct clr_kept_dictionary *list)
{
    int64_t size = 0;

    for (; list != NULL; list = list->next)
        size += (int64_t)clr_dictionary_size(list->dictionary);
    return size;
}

void clr_kept_dictionaries_free(struct clr_kept_dictionary **list)
{
    while (*list != NULL)
        clr_kept_dictionary_drop(list);
}

/* ---- Columns with too many values. */

/* Returns the link to the column's note, or to the list's end. */
static struct clr_many_values **find_note(struct clr_many_values **list, int index)
{
    while (*list != NULL && (*list)->index != index)
        list = &(*list)->next;
    return list;
}

bool clr_many_values_expected(struct clr_many_values *list, int index,
                              const struct clr_database_version *token)
{
    struct clr_many_values *note = *find_note(&list, index);

    return note != NULL &&
           (memcmp(&note->token, token, sizeof *token) == 0 || clr_backoff_skips(&note->skips));
}

void clr_many_values_found(struct clr_many_values **list, int index,
                           const struct clr_database_version *token)
{
    struct clr_many_values *note = *find_note(list, index);

    if (note == NULL) {
        note = clr_memory_alloc(sizeof *note);
        if (note == NULL)
            return;
        *note = (struct clr_many_values){.next = *list, .index = index};
        *list = note;
    }
    note->token = *token;
    clr_backoff_failed(&note->skips, 2);
}

void clr_many_values_forget(struct clr_many_values **list, int index)
{
    struct clr_many_values **link = find_note(list, index), *note = *link;

    if (note == NULL)
        return;
    *link = note->next;
    clr_memory_free(note);
}

static void free_many_values(struct clr_many_values **list)
{
    while (*list != NULL)
        clr_many_values_forget(list, (*list)->index);
}

/* ---- A table and its images. */

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
        clr_cached_table_release(table);
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

struct clr_cached_table *clr_cached_table_retain(struct clr_cached_table *table)
{
    table->references++;
    return table;
}

void clr_cached_table_release(struct clr_cached_table *table)
{
    if (--table->references > 0)
        return;
    clr_kept_dictionaries_free(&table->dictionaries);
    free_many_values(&table->many_values);
    clr_known_file_release(table->file);
    sqlite3_free(table->schema);
    sqlite3_free(table->name);
    clr_memory_free(table);
}

bool clr_cached_image_is_alone(const struct clr_image *image)
{
    const struct clr_cached_table *table = image->table;

    return image->references == 1 + (table->images == image && !table->is_dropped);
}

struct clr_image *clr_cached_image_release(struct clr_image *image, int references)
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

struct clr_image *clr_cached_image_take(struct clr_image *image)
{
    if (image != NULL)
        clr_cached_table_retain(image->table);
    return image;
}

void clr_cached_image_free(struct clr_image *image)
{
    struct clr_cached_table *table = image->table;

    clr_image_free(image);
    clr_cached_table_release(table);
}

void clr_cached_image_dispose(struct clr_image *image)
{
    if (image == NULL)
        return;
    clr_cache_unlock();
    clr_image_drop(image, false);
    clr_cache_lock();
    clr_cached_image_free(image);
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

struct clr_image_column *clr_cache_next_column(struct clr_column_place *place)
{
    if (place->link != NULL && *place->link != NULL)
        place->link = &(*place->link)->next;
    while (place->link == NULL || *place->link == NULL) {
        if (place->image != NULL) {
            place->image = place->image->next;
        } else {
            place->table = place->table == NULL ? tables : place->table->next;
            if (place->table == NULL)
                return NULL;
            place->image = place->table->images;
        }
        place->link =
            place->image == NULL || place->image->is_changing ? NULL : &place->image->columns;
    }
    return *place->link;
}

struct clr_cached_table *clr_cache_find_table(const struct clr_cache_place *place)
{
    struct clr_cached_table *table = tables;

    while (table != NULL && !is_at(table, place))
        table = table->next;
    return table;
}

struct clr_cached_table *clr_cache_table(const struct clr_cache_place *place)
{
    struct clr_cached_table *table = clr_cache_find_table(place);

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
