#include "sqlite/cache/cache_memory.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/settings.h"
#include "engine/worker/runtime.h"
#include "sqlite/cache/kept_lookups.h"
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

/* Drops the one that the link leads to. */
static void drop_dictionary(struct clr_kept_dictionary **link)
{
    struct clr_kept_dictionary *kept = *link;

    *link = kept->next;
    clr_dictionary_release(kept->dictionary);
    clr_memory_free(kept);
}

void clr_kept_dictionary_add(struct clr_kept_dictionary **list, const struct clr_field *field,
                             const struct clr_database_version *token,
                             struct clr_dictionary *dictionary, int64_t used)
{
    struct clr_kept_dictionary **old = find_dictionary(list, field), *kept;

    if (*old != NULL)
        drop_dictionary(old);
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

/* Returns what they take, in bytes. */
static int64_t size_of_dictionaries(const struct clr_kept_dictionary *list)
{
    int64_t size = 0;

    for (; list != NULL; list = list->next)
        size += (int64_t)clr_dictionary_size(list->dictionary);
    return size;
}

int64_t clr_column_memory(void)
{
    return (int64_t)clr_budget_limit(clr_process_setting(CLR_COLUMN_MEMORY));
}

/* Returns how many bytes of a device's memory columns may take, likewise. */
static int64_t device_memory(const struct clr_device_info *info)
{
    const int64_t own = clr_process_setting(CLR_DEVICE_MEMORY);
    const int64_t setting = own > 0 ? own : clr_process_setting(CLR_COLUMN_MEMORY);

    return setting > 0 ? setting : (int64_t)(info->memory / 4);
}

/*
 * How many scans have to ask for a copy before it takes the room of others, which nobody has used
 * since the first of these scans; and before a column whose copy was dropped gets another one. A
 * copy takes about as long as a few scans by the host: so copying is a fraction of what the host
 * does meanwhile, in whatever order columns are asked for that do not all fit. Where queries ask
 * for them in turn, all copies are used between two askings: some stay and serve, and nothing is
 * copied.
 */
enum { ASKINGS = 8 };

/* ---- What there is, and what of it was used longest ago. All with the lock. */

/* Adds up what tables have on the host, in bytes: columns, dictionaries, lookups and layouts. What
   is being changed counts as it was. */
static int64_t measure_host(void)
{
    const struct clr_cached_table *table;
    const struct clr_image *image;
    int64_t bytes = 0;

    for (table = clr_cache_first(); table != NULL; table = table->next) {
        bytes += size_of_dictionaries(table->dictionaries) + clr_kept_lookups_size(table->lookups);
        for (image = table->images; image != NULL; image = image->next)
            bytes += (int64_t)image->size;
    }
    return bytes;
}

/* Returns what a column's copy takes of a worker's device. */
static int64_t size_on(const struct clr_image_column *column, const struct clr_worker *worker)
{
    return column->copy == NULL ? 0 : (int64_t)clr_sharded_size(column->copy, worker);
}

/* Whether an image's columns, and their copies, may go. */
static bool may_go(const struct clr_image *image)
{
    return !image->is_changing && !image->table->is_busy;
}

/* A place among the columns of all images that are not being changed. Zeros: before the first. */
struct column_place {
    struct clr_cached_table *table;
    struct clr_image *image;        /* of that table */
    struct clr_image_column **link; /* to the column, in that image */
};

/* Goes on to the next column, which is returned, or NULL. */
static struct clr_image_column *next_column(struct column_place *place)
{
    if (place->link != NULL && *place->link != NULL)
        place->link = &(*place->link)->next;
    while (place->link == NULL || *place->link == NULL) {
        if (place->image != NULL) {
            place->image = place->image->next;
        } else {
            place->table = place->table == NULL ? clr_cache_first() : place->table->next;
            if (place->table == NULL)
                return NULL;
            place->image = place->table->images;
        }
        place->link =
            place->image == NULL || place->image->is_changing ? NULL : &place->image->columns;
    }
    return *place->link;
}

/* Adds up what images have there, or, if since is no NULL pointer, what of that may go and was not
   used since that scan. */
static int64_t measure_device(const struct clr_worker *worker, const int64_t *since)
{
    struct column_place place = {.table = NULL};
    const struct clr_image_column *column;
    int64_t bytes = 0;

    while ((column = next_column(&place)) != NULL) {
        if (since == NULL || (may_go(place.image) && column->pins == 0 && column->used < *since))
            bytes += size_on(column, worker);
    }
    return bytes;
}

/* Finds the least recently used column that may go, of those with copies on a worker's device,
   unless that is NULL. */
static struct clr_image_column **find_oldest(const struct clr_worker *device, struct clr_image **of)
{
    struct column_place place = {.table = NULL};
    struct clr_image_column **oldest = NULL, *column;

