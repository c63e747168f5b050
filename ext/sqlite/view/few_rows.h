/*
 * What SQLite answers by reading few rows is SQLite's: an equality or a range by an index, min() or
 * max() by one, LIMIT of what an index or the rowid has in order. Its code for the SELECT says
 * whether it may do so. How many rows it reads depends on the values that are asked for, and no
 * statistics tell that of a range. So SQLite runs the SELECT, with a term in its WHERE that counts
 * rows, until it takes too long: then a scan is quicker.
 */
#ifndef CLR_SQLITE_FEW_ROWS_H
#define CLR_SQLITE_FEW_ROWS_H

#include "base/backoff.h"
#include "sqlite/view/plan.h"

/* Rows of a statement, copied: so that the statement can go on to another use, or what they come
   from be written to. */
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

/* What a view remembers of it. Zeros at first. */
struct clr_few_rows {
    sqlite3_stmt *statement; /* the SELECT that counts, or NULL */
    bool is_stale;           /* as of struct clr_finisher */
    bool is_other;           /* SQLite goes over the rows in another way if they are counted */
    uint64_t failed; /* a hash of the parameters with which they were too many the last time */
    struct clr_backoff running; /* runs with these that are left to the scan */
    int64_t table_rows;         /* a guess, once it is needed */
    int64_t spent_ns;           /* what SQLite took so far */
    int64_t scan_ns; /* what the last scan took that loaded no columns; 0: there was none */
};

/* Finalizes the statement, and forgets all that is about a plan. */
void clr_few_rows_drop(struct clr_few_rows *few);

/*
 * Runs the SELECT of the plan as long as SQLite reads few rows, or takes less than a scan. Sets the
 * reason if it is SQLite's: then *answered says whether its rows were added to the rows, and else
 * SQLite is to run it. Returns SQLITE_OK, SQLITE_NOMEM or SQLITE_INTERRUPT.
 */
int clr_few_rows_answer(struct clr_few_rows *few, struct clr_connection *connection,
                        const struct clr_select *select, const struct clr_plan *plan,
                        sqlite3_value *const *parameters, struct clr_kept_rows *rows,
                        bool *answered, struct clr_reason *reason);

/* The function that counts, to be registered. */
extern const struct clr_sql_function clr_few_rows_functions[];

#endif
