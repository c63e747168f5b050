"""SELECTs within statements are accelerated by themselves: rows, their order, names and errors are those of the statement.

The statements are those of selects.grammar. Each is run as it is, and as clreduce_rewrite() writes it.
"""

import re

import generate
import support
import tap
import view_support as views

SELECTS = 900 if tap.QUICK else 12_000
ROWS = 700
CITIES = ["ORD", "ord", "LAX", "SFO", "JFK", None, "", "Ord ", "12", "Zürich"]
#: At least so many of the statements that are no errors are rewritten: a fifth fewer than by the seeds that were tried.
LEAST_SHARE = 0.4


def open_database(rng, encoding, has_indexes=True):
    """A connection with a large table t, a small one u, and perhaps indexes that only some statements use."""
    db = views.connect(views.new(), encoding=encoding)
    db.executescript("""
        CREATE TABLE t(id INTEGER PRIMARY KEY, city TEXT, kind INT, n INTEGER, x REAL, day TEXT, price NUMERIC,
                       code TEXT COLLATE NOCASE, trimmed TEXT COLLATE RTRIM);
        CREATE TABLE u(id INTEGER PRIMARY KEY, city TEXT UNIQUE, n INTEGER, name TEXT);
        CREATE TABLE places(n INT, city TEXT);
        CREATE TABLE m(a INT, b); INSERT INTO m VALUES (1, 2), (3, '4');
        CREATE TABLE mixed(n INT, any); INSERT INTO mixed VALUES (1, 1), (2, 1.0), (3, '1'), (4, '1.0');
    """)
    db.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (
        (i, rng.choice(CITIES), rng.choice((1, 2, 3, 4, None)), rng.randrange(100), rng.choice((None, rng.randrange(4000) / 8, -0.5)),
         f"2024-0{rng.randrange(1, 4)}-{rng.randrange(10, 29)}", rng.choice((1, 2.5, "7", None)), rng.choice(("a", "A", "b", "B")),
         rng.choice(("x", "x ", "y"))) for i in range(ROWS)))
    db.executemany("INSERT INTO u VALUES (?, ?, ?, ?)", ((i, city, i % 4, "ORD") for i, city in enumerate(CITIES)))
    db.executemany("INSERT INTO places VALUES (?, ?)", ((i % 3, city) for i, city in enumerate(CITIES)))
    for index in rng.sample(["kind", "city, n", "n", "day DESC, city", "code"], rng.randrange(3) if has_indexes else 0):
        db.execute(f"CREATE INDEX \"{index}\" ON t({index})")
    if has_indexes and rng.random() < 0.3:
        db.execute("ANALYZE")
    db.execute("SELECT clreduce_set('override', 'on')")
    return db


def outcome(db, sql, values):
    """Rows and names, or the error."""
    try:
        cursor = db.execute(sql, values)
        return [*cursor, tuple(column[0] for column in cursor.description)]
    except (*views.ERRORS, TypeError) as error:
        return views.failure(error)


@tap.each("UTF-8", "UTF-16le")
def test_random(rng, encoding):
    """Statements of the grammar."""
    batch = support.Batch(f"{encoding}: {SELECTS} random statements, as they are and rewritten")
    count = rewritten = 0
    for number in range(SELECTS):
        if number % 150 == 0:
            db = open_database(rng, encoding)
            writer = generate.Writer(rng, "units", {}, lambda rng: rng.choice((0, 1, 3, 5, 40, None, 2.5, "3", "b")))
        sql, values = writer.select()
        text = support.value(db, "SELECT clreduce_rewrite(?)", sql)
        plain = outcome(db, sql, values)
        count += isinstance(plain, list)
        if text is not None:
            rewritten += 1
            batch.compare(outcome(db, text, values), plain, f"{sql}\n{values}\n{text}")
    tap.ok(rewritten >= LEAST_SHARE * count, f"{rewritten} of {count} statements are rewritten")


