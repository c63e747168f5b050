/*
 * What a schema has, by name. SQLite folds names by itself, in ASCII, and so they are compared
 * here: an application may have a NOCASE, and a BINARY, of its own.
 */
#ifndef CLR_SQLITE_SCHEMA_ENTRIES_H
#define CLR_SQLITE_SCHEMA_ENTRIES_H

#include "sqlite/api.h"

#include <stdbool.h>

/* Kinds of entries; ANY has the indexes, too. */
enum {
    CLR_SCHEMA_TABLE = 1,
    CLR_SCHEMA_VIEW = 2,
    CLR_SCHEMA_TRIGGER = 4,
    CLR_SCHEMA_INDEX = 8,
    CLR_SCHEMA_ANY = 15
};

/* Columns of the statement. */
enum { CLR_SCHEMA_NAME, CLR_SCHEMA_OF_TABLE, CLR_SCHEMA_SQL, CLR_SCHEMA_ROOT, CLR_SCHEMA_KIND };

/* Prepares a statement of a schema's entries, to be finalized. Returns SQLite's code. */
int clr_schema_entries(sqlite3 *db, const char *schema, sqlite3_stmt **entries);

/* Steps to the next entry of one of the kinds whose column, CLR_SCHEMA_NAME or CLR_SCHEMA_OF_TABLE,
   is that name; NULL: any. Returns whether there is one; if not the statement's end says why. */
bool clr_schema_entries_next(sqlite3_stmt *entries, unsigned kinds, int column, const char *name);

/* Whether the statement is at a view. */
bool clr_schema_entry_is_view(sqlite3_stmt *entries);

/* Finds out whether a schema has such an entry. Returns SQLite's code. */
int clr_schema_has(sqlite3 *db, const char *schema, unsigned kinds, int column, const char *name,
                   bool *found);

/*
 * Reads the SELECT of a view, whose names mean tables of its own schema alone. Temporary views are
 * none here: their names mean tables of any schema. Returns SQLITE_OK with *select, to be freed
 * with sqlite3_free(), or NULL: there is no such view, or the schema cannot be read; or
 * SQLITE_NOMEM. columns: NULL, or stores text that begins with the list of its columns, likewise;
 * NULL if it has none.
 */
int clr_view_text_read(sqlite3 *db, const char *schema, const char *name, char **columns,
                       char **select);

#endif
