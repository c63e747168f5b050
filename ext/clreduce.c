#include "clreduce.h"

#include "engine/runtime.h"
#include "sqlite/aggregates.h"
#include "sqlite/api.h"
#include "sqlite/connection.h"
#include "sqlite/functions.h"
#include "sqlite/tables.h"
#include "sqlite/view.h"

SQLITE_EXTENSION_INIT1

#ifdef SQLITE_CORE
/* sqlite3_auto_extension() takes any other value for an error. */
#define INIT_DONE SQLITE_OK
#else
/* OpenCL's drivers do not survive being unloaded, nor do the threads inside them. */
#define INIT_DONE SQLITE_OK_LOAD_PERMANENTLY
#endif

__attribute__((visibility("default"))) int
sqlite3_clreduce_init(sqlite3 *db, char **error, const struct sqlite3_api_routines *routines)
{
    struct clr_connection *connection;
    int rc;

    (void)routines;
#ifndef SQLITE_CORE
    /* Every connection brings the same table; others may be using it at this moment. */
    if (sqlite3_api != routines)
        SQLITE_EXTENSION_INIT2(routines);
#endif
    clr_runtime_guard_exit();
    if (sqlite3_libversion_number() < CLR_OLDEST_SQLITE) {
        *error = sqlite3_mprintf("clreduce needs SQLite " CLR_OLDEST_SQLITE_NAME
                                 " or later, and this is %s",
                                 sqlite3_libversion());
        return SQLITE_ERROR;
    }
    if (clr_connection_exists(db))
        return INIT_DONE;
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
    return INIT_DONE;
}
