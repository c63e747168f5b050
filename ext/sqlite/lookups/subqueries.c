#include "sqlite/lookups/subqueries.h"

#include "query/names/subqueries.h"
#include "query/names/times.h"
#include "query/syntax/grammar.h"
#include "query/syntax/syntax.h"
#include "sqlite/schema/functions.h"
#include "sqlite/schema/row_order.h"
#include "sqlite/session/statement.h"

#include <string.h>

/* ---- What subqueries name. */

/* Whether SQLite prepares a subquery beside what FROM, in its text, has. Returns SQLITE_OK or
   SQLITE_NOMEM. */
static int prepare(sqlite3 *db, const struct clr_node *subquery, const char *from, bool *prepares)
{
    const struct clr_token *text = &subquery->names[0];
    sqlite3_stmt *statement;
    const int rc = clr_statement_prepare(db, &statement, "SELECT EXISTS %.*s%s", (int)text->length,
                                         text->text, from);

    sqlite3_finalize(statement);
    *prepares = rc == SQLITE_OK;
    return rc == SQLITE_NOMEM ? rc : SQLITE_OK;
}

/* Whether a subquery names nothing of the query around it but a column, by the number of its table
   in FROM and its name. Returns SQLITE_OK or SQLITE_NOMEM. */
static int names_column(sqlite3 *db, const struct clr_query *query, const struct clr_node *subquery,
                        int source, const char *column, bool *does)
{
    const struct clr_from_table *table = &query->syntax->select.sources[source];
    char *from;
    int rc = SQLITE_NOMEM;

    *does = false;
    if (!clr_subquery_may_name(query, subquery, column))
        return SQLITE_OK;
    from = sqlite3_mprintf(" FROM (SELECT ?1 AS \"%w\") AS \"%w\"", column,
                           clr_from_name(table)->name);
    if (from != NULL)
        rc = prepare(db, subquery, from, does);
    sqlite3_free(from);
    return rc;
}

/*
 * Finds out whether an aggregate in a subquery is one of the query around it, since its arguments
 * name columns of that alone: of no rows such a query has a row. True also where that can't be
 * found out. Returns SQLITE_OK or SQLITE_NOMEM.
 */
static int find_aggregates(sqlite3 *db, const struct clr_query *query, struct clr_node *subquery,
                           const struct clr_table_info *tables)
{
    const struct clr_select_tree *select = &query->syntax->select;
    sqlite3_str *text = sqlite3_str_new(NULL);
    sqlite3_stmt *statement = NULL;
    int rc, i;

    sqlite3_str_appendf(text, "SELECT EXISTS %.*s FROM", (int)subquery->names[0].length,
                        subquery->names[0].text);
    for (i = 0; i < select->source_count; i++)
        sqlite3_str_appendf(
            text, "%s \"%w\".\"%w\" AS \"%w\"", i == 0 ? "" : ",", tables[i].schema, tables[i].name,
            select->sources[i].inner != NULL ? "" : clr_from_name(&select->sources[i])->name);
    sqlite3_str_appendall(text, " WHERE 0");
    rc = clr_statement_prepare_text(db, &statement, sqlite3_str_finish(text));
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    sqlite3_finalize(statement);
    subquery->aggregates_around = rc != SQLITE_DONE;
    return rc == SQLITE_NOMEM ? rc : SQLITE_OK;
}

/* Notes that the subquery names that column, and nothing else of the query around it. The column's
   name stays the caller's, for as long as the query is there. Returns false without memory. */
static bool depend(struct clr_syntax *syntax, struct clr_node *subquery, int source,
                   const char *column)
{
    const struct clr_token name = {
        .kind = CLR_T_ID, .text = column, .length = strlen(column), .name = (char *)column};
    struct clr_node *node = clr_syntax_column(syntax, &name);

    if (node == NULL)
        return false;
    node->source = source + 1;
    subquery->first = node;
    return true;
}

