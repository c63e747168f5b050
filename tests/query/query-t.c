/* The parser and the binder: what statements become, and which ones are refused. SQLite itself has
   to take whatever is accepted, and says which number a parameter has. */
#include "base/memory.h"
#include "batch.h"
#include "query/environment.h"
#include "random.h"

#include "tap.h"

#include <math.h>

/* ---- A query as text. */

/* "gpu_percentile ARGUMENTS asks QUESTION of TALLY". */
static void print_asked(const struct clr_query *query, const struct clr_call *call)
{
    const struct clr_asked *asked = &query->asked[call->question];
    int i;

    print("%s%s", call->aggregate->name, call->form & CLR_FORM_STATE ? "_state" : "");
    for (i = 0; i < CLR_MOST_ARGUMENTS && asked->arguments[i] >= 0; i++) {
        print(" ");
        print_constant(query, asked->arguments[i]);
    }
    print(" asks %d of %d", call->question, call->tally);
}

/* "where FILTER; #0 OPERATIONS x, y if FILTER; #1 ...; calls; finish" */
static const char *print_query(const struct clr_query *query)
{
    int i, term;

    dumped = 0;
    dump[0] = '\0';
    if (query->filter >= 0) {
        print("where ");
        print_value(query, query->filter);
        print("; ");
    }
    for (i = 0; i < query->tally_count; i++) {
        const struct clr_tally_plan *tally = &query->tallies[i];
        print("#%d%s%s%s%s%s", i, tally->operations & 1u << CLR_SUM ? "S" : "",
              tally->operations & 1u << CLR_DOT ? "D" : "",
              tally->operations & 1u << CLR_EXTREMES ? "E" : "",
              tally->operations & CLR_KEEP ? "K" : "", tally->operations & CLR_BYTES ? "B" : "");
        if (tally->merge != 0)
            print("%s%d", tally->operations == CLR_MERGE ? "M" : "?", (int)tally->merge);
        if (tally->x >= 0) {
            print(" ");
            print_value(query, tally->x);
        }
        if (tally->y >= 0) {
            print(", ");
            print_value(query, tally->y);
        }
        if (tally->filter >= 0) {
            print(" if ");
            print_value(query, tally->filter);
        }
        print("; ");
    }
    for (i = 0; i < query->call_count; i++) {
        const struct clr_call *call = &query->calls[i];
        if (call->form & CLR_FORM_MERGE) {
            print("%s%s %d", call->aggregate->name, clr_form_suffix(call->form), call->tally);
        } else if (call->aggregate->operation >= CLR_OPERATIONS) {
            print("%s", call->aggregate->name);
            for (term = 0; term < CLR_MOST_TERMS; term++) {
                if (call->terms[term] >= 0)
                    print(" %d:%d", term, call->terms[term]);
            }
            print("%s counts %d", call->form & CLR_FORM_STATE ? " state" : "", call->tally);
        } else if (clr_aggregate_asks(call->aggregate)) {
            print_asked(query, call);
        } else {
            print("%s%s %d", clr_call_name(call), clr_form_suffix(call->form), call->tally);
        }
        print("%s", i + 1 < query->call_count ? ", " : "; ");
    }
    print("%s", query->answer);
    return dump;
}

/* ---- What is accepted. */

static void accepted(const char *sql, const char *want)
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
static void lowered(const char *expression, const char *want)
{
    char *sql = sqlite3_mprintf("SELECT count(*) FROM t WHERE %s", expression);
    char *all = sqlite3_mprintf("where %s; #0; count 0; SELECT ?%d", want, 1);

    accepted(sql, all);
    sqlite3_free(sql);
    sqlite3_free(all);
}

static void test_statements(void)
{
    accepted("SELECT sum(a) FROM t", "#0SE a; sum 0; SELECT ?1");
    accepted("select Sum ( A )from T ;", "#0SE a; sum 0; SELECT ?1");
    accepted("/*x*/SELECT--y\n sum(a) AS x, avg(a)y, min(b) 'z', max(b) \"u\" FROM t AS v; -- end",
             "#0SE a; #1E b; sum 0, avg 0, min 1, max 1; SELECT ?1, ?2, ?3, ?4");
    accepted("SELECT count(*), count(a), count(s), sum(a), count(b) FROM main.t",
             "#0; #1 a; #2 s; #3SE a; #4 b; count 0, count 1, count 2, sum 3, count 4; "
             "SELECT ?1, ?2, ?3, ?4, ?5");
    accepted("SELECT gpu_sum(a), gpu_avg(a), gpu_total(a), gpu_min(b), gpu_max(b), gpu_dot(a, b), "
             "gpu_dot(a,b) FROM t",
             "#0S a; #1E b; #2D a, b; gpu_sum 0, gpu_avg 0, gpu_total 0, gpu_min 1, gpu_max 1, "
             "gpu_dot 2, gpu_dot 2; SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7");
    accepted("SELECT gpu_var_pop(a), gpu_norm(a), gpu_sum(a), gpu_avg_state(a) FROM t",
             "#0S a; #1D a, a; gpu_var_pop 0:0 1:1 counts 1, gpu_norm 1:1 counts 1, gpu_sum 0, "
             "gpu_avg_state 0; SELECT ?1, ?2, ?3, ?4");
    accepted("SELECT gpu_corr(a, b), gpu_regr_avgx(a, b), gpu_regr_count(a, b) FILTER (WHERE c) "
             "FROM t",
             "#0S b if (there a); #1D b, b if (there a); #2S a if (there b); "
             "#3D a, a if (there b); #4D a, b; #5 a, b if c; "
             "gpu_corr 0:0 1:1 2:2 3:3 4:4 counts 4, gpu_regr_avgx 0:0 counts 0, "
             "gpu_regr_count counts 5; SELECT ?1, ?2, ?3");
    accepted("SELECT GPU_Regr_SXX_State(a, b) FILTER (WHERE c) FROM t",
             "#0S b if (and c (there a)); #1D b, b if (and c (there a)); "
             "#2S a if (and c (there b)); #3D a, a if (and c (there b)); #4D a, b if c; "
             "gpu_regr_sxx 0:0 1:1 2:2 3:3 4:4 state counts 4; SELECT ?1");
    accepted("SELECT gpu_sum(a), total(a), min(a) FILTER (WHERE b > 1), sum(a) filter(where b>1) "
             "FROM t",
             "#0SE a; #1SE a if (> b 1); gpu_sum 0, total 0, min 1, sum 1; SELECT ?1, ?2, ?3, ?4");
    accepted("SELECT count(*) FILTER (WHERE a), count(*) FILTER (WHERE b) FROM t",
             "#0 if a; #1 if b; count 0, count 1; SELECT ?1, ?2");
    accepted("SELECT sum(x.a), sum(x.[b]), sum(X.`e f`) FROM t x WHERE \"x\".\"C\" > 0",
             "where (> c 0); #0SE a; #1SE b; #2SE e f; sum 0, sum 1, sum 2; SELECT ?1, ?2, ?3");
    accepted("SELECT sum(main.t.a), sum(T.b), sum(t.rowid) FROM Main.[t]",
             "#0SE a; #1SE b; #2SE rowid; sum 0, sum 1, sum 2; SELECT ?1, ?2, ?3");
    accepted("SELECT sum(main.t.a), sum([MAIN].T.b) FROM t WHERE \"Main\".`t`.\"c\" > 0",
             "where (> c 0); #0SE a; #1SE b; sum 0, sum 1; SELECT ?1, ?2");
    accepted("SELECT sum(a) FROM \"t\"\"2\" WHERE \"t\"\"2\".a > 0",
             "where (> a 0); #0SE a; sum 0; SELECT ?1");
    accepted("SELECT \"sum\"(a) FROM t", "#0SE a; sum 0; SELECT ?1");
    accepted("SELECT sum(\"true\") key FROM t rows WHERE rows.a",
             "where a; #0SE true; sum 0; SELECT ?1");
}

