"""Accelerated views: what a SELECT may have beside its expressions, and many of these.

A view gives what its SELECT gives (clause 1 of view.h), and the queries here are accelerated.
"""

import support
import tap
import view_support as views
from domains import IndexedEdges

ROWS = 3_000


def fill(db):
    """A table of numbers and a few words."""
    support.table(db, "t(x INTEGER, r REAL, s TEXT)", ((i % 97, i / 8, f"s{i % 7}") for i in range(ROWS)))


def compare(batch, db, select, parameters=()):
    """The view v and its SELECT. Returns whether the view was accelerated."""
    got, want = views.ask(db, "v", parameters), views.outcome(db, select, parameters)
    batch.compare(got, want, f"{select} {parameters}")
    return views.accelerated(db, "v")


# ---- ORDER BY, LIMIT, OFFSET and DISTINCT of one row.


def test_one_row(db):
    """ORDER BY of one row, which changes nothing, is not evaluated; tests/sql/views.test has what it gives."""
    calls = []
    db.create_function("counted", 1, calls.append, deterministic=True)
    fill(db)
    for _ in range(2):
        views.is_fast(db, "SELECT gpu_sum(x) FROM t ORDER BY counted(7), 1 LIMIT 5")
    views.ask(db, "view_of_it")
    calls.clear()
    views.ask(db, "view_of_it")
    tap.is_equal(calls, [], "ORDER BY is not evaluated")


# ---- INTEGERs that no REAL can have.


def test_large_integers(rng):
    """Comparisons of INTEGERs that no REAL can have are accelerated."""
    table = IndexedEdges(rng, views.new(), "host")
    db = table.db
    for value in (435090932899640449, -(2**63), 2**63 - 1):
        for condition, values in ((f"i = {value}", ()), ("i = ?", (value,)), ("k < ?", (value,))):
            select = f"SELECT count(*) FROM t WHERE {condition}"
            views.agree(db, "v", select, values, f"{select}: {value}", anew=True)
            tap.ok(views.accelerated(db, "v"), f"... accelerated: {views.plan(db, 'v')[0]}")


# ---- Many aggregates.


@tap.each(*views.devices())
def test_many(device):
    """More aggregates than a device takes, and more than a view does."""
    views.warm(device)
    db = views.connect(views.new(), device=device)
    fill(db)
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
                accelerated = compare(batch, db, select, (7,) if where else ())
            batch.check(accelerated, f"{select[:60]}: {views.plan(db, 'v')[0]}")
    select = "SELECT " + ", ".join(["count(*)"] * 257) + " FROM t"
    views.create(db, "v", select)
    batch.check(not compare(batch, db, select), "257 aggregates are SQLite's")


views.run(globals())
