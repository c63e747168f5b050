#include "sqlite/schema/covering_index.h"

#include "sqlite/schema/column_code.h"
#include "sqlite/schema/key_orders.h"
#include "sqlite/session/statement.h"

#include <string.h>

enum { AT_DETAIL = 3 }; /* column of EXPLAIN QUERY PLAN */

/* Whether the plan searches by the first column: of what it skips it searches by others alone. */
static bool searches(const char *detail)
{
    return strncmp(detail, "SEARCH", 6) == 0 && strstr(detail, " (ANY(") == NULL;
}

/*
 * Stores the name of the index that SQLite's plan goes through and no more, to be freed with
 * sqlite3_free(), or NULL; and whether it searches that, or the primary key of a WITHOUT ROWID
 * table. Plans that go through several tables or indexes, as those of subqueries, are left alone.
 * An index that has not all rows may be among them: see take_column().
 */
static int read_plan(sqlite3 *db, const char *sql, char **index, bool *is_searched)
{
    static const char word[] = " USING COVERING INDEX ";
    sqlite3_stmt *statement;
    int rc = clr_statement_prepare(db, &statement, "EXPLAIN QUERY PLAN %s", sql), loops = 0;

    *index = NULL;
    *is_searched = false;
    while (rc == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        const char *detail = (const char *)sqlite3_column_text(statement, AT_DETAIL), *name, *end;

        if (detail == NULL ||
            (strncmp(detail, "SCAN", 4) != 0 && strncmp(detail, "SEARCH", 6) != 0))
            continue;
        name = strstr(detail, word);
        *is_searched = ++loops == 1 && searches(detail) &&
                       (name != NULL || strstr(detail, " USING PRIMARY KEY ") != NULL);
        if (loops > 1 || name == NULL)
            continue;
        name += strlen(word);
        end = strstr(name, " (");
        *index = sqlite3_mprintf("%.*s", end == NULL ? (int)strlen(name) : (int)(end - name), name);
        if (*index == NULL)
            rc = SQLITE_NOMEM;
    }
    rc = clr_statement_end(statement, rc);
    if (rc != SQLITE_OK || loops > 1) {
        sqlite3_free(*index);
        *index = NULL;
    }
    return rc == SQLITE_NOMEM ? rc : SQLITE_OK;
}

/* Finds the place of a column in the records of the index, whose name is known. INDEXED BY is an
   error to SQLite for an index that lacks rows. */
static int take_column(sqlite3 *db, const struct clr_table_info *table, int number,
                       struct clr_table_info *index, bool *is_there)
{
    const struct clr_column_info *own = &table->columns[number];
    struct clr_column_info *column = &index->columns[number];
    struct clr_column_code code;
    int rc = clr_column_code_read(db, table->schema, table->name, own->name, index->name, &code);

    *is_there = own->is_stored && own->readable && rc == SQLITE_OK && code.index >= 0 &&
                code.without_rowid && code.root != 0 && code.root != table->root &&
                (index->root == 0 || index->root == code.root);
    if (!*is_there || column->name != NULL)
        return rc == SQLITE_NOMEM ? rc : SQLITE_OK;
    *column = *own;
    column->name = sqlite3_mprintf("%s", own->name);
    column->field.index = code.index;
    column->field.missing = (struct clr_scalar){.tag = CLR_TAG_NULL}; /* a record has all of it */
    index->root = code.root;
    return column->name == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

static int take_columns(sqlite3 *db, const struct clr_table_info *table, const int *columns,
                        int count, struct clr_table_info *index, bool *is_there)
{
    const size_t size = ((size_t)table->column_count + 1) * sizeof *index->columns;
    int rc = SQLITE_OK, i;

    index->schema = sqlite3_mprintf("%s", table->schema);
    index->columns = sqlite3_malloc64(size);
    if (index->schema == NULL || index->columns == NULL)
        return SQLITE_NOMEM;
    memset(index->columns, 0, size);
    index->column_count = table->column_count;
    index->without_rowid = true;
    *is_there = true;
    for (i = 0; i < count && rc == SQLITE_OK && *is_there; i++)
        rc = take_column(db, table, columns[i], index, is_there);
    if (rc == SQLITE_OK && *is_there)
        rc = clr_key_orders_find(db, index->schema, index->name, &index->key_orders);
    return rc;
}

int clr_covering_index_find(sqlite3 *db, const char *sql, const struct clr_table_info *table,
                            const int *columns, int count, struct clr_table_info *index,
                            bool *is_searched)
{
    bool is_there = false;
    int rc = SQLITE_OK;

    memset(index, 0, sizeof *index);
    *is_searched = false;
    if (count > 0)
        rc = read_plan(db, sql, &index->name, is_searched);
    if (rc == SQLITE_OK && index->name != NULL)
        rc = take_columns(db, table, columns, count, index, &is_there);
    *is_searched = *is_searched && (is_there || index->name == NULL);
    if (!is_there || rc != SQLITE_OK)
        clr_table_info_free(index);
    return rc;
}
