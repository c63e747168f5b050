"""Statistics of exact sums: the correctly rounded values of their definitions, and when they are NULL.

The sums are of any size and count, such as no rows of a test have: tests/sqlite/aggregates/statistics-random-t.py has the
values that come to sums and leave them.
"""

import math
import random
import sys

sys.dont_write_bytecode = True  # the sources may be read-only

import tap
from exact_lines import Dyadic, check, finite, hard, integer, run, start, text, typed
from reference import quotient
from statistics_reference import FUNCTIONS, Moments, root

ROUNDS = 40 if tap.QUICK else 1000


def statistics(n, exponent, x, y, xx, yy, xy):
    """The statistics of sums of n pairs: those of x and y in units of two to the exponent, those of products in its square."""
    moments = Moments(exponent)
    moments.single_count = moments.count = n
    moments.single.sum = moments.x.sum = x
    moments.single.squares = moments.x.squares = xx
    moments.y.sum, moments.y.squares, moments.products = y, yy, xy
    return moments.results()


def state_case(n, exponent, x, y, xx, yy, xy):
    """The line of a state with such sums, and what it is to be answered with: the statistics too, if pairs may have the sums."""
    numbers = [str(Dyadic(sum, exponent)) for sum in (x, y)] + [str(Dyadic(sum, 2 * exponent)) for sum in (xx, yy, xy)]
    dxx, dyy, dxy = n * xx - x * x, n * yy - y * y, n * xy - x * y
    is_consistent = n > 0 and dxx >= 0 and dyy >= 0 and dxy * dxy <= dxx * dyy or (n, x, y, xx, yy, xy) == (0,) * 6
    wanted = [str(n), *numbers, str(int(is_consistent))]
    if is_consistent:
        wanted += [text(value) for value in statistics(n, exponent, x, y, xx, yy, xy)]
    return " ".join(["state", str(n), *numbers]), wanted


