"""Functions in accelerated views: questions, those of the application, and errors in arguments."""

import support
import tap
import view_support as views
from reference import Failure
from view_selects import opened, with_numbers

#: Medians and the like of the table q, which has 50,000 rows, and their parameters.
QUESTIONS = [
    ("SELECT gpu_median(i), gpu_median(r), gpu_median(b), gpu_median(n), gpu_median(g) FROM q", ()),
    ("SELECT gpu_percentile(i, 12.5), gpu_percentile(g, ?), gpu_percentile(r, -0.0) FROM q", (99,)),
    ("SELECT gpu_percentile_cont(b, 0.1), gpu_percentile_disc(b, :f) FROM q", (0.75,)),
    ("SELECT gpu_percentile_disc(g, 0.5), gpu_percentile_disc(g, 0), gpu_median(g) FROM q", ()),
    ("SELECT gpu_mode(i), gpu_mode(r), gpu_mode(b), gpu_mode(n), gpu_mode(g) FROM q", ()),
    ("SELECT gpu_mode(w), gpu_mode(-w * 0), gpu_mode(b) + 1, gpu_mode(r * 0) / 2 FROM q", ()),
    ("SELECT gpu_count_distinct(i), gpu_count_distinct(r), gpu_count_distinct(b) FROM q", ()),
    ("SELECT gpu_count_distinct(n), gpu_count_distinct(g), gpu_count_distinct(rowid) FROM q", ()),
    ("SELECT gpu_count_distinct(x), gpu_mode(x), gpu_histogram(x, 0, 1, 2) FROM q", ()),
    ("SELECT gpu_histogram(r, -5, 5, 10), gpu_histogram(b, ?, ?, ?) FROM q", (-1, 2.5, 4)),
    ("SELECT gpu_histogram(i, -7.5, 20, 3), gpu_histogram(n, 0, 1, 1) FROM q WHERE r > 0", ()),
    ("SELECT gpu_histogram(g, 9007199254740992, 9007199254741792, 8) FROM q", ()),
    ("SELECT gpu_histogram_state(r, -5, 5, 10), gpu_histogram_state(b, ?, 9.5, 4) FROM q", (0.0,)),
    ("SELECT gpu_histogram_state(i, 0, 9, 3), gpu_histogram(i, 0, 9, 3) FROM q WHERE i > 1e6", ()),
    ("SELECT gpu_median(r), gpu_mode(i), gpu_sum(r) FROM q WHERE i > :least", (10,)),
    ("SELECT gpu_median(r), gpu_mode(i), gpu_histogram(r, 0, 1, 2) FROM q WHERE i > ?", (10**6,)),
    ("SELECT gpu_median(i * 2 - r), gpu_count_distinct(i % 5), gpu_mode(abs(i)) FROM q", ()),
    ("SELECT gpu_median(r) FILTER (WHERE i < 0), gpu_median(r) FILTER (WHERE i > 0) FROM q", ()),
    ("SELECT gpu_count_distinct(b) FILTER (WHERE b > 3), gpu_max(b), gpu_median(b) FROM q", ()),
    ("SELECT gpu_median(i) - gpu_avg(i), coalesce(gpu_histogram(i, 0, 9, 9), 0) FROM q", ()),
    ("SELECT gpu_percentile(i, 50), gpu_percentile(i, 90), gpu_percentile(i, 99) FROM q", ()),
    ("SELECT gpu_median(7), gpu_median(NULL), gpu_mode(2.0), gpu_count_distinct(:a) FROM q", (1,)),
]
#: What scans compute of numbers, of the same table.
COMPUTED = [
    ("SELECT gpu_sum(i & 6), gpu_sum(i | 1), gpu_min(~i), gpu_max(r << 2) FROM q", ()),
    ("SELECT gpu_avg(g >> i), gpu_min(i << g), gpu_max(r & b), gpu_sum(~r | i >> -2) FROM q", ()),
    ("SELECT gpu_sum(CAST(r AS INTEGER)), gpu_max(CAST(f AS BIGINT)), sum(i & 3) FROM q", ()),
    ("SELECT gpu_sum(CAST(i AS REAL) / 2), gpu_max(CAST(g AS DOUBLE PRECISION)) FROM q", ()),
    ("SELECT gpu_sum(CAST(b AS NUMERIC)), gpu_min(CAST(r AS DECIMAL(10, 2))) FROM q", ()),
    ("SELECT gpu_sum(round(r)), gpu_sum(round(r * 10, 0)), gpu_max(round(f)) FROM q", ()),
    ("SELECT gpu_median(round(r)), gpu_mode(CAST(r AS INT) & 7), gpu_sum(round(g)) FROM q", ()),
    ("SELECT gpu_sum(1 / nullif(i, 0)), count(nullif(b, 3)), gpu_dot(r, nullif(r, b)) FROM q", ()),
    ("SELECT gpu_sum(iif(r > :a, i, -i)), gpu_avg(iif(b, b, r)) FROM q WHERE i & :b", (0.5, 5)),
    ("SELECT count(*), gpu_avg(r) FROM q WHERE CAST(r AS INT) = i % 7 AND i & 1 << 2 <> 0", ()),
    ("SELECT count(*) FROM q WHERE CAST(i AS REAL) IN (1, 2.0, 3) OR round(r) BETWEEN 2 AND 3", ()),
    ("SELECT count(*) FROM q WHERE likely(r > 0) AND unlikely(i < 9) AND likelihood(b, 0.5)", ()),
]
MATHEMATICS = [
    ("SELECT gpu_sum(floor(r)), gpu_sum(ceil(r)), gpu_sum(trunc(r)), gpu_sum(sign(r)) FROM q", ()),
    ("SELECT gpu_max(floor(g)), gpu_min(ceiling(f)), gpu_median(floor(b)) FROM q", ()),
    ("SELECT count(*) FROM q WHERE floor(r) = i AND sign(w) = -1 OR trunc(r / 3) > 1", ()),
]
#: The same for what SQLite has to run, and errors.
UNANSWERED = [
    ("SELECT gpu_median(t) FROM q", ()),
    ("SELECT gpu_count_distinct(t), gpu_mode(t) FROM q", ()),
    ("SELECT gpu_count_distinct(x) FROM q WHERE rowid < 5", ()),
    ("SELECT gpu_median(f) FROM q", ()),
    ("SELECT gpu_mode(f), gpu_count_distinct(f), gpu_histogram(f, 0, 1, 3) FROM q", ()),
    ("SELECT gpu_percentile(r, i) FROM q", ()),
    ("SELECT gpu_percentile(r, 50 + 0 * i) FROM q", ()),
    ("SELECT gpu_percentile(r, ?) FROM q", ("50",)),
    ("SELECT gpu_percentile(r, ?) FROM q", (None,)),
    ("SELECT gpu_percentile(r, ?) FROM q", (100.5,)),
    ("SELECT gpu_percentile(r, ?) FROM q WHERE i > 1000", (100.5,)),
    ("SELECT gpu_percentile_cont(r, ?) FROM q", (-0.5,)),
    ("SELECT gpu_percentile_disc(n, 2) FROM q", ()),
    ("SELECT gpu_histogram(r, 1, 1, 4), gpu_median(i) FROM q", ()),
    ("SELECT gpu_histogram(r, 1, ?, 4) FROM q", (9e999,)),
    ("SELECT gpu_histogram(r, 0, 1, ?) FROM q", (0,)),
    ("SELECT gpu_histogram(r, 0, 1, ?) FROM q", (2.0,)),
    ("SELECT gpu_median(abs(i - 9223372036854775807 - 30)) FROM q", ()),
    ("SELECT gpu_median(DISTINCT i) FROM q", ()),
    ("SELECT gpu_median(i) OVER (ORDER BY r LIMIT 3) FROM q", ()),
    ("SELECT i, gpu_median(r) FROM q GROUP BY i", ()),
]


