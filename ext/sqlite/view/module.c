/* The contract whose numbers are cited here is in module.h. */
#include "sqlite/view/module.h"

#include "base/memory.h"
#include "base/status.h"
#include "sqlite/database/connection_database.h"
#include "sqlite/schema/schema_lock.h"
#include "sqlite/session/sql_value.h"
#include "sqlite/session/statement.h"
#include "sqlite/session/virtual_table.h"
#include "sqlite/view/few_rows.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- How a view is made, connected anew and let go. */

static struct clr_view *find(struct clr_view *list, const char *name)
{
    while (list != NULL && sqlite3_stricmp(list->name, name) != 0)
        list = list->next;
    return list;
}

static void free_past(struct clr_connection *connection, void *views);

static const struct clr_attachment_kind views_kind = {sizeof(struct clr_views), free_past};

struct clr_views *clr_views_of(const struct clr_connection *connection)
{
    return clr_connection_find(connection, &views_kind);
}

struct clr_view *clr_view_find(struct clr_connection *connection, const char *name)
{
    const struct clr_views *views = clr_views_of(connection);

    return views == NULL ? NULL : find(views->first, name);
}

static void free_view(struct clr_view *view)
{
    sqlite3_finalize(view->idle);
    clr_acceleration_free(view->acceleration);
    clr_parameter_sets_clear(&view->sets);
    clr_select_free(&view->select);
    sqlite3_free(view->argument);
    sqlite3_free(view->name);
    sqlite3_free(view);
}

void clr_views_end(struct clr_connection *connection)
{
    const struct clr_views *views = clr_views_of(connection);

    if (views == NULL || views->first == NULL)
        clr_databases_rest(connection);
}

/* Frees a view that is not, or no longer, in the list. */
static void end_view(struct clr_view *view)
{
    struct clr_connection *connection = view->connection;

    free_view(view);
    clr_views_end(connection);
}

static void free_past(struct clr_connection *connection, void *pointer)
{
    struct clr_views *views = pointer;
    struct clr_view *view;

    (void)connection;
    while ((view = views->past) != NULL) {
        views->past = view->next;
        free_view(view);
    }
}

/* Returns what is known of the view from before: the same name, and the same SELECT. */
static const struct clr_view *find_known(const struct clr_view *list, const struct clr_view *view)
{
    while (list != NULL && (sqlite3_stricmp(list->name, view->name) != 0 ||
                            strcmp(list->argument, view->argument) != 0))
        list = list->next;
    return list;
}

/*
 * SQLite connects a view anew after each change of the schema, also to drop it, and may let go of
 * the old one only later. If the SELECT is an error by then, the view is what it was before: using
 * it reports that error. What it was is not known of one that was dropped, if ROLLBACK has brought
 * it back.
 */
static int read_select(struct clr_view *view, int is_new, char **error)
{
    struct clr_connection *connection = view->connection;
    struct clr_views *views = clr_views_of(connection);
    const struct clr_view *known = find_known(views->past, view);
    struct clr_view *past;
    /* The statements that rewrite.h makes compare no columns, and have the SELECT's types. */
    int rc = clr_select_read(connection->db, view->argument, view->compares, &view->select, error);

    if (known == NULL)
        known = find_known(views->first, view);
    if (rc != SQLITE_OK && rc != SQLITE_NOMEM && !is_new &&
        (known != NULL || (rc & 0xff) == SQLITE_ERROR || (rc & 0xff) == SQLITE_AUTH))
        rc = clr_select_keep(view->argument, known == NULL ? NULL : &known->select, &view->select,
                             error);
    while ((past = find(views->past, view->name)) != NULL) {
        CLR_UNLINK(views->past, past);
        free_view(past);
    }
    return rc;
}

/* A view that is to be made, and how it went. */
struct making {
    struct clr_view *view;
    int is_new;
    char **error;
};

