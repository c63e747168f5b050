"""Random data of every kind: the exact answer, bit for bit, on the host and on a device.

For each kind of data: many sizes, around those where chunks and work-groups end; the rows as they
are and shuffled; chunks of several sizes. And three million rows of what is hardest.
"""

import math
import os
import random
import struct

import support
import tap
from reference import INT_MAX, INT_MIN, Sum, answer, extreme, parts, quotient

#: Sizes around those of chunks (16, 64, 1000) and of common work-groups.
SIZES = (
    0,
    1,
    2,
    3,
    15,
    16,
    17,
    31,
    32,
    33,
    63,
    64,
    65,
    127,
    128,
    129,
    255,
    256,
    257,
    511,
    513,
    999,
    1000,
    1001,
    1023,
    1025,
    2000,
    2049,
    4095,
    4097,
)
MORE_SIZES = (9999, 10001, 16385)

BIG = int(os.environ.get("CLREDUCE_TEST_ROWS") or (200_000 if tap.QUICK else 3_000_000))


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
    up = [
        (any_double(rng, 2040, 2046), rng.choice((1, 1.0, 4.0)))
        for _ in range(max(size - 1, 0) // 2)
    ]
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
            lambda: rng.choice(
                ("", "abc", "12", "-3.5e10x", " 7 ", "9223372036854775807", "1e-320")
            ),
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


def chunk_for(rng, size):
    """A size of chunks: a small one, or one that makes most rows, or half of them, one chunk."""
    return max(16, rng.choice((16, 64, 1000, size - 1, size // 2)))


def test_kind(rng, kind, connections):
    """A check for each kind and mode: all sizes, all functions, rows as they are and shuffled."""
    batches = {mode: support.Batch(f"{kind}, {mode}") for mode in connections}
    sizes = SIZES[::3] if tap.QUICK else SIZES + (rng.choice(MORE_SIZES), rng.randrange(3000))
    for size in sizes:
        data = KINDS[kind](rng, size)
        shuffled = data[:]
        rng.shuffle(shuffled)
        want = {function: answer(function, data) for function in support.FUNCTIONS}
        chunk = chunk_for(rng, size)
        for mode, batch in batches.items():
            db = connections[mode]
            support.configure(db, chunk_size=chunk)
            source = "t" if mode == "host" or size <= chunk else support.lingering(size / chunk)
            for order, given in (("", data), ("shuffled ", shuffled)):
                support.fill(db, given)
                for function, expected in want.items():
                    got = support.value(db, f"SELECT {support.call(function)} FROM {source}")
                    batch.compare(
                        got, expected, f"{function} of {size} {order}rows, chunks of {chunk}"
                    )
    for batch in batches.values():
        batch.end()


def big_rows(rng, size):
    """Very many rows in little time: all exponents, cancelling, and integers that stay."""
    unpack = struct.Struct("<2d2q").unpack
    for _ in range(size // 4):
        x, y, i, j = unpack(rng.randbytes(32))
        if not (math.isfinite(x) and math.isfinite(y)):
            x, y = 1e308, 5e-324
        yield from ((x, y), (i, j), (-x, y), (y * 2.0**-1000, i))


class Big:
    """The exact answers for many numbers, by the exponents of what is added."""

    def __init__(self):
        self.sums, self.products = {}, {}
        self.count = 0

    def add(self, rows):
        """Adds rows of numbers."""
        sums, products = self.sums, self.products
        for x, y in rows:
            (m, e), (n, f) = parts(x), parts(y)
            sums[e] = sums.get(e, 0) + m
            products[e + f] = products.get(e + f, 0) + m * n
            self.count += 1

    @staticmethod
    def finish(bins, divisor=1):
        """The double next to the sum over the divisor."""
        least = min(bins)
        return quotient(sum(n << (e - least) for e, n in bins.items()), least, divisor)


def test_big(rng, modes):
    """Three million rows of all exponents and of integers of 64 bits, in two orders."""
    state = rng.getrandbits(32)
    db = support.connect()
    support.fill(db, big_rows(random.Random(state), BIG))
    exact = Big()
    exact.add(big_rows(random.Random(state), BIG))
    least, greatest = (
        extreme((x for x, _ in big_rows(random.Random(state), BIG)), largest)
        for largest in (False, True)
    )
    want = (
        exact.count,
        exact.finish(exact.sums),
        exact.finish(exact.sums),
        exact.finish(exact.sums, exact.count),
        exact.finish(exact.products),
        least,
        greatest,
    )
    select = (
        "SELECT count(*), gpu_sum(x), gpu_total(x), gpu_avg(x), gpu_dot(x, y), gpu_min(x),"
        " gpu_max(x) FROM "
    )
    for mode in modes:
        for chunk in (65536, 10007):
            support.configure(db, device=mode, chunk_size=chunk, host_threshold=1)
            tap.is_equal(
                db.execute(select + "t").fetchone(),
                want,
                f"{BIG} rows of reals and integers, {mode}, chunks of {chunk}",
            )
        shuffled = "(SELECT x, y FROM t ORDER BY rowid * 7919 % 1000003 LIMIT -1)"
        tap.is_equal(
            db.execute(select + shuffled).fetchone(),
            want,
            f"{BIG} rows of reals and integers in another order, {mode}",
        )
    if not support.skip_device(1, "the big table on a device"):
        tap.ok(support.stats(db)["chunks_to_device"] > 0, "a device took part in the big table")
    db.close()


def main():
    rng = support.seed()
    modes = support.modes()
    connections = {mode: support.connect(mode, **support.SMALL) for mode in modes}
    for kind in KINDS:
        test_kind(rng, kind, connections)
    if not support.skip_device(1, "random data on a device"):
        got = support.stats(connections[support.DEVICE])
        tap.ok(got["chunks_to_device"] > 0, "a device took part")
        tap.diag(
            f"{got['chunks_to_device']} chunks on the device,"
            f" {got['host_device_busy']} not in time, {got['host_remainder']} remainders"
        )
    for db in connections.values():
        db.close()
    test_big(rng, modes)
    tap.done()


main()
