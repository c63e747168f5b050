"""What SQLite has evaluated once for a view's joins and functions of text serves all connections of the process, where
nothing of it is a connection's own; it takes memory as columns do, and goes as they do.
"""

import contextlib
import sqlite3
import threading

import support
import tap
import view_support as views

ROWS, KEYS = 20_000, 600
TABLES = (
    "CREATE TABLE d(id INTEGER PRIMARY KEY, region TEXT, rank INT)",
    support.numbered("d", KEYS, "i, substr('NSWE', i * 31 % 4 + 1, 1), i * 17 % 100"),
    "CREATE TABLE t(k INT, s TEXT, x INT)",
    support.numbered("t", ROWS, f"i * 7919 % {KEYS} + 1, 'key ' || (i * 7919 % 97), i"),
)
JOINED = "SELECT region, count(*), gpu_sum(x) FROM t JOIN d ON d.id = k WHERE rank < 60 GROUP BY region"
FORMED = "SELECT substr(s, 5, 1) AS digit, count(*), max(x) FROM t WHERE s LIKE '%7%' GROUP BY 1"
NESTED = "SELECT count(*), gpu_sum(x) FROM t WHERE k IN (SELECT id FROM d WHERE region = 'S')"
GIVEN = "SELECT count(*), gpu_sum(x) FROM t JOIN d ON d.id = k WHERE region = ?1"
ALL = {"joined": JOINED, "formed": FORMED, "nested": NESTED, "given": GIVEN}


def evaluated(db, name, select, parameters=(), what=None):
    """Asks a view. Returns for how many values SQLite has evaluated its lookups."""
    before = support.stats(db)["entries_evaluated"]
    got, wanted = views.ask(db, name, parameters), views.outcome(db, select, parameters)
    tap.is_equal(got, wanted, f"{what or name}: the SELECT's rows")
    return support.stats(db)["entries_evaluated"] - before


@contextlib.contextmanager
def two(mode="WAL", path=None, **settings):
    """Two connections to one file with the tables, each with all views."""
    path = path or views.new()
    with contextlib.closing(views.connect(path, **settings)) as first, contextlib.closing(views.connect(path, **settings)) as second:
        support.execute(first, f"PRAGMA journal_mode = {mode}", *TABLES)
        for db in (first, second):
            for name, select in ALL.items():
                views.create(db, name, select)
        yield first, second


def test_once():
    """The first connection has SQLite evaluate them, the others find them; until what is joined changes."""
    for mode in ("WAL", "DELETE"):
        with two(mode) as (first, second):
            for name, select in ALL.items():
                parameters = ("S",) if name == "given" else ()
                tap.ok(evaluated(first, name, select, parameters, f"{mode}, {name}") > 0, "evaluated")
                tap.is_equal(evaluated(second, name, select, parameters, f"{mode}, {name}, the other"), 0, "and found by the other one")
            for change, joined in (("INSERT INTO t SELECT k, s, x + 1 FROM t LIMIT 50", mode == "DELETE"),
                                   ("UPDATE d SET region = 'S' WHERE id < 50", True)):
                first.execute(change)
                asks = [evaluated(db, "joined", JOINED, (), f"{mode}, after {change}") for db in (second, first, second)]
                tap.is_equal([count > 0 for count in asks], [joined, False, False], "once for both, where the tables that are joined may have changed")
                asks = [evaluated(db, "formed", FORMED, (), f"{mode}, after {change}") for db in (second, first, second)]
                tap.is_equal([count > 0 for count in asks], [mode == "DELETE", False, False], "and for columns that are read anew")


def test_parameters():
    """Each value of a parameter has its own, of which several are kept."""
    with two() as (first, second):
        for region in "SN":
            tap.ok(evaluated(first, "given", GIVEN, (region,), region) > 0, "evaluated")
        tap.is_equal([evaluated(db, "given", GIVEN, (region,), region) for db in (first, second) for region in "SNS"], [0] * 6, "kept")
        for i in range(300):
            views.ask(second, "given", (i,))
        tap.ok(evaluated(first, "given", GIVEN, ("N",), "N") > 0, "not all that ever were")


def test_roles():
    """The same expression in several roles: as a key, a condition, an argument; alone, and beside conditions."""
    with two() as (first, second):
        selects = []
        for expression, joined in (("length(s)", ""), ("substr(s, 5)", ""), ("rank", " JOIN d ON d.id = k"), ("region", " JOIN d ON d.id = k"),
                                   ("CASE rank % 3 WHEN 0 THEN region WHEN 1 THEN rank END", " JOIN d ON d.id = k")):
            for condition in ("", " WHERE x % 2 = 0", f" WHERE {'rank < 60' if joined else 'length(s) > 5'}"):
                selects += [select + condition + group for select, group in (
                    (f"SELECT {expression} AS e, count(*) FROM t{joined}", " GROUP BY 1"), (f"SELECT {expression} AS e, x % 3 AS m, count(*) FROM t{joined}", " GROUP BY 1, 2"),
                    (f"SELECT max({expression}), min({expression}) FROM t{joined}", ""), (f"SELECT sum({expression}) FROM t{joined}", ""),
                    (f"SELECT count(DISTINCT {expression}) FROM t{joined}", ""), (f"SELECT x % 5 AS m, max({expression}) FROM t{joined}", " GROUP BY 1"))]
                selects.append(f"SELECT count(*), gpu_sum(x) FROM t{joined}{condition}{' AND' if condition else ' WHERE'} {expression}")
        for turn in range(2):
            for i, select in enumerate(selects):
                db = (first, second)[(i + turn) % 2]
                tap.is_equal(views.through_view(db, select), views.outcome(db, select), select)