/* Reads the SELECT and plans, where SQLite lets nested statements leave its schema alone. */
static int learn(void *pointer)
{
    struct making *making = pointer;
    struct clr_view *view = making->view;
    sqlite3_stmt *hold;
    int rc = clr_schema_check(view->connection, view->argument, &hold);

    if (rc == SQLITE_OK || rc == SQLITE_BUSY)
        rc = read_select(view, making->is_new, making->error);
    if (rc == SQLITE_OK) {
        view->acceleration = clr_acceleration_new(view->connection, &view->select);
        if (view->acceleration == NULL)
            rc = SQLITE_NOMEM;
    }
    sqlite3_finalize(hold);
    return rc;
}

/* A view as SQLite asks for it. is_new: it is made, and not connected anew. */
struct wanted {
    struct clr_connection *connection;
    const char *name, *argument;
    bool is_new, is_made, compares;
};

/* Stores a view that SQLite does not know of yet, with its plan, or with the reason why it has
   none. Returns SQLITE_OK, or SQLite's code with its message. */
static int learn_view(const struct wanted *wanted, struct clr_view **result, char **error)
{
    struct clr_connection *connection = wanted->connection;
    struct clr_views *views = clr_connection_attach(connection, &views_kind);
    struct making making = {NULL, wanted->is_new, error};
    struct clr_view *view;
    int rc = SQLITE_NOMEM;

    view = views == NULL ? NULL : clr_sqlite_alloc_zero(sizeof *view);
    if (view == NULL)
        return SQLITE_NOMEM;
    view->views = views;
    view->connection = connection;
    view->is_made = wanted->is_made;
    view->compares = wanted->compares;
    view->name = sqlite3_mprintf("%s", wanted->name);
    view->argument = sqlite3_mprintf("%s", wanted->argument);
    making.view = view;
    if (view->name != NULL && view->argument != NULL)
        rc = clr_schema_lock_run(connection, learn, &making);
    if (rc != SQLITE_OK && rc != SQLITE_NOMEM && *error == NULL)
        *error = sqlite3_mprintf("%s", sqlite3_errmsg(connection->db));
    if (rc == SQLITE_OK)
        *result = view;
    else
        end_view(view);
    return rc;
}

/* Gives SQLite a view, or frees it. */
static int show_view(struct clr_view *view, sqlite3_vtab **result, char **error)
{
    sqlite3 *db = view->connection->db;
    const int rc = clr_virtual_table_declare(db, view->select.declaration);

    if (rc == SQLITE_INTERRUPT)
        *error = sqlite3_mprintf("%s", sqlite3_errstr(rc));
    if (rc != SQLITE_OK) {
        end_view(view);
        return rc;
    }
    sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
    view->next = view->views->first;
    view->views->first = view;
    *result = &view->base;
    return SQLITE_OK;
}

static int make(const struct wanted *wanted, sqlite3_vtab **result, char **error)
{
    struct clr_view *view;
    int rc = learn_view(wanted, &view, error);

    return rc == SQLITE_OK ? show_view(view, result, error) : rc;
}

/* Makes a view that a CREATE VIRTUAL TABLE has named. */
static int make_named(struct clr_connection *connection, int count, const char *const *arguments,
                      bool is_new, sqlite3_vtab **result, char **error)
{
    if (sqlite3_stricmp(arguments[1], "temp") != 0) { /* clause 4 */
        *error = sqlite3_mprintf("clreduce: accelerated views live in the temp schema: "
                                 "CREATE VIRTUAL TABLE temp.%s, not %s.%s",
                                 arguments[2], arguments[1], arguments[2]);
        return SQLITE_ERROR;
    }
    if (count != 4) {
        *error = sqlite3_mprintf("clreduce: one argument is needed, a SELECT in parentheses, as in "
                                 "USING clreduce((SELECT ...)), not %d",
                                 count - 3);
        return SQLITE_ERROR;
    }
    return make(&(struct wanted){connection, arguments[2], arguments[3], is_new, false, true},
                result, error);
}

