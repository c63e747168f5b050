/*
 * Clause 9 of the contract: whatever OpenCL does, results are the host's bits, and what went wrong
 * is in the statistics. OpenCL fails by means of tests/opencl/failing-opencl.c, which is preloaded
 * into this program run again: each failure has a process of its own.
 *
 *     device-failure-t DEVICE-TIMEOUT WORK     is one of those runs
 *
 * The work is that of the aggregates, of accelerated views, whose columns go to the device, or of
 * order statistics, whose values do.
 */
#include "base/memory.h"
#include "child.h"
#include "opencl/catalog.h"
#include "opencl/error_names.h"
#include "sqlite/database.h"

#include "tap.h"

#include <fcntl.h>

enum { ROWS = 2000, LIMIT_S = 120, AT_A_TIME = 2, OUTPUT_SIZE = 8192 };

/* ---- One run, with whatever OpenCL the environment gives it. */

/*
 * Runs all queries again and again until something has failed, or a device has served in several
 * rounds with all its programs ready. Returns how many results were wrong.
 */
static int run_queries(sqlite3 *db, char *const expected[DATABASE_QUERIES])
{
    int differing = 0, served_rounds = 0, failed_rounds = 0;
    double start = child_now(), slowest = 0.0;

    while (served_rounds < 2 && failed_rounds < 2 && child_now() - start < LIMIT_S / 2) {
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
            usleep(5000);
        else if (database_stat(db, "chunks_to_device") > served)
            served_rounds++;
    }
    printf("slowest round %d ms\n", (int)(slowest * 1000));
    return differing;
}

/* What has gone wrong as far as a user can see. */
static void print_errors(sqlite3 *db, int differing)
{
    printf("%d results differ\n", differing);
    printf("chunks_to_device %s\n", database_stat_text(db, "chunks_to_device"));
    printf("scans_on_device %s\n", database_stat_text(db, "scans_on_device"));
    printf("last_error %s\n", database_stat_text(db, "last_error"));
    printf("build_log %s\n", database_stat_text(db, "build_log"));
}

static int run_aggregates(const char *device_timeout)
{
    char *expected[DATABASE_QUERIES];
    sqlite3 *db = database_open();
    int differing;

    database_fill(db, ROWS);
    database_set(db, "chunk_size", "100");
    database_set(db, "host_threshold", "1");
    database_set(db, "start_after", "0");
    database_set(db, "device_timeout", device_timeout);
    database_expect(db, expected);
    database_use_device(db);
    differing = run_queries(db, expected);
    print_errors(db, differing);
    database_free_expected(expected);
    sqlite3_close(db);
    return differing;
}

/* ---- One run of views. */

/* Whole columns, counts, expressions and a filter, of every kind of column. */
static const char *const selects[] = {
    "SELECT gpu_sum(i), gpu_total(r), gpu_min(r), gpu_max(i) FROM t",
    "SELECT count(*), count(y), gpu_sum(y) FROM t WHERE g < 3 AND r IS NOT NULL",
    "SELECT gpu_dot(r, i), gpu_sum(i * 2 + 1), gpu_avg(r - 0.5) FROM t WHERE i > r",
};

enum { SELECTS = sizeof selects / sizeof selects[0], VIEW_LIMIT_S = 12 };

/* Asks each view, and its SELECT. Returns how many differ. */
static int compare_views(sqlite3 *db)
{
    char name[40];
    int i, differing = 0;

    for (i = 0; i < SELECTS; i++) {
        char *expected = database_query(db, selects[i]), *found;
        snprintf(name, sizeof name, "SELECT * FROM v%d", i);
        found = database_query(db, name);
        if (strcmp(found, expected) != 0) {
            differing++;
            tap_diag("%s\n got: %.200s\nwant: %.200s", selects[i], found, expected);
        }
        free(found);
        free(expected);
    }
    return differing;
}

/* The same rounds: until something has failed, or all views were answered by the device three
   times. An upload that has failed may be noticed some time later only. */
