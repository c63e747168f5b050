"""Subqueries in expressions when rights are refused and while another connection writes. tests/sql/subqueries.test has what they give."""

import support
import tap
import view_support as views
from domains import Subqueries, Texts, connect


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


def test_rights(rng):
    """An authorizer that refuses, or hides, what a subquery reads."""
    db = connect(views.new())
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
                tap.is_equal(views.ask(db, "asked"), views.outcome(db, select), f"{verdict} {when}: {select}")
                db.set_authorizer(None)


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
        path = views.new()
        db = connect(path, wait=0, journal_mode=mode)
        Texts.create(db, rng)
        support.execute(db, "CREATE TABLE version(v INT)", "INSERT INTO version VALUES(1)",
                        "UPDATE t SET n = 1, kind = CASE WHEN id % 100 = 7 THEN 1000 ELSE 1 END")
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


views.run(globals())
