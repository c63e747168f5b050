"""States: F_state, F_merge and F_state_merge of every function F, against F itself over all rows.

However the rows are split, shuffled and merged again, the answer has the bits and the type of the
answer without a split, and a state has the same bytes.
"""

import os
import tempfile

import support
import tap
from kinds import KINDS
from moment_kinds import GROUPS
from state_bytes import state
from state_calls import (FAMILIES, FUNCTIONS, SMALL_STATE, call, column, columns, fill, keep_states, numbered)

SIZES = (0, 1, 5, 40) if tap.QUICK else (0, 1, 2, 7, 40, 150, 1000)


def same(batch, db, got, want, what):
    """Compares what two queries give, which may be an error."""
    batch.compare(support.value(db, got), support.value(db, want), f"{what}: {got}")


def hostile(rng, size):
    """About so many rows, of small groups that are hard for a statistic."""
    kinds = list(GROUPS.values())
    return [(x, y) for _ in range(size // 4) for y, x in rng.choice(kinds)(rng)]


CONNECTIONS = (("host", support.connect()), *((f"{mode}, small chunks", support.connect(mode, **support.SMALL)) for mode in support.modes()))


@tap.each(*CONNECTIONS)
def test_splits(rng, label, db):
    """A check for each kind of data: any split, any order, states of states, and the same bytes."""
    for kind, rows_of in (KINDS | {"hostile groups": hostile}).items():
        batch = support.Batch(f"{kind}, {label}")
        for size in SIZES:
            rows = rows_of(rng, size)
            parts = rng.choice((1, 2, 5, 30))
            given = numbered([rng.randrange(parts) for _ in rows], rows)
            fill(db, given)
            before = db.execute(f"SELECT {columns('_state')} FROM t").fetchone()
            batch.check(all(isinstance(state, bytes) for state in before), f"{size} rows: BLOBs")
            keep_states(db)
            for function in FUNCTIONS:
                check_merges(rng, batch, db, function, f"{size} rows in {parts} parts")
            rng.shuffle(given)
            fill(db, given)
            after = db.execute(f"SELECT {columns('_state')} FROM t").fetchone()
            batch.compare(after, before, f"the states of {size} rows, shuffled")


def check_merges(rng, batch, db, function, what):
    """The states in s, merged in a random order, by twos and threes, and into a state."""
    name = column(function)
    factor = rng.randrange(1, 10**6)
    shuffled = f"(SELECT {name}, part FROM s ORDER BY (part + 7) * {factor} % 10007 LIMIT -1)"
    whole = f"SELECT {call(function)} FROM t"
    same(batch, db, f"SELECT {function}_merge({name}) FROM {shuffled}", whole, what)
    divisor = rng.choice((2, 3))
    nested = (
        f"SELECT {function}_merge(state) FROM (SELECT {function}_state_merge({name}) AS state"
        f" FROM {shuffled} GROUP BY part % {divisor})"
    )
    same(batch, db, nested, whole, what)
    state = f"SELECT {call(function, '_state')} FROM t"
    same(batch, db, f"SELECT {function}_state_merge({name}) FROM {shuffled}", state, what)


def test_bytes(batch, rng, db):
    """The bytes are those of the format's description."""
    for kind, rows_of in KINDS.items():
        for size in (0, 1, 2, 5, 30):
            rows = rows_of(rng, size)
            fill(db, numbered([0] * len(rows), rows))
            states = db.execute(f"SELECT {columns('_state')} FROM t").fetchone()
            for function, got in zip(FUNCTIONS, states):
                batch.compare(got, state(function, rows), f"{function} of {size} rows, {kind}")
    for low, high, bins in ((0, 10, 5), (-0.5, 100, 2), (-(2**63), 2.0**63, 1), (0.1, 7, 1_000_000), (-3, 2.0**53, 40)):
        for size in (0, 1, 3, 50):
            rows = [(rng.choice((rng.randint(-3, 12), rng.randint(-9, 9) / 4, 2.0**80)), None) for _ in range(size)]
            fill(db, numbered([0] * size, rows))
            got = db.execute("SELECT gpu_histogram_state(x, ?, ?, ?) FROM t", (low, high, bins)).fetchone()[0]
            batch.compare(got, state("gpu_histogram", rows, (low, high, bins)), f"{bins} bins from {low} to {high} of {rows}")


def test_nothing(db):
    """No rows, and nothing but NULLs: the state of no rows, and the answer of no rows."""
    fill(db, [])
    for function in FUNCTIONS:
        batch = support.Batch(f"{function}: nothing to merge")
        want = f"SELECT {call(function)} FROM t"
        state = f"SELECT {call(function, '_state')} AS s FROM t"
        for source in ("SELECT 1 AS s WHERE 0", "SELECT NULL AS s", state):
            same(batch, db, f"SELECT {function}_merge(s) FROM ({source})", want, "the answer")
            same(batch, db, f"SELECT {function}_state_merge(s) FROM ({source})", state, "the state")
        batch.compare(support.value(db, f"SELECT typeof(s) FROM ({state})"), "blob", "the type")


def test_families(rng, db):
    """The functions of a family give the same states, and so take one another's."""
    rows = KINDS["integers and reals, close"](rng, 50)
    fill(db, numbered([i % 4 for i in range(50)], rows))
    keep_states(db)
    for family in FAMILIES:
        batch = support.Batch(f"{', '.join(family)}: one kind of state")
        for giver in family:
            for taker in family:
                same(
                    batch,
                    db,
                    f"SELECT {taker}_merge({column(giver)}) FROM s",
                    f"SELECT {call(taker)} FROM t",
                    f"states of {giver}",
                )
                batch.check(
                    not support.value(db, f"SELECT count(*) FROM s WHERE {column(giver)} IS NOT {column(taker)}"),
                    f"the bytes of {giver} and {taker}",
                )


#: Frames, and the same as a condition on the rowid of what is in them.
FRAMES = (
    ("ROWS 2 PRECEDING", "BETWEEN r.i - 2 AND r.i"),
    ("ROWS BETWEEN 5 PRECEDING AND 2 PRECEDING", "BETWEEN r.i - 5 AND r.i - 2"),
    ("ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING", "BETWEEN r.i - 1 AND r.i + 1"),
    ("ROWS UNBOUNDED PRECEDING", "<= r.i"),
)


@tap.each(*CONNECTIONS)
def test_windows(rng, label, db):
    """Rows, and states, enter and leave: the states and answers of each frame are as if alone."""
    size = 24 if tap.QUICK else 100
    for kind in ("small integers", "mixed types", "infinities", "cancelling", "all exponents"):
        rows = KINDS[kind](rng, size)
        fill(db, numbered(range(size), rows))
        db.execute("DROP TABLE IF EXISTS r")
        db.execute(f"CREATE TABLE r AS SELECT part + 1 AS i, {columns('_state')} FROM t GROUP BY part")
        for frame, condition in FRAMES:
            batch = support.Batch(f"{frame}, {kind}, {label}")
            over = f"OVER (ORDER BY rowid {frame})"
            for function in FUNCTIONS:
                state, name = call(function, "_state"), column(function)
                within = f"FROM t WHERE t.rowid {condition}"
                got = support.rows(db, f"SELECT {state} {over} FROM t ORDER BY rowid")
                want = support.rows(db, f"SELECT (SELECT {state} {within}) FROM r ORDER BY i")
                batch.compare(got, want, f"{function}_state")
                over_states = over.replace("rowid", "i")
                want = support.rows(db, f"SELECT (SELECT {call(function)} {within}) FROM r ORDER BY i")
                got = support.rows(db, f"SELECT {function}_merge({name}) {over_states} FROM r ORDER BY i")
                batch.compare(got, want, f"{function}_merge")
                want = support.rows(db, f"SELECT (SELECT {state} {within}) FROM r ORDER BY i")
                got = support.rows(db, f"SELECT {function}_state_merge({name}) {over_states} FROM r ORDER BY i")
                batch.compare(got, want, f"{function}_state_merge")


def test_shards(batch, rng):
    """Tables in files of their own, attached: their states give the answer of one table."""
    rows = KINDS["cancelling"](rng, 500) + KINDS["any integers"](rng, 500)
    rng.shuffle(rows)
    with tempfile.TemporaryDirectory() as folder:
        db = support.connect()
        fill(db, numbered([0] * len(rows), rows))
        shards = ("north", "south", "west", "empty")
        for number, shard in enumerate(shards):
            db.execute("ATTACH ? AS ?", (os.path.join(folder, shard + ".db"), shard))
            db.execute(f"CREATE TABLE {shard}.part(x, y)")
            db.execute(f"INSERT INTO {shard}.part SELECT x, y FROM t WHERE rowid % 3 = {number}")
        for function in FUNCTIONS:
            states = " UNION ALL ".join(f"SELECT {call(function, '_state')} AS s FROM {shard}.part" for shard in shards)
            same(batch, db, f"SELECT {function}_merge(s) FROM ({states})", f"SELECT {call(function)} FROM t", function)
        db.close()


def test_kept(rng):
    """States that were kept in a file are read by another connection, with other settings."""
    rows = KINDS["mixed types"](rng, 300)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "states.db")
        db = support.connect(path=path)
        fill(db, numbered([i % 24 for i in range(300)], rows))
        keep_states(db)
        db.close()
        for mode in support.modes():
            db = support.connect(mode, path=path, **support.SMALL)
            batch = support.Batch(f"states kept in a file, {mode}")
            for function in FUNCTIONS:
                check_merges(rng, batch, db, function, "kept")
            db.close()


def test_sizes(db):
    """A state of a few integers takes tens of bytes."""
    fill(db, [(0, i, 7 - i) for i in range(5)])
    small = db.execute(f"SELECT {columns('_state')} FROM t").fetchone()
    sizes = {name: len(state) for name, state in zip(FUNCTIONS, small)}
    for function in ("gpu_sum", "gpu_dot", "gpu_min", "gpu_max", "gpu_var_pop", "gpu_corr"):
        size = sizes[function]
        tap.ok(size <= SMALL_STATE, f"{function}: a state of five integers takes {size} bytes")
    fill(db, [(0, 1e308, 1e-308), (0, -5e-324, 5e-324), (0, 0.1, 3)])
    large = db.execute(f"SELECT {columns('_state')} FROM t").fetchone()
    tap.diag(f"of three REALs that are far apart: {max(map(len, large))} bytes at the most")


def test_device():
    """A device has done some of it."""
    if not support.skip_device(1, "states on a device"):
        support.took_part(CONNECTIONS[-1][1], "the states")


support.run(globals(), db=support.connect())
