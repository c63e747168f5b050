#include "sqlite/inspect/tables.h"

#include "sqlite/inspect/column_table.h"
#include "sqlite/inspect/device_table.h"
#include "sqlite/inspect/plan_table.h"
#include "sqlite/inspect/settings_table.h"
#include "sqlite/inspect/stats_table.h"
#include "sqlite/session/virtual_table.h"

#include <string.h>

/* The tables; each module's argument is its row here, bound to a connection. */
static const struct clr_table *const tables[] = {
    &clr_device_table, &clr_stats_table, &clr_settings_table, &clr_column_table, &clr_plan_table,
};

/* The columns of a table-valued function. */
enum { COLUMN_LINE, COLUMN_ARGUMENT };

struct binding {
    struct clr_connection *connection;
    const struct clr_table *table;
};

struct cursor {
    sqlite3_vtab_cursor base;
    sqlite3_int64 row, rows;
    struct clr_lines lines; /* of a table-valued function */
};

static int connect(sqlite3 *db, void *argument, int count, const char *const *arguments,
                   sqlite3_vtab **result, char **error)
{
    const struct clr_table *table = ((struct binding *)argument)->table;

    (void)count;
    (void)arguments;
    (void)error;
    if (table->innocuous)
        sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
    return clr_virtual_table_connect(db, table->declaration, argument, result);
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    const struct clr_table *table = ((struct binding *)clr_virtual_table_argument(base))->table;
    int i, rc = SQLITE_OK;

    info->estimatedCost = 30;
    info->estimatedRows = 30;
    for (i = 0; i < info->nConstraint && table->list != NULL; i++) {
        if (info->aConstraint[i].iColumn != COLUMN_ARGUMENT ||
            info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
            continue;
        if (!info->aConstraint[i].usable) {
            rc = SQLITE_CONSTRAINT; /* unless another one is */
            continue;
        }
        info->aConstraintUsage[i].argvIndex = 1;
        info->aConstraintUsage[i].omit = 1;
        return SQLITE_OK;
    }
    return rc;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **result)
{
    (void)table;
    return clr_virtual_table_open(sizeof(struct cursor), result);
}

static struct binding *binding_of(sqlite3_vtab_cursor *cursor)
{
    return clr_virtual_table_argument(cursor->pVtab);
}

static void drop_lines(struct clr_lines *lines)
{
    while (lines->count > 0)
        sqlite3_free(lines->text[--lines->count]);
    sqlite3_free(lines->text);
    sqlite3_free(lines->argument);
    memset(lines, 0, sizeof *lines);
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    drop_lines(&((struct cursor *)base)->lines);
    return clr_virtual_table_close(base);
}

static int filter(sqlite3_vtab_cursor *base, int index, const char *name, int count,
                  sqlite3_value **values)
{
    const struct binding *binding = binding_of(base);
    struct cursor *cursor = (struct cursor *)base;
    int rc = SQLITE_OK;

    (void)index;
    (void)name;
    cursor->row = 0;
    if (binding->table->list == NULL) {
        cursor->rows = binding->table->count(binding->connection);
    } else {
        sqlite3_free(base->pVtab->zErrMsg);
        base->pVtab->zErrMsg = NULL;
        drop_lines(&cursor->lines);
        rc = binding->table->list(binding->connection,
                                  count == 1 ? (const char *)sqlite3_value_text(values[0]) : NULL,
                                  &cursor->lines, &base->pVtab->zErrMsg);
        cursor->rows = cursor->lines.count;
    }
    return rc;
}

static int next(sqlite3_vtab_cursor *cursor)
{
    ((struct cursor *)cursor)->row++;
    return SQLITE_OK;
}

static int at_end(sqlite3_vtab_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;
    return cursor->row >= cursor->rows;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int number)
{
    const struct binding *binding = binding_of(base);
    const struct cursor *cursor = (struct cursor *)base;

    if (binding->table->list == NULL)
        binding->table->column(binding->connection, (size_t)cursor->row, number, context);
    else
        clr_result_text(context, number == COLUMN_LINE ? cursor->lines.text[cursor->row]
                                                       : cursor->lines.argument);
    return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id)
{
    *id = ((struct cursor *)cursor)->row + 1;
    return SQLITE_OK;
}

static const sqlite3_module module = {
    .xConnect = connect,
    .xBestIndex = best_index,
    .xDisconnect = clr_virtual_table_disconnect,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = filter,
    .xNext = next,
    .xEof = at_end,
    .xColumn = column,
    .xRowid = rowid,
};

static void free_binding(void *pointer)
{
    struct binding *binding = pointer;

    clr_connection_release(binding->connection);
    sqlite3_free(binding);
}

int clr_tables_register(struct clr_connection *connection)
{
    int rc = SQLITE_OK;
    size_t i;

    for (i = 0; i < sizeof tables / sizeof tables[0] && rc == SQLITE_OK; i++) {
        struct binding *binding = sqlite3_malloc(sizeof *binding);
        if (binding == NULL)
            return SQLITE_NOMEM;
        binding->connection = clr_connection_retain(connection);
        binding->table = tables[i];
        rc = sqlite3_create_module_v2(connection->db, tables[i]->name, &module, binding,
                                      free_binding);
    }
    return rc;
}
