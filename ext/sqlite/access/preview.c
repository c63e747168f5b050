#include "sqlite/access/preview.h"

#include "sqlite/database/connection_database.h"
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

int clr_preview(struct clr_connection *connection, const char *sql, bool *planned, char **message)
{
    char *argument = sqlite3_mprintf("(%s)", sql);
    struct clr_select select;
    int rc = SQLITE_NOMEM;

    *planned = false;
    *message = NULL;
    if (argument != NULL)
        rc = clr_select_read(connection->db, argument, &select, message);
    sqlite3_free(argument);
    if (rc != SQLITE_OK)
        return rc;
    rc = plan(connection, &select, planned, message);
    clr_select_free(&select);
    /* What views leave with a connection goes with the last view, and there may be none. */
    if (clr_views_of(connection) == NULL || clr_views_of(connection)->first == NULL)
        clr_databases_free(connection);
    return rc;
}
