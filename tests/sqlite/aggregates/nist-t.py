"""NIST's Statistical Reference Datasets, to the last digit that is certified.

What is certified belongs to the decimals that NIST prints, and most of those are no doubles. So
each set is asked twice. As REAL, where every answer must be the exact statistic of the doubles,
rounded once, and must agree with the certified value to as many digits as that exact statistic
does: no function of the doubles can do better. And as INTEGER, every column multiplied by a power
of ten, where nothing is lost and all certified digits must be there.
"""

from fractions import Fraction

import statistics_reference as statistics
import support
import tap
from nist_data import DIGITS, REGRESSION, UNIVARIATE, Least, Set, rounding, square_root
from reference import summed

#: One of each mode.
DATABASES = {mode: support.connect(mode, **({} if mode == "host" else support.SMALL)) for mode in support.modes()}

#: Bits of a part of a power: the sum of 82 products with a column of 25 bits is an INTEGER.
PART_BITS = 30


def agrees(batch, certified, values, what, rounded=False):
    """Compares Fractions with all the certified values, to every digit; or doubles, scaled."""
    for name, want in certified.items():
        got = values[name]
        batch.check(
            want.agreement(got, rounding(got) if rounded else 0) == DIGITS,
            f"{what}, {name}: certified {want.text}, got {float(got)!r}",
        )


def as_good(batch, certified, got, exact, what):
    """Compares a double with a certified value: as close as the exact statistic of doubles is."""
    possible = certified.agreement(exact)
    reached = certified.agreement(Fraction(got), rounding(got))
    batch.check(
        reached >= possible,
        f"{what}: certified {certified.text}, got {got!r}: {reached:.2f} of {possible:.2f} digits",
    )


def test_data():
    """The sets are NIST's: exact arithmetic on the decimals gives all that is certified."""
    for name in UNIVARIATE:
        data = Set(name)
        y = data.column("y")
        batch = support.Batch(f"{name}: the data give every certified digit")
        batch.check(len(y) == data.observations, f"{len(y)} observations")
        mean = sum(y) / len(y)
        squares = sum((value - mean) ** 2 for value in y)
        lagged = sum((a - mean) * (b - mean) for a, b in zip(y, y[1:]))
        values = {"mean": mean, "deviation": square_root(squares / (len(y) - 1)), "autocorrelation": lagged / squares}
        agrees(batch, data.certified, values, name)
    for name in REGRESSION:
        data = Set(name)
        batch = support.Batch(f"{name}: the data give every certified digit")
        batch.check(len(data.rows) == data.observations, f"{len(data.rows)} observations")
        columns = [term_values(data, term) for term in data.terms]
        y = data.column("y")
        normal = [[dot(a, b) for a in columns] for b in columns]
        least = Least(
            normal,
            [dot(column, y) for column in columns],
            dot(y, y),
            len(y),
            explained(data, dot(y, y), sum(y)),
        )
        agrees(batch, data.certified, least.values(data.terms), name)


def dot(left, right):
    """The sum of the products."""
    return sum(a * b for a, b in zip(left, right))


def term_values(data, term):
    """What a term of the model is on each row."""
    if term in data.columns:
        return data.column(term)
    power = int(term[2:]) if "^" in term else 0
    return [value**power for value in data.column("x" if power else "y")]


def explained(data, squares, total):
    """The total sum of squares: about the mean where the model has an intercept."""
    return squares - (total * total / data.observations if "1" in data.terms else 0)


def create(db, table, data, scaled):
    """A table of the columns: doubles, or whole numbers; gives the scales by column."""
    scales = {name: data.scale(name) if scaled else 1 for name in data.columns}
    kind = int if scaled else float
    support.table(db, f"{table}({', '.join(data.columns)})",
                  (tuple(kind(value * scales[name]) for name, value in zip(data.columns, row)) for row in data.rows))
    return scales


def all_statistics(db, table, x, y):
    """Every function of the two columns."""
    calls = ", ".join(statistics.call(name, y, x) for name in statistics.FUNCTIONS)
    return db.execute(f"SELECT {calls}, gpu_avg({x}) FROM {table}").fetchone()


