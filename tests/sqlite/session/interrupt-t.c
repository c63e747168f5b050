/*
 * Clause 8 of the contract: a statement that is interrupted, or ends before its end in another way,
 * stops promptly and frees all, and the connection goes on.
 */
#include "child.h"
#include "sqlite/database.h"

#include <pthread.h>

enum { ROWS = 3000 };

/* How long an interrupted statement may take to stop, in seconds; most of it is a slow machine's.
 */
#define PROMPT 5.0

#define ENDLESS "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "

static const char *const endless[] = {
    ENDLESS "SELECT gpu_sum(i * 0.5), gpu_dot(i, i), gpu_max(i), gpu_min(i || '') FROM n",
    ENDLESS "SELECT i / 70, gpu_sum(i), gpu_avg(i * 0.5), gpu_max(i) FROM n GROUP BY i / 70",
    ENDLESS "SELECT count(*) FROM (SELECT gpu_sum(i) OVER w, gpu_max(i * 0.5) OVER w FROM n"
            " WINDOW w AS (ORDER BY i ROWS 100 PRECEDING))",
    ENDLESS "SELECT sum(x) FROM (SELECT gpu_sum(i) AS x FROM n GROUP BY i / 100000)",
};

static sqlite3 *db;
static char *expected[DATABASE_QUERIES];

/* ---- Ways to stop a statement. */

static double asked; /* when it was asked to stop */

static void *interrupt_later(void *unused)
{
    (void)unused;
    usleep(100000);
    asked = child_now();
    sqlite3_interrupt(db);
    return NULL;
}

static int abort_after(void *calls)
{
    if (--*(int *)calls > 0)
        return 0;
    if (*(int *)calls == 0)
        asked = child_now();
    return 1;
}

/* fail_at(x, n): returns x, and fails when x is n. */
static void fail_at(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    if (sqlite3_value_int64(values[0]) == sqlite3_value_int64(values[1]))
        sqlite3_result_error(context, "it failed", -1);
    else
        sqlite3_result_value(context, values[0]);
}

/* interrupt_at(x, n): returns x, and interrupts the connection when x is n. */
static void interrupt_at(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    if (sqlite3_value_int64(values[0]) == sqlite3_value_int64(values[1])) {
        asked = child_now();
        sqlite3_interrupt(db);
    }
    sqlite3_result_value(context, values[0]);
}

/* ---- The tests, each on the host and on a device. */

static void check_stopped(int rc, int want, const char *what)
{
    double took = child_now() - asked;

    tap_is_int64(rc, want, "%s", what);
    tap_ok(took < PROMPT, "... stops in %.0f ms", took * 1000);
    tap_is_int64(database_compare(db, expected), 0, "... and the connection goes on");
}

static void test_interrupt(void)
{
    int rc;

    TAP_EACH (i, endless) {
        pthread_t thread;
        TAP_NEED(pthread_create(&thread, NULL, interrupt_later, NULL) == 0, "no thread");
        free(database_query_rc(db, endless[i], &rc));
        pthread_join(thread, NULL);
        check_stopped(rc, SQLITE_INTERRUPT, "interrupted from another thread");
    }
}

static void test_progress_handler(void)
{
    int rc, calls;

    TAP_EACH (i, endless) {
        calls = 50;
        sqlite3_progress_handler(db, 1000, abort_after, &calls);
        free(database_query_rc(db, endless[i], &rc));
        sqlite3_progress_handler(db, 0, NULL, NULL);
        check_stopped(rc, SQLITE_INTERRUPT, "ended by the progress handler");
    }
}

/* At rows around those where chunks are handed on; and a statement that fails by itself. */
static void test_rows(void)
{
    static const int rows[] = {1, 2, 49, 50, 51, 52, 100, 101, 5000};
    char sql[300];
    int rc, wrong = 0;

    TAP_EACH (i, rows) {
        snprintf(sql, sizeof sql,
                 ENDLESS "SELECT gpu_sum(interrupt_at(i, %d) * 0.5), gpu_max(i) FROM n", rows[i]);
        free(database_query_rc(db, sql, &rc));
        wrong += rc != SQLITE_INTERRUPT || child_now() - asked > PROMPT;
        snprintf(sql, sizeof sql, ENDLESS "SELECT gpu_dot(fail_at(i, %d), 0.5), gpu_min(i) FROM n",
                 rows[i]);
        free(database_query_rc(db, sql, &rc));
        wrong += rc != SQLITE_ERROR;
        snprintf(sql, sizeof sql,
                 ENDLESS "SELECT gpu_sum(fail_at(i, %d)) OVER (ROWS 20 PRECEDING) FROM n", rows[i]);
        free(database_query_rc(db, sql, &rc));
        wrong += rc != SQLITE_ERROR;
    }
    tap_is_int64(wrong, 0, "stopped and failing at certain rows");
    tap_is_int64(database_compare(db, expected), 0, "... and the connection goes on");
}

