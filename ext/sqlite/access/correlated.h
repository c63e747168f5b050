/*
 * Rows with aggregates of another table in subqueries, as a join:
 *
 *     SELECT u.*, (SELECT count(*) FROM orders AS o WHERE o.user_id = u.id) FROM users AS u
 *
 * goes to the orders of each user. As a join, which has the same rows, its groups are made before
 * it: see clr_eager_find().
 */
#ifndef CLR_SQLITE_CORRELATED_H
#define CLR_SQLITE_CORRELATED_H

#include "sqlite/session/connection.h"

/*
 * Writes a SELECT of one table with such subqueries, all over the same rows of one other table, as
 * a SELECT with LEFT JOIN and GROUP BY. sql: its text, without spaces around it; plain: the same,
 * prepared. Returns SQLITE_OK with *text, to be freed with sqlite3_free(): its parameters have the
 * numbers of the plain one's. It has the same rows if the key of its groups is unique and no NULL,
 * and the same order if groups come in that of the key, but for ORDER BY. Returns SQLITE_NOTFOUND
 * if the SELECT is none of these, or SQLITE_NOMEM.
 */
int clr_correlated_join(struct clr_connection *connection, sqlite3_stmt *plain, const char *sql,
                        char **text);

#endif
