#include "sqlite/cache/cached_table.h"

#include "base/memory.h"
#include "sqlite/cache/cache_lock.h"

struct clr_cached_table *clr_cached_table_new(const struct clr_cache_place *place)
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

bool clr_cached_table_is(const struct clr_cached_table *table, const struct clr_cache_place *place)
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
    clr_many_values_free(&table->many_values);
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
