#include "sqlite/aggregates/function.h"

#include "sqlite/session/sql_value.h"

/* Returns a value as an error shows it, to be freed with sqlite3_free(); NULL without memory. */
static char *describe(const struct clr_value *value)
{
    switch (value->kind) {
    case CLR_KIND_INTEGER:
        return sqlite3_mprintf("%lld", (long long)value->as.integer);
    case CLR_KIND_REAL:
        return sqlite3_mprintf("%!.17g", value->as.real);
    case CLR_KIND_TEXT:
        return sqlite3_mprintf("'%!.60q'", (const char *)value->bytes);
    case CLR_KIND_BLOB:
        return sqlite3_mprintf("a BLOB");
    default:
        return sqlite3_mprintf("NULL");
    }
}

enum clr_code clr_function_refuse(sqlite3_context *sql, const char *must,
                                  const struct clr_value *value)
{
    char *text = describe(value);

    if (text == NULL)
        sqlite3_result_error_nomem(sql);
    else
        clr_set_error(sql, "%s: %s, not %s", clr_function_of(sql)->name, must, text);
    sqlite3_free(text);
    return CLR_INVALID;
}

enum clr_code clr_function_refuse_argument(sqlite3_context *sql, const char *must,
                                           sqlite3_value *argument)
{
    struct clr_value value = {.kind = CLR_KIND_NONE};

    if (sqlite3_value_type(argument) != SQLITE_NULL && !clr_value_read(argument, &value))
        return CLR_NOMEM;
    return clr_function_refuse(sql, must, &value);
}

enum clr_code clr_function_refuse_memory(sqlite3_context *sql, const char *kept, uint64_t limit)
{
    clr_set_error(
        sql, "%s: %s would take more than the %llu bytes that the setting values_memory allows",
        clr_function_of(sql)->name, kept, (unsigned long long)limit);
    return CLR_INVALID;
}

void clr_function_report(sqlite3_context *sql, void *context, enum clr_code code)
{
    const struct clr_function *function = clr_function_of(sql);

    if (code == CLR_OK)
        return;
    if (code == CLR_NOMEM)
        sqlite3_result_error_nomem(sql);
    else if (code == CLR_STOPPED)
        sqlite3_result_error_code(sql, SQLITE_INTERRUPT);
    else if (code == CLR_LIMIT)
        clr_function_refuse_memory(sql, "its values", function->connection->values.limit);
    if (context != NULL)
        function->callbacks->end(function->connection, context);
}

void clr_function_take(sqlite3_context *sql, void *context, sqlite3_value **values)
{
    clr_function_take_by(sql, context, values, clr_function_of(sql)->callbacks->take);
}
