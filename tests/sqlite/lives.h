/*
 * Lives of views, from the first to the last statement about them, over the tables of
 * views/view-nomem-t.c, which has memory run out in the middle of each.
 */
#ifndef CLR_TESTS_LIVES_H
#define CLR_TESTS_LIVES_H

#include <sqlite3.h>
#include <string.h>

/* What a step has to give is what another query gives, or nothing is said of it. */
struct step {
    const char *sql, *same_as;
};

/* A view of a life: its SELECT, in which ? is a parameter, and what is done with it. a and b ask
   it, with the one value and the other, p looks at its plan, c at the columns, and e evicts those.
   SQLite fills columns for a view that is asked again. */
struct viewed {
    const char *does, *select, *values[2];
};

/* The life of views of numbers, and of one that is beside another. */
static const struct step numbers[] = {
    {"CREATE VIRTUAL TABLE temp.v USING clreduce("
     "(SELECT gpu_sum(oid), gpu_sum(r), gpu_total(e) FROM t WHERE i < :most))",
     "SELECT 1 WHERE 0"},
    {"CREATE VIRTUAL TABLE temp.w USING clreduce("
     "(SELECT count(*), min(i), max(k), gpu_avg(r * 2) + 1.5, gpu_median(r), gpu_mode(i), "
     "gpu_histogram(r, -1, 9, 3) FROM t WHERE r > -1.5))",
     "SELECT 1 WHERE 0"},
    {"SELECT * FROM v(90)", "SELECT gpu_sum(oid), gpu_sum(r), gpu_total(e) FROM t WHERE i < 90"},
    {"SELECT * FROM v WHERE most = 20",
     "SELECT gpu_sum(oid), gpu_sum(r), gpu_total(e) FROM t WHERE i < 20"},
    {"SELECT line FROM clreduce_plan('v')", NULL},
    {"SELECT * FROM w",
     "SELECT count(*), min(i), max(k), gpu_avg(r * 2) + 1.5, gpu_median(r), gpu_mode(i), "
     "gpu_histogram(r, -1, 9, 3) FROM t WHERE r > -1.5"},
    {"SELECT * FROM clreduce_columns", NULL},
    {"SELECT clreduce_evict()", NULL},
    {"SELECT v.*, w.* FROM v, w WHERE most = 1e9",
     "SELECT * FROM (SELECT gpu_sum(oid), gpu_sum(r), gpu_total(e) FROM t),"
     " (SELECT count(*), min(i), max(k), gpu_avg(r * 2) + 1.5, gpu_median(r), gpu_mode(i), "
     "gpu_histogram(r, -1, 9, 3) FROM t WHERE r > -1.5)"},
    {"DROP TABLE w", "SELECT 1 WHERE 0"},
    {"SELECT line FROM clreduce_plan('v')", NULL},
    {"SELECT * FROM v(30)", "SELECT gpu_sum(oid), gpu_sum(r), gpu_total(e) FROM t WHERE i < 30"},
    {"DROP TABLE v", "SELECT 1 WHERE 0"},
};

/* Views that need the bytes of TEXT and BLOBs. */
static const struct viewed bytes[] = {
    {"aaea", "SELECT gpu_count_distinct(s), gpu_mode(s) FROM t", {NULL}}};

/* Views with lookups, whose columns have dictionaries. What needs no values together can stream. */
static const struct viewed lookups[] = {
    {"aapeb",
     "SELECT gpu_sum(r), gpu_min(s), gpu_mode(upper(s)) FROM t WHERE s LIKE '%' || ? || '%' AND "
     "substr(s, 6) <> '3' AND i > 3",
     {"'t'", "'5'"}},
    {"ba",
     "SELECT gpu_sum(r), gpu_max(s) FROM t WHERE s LIKE '%' || ? || '%' AND i > 3",
     {"'t'", "'5'"}},
};

