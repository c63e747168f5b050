#include "sqlite/access/preview.h"

#include "sqlite/schema/schema_lock.h"
#include "sqlite/views/view_life.h"

static int plan(struct clr_connection *connection, const struct clr_select *select, bool *planned,
                char **message)
{
    struct clr_acceleration *acceleration = clr_acceleration_new(connection, select);
    const char *line;
    int rc = SQLITE_OK;

    if (acceleration == NULL)
        return SQLITE_NOMEM;
    *planned = acceleration->plan != NULL;
    if (!*planned) {
        line = clr_acceleration_explain(acceleration, 0);
        *message = sqlite3_mprintf("%s", line == NULL ? "" : line);
        rc = *message == NULL ? SQLITE_NOMEM : SQLITE_OK;
    }
    clr_acceleration_free(acceleration);
    return rc;
}

/* What is asked for, and the answer. */
struct preview {
    struct clr_connection *connection;
    const char *sql;
    bool *planned;
    char **message;
};

static int read_and_plan(void *pointer)
{
    const struct preview *preview = pointer;
    char *argument = sqlite3_mprintf("(%s)", preview->sql);
    struct clr_select select;
    int rc = SQLITE_NOMEM;

    if (argument != NULL)
        rc = clr_select_read(preview->connection->db, argument, false, &select, preview->message);
    sqlite3_free(argument);
    if (rc != SQLITE_OK)
        return rc;
    rc = plan(preview->connection, &select, preview->planned, preview->message);
    clr_select_free(&select);
    return rc;
}

/* A stale schema takes all views along, and with the last one the databases' statements: so SQLite
   finds out about it before, and frees none while these are in use. */
int clr_preview(struct clr_connection *connection, const char *sql, bool *planned, char **message)
{
    struct preview preview = {connection, sql, planned, message};
    sqlite3_stmt *hold;
    int rc = clr_schema_renew(connection, &hold);

    *planned = false;
    *message = NULL;
    if (rc == SQLITE_OK)
        rc = clr_schema_lock_run(connection, read_and_plan, &preview);
    if (rc != SQLITE_OK && rc != SQLITE_NOMEM && *message == NULL)
        *message = sqlite3_mprintf("%s", sqlite3_errmsg(connection->db));
    sqlite3_finalize(hold);
    clr_views_end(connection);
    return rc;
}