#: Statements of which so many SELECTs are accelerated by themselves.
COUNTED = [
    (2, "SELECT /* ) ' */ (SELECT count(*) FROM t -- )\n), 'SELECT (' FROM (SELECT DISTINCT kind AS \"(\" FROM t) AS [q)]"),
    (1, "SELECT city, count(*) OVER () FROM u WHERE n < (SELECT count(*) FROM t) AND EXISTS (SELECT 1 FROM t WHERE n > 98 AND kind = 2)"),
    (1, "WITH t2 AS (SELECT * FROM t), g AS (SELECT t2.kind AS k, count(*) AS n FROM t2 GROUP BY 1) SELECT * FROM g"),
    (2, "SELECT kind, count(*) FROM t GROUP BY 1 UNION ALL SELECT NULL, (SELECT sum(n) FROM t) ORDER BY 2"),
    (2, "SELECT * FROM (SELECT kind, max(x) AS x FROM t GROUP BY kind) AS a JOIN (SELECT kind, min(x) AS y FROM t GROUP BY kind) USING (kind)"),
    (1, "VALUES (1), ((SELECT max(n) FROM t))"),
    (2, "SELECT city FROM t WHERE n > 2 EXCEPT SELECT name FROM u UNION ALL SELECT city FROM u UNION SELECT day FROM t WHERE n < 90"),
    (1, "SELECT count(*) FROM u WHERE n IN (SELECT kind FROM t WHERE n > 2)"),
    (2, "SELECT kind, count(*) * 100.0 / (SELECT count(*) FROM t) AS share FROM t GROUP BY kind"),
    (3, "SELECT kind, avg(x) FROM t WHERE n > (SELECT avg(n) FROM t) GROUP BY kind HAVING avg(x) > (SELECT avg(n) * 0.6 FROM t)"),
    (2, "SELECT (SELECT count(*) FROM t WHERE kind = TRUE), 1 EXCEPT SELECT s.* FROM u, (SELECT kind IS FALSE, sum(n) FROM t GROUP BY 1) AS s"),
    # A value with an affinity, and one that names the query around it.
    (1, "SELECT kind, count(*) FROM t GROUP BY kind HAVING max(city) > (SELECT city FROM t WHERE n > 97 GROUP BY city LIMIT 1)"),
    (1, "SELECT kind, (SELECT name FROM u WHERE id = kind) FROM t GROUP BY kind"),
    (1, "SELECT count(*) FROM u WHERE city IN (SELECT city FROM t GROUP BY city HAVING count(*) > 60)"),
]

