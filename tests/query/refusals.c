/* The statements that are refused, and why. */
#include "query/environment.h"

#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAST_INTEGERS                                                                              \
    "a comparison with 2^63 or -2^63 as a REAL, or with what may be computed to it, is not "       \
    "accelerated"

#define OUTER "a subquery that names something of the query around it is not accelerated: "

static void test_refusals(void)
{
    static const struct {
        const char *sql, *want;
    } statements[] = {
        {"", "the statement is not complete"},
        {"DELETE FROM t", "DELETE is not accelerated"},
        {"EXPLAIN SELECT sum(a) FROM t",
         "a statement that does not begin with SELECT is not accelerated"},
        {"WITH x AS (SELECT 1) SELECT sum(a) FROM t",
         "WITH is not accelerated: write its SELECT in parentheses in the place of its name"},
        {"SELECT gpu_percentile(a, b) FROM t", "gpu_percentile() " NO_ARGUMENT},
        {"SELECT gpu_percentile_disc(a, 0.5 + 0) FROM t", "gpu_percentile_disc() " NO_ARGUMENT},
        {"SELECT gpu_histogram(a, 0, -?, 3) FROM t", "gpu_histogram() " NO_ARGUMENT},
        {"SELECT gpu_percentile(a, 'x') FROM t", NO_COLUMN},
        {"SELECT sum(a) FROM 't'", "\"'t'\" is not accelerated in this place"},
        {"SELECT gpu_median(s) FROM t", TEXT_COLUMN},
        {"SELECT gpu_sum_merge(a) FROM t", "gpu_sum_merge() " NO_AGGREGATE},
        {"SELECT gpu_sum_merge_state(a) FROM t", "gpu_sum_merge_state() " NO_AGGREGATE},
        {"SELECT gpu_median_state(a) FROM t", "gpu_median_state() " NO_AGGREGATE},
        {"SELECT sum(a)", NO_FROM},
        {"SELECT 1", NO_FROM},
        {"SELECT 1 WHERE 2", NO_FROM},
        {"SELECT sum(a) FROM", "the statement is not complete"},
        {"SELECT FROM t", "\"FROM\" is not accelerated in this place"},
        {"SELECT * FROM t", NO_WHERE},
        {"SELECT * FROM t ORDER BY a LIMIT 3", NO_WHERE},
        {"SELECT a FROM (SELECT a FROM t WHERE b > 1)",
         "rows of a subquery in FROM are not accelerated: read its table"},
        {"SELECT sum(n) FROM (SELECT a, count(*) AS n FROM t GROUP BY a)",
         "a subquery in FROM that has GROUP is not accelerated: make a view of that subquery"},
        {"SELECT sum(a) FROM (SELECT a FROM t ORDER BY a)",
         "a subquery in FROM that has ORDER is not accelerated: make a view of that subquery"},
        {"SELECT sum(a) FROM (SELECT a FROM t LIMIT 3)",
         "a subquery in FROM that has LIMIT is not accelerated: make a view of that subquery"},
        {"SELECT sum(a) FROM (SELECT DISTINCT a FROM t)",
         "a subquery in FROM that has DISTINCT is not accelerated: make a view of that subquery"},
        {"SELECT ALL sum(a) FROM t", "ALL is not accelerated"},
        {"SELECT sum(DISTINCT a) FROM t", NOT_DISTINCT},
        {"SELECT sum(a ORDER BY b) FROM t", NOT_THIS_ORDER},
        {"SELECT sum(a) FROM t HAVING 1",
         "HAVING without GROUP BY is not accelerated: write GROUP BY"},
        {"SELECT sum(a) FROM t ORDER BY a", NOT_THIS_ORDER},
        {"SELECT sum(a) AS x FROM t ORDER BY x + 1", NOT_THIS_ORDER},
        {"SELECT sum(a) FROM t ORDER BY 1, sum(b)", NOT_THIS_ORDER},
        {"SELECT sum(a) FROM t ORDER BY sum(a) FILTER (WHERE b)", NOT_THIS_ORDER},
        {"SELECT gpu_percentile(a, 5) FROM t ORDER BY gpu_percentile(a, 6)", NOT_THIS_ORDER},
        {"SELECT sum(a) FROM t ORDER BY group_concat(1)", "group_concat() " OUTSIDE},
        {"SELECT sum(a) FROM t ORDER BY max(1, abs(random()))", "random() " OUTSIDE},
        {"SELECT sum(a), 2 FROM t ORDER BY (SELECT 1)", NOT_THIS_ORDER},
        {"SELECT sum(a) FROM t ORDER BY 1, t.b COLLATE nocase DESC", NOT_THIS_ORDER},
        {"SELECT sum(a) FROM t LIMIT \"1\"", NOT_THIS_LIMIT},
        {"SELECT sum(a) FROM t LIMIT 1 OFFSET sum(a)", NOT_THIS_LIMIT},
        {"SELECT sum(a) FROM t LIMIT random()", "random() " OUTSIDE},
        {"SELECT sum(a) FROM t LIMIT (SELECT 1)", NOT_THIS_LIMIT},
        {"SELECT sum(a) FROM t UNION SELECT 1",
         "UNION is not accelerated: make a view of each SELECT"},
        {"SELECT sum(a) FROM t, t AS u", JOIN},
        {"SELECT sum(a) FROM t x, t", JOIN},
        {"SELECT sum(a) FROM t JOIN t AS u", JOIN},
        {"SELECT sum(a) FROM t LEFT JOIN t AS u", JOIN},
        {"SELECT sum(a) FROM (SELECT 1 AS a)", "\")\" is not accelerated in this place"},
        {"SELECT sum(a) FROM pragma_table_info('t')", "\"(\" is not accelerated in this place"},
        {"SELECT sum(a) FROM t INDEXED BY i", "INDEXED BY is not accelerated: leave it out"},
        {"SELECT sum(a) FROM t NOT INDEXED", "\"NOT\" is not accelerated in this place"},
        {"SELECT sum(a) FROM t; SELECT 1", "more than one statement is not accelerated"},
        {"SELECT sum(a) OVER () FROM t",
         "a window function is not accelerated: write it in a SELECT over the view"},
        {"SELECT sum(a) FROM t WHERE EXISTS (SELECT 1)", SUBQUERY},
        {"SELECT sum(a) FROM t WHERE a IN (SELECT 1)", SUBQUERY},
        {"SELECT sum((SELECT 1)) FROM t", SUBQUERY},
        {"SELECT sum(a) FILTER (WHERE (SELECT 1)) FROM t", SUBQUERY},
        {"SELECT sum(a), (SELECT \"b\") FROM t", OUTER "\"b\""},
        {"SELECT sum(a) AS \"x\"\"y\", (SELECT 1 = \"X\"\"Y\") FROM t", OUTER "\"X\"\"Y\""},
        {"SELECT sum(a), (SELECT \"_rowid_\" FROM u) FROM t", OUTER "\"_rowid_\""},
        {"SELECT sum(a), (SELECT 1 FROM u WHERE x = \"c:source\") FROM t", OUTER "\"c:source\""},
        {"SELECT sum(a) FROM t WHERE (a", "the statement is not complete"},
        {"SELECT sum(a) FROM ((SELECT 1))", "\"(\" is not accelerated in this place"},
        {"SELECT sum(a) FROM t WHERE a IN t", "\"t\" is not accelerated in this place"},
        {"SELECT sum(a || b) FROM t", TWO_COLUMNS},
        {"SELECT sum(a -> b) FROM t", TWO_COLUMNS},
        {"SELECT sum(a) FROM t WHERE a IS TRUE", "TRUE is not accelerated: write 1 for the value"},
        {"SELECT sum(a) FROM t WHERE a > CURRENT_TIME", PRESENT},
        {"SELECT sum(a) FROM t WHERE (a, b) = (1, 2)", "\",\" is not accelerated in this place"},
        {"SELECT sum(1_000) FROM t", LETTERS},
        {"SELECT sum(1e) FROM t", LETTERS},
        {"SELECT sum(0x) FROM t", LETTERS},
        {"SELECT sum(a) FROM t WHERE a > $x::y", NO_NAME},
        {"SELECT sum(a) FROM t WHERE a > $x(y)", NO_NAME},
        {"SELECT sum(a) FROM t WHERE a > :", NO_NAME},
        {"SELECT sum(a) FROM t WHERE a > ?0", "the statement has no parameter ?0"},
        {"SELECT sum(a) FROM t WHERE a > ?99999999999",
         "the statement has no parameter ?99999999999"},
        {"SELECT sum(a) FROM t /* x", "a comment has no end"},
        {"SELECT sum(\"a) FROM t", "a quote has no end"},
        {"SELECT sum([a) FROM t", "a quote has no end"},
        {"SELECT sum(a) FROM t \xef\xbb\xbf", "a byte order mark is not accelerated: leave it out"},
        {"SELECT sum(a) FROM t \001",
         "the text has a character that begins no word, number or operator"},
        {"SELECT sum(a) FROM t\v",
         "the text has a character that begins no word, number or operator"},
        {"SELECT upper(a), sum(a) FROM t", "upper() " NO_AGGREGATE},
        {"SELECT sum(a, b) FROM t", "the function sum() is not accelerated with these arguments"},
        {"SELECT sum(*) FROM t", "the function sum() is not accelerated with these arguments"},
        {"SELECT count() FROM t", "the function count() is not accelerated with these arguments"},
        {"SELECT gpu_count(a) FROM t", "gpu_count() " NO_AGGREGATE},
        {"SELECT gpu_max(a, b) FROM t",
         "the function gpu_max() is not accelerated with these arguments"},
        {"SELECT coalesce(sum(a)) FROM t",
         "the function coalesce() is not accelerated with these arguments"},
        {"SELECT abs(1) FILTER (WHERE 1), sum(a) FROM t",
         "FILTER is not accelerated for abs(), which is no aggregate that a view computes"},
        {"SELECT a FROM t", NO_WHERE},
        {"SELECT sum(a) + b FROM t", BESIDE},
        {"SELECT 1 FROM t", NO_WHERE},
        {"SELECT sum(a) AND 0 FROM t", NO_WHERE},
        {"SELECT count(*) FROM t WHERE a IN ()", EMPTY_LIST},
        {"SELECT count(*) FROM t WHERE a IS (b NOT IN ())", EMPTY_LIST},
        {"SELECT sum(a) IN () FROM t", NO_WHERE},
        {"SELECT 1 + (sum(a) NOT IN ()) FROM t", NO_WHERE},
        {"SELECT sum(sum(a)) FROM t", "an aggregate within another one is not accelerated"},
        {"SELECT sum(a) FILTER (WHERE max(b)) FROM t",
         "an aggregate within another one is not accelerated"},
        {"SELECT sum(a) FROM t WHERE sum(a)", "an aggregate in WHERE is not accelerated"},
        {"SELECT sum(a) AS x FROM t WHERE x", "x is no column of the table"},
        {"SELECT sum(\"zz\") FROM t", "zz is no column of the table"},
        {"SELECT sum(u.a) FROM t", "a is no column of the table"},
        {"SELECT sum(t.a) FROM t AS u", "a is no column of the table"},
        {"SELECT sum(temp.t.a) FROM t", "a is no column of the table"},
        {"SELECT sum(main.u.a) FROM t", "a is no column of the table"},
        {"SELECT sum(main.t.a) FROM t AS u", "a is no column of the table"},
        {"SELECT sum(main.t.a) FROM t AS t", "a is no column of the table"},
        {"SELECT sum(main.u.a) FROM main.t AS u", "a is no column of the table"},
        {"SELECT sum(temp.t.a) FROM main.t", "a is no column of the table"},
        {"SELECT sum(s) FROM t", TEXT_COLUMN},
        {"SELECT count(+s) FROM t", TEXT_COLUMN},
        {"SELECT count(*) FROM t WHERE s", TEXT_COLUMN},
        {"SELECT sum(g) FROM t", VIRTUAL},
        {"SELECT count(g) FROM t", VIRTUAL},
        {"SELECT sum(-+5) FROM t",
         "a minus sign in front of a plus sign is not accelerated: leave the plus sign out"},
        {"SELECT sum(-(+(+0.0))) FROM t",
         "a minus sign in front of a plus sign is not accelerated: leave the plus sign out"},
        {"SELECT count(*) FROM t WHERE a = -9223372036854775808.0", PAST_INTEGERS},
        {"SELECT count(*) FROM t WHERE a < 9223372036854775808", PAST_INTEGERS},
        {"SELECT count(*) FROM t WHERE b < 1 AND a IN (1, -9.223372036854775808e18)",
         PAST_INTEGERS},
        {"SELECT count(*) FROM t WHERE a <= +-(9223372036854775808)", PAST_INTEGERS},
        {"SELECT count(*) FROM t WHERE a = 1e15 * -9223.372036854775808", PAST_INTEGERS},
        {"SELECT count(*) FROM t WHERE a = -1 / 1e-19", PAST_INTEGERS},
        {"SELECT count(*) FROM t WHERE a = ? / ?", PAST_INTEGERS},
        {"SELECT count(*) FROM t WHERE a = 9007199254740992 + 1", PAST_INTEGERS},
        {"SELECT count(*) FROM t WHERE a = 4294967296 * 4294967296", PAST_INTEGERS},
        {"SELECT count(*) FROM t WHERE a = ? * 1000", PAST_INTEGERS},
        {"SELECT count(*) FROM t WHERE a = abs(-9007199254740993)", PAST_INTEGERS},
        {"SELECT count(*) FROM t WHERE a = max(1, 9007199254740993)", PAST_INTEGERS},
        {"SELECT count(*) FROM t WHERE a = 1 << 54", PAST_INTEGERS},
        {"SELECT count(*) FROM t WHERE a = 3 >> -53", PAST_INTEGERS},
        {"SELECT count(*) FROM t WHERE a = 1 << ?", PAST_INTEGERS},
        {"SELECT count(*) FROM t WHERE a = 9007199254740991 | 4503599627370496 << 1",
         PAST_INTEGERS},
        {"SELECT count(*) FROM t WHERE a = ~9007199254740992", PAST_INTEGERS},
        {"SELECT count(*) FROM t WHERE a = CAST(1e19 AS INTEGER)", PAST_INTEGERS},
        {"SELECT count(*) FROM t WHERE a = 1e19 & -1", PAST_INTEGERS},
        {"SELECT count(*) FROM t WHERE a = CAST(? AS INTEGER)", PAST_INTEGERS},
        {"SELECT count(*) FROM t WHERE a = CAST(1e10 / 1e-10 AS INTEGER)", PAST_INTEGERS},
        {"SELECT count(*) FROM t WHERE a < round(1e300)", PAST_INTEGERS},
        {"SELECT count(*) FROM t WHERE a = nullif(9007199254740993, 1)", PAST_INTEGERS},
        {"SELECT count(*) FROM t WHERE a = iif(1, 9007199254740993, 1)", PAST_INTEGERS},
        {"SELECT count(*) FROM t WHERE a = likely(9007199254740993)", PAST_INTEGERS},
        {"SELECT count(*) FROM t WHERE a = max(1, 9007199254740993)", PAST_INTEGERS},
    };
    size_t i;

    for (i = 0; i < sizeof statements / sizeof statements[0]; i++)
        refused(statements[i].sql, statements[i].want);
    schema = NULL;
    refused("SELECT sum(main.t.a) FROM t", "a is no column of the table");
    schema = "main";
}

