"""Order statistics and distinct values as window functions."""

import bisect
from collections import Counter
from fractions import Fraction

import support
import tap
from order_reference import ANY, NUMBERS, NUMERIC, count_distinct, mode, present, texts

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
        support.table(db, "t(id INTEGER PRIMARY KEY, x)", enumerate(values))
        batch = support.Batch(f"windows over {kind.__name__} values")
        for frame in FRAMES:
            for filtered in ("", "FILTER (WHERE id % 4 <> 1)"):
                over = f"{filtered} OVER ({frame})"
                listed = db.execute(f"SELECT group_concat(id) {over} FROM t ORDER BY id").fetchall()
                frames = [[int(i) for i in str(row[0]).split(",")] if row[0] is not None else [] for row in listed]
                for call, reference in calls:
                    got = support.rows(db, f"SELECT {call} {over} FROM t ORDER BY id")
                    want = [(reference(present([values[i] for i in ids])),) for ids in frames]
                    batch.compare(got, want, f"{call} {over}")


def test_long_windows(rng, db):
    """Frames of thousands of rows: quick, and right after all those that have left."""
    rows, length = (4_000, 700) if tap.QUICK else (25_001, 7_000)
    values = [rng.choice((rng.randint(0, 300), rng.random() * 300)) for _ in range(rows)]
    support.table(db, "t(id INTEGER PRIMARY KEY, x)", enumerate(values))
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


def test_growing_windows(rng):
    """Frames that only grow, with a result after each of a few large groups of mostly different
    values, of which some come again later."""
    db = support.connect(host_threshold=1)
    values = [(row // 10_000, rng.choice((row, row + 0.5, -row))) for row in range(60_000)]
    values += [(6, values[at][1]) for at in (30_000, 30_000, 50, 50, 50_000)]
    support.table(db, "growing(k, x)", values)
    got = db.execute(
        "SELECT DISTINCT k, gpu_mode(x) OVER w, gpu_count_distinct(x) OVER w FROM growing"
        " WINDOW w AS (ORDER BY k)"
    ).fetchall()
    for k, found_mode, found_count in got:
        seen = [x for group, x in values if group <= k]
        want = [mode(seen), count_distinct(seen)]
        tap.is_equal([found_mode, found_count], want, f"a window that has grown to group {k}")
    tap.is_equal(len(got), 7, "all groups have results")


def test_late_leavers(db):
    """Rows begin to leave only after far more than a batch: how often each is there is known still."""
    rows, length = 45_000, 30_000
    support.table(db, "t(x)", ((i / 2,) for i in range(rows)))
    frame = f"OVER (ROWS BETWEEN CURRENT ROW AND {length - 1} FOLLOWING)"
    got = db.execute(f"SELECT gpu_count_distinct(x) {frame}, gpu_count_distinct(CAST(x / 8 AS INT)) {frame} FROM t")
    batch = support.Batch(f"rows that leave after {length} have come")
    for i, row in enumerate(got):
        last = min(i + length, rows) - 1
        batch.compare(row, (last - i + 1, last // 16 - i // 16 + 1), f"counts at row {i}")


support.run(globals(), db=support.connect())
