/* How an accelerated view is made, connected anew and let go: SQLite's callbacks for that. */
#ifndef CLR_SQLITE_VIEW_LIFE_H
#define CLR_SQLITE_VIEW_LIFE_H

#include "sqlite/api.h"

/* xCreate and xConnect; the first pointer is the connection's struct clr_connection. */
int clr_view_create(sqlite3 *db, void *connection, int count, const char *const *arguments,
                    sqlite3_vtab **result, char **error);
int clr_view_connect(sqlite3 *db, void *connection, int count, const char *const *arguments,
                     sqlite3_vtab **result, char **error);

/* xDisconnect, after which the view may be connected again, and xDestroy. */
int clr_view_disconnect(sqlite3_vtab *view);
int clr_view_destroy(sqlite3_vtab *view);

#endif
