/* One run of a test of failures, see failures.h, with whatever OpenCL the environment gives it. */
#ifndef CLR_TESTS_FAILURE_RUNS_H
#define CLR_TESTS_FAILURE_RUNS_H

#include "scratch.h"
#include "sqlite/database.h"

#include "tap.h"

#include <pthread.h>
#include <stdint.h>

enum { FAILURES_THREADS = 3 };

/* Has the device to test on begin at once with all that it can do. */
static inline void failures_use_devices(sqlite3 *db, const char *device_timeout)
{
    DATABASE_SET(db, "host_threshold", "1", "view_threshold", "0", "keep_answers", "off",
                 "start_after", "0", "device_timeout", device_timeout);
    database_use_device(db);
}

/* Runs FAILURES_THREADS threads, each given its number as a pointer. Returns the sum of the numbers
   that they return so: how many results differ. */
static inline int failures_run_threads(void *(*work)(void *))
{
    pthread_t threads[FAILURES_THREADS];
    int differing = 0;
    intptr_t i;
    void *result;

    for (i = 0; i < FAILURES_THREADS; i++)
        TAP_NEED(pthread_create(&threads[i], NULL, work, (void *)i) == 0, "no thread");
    for (i = 0; i < FAILURES_THREADS; i++) {
        pthread_join(threads[i], &result);
        differing += (int)(intptr_t)result;
    }
    return differing;
}

/* What has gone wrong as far as a user can see. */
static inline void failures_print(sqlite3 *db, int differing)
{
    printf("%d results differ\n", differing);
    printf("chunks_to_device %s\n", database_stat_text(db, "chunks_to_device"));
    printf("scans_on_device %s\n", database_stat_text(db, "scans_on_device"));
    printf("last_error %s\n", database_stat_text(db, "last_error"));
    printf("build_log %s\n", database_stat_text(db, "build_log"));
}

#endif
