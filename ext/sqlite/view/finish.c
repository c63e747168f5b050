#include "sqlite/view/finish.h"

#include "sqlite/columns/column_source.h"
#include "sqlite/session/sql_value.h"
#include "sqlite/session/statement.h"
#include "sqlite/session/virtual_table.h"

#include <string.h>

/* ---- The table of groups, from which SQLite makes the rows. */

static const char pointer_type[] = "clreduce groups";

/* A key has a column for each affinity that its expression may have: TEXT, NUMERIC, REAL, BLOB. */
enum {
    KEY_COLUMNS = 4,
    FIRST_CALL = KEY_COLUMNS * CLR_MOST_KEYS,
    SOURCE = FIRST_CALL + CLR_MOST_CALLS,
    FIRST_KEY
};

static int connect_table(sqlite3 *db, void *argument, int count, const char *const *arguments,
                         sqlite3_vtab **table, char **error)
{
    sqlite3_str *text = sqlite3_str_new(NULL);
    char *declaration;
    int rc = SQLITE_NOMEM, i;

    (void)count;
    (void)arguments;
    (void)error;
    sqlite3_str_appendall(text, "CREATE TABLE groups(");
    for (i = 0; i < CLR_MOST_KEYS; i++)
        sqlite3_str_appendf(text,
                            "\"" CLR_GROUP_KEY_TEXT "\" TEXT, \"" CLR_GROUP_KEY_NUMERIC
                            "\" NUMERIC, \"" CLR_GROUP_KEY_REAL "\" REAL, \"" CLR_GROUP_KEY_BLOB
                            "\", ",
                            i, i, i, i);
    for (i = 0; i < CLR_MOST_CALLS; i++)
        sqlite3_str_appendf(text, "\"" CLR_GROUP_CALL "\", ", i);
    sqlite3_str_appendall(text, "\"c:source\" HIDDEN, \"" CLR_GROUP_FIRST_KEY "\" HIDDEN)");
    declaration = sqlite3_str_finish(text);
    if (declaration != NULL)
        rc = clr_virtual_table_connect(db, declaration, argument, SOURCE, table);
    sqlite3_free(declaration);
    return rc;
}

/* Whether these are the values of probes: a query's have bits. */
static bool is_probe(const struct clr_group_values *values)
{
    return values->bits == NULL;
}

/* Whether a group's first key comes before an INTEGER: NULL does, and lesser numbers. */
static bool is_before(const struct clr_group_values *values, size_t group, int64_t number)
{
    const struct clr_value wanted = {CLR_KIND_INTEGER, {.integer = number}, NULL};
    const size_t place = group * (size_t)values->column_count;
    struct clr_value real;

    if (values->tags[place] != CLR_TAG_REAL)
        return values->tags[place] == CLR_TAG_NULL ||
               (values->tags[place] == CLR_TAG_INTEGER && values->bits[place] < number);
    real = (struct clr_value){CLR_KIND_REAL, {.real = clr_real_of(values->bits[place])}, NULL};
    return clr_value_compare(&real, &wanted, 1) < 0;
}

/* Whether there is a group with that first key. */
static bool has_key(const struct clr_group_values *values, size_t group, int64_t number)
{
    const size_t place = group * (size_t)values->column_count;

    return group < values->rows && values->tags[place] == CLR_TAG_INTEGER &&
           values->bits[place] == number;
}

/* Returns the first group, in the order of their keys, whose first one does not come before an
   INTEGER. */
static size_t find_group(const struct clr_group_values *values, int64_t number)
{
    size_t first = 0, count = values->rows;

    while (count > 0) {
        const size_t half = count / 2;

        if (is_before(values, first + half, number)) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return first;
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *text, int count,
                  sqlite3_value **arguments)
{
    const struct clr_group_values *values = sqlite3_value_pointer(arguments[0], pointer_type);
    sqlite3_int64 key, group;

    (void)number;
    (void)text;
    if (values == NULL)
        return clr_bound_begin(base, values, 0, 0);
    if (is_probe(values))
        return clr_bound_begin(base, values, 0, 1);
    if (count == 1)
        return clr_bound_begin(base, values, 0, (sqlite3_int64)values->rows);
    if (sqlite3_value_type(arguments[1]) != SQLITE_INTEGER)
        return clr_bound_begin(base, values, 0, 0);
    key = sqlite3_value_int64(arguments[1]);
    group = (sqlite3_int64)find_group(values, key);
    /* Of the groups from there on the next one alone may have it. */
    return clr_bound_begin(base, values, group, group + has_key(values, (size_t)group, key));
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *result, int number)
{
    const struct clr_bound_cursor *cursor = (const struct clr_bound_cursor *)base;
    const struct clr_group_values *values = cursor->source;

    if (is_probe(values)) {
        sqlite3_result_int(result, 7);
        return SQLITE_OK;
    }
    if (number == FIRST_KEY)
        number = 0;
    else if (number < FIRST_CALL)
        number /= KEY_COLUMNS;
    else
        number += values->key_count - FIRST_CALL;
    clr_group_values_set(values, (size_t)cursor->row, number, result);
    return SQLITE_OK;
}

int clr_groups_register(struct clr_connection *connection)
{
    static const sqlite3_module module = {CLR_BOUND_METHODS, .xConnect = connect_table,
                                          .xFilter = filter, .xColumn = column};

    return sqlite3_create_module_v2(connection->db, CLR_GROUP_TABLE, &module, NULL, NULL);
}

/* Binds the values to the table's argument, a parameter of the statement. They must outlive its
   steps. NULL: the table has one row, of which all is 7, for probes. Returns SQLite's code. */
static int bind_values(sqlite3_stmt *statement, int parameter, struct clr_group_values *values)
{
    static struct clr_group_values probe;

    return sqlite3_bind_pointer(statement, parameter, values == NULL ? &probe : values,
                                pointer_type, NULL);
}

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
    pass = bind_values(probes, 1, NULL) == SQLITE_OK && sqlite3_step(probes) == SQLITE_ROW;
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
    are = bind_values(finisher->different, 1, answer->values) == SQLITE_OK &&
          sqlite3_step(finisher->different) == SQLITE_ROW &&
          sqlite3_column_int(finisher->different, 0) == 1;
    settle(finisher->different);
    if (!are)
        clr_reason_set(reason, CLR_WHY_EQUAL_KEYS);
    return are;
}

/* ---- Answers. */

/* Whether the values are the rows: in another floating-point environment SQLite computes other
   results. */
static bool are_rows(const struct clr_group_values *values, bool is_default)
{
    return values->plain_count > 0 && (is_default || !clr_group_values_have_results(values));
}

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
        rc = bind_values(answer->statement, given + 1, answer->values);
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
        are_different(input, finisher, answer, reason) && !are_rows(answer->values, is_default))
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
