/* Lookups: which parts of an expression SQLite evaluates for the values of a column, and what is
   refused. Whatever is accepted must mean the same as in SQLite. */
#include "base/memory.h"
#include "batch.h"
#include "query/environment.h"
#include "random.h"

#include "tap.h"

#define TWO_COLUMNS "an expression with text or functions of two columns is not accelerated"
#define NO_COLUMN                                                                                  \
    "an expression with text or functions and no column is not accelerated: make it a parameter"
#define PRESENT "a date function with 'now', 'localtime' or 'utc' is not accelerated"
#define COMPUTED                                                                                   \
    "a date function of text that is computed is not accelerated: the text may be 'now'"
#define TEXT_COLUMN "the TEXT column s is not accelerated in this place"

/* Binds a SELECT of which SQLite has taken the syntax; NULL, with the reason, if it is refused. */
static struct clr_query *bound(const char *sql, struct clr_reason *reason)
{
    sqlite3_stmt *statement = prepare(sql);
    struct clr_query *query;

    if (statement == NULL)
        tap_diag("%s: %s", sql, sqlite3_errmsg(database));
    make(sql, statement, &query, reason);
    sqlite3_finalize(statement);
    return query;
}

static struct clr_query *bound_where(const char *expression, struct clr_reason *reason)
{
    char *sql = sqlite3_mprintf("SELECT count(*) FROM t WHERE %s", expression);
    struct clr_query *query = bound(sql, reason);

    sqlite3_free(sql);
    return query;
}

/* What an expression over columns becomes: [column: text] for a lookup. */
static void becomes(const char *expression, const char *want)
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

static void refuses(const char *expression, const char *want)
{
    struct clr_reason reason = {.code = CLR_WHY_NONE};
    struct clr_query *query;

    if (skips(expression))
        return;
    query = bound_where(expression, &reason);
    tap_is_string(query != NULL ? "accepted" : text_of(&reason), want, "refused: %s", expression);
    clr_query_free(query);
}

/* ---- What becomes a lookup. */

