"""Accelerated views of functions that take TEXT and BLOBs: distinct values.

Columns that they need have the bytes of TEXT and BLOBs. In every form in which a table is stored
the view gives what its SELECT gives, errors included (clause 1 of view.h), and the plan says that
it was accelerated. States are BLOBs that SQLite alone merges.
"""

import re
import sqlite3

import support
import tap
import view_support as views
from reference import Failure

ROWS = 200 if tap.QUICK else 1500

#: Forms of storage: a name, what precedes the table, its name, its options, and how often a view
#: has to be asked before its columns are there.
FORMS = (
    ("small pages", "PRAGMA page_size = 512", "t", "", 1),
    ("large pages", "PRAGMA page_size = 65536; PRAGMA auto_vacuum = 1", "t", "", 1),
    ("a write-ahead log", "PRAGMA journal_mode = WAL", "t", "", 1),
    ("WITHOUT ROWID", "PRAGMA page_size = 4096", "t", "WITHOUT ROWID", 2),
    ("a temporary table", "", "temp.t", "", 2),
    ("UTF-16", "PRAGMA encoding = 'UTF-16le'", "t", "", 1),
    ("a table that streams", "SELECT clreduce_set('column_memory', 1)", "t", "", 1),
)

#: Different values: text; of any type; in overflow pages; and numbers alone.
DISTINCT = (
    "SELECT gpu_count_distinct(s), gpu_mode(s), count(s) FROM {t}",
    "SELECT gpu_count_distinct(m), gpu_mode(m), gpu_mode(m) IS NULL FROM {t}",
    "SELECT gpu_count_distinct(m) FILTER (WHERE k % 3 = 0), gpu_mode(m) FROM {t} WHERE k > 50",
    "SELECT gpu_count_distinct(l), gpu_mode(l) FROM {t}",
    "SELECT gpu_count_distinct(l) FROM {t} WHERE k % 7 = 3",
    "SELECT gpu_count_distinct(one), gpu_mode(one) FROM {t}",
    "SELECT gpu_count_distinct(n), gpu_mode(n), gpu_median(n), gpu_sum(n) FROM {t}",
    "SELECT gpu_count_distinct(s), gpu_count_distinct(m), gpu_mode(l) IS NULL FROM {t}",
    "SELECT gpu_mode(s) FROM {t} WHERE k < 0",
    "SELECT gpu_count_distinct(m), gpu_sum(m) FROM {t}",
)

#: Those that take no bytes, so that TEXT may be in UTF-16: numbers, and TEXT and BLOBs that a dictionary has.
IN_UTF16 = (*DISTINCT[:3], *DISTINCT[5:7], *DISTINCT[8:])

#: What SQLite reports an error for, or computes otherwise, if there is TEXT or a BLOB.
OTHERS = (
    "SELECT gpu_count_distinct(m), gpu_median(m) FROM {t}",
    "SELECT gpu_count_distinct(m), gpu_histogram(m, 0, 9, 3) FROM {t}",
    "SELECT gpu_count_distinct(coalesce(m, 1)), gpu_mode(+s) FROM {t}",
)

#: What merges states, the last ones with SQLite's errors.
MERGES = (
    "SELECT gpu_sum_merge(state), count(state) FROM {t}",
    "SELECT gpu_avg_merge(state), gpu_sum_state_merge(state) FROM {t} WHERE k > 20",
    "SELECT n % 7, gpu_sum_merge(state) FILTER (WHERE k > 9), count(*) FROM {t} GROUP BY n % 7 ORDER BY 1",
    "SELECT n, gpu_total_merge(state) AS a FROM {t} GROUP BY n HAVING a > 5 ORDER BY gpu_sum_merge(state) DESC, n",
    "SELECT gpu_sum_merge(s) FROM {t}",
    "SELECT gpu_max_merge(k), gpu_sum(n) FROM {t}",
    "SELECT one, gpu_max_merge(one) FROM {t} GROUP BY one",
)


