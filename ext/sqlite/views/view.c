/* The contract whose numbers are cited here is in view.h. */
#include "sqlite/views/view.h"

#include "sqlite/view/few_rows.h"
#include "sqlite/schema/schema_lock.h"
#include "sqlite/session/statement.h"
#include "sqlite/session/sql_value.h"
#include "sqlite/views/view_life.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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
    sqlite3_str *text = sqlite3_str_new(NULL);
    double cost = 1e6;
    int i, parameter, given = 0;

    view->acceleration->finisher.is_stale = view->acceleration->few.is_stale = true;
    /* What an ordinary view may do is a matter of rights and trust in its schema, too. */
    if (view->select.view_name != NULL &&
        (view->acceleration->plan == NULL ||
         clr_select_check_now(view->connection->db, &view->select) != SQLITE_OK))
        view->acceleration->is_outdated = true;
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
    info->estimatedRows = 25;
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
 * view.h). Returns SQLITE_OK, SQLITE_NOMEM, SQLITE_INTERNAL if that is no such text, or
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
    struct cursor *cursor = sqlite3_malloc64(sizeof *cursor + count * sizeof *cursor->parameters);

    if (cursor == NULL)
        return SQLITE_NOMEM;
    memset(cursor, 0, sizeof *cursor + count * sizeof *cursor->parameters);
    cursor->parameters = (sqlite3_value **)(cursor + 1);
    view->cursors++;
    view->used = ++clr_views_of(view->connection)->uses;
    *result = &cursor->base;
    return SQLITE_OK;
}

/* Gives up the rows. The SELECT is kept for the next one: until the cursor is closed names mean
   to it what they mean to the statement that has the cursor. */
static void drop_rows(struct cursor *cursor)
{
    if (cursor->select != NULL) {
        sqlite3_reset(cursor->select);
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
    sqlite3_finalize(cursor->select);
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
    struct clr_connection *connection = view_of(cursor)->connection;
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
    clr_views_of(connection)->depth++;
    rc = sqlite3_step(rows_of(cursor));
    clr_views_of(connection)->depth--;
    if (rc == SQLITE_ROW)
        return SQLITE_OK;
    if (rc != SQLITE_DONE)
        return fail(cursor, rc);
    cursor->at_end = 1;
    return SQLITE_OK;
}

/* Lets SQLite run the SELECT. */
static int run_select(struct cursor *cursor)
{
    struct clr_view *view = view_of(cursor);
    int rc = SQLITE_OK, i;

    if (cursor->select == NULL)
        rc = clr_select_prepare(view->connection->db, &view->select, &cursor->select);
    if (rc != SQLITE_OK)
        return rc;
    for (i = 0; i < view->select.parameter_count && rc == SQLITE_OK; i++) {
        if (cursor->parameters[i] != NULL)
            rc = clr_value_bind(cursor->select, i + 1, cursor->parameters[i]);
    }
    return rc;
}

/* SQLite does not know that INSERT INTO t SELECT * FROM view reads t, and writes while it reads. */
static int keep_rows(struct cursor *cursor)
{
    struct clr_connection *connection = view_of(cursor)->connection;
    int rc;

    clr_views_of(connection)->depth++;
    rc = clr_kept_rows_fill(&cursor->kept, rows_of(cursor));
    clr_views_of(connection)->depth--;
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
    if (clr_views_of(view->connection)->depth >= DEEPEST) {
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
        rc = cursor->answer.statement != NULL && clr_is_writing(view->connection->db)
                 ? keep_rows(cursor)
                 : next(base);
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
    rc = clr_is_writing(view->connection->db) ? keep_rows(cursor) : next(base);
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
    int rc = clr_schema_settle(view->connection, view->select.column_count > 0, &hold);

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
        rc = clr_parameter_sets_find(&view->sets, cursor->parameters, view->select.parameter_count,
                                     &cursor->first);
    cursor->has_first = rc == SQLITE_OK;
    *id = (sqlite3_int64)((cursor->first + (sqlite3_uint64)cursor->row + 1) & INT64_MAX);
    return rc;
}

static const sqlite3_module module = {
    .xCreate = clr_view_create,
    .xConnect = clr_view_connect,
    .xBestIndex = view_best_index,
    .xDisconnect = clr_view_disconnect,
    .xDestroy = clr_view_destroy,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = filter,
    .xNext = next,
    .xEof = at_end,
    .xColumn = column,
    .xRowid = rowid,
};

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
