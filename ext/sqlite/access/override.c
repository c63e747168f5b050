#include "sqlite/access/override.h"

#include "sqlite/aggregates/aggregates.h"
#include "sqlite/session/statement.h"
#include "sqlite/views/view_life.h"

#include <string.h>

/* Refuses names that the application has functions of. */
static enum clr_code check_name(sqlite3 *db, const char *name, struct clr_status *status)
{
    sqlite3_stmt *list;
    bool found = false;
    int rc = clr_statement_make(db, "PRAGMA function_list", 0, &list);

    /* name, builtin */
    while (rc == SQLITE_OK && !found && sqlite3_step(list) == SQLITE_ROW) {
        const char *listed = (const char *)sqlite3_column_text(list, 0);

        found = listed != NULL && sqlite3_stricmp(listed, name) == 0 &&
                sqlite3_column_int(list, 1) == 0;
    }
    rc = clr_statement_end(list, rc);
    if (rc == SQLITE_NOMEM)
        return CLR_NOMEM;
    if (rc != SQLITE_OK)
        return clr_status_set(status, CLR_INVALID, 0, "override: %s", sqlite3_errmsg(db));
    if (found)
        return clr_status_set(status, CLR_INVALID, 0,
                              "override: %s() is a function of the application's", name);
    return CLR_OK;
}

static enum clr_code register_all(struct clr_connection *connection, struct clr_status *status)
{
    const struct clr_aggregate *aggregate;
    enum clr_code code = CLR_OK;
    int number = 0, rc;

    for (aggregate = clr_aggregates; aggregate->name != NULL && code == CLR_OK; aggregate++) {
        /* Some may be registered, where there was no memory for all. */
        if (!clr_aggregate_overrides(aggregate) || number++ < connection->overrides)
            continue;
        code = check_name(connection->db, aggregate->builtin, status);
        if (code != CLR_OK)
            return code;
        rc = clr_aggregate_override(connection, aggregate);
        if (rc == SQLITE_NOMEM)
            return CLR_NOMEM;
        if (rc != SQLITE_OK)
            return clr_status_set(status, CLR_INVALID, 0, "override: %s",
                                  sqlite3_errmsg(connection->db));
        connection->overrides = number;
    }
    return code;
}

/* Has all statements prepared anew, which SQLite does when this setting of its own changes. It is
   changed back at once. */
static void expire_statements(sqlite3 *db)
{
    int on = 0;

    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_QPSG, -1, &on);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_QPSG, !on, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_QPSG, on, NULL);
}

enum clr_code clr_override_prepare(struct clr_connection *connection, const char *value,
                                   struct clr_status *status)
{
    const struct clr_views *views = clr_views_of(connection);
    struct clr_view *view;
    enum clr_code code;

    if (connection->settings.override != 0 && strcmp(value, "off") == 0)
        return clr_status_set(status, CLR_INVALID, 0,
                              "override cannot be turned off, as SQLite does not give back a "
                              "function that was replaced: open another connection");
    if (connection->settings.override != 0 || strcmp(value, "on") != 0)
        return CLR_OK;
    code = register_all(connection, status);
    if (code != CLR_OK)
        return code;
    expire_statements(connection->db);
    for (view = views == NULL ? NULL : views->first; view != NULL; view = view->next)
        view->acceleration->is_outdated = true;
    return CLR_OK;
}
