/*
 * Clause 9 of the contract: whatever OpenCL does, results are the host's bits, and what went wrong
 * is in the statistics. OpenCL fails by means of tests/opencl/failing-opencl.c, which is preloaded
 * into this program run again: each failure has a process of its own.
 *
 *     device-failure-t DEVICE-TIMEOUT     is one of those runs
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

static int run(const char *device_timeout)
{
    char *expected[DATABASE_QUERIES];
    sqlite3 *db;
    int differing;

    /* The programs that a driver runs, a linker for instance, are not to have it. */
    unsetenv("LD_PRELOAD");
    database_register();
    db = database_open();
    database_fill(db, ROWS);
    database_set(db, "chunk_size", "100");
    database_set(db, "host_threshold", "1");
    database_set(db, "start_after", "0");
    database_set(db, "device_timeout", device_timeout);
    database_expect(db, expected);
    database_use_device(db);
    differing = run_queries(db, expected);
    printf("%d results differ\n", differing);
    printf("chunks_to_device %s\n", database_stat_text(db, "chunks_to_device"));
    printf("last_error %s\n", database_stat_text(db, "last_error"));
    printf("build_log %s\n", database_stat_text(db, "build_log"));
    database_free_expected(expected);
    sqlite3_close(db);
    return differing == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- The test. */

/* A run, and all that it printed. */
struct attempt {
    char rule[100];
    pid_t child;
    int output;
    double start, took;
    bool passed;
    char text[OUTPUT_SIZE];
};

static const char *program, *interposer, *sanitizer;

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
        execl(program, program, device_timeout, (char *)NULL);
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
    tap_ok(passed, "%s: %s", attempt->rule, name);
    if (!passed)
        tap_diag("%s", attempt->text);
    return passed;
}

/* What the extension calls: what becomes of a failure, and an error that the function may give. */
static const struct function {
    const char *name;
    enum { SHOWN, HARMLESS } failure; /* HARMLESS: nothing is lost but a name, a time, an object */
    int error;
} functions[] = {
    {"clGetPlatformIDs", SHOWN, -1001},
    {"clGetPlatformInfo", HARMLESS, -30},
    {"clGetDeviceIDs", SHOWN, -6},
    {"clGetDeviceInfo", HARMLESS, -30},
    {"clCreateContext", SHOWN, -2},
    {"clReleaseContext", HARMLESS, -34},
    {"clCreateCommandQueue", SHOWN, -35},
    {"clReleaseCommandQueue", HARMLESS, -36},
    {"clCreateBuffer", SHOWN, -4},
    {"clReleaseMemObject", HARMLESS, -38},
    {"clCreateProgramWithSource", SHOWN, -6},
    {"clReleaseProgram", HARMLESS, -44},
    {"clBuildProgram", SHOWN, -11},
    {"clGetProgramBuildInfo", HARMLESS, -30},
    {"clCreateKernel", SHOWN, -46},
    {"clReleaseKernel", HARMLESS, -48},
    {"clSetKernelArg", SHOWN, -51},
    {"clGetKernelWorkGroupInfo", HARMLESS, -33},
    {"clEnqueueMapBuffer", SHOWN, -12},
    {"clEnqueueUnmapMemObject", SHOWN, -5},
    {"clEnqueueFillBuffer", SHOWN, -59},
    {"clEnqueueNDRangeKernel", SHOWN, -54},
    {"clEnqueueReadBuffer", SHOWN, -5},
    {"clEnqueueWriteBuffer", HARMLESS, -5}, /* of columns that stay on a device */
    {"clFlush", SHOWN, -36},
    {"clWaitForEvents", SHOWN, -14},
    {"clReleaseEvent", HARMLESS, -58},
    {"clGetEventProfilingInfo", HARMLESS, -7},
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

static void check_failure(const struct attempt *attempt, const struct function *function)
{
    char error[200];

    snprintf(error, sizeof error, "last_error %s: %s (%d)\n", function->name,
             clr_opencl_error_name(function->error), function->error);
    if (!attempt->passed)
        conclude(attempt, false, "the host's results, and an orderly end");
    else if (!acted(attempt))
        conclude(attempt, true, "the host's results (and no such call)");
    else if (function->failure == HARMLESS)
        conclude(attempt, true, "the host's results");
    else
        conclude(attempt, shows(attempt, error), "the host's results, and the error is shown");
}

/*
 * Every function, failing from its first, second and fifth call on, several runs at a time. What is
 * harmless is tried once.
 */
static void test_functions(void)
{
    static const int calls[] = {1, 2, 5};
    enum { CALLS = 3 };
    static struct attempt attempts[FUNCTIONS * CALLS];
    const struct function *tried[FUNCTIONS * CALLS];
    int i, j, count = 0;

    for (i = 0; i < FUNCTIONS; i++) {
        for (j = 0; j < (functions[i].failure == HARMLESS ? 1 : CALLS); j++) {
            tried[count] = &functions[i];
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

static void attempt_alone(struct attempt *attempt, const char *rule, const char *device_timeout)
{
    snprintf(attempt->rule, sizeof attempt->rule, "%s", rule);
    start(attempt, device_timeout);
    finish(attempt);
}

static void test_success(void)
{
    struct attempt attempt;

    attempt_alone(&attempt, "nothing", "10000");
    if (!conclude(&attempt, attempt.passed && !acted(&attempt), "the host's results"))
        tap_bail("without any failure");
    conclude(&attempt, !shows(&attempt, "chunks_to_device 0\n"), "by a device");
    conclude(&attempt, shows(&attempt, "last_error \n"), "without an error");
}

/* The compiler's own words reach the user. */
static void test_build_log(void)
{
    struct attempt attempt;
    const char *log;

    attempt_alone(&attempt, "clCreateProgramWithSource:broken:1", "10000");
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

    attempt_alone(&attempt, "clEnqueueNDRangeKernel:skip:1", "10000");
    conclude(&attempt, attempt.passed && acted(&attempt), "the host's results");
    conclude(&attempt, shows(&attempt, "last_error self-test: the device's result differs"),
             "the self-test has noticed");
    conclude(&attempt, shows(&attempt, "chunks_to_device 0\n"), "nothing came from a device");
}

/* With the device's programs ready, a wait that takes 1.5 seconds, against a limit of 200 ms. */
static void test_hang(void)
{
    struct attempt attempt;
    const char *slowest;
    int ms;

    attempt_alone(&attempt, "clWaitForEvents:hang:30:1500", "200");
    conclude(&attempt, attempt.passed && acted(&attempt), "the host's results");
    conclude(&attempt, shows(&attempt, "last_error the device did not answer within 200 ms\n"),
             "the error is shown");
    slowest = strstr(attempt.text, "slowest round ");
    ms = slowest != NULL ? atoi(slowest + strlen("slowest round ")) : 0;
    conclude(&attempt, ms >= 150 && ms < 1400, "device_timeout is heeded");
    tap_diag("slowest round %d ms, whole run %.1f s", ms, attempt.took);

    /* Where a build never ends nobody waits for it, and the process ends all the same. */
    attempt_alone(&attempt, "clBuildProgram:hang:1:300", "200");
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

    if (count == 2)
        return run(arguments[1]);
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
    test_success();
    test_functions();
    test_build_log();
    test_wrong_results();
    test_hang();
    return tap_done();
}