static void test_expressions(void)
{
    static const struct {
        const char *sql, *want;
    } cases[] = {
        {"s = 'x'", "[s: \"entry\" = 'x']"},
        {"'x'<t.s", "[s: 'x' < \"entry\"]"},
        {"[s]=/*c*/\"S\"--\n||'it''s'", "[s: \"entry\" = \"entry\" || 'it''s']"},
        {"s >= '1994-01-01' AND s < '1995-01-01'",
         "[s: \"entry\" >= '1994-01-01' AND \"entry\" < '1995-01-01']"},
        {"upper(s) = 'X' AND b > 5", "(and [s: upper ( \"entry\" ) = 'X'] (> b 5))"},
        {"length(s) * 2 > a", "(> [s: length ( \"entry\" ) * 2] a)"},
        {"a > length(s) * 2 + b", "(> a (+ [s: length ( \"entry\" ) * 2] b))"},
        {"s = 1", "[s: \"entry\" = 1]"},
        {"s = ?1", "[s: \"entry\" = ?1]"},
        {"s = :x AND b = :x", "(and [s: \"entry\" = ?1] (= b ?1))"},
        {"s IN (?, ?7, ?) OR s = $y", "[s: \"entry\" IN ( ?1 , ?7 , ?8 ) OR \"entry\" = ?9]"},
        {"b = ?", "(= b ?1)"},
        {"d = ?", "(= d ?1)"},
        {"NULL IS s", "[s: NULL IS \"entry\"]"},
        {"s IS NULL", "(null s)"},
        {"s IS NULL OR s = 'x'", "[s: \"entry\" IS NULL OR \"entry\" = 'x']"},
        {"s IS NULL OR b = 1", "(or (null s) (= b 1))"},
        {"s IS NULL AND b = 1 AND s = 'x'", "(and (and (null s) (= b 1)) [s: \"entry\" = 'x'])"},
        {"s NOT IN ('a', 'b')", "[s: \"entry\" NOT IN ( 'a' , 'b' )]"},
        {"s NOT BETWEEN 'a' AND 'b' OR a", "(or [s: \"entry\" NOT BETWEEN 'a' AND 'b'] a)"},
        {"s NOT LIKE 'a' AND a", "(and [s: \"entry\" NOT LIKE 'a'] a)"},
        {"s LIKE 'a!%' ESCAPE '!' = a", "(= [s: \"entry\" LIKE 'a!%' ESCAPE '!'] a)"},
        {"s GLOB 'a*'", "[s: \"entry\" GLOB 'a*']"},
        {"like('a%', s)", "[s: like ( 'a%' , \"entry\" )]"},
        {"\"upper\"(s) = `lower`(s)", "[s: \"upper\" ( \"entry\" ) = `lower` ( \"entry\" )]"},
        {"s COLLATE nocase = 'x' AND a", "(and [s: \"entry\" COLLATE nocase = 'x'] a)"},
        {"s = 'x' COLLATE 'rtrim'", "[s: \"entry\" = 'x' COLLATE 'rtrim']"},
        {"CAST(s AS INTEGER) > a", "(> [s: CAST ( \"entry\" AS INTEGER )] a)"},
        {"CAST(s AS varchar(3, -4)) = 'a'", "[s: CAST ( \"entry\" AS varchar ( 3 , - 4 ) ) = 'a']"},
        {"CAST(a AS  NATIVE  CHARACTER)", "[a: CAST ( \"entry\" AS NATIVE CHARACTER )]"},
        {"CAST(s AS  DOUBLE  PRECISION)", "[s: CAST ( \"entry\" AS DOUBLE PRECISION )]"},
        {"CAST(a AS TEXT) | b", "(| [a: CAST ( \"entry\" AS TEXT )] b)"},
        {"s -> '$.a' ->> 'b' = b", "(= [s: \"entry\" -> '$.a' ->> 'b'] b)"},
        {"(s & 7 | ~s << 1 >> 2) + b", "(+ [s: \"entry\" & 7 | ~ \"entry\" << 1 >> 2] b)"},
        {"round(a, 2) + b", "(+ [a: round ( \"entry\" , 2 )] b)"},
        {"round(s) + round(b)", "(+ [s: round ( \"entry\" )] (round b))"},
        {"iif(s = 'x', a, b)", "(if [s: \"entry\" = 'x'] a b)"},
        {"iif(a, b) + nullif(a, 'x') * nullif(b, 1)", TWO_COLUMNS},
        {"nullif(a, 'x') * nullif(b, 1)",
         "(* [a: nullif ( \"entry\" , 'x' )] (if (= b 1) NULL b))"},
        {"nullif(length(s), b)",
         "(if (= [s: length ( \"entry\" )] b) NULL [s: length ( \"entry\" )])"},
        {"nullif(s, b)", TEXT_COLUMN},
        {"likely(s = 'x') AND unlikely(b)", "(and [s: likely ( \"entry\" = 'x' )] b)"},
        {"likely(s = 'x' AND b)", "(and [s: \"entry\" = 'x'] b)"},
        {"iif(a, 1)", "[a: iif ( \"entry\" , 1 )]"},
        {"a = x'0aFF'", "[a: \"entry\" = x'0aFF']"},
        {"a LIKE 1", "[a: \"entry\" LIKE 1]"},
        {"a = 'x' || 1 || ?2", "[a: \"entry\" = 'x' || 1 || ?2]"},
        {"s < date('1994-01-01', '+1 year')",
         "[s: \"entry\" < date ( '1994-01-01' , '+1 year' ) (timed)]"},
        {"strftime('%Y', s) = '2001' AND a",
         "(and [s: strftime ( '%Y' , \"entry\" ) = '2001' (timed)] a)"},
        {"rowid || 'x'", "[rowid: \"entry\" || 'x']"},
        {"typeof(a) = 'real'", "[a: typeof ( \"entry\" ) = 'real']"},
        {"abs(round(a, 1)) + b", "(+ [a: abs ( round ( \"entry\" , 1 ) )] b)"},
        {"coalesce(s, 'x') = 'x'", "[s: coalesce ( \"entry\" , 'x' ) = 'x']"},
        {"max(length(s), b)", "(greatest [s: length ( \"entry\" )] b)"},
        {"CASE WHEN s = 'x' THEN a ELSE 0 END", "(if [s: \"entry\" = 'x'] a 0)"},
        {"CASE WHEN s = 'x' THEN 1 ELSE 0 END", "[s: CASE WHEN \"entry\" = 'x' THEN 1 ELSE 0 END]"},
        {"CASE s WHEN 'x' THEN a WHEN 'y' THEN b END",
         "(if [s: ( \"entry\" ) = ( 'x' )] a (if [s: ( \"entry\" ) = ( 'y' )] b NULL))"},
        {"CASE (s) WHEN (('x')) THEN a END", "(if [s: ( \"entry\" ) = ( 'x' )] a NULL)"},
        {"CASE a WHEN 1 THEN b WHEN '2' THEN c END",
         "(if (= a 1) b (if [a: ( \"entry\" ) = ( '2' )] c NULL))"},
        {"CASE a WHEN 1 THEN length(s) ELSE c END", "(if (= a 1) [s: length ( \"entry\" )] c)"},
        {"(s = 'x') = (b = 1)", "(= [s: \"entry\" = 'x'] (= b 1))"},
        {"(((s)) = ('x'))", "[s: ( ( \"entry\" ) ) = ( 'x' )]"},
        {"((length(s)) + 1) * b", "(* [s: ( length ( \"entry\" ) ) + 1] b)"},
        {"- length(s) - -1 < b", "(< [s: - length ( \"entry\" ) - - 1] b)"},
        {"NOT (s = 'x') AND NOT a", "(and [s: NOT ( \"entry\" = 'x' )] (not a))"},
        {"length(s) BETWEEN a AND b",
         "(and (>= [s: length ( \"entry\" )] a) (<= [s: length ( \"entry\" )] b))"},
        {"length(s) IN (a, 2)",
         "(or (= [s: length ( \"entry\" )] a) (= [s: length ( \"entry\" )] 2))"},
        {"a IN (1, length(s))", "(or (= a 1) (= a [s: length ( \"entry\" )]))"},
        {"length(s) = length(u)", "(= [s: length ( \"entry\" )] [u: length ( \"entry\" )])"},
        {"(s = 'x') IS NOT (u = 'x')", "(isnot [s: \"entry\" = 'x'] [u: \"entry\" = 'x'])"},
        {"s = 'x' IS NOT DISTINCT FROM 1 AND a",
         "(and [s: \"entry\" = 'x' IS NOT DISTINCT FROM 1] a)"},
        {"a = b COLLATE nocase", "(= a [b: \"entry\" COLLATE nocase])"},
        {"b > 9007199254740993 AND typeof(b) = 'integer'",
         "[b: \"entry\" > 9007199254740993 AND typeof ( \"entry\" ) = 'integer']"},
        {"c > '1' AND c < '-1.5e3' AND c <> 'x9007199254740993' AND c < 1e300 AND b",
         "(and [c: \"entry\" > '1' AND \"entry\" < '-1.5e3' AND \"entry\" <> 'x9007199254740993' "
         "AND \"entry\" < 1e300] b)"},
        {"c = '9007199254740993'", "[c: \"entry\" = '9007199254740993']"},
        {"c > CAST('2' AS REAL)", "[c: \"entry\" > CAST ( '2' AS REAL )]"},
    };
    size_t i;

    for (i = 0; i < sizeof cases / sizeof cases[0]; i++)
        becomes(cases[i].sql, cases[i].want);
}