/* Views of groups, of rows, and of the first of them. */
static const struct viewed groups[] = {
    {"aaea",
     "SELECT s, upper(s) AS u, gpu_sum(r), gpu_median(i), gpu_max(s), count(DISTINCT i % 5) FROM t "
     "WHERE i > ? GROUP BY s, i % 2 HAVING count(*) > 1 ORDER BY s DESC, 3",
     {"3"}},
    {"aa", "SELECT *, upper(s) FROM t WHERE s LIKE '%3%' AND i > 140 ORDER BY r", {NULL}},
    {"ab", "SELECT *, upper(s) FROM t ORDER BY i DESC LIMIT ? + 1", {"2", "1"}},
    {"aa",
     "SELECT s, r FROM (SELECT *, rank() OVER (PARTITION BY i < 9 ORDER BY i DESC) AS n FROM "
     "t WHERE i > 20) WHERE n <= 2",
     {NULL}},
    {"aa",
     "SELECT i % 3, gpu_sum(r), (SELECT max(s) FROM t) FROM t GROUP BY 1 HAVING i % 3 IN "
     "(SELECT i + 0 FROM t) ORDER BY 1 DESC",
     {NULL}},
};

/* Views of timestamps: their counts, their days, and an operand. */
static const struct viewed times[] = {
    {"aapceb",
     "SELECT date(ts) AS day, min(ts), count(*), gpu_sum(julianday(ts)) FROM t WHERE ts >= ? AND "
     "ts <> datetime('2023-11-20', '+1 day') GROUP BY day",
     {"'2023-11-19'", "5"}}};

/* Views of joins, by way of CTEs and subqueries, of subqueries that are looked up, and of groups
   that are made before a join. */
static const struct viewed joins[] = {
    {"abpeb",
     "WITH f AS (SELECT * FROM t WHERE i > 2), x(s, name) AS (SELECT s, name FROM dim) SELECT "
     "d.name, count(e.name), gpu_sum(f.r * length(e.name)) FROM f JOIN x AS d ON d.s = f.s LEFT "
     "JOIN (SELECT s, name FROM dim) AS e USING (s) WHERE d.name <> ? GROUP BY d.s",
     {"'n3'", "'n4'"}},
    {"abp",
     "SELECT (SELECT max(name) FROM dim AS d WHERE d.s = t.s) AS k, count(*), gpu_sum(r) FROM t "
     "WHERE s IN (SELECT s FROM dim WHERE name <> ?) GROUP BY k",
     {"'n3'", "'n4'"}},
    {"aa",
     "SELECT a.k, count(b.i) AS n, max(b.s) FROM t AS a LEFT JOIN t AS b ON b.i = a.k GROUP BY a.k "
     "ORDER BY n DESC",
     {NULL}},
};

/* Views whose WHERE a scan computes in part, or whose sums share one. */
static const struct viewed parts[] = {
    {"aa", "SELECT gpu_sum(r), max(s || i) FROM t WHERE i = 70 AND s || i > ?", {"'a'"}},
    {"aa", "SELECT gpu_sum(i + 1), gpu_sum(i + 2), gpu_sum(i + 3) FROM t", {NULL}},
};

/* Views with derived columns, which are made when they are asked again: of text, of a parameter as
   a literal, and of several keys. */
static const struct viewed derived[] = {
    {"aapaeaa",
     "SELECT s || i % 3, gpu_sum(length(s || i)), max(s || i % 2) FROM t WHERE s || r "
     "LIKE '%t 1%' GROUP BY 1",
     {NULL}},
    {"abba",
     "SELECT s || ? || i % 2 AS g, gpu_sum(r), gpu_sum(r) / count(*) FROM t GROUP BY g",
     {"'a'", "'b'"}},
    {"aaea",
     "SELECT substr(s, 1, 1) AS c, i % 3 AS m, max(r), k FROM t GROUP BY c, m ORDER BY 1, 2",
     {NULL}}};

/* The life of an ordinary view, before which an accelerated one goes. */
#define ORDINARY                                                                                   \
    "SELECT gpu_sum(r) AS s, count(*) AS n, gpu_max(k) AS \"k \"\"k\" FROM main.t WHERE i < 90"
