#include "base/float_environment.h"
#include "sqlite/views/acceleration_private.h"
#include "sqlite/views/probes.h"

#include <limits.h>
#include <string.h>

void clr_acceleration_drop_plan(struct clr_acceleration *acceleration)
{
    clr_query_free(acceleration->query);
    acceleration->query = NULL;
    clr_table_info_free(&acceleration->table);
    sqlite3_free(acceleration->named);
    acceleration->named = NULL;
    acceleration->named_count = 0;
    acceleration->database = NULL;
    acceleration->no_pages = NULL;
    acceleration->by_rows = false;
    acceleration->planned = acceleration->outdated = false;
    acceleration->runs_by_rows = acceleration->streams = 0;
}

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
        known.readable = (table->columns[known.number].readable && !table->without_rowid) ||
                         table->columns[known.number].loadable;
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

/* Finds out whether TEXT is in UTF-8, which the functions that take bytes compare. What is not
   known is not. Returns SQLITE_OK or SQLITE_NOMEM. */
static int find_encoding(sqlite3 *db, bool *is_utf8)
{
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(db, "PRAGMA encoding", -1, &statement, NULL);

    *is_utf8 = false;
    if (rc == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, 0);
        *is_utf8 = name != NULL && strcmp(name, "UTF-8") == 0;
    }
    if (rc == SQLITE_OK)
        rc = sqlite3_finalize(statement);
    return rc == SQLITE_NOMEM ? rc : SQLITE_OK;
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
    struct clr_environment asked = {&environment,
                                    acceleration->select->parameter_count,
                                    false,
                                    environment_column,
                                    environment_parameter,
                                    environment_literal};
    int rc = find_encoding(environment.db, &asked.is_utf8);

    if (rc == SQLITE_OK)
        rc = clr_select_prepare(environment.db, acceleration->select, &environment.statement);
    if (rc != SQLITE_OK)
        return rc;
    rc = clr_query_bind(query, &asked, status) == CLR_OK ? SQLITE_OK : SQLITE_ERROR;
    sqlite3_finalize(environment.statement);
    return rc;
}

/* Returns why the query's columns can't be decoded from pages, or NULL. */
static const char *find_no_pages(const struct clr_query *query, const struct clr_table_info *table)
{
    int i;

    if (table->without_rowid)
        return "the table is WITHOUT ROWID";
    for (i = 0; i < query->column_count; i++) {
        if (!table->columns[query->columns[i]].readable)
            return "it needs a virtual generated column";
    }
    return NULL;
}

/* With the table. SQLITE_OK: query is the plan, or verdict says why there is none. */
static int bind_table(struct clr_acceleration *acceleration, struct clr_query *query)
{
    struct clr_status status;
    int rc;

    clr_status_clear(&status);
    rc = bind_query(acceleration, query, &status);
    if (rc != SQLITE_OK)
        return status.code == CLR_NOMEM
                   ? SQLITE_NOMEM
                   : clr_acceleration_by_rows(acceleration, "%s",
                                              status.code == CLR_OK
                                                  ? sqlite3_errmsg(acceleration->connection->db)
                                                  : status.message);
    if (has_overrides(acceleration->connection))
        return clr_acceleration_by_rows(
            acceleration, "a function of SQLite or clreduce is replaced by the application's");
    acceleration->database = clr_database_get(acceleration->connection, acceleration->table.schema);
    if (acceleration->database == NULL)
        return clr_acceleration_by_rows(acceleration, "the database's schema could not be read");
    if (clr_probes_add(query) != SQLITE_OK)
        return SQLITE_NOMEM;
    acceleration->generation = acceleration->database->generation;
    acceleration->no_pages = find_no_pages(query, &acceleration->table);
    acceleration->query = query;
    acceleration->runs_by_rows = 0;
    sqlite3_snprintf(CLR_PLAN_TEXT, acceleration->verdict, "accelerated: not run yet");
    return SQLITE_OK;
}

/* Looks up all that a parsed query needs to be planned. Returns as bind_table(). */
static int bind_plan(struct clr_acceleration *acceleration, struct clr_query *query)
{
    const char *reason = "";
    int rc = clr_acceleration_name(acceleration, query, &reason);

    if (rc == SQLITE_BUSY)
        acceleration->runs_by_rows = 1; /* and then another look */
    if (rc == SQLITE_OK)
        rc = bind_table(acceleration, query);
    else if (rc != SQLITE_NOMEM)
        rc = clr_acceleration_by_rows(acceleration, "%s", reason);
    clr_acceleration_named(acceleration);
    return rc;
}

static int make_plan(struct clr_acceleration *acceleration)
{
    struct clr_query *query = NULL;
    struct clr_status status;
    enum clr_code code;
    int rc;

    clr_acceleration_drop_plan(acceleration);
    clr_status_clear(&status);
    code = clr_query_parse(acceleration->select->sql, &query, &status);
    if (code == CLR_OK) {
        acceleration->runs_by_rows = CLR_RUNS_BY_ROWS;
        rc = bind_plan(acceleration, query);
    } else {
        acceleration->runs_by_rows = INT_MAX; /* the text will not change */
        rc = code == CLR_NOMEM ? SQLITE_NOMEM
                               : clr_acceleration_by_rows(acceleration, "%s", status.message);
    }
    if (acceleration->query == NULL)
        clr_query_free(query);
    if (rc != SQLITE_NOMEM && sqlite3_errcode(acceleration->connection->db) != SQLITE_NOMEM) {
        acceleration->planned = true;
        return SQLITE_OK;
    }
    clr_acceleration_drop_plan(acceleration);
    clr_acceleration_by_rows(acceleration, "out of memory");
    return SQLITE_NOMEM;
}

int clr_acceleration_plan(struct clr_acceleration *acceleration)
{
    const struct clr_float_environment before = clr_float_environment_begin();
    int rc = make_plan(acceleration);

    clr_float_environment_end(&before);
    return rc;
}
