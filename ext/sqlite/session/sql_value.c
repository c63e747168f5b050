#include "sqlite/session/sql_value.h"

#include "base/memory.h"
#include "numeric/values/bytes.h"
#include "sqlite/session/statement.h"

#include <stdarg.h>
#include <string.h>

/* ---- Encodings. */

/* TEXT in the form in which SQLite takes it as it is. */
struct passed_text {
    const void *bytes;
    size_t size;
    int encoding;
    bool is_copy; /* to be freed with sqlite3_free(); else they are the caller's bytes */
};

/* What is no character by itself: a half of a pair, U+FFFE and U+FFFF. */
#define FIRST_HIGH 0xd800u
#define FIRST_LOW 0xdc00u
#define PAST_LOW 0xe000u
#define FIRST_NONE 0xfffeu

int clr_encoding_find(sqlite3 *db, int *encoding)
{
    static const struct {
        const char *bytes;
        int size, encoding;
    } encodings[] = {{"a", 1, SQLITE_UTF8}, {"a\0", 2, SQLITE_UTF16LE}, {"\0a", 2, SQLITE_UTF16BE}};
    sqlite3_stmt *statement;
    /* An authorizer may keep PRAGMA encoding from us. */
    int rc = clr_statement_make(db, "SELECT CAST('a' AS BLOB)", 0, &statement);
    size_t i;

    *encoding = 0;
    if (rc == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        const void *bytes = sqlite3_column_blob(statement, 0);
        const int size = sqlite3_column_bytes(statement, 0);

        for (i = 0; i < sizeof encodings / sizeof encodings[0] && bytes != NULL; i++) {
            if (size == encodings[i].size && memcmp(bytes, encodings[i].bytes, (size_t)size) == 0)
                *encoding = encodings[i].encoding;
        }
    }
    rc = clr_statement_end(statement, rc);
    return rc == SQLITE_NOMEM || rc == SQLITE_INTERRUPT ? rc : SQLITE_OK;
}

bool clr_encoding_keeps_utf8(const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    size_t i;

    for (i = 0; i + 2 < size; i++) {
        if ((at[i] == 0xed && at[i + 1] >= 0xa0) ||
            (at[i] == 0xef && at[i + 1] == 0xbf && at[i + 2] >= 0xbe))
            return false;
    }
    return true;
}

static unsigned read_unit(const unsigned char *at, int encoding)
{
    return encoding == SQLITE_UTF16LE ? at[0] | (unsigned)at[1] << 8 : at[1] | (unsigned)at[0] << 8;
}

bool clr_encoding_keeps_utf16(const void *bytes, size_t size, int encoding)
{
    const unsigned char *at = bytes;
    size_t i;

    for (i = 0; i + 1 < size; i += 2) {
        unsigned unit = read_unit(at + i, encoding);

        if (unit >= FIRST_HIGH && unit < FIRST_LOW) {
            i += 2;
            unit = i + 1 < size ? read_unit(at + i, encoding) : 0;
            if (unit < FIRST_LOW || unit >= PAST_LOW)
                return false;
        } else if ((unit >= FIRST_LOW && unit < PAST_LOW) || unit >= FIRST_NONE) {
            return false;
        }
    }
    return i == size;
}

/* ---- Passing it on. */

/* Whether UTF-16 begins with what SQLite takes for a mark, of either order. */
static bool has_mark(const void *bytes, size_t size)
{
    return size >= 2 && (memcmp(bytes, "\xfe\xff", 2) == 0 || memcmp(bytes, "\xff\xfe", 2) == 0);
}

static unsigned char *write_unit(unsigned char *to, unsigned unit, int encoding)
{
    to[encoding == SQLITE_UTF16BE] = (unsigned char)unit;
    to[encoding != SQLITE_UTF16BE] = (unsigned char)(unit >> 8);
    return to + 2;
}

static unsigned char *write_mark(unsigned char *to, int encoding)
{
    return write_unit(to, 0xfeff, encoding);
}

/* Reads a character of one to four bytes, halves of pairs among them. Returns how many it has; 0 if
   there is none. */
