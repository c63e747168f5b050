#include "sqlite/view/acceleration.h"

#include "base/clock.h"
#include "base/float_environment.h"
#include "base/memory.h"
#include "base/status.h"
#include "engine/worker/runtime.h"
#include "engine/worker/team.h"
#include "query/literals.h"
#include "query/query.h"
#include "sqlite/cache/cache.h"
#include "sqlite/session/sql_value.h"

#include <string.h>

/* ---- The plan. */

/* How often a SELECT is planned for one query, while the schema changes. */
enum { MOST_PLANS = 3 };

static void forget_pauses(struct clr_acceleration *acceleration)
{
    acceleration->looking = acceleration->keeping = (struct clr_backoff){.pause = 0};
}

static void drop_plan(struct clr_acceleration *acceleration)
{
    int i;

    for (i = 0; i < CLR_MOST_LOOKUPS; i++)
        clr_lookup_memo_free(&acceleration->memos[i]);
    clr_tables_version_forget(&acceleration->dimensions);
    clr_finisher_drop(&acceleration->finisher);
    clr_few_rows_drop(&acceleration->few);
    clr_kept_answer_drop(&acceleration->kept);
    clr_plan_free(acceleration->plan);
    acceleration->plan = NULL;
    acceleration->is_outdated = false;
    acceleration->deriving.checked_age = 0;
    acceleration->deriving.has_zones = false;
    forget_pauses(acceleration);
}

/* Whether a reason why there is no plan may be believed for a while. */
static bool is_lasting(enum clr_reason_code why, const struct clr_select *select)
{
    return why != CLR_WHY_NONE && why != CLR_WHY_NO_TRANSACTION && why != CLR_WHY_SCHEMA_LOCKED &&
           (why != CLR_WHY_NO_TABLE || select->view_name == NULL);
}

/* Makes the plan anew. Returns SQLITE_OK or SQLITE_NOMEM: see clr_plan_make(). */
static int make_plan(struct clr_acceleration *acceleration)
{
    struct clr_last_run *last = &acceleration->last;
    int rc;

    drop_plan(acceleration);
    memset(last, 0, sizeof *last);
    acceleration->limits = clr_limits_read(acceleration->connection->db);
    rc = clr_plan_make(acceleration->connection, acceleration->select,
                       acceleration->literal_sql != NULL ? acceleration->literal_sql
                                                         : acceleration->select->sql,
                       &acceleration->varied, &acceleration->plan, &last->reason);
    /* Where a statement of ours is interrupted, what it would have told is not known. */
    if (rc == SQLITE_OK && is_lasting(last->reason.code, acceleration->select) &&
        !clr_interruption_is_wanted(&acceleration->interruption))
        clr_backoff_failed(&acceleration->looking, CLR_BACKOFF_MOST);
    if (acceleration->plan != NULL)
        acceleration->no_pages = acceleration->plan->no_pages;
    else
        acceleration->varied = (struct clr_varied_columns){.count = 0};
    return rc;
}

/* ---- Literals. */

/* Longer texts stay parameters. */
enum { LONGEST_LITERAL = 200 };

/* Whether a literal is the same text as a value of so many bytes: in UTF-16 that is known of ASCII
   alone, see sql_value.h. */
static bool is_literal(const struct clr_acceleration *acceleration, const char *text, int size)
{
    int encoding = acceleration->plan == NULL ? 0 : acceleration->plan->encoding, i;

    if (size > LONGEST_LITERAL || strlen(text) != (size_t)size)
        return false;
    for (i = 0; i < size && (unsigned char)text[i] < 0x80; i++)
        ;
    if (i < size && encoding == 0)
        clr_encoding_find(acceleration->connection->db, &encoding);
    return i == size || encoding == SQLITE_UTF8;
}

/* Stores what stands for a parameter's value, if SQLite is sure to read it as the very same: not so
   REALs. value: the caller's own, or NULL for that of a parameter that is not given. Returns false
   without memory. */
static bool write_literal(const struct clr_acceleration *acceleration, sqlite3_value *value,
                          struct clr_literal *literal)
{
    const int type = value == NULL ? SQLITE_NULL : sqlite3_value_type(value);
    const char *text = type == SQLITE_TEXT ? (const char *)sqlite3_value_text(value) : NULL;
    const sqlite3_int64 integer = type == SQLITE_INTEGER ? sqlite3_value_int64(value) : 0;

