"""Functions of the application in accelerated views, and values that take too much memory. tests/sql/questions.test has others."""

import functools

import support
import tap
import view_support as views
from reference import Failure
from view_selects import opened, with_numbers


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


class Counted:
    """An aggregate of the user's: how many rows there are, as text."""

    def __init__(self):
        self.rows = 0

    def step(self, *_):
        """Adds a row."""
        self.rows += 1

    def finalize(self):
        """The answer."""
        return f"own {self.rows}"


def replaced(db, select, register):
    """Compares a view and its SELECT before and after the user registers functions: a view that has been asked, and one that is made then."""
    for turn in range(3):
        views.agree(db, "before", select, (), f"SQLite's own, {turn}: {select}", anew=turn == 0)
    tap.ok(views.accelerated(db, "before"), "by a scan")
    register()
    for turn in range(3):
        views.agree(db, "before", select, (), f"registered since, {turn}: {select}")
        views.agree(db, "behind", select, (), f"registered before, {turn}: {select}", anew=turn == 0)


def test_replaced():
    """Functions that the user registers by the names of SQLite's, of the same numbers of arguments or of any, whatever they give."""
    first, last, seven = (lambda *values: values[0]), (lambda *values: values[-1]), (lambda *_: 7)
    for select, name, own in (
        ("SELECT k, group_concat(DISTINCT s) FROM t GROUP BY k", "group_concat", Counted),
        ("SELECT k, group_concat(s, ';') FROM t GROUP BY k", "group_concat", Counted),
        ("SELECT json_group_array(DISTINCT s) FROM t", "json_group_array", Counted),
        ("SELECT k, count(DISTINCT x) FROM t GROUP BY k", "count", Counted),
        ("SELECT sum(x), avg(x) FROM t", "sum", Counted),
        ("SELECT total(x), max(x) FROM t", "max", Counted),
        ("SELECT max(unixepoch(ts)) FROM t", "unixepoch", seven),
        ("SELECT sum(CAST(strftime('%s', ts) AS INTEGER)) FROM t", "strftime", lambda *_: "7"),
        ("SELECT min(julianday(ts)) FROM t", "julianday", seven),
        ("SELECT sum(coalesce(x, 3)) FROM t", "coalesce", last),
        ("SELECT sum(ifnull(x, 3)) FROM t", "ifnull", seven),
        ("SELECT sum(max(x, 3)), sum(min(x, 3)) FROM t", "max", first),
        ("SELECT sum(abs(x - 4)) FROM t", "abs", seven),
    ):
        for count in (-1, {"coalesce": 2, "ifnull": 2, "max": 2 if own is first else 1, "strftime": 2}.get(name, select.count("';'") + 1)):
            db = views.connect(views.new(), cached_statements=0)
            support.execute(db, "CREATE TABLE t(k INT, s TEXT, x INT, ts TEXT)",
                            support.numbered("t", 3000, "i % 3, 'w' || (i % 5), nullif(i % 11, 5) - 4, datetime(i % 700 * 3607, 'unixepoch')"))
            register = db.create_aggregate if own is Counted else functools.partial(db.create_function, deterministic=True)
            replaced(db, select, functools.partial(register, name, count, own))


def test_first_day(db):
    """Dates begin at a noon: shifts that lead to that day are asked of each time."""
    support.execute(db, "CREATE TABLE days(ts TEXT, j REAL)", support.numbered("days", 24_000, "datetime('2020-01-01', (i * 3) || ' hours'), i / 8.0"))
    for call in ("date(ts, '-6737 years')", "strftime('%j', ts, '-6737 years')", "date(ts, '-6737 years', 'weekday 0')", "date(ts, '-80848 months')",
                 "date(ts, '-999 years', '-999 years', '-999 years', '-999 years', '-999 years', '-999 years', '-743 years')", "date(j, '-1555 days')"):
        for select in (f"SELECT count(*) FROM days WHERE {call} IS NULL", f"SELECT {call}, count(*) FROM days GROUP BY 1"):
            for turn in range(3):
                views.agree(db, "v", select, (), f"{turn}: {select}", anew=turn == 0)


