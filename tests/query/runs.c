/* Runs: what parameters may be, those that are functions' arguments and those of expressions, and
   which columns are asked for. */
#include "query/environment.h"

#include "tap.h"

#include <math.h>
#include <string.h>

/* Binds, and begins a run with the value for every parameter; *run is NULL unless that is done. */
static enum clr_code begin(const char *sql, struct clr_scalar value, struct clr_query **query,
                           struct clr_query_run **run)
{
    struct clr_scalar values[CLR_MOST_CONSTANTS];
    sqlite3_stmt *statement = prepare(sql);
    struct clr_reason reason = {.code = CLR_WHY_NONE};
    enum clr_code code = make(sql, statement, query, &reason);

    sqlite3_finalize(statement);
    TAP_NEED(code == CLR_OK, "%s: %s", sql, text_of(&reason));
    for (int i = 0; i < CLR_MOST_CONSTANTS; i++)
        values[i] = value;
    return clr_query_run_begin(*query, values, run, &reason);
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
TAP_TEST(test_arguments)
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

    open_database();
    TAP_EACH (i, cases) {
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
TAP_TEST(test_large_parameters)
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

    for (size_t i = 0; i < 2 * sizeof cases / sizeof cases[0]; i++) {
        const bool valid = i % 2 == 0 ? cases[i / 2].is_free : cases[i / 2].is_bound;
        const enum clr_code code =
            begin(i % 2 == 0 ? free : bound, cases[i / 2].value, &query, &run);

        tap_is_int64(code, valid ? CLR_OK : CLR_INVALID, "parameter %d", (int)i);
        clr_query_run_free(run);
        clr_query_free(query);
    }
}

static int count_columns(const struct clr_query *query, int number, bool with_codes)
{
    int count = 0;

    for (int i = 0; i < query->column_count; i++)
        count += query->columns[i].number == number && query->columns[i].with_codes == with_codes;
    return count;
}

TAP_TEST(test_columns)
{
    struct clr_reason reason = {.code = CLR_WHY_NONE};
    struct clr_query *query = bound("SELECT count(s), count(*), gpu_count_distinct(s), "
                                    "sum(a) FILTER (WHERE s  =  'x'), sum(a * (s='x')) FROM t "
                                    "WHERE t.s = 'x' AND u = 'x' AND b AND s <> 'y'",
                                    &reason);
    struct clr_scan scan;
    struct clr_query_run *run = NULL;

    TAP_NEED(query != NULL, "%s", text_of(&reason));
    tap_is_int64(query->lookup_count, 3, "equal lookups of a column are one");
    tap_ok(count_columns(query, 106, true) == 1 && count_columns(query, 106, false) == 1 &&
               count_columns(query, 107, true) == 1 && count_columns(query, 107, false) == 0 &&
               count_columns(query, 100, false) == 1 && count_columns(query, 100, true) == 0,
           "a column with codes and one with values");
    for (int i = 0; i < query->column_count; i++)
        tap_ok(query->columns[i].with_bytes ==
                   (query->columns[i].number == 106 && !query->columns[i].with_codes),
               "bytes are those of the column with values: %d", i);
    for (int i = 0; i < query->lookup_count; i++)
        tap_ok(query->columns[query->lookups[i].column].with_codes, "lookup %d has codes", i);
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
TAP_TEST(test_text_parameters)
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

    for (size_t i = 0; i < CLR_MOST_CONSTANTS; i++)
        values[i] = (struct clr_scalar){.tag = CLR_TAG_BYTES};
    TAP_EACH (i, cases) {
        struct clr_reason reason = {.code = CLR_WHY_NONE};
        struct clr_query *query = bound(cases[i].sql, &reason);
        struct clr_query_run *run = NULL;

        TAP_NEED(query != NULL, "%s: %s", cases[i].sql, text_of(&reason));
        clr_query_run_begin(query, values, &run, &reason);
        tap_ok((run != NULL) == cases[i].taken, "a TEXT parameter: %s", cases[i].sql);
        clr_query_run_free(run);
        clr_query_free(query);
    }
}