/* Finds the column that a subquery names. Returns SQLITE_OK or SQLITE_NOMEM. */
static int find_column(sqlite3 *db, struct clr_query *query, struct clr_node *subquery,
                       const struct clr_table_info *tables)
{
    bool is_found;
    int rc = prepare(db, subquery, "", &is_found), i, k;

    if (rc == SQLITE_OK && !is_found)
        rc = find_aggregates(db, query, subquery, tables);
    for (i = 0; i < query->syntax->select.source_count && !is_found; i++) {
        for (k = 0; k < tables[i].column_count && rc == SQLITE_OK && !is_found; k++) {
            const char *name = tables[i].columns[k].name;

            rc = names_column(db, query, subquery, i, name, &is_found);
            if (is_found && !depend(query->syntax, subquery, i, name))
                rc = SQLITE_NOMEM;
        }
    }
    subquery->names_more = !is_found;
    return rc;
}

int clr_subqueries_find(sqlite3 *db, struct clr_query *query, const struct clr_table_info *tables)
{
    struct clr_node *node = query->syntax->subqueries.first;
    int rc = SQLITE_OK;

    for (; node != NULL && rc == SQLITE_OK; node = node->listed)
        rc = find_column(db, query, node, tables);
    return rc;
}

/* ---- What they read. */

/* Whether subqueries, by SQLite's code, find their rows by searches alone: then it finds the same
   row first wherever they stand. */
static bool search_rows(const struct clr_bytecode *program)
{
    return !clr_bytecode_repeats_walks(program) &&
           clr_bytecode_count(program, "OpenAutoindex") == 0;
}

/* Adds the functions that a program calls for single rows: operations name them with their number
   of arguments. Returns false without memory. */
static bool add_functions(const struct clr_bytecode *program, struct clr_functions *functions)
{
    const struct clr_vdbe_op *operation = NULL;

    while ((operation = CLR_BYTECODE_NEXT(program, operation, "Function", "PureFunc")) != NULL) {
        const char *end = strrchr(operation->p4, '(');
        bool is_added;
        char *name;

        if (end == NULL)
            continue;
        name = sqlite3_mprintf("%.*s", (int)(end - operation->p4), operation->p4);
        is_added = name != NULL && clr_functions_add(functions, name) != NULL;
        sqlite3_free(name);
        if (!is_added)
            return false;
    }
    return true;
}

/* Sets the reason if a function may give another result later. Returns SQLITE_OK or SQLITE_NOMEM.
 */
static int check_functions(const struct clr_connection *connection,
                           const struct clr_bytecode *program, struct clr_reason *reason)
{
    struct clr_functions functions = {.list = NULL};
    int rc = SQLITE_NOMEM, i;

    if (add_functions(program, &functions) && clr_functions_read(connection->db, &functions))
        rc = SQLITE_OK;
    for (i = 0; i < functions.count && rc == SQLITE_OK && reason->code == CLR_WHY_NONE; i++) {
        const struct clr_function *function = &functions.list[i];

        if (!function->is_deterministic || !function->is_builtin ||
            clr_times_is_function(function->name) ||
            sqlite3_strnicmp(function->name, "current_", 8) == 0)
            clr_reason_set_name(reason, CLR_WHY_SUBQUERY_CALLS, function->name,
                                strlen(function->name));
    }
    if (rc == SQLITE_OK && reason->code == CLR_WHY_NONE &&
        !clr_functions_are_sqlites(connection, NULL, program))
        clr_reason_set(reason, CLR_WHY_REPLACED);
    clr_functions_free(&functions);
    return rc;
}

int clr_subqueries_check(const struct clr_connection *connection, const char *sql,
                         const struct clr_table_names *names, bool has_values, bool *walks,
                         struct clr_reason *reason)
{
    struct clr_bytecode program;
    int rc = clr_bytecode_read(connection->db, &program, "%s", sql);

