"""Statistics of exact sums: the correctly rounded values of their definitions, and when they are NULL.

The reference does not know how they are computed: it takes the definitions as they stand, with the
deviations from the mean, on Python's integers.
"""

import math
import random
import sys

sys.dont_write_bytecode = True  # the sources may be read-only

import tap
from exact_lines import Dyadic, check, nearest, nearest_root, run, start, text

STATISTICS = ("var_pop", "var_samp", "stddev_pop", "stddev_samp", "norm", "covar_pop", "covar_samp", "corr",
              "regr_slope", "regr_intercept", "regr_r2", "regr_count", "regr_avgx", "regr_avgy", "regr_sxx",
              "regr_syy", "regr_sxy")

ROUNDS = 40 if tap.QUICK else 1000

INF, NAN = math.inf, math.nan


def units(value):
    """A finite value as an integer, in units of 2^-1074."""
    if isinstance(value, int):
        return value << 1074
    numerator, denominator = value.as_integer_ratio()
    return (numerator << 1074) // denominator


def statistics(pairs, times=1):
    """The statistics of the pairs (x, y), each of which is there so many times."""
    n = len(pairs) * times
    if n == 0:
        return [0 if name == "regr_count" else None for name in STATISTICS]
    xs, ys = [units(x) for x, _ in pairs], [units(y) for _, y in pairs]
    sum_x, sum_y = times * sum(xs), times * sum(ys)
    from_x, from_y = [n * x - sum_x for x in xs], [n * y - sum_y for y in ys]
    #: Sums of products of deviations from the mean, all in units of 2^-2148, n^2 of them.
    sxx = times * sum(d * d for d in from_x)
    syy = times * sum(d * d for d in from_y)
    sxy = times * sum(d * e for d, e in zip(from_x, from_y))
    unit, square = 1 << 1074, 1 << 2148
    result = {
        "var_pop": nearest(sxx, n * n * n * square),
        "stddev_pop": nearest_root(sxx, n * n * n * square),
        "norm": nearest_root(times * sum(x * x for x in xs), square),
        "covar_pop": nearest(sxy, n * n * n * square),
        "regr_count": n,
        "regr_avgx": nearest(sum_x, n * unit),
        "regr_avgy": nearest(sum_y, n * unit),
        "regr_sxx": nearest(sxx, n * n * square),
        "regr_syy": nearest(syy, n * n * square),
        "regr_sxy": nearest(sxy, n * n * square),
    }
    if n > 1:
        result["var_samp"] = nearest(sxx, (n - 1) * n * n * square)
        result["stddev_samp"] = nearest_root(sxx, (n - 1) * n * n * square)
        result["covar_samp"] = nearest(sxy, (n - 1) * n * n * square)
    if sxx != 0:
        result["regr_slope"] = nearest(sxy, sxx)
        result["regr_intercept"] = nearest(sum_y * sxx - sum_x * sxy, n * sxx * unit)
        result["regr_r2"] = nearest(sxy * sxy, sxx * syy) if syy != 0 else 1.0
        if syy != 0:
            size = nearest_root(sxy * sxy, sxx * syy)
            result["corr"] = -size if sxy < 0 else size
    return [result.get(name) for name in STATISTICS]


def written(value):
    return "=%d" % value if isinstance(value, int) else value.hex()


def judge(name, cases):
    """One check. A case: pairs that come, those that leave again, how often all of it is doubled."""
    lines, wanted = [], []
    for pairs, leaving, doubled in cases:
        moves = [("+", pair) for pair in pairs + leaving] + [("-", pair) for pair in leaving]
        words = ["%s%s:%s" % (sign, written(x), written(y)) for sign, (x, y) in moves]
        lines.append(" ".join(["pairs"] + words + ["*"] * doubled))
        times = 2**doubled
        n = times * len(pairs)
        xs, ys = [units(x) for x, _ in pairs], [units(y) for _, y in pairs]
        sums = [Dyadic(times * sum(xs), -1074), Dyadic(times * sum(ys), -1074),
                Dyadic(times * sum(x * x for x in xs), -2148), Dyadic(times * sum(y * y for y in ys), -2148),
                Dyadic(times * sum(x * y for x, y in zip(xs, ys)), -2148)]
        wanted.append([str(n)] + [str(number) for number in sums] + ["1"] +
                      [text(value) for value in statistics(pairs, times)])
    check(name, lines, lines, wanted)


