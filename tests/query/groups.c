/* SELECTs with groups: what the keys are, and the SELECT over the groups that finishes them. */
#include "query/environment.h"

#include "tap.h"

/* One check: the keys' instructions in their order, "-" before one that descends, and the SELECT;
   and how the statement is printed. */
static void finishes(const char *sql, const char *want)
{
    sqlite3_stmt *statement = prepare(sql);
    struct clr_reason reason = {.code = CLR_WHY_NONE};
    struct clr_query *query = NULL;
    const enum clr_code code = make(sql, statement, &query, &reason);
    int i;

    dumped = 0;
    dump[0] = '\0';
    if (code != CLR_OK) {
        print("%s", text_of(&reason));
    } else {
        for (i = 0; i < query->grouping.key_count; i++) {
            print("%s", query->grouping.descending[i] ? "-" : "");
            print_value(query, query->grouping.keys[i]);
            print(" ");
        }
        print("%s: ", query->grouping.by_first ? "by rows" : "by keys");
        print_answer(query);
    }
    tap_is_string(dump, want, "%s", sql);
    is_printed(query, statement, sql);
    clr_query_free(query);
    sqlite3_finalize(statement);
}

#define COLLATION                                                                                  \
    "TEXT that is compared by another collating sequence than BINARY is not accelerated in this "  \
    "place"

#define KEY_COLUMN                                                                                 \
    "a column that is neither a key of GROUP BY nor in an aggregate is not accelerated: SQLite "   \
    "takes it from some row; write GROUP BY with it, or an aggregate of it"

static void test_keys(void)
{
    finishes("SELECT b, sum(c) FROM t GROUP BY b",
             "b by keys: SELECT {k0 numeric}, {0} FROM groups(?1)");
    finishes("SELECT count(*) FROM t GROUP BY s",
             "[s: \"entry\"] by keys: SELECT {0} FROM groups(?1)");
    finishes("SELECT s, a FROM t GROUP BY a, S",
             "a [s: \"entry\"] by keys: SELECT {k1 text}, {k0 blob} FROM groups(?1)");
    /* Numbers and names of items; a column's name goes before an item's. */
    finishes("SELECT upper(s) AS n, sum(b) FROM t GROUP BY 1",
             "[s: upper ( \"entry\" )] by keys: SELECT (+{k0 blob}) AS n, {0} FROM groups(?1)");
    finishes("SELECT upper(s) n, sum(b) FROM t GROUP BY N",
             "[s: upper ( \"entry\" )] by keys: SELECT (+{k0 blob}) AS n, {0} FROM groups(?1)");
    finishes("SELECT b + 1 AS b, count(*) FROM t GROUP BY b",
             "b by keys: SELECT {k0 numeric} + 1 AS b, {0} FROM groups(?1)");
    /* The same expression, however it names the column and in whatever case. */
    finishes("SELECT SUBSTR(t.s, 1,2) || 'x', max(b) FROM t GROUP BY substr(s,1,2)",
             "[s: substr ( \"entry\" , 1 , 2 )] by keys: SELECT (+{k0 blob}) || 'x', {0} FROM "
             "groups(?1)");
    /* A part of the text is no part of the expression. */
    finishes("SELECT a + b * 2 FROM t GROUP BY a + b", KEY_COLUMN);
    finishes("SELECT (a + b) * 2 FROM t GROUP BY a + b",
             "(+ a b) by keys: SELECT (+{k0 blob}) * 2 FROM groups(?1)");
    finishes("SELECT CAST(s AS TEXT), CAST(b AS INT) FROM t GROUP BY 1, 2",
             "[s: CAST ( \"entry\" AS TEXT )] (integer b) by keys: SELECT CAST((+{k0 blob}) AS "
             "TEXT), CAST((+{k1 blob}) AS INTEGER) FROM groups(?1)");
    finishes("SELECT s || ?2, ?1 FROM t GROUP BY s || ?2",
             "[s: \"entry\" || ?2] by keys: SELECT (+{k0 blob}), ?1 FROM groups(?3)");
}

static void test_constants(void)
{
    finishes("SELECT 1, b, ? FROM t GROUP BY 1, b, ?1",
             "b by keys: SELECT 1, {k0 numeric}, ?1 FROM groups(?2)");
    finishes(
        "SELECT b FROM t GROUP BY 'x', b ORDER BY b, b DESC",
        "-b by keys: SELECT {k0 numeric} FROM groups(?1) ORDER BY {k0 numeric}, {k0 numeric} DESC");
}

