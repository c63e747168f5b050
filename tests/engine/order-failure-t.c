/*
 * An order that is wanted of a device whose OpenCL fails: it is the right one or none at all, and
 * whoever wants it is told why. See failing.h.
 */
#include "engine/failing.h"
#include "engine/orders.h"

#include "tap.h"

#include <string.h>

enum { ROWS = 5003 };

/* ---- One run. */

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

static int run(void)
{
    struct clr_column *column = orders_column(CLR_TAG_REAL, ROWS);
    struct clr_order order = {.rank_count = 2, .ranks = {0, ROWS / 2}};
    struct clr_worker *worker = failing_start_worker();
    struct clr_device_work work = {0};
    enum clr_scan_outcome outcome;
    struct clr_resident *resident;
    struct clr_status status;
    int result;

    if (worker == NULL)
        return EXIT_FAILURE;
    resident = orders_resident(worker, column);
    outcome = orders_ask(worker, resident, &order, &work, &status);
    result = failing_report(worker, resident, outcome,
                            outcome == CLR_SCAN_DONE && is_right(&order, column), &status);
    clr_resident_free(resident);
    clr_column_release(column);
    clr_worker_stop(worker, ORDERS_PATIENCE_MS);
    return result;
}

/* ---- The test. */

/* No room on the device for the copies is the matter of that column alone. */
static void test_no_room(void)
{
    char output[FAILING_OUTPUT], rule[100];
    int call, seen = 0;

    for (call = 1; call < 100; call++) {
        snprintf(rule, sizeof rule, "clCreateBuffer:-4:%d", call);
        if (!failing_attempt(rule, output) || !failing_shows(output, "failing-opencl:"))
            break;
        seen += failing_shows(output, "status no memory on the device: clCreateBuffer") &&
                failing_shows(output, "device usable");
    }
    tap_ok(seen >= 5 && !failing_shows(output, "failing-opencl:"),
           "no room for %d buffers, and the device stays in use", seen);
}

static void test_build(void)
{
    char output[FAILING_OUTPUT];

    tap_ok(failing_attempt("clCreateProgramWithSource:broken:1", output) &&
               failing_shows(output, "status clBuildProgram: CL_") &&
               failing_shows(output, "device usable"),
           "a program that cannot be built, and the device stays in use");
    tap_ok(failing_shows(output, "error"), "the compiler's log is in the report");
    tap_diag("%.300s", output);
}

static void test_wrong_order(void)
{
    char output[FAILING_OUTPUT];

    tap_ok(
        failing_attempt("clEnqueueNDRangeKernel:skip:1", output) &&
            failing_shows(output, "status self-test: the device's order differs from the host's") &&
            failing_shows(output, "device usable"),
        "kernels that do nothing are found out");
}

int main(int count, char **arguments)
{
    char output[FAILING_OUTPUT];

    if (count == 2)
        return run();
    failing_begin(arguments[0]);
    if (!tap_ok(failing_attempt("nothing", output) &&
                    failing_shows(output, "status \nreport \ndevice usable"),
                "the right order without a failure"))
        tap_bail("%s", output);
    failing_test_function("clCreateCommandQueue", "-35");
    failing_test_function("clCreateKernel", "-46");
    failing_test_function("clGetKernelWorkGroupInfo", "-33");
    failing_test_function("clSetKernelArg", "-51");
    failing_test_function("clEnqueueNDRangeKernel", "-54");
    failing_test_function("clEnqueueNDRangeKernel", "-4");
    failing_test_function("clWaitForEvents", "-14");
    failing_test_function("clEnqueueReadBuffer", "-5");
    failing_test_function("clEnqueueWriteBuffer", "-5");
    failing_test_function("clEnqueueMapBuffer", "-12");
    test_no_room();
    test_build();
    test_wrong_order();
    return tap_done();
}
