"""Tables that stream, with text in WHERE or GROUP BY: what is known of their groups and dictionaries
goes from one portion of the rows to the next.

view-random-t.py has random SELECTs in little memory. Here are the rows that a
sample does not show, the order of groups, what is kept, and what ends a stream.
"""

import functools
import sqlite3
import threading
import time

import support
import tap
import view_support as views

ROWS = 30_000 if tap.QUICK else 120_000
STREAMS = "accelerated: host, streaming the table"
#: Room for the rows of one thread at a time, or of several.
LITTLE, SOME = 150_000, 500_000

SELECTS = {
    "text": "SELECT count(*), gpu_sum(x), gpu_min(city), gpu_max(substr(day, 1, 7)) FROM t WHERE city LIKE '%7%'",
    "by city": "SELECT city, gpu_sum(x), gpu_median(n), count(DISTINCT n) FROM t GROUP BY city",
    "by month": "SELECT substr(day, 1, 7) AS m, gpu_avg(x), gpu_stddev_pop(n) FROM t GROUP BY m ORDER BY 2 DESC LIMIT 5",
    "by number": "SELECT n / 10, gpu_sum(x), min(n), max(n) FROM t WHERE x > -50 GROUP BY 1",
    "by real": "SELECT x, count(*) FROM t GROUP BY x HAVING count(*) > 3",
    "by rowid": "SELECT k, gpu_sum(x) FROM t WHERE city <> 'city 3' GROUP BY k",
    "by two": "SELECT n % 3, city, gpu_sum(x) FROM t GROUP BY 1, 2 ORDER BY 1 DESC, 2",
    "first seen": "SELECT DISTINCT city FROM t",
    "numbers first seen": "SELECT DISTINCT n % 17, n / 50 FROM t",
    "found": "SELECT * FROM t WHERE n = 77 AND city = 'city 5' ORDER BY k",
}

#: A table of whose rows the last ones are not like those before.
LATE = {
    "types": "UPDATE t SET n = 'text' WHERE k = {last}",
    "nulls": "UPDATE t SET n = NULL WHERE k > {last} - 50",
    "reals": "UPDATE t SET n = 0.5 WHERE k = {last}",
    "range": "UPDATE t SET n = 1 << 40 WHERE k = {last} - 3",
    "huge": "UPDATE t SET n = -9223372036854775808, x = 1e300 WHERE k >= {last} - 1",
    "tiny": "UPDATE t SET x = 5e-324 WHERE k % 2 = 0 AND k > {last} / 2",
    "wide": "UPDATE t SET x = x * 1e250 WHERE k % 3 = 0 AND k > {last} / 2",
    "endless": "UPDATE t SET x = 9e999 WHERE k = {last}",
    "new text": "UPDATE t SET city = 'new ' || k % 50, day = '2002-01-01' WHERE k > {last} - 100",
    "blobs": "UPDATE t SET city = x'00' WHERE k = {last}",
}


@functools.cache
def draw(rng, rows):
    """So many rows of the table: all tables have the same ones."""
    return [
        (
            f"city {rng.randrange(60)}" if rng.random() < 0.97 else None,
            f"2001-{1 + i * 12 // rows:02}-{rng.randint(1, 28):02}",
            rng.randint(-99, 99),
            rng.randint(-999, 999) / 8,
            "x" * rng.choice((0, 0, 3, 40)),
        )
        for i in range(rows)
    ]


def fill(db, rng, rows=ROWS):
    """The table, in whose pages there are rows of several lengths."""
    db.execute("PRAGMA synchronous = OFF")
    db.execute("CREATE TABLE t(k INTEGER PRIMARY KEY, city TEXT, day TEXT, n INT, x REAL, more)")
    db.executemany("INSERT INTO t(city, day, n, x, more) VALUES(?, ?, ?, ?, ?)", draw(rng, rows))


def opened(rng, **settings):
    """A connection with the table and little memory."""
    db = views.connect(views.new())
    fill(db, rng)
    support.configure(db, **{"column_memory": LITTLE, **settings})
    return db


def agree(db, batch, select, what, verdict=STREAMS):
    """A view gives what its SELECT gives, and went the way that the verdict tells."""
    batch.compare(views.through_view(db, select), views.outcome(db, select), f"{what}: {select}")
    told = views.plan(db, "view_of_it")[0]
    batch.check(verdict in told, f"{what}: {told}: {select}")