static void test_questions(void)
{
    accepted("SELECT gpu_median(a), gpu_percentile(a, 50), gpu_percentile_cont(b, .5), "
             "gpu_percentile_disc(a, ?), gpu_sum(a) FROM t",
             "#0SEK a; #1EK b; gpu_median asks 0 of 0, gpu_percentile 50 asks 1 of 0, "
             "gpu_percentile_cont 0.5 asks 2 of 1, gpu_percentile_disc ?1 asks 3 of 0, gpu_sum 0; "
             "SELECT ?2, ?3, ?4, ?5, ?6");
    accepted("SELECT GPU_Mode(a), gpu_count_distinct(a), gpu_mode( a )+1, gpu_histogram(b, -1, +2.5"
             ", :n) FILTER (WHERE c) FROM t",
             "#0KB a; #1K b if c; gpu_mode asks 0 of 0, gpu_count_distinct asks 1 of 0, "
             "gpu_mode asks 0 of 0, gpu_histogram -1 2.5 ?1 asks 2 of 1; "
             "SELECT ?2, ?3, ?4 + 1, gpu_histogram_merge(?5)");
    /* A state is of the same question. */
    accepted("SELECT gpu_histogram(a, 0, 9, 3), gpu_histogram_state(a, 0, 9, 3) FROM t",
             "#0K a; gpu_histogram 0 9 3 asks 0 of 0, gpu_histogram_state 0 9 3 asks 0 of 0; "
             "SELECT gpu_histogram_merge(?1), ?2");
    /* Another fraction, another column or another filter is another question. */
    accepted("SELECT gpu_percentile(a, 50), gpu_percentile(a, 50.0), gpu_percentile(b, 50), "
             "gpu_percentile(a, 50) FILTER (WHERE b), gpu_percentile_cont(a, 50) FROM t",
             "#0EK a; #1EK b; #2EK a if b; gpu_percentile 50 asks 0 of 0, "
             "gpu_percentile 50.0 asks 1 of 0, gpu_percentile 50 asks 2 of 1, "
             "gpu_percentile 50 asks 3 of 2, gpu_percentile_cont 50 asks 4 of 0; "
             "SELECT ?1, ?2, ?3, ?4, ?5");
    accepted("SELECT gpu_median(a * b - 1) FROM t WHERE a > ?",
             "where (> a ?1); #0EK (- (* a b) 1); gpu_median asks 0 of 0; SELECT ?2");
}

static struct clr_scalar same_value(void *context, int number)
{
    (void)number;
    return *(const struct clr_scalar *)context;
}

/* Binds, and begins a run with the value for every parameter; *run is NULL unless that is done. */
static enum clr_code begin(const char *sql, struct clr_scalar value, struct clr_query **query,
                           struct clr_query_run **run)
{
    const struct clr_parameters parameters = {&value, same_value};
    sqlite3_stmt *statement = prepare(sql);
    struct clr_reason reason = {.code = CLR_WHY_NONE};
    enum clr_code code = make(sql, statement, query, &reason);

    sqlite3_finalize(statement);
    if (code != CLR_OK)
        tap_bail("%s: %s", sql, text_of(&reason));
    return clr_query_run_begin(*query, &parameters, run, &reason);
}

static struct clr_scalar real(double value)
{
    struct clr_scalar scalar = {.tag = CLR_TAG_REAL};

    memcpy(&scalar.bits, &value, sizeof value);
    return scalar;
}

static struct clr_scalar integer(int64_t value)
{
    return (struct clr_scalar){.tag = CLR_TAG_INTEGER, .bits = value};
}

/* What is a function's argument or an error, with the parameter's value. */
static void test_arguments(void)
{
    const struct clr_scalar null = {.tag = CLR_TAG_NULL};
    const struct {
        const char *call;
        struct clr_scalar value;
        bool valid;
    } cases[] = {
        {"gpu_percentile(a, ?)", integer(0), true},
        {"gpu_percentile(a, ?)", real(-0.0), true},
        {"gpu_percentile(a, ?)", integer(100), true},
        {"gpu_percentile(a, ?)", real(100.00000000000001), false},
        {"gpu_percentile(a, ?)", integer(-1), false},
        {"gpu_percentile(a, ?)", real(INFINITY), false},
        {"gpu_percentile(a, ?)", null, false},
        {"gpu_percentile_cont(a, ?)", integer(1), true},
        {"gpu_percentile_cont(a, ?)", real(1.0000000000000002), false},
        {"gpu_percentile_disc(a, ?)", real(0.25), true},
        {"gpu_percentile_disc(a, ?)", real(-5e-324), false},
        {"gpu_histogram(a, ?, 5, 3)", integer(4), true},
        {"gpu_histogram(a, ?, 5, 3)", integer(5), false},
        {"gpu_histogram(a, ?, 5, 3)", real(5.0), false},
        {"gpu_histogram(a, ?, 5, 3)", real(-INFINITY), false},
        {"gpu_histogram(a, ?, 5, 3)", null, false},
        {"gpu_histogram(a, 5, ?, 3)", real(5.000001), true},
        {"gpu_histogram(a, 5, ?, 3)", real(INFINITY), false},
        {"gpu_histogram(a, 0.0, ?, 3)", real(-0.0), false},
        {"gpu_histogram(a, -0.0, ?, 3)", real(0.0), false},
        {"gpu_histogram(a, 0, 9, ?)", integer(1), true},
        {"gpu_histogram(a, 0, 9, ?)", integer(1000000), true},
        {"gpu_histogram(a, 0, 9, ?)", integer(1000001), false},
        {"gpu_histogram(a, 0, 9, ?)", integer(0), false},
        {"gpu_histogram(a, 0, 9, ?)", real(3.0), false},
        {"gpu_histogram(a, 0, 9, ?)", null, false},
        {"gpu_histogram(a, 9007199254740992.0, 9007199254740993, ?)", integer(2), true},
    };
    struct clr_query_run *run;
    struct clr_query *query;
    size_t i;

    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *sql = sqlite3_mprintf("SELECT %s FROM t", cases[i].call);
        enum clr_code code = begin(sql, cases[i].value, &query, &run);
        tap_is_int64(code, cases[i].valid ? CLR_OK : CLR_INVALID, "argument %d of %s", (int)i,
                     cases[i].call);
        clr_query_run_free(run);
        clr_query_free(query);
        sqlite3_free(sql);
    }
    begin("SELECT gpu_percentile(b, ?), gpu_histogram(a, 0, 9, 4), gpu_mode(b), gpu_median(b), "
          "gpu_percentile_disc(b, 0.25), gpu_count_distinct(b) FROM t",
          real(75.0), &query, &run);
    tap_ok(run->questions[0].kind == CLR_ASK_BETWEEN && run->questions[0].fraction == 0.75,
           "a percentile");
    tap_ok(run->questions[1].kind == CLR_ASK_BINS && run->questions[1].bins.count == 4 &&
               run->questions[1].tally == 1,
           "a histogram");
    tap_ok(run->questions[2].kind == CLR_ASK_MODE && run->questions[2].tally == 0, "a mode");
    tap_ok(run->questions[3].kind == CLR_ASK_BETWEEN && run->questions[3].fraction == 0.5,
           "a median");
    tap_ok(run->questions[4].kind == CLR_ASK_AT && run->questions[4].fraction == 0.25,
           "a percentile of one value");
    tap_ok(run->questions[5].kind == CLR_ASK_DISTINCT, "a count");
    clr_query_run_free(run);
    clr_query_free(query);
}

