#include "sqlite/inspect/inspect.h"

#include "engine/columns/copies.h"
#include "engine/worker/runtime.h"
#include "opencl/core/catalog.h"
#include "opencl/core/device.h"
#include "sqlite/access/ordinary_views.h"
#include "sqlite/access/rewrite.h"
#include "sqlite/api.h"
#include "sqlite/cache/cache.h"
#include "sqlite/cache/cache_memory.h"
#include "sqlite/schema/schema_lock.h"
#include "sqlite/session/sql_value.h"
#include "sqlite/session/statement.h"
#include "sqlite/session/virtual_table.h"
#include "sqlite/view/module.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

/*
 * The rows of a table as they were when a statement began to read them: their cells, row by row.
 * All zeros at first. After an error, for which rc is SQLite's code, cells may be missing.
 */
struct cells {
    struct clr_value *all; /* with TEXT in memory of SQLite's */
    size_t count, room;
    int rc;
    char *error; /* a message, memory of SQLite's; or NULL */
};

struct table {
    const char *name;
    const char *declaration; /* CREATE TABLE, for sqlite3_declare_vtab() */
    int columns;
    bool innocuous;      /* reading it starts nothing, so that any schema may */
    bool takes_argument; /* a table-valued function: its last column is hidden */
    /* Adds the cells of all rows. argument: NULL without one. */
    void (*fill)(struct clr_connection *connection, const char *argument, struct cells *cells);
};

static void add(struct cells *cells, struct clr_value cell)
{
    if (cells->count == cells->room) {
        const size_t room = cells->room == 0 ? 64 : 2 * cells->room;
        struct clr_value *larger = sqlite3_realloc64(cells->all, room * sizeof *larger);

        if (larger == NULL) {
            cells->rc = SQLITE_NOMEM;
            sqlite3_free((void *)cell.bytes);
            return;
        }
        cells->all = larger;
        cells->room = room;
    }
    cells->all[cells->count++] = cell;
}

static void add_null(struct cells *cells)
{
    add(cells, (struct clr_value){.kind = CLR_KIND_NONE});
}

static void add_integer(struct cells *cells, int64_t integer)
{
    add(cells, (struct clr_value){.kind = CLR_KIND_INTEGER, .as.integer = integer});
}

static void add_real(struct cells *cells, double real)
{
    add(cells, (struct clr_value){.kind = CLR_KIND_REAL, .as.real = real});
}

/* Adds the text, which becomes the cells': memory of SQLite's, or NULL if there was none. */
static void add_own_text(struct cells *cells, char *text)
{
    if (text == NULL)
        cells->rc = SQLITE_NOMEM;
    else
        add(cells, (struct clr_value){CLR_KIND_TEXT, {.size = strlen(text)}, text});
}

static void add_text(struct cells *cells, const char *text)
{
    add_own_text(cells, sqlite3_mprintf("%s", text));
}

static void drop_cells(struct cells *cells)
{
    while (cells->count > 0)
        sqlite3_free((void *)cells->all[--cells->count].bytes);
    sqlite3_free(cells->all);
    memset(cells, 0, sizeof *cells);
}

/* ---- clreduce_columns: the decoded columns that are resident. */

/* Returns whether there is a complete copy on devices. */
static bool is_on_device(const struct clr_image_column *column)
{
    return column->copy != NULL && clr_sharded_state(column->copy) == CLR_RESIDENT_READY;
}

static void add_column(const struct clr_connection *connection,
                       const struct clr_cached_table *table, const struct clr_image_column *column,
                       struct cells *cells)
{
    add_text(cells, clr_cache_schema(connection, table));
    add_text(cells, table->name);
    add_text(cells, column->name);
    add_text(cells, clr_image_column_type(column, "mixed"));
    add_integer(cells, (int64_t)column->column->rows);
    add_integer(cells, (int64_t)clr_column_size(column->column));
    if (is_on_device(column))
        add_integer(cells, (int64_t)clr_sharded_size(column->copy, NULL));
    else
        add_null(cells);
    add_integer(cells, column->hits);
    add_integer(cells, (int64_t)clr_column_width(column->column));
}

/* Those of all newest images that the connection may see. */
static void fill_columns(struct clr_connection *connection, const char *argument,
                         struct cells *cells)
{
    const struct clr_cached_table *table;
    const struct clr_image_column *column;

