#include "sqlite/session/sql_value.h"

#include "base/memory.h"
#include "numeric/values/bytes.h"
#include "sqlite/session/encoding.h"

#include <stdarg.h>

/* The bytes of TEXT or a BLOB: not NULL, which SQLite takes for the value NULL. */
static const void *bytes_of(const struct clr_value *value)
{
    return value->as.size > 0 ? value->bytes : "";
}

bool clr_value_read(sqlite3_value *argument, struct clr_value *value)
{
    return clr_value_read_in(argument, SQLITE_UTF8, value);
}

/* Stores TEXT in an encoding. */
static void read_text(sqlite3_value *argument, int encoding, struct clr_value *value)
{
    if (encoding == SQLITE_UTF8)
        value->bytes = sqlite3_value_text(argument);
    else
        value->bytes = encoding == SQLITE_UTF16LE ? sqlite3_value_text16le(argument)
                                                  : sqlite3_value_text16be(argument);
    value->as.size = (size_t)(encoding == SQLITE_UTF8 ? sqlite3_value_bytes(argument)
                                                      : sqlite3_value_bytes16(argument));
}

bool clr_value_read_in(sqlite3_value *argument, int encoding, struct clr_value *value)
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
        read_text(argument, encoding, value);
        break;
    default:
        value->kind = CLR_KIND_BLOB;
        value->bytes = sqlite3_value_blob(argument);
        value->as.size = (size_t)sqlite3_value_bytes(argument);
        break;
    }
    return value->bytes != NULL || (value->kind == CLR_KIND_BLOB && value->as.size == 0);
}

/* Returns what SQLite frees TEXT with. If that is a copy, the caller's bytes are freed here. */
static sqlite3_destructor_type take_over(const struct clr_passed_text *passed, const void *bytes,
                                         sqlite3_destructor_type release)
{
    if (!passed->is_copy)
        return release;
    if (release != SQLITE_STATIC && release != SQLITE_TRANSIENT)
        release((void *)bytes);
    return sqlite3_free;
}

/* Sets TEXT, in an encoding, as the result. */
static void set_text(sqlite3_context *context, const struct clr_value *value, int encoding,
                     sqlite3_destructor_type release)
{
    struct clr_passed_text passed;
    const int rc = clr_encoding_pass(sqlite3_context_db_handle(context), bytes_of(value),
                                     value->as.size, encoding, &passed);

    release = take_over(&passed, value->bytes, release);
    sqlite3_result_text64(context, passed.bytes, passed.size, release,
                          (unsigned char)passed.encoding);
    if (rc != SQLITE_OK)
        sqlite3_result_error_nomem(context);
}

/* Binds it. */
static int bind_text(sqlite3_stmt *statement, int parameter, const struct clr_value *value,
                     int encoding, sqlite3_destructor_type release)
{
    struct clr_passed_text passed;
    const int rc = clr_encoding_pass(sqlite3_db_handle(statement), bytes_of(value), value->as.size,
                                     encoding, &passed);
    int bound;

    release = take_over(&passed, value->bytes, release);
    bound = sqlite3_bind_text64(statement, parameter, passed.bytes, passed.size, release,
                                (unsigned char)passed.encoding);
    return rc == SQLITE_OK ? bound : rc;
}

/* What is no number. Bytes that are the output's own memory are freed by SQLite. */
static void set_bytes(sqlite3_context *context, const struct clr_output *output)
{
    const struct clr_value *value = &output->value;
    void (*const release)(void *) = output->memory != NULL ? clr_memory_free : SQLITE_TRANSIENT;

    if (value->kind == CLR_KIND_TEXT)
        set_text(context, value, SQLITE_UTF8, release);
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
        return bind_text(statement, parameter, value, SQLITE_UTF8, release);
    case CLR_KIND_BLOB:
        return sqlite3_bind_blob64(statement, parameter, bytes_of(value), value->as.size, release);
    default:
        return SQLITE_OK;
    }
}

int clr_value_bind(sqlite3_stmt *statement, int parameter, sqlite3_value *value)
{
    struct clr_value text = {.kind = CLR_KIND_TEXT};
    int encoding, rc;

    if (sqlite3_value_type(value) != SQLITE_TEXT)
        return sqlite3_bind_value(statement, parameter, value);
    /* The bytes as they are, without a conversion: asked for before their number. */
    text.bytes = sqlite3_value_blob(value);
    text.as.size = (size_t)sqlite3_value_bytes(value);
    if (!clr_encoding_has_mark(text.bytes, text.as.size))
        return sqlite3_bind_value(statement, parameter, value);
    rc = clr_encoding_find(sqlite3_db_handle(statement), &encoding);
    if (rc != SQLITE_OK)
        return rc;
    return encoding == 0 || encoding == SQLITE_UTF8
               ? sqlite3_bind_value(statement, parameter, value)
               : bind_text(statement, parameter, &text, encoding, SQLITE_TRANSIENT);
}

void clr_scalar_set(sqlite3_context *context, const struct clr_scalar *scalar, int encoding,
                    sqlite3_destructor_type release)
{
    struct clr_value value;

    switch (scalar->tag) {
    case CLR_TAG_INTEGER:
        sqlite3_result_int64(context, scalar->bits);
        break;
    case CLR_TAG_REAL:
        sqlite3_result_double(context, clr_real_of(scalar->bits));
        break;
    case CLR_TAG_BYTES:
        value = clr_bytes_value(scalar->bits);
        if (value.kind == CLR_KIND_BLOB)
            sqlite3_result_blob64(context, value.bytes, value.as.size, release);
        else
            set_text(context, &value, encoding, release);
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
