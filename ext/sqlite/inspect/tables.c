#include "sqlite/inspect/inspect.h"

#include "engine/columns/copies.h"
#include "engine/worker/runtime.h"
#include "opencl/core/catalog.h"
#include "opencl/core/device.h"
#include "sqlite/access/ordinary_views.h"
#include "sqlite/api.h"
#include "sqlite/cache/cache.h"
#include "sqlite/cache/cache_lock.h"
#include "sqlite/cache/cache_memory.h"
#include "sqlite/schema/schema_lock.h"
#include "sqlite/session/connection.h"
#include "sqlite/session/statement.h"
#include "sqlite/session/virtual_table.h"
#include "sqlite/view/module.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

/* Lines that a table-valued function gives for its argument: all zeros, or memory of SQLite's. */
struct lines {
    char *argument; /* as its column shows it */
    char **text;
    sqlite3_int64 count;
};

struct table {
    const char *name;
    const char *declaration; /* CREATE TABLE, for sqlite3_declare_vtab() */
    bool innocuous;          /* reading it starts nothing, so that any schema may */
    /* Returns the number of rows. */
    sqlite3_int64 (*count)(struct clr_connection *connection);
    /* Sets the result to a column, from 0, of a row, from 0; leaves it alone for NULL. */
    void (*column)(struct clr_connection *connection, size_t row, int column,
                   sqlite3_context *result);
    /*
     * Instead of both, for a table-valued function: it has a column for the lines, and a hidden one
     * for the argument, which may be NULL. Adds to the lines, which are the caller's, also after an
     * error. Returns SQLite's result code, SQLITE_ERROR with a message unless memory is short.
     */
    int (*list)(struct clr_connection *connection, const char *argument, struct lines *lines,
                char **error);
};

/* Sets the result to text that may change later. */
static void result_text(sqlite3_context *result, const char *text)
{
    sqlite3_result_text(result, text, -1, SQLITE_TRANSIENT);
}

/* ---- clreduce_columns: the decoded columns that are resident. */

/* With the cache's lock: finds column number row, over all newest images that the connection may
   see, or NULL; counts them. */
static const struct clr_image_column *find_column(const struct clr_connection *connection,
                                                  size_t row, const struct clr_cached_table **table,
                                                  size_t *count)
{
    const struct clr_image_column *column;

    *count = 0;
    for (*table = clr_cache_first(); *table != NULL; *table = (*table)->next) {
        const struct clr_image *image = (*table)->images;

        if (image == NULL || image->is_changing || clr_cache_schema(connection, *table) == NULL)
            continue;
        for (column = image->columns; column != NULL; column = column->next) {
            if ((*count)++ == row)
                return column;
        }
    }
    return NULL;
}

static sqlite3_int64 count_columns(struct clr_connection *connection)
{
    const struct clr_cached_table *table;
    size_t columns;

    clr_cache_lock_unchanging(connection);
    find_column(connection, SIZE_MAX, &table, &columns);
    clr_cache_unlock();
    return (sqlite3_int64)columns;
}

static void show_column(const struct clr_connection *connection,
                        const struct clr_cached_table *table, const struct clr_image_column *found,
                        int number, sqlite3_context *result)
{
    switch (number) {
    case 0:
        result_text(result, clr_cache_schema(connection, table));
        break;
    case 1:
        result_text(result, table->name);
        break;
    case 2:
        result_text(result, found->name);
        break;
    case 3:
        result_text(result, clr_image_column_type(found, "mixed"));
        break;
    case 4:
        sqlite3_result_int64(result, (sqlite3_int64)found->column->rows);
        break;
    case 5:
        sqlite3_result_int64(result, (sqlite3_int64)clr_column_size(found->column));
        break;
    case 6:
        if (clr_image_column_on_device(found))
            sqlite3_result_int64(result, (sqlite3_int64)clr_sharded_size(found->copy, NULL));
        break;
    case 7:
        sqlite3_result_int64(result, found->hits);
        break;
    case 8:
        sqlite3_result_int(result, clr_image_column_users(found));
        break;
    case 9:
        sqlite3_result_int64(result, (sqlite3_int64)clr_column_width(found->column));
        break;
    default:
        sqlite3_result_int64(result, (sqlite3_int64)clr_sorted_copy_size(found->sorted));
        break;
    }
}