static int create_view(sqlite3 *db, void *connection, int count, const char *const *arguments,
                       sqlite3_vtab **result, char **error)
{
    (void)db;
    return make_named(connection, count, arguments, true, result, error);
}

static int connect_view(sqlite3 *db, void *connection, int count, const char *const *arguments,
                        sqlite3_vtab **result, char **error)
{
    (void)db;
    return make_named(connection, count, arguments, false, result, error);
}

static int destroy_view(sqlite3_vtab *base)
{
    struct clr_view *view = (struct clr_view *)base;

    CLR_UNLINK(view->views->first, view);
    end_view(view);
    return SQLITE_OK;
}

/* The view goes, but may be connected again. */
static int disconnect_view(sqlite3_vtab *base)
{
    struct clr_view *view = (struct clr_view *)base;
    struct clr_connection *connection = view->connection;
    struct clr_view *past = clr_sqlite_alloc_zero(sizeof *past);

    if (past != NULL) {
        past->name = view->name;
        past->argument = view->argument;
        past->select = view->select;
        past->next = clr_views_of(connection)->past;
        clr_views_of(connection)->past = past;
        view->name = view->argument = NULL;
        memset(&view->select, 0, sizeof view->select);
    }
    return destroy_view(base);
}

/* ---- Parameters, which a query gives by conditions on hidden columns. */

/* Precedes the numbers of the parameters that are given, in what xBestIndex tells xFilter, and
   follows each number whose constraint SQLite itself checks by =. */
static const char parameter_mark[] = "; parameters given:";
static const char compared_mark = '=';

/* SQLite leaves out its own check of the first 16 constraints alone, and of the first 16 that are
   used: whereLoopAddVirtualOne() in its where.c. */
enum { UNCHECKED = 16 };

/*
 * Returns the constraint that gives a parameter, -1 if none does, or -2 if all that do need a table
 * that comes later: another order of the joined tables has it earlier.
 */
static int find_constraint(const sqlite3_index_info *info, int column)
{
    int i, found = -1;

    for (i = 0; i < info->nConstraint; i++) {
        if (info->aConstraint[i].iColumn != column ||
            (info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ &&
             info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_IS))
            continue;
        if (info->aConstraint[i].usable)
            return i;
        found = -2;
    }
    return found;
}

/* SQLite connects a view of a module of its own once, and uses it after changes of the schema. */
static int refuse_other_columns(struct clr_view *view)
{
    sqlite3_free(view->base.zErrMsg);
    view->base.zErrMsg = sqlite3_mprintf(
        "clreduce: the SELECT of view %s has other columns now: prepare it again", view->name);
    return SQLITE_ERROR;
}

/* Passes on the error of a SELECT that can't be prepared any more. Returns its code. */
static int refuse_unprepared(struct clr_view *view, int rc)
{
    sqlite3_free(view->base.zErrMsg);
    view->base.zErrMsg = sqlite3_mprintf("%s", sqlite3_errmsg(view->connection->db));
    return rc;
}

/* Returns how many rows a view may have: of groups, or one of all rows, as many as SQLite takes
   those of its own SELECT for (sqlite3Select() in its select.c), so that it joins the view alike.
 */
static sqlite3_int64 guess_rows(const struct clr_view *view)
{
    const struct clr_plan *plan = view->acceleration->plan;

    if (plan == NULL || plan->query->has_rows)
        return 25;
    return plan->query->is_grouped ? 100 : 1;
}

/*
 * Parameters are constraints on hidden columns, by = or IS. The text that goes to xFilter is also
 * what EXPLAIN QUERY PLAN shows. It begins with text of the user's, so the number that goes with it
 * says where the parameters are.
 */
