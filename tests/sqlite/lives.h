/*
 * Lives of views, from the first to the last statement about them, over the tables of
 * views/view-nomem-t.c, which has memory run out in the middle of each.
 */
#ifndef CLR_TESTS_LIVES_H
#define CLR_TESTS_LIVES_H

/* What a step has to give is what another query gives, or nothing is said of it. */
struct step {
    const char *sql, *same_as;
};

/* The life of views of numbers. */
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

/* And of views that need the bytes of TEXT and BLOBs. */
static const struct step bytes[] = {
    {"CREATE VIRTUAL TABLE temp.x USING clreduce((SELECT gpu_count_distinct(s), gpu_mode(s) FROM "
     "t))",
     "SELECT 1 WHERE 0"},
    {"SELECT * FROM x", "SELECT gpu_count_distinct(s), gpu_mode(s) FROM t"},
    /* SQLite fills columns for a view that is asked again. */
    {"SELECT * FROM x", "SELECT gpu_count_distinct(s), gpu_mode(s) FROM t"},
    {"SELECT clreduce_evict()", NULL},
    {"SELECT * FROM x", "SELECT gpu_count_distinct(s), gpu_mode(s) FROM t"},
    {"DROP TABLE x", "SELECT 1 WHERE 0"},
};

/* And of views with lookups, whose columns have dictionaries. */
static const struct step lookups[] = {
    {"CREATE VIRTUAL TABLE temp.z USING clreduce((SELECT gpu_sum(r), gpu_min(s), "
     "gpu_mode(upper(s)) "
     "FROM t WHERE s LIKE '%' || :part || '%' AND substr(s, 6) <> '3' AND i > 3))",
     "SELECT 1 WHERE 0"},
    {"SELECT * FROM z('t')", "SELECT gpu_sum(r), gpu_min(s), gpu_mode(upper(s)) FROM t "
                             "WHERE s LIKE '%t%' AND substr(s, 6) <> '3' AND i > 3"},
    /* SQLite fills columns for a view that is asked again. */
    {"SELECT * FROM z('t')", "SELECT gpu_sum(r), gpu_min(s), gpu_mode(upper(s)) FROM t "
                             "WHERE s LIKE '%t%' AND substr(s, 6) <> '3' AND i > 3"},
    {"SELECT line FROM clreduce_plan('z')", NULL},
    {"SELECT clreduce_evict()", NULL},
    {"SELECT * FROM z('5')", "SELECT gpu_sum(r), gpu_min(s), gpu_mode(upper(s)) FROM t "
                             "WHERE s LIKE '%5%' AND substr(s, 6) <> '3' AND i > 3"},
    {"DROP TABLE z", "SELECT 1 WHERE 0"},
    /* What needs no values together can stream. */
    {"CREATE VIRTUAL TABLE temp.y USING clreduce((SELECT gpu_sum(r), gpu_max(s) FROM t WHERE "
     "s LIKE '%' || :part || '%' AND i > 3))",
     "SELECT 1 WHERE 0"},
    {"SELECT * FROM y('5')", "SELECT gpu_sum(r), gpu_max(s) FROM t WHERE s LIKE '%5%' AND i > 3"},
    {"SELECT * FROM y('t')", "SELECT gpu_sum(r), gpu_max(s) FROM t WHERE s LIKE '%t%' AND i > 3"},
    {"DROP TABLE y", "SELECT 1 WHERE 0"},
};

#define WITH_SUBQUERIES                                                                            \
    "SELECT i % 3, gpu_sum(r), (SELECT max(s) FROM t) FROM t GROUP BY 1 HAVING i % 3 IN (SELECT "  \
    "i + 0 FROM t) ORDER BY 1 DESC"

#define RANKED                                                                                     \
    "SELECT s, r FROM (SELECT *, rank() OVER (PARTITION BY i < 9 ORDER BY i DESC) AS n FROM t "    \
    "WHERE i > 20) WHERE n <= 2"

