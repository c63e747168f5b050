/* Whether a connection's statements are to stop, which SQLite before 3.41 tells nobody. */
#ifndef CLR_SQLITE_INTERRUPTION_H
#define CLR_SQLITE_INTERRUPTION_H

#include "sqlite/api.h"

#include <stdbool.h>

/*
 * Returns whether sqlite3_interrupt() was called, or the progress handler wants a stop, while a
 * statement of the connection runs: a small statement of our own meets the same fate, and the
 * handler, which counts its instructions. *poll is that statement, NULL at first, to be finalized
 * by the caller. Without memory for it the answer is no.
 */
bool clr_interruption_is_wanted(sqlite3 *db, sqlite3_stmt **poll);

/* The same, for who asks once. */
bool clr_interruption_is_wanted_now(sqlite3 *db);

#endif