/* What a parameter may be: more by itself than in what is computed and compared, and never a REAL
   2^63 nor TEXT. */
static void test_large_parameters(void)
{
    static const char *const free =
                                 "SELECT count(*) FROM t WHERE a = ? AND b + ?1 > 1 AND c IN (?1)",
                             *const bound = "SELECT sum(a * ?) FROM t WHERE a < ?1 AND b = ?1 + 1";
    const struct {
        struct clr_scalar value;
        bool is_free, is_bound;
    } cases[] = {
        {{.tag = CLR_TAG_NULL}, true, true},
        {{.tag = CLR_TAG_BYTES}, false, false},
        {integer(INT64_C(1) << 52), true, true},
        {integer((INT64_C(1) << 52) + 1), true, false},
        {integer(-(INT64_C(1) << 52) - 1), true, false},
        {integer(INT64_MAX), true, false},
        {integer(INT64_MIN), true, false},
        {real(0x1p52), true, true},
        {real(-0x1p62), true, false},
        {real(0x1p63), false, false},
        {real(0x1.0000000000001p63), true, false},
        {real(INFINITY), true, false},
        {real(-0x1p63), false, false},
    };
    struct clr_query_run *run;
    struct clr_query *query;
    size_t i;

    for (i = 0; i < 2 * sizeof cases / sizeof cases[0]; i++) {
        const bool valid = i % 2 == 0 ? cases[i / 2].is_free : cases[i / 2].is_bound;
        const enum clr_code code =
            begin(i % 2 == 0 ? free : bound, cases[i / 2].value, &query, &run);

        tap_is_int64(code, valid ? CLR_OK : CLR_INVALID, "parameter %d", (int)i);
        clr_query_run_free(run);
        clr_query_free(query);
    }
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
             "#0SE a; #1SE b; sum 0, avg 1; SELECT 1, ?1 + 2 * - ?2, NULL");
    accepted("SELECT CASE WHEN count(*)>0 THEN sum(a)/count(*)ELSE-1 END c FROM t",
             "#0; #1SE a; count 0, sum 1, count 0; "
             "SELECT CASE WHEN ?1 > 0 THEN ?2 / ?3 ELSE - 1 END");
    accepted("SELECT coalesce(sum(a),0),((max(a))), max(min(a),max(a),3)m, sum(a) IN () FROM t",
             "#0SE a; sum 0, max 0, min 0, max 0, sum 0; "
             "SELECT coalesce ( ?1 , 0 ), ( ( ?2 ) ), max ( ?3 , ?4 , 3 ), ?5 IN ( )");
    accepted("SELECT abs(sum(?+a))+?, ?, :x+count(*)+?2, -9223372036854775808 FROM t WHERE a>?2+?",
             "where (> a (+ ?2 ?5)); #0SE (+ ?1 a); #1; sum 0, count 1; SELECT abs ( ?6 ) + ?2, "
             "?3, ?4 + ?7 + ?2, - 9223372036854775808");
    /* Of equal calls each has its own place. */
    accepted("SELECT sum(a)--\n+sum(a) FROM t", "#0SE a; sum 0, sum 0; SELECT ?1 + ?2");
}

/* Subqueries stay as they are, but for parameters and comments, and are written once more to be
   looked at by themselves. */
static void test_subqueries(void)
{
    accepted(
        "SELECT sum(a) / (SELECT max(c, ?) /* y) */ FROM t AS u WHERE s = ':' AND b > :x), ? FROM "
        "t",
        "#0SE a; sum 0; SELECT ?4 / ( SELECT max ( c , ?1 ) FROM t AS u WHERE s = ':' AND b > ?2 "
        "), ?3");
    accepted(
        "SELECT count(*) NOT IN (WITH u AS (SELECT 1) SELECT * FROM u), exists(select 2) FROM t "
        "LIMIT 1",
        "#0; count 0; SELECT ?1 NOT IN ( WITH u AS ( SELECT 1 ) SELECT * FROM u ), exists ( "
        "select 2 ) LIMIT 1");
    is_written("SELECT sum(a), (SELECT 1), ?2, EXISTS (SELECT 2), 3 IN (VALUES (:x)) FROM t",
               "SELECT EXISTS ( SELECT 1 ), EXISTS ( SELECT 2 ), EXISTS ( VALUES ( ?3 ) )");
    is_written(
        "SELECT sum(a) IN (SELECT 1), + count(*) IN (SELECT 2), b + 1 AS y FROM t GROUP BY b "
        "HAVING y IN (SELECT 3) AND b IN (SELECT 4) AND count(*) + 1 IN (SELECT 5)",
        "SELECT ?1 IN ( SELECT 1 ), ?2 IN ( SELECT 2 ), EXISTS ( SELECT 3 ), "
        "?3 IN ( SELECT 4 ), EXISTS ( SELECT 5 ) @A @ACD @ABCDE");
    is_written("SELECT s AS \"y\", CAST(b AS REAL), d || 1 FROM t GROUP BY 1, 2, 3 HAVING \"y\" IN "
               "(SELECT 1) AND CAST(b AS REAL) IN (SELECT 2) OR d || 1 IN (SELECT 3)",
               "SELECT ?1 IN ( SELECT 1 ), ?2 IN ( SELECT 2 ), ?3 IN ( SELECT 3 ) @AB  @A");
    is_written("SELECT * FROM t WHERE a = 1 ORDER BY (SELECT 1)", "none");
}

/* What can't change one row is gone, and a LIMIT stays with what makes the row. */
static void test_row(void)
{
    accepted("SELECT DISTINCT sum(a) FROM t", "#0SE a; sum 0; SELECT ?1");
    accepted("SELECT sum(a) FROM t ORDER BY 1", "#0SE a; sum 0; SELECT ?1");
    accepted(
        "SELECT sum(a) AS \"x y\", 5 z FROM t ORDER BY [X Y] COLLATE nocase DESC NULLS LAST, z, "
        "0.5, NULL, 'q', ?, abs(-1) ASC",
        "#0SE a; sum 0; SELECT ?2, 5");
    accepted(
        "SELECT sum(a) AS a, max(b) 'm' FROM t WHERE c ORDER BY a, m ASC NULLS FIRST, sum(a) + 1, "
        "coalesce(sum(a), max(b)) COLLATE rtrim DESC;",
        "where c; #0SE a; #1E b; sum 0, max 1; SELECT ?1, ?2");
    accepted("SELECT gpu_percentile(a, 5), gpu_corr(a, b) FROM t ORDER BY gpu_corr(a, b), "
             "gpu_percentile(a, 5)",
             "#0EK a; #1S b if (there a); #2D b, b if (there a); #3S a if (there b); "
             "#4D a, a if (there b); #5D a, b; gpu_percentile 5 asks 0 of 0, "
             "gpu_corr 0:1 1:2 2:3 3:4 4:5 counts 5; SELECT ?1, ?2");
    accepted("SELECT sum(a) FROM t LIMIT 1", "#0SE a; sum 0; SELECT ?1 LIMIT 1");
    accepted("SELECT sum(a), ? FROM t WHERE b > ? ORDER BY ? LIMIT ?+1 OFFSET-:o",
             "where (> b ?2); #0SE a; sum 0; SELECT ?6, ?1 LIMIT ?4 + 1 OFFSET - ?5");
    accepted("SELECT sum(a) FROM t LIMIT 0, - 1", "#0SE a; sum 0; SELECT ?1 LIMIT 0 , - 1");
    accepted("SELECT DISTINCT sum(a) desc FROM t offset ORDER BY \"desc\" DESC LIMIT 1 -- end",
             "#0SE a; sum 0; SELECT ?1 LIMIT 1");
    accepted("SELECT sum(offset.a) first, max(\"e f\") last FROM t AS offset ORDER BY last, first",
             "#0SE a; #1E e f; sum 0, max 1; SELECT ?1, ?2");
}