/* As in SQLite's grammar: what binds tighter is inside the lookup of one column. */
static void test_precedence_by_structure(void)
{
    static const struct {
        const char *sql, *want;
    } cases[] = {
        {"a + length(s) || 'x'", "(+ a [s: length ( \"entry\" ) || 'x'])"},
        {"(a + length(s)) || 'x'", TWO_COLUMNS},
        {"b + s || 1", "(+ b [s: \"entry\" || 1])"},
        {"b * s || 1", "(* b [s: \"entry\" || 1])"},
        {"b + s << 1", TEXT_COLUMN},
        {"b < s << 1", "(< b [s: \"entry\" << 1])"},
        {"b = s & 3", "(= b [s: \"entry\" & 3])"},
        {"b < a LIKE 1", TWO_COLUMNS},
        {"b OR a LIKE 1", "(or b [a: \"entry\" LIKE 1])"},
        {"b = (a LIKE 1)", "(= b [a: \"entry\" LIKE 1])"},
        {"b - ~s", "(- b [s: ~ \"entry\"])"},
        {"b - - a COLLATE nocase", "(- b [a: - \"entry\" COLLATE nocase])"},
        {"b || a COLLATE nocase", TWO_COLUMNS},
        {"NOT a LIKE 1 AND b", "(and [a: NOT \"entry\" LIKE 1] b)"},
        {"b < a LIKE 1 ESCAPE a + 2", TWO_COLUMNS},
        {"b AND a LIKE 1 ESCAPE 2 < 3", "(and b [a: \"entry\" LIKE 1 ESCAPE 2 < 3])"},
        {"b / a ->> '$'", "(/ b [a: \"entry\" ->> '$'])"},
    };
    size_t i;

    for (i = 0; i < sizeof cases / sizeof cases[0]; i++)
        becomes(cases[i].sql, cases[i].want);
}

