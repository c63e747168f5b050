"""Lookups keep for which rows they are true once they are asked again, and after a commit for the rows that stayed where
they were. Whatever changes between, a view gives what its SELECT gives.
"""

import contextlib

import support
import tap
import view_support as views

ROWS, KEYS = 20_000, 700
TEXT = f"'key ' || (i * 7919 % {KEYS})"
TABLES = (
    "CREATE TABLE d(id INTEGER PRIMARY KEY, region TEXT, rank INT)",
    support.numbered("d", KEYS, "i, substr('NSWE', i * 31 % 4 + 1, 1), i * 17 % 100"),
    "CREATE TABLE t(k INT, s TEXT, x INT)",
    support.numbered("t", ROWS, f"i * 7919 % {KEYS} + 1, {TEXT}, i"),
)
SELECTS = {
    "text": "SELECT count(*), gpu_sum(x) FROM t WHERE s LIKE '%7%'",
    "joined": "SELECT count(*), gpu_sum(x), max(x) FROM t JOIN d ON d.id = k WHERE region = 'S'",
    "both": "SELECT region, count(*), gpu_sum(x) FROM t JOIN d ON d.id = k WHERE s LIKE '%3_' AND rank < 60 GROUP BY region",
    "found": "SELECT rowid, x FROM t WHERE s LIKE '%77' ORDER BY x DESC LIMIT 7",
    "parameter": "SELECT count(*), gpu_sum(x) FROM t WHERE s LIKE ?1",
}


def changes(rng):
    """What may happen to the tables."""
    row = rng.randrange(1, ROWS)
    return rng.choice((
        f"INSERT INTO t SELECT k, s, x + 1 FROM t LIMIT {rng.randrange(1, 3000)}",
        f"INSERT INTO t(rowid, k, s, x) VALUES({-row}, {rng.randrange(1, KEYS)}, 'key 77', 5)",
        f"INSERT INTO t VALUES({KEYS + row}, 'new {row} 7', {row}), (NULL, NULL, 1), (3, 'key 3', 2)",
        f"UPDATE t SET k = k % {KEYS} + 1, s = 'key ' || (x % 97) WHERE rowid BETWEEN {row} AND {row + rng.randrange(3000)}",
        f"UPDATE t SET s = 'key 77' WHERE rowid = {row}",
        f"DELETE FROM t WHERE rowid BETWEEN {row} AND {row + rng.randrange(2000)}",
        "DELETE FROM t WHERE rowid > (SELECT max(rowid) FROM t) - 1500",
        f"UPDATE d SET region = 'S', rank = rank + 1 WHERE id % {rng.randrange(2, 9)} = 0",
        f"DELETE FROM d WHERE id = {rng.randrange(1, KEYS)}",
        "VACUUM",
    ))


def ask(db, rng, batch, step):
    """Asks each view so often, the last one with parameters of which some come again."""
    for name, select in SELECTS.items():
        for again in range(rng.choice((1, 2, 5))):
            parameters = (f"%{rng.choice((1, 1, 1, 2))}%",) if name == "parameter" else ()
            batch.compare(views.ask(db, name, parameters), views.outcome(db, select, parameters), f"{step}: {name}, {again}")


def test_changes(rng, batch):
    """Views that are asked again between changes, by this connection and by others."""
    for mode in ("WAL", "DELETE"):
        path = views.new()
        with contextlib.closing(views.connect(path)) as db, contextlib.closing(tap.connect(path)) as other:
            support.execute(db, f"PRAGMA journal_mode = {mode}", *TABLES)
            for name, select in SELECTS.items():
                views.create(db, name, select)
            ask(db, rng, batch, f"{mode}, at first")
            for _ in range(25):
                change = changes(rng)
                rng.choice((db, other)).execute(change).fetchall()
                ask(db, rng, batch, f"{mode}, {change}")


def test_memory(batch):
    """Without memory for truths the answers are the same."""
    with contextlib.closing(views.connect(views.new(), column_memory=1_000_000)) as db:
        support.execute(db, *TABLES)
        for name, select in SELECTS.items():
            views.create(db, name, select)
        for name in ("text", "joined", "both"):
            for again in range(5):
                batch.compare(views.ask(db, name), views.outcome(db, SELECTS[name]), f"{name}, {again}")


views.run(globals())
