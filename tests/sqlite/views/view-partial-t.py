"""Accelerated views whose WHERE a scan computes in part: it finds the few rows for which that part is
true, and SQLite runs the SELECT, with aggregates and GROUP BY or without, over these.

A view gives what its SELECT gives (clause 1 of view.h), in the same order.
"""

import support
import tap
import view_support as views
from domains import Partial

FOLDER = views.Folder()


def make(rng):
    """A database with the table."""
    db = views.connect(FOLDER.new())
    Partial.create(db, rng)
    return db


def test_asked(rng):
    """What is accelerated, and what is not."""
    db = make(rng)
    cases = (
        ("SELECT gpu_sum(y) FROM t WHERE x = 7 AND url LIKE '%1%'", True),
        ("SELECT gpu_sum(y) FROM t WHERE url LIKE '%1%' AND x = 7 AND ref > 'r2'", True),
        ("SELECT gpu_max(url) FROM t WHERE x = 7", True),
        ("SELECT gpu_sum(length(url || city)) FROM t WHERE x = 7", True),
        ("SELECT gpu_sum(y) FROM t WHERE x > 7 AND url LIKE '%1%'", True),
        ("SELECT gpu_sum(y) FROM t WHERE x = 7 OR url LIKE '%1%'", True),
        ("SELECT gpu_sum(y) FROM t WHERE url LIKE '%1%'", True),
        ("SELECT gpu_sum(y) FROM t WHERE x = 7 AND random() > length(url)", False),
        ("SELECT gpu_sum(y + random()) FROM t WHERE x = 7", False),
        ("SELECT url FROM t WHERE x = 7 AND url LIKE '%1%' LIMIT 1", False),
    )
    for select, fast in cases:
        views.create(db, "v", select)
        # Of what more rows pass is derived, when it is asked again.
        for _ in range(3):
            want, got = views.outcome(db, select), views.ask(db, "v")
        if "random" not in select:
            tap.is_equal(repr(got), repr(want), select)
        tap.is_equal(views.accelerated(db, "v"), fast, "is accelerated" if fast else "is not")
        db.execute("DROP TABLE temp.v")
    db.execute("CREATE INDEX i ON t(x)")
    views.create(db, "v", cases[0][0])
    tap.is_equal(views.ask(db, "v"), views.outcome(db, cases[0][0]), "with an index")
    tap.ok(not views.accelerated(db, "v"), "by which SQLite finds the rows")
    db.close()


def test_errors(rng):
    """An error of SQLite's is the view's, if a row has it."""
    db = make(rng)
    db.execute("UPDATE t SET ref = '{' WHERE id % 2 = 0")
    for select in ("SELECT count(*) FROM t WHERE x < 9 AND json_extract(ref, '$.' || city) IS NULL",
                   "SELECT gpu_sum(n * 9223372036854775807) FROM t WHERE x = 7 AND url > city",
                   "SELECT sum(abs(-9223372036854775807 - n)) FROM t WHERE n = 1 AND x = 7 AND url > city"):
        views.create(db, "v", select)
        for _ in range(2):
            tap.is_equal(repr(views.ask(db, "v")), repr(views.outcome(db, select)), select)
        db.execute("DROP TABLE temp.v")
    db.close()


def test_schemas(rng):
    """The SELECT of an ordinary view means tables of its own schema."""
    db = make(rng)
    db.execute("ATTACH ? AS other", (FOLDER.new(),))
    db.execute("CREATE TABLE other.t AS SELECT id, 7 AS x, y, url, city FROM main.t WHERE id < 3000")
    db.execute("UPDATE other.t SET x = id % 500")
    for name, select in (("part", "SELECT count(*), sum(y) FROM t WHERE x = 7 AND url || city > ''"),
                         ("found", "SELECT t.id, url FROM t WHERE x = 7")):
        db.execute(f"CREATE VIEW other.{name} AS {select}")
        want = views.outcome(db, f"SELECT * FROM other.{name}")
        db.execute(f"SELECT clreduce_accelerate('{name}')").fetchall()
        for _ in range(3):
            tap.is_equal(repr(views.outcome(db, f"SELECT * FROM {name}")), repr(want), f"{name}: the other schema's rows")
        tap.ok(views.accelerated(db, name), "by a scan")
    db.close()


def main():
    rng = support.seed()
    test_asked(rng)
    test_errors(rng)
    test_schemas(rng)
    tap.done()


main()