/* ---- What is refused. */

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
        {"random() > s", "random() is not accelerated: its result may follow from more than its "
                         "arguments"},
        {"\"CHANGES\"() > a", "changes() is not accelerated: its result may follow from more than "
                              "its arguments"},
        {"s IN ()", "an empty IN list is not accelerated"},
        {"b IS (s NOT IN ())", "an empty IN list is not accelerated"},
        {"s = \"zz\"", "zz is no column of the table"},
        {"upper(g) = 'x'", "the virtual generated column g is not accelerated: its value may "
                           "follow from more than its row; make it STORED"},
        {"(s, a) = ('x', 1)", "\",\" is not accelerated in this place"},
        {"s IN (SELECT 'x')",
         "a subquery is not accelerated in this place: make it a parameter or a table"},
        {"s > CURRENT_DATE", "CURRENT_DATE is not accelerated"},
        {"CAST(s AS \"TEXT\") = 'x'", "CAST to this type is not accelerated: write INTEGER, REAL, "
                                      "TEXT, NUMERIC or BLOB"},
        {"CAST(s AS a /* text */ b) = 'x'", "CAST to this type is not accelerated: write INTEGER, "
                                            "REAL, TEXT, NUMERIC or BLOB"},
        {"CAST(s AS 'TEXT') = 'x'", "\"'TEXT'\" is not accelerated in this place"},
        {"upper(s) FILTER (WHERE a)",
         "FILTER is not accelerated for a function that is no aggregate"},
        {"upper(DISTINCT s)", "DISTINCT of this is not accelerated: it is of count(DISTINCT x)"},
        {"upper(s) OVER ()", "a window function is not accelerated"},
        {"group_concat(s) = 'x'", "group_concat() is not accelerated: its result may follow from "
                                  "more than its arguments"},
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
static void test_truths(void)
{
    refuses("s = 'x' IS TRUE", "TRUE is not accelerated: write 1 for the value");
    becomes("s = 'x' IS FALSE", "[s: \"entry\" = 'x' IS FALSE]");
    becomes("(s = 'x') = false AND a", "(and [s: ( \"entry\" = 'x' ) = false] a)");
    refuses("a IS FALSE", "FALSE is not accelerated: write 0 for the value");
    refuses("(s = 'x' AND a) IS FALSE", "FALSE is not accelerated: write 0 for the value");
}

