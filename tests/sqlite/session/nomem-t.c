/*
 * Clause 8 of the contract: out of memory is SQLITE_NOMEM, and nothing else comes of it. Each
 * allocation of the extension, and each of SQLite's, fails once; afterwards the connection gives
 * right results, and all memory is freed.
 */
#include "base/memory.h"
#include "child.h"
#include "sqlite/database.h"
#include "sqlite/nomem.h"

enum { ROWS = 600, LIMIT_S = 100, DEVICE_CASES = 12 };

/* What reads the extension's own tables and settings allocates too. */
static const char *const other_queries[] = {
    "SELECT name, value, \"default\", meaning FROM clreduce_settings WHERE name <> 'device'",
    "SELECT name, unit, meaning FROM clreduce_stats",
    "SELECT clreduce_set('chunk_size', 32), clreduce_version()",
};

/* What keeps its values allocates as they come, and again when they are put in order for a window.
 */
static const char *const keeping_queries[] = {
    "SELECT gpu_median(x), gpu_percentile_disc(x, 0.9) FROM (SELECT i AS x FROM t UNION ALL"
    " SELECT i * 0.5 FROM t)",
    "SELECT gpu_count_distinct(x), gpu_mode(x) FROM (SELECT i AS x FROM t UNION ALL"
    " SELECT i * 0.5 FROM t UNION ALL SELECT 'text ' || i FROM t)",
    "SELECT gpu_histogram(i, 0, 100, 1000) FROM t",
    "SELECT gpu_histogram_merge(s), gpu_histogram_state_merge(s) FROM (SELECT"
    " gpu_histogram_state(i, 0, 100, 1000) AS s FROM t GROUP BY i % 3)",
    "SELECT sum(a), sum(b), max(c) FROM (SELECT gpu_median(i) OVER w AS a,"
    " gpu_count_distinct('text ' || i) OVER w AS b, gpu_mode('text ' || i % 7) OVER w AS c FROM t"
    " WINDOW w AS (ROWS 400 PRECEDING))",
};

/* ---- Connections to one database, each with none of the memory that another has kept. */

static const char shared[] = "file:nomem?mode=memory&cache=shared";

static sqlite3 *connect_to(const char *name, int *rc)
{
    sqlite3 *db = NULL;

    *rc = sqlite3_open_v2(name, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI,
                          NULL);
    return db;
}

static sqlite3 *reconnect(void)
{
    int rc;
    sqlite3 *db = connect_to(shared, &rc);

    TAP_NEED(rc == SQLITE_OK, "no connection: %s", sqlite3_errmsg(db));
    DATABASE_SET(db, "device", "host", "chunk_size", "32", "host_threshold", "1");
    return db;
}

/* Runs a query of which one allocation fails, from its first step on; returns SQLite's result. */
static int run_failing(sqlite3 *db, const char *sql, int (*fail_after)(long), long after,
                       bool *failed)
{
    sqlite3_stmt *query = database_prepare(db, sql);
    int rc;

    fail_after(after);
    while ((rc = sqlite3_step(query)) == SQLITE_ROW) {
        for (int column = 0; column < sqlite3_column_count(query); column++)
            sqlite3_column_blob(query, column);
    }
    *failed = fail_after(-1);
    sqlite3_finalize(query);
    return rc;
}

/* Whether a query that lacked one allocation of the extension's gives the right rows, or none: what
   gpu_min and gpu_max keep for a window that never comes need not be there. */
static bool is_right(const char *sql, long after, const char *expected)
{
    sqlite3 *db = reconnect();
    char *found;
    bool right;
    int rc;

    clr_memory_fail_after(after);
    found = database_query_rc(db, sql, &rc);
    clr_memory_fail_after(-1);
    right = rc == SQLITE_NOMEM || (rc == SQLITE_OK && strcmp(found, expected) == 0);
    free(found);
    sqlite3_close(db);
    return right;
}

/* Every allocation of a query, until one run has none left to fail; of very many not every one. The
   extension's are told, unless the rows are right without. */
static void check_query(const char *sql, int (*fail_after)(long), bool extension)
{
    sqlite3 *db = reconnect();
    char *expected = database_query(db, sql);
    long failures = 0, told = 0;
    bool failed = true;

    sqlite3_close(db);
    for (long after = 0; failed; after += 1 + after / 100 * 10) {
        sqlite3_int64 before = sqlite3_memory_used();
        int rc;
        db = reconnect();
        rc = run_failing(db, sql, fail_after, after, &failed);
        failures += failed;
        told += rc == SQLITE_NOMEM;
        /* Some allocations of SQLite's are for speed alone: without them all goes on. */
        if (!failed)
            tap_ok(rc == SQLITE_DONE, "%ld allocations, %ld of them told: %.60s", failures, told,
                   sql);
        else if (rc != SQLITE_NOMEM &&
                 (rc != SQLITE_DONE || (extension && !is_right(sql, after, expected))))
            tap_ok(false, "allocation %ld of %.60s: result %d", after, sql, rc);
        if (!database_gives(db, sql, expected))
            tap_ok(false, "after allocation %ld of %.60s", after, sql);
        if (sqlite3_close(db) != SQLITE_OK)
            tap_ok(false, "after allocation %ld of %.60s the connection is still in use", after,
                   sql);
        if (sqlite3_memory_used() != before)
            tap_ok(false, "after allocation %ld of %.60s memory is left over", after, sql);
    }
    free(expected);
}

