#include "sqlite/view/finish.h"

#include "base/memory.h"
#include "sqlite/columns/column_source.h"
#include "sqlite/session/sql_value.h"
#include "sqlite/session/statement.h"

#include <string.h>

/* ---- Statements. */

/* Gives up what a statement was bound to. */
static void settle(sqlite3_stmt *statement)
{
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
}

void clr_finisher_drop(struct clr_finisher *finisher)
{
    sqlite3_finalize(finisher->probes);
    sqlite3_finalize(finisher->different);
    sqlite3_finalize(finisher->rows);
    *finisher = (struct clr_finisher){.number = finisher->number + 1};
}

/* Prepares a statement of the finisher's, unless it is there, in the default floating-point
   environment, as clr_select_prepare() does the SELECT: so are its literals. Returns whether it is
   there; if not, the reason says why. */
static bool prepare(sqlite3 *db, const char *sql, sqlite3_stmt **statement,
                    struct clr_reason *reason)
{
    struct clr_float_environment before;
    int rc;

    if (*statement != NULL)
        return true;
    before = clr_float_environment_begin();
    rc = clr_statement_make(db, sql, SQLITE_PREPARE_PERSISTENT, statement);
    clr_float_environment_end(&before);
    if (rc != SQLITE_OK)
        clr_statement_refuse(db, rc, reason);
    return rc == SQLITE_OK;
}

/* Whether the functions that the scan computed are SQLite's and ours, and the table of groups can
   be read: all columns of the probes' one row are 7. */
static bool pass_probes(const struct clr_finish_input *input, struct clr_finisher *finisher,
                        struct clr_reason *reason)
{
    sqlite3_stmt *probes;
    bool pass;
    int i;

    if (!prepare(input->db, input->run->query->probes, &finisher->probes, reason))
        return false;
    probes = finisher->probes;
    pass =
        clr_group_values_bind(probes, 1, NULL) == SQLITE_OK && sqlite3_step(probes) == SQLITE_ROW;
    for (i = 0; pass && i < sqlite3_column_count(probes); i++) {
        const int type = sqlite3_column_type(probes, i);

        pass = (type == SQLITE_INTEGER || type == SQLITE_FLOAT) &&
               sqlite3_column_double(probes, i) == 7.0;
    }
    settle(probes);
    if (!pass)
        clr_reason_set(reason, CLR_WHY_ANSWER);
    return pass;
}

/* Says why SQLite has to compute a call, by its name, and its argument if that is a column. */
static void refuse_call(const struct clr_finish_input *input, const struct clr_call *call,
                        struct clr_reason *reason)
{
    const struct clr_query *query = input->run->query;
    const struct clr_tally_plan *tally = &query->tallies[call->tally];
    const char *column = "";
    char name[CLR_REASON_NAME];

    if (tally->y < 0 && tally->x >= 0 && query->instructions[tally->x].opcode == CLR_OP_COLUMN)
        column = clr_column_name(query, input->table, query->instructions[tally->x].a);
    sqlite3_snprintf(sizeof name, name, "%s(%s)", clr_call_name(call), column);
    clr_reason_set_name(reason,
                        !call->builtin || call->is_exact              ? CLR_WHY_RESULT_ERROR
                        : call->aggregate->needs == CLR_NEEDS_EXTREME ? CLR_WHY_FIRST_OF_EQUALS
                        : call->aggregate->needs == CLR_NEEDS_VALUES  ? CLR_WHY_LISTED
                                                                      : CLR_WHY_ROUNDING,
                        name, strlen(name));
}

static int make_values(const struct clr_finish_input *input, struct clr_answer *answer,
                       struct clr_reason *reason)
{
    const struct clr_float_environment before = clr_float_environment_begin();
    const uint64_t taken = input->groups == NULL ? 0 : clr_groups_size(input->groups);
    const uint64_t left = taken < input->memory ? input->memory - taken : 0;
    const struct clr_call *unsure = NULL;
    const enum clr_scan_outcome outcome =
        clr_group_values_make(input->run, input->groups, input->groups == NULL ? UINT64_MAX : left,
                              input->watch, &answer->values, &unsure);

