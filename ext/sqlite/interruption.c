#include "sqlite/interruption.h"

#include <stddef.h>

bool clr_interruption_is_wanted(sqlite3 *db, sqlite3_stmt **poll)
{
    static const char text[] = "WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c "
                               "WHERE i < 100) SELECT i FROM c WHERE i = 100";
    int rc = SQLITE_OK;

    if (*poll == NULL)
        rc = sqlite3_prepare_v3(db, text, -1, SQLITE_PREPARE_PERSISTENT, poll, NULL);
    if (rc == SQLITE_OK) {
        rc = sqlite3_step(*poll);
        sqlite3_reset(*poll);
    }
    return rc == SQLITE_INTERRUPT;
}

bool clr_interruption_is_wanted_now(sqlite3 *db)
{
    sqlite3_stmt *poll = NULL;
    bool wanted = clr_interruption_is_wanted(db, &poll);

    sqlite3_finalize(poll);
    return wanted;
}