#: Statements that were answered in another way, with parameters.
ANSWERED = [
    # A value that is an argument of a view; parameters before it, in it and behind it; a name of that kind; comments.
    ("SELECT kind, ?, (SELECT count(*) FROM t WHERE n > ?), sum(n) FROM t WHERE n < ? GROUP BY kind", ("a", 50, 90)),
    ("SELECT kind, :a, (SELECT count(*) FROM t WHERE n > :b), sum(n) FROM t WHERE n < :a GROUP BY kind", (60, 50)),
    ("SELECT kind, ?2, (SELECT count(*) FROM t WHERE n > ?2) FROM t WHERE n < ?1 GROUP BY kind", (60, 50)),
    ("SELECT kind, (SELECT count(*) FROM t), sum(n) FROM t WHERE n > :clreduce_value_1 GROUP BY kind", (60,)),
    ("SELECT kind, (SELECT count(*) FROM t WHERE n > ?1), ?1 FROM t GROUP BY kind", (50,)),
    ("SELECT kind, (SELECT count(*) FROM t WHERE n > ?), ?1, sum(n) FROM t WHERE n > ?2 GROUP BY kind", (50, 60)),
    ("SELECT kind, (SELECT count(*) FROM t WHERE n > :a), :a, @b, sum(n) FROM t WHERE n > @b GROUP BY kind", (50, 60)),
    ("SELECT kind, (SELECT /* ) */ count(*) FROM t -- (\n), sum(n) /* ' */ FROM t GROUP BY kind", ()),
    ("SELECT kind, (SELECT max(n) FROM t WHERE n > 1e9), count(*) > (SELECT max(n) FROM t WHERE n > 1e9) FROM t GROUP BY kind", ()),
    ("SELECT kind, (SELECT sum(9223372036854775807 - n) FROM t) FROM t GROUP BY kind", ()),
    # TRUE and FALSE may be columns of the query around a unit.
    ("SELECT [true], (SELECT count(*) FROM t WHERE kind = TRUE) FROM (SELECT id AS [true] FROM u)", ()),
    ("SELECT (SELECT max(c) FROM (SELECT n, count(*) AS c FROM t WHERE n > FALSE GROUP BY n) AS s) FROM (SELECT id * 9 AS [false] FROM u)", ()),
    ("SELECT kind, (WITH c AS (SELECT count(*) AS n FROM t WHERE n < true) SELECT n FROM c) FROM (SELECT kind, kind * 9 AS [TRUE] FROM t)", ()),
    # ?1 is :a in the unit by itself.
    ("SELECT ?5, ?1, (SELECT count(*) FROM t WHERE n > :a AND kind < ?1)", (3, 0, 0, 0, 0, 50)),
    # A ? of a CTE is one more where its text stands once more.
    ("WITH w AS (SELECT * FROM t WHERE n > ?) SELECT (SELECT count(*) FROM w), ?9", (50, *[0] * 8)),
    (f"SELECT city, (SELECT count(*) FROM t WHERE {' AND '.join(['n IS NOT ?'] * 20)}) FROM u", (None,) * 20),
    # An arm's column has the affinity of the first arm's, unless SQLite moves conditions into arms, or takes them out of FROM.
    ("SELECT DISTINCT c FROM (SELECT city AS g, count(*) AS c, count(*) OVER () AS s FROM t WHERE kind IN (1, 4) GROUP BY 1 UNION ALL"
     " SELECT n, x, city FROM t WHERE n > 50) WHERE s IS NOT NULL AND c < '5'", ()),
    ("SELECT c < '5', count(*) FROM (SELECT city AS g, count(*) AS c FROM t GROUP BY 1 UNION ALL SELECT n, x FROM t WHERE n > 50)"
     " GROUP BY 1", ()),
    ("SELECT c < '5' FROM (SELECT count(*) + 1 AS c FROM t UNION ALL SELECT x FROM t WHERE n > 95) ORDER BY c", ()),
    ("SELECT c < '5' FROM (SELECT x AS c FROM t WHERE n > 95 UNION ALL SELECT n + 1 FROM t WHERE n > 97) ORDER BY c", ()),
    ("SELECT c < '5' FROM (SELECT count(*) || '' AS c FROM t UNION ALL SELECT n FROM t WHERE n > 97) ORDER BY c", ()),
    ("SELECT * FROM (SELECT n, n + 1 AS m FROM u UNION ALL SELECT kind, max(x) FROM t GROUP BY 1) WHERE m < '40'", ()),
    ("SELECT c < '5' FROM (SELECT count(*) AS c FROM t UNION ALL SELECT max(x) FROM t) ORDER BY c", ()),
    ("SELECT c < '5' FROM (SELECT max(x) AS c FROM t WHERE n > 98 UNION ALL SELECT x FROM t WHERE n > 95) ORDER BY c", ()),
    # A column that nothing reads, in an automatic index; and groups in a unit's order.
    ("SELECT a.c, b.c, a.s FROM (SELECT DISTINCT n AS g, city AS c, kind AS s FROM t) AS a JOIN"
     " (SELECT kind, count(*) AS c FROM t GROUP BY 1 UNION SELECT 1, 12) AS b ON a.c = b.c", ()),
    ("SELECT c AS z, count(*) FROM (SELECT kind g, sum(n) AS c FROM t GROUP BY 1 ORDER BY 2 DESC) AS q GROUP BY z", ()),
    # Where a name is that of a column behind another name, or of an alias in another arm.
    ("SELECT n, kind AS z, count(*) FROM t GROUP BY 1, 2 UNION ALL SELECT 5 AS kind, 6, 7 ORDER BY kind", ()),
    # The statement's columns get their names from a CTE around it.
    ("SELECT (SELECT sum(n) FROM t), 5 UNION ALL SELECT * FROM m LIMIT 30", ()),
    # 1 and 1.0 are equal, and differ as TEXT and in UNION, which gives the last one.
    ("SELECT any FROM mixed WHERE any || '' IN (SELECT CASE WHEN n > 5 THEN 1 ELSE 1.0 END FROM t WHERE n > 2)", ()),
    ("SELECT CASE n % 2 WHEN 1 THEN 1 ELSE 1.0 END FROM t WHERE n > 2 UNION SELECT any FROM mixed WHERE n > 2", ()),
    ("SELECT any FROM mixed WHERE n > 0 UNION SELECT 5", ()),
    ("SELECT DISTINCT CASE n % 2 WHEN 1 THEN 1 ELSE 1.0 END FROM t WHERE n > 2 UNION SELECT 5", ()),
    ("SELECT 5 UNION SELECT DISTINCT any FROM mixed UNION ALL SELECT 7", ()),
    # A subquery around a unit is a part of the join to SQLite.
    ("SELECT b.g, a.c FROM (SELECT g, c, s FROM (SELECT DISTINCT n AS g, x > 10 AS c, kind AS s FROM t)) AS a"
     " CROSS JOIN (SELECT city AS g, n AS c, id AS s FROM u) AS b ON a.c = b.c LIMIT 5", ()),
    # Where SQLite has statistics it makes an index for a subquery, and not for the same SELECT by itself: other rows are the first of their groups.
    *((f"SELECT (SELECT code FROM t WHERE trimmed = 'x' AND n > {n} GROUP BY 1 LIMIT 1) FROM t LIMIT 1", ()) for n in range(8)),
    # 'A' and 'a' are two values of the arm, and one of the compound, which is the last one.
    ("SELECT 'q' COLLATE NOCASE UNION SELECT CAST(CASE id % 3 WHEN 1 THEN 'a' ELSE 'A' END AS TEXT) FROM t WHERE id > 2", ()),
]

