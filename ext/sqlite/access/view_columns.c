#include "sqlite/access/view_columns.h"

#include "sqlite/session/statement.h"

#include <string.h>

void clr_view_columns_free(struct clr_view_columns *columns)
{
    int i;

    for (i = 0; i < columns->count && columns->names != NULL; i++)
        sqlite3_free(columns->names[i]);
    sqlite3_free(columns->names);
    sqlite3_free(columns->comparisons);
    *columns = (struct clr_view_columns){.names = NULL};
}

int clr_view_columns_read(sqlite3 *db, const char *schema, const char *name,
                          struct clr_view_columns *columns)
{
    sqlite3_stmt *statement;
    int rc = clr_statement_prepare(db, &statement, "SELECT * FROM \"%w\".\"%w\"", schema, name), i;
    sqlite3_uint64 count;

    if (rc != SQLITE_OK)
        return rc;
    count = (sqlite3_uint64)sqlite3_column_count(statement);
    columns->names = sqlite3_malloc64(count * sizeof *columns->names);
    columns->comparisons = sqlite3_malloc64(count * sizeof *columns->comparisons);
    for (i = 0; i < (int)count && columns->names != NULL && rc == SQLITE_OK; i++) {
        const char *column = sqlite3_column_name(statement, i);
        columns->names[i] = column == NULL ? NULL : sqlite3_mprintf("%s", column);
        columns->count = i + 1;
        if (columns->names[i] == NULL)
            rc = SQLITE_NOMEM;
    }
    sqlite3_finalize(statement);
    if (rc != SQLITE_OK || columns->names == NULL || columns->comparisons == NULL)
        return SQLITE_NOMEM;
    return clr_comparisons_read(db, schema, name, (const char *const *)columns->names,
                                columns->count, columns->comparisons);
}

bool clr_view_columns_agree(const struct clr_view_columns *a, const struct clr_view_columns *b)
{
    bool agree = a->count == b->count;
    int i;

    for (i = 0; i < a->count && agree; i++)
        agree = strcmp(a->names[i], b->names[i]) == 0 && a->comparisons[i].affinity != 0 &&
                a->comparisons[i].affinity == b->comparisons[i].affinity &&
                sqlite3_stricmp(a->comparisons[i].collation, b->comparisons[i].collation) == 0;
    return agree;
}
