/* What becomes of statements. */
#ifndef CLR_TESTS_STATEMENTS_H
#define CLR_TESTS_STATEMENTS_H

#include "query/query_text.h"

/* SQLite's code for a statement, to be freed with sqlite3_free(). */
static inline char *program_of(const char *sql)
{
    sqlite3_str *text = sqlite3_str_new(NULL);
    char *explain = sqlite3_mprintf("EXPLAIN %s", sql);
    sqlite3_stmt *statement = prepare(explain);
    int i;

    if (statement == NULL)
        sqlite3_str_appendall(text, sqlite3_errmsg(database));
    while (sqlite3_step(statement) == SQLITE_ROW) {
        for (i = 1; i < 7; i++)
            sqlite3_str_appendf(text, "%s ", sqlite3_column_text(statement, i));
    }
    sqlite3_finalize(statement);
    sqlite3_free(explain);
    return sqlite3_str_finish(text);
}

/* Up to one check: to SQLite the text that the tree is printed as means what the statement does,
   whose code names parameters as they are written. */
static inline void is_printed(const struct clr_query *query, sqlite3_stmt *statement,
                              const char *sql)
{
    char *text, *got, *want;

    if (query == NULL || statement == NULL || sqlite3_bind_parameter_count(statement) > 0)
        return;
    text = clr_query_write_select(query);
    got = program_of(text);
    want = program_of(sql);
    tap_is_string(got, want, "printed: %s", text);
    sqlite3_free(got);
    sqlite3_free(want);
    clr_memory_free(text);
}

/* Up to two checks: what a statement becomes, and how it is printed. */
static inline void accepted(const char *sql, const char *want)
{
    sqlite3_stmt *statement = prepare(sql);
    struct clr_reason reason = {.code = CLR_WHY_NONE};
    struct clr_query *query;

    if (skips(sql))
        return;
    if (statement == NULL)
        tap_diag("%s", sqlite3_errmsg(database));
    make(sql, statement, &query, &reason);
    if (query == NULL)
        tap_ok(false, "%s: %s", sql, text_of(&reason));
    else if (statement == NULL)
        tap_ok(false, "%s: not in SQLite's grammar", sql);
    else
        tap_is_string(print_query(query), want, "%s", sql);
    is_printed(query, statement, sql);
    clr_query_free(query);
    sqlite3_finalize(statement);
}

/* What an expression over columns becomes. */
static inline void lowered(const char *expression, const char *want)
{
    char *sql = sqlite3_mprintf("SELECT count(*) FROM t WHERE %s", expression);
    char *all = sqlite3_mprintf("where %s; #0; count 0; SELECT {0} FROM groups(?1)", want);

    accepted(sql, all);
    sqlite3_free(sql);
    sqlite3_free(all);
}

/* One check: why a statement is not accelerated. */
static inline void refused(const char *sql, const char *want)
{
    struct clr_reason reason = {.code = CLR_WHY_NONE};
    sqlite3_stmt *statement = prepare(sql);
    struct clr_query *query;

    if (skips(sql))
        return;
    if (make(sql, statement, &query, &reason) == CLR_INVALID)
        tap_is_string(text_of(&reason), want, "refused: %.200s", sql);
    else
        tap_ok(false, "refused: %s", sql);
    clr_query_free(query);
    sqlite3_finalize(statement);
}

#endif
