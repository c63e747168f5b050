/* Whether a connection's statements are to stop, which SQLite before 3.41 tells nobody. */
#ifndef CLR_SQLITE_INTERRUPTION_H
#define CLR_SQLITE_INTERRUPTION_H

#include "sqlite/api.h"

#include <stdbool.h>

/* Who asks: all zeros but for db at first; clr_interruption_end() when nobody asks any more. */
struct clr_interruption {
    sqlite3 *db;
    sqlite3_stmt *poll;
};

/*
 * Returns whether sqlite3_interrupt() was called, or the progress handler wants a stop, while a
 * statement of the connection runs: a small statement of our own meets the same fate, and the
 * handler, which counts its instructions. Without memory for it the answer is no. As for a
 * clr_watch the argument is void: a struct clr_interruption.
 */
bool clr_interruption_is_wanted(void *interruption);

/* Frees what asking took. */
void clr_interruption_end(struct clr_interruption *interruption);

#endif
