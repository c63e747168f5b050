#include "sqlite/inspect/column_table.h"

#include "sqlite/cache/cache_lock.h"
#include "sqlite/cache/cache_tables.h"

/* With the cache's lock: finds column number row, over all newest images that the connection may
   see, or NULL; counts them. */
static const struct clr_image_column *find(const struct clr_connection *connection, size_t row,
                                           const struct clr_cached_table **table, size_t *count)
{
    const struct clr_image_column *column;

    *count = 0;
    for (*table = clr_cache_first(); *table != NULL; *table = (*table)->next) {
        const struct clr_image *image = (*table)->images;

        if (image == NULL || image->is_changing || clr_cache_schema(connection, *table) == NULL)
            continue;
        for (column = image->columns; column != NULL; column = column->next) {
            if ((*count)++ == row)
                return column;
        }
    }
    return NULL;
}

static sqlite3_int64 count(struct clr_connection *connection)
{
    const struct clr_cached_table *table;
    size_t columns;

    clr_cache_lock_unchanging(connection);
    find(connection, SIZE_MAX, &table, &columns);
    clr_cache_unlock();
    return (sqlite3_int64)columns;
}

static void show(const struct clr_connection *connection, const struct clr_cached_table *table,
                 const struct clr_image_column *found, int number, sqlite3_context *result)
{
    switch (number) {
    case 0:
        clr_result_text(result, clr_cache_schema(connection, table));
        break;
    case 1:
        clr_result_text(result, table->name);
        break;
    case 2:
        clr_result_text(result, found->name);
        break;
    case 3:
        clr_result_text(result, clr_image_column_type(found, "mixed"));
        break;
    case 4:
        sqlite3_result_int64(result, (sqlite3_int64)found->column->rows);
        break;
    case 5:
        sqlite3_result_int64(result, (sqlite3_int64)clr_column_size(found->column));
        break;
    case 6:
        if (clr_image_column_on_device(found))
            sqlite3_result_int64(result, (sqlite3_int64)clr_sharded_size(found->copy, NULL));
        break;
    case 7:
        sqlite3_result_int64(result, found->hits);
        break;
    case 8:
        sqlite3_result_int(result, clr_image_column_users(found));
        break;
    case 9:
        sqlite3_result_int64(result, (sqlite3_int64)clr_column_width(found->column));
        break;
    default:
        sqlite3_result_int64(result, (sqlite3_int64)clr_sorted_copy_size(found->sorted));
        break;
    }
}

static void column(struct clr_connection *connection, size_t row, int number,
                   sqlite3_context *result)
{
    const struct clr_cached_table *table;
    const struct clr_image_column *found;
    size_t columns;

    clr_cache_lock_unchanging(connection);
    found = find(connection, row, &table, &columns);
    if (found != NULL) /* else it was dropped while the table was read */
        show(connection, table, found, number, result);
    clr_cache_unlock();
}

const struct clr_table clr_column_table = {
    .name = "clreduce_columns",
    .declaration =
        "CREATE TABLE clreduce_columns(database TEXT, \"table\" TEXT, \"column\" TEXT, type TEXT, "
        "rows INT, bytes INT, device_bytes INT, hits INT, connections INT, width INT, "
        "sorted_bytes INT)",
    .innocuous = true,
    .count = count,
    .column = column,
};
