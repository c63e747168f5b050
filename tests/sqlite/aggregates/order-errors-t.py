"""The errors of order statistics and histograms: wrong values and arguments, a limit of memory, and
statements that are stopped; and SQLite's own percentile functions, which have errors where ours have.
"""

import sqlite3

import support
import tap
from order_reference import fill, percentile
from reference import Failure

ERRORS = (
    ("gpu_median(x)", "'2'", "gpu_median: x must be a finite number, not '2'"),
    ("gpu_median(x)", "x'32'", "gpu_median: x must be a finite number, not a BLOB"),
    ("gpu_median(x)", "9e999", "gpu_median: x must be a finite number, not Inf"),
    ("gpu_percentile(x, 50)", "-9e999", "gpu_percentile: x must be a finite number, not -Inf"),
    ("gpu_percentile_cont(x, 0.5)", "'a'", "gpu_percentile_cont: x must be a finite number, not 'a'"),
    ("gpu_percentile(x, 100.1)", "1", "gpu_percentile: p must be a number from 0.0 to 100.0, not 100.09999999999999"),
    ("gpu_percentile(x, 190)", "1", "gpu_percentile: p must be a number from 0.0 to 100.0, not 190"),
    ("gpu_percentile(x, NULL)", "NULL", "gpu_percentile: p must be a number from 0.0 to 100.0, not NULL"),
    ("gpu_percentile_disc(x, -0.5)", "1", "gpu_percentile_disc: f must be a number from 0.0 to 1.0, not -0.5"),
    ("gpu_percentile_cont(x, 'half')", "1", "gpu_percentile_cont: f must be a number from 0.0 to 1.0, not 'half'"),
    ("gpu_percentile_cont(x, rowid * 0.25)", "1", "gpu_percentile_cont: f must be the same on every row, not 0.5"),
    ("gpu_percentile(x, rowid)", "1", "gpu_percentile: p must be the same on every row, not 2"),
    ("gpu_histogram_merge(x)", "1", "gpu_histogram_merge: the argument must be a state of gpu_histogram, not 1"),
    ("gpu_sum_merge(x)", "2.5", "gpu_sum_merge: the argument must be a state of gpu_sum, not"),
    ("gpu_histogram(x, 0, 1, 2)", "'a'", "gpu_histogram: x must be a number, not 'a'"),
    ("gpu_histogram(x, 'a', 1, 2)", "1", "gpu_histogram: low must be a finite number, not 'a'"),
    ("gpu_histogram(x, 0, NULL, 2)", "1", "gpu_histogram: high must be a finite number, not NULL"),
    ("gpu_histogram(x, -9e999, 1, 2)", "1", "gpu_histogram: low must be a finite number, not -Inf"),
    ("gpu_histogram(x, 1, 1.0, 2)", "1", "gpu_histogram: high must be greater than low, not 1.0"),
    ("gpu_histogram(x, 0.0, -0.0, 2)", "1", "gpu_histogram: high must be greater than low, not"),
    ("gpu_histogram(x, -0.0, 0.0, 2)", "1", "gpu_histogram: high must be greater than low, not 0.0"),
    ("gpu_histogram(x, 0, 1, 0)", "1", "gpu_histogram: bins must be an INTEGER from 1 to 1000000, not 0"),
    ("gpu_histogram(x, 0, 1, 1000001)", "1", "gpu_histogram: bins must be an INTEGER from 1 to 1000000, not 1000001"),
    ("gpu_histogram(x, 0, 1, 2.0)", "1", "gpu_histogram: bins must be an INTEGER from 1 to 1000000, not 2.0"),
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
        support.execute(db, "DROP TABLE IF EXISTS t", "CREATE TABLE t(x)", f"INSERT INTO t VALUES (1), ({value})")
        for over in ("", " OVER (ROWS 1 PRECEDING)"):
            got = support.rows(db, f"SELECT {call}{over} FROM t")
            tap.ok(isinstance(got, Failure) and text in str(got), f"{call}{over} of {value}: {got}")
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
    support.execute(db, "CREATE TABLE t(x)", "BEGIN")
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


def test_interrupted(db):
    """A statement that is stopped, or left, in the middle frees all; the next one is right."""
    fill(db, list(range(50_000)))
    calls = ("gpu_median(x)", "gpu_mode(x)", "gpu_count_distinct(x)", "gpu_histogram(x, 0, 1, 9)")
    support.configure(db, values_memory=10_000_000)
    for over in ("", " OVER (ROWS 1000 PRECEDING)"):
        for call in calls:
            for _ in range(20):
                with support.stopped(db, 60, 1000):
                    got = support.rows(db, f"SELECT {call}{over} FROM t")
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


def test_against_sqlite(batch, rng, db):
    """Where this SQLite has its own percentile functions: the same ranks, and errors for the same arguments."""
    try:
        db.execute("SELECT median(1), percentile(1, 50), percentile_disc(1, 0.5)")
    except sqlite3.OperationalError:
        batch.skip("this SQLite has no percentile functions")
        return
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
        if "histogram" not in call and "merge" not in call:
            got = support.rows(db, f"SELECT {call.replace('gpu_', '')} FROM (SELECT 1 AS x, 1 AS rowid"
                               f" UNION ALL SELECT {value}, 2)")
            batch.check(isinstance(got, Failure), f"{call}: {text}, and SQLite: {got}")


support.run(globals(), db=support.connect())
