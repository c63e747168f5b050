/*
 * Accelerated views that are made for whoever asks for a SELECT: temp.clreduce_view_N. The same
 * SELECT gets the same view again. Of those that nothing mentions, no prepared statement and no
 * other view or trigger in temp, a few are kept; then the least recently used goes.
 */
#ifndef CLR_SQLITE_MADE_VIEWS_H
#define CLR_SQLITE_MADE_VIEWS_H

#include "sqlite/api.h"
#include "sqlite/session/connection.h"

#include <stdbool.h>

enum { CLR_MOST_MADE_VIEWS = 32, CLR_MADE_NAME = 40 };

/*
 * Finds the view of a SELECT, or makes it if that is allowed. Returns SQLITE_OK with its name;
 * SQLITE_NOTFOUND if it is not there and must not be made; or SQLite's code with a message, which
 * is to be freed with sqlite3_free(), and NULL without memory. It writes to the temp schema, so
 * that no statement that runs may write (clr_is_writing()). sql: one SELECT, as clr_preview() has
 * read it.
 */
int clr_made_view_get(struct clr_connection *connection, const char *sql, bool may_make,
                      char name[CLR_MADE_NAME], char **message);

/* Whether a view of the SELECT was made, and may still be there. */
bool clr_made_view_exists(const struct clr_connection *connection, const char *sql);

/* Drops a view that was made, if it can be: it may be in use. */
void clr_made_view_drop(struct clr_connection *connection, const char *name);

/*
 * Plans the SELECT as an accelerated view of it would be planned. Returns SQLITE_OK with *planned,
 * and if that is false the first line of the plan in *message; or an error code with a message,
 * which is NULL without memory. Messages are freed with sqlite3_free().
 */
int clr_preview(struct clr_connection *connection, const char *sql, bool *planned, char **message);

/* Runs statements that are no queries. Returns SQLite's code, with a message that is to be freed
   with sqlite3_free(); NULL without an error, and without memory. */
int clr_access_run(sqlite3 *db, char **message, const char *format, ...);

#endif