static void test_calls(void)
{
    finishes("SELECT s, count(DISTINCT a), min(s) FROM t GROUP BY s",
             "[s: \"entry\"] by keys: SELECT {k0 text}, {0}, {1} FROM groups(?1)");
}

static void test_clauses(void)
{
    finishes("SELECT b, sum(c) AS total FROM t GROUP BY b HAVING total > 5 AND b <> ? ORDER BY "
             "total DESC, b LIMIT ?",
             "b by keys: SELECT {k0 numeric}, {0} AS total FROM groups(?3) WHERE total > 5 AND {k0 "
             "numeric} <> ?1 ORDER BY total DESC, {k0 numeric} LIMIT ?2");
    finishes("SELECT b FROM t GROUP BY b HAVING count(*) > 2 ORDER BY max(c) DESC",
             "-b by keys: SELECT {k0 numeric} FROM groups(?1) WHERE {0} > 2 ORDER BY {1} DESC");
    finishes("SELECT b, a FROM t GROUP BY b, a ORDER BY a DESC",
             "b a by keys: SELECT {k0 numeric}, {k1 blob} FROM groups(?1) ORDER BY {k1 blob} DESC");
    /* In ORDER BY alone an item's name goes before a column's. */
    finishes("SELECT count(*) AS c FROM t GROUP BY b ORDER BY c",
             "b by keys: SELECT {0} AS c FROM groups(?1) ORDER BY c");
    finishes("SELECT count(*) AS c FROM t GROUP BY b ORDER BY c + 1", KEY_COLUMN);
    finishes("SELECT DISTINCT count(*) FROM t GROUP BY b",
             "b by keys: SELECT DISTINCT {0} FROM groups(?1)");
    finishes("SELECT gpu_histogram(c, 0, 9, 3) FROM t GROUP BY b",
             "b by keys: SELECT json(\"c:0\") FROM groups(?1)");
}

static void test_distinct(void)
{
    finishes("SELECT DISTINCT s FROM t",
             "[s: \"entry\"] by rows: SELECT {k0 text} FROM groups(?1)");
    finishes("SELECT DISTINCT b % 3 AS m, a FROM t WHERE c ORDER BY m LIMIT 2",
             "(% b 3) a by rows: SELECT (+{k0 blob}) AS m, {k1 blob} FROM groups(?1) ORDER BY m "
             "LIMIT 2");
}

/* SQLite fetches rows that the scan has found. */
static void test_rows(void)
{
    finishes("SELECT *, x.a FROM t AS x WHERE b = ? AND c OR d ORDER BY b DESC LIMIT ?;",
             "rowid by keys: SELECT *, x . a FROM \"main\" . t AS x WHERE ( b = ?1 AND c OR d ) "
             "AND x.rowid IN (SELECT {k0 blob} FROM groups(?3)) ORDER BY b DESC LIMIT ?2");
    finishes("SELECT t.*, upper(s) || :p FROM main.t WHERE s LIKE :p",
             "rowid by keys: SELECT t . *, upper ( s ) || ?1 FROM main . t WHERE ( s LIKE ?1 ) AND "
             "t.rowid IN (SELECT {k0 blob} FROM groups(?2))");
    finishes("SELECT a FROM t WHERE b LIMIT 1",
             "LIMIT without ORDER BY is not accelerated: SQLite stops at the first rows");
}

