/* The parser and the binder, in several parts; and what statements become. SQLite itself has to
   take whatever is accepted, and says which number a parameter has. */
#include "query/environment.h"

#include "random.h"

#include "tap.h"

static void test_statements(void)
{
    accepted("SELECT sum(a) FROM t", "#0SE a; sum 0; SELECT {0} FROM groups(?1)");
    accepted("select Sum ( A )from T ;", "#0SE a; sum 0; SELECT {0} FROM groups(?1)");
    accepted("/*x*/SELECT--y\n sum(a) AS x, avg(a)y, min(b) 'z', max(b) \"u\" FROM t AS v; -- end",
             "#0SE a; #1E b; sum 0, avg 0, min 1, max 1; SELECT {0} AS x, {1} AS y, {2} AS 'z', "
             "{3} AS \"u\" FROM groups(?1)");
    accepted("SELECT count(*), count(a), count(s), sum(a), count(b) FROM main.t",
             "#0; #1 a; #2 s; #3SE a; #4 b; count 0, count 1, count 2, sum 3, count 4; SELECT {0}, "
             "{1}, {2}, {3}, {4} FROM groups(?1)");
    accepted("SELECT gpu_sum(a), gpu_avg(a), gpu_total(a), gpu_min(b), gpu_max(b), gpu_dot(a, b), "
             "gpu_dot(a,b) FROM t",
             "#0S a; #1E b; #2D a, b; gpu_sum 0, gpu_avg 0, gpu_total 0, gpu_min 1, gpu_max 1, "
             "gpu_dot 2, gpu_dot 2; SELECT {0}, {1}, {2}, {3}, {4}, {5}, {6} FROM groups(?1)");
    accepted("SELECT gpu_var_pop(a), gpu_norm(a), gpu_sum(a), gpu_avg_state(a) FROM t",
             "#0S a; #1D a, a; gpu_var_pop 0:0 1:1 counts 1, gpu_norm 1:1 counts 1, gpu_sum 0, "
             "gpu_avg_state 0; SELECT {0}, {1}, {2}, {3} FROM groups(?1)");
    accepted("SELECT gpu_corr(a, b), gpu_regr_avgx(a, b), gpu_regr_count(a, b) FILTER (WHERE c) "
             "FROM t",
             "#0S b if (there a); #1D b, b if (there a); #2S a if (there b); #3D a, a if (there "
             "b); #4D a, b; #5 a, b if c; gpu_corr 0:0 1:1 2:2 3:3 4:4 counts 4, gpu_regr_avgx 0:0 "
             "counts 0, gpu_regr_count counts 5; SELECT {0}, {1}, {2} FROM groups(?1)");
    accepted("SELECT GPU_Regr_SXX_State(a, b) FILTER (WHERE c) FROM t",
             "#0S b if (and c (there a)); #1D b, b if (and c (there a)); #2S a if (and c (there "
             "b)); #3D a, a if (and c (there b)); #4D a, b if c; gpu_regr_sxx 0:0 1:1 2:2 3:3 4:4 "
             "state counts 4; SELECT {0} FROM groups(?1)");
    accepted("SELECT gpu_sum(a), total(a), min(a) FILTER (WHERE b > 1), sum(a) filter(where b>1) "
             "FROM t",
             "#0SE a; #1SE a if (> b 1); gpu_sum 0, total 0, min 1, sum 1; SELECT {0}, {1}, {2}, "
             "{3} FROM groups(?1)");
    accepted("SELECT count(*) FILTER (WHERE a), count(*) FILTER (WHERE b) FROM t",
             "#0 if a; #1 if b; count 0, count 1; SELECT {0}, {1} FROM groups(?1)");
    accepted("SELECT sum(x.a), sum(x.[b]), sum(X.`e f`) FROM t x WHERE \"x\".\"C\" > 0",
             "where (> c 0); #0SE a; #1SE b; #2SE e f; sum 0, sum 1, sum 2; SELECT {0}, {1}, {2} "
             "FROM groups(?1)");
    accepted(
        "SELECT sum(main.t.a), sum(T.b), sum(t.rowid) FROM Main.[t]",
        "#0SE a; #1SE b; #2SE rowid; sum 0, sum 1, sum 2; SELECT {0}, {1}, {2} FROM groups(?1)");
    accepted("SELECT sum(main.t.a), sum([MAIN].T.b) FROM t WHERE \"Main\".`t`.\"c\" > 0",
             "where (> c 0); #0SE a; #1SE b; sum 0, sum 1; SELECT {0}, {1} FROM groups(?1)");
    accepted("SELECT sum(a) FROM \"t\"\"2\" WHERE \"t\"\"2\".a > 0",
             "where (> a 0); #0SE a; sum 0; SELECT {0} FROM groups(?1)");
    accepted("SELECT \"sum\"(a) FROM t", "#0SE a; sum 0; SELECT {0} FROM groups(?1)");
    accepted("SELECT sum(\"true\") key FROM t rows WHERE rows.a",
             "where a; #0SE true; sum 0; SELECT {0} AS key FROM groups(?1)");
}

