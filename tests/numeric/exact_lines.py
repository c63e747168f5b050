"""The program exact-lines, and Python's integers to judge it by."""

import math
import os
import random
import subprocess

import tap

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


def nearest(p, q):
    """The double nearest to p / q, where q > 0: Python divides integers so. A zero is +0.0."""
    try:
        return p / q + 0.0
    except OverflowError:
        return -math.inf if p < 0 else math.inf


def nearest_root(p, q):
    """The double nearest to the square root of p / q.

    A root of 80 bits and more, with one more bit that is set if anything is left, rounds as the
    exact one does.
    """
    shift = max(0, 160 - p.bit_length() + q.bit_length())
    shift += shift & 1
    root = math.isqrt((p << shift) // q)
    return nearest(2 * root + (root * root * q != p << shift), 2 << shift // 2)


def text(value):
    """A result as the program writes it."""
    if value is None:
        return "NULL"
    return "i%d" % value if isinstance(value, int) else "%.17g" % value
