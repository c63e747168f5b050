/* Random expressions over columns of text and of numbers, and a lack of memory. */
#include "query/environment.h"

#include "base/memory.h"
#include "batch.h"
#include "random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const random_columns[] = {"a", "b", "c", "d", "s", "s", "u"};

/* Appends a random expression to a string, most of it over the column. */
static void add_random(sqlite3_str *to, int depth, const char *column)
{
    /* A digit is an operand, 0 one without parentheses. */
    static const char *const forms[] =
        TAP_LIST("0 + 0", "0 - 0", "0 * 0", "0 / 0", "0 % 0", "0 || 0", "0 & 0", "0 | 0", "0 << 0",
                 "0 >> 0", "0 = 0", "0 <> 0", "0 < 0", "0 >= 0", "0 AND 0", "0 AND 0", "0 AND 0",
                 "0 OR 0", "0 IS 0", "0 IS NOT 0", "0 IS NOT DISTINCT FROM 0",
                 "0 IS DISTINCT FROM 0", "0 LIKE 0", "0 NOT LIKE 0", "0 GLOB 0",
                 "0 LIKE 0 ESCAPE '!'", "0 BETWEEN 0 AND 0", "0 NOT BETWEEN 0 AND 0", "0 IN (0, 0)",
                 "0 IN (0)", "0 NOT IN (0, 0)", "0 ISNULL", "0 NOT NULL", "NOT 0", "- 0", "+ 0",
                 "~ 0", "0 COLLATE nocase", "CAST(0 AS INT)", "CAST(0 AS TEXT)", "CAST(0 AS REAL)",
                 "CAST(0 AS NUMERIC(1, 2))", "length(0)", "upper(0)", "substr(0, 1, 1)", "abs(0)",
                 "coalesce(0, 0)", "max(0, 0)", "min(0, 0)", "nullif(0, 0)", "likely(0)",
                 "iif(0, 0, 0)", "round(0)", "floor(0)", "sign(0)", "CASE WHEN 0 THEN 0 ELSE 0 END",
                 "CASE 0 WHEN 0 THEN 0 WHEN 0 THEN 0 END", "CASE 0 WHEN 'x' THEN 0 ELSE 0 END");
    static const char *const literals[] =
        TAP_LIST("'x'", "'X'", "'1'", "'a%'", "1", "0", "2.5", "-1", "''", "NULL", "x'7831'",
                 "FALSE", "9007199254740993", "'9007199254740993'");
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
    for (int i = 0; i < query->instruction_count; i++) {
        const enum clr_opcode opcode = query->instructions[i].opcode;

        if (opcode != CLR_OP_COLUMN && opcode != CLR_OP_LOOKUP)
            continue;
        print(" AND typeof(");
        print_sql(query, i);
        print(") NOT IN ('text', 'blob')");
    }
}

/* Whether the SELECT that the tree is printed as is the same to SQLite, where it knows both. */
static bool is_printed_alike(const struct clr_query *query, const char *sql)
{
    char *text = clr_query_write_select(query), *got = program_of(text), *want = program_of(sql);
    const bool alike = strcmp(got, want) == 0;

    if (!alike)
        tap_diag("printed: %s", text);
    sqlite3_free(got);
    sqlite3_free(want);
    clr_memory_free(text);
    return alike;
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

TAP_TEST(test_random)
{
    int round, taken = 0, split = 0, rows = -1, found = -1;

    open_database();
    fill_table();
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
        if (query != NULL)
            batch_ok(is_printed_alike(query, sql), "printed otherwise: %s", sql);
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
    batch_end("random expressions have SQLite's values, and are printed as they are");
    tap_ok(taken > round / 8 && split > round / 50, "%d of %d had lookups, %d of them as parts",
           taken, round, split);
}

TAP_TEST(test_memory)
{
    static const char sql[] =
        "SELECT 'x' || count(upper(s)), sum(a * (s = :p)) FROM main.t AS v WHERE upper(v.s) = 'X' "
        "AND CASE v.u WHEN 'x' THEN b WHEN 'y' THEN date(u, '+1 day') END > 1 AND s LIKE 'x' AND "
        "CAST(b AS INT) + a AND s LIKE 'x'";

    fail_allocations(sql, 40);
}
