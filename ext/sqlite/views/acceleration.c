#include "sqlite/views/acceleration.h"

#include "base/float_environment.h"
#include "base/utf8.h"
#include "sqlite/views/acceleration_private.h"
#include "sqlite/views/finish.h"
#include "sqlite/views/probes.h"

#include <stdarg.h>
#include <string.h>

/* INTEGERs beyond 2^53 may be converted when SQLite compares by way of an index; clr_query_bind()
   sees to it that no sum of two parameters gets there. */
#define SAFE_CONSTANT ((int64_t)1 << 52)

int clr_acceleration_by_rows(struct clr_acceleration *acceleration, const char *format, ...)
{
    static const char head[] = "row by row: ";
    va_list arguments;

    memcpy(acceleration->verdict, head, sizeof head);
    va_start(arguments, format);
    sqlite3_vsnprintf((int)(CLR_PLAN_TEXT - (sizeof head - 1)),
                      acceleration->verdict + sizeof head - 1, format, arguments);
    va_end(arguments);
    clr_utf8_repair(acceleration->verdict);
    return SQLITE_OK;
}

/* Plans at once: then the plan can be asked for before the first query. */
struct clr_acceleration *clr_acceleration_new(struct clr_connection *connection,
                                              const struct clr_select *select)
{
    struct clr_acceleration *acceleration = sqlite3_malloc(sizeof *acceleration);

    if (acceleration == NULL)
        return NULL;
    memset(acceleration, 0, sizeof *acceleration);
    acceleration->connection = connection;
    acceleration->interruption.db = connection->db;
    acceleration->select = select;
    if (clr_acceleration_plan(acceleration) == SQLITE_OK)
        return acceleration;
    clr_acceleration_free(acceleration);
    return NULL;
}

void clr_acceleration_free(struct clr_acceleration *acceleration)
{
    if (acceleration == NULL)
        return;
    clr_acceleration_drop_plan(acceleration);
    clr_interruption_end(&acceleration->interruption);
    sqlite3_free(acceleration);
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
            clr_acceleration_by_rows(acceleration,
                                     "parameter %d is no number, or an INTEGER beyond 2^52",
                                     query->parameters[i]);
            return false;
        }
    }
    return true;
}

/* Sets up the scan's questions. SQLITE_ROW: it has what they need. */
static int take_questions(struct clr_acceleration *acceleration)
{
    struct clr_status status;

    clr_status_clear(&status);
    switch (clr_query_ask(acceleration->query, &status)) {
    case CLR_OK:
        return SQLITE_ROW;
    case CLR_NOMEM:
        return SQLITE_NOMEM;
    default:
        return clr_acceleration_by_rows(acceleration, "%s", status.message);
    }
}

/* Prepares the statement whose row is the result, as clr_select_prepare() does the SELECT. */
static int prepare_answer(const struct clr_acceleration *acceleration, sqlite3_stmt **answer)
{
    const struct clr_float_environment before = clr_float_environment_begin();
    int rc = sqlite3_prepare_v2(acceleration->connection->db, acceleration->query->finish, -1,
                                answer, NULL);

    clr_float_environment_end(&before);
    return rc;
}

