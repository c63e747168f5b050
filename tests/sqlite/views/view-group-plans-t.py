"""Groups that are planned by a sample of the rows, and rows that are not like it; keys and values of every sort, sums in parts
of words, groups that are as many as the rows, and positions that are counted. Their SELECTs give the answers, fed row by row."""

import support
import tap
import view_support as views

#: Enough rows for the parts of two threads, where a processor has them.
MANY = 132_000 if tap.QUICK else 280_000
INT_MIN, INT_MAX = views.INT_MIN, views.INT_MAX

#: Columns by what they have: each is a key or a value.
FAMILIES = {
    "few": lambda rng: rng.randint(-3, 3),
    "some": lambda rng: rng.randint(-500, 70_000),
    "spread": lambda rng: rng.randint(-1 << 40, 1 << 40),
    "wide": lambda rng: rng.randint(INT_MIN, INT_MAX),
    "quarters": lambda rng: rng.randint(1, 9) / 4,
    "decimals": lambda rng: rng.randrange(10**8) / 10**6,
    "reals": lambda rng: rng.uniform(-1, 1) * 10.0 ** rng.randint(-300, 300),
    "both": lambda rng: rng.choice((None, 2.5, -1.25, 1, 2, 3)),
    "holes": lambda rng: rng.choice((None, -2, 0, 1, 3)),
    "gaps": lambda rng: rng.choice((None, rng.randrange(10**8) / 10**6)),
    "texts": lambda rng: rng.choice(("x", "y", None, 2, 0.5)),
    "nulls": lambda rng: None,
    "large": lambda rng: rng.randint(INT_MIN, INT_MAX) if rng.randrange(3_000) == 0 else rng.randint(-3, 3),
    "rare": lambda rng: None if rng.randrange(3_000) == 0 else rng.randrange(10**8) / 10**6,
    "zeros": lambda rng: rng.choice((0.0, -0.0)),
    "endless": lambda rng: rng.choice((9e999, -9e999)) if rng.randrange(500) == 0 else rng.randrange(11) * 2.0**1000,
}
CALLS = ("count({0})", "gpu_sum({0})", "gpu_dot({0}, {0})", "gpu_min({0}), gpu_max({0})", "gpu_sum({0}), min({0}), max({0})",
         "gpu_median({0}), gpu_mode({0}), gpu_count_distinct({0})", "gpu_percentile_disc({0}, 0.3), gpu_histogram({0}, -9, 8.5, 7)")


def agree(db, batch, select, what="", is_fast=True):
    """A view gives what its SELECT gives, and is accelerated."""
    batch.compare(views.through_view(db, select), views.outcome(db, select), f"{what}: {select}")
    if is_fast:
        verdict = views.plan(db, "view_of_it")[0]
        batch.check(verdict.startswith("accelerated"), f"{what}: {verdict}: {select}")


def numbers(db, columns, rows, table="t"):
    """A table of columns that are expressions of a row's number i, and of h: 62 bits that are others in each row, in no order."""
    db.execute(f"DROP TABLE IF EXISTS {table}")
    db.execute(f"CREATE TABLE {table} AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {rows - 1}),"
               f" m AS (SELECT i, (i * 104729 % 300007 + 1) * 13175088281939 AS h FROM n) SELECT {columns} FROM m")


def test_families(db, batch, rng):
    """Each sort of keys with each sort of values, also of few rows."""
    db.execute(f"CREATE TABLE t({', '.join(FAMILIES)})")
    for rows in (3_100, 30):
        db.execute("DELETE FROM t")
        support.insert(db, "t", [[draw(rng) for draw in FAMILIES.values()] for _ in range(rows)])
        for number, key in enumerate(("few", "some", "wide", "quarters", "holes", "few, holes", "some DESC, few")):
            keys = key.replace(" DESC", "")
            for value in FAMILIES:
                # In quick runs each pair has some of the calls.
                calls = CALLS[number % 3::3] if tap.QUICK else CALLS
                number += 1
                agree(db, batch, f"SELECT {keys}, {', '.join(call.format(value) for call in calls)} FROM t GROUP BY {keys} ORDER BY {key}",
                      f"{rows} rows", False)