static size_t read_character(const unsigned char *at, size_t size, unsigned *character)
{
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    const size_t length = at[0] < 0x80 ? 1 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    size_t i;

    if (length > size || (at[0] >= 0x80 && at[0] < 0xc0) || at[0] > 0xf4)
        return 0;
    *character = length == 1 ? at[0] : at[0] & (0x7fu >> length);
    for (i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        *character = *character << 6 | (at[i] & 0x3fu);
    }
    return *character >= least[length] && *character <= 0x10ffff ? length : 0;
}

/* Writes UTF-8 in UTF-16. Returns the end; NULL if it is no UTF-8. */
static unsigned char *convert(const unsigned char *bytes, size_t size, int encoding,
                              unsigned char *to)
{
    unsigned character;
    size_t length;

    for (; size > 0; size -= length, bytes += length) {
        length = read_character(bytes, size, &character);
        if (length == 0)
            return NULL;
        if (character >= 0x10000) {
            character -= 0x10000;
            to = write_unit(to, FIRST_HIGH + (character >> 10), encoding);
            character = FIRST_LOW + (character & 0x3ff);
        }
        to = write_unit(to, character, encoding);
    }
    return to;
}

/* UTF-8 that is to be in a database of UTF-16. */
static int pass_utf8(sqlite3 *db, struct passed_text *passed)
{
    unsigned char *copy, *end;
    int encoding, rc;

    if (clr_encoding_keeps_utf8(passed->bytes, passed->size))
        return SQLITE_OK;
    rc = clr_encoding_find(db, &encoding);
    if (rc != SQLITE_OK || encoding == 0 || encoding == SQLITE_UTF8)
        return rc;
    copy = sqlite3_malloc64(2 * (sqlite3_uint64)passed->size + 2);
    if (copy == NULL)
        return SQLITE_NOMEM;
    end = convert(passed->bytes, passed->size, encoding, write_mark(copy, encoding));
    if (end == NULL) {
        sqlite3_free(copy);
        return SQLITE_OK;
    }
    *passed = (struct passed_text){copy, (size_t)(end - copy), encoding, true};
    return SQLITE_OK;
}

/* Finds that form for TEXT in an encoding. Returns as clr_encoding_find(). */
static int pass_text(sqlite3 *db, const void *bytes, size_t size, int encoding,
                     struct passed_text *passed)
{
    unsigned char *copy;

    *passed = (struct passed_text){bytes, size, encoding, false};
    if (encoding == SQLITE_UTF8)
        return pass_utf8(db, passed);
    if (!has_mark(bytes, size))
        return SQLITE_OK;
    copy = sqlite3_malloc64((sqlite3_uint64)size + 2);
    if (copy == NULL)
        return SQLITE_NOMEM;
    memcpy(write_mark(copy, encoding), bytes, size);
    *passed = (struct passed_text){copy, size + 2, encoding, true};
    return SQLITE_OK;
}

/* ---- Values. */

/* The bytes of TEXT or a BLOB: not NULL, which SQLite takes for the value NULL. */
static const void *bytes_of(const struct clr_value *value)
{
    return value->as.size > 0 ? value->bytes : "";
}

bool clr_value_read(sqlite3_value *argument, struct clr_value *value)
{
    return clr_value_read_in(argument, SQLITE_UTF8, value);
}

/* Stores TEXT in an encoding. Of UTF-16 the size comes first: to tell it older versions of SQLite,
   as 3.35, bring the bytes into the machine's order, in their place. */
