#include "sqlite/views/inner.h"

#include <string.h>

/* Columns of EXPLAIN. */
enum { AT_OPCODE = 1, AT_P1, AT_P2, AT_P3, AT_P4 };

/* What SQLite's code does with what the lists are asked for. */
struct lists {
    int registers[CLR_MOST_LISTS]; /* 0: not known */
    bool is_fine[CLR_MOST_LISTS];  /* it is seen that the value is asked for as it is, or a copy; */
    bool changes[CLR_MOST_LISTS];  /* or that it gets an affinity that may change it */
};

/* Takes note of a line of the code: the register of a variable; an affinity that one gets; a copy
   of it, which newer versions of SQLite give the affinity to; or the search for it. */
static void take_line(sqlite3_stmt *code, const struct clr_query *query, int given,
                      struct lists *lists)
{
    const char *opcode = (const char *)sqlite3_column_text(code, AT_OPCODE);
    const char *letters = (const char *)sqlite3_column_text(code, AT_P4);
    const int p1 = sqlite3_column_int(code, AT_P1), p3 = sqlite3_column_int(code, AT_P3);
    int i;

    if (opcode == NULL)
        return;
    if (strcmp(opcode, "Variable") == 0 && p1 > given && p1 <= given + query->list_count)
        lists->registers[p1 - given - 1] = sqlite3_column_int(code, AT_P2);
    for (i = 0; i < query->list_count; i++) {
        const int number = lists->registers[i];

        if (number == 0)
            continue;
        if (strcmp(opcode, "Affinity") == 0 && p1 == number &&
            (letters == NULL || strchr(query->lists[i], letters[0]) == NULL))
            lists->changes[i] = true;
        else if (strcmp(opcode, "Affinity") == 0 || strcmp(opcode, "Copy") == 0)
            lists->is_fine[i] = lists->is_fine[i] || p1 == number;
        else if (strcmp(opcode, "Found") == 0 || strcmp(opcode, "NotFound") == 0)
            lists->is_fine[i] = lists->is_fine[i] || p3 == number;
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
static bool are_fine(sqlite3_stmt *code, const struct clr_query *query, int given)
{
    struct lists lists;
    int pass, i;

    memset(&lists, 0, sizeof lists);
    /* Variables may come behind what reads them. */
    for (pass = 0; pass < 2; pass++) {
        while (sqlite3_step(code) == SQLITE_ROW)
            take_line(code, query, given, &lists);
        sqlite3_reset(code);
    }
    for (i = 0; i < query->list_count; i++)
        if (!lists.is_fine[i] || lists.changes[i] || !is_alone(&lists, query->list_count, i))
            return false;
    return true;
}

int clr_inner_check(sqlite3 *db, const struct clr_query *query, int given,
                    struct clr_reason *reason)
{
    sqlite3_stmt *code = NULL;
    char *sql;
    int rc = SQLITE_NOMEM;

    if (query->subqueries == NULL)
        return SQLITE_OK;
    sql = sqlite3_mprintf("EXPLAIN %s", query->subqueries);
    if (sql != NULL)
        rc = sqlite3_prepare_v2(db, sql, -1, &code, NULL);
    if (rc == SQLITE_OK && !are_fine(code, query, given))
        clr_reason_set(reason, CLR_WHY_IN_AFFINITY);
    else if (rc != SQLITE_OK && rc != SQLITE_NOMEM)
        clr_reason_set_name(reason, CLR_WHY_OUTER_NAME, sqlite3_errmsg(db),
                            strlen(sqlite3_errmsg(db)));
    sqlite3_finalize(code);
    sqlite3_free(sql);
    return rc == SQLITE_NOMEM ? rc : SQLITE_OK;
}
