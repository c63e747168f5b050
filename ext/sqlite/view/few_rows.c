#include "sqlite/view/few_rows.h"

#include "base/clock.h"
#include "base/float_environment.h"
#include "numeric/values/value.h"
#include "sqlite/session/sql_value.h"
#include "sqlite/session/statement.h"

#include <string.h>

/*
 * SQLite may take the time of a scan before that begins: so a query takes twice the time of the
 * quicker of the two at most, whichever that is (the break-even rule of ski rental; Karlin et al.,
 * Competitive snoopy caching, Algorithmica 3, 1988). As long as the columns have not been here it
 * may take the time of a load, LOAD_NS nanoseconds for each row of the table, by all queries
 * together: who asks again and again has the columns loaded. But queries that a scan would be no
 * quicker for, one in SCANNED of a nanosecond for each row, do not count.
 *
 * LEAST_ROWS are few whatever they take; behind them the clock is read once for so many rows. Rows
 * that have subqueries evaluated may take any time: there the clock is read for each of them.
 */
enum { LOAD_NS = 10, SCANNED = 2, LEAST_ROWS = 128, CLOCK_ROWS = 16 };

/* What has taken too long is begun again by the query so many later, at least, of those with the
   same parameters, or, as long as it is not known what a scan takes, by the second. */
enum { LEAST_PAUSE = 32 };

/* Rows of a table that has no rowids to tell them. */
enum { UNKNOWN_ROWS = 100000 };

/* ---- Rows that are kept. */

static int keep(struct clr_kept_rows *rows, sqlite3_value *value)
{
    if (rows->count == rows->capacity) {
        sqlite3_int64 capacity = rows->capacity * 2 + 64;
        sqlite3_value **values =
            sqlite3_realloc64(rows->values, (sqlite3_uint64)capacity * sizeof *values);
        if (values == NULL)
            return SQLITE_NOMEM;
        rows->values = values;
        rows->capacity = capacity;
    }
    rows->values[rows->count] = sqlite3_value_dup(value);
    if (rows->values[rows->count] == NULL)
        return SQLITE_NOMEM;
    rows->count++;
    return SQLITE_OK;
}

int clr_kept_rows_fill(struct clr_kept_rows *rows, sqlite3_stmt *statement)
{
    int rc, i;

    while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
        rows->columns = sqlite3_column_count(statement);
        for (i = 0; i < rows->columns; i++)
            if (keep(rows, sqlite3_column_value(statement, i)) != SQLITE_OK)
                return SQLITE_NOMEM;
    }
    return rc;
}

void clr_kept_rows_free(struct clr_kept_rows *rows)
{
    while (rows->count > 0)
        sqlite3_value_free(rows->values[--rows->count]);
    sqlite3_free(rows->values);
    memset(rows, 0, sizeof *rows);
}

/* ---- What a view remembers. */

static const char pointer_type[] = "clreduce few rows";

/* What the function counts, and when it is too much. */
struct budget {
    int64_t rows, end; /* of the clock */
    bool has_subqueries, is_spent;
};

void clr_few_rows_drop(struct clr_few_rows *few)
{
    sqlite3_finalize(few->statement);
    *few = (struct clr_few_rows){.scan_ns = few->scan_ns};
}

/* ---- The function. */

static void count_row(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct budget *budget = sqlite3_value_pointer(values[0], pointer_type);

    (void)count;
    if (budget == NULL) {
        sqlite3_result_error(context, CLR_ROW_COUNTER "() is for accelerated views alone", -1);
        return;
    }
    budget->rows++;
    budget->is_spent =
        (budget->has_subqueries || (budget->rows > LEAST_ROWS && budget->rows % CLOCK_ROWS == 0)) &&
        clr_clock_ns() > budget->end;
    if (budget->is_spent)
        sqlite3_result_error(context, "a scan is quicker", -1);
    else
        sqlite3_result_int(context, 1);
}

const struct clr_sql_function clr_few_rows_functions[] = {
    {CLR_ROW_COUNTER, 1, SQLITE_DIRECTONLY, count_row, NULL},
    {.name = NULL},
};

/* ---- The statement. */

static bool are_alike(const struct clr_walk *a, const struct clr_walk *b)
{
    return a->kind == b->kind && a->tree == b->tree && a->descends == b->descends &&
           a->is_whole == b->is_whole && a->has_lists == b->has_lists &&
           a->ends_early == b->ends_early && a->has_sorter == b->has_sorter &&
           a->finds_values == b->finds_values;
}

/* Prepares the SELECT that counts, if need be. Its rows are the SELECT's, in the same order, as
   long as SQLite goes over the table's in the same way. */
static int prepare(struct clr_few_rows *few, sqlite3 *db, const struct clr_plan *plan)
{
    struct clr_float_environment before;
    struct clr_bytecode program;
    struct clr_walk walk;
    int rc;

    if (few->statement != NULL && !few->is_stale)
        return SQLITE_OK;
    sqlite3_finalize(few->statement);
    few->statement = NULL;
    few->is_stale = false;
    before = clr_float_environment_begin();
    rc = clr_bytecode_read(db, &program, "%s", plan->query->counted);
    if (rc == SQLITE_OK) {
        walk = clr_bytecode_walk(&program);
        few->is_other = !are_alike(&walk, &plan->walk);
    }
    clr_bytecode_free(&program);
    if (rc == SQLITE_OK && !few->is_other)
        rc = clr_statement_make(db, plan->query->counted, SQLITE_PREPARE_PERSISTENT,
                                &few->statement);
    clr_float_environment_end(&before);
    few->is_other = few->is_other || (rc != SQLITE_OK && rc != SQLITE_NOMEM);
    return rc == SQLITE_NOMEM ? rc : SQLITE_OK;
}

