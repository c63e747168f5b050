"""The setting override: sum, total and avg are gpu_sum, gpu_total and gpu_avg, and nothing else changes."""

import re
import sqlite3

import support
import tap
import view_support as views

ROWS = 3_000
NAMES = ("sum", "total", "avg")


def fill(db, rng):
    """A table whose sums have bits that no other order of adding gives."""
    support.execute(db, "BEGIN", "CREATE TABLE t(k INTEGER PRIMARY KEY, x REAL, i INTEGER, s TEXT, m)",
                    "CREATE INDEX ti ON t(i)")
    rows = ((rng.choice((1e16, -1e16, 0.1, 1.5, 3e-9)) * rng.random(), rng.randrange(97), f"{rng.random()}",
             rng.choice((None, 1, 2.5, "7", "x", b"3"))) for _ in range(ROWS))
    db.executemany("INSERT INTO t(x, i, s, m) VALUES (?, ?, ?, ?)", rows)
    db.execute("COMMIT")


def exact(sql):
    """The same query by the names that are always exact."""
    return re.sub(r"\b(sum|total|avg)\(", r"gpu_\1(", sql)


QUERIES = [
    "SELECT sum(x), total(x), avg(x) FROM t",
    "SELECT sum(i), total(i), avg(i), count(*), min(i), max(x) FROM t",
    "SELECT sum(m), total(m), avg(m), sum(s), avg(s) FROM t",
    "SELECT i, sum(x), avg(x) FROM t GROUP BY i ORDER BY i",
    "SELECT sum(DISTINCT i), sum(x) FILTER (WHERE i > 5), total(x) FROM t WHERE x > 0",
    "SELECT sum(x) OVER w, avg(x) OVER w, total(i) OVER w FROM t WINDOW w AS (ORDER BY k ROWS 7 PRECEDING)",
    "SELECT sum(x) OVER (PARTITION BY i ORDER BY k RANGE BETWEEN 5 PRECEDING AND CURRENT ROW EXCLUDE TIES) FROM t",
    "SELECT (SELECT sum(u.x) FROM t AS u WHERE u.i = t.i) FROM t WHERE k < 9",
    "SELECT sum(x), total(x), avg(x) FROM t WHERE 0",
    "SELECT sum(x) FROM t HAVING sum(x) IS NOT NULL",
]

PLANS = ["SELECT min(i) FROM t", "SELECT count(*) FROM t", "SELECT max(i), min(i) FROM t", "SELECT sum(i) FROM t",
         "SELECT i, avg(x) FROM t WHERE i > 5 GROUP BY i", "SELECT avg(i) FROM t WHERE i = 7"]


def setting(db):
    """The setting's value."""
    return support.value(db, "SELECT value FROM clreduce_settings WHERE name = 'override'")


def turn(db, value):
    """What setting it gives, or the error's text."""
    found = support.value(db, "SELECT clreduce_set('override', ?)", value)
    return found.message if isinstance(found, support.Failure) else found


def test_results(rng, path):
    """On, results are exact; another connection's are SQLite's."""
    db = views.connect(path)
    fill(db, rng)
    other = views.connect(path)
    plain = sqlite3.connect(path)
    support.execute(db, "CREATE VIEW inner_view AS SELECT i, sum(x) AS x, avg(m) AS m FROM t GROUP BY i", "CREATE TABLE log(x)")
    db.execute("CREATE TRIGGER tr AFTER INSERT ON log BEGIN UPDATE log SET x = (SELECT sum(x) FROM t); END")
    tap.is_equal(setting(db), "off", "off by default")
    batch = support.Batch("off")
    for sql in QUERIES:
        batch.compare(views.outcome(db, sql), views.outcome(plain, sql), sql)
    names = [row for row in plain.execute("PRAGMA function_list") if row[0] in NAMES]
    before = [db.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall() for sql in PLANS]
    tap.is_equal(turn(db, "on"), "on", "turned on")
    tap.is_equal(turn(db, "on"), "on", "and again")
    tap.is_equal(setting(db), "on", "which the settings show")
    batch = support.Batch("on")
    for sql in QUERIES:  # these statements are those from before, as Python keeps them
        batch.compare(views.outcome(db, sql), views.outcome(db, exact(sql)), sql)
        batch.compare(views.outcome(other, sql), views.outcome(plain, sql), f"another connection: {sql}")
    batch.check(any(views.outcome(db, sql) != views.outcome(plain, sql) for sql in QUERIES), "there is a difference")
    db.execute("PRAGMA trusted_schema = 0")
    batch.compare(views.outcome(db, "SELECT * FROM inner_view"),
                  views.outcome(db, "SELECT i, gpu_sum(x), gpu_avg(m) FROM t GROUP BY i"), "in a view")
    db.execute("INSERT INTO log VALUES (1)")
    batch.compare(views.outcome(db, "SELECT x FROM log"), views.outcome(db, "SELECT gpu_sum(x) FROM t"), "in a trigger")
    batch.compare([db.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall() for sql in PLANS], before, "indexes are used as before")
    batch.compare([row for row in other.execute("PRAGMA function_list") if row[0] in NAMES], names, "other connections' functions")
    batch.compare(views.outcome(db, "SELECT sum(column1) FROM (VALUES (9223372036854775807), (1), (-1))"),
                  [(9223372036854775807,)], "a total that fits, by way of one that does not")
    batch.compare(views.outcome(db, "SELECT sum(column1) FROM (VALUES (9223372036854775807), (1))").message,
                  "SQLITE_ERROR: integer overflow", "and one that does not")
    batch.compare(views.outcome(db, "SELECT sum(1, 2)").message,
                  "SQLITE_ERROR: wrong number of arguments to function sum()", "a wrong call")


