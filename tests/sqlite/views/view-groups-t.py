"""Accelerated views with GROUP BY and DISTINCT, and of rows that are found by a scan.

A view gives the rows of its SELECT, in the same order where SQLite does not read an index: keys of
every type, collation and affinity, expressions of them, HAVING, ORDER BY and LIMIT over groups, and
all aggregates, each of them for each group. SQLite itself fetches rows of which few pass WHERE.
"""

import json
import sqlite3

import support
import tap
import view_support as views
from domains import Affinities, Collations, Json, Texts, connect
from view_support import is_fast

#: Indexes that SQLite may read groups by, in orders that are not that of the keys.
INDEXES = (
    "t(a)", "t(a DESC)", "t(b, a)", "t(a, b)", "t(a, b DESC)", "t(b)", "t(b, a, x)", "t(a COLLATE NOCASE)",
    "t(x, b, a)", "t(upper(a))",
)


def test_indexes(rng):
    """The rows' order where SQLite reads an index, or the primary key."""
    for schema in ("id INTEGER PRIMARY KEY, a TEXT, b INT, x REAL",
                   "id INT, a TEXT, b INT, x REAL, PRIMARY KEY(b, id)",
                   "id INT, a TEXT, b INT, x REAL, PRIMARY KEY(a DESC, id)"):
        without = " WITHOUT ROWID" if "id)" in schema else ""
        db = connect(views.new())
        support.table(db, f"t({schema}){without}", (
            (i, rng.choice(("x", "Y", "zz", "", "x1")), rng.randint(1, 9), i / 8) for i in range(3_000)))
        batch = support.Batch(f"{schema}{without}: the order of the rows with indexes")
        tally = views.Tally()
        for index in (None, *INDEXES):
            db.execute("DROP INDEX IF EXISTS i")
            if index:
                db.execute(f"CREATE INDEX i ON {index}")
            for select in ("SELECT a, count(*) FROM t GROUP BY a", "SELECT a, b, gpu_sum(x) FROM t GROUP BY a, b",
                           "SELECT DISTINCT a FROM t", "SELECT DISTINCT b, a FROM t", "SELECT DISTINCT a, b FROM t",
                           "SELECT b, gpu_sum(x) FROM t WHERE a = 'x' GROUP BY b", "SELECT DISTINCT b FROM t WHERE a > 'x'",
                           "SELECT upper(a) AS u, count(*) FROM t GROUP BY u", "SELECT id % 5, count(*) FROM t GROUP BY 1",
                           "SELECT id, gpu_sum(x) FROM t WHERE id < 50 GROUP BY id", "SELECT a, b FROM t GROUP BY b, a",
                           "SELECT b, id FROM t WHERE id < 50 GROUP BY b, id", "SELECT a, b FROM t GROUP BY a, b ORDER BY b, a DESC",
                           "SELECT a, count(*) AS n FROM t GROUP BY a ORDER BY n / 1000", "SELECT DISTINCT a FROM t ORDER BY a DESC"):
                want = views.outcome(db, select)
                # Columns that SQLite fills are kept when they are asked for again.
                views.create(db, "view_of_it", select)
                for _ in range(4 if without else 1):
                    views.ask(db, "view_of_it")
                batch.compare(views.ask(db, "view_of_it"), want, f"{index}: {select}")
                tally.add(db, "view_of_it", hosts_own=True)
        tally.require(0.4, schema)