    *literal = (struct clr_literal){.text = NULL, .is_text = type == SQLITE_TEXT};
    if (type == SQLITE_FLOAT || type == SQLITE_BLOB || integer == INT64_MIN ||
        (text != NULL && !is_literal(acceleration, text, sqlite3_value_bytes(value))))
        return true;
    if (type == SQLITE_TEXT)
        literal->text = text == NULL ? NULL : sqlite3_mprintf("%Q", text);
    else if (type == SQLITE_INTEGER)
        literal->text = sqlite3_mprintf(integer < 0 ? "(%lld)" : "%lld", integer);
    else
        literal->text = sqlite3_mprintf("NULL");
    return literal->text != NULL;
}

/* The same of the caller's value, which stays as it is. Returns SQLITE_OK or SQLITE_NOMEM. */
static int take_literal(const struct clr_acceleration *acceleration, const sqlite3_value *value,
                        struct clr_literal *literal)
{
    sqlite3_value *own = value == NULL ? NULL : sqlite3_value_dup(value);
    bool is_fine = (value == NULL) == (own == NULL);

    literal->text = NULL;
    is_fine = is_fine && write_literal(acceleration, own, literal);
    sqlite3_value_free(own);
    return is_fine ? SQLITE_OK : SQLITE_NOMEM;
}

/* Writes the text that is to be planned, of a SELECT that wants literals. parameters: their values;
   NULL: any text stands for each as yet. Stores whether it is another one than before. Returns
   SQLITE_OK or SQLITE_NOMEM. */
static int write_literals(struct clr_acceleration *acceleration, sqlite3_value *const *parameters,
                          bool *is_changed)
{
    const int count = acceleration->select->parameter_count;
    struct clr_literal *literals = sqlite3_malloc64((sqlite3_uint64)count * sizeof *literals);
    char *sql = NULL;
    int rc = literals == NULL ? SQLITE_NOMEM : SQLITE_OK, written = 0;

    for (; written < count && rc == SQLITE_OK; written++) {
        if (parameters == NULL)
            literals[written] = (struct clr_literal){.text = "'?'"};
        else
            rc = take_literal(acceleration, parameters[written], &literals[written]);
    }
    if (rc == SQLITE_OK)
        sql = clr_literals_write(acceleration->places, acceleration->select->sql, literals);
    while (parameters != NULL && written > 0)
        sqlite3_free(literals[--written].text);
    sqlite3_free(literals);
    if (sql == NULL)
        return SQLITE_NOMEM;
    *is_changed = acceleration->literal_sql == NULL || strcmp(sql, acceleration->literal_sql) != 0;
    clr_memory_free(acceleration->literal_sql);
    acceleration->literal_sql = sql;
    return SQLITE_OK;
}

/* Has the plan's literals be the values of the parameters. Stores whether that takes another plan,
   of which nothing is known yet. */
static int take_literals(struct clr_acceleration *acceleration, sqlite3_value *const *parameters,
                         bool *is_changed)
{
    int rc = SQLITE_OK;

    *is_changed = false;
    if (acceleration->places != NULL)
        rc = write_literals(acceleration, parameters, is_changed);
    if (*is_changed) {
        forget_pauses(acceleration);
        acceleration->deriving.was_asked = false;
    }
    return rc;
}

/* Whether there is nothing to go by: no plan, nor a reason why there is none. */
static bool is_unplanned(const struct clr_acceleration *acceleration)
{
    return acceleration->plan == NULL && acceleration->looking.left == 0;
}

struct clr_acceleration *clr_acceleration_new(struct clr_connection *connection,
                                              const struct clr_select *select)
{
    struct clr_acceleration *acceleration = clr_sqlite_alloc_zero(sizeof *acceleration);
    bool is_changed;

    if (acceleration == NULL)
        return NULL;
    acceleration->connection = connection;
    acceleration->interruption.db = connection->db;
    acceleration->select = select;
    if ((select->parameter_count == 0 ||
         clr_literal_places_find(select->sql, &acceleration->places) == CLR_OK) &&
        take_literals(acceleration, NULL, &is_changed) == SQLITE_OK &&
        make_plan(acceleration) == SQLITE_OK)
        return acceleration;
    clr_acceleration_free(acceleration);
    return NULL;
}