static const struct step ordinary[] = {
    {"SELECT clreduce_accelerate('ov')", "SELECT 1"},
    {"SELECT * FROM ov", ORDINARY},
    {"SELECT line FROM clreduce_plan('ov')", NULL},
    {"SELECT clreduce_accelerate()", "SELECT 1"},
    {"SELECT * FROM ov", ORDINARY},
    {"DROP VIEW temp.ov", "SELECT 1 WHERE 0"},
    {"SELECT clreduce_rewrite('SELECT count(*) FROM t')", NULL},
    {"SELECT clreduce_rewrite('SELECT count(*) FROM main.ov')", NULL},
    {"SELECT * FROM ov", ORDINARY},
    {"SELECT clreduce_set('override', 'on')", "SELECT 'on'"},
    {"SELECT sum(r), total(r), avg(r) FROM main.t",
     "SELECT gpu_sum(r), gpu_total(r), gpu_avg(r) FROM main.t"},
};

/* Of a life, at most. */
enum { STEPS = 32 };

#define OF_STEPS(steps) steps, NULL, sizeof steps / sizeof steps[0]
#define OF_VIEWS(views) NULL, views, sizeof views / sizeof views[0]

static const struct life {
    const char *name;
    const struct step *steps;
    const struct viewed *views; /* which the steps are made of */
    size_t count;
} lives[] = {
    {"numbers", OF_STEPS(numbers)},   {"bytes", OF_VIEWS(bytes)},
    {"lookups", OF_VIEWS(lookups)},   {"groups", OF_VIEWS(groups)},
    {"times", OF_VIEWS(times)},       {"joins", OF_VIEWS(joins)},
    {"parts", OF_VIEWS(parts)},       {"derived", OF_VIEWS(derived)},
    {"ordinary", OF_STEPS(ordinary)},
};

enum { LIVES = sizeof lives / sizeof lives[0] };

/* Returns the SELECT with that in the place of ?, in memory of SQLite's. */
static char *lives_put(const char *select, const char *value)
{
    const char *mark = strchr(select, '?');

    return mark == NULL
               ? sqlite3_mprintf("%s", select)
               : sqlite3_mprintf("%.*s%s%s", (int)(mark - select), select, value, mark + 1);
}

/* Writes a view's steps, and returns how many they are. */
static int lives_write_view(const struct viewed *view, struct step *steps)
{
    const bool asked_with = strchr(view->select, '?') != NULL;
    char *select = lives_put(view->select, ":value");
    const char *does;
    int count = 0;

    steps[count++] =
        (struct step){sqlite3_mprintf("CREATE VIRTUAL TABLE temp.v USING clreduce((%s))", select),
                      "SELECT 1 WHERE 0"};
    sqlite3_free(select);
    for (does = view->does; *does != '\0'; does++) {
        const char *value = *does == 'b' ? view->values[1] : view->values[0];

        if (*does == 'p')
            steps[count++] = (struct step){"SELECT line FROM clreduce_plan('v')", NULL};
        else if (*does == 'c')
            steps[count++] = (struct step){"SELECT * FROM clreduce_columns", NULL};
        else if (*does == 'e')
            steps[count++] = (struct step){"SELECT clreduce_evict()", NULL};
        else
            steps[count++] = (struct step){
                asked_with ? sqlite3_mprintf("SELECT * FROM v(%s)", value) : "SELECT * FROM v",
                lives_put(view->select, value)};
    }
    steps[count++] = (struct step){"DROP TABLE v", "SELECT 1 WHERE 0"};
    return count;
}

/* Writes a life's steps, whose texts stay, and returns how many they are. */
static int lives_write(const struct life *life, struct step steps[STEPS])
{
    size_t i;
    int count = 0;

    for (i = 0; i < life->count; i++) {
        if (life->views != NULL)
            count += lives_write_view(&life->views[i], steps + count);
        else
            steps[count++] = life->steps[i];
    }
    return count;
}

#endif
