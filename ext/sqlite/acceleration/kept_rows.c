#include "sqlite/acceleration/kept_rows.h"

#include <string.h>

static int keep(struct clr_kept_rows *rows, sqlite3_value *value)
{
    if (rows->count == rows->capacity) {
        sqlite3_int64 capacity = rows->capacity * 2 + 64;
        sqlite3_value **values =
            sqlite3_realloc64(rows->values, (sqlite3_uint64)capacity * sizeof *values);
        if (values == NULL)
            return SQLITE_NOMEM;
        rows->values = values;
        rows->capacity = capacity;
    }
    rows->values[rows->count] = sqlite3_value_dup(value);
    if (rows->values[rows->count] == NULL)
        return SQLITE_NOMEM;
    rows->count++;
    return SQLITE_OK;
}

int clr_kept_rows_add(struct clr_kept_rows *rows, sqlite3_stmt *statement, int columns)
{
    int i, rc = SQLITE_OK;

    rows->columns = columns;
    for (i = 0; i < columns && rc == SQLITE_OK; i++)
        rc = keep(rows, sqlite3_column_value(statement, i));
    return rc;
}

int clr_kept_rows_fill(struct clr_kept_rows *rows, sqlite3_stmt *statement)
{
    int rc;

    while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
        if (clr_kept_rows_add(rows, statement, sqlite3_column_count(statement)) != SQLITE_OK)
            return SQLITE_NOMEM;
    }
    return rc;
}

void clr_kept_rows_free(struct clr_kept_rows *rows)
{
    while (rows->count > 0)
        sqlite3_value_free(rows->values[--rows->count]);
    sqlite3_free(rows->values);
    memset(rows, 0, sizeof *rows);
}
