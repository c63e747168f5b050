#include "sqlite/access/rewrite.h"

#include "clreduce.h"
#include "query/query.h"
#include "query/syntax/blank.h"
#include "query/syntax/word.h"
#include "sqlite/access/made_views.h"
#include "sqlite/access/ordinary_views.h"
#include "sqlite/access/units.h"
#include "sqlite/schema/bytecode.h"
#include "sqlite/schema/schema_lock.h"
#include "sqlite/schema/select_columns.h"
#include "sqlite/session/sql_value.h"
#include "sqlite/session/statement.h"
#include "sqlite/view/module.h"

#include <stdlib.h>
#include <string.h>

/* Returns a copy of a statement's text without spaces around it and semicolons at its end, the form
   in which SELECTs are compared, to be freed with sqlite3_free(); NULL without memory. */
static char *trim(const char *sql, size_t length)
{
    static const char spaces[] = " \t\n\f\r";
    const char *end = sql + length;

    while (sql < end && strchr(spaces, *sql) != NULL)
        sql++;
    /* A semicolon in a comment at the end may go as well. */
    while (sql < end && (end[-1] == ';' || strchr(spaces, end[-1]) != NULL))
        end--;
    return sqlite3_mprintf("%.*s", (int)(end - sql), sql);
}

static const char *parameter(sqlite3_stmt *statement, int number)
{
    const char *name = sqlite3_bind_parameter_name(statement, number);

    return name == NULL ? "?" : name;
}

/* Appends the parameters as arguments, and what was lifted in the place of those that stand for it.
 */
static void append_arguments(sqlite3_stmt *select, const struct clr_lifted *lifted,
                             sqlite3_str *text)
{
    const int count = sqlite3_bind_parameter_count(select);
    const size_t length = strlen(CLR_LIFTED_NAME);
    int i;

    for (i = 1; i <= count; i++) {
        const char *name = parameter(select, i);

        sqlite3_str_appendall(text, i == 1 ? "(" : ", ");
        if (lifted != NULL && strncmp(name, CLR_LIFTED_NAME, length) == 0)
            sqlite3_str_appendf(text, "(%s)", lifted->values[atoi(name + length) - 1]);
        else
            sqlite3_str_appendall(text, name);
    }
    sqlite3_str_appendall(text, count > 0 ? ")" : "");
}

/* Appends the parameters as conditions on the view's hidden columns. If that fails some are
   missing. */
static void append_conditions(sqlite3_stmt *plain, const char *view, sqlite3_str *text)
{
    sqlite3_stmt *names;
    int number = 0, rc;

    rc =
        clr_statement_prepare(sqlite3_db_handle(plain), &names,
                              "SELECT name FROM pragma_table_xinfo(%Q, 'temp') WHERE hidden", view);
    while (rc == SQLITE_OK && sqlite3_step(names) == SQLITE_ROW) {
        sqlite3_str_appendf(text, "%s %s.\"%w\" IS ", number == 0 ? " WHERE" : " AND", view,
                            sqlite3_column_text(names, 0));
        sqlite3_str_appendall(text, parameter(plain, ++number));
    }
    sqlite3_finalize(names);
}

/* Writes the SELECT from the view with the columns' names, and all parameters of the view's SELECT
   in the order of their numbers, which they get again by that. columns: the names of all the view's
   columns. */
static char *write_select(sqlite3_stmt *plain, sqlite3_stmt *select,
                          const struct clr_lifted *lifted, const struct clr_names *columns,
                          const char *view)
{
    const int count = sqlite3_column_count(plain);
    sqlite3_str *text = sqlite3_str_new(NULL);
    int i;

    for (i = 0; i < count; i++)
        sqlite3_str_appendf(text, "%s %s.\"%w\" AS \"%w\"", i == 0 ? "SELECT" : ",", view,
                            columns->list[i], sqlite3_column_name(plain, i));
    sqlite3_str_appendf(text, " FROM temp.\"%w\"", view);
    if (sqlite3_bind_parameter_count(select) > CLR_MOST_NULLS)
        append_conditions(plain, view, text);
    else
        append_arguments(select, lifted, text);
    return sqlite3_str_finish(text);
}

