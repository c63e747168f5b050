#include "sqlite/inspect/stats_table.h"

#include "engine/columns/resident.h"
#include "engine/rows/choice.h"
#include "engine/worker/runtime.h"
#include "opencl/core/program_cache.h"

#include <stddef.h>
#include <string.h>

/* Figures of the connection are found by their place in struct clr_stats. */
enum { NOT_IN_STATS = -1 };

static const struct row {
    const char *name, *unit;
    int place;
    const char *meaning;
} rows[] = {
#define PLACE(member) (int)offsetof(struct clr_stats, member)
#define HOST(reason) (int)(offsetof(struct clr_stats, on_host) + (reason) * sizeof(int64_t))
    {"values_fed", "values", PLACE(values_fed),
     "rows that counted in chunks handed on and in aggregates finished"},
    {"chunks_to_device", "chunks", PLACE(chunks_to_device), "chunks reduced on a device"},
    {"bytes_to_device", "bytes", PLACE(bytes_to_device), "bytes moved to a device"},
    {"kernels_launched", "kernels", PLACE(kernels_launched), "kernels that ran for those chunks"},
    {"passes", "passes", PLACE(passes), "passes of the reductions, one kernel each"},
    {"transfer_time", "ms", PLACE(transfer_time),
     "filling staging buffers, and transfers by event profiling"},
    {"kernel_time", "ms", PLACE(kernel_time), "kernels, by event profiling"},
    {"startup_time", "ms", NOT_IN_STATS,
     "discovery, and opening and building for the device in use, in the background"},
    {"is_building", "0 or 1", NOT_IN_STATS,
     "whether that device is being opened, or something built for it, or about to be"},
    {"programs_from_cache", "programs", NOT_IN_STATS,
     "programs that this process found in the user's cache folder, and need not compile"},
    {"column_bytes_copied", "bytes", NOT_IN_STATS,
     "columns that this process has copied to devices' memory and back: decoded there, or used "
     "where they lie, they are not"},
    {"chunks_on_host", "chunks", NOT_IN_STATS, "chunks reduced on the host: the sum of host_*"},
    {"host_remainder", "chunks", HOST(CLR_HOST_REMAINDER),
     "the last, partly filled chunk of a group"},
    {"host_below_threshold", "chunks", HOST(CLR_HOST_BELOW_THRESHOLD),
     "fewer values of a type in a chunk than host_threshold"},
    {"host_device_setting", "chunks", HOST(CLR_HOST_SETTING), "the setting device is host"},
    {"host_no_device", "chunks", HOST(CLR_HOST_NO_DEVICE), "no device fits the setting"},
    {"host_before_start", "chunks", HOST(CLR_HOST_EARLY),
     "fewer values than start_after were fed, and no device is started"},
    {"host_device_starting", "chunks", HOST(CLR_HOST_STARTING),
     "the device or its program was not ready yet"},
    {"host_device_busy", "chunks", HOST(CLR_HOST_BUSY),
     "chunks_in_flight reached, or not begun by the device at the end"},
    {"host_device_failed", "chunks", HOST(CLR_HOST_FAILED),
     "the device or a build failed, or gave no answer in time"},
    {"host_after_fork", "chunks", HOST(CLR_HOST_FORKED), "in a child process after fork()"},
    {"device_errors", "errors", PLACE(device_errors), "chunks that a device failed on"},
    {"scans_on_device", "scans", PLACE(scans_on_device), "accelerated views answered by a device"},
    {"scans_on_host", "scans", PLACE(scans_on_host), "accelerated views answered by the host"},
    {"scans_streamed", "scans", PLACE(scans_streamed),
     "of those, the ones that read pages and kept no column: too large ones, or few pages"},
    {"selects_by_rows", "selects", PLACE(selects_by_rows),
     "accelerated views whose SELECT SQLite ran: clreduce_plan() says why"},
    {"blocks_skipped", "blocks", PLACE(blocks_skipped),
     "blocks of 1,024 rows of such scans in which no row could pass the filter"},
    {"bytes_decoded", "bytes", PLACE(bytes_decoded), "pages read from database files for views"},
    {"rows_loaded", "rows", PLACE(rows_loaded),
     "rows that SQLite put into columns of views, where pages cannot be read"},
    {"leaves_kept", "pages", PLACE(leaves_kept),
     "leaf pages of changed databases that views did not read again, as they had not changed"},
    {"leaves_refreshed", "pages", PLACE(leaves_refreshed),
     "leaf pages that they did read again in such databases, in place of all"},
    {"malformed_page", "page", PLACE(malformed_page), "the last page that was found malformed"},
    {"last_error", "text", NOT_IN_STATS, "the last error of a device, with OpenCL's name for it"},
    {"build_log", "text", NOT_IN_STATS, "the compiler's output where a build failed"},
#undef PLACE
#undef HOST
};

