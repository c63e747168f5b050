#include "sqlite/acceleration/inner.h"

#include "sqlite/schema/explain_columns.h"

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

/* Takes note of a line of the code: the register of a variable, or a copy of it; an affinity that
   one gets; or the search for one that has got none. */
static void take_line(sqlite3_stmt *code, const struct clr_query *query, int given,
                      struct lists *lists)
{
    const char *opcode = (const char *)sqlite3_column_text(code, CLR_EXPLAIN_OPCODE);
    const char *letters = (const char *)sqlite3_column_text(code, CLR_EXPLAIN_P4);
    const int p1 = sqlite3_column_int(code, CLR_EXPLAIN_P1),
              p2 = sqlite3_column_int(code, CLR_EXPLAIN_P2);
    const int p3 = sqlite3_column_int(code, CLR_EXPLAIN_P3);
    int i;

    if (opcode == NULL)
        return;
    if (strcmp(opcode, "Variable") == 0 && p1 > given && p1 <= given + query->list_count)
        lists->registers[p1 - given - 1] = p2;
    for (i = 0; i < query->list_count; i++) {
        const int number = lists->registers[i], copy = lists->copies[i];

        if (number == 0)
            continue;
        if (strcmp(opcode, "Copy") == 0 && p1 == number)
            lists->copies[i] = p2;
        else if (strcmp(opcode, "Affinity") == 0 && (p1 == number || (copy != 0 && p1 == copy)))
            take_affinity(lists, query, i,
                          letters != NULL && letters[0] != '\0' ? letters[0] : '?');
        else if (strcmp(opcode, "Found") == 0 && p3 == number)
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
