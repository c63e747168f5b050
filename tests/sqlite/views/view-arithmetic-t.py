"""Views and aggregates on devices that compute REALs by integers, as those without doubles do: device_arithmetic.

What a device gives is what the host gives, to the bit: sums, products, moments and extremes of hostile REALs,
comparisons of REALs and INTEGERs, and expressions.
"""

import math
import struct

import support
import tap
import view_support as views

ROWS = 3000

DENORMAL = 5e-324
INFINITY = float("inf")


def any_real(rng):
    """Any finite double, every exponent as likely as another."""
    bits = rng.getrandbits(64)
    if bits >> 52 & 0x7FF == 0x7FF:
        bits ^= 1 << 62
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


#: Kinds of REALs: a function of a generator and the row's number.
KINDS = {
    "common": lambda rng, i: rng.random() * 100 - 50,
    "prices": lambda rng, i: rng.randint(0, 10**6) / 100,
    "all exponents": lambda rng, i: any_real(rng),
    "rising through all exponents": lambda rng, i: math.ldexp(rng.random() - 0.5, i // 2 % 2000 - 1000),
    "two sizes": lambda rng, i: rng.choice((1e-200, 1e200, -1e200)) * rng.random(),
    "a rare size": lambda rng, i: rng.random() * (1e300 if i % 997 == 0 else 1),
    "subnormal": lambda rng, i: DENORMAL * rng.randint(-(2**52), 2**52),
    "huge": lambda rng, i: rng.choice((1, -1)) * 1.7e308,
    "cancelling": lambda rng, i: rng.choice((1e16, -1e16)) if i % 100 else DENORMAL,
    "zeros": lambda rng, i: rng.choice((0.0, -0.0, 0.0, 1.0)),
    "infinities": lambda rng, i: INFINITY if i % 300 == 7 else rng.random(),
    "opposite infinities": lambda rng, i: (INFINITY, -INFINITY)[i % 2] if i % 100 < 2 else rng.random(),
    "edges of INTEGERs": lambda rng, i: rng.choice((2.0**53, 2.0**63, -(2.0**63), 0.5, -0.5, 9007199254740993.0)),
}

#: What is asked of each kind; in quick runs the first kind has a third of all, and every sixth of the others one
#: SELECT, or one with groups.
SELECTS = (
    "SELECT gpu_sum(x), gpu_avg(x), gpu_total(x), count(x), gpu_min(x), gpu_max(x) FROM t",
    "SELECT gpu_dot(x, y), gpu_dot(y, k), gpu_var_pop(x), gpu_corr(x, y), gpu_regr_slope(y, x) FROM t",
    "SELECT gpu_sum(x), count(*) FROM t WHERE x < n AND x <> 0 AND y IS NOT NULL",
)

#: What is asked of the first kind, or of all.
MORE = (
    "SELECT gpu_sum(x * y + 1), gpu_sum(x - y), gpu_sum(x / y), gpu_max(-x) FROM t",
    "SELECT gpu_sum(y), count(*) FROM t WHERE n >= x OR x BETWEEN -0.25 AND 20 OR x IS n OR m > y",
    "SELECT gpu_sum(round(x)), gpu_sum(floor(x)), gpu_sum(abs(x)), gpu_sum(CAST(x AS INTEGER) % 7) FROM t",
    "SELECT gpu_sum(n + n), gpu_sum(n * y), gpu_avg(m), gpu_min(m), gpu_max(m * 2) FROM t WHERE m <> 2",
    "SELECT count(*) FROM t WHERE n = 3 OR n BETWEEN 10 AND 20",
)


#: Groups of each kind: extremes and counts, and sums.
GROUPED = (
    "SELECT k % 5, gpu_min(x), gpu_max(x), count(x), gpu_min(n), gpu_max(x - y) FROM t GROUP BY 1",
    "SELECT k % 3, m IS NULL, gpu_sum(x), gpu_avg(x), gpu_total(y) FILTER (WHERE x < n) FROM t WHERE y <> 0 GROUP BY 1, 2",
)

#: Kinds whose REALs lie in no window: with these sums by groups are the host's, on all devices.
SPREAD = ("all exponents", "rising through all exponents", "two sizes", "a rare size", "huge")


def fill(db, rng, kind, rows):
    """A table of so many rows, of which a few have NULLs."""
    support.table(db, "t(x REAL, y REAL, n INTEGER, m, k INTEGER)", (
        (
            KINDS[kind](rng, i) if i % 50 != 49 else None,
            rng.randint(-999, 999) / 8,
            rng.choice((3, -7, 15, 2**53 + 1, 2**62, -(2**63), 2**63 - 1)) if i % 40 != 39 else None,
            rng.choice((None, 1, 2, 0.5, -2.25, 2**53 + 1)),
            rng.randint(-(2**53), 2**53),
        )
        for i in range(rows)
    ))


def check(host, device, select, what, by_device=True):
    """One check: the view's answers are the host's, and in the end a device gives them, if it is to."""
    want = repr(views.outcome(host, select))  # tells -0.0 from 0.0, and has all digits
    wrong = []
    problem = views.create(device, "v", select)

    def judge(got):
        if repr(got) != want:
            wrong.append(got)
        return not wrong

    answered = not problem and views.ask_device(device, "v", judge=judge)
    if not tap.ok(answered == by_device and not wrong, f"{what}: {select}"):
        tap.diag(f"{problem or wrong} instead of {want}")
        tap.diag("\n".join(views.plan(device, "v")))


def test_arithmetic():
    """It is that of all devices."""
    tap.is_equal(
        support.rows(DB, "SELECT DISTINCT arithmetic FROM clreduce_devices WHERE name IS NOT NULL"),
        [("integer",)] if support.value(DB, "SELECT count(name) FROM clreduce_devices") else [],
        "the arithmetic of all devices",
    )


def test_tables(device_kind, rng):
    """Tables of all kinds of values."""
    sixth = rng.randrange(6)
    for number, kind in enumerate(KINDS):
        if tap.QUICK and number > 0 and number % 6 != sixth:
            continue
        rows = ROWS + number
        path = views.new()
        host, device = views.connect(path), views.connect(path, device_kind)
        fill(host, rng, kind, rows)
        selects, grouped = (SELECTS + MORE)[:: 3 if tap.QUICK else 1], GROUPED
        if tap.QUICK and number > 0:
            turn = number // 6
            selects, grouped = (SELECTS[turn % 3 :][:1], ()) if turn % 2 else ((), GROUPED[turn // 2 % 2 :][:1])
        for select in selects:
            check(host, device, select, f"{kind}, {rows} rows")
        for select in grouped:
            by_device = kind not in SPREAD or select == GROUPED[0]
            check(host, device, select, f"{kind}, {rows} rows", by_device)
        fed = "SELECT gpu_sum(x), gpu_dot(x, y), gpu_var_samp(x) FROM t"
        tap.is_equal(repr(views.outcome(device, fed)), repr(views.outcome(host, fed)), f"{kind}, {rows} rows, by rows")


# Before devices are looked for.
DB = tap.connect()
support.configure(DB, device_arithmetic="integer", device="cpu")
views.run(globals(), device_kind=views.warmed("integer"))