def test_literals():
    """Literals that EXPLAIN shows alike."""
    with two() as (first, second):
        for select in ("SELECT length(s) * {} AS v, count(*) FROM t GROUP BY 1", "SELECT count(*), gpu_sum(x) FROM t JOIN d ON d.id = k WHERE rank / 10.0 + 0 >= {}",
                       "SELECT printf('%.20f', {}) || s AS v, count(*) FROM t GROUP BY 1"):
            for number in ("0.3", "0.30000000000000004"):
                for db in (first, second):
                    tap.is_equal(views.through_view(db, select.format(number)), views.outcome(db, select.format(number)), f"{select}, {number}")
        for blob in ("x'00aa'", "x'00bb'"):
            select = f"SELECT hex({blob}) || s AS v, count(*) FROM t GROUP BY 1"
            for db in (first, second):
                tap.is_equal(views.through_view(db, select), views.outcome(db, select), select)


def test_own():
    """What is a connection's own is nobody else's: functions, collating sequences, databases, authorizers."""
    def sides(first, second, select, what):
        for db in (first, second):
            views.create(db, "own", select)
        counts = [evaluated(db, "own", select, (), f"{what}, {side}") for db, side in ((first, "one"), (second, "the other"), (first, "one again"))]
        tap.ok(views.accelerated(first, "own") and views.accelerated(second, "own"), f"{what}: accelerated")
        tap.is_equal([count > 0 for count in counts], [True, True, False], "each has its own")

    with two() as (first, second):
        for db, sign in ((first, 1), (second, -1)):
            db.create_function("turn", 1, lambda x, sign=sign: x * sign, deterministic=True)
        sides(first, second, "SELECT turn(rank) AS rank, count(*) FROM t JOIN d ON d.id = k GROUP BY 1", "a function")
    with two() as (first, second):
        second.create_function("upper", 1, lambda text: "own " + text, deterministic=True)
        sides(first, second, "SELECT upper(s) AS s, count(*) FROM t GROUP BY 1", "one in the place of SQLite's")
    with two() as (first, second):
        first.create_collation("NOCASE", lambda a, b: (a > b) - (a < b))
        sides(first, second, "SELECT count(*), gpu_sum(x) FROM t JOIN d ON d.id = k WHERE region = 's' COLLATE NOCASE", "a sequence in the place of SQLite's")
    with two() as (first, second):
        for db, sign in ((first, 1), (second, -1)):
            db.create_collation("turned", lambda a, b, sign=sign: ((a > b) - (a < b)) * sign)
        sides(first, second, "SELECT count(*), gpu_sum(x) FROM t JOIN d ON d.id = k WHERE region < 'P' COLLATE turned", "a sequence")
    with two() as (first, second):
        for db, factor in ((first, 1), (second, 3)):
            support.execute(db, "CREATE TEMP TABLE own_d(id INTEGER PRIMARY KEY, name TEXT)", support.numbered("own_d", KEYS, f"i, 'n' || (i * {factor} % 7)"))
        sides(first, second, "SELECT name, count(*) FROM t JOIN own_d ON own_d.id = k GROUP BY name", "a table in temp")
    with two() as (first, second):
        for db, factor in ((first, 1), (second, 3)):
            db.execute("ATTACH ? AS beside", (views.new(),))
            support.execute(db, "CREATE TABLE beside.a(id INTEGER PRIMARY KEY, name TEXT)", support.numbered("beside.a", KEYS, f"i, 'n' || (i * {factor} % 7)"))
        sides(first, second, "SELECT name, count(*) FROM t JOIN beside.a ON a.id = k GROUP BY name", "a table of another file")
    with two() as (first, second):
        first.create_collation("BINARY", lambda a, b: (a < b) - (a > b))
        sides(first, second, "SELECT count(*), gpu_sum(x) FROM t WHERE s < 'key 5'", "an order of its own for all text")
    with two() as (first, second):
        support.execute(first, "CREATE TABLE e(k INT, r REAL)", support.numbered("e", KEYS * 9, f"i % {KEYS} + 1, CASE i % 3 WHEN 0 THEN 1e16 WHEN 1 THEN 0.1 * i ELSE -1e16 END"),
                        "CREATE INDEX ekr ON e(k, r)")
        support.configure(first, override="on")
        sides(first, second, "SELECT (SELECT sum(r) FROM e WHERE e.k = t.k) AS total, count(*) FROM t GROUP BY 1 ORDER BY 1", "sum() overridden")
    with two() as (first, second):
        for db, number in ((first, "0.3"), (second, "0.30000000000000004")):
            db.execute(f"CREATE TEMP VIEW near AS SELECT id FROM main.d WHERE rank / 10.0 + 0 >= {number}")
        sides(first, second, "SELECT count(*), gpu_sum(x) FROM t WHERE k IN (SELECT id FROM near)", "a view in temp")
        support.execute(first, "DROP VIEW near", "CREATE TEMP VIEW near AS SELECT id FROM main.d WHERE rank / 10.0 + 0 >= 0.30000000000000004")
        evaluated(first, "own", "SELECT count(*), gpu_sum(x) FROM t WHERE k IN (SELECT id FROM near)", (), "a view in temp made anew")
    with two() as (first, second):
        second.set_authorizer(lambda action, table, column, *rest: sqlite3.SQLITE_IGNORE if (action, table, column) == (sqlite3.SQLITE_READ, "d", "region") else sqlite3.SQLITE_OK)
        evaluated(first, "joined", JOINED, (), "without an authorizer")
        evaluated(second, "joined", JOINED, (), "an authorizer")