static int view_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    struct clr_view *view = (struct clr_view *)base;
    const int first = view->select.column_count, count = view->select.parameter_count;
    const char *explanation = clr_acceleration_explain(view->acceleration, 0);
    double cost = 1e6;
    int i, parameter, given = 0, rc;
    sqlite3_str *text;

    view->connection->prepared++;
    if (view->is_made && view->select.view_name == NULL) {
        rc = clr_select_check_now(view->connection->db, &view->select);
        if (rc == SQLITE_MISMATCH)
            return refuse_other_columns(view);
        /* A statement that writes might not ask the view, nor fail then. */
        if (rc != SQLITE_OK && view->is_written_from)
            return refuse_unprepared(view, rc);
    }
    /* What an ordinary view may do is a matter of rights and trust in its schema, too. */
    if (view->select.view_name != NULL &&
        (view->acceleration->plan == NULL ||
         clr_select_check_now(view->connection->db, &view->select) != SQLITE_OK))
        view->acceleration->is_outdated = true;
    text = sqlite3_str_new(NULL);
    sqlite3_str_appendall(text, explanation == NULL ? "" : explanation);
    info->idxNum = sqlite3_str_length(text);
    for (parameter = 0; parameter < count; parameter++) {
        i = find_constraint(info, first + parameter);
        if (i == -2) {
            sqlite3_free(sqlite3_str_finish(text));
            return SQLITE_CONSTRAINT;
        }
        if (i < 0)
            continue;
        if (given == 0)
            sqlite3_str_appendall(text, parameter_mark);
        sqlite3_str_appendf(text, " %d", parameter + 1);
        if ((i >= UNCHECKED || given >= UNCHECKED) &&
            info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ)
            sqlite3_str_appendchar(text, 1, compared_mark);
        info->aConstraintUsage[i].argvIndex = ++given;
        info->aConstraintUsage[i].omit = 1;
    }
    /* Dear without a parameter, so that each term of an OR has its own, where there are some. */
    for (i = given; i < count; i++)
        cost *= 100;
    info->idxStr = sqlite3_str_finish(text);
    info->needToFreeIdxStr = 1;
    info->estimatedCost = cost;
    info->estimatedRows = guess_rows(view);
    return info->idxStr == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

/* NULL is equal to nothing, so that SQLite would drop all rows. */
static int refuse_null(struct clr_view *view, long number)
{
    sqlite3_free(view->base.zErrMsg);
    view->base.zErrMsg = sqlite3_mprintf(
        "clreduce: parameter %ld of view %s is NULL, which SQLite compares by = behind %d other "
        "conditions: leave it out, or write IS NULL for its hidden column",
        number, view->name, UNCHECKED);
    return SQLITE_ERROR;
}

/*
 * Stores copies of the parameters that view_best_index() chose, by its number (at) and its
 * text, and whose count values xFilter has; the caller frees them. parameters has one pointer for
 * each parameter of the view, all NULL before: those that are not given stay so (clause 2 of
 * module.h). Returns SQLITE_OK, SQLITE_NOMEM, SQLITE_INTERNAL if that is no such text, or
 * SQLITE_ERROR, with the view's message, for a NULL that SQLite itself would compare by =.
 */
static int view_take_parameters(struct clr_view *view, int at, const char *text, int count,
                                sqlite3_value *const *values, sqlite3_value **parameters)
{
    char *end;
    int i;

    if (count == 0)
        return SQLITE_OK;
    if (at < 0 || (size_t)at > strlen(text) ||
        strncmp(text + at, parameter_mark, sizeof parameter_mark - 1) != 0)
        return SQLITE_INTERNAL;
    text += (size_t)at + sizeof parameter_mark - 1;
    for (i = 0; i < count; i++, text = end) {
        const long number = strtol(text, &end, 10);
        if (number < 1 || number > view->select.parameter_count || parameters[number - 1] != NULL)
            return SQLITE_INTERNAL;
        if (*end == compared_mark && sqlite3_value_type(values[i]) == SQLITE_NULL)
            return refuse_null(view, number);
        end += *end == compared_mark;
        parameters[number - 1] = sqlite3_value_dup(values[i]);
        if (parameters[number - 1] == NULL)
            return SQLITE_NOMEM;
    }
    return SQLITE_OK;
}

/* ---- Cursors. */

/* Views may read each other: an endless chain of them must not end in an overflow of the stack. */
enum { DEEPEST = 16 };

