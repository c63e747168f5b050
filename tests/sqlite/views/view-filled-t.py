"""How SQLite fills the columns of tables whose pages can't be read: what the plan says of it,
functions and errors in it, its memory, how often it is tried, interrupts, and devices.
"""

import random
import sqlite3
import threading
import time

import support
import tap
import view_support as views
from view_rows import FILLED, KEPT, KEYED, LATER, ON_VIRTUAL, PLAIN, ROWS, SELECTS, VIRTUAL, Watch, fill


def test_functions():
    """Generated columns of functions: SQLite's own, replaced ones, and the application's."""
    say = "may follow from more than its row"
    db = views.connect()
    support.execute(db, "CREATE TABLE t(a INT, b AS (abs(a) + coalesce(a, 0, 1)), c AS (a LIKE '1%'))",
                    support.numbered("t(a)", ROWS, "i - 50"))
    selects = {"b": "SELECT gpu_sum(b), gpu_max(a) FROM t", "c": "SELECT gpu_sum(c) FROM t"}
    watch = Watch(db, "generated columns of functions", selects, {})
    db.create_function("unrelated", 1, lambda x: x)
    watch.kept("another function")
    db.execute("PRAGMA case_sensitive_like = 1")
    lines = watch.settle("a LIKE of another kind")
    watch.batch.check(lines["c"][0].startswith("row by row"), f"LIKE: {lines['c']}")
    watch.batch.check(lines["b"][0].startswith("accelerated"), f"beside LIKE: {lines['b']}")
    db.create_function("abs", 2, lambda x, y: 5, deterministic=True)
    lines = watch.settle("abs() of two arguments")
    watch.batch.check(say in lines["b"][0], f"abs() of two arguments: {lines['b']}")
    for value in (1, 2):
        db.create_function("abs", 1, lambda x, value=value: value, deterministic=True)
        watch.settle(f"abs() is {value}")

    db = views.connect()
    state = [1]
    db.create_function("state", 1, lambda x: x * state[0], deterministic=True)
    db.create_collation("other", lambda x, y: (x < y) - (x > y) if state[0] % 2 else 0)
    db.execute(
        "CREATE TABLE t(a INT, b AS (state(a)), c TEXT COLLATE other, d AS (c > 'k'),"
        " e AS (iif(c = 'k' COLLATE NOCASE, 1, 0)), f AS (a IN (1, 2, 3)))"
    )
    db.execute("INSERT INTO t(a, c) VALUES (1, 'a'), (2, 'K'), (3, 'z')")
    selects = {name: f"SELECT gpu_sum({name}), count(*) FROM t" for name in "bdef"}
    watch = Watch(db, "functions and collations of the application's", selects, {}, "the virtual generated column")
    for state[0] in (1, 2, 3):
        watch.by_rows(f"state {state[0]}", "the virtual generated column")


def test_errors(db):
    """Generated columns with errors, which a lower limit makes: SQLite's, each time."""
    if not hasattr(sqlite3.Connection, "setlimit"):
        tap.skip(1, "this Python has no Connection.setlimit()")
        return
    db.execute("CREATE TABLE t(a INT, c, j AS (json_extract(c, '$.x')), k AS (a * 2))")
    db.execute("INSERT INTO t(a, c) VALUES (1, '{\"x\": 4}'), (2, '{\"x\": 5}')")
    watch = Watch(db, "errors in columns", {"sums": "SELECT gpu_sum(j) FROM t"}, {})
    watch.run("CREATE INDEX t_j ON t(j)")
    db.execute("UPDATE t SET c = json_object('x', a, 'long', hex(zeroblob(900)))")
    watch.kept("long values")
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1000)
    watch.ask("sums", "a limit")
    watch.by_rows("a limit", "SQLite found an error")
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 10**9)
    watch.kept("no limit")


def test_authorizer(batch, db):
    """An authorizer that hides a column, comes and goes."""
    fill(db, KEYED)

    def hide(action, table, column, *_):
        """NULL in the place of a."""
        hidden = action == sqlite3.SQLITE_READ and (table, column) == ("t", "a")
        return sqlite3.SQLITE_IGNORE if hidden else sqlite3.SQLITE_OK

    db.set_authorizer(hide)
    for _ in range(2):
        batch.compare(views.through_view(db, SELECTS["sums"]), views.outcome(db, SELECTS["sums"]), "hidden")
        for _ in range(3):
            views.ask(db, "view_of_it")
        lines = views.plan(db, "view_of_it")
        batch.check(lines[0].startswith("row by row"), f"hidden: {lines}")
        db.set_authorizer(None)
        got = views.through_view(db, SELECTS["sums"])
        for _ in range(3):
            batch.compare(got, views.outcome(db, SELECTS["sums"]), "seen")
            got = views.ask(db, "view_of_it")
        lines = views.plan(db, "view_of_it")
        batch.check(KEPT in lines[-1], f"seen: {lines}")
        db.set_authorizer(hide)
        for _ in range(3):
            batch.compare(views.ask(db, "view_of_it"), views.outcome(db, SELECTS["sums"]), "hidden now")
        got = views.through_view(db, SELECTS["sums"])


