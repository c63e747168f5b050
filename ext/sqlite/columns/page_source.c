#include "base/memory.h"
#include "sqlite/columns/column_source.h"
#include "sqlite/columns/device_load.h"
#include "storage/refresh/refresh.h"

#include <string.h>

/* ---- Beginning, and what has changed. */

/* The image's columns side by side. */
struct side {
    struct clr_image_column **of;
    struct clr_field *fields;
    struct clr_column **columns;
    int count;
};

/* All columns are needed on the host. */
static enum clr_scan_outcome side_init(struct side *side, struct clr_column_request *request)
{
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    struct clr_image_column *column;
    size_t count = 1;

    for (column = request->image->columns; column != NULL; column = column->next)
        count++;
    *side = (struct side){.of = clr_memory_alloc(count * sizeof(struct clr_image_column *)),
                          .fields = clr_memory_alloc(count * sizeof *side->fields),
                          .columns = clr_memory_alloc(count * sizeof(struct clr_column *))};
    if (side->of == NULL || side->fields == NULL || side->columns == NULL)
        return CLR_SCAN_FAILED;
    for (column = request->image->columns; column != NULL && outcome == CLR_SCAN_DONE;
         column = column->next) {
        outcome = clr_image_column_fetch(request->connection, column, request->watch);
        side->of[side->count] = column;
        side->fields[side->count] = column->field;
        side->columns[side->count++] = column->column;
    }
    return outcome;
}

static void side_free(struct side *side)
{
    clr_memory_free((void *)side->of);
    clr_memory_free(side->fields);
    clr_memory_free((void *)side->columns);
}

/* Tells the image's layout how many rows, and bytes of TEXT and BLOBs, there is room for. Returns
   false if the rows are known to be too many. */
static bool make_room(struct clr_column_request *request)
{
    const int columns = request->query->column_count, row_bytes = CLR_ROW_BYTES * (columns + 1);
    const int64_t budget = clr_column_memory(request->connection);
    struct clr_image *image = request->image;
    size_t most = (size_t)(budget / row_bytes);

    if (most == 0)
        most = 1;
    image->layout.most_bytes = (size_t)budget;
    image->layout.row_bytes = columns == 0 ? 0 : (size_t)row_bytes;
    image->layout.most_rows = columns == 0 ? 0 : most; /* rows that are only counted take none */
    image->layout.may_guess = image->rows == 0;
    sqlite3_randomness(sizeof image->layout.seed, &image->layout.seed);
    return columns == 0 || image->rows <= most;
}

/* With what has changed, and the columns side by side. Returns whether they are refreshed, or
 *stopped. */
static bool refresh_columns(struct clr_column_request *request, const uint32_t *changes,
                            struct side *side, bool *stopped)
{
    struct clr_stats *stats = &request->connection->stats;
    struct clr_image *image = request->image;
    struct clr_refresh_report report;
    enum clr_load_outcome outcome;
    int i;

    make_room(request);
    outcome = clr_refresh(&request->snapshot.source, image->root, changes, side->fields,
                          side->count, &image->layout, side->columns, request->watch, &report);
    stats->bytes_decoded += report.bytes_read;
    *stopped = outcome == CLR_LOAD_STOPPED;
    if (outcome != CLR_LOAD_DONE)
        return false;
    for (i = 0; i < side->count && report.has_moved; i++)
        clr_image_replace(side->of[i], side->columns[i]);
    image->token = request->snapshot.token;
    image->rows = image->layout.rows;
    stats->leaves_kept += (int64_t)(report.leaves - report.leaves_read);
    stats->leaves_refreshed += (int64_t)report.leaves_read;
    request->reading = (struct clr_reading){.kind = CLR_READ_REFRESHED,
                                            .amount = report.bytes_read,
                                            .leaves_read = report.leaves_read,
                                            .leaves = report.leaves};
    return true;
}

/* Brings a stale image to the snapshot's version of the database by reading what has changed.
   Returns whether that is known and was done, or *stopped. */
static bool refresh(struct clr_column_request *request, bool *stopped)
{
    struct clr_image *image = request->image;
    enum clr_scan_outcome outcome;
    struct side side = {0};
    bool refreshed = false;
    uint32_t *changes;

    /* What is wrong with the snapshot is said when the columns are loaded. */
    if (image->root != request->table->root || image->layout.leaves == NULL ||
        clr_snapshot_open(request->database, &request->snapshot) != CLR_WHY_NONE)
        return false;
    changes = clr_snapshot_changes(request->database, &request->snapshot, &image->token);
    if (changes != NULL) {
        outcome = side_init(&side, request);
        *stopped = outcome == CLR_SCAN_STOPPED;
        refreshed = outcome == CLR_SCAN_DONE && refresh_columns(request, changes, &side, stopped);
    }
    side_free(&side);
    clr_memory_free(changes);
    return refreshed;
}

/* Makes the image one of the snapshot's version: it is refreshed, or else emptied. Returns
   SQLITE_INTERRUPT with the image as it was. */
static int make_fresh(struct clr_column_request *request)
{
    struct clr_image *image = request->image;
    bool stopped = false;

    if (request->is_stale) {
        request->is_stale = !refresh(request, &stopped);
        if (stopped)
            return SQLITE_INTERRUPT;
    }
    if (request->is_stale)
        clr_image_empty(image, request->table->root, &request->snapshot.token);
    request->has_columns = image->layout.known && clr_column_request_has_all(request);
    if (request->has_columns && request->reading.kind == CLR_READ_NOTHING)
        request->reading.kind = CLR_READ_RESIDENT;
    return SQLITE_OK;
}

