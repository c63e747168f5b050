#include "sqlite/views/acceleration_private.h"

#include "engine/columns/resident_questions.h"
#include "engine/host/host_scan.h"
#include "engine/rows/choice.h"

#include <string.h>
#include <unistd.h>

int64_t clr_acceleration_budget(const struct clr_connection *connection)
{
    if (connection->settings.column_memory > 0)
        return connection->settings.column_memory;
    return (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGE_SIZE) / 4;
}

int clr_acceleration_unread(struct clr_acceleration *acceleration, enum clr_load_outcome outcome,
                            const struct clr_load_report *report, const struct clr_status *status)
{
    acceleration->connection->stats.bytes_decoded += report->bytes_read;
    switch (outcome) {
    case CLR_LOAD_STOPPED:
        return SQLITE_INTERRUPT;
    case CLR_LOAD_MALFORMED:
        acceleration->connection->stats.malformed_page = report->page;
        return clr_acceleration_by_rows(acceleration, "page %u of the database is malformed",
                                        report->page);
    case CLR_LOAD_UNSUPPORTED:
        acceleration->no_pages =
            "it has rows that were written before a column whose default is no number";
        return SQLITE_NOTFOUND;
    case CLR_LOAD_TOO_LARGE:
        return SQLITE_TOOBIG;
    case CLR_LOAD_UNSURE:
        return clr_acceleration_by_rows(acceleration, CLR_UNSURE_TEXT);
    default:
        return clr_acceleration_by_rows(acceleration, "%s", status->message);
    }
}

bool clr_acceleration_make_room(const struct clr_acceleration *acceleration,
                                struct clr_image *image)
{
    const int columns = acceleration->query->column_count;
    const int64_t budget = clr_acceleration_budget(acceleration->connection);
    /* Nine bytes: a value and, maybe, a tag. */
    const int row_bytes = 9 * (columns + 1);
    size_t most = (size_t)(budget / row_bytes);

    if (most == 0)
        most = 1;
    image->layout.most_bytes = (size_t)budget;
    image->layout.row_bytes = columns == 0 ? 0 : (size_t)row_bytes;
    image->layout.most_rows = columns == 0 ? 0 : most; /* rows that are only counted take none */
    image->layout.may_guess = image->rows == 0;
    return columns == 0 || image->rows <= most;
}

/* Leaves less room for the bytes that are to be loaded, for those that are here already. */
static void count_bytes(const struct clr_acceleration *acceleration, struct clr_image *image)
{
    const struct clr_image_column *column;
    size_t bytes;
    int i;

    for (i = 0; i < acceleration->query->column_count; i++) {
        column = clr_acceleration_find(acceleration, image, i);
        bytes = column == NULL ? 0 : column->column->bytes.size;
        image->layout.most_bytes -=
            bytes < image->layout.most_bytes ? bytes : image->layout.most_bytes - 1;
    }
}

static bool needs_bytes(const struct clr_query *query)
{
    int i;

    for (i = 0; i < query->column_count && !query->with_bytes[i]; i++)
        ;
    return i < query->column_count;
}

int clr_acceleration_load(struct clr_acceleration *acceleration, struct clr_snapshot *snapshot,
                          struct clr_image *image, const char *why)
{
    const struct clr_query *query = acceleration->query;
    struct clr_field fields[CLR_MOST_COLUMNS];
    struct clr_column *columns[CLR_MOST_COLUMNS];
    enum clr_load_outcome outcome;
    struct clr_loading loading;
    const char *names[CLR_MOST_COLUMNS], *reason;
    int i, count = 0, rc = SQLITE_ROW;