#: Statements that stay as they are, and why.
LEFT = {
    "it names the query around it": "SELECT city, (SELECT count(*) FROM t WHERE t.city = u.city) FROM u",
    "so it does, in double quotes": "SELECT (SELECT count(*) FROM t WHERE city = \"name\") FROM u",
    "it names itself": "WITH RECURSIVE w(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM w WHERE i < 9) SELECT * FROM w",
    "a table's name may be a word of SELECT": "SELECT window.n, b.n FROM u AS window, (SELECT kind, count(*) AS n FROM t GROUP BY 1 ORDER BY 2) AS b",
    "rows of a table": "SELECT a.n, b.city FROM (SELECT n, city FROM t WHERE n > 98) AS a JOIN u AS b USING (city)",
    "an order that SQLite leaves out": "SELECT * FROM (SELECT city, count(*) AS n FROM t GROUP BY 1 ORDER BY 2) ORDER BY n % 3",
    "two instants": "SELECT (SELECT count(*) FROM t WHERE day < date('now')), (SELECT count(*) FROM t WHERE day >= CURRENT_DATE)",
    "two instants, by parameters": "SELECT (SELECT count(*) FROM t WHERE day < date(?)), (SELECT count(*) FROM t WHERE day >= date(?))",
    "two instants, by formats": "SELECT (SELECT count(*) FROM t WHERE day < strftime('%Y')), strftime('%Y')",
    "two instants, in other words": "SELECT (SELECT count(*) FROM t WHERE day < date('no' || 'w')), date('NO' || 'w')",
    "two instants, by other functions": "SELECT (SELECT count(*) FROM t WHERE day < date(trim(' now'))), date(lower('Now'))",
    "two instants, to the millisecond": "SELECT (SELECT count(*) FROM t WHERE day < time('subsec')), (SELECT count(*) FROM t WHERE day < time('subsecond'))",
    "two instants, of the rows and of a subquery": "SELECT max(n), (SELECT count(*) FROM u WHERE city < date('now')) FROM t WHERE day < date('now')",
    "two instants, of ordinary views": "SELECT (SELECT sum(is_past) FROM Seen_Today), (SELECT count(*) FROM seen_lately WHERE n > is_past)",
    "two instants, of a view with quotes in its name": "SELECT (SELECT sum(is_past) FROM [it\"s seen]), (SELECT max(n) FROM t WHERE day < date('now'))",
    "JSON that is known as such": "SELECT json_array((SELECT json_group_array(kind) FROM t))",
    "groups in the order of the arms": "SELECT kind, 1 FROM t GROUP BY kind UNION ALL SELECT n, 2 FROM u ORDER BY 2 DESC",
    "an arm whose expressions tell how a column compares": "WITH a AS (SELECT city AS c FROM u UNION ALL SELECT max(city) || '' FROM t) SELECT * FROM a WHERE c = 12",
    "IN that ends early": "SELECT city, count(*) OVER () FROM u WHERE n IN (SELECT kind FROM t WHERE n > 2 LIMIT 9)",
    "EXISTS ends at the first row": "SELECT EXISTS (SELECT n FROM t WHERE n > 98)",
    "a statement that writes": "DELETE FROM u WHERE n > (SELECT count(*) FROM t)",
}

