"""The statistics on hand-written cases.

The exact answer comes from statistics_reference.py, and every bit has to be right. All functions
run over the same rows in one query, so that a case is a row of many answers.
"""

import math

import support
import tap
from moment_kinds import HUGE, TINY
from reference import INT_MAX, INT_MIN, Failure
from statistics_reference import FUNCTIONS, SINGLE, call
from statistics_runs import CALLS, answers, connections, fill, same

INF = math.inf
NULL = None
#: What all functions answer where there is nothing to answer from.
NOTHING = dict.fromkeys(FUNCTIONS, NULL) | {"gpu_regr_count": 0}
#: What all functions answer for the one pair (3, 2).
ALONE = NOTHING | {
    "gpu_var_pop": 0.0,
    "gpu_stddev_pop": 0.0,
    "gpu_norm": 2.0,
    "gpu_covar_pop": 0.0,
    "gpu_regr_count": 1,
    "gpu_regr_avgx": 2.0,
    "gpu_regr_avgy": 3.0,
    "gpu_regr_sxx": 0.0,
    "gpu_regr_syy": 0.0,
    "gpu_regr_sxy": 0.0,
}
#: The answers of the functions of one argument where only they have rows.
SINGLE_ALONE = NOTHING | {name: ALONE[name] for name in SINGLE}


def both(values):
    """Rows whose two variables are the same."""
    return [(value, value) for value in values]


