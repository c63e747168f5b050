#include "sqlite/session/statement.h"

#include "sqlite/session/limits.h"

#include <stdarg.h>
#include <stddef.h>

int clr_statement_make(sqlite3 *db, const char *sql, unsigned flags, sqlite3_stmt **statement)
{
    const struct clr_limits limits = clr_limits_lift(db);
    const int rc = sqlite3_prepare_v3(db, sql, -1, flags, statement, NULL);

    clr_limits_set(db, &limits);
    return rc;
}

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
        rc = clr_statement_make(db, sql, 0, statement);
    sqlite3_free(sql);
    return rc;
}

int clr_statement_end(sqlite3_stmt *statement, int rc)
{
    const int ended = sqlite3_finalize(statement);

    return rc == SQLITE_OK ? ended : rc;
}
