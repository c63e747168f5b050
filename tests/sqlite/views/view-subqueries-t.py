"""Subqueries in expressions beside aggregates, groups and rows: SQLite evaluates them.

A view gives what its SELECT gives: with subqueries of any kind, over tables of any database, that
change between two queries, or are read by views; with errors in them; and where they name something
of the query around them, which is left to SQLite.
"""

import support
import tap
import view_support as views
from domains import Subqueries, Texts, connect
from view_support import is_fast

FOLDER = views.Folder()

#: What is about the query around it.
OUTER = (
    "(SELECT max(n) FROM places WHERE places.city = t.city)", "(SELECT count(*) FROM places WHERE kind > 3)",
    "(SELECT max(t.x) FROM places)", "EXISTS (SELECT 1 FROM places WHERE \"kind\" = 3)", "(SELECT t.rowid FROM places LIMIT 1)",
)


def set_up(db, rng):
    """The tables that subqueries read."""
    Texts.create(db, rng)
    Subqueries.create_others(db)


#: Views that are asked again and again.
ASKED = (
    "SELECT city, gpu_sum(x) AS s, (SELECT max(n) FROM places) FROM t GROUP BY city HAVING s > (SELECT min(n) FROM places)",
    "SELECT count(*), gpu_sum(x) - (SELECT total(n) FROM places), 'ORD' IN (SELECT city FROM places) FROM t",
    "SELECT kind, count(*) FROM t GROUP BY kind HAVING kind IN (SELECT n FROM places) ORDER BY kind + (SELECT count(*) FROM places)",
    "SELECT id, (SELECT count(*) FROM places WHERE places.n = t.kind) FROM t WHERE n = 7 AND kind > 3",
)


def test_changes(rng):
    """Views that stay, while what their subqueries read changes, also within a transaction."""
    db = connect(FOLDER.new())
    set_up(db, rng)
    for i, select in enumerate(ASKED):
        views.create(db, f"kept{i}", select)

    def agree(what, fast=True):
        for i, select in enumerate(ASKED):
            views.agree(db, f"kept{i}", select, (), f"{what}: {select}")
            verdict = views.plan(db, f"kept{i}")[0]
            if fast and "SELECT id" not in select:
                tap.ok(verdict.startswith("accelerated"), f"{what}: accelerated")

    agree("at first")
    db.execute("BEGIN")
    db.execute("UPDATE places SET n = 20 WHERE city = 'ORD'")
    agree("not committed", fast=False)
    db.rollback()
    agree("rolled back")
    db.execute("UPDATE places SET n = 6 WHERE city = 'ORD'")
    db.commit()
    agree("committed")
    db.execute("CREATE TEMP TABLE places(city, code, n, r)")
    agree("hidden by an empty table")
    db.execute("INSERT INTO temp.places VALUES('ORD', NULL, 9, 1)")
    agree("hidden by a table of temp")
    db.execute("DROP TABLE temp.places")
    db.execute("ALTER TABLE places RENAME TO places2")
    db.execute("CREATE VIEW places AS SELECT city, code, n + 1 AS n, r FROM places2")
    agree("a view in its place")
    db.execute("DROP VIEW places")
    agree("gone", fast=False)
    db.execute("CREATE TABLE other.places AS SELECT * FROM places2 WHERE n > 0")
    agree("of another database", fast=False)
    # A column that the subquery named is from now on one of the query around it.
    db.execute("CREATE TABLE near(kind INT, b INT)")
    db.execute("INSERT INTO near VALUES(100, 3)")
    db.commit()
    select = "SELECT kind, count(*), (SELECT max(kind) FROM near WHERE b < 9) FROM t GROUP BY kind"
    is_fast(db, select, name="near_view")
    db.execute("ALTER TABLE near RENAME COLUMN kind TO other")
    views.agree(db, "near_view", select, (), "a name that is one of the query around it")
    db.close()