def fill(db, table="t", options="", rows=ROWS):
    """A table with values of all kinds, and states of sums."""
    db.execute("PRAGMA synchronous = OFF")
    db.execute(f"CREATE TABLE {table}(k INTEGER PRIMARY KEY, s TEXT, m, l, one, n, state) {options}")
    db.execute(
        "WITH RECURSIVE r(part) AS (SELECT 0 UNION ALL SELECT part + 1 FROM r WHERE part < ?)"
        f" INSERT INTO {table} SELECT part, 'text ' || part * 7919 % 211,"
        " CASE part % 5 WHEN 0 THEN part % 20 WHEN 1 THEN part % 20 * 1.0 WHEN 2 THEN NULL"
        "   WHEN 3 THEN 'v' || part % 20 ELSE CAST('v' || part % 20 AS BLOB) END,"
        " CASE part % 9 WHEN 0 THEN printf('%.*c', part * 31 % 9000, 'x') WHEN 1 THEN ''"
        "   ELSE zeroblob(part * 17 % 300) END,"
        " x'', part * 31 % 97, iif(part % 13 = 0, NULL, gpu_sum_state(part * 0.37)) FROM r GROUP BY part",
        (rows - 1,),
    )


def check(db, batch, select, times, what, name="v"):
    """Makes a view of the SELECT and compares the two so many times; gives the plan's beginning."""
    problem = views.create(db, name, select)
    want = views.outcome(db, select)
    for _ in range(times):
        batch.compare(problem or views.ask(db, name), want, f"{what}: {select}")
    return views.plan(db, name)[0]


def test_forms():
    """Everything in all forms of storage."""
    for name, before, table, options, times in FORMS:
        db = views.connect(views.new())
        db.executescript(before)
        fill(db, table, options)
        batch = support.Batch(f"distinct values in {name}")
        for select in DISTINCT:
            verdict = check(db, batch, select.format(t=table), times + 1, name)
            if "streams" in name:
                expected = "row by row: the columns take more than column_memory"
            elif name == "UTF-16" and select not in IN_UTF16:
                expected = "row by row: "
            else:
                expected = "accelerated: host"
            batch.check(verdict.startswith(expected), f"{select}: {verdict}")
        for select in OTHERS:
            verdict = check(db, batch, select.format(t=table), times + 1, name)
            batch.check(verdict.startswith("row by row"), f"{select}: {verdict}")


def test_merges(db, batch):
    """SQLite merges the states of a table, and the plan says of what the view leaves to it."""
    fill(db)
    for select in MERGES:
        select = select.format(t="t")
        verdict = check(db, batch, select, 2, "merges")
        batch.check(re.match(r"row by row: .*gpu_\w+_merge\(\)", verdict), f"{select}: {verdict}")
        batch.compare(support.value(db, "SELECT clreduce_rewrite(?)", select), None, select)
    db.execute("CREATE TABLE kept AS SELECT gpu_sum_state(n) AS state FROM t GROUP BY n % 5")
    select = "SELECT n % 3, gpu_sum(k), (SELECT gpu_sum_merge(state) FROM kept) FROM t GROUP BY n % 3"
    verdict = check(db, batch, select, 2, "in a subquery, which is SQLite's")
    batch.check(verdict == "accelerated: host", f"{select}: {verdict}")
    db.execute("CREATE VIEW ordinary AS SELECT n % 3 AS n, gpu_sum_merge(state) FROM t GROUP BY 1")
    want = views.outcome(db, "SELECT * FROM ordinary")
    refusal = views.outcome(db, "SELECT clreduce_accelerate('ordinary')")
    batch.check(support.is_refused(refusal, "", "gpu_sum_merge() is not"), str(refusal))
    batch.compare(views.outcome(db, "SELECT * FROM ordinary"), want, "an ordinary view")


def bytes_of(db, column):
    """What is kept of a column, in bytes; each column is there once."""
    rows = db.execute('SELECT bytes FROM clreduce_columns WHERE "column" = ?', (column,)).fetchall()
    return [number for (number,) in rows]


