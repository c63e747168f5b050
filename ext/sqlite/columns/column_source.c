#include "sqlite/columns/column_source.h"

#include "sqlite/cache/cache_memory.h"
#include "sqlite/cache/cached_table.h"

#include <string.h>

int clr_column_request_begin(struct clr_column_request *request)
{
    clr_column_request_end(request);
    request->source = request->no_pages == CLR_WHY_NONE ? &clr_page_source : &clr_row_source;
    return request->source->begin(request);
}

void clr_column_request_end(struct clr_column_request *request)
{
    if (request->source != NULL)
        request->source->end(request);
    request->source = NULL;
}

void clr_column_request_refuse(struct clr_column_request *request, enum clr_reason_code why)
{
    if (clr_reason_is_no_pages(why))
        request->no_pages = why;
    else
        clr_reason_set(&request->reason, why);
}

bool clr_column_request_is_current(struct clr_column_request *request)
{
    const bool current = clr_table_names_hold(request->names, &request->reason);

    request->is_outdated = !current && request->reason.code == CLR_WHY_NONE;
    return current;
}

bool clr_column_request_check_rows(struct clr_column_request *request, size_t rows)
{
    const int64_t threshold = request->connection->settings.view_threshold;

    /* Without rows SQLite still evaluates what is constant, and may find an error in it. */
    if (rows == 0)
        clr_reason_set(&request->reason, CLR_WHY_EMPTY_TABLE);
    else if ((int64_t)rows < threshold)
        clr_reason_set_numbers(&request->reason, CLR_WHY_SMALL_TABLE, (int64_t)rows, threshold);
    return request->reason.code == CLR_WHY_NONE;
}

struct clr_field clr_column_field(const struct clr_query *query, const struct clr_table_info *table,
                                  bool is_filled, int i)
{
    const int number = query->columns[i];
    struct clr_field field = table->columns[number].field;

    if (is_filled)
        field = (struct clr_field){.index = number == table->column_count ? (int)CLR_FIELD_ROWID
                                                                          : number,
                                   .never_null = field.never_null};
    field.with_bytes = query->with_bytes[i];
    field.with_codes = query->with_codes[i];
    return field;
}

static struct clr_cache_place place_of(const struct clr_column_request *request,
                                       struct clr_known_file *file)
{
    sqlite3 *db = request->connection->db;

    return (struct clr_cache_place){
        .connection = request->connection,
        .file = file,
        .longest = file == NULL ? 0 : (uint32_t)sqlite3_limit(db, SQLITE_LIMIT_LENGTH, -1),
        .schema = request->database->schema,
        .table = request->table->name,
        .is_filled = request->source == &clr_row_source};
}

void clr_column_request_arrive(struct clr_column_request *request)
{
    struct clr_known_file *file = clr_database_known(request->database);
    struct clr_cache_place place;

    if (file == NULL)
        return;
    place = place_of(request, file);
    clr_cache_arrive(&place, &request->arrival);
}

enum clr_entry clr_column_request_enter(struct clr_column_request *request,
                                        struct clr_known_file *file,
                                        const struct clr_database_version *token)
{
    const struct clr_cache_place place = place_of(request, file);
    enum clr_entry entry;

    clr_retention_begin();
    entry = clr_cache_enter(&place, request->table->root, token, request->watch, &request->arrival,
                            &request->image);
    if (entry != CLR_ENTRY_FRESH && entry != CLR_ENTRY_STALE)
        request->image = NULL;
    request->is_stale = entry == CLR_ENTRY_STALE;
    return entry;
}

int clr_column_request_missed(struct clr_column_request *request, enum clr_entry entry)
{
    switch (entry) {
    case CLR_ENTRY_STOPPED:
        return SQLITE_INTERRUPT;
    case CLR_ENTRY_NO_MEMORY:
        return SQLITE_NOMEM;
    default:
        clr_reason_set(&request->reason, CLR_WHY_NESTED);
        return SQLITE_OK;
    }
}

int clr_column_request_begin_load(struct clr_column_request *request, bool *is_busy)
{
    const enum clr_entry entry = clr_cache_begin_load(request->image, request->watch);

    *is_busy = entry == CLR_ENTRY_FRESH;
    if (!*is_busy)
        return clr_column_request_missed(request, entry);
    clr_column_request_pin(request);
    if (request->has_columns) {
        clr_cache_end_load(request->image);
        *is_busy = false;
    }
    return SQLITE_OK;
}

void clr_column_request_pin(struct clr_column_request *request)
{
    struct clr_field fields[CLR_MOST_COLUMNS];
    int i;

    for (i = 0; i < request->query->column_count; i++)
        fields[i] =
            clr_column_field(request->query, request->table, request->image->table->is_filled, i);
    request->has_columns =
        clr_cache_pin(request->image, fields, request->query->column_count, request->found);
}

void clr_column_request_leave(struct clr_column_request *request)
{
    if (request->has_columns)
        clr_cache_unpin(request->found, request->query->column_count);
    clr_cache_leave(request->image);
    request->has_columns = false;
    request->image = NULL;
}

struct clr_image_column *clr_column_request_find(const struct clr_column_request *request, int i)
{
    const struct clr_field field =
        clr_column_field(request->query, request->table, request->image->table->is_filled, i);

    return clr_image_find(request->image, &field);
}

bool clr_column_request_expects_many_values(struct clr_column_request *request)
{
    const struct clr_image *image = request->image;
    bool is_expected;
    int i;

    for (i = 0; i < request->query->column_count; i++) {
        const struct clr_field field =
            clr_column_field(request->query, request->table, image->table->is_filled, i);
        const char *name = clr_column_request_info(request, i)->name;

        if (!field.with_codes || clr_column_request_find(request, i) != NULL)
            continue;
        clr_cache_lock();
        is_expected =
            clr_many_values_expected(image->table->many_values, field.index, &image->token);
        clr_cache_unlock();
        if (!is_expected)
            continue;
        clr_reason_set_name(&request->reason, CLR_WHY_MANY_VALUES, name, strlen(name));
        return true;
    }
    return false;
}

void clr_column_request_has_many_values(struct clr_column_request *request, const char *name,
                                        const struct clr_field *field)
{
    struct clr_image *image = request->image;

    clr_cache_lock();
    clr_many_values_found(&image->table->many_values, field->index, &image->token);
    clr_cache_unlock();
    clr_reason_set_name(&request->reason, CLR_WHY_MANY_VALUES, name, strlen(name));
}
