"""Many connections over one runtime: loading, closing, threads, interrupts, a hasty exit."""

import os
import random
import sqlite3
import tempfile
import threading
import time

import support
import tap
from reference import answer

SOURCE = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) "
    "SELECT gpu_sum(i * 0.5), gpu_dot(i, 0.5) FROM n"
)
ENDLESS = 10**10
#: When a statement is interrupted, and how long it may take to stop.
AFTER = 0.1 if tap.QUICK else 0.3
PROMPT = 5


def sums(count):
    """The answer of SOURCE."""
    return (count * (count + 1) / 4.0,) * 2


def test_loading(batch):
    """Loading twice, into the same and into many connections, closed in any order."""
    db = support.connect()
    db.enable_load_extension(True)
    for _ in range(3):
        db.load_extension(tap.EXTENSION)
    tap.is_equal(db.execute(SOURCE.format(100)).fetchone(), sums(100), "loaded four times")
    db.close()

    rng = random.Random(1)
    connections = [support.connect(rng.choice(support.modes()), **support.SMALL) for _ in range(100)]
    for db in connections:
        batch.compare(db.execute(SOURCE.format(100)).fetchone(), sums(100), "one of them")
    rng.shuffle(connections)
    for number, db in enumerate(connections):
        db.close()
        if number + 1 < len(connections):
            batch.compare(connections[-1].execute(SOURCE.format(60)).fetchone(), sums(60), "one that is left")
    db = support.connect()
    tap.is_equal(db.execute(SOURCE.format(100)).fetchone(), sums(100), "a new connection after all had gone")


def test_loading_fails_tidily():
    """A connection without the extension is none the wiser."""
    support.connect().close()
    plain = sqlite3.connect(":memory:")
    tap.raises(
        lambda: plain.execute("SELECT gpu_sum(1)"),
        "no such function: gpu_sum",
        "a connection that did not load it",
    )


def test_open_statements():
    """A connection closed with statements under way, and chunks on their way to a device."""
    for mode in support.modes():
        batch = support.Batch(f"closed with statements half-way, {mode}")
        for width in range(1, 30):
            db = support.connect(mode, **support.SMALL)
            support.fill(db, [(i * 0.5, i) for i in range(200)])
            cursor = db.execute(f"SELECT rowid % {width} AS g, gpu_sum(x), gpu_min(y) FROM t GROUP BY g")
            cursor.fetchone()
            moving = db.execute(
                "SELECT gpu_sum(x) OVER w, gpu_max(y) OVER w FROM t"
                f" WINDOW w AS (ROWS BETWEEN CURRENT ROW AND {width * 9} FOLLOWING)"
            )
            first = sum(i * 0.5 for i in range(min(width * 9 + 1, 200)))
            batch.compare(moving.fetchone()[0], first, "the first row")
            db.close()


def test_interleaved():
    """Many statements of one connection, stepped in turns."""
    for mode in support.modes():
        db = support.connect(mode, **support.SMALL)
        support.fill(db, [((i * 7919) % 1000, i) for i in range(1000)])
        query = "SELECT y / 50, {0}sum(x), {0}min(x) FROM t GROUP BY 1 HAVING {0}max(y) > {1}"
        cursors = [db.execute(query.format("gpu_", i)) for i in range(0, 1000, 50)]
        results = [[] for _ in cursors]
        for _ in range(25):
            for cursor, result in zip(cursors, results):
                result += cursor.fetchmany(1)
        want = [db.execute(query.format("", i)).fetchall() for i in range(0, 1000, 50)]
        tap.is_equal(results, want, f"statements of one connection in turns, {mode}")

        for chunk in (128 if tap.QUICK else 16, 65536):
            support.configure(db, chunk_size=chunk)
            query = ", ".join(f"@sum(x + {i}), @max(x - {i}), @min(-x * 0.5)" for i in range(300))
            tap.is_equal(
                db.execute(f"SELECT {query.replace('@', 'gpu_')} FROM t").fetchone(),
                db.execute(f"SELECT {query.replace('@', '')} FROM t").fetchone(),
                f"900 aggregates in one statement, {mode}, chunks of {chunk}",
            )
        db.close()


