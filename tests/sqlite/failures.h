/*
 * For tests of clause 9 of the contract: whatever OpenCL does, results are the host's bits, and
 * what went wrong is in the statistics. Each failure has a process of its own:
 *
 *     PROGRAM DEVICE-TIMEOUT     is one of those runs
 *
 * There is one program for each kind of work that calls OpenCL in its own way.
 */
#ifndef CLR_TESTS_FAILURES_H
#define CLR_TESTS_FAILURES_H

#include "base/memory.h"
#include "opencl/core/calls.h"
#include "opencl/devices.h"
#include "opencl/failing_runs.h"
#include "scratch.h"
#include "sqlite/database.h"

#include <pthread.h>
#include <stdint.h>

/* ---- One of the runs, with whatever OpenCL the environment gives it. */

enum { FAILURES_THREADS = 3 };

/* Has the device to test on begin at once with all that it can do. */
static inline void failures_use_devices(sqlite3 *db, const char *device_timeout)
{
    DATABASE_SET(db, "host_threshold", "1", "view_threshold", "0", "keep_answers", "off",
                 "start_after", "0", "device_timeout", device_timeout);
    database_use_device(db);
}

/* Runs FAILURES_THREADS threads, each given its number as a pointer. Returns the sum of the numbers
   that they return so: how many results differ. */
static inline int failures_run_threads(void *(*work)(void *))
{
    pthread_t threads[FAILURES_THREADS];
    int differing = 0;
    void *result;

    for (intptr_t i = 0; i < FAILURES_THREADS; i++)
        TAP_NEED(pthread_create(&threads[i], NULL, work, (void *)i) == 0, "no thread");
    for (intptr_t i = 0; i < FAILURES_THREADS; i++) {
        pthread_join(threads[i], &result);
        differing += (int)(intptr_t)result;
    }
    return differing;
}

/* What has gone wrong as far as a user can see. */
static inline void failures_print(sqlite3 *db, int differing)
{
    printf("%d results differ\n", differing);
    printf("chunks_to_device %s\n", database_stat_text(db, "chunks_to_device"));
    printf("scans_on_device %s\n", database_stat_text(db, "scans_on_device"));
    printf("last_error %s\n", database_stat_text(db, "last_error"));
    printf("build_log %s\n", database_stat_text(db, "build_log"));
}

/* ---- The test. */

enum { FAILURES_AT_A_TIME = 2 };

/* The kinds of work. */
enum failures_work { FAILURES_AGGREGATES = 1, FAILURES_VIEWS = 2 };

static inline bool failures_conclude(const struct failures_attempt *attempt, bool passed,
                                     const char *name)
{
    tap_ok(passed, "%s: %s", attempt->rule, name);
    if (!passed)
        tap_diag("%s", attempt->text);
    return passed;
}

/* What the run has to have said. */
static inline bool failures_expect(const struct failures_attempt *attempt, const char *text,
                                   const char *name)
{
    return failures_conclude(attempt, failures_shows(attempt, text), name);
}

/* One run in which the rule has to act, to the host's results. */
static inline void failures_act(struct failures_attempt *attempt, const char *rule,
                                const char *argument)
{
    failures_attempt(attempt, rule, argument);
    failures_conclude(attempt, attempt->passed && failures_acted(attempt), "the host's results");
}