/* And of views of groups, and of rows. */
static const struct step groups[] = {
    {"CREATE VIRTUAL TABLE temp.g USING clreduce((SELECT s, upper(s) AS u, "
     "gpu_sum(r), gpu_median(i), gpu_max(s), count(DISTINCT i % 5) FROM t WHERE i > "
     ":least GROUP BY s, i % 2 HAVING count(*) > 1 ORDER BY s DESC, 3))",
     "SELECT 1 WHERE 0"},
    {"SELECT * FROM g(3)",
     "SELECT s, upper(s) AS u, gpu_sum(r), gpu_median(i), gpu_max(s), count(DISTINCT"
     " i % 5) FROM t WHERE i > 3 GROUP BY s, i % 2 HAVING count(*) > 1 ORDER BY s "
     "DESC, 3"},
    {"SELECT * FROM g(3)",
     "SELECT s, upper(s) AS u, gpu_sum(r), gpu_median(i), gpu_max(s), count(DISTINCT"
     " i % 5) FROM t WHERE i > 3 GROUP BY s, i % 2 HAVING count(*) > 1 ORDER BY s "
     "DESC, 3"},
    {"SELECT clreduce_evict()", NULL},
    {"SELECT * FROM g(3)",
     "SELECT s, upper(s) AS u, gpu_sum(r), gpu_median(i), gpu_max(s), count(DISTINCT"
     " i % 5) FROM t WHERE i > 3 GROUP BY s, i % 2 HAVING count(*) > 1 ORDER BY s "
     "DESC, 3"},
    {"DROP TABLE g", "SELECT 1 WHERE 0"},
    {"CREATE VIRTUAL TABLE temp.h USING clreduce((SELECT *, upper(s) FROM t WHERE s "
     "LIKE '%3%' AND i > 140 ORDER BY r))",
     "SELECT 1 WHERE 0"},
    {"SELECT * FROM h", "SELECT *, upper(s) FROM t WHERE s LIKE '%3%' AND i > 140 ORDER BY r"},
    {"SELECT * FROM h", "SELECT *, upper(s) FROM t WHERE s LIKE '%3%' AND i > 140 ORDER BY r"},
    {"DROP TABLE h", "SELECT 1 WHERE 0"},
    {"CREATE VIRTUAL TABLE temp.first USING clreduce((SELECT *, upper(s) FROM t ORDER BY i DESC "
     "LIMIT :n + 1))",
     "SELECT 1 WHERE 0"},
    {"SELECT * FROM first(2)", "SELECT *, upper(s) FROM t ORDER BY i DESC LIMIT 3"},
    {"SELECT * FROM first(1)", "SELECT *, upper(s) FROM t ORDER BY i DESC LIMIT 2"},
    {"DROP TABLE first", "SELECT 1 WHERE 0"},
    {"CREATE VIRTUAL TABLE temp.last USING clreduce((" RANKED "))", "SELECT 1 WHERE 0"},
    {"SELECT * FROM last", RANKED},
    {"SELECT * FROM last", RANKED},
    {"DROP TABLE last", "SELECT 1 WHERE 0"},
    {"CREATE VIRTUAL TABLE temp.m USING clreduce((" WITH_SUBQUERIES "))", "SELECT 1 WHERE 0"},
    {"SELECT * FROM m", WITH_SUBQUERIES},
    {"SELECT * FROM m", WITH_SUBQUERIES},
    {"DROP TABLE m", "SELECT 1 WHERE 0"},
};

/* And of views of timestamps: their counts, their days, and an operand. */
#define TIMES(from)                                                                                \
    "SELECT date(ts) AS day, min(ts), count(*), gpu_sum(julianday(ts)) FROM t WHERE ts >= " from   \
    " AND ts <> datetime('2023-11-20', '+1 day') GROUP BY day"
static const struct step times[] = {
    {"CREATE VIRTUAL TABLE temp.d USING clreduce((" TIMES(":start") "))", "SELECT 1 WHERE 0"},
    {"SELECT * FROM d('2023-11-19')", TIMES("'2023-11-19'")},
    {"SELECT * FROM d('2023-11-19')", TIMES("'2023-11-19'")},
    {"SELECT line FROM clreduce_plan('d')", NULL},
    {"SELECT * FROM clreduce_columns", NULL},
    {"SELECT clreduce_evict()", NULL},
    {"SELECT * FROM d(5)", TIMES("5")},
    {"DROP TABLE d", "SELECT 1 WHERE 0"},
};

/* And of views of joins, by way of CTEs and subqueries, and of subqueries that are looked up. */
#define JOIN                                                                                       \
    "WITH f AS (SELECT * FROM t WHERE i > 2), x(s, name) AS (SELECT s, name FROM dim) "            \
    "SELECT d.name, count(e.name), gpu_sum(f.r * length(e.name)) FROM f JOIN x AS d ON d.s = "     \
    "f.s LEFT JOIN (SELECT s, name FROM dim) AS e USING (s) WHERE d.name <> "
#define LOOKED_UP                                                                                  \
    "SELECT (SELECT max(name) FROM dim AS d WHERE d.s = t.s) AS k, count(*), gpu_sum(r) FROM t "   \
    "WHERE s IN (SELECT s FROM dim WHERE name <> "
