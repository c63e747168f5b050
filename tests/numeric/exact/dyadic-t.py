"""Exact arithmetic on integers times powers of two, and its rounding, against Python's integers."""

import random
import sys

sys.dont_write_bytecode = True  # the sources may be read-only

import tap
from exact_lines import Dyadic, check, start, text
from reference import quotient
from statistics_reference import root

ROUNDS = 300 if tap.QUICK else 3000


def hard_bits(size):
    """An integer of up to size bits, often one that carries, borrows or ends in zeros."""
    value = random.getrandbits(size)
    kind = random.randrange(8)
    if kind == 0:
        value = 2**size - 1
    elif kind == 1:
        value = 2 ** random.randrange(size)
    elif kind == 2:
        value = 2**size - 2 ** random.randrange(size)
    elif kind == 3:
        value &= ~(2 ** random.randrange(size) - 1)
    elif kind == 4:  # limbs of zeros and of ones amid others
        for _ in range(3):
            at = 64 * random.randrange(1 + size // 64)
            value = value | (2**64 - 1) << at if random.random() < 0.5 else value & ~((2**64 - 1) << at)
        value %= 2**size
    return value


def any_number(bits, exponents):
    """A number of either sign with up to so many bits."""
    value = hard_bits(random.randint(1, random.choice((64, 200, bits))))
    return Dyadic(random.choice((-1, 1)) * value, random.randint(-exponents, exponents))


def expected(a, b):
    """The program's words for two numbers."""
    difference = a - b
    words = [str(a * b), str(difference), str((difference.integer > 0) - (difference.integer < 0))]
    if b.integer != 0:
        p, q = a.over(b)
        words += [text(quotient(p, 0, q)), text(root(abs(p), 0, q))]
    return words


def judge(name, cases):
    """One check of pairs of numbers."""
    written = [" ".join(map(str, case)) for case in cases]
    check(name, written, ["dyadic " + line for line in written], [expected(a, b) for a, b in cases])


def midpoint():
    """A number between two neighbouring doubles, as an odd integer and an exponent, of any result.

    A normal one has 54 bits; one between subnormal doubles is an odd multiple of 2^-1075.
    """
    kind = random.randrange(4)
    if kind == 0:
        return random.getrandbits(random.randint(1, 53)) | 1, -1075
    if kind == 1:
        return 2**54 - 1, random.choice((970, -1075, -1074, 0))
    return random.getrandbits(53) | 2**53 | 1, random.randint(-1075, 970)


def at_midpoints(root):
    """Quotients that are a midpoint, the square of one, or the least bit beside it."""
    cases = []
    for _ in range(ROUNDS):
        m, exponent = midpoint()
        if root:
            m, exponent = m * m, 2 * exponent
        q = hard_bits(random.choice((1, 30, 64, 300, 2000))) | 1
        unit = random.choice((0, 0, 1, 64, 700, 2000))
        p = (m * q << unit) + random.choice((-1, 0, 0, 1))
        shift = random.randint(-1000, 1000)
        sign = random.choice((-1, 1))
        cases.append((Dyadic(sign * p, exponent - unit + shift), Dyadic(random.choice((-1, 1)) * q, shift)))
    return cases


def near_doubles(root):
    """Quotients that are a double, powers of two among them, its square, or the least bit beside."""
    cases = []
    for _ in range(ROUNDS):
        m = random.choice((1, 2**53 - 1, random.getrandbits(53), random.getrandbits(53) | 2**52)) or 1
        exponent = random.choice((random.randint(-1130, -1020), random.randint(-1074, 975), 971, -1074))
        if root:
            m, exponent = m * m, 2 * exponent
        q = hard_bits(random.choice((1, 64, 300, 2000))) | 1
        unit = random.choice((0, 10, 60, 64, 500, 2000))
        cases.append((Dyadic((m * q << unit) + random.choice((-1, 0, 1)), exponent - unit), Dyadic(q)))
    return cases


def at_borders():
    """Quotients and squares of results around the smallest doubles, and around overflow."""
    cases = []
    for exponent in list(range(-1080, -1070)) + [-1023, -1022, -1021, 969, 970, 971, 1022, 1023, 1024, 5000, -6000]:
        for m in (1, 2, 3, 2**53 - 1, 2**53, 2**53 + 1, 2**54 - 1, 2**54 - 2, 2**54 - 3, 2**64 - 1, 2**64 + 1):
            for step in (-1, 0, 1):
                for q in (1, 3, 2**64 - 1, 2**128 + 1):
                    for scale in (0, m.bit_length()):
                        cases.append((Dyadic((m * q << 100) + step, exponent - 100 - scale), Dyadic(q)))
                        cases.append((Dyadic((m * m * q << 100) + step, 2 * exponent - 100 - 2 * scale), Dyadic(q)))
    return cases


def arithmetic():
    """Numbers of all sizes that finishing meets, equal and nearly equal ones among them."""
    cases = []
    for _ in range(ROUNDS):
        a, b = any_number(138 * 64, 4000), any_number(138 * 64, 4000)
        cases.append((a, b))
        a = any_number(3000, 600)
        cases.append((a, Dyadic(a.integer, 64 * a.exponent)))
        cases.append((a, a - Dyadic(random.choice((-1, 1)), 64 * a.exponent - random.choice((0, 1, 64, 500)))))
        cases.append((any_number(300, 100), any_number(300, 100)))
    return cases


def test_numbers():
    """All kinds of numbers."""
    zero, one, big = Dyadic(0), Dyadic(1), Dyadic(2**8000 + 1, -4000)
    judge("zero", [(zero, zero), (zero, one), (one, zero), (zero, Dyadic(-1)), (Dyadic(-1), zero), (zero, big), (big, zero)])
    judge("products, differences and comparisons", arithmetic())
    judge("quotients at midpoints", at_midpoints(False))
    judge("roots at midpoints", at_midpoints(True))
    judge("quotients at doubles", near_doubles(False))
    judge("roots at doubles", near_doubles(True))
    judge("the ends of the range", at_borders())


start()
tap.run(globals())
