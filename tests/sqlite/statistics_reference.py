"""What every statistic must be, bit for bit: exact integers to the end, and one rounding.

A row is a pair (y, x), as in the calls. The functions of one argument look at x alone; the others
skip a pair with a NULL. Definitions, and what NULL and an infinity give, are PostgreSQL's, with
NULL for its NaN.
"""

import math
from fractions import Fraction

from reference import READER, parts, quotient

#: The functions of one argument, and those of a pair (y, x).
SINGLE = ("gpu_var_pop", "gpu_var_samp", "gpu_stddev_pop", "gpu_stddev_samp", "gpu_norm")
PAIRED = (
    "gpu_covar_pop", "gpu_covar_samp", "gpu_corr", "gpu_regr_slope", "gpu_regr_intercept", "gpu_regr_r2",
    "gpu_regr_count", "gpu_regr_avgx", "gpu_regr_avgy", "gpu_regr_sxx", "gpu_regr_syy", "gpu_regr_sxy",
)
FUNCTIONS = SINGLE + PAIRED

#: The exponent of the least double: every number is a multiple of two to this.
LEAST = -1074

#: Bits of the square root that are found before the rest is only known to be there, or not.
ROOT_BITS = 64


def call(function, y="y", x="x"):
    """The text of a call."""
    return f"{function}({x})" if function in SINGLE else f"{function}({y}, {x})"


def root(number, exponent, divisor=1):
    """The square root of number * 2**exponent / divisor as the nearest double, ties to even.

    It is found downwards to ROOT_BITS bits and more; one bit below them says whether anything was
    cut off, so that the rounding that follows, of an integer, cannot take a near tie for a tie.
    """
    if exponent & 1:
        number, exponent = number << 1, exponent - 1
    shift = (2 * ROOT_BITS - number.bit_length() + divisor.bit_length() + 1) // 2
    if shift >= 0:
        whole, rest = divmod(number << 2 * shift, divisor)
    else:
        whole, rest = divmod(number, divisor << -2 * shift)
    found = math.isqrt(whole)
    inexact = rest != 0 or found * found != whole
    return quotient(found << 1 | inexact, exponent // 2 - shift - 1)


class Variable:
    """What is known of one of the two variables: its infinities, and exact sums in units.

    The unit is a power of two that divides every value.
    """

    def __init__(self):
        self.sum = self.squares = 0
        self.plus = self.minus = 0

    def add(self, number, units, times):
        """Adds a number, which is so many units if it is finite; times=-1 takes it out."""
        if units is None:
            if number > 0:
                self.plus += times
            else:
                self.minus += times
        else:
            self.sum += units * times
            self.squares += units * units * times

    def finite(self):
        """Whether there is no infinity."""
        return not (self.plus or self.minus)

    def infinite_mean(self):
        """The average where there are infinities."""
        if self.plus and self.minus:
            return None
        return math.inf if self.plus else -math.inf


def units_of(number, exponent):
    """How many times two to the exponent a number is, or None if it is infinite."""
    if isinstance(number, float) and math.isinf(number):
        return None
    mantissa, power = parts(number)
    return mantissa << (power - exponent) if power >= exponent else mantissa >> (exponent - power)


class Moments:
    """The exact sums of rows, which can also be taken out again, and all statistics of them."""

    def __init__(self, exponent=LEAST):
        self.exponent = exponent
        self.single_count = 0
        self.single = Variable()  # x of every row that has one
        self.count = 0
        self.x, self.y = Variable(), Variable()  # of pairs
        self.products = 0

    def add(self, y, x, times=1):
        """Adds a row; times=-1 takes it out."""
        if x is None:
            return
        number = READER.number(x)
        units = units_of(number, self.exponent)
        self.single_count += times
        self.single.add(number, units, times)
        if y is None:
            return
        other = READER.number(y)
        factor = units_of(other, self.exponent)
        self.count += times
        self.x.add(number, units, times)
        self.y.add(other, factor, times)
        if units is not None and factor is not None:
            self.products += units * factor * times

    def result(self, function):
        """What the function answers."""
        if function in SINGLE:
            return self._of_single(function[len("gpu_") :])
        if function == "gpu_regr_count":
            return self.count
        return self._of_pairs(function[len("gpu_") :]) if self.count else None

    def results(self):
        """What all functions answer, in the order of FUNCTIONS."""
        return tuple(map(self.result, FUNCTIONS))

    def _of_single(self, name):
        count, exponent = self.single_count, 2 * self.exponent
        if not count:
            return None
        if name == "norm":
            if not self.single.finite():
                return math.inf
            return root(self.single.squares, exponent)
        divisor = count * (count - 1 if name.endswith("samp") else count)
        if not divisor or not self.single.finite():
            return None
        spread = count * self.single.squares - self.single.sum**2
        if name.startswith("var"):
            return quotient(spread, exponent, divisor)
        return root(spread, exponent, divisor)

    def _of_pairs(self, name):
        x, y, count, exponent = self.x, self.y, self.count, self.exponent
        if name in ("regr_avgx", "regr_avgy"):
            mean = x if name == "regr_avgx" else y
            return quotient(mean.sum, exponent, count) if mean.finite() else mean.infinite_mean()
        if name in ("regr_sxx", "regr_syy"):
            one = x if name == "regr_sxx" else y
            if not one.finite():
                return None
            return quotient(count * one.squares - one.sum**2, 2 * exponent, count)
        # Each is the count times the sum of squares, or products, of what deviates from the mean.
        xx = count * x.squares - x.sum**2
        yy = count * y.squares - y.sum**2
        xy = count * self.products - x.sum * y.sum
        if not (x.finite() and y.finite()):
            # For PostgreSQL a horizontal line fits, wherever its points are.
            level = name == "regr_r2" and y.finite() and not yy
            return 1.0 if level else None
        if name == "regr_sxy":
            return quotient(xy, 2 * exponent, count)
        if name == "covar_pop":
            return quotient(xy, 2 * exponent, count * count)
        if name == "covar_samp":
            return quotient(xy, 2 * exponent, count * (count - 1)) if count > 1 else None
        return self._of_line(name, xx, yy, xy)

    def _of_line(self, name, xx, yy, xy):
        if not xx or (name == "corr" and not yy):
            return None
        if name == "regr_slope":
            return quotient(xy, 0, xx)
        if name == "regr_intercept":
            above = self.y.sum * xx - self.x.sum * xy
            return quotient(above, self.exponent, self.count * xx)
        if name == "regr_r2":
            return quotient(xy * xy, 0, xx * yy) if yy else 1.0
        assert name == "corr", name
        size = root(xy * xy, 0, xx * yy)
        return (-size if xy < 0 else size) + 0.0


def common_exponent(values):
    """The exponent of the greatest power of two that divides all of these numbers, or 0."""
    least = 0
    for value in values:
        if value is not None:
            number = READER.number(value)
            if not (isinstance(number, float) and math.isinf(number)):
                mantissa, exponent = parts(number)
                if mantissa:
                    low = (mantissa & -mantissa).bit_length() - 1
                    least = min(least, exponent + low)
    return least


def moments(rows):
    """The moments of a list of rows (y, x)."""
    found = Moments(common_exponent([value for row in rows for value in row]))
    for y, x in rows:
        found.add(y, x)
    return found


def rounded(value):
    """The double next to a Fraction."""
    value = Fraction(value)
    return quotient(value.numerator, 0, value.denominator)