static void test_questions(void)
{
    accepted("SELECT gpu_median(a), gpu_percentile(a, 50), gpu_percentile_cont(b, .5), "
             "gpu_percentile_disc(a, ?), gpu_sum(a) FROM t",
             "#0SEK a; #1EK b; gpu_median asks 0 of 0, gpu_percentile 50 asks 1 of 0, "
             "gpu_percentile_cont 0.5 asks 2 of 1, gpu_percentile_disc ?1 asks 3 of 0, gpu_sum 0; "
             "SELECT {0}, {1}, {2}, {3}, {4} FROM groups(?2)");
    accepted("SELECT GPU_Mode(a), gpu_count_distinct(a), gpu_mode( a )+1, gpu_histogram(b, -1, +2.5"
             ", :n) FILTER (WHERE c) FROM t",
             "#0KB a; #1K b if c; gpu_mode asks 0 of 0, gpu_count_distinct asks 1 of 0, gpu_mode "
             "asks 0 of 0, gpu_histogram -1 2.5 ?1 asks 2 of 1; SELECT {0}, {1}, {2} + 1, "
             "json(\"c:3\") FROM groups(?2)");
    /* A state is of the same question. */
    accepted("SELECT gpu_histogram(a, 0, 9, 3), gpu_histogram_state(a, 0, 9, 3) FROM t",
             "#0K a; gpu_histogram 0 9 3 asks 0 of 0, gpu_histogram_state 0 9 3 asks 0 of 0; "
             "SELECT json(\"c:0\"), {1} FROM groups(?1)");
    /* Another fraction, another column or another filter is another question. */
    accepted("SELECT gpu_percentile(a, 50), gpu_percentile(a, 50.0), gpu_percentile(b, 50), "
             "gpu_percentile(a, 50) FILTER (WHERE b), gpu_percentile_cont(a, 50) FROM t",
             "#0EK a; #1EK b; #2EK a if b; gpu_percentile 50 asks 0 of 0, gpu_percentile 50.0 asks "
             "1 of 0, gpu_percentile 50 asks 2 of 1, gpu_percentile 50 asks 3 of 2, "
             "gpu_percentile_cont 50 asks 4 of 0; SELECT {0}, {1}, {2}, {3}, {4} FROM groups(?1)");
    accepted(
        "SELECT gpu_median(a * b - 1) FROM t WHERE a > ?",
        "where (> a ?1); #0EK (- (* a b) 1); gpu_median asks 0 of 0; SELECT {0} FROM groups(?2)");
}

/* What takes the bytes of TEXT and BLOBs: of a column. */
static void test_bytes(void)
{
    accepted(
        "SELECT gpu_count_distinct(s), gpu_mode(a), gpu_median(a), gpu_mode(a + 1) FROM t",
        "#0KB s; #1EKB a; #2K (+ a 1); gpu_count_distinct asks 0 of 0, gpu_mode asks 1 of 1, "
        "gpu_median asks 2 of 1, gpu_mode asks 3 of 2; SELECT {0}, {1}, {2}, {3} FROM groups(?1)");
    is_utf8 = false;
    accepted("SELECT gpu_count_distinct(a) FROM t",
             "#0K a; gpu_count_distinct asks 0 of 0; SELECT {0} FROM groups(?1)");
    accepted("SELECT gpu_mode(s) FROM t",
             "#0K [s: \"entry\"]; gpu_mode asks 0 of 0; SELECT {0} FROM groups(?1)");
    is_utf8 = true;
    accepted("SELECT gpu_count_distinct(+s), gpu_min(s), max(a) FROM t",
             "#0K [s: + \"entry\"]; #1E [s: \"entry\"]; #2E a; gpu_count_distinct asks 0 of 0, "
             "gpu_min 1, max 2; SELECT {0}, {1}, {2} FROM groups(?1)");
    refused("SELECT max(u) FROM t", "the TEXT column u is not accelerated in this place");
}