def test_own_rounding():
    """What the application calls round() is SQLite's to call: around aggregates it may be."""
    db = with_numbers()
    db.create_function("round", 1, lambda value: 7, deterministic=True)
    for select, fast in (
        ("SELECT round(gpu_sum(x)) FROM n", True),
        ("SELECT gpu_sum(x) FROM n", True),
        ("SELECT gpu_sum(round(x)) FROM n", False),
        ("SELECT gpu_sum(x) FROM n WHERE round(x) = 7", False),
    ):
        views.agree(db, "v", select, (), f"with another round(): {select}", anew=True)
        tap.is_equal(views.accelerated(db, "v"), fast, f"... by {'a scan' if fast else 'SQLite'}")


def test_around(db):
    """Functions around aggregates of groups, which are computed together: another one of the name, and one that an authorizer turns into NULL."""
    db.execute("CREATE TABLE n AS WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 3000) SELECT i % 1000 AS k, i FROM c")
    selects = [f"SELECT k, {call} FROM n GROUP BY k" for call in ("coalesce(max(i), 0)", "abs(min(i))", "max(max(i), k)", "sign(max(i)) + round(min(i))")]
    for number, select in enumerate(selects if has_mathematics(db) else selects[:3]):
        views.agree(db, f"v{number}", select, (), f"SQLite's: {select}", anew=True)
        tap.ok(views.accelerated(db, f"v{number}"), "by a scan")
        db.set_authorizer(lambda action, first, name, *rest: 2 if action == 31 and name in ("abs", "coalesce", "max", "sign") else 0)
        views.agree(db, f"v{number}", select, (), f"turned into NULL: {select}")
        db.set_authorizer(None)
    for name, count in (("coalesce", 2), ("abs", 1), ("max", 2), ("round", 1)):
        db.create_function(name, count, lambda *values: 7)
    for number, select in enumerate(selects if has_mathematics(db) else selects[:3]):
        views.agree(db, f"v{number}", select, (), f"the application's: {select}")
        views.agree(db, f"v{number}", select, (), f"and again: {select}")


def test_added():
    """A function that goes before another one of its name, of which SQLite tells no statement that is there. The view's SELECT
    is kept for the next run of a statement, but not for one that is prepared since, whoever is amid the view then."""
    db = with_numbers()
    db.create_function("named", -1, lambda *values: "any")
    views.create(db, "v", "SELECT named(x) AS a FROM n LIMIT 2")
    asked = "SELECT a FROM v"
    for turn in range(3):
        tap.is_equal(db.execute(asked).fetchall(), [("any",)] * 2, f"a view's function of any arguments, run {turn}")
    amid = db.execute(asked + " WHERE a > ''")
    amid.fetchone()
    db.create_function("named", 1, lambda value: "one")
    tap.is_equal(db.execute(asked + " LIMIT 3").fetchall(), [("one",)] * 2, "one of one argument, in a statement that is prepared since")
    tap.is_equal(amid.fetchall(), [("any",)], "and the other one in a run that goes on")
    tap.is_equal(db.execute(asked + " LIMIT 3").fetchall(), [("one",)] * 2, "and again")
    tap.is_equal(db.execute(asked + " LIMIT 4").fetchall(), [("one",)] * 2, "and in another statement")


def test_values_memory(db):
    """What the setting does not allow gives the function's own error, and only then (clause 1)."""
    support.execute(db, "CREATE TABLE q(i INT, r REAL)", support.numbered("q", 50_000, "i % 41 - 20, i * 0.1"))
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
        agrees = got == problem
        fits = isinstance(problem, Failure) and views.accelerated(db, "v")
        tap.ok(agrees or fits, f"values_memory: {select}: {got}, {problem}")
    support.configure(db, values_memory=0)


views.run(globals())
