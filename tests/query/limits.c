/* The limits of statements: what is one too many, or too deep, is refused. */
#include "query/environment.h"

#include "tap.h"

#define TOO_DEEP "the expressions are nested too deep to be accelerated"
#define TOO_MANY(what) "too many " what " to be accelerated: make several views"
#define WHERE "SELECT count(*) FROM t WHERE "

/* A text: the head, so many times `before`, whose %d is its number, the middle, and so many times
   `after`; and why it is refused, or NULL. */
static const struct {
    const char *head, *before, *middle, *after;
    int count;
    const char *want;
} limits[] = {
    {WHERE, "(", "a", "", 100000, TOO_DEEP},
    {WHERE, "NOT ", "a", "", 300, TOO_DEEP},
    {WHERE "a", "+a", "", "", 300, TOO_DEEP},
    {WHERE "s", " || s", "", "", 300, TOO_DEEP},
    {WHERE, "CASE WHEN a THEN ", "a", "", 100000, TOO_DEEP},
    {WHERE, "upper(", "s", ")", 300, TOO_DEEP},
    {WHERE, "upper(", "s", ")", 240, NULL},
    /* A base is found once, and not once more for each choice of each CASE around it. */
    {WHERE, "CASE ", "a + b", " WHEN 1 THEN 2 WHEN 2 THEN 3 WHEN s = 'x' THEN 1 END", 40, NULL},
    {"SELECT count(*)", ", count(*)", " FROM t", "", CLR_MOST_CALLS, TOO_MANY("aggregates")},
    {WHERE "coalesce(", "%d,", "0)", "", CLR_MOST_CONSTANTS + 1,
     TOO_MANY("literals and parameters")},
    {"SELECT sum(a)", ", gpu_corr(a + %d, b)", " FROM t", "", CLR_MOST_TALLIES / 5 + 1,
     TOO_MANY("different aggregates")},
    {WHERE "coalesce(0", ", a + %d, b + %d", ")", "", 300, TOO_MANY("operations")},
    {WHERE "s = 'x'", " AND b = (s = '%d')", "", "", CLR_MOST_LOOKUPS,
     TOO_MANY("expressions with text or functions")},
};

TAP_TEST(test_limit)
{
    open_database();
    TAP_EACH (i, limits) {
        sqlite3_str *text = sqlite3_str_new(NULL);
        struct clr_reason reason = {.code = CLR_WHY_NONE};
        struct clr_query *query;
        char *sql;

        sqlite3_str_appendall(text, limits[i].head);
        for (int k = 0; k < limits[i].count; k++)
            sqlite3_str_appendf(text, limits[i].before, k, k);
        sqlite3_str_appendall(text, limits[i].middle);
        for (int k = 0; k < limits[i].count; k++)
            sqlite3_str_appendall(text, limits[i].after);
        sql = sqlite3_str_finish(text);
        query = bound(sql, &reason);
        tap_is_string(query != NULL ? NULL : text_of(&reason), limits[i].want, "%d times \"%s\"",
                      limits[i].count, limits[i].before);
        if (limits[i].count == 240)
            tap_ok(query != NULL && query->lookup_count == 1, "is one lookup");
        clr_query_free(query);
        sqlite3_free(sql);
    }
}
