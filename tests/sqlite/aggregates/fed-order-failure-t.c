/*
 * Order statistics of rows that are fed, whose values go to the device, with an OpenCL that fails:
 * see failures.h.
 */
#include "sqlite/failures.h"

#include "tap.h"

/* ---- One run. */

static const char *const orders[] = {
    "SELECT gpu_median(x), gpu_percentile_disc(x, 0.1) FROM t",
    "SELECT gpu_count_distinct(x), gpu_mode(x) FROM t",
};

enum { ORDERS_COUNT = sizeof orders / sizeof orders[0], ORDERS_ROWS = 70000, LIMIT_S = 12 };

/* The same rounds again, of queries whose values are more than a device has room for at first. */
static int run(const char *device_timeout)
{
    int i, differing = 0, served_rounds = 0, failed_rounds = 0;
    char *expected[ORDERS_COUNT];
    sqlite3 *db = database_open();
    double start;

    database_run(db,
                 "CREATE TABLE t AS WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE"
                 " i < %d) SELECT (i * 7919 %% 65537 - 30000) * 0.37 AS x FROM n",
                 ORDERS_ROWS);
    database_set(db, "host_threshold", "1");
    database_set(db, "start_after", "0");
    database_set(db, "device_timeout", device_timeout);
    database_set(db, "device", "host");
    for (i = 0; i < ORDERS_COUNT; i++)
        expected[i] = database_query(db, orders[i]);
    database_run(db, "SELECT clreduce_set('device', \"default\") FROM clreduce_settings"
                     " WHERE name = 'device'");
    /* An automatic choice has no processor put numbers in order. */
    database_run(db, "SELECT clreduce_set('device', 'cpu') FROM clreduce_settings"
                     " WHERE name = 'device' AND value = 'auto'");
    start = child_now();
    while (served_rounds < 3 && failed_rounds < 3 && child_now() - start < LIMIT_S) {
        int64_t served = database_stat(db, "chunks_to_device");
        for (i = 0; i < ORDERS_COUNT; i++) {
            char *found = database_query(db, orders[i]);
            differing += strcmp(found, expected[i]) != 0;
            free(found);
        }
        served_rounds += database_stat(db, "chunks_to_device") > served;
        failed_rounds += *database_stat_text(db, "last_error") != '\0';
        usleep(5000);
    }
    failures_print(db, differing);
    for (i = 0; i < ORDERS_COUNT; i++)
        free(expected[i]);
    sqlite3_close(db);
    return differing;
}

/* ---- The test. */

static void test(void)
{
    static const int calls[FAILURES_CALLS] = {1, 20, 4};

    failures_test_success("chunks_to_device 0\n");
    failures_test_functions(FAILURES_ORDERS, calls);
}

int main(int count, char **arguments)
{
    return failures_main(count, arguments, run, test);
}