/* Makes that statement. */
static int make_answer(struct clr_acceleration *acceleration, sqlite3_value *const *parameters,
                       sqlite3_stmt **answer)
{
    struct clr_query *query = acceleration->query;
    const int given = acceleration->select->parameter_count;
    int rc, i, count;

    rc = prepare_answer(acceleration, answer);
    if (rc != SQLITE_OK)
        return clr_acceleration_by_rows(acceleration, "%s",
                                        sqlite3_errmsg(acceleration->connection->db));
    count = sqlite3_bind_parameter_count(*answer);
    for (i = 0; i < given && i < count && rc == SQLITE_OK; i++) {
        if (parameters[i] != NULL)
            rc = sqlite3_bind_value(*answer, i + 1, parameters[i]);
    }
    for (i = 0; i < query->call_count && rc == SQLITE_OK; i++)
        rc = clr_finish_call(query, &query->calls[i], *answer, given + 1 + i);
    if (rc == SQLITE_OK && clr_probes_pass(*answer, acceleration->select->column_count))
        return SQLITE_ROW;
    sqlite3_finalize(*answer);
    *answer = NULL;
    if (rc == SQLITE_OK)
        return clr_acceleration_by_rows(acceleration,
                                        "a function is replaced, or the row an error");
    if (rc == SQLITE_MISMATCH)
        return clr_acceleration_by_rows(acceleration,
                                        "SQLite's own aggregate may round, or fail, otherwise");
    return rc == SQLITE_NOMEM
               ? rc
               : clr_acceleration_by_rows(acceleration, "the result could not be bound");
}

int clr_acceleration_check_rows(struct clr_acceleration *acceleration, size_t rows)
{
    const int64_t threshold = acceleration->connection->settings.view_threshold;

    /* Without rows SQLite still evaluates what is constant, and may find an error in it. */
    if (rows == 0)
        return clr_acceleration_by_rows(acceleration, "the table is empty");
    if ((int64_t)rows >= threshold)
        return SQLITE_ROW;
    acceleration->runs_by_rows = CLR_RUNS_BY_ROWS;
    return clr_acceleration_by_rows(acceleration,
                                    "the table has %lld rows, and view_threshold is %lld",
                                    (long long)rows, (long long)threshold);
}

/* Returns as clr_acceleration_load(), or as clr_acceleration_scan() if *scanned. */
static int load_and_scan(struct clr_acceleration *acceleration, struct clr_snapshot *snapshot,
                         struct clr_image *image, const char *why, bool *scanned)
{
    int rc = clr_acceleration_load(acceleration, snapshot, image, why);

    if (rc == SQLITE_ROW)
        rc = clr_acceleration_check_rows(acceleration, image->layout.rows);
    *scanned = rc == SQLITE_ROW;
    return *scanned ? clr_acceleration_scan(acceleration, image) : rc;
}

/* As run_pages(), with the snapshot. */
static int use_snapshot(struct clr_acceleration *acceleration, struct clr_snapshot *snapshot)
{
    struct clr_connection *connection = acceleration->connection;
    const int64_t before = connection->stats.bytes_decoded;
    struct clr_image *image;
    bool stale, scanned;
    int rc;

    rc = clr_acceleration_check_names(acceleration);
    if (rc != SQLITE_ROW)
        return rc;
    image = clr_image_get(connection, acceleration->database, acceleration->table.name, false,
                          acceleration->table.root, &snapshot->token, &stale);
    if (image == NULL)
        return SQLITE_NOMEM;
    clr_image_drop_away(image, true);
    rc = clr_acceleration_refresh(acceleration, snapshot, image, stale);
    if (rc != SQLITE_OK)
        return rc;
    rc = load_and_scan(acceleration, snapshot, image,
                       stale ? "the database has changed" : "the columns were not resident",
                       &scanned);
    if (rc == SQLITE_IOERR) {
        clr_image_drop_away(image, false);
        rc = load_and_scan(acceleration, snapshot, image, "the device has lost the columns",
                           &scanned);
    }
    if (rc == SQLITE_TOOBIG)
        return clr_acceleration_stream(acceleration, snapshot, image, before);
    if (rc == SQLITE_IOERR)
        return clr_acceleration_by_rows(acceleration, "the device has lost the columns");
    if (scanned)
        return rc;
    /* What was loaded in vain is older than any scan. */
    clr_images_scan(connection);
    clr_acceleration_trim(connection, clr_acceleration_budget(connection));
    return rc;
}

