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
from kinds import KINDS
from reference import answer, extreme, parts, quotient

#: Sizes around those of chunks (16, 64, 1000) and of common work-groups.
SIZES = (
    0, 1, 2, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 513, 999, 1000, 1001, 1023, 1025,
    2000, 2049, 4095, 4097,
)
MORE_SIZES = (9999, 10001, 16385)

BIG = int(os.environ.get("CLREDUCE_TEST_ROWS") or (40_000 if tap.QUICK else 1_000_000))


def chunk_for(rng, size):
    """A size of chunks: a small one, or one that makes most rows, or half of them, one chunk."""
    return max(16, rng.choice((16, 64, 1000, size - 1, size // 2)))


@tap.each(*KINDS)
def test_kind(rng, connections, kind):
    """A check for each kind and mode: all sizes, all functions, rows as they are and shuffled."""
    batches = {mode: support.Batch(f"{kind}, {mode}") for mode in connections}
    sizes = SIZES[::5] if tap.QUICK else SIZES + (rng.choice(MORE_SIZES), rng.randrange(3000))
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
                    batch.compare(got, expected, f"{function} of {size} {order}rows, chunks of {chunk}")


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
    select = "SELECT count(*), gpu_sum(x), gpu_total(x), gpu_avg(x), gpu_dot(x, y), gpu_min(x), gpu_max(x) FROM "
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


def test_device(connections):
    """A device has done some of it."""
    if not support.skip_device(1, "random data on a device"):
        support.took_part(connections[support.device()], "random data")


support.run(globals(), modes=tuple(support.modes()), connections={mode: support.connect(mode, **support.SMALL) for mode in support.modes()})