static sqlite3_int64 count(struct clr_connection *connection)
{
    (void)connection;
    return sizeof rows / sizeof rows[0];
}

/* Returns the worker of the device that the connection uses, or NULL: it has not been started. */
static struct clr_worker *find_worker(const struct clr_connection *connection)
{
    const struct clr_catalog *catalog = clr_runtime_known_catalog();
    const int chosen =
        catalog == NULL ? -1 : clr_catalog_choose(catalog, connection->settings.device);

    return chosen >= 0 ? clr_runtime_started_worker((size_t)chosen) : NULL;
}

/* Fills in what is known of that device. */
static void get_report(const struct clr_connection *connection, struct clr_worker_report *report)
{
    const struct clr_catalog *catalog = clr_runtime_known_catalog();
    struct clr_worker *worker = find_worker(connection);

    memset(report, 0, sizeof *report);
    if (catalog == NULL)
        return;
    if (worker != NULL)
        clr_worker_report(worker, report);
    report->startup_time += catalog->time;
    if (report->status.code == CLR_OK)
        report->status = catalog->status;
}

/* Whether one of the devices that the connection uses is being opened, or builds something. */
static bool is_building(const struct clr_connection *connection)
{
    const struct clr_catalog *catalog = clr_runtime_known_catalog();
    bool builds = false;
    size_t i;

    for (i = 0; catalog != NULL && i < catalog->count && !builds; i++) {
        struct clr_worker *worker =
            clr_choice_uses(&connection->settings, i) ? clr_runtime_started_worker(i) : NULL;

        builds = worker != NULL && clr_worker_has_builds(worker);
    }
    return builds;
}

static void result_figure(const struct clr_stats *stats, const struct row *row,
                          sqlite3_context *result)
{
    int64_t figure;

    memcpy(&figure, (const char *)stats + row->place, sizeof figure);
    if (strcmp(row->unit, "ms") == 0)
        sqlite3_result_double(result, (double)figure / 1e6);
    else
        sqlite3_result_int64(result, figure);
}

static void result_special(const struct clr_connection *connection, const struct row *row,
                           sqlite3_context *result)
{
    const struct clr_stats *stats = &connection->stats;
    struct clr_worker_report report;
    sqlite3_int64 chunks = 0;
    int i;

    get_report(connection, &report);
    if (strcmp(row->name, "startup_time") == 0) {
        sqlite3_result_double(result, (double)report.startup_time / 1e6);
    } else if (strcmp(row->name, "is_building") == 0) {
        sqlite3_result_int(result, is_building(connection));
    } else if (strcmp(row->name, "programs_from_cache") == 0) {
        sqlite3_result_int64(result, clr_program_cache_taken());
    } else if (strcmp(row->name, "column_bytes_copied") == 0) {
        sqlite3_result_int64(result, clr_resident_copied());
    } else if (strcmp(row->name, "chunks_on_host") == 0) {
        for (i = 0; i < CLR_HOST_REASONS; i++)
            chunks += stats->on_host[i];
        sqlite3_result_int64(result, chunks);
    } else if (strcmp(row->name, "build_log") == 0) {
        if (report.build_log != NULL)
            clr_result_text(result, report.build_log);
    } else if (stats->last_error.code != CLR_OK) {
        clr_result_text(result, stats->last_error.message);
    } else if (report.status.code != CLR_OK) {
        clr_result_text(result, report.status.message);
    }
}

static void column(struct clr_connection *connection, size_t row, int column,
                   sqlite3_context *result)
{
    switch (column) {
    case 0:
        clr_result_text(result, rows[row].name);
        break;
    case 1:
        if (rows[row].place == NOT_IN_STATS)
            result_special(connection, &rows[row], result);
        else
            result_figure(&connection->stats, &rows[row], result);
        break;
    case 2:
        clr_result_text(result, rows[row].unit);
        break;
    default:
        clr_result_text(result, rows[row].meaning);
        break;
    }
}

const struct clr_table clr_stats_table = {
    .name = "clreduce_stats",
    .declaration = "CREATE TABLE clreduce_stats(name TEXT, value, unit TEXT, meaning TEXT)",
    .innocuous = true,
    .count = count,
    .column = column,
};
