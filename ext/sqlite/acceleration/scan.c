#include "sqlite/acceleration/ways.h"

#include "base/memory.h"
#include "engine/host/host_groups.h"
#include "engine/host/host_scan.h"
#include "engine/host/sorted_answers.h"
#include "engine/operations/resident.h"
#include "engine/worker/runtime.h"
#include "numeric/filter/skipping.h"
#include "numeric/scan/shared_sums.h"
#include "sqlite/cache/cache.h"

/* Of a query that has rows, one in so many may be found, at most. */
enum { ROWS_PER_FOUND = 50 };

/* A device has neither the bytes of values nor a use for their addresses. Of codes it does not see
   what is too long for SQLite. Of all questions it counts bins alone. */
static bool is_for_devices(const struct clr_scan *scan)
{
    int i;

    for (i = 0; i < scan->question_count; i++) {
        if (scan->questions[i].kind != CLR_ASK_BINS)
            return false;
    }
    for (i = 0; i < scan->column_count; i++) {
        if (clr_column_has_addresses(scan->columns[i]) ||
            (scan->longest != 0 && clr_column_longest(scan->columns[i]) > scan->longest))
            return false;
    }
    return true;
}

/* Has the scan leave out what zones tell, of the columns as they are now. */
static void skip_blocks(struct clr_view_run *run)
{
    struct clr_column_request *request = &run->request;
    bool made;

    clr_host_skip(&run->scan, run->watch, &made);
    if (made)
        clr_cache_measure(request->image, request->found, run->scan.column_count);
}

/* A scan that devices are to do, and what it is done with. */
struct device_scan {
    struct clr_view_run *run;
    struct clr_division division;
    struct clr_sharded *copies[CLR_MOST_COLUMNS];
};

/* Chooses the devices for a scan. Returns whether there are some that have the columns; then
   leave_device() is due. For few rows it is the host that does it. */
static bool find_device(struct device_scan *scan, struct clr_view_run *run)
{
    const size_t rows = run->request.image->layout.rows;
    struct clr_devices devices;

    scan->run = run;
    if (!clr_choose_devices(&run->request.connection->settings, run->scan.rows, rows, &devices) ||
        !clr_cache_copies(run->request.found, run->scan.column_count, rows, &devices,
                          &scan->division, scan->copies))
        return false;
    clr_column_memory_trim(INT64_MAX, 0);
    return true;
}

static void note_skipped(struct clr_view_run *run)
{
    run->request.connection->stats.blocks_skipped +=
        (int64_t)(clr_zones_of(run->request.image->layout.rows) - clr_zones_of(run->scan.rows));
}

/* Gives up the copies. */
static void leave_device(struct device_scan *scan)
{
    int i;

    for (i = 0; i < scan->run->scan.column_count; i++)
        clr_sharded_release(scan->copies[i]);
}

/* Takes note of what devices have done, or why they have not. */
static void note_device(const struct device_scan *device, enum clr_scan_outcome outcome,
                        const struct clr_device_work *work, const struct clr_status *status)
{
    struct clr_view_run *run = device->run;
    struct clr_connection *connection = run->request.connection;

    if (outcome == CLR_SCAN_DONE) {
        connection->stats.bytes_to_device += work->bytes;
        connection->stats.kernels_launched += work->kernels;
        connection->stats.passes += work->passes;
        connection->stats.kernel_time += work->kernel_time;
        connection->stats.scans_on_device++;
        if (device->division.count == 1)
            note_skipped(run);
        run->device = device->division.shards[0].device.info->name;
        run->device_count = clr_division_devices(&device->division);
    } else if (outcome == CLR_SCAN_FAILED) {
        clr_stats_note_failure(&connection->stats, status);
    }
}

static enum clr_scan_outcome run_on_device(struct device_scan *device)
{
    struct clr_view_run *run = device->run;
    const int64_t timeout = run->request.connection->settings.device_timeout;
    struct clr_device_work work = {0, 0, 0, 0, 0};
    struct clr_scan *scan = &run->scan;
    enum clr_scan_outcome outcome;
    struct clr_status status;

    clr_status_clear(&status);
    if (scan->question_count > 0)
        outcome = clr_resident_histograms(&device->division, scan, device->copies, timeout,
                                          run->watch, &work, &status);
    else
        outcome = clr_resident_scan(&device->division, scan, device->copies, timeout, run->watch,
                                    &work, &status);
    note_device(device, outcome, &work, &status);
    return outcome;
}

static enum clr_scan_outcome scan_on_device(struct clr_view_run *run)
{
    enum clr_scan_outcome outcome;
    struct device_scan device;

    if (!find_device(&device, run))
        return CLR_SCAN_NOT_NOW;
    outcome = run_on_device(&device);
    leave_device(&device);
    return outcome;
}

/* Groups the rows: devices that have copies of the columns may do it, and where they fail, threads
   do. */
static enum clr_scan_outcome group(struct clr_view_run *run)
{
    struct device_scan scan;
    struct clr_group_device device = {.division = &scan.division,
                                      .copies = scan.copies,
                                      .timeout_ms =
                                          run->request.connection->settings.device_timeout};
    const bool has_device = is_for_devices(&run->scan) && find_device(&scan, run);
    enum clr_scan_outcome outcome;

