#include "sqlite/views/view_parameters.h"

#include <stdlib.h>
#include <string.h>

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
int clr_view_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    struct clr_view *view = (struct clr_view *)base;
    const int first = view->select.column_count, count = view->select.parameter_count;
    const char *explanation = clr_acceleration_explain(view->acceleration, 0);
    sqlite3_str *text = sqlite3_str_new(NULL);
    double cost = 1e6;
    int i, parameter, given = 0;

    view->acceleration->answer.is_stale = view->acceleration->few.is_stale = true;
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

int clr_view_take_parameters(struct clr_view *view, int at, const char *text, int count,
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
