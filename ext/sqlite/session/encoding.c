#include "sqlite/session/encoding.h"

#include "sqlite/session/statement.h"

#include <string.h>

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
    return rc == SQLITE_NOMEM ? rc : SQLITE_OK;
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

bool clr_encoding_has_mark(const void *bytes, size_t size)
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
static int pass_utf8(sqlite3 *db, struct clr_passed_text *passed)
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
    *passed = (struct clr_passed_text){copy, (size_t)(end - copy), encoding, true};
    return SQLITE_OK;
}

int clr_encoding_pass(sqlite3 *db, const void *bytes, size_t size, int encoding,
                      struct clr_passed_text *passed)
{
    unsigned char *copy;

    *passed = (struct clr_passed_text){bytes, size, encoding, false};
    if (encoding == SQLITE_UTF8)
        return pass_utf8(db, passed);
    if (!clr_encoding_has_mark(bytes, size))
        return SQLITE_OK;
    copy = sqlite3_malloc64((sqlite3_uint64)size + 2);
    if (copy == NULL)
        return SQLITE_NOMEM;
    memcpy(write_mark(copy, encoding), bytes, size);
    *passed = (struct clr_passed_text){copy, size + 2, encoding, true};
    return SQLITE_OK;
}
