"""Kinds of random data, from the plain to what is hardest to add up."""

import math
import struct

from reference import INT_MAX, INT_MIN, Sum


def any_double(rng, least=0, greatest=2046):
    """A double of random bits, its biased exponent in that range: 0 for subnormals and zeros."""
    bits = rng.getrandbits(52) | rng.randint(least, greatest) << 52 | rng.getrandbits(1) << 63
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def pairs_of(function):
    """A kind of data from a function of a random generator that gives one value."""
    return lambda rng, size: [(function(rng), function(rng)) for _ in range(size)]


def cancelling(rng, size):
    """Large values, each followed by its opposite, and a residue far below them."""
    rows = []
    while len(rows) < size:
        x, y = any_double(rng, 1000, 2046), any_double(rng, 1000, 1500)
        rows += [(x, y), (-x, y)]
        if rng.random() < 0.1:
            rows.append((any_double(rng, 0, 900), any_double(rng, 0, 900)))
    return rows[:size]


def ill_conditioned(rng, size):
    """A dot product whose second half cancels the first down to about 1 (Ogita, Rump and Oishi)."""
    rows = [(any_double(rng, 1023, 1123), any_double(rng, 1023, 1123)) for _ in range(size // 2)]
    exact = Sum()
    for x, y in rows:
        exact.add_product(x, y)
    while len(rows) < size:
        left = size - len(rows) - 1
        x = any_double(rng, 1023, 1023 + 200 * left // size)
        y = (rng.uniform(-1, 1) * 2.0 ** (200 * left // size) - exact.real()) / x
        exact.add_product(x, y)
        rows.append((x, y))
    rng.shuffle(rows)
    return rows


def ties(rng, size):
    """A sum half an ulp beside a double, and sometimes a trifle off."""
    base = rng.choice((1.0, -1.0, 1.5, 1.0 + 2.0**-52)) * 2.0 ** rng.randint(-50, 50)
    rows = [base, math.ulp(base) / 2]
    if rng.random() < 0.5:
        rows.append(rng.choice((5e-324, -5e-324)))
    while len(rows) + 2 <= size:
        x = any_double(rng, 0, 2000)
        rows += [x, -x]
    rows = (rows + [0.0])[:size]
    rng.shuffle(rows)
    return [(x, 1.0) for x in rows]


def at_the_top(rng, size):
    """Running totals far above the range of doubles, and a whole that is within, or just not."""
    up = [(any_double(rng, 2040, 2046), rng.choice((1, 1.0, 4.0))) for _ in range(max(size - 1, 0) // 2)]
    down = [(-x, y) for x, y in up]
    return up + down + [(any_double(rng, 2045, 2046), 1.0) for _ in range(size - 2 * len(up))]


def limits(rng):
    """An integer at a limit."""
    return rng.choice((INT_MIN, INT_MAX, INT_MIN + 1, -1, 0, 1, 2**32, -(2**32), 2**31, 2**53 + 1))


def balanced_limits(rng, size):
    """Integers at the limits whose sums and products cancel: every total fits."""
    rows = [(7, 9)] * (size % 2)
    while len(rows) < size:
        x, y = rng.choice((INT_MAX, 2**62, 2**53 + 1)), rng.choice((INT_MAX, INT_MIN, 2**40, 3))
        rows += [(x, y), (-x, y)]
    rng.shuffle(rows)
    return rows


def mixed(rng):
    """Any storage class."""
    return rng.choice(
        (
            lambda: None,
            lambda: rng.randint(-100, 100),
            lambda: rng.randint(INT_MIN, INT_MAX),
            lambda: limits(rng),
            lambda: rng.uniform(-100, 100),
            lambda: any_double(rng, 0, 2000),
            lambda: float(rng.randint(-50, 50)),
            lambda: rng.choice(("", "abc", "12", "-3.5e10x", " 7 ", "9223372036854775807", "1e-320")),
            lambda: rng.choice((b"", b"12", b"\xff", b"-1e300")),
        )
    )()


def numbers(rng):
    """INTEGERs and REALs that lie together closely."""
    base = rng.choice((0, 2**53, -(2**53), 2**62))
    near = base + rng.randint(-5, 5)
    return near if rng.random() < 0.5 else float(near)


def with_infinities(rng):
    """Sometimes an infinity, of one sign more often than of both."""
    return rng.choice((1.5, -2, 0, 0.0, -0.0, 1e308, 3, math.inf if rng.random() < 0.02 else 4))


KINDS = {
    "uniform": pairs_of(lambda rng: rng.uniform(-1, 1)),
    "of one sign": pairs_of(lambda rng: rng.uniform(0, 1e6)),
    "all exponents": pairs_of(any_double),
    "exponents up to 1e150": pairs_of(lambda rng: any_double(rng, 0, 1520)),
    "subnormal": pairs_of(lambda rng: any_double(rng, 0, 0)),
    "around the least normal": pairs_of(lambda rng: any_double(rng, 0, 3)),
    "products that underflow": pairs_of(lambda rng: any_double(rng, 450, 560)),
    "products around the least double": pairs_of(lambda rng: any_double(rng, 470, 500)),
    "products that overflow": pairs_of(lambda rng: any_double(rng, 1500, 1600)),
    "cancelling": cancelling,
    "ill-conditioned": ill_conditioned,
    "ties": ties,
    "at the top of the range": at_the_top,
    "zeros": pairs_of(lambda rng: rng.choice((0.0, -0.0))),
    "few values": pairs_of(lambda rng: rng.choice((0.1, -0.1, 1e300, 5e-324, -1e300))),
    "small integers": pairs_of(lambda rng: rng.randint(-1000, 1000)),
    "any integers": pairs_of(lambda rng: rng.randint(INT_MIN, INT_MAX)),
    "integers at the limits": pairs_of(limits),
    "integers at the limits, balanced": balanced_limits,
    "integers by reals": lambda rng, size: [
        (rng.randint(INT_MIN, INT_MAX), any_double(rng, 900, 1100)) for _ in range(size)
    ],
    "integers and reals, close": pairs_of(numbers),
    "mixed types": pairs_of(mixed),
    "infinities": pairs_of(with_infinities),
}