def test_lines(db):
    """What the plan says at each asking, and what the tables list."""
    fill(db, PLAIN)
    views.create(db, "v", "SELECT gpu_sum(a), gpu_min(rowid) FROM t")
    views.create(db, "w", "SELECT gpu_max(b * a) FROM t")
    want = "the database is in memory, or temporary"
    views.ask(db, "v")
    tap.is_equal(views.plan(db, "v")[0], f"row by row: {want}; will be kept when asked again", "once")
    views.ask(db, "v")
    lines = views.plan(db, "v")
    tap.is_equal(lines[0], "accelerated: host", "asked again")
    tap.is_equal(lines[1], f"table main.t, {ROWS} rows when last read", "the table")
    tap.is_equal(lines[2], f"column a: INTEGER, {2 * ROWS} bytes", "a column")
    tap.is_equal(lines[-1], f"read the last time: {ROWS} rows through SQLite: {want}", "what for")
    views.ask(db, "v")
    tap.is_equal(
        views.plan(db, "v")[-1],
        "read the last time: 0 rows: all columns are resident, filled through SQLite, since "
        + want,
        "kept",
    )
    plan = [row[3] for row in db.execute("EXPLAIN QUERY PLAN SELECT * FROM v")]
    tap.ok("accelerated: host" in plan[0], f"EXPLAIN QUERY PLAN: {plan}")
    views.ask(db, "w")
    tap.ok(LATER in views.plan(db, "w")[0], "another column is asked for")
    views.ask(db, "w")
    listed = 'SELECT "table", "column", type, rows, hits FROM clreduce_columns ORDER BY 2'
    tap.is_equal(
        db.execute(listed).fetchall(),
        [("t", "a", "INTEGER", ROWS, 1), ("t", "b", "REAL", ROWS, 1), ("t", "rowid", "INTEGER", ROWS, 0)],
        "all columns of one image are filled together",
    )
    tap.is_equal(support.stats(db)["rows_loaded"], 2 * ROWS, "rows_loaded")
    views.ask(db, "v")
    tap.ok(KEPT in views.plan(db, "v")[-1], "the first view has its columns still")
    tap.is_equal(support.value(db, "SELECT clreduce_evict()"), (2 + 2 + 2) * ROWS, "clreduce_evict()")
    tap.is_equal(db.execute(listed).fetchall(), [], "and none are left")
    views.ask(db, "v")
    tap.ok(LATER in views.plan(db, "v")[0], "after that all begins anew")
    support.configure(db, view_threshold=ROWS + 1)
    for _ in range(3):
        views.ask(db, "v")
    tap.ok("view_threshold" in views.plan(db, "v")[0], "view_threshold")


def test_memory_limit(db):
    """Columns that do not fit: by rows, until the setting changes. Others have to make room."""
    fill(db, KEYED)
    watch = Watch(db, "column_memory")
    support.configure(db, column_memory=9 * ROWS)
    views.evict(db)
    watch.by_rows("no room", "more than column_memory")
    loaded = support.stats(db)["rows_loaded"]
    watch.by_rows("no room", "more than column_memory")
    same = support.stats(db)["rows_loaded"] == loaded
    watch.batch.check(same, "columns are not filled in vain")
    support.configure(db, column_memory=0)
    watch.kept("room")
    # Two tables, and room for one of them.
    fill(db, KEYED, "u")
    watch.selects = {"t1": "SELECT gpu_sum(a), gpu_sum(b) FROM t", "u1": "SELECT gpu_sum(a), gpu_total(b) FROM u"}
    views.create_all(db, watch.selects)
    support.configure(db, column_memory=9 * ROWS * 3)
    loaded, turns = support.stats(db)["rows_loaded"], 64
    for turn in range(turns):
        for name in watch.selects:
            watch.ask(name, f"turn {turn}")
    loads = (support.stats(db)["rows_loaded"] - loaded) / ROWS
    watch.batch.check(0 < loads <= turns, f"{loads} loads of two tables in {turns} turns")


def test_changes_often(batch, db):
    """A table that changes after two queries each time: it is filled ever more seldom."""
    fill(db, KEYED)
    views.create(db, "v", SELECTS["sums"])
    for turn in range(100):
        for _ in range(2):
            batch.compare(views.ask(db, "v"), views.outcome(db, SELECTS["sums"]), f"turn {turn}")
        db.execute("UPDATE t SET b = b + 1 WHERE a = 3")
    loads = support.stats(db)["rows_loaded"] / ROWS
    batch.check(loads == 1, f"{loads} loads")
    batch.check("2 times more" in views.plan(db, "v")[0] or LATER in views.plan(db, "v")[0], "said")
    for _ in range(4):
        views.ask(db, "v")
    batch.check(KEPT in views.plan(db, "v")[-1], f"in the end: {views.plan(db, 'v')}")