/* Prepares a text, which may be NULL. Returns NULL if that can't be, or if it has not the plain
   statement's columns, by name, and its parameters, by name and number. */
static sqlite3_stmt *make_alike(sqlite3_stmt *plain, const char *text, unsigned flags)
{
    const int parameters = sqlite3_bind_parameter_count(plain);
    sqlite3_stmt *statement = NULL;
    bool same;
    int i;

    if (text != NULL)
        clr_statement_make(sqlite3_db_handle(plain), text, flags, &statement);
    if (statement == NULL)
        return NULL;
    same = clr_have_equal_columns(statement, plain, sqlite3_column_name) &&
           sqlite3_bind_parameter_count(statement) == parameters;
    for (i = 1; i <= parameters && same; i++)
        same = strcmp(parameter(statement, i), parameter(plain, i)) == 0;
    if (same)
        return statement;
    sqlite3_finalize(statement);
    return NULL;
}

/* Prepares the SELECT from the view, whose own SELECT is the plain one, or what was lifted from is;
   NULL if that cannot be. */
static sqlite3_stmt *prepare_view(sqlite3_stmt *plain, sqlite3_stmt *select,
                                  const struct clr_lifted *lifted, unsigned flags, const char *view)
{
    sqlite3 *db = sqlite3_db_handle(plain);
    struct clr_names names = {.list = NULL};
    sqlite3_stmt *statement, *columns;
    char *text = NULL;

    if (clr_statement_prepare(db, &columns, "SELECT * FROM temp.\"%w\"", view) == SQLITE_OK &&
        clr_column_names_read(columns, &names) == SQLITE_OK &&
        names.count == sqlite3_column_count(plain))
        text = write_select(plain, select, lifted, &names, view);
    statement = make_alike(plain, text, flags);
    sqlite3_free(text);
    clr_names_free(&names);
    sqlite3_finalize(columns);
    return statement;
}

/* Writes a SELECT that gives the columns of another one the names of the plain one's. */
static char *write_names(sqlite3_stmt *plain, const char *select)
{
    const int count = sqlite3_column_count(plain);
    sqlite3_str *text = sqlite3_str_new(NULL);
    int i;

    for (i = 0; i < count; i++)
        sqlite3_str_appendf(text, "%s\"%d\"", i == 0 ? "WITH \"clreduce:statement\"(" : ", ", i);
    sqlite3_str_appendf(text, ") AS (%s\n)", select);
    for (i = 0; i < count; i++)
        sqlite3_str_appendf(text, "%s \"%d\" AS \"%w\"", i == 0 ? " SELECT" : ",", i,
                            sqlite3_column_name(plain, i));
    sqlite3_str_appendall(text, " FROM \"clreduce:statement\"");
    return sqlite3_str_finish(text);
}

/* Prepares the statement with views in the place of its units. Returns as
   clr_accelerated_prepare(). */
static int prepare_units(struct clr_connection *connection, sqlite3_stmt *plain,
                         const char *trimmed, unsigned flags, sqlite3_str *lines,
                         sqlite3_stmt **accelerated)
{
    char *text, *named;
    int rc = clr_units_write(connection, trimmed, lines, &text);

    if (rc == SQLITE_OK)
        *accelerated = make_alike(plain, text, flags);
    if (rc == SQLITE_OK && *accelerated == NULL) {
        named = write_names(plain, text);
        *accelerated = make_alike(plain, named, flags);
        rc = named == NULL ? SQLITE_NOMEM : *accelerated == NULL ? SQLITE_NOTFOUND : SQLITE_OK;
        sqlite3_free(named);
    }
    sqlite3_free(text);
    return rc;
}

