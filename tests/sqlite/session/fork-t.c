/*
 * fork() in the middle of a statement: parent and child both go on stepping through it. A driver's
 * handles are dead in the child, whose host does the work. A function of SQL forks, at a row that
 * the test chooses.
 */
#include "child.h"
#include "engine/worker/runtime.h"
#include "engine/worker/worker.c"
#include "scratch.h"
#include "sqlite/database.h"

/*
 * The address sanitizer's allocator has locks that fork() knows nothing of: where a thread of the
 * driver holds one, the child waits for it for ever. That says nothing about the extension.
 */
#ifdef __SANITIZE_ADDRESS__
enum { LIMIT_S = 8, MAY_HANG = true };
#else
enum { LIMIT_S = 60, MAY_HANG = false };
#endif

enum { ROWS = 4000 };

static struct {
    bool wanted;
    int at_row, row;
    pid_t child; /* in the parent; 0 in the child */
} forking;

/* fork_here(x): returns x. */
static void fork_here(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    if (forking.wanted && forking.row++ == forking.at_row) {
        forking.wanted = false;
        fflush(stdout);
        forking.child = fork();
        TAP_NEED(forking.child >= 0, "fork: %s", strerror(errno));
        if (forking.child == 0) {
            alarm(LIMIT_S);
            child_leaves_threads_behind();
        }
    }
    sqlite3_result_value(context, values[0]);
}

/* As child_wait(). */
static bool wait_for(pid_t child)
{
    siginfo_t end;

    if (MAY_HANG && waitid(P_PID, (id_t)child, &end, WEXITED | WNOWAIT) == 0 &&
        end.si_code == CLD_KILLED && end.si_status == SIGALRM) {
        child_wait(child);
        return true;
    }
    return child_wait(child);
}

static sqlite3 *db;
static char *expected[DATABASE_QUERIES];

static void set_up(void)
{
    /* Without a mutex: the owner of one that is held during a fork() is not its owner in the child.
     */
    db = database_open_at(":memory:", SQLITE_OPEN_NOMUTEX, NULL);
    sqlite3_create_function(db, "fork_here", 1, SQLITE_UTF8, NULL, fork_here, NULL, NULL);
    database_fill(db, ROWS);
    DATABASE_SET(db, "chunk_size", "50", "host_threshold", "1", "chunks_in_flight", "64");
    database_expect(db, expected);
    database_use_device(db);
    database_set(db, "start_after", "0");
}

/* In the child: what a device had is done again, other connections work, and the end is in order.
 */