static void resident_column(struct clr_connection *connection, size_t row, int number,
                            sqlite3_context *result)
{
    const struct clr_cached_table *table;
    const struct clr_image_column *found;
    size_t columns;

    clr_cache_lock_unchanging(connection);
    found = find_column(connection, row, &table, &columns);
    if (found != NULL) /* else it was dropped while the table was read */
        show_column(connection, table, found, number, result);
    clr_cache_unlock();
}

static const struct table column_table = {
    .name = "clreduce_columns",
    .declaration =
        "CREATE TABLE clreduce_columns(database TEXT, \"table\" TEXT, \"column\" TEXT, type TEXT, "
        "rows INT, bytes INT, device_bytes INT, hits INT, connections INT, width INT, "
        "sorted_bytes INT)",
    .innocuous = true,
    .count = count_columns,
    .column = resident_column,
};

/* ---- clreduce_devices: the devices found here. */

/* In the order of the declaration below. */
enum {
    COLUMN_PLATFORM,
    COLUMN_NAME,
    COLUMN_TYPE,
    COLUMN_VERSION,
    COLUMN_COMPUTE_UNITS,
    COLUMN_MEMORY,
    COLUMN_FP64,
    COLUMN_ARITHMETIC,
    COLUMN_IN_USE,
    COLUMN_REASON,
    COLUMN_COLUMN_BYTES
};

/* The devices are followed by a row with only a reason, if discovery failed, and by one if it left
   something out. */
static sqlite3_int64 count_devices(struct clr_connection *connection)
{
    const struct clr_catalog *catalog = clr_runtime_catalog(connection->settings.device);

    if (catalog == NULL)
        return 0;
    return (sqlite3_int64)catalog->count + (catalog->status.code != CLR_OK) +
           (catalog->left_out[0] != '\0');
}

/* What the device's worker says, if it has been started; else all 0. */
static struct clr_worker_report report_of(size_t row)
{
    struct clr_worker *worker = clr_runtime_started_worker(row);
    struct clr_worker_report report = {0};

    if (worker != NULL)
        clr_worker_report(worker, &report);
    return report;
}

/* Sets the reason why a device is not in use. */
static void result_reason(const struct clr_catalog *catalog, size_t row,
                          const struct clr_settings *settings, sqlite3_context *result)
{
    const struct clr_device_info *device = &catalog->devices[row];
    const struct clr_worker_report report = report_of(row);
    const char *setting = settings->device;
    int chosen = clr_catalog_choose(catalog, setting);
    char *text;

    if (device->unusable[0] != '\0')
        text = sqlite3_mprintf("%s", device->unusable);
    else if (report.failed)
        text = sqlite3_mprintf("failed: %s", report.status.message);
    else if (clr_choice_uses(settings, row))
        return;
    else if (!clr_catalog_matches(device, setting))
        text = sqlite3_mprintf("the setting device is '%s'%s", setting,
                               device->type == CLR_DEVICE_CPU && strcasecmp(setting, "auto") == 0
                                   ? ": it uses no CPU device, as the host's threads are as quick"
                                   : "");
    else if (clr_catalog_is_alike(device, &catalog->devices[chosen]))
        text = sqlite3_mprintf("the setting devices is %lld%s", (long long)settings->devices,
                               settings->devices > 0 ? "" : ": of CPU devices one is used");
    else
        text = sqlite3_mprintf("%s is preferred", catalog->devices[chosen].name);
    if (text == NULL)
        sqlite3_result_error_nomem(result);
    else
        sqlite3_result_text(result, text, -1, sqlite3_free);
}