/* What the extension calls: what becomes of a failure, and an error that the function may give. */
static const struct failures_function {
    const char *name;
    enum {
        FAILURES_SHOWN,
        FAILURES_HARMLESS
    } failure; /* HARMLESS: nothing is lost but a name, a time, an object */
    int error;
    /* What tries it. Views use what finds and opens a device as aggregates do. */
    unsigned work;
} failures_functions[] = {
    {"clGetPlatformIDs", FAILURES_SHOWN, -1001, FAILURES_AGGREGATES},
    {"clGetPlatformInfo", FAILURES_HARMLESS, -30, FAILURES_AGGREGATES},
    {"clGetDeviceIDs", FAILURES_SHOWN, -6, FAILURES_AGGREGATES},
    {"clGetDeviceInfo", FAILURES_HARMLESS, -30, FAILURES_AGGREGATES},
    {"clCreateContext", FAILURES_SHOWN, -2, FAILURES_AGGREGATES},
    {"clReleaseContext", FAILURES_HARMLESS, -34, FAILURES_AGGREGATES},
    {"clCreateCommandQueue", FAILURES_SHOWN, -35, FAILURES_AGGREGATES | FAILURES_VIEWS},
    {"clReleaseCommandQueue", FAILURES_HARMLESS, -36, FAILURES_AGGREGATES},
    {"clCreateBuffer", FAILURES_SHOWN, -4, FAILURES_AGGREGATES | FAILURES_VIEWS},
    {"clReleaseMemObject", FAILURES_HARMLESS, -38, FAILURES_AGGREGATES | FAILURES_VIEWS},
    {"clCreateProgramWithSource", FAILURES_SHOWN, -6, FAILURES_AGGREGATES | FAILURES_VIEWS},
    {"clReleaseProgram", FAILURES_HARMLESS, -44, FAILURES_AGGREGATES},
    {"clBuildProgram", FAILURES_SHOWN, -11, FAILURES_AGGREGATES | FAILURES_VIEWS},
    {"clGetProgramBuildInfo", FAILURES_HARMLESS, -30, FAILURES_AGGREGATES},
    {"clCreateKernel", FAILURES_SHOWN, -46, FAILURES_AGGREGATES | FAILURES_VIEWS},
    {"clReleaseKernel", FAILURES_HARMLESS, -48, FAILURES_AGGREGATES},
    {"clSetKernelArg", FAILURES_SHOWN, -51, FAILURES_AGGREGATES | FAILURES_VIEWS},
    {"clGetKernelWorkGroupInfo", FAILURES_HARMLESS, -33, FAILURES_AGGREGATES},
    {"clEnqueueMapBuffer", FAILURES_SHOWN, -12, FAILURES_AGGREGATES | FAILURES_VIEWS},
    {"clEnqueueUnmapMemObject", FAILURES_SHOWN, -5, FAILURES_AGGREGATES},
    {"clEnqueueFillBuffer", FAILURES_SHOWN, -59, FAILURES_AGGREGATES | FAILURES_VIEWS},
    {"clEnqueueNDRangeKernel", FAILURES_SHOWN, -54, FAILURES_AGGREGATES | FAILURES_VIEWS},
    {"clEnqueueReadBuffer", FAILURES_SHOWN, -5, FAILURES_AGGREGATES | FAILURES_VIEWS},
    {"clEnqueueWriteBuffer", FAILURES_SHOWN, -5, FAILURES_VIEWS},
    {"clEnqueueCopyBuffer", FAILURES_SHOWN, -5, FAILURES_VIEWS},
    {"clFlush", FAILURES_SHOWN, -36, FAILURES_AGGREGATES | FAILURES_VIEWS},
    {"clFinish", FAILURES_SHOWN, -36, FAILURES_VIEWS},
    {"clWaitForEvents", FAILURES_SHOWN, -14, FAILURES_AGGREGATES | FAILURES_VIEWS},
    {"clReleaseEvent", FAILURES_HARMLESS, -58, FAILURES_AGGREGATES | FAILURES_VIEWS},
    {"clGetEventInfo", FAILURES_SHOWN, -58, FAILURES_VIEWS},
    {"clGetEventProfilingInfo", FAILURES_HARMLESS, -7, FAILURES_AGGREGATES},
};

enum { FAILURES_FUNCTIONS = sizeof failures_functions / sizeof failures_functions[0] };

/* Whether last_error ends so; a device without room says that first. */
static inline bool failures_shows_error(const struct failures_attempt *attempt, const char *error)
{
    const char *last = strstr(attempt->text, "last_error ");
    const char *found = last != NULL ? strstr(last, error) : NULL;

    return found != NULL && memchr(last, '\n', (size_t)(found - last)) == NULL;
}

