"""Order statistics, modes and distinct counts of columns, however their numbers are kept, and of several at once."""

import math

import support
import tap
import view_support as views

ROWS = 6_000 if tap.QUICK else 60_000

#: Columns of each width, and of each way to keep numbers; of both types, with TEXT, of NULLs, and with an infinity, for which
#: a median has an error. What is in row k.
COLUMNS = {
    "wide": lambda rng, k: rng.choice((rng.randrange(-(2**63), 2**63), 7, views.INT_MIN)),
    "four": lambda rng, k: rng.randrange(2**31) - 2**30,
    "two": lambda rng, k: rng.randrange(-20_000, 40_000),
    "one": lambda rng, k: rng.randrange(200),
    "x": lambda rng, k: rng.choice((0.0, -0.0, rng.gauss(0, 1), rng.randrange(-5, 5) + 0.5)),
    "decimal": lambda rng, k: rng.randrange(-3_000, 3_000) / 100,
    "fine": lambda rng, k: rng.randrange(10**8) / 1000,
    "near": lambda rng, k: math.ldexp(-1.0 - rng.random() / 2**40, 7),
    "holes": lambda rng, k: rng.choice((None, rng.randrange(100))),
    "gaps": lambda rng, k: rng.choice((None, rng.random(), -rng.random(), -0.0)),
    "rare": lambda rng, k: 1.25 if k % 1000 == 3 else None,
    "mixed": lambda rng, k: rng.choice((k, k + 0.5, None)),
    "texts": lambda rng, k: rng.choice((k, "text")),
    "nulls": lambda rng, k: None,
    "infinite": lambda rng, k: math.inf if k == 5 else 1.0,
}
CALLS = (
    "gpu_median({0}), gpu_percentile({0}, 0), gpu_percentile({0}, 100), gpu_percentile({0}, 12.5),"
    " gpu_percentile_disc({0}, 0.999), gpu_percentile_cont({0}, 0.001)",
    "gpu_count_distinct({0}), gpu_mode({0}), typeof(gpu_mode({0})), count(DISTINCT {0})",
    "gpu_median({0}), gpu_sum({0}), gpu_max({0}), count({0}), count(*), gpu_min({0})",
)
TOGETHER = (
    "SELECT gpu_median(x), gpu_median(two), gpu_mode(one), gpu_sum(four), count(*) FROM t",
    "SELECT gpu_median(x), gpu_histogram(x, -1, 1, 7), gpu_mode(x), gpu_histogram(two, 0, 9, 3) FROM t",
    "SELECT gpu_median(x), gpu_mode(mixed), gpu_count_distinct(texts), gpu_count_distinct(x) FROM t",
    "SELECT gpu_median(x) FROM t WHERE two > 0",
    "SELECT gpu_median(x), gpu_median(x) FILTER (WHERE two > 0), gpu_mode(two) FROM t",
    "SELECT one % 5, gpu_median(x), gpu_count_distinct(two) FROM t GROUP BY 1",
    "SELECT gpu_median(x + 1), gpu_median(-two), gpu_median(x) FROM t",
    "SELECT gpu_median(holes), gpu_sum_state(x), gpu_dot(x, two), gpu_var_pop(holes) FROM t",
    "SELECT DISTINCT one FROM t",
)


def fill(path, rng):
    """The table."""
    db = views.connect(path)
    support.table(db, f"t(id INTEGER PRIMARY KEY, {', '.join(COLUMNS)})",
                  ((k, *(value(rng, k) for value in COLUMNS.values())) for k in range(1, ROWS + 1)))
    db.close()


def test_columns(path):
    """Each column by itself."""
    db = views.connect(path)
    for column in COLUMNS:
        batch = support.Batch(f"the order of {column}")
        for call in CALLS:
            select = f"SELECT {call.format(column)} FROM t"
            batch.compare(views.through_view(db, select), views.outcome(db, select), select)


def test_reference(path):
    """What SQLite says with its own means. Which of 0.0 and -0.0 is the middle one its order does not say."""
    db = views.connect(path)
    rows = db.execute("SELECT count(x) FROM t").fetchone()[0]
    middle = db.execute("SELECT x FROM t ORDER BY x LIMIT 2 OFFSET ?", (rows // 2 - 1,)).fetchall()
    want = (
        (middle[0][0] + middle[1][0]) / 2 + 0.0 if rows % 2 == 0 else middle[1][0] + 0.0,
        *db.execute("SELECT count(DISTINCT x), max(x), min(x) FROM t").fetchone(),
        db.execute("SELECT two FROM t GROUP BY two ORDER BY count(*) DESC, two LIMIT 1").fetchone()[0],
    )
    got = views.through_view(db, "SELECT gpu_median(x) + 0.0, gpu_count_distinct(x), gpu_percentile(x, 100), gpu_percentile(x, 0),"
                                 " gpu_mode(two) FROM t")
    tap.is_equal(got, [want], "SQLite's own order")


def test_together(batch, path):
    """Questions beside others."""
    db = views.connect(path)
    for select in TOGETHER:
        batch.compare(views.through_view(db, select), views.outcome(db, select), select)


PATH = views.new()
fill(PATH, support.seed())
views.run(globals(), path=PATH)