def expression(rng, leaves, depth=2):
    """An expression of keys and aggregates."""
    if depth == 0 or rng.random() < 0.1:
        return rng.choice(leaves)
    a, b, c = (expression(rng, leaves, depth - 1) for _ in range(3))
    return rng.choice((f"({a} {rng.choice('+-*/%')} {b})", f"({a} {rng.choice('+-*/%')} {b})", f"({a} {rng.choice('&|')} {b})", f"-{a}",
                       f"CAST({a} AS {rng.choice(('INTEGER', 'REAL', 'NUMERIC'))})", f"CASE WHEN {a} < {b} THEN {b} ELSE {c} END",
                       f"({a} IS {b})", f"CASE {a} WHEN {b} THEN {c} END", f"({a} IS NULL)", f"coalesce({a}, {b})", f"max({a}, {b})", f"abs({a})",
                       f"({a} = {b} OR NOT {c})", f"({a} IN ({b}, {c}))"))


def test_results(db, batch, rng):
    """Expressions of keys and aggregates, of each sort of keys and of values, in groups enough for several blocks."""
    support.table(db, f"t({', '.join(FAMILIES)})", ([draw(rng) for draw in FAMILIES.values()] for _ in range(4_000)))
    for key in FAMILIES:
        for value in rng.sample(tuple(FAMILIES), 4) if tap.QUICK else FAMILIES:
            leaves = (key, key, "rowid / 3", f"min({value})", f"max({value})", f"count({value})", f"gpu_total({value})", f"gpu_avg({value})",
                      f"avg({value})", "0", "1", "2.5", "NULL", "1e308", str(INT_MAX), "-9223372036854775808")
            for width in (1, 4):
                results = ", ".join(expression(rng, leaves) for _ in range(width))
                agree(db, batch, f"SELECT {results} FROM t GROUP BY rowid / 3, {key}", "results", False)


def steps(db, select):
    """How often SQLite comes past where it could be interrupted, as it reads a view."""
    made = []
    views.create(db, "stepped", select)
    views.ask(db, "stepped")
    db.set_progress_handler(lambda: made.append(0), 1)
    views.ask(db, "stepped")
    db.set_progress_handler(None, 1)
    return len(made)


def test_steps(db):
    """Rows with expressions take as little as rows without: no statement makes them, unless one alone has to."""
    numbers(db, "i / 3 AS k, 'x' || (i / 9) AS s, i % 9 - 4 AS n", 9_000)
    for key, items in (("k", "k, max(n) - min(n)"), ("s", "s, CASE WHEN max(n) > 0 THEN 1.5 * max(n) ELSE -count(*) + 3 END"), ("k", "1, sum(n) / k")):
        plain, made = (steps(db, f"SELECT {each} FROM t GROUP BY {key}") for each in (f"{key}, max(n)", items))
        tap.ok(made < 1.2 * plain, f"{items}: {made} steps, and {plain} as they are")
    tap.ok(steps(db, "SELECT k, 'n' || max(n) FROM t GROUP BY k") > 1.2 * plain, "a statement")


