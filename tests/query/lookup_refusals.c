/* Which expressions with text are refused, and the limits of lookups. */
#include "query/environment.h"

#include "tap.h"

#include <stdio.h>
#include <string.h>

#define COMPUTED                                                                                   \
    "a date function of text that is computed is not accelerated: the text may be 'now'"

static void test_refusals(void)
{
    static const struct {
        const char *sql, *want;
    } cases[] = {
        {"s || u = 'x'", TWO_COLUMNS},
        {"s = u", TWO_COLUMNS},
        {"s = b", TWO_COLUMNS},
        {"b = +s", TWO_COLUMNS},
        {"b < s COLLATE nocase", TWO_COLUMNS},
        {"CAST(a AS TEXT) = b", TWO_COLUMNS},
        {"b IN (1, CAST(s AS VARCHAR(3)))", TWO_COLUMNS},
        {"likely(s) = length(u)", TWO_COLUMNS},
        {"s BETWEEN u AND 'x'", TWO_COLUMNS},
        {"CASE s WHEN u THEN 1 END", TWO_COLUMNS},
        {"CASE s COLLATE nocase WHEN 'x' THEN a END", TWO_COLUMNS},
        {"substr(s, b) = 'x'", TWO_COLUMNS},
        {"upper(s) IN ('x', b)", NO_COLUMN},
        {"s", TEXT_COLUMN},
        {"+s", TEXT_COLUMN},
        {"s AND a", TEXT_COLUMN},
        {"s + a", TEXT_COLUMN},
        {"'x'", NO_COLUMN},
        {"'a' || 'b'", NO_COLUMN},
        {"upper(?)", NO_COLUMN},
        {"b > a + 1 AND 'x' < 'y'", NO_COLUMN},
        {"length(s) > b + 'x'", "(> [s: length ( \"entry\" )] [b: \"entry\" + 'x'])"},
        {"random() > s", "random() " OUTSIDE},
        {"\"CHANGES\"() > a", "changes() " OUTSIDE},
        {"s IN ()", EMPTY_LIST},
        {"b IS (s NOT IN ())", EMPTY_LIST},
        {"s = \"zz\"", "zz is no column of the table"},
        {"upper(g) = 'x'", VIRTUAL},
        {"(s, a) = ('x', 1)", "\",\" is not accelerated in this place"},
        {"s IN (SELECT 'x')", SUBQUERY},
        {"s > CURRENT_DATE", PRESENT},
        {"CAST(s AS \"TEXT\") = 'x'", NO_CAST},
        {"CAST(s AS a /* text */ b) = 'x'", NO_CAST},
        {"CAST(s AS 'TEXT') = 'x'", "\"'TEXT'\" is not accelerated in this place"},
        {"upper(s) FILTER (WHERE a)",
         "FILTER is not accelerated for upper(), which is no aggregate that a view computes"},
        {"upper(DISTINCT s)", NOT_DISTINCT},
        {"upper(s) OVER ()",
         "a window function is not accelerated: write it in a SELECT over the view"},
        {"group_concat(s) = 'x'", "group_concat() " OUTSIDE},
        {"coalesce(s) = 'x'", "the function coalesce() is not accelerated with these arguments"},
        {"a = x'0'", "the text has a character that begins no word, number or operator"},
        {"a = x'0g'", "the text has a character that begins no word, number or operator"},
        /* Times. */
        {"s < date('now')", PRESENT},
        {"s < date(' NOW ', '+1 day')", PRESENT},
        {"date(s, 'localTime') = 'x'", PRESENT},
        {"datetime(s, '+1 day', 'utc') = 'x'", PRESENT},
        {"s = date()", PRESENT},
        {"strftime('%Y') = s", PRESENT},
        {"\"StrFTime\"('%Y', 'now') = s", PRESENT},
        {"unixepoch('subsec') > a || ''", PRESENT},
        {"a > julianday('subsecond')", PRESENT},
        {"strftime('%s', s, '+1 day') > time('n'||'ow')", COMPUTED},
        {"date(substr(s, 2)) = 'x'", COMPUTED},
        {"date(x'6e6f77') > s", COMPUTED},
        {"date(strftime('now', s)) = 'x'", COMPUTED},
        {"date(s, lower(s)) = 'x'", COMPUTED},
        {"date(CASE a WHEN 1 THEN 'now' END) > 'x'", PRESENT},
    };
    static const char *const timed[] = {
        "date(s) = 'x'",
        "date(s, '+' || a || ' days') = 'x'",
        "date(s, '+' || 3 || ' days') = 'x'",
        "strftime('now', s) = 'x'",
        "strftime(upper(s), s, 'auto', 'subsec') = 'x'",
        "DATETIME(a / 1000, 'unixepoch') = 'x'",
        "datetime(CAST(s AS INT), 'unixepoch') = 'x'",
        "strftime('%Y', date(s, '+1 month')) = 'x'",
        "strftime('%Y', coalesce(s, '2001-01-01')) = 'x'",
        "date(s, ?) = date(?)",
    };
    struct clr_reason reason = {.code = CLR_WHY_NONE};
    struct clr_query *query;
    size_t i;

    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (cases[i].want[0] == '(')
            becomes(cases[i].sql, cases[i].want);
        else
            refuses(cases[i].sql, cases[i].want);
    }
    for (i = 0; i < sizeof timed / sizeof timed[0]; i++) {
        query = bound_where(timed[i], &reason);
        if (query == NULL)
            tap_ok(strstr(timed[i], "|| a ||") != NULL, "%s: %s", timed[i], text_of(&reason));
        else
            tap_ok(query->lookup_count == 1 && query->lookups[0].is_timed, "timed: %s", timed[i]);
        clr_query_free(query);
    }
}

