#include "storage/load/stream.h"
#include "sqlite/views/ways.h"

/* Of column_memory a stream takes so large a part, and so many bytes at most, which is more than
   any number of threads makes good use of. */
enum { STREAM_PART = 4, MOST_BYTES = 256 << 20 };

static int64_t stream_memory(int64_t budget)
{
    int64_t part = budget / STREAM_PART;
    return part < MOST_BYTES ? part : MOST_BYTES;
}

enum clr_outcome clr_way_stream(struct clr_view_run *run)
{
    struct clr_column_request *request = &run->request;
    struct clr_connection *connection = request->connection;
    int64_t budget = clr_column_memory(connection), memory = stream_memory(budget);
    struct clr_field fields[CLR_MOST_COLUMNS];
    struct clr_load_report report;
    enum clr_load_outcome outcome;
    struct clr_status status;
    size_t rows;
    int i;

    /* Questions are about all values together. */
    if (run->scan.question_count > 0) {
        clr_reason_set(&request->reason, CLR_WHY_KEEPS_VALUES);
        return CLR_NEXT_WAY;
    }
    if (run->scan.grouping != NULL) {
        clr_reason_set(&request->reason, CLR_WHY_KEEPS_GROUPS);
        return CLR_NEXT_WAY;
    }
    /* A lookup is of a whole dictionary. */
    if (run->plan->query->lookup_count > 0) {
        clr_reason_set(&request->reason, CLR_WHY_KEEPS_CODES);
        return CLR_NEXT_WAY;
    }
    /* None of the columns that are kept is needed, and together they must leave room. */
    clr_images_scan(connection);
    clr_column_memory_trim(connection, budget - memory);
    for (i = 0; i < run->scan.column_count; i++)
        fields[i] = clr_column_field(request->query, request->table, false, i);
    clr_status_clear(&status);
    outcome = clr_stream(&request->snapshot.source, request->image->root, fields, &run->scan,
                         (size_t)memory, &rows, run->watch, &report, &status);
    if (outcome != CLR_LOAD_DONE) {
        if (outcome == CLR_LOAD_TOO_LARGE)
            clr_reason_set(&request->reason, CLR_WHY_LARGE_PAGE);
        run->rc = clr_column_request_unread(request, outcome, &report, &status);
        return run->rc == SQLITE_OK ? CLR_NEXT_WAY : CLR_ERROR;
    }
    request->image->rows = rows;
    connection->stats.bytes_decoded += report.bytes_read;
    request->reading = (struct clr_reading){
        .kind = CLR_READ_STREAMED, .amount = connection->stats.bytes_decoded - request->decoded};
    if (!clr_column_request_check_rows(request, rows))
        return CLR_NEXT_WAY;
    connection->stats.scans_on_host++;
    connection->stats.scans_streamed++;
    return CLR_ANSWERED;
}