#: Rows of u with aggregates of t, which are a join to clreduce, with their parameters; and such that are none.
JOINED = [
    ("SELECT id, name, (SELECT count(*) FROM t WHERE t.kind = u.id) FROM u", ()),
    ("SELECT *, (SELECT sum(w.n) FROM t AS w WHERE u.id = w.kind AND w.n > 20) AS s FROM u ORDER BY s DESC, name LIMIT 4", ()),
    ("SELECT u.*, ( SELECT count(*) AS c FROM t WHERE t.n > ? AND t.kind = u.id) AS z, 5, (SELECT max(day) || '!' FROM t WHERE t.n > ?1 and t.kind = u.id\n)"
     " FROM u", (30,)),
    ("SELECT name, u.id, (SELECT count(*) FROM t WHERE t.n > :a AND kind = u.id), (SELECT avg(x) FROM t WHERE t.n > :a AND kind = u.id) FROM u WHERE u.n < :b",
     {"a": 30, "b": 3}),
    ("SELECT u.id, (SELECT count(5) FROM t WHERE kind = u.id) + 1 AS k, (SELECT sum(CASE WHEN t.n > 50 THEN 1 ELSE 0 END) FROM t WHERE kind = u.id), n FROM u"
     " ORDER BY 2, 1", ()),
    ('SELECT "u"."id", (SELECT COUNT(U0."id") AS "c" FROM "t" U0 WHERE (U0."kind" = ("u"."id") AND U0."n" > 3) GROUP BY U0."kind") AS "c", "u"."name" FROM "u"', ()),
    ("SELECT id, n, (SELECT count(DISTINCT w.n) FROM t w WHERE w.kind = p.id AND w.x BETWEEN 3 AND 300) FROM u p WHERE p.n < ? -- the end", (3,)),
    ("SELECT name, (SELECT count(*) FILTER (WHERE t.n > 50) FROM t WHERE t.kind = u.id), (SELECT max(n) NOTNULL FROM t WHERE t.kind = u.id) AS b,"
     " (SELECT CASE WHEN count(*) > 3 THEN max(n) END FROM t WHERE t.kind = u.id) AS c, (SELECT sum(n) c FROM t WHERE t.kind = u.id) FROM u", ()),
    ("SELECT -n, coalesce((SELECT max(w.n) FROM t w WHERE w.n = p.id), id) FROM u AS p ORDER BY (SELECT count(*) FROM t w WHERE w.n = p.id), 1", ()),
]
APART = [
    ("no aggregate", "SELECT id, (SELECT 5 FROM t WHERE t.kind = u.id) FROM u"),
    ("of the row around it", "SELECT id, (SELECT count(u.n) FROM t WHERE t.kind = u.id) FROM u"),
    ("no column of a key", "SELECT id, (SELECT count(*) FROM t WHERE t.kind = u.n) FROM u"),
    ("no equality", "SELECT id, (SELECT count(*) FROM t WHERE t.kind >= u.id) FROM u"),
    ("OR", "SELECT id, (SELECT count(*) FROM t WHERE t.kind = u.id OR t.n = 3) FROM u"),
    ("rows of several kinds", "SELECT id, (SELECT count(*) FROM t WHERE t.kind = u.id), (SELECT count(*) FROM t WHERE t.n = u.id) FROM u"),
    ("in a condition", "SELECT id FROM u WHERE (SELECT count(*) FROM t WHERE t.kind = u.id) > 200"),
    ("a function of the application's", "SELECT name, (SELECT told(count(*)) FROM t WHERE t.kind = u.id) FROM u"),
    ("an affinity", "SELECT name, (SELECT CAST(sum(n) AS TEXT) FROM t WHERE t.kind = u.id) > 5 FROM u"),
    ("a collating sequence", "SELECT name, (SELECT max(city) COLLATE NOCASE FROM t WHERE t.kind = u.id) = 'ord' FROM u"),
    ("an aggregate around it", "SELECT max(name), (SELECT count(*) FROM t WHERE t.kind = u.id), u.n FROM u"),
    ("an aggregate of all rows around it", "SELECT name, (SELECT count(*) FROM t WHERE t.kind = u.id), count(*) FROM u"),
    ("groups around it", "SELECT id, (SELECT count(*) FROM t WHERE t.kind = u.id) FROM u GROUP BY id"),
    ("a name that both tables have", "SELECT city, (SELECT count(*) FROM t WHERE t.kind = u.id) FROM u"),
    ("a string that would be a name", "SELECT id, 'x' || \"price\", (SELECT count(*) FROM t WHERE t.kind = u.id) FROM u"),
    ("another order", "SELECT id, (SELECT count(*) FROM t WHERE t.kind = u.id) FROM u WHERE city > 'A' AND +city = city ORDER BY city"),
]