def hard(low, high):
    """A double with an exponent from low to high, its significand often hard on rounding."""
    significand = random.choice((0, 2**52 - 1, random.getrandbits(2), 2 ** random.randrange(52),
                                 random.getrandbits(52), random.getrandbits(52)))
    return random.choice((-1.0, 1.0)) * math.ldexp(2**52 + significand, max(random.randint(low, high), -1074) - 52)


def integer():
    """A 64-bit integer of any size, often one at the ends."""
    if random.random() < 0.2:
        return random.choice((2**63 - 1, -2**63, 2**62, 2**53 + 1, 2**63 - 2))
    return random.choice((-1, 1)) * (random.getrandbits(63) >> random.randrange(63))


def many(value, count=None):
    return [(value(), value()) for _ in range(count if count is not None else random.choice((1, 2, 3, 5, 20)))]


def along_a_line(noise):
    """Pairs on a line, or so near to it that corr is near 1."""
    slope, start_x = hard(-3, 3), hard(-3, 3)
    return [(start_x + i, slope * i + noise * random.random()) for i in range(random.randint(2, 20))]


def squares():
    """Integers whose deviations make many an exact root: 0 and 2 d, and again."""
    d, mean = random.getrandbits(random.choice((3, 20, 53))), random.getrandbits(9)
    return [(mean - d, mean + d), (mean + d, mean - d)] * random.choice((1, 2, 8))


