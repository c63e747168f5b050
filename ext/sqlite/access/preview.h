/* Whether a SELECT is accelerated, before there is a view of it. */
#ifndef CLR_SQLITE_PREVIEW_H
#define CLR_SQLITE_PREVIEW_H

#include "sqlite/session/connection.h"

#include <stdbool.h>

/*
 * Plans the SELECT as an accelerated view of it would be planned. Returns SQLITE_OK with *planned,
 * and if that is false the first line of the plan in *message; or an error code with a message,
 * which is NULL without memory. Messages are freed with sqlite3_free().
 */
int clr_preview(struct clr_connection *connection, const char *sql, bool *planned, char **message);

#endif
