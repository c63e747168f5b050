#include "sqlite/inspect/inspect.h"

#include "clreduce.h"
#include "engine/worker/runtime.h"
#include "opencl/core/catalog.h"
#include "sqlite/access/rewrite.h"
#include "sqlite/aggregates/aggregates.h"
#include "sqlite/cache/cache_memory.h"
#include "sqlite/columns/row_loader.h"
#include "sqlite/lookups/lookups.h"
#include "sqlite/session/sql_value.h"
#include "sqlite/session/statement.h"
#include "sqlite/view/few_rows.h"
#include "sqlite/view/module.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* ---- The setting override: sum, total and avg are the exact ones, by SQLite's names. What else
   the names mean, and how indexes are used, stays SQLite's. */

/* Whether an aggregate is to be registered by SQLite's name: some may be already, where there was
   no memory for all. number: of those that override SQLite's; it goes on to the next. */
static bool is_missing(const struct clr_connection *connection,
                       const struct clr_aggregate *aggregate, int *number)
{
    return clr_aggregate_overrides(aggregate) && (*number)++ >= connection->overrides;
}

/* Whether a function has a name that is to be taken. */
static bool is_wanted(const struct clr_connection *connection, const char *name)
{
    const struct clr_aggregate *aggregate;
    int number = 0;

    for (aggregate = clr_aggregates; aggregate->name != NULL; aggregate++) {
        if (is_missing(connection, aggregate, &number) &&
            sqlite3_stricmp(name, aggregate->builtin) == 0)
            return true;
    }
    return false;
}

/* Refuses names that the application has functions of. SQLite makes the whole list, which takes a
   tenth of a millisecond: it is read once. */
static enum clr_code check_names(const struct clr_connection *connection, struct clr_status *status)
{
    sqlite3_stmt *list;
    enum clr_code code = CLR_OK;
    int rc = clr_statement_make(connection->db, "PRAGMA function_list", 0, &list);

    /* name, builtin */
    while (rc == SQLITE_OK && code == CLR_OK && sqlite3_step(list) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(list, 0);

        if (sqlite3_column_int(list, 1) == 0 && name != NULL && is_wanted(connection, name))
            code = clr_status_set(status, CLR_INVALID, 0,
                                  "override: %s() is a function of the application's", name);
    }
    rc = clr_statement_end(list, rc);
    if (rc == SQLITE_NOMEM)
        return CLR_NOMEM;
    if (rc != SQLITE_OK)
        return clr_status_set(status, CLR_INVALID, 0, "override: %s",
                              sqlite3_errmsg(connection->db));
    return code;
}

static enum clr_code register_all(struct clr_connection *connection, struct clr_status *status)
{
    const struct clr_aggregate *aggregate;
    enum clr_code code = check_names(connection, status);
    int number = 0, rc;

    for (aggregate = clr_aggregates; aggregate->name != NULL && code == CLR_OK; aggregate++) {
        if (!is_missing(connection, aggregate, &number))
            continue;
        rc = clr_aggregate_override(connection, aggregate);
        if (rc == SQLITE_NOMEM)
            return CLR_NOMEM;
        if (rc != SQLITE_OK)
            return clr_status_set(status, CLR_INVALID, 0, "override: %s",
                                  sqlite3_errmsg(connection->db));
        connection->overrides = number;
    }
    return code;
}

/* Has all statements prepared anew, which SQLite does when this setting of its own changes. It is
   changed back at once. */
static void expire_statements(sqlite3 *db)
{
    int on = 0;

    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_QPSG, -1, &on);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_QPSG, !on, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_QPSG, on, NULL);
}

/*
 * Is called before the setting is set to a value. Returns CLR_OK, with the functions registered if
 * they are to be; CLR_NOMEM; or CLR_INVALID with a message: they cannot be registered, or be had
 * back.
 */
static enum clr_code prepare_override(struct clr_connection *connection, const char *value,
                                      struct clr_status *status)
{
    const struct clr_views *views = clr_views_of(connection);
    struct clr_view *view;
    enum clr_code code;

    if (connection->settings.override != 0 && strcmp(value, "off") == 0)
        return clr_status_set(status, CLR_INVALID, 0,
                              "override cannot be turned off, as SQLite does not give back a "
                              "function that was replaced: open another connection");
    if (connection->settings.override != 0 || strcmp(value, "on") != 0)
        return CLR_OK;
    code = register_all(connection, status);
    if (code != CLR_OK)
        return code;
    expire_statements(connection->db);
    for (view = views == NULL ? NULL : views->first; view != NULL; view = view->next)
        view->acceleration->is_outdated = true;
    return CLR_OK;
}

/* ---- The functions. */

/* clreduce_version(): the library's version. */
static void version(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    (void)values;
    sqlite3_result_text(context, CLREDUCE_VERSION, -1, SQLITE_STATIC);
}