/* ---- The select list. */

static void finishes(const char *sql, const char *want)
{
    struct clr_reason reason = {.code = CLR_WHY_NONE};
    struct clr_query *query = bound(sql, &reason);

    tap_is_string(query != NULL ? query->answer : text_of(&reason), want, "%s", sql);
    clr_query_free(query);
}

static void test_select_list(void)
{
    finishes("SELECT 'n=' || count(*), printf('%.2f', gpu_sum(a)) FROM t",
             "SELECT 'n=' || ?1, printf ( '%.2f' , ?2 )");
    finishes("SELECT CAST(sum(a) AS TEXT) COLLATE nocase LIKE 'a' ESCAPE 'b', ~count(*) & x'00', "
             "date('now'), FALSE FROM t",
             "SELECT CAST ( ?1 AS TEXT ) COLLATE nocase LIKE 'a' ESCAPE 'b', ~ ?2 & x'00', "
             "date ( 'now' ), FALSE");
    finishes("SELECT upper(?1 || :x) || sum(a) FROM t WHERE s = :x",
             "SELECT upper ( ?1 || ?2 ) || ?3");
    finishes("SELECT TRUE, sum(a) FROM t", "TRUE is not accelerated: write 1 for the value");
    finishes("SELECT count(*) > random() FROM t",
             "random() is not accelerated: its result may follow from more than its arguments");
    finishes("SELECT printf('%d', a), count(*) FROM t", "the function printf() is not accelerated");
    finishes("SELECT group_concat(s) || count(*) FROM t",
             "the function group_concat() is not accelerated");
    finishes("SELECT s || count(*) FROM t", "a column outside the aggregates is not accelerated");
    finishes("SELECT upper('x') FROM t",
             "a SELECT without an aggregate, GROUP BY and WHERE is not accelerated");
    finishes("SELECT upper(count(*) AND 0) FROM t",
             "a SELECT without an aggregate, GROUP BY and WHERE is not accelerated");
    finishes("SELECT upper(count(*) IN ()) FROM t",
             "a SELECT without an aggregate, GROUP BY and WHERE is not accelerated");
    /* The comparison would take the sequence of the argument. */
    finishes("SELECT gpu_mode(a COLLATE nocase) = 'X' FROM t",
             "an aggregate with COLLATE in its arguments is not accelerated within an expression: "
             "make it a column of the result");
    finishes("SELECT gpu_mode(a COLLATE nocase), count(*) COLLATE nocase = 'x' FROM t",
             "SELECT ?1, ?2 COLLATE nocase = 'x'");
}

/* ---- Columns. */

static int count_columns(const struct clr_query *query, int number, bool with_codes)
{
    int i, count = 0;

    for (i = 0; i < query->column_count; i++)
        count += query->columns[i] == number && query->with_codes[i] == with_codes;
    return count;
}