def exact_statistics(db, table, x, y):
    """What every function must give for the two columns, and the exact moments behind it."""
    rows = db.execute(f"SELECT {y}, {x} FROM {table}").fetchall()
    moments = statistics.moments(rows)
    return moments.results() + (summed(row[1] for row in rows).average(),), moments


@tap.each(*UNIVARIATE)
def test_univariate(mode, name):
    """Mean, standard deviation and autocorrelation, as REAL and as INTEGER."""
    db, data = DATABASES[mode], Set(name)
    mean, deviation = data.certified["mean"], data.certified["deviation"]
    batch = support.Batch(f"{name}, REAL, {mode}: exact for the doubles, as good as they allow")
    create(db, "t", data, False)
    got = all_statistics(db, "t", "y", "y")
    want, _ = exact_statistics(db, "t", "y", "y")
    batch.compare(got, want, "all functions")
    doubles = [Fraction(float(value)) for value in data.column("y")]
    centre = sum(doubles) / len(doubles)
    spread = sum((value - centre) ** 2 for value in doubles) / (len(doubles) - 1)
    as_good(batch, mean, got[-1], centre, "mean")
    found = got[statistics.FUNCTIONS.index("gpu_stddev_samp")]
    as_good(batch, deviation, found, square_root(spread), "deviation")

    batch = support.Batch(f"{name}, INTEGER, {mode}: every certified digit")
    scale = create(db, "t", data, True)["y"]
    got = all_statistics(db, "t", "y", "y")
    want, _ = exact_statistics(db, "t", "y", "y")
    batch.compare(got, want, "all functions")
    values = {
        "mean": Fraction(got[-1]) / scale,
        "deviation": Fraction(got[statistics.FUNCTIONS.index("gpu_stddev_samp")]) / scale,
        "autocorrelation": autocorrelation(db),
    }
    agrees(batch, data.certified, values, name, rounded=True)


def autocorrelation(db):
    """The lag 1 autocorrelation of whole numbers from exact sums; no scale is left in it.

    Nor does it change with what is taken from every value: the least, and all sums are INTEGERs.
    """
    count, total, squares = db.execute(
        "SELECT count(y), gpu_sum(y - low), gpu_dot(y - low, y - low)"
        " FROM t, (SELECT gpu_min(y) AS low FROM t)"
    ).fetchone()
    lagged, without_last, without_first = db.execute(
        """SELECT gpu_dot(y - low, before - low), gpu_sum(before - low), gpu_sum(y - low)
           FROM (SELECT y, lag(y) OVER (ORDER BY rowid) AS before FROM t),
                (SELECT gpu_min(y) AS low FROM t) WHERE before NOT NULL"""
    ).fetchone()
    mean = Fraction(total, count)
    above = lagged - mean * (without_last + without_first) + (count - 1) * mean * mean
    return above / (squares - count * mean * mean)


def test_line(mode):
    """Norris is a straight line: the functions of regression themselves."""
    db, data = DATABASES[mode], Set("Norris")
    certified = {
        "gpu_regr_slope": data.certified["coefficient x"],
        "gpu_regr_intercept": data.certified["coefficient 1"],
        "gpu_regr_r2": data.certified["r2"],
    }
    create(db, "t", data, False)
    batch = support.Batch(f"Norris, a line through REALs, {mode}: as good as doubles allow")
    got = dict(zip(statistics.FUNCTIONS, all_statistics(db, "t", "x", "y")))
    rows = [(1, Fraction(float(x)), Fraction(float(y))) for y, x in data.rows]
    one, x, y = zip(*rows)
    least = Least(
        [[dot(a, b) for a in (one, x)] for b in (one, x)],
        [dot(one, y), dot(x, y)],
        dot(y, y),
        len(rows),
        explained(data, dot(y, y), sum(y)),
    )
    exact = dict(zip(certified, (least.estimates[1], least.estimates[0], least.r2)))
    for name, want in certified.items():
        batch.compare(got[name], statistics.rounded(exact[name]), f"{name}, rounded once")
        as_good(batch, want, got[name], exact[name], name)

    batch = support.Batch(f"Norris, a line through INTEGERs, {mode}: every certified digit")
    scales = create(db, "t", data, True)
    got = dict(zip(statistics.FUNCTIONS, all_statistics(db, "t", "x", "y")))
    values = {
        "gpu_regr_slope": Fraction(got["gpu_regr_slope"]) * scales["x"] / scales["y"],
        "gpu_regr_intercept": Fraction(got["gpu_regr_intercept"]) / scales["y"],
        "gpu_regr_r2": Fraction(got["gpu_regr_r2"]),
    }
    agrees(batch, certified, values, "Norris", rounded=True)


