#include "sqlite/session/interruption.h"

#include "sqlite/session/statement.h"

#include <stddef.h>

bool clr_interruption_is_wanted(void *interruption)
{
    static const char text[] = "WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c "
                               "WHERE i < 100) SELECT i FROM c WHERE i = 100";
    struct clr_interruption *asker = interruption;
    int rc = SQLITE_OK;

    if (asker->poll == NULL)
        rc = clr_statement_make(asker->db, text, SQLITE_PREPARE_PERSISTENT, &asker->poll);
    if (rc == SQLITE_OK) {
        rc = sqlite3_step(asker->poll);
        sqlite3_reset(asker->poll);
    }
    return rc == SQLITE_INTERRUPT;
}

void clr_interruption_end(struct clr_interruption *interruption)
{
    sqlite3_finalize(interruption->poll);
    interruption->poll = NULL;
}
