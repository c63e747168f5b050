/*
 * The names of a SELECT's columns as SQLite gives them by default. By PRAGMA full_column_names and
 * short_column_names it gives others, which a view's columns do not follow.
 */
#ifndef CLR_SQLITE_COLUMN_NAMES_H
#define CLR_SQLITE_COLUMN_NAMES_H

#include "sqlite/api.h"

struct clr_column_names {
    char **list;
    int count;
};

/* Reads the names of a SELECT that was prepared, to be freed with clr_column_names_free() in any
   case. Returns SQLITE_OK or SQLITE_NOMEM. */
int clr_column_names_read(sqlite3_stmt *select, struct clr_column_names *names);

/* Frees what it holds; zeros are fine. */
void clr_column_names_free(struct clr_column_names *names);

#endif
