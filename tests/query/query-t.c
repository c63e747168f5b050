/* The parser and the binder: what statements become, and which ones are refused. SQLite itself has
   to take whatever is accepted, and says which number a parameter has. */
#include "query/query.h"

#include "base/memory.h"
#include "batch.h"
#include "random.h"

#include "tap.h"

#include <sqlite3.h>
#include <stdarg.h>

enum { LONGEST_DUMP = 8000 };

static sqlite3 *database;

/* ---- The environment: a table of six numbers, a TEXT and a generated column. */

static const char *const columns[] = {"a", "b", "c", "d", "e f", "true", "s", "g", "rowid"};

enum { COLUMNS = sizeof columns / sizeof columns[0] };

static struct clr_known_column find_column(void *context, const char *name)
{
    struct clr_known_column known = {.number = -1};
    int i;

    (void)context;
    for (i = 0; i < COLUMNS; i++)
        if (sqlite3_stricmp(columns[i], name) == 0)
            known = (struct clr_known_column){
                100 + i, strcmp(columns[i], "s") == 0, strcmp(columns[i], "g") != 0};
    return known;
}

static int find_parameter(void *context, const char *name)
{
    return context != NULL ? sqlite3_bind_parameter_index(context, name) : 0;
}

static bool find_literal(void *context, const char *text, struct clr_scalar *value)
{
    sqlite3_stmt *statement = NULL;
    char *sql = sqlite3_mprintf("SELECT %s", text);
    double real;
    bool found = true;

    (void)context;
    if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) != SQLITE_OK ||
        sqlite3_step(statement) != SQLITE_ROW) {
        found = false;
    } else if (sqlite3_column_type(statement, 0) == SQLITE_INTEGER) {
        value->tag = CLR_TAG_INTEGER;
        value->bits = sqlite3_column_int64(statement, 0);
    } else {
        real = sqlite3_column_double(statement, 0);
        value->tag = CLR_TAG_REAL;
        memcpy(&value->bits, &real, sizeof real);
    }
    sqlite3_finalize(statement);
    sqlite3_free(sql);
    return found;
}

/* Prepares a statement, so that its parameters can be asked for; NULL if SQLite refuses it. */
static sqlite3_stmt *prepare(const char *sql)
{
    sqlite3_stmt *statement = NULL;

    sqlite3_prepare_v2(database, sql, -1, &statement, NULL);
    return statement;
}

static void never(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)context, (void)count, (void)values;
}

static void never_final(sqlite3_context *context)
{
    (void)context;
}

static void open_database(void)
{
    static const char *const functions[] = {"gpu_sum", "gpu_total", "gpu_avg",
                                            "gpu_min", "gpu_max",   "gpu_dot"};
    size_t i;

    if (sqlite3_open(":memory:", &database) != SQLITE_OK ||
        sqlite3_exec(database,
                     "CREATE TABLE t(a, b INTEGER, c REAL, d, \"e f\", \"true\", s TEXT);"
                     "CREATE TABLE \"t\"\"2\"(a)",
                     NULL, NULL, NULL) != SQLITE_OK)
        tap_bail("no database");
    for (i = 0; i < sizeof functions / sizeof functions[0]; i++)
        sqlite3_create_function(database, functions[i], i == 5 ? 2 : 1, SQLITE_UTF8, NULL, NULL,
                                never, never_final);
}

/* ---- A query as text. */

static char dump[LONGEST_DUMP];
static size_t dumped;

