#include "sqlite/access/statements.h"

#include <stdarg.h>
#include <stddef.h>

int clr_access_run(sqlite3 *db, char **message, const char *format, ...)
{
    va_list arguments;
    char *sql, *error = NULL;
    int rc;

    va_start(arguments, format);
    sql = sqlite3_vmprintf(format, arguments);
    va_end(arguments);
    rc = sql == NULL ? SQLITE_NOMEM : sqlite3_exec(db, sql, NULL, NULL, &error);
    sqlite3_free(sql);
    *message = rc == SQLITE_NOMEM ? NULL : error;
    if (rc == SQLITE_NOMEM)
        sqlite3_free(error);
    else if (rc != SQLITE_OK && error == NULL)
        *message = sqlite3_mprintf("%s", sqlite3_errstr(rc));
    return rc;
}
