"""Small groups of rows (y, x) on which a statistic is hard to round, or to define."""

import math

from kinds import KINDS, any_double, limits, mixed, numbers
from reference import INT_MAX, INT_MIN

TINY = 5e-324
HUGE = 1.7976931348623157e308


def rows_of(value, least, most):
    """A kind of group from a function of a random generator that gives one value."""
    return lambda rng: [(value(rng), value(rng)) for _ in range(rng.randint(least, most))]


def around(base, step):
    """A group whose values differ from a large number in their last bits alone."""

    def rows(rng):
        start = base(rng)
        unit = step(start)
        return [
            (start + unit * rng.randint(-3, 3), start + unit * rng.randint(-3, 3))
            for _ in range(rng.randint(1, 8))
        ]

    return rows


def cancelling(rng):
    """Large values and their opposites, and now and then a small one."""
    rows = []
    for _ in range(rng.randint(1, 3)):
        y, x = any_double(rng, 1000, 2046), any_double(rng, 1000, 2046)
        rows += [(y, x), (-y, -x), (rng.choice((y, -y, 0.0)), rng.choice((x, 0.0)))]
    if rng.random() < 0.5:
        rows.append((any_double(rng, 0, 900), any_double(rng, 0, 900)))
    rng.shuffle(rows)
    return rows


def constants(rng):
    """One of the variables is constant, or both."""
    y, x = numbers(rng), any_double(rng, 0, 2046)
    return [
        (y if rng.random() < 0.9 else numbers(rng), x if rng.random() < 0.9 else -x)
        for _ in range(rng.randint(1, 6))
    ]


def lines(rng):
    """Points on a line, one of which is sometimes a bit off."""
    slope, start = rng.randint(-(2**20), 2**20), rng.randint(-(2**40), 2**40)
    unit = rng.choice((1, 1.0, 2.0**-30, 2.0**500, 2.0**-900))
    rows = [
        ((slope * x + start) * unit, x * unit)
        for x in (rng.randint(-1000, 1000) for _ in range(rng.randint(2, 8)))
    ]
    if rng.random() < 0.5:
        y, x = rows[0]
        rows[0] = (math.nextafter(float(y), rng.choice((math.inf, -math.inf))), x)
    return rows


def underflowing(rng):
    """Squares and products are a few least subnormals, or halves and quarters of one."""
    low = rng.choice((2.0**-538, 2.0**-537, 2.0**-536))
    return [(rng.randint(-9, 9) * low, rng.randint(-9, 9) * low) for _ in range(rng.randint(1, 5))]


def extreme_slopes(rng):
    """One variable near one end of the range, the other one near the other."""
    low, high = any_double(rng, 0, 60), any_double(rng, 1990, 2046)
    rows = [(low * rng.randint(0, 3), high * rng.random()) for _ in range(rng.randint(2, 5))]
    return rows if rng.random() < 0.5 else [(x, y) for y, x in rows]


def odd(rng, bits):
    """A random odd number of just so many bits."""
    return rng.getrandbits(bits) | 1 << (bits - 1) | 1


def trifle(rng):
    """A pair of rows that changes no mean: nothing, or what turns a tie into a near tie."""
    y = rng.choice((1.0, -1.0, 2.0**-400)) * 2.0 ** rng.randint(-30, 0)
    x = rng.choice((TINY, 2.0**-600, 2.0**-300, 2.0**-60))
    return rng.choice(([], [(y, x), (-y, -x)]))


def variance_ties(rng):
    """Variances and covariances half-way between doubles: the squares of odd numbers of 27 bits."""
    left = right = 0
    while (left * right).bit_length() != 54 or (right * right).bit_length() != 54:
        left, right = odd(rng, 27), odd(rng, 27)
    scale = rng.choice((1, 1.0, 2.0**-40, 2.0**-563))
    sign = rng.choice((1, -1))
    rows = [(left * scale, right * scale), (-left * scale, -right * scale)]
    return [(sign * y, x) for y, x in rows] + trifle(rng)