/* Drops the derived columns that no other connection, and no other view, can ask for. */
static void drop_derived(struct clr_connection *connection, struct clr_deriving *deriving)
{
    /* Without memory the age may not have been known. */
    if (clr_age_release(connection, &deriving->has_age) && deriving->age != 0)
        clr_cache_drop_age(deriving->age);
}

void clr_acceleration_free(struct clr_acceleration *acceleration)
{
    if (acceleration == NULL)
        return;
    drop_plan(acceleration);
    drop_derived(acceleration->connection, &acceleration->deriving);
    clr_memory_free(acceleration->places);
    clr_memory_free(acceleration->literal_sql);
    clr_interruption_end(&acceleration->interruption);
    sqlite3_free(acceleration);
}

/* ---- Operands: expressions of a query without columns that SQLite evaluates once a run, such as
   date('now', '-7 days'), and the constants of a scan that are made of these and of parameters. */

/* Returns the text of the statement, to be freed with sqlite3_free(), or NULL. */
static char *write_operands(const struct clr_query *query)
{
    sqlite3_str *text = sqlite3_str_new(NULL);
    int i;

    for (i = 0; i < query->operand_count; i++)
        sqlite3_str_appendf(text, "%s(%s)", i == 0 ? "SELECT " : ", ", query->operands[i]);
    return sqlite3_str_finish(text);
}

/* Has SQLite evaluate the operands, once it is known what the parameters are. */
static int step_operands(sqlite3 *db, const struct clr_query *query, struct clr_operands *operands)
{
    sqlite3_stmt *statement = NULL;
    int rc = clr_statement_prepare_text(db, &statement, write_operands(query)), i;

    if (rc == SQLITE_OK)
        rc = clr_values_bind(statement, operands->values, operands->first);
    if (rc == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        for (i = 0; i < query->operand_count; i++, operands->count++) {
            operands->values[operands->count] =
                sqlite3_value_dup(sqlite3_column_value(statement, i));
            if (operands->values[operands->count] == NULL)
                rc = SQLITE_NOMEM;
        }
    }
    rc = clr_statement_end(statement, rc);
    return rc == SQLITE_OK && operands->count != operands->first + query->operand_count
               ? SQLITE_ERROR
               : rc;
}

/*
 * Fills in the values, of a query whose parameters are given up to parameter_count, and has SQLite
 * evaluate the operands, all in one statement. Returns SQLITE_OK, with the reason set if SQLite
 * reports an error, which is then the SELECT's to report; SQLITE_NOMEM or SQLITE_INTERRUPT.
 */
static int evaluate_operands(sqlite3 *db, const struct clr_query *query,
                             sqlite3_value *const *parameters, int parameter_count,
                             struct clr_operands *operands, struct clr_reason *reason)
{
    int rc;

    operands->count = operands->first = parameter_count;
    operands->values = sqlite3_malloc64(((sqlite3_uint64)parameter_count + CLR_MOST_OPERANDS + 1) *
                                        sizeof(sqlite3_value *));
    if (operands->values == NULL)
        return SQLITE_NOMEM;
    memcpy((void *)operands->values, (const void *)parameters,
           (size_t)parameter_count * sizeof(sqlite3_value *));
    if (query->operand_count == 0)
        return SQLITE_OK;
    rc = step_operands(db, query, operands);
    if (rc == SQLITE_OK || rc == SQLITE_NOMEM || rc == SQLITE_INTERRUPT)
        return rc;
    clr_statement_refuse(db, rc, reason);
    return SQLITE_OK;
}

/* Returns the bound that TEXT is. */
static int64_t bound_of_text(const struct clr_bound *bound, const unsigned char *text, size_t size)
{
    int64_t count;
    const bool is_time = clr_timestamp_count(bound->format, text, size, &count);

    if (bound->kind == CLR_BOUND_EQUAL)
        return is_time ? count : CLR_TIMESTAMP_NEVER;
    if (!is_time)
        count = clr_timestamp_below(bound->format, text, size);
    return bound->kind == CLR_BOUND_BELOW || is_time ? count : count - 1;
}