/* Adds the lines of a view, for people; lines may be NULL. */
static void tell_view(struct clr_connection *connection, const char *name, sqlite3_str *lines)
{
    struct clr_acceleration *acceleration = clr_view_find(connection, name)->acceleration;
    const char *line;
    int i;

    for (i = 0; lines != NULL && (line = clr_acceleration_explain(acceleration, i)) != NULL; i++)
        sqlite3_str_appendf(lines, "%s\n", line);
}

static void free_lifted(struct clr_lifted *lifted)
{
    int i;

    for (i = 0; i < lifted->count; i++)
        sqlite3_free(lifted->values[i]);
    sqlite3_free(lifted->text);
}

/* Prepares the SELECT from a view of the statement whose scalar subqueries are the view's
   arguments. SQLite reads a BLOB that is bound as UTF-8, where a number is wanted, and others by
   the database's encoding. Returns as clr_accelerated_prepare(). */
static int prepare_lifted(struct clr_connection *connection, sqlite3_stmt *plain,
                          const char *trimmed, unsigned flags, sqlite3_str *lines,
                          sqlite3_stmt **accelerated)
{
    sqlite3_str *told = lines == NULL ? NULL : sqlite3_str_new(NULL);
    char name[CLR_MADE_NAME], *message = NULL, *values;
    struct clr_lifted lifted;
    sqlite3_stmt *select = NULL;
    int encoding, rc = clr_units_lift(connection, trimmed, told, &lifted);

    if (rc == SQLITE_OK)
        rc = clr_encoding_find(connection->db, &encoding);
    if (rc == SQLITE_OK && encoding != SQLITE_UTF8)
        rc = SQLITE_NOTFOUND;
    if (rc == SQLITE_OK)
        rc = clr_made_view_get(connection, lifted.text, false, name, &message);
    if (rc == SQLITE_OK)
        rc = clr_statement_make(connection->db, lifted.text, 0, &select);
    if (rc == SQLITE_OK && sqlite3_bind_parameter_count(select) <= CLR_MOST_NULLS)
        *accelerated = prepare_view(plain, select, &lifted, flags, name);
    values = sqlite3_str_finish(told);
    if (*accelerated != NULL && lines != NULL) {
        tell_view(connection, name, lines);
        sqlite3_str_appendall(lines, values == NULL ? "" : values);
    }
    sqlite3_finalize(select);
    sqlite3_free(values);
    sqlite3_free(message);
    free_lifted(&lifted);
    return *accelerated != NULL ? SQLITE_OK : rc == SQLITE_NOMEM ? rc : SQLITE_NOTFOUND;
}

/* Prepares the SELECT from a view of the join that a SELECT with correlated subqueries is. Returns
   as clr_accelerated_prepare(). */
static int prepare_joined(struct clr_connection *connection, sqlite3_stmt *plain,
                          const char *trimmed, unsigned flags, sqlite3_str *lines,
                          sqlite3_stmt **accelerated)
{
    char name[CLR_MADE_NAME], *message = NULL, *text;
    const struct clr_plan *plan;
    int rc = clr_correlated_join(connection, plain, trimmed, &text);

    if (rc == SQLITE_OK)
        rc = clr_made_view_get(connection, text, false, name, &message);
    if (rc == SQLITE_OK) {
        plan = clr_view_find(connection, name)->acceleration->plan;
        if (plan != NULL && plan->query->eager != NULL)
            *accelerated = prepare_view(plain, plain, NULL, flags, name);
    }
    if (*accelerated != NULL)
        tell_view(connection, name, lines);
    sqlite3_free(message);
    clr_memory_free(text);
    return *accelerated != NULL ? SQLITE_OK : rc == SQLITE_NOMEM ? rc : SQLITE_NOTFOUND;
}

/* Has the schemas stay as they are until *hold is finalized. Returns SQLITE_OK; SQLITE_BUSY if a
   lock is in the way of the statement itself; SQLITE_NOTFOUND if it is not to be accelerated now;
   or SQLITE_NOMEM. */