def test_kept(db):
    """A column with bytes serves all, and takes the place of one without; its size is told."""
    fill(db)
    views.create(db, "counts", "SELECT count(m), gpu_sum(k) FROM t")
    views.create(db, "different", "SELECT gpu_count_distinct(m), gpu_mode(l) FROM t")
    views.create(db, "numbers", "SELECT gpu_sum(n), gpu_min(n) FROM t")
    views.create(db, "numerals", "SELECT gpu_count_distinct(n) FROM t")
    for name in ("counts", "different", "numbers"):
        views.ask(db, name)
    (m,), (length,) = bytes_of(db, "m"), bytes_of(db, "l")
    total = support.value(db, "SELECT sum(length(CAST(l AS BLOB))) FROM t")
    tap.ok(m > 9 * ROWS and length > total + 8 * ROWS, f"{m} and {length} bytes, for {total} of l")
    views.ask(db, "counts")
    line = [line for line in views.plan(db, "counts") if line.startswith("read the last time")]
    tap.is_equal(line[0], "read the last time: 0 bytes: all columns are resident", "they serve")
    tap.is_equal(bytes_of(db, "m"), [m], "and are there once")
    before = support.stats(db)["bytes_decoded"]
    views.ask(db, "numerals")
    after = support.stats(db)["bytes_decoded"]
    tap.is_equal(after, before, "numbers have no bytes to be read again")
    tap.ok(views.accelerated(db, "numerals"), "and are counted")
    tap.ok(support.value(db, "SELECT clreduce_evict()") > m + length, "all of it is freed")


def test_changes(db, batch, rng):
    """In a write-ahead log what has changed is read again, with its bytes."""
    support.execute(db, "PRAGMA page_size = 512", "PRAGMA journal_mode = WAL", "PRAGMA wal_autocheckpoint = 0")
    fill(db)
    selects = {
        "a": "SELECT gpu_count_distinct(s), gpu_mode(s), gpu_count_distinct(l) FROM t",
        "b": "SELECT gpu_count_distinct(state), gpu_mode(state) FROM t WHERE k % 2",
        "c": "SELECT gpu_count_distinct(n), gpu_mode(n) FROM t",
    }
    views.create_all(db, selects)
    changes = (
        "UPDATE t SET s = 'new ' || k, l = zeroblob(k % 900) WHERE k BETWEEN ?1 AND ?1 + 5",
        "UPDATE t SET state = (SELECT gpu_max_state(?1 % 9)) WHERE k = ?1",
        "DELETE FROM t WHERE k BETWEEN ?1 AND ?1 + 2",
        "INSERT INTO t(s, l, state, n) SELECT s || '!', l, state, n FROM t WHERE k < ?1 % 20",
        "UPDATE t SET n = 'no number' WHERE k = ?1",
        "UPDATE t SET n = 5 WHERE typeof(n) = 'text'",
        "UPDATE t SET l = printf('%.*c', 1 + ?1 * 100, 'y') WHERE k = ?1",
        "PRAGMA wal_checkpoint(TRUNCATE)",
    )
    refreshed = 0
    for _ in range(25 if tap.QUICK else 300):
        change = rng.choice(changes)
        marks = (rng.randrange(ROWS),) if "?1" in change else ()
        try:
            db.execute(change, marks).fetchall()
        except sqlite3.Error as error:
            batch.check(False, f"{change}: {error}")
        for name, select in selects.items():
            batch.compare(views.ask(db, name), views.outcome(db, select), f"{name} after {change} {marks}")
            batch.check(views.accelerated(db, name), f"{name}: {views.plan(db, name)[0]}")
            refreshed += "pages have changed" in views.plan(db, name)[-1]
    tap.ok(refreshed > 0, f"{refreshed} times only what had changed was read")