    *walks = clr_bytecode_repeats_walks(&program);
    if (rc == SQLITE_OK &&
        (clr_bytecode_count(&program, "VOpen") > 0 || !clr_table_names_have(names, &program)))
        clr_reason_set(reason, CLR_WHY_SUBQUERY_READS);
    else if (rc == SQLITE_OK && has_values && !search_rows(&program))
        clr_reason_set(reason, CLR_WHY_SUBQUERY_ROWS);
    else if (rc == SQLITE_OK)
        rc = check_functions(connection, &program, reason);
    clr_bytecode_free(&program);
    if (rc == SQLITE_ERROR)
        clr_reason_set_name(reason, CLR_WHY_OUTER_NAME, sqlite3_errmsg(connection->db),
                            strlen(sqlite3_errmsg(connection->db)));
    else if (rc != SQLITE_OK && rc != SQLITE_NOMEM)
        clr_statement_refuse(connection->db, rc, reason);
    return rc == SQLITE_NOMEM ? rc : SQLITE_OK;
}

/* ---- Those that are evaluated as a query is finished. */

/* What SQLite's code does with what the lists are asked for. */
struct lists {
    int registers[CLR_MOST_LISTS]; /* 0: not known */
    int copies[CLR_MOST_LISTS];    /* of these registers; newer versions give those the affinity */
    bool is_fine[CLR_MOST_LISTS];  /* an affinity is seen that changes no value, or none; */
    bool changes[CLR_MOST_LISTS];  /* or one that may change it */
};

static void take_affinity(struct lists *lists, const struct clr_query *query, int list, char letter)
{
    if (strchr(query->lists[list], letter) != NULL)
        lists->is_fine[list] = true;
    else
        lists->changes[list] = true;
}

/* Takes note of an operation: the register of a variable, or a copy of it; an affinity that
   one gets; or the search for one that has got none. */
static void take_list_operation(const struct clr_vdbe_op *operation, const struct clr_query *query,
                                int given, struct lists *lists)
{
    const int p1 = operation->p1;
    int i;

    if (clr_vdbe_op_is(operation, "Variable") && p1 > given && p1 <= given + query->list_count)
        lists->registers[p1 - given - 1] = operation->p2;
    for (i = 0; i < query->list_count; i++) {
        const int number = lists->registers[i], copy = lists->copies[i];

        if (number == 0)
            continue;
        if (clr_vdbe_op_is(operation, "Copy") && p1 == number)
            lists->copies[i] = operation->p2;
        else if (clr_vdbe_op_is(operation, "Affinity") &&
                 (p1 == number || (copy != 0 && p1 == copy)))
            take_affinity(lists, query, i, *operation->p4 != '\0' ? *operation->p4 : '?');
        else if (clr_vdbe_op_is(operation, "Found") && operation->p3 == number)
            take_affinity(lists, query, i, '@');
    }
}

/* Whether the register of a list's variable is that of no other: of one that is, nothing is known.
 */
static bool is_alone(const struct lists *lists, int count, int list)
{
    int i;

    for (i = 0; i < count; i++)
        if (i != list && lists->registers[i] == lists->registers[list])
            return false;
    return true;
}

/* Whether no list applies an affinity to what it is asked for that changes its value. */
static bool are_lists_fine(const struct clr_bytecode *program, const struct clr_query *query,
                           int given)
{
    struct lists lists;
    int pass, i;

    memset(&lists, 0, sizeof lists);
    /* Variables may come behind what reads them. */
    for (pass = 0; pass < 2; pass++) {
        for (i = 0; i < program->count; i++)
            take_list_operation(&program->operations[i], query, given, &lists);
    }
    for (i = 0; i < query->list_count; i++)
        if (!lists.is_fine[i] || lists.changes[i] || !is_alone(&lists, query->list_count, i))
            return false;
    return true;
}

/* Returns the next operation from one on, within the code for a subquery that runs once, which
   opens a b-tree or an index for a run, or moves a cursor; NULL: there is none. Neither counts for
   a virtual table. */
static const struct clr_vdbe_op *next_move(const struct clr_bytecode *program, int *at)
{

    while (*at < program->count && program->operations[*at].runs_once) {
        const struct clr_vdbe_op *operation = &program->operations[(*at)++];

        if (CLR_VDBE_OP_IN(operation, CLR_VDBE_MOVES, CLR_VDBE_OPENS))
            return operation;
    }
    return NULL;
}