static void finish_child(bool runtime_started)
{
    sqlite3 *other;

    child_ok(database_compare(db, expected) == 0, "later queries in the child");
    if (runtime_started) {
        child_ok(database_stat(db, "host_after_fork") > 0, "host_after_fork is counted");
        child_ok(database_number(db, "SELECT count(*) FROM clreduce_devices") == 0,
                 "a child has no devices");
    }
    other = database_open();
    database_run(other, "SELECT clreduce_set('chunk_size', 16)");
    child_ok(database_gives(other,
                            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
                            " WHERE i < 1000) SELECT gpu_sum(i), gpu_max(i * 0.5) FROM n",
                            "500500 0x1.f4p+8\n"),
             "another connection in the child");
    sqlite3_close(other);
    database_free_expected(expected);
    sqlite3_close(db);
    exit(child_failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* Runs a query that forks at that row; in the parent, returns whether both had the right result. */
static bool forked_query(const char *sql, const char *want, int at_row, bool runtime_started)
{
    bool same;

    forking.wanted = true;
    forking.at_row = at_row;
    forking.row = 0;
    forking.child = -1;
    child_failures = 0;
    same = database_gives(db, sql, want);
    if (!same)
        tap_diag("in the %s, row %d", forking.child == 0 ? "child" : "parent", at_row);
    TAP_NEED(forking.child >= 0, "row %d was not reached", at_row);
    if (forking.child == 0) {
        child_ok(same, "the result of the statement");
        finish_child(runtime_started);
    }
    return wait_for(forking.child) && same;
}

static const struct {
    const char *sql, *name;
} statements[] = {
    {"SELECT gpu_sum(fork_here(r)), gpu_dot(i, i), gpu_avg(y), gpu_max(i) FROM t", "a statement"},
    {"SELECT g, gpu_sum(fork_here(r)), gpu_min(s), gpu_max(y) FROM t GROUP BY g", "a GROUP BY"},
    {"SELECT gpu_sum(fork_here(i)) OVER w, gpu_max(m) OVER w FROM t"
     " WINDOW w AS (ORDER BY rowid ROWS 30 PRECEDING)",
     "a window"},
};

enum { STATEMENTS = sizeof statements / sizeof statements[0] };

static void test_statements(bool runtime_started, const char *when)
{
    static const int rows[] = {0, 49, 50, 51, 777, ROWS / 2, ROWS - 1};
    bool passed;

    TAP_EACH (i, statements) {
        char *want = database_query(db, statements[i].sql); /* nobody forks yet */
        passed = true;
        TAP_EACH (j, rows)
            passed = forked_query(statements[i].sql, want, rows[j], runtime_started) && passed;
        tap_ok(passed, "%s, %s", statements[i].name, when);
        free(want);
    }
    tap_is_int64(database_stat(db, "host_after_fork"), 0, "the parent is no child");
    tap_is_int64(database_compare(db, expected), 0, "and goes on");
}

/* Before any device was started: the child may start one itself. */
static void test_before_start(void)
{
    database_set(db, "device", "host");
    test_statements(false, "with nothing started");
    database_use_device(db);
}

/* Right while the driver is loaded and the device opened. */
static void test_during_start(void)
{
    char *want;
    bool passed;

    database_set(db, "device", "host");
    want = database_query(db, statements[0].sql);
    database_use_device(db);
    passed = forked_query(statements[0].sql, want, 60, false);
    tap_ok(passed, "while a device is started");
    free(want);
}

/* ---- Views: their columns' copies are the parent's. */

#define VIEW_SELECT "SELECT gpu_sum(i), gpu_total(r), count(*) FROM t WHERE g > 1"

static char view_path[SCRATCH_PATH];

static sqlite3 *open_view(const char *device)
{
    sqlite3 *view_db = database_open_at(view_path, SQLITE_OPEN_NOMUTEX, NULL);

    database_run(view_db, "CREATE VIRTUAL TABLE temp.v USING clreduce((" VIEW_SELECT "))");
    DATABASE_SET(view_db, "device", device, "host_threshold", "1", "view_threshold", "0",
                 "keep_answers", "off", "start_after", "0");
    return view_db;
}

/* The parent's figure at the time of the fork(). */
static int64_t parents_scans;

/* A view on a connection of the child's own, and then one on its parent's. */
static void use_view_in_child(sqlite3 *parents, const char *device, const char *want)
{
    sqlite3 *own;

    alarm(LIMIT_S);
    child_failures = 0;
    child_leaves_threads_behind();
    own = open_view(device);
    child_ok(database_gives(own, "SELECT * FROM v", want), "a view of the child's own");
    child_ok(database_stat(own, "scans_on_host") == 1, "is answered on the host");
    child_ok(sqlite3_close(own) == SQLITE_OK, "its connection is closed");
    free(database_query(parents, "SELECT * FROM clreduce_columns"));
    child_ok(database_stat(parents, "scans_on_host") == parents_scans, "the parent's figures");
    free(database_query(parents, "SELECT clreduce_evict()"));
    child_ok(sqlite3_close(parents) == SQLITE_OK, "the parent's connection is closed");
    exit(child_failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* The workers of all devices, with their locks: what a fork() in the middle of one's work leaves.
 */
static void lock_workers(bool lock)
{
    struct clr_worker *worker;

    for (size_t i = 0; i < 8; i++) {
        worker = clr_runtime_started_worker(i);
        if (worker != NULL && lock)
            pthread_mutex_lock(&worker->lock);
        else if (worker != NULL)
            pthread_mutex_unlock(&worker->lock);
    }
}

static bool fork_with_view(sqlite3 *view_db, const char *device, const char *want, bool locked)
{
    pid_t child;

    fflush(stdout);
    parents_scans = database_stat(view_db, "scans_on_host");
    if (locked)
        lock_workers(true);
    child = fork();
    TAP_NEED(child >= 0, "fork: %s", strerror(errno));
    if (child == 0)
        use_view_in_child(view_db, device, want);
    if (locked)
        lock_workers(false);
    return wait_for(child);
}

static void test_views(const char *device)
{
    sqlite3 *view_db = open_view(device);
    char *want = database_query(view_db, VIEW_SELECT);
    double start = child_now();
    bool passed = true;

    for (int i = 0; i < 10; i++) { /* with columns on their way, or on the device */
        passed = database_gives(view_db, "SELECT * FROM v", want) && passed;
        passed = fork_with_view(view_db, device, want, false) && passed;
        if (i == 5)
            free(database_query(view_db, "SELECT clreduce_evict()"));
    }
    tap_ok(passed, "a view in a child, device %s", device);
    while (database_stat(view_db, "scans_on_device") == 0 && child_now() - start < 60 &&
           strcmp(device, "cpu") == 0 && *database_stat_text(view_db, "last_error") == '\0') {
        free(database_query(view_db, "SELECT * FROM v"));
        usleep(1000);
    }
    tap_ok(fork_with_view(view_db, device, want, true),
           "a worker's lock is held in the child, device %s", device);
    tap_ok(database_gives(view_db, "SELECT * FROM v", want), "and the parent goes on");
    free(want);
    sqlite3_close(view_db);
}

static void make_view_database(void)
{
    sqlite3 *view_db;

    scratch_file(view_path, "fork");
    TAP_NEED(sqlite3_open(view_path, &view_db) == SQLITE_OK, "no database in %s", view_path);
    database_run(view_db, "PRAGMA synchronous = OFF");
    database_fill(view_db, ROWS);
    sqlite3_close(view_db);
}

TAP_TEST(all_tests)
{
    database_register();
    set_up();
    test_before_start();
    test_during_start();
    if (database_wait_for_device(db))
        test_statements(true, "with chunks on a device");
    else
        tap_skip(STATEMENTS + 2, "no device serves here");
    make_view_database();
    test_views("auto");
    test_views("cpu");
    unlink(view_path);
    database_free_expected(expected);
    sqlite3_close(db);
}