def test_uncommitted():
    """What a connection has not committed nobody else gets, if a function of the application writes while lookups are
    evaluated."""
    with two() as (first, second):
        writes = []

        def write(x):
            if writes:
                first.execute(writes.pop())
            return x

        first.create_function("write", 1, write, deterministic=True)
        # What the first join calls writes before the second one is evaluated.
        plain = "SELECT count(*), gpu_sum(x) FROM t JOIN d ON d.id = x WHERE d.region = 'S'"
        select = plain.replace("JOIN", "JOIN d AS one ON one.id = k JOIN").replace("d.region", "write(one.region) <> '' AND d.region")
        views.create(first, "writing", select)
        views.create(second, "plain", plain)
        evaluated(first, "writing", select)
        first.isolation_level = None
        for ends in ("ROLLBACK", "COMMIT"):
            views.evict(first)
            writes.append("UPDATE d SET region = 'S'")
            first.execute("BEGIN")
            views.ask(first, "writing")
            tap.ok(not writes, "written amid a query")
            evaluated(second, "plain", plain, (), "another connection meanwhile")
            first.execute(ends)
            evaluated(second, "plain", plain, (), f"after {ends}")
            evaluated(first, "writing", select, (), f"after {ends}, the one that wrote")


def test_memory():
    """They count as columns do: eviction has them go, and where there is little room they do."""
    with two() as (first, second):
        evaluated(first, "joined", JOINED)
        views.evict(first)
        tap.ok(evaluated(second, "joined", JOINED, (), "after an eviction") > 0, "evaluated again")
    with two() as (first, second):
        first.create_function("own", 1, lambda x: x, deterministic=True)
        select = "SELECT own(region) AS region, count(*) FROM t JOIN d ON d.id = k GROUP BY 1"
        views.create(first, "own", select)
        evaluated(first, "own", select)
        first.execute("DROP TABLE own")
        views.create(first, "own", select)
        tap.ok(evaluated(first, "own", select) > 0, "what served one view goes with it")


def test_room():
    """The least recently used go where there is no room for all."""
    def size(db):
        return support.value(db, "SELECT clreduce_evict()")

    with two(column_memory=1_000_000) as (first, second):
        size(first)  # of earlier tests
        evaluated(first, "given", GIVEN, (0,))
        one = size(first)
        for region in range(50):
            views.ask(first, "given", (region,))
        tap.ok(size(first) > one + 49 * KEYS * 9, "each counts")
        for region in range(200):
            views.ask(first, "given", (region,))
        counts = [evaluated(second, "given", GIVEN, (region,)) > 0 for region in (199, 198, 1, 0)]
        tap.is_equal(counts, [False, False, True, True], "the latest are kept, the oldest are not")
        tap.ok(views.accelerated(second, "given"), "accelerated")
        tap.ok(size(first) <= 1_000_000, "within column_memory")


def test_threads(batch):
    """Connections of several threads, one of which writes."""
    path = views.new()
    with two(path=path) as (first, _):
        failures = []

        def read(number):
            with contextlib.closing(views.connect(path, wait=60)) as db:
                for name, select in ALL.items():
                    views.create(db, name, select)
                for i in range(25):
                    name = list(ALL)[(i + number) % len(ALL)]
                    parameters = ("NSWE"[i % 4],) if name == "given" else ()
                    db.execute("BEGIN")
                    got, wanted = views.ask(db, name, parameters), views.outcome(db, ALL[name], parameters)
                    db.execute("COMMIT")
                    if got != wanted:
                        failures.append((name, parameters, got, wanted))

        threads = [threading.Thread(target=read, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for i in range(40):
            first.execute(("UPDATE d SET region = 'N' WHERE id % 7 = 0", "UPDATE d SET region = 'S' WHERE id % 7 = 0",
                           "INSERT INTO t SELECT k, s, x + 1 FROM t LIMIT 200")[i % 3])
        for thread in threads:
            thread.join()
        batch.check(not failures, f"the rows of its SELECT in each of 100 transactions: {failures[:1]}")


views.run(globals())
