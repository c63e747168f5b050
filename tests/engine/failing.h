/*
 * For tests of what OpenCL's failures lead to, by means of tests/opencl/failing-opencl.c, which is
 * preloaded into the test's own program run again: each failure has a process of its own.
 *
 *     PROGRAM run     is one of those runs
 */
#ifndef CLR_TESTS_FAILING_H
#define CLR_TESTS_FAILING_H

#include "base/memory.h"
#include "engine/shards.h"
#include "engine/worker/worker.h"

#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { FAILING_OUTPUT = 8192 };

/* ---- One run, with whatever OpenCL the environment gives it. */

/* A device that the build's PoCL or a driver has, taken for a GPU with memory of its own: that is
   the longer way. */
static inline bool failing_find_device(struct clr_device_info *info)
{
    struct clr_catalog catalog;
    size_t i;

    clr_catalog_fill(&catalog, NULL, CLR_REACH_ALL);
    for (i = 0; i < catalog.count; i++) {
        if (catalog.devices[i].unusable[0] == '\0') {
            *info = catalog.devices[i];
            info->type = CLR_DEVICE_GPU;
            info->shared_alignment = 0;
            clr_memory_free(catalog.devices);
            return true;
        }
    }
    clr_memory_free(catalog.devices);
    return false;
}

/* Starts a worker of the device. Workers stay: LeakSanitizer is to find it. Returns NULL if there
   is none. */
static inline struct clr_worker *failing_start_worker(void)
{
    static struct clr_device_info info;
    static struct clr_worker *worker;
    struct clr_status status;

    /* The programs that a driver runs, a linker for instance, are not to have it. */
    unsetenv("LD_PRELOAD");
    clr_status_clear(&status);
    if (failing_find_device(&info))
        worker = clr_worker_start(&info, &status);
    return worker;
}

/* Says how the run has ended. An answer that is not right, and none without a reason, is a failure;
   returns the program's exit status. */
