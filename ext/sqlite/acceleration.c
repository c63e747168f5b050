#include "sqlite/acceleration.h"

#include "engine/host_scan.h"
#include "engine/runtime.h"
#include "query/query.h"
#include "sqlite/finish.h"
#include "sqlite/image.h"
#include "sqlite/snapshot.h"
#include "sqlite/table_info.h"

#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

/* How often a SELECT is run row by row, for its table is small or cannot be read, before that is
   looked at again. */
enum { RUNS_BY_ROWS = 256, TEXT_SIZE = 512 };

/* A device costs a hand-over and launches: so many times host_threshold rows are worth that. */
enum { DEVICE_FACTOR = 64 };

/* INTEGERs beyond 2^53 may be converted when SQLite compares by way of an index; clr_query_bind()
   sees to it that no sum of two parameters gets there. */
#define SAFE_CONSTANT ((int64_t)1 << 52)

struct clr_acceleration {
    struct clr_connection *connection;
    const struct clr_select *select;

    /* The plan; query is NULL where there is none, and verdict says why. */
    bool planned;
    struct clr_query *query;
    struct clr_table_info table;
    struct clr_database *database;
    int generation; /* of the database, when the plan was made */

    sqlite3_stmt *poll;   /* a short statement: it ends with SQLITE_INTERRUPT if it has to */
    int settings_changes; /* of the connection, at the last run */
    int runs_by_rows;     /* how often SQLite shall still run it without another look */

    /* For the user: what happened the last time. */
    char verdict[TEXT_SIZE], reading[TEXT_SIZE], line[TEXT_SIZE];
};

static void drop_plan(struct clr_acceleration *acceleration)
{
    clr_query_free(acceleration->query);
    acceleration->query = NULL;
    clr_table_info_free(&acceleration->table);
    acceleration->database = NULL;
    acceleration->planned = false;
    acceleration->runs_by_rows = 0;
}

void clr_acceleration_free(struct clr_acceleration *acceleration)
{
    if (acceleration == NULL)
        return;
    drop_plan(acceleration);
    sqlite3_finalize(acceleration->poll);
    sqlite3_free(acceleration);
}

