#include "sqlite/inspect/plan_table.h"

#include "sqlite/access/ordinary_views.h"
#include "sqlite/schema/schema_lock.h"
#include "sqlite/session/virtual_table.h"
#include "sqlite/views/view_life.h"

#include <string.h>

enum { COLUMN_LINE, COLUMN_VIEW };

struct cursor {
    sqlite3_vtab_cursor base;
    char *view;   /* its name */
    char **lines; /* copies, since the view may be dropped while they are read */
    int count, line;
};

static int connect(sqlite3 *db, void *connection, int count, const char *const *arguments,
                   sqlite3_vtab **result, char **error)
{
    (void)count;
    (void)arguments;
    (void)error;
    return clr_virtual_table_connect(db, "CREATE TABLE clreduce_plan(line TEXT, view TEXT HIDDEN)",
                                     connection, result);
}

static int best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
    int i, rc = SQLITE_OK;

    (void)table;
    info->estimatedCost = 10;
    for (i = 0; i < info->nConstraint; i++) {
        if (info->aConstraint[i].iColumn != COLUMN_VIEW ||
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

static void drop_lines(struct cursor *cursor)
{
    while (cursor->count > 0)
        sqlite3_free(cursor->lines[--cursor->count]);
    sqlite3_free(cursor->lines);
    sqlite3_free(cursor->view);
    cursor->lines = NULL;
    cursor->view = NULL;
}

static int take_lines(struct cursor *cursor, struct clr_view *view)
{
    const char *line;

    cursor->view = sqlite3_mprintf("%s", view->name);
    if (cursor->view == NULL)
        return SQLITE_NOMEM;
    while ((line = clr_acceleration_explain(view->acceleration, cursor->count)) != NULL) {
        sqlite3_uint64 size = ((sqlite3_uint64)cursor->count + 1) * sizeof *cursor->lines;
        char **lines = sqlite3_realloc64(cursor->lines, size);
        if (lines == NULL)
            return SQLITE_NOMEM;
        cursor->lines = lines;
        lines[cursor->count] = sqlite3_mprintf("%s", line);
        if (lines[cursor->count] == NULL)
            return SQLITE_NOMEM;
        cursor->count++;
    }
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
    drop_lines((struct cursor *)cursor);
    sqlite3_free(cursor);
    return SQLITE_OK;
}

/* What is asked for, and whether there is such a view. */
struct asked {
    struct cursor *cursor;
    struct clr_connection *connection;
    const char *name;
    int found;
};

/*
 * A change of the schema disconnects views until they are used again, and planning could find out
 * about one: so this is called where SQLite leaves its schema alone, and a view that is found
 * stays.
 */
static int look_up(void *pointer)
{
    struct asked *asked = pointer;
    struct clr_view *view = clr_view_find(asked->connection, asked->name);
    sqlite3_stmt *use = NULL;
    char *sql, made[CLR_MADE_NAME];
    int rc = SQLITE_OK;

    if (view == NULL) {
        sql = sqlite3_mprintf("SELECT * FROM temp.\"%w\"", asked->name);
        rc = sql == NULL ? SQLITE_NOMEM
                         : sqlite3_prepare_v2(asked->connection->db, sql, -1, &use, NULL);
        sqlite3_free(sql);
        view = clr_view_find(asked->connection, asked->name);
        /* It may be an ordinary view, before which an accelerated one goes. */
        if (view == NULL && rc == SQLITE_OK) {
            rc = clr_ordinary_view_find(asked->connection, asked->name, made);
            view = clr_view_find(asked->connection, made);
        }
    }
    asked->found = view != NULL;
    rc = view != NULL ? take_lines(asked->cursor, view) : rc;
    sqlite3_finalize(use);
    return rc == SQLITE_NOMEM ? rc : SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *base, int index, const char *text, int count,
                  sqlite3_value **values)
{
    struct cursor *cursor = (struct cursor *)base;
    const char *name = count == 1 ? (const char *)sqlite3_value_text(values[0]) : NULL;
    struct asked asked = {cursor, clr_virtual_table_argument(base->pVtab), name, 0};
    int rc = SQLITE_OK;

    (void)index;
    (void)text;
    drop_lines(cursor);
    cursor->line = 0;
    if (name != NULL)
        rc = clr_schema_lock_run(asked.connection, look_up, &asked);
    if (rc == SQLITE_NOMEM || asked.found)
        return rc;
    sqlite3_free(base->pVtab->zErrMsg);
    base->pVtab->zErrMsg =
        sqlite3_mprintf("clreduce_plan: the argument must be the name of an accelerated view, "
                        "not %Q",
                        name);
    return SQLITE_ERROR;
}

static int at_end(sqlite3_vtab_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;
    return cursor->line >= cursor->count;
}

static int next(sqlite3_vtab_cursor *base)
{
    ((struct cursor *)base)->line++;
    return SQLITE_OK;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int number)
{
    struct cursor *cursor = (struct cursor *)base;
    const char *text = number == COLUMN_VIEW ? cursor->view : cursor->lines[cursor->line];

    sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
    return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
    *id = ((struct cursor *)base)->line + 1;
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

int clr_plan_table_register(struct clr_connection *connection)
{
    return sqlite3_create_module_v2(connection->db, "clreduce_plan", &module,
                                    clr_connection_retain(connection), clr_connection_release);
}