static int hold_schemas(struct clr_connection *connection, const char *trimmed, sqlite3_stmt **hold)
{
    sqlite3 *db = connection->db;
    struct clr_databases_read read;
    int rc;

    *hold = NULL;
    /* A transaction keeps the snapshot of main that begins with the hold: it is the application
       that says when. */
    if (!sqlite3_get_autocommit(db) && sqlite3_txn_state(db, "main") == SQLITE_TXN_NONE) {
        clr_bytecode_databases(db, &read, "%s", trimmed);
        if (!read.has_main)
            return SQLITE_NOTFOUND;
    }
    rc = clr_schema_renew(connection, trimmed, hold);
    if (rc != SQLITE_BUSY)
        return rc;
    /* Of main and the databases up to the last that it reads one is locked, and it may not read
       each of them. */
    clr_bytecode_databases(db, &read, "%s", trimmed);
    return read.has_main && read.attached >= read.last - 1 ? SQLITE_BUSY : SQLITE_NOTFOUND;
}

/* Prepares the accelerated SELECT while the schemas stay as they are. Returns as
   clr_accelerated_prepare(). */
static int prepare_select(struct clr_connection *connection, sqlite3_stmt *plain,
                          const char *trimmed, unsigned flags, sqlite3_str *lines,
                          sqlite3_stmt **accelerated, char **message)
{
    char name[CLR_MADE_NAME], why[CLR_REASON_TEXT];
    bool has_rows;
    int rc;

    rc = prepare_joined(connection, plain, trimmed, flags, lines, accelerated);
    if (rc != SQLITE_NOTFOUND)
        return rc;
    rc = clr_select_look(trimmed, &has_rows, why);
    if (rc == SQLITE_NOTFOUND)
        *message = sqlite3_mprintf("%s", why);
    if (rc == SQLITE_OK) {
        rc = prepare_lifted(connection, plain, trimmed, flags, lines, accelerated);
        if (rc != SQLITE_NOTFOUND)
            return rc;
        rc = clr_made_view_get(connection, trimmed, false, name, message);
    }
    if (rc == SQLITE_NOTFOUND) {
        if (lines != NULL && *message != NULL)
            sqlite3_str_appendf(lines, "not as a whole: %s\n", *message);
        return prepare_units(connection, plain, trimmed, flags, lines, accelerated);
    }
    if (rc != SQLITE_OK)
        return rc;
    tell_view(connection, name, lines);
    *accelerated = prepare_view(plain, plain, NULL, flags, name);
    return *accelerated == NULL ? SQLITE_NOTFOUND : SQLITE_OK;
}

/* The same as clr_accelerated_prepare(), of a text without spaces around it. lines: gets what is
   said of it, for people; or NULL. */
static int prepare_accelerated(struct clr_connection *connection, sqlite3_stmt *plain,
                               const char *trimmed, unsigned flags, sqlite3_str *lines,
                               sqlite3_stmt **accelerated, char **message)
{
    const bool writes = !sqlite3_stmt_readonly(plain);
    sqlite3_stmt *hold;
    int rc;

    if (writes != (sqlite3_column_count(plain) == 0) || sqlite3_stmt_isexplain(plain) != 0 ||
        clr_is_writing(connection->db))
        return SQLITE_NOTFOUND;
    rc = hold_schemas(connection, trimmed, &hold);
    if (rc == SQLITE_OK && writes)
        rc = prepare_units(connection, plain, trimmed, flags, lines, accelerated);
    else if (rc == SQLITE_OK)
        rc = prepare_select(connection, plain, trimmed, flags, lines, accelerated, message);
    sqlite3_finalize(hold);
    clr_views_end(connection);
    return rc;
}