def test_packed(db, batch):
    """Sums in parts of words, up to the most that these hold and beyond it in rows that the sample does not have."""
    for sort in range(30 if tap.QUICK else 60):
        size, late = (1, 7, 8, 1000, 1 << 14)[sort % 5], sort % 2
        signs = (f"{size}", f"-{size}", f"iif(i % 2, {size}, -{size})")[sort // 5 % 3]
        value = f"{signs} << iif({late} AND i BETWEEN 1100 AND 1109, i - 1100, 0)"
        numbers(db, f"{'5' if sort % 4 == 0 else 'i % 3'} AS k, " + ", ".join(f"{value} AS {name}" for name in "abcd"), 40_000)
        sums = ", ".join(f"gpu_sum({name})" + (f", max({name})" if sort % 4 > 1 else "") for name in "abcd")
        agree(db, batch, f"SELECT k, {sums}, gpu_dot(a, b), gpu_dot(c, b) FROM t GROUP BY k", f"sort {sort}")


def test_surprises(db, batch):
    """One row has a key or a value that is not as planned."""
    numbers(db, "i * 7 % 5 AS k, i % 9 - 4 AS n, i % 1000 / 8.0 AS x", 40_000)
    db.execute("BEGIN")
    for column in "knx":
        for value in ("NULL", INT_MIN + 1, INT_MIN, 7, "5e-324", "-0.0", "1e300", "'text'"):
            db.execute(f"UPDATE t SET {column} = {value} WHERE rowid = 2 * 1024 + 5")
            for calls in ("gpu_sum(n), gpu_min(n), gpu_max(n)", "gpu_sum(x), max(x)"):
                agree(db, batch, f"SELECT k, {calls} FROM t GROUP BY k", f"{column} is {value}", False)
            support.execute(db, "ROLLBACK", "BEGIN")


def test_many_surprises(db, batch):
    """One after the other: more of them than there are plans."""
    numbers(db, "i % 7 AS k, " + ", ".join(f"iif(i = {4096 * n - 5}, 0.5, i % {n + 3}) AS c{n}" for n in range(2, 8)), 100_000)
    agree(db, batch, f"SELECT k, {', '.join(f'gpu_sum(c{n})' for n in range(2, 8))} FROM t GROUP BY k")


#: Keys by which nearly all rows, or half of them, are groups; some rows' sums go beyond what most have.
PLACES = {
    "one group": "5 AS a, 0 AS b",
    "unique": "h >> 24 AS a, 0 AS b",
    "in order": f"{MANY} - i AS a, 0 AS b",
    "REALs, of whose hashes some begin alike": "1 + (h >> 10) / 4503599627370496.0 AS a, 0 AS b",
    "repeated": f"(i % {MANY // 2} + 1) * 13175088281939 % 104729104729 AS a, 0 AS b",
    "repeated late": "iif(i % 20000 < 17000, h >> 24, i % 7) AS a, 0 AS b",
    "as wide as can be": "h >> 2 AS a, 0 AS b",
    "with NULLs": "iif(h >> 30 & 7, (h >> 44) - 1000, NULL) AS a, iif(h >> 40 & 7, (h >> 20 & 1023) * -1000, NULL) AS b",
}


@tap.each(*PLACES)
def test_places(db, batch, places):
    """Groups that are as many as the rows, in several orders."""
    numbers(db, f"{PLACES[places]}, iif(i % 500 = 17, 1e270, h % 100000000 / 1e6) AS x, h % 1000 AS n", MANY)
    calls = ("gpu_sum(x), count(*)", "gpu_median(x), gpu_min(n), gpu_sum(n)", "gpu_max(x)")
    turn = list(PLACES).index(places) % 3
    for number, (keys, order) in enumerate((("a", "a"), ("a, b", "a DESC, b DESC"), ("a", "min(rowid)")), turn):
        for call in calls[number % 3:number % 3 + 1] if tap.QUICK else calls:
            agree(db, batch, f"SELECT {keys}, {call} FROM t GROUP BY {keys} ORDER BY {order}", places)


def test_counted(db, batch):
    """Positions among INTEGERs in small ranges: anywhere, and as large as they can be counted."""
    for number, rows in enumerate((1, 2_800, 9_000, MANY)):
        for first in (INT_MIN + 1, -3, INT_MAX - 800):
            for size in (1, 9, 700):
                numbers(db, f"iif({number % 2} AND i % 5 = 0, NULL, i % 6) AS k, {first} + h % {size} AS n", rows)
                agree(db, batch, "SELECT k, gpu_median(n), gpu_percentile_disc(n, 0.9), gpu_percentile_cont(n, 0.21) FROM t GROUP BY k",
                      f"{rows} rows", False)


def test_limits(db):
    """Groups take what they may, or are SQLite's."""
    numbers(db, "h >> 20 AS k, h % 100000 / 8.0 AS x", 50_000)
    outcomes = []
    for select in ("SELECT k, gpu_sum(x) FROM t GROUP BY k", "SELECT k, gpu_median(x) FROM t GROUP BY k"):
        for bits in range(10, 30, 2):
            support.configure(db, values_memory=1 << bits)
            views.create(db, "limited", select + " LIMIT 3")
            views.ask(db, "limited")
            outcomes.append(views.plan(db, "limited")[0])
    refused = "row by row: the values take more than values_memory: raise that setting"
    tap.is_equal(sorted(set(outcomes)), ["accelerated: host", refused], "verdicts")


views.run(globals())