def test_loader(db):
    """The function that fills columns is for views alone."""
    fill(db, PLAIN)
    text = "clreduce_load() is for accelerated views alone"
    for call in (
        "clreduce_load(a)",
        "clreduce_load(NULL, a)",
        "clreduce_load()",
        "clreduce_load(a) FILTER (WHERE a > 5)",
    ):
        error = support.value(db, f"SELECT {call} FROM t")
        tap.ok(isinstance(error, support.Failure) and error.message == text, f"{call}: {error}")
    db.execute("CREATE VIEW bad AS SELECT clreduce_load(a) FROM t")
    error = support.value(db, "SELECT * FROM bad")
    tap.ok("unsafe use" in getattr(error, "message", ""), f"in a stored view: {error}")


def test_interrupt():
    """A load that is interrupted, by another thread or the progress handler, leaves nothing."""
    rows = 30_000 if tap.QUICK else 200_000
    rng = random.Random(7)
    for path in (":memory:", None):
        path = path or views.new()
        db = views.connect(path)
        fill(db, VIRTUAL, rows=rows)
        select = "SELECT gpu_sum(s), gpu_sum(g), count(c) FROM t"
        views.create(db, "v", select)
        want = views.outcome(db, select)
        batch = support.Batch(f"interrupted loads, {path}")
        ended = 0
        for turn in range(20):
            views.evict(db)
            batch.compare(views.ask(db, "v"), want, f"turn {turn}: by rows")
            if turn % 2:
                with support.stopped(db, rng.randrange(1, rows // 40), 100):
                    got = views.ask(db, "v")
            else:
                timer = threading.Timer(rng.random() * 0.03, db.interrupt)
                timer.start()
                got = views.ask(db, "v")
                timer.cancel()
                timer.join()
            stopped = views.fails(got, "SQLITE_INTERRUPT: interrupted")
            ended += stopped
            batch.check(stopped or tap.is_same(got, want), f"turn {turn}: {got}")
            batch.check(not db.in_transaction, f"turn {turn}: a transaction is open")
            if path != ":memory:":
                other = sqlite3.connect(path, isolation_level=None, timeout=0)
                batch.compare(support.rows(other, "BEGIN EXCLUSIVE"), [], f"turn {turn}: locked")
                other.close()
            for _ in range(2):
                batch.compare(views.ask(db, "v"), want, f"turn {turn}: afterwards")
            batch.check(
                KEPT in views.plan(db, "v")[-1] or FILLED in views.plan(db, "v")[-1],
                f"turn {turn}: {views.plan(db, 'v')}",
            )
        batch.check(ended > 0, "some were stopped")


def test_interrupt_anywhere(db):
    """A load that is interrupted at each place in turn, in whichever statement that is, is tried again."""
    fill(db, VIRTUAL, rows=20)
    select = "SELECT gpu_sum(s), gpu_sum(g), count(c) FROM t"
    views.create(db, "v", select)
    want = views.outcome(db, select)
    batch, place, stopped = support.Batch("interrupted at each place"), 0, True
    while stopped:
        place += 1
        views.evict(db)
        batch.compare(views.ask(db, "v"), want, f"place {place}: by rows")
        with support.stopped(db, place, 1):
            got = views.ask(db, "v")
        stopped = got != want
        batch.check(not stopped or views.fails(got, "SQLITE_INTERRUPT: interrupted"), f"place {place}: {got}")
        for _ in range(2):
            batch.compare(views.ask(db, "v"), want, f"place {place}: afterwards")
        line = views.plan(db, "v")[-1]
        batch.check(KEPT in line or FILLED in line, f"place {place}: {views.plan(db, 'v')}")
    batch.check(place > 40, f"{place} places")


def test_device():
    """Columns that SQLite filled go to a device as well."""
    for device in views.warmed():
        db = views.connect(":memory:", device)
        fill(db, VIRTUAL, rows=5000)
        views.create(db, "v", ON_VIRTUAL["made"])
        batch, on_device = support.Batch(f"on a device, {device}"), False
        for _ in range(500):
            batch.compare(views.ask(db, "v"), views.outcome(db, ON_VIRTUAL["made"]), "asked")
            on_device = views.plan(db, "v")[0].startswith("accelerated: device")
            if on_device:
                break
            time.sleep(0.01)  # a busy machine takes long to build the program
        batch.check(on_device, f"it was the device in the end: {views.plan(db, 'v')}")


views.run(globals(), db=lambda _: views.connect())
