/* Rows of a statement, copied: so that the statement can go on to another use, or what they come
   from be written to. */
#ifndef CLR_SQLITE_KEPT_ROWS_H
#define CLR_SQLITE_KEPT_ROWS_H

#include "sqlite/api.h"

struct clr_kept_rows {
    sqlite3_value **values;        /* row by row; all of them owned */
    sqlite3_int64 count, capacity; /* of values */
    int columns;
};

/* Copies the first columns of the row at which the statement is. Returns SQLITE_OK or SQLITE_NOMEM;
   free in any case. */
int clr_kept_rows_add(struct clr_kept_rows *rows, sqlite3_stmt *statement, int columns);

/* Steps the statement to its end and copies its rows. Returns SQLITE_DONE, or the error code; free
   in any case. */
int clr_kept_rows_fill(struct clr_kept_rows *rows, sqlite3_stmt *statement);

/* Frees the copies and leaves no rows; zeros are fine. */
void clr_kept_rows_free(struct clr_kept_rows *rows);

#endif