    clr_float_environment_end(&before);
    if (outcome == CLR_SCAN_STOPPED)
        return SQLITE_INTERRUPT;
    if (outcome == CLR_SCAN_UNSURE)
        refuse_call(input, unsure, reason);
    else if (outcome == CLR_SCAN_LIMIT)
        clr_reason_set(reason, CLR_WHY_VALUES_MEMORY);
    else if (outcome != CLR_SCAN_DONE)
        clr_reason_set(reason, CLR_WHY_SCAN_MEMORY);
    return SQLITE_OK;
}

/* Whether all rows are one group, and there are none: SQLite has a row all the same. */
static bool lacks_group(const struct clr_finish_input *input)
{
    const struct clr_query *query = input->run->query;

    return input->groups != NULL && !query->is_grouped && !query->has_rows &&
           clr_groups_count(input->groups) == 0;
}

/* Whether no two groups have keys that are equal by a collating sequence. */
static bool are_different(const struct clr_finish_input *input, struct clr_finisher *finisher,
                          const struct clr_answer *answer, struct clr_reason *reason)
{
    bool are;

    if (input->run->query->different == NULL)
        return true;
    if (!prepare(input->db, input->run->query->different, &finisher->different, reason))
        return false;
    are = clr_group_values_bind(finisher->different, 1, answer->values) == SQLITE_OK &&
          sqlite3_step(finisher->different) == SQLITE_ROW &&
          sqlite3_column_int(finisher->different, 0) == 1;
    settle(finisher->different);
    if (!are)
        clr_reason_set(reason, CLR_WHY_EQUAL_KEYS);
    return are;
}

/* ---- Answers. */

/* Takes the statement that makes the rows, and binds the parameters and the values. */
static int begin_rows(const struct clr_finish_input *input, struct clr_finisher *finisher,
                      struct clr_answer *answer, struct clr_reason *reason)
{
    const int given = input->select->parameter_count;
    int rc;

    if (!prepare(input->db, input->run->query->answer, &finisher->rows, reason))
        return SQLITE_OK;
    answer->statement = finisher->rows;
    answer->number = finisher->number;
    finisher->rows = NULL;
    if (sqlite3_column_count(answer->statement) != input->select->column_count) {
        clr_reason_set(reason, CLR_WHY_SCHEMA_CHANGES);
        return SQLITE_OK;
    }
    rc = clr_values_bind(answer->statement, input->parameters, given);
    if (rc == SQLITE_OK)
        rc = clr_group_values_bind(answer->statement, given + 1, answer->values);
    if (rc != SQLITE_OK && rc != SQLITE_NOMEM)
        clr_reason_set(reason, CLR_WHY_ANSWER_UNBOUND);
    return rc == SQLITE_NOMEM ? rc : SQLITE_OK;
}

/* In another floating-point environment no statement is kept, as SQLite may prepare it anew when it
   is stepped. */
int clr_answer_make(const struct clr_finish_input *input, struct clr_finisher *finisher,
                    struct clr_answer *answer, struct clr_reason *reason)
{
    const bool is_default = clr_float_environment_is_default(input->environment);
    int rc = SQLITE_OK;

    if (finisher->is_stale || !is_default)
        clr_finisher_drop(finisher);
    finisher->is_stale = !is_default;
    if (pass_probes(input, finisher, reason)) {
        if (input->kept != NULL)
            answer->values = clr_group_values_retain(input->kept);
        else if (lacks_group(input))
            clr_reason_set(reason, CLR_WHY_NONE_LISTED);
        else
            rc = make_values(input, answer, reason);
    }
    if (rc == SQLITE_OK && reason->code == CLR_WHY_NONE &&
        are_different(input, finisher, answer, reason) && answer->values->plain_count == 0)
        rc = begin_rows(input, finisher, answer, reason);
    if (rc != SQLITE_OK || reason->code != CLR_WHY_NONE)
        clr_answer_free(finisher, answer);
    return rc;
}

void clr_answer_free(struct clr_finisher *finisher, struct clr_answer *answer)
{
    if (answer->statement != NULL) {
        settle(answer->statement);
        if (finisher->rows == NULL && !finisher->is_stale && answer->number == finisher->number)
            finisher->rows = answer->statement;
        else
            sqlite3_finalize(answer->statement);
    }
    clr_group_values_release(answer->values);
    *answer = (struct clr_answer){.values = NULL};
}
