/*
 * The encodings of TEXT. SQLite gives a function TEXT in any of them, but keeps not all of it:
 * halves of surrogate pairs, U+FFFE and U+FFFF do not come back from UTF-8; and TEXT that it is
 * given in UTF-16 loses a mark of byte order at its beginning, and is read by it.
 */
#ifndef CLR_SQLITE_ENCODING_H
#define CLR_SQLITE_ENCODING_H

#include "sqlite/api.h"

#include <stdbool.h>
#include <stddef.h>

/* Finds out how the connection's databases encode TEXT: SQLITE_UTF8, SQLITE_UTF16LE or
   SQLITE_UTF16BE; 0 if that cannot be had. Returns SQLITE_OK or SQLITE_NOMEM. */
int clr_encoding_find(sqlite3 *db, int *encoding);

/* Whether UTF-16 begins with what SQLite takes for a mark, of either order. */
bool clr_encoding_has_mark(const void *bytes, size_t size);

/* Whether UTF-8 is the same in a database of UTF-16, as far as it is UTF-8 at all. */
bool clr_encoding_keeps_utf8(const void *bytes, size_t size);

/* Whether UTF-16 of that encoding is the same again once it has been UTF-8. */
bool clr_encoding_keeps_utf16(const void *bytes, size_t size, int encoding);

/* TEXT in the form in which SQLite takes it as it is. */
struct clr_passed_text {
    const void *bytes;
    size_t size;
    int encoding;
    bool is_copy; /* to be freed with sqlite3_free(); else they are the caller's bytes */
};

/* Finds that form for TEXT in an encoding. Returns SQLITE_OK or SQLITE_NOMEM. */
int clr_encoding_pass(sqlite3 *db, const void *bytes, size_t size, int encoding,
                      struct clr_passed_text *passed);

#endif
