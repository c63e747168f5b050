"""Accelerated views: what a SELECT may have beside its expressions, from the names in it to its LIMIT.

A view gives what its SELECT gives (clause 1 of view.h), and the queries here are accelerated.
"""

import support
import tap
import view_support as views
from domains import IndexedEdges

FOLDER = views.Folder()
ROWS = 3_000


def fill(db, table, factor=1):
    """A table of numbers and a few words."""
    db.execute(f"CREATE TABLE {table}(x INTEGER, r REAL, s TEXT)")
    db.executemany(
        f"INSERT INTO {table} VALUES (?, ?, ?)",
        ((factor * (i % 97), i / 8, f"s{i % 7}") for i in range(ROWS)),
    )


def compare(batch, db, name, select, parameters=(), what=""):
    """A view and its SELECT. Returns whether the view was accelerated."""
    got, want = views.ask(db, name, parameters), views.outcome(db, select, parameters)
    batch.compare(views.comparable(got), views.comparable(want), f"{what}{select} {parameters}")
    return views.accelerated(db, name)


# ---- Names of three parts.

THREE_PARTS = {
    "in_main": "SELECT gpu_sum(main.t.x), count(*) FROM t WHERE main.t.s = 's3'",
    "in_main_quoted": 'SELECT gpu_sum("MAIN".[T].`x`), count("main".t.rowid) FROM t WHERE x > 5',
    "all_in_main": "SELECT gpu_max(main.t.r) FROM main.t WHERE main.t.x BETWEEN 2 AND 50",
}

#: After each of these the views are asked: the schema that t is in changes.
CHANGES = [
    "SELECT 1",
    "CREATE TEMP TABLE t(x, r, s)",
    "INSERT INTO temp.t VALUES (1, 2, 's3')",
    "DROP TABLE temp.t",
    "ALTER TABLE main.t RENAME TO u",
    "ALTER TABLE main.u RENAME TO t",
    "CREATE TEMP VIEW t AS SELECT 11 AS x, 12 AS r, 's3' AS s",
    "DROP VIEW temp.t",
    "DETACH b",
    "SELECT 1",
]


def test_three_parts():
    """The schema that FROM leaves out."""
    db = views.connect(FOLDER.new(), isolation_level=None, cached_statements=0)
    db.execute("ATTACH ? AS b", (FOLDER.new(),))
    fill(db, "b.t", -3)
    views.create(db, "in_b", "SELECT gpu_sum(b.t.x) FROM t WHERE B.t.r > 5")
    batch = support.Batch("names of three parts")
    batch.check(compare(batch, db, "in_b", "SELECT gpu_sum(b.t.x) FROM t WHERE B.t.r > 5"), "in b")
    fill(db, "main.t")
    compare(batch, db, "in_b", "SELECT gpu_sum(b.t.x) FROM t WHERE B.t.r > 5", (), "no more: ")
    for name, select in THREE_PARTS.items():
        batch.check(views.create(db, name, select) is None, f"created: {select}")
    accelerated = 0
    for change in CHANGES:
        db.execute(change)
        for name, select in THREE_PARTS.items():
            accelerated += compare(batch, db, name, select, (), f"{change}: ")
    batch.check(accelerated >= 12, f"{accelerated} accelerated")
    db.execute("CREATE TEMP TABLE w AS SELECT x FROM main.t")
    select = "SELECT gpu_sum(temp.w.x) FROM w"
    views.create(db, "in_temp", select)
    for _ in range(4):
        last = compare(batch, db, "in_temp", select)
    batch.check(last, f"a temporary table: {views.plan(db, 'in_temp')[0]}")
    batch.end()
    db.close()


# ---- ORDER BY, LIMIT, OFFSET and DISTINCT of one row.


def test_one_row():
    """ORDER BY of one row, which changes nothing, is not evaluated; tests/sql/views.test has what it gives."""
    db = views.connect(FOLDER.new(), isolation_level=None)
    calls = []
    db.create_function("counted", 1, calls.append, deterministic=True)
    fill(db, "t")
    for _ in range(2):
        views.is_fast(db, "SELECT gpu_sum(x) FROM t ORDER BY counted(7), 1 LIMIT 5")
    views.ask(db, "view_of_it")
    calls.clear()
    views.ask(db, "view_of_it")
    tap.is_equal(calls, [], "ORDER BY is not evaluated")
    db.close()


# ---- INTEGERs that no REAL can have.


def test_large_integers(rng):
    """Comparisons of INTEGERs that no REAL can have are accelerated."""
    table = IndexedEdges(rng, FOLDER.new(), "host")
    db = table.db
    for value in (435090932899640449, -(2**63), 2**63 - 1):
        for condition, values in ((f"i = {value}", ()), ("i = ?", (value,)), ("k < ?", (value,))):
            select = f"SELECT count(*) FROM t WHERE {condition}"
            views.create(db, "v", select)
            views.agree(db, "v", select, values, f"{select}: {value}")
            tap.ok(views.accelerated(db, "v"), f"... accelerated: {views.plan(db, 'v')[0]}")
    db.close()


# ---- Many aggregates.


def test_many(device):
    """More aggregates than a device takes, and more than a view does."""
    held = views.warm(device)
    db = views.connect(FOLDER.new(), device=device, isolation_level=None)
    fill(db, "t")
    numbers = range(90)
    columns = ["sum(x + {})", "gpu_sum(r * {})", "gpu_avg(x) + {}", "count(*) FILTER (WHERE x > {})"]
    lists = [", ".join(column.format(i) for i in numbers) for column in columns]
    lists.append(", ".join(f"gpu_corr(x + {i % 30}, r), gpu_min(r - {i})" for i in numbers))
    lists.append(", ".join(f"gpu_max(x % {i + 2})" for i in range(256)))
    lists.append(", ".join(f"gpu_percentile(x, {i % 50})" for i in range(256)))
    batch = support.Batch(f"many aggregates: {device}")
    for chosen in lists:
        for where in ("", " WHERE s <> 's1' AND x > ?"):
            select = f"SELECT {chosen} FROM t{where}"
            views.create(db, "v", select)
            for _ in range(2):
                accelerated = compare(batch, db, "v", select, (7,) if where else ())
            batch.check(accelerated, f"{select[:60]}: {views.plan(db, 'v')[0]}")
    select = "SELECT " + ", ".join(["count(*)"] * 257) + " FROM t"
    views.create(db, "v", select)
    batch.check(not compare(batch, db, "v", select), "257 aggregates are SQLite's")
    batch.end()
    db.close()
    held.close()


def main():
    """Runs the tests."""
    for device in views.devices():
        test_many(device)
    rng = support.seed()
    test_large_integers(rng)
    test_three_parts()
    test_one_row()
    tap.done()


main()