/*
 * Makes a bound of a value, which may be converted: SQLite, "Datatypes In SQLite", section 4.2. A
 * number is less than all TEXT, and a BLOB greater.
 */
static int read_bound(const struct clr_bound *bound, sqlite3_value *value,
                      struct clr_scalar *constant)
{
    const bool is_equal = bound->kind == CLR_BOUND_EQUAL, is_below = bound->kind == CLR_BOUND_BELOW;
    int type = sqlite3_value_type(value);
    const unsigned char *text;

    if (bound->is_numeric && type == SQLITE_TEXT)
        type = sqlite3_value_numeric_type(value);
    if (bound->is_text && (type == SQLITE_INTEGER || type == SQLITE_FLOAT))
        type = SQLITE_TEXT;
    *constant = (struct clr_scalar){.tag = CLR_TAG_INTEGER,
                                    .bits = is_below ? CLR_TIMESTAMP_EMPTY : CLR_TIMESTAMP_NEVER};
    switch (type) {
    case SQLITE_NULL:
        constant->tag = CLR_TAG_NULL;
        constant->bits = 0;
        return SQLITE_OK;
    case SQLITE_TEXT:
        text = sqlite3_value_text(value);
        if (text == NULL)
            return SQLITE_NOMEM;
        constant->bits = bound_of_text(bound, text, (size_t)sqlite3_value_bytes(value));
        return SQLITE_OK;
    case SQLITE_BLOB:
        if (!is_equal)
            constant->bits = clr_timestamp_all(bound->format) - !is_below;
        return SQLITE_OK;
    default:
        return SQLITE_OK;
    }
}

/* Stores the query's constants that are parameters, operands or bounds: see clr_query_run_begin().
   A value that is not given is NULL. Returns SQLITE_OK or SQLITE_NOMEM. */
static int read_constants(const struct clr_operands *operands, const struct clr_query *query,
                          struct clr_scalar *constants)
{
    int rc = SQLITE_OK, i;

    for (i = 0; i < query->constant_count && rc == SQLITE_OK; i++) {
        const int number = query->parameters[i];
        sqlite3_value *value = number > 0 ? operands->values[number - 1] : NULL, *own;

        constants[i] = value == NULL ? (struct clr_scalar){CLR_TAG_NULL, 0} : clr_scalar_of(value);
        if (value == NULL || query->bounds[i].kind == CLR_BOUND_NONE)
            continue;
        own = sqlite3_value_dup(value); /* the caller's stays as it is */
        rc = own == NULL ? SQLITE_NOMEM : read_bound(&query->bounds[i], own, &constants[i]);
        sqlite3_value_free(own);
    }
    return rc;
}

/* ---- A run. */

/* Whether SQLite computes nothing in the SELECT but the result row, or if it does so in the default
   floating-point environment, as scans do. */
static bool suits_environment(const struct clr_plan *plan,
                              const struct clr_float_environment *environment)
{
    bool computes = plan->query->computes;
    int i;

    if (clr_float_environment_is_default(environment))
        return true;
    for (i = 0; i < plan->query->column_count; i++)
        computes = computes || plan->query->columns[i].derived != NULL ||
                   !plan->table.columns[plan->query->columns[i].number].readable;
    return !computes;
}

/* Whether SQLite goes over the rows as by the plan's code, with these values of the parameters. */
static bool goes_as_planned(const struct clr_acceleration *acceleration,
                            sqlite3_value *const *parameters)
{
    const uint64_t valueless = acceleration->plan->valueless;

    return valueless == 0 ||
           clr_bytecode_hash_moves(acceleration->connection->db, acceleration->select->sql,
                                   parameters, acceleration->select->parameter_count) == valueless;
}

/* A query: what is asked for, and by whom. */
struct asking {
    sqlite3_value *const *parameters;
    struct clr_float_environment
        environment;            /* the caller's, in which SQLite would run the SELECT */
    struct clr_kept_rows *rows; /* for those of SQLite, where it reads few */
    bool has_rows;              /* they are the answer */
};

