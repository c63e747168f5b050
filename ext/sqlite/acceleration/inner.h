/* Whether subqueries are what SQLite may evaluate apart from the query that they are in. */
#ifndef CLR_SQLITE_INNER_H
#define CLR_SQLITE_INNER_H

#include "query/query.h"
#include "sqlite/api.h"

/*
 * Finds out, of a query whose parameters have numbers up to given, whether its subqueries name
 * nothing of the query around them, and whether none of those behind IN changes a key or an
 * aggregate as SQLite looks for it: see struct clr_query. What tables the names mean, and what
 * affinities their columns have, may be other things for each query. Sets the reason if not.
 * Returns SQLITE_OK or SQLITE_NOMEM.
 */
int clr_inner_check(sqlite3 *db, const struct clr_query *query, int given,
                    struct clr_reason *reason);

#endif
