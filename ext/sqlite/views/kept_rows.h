/* Rows of a statement, all of them, copied: for as long as what they come from is being written to.
 */
#ifndef CLR_SQLITE_KEPT_ROWS_H
#define CLR_SQLITE_KEPT_ROWS_H

#include "sqlite/api.h"

struct clr_kept_rows {
    sqlite3_value **values;        /* row by row; all of them owned */
    sqlite3_int64 count, capacity; /* of values */
    int columns;
};

/* Steps the statement to its end and copies its rows. Returns SQLITE_DONE, or the error code; free
   in any case. */
int clr_kept_rows_fill(struct clr_kept_rows *rows, sqlite3_stmt *statement);

/* Frees the copies and leaves no rows; zeros are fine. */
void clr_kept_rows_free(struct clr_kept_rows *rows);

#endif