static inline void failures_check(const struct failures_attempt *attempt,
                                  const struct failures_function *function)
{
    char error[200];

    snprintf(error, sizeof error, "%s: %s (%d)\n", function->name,
             clr_opencl_error_name(function->error), function->error);
    if (!attempt->passed)
        failures_conclude(attempt, false, "the host's results, and an orderly end");
    else if (!failures_acted(attempt))
        failures_conclude(attempt, true, "the host's results (and no such call)");
    else if (function->failure == FAILURES_HARMLESS)
        failures_conclude(attempt, true, "the host's results");
    else
        failures_conclude(attempt, failures_shows_error(attempt, error),
                          "the host's results, and the error is shown");
}

/* Every function that the work calls in its own way, failing from each of those calls on, two runs
   at a time. What is harmless is tried once. Quick runs take every second function, views
   those that aggregates leave out, and one of the calls for each, the next one for the next. */
enum { FAILURES_CALLS = 3 };
static inline void failures_test_functions(enum failures_work work, const int calls[FAILURES_CALLS])
{
    static struct failures_attempt attempts[FAILURES_FUNCTIONS * FAILURES_CALLS];
    const struct failures_function *tried[FAILURES_FUNCTIONS * FAILURES_CALLS];
    const int step = tap_is_quick() ? 2 : 1;
    int count = 0, most = tap_is_quick() ? 1 : FAILURES_CALLS;

#ifdef __SANITIZE_THREAD__
    most = 1;
#endif
    for (int i = work == FAILURES_AGGREGATES ? 0 : step - 1; i < FAILURES_FUNCTIONS; i += step) {
        const struct failures_function *function = &failures_functions[i];
        if ((function->work & work) == 0)
            continue;
        for (int j = 0; j < (function->failure == FAILURES_HARMLESS ? 1 : most); j++) {
            int call = calls[most == 1 ? count % FAILURES_CALLS : j];
            tried[count] = function;
            snprintf(attempts[count++].rule, sizeof attempts[0].rule, "%s:%d:%d", function->name,
                     function->error, call);
        }
    }
    for (int i = 0; i < count + FAILURES_AT_A_TIME; i++) {
        if (i >= FAILURES_AT_A_TIME) {
            failures_finish(&attempts[i - FAILURES_AT_A_TIME]);
            failures_check(&attempts[i - FAILURES_AT_A_TIME], tried[i - FAILURES_AT_A_TIME]);
        }
        if (i < count)
            failures_start(&attempts[i], "10000");
    }
}

/* unserved: what the output says if no device has served. */
static inline void failures_test_success(const char *unserved)
{
    struct failures_attempt attempt;

    failures_attempt(&attempt, "nothing", "10000");
    if (!failures_conclude(&attempt, attempt.passed && !failures_acted(&attempt),
                           "the host's results"))
        tap_bail("without any failure");
    failures_conclude(&attempt, !failures_shows(&attempt, unserved), "by a device");
    failures_expect(&attempt, "last_error \n", "without an error");
}

/* Kernels that do not do their work are found out, which `noticed` says, before their results are
   believed. */
static inline void failures_test_wrong_results(const char *unserved, const char *noticed)
{
    struct failures_attempt attempt;

    failures_act(&attempt, "clEnqueueNDRangeKernel:skip:1", "10000");
    failures_expect(&attempt, noticed, "the self-test has noticed");
    failures_expect(&attempt, unserved, "nothing came from a device");
}

/* There has to be a device that could serve without a failure. */
static inline void failures_require_device(void)
{
    const char *setting = devices_setting();
    struct clr_catalog catalog;
    int chosen;

    clr_catalog_fill(&catalog, NULL, CLR_REACH_ALL);
    chosen = clr_catalog_choose(&catalog, setting);
    clr_memory_free(catalog.devices);
    if (chosen < 0) {
        tap_no_device("no OpenCL device could fail");
        tap_skip_all("no OpenCL device that could fail");
    }
}

/*
 * The whole of a program with main()'s arguments: one run, given the device's timeout and returning
 * how many results differ, or the test. Returns the program's exit status.
 */
static inline int failures_main(int count, char **arguments, int (*run)(const char *),
                                void (*test)(void))
{
    if (count == 2) {
        /* The programs that a driver runs, a linker for instance, are not to have it. */
        unsetenv("LD_PRELOAD");
        database_register();
        return run(arguments[1]) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    failures_prepare(arguments[0]);
    failures_require_device();
    test();
    return tap_done();
}

#endif
