#include "sqlite/lookups/lookups.h"
#include "sqlite/session/sql_value.h"

#include <stdbool.h>
#include <string.h>

/*
 * A key of two INTEGERs of 32 bits is an INTEGER with the first one in its upper half. Any other is
 * a BLOB: for each part a byte with its type, the 8 bytes of a number, zeros for NULL, or 8 bytes
 * with the size of TEXT or a BLOB, and that. It does not leave the process, so numbers are as the
 * processor has them.
 */
enum { HEAD = 1 + sizeof(int64_t) };

/* Stores both parts, if they are such INTEGERs. */
static bool are_halves(int count, sqlite3_value **values, int64_t *parts)
{
    int i;

    for (i = 0; i < count && count == 2; i++) {
        if (sqlite3_value_type(values[i]) != SQLITE_INTEGER)
            return false;
        parts[i] = sqlite3_value_int64(values[i]);
        if (parts[i] != (int32_t)parts[i])
            return false;
    }
    return count == 2;
}

/* Adds a part. Returns false without memory: SQLite may have to end TEXT by a zero. */
static bool add_part(sqlite3_str *key, sqlite3_value *value)
{
    const int type = sqlite3_value_type(value);
    struct clr_value part = {.as.size = 0};
    int64_t number;

    if (type != SQLITE_NULL && !clr_value_read(value, &part))
        return false;
    number = type == SQLITE_INTEGER ? part.as.integer
             : type == SQLITE_FLOAT ? clr_bits_of(part.as.real)
                                    : (int64_t)part.as.size;
    sqlite3_str_appendchar(key, 1, (char)type);
    sqlite3_str_append(key, (const char *)&number, sizeof number);
    if (type == SQLITE_TEXT || type == SQLITE_BLOB)
        sqlite3_str_append(key, part.bytes, (int)part.as.size);
    return true;
}

static void make_key(sqlite3_context *context, int count, sqlite3_value **values)
{
    sqlite3_str *key;
    int64_t parts[2];
    int size, rc, i;

    if (are_halves(count, values, parts)) {
        sqlite3_result_int64(context, (int64_t)((uint64_t)parts[0] << 32 | (uint32_t)parts[1]));
        return;
    }
    key = sqlite3_str_new(sqlite3_context_db_handle(context));
    for (i = 0; i < count && add_part(key, values[i]); i++)
        ;
    rc = i < count ? SQLITE_NOMEM : sqlite3_str_errcode(key);
    size = sqlite3_str_length(key);
    if (rc == SQLITE_OK)
        sqlite3_result_blob(context, sqlite3_str_finish(key), size, sqlite3_free);
    else {
        sqlite3_free(sqlite3_str_finish(key));
        sqlite3_result_error_code(context, rc);
    }
}

static void set_part(sqlite3_context *context, int type, int64_t number, const char *bytes)
{
    double real;

    switch (type) {
    case SQLITE_INTEGER:
        sqlite3_result_int64(context, number);
        break;
    case SQLITE_FLOAT:
        memcpy(&real, &number, sizeof real);
        sqlite3_result_double(context, real);
        break;
    case SQLITE_TEXT:
        sqlite3_result_text(context, bytes, (int)number, SQLITE_TRANSIENT);
        break;
    case SQLITE_BLOB:
        sqlite3_result_blob(context, bytes, (int)number, SQLITE_TRANSIENT);
        break;
    default:
        break;
    }
}

/* The arguments are a key, and the number of a part; the result is NULL if it has none. */
static void find_part(sqlite3_context *context, int count, sqlite3_value **values)
{
    const int type = sqlite3_value_type(values[0]);
    int part = sqlite3_value_int(values[1]);
    const int64_t key = sqlite3_value_int64(values[0]);
    const char *bytes, *end;
    int64_t number;

    (void)count;
    if (type == SQLITE_INTEGER && (part == 0 || part == 1))
        sqlite3_result_int64(context, part == 0 ? key >> 32 : (int32_t)key);
    if (type != SQLITE_BLOB)
        return;
    bytes = sqlite3_value_blob(values[0]);
    end = bytes + sqlite3_value_bytes(values[0]);
    for (; end - bytes >= HEAD; part--) {
        const int kind = *bytes;
        const bool has_bytes = kind == SQLITE_TEXT || kind == SQLITE_BLOB;

        memcpy(&number, bytes + 1, sizeof number);
        bytes += HEAD;
        if (has_bytes && (number < 0 || number > end - bytes))
            return;
        if (part == 0) {
            set_part(context, kind, number, bytes);
            return;
        }
        if (has_bytes)
            bytes += number;
    }
}

const struct clr_sql_function clr_row_key_functions[] = {
    {CLR_ROW_KEY, -1, SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, make_key, NULL},
    {CLR_ROW_KEY_PART, 2, SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, find_part, NULL},
    {.name = NULL},
};
