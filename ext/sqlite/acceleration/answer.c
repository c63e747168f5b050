#include "sqlite/acceleration/answer.h"

#include "sqlite/acceleration/finish.h"
#include "sqlite/acceleration/probes.h"
#include "sqlite/session/sql_value.h"
#include "sqlite/session/statement.h"

#include <string.h>

void clr_answer_drop(struct clr_answer *answer)
{
    sqlite3_finalize(answer->statement);
    answer->statement = NULL;
}

/* Prepares the statement in the default floating-point environment, as clr_select_prepare() does
   the SELECT: so are its literals. In another one it is not kept, as SQLite may prepare it anew
   when it is stepped. */
static int prepare(struct clr_answer *answer, sqlite3 *db, const char *sql,
                   const struct clr_float_environment *environment)
{
    struct clr_float_environment before;
    int rc;

    if (answer->statement != NULL && !answer->is_stale &&
        clr_float_environment_is_default(environment))
        return SQLITE_OK;
    clr_answer_drop(answer);
    before = clr_float_environment_begin();
    rc = clr_statement_make(db, sql, SQLITE_PREPARE_PERSISTENT, &answer->statement);
    clr_float_environment_end(&before);
    answer->is_stale = false;
    return rc;
}

/* Binds the parameters, and the values of the aggregates. Returns SQLite's code, or that of
   clr_finish_call(); then the reason says which aggregate is SQLite's. */
static int bind(sqlite3_stmt *answer, int given, sqlite3_value *const *parameters,
                struct clr_query_run *run, struct clr_reason *reason)
{
    const struct clr_query *query = run->query;
    const int count = sqlite3_bind_parameter_count(answer);
    int rc = SQLITE_OK, i;

    for (i = 0; i < given && i < count && rc == SQLITE_OK; i++) {
        if (parameters[i] != NULL)
            rc = clr_value_bind(answer, i + 1, parameters[i]);
    }
    for (i = 0; i < query->call_count && rc == SQLITE_OK; i++)
        rc = clr_finish_call(run, &query->calls[i], answer, given + 1 + i);
    if (rc == SQLITE_MISMATCH)
        clr_finish_refuse(&query->calls[i - 1], reason);
    return rc;
}

int clr_answer_make(struct clr_answer *answer, sqlite3 *db, const struct clr_select *select,
                    struct clr_query_run *run, sqlite3_value *const *parameters,
                    const struct clr_float_environment *environment, struct clr_kept_rows *rows,
                    struct clr_reason *reason)
{
    int rc = prepare(answer, db, run->query->answer, environment);

    if (rc != SQLITE_OK) {
        clr_reason_set_name(reason, CLR_WHY_SQLITE_ERROR, sqlite3_errmsg(db),
                            strlen(sqlite3_errmsg(db)));
        return SQLITE_OK;
    }
    rc = bind(answer->statement, select->parameter_count, parameters, run, reason);
    if (rc != SQLITE_OK && rc != SQLITE_MISMATCH)
        clr_reason_set(reason, CLR_WHY_ANSWER_UNBOUND);
    else if (rc == SQLITE_OK && !clr_probes_pass(answer->statement, select->column_count))
        clr_reason_set(reason, CLR_WHY_ANSWER);
    else if (rc == SQLITE_OK)
        rc = clr_kept_rows_add(rows, answer->statement, select->column_count);
    sqlite3_reset(answer->statement);
    sqlite3_clear_bindings(answer->statement);
    return rc == SQLITE_NOMEM ? rc : SQLITE_OK;
}
