#include "sqlite/session/schema_names.h"

#include "sqlite/session/statement.h"

#include <stddef.h>

static int add(struct clr_schema_names *names, const char *name)
{
    char **list =
        sqlite3_realloc64(names->list, ((sqlite3_uint64)names->count + 1) * sizeof *names->list);

    if (list == NULL)
        return SQLITE_NOMEM;
    names->list = list;
    list[names->count] = name == NULL ? NULL : sqlite3_mprintf("%s", name);
    if (list[names->count] == NULL)
        return SQLITE_NOMEM;
    names->count++;
    return SQLITE_OK;
}

int clr_schema_names_read(sqlite3 *db, struct clr_schema_names *names)
{
    sqlite3_stmt *statement;
    int rc = clr_statement_prepare(db, &statement, "PRAGMA database_list");

    *names = (struct clr_schema_names){NULL, 0};
    while (rc == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
        rc = add(names, (const char *)sqlite3_column_text(statement, 1));
    rc = clr_statement_end(statement, rc);
    if ((rc == SQLITE_OK && names->count == 0) || rc == SQLITE_AUTH) {
        rc = add(names, "main");
        if (rc == SQLITE_OK)
            rc = add(names, "temp");
    }
    if (rc != SQLITE_OK)
        clr_schema_names_free(names);
    return rc;
}

void clr_schema_names_free(struct clr_schema_names *names)
{
    while (names->count > 0)
        sqlite3_free(names->list[--names->count]);
    sqlite3_free(names->list);
    names->list = NULL;
}
