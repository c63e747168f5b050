"""Order statistics, modes and distinct counts of columns that have a sorted copy.

A view gives what its SELECT gives (clause 1 of view.h), before a column has its sorted copy, which
is made in the background once it has been asked for twice, while it is made, and from then on; and
so it does when the copy goes: since the table changes, or others need the memory.
"""

import math
import os
import subprocess
import sys
import threading
import time

import support
import tap
import view_support as views

ROWS = 6_000 if tap.QUICK else 60_000
#: Of tables whose sorting takes a while.
MANY = 300_000 if tap.QUICK else 2_000_000
TIMEOUT_S = 60
FOLDER = views.Folder()

#: Columns of each width, and of each way to keep numbers; and what is in row k.
SORTED = {
    "wide": lambda rng, k: rng.choice((rng.randrange(-(2**63), 2**63), 7, views.INT_MIN)),
    "four": lambda rng, k: rng.randrange(2**31) - 2**30,
    "two": lambda rng, k: rng.randrange(-20_000, 40_000),
    "one": lambda rng, k: rng.randrange(200),
    "x": lambda rng, k: rng.choice((0.0, -0.0, rng.gauss(0, 1), rng.randrange(-5, 5) + 0.5)),
    "decimal": lambda rng, k: rng.randrange(-3_000, 3_000) / 100,
    "fine": lambda rng, k: rng.randrange(10**8) / 1000,
    "near": lambda rng, k: math.ldexp(-1.0 - rng.random() / 2**40, 7),
    "holes": lambda rng, k: rng.choice((None, rng.randrange(100))),
    "gaps": lambda rng, k: rng.choice((None, rng.random(), -rng.random(), -0.0)),
    "rare": lambda rng, k: 1.25 if k % 1000 == 3 else None,
}
#: Columns that have none: of both types, with TEXT, of NULLs; an infinity, for which a median has
#: an error, does not count as such.
OTHERS = {
    "mixed": lambda rng, k: rng.choice((k, k + 0.5, None)),
    "texts": lambda rng, k: rng.choice((k, "text")),
    "nulls": lambda rng, k: None,
    "infinite": lambda rng, k: math.inf if k == 5 else 1.0,
}
COLUMNS = {**SORTED, **OTHERS}
CALLS = (
    "gpu_median({0}), gpu_percentile({0}, 0), gpu_percentile({0}, 100), gpu_percentile({0}, 12.5),"
    " gpu_percentile_disc({0}, 0.999), gpu_percentile_cont({0}, 0.001)",
    "gpu_count_distinct({0}), gpu_mode({0}), typeof(gpu_mode({0})), count(DISTINCT {0})",
    "gpu_median({0}), gpu_sum({0}), gpu_max({0}), count({0}), count(*), gpu_min({0})",
)
#: Some of which, or none, a sorted copy answers.
TOGETHER = (
    "SELECT gpu_median(x), gpu_median(two), gpu_mode(one), gpu_sum(four), count(*) FROM t",
    "SELECT gpu_median(x), gpu_histogram(x, -1, 1, 7), gpu_mode(x), gpu_histogram(two, 0, 9, 3) FROM t",
    "SELECT gpu_median(x), gpu_mode(mixed), gpu_count_distinct(texts), gpu_count_distinct(x) FROM t",
    "SELECT gpu_median(x) FROM t WHERE two > 0",
    "SELECT gpu_median(x), gpu_median(x) FILTER (WHERE two > 0), gpu_mode(two) FROM t",
    "SELECT one % 5, gpu_median(x), gpu_count_distinct(two) FROM t GROUP BY 1",
    "SELECT gpu_median(x + 1), gpu_median(-two), gpu_median(x) FROM t",
    "SELECT gpu_median(holes), gpu_sum_state(x), gpu_dot(x, two), gpu_var_pop(holes) FROM t",
    "SELECT DISTINCT one FROM t",
)


def fill(path, rng, rows=ROWS):
    """The table, in WAL mode."""
    db = views.connect(path)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute(f"CREATE TABLE t(id INTEGER PRIMARY KEY, {', '.join(COLUMNS)})")
    db.executemany(
        f"INSERT INTO t VALUES ({', '.join('?' * (len(COLUMNS) + 1))})",
        ((k, *(value(rng, k) for value in COLUMNS.values())) for k in range(1, rows + 1)),
    )
    db.close()


def connect(path):
    """A connection for which no column is too short."""
    db = views.connect(path)
    support.configure(db, host_threshold=1)
    return db


def sorted_bytes(db, column):
    """What the column's sorted copy takes."""
    found = db.execute('SELECT sorted_bytes FROM clreduce_columns WHERE "column" = ?', (column,)).fetchone()
    return found[0] if found else 0