static int begin(struct clr_column_request *request)
{
    struct clr_connection *connection = request->connection;
    enum clr_reason_code why;
    int rc = clr_snapshot_begin(request->database, &request->snapshot, &why);

    request->decoded = connection->stats.bytes_decoded;
    if (why != CLR_WHY_NONE)
        clr_column_request_refuse(request, why);
    if (rc != SQLITE_OK || why != CLR_WHY_NONE || !clr_column_request_is_current(request))
        return rc;
    request->image =
        clr_image_get(connection, request->database, request->table->name, false,
                      request->table->root, &request->snapshot.token, &request->is_stale);
    if (request->image == NULL)
        return SQLITE_NOMEM;
    clr_image_drop_away(request->image, true);
    return make_fresh(request);
}

/* ---- Loading. */

int clr_column_request_unread(struct clr_column_request *request, enum clr_load_outcome outcome,
                              const struct clr_load_report *report, const struct clr_status *status)
{
    request->connection->stats.bytes_decoded += report->bytes_read;
    switch (outcome) {
    case CLR_LOAD_STOPPED:
        return SQLITE_INTERRUPT;
    case CLR_LOAD_MALFORMED:
        request->connection->stats.malformed_page = report->page;
        clr_reason_set_numbers(&request->reason, CLR_WHY_MALFORMED_PAGE, report->page, 0);
        break;
    case CLR_LOAD_UNSUPPORTED:
        request->no_pages = CLR_WHY_OLDER_ROWS;
        break;
    case CLR_LOAD_TOO_LARGE:
        request->is_too_large = true;
        break;
    case CLR_LOAD_UNSURE:
        clr_reason_set(&request->reason, CLR_WHY_VALUE);
        break;
    default:
        clr_reason_set_name(&request->reason, CLR_WHY_LOAD_FAILED, status->message,
                            strlen(status->message));
        break;
    }
    return SQLITE_OK;
}

/* Leaves less room for the bytes that are to be loaded, or dictionaries, for those that are here
   already. */
static void count_bytes(struct clr_column_request *request)
{
    struct clr_layout *layout = &request->image->layout;
    const struct clr_image_column *column;
    size_t bytes;
    int i;

    for (i = 0; i < request->query->column_count; i++) {
        column = clr_column_request_find(request, i);
        bytes = column == NULL ? 0 : column->column->bytes.size;
        if (column != NULL && column->column->dictionary != NULL)
            bytes = clr_dictionary_size(column->column->dictionary);
        layout->most_bytes -= bytes < layout->most_bytes ? bytes : layout->most_bytes - 1;
    }
}

static bool needs_bytes(const struct clr_query *query)
{
    int i;

    for (i = 0; i < query->column_count && !query->with_bytes[i] && !query->with_codes[i]; i++)
        ;
    return i < query->column_count;
}

/* Puts what was loaded into the image. */
static int keep(struct clr_column_request *request, const struct clr_device_load *load)
{
    struct clr_image *image = request->image;
    int i, rc = SQLITE_OK;

    image->rows = image->layout.rows;
    request->connection->stats.bytes_decoded += load->report.bytes_read;
    request->reading = (struct clr_reading){.kind = request->has_lost   ? CLR_READ_LOST
                                                    : request->is_stale ? CLR_READ_CHANGED
                                                                        : CLR_READ_ABSENT,
                                            .amount = load->report.bytes_read,
                                            .device = load->device};
    for (i = 0; i < load->count; i++) {
        struct clr_image_column *column =
            clr_image_add(image, load->names[i], &load->fields[i], load->columns[i]);

        if (load->fields[i].with_codes)
            clr_many_values_forget(&image->many_values, load->fields[i].index);
        if (column == NULL) {
            clr_resident_free(load->residents[i]);
            rc = SQLITE_NOMEM;
        } else if (load->worker != NULL) {
            column->resident = load->residents[i];
            column->worker = load->worker;
        }
    }
    request->has_columns = rc == SQLITE_OK;
    return rc;
}

static int bring(struct clr_column_request *request)
{
    struct clr_device_load load = {.count = 0};
    enum clr_load_outcome outcome;
    enum clr_reason_code why = clr_snapshot_open(request->database, &request->snapshot);
    int i;

    for (i = 0; i < request->query->column_count; i++) {
        if (clr_column_request_find(request, i) != NULL)
            continue;
        load.names[load.count] = clr_column_request_info(request, i)->name;
        load.fields[load.count++] = clr_column_field(request->query, request->table, false, i);
    }
    if (why != CLR_WHY_NONE) {
        clr_reason_set(&request->reason, why);
        return SQLITE_OK;
    }
    if (clr_column_request_expects_many_values(request))
        return SQLITE_OK;
    request->is_too_large = !make_room(request) || clr_skips_take(request->keeping);
    if (request->is_too_large)
        return SQLITE_OK;
    count_bytes(request);
    outcome = clr_device_load(request, &load);
    if (outcome == CLR_LOAD_DONE)
        return keep(request, &load);
    if (outcome == CLR_LOAD_MANY_VALUES) {
        request->connection->stats.bytes_decoded += load.report.bytes_read;
        clr_column_request_has_many_values(request, load.names[load.report.field],
                                           &load.fields[load.report.field]);
        return SQLITE_OK;
    }
    if (outcome == CLR_LOAD_TOO_LARGE && needs_bytes(request->query))
        request->keeping->left = CLR_SKIPS;
    return clr_column_request_unread(request, outcome, &load.report, &load.status);
}

static void end(struct clr_column_request *request)
{
    clr_snapshot_end(request->database, &request->snapshot);
    if (request->image == NULL || request->is_scanned)
        return;
    /* What was loaded in vain is older than any scan. */
    clr_images_scan(request->connection);
    clr_column_memory_trim(request->connection, clr_column_memory(request->connection));
}

const struct clr_column_source clr_page_source = {begin, bring, end};
