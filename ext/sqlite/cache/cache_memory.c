#include "sqlite/cache/cache_memory.h"

#include "base/settings.h"
#include "engine/worker/runtime.h"
#include "sqlite/cache/cache_lock.h"
#include "sqlite/cache/cache_tables.h"

#include <unistd.h>

int64_t clr_column_memory(void)
{
    const int64_t setting = clr_process_setting(CLR_COLUMN_MEMORY);

    return setting > 0 ? setting
                       : (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGE_SIZE) / 4;
}

int64_t clr_column_device_memory(const struct clr_device_info *info)
{
    const int64_t setting = clr_process_setting(CLR_COLUMN_MEMORY);

    return setting > 0 ? setting : (int64_t)(info->memory / 4);
}

/* ---- What there is, and what of it was used longest ago. All with the lock. */

/* Adds up what images take on the host, in bytes: columns, dictionaries and layouts. What is being
   changed counts as it was. */
static int64_t measure_host(void)
{
    const struct clr_cached_table *table;
    const struct clr_image *image;
    int64_t bytes = 0;

    for (table = clr_cache_first(); table != NULL; table = table->next) {
        bytes += clr_kept_dictionaries_size(table->dictionaries);
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

/* Adds up what images have there. */
static int64_t measure_device(const struct clr_worker *worker)
{
    const struct clr_cached_table *table;
    const struct clr_image *image;
    int64_t bytes = 0;

    for (table = clr_cache_first(); table != NULL; table = table->next) {
        for (image = table->images; image != NULL; image = image->next) {
            const struct clr_image_column *column = image->is_changing ? NULL : image->columns;

            for (; column != NULL; column = column->next)
                bytes += size_on(column, worker);
        }
    }
    return bytes;
}

/* Whether an image's columns may go. */
static bool may_go(const struct clr_image *image)
{
    return !image->is_changing && !image->table->is_busy;
}

/* Finds the least recently used column, of those with copies on a worker's device or, if that is
   NULL, of those on the host, that no query needs; and its image. */
static struct clr_image_column **find_oldest(const struct clr_worker *device, struct clr_image **of)
{
    struct clr_image_column **oldest = NULL, **link;
    struct clr_cached_table *table;
    struct clr_image *image;

    for (table = clr_cache_first(); table != NULL; table = table->next) {
        for (image = table->images; image != NULL; image = image->next) {
            for (link = &image->columns; may_go(image) && *link != NULL; link = &(*link)->next) {
                if ((*link)->pins > 0 ||
                    (device != NULL ? size_on(*link, device) == 0 : (*link)->column->is_away) ||
                    (oldest != NULL && (*link)->used >= (*oldest)->used))
                    continue;
                oldest = link;
                *of = image;
            }
        }
    }
    return oldest;
}

/* Finds the least recently used dictionary without a column, but none of that scan. */
static struct clr_kept_dictionary **find_oldest_dictionary(int64_t scan)
{
    struct clr_kept_dictionary **oldest = NULL, **link;
    struct clr_cached_table *table;

    for (table = clr_cache_first(); table != NULL; table = table->next) {
        link = clr_kept_dictionary_oldest(&table->dictionaries, scan);
        if (link != NULL && (oldest == NULL || (*link)->used < (*oldest)->used))
            oldest = link;
    }
    return oldest;
}

static void remove_column(struct clr_image *image, struct clr_image_column **link)
{
    image->size -= (*link)->size;
    clr_image_remove(link);
}

/* Drops the column or the dictionary whose use is longest ago. Returns false if there is none. */
static bool drop_oldest(int64_t scan)
{
    struct clr_image *image = NULL;
    struct clr_image_column **link = find_oldest(NULL, &image);
    struct clr_kept_dictionary **dictionary = find_oldest_dictionary(scan);

    if (dictionary != NULL && (link == NULL || (*dictionary)->used < (*link)->used)) {
        clr_kept_dictionary_drop(dictionary);
        return true;
    }
    if (link == NULL)
        return false;
    remove_column(image, link);
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

/* Drops the copy on the worker's device whose use is longest ago, also what it has on others, and
   its column if that is nowhere else. */
static bool drop_oldest_copy(const struct clr_worker *worker)
{
    struct clr_image *image = NULL;
    struct clr_image_column **link = find_oldest(worker, &image);

    if (link == NULL)
        return false;
    if ((*link)->column->is_away) {
        remove_column(image, link);
        return true;
    }
    clr_sharded_release((*link)->copy);
    (*link)->copy = NULL;
    return true;
}

/* ---- */

int64_t clr_column_device_bytes(const struct clr_worker *worker)
{
    int64_t bytes;

    clr_cache_lock();
    bytes = measure_device(worker);
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
               measure_device(worker) > clr_column_device_memory(&catalog->devices[i]) &&
               drop_oldest_copy(worker))
            ;
    }
    clr_cache_unlock();
}

/* Evicts what a table has. Returns how many bytes that took. */
static int64_t evict(struct clr_cached_table *table)
{
    int64_t bytes = clr_kept_dictionaries_size(table->dictionaries);
    bool is_used = table->stale > 0 || table->arrivals != NULL;
    struct clr_image *image;

    clr_kept_dictionaries_free(&table->dictionaries);
    for (image = table->images; image != NULL; image = image->next) {
        bytes += clr_image_drop(image, true);
        clr_image_measure(image);
        is_used = is_used || image->references > 1 || image != table->images;
    }
    if (!is_used)
        clr_cache_drop_table(table);
    return bytes;
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
