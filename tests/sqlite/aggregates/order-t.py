"""Order statistics, distinct values and histograms against exact arithmetic, through SQL."""

import math
from fractions import Fraction

import support
import tap
from kinds import any_double
from order_reference import ANY, NUMBERS, NUMERIC, clusters, count_distinct, fill, histogram, limits, mode, present, texts
from reference import INT_MAX, INT_MIN

SIZES = (0, 1, 2, 3, 10, 33, 100, 700)


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


@tap.each(None, 1)
def test_many(rng, db, threshold):
    """Many values: selection by sample, tables that grow, and half of all values equal."""
    if threshold:
        # From many different numbers on these are kept, and counted at the end.
        support.configure(db, host_threshold=threshold)
    size = 6_000 if tap.QUICK else 100_000
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
            batch.compare(support.value(db, f"SELECT {call} FROM t"), reference(values), f"{call}, {name}")


def test_large(db, rng, batch):
    """So many values that a sample says where to look for some of them, which is wrong for others."""
    size = 150_000
    for name, value in (("both types past 2^53", limits), ("clusters", clusters), ("all but the last alike", lambda rng: 7)):
        values = [value(rng) for _ in range(size - 1)] + [-1e300]
        fill(db, values)
        ordered = sorted(values)
        for rank in (0, 1, size // 3, size // 2, size - 2, size - 1):
            got = support.value(db, f"SELECT gpu_percentile_disc(x, {rank / (size - 1)!r}) FROM t")
            found = int(rank / (size - 1) * (size - 1))
            batch.compare(got, float(ordered[found]), f"rank {found} of {size}, {name}")
        batch.compare(db.execute("SELECT gpu_count_distinct(x), gpu_mode(x) FROM t").fetchone(), (count_distinct(values), mode(values)), name)


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
    tap.is_equal(
        db.execute(
            "SELECT gpu_median(DISTINCT y), gpu_count_distinct(y) FILTER (WHERE y IN (1, 2)),"
            " gpu_mode(y) FILTER (WHERE 0) FROM (SELECT 1 AS y UNION ALL VALUES (1), (2), (4))"
        ).fetchone(),
        (2.0, 2, None),
        "DISTINCT and FILTER",
    )


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
    rows = range(20_000)
    for values, want in (([5.0, *rows], 5), ([5.0, 5.0, *map(float, rows)], 5.0)):
        fill(db, values)
        tap.is_equal(support.value(db, "SELECT gpu_mode(x) FROM t"), want, f"mode of many: {want!r}")
    fill(db, [1, 1.0, 1.0, 2.0, 2])
    tap.is_equal(
        [row[0] for row in db.execute("SELECT gpu_mode(x) OVER (ROWS 1 PRECEDING) FROM t")],
        [1, 1, 1.0, 1.0, 2],
        "an INTEGER leaves, and its equals stay REAL",
    )


def test_histograms(rng, db):
    """Bins between random ends, of values at their bounds, next to these, and of any."""
    batch = support.Batch("histograms of random bins")
    kinds = (*NUMBERS, lambda rng: rng.randint(-100, 100) * 0.1, lambda rng: any_double(rng, 0, 3), lambda rng: any_double(rng, 2040, 2046),
             lambda rng: rng.choice((rng.randint(-9, 9), rng.randint(-9, 9) + 2.0**-45)))
    for number in range(400 if tap.QUICK else 4_000):
        kind = kinds[number % len(kinds)]
        low, high = sorted((kind(rng) or 0 for _ in range(2)), key=Fraction)
        bins = rng.choice((rng.randint(1, 20), rng.randint(1, 3_000)))
        if Fraction(low) == Fraction(high):
            continue
        values = [kind(rng) for _ in range(6)]
        for _ in range(24):
            bound = float(Fraction(low) + (Fraction(high) - Fraction(low)) * rng.randint(0, bins) / bins)
            value = rng.choice((bound, math.nextafter(bound, rng.choice((-math.inf, math.inf)))))
            values.append(int(value) if abs(value) < 2**62 and rng.random() < 0.2 else value)
        fill(db, values)
        values = [value for value in present(values) if not math.isinf(value)]
        got = db.execute("SELECT gpu_histogram(x, ?, ?, ?) FROM t WHERE abs(x) < 9e999", (low, high, bins)).fetchone()[0]
        batch.compare(got, histogram(values, low, high, bins), f"{bins} from {low!r} to {high!r} of {values}")


def test_empty(db):
    fill(db, [])
    for values in ([], [None, None]):
        fill(db, values)
        for call, _ in NUMERIC + ANY:
            want = 0 if call.startswith("gpu_count") else None
            tap.is_equal(support.value(db, f"SELECT {call} FROM t"), want, f"{call} of {values}")


#: Where SQLite's JSON functions get a histogram, and what they make of it: an array in an array.
NESTED = (
    ("SELECT json_array({h}) FROM t", "[[0,2,1,0]]"),
    ("SELECT json_object('h', {h}, 'n', count(*)) FROM t", '{"h":[0,2,1,0],"n":3}'),
    ("SELECT json_array({h}) FROM t WHERE x > 9", "[null]"),
    ("SELECT json_array({h}) FROM t GROUP BY x > 1 ORDER BY x > 1", "[[0,2,0,0]]"),
    ("SELECT json_array({h} OVER (ORDER BY x ROWS 1 PRECEDING)) FROM t", "[[0,1,0,0]]"),
    ("SELECT json_array({h} OVER (ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)) FROM t", "[[0,2,1,0]]"),
    (
        "SELECT json_array(gpu_histogram_merge(s)) FROM"
        " (SELECT gpu_histogram_state(x, 0, 4, 2) AS s FROM t)",
        "[[0,2,1,0]]",
    ),
    ("SELECT json_array(gpu_histogram_state(x, 0, 4, 2) IS NULL) FROM t", "[0]"),
    ("SELECT typeof({h}) FROM t", "text"),
)


def test_json(db):
    """A histogram is JSON, by its subtype, for SQLite's JSON functions. A view's column has no subtype, as that of
    a subquery has none."""
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
                support.rows(db, "SELECT h, json_array(h), json_array(json(other), s) FROM v"),
                [("[0,2,1,0]", '["[0,2,1,0]"]', "[[3,0,0],4]")],
                f"of a view, view_threshold {threshold}",
            )
        plan = support.rows(db, "SELECT * FROM clreduce_plan('v')")[0][0]
        tap.ok(plan.startswith("row by row") == (threshold > 0), plan)
        db.execute("DROP TABLE v")


support.run(globals(), db=support.connect())
