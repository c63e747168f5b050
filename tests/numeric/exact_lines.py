"""The program exact-lines, and Python's integers to judge it by."""

import os
import random
import struct
import subprocess
import sys

import tap
from reference import quotient

PROGRAM = os.path.join(tap.BUILDDIR, "tests", "numeric", "exact-lines")

#: Results that are shown of those that are wrong.
SHOWN = 5


def start():
    """The sequence of random numbers, and a word in the log on how to have the same one again."""
    if not os.path.exists(PROGRAM):
        tap.skip_all("exact-lines is not built")
    seed = int(os.environ.get("CLREDUCE_SEED", "1"), 0)
    tap.diag("CLREDUCE_SEED=%d" % seed)
    random.seed(seed)


def rounds(number):
    """So many in long runs, and a fifth in quick ones."""
    return range(number // 5 if tap.QUICK else number)


def run(lines):
    """What the program answers, a list of words for each line."""
    done = subprocess.run([PROGRAM], input="".join(line + "\n" for line in lines), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, encoding="ascii", check=False, timeout=600)
    if done.returncode != 0:
        tap.diag(done.stderr)
        tap.bail("exact-lines failed with %d" % done.returncode)
    return [line.split() for line in done.stdout.splitlines()]


def check(name, cases, lines, wanted):
    """One check: the program's answer to each line begins with the words that are wanted."""
    got = [words[:len(first)] for words, first in zip(run(lines), wanted)]
    wrong = [i for i, words in enumerate(wanted) if i >= len(got) or got[i] != words]
    for i in wrong[:SHOWN]:
        tap.diag("%s" % (cases[i],))
        tap.diag(" got: %s" % " ".join(got[i] if i < len(got) else ["nothing"]))
        tap.diag("want: %s" % " ".join(wanted[i]))
    tap.ok(not wrong and len(got) == len(wanted) > 0, "%s (%d cases)" % (name, len(wanted)))


class Dyadic:
    """The number integer * 2^exponent, in the one form that it has."""

    def __init__(self, integer, exponent=0):
        low = exponent % 64
        integer <<= low
        exponent = (exponent - low) // 64
        while integer and integer & (2**64 - 1) == 0:
            integer >>= 64
            exponent += 1
        self.integer, self.exponent = (integer, exponent) if integer else (0, 0)

    def __str__(self):
        digits = -(-abs(self.integer).bit_length() // 64) * 16 or 1
        return "%s%0*x@%d" % ("-" if self.integer < 0 else "", digits, abs(self.integer), self.exponent)

    def __mul__(self, other):
        return Dyadic(self.integer * other.integer, 64 * (self.exponent + other.exponent))

    def __sub__(self, other):
        unit = min(self.exponent, other.exponent)
        return Dyadic((self.integer << 64 * (self.exponent - unit)) - (other.integer << 64 * (other.exponent - unit)),
                      64 * unit)

    def over(self, other):
        """The quotient as two integers, the second one positive."""
        shift = 64 * (self.exponent - other.exponent)
        p, q = self.integer << max(shift, 0), other.integer << max(-shift, 0)
        return (-p, -q) if q < 0 else (p, q)


def text(value):
    """A result as the program writes it."""
    if value is None:
        return "NULL"
    return "i%d" % value if isinstance(value, int) else "%.17g" % value


# ---- Sums.

#: The exponent of an accumulator's lowest digit of 32 bits.
BASE = -2176
#: The largest double.
LARGEST = sys.float_info.max


def units(x, y=1.0):
    """The product of two finite doubles, as an integer times two to the BASE."""
    (p, q), (r, s) = x.as_integer_ratio(), y.as_integer_ratio()
    return (p * r << -BASE) // (q * s)


def composed(negative, biased, significand):
    """The double of these bits."""
    return struct.unpack("<d", struct.pack("<Q", negative << 63 | biased << 52 | significand & 2**52 - 1))[0]


def finite():
    """A finite double, each exponent as likely as another."""
    return composed(random.getrandbits(1), random.randrange(2047), random.getrandbits(52))


def hard(low, high):
    """A double with a biased exponent from low to high, and often a significand that is hard on rounding."""
    bits = random.getrandbits(52)
    significand = random.choice((0, 2**52 - 1, bits & 3, bits | ~3, 1 << random.randrange(52), bits, bits, bits))
    return composed(random.getrandbits(1), random.randint(low, high), significand)


def integer():
    """An integer of 64 bits: about as many of each length."""
    size = random.getrandbits(random.randint(1, 64)) % 2**63
    return random.choice((-2**63, 2**63 - 1, *[size, -size] * 7))


def typed(number):
    """A number as the program reads it where its type counts."""
    return f"r{number.hex()}" if isinstance(number, float) else f"i{number}"


def counted():
    """A divisor."""
    return random.choice((1, random.randint(1, 20), 2 ** random.randrange(64), random.getrandbits(random.randint(1, 64)) | 1))


class Steps:
    """A line of steps, and the words that they are to be answered with. self.exact is the number behind them, in units of 2^BASE."""

    def __init__(self, command):
        self.words, self.wanted, self.exact = [command], [], 0

    def step(self, exact, *words):
        """A step that adds so much, or sets what is exact if that is None."""
        self.words += [word.hex() if isinstance(word, float) else str(word) for word in words]
        self.exact += exact
        return self

    def add(self, x, word="add"):
        """A double; or any other step of one."""
        return self.step(-units(x) if word == "subtract" else units(x), word, x)

    def product(self, x, y, word="product"):
        """A product, or one that is subtracted."""
        return self.step(-units(x, y) if word == "less-product" else units(x, y), word, x, y)

    def round(self, divisor=1):
        """Asks for the rounded quotient."""
        self.wanted.append(text(quotient(self.exact, BASE, divisor)))
        return self.step(0, "round", divisor)


def judge(name, cases):
    """One check of lines of steps."""
    lines = [" ".join(case.words) for case in cases]
    check(name, lines, lines, [case.wanted for case in cases])


def judge_examples(name, command, examples):
    """One check of a line that goes on through examples: steps, a divisor, the quotient and what it is."""
    steps = " ".join(f"{steps} round {divisor}" for steps, divisor, _, _ in examples)
    (words,) = run([f"{command} {steps}"])
    got = {what: word for word, (_, _, _, what) in zip(words, examples)}
    tap.is_equal(got, {what: text(quotient) for _, _, quotient, what in examples}, name)
