"""The order of numbers: SQLite's, exact between integers and doubles, and total. value-t.c has that of other values."""

import math
import sys

sys.dont_write_bytecode = True  # the sources may be read-only

import tap
from exact_lines import check, finite, integer, start, typed


def order(a, b, preferred):
    """The order of two numbers: of equal ones the preferred sign is that of an INTEGER before a REAL, and -0.0 comes before +0.0."""
    if a != b:
        return -1 if a < b else 1
    if isinstance(a, float) != isinstance(b, float):
        return -preferred if isinstance(a, float) else preferred
    return (math.copysign(1, a) > math.copysign(1, b)) - (math.copysign(1, a) < math.copysign(1, b)) if a == 0 else 0


def judge(name, cases):
    """One check of numbers, the first of each case against the others."""
    wanted = [["%d%d" % tuple(order(first, other, sign) % 3 for sign in (-1, 1)) for other in others] for first, *others in cases]
    lines = ["order " + " ".join(map(typed, case)) for case in cases]
    check(name, lines, lines, wanted)


def test_limits():
    """Numbers around every limit, each against each: of a double's integers, of 64 bits, of both zeros."""
    numbers = []
    for centre in (0.0, 1.0, 2.0**31, 2.0**52, 2.0**53, 2.0**54, 2.0**62, 2.0**63, 2.0**64, 1e300, math.inf, 5e-324, 2.0**-1022, 0.5):
        around = (centre, math.nextafter(centre, -math.inf), math.nextafter(centre, math.inf), centre + 0.5)
        numbers += [sign * x for x in around for sign in (-1, 1)]
    numbers += [(sign * 2**i + j + 2**63) % 2**64 - 2**63 for i in range(64) for j in range(-2, 3) for sign in (-1, 1)]
    judge("numbers around the limits", [[number, *numbers] for number in numbers])


def test_random():
    """Any numbers, and doubles beside integers."""
    cases = []
    for _ in range(5000):
        number = integer()
        cases += [[number, float(number), finite(), integer()], [math.nextafter(float(number), 0), number], [finite(), finite()]]
    judge("any numbers", cases)


start()
tap.run(globals())
