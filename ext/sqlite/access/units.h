/*
 * Statements of which parts are accelerated: each SELECT in one that names nothing around it is a
 * unit, and may be read from a view of its own. The rest of the text stays to the letter, and
 * SQLite runs it.
 */
#ifndef CLR_SQLITE_UNITS_H
#define CLR_SQLITE_UNITS_H

#include "query/reason.h"
#include "sqlite/access/made_views.h"
#include "sqlite/session/connection.h"

#include <stdbool.h>

/* Finds out whether a text is that of a SELECT which is planned at all, and whether its rows are
   those of a table: most others are found out at once. Returns SQLITE_OK, SQLITE_NOTFOUND with the
   reason, or SQLITE_NOMEM. */
int clr_select_look(const char *text, bool *has_rows, char why[CLR_REASON_TEXT]);

/*
 * Writes a statement with views in the place of the units that are accelerated, the outermost ones
 * first. sql: its text, which SQLite has prepared, and which reads main alone. Returns SQLITE_OK
 * with *text, to be freed with sqlite3_free(), which has the same parameters, columns and rows, in
 * their order, but perhaps other names of columns; SQLITE_NOTFOUND if there is no such unit; or
 * SQLITE_NOMEM. lines: gets a line for each SELECT that is looked at, which says for people whether
 * it is accelerated, or why not; or NULL. The connection's error is lost.
 */
int clr_units_write(struct clr_connection *connection, const char *sql, sqlite3_str *lines,
                    char **text);

/* A statement whose scalar subqueries are parameters: those that are accelerated, and have neither
   an affinity nor a collating sequence, as a parameter has none. */
struct clr_lifted {
    char *text;
    int count;
    char *values[CLR_MOST_NULLS]; /* the subqueries, each as a SELECT from its view */
};

/* The names of such parameters; a number from 1 on follows. */
#define CLR_LIFTED_NAME ":clreduce_value_"

/* Lifts the subqueries of a statement, which clr_units_write() describes, and whose rows keep their
   order. Its texts are to be freed with sqlite3_free() in any case. Returns likewise. */
int clr_units_lift(struct clr_connection *connection, const char *sql, sqlite3_str *lines,
                   struct clr_lifted *lifted);

/* ---- correlated.c: rows with aggregates of another table in subqueries, as a join. */

/*
 * Writes a SELECT of one table with such subqueries, all over the same rows of one other table, as
 * a SELECT with LEFT JOIN and GROUP BY. sql: its text, without spaces around it; plain: the same,
 * prepared. Returns SQLITE_OK with *text, to be freed with clr_memory_free(): its parameters have
 * the numbers of the plain one's. It has the same rows if the key of its groups is unique and no
 * NULL, and the same order if groups come in that of the key, but for ORDER BY. Returns
 * SQLITE_NOTFOUND if the SELECT is none of these, or SQLITE_NOMEM.
 */
int clr_correlated_join(struct clr_connection *connection, sqlite3_stmt *plain, const char *sql,
                        char **text);

#endif
