#include "sqlite/session/statement.h"

#include <stdarg.h>
#include <stddef.h>

int clr_statement_prepare(sqlite3 *db, sqlite3_stmt **statement, const char *format, ...)
{
    va_list arguments;
    char *sql;

    va_start(arguments, format);
    sql = sqlite3_vmprintf(format, arguments);
    va_end(arguments);
    return clr_statement_prepare_text(db, statement, sql);
}

int clr_statement_prepare_text(sqlite3 *db, sqlite3_stmt **statement, char *sql)
{
    int rc = SQLITE_NOMEM;

    *statement = NULL;
    if (sql != NULL)
        rc = sqlite3_prepare_v2(db, sql, -1, statement, NULL);
    sqlite3_free(sql);
    return rc;
}

int clr_statement_end(sqlite3_stmt *statement, int rc)
{
    const int ended = sqlite3_finalize(statement);

    return rc == SQLITE_OK ? ended : rc;
}