static void device_column(struct clr_connection *connection, size_t row, int column,
                          sqlite3_context *result)
{
    const struct clr_catalog *catalog = clr_runtime_catalog(connection->settings.device);
    const struct clr_device_info *device;
    struct clr_worker *worker;

    if (catalog == NULL)
        return;
    if (row >= catalog->count) {
        if (column == COLUMN_IN_USE)
            sqlite3_result_int(result, 0);
        else if (column == COLUMN_REASON)
            result_text(result, row == catalog->count && catalog->status.code != CLR_OK
                                    ? catalog->status.message
                                    : catalog->left_out);
        return;
    }
    device = &catalog->devices[row];
    switch (column) {
    case COLUMN_PLATFORM:
        result_text(result, device->platform);
        break;
    case COLUMN_NAME:
        result_text(result, device->name);
        break;
    case COLUMN_TYPE:
        result_text(result, clr_device_type_name(device->type));
        break;
    case COLUMN_VERSION:
        result_text(result, device->version);
        break;
    case COLUMN_COMPUTE_UNITS:
        sqlite3_result_int64(result, device->compute_units);
        break;
    case COLUMN_MEMORY:
        sqlite3_result_int64(result, (sqlite3_int64)device->memory);
        break;
    case COLUMN_FP64:
        sqlite3_result_int(result, device->fp64);
        break;
    case COLUMN_ARITHMETIC:
        result_text(result, device->doubles && !report_of(row).integers ? "fp64" : "integer");
        break;
    case COLUMN_IN_USE:
        sqlite3_result_int(result, clr_choice_uses(&connection->settings, row));
        break;
    case COLUMN_REASON:
        result_reason(catalog, row, &connection->settings, result);
        break;
    case COLUMN_COLUMN_BYTES:
        worker = clr_runtime_started_worker(row);
        sqlite3_result_int64(result, worker == NULL ? 0 : clr_column_device_bytes(worker));
        break;
    default:
        break;
    }
}

static const struct table device_table = {
    .name = "clreduce_devices",
    .declaration =
        "CREATE TABLE clreduce_devices(platform TEXT, name TEXT, type TEXT, version TEXT, "
        "compute_units INTEGER, memory_bytes INTEGER, fp64 INTEGER, arithmetic TEXT, in_use "
        "INTEGER, reason TEXT, column_bytes INTEGER)",
    .innocuous = false,
    .count = count_devices,
    .column = device_column,
};

/* ---- clreduce_settings: the settings of this connection. */

static sqlite3_int64 count_settings(struct clr_connection *connection)
{
    struct clr_setting_description description;
    size_t rows = 0;

    while (clr_settings_describe(&connection->settings, rows, &description))
        rows++;
    return (sqlite3_int64)rows;
}

static void setting_column(struct clr_connection *connection, size_t row, int column,
                           sqlite3_context *result)
{
    struct clr_setting_description description;

    if (!clr_settings_describe(&connection->settings, row, &description))
        return;
    switch (column) {
    case 0:
        result_text(result, description.name);
        break;
    case 1:
        result_text(result, description.value);
        break;
    case 2:
        result_text(result, description.default_value);
        break;
    default:
        result_text(result, description.meaning);
        break;
    }
}

static const struct table settings_table = {
    .name = "clreduce_settings",
    .declaration =
        "CREATE TABLE clreduce_settings(name TEXT, value TEXT, \"default\" TEXT, meaning TEXT)",
    .innocuous = true,
    .count = count_settings,
    .column = setting_column,
};

/* ---- clreduce_stats: what this connection did. */

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

static sqlite3_int64 count_stats(struct clr_connection *connection)
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
        sqlite3_result_int64(result, clr_programs_taken());
    } else if (strcmp(row->name, "column_bytes_copied") == 0) {
        sqlite3_result_int64(result, clr_copies_sent());
    } else if (strcmp(row->name, "chunks_on_host") == 0) {
        for (i = 0; i < CLR_HOST_REASONS; i++)
            chunks += stats->on_host[i];
        sqlite3_result_int64(result, chunks);
    } else if (strcmp(row->name, "build_log") == 0) {
        if (report.build_log[0] != '\0')
            result_text(result, report.build_log);
    } else if (stats->last_error.code != CLR_OK) {
        result_text(result, stats->last_error.message);
    } else if (report.status.code != CLR_OK) {
        result_text(result, report.status.message);
    }
}