def test_views(db, rng):
    """Accelerated views take the names for the exact ones, those from before too."""
    fill(db, rng)
    db.execute("CREATE VIEW ordinary AS SELECT sum(x) AS x, avg(x) AS a, total(i) AS n FROM t WHERE k > 9")
    selects = {
        "early": "SELECT sum(x), avg(x) + 1, total(x), count(*) FROM t",
        "mixed": "SELECT sum(x) FILTER (WHERE i > 3), gpu_sum(x), max(x), min(i) FROM t WHERE i < :most",
        "text": "SELECT sum(s), avg(m), sum(x) FROM t",
    }
    views.create_all(db, selects)
    tap.is_equal(support.value(db, "SELECT clreduce_accelerate()"), 1, "an ordinary view")
    for name, select in selects.items():
        views.agree(db, name, select, (50,) if ":" in select else (), f"off: {name}")
        tap.ok(not views.accelerated(db, name), f"off, SQLite runs {name}: {views.plan(db, name)[0]}")
    turn(db, "on")
    for name, select in selects.items():
        views.create(db, f"late_{name}", select)
        for view in (name, f"late_{name}"):
            parameters = (50,) if ":" in select else ()
            views.agree(db, view, select, parameters, f"on: {view}")
            tap.is_equal(views.ask(db, view, parameters), views.outcome(db, exact(select), parameters), "the exact ones")
            tap.ok(views.accelerated(db, view), f"{view}: {views.plan(db, view)[0]}")
    tap.is_equal(views.outcome(db, "SELECT * FROM ordinary"), views.outcome(db, "SELECT * FROM main.ordinary"), "ordinary")
    tap.ok(views.accelerated(db, "ordinary"), f"accelerated: {views.plan(db, 'ordinary')[0]}")

    class Mine:
        """An aggregate of the application's."""

        def step(self, value):
            """Takes a row."""

        def finalize(self):
            """Gives the same for all."""
            return -77

    want = views.outcome(db, "SELECT sum(x), avg(x) + 1, total(x), count(*) FROM t")
    db.create_aggregate("sum", 1, Mine)
    for name in ("early", "late_early"):
        got = db.execute(f"SELECT * FROM {name} AS again").fetchall()
        tap.is_equal(got, [(-77,) + want[0][1:]], f"the application's function goes before: {name}")
        tap.ok(not views.accelerated(db, name), f"{views.plan(db, name)[0]}")


def test_errors(db, rng):
    """What cannot be had."""
    fill(db, rng)
    tap.is_equal(turn(db, "off"), "off", "off is what it is")
    for value in ("1", "ON", "", None):
        tap.is_equal(turn(db, value), f"clreduce_set: override must be 'on' or 'off', not '{value or ('NULL' if value is None else '')}'",
                     f"{value!r}")
    db.create_function("total", 1, lambda x: x)
    tap.is_equal(turn(db, "on"), "clreduce_set: override: total() is a function of the application's", "its own function")
    tap.is_equal(setting(db), "off", "is left alone")
    db.close()
    db = views.connect(views.new())
    fill(db, rng)
    want = views.outcome(db, "SELECT gpu_sum(x) FROM t")
    cursor = db.execute("SELECT k FROM t ORDER BY k")
    cursor.fetchone()
    support.execute(db, "BEGIN", "INSERT INTO t(x) VALUES (0)")
    tap.is_equal(turn(db, "on"), "on", "in a transaction, while another statement runs")
    tap.is_equal(len(cursor.fetchall()), ROWS, "which goes on")
    tap.is_equal(views.outcome(db, "SELECT sum(x) FROM t"), want, "on")
    db.execute("ROLLBACK")
    tap.is_equal(turn(db, "off"), "clreduce_set: override cannot be turned off, as SQLite does not give back a function"
                 " that was replaced: open another connection", "there is no way back")
    tap.is_equal(setting(db), "on", "and so it stays on")
    tap.is_equal(views.outcome(db, "SELECT sum(x) FROM t"), want, "and exact")
    db.execute("CREATE VIEW w AS SELECT clreduce_set('override', 'on')")
    tap.raises(lambda: db.execute("SELECT * FROM w").fetchall(), "unsafe use of clreduce_set()", "not from a view")


views.run(globals())
