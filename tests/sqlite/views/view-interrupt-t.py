"""Accelerated views that are interrupted: they stop promptly, and leave nothing locked."""

import sqlite3
import threading
import time

import support
import tap
import view_support as views

ROWS = 100_000 if tap.QUICK else 1_000_000
TURNS = 40 if tap.QUICK else 150

#: Seconds that an interrupted statement may go on. A sanitizer takes its time.
PROMPT = 5 if tap.SANITIZED else 1

VIEWS = {
    "sums": "SELECT gpu_sum(a), count(*), gpu_sum(a * 2), gpu_total(b) FROM t WHERE a > :least",
    "groups": "SELECT a % 1000 AS k, gpu_median(b), count(*) FROM t WHERE a > :least GROUP BY k",
    "rows": "SELECT a, b FROM t",
}
WANT = [(ROWS * (ROWS + 1) // 2, ROWS, ROWS * (ROWS + 1), ROWS * (ROWS + 1) / 8)]

#: Statements without an end, which ask a view again and again.
ENDLESS = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
    " SELECT count(*) FROM n, sums(-(n.i % 3)) WHERE sums.\"count(*)\" < 0",
    "SELECT count(*) FROM rows x, rows y, rows z WHERE x.a + y.a + z.a < 0",
)


#: Next to no column_memory: the table streams, a page or two at a time.
LITTLE = 10_000


def make(path):
    """The database with a large table."""
    db = sqlite3.connect(path, isolation_level=None)
    support.execute(db, "PRAGMA synchronous = OFF", "CREATE TABLE t(a INT, b REAL, c TEXT)", "CREATE TABLE other(x)",
                    support.numbered("t", ROWS, "i, i * 0.25, 'text ' || i"))
    db.close()


def set_journal(path, mode):
    """Has the database another journal mode."""
    db = sqlite3.connect(path)
    db.execute(f"PRAGMA journal_mode = {mode}")
    db.close()


def opened(path, device, memory=0):
    """A connection with the views, whose columns go with it."""
    db = views.connect(path, device, column_memory=memory)
    support.configure(db, column_retention=0)
    for name, select in VIEWS.items():
        problem = views.create(db, name, select)
        assert problem is None, problem
    return db


def interrupted(db, sql, delay):
    """Runs a statement and interrupts it; its outcome, and how long it went on after that."""
    told = []
    ended = threading.Event()

    def stop():
        told.append(time.monotonic())
        db.interrupt()
        # Of one that comes before the statement has begun SQLite knows nothing any more.
        while not ended.wait(0.1):
            db.interrupt()

    timer = threading.Timer(delay, stop)
    timer.start()
    got = views.outcome(db, sql)
    end = time.monotonic()
    ended.set()
    timer.cancel()
    timer.join()
    return got, end - told[0] if told else 0


def is_interrupted(got):
    """Whether that is SQLite's error for it."""
    return views.fails(got, "SQLITE_INTERRUPT: interrupted")


def usable(batch, db, path, what):
    """The connection works, and has left no lock behind: another can write."""
    batch.compare(views.ask(db, "sums", (0,)), WANT, f"{what}: the connection works")
    other = sqlite3.connect(path, isolation_level=None, timeout=0)
    try:
        support.execute(other, "BEGIN EXCLUSIVE", "INSERT INTO other VALUES (1)", "COMMIT")
    except sqlite3.Error as error:
        batch.check(False, f"{what}: another connection writes: {error}")
    other.close()


def test_endless(path, way):
    """Interrupts from another thread while a view is asked over and over."""
    device, memory = way
    for mode in ("DELETE", "WAL") if memory == 0 else ("DELETE",):
        batch = support.Batch(f"endless statements interrupted, {device}, column_memory {memory}, {mode}")
        set_journal(path, mode)
        db = opened(path, device, memory)
        for sql in ENDLESS:
            for delay in (0.01, 0.1) if tap.QUICK else (0.01, 0.1, 0.25):
                views.evict(db)
                got, took = interrupted(db, sql, delay)
                batch.check(is_interrupted(got), f"{sql}: {got}")
                batch.check(took < PROMPT, f"{sql}: stopped after {took:.2f} s")
                usable(batch, db, path, sql)
        db.close()


def test_moments(path, way):
    """Interrupts at many moments of one answer: that, or the right answer."""
    device, memory = way
    db = opened(path, device, memory)
    for name in ("sums", "groups"):
        batch = support.Batch(f"{name}, interrupted at many moments, {device}, column_memory {memory}")
        start = time.monotonic()
        want = views.ask(db, name, (0,))
        whole, hit, longest = time.monotonic() - start, 0, 0
        batch.check(name == "groups" or tap.is_same(want, WANT), f"the sums are {want}")
        batch.compare(want, views.outcome(db, VIEWS[name], (0,)), "without an interrupt")
        verdict = views.plan(db, name)[0]
        batch.check(memory == 0 or "streaming" in verdict, f"column_memory {memory}: {verdict}")
        for turn in range(TURNS):
            views.evict(db)
            got, took = interrupted(db, f"SELECT * FROM {name}(0)", whole * turn / TURNS)
            batch.check(is_interrupted(got) or tap.is_same(got, want), f"turn {turn}: {got!r:.300}")
            batch.check(took < PROMPT, f"turn {turn}: stopped after {took:.2f} s")
            hit += is_interrupted(got)
            longest = max(longest, took)
            if turn % 10 == 0:
                usable(batch, db, path, f"turn {turn}")
        tap.diag(f"{hit} of {TURNS} were interrupted in {whole:.3f} s; after an interrupt it took {longest:.3f} s at most")


def test_progress(path, way):
    """A progress handler that ends statements."""
    device, memory = way
    batch = support.Batch(f"ended by the progress handler, {device}, column_memory {memory}")
    db = opened(path, device, memory)
    for sql in ENDLESS:
        for calls in (1, 2, 5, 20):
            start = time.monotonic()
            with support.stopped(db, calls, 100):
                got = views.outcome(db, sql)
            batch.check(is_interrupted(got), f"{sql}: {got}")
            took = time.monotonic() - start
            batch.check(took < PROMPT, f"{sql}: stopped after {took:.2f} s")
        usable(batch, db, path, sql)
    with support.stopped(db, 0, 1):
        got = views.ask(db, "sums", (0,))
    batch.check(is_interrupted(got), f"at once: {got}")
    usable(batch, db, path, "at once")


def test_function():
    """A function of the application's that interrupts the statement which calls it, over text that UTF-16 does not keep."""
    db = views.connect(views.new())
    support.execute(db, "CREATE TABLE t(s TEXT)", support.numbered("t", 60, "'a' || char(65535) || (i % 3)"))
    db.create_function("stop", 1, lambda text: db.interrupt() or text, deterministic=True)
    for select in ("SELECT DISTINCT s || char(65535) FROM t WHERE stop(s) <> 'b'", "SELECT max(stop(s)), max(s || 'b') FROM t"):
        tap.ok(is_interrupted(views.outcome(db, select)) and is_interrupted(views.through_view(db, select)), f"interrupted: {select}")


def test_other_statements(path, way):
    """An interrupt ends all statements of the connection, and none that begins later."""
    device, memory = way
    db = opened(path, device, memory)
    first = db.execute("SELECT a FROM rows")
    first.fetchone()
    interrupted(db, ENDLESS[0], 0.05)
    tap.raises(first.fetchall, "interrupted", f"a view's rows that were under way, {device}")
    db.interrupt()
    tap.is_equal(views.ask(db, "sums", (0,)), WANT, f"after an interrupt of nothing, {device}")


def test_planning(db):
    """A view that is interrupted while it is planned is planned anew for the next query."""
    support.execute(db, "CREATE TABLE d(id INTEGER PRIMARY KEY, a TEXT)", support.numbered("d", 50, "i, 'a' || (i % 5)"),
                    "CREATE TABLE t(k INT, s TEXT, x INT)", support.numbered("t", 2000, "i % 50 + 1, 's' || (i % 7), i"))
    views.create(db, "v", "SELECT upper(s) AS u, a, count(*), gpu_sum(x) FROM t JOIN d ON d.id = k GROUP BY 1, 2")
    batch = support.Batch("interrupted amid planning")
    calls, got = 0, None
    while not isinstance(got, list):
        calls += 1 + calls // 8
        db.execute(f"CREATE TABLE at_{calls}(a)")  # so it is planned anew
        with support.stopped(db, calls, 1):
            got = views.ask(db, "v")
        batch.check(isinstance(got, list) or views.fails(got, "interrupted", "SQLITE_INTERRUPT"), f"after {calls} steps: {got}")
        batch.check(isinstance(views.ask(db, "v"), list) and views.accelerated(db, "v"), f"after {calls} steps: {views.plan(db, 'v')[0]}")
    batch.check(calls > 1000, f"{calls} steps")


PATH = views.new()
make(PATH)
views.run(globals(), path=PATH, way=[(device, 0) for device in views.devices()] + [("host", LITTLE)])
