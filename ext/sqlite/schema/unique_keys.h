/* Which columns of a table tell its rows apart. */
#ifndef CLR_SQLITE_UNIQUE_KEYS_H
#define CLR_SQLITE_UNIQUE_KEYS_H

#include "query/table_facts.h"
#include "sqlite/schema/table_info.h"

/*
 * Reads a table's unique keys: its INTEGER PRIMARY KEY or rowid, and UNIQUE indexes of all rows and
 * of no more than CLR_MOST_KEY_COLUMNS columns. They are to be freed with sqlite3_free(). Returns
 * SQLITE_OK or SQLite's code.
 */
int clr_unique_keys_read(sqlite3 *db, const struct clr_table_info *table,
                         struct clr_unique_key **keys, int *count);

#endif