struct cursor {
    sqlite3_vtab_cursor base;
    sqlite3_stmt *select; /* the SELECT, once SQLite has had to run it; or NULL */
    unsigned prepared;    /* the connection's, when it was */
    int at_end;
    sqlite3_int64 row;
    sqlite3_uint64 first; /* what the rowids follow, if it is known */
    int has_first;
    sqlite3_value **parameters; /* copies, for the hidden columns */
    int is_kept;                /* the rows are those of kept, and not the SELECT's */
    struct clr_kept_rows kept;
    struct clr_answer answer; /* else its rows, where it has values */
};

/* The statement that has the rows, where they are not kept. */
static sqlite3_stmt *rows_of(const struct cursor *cursor)
{
    return cursor->answer.statement != NULL ? cursor->answer.statement : cursor->select;
}

/* The values that are the rows, or NULL. */
static const struct clr_group_values *values_of(const struct cursor *cursor)
{
    return cursor->answer.statement == NULL ? cursor->answer.values : NULL;
}

static struct clr_view *view_of(struct cursor *cursor)
{
    return (struct clr_view *)cursor->base.pVtab;
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **result)
{
    struct clr_view *view = (struct clr_view *)base;
    const size_t count = (size_t)view->select.parameter_count;
    struct cursor *cursor =
        clr_sqlite_alloc_zero(sizeof *cursor + count * sizeof *cursor->parameters);

    if (cursor == NULL)
        return SQLITE_NOMEM;
    cursor->parameters = (sqlite3_value **)(cursor + 1);
    view->cursors++;
    view->used = ++view->views->uses;
    *result = &cursor->base;
    return SQLITE_OK;
}

/* Gives up the rows. The SELECT is kept for the next ones, and for the next cursor unless another
   statement was prepared meanwhile: names mean to it what they mean to the statement that has the
   cursor. */
static void drop_rows(struct cursor *cursor)
{
    if (cursor->select != NULL) {
        sqlite3_reset(cursor->select);
        if (view_of(cursor)->select.parameter_count > 0)
            sqlite3_clear_bindings(cursor->select);
    }
    clr_kept_rows_free(&cursor->kept);
    clr_answer_free(&view_of(cursor)->acceleration->finisher, &cursor->answer);
    cursor->is_kept = cursor->has_first = 0;
}

static void drop_parameters(struct cursor *cursor)
{
    int i;

    for (i = 0; i < view_of(cursor)->select.parameter_count; i++) {
        sqlite3_value_free(cursor->parameters[i]);
        cursor->parameters[i] = NULL;
    }
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;
    struct clr_view *view = view_of(cursor);

    drop_rows(cursor);
    drop_parameters(cursor);
    if (view->idle == NULL && cursor->select != NULL) {
        view->idle = cursor->select;
        view->prepared = cursor->prepared;
    } else {
        sqlite3_finalize(cursor->select);
    }
    sqlite3_free(cursor);
    if (--view->cursors == 0)
        clr_parameter_sets_clear(&view->sets);
    return SQLITE_OK;
}

/* Passes on the error that SQLite reported last. */
static int fail(struct cursor *cursor, int rc)
{
    sqlite3_vtab *table = cursor->base.pVtab;
    int extended = sqlite3_extended_errcode(view_of(cursor)->connection->db);

    sqlite3_free(table->zErrMsg);
    table->zErrMsg = sqlite3_mprintf("%s", sqlite3_errmsg(view_of(cursor)->connection->db));
    cursor->at_end = 1;
    return (extended & 0xff) == (rc & 0xff) ? extended : rc;
}