/* Fills text with COUNT times `repeated`, between a head and a tail. */
static char *repeat(const char *head, const char *repeated, int count, const char *tail)
{
    size_t step = strlen(repeated), size = strlen(head) + step * (size_t)count + strlen(tail) + 1;
    char *text = malloc(size), *end = text;

    if (text == NULL)
        tap_bail("no memory");
    end += sprintf(end, "%s", head);
    for (; count > 0; count--) {
        memcpy(end, repeated, step);
        end += step;
    }
    strcpy(end, tail);
    return text;
}

static void limit(const char *head, const char *repeated, int count, const char *tail,
                  const char *want)
{
    char *sql = repeat(head, repeated, count, tail);

    refused(sql, want);
    free(sql);
}

static void test_limits(void)
{
    char text[40000] = "SELECT count(*) FROM t WHERE coalesce(";
    int i;

    limit("SELECT count(*) FROM t WHERE ", "(", 100000, "a", TOO_DEEP);
    limit("SELECT count(*) FROM t WHERE ", "NOT ", 300, "a", TOO_DEEP);
    limit("SELECT count(*) FROM t WHERE a", "+a", 300, "", TOO_DEEP);
    limit("SELECT count(*) FROM t WHERE ", "CASE WHEN a THEN ", 100000, "a", TOO_DEEP);
    limit("SELECT count(*)", ", count(*)", CLR_MOST_CALLS, " FROM t",
          "too many aggregates to be accelerated: make several views");
    for (i = 0; i <= CLR_MOST_CONSTANTS; i++)
        sprintf(text + strlen(text), "%d,", i);
    strcat(text, "0)");
    refused(text, "too many literals and parameters to be accelerated: make several views");
    strcpy(text, "SELECT sum(a)");
    for (i = 0; i < CLR_MOST_TALLIES / 5 + 1; i++)
        sprintf(text + strlen(text), ", gpu_corr(a + %d, b)", i);
    strcat(text, " FROM t");
    refused(text, "too many different aggregates to be accelerated: make several views");
    strcpy(text, "SELECT count(*) FROM t WHERE coalesce(0");
    for (i = 0; i < 300; i++)
        sprintf(text + strlen(text), ", a + %d, b + %d", i, i);
    strcat(text, ")");
    refused(text, "too many operations to be accelerated: make several views");
}

void refusal_tests(void)
{
    test_refusals();
    test_limits();
}
