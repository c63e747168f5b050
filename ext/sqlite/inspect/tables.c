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
    &clr_device_table,
    &clr_stats_table,
    &clr_settings_table,
    &clr_column_table,
};

struct binding {
    struct clr_connection *connection;
    const struct clr_table *table;
};

struct cursor {
    sqlite3_vtab_cursor base;
    sqlite3_int64 row, rows;
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

static int best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
    (void)table;
    info->estimatedCost = 30;
    info->estimatedRows = 30;
    return SQLITE_OK;
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

static int filter(sqlite3_vtab_cursor *base, int index, const char *name, int count,
                  sqlite3_value **values)
{
    struct cursor *cursor = (struct cursor *)base;

    (void)index;
    (void)name;
    (void)count;
    (void)values;
    cursor->row = 0;
    cursor->rows = binding_of(base)->table->count(binding_of(base)->connection);
    return SQLITE_OK;
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
    struct binding *binding = binding_of(base);

    binding->table->column(binding->connection, (size_t)((struct cursor *)base)->row, number,
                           context);
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
    .xClose = clr_virtual_table_close,
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
    return rc == SQLITE_OK ? clr_plan_table_register(connection) : rc;
}