/* Statements that their user leaves in the middle. */
static void test_left(void)
{
    static const char *const queries[] = {
        "SELECT g, gpu_sum(r), gpu_max(s) FROM t GROUP BY g",
        "SELECT gpu_sum(i) OVER w, gpu_min(m) OVER w FROM t WINDOW w AS (ROWS 40 PRECEDING)",
        "SELECT (SELECT gpu_dot(r, i) FROM t AS u WHERE u.g = t.g) FROM t",
    };
    int wrong = 0;

    TAP_EACH (i, queries) {
        for (int steps = 0; steps < 4; steps++) {
            sqlite3_stmt *query = database_prepare(db, queries[i]);
            for (int j = 0; j < steps; j++)
                wrong += sqlite3_step(query) != SQLITE_ROW;
            wrong += sqlite3_reset(query) != SQLITE_OK;
            for (int j = 0; j < steps; j++)
                wrong += sqlite3_step(query) != SQLITE_ROW;
            wrong += sqlite3_finalize(query) != SQLITE_OK;
        }
    }
    tap_is_int64(wrong, 0, "statements that are reset and finalized in the middle");
    tap_is_int64(database_compare(db, expected), 0, "... and the connection goes on");
}

#define MANY                                                                                       \
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) SELECT "
#define REST " OVER (ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) FROM n"

static int count_call(void *calls)
{
    ++*(int *)calls;
    return 0;
}

/* How often the progress handler is called until a window of many rows gives its first one. */
static int calls_to_first_row(const char *sql)
{
    sqlite3_stmt *query = database_prepare(db, sql);
    int calls = 0;

    sqlite3_progress_handler(db, 100, count_call, &calls);
    TAP_NEED(sqlite3_step(query) == SQLITE_ROW, "%s", sqlite3_errmsg(db));
    sqlite3_progress_handler(db, 0, NULL, NULL);
    sqlite3_finalize(query);
    return calls;
}

/* What takes in all rows of a window at one of them: the progress handler is called meanwhile, and
   may end it. */
static void test_window(void)
{
    sqlite3_stmt *query = database_prepare(db, MANY "gpu_median(i * 0.5)" REST);
    int calls = 20, rc = sqlite3_step(query);

    tap_is_int64(rc, SQLITE_ROW, "the first row of a window");
    sqlite3_progress_handler(db, 100, abort_after, &calls);
    rc = sqlite3_step(query);
    sqlite3_progress_handler(db, 0, NULL, NULL);
    sqlite3_finalize(query);
    check_stopped(rc, SQLITE_INTERRUPT, "ended while the second puts all values in order");
    calls = calls_to_first_row(MANY "gpu_mode(i)" REST) -
            calls_to_first_row(MANY "gpu_count_distinct(i)" REST);
    tap_ok(calls >= 20, "called while the mode of many values is found (%d times)", calls);
}

static void test_all(void)
{
    test_window();
    test_interrupt();
    test_progress_handler();
    test_rows();
    test_left();
}

TAP_TEST(all_tests)
{
    sqlite3_int64 used;

    database_register();
    used = sqlite3_memory_used();
    db = database_open();
    sqlite3_create_function(db, "fail_at", 2, SQLITE_UTF8, NULL, fail_at, NULL, NULL);
    sqlite3_create_function(db, "interrupt_at", 2, SQLITE_UTF8, NULL, interrupt_at, NULL, NULL);
    database_fill(db, ROWS);
    DATABASE_SET(db, "chunk_size", "50", "host_threshold", "1", "start_after", "0");
    database_expect(db, expected);
    tap_diag("on the host");
    test_all();
    database_use_device(db);
    if (database_wait_for_device(db)) {
        tap_diag("on a device");
        test_all();
    } else {
        tap_skip(1, "no device serves here");
    }
    database_free_expected(expected);
    tap_is_int64(sqlite3_close(db), SQLITE_OK, "nothing is in use at the end");
    tap_is_int64(sqlite3_memory_used(), used, "and no memory of SQLite's");
}