def test_outer(rng):
    """What names something of the query around it is left to SQLite, with the reason."""
    db = connect(FOLDER.new())
    set_up(db, rng)
    for outer, name in zip(OUTER, ("no such column: t.city", "no such column: kind", "no such column: t.x", '"kind"', "no such column: t.rowid")):
        for select in (f"SELECT kind, city, count(*), {outer} FROM t GROUP BY kind, city", f"SELECT count(*), {outer} FROM t"):
            want = views.outcome(db, select)
            tap.is_equal(views.comparable(views.through_view(db, select)), views.comparable(want), select)
            tap.is_equal(views.plan(db, "view_of_it")[0],
                         f"row by row: a subquery that names something of the query around it is not accelerated: {name}", outer)
    for quoted in ("rowid", "k:0:text", "c:0", "c:source", "n"):
        select = f"SELECT city AS n, count(*), (SELECT \"{quoted}\" FROM places LIMIT 1) FROM t GROUP BY city"
        want = views.outcome(db, select)
        tap.is_equal(views.comparable(views.through_view(db, select)), views.comparable(want), f"{quoted} in quotes")
    db.execute("CREATE VIEW ordinary AS SELECT kind, count(*), (SELECT max(n) FROM places) FROM t GROUP BY kind")
    problem = views.outcome(db, "SELECT clreduce_accelerate('ordinary')")
    tap.ok("a subquery in an ordinary view" in problem.message, f"{problem}")
    db.close()


def test_rights(rng):
    """An authorizer that refuses, or hides, what a subquery reads."""
    db = connect(FOLDER.new())
    set_up(db, rng)
    for select in ASKED:
        views.create(db, "asked", select)
        for verdict in (1, 2, 0):
            for when in ("before", "after"):
                if when == "before":
                    views.ask(db, "asked")
                db.set_authorizer(
                    lambda action, table, column, *rest, verdict=verdict:
                    verdict if action == 20 and table == "places" and column in ("n", "city") else 0
                )
                want = views.outcome(db, select)
                tap.is_equal(views.comparable(views.ask(db, "asked")), views.comparable(want), f"{verdict} {when}: {select}")
                db.set_authorizer(None)
    db.close()


def meddle(writer):
    """Another version of all that test_transaction() reads, unless the database is locked."""
    try:
        writer.execute("UPDATE version SET v = v + 1")
        writer.execute("UPDATE t SET n = (SELECT v FROM version), kind = CASE WHEN kind = 1000 THEN 1"
                       " WHEN id % 100 = (SELECT 7 + v FROM version) THEN 1000 ELSE kind END")
        writer.commit()
    except views.ERRORS:
        writer.rollback()


def test_transaction(rng):
    """Subqueries, and rows that were found, are of the version that was scanned, whatever is
    committed meanwhile: by another connection, when the authorizer is asked about the groups."""
    for mode in ("WAL", "DELETE"):
        path = FOLDER.new()
        db = connect(path, wait=0)
        db.execute(f"PRAGMA journal_mode = {mode}")
        Texts.create(db, rng)
        db.execute("CREATE TABLE version(v INT)")
        db.execute("INSERT INTO version VALUES(1)")
        db.execute("UPDATE t SET n = 1, kind = CASE WHEN id % 100 = 7 THEN 1000 ELSE 1 END")
        db.commit()
        writer = connect(path, wait=0)
        for name, select in (("groups", "SELECT n, count(*), (SELECT v FROM version) FROM t GROUP BY n HAVING n >= (SELECT v FROM version)"),
                             ("plain", "SELECT gpu_max(n), (SELECT v FROM version) FROM t"),
                             ("rows", "SELECT id, n FROM t WHERE kind = 1000")):
            views.create(db, name, select)
            fast = 0
            for turn in range(3):
                before = db.execute("SELECT v FROM version").fetchone()[0]
                calls = [0, 0]

                def count(action, table, *rest, calls=calls):
                    # The last one is asked when the SELECT that finishes the query is prepared.
                    if action == 20 and table in ("clreduce_groups", "version"):
                        calls[0] += 1
                        if calls[0] == calls[1]:
                            meddle(writer)
                    return 0

                db.set_authorizer(count)
                db.execute(f"SELECT * FROM {name}").fetchall()
                db.set_authorizer(count)
                calls[:] = 0, calls[0]
                rows = db.execute(f"SELECT * FROM {name}").fetchall()
                db.set_authorizer(None)
                fast += views.accelerated(db, name)
                done = db.execute("SELECT v FROM version").fetchone()[0] - before
                fast += done == (mode == "WAL")
                if name == "rows":
                    tap.ok(len(rows) == 60 and len({n for _, n in rows}) == 1, f"{mode}: {name} of one version")
                else:
                    tap.ok(all(row[0] == row[-1] in (before, before + done) for row in rows) and rows, f"{mode}: {name} of one version: {rows}")
            tap.is_equal(fast, 6, f"{mode}: {name} were accelerated, and the other connection wrote if it could")
        writer.close()
        db.close()


