/* What else is going on in a connection. */
#ifndef CLR_SQLITE_RUNNING_H
#define CLR_SQLITE_RUNNING_H

#include "sqlite/api.h"

#include <stdbool.h>

/*
 * Whether a statement that runs writes: it may be the one that a function, or a table, is called
 * by. One that another program, or function, begins meanwhile is as one that is begun while a
 * SELECT is.
 */
static inline bool clr_is_writing(sqlite3 *db)
{
    sqlite3_stmt *statement = NULL;

    while ((statement = sqlite3_next_stmt(db, statement)) != NULL) {
        if (sqlite3_stmt_busy(statement) && !sqlite3_stmt_readonly(statement))
            return true;
    }
    return false;
}

#endif