/* A subquery's columns are what its items are. */
static void test_subqueries(void)
{
    finishes("SELECT m, sum(x) AS n FROM (SELECT upper(s) AS m, c * 2 x FROM t WHERE b) AS q WHERE "
             "q.x > 1 GROUP BY q.m ORDER BY m, n",
             "[s: upper ( \"entry\" )] by keys: SELECT (+{k0 blob}), {0} AS n FROM groups(?1) "
             "ORDER BY (+{k0 blob}), n");
    finishes("SELECT length(m) FROM (SELECT s || 'x' m FROM t) GROUP BY length(M)",
             "[s: length ( ( \"entry\" || 'x' ) )] by keys: SELECT (+{k0 blob}) FROM groups(?1)");
    finishes("SELECT b + one FROM (SELECT *, 1 one FROM t) GROUP BY b",
             "b by keys: SELECT {k0 numeric} + ( 1 ) FROM groups(?1)");
    finishes("SELECT -b AS b FROM (SELECT b FROM t) GROUP BY b ORDER BY b DESC",
             "-b by keys: SELECT - {k0 numeric} AS b FROM groups(?1) ORDER BY b DESC");
    finishes("SELECT b FROM (SELECT *, a + 1 AS b FROM t) GROUP BY b", SUBQUERY);
    finishes("SELECT b FROM (SELECT a FROM t) GROUP BY b", "b is no column of the table");
    finishes("SELECT rowid FROM (SELECT * FROM t) GROUP BY 1", "rowid is no column of the table");
    finishes("SELECT b FROM (SELECT b FROM (SELECT b FROM t)) GROUP BY b", SUBQUERY);
    finishes("SELECT b FROM (SELECT sum(b) AS b FROM t) GROUP BY b", SUBQUERY);
    finishes("SELECT x FROM (SELECT upper(u) AS x FROM t) GROUP BY x", COLLATION);
    /* Subqueries elsewhere: what stands for a key or an aggregate has no collating sequence. */
    finishes("SELECT s, sum(b) FROM t GROUP BY s, upper(s) HAVING upper(s) IN (SELECT 1) AND b > 1",
             KEY_COLUMN);
    finishes("SELECT s, sum(b) FROM t GROUP BY s, upper(s) HAVING upper(s) IN (SELECT 1) AND 2 "
             "ORDER BY s || (SELECT 3)",
             "[s: \"entry\"] [s: upper ( \"entry\" )] by keys: SELECT {k0 text}, (CASE WHEN 1 THEN "
             "\"c:0\" END) FROM groups(?1) WHERE ( (CASE WHEN 1 THEN {k1 blob} END) IN (SELECT 1) "
             "AND 2) OR +rowid < 0 ORDER BY {k0 text} || (SELECT 3)");
    finishes("SELECT (SELECT 1), b FROM t GROUP BY 1, 2", SUBQUERY);
    finishes("SELECT DISTINCT EXISTS (SELECT 1), b FROM t", SUBQUERY);
    finishes("SELECT count(*) FROM t GROUP BY CAST(upper(s) AS TEXT) HAVING CAST(upper(s) AS TEXT) "
             "= (SELECT 1)",
             "[s: CAST ( upper ( \"entry\" ) AS TEXT )] by keys: SELECT (CASE WHEN 1 THEN \"c:0\" "
             "END) FROM groups(?1) WHERE ( CAST((CASE WHEN 1 THEN {k0 blob} END) AS TEXT) = "
             "(SELECT 1)) OR +rowid < 0");
}

/* One check: how it is found out that no two keys are equal. */
static void compares(const char *sql, const char *want)
{
    sqlite3_stmt *statement = prepare(sql);
    struct clr_reason reason = {.code = CLR_WHY_NONE};
    struct clr_query *query = NULL;

    if (make(sql, statement, &query, &reason) != CLR_OK)
        tap_is_string(text_of(&reason), want, "%s", sql);
    else
        tap_is_string(query->different == NULL ? "none" : query->different, want, "%s", sql);
    clr_query_free(query);
    sqlite3_finalize(statement);
}

/* Keys of other collating sequences are put in their order by SQLite. */
static void test_collations(void)
{
    finishes("SELECT U, upper(u) FROM t GROUP BY u ORDER BY count(*)",
             "[u: \"entry\"] by keys: SELECT {k0 text} COLLATE \"nocase\", upper ( {k0 text} ) "
             "FROM groups(?1) ORDER BY {0}, {k0 blob} COLLATE \"nocase\"");
    finishes("SELECT b, s COLLATE rtrim, s || 1 FROM t GROUP BY b, 2 ORDER BY 1 DESC, 2 DESC",
             "-b -[s: \"entry\"] by keys: SELECT {k0 numeric}, {k1 text} COLLATE rtrim, {k1 text} "
             "|| 1 FROM groups(?1) ORDER BY 1 DESC, 2 DESC, {k0 blob} DESC, {k1 blob} COLLATE "
             "\"rtrim\" DESC");
    finishes("SELECT count(DISTINCT upper(u)), min(u || 1) FROM t GROUP BY upper(u)",
             "[u: upper ( \"entry\" )] by keys: SELECT {0}, {1} FROM groups(?1)");
    finishes(
        "SELECT u COLLATE binary AS v FROM t GROUP BY u HAVING u ORDER BY v, length(u)",
        "[u: \"entry\"] by keys: SELECT {k0 text} COLLATE binary AS v FROM groups(?1) WHERE {k0 "
        "text} COLLATE \"nocase\" ORDER BY v, length ( {k0 text} ), {k0 blob} COLLATE \"nocase\"");
    compares("SELECT b FROM t GROUP BY b", "none");
    compares(
        "SELECT b FROM t GROUP BY 'x' COLLATE nocase, b, u, s COLLATE [x y], upper(u)",
        "SELECT count(DISTINCT \"k:1:blob\") = count(DISTINCT \"k:1:blob\" COLLATE \"nocase\") AND "
        "count(DISTINCT \"k:2:blob\") = count(DISTINCT \"k:2:blob\" COLLATE \"x y\") FROM "
        "\"clreduce_groups\"(?1)");
}