static void test_columns(void)
{
    struct clr_reason reason = {.code = CLR_WHY_NONE};
    struct clr_query *query = bound("SELECT count(s), count(*), gpu_count_distinct(s), "
                                    "sum(a) FILTER (WHERE s  =  'x'), sum(a * (s='x')) FROM t "
                                    "WHERE t.s = 'x' AND u = 'x' AND b AND s <> 'y'",
                                    &reason);
    struct clr_scan scan;
    struct clr_query_run *run = NULL;
    int i;

    if (query == NULL)
        tap_bail("%s", text_of(&reason));
    tap_is_int64(query->lookup_count, 3, "equal lookups of a column are one");
    tap_ok(count_columns(query, 106, true) == 1 && count_columns(query, 106, false) == 1 &&
               count_columns(query, 107, true) == 1 && count_columns(query, 107, false) == 0 &&
               count_columns(query, 100, false) == 1 && count_columns(query, 100, true) == 0,
           "a column with codes and one with values");
    for (i = 0; i < query->column_count; i++)
        tap_ok(query->with_bytes[i] == (query->columns[i] == 106 && !query->with_codes[i]),
               "bytes are those of the column with values: %d", i);
    for (i = 0; i < query->lookup_count; i++)
        tap_ok(query->with_codes[query->lookups[i].column], "lookup %d has codes", i);
    tap_ok(clr_query_computes(query), "SQLite computes");
    tap_ok(clr_query_run_begin(query, NULL, &run, &reason) == CLR_OK, "a run begins");
    scan = clr_query_run_scan(run);
    tap_ok(scan.lookup_count == 3 && scan.lookups == NULL, "with lookups that the caller sets");
    clr_query_run_free(run);
    clr_query_free(query);
    query = bound("SELECT sum(length(s)), count(*) FROM t", &reason);
    tap_ok(query != NULL && clr_query_computes(query), "a lookup computes");
    clr_query_free(query);
    query = bound("SELECT count(upper(s)), gpu_corr(a, length(s)) FROM t", &reason);
    tap_ok(query != NULL && query->lookup_count == 2 &&
               query->instructions[query->tallies[0].x].opcode == CLR_OP_LOOKUP,
           "lookups as arguments");
    clr_query_free(query);
}

static struct clr_scalar text_value(void *context, int number)
{
    (void)context, (void)number;
    return (struct clr_scalar){.tag = CLR_TAG_BYTES};
}

/* TEXT is for lookups and for the result row, and for no constant. */
static void test_parameters(void)
{
    static const struct {
        const char *sql;
        bool taken;
    } cases[] = {
        {"SELECT count(*) FROM t WHERE s = ?", true},
        {"SELECT count(*) || ?1 FROM t WHERE s LIKE ?1", true},
        {"SELECT count(*) FROM t WHERE s = ?1 AND b = ?2", false},
        {"SELECT count(*) FROM t WHERE s = ?1 AND b = ?1", false},
    };
    const struct clr_parameters parameters = {NULL, text_value};
    size_t i;

    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct clr_reason reason = {.code = CLR_WHY_NONE};
        struct clr_query *query = bound(cases[i].sql, &reason);
        struct clr_query_run *run = NULL;

        if (query == NULL)
            tap_bail("%s: %s", cases[i].sql, text_of(&reason));
        clr_query_run_begin(query, &parameters, &run, &reason);
        tap_ok((run != NULL) == cases[i].taken, "a TEXT parameter: %s", cases[i].sql);
        clr_query_run_free(run);
        clr_query_free(query);
    }
}

/* ---- Limits. */

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
    refuses(text, "the expressions are nested too deep to be accelerated");
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
    refuses(text, "the expressions are nested too deep to be accelerated");
}

/* ---- Random expressions. */

static const char *const random_columns[] = {"a", "b", "c", "d", "s", "s", "u"};