static void stats_column(struct clr_connection *connection, size_t row, int column,
                         sqlite3_context *result)
{
    switch (column) {
    case 0:
        result_text(result, rows[row].name);
        break;
    case 1:
        if (rows[row].place == NOT_IN_STATS)
            result_special(connection, &rows[row], result);
        else
            result_figure(&connection->stats, &rows[row], result);
        break;
    case 2:
        result_text(result, rows[row].unit);
        break;
    default:
        result_text(result, rows[row].meaning);
        break;
    }
}

static const struct table stats_table = {
    .name = "clreduce_stats",
    .declaration = "CREATE TABLE clreduce_stats(name TEXT, value, unit TEXT, meaning TEXT)",
    .innocuous = true,
    .count = count_stats,
    .column = stats_column,
};

/* ---- clreduce_plan(view): a table-valued function that says, a line each, what a view does. */

/* Copies the lines, since the view may be dropped while they are read. */
static int copy_lines(struct clr_view *view, struct lines *lines)
{
    const char *line;

    lines->argument = sqlite3_mprintf("%s", view->name);
    if (lines->argument == NULL)
        return SQLITE_NOMEM;
    while ((line = clr_acceleration_explain(view->acceleration, (int)lines->count)) != NULL) {
        sqlite3_uint64 size = ((sqlite3_uint64)lines->count + 1) * sizeof *lines->text;
        char **text = sqlite3_realloc64(lines->text, size);
        if (text == NULL)
            return SQLITE_NOMEM;
        lines->text = text;
        text[lines->count] = sqlite3_mprintf("%s", line);
        if (text[lines->count] == NULL)
            return SQLITE_NOMEM;
        lines->count++;
    }
    return SQLITE_OK;
}

/* What is asked for, and whether there is such a view. */
struct asked {
    struct lines *lines;
    struct clr_connection *connection;
    const char *name;
    int found;
};

/*
 * A change of the schema disconnects views until they are used again, and planning could find out
 * about one: so this is called where SQLite leaves its schema alone, and a view that is found
 * stays.
 */
static int look_up(void *pointer)
{
    struct asked *asked = pointer;
    struct clr_view *view = clr_view_find(asked->connection, asked->name);
    sqlite3_stmt *use = NULL;
    char made[CLR_MADE_NAME];
    int rc = SQLITE_OK;

    if (view == NULL) {
        rc = clr_statement_prepare(asked->connection->db, &use, "SELECT * FROM temp.\"%w\"",
                                   asked->name);
        view = clr_view_find(asked->connection, asked->name);
        /* It may be an ordinary view, before which an accelerated one goes. */
        if (view == NULL && rc == SQLITE_OK) {
            rc = clr_ordinary_view_find(asked->connection, asked->name, made);
            view = clr_view_find(asked->connection, made);
        }
    }
    asked->found = view != NULL;
    rc = view != NULL ? copy_lines(view, asked->lines) : rc;
    sqlite3_finalize(use);
    return rc == SQLITE_NOMEM ? rc : SQLITE_OK;
}

static int list_plan(struct clr_connection *connection, const char *argument, struct lines *lines,
                     char **error)
{
    struct asked asked = {lines, connection, argument, 0};
    int rc = SQLITE_OK;

    if (argument != NULL)
        rc = clr_schema_lock_run(connection, look_up, &asked);
    if (rc == SQLITE_NOMEM || asked.found)
        return rc;
    *error = sqlite3_mprintf("clreduce_plan: the argument must be the name of an accelerated view, "
                             "not %Q",
                             argument);
    return SQLITE_ERROR;
}

static const struct table plan_table = {
    .name = "clreduce_plan",
    .declaration = "CREATE TABLE clreduce_plan(line TEXT, view TEXT HIDDEN)",
    .list = list_plan,
};

/* ---- The virtual tables. */

/* The tables; each module's argument is its row here, bound to a connection. */
static const struct table *const tables[] = {
    &device_table, &stats_table, &settings_table, &column_table, &plan_table,
};

/* The columns of a table-valued function. */
enum { COLUMN_LINE, COLUMN_ARGUMENT };

struct binding {
    struct clr_connection *connection;
    const struct table *table;
};

struct cursor {
    sqlite3_vtab_cursor base;
    sqlite3_int64 row, rows;
    struct lines lines; /* of a table-valued function */
};

