/*
 * The index by which SQLite itself reads all columns of a query, so that the table is not read at
 * all. Its records have the columns' own values: collating sequences only put them in order, and
 * SQLite gives a column the same affinity in both.
 */
#ifndef CLR_SQLITE_COVERING_INDEX_H
#define CLR_SQLITE_COVERING_INDEX_H

#include "sqlite/schema/table_info.h"

/*
 * Finds it, for a SELECT that reads `count` columns of the table, by their numbers. Stores it as a
 * table of the index's name, whose columns of these numbers have their places in the index, to be
 * freed with clr_table_info_free(); no name: there is none, or SQLite's code does not show that it
 * has all rows, and each column in one place of its records. Stores whether SQLite searches the
 * index, or, where there is none, the primary key of a table WITHOUT ROWID, by its first column.
 * Returns SQLITE_OK or SQLITE_NOMEM.
 */
int clr_covering_index_find(sqlite3 *db, const char *sql, const struct clr_table_info *table,
                            const int *columns, int count, struct clr_table_info *index,
                            bool *is_searched);

#endif
