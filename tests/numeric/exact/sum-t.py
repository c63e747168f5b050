"""The exact sum: every path to a result, and from each to the others."""

import math
import random
import sys

sys.dont_write_bytecode = True  # the sources may be read-only

import tap
from exact_lines import BASE, Steps, counted, finite, hard, integer, judge, judge_examples, rounds, run, start, units


class Sum(Steps):
    """A sum of the program's, and of Python's integers."""

    def __init__(self):
        super().__init__("sum")

    def integer(self, x, word="integer"):
        """An integer, or one that is subtracted."""
        return self.step((-x if word == "less-integer" else x) << -BASE, word, x)

    def merge(self, part):
        """Merges another sum, which is then asked for the value that it keeps."""
        self.words += ["part", *part.words[1:], "merge"]
        self.wanted += part.round().wanted
        self.exact += part.exact
        return self

    def check(self, divisor=None):
        """Asks for the exact value, in the one form that it has, and for a quotient."""
        size, digits = abs(self.exact), -(-abs(self.exact).bit_length() // 32)
        low = ((size & -size).bit_length() - 1) // 32
        self.wanted.append("%s%0*x@%d" % ("-" if self.exact < 0 else "", 8 * (digits - low), size >> 32 * low, low) if size else "0")
        return self.step(0, "exact").round(divisor or counted())


def test_random():
    """Sums of values of all kinds, looked at after each."""
    cases = [Sum() for _ in rounds(500)]
    for number, case in enumerate(cases):
        low = random.randint(0, 2046)
        high = random.randint(low, 2046)
        for _ in range(20):
            if number % 5 == 0:
                case.add(hard(low, high))
            elif number % 5 == 1:
                case.add(hard(1000, 1050))
            elif number % 5 == 2:
                case.integer(integer(), random.choice(("integer", "less-integer")))
            else:  # 3: all of them above the integers' lowest bit
                case.add(hard(1076 + 52, 1180) if number % 5 == 3 else hard(1000, 1070)).integer(integer())
            case.check()
    judge("sums", cases)


def test_average_ties():
    """The division of an expansion gives up where twice the precision does not settle the rounding.

    Ties are there always: (1 + 2^-53) / 1 over 2^k, and whatever a divisor makes of them.
    """
    cases = []
    for number in rounds(400):
        quotient = random.getrandbits(53) | 1 << 53 | 1  # 54 bits, the last one set: a tie between two doubles
        exponent = random.randint(-100, 100) if number < 200 else random.randint(-1070, 800)
        for count in (1, 2, 3, 5, 6, 7, 10, 49, 1000, 4097, 1000003, 2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1):
            case = Sum()
            for part in range(4):
                case.product(float(quotient * count >> 32 * part & 0xFFFFFFFF), math.ldexp(1, 32 * part + exponent))
            cases.append(case.check(count).add(5e-324 if number & 1 else -5e-324).check(count))
    judge("averages that are ties", cases)
    cases = []
    for number in rounds(20_000):  # as window and GROUP BY averages have them
        head = hard(1023, 1030)
        tail = math.ldexp(head, -random.randint(40, 110))
        cases.append(Sum().add(head).add(tail if number & 1 else -tail).check(random.randint(1, 1000)))
    judge("averages of two terms", cases)
    # Near the limit below which expansions give up.
    judge("subnormal and small averages", [Sum().add(hard(0, 140)).add(hard(0, 90)).check() for _ in rounds(2000)])


def test_average_examples():
    """Ties, and what a little more or less makes of them."""
    judge_examples("averages", "sum", [
        ("add 1 add 0x1p-53", 1, 1.0, "1 + 2^-53 is a tie, and 1 is even"),
        ("", 2, 0.5, "and so is its half"),
        ("add 0x1p-200", 1, 1 + 2**-52, "a little more decides"),
        ("", 2, 0.5 + 2**-53, "for its half too"),
        ("add -0x1p-199", 2, 0.5, "and a little less"),
    ])
    judge_examples("averages of the largest", "sum", [
        ("add 0x1.fffffffffffffp1023 add 0x1.fffffffffffffp1023", 2, sys.float_info.max, "no total overflows an average"),
        ("", 1, math.inf, "though the total does"),
    ])


#: Of biased exponents: ordinary ones, all, those of subnormal products, or none at all, of products that overflow, of those around
#: 2^-960, below that, and around 2^960.
RANGES = [(1000, 1046), (0, 2046), (0, 3), (2040, 2046), (535, 550), (505, 535), (1495, 1505), (1023, 1023)]


def test_products():
    """Every kind of product, and each leaves again without a trace."""
    cases = []
    for number in rounds(100 * len(RANGES)):
        case = Sum()
        pairs = [[random.choice((*[hard(*RANGES[number % len(RANGES)])] * 11, zero)) for zero in (-0.0, 0.0)] for _ in range(15)]
        for x, y in pairs:
            case.product(x, y).check()
        for x, y in pairs:
            case.product(x, y, "less-product").check(1)
        cases.append(case.round(3))
    judge("products", cases)
    # What rounding takes from each product is all that is left, so that none of it may be lost.
    cases = []
    for number in rounds(100 * len(RANGES)):
        case = Sum()
        for _ in range(15):
            x, y = hard(*RANGES[number % len(RANGES)]), hard(*RANGES[number % len(RANGES)])
            if math.isfinite(x * y):
                case.product(x, y).add(x * y, "subtract").check(1)
        cases.append(case.check())
    judge("errors of products", cases)
    cases = []
    for _ in rounds(500):
        case = Sum()
        for _ in range(10):
            case.product(hard(0, 10), hard(2000, 2046)).product(hard(2000, 2046), hard(0, 10), "less-product").check()
        cases.append(case)
    judge("tiny times huge", cases)


def test_leaving():
    """Clause 7 of the aggregates' contract: what leaves leaves no trace, in any order."""
    cases = []
    for number in rounds(400):
        case = Sum()
        values = [(finite() if number & 1 else hard(1000, 1040), integer()) for _ in range(30)]
        for x, n in values:
            case.add(x)
            if number & 2:
                case.integer(n)
        for (x, _), (_, n) in zip(values, reversed(values)):
            case.add(x, "subtract")
            if number & 2:
                case.integer(n, "less-integer")
            case.check()
        cases.append(case.round(1))
    judge("values that leave", cases)
    judge_examples("infinities and NaN", "sum", [
        ("add 1.5 add inf", 1, math.inf, "an infinity"),
        ("add -inf", 1, math.nan, "and its opposite"),
        ("subtract inf", 5, -math.inf, "the first one leaves"),
        ("add nan", 1, math.nan, "a NaN"),
        ("subtract nan", 1, -math.inf, "that leaves"),
        ("subtract -inf", 1, 1.5, "and only the number is there"),
        ("product 0 inf", 1, math.nan, "0 * Inf is NaN"),
        ("less-product 0 inf product -2 inf", 1, -math.inf, "-2 * Inf is -Inf"),
        ("less-product -2 inf product 1e200 1e200", 1, math.inf, "1e200 * 1e200 is past the range"),
        ("product 1e200 -1e200", 1, 1.5, "and is no infinity: it can be subtracted"),
        ("wide-product 3 nan", 1, math.nan, "3 * NaN"),
    ])
    tap.is_equal(run(["sum product 0 1e300 product 1e-300 -0.0 is-wide"]), [["0"]], "products that are zero need no long accumulator")


def test_integers():
    """Integers past 2^63 stay exact among reals; halves that an expansion can't hold go another way."""
    most, square = f"integer {2**63 - 1} ", 2**126
    judge_examples("integers", "sum", [
        (most * 5, 5, 2.0**63, "the average of 2^63 - 1, rounded"),
        (f"add 0x1p-1074 {most.replace('integer', 'less-integer') * 4} add -0x1p63", 1, -1.0, "2^63 - 1 - 2^63 and a trace more"),
        ("add -0x1p-1074", 1, -1.0, "without the trace"),
    ])
    judge_examples("wide integers", "sum", [
        (f"integer {square}", 1, 2.0**126, "2^126"),
        (f"less-integer {square} less-integer {-2**63}", 1, 2.0**63, "-2^63, subtracted"),
        ("add 1e300 add 1e-300 add -1e300 add -0x1p63", 1, 1e-300, "1e-300 between 1e300, -1e300 and integers"),
    ])


def test_merge():
    """What a merge gives does not depend on how the values were spread."""
    cases = []
    for _ in rounds(500):
        whole = Sum()
        for _ in range(random.randint(1, 6)):
            part = Sum()
            for _ in range(random.randint(0, 12)):
                kind = random.randrange(4)
                if kind == 0:
                    part.integer(integer())
                elif kind == 1:
                    part.product(finite(), finite())
                else:
                    part.add(finite() if kind == 2 else hard(1010, 1030))
            whole.merge(part).check()
        cases.append(whole)
    judge("merging", cases)
    (words,) = run(["sum add inf part add -inf merge round 1 subtract inf round 1"])
    tap.is_equal(words, ["-inf", "nan", "-inf"], "opposite infinities that meet in a merge, and part again")


def test_device_parts():
    """Terms and digits as a device gives them."""
    cases = []
    for number in rounds(300):
        terms = [finite() if number % 3 == 0 else hard(1000, 1100) for _ in range(3)]
        digits = {random.randint(1, 130): random.getrandbits(63) - 2**62 >> random.randint(1, 40) for _ in range(5)} if number & 1 else {}
        exact = sum(map(units, terms)) + sum(digit << 32 * at for at, digit in digits.items())
        words = [word for pair in digits.items() for word in pair]
        cases.append(Sum().step(exact, "device", *terms, len(digits), *words).check())
    judge("parts of a device", cases)


def test_zero():
    """Zeros have no sign."""
    judge_examples("zeros", "sum", [
        ("", 1, 0.0, "nothing is +0.0"),
        ("add -0.0 add -0.0", 1, 0.0, "-0.0 and -0.0 are +0.0"),
        ("", 3, 0.0, "and so is their average"),
        ("product -0.0 1", 1, 0.0, "-0.0 * 1 is +0.0"),
        ("product -0x1p-1074 0x1p-1074", 1, 0.0, "what rounds to zero is +0.0"),
    ])


start()
tap.run(globals())