/* Begins a run of the plan. Without its query_run the request's reason says why there is none. */
static int begin_run(struct clr_acceleration *acceleration, const struct asking *asking,
                     const struct clr_watch *watch, struct clr_lookup *lookups,
                     struct clr_view_run *run)
{
    struct clr_connection *connection = acceleration->connection;
    struct clr_scalar values[CLR_MOST_CONSTANTS];
    const struct clr_budget *budget = &connection->values;
    struct clr_plan *plan = acceleration->plan;
    int rc;

    *run = (struct clr_view_run){.watch = watch,
                                 .plan = plan,
                                 .memos = acceleration->memos,
                                 .kept =
                                     connection->settings.keep_answers ? &acceleration->kept : NULL,
                                 .dimensions = &acceleration->dimensions,
                                 .lookups = lookups,
                                 .request = {.connection = connection,
                                             .database = plan->database,
                                             .table = &plan->table,
                                             .names = &plan->names,
                                             .query = plan->query,
                                             .watch = watch,
                                             .keeping = &acceleration->keeping,
                                             .functions = &plan->functions,
                                             .deriving = &acceleration->deriving,
                                             .refused_column = -1,
                                             .no_pages = acceleration->no_pages}};
    rc = evaluate_operands(connection->db, plan->query, asking->parameters,
                           acceleration->select->parameter_count, &run->operands,
                           &run->request.reason);
    if (rc != SQLITE_OK || run->request.reason.code != CLR_WHY_NONE)
        return rc;
    rc = read_constants(&run->operands, plan->query, values);
    if (rc != SQLITE_OK)
        return rc;
    if (clr_query_run_begin(plan->query, values, &run->query_run, &run->request.reason) ==
        CLR_NOMEM)
        return SQLITE_NOMEM;
    if (run->query_run == NULL)
        return SQLITE_OK;
    run->scan = clr_query_run_scan(run->query_run);
    run->scan.values_memory = budget->used < budget->limit ? budget->limit - budget->used : 0;
    run->scan.longest = (size_t)sqlite3_limit(connection->db, SQLITE_LIMIT_LENGTH, -1);
    return SQLITE_OK;
}

/* Whether the text that a column had may have gone, as there is another version of the database:
   then the next run looks. */
static bool has_hope(struct clr_acceleration *acceleration, const struct clr_view_run *run)
{
    struct clr_varied_columns *varied = &acceleration->varied;

    /* It has gone. */
    if (!varied->have_text && run->is_answered)
        acceleration->hoping = (struct clr_backoff){.pause = 0};
    if (!varied->have_text || !run->is_answered ||
        memcmp(&varied->version, &run->request.snapshot.token, sizeof varied->version) == 0)
        return false;
    varied->version = run->request.snapshot.token;
    return !clr_backoff_skips(&acceleration->hoping);
}

/* Takes note of how the run went, for the next one and for the user. */
static void learn(struct clr_acceleration *acceleration, const struct clr_view_run *run)
{
    const struct clr_plan *plan = acceleration->plan;
    const enum clr_reason_code why = run->request.reason.code;

    if (run->request.no_pages == CLR_WHY_OLDER_ROWS)
        acceleration->no_pages = run->request.no_pages;
    if (why == CLR_WHY_SMALL_TABLE || why == CLR_WHY_KEEPS_VALUES || why == CLR_WHY_KEEPS_CODES ||
        why == CLR_WHY_MANY_VALUES || why == CLR_WHY_MANY_ROWS ||
        (why == CLR_WHY_VALUES_MEMORY && run->request.is_too_large))
        clr_backoff_failed(&acceleration->looking, CLR_BACKOFF_MOST);
    /* The database could not even be read: it may be gone, as may be what the names meant. */
    if (!run->is_answered && plan->generation != plan->database->generation)
        acceleration->is_outdated = true;
    if (has_hope(acceleration, run))
        acceleration->is_outdated = true;
    acceleration->last = (struct clr_last_run){.was_asked = true,
                                               .device = run->device,
                                               .device_count = run->device_count,
                                               .is_filled = run->request.no_pages != CLR_WHY_NONE,
                                               .is_kept = run->is_kept,
                                               .reading = run->request.reading,
                                               .reason = run->request.reason};
}

