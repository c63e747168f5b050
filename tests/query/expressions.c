/* What expressions become, and that they group as SQLite's do. */
#include "query/environment.h"

#include "batch.h"
#include "random.h"

#include "tap.h"

#include <math.h>
#include <string.h>

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

static int any_row(void *context, int count, char **values, char **names)
{
    (void)count, (void)names;
    *(bool *)context = values[0] != NULL && strcmp(values[0], "0") != 0;
    return 0;
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
    static const char *const operators[] =
        TAP_LIST(" OR ", " AND ", " AND ", "=", "<>", " IS ", " IS NOT ", "<", "<=", ">", ">=", "+",
                 "-", "*", "/", "%", " BETWEEN ", " NOT BETWEEN ", " NOTNULL ", " NOT NULL AND ",
                 " ISNULL OR ", ") AND ", " IN (1, b) OR ", " NOT IN (0, 2) = ", " IN () <> ");
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

void expression_tests(void)
{
    random_start();
    test_expressions();
    test_precedence();
}
