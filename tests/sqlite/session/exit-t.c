/*
 * The end of a process while its device is being started: drivers free their globals at exit, and
 * no thread of the runtime may be inside a driver then. Each process has a driver's cache of its
 * own (PoCL's), which is empty, so that the kernels are really compiled.
 */
#include "child.h"
#include "scratch.h"
#include "sqlite/database.h"

#include <pthread.h>

enum {
    TIMES = 4,
    QUICK_TIMES = 2,
    LIMIT_S = 60,
    AT_A_TIME = 2,
    VIEW_TIMES = 16,
    VIEW_ROWS = 100000
};

/* One chunk of 50 values and more; sums, dot products and extremes, of both element types. */
#define FEED                                                                                       \
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"                 \
    " SELECT gpu_sum(i), gpu_sum(i * 0.5), gpu_dot(i, i), gpu_dot(i * 0.5, i), gpu_max(i),"        \
    " gpu_min(i * 0.5) FROM n"

static sqlite3 *open_for_device(void)
{
    sqlite3 *db = database_open();

    database_use_device(db);
    DATABASE_SET(db, "chunk_size", "50", "host_threshold", "1", "start_after", "0");
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
    (void)count, (void)values, (void)context;
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

    TAP_NEED(pthread_create(&thread, NULL, feed_in_thread, NULL) == 0, "no thread");
    pthread_join(thread, NULL);
}

/* ---- Views, whose columns go to a device from the first query on. */

static char view_path[220];
static const char *view_device;

static void leave_after_view(void)
{
    static const char select[] =
        "SELECT gpu_sum(i), gpu_total(r), gpu_max(r * i) FROM t WHERE g > 0";
    sqlite3 *db = database_open_at(view_path, 0, NULL);

    DATABASE_SET(db, "device", view_device, "host_threshold", "1", "start_after", "0");
    database_run(db, "CREATE VIRTUAL TABLE temp.v USING clreduce((%s))", select);
    do {
        child_ok(database_agrees(db, "SELECT * FROM v", select), "the view's answer");
        delay_ms -= 10;
    } while (delay_ms > 0);
    if (random_below(2) == 0)
        child_ok(sqlite3_close(db) == SQLITE_OK, "the connection is closed");
}

static void test_views(const char *folder, const char *device)
{
    pid_t children[AT_A_TIME];
    double start, slowest = 0.0;
    bool passed = true;
    int times = tap_is_quick() ? 5 : VIEW_TIMES;

    snprintf(view_path, sizeof view_path, "%s/view.db", folder);
    view_device = device;
    for (int i = 0; i < times; i += AT_A_TIME) {
        start = child_now();
        for (int j = 0; j < AT_A_TIME; j++) {
            /* Half of them leave at once, the others when columns are under way. */
            delay_ms = (i / AT_A_TIME) % 2 == 0 ? 0 : random_between(0, 300);
            children[j] = child_start(leave_after_view, LIMIT_S);
        }
        for (int j = 0; j < AT_A_TIME; j++)
            passed = child_wait(children[j]) && passed;
        if (child_now() - start > slowest)
            slowest = child_now() - start;
    }
    tap_ok(passed, "after queries of a view, device %s, %d times, the longest for %.1f s", device,
           times, slowest);
}

/* The file is made in a child: here, nothing of the runtime may be started. */
static void make_database(void)
{
    sqlite3 *db = database_open_at(view_path, 0, NULL);

    database_run(db, "PRAGMA synchronous = OFF");
    database_fill(db, VIEW_ROWS);
    child_ok(sqlite3_close(db) == SQLITE_OK, "the connection is closed");
}

static void test(void (*work)(void), const char *name)
{
    char folders[AT_A_TIME][SCRATCH_PATH];
    pid_t children[AT_A_TIME];
    bool passed = true;
    double start, slowest = 0.0;
    int times = tap_is_quick() ? QUICK_TIMES : TIMES;

    for (int i = 0; i < times; i += AT_A_TIME) {
        start = child_now();
        for (int j = 0; j < AT_A_TIME; j++) {
            scratch_folder(folders[j], "exit");
            setenv("POCL_CACHE_DIR", folders[j], 1);
            delay_ms = 20 + random_between(0, 100) * (i + j);
            children[j] = child_start(work, LIMIT_S);
        }
        for (int j = 0; j < AT_A_TIME; j++) {
            passed = child_wait(children[j]) && passed;
            scratch_remove(folders[j]);
        }
        if (child_now() - start > slowest)
            slowest = child_now() - start;
    }
    tap_ok(passed, "%s, %d times, the longest for %.1f s", name, times, slowest);
}

static void test_all_views(void)
{
    char folder[SCRATCH_PATH], cache[sizeof folder + 20];

    scratch_folder(folder, "exit");
    snprintf(cache, sizeof cache, "%s/cache", folder); /* one for all: uploads have to come about */
    setenv("POCL_CACHE_DIR", cache, 1);
    snprintf(view_path, sizeof view_path, "%s/view.db", folder);
    TAP_NEED(child_run(make_database, LIMIT_S), "no database");
    test_views(folder, "auto");
    test_views(folder, "cpu");
    scratch_remove(folder);
}

TAP_TEST(all_tests)
{
#ifdef __SANITIZE_THREAD__
    tap_skip_all("drivers build for longer than exit waits, with every access to memory watched");
#endif
    database_register();
    test(leave_at_first_chunk, "right after the first chunk");
    test(leave_open, "with an open connection");
    test(close_first, "after closing the connection");
    test(exit_in_statement, "in the middle of a statement");
    test(use_in_thread, "after another thread's work");
    test_all_views();
}