    while ((column = next_column(&place)) != NULL) {
        if (!may_go(place.image) || column->pins > 0 ||
            (device != NULL && size_on(column, device) == 0) ||
            (oldest != NULL && column->used >= (*oldest)->used))
            continue;
        oldest = place.link;
        *of = place.image;
    }
    return oldest;
}

/* Finds the least recently used dictionary without a column, but none of that scan. */
static struct clr_kept_dictionary **find_oldest_dictionary(int64_t scan)
{
    struct clr_kept_dictionary **oldest = NULL, **link;
    struct clr_cached_table *table;

    for (table = clr_cache_first(); table != NULL; table = table->next) {
        for (link = &table->dictionaries; *link != NULL; link = &(*link)->next) {
            if ((*link)->used != scan && (oldest == NULL || (*link)->used < (*oldest)->used))
                oldest = link;
        }
    }
    return oldest;
}

/* Finds the least recently used lookups. */
static struct clr_kept_lookups **find_oldest_lookups(void)
{
    struct clr_kept_lookups **oldest = NULL, **link;
    struct clr_cached_table *table;

    for (table = clr_cache_first(); table != NULL; table = table->next) {
        for (link = &table->lookups; *link != NULL; link = &(*link)->next) {
            if (oldest == NULL || (*link)->used < (*oldest)->used)
                oldest = link;
        }
    }
    return oldest;
}

/* Drops the column, the dictionary or the lookups whose use is longest ago; lookups before the
   columns that they were used with. Returns false if there is none. */
static bool drop_oldest(int64_t scan)
{
    struct clr_image *image = NULL;
    struct clr_image_column **link = find_oldest(NULL, &image);
    struct clr_kept_dictionary **dictionary = find_oldest_dictionary(scan);
    struct clr_kept_lookups **lookups = find_oldest_lookups();
    const int64_t column_used = link == NULL ? INT64_MAX : (*link)->used;
    const int64_t dictionary_used = dictionary == NULL ? INT64_MAX : (*dictionary)->used;

    if (lookups != NULL && (*lookups)->used <= column_used && (*lookups)->used <= dictionary_used) {
        clr_kept_lookups_remove(lookups);
        return true;
    }
    if (dictionary_used < column_used) {
        drop_dictionary(dictionary);
        return true;
    }
    if (link == NULL)
        return false;
    image->size -= (*link)->size;
    clr_image_remove(link);
    return true;
}

/* Drops layouts that no query needs, and no column. Returns whether there was one. */
static bool drop_layout(void)
{
    struct clr_cached_table *table;

    for (table = clr_cache_first(); table != NULL; table = table->next) {
        struct clr_image *image = table->images;

        if (image == NULL || !may_go(image) || image->references > 1 || image->columns != NULL ||
            clr_layout_size(&image->layout) == 0)
            continue;
        clr_layout_free(&image->layout);
        clr_image_measure(image);
        return true;
    }
    return false;
}

/* Drops the copy on the worker's device whose use is longest ago, also what it has on others.
   Returns the bytes that the copy took there, or 0 if there is none. */
static int64_t drop_oldest_copy(const struct clr_worker *worker)
{
    struct clr_image *image = NULL;
    struct clr_image_column **link = find_oldest(worker, &image);
    int64_t bytes;

    if (link == NULL)
        return 0;
    bytes = size_on(*link, worker);
    clr_sharded_release((*link)->copy);
    (*link)->copy = NULL;
    (*link)->wait = (struct clr_copy_wait){.left = ASKINGS};
    return bytes;
}

/* ---- Room for copies. All with the lock. */

static bool is_missing(const struct clr_image_column *column)
{
    return column->copy == NULL || clr_sharded_has_failed(column->copy);
}

/* What a device has no room for. */
struct lack {
    int64_t bytes; /* that are to go; of copies that have failed as many as they need, as it is not
                      known what the device has left */
    bool fits;     /* the limit allows what is missing beside what is there */
};

/* Finds what the device of a shard lacks for what is missing there: nothing, but with its first
   shard. */
static struct lack find_lack(struct clr_image_column *const *found, int count,
                             const struct clr_division *division, int shard)
{
    const struct clr_chosen_device *device = &division->shards[shard].device;
    int64_t wanted = 0, failed = 0, over, bytes;
    int i;

    for (i = 0; i < count && clr_division_begins_device(division, shard); i++) {
        if (!is_missing(found[i]))
            continue;
        bytes = (int64_t)clr_sharded_cost(division, found[i]->column, device->worker) -
                size_on(found[i], device->worker);
        if (bytes <= 0)
            continue;
        wanted += bytes;
        failed += found[i]->copy == NULL ? 0 : bytes;
    }
    if (wanted == 0)
        return (struct lack){.bytes = 0, .fits = true};
    over = measure_device(device->worker, NULL) + wanted - device_memory(device->info);
    return (struct lack){.bytes = over > failed ? over : failed, .fits = over <= 0};
}

/* Counts the asking for what is missing. Returns the scan since which all of it has waited for
   room; 0: not all has. *is_due becomes whether all has been asked for often enough. */
static int64_t count_asking(struct clr_image_column *const *found, int count, bool *is_due)
{
    int64_t since = INT64_MAX;
    int i;

    *is_due = true;
    for (i = 0; i < count; i++) {
        struct clr_copy_wait *wait = &found[i]->wait;

        if (!is_missing(found[i])) {
            *wait = (struct clr_copy_wait){0, 0};
            continue;
        }
        wait->left -= wait->left > 0;
        *is_due = *is_due && wait->left == 0;
        if (since == INT64_MAX || wait->since == 0 || (since != 0 && since < wait->since))
            since = wait->since;
    }
    return since;
}

/* What is missing begins to wait for room, or ends. */
static void set_wait(struct clr_image_column *const *found, int count, bool is_begun)
{
    int i;

    for (i = 0; i < count; i++) {
        if (is_missing(found[i]))
            found[i]->wait = is_begun ? (struct clr_copy_wait){ASKINGS - 1, found[i]->used}
                                      : (struct clr_copy_wait){0, 0};
    }
}

/* Drops what is in the way, and copies that have failed: they are made anew at once. */
static void drop_unused(struct clr_image_column *const *found, int count,
                        const struct clr_division *division, int64_t since)
{
    int i;

    for (i = 0; i < division->count; i++) {
        const struct clr_worker *worker = division->shards[i].device.worker;
        int64_t lack = find_lack(found, count, division, i).bytes;

        while (lack > 0 && measure_device(worker, &since) > 0)
            lack -= drop_oldest_copy(worker);
    }
    for (i = 0; i < count; i++) {
        if (!is_missing(found[i]))
            continue;
        clr_sharded_release(found[i]->copy);
        found[i]->copy = NULL;
    }
}

/*
 * With the cache's lock: a scan asks for copies of its columns, which are pinned, by that division;
 * they have no copies of another one. Returns whether those that are missing may be made or, where
 * they have failed, be tried again: all of them together must not take more of any device than
 * the settings of the process let them. Where they would, or have failed for want of memory there,
 * and have been asked for often enough, the least recently used copies on that device go, as many
 * as are in the way, but none that a query has pinned. What the host has of their columns stays.
 */
static bool make_room(struct clr_image_column *const *found, int count,
                      const struct clr_division *division)
{
    bool is_due, fits = true, is_short = false, may_drop = true;
    const int64_t since = count_asking(found, count, &is_due);
    int i;

    for (i = 0; i < division->count; i++) {
        const struct lack lack = find_lack(found, count, division, i);

        fits = fits && lack.fits;
        if (lack.bytes <= 0)
            continue;
        is_short = true;
        may_drop =
            may_drop && lack.bytes <= measure_device(division->shards[i].device.worker, &since);
    }
    if (is_short && !may_drop) {
        set_wait(found, count, true);
        return fits;
    }
    if (!is_due)
        return is_short && fits;
    if (is_short)
        drop_unused(found, count, division, since);
    set_wait(found, count, false);
    return true;
}

int64_t clr_column_device_bytes(const struct clr_worker *worker)
{
    int64_t bytes;

    clr_cache_lock();
    bytes = measure_device(worker, NULL);
    clr_cache_unlock();
    return bytes;
}

void clr_column_memory_trim(int64_t most, int64_t scan)
{
    const struct clr_catalog *catalog = clr_runtime_known_catalog();
    size_t i;

    clr_cache_lock();
    while (measure_host() > most && (drop_oldest(scan) || drop_layout()))
        ;
    for (i = 0; catalog != NULL && i < catalog->count; i++) {
        const struct clr_worker *worker = clr_runtime_started_worker(i);

        while (worker != NULL &&
               measure_device(worker, NULL) > device_memory(&catalog->devices[i]) &&
               drop_oldest_copy(worker) > 0)
            ;
    }
    clr_cache_unlock();
}

/* Evicts what a table has. Returns how many bytes that took. */
static int64_t evict(struct clr_cached_table *table)
{
    int64_t bytes =
        size_of_dictionaries(table->dictionaries) + clr_kept_lookups_size(table->lookups);
    bool is_used = table->entering != NULL;
    struct clr_image *image;

    while (table->dictionaries != NULL)
        drop_dictionary(&table->dictionaries);
    while (table->lookups != NULL)
        clr_kept_lookups_remove(&table->lookups);
    for (image = table->images; image != NULL; image = image->next) {
        bytes += clr_image_drop(image, true, 0);
        clr_image_measure(image);
        is_used = is_used || image->references > 1 || image != table->images;
    }
    if (!is_used)
        clr_cache_drop_table(table);
    return bytes;
}

int64_t clr_cache_lookup_bytes(void)
{
    const struct clr_cached_table *table;
    int64_t bytes = 0;

    clr_cache_lock();
    for (table = clr_cache_first(); table != NULL; table = table->next)
        bytes += clr_kept_lookups_size(table->lookups);
    clr_cache_unlock();
    return bytes;
}

void clr_cache_drop_lookups(uint64_t id)
{
    struct clr_kept_lookups **link;
    struct clr_cached_table *table;

    if (id == 0)
        return;
    clr_cache_lock();
    for (table = clr_cache_first(); table != NULL; table = table->next) {
        for (link = &table->lookups; *link != NULL && (*link)->id != id; link = &(*link)->next)
            ;
        if (*link != NULL && !(*link)->is_shared)
            clr_kept_lookups_remove(link);
    }
    clr_cache_unlock();
}

int64_t clr_cache_evict(const struct clr_connection *connection)
{
    struct clr_cached_table *table, *next;
    int64_t bytes = 0;

    clr_cache_lock();
    for (table = clr_cache_first(); table != NULL; table = next) {
        next = table->next;
        if (!table->is_busy && (table->owner == NULL || table->owner == connection))
            bytes += evict(table);
    }
    clr_cache_unlock();
    return bytes;
}

void clr_cache_drop_age(uint64_t age)
{
    struct clr_cached_table *table;
    struct clr_image *image;

    clr_cache_lock();
    for (table = clr_cache_first(); table != NULL; table = table->next) {
        for (image = table->images; image != NULL && !table->is_busy; image = image->next) {
            clr_image_drop(image, true, age);
            clr_image_measure(image);
        }
    }
    clr_cache_unlock();
}

/* ---- Copies on devices. */

/* Returns whether a column's copy is of the division, or there is none, and the connection may have
   one made. A copy of another division goes, if it may. */
static bool locked_suits(const struct clr_connection *connection, struct clr_image_column *column,
                         const struct clr_division *division)
{
    if (column->copy != NULL && clr_division_is_same(clr_sharded_division(column->copy), division))
        return true;
    if (column->copy != NULL && column->maker != connection->number &&
        clr_connection_is_open(column->maker) && !clr_sharded_is_lost(column->copy))
        return false;
    clr_sharded_release(column->copy);
    column->copy = NULL;
    return true;
}

/* Returns a column's copy of the division, which is made if need be, or NULL without memory. */
static struct clr_sharded *locked_copy(const struct clr_connection *connection,
                                       struct clr_image_column *column,
                                       const struct clr_division *division)
{
    if (column->copy == NULL) {
        column->copy = clr_sharded_new(division, column->column);
        column->maker = connection->number;
    }
    return column->copy;
}

/* Nanoseconds for which a query waits for copies to have the rows of a commit: the host's threads
   take longer for as many rows as devices have. */
enum { MOST_WAITING_NS = 1000000 };

bool clr_cache_copies(const struct clr_connection *connection,
                      struct clr_image_column *const *found, int count, size_t rows,
                      const struct clr_devices *devices, struct clr_division *division,
                      struct clr_sharded **copies)
{
    int64_t end;
    bool has_room, ready;
    int i;

    clr_cache_lock();
    has_room = clr_division_make(devices, rows, division);
    for (i = 0; i < count && has_room; i++)
        has_room = locked_suits(connection, found[i], division);
    ready = has_room = has_room && make_room(found, count, division);
    for (i = 0; i < count && has_room; i++)
        copies[i] = clr_sharded_retain(locked_copy(connection, found[i], division));
    clr_cache_unlock();
    end = clr_clock_ns() + MOST_WAITING_NS;
    for (i = 0; i < count && ready; i++)
        ready = copies[i] != NULL && clr_sharded_await_change(copies[i], end);
    for (i = 0; i < count && has_room && !ready; i++)
        clr_sharded_release(copies[i]);
    return ready;
}
