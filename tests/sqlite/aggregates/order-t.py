"""Order statistics, distinct values and histograms against Python's exact arithmetic, through SQL.

One table says what each function is called with and what it must answer for a list of values. The
percentiles are those of SQLite's own percentile functions: the rank in its arithmetic of doubles,
and between two values the exact one, rounded once.
"""

import bisect
import json
import math
import sqlite3
from collections import Counter
from fractions import Fraction

import support
import tap
from reference import INT_MAX, INT_MIN, Failure

# ---- What is right.


def is_number(value):
    return isinstance(value, (int, float))


def order(value):
    """A key that sorts as SQLite does: numbers, TEXT, BLOB; of the zeros -0.0 first."""
    if is_number(value):
        return (0, value, math.copysign(1, value))
    return (1, value.encode()) if isinstance(value, str) else (2, value)


def percentile(values, fraction, discrete=False):
    """Of values that are numbers."""
    values = sorted(values, key=order)
    if not values:
        return None
    place = fraction * (len(values) - 1)
    rank = int(place)
    first = values[rank]
    if discrete:
        return float(first)
    beyond = Fraction(place - rank)
    second = values[min(rank + 1, len(values) - 1)]
    return float(Fraction(first) + (Fraction(second) - Fraction(first)) * beyond) + 0.0


def classes(values):
    """How often each value is there, a number once for all its types; and the INTEGERs."""
    keys = [value if is_number(value) else (type(value), value) for value in values]
    return Counter(keys), {value for value in values if isinstance(value, int)}


def count_distinct(values):
    return len(classes(values)[0])


def mode(values):
    counts, integers = classes(values)
    if not counts:
        return None
    most = max(counts.values())
    best = min(
        (key if is_number(key) else key[1] for key, count in counts.items() if count == most),
        key=lambda value: order(value + 0.0 if value == 0 and is_number(value) else value),
    )
    if best in integers and is_number(best):
        return int(best)
    return best + 0.0 if isinstance(best, float) else float(best) if is_number(best) else best


def histogram(values, low, high, bins):
    if not values:
        return None
    counts = [0] * (bins + 2)
    for value in values:
        if value < low:
            counts[0] += 1
        elif value > high:
            counts[-1] += 1
        else:
            width = Fraction(high) - Fraction(low)
            i = (Fraction(value) - Fraction(low)) * bins / width if value != high else bins - 1
            counts[1 + min(int(i), bins - 1)] += 1
    return json.dumps(counts, separators=(",", ":"))


def literal(number):
    """A number as SQL reads it back."""
    return "9e999" if number == math.inf else repr(number)


def numeric_calls():
    """Calls for numbers: (text, what it must answer)."""
    yield "gpu_median(x)", lambda values: percentile(values, 0.5)
    for p in (0, 1, 25.0, 50, 99.9, 100, "'75'"):
        fraction = float(str(p).strip("'")) / 100
        yield f"gpu_percentile(x, {p})", lambda values, f=fraction: percentile(values, f)
    for f in (0, 0.1, 1 / 3, 0.5, 0.9999, 1, 1.0):
        yield f"gpu_percentile_cont(x, {f!r})", lambda values, f=f: percentile(values, float(f))
        yield (
            f"gpu_percentile_disc(x, {f!r})",
            lambda values, f=f: percentile(values, float(f), True),
        )
    for low, high, bins in (
        (0, 10, 10),
        (-2.5, 2.5, 7),
        (0.1, 0.7, 6),
        (INT_MIN, INT_MAX, 3),
        (-1e300, 1e300, 4),
        (2**53, 2**53 + 10, 5),
        (5e-324, 1e-322, 3),
    ):
        yield (
            f"gpu_histogram(x, {literal(low)}, {literal(high)}, {bins})".replace(
                str(INT_MIN), "-9223372036854775807 - 1"
            ),
            lambda values, a=(low, high, bins): histogram(values, *a),
        )


NUMERIC = list(numeric_calls())
ANY = [("gpu_count_distinct(x)", count_distinct), ("gpu_mode(x)", mode)]

# ---- Values.


def small(rng):
    return rng.choice((rng.randint(-5, 12), rng.randint(0, 3) * 0.5, None))