/* In other encodings BINARY has another order than that of UTF-8, and SQLite sorts. */
static void test_encoding(void)
{
    is_utf8 = false;
    finishes("SELECT s, b FROM t GROUP BY s, b ORDER BY b DESC, s",
             "-[s: \"entry\"] b by keys: SELECT {k0 text}, {k1 numeric} FROM groups(?1) ORDER BY "
             "{k1 numeric} DESC, {k0 text}, {k0 blob} DESC, {k1 blob}");
    is_utf8 = true;
}

static void test_refusals(void)
{
    static const struct {
        const char *sql, *want;
    } statements[] = {
        {"SELECT b FROM t GROUP BY 2", "the select list has no item number 2 to group by"},
        {"SELECT b FROM t GROUP BY 0", "the select list has no item number 0 to group by"},
        {"SELECT count(DISTINCT u) FROM t", COLLATION},
        {"SELECT count(DISTINCT s COLLATE nocase) FROM t", COLLATION},
        {"SELECT sum(DISTINCT b) FROM t", NOT_DISTINCT},
        {"SELECT 'x' FROM t GROUP BY 1, ?",
         "GROUP BY of this is not accelerated: write a column or an expression of one"},
        {"SELECT sum(b) FROM t GROUP BY 1", "GROUP BY of an aggregate is not accelerated"},
        {"SELECT DISTINCT u FROM t", COLLATION},
        {"SELECT s = u FROM t GROUP BY u, s", COLLATION},
        {"SELECT u = 'x' FROM t GROUP BY u", COLLATION},
        {"SELECT u AS v FROM t GROUP BY u HAVING v IN ('x')", COLLATION},
        {"SELECT u AS v FROM t GROUP BY u ORDER BY upper(v)", COLLATION},
        {"SELECT u FROM t GROUP BY u HAVING min('x', u)", COLLATION},
        {"SELECT CASE u WHEN 'x' THEN 1 END FROM t GROUP BY u", COLLATION},
        {"SELECT u FROM t GROUP BY u ORDER BY +u", COLLATION},
        {"SELECT 1 FROM t GROUP BY CAST(u AS TEXT)", COLLATION},
        {"SELECT 1 FROM t GROUP BY s COLLATE x COLLATE y", COLLATION},
        {"SELECT 1 FROM t GROUP BY s COLLATE \"x\"\"y\"", COLLATION},
        {"SELECT 1 FROM t GROUP BY s COLLATE a_name_of_more_than_31_characters", COLLATION},
        {"SELECT s || a FROM t GROUP BY s || a", TWO_COLUMNS},
        {"SELECT b, a FROM t GROUP BY b", KEY_COLUMN},
        {"SELECT b FROM t GROUP BY b ORDER BY a", KEY_COLUMN},
        {"SELECT b FROM t GROUP BY b HAVING z > 1", "z is no column of the table"},
        {"SELECT random() FROM t GROUP BY b", "random() " OUTSIDE},
        {"SELECT a, count(*) FROM t", BESIDE},
    };
    size_t i;

    for (i = 0; i < sizeof statements / sizeof statements[0]; i++)
        finishes(statements[i].sql, statements[i].want);
}

static void test_memory(void)
{
    static const char sql[] =
        "SELECT upper(s) AS n, b, sum(c), gpu_median(a) FROM t WHERE u = 'x' GROUP BY n, 2 HAVING "
        "count(*) > ?1 AND b > 5 ORDER BY n DESC, sum(c) LIMIT 3";

    fail_allocations(sql, 30);
}

void group_tests(void)
{
    test_keys();
    test_constants();
    test_calls();
    test_clauses();
    test_distinct();
    test_rows();
    test_subqueries();
    test_collations();
    test_encoding();
    test_refusals();
    test_memory();
}