int clr_accelerated_prepare(struct clr_connection *connection, sqlite3_stmt *plain, unsigned flags,
                            sqlite3_stmt **accelerated, char **message)
{
    const char *sql = sqlite3_sql(plain);
    char *trimmed = trim(sql, strlen(sql));
    int rc = SQLITE_NOMEM;

    *accelerated = NULL;
    *message = NULL;
    if (trimmed != NULL)
        rc = prepare_accelerated(connection, plain, trimmed, flags, NULL, accelerated, message);
    /* It may not be accelerated as a whole. */
    if (rc == SQLITE_OK) {
        sqlite3_free(*message);
        *message = NULL;
    }
    sqlite3_free(trimmed);
    return rc;
}

/* Whether an application may get an accelerated statement as the plain one: its columns have the
   same declared types, and are those of now. */
static bool can_stand_for(sqlite3_stmt *accelerated, sqlite3_stmt *plain)
{
    return clr_have_equal_columns(accelerated, plain, sqlite3_column_decltype) &&
           clr_has_columns_of_now(plain);
}

__attribute__((visibility("default"))) int clreduce_prepare_v3(sqlite3 *db, const char *sql,
                                                               int bytes, unsigned flags,
                                                               sqlite3_stmt **statement,
                                                               const char **tail)
{
    struct clr_connection *connection;
    sqlite3_stmt *accelerated;
    char *message;
    int rc;

    if (sqlite3_api == NULL)
        return SQLITE_MISUSE;
    connection = clr_connection_of(db);
    if (connection == NULL || (flags & SQLITE_PREPARE_NO_VTAB) != 0)
        return sqlite3_prepare_v3(db, sql, bytes, flags, statement, tail);
    sqlite3_mutex_enter(sqlite3_db_mutex(db));
    rc = sqlite3_prepare_v3(db, sql, bytes, flags, statement, tail);
    if (rc == SQLITE_OK && *statement != NULL &&
        (sqlite3_stmt_readonly(*statement) ||
         clr_word_may_select(clr_blank_skip(sqlite3_sql(*statement))))) {
        if (clr_accelerated_prepare(connection, *statement, flags, &accelerated, &message) ==
                SQLITE_OK &&
            can_stand_for(accelerated, *statement)) {
            sqlite3_stmt *plain = *statement;

            *statement = accelerated;
            accelerated = plain;
        }
        sqlite3_finalize(accelerated);
        sqlite3_free(message);
        /* Whatever went wrong on the way is no error of this call. */
        sqlite3_exec(db, "", NULL, NULL, NULL);
    }
    sqlite3_mutex_leave(sqlite3_db_mutex(db));
    return rc;
}

__attribute__((visibility("default"))) int clreduce_prepare_v2(sqlite3 *db, const char *sql,
                                                               int bytes, sqlite3_stmt **statement,
                                                               const char **tail)
{
    return clreduce_prepare_v3(db, sql, bytes, 0, statement, tail);
}

/* Returns how an accelerated view goes over its table, as a line of EXPLAIN QUERY PLAN says it for
   people, to be freed with sqlite3_free(); NULL if it is not accelerated now, or without memory. */
static char *describe(struct clr_connection *connection, const char *name)
{
    static const char accelerated[] = "accelerated: ", absent[] = ": not resident";
    const struct clr_view *view = clr_view_find(connection, name);
    const char *line, *columns = "columns resident";
    char where[CLR_REASON_TEXT];
    int i;

    if (view == NULL || view->acceleration->plan == NULL)
        return NULL;
    line = clr_acceleration_explain(view->acceleration, 0);
    if (line == NULL || strncmp(line, accelerated, sizeof accelerated - 1) != 0)
        return NULL;
    sqlite3_snprintf(sizeof where, where, "%s", line + sizeof accelerated - 1);
    for (i = 1; (line = clr_acceleration_explain(view->acceleration, i)) != NULL; i++) {
        if (strlen(line) >= sizeof absent &&
            strcmp(line + strlen(line) - (sizeof absent - 1), absent) == 0)
            columns = "columns not resident";
    }
    return sqlite3_mprintf("SCAN %s BY clreduce (%s, %s)", view->acceleration->plan->table.name,
                           where, columns);
}

/* Returns a line of EXPLAIN QUERY PLAN, which may be that of a view that was made; NULL as above.
 */
