/*
 * The entries of a dictionary as a table that SQLite reads: one virtual table for each affinity and
 * collation, whose column CLR_LOOKUP_COLUMN has them, so that an expression over it is to SQLite
 * what it is over the column of the dictionary.
 */
#ifndef CLR_SQLITE_ENTRIES_H
#define CLR_SQLITE_ENTRIES_H

#include "numeric/dictionary/dictionary.h"
#include "sqlite/schema/table_info.h"
#include "sqlite/session/connection.h"

/* What a statement reads: the entries from `first` on, up to `end`, behind which others may be
   added meanwhile. Bound as a pointer, and the binder's. */
struct clr_entries {
    const struct clr_dictionary *dictionary;
    int encoding; /* of TEXT: SQLITE_UTF8, SQLITE_UTF16LE or SQLITE_UTF16BE */
    uint32_t first, end;
};

/* Returns the table's name as SQL has it, quoted, for a FROM clause: "..."(?1) reads the entries
   that ?1 points to. To be freed with sqlite3_free(); NULL without memory. */
char *clr_entries_name(const struct clr_column_type *type);

/* Sees that the connection has that table. Returns SQLite's code. */
int clr_entries_register(struct clr_connection *connection, const struct clr_column_type *type);

/* Binds what the parameter points to. Returns SQLite's code. */
int clr_entries_bind(sqlite3_stmt *statement, int parameter, struct clr_entries *entries);

#endif