class Twice:
    """An aggregate of the user's: the sum of its first arguments, twice."""

    def __init__(self):
        self.sum = 0

    def step(self, *values):
        """Adds a row."""
        self.sum += 2 * (values[0] if values and isinstance(values[0], int) else 1)

    def finalize(self):
        """The answer."""
        return self.sum


def has_mathematics(db):
    """Whether SQLite was built with floor() and the like."""
    options = {name for (name,) in db.execute("PRAGMA compile_options")}
    return "ENABLE_MATH_FUNCTIONS" in options


def test_overrides():
    """A function of the user's takes the place of SQLite's and of ours, before and after."""
    selects = [
        "SELECT gpu_sum(abs(i)) FROM t WHERE id < 4",
        "SELECT gpu_sum(id) FROM t",
        "SELECT sum(id), count(*), count(id), total(id), avg(id), gpu_dot(id, id) FROM t",
        "SELECT gpu_sum(min(id, 3)), gpu_sum(max(id, 3)) FROM t",
        "SELECT gpu_sum(coalesce(m, 1)), gpu_sum(ifnull(m, 1)) FROM t WHERE id < 4",
        "SELECT max(id), min(id), gpu_max(id), gpu_min(id), gpu_avg(id), gpu_total(id) FROM t",
        "SELECT gpu_var_pop(id), gpu_sum_state(id) FROM t",
        "SELECT gpu_corr(id, i) FROM t",
        "SELECT gpu_median(id), gpu_mode(id) FROM t",
        "SELECT gpu_histogram_state(id, 0, 9, 3) FROM t",
        "SELECT gpu_sum(round(id)), gpu_sum(round(id, 0)) FROM t",
        "SELECT gpu_sum(iif(id, 1, 2)), gpu_sum(nullif(id, 1)) FROM t",
        "SELECT gpu_sum(likely(id)) + gpu_sum(unlikely(id)), gpu_sum(likelihood(id, 0.5)) FROM t",
    ]
    scalars = [("abs", 1), ("min", 2), ("max", 2), ("coalesce", 2), ("ifnull", 2)]
    scalars += [("round", 1), ("round", 2), ("iif", 3), ("nullif", 2)]
    scalars += [("likely", 1), ("unlikely", 1), ("likelihood", 2)]
    if has_mathematics(opened()):
        selects += ["SELECT gpu_sum(floor(id) + ceil(id)) FROM t"]
        selects += ["SELECT gpu_sum(ceiling(id) + trunc(id)), gpu_sum(sign(id)) FROM t"]
        scalars += [(name, 1) for name in ("floor", "ceil", "ceiling", "trunc", "sign")]
    names = ("sum", "total", "avg", "min", "max", "count")
    aggregates = [(name, 1) for name in names] + [("count", 0), ("gpu_dot", 2)]
    aggregates += [(f"gpu_{name}", 1) for name in names[:-1]]
    aggregates += [("gpu_var_pop", 1), ("gpu_sum_state", 1), ("gpu_corr", 2)]
    aggregates += [("gpu_median", 1), ("gpu_mode", 1), ("gpu_histogram_state", 4)]
    for first in (False, True):
        db = opened()
        for number, select in enumerate(selects):
            views.create(db, f"v{number}", select)
            if first:
                views.ask(db, f"v{number}")
        for name, count in scalars:
            db.create_function(name, count, lambda *values: 7)
        for name, count in aggregates:
            db.create_aggregate(name, count, Twice)
        for number, select in enumerate(selects):
            what = f"functions replaced {'after a use' if first else 'before it'}: {select}"
            views.agree(db, f"v{number}", select, (), what)
        db.close()


