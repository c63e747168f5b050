/* Statements that are run once, of texts in the format of sqlite3_mprintf(). */
#ifndef CLR_SQLITE_ACCESS_STATEMENTS_H
#define CLR_SQLITE_ACCESS_STATEMENTS_H

#include "sqlite/api.h"

/* Runs statements that are no queries. Returns SQLite's code, with a message that is to be freed
   with sqlite3_free(); NULL without an error, and without memory. */
int clr_access_run(sqlite3 *db, char **message, const char *format, ...);

#endif
