#include "sqlite/views/acceleration_private.h"
#include "storage/load/stream.h"

/* Of column_memory a stream takes so large a part, and so many bytes at most, which is more than
   any number of threads makes good use of. */
enum { STREAM_PART = 4, MOST_BYTES = 256 << 20 };

static int64_t stream_memory(int64_t budget)
{
    int64_t part = budget / STREAM_PART;
    return part < MOST_BYTES ? part : MOST_BYTES;
}

int clr_acceleration_stream(struct clr_acceleration *acceleration,
                            const struct clr_snapshot *snapshot, struct clr_image *image,
                            int64_t before)
{
    struct clr_connection *connection = acceleration->connection;
    int64_t budget = clr_acceleration_budget(connection), memory = stream_memory(budget);
    struct clr_scan scan = clr_acceleration_new_scan(acceleration, NULL, 0);
    struct clr_watch watch = {clr_interruption_is_wanted, &acceleration->interruption};
    struct clr_field fields[CLR_MOST_COLUMNS];
    struct clr_load_report report;
    enum clr_load_outcome outcome;
    struct clr_status status;
    size_t rows;
    int i, rc;

    /* Questions are about all values together. */
    if (scan.question_count > 0) {
        acceleration->runs_by_rows = CLR_RUNS_BY_ROWS;
        return clr_acceleration_by_rows(acceleration, "the columns take more than column_memory, "
                                                      "and a function needs all values together");
    }
    /* None of the columns that are kept is needed, and together they must leave room. */
    clr_images_scan(connection);
    clr_acceleration_trim(connection, budget - memory);
    for (i = 0; i < scan.column_count; i++)
        fields[i] = clr_acceleration_field(acceleration, image, i);
    clr_status_clear(&status);
    outcome = clr_stream(&snapshot->source, image->root, fields, &scan, (size_t)memory, &rows,
                         &watch, &report, &status);
    if (outcome == CLR_LOAD_TOO_LARGE) {
        acceleration->runs_by_rows = CLR_RUNS_BY_ROWS;
        connection->stats.bytes_decoded += report.bytes_read;
        return clr_acceleration_by_rows(acceleration, "a few rows' TEXT, BLOBs or histograms take "
                                                      "more than column_memory or values_memory");
    }
    if (outcome != CLR_LOAD_DONE)
        return clr_acceleration_unread(acceleration, outcome, &report, &status);
    image->rows = rows;
    connection->stats.bytes_decoded += report.bytes_read;
    sqlite3_snprintf(CLR_PLAN_TEXT, acceleration->reading,
                     "%lld bytes: the columns take more than column_memory",
                     (long long)(connection->stats.bytes_decoded - before));
    rc = clr_acceleration_check_rows(acceleration, rows);
    if (rc != SQLITE_ROW)
        return rc;
    connection->stats.scans_on_host++;
    connection->stats.scans_streamed++;
    sqlite3_snprintf(CLR_PLAN_TEXT, acceleration->verdict,
                     "accelerated: host, streaming the table");
    return SQLITE_ROW;
}