/* ---- How many rows are few. */

/* Without memory it is 0, whatever they are: no answer follows from it. */
static uint64_t hash_parameters(sqlite3_value *const *parameters, int count)
{
    struct clr_value bytes = {.kind = CLR_KIND_BLOB};
    struct clr_copied_values copy;
    uint64_t hash = 0;

    if (clr_values_copy(parameters, count, &copy)) {
        bytes.bytes = copy.bytes;
        bytes.as.size = copy.size;
        hash = clr_bytes_hash(&bytes, 1);
    }
    sqlite3_free(copy.bytes);
    return hash;
}

/* Returns the number of a table's rows, by its greatest rowid if it has any: a guess. */
static int64_t guess_rows(sqlite3 *db, const struct clr_table_info *table)
{
    const bool has_rowids = !table->without_rowid && table->columns[table->column_count].readable;
    const int64_t last = has_rowids ? clr_last_rowid(db, table->schema, table->name) : 0;

    return last > 0 ? last : UNKNOWN_ROWS;
}

/* Returns how many nanoseconds SQLite may take. */
static int64_t find_time(struct clr_few_rows *few, sqlite3 *db, const struct clr_table_info *table)
{
    if (few->table_rows == 0)
        few->table_rows = guess_rows(db, table);
    if (few->scan_ns > 0)
        return few->scan_ns;
    return few->table_rows < INT64_MAX / LOAD_NS ? few->table_rows * LOAD_NS - few->spent_ns
                                                 : INT64_MAX / 2;
}

/* ---- The run. */

/* Steps the statement. Returns SQLITE_DONE with all rows, or why not. */
static int run(struct clr_few_rows *few, int given, sqlite3_value *const *parameters,
               struct budget *budget, struct clr_kept_rows *rows)
{
    sqlite3_stmt *statement = few->statement;
    const int before = sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_REPREPARE, 0);
    int rc = clr_values_bind(statement, parameters, given);

    if (rc == SQLITE_OK)
        rc = sqlite3_bind_pointer(statement, given + 1, budget, pointer_type, NULL);
    if (rc == SQLITE_OK)
        rc = clr_kept_rows_fill(rows, statement);
    if (rc != SQLITE_DONE)
        clr_kept_rows_free(rows);
    rows->columns = sqlite3_column_count(statement);
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    /* Prepared anew it may go over the rows in another way. */
    if (sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_REPREPARE, 0) != before) {
        few->is_stale = true;
        clr_kept_rows_free(rows);
        return rc == SQLITE_DONE ? SQLITE_SCHEMA : rc;
    }
    return rc;
}

/* Whether it may be that few rows are read, as far as the code tells. */
static bool may_be_few(const struct clr_select *select, const struct clr_plan *plan)
{
    const struct clr_walk *walk = &plan->walk;

    return walk->kind == CLR_WALK_ONE ||
           (walk->kind == CLR_WALK_TREE && plan->query->counted != NULL &&
            select->view_name == NULL && (!walk->is_whole || walk->ends_early));
}

int clr_few_rows_answer(struct clr_few_rows *few, struct clr_connection *connection,
                        const struct clr_select *select, const struct clr_plan *plan,
                        sqlite3_value *const *parameters, struct clr_kept_rows *rows,
                        bool *answered, struct clr_reason *reason)
{
    struct budget budget = {.has_subqueries = plan->query->looks_up_subqueries};
    int64_t start, taken;
    uint64_t hash;
    int rc;

    *answered = false;
    /* With a threshold of 0 scans are wanted whatever the table's size. */
    if (connection->settings.view_threshold == 0 || !may_be_few(select, plan))
        return SQLITE_OK;
    if (plan->walk.kind == CLR_WALK_ONE) {
        clr_reason_set_numbers(reason, CLR_WHY_FEW_ROWS, 1, 0);
        return SQLITE_OK;
    }
    hash = hash_parameters(parameters, select->parameter_count);
    if (hash == few->failed && clr_backoff_skips(&few->running))
        return SQLITE_OK;
    rc = prepare(few, connection->db, plan);
    if (rc != SQLITE_OK || few->is_other)
        return rc;
    start = clr_clock_ns();
    budget.end = start + find_time(few, connection->db, &plan->table);
    rc = run(few, select->parameter_count, parameters, &budget, rows);
    if (rc == SQLITE_NOMEM || rc == SQLITE_INTERRUPT)
        return rc;
    taken = clr_clock_ns() - start;
    if (taken > few->table_rows / SCANNED)
        few->spent_ns += taken;
    if (budget.is_spent) {
        if (hash != few->failed)
            few->running.pause = 0;
        few->failed = hash;
        clr_backoff_failed(&few->running, few->scan_ns > 0 ? LEAST_PAUSE : 2);
        return SQLITE_OK;
    }
    /* What is an error to SQLite is SQLite's to say. */
    *answered = rc == SQLITE_DONE;
    clr_reason_set_numbers(reason, CLR_WHY_FEW_ROWS, budget.rows, 0);
    return SQLITE_OK;
}