    for (i = 0; i < query->column_count; i++) {
        const struct clr_column_info *info = clr_acceleration_column(acceleration, i);
        if (clr_acceleration_find(acceleration, image, i) != NULL)
            continue;
        names[count] = info->name;
        fields[count++] = clr_acceleration_field(acceleration, image, i);
    }
    if (count == 0 && image->layout.known) {
        if (acceleration->reading[0] == '\0') /* nor has anything been refreshed */
            sqlite3_snprintf(CLR_PLAN_TEXT, acceleration->reading,
                             "0 bytes: all columns are resident");
        return SQLITE_ROW;
    }
    if (clr_snapshot_open(acceleration->database, snapshot, &reason) != SQLITE_OK)
        return clr_acceleration_by_rows(acceleration, "%s", reason);
    if (!clr_acceleration_make_room(acceleration, image))
        return SQLITE_TOOBIG;
    if (acceleration->streams > 0) {
        acceleration->streams--;
        return SQLITE_TOOBIG;
    }
    count_bytes(acceleration, image);
    /* Only a log can tell what has changed. */
    if (!image->layout.known)
        image->layout.keeps_leaves = snapshot->is_wal;
    outcome = clr_acceleration_load_columns(acceleration, snapshot, image, fields, count, columns,
                                            &loading);
    if (outcome == CLR_LOAD_TOO_LARGE && needs_bytes(query))
        acceleration->streams = CLR_RUNS_BY_ROWS;
    if (outcome != CLR_LOAD_DONE)
        return clr_acceleration_unread(acceleration, outcome, &loading.report, &loading.status);
    image->rows = image->layout.rows;
    acceleration->connection->stats.bytes_decoded += loading.report.bytes_read;
    sqlite3_snprintf(CLR_PLAN_TEXT, acceleration->reading, "%lld bytes%s%s: %s",
                     (long long)loading.report.bytes_read,
                     loading.worker == NULL ? "" : ", decoded by ",
                     loading.worker == NULL ? "" : loading.device, why);
    for (i = 0; i < count; i++) {
        struct clr_image_column *column = clr_image_add(image, names[i], &fields[i], columns[i]);

        if (column == NULL) {
            clr_resident_free(loading.residents[i]);
            rc = SQLITE_NOMEM;
        } else if (loading.worker != NULL) {
            column->resident = loading.residents[i];
            column->worker = loading.worker;
        }
    }
    return rc;
}

/* Whether the columns all have copies on the device; starts those that are missing. */
static bool are_resident(struct clr_image_column *const *columns, int count,
                         struct clr_worker *worker, struct clr_resident **residents)
{
    bool ready = true;
    int i;

    for (i = 0; i < count; i++) {
        struct clr_image_column *column = columns[i];
        if (column->column->is_away && column->worker != worker)
            return false;
        if (column->worker != worker) {
            clr_resident_free(column->resident);
            column->resident = NULL;
        }
        column->worker = worker;
        if (column->resident == NULL)
            column->resident = clr_resident_new(worker, column->column);
        residents[i] = column->resident;
        ready = ready && column->resident != NULL &&
                clr_resident_state(column->resident) == CLR_RESIDENT_READY;
    }
    return ready;
}

static enum clr_scan_outcome scan_on_device(struct clr_acceleration *acceleration,
                                            struct clr_scan *scan,
                                            struct clr_image_column *const *columns,
                                            const struct clr_watch *watch)
{
    struct clr_connection *connection = acceleration->connection;
    struct clr_resident *residents[CLR_MOST_COLUMNS];
    struct clr_device_work work = {0, 0, 0, 0, 0};
    const struct clr_device_info *info;
    struct clr_worker *worker = clr_choose_device(&connection->settings, scan->rows, &info);
    enum clr_scan_outcome outcome;
    struct clr_status status;

    if (worker == NULL || !are_resident(columns, scan->column_count, worker, residents))
        return CLR_SCAN_NOT_NOW;
    clr_images_trim(connection, INT64_MAX, clr_acceleration_device_budget(connection, info));
    clr_status_clear(&status);
    outcome = scan->question_count > 0
                  ? clr_resident_answer(worker, scan, residents,
                                        connection->settings.device_timeout, watch, &work, &status)
                  : clr_resident_scan(worker, scan, residents, connection->settings.device_timeout,
                                      watch, &work, &status);
    if (outcome == CLR_SCAN_DONE) {
        connection->stats.kernels_launched += work.kernels;
        connection->stats.passes += work.passes;
        connection->stats.kernel_time += work.kernel_time;
        connection->stats.scans_on_device++;
        sqlite3_snprintf(CLR_PLAN_TEXT, acceleration->verdict, "accelerated: device %s",
                         info->name);
    } else if (outcome == CLR_SCAN_FAILED) {
        clr_stats_note_failure(&connection->stats, &status);
    }
    return outcome;
}

