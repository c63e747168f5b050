/*
 * Accelerated views, whose columns go to the device, with an OpenCL that fails: see failures.h.
 */
#include "sqlite/failures.h"

enum { ROWS = 2000 };

/* ---- One run. */

/* Whole columns, counts, expressions and a filter, of each kind of column; histograms, text, and a
   join. */
static const char *const selects[] = {
    "SELECT gpu_sum(i), gpu_total(r), gpu_min(r), gpu_max(i) FROM t",
    "SELECT count(*), count(y), gpu_sum(y) FROM t WHERE g < 3 AND r IS NOT NULL",
    "SELECT gpu_dot(r, i), gpu_sum(i * 2 + 1), gpu_avg(r - 0.5) FROM t WHERE i > r",
    "SELECT gpu_histogram(a, -5, 5, 20), gpu_histogram(b, 0, 100, 1500) FROM u",
    "SELECT gpu_sum(b), gpu_sum(length(c)), gpu_max(c) FROM u WHERE c LIKE '%3%' OR a > 1",
    "SELECT b, count(*), gpu_sum(a), gpu_min(a) FROM u WHERE a > -1 GROUP BY b",
    "SELECT name, count(*), gpu_sum(a * weight) FROM u JOIN d ON d.id = b WHERE weight > 2 AND a < "
    "9 "
    "GROUP BY name ORDER BY name",
};

enum { SELECTS = sizeof selects / sizeof selects[0], VIEW_LIMIT_S = 12, EVICT_EVERY = 4 };

/* Asks each view, and its SELECT. Returns how many differ. */
static int compare_views(sqlite3 *db)
{
    char name[40];
    int differing = 0;

    for (int i = 0; i < SELECTS; i++) {
        snprintf(name, sizeof name, "SELECT * FROM v%d", i);
        differing += !database_agrees(db, name, selects[i]);
    }
    return differing;
}

/* The same rounds: until something has failed, or all views were answered by the device three
   times. An upload that has failed may be noticed some time later
   only. Now and then columns have to be loaded anew. */
static int run_view_rounds(sqlite3 *db)
{
    const bool may_fail = strcmp(getenv("CLR_FAIL"), "nothing") != 0;
    /* Where nothing fails the device serves in the end, after it has compiled all kernels. */
    const double limit = may_fail ? VIEW_LIMIT_S : FAILURES_LIMIT_S / 2;
    int differing = 0, served_rounds = 0, failed_rounds = 0, round = 0;
    double start = child_now(), slowest = 0.0;

    while (served_rounds < 3 && failed_rounds < 3 && child_now() - start < limit) {
        int64_t served = database_stat(db, "scans_on_device");
        double round_start = child_now(), took;

        if (++round % EVICT_EVERY == 0)
            free(database_query(db, "SELECT clreduce_evict()"));
        differing += compare_views(db);
        took = child_now() - round_start;
        if (took > slowest)
            slowest = took;
        served_rounds += database_stat(db, "scans_on_device") - served == SELECTS;
        failed_rounds += *database_stat_text(db, "last_error") != '\0';
        usleep(5000);
    }
    printf("slowest round %d ms\n", (int)(slowest * 1000));
    return differing;
}

static int run(const char *device_timeout)
{
    char path[SCRATCH_PATH];
    sqlite3 *db;
    int differing;

    scratch_file(path, "failure");
    db = database_open_at(path, 0, NULL);
    database_run(db, "PRAGMA synchronous = OFF");
    database_fill(db, ROWS);
    database_run(db, "CREATE TABLE u(a REAL, b INT, c TEXT)");
    database_run(db,
                 "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO u"
                 " SELECT (i * 7919 %% 6553 - 3000) * 0.0037, i * 7919 %% 101,"
                 " nullif('value ' || i %% 47, 'value 1') FROM n",
                 ROWS);
    database_run(db, "CREATE TABLE d(id INTEGER PRIMARY KEY, name TEXT, weight INT)");
    database_run(db,
                 "INSERT INTO d SELECT DISTINCT b, 'name ' || b %% 5, b %% 7 FROM u WHERE b < 90");
    for (int i = 0; i < SELECTS; i++)
        database_run(db, "CREATE VIRTUAL TABLE temp.v%d USING clreduce((%s))", i, selects[i]);
    failures_use_devices(db, device_timeout);
    differing = run_view_rounds(db);
    failures_print(db, differing);
    sqlite3_close(db);
    unlink(path);
    return differing;
}

/* ---- The test. */

/* Failures that come when more and more has been built, tested and answered. */
static void test_late(void)
{
    static const char *const rules[] = {"clEnqueueNDRangeKernel:-54", "clEnqueueReadBuffer:-5",
                                        "clWaitForEvents:-14", "clEnqueueWriteBuffer:-5"};
    struct failures_attempt attempt;
    char rule[100];

    TAP_EACH (i, rules) {
        setenv("CLREDUCE_DEVICE_COLUMNS", i % 2 == 0 ? "auto" : "copied", 1);
        /* Quick runs take an early call of one function, and a late one of the next. */
        for (int call = tap_is_quick() && i % 2 == 1 ? 240 : 8; call < 5000;
             call = call * (tap_is_quick() ? 1000 : 3)) {
            snprintf(rule, sizeof rule, "%s:%d", rules[i], call);
            failures_attempt(&attempt, rule, "10000");
            if (attempt.passed && !failures_acted(&attempt))
                break;
            failures_conclude(&attempt,
                              attempt.passed && !failures_shows(&attempt, "last_error \n"),
                              "the host's results, and an error is shown");
        }
    }
}

static void test(void)
{
    /* Those of uploads, self-tests and scans. */
    static const int calls[FAILURES_CALLS] = {1, 20, 4};

    failures_test_success("scans_on_device 0\n");
    setenv("CLREDUCE_DEVICE_COLUMNS", "copied", 1);
    failures_test_functions(FAILURES_VIEWS, calls);
    test_late();
    failures_test_wrong_results("scans_on_device 0\n", "last_error self-test: the device's ");
}

int main(int count, char **arguments)
{
    return failures_main(count, arguments, run, test);
}
