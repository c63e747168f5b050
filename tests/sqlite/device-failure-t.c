/*
 * Clause 9 of the contract: whatever OpenCL does, results are the host's bits, and what went wrong
 * is in the statistics. OpenCL fails by means of tests/opencl/failing-opencl.c, which is preloaded
 * into this program run again: each failure has a process of its own.
 *
 *     device-failure-t DEVICE-TIMEOUT   is one of those runs
 */
#include "opencl/api.h"

#include "child.h"
#include "opencl/catalog.h"
#include "sqlite/database.h"

#include "tap.h"

#include <fcntl.h>
#include <unistd.h>

enum { ROWS = 3000, CHUNK = 100, LIMIT_S = 120, AT_A_TIME = 2 };

/* ---- One run, under whatever conditions the environment sets. */

/* Runs all queries until something has failed, or a device has served for some time. */
static int run_queries(sqlite3 *db, char *const expected[DATABASE_QUERIES])
{
    int differing = 0, rounds_served = 0;
    double start = child_now();

    while (rounds_served < 3 && child_now() - start < LIMIT_S / 2) {
        differing += database_compare(db, expected);
        if (database_stat(db, "host_device_failed") > 0 || database_stat(db, "host_no_device") > 0)
            break;
        /* Every program has to be there before the round counts. */
        if (database_stat(db, "chunks_to_device") > 0 &&
            database_stat(db, "host_device_starting") == 0)
            rounds_served++;
        sqlite3_close(db);
        db = NULL;
        break;
    }
    return differing;
}