def test_selects(rng):
    """All of them, in several amounts of memory, and by the statistics."""
    db = opened(rng)
    for memory in (80_000, LITTLE, SOME):
        batch = support.Batch(f"text and groups in {memory} bytes")
        support.configure(db, column_memory=memory)
        for what, select in SELECTS.items():
            before = support.stats(db)["scans_streamed"]
            agree(db, batch, select, what)
            batch.compare(support.stats(db)["scans_streamed"] - before, 1, f"{what}: counted")
        batch.compare(db.execute("SELECT count(*) FROM clreduce_columns").fetchall(), [(0,)], "no column is kept")


def test_late(rng):
    """Rows that are not like those that the groups were planned by."""
    for what, change in LATE.items():
        db = opened(rng, column_memory=rng.choice((LITTLE, SOME)))
        db.execute(change.format(last=ROWS))
        batch = support.Batch(f"late {what}")
        for name, select in SELECTS.items():
            # Some values are SQLite's: what matters is what comes out.
            agree(db, batch, select, name, "")
        db.close()


def test_large(db, batch, rng):
    """A column of so many values that its dictionary lies far from a processor."""
    values = (
        "CASE i % 50 WHEN 0 THEN i % 3001 WHEN 1 THEN NULL WHEN 2 THEN i % 700 + 0.5"
        " WHEN 3 THEN CAST('blob ' || i % 900 AS BLOB) WHEN 4 THEN printf('%.*c', i % 90, 'x') || i % 1100"
        f" ELSE 'value ' || i * 7919 % 30011 END, i % 1000 - {rng.randrange(1000)}"
    )
    support.execute(db, "PRAGMA synchronous = OFF", "CREATE TABLE t(v, n INT)", support.numbered("t", 300_001, values, 0))
    for memory, verdict in ((8_000_000, STREAMS), (0, "accelerated: host")):
        support.configure(db, column_memory=memory)
        for select in ("SELECT count(*), gpu_sum(n), gpu_min(v), gpu_max(v) FROM t WHERE v LIKE '%7%'",
                       "SELECT typeof(v), gpu_sum(n), gpu_sum(length(v)) FROM t GROUP BY 1",
                       "SELECT v || '', count(*), gpu_sum(n) FROM t GROUP BY 1 HAVING gpu_sum(n) > 0 ORDER BY 3, 1"):
            views.evict(db)
            for turn in ("first", "again"):
                agree(db, batch, select, f"{memory} bytes, {turn}", verdict)


@tap.each("DELETE", "WAL")
def test_changes(rng, path, mode):
    """Changes between two asks, by this connection and by another; what is kept is of its version."""
    db, other = views.connect(path, journal_mode=mode), sqlite3.connect(path, isolation_level=None)
    fill(db, rng)
    support.configure(db, column_memory=SOME if mode == "WAL" else LITTLE)
    batch = support.Batch(f"streams of a table that changes, {mode}")
    views.create_all(db, SELECTS.values())
    changes = (
        "SELECT 1",
        "INSERT INTO t(city, day, n, x) SELECT 'other ' || n, '1999-12-31', n, x FROM t WHERE k % 97 = 0",
        "UPDATE t SET city = 'city 7' WHERE city = 'city 5'",
        "DELETE FROM t WHERE n > 90",
        "UPDATE t SET day = upper(city) WHERE k % 1000 = 7",
    )
    step = 2 if tap.QUICK else 1
    for number, change in enumerate(changes):
        for turn, connection in enumerate((db, other)):
            connection.execute(change)
            for name, select in list(enumerate(SELECTS.values()))[(number + turn) % step :: step]:
                batch.compare(views.ask(db, f"v{name}"), views.outcome(db, select), f"{change}: {select}")
    support.execute(db, "BEGIN", "UPDATE t SET city = 'none'")
    batch.compare(views.ask(db, "v0"), views.outcome(db, SELECTS["text"]), "uncommitted changes")
    db.execute("ROLLBACK")
    batch.compare(views.ask(db, "v0"), views.outcome(db, SELECTS["text"]), "rolled back")


def test_kept(rng):
    """A dictionary serves the next query, which reads the pages once, until it is evicted."""
    db = opened(rng)
    calls = []
    db.create_function("seen", 1, lambda value: calls.append(value) or value, deterministic=True)
    select = "SELECT gpu_sum(x), count(*) FROM t WHERE seen(city) > 'city 3'"
    want = views.outcome(db, select)
    cities = support.value(db, "SELECT count(*) FROM (SELECT DISTINCT city FROM t)")
    views.create(db, "v", select)
    amounts, called = [], []
    for turn in range(4):
        if turn == 2:
            taken = support.value(db, "SELECT clreduce_evict()")
            tap.ok(taken > 0, f"the dictionary takes {taken} bytes, until it is evicted")
        calls.clear()
        before = support.stats(db)["bytes_decoded"]
        tap.is_equal(views.ask(db, "v"), want, f"turn {turn}")
        amounts.append(support.stats(db)["bytes_decoded"] - before)
        called.append(len(calls))
    tap.ok(called[0] <= cities and called[2] <= cities, f"{called} calls for {cities} cities")
    tap.ok(amounts[1] < 0.6 * amounts[0], f"{amounts} bytes: a kept dictionary saves a pass")
    tap.ok(amounts[3] < 0.6 * amounts[2], "and again when it was evicted")


