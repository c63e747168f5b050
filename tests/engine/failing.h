/*
 * For tests of what OpenCL's failures lead to.
 *
 *     PROGRAM run     is a run with one of them
 */
#ifndef CLR_TESTS_FAILING_H
#define CLR_TESTS_FAILING_H

#include "base/memory.h"
#include "engine/shards.h"
#include "engine/worker/worker.h"
#include "opencl/failing_runs.h"

/* ---- One run, with whatever OpenCL the environment gives it. */

/* A device that the build's PoCL or a driver has, taken for a GPU with memory of its own: that is
   the longer way. */
static inline bool failing_find_device(struct clr_device_info *info)
{
    struct clr_catalog catalog;

    clr_catalog_fill(&catalog, NULL, CLR_REACH_ALL);
    for (size_t i = 0; i < catalog.count; i++) {
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
    struct clr_status status = {.code = CLR_OK};

    /* The programs that a driver runs, a linker for instance, are not to have it. */
    unsetenv("LD_PRELOAD");
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

/* Prepares the runs of this program; skips everything where there is nothing that could fail. */
static inline void failing_begin(const char *program)
{
    struct clr_device_info info;

    failures_prepare(program);
    if (!failing_find_device(&info)) {
        tap_no_device("no OpenCL device could fail");
        tap_skip_all("no OpenCL device that could fail");
    }
}

/* A device's programs are tested with fewer calls of each function. */
enum { FAILING_CALLS = 20000 };

/* A function that fails from some call on: those of the upload come first, then those of the build,
   of its self-test, and of the answer. */
static inline void failing_test_function(const char *function, const char *action)
{
    struct failures_attempt run;
    char rule[sizeof run.rule];
    int call, failed = 0;

    for (call = 1; call < FAILING_CALLS; call += 1 + (tap_is_quick() ? 3 * call : call / 5)) {
        snprintf(rule, sizeof rule, "%s:%s:%d", function, action, call);
        if (!failures_attempt(&run, rule, "run")) {
            tap_ok(false, "%s", rule);
            tap_diag("%s", run.text);
            return;
        }
        if (!failures_acted(&run))
            break;
        failed += failures_shows(&run, "outcome 4") || failures_shows(&run, "device failed") ||
                  !failures_shows(&run, "report \n");
    }
    tap_ok(failed > 0 && call < FAILING_CALLS, "%s: %s, from any call up to %d on", function,
           action, call);
}

/* No room on the device is the matter of one column, or one histogram, alone. shown: how that
   begins. */
static inline void failing_test_no_room(const char *shown)
{
    struct failures_attempt run;
    char rule[sizeof run.rule];
    int seen = 0;

    for (int call = 1; call < 100; call += tap_is_quick() ? 3 : 1) {
        snprintf(rule, sizeof rule, "clCreateBuffer:-4:%d", call);
        if (!failures_attempt(&run, rule, "run") || !failures_acted(&run))
            break;
        seen += failures_shows(&run, shown) && failures_shows(&run, "device usable");
    }
    tap_ok(seen >= (tap_is_quick() ? 3 : 5) && !failures_acted(&run),
           "no room for %d buffers, and the device stays in use", seen);
}

/* shown: how the failure begins. */
static inline void failing_test_build(const char *shown)
{
    struct failures_attempt run;

    tap_ok(failures_attempt(&run, "clCreateProgramWithSource:broken:1", "run") &&
               failures_shows(&run, shown) && failures_shows(&run, "device usable"),
           "a program that cannot be built, and the device stays in use");
    tap_ok(failures_shows(&run, "error"), "the compiler's log is in the report");
    tap_diag("%.300s", run.text);
}

/* shown: what the self-test says. */
static inline void failing_test_idle_kernels(const char *shown)
{
    struct failures_attempt run;

    tap_ok(failures_attempt(&run, "clEnqueueNDRangeKernel:skip:1", "run") &&
               failures_shows(&run, shown) && failures_shows(&run, "device usable"),
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
    struct failures_attempt run;

    if (!tap_ok(failures_attempt(&run, "nothing", "run") &&
                    failures_shows(&run, "status \nreport \ndevice usable"),
                "%s", without_failure))
        tap_bail("%s", run.text);
    TAP_EACH (i, failures)
        failing_test_function(failures[i].function, failures[i].action);
}

#endif