    (void)argument;
    clr_cache_lock_unchanging(connection);
    for (table = clr_cache_first(); table != NULL; table = table->next) {
        const struct clr_image *image = table->images;

        if (image == NULL || image->is_changing || clr_cache_schema(connection, table) == NULL)
            continue;
        for (column = image->columns; column != NULL; column = column->next)
            add_column(connection, table, column, cells);
    }
    clr_cache_unlock();
}

static const struct table column_table = {
    .name = "clreduce_columns",
    .declaration =
        "CREATE TABLE clreduce_columns(database TEXT, \"table\" TEXT, \"column\" TEXT, type TEXT, "
        "rows INT, bytes INT, device_bytes INT, hits INT, width INT)",
    .columns = 9,
    .innocuous = true,
    .fill = fill_columns,
};

/* ---- clreduce_devices: the devices found here. */

/* Adds the reason why a device is not in use; NULL if it is. */
static void add_reason(const struct clr_catalog *catalog, size_t row,
                       const struct clr_worker_report *report, const struct clr_settings *settings,
                       struct cells *cells)
{
    const struct clr_device_info *device = &catalog->devices[row];
    const char *setting = settings->device;
    int chosen = clr_catalog_choose(catalog, setting);
    char *text;

    if (device->unusable[0] != '\0')
        text = sqlite3_mprintf("%s", device->unusable);
    else if (report->failed)
        text = sqlite3_mprintf("failed: %s", report->status.message);
    else if (clr_choice_uses(settings, row)) {
        add_null(cells);
        return;
    } else if (!clr_catalog_matches(device, setting))
        text = sqlite3_mprintf("the setting device is '%s'%s", setting,
                               device->type == CLR_DEVICE_CPU && strcasecmp(setting, "auto") == 0
                                   ? ": it uses no CPU device, as the host's threads are as quick"
                                   : "");
    else if (clr_catalog_is_alike(device, &catalog->devices[chosen]))
        text = sqlite3_mprintf("the setting devices is %lld%s", (long long)settings->devices,
                               settings->devices > 0 ? "" : ": of CPU devices one is used");
    else
        text = sqlite3_mprintf("%s is preferred", catalog->devices[chosen].name);
    add_own_text(cells, text);
}

static void add_device(const struct clr_catalog *catalog, size_t row,
                       const struct clr_settings *settings, struct cells *cells)
{
    const struct clr_device_info *device = &catalog->devices[row];
    struct clr_worker *worker = clr_runtime_started_worker(row);
    struct clr_worker_report report = {0}; /* of a worker that has been started */

    if (worker != NULL)
        clr_worker_report(worker, &report);
    add_text(cells, device->platform);
    add_text(cells, device->name);
    add_text(cells, clr_device_type_name(device->type));
    add_text(cells, device->version);
    add_integer(cells, device->compute_units);
    add_integer(cells, (int64_t)device->memory);
    add_integer(cells, device->fp64);
    add_text(cells, device->doubles && !report.integers ? "fp64" : "integer");
    add_integer(cells, clr_choice_uses(settings, row));
    add_reason(catalog, row, &report, settings, cells);
    add_integer(cells, worker == NULL ? 0 : clr_column_device_bytes(worker));
}

/* Adds a row for no device, with a reason why. */
static void add_no_device(const char *reason, struct cells *cells)
{
    int column;

    for (column = 0; column < 8; column++)
        add_null(cells);
    add_integer(cells, 0); /* in use */
    add_text(cells, reason);
    add_null(cells);
}

/* The devices are followed by a row with only a reason, if discovery failed, and by one if it left
   something out. */
static void fill_devices(struct clr_connection *connection, const char *argument,
                         struct cells *cells)
{
    const struct clr_catalog *catalog = clr_runtime_catalog(connection->settings.device);
    size_t row;

    (void)argument;
    if (catalog == NULL)
        return;
    for (row = 0; row < catalog->count; row++)
        add_device(catalog, row, &connection->settings, cells);
    if (catalog->status.code != CLR_OK)
        add_no_device(catalog->status.message, cells);
    if (catalog->left_out[0] != '\0')
        add_no_device(catalog->left_out, cells);
}