static int next(sqlite3_vtab_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;
    struct clr_views *views = view_of(cursor)->views;
    int rc;

    cursor->row++;
    if (cursor->is_kept) {
        cursor->at_end = cursor->row * cursor->kept.columns >= cursor->kept.count;
        return SQLITE_OK;
    }
    if (values_of(cursor) != NULL) {
        cursor->at_end = (size_t)cursor->row >= values_of(cursor)->rows;
        return SQLITE_OK;
    }
    views->depth++;
    rc = sqlite3_step(rows_of(cursor));
    views->depth--;
    if (rc == SQLITE_ROW)
        return SQLITE_OK;
    if (rc != SQLITE_DONE)
        return fail(cursor, rc);
    cursor->at_end = 1;
    return SQLITE_OK;
}

/* Returns the SELECT that is idle, if there is one that would be prepared now. The acceleration has
   just looked at the limits, unless a function of its own run asks. */
static sqlite3_stmt *take_idle(struct clr_view *view)
{
    const struct clr_acceleration *acceleration = view->acceleration;
    sqlite3_stmt *idle = view->idle;

    view->idle = NULL;
    if (acceleration->is_running || view->prepared != view->connection->prepared ||
        memcmp(&acceleration->limits, &view->limits, sizeof view->limits) != 0) {
        sqlite3_finalize(idle);
        idle = NULL;
    }
    view->limits = acceleration->limits;
    return idle;
}

/* Lets SQLite run the SELECT. */
static int run_select(struct cursor *cursor)
{
    struct clr_view *view = view_of(cursor);
    int rc = SQLITE_OK;

    if (cursor->select == NULL) {
        cursor->select = take_idle(view);
        if (cursor->select == NULL)
            rc = clr_select_prepare(view->connection->db, &view->select, &cursor->select);
        cursor->prepared = view->connection->prepared;
    }
    return rc != SQLITE_OK
               ? rc
               : clr_values_bind(cursor->select, cursor->parameters, view->select.parameter_count);
}

/* Fetches the first row. SQLite does not know that INSERT INTO t SELECT * FROM view reads t, and
   would write while it reads: then all rows are kept before. */
static int fetch_first(struct cursor *cursor)
{
    const struct clr_view *view = view_of(cursor);
    int rc;

    if (!clr_is_writing(view->connection->db) || view->acceleration->was_spared)
        return next(&cursor->base);
    view->views->depth++;
    rc = clr_kept_rows_fill(&cursor->kept, rows_of(cursor));
    view->views->depth--;
    if (rc != SQLITE_DONE)
        return rc == SQLITE_NOMEM ? rc : fail(cursor, rc);
    cursor->is_kept = 1;
    cursor->at_end = cursor->kept.count == 0;
    return SQLITE_OK;
}

/* Gives the rows for those values of the parameters. */
static int fill(sqlite3_vtab_cursor *base, int index, const char *plan, int count,
                sqlite3_value **values)
{
    struct cursor *cursor = (struct cursor *)base;
    struct clr_view *view = view_of(cursor);
    bool answered = false;
    int rc;

    drop_rows(cursor);
    cursor->at_end = 0;
    cursor->row = 0;
    if (view->views->depth >= DEEPEST) {
        view->base.zErrMsg =
            sqlite3_mprintf("clreduce: view %s is nested more than %d deep", view->name, DEEPEST);
        return SQLITE_ERROR;
    }
    drop_parameters(cursor);
    rc = view_take_parameters(view, index, plan, count, values, cursor->parameters);
    if (rc == SQLITE_OK && view->select.column_count > 0)
        rc = clr_acceleration_run(view->acceleration, cursor->parameters, &cursor->kept,
                                  &cursor->answer, &answered);
    cursor->is_kept = answered && cursor->answer.values == NULL;
    cursor->at_end = cursor->is_kept && cursor->kept.count == 0;
    if (rc == SQLITE_OK && answered && !cursor->is_kept) {
        cursor->row = -1;
        rc = cursor->answer.statement != NULL ? fetch_first(cursor) : next(base);
        cursor->row = 0;
    }
    if (rc != SQLITE_OK || answered)
        return rc;
    rc = run_select(cursor);
    if (rc != SQLITE_OK)
        return rc == SQLITE_NOMEM ? rc : fail(cursor, rc);
    if (view->select.column_count == 0) {
        view->base.zErrMsg = sqlite3_mprintf("clreduce: the columns of view %s are not known, as "
                                             "its SELECT was an error: create it again",
                                             view->name);
        return SQLITE_ERROR;
    }
    rc = fetch_first(cursor);
    cursor->row = 0;
    if (rc == SQLITE_OK && view->select.view_name != NULL) {
        rc = clr_select_check(&view->select, cursor->select);
        if (rc == SQLITE_MISMATCH) {
            view->base.zErrMsg = sqlite3_mprintf(
                "clreduce: view %s has other columns now: call clreduce_accelerate(%Q) again",
                view->select.view_name, view->select.view_name);
            return SQLITE_ERROR;
        }
    }
    if (rc == SQLITE_OK && sqlite3_column_count(cursor->select) != view->select.column_count) {
        view->base.zErrMsg = sqlite3_mprintf("clreduce: the SELECT of view %s has %d columns now, "
                                             "and had %d when it was created: create it again",
                                             view->name, sqlite3_column_count(cursor->select),
                                             view->select.column_count);
        return SQLITE_ERROR;
    }
    return rc;
}

