"""States: F_state, F_merge and F_state_merge of every function F, against F itself over all rows.

However the rows are split, shuffled and merged again, the answer has the bits and the type of the
answer without a split, and a state has the same bytes. What is no state of the function is refused.
"""

import os
import tempfile

import statistics_reference as statistics
import support
import tap
from kinds import KINDS
from moment_kinds import GROUPS
from reference import Failure

FUNCTIONS = support.FUNCTIONS + statistics.FUNCTIONS + ("gpu_histogram",)

#: Which functions take one another's states.
FAMILIES = (
    ("gpu_sum", "gpu_total", "gpu_avg"),
    ("gpu_dot",),
    ("gpu_min",),
    ("gpu_max",),
    statistics.SINGLE,
    statistics.PAIRED,
    ("gpu_histogram",),
)

SIZES = (0, 1, 5, 40) if tap.QUICK else (0, 1, 2, 7, 40, 150, 1000)

#: Bytes that a state of a few small integers may take.
SMALL_STATE = 40


def call(function, suffix="", x="x", y="y"):
    """The text of a call of the function, or of its state, for the columns."""
    if function == "gpu_histogram":  # of numbers alone
        return f"{function}{suffix}(iif(typeof({x}) IN ('integer', 'real'), {x}, NULL), -5, 9.5, 7)"
    if function in statistics.FUNCTIONS:
        text = statistics.call(function, y, x)
    else:
        text = support.call(function, x, y)
    return text.replace("(", suffix + "(", 1)


def column(function):
    """The column of a table of states that has those of the function."""
    return function[len("gpu_") :]


def columns(suffix="", source=call):
    """A list of all functions' calls, each with the name of its column."""
    return ", ".join(f"{source(name, suffix)} AS {column(name)}" for name in FUNCTIONS)


def numbered(parts, rows):
    """Rows (x, y) with a part each."""
    return [(part, x, y) for part, (x, y) in zip(parts, rows)]


def fill(db, rows):
    """The table t(part, x, y)."""
    db.execute("DROP TABLE IF EXISTS t")
    db.execute("CREATE TABLE t(part, x, y)")
    db.execute("BEGIN")
    db.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
    db.execute("COMMIT")


def keep_states(db):
    """The table s: all functions' states for each part of t, for no rows at all, and NULLs."""
    db.execute("DROP TABLE IF EXISTS s")
    db.execute(f"CREATE TABLE s AS SELECT part, {columns('_state')} FROM t GROUP BY part")
    db.execute(f"INSERT INTO s SELECT -1, {columns('_state')} FROM t WHERE 0")
    db.execute("INSERT INTO s(part) VALUES (-2), (-3)")


def same(batch, db, got, want, what):
    """Compares what two queries give, which may be an error."""
    batch.compare(support.value(db, got), support.value(db, want), f"{what}: {got}")