static int connect(sqlite3 *db, void *argument, int count, const char *const *arguments,
                   sqlite3_vtab **result, char **error)
{
    const struct table *table = ((struct binding *)argument)->table;

    (void)count;
    (void)arguments;
    (void)error;
    if (table->innocuous)
        sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
    return clr_virtual_table_connect(db, table->declaration, argument, result);
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    const struct table *table = ((struct binding *)clr_virtual_table_argument(base))->table;
    int i, rc = SQLITE_OK;

    info->estimatedCost = 30;
    info->estimatedRows = 30;
    for (i = 0; i < info->nConstraint && table->list != NULL; i++) {
        if (info->aConstraint[i].iColumn != COLUMN_ARGUMENT ||
            info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
            continue;
        if (!info->aConstraint[i].usable) {
            rc = SQLITE_CONSTRAINT; /* unless another one is */
            continue;
        }
        info->aConstraintUsage[i].argvIndex = 1;
        info->aConstraintUsage[i].omit = 1;
        return SQLITE_OK;
    }
    return rc;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **result)
{
    (void)table;
    return clr_virtual_table_open(sizeof(struct cursor), result);
}

static struct binding *binding_of(sqlite3_vtab_cursor *cursor)
{
    return clr_virtual_table_argument(cursor->pVtab);
}

static void drop_lines(struct lines *lines)
{
    while (lines->count > 0)
        sqlite3_free(lines->text[--lines->count]);
    sqlite3_free(lines->text);
    sqlite3_free(lines->argument);
    memset(lines, 0, sizeof *lines);
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    drop_lines(&((struct cursor *)base)->lines);
    return clr_virtual_table_close(base);
}

static int filter(sqlite3_vtab_cursor *base, int index, const char *name, int count,
                  sqlite3_value **values)
{
    const struct binding *binding = binding_of(base);
    struct cursor *cursor = (struct cursor *)base;
    int rc = SQLITE_OK;

    (void)index;
    (void)name;
    cursor->row = 0;
    if (binding->table->list == NULL) {
        cursor->rows = binding->table->count(binding->connection);
    } else {
        sqlite3_free(base->pVtab->zErrMsg);
        base->pVtab->zErrMsg = NULL;
        drop_lines(&cursor->lines);
        rc = binding->table->list(binding->connection,
                                  count == 1 ? (const char *)sqlite3_value_text(values[0]) : NULL,
                                  &cursor->lines, &base->pVtab->zErrMsg);
        cursor->rows = cursor->lines.count;
    }
    return rc;
}

static int next(sqlite3_vtab_cursor *cursor)
{
    ((struct cursor *)cursor)->row++;
    return SQLITE_OK;
}

static int at_end(sqlite3_vtab_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;
    return cursor->row >= cursor->rows;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int number)
{
    const struct binding *binding = binding_of(base);
    const struct cursor *cursor = (struct cursor *)base;

    if (binding->table->list == NULL)
        binding->table->column(binding->connection, (size_t)cursor->row, number, context);
    else
        result_text(context, number == COLUMN_LINE ? cursor->lines.text[cursor->row]
                                                   : cursor->lines.argument);
    return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id)
{
    *id = ((struct cursor *)cursor)->row + 1;
    return SQLITE_OK;
}

static const sqlite3_module module = {
    .xConnect = connect,
    .xBestIndex = best_index,
    .xDisconnect = clr_virtual_table_disconnect,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = filter,
    .xNext = next,
    .xEof = at_end,
    .xColumn = column,
    .xRowid = rowid,
};

static void free_binding(void *pointer)
{
    struct binding *binding = pointer;

    clr_connection_release(binding->connection);
    sqlite3_free(binding);
}

int clr_tables_register(struct clr_connection *connection)
{
    int rc = SQLITE_OK;
    size_t i;

    for (i = 0; i < sizeof tables / sizeof tables[0] && rc == SQLITE_OK; i++) {
        struct binding *binding = sqlite3_malloc(sizeof *binding);
        if (binding == NULL)
            return SQLITE_NOMEM;
        binding->connection = clr_connection_retain(connection);
        binding->table = tables[i];
        rc = sqlite3_create_module_v2(connection->db, tables[i]->name, &module, binding,
                                      free_binding);
    }
    return rc;
}