@tap.each(*REGRESSION)
def test_pairs(mode, name):
    """All functions of the two columns of a set, whatever its model is: exact, rounded once."""
    db, data = DATABASES[mode], Set(name)
    batch = support.Batch(f"{name}, {mode}: all functions of y and each x are exact")
    for scaled in (False, True):
        create(db, "t", data, scaled)
        for x in data.columns[1:]:
            want, _ = exact_statistics(db, "t", x, "y")
            batch.compare(all_statistics(db, "t", x, "y"), want, f"{x}, scaled: {scaled}")


def parts_of(number):
    """A whole number as parts of PART_BITS bits, each with its sign, the lowest first."""
    sign, left = (-1, -number) if number < 0 else (1, number)
    while left:
        yield sign * (left & (1 << PART_BITS) - 1)
        left >>= PART_BITS


def power_sums(db, data, scales, highest):
    """For each power of x, up to the highest: the exact sums of it, and of it times y.

    A power of x has up to 666 bits. It lies in the table in parts whose sums are INTEGERs.
    """
    support.execute(db, "DROP TABLE IF EXISTS powers", "CREATE TABLE powers(power, place, part, y)")
    db.executemany(
        "INSERT INTO powers VALUES (?, ?, ?, ?)",
        (
            (power, place, part, int(y * scales["y"]))
            for y, x in data.rows
            for power in range(highest + 1)
            for place, part in enumerate(parts_of(int(x * scales["x"]) ** power))
        ),
    )
    alone, with_y = [Fraction(0)] * (highest + 1), [Fraction(0)] * (highest + 1)
    for power, place, total, product in db.execute(
        "SELECT power, place, gpu_sum(part), gpu_dot(part, y) FROM powers GROUP BY power, place"
    ):
        weight = Fraction(1 << place * PART_BITS, scales["x"] ** power)
        alone[power] += total * weight
        with_y[power] += product * weight / scales["y"]
    return alone, with_y


def column_sums(db, data, scales):
    """The sums of the products of several columns, and of each with y; "1" is a column of ones."""

    def product(left, right):
        a, b = ("1" if term == "1" else term for term in (left, right))
        exact = db.execute(f"SELECT gpu_dot({a}, {b}) FROM t").fetchone()[0]
        return Fraction(exact, scales.get(left, 1) * scales.get(right, 1))

    normal = [[product(a, b) for b in data.terms] for a in data.terms]
    return normal, [product(term, "y") for term in data.terms]


@tap.each(*REGRESSION)
def test_normal_equations(mode, name):
    """The model's equations, from sums that SQL gives, solved exactly: every certified digit."""
    db, data = DATABASES[mode], Set(name)
    batch = support.Batch(f"{name}, {mode}: normal equations give every certified digit")
    scales = create(db, "t", data, True)
    if len(data.columns) == 2:
        powers = [0 if term == "1" else int(term[2:] or 1) for term in data.terms]
        alone, with_y = power_sums(db, data, scales, 2 * powers[-1])
        normal = [[alone[a + b] for b in powers] for a in powers]
        right = [with_y[power] for power in powers]
    else:
        normal, right = column_sums(db, data, scales)
    squares, total = db.execute("SELECT gpu_dot(y, y), gpu_sum(y) FROM t").fetchone()
    squares = Fraction(squares, scales["y"] ** 2)
    total = Fraction(total, scales["y"])
    least = Least(normal, right, squares, data.observations, explained(data, squares, total))
    agrees(batch, data.certified, least.values(data.terms), name)


def test_device():
    """A device has done some of it."""
    if not support.skip_device(1, "the reference datasets on a device"):
        support.took_part(DATABASES[support.device()], "the reference datasets")


support.run(globals(), mode=support.modes())
