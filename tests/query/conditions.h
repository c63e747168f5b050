/* What becomes of conditions over columns of text, and of numbers. */
#ifndef CLR_TESTS_CONDITIONS_H
#define CLR_TESTS_CONDITIONS_H

#include "query/query_text.h"

/* Binds a SELECT of which SQLite has taken the syntax; NULL, with the reason, if it is refused. */
static inline struct clr_query *bound(const char *sql, struct clr_reason *reason)
{
    sqlite3_stmt *statement = prepare(sql);
    struct clr_query *query;

    if (statement == NULL)
        tap_diag("%s: %s", sql, sqlite3_errmsg(database));
    make(sql, statement, &query, reason);
    sqlite3_finalize(statement);
    return query;
}

static inline struct clr_query *bound_where(const char *expression, struct clr_reason *reason)
{
    char *sql = sqlite3_mprintf("SELECT count(*) FROM t WHERE %s", expression);
    struct clr_query *query = bound(sql, reason);

    sqlite3_free(sql);
    return query;
}

/* What an expression over columns becomes: [column: text] for a lookup. */
static inline void becomes(const char *expression, const char *want)
{
    struct clr_reason reason = {.code = CLR_WHY_NONE};
    struct clr_query *query;

    if (skips(expression))
        return;
    query = bound_where(expression, &reason);
    dumped = 0;
    if (query != NULL)
        print_value(query, query->filter);
    tap_is_string(query != NULL ? dump : text_of(&reason), want, "%s", expression);
    clr_query_free(query);
}

/* One check: why a condition is not accelerated. */
static inline void refuses(const char *expression, const char *want)
{
    struct clr_reason reason = {.code = CLR_WHY_NONE};
    struct clr_query *query;

    if (skips(expression))
        return;
    query = bound_where(expression, &reason);
    tap_is_string(query != NULL ? "accepted" : text_of(&reason), want, "refused: %s", expression);
    clr_query_free(query);
}

#endif