#: What, rows (y, x), and answers: all of them, or those that are worth writing down.
CASES = [
    ("no row", [], NOTHING),
    ("NULLs only", [(NULL, NULL)] * 3, NOTHING),
    ("x is NULL", [(3, NULL)] * 3, NOTHING),
    ("one value of x, y is NULL", [(NULL, 2)], SINGLE_ALONE),
    ("one pair", [(3, 2)], ALONE),
    ("one pair of REALs", [(3.0, 2.0)], ALONE),
    ("one pair of TEXT", [("3", "2")], ALONE),
    ("one pair of BLOBs", [(b"3", b"2")], ALONE),
    ("a numeric prefix", [("3e0 or so", b"2.0\xff")], ALONE),
    ("one pair among halves", [(3, NULL), (3, 2), (NULL, NULL), (INF, NULL)], ALONE),
    (
        "a pair and a value of x alone",
        [(3, 2), (NULL, 4)],
        ALONE
        | {
            "gpu_var_pop": 1.0,
            "gpu_var_samp": 2.0,
            "gpu_stddev_pop": 1.0,
            "gpu_stddev_samp": math.sqrt(2),
            "gpu_norm": math.sqrt(20),
        },
    ),
    (
        "what is no number counts as 0",
        [("x", "y"), (b"", "")],
        {"gpu_var_samp": 0.0, "gpu_norm": 0.0, "gpu_regr_count": 2, "gpu_regr_avgy": 0.0},
    ),
    (
        "one pair of infinities",
        both([INF]),
        NOTHING
        | {
            "gpu_norm": INF,
            "gpu_regr_count": 1,
            "gpu_regr_avgx": INF,
            "gpu_regr_avgy": INF,
        },
    ),
    (
        "1e10 repeated",
        both([1e10] * 5),
        {
            "gpu_var_pop": 0.0,
            "gpu_var_samp": 0.0,
            "gpu_stddev_samp": 0.0,
            "gpu_covar_samp": 0.0,
            "gpu_corr": NULL,
            "gpu_regr_slope": NULL,
            "gpu_regr_intercept": NULL,
            "gpu_regr_r2": NULL,
        },
    ),
    (
        "0.1 repeated",
        both([0.1] * 10),
        {"gpu_var_samp": 0.0, "gpu_stddev_pop": 0.0, "gpu_corr": NULL, "gpu_regr_avgx": 0.1},
    ),
    (
        "1e15 and units",
        both([1e15, 1e15 + 1, 1e15 + 2]),
        {
            "gpu_var_samp": 1.0,
            "gpu_var_pop": 2 / 3,
            "gpu_stddev_samp": 1.0,
            "gpu_corr": 1.0,
            "gpu_regr_slope": 1.0,
            "gpu_regr_intercept": 0.0,
        },
    ),
    (
        "an exact line",
        [(1, 1), (3, 2), (5, 3), (7, 4)],
        {
            "gpu_corr": 1.0,
            "gpu_regr_slope": 2.0,
            "gpu_regr_intercept": -1.0,
            "gpu_regr_r2": 1.0,
            "gpu_regr_count": 4,
            "gpu_regr_avgx": 2.5,
            "gpu_regr_avgy": 4.0,
            "gpu_regr_sxx": 5.0,
            "gpu_regr_syy": 20.0,
            "gpu_regr_sxy": 10.0,
            "gpu_covar_pop": 2.5,
            "gpu_covar_samp": 10 / 3,
        },
    ),
    (
        "a falling line",
        [(0.3, 1), (0.2, 2), (0.1, 3)],
        {"gpu_corr": -1.0, "gpu_covar_pop": -1 / 15, "gpu_regr_avgy": 0.2},
    ),
    (
        "a horizontal line",
        [(4, 1), (4, 2), (4.0, 3)],
        {
            "gpu_corr": NULL,
            "gpu_regr_slope": 0.0,
            "gpu_regr_intercept": 4.0,
            "gpu_regr_r2": 1.0,
            "gpu_regr_syy": 0.0,
        },
    ),
    (
        "a vertical line",
        [(1, 4), (2, 4.0), (3, 4)],
        {"gpu_corr": NULL, "gpu_regr_slope": NULL, "gpu_regr_intercept": NULL, "gpu_regr_r2": NULL},
    ),
    (
        "no correlation",
        [(1, 1), (1, -1), (-1, 1), (-1, -1)],
        {"gpu_corr": 0.0, "gpu_regr_slope": 0.0, "gpu_regr_r2": 0.0, "gpu_covar_pop": 0.0},
    ),
    (
        "correlations never pass 1",
        [(0, 0), (1, 1), (math.nextafter(2, 3), 2)],
        {"gpu_corr": 1.0, "gpu_regr_r2": 1.0},
    ),
    (
        "the limits of INTEGER",
        both([INT_MIN, INT_MAX]),
        {
            "gpu_var_pop": 2.0**126,
            "gpu_stddev_pop": 2.0**63,
            "gpu_norm": 2.0**63 * math.sqrt(2),
            "gpu_regr_avgx": -0.5,
            "gpu_regr_sxy": 2.0**127,
        },
    ),
    (
        "an odd INTEGER above 2 to the 53 beside a REAL",
        both([2**53 + 1, 2.0**53]),
        {"gpu_var_pop": 0.25, "gpu_stddev_pop": 0.5, "gpu_regr_sxx": 0.5, "gpu_corr": 1.0},
    ),
    (
        "squares above the range",
        both([1e300, -1e300]),
        {
            "gpu_var_pop": INF,
            "gpu_var_samp": INF,
            "gpu_stddev_pop": 1e300,
            "gpu_covar_pop": INF,
            "gpu_corr": 1.0,
            "gpu_regr_slope": 1.0,
            "gpu_regr_r2": 1.0,
            "gpu_regr_avgx": 0.0,
            "gpu_regr_sxy": INF,
        },
    ),
    (
        "products below the range",
        [(HUGE, HUGE), (-HUGE, HUGE), (0, -HUGE)],
        {"gpu_norm": INF, "gpu_regr_avgy": 0.0, "gpu_regr_sxy": 0.0, "gpu_regr_syy": INF},
    ),
    (
        "an overflow below",
        [(1e300, -1e300), (-1e300, 1e300)],
        {"gpu_covar_pop": -INF, "gpu_regr_sxy": -INF, "gpu_corr": -1.0, "gpu_regr_slope": -1.0},
    ),
    (
        "a slope above the range",
        [(HUGE, TINY), (-HUGE, 0.0)],
        {"gpu_regr_slope": INF, "gpu_regr_intercept": -HUGE, "gpu_corr": 1.0},
    ),
    (
        "a slope below the range, and a zero is positive",
        [(-TINY, HUGE), (TINY, -HUGE)],
        {"gpu_regr_slope": 0.0, "gpu_regr_intercept": 0.0, "gpu_corr": -1.0, "gpu_regr_r2": 1.0},
    ),
    (
        "the least subnormal",
        both([TINY, -TINY]),
        {
            "gpu_var_pop": 0.0,
            "gpu_stddev_pop": TINY,
            "gpu_stddev_samp": TINY,
            "gpu_norm": TINY,
            "gpu_covar_pop": 0.0,
            "gpu_corr": 1.0,
            "gpu_regr_avgx": 0.0,
        },
    ),
    (
        "half of the least subnormal: a tie to even, to zero",
        both([2.0**-538, -(2.0**-538)]),
        {"gpu_var_samp": 0.0, "gpu_regr_sxx": 0.0},
    ),
    (
        "one and a half of the least subnormal: a tie to even, up",
        [(3 * 2.0**-538, 2.0**-538), (-3 * 2.0**-538, -(2.0**-538))],
        {"gpu_covar_samp": 2 * TINY, "gpu_regr_sxy": 2 * TINY},
    ),
    (
        "an infinite y",
        [(INF, 1), (2, 3), (4, 8)],
        {
            "gpu_var_pop": 26 / 3,
            "gpu_norm": math.sqrt(74),
            "gpu_covar_pop": NULL,
            "gpu_covar_samp": NULL,
            "gpu_corr": NULL,
            "gpu_regr_slope": NULL,
            "gpu_regr_intercept": NULL,
            "gpu_regr_r2": NULL,
            "gpu_regr_count": 3,
            "gpu_regr_avgx": 4.0,
            "gpu_regr_avgy": INF,
            "gpu_regr_sxx": 26.0,
            "gpu_regr_syy": NULL,
            "gpu_regr_sxy": NULL,
        },
    ),
    (
        "an infinite x",
        [(1, -INF), (3, 2), (8, 4)],
        {
            "gpu_var_pop": NULL,
            "gpu_stddev_samp": NULL,
            "gpu_norm": INF,
            "gpu_covar_pop": NULL,
            "gpu_corr": NULL,
            "gpu_regr_slope": NULL,
            "gpu_regr_r2": NULL,
            "gpu_regr_avgx": -INF,
            "gpu_regr_avgy": 4.0,
            "gpu_regr_sxx": NULL,
            "gpu_regr_syy": 26.0,
            "gpu_regr_sxy": NULL,
        },
    ),
    (
        "infinities of both signs",
        [(INF, INF), (-INF, -INF), (1, 1)],
        {"gpu_norm": INF, "gpu_regr_avgx": NULL, "gpu_regr_avgy": NULL, "gpu_regr_count": 3},
    ),
    (
        "an infinity as TEXT",
        [("9e999", 1), (1, 2)],
        {"gpu_regr_avgy": INF, "gpu_regr_sxx": 0.5, "gpu_regr_syy": NULL},
    ),
    (
        "an infinite x and a constant y",
        [(4, INF), (4, 1)],
        {"gpu_regr_r2": 1.0, "gpu_corr": NULL, "gpu_regr_slope": NULL, "gpu_regr_syy": 0.0},
    ),
    (
        "an infinity beside a NULL",
        [(INF, NULL), (NULL, -INF), (3, 2)],
        {"gpu_var_pop": NULL, "gpu_norm": INF, "gpu_regr_avgx": 2.0, "gpu_regr_avgy": 3.0},
    ),
]
#: Copies of the rows of a case that fill chunks of 16 values; no statistic of a population changes.
COPIES = 20


