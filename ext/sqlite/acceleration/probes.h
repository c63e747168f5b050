/*
 * Probes: calls of the functions that a scan computes, with constants, in the statement that makes
 * the answer. An application can replace a function at any time, and an authorizer can turn a
 * call into NULL, without SQLite preparing anything anew; what the probes give tells.
 */
#ifndef CLR_SQLITE_PROBES_H
#define CLR_SQLITE_PROBES_H

#include "query/query.h"
#include "sqlite/api.h"

#include <stdbool.h>

/* Appends the probes to the select list of query->answer, or writes query->probes if the query is
   one of groups: a SELECT that is to be run over a table of groups whose one row is all 7.
   SQLITE_OK or SQLITE_NOMEM. */
int clr_probes_add(struct clr_query *query);

/*
 * Steps the answer to its row, once. Returns whether there is one, and its columns from number
 * `first` on are what the functions that the scan computed give.
 */
bool clr_probes_pass(sqlite3_stmt *answer, int first);

#endif