/* One check: the text by which subqueries are looked at, and the letters of its lists. */
static void is_written(const char *sql, const char *want)
{
    sqlite3_stmt *statement = prepare(sql);
    struct clr_reason reason = {.code = CLR_WHY_NONE};
    struct clr_query *query = NULL;
    int i;

    dumped = 0;
    dump[0] = '\0';
    if (make(sql, statement, &query, &reason) != CLR_OK) {
        print("%s", text_of(&reason));
    } else {
        print("%s", query->subqueries == NULL ? "none" : query->subqueries);
        for (i = 0; i < query->list_count; i++)
            print(" %s", query->lists[i]);
    }
    tap_is_string(dump, want, "%s", sql);
    clr_query_free(query);
    sqlite3_finalize(statement);
}

static void test_finish(void)
{
    accepted("SELECT 1, sum(a)+2*-avg(b)/*c*/as x, NULL FROM t",
             "#0SE a; #1SE b; sum 0, avg 1; SELECT 1, {0} + 2 * - {1} AS x, NULL FROM groups(?1)");
    accepted("SELECT CASE WHEN count(*)>0 THEN sum(a)/count(*)ELSE-1 END c FROM t",
             "#0; #1SE a; count 0, sum 1, count 0; SELECT CASE WHEN {0} > 0 THEN {1} / {2} ELSE - "
             "1 END AS c FROM groups(?1)");
    accepted("SELECT coalesce(sum(a),0),((max(a))), max(min(a),max(a),3)m, sum(a) IN () FROM t",
             "#0SE a; sum 0, max 0, min 0, max 0, sum 0; SELECT coalesce ( {0} , 0 ), {1}, max ( "
             "{2} , {3} , 3 ) AS m, {4} IN ( ) FROM groups(?1)");
    accepted("SELECT abs(sum(?+a))+?, ?, :x+count(*)+?2, -9223372036854775808 FROM t WHERE a>?2+?",
             "where (> a (+ ?2 ?5)); #0SE (+ ?1 a); #1; sum 0, count 1; SELECT abs ( {0} ) + ?2, "
             "?3, ?4 + {1} + ?2, - 9223372036854775808 FROM groups(?6)");
    /* Of equal calls each has its own place. */
    accepted("SELECT sum(a)--\n+sum(a) FROM t",
             "#0SE a; sum 0, sum 0; SELECT {0} + {1} FROM groups(?1)");
}

/* Subqueries stay as they are, but for parameters, and are written once more to be
   looked at by themselves. */
static void test_subqueries(void)
{
    accepted(
        "SELECT sum(a) / (SELECT max(c, ?) /* y) */ FROM t AS u WHERE s = ':' AND b > :x), ? FROM "
        "t",
        "#0SE a; sum 0; SELECT (CASE WHEN 1 THEN \"c:0\" END) / (SELECT max(c, ?1) /* y) */ FROM t "
        "AS u WHERE s = ':' AND b > ?2), ?3 FROM groups(?4)");
    accepted(
        "SELECT count(*) NOT IN (WITH u AS (SELECT 1) SELECT * FROM u), exists(select 2) FROM t "
        "LIMIT 1",
        "#0; count 0; SELECT (CASE WHEN 1 THEN \"c:0\" END) NOT IN (WITH u AS (SELECT 1) SELECT * "
        "FROM u), EXISTS (select 2) FROM groups(?1) LIMIT 1");
    is_written("SELECT sum(a), (SELECT 1), ?2, EXISTS (SELECT 2), 3 IN (VALUES (:x)) FROM t",
               "SELECT EXISTS (SELECT 1), EXISTS (SELECT 2), EXISTS (VALUES (?3))");
    is_written(
        "SELECT sum(a) IN (SELECT 1), + count(*) IN (SELECT 2), b + 1 AS y FROM t GROUP BY b "
        "HAVING y IN (SELECT 3) AND b IN (SELECT 4) AND count(*) + 1 IN (SELECT 5)",
        "SELECT ?1 IN (SELECT 1), ?2 IN (SELECT 2), EXISTS (SELECT 3), "
        "?3 IN (SELECT 4), EXISTS (SELECT 5) @A @ACD @ABCDE");
    is_written("SELECT s AS \"y\", CAST(b AS REAL), d || 1 FROM t GROUP BY 1, 2, 3 HAVING \"y\" IN "
               "(SELECT 1) AND CAST(b AS REAL) IN (SELECT 2) OR d || 1 IN (SELECT 3)",
               "SELECT ?1 IN (SELECT 1), ?2 IN (SELECT 2), ?3 IN (SELECT 3) @AB  @A");
    is_written("SELECT * FROM t WHERE a = 1 ORDER BY (SELECT 1)", "none");
}