static char *describe_line(struct clr_connection *connection, const char *detail)
{
    const char *view = strstr(detail, CLR_MADE_VIEW);
    char name[CLR_MADE_NAME];

    if (view == NULL)
        return sqlite3_mprintf("%s", detail);
    sqlite3_snprintf(sizeof name, name, "%.*s", (int)(clr_word_end(view) - view), view);
    return describe(connection, name);
}

char *clr_accelerated_explain(struct clr_connection *connection, sqlite3_stmt *accelerated,
                              sqlite3_stmt *explain)
{
    enum { DETAIL = 3 };
    sqlite3_str *text = sqlite3_str_new(NULL);
    sqlite3_stmt *plan;
    char *line = NULL;
    int rc = clr_statement_prepare(connection->db, &plan, "EXPLAIN QUERY PLAN %s",
                                   sqlite3_sql(accelerated));

    while (rc == SQLITE_OK && sqlite3_step(plan) == SQLITE_ROW) {
        line = describe_line(connection, (const char *)sqlite3_column_text(plan, DETAIL));
        if (line == NULL)
            break;
        sqlite3_str_appendf(text, "%sSELECT %d AS \"%w\", %d AS \"%w\", %d AS \"%w\", %Q AS \"%w\"",
                            sqlite3_str_length(text) == 0 ? "" : " UNION ALL ",
                            sqlite3_column_int(plan, 0), sqlite3_column_name(explain, 0),
                            sqlite3_column_int(plan, 1), sqlite3_column_name(explain, 1),
                            sqlite3_column_int(plan, 2), sqlite3_column_name(explain, 2), line,
                            sqlite3_column_name(explain, DETAIL));
        sqlite3_free(line);
    }
    sqlite3_finalize(plan);
    if (line != NULL)
        return sqlite3_str_finish(text);
    sqlite3_free(sqlite3_str_finish(text));
    return NULL;
}

/* Whether a text begins as a SELECT does, or a statement that may have one. */
static bool may_select(const char *text)
{
    text = clr_blank_skip(text);
    return clr_word_is(text, "values") || clr_word_may_select(text);
}

/* Stores the text of the statement that clreduce_prepare_v3() prepares in the place of a SELECT, to
   be freed with sqlite3_free(). NULL: there is none, the text is no single SELECT, or there was no
   memory; the text is then to be prepared as it is, which also tells what is wrong with it. lines:
   as prepare_accelerated() has it. Returns SQLITE_OK; or SQLITE_BUSY if a lock has kept the
   statement from being run, after a wait that it need not repeat. */
static int rewrite_text(struct clr_connection *connection, const char *sql, sqlite3_str *lines,
                        char **text)
{
    char *trimmed = trim(sql, strlen(sql)), *message = NULL;
    sqlite3_stmt *plain = NULL, *accelerated = NULL;
    int rc = SQLITE_NOTFOUND;

    *text = NULL;
    clr_made_views_doubt(connection);
    /* Some PRAGMAs take effect by being prepared. */
    if (trimmed != NULL && may_select(trimmed))
        rc = sqlite3_prepare_v2(connection->db, trimmed, -1, &plain, NULL);
    if (rc == SQLITE_OK && plain != NULL)
        rc = prepare_accelerated(connection, plain, trimmed, 0, lines, &accelerated, &message);
    if (accelerated != NULL && can_stand_for(accelerated, plain))
        *text = sqlite3_mprintf("%s", sqlite3_sql(accelerated));
    sqlite3_finalize(accelerated);
    sqlite3_finalize(plain);
    sqlite3_free(message);
    sqlite3_free(trimmed);
    sqlite3_exec(connection->db, "", NULL, NULL, NULL);
    return (rc & 0xff) == SQLITE_BUSY ? SQLITE_BUSY : SQLITE_OK;
}

