/* Values on their way from and to SQLite, and errors. */
#ifndef CLR_SQLITE_SQL_VALUE_H
#define CLR_SQLITE_SQL_VALUE_H

#include "numeric/states/aggregate_table.h"
#include "numeric/values/value.h"
#include "sqlite/api.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * The encodings of TEXT. SQLite gives a function TEXT in any of them, but keeps not all of it:
 * halves of surrogate pairs, U+FFFE and U+FFFF do not come back from UTF-8; and TEXT that it is
 * given in UTF-16 loses a mark of byte order at its beginning, and is read by it.
 */

/* Finds out how the connection's databases encode TEXT: SQLITE_UTF8, SQLITE_UTF16LE or
   SQLITE_UTF16BE; 0 if that cannot be had. Returns SQLITE_OK, SQLITE_NOMEM or SQLITE_INTERRUPT. */
int clr_encoding_find(sqlite3 *db, int *encoding);

/* Whether UTF-8 is the same in a database of UTF-16, as far as it is UTF-8 at all. */
bool clr_encoding_keeps_utf8(const void *bytes, size_t size);

/* Whether UTF-16 of that encoding is the same again once it has been UTF-8. */
bool clr_encoding_keeps_utf16(const void *bytes, size_t size, int encoding);

/* Stores an argument that is not NULL; bytes stay SQLite's. Returns false without memory: SQLite
   may have to convert TEXT to UTF-8. */
bool clr_value_read(sqlite3_value *argument, struct clr_value *value);

/* The same, with TEXT in another encoding. In the database's own its bytes are those of the row. */
bool clr_value_read_in(sqlite3_value *argument, int encoding, struct clr_value *value);

/* Stores the number that SQLite's sum() takes a value for: aggregates.h, clause 5. Returns false
   for NULL. */
bool clr_value_read_number(sqlite3_value *argument, struct clr_value *number);

/* Makes an output the result of a function, or its error. Bytes are copied, or freed by SQLite if
   they are the output's own memory. */
void clr_output_set(sqlite3_context *context, const struct clr_output *output);

/* Binds values to a statement's parameters, as far as it has so many, from ?1 on; NULL: one that is
   left unbound. sqlite3_bind_value() would lose a mark of byte order of UTF-16. Returns SQLite's
   code. */
int clr_values_bind(sqlite3_stmt *statement, sqlite3_value *const *values, int count);

/* Writes values as bytes, each with its type and its length, so that no two lists look alike; NULL
   is the same as a NULL pointer. to: NULL where the size alone is asked for. Returns how many. */
sqlite3_uint64 clr_values_write(sqlite3_value *const *values, int count, unsigned char *to);

/* Values as those bytes, memory of SQLite's. Zeros: none. */
struct clr_copied_values {
    unsigned char *bytes;
    sqlite3_uint64 size;
};

/* Returns false without memory, with bytes of NULL. */
bool clr_values_copy(sqlite3_value *const *values, int count, struct clr_copied_values *copy);

/* Whether they are as many values, of the same types, and the same; of TEXT and BLOBs all bytes. */
bool clr_copied_values_are_same(const struct clr_copied_values *a,
                                const struct clr_copied_values *b);

/*
 * Sets a scalar as the result of a function or of a column; BYTES are those at the address that it
 * has, TEXT in the encoding (SQLITE_UTF8, ...). release: SQLITE_STATIC or SQLITE_TRANSIENT.
 */
void clr_scalar_set(sqlite3_context *context, const struct clr_scalar *scalar, int encoding,
                    sqlite3_destructor_type release);

/* Sets a function's error in the format of sqlite3_mprintf(). */
void clr_set_error(sqlite3_context *context, const char *format, ...);

#endif
