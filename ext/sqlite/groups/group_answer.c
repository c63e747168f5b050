#include "sqlite/groups/group_answer.h"

#include "sqlite/acceleration/finish.h"
#include "sqlite/acceleration/probes.h"
#include "sqlite/groups/group_table.h"
#include "sqlite/session/sql_value.h"
#include "sqlite/session/statement.h"

#include <string.h>

void clr_group_answer_free(struct clr_group_answer *answer)
{
    sqlite3_finalize(answer->statement);
    clr_group_values_free(answer->values);
    *answer = (struct clr_group_answer){NULL, NULL};
}

/* Prepares a text in the default floating-point environment, as clr_select_prepare() does the
   SELECT: so are its literals. */
static int prepare(sqlite3 *db, const char *sql, sqlite3_stmt **statement,
                   struct clr_reason *reason)
{
    const struct clr_float_environment before = clr_float_environment_begin();
    const int rc = clr_statement_make(db, sql, 0, statement);

    clr_float_environment_end(&before);
    if (rc != SQLITE_OK)
        clr_reason_set_name(reason, CLR_WHY_SQLITE_ERROR, sqlite3_errmsg(db),
                            strlen(sqlite3_errmsg(db)));
    return rc;
}

/* Whether the functions that the scan computed are SQLite's and ours, and the table of groups can
   be read. */
static bool pass_probes(const struct clr_group_input *input, struct clr_reason *reason)
{
    sqlite3_stmt *probes = NULL;
    bool pass;

    if (prepare(input->db, input->run->query->probes, &probes, reason) != SQLITE_OK)
        return false;
    pass = clr_group_table_bind(probes, 1, NULL) == SQLITE_OK && clr_probes_pass(probes, 0);
    sqlite3_finalize(probes);
    if (!pass)
        clr_reason_set(reason, CLR_WHY_ANSWER);
    return pass;
}

static int make_values(const struct clr_group_input *input, struct clr_group_answer *answer,
                       struct clr_reason *reason)
{
    const struct clr_float_environment before = clr_float_environment_begin();
    const uint64_t taken = clr_groups_size(input->groups);
    const uint64_t left = taken < input->memory ? input->memory - taken : 0;
    const struct clr_call *unsure = NULL;
    const enum clr_scan_outcome outcome = clr_group_values_make(
        input->run, input->groups, left, input->watch, &answer->values, &unsure);

    clr_float_environment_end(&before);
    switch (outcome) {
    case CLR_SCAN_DONE:
        return SQLITE_OK;
    case CLR_SCAN_STOPPED:
        return SQLITE_INTERRUPT;
    case CLR_SCAN_UNSURE:
        clr_finish_refuse(unsure, reason);
        return SQLITE_OK;
    case CLR_SCAN_LIMIT:
        clr_reason_set(reason, CLR_WHY_VALUES_MEMORY);
        return SQLITE_OK;
    default:
        clr_reason_set(reason, CLR_WHY_SCAN_MEMORY);
        return SQLITE_OK;
    }
}

/* Whether no two groups have keys that are equal by a collating sequence. */
static bool are_different(const struct clr_group_input *input,
                          const struct clr_group_answer *answer, struct clr_reason *reason)
{
    sqlite3_stmt *statement = NULL;
    bool are;

    if (input->run->query->different == NULL)
        return true;
    if (prepare(input->db, input->run->query->different, &statement, reason) != SQLITE_OK)
        return false;
    are = clr_group_table_bind(statement, 1, answer->values) == SQLITE_OK &&
          sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_int(statement, 0) == 1;
    sqlite3_finalize(statement);
    if (!are)
        clr_reason_set(reason, CLR_WHY_EQUAL_KEYS);
    return are;
}

static int bind(const struct clr_group_input *input, const struct clr_group_answer *answer)
{
    const int given = input->select->parameter_count;
    int rc = SQLITE_OK, i;

    for (i = 0; i < given && rc == SQLITE_OK; i++) {
        if (input->parameters[i] != NULL)
            rc = clr_value_bind(answer->statement, i + 1, input->parameters[i]);
    }
    return rc == SQLITE_OK ? clr_group_table_bind(answer->statement, given + 1, answer->values)
                           : rc;
}

static int make(const struct clr_group_input *input, struct clr_group_answer *answer,
                struct clr_reason *reason)
{
    int rc;

    if (!pass_probes(input, reason) ||
        prepare(input->db, input->run->query->answer, &answer->statement, reason) != SQLITE_OK)
        return SQLITE_OK;
    if (sqlite3_column_count(answer->statement) != input->select->column_count) {
        clr_reason_set(reason, CLR_WHY_SCHEMA_CHANGES);
        return SQLITE_OK;
    }
    rc = make_values(input, answer, reason);
    if (rc != SQLITE_OK || reason->code != CLR_WHY_NONE || !are_different(input, answer, reason))
        return rc;
    rc = bind(input, answer);
    if (rc != SQLITE_OK && rc != SQLITE_NOMEM) {
        clr_reason_set(reason, CLR_WHY_ANSWER_UNBOUND);
        rc = SQLITE_OK;
    }
    return rc;
}

int clr_group_answer_make(const struct clr_group_input *input, struct clr_group_answer *answer,
                          struct clr_reason *reason)
{
    const int rc = make(input, answer, reason);

    if (rc != SQLITE_OK || reason->code != CLR_WHY_NONE)
        clr_group_answer_free(answer);
    return rc;
}
