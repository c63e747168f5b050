#include "sqlite/acceleration/probes.h"

#include "base/memory.h"

#include <string.h>

/* Functions, and calls of them that give 7. */
static const struct {
    const char *function, *call;
} scalars[] = {
    {"abs", "abs(-7)"},
    {"min", "min(7, 9)"},
    {"min", "min(9, 7, 8)"},
    {"max", "max(7, 5)"},
    {"max", "max(5, 7, 6)"},
    {"coalesce", "coalesce(NULL, 7)"},
    {"coalesce", "coalesce(NULL, NULL, 7)"},
    {"ifnull", "ifnull(NULL, 7)"},
    {"round", "round(6.5)"},
    {"floor", "floor(7.5)"},
    {"ceil", "ceil(6.5)"},
    {"ceiling", "ceiling(6.5)"},
    {"trunc", "trunc(7.5)"},
    {"sign", "8 + sign(-7)"},
    {"iif", "iif(0, 9, 7)"},
    {"nullif", "nullif(7, 9)"},
    {"likely", "likely(7)"},
    {"unlikely", "unlikely(7)"},
    {"likelihood", "likelihood(7, 0.5)"},
};

enum { SCALARS = sizeof scalars / sizeof scalars[0] };

/* Rows of which every aggregate of numbers gives something: two, for the variance of samples. */
#define ROWS "(SELECT 7 AS v UNION ALL SELECT 8)"

/* An aggregate's arguments: for a row with the number v, or, if it asks, for any. */
static const char *arguments_of(const struct clr_aggregate *aggregate)
{
    if (aggregate->needs == CLR_NEEDS_BINS)
        return "7, 0, 9, 1";
    if (clr_aggregate_asks(aggregate))
        return aggregate->arguments == 1 ? "7" : "7, 0";
    return aggregate->arguments == 1 ? "v" : "v, v";
}

/* Each probe gives 7: the value of seven itself, or 7 with nothing added for a value that is not
   NULL. */
static void add_call(sqlite3_str *text, const struct clr_call *call)
{
    const struct clr_aggregate *aggregate = call->aggregate;
    const char *name = clr_call_name(call), *arguments = arguments_of(aggregate);

    if (aggregate->needs == CLR_NEEDS_COUNT)
        sqlite3_str_appendall(text, ", count(7) + 6, count(*) + 6");
    else if (clr_aggregate_asks(aggregate))
        sqlite3_str_appendf(text, ", 7 + (%s%s(%s) IS NULL)", name, clr_form_suffix(call->form),
                            arguments);
    else if (call->form == CLR_FORM_VALUE && aggregate->operation < CLR_OPERATIONS)
        sqlite3_str_appendf(text, ", %s(7%s)", name, aggregate->arguments == 2 ? ", 1" : "");
    else
        sqlite3_str_appendf(text, ", 7 + ((SELECT %s%s(%s) FROM " ROWS ") IS NULL)", name,
                            clr_form_suffix(call->form), arguments);
}

/* Whether a call before this one has the same probe. */
static bool is_probed(const struct clr_query *query, int number)
{
    const struct clr_call *call = &query->calls[number], *other;

    for (other = query->calls; other < call; other++) {
        if (other->aggregate == call->aggregate && other->form == call->form &&
            other->builtin == call->builtin)
            return true;
    }
    return false;
}

/* Begins the probes of a query of groups with the columns of their table that it reads: an
   authorizer may hide them. */
static void add_columns(sqlite3_str *text, const struct clr_query *query)
{
    int i;

    sqlite3_str_appendall(text, "SELECT probes.*");
    for (i = 0; i < query->grouping.key_count; i++)
        sqlite3_str_appendf(text,
                            ", \"" CLR_GROUP_KEY_TEXT "\", \"" CLR_GROUP_KEY_NUMERIC
                            "\", \"" CLR_GROUP_KEY_REAL "\", \"" CLR_GROUP_KEY_BLOB "\"",
                            i, i, i, i);
    for (i = 0; i < query->call_count; i++)
        sqlite3_str_appendf(text, ", \"" CLR_GROUP_CALL "\"", i);
    sqlite3_str_appendall(text, " FROM \"" CLR_GROUP_TABLE "\"(?1), (SELECT 7");
}

/* Of groups there may be no row, or many: their probes are a statement of their own. */
static int keep_apart(struct clr_query *query, char *probes)
{
    const size_t size = strlen(probes) + 1;

    query->probes = clr_memory_alloc(size);
    if (query->probes != NULL)
        memcpy(query->probes, probes, size);
    sqlite3_free(probes);
    return query->probes == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

int clr_probes_add(struct clr_query *query)
{
    const bool is_apart = query->is_grouped || query->has_rows;
    sqlite3_str *text = sqlite3_str_new(NULL);
    size_t length, added;
    char *probes, *whole;
    int i;

    if (is_apart)
        add_columns(text, query);
    for (i = 0; i < query->call_count; i++) {
        if (!is_probed(query, i))
            add_call(text, &query->calls[i]);
    }
    for (i = 0; i < SCALARS; i++) {
        if (clr_query_calls(query, scalars[i].function))
            sqlite3_str_appendf(text, ", %s", scalars[i].call);
    }
    if (is_apart)
        sqlite3_str_appendall(text, ") AS probes");
    probes = sqlite3_str_finish(text);
    if (probes == NULL)
        return SQLITE_NOMEM;
    if (is_apart)
        return keep_apart(query, probes);
    length = strlen(query->answer) + 1;
    added = strlen(probes);
    whole = clr_memory_realloc(query->answer, length + added);
    if (whole != NULL) {
        char *end = whole + query->items_end;

        memmove(end + added, end, length - query->items_end);
        memcpy(end, probes, added);
        query->answer = whole;
    }
    sqlite3_free(probes);
    return whole == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

bool clr_probes_pass(sqlite3_stmt *answer, int first)
{
    bool pass = sqlite3_step(answer) == SQLITE_ROW;
    int count = sqlite3_column_count(answer), i;

    for (i = first; i < count && pass; i++) {
        int type = sqlite3_column_type(answer, i);
        pass = (type == SQLITE_INTEGER || type == SQLITE_FLOAT) &&
               sqlite3_column_double(answer, i) == 7.0;
    }
    return pass;
}
