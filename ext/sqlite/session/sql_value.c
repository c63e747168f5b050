#include "sqlite/session/sql_value.h"

#include <stdarg.h>

bool clr_value_read(sqlite3_value *argument, struct clr_value *value)
{
    value->bytes = NULL;
    switch (sqlite3_value_type(argument)) {
    case SQLITE_INTEGER:
        value->kind = CLR_KIND_INTEGER;
        value->as.integer = sqlite3_value_int64(argument);
        return true;
    case SQLITE_FLOAT:
        value->kind = CLR_KIND_REAL;
        value->as.real = sqlite3_value_double(argument);
        return true;
    case SQLITE_TEXT:
        value->kind = CLR_KIND_TEXT;
        value->bytes = sqlite3_value_text(argument);
        break;
    default:
        value->kind = CLR_KIND_BLOB;
        value->bytes = sqlite3_value_blob(argument);
        break;
    }
    value->as.size = (size_t)sqlite3_value_bytes(argument);
    return value->bytes != NULL || (value->kind == CLR_KIND_BLOB && value->as.size == 0);
}

void clr_value_set_result(sqlite3_context *context, const struct clr_value *value)
{
    switch (value->kind) {
    case CLR_KIND_INTEGER:
        sqlite3_result_int64(context, value->as.integer);
        break;
    case CLR_KIND_REAL:
        sqlite3_result_double(context, value->as.real);
        break;
    case CLR_KIND_TEXT:
        sqlite3_result_text64(context, value->bytes, value->as.size, SQLITE_TRANSIENT, SQLITE_UTF8);
        break;
    case CLR_KIND_BLOB:
        if (value->as.size == 0)
            sqlite3_result_zeroblob(context, 0);
        else
            sqlite3_result_blob64(context, value->bytes, value->as.size, SQLITE_TRANSIENT);
        break;
    default:
        break; /* NULL */
    }
}

void clr_set_error(sqlite3_context *context, const char *format, ...)
{
    va_list arguments;
    char *text;

    va_start(arguments, format);
    text = sqlite3_vmprintf(format, arguments);
    va_end(arguments);
    if (text == NULL)
        sqlite3_result_error_nomem(context);
    else
        sqlite3_result_error(context, text, -1);
    sqlite3_free(text);
}
