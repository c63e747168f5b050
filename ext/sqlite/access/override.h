/*
 * The setting override: sum, total and avg are the exact ones, by SQLite's names. What else the
 * names mean, and how indexes are used, stays SQLite's.
 */
#ifndef CLR_SQLITE_OVERRIDE_H
#define CLR_SQLITE_OVERRIDE_H

#include "base/status.h"
#include "sqlite/session/connection.h"

#include <stdbool.h>

/*
 * Is called before the setting is set to a value. Returns CLR_OK, with the functions registered if
 * they are to be; CLR_NOMEM; or CLR_INVALID with a message: they cannot be registered, or be had
 * back.
 */
enum clr_code clr_override_prepare(struct clr_connection *connection, const char *value,
                                   struct clr_status *status);

#endif