/* A misspelt device would silently mean the host: names are checked, and so waited for. */
static enum clr_code check_device(const char *name, struct clr_status *status)
{
    const struct clr_catalog *catalog;
    char names[CLR_STATUS_MESSAGE / 2] = "";
    size_t i, used = 0;

    if (clr_catalog_is_keyword(name))
        return CLR_OK;
    catalog = clr_runtime_catalog(name);
    for (i = 0; catalog != NULL && i < catalog->count; i++) {
        const struct clr_device_info *device = &catalog->devices[i];
        if (clr_catalog_matches(device, name))
            return CLR_OK;
        if (used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s'%s' (%s)",
                                     i == 0 ? "" : ", ", device->name, device->platform);
    }
    return clr_status_set(
        status, CLR_INVALID, 0,
        "device must be auto, gpu, accelerator, cpu, host, or part of the name of "
        "a device here (%s), not '%.60s'",
        names[0] != '\0' ? names : "there is none", name);
}

/* What some settings need before they are set. */
static enum clr_code prepare(struct clr_connection *connection, const char *name, const char *value,
                             struct clr_status *status)
{
    if (strcmp(name, "device") == 0)
        return check_device(value, status);
    if (strcmp(name, "override") == 0)
        return prepare_override(connection, value, status);
    return CLR_OK;
}

/* Whether a text is longer than a C string can tell. */
static bool has_nul(const char *text, sqlite3_value *value)
{
    return text != NULL && (size_t)sqlite3_value_bytes(value) != strlen(text);
}

/* clreduce_set(name, value): sets a setting of this connection and returns its value. */
static void set(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct clr_connection *connection = sqlite3_user_data(context);
    const char *name = (const char *)sqlite3_value_text(values[0]);
    const char *value = (const char *)sqlite3_value_text(values[1]);
    struct clr_status status;
    enum clr_code code;

    (void)count;
    if ((name == NULL && sqlite3_value_type(values[0]) != SQLITE_NULL) ||
        (value == NULL && sqlite3_value_type(values[1]) != SQLITE_NULL)) {
        sqlite3_result_error_nomem(context);
        return;
    }
    if (has_nul(name, values[0]) || has_nul(value, values[1])) {
        clr_set_error(context, "clreduce_set: the %s must not contain a NUL, as after '%.60s'",
                      has_nul(name, values[0]) ? "name" : "value",
                      has_nul(name, values[0]) ? name : value);
        return;
    }
    name = name != NULL ? name : "NULL";
    value = value != NULL ? value : "NULL";
    clr_status_clear(&status);
    code = prepare(connection, name, value, &status);
    if (code == CLR_OK)
        code = clr_settings_set(&connection->settings, name, value, &status);
    if (code == CLR_OK) {
        connection->settings_changes++;
        clr_connection_heed_settings(connection);
        /* The cache's thread may wait for what column_retention says. */
        clr_cache_lock();
        clr_cache_wake();
        clr_cache_unlock();
        sqlite3_result_value(context, values[1]);
    } else if (code == CLR_NOMEM) {
        sqlite3_result_error_nomem(context);
    } else {
        clr_set_error(context, "clreduce_set: %s", status.message);
    }
}

/* clreduce_evict(): frees the columns kept for accelerated views that no query needs now, and
   returns their bytes. */
static void evict(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    (void)values;
    sqlite3_result_int64(context, clr_cache_evict(sqlite3_user_data(context)));
}

/* Registers the functions of a list. Returns SQLite's result code. */
static int register_list(struct clr_connection *connection,
                         const struct clr_sql_function *functions)
{
    int rc = SQLITE_OK;

    for (; functions->name != NULL && rc == SQLITE_OK; functions++)
        rc = sqlite3_create_function_v2(
            connection->db, functions->name, functions->arguments, SQLITE_UTF8 | functions->flags,
            clr_connection_retain(connection), functions->end == NULL ? functions->call : NULL,
            functions->end == NULL ? NULL : functions->call, functions->end,
            clr_connection_release);
    return rc;
}

int clr_functions_register(struct clr_connection *connection)
{
    static const struct clr_sql_function own[] = {
        {"clreduce_evict", 0, SQLITE_DIRECTONLY, evict, NULL},
        {"clreduce_set", 2, SQLITE_DIRECTONLY, set, NULL},
        {.name = NULL},
    };
    const struct clr_sql_function *const lists[] = {own,
                                                    clr_row_loader_functions,
                                                    clr_lookup_functions,
                                                    clr_row_key_functions,
                                                    clr_few_rows_functions,
                                                    clr_rewrite_functions};
    int rc = sqlite3_create_function_v2(connection->db, "clreduce_version", 0,
                                        SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, NULL,
                                        version, NULL, NULL, NULL);
    size_t i;

    for (i = 0; i < sizeof lists / sizeof lists[0] && rc == SQLITE_OK; i++)
        rc = register_list(connection, lists[i]);
    return rc;
}
