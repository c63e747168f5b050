/*
 * Histograms that are wanted of a device whose OpenCL fails: they are the right ones or none at
 * all, and whoever wants them is told why. See failing.h.
 */
#include "base/clock.h"
#include "engine/failing.h"
#include "engine/operations/resident.h"
#include "engine/shards.h"
#include "numeric/bins_data.h"

#include <string.h>

/* More slots than there is room for at first. */
enum { ROWS = 5003, FEW = 10, MANY = 5000 };

/* ---- One run. */

static bool are_right(const uint64_t *counts, const struct clr_bins *bins,
                      const struct clr_column *column)
{
    static uint64_t expected[MANY + 2];

    memset(expected, 0, sizeof expected);
    for (size_t i = 0; i < ROWS; i++) {
        const struct clr_value value =
            clr_sort_key_to_value(CLR_KIND_REAL, clr_real_to_key(column->values[i]));
        expected[clr_bins_find(bins, &value) + 1]++;
    }
    return memcmp(counts, expected, ((size_t)bins->count + 2) * sizeof *counts) == 0;
}

/* Asks until there is an answer, or there will be none, since the device or what builds has failed.
 */
static enum clr_scan_outcome ask(struct clr_worker *worker, struct clr_sharded *copy,
                                 const struct clr_bins *bins, uint64_t *counts,
                                 struct clr_status *status)
{
    struct clr_sharded *const copies[] = {copy};
    struct clr_device_scan asked = {
        .division = clr_sharded_division(copy), .copies = copies, .timeout_ms = SHARDS_TIMEOUT_MS};
    int64_t start = clr_clock_ns();
    enum clr_scan_outcome outcome;
    struct clr_worker_report report;

    do {
        outcome = clr_resident_bins(&asked, bins, counts);
        clr_worker_report(worker, &report);
        if (outcome == CLR_SCAN_NOT_NOW)
            usleep(1000);
    } while (outcome == CLR_SCAN_NOT_NOW && report.status.code == CLR_OK && !shards_late(start));
    *status = asked.status;
    return outcome;
}

static int run(void)
{
    static uint64_t counts[MANY + 2];
    static const int64_t numbers[] = {FEW, MANY};
    const struct clr_value low = bins_real(-300.5), high = bins_real(401.25);
    struct clr_column *column = shards_column(CLR_TAG_REAL, ROWS);
    struct clr_worker *worker = failing_start_worker();
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    struct clr_sharded *copy;
    struct clr_status status;
    struct clr_bins bins;
    bool right = true;
    int result;

    if (worker == NULL)
        return EXIT_FAILURE;
    copy = shards_copy(worker, column);
    for (int i = 0; i < 2 && outcome == CLR_SCAN_DONE; i++) {
        clr_bins_init(&bins, &low, &high, numbers[i]);
        outcome = ask(worker, copy, &bins, counts, &status);
        right = right && (outcome != CLR_SCAN_DONE || are_right(counts, &bins, column));
    }
    result = failing_report(worker, copy, outcome, right, &status);
    clr_sharded_release(copy);
    clr_column_release(column);
    clr_worker_stop(worker, SHARDS_TIMEOUT_MS);
    return result;
}

/* ---- The test. */

int main(int count, char **arguments)
{
    if (count == 2)
        return run();
    failing_begin(arguments[0]);
    failing_test_functions("the right counts without a failure");
    failing_test_function("clEnqueueFillBuffer", "-59");
    failing_test_no_room("no memory on the device: clCreateBuffer");
    failing_test_build("report clBuildProgram: CL_");
    failing_test_idle_kernels("report self-test: the device's bins differ from the host's");
    return tap_done();
}
