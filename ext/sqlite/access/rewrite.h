/* SELECTs that accelerated views take the place of: clreduce_prepare_v2() (see clreduce.h) and
   clreduce_rewrite(), the same for programs that only send text; and clreduce_accelerate(). */
#ifndef CLR_SQLITE_REWRITE_H
#define CLR_SQLITE_REWRITE_H

#include "sqlite/session/connection.h"

/*
 * Prepares the accelerated statement that can run in the place of a plain one: it has the same
 * parameters and columns, but declared types of expressions that have none may be others. Returns
 * SQLITE_OK with *accelerated, to be finalized; SQLITE_NOTFOUND if there is none, with the reason
 * in *message; or SQLite's code. Messages are freed with sqlite3_free(), and may be NULL. Errors of
 * the connection stay as SQLite left them.
 */
int clr_accelerated_prepare(struct clr_connection *connection, sqlite3_stmt *plain, unsigned flags,
                            sqlite3_stmt **accelerated, char **message);

/*
 * Returns a SELECT whose rows are those of EXPLAIN QUERY PLAN of an accelerated statement, in the
 * plan's words for each view that was made for it, to be freed with sqlite3_free(). Its columns
 * have the names of those of explain, which explains the plain one. NULL if a view is not
 * accelerated now, or without memory.
 */
char *clr_accelerated_explain(struct clr_connection *connection, sqlite3_stmt *accelerated,
                              sqlite3_stmt *explain);

/*
 * Stores lines for people, each with its newline, to be freed with sqlite3_free(): of a SELECT that
 * is accelerated as a whole those of its view; else why not, and for each SELECT in it, behind two
 * spaces for each one around it therein, whether it is accelerated, or why not. Returns SQLITE_OK,
 * SQLITE_NOTFOUND if the text is that of no SELECT which SQLite prepares, or SQLITE_NOMEM. Errors
 * of the connection are lost.
 */
int clr_select_tell(struct clr_connection *connection, const char *sql, char **lines);

/* The functions, to be registered. */
extern const struct clr_sql_function clr_rewrite_functions[];

#endif