def test_correlated(rng):
    """Rows with aggregates of another table."""
    db = open_database(rng, "UTF-8", has_indexes=False)
    told = []
    db.create_function("told", 1, told.append, deterministic=True)
    support.value(db, "SELECT clreduce_rewrite('SELECT name, (SELECT told(count(*)) FROM t WHERE t.kind = u.id) FROM u')")
    tap.is_equal(told, [], "no function of the application's is called while a statement is looked at")
    for change in ("SELECT 1", "UPDATE t SET kind = 7 WHERE n = 9", "DELETE FROM u WHERE id IN (1, 5)", "DELETE FROM t WHERE kind = 2", "DELETE FROM u"):
        batch = support.Batch(f"{change}: {len(JOINED)} statements with correlated subqueries, and {len(APART)} others")
        db.execute(change)
        for sql, values in JOINED:
            text = support.value(db, "SELECT clreduce_rewrite(?)", sql) or sql
            batch.check(not re.search(r"FROM \"?u\b", text), f"{sql} is a join: {text}")
            batch.compare(outcome(db, text, values), outcome(db, sql, values), f"{sql}\n{text}")
        for why, sql in APART:
            text = support.value(db, "SELECT clreduce_rewrite(?)", sql) or sql
            plan = [line for line, in db.execute("SELECT line FROM clreduce_plan(?)", (sql,))]
            batch.check(not any("LEFT JOIN" in line for line in plan), f"{why}: {plan}")
            batch.compare(outcome(db, text, ()), outcome(db, sql, ()), f"{sql}\n{text}")


@tap.each("UTF-8", "UTF-16le", "UTF-16be")
def test_blobs(rng, encoding):
    """BLOBs that subqueries give are numbers as SQLite reads them in that encoding."""
    db = open_database(rng, encoding, has_indexes=False)
    db.execute("INSERT INTO m VALUES (9, x'31'), (9, x'31003200'), (9, x'00310032')")
    for blob in ("max(b)", "min(b)"):
        sql = f"SELECT kind, gpu_sum((SELECT {blob} FROM m WHERE a = 9)), count(*) FROM t GROUP BY kind"
        text = support.value(db, "SELECT clreduce_rewrite(?)", sql) or sql
        tap.is_equal(outcome(db, text, ()), outcome(db, sql, ()), f"{encoding}: {blob}")


def test_directed(rng):
    """Which SELECTs are units."""
    db = open_database(rng, "UTF-8", has_indexes=False)
    for count, sql in COUNTED:
        text = support.value(db, "SELECT clreduce_rewrite(?)", sql) or ""
        tap.is_equal(text.count("FROM temp."), count, sql)
        tap.is_equal(outcome(db, text, ()), outcome(db, sql, ()), "the same")
    db.executescript("""
        CREATE VIEW seen_lately AS SELECT *, day < date('now') AS is_past FROM t; CREATE VIEW seen_today AS SELECT * FROM seen_lately;
    """)
    count = "SELECT (SELECT count(*) FROM t WHERE day < date('now')), (SELECT max(n) FROM t)"
    tap.ok(support.value(db, "SELECT clreduce_rewrite(?)", count) is not None, "one instant, with views that it does not read")
    db.execute("CREATE VIEW \"it\"\"s seen\" AS SELECT * FROM seen_lately")
    for why, sql in LEFT.items():
        tap.is_equal(support.value(db, "SELECT clreduce_rewrite(?)", sql), None, why)
    for change in ("", "CREATE INDEX by_kind ON t(kind); ANALYZE"):
        db.executescript(change)
        batch = support.Batch(f"{change}: {len(ANSWERED)} statements, as they are and rewritten")
        for sql, values in ANSWERED:
            text = support.value(db, "SELECT clreduce_rewrite(?)", sql)
            batch.compare(outcome(db, text or sql, values), outcome(db, sql, values), f"{sql}\n{text}")


support.run(globals())