def hostile(rng, size):
    """About so many rows, of small groups that are hard for a statistic."""
    kinds = list(GROUPS.values())
    return [(x, y) for _ in range(size // 4) for y, x in rng.choice(kinds)(rng)]


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
        batch.end()


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
        batch.end()


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
                    not support.value(
                        db, f"SELECT count(*) FROM s WHERE {column(giver)} IS NOT {column(taker)}"
                    ),
                    f"the bytes of {giver} and {taker}",
                )
        batch.end()


#: Frames, and the same as a condition on the rowid of what is in them.
FRAMES = (
    ("ROWS 2 PRECEDING", "BETWEEN r.i - 2 AND r.i"),
    ("ROWS BETWEEN 5 PRECEDING AND 2 PRECEDING", "BETWEEN r.i - 5 AND r.i - 2"),
    ("ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING", "BETWEEN r.i - 1 AND r.i + 1"),
    ("ROWS UNBOUNDED PRECEDING", "<= r.i"),
)


def test_windows(rng, label, db):
    """Rows, and states, enter and leave: the states and answers of each frame are as if alone."""
    size = 40 if tap.QUICK else 100
    for kind in ("small integers", "mixed types", "infinities", "cancelling", "all exponents"):
        rows = KINDS[kind](rng, size)
        fill(db, numbered(range(size), rows))
        db.execute("DROP TABLE IF EXISTS r")
        db.execute(
            f"CREATE TABLE r AS SELECT part + 1 AS i, {columns('_state')} FROM t GROUP BY part"
        )
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
                want = support.rows(
                    db, f"SELECT (SELECT {call(function)} {within}) FROM r ORDER BY i"
                )
                got = support.rows(
                    db, f"SELECT {function}_merge({name}) {over_states} FROM r ORDER BY i"
                )
                batch.compare(got, want, f"{function}_merge")
                want = support.rows(db, f"SELECT (SELECT {state} {within}) FROM r ORDER BY i")
                got = support.rows(
                    db, f"SELECT {function}_state_merge({name}) {over_states} FROM r ORDER BY i"
                )
                batch.compare(got, want, f"{function}_state_merge")
            batch.end()


def test_shards(rng):
    """Tables in files of their own, attached: their states give the answer of one table."""
    rows = KINDS["cancelling"](rng, 500) + KINDS["any integers"](rng, 500)
    rng.shuffle(rows)
    batch = support.Batch("shards in attached files")
    with tempfile.TemporaryDirectory() as folder:
        db = support.connect()
        fill(db, numbered([0] * len(rows), rows))
        shards = ("north", "south", "west", "empty")
        for number, shard in enumerate(shards):
            db.execute("ATTACH ? AS ?", (os.path.join(folder, shard + ".db"), shard))
            db.execute(f"CREATE TABLE {shard}.part(x, y)")
            db.execute(f"INSERT INTO {shard}.part SELECT x, y FROM t WHERE rowid % 3 = {number}")
        for function in FUNCTIONS:
            states = " UNION ALL ".join(
                f"SELECT {call(function, '_state')} AS s FROM {shard}.part" for shard in shards
            )
            same(
                batch,
                db,
                f"SELECT {function}_merge(s) FROM ({states})",
                f"SELECT {call(function)} FROM t",
                function,
            )
        db.close()
    batch.end()


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
            batch.end()
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


def refuses(batch, db, function, value, what):
    """An error that names the function, from both that take states, alone and beside a state."""
    beside = f"SELECT {column(function)} AS s FROM s UNION ALL SELECT ?"
    for name in (f"{function}_merge", f"{function}_state_merge"):
        for source in ("SELECT ? AS s", beside):
            got = support.value(db, f"SELECT {name}(s) FROM ({source})", value)
            refused = isinstance(got, Failure) and name in got.message
            batch.check(refused, f"{name}, {what}: {got!r}")


def test_refusals(rng, db):
    """What is no state of the function, for each function."""
    rows = [(x, y) for x, y in KINDS["integers and reals, close"](rng, 20)] + [(1, 2), (3, 0.5)]
    fill(db, numbered([0] * len(rows), rows))
    keep_states(db)
    for function in FUNCTIONS:
        batch = support.Batch(f"{function}: refuses what is not its state")
        name = column(function)
        state = support.value(db, f"SELECT {name} FROM s WHERE part = 0")
        for value in (b"", b"\0", b"c", b"cr", bytes(64), b"\xff" * 100, rng.randbytes(50)):
            refuses(batch, db, function, value, repr(value[:8]))
        for value in ("", "cr", "12", 0, 1, -1, 2**62, 0.0, 1.5, float("inf")):
            refuses(batch, db, function, value, repr(value))
        for end in range(len(state)):
            refuses(batch, db, function, state[:end], f"{end} of {len(state)} bytes")
        for more in (b"\0", b"\x80", b"x", state):
            refuses(batch, db, function, state + more, f"{more[:4]!r} behind it")
        for version in (0, 2, 255):
            refuses(batch, db, function, state[:2] + bytes((version,)) + state[3:], "the version")
        for family in FAMILIES:
            if function not in family:
                other = support.value(db, f"SELECT {column(family[0])} FROM s WHERE part = 0")
                refuses(batch, db, function, other, f"a state of {family[0]}")
                other = support.value(db, f"SELECT {column(family[0])} FROM s WHERE part = -1")
                refuses(batch, db, function, other, f"a state of no rows of {family[0]}")
        text = state.decode("latin-1")
        refuses(batch, db, function, text, "its bytes as TEXT")
        batch.end()


FLIPPED_KINDS = (
    "small integers",
    "mixed types",
    "infinities",
    "cancelling",
    "integers at the limits, balanced",
)


def test_flipped(rng, db):
    """Flipped bits: a state again, or an error that names the function, and nothing worse."""
    tries = 100 if tap.QUICK else 600
    for function in FUNCTIONS:
        batch = support.Batch(f"{function}: states with flipped bits")
        read = 0
        for kind in (
            "small integers",
            "mixed types",
            "infinities",
            "cancelling",
            "balanced limits",
        ):
            kind = "integers at the limits, balanced" if kind == "balanced limits" else kind
            fill(db, numbered([0] * 9, KINDS[kind](rng, 9)))
            state = support.value(db, f"SELECT {call(function, '_state')} FROM t")
            flips = [[bit] for bit in range(min(8 * len(state), tries))]
            flips += [
                rng.choices(range(8 * len(state)), k=rng.randint(1, 4)) for _ in range(tries // 4)
            ]
            for bits in flips:
                changed = bytearray(state)
                for bit in bits:
                    changed[bit // 8] ^= 1 << bit % 8
                got = support.value(
                    db,
                    f"SELECT typeof({function}_merge(s)) || length({function}_state_merge(s))"
                    " FROM (SELECT ? AS s UNION ALL SELECT ?)",
                    bytes(changed),
                    state,
                )
                read += not isinstance(got, Failure)
                batch.check(
                    not isinstance(got, Failure)
                    or function in got.message
                    or got.message == "integer overflow",
                    f"{bytes(changed)!r}: {got!r}",
                )
        batch.end()
        tap.diag(f"{read} of {batch.run} were states")


def test_arguments(db):
    """SQLite's own error for a wrong number of arguments."""
    for function in FUNCTIONS:
        own = 2 if function in statistics.PAIRED or function == "gpu_dot" else 1
        own = 4 if function == "gpu_histogram" else own
        batch = support.Batch(f"{function}: a wrong number of arguments")
        for suffix, right in (("_state", own), ("_merge", 1), ("_state_merge", 1)):
            for count in {0, 1, 2, 3} - {right}:
                got = support.value(db, f"SELECT {function}{suffix}({', '.join(['1'] * count)})")
                want = Failure(f"wrong number of arguments to function {function}{suffix}()")
                batch.compare(got, want, f"{suffix}, {count} arguments")
        batch.end()


def test_overflow(db):
    """An INTEGER overflow is an error of the answer alone, and not of a state."""
    fill(db, [(0, 2**63 - 1, 1), (1, 1, 2**62), (2, -5, 1)])
    keep_states(db)
    batch = support.Batch("gpu_sum: parts that overflow together, and do not with a third")
    two = "FROM s WHERE part < 2"
    batch.compare(
        support.value(db, f"SELECT gpu_sum_merge(sum) {two}"), Failure("integer overflow"), "two"
    )
    batch.compare(support.value(db, f"SELECT gpu_total_merge(sum) {two}"), 2.0**63, "as REAL")
    batch.compare(
        support.value(db, f"SELECT typeof(gpu_sum_state_merge(sum)) {two}"), "blob", "a state"
    )
    batch.compare(support.value(db, "SELECT gpu_sum_merge(sum) FROM s"), 2**63 - 5, "all three")
    batch.end()


#: What two states of histograms have, (low, high, bins) each, and what is said of merging them.
OTHER_BINS = (
    ((0, 10, 5), (0, 10, 5), None),
    ((0, 10, 5), (0.0, 10.0, 5), None),
    ((-0.5, 2**53 + 1, 3), (-0.5, 2**53 + 1, 3), None),
    ((0, 2**53, 3), (0, 2.0**53, 3), None),
    ((0, 2**53 + 1, 3), (0, 2.0**53, 3), "high must be the same in all states, not 9007199254740992"),
    ((0, 10, 5), (1, 10, 5), "low must be the same in all states, not 1"),
    ((0, 10, 5), (-0.25, 10, 5), "low must be the same in all states, not -0.25"),
    ((0, 10, 5), (0, 10.5, 5), "high must be the same in all states, not 10.5"),
    ((0, 10, 5), (0, 10, 6), "bins must be the same in all states, not 6"),
    ((0, 10, 5), (0, 1e22, 1000000), "high must be the same in all states, not 1.0"),
)


def test_bins(db):
    """States of other bins cannot be merged; those of no rows go with any."""
    batch = support.Batch("gpu_histogram: states of the same and of other bins")
    for one, other, refusal in OTHER_BINS:
        for suffix in ("_merge", "_state_merge"):
            name = "gpu_histogram" + suffix
            got = support.value(
                db,
                f"SELECT {name}(s) FROM (SELECT gpu_histogram_state(1, ?, ?, ?) AS s UNION ALL"
                " SELECT gpu_histogram_state(value, 3, 4, 9) FROM json_each('[null]') UNION ALL"
                " SELECT gpu_histogram_state(2, ?, ?, ?))",
                *one,
                *other,
            )
            if refusal is None:
                form = "gpu_histogram" + suffix.replace("_merge", "")
                want = f"SELECT {form}(value, ?, ?, ?) FROM json_each('[1,2]')"
                batch.compare(got, support.value(db, want, *one), f"{name}, {one} and {other}")
            else:
                refused = isinstance(got, Failure) and got.message.startswith(f"{name}: {refusal}")
                batch.check(refused, f"{name}, {one} and {other}: {got!r}")
    batch.end()
    batch = support.Batch("gpu_histogram: a million bins")
    state = "SELECT gpu_histogram_state(value, 0, 1000000, 1000000) AS s FROM json_each('[7,9e9]')"
    size = support.value(db, f"SELECT length(s) FROM ({state})")
    batch.check(size <= SMALL_STATE, f"the state of two rows takes {size} bytes")
    merged = (
        "SELECT json_array_length(h) || json_extract(h, '$[8]', '$[1000001]') FROM"
        f" (SELECT gpu_histogram_merge(s) AS h FROM ({state} UNION ALL {state}))"
    )
    batch.compare(support.value(db, merged), "1000002[2,2]", "merged")
    db.execute("SELECT clreduce_set('values_memory', 100000)")
    got = support.value(db, f"SELECT gpu_histogram_merge(s) FROM ({state})")
    refused = isinstance(got, Failure) and "values_memory" in got.message
    batch.check(refused, f"beyond values_memory: {got!r}")
    db.execute("SELECT clreduce_set('values_memory', 0)")
    batch.end()


def main():
    rng = support.seed()
    host = support.connect()
    test_arguments(host)
    test_nothing(host)
    test_overflow(host)
    test_sizes(host)
    test_bins(host)
    test_families(rng, host)
    test_refusals(rng, host)
    test_flipped(rng, host)
    test_splits(rng, "host", host)
    test_windows(rng, "host", host)
    for mode in support.modes():
        db = support.connect(mode, **support.SMALL)
        test_splits(rng, f"{mode}, small chunks", db)
        test_windows(rng, f"{mode}, small chunks", db)
        if mode == support.DEVICE:
            tap.ok(support.stats(db)["chunks_to_device"] > 0, "a device took part")
        db.close()
    support.skip_device(1, "states on a device")
    test_shards(rng)
    test_kept(rng)
    tap.done()


main()
