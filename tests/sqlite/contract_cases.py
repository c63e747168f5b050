"""How a case of the aggregates' contract runs.

Each case runs as it stands, which the extension reduces where the values are buffered, and padded
to several chunks with rows that do not change the answer, on the host and on a device.
"""

import math

import support
from reference import OVERFLOW, Failure, answer

INF = math.inf
TINY = 5e-324  # the least subnormal
HUGE = 1.7976931348623157e308  # the greatest double
ULP = 2.0**-52
OVERFLOWS = Failure(OVERFLOW)
NULL = None
#: Copies of a case that fill chunks of 16 values and leave a remainder.
COPIES = 37


def ones(values):
    """A column as rows for the functions of one argument."""
    return [(item, NULL) for item in values]


def padded(function, pairs):
    """The rows among enough others to fill chunks, with the same answer.

    An INTEGER 0 changes no sum, and an average and the extremes stay when all rows are repeated.
    """
    if function.endswith(("avg", "min", "max")):
        return pairs * COPIES
    if all(NULL in (pair if function.endswith("dot") else pair[:1]) for pair in pairs):
        return pairs * COPIES
    return [(0, 0)] * COPIES + pairs + [(0, 0)] * COPIES


class Runner:
    """Connections for every way to run a case."""

    def __init__(self):
        self.runs = [("host", support.connect(), False)]
        for mode in support.modes():
            self.runs.append(
                (f"{mode}, chunks of 16", support.connect(mode, **support.SMALL), True)
            )

    def case(self, name, function, pairs, want):
        """One check: the function of these rows gives that, in every way to run it."""
        batch = support.Batch(name)
        batch.compare(answer(function, pairs), want, "the reference")
        for label, db, pad in self.runs:
            for order, given in (("", pairs), (", reversed", pairs[::-1])):
                given = padded(function, given) if pad else given
                support.fill(db, given)
                source = support.lingering(len(given) / 16) if pad else "t"
                got = support.value(db, f"SELECT {support.call(function)} FROM {source}")
                batch.compare(got, want, f"{function}, {label}{order}")
        batch.end()

    def cases(self, clause, table):
        """Checks for a table of (what, function, values or pairs, answer)."""
        for what, function, items, want in table:
            pairs = items if function.endswith("dot") else ones(items)
            self.case(f"{clause} {function}: {what}", function, pairs, want)