def ties():
    """0 and z: var_pop is z^2 / 4, covar_pop z w / 4, and the product is a midpoint of doubles."""
    m = random.getrandbits(53) | 2**53 | 1
    factors = [f for f in (3, 5, 7, 9, 11, 13, 27, 101, 1021) if m % f == 0] or [1]
    factor = random.choice(factors)
    shift = random.choice((0, 10, -300, -1000, 900))
    z, w = math.ldexp(m // factor, shift), float(factor)
    return [(0.0, 0.0), (z, w)]


def random_cases():
    """Kinds of data, by name."""
    yield "ordinary numbers", lambda: many(lambda: hard(-3, 10))
    yield "decimals", lambda: many(lambda: random.randrange(-10**6, 10**6) / 1000)
    yield "a large mean", lambda: many(lambda: 1e9 + random.random())
    yield "integers", lambda: many(integer)
    yield "small integers", lambda: many(lambda: random.randrange(-5, 6))
    yield "integers and reals", lambda: many(lambda: random.choice((integer(), hard(-3, 60))))
    yield "all exponents", lambda: many(lambda: hard(-1074, 1023))
    yield "subnormal numbers", lambda: many(lambda: hard(-1074, -1060))
    yield "squares that are subnormal", lambda: many(lambda: hard(-545, -505))
    yield "squares about overflow", lambda: many(lambda: hard(508, 513))
    yield "huge numbers", lambda: many(lambda: hard(1020, 1023))
    yield "huge, tiny and integers", lambda: many(
        lambda: random.choice((hard(1000, 1023), hard(-1074, -1000), integer(), 0.0, -0.0)))
    yield "one number, or nearly", lambda: [(x, math.nextafter(x, random.choice((x, INF))))
                                            for x in [hard(-1000, 1000)] * random.randint(1, 6)]
    yield "a line", lambda: along_a_line(0.0)
    yield "nearly a line", lambda: along_a_line(random.choice((1e-15, 1e-12, 1e-8)))
    yield "exact roots", squares
    yield "products that are midpoints", ties


def test_random():
    for name, make in random_cases():
        judge(name, [(make(), [], random.choice((0, 0, 0, 1, 20, 50))) for _ in range(ROUNDS)])
        judge(name + ", and others that leave", [(make(), make(), 0) for _ in range(ROUNDS // 4)])


def test_examples():
    """What is known without a computation, for each statistic by name."""
    largest, least = sys.float_info.max, 5e-324
    examples = [
        ("1e10 repeated", [(1e10, 1e10)] * 9, dict(var_pop=0.0, stddev_samp=0.0, corr=None, regr_slope=None)),
        ("0.1 repeated", [(0.1, 0.1)] * 10, dict(var_pop=0.0, var_samp=0.0, stddev_pop=0.0, regr_sxy=0.0)),
        ("1e15 and the next", [(1e15, 0.0), (1e15 + 1, 0.0), (1e15 + 2, 0.0)],
         dict(var_pop=2 / 3, var_samp=1.0, stddev_samp=1.0, regr_sxx=2.0, regr_slope=0.0, regr_r2=1.0, corr=None)),
        ("2^63 - 1 and the ones before", [(2**63 - 1, 0), (2**63 - 2, 1), (2**63 - 3, 2)],
         dict(var_samp=1.0, corr=-1.0, regr_slope=-1.0, regr_intercept=2.0**63, regr_avgx=2.0**63, regr_r2=1.0)),
        ("3 and 4", [(3.0, 3), (4.0, 4)], dict(norm=5.0, var_pop=0.25, stddev_pop=0.5, corr=1.0)),
        ("the largest numbers", [(largest, largest), (-largest, -largest)],
         dict(var_pop=INF, stddev_pop=largest, regr_sxy=INF, corr=1.0, regr_slope=1.0, regr_avgx=0.0, norm=INF)),
        ("the smallest number", [(least, 0.0), (-least, least)],
         dict(var_pop=0.0, stddev_pop=least, regr_slope=-0.5, regr_avgy=0.0, corr=-1.0, norm=least)),
        ("far apart", [(1e308, 1), (1e-308, 2)], dict(corr=-1.0, regr_intercept=2.0)),
        ("one pair", [(1.5, 2)], dict(var_pop=0.0, var_samp=None, stddev_pop=0.0, stddev_samp=None, norm=1.5,
                                      covar_pop=0.0, covar_samp=None, corr=None, regr_slope=None, regr_intercept=None,
                                      regr_r2=None, regr_count=1, regr_avgx=1.5, regr_avgy=2.0, regr_sxx=0.0,
                                      regr_syy=0.0, regr_sxy=0.0)),
        ("no pairs", [], dict((name, None) for name in STATISTICS) | {"regr_count": 0}),
        ("x alone infinite", [(INF, 1), (2, 2)],
         dict(var_pop=None, var_samp=None, stddev_pop=None, stddev_samp=None, norm=INF, covar_pop=None, covar_samp=None,
              corr=None, regr_slope=None, regr_intercept=None, regr_r2=None, regr_count=2, regr_avgx=INF,
              regr_avgy=1.5, regr_sxx=None, regr_syy=0.5, regr_sxy=None)),
        ("y alone infinite", [(1, -INF), (2, 2)],
         dict(var_pop=0.25, norm=math.sqrt(5), covar_pop=None, corr=None, regr_slope=None, regr_intercept=None,
              regr_r2=None, regr_avgx=1.5, regr_avgy=-INF, regr_sxx=0.5, regr_syy=None, regr_sxy=None)),
        ("x infinite, y constant", [(INF, 7), (2, 7)], dict(regr_r2=1.0, corr=None, regr_slope=None)),
        ("x constant, y infinite", [(3, INF), (3, 7)], dict(regr_r2=None, corr=None, regr_slope=None)),
        ("both infinities", [(INF, -INF), (-INF, INF)],
         dict(norm=INF, regr_avgx=None, regr_avgy=None, var_pop=None, regr_sxy=None, regr_r2=None)),
        ("one infinite value", [(-INF, INF)], dict(var_pop=None, var_samp=None, norm=INF, regr_avgx=-INF, regr_r2=None)),
        ("zero times infinity", [(0.0, INF), (1.0, 1.0)], dict(covar_pop=None, var_pop=0.25, norm=1.0, regr_avgy=INF)),
        ("NaN", [(NAN, 1), (1, 1)], dict(norm=None, regr_avgx=None, var_pop=None, regr_avgy=1.0, corr=None)),
    ]
    answers = run([" ".join(["pairs"] + ["+%s:%s" % (written(x), written(y)) for x, y in pairs])
                   for _, pairs, _ in examples])
    for (name, _, wanted), words in zip(examples, answers):
        got = dict(zip(STATISTICS, words[-len(STATISTICS):]))
        tap.is_equal({key: got[key] for key in wanted}, {key: text(value) for key, value in wanted.items()}, name)


def state_case(count, sums, consistent):
    """The line of a state, and the words before the statistics that it is to be answered with."""
    numbers = [str(number) for number in sums]
    return " ".join(["state", str(count)] + numbers), [str(count)] + numbers + [str(int(consistent))]


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
        dxx, dyy, dxy = count * xx - x * x, count * yy - y * y, count * xy - x * y
        # The unit of the products is the square of that of x and y, as it is for real sums.
        half = exponent // 2
        sums = [Dyadic(x, half), Dyadic(y, half)] + [Dyadic(s, 2 * half) for s in (xx, yy, xy)]
        cases.append(state_case(count, sums, dxx >= 0 and dyy >= 0 and dxy * dxy <= dxx * dyy))
    zero, one = Dyadic(0), Dyadic(1)
    cases += [state_case(0, [zero] * 5, True), state_case(-1, [zero] * 5, False), state_case(-2**63, [one] * 5, False)]
    cases += [state_case(0, [one if i == j else zero for j in range(5)], False) for i in range(5)]
    answers = run([line for line, _ in cases])
    wrong = [i for i, (_, wanted) in enumerate(cases) if answers[i][:len(wanted)] != wanted]
    for i in wrong[:5]:
        tap.diag("%s\n%s" % (cases[i][0], " ".join(answers[i])))
    tap.ok(not wrong, "states that are consistent, and others (%d)" % len(cases))
    split = sum(words[-1] == "1" for _, words in cases)
    tap.ok(len(cases) // 5 < split < len(cases) * 4 // 5, "both in numbers (%d are)" % split)


def test_widest():
    """Sums of every digit that there is: the most that exact arithmetic has to hold."""
    full = 2 ** (32 * 136) - 1
    for sign in (-1, 1):
        sums = [Dyadic(sign * full, -2176)] * 2 + [Dyadic(full, -2176)] * 2 + [Dyadic(-full, -2176)]
        count = 2**63 - 1
        line, wanted = state_case(count, sums, False)
        (words,) = run([line])
        tap.ok(words[:len(wanted)] == wanted, "the widest sums, with sign %d" % sign)
        # All of the same size s, counted in units: D(xx) = s (n - s) and so on, with s > n.
        unit = 1 << 2176
        s = sign * full
        dxx, dxy = count * full * unit - s * s, -count * full * unit - s * s
        wide = {
            "var_pop": nearest(dxx, count * count * unit * unit),
            "covar_samp": nearest(dxy, count * (count - 1) * unit * unit),
            "regr_slope": nearest(-dxy, -dxx),
            "regr_r2": nearest(dxy * dxy, dxx * dxx),
            "corr": -nearest_root(dxy * dxy, dxx * dxx),
            "regr_intercept": nearest(-2 * s * full, -dxx),
        }
        got = dict(zip(STATISTICS, words[len(wanted):]))
        tap.is_equal({name: got[name] for name in wide}, {name: text(value) for name, value in wide.items()},
                     "and their statistics")


def main():
    start()
    test_examples()
    test_random()
    test_states()
    test_widest()
    tap.done()


main()