/* Has SQLite run the SELECT as long as that is quicker than a scan, in the caller's environment. */
static int answer_few(struct clr_acceleration *acceleration, struct asking *asking,
                      struct clr_reason *reason)
{
    int rc;

    clr_float_environment_end(&asking->environment);
    rc = clr_few_rows_answer(&acceleration->few, acceleration->connection, acceleration->select,
                             acceleration->plan, asking->parameters, asking->rows,
                             &asking->has_rows, reason);
    clr_float_environment_begin();
    return rc;
}

/* Whether the statement that asks the view writes, and to nothing that the plan reads. */
static bool is_spared(const struct clr_acceleration *acceleration)
{
    const struct clr_plan *plan = acceleration->plan;
    uint32_t roots[CLR_MOST_DIMENSIONS + 1];
    int i;

    if (!clr_is_writing(acceleration->connection->db) || !plan->database->is_main)
        return false;
    roots[0] = plan->table.root;
    for (i = 0; i < plan->dimension_count; i++)
        roots[i + 1] = plan->dimensions[i].page;
    return clr_sole_writer_spares(acceleration->connection, acceleration->select->sql, roots,
                                  plan->dimension_count + 1);
}

static int run_plan(struct clr_acceleration *acceleration, struct asking *asking,
                    struct clr_lookup *lookups, struct clr_view_run *run)
{
    const struct clr_watch watch = {clr_interruption_is_wanted, &acceleration->interruption};
    struct clr_database *database = acceleration->plan->database;
    bool was_spared;
    int64_t start;
    int rc = begin_run(acceleration, asking, &watch, lookups, run);

    if (rc == SQLITE_OK && run->query_run != NULL)
        rc = answer_few(acceleration, asking, &run->request.reason);
    if (rc != SQLITE_OK)
        return rc;
    if (!suits_environment(acceleration->plan, &asking->environment))
        clr_reason_set(&run->request.reason, CLR_WHY_FLOAT_ENVIRONMENT);
    else if (run->query_run != NULL && !goes_as_planned(acceleration, asking->parameters))
        clr_reason_set(&run->request.reason, CLR_WHY_OTHER_WAY);
    start = clr_clock_ns();
    /* A statement that the run has SQLite evaluate may read another view. */
    was_spared = database->is_spared;
    database->is_spared = run->request.reason.code == CLR_WHY_NONE && is_spared(acceleration);
    rc = clr_view_run_answer(run);
    acceleration->was_spared = database->is_spared;
    database->is_spared = was_spared;
    if (rc != SQLITE_OK)
        return rc;
    if (!run->is_kept && (run->request.reading.kind == CLR_READ_RESIDENT ||
                          run->request.reading.kind == CLR_READ_STREAMED))
        acceleration->few.scan_ns = clr_clock_ns() - start;
    learn(acceleration, run);
    return SQLITE_OK;
}

/* Takes note of a column of the plan that can't be had as the plan needs it. Returns whether that
   is new. */
static bool note_varied(struct clr_acceleration *acceleration, int number, bool has_text)
{
    struct clr_varied_columns *varied = &acceleration->varied;
    const struct clr_query *query = acceleration->plan->query;
    const struct clr_query_column *column = &query->columns[number];
    int i;

    for (i = 0; i < varied->count; i++) {
        const struct clr_varied_column *known = &varied->list[i];

        if (known->number == column->number && known->unit == column->unit &&
            known->times == column->times && known->has_text == has_text)
            return false;
    }
    if (varied->count == CLR_MOST_COLUMNS)
        return false;
    varied->fact = query->scanned;
    varied->list[varied->count++] =
        (struct clr_varied_column){column->number, has_text, column->unit, column->times};
    return true;
}

/* Takes note of the columns that were read for numbers, and have TEXT or BLOBs, of which a scan may
   have been unsure. Returns whether there are new ones. */
static bool note_texts(struct clr_acceleration *acceleration, const struct clr_view_run *run)
{
    const struct clr_query *query = acceleration->plan->query;
    bool are_new = false;
    int i;

    for (i = 0; i < query->column_count; i++) {
        if (run->columns[i] != NULL && query->columns[i].derived == NULL &&
            clr_column_has_text(run->columns[i]))
            are_new = note_varied(acceleration, i, true) || are_new;
    }
    if (are_new) {
        acceleration->varied.have_text = true;
        acceleration->varied.version = run->request.snapshot.token;
        clr_backoff_failed(&acceleration->hoping, 1);
    }
    return are_new;
}