/* Rows for a CREATE TABLE ... AS SELECT are fetched by the schema that SQLite has in memory. */
static int filter(sqlite3_vtab_cursor *base, int index, const char *plan, int count,
                  sqlite3_value **values)
{
    const struct clr_view *view = view_of((struct cursor *)base);
    sqlite3_stmt *hold;
    int rc =
        clr_schema_settle(view->connection, view->argument, view->select.column_count > 0, &hold);

    if (rc == SQLITE_OK)
        rc = fill(base, index, plan, count, values);
    sqlite3_finalize(hold);
    return rc;
}

static int at_end(sqlite3_vtab_cursor *base)
{
    return ((struct cursor *)base)->at_end;
}

/* A view is a subquery to who reads it, and no subtype gets out of one: JSON is TEXT there. */
static void set_value(sqlite3_context *context, sqlite3_value *value)
{
    sqlite3_result_value(context, value);
    if (sqlite3_value_subtype(value) != 0)
        sqlite3_result_subtype(context, 0);
}

/* Gives a column's value. Returns whether the answer has that column. */
static bool give_value(const struct cursor *cursor, int number, sqlite3_context *context)
{
    const struct clr_group_values *values = values_of(cursor);
    sqlite3_int64 at = cursor->row * cursor->kept.columns + number;

    if (cursor->is_kept) {
        if (number >= cursor->kept.columns || at >= cursor->kept.count)
            return false;
        set_value(context, cursor->kept.values[at]);
    } else if (values != NULL) {
        if (number >= values->plain_count || (size_t)cursor->row >= values->rows)
            return false;
        clr_group_values_set(values, (size_t)cursor->row, values->plain_columns[number], context);
    } else {
        if (number >= sqlite3_data_count(rows_of(cursor)))
            return false;
        set_value(context, sqlite3_column_value(rows_of(cursor), number));
    }
    return true;
}

/* The number is one of the declaration's columns, and what it stands for an array's: no such number
   is trusted. */
static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int number)
{
    struct cursor *cursor = (struct cursor *)base;
    const struct clr_select *select = &view_of(cursor)->select;
    const int parameter = number - select->column_count;

    if (number < 0 || parameter >= select->parameter_count)
        return SQLITE_INTERNAL;
    if (parameter < 0)
        return give_value(cursor, number, context) ? SQLITE_OK : SQLITE_INTERNAL;
    if (cursor->parameters[parameter] != NULL)
        sqlite3_result_value(context, cursor->parameters[parameter]);
    return SQLITE_OK;
}

/* Terms of an OR may have cursors of their own, so that the sets of parameters are the view's. */
static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
    struct cursor *cursor = (struct cursor *)base;
    struct clr_view *view = view_of(cursor);
    int rc = SQLITE_OK;

    if (!cursor->has_first)
        rc = clr_parameter_set_find(&view->sets, cursor->parameters, view->select.parameter_count,
                                    &cursor->first);
    cursor->has_first = rc == SQLITE_OK;
    *id = (sqlite3_int64)((cursor->first + (sqlite3_uint64)cursor->row + 1) & INT64_MAX);
    return rc;
}