static void print(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void print(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    dumped += (size_t)vsnprintf(dump + dumped, sizeof dump - dumped, format, arguments);
    va_end(arguments);
    if (dumped >= sizeof dump)
        tap_bail("a dump of more than %d characters", LONGEST_DUMP);
}

static void print_constant(const struct clr_query *query, int i)
{
    double real;

    memcpy(&real, &query->constants[i].bits, sizeof real);
    if (query->parameters[i] != 0)
        print("?%d", query->parameters[i]);
    else if (query->constants[i].tag == CLR_TAG_INTEGER)
        print("%" PRId64, query->constants[i].bits);
    else if (query->constants[i].tag == CLR_TAG_REAL)
        print("%#g", real);
    else
        print("NULL");
}

static void print_value(const struct clr_query *query, int i)
{
    static const struct {
        const char *name;
        int operands;
    } opcodes[CLR_OPCODES] = {
        [CLR_OP_ADD] = {"+", 2},           [CLR_OP_SUBTRACT] = {"-", 2},
        [CLR_OP_MULTIPLY] = {"*", 2},      [CLR_OP_DIVIDE] = {"/", 2},
        [CLR_OP_REMAINDER] = {"%", 2},     [CLR_OP_EQUAL] = {"=", 2},
        [CLR_OP_UNEQUAL] = {"<>", 2},      [CLR_OP_LESS] = {"<", 2},
        [CLR_OP_LESS_EQUAL] = {"<=", 2},   [CLR_OP_GREATER] = {">", 2},
        [CLR_OP_GREATER_EQUAL] = {">=", 2}, [CLR_OP_IS] = {"is", 2},
        [CLR_OP_IS_NOT] = {"isnot", 2},    [CLR_OP_IS_NULL] = {"null", 1},
        [CLR_OP_NOT_NULL] = {"there", 1},  [CLR_OP_AND] = {"and", 2},
        [CLR_OP_OR] = {"or", 2},           [CLR_OP_NOT] = {"not", 1},
        [CLR_OP_IF] = {"if", 3},           [CLR_OP_COALESCE] = {"coalesce", 2},
        [CLR_OP_LEAST] = {"least", 2},     [CLR_OP_GREATEST] = {"greatest", 2},
        [CLR_OP_ABSOLUTE] = {"abs", 1},
    };
    const struct clr_instruction *instruction = &query->instructions[i];
    int operands[3] = {instruction->a, instruction->b, instruction->c}, k;

    if (instruction->opcode == CLR_OP_CONSTANT) {
        print_constant(query, instruction->a);
    } else if (instruction->opcode == CLR_OP_COLUMN) {
        print("%s", columns[query->columns[instruction->a] - 100]);
    } else {
        print("(%s", opcodes[instruction->opcode].name);
        for (k = 0; k < opcodes[instruction->opcode].operands; k++) {
            print(" ");
            print_value(query, operands[k]);
        }
        print(")");
    }
}

/* "where FILTER; #0 OPERATIONS x, y if FILTER; #1 ...; calls; finish" */
static const char *print_query(const struct clr_query *query)
{
    static const char *const functions[] = {"count", "sum", "total", "avg", "min", "max", "dot"};
    int i;

    dumped = 0;
    dump[0] = '\0';
    if (query->filter >= 0) {
        print("where ");
        print_value(query, query->filter);
        print("; ");
    }
    for (i = 0; i < query->tally_count; i++) {
        const struct clr_tally *tally = &query->tallies[i];
        print("#%d%s%s%s", i, tally->operations & 1u << CLR_SUM ? "S" : "",
              tally->operations & 1u << CLR_DOT ? "D" : "",
              tally->operations & 1u << CLR_EXTREMES ? "E" : "");
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
    for (i = 0; i < query->call_count; i++)
        print("%s%s %d%s", query->calls[i].builtin ? "" : "gpu_",
              functions[query->calls[i].function], query->calls[i].tally,
              i + 1 < query->call_count ? ", " : "; ");
    print("%s", query->finish);
    return dump;
}

/* Parses and binds; *query is NULL unless the result is CLR_OK. */
static enum clr_code make(const char *sql, sqlite3_stmt *statement, struct clr_query **query,
                          struct clr_status *status)
{
    struct clr_environment environment = {.context = statement,
                                          .column = find_column,
                                          .parameter = find_parameter,
                                          .literal = find_literal};
    enum clr_code code = clr_query_parse(sql, query, status);

    environment.parameter_count = statement != NULL ? sqlite3_bind_parameter_count(statement) : 0;
    if (code == CLR_OK) {
        code = clr_query_bind(*query, &environment, status);
        if (code != CLR_OK) {
            clr_query_free(*query);
            *query = NULL;
        }
    }
    return code;
}

/* ---- What is accepted. */

static void accepted(const char *sql, const char *want)
{
    sqlite3_stmt *statement = prepare(sql);
    struct clr_status status = {.code = CLR_OK};
    struct clr_query *query;

    if (statement == NULL)
        tap_diag("%s", sqlite3_errmsg(database));
    make(sql, statement, &query, &status);
    if (query == NULL)
        tap_ok(false, "%s: %s", sql, status.message);
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
    accepted("SELECT gpu_sum(a), total(a), min(a) FILTER (WHERE b > 1), sum(a) filter(where b>1) "
             "FROM t",
             "#0SE a; #1SE a if (> b 1); gpu_sum 0, total 0, min 1, sum 1; SELECT ?1, ?2, ?3, ?4");
    accepted("SELECT count(*) FILTER (WHERE a), count(*) FILTER (WHERE b) FROM t",
             "#0 if a; #1 if b; count 0, count 1; SELECT ?1, ?2");
    accepted("SELECT sum(x.a), sum(x.[b]), sum(X.`e f`) FROM t x WHERE \"x\".\"C\" > 0",
             "where (> c 0); #0SE a; #1SE b; #2SE e f; sum 0, sum 1, sum 2; SELECT ?1, ?2, ?3");
    accepted("SELECT sum(main.t.a), sum(T.b), sum(t.rowid) FROM Main.[t]",
             "#0SE a; #1SE b; #2SE rowid; sum 0, sum 1, sum 2; SELECT ?1, ?2, ?3");
    accepted("SELECT sum(a) FROM \"t\"\"2\" WHERE \"t\"\"2\".a > 0",
             "where (> a 0); #0SE a; sum 0; SELECT ?1");
    accepted("SELECT \"sum\"(a) FROM t", "#0SE a; sum 0; SELECT ?1");
    accepted("SELECT sum(\"true\") key FROM t rows WHERE rows.a",
             "where a; #0SE true; sum 0; SELECT ?1");
}

static void test_finish(void)
{
    accepted("SELECT 1, sum(a)+2*-avg(b)/*c*/as x, NULL FROM t",
             "#0SE a; #1SE b; sum 0, avg 1; SELECT 1, ?1 + 2 * - ?2, NULL");
    accepted("SELECT CASE WHEN count(*)>0 THEN sum(a)/count(*)ELSE-1 END c FROM t",
             "#0; #1SE a; count 0, sum 1, count 0; "
             "SELECT CASE WHEN ?1 > 0 THEN ?2 / ?3 ELSE - 1 END");
    accepted("SELECT coalesce(sum(a),0),((max(a))), max(min(a),max(a),3)m, sum(a) IN () FROM t",
             "#0SE a; #1E a; sum 0, max 1, min 1, max 1, sum 0; "
             "SELECT coalesce ( ?1 , 0 ), ( ( ?2 ) ), max ( ?3 , ?4 , 3 ), ?5 IN ( )");
    accepted("SELECT abs(sum(?+a))+?, ?, :x+count(*)+?2, -9223372036854775808 FROM t WHERE a>?2+?",
             "");
    /* Of equal calls each has its own place. */
    accepted("SELECT sum(a)--\n+sum(a) FROM t", "#0SE a; sum 0, sum 0; SELECT ?1 + ?2");
}

/* The numbers are SQLite's: prepared, the statement has as many as the binder finds. */
static void test_parameters(void)
{
    accepted("SELECT sum(a + ?) + ? FROM t WHERE b > ?", "");
    accepted("SELECT sum(a * ?7) + ? FROM t WHERE b > ?3 AND c > ?", "");
    accepted("SELECT sum(a * :n) + @n - $n FROM t WHERE b > :N AND c > ? AND d > :n", "");
    accepted("SELECT sum(a * ?) AS x, ?2 + ? FROM t WHERE b IN (?, :z, ?, :z)", "");
    accepted("SELECT sum(a * ?001) FROM t WHERE b > ?", "");
}

static void test_precedence(void)
{
    static const char *const expressions[] = {
        "a OR b AND c", "a AND b OR c", "NOT a AND b", "NOT a = b", "NOT NOT a IS NULL",
        "a = b < c", "a < b = c", "a = b <> c == d", "a < b <= c > d >= 1", "a + b * c - d",
        "a - b - c", "a / b % c * d", "-a * b", "- a + b", "-a NOT NULL", "- - a", "-(-5)",
        "- -5", "-(5)", "-((5))", "+a", "-+a", "+-5", "a - -5", "-9223372036854775808",
        "a + 9223372036854775808", "a * 0x10", "a * 1e2", "a * .5", "a * 5.", "a * -.5E-1",
        "a BETWEEN b AND c", "a BETWEEN b AND c AND d", "a NOT BETWEEN 1 AND 2 OR b",
        "NOT a BETWEEN b + 1 AND c", "a BETWEEN b AND c = d", "a = b BETWEEN c AND d",
        "a BETWEEN b < c AND d", "a IN (1)", "a IN (1, b, NULL)", "a NOT IN (1, 2)",
        "NOT a IN (1)", "a IN ()", "a NOT IN ()", "a = b IN (1)", "a < b IN (1)",
        "a IN (1) IN (0)", "a IS b", "a IS NOT b", "a IS NOT NULL", "a IS NULL",
        "a IS (NULL)", "a IS NOT (NULL)", "NULL IS a", "a IS NOT b = c", "a = b IS NOT c",
        "a IS NOT b IS c", "a IS NOT b < c", "a IS (NOT b)", "a IS -NULL", "a ISNULL",
        "a NOTNULL", "a NOT NULL", "a = b ISNULL", "a = b NOT NULL", "NOT a NOT NULL",
        "a + b NOT NULL", "a AND b NOT NULL", "s IS NULL", "s NOT NULL", "s IS NOT NULL OR a",
        "s ISNULL", "s NOTNULL", "CASE WHEN a THEN b END", "CASE a WHEN b THEN c ELSE d END",
        "CASE WHEN a THEN 1 WHEN b THEN 2 ELSE 3 END", "CASE a WHEN 1 THEN 2 WHEN 3 THEN 4 END",
        "CASE a = 1 WHEN b THEN c END + 1", "abs(a)", "abs(-a)", "min(a, b)", "max(a, b, c)",
        "min(a, b, c, d)", "coalesce(a, b, c)", "ifnull(a, 0)", "IFNULL(a, b) + 1",
        "a = 9007199254740992", "a = -9007199254740992", "a + 9007199254740993",
        "a = 9007199254740993.0", "(a)", "((a) + (b))", "a>b", "a==b", "a!=b", "a<>b",
        "a = a AND a = a", "a + b > 1 AND a + b < 5", "x.a", "a > 60 * 60 * 24",
        "a * 4294967296 * 4294967296 > 0", "a > ? - 1"
    };
    size_t i;
    for (i = 0; i < sizeof expressions / sizeof expressions[0]; i++)
        lowered(expressions[i], "");
}

int main(void)
{
    random_start();
    open_database();
    test_statements();
    test_finish();
    test_parameters();
    test_precedence();
    sqlite3_close(database);
    return tap_done();
}