static const struct table device_table = {
    .name = "clreduce_devices",
    .declaration =
        "CREATE TABLE clreduce_devices(platform TEXT, name TEXT, type TEXT, version TEXT, "
        "compute_units INTEGER, memory_bytes INTEGER, fp64 INTEGER, arithmetic TEXT, in_use "
        "INTEGER, reason TEXT, column_bytes INTEGER)",
    .columns = 11,
    .innocuous = false,
    .fill = fill_devices,
};

/* ---- clreduce_settings: the settings of this connection. */

static void fill_settings(struct clr_connection *connection, const char *argument,
                          struct cells *cells)
{
    struct clr_setting_description description;
    size_t i;

    (void)argument;
    for (i = 0; clr_settings_describe(&connection->settings, i, &description); i++) {
        add_text(cells, description.name);
        add_text(cells, description.value);
        add_text(cells, description.default_value);
        add_text(cells, description.meaning);
    }
}

static const struct table settings_table = {
    .name = "clreduce_settings",
    .declaration =
        "CREATE TABLE clreduce_settings(name TEXT, value TEXT, \"default\" TEXT, meaning TEXT)",
    .columns = 4,
    .innocuous = true,
    .fill = fill_settings,
};

/* ---- clreduce_stats: what this connection did. */

/* What is shown. */
struct figures {
    struct clr_stats stats;
    int64_t startup_time, is_building, column_bytes_copied, lookup_bytes, chunks_on_host;
    const char *last_error, *build_log; /* NULL: there is none */
};

static const struct row {
    const char *name, *unit;
    size_t place; /* in struct figures */
    const char *meaning;
} rows[] = {
#define OWN(member) offsetof(struct figures, member)
#define PLACE(member) offsetof(struct figures, stats.member)
#define HOST(reason) (PLACE(on_host) + (reason) * sizeof(int64_t))
    {"values_fed", "values", PLACE(values_fed),
     "rows that counted in chunks handed on and in aggregates finished"},
    {"chunks_to_device", "chunks", PLACE(chunks_to_device), "chunks reduced on a device"},
    {"bytes_to_device", "bytes", PLACE(bytes_to_device), "bytes moved to a device"},
    {"kernels_launched", "kernels", PLACE(kernels_launched), "kernels that ran for those chunks"},
    {"passes", "passes", PLACE(passes), "passes of the reductions, one kernel each"},
    {"transfer_time", "ms", PLACE(transfer_time),
     "filling staging buffers, and transfers by event profiling"},
    {"kernel_time", "ms", PLACE(kernel_time), "kernels, by event profiling"},
    {"startup_time", "ms", OWN(startup_time),
     "discovery, and opening and building for the device in use, in the background"},
    {"is_building", "0 or 1", OWN(is_building),
     "whether that device is being opened, or something built for it, or about to be"},
    {"column_bytes_copied", "bytes", OWN(column_bytes_copied),
     "columns that this process has copied to devices' memory and back: decoded there, or used "
     "where they lie, they are not"},
    {"lookup_bytes", "bytes", OWN(lookup_bytes),
     "what this process keeps of joins, and of functions of text, that views have looked up"},
    {"chunks_on_host", "chunks", OWN(chunks_on_host),
     "chunks reduced on the host: the sum of host_*"},
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
    {"answers_kept", "answers", PLACE(answers_kept),
     "accelerated views answered without a scan, as the last time: the setting keep_answers"},
    {"selects_by_rows", "selects", PLACE(selects_by_rows),
     "accelerated views whose SELECT SQLite ran: clreduce_plan() says why"},
    {"blocks_skipped", "blocks", PLACE(blocks_skipped),
     "blocks of 1,024 rows of such scans in which no row could pass the filter"},
    {"bytes_decoded", "bytes", PLACE(bytes_decoded), "pages read from database files for views"},
    {"rows_loaded", "rows", PLACE(rows_loaded),
     "rows that SQLite put into columns of views, where pages cannot be read"},
    {"entries_evaluated", "values", PLACE(entries_evaluated),
     "different values of columns for which SQLite evaluated expressions and joins of views"},
    {"leaves_kept", "pages", PLACE(leaves_kept),
     "leaf pages of changed databases that views did not read again, as they had not changed"},
    {"leaves_refreshed", "pages", PLACE(leaves_refreshed),
     "leaf pages that they did read again in such databases, in place of all"},
    {"malformed_page", "page", PLACE(malformed_page), "the last page that was found malformed"},
    {"last_error", "text", OWN(last_error),
     "the last error of a device, with OpenCL's name for it"},
    {"build_log", "text", OWN(build_log), "the compiler's output where a build failed"},
#undef OWN
#undef PLACE
#undef HOST
};