def test_collations(batch, rng, db):
    """Keys of other collating sequences: accelerated where no two of them are equal and yet differ,
    which may come and go."""
    Collations.create(db, rng)

    def ask(select):
        batch.compare(views.through_view(db, select), views.outcome(db, select), select)
        return views.plan(db, "view_of_it")[0]

    select = "SELECT code, gpu_sum(x) FROM t GROUP BY code"
    tap.is_equal(ask(select), "accelerated: host", "no two are equal")
    id_of = db.execute("SELECT id FROM t WHERE code = 'ORD' LIMIT 1").fetchone()[0]
    db.execute(f"UPDATE t SET code = 'ord' WHERE id = {id_of}")
    equal = "row by row: keys are equal by their collating sequence and yet differ: SQLite names the group by one of them"
    tap.is_equal(ask(select), equal, "one is written otherwise")
    tap.is_equal(ask(f"{select.replace('GROUP', 'WHERE id <> {} GROUP').format(id_of)}"), "accelerated: host", "and left out by WHERE")
    db.execute(f"UPDATE t SET code = 'ORD' WHERE id = {id_of}")
    tap.is_equal(ask(select), "accelerated: host", "and written back")
    support.execute(db, "BEGIN", "UPDATE t SET code = upper(code)")
    ask(select)
    db.rollback()
    tap.is_equal(ask(select), "accelerated: host", "taken back")
    db.execute("UPDATE t SET city = 'ab  ' WHERE id = 5")
    db.commit()
    tap.is_equal(ask("SELECT city, count(*) FROM t GROUP BY city COLLATE RTRIM"), equal, "spaces at the end")
    tap.is_equal(ask("SELECT city, count(*) FROM t GROUP BY city COLLATE NOCASE"), "accelerated: host", "which NOCASE sees")
    db.create_collation("backwards", lambda a, b: 0)
    tap.is_equal(ask("SELECT city, count(*) FROM t GROUP BY city COLLATE backwards"), equal, "all are equal")


def test_affinities(rng, db):
    """What a key is compared with is converted as in the SELECT, and its value and type are the column's."""
    Affinities.create(db, rng)
    for select in ("SELECT r, count(*) FROM t GROUP BY r HAVING r = 5 AND r / 2 = 2.5",
                   "SELECT r, count(*) FROM t GROUP BY r HAVING r = 5 AND typeof(r) = 'real'",
                   "SELECT CAST(i AS REAL), count(*) FROM t GROUP BY 1 HAVING CAST(i AS REAL) = 5 AND CAST(i AS REAL) / 2 = 2.5",
                   "SELECT likely(s), count(*), likely(s) IN (SELECT e FROM o) FROM t GROUP BY likely(s)",
                   "SELECT CAST(likely(s) AS TEXT), count(*), CAST(likely(s) AS TEXT) IN (SELECT e FROM o) FROM t GROUP BY 1",
                   "SELECT k, count(*) FROM (SELECT iif(s > 1, s, 0) AS k FROM t) GROUP BY k HAVING k IN (SELECT +e FROM o)"):
        is_fast(db, select)
    real = "SELECT r, count(*) FROM t GROUP BY r HAVING r = ?1 AND r / 2 = 2.5 AND typeof(r) = 'real'"
    is_fast(db, real, (5,))
    for wrapped in ("+i", "likely(i)", "unlikely(i)", "likelihood(i, 0.5)", "+likely(i)", "likely(+i)", "+m", "likely(m)", "+n", "(i)", "coalesce(i, 3)"):
        for inner in Affinities.inner:
            select = (f"SELECT i, m, i AS n, typeof(i), typeof(m), count(*) FROM t GROUP BY i, m"
                      f" HAVING {wrapped} IN (SELECT {inner.split()[0]} FROM o)")
            tap.is_equal(views.through_view(db, select), views.outcome(db, select), select)


def test_subtypes(db):
    """JSON functions tell JSON from other text as in the SELECT: of keys, of aggregates and of a subquery's columns."""
    Json.create(db)
    for select in ("SELECT json_array(n, count(*)), json_object('day', upper(j)) FROM t GROUP BY n, upper(j)",
                   "SELECT json_array(json(json(j))), json_array(json(j) || '') FROM t GROUP BY json(j)",
                   "SELECT json_array(json(max(json(j)))), json_array(max(n)), json_array(gpu_histogram(n, 0, 9, 3)) FROM t"):
        # Older versions have JSON functions as an application has its own, of which less is known.
        if sqlite3.sqlite_version_info >= (3, 38):
            is_fast(db, select)
    why = ("row by row: json_array() asks whether its argument is JSON, which is not known of a key, an aggregate or a subquery's column:"
           " write json(argument) if it is JSON, else argument || ''")
    for select in ("SELECT json_array(json_extract(j, '$.a')) FROM t GROUP BY json_extract(j, '$.a')", "SELECT json_array(max(json(j))) FROM t",
                   "SELECT json_array(x) FROM (SELECT json(j) AS x FROM t) GROUP BY 1"):
        tap.is_equal(views.through_view(db, select), views.outcome(db, select), select)
        tap.is_equal(views.plan(db, "view_of_it")[0], why, f"why not {select}")
    for select in ("SELECT json(j) AS x, count(*) FROM t GROUP BY json(j)", "SELECT max(json(j)) AS x FROM t", "SELECT json(j) AS x FROM t WHERE n = 3"):
        for threshold in (0, 100_000):
            support.configure(db, view_threshold=threshold)
            views.create(db, "json_view", select)
            want = {(json.dumps([x], separators=(",", ":")),) for (x, *_) in views.outcome(db, select)}
            tap.is_equal(set(views.outcome(db, "SELECT json_array(x) FROM json_view")), want, f"a view's column is TEXT, view_threshold {threshold}: {select}")