int clr_select_tell(struct clr_connection *connection, const char *sql, char **lines)
{
    sqlite3_str *text = sqlite3_str_new(NULL);
    char *rewritten;
    int rc;

    rewrite_text(connection, sql, text, &rewritten);
    sqlite3_free(rewritten);
    rc = sqlite3_str_errcode(text);
    *lines = sqlite3_str_finish(text);
    return rc != SQLITE_OK || *lines != NULL ? rc : SQLITE_NOTFOUND;
}

/* ---- The functions. */

/* Returns the argument's text, or NULL: then the error is set. */
static const char *read_text(sqlite3_context *context, const char *function, const char *what,
                             sqlite3_value *value)
{
    const char *text = (const char *)sqlite3_value_text(value);

    if (sqlite3_value_type(value) == SQLITE_NULL) {
        clr_set_error(context, "%s: the argument must be %s, not NULL", function, what);
        return NULL;
    }
    if (text == NULL) {
        sqlite3_result_error_nomem(context);
        return NULL;
    }
    if ((size_t)sqlite3_value_bytes(value) != strlen(text)) {
        clr_set_error(context, "%s: the argument must not contain a NUL, as after '%!.60s'",
                      function, text);
        return NULL;
    }
    return text;
}

/* clreduce_rewrite(statement, is_first): the text of a statement whose SELECTs are from accelerated
   views, with the same parameters and columns; NULL if there is none. is_first: the statement is
   run next, and its transaction has written nothing before it. The error of a lock is the
   statement's own: without it who asks for a text and runs the statement would wait twice. */
static void rewrite(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct clr_connection *connection = sqlite3_user_data(context);
    const char *text = read_text(context, "clreduce_rewrite", "the text of a statement", values[0]);
    char *rewritten = NULL;
    const int rc = text == NULL ? SQLITE_OK : rewrite_text(connection, text, NULL, &rewritten);
    const bool is_first = count > 1 && sqlite3_value_int(values[1]) != 0 &&
                          sqlite3_txn_state(connection->db, NULL) != SQLITE_TXN_WRITE;

    clr_sole_writer_promise(connection, is_first ? rewritten : NULL);
    if (rc != SQLITE_OK)
        sqlite3_result_error_code(context, rc);
    else if (rewritten != NULL)
        sqlite3_result_text(context, rewritten, -1, sqlite3_free);
}

/* clreduce_accelerate(view): has the accelerated view of an ordinary one go before it, and returns
   1. Without an argument: all that can be accelerated, and returns how many there are. */
static void accelerate_views(sqlite3_context *context, int count, sqlite3_value **values)
{
    static const char function[] = "clreduce_accelerate";
    struct clr_connection *connection = sqlite3_user_data(context);
    const char *name = NULL;
    char *message = NULL;
    int rc, accelerated;

    if (count > 0)
        name = read_text(context, function, "the name of a view", values[0]);
    if (count > 0 && name == NULL)
        return;
    if (clr_is_writing(connection->db)) {
        clr_set_error(context,
                      "%s: a statement that writes is running: call it in a SELECT by itself",
                      function);
        return;
    }
    rc = clr_ordinary_views_accelerate(connection, name, &accelerated, &message);
    if (rc == SQLITE_OK) {
        sqlite3_result_int(context, accelerated);
    } else if (rc == SQLITE_NOMEM || message == NULL) {
        sqlite3_result_error_nomem(context);
    } else {
        clr_set_error(context, "%s: %s", function, message);
        sqlite3_result_error_code(context, rc);
    }
    sqlite3_free(message);
}

const struct clr_sql_function clr_rewrite_functions[] = {
    {"clreduce_rewrite", 1, SQLITE_DIRECTONLY, rewrite, NULL},
    {"clreduce_rewrite", 2, SQLITE_DIRECTONLY, rewrite, NULL},
    {"clreduce_accelerate", 0, SQLITE_DIRECTONLY, accelerate_views, NULL},
    {"clreduce_accelerate", 1, SQLITE_DIRECTONLY, accelerate_views, NULL},
    {.name = NULL},
};