/* Fills in what is known of the device that the connection uses. */
static void get_report(const struct clr_connection *connection, struct clr_worker_report *report)
{
    const struct clr_catalog *catalog = clr_runtime_known_catalog();
    const int chosen =
        catalog == NULL ? -1 : clr_catalog_choose(catalog, connection->settings.device);
    struct clr_worker *worker = chosen < 0 ? NULL : clr_runtime_started_worker((size_t)chosen);

    memset(report, 0, sizeof *report);
    if (worker != NULL)
        clr_worker_report(worker, report);
    report->startup_time += catalog == NULL ? 0 : catalog->time;
    if (catalog != NULL && report->status.code == CLR_OK)
        report->status = catalog->status;
}

/* Whether one of the devices that the connection uses is being opened, or builds something. */
static bool is_building(const struct clr_connection *connection)
{
    const struct clr_catalog *catalog = clr_runtime_known_catalog();
    struct clr_worker_report report = {.builds = false};
    size_t i;

    for (i = 0; catalog != NULL && i < catalog->count && !report.builds; i++) {
        struct clr_worker *worker =
            clr_choice_uses(&connection->settings, i) ? clr_runtime_started_worker(i) : NULL;

        if (worker != NULL)
            clr_worker_report(worker, &report);
    }
    return report.builds;
}

static void add_figure(const struct figures *figures, const struct row *row, struct cells *cells)
{
    const void *place = (const char *)figures + row->place;

    if (strcmp(row->unit, "ms") == 0)
        add_real(cells, (double)*(const int64_t *)place / 1e6);
    else if (strcmp(row->unit, "text") != 0)
        add_integer(cells, *(const int64_t *)place);
    else if (*(const char *const *)place != NULL)
        add_text(cells, *(const char *const *)place);
    else
        add_null(cells);
}

static void fill_stats(struct clr_connection *connection, const char *argument, struct cells *cells)
{
    struct figures figures = {.stats = connection->stats,
                              .is_building = is_building(connection),
                              .column_bytes_copied = clr_copies_sent(),
                              .lookup_bytes = clr_cache_lookup_bytes()};
    struct clr_worker_report report;
    size_t i;

    (void)argument;
    get_report(connection, &report);
    figures.startup_time = report.startup_time;
    for (i = 0; i < CLR_HOST_REASONS; i++)
        figures.chunks_on_host += figures.stats.on_host[i];
    if (figures.stats.last_error.code != CLR_OK)
        figures.last_error = figures.stats.last_error.message;
    else if (report.status.code != CLR_OK)
        figures.last_error = report.status.message;
    if (report.build_log[0] != '\0')
        figures.build_log = report.build_log;
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        add_text(cells, rows[i].name);
        add_figure(&figures, &rows[i], cells);
        add_text(cells, rows[i].unit);
        add_text(cells, rows[i].meaning);
    }
}

static const struct table stats_table = {
    .name = "clreduce_stats",
    .declaration = "CREATE TABLE clreduce_stats(name TEXT, value, unit TEXT, meaning TEXT)",
    .columns = 4,
    .innocuous = true,
    .fill = fill_stats,
};

/* ---- clreduce_plan(view): a table-valued function that says, a line each, what a view does, or a
   SELECT would. */

static void add_lines(struct clr_view *view, struct cells *cells)
{
    const char *line;
    int i;

    for (i = 0; (line = clr_acceleration_explain(view->acceleration, i)) != NULL; i++) {
        add_text(cells, line);
        add_text(cells, view->name);
    }
}

/* Adds the lines of a SELECT. Returns whether it is one. */
static bool add_select_lines(struct clr_connection *connection, const char *sql,
                             struct cells *cells)
{
    char *lines, *line, *end;
    const int rc = clr_select_tell(connection, sql, &lines);

