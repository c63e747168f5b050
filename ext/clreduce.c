#include "clreduce.h"

#include "base/lock.h"
#include "engine/worker/runtime.h"
#include "sqlite/aggregates/aggregates.h"
#include "sqlite/api.h"
#include "sqlite/inspect/inspect.h"
#include "sqlite/session/connection.h"
#include "sqlite/view/module.h"

#include <stdio.h>

SQLITE_EXTENSION_INIT1

#ifdef SQLITE_CORE
/* sqlite3_auto_extension() takes any other value for an error. */
#define INIT_DONE SQLITE_OK
#else
/* OpenCL's drivers do not survive being unloaded, nor do the threads inside them. */
#define INIT_DONE SQLITE_OK_LOAD_PERMANENTLY
#endif

static const char too_old[] =
    "clreduce needs SQLite " CLR_OLDEST_SQLITE_NAME " or later, and this is %s";

#ifndef SQLITE_CORE
/* The first copy of SQLite that loads the library is the one that all calls go to: its table of
   functions, and its version, which is asked for once, since that copy may be gone some day. */
static char served_version[16];
CLR_LOCK(lock)

/* Takes the functions of the SQLite that loads the library. Returns SQLITE_OK, or SQLITE_ERROR with
   the reason in *error: it is too old, or another copy of SQLite has loaded the library before. */
static int take_routines(const struct sqlite3_api_routines *routines, char **error)
{
    int rc = SQLITE_ERROR;

    take_lock();
    if (sqlite3_api == NULL && routines->libversion_number() < CLR_OLDEST_SQLITE) {
        *error = routines->mprintf(too_old, routines->libversion());
    } else if (sqlite3_api != NULL && sqlite3_api->malloc != routines->malloc) {
        *error = routines->mprintf("clreduce: this file serves another copy of SQLite (%s) in this "
                                   "process; let this one (%s) load a copy of the file under "
                                   "another name",
                                   served_version, routines->libversion());
    } else {
        /* Every connection of one copy brings the same functions; others may be using them now. */
        if (sqlite3_api == NULL) {
            snprintf(served_version, sizeof served_version, "%s", routines->libversion());
            SQLITE_EXTENSION_INIT2(routines);
        }
        rc = SQLITE_OK;
    }
    give_lock();
    return rc;
}
#endif

__attribute__((visibility("default"))) int
sqlite3_clreduce_init(sqlite3 *db, char **error, const struct sqlite3_api_routines *routines)
{
    struct clr_connection *connection;
    int rc;

#ifdef SQLITE_CORE
    (void)routines;
    if (sqlite3_libversion_number() < CLR_OLDEST_SQLITE) {
        *error = sqlite3_mprintf(too_old, sqlite3_libversion());
        return SQLITE_ERROR;
    }
#else
    rc = take_routines(routines, error);
    if (rc != SQLITE_OK)
        return rc;
#endif
    clr_runtime_guard_exit();
    /* Loading twice changes nothing. */
    if (clr_connection_of(db) != NULL)
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
