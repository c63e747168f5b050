/*
 * Accelerated views that are made for whoever asks for a SELECT: clreduce_view_N, each a module of
 * its own, so that they are in no schema and no statement expires when one is made. The same SELECT
 * gets the same view again. Of those that nothing mentions, no prepared statement and no view or
 * trigger in temp, a few are kept; then the least recently used goes.
 */
#ifndef CLR_SQLITE_MADE_VIEWS_H
#define CLR_SQLITE_MADE_VIEWS_H

#include "sqlite/api.h"
#include "sqlite/session/connection.h"

#include <stdbool.h>

enum { CLR_MOST_MADE_VIEWS = 32, CLR_MADE_NAME = 40 };

/* So many arguments of a view may be NULL: see module.c. */
enum { CLR_MOST_NULLS = 16 };

/* How their names begin; a number follows. A statement names them as temp.NAME: no table of another
   schema hides them then. */
#define CLR_MADE_VIEW "clreduce_view_"

/*
 * Finds the view of a SELECT, or makes it if the SELECT can be accelerated. The caller holds the
 * schemas (clr_schema_renew()): SQLite finds out about none that is stale while a view is made, and
 * calls clr_views_end() once it has let them go. Returns SQLITE_OK with
 * its name; SQLITE_NOTFOUND if it can't, and the message says why; or SQLite's code with its
 * message. Messages are freed with sqlite3_free(), and are NULL without memory. sql: one SELECT.
 * compares: as clr_select_read() has it.
 */
int clr_made_view_get(struct clr_connection *connection, const char *sql, bool compares,
                      char name[CLR_MADE_NAME], char **message);

/* Has views that are left to SQLite be made anew when they are asked for: the reason may be one of
   another schema, and a view goes on to believe it for a while. */
void clr_made_views_doubt(struct clr_connection *connection);

/* Gives up a view that was made. Statements that are prepared of it must not be prepared again. */
void clr_made_view_drop(struct clr_connection *connection, const char *name);

#endif