static const struct step joins[] = {
    {"CREATE VIRTUAL TABLE temp.j USING clreduce((" JOIN ":none GROUP BY d.s))",
     "SELECT 1 WHERE 0"},
    {"SELECT * FROM j('n3')", JOIN "'n3' GROUP BY d.s"},
    {"SELECT * FROM j('n4')", JOIN "'n4' GROUP BY d.s"},
    {"SELECT line FROM clreduce_plan('j')", NULL},
    {"SELECT clreduce_evict()", NULL},
    {"SELECT * FROM j('n4')", JOIN "'n4' GROUP BY d.s"},
    {"DROP TABLE j", "SELECT 1 WHERE 0"},
    {"CREATE VIRTUAL TABLE temp.k USING clreduce((" LOOKED_UP ":none) GROUP BY k))",
     "SELECT 1 WHERE 0"},
    {"SELECT * FROM k('n3')", LOOKED_UP "'n3') GROUP BY k"},
    {"SELECT * FROM k('n4')", LOOKED_UP "'n4') GROUP BY k"},
    {"SELECT line FROM clreduce_plan('k')", NULL},
    {"DROP TABLE k", "SELECT 1 WHERE 0"},
};

/* And of views whose WHERE a scan computes in part, or whose sums share one. */
static const struct step parts[] = {
    {"CREATE VIRTUAL TABLE temp.p USING clreduce((SELECT gpu_sum(r), max(s || i) FROM t WHERE "
     "i = 70 AND s || i > :least))",
     "SELECT 1 WHERE 0"},
    {"SELECT * FROM p('a')", "SELECT gpu_sum(r), max(s || i) FROM t WHERE i = 70 AND s || i > 'a'"},
    {"SELECT * FROM p('a')", "SELECT gpu_sum(r), max(s || i) FROM t WHERE i = 70 AND s || i > 'a'"},
    {"DROP TABLE p", "SELECT 1 WHERE 0"},
    {"CREATE VIRTUAL TABLE temp.c USING clreduce((SELECT gpu_sum(i + 1), gpu_sum(i + 2), gpu_sum("
     "i + 3) FROM t))",
     "SELECT 1 WHERE 0"},
    {"SELECT * FROM c", "SELECT gpu_sum(i + 1), gpu_sum(i + 2), gpu_sum(i + 3) FROM t"},
    {"SELECT * FROM c", "SELECT gpu_sum(i + 1), gpu_sum(i + 2), gpu_sum(i + 3) FROM t"},
    {"DROP TABLE c", "SELECT 1 WHERE 0"},
};

#define DERIVED                                                                                    \
    "SELECT s || i % 3, gpu_sum(length(s || i)), max(s || i % 2) FROM t WHERE s || r LIKE '%t 1%'" \
    " GROUP BY 1"

/* And of a view with derived columns, which are made when it is asked again. */
static const struct step derived[] = {
    {"CREATE VIRTUAL TABLE temp.d USING clreduce((" DERIVED "))", "SELECT 1 WHERE 0"},
    {"SELECT * FROM d", DERIVED},
    {"SELECT * FROM d", DERIVED},
    {"SELECT line FROM clreduce_plan('d')", NULL},
    {"SELECT * FROM d", DERIVED},
    {"SELECT clreduce_evict()", NULL},
    {"SELECT * FROM d", DERIVED},
    {"SELECT * FROM d", DERIVED},
    {"DROP TABLE d", "SELECT 1 WHERE 0"},
};

/* And of an ordinary view, before which an accelerated one goes. */
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

#define COUNT(steps) (int)(sizeof steps / sizeof steps[0])
#define FITS(steps) _Static_assert(sizeof steps / sizeof steps[0] <= STEPS, "more steps than STEPS")
FITS(numbers);
FITS(bytes);
FITS(lookups);
FITS(groups);
FITS(parts);
FITS(times);
FITS(joins);
FITS(derived);
FITS(ordinary);

static const struct life {
    const char *name;
    const struct step *steps;
    int count; /* STEPS at most */
} lives[] = {
    {"numbers", numbers, COUNT(numbers)},    {"bytes", bytes, COUNT(bytes)},
    {"lookups", lookups, COUNT(lookups)},    {"groups", groups, COUNT(groups)},
    {"times", times, COUNT(times)},          {"joins", joins, COUNT(joins)},
    {"parts", parts, COUNT(parts)},          {"derived", derived, COUNT(derived)},
    {"ordinary", ordinary, COUNT(ordinary)},
};

enum { LIVES = sizeof lives / sizeof lives[0] };

#endif
