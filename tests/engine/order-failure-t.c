/*
 * An order that is wanted of a device whose OpenCL fails, by means of
 * tests/opencl/failing-opencl.c, which is preloaded into this program run again: it is the right
 * one or none at all, and whoever wants it is told why. Each failure has a process of its own.
 *
 *     order-failure-t run     is one of those runs
 */
#include "engine/orders.h"

#include "tap.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

enum { ROWS = 5003, OUTPUT_SIZE = 8192 };

/* ---- One run, with whatever OpenCL the environment gives it. */

/* A device that the build's PoCL or a driver has, taken for a GPU: that is the longer way. */
static bool find_device(struct clr_device_info *info)
{
    struct clr_catalog catalog;
    size_t i;

    clr_catalog_fill(&catalog);
    for (i = 0; i < catalog.count; i++) {
        if (catalog.devices[i].unusable[0] == '\0') {
            *info = catalog.devices[i];
            info->type = CLR_DEVICE_GPU;
            clr_memory_free(catalog.devices);
            return true;
        }
    }
    clr_memory_free(catalog.devices);
    return false;
}

static bool is_right(const struct clr_order *order, const struct clr_column *column)
{
    int64_t *keys = orders_sort(column);
    struct clr_runs runs;
    bool right;

    orders_runs(column, keys, &runs);
    right = order->keys[0] == keys[0] && order->keys[1] == keys[ROWS / 2] &&
            order->runs.distinct == runs.distinct && order->runs.longest == runs.longest &&
            order->runs.mode == runs.mode;
    free(keys);
    return right;
}