/* What can't change one row is gone, and a LIMIT stays with what makes the row. */
static void test_row(void)
{
    accepted("SELECT DISTINCT sum(a) FROM t", "#0SE a; sum 0; SELECT {0} FROM groups(?1)");
    accepted("SELECT sum(a) FROM t ORDER BY 1", "#0SE a; sum 0; SELECT {0} FROM groups(?1)");
    accepted(
        "SELECT sum(a) AS \"x y\", 5 z FROM t ORDER BY [X Y] COLLATE nocase DESC NULLS LAST, z, "
        "0.5, NULL, 'q', ?, abs(-1) ASC",
        "#0SE a; sum 0; SELECT {0} AS \"x y\", 5 AS z FROM groups(?2)");
    accepted(
        "SELECT sum(a) AS a, max(b) 'm' FROM t WHERE c ORDER BY a, m ASC NULLS FIRST, sum(a) + 1, "
        "coalesce(sum(a), max(b)) COLLATE rtrim DESC;",
        "where c; #0SE a; #1E b; sum 0, max 1; SELECT {0} AS a, {1} AS 'm' FROM groups(?1)");
    accepted("SELECT gpu_percentile(a, 5), gpu_corr(a, b) FROM t ORDER BY gpu_corr(a, b), "
             "gpu_percentile(a, 5)",
             "#0EK a; #1S b if (there a); #2D b, b if (there a); #3S a if (there b); #4D a, a if "
             "(there b); #5D a, b; gpu_percentile 5 asks 0 of 0, gpu_corr 0:1 1:2 2:3 3:4 4:5 "
             "counts 5; SELECT {0}, {1} FROM groups(?1)");
    accepted("SELECT sum(a) FROM t LIMIT 1", "#0SE a; sum 0; SELECT {0} FROM groups(?1) LIMIT 1");
    accepted(
        "SELECT sum(a), ? FROM t WHERE b > ? ORDER BY ? LIMIT ?+1 OFFSET-:o",
        "where (> b ?2); #0SE a; sum 0; SELECT {0}, ?1 FROM groups(?6) LIMIT ?4 + 1 OFFSET - ?5");
    accepted("SELECT sum(a) FROM t LIMIT 0, - 1",
             "#0SE a; sum 0; SELECT {0} FROM groups(?1) LIMIT - 1 OFFSET 0");
    accepted("SELECT DISTINCT sum(a) desc FROM t offset ORDER BY \"desc\" DESC LIMIT 1 -- end",
             "#0SE a; sum 0; SELECT {0} AS desc FROM groups(?1) LIMIT 1");
    accepted("SELECT sum(offset.a) first, max(\"e f\") last FROM t AS offset ORDER BY last, first",
             "#0SE a; #1E e f; sum 0, max 1; SELECT {0} AS first, {1} AS last FROM groups(?1)");
}

/* The numbers are SQLite's: prepared, the statement has as many as the binder finds. */
static void test_parameters(void)
{
    accepted("SELECT sum(a + ?) + ? FROM t WHERE b > ?",
             "where (> b ?3); #0SE (+ a ?1); sum 0; SELECT {0} + ?2 FROM groups(?4)");
    accepted(
        "SELECT sum(a * ?7) + ? FROM t WHERE b > ?3 AND c > ?",
        "where (and (> b ?3) (> c ?9)); #0SE (* a ?7); sum 0; SELECT {0} + ?8 FROM groups(?10)");
    accepted("SELECT sum(a * :n) + @n - $n FROM t WHERE b > :N AND c > ? AND d > :n",
             "where (and (and (> b ?4) (> c ?5)) (> d ?1)); #0SE (* a ?1); sum 0; SELECT {0} + ?2 "
             "- ?3 FROM groups(?6)");
    accepted("SELECT sum(a * ?) AS x, ?2 + ? FROM t WHERE b IN (?, :z, ?, :z)",
             "where (or (or (or (= b ?4) (= b ?5)) (= b ?6)) (= b ?5)); #0SE (* a ?1); sum 0; "
             "SELECT {0} AS x, ?2 + ?3 FROM groups(?7)");
    accepted("SELECT sum(a * ?001) FROM t WHERE b > ?",
             "where (> b ?2); #0SE (* a ?1); sum 0; SELECT {0} FROM groups(?3)");
}

static void statement_tests(void)
{
    test_statements();
    test_bytes();
    test_questions();
    test_finish();
    test_subqueries();
    test_row();
    test_parameters();
}

int main(void)
{
    static void (*const parts[])(void) = {statement_tests,      expression_tests,    refusal_tests,
                                          argument_tests,       group_tests,         lookup_tests,
                                          lookup_refusal_tests, lookup_random_tests, random_tests};
    size_t i;

    for (i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        open_database();
        parts[i]();
        sqlite3_close(database);
    }
    return tap_done();
}
