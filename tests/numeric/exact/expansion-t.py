"""Error-free transformations and expansions, and the rounding of an expansion."""

import itertools
import math
import random
import struct
import sys

sys.dont_write_bytecode = True  # the sources may be read-only

import tap
from exact_lines import BASE, check, composed, hard, rounds, run, start, text, units
from reference import quotient


def answers(command, cases):
    """The program's numbers for each case."""
    return [[float(word) for word in words] for words in run([" ".join([command, *map(float.hex, case)]) for case in cases])]


def tell(name, wrong, count):
    """One check: nothing is wrong."""
    for each in wrong[:5]:
        tap.diag(repr(each))
    tap.ok(not wrong and count > 0, f"{name} ({count} cases)")


def total(numbers):
    """The exact sum."""
    return sum(map(units, numbers))


def test_two_sum():
    """A sum and its error have the value of both numbers: nothing may be lost."""
    cases = [(x, hard(0, 2045) if number % 2 else math.ldexp(x, random.randint(-60, 0)) * 1.5)
             for number in rounds(5000) for x in [hard(0, 2045)]]
    wrong = [(x, y, got) for (x, y), got in zip(cases, answers("two", cases)) if got[0] != x + y or total(got[:2]) != total((x, y))]
    tell("a sum and its error", wrong, len(cases))


def test_add():
    """What is in the terms and what is handed back is what was added."""
    cases = []
    for _ in rounds(1500):
        spread = random.randint(1, 900)
        cases.append([hard(1023 - spread, 1023 + spread) for _ in range(20)])
    wrong = [(case, got) for case, got in zip(cases, answers("terms", cases)) if total(got) != total(case)]
    tell("what an expansion holds and drops", wrong, len(cases))


def judge(name, cases):
    """One check of terms that are rounded."""
    lines = [" ".join(["rounding", *map(float.hex, case)]) for case in cases]
    check(name, cases, lines, [[text(quotient(total(case), BASE))] for case in cases])


def orders(*terms):
    """All orders: the terms of an expansion need not be sorted."""
    return list(itertools.permutations(terms))


def test_ties():
    """Every combination of hard significands with hard distances.

    b is half a unit of a's last place or beside it (a tie unless c decides), c a tie of b's or far below. The exponents are those of
    ordinary numbers and of the smallest normal ones, where the last places are subnormal.
    """
    distances = (50, 51, 52, 53, 54, 55, 56, 105, 106, 107, 108, 160, 1000)
    cases = []
    for significand in (0, 1, 2, 3, 0xFFFFFFFFFFFFF, 0xFFFFFFFFFFFFE, 0x8000000000000, 0x7FFFFFFFFFFFF):
        for exponent in (1, 2, 53, 54, 110, 1023):
            a = composed(0, exponent, significand)
            for first, second, sign in itertools.product(distances, distances, range(4)):
                b = math.ldexp(-1 if sign & 1 else 1, exponent - 1023 - first)
                c = math.ldexp(-b if sign & 2 else b, -second)
                cases += [(a, b, c), (a, 3 * b, c)]
                if second == distances[0]:
                    cases += orders(a, b, c)
    judge("ties, and what decides them", cases)


def test_round():
    """Terms of all sizes."""
    cases = []
    for _ in rounds(2000):
        exponent = random.randint(0, 2000)
        cases += orders(*[hard(max(exponent - 60, 0), exponent) for _ in range(3)]) + orders(*[hard(0, 2000) for _ in range(3)])
    judge("any three terms", cases)
    cases = []
    for _ in rounds(2000):
        a = hard(200, 2000)
        (bits,) = struct.unpack("<Q", struct.pack("<d", -a))
        (b,) = struct.unpack("<d", struct.pack("<Q", bits + random.randint(-2, 2)))
        c = math.ldexp(a, -random.randint(1, 110))
        cases += orders(a, b, c) + orders(a, b, -c) + orders(a, -a, hard(0, 100))
    judge("cancellation", cases)
    judge("subnormals", [case for _ in rounds(2000) for case in orders(hard(0, 2), hard(0, 2), hard(0, 1))])


def test_zeros():
    """Nothing, negative zeros, and what is left of differences, are +0.0; the last term may stand alone."""
    least = 5e-324
    cases = [(0.0, 0.0, 0.0), (-0.0, 0.0, 0.0), (-0.0, -0.0, -0.0), (1.0, -1.0, -0.0), (-least, 0.0, least), (0.0, 0.0, -least)]
    tap.is_equal([text(got) for (got,) in answers("rounding", cases)], [*["0"] * 5, text(-least)], "zeros")


def test_to_odd():
    """Odd rounding, from its definition: exact, or a neighbour with an odd significand."""
    cases = [(a, hard(1, 2000) if number % 2 else math.ldexp(a, -random.randint(0, 60)) * -1.25)
             for number in rounds(20_000) for a in [hard(1, 2000)]]
    wrong = []
    for (a, b), (near, error, odd) in zip(cases, answers("two", cases)):
        is_odd = struct.unpack("<Q", struct.pack("<d", odd))[0] & 1
        if odd != near if error == 0 else not (is_odd and odd in (near, math.nextafter(near, math.copysign(math.inf, error)))):
            wrong.append((a, b, odd))
    tell("rounding to odd", wrong, len(cases))


start()
tap.run(globals())