/* The numbers are SQLite's: prepared, the statement has as many as the binder finds. */
static void test_parameters(void)
{
    accepted("SELECT sum(a + ?) + ? FROM t WHERE b > ?",
             "where (> b ?3); #0SE (+ a ?1); sum 0; SELECT ?4 + ?2");
    accepted("SELECT sum(a * ?7) + ? FROM t WHERE b > ?3 AND c > ?",
             "where (and (> b ?3) (> c ?9)); #0SE (* a ?7); sum 0; SELECT ?10 + ?8");
    accepted(
        "SELECT sum(a * :n) + @n - $n FROM t WHERE b > :N AND c > ? AND d > :n",
        "where (and (and (> b ?4) (> c ?5)) (> d ?1)); #0SE (* a ?1); sum 0; SELECT ?6 + ?2 - ?3");
    accepted("SELECT sum(a * ?) AS x, ?2 + ? FROM t WHERE b IN (?, :z, ?, :z)",
             "where (or (or (or (= b ?4) (= b ?5)) (= b ?6)) (= b ?5)); #0SE (* a ?1); sum 0; "
             "SELECT ?7, ?2 + ?3");
    accepted("SELECT sum(a * ?001) FROM t WHERE b > ?",
             "where (> b ?2); #0SE (* a ?1); sum 0; SELECT ?3");
}

