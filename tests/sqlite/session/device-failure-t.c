/*
 * Aggregates of rows that are fed, with an OpenCL that fails: see failures.h. view-failure-t.c has
 * accelerated views.
 */
#include "sqlite/failures.h"

#include "opencl/core/api.h"

enum { ROWS = 2000 };

/* ---- One run. */

/*
 * Runs all queries again and again until something has failed, or a device has served in several
 * rounds with all its programs ready. Returns how many results were wrong.
 */
static int run_queries(sqlite3 *db, char *const expected[DATABASE_QUERIES])
{
    int differing = 0, served_rounds = 0, failed_rounds = 0;
    double start = child_now(), slowest = 0.0;

    while (served_rounds < 2 && failed_rounds < 2 && child_now() - start < FAILURES_LIMIT_S / 2) {
        int64_t served = database_stat(db, "chunks_to_device");
        int64_t starting = database_stat(db, "host_device_starting");
        int64_t failed =
            database_stat(db, "host_device_failed") + database_stat(db, "host_no_device");
        double round_start = child_now();

        differing += database_compare(db, expected);
        if (child_now() - round_start > slowest)
            slowest = child_now() - round_start;
        if (database_stat(db, "host_device_failed") + database_stat(db, "host_no_device") > failed)
            failed_rounds++;
        else if (database_stat(db, "host_device_starting") > starting)
            usleep(20000);
        else if (database_stat(db, "chunks_to_device") > served)
            served_rounds++;
    }
    printf("slowest round %d ms\n", (int)(slowest * 1000));
    return differing;
}

static int run(const char *device_timeout)
{
    char *expected[DATABASE_QUERIES];
    sqlite3 *db = database_open();
    int differing;

    database_fill(db, ROWS);
    DATABASE_SET(db, "chunk_size", "100", "host_threshold", "1", "start_after", "0",
                 "device_timeout", device_timeout);
    database_expect(db, expected);
    database_use_device(db);
    differing = run_queries(db, expected);
    failures_print(db, differing);
    database_free_expected(expected);
    sqlite3_close(db);
    return differing;
}

/* ---- The test. */

/* A call that is added to the extension has to be added to failures.h and to the library of
   failures. */
static void test_all_known(void)
{
    static const char *const called[] = {
#define NAME(name) "cl" #name,
        CLR_OPENCL_FUNCTIONS(NAME)
#undef NAME
    };
    int j, unknown = 0;

    TAP_EACH (i, called) {
        for (j = 0; j < FAILURES_FUNCTIONS && strcmp(failures_functions[j].name, called[i]) != 0;
             j++)
            ;
        if (j == FAILURES_FUNCTIONS) {
            tap_diag("%s", called[i]);
            unknown++;
        }
    }
    tap_ok(unknown == 0, "every OpenCL function that is called is tested");
}

/* The compiler's own words reach the user. */
static void test_build_log(void)
{
    struct failures_attempt attempt;
    const char *log;

    failures_act(&attempt, "clCreateProgramWithSource:broken:1", "10000");
    failures_expect(&attempt, "last_error clBuildProgram: CL_", "the error is shown");
    log = strstr(attempt.text, "build_log ");
    failures_conclude(&attempt, log != NULL && strlen(log) > strlen("build_log \n") + 20,
                      "and the compiler's log");
    failures_expect(&attempt, "chunks_to_device 0\n", "nothing came from a device");
}

/* With the device's programs ready, a wait that takes 1.5 seconds, against a limit of 200 ms. */
static void test_hang(void)
{
    struct failures_attempt attempt;
    const char *slowest;
    int ms;

    failures_act(&attempt, "clWaitForEvents:hang:30:0:1500", "200");
    failures_expect(&attempt, "last_error the device did not answer within 200 ms\n",
                    "the error is shown");
    slowest = strstr(attempt.text, "slowest round ");
    ms = slowest != NULL ? atoi(slowest + strlen("slowest round ")) : 0;
    failures_conclude(&attempt, ms >= 150 && ms < 1400, "device_timeout is heeded");
    tap_diag("slowest round %d ms, whole run %.1f s", ms, attempt.took);

    /* Where a build never ends nobody waits for it, and the process ends all the same. */
    failures_act(&attempt, "clBuildProgram:hang:1:0:300", "200");
    tap_diag("whole run %.1f s", attempt.took);
}

static void test(void)
{
    static const int calls[FAILURES_CALLS] = {1, 5, 2};

    test_all_known();
    failures_test_success("chunks_to_device 0\n");
    failures_test_functions(FAILURES_AGGREGATES, calls);
    test_build_log();
    failures_test_wrong_results("chunks_to_device 0\n",
                                "last_error self-test: the device's result differs");
    test_hang();
}

int main(int count, char **arguments)
{
    return failures_main(count, arguments, run, test);
}