    outcome = clr_host_group(&run->scan, run->watch, has_device ? &device : NULL, &run->groups);
    if (has_device) {
        note_device(&scan, device.outcome, &device.work, &device.status);
        leave_device(&scan);
    }
    return outcome;
}

/* Finds out whether the rows that a query of rows asks for are few. SQLite fetches them one by one:
   where they are many it is as quick to go over all of them. */
static enum clr_scan_outcome count_found(struct clr_view_run *run)
{
    struct clr_tally tally = {.x = -1, .y = -1, .filter = -1};
    struct clr_scan scan = run->scan;
    enum clr_scan_outcome outcome;

    scan.grouping = NULL;
    scan.tallies = &tally;
    scan.tally_count = 1;
    outcome = clr_host_scan(&scan, run->watch);
    if (outcome != CLR_SCAN_DONE ||
        (size_t)tally.state.count <= run->request.image->layout.rows / ROWS_PER_FOUND)
        return outcome;
    clr_reason_set_numbers(&run->request.reason, CLR_WHY_MANY_ROWS, ROWS_PER_FOUND, 0);
    return CLR_SCAN_LIMIT;
}

/* Computes the tallies on the host. */
static enum clr_scan_outcome scan_on_host(struct clr_view_run *run)
{
    struct clr_connection *connection = run->request.connection;
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;

    if (run->plan->query->has_rows)
        outcome = count_found(run);
    if (outcome != CLR_SCAN_DONE)
        return outcome;
    if (run->scan.grouping != NULL)
        outcome = group(run);
    else if (run->sorted != NULL)
        outcome = clr_sorted_scan(&run->scan, run->sorted, run->watch);
    else
        outcome = clr_host_scan(&run->scan, run->watch);
    if (outcome != CLR_SCAN_DONE || run->device != NULL)
        return outcome;
    connection->stats.scans_on_host++;
    note_skipped(run);
    return outcome;
}

/* On a device, or else on the host. */
static enum clr_scan_outcome scan_anywhere(struct clr_view_run *run)
{
    const enum clr_scan_outcome outcome = run->scan.grouping == NULL && is_for_devices(&run->scan)
                                              ? scan_on_device(run)
                                              : CLR_SCAN_NOT_NOW;

    return outcome == CLR_SCAN_NOT_NOW || outcome == CLR_SCAN_FAILED ? scan_on_host(run) : outcome;
}

/* Scans the columns, to which there are references. */
static enum clr_outcome scan_columns(struct clr_view_run *run, struct clr_column **columns)
{
    struct clr_column_request *request = &run->request;
    struct clr_shared_sums *shared = NULL;
    enum clr_scan_outcome outcome;
    enum clr_outcome looked_up;

    if (run->scan.grouping != NULL && run->scan.grouping->by_first &&
        !clr_layout_is_in_order(&request->image->layout)) {
        clr_reason_set(&request->reason, CLR_WHY_ROWS_MOVED);
        return CLR_NEXT_WAY;
    }
    looked_up = clr_run_look_up(run, columns);
    if (looked_up != CLR_ANSWERED)
        return looked_up;
    request->is_scanned = true;
    skip_blocks(run);
    if (run->scan.grouping == NULL && run->scan.question_count == 0)
        shared = clr_shared_sums_begin(&run->scan);
    outcome = scan_anywhere(run);
    if (!clr_shared_sums_end(shared, &run->scan, outcome == CLR_SCAN_DONE))
        outcome = scan_anywhere(run);
    clr_column_memory_trim(clr_column_memory(), 0);
    switch (outcome) {
    case CLR_SCAN_DONE:
        return CLR_ANSWERED;
    case CLR_SCAN_STOPPED:
        run->rc = SQLITE_INTERRUPT;
        return CLR_ERROR;
    case CLR_SCAN_UNSURE:
        clr_reason_set(&request->reason, CLR_WHY_VALUE);
        return CLR_NEXT_WAY;
    case CLR_SCAN_LIMIT:
        if (request->reason.code == CLR_WHY_NONE)
            clr_reason_set(&request->reason, CLR_WHY_VALUES_MEMORY);
        return CLR_NEXT_WAY;
    default:
        clr_reason_set(&request->reason, CLR_WHY_SCAN_MEMORY);
        return CLR_NEXT_WAY;
    }
}

enum clr_outcome clr_way_scan(struct clr_view_run *run)
{
    struct clr_sorted_copy *sorted[CLR_MOST_COLUMNS] = {NULL};
    struct clr_column_request *request = &run->request;
    enum clr_outcome outcome;
    int i;

    clr_run_release_columns(run);
    run->scan.columns = run->columns;
    run->scan.rows = request->image->layout.rows;
    sqlite3_randomness(sizeof run->scan.seed, &run->scan.seed);
    clr_cache_use(request->connection, request->found, run->scan.column_count, run->columns);
    if (run->scan.question_count > 0 &&
        clr_choice_are_many(&request->connection->settings, run->scan.rows) &&
        clr_sorted_copies_take(request->found, &run->scan, sorted))
        run->sorted = sorted;
    outcome = scan_columns(run, run->columns);
    clr_memory_free((void *)run->scan.blocks);
    run->scan.blocks = NULL;
    run->scan.rows = request->image->layout.rows;
    for (i = 0; i < run->scan.column_count; i++)
        clr_sorted_copy_release(sorted[i]);
    run->sorted = NULL;
    run->scan.columns = NULL;
    return outcome;
}