/* Appends a random expression to a string, most of it over the column. */
static void add_random(sqlite3_str *to, int depth, const char *column)
{
    /* A digit is an operand, 0 one without parentheses. */
    static const char *const forms[] = {
        "0 + 0",
        "0 - 0",
        "0 * 0",
        "0 / 0",
        "0 % 0",
        "0 || 0",
        "0 & 0",
        "0 | 0",
        "0 << 0",
        "0 >> 0",
        "0 = 0",
        "0 <> 0",
        "0 < 0",
        "0 >= 0",
        "0 AND 0",
        "0 AND 0",
        "0 AND 0",
        "0 OR 0",
        "0 IS 0",
        "0 IS NOT 0",
        "0 IS NOT DISTINCT FROM 0",
        "0 IS DISTINCT FROM 0",
        "0 LIKE 0",
        "0 NOT LIKE 0",
        "0 GLOB 0",
        "0 LIKE 0 ESCAPE '!'",
        "0 BETWEEN 0 AND 0",
        "0 NOT BETWEEN 0 AND 0",
        "0 IN (0, 0)",
        "0 IN (0)",
        "0 NOT IN (0, 0)",
        "0 ISNULL",
        "0 NOT NULL",
        "NOT 0",
        "- 0",
        "+ 0",
        "~ 0",
        "0 COLLATE nocase",
        "CAST(0 AS INT)",
        "CAST(0 AS TEXT)",
        "CAST(0 AS REAL)",
        "CAST(0 AS NUMERIC(1, 2))",
        "length(0)",
        "upper(0)",
        "substr(0, 1, 1)",
        "abs(0)",
        "coalesce(0, 0)",
        "max(0, 0)",
        "min(0, 0)",
        "nullif(0, 0)",
        "likely(0)",
        "iif(0, 0, 0)",
        "round(0)",
        "floor(0)",
        "sign(0)",
        "CASE WHEN 0 THEN 0 ELSE 0 END",
        "CASE 0 WHEN 0 THEN 0 WHEN 0 THEN 0 END",
        "CASE 0 WHEN 'x' THEN 0 ELSE 0 END",
    };
    static const char *const literals[] = {"'x'",
                                           "'X'",
                                           "'1'",
                                           "'a%'",
                                           "1",
                                           "0",
                                           "2.5",
                                           "-1",
                                           "''",
                                           "NULL",
                                           "x'7831'",
                                           "FALSE",
                                           "9007199254740993",
                                           "'9007199254740993'"};
    const char *form = forms[random_below(sizeof forms / sizeof forms[0])];
    int atom;

    if (depth == 0 || random_below(5) == 0) {
        atom = (int)random_below(3);
        sqlite3_str_appendall(
            to, atom > 0 ? column : literals[random_below(sizeof literals / sizeof literals[0])]);
        return;
    }
    if (random_below(3) == 0)
        column = random_columns[random_below(sizeof random_columns / sizeof random_columns[0])];
    for (; *form != '\0'; form++) {
        const bool parentheses = random_below(2) == 0;

        if (*form != '0' ||
            (form[1] != '\0' && form[1] != ' ' && form[1] != ')' && form[1] != ',')) {
            sqlite3_str_appendchar(to, 1, *form);
            continue;
        }
        if (parentheses)
            sqlite3_str_appendchar(to, 1, '(');
        add_random(to, depth - 1, column);
        if (parentheses)
            sqlite3_str_appendchar(to, 1, ')');
    }
}

static int take_number(void *context, int count, char **values, char **names)
{
    (void)count, (void)names;
    *(int *)context = values[0] == NULL ? -1 : atoi(values[0]);
    return 0;
}

/* The rows that are compared: those where no column and no lookup gives BYTES, which would make
   the result UNSURE. */
static void print_sure(const struct clr_query *query)
{
    int i;

    for (i = 0; i < query->instruction_count; i++) {
        const enum clr_opcode opcode = query->instructions[i].opcode;

        if (opcode != CLR_OP_COLUMN && opcode != CLR_OP_LOOKUP)
            continue;
        print(" AND typeof(");
        print_sql(query, i);
        print(") NOT IN ('text', 'blob')");
    }
}

/* Stores how many rows have another value by the instructions than by SQLite, and how many more or
   less SQLite finds, by its indexes. Returns false if SQLite finds an error. */
static bool find_differences(const struct clr_query *query, const char *expression, int *rows,
                             int *found)
{
    dumped = 0;
    print("SELECT (SELECT count(*) FROM t WHERE (%s\n)", expression);
    print_sure(query);
    print(") - (SELECT count(*) FROM t NOT INDEXED WHERE ");
    print_sql(query, query->filter);
    print_sure(query);
    print(")");
    if (sqlite3_exec(database, dump, take_number, found, NULL) != SQLITE_OK)
        return false;
    dumped = 0;
    print("SELECT count(*) FROM t WHERE (%s\n) IS NOT ", expression);
    print_sql(query, query->filter);
    print_sure(query);
    return sqlite3_exec(database, dump, take_number, rows, NULL) == SQLITE_OK;
}

