/* How SQLite compares a column's values: its affinity and its collation. */
#ifndef CLR_SQLITE_COLUMN_TYPE_H
#define CLR_SQLITE_COLUMN_TYPE_H

#include "sqlite/schema/affinity.h"
#include "sqlite/schema/table_info.h"

struct clr_column_type {
    enum clr_affinity affinity; /* never CLR_AFFINITY_ANY */
    char *collation;            /* its name */
};

/* Finds the type of a table's column, by its number, or of the rowid. Returns SQLITE_OK, SQLite's
   code if the schema does not tell, or SQLITE_NOMEM. To be freed with clr_column_type_free() in any
   case. */
int clr_column_type_find(sqlite3 *db, const struct clr_table_info *table, int number,
                         struct clr_column_type *type);
void clr_column_type_free(struct clr_column_type *type);

#endif
