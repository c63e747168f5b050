/* What becomes a lookup: an expression over one column of text, for each entry of its dictionary.
 */
#include "query/environment.h"

#include "tap.h"

#include <stdio.h>
#include <string.h>

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
        {"s IS NULL OR s = 'x'", "[s: \"entry\" ISNULL OR \"entry\" = 'x']"},
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
        {"CAST(s AS varchar(3, -4)) = 'a'", "[s: CAST ( \"entry\" AS varchar(3, -4) ) = 'a']"},
        {"CAST(a AS  NATIVE  CHARACTER)", "[a: CAST ( \"entry\" AS NATIVE  CHARACTER )]"},
        {"CAST(s AS  DOUBLE  PRECISION)", "[s: CAST ( \"entry\" AS DOUBLE  PRECISION )]"},
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
        {"(((s)) = ('x'))", "[s: \"entry\" = ( 'x' )]"},
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
        {"s = 'x' IS NOT DISTINCT FROM 1 AND a", "(and [s: \"entry\" = 'x' IS 1] a)"},
        {"s IS NOT DISTINCT FROM NOT s", "[s: \"entry\" IS ( NOT \"entry\" )]"},
        {"s IS DISTINCT FROM NOT s ISNULL", "[s: \"entry\" IS NOT NOT \"entry\" ISNULL]"},
        {"s NOT NULL || 'x'", "[s: \"entry\" NOTNULL || 'x']"},
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

    dumped = 0;
    if (query != NULL)
        print_answer(query);
    tap_is_string(query != NULL ? dump : text_of(&reason), want, "%s", sql);
    clr_query_free(query);
}

static void test_select_list(void)
{
    finishes("SELECT 'n=' || count(*), printf('%.2f', gpu_sum(a)) FROM t",
             "SELECT 'n=' || {0}, printf ( '%.2f' , {1} ) FROM groups(?1)");
    finishes("SELECT CAST(sum(a) AS TEXT) COLLATE nocase LIKE 'a' ESCAPE 'b', ~count(*) & x'00', "
             "date('now'), FALSE FROM t",
             "SELECT CAST ( {0} AS TEXT ) COLLATE nocase LIKE 'a' ESCAPE 'b', ~ {1} & x'00', "
             "date ( 'now' ), FALSE FROM groups(?1)");
    finishes("SELECT upper(?1 || :x) || sum(a) FROM t WHERE s = :x",
             "SELECT upper ( ?1 || ?2 ) || {0} FROM groups(?3)");
    finishes("SELECT TRUE, sum(a) FROM t", "TRUE is not accelerated: write 1 for the value");
    finishes("SELECT count(*) > random() FROM t", "random() " OUTSIDE);
    finishes("SELECT printf('%d', a), count(*) FROM t", "printf() " NO_AGGREGATE);
    finishes("SELECT group_concat(s) || count(*) FROM t", "group_concat() " NO_AGGREGATE);
    finishes("SELECT s || count(*) FROM t", BESIDE);
    finishes("SELECT upper('x') FROM t", NO_WHERE);
    finishes("SELECT upper(count(*) AND 0) FROM t", NO_WHERE);
    finishes("SELECT upper(count(*) IN ()) FROM t", NO_WHERE);
    /* The comparison would take the sequence of the argument. */
    finishes("SELECT gpu_mode(a COLLATE nocase) = 'X' FROM t",
             "an aggregate with COLLATE in its arguments is not accelerated within an expression: "
             "make it a column of the result");
    finishes("SELECT gpu_mode(a COLLATE nocase), count(*) COLLATE nocase = 'x' FROM t",
             "SELECT {0}, {1} COLLATE nocase = 'x' FROM groups(?1)");
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
    tap_ok(query->computes, "SQLite computes");
    tap_ok(clr_query_run_begin(query, NULL, &run, &reason) == CLR_OK, "a run begins");
    scan = clr_query_run_scan(run);
    tap_ok(scan.lookup_count == 3 && scan.lookups == NULL, "with lookups that the caller sets");
    clr_query_run_free(run);
    clr_query_free(query);
    query = bound("SELECT sum(length(s)), count(*) FROM t", &reason);
    tap_ok(query != NULL && query->computes, "a lookup computes");
    clr_query_free(query);
    query = bound("SELECT count(upper(s)), gpu_corr(a, length(s)) FROM t", &reason);
    tap_ok(query != NULL && query->lookup_count == 2 &&
               query->instructions[query->tallies[0].x].opcode == CLR_OP_LOOKUP,
           "lookups as arguments");
    clr_query_free(query);
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
    struct clr_scalar values[CLR_MOST_CONSTANTS];
    size_t i;

    for (i = 0; i < CLR_MOST_CONSTANTS; i++)
        values[i] = (struct clr_scalar){.tag = CLR_TAG_BYTES};
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct clr_reason reason = {.code = CLR_WHY_NONE};
        struct clr_query *query = bound(cases[i].sql, &reason);
        struct clr_query_run *run = NULL;

        if (query == NULL)
            tap_bail("%s: %s", cases[i].sql, text_of(&reason));
        clr_query_run_begin(query, values, &run, &reason);
        tap_ok((run != NULL) == cases[i].taken, "a TEXT parameter: %s", cases[i].sql);
        clr_query_run_free(run);
        clr_query_free(query);
    }
}

void lookup_tests(void)
{
    test_expressions();
    test_precedence_by_structure();
    test_truths();
    test_select_list();
    test_columns();
    test_parameters();
}
