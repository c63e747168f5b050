#include "clreduce.h"

#include "engine/worker/runtime.h"
#include "sqlite/aggregates/aggregates.h"
#include "sqlite/api.h"
#include "sqlite/inspect/inspect.h"
#include "sqlite/session/connection.h"
#include "sqlite/view/module.h"

__attribute__((visibility("default"))) int
sqlite3_clreduce_init(sqlite3 *db, char **error, const struct sqlite3_api_routines *routines)
{
    struct clr_connection *connection;
    const int done = clr_routines_take(routines, error);
    int rc;

    if (done == SQLITE_ERROR)
        return done;
    clr_runtime_guard_exit();
    /* Loading twice changes nothing. */
    if (clr_connection_of(db) != NULL)
        return done;
    connection = clr_connection_new(db);
    if (connection == NULL)
        return SQLITE_NOMEM;
    rc = clr_aggregates_register(connection);
    if (rc == SQLITE_OK)
        rc = clr_functions_register(connection);
    if (rc == SQLITE_OK)
        rc = clr_tables_register(connection);
    if (rc == SQLITE_OK)
        rc = clr_view_register(connection);
    connection->complete = rc == SQLITE_OK;
    clr_connection_release(connection);
    if (rc != SQLITE_OK) {
        *error = sqlite3_mprintf("clreduce could not be registered: %s", sqlite3_errmsg(db));
        return rc;
    }
    return done;
}