def test_shared_connection():
    """Threads that share one connection, which SQLite lets in one at a time."""
    for mode in support.modes():
        db = support.connect(mode, **support.SMALL)
        support.fill(db, [((i * 7919) % 1000, i) for i in range(1000)])
        got = []

        # Each thread has its own text: Python 3.12 lets two threads step one cached statement.
        def work(number, db=db, got=got):
            for _ in range(30):
                got.append(db.execute(f"SELECT gpu_sum(x), gpu_max(y), gpu_min(x) FROM t -- {number}").fetchone())

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        tap.is_equal(
            set(got) == {(499500, 999, 0)} and len(got) == 120,
            True,
            f"four threads share a connection, {mode}",
        )
        db.close()


def test_threads():
    """Threads, each with its own connection, at the same time on the same device."""
    for mode in support.modes():
        rng = random.Random(2)
        data = [
            (rng.uniform(-1, 1) * 10.0 ** rng.randint(-300, 300), rng.randint(-(2**62), 2**62))
            for _ in range(4000)
        ]
        wanted = {function: answer(function, data) for function in support.FUNCTIONS}
        problems, barrier = [], threading.Barrier(8)

        def work(number, mode=mode, data=data, wanted=wanted, problems=problems, barrier=barrier):
            try:
                db = support.connect(mode, chunk_size=(16, 100, 1024, 65536)[number % 4], host_threshold=1)
                support.fill(db, data)
                barrier.wait()
                for turn in range(3 if tap.QUICK else 5):
                    for function, want in wanted.items():
                        got = support.value(db, f"SELECT {support.call(function)} FROM t")
                        if not tap.is_same(got, want):
                            problems.append(f"{function}, thread {number}, turn {turn}: {support.show(got)}")
                    db.execute("SELECT count(*) FROM clreduce_devices, clreduce_stats").fetchall()
                db.close()
            except Exception as error:  # a thread's exception would be lost otherwise
                problems.append(repr(error))
                barrier.abort()

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        tap.ok(not problems, f"eight threads, {mode}")
        for problem in problems[:5]:
            tap.diag(problem)


def interrupted(db, query, stop):
    """Runs a query that something stops; the error, and how long it took."""
    start = time.monotonic()
    timer = threading.Timer(AFTER, stop)
    timer.start()
    try:
        error = support.rows(db, query)
    finally:
        timer.join()
    return error, time.monotonic() - start


def test_interrupt():
    """An interrupted statement stops promptly, launches nothing more, and leaves all usable."""
    windowed = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000000000) "
        "SELECT sum(s) FROM (SELECT gpu_sum(i * 0.5) OVER (ROWS 100 PRECEDING) AS s FROM n)"
    )
    extremes = ENDLESS_SELECT.format("gpu_min(i), gpu_max(-i * 0.5), gpu_max('text ' || i)")
    queries = {
        "aggregates": SOURCE.format(ENDLESS),
        "a window": windowed,
        "extremes": extremes,
        "groups": ENDLESS_SELECT.format("gpu_sum(i * 0.5)") + " GROUP BY i / 100",
    }
    for mode in support.modes():
        for chunk in (128 if tap.QUICK else 16, 65536):
            db = support.connect(mode, chunk_size=chunk, host_threshold=1)
            for name, query in queries.items():
                label = f"{name}, {mode}, chunks of {chunk}"
                error, taken = interrupted(db, query, db.interrupt)
                tap.ok(support.is_refused(error, "", "interrupted"), f"interrupted: {label}")
                tap.ok(taken < PROMPT, f"promptly: {label}, {taken:.2f} s")
                launched = support.stats(db)["kernels_launched"]
                time.sleep(0.05)
                tap.is_equal(support.stats(db)["kernels_launched"], launched, f"no more kernels: {label}")
                tap.is_equal(db.execute(SOURCE.format(100)).fetchone(), sums(100), f"the next query: {label}")
            db.close()