def test_own_rounding():
    """What the application calls round() is SQLite's to call: around aggregates it may be."""
    folder = views.Folder()
    db = with_numbers(folder)
    db.create_function("round", 1, lambda value: 7, deterministic=True)
    for select, fast in (
        ("SELECT round(gpu_sum(x)) FROM n", True),
        ("SELECT gpu_sum(x) FROM n", True),
        ("SELECT gpu_sum(round(x)) FROM n", False),
        ("SELECT gpu_sum(x) FROM n WHERE round(x) = 7", False),
    ):
        views.create(db, "v", select)
        views.agree(db, "v", select, (), f"with another round(): {select}")
        tap.is_equal(views.accelerated(db, "v"), fast, f"... by {'a scan' if fast else 'SQLite'}")
    db.close()


def test_questions(device):
    """Medians, modes, distinct values and histograms are those of the rows (clause 1)."""
    folder = views.Folder()
    db = views.connect(folder.new(), device=device)
    db.execute("CREATE TABLE q(i INT, r REAL, b, n, g INT, w REAL, x, t TEXT, f REAL)")
    rng = support.seed()
    rows = [
        (
            *(rng.randint(-20, 20), rng.gauss(0, 5), rng.choice((None, 3, 3.0, 2.5, 1, -1.5))),
            *(None, 2**53 + rng.randint(0, 900), float(rng.randint(-9, 9))),
            *(rng.randint(0, 9) / 2, f"{rng.randint(0, 99)}", rng.gauss(0, 1)),
        )
        for _ in range(50_000)
    ]
    db.execute("BEGIN")
    db.executemany("INSERT INTO q VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    db.execute("UPDATE q SET f = 9e999 WHERE rowid = 40000")
    db.execute("COMMIT")
    for select, parameters in QUESTIONS + COMPUTED + (MATHEMATICS if has_mathematics(db) else []):
        views.create(db, "v", select)
        views.agree(db, "v", select, parameters, f"1. {device}: {select}")
        tap.ok(views.accelerated(db, "v"), f"... accelerated: {views.plan(db, 'v')[0]}")
    for select, parameters in UNANSWERED:
        problem = views.create(db, "v", select)
        want = views.comparable(views.outcome(db, select, parameters))
        got = views.comparable(problem or views.ask(db, "v", parameters))
        tap.is_equal(got, want, f"1. {device}: {select} with {parameters}")
    # Another value of the parameter is another answer, and no value that was refused sticks.
    views.create(db, "v", "SELECT gpu_percentile(r, ?) FROM q")
    for fraction in (10, 101, 10, None, 90):
        select = "SELECT gpu_percentile(r, ?) FROM q"
        views.agree(db, "v", select, (fraction,), f"percentile {fraction}")
    test_values_memory(db)
    db.close()


def test_sums_with_constants(device):
    """Sums of a column with constants, also where a row overflows, has a REAL, or TEXT (clause 1)."""
    folder = views.Folder()
    db = views.connect(folder.new(), device)
    db.execute("CREATE TABLE n(i INTEGER, j INTEGER)")
    db.execute("BEGIN")
    db.executemany("INSERT INTO n VALUES (?, ?)", ((i % 977 if i % 5 else None, i % 3) for i in range(3000)))
    db.execute("COMMIT")
    terms = ("i + 1", "i", "3 + i", "i - 7", "i + 9223372036854775807", "i - -5", "i + NULL", "i + 0.5", "7 - i", "j + 1", "j + 2")
    for change in (None, 9223372036854775806, -9223372036854775807, 0.5, "text"):
        if change is not None:
            db.execute("UPDATE n SET i = ? WHERE rowid = 1501", (change,))
            db.commit()
        for function in ("gpu_sum", "sum", "gpu_max", "avg", "total", "count"):
            for chosen in (terms, terms[:4], terms[1:3] + terms[9:]):
                calls = ", ".join(f"{function}({term})" for term in chosen)
                for end in ("", " WHERE j < 2"):
                    select = f"SELECT {calls}, count(*) FROM n{end}"
                    views.create(db, "v", select)
                    views.agree(db, "v", select, (), f"{device}, with {change}: {select}")
    db.close()


def test_values_memory(db):
    """What the setting does not allow gives the function's own error, and only then (clause 1)."""
    support.configure(db, values_memory=100_000)
    for select in (
        "SELECT gpu_median(r) FROM q",
        "SELECT gpu_median(r) FROM q WHERE i > -100",
        "SELECT gpu_median(r) FROM q WHERE i = 5",
        "SELECT gpu_count_distinct(r) FROM q",
        "SELECT gpu_mode(i) FROM q",
        "SELECT gpu_histogram(r, 0, 1, 100000) FROM q",
    ):
        views.create(db, "v", select)
        problem = views.outcome(db, select)
        got = views.ask(db, "v")
        # A column that is there already takes no further memory.
        agrees = views.comparable(got) == views.comparable(problem)
        fits = isinstance(problem, Failure) and views.accelerated(db, "v")
        tap.ok(agrees or fits, f"values_memory: {select}: {got}, {problem}")
    support.configure(db, values_memory=0)


def main():
    test_overrides()
    test_own_rounding()
    for device in views.devices():
        test_questions(device)
        test_sums_with_constants(device)
    tap.done()


main()
