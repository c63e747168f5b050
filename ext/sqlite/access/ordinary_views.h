/*
 * Ordinary views that accelerated ones go before: temp.NAME, a view of the same name and columns
 * over the accelerated view of SELECT * FROM SCHEMA.NAME. SQLite looks in temp first, so that
 * statements that name the view go through it unchanged. What the ordinary view means, which
 * tables its names are and who may read them, stays as it is: see plan.h.
 */
#ifndef CLR_SQLITE_ORDINARY_VIEWS_H
#define CLR_SQLITE_ORDINARY_VIEWS_H

#include "sqlite/access/made_views.h"
#include "sqlite/session/connection.h"

/*
 * Has an accelerated view go before the ordinary one that the name means, or finds that it does.
 * NULL: the same of all views that can be accelerated, and there may be none. *count says how many
 * there are. Returns SQLITE_OK; or SQLite's code with a message, which is to be freed with
 * sqlite3_free(), and NULL without memory. No statement that runs may write: see made_views.h.
 */
int clr_ordinary_views_accelerate(struct clr_connection *connection, const char *name, int *count,
                                  char **message);

/* Finds the accelerated view that goes before the ordinary one of that name; made is empty if there
   is none. Returns SQLite's code. */
int clr_ordinary_view_find(struct clr_connection *connection, const char *name,
                           char made[CLR_MADE_NAME]);

#endif
