/* Subqueries in expressions of rows: what they name of the query around them, and what they read.
 */
#ifndef CLR_SQLITE_SUBQUERIES_H
#define CLR_SQLITE_SUBQUERIES_H

#include "query/query.h"
#include "query/reason.h"
#include "sqlite/schema/bytecode.h"
#include "sqlite/schema/table_info.h"
#include "sqlite/session/connection.h"

/*
 * Finds out which column of the query around it each subquery names, and notes it in the tree,
 * which is parsed: SQLite prepares the subquery beside a table that has that column alone. One that
 * names several, or what is no column, is left as one that names none: SQLite will not prepare it.
 * tables: those of FROM, whose names the tree refers to from then on. Returns SQLITE_OK or
 * SQLITE_NOMEM.
 */
int clr_subqueries_find(sqlite3 *db, struct clr_query *query, const struct clr_table_info *tables);

/* Whether subqueries, by SQLite's code, find their rows by searches alone: then it finds the same
   row first wherever they stand. */
bool clr_subqueries_search(const struct clr_bytecode *program);

/*
 * Sets the reason if a statement reads more than b-trees of that schema, or calls a function that
 * is not SQLite's own, gives one result now and another one later, or is one of times: nobody knows
 * then how long its results hold. So it does where subqueries give values for which no index is
 * searched: SQLite may make one in the query around them, and find another row first. Stores
 * whether the statement goes over a b-tree for each row. Returns SQLITE_OK or SQLITE_NOMEM.
 */
int clr_subqueries_check(const struct clr_connection *connection, const char *sql,
                         const char *schema, bool has_values, bool *walks,
                         struct clr_reason *reason);

#endif
