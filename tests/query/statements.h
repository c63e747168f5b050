/* What becomes of statements. */
#ifndef CLR_TESTS_STATEMENTS_H
#define CLR_TESTS_STATEMENTS_H

#include "query/query_text.h"

/* One check: what a statement becomes. */
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
    clr_query_free(query);
    sqlite3_finalize(statement);
}

/* What an expression over columns becomes. */
static inline void lowered(const char *expression, const char *want)
{
    char *sql = sqlite3_mprintf("SELECT count(*) FROM t WHERE %s", expression);
    char *all = sqlite3_mprintf("where %s; #0; count 0; SELECT ?%d", want, 1);

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