ENDLESS_SELECT = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000000000) "
    "SELECT {} FROM n"
)


def test_progress_handler():
    """A progress handler that stops statements at every stage."""
    for mode in support.modes():
        db = support.connect(mode, **support.SMALL)
        batch = support.Batch(f"a progress handler stops at every stage, {mode}")
        support.fill(db, [(i * 0.5, i) for i in range(300)])
        queries = {
            "SELECT gpu_sum(x), gpu_min(x), gpu_dot(x, y) FROM t": [(22425.0, 0.0, 4477525.0)],
            "SELECT count(s) FROM (SELECT gpu_sum(x) OVER (ROWS 40 PRECEDING) AS s FROM t)": [(300,)],
            "SELECT count(s) FROM (SELECT gpu_max(y) AS s FROM t GROUP BY rowid % 3)": [(3,)],
        }
        for query, want in queries.items():
            done = 0
            for steps in range(1, 4000, 37):
                with support.stopped(db, steps, 10):
                    got = support.rows(db, query)
                stopped = isinstance(got, support.Failure) and got.message == "interrupted"
                batch.check(stopped or tap.is_same(got, want), f"{query} after {steps * 10} steps: {got}")
                done += not stopped
                if done > 3:
                    break
            batch.compare(support.rows(db, query), want, f"{query} at last")
        db.close()


HASTY = """
db = support.connect(support.device(), **support.SMALL)
support.fill(db, [(i * 0.5, i) for i in range({rows})])
assert db.execute("SELECT gpu_sum(x) FROM t").fetchone()[0] == sum(i * 0.5 for i in range({rows}))
{ending}
"""
#: How a process ends, and how often that is tried. A driver takes tens of milliseconds to load.
ENDINGS = {
    "at once": (10, ""),
    "with the connection closed": (10, "db.close()"),
    "a moment later": (25, "import time; time.sleep({turn} * 0.002)"),
    "soon": (10, "import time; time.sleep({turn} * 0.03)"),
    "while a thread works": (
        10,
        """
import threading
def work():
    support.connect(support.device(), **support.SMALL).execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000)"
        " SELECT gpu_sum(i) FROM n").fetchall()
threading.Thread(target=work, daemon=True).start()
""",
    ),
    "by os._exit": (3, "import os; os._exit(0)"),
}


def test_hasty_exit():
    """A process ends while the device starts, at once or a little later: cleanly and soon."""
    for name, (turns, ending) in ENDINGS.items():
        batch = support.Batch(f"a process that ends {name}, while the device starts")
        slowest = 0
        for turn in range(0, turns, 2 if tap.QUICK else 1):
            code = HASTY.format(rows=(16, 100, 5000)[turn % 3], ending=ending.format(turn=turn))
            start = time.monotonic()
            process = support.child(code, timeout=30)
            slowest = max(slowest, time.monotonic() - start)
            batch.compare(process.returncode, 0, f"turn {turn}: {process.stdout}{process.stderr}")
            if process.returncode is None:
                break
        tap.ok(slowest < 10, f"and soon: {slowest:.2f} s at most")


def test_files():
    """Two connections to one file, one of which writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.db")
        writer, reader = support.connect(path=path), support.connect(path=path)
        writer.execute("PRAGMA journal_mode = WAL")
        support.fill(writer, [(i, 1.5) for i in range(1000)])
        tap.is_equal(support.value(reader, "SELECT gpu_sum(x) FROM t"), 499500, "what another has written")
        support.execute(writer, "BEGIN", "INSERT INTO t VALUES (0.5, 0)")
        tap.is_equal(support.value(reader, "SELECT gpu_sum(x) FROM t"), 499500, "not what it has not committed")
        tap.is_equal(support.value(writer, "SELECT gpu_sum(x) FROM t"), 499500.5, "which it sees itself")
        writer.execute("COMMIT")
        tap.is_equal(support.value(reader, "SELECT gpu_sum(x) FROM t"), 499500.5, "and then the other")
        reader.close()
        writer.close()


support.run(globals())
