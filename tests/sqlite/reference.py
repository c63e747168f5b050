"""The contract of the aggregates in exact arithmetic: what every answer must be, bit for bit.

A sum is kept as integers, one for each power of two that occurs, so that nothing is ever rounded
before the end, and a few million values take seconds rather than the minutes of fractions.Fraction.
"""

import math
import sqlite3

INT_MIN, INT_MAX = -(2**63), 2**63 - 1


class IntegerOverflow(Exception):
    """The exact INTEGER does not fit in 64 bits: the one error of the sums."""


def parts(number):
    """(m, e) with number == m * 2**e exactly; number is an int or a finite float."""
    if isinstance(number, int):
        return number, 0
    mantissa, exponent = math.frexp(number)
    return int(mantissa * 2.0**53), exponent - 53


def quotient(number, exponent, divisor=1):
    """number * 2**exponent / divisor as the nearest double, ties to even; a zero is +0.0.

    Python divides integers with one correct rounding, subnormals included; all that it leaves to
    do is the overflow, which it raises exactly when the rounded quotient is out of range.
    """
    if exponent >= 0:
        number <<= exponent
    else:
        divisor <<= -exponent
    try:
        return number / divisor + 0.0
    except OverflowError:
        return math.inf if number > 0 else -math.inf


class Reader:
    """Reads TEXT and BLOB as SQLite's own sum() does, by asking it."""

    def __init__(self):
        self.db = None

    def number(self, value):
        """What a sum adds for this value: an int or a float."""
        if isinstance(value, (int, float)):
            return value
        if self.db is None:
            self.db = sqlite3.connect(":memory:", check_same_thread=False)
        return self.db.execute("SELECT sum(?)", (value,)).fetchone()[0]


READER = Reader()


class Sum:
    """An exact sum of values or of products, which can also be taken out again."""

    def __init__(self):
        self.bins = {}
        self.count = 0
        self.reals = 0  # of the inputs, those that make the result REAL
        self.plus = 0  # infinities, by sign
        self.minus = 0
        self.invalid = 0  # 0 * Inf

    def add(self, value, times=1):
        """Adds one value; times=-1 takes it out."""
        if value is None:
            return
        self.count += times
        number = READER.number(value)
        if not isinstance(number, int):
            self.reals += times
        self._add_number(number, times)

    def add_product(self, left, right, times=1):
        """Adds left * right, exactly; times=-1 takes it out."""
        if left is None or right is None:
            return
        self.count += times
        left, right = READER.number(left), READER.number(right)
        if not (isinstance(left, int) and isinstance(right, int)):
            self.reals += times
        if math.isinf(left) or math.isinf(right):
            if left == 0 or right == 0:
                self.invalid += times
            else:
                self._add_number(math.inf if (left > 0) == (right > 0) else -math.inf, times)
        else:
            (number, exponent), (factor, more) = parts(left), parts(right)
            self._add_parts(number * factor, exponent + more, times)

    def _add_number(self, number, times):
        if number == math.inf:
            self.plus += times
        elif number == -math.inf:
            self.minus += times
        else:
            self._add_parts(*parts(number), times)

    def _add_parts(self, number, exponent, times):
        self.bins[exponent] = self.bins.get(exponent, 0) + number * times

    def exact(self):
        """(n, e): the finite part of the sum is n * 2**e."""
        least = min(self.bins, default=0)
        return sum(number << (exponent - least) for exponent, number in self.bins.items()), least

    def real(self, divisor=1):
        """The sum over the divisor as a double, None where SQLite has NULL for a NaN."""
        if self.invalid or (self.plus and self.minus):
            return None
        if self.plus or self.minus:
            return math.inf if self.plus else -math.inf
        return quotient(*self.exact(), divisor)

    def value(self):
        """What gpu_sum and gpu_dot answer: NULL, an INTEGER, a REAL, or an overflow."""
        if self.count == 0:
            return None
        if self.reals:
            return self.real()
        total = self.bins.get(0, 0)
        if not INT_MIN <= total <= INT_MAX:
            raise IntegerOverflow(total)
        return total

    def total(self):
        """What gpu_total answers."""
        return self.real()

    def average(self):
        """What gpu_avg answers."""
        return self.real(self.count) if self.count else None


def rank(value):
    """Numbers before TEXT before BLOB, and inside a class something that compares."""
    if isinstance(value, str):
        return 1, value.encode()
    if isinstance(value, bytes):
        return 2, value
    return 0, value  # Python compares an int with a float exactly


def preference(value, largest):
    """Among equals: an INTEGER first, and -0.0 counts as less than +0.0."""
    if isinstance(value, int):
        return 0
    if isinstance(value, float) and value == 0:
        return 1 if (math.copysign(1, value) > 0) == largest else 2
    return 1


def beats(new, old, largest):
    """Whether gpu_max, or gpu_min, prefers the one to the other."""
    left, right = rank(new), rank(old)
    if left == right:
        return preference(new, largest) < preference(old, largest)
    return (left > right) == largest


def extreme(values, largest):
    """What gpu_min and gpu_max answer."""
    best = None
    for value in values:
        if value is not None and (best is None or beats(value, best, largest)):
            best = value
    return best


def summed(values):
    """The exact sum of a list of values."""
    result = Sum()
    for value in values:
        result.add(value)
    return result


def dotted(pairs):
    """The exact sum of the products of a list of pairs."""
    result = Sum()
    for left, right in pairs:
        result.add_product(left, right)
    return result


#: What each function answers for a list of (x, y); all but gpu_dot look at x alone.
ANSWERS = {
    "gpu_sum": lambda rows: summed(x for x, _ in rows).value(),
    "gpu_total": lambda rows: summed(x for x, _ in rows).total(),
    "gpu_avg": lambda rows: summed(x for x, _ in rows).average(),
    "gpu_min": lambda rows: extreme((x for x, _ in rows), False),
    "gpu_max": lambda rows: extreme((x for x, _ in rows), True),
    "gpu_dot": lambda rows: dotted(rows).value(),
}

#: The error that stands for a result which does not fit.
OVERFLOW = "integer overflow"


def answer(function, rows):
    """What the function gives for the rows; an overflow is given as OVERFLOW in an Exception."""
    try:
        return ANSWERS[function](rows)
    except IntegerOverflow:
        return Failure(OVERFLOW)


class Failure:
    """An error in the place of a value, so that both can be compared and shown alike."""

    def __init__(self, message):
        self.message = message

    def __eq__(self, other):
        return isinstance(other, Failure) and self.message == other.message

    def __repr__(self):
        return f"error '{self.message}'"


def show(value):
    """A value for a diagnostic: a double also by its bits."""
    if isinstance(value, float):
        return f"{value!r} ({value.hex()})"
    if isinstance(value, (tuple, list)):
        return "(" + ", ".join(map(show, value)) + ")"
    text = repr(value)
    return text if len(text) <= 200 else text[:200] + "..."
