#include "sqlite/window_use.h"

#include <string.h>

enum { OPCODE_COLUMN = 1 };

static bool explains_inverse(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *explain = NULL;
    bool found = false;
    char *text;
    int rc;

    text = sqlite3_mprintf("EXPLAIN %s", sql);
    if (text == NULL)
        return true;
    rc = sqlite3_prepare_v2(db, text, -1, &explain, NULL);
    sqlite3_free(text);
    if (rc != SQLITE_OK)
        return true;
    while (!found && (rc = sqlite3_step(explain)) == SQLITE_ROW) {
        const char *opcode = (const char *)sqlite3_column_text(explain, OPCODE_COLUMN);
        found = opcode == NULL || strcmp(opcode, "AggInverse") == 0;
    }
    sqlite3_finalize(explain);
    return found || rc != SQLITE_DONE;
}

bool clr_window_use(sqlite3 *db)
{
    sqlite3_stmt *statement = NULL;

    while ((statement = sqlite3_next_stmt(db, statement)) != NULL) {
        const char *sql = sqlite3_sql(statement);
        if (sqlite3_stmt_busy(statement) && (sql == NULL || explains_inverse(db, sql)))
            return true;
    }
    return false;
}
