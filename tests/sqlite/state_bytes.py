"""The bytes that a state must have, written by the description in docs/state-format.md and by nothing else."""

import math
import struct
from fractions import Fraction

import statistics_reference as statistics
from reference import READER, answer


def varint(number):
    """An unsigned number."""
    more, low = divmod(number, 128)
    return bytes((low,)) if not more else bytes((128 | low,)) + varint(more)


def signed(number):
    """A signed one."""
    return varint(2 * number if number >= 0 else -2 * number - 1)


def summed(terms):
    """The sum of products of factors, which are numbers."""
    infinite = [math.prod(map(float, factors)) for factors in terms if any(isinstance(x, float) and math.isinf(x) for x in factors)]
    special = [sum(map(test, infinite)) for test in (lambda x: x == math.inf, lambda x: x == -math.inf, math.isnan)]
    total = sum((math.prod(map(Fraction, factors)) for factors in terms if all(math.isfinite(x) for x in factors)), Fraction(0))
    exponent = -((total.denominator.bit_length() + 6) // 8)
    number = int(abs(total) * 256**-exponent)
    while number and number % 256 == 0:
        number, exponent = number // 256, exponent + 1
    digits = number.to_bytes((number.bit_length() + 7) // 8, "little")
    head = varint(4 * len(digits) + 2 * any(special) + (total < 0))
    return head + (signed(exponent) + digits if digits else b"") + (b"".join(map(varint, special)) if any(special) else b"")


def valued(value):
    """A type and a value."""
    if isinstance(value, int):
        return b"\1" + signed(value)
    if isinstance(value, float):
        return b"\2" + struct.pack("<d", value)
    return b"\0" if value is None else b"\3" + value.encode() if isinstance(value, str) else b"\4" + value


def counted(values, low, high, bins):
    """A histogram."""
    if not values:
        return b"\0"
    counters = [0] * (bins + 2)
    for x in values:
        below = x < low
        place = 0 if below else bins + 1 if x > high else min(int((Fraction(x) - Fraction(low)) * bins / (Fraction(high) - Fraction(low))), bins - 1) + 1
        counters[place] += 1
    result = varint(len(values))
    for bound in (low, high):
        result += valued(int(bound) if bound == int(bound) and -(2**63) <= bound < 2**63 else float(bound))
    result += varint(bins)
    last = max(place for place, counter in enumerate(counters) if counter)
    place = 0
    while place <= last:
        if counters[place]:
            result += varint(counters[place])
            place += 1
        else:
            zeros = next(further for further in range(place, last + 1) if counters[further]) - place
            result += b"\0" + varint(zeros - 1)
            place += zeros
    return result


def state(function, rows, bins=(-5, 9.5, 7)):
    """The state of rows (x, y), whose TEXT and BLOBs count as what SQLite's sum() reads in them."""
    if function == "gpu_histogram":
        return b"cr\1\7" + counted([x for x, _ in rows if isinstance(x, (int, float))], *bins)
    if function in ("gpu_min", "gpu_max"):
        return b"cr\1" + bytes((3 if function == "gpu_min" else 4,)) + valued(answer(function, rows))
    paired = function == "gpu_dot" or function in statistics.PAIRED
    rows = [tuple(map(READER.number, row if paired else row[:1])) for row in rows if None not in (row if paired else row[:1])]
    if function == "gpu_dot":
        kind, sums = 2, [rows]
    elif paired:
        kind, sums = 6, [[factors(x, y) for x, y in rows] for factors in (
            lambda x, y: (x,), lambda x, y: (y,), lambda x, y: (x, x), lambda x, y: (y, y), lambda x, y: (x, y))]
    else:
        kind, sums = (5, [rows, [(x, x) for x, in rows]]) if function in statistics.SINGLE else (1, [rows])
    others = sum(not all(isinstance(x, int) for x in row) for row in rows)
    return b"cr\1" + bytes((kind,)) + varint(len(rows)) + varint(others) + b"".join(map(summed, sums))
