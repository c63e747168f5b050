/* Subqueries that SQLite evaluates as it finishes a query, apart from the SELECT that they are in.
 */
#ifndef CLR_SQLITE_FINISH_SUBQUERIES_H
#define CLR_SQLITE_FINISH_SUBQUERIES_H

#include "query/query.h"
#include "sqlite/schema/bytecode.h"

/*
 * Finds out, of a query whose parameters have numbers up to given, whether its subqueries name
 * nothing of the query around them, and whether none of those behind IN changes a key or an
 * aggregate as SQLite looks for it: see struct clr_query. What tables the names mean, and what
 * affinities their columns have, may be other things for each query. whole: SQLite's code for the
 * SELECT, which has to have the subqueries go over the same rows; NULL: that is known. Sets the
 * reason if not. Returns SQLITE_OK or SQLITE_NOMEM.
 */
int clr_finish_subqueries_check(sqlite3 *db, const struct clr_query *query, int given,
                                const struct clr_bytecode *whole, struct clr_reason *reason);

#endif
