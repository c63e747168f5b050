/* The loadable extension: it calls the functions of the SQLite that loads it. */
#include "base/lock.h"
#include "sqlite/api.h"

#include <stdio.h>

const sqlite3_api_routines *sqlite3_api;

/* The first copy of SQLite that loads the library is the one that all calls go to: its table of
   functions, and its version, which is asked for once, since that copy may be gone some day. */
static char served_version[16];
CLR_LOCK(lock)

int clr_routines_take(const sqlite3_api_routines *routines, char **error)
{
    /* OpenCL's drivers do not survive being unloaded, nor do the threads inside them. */
    int rc = SQLITE_OK_LOAD_PERMANENTLY;

    take_lock();
    if (sqlite3_api == NULL && routines->libversion_number() < CLR_OLDEST_SQLITE) {
        *error = routines->mprintf(CLR_TOO_OLD, routines->libversion());
        rc = SQLITE_ERROR;
    } else if (sqlite3_api == NULL) {
        snprintf(served_version, sizeof served_version, "%s", routines->libversion());
        sqlite3_api = routines;
    } else if (sqlite3_api->malloc != routines->malloc) {
        /* Every connection of one copy brings the same functions. */
        *error = routines->mprintf("clreduce: this file serves another copy of SQLite (%s) in this "
                                   "process; let this one (%s) load a copy of the file under "
                                   "another name",
                                   served_version, routines->libversion());
        rc = SQLITE_ERROR;
    }
    give_lock();
    return rc;
}