static inline int failing_report(struct clr_worker *worker, const struct clr_sharded *copy,
                                 enum clr_scan_outcome outcome, bool right,
                                 const struct clr_status *status)
{
    struct clr_worker_report report;
    bool passed;

    clr_worker_report(worker, &report);
    if (outcome == CLR_SCAN_DONE)
        passed = right;
    else if (outcome == CLR_SCAN_FAILED)
        passed = status->message[0] != '\0';
    else
        passed = clr_sharded_state(copy) == CLR_RESIDENT_FAILED || report.status.code != CLR_OK;
    printf("outcome %d, %s\n", (int)outcome, passed ? "as it must be" : "which is wrong");
    printf("status %s\n", status->message);
    printf("report %s\n", report.status.message);
    printf("device %s\n", report.failed ? "failed" : "usable");
    printf("log %s\n", report.build_log);
    return passed ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- The test. */

static const char *failing_program, *failing_sanitizer;
static char failing_interposer[1024];

/* Prepares the runs of this program; skips everything where there is nothing that could fail. */
static inline void failing_begin(const char *program)
{
    const char *build = getenv("CLREDUCE_BUILDDIR");
    struct clr_device_info info;

    /* The first calls are those of the work: a GPU would measure its arithmetic first. */
    setenv("CLREDUCE_DEVICE_ARITHMETIC", "fp64", 0);
    snprintf(failing_interposer, sizeof failing_interposer, "%s/tests/opencl/failing-opencl.so",
             build != NULL ? build : ".");
    if (access(failing_interposer, R_OK) != 0) {
        tap_no_device("there is nothing to preload that fails");
        tap_skip_all("there is no %s to preload", failing_interposer);
    }
    if (!failing_find_device(&info)) {
        tap_no_device("no OpenCL device could fail");
        tap_skip_all("no OpenCL device that could fail");
    }
    failing_program = program;
    failing_sanitizer = getenv("CLREDUCE_PRELOAD");
    if (failing_sanitizer == NULL)
        failing_sanitizer = "";
}

/* Runs the program with that rule; returns whether it ended well. */
static inline bool failing_attempt(const char *rule, char output[FAILING_OUTPUT])
{
    char command[4096];
    size_t length;
    FILE *pipe;
    int ended;

    snprintf(command, sizeof command, "LD_PRELOAD='%s%s%s' CLR_FAIL='%s' '%s' run 2>&1",
             failing_sanitizer, failing_sanitizer[0] != '\0' ? ":" : "", failing_interposer, rule,
             failing_program);
    fflush(stdout);
    pipe = popen(command, "r");
    TAP_NEED(pipe != NULL, "no process");
    length = fread(output, 1, FAILING_OUTPUT - 1, pipe);
    output[length] = '\0';
    ended = pclose(pipe);
    return WIFEXITED(ended) && WEXITSTATUS(ended) == EXIT_SUCCESS;
}

static inline bool failing_shows(const char *output, const char *text)
{
    return strstr(output, text) != NULL;
}

/* A device's programs are tested with fewer calls of each function. */
enum { FAILING_CALLS = 20000 };

/* A function that fails from some call on: those of the upload come first, then those of the build,
   of its self-test, and of the answer. */
static inline void failing_test_function(const char *function, const char *action)
{
    char output[FAILING_OUTPUT], rule[100];
    int call, failed = 0;

    for (call = 1; call < FAILING_CALLS; call += 1 + (tap_is_quick() ? 3 * call : call / 5)) {
        snprintf(rule, sizeof rule, "%s:%s:%d", function, action, call);
        if (!failing_attempt(rule, output)) {
            tap_ok(false, "%s", rule);
            tap_diag("%s", output);
            return;
        }
        if (!failing_shows(output, "failing-opencl:"))
            break;
        failed += failing_shows(output, "outcome 4") || failing_shows(output, "device failed") ||
                  !failing_shows(output, "report \n");
    }
    tap_ok(failed > 0 && call < FAILING_CALLS, "%s: %s, from any call up to %d on", function,
           action, call);
}

/* No room on the device is the matter of one column, or one histogram, alone. shown: how that
   begins. */
static inline void failing_test_no_room(const char *shown)
{
    char output[FAILING_OUTPUT], rule[100];
    int call, seen = 0;

    for (call = 1; call < 100; call += tap_is_quick() ? 3 : 1) {
        snprintf(rule, sizeof rule, "clCreateBuffer:-4:%d", call);
        if (!failing_attempt(rule, output) || !failing_shows(output, "failing-opencl:"))
            break;
        seen += failing_shows(output, shown) && failing_shows(output, "device usable");
    }
    tap_ok(seen >= (tap_is_quick() ? 3 : 5) && !failing_shows(output, "failing-opencl:"),
           "no room for %d buffers, and the device stays in use", seen);
}

/* shown: how the failure begins. */
static inline void failing_test_build(const char *shown)
{
    char output[FAILING_OUTPUT];

    tap_ok(failing_attempt("clCreateProgramWithSource:broken:1", output) &&
               failing_shows(output, shown) && failing_shows(output, "device usable"),
           "a program that cannot be built, and the device stays in use");
    tap_ok(failing_shows(output, "error"), "the compiler's log is in the report");
    tap_diag("%.300s", output);
}

/* shown: what the self-test says. */
static inline void failing_test_idle_kernels(const char *shown)
{
    char output[FAILING_OUTPUT];

    tap_ok(failing_attempt("clEnqueueNDRangeKernel:skip:1", output) &&
               failing_shows(output, shown) && failing_shows(output, "device usable"),
           "kernels that do nothing are found out");
}

/* What whatever has kernels of its own needs: these, their queue, buffers and transfers.
   without_failure: that the run is right as long as nothing fails. */
static inline void failing_test_functions(const char *without_failure)
{
    static const struct {
        const char *function, *action;
    } failures[] = {
        {"clCreateCommandQueue", "-35"},     {"clCreateKernel", "-46"},
        {"clGetKernelWorkGroupInfo", "-33"}, {"clSetKernelArg", "-51"},
        {"clEnqueueNDRangeKernel", "-54"},   {"clEnqueueNDRangeKernel", "-4"},
        {"clWaitForEvents", "-14"},          {"clEnqueueReadBuffer", "-5"},
        {"clEnqueueWriteBuffer", "-5"},      {"clEnqueueMapBuffer", "-12"},
    };
    char output[FAILING_OUTPUT];
    size_t i;

    if (!tap_ok(failing_attempt("nothing", output) &&
                    failing_shows(output, "status \nreport \ndevice usable"),
                "%s", without_failure))
        tap_bail("%s", output);
    for (i = 0; i < sizeof failures / sizeof failures[0]; i++)
        failing_test_function(failures[i].function, failures[i].action);
}

#endif
