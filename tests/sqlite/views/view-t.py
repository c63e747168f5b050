"""Accelerated views: the contract in ext/sqlite/views/view.h, as far as one connection can see it.
tests/sql/views.test has what SELECTs, and uses of views, give.

Whether a view follows what happens to its database is in view-fresh-t.py.
"""

import support
import tap
import view_support as views
from reference import Failure
from view_selects import opened, with_numbers

#: What a SELECT's columns are called, and its hidden ones (clause 2).
NAMES = [
    ("SELECT 1", ["1"], []),
    ("SELECT gpu_sum(i) AS total, count(*) FROM t", ["total", "count(*)"], []),
    ("SELECT 1 AS a, 2 AS a, 3 AS A", ["a", "a:1", "A:2"], []),
    ("SELECT 1 AS a, 2 AS [a:1], 3 AS a", ["a", "a:1", "a:2"], []),
    ('SELECT 1 AS "quoted "" name", 2 AS ""', ['quoted " name', ""], []),
    ("SELECT t.i, u.k FROM t, u", ["i", "k"], []),
    ("SELECT * FROM u", ["k", "w", 'odd "name'], []),
    ("VALUES (1, 2)", ["column1", "column2"], []),
    ("SELECT :one + @two + $three AS x", ["x"], ["one", "two", "three"]),
    ("SELECT :b, :a, :b", [":b", ":a", ":b:1"], ["b", "a"]),
    ("SELECT ?1 AS x, ? AS y", ["x", "y"], ["?1", "?2"]),
    ("SELECT ?3 AS x", ["x"], ["?1", "?2", "?3"]),
    ("SELECT ?2 AS x, :n AS y, ? AS z", ["x", "y", "z"], ["?1", "?2", "n", "?4"]),
    ("SELECT :a AS a", ["a"], ["a:1"]),
    ("SELECT :a AS x, @a AS y, $a AS z", ["x", "y", "z"], ["a", "a:1", "a:2"]),
    ("SELECT $scope::name(part) AS x", ["x"], ["scope::name(part)"]),
    ("SELECT :rowid AS x", ["x"], ["rowid"]),
]
#: SELECTs that fail while they run: tests/sql/views.test has others, and such as do not.
FAILING = ["SELECT fails(id) FROM t", "SELECT gpu_sum(id) FROM t WHERE fails(id)"]


def test_names(db):
    """Columns have the SELECT's names, parameters are hidden columns (clause 2)."""
    for select, names, hidden in NAMES:
        problem = views.create(db, "named", select)
        info = db.execute("SELECT name, hidden FROM pragma_table_xinfo('named')").fetchall()
        got = [name for name, hide in info if not hide], [name for name, hide in info if hide]
        tap.is_equal(problem or got, (names, hidden), f"2. names of {select}")


@tap.each(*views.devices())
def test_failing(device):
    """Errors are the SELECT's (clause 1), also when a view is asked again."""
    db = opened(device)
    for select in FAILING:
        views.agree(db, "v", select, (), f"1. error, {device}: {select}", times=2, anew=True)


def test_many_parameters(db):
    """SQLite itself compares the arguments that come after 16 other constraints: NULL would leave no row."""
    numbers = range(1, 21)
    select = f"SELECT {' || '.join(f'quote(?{i})' for i in numbers)} AS x FROM t WHERE id = 2"
    views.create(db, "many", select)
    for at in (None, *numbers):
        values = [None if i == at else i for i in numbers]
        if at is None or at <= 16:
            views.agree(db, "many", select, values, f"{len(values)} parameters, number {at} is NULL")
        else:
            tap.raises(lambda values=values: db.execute(f"SELECT * FROM many({', '.join('?' * 20)})", values).fetchall(),
                       f"parameter {at} of view many is NULL", f"... number {at} is an error")
    want = db.execute(select, [None] * 20).fetchall()
    hidden = [f'"?{i}" IS ?' for i in numbers]
    tap.is_equal(db.execute(f"SELECT * FROM many WHERE {' AND '.join(hidden)}", [None] * 20).fetchall(), want,
                 "all NULL, with IS")
    views.create(db, "one", "SELECT 1 AS x, ? AS y")
    conditions = " AND ".join(f"x < {i}" for i in range(2, 22))
    tap.raises(lambda: db.execute(f"SELECT * FROM one(NULL) WHERE {conditions}").fetchall(),
               "parameter 1 of view one is NULL", "... and NULL behind other conditions")
    tap.is_equal(db.execute(f"SELECT x, y FROM one(7) WHERE {conditions}").fetchall(), [(1, 7)], "... but 7")


def test_error_after_rows(db):
    """Rows that come before an error are given before it."""
    views.create(db, "v", "SELECT id, fails(id) FROM t")
    cursor = db.execute("SELECT id FROM v")
    # The module is a step ahead of the row that it gives.
    tap.is_equal(cursor.fetchone(), (1,), "a row before an error")
    tap.raises(cursor.fetchone, "user-defined function raised exception", "... and then the error")


