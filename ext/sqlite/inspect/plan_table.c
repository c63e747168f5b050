#include "sqlite/inspect/plan_table.h"

#include "sqlite/access/ordinary_views.h"
#include "sqlite/schema/schema_lock.h"
#include "sqlite/session/statement.h"
#include "sqlite/views/view_life.h"

/* Copies the lines, since the view may be dropped while they are read. */
static int copy_lines(struct clr_view *view, struct clr_lines *lines)
{
    const char *line;

    lines->argument = sqlite3_mprintf("%s", view->name);
    if (lines->argument == NULL)
        return SQLITE_NOMEM;
    while ((line = clr_acceleration_explain(view->acceleration, (int)lines->count)) != NULL) {
        sqlite3_uint64 size = ((sqlite3_uint64)lines->count + 1) * sizeof *lines->text;
        char **text = sqlite3_realloc64(lines->text, size);
        if (text == NULL)
            return SQLITE_NOMEM;
        lines->text = text;
        text[lines->count] = sqlite3_mprintf("%s", line);
        if (text[lines->count] == NULL)
            return SQLITE_NOMEM;
        lines->count++;
    }
    return SQLITE_OK;
}

/* What is asked for, and whether there is such a view. */
struct asked {
    struct clr_lines *lines;
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
    char made[CLR_MADE_NAME];
    int rc = SQLITE_OK;

    if (view == NULL) {
        rc = clr_statement_prepare(asked->connection->db, &use, "SELECT * FROM temp.\"%w\"",
                                   asked->name);
        view = clr_view_find(asked->connection, asked->name);
        /* It may be an ordinary view, before which an accelerated one goes. */
        if (view == NULL && rc == SQLITE_OK) {
            rc = clr_ordinary_view_find(asked->connection, asked->name, made);
            view = clr_view_find(asked->connection, made);
        }
    }
    asked->found = view != NULL;
    rc = view != NULL ? copy_lines(view, asked->lines) : rc;
    sqlite3_finalize(use);
    return rc == SQLITE_NOMEM ? rc : SQLITE_OK;
}

static int list(struct clr_connection *connection, const char *argument, struct clr_lines *lines,
                char **error)
{
    struct asked asked = {lines, connection, argument, 0};
    int rc = SQLITE_OK;

    if (argument != NULL)
        rc = clr_schema_lock_run(connection, look_up, &asked);
    if (rc == SQLITE_NOMEM || asked.found)
        return rc;
    *error = sqlite3_mprintf("clreduce_plan: the argument must be the name of an accelerated view, "
                             "not %Q",
                             argument);
    return SQLITE_ERROR;
}

const struct clr_table clr_plan_table = {
    .name = "clreduce_plan",
    .declaration = "CREATE TABLE clreduce_plan(line TEXT, view TEXT HIDDEN)",
    .list = list,
};