static void test_expressions(void)
{
    static const struct {
        const char *sql, *want;
    } expressions[] = {
        {"a OR b AND c", "(or a (and b c))"},
        {"a AND b OR c", "(or (and a b) c)"},
        {"NOT a AND b", "(and (not a) b)"},
        {"NOT a = b", "(not (= a b))"},
        {"NOT NOT a IS NULL", "(not (not (null a)))"},
        {"a = b < c", "(= a (< b c))"},
        {"a < b = c", "(= (< a b) c)"},
        {"a = b <> c == d", "(= (<> (= a b) c) d)"},
        {"a < b <= c > d >= 1", "(>= (> (<= (< a b) c) d) 1)"},
        {"a + b * c - d", "(- (+ a (* b c)) d)"},
        {"a - b - c", "(- (- a b) c)"},
        {"a / b % c * d", "(* (% (/ a b) c) d)"},
        {"-a * b", "(* (- 0 a) b)"},
        {"- a + b", "(+ (- 0 a) b)"},
        {"-a NOT NULL", "(there (- 0 a))"},
        {"- - a", "(- 0 (- 0 a))"},
        {"-(-5)", "(- 0 -5)"},
        {"- -5", "(- 0 -5)"},
        {"-(5)", "-5"},
        {"-((5))", "-5"},
        {"+a", "a"},
        {"-+a", "(- 0 a)"},
        {"+-5", "-5"},
        {"a - -5", "(- a -5)"},
        {"-9223372036854775808", "-9223372036854775808"},
        {"a + 9223372036854775808", "(+ a 9.2233720368547758e+18)"},
        {"a * 0x10", "(* a 16)"},
        {"a * 1e2", "(* a 100.0)"},
        {"a * .5", "(* a 0.5)"},
        {"a * 5.", "(* a 5.0)"},
        {"a * -.5E-1", "(* a -0.050000000000000003)"},
        {"a BETWEEN b AND c", "(and (>= a b) (<= a c))"},
        {"a BETWEEN b AND c AND d", "(and (and (>= a b) (<= a c)) d)"},
        {"a NOT BETWEEN 1 AND 2 OR b", "(or (not (and (>= a 1) (<= a 2))) b)"},
        {"NOT a BETWEEN b + 1 AND c", "(not (and (>= a (+ b 1)) (<= a c)))"},
        {"a BETWEEN b AND c = d", "(= (and (>= a b) (<= a c)) d)"},
        {"a = b BETWEEN c AND d", "(and (>= (= a b) c) (<= (= a b) d))"},
        {"a BETWEEN b < c AND d", "(and (>= a (< b c)) (<= a d))"},
        {"a IN (1)", "(= a 1)"},
        {"a IN (1, b, NULL)", "(or (or (= a 1) (= a b)) (= a NULL))"},
        {"a NOT IN (1, 2)", "(not (or (= a 1) (= a 2)))"},
        {"NOT a IN (1)", "(not (= a 1))"},
        {"a = b IN (1)", "(= (= a b) 1)"},
        {"a < b IN (1)", "(= (< a b) 1)"},
        {"a IN (1) IN (0)", "(= (= a 1) 0)"},
        {"a IS b", "(is a b)"},
        {"a IS NOT b", "(isnot a b)"},
        {"a IS NOT NULL", "(there a)"},
        {"a IS NULL", "(null a)"},
        {"a IS (NULL)", "(null a)"},
        {"a IS NOT (NULL)", "(there a)"},
        {"NULL IS a", "(is NULL a)"},
        {"a IS NOT b = c", "(= (isnot a b) c)"},
        {"a = b IS NOT c", "(isnot (= a b) c)"},
        {"a IS NOT b IS c", "(is (isnot a b) c)"},
        {"a IS NOT b < c", "(isnot a (< b c))"},
        {"a IS (NOT b)", "(is a (not b))"},
        {"a IS NOT DISTINCT FROM b = c", "(= (is a b) c)"},
        {"a = b IS DISTINCT FROM c < d", "(isnot (= a b) (< c d))"},
        {"a IS DISTINCT FROM NULL", "(there a)"},
        {"a IS NOT DISTINCT FROM NULL", "(null a)"},
        {"a IS -NULL", "(is a (- 0 NULL))"},
        {"a ISNULL", "(null a)"},
        {"a NOTNULL", "(there a)"},
        {"a NOT NULL", "(there a)"},
        {"a = b ISNULL", "(null (= a b))"},
        {"a = b NOT NULL", "(there (= a b))"},
        {"NOT a NOT NULL", "(not (there a))"},
        {"a + b NOT NULL", "(there (+ a b))"},
        {"a AND b NOT NULL", "(and a (there b))"},
        {"s IS NULL", "(null s)"},
        {"s NOT NULL", "(there s)"},
        {"s IS NOT NULL OR a", "(or (there s) a)"},
        {"s ISNULL", "(null s)"},
        {"s NOTNULL", "(there s)"},
        {"CASE WHEN a THEN b END", "(if a b NULL)"},
        {"CASE a WHEN b THEN c ELSE d END", "(if (= a b) c d)"},
        {"CASE WHEN a THEN 1 WHEN b THEN 2 ELSE 3 END", "(if a 1 (if b 2 3))"},
        {"CASE a WHEN 1 THEN 2 WHEN 3 THEN 4 END", "(if (= a 1) 2 (if (= a 3) 4 NULL))"},
        {"CASE a = 1 WHEN b THEN c END + 1", "(+ (if (= (= a 1) b) c NULL) 1)"},
        {"abs(a)", "(abs a)"},
        {"abs(-a)", "(abs (- 0 a))"},
        {"min(a, b)", "(least a b)"},
        {"max(a, b, c)", "(greatest (greatest a b) c)"},
        {"min(a, b, c, d)", "(least (least (least a b) c) d)"},
        {"coalesce(a, b, c)", "(coalesce (coalesce a b) c)"},
        {"ifnull(a, 0)", "(coalesce a 0)"},
        {"IFNULL(a, b) + 1", "(+ (coalesce a b) 1)"},
        {"a & b | c << 2 >> d", "(>> (<< (| (& a b) c) 2) d)"},
        {"a + 1 & b < c | 4", "(< (& (+ a 1) b) (| c 4))"},
        {"~a - -b", "(- (~ a) (- 0 b))"},
        {"~~a", "(~ (~ a))"},
        {"-~a", "(- 0 (~ a))"},
        {"CAST(a AS INTEGER)", "(integer a)"},
        {"CAST(a + b AS BIG INT) % 3", "(% (integer (+ a b)) 3)"},
        {"CAST(a AS floating point)", "(integer a)"},
        {"CAST(a AS FLOAT)", "(real a)"},
        {"CAST(a AS double precision)", "(real a)"},
        {"CAST(CAST(a AS REAL) AS INT)", "(integer (real a))"},
        {"CAST(a AS DECIMAL(10, 2)) + 1", "(+ (least a a) 1)"},
        {"round(a)", "(round a)"},
        {"ROUND(a * b, 0)", "(round (* a b))"},
        {"floor(a) + ceil(b) + Ceiling(c)", "(+ (+ (floor a) (ceiling b)) (ceiling c))"},
        {"trunc(a / 2) * sign(b)", "(* (truncate (/ a 2)) (sign b))"},
        {"iif(a > b, c, d)", "(if (> a b) c d)"},
        {"iif(a, iif(b, 1, 2), NULL)", "(if a (if b 1 2) NULL)"},
        {"nullif(a, b)", "(if (= a b) NULL a)"},
        {"1 / nullif(a + b, 0)", "(/ 1 (if (= (+ a b) 0) NULL (+ a b)))"},
        {"likely(a > b) AND unlikely(c) OR likelihood(d, 0.5)", "(or (and (> a b) c) d)"},
        {"a < 1 << 20", "(< a (<< 1 20))"},
        {"a < 1 << 52", "(< a (<< 1 52))"},
        {"a = -1 & 255", "(= a (& -1 255))"},
        {"a = CAST(1e15 AS INTEGER)", "(= a (integer 1000000000000000.0))"},
        {"a < round(1e15)", "(< a (round 1000000000000000.0))"},
        {"a & 9223372036854775807 = 1", "(= (& a 9223372036854775807) 1)"},
        {"a = 9007199254740992", "(= a 9007199254740992)"},
        {"a = -9007199254740992", "(= a -9007199254740992)"},
        {"a + 9007199254740993", "(+ a 9007199254740993)"},
        {"a = 9007199254740993.0", "(= a 9007199254740992.0)"},
        {"a = 9007199254740993", "(= a 9007199254740993)"},
        {"a < -9007199254740993", "(< a -9007199254740993)"},
        {"a + 9007199254740993 > 1", "(> (+ a 9007199254740993) 1)"},
        {"9223372036854775807 IS a", "(is 9223372036854775807 a)"},
        {"a IN (1, -9223372036854775808)", "(or (= a 1) (= a -9223372036854775808))"},
        {"a BETWEEN 0 AND 0x7fffffffffffffff", "(and (>= a 0) (<= a 9223372036854775807))"},
        {"CASE a WHEN 9007199254740994 THEN 1 END", "(if (= a 9007199254740994) 1 NULL)"},
        {"a = 435090932899640449 OR b * 9223372036854775808 > 9223372036854777856",
         "(or (= a 435090932899640449) (> (* b 9.2233720368547758e+18) 9.2233720368547779e+18))"},
        {"a > 5 / 0.5 - 100 / 3", "(> a (- (/ 5 0.5) (/ 100 3)))"},
        {"(a)", "a"},
        {"((a) + (b))", "(+ a b)"},
        {"a>b", "(> a b)"},
        {"a==b", "(= a b)"},
        {"a!=b", "(<> a b)"},
        {"a<>b", "(<> a b)"},
        {"a = a AND a = a", "(and (= a a) (= a a))"},
        {"a + b > 1 AND a + b < 5", "(and (> (+ a b) 1) (< (+ a b) 5))"},
        {"a > 60 * 60 * 24", "(> a (* (* 60 60) 24))"},
        {"a * 4294967296 * 4294967296 > 0", "(> (* (* a 4294967296) 4294967296) 0)"},
    };
    size_t i;

    for (i = 0; i < sizeof expressions / sizeof expressions[0]; i++)
        lowered(expressions[i].sql, expressions[i].want);
}

/* ---- What is refused. */

#define PAST_INTEGERS                                                                              \
    "a comparison with 2^63 or -2^63 as a REAL, or with what may be computed to it, is not "       \
    "accelerated"

static void refused(const char *sql, const char *want)
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

/* What takes the bytes of TEXT and BLOBs: of a column. Merges of one kind of state are one tally.
 */
static void test_bytes(void)
{
    accepted("SELECT gpu_sum_merge(a), gpu_avg_merge(a), gpu_sum_state_merge(a), gpu_dot_merge(a), "
             "gpu_sum_merge(a) FILTER (WHERE b), count(a) FROM t",
             "#0M1 a; #1M2 a; #2M1 a if b; #3 a; gpu_sum_merge 0, gpu_avg_merge 0, "
             "gpu_sum_state_merge 0, gpu_dot_merge 1, gpu_sum_merge 2, count 3; "
             "SELECT ?1, ?2, ?3, ?4, ?5, ?6");
    accepted("SELECT GPU_MIN_MERGE(s), gpu_max_merge((s)), gpu_norm_merge(d), gpu_corr_merge(d), "
             "gpu_regr_r2_state_merge(d), gpu_histogram_merge(d) FROM t WHERE a > 1",
             "where (> a 1); #0M3 s; #1M4 s; #2M5 d; #3M6 d; #4M7 d; gpu_min_merge 0, "
             "gpu_max_merge 1, gpu_norm_merge 2, gpu_corr_merge 3, gpu_regr_r2_state_merge 3, "
             "gpu_histogram_merge 4; SELECT ?1, ?2, ?3, ?4, ?5, gpu_histogram_merge(?6)");
    accepted("SELECT gpu_count_distinct(s), gpu_mode(a), gpu_median(a), gpu_mode(a + 1) FROM t",
             "#0KB s; #1EKB a; #2K (+ a 1); gpu_count_distinct asks 0 of 0, gpu_mode asks 1 of 1, "
             "gpu_median asks 2 of 1, gpu_mode asks 3 of 2; SELECT ?1, ?2, ?3, ?4");
    is_utf8 = false;
    accepted("SELECT gpu_count_distinct(a), gpu_sum_merge(s) FROM t",
             "#0K a; #1M1 s; gpu_count_distinct asks 0 of 0, gpu_sum_merge 1; SELECT ?1, ?2");
    accepted("SELECT gpu_mode(s) FROM t", "#0K [s: \"entry\"]; gpu_mode asks 0 of 0; SELECT ?1");
    is_utf8 = true;
    accepted("SELECT gpu_count_distinct(+s), gpu_min(s), max(a) FROM t",
             "#0K [s: + \"entry\"]; #1E [s: \"entry\"]; #2E a; gpu_count_distinct asks 0 of 0, "
             "gpu_min 1, max 2; SELECT ?1, ?2, ?3");
    refused("SELECT max(u) FROM t", "the TEXT column u is not accelerated in this place");
}

