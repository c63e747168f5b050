#include "sqlite/lookups/present.h"

#include "query/query.h"

#include <string.h>

bool clr_present_text(const char *text, size_t size)
{
    static const char *const words[] = {"now", "localtime", "utc", "subsec", "subsecond"};
    size_t i;

    if (size > 0 && memchr(text, 0, size) != NULL)
        return true;
    while (size > 0 && strchr(" \t\n\v\f\r", text[size - 1]) != NULL)
        size--;
    for (; size > 0 && strchr(" \t\n\v\f\r", *text) != NULL; text++)
        size--;
    for (i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strlen(words[i]) == size && sqlite3_strnicmp(text, words[i], (int)size) == 0)
            return true;
    }
    return false;
}

bool clr_present_value(sqlite3_value *value)
{
    const int type = sqlite3_value_type(value);
    const char *text = type == SQLITE_TEXT ? (const char *)sqlite3_value_text(value) : NULL;

    return type == SQLITE_BLOB ||
           (type == SQLITE_TEXT &&
            (text == NULL || clr_present_text(text, (size_t)sqlite3_value_bytes(value))));
}

static void fix_time(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    if (clr_present_value(values[0]))
        sqlite3_result_error(context, "a column's value may be the present time", -1);
    else
        sqlite3_result_value(context, values[0]);
}

static void check_pattern(sqlite3_context *context, int count, sqlite3_value **values)
{
    static const size_t day = sizeof "2024-01-05" - 1;
    const bool is_text = sqlite3_value_type(values[0]) == SQLITE_TEXT;
    const char *text = is_text ? (const char *)sqlite3_value_text(values[0]) : NULL;
    const size_t prefix = text == NULL ? 0 : strcspn(text, "%_");

    (void)count;
    if (sqlite3_value_type(values[0]) == SQLITE_NULL)
        sqlite3_result_null(context);
    else if (text != NULL && prefix <= day && text[prefix] == '%' &&
             (size_t)sqlite3_value_bytes(values[0]) == prefix + 1)
        sqlite3_result_value(context, values[0]);
    else
        sqlite3_result_error(context, "a pattern may see more of a time than its day", -1);
}

int clr_present_register(struct clr_connection *connection)
{
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY;
    const int rc = sqlite3_create_function_v2(connection->db, CLR_FIXED_TIME, 1, flags, NULL,
                                              fix_time, NULL, NULL, NULL);

    return rc != SQLITE_OK ? rc
                           : sqlite3_create_function_v2(connection->db, CLR_DAY_PATTERN, 1, flags,
                                                        NULL, check_pattern, NULL, NULL, NULL);
}