/*
 * Takes note of columns that can't be had in the form that the plan needs, if there may be a plan
 * without it. Returns whether to plan anew.
 */
static bool avoid_columns(struct clr_acceleration *acceleration, const struct clr_view_run *run)
{
    struct clr_varied_columns *varied = &acceleration->varied;
    const struct clr_plan *plan = acceleration->plan;
    const struct clr_query_column *column;

    switch (run->request.reason.code) {
    case CLR_WHY_MANY_ROWS:
        if (!plan->query->has_part || varied->finds_many)
            return false;
        varied->finds_many = plan->may_derive;
        return varied->finds_many;
    case CLR_WHY_VALUE:
        return note_texts(acceleration, run);
    case CLR_WHY_MANY_VALUES:
        if (run->request.refused_column < 0)
            return false;
        column = &plan->query->columns[run->request.refused_column];
        return column->derived == NULL &&
               (column->unit != CLR_TIME_NONE || column->times != 0 || plan->query->may_find_rows ||
                plan->may_derive) &&
               note_varied(acceleration, run->request.refused_column, false);
    default:
        return false;
    }
}

/* Makes another plan of the same tables, within a run. A plan asks SQLite of the schema, and so
   begins the read transaction, whose snapshot has to be known: the statement that asks the view
   keeps it open. */
static int make_plan_again(struct clr_acceleration *acceleration)
{
    struct clr_snapshot snapshot;

    if (acceleration->plan != NULL) {
        clr_snapshot_lead(acceleration->plan->database, &snapshot);
        clr_snapshot_end(acceleration->plan->database, &snapshot);
    }
    return make_plan(acceleration);
}

/* Plans if need be, and runs the plan, if there is one that is current. */
static int run_tallies(struct clr_acceleration *acceleration, struct asking *asking,
                       struct clr_lookup *lookups, struct clr_view_run *run)
{
    const struct clr_limits limits = clr_limits_read(acceleration->connection->db);
    bool is_changed;
    int rc = take_literals(acceleration, asking->parameters, &is_changed), i;

    /* By other limits the SELECT may be an error, or be none. */
    if (memcmp(&limits, &acceleration->limits, sizeof limits) != 0)
        acceleration->is_outdated = true;
    if (acceleration->settings_changes != acceleration->connection->settings_changes &&
        acceleration->plan != NULL)
        forget_pauses(acceleration);
    acceleration->settings_changes = acceleration->connection->settings_changes;
    for (i = 0; i < MOST_PLANS && rc == SQLITE_OK; i++) {
        if (acceleration->is_outdated)
            acceleration->varied = (struct clr_varied_columns){.count = 0};
        if (is_unplanned(acceleration) || acceleration->is_outdated || is_changed || i > 0)
            rc = make_plan_again(acceleration);
        acceleration->last.reading = (struct clr_reading){.kind = CLR_READ_NOTHING};
        if (rc != SQLITE_OK || clr_backoff_skips(&acceleration->looking) ||
            acceleration->plan == NULL)
            return rc;
        clr_view_run_end(run);
        rc = run_plan(acceleration, asking, lookups, run);
        if (!run->request.is_outdated &&
            (rc != SQLITE_OK || i + 1 == MOST_PLANS || !avoid_columns(acceleration, run)))
            return rc;
    }
    clr_reason_set(&acceleration->last.reason, CLR_WHY_SCHEMA_CHANGES);
    return rc;
}

/* Makes what is to be given to the user of a run whose tallies are complete. */
static int make_answer(struct clr_acceleration *acceleration, struct clr_view_run *run,
                       const struct clr_float_environment *environment, struct clr_answer *answer)
{
    const struct clr_watch watch = {clr_interruption_is_wanted, &acceleration->interruption};
    const struct clr_finish_input input = {.db = acceleration->connection->db,
                                           .select = acceleration->select,
                                           .table = &acceleration->plan->table,
                                           .kept = run->is_kept ? acceleration->kept.values : NULL,
                                           .run = run->query_run,
                                           .groups = run->groups,
                                           .parameters = run->operands.values,
                                           .memory = run->scan.values_memory,
                                           .watch = &watch,
                                           .environment = environment};
    const int rc =
        clr_answer_make(&input, &acceleration->finisher, answer, &acceleration->last.reason);

    if (rc == SQLITE_OK && answer->values != NULL && input.kept == NULL)
        clr_kept_answer_keep(&acceleration->kept, &run->key, answer->values);
    return rc;
}