    for (line = lines; line != NULL && (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = '\0';
        add_text(cells, line);
        add_text(cells, sql);
    }
    sqlite3_free(lines);
    if (rc == SQLITE_NOMEM)
        cells->rc = SQLITE_NOMEM;
    return rc == SQLITE_OK;
}

/* What is asked for, and whether there is such a view. */
struct asked {
    struct cells *cells;
    struct clr_connection *connection;
    const char *name;
    bool found;
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
    if (view != NULL)
        add_lines(view, asked->cells);
    sqlite3_finalize(use);
    asked->found = view != NULL || add_select_lines(asked->connection, asked->name, asked->cells);
    return rc == SQLITE_NOMEM ? rc : SQLITE_OK;
}

static void fill_plan(struct clr_connection *connection, const char *argument, struct cells *cells)
{
    struct asked asked = {cells, connection, argument, false};

    if (argument != NULL && clr_schema_lock_run(connection, look_up, &asked) == SQLITE_NOMEM)
        cells->rc = SQLITE_NOMEM;
    if (cells->rc != SQLITE_OK || asked.found)
        return;
    cells->rc = SQLITE_ERROR;
    cells->error = sqlite3_mprintf(
        "clreduce_plan: the argument must be the name of an accelerated view, or a SELECT, not %Q",
        argument);
}

static const struct table plan_table = {
    .name = "clreduce_plan",
    .declaration = "CREATE TABLE clreduce_plan(line TEXT, view TEXT HIDDEN)",
    .columns = 2,
    .takes_argument = true,
    .fill = fill_plan,
};

/* ---- The virtual tables. */

/* The tables; each module's argument is its row here, bound to a connection. */
static const struct table *const tables[] = {
    &device_table, &stats_table, &settings_table, &column_table, &plan_table,
};

struct binding {
    struct clr_connection *connection;
    const struct table *table;
};

/* Its rows are numbered from 1 on. */
struct cursor {
    struct clr_bound_cursor rows;
    struct cells cells;
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
    return clr_virtual_table_connect(db, table->declaration, argument, 0, result);
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    const struct table *table = ((struct binding *)clr_virtual_table_argument(base))->table;
    const int argument = table->columns - 1;
    int i = 0;

    info->estimatedCost = 30;
    info->estimatedRows = 30;
    if (!table->takes_argument || clr_bound_take(info, argument, 1))
        return SQLITE_OK;
    /* One that is not usable in this way may be in another one. */
    while (i < info->nConstraint && (info->aConstraint[i].iColumn != argument ||
                                     info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ))
        i++;
    return i < info->nConstraint ? SQLITE_CONSTRAINT : SQLITE_OK;
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

static int close_cursor(sqlite3_vtab_cursor *base)
{
    drop_cells(&((struct cursor *)base)->cells);
    return clr_virtual_table_close(base);
}

static int filter(sqlite3_vtab_cursor *base, int index, const char *name, int count,
                  sqlite3_value **values)
{
    const struct binding *binding = binding_of(base);
    struct cursor *cursor = (struct cursor *)base;

    (void)index;
    (void)name;
    drop_cells(&cursor->cells);
    binding->table->fill(binding->connection,
                         count == 1 ? (const char *)sqlite3_value_text(values[0]) : NULL,
                         &cursor->cells);
    sqlite3_free(base->pVtab->zErrMsg);
    base->pVtab->zErrMsg = cursor->cells.error;
    clr_bound_begin(base, binding, 1,
                    1 + (sqlite3_int64)cursor->cells.count / binding->table->columns);
    return cursor->cells.rc;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int number)
{
    const struct cursor *cursor = (struct cursor *)base;
    const int columns = binding_of(base)->table->columns;
    struct clr_output output;

    clr_output_init(&output);
    output.value = cursor->cells.all[(cursor->rows.row - 1) * columns + number];
    clr_output_set(context, &output);
    return SQLITE_OK;
}

static const sqlite3_module module = {
    .xConnect = connect,
    .xBestIndex = best_index,
    .xDisconnect = clr_virtual_table_disconnect,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = filter,
    .xNext = clr_bound_next,
    .xEof = clr_bound_eof,
    .xColumn = column,
    .xRowid = clr_bound_rowid,
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