#define TWO_COLUMNS "an expression with text or functions of two columns is not accelerated"

#define SUBQUERY "a subquery is not accelerated in this place: make it a parameter or a table"
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
        {"WITH x AS (SELECT 1) SELECT sum(a) FROM t", "WITH is not accelerated"},
        {"SELECT gpu_percentile(a, b) FROM t",
         "gpu_percentile() is not accelerated with this argument: write a literal or a parameter"},
        {"SELECT gpu_percentile_disc(a, 0.5 + 0) FROM t",
         "gpu_percentile_disc() is not accelerated with this argument: write a literal or a "
         "parameter"},
        {"SELECT gpu_histogram(a, 0, -?, 3) FROM t",
         "gpu_histogram() is not accelerated with this argument: write a literal or a parameter"},
        {"SELECT gpu_percentile(a, 'x') FROM t",
         "an expression with text or functions and no column is not accelerated: make it a "
         "parameter"},
        {"SELECT sum(a) FROM 't'", "\"'t'\" is not accelerated in this place"},
        {"SELECT gpu_median(s) FROM t", "the TEXT column s is not accelerated in this place"},
        {"SELECT gpu_sum_merge(+s) FROM t",
         "gpu_sum_merge() is not accelerated of an expression: write a column"},
        {"SELECT gpu_corr_state_merge(a * 2) FROM t",
         "gpu_corr_state_merge() is not accelerated of an expression: write a column"},
        {"SELECT gpu_corr_merge(a, b) FROM t",
         "the function gpu_corr_merge() is not accelerated with these arguments"},
        {"SELECT gpu_sum_merge(*) FROM t",
         "the function gpu_sum_merge() is not accelerated with these arguments"},
        {"SELECT gpu_median_merge(a) FROM t", "the function gpu_median_merge() is not accelerated"},
        {"SELECT sum_merge(a) FROM t", "the function sum_merge() is not accelerated"},
        {"SELECT gpu_sum_merge_state(a) FROM t",
         "the function gpu_sum_merge_state() is not accelerated"},
        {"SELECT gpu_median_state(a) FROM t", "the function gpu_median_state() is not accelerated"},
        {"SELECT sum(a)", "the statement is not complete"},
        {"SELECT sum(a) FROM", "the statement is not complete"},
        {"SELECT FROM t", "\"FROM\" is not accelerated in this place"},
        {"SELECT * FROM t", "a column outside the aggregates is not accelerated"},
        {"SELECT ALL sum(a) FROM t", "ALL is not accelerated"},
        {"SELECT sum(DISTINCT a) FROM t",
         "DISTINCT of this is not accelerated: it is of count(DISTINCT x)"},
        {"SELECT sum(a ORDER BY b) FROM t",
         "ORDER BY of this is not accelerated: leave it out, as the result is one row"},
        {"SELECT sum(a) FROM t HAVING 1",
         "HAVING without GROUP BY is not accelerated: write GROUP BY"},
        {"SELECT sum(a) FROM t ORDER BY a",
         "ORDER BY of this is not accelerated: leave it out, as the result is one row"},
        {"SELECT sum(a) AS x FROM t ORDER BY x + 1",
         "ORDER BY of this is not accelerated: leave it out, as the result is one row"},
        {"SELECT sum(a) FROM t ORDER BY 1, sum(b)",
         "ORDER BY of this is not accelerated: leave it out, as the result is one row"},
        {"SELECT sum(a) FROM t ORDER BY sum(a) FILTER (WHERE b)",
         "ORDER BY of this is not accelerated: leave it out, as the result is one row"},
        {"SELECT gpu_percentile(a, 5) FROM t ORDER BY gpu_percentile(a, 6)",
         "ORDER BY of this is not accelerated: leave it out, as the result is one row"},
        {"SELECT sum(a) FROM t ORDER BY group_concat(1)",
         "group_concat() is not accelerated: its result may follow from more than its arguments"},
        {"SELECT sum(a) FROM t ORDER BY max(1, abs(random()))",
         "random() is not accelerated: its result may follow from more than its arguments"},
        {"SELECT sum(a), 2 FROM t ORDER BY (SELECT 1)",
         "ORDER BY of this is not accelerated: leave it out, as the result is one row"},
        {"SELECT sum(a) FROM t ORDER BY 1, t.b COLLATE nocase DESC",
         "ORDER BY of this is not accelerated: leave it out, as the result is one row"},
        {"SELECT sum(a) FROM t LIMIT \"1\"",
         "LIMIT of this is not accelerated: write a literal or a parameter"},
        {"SELECT sum(a) FROM t LIMIT 1 OFFSET sum(a)",
         "LIMIT of this is not accelerated: write a literal or a parameter"},
        {"SELECT sum(a) FROM t LIMIT random()",
         "random() is not accelerated: its result may follow from more than its arguments"},
        {"SELECT sum(a) FROM t LIMIT (SELECT 1)",
         "LIMIT of this is not accelerated: write a literal or a parameter"},
        {"SELECT sum(a) FROM t UNION SELECT 1",
         "UNION is not accelerated: make a view of each SELECT"},
        {"SELECT sum(a) FROM t, t AS u", "a join is not accelerated: let the view read one table"},
        {"SELECT sum(a) FROM t x, t", "a join is not accelerated: let the view read one table"},
        {"SELECT sum(a) FROM t JOIN t AS u",
         "a join is not accelerated: let the view read one table"},
        {"SELECT sum(a) FROM t LEFT JOIN t AS u",
         "a join is not accelerated: let the view read one table"},
        {"SELECT sum(a) FROM (SELECT 1 AS a)", "\")\" is not accelerated in this place"},
        {"SELECT sum(a) FROM pragma_table_info('t')", "\"(\" is not accelerated in this place"},
        {"SELECT sum(a) FROM t INDEXED BY i", "INDEXED BY is not accelerated: leave it out"},
        {"SELECT sum(a) FROM t NOT INDEXED", "\"NOT\" is not accelerated in this place"},
        {"SELECT sum(a) FROM t; SELECT 1", "more than one statement is not accelerated"},
        {"SELECT sum(a) OVER () FROM t", "a window function is not accelerated"},
        {"SELECT sum(a) FROM t WHERE EXISTS (SELECT 1)", SUBQUERY},
        {"SELECT sum(a) FROM t WHERE a IN (SELECT 1)", SUBQUERY},
        {"SELECT sum((SELECT 1)) FROM t", SUBQUERY},
        {"SELECT sum(a) FILTER (WHERE (SELECT 1)) FROM t", SUBQUERY},
        {"SELECT sum(a), (SELECT \"b\") FROM t", OUTER "\"b\""},
        {"SELECT sum(a) AS \"x\"\"y\", (SELECT 1 = \"X\"\"Y\") FROM t", OUTER "\"X\"\"Y\""},
        {"SELECT sum(a), (SELECT \"_rowid_\" FROM u) FROM t", OUTER "\"_rowid_\""},
        {"SELECT sum(a), (SELECT 1 FROM u WHERE x = \"g:source\") FROM t", OUTER "\"g:source\""},
        {"SELECT sum(a), (SELECT 1", "the statement is not complete"},
        {"SELECT sum(a) FROM ((SELECT 1))", "\"(\" is not accelerated in this place"},
        {"SELECT sum(a) FROM t WHERE a IN t", "\"t\" is not accelerated in this place"},
        {"SELECT sum(a || b) FROM t", TWO_COLUMNS},
        {"SELECT sum(a -> b) FROM t", TWO_COLUMNS},
        {"SELECT sum(a) FROM t WHERE a IS TRUE", "TRUE is not accelerated: write 1 for the value"},
        {"SELECT sum(a) FROM t WHERE a > CURRENT_TIME", "CURRENT_TIME is not accelerated"},
        {"SELECT sum(a) FROM t WHERE (a, b) = (1, 2)", "\",\" is not accelerated in this place"},
        {"SELECT sum(1_000) FROM t",
         "a number with letters or _ in it is not accelerated: write its digits"},
        {"SELECT sum(1e) FROM t",
         "a number with letters or _ in it is not accelerated: write its digits"},
        {"SELECT sum(0x) FROM t",
         "a number with letters or _ in it is not accelerated: write its digits"},
        {"SELECT sum(a) FROM t WHERE a > $x::y",
         "the parameter's name is not accelerated: write ?1 or :name"},
        {"SELECT sum(a) FROM t WHERE a > $x(y)",
         "the parameter's name is not accelerated: write ?1 or :name"},
        {"SELECT sum(a) FROM t WHERE a > :",
         "the parameter's name is not accelerated: write ?1 or :name"},
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
        {"SELECT upper(a), sum(a) FROM t", "the function upper() is not accelerated"},
        {"SELECT sum(a, b) FROM t", "the function sum() is not accelerated with these arguments"},
        {"SELECT sum(*) FROM t", "the function sum() is not accelerated with these arguments"},
        {"SELECT count() FROM t", "the function count() is not accelerated with these arguments"},
        {"SELECT gpu_count(a) FROM t", "the function gpu_count() is not accelerated"},
        {"SELECT gpu_max(a, b) FROM t",
         "the function gpu_max() is not accelerated with these arguments"},
        {"SELECT coalesce(sum(a)) FROM t",
         "the function coalesce() is not accelerated with these arguments"},
        {"SELECT abs(1) FILTER (WHERE 1), sum(a) FROM t",
         "FILTER is not accelerated for a function that is no aggregate"},
        {"SELECT a FROM t", "a column outside the aggregates is not accelerated"},
        {"SELECT sum(a) + b FROM t", "a column outside the aggregates is not accelerated"},
        {"SELECT 1 FROM t", "a SELECT without an aggregate, GROUP BY and WHERE is not accelerated"},
        {"SELECT sum(a) AND 0 FROM t",
         "a SELECT without an aggregate, GROUP BY and WHERE is not accelerated"},
        {"SELECT count(*) FROM t WHERE a IN ()", "an empty IN list is not accelerated"},
        {"SELECT count(*) FROM t WHERE a IS (b NOT IN ())", "an empty IN list is not accelerated"},
        {"SELECT sum(a) IN () FROM t",
         "a SELECT without an aggregate, GROUP BY and WHERE is not accelerated"},
        {"SELECT 1 + (sum(a) NOT IN ()) FROM t",
         "a SELECT without an aggregate, GROUP BY and WHERE is not accelerated"},
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
        {"SELECT sum(s) FROM t", "the TEXT column s is not accelerated in this place"},
        {"SELECT count(+s) FROM t", "the TEXT column s is not accelerated in this place"},
        {"SELECT count(*) FROM t WHERE s", "the TEXT column s is not accelerated in this place"},
        {"SELECT sum(g) FROM t", "the virtual generated column g is not accelerated: its value may "
                                 "follow from more than its row; make it STORED"},
        {"SELECT count(g) FROM t", "the virtual generated column g is not accelerated: its value "
                                   "may follow from more than its row; make it STORED"},
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

    limit("SELECT count(*) FROM t WHERE ", "(", 100000, "a",
          "the expressions are nested too deep to be accelerated");
    limit("SELECT count(*) FROM t WHERE ", "NOT ", 300, "a",
          "the expressions are nested too deep to be accelerated");
    limit("SELECT count(*) FROM t WHERE a", "+a", 300, "",
          "the expressions are nested too deep to be accelerated");
    limit("SELECT count(*) FROM t WHERE ", "CASE WHEN a THEN ", 100000, "a",
          "the expressions are nested too deep to be accelerated");
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