def test_views(rng):
    """Subqueries that read views, which read views, and at last themselves."""
    db = connect(FOLDER.new())
    set_up(db, rng)
    views.create(db, "one", "SELECT kind, gpu_sum(x) AS s FROM t GROUP BY kind")
    views.create(db, "two", "SELECT n, count(*) AS c, (SELECT max(s) FROM one) AS m FROM t GROUP BY n HAVING n > (SELECT min(kind) FROM one)")
    select = "SELECT city, count(*), (SELECT sum(c) + max(m) FROM two) FROM t GROUP BY city"
    plain = select.replace("FROM two", "FROM (SELECT n, count(*) AS c, (SELECT max(s) FROM (SELECT gpu_sum(x) AS s FROM t GROUP BY kind)) AS m"
                                       " FROM t GROUP BY n HAVING n > (SELECT min(kind) FROM t))")
    tap.is_equal(views.through_view(db, select), views.outcome(db, plain), "a view of a view of a view")
    tap.ok(all(views.accelerated(db, name) for name in ("one", "two", "view_of_it")), "all three are accelerated")
    for last in ("SELECT kind, count(*) AS s, (SELECT max(m) FROM two) FROM t GROUP BY kind", "SELECT count(*) AS s, (SELECT max(m) FROM two) AS kind FROM t"):
        views.create(db, "one", last)
        problem = views.outcome(db, "SELECT * FROM one")
        tap.ok(isinstance(problem, views.Failure) and "nested more than 16 deep" in problem.message, f"an endless chain: {problem}")
    db.close()


def test_uses(rng):
    """What subqueries are left to SQLite for, and what an analyst asks."""
    db = connect(FOLDER.new())
    set_up(db, rng)
    db.execute("CREATE INDEX i ON places(n)")
    for select in ("SELECT kind, 100.0 * count(*) / (SELECT count(*) FROM t) AS share FROM t GROUP BY kind ORDER BY share DESC",
                   "SELECT city, gpu_avg(x) - (SELECT gpu_avg(x) FROM t) FROM t GROUP BY city",
                   "SELECT kind, count(*) FROM t GROUP BY kind HAVING count(*) > (SELECT count(*) / 30 FROM t) AND kind NOT IN (SELECT n FROM places WHERE n IS NOT NULL)",
                   "SELECT gpu_sum(x), (SELECT n FROM places WHERE n > 3 LIMIT 1), EXISTS (SELECT * FROM other.far) FROM t",
                   "SELECT id FROM t WHERE n = 7 AND kind = 3 ORDER BY (SELECT max(n) FROM places WHERE city = t.city), id",
                   "SELECT upper(city), count(*) FROM t GROUP BY 1 HAVING upper(city) IN (SELECT +code FROM places)",
                   "SELECT city, max(day) FROM t GROUP BY city HAVING min(city) IN (SELECT +code FROM places)",
                   "SELECT kind, count(*) FROM t WHERE n > 1000 GROUP BY kind HAVING (SELECT abs(-9223372036854775808) FROM places)",
                   "SELECT kind, count(*) FROM t GROUP BY kind HAVING count(*) > 1e6 AND (SELECT abs(-9223372036854775808) FROM places)",
                   "SELECT kind, (SELECT max(n) FROM places) FROM t GROUP BY kind ORDER BY count(*) + (SELECT min(n) FROM places) DESC, 1 LIMIT 2"):
        is_fast(db, select)
    place = "row by row: a subquery is not accelerated in this place: make it a parameter or a table"
    for select, why in (("SELECT count(*) FROM t WHERE n IN (SELECT n FROM places)", place),
                        ("SELECT count(*) FROM t GROUP BY n > (SELECT 1)", place),
                        ("SELECT DISTINCT (SELECT 1) FROM t", place),
                        ("SELECT gpu_sum(n + (SELECT 1)) FROM t", place),
                        ("SELECT count(*) FILTER (WHERE EXISTS (SELECT 1)) FROM t", place),
                        ("SELECT n, count(*) FROM (SELECT *, (SELECT 1) AS b FROM t) GROUP BY n", place),
                        ("SELECT n, count(*) FROM t GROUP BY n LIMIT (SELECT 1)", "row by row: LIMIT of this is not accelerated: write a literal or a parameter")):
        tap.is_equal(views.through_view(db, select), views.outcome(db, select), select)
        tap.is_equal(views.plan(db, "view_of_it")[0], why, f"why not {select}")
    db.close()


def main():
    rng = support.seed()
    test_uses(rng)
    test_changes(rng)
    test_outer(rng)
    test_rights(rng)
    test_transaction(rng)
    test_views(rng)
    tap.done()


main()