static int run_view_rounds(sqlite3 *db)
{
    int differing = 0, served_rounds = 0, failed_rounds = 0;
    double start = child_now(), slowest = 0.0;

    while (served_rounds < 3 && failed_rounds < 3 && child_now() - start < VIEW_LIMIT_S) {
        int64_t served = database_stat(db, "scans_on_device");
        double round_start = child_now(), took;

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

static int run_views(const char *device_timeout)
{
    char path[300];
    const char *parent = getenv("TMPDIR");
    sqlite3 *db;
    int file, i, differing;

    snprintf(path, sizeof path, "%s/clreduce-failure-XXXXXX", parent != NULL ? parent : "/tmp");
    file = mkstemp(path);
    if (file < 0 || sqlite3_open(path, &db) != SQLITE_OK)
        tap_bail("no database in %s", path);
    close(file);
    database_run(db, "PRAGMA synchronous = OFF");
    database_fill(db, ROWS);
    for (i = 0; i < SELECTS; i++)
        database_run(db, "CREATE VIRTUAL TABLE temp.v%d USING clreduce((%s))", i, selects[i]);
    database_set(db, "host_threshold", "1");
    database_set(db, "view_threshold", "0");
    database_set(db, "start_after", "0");
    database_set(db, "device_timeout", device_timeout);
    database_run(db, "SELECT clreduce_set('device', 'cpu') FROM clreduce_settings"
                     " WHERE name = 'device' AND \"default\" = 'auto'");
    differing = run_view_rounds(db);
    print_errors(db, differing);
    sqlite3_close(db);
    unlink(path);
    return differing;
}

/* ---- One run of order statistics. */

static const char *const orders[] = {
    "SELECT gpu_median(x), gpu_percentile_disc(x, 0.1) FROM t",
    "SELECT gpu_count_distinct(x), gpu_mode(x) FROM t",
};

enum { ORDERS_COUNT = sizeof orders / sizeof orders[0], ORDERS_ROWS = 70000 };

/* The same rounds again, of queries whose values are more than a device has room for at first. */
static int run_orders(const char *device_timeout)
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
    while (served_rounds < 3 && failed_rounds < 3 && child_now() - start < VIEW_LIMIT_S) {
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
    print_errors(db, differing);
    for (i = 0; i < ORDERS_COUNT; i++)
        free(expected[i]);
    sqlite3_close(db);
    return differing;
}

static int run(const char *device_timeout, const char *work)
{
    int differing;

    /* The programs that a driver runs, a linker for instance, are not to have it. */
    unsetenv("LD_PRELOAD");
    database_register();
    if (strcmp(work, "views") == 0)
        differing = run_views(device_timeout);
    else if (strcmp(work, "orders") == 0)
        differing = run_orders(device_timeout);
    else
        differing = run_aggregates(device_timeout);
    return differing == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- The test. */

/* Work that calls OpenCL in its own way. */
enum work { AGGREGATES = 1, VIEWS = 2, ORDERS = 4 };

/* A run, and all that it printed. */
struct attempt {
    char rule[100];
    enum work work;
    pid_t child;
    int output;
    double start, took;
    bool passed;
    char text[OUTPUT_SIZE];
};

static const char *program, *interposer, *sanitizer;

static const char *name_of(enum work work)
{
    return work == VIEWS ? "views" : work == ORDERS ? "orders" : "aggregates";
}

static void start(struct attempt *attempt, const char *device_timeout)
{
    int ends[2];

    attempt->start = child_now();
    fflush(stdout);
    if (pipe(ends) != 0 || fcntl(ends[0], F_SETFD, FD_CLOEXEC) != 0 ||
        (attempt->child = fork()) < 0)
        tap_bail("no child: %s", strerror(errno));
    if (attempt->child == 0) {
        char preload[2048];
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        snprintf(preload, sizeof preload, "%s:%s", sanitizer, interposer);
        setenv("LD_PRELOAD", sanitizer[0] != '\0' ? preload : interposer, 1);
        setenv("CLR_FAIL", attempt->rule, 1);
        alarm(LIMIT_S);
        execl(program, program, device_timeout, name_of(attempt->work), (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    attempt->output = ends[0];
}

static void finish(struct attempt *attempt)
{
    size_t length = 0;
    char rest[1000];
    ssize_t got;

    /* All is read, so that the run can write it; the beginning is kept. */
    while ((got = read(attempt->output, rest, sizeof rest)) > 0) {
        size_t kept = (size_t)got;
        if (kept > sizeof attempt->text - 1 - length)
            kept = sizeof attempt->text - 1 - length;
        memcpy(attempt->text + length, rest, kept);
        length += kept;
    }
    attempt->text[length] = '\0';
    close(attempt->output);
    attempt->passed = child_wait(attempt->child);
    attempt->took = child_now() - attempt->start;
}

static bool shows(const struct attempt *attempt, const char *text)
{
    return strstr(attempt->text, text) != NULL;
}

/* Whether a failure came about at all: not every function is called five times. */
static bool acted(const struct attempt *attempt)
{
    return shows(attempt, "failing-opencl:");
}

static bool conclude(const struct attempt *attempt, bool passed, const char *name)
{
    tap_ok(passed, "%s, %s: %s", name_of(attempt->work), attempt->rule, name);
    if (!passed)
        tap_diag("%s", attempt->text);
    return passed;
}

/* What the extension calls: what becomes of a failure, and an error that the function may give. */
static const struct function {
    const char *name;
    enum { SHOWN, HARMLESS } failure; /* HARMLESS: nothing is lost but a name, a time, an object */
    int error;
    /* What tries it. Views and orders use what finds and opens a device as aggregates do. */
    unsigned work;
} functions[] = {
    {"clGetPlatformIDs", SHOWN, -1001, AGGREGATES},
    {"clGetPlatformInfo", HARMLESS, -30, AGGREGATES},
    {"clGetDeviceIDs", SHOWN, -6, AGGREGATES},
    {"clGetDeviceInfo", HARMLESS, -30, AGGREGATES},
    {"clCreateContext", SHOWN, -2, AGGREGATES},
    {"clReleaseContext", HARMLESS, -34, AGGREGATES},
    {"clCreateCommandQueue", SHOWN, -35, AGGREGATES | VIEWS},
    {"clReleaseCommandQueue", HARMLESS, -36, AGGREGATES},
    {"clCreateBuffer", SHOWN, -4, AGGREGATES | VIEWS | ORDERS},
    {"clReleaseMemObject", HARMLESS, -38, AGGREGATES | VIEWS},
    {"clCreateProgramWithSource", SHOWN, -6, AGGREGATES | VIEWS},
    {"clReleaseProgram", HARMLESS, -44, AGGREGATES},
    {"clBuildProgram", SHOWN, -11, AGGREGATES | VIEWS},
    {"clGetProgramBuildInfo", HARMLESS, -30, AGGREGATES},
    {"clCreateKernel", SHOWN, -46, AGGREGATES | VIEWS},
    {"clReleaseKernel", HARMLESS, -48, AGGREGATES},
    {"clSetKernelArg", SHOWN, -51, AGGREGATES | VIEWS},
    {"clGetKernelWorkGroupInfo", HARMLESS, -33, AGGREGATES},
    {"clEnqueueMapBuffer", SHOWN, -12, AGGREGATES | VIEWS},
    {"clEnqueueUnmapMemObject", SHOWN, -5, AGGREGATES},
    {"clEnqueueFillBuffer", SHOWN, -59, AGGREGATES | VIEWS},
    {"clEnqueueNDRangeKernel", SHOWN, -54, AGGREGATES | VIEWS | ORDERS},
    {"clEnqueueReadBuffer", SHOWN, -5, AGGREGATES | VIEWS | ORDERS},
    {"clEnqueueWriteBuffer", SHOWN, -5, VIEWS | ORDERS},
    {"clEnqueueCopyBuffer", SHOWN, -5, ORDERS},
    {"clFlush", SHOWN, -36, AGGREGATES | VIEWS},
    {"clWaitForEvents", SHOWN, -14, AGGREGATES | VIEWS | ORDERS},
    {"clReleaseEvent", HARMLESS, -58, AGGREGATES | VIEWS},
    {"clGetEventProfilingInfo", HARMLESS, -7, AGGREGATES},
};

enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

/* A call that is added to the extension has to be added here and to the library of failures. */
static void test_all_known(void)
{
    char line[256], *name;
    int i, unknown = 0, seen = 0;
    FILE *symbols = popen("nm -u \"$CLREDUCE_BUILDDIR\"/libclreduce.a 2>/dev/null", "r");

    while (symbols != NULL && fgets(line, sizeof line, symbols) != NULL) {
        line[strcspn(line, "\r\n")] = '\0';
        name = strstr(line, " cl");
        if (name == NULL || name[3] < 'A' || name[3] > 'Z')
            continue;
        seen++;
        for (i = 0; i < FUNCTIONS && strcmp(functions[i].name, name + 1) != 0; i++)
            ;
        if (i == FUNCTIONS) {
            tap_diag("%s", name + 1);
            unknown++;
        }
    }
    if (symbols != NULL)
        pclose(symbols);
    if (seen == 0)
        tap_skip(1, "there is no nm to list the functions called");
    else
        tap_ok(unknown == 0, "every OpenCL function that is called is tested here");
}

/* Whether last_error ends so; a device without room says that first. */
static bool shows_error(const struct attempt *attempt, const char *error)
{
    const char *last = strstr(attempt->text, "last_error ");
    const char *found = last != NULL ? strstr(last, error) : NULL;

    return found != NULL && memchr(last, '\n', (size_t)(found - last)) == NULL;
}

static void check_failure(const struct attempt *attempt, const struct function *function)
{
    char error[200];

    snprintf(error, sizeof error, "%s: %s (%d)\n", function->name,
             clr_opencl_error_name(function->error), function->error);
    if (!attempt->passed)
        conclude(attempt, false, "the host's results, and an orderly end");
    else if (!acted(attempt))
        conclude(attempt, true, "the host's results (and no such call)");
    else if (function->failure == HARMLESS)
        conclude(attempt, true, "the host's results");
    else
        conclude(attempt, shows_error(attempt, error),
                 "the host's results, and the error is shown");
}

/* Every function, failing from several of its calls on, two runs at a time. What is harmless is
   tried once. */
static void test_functions(enum work work)
{
    enum { CALLS = 3 };
    /* The calls of the others come after those of the self-tests. */
    static const int of_aggregates[CALLS] = {1, 5, 2}, of_others[CALLS] = {1, 20, 4};
    const int *calls = work == AGGREGATES ? of_aggregates : of_others;
    static struct attempt attempts[FUNCTIONS * CALLS];
    const struct function *tried[FUNCTIONS * CALLS];
    int i, j, count = 0, most = CALLS - tap_is_quick();

#ifdef __SANITIZE_THREAD__
    most = 1;
#endif
    for (i = 0; i < FUNCTIONS; i++) {
        if ((functions[i].work & work) == 0)
            continue;
        for (j = 0; j < (functions[i].failure == HARMLESS ? 1 : most); j++) {
            tried[count] = &functions[i];
            attempts[count].work = work;
            snprintf(attempts[count++].rule, sizeof attempts[0].rule, "%s:%d:%d", functions[i].name,
                     functions[i].error, calls[j]);
        }
    }
    for (i = 0; i < count + AT_A_TIME; i++) {
        if (i >= AT_A_TIME) {
            finish(&attempts[i - AT_A_TIME]);
            check_failure(&attempts[i - AT_A_TIME], tried[i - AT_A_TIME]);
        }
        if (i < count)
            start(&attempts[i], "10000");
    }
}

static void attempt_alone(struct attempt *attempt, const char *rule, enum work work,
                          const char *device_timeout)
{
    attempt->work = work;
    snprintf(attempt->rule, sizeof attempt->rule, "%s", rule);
    start(attempt, device_timeout);
    finish(attempt);
}

static void test_success(enum work work)
{
    struct attempt attempt;

    attempt_alone(&attempt, "nothing", work, "10000");
    if (!conclude(&attempt, attempt.passed && !acted(&attempt), "the host's results"))
        tap_bail("without any failure");
    conclude(&attempt,
             !shows(&attempt, work == VIEWS ? "scans_on_device 0\n" : "chunks_to_device 0\n"),
             "by a device");
    conclude(&attempt, shows(&attempt, "last_error \n"), "without an error");
}

/* The compiler's own words reach the user. */
static void test_build_log(void)
{
    struct attempt attempt;
    const char *log;

    attempt_alone(&attempt, "clCreateProgramWithSource:broken:1", AGGREGATES, "10000");
    conclude(&attempt, attempt.passed && acted(&attempt), "the host's results");
    conclude(&attempt, shows(&attempt, "last_error clBuildProgram: CL_"), "the error is shown");
    log = strstr(attempt.text, "build_log ");
    conclude(&attempt, log != NULL && strlen(log) > strlen("build_log \n") + 20,
             "and the compiler's log");
    conclude(&attempt, shows(&attempt, "chunks_to_device 0\n"), "nothing came from a device");
}

/* A kernel that does not do its work is found out before its results are believed. */
static void test_wrong_results(void)
{
    struct attempt attempt;

    attempt_alone(&attempt, "clEnqueueNDRangeKernel:skip:1", AGGREGATES, "10000");
    conclude(&attempt, attempt.passed && acted(&attempt), "the host's results");
    conclude(&attempt, shows(&attempt, "last_error self-test: the device's result differs"),
             "the self-test has noticed");
    conclude(&attempt, shows(&attempt, "chunks_to_device 0\n"), "nothing came from a device");

    attempt_alone(&attempt, "clEnqueueNDRangeKernel:skip:1", VIEWS, "10000");
    conclude(&attempt, attempt.passed && acted(&attempt), "the host's results");
    conclude(&attempt, shows(&attempt, "last_error self-test: the device's result differs"),
             "the self-test has noticed");
    conclude(&attempt, shows(&attempt, "scans_on_device 0\n"), "nothing came from a device");
}

/* With the device's programs ready, a wait that takes 1.5 seconds, against a limit of 200 ms. */
static void test_hang(void)
{
    struct attempt attempt;
    const char *slowest;
    int ms;

    attempt_alone(&attempt, "clWaitForEvents:hang:30:1500", AGGREGATES, "200");
    conclude(&attempt, attempt.passed && acted(&attempt), "the host's results");
    conclude(&attempt, shows(&attempt, "last_error the device did not answer within 200 ms\n"),
             "the error is shown");
    slowest = strstr(attempt.text, "slowest round ");
    ms = slowest != NULL ? atoi(slowest + strlen("slowest round ")) : 0;
    conclude(&attempt, ms >= 150 && ms < 1400, "device_timeout is heeded");
    tap_diag("slowest round %d ms, whole run %.1f s", ms, attempt.took);

    /* Where a build never ends nobody waits for it, and the process ends all the same. */
    attempt_alone(&attempt, "clBuildProgram:hang:1:300", AGGREGATES, "200");
    conclude(&attempt, attempt.passed && acted(&attempt), "the host's results");
    tap_diag("whole run %.1f s", attempt.took);
}

/* There has to be a device that could serve without a failure. */
static void require_device(void)
{
    const char *setting = getenv("CLREDUCE_DEVICE");
    struct clr_catalog catalog;
    int chosen;

    clr_catalog_fill(&catalog);
    chosen = clr_catalog_choose(&catalog, setting != NULL && setting[0] != '\0' ? setting : "auto");
    clr_memory_free(catalog.devices);
    if (chosen < 0)
        tap_skip_all("no OpenCL device that could fail");
}

int main(int count, char **arguments)
{
    static char path[1024];
    const char *build = getenv("CLREDUCE_BUILDDIR");

    if (count == 3)
        return run(arguments[1], arguments[2]);
    snprintf(path, sizeof path, "%s/tests/opencl/failing-opencl.so", build != NULL ? build : ".");
    if (access(path, R_OK) != 0)
        tap_skip_all("there is no %s to preload", path);
    require_device();
    program = arguments[0];
    interposer = path;
    sanitizer = getenv("CLREDUCE_PRELOAD");
    if (sanitizer == NULL)
        sanitizer = "";
    test_all_known();
    test_success(AGGREGATES);
    test_success(VIEWS);
    test_success(ORDERS);
    test_functions(AGGREGATES);
    test_functions(VIEWS);
    test_functions(ORDERS);
    test_build_log();
    test_wrong_results();
    test_hang();
    return tap_done();
}