/* TRUE and FALSE are values unless the table has columns of these names. */
static void test_limits(void)
{
    static char text[60000];
    size_t length;
    int i;

    length = (size_t)sprintf(text, "s = 'x'");
    for (i = 0; i < CLR_MOST_LOOKUPS; i++)
        length += (size_t)sprintf(text + length, " AND b = (s = '%d')", i);
    refuses(text,
            "too many expressions with text or functions to be accelerated: make several views");
    length = 0;
    for (i = 0; i < 240; i++)
        length += (size_t)sprintf(text + length, "upper(");
    length += (size_t)sprintf(text + length, "s");
    for (i = 0; i < 240; i++)
        length += (size_t)sprintf(text + length, ")");
    {
        struct clr_reason reason = {.code = CLR_WHY_NONE};
        struct clr_query *query = bound_where(text, &reason);
        tap_ok(query != NULL && query->lookup_count == 1, "deep calls");
        clr_query_free(query);
    }
    length = 0;
    for (i = 0; i < 300; i++)
        length += (size_t)sprintf(text + length, "upper(");
    length += (size_t)sprintf(text + length, "s");
    for (i = 0; i < 300; i++)
        length += (size_t)sprintf(text + length, ")");
    refuses(text, TOO_DEEP);
    /* A base is found once, and not once more for each choice of each CASE around it. */
    length = 0;
    for (i = 0; i < 40; i++)
        length += (size_t)sprintf(text + length, "CASE ");
    length += (size_t)sprintf(text + length, "a + b");
    for (i = 0; i < 40; i++)
        length +=
            (size_t)sprintf(text + length, " WHEN 1 THEN 2 WHEN 2 THEN 3 WHEN s = 'x' THEN 1 END");
    {
        struct clr_reason reason = {.code = CLR_WHY_NONE};
        struct clr_query *query = bound_where(text, &reason);
        tap_ok(query != NULL, "deep bases: %s", query != NULL ? "" : text_of(&reason));
        clr_query_free(query);
    }
    length = (size_t)sprintf(text, "s");
    for (i = 0; i < 300; i++)
        length += (size_t)sprintf(text + length, " || s");
    refuses(text, TOO_DEEP);
}

void lookup_refusal_tests(void)
{
    test_refusals();
    test_limits();
}
