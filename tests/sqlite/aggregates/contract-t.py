"""Clauses 1 to 4 and 9 of the aggregates' contract, those of numbers, on hand-written cases.

contract_cases.py says how each of them runs.
"""

import math

import support
import tap
from contract_cases import HUGE, INF, NULL, OVERFLOWS, TINY, ULP, Runner
from reference import INT_MAX, INT_MIN

HALF_ULP = 2.0**970  # of HUGE: HUGE plus this is the first sum that overflows
NULLS = (
    [
        (what, function, [(NULL, NULL)] * count, 0.0 if function == "gpu_total" else NULL)
        for what, count in (("no row", 0), ("one NULL", 1), ("NULLs only", 50))
        for function in support.FUNCTIONS
        if function.endswith("dot")
    ]
    + [
        (what, function, [NULL] * count, 0.0 if function == "gpu_total" else NULL)
        for what, count in (("no row", 0), ("one NULL", 1), ("NULLs only", 50))
        for function in support.FUNCTIONS
        if not function.endswith("dot")
    ]
    + [
        ("NULLs between values", "gpu_sum", [NULL, 3, NULL, 4, NULL], 7),
        ("NULLs between values", "gpu_total", [NULL, 3, NULL, 4, NULL], 7.0),
        ("NULL is not counted", "gpu_avg", [NULL, 3, NULL, 4, NULL], 3.5),
        ("NULL is less than nothing", "gpu_min", [NULL, 3, NULL, 4], 3),
        ("NULL is less than nothing", "gpu_max", [NULL, -3, NULL, -4], -3),
        ("a row with either NULL", "gpu_dot", [(NULL, 2), (3, NULL), (4, 5), (NULL, NULL)], 20),
        ("a NULL on each row", "gpu_dot", [(NULL, 2), (3, NULL), (NULL, 1.5)], NULL),
        (
            "a REAL beside a NULL does not make it REAL",
            "gpu_dot",
            [(NULL, 2.5), (2.5, NULL), (4, 5)],
            20,
        ),
        (
            "TEXT beside a NULL does not make it REAL",
            "gpu_dot",
            [(NULL, "a"), (b"1", NULL), (4, 5)],
            20,
        ),
        ("an infinity beside a NULL", "gpu_dot", [(NULL, INF), (0, NULL), (4, 5)], 20),
    ]
)
INTEGERS = [
    ("one", "gpu_sum", [7], 7),
    ("zero", "gpu_sum", [0], 0),
    ("cancel to zero", "gpu_sum", [5, -5], 0),
    ("the greatest alone", "gpu_sum", [INT_MAX], INT_MAX),
    ("the least alone", "gpu_sum", [INT_MIN], INT_MIN),
    ("the greatest, reached", "gpu_sum", [INT_MAX - 1, 1], INT_MAX),
    ("the least, reached", "gpu_sum", [INT_MIN + 1, -1], INT_MIN),
    ("one above", "gpu_sum", [INT_MAX, 1], OVERFLOWS),
    ("one below", "gpu_sum", [INT_MIN, -1], OVERFLOWS),
    ("twice the least", "gpu_sum", [INT_MIN, INT_MIN], OVERFLOWS),
    ("2 to the 64: zero in 64 bits", "gpu_sum", [2**62] * 4, OVERFLOWS),
    ("only a running total too large", "gpu_sum", [INT_MAX, INT_MAX, -INT_MAX], INT_MAX),
    ("only a running total too small", "gpu_sum", [INT_MIN, INT_MIN, INT_MAX, 1], INT_MIN),
    ("many limits that cancel", "gpu_sum", [INT_MIN, INT_MAX] * 100 + [100], 0),
    ("many of the greatest", "gpu_sum", [INT_MAX] * 100, OVERFLOWS),
    ("odd above 2 to the 53", "gpu_sum", [2**53, 1], 2**53 + 1),
    ("one row", "gpu_dot", [(6, 7)], 42),
    ("zero", "gpu_dot", [(6, 7), (-6, 7)], 0),
    ("the greatest", "gpu_dot", [(INT_MAX, 1)], INT_MAX),
    ("the least", "gpu_dot", [(INT_MIN, 1)], INT_MIN),
    ("the least, as a product", "gpu_dot", [(2**32, -(2**31))], INT_MIN),
    ("minus the least", "gpu_dot", [(INT_MIN, -1)], OVERFLOWS),
    ("a product one too large", "gpu_dot", [(2**32, 2**31)], OVERFLOWS),
    ("2 to the 64: zero in 64 bits", "gpu_dot", [(2**32, 2**32)], OVERFLOWS),
    ("a product too large, cancelled", "gpu_dot", [(2**40, 2**40), (-(2**40), 2**40), (3, 5)], 15),
    (
        "the largest products, cancelled",
        "gpu_dot",
        [(INT_MIN, INT_MIN), (INT_MIN, INT_MAX), (INT_MIN, 1), (-1, 1)],
        -1,
    ),
    (
        "a running total beyond 128 bits, cancelled",
        "gpu_dot",
        [(INT_MIN, INT_MIN)] * 3 + [(INT_MIN, INT_MAX)] * 3 + [(INT_MIN, 3), (9, 9)],
        81,
    ),
    ("2 to the 128: zero in 128 bits", "gpu_dot", [(INT_MIN, INT_MIN)] * 4, OVERFLOWS),
    ("2 to the 127: negative in 128 bits", "gpu_dot", [(INT_MIN, INT_MIN)] * 2, OVERFLOWS),
    (
        "a hundred of the largest products, cancelled",
        "gpu_dot",
        [(INT_MIN, INT_MIN)] * 100 + [(INT_MIN, INT_MAX)] * 100 + [(INT_MIN, 100), (1, 1)],
        1,
    ),
]
REALS = [
    ("one", "gpu_sum", [0.1], 0.1),
    ("an INTEGER and a REAL", "gpu_sum", [1, 0.5], 1.5),
    ("a REAL zero makes it REAL", "gpu_sum", [1, 0.0], 1.0),
    ("tenths", "gpu_sum", [0.1] * 10, 1.0),
    ("three tenths", "gpu_sum", [0.1, 0.2], 0.1 + 0.2),
    ("cancellation", "gpu_sum", [1e16, 1.0, -1e16], 1.0),
    ("the whole range cancels", "gpu_sum", [1e308, TINY, -1e308], TINY),
    ("the whole range, and a tie", "gpu_sum", [HUGE, 1.0, ULP / 2, TINY, -HUGE], 1.0 + ULP),
    ("a running total above the range", "gpu_sum", [1e308, 1e308, -1e308], 1e308),
    ("a running total far above", "gpu_sum", [HUGE] * 50 + [-HUGE] * 49, HUGE),
    ("overflow", "gpu_sum", [1e308, 1e308], INF),
    ("overflow below", "gpu_sum", [-1e308, -1e308], -INF),
    ("the greatest", "gpu_sum", [HUGE], HUGE),
    (
        "just below half an ulp above the greatest",
        "gpu_sum",
        [HUGE, math.nextafter(HALF_ULP, 0)],
        HUGE,
    ),
    ("half an ulp above the greatest: a tie that overflows", "gpu_sum", [HUGE, HALF_ULP], INF),
    ("half an ulp above, less a trifle", "gpu_sum", [HUGE, HALF_ULP, -TINY], HUGE),
    ("half an ulp below the least", "gpu_sum", [-HUGE, -HALF_ULP], -INF),
    ("a tie to even, down", "gpu_sum", [1.0, ULP / 2], 1.0),
    ("a tie to even, up", "gpu_sum", [1.0 + ULP, ULP / 2], 1.0 + 2 * ULP),
    ("just above a tie", "gpu_sum", [1.0, ULP / 2, TINY], 1.0 + ULP),
    ("just below a tie", "gpu_sum", [1.0 + ULP, ULP / 2, -TINY], 1.0 + ULP),
    ("a negative tie to even", "gpu_sum", [-1.0, -ULP / 2], -1.0),
    ("just below a negative tie", "gpu_sum", [-1.0, -ULP / 2, -TINY], -1.0 - ULP),
    ("subnormals", "gpu_sum", [TINY, TINY, TINY], 3 * TINY),
    ("subnormals become normal", "gpu_sum", [2.0**-1023, 2.0**-1023], 2.0**-1022),
    ("normals become subnormal", "gpu_sum", [2.0**-1022, -TINY], 2.0**-1022 - TINY),
    ("subnormals, a carry over all their bits", "gpu_sum", [2.0**-1022 - TINY, TINY], 2.0**-1022),
    ("a zero is positive", "gpu_sum", [0.0, -0.0], 0.0),
    ("negative zeros give a positive one", "gpu_sum", [-0.0, -0.0], 0.0),
    ("one negative zero", "gpu_sum", [-0.0], 0.0),
    ("a cancelled sum is a positive zero", "gpu_sum", [-1.5, 1.5], 0.0),
    ("an odd INTEGER above 2 to the 53, alone with 0.0", "gpu_sum", [2**53 + 1, 0.0], 2.0**53),
    (
        "odd INTEGERs are not rounded one by one",
        "gpu_sum",
        [2**53 + 1, 2**53 + 1, 0.0],
        2.0**54 + 2,
    ),
    ("an INTEGER and a REAL break a tie", "gpu_sum", [2**53 + 1, 2.0**-30], 2.0**53 + 2),
    ("INTEGERs at the limit beside a REAL", "gpu_sum", [INT_MAX, INT_MAX, 0.5], 2.0**64),
    ("INTEGERs at the limit leave a REAL", "gpu_sum", [INT_MAX, INT_MIN, 0.25, 1], 0.25),
    ("the greatest INTEGER against 2 to the 63", "gpu_sum", [INT_MAX, -(2.0**63)], -1.0),
    ("many INTEGERs and a REAL do not overflow", "gpu_sum", [INT_MAX] * 3 + [0.0], 3 * 2.0**63),
    ("an infinity", "gpu_sum", [1, INF, -5.5], INF),
    ("a negative infinity", "gpu_sum", [-INF, 1e308], -INF),
    ("infinities of one sign", "gpu_sum", [INF, INF], INF),
    ("an infinity and finite overflow", "gpu_sum", [-INF, HUGE, HUGE], -INF),
    ("infinities of both signs", "gpu_sum", [INF, 1.0, -INF], NULL),
    ("an infinity and INTEGERs that overflow", "gpu_sum", [INF, INT_MAX, INT_MAX], INF),
    ("one row", "gpu_dot", [(0.1, 0.1)], 0.1 * 0.1),
    ("an INTEGER by a REAL", "gpu_dot", [(3, 0.5)], 1.5),
    ("a REAL in another row", "gpu_dot", [(3, 5), (1.0, 1)], 16.0),
    (
        "a product's low half counts",
        "gpu_dot",
        [(1.0 + ULP, 1.0 + ULP), (-1.0 - 2 * ULP, 1.0)],
        ULP * ULP,
    ),
    ("ill-conditioned", "gpu_dot", [(1e20, 1e20), (3.0, 7.0), (-1e20, 1e20)], 21.0),
    (
        "products above the range cancel",
        "gpu_dot",
        [(1e200, 1e200), (2.0, 2.5), (-1e200, 1e200)],
        5.0,
    ),
    ("the largest products cancel", "gpu_dot", [(HUGE, HUGE), (TINY, 1), (HUGE, -HUGE)], TINY),
    ("overflow", "gpu_dot", [(1e200, 1e200)], INF),
    ("overflow below", "gpu_dot", [(-1e200, 1e200)], -INF),
    ("underflow to a positive zero", "gpu_dot", [(1e-200, 1e-200)], 0.0),
    ("underflow from below to a positive zero", "gpu_dot", [(-1e-200, 1e-200)], 0.0),
    (
        "what underflows still counts",
        "gpu_dot",
        [(1.0, 1.0), (1.0, ULP / 2), (TINY, TINY)],
        1.0 + ULP,
    ),
    ("half of the least subnormal: a tie to even", "gpu_dot", [(TINY, 0.5)], 0.0),
    ("half of the least subnormal, and a trifle", "gpu_dot", [(TINY, 0.5), (TINY, TINY)], TINY),
    ("many products that underflow", "gpu_dot", [(TINY, 0.25)] * 12, 3 * TINY),
    (
        "the low half underflows",
        "gpu_dot",
        [
            (2.0**-500 * (1 + ULP), 2.0**-500 * (1 + ULP)),
            (-(2.0**-500) * (1 + 2 * ULP), 2.0**-500),
            (TINY, 1),
        ],
        TINY,
    ),
    ("INTEGERs of 63 bits by REALs", "gpu_dot", [(INT_MAX, 1.0), (INT_MIN, 1.0)], -1.0),
    (
        "an INTEGER by a REAL, all bits",
        "gpu_dot",
        [(INT_MAX, 1.0 + ULP), (-(2.0**63), 1.0 + ULP)],
        -1.0 - ULP,
    ),
    (
        "INTEGER products with a REAL do not overflow",
        "gpu_dot",
        [(INT_MIN, INT_MIN), (0.0, 0)],
        2.0**126,
    ),
    ("an infinity", "gpu_dot", [(INF, 2), (3, 4)], INF),
    ("an infinity by a negative", "gpu_dot", [(INF, -2.5), (3, 4)], -INF),
    ("infinities by one another", "gpu_dot", [(-INF, -INF), (3, 4)], INF),
    ("infinities of both signs", "gpu_dot", [(INF, 2), (-INF, 1)], NULL),
    ("zero by an infinity", "gpu_dot", [(0, INF), (3, 4)], NULL),
    ("zero by an infinity beside an infinity", "gpu_dot", [(0.0, -INF), (INF, 4)], NULL),
    ("negative zero by an infinity", "gpu_dot", [(INF, -0.0)], NULL),
    ("an infinity by a subnormal", "gpu_dot", [(INF, -TINY)], -INF),
]
AVERAGES = [
    ("of INTEGERs", "gpu_avg", [1, 2], 1.5),
    ("a whole one is REAL", "gpu_avg", [1, 3], 2.0),
    ("a zero is positive", "gpu_avg", [-1, 1], 0.0),
    ("thirds", "gpu_avg", [1, 0, 0], 1 / 3),
    ("the sum is not rounded first", "gpu_avg", [2**53 + 1, 2**53 + 3], 2.0**53 + 2),
    (
        "the sum is not rounded first, to an odd third",
        "gpu_avg",
        [2**53, 2**53, 2**53 + 5],
        2.0**53 + 2,
    ),
    (
        "the sum of REALs is not rounded first",
        "gpu_avg",
        [1.0, ULP / 2, 1.0 + ULP],
        (2 / 3 + ULP / 2),
    ),
    ("INTEGERs at the limit", "gpu_avg", [INT_MAX, INT_MAX], 2.0**63),
    ("INTEGERs at the limit cancel", "gpu_avg", [INT_MAX, INT_MIN], -0.5),
    ("INTEGERs never overflow", "gpu_avg", [INT_MIN] * 30, -(2.0**63)),
    ("the sum overflows, the average does not", "gpu_avg", [HUGE, HUGE], HUGE),
    ("the sum overflows both ways", "gpu_avg", [HUGE, HUGE, -HUGE, HUGE], HUGE / 2),
    ("subnormals: a tie to even, to zero", "gpu_avg", [TINY, 0.0], 0.0),
    ("subnormals: a tie from below, to a positive zero", "gpu_avg", [-TINY, 0.0], 0.0),
    ("subnormals: a tie to even, up", "gpu_avg", [3 * TINY, 0.0], 2 * TINY),
    ("subnormals: two thirds", "gpu_avg", [TINY, TINY, 0.0], TINY),
    ("an infinity", "gpu_avg", [INF, 1], INF),
    ("infinities of both signs", "gpu_avg", [INF, -INF, 1], NULL),
    ("a REAL and INTEGERs", "gpu_avg", [2**53 + 1, 0.5, 2**53], 6004799503160662.0),
    ("is REAL", "gpu_total", [1, 2], 3.0),
    ("of INTEGERs that overflow", "gpu_total", [INT_MAX, INT_MAX], 2.0**64),
    ("of INTEGERs, rounded once", "gpu_total", [2**53 + 1, 2**53 + 1], 2.0**54 + 2),
    ("of INTEGERs, a tie to even", "gpu_total", [2**53, 1], 2.0**53),
    ("of INTEGERs, a tie to even, up", "gpu_total", [2**53 + 2, 1], 2.0**53 + 4),
    ("of the limits", "gpu_total", [INT_MIN, INT_MIN], -(2.0**64)),
    ("of REALs", "gpu_total", [1e16, 1.0, -1e16], 1.0),
    ("a running total above the range", "gpu_total", [1e308, 1e308, -1e308], 1e308),
    ("overflow", "gpu_total", [HUGE, HUGE], INF),
    ("infinities of both signs", "gpu_total", [INF, -INF], NULL),
    ("a zero is positive", "gpu_total", [-0.0], 0.0),
]


def main():
    runner = Runner()
    runner.cases("1", NULLS)
    runner.cases("2", INTEGERS)
    runner.cases("3", REALS)
    runner.cases("4", AVERAGES)
    for label, db, _ in runner.runs:
        if label.startswith(support.device()):
            tap.ok(support.stats(db)["chunks_to_device"] > 0, f"9 a device took part ({label})")
    support.skip_device(1, "9 a device takes part")
    tap.done()


main()
