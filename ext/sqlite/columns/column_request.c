/* A request's columns: what they are called and known by, which are lacking, and why they can't be
   had. */
#include "sqlite/columns/column_source.h"

#include "base/memory.h"

#include <string.h>

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

const char *clr_column_name(const struct clr_query *query, const struct clr_table_info *table,
                            int i)
{
    return query->columns[i].derived != NULL ? query->columns[i].derived
                                             : table->columns[query->columns[i].number].name;
}

struct clr_field clr_column_field(const struct clr_query *query, const struct clr_table_info *table,
                                  const struct clr_deriving *deriving, bool is_filled, int i)
{
    const int number = query->columns[i].number, like = query->columns[i].like;
    struct clr_field field;

    if (query->columns[i].derived != NULL) {
        field = (struct clr_field){.with_codes = query->columns[i].with_codes,
                                   .derived = query->columns[i].derived,
                                   .program = deriving->programs[i],
                                   .age = query->columns[i].calls_own ? deriving->age : 0};
        if (query->columns[i].pattern_size > 0 && !deriving->has_no_patterns) {
            field.index = table->columns[like].field.index;
            field.missing = table->columns[like].field.missing;
            field.pattern_at = query->columns[i].pattern_at;
            field.pattern_size = query->columns[i].pattern_size;
        }
        return field;
    }
    field = table->columns[number].field;
    if (is_filled)
        field = (struct clr_field){.index = number == table->column_count ? (int)CLR_FIELD_ROWID
                                                                          : number,
                                   .never_null = field.never_null};
    field.with_bytes = query->columns[i].with_bytes;
    field.with_codes = query->columns[i].with_codes;
    field.is_joined = query->columns[i].is_joined;
    field.unit = query->columns[i].unit;
    field.times = query->columns[i].times;
    return field;
}

struct clr_image_column *clr_column_request_find(const struct clr_column_request *request, int i)
{
    const struct clr_field field = clr_column_request_field(request, i);

    return clr_image_find(request->image, &field);
}

/* With the cache's lock: returns the link to what is noted of a column's values, or to the list's
   end. */
static struct clr_many_values **find_note(const struct clr_image *image,
                                          const struct clr_field *field)
{
    struct clr_many_values **link = &image->table->many_values;

    while (*link != NULL && !clr_field_is_like(&(*link)->field, field))
        link = &(*link)->next;
    return link;
}

bool clr_column_request_expects_many_values(struct clr_column_request *request)
{
    const struct clr_image *image = request->image;
    struct clr_many_values *note;
    bool is_expected;
    int i;

    for (i = 0; i < request->query->column_count; i++) {
        const struct clr_field field = clr_column_request_field(request, i);

        if (field.derived != NULL || field.is_joined || (!field.with_codes && field.times == 0) ||
            clr_column_request_find(request, i) != NULL)
            continue;
        clr_cache_lock();
        note = *find_note(image, &field);
        is_expected =
            note != NULL && (memcmp(&note->token, &image->token, sizeof note->token) == 0 ||
                             clr_backoff_skips(&note->skips));
        clr_cache_unlock();
        if (!is_expected)
            continue;
        clr_column_request_refuse_values(request, i);
        return true;
    }
    return false;
}

void clr_column_request_refuse_values(struct clr_column_request *request, int i)
{
    const char *name = clr_column_name(request->query, request->table, i);

    clr_reason_set_name(&request->reason, CLR_WHY_MANY_VALUES, name, strlen(name));
    request->refused_column = i;
}

void clr_column_request_refuse_field(struct clr_column_request *request,
                                     const struct clr_field *field)
{
    int i;

    for (i = 0; i < request->query->column_count; i++) {
        const struct clr_field own = clr_column_request_field(request, i);

        if (clr_field_is_like(&own, field))
            clr_column_request_refuse_values(request, i);
    }
}

void clr_column_request_has_many_values(struct clr_column_request *request,
                                        const struct clr_field *field)
{
    const struct clr_image *image = request->image;
    struct clr_many_values **link;

    clr_cache_lock();
    link = find_note(image, field);
    if (*link == NULL) {
        *link = clr_memory_alloc_zero(sizeof **link); /* without memory it is found again */
        if (*link != NULL)
            (*link)->field = *field;
    }
    if (*link != NULL) {
        (*link)->token = image->token;
        clr_backoff_failed(&(*link)->skips, 2);
    }
    clr_cache_unlock();
    clr_column_request_refuse_field(request, field);
}

int clr_column_request_keep(struct clr_column_request *request, const struct clr_new_columns *added)
{
    struct clr_image *image = request->image;
    struct clr_many_values **link, *note;
    int i, rc = SQLITE_OK;

    clr_cache_lock();
    for (i = 0; i < added->count; i++) {
        link = find_note(image, &added->fields[i]);
        note = *link;
        if (note != NULL)
            *link = note->next;
        clr_memory_free(note);
        if (clr_image_add(image, added->names[i], &added->fields[i], added->columns[i]) == NULL)
            rc = SQLITE_NOMEM;
    }
    clr_image_measure(image);
    clr_cache_unlock();
    return rc;
}

void clr_column_request_lacking(const struct clr_column_request *request, bool are_derived,
                                struct clr_new_columns *lacking)
{
    int i;

    lacking->count = 0;
    for (i = 0; i < request->query->column_count; i++) {
        const struct clr_field field = clr_column_request_field(request, i);

        if (clr_field_is_evaluated(&field) != are_derived ||
            clr_column_request_find(request, i) != NULL)
            continue;
        lacking->names[lacking->count] = clr_column_name(request->query, request->table, i);
        lacking->fields[lacking->count++] = field;
    }
}
