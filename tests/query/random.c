/* Statements of random input, that expressions group as SQLite's do, and a lack of memory. */
#include "query/environment.h"

#include "batch.h"
#include "random.h"

#include <string.h>

/* Whether all operands are there, and come before what uses them. */
static bool is_valid(const struct clr_query *query)
{
    /* Of the extremes of groups the run makes one more. */
    const int lookups = query->lookup_count + (query->first.key >= 0 && query->first.group >= 0);

    for (int i = 0; i < query->instruction_count; i++) {
        const struct clr_instruction *instruction = &query->instructions[i];
        const bool is_lookup = instruction->opcode == CLR_OP_LOOKUP;
        int most = instruction->opcode == CLR_OP_CONSTANT              ? query->constant_count
                   : instruction->opcode == CLR_OP_COLUMN || is_lookup ? query->column_count
                                                                       : i;
        if (instruction->a < 0 || instruction->a >= most || instruction->b < 0 ||
            instruction->b > i || instruction->c < 0 || instruction->c > i)
            return false;
        if ((is_lookup || instruction->opcode == CLR_OP_COLUMN) &&
            (query->columns[instruction->a].with_codes != is_lookup ||
             (is_lookup && instruction->b >= lookups)))
            return false;
    }
    for (int i = 0; i < query->call_count; i++)
        if (query->calls[i].tally < 0 || query->calls[i].tally >= query->tally_count)
            return false;
    return query->filter < query->instruction_count && query->answer != NULL;
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
TAP_TEST(test_soup)
{
    static const char *const tokens[] = TAP_LIST(
        "SELECT", "SELECT", "FROM", "FROM", "t", "t", "WHERE", "AS", "a", "b", "s", "\"e f\"",
        "sum(", "count(*)", "min(", "gpu_dot(", "upper(", "CAST(", "AS TEXT)", "LIKE", "MATCH",
        "ESCAPE", "COLLATE nocase", "DISTINCT", "TRUE", "||", "->>", "&", "~", "x'0a'", "coalesce(",
        "FILTER(WHERE ", "CASE", "WHEN", "THEN", "ELSE", "END", "IS", "NOT", "NULL", "ISNULL", "IN",
        "(", "(", ")", ")", ")", ",", ",", ".", "+", "-", "*", "/", "%", "<", "=", ">=", "BETWEEN",
        "AND", "OR", "?", "?3", ":p", "1", "2.5", "9223372036854775808", "'x'", ";", "--\n",
        "/* */", "GROUP", "ORDER BY", "WITH x AS (SELECT a FROM t)", "(SELECT b, a + 1 AS a FROM t",
        "x", "JOIN", "ORDER", "BY", "DESC", "ASC", "NULLS LAST", "LIMIT", "OFFSET", "[", "`");
    static const char *const heads[] = {"",
                                        "SELECT sum(a",
                                        "SELECT sum(a) FROM t WHERE ",
                                        "SELECT count(*) + ",
                                        "SELECT sum(a) AS b FROM t ORDER BY ",
                                        "WITH x(a, b) AS MATERIALIZED (SELECT b AS c, a FROM t) ",
                                        "SELECT sum(a) FROM (SELECT * FROM t "};
    static const char *const tails[] = {"", ") FROM t", " FROM t", " FROM t WHERE a",
                                        " FROM t LIMIT 1"};
    char sql[2000];
    long round, taken = 0;

    open_database();
    for (round = 0; round < 200000; round++) {
        struct clr_reason reason = {.code = CLR_WHY_NONE};
        sqlite3_stmt *statement;
        struct clr_query *query;
        enum clr_code code;
        int n = random_between(0, round % 100 == 0 ? 100 : 8);
        bool by_characters = random_below(8) == 0, is_known;

        strcpy(sql, heads[random_below(7)]);
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
            batch_ok(is_known || query->has_subqueries, "SQLite refuses: %s", sql);
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
TAP_TEST(test_precedence)
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

TAP_TEST(test_memory)
{
    static const char sql[] =
        "SELECT sum(\"a\" * :p) FILTER (WHERE b IN (1, ?2)), max(min(a), 2) AS y FROM main.t AS u "
        "WHERE CASE u.c WHEN 1 THEN -2 ELSE d END BETWEEN 1 AND 2 AND date(s, '+1 day') || :p > '2'"
        " AND CASE u.s WHEN 'x' THEN a ELSE b END = length(u.s) AND CAST(s AS INT) "
        "ORDER BY \"Y\", abs(min(a)) DESC LIMIT :p OFFSET 1";
    static const char subqueries[] =
        "SELECT a AS k, sum(b) AS n, (SELECT \"q\" FROM t AS u WHERE :p) FROM t GROUP BY a "
        "HAVING +k IN (SELECT 1) OR EXISTS (SELECT ?) ORDER BY sum(b) IN (VALUES (2))";
    static const char inner[] =
        "WITH x(k, n) AS (SELECT upper(s), b FROM t WHERE a > :p), y AS (SELECT * FROM x) "
        "SELECT k, sum(z) FROM (SELECT k, n * 2 AS z FROM y WHERE n < 3) AS q GROUP BY q.k";
    static const char groups[] =
        "SELECT upper(s) AS n, b, sum(c), gpu_median(a) FROM t WHERE u = 'x' GROUP BY n, 2 HAVING "
        "count(*) > ?1 AND b > 5 ORDER BY n DESC, sum(c) LIMIT 3";

    fail_allocations(sql, 20);
    fail_allocations(groups, 30);
    fail_allocations(subqueries, 20);
    fail_allocations(inner, 30);
    clr_query_free(NULL);
}