/* ---- Registering: the extension is there, or the connection is not. */

static bool works(sqlite3 *db)
{
    return database_gives(
        db,
        "SELECT gpu_sum(1), gpu_total(1), gpu_avg(1), gpu_dot(1, 1), gpu_min(1), gpu_max(1),"
        " (SELECT count(*) > 0 FROM clreduce_settings),"
        " (SELECT count(*) > 0 FROM clreduce_stats), length(clreduce_version()) > 0,"
        " clreduce_set('device', 'host')",
        "1 0x1p+0 0x1p+0 1 1 1 1 1 1 '686f7374'\n");
}

static void test_open(int (*fail_after)(long), const char *whose)
{
    sqlite3_int64 before = sqlite3_memory_used();
    bool failed = true;
    long after, refused = 0;
    int rc;

    for (after = 0; failed; after++) {
        sqlite3 *db;
        fail_after(after);
        db = connect_to(":memory:", &rc);
        failed = fail_after(-1);
        if (rc != SQLITE_OK)
            refused++;
        else if (!works(db))
            tap_ok(false, "opened without allocation %ld of %s", after, whose);
        sqlite3_close(db);
    }
    tap_ok(refused > 0 && rc == SQLITE_OK, "opening: %ld allocations of %s, %ld of them told",
           after - 1, whose, refused);
    tap_is_int64(sqlite3_memory_used(), before, "and no memory of SQLite's is left over");
}

/* Registering that has failed half-way can be done again on the same connection. */
static void test_register_again(int (*fail_after)(long), const char *whose)
{
    bool failed = true, all_work = true;
    long after, refused = 0;
    int rc;

    sqlite3_cancel_auto_extension((void (*)(void))sqlite3_clreduce_init);
    for (after = 0; failed; after++) {
        sqlite3 *db = connect_to(":memory:", &rc);
        char *error = NULL;
        fail_after(after);
        rc = sqlite3_clreduce_init(db, &error, NULL);
        failed = fail_after(-1);
        sqlite3_free(error);
        if (rc != SQLITE_OK) {
            refused++;
            error = NULL;
            rc = sqlite3_clreduce_init(db, &error, NULL);
            sqlite3_free(error);
        }
        if (rc != SQLITE_OK || !works(db)) {
            tap_diag("allocation %ld", after);
            all_work = false;
        }
        sqlite3_close(db);
    }
    tap_ok(all_work && refused > 0, "registering again: %ld allocations of %s, %ld of them told",
           after - 1, whose, refused);
    database_register();
}

/* ---- With a device: the worker's allocations fail too, which the device may not survive. */

static long device_case;

static void run_with_device(void)
{
    sqlite3 *db = database_open();
    char *expected[DATABASE_QUERIES], *found;
    double start = child_now();
    bool failed = false;
    int i = 0, rc;

    database_fill(db, ROWS);
    DATABASE_SET(db, "chunk_size", "32", "host_threshold", "1", "start_after", "0");
    database_expect(db, expected);
    database_use_device(db);
    clr_memory_fail_after(device_case);
    while (!failed && child_now() - start < 20) {
        found = database_query_rc(db, database_queries[i], &rc);
        child_ok(rc == SQLITE_NOMEM || strcmp(found, expected[i]) == 0, database_queries[i]);
        free(found);
        failed = clr_memory_fail_after(-1);
        if (!failed)
            clr_memory_fail_after(device_case);
        i = (i + 1) % DATABASE_QUERIES;
        if (database_stat(db, "host_no_device") + database_stat(db, "chunks_to_device") > 0 &&
            child_now() - start > 0.3)
            break;
    }
    child_ok(database_compare(db, expected) == 0, "the results afterwards");
    database_free_expected(expected);
    sqlite3_close(db);
}

static void test_device(void)
{
    bool passed = child_run_numbered(run_with_device, LIMIT_S, &device_case, DEVICE_CASES);

    tap_ok(passed, "%d allocations while a device starts", DEVICE_CASES);
}

TAP_TEST(all_tests)
{
    sqlite3 *keeper;
    int rc;

    nomem_replace_malloc();
    database_register();
    test_device(); /* before anything else: its children have runtimes of their own */
    keeper = connect_to(shared, &rc);
    TAP_NEED(rc == SQLITE_OK, "no database");
    database_fill(keeper, ROWS);
    TAP_EACH (i, database_queries) {
        check_query(database_queries[i], clr_memory_fail_after, true);
        check_query(database_queries[i], nomem_sqlite_fail_after, false);
    }
    TAP_EACH (i, keeping_queries) {
        check_query(keeping_queries[i], clr_memory_fail_after, true);
        check_query(keeping_queries[i], nomem_sqlite_fail_after, false);
    }
    TAP_EACH (i, other_queries)
        check_query(other_queries[i], nomem_sqlite_fail_after, false);
    test_open(clr_memory_fail_after, "the extension");
    test_open(nomem_sqlite_fail_after, "SQLite");
    test_register_again(clr_memory_fail_after, "the extension");
    test_register_again(nomem_sqlite_fail_after, "SQLite");
    sqlite3_close(keeper);
}