/* Computes the tallies on the host, and brings the columns there that are not. */
static int scan_on_host(struct clr_acceleration *acceleration, struct clr_scan *scan,
                        struct clr_image_column *const *found, struct clr_column **columns,
                        enum clr_scan_outcome *outcome)
{
    struct clr_watch watch = {clr_interruption_is_wanted, &acceleration->interruption};
    int i, rc = SQLITE_OK;

    for (i = 0; i < scan->column_count && rc == SQLITE_OK; i++) {
        rc = clr_acceleration_fetch(acceleration, found[i]);
        columns[i] = found[i]->column;
    }
    if (rc != SQLITE_OK)
        return rc;
    *outcome = clr_host_scan(scan, &watch);
    if (*outcome == CLR_SCAN_DONE) {
        acceleration->connection->stats.scans_on_host++;
        sqlite3_snprintf(CLR_PLAN_TEXT, acceleration->verdict, "accelerated: host");
    }
    return SQLITE_OK;
}

/* A device has neither the bytes of values nor a use for their addresses. */
static bool is_for_devices(const struct clr_scan *scan)
{
    int i;

    for (i = 0; i < scan->column_count; i++) {
        if (clr_column_has_addresses(scan->columns[i]))
            return false;
    }
    return clr_scan_merges(scan) == 0;
}

int clr_acceleration_scan(struct clr_acceleration *acceleration, struct clr_image *image)
{
    struct clr_query *query = acceleration->query;
    struct clr_watch watch = {clr_interruption_is_wanted, &acceleration->interruption};
    struct clr_image_column *found[CLR_MOST_COLUMNS];
    struct clr_column *columns[CLR_MOST_COLUMNS] = {NULL};
    struct clr_scan scan = clr_acceleration_new_scan(acceleration, columns, image->layout.rows);
    enum clr_scan_outcome outcome;
    int i, rc = SQLITE_OK;
    int64_t number;

    sqlite3_randomness(sizeof scan.seed, &scan.seed);
    number = clr_images_scan(acceleration->connection);
    for (i = 0; i < query->column_count; i++) {
        found[i] = clr_acceleration_find(acceleration, image, i);
        columns[i] = found[i]->column;
        found[i]->hits++;
        found[i]->used = number;
    }
    outcome = is_for_devices(&scan) ? scan_on_device(acceleration, &scan, found, &watch)
                                    : CLR_SCAN_NOT_NOW;
    if (outcome == CLR_SCAN_NOT_NOW || outcome == CLR_SCAN_FAILED)
        rc = scan_on_host(acceleration, &scan, found, columns, &outcome);
    clr_acceleration_trim(acceleration->connection,
                          clr_acceleration_budget(acceleration->connection));
    if (rc != SQLITE_OK)
        return rc;
    switch (outcome) {
    case CLR_SCAN_DONE:
        return SQLITE_ROW;
    case CLR_SCAN_STOPPED:
        return SQLITE_INTERRUPT;
    case CLR_SCAN_UNSURE:
        return clr_acceleration_by_rows(acceleration, CLR_UNSURE_TEXT);
    case CLR_SCAN_LIMIT:
        return clr_acceleration_by_rows(acceleration, "the values take more than values_memory");
    default:
        return clr_acceleration_by_rows(acceleration, "there was no memory for the scan");
    }
}