/* How a view is read, whichever module it is of. */
#define READING                                                                                    \
    .xBestIndex = view_best_index, .xDisconnect = disconnect_view, .xOpen = open_cursor,           \
    .xClose = close_cursor, .xFilter = filter, .xNext = next, .xEof = at_end, .xColumn = column,   \
    .xRowid = rowid

static const sqlite3_module module = {
    .xCreate = create_view, .xConnect = connect_view, .xDestroy = destroy_view, READING};

int clr_view_register(struct clr_connection *connection)
{
    int rc = clr_schema_lock_register(connection);

    if (rc == SQLITE_OK)
        rc = clr_groups_register(connection);
    if (rc != SQLITE_OK)
        return rc;
    return sqlite3_create_module_v2(connection->db, "clreduce", &module,
                                    clr_connection_retain(connection), clr_connection_release);
}

/* ---- Views that are made. */

/* Of the module that has such a view. */
struct made {
    struct clr_connection *connection;
    struct clr_view *learned; /* until SQLite connects it; NULL: it was connected before */
    bool compares;
    char argument[]; /* its SELECT, in parentheses */
};

static void free_made(void *pointer)
{
    struct made *made = pointer;

    if (made->learned != NULL)
        end_view(made->learned);
    clr_connection_release(made->connection);
    sqlite3_free(made);
}

static int connect_made(sqlite3 *db, void *pointer, int count, const char *const *arguments,
                        sqlite3_vtab **result, char **error)
{
    struct made *made = pointer;
    struct clr_view *learned = made->learned;

    (void)db;
    (void)count;
    made->learned = NULL;
    return learned != NULL ? show_view(learned, result, error)
                           : make(&(struct wanted){made->connection, arguments[0], made->argument,
                                                   false, true, made->compares},
                                  result, error);
}

/* Without xCreate: the table is there as soon as its module is, and in no schema
   (https://sqlite.org/vtab.html, section 2.1.2). */
static const sqlite3_module made_module = {.xConnect = connect_made, READING};

/* Makes the view of a module. Returns SQLITE_NOTFOUND, with the reason, if it has no plan. */
static int learn_made(struct made *made, const char *name, char **message)
{
    char reason[CLR_REASON_TEXT];
    int rc = learn_view(
        &(struct wanted){made->connection, name, made->argument, true, true, made->compares},
        &made->learned, message);

    if (rc != SQLITE_OK || made->learned->acceleration->plan != NULL)
        return rc;
    clr_reason_print(&made->learned->acceleration->last.reason, reason);
    clr_utf8_repair(reason);
    *message = sqlite3_mprintf("%s", reason);
    return *message == NULL ? SQLITE_NOMEM : SQLITE_NOTFOUND;
}

int clr_view_make(struct clr_connection *connection, const char *name, const char *sql,
                  bool compares, char **message)
{
    const size_t size = sizeof(struct made) + strlen(sql) + sizeof "(\n)";
    struct made *made = sqlite3_malloc64(size);
    int rc;

    if (made == NULL)
        return SQLITE_NOMEM;
    *made = (struct made){.connection = clr_connection_retain(connection), .compares = compares};
    /* The newline ends a comment. */
    sqlite3_snprintf((int)(size - sizeof *made), made->argument, "(%s\n)", sql);
    rc = learn_made(made, name, message);
    /* Amid a statement that has had no memory SQLite registers a module and frees what it has. */
    if (rc == SQLITE_OK && sqlite3_errcode(connection->db) == SQLITE_NOMEM)
        rc = SQLITE_NOMEM;
    if (rc == SQLITE_OK)
        return sqlite3_create_module_v2(connection->db, name, &made_module, made, free_made);
    free_made(made);
    return rc;
}
