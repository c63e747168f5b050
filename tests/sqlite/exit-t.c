/*
 * The end of a process while its device is being started: drivers free their globals at exit, and
 * no thread of the runtime may be inside a driver then. Each process has a driver's cache of its
 * own (PoCL's), which is empty, so that the kernels are really compiled.
 */
#include "child.h"
#include "sqlite/database.h"

#include "tap.h"

#include <ftw.h>
#include <pthread.h>

enum { TIMES = 4, LIMIT_S = 60, AT_A_TIME = 2 };

/* One chunk of 50 values and more; sums, dot products and extremes, of both element types. */
#define FEED                                                                                       \
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"                 \
    " SELECT gpu_sum(i), gpu_sum(i * 0.5), gpu_dot(i, i), gpu_dot(i * 0.5, i), gpu_max(i),"        \
    " gpu_min(i * 0.5) FROM n"

static sqlite3 *open_for_device(void)
{
    sqlite3 *db = database_open();

    database_set(db, "chunk_size", "50");
    database_set(db, "host_threshold", "1");
    database_set(db, "start_after", "0");
    return db;
}

static int delay_ms; /* changes from process to process */

/* Queries for that long: a device is found, opened, and begins with its programs. */
static void feed(sqlite3 *db, int rows)
{
    double end = child_now() + delay_ms * 1e-3;

    do
        database_run(db, FEED, rows);
    while (child_now() < end);
}

static void leave_open(void)
{
    feed(open_for_device(), 1000);
}

static void close_first(void)
{
    sqlite3 *db = open_for_device();

    feed(db, 1000);
    child_ok(sqlite3_close(db) == SQLITE_OK, "the connection is closed");
}

/* Right after the first chunk: not even the driver has been loaded. */
static void leave_at_first_chunk(void)
{
    delay_ms = 0;
    feed(open_for_device(), 51);
}

static void exit_function(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    (void)values;
    (void)context;
    exit(EXIT_SUCCESS);
}

/* From within a statement, with its chunks under way. */
static void exit_in_statement(void)
{
    sqlite3 *db = open_for_device();

    sqlite3_create_function(db, "quit", 0, SQLITE_UTF8, NULL, exit_function, NULL, NULL);
    feed(db, 1000);
    database_run(db, "SELECT gpu_sum(i * 0.5) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL"
                     " SELECT i + 1 FROM n) SELECT CASE WHEN i > 5000 THEN quit() ELSE i END AS i"
                     " FROM n)");
    child_ok(false, "the process was to end before");
}

static void *feed_in_thread(void *unused)
{
    sqlite3 *db = open_for_device();

    (void)unused;
    feed(db, 1000);
    sqlite3_close(db);
    return NULL;
}

/* SQLite is used by another thread alone, which closes its connection before the main one exits. */
static void use_in_thread(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, feed_in_thread, NULL) != 0)
        tap_bail("no thread");
    pthread_join(thread, NULL);
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status;
    (void)type;
    (void)place;
    return remove(path);
}

static void test(void (*work)(void), const char *name)
{
    char folders[AT_A_TIME][200];
    pid_t children[AT_A_TIME];
    const char *parent = getenv("TMPDIR");
    bool passed = true;
    double start, slowest = 0.0;
    int i, j;

    for (i = 0; i < TIMES; i += AT_A_TIME) {
        start = child_now();
        for (j = 0; j < AT_A_TIME; j++) {
            snprintf(folders[j], sizeof folders[j], "%s/clreduce-exit-XXXXXX",
                     parent != NULL ? parent : "/tmp");
            if (mkdtemp(folders[j]) == NULL)
                tap_bail("%s: %s", folders[j], strerror(errno));
            setenv("POCL_CACHE_DIR", folders[j], 1);
            delay_ms = 20 + random_between(0, 100) * (i + j);
            children[j] = child_start(work, LIMIT_S);
        }
        for (j = 0; j < AT_A_TIME; j++) {
            passed = child_wait(children[j]) && passed;
            nftw(folders[j], remove_entry, 16, FTW_DEPTH | FTW_PHYS);
        }
        if (child_now() - start > slowest)
            slowest = child_now() - start;
    }
    tap_ok(passed, "%s, %d times, the longest for %.1f s", name, TIMES, slowest);
}

int main(void)
{
#ifdef __SANITIZE_THREAD__
    tap_skip_all("drivers build for longer than exit waits, with every access to memory watched");
#endif
    random_start();
    database_register();
    test(leave_at_first_chunk, "right after the first chunk");
    test(leave_open, "with an open connection");
    test(close_first, "after closing the connection");
    test(exit_in_statement, "in the middle of a statement");
    test(use_in_thread, "after another thread's work");
    return tap_done();
}
