/* Subqueries: what those in expressions of rows name of the query around them, and what they read;
   and those that SQLite evaluates as it finishes a query, apart from the SELECT that they are in.
 */
#ifndef CLR_SQLITE_SUBQUERIES_H
#define CLR_SQLITE_SUBQUERIES_H

#include "query/query.h"
#include "query/reason.h"
#include "sqlite/schema/bytecode.h"
#include "sqlite/schema/table_names.h"
#include "sqlite/session/connection.h"

/*
 * Finds out which column of the query around it each subquery names, and notes it in the tree,
 * which is parsed: SQLite prepares the subquery beside a table that has that column alone. One that
 * names several, or what is no column, is left as one that names none: SQLite will not prepare it.
 * tables: those of FROM, whose names the tree refers to from then on. Returns SQLITE_OK or
 * SQLITE_NOMEM.
 */
int clr_subqueries_find(sqlite3 *db, struct clr_query *query, const struct clr_table_info *tables);

/*
 * Sets the reason if a statement reads more than b-trees of databases in which the names are found,
 * or calls a function that is not SQLite's own, gives one result now and another one later, or is
 * one of times: nobody knows then how long its results hold. So it does where subqueries give
 * values for which no index is searched: SQLite may make one in the query around them, and find
 * another row first. Stores whether the statement goes over a b-tree for each row. Returns
 * SQLITE_OK or SQLITE_NOMEM.
 */
int clr_subqueries_check(const struct clr_connection *connection, const char *sql,
                         const struct clr_table_names *names, bool has_values, bool *walks,
                         struct clr_reason *reason);

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