def test_memory(db, batch):
    """What does not fit is for SQLite; and values_memory."""
    fill(db)
    size = support.value(db, "SELECT sum(length(CAST(l AS BLOB))) FROM t")
    views.create(db, "d", "SELECT gpu_count_distinct(l) FROM t")
    for memory in (1, 20 * ROWS, size // 2, 0):
        support.configure(db, column_memory=memory)
        for _ in range(3):
            batch.compare(views.ask(db, "d"), views.outcome(db, "SELECT gpu_count_distinct(l) FROM t"), f"{memory}")
            verdict = views.plan(db, "d")[0]
            kept = sum(number for (number,) in db.execute("SELECT bytes FROM clreduce_columns"))
            batch.check(memory == 0 or kept <= memory + 100_000, f"{kept} bytes of {memory}")
            together = "row by row: the columns take more than column_memory, and a function"
            expected = "accelerated: host" if memory == 0 else together
            batch.check(verdict.startswith(expected), verdict)
    support.configure(db, values_memory=3000)
    verdict = check(db, batch, "SELECT gpu_count_distinct(s), gpu_mode(l) FROM t", 2, "values_memory")
    batch.check(verdict == "row by row: the values take more than values_memory: raise that setting", verdict)


def test_length(db, batch):
    """A value that is longer than SQLite hands out is SQLite's error."""
    if not hasattr(sqlite3.Connection, "setlimit"):
        batch.skip("this Python cannot set limits")
        return
    db.execute("CREATE TABLE long AS SELECT 1 AS a, zeroblob(1000) AS b")
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 500)
    if isinstance(views.outcome(db, "SELECT a FROM long"), Failure):
        batch.skip(f"to SQLite {sqlite3.sqlite_version} that is the limit of a row's length")
        return
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1_000_000_000)
    fill(db, rows=100)
    selects = ("SELECT gpu_count_distinct(l) FROM t", "SELECT gpu_count_distinct(s) FROM t")
    for number, select in enumerate(selects):
        views.create(db, f"v{number}", select)
        views.ask(db, f"v{number}")
    for limit in (1_000_000_000, 3000, 100, 1_000_000):
        db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max(limit, 100))
        for number, select in enumerate(selects):
            batch.compare(views.ask(db, f"v{number}"), views.outcome(db, select), f"{limit}: {select}")


def test_defaults(db, batch):
    """Rows from before a column whose default is TEXT have no bytes of it."""
    fill(db)
    support.execute(db, "ALTER TABLE t ADD COLUMN added DEFAULT 'of old'", "UPDATE t SET added = k % 5 WHERE k % 4 = 0")
    select = "SELECT gpu_count_distinct(added), gpu_mode(added), count(added) FROM t"
    check(db, batch, select, 3, "")
    batch.check("rows that were written before" in views.plan(db, "v")[-1], views.plan(db, "v")[-1])
    batch.check(views.accelerated(db, "v"), views.plan(db, "v")[0])


def test_threads(db):
    """Tables of so many rows that several threads scan them."""
    support.execute(db, "PRAGMA synchronous = OFF", "CREATE TABLE t(k INTEGER PRIMARY KEY, few, many TEXT)",
                    support.numbered("t", 150_000, "i, CASE i % 3 WHEN 0 THEN 'few ' || i % 100 WHEN 1 THEN i % 5"
                                     " ELSE zeroblob(i % 7) END, 'many ' || i * 7919 % 120011"))
    selects = (
        "SELECT gpu_count_distinct(few), gpu_mode(few) FROM t",
        "SELECT gpu_count_distinct(many), gpu_mode(many) FROM t",
        "SELECT gpu_count_distinct(many), gpu_mode(many), gpu_mode(few) FROM t WHERE k % 10 <> 3",
    )
    for memory in (0, 1_000_000):
        support.configure(db, column_memory=memory)
        batch = support.Batch(f"150,000 rows, column_memory {memory}")
        for select in selects:
            views.evict(db)
            verdict = check(db, batch, select, 2, str(memory))
            expected = "row by row" if memory else "accelerated: host"
            batch.check(expected in verdict, f"{select}: {verdict}")


def test_devices():
    """With a device its copies have no addresses: columns with bytes stay on the host."""
    for device in views.warmed():
        batch = support.Batch(f"with a device: {device}")
        db = views.connect(views.new(), device)
        fill(db)
        for select in DISTINCT[:7]:
            verdict = check(db, batch, select.format(t="t"), 8, device)
            batch.check("(n)" in select or verdict == "accelerated: host", f"{select}: {verdict}")
        check(db, batch, "SELECT count(m), count(l), gpu_sum(n) FROM t WHERE k > 9", 8, device)


views.run(globals())