def test_cases(runs):
    """A check for each hand-written case, of the reference too, and in chunks."""
    for what, rows, wanted in CASES:
        batch = support.Batch(what)
        want = answers(rows)
        for name, right in wanted.items():
            batch.compare(want[FUNCTIONS.index(name)], right, f"{name}, the reference")
        many = rows * COPIES
        for label, db in runs:
            for order, given in (("", rows), (", reversed", rows[::-1])):
                fill(db, given)
                got = db.execute(f"SELECT {CALLS} FROM t").fetchone()
                same(batch, got, want, label + order)
            fill(db, many)
            source = "t" if label == "host" else support.lingering(len(many) / 16)
            got = db.execute(f"SELECT {CALLS} FROM {source}").fetchone()
            same(batch, got, answers(many), f"{label}, {COPIES} times")
        batch.end()


def test_types(db):
    """What SQLite calls the type of each result."""
    types = ", ".join(f"typeof({call(name)})" for name in FUNCTIONS)
    fill(db, [(1, 2), (3, 5), (4, 7)])
    want = tuple("integer" if name.endswith("count") else "real" for name in FUNCTIONS)
    tap.is_equal(db.execute(f"SELECT {types} FROM t").fetchone(), want, "the types of the results")
    batch = support.Batch("DISTINCT, FILTER, an expression, no table")
    got = db.execute(
        "SELECT gpu_var_pop(DISTINCT x % 2), gpu_regr_count(y, x) FILTER (WHERE x > 4),"
        " gpu_corr(y * 2, x + 1) = gpu_corr(y, x) FROM t"
    ).fetchone()
    batch.compare(got, (0.25, 2, 1), "of a table")
    got = db.execute("SELECT gpu_stddev_pop(5), gpu_regr_avgy(3, 4), gpu_var_samp(1)").fetchone()
    batch.compare(got, (0.0, 3.0, NULL), "of no table")
    batch.end()


def test_arguments(db):
    """SQLite's own error for a wrong number of arguments."""
    for name in FUNCTIONS:
        right = 1 if name in SINGLE else 2
        batch = support.Batch(f"{name}: a wrong number of arguments")
        for count in {0, 1, 2, 3} - {right}:
            got = support.value(db, f"SELECT {name}({', '.join(['1'] * count)})")
            want = Failure(f"wrong number of arguments to function {name}()")
            batch.compare(got, want, f"{count} arguments")
        batch.end()


def main():
    runs = connections()
    test_types(runs[0][1])
    test_arguments(runs[0][1])
    test_cases(runs)
    tap.done()


main()