/* Counts a run that is SQLite's. */
static void count_select(const struct clr_acceleration *acceleration)
{
    const enum clr_reason_code why = acceleration->last.reason.code;

    acceleration->connection->stats.selects_by_rows++;
    acceleration->connection->selects_postponed +=
        why == CLR_WHY_ASKED_ONCE || why == CLR_WHY_ASKED_SELDOM;
}

static int run(struct clr_acceleration *acceleration, struct asking *asking,
               struct clr_answer *answer, bool *answered)
{
    struct clr_lookup lookups[CLR_MOST_LOOKUPS];
    struct clr_view_run run = {.query_run = NULL};
    const struct clr_reason *reason = &acceleration->last.reason;
    int rc;

    if (acceleration->last.device != NULL && !acceleration->last.is_kept)
        clr_devices_wake(&acceleration->connection->settings);
    asking->environment = clr_float_environment_begin();
    rc = run_tallies(acceleration, asking, lookups, &run);
    clr_float_environment_end(&asking->environment);
    *answered = rc == SQLITE_OK && run.is_answered;
    if (*answered) {
        rc = make_answer(acceleration, &run, &asking->environment, answer);
        *answered = reason->code == CLR_WHY_NONE;
    }
    if (rc == SQLITE_OK && !*answered) {
        count_select(acceleration);
        *answered = asking->has_rows;
    }
    clr_view_run_end(&run);
    return rc;
}

/* Has all that is kept be looked at, or prepared, anew, if a statement was prepared since the last
   run that may read the view. */
static void note_prepared(struct clr_acceleration *acceleration)
{
    int i;

    if (acceleration->prepared == acceleration->connection->prepared)
        return;
    acceleration->prepared = acceleration->connection->prepared;
    acceleration->finisher.is_stale = acceleration->few.is_stale = true;
    acceleration->deriving.checked_age = 0;
    for (i = 0; i < CLR_MOST_LOOKUPS; i++)
        acceleration->memos[i].is_stale = true;
}

/* Whether SQLite runs the SELECT without another look, and there is nothing else to do. */
static bool is_skipped(struct clr_acceleration *acceleration)
{
    struct clr_limits limits;

    if (acceleration->looking.left == 0 || acceleration->places != NULL ||
        acceleration->is_outdated ||
        acceleration->settings_changes != acceleration->connection->settings_changes)
        return false;
    limits = clr_limits_read(acceleration->connection->db);
    return memcmp(&limits, &acceleration->limits, sizeof limits) == 0 &&
           clr_backoff_skips(&acceleration->looking);
}

int clr_acceleration_run(struct clr_acceleration *acceleration, sqlite3_value *const *parameters,
                         struct clr_kept_rows *rows, struct clr_answer *answer, bool *answered)
{
    struct asking asking = {.parameters = parameters, .rows = rows};
    int rc, state;

    *answered = false;
    acceleration->was_spared = false;
    if (acceleration->is_running)
        return SQLITE_OK;
    note_prepared(acceleration);
    if (is_skipped(acceleration)) {
        acceleration->last.reading = (struct clr_reading){.kind = CLR_READ_NOTHING};
        count_select(acceleration);
        return SQLITE_OK;
    }
    acceleration->is_running = true;
    /* Others wait for the table that this thread has made busy, and its helpers use its stack. */
    state = clr_thread_defer_cancel();
    rc = run(acceleration, &asking, answer, answered);
    clr_thread_restore_cancel(state);
    acceleration->is_running = false;
    return rc;
}

const char *clr_acceleration_explain(struct clr_acceleration *acceleration, int i)
{
    if (is_unplanned(acceleration))
        make_plan(acceleration);
    return clr_acceleration_describe(acceleration, i) ? acceleration->line : NULL;
}