/* Whether two subqueries, which begin at these operations, go over the same rows in the same way.
   Cursors have numbers of their own in each program. */
static bool are_same_subqueries(const struct clr_bytecode *program, int at,
                                const struct clr_bytecode *other, int other_at)
{
    const struct clr_vdbe_op *a, *b;

    do {
        a = next_move(program, &at);
        b = next_move(other, &other_at);
    } while (a != NULL && b != NULL && clr_vdbe_op_is(a, b->opcode) &&
             (strstr(a->opcode, "Open") == NULL ||
              (a->p2 == b->p2 && a->p3 == b->p3 && strcmp(a->p4, b->p4) == 0)));
    return a == NULL && b == NULL;
}

/* Returns where a subquery ends, or begins, from an operation on that is in it, or in none. */
static int next_border(const struct clr_bytecode *program, int at)
{
    const bool is_inside = at < program->count && program->operations[at].runs_once;

    while (at < program->count && program->operations[at].runs_once == is_inside)
        at++;
    return at;
}

/* Whether a program has a subquery that goes over rows as that of another one from an operation on;
   many go over none, since they are what IN lists. */
static bool has_subquery(const struct clr_bytecode *program, const struct clr_bytecode *other,
                         int begin)
{
    int at = begin, i;

    if (next_move(other, &at) == NULL)
        return true;
    for (i = next_border(program, 0); i < program->count;
         i = next_border(program, next_border(program, i))) {
        if (are_same_subqueries(program, i, other, begin))
            return true;
    }
    return false;
}

/*
 * Whether a program has all subqueries that run once in another one: it goes over the same b-trees
 * in the same way. SQLite makes an index for a run, for instance, where it expects so many rows
 * around a subquery that it takes this one for repeated, and values that are equal come in another
 * order by it (nQueryLoop in SQLite's where.c).
 */
static bool has_subqueries(const struct clr_bytecode *program, const struct clr_bytecode *other)
{
    bool has_all = true;
    int i;

    for (i = next_border(other, 0); i < other->count && has_all;
         i = next_border(other, next_border(other, i)))
        has_all = has_subquery(program, other, i);
    return has_all;
}

/* Finds out whether subqueries of a statement go over rows as the whole SELECT has them do. */
static void check_rows(const struct clr_bytecode *whole, const struct clr_bytecode *program,
                       struct clr_reason *reason)
{
    if (whole != NULL && !has_subqueries(whole, program))
        clr_reason_set(reason, CLR_WHY_SUBQUERY_ROWS);
}

int clr_finish_subqueries_check(sqlite3 *db, const struct clr_query *query, int given,
                                const struct clr_bytecode *whole, struct clr_reason *reason)
{
    struct clr_bytecode program = {.operations = NULL};
    int rc = SQLITE_OK;

    if (query->subqueries != NULL)
        rc = clr_bytecode_read(db, &program, "%s", query->subqueries);
    if (rc == SQLITE_OK && !are_lists_fine(&program, query, given))
        clr_reason_set(reason, CLR_WHY_IN_AFFINITY);
    else if (rc == SQLITE_OK)
        check_rows(whole, &program, reason);
    clr_bytecode_free(&program);
    if (rc == SQLITE_OK && whole != NULL && query->has_subqueries) {
        rc = clr_bytecode_read(db, &program, "%s", query->answer);
        check_rows(whole, &program, reason);
        clr_bytecode_free(&program);
    }
    if (rc == SQLITE_OK && query->asked_of_keys != NULL)
        rc = clr_bytecode_read(db, &program, "%s", query->asked_of_keys);
    if (rc == SQLITE_OK && !search_rows(&program))
        clr_reason_set(reason, CLR_WHY_SUBQUERY_ROWS);
    else if (rc != SQLITE_OK && rc != SQLITE_NOMEM)
        clr_reason_set_name(reason, CLR_WHY_OUTER_NAME, sqlite3_errmsg(db),
                            strlen(sqlite3_errmsg(db)));
    clr_bytecode_free(&program);
    return rc == SQLITE_NOMEM ? rc : SQLITE_OK;
}
