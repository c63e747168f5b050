#include "sqlite/access/view_columns.h"

#include "sqlite/session/statement.h"

#include <string.h>

void clr_view_columns_free(struct clr_view_columns *columns)
{
    clr_column_names_free(&columns->names);
    sqlite3_free(columns->comparisons);
    columns->comparisons = NULL;
}

int clr_view_columns_read(sqlite3 *db, const char *schema, const char *name,
                          struct clr_view_columns *columns)
{
    sqlite3_stmt *statement;
    int rc = clr_statement_prepare(db, &statement, "SELECT * FROM \"%w\".\"%w\"", schema, name);

    if (rc != SQLITE_OK)
        return rc;
    rc = clr_column_names_read(statement, &columns->names);
    if (rc == SQLITE_OK)
        columns->comparisons = sqlite3_malloc64(((sqlite3_uint64)columns->names.count + 1) *
                                                sizeof *columns->comparisons);
    if (columns->comparisons == NULL)
        rc = SQLITE_NOMEM;
    if (rc == SQLITE_OK)
        rc = clr_comparisons_read(statement, columns->comparisons);
    sqlite3_finalize(statement);
    return rc;
}

bool clr_view_columns_agree(const struct clr_view_columns *a, const struct clr_view_columns *b)
{
    bool agree = a->names.count == b->names.count;
    int i;

    for (i = 0; i < a->names.count && agree; i++)
        agree = strcmp(a->names.list[i], b->names.list[i]) == 0 &&
                a->comparisons[i].affinity != 0 &&
                a->comparisons[i].affinity == b->comparisons[i].affinity &&
                sqlite3_stricmp(a->comparisons[i].collation, b->comparisons[i].collation) == 0;
    return agree;
}
