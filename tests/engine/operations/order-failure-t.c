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
    clr_worker_stop(worker, ORDERS_TIMEOUT_MS);
    return result;
}

/* ---- The test. */

int main(int count, char **arguments)
{
    if (count == 2)
        return run();
    failing_begin(arguments[0]);
    failing_test_functions("the right order without a failure");
    failing_test_no_room("status no memory on the device: clCreateBuffer");
    failing_test_build("status clBuildProgram: CL_");
    failing_test_idle_kernels("status self-test: the device's order differs from the host's");
    return tap_done();
}
