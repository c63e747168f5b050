"""The sets of data in tests/data/nist: how they are read, solved exactly, and compared.

A file has lines `name: value`, then `data:` with the names of the columns, and the rows. Of one
column there are many values a line, of `digits` each digit is a value, and `N times:` repeats a
line. Everything stays a Fraction of the decimal that NIST prints.
"""

import math
import os
from fractions import Fraction

import tap

FOLDER = os.path.join(tap.SRCDIR, "tests", "data", "nist")

UNIVARIATE = ("Lew", "Lottery", "Mavro", "Michelso", "NumAcc1", "NumAcc2", "NumAcc3", "NumAcc4", "PiDigits")
REGRESSION = (
    "Filip", "Longley", "NoInt1", "NoInt2", "Norris", "Pontius", "Wampler1", "Wampler2", "Wampler3", "Wampler4", "Wampler5",
)

#: Decimal digits that a double always holds: NIST's certified values have as many at the most.
DIGITS = 15


class Certified:
    """A value that NIST certifies: to so many significant digits, or exactly."""

    def __init__(self, text):
        self.text = text
        self.value = Fraction(text)
        mantissa = text.upper().split("E")[0].lstrip("-").replace(".", "")
        self.digits = len(mantissa.lstrip("0"))

    def agreement(self, value, slack=0):
        """To how many significant digits a Fraction agrees: the log relative error of NIST.

        It is the most that can be seen if the value, rounded to the certified digits, is certified.
        The slack is how far the value may have been moved by a rounding of its own.
        """
        error = max(abs(value - self.value) - slack, Fraction(0))
        if error * 2 <= self.last_place():
            return DIGITS
        if not self.value:
            return 0.0
        error = abs(error / self.value)
        return min(-math.log10(error), DIGITS) if error < 1 else 0.0

    def last_place(self):
        """What 1 in the last certified digit is worth; 0 for a value that is exact."""
        if self.digits < DIGITS:
            return Fraction(0)
        power = Fraction(10) ** (len(str(int(abs(self.value)))) if abs(self.value) >= 1 else 0)
        while power > abs(self.value):
            power /= 10
        return power / 10 ** (self.digits - 1)


class Set:
    """One set of data: its certified values by name, columns by name, and rows of Fractions."""

    def __init__(self, name):
        self.certified = {}
        self.rows = []
        self.terms = self.columns = ()
        with open(os.path.join(FOLDER, name + ".txt"), encoding="ascii") as lines:
            for line in lines:
                field, _, text = line.strip().partition(": ")
                if field == "data":
                    self.columns = tuple(text.split())
                    break
                self._head(field, text)
            self._read(lines)
        if self.columns == ("digits",):
            self.columns = ("y",)

    def _head(self, field, text):
        if field == "terms":
            self.terms = tuple(text.split())
        elif field == "observations":
            self.observations = int(text)
        elif field in ("mean", "deviation", "autocorrelation", "residual", "r2"):
            self.certified[field] = Certified(text)
        elif field.startswith("coefficient "):
            estimate, deviation = text.split()
            self.certified[field] = Certified(estimate)
            self.certified["deviation of " + field] = Certified(deviation)

    def _read(self, lines):
        for line in lines:
            times, mark, values = line.rpartition(" times: ")
            for _ in range(int(times) if mark else 1):
                if self.columns == ("digits",):
                    self.rows += [(Fraction(digit),) for digit in values.strip()]
                elif len(self.columns) == 1:
                    self.rows += [(Fraction(value),) for value in values.split()]
                else:
                    self.rows.append(tuple(map(Fraction, values.split())))

    def column(self, name):
        """The values of one column."""
        place = self.columns.index(name)
        return [row[place] for row in self.rows]

    def scale(self, name):
        """The power of ten by which a column has to be multiplied to be whole."""
        most = max(value.denominator for value in self.column(name))
        scale = 1
        while scale % most:
            scale *= 10
        return scale


class Least:
    """The least squares, exactly, from a matrix of the sums of products of terms.

    normal[i][j] is the sum over the rows of term i times term j, right[i] of term i times y, and
    squares of y times y; total is what the sum of squares that the model explains is compared with.
    """

    def __init__(self, normal, right, squares, count, total):
        size = len(right)
        rows = [list(map(Fraction, row)) + [Fraction(int(i == j)) for j in range(size)] for i, row in enumerate(normal)]
        for i in range(size):
            pivot = next(k for k in range(i, size) if rows[k][i])
            rows[i], rows[pivot] = rows[pivot], rows[i]
            rows[i] = [value / rows[i][i] for value in rows[i]]
            for k in range(size):
                if k != i and rows[k][i]:
                    factor = rows[k][i]
                    rows[k] = [a - factor * b for a, b in zip(rows[k], rows[i])]
        inverse = [row[size:] for row in rows]
        self.estimates = [sum(a * b for a, b in zip(row, right)) for row in inverse]
        residual = squares - sum(a * b for a, b in zip(self.estimates, right))
        variance = residual / (count - size)
        self.r2 = 1 - residual / total
        self.residual = square_root(variance)
        self.deviations = [square_root(inverse[i][i] * variance) for i in range(size)]

    def values(self, terms):
        """All by the names of the certified values."""
        found = {"residual": self.residual, "r2": self.r2}
        for term, estimate, deviation in zip(terms, self.estimates, self.deviations):
            found["coefficient " + term] = estimate
            found["deviation of coefficient " + term] = deviation
        return found


def rounding(value):
    """By how much the rounding to a double of 53 bits can have moved what is this value now."""
    return abs(Fraction(value)) / 2**53


def square_root(value, places=60):
    """The square root of a Fraction to that many places after its first digits, as a Fraction."""
    scale = 10**places * max(1, value.denominator)
    return Fraction(math.isqrt(value.numerator * scale * scale // value.denominator), scale)
