/* From the tallies of a scan to the values of the aggregates' calls. */
#ifndef CLR_SQLITE_FINISH_H
#define CLR_SQLITE_FINISH_H

#include "query/query_run.h"
#include "sqlite/api.h"

/*
 * Binds the value of a call, one of the run's query, to a parameter of the answer. Returns
 * SQLITE_OK; SQLITE_MISMATCH if SQLite's own result may be another one, or an error; else SQLite's
 * code.
 */
int clr_finish_call(struct clr_query_run *run, const struct clr_call *call, sqlite3_stmt *answer,
                    int parameter);

#endif