/* Says why SQLite has to run the SELECT; returns the code for that. */
static int by_rows(struct clr_acceleration *acceleration, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static int by_rows(struct clr_acceleration *acceleration, const char *format, ...)
{
    static const char head[] = "row by row: ";
    va_list arguments;

    memcpy(acceleration->verdict, head, sizeof head);
    va_start(arguments, format);
    sqlite3_vsnprintf((int)(TEXT_SIZE - (sizeof head - 1)), acceleration->verdict + sizeof head - 1,
                      format, arguments);
    va_end(arguments);
    return SQLITE_OK;
}

/* ---- The plan. */

/* What clr_query_bind() asks, all in one. */
struct environment {
    sqlite3 *db;
    sqlite3_stmt *statement; /* the SELECT, for its parameters */
    const struct clr_table_info *table;
};

static struct clr_known_column environment_column(void *context, const char *name)
{
    const struct clr_table_info *table = ((const struct environment *)context)->table;
    struct clr_known_column known = {.number = clr_table_info_find(table, name)};

    if (known.number >= 0) {
        known.is_text = table->columns[known.number].is_text;
        known.readable = table->columns[known.number].readable;
    }
    return known;
}

static int environment_parameter(void *context, const char *name)
{
    const struct environment *environment = context;
    return sqlite3_bind_parameter_index(environment->statement, name);
}

static bool environment_literal(void *context, const char *text, struct clr_scalar *value)
{
    const struct environment *environment = context;
    return clr_literal_read(environment->db, text, value);
}

/* Whether the application has functions of its own in place of some that a scan computes. */
static bool has_overrides(struct clr_connection *connection)
{
    static const char *const names[] = {"abs", "avg", "coalesce", "count", "ifnull",
                                        "max", "min", "sum",      "total"};
    sqlite3_stmt *list = NULL;
    bool found = connection->replaced;
    size_t i;

    if (sqlite3_prepare_v2(connection->db, "PRAGMA function_list", -1, &list, NULL) != SQLITE_OK)
        return true;
    while (!found && sqlite3_step(list) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(list, 0);
        for (i = 0; i < sizeof names / sizeof names[0] && name != NULL; i++)
            found = found || (sqlite3_column_int(list, 1) == 0 && strcmp(name, names[i]) == 0);
    }
    return sqlite3_finalize(list) != SQLITE_OK || found;
}

static int bind_query(struct clr_acceleration *acceleration, struct clr_query *query,
                      struct clr_status *status)
{
    struct environment environment = {acceleration->connection->db, NULL, &acceleration->table};
    struct clr_environment asked = {&environment, acceleration->select->parameter_count,
                                    environment_column, environment_parameter, environment_literal};
    int rc = clr_select_prepare(environment.db, acceleration->select, &environment.statement);

    if (rc != SQLITE_OK)
        return rc;
    rc = clr_query_bind(query, &asked, status) == CLR_OK ? SQLITE_OK : SQLITE_ERROR;
    sqlite3_finalize(environment.statement);
    return rc;
}

/* Looks up all that a parsed query needs to be planned. SQLITE_OK: query is the plan, or verdict
   says why there is none. */
static int bind_plan(struct clr_acceleration *acceleration, struct clr_query *query)
{
    sqlite3 *db = acceleration->connection->db;
    struct clr_status status;
    const char *reason;
    int rc = clr_table_info_read(db, query->schema, query->table, &acceleration->table, &reason);

    clr_status_clear(&status);
    if (rc != SQLITE_OK)
        return rc == SQLITE_NOMEM ? rc : by_rows(acceleration, "%s", reason);
    rc = bind_query(acceleration, query, &status);
    if (rc != SQLITE_OK)
        return status.code == CLR_NOMEM
                   ? SQLITE_NOMEM
                   : by_rows(acceleration, "%s",
                             status.code == CLR_OK ? sqlite3_errmsg(db) : status.message);
    if (has_overrides(acceleration->connection))
        return by_rows(acceleration,
                       "a function of SQLite or clreduce is replaced by the application's");
    acceleration->database = clr_database_get(acceleration->connection, acceleration->table.schema);
    if (acceleration->database == NULL)
        return by_rows(acceleration, "the database's schema could not be read");
    acceleration->generation = acceleration->database->generation;
    acceleration->query = query;
    acceleration->runs_by_rows = 0;
    sqlite3_snprintf(TEXT_SIZE, acceleration->verdict, "accelerated: not run yet");
    return SQLITE_OK;
}

/*
 * Leaves query NULL, and the reason in verdict, if there is no way but rows. SQLITE_NOMEM: nothing
 * is known yet. Within a statement SQLite has no memory from then on until that statement ends, and
 * must be told so: of a view that is created all the same it would lose track.
 */
static int make_plan(struct clr_acceleration *acceleration)
{
    struct clr_query *query = NULL;
    struct clr_status status;
    enum clr_code code;
    int rc;

    drop_plan(acceleration);
    clr_status_clear(&status);
    code = clr_query_parse(acceleration->select->sql, &query, &status);
    if (code == CLR_OK) {
        acceleration->runs_by_rows = RUNS_BY_ROWS;
        rc = bind_plan(acceleration, query);
    } else {
        acceleration->runs_by_rows = INT_MAX; /* the text will not change */
        rc = code == CLR_NOMEM ? SQLITE_NOMEM : by_rows(acceleration, "%s", status.message);
    }
    if (acceleration->query == NULL)
        clr_query_free(query);
    if (rc != SQLITE_NOMEM && sqlite3_errcode(acceleration->connection->db) != SQLITE_NOMEM) {
        acceleration->planned = true;
        return SQLITE_OK;
    }
    drop_plan(acceleration);
    by_rows(acceleration, "out of memory");
    return SQLITE_NOMEM;
}

/* Plans at once: as a rule no transaction is open yet, and a log that is opened now serves the
   first query. */
struct clr_acceleration *clr_acceleration_new(struct clr_connection *connection,
                                              const struct clr_select *select)
{
    struct clr_acceleration *acceleration = sqlite3_malloc(sizeof *acceleration);

    if (acceleration == NULL)
        return NULL;
    memset(acceleration, 0, sizeof *acceleration);
    acceleration->connection = connection;
    acceleration->select = select;
    if (make_plan(acceleration) == SQLITE_OK)
        return acceleration;
    clr_acceleration_free(acceleration);
    return NULL;
}

/* ---- The run. */

static bool wants_stop(void *context)
{
    static const char text[] = "WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c "
                               "WHERE i < 100) SELECT max(i) FROM c";
    struct clr_acceleration *acceleration = context;
    int rc;

    if (acceleration->poll == NULL &&
        sqlite3_prepare_v3(acceleration->connection->db, text, -1, SQLITE_PREPARE_PERSISTENT,
                           &acceleration->poll, NULL) != SQLITE_OK)
        return false;
    rc = sqlite3_step(acceleration->poll);
    sqlite3_reset(acceleration->poll);
    return rc == SQLITE_INTERRUPT;
}

/* Sets the scan's constants. Returns whether all are ones that it can use. */
static bool take_constants(struct clr_acceleration *acceleration, sqlite3_value *const *parameters)
{
    struct clr_query *query = acceleration->query;
    int i;

    for (i = 0; i < query->constant_count; i++) {
        struct clr_scalar *constant = &query->constants[i];
        sqlite3_value *value;
        if (query->parameters[i] == 0)
            continue;
        value = parameters[query->parameters[i] - 1];
        *constant = (struct clr_scalar){CLR_TAG_NULL, 0};
        if (value != NULL)
            *constant = clr_scalar_of(value);
        if (constant->tag == CLR_TAG_OTHER ||
            (constant->tag == CLR_TAG_INTEGER &&
             (constant->bits > SAFE_CONSTANT || constant->bits < -SAFE_CONSTANT))) {
            by_rows(acceleration, "parameter %d is no number, or an INTEGER beyond 2^52",
                    query->parameters[i]);
            return false;
        }
    }
    return true;
}

/* A quarter of the memory, or what the setting says. */
static int64_t host_budget(const struct clr_connection *connection)
{
    if (connection->settings.column_memory > 0)
        return connection->settings.column_memory;
    return (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGE_SIZE) / 4;
}

static int64_t device_budget(const struct clr_connection *connection,
                             const struct clr_device_info *info)
{
    if (connection->settings.column_memory > 0)
        return connection->settings.column_memory;
    return (int64_t)(info->memory / 4);
}

static const struct clr_column_info *info_of(const struct clr_acceleration *acceleration, int i)
{
    return &acceleration->table.columns[acceleration->query->columns[i]];
}

static int too_large(struct clr_acceleration *acceleration)
{
    acceleration->runs_by_rows = RUNS_BY_ROWS;
    return by_rows(acceleration, "the columns take more than column_memory");
}

/* Loads the columns that the image lacks. Returns SQLITE_ROW if it then has all. */
static int load(struct clr_acceleration *acceleration, const struct clr_snapshot *snapshot,
                struct clr_image *image, const char *why)
{
    const struct clr_query *query = acceleration->query;
    struct clr_stats *stats = &acceleration->connection->stats;
    struct clr_field fields[CLR_MOST_COLUMNS];
    struct clr_column *columns[CLR_MOST_COLUMNS];
    struct clr_watch watch = {wants_stop, acceleration};
    struct clr_load_report report = {0, 0};
    struct clr_status status;
    const char *names[CLR_MOST_COLUMNS];
    int i, count = 0, rc = SQLITE_ROW;

    for (i = 0; i < query->column_count; i++) {
        const struct clr_column_info *info = info_of(acceleration, i);
        if (clr_image_find(image, &info->field) != NULL)
            continue;
        names[count] = info->name;
        fields[count++] = info->field;
    }
    if (count == 0 && image->layout.known) {
        sqlite3_snprintf(TEXT_SIZE, acceleration->reading, "0 bytes: all columns are resident");
        return SQLITE_ROW;
    }
    clr_status_clear(&status);
    /* Nine bytes: a value and, maybe, a tag. */
    image->layout.most_rows =
        (size_t)(host_budget(acceleration->connection) / (9 * (query->column_count + 1)));
    if (image->layout.known && image->layout.rows > image->layout.most_rows)
        return too_large(acceleration);
    switch (clr_load(&snapshot->source, image->root, fields, count, &image->layout, columns, &watch,
                     &report, &status)) {
    case CLR_LOAD_DONE:
        break;
    case CLR_LOAD_STOPPED:
        return SQLITE_INTERRUPT;
    case CLR_LOAD_MALFORMED:
        stats->malformed_page = report.page;
        return by_rows(acceleration, "page %u of the database is malformed", report.page);
    case CLR_LOAD_TOO_LARGE:
        return too_large(acceleration);
    case CLR_LOAD_UNSUPPORTED:
        acceleration->runs_by_rows = RUNS_BY_ROWS;
        return by_rows(acceleration, "the table is WITHOUT ROWID, or has rows that were written "
                                     "before a column whose default is no number");
    default:
        return by_rows(acceleration, "%s", status.message);
    }
    stats->bytes_decoded += report.bytes_read;
    sqlite3_snprintf(TEXT_SIZE, acceleration->reading, "%lld bytes: %s",
                     (long long)report.bytes_read, why);
    for (i = 0; i < count; i++) {
        if (clr_image_add(image, names[i], &fields[i], columns[i]) == NULL)
            rc = SQLITE_NOMEM;
    }
    return rc;
}

/*
 * Returns the worker of a device that is worth asking, with the device's description; NULL: the
 * host. A device that is the processor itself is no quicker than the host's threads, and asked only
 * if the setting says so.
 */
static struct clr_worker *find_device(struct clr_connection *connection, size_t rows,
                                      const struct clr_device_info **info)
{
    const struct clr_settings *settings = &connection->settings;
    const struct clr_catalog *catalog;
    struct clr_worker *worker;
    bool automatic = strcmp(settings->device, "auto") == 0;
    int chosen;

    if (strcmp(settings->device, "host") == 0 || clr_runtime_forked() ||
        (int64_t)rows / DEVICE_FACTOR < settings->host_threshold ||
        (automatic && !clr_runtime_started() && (int64_t)rows < settings->start_after) ||
        clr_runtime_worker(settings->device, &worker) != CLR_AVAILABLE)
        return NULL;
    catalog = clr_runtime_known_catalog();
    chosen = catalog == NULL ? -1 : clr_catalog_choose(catalog, settings->device);
    if (chosen < 0)
        return NULL;
    *info = &catalog->devices[chosen];
    return automatic && (*info)->type == CLR_DEVICE_CPU ? NULL : worker;
}

/* Whether the columns all have copies on the device; starts those that are missing. */
static bool are_resident(struct clr_image_column *const *columns, int count,
                         struct clr_worker *worker, struct clr_resident **residents)
{
    bool ready = true;
    int i;

    for (i = 0; i < count; i++) {
        struct clr_image_column *column = columns[i];
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
                                            struct clr_image_column *const *columns)
{
    struct clr_connection *connection = acceleration->connection;
    struct clr_resident *residents[CLR_MOST_COLUMNS];
    struct clr_device_work work = {0, 0, 0, 0, 0};
    const struct clr_device_info *info;
    struct clr_worker *worker = find_device(connection, scan->rows, &info);
    enum clr_scan_outcome outcome;
    struct clr_status status;

    if (worker == NULL || !are_resident(columns, scan->column_count, worker, residents))
        return CLR_SCAN_NOT_NOW;
    clr_images_trim(connection, INT64_MAX, device_budget(connection, info));
    clr_status_clear(&status);
    outcome = clr_resident_scan(worker, scan, residents, connection->settings.device_timeout, &work,
                                &status);
    if (outcome == CLR_SCAN_DONE) {
        connection->stats.kernels_launched += work.kernels;
        connection->stats.passes += work.passes;
        connection->stats.kernel_time += work.kernel_time;
        connection->stats.scans_on_device++;
        sqlite3_snprintf(TEXT_SIZE, acceleration->verdict, "accelerated: device %s", info->name);
    } else if (outcome == CLR_SCAN_FAILED) {
        connection->stats.device_errors++;
        connection->stats.last_error = status;
    }
    return outcome;
}

static int scan(struct clr_acceleration *acceleration, struct clr_image *image)
{
    struct clr_query *query = acceleration->query;
    struct clr_watch watch = {wants_stop, acceleration};
    struct clr_image_column *found[CLR_MOST_COLUMNS];
    struct clr_column *columns[CLR_MOST_COLUMNS];
    struct clr_scan scan = {
        .instruction_count = query->instruction_count,
        .constant_count = query->constant_count,
        .column_count = query->column_count,
        .tally_count = query->tally_count,
        .filter = query->filter,
        .instructions = query->instructions,
        .constants = query->constants,
        .columns = columns,
        .rows = image->layout.rows,
        .tallies = query->tallies,
    };
    enum clr_scan_outcome outcome;
    int i;

    acceleration->connection->scans++;
    for (i = 0; i < query->column_count; i++) {
        found[i] = clr_image_find(image, &info_of(acceleration, i)->field);
        columns[i] = found[i]->column;
        found[i]->hits++;
        found[i]->used = acceleration->connection->scans;
    }
    outcome = scan_on_device(acceleration, &scan, found);
    if (outcome == CLR_SCAN_NOT_NOW || outcome == CLR_SCAN_FAILED) {
        outcome = clr_host_scan(&scan, &watch);
        if (outcome == CLR_SCAN_DONE) {
            acceleration->connection->stats.scans_on_host++;
            sqlite3_snprintf(TEXT_SIZE, acceleration->verdict, "accelerated: host");
        }
    }
    clr_images_trim(acceleration->connection, host_budget(acceleration->connection), INT64_MAX);
    switch (outcome) {
    case CLR_SCAN_DONE:
        return SQLITE_ROW;
    case CLR_SCAN_STOPPED:
        return SQLITE_INTERRUPT;
    case CLR_SCAN_UNSURE:
        return by_rows(acceleration, "an expression met TEXT, a BLOB or an error");
    default:
        return by_rows(acceleration, "there was no memory for the scan");
    }
}

/* Makes the statement whose row is the result. */
static int make_answer(struct clr_acceleration *acceleration, sqlite3_value *const *parameters,
                       sqlite3_stmt **answer)
{
    struct clr_query *query = acceleration->query;
    const int given = acceleration->select->parameter_count;
    int rc, i, count;

    rc = sqlite3_prepare_v2(acceleration->connection->db, query->finish, -1, answer, NULL);
    if (rc != SQLITE_OK)
        return by_rows(acceleration, "%s", sqlite3_errmsg(acceleration->connection->db));
    count = sqlite3_bind_parameter_count(*answer);
    for (i = 0; i < given && i < count && rc == SQLITE_OK; i++) {
        if (parameters[i] != NULL)
            rc = sqlite3_bind_value(*answer, i + 1, parameters[i]);
    }
    for (i = 0; i < query->call_count && rc == SQLITE_OK; i++)
        rc = clr_finish_call(&query->calls[i], &query->tallies[query->calls[i].tally].state,
                             *answer, given + 1 + i);
    if (rc == SQLITE_OK)
        return SQLITE_ROW;
    sqlite3_finalize(*answer);
    *answer = NULL;
    if (rc == SQLITE_MISMATCH)
        return by_rows(acceleration, "SQLite's own aggregate may round, or fail, otherwise");
    return rc == SQLITE_NOMEM ? rc : by_rows(acceleration, "the result could not be bound");
}

/* SQLITE_ROW: the image has all columns, and its table is worth a scan. */
static int prepare_image(struct clr_acceleration *acceleration, const struct clr_snapshot *snapshot,
                         struct clr_image *image, const char *why)
{
    const int64_t threshold = acceleration->connection->settings.view_threshold;
    int rc = load(acceleration, snapshot, image, why);

    if (rc != SQLITE_ROW || (int64_t)image->layout.rows >= threshold)
        return rc;
    acceleration->runs_by_rows = RUNS_BY_ROWS;
    return by_rows(acceleration, "the table has %lld rows, and view_threshold is %lld",
                   (long long)image->layout.rows, (long long)threshold);
}

/* SQLITE_ROW: the tallies are complete. SQLITE_SCHEMA: the plan is of an older schema. */
static int use_snapshot(struct clr_acceleration *acceleration, const struct clr_snapshot *snapshot)
{
    struct clr_connection *connection = acceleration->connection;
    struct clr_image *image;
    bool stale;
    int rc;

    if (acceleration->generation != acceleration->database->generation)
        return SQLITE_SCHEMA;
    image = clr_image_get(connection, acceleration->database, acceleration->table.name,
                          acceleration->table.root, &snapshot->token, &stale);
    if (image == NULL)
        return SQLITE_NOMEM;
    rc = prepare_image(acceleration, snapshot, image,
                       stale ? "the database has changed" : "the columns were not resident");
    if (rc == SQLITE_ROW)
        return scan(acceleration, image);
    /* What was loaded in vain is older than any scan. */
    connection->scans++;
    clr_images_trim(connection, host_budget(connection), INT64_MAX);
    return rc;
}

static int run_plan(struct clr_acceleration *acceleration)
{
    struct clr_snapshot snapshot;
    const char *reason;
    int rc;

    rc = clr_snapshot_begin(acceleration->database, &snapshot, &reason);
    if (rc == SQLITE_ERROR)
        rc = by_rows(acceleration, "%s", reason);
    else if (rc == SQLITE_OK)
        rc = use_snapshot(acceleration, &snapshot);
    clr_snapshot_end(acceleration->database, &snapshot);
    return rc;
}

int clr_acceleration_run(struct clr_acceleration *acceleration, sqlite3_value *const *parameters,
                         sqlite3_stmt **answer)
{
    int rc = SQLITE_SCHEMA, i;

    acceleration->reading[0] = '\0';
    if (acceleration->settings_changes != acceleration->connection->settings_changes &&
        acceleration->query != NULL)
        acceleration->runs_by_rows = 0;
    acceleration->settings_changes = acceleration->connection->settings_changes;
    for (i = 0; i < 3 && rc == SQLITE_SCHEMA; i++) {
        if ((!acceleration->planned || i > 0) && make_plan(acceleration) != SQLITE_OK)
            return SQLITE_NOMEM;
        if (acceleration->runs_by_rows > 0) {
            acceleration->runs_by_rows--;
            acceleration->planned = acceleration->query != NULL || acceleration->runs_by_rows > 0;
            rc = SQLITE_OK;
        } else if (!take_constants(acceleration, parameters)) {
            rc = SQLITE_OK;
        } else {
            rc = run_plan(acceleration);
        }
    }
    if (rc == SQLITE_SCHEMA)
        rc = by_rows(acceleration, "the schema is changing");
    if (rc == SQLITE_ROW)
        rc = make_answer(acceleration, parameters, answer);
    if (rc == SQLITE_OK)
        acceleration->connection->stats.selects_by_rows++;
    return rc;
}

/* ---- What a user sees of it. */

static const char *type_name(const struct clr_column *column)
{
    static const char *const names[] = {"NULL", "INTEGER", "REAL", "TEXT or BLOB"};
    return column->kind == CLR_TAG_MIXED ? "of several types" : names[column->kind];
}

static const struct clr_image *find_image(const struct clr_acceleration *acceleration)
{
    const struct clr_image *image = acceleration->connection->images;

    while (image != NULL && (sqlite3_stricmp(image->schema, acceleration->table.schema) != 0 ||
                             sqlite3_stricmp(image->table, acceleration->table.name) != 0))
        image = image->next;
    return image;
}

static void describe_column(struct clr_acceleration *acceleration, int i)
{
    const struct clr_column_info *info = info_of(acceleration, i);
    struct clr_image *image = (struct clr_image *)(uintptr_t)find_image(acceleration);
    struct clr_image_column *column = image == NULL ? NULL : clr_image_find(image, &info->field);

    if (column == NULL)
        sqlite3_snprintf(TEXT_SIZE, acceleration->line, "column %s: not resident", info->name);
    else
        sqlite3_snprintf(TEXT_SIZE, acceleration->line, "column %s: %s, %lld bytes%s", info->name,
                         type_name(column->column), (long long)clr_column_size(column->column),
                         column->resident != NULL &&
                                 clr_resident_state(column->resident) == CLR_RESIDENT_READY
                             ? ", also on the device"
                             : "");
}

const char *clr_acceleration_explain(struct clr_acceleration *acceleration, int i)
{
    const struct clr_image *image;
    int columns;

    if (!acceleration->planned)
        make_plan(acceleration);
    if (i == 0)
        return acceleration->verdict;
    if (acceleration->query == NULL)
        return NULL;
    columns = acceleration->query->column_count;
    if (i == 1) {
        image = find_image(acceleration);
        sqlite3_snprintf(TEXT_SIZE, acceleration->line, "table %s.%s, %lld rows when last read",
                         acceleration->table.schema, acceleration->table.name,
                         image == NULL ? 0LL : (long long)image->layout.rows);
    } else if (i < 2 + columns) {
        describe_column(acceleration, i - 2);
    } else if (i == 2 + columns) {
        sqlite3_snprintf(TEXT_SIZE, acceleration->line, "read the last time: %s",
                         acceleration->reading[0] == '\0' ? "nothing" : acceleration->reading);
    } else {
        return NULL;
    }
    return acceleration->line;
}