def root_ties(rng):
    """Standard deviations and norms half-way between doubles, or just below."""
    middle = odd(rng, 54)
    size = rng.choice((1, -1)) * middle
    shape = rng.randrange(4)
    if shape == 0:  # the standard deviation of the population
        return [(size, middle), (-size, -middle)]
    if shape == 1:  # that of the sample
        rows = [(size, middle), (-size, -middle)] * 2
        return rows + [(0, rng.choice((0, TINY, 2.0**-200)))]
    if shape == 2:  # the norm
        return [(0, 3 * middle), (size, 4 * middle), (0, rng.choice((0, TINY, 1e-100)))]
    # The norm again: the squares of these integers add up to the square of the middle, less one.
    left, rows = middle * middle - 1, []
    while left:
        rows.append((rng.randint(-3, 3), math.isqrt(left)))
        left -= rows[-1][1] ** 2
    return rows


def line_ties(rng):
    """Slopes, intercepts and averages half-way between doubles, or nearly."""
    middle = rng.choice((1, -1)) * odd(rng, 54)
    if rng.random() < 0.5:
        return [(middle, 1), (-middle, -1)] + trifle(rng)
    shift = rng.choice((0, 0, 1, 2.0**-1000, -TINY))
    return [(middle, 1), (middle, -1), (middle, middle), (middle, -middle + shift)]


def infinite(rng):
    """An infinity in one of the variables, or several, among other values."""
    rows = [
        (rng.choice((1.5, -2, 0, 1e308, None)), rng.choice((1.5, -2, 0, -1e308, None)))
        for _ in range(rng.randint(0, 4))
    ]
    for _ in range(rng.randint(1, 2)):
        infinity = rng.choice((math.inf, -math.inf))
        other = rng.choice((None, 0, 1.5, infinity, -infinity))
        rows.append(rng.choice(((infinity, other), (other, infinity))))
    return rows


def borrowed(rng):
    """Any kind of data that the sums are tested with."""
    return [(y, x) for x, y in KINDS[rng.choice(list(KINDS))](rng, rng.randint(1, 20))]


def longer(rng):
    """As many rows as a small chunk has, or some more, and less."""
    kind = rng.choice(("uniform", "all exponents", "any integers", "cancelling", "mixed types"))
    return KINDS[kind](rng, rng.choice((15, 16, 17, 31, 33, 64, 100)))


def exact_roots(rng):
    """Integers whose deviations make many an exact root: 0 and 2 d, and again."""
    d, mean = rng.getrandbits(rng.choice((3, 20, 53))), rng.getrandbits(9)
    return [(mean - d, mean + d), (mean + d, mean - d)] * rng.choice((1, 2, 8))


GROUPS = {
    "uniform": rows_of(lambda rng: rng.uniform(-1, 1), 1, 12),
    "small integers": rows_of(lambda rng: rng.randint(-9, 9), 1, 6),
    "small integers and REALs": rows_of(lambda rng: rng.choice((1, 2, 3.0, 0.5, -1)), 1, 5),
    "all exponents": rows_of(any_double, 1, 5),
    "exponents up to 1e150": rows_of(lambda rng: any_double(rng, 0, 1520), 1, 6),
    "decimals": rows_of(lambda rng: rng.randrange(-(10**6), 10**6) / 1000, 1, 20),
    "squares about overflow": rows_of(lambda rng: any_double(rng, 1531, 1536), 1, 5),
    "huge, tiny and integers": rows_of(
        lambda rng: rng.choice((any_double(rng, 2023, 2046), any_double(rng, 0, 23), limits(rng), 0.0, -0.0)), 1, 20),
    "exact roots": exact_roots,
    "any integers": rows_of(lambda rng: rng.randint(INT_MIN, INT_MAX), 1, 6),
    "integers at the limits": rows_of(limits, 1, 6),
    "integers and REALs, close": rows_of(numbers, 1, 8),
    "a large number and units": around(lambda rng: 10.0 ** rng.randint(5, 16), lambda _: 1.0),
    "a large number and its last bits": around(any_double, math.ulp),
    "large integers": around(lambda rng: rng.randint(-(2**62), 2**62), lambda _: 1),
    "cancelling": cancelling,
    "constants": constants,
    "lines": lines,
    "subnormal": rows_of(lambda rng: any_double(rng, 0, 0), 1, 5),
    "underflowing": underflowing,
    "at the top": rows_of(lambda rng: any_double(rng, 2040, 2046), 1, 5),
    "extreme slopes": extreme_slopes,
    "ties of variances": variance_ties,
    "ties of roots": root_ties,
    "ties of lines": line_ties,
    "any type": rows_of(mixed, 1, 8),
    "infinities": infinite,
    "kinds of sums": borrowed,
    "longer": longer,
}
