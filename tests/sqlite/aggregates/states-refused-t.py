"""What is no state of a function, and states that it cannot merge, are refused."""

import statistics_reference as statistics
import support
import tap
from kinds import KINDS
from reference import Failure
from state_calls import FAMILIES, FUNCTIONS, SMALL_STATE, call, column, fill, keep_states, numbered


def refuses(batch, db, function, value, what):
    """An error that names the function, from both that take states, alone and beside a state."""
    beside = f"SELECT {column(function)} AS s FROM s UNION ALL SELECT ?"
    for name in (f"{function}_merge", f"{function}_state_merge"):
        for source in ("SELECT ? AS s", beside):
            got = support.value(db, f"SELECT {name}(s) FROM ({source})", value)
            batch.check(support.is_refused(got, "", name), f"{name}, {what}: {got!r}")


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


FLIPPED_KINDS = ("small integers", "mixed types", "infinities", "cancelling", "integers at the limits, balanced")


def test_flipped(rng, db):
    """Flipped bits: a state again, or an error that names the function, and nothing worse."""
    tries = 100 if tap.QUICK else 600
    for function in FUNCTIONS:
        batch = support.Batch(f"{function}: states with flipped bits")
        read = 0
        for kind in FLIPPED_KINDS:
            fill(db, numbered([0] * 9, KINDS[kind](rng, 9)))
            state = support.value(db, f"SELECT {call(function, '_state')} FROM t")
            flips = [[bit] for bit in range(min(8 * len(state), tries))]
            flips += [rng.choices(range(8 * len(state)), k=rng.randint(1, 4)) for _ in range(tries // 4)]
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
        tap.diag(f"{read} of {batch.run} were states")


def test_many_rows(db):
    """As many rows as there can be, and one more."""
    many, one = bytes.fromhex("63720101ffffffffffffffff3f0000"), bytes.fromhex("637201010100040001")
    rows = "FROM (SELECT ? AS s UNION ALL SELECT ? UNION ALL SELECT ?)"
    tap.is_equal(support.value(db, f"SELECT gpu_sum_merge(s) {rows}", many, one, None), 1, "2^62 rows")
    got = support.value(db, f"SELECT gpu_sum_merge(s) {rows}", many, one, one)
    tap.ok(support.is_refused(got, "", "it would make the rows too many"), f"one more: {got!r}")
    got = support.rows(db, f"SELECT gpu_sum_merge(s) OVER (ROWS 1 PRECEDING) {rows}", many, one, one)
    tap.is_equal(got, [(0,), (1,), (2,)], "when some have left others may come")


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


def test_overflow(batch, db):
    """An INTEGER overflow is an error of the answer alone, and not of a state."""
    fill(db, [(0, 2**63 - 1, 1), (1, 1, 2**62), (2, -5, 1)])
    keep_states(db)
    two = "FROM s WHERE part < 2"
    batch.compare(support.value(db, f"SELECT gpu_sum_merge(sum) {two}"), Failure("integer overflow"), "two")
    batch.compare(support.value(db, f"SELECT gpu_total_merge(sum) {two}"), 2.0**63, "as REAL")
    batch.compare(support.value(db, f"SELECT typeof(gpu_sum_state_merge(sum)) {two}"), "blob", "a state")
    batch.compare(support.value(db, "SELECT gpu_sum_merge(sum) FROM s"), 2**63 - 5, "all three")


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
                batch.check(support.is_refused(got, f"{name}: {refusal}"), f"{name}, {one} and {other}: {got!r}")
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
    batch.check(support.is_refused(got, "", "values_memory"), f"beyond values_memory: {got!r}")
    db.execute("SELECT clreduce_set('values_memory', 0)")


support.run(globals(), db=support.connect())
