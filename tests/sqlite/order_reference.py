"""Order statistics, distinct values and histograms by Python's exact arithmetic.

One table says what each function is called with and what it must answer for a list of values. The
percentiles are those of SQLite's own percentile functions: the rank in its arithmetic of doubles,
and between two values the exact one, rounded once.
"""

import json
import math
from collections import Counter
from fractions import Fraction

import support
from reference import INT_MAX, INT_MIN


def is_number(value):
    return isinstance(value, (int, float))


def order(value):
    """A key that sorts as SQLite does: numbers, TEXT, BLOB; of the zeros -0.0 first."""
    if is_number(value):
        return (0, value, math.copysign(1, value))
    return (1, value.encode()) if isinstance(value, str) else (2, value)


def percentile(values, fraction, discrete=False):
    """Of values that are numbers."""
    values = sorted(values, key=order)
    if not values:
        return None
    place = fraction * (len(values) - 1)
    rank = int(place)
    first = values[rank]
    if discrete:
        return float(first)
    beyond = Fraction(place - rank)
    second = values[min(rank + 1, len(values) - 1)]
    return float(Fraction(first) + (Fraction(second) - Fraction(first)) * beyond) + 0.0


def classes(values):
    """How often each value is there, a number once for all its types; and the INTEGERs."""
    keys = [value if is_number(value) else (type(value), value) for value in values]
    return Counter(keys), {value for value in values if isinstance(value, int)}


def count_distinct(values):
    return len(classes(values)[0])


def mode(values):
    counts, integers = classes(values)
    if not counts:
        return None
    most = max(counts.values())
    best = min(
        (key if is_number(key) else key[1] for key, count in counts.items() if count == most),
        key=lambda value: order(value + 0.0 if value == 0 and is_number(value) else value),
    )
    if best in integers and is_number(best):
        return int(best)
    return best + 0.0 if isinstance(best, float) else float(best) if is_number(best) else best


def histogram(values, low, high, bins):
    if not values:
        return None
    counts = [0] * (bins + 2)
    for value in values:
        if value < low:
            counts[0] += 1
        elif value > high:
            counts[-1] += 1
        else:
            width = Fraction(high) - Fraction(low)
            i = (Fraction(value) - Fraction(low)) * bins / width if value != high else bins - 1
            counts[1 + min(int(i), bins - 1)] += 1
    return json.dumps(counts, separators=(",", ":"))


def literal(number):
    """A number as SQL reads it back."""
    return "9e999" if number == math.inf else repr(number)


def numeric_calls():
    """Calls for numbers: (text, what it must answer)."""
    yield "gpu_median(x)", lambda values: percentile(values, 0.5)
    for p in (0, 1, 25.0, 50, 99.9, 100, "'75'"):
        fraction = float(str(p).strip("'")) / 100
        yield f"gpu_percentile(x, {p})", lambda values, f=fraction: percentile(values, f)
    for f in (0, 0.1, 1 / 3, 0.5, 0.9999, 1, 1.0):
        yield f"gpu_percentile_cont(x, {f!r})", lambda values, f=f: percentile(values, float(f))
        yield (f"gpu_percentile_disc(x, {f!r})", lambda values, f=f: percentile(values, float(f), True))
    for low, high, bins in (
        (0, 10, 10),
        (-2.5, 2.5, 7),
        (0.1, 0.7, 6),
        (INT_MIN, INT_MAX, 3),
        (-1e300, 1e300, 4),
        (2**53, 2**53 + 10, 5),
        (5e-324, 1e-322, 3),
    ):
        yield (
            f"gpu_histogram(x, {literal(low)}, {literal(high)}, {bins})".replace(
                str(INT_MIN), "-9223372036854775807 - 1"
            ),
            lambda values, a=(low, high, bins): histogram(values, *a),
        )


NUMERIC = list(numeric_calls())
ANY = [("gpu_count_distinct(x)", count_distinct), ("gpu_mode(x)", mode)]


def small(rng):
    return rng.choice((rng.randint(-5, 12), rng.randint(0, 3) * 0.5, None))


def limits(rng):
    """Where doubles are further apart than integers, both types."""
    base = rng.choice((2**53, 2**54, 2**62, INT_MAX - 3000, INT_MIN + 3000, 0))
    value = base + rng.randint(-2500, 2500)
    return rng.choice((value, float(value), -value, -value + 1))


def hard(rng):
    """Any exponent, zeros of both signs, the greatest and the least."""
    return rng.choice(
        (
            math.ldexp(rng.uniform(-1, 1), rng.randint(-1073, 1023)),
            rng.choice((0.0, -0.0, 5e-324, -5e-324, 1.7976931348623157e308, -1.7976931348623157e308)),
            rng.randint(INT_MIN, INT_MAX),
            rng.random(),
        )
    )


def alike(rng):
    return rng.choice((7, 7, 7, 7.0, 7.5))


def clusters(rng):
    """Far apart, and close together there; a quarter of a number, too."""
    value = rng.randrange(3) * 10**12 + rng.randint(0, 1000)
    return rng.choice((value, float(value), value * 0.25))


def texts(rng):
    """All storage classes, few different values, and equal numbers of both types."""
    return rng.choice(
        (1, 1.0, 0.0, -0.0, 0, 2**53 + 1, float(2**53), 2**53, math.inf, 0.5, None)
        + ("", "a", "A", "ä", "1", "a\0b", b"", b"a", b"1", b"\0")
    )


NUMBERS = (small, limits, hard, alike, clusters)


def fill(db, values):
    support.table(db, "t(x)", ((value,) for value in values))


def present(values):
    return [value for value in values if value is not None]