static void fill_table(void)
{
    static const char fill[] =
        "INSERT INTO t(a, b, c, d, s, u) VALUES (1, 2, 2.5, 'x', 'x', 'X'), "
        "(NULL, 1, 0, 1, NULL, '1'), ('1', -1, 1, '1', '1', 'abc'), (2.5, NULL, NULL, x'7831', "
        "'a%', NULL), (0, 0, -1, 0, '0', 'x'), ('x', '2', 1e10, NULL, '', ''), "
        "(-1, 1, 1, 2.5, 'X', 'x1'), (9007199254740993, 9007199254740993, 9007199254740993, 1.0, "
        "'2.5', '-1'), (x'78', x'31', 2, 2, x'7831', '2'), (1, 1, 1, 1, '01', '1')";

    if (sqlite3_exec(database, fill, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_exec(database,
                     "INSERT INTO t(a, b, c, d, s, u) SELECT x.a, y.b, z.c, x.d, y.s, z.u "
                     "FROM t x, t y, t z WHERE abs(random() % 4) = 0;"
                     "CREATE INDEX ta ON t(a); CREATE INDEX tb ON t(b); CREATE INDEX tc ON t(c);"
                     "CREATE INDEX td ON t(d); CREATE INDEX ts ON t(s); CREATE INDEX tu ON t(u);"
                     "CREATE INDEX tr ON t(CAST(b AS REAL))",
                     NULL, NULL, NULL) != SQLITE_OK)
        tap_bail("%s", sqlite3_errmsg(database));
}

static void test_random(void)
{
    int round, taken = 0, split = 0, rows = -1, found = -1;

    fill_table();
    batch_begin();
    for (round = 0; round < batch_rounds(20000); round++) {
        sqlite3_str *text = sqlite3_str_new(database);
        struct clr_reason reason = {.code = CLR_WHY_NONE};
        struct clr_query *query = NULL;
        char *expression, *sql;

        add_random(text, random_between(1, 4),
                   random_columns[random_below(sizeof random_columns / sizeof random_columns[0])]);
        expression = sqlite3_str_finish(text);
        sql = sqlite3_mprintf("SELECT count(*) FROM t WHERE %s", expression);
        if (strlen(sql) < 400)
            make(sql, NULL, &query, &reason);
        if (query != NULL && query->lookup_count > 0 &&
            find_differences(query, expression, &rows, &found)) {
            taken++;
            split += query->instructions[query->filter].opcode != CLR_OP_LOOKUP;
            batch_ok(rows == 0 && found == 0, "%d rows, %d by indexes: %s", rows, found, dump);
        }
        clr_query_free(query);
        sqlite3_free(expression);
        sqlite3_free(sql);
    }
    batch_end("random expressions have SQLite's values");
    tap_ok(taken > round / 8 && split > round / 50, "%d of %d had lookups, %d of them as parts",
           taken, round, split);
}

static void test_memory(void)
{
    static const char sql[] =
        "SELECT 'x' || count(upper(s)), sum(a * (s = :p)) FROM main.t AS v WHERE upper(v.s) = 'X' "
        "AND CASE v.u WHEN 'x' THEN b WHEN 'y' THEN date(u, '+1 day') END > 1 AND s LIKE 'x' AND "
        "CAST(b AS INT) + a AND s LIKE 'x'";

    fail_allocations(sql, 60);
}

int main(void)
{
    random_start();
    open_database();
    test_expressions();
    test_precedence_by_structure();
    test_refusals();
    test_truths();
    test_select_list();
    test_columns();
    test_parameters();
    test_limits();
    test_random();
    test_memory();
    sqlite3_close(database);
    return tap_done();
}