def test_states():
    """States that no values have: their sums pass through, and the inequalities tell."""
    cases = []
    for _ in range(3 * ROUNDS):
        bits = random.choice((4, 30, 200, 4300))
        exponent = -2176 if bits == 4300 else random.randint(-1000, 1000)
        count = random.choice((1, 2, 3, 10, 2**62, 2**63 - 1, random.getrandbits(40) + 1))
        x, y = (random.choice((-1, 1)) * random.getrandbits(min(bits, 3200)) for _ in range(2))
        xx, yy, xy = (random.choice((-1, 1, 1, 1)) * random.getrandbits(bits) for _ in range(3))
        kind = random.randrange(4)
        if kind == 1:  # D(xx) about zero
            x = random.getrandbits(bits // 3)
            xx = x * x // count + random.choice((-1, 0, 0, 1))
        elif kind == 2:  # D(xy)^2 about D(xx) D(yy)
            x, y = random.getrandbits(bits // 3), random.getrandbits(bits // 3)
            xx, yy = x * x // count + random.getrandbits(20), y * y // count + random.getrandbits(20)
            product = (count * xx - x * x) * (count * yy - y * y)
            xy = (math.isqrt(max(product, 0)) + x * y) // count + random.choice((-1, 0, 1))
        elif kind == 3:  # on a line, or one unit off it
            x, xx = random.getrandbits(bits // 3), random.getrandbits(bits - bits // 4)
            factor = random.getrandbits(3)
            y, xy, yy = factor * x, factor * xx, factor * factor * xx + random.choice((-1, 0, 0, 1))
        # The unit of the products is the square of that of x and y, as it is for real sums.
        cases.append(state_case(count, exponent // 2, x, y, xx, yy, xy))
    cases += [state_case(0, 0, *[0] * 5), state_case(-1, 0, *[0] * 5), state_case(-2**63, 0, *[1] * 5)]
    cases += [state_case(0, 0, *(int(i == j) for j in range(5))) for i in range(5)]
    lines, wanted = zip(*cases)
    check("states that are consistent, and others", lines, lines, wanted)
    split = sum(len(words) > 7 for words in wanted)
    split = sum(len(words) > 7 for _, words in cases)
    tap.ok(len(cases) // 5 < split < len(cases) * 4 // 5, "both in numbers (%d are)" % split)


def test_widest():
    """Sums of every digit that there is: the most that exact arithmetic has to hold."""
    full = 2 ** (32 * 136) - 1
    for sign in (-1, 1):
        count, unit, s = 2**63 - 1, 1 << 2176, sign * full
        line, wanted = state_case(count, -2176, s, s, full * unit, full * unit, -full * unit)
        (words,) = run([line])
        tap.ok(words[:len(wanted)] == wanted, "the widest sums, with sign %d" % sign)
        # All of the same size s, counted in units: D(xx) = s (n - s) and so on, with s > n.
        dxx, dxy = count * full * unit - s * s, -count * full * unit - s * s
        wide = {
            "gpu_var_pop": quotient(dxx, 0, count * count * unit * unit),
            "gpu_covar_samp": quotient(dxy, 0, count * (count - 1) * unit * unit),
            "gpu_regr_slope": quotient(-dxy, 0, -dxx),
            "gpu_regr_r2": quotient(dxy * dxy, 0, dxx * dxx),
            "gpu_corr": -root(dxy * dxy, 0, dxx * dxx),
            "gpu_regr_intercept": quotient(-2 * s * full, 0, -dxx),
        }
        got = dict(zip(FUNCTIONS, words[len(wanted):]))
        tap.is_equal({name: got[name] for name in wide}, {name: text(value) for name, value in wide.items()},
                     "and their statistics")


#: Numbers of a column: each kind makes another part of the sums work. The first four are usual ones.
FLAVOURS = [
    lambda: random.randint(-100, 100),
    integer,
    lambda: hard(1013, 1033),
    lambda: float(random.randint(-1_000_000, 1_000_000)),
    finite,
    lambda: hard(0, 60),
    lambda: hard(1980, 2046),
]
FLAVOURS.append(lambda: random.choice(FLAVOURS[:7])())
FLAVOURS.append(lambda: random.choice((math.inf, -math.inf)) if random.random() < 0.25 else FLAVOURS[7]())


def aligned(draw):
    """Pairs on a line, as nearly as doubles let them, or in one point."""
    factor = random.randint(-3, 3)
    x, y = draw(), draw()
    while True:
        yield x, y
        if factor != 3:
            x = draw()
            x = x if isinstance(x, float) else x // 4
            y = x * factor


#: What the sums of pairs are of; those of squares are the first two.
TERMS = [lambda x, y: x, lambda x, y: x * x, lambda x, y: y, lambda x, y: y * y, lambda x, y: x * y]


def disturbance(rows, changed):
    """What is added to one of the sums, mostly so little that only the exact answer can tell."""
    size = abs(float(sum(TERMS[changed](x, y) for x, y in rows)))
    return random.choice((random.randint(-2, 2), math.ldexp(size, -random.randint(40, 120)), 5e-324, size)) * random.choice((-1, 1))


@tap.each("squares", "pairs")
def test_filter(kind):
    """The filter says yes only where the exact answer is yes, and nearly always then."""
    cases = []
    for number in range(20_000 if tap.QUICK else 100_000):
        flavour, is_aligned, is_disturbed = number % len(FLAVOURS), random.random() < 0.5, random.random() < 0.5
        draw, count = FLAVOURS[flavour], random.randrange(6)
        line = aligned(draw)
        rows = [next(line) if is_aligned else (draw(), draw()) for _ in range(count)]
        words = [typed(value) for row in rows for value in (row if kind == "pairs" else row[:1])]
        if is_disturbed:
            changed = random.randrange(5 if kind == "pairs" else 2)
            words += ["and", str(changed), typed(disturbance(rows, changed))]
        is_usual = flavour < 4 and not is_aligned and not is_disturbed and count > 2
        cases.append((" ".join(["rows", kind, *words]), is_disturbed, is_usual))
    answers = run([line for line, _, _ in cases])
    wrong = [(line, sure, exact) for (line, is_disturbed, _), (sure, exact) in zip(cases, answers)
             if exact == "0" and (sure == "1" or not is_disturbed)]
    for each in wrong[:5]:
        tap.diag(repr(each))
    tap.ok(not wrong and len(answers) == len(cases), f"{kind}: rows agree with themselves, and the filter lets no others pass")
    refused = sum(exact == "0" for _, exact in answers)
    tap.ok(refused >= len(cases) / 50, f"{refused} of {len(cases)} are refused")
    settled = [sure == "1" for (_, _, is_usual), (sure, _) in zip(cases, answers) if is_usual]
    tap.ok(sum(settled) > 0.9 * len(settled) > 0, f"{sum(settled)} of {len(settled)} usual rows are settled")


start()
tap.run(globals())
