#include "sqlite/columns/column_source.h"

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
    request->image = NULL;
    request->has_columns = false;
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

struct clr_image_column *clr_column_request_find(const struct clr_column_request *request, int i)
{
    const struct clr_field field =
        clr_column_field(request->query, request->table, request->image->is_filled, i);

    return clr_image_find(request->image, &field);
}

bool clr_column_request_has_image(const struct clr_column_request *request)
{
    return request->image != NULL &&
           request->image == clr_image_look_up(request->connection, request->database->schema,
                                               request->table->name,
                                               request->source == &clr_row_source);
}

bool clr_column_request_has_all(const struct clr_column_request *request)
{
    int i;

    for (i = 0; i < request->query->column_count; i++) {
        if (clr_column_request_find(request, i) == NULL)
            return false;
    }
    return true;
}

bool clr_column_request_expects_many_values(struct clr_column_request *request)
{
    const struct clr_image *image = request->image;
    int i;

    for (i = 0; i < request->query->column_count; i++) {
        const struct clr_field field =
            clr_column_field(request->query, request->table, image->is_filled, i);
        const char *name = clr_column_request_info(request, i)->name;

        if (!field.with_codes || clr_column_request_find(request, i) != NULL ||
            !clr_many_values_expected(image->many_values, field.index, &image->token))
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

    clr_many_values_found(&image->many_values, field->index, &image->token);
    clr_reason_set_name(&request->reason, CLR_WHY_MANY_VALUES, name, strlen(name));
}