/* ---- Random input. */

static int any_row(void *context, int count, char **values, char **names)
{
    (void)count, (void)names;
    *(bool *)context = values[0] != NULL && strcmp(values[0], "0") != 0;
    return 0;
}

/* Whether all operands are there, and come before what uses them. */
static bool is_valid(const struct clr_query *query)
{
    int i;

    for (i = 0; i < query->instruction_count; i++) {
        const struct clr_instruction *instruction = &query->instructions[i];
        const bool is_lookup = instruction->opcode == CLR_OP_LOOKUP;
        int most = instruction->opcode == CLR_OP_CONSTANT              ? query->constant_count
                   : instruction->opcode == CLR_OP_COLUMN || is_lookup ? query->column_count
                                                                       : i;
        if (instruction->a < 0 || instruction->a >= most || instruction->b < 0 ||
            instruction->b > i || instruction->c < 0 || instruction->c > i)
            return false;
        if ((is_lookup || instruction->opcode == CLR_OP_COLUMN) &&
            (query->with_codes[instruction->a] != is_lookup ||
             (is_lookup && instruction->b >= query->lookup_count)))
            return false;
    }
    for (i = 0; i < query->call_count; i++)
        if (query->calls[i].tally < 0 || query->calls[i].tally >= query->tally_count)
            return false;
    return query->filter < query->instruction_count && query->answer != NULL;
}

/*
 * Operands with operators between them and few parentheses: whatever is accepted must group as in
 * SQLite. The instructions, written as SQL with all parentheses, must have the same value in every
 * row of a table with all kinds of numbers.
 */