static void read_text(sqlite3_value *argument, int encoding, struct clr_value *value)
{
    if (encoding == SQLITE_UTF8) {
        value->bytes = sqlite3_value_text(argument);
        value->as.size = (size_t)sqlite3_value_bytes(argument);
        return;
    }
    value->as.size = (size_t)sqlite3_value_bytes16(argument);
    value->bytes = encoding == SQLITE_UTF16LE ? sqlite3_value_text16le(argument)
                                              : sqlite3_value_text16be(argument);
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

bool clr_value_read_number(sqlite3_value *argument, struct clr_value *number)
{
    const int type = sqlite3_value_numeric_type(argument);

    number->kind = type == SQLITE_INTEGER ? CLR_KIND_INTEGER : CLR_KIND_REAL;
    if (type == SQLITE_INTEGER)
        number->as.integer = sqlite3_value_int64(argument);
    else
        number->as.real = sqlite3_value_double(argument);
    return type != SQLITE_NULL;
}

/* Returns what SQLite frees TEXT with. If that is a copy, the caller's bytes are freed here. */
static sqlite3_destructor_type take_over(const struct passed_text *passed, const void *bytes,
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
    struct passed_text passed;
    const int rc = pass_text(sqlite3_context_db_handle(context), bytes_of(value), value->as.size,
                             encoding, &passed);

    release = take_over(&passed, value->bytes, release);
    sqlite3_result_text64(context, passed.bytes, passed.size, release,
                          (unsigned char)passed.encoding);
    if (rc != SQLITE_OK)
        sqlite3_result_error_code(context, rc);
}

/* Binds it. */
static int bind_text(sqlite3_stmt *statement, int parameter, const struct clr_value *value,
                     int encoding)
{
    struct passed_text passed;
    const int rc =
        pass_text(sqlite3_db_handle(statement), bytes_of(value), value->as.size, encoding, &passed);
    const sqlite3_destructor_type release = take_over(&passed, value->bytes, SQLITE_TRANSIENT);
    const int bound = sqlite3_bind_text64(statement, parameter, passed.bytes, passed.size, release,
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

static int bind_value(sqlite3_stmt *statement, int parameter, sqlite3_value *value)
{
    struct clr_value text = {.kind = CLR_KIND_TEXT};
    int encoding, rc;

    if (sqlite3_value_type(value) != SQLITE_TEXT)
        return sqlite3_bind_value(statement, parameter, value);
    /* The bytes as they are, without a conversion: asked for before their number. */
    text.bytes = sqlite3_value_blob(value);
    text.as.size = (size_t)sqlite3_value_bytes(value);
    if (!has_mark(text.bytes, text.as.size))
        return sqlite3_bind_value(statement, parameter, value);
    rc = clr_encoding_find(sqlite3_db_handle(statement), &encoding);
    if (rc != SQLITE_OK)
        return rc;
    return encoding == 0 || encoding == SQLITE_UTF8
               ? sqlite3_bind_value(statement, parameter, value)
               : bind_text(statement, parameter, &text, encoding);
}

int clr_values_bind(sqlite3_stmt *statement, sqlite3_value *const *values, int count)
{
    const int most = sqlite3_bind_parameter_count(statement);
    int rc = SQLITE_OK, i;

    for (i = 0; i < count && i < most && rc == SQLITE_OK; i++) {
        if (values[i] != NULL)
            rc = bind_value(statement, i + 1, values[i]);
    }
    return rc;
}

sqlite3_uint64 clr_values_write(sqlite3_value *const *values, int count, unsigned char *to)
{
    sqlite3_uint64 size = 0;
    int i;

    for (i = 0; i < count; i++) {
        unsigned char type =
            (unsigned char)(values[i] == NULL ? SQLITE_NULL : sqlite3_value_type(values[i]));
        sqlite3_int64 integer = 0;
        const void *bytes = &integer;
        sqlite3_uint64 length = type == SQLITE_NULL ? 0 : sizeof integer;

        if (type == SQLITE_INTEGER) {
            integer = sqlite3_value_int64(values[i]);
        } else if (type == SQLITE_FLOAT) {
            integer = clr_bits_of(sqlite3_value_double(values[i]));
        } else if (type != SQLITE_NULL) {
            /* As they are, without a conversion: asked for before their number. */
            bytes = sqlite3_value_blob(values[i]);
            length = (sqlite3_uint64)sqlite3_value_bytes(values[i]);
        }
        if (to != NULL) {
            to[size] = type;
            memcpy(to + size + 1, &length, sizeof length);
            if (length > 0)
                memcpy(to + size + 1 + sizeof length, bytes, length);
        }
        size += 1 + sizeof length + length;
    }
    return size;
}

bool clr_values_copy(sqlite3_value *const *values, int count, struct clr_copied_values *copy)
{
    copy->size = clr_values_write(values, count, NULL);
    copy->bytes = sqlite3_malloc64(copy->size + 1);
    if (copy->bytes != NULL)
        clr_values_write(values, count, copy->bytes);
    return copy->bytes != NULL;
}

bool clr_copied_values_are_same(const struct clr_copied_values *a,
                                const struct clr_copied_values *b)
{
    return a->size == b->size && (a->size == 0 || memcmp(a->bytes, b->bytes, a->size) == 0);
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