def limits(rng):
    """Where doubles are further apart than integers, both types."""
    base = rng.choice((2**53, 2**54, 2**62, INT_MAX - 3000, INT_MIN + 3000, 0))
    value = base + rng.randint(-2500, 2500)
    return rng.choice((value, float(value), -value, -value + 1))


def hard(rng):
    """Any exponent, zeros of both signs, the greatest and the least."""
    return rng.choice(
        (
            math.ldexp(rng.uniform(-1, 1), rng.randint(-1073, 1023)),
            rng.choice((0.0, -0.0, 5e-324, -5e-324, 1.7976931348623157e308, -1.7976931348623157e308)),
            rng.randint(INT_MIN, INT_MAX),
            rng.random(),
        )
    )


def alike(rng):
    return rng.choice((7, 7, 7, 7.0, 7.5))


def texts(rng):
    """All storage classes, few different values, and equal numbers of both types."""
    return rng.choice(
        (1, 1.0, 0.0, -0.0, 0, 2**53 + 1, float(2**53), 2**53, math.inf, 0.5, None)
        + ("", "a", "A", "ä", "1", "a\0b", b"", b"a", b"1", b"\0")
    )


NUMBERS = (small, limits, hard, alike)
SIZES = (0, 1, 2, 3, 10, 33, 100, 700)


def fill(db, values):
    db.execute("DROP TABLE IF EXISTS t")
    db.execute("CREATE TABLE t(x)")
    db.executemany("INSERT INTO t VALUES (?)", [(value,) for value in values])


def present(values):
    return [value for value in values if value is not None]


def test_answers(rng, db):
    """Each call, each kind of data, several sizes, in several orders of the rows."""
    cases = [(kind, NUMERIC + ANY) for kind in NUMBERS] + [(texts, ANY)]
    for kind, calls in cases:
        batch = support.Batch(f"{len(calls)} calls on {kind.__name__} values")
        for size in SIZES:
            for _ in range(1 if tap.QUICK else 2):
                values = [kind(rng) for _ in range(size)]
                for source in (values, sorted(values, key=str), rng.sample(values, size)):
                    fill(db, source)
                    got = db.execute(f"SELECT {', '.join(call for call, _ in calls)} FROM t")
                    for (call, reference), value in zip(calls, got.fetchone()):
                        batch.compare(value, reference(present(values)), f"{call} of {size}")
        batch.end()


def test_many(rng, db):
    """Many values: selection by sample, tables that grow, and half of all values equal."""
    size = 12_000 if tap.QUICK else 100_000
    for name, value in (
        ("random REALs", lambda i: rng.random()),
        ("random INTEGERs", lambda i: rng.randint(INT_MIN, INT_MAX)),
        ("both types past 2^53", lambda i: limits(rng)),
        ("half of them equal", lambda i: 5 if i % 2 else rng.gauss(5, 1)),
        ("a saw", lambda i: i % 1000),
        ("one that is not like the others", lambda i: 1e300 if i == 77 else 1.5),
    ):
        values = [value(i) for i in range(size)]
        fill(db, values)
        batch = support.Batch(f"{size} values, {name}")
        for call, reference in NUMERIC[:12] + ANY:
            batch.compare(
                support.value(db, f"SELECT {call} FROM t"), reference(values), f"{call}, {name}"
            )
        batch.end()


def test_texts(db):
    """Many TEXT values, also from a database in UTF-16."""
    values = [f"text {i % 7001} ä" for i in range(20_000)] + [b"blob %d" % i for i in range(500)]
    fill(db, values)
    tap.is_equal(support.value(db, "SELECT gpu_count_distinct(x) FROM t"), 7501, "many texts")
    tap.is_equal(support.value(db, "SELECT gpu_mode(x) FROM t"), mode(values), "their mode")
    other = support.connect()
    other.execute("PRAGMA encoding = 'UTF-16'")
    fill(other, values)
    tap.is_equal(
        other.execute("SELECT gpu_count_distinct(x), gpu_mode(x) FROM t").fetchone(),
        (7501, mode(values)),
        "in UTF-16",
    )
    other.close()


