#include "sqlite/session/sql_value.h"

#include "base/memory.h"
#include "numeric/values/bytes.h"

#include <stdarg.h>
#include <string.h>

/* The bytes of TEXT or a BLOB: not NULL, which SQLite takes for the value NULL. */
static const void *bytes_of(const struct clr_value *value)
{
    return value->as.size > 0 ? value->bytes : "";
}

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

/* What is no number. Bytes that are the output's own memory are freed by SQLite. */
static void set_bytes(sqlite3_context *context, const struct clr_output *output)
{
    const struct clr_value *value = &output->value;
    void (*const release)(void *) = output->memory != NULL ? clr_memory_free : SQLITE_TRANSIENT;

    if (value->kind == CLR_KIND_TEXT)
        sqlite3_result_text64(context, bytes_of(value), value->as.size, release, SQLITE_UTF8);
    else if (value->kind == CLR_KIND_BLOB)
        sqlite3_result_blob64(context, bytes_of(value), value->as.size, release);
    if (output->is_json)
        sqlite3_result_subtype(context, CLR_JSON_SUBTYPE);
}

void clr_output_set(sqlite3_context *context, const struct clr_output *output)
{
    if (output->code == CLR_NOMEM)
        sqlite3_result_error_nomem(context);
    else if (output->code != CLR_OK)
        sqlite3_result_error(context, output->error, -1);
    else if (output->value.kind == CLR_KIND_REAL)
        sqlite3_result_double(context, output->value.as.real);
    else if (output->value.kind == CLR_KIND_INTEGER)
        sqlite3_result_int64(context, output->value.as.integer);
    else
        set_bytes(context, output);
}

int clr_output_bind(sqlite3_stmt *statement, int parameter, const struct clr_output *output)
{
    const struct clr_value *value = &output->value;
    void (*const release)(void *) = output->memory != NULL ? clr_memory_free : SQLITE_TRANSIENT;

    if (output->code != CLR_OK)
        return output->code == CLR_NOMEM ? SQLITE_NOMEM : SQLITE_ERROR;
    switch (value->kind) {
    case CLR_KIND_INTEGER:
        return sqlite3_bind_int64(statement, parameter, value->as.integer);
    case CLR_KIND_REAL:
        return sqlite3_bind_double(statement, parameter, value->as.real);
    case CLR_KIND_TEXT:
        return sqlite3_bind_text64(statement, parameter, bytes_of(value), value->as.size, release,
                                   SQLITE_UTF8);
    case CLR_KIND_BLOB:
        return sqlite3_bind_blob64(statement, parameter, bytes_of(value), value->as.size, release);
    default:
        return SQLITE_OK;
    }
}

void clr_scalar_set(sqlite3_context *context, const struct clr_scalar *scalar, int encoding,
                    sqlite3_destructor_type release)
{
    struct clr_value value;
    double real;

    switch (scalar->tag) {
    case CLR_TAG_INTEGER:
        sqlite3_result_int64(context, scalar->bits);
        break;
    case CLR_TAG_REAL:
        memcpy(&real, &scalar->bits, sizeof real);
        sqlite3_result_double(context, real);
        break;
    case CLR_TAG_BYTES:
        value = clr_bytes_value(scalar->bits);
        if (value.kind == CLR_KIND_BLOB)
            sqlite3_result_blob64(context, value.bytes, value.as.size, release);
        else
            sqlite3_result_text64(context, (const char *)value.bytes, value.as.size, release,
                                  (unsigned char)encoding);
        break;
    default:
        break;
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
