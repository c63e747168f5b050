"""192-bit integers: carries and signs at the limits, and what fits into 64 bits."""

import sys

sys.dont_write_bytecode = True  # the sources may be read-only

import tap
from exact_lines import Steps, integer, judge, run, start


class Integer(Steps):
    """A number of the program's, of three words, and Python's."""

    def __init__(self, exact=0):
        super().__init__("int192")
        if exact:
            self.step(0, "set", *words_of(exact))
        self.exact = exact

    def show(self):
        """Asks for its bits, whether it is zero, and whether it is negative."""
        self.wanted += ["%048x" % (self.exact % 2**192), str(int(self.exact == 0)), str(int(self.exact < 0))]
        return self.step(0, "show")

    def grow(self):
        """Doubles it 64 times, which stands for so many additions."""
        return self.step(self.exact * (2**64 - 1), *["double"] * 64).show()

    def negate(self, times=1):
        """Changes its sign."""
        return self.step(-2 * self.exact if times % 2 else 0, *["negate"] * times).show()


def words_of(number):
    """The three words of a number, the lowest first."""
    return [number >> shift & 2**64 - 1 for shift in (0, 64, 128)]


def test_random_products():
    """Products of any size, added and subtracted in any order."""
    cases = []
    for _ in range(300):
        case = Integer()
        for _ in range(50):
            product = integer() * integer()
            case.step(product, "add", product).show()
        cases.append(case)
    judge("sums of products", cases)


def test_greatest_sum():
    """2^64 products of -2^63 by itself are 2^190; carries run through all three words and back."""
    greatest, least = 2**126, -2**63 * (2**63 - 1)
    judge("products, 2^64 times", [Integer().step(greatest, "add", greatest).grow().negate(),
                                   Integer().step(least, "add", least).grow().negate(64)])


def test_carries():
    """Carries through words that are full."""
    full = 2**64 - 1
    cases = [Integer().step(-1, "add", -1).show().step(1, "add", 1).show().negate()]
    for low, middle, added in ((full, full, (1, 0)), (0, full, (full, full)), (1, full, (full, full))):
        cases.append(Integer(low + (middle << 64) + (5 << 128)).step(added[0] + (added[1] << 64), "parts", *added, 0).show())
    judge("carries", cases)


def test_range():
    """What fits into 64 bits, and is stored then."""
    limit = 2**63
    numbers = [*range(limit - 1, limit + 2), *range(-limit - 1, -limit + 2), 2**128, 2**64 + 5, -2**64 - 5, 2**128 - 5, 5 - 2**128, 5 - 2**64]
    for number in numbers:
        fits = -limit <= number < limit
        (words,) = run([f"int192 set {' '.join(map(str, words_of(number)))} fits"])
        tap.is_equal(words, [str(int(fits)), str(number if fits else 12345)], f"{number} {'fits' if fits else 'does not fit, and is not stored'}")


start()
tap.run(globals())