static void test_precedence(void)
{
    static const char *const prefixes[] = {"", "", "", "", "", "NOT ", "- ", "+", "("};
    static const char *const operands[] = {"a", "b", "c", "d", "1", "0", "2.5", "NULL"};
    static const char *const operators[] = {" OR ",
                                            " AND ",
                                            " AND ",
                                            "=",
                                            "<>",
                                            " IS ",
                                            " IS NOT ",
                                            "<",
                                            "<=",
                                            ">",
                                            ">=",
                                            "+",
                                            "-",
                                            "*",
                                            "/",
                                            "%",
                                            " BETWEEN ",
                                            " NOT BETWEEN ",
                                            " NOTNULL ",
                                            " NOT NULL AND ",
                                            " ISNULL OR ",
                                            ") AND ",
                                            " IN (1, b) OR ",
                                            " NOT IN (0, 2) = ",
                                            " IN () <> "};
    int round, taken = 0;

    sqlite3_exec(database,
                 "WITH v(v) AS (VALUES (NULL), (0), (1), (2), (-1), (2.5), (0.5))"
                 "INSERT INTO t(a, b, c, d) SELECT w.v, x.v, y.v, z.v FROM v w, v x, v y, v z",
                 NULL, NULL, NULL);
    batch_begin();
    for (round = 0; round < batch_rounds(20000); round++) {
        char expression[400] = "", *sql;
        struct clr_reason reason;
        struct clr_query *query;
        bool differs = true;
        int n = random_between(1, 5);

        while (n-- >= 0) {
            strcat(expression, prefixes[random_below(sizeof prefixes / sizeof prefixes[0])]);
            strcat(expression, operands[random_below(sizeof operands / sizeof operands[0])]);
            if (n >= 0)
                strcat(expression, operators[random_below(sizeof operators / sizeof operators[0])]);
        }
        sql = sqlite3_mprintf("SELECT count(*) FROM t WHERE %s", expression);
        if (make(sql, NULL, &query, &reason) == CLR_OK) {
            taken++;
            dumped = 0;
            print("SELECT sum((%s\n) IS NOT ", expression);
            print_sql(query, query->filter);
            print(") FROM t");
            batch_ok(sqlite3_exec(database, dump, any_row, &differs, NULL) == SQLITE_OK && !differs,
                     "%s", dump);
        }
        clr_query_free(query);
        sqlite3_free(sql);
    }
    batch_end("random expressions group as SQLite's do");
    tap_ok(taken > 1000, "%d of %d were in the grammar", taken, round);
}

/* Whether SQLite's message is about a name or a number, and not about the grammar. */
static bool is_no_syntax(const char *message)
{
    return strncmp(message, "no such table: ", 15) == 0 ||
           strncmp(message, "wrong number of arguments to function ", 38) == 0 ||
           strncmp(message, "unable to use function MATCH", 28) == 0 ||
           strstr(message, " ORDER BY term out of range") != NULL;
}

/* Tokens in any order, characters in any order, statements with a few of either in them: no crash,
   and nothing accepted that SQLite refuses. */
static void test_soup(void)
{
    static const char *const tokens[] = {"SELECT",
                                         "SELECT",
                                         "FROM",
                                         "FROM",
                                         "t",
                                         "t",
                                         "WHERE",
                                         "AS",
                                         "a",
                                         "b",
                                         "s",
                                         "\"e f\"",
                                         "sum(",
                                         "count(*)",
                                         "min(",
                                         "gpu_dot(",
                                         "upper(",
                                         "CAST(",
                                         "AS TEXT)",
                                         "LIKE",
                                         "MATCH",
                                         "ESCAPE",
                                         "COLLATE nocase",
                                         "DISTINCT",
                                         "TRUE",
                                         "||",
                                         "->>",
                                         "&",
                                         "~",
                                         "x'0a'",
                                         "coalesce(",
                                         "FILTER(WHERE ",
                                         "CASE",
                                         "WHEN",
                                         "THEN",
                                         "ELSE",
                                         "END",
                                         "IS",
                                         "NOT",
                                         "NULL",
                                         "ISNULL",
                                         "IN",
                                         "(",
                                         "(",
                                         ")",
                                         ")",
                                         ")",
                                         ",",
                                         ",",
                                         ".",
                                         "+",
                                         "-",
                                         "*",
                                         "/",
                                         "%",
                                         "<",
                                         "=",
                                         ">=",
                                         "BETWEEN",
                                         "AND",
                                         "OR",
                                         "?",
                                         "?3",
                                         ":p",
                                         "1",
                                         "2.5",
                                         "9223372036854775808",
                                         "'x'",
                                         ";",
                                         "--\n",
                                         "/* */",
                                         "GROUP",
                                         "ORDER BY",
                                         "ORDER",
                                         "BY",
                                         "DESC",
                                         "ASC",
                                         "NULLS LAST",
                                         "LIMIT",
                                         "OFFSET",
                                         "[",
                                         "`"};
    static const char *const heads[] = {"", "SELECT sum(a", "SELECT sum(a) FROM t WHERE ",
                                        "SELECT count(*) + ",
                                        "SELECT sum(a) AS b FROM t ORDER BY "};
    static const char *const tails[] = {"", ") FROM t", " FROM t", " FROM t WHERE a",
                                        " FROM t LIMIT 1"};
    char sql[2000];
    long round, taken = 0;

    batch_begin();
    for (round = 0; round < 150000; round++) {
        struct clr_reason reason = {.code = CLR_WHY_NONE};
        sqlite3_stmt *statement;
        struct clr_query *query;
        enum clr_code code;
        int n = random_between(0, round % 100 == 0 ? 100 : 8);
        bool by_characters = random_below(8) == 0, is_known;

        strcpy(sql, heads[random_below(5)]);
        while (n-- > 0) {
            if (by_characters) {
                size_t length = strlen(sql);
                sql[length] = (char)random_between(1, 255);
                sql[length + 1] = '\0';
            } else {
                strcat(sql, tokens[random_below(sizeof tokens / sizeof tokens[0])]);
                strcat(sql, random_below(8) == 0 ? "" : " ");
            }
        }
        strcat(sql, tails[random_below(5)]);
        code = make(sql, NULL, &query, &reason);
        clr_query_free(query);
        statement = code == CLR_OK || random_below(8) == 0 ? prepare(sql) : NULL;
        is_known = statement != NULL || is_no_syntax(sqlite3_errmsg(database));
        code = make(sql, statement, &query, &reason);
        if (code == CLR_OK) {
            taken++;
            /* What is in a subquery is not parsed. */
            batch_ok(is_known || clr_query_has_subqueries(query), "SQLite refuses: %s", sql);
            batch_ok(is_valid(query), "not valid: %s", sql);
        } else {
            batch_ok(code == CLR_INVALID && text_of(&reason)[0] != '\0', "no reason: %s", sql);
        }
        clr_query_free(query);
        sqlite3_finalize(statement);
    }
    batch_end("token soups");
    tap_ok(taken > 1000, "%ld of %ld were in the grammar", taken, round);
}

static void test_memory(void)
{
    static const char sql[] =
        "SELECT sum(\"a\" * :p) FILTER (WHERE b IN (1, ?2)), max(min(a), 2) AS y FROM main.t AS u "
        "WHERE CASE u.c WHEN 1 THEN -2 ELSE d END BETWEEN 1 AND 2 AND date(s, '+1 day') || :p > '2'"
        " AND CASE u.s WHEN 'x' THEN a ELSE b END = length(u.s) AND CAST(s AS INT) "
        "ORDER BY \"Y\", abs(min(a)) DESC LIMIT :p OFFSET 1";
    static const char subqueries[] =
        "SELECT a AS k, sum(b) AS n, (SELECT \"q\" FROM t AS u WHERE :p) FROM t GROUP BY a "
        "HAVING +k IN (SELECT 1) OR EXISTS (SELECT ?) ORDER BY sum(b) IN (VALUES (2))";

    fail_allocations(sql, 40);
    fail_allocations(subqueries, 40);
    clr_query_free(NULL);
}

int main(void)
{
    random_start();
    open_database();
    test_statements();
    test_bytes();
    test_questions();
    test_arguments();
    test_large_parameters();
    test_finish();
    test_subqueries();
    test_row();
    test_parameters();
    test_expressions();
    test_refusals();
    test_limits();
    test_precedence();
    test_soup();
    test_memory();
    sqlite3_close(database);
    return tap_done();
}
