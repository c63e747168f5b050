/* The result row of an accelerated view, from a run whose tallies are complete. */
#ifndef CLR_SQLITE_ANSWER_H
#define CLR_SQLITE_ANSWER_H

#include "base/float_environment.h"
#include "query/query_run.h"
#include "sqlite/acceleration/kept_rows.h"
#include "sqlite/acceleration/select.h"

#include <stdbool.h>

/*
 * The statement that makes the row: kept with the view, bound and stepped once for each query.
 * Zeros at first. is_stale: a statement that reads the view was prepared since. The answer is then
 * prepared anew, so that functions mean what they mean there: an application may add some without
 * SQLite telling statements that were prepared before.
 */
struct clr_answer {
    sqlite3_stmt *statement;
    bool is_stale;
};

/*
 * Adds the row of a run of the SELECT's query to the rows; or sets the reason if SQLite has to run
 * the SELECT. environment: the caller's, in which SQLite computes the row. Returns SQLITE_OK or
 * SQLITE_NOMEM.
 */
int clr_answer_make(struct clr_answer *answer, sqlite3 *db, const struct clr_select *select,
                    struct clr_query_run *run, sqlite3_value *const *parameters,
                    const struct clr_float_environment *environment, struct clr_kept_rows *rows,
                    struct clr_reason *reason);

/* Finalizes the statement, if there is one: for another query, or for good. */
void clr_answer_drop(struct clr_answer *answer);

#endif