def test_groups(rng, db):
    """Many groups, of which each starts anew."""
    groups = {}
    size = 3_000 if tap.QUICK else 12_000
    rows = [(rng.randrange(size // 7), rng.choice(NUMBERS)(rng)) for _ in range(size)]
    for group, value in rows:
        groups.setdefault(group, []).append(value)
    support.fill(db, rows)
    batch = support.Batch(f"{len(groups)} groups")
    calls = NUMERIC[:5] + NUMERIC[-7:-5] + ANY
    query = f"SELECT x, {', '.join(call.replace('(x', '(y') for call, _ in calls)} FROM t GROUP BY x"
    for row in db.execute(query):
        for (call, reference), value in zip(calls, row[1:]):
            batch.compare(value, reference(present(groups[row[0]])), f"{call} of group {row[0]}")
    batch.end()
    tap.is_equal(
        db.execute(
            "SELECT gpu_median(DISTINCT y), gpu_count_distinct(y) FILTER (WHERE y IN (1, 2)),"
            " gpu_mode(y) FILTER (WHERE 0) FROM (SELECT 1 AS y UNION ALL VALUES (1), (2), (4))"
        ).fetchone(),
        (2.0, 2, None),
        "DISTINCT and FILTER",
    )


# ---- Windows.

FRAMES = (
    "ORDER BY id",
    "ORDER BY id ROWS 3 PRECEDING",
    "ORDER BY id ROWS BETWEEN 40 PRECEDING AND 3 FOLLOWING",
    "ORDER BY id ROWS BETWEEN 5 FOLLOWING AND 9 FOLLOWING",
    "ORDER BY id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
    "ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
    "ORDER BY id / 5 RANGE BETWEEN 1 PRECEDING AND CURRENT ROW",
    "ORDER BY id / 5 GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW",
    "ORDER BY id ROWS BETWEEN 9 PRECEDING AND CURRENT ROW EXCLUDE TIES",
    "PARTITION BY id % 3 ORDER BY id ROWS 4 PRECEDING",
    "",
)


def test_windows(rng, db):
    """Frames of which SQLite itself tells the rows."""
    rows = 60 if tap.QUICK else 130
    calls = NUMERIC[:4] + NUMERIC[8:12] + NUMERIC[-7:-4]
    for kind, calls in [(kind, calls + ANY) for kind in NUMBERS] + [(texts, ANY)]:
        values = [kind(rng) for _ in range(rows)]
        db.execute("DROP TABLE IF EXISTS t")
        db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, x)")
        db.executemany("INSERT INTO t VALUES (?, ?)", enumerate(values))
        batch = support.Batch(f"windows over {kind.__name__} values")
        for frame in FRAMES:
            for filtered in ("", "FILTER (WHERE id % 4 <> 1)"):
                over = f"{filtered} OVER ({frame})"
                listed = db.execute(f"SELECT group_concat(id) {over} FROM t ORDER BY id").fetchall()
                frames = [[int(i) for i in str(row[0]).split(",")] if row[0] is not None else []
                          for row in listed]
                for call, reference in calls:
                    got = support.rows(db, f"SELECT {call} {over} FROM t ORDER BY id")
                    want = [
                        (reference(present([values[i] for i in ids])),) for ids in frames
                    ]
                    batch.compare(got, want, f"{call} {over}")
        batch.end()


def test_long_windows(rng, db):
    """Frames of thousands of rows: quick, and right after all those that have left."""
    rows, length = (4_000, 700) if tap.QUICK else (25_001, 7_000)
    values = [rng.choice((rng.randint(0, 300), rng.random() * 300)) for _ in range(rows)]
    db.execute("DROP TABLE IF EXISTS t")
    db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, x)")
    db.executemany("INSERT INTO t VALUES (?, ?)", enumerate(values))
    got = db.execute(
        "SELECT gpu_median(x) OVER w, gpu_mode(CAST(x AS INT)) OVER w, gpu_mode('m' || CAST(x AS INT))"
        f" OVER w, gpu_count_distinct(x) OVER w FROM t WINDOW w AS (ORDER BY id ROWS {length - 1}"
        " PRECEDING)"
    )
    frame, counts, distinct = [], Counter(), Counter()
    batch = support.Batch(f"a window of {length} rows over {rows}")
    for i, row in enumerate(got):
        bisect.insort(frame, values[i])
        counts[int(values[i])] += 1
        distinct[values[i]] += 1
        if i >= length:
            old = values[i - length]
            del frame[bisect.bisect_left(frame, old)]
            counts[int(old)] -= 1
            distinct[old] -= 1
            if not distinct[old]:
                del distinct[old]
        middle = (len(frame) - 1) // 2
        two = frame[middle], frame[len(frame) // 2]
        batch.compare(row[0], float((Fraction(two[0]) + Fraction(two[1])) / 2), f"median {i}")
        batch.compare(row[3], len(distinct), f"count {i}")
        if i % 97 == 0:
            most = max(counts.values())
            best = [key for key, count in counts.items() if count == most]
            batch.compare(row[1], min(best), f"mode {i}")
            batch.compare(row[2], min(f"m{key}" for key in best), f"mode of TEXT {i}")
    batch.end()


def test_growing_windows(rng):
    """Frames that only grow, with a result after each of a few large groups of mostly different
    values, of which some come again later."""
    db = support.connect(host_threshold=1)
    values = [(row // 10_000, rng.choice((row, row + 0.5, -row))) for row in range(60_000)]
    values += [(6, values[at][1]) for at in (30_000, 30_000, 50, 50, 50_000)]
    db.execute("CREATE TABLE growing(k, x)")
    db.executemany("INSERT INTO growing VALUES (?, ?)", values)
    got = db.execute(
        "SELECT DISTINCT k, gpu_mode(x) OVER w, gpu_count_distinct(x) OVER w FROM growing"
        " WINDOW w AS (ORDER BY k)"
    ).fetchall()
    for k, found_mode, found_count in got:
        seen = [x for group, x in values if group <= k]
        want = [mode(seen), count_distinct(seen)]
        tap.is_equal([found_mode, found_count], want, f"a window that has grown to group {k}")
    tap.is_equal(len(got), 7, "all groups have results")
    db.close()


def test_late_leavers(db):
    """Rows begin to leave only after far more than a batch: how often each is there is known still."""
    rows, length = 45_000, 30_000
    db.execute("DROP TABLE IF EXISTS t")
    db.execute("CREATE TABLE t(x)")
    db.executemany("INSERT INTO t VALUES (?)", [(i / 2,) for i in range(rows)])
    frame = f"OVER (ROWS BETWEEN CURRENT ROW AND {length - 1} FOLLOWING)"
    got = db.execute(f"SELECT gpu_count_distinct(x) {frame}, gpu_count_distinct(CAST(x / 8 AS INT)) {frame} FROM t")
    batch = support.Batch(f"rows that leave after {length} have come")
    for i, row in enumerate(got):
        last = min(i + length, rows) - 1
        batch.compare(row, (last - i + 1, last // 16 - i // 16 + 1), f"counts at row {i}")
    batch.end()


def test_types(db):
    """The results' types where equal numbers of two types meet, also as they come and go."""
    for values, want in (
        ([1.0, 1], 1),
        ([1.0, 1.0], 1.0),
        ([2**53, float(2**53)], 2**53),
        ([-0.0], 0.0),
        ([0.0, 0], 0),
        ([9.3e18, 9.3e18, INT_MAX], 9.3e18),
        (["a", "A", "b"], "A"),
        ([b"a", "b"], "b"),
        ([b""], b""),
        ([""], ""),
        ([math.inf, math.inf, 3], math.inf),
    ):
        fill(db, values)
        tap.is_equal(support.value(db, "SELECT gpu_mode(x) FROM t"), want, f"mode of {values}")
    fill(db, [1, 1.0, 1.0, 2.0, 2])
    tap.is_equal(
        [row[0] for row in db.execute("SELECT gpu_mode(x) OVER (ROWS 1 PRECEDING) FROM t")],
        [1, 1, 1.0, 1.0, 2],
        "an INTEGER leaves, and its equals stay REAL",
    )


def test_empty(db):
    fill(db, [])
    for values in ([], [None, None]):
        fill(db, values)
        for call, _ in NUMERIC + ANY:
            want = 0 if call.startswith("gpu_count") else None
            tap.is_equal(support.value(db, f"SELECT {call} FROM t"), want, f"{call} of {values}")


# ---- Errors.

ERRORS = (
    ("gpu_median(x)", "'2'", "input to gpu_median() is not numeric"),
    ("gpu_median(x)", "x'32'", "input to gpu_median() is not numeric"),
    ("gpu_median(x)", "9e999", "Inf input to gpu_median()"),
    ("gpu_percentile(x, 50)", "-9e999", "Inf input to gpu_percentile()"),
    ("gpu_percentile_cont(x, 0.5)", "'a'", "input to gpu_percentile_cont() is not numeric"),
    (
        "gpu_percentile(x, 100.1)",
        "1",
        "the fraction argument to gpu_percentile() is not between 0.0 and 100.0",
    ),
    (
        "gpu_percentile(x, NULL)",
        "NULL",
        "the fraction argument to gpu_percentile() is not between 0.0 and 100.0",
    ),
    (
        "gpu_percentile_disc(x, -0.1)",
        "1",
        "the fraction argument to gpu_percentile_disc() is not between 0.0 and 1.0",
    ),
    (
        "gpu_percentile_cont(x, 'half')",
        "1",
        "the fraction argument to gpu_percentile_cont() is not between 0.0 and 1.0",
    ),
    (
        "gpu_percentile_cont(x, rowid * 0.01)",
        "1",
        "the fraction argument to gpu_percentile_cont() is not the same for all input rows",
    ),
    ("gpu_histogram(x, 0, 1, 2)", "'a'", "gpu_histogram: x must be a number, not 'a'"),
    ("gpu_histogram(x, 'a', 1, 2)", "1", "gpu_histogram: low must be a finite number, not 'a'"),
    ("gpu_histogram(x, 0, NULL, 2)", "1", "gpu_histogram: high must be a finite number, not NULL"),
    ("gpu_histogram(x, -9e999, 1, 2)", "1", "gpu_histogram: low must be a finite number, not -Inf"),
    ("gpu_histogram(x, 1, 1.0, 2)", "1", "gpu_histogram: high must be greater than low, not 1.0"),
    ("gpu_histogram(x, 0.0, -0.0, 2)", "1", "gpu_histogram: high must be greater than low, not"),
    ("gpu_histogram(x, -0.0, 0.0, 2)", "1", "gpu_histogram: high must be greater than low, not 0.0"),
    (
        "gpu_histogram(x, 0, 1, 0)",
        "1",
        "gpu_histogram: bins must be an INTEGER from 1 to 1000000, not 0",
    ),
    (
        "gpu_histogram(x, 0, 1, 1000001)",
        "1",
        "gpu_histogram: bins must be an INTEGER from 1 to 1000000, not 1000001",
    ),
    (
        "gpu_histogram(x, 0, 1, 2.0)",
        "1",
        "gpu_histogram: bins must be an INTEGER from 1 to 1000000, not 2.0",
    ),
    ("gpu_histogram(x, -rowid, 1, 2)", "1", "low must be the same on every row, not -2"),
    ("gpu_histogram(x, 0, rowid, 2)", "1", "high must be the same on every row, not 2"),
    ("gpu_histogram(x, 0, 1, rowid)", "1", "bins must be the same on every row, not 2"),
    (  # cut after 60 characters, none of them in two
        "gpu_histogram(x, 'x" + "\u00e4" * 70 + "', 1, 2)",
        "1",
        "gpu_histogram: low must be a finite number, not 'x" + "\u00e4" * 59 + "'",
    ),
    ("gpu_histogram(x, 0, 1)", "1", "wrong number of arguments to function gpu_histogram()"),
    ("gpu_median(x, 1)", "1", "wrong number of arguments to function gpu_median()"),
    ("gpu_percentile(x)", "1", "wrong number of arguments to function gpu_percentile()"),
)


def test_errors(db):
    for call, value, text in ERRORS:
        db.execute("DROP TABLE IF EXISTS t")
        db.execute("CREATE TABLE t(x)")
        db.execute(f"INSERT INTO t VALUES (1), ({value})")
        for over in ("", " OVER (ROWS 1 PRECEDING)"):
            got = support.rows(db, f"SELECT {call}{over} FROM t")
            tap.ok(
                isinstance(got, Failure) and text in str(got), f"{call}{over} of {value}: {got}"
            )
    fill(db, [1, 2])
    tap.is_equal(
        support.value(db, "SELECT gpu_percentile_cont(x, 0.5 + rowid * 0.0001) FROM t"),
        percentile([1, 2], 0.5001),
        "fractions that differ by less than 0.001 are the first one",
    )
    tap.is_equal(
        support.value(db, "SELECT gpu_histogram(x, iif(rowid = 1, 0, 0.0), 2, 1) FROM t"),
        "[0,2,0]",
        "equal arguments of two types are the same",
    )


MEMORY_CALLS = (
    "gpu_median(x)",
    "gpu_percentile_disc(x, 0.9)",
    "gpu_count_distinct(x)",
    "gpu_count_distinct('text ' || x)",
    "gpu_mode(x)",
    "gpu_median(x) OVER (ROWS 90000 PRECEDING)",
    "gpu_mode(x) OVER (ROWS 90000 PRECEDING)",
    "gpu_mode('text ' || x) OVER (ROWS 90000 PRECEDING)",
    "gpu_histogram(x, 0, 1, 1000000)",
)


def test_memory():
    """Past the limit an error that names function and setting; within a transaction, which stays."""
    db = support.connect()
    db.execute("CREATE TABLE t(x)")
    db.execute("BEGIN")
    db.execute(
        "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)"
        " INSERT INTO t SELECT i FROM n"
    )
    for call in MEMORY_CALLS:
        support.configure(db, values_memory=300_000)
        function = call[: call.index("(")]
        for _ in range(5):
            got = support.rows(db, f"SELECT {call} FROM t")
            passed = isinstance(got, Failure) and got.message.startswith(f"{function}: ")
            kept = "a counter for each bin" if function == "gpu_histogram" else "its values"
            tap.is_equal(
                got if passed else str(got)[:200],
                Failure(
                    f"{function}: {kept} would take more than the 300000 bytes that the setting"
                    " values_memory allows"
                ),
                f"{call}: what is out of memory",
            )
        got = support.rows(db, f"SELECT {call.replace('1000000', '100')} FROM t WHERE x <= 1000")
        tap.ok(not isinstance(got, Failure), f"{call} of fewer values")
        support.configure(db, values_memory=0)
        got = support.rows(db, f"SELECT {call} FROM t WHERE x <= 20000")
        tap.ok(not isinstance(got, Failure), f"{call} with the default")
    tap.ok(db.in_transaction, "the transaction is still there")
    tap.is_equal(support.value(db, "SELECT count(*) FROM t"), 100_000, "with all its rows")
    db.close()


#: Where SQLite's JSON functions get a histogram, and what they make of it: an array in an array.
NESTED = (
    ("SELECT json_array({h}) FROM t", "[[0,2,1,0]]"),
    ("SELECT json_object('h', {h}, 'n', count(*)) FROM t", '{"h":[0,2,1,0],"n":3}'),
    ("SELECT json_array({h}) FROM t WHERE x > 9", "[null]"),
    ("SELECT json_array({h}) FROM t GROUP BY x > 1 ORDER BY x > 1", "[[0,2,0,0]]"),
    ("SELECT json_array({h} OVER (ORDER BY x ROWS 1 PRECEDING)) FROM t", "[[0,1,0,0]]"),
    (
        "SELECT json_array({h} OVER (ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)) FROM t",
        "[[0,2,1,0]]",
    ),
    (
        "SELECT json_array(gpu_histogram_merge(s)) FROM"
        " (SELECT gpu_histogram_state(x, 0, 4, 2) AS s FROM t)",
        "[[0,2,1,0]]",
    ),
    ("SELECT json_array(gpu_histogram_state(x, 0, 4, 2) IS NULL) FROM t", "[0]"),
    ("SELECT typeof({h}) FROM t", "text"),
)


def test_json(db):
    """A histogram is JSON, by its subtype, for SQLite's JSON functions; in a view as in its SELECT."""
    fill(db, [0, 1, 3])
    for query, want in NESTED:
        query = query.format(h="gpu_histogram(x, 0, 4, 2)")
        tap.is_equal(support.rows(db, query)[0][0], want, query)
    for threshold in (0, 1000):
        support.configure(db, view_threshold=threshold)
        db.execute(
            "CREATE VIRTUAL TABLE temp.v USING clreduce((SELECT gpu_histogram(x, 0, 4, 2) AS h,"
            " gpu_histogram(x, 5, 6, 1) AS other, gpu_sum(x) AS s FROM t))"
        )
        for _ in range(3):  # columns are kept when they are asked for again
            tap.is_equal(
                support.rows(db, "SELECT h, json_array(h), json_array(other, s) FROM v"),
                [("[0,2,1,0]", "[[0,2,1,0]]", "[[3,0,0],4]")],
                f"of a view, view_threshold {threshold}",
            )
        plan = support.rows(db, "SELECT * FROM clreduce_plan('v')")[0][0]
        tap.ok(plan.startswith("row by row") == (threshold > 0), plan)
        db.execute("DROP TABLE v")


def test_interrupted(db):
    """A statement that is stopped, or left, in the middle frees all; the next one is right."""
    fill(db, list(range(50_000)))
    calls = ("gpu_median(x)", "gpu_mode(x)", "gpu_count_distinct(x)", "gpu_histogram(x, 0, 1, 9)")
    support.configure(db, values_memory=10_000_000)
    for over in ("", " OVER (ROWS 1000 PRECEDING)"):
        for call in calls:
            for _ in range(20):
                steps = [60]
                db.set_progress_handler(lambda s=steps: s.__setitem__(0, s[0] - 1) or s[0] < 0, 1000)
                got = support.rows(db, f"SELECT {call}{over} FROM t")
                db.set_progress_handler(None, 0)
                if not isinstance(got, Failure):
                    tap.ok(False, f"{call}{over} was not interrupted")
            if over:
                for _ in range(20):
                    cursor = db.execute(f"SELECT {call}{over} FROM t")
                    cursor.fetchone()
                    cursor.close()
        tap.is_equal(
            support.rows(db, "SELECT gpu_median(x), gpu_mode(x), gpu_count_distinct(x) FROM t"),
            [(24999.5, 0, 50_000)],
            f"after statements that were stopped{over}",
        )
    support.configure(db, values_memory=0)


def test_against_sqlite(rng, db):
    """Where this SQLite has its own percentile functions: the same ranks and errors."""
    try:
        db.execute("SELECT median(1), percentile(1, 50), percentile_disc(1, 0.5)")
    except sqlite3.OperationalError:
        tap.skip(1, "this SQLite has no percentile functions")
        return
    batch = support.Batch("SQLite's own percentile functions")
    for _ in range(200):
        values = [rng.randint(-1000, 1000) for _ in range(rng.randint(1, 300))]
        fraction = rng.choice((rng.random(), rng.randint(0, 100) / 100))
        fill(db, values)
        ours, theirs = (
            support.rows(
                db,
                f"SELECT {name}percentile_disc(x, {fraction!r}), {name}median(x),"
                f" {name}percentile(x, {fraction!r}) IS NOT NULL FROM t",
            )
            for name in ("gpu_", "")
        )
        batch.compare(ours, theirs, f"{len(values)} values, fraction {fraction!r}")
    for call, value, text in ERRORS:
        if "histogram" not in call:
            got = support.rows(db, f"SELECT {call.replace('gpu_', '')} FROM (SELECT 1 AS x, 1 AS rowid"
                               f" UNION ALL SELECT {value}, 2)")
            batch.check(str(got) == text.replace("gpu_", ""), f"{call}: {got}")
    batch.end()


def main():
    rng = support.seed()
    db = support.connect()
    test_answers(rng, db)
    test_many(rng, db)
    test_texts(db)
    test_groups(rng, db)
    test_windows(rng, db)
    test_long_windows(rng, db)
    test_growing_windows(rng)
    test_late_leavers(db)
    test_types(db)
    test_empty(db)
    test_errors(db)
    test_memory()
    test_json(db)
    test_interrupted(db)
    test_against_sqlite(rng, db)
    tap.done()


main()