def ask_until(db, name, want, is_done, batch):
    """Asks again and again, comparing each answer, until that is so, and once more."""
    end = time.monotonic() + TIMEOUT_S
    done = False
    while not done and time.monotonic() < end:
        done = is_done()
        batch.compare(views.ask(db, name), want, name)
    batch.check(done, "it comes to that")


def test_columns(path):
    """Each column, before, while and after its copy is made."""
    for column in COLUMNS:
        db = connect(path)
        for call in CALLS:
            select = f"SELECT {call.format(column)} FROM t"
            want = views.outcome(db, select)
            views.create(db, "v", select)
            batch = support.Batch(select)
            if column in OTHERS and column != "infinite":
                for _ in range(5):
                    batch.compare(views.ask(db, "v"), want, "without a copy")
                batch.check(sorted_bytes(db, column) == 0, "there is none")
            else:
                ask_until(db, "v", want, lambda: sorted_bytes(db, column) > 0, batch)


def test_reference(batch, path):
    """What SQLite says with its own means, of a column that has a copy. Which of 0.0 and -0.0 is the
    middle one its order does not say."""
    db = connect(path)
    rows = db.execute("SELECT count(x) FROM t").fetchone()[0]
    middle = db.execute("SELECT x FROM t ORDER BY x LIMIT 2 OFFSET ?", (rows // 2 - 1,)).fetchall()
    want = (
        (middle[0][0] + middle[1][0]) / 2 + 0.0 if rows % 2 == 0 else middle[1][0] + 0.0,
        *db.execute("SELECT count(DISTINCT x), max(x), min(x) FROM t").fetchone(),
        db.execute("SELECT two FROM t GROUP BY two ORDER BY count(*) DESC, two LIMIT 1").fetchone()[0],
    )
    views.create(db, "v", "SELECT gpu_median(x) + 0.0, gpu_count_distinct(x), gpu_percentile(x, 100),"
                          " gpu_percentile(x, 0), gpu_mode(two) FROM t")
    ask_until(db, "v", [want], lambda: sorted_bytes(db, "x") > 0 and sorted_bytes(db, "two") > 0, batch)


def test_together(batch, path):
    """Questions that a copy answers beside others."""
    db = connect(path)
    db.execute("SELECT clreduce_evict()").fetchone()
    views.create(db, "v", "SELECT gpu_median(x), gpu_median(two), gpu_mode(one), gpu_mode(holes) FROM t")
    want = views.ask(db, "v")
    ask_until(db, "v", want, lambda: all(sorted_bytes(db, c) for c in ("x", "two", "one", "holes")), batch)
    for number, select in enumerate(TOGETHER):
        views.create(db, f"w{number}", select)
        for _ in range(3):
            views.agree(db, f"w{number}", select, (), select)
    tap.is_equal(sorted_bytes(db, "four"), 0, "what nobody asks about in that way has no copy")


def test_changes(path):
    """Of what changes the copy goes, whoever changes it; of what stays as it is it stays."""
    db, other = connect(path), connect(path)
    select = "SELECT gpu_median(x), gpu_mode(two), gpu_count_distinct(two) FROM t"
    have_both = lambda: sorted_bytes(db, "x") > 0 and sorted_bytes(db, "two") > 0
    views.create(db, "v", select)
    for writer, change, is_sorted in (
        (other, "UPDATE t SET x = x + 1 WHERE id = 17", True),
        (db, "UPDATE t SET x = -x WHERE id = 18", True),
        (other, "INSERT INTO t(id, x, two) SELECT id + 1000000, 2.5, 3 FROM t WHERE id % 7 = 0", True),
        (db, "DELETE FROM t WHERE id > 1000000", True),
        (other, "UPDATE t SET x = 'text' WHERE id = 19", False),
        (other, "UPDATE t SET x = 4.5 WHERE id = 19", True),
    ):
        batch = support.Batch(f"{'its own' if writer is db else 'another'} connection: {change}")
        writer.execute(change)
        batch.compare(views.ask(db, "v"), views.outcome(db, select), "not committed")
        writer.commit()
        want = views.outcome(db, select)
        batch.compare(views.ask(db, "v"), want, "committed")
        if is_sorted:
            ask_until(db, "v", want, have_both, batch)
    other.execute("UPDATE t SET x = x + 1 WHERE id = 20")
    views.agree(db, "v", select, (), "one more change")
    tap.is_equal(sorted_bytes(db, "x"), 0, "the copy of what has changed is gone")
    tap.ok(sorted_bytes(db, "two") > 0, "and not that of what has not")
    batch = support.Batch("after all changes")
    ask_until(db, "v", views.outcome(db, select), have_both, batch)
    views.create(other, "v", select)
    views.agree(other, "v", select, (), "the other connection")
    tap.is_equal(sorted_bytes(other, "x"), sorted_bytes(db, "x"), "has the same copy")
    db.execute("SELECT clreduce_evict()").fetchone()
    tap.is_equal(sorted_bytes(db, "x"), 0, "it goes with its column")


def test_memory(batch, path):
    """A copy takes free memory alone, and gives it to columns."""
    db = connect(path)
    select = "SELECT gpu_median(x), gpu_median(gaps) FROM t"
    want = views.outcome(db, select)
    views.create(db, "v", select)
    views.ask(db, "v")
    taken = db.execute("SELECT sum(bytes) FROM clreduce_columns").fetchone()[0]
    support.configure(db, column_memory=taken + 10 * ROWS)
    for _ in range(20):
        batch.compare(views.ask(db, "v"), want, "without room")
        time.sleep(0.005)
    batch.check(sorted_bytes(db, "x") == 0 and sorted_bytes(db, "gaps") == 0, "there is no copy")
    support.configure(db, column_memory=0)
    ask_until(db, "v", want, lambda: sorted_bytes(db, "x") > 0 and sorted_bytes(db, "gaps") > 0, batch)
    # Room for the columns, and for further ones if the copies go.
    support.configure(db, column_memory=taken + 18 * ROWS)
    views.create(db, "w", "SELECT gpu_sum(wide), gpu_sum(fine) FROM t")
    batch.compare(views.ask(db, "w"), views.outcome(db, "SELECT gpu_sum(wide), gpu_sum(fine) FROM t"), "others")
    batch.compare(views.ask(db, "v"), want, "afterwards")
    batch.check(sorted_bytes(db, "x") + sorted_bytes(db, "gaps") <= 18 * ROWS, "copies have gone")
    batch.check(db.execute("SELECT count(*) FROM clreduce_columns").fetchone()[0] == 4, "and no column")
    support.configure(db, column_memory=0)


def fill_many(path):
    """A long table."""
    db = views.connect(path)
    db.execute("CREATE TABLE t(x REAL, i INT)")
    db.execute(
        "WITH RECURSIVE n(k) AS (VALUES (1) UNION ALL SELECT k + 1 FROM n WHERE k < ?)"
        " INSERT INTO t SELECT k * 0.1 + k % 7, k * 7919 % 1000003 * 5000000 FROM n",
        (MANY,),
    )
    db.close()


MEDIANS = "SELECT gpu_median(x), gpu_median(i), gpu_mode(i), gpu_count_distinct(x) FROM t"


def test_threads(many, want):
    """Several connections ask, while one of them or another changes the table."""
    wrong = []

    def ask_often(number):
        db = connect(many)
        views.create(db, "v", MEDIANS)
        for turn in range(12):
            if views.ask(db, "v") != want:
                wrong.append(number)
            if turn % 4 == 3:
                db.execute("SELECT clreduce_evict()").fetchone()
        db.close()

    threads = [threading.Thread(target=ask_often, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tap.is_equal(wrong, [], "threads' answers while copies are made and go")


def test_close(batch, many, want):
    """A connection is closed, at any moment of the making, as quickly as ever."""
    for turn in range(6):
        db = connect(many)
        views.create(db, "v", MEDIANS)
        for _ in range(2):
            batch.compare(views.ask(db, "v"), want, "before it is closed")
        time.sleep(turn * 0.01)
        db.close()


def test_fork(many, want):
    """A child that is forked meanwhile has its answers, and its own copy in the end; so its parent."""
    # Where a sanitizer is loaded, a child of a process with threads hangs or ends: see pool-fork-t.c.
    if tap.SANITIZED:
        return
    db = connect(many)
    views.create(db, "v", MEDIANS)
    for _ in range(2):
        views.ask(db, "v")
    child = os.fork()
    batch = support.Batch("the child" if child == 0 else "the parent of a child")
    if child == 0:
        own = connect(many)
        views.create(own, "v", MEDIANS)
        end = time.monotonic() + TIMEOUT_S
        right = True
        while right and sorted_bytes(own, "x") == 0 and time.monotonic() < end:
            right = views.ask(own, "v") == want
        right = right and sorted_bytes(own, "x") > 0 and views.ask(own, "v") == want
        own.close()
        os._exit(0 if right else 1)
    ask_until(db, "v", want, lambda: sorted_bytes(db, "x") > 0, batch)
    batch.check(os.waitpid(child, 0)[1] == 0, "the child did well")


def test_exit(many):
    """A process that ends meanwhile ends well."""
    code = f"""
import sys
sys.path[:0] = {sys.path!r}
import view_support as views, support
db = views.connect({many!r})
support.configure(db, host_threshold=1)
views.create(db, "v", {MEDIANS!r})
views.ask(db, "v"); views.ask(db, "v")
"""
    for _ in range(2):
        tap.is_equal(subprocess.run([sys.executable, "-c", code], check=False).returncode, 0, "a process ends")


PATH, LARGE = FOLDER.new(), FOLDER.new()
fill(PATH, support.seed())
fill_many(LARGE)
views.run(globals(), path=PATH, many=LARGE, want=lambda _, rows=views.outcome(views.connect(LARGE), MEDIANS): rows)
