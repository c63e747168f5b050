/*
 * Accelerated views that are made for whoever asks for a SELECT: temp.clreduce_view_N. The same
 * SELECT gets the same view again. Of those that nothing mentions, no prepared statement and no
 * other view or trigger in temp, a few are kept; then the least recently used goes.
 */
#ifndef CLR_SQLITE_MADE_VIEWS_H
#define CLR_SQLITE_MADE_VIEWS_H

#include "sqlite/session/connection.h"

#include <stdbool.h>

enum { CLR_MOST_MADE_VIEWS = 32, CLR_MADE_NAME = 40 };

/*
 * Returns SQLITE_OK with the name of the view of a SELECT, which is found or made; or SQLite's code
 * with a message, which is to be freed with sqlite3_free(), and NULL without memory. It writes to
 * the temp schema, so that no statement that runs may write (clr_is_writing()). lasting: it may
 * have been made only where no transaction can take it back.
 */
int clr_made_view_get(struct clr_connection *connection, const char *sql, bool lasting,
                      char name[CLR_MADE_NAME], char **message);

/* Whether a view of the SELECT was made, and may still be there. */
bool clr_made_view_exists(const struct clr_connection *connection, const char *sql);

/* Drops a view that was made, if it can be: it may be in use. */
void clr_made_view_drop(struct clr_connection *connection, const char *name);

/* Returns a copy of the text without spaces around it and semicolons at its end, to be freed with
   sqlite3_free(), or NULL without memory: the form in which SELECTs are compared. */
char *clr_made_view_trim(const char *sql);

#endif