def test_rights(rng, db):
    """An authorizer that hides, or refuses, what it does not know: the table of groups."""
    Texts.create(db, rng)
    selects = ("SELECT city, gpu_sum(x) FROM t GROUP BY city", "SELECT DISTINCT kind FROM t",
               "SELECT * FROM t WHERE n = 7 AND kind = 3", "SELECT kind + 1, count(*) FROM t GROUP BY 1 HAVING count(*) > 3")
    for select in selects:
        is_fast(db, select)
        want = views.outcome(db, select)
        for verdict, hidden in ((2, "k:0:text"), (2, "k:0:numeric"), (2, "k:0:real"), (2, "k:0:blob"), (2, "c:0"), (2, "source"), (1, "source"), (2, "")):
            db.set_authorizer(
                lambda action, table, column, *rest, verdict=verdict, hidden=hidden:
                verdict if action == 20 and table == "clreduce_groups" and column == hidden else 0
            )
            tap.is_equal(views.through_view(db, select), want, f"{hidden!r} is {'hidden' if verdict == 2 else 'denied'}")
            db.set_authorizer(None)


def test_kept_values(rng, db):
    """Values of a view outlive the rows that they were in."""
    Texts.create(db, rng)
    views.create(db, "g", "SELECT city, day, gpu_sum(x) AS s FROM t WHERE n > :least GROUP BY city, day")
    select = "SELECT city, day, gpu_sum(x) AS s FROM t WHERE n > {} GROUP BY city, day"
    asked = "SELECT max(city), min(day), max(length(city)) FROM (SELECT 0 AS n UNION ALL SELECT 40 UNION ALL SELECT 90), g(n)"
    parts = " UNION ALL ".join(f"SELECT * FROM ({select.format(n)})" for n in (0, 40, 90))
    want = views.outcome(db, f"SELECT max(city), min(day), max(length(city)) FROM ({parts})")
    tap.is_equal(views.outcome(db, asked), want, "the greatest of several answers")
    pair = views.outcome(db, "SELECT a.city, b.city, a.s FROM g(80) AS a, g(90) AS b WHERE a.day = b.day ORDER BY 1, 2, 3")
    want = views.outcome(db, f"SELECT a.city, b.city, a.s FROM ({select.format(80)}) AS a, ({select.format(90)}) AS b"
                             " WHERE a.day = b.day ORDER BY 1, 2, 3")
    tap.is_equal(pair, want, "one view beside itself")


def test_reading(db):
    """Rows that are read while the table changes."""
    support.execute(db, "CREATE TABLE z (k, n INTEGER)", support.numbered("z", 60_000, "'a' || i % 9, i"))
    select = "SELECT k, count(*) FROM z GROUP BY k"
    want = db.execute(select).fetchall()
    views.create(db, "p", select)
    rows = db.execute("SELECT * FROM p")
    got = [rows.fetchone()]
    db.execute("DELETE FROM z WHERE k = 'a1'")
    tap.ok(got + rows.fetchall() == want, "rows of before a change")
    want = db.execute(select).fetchall()
    db.execute("INSERT INTO z SELECT * FROM p")
    tap.ok(db.execute("SELECT k, n FROM z ORDER BY rowid DESC LIMIT ?", (len(want),)).fetchall() == want[::-1],
           "rows that go into their table")


views.run(globals(), db=lambda _: connect(views.new()))