/* Says how it ends. Other than the right order, and none, is a failure. */
static int run(void)
{
    struct clr_column *column = orders_column(CLR_TAG_REAL, ROWS);
    struct clr_order order = {.rank_count = 2, .ranks = {0, ROWS / 2}};
    struct clr_device_work work = {0};
    struct clr_worker_report report;
    enum clr_scan_outcome outcome;
    struct clr_resident *resident;
    static struct clr_worker *worker; /* workers stay: LeakSanitizer is to find it */
    struct clr_device_info info;
    struct clr_status status;
    bool passed;

    /* The programs that a driver runs, a linker for instance, are not to have it. */
    unsetenv("LD_PRELOAD");
    if (!find_device(&info))
        return EXIT_FAILURE;
    clr_status_clear(&status);
    worker = clr_worker_start(&info, &status);
    if (worker == NULL)
        return EXIT_FAILURE;
    resident = orders_resident(worker, column);
    outcome = orders_ask(worker, resident, &order, &work, &status);
    clr_worker_report(worker, &report);
    if (outcome == CLR_SCAN_DONE)
        passed = is_right(&order, column);
    else if (outcome == CLR_SCAN_FAILED)
        passed = status.message[0] != '\0';
    else
        passed = clr_resident_state(resident) == CLR_RESIDENT_FAILED;
    printf("outcome %d, %s\n", (int)outcome, passed ? "as it must be" : "which is wrong");
    printf("status %s\n", status.message);
    printf("report %s\n", report.status.message);
    printf("device %s\n", report.failed ? "failed" : "usable");
    printf("log %s\n", report.build_log != NULL ? report.build_log : "");
    clr_resident_free(resident);
    clr_column_release(column);
    clr_worker_stop(worker, ORDERS_PATIENCE_MS);
    return passed ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- The test. */

static const char *program, *sanitizer;
static char interposer[1024];

/* Runs the program with that rule; returns whether it ended well. */
static bool attempt(const char *rule, char output[OUTPUT_SIZE])
{
    char command[4096];
    size_t length;
    FILE *pipe;
    int ended;

    snprintf(command, sizeof command, "LD_PRELOAD='%s%s%s' CLR_FAIL='%s' '%s' run 2>&1", sanitizer,
             sanitizer[0] != '\0' ? ":" : "", interposer, rule, program);
    fflush(stdout);
    pipe = popen(command, "r");
    if (pipe == NULL)
        tap_bail("no process");
    length = fread(output, 1, OUTPUT_SIZE - 1, pipe);
    output[length] = '\0';
    ended = pclose(pipe);
    return WIFEXITED(ended) && WEXITSTATUS(ended) == EXIT_SUCCESS;
}

static bool shows(const char *output, const char *text)
{
    return strstr(output, text) != NULL;
}

/* A function that fails from some call on: those of the upload come first, then the sorter's
   build, its self-test, and the column. */
static void test_function(const char *function, const char *action)
{
    char output[OUTPUT_SIZE], rule[100];
    int call, failed = 0;

    for (call = 1; call < 2000; call += 1 + call / (tap_is_quick() ? 2 : 5)) {
        snprintf(rule, sizeof rule, "%s:%s:%d", function, action, call);
        if (!attempt(rule, output)) {
            tap_ok(false, "%s", rule);
            tap_diag("%s", output);
            return;
        }
        if (!shows(output, "failing-opencl:"))
            break;
        failed += shows(output, "outcome 4") || shows(output, "device failed") ||
                  !shows(output, "report \n");
    }
    tap_ok(failed > 0 && call < 2000, "%s: %s, from any call up to %d on", function, action, call);
}

/* No room on the device for the copies is the matter of that column alone. */
static void test_no_room(void)
{
    char output[OUTPUT_SIZE], rule[100];
    int call, seen = 0;

    for (call = 1; call < 100; call++) {
        snprintf(rule, sizeof rule, "clCreateBuffer:-4:%d", call);
        if (!attempt(rule, output) || !shows(output, "failing-opencl:"))
            break;
        seen += shows(output, "status no memory on the device: clCreateBuffer") &&
                shows(output, "device usable");
    }
    tap_ok(seen >= 5 && !shows(output, "failing-opencl:"),
           "no room for %d buffers, and the device stays in use", seen);
}

static void test_build(void)
{
    char output[OUTPUT_SIZE];

    tap_ok(attempt("clCreateProgramWithSource:broken:1", output) &&
               shows(output, "status clBuildProgram: CL_") && shows(output, "device usable"),
           "a program that cannot be built, and the device stays in use");
    tap_ok(shows(output, "error"), "the compiler's log is in the report");
    tap_diag("%.300s", output);
}

static void test_wrong_order(void)
{
    char output[OUTPUT_SIZE];

    tap_ok(attempt("clEnqueueNDRangeKernel:skip:1", output) &&
               shows(output, "status self-test: the device's order differs from the host's") &&
               shows(output, "device usable"),
           "kernels that do nothing are found out");
}

int main(int count, char **arguments)
{
    const char *build = getenv("CLREDUCE_BUILDDIR");
    struct clr_device_info info;
    char output[OUTPUT_SIZE];

    if (count == 2)
        return run();
    snprintf(interposer, sizeof interposer, "%s/tests/opencl/failing-opencl.so",
             build != NULL ? build : ".");
    if (access(interposer, R_OK) != 0)
        tap_skip_all("there is no %s to preload", interposer);
    if (!find_device(&info))
        tap_skip_all("no OpenCL device that could fail");
    program = arguments[0];
    sanitizer = getenv("CLREDUCE_PRELOAD");
    if (sanitizer == NULL)
        sanitizer = "";
    if (!tap_ok(attempt("nothing", output) && shows(output, "status \nreport \ndevice usable"),
                "the right order without a failure"))
        tap_bail("%s", output);
    test_function("clCreateCommandQueue", "-35");
    test_function("clCreateKernel", "-46");
    test_function("clGetKernelWorkGroupInfo", "-33");
    test_function("clSetKernelArg", "-51");
    test_function("clEnqueueNDRangeKernel", "-54");
    test_function("clEnqueueNDRangeKernel", "-4");
    test_function("clWaitForEvents", "-14");
    test_function("clEnqueueReadBuffer", "-5");
    test_no_room();
    test_build();
    test_wrong_order();
    return tap_done();
}