def test_limits(batch, rng):
    """What does not fit is left to SQLite, and the plan says why."""
    db = opened(rng)
    support.configure(db, column_memory=1)
    agree(db, batch, SELECTS["by number"], "groups of numbers, a page at a time")
    agree(db, batch, SELECTS["by city"], "no room for a dictionary", "so do the different values of text")
    support.configure(db, column_memory=LITTLE)
    agree(db, batch, "SELECT gpu_median(x) FROM t WHERE city > 'b'", "all values", "a function needs all values together")
    db.execute("UPDATE t SET more = 'value ' || k")
    support.configure(db, column_memory=400_000)
    agree(db, batch, "SELECT count(*) FROM t WHERE more LIKE '%7'", "too many values", "row by row")
    support.configure(db, column_memory=LITTLE, values_memory=20_000)
    # The SELECT's own aggregates would run into that limit, too.
    agree(db, batch, "SELECT k, count(*) FROM t GROUP BY k", "too many groups", "the values take more than values_memory")
    agree(db, batch, SELECTS["by number"].replace("WHERE", "WHERE k > 0 AND"), "few groups")
    support.configure(db, values_memory=0, view_threshold=ROWS * 2)
    agree(db, batch, SELECTS["by city"], "a small table", "row by row: the table has")
    support.configure(db, view_threshold=0)
    db.execute("DELETE FROM t")
    for what, select in SELECTS.items():
        agree(db, batch, select, f"no rows, {what}", "row by row: the table is empty")


def test_meddling(rng):
    """A function that writes, or evicts what is kept, while it is asked for a value."""
    for memory in (LITTLE, 0):
        meddle_in(opened(rng, column_memory=memory), f"column_memory {memory}")


def meddle_in(db, where):
    """With that connection, which is closed."""
    batch = support.Batch(f"functions that do more than they say, {where}")
    db.execute("CREATE TABLE log(x)")
    views.create(db, "other", "SELECT count(*), gpu_max(city) FROM t WHERE city > ''")
    for what in ("UPDATE t SET n = n + 1 WHERE k % 100 = 0", "SELECT clreduce_evict()", "INSERT INTO log VALUES (1)",
                 "SELECT * FROM other", "INSERT INTO t(city, n) VALUES ('brand new', 1); SELECT * FROM other"):
        done = []

        def meddle(value, what=what, done=done):
            if not done:
                done.append(1)
                for statement in what.split(";"):
                    db.execute(statement).fetchall()
            return value

        db.create_function("meddle", 1, meddle, deterministic=True)
        select = "SELECT gpu_sum(n), count(*) FROM t WHERE meddle(city) > 'city 3'"
        views.create(db, "v", select)
        got = views.ask(db, "v")
        want = views.outcome(db, select)
        # Which version of the table a query sees whose own function changes it is not said.
        batch.check(got == want or " t" in what, f"{what}: {got}, not {want}")
        batch.compare(views.ask(db, "v"), want, f"{what}: again")
    db.close()


def test_interrupts(batch, rng):
    """Interrupts at many moments of a stream: that, or the right answer."""
    db = opened(rng, column_memory=SOME)
    hit = 0
    for name in ("by city", "by rowid"):
        views.create(db, "v", SELECTS[name])
        want = views.outcome(db, SELECTS[name])
        start = time.monotonic()
        views.ask(db, "v")
        whole = time.monotonic() - start
        for turn in range(30):
            views.evict(db)
            timer = threading.Timer(whole * turn / 30, db.interrupt)
            timer.start()
            got = views.ask(db, "v")
            timer.cancel()
            timer.join()
            stopped = views.fails(got, "SQLITE_INTERRUPT: interrupted")
            batch.check(stopped or tap.is_same(got, want), f"{name}, turn {turn}: {str(got)[:100]}")
            hit += stopped
        batch.compare(views.ask(db, "v"), want, f"{name}: afterwards")
    tap.diag(f"{hit} were interrupted")


views.run(globals())