@tap.each(*views.devices())
def test_uses(device):
    """Views that several cursors read, or that are dropped meanwhile."""
    db = opened(device)
    sums = "SELECT gpu_sum(id) AS total, count(*) AS n FROM t WHERE id BETWEEN :least AND :most"
    views.create(db, "sums", sums)
    views.create(db, "rows2", "SELECT id FROM t WHERE id < 3 ORDER BY id")
    cursors = [db.execute("SELECT x.id, total FROM rows2 x, sums(x.id, 3)") for _ in range(3)]
    turns = [[cursor.fetchone() for cursor in cursors] for _ in range(3)]
    tap.is_equal(turns, [[(1, 6)] * 3, [(2, 5)] * 3, [None] * 3], f"{device}: cursors in turns")
    half = db.execute("SELECT id FROM rows2")
    half.fetchone()
    want = "cannot" if isinstance(views.outcome(db, "DROP TABLE rows2"), Failure) else "can"
    tap.is_equal(want, "cannot", "a view in use can't be dropped")
    half.close()
    tap.is_equal(views.outcome(db, "DROP TABLE rows2"), [], "... and then it can")


def test_recursion(db):
    """Views that read each other end in an error."""
    views.create(db, "a", "SELECT 1 AS x")
    views.create(db, "b", "SELECT x + 1 AS x FROM a")
    views.create(db, "a", "SELECT x + 1 AS x FROM b")
    got = views.ask(db, "a")
    tap.ok(isinstance(got, Failure), f"views that read each other: {got}")
    views.create(db, "v0", "SELECT gpu_sum(id) AS x FROM t")
    for depth in range(1, 15):
        views.create(db, f"v{depth}", f"SELECT x + 1 AS x FROM v{depth - 1}")
    tap.is_equal(views.ask(db, "v14"), [(35,)], "15 views, each over the last")


def refusing(function, answer):
    """An authorizer that has an answer of its own for a function."""
    return lambda action, a, b, *rest: answer if action == 31 and b == function else 0


def test_authorizer():
    """A function that an authorizer denies, or makes NULL, is not computed either."""
    select = "SELECT gpu_sum(round(x)), count(nullif(k, 2)), gpu_max(iif(k, 1, 2)) FROM n"
    for denied in ("round", "nullif", "iif"):
        for answer in (1, 2):
            db = with_numbers()
            views.agree(db, "v", select, (), "every function is allowed", anew=True)
            tap.ok(views.accelerated(db, "v"), "... and computed by a scan")
            db.set_authorizer(refusing(denied, answer))
            views.agree(db, "v", select, (), f"{denied}() is {'denied' if answer == 1 else 'NULL'}")


def test_explain(db):
    """The plan shows whether a view is accelerated; a view is for direct use only."""
    views.create(db, "late", "SELECT gpu_sum(id) FROM t WHERE id > :a")
    views.ask(db, "late", (1,))
    shown = " ".join(map(str, db.execute("EXPLAIN QUERY PLAN SELECT * FROM late(1)").fetchall()))
    tap.ok("accelerated" in shown or "row by row" in shown, f"the plan is shown: {shown}")
    lines = views.plan(db, "late")
    tap.ok(lines and lines[0].startswith(("accelerated", "row by row: ")), f"plan: {lines}")
    views.create(db, "gone", "SELECT 1")
    plan = db.execute("SELECT line, id FROM clreduce_plan('gone') CROSS JOIN t")
    plan.fetchone()
    support.rows(db, "DROP TABLE gone")
    tap.is_equal(len(plan.fetchall()), 5, "a plan under way when its view is dropped")
    tap.raises(lambda: views.plan(db, "no view"), "no view", "no plan of another name")
    # Views of the temp schema are the user's own; a database's are not to be trusted.
    db.execute("CREATE TEMP VIEW mine AS SELECT * FROM late(1)")
    tap.is_equal(views.ask(db, "mine"), [(20,)], "a view of the temp schema over one of ours")
    for sql in ("temp.late", "late", "temp.late(1)", "late(1)"):
        for trusted in (0, 1):
            support.execute(db, f"PRAGMA trusted_schema = {trusted}", "DROP VIEW IF EXISTS main.stored")
            views.outcome(db, f"CREATE VIEW main.stored AS SELECT * FROM {sql}")
            got = views.ask(db, "stored")
            tap.ok(isinstance(got, Failure), f"4. no view of the database reads {sql}: {got}")


LEAVING = """
import view_support as views
db = views.connect()
db.execute("CREATE TABLE t(x)")
db.executemany("INSERT INTO t VALUES (?)", [(i,) for i in range(1000)])
views.create(db, "a", "SELECT gpu_sum(x) AS s FROM t WHERE x > :a")
views.create(db, "b", "SELECT x, s FROM t, a(x)")
cursor = db.execute("SELECT * FROM b")
assert cursor.fetchone() == (0, 499500)
assert views.ask(db, "a", (10,)) == [(499445,)]
{ending}
"""


def test_leaving():
    """Connections that go with views and statements open."""
    endings = ("", "db.close()", "del db", "import os; os._exit(0)", "raise SystemExit(0)")
    for ending in endings + ("db.execute('DROP TABLE a') if 0 else db.close()",):
        process = support.child(LEAVING.format(ending=ending))
        support.child_ok(process, f"left with a view open: {ending or 'at the end'}")


views.run(globals(), db=lambda _: opened())