/* As run_plan(), or SQLITE_NOTFOUND with static text if there are no pages that can be read. */
static int run_pages(struct clr_acceleration *acceleration, const char **reason)
{
    struct clr_snapshot snapshot;
    int rc = clr_snapshot_begin(acceleration->database, &snapshot, reason);

    acceleration->by_rows = false;
    if (rc == SQLITE_ERROR)
        rc = clr_acceleration_by_rows(acceleration, "%s", *reason);
    else if (rc == SQLITE_OK)
        rc = use_snapshot(acceleration, &snapshot);
    if (acceleration->no_pages != NULL)
        *reason = acceleration->no_pages;
    clr_snapshot_end(acceleration->database, &snapshot);
    return rc;
}

/* SQLITE_ROW: the tallies are complete. SQLITE_SCHEMA: the plan is of an older schema. */
static int run_plan(struct clr_acceleration *acceleration)
{
    const char *reason = acceleration->no_pages;
    int rc = SQLITE_NOTFOUND;

    if (reason == NULL)
        rc = run_pages(acceleration, &reason);
    if (rc == SQLITE_NOTFOUND)
        rc = clr_acceleration_run_rows(acceleration, reason);
    /* It could not even be read: it may be gone, as may be what the names meant. */
    if (acceleration->generation != acceleration->database->generation && rc == SQLITE_OK)
        acceleration->outdated = true;
    return rc;
}

/* Whether SQLite computes nothing in the SELECT but the result row, or if it does so in the default
   floating-point environment, as scans do. */
static bool suits_environment(struct clr_acceleration *acceleration,
                              const struct clr_float_environment *environment)
{
    bool computes = clr_query_computes(acceleration->query);
    int i;

    if (clr_float_environment_is_default(environment))
        return true;
    for (i = 0; i < acceleration->query->column_count; i++)
        computes = computes || !clr_acceleration_column(acceleration, i)->readable;
    if (computes)
        clr_acceleration_by_rows(acceleration, "it computes, and the thread's floating-point "
                                               "environment (rounding mode, flushing of subnormal "
                                               "numbers, traps) is not the default one");
    return !computes;
}

/* SQLITE_ROW: the tallies are complete; SQLITE_OK if SQLite has to run the SELECT. environment: in
   which it would. */
static int run_tallies(struct clr_acceleration *acceleration, sqlite3_value *const *parameters,
                       const struct clr_float_environment *environment)
{
    int rc = SQLITE_SCHEMA, i;

    acceleration->reading[0] = '\0';
    if (acceleration->settings_changes != acceleration->connection->settings_changes &&
        acceleration->query != NULL)
        acceleration->runs_by_rows = acceleration->streams = 0;
    acceleration->settings_changes = acceleration->connection->settings_changes;
    for (i = 0; i < 3 && rc == SQLITE_SCHEMA; i++) {
        if ((!acceleration->planned || acceleration->outdated || i > 0) &&
            clr_acceleration_plan(acceleration) != SQLITE_OK)
            return SQLITE_NOMEM;
        if (acceleration->runs_by_rows > 0) {
            acceleration->runs_by_rows--;
            acceleration->planned = acceleration->query != NULL || acceleration->runs_by_rows > 0;
            rc = SQLITE_OK;
        } else if (!suits_environment(acceleration, environment) ||
                   !take_constants(acceleration, parameters)) {
            rc = SQLITE_OK;
        } else {
            rc = take_questions(acceleration);
            if (rc == SQLITE_ROW)
                rc = run_plan(acceleration);
        }
    }
    if (rc == SQLITE_SCHEMA)
        rc = clr_acceleration_by_rows(acceleration, "the schema is changing");
    return rc;
}

int clr_acceleration_run(struct clr_acceleration *acceleration, sqlite3_value *const *parameters,
                         sqlite3_stmt **answer)
{
    const struct clr_float_environment before = clr_float_environment_begin();
    int rc = run_tallies(acceleration, parameters, &before);

    clr_float_environment_end(&before);
    if (rc == SQLITE_ROW)
        rc = make_answer(acceleration, parameters, answer);
    if (rc == SQLITE_OK)
        acceleration->connection->stats.selects_by_rows++;
    return rc;
}
