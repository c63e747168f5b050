"""The long accumulator, where it is hard: ties, carries, divisors. sum-t.py has random sums."""

import math
import random
import sys

sys.dont_write_bytecode = True  # the sources may be read-only

import tap
from exact_lines import BASE, LARGEST, Steps, composed, counted, finite, hard, judge, judge_examples, rounds, run, start

LEAST = 5e-324


def test_products():
    """The least and the greatest ones."""
    case = Steps("accumulator").product(LEAST, LEAST).round().add(LEAST).round(2).product(-LEAST, LEAST).round(2)
    for x in (-LARGEST, LARGEST):
        for _ in range(1000):
            case.product(LARGEST, x)
        case.round()
    judge("products at both ends", [case.round(3)])


def test_integers():
    """Integers of 192 bits, by their words."""
    full, least = hex(2**64 - 1), f"int192 0 0 {2**63}"
    judge_examples("integers", "accumulator", [
        (f"int192 {full} {full} {2**63 - 1}", 1, 2.0**191, "2^191 - 1"),
        (least, 1, -1.0, "2^191 - 1 less 2^191"),
    ])
    judge_examples("the least integer", "accumulator", [(least, 1, -(2.0**191), "-2^191")])


def test_ties():
    """Ties at every exponent of a result, subnormals among them.

    They are made from a significand, half a unit in its last place, and nothing or the smallest product of either sign.
    """
    cases = []
    for exponent in [*range(-1076, -1015), *range(-1015, 1016, 37), *range(1016, 1024)]:
        for top in (0, 1, 2, 0x7FFFFFFFFFFFF, 0xFFFFFFFFFFFFE, 0xFFFFFFFFFFFFF):
            for negative in (0, 1):
                for sign in (-1, 0, 1):
                    # top * 2^exponent may be no double: the product of two doubles is exact.
                    case = Steps("accumulator").product(composed(negative, 1023, top), math.ldexp(1.0, max(exponent, -1074)))
                    case.product(0.5, math.ldexp(1.0, -1074 if exponent < -1022 else exponent - 52))
                    if sign:
                        case.product(sign * LEAST, LEAST)
                    cases.append(case.round().round(2).round(2**63))
    judge("ties at all exponents", cases)


def test_single_bits():
    """Ties that one bit decides, at every distance and in every position among the digits."""
    judge("ties that one bit decides", [
        Steps("accumulator").add(2.0**position).add(2.0 ** (position - 53)).add(sign * 2.0 ** (position - distance)).round().round(4)
        for position in range(32) for distance in range(54, 200) for sign in (-1, 1)])


def test_full_digit():
    """The highest digit can come to be any number between -2^32 and 2^32, the ends included.

    Here halves reach it as a carry, so that no digit above it is touched.
    """
    cases = []
    for exponent in range(-960, 961, 32):
        for sign in (-1, 1):
            case = Steps("accumulator").add(sign * math.ldexp(0xFFFFFFFF, exponent))
            for _ in range(6):
                case.round().round(3).add(sign * math.ldexp(1.0, exponent - 1))
            cases.append(case)
    judge("full digits", cases)


def test_overflow():
    """Just below the tie with 2^1024, the tie, the last number below it, and far beyond."""
    case = Steps("accumulator").add(LARGEST).add(2.0**969).round().add(2.0**969).round().product(-LEAST, LEAST).round()
    case.add(LARGEST).round().round(2).product(-LARGEST, LARGEST).round().round(2**64 - 1)
    judge("overflow", [case.product(LARGEST, LARGEST).round().add(-LARGEST).round()])
    tap.is_equal(case.wanted[:4], ["%.17g" % LARGEST, "inf", "%.17g" % LARGEST, "inf"], "the limit is what it is said to be")


def test_divide():
    """Quotients that end in a tie or next to one: a number of bits more than a double has, with the last unit changed."""
    cases = []
    for number in rounds(4000):
        divisor = random.getrandbits(random.randint(2, 64)) | 1
        quotient = hard(1023 - 10, 1023 + 10)
        half = math.copysign(math.ldexp(1, math.frexp(quotient)[1] - 54), quotient)
        case = Steps("accumulator")
        for factor in (quotient, half):  # the divisor as two doubles, times the quotient and half a unit of its last place
            case.product(float(divisor >> 32 << 32), factor).product(float(divisor & 0xFFFFFFFF), factor).round(divisor)
        cases.append(case.add(LEAST if number & 1 else -LEAST).round(divisor))
    judge("quotients that are ties", cases)
    judge("subnormal quotients", [
        Steps("accumulator").product(hard(0, 60), hard(960, 1023)).round(counted()).round(2**64 - 1).round(2**63)
        for _ in rounds(4000)])


def test_digits():
    """A device's digits are signed, and up to 2^62."""
    cases = []
    for number in rounds(300):
        case = Steps("accumulator").add(finite())
        for _ in range(random.randint(1, 3)):
            low = random.randint(1, 130)
            digits = {at: random.randrange(-2**63, 2**63) >> random.randint(1, 60) for at in range(low, random.randint(low, 130) + 1)}
            if number % 7 == 0:
                digits = {at: 2**62 - 1 if number & 1 else 1 - 2**62 for at in digits}
            exact = sum(digit << 32 * at for at, digit in digits.items())
            case.step(exact, "digits", len(digits), *[word for pair in digits.items() for word in pair]).round(counted())
        cases.append(case)
    judge("digits of a device", cases)


def test_pending():
    """Carries wait for up to 2^30 additions, which nobody waits for here.

    How many wait is set to just before that, with digits as full as so many additions make them.
    """
    before = 2**30 - 3
    ones = LARGEST / 2.0**1023
    cases = []
    for number in rounds(400):
        sign = 1 if number & 1 else -1
        first = random.randint(2, 120)
        last = first + random.randint(0, 10)
        full = sign * before * (2**32 - 1)
        case = Steps("accumulator").step(sum(full << 32 * at for at in range(first, last + 1)), "fill", first, last, before, full)
        for _ in range(6):
            # All bits set: adds as much to each digit as an addition can.
            exponent = 32 * first + BASE
            case.product(sign * ones, math.ldexp(ones, -900 if exponent < -900 else 32 * first % 1800 - 900))
            case.add(sign * math.ldexp(ones, random.randint(-1000, 1000)))
        cases.append(case.step(0, "pending").round(counted()))
    answers = run([" ".join(case.words) for case in cases])
    tap.ok(all(int(words[0]) < before for words in answers), "carries were propagated")
    for case in cases:
        case.words.remove("pending")
    judge("the limit of waiting carries", cases)


def test_zero():
    """Zeros have no sign."""
    judge_examples("zeros", "accumulator", [
        ("", 1, 0.0, "nothing is +0.0"),
        ("", 3, 0.0, "a third of it too"),
        ("add -0.0 product -0.0 5", 1, 0.0, "negative zeros are +0.0"),
    ])
    judge_examples("nothing", "accumulator", [
        ("merge-nothing", 1, 0.0, "nothing and nothing"),
        ("add -0x1p-1074", 2, 0.0, "half of the smallest number, negative"),
        ("", 1, -LEAST, "the smallest number, negative"),
    ])


start()
tap.run(globals())
