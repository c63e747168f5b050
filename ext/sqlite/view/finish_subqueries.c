#include "sqlite/view/finish_subqueries.h"

#include "sqlite/lookups/subqueries.h"

#include <stdbool.h>
#include <string.h>

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

/* Finds out whether subqueries of a statement go over rows as the whole SELECT has them do. */
static void check_rows(const struct clr_bytecode *whole, const struct clr_bytecode *program,
                       struct clr_reason *reason)
{
    if (whole != NULL && !clr_bytecode_has_subqueries(whole, program))
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
    if (rc == SQLITE_OK && !clr_subqueries_search(&program))
        clr_reason_set(reason, CLR_WHY_SUBQUERY_ROWS);
    else if (rc != SQLITE_OK && rc != SQLITE_NOMEM)
        clr_reason_set_name(reason, CLR_WHY_OUTER_NAME, sqlite3_errmsg(db),
                            strlen(sqlite3_errmsg(db)));
    clr_bytecode_free(&program);
    return rc == SQLITE_NOMEM ? rc : SQLITE_OK;
}
