#include "sqlite/groups/group_table.h"

#include "sqlite/session/virtual_table.h"

#include <string.h>

static const char pointer_type[] = "clreduce groups";

/* A key has a column for each affinity that its expression may have: TEXT, NUMERIC, REAL, BLOB. */
enum {
    KEY_COLUMNS = 4,
    FIRST_CALL = KEY_COLUMNS * CLR_MOST_KEYS,
    SOURCE = FIRST_CALL + CLR_MOST_CALLS
};

struct cursor {
    sqlite3_vtab_cursor base;
    const struct clr_group_values *values; /* the statement's; NULL: none were bound */
    size_t group;
};

static int connect_table(sqlite3 *db, void *argument, int count, const char *const *arguments,
                         sqlite3_vtab **table, char **error)
{
    sqlite3_str *text = sqlite3_str_new(NULL);
    char *declaration;
    int rc = SQLITE_NOMEM, i;

    (void)count;
    (void)arguments;
    (void)error;
    sqlite3_str_appendall(text, "CREATE TABLE groups(");
    for (i = 0; i < CLR_MOST_KEYS; i++)
        sqlite3_str_appendf(text,
                            "\"" CLR_GROUP_KEY_TEXT "\" TEXT, \"" CLR_GROUP_KEY_NUMERIC
                            "\" NUMERIC, \"" CLR_GROUP_KEY_REAL "\" REAL, \"" CLR_GROUP_KEY_BLOB
                            "\", ",
                            i, i, i, i);
    for (i = 0; i < CLR_MOST_CALLS; i++)
        sqlite3_str_appendf(text, "\"" CLR_GROUP_CALL "\", ", i);
    sqlite3_str_appendall(text, "\"c:source\" HIDDEN)");
    declaration = sqlite3_str_finish(text);
    if (declaration != NULL)
        rc = clr_virtual_table_connect(db, declaration, argument, table);
    sqlite3_free(declaration);
    return rc;
}

static int best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
    (void)table;
    return clr_virtual_table_plan(info, SOURCE);
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **result)
{
    (void)table;
    return clr_virtual_table_open(sizeof(struct cursor), result);
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *text, int count,
                  sqlite3_value **arguments)
{
    struct cursor *cursor = (struct cursor *)base;

    (void)number;
    (void)text;
    cursor->values = count == 1 ? sqlite3_value_pointer(arguments[0], pointer_type) : NULL;
    cursor->group = 0;
    return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *base)
{
    ((struct cursor *)base)->group++;
    return SQLITE_OK;
}

/* Whether these are the values of probes: a query's have bits. */
static bool is_probe(const struct clr_group_values *values)
{
    return values->bits == NULL;
}

static int eof(sqlite3_vtab_cursor *base)
{
    const struct cursor *cursor = (const struct cursor *)base;

    if (cursor->values == NULL)
        return true;
    return cursor->group >= (is_probe(cursor->values) ? 1 : cursor->values->rows);
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *result, int number)
{
    const struct cursor *cursor = (const struct cursor *)base;
    const struct clr_group_values *values = cursor->values;

    if (is_probe(values)) {
        sqlite3_result_int(result, 7);
        return SQLITE_OK;
    }
    if (number < FIRST_CALL)
        number /= KEY_COLUMNS;
    else
        number += values->key_count - FIRST_CALL;
    clr_group_values_set(values, cursor->group, number, result);
    return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *number)
{
    *number = (sqlite3_int64)((const struct cursor *)base)->group;
    return SQLITE_OK;
}

int clr_group_table_register(struct clr_connection *connection)
{
    static const sqlite3_module module = {.xConnect = connect_table,
                                          .xBestIndex = best_index,
                                          .xDisconnect = clr_virtual_table_disconnect,
                                          .xOpen = open_cursor,
                                          .xClose = clr_virtual_table_close,
                                          .xFilter = filter,
                                          .xNext = next,
                                          .xEof = eof,
                                          .xColumn = column,
                                          .xRowid = rowid};

    return sqlite3_create_module_v2(connection->db, CLR_GROUP_TABLE, &module, NULL, NULL);
}

int clr_group_table_bind(sqlite3_stmt *statement, int parameter, struct clr_group_values *values)
{
    static struct clr_group_values probe;

    return sqlite3_bind_pointer(statement, parameter, values == NULL ? &probe : values,
                                pointer_type, NULL);
}
