/* From the tallies of a scan to the values of the aggregates' calls. */
#ifndef CLR_SQLITE_FINISH_H
#define CLR_SQLITE_FINISH_H

#include "numeric/states/finish.h"
#include "query/query_run.h"
#include "sqlite/api.h"

#include <stdbool.h>

/*
 * Stores the value of a call, one of the run's query, from the run's tallies and answers. To be
 * called in the default floating-point environment. Returns whether SQLite's own result is the same
 * for sure; false: it may be another one, or an error, and there is no output. The output's code
 * may be CLR_NOMEM.
 */
bool clr_finish_output(struct clr_query_run *run, const struct clr_call *call,
                       struct clr_output *output);

/* Says why SQLite has to compute a call for which clr_finish_output() returned false. */
void clr_finish_refuse(const struct clr_call *call, struct clr_reason *reason);

/*
 * Binds the value of a call, one of the run's query, to a parameter of the answer. Returns
 * SQLITE_OK; SQLITE_MISMATCH if SQLite's own result may be another one, or an error; else SQLite's
 * code.
 */
int clr_finish_call(struct clr_query_run *run, const struct clr_call *call, sqlite3_stmt *answer,
                    int parameter);

#endif
