"""Accelerated views of functions that take TEXT and BLOBs: merges of states, and distinct values.

Columns that they need have the bytes of TEXT and BLOBs. In every form in which a table is stored
the view gives what its SELECT gives, errors of what is no state included (clause 1 of view.h), and
the plan says that it was accelerated.
"""

import sqlite3

import statistics_reference as statistics
import support
import tap
import view_support as views
from reference import Failure

ROWS = 200 if tap.QUICK else 1500
FOLDER = views.Folder()
FUNCTIONS = support.FUNCTIONS + statistics.FUNCTIONS + ("gpu_histogram",)

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
    "SELECT gpu_sum_merge(gpu_sum) FROM {t} WHERE s > 5",
)

#: Those that take no bytes, so that TEXT may be in UTF-16: numbers, and TEXT that a dictionary has.
IN_UTF16 = (DISTINCT[0], DISTINCT[6], DISTINCT[8], DISTINCT[9])

#: What SQLite reports an error for, or computes otherwise, if there is TEXT or a BLOB.
OTHERS = (
    "SELECT gpu_count_distinct(m), gpu_median(m) FROM {t}",
    "SELECT gpu_count_distinct(m), gpu_histogram(m, 0, 9, 3) FROM {t}",
    "SELECT gpu_count_distinct(m), gpu_sum(m) FROM {t}",
    "SELECT gpu_count_distinct(coalesce(m, 1)), gpu_mode(+s) FROM {t}",
    "SELECT gpu_sum_merge(s) FROM {t}",
    "SELECT gpu_max_merge(k) FROM {t}",
    "SELECT gpu_sum_merge(coalesce(gpu_sum, gpu_sum)), gpu_min_merge(+gpu_min) FROM {t}",
    "SELECT gpu_sum_merge(gpu_min) FROM {t}",
)


def state_call(function):
    """The state of some rows of a table n(part, x, y)."""
    if function == "gpu_histogram":
        return "gpu_histogram_state(x, -100, 100.5, 900)"
    if function in statistics.FUNCTIONS:
        text = statistics.call(function, "y", "x")
    elif function in ("gpu_min", "gpu_max"):  # any type, and extremes of all lengths
        other = "CASE part % 40 WHEN 1 THEN 't' || y WHEN 2 THEN zeroblob(part) ELSE y END"
        text = f"{function}({other})"
    else:
        text = support.call(function, "x", "y")
    return text.replace("(", "_state(", 1)


def fill(db, table="t", options="", rows=ROWS):
    """A table with states of each function, one in some rows of none, and values of all kinds."""
    db.execute("PRAGMA synchronous = OFF")
    db.execute("CREATE TEMP TABLE IF NOT EXISTS n(part INT, x, y)")
    db.execute("DELETE FROM n")
    names = ", ".join(FUNCTIONS)
    db.execute(
        f"CREATE TABLE {table}(k INTEGER PRIMARY KEY, s TEXT, m, l, one, n, {names}) {options}"
    )
    db.execute("BEGIN")
    db.execute(
        "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < ?)"
        " INSERT INTO n SELECT i % ?,"
        " CASE i % 7 WHEN 0 THEN i % 91 - 45 ELSE i % 1009 / 7.0 - 60 END,"
        " CASE i % 11 WHEN 3 THEN NULL WHEN 5 THEN 1e300 * (i % 3 - 1) ELSE i * 0.37 END FROM r",
        (rows * 5, rows),
    )
    states = ", ".join(
        f"CASE WHEN part % 13 = {number % 13} THEN NULL WHEN part % 31 = {number} "
        f"THEN {state_call(name)} FILTER (WHERE 0) ELSE {state_call(name)} END"
        for number, name in enumerate(FUNCTIONS)
    )
    db.execute(
        f"INSERT INTO {table} SELECT part, 'text ' || part * 7919 % 211,"
        " CASE part % 5 WHEN 0 THEN part % 20 WHEN 1 THEN part % 20 * 1.0 WHEN 2 THEN NULL"
        "   WHEN 3 THEN 'v' || part % 20 ELSE CAST('v' || part % 20 AS BLOB) END,"
        " CASE part % 9 WHEN 0 THEN printf('%.*c', part * 31 % 9000, 'x') WHEN 1 THEN ''"
        "   ELSE zeroblob(part * 17 % 300) END,"
        f" x'', part * 31 % 97, {states} FROM n GROUP BY part"
    )
    db.execute("COMMIT")


def merges(table):
    """SELECTs for each function."""
    nothing = f"{table} WHERE k * 2 < 0"
    for name in FUNCTIONS:
        yield (
            f"SELECT {name}_merge({name}), {name}_state_merge({name}), count({name}),"
            f" {name}_merge({name}) FILTER (WHERE k % 3 = 1) FROM {table}"
        )
        yield f"SELECT {name}_state_merge({name}) FROM {table} WHERE k BETWEEN 5 AND 300 AND n <> 7"
    yield f"SELECT gpu_avg_merge(gpu_sum), gpu_total_merge(gpu_sum), gpu_sum(n) FROM {table}"
    yield f"SELECT gpu_corr_merge(gpu_regr_r2), gpu_norm_merge(gpu_var_pop) * 2 FROM {table}"
    yield f"SELECT gpu_sum_merge(gpu_sum), gpu_total_merge(gpu_sum) FROM {nothing}"
    yield f"SELECT gpu_histogram_state_merge(gpu_histogram), gpu_min_merge(gpu_min) FROM {nothing}"


def merges_by_group(table):
    """The same by groups: of few, of many, and of none with a state."""
    for name in FUNCTIONS:
        yield (
            f"SELECT n % 7, {name}_merge({name}), {name}_state_merge({name}) FILTER (WHERE k % 3 = 1),"
            f" count(*) FROM {table} GROUP BY n % 7 ORDER BY 1"
        )
    names = [f"{name}_state_merge({name})" for name in FUNCTIONS]
    yield f"SELECT k / 2, {', '.join(names)} FROM {table} GROUP BY k / 2 ORDER BY k / 2"
    yield (
        f"SELECT s, gpu_avg_merge(gpu_sum), gpu_corr_merge(gpu_corr) * 2, gpu_max_merge(gpu_max), gpu_median(n)"
        f" FROM {table} WHERE k > 3 GROUP BY s HAVING gpu_avg_merge(gpu_sum) IS NOT NULL ORDER BY s DESC"
    )
    yield f"SELECT k, gpu_sum_merge(gpu_sum) FROM {table} WHERE gpu_sum IS NULL GROUP BY k ORDER BY k"


def check(db, batch, select, times, what, name="v"):
    """Makes a view of the SELECT and compares the two so many times; gives the plan's beginning."""
    problem = views.create(db, name, select)
    want = views.comparable(views.outcome(db, select))
    for _ in range(times):
        got = views.comparable(problem or views.ask(db, name))
        batch.compare(got, want, f"{what}: {select}")
    return views.plan(db, name)[0]


def test_forms():
    """Everything in all forms of storage."""
    for name, before, table, options, times in FORMS:
        db = views.connect(FOLDER.new())
        db.executescript(before)
        fill(db, table, options)
        batch = support.Batch(f"states in {name}")
        for select in merges(table):
            verdict = check(db, batch, select, times + 1, name)
            expected = "streaming" if "streams" in name else "accelerated: host"
            batch.check(expected in verdict, f"{select}: {verdict}")
        for select in merges_by_group(table):
            verdict = check(db, batch, select, times + 1, name)
            batch.check("streams" in name or "accelerated: host" in verdict, f"{select}: {verdict}")
        batch.end()
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
        batch.end()
        db.close()


def bad_states(db):
    """What is no state, or not one of every function, by what is wrong with it."""
    first = "SELECT {0} FROM t WHERE {0} NOTNULL LIMIT 1"
    good = {name: support.value(db, first.format(name)) for name in FUNCTIONS}
    most = b"\xff\xff\xff\xff\xff\xff\xff\xff\x3f"
    bad = {
        "an INTEGER": 7,
        "a REAL": 0.5,
        "TEXT": "cr\x01\x01\x00\x00\x00",
        "an empty BLOB": b"",
        "a beginning": b"cr",
        "no state": b"gpu_sum",
        "a newer one": b"cr\x02\x01\x00",
        "too many rows": b"cr\x01\x01" + most + b"\x00\x00",
        "as many rows as there may be": b"cr\x01\x01\x80\x80\x80\x80\x80\x80\x80\x80\x40\x00\x00",
        "other bounds": support.value(db, "SELECT gpu_histogram_state(1, -100, 100, 900)"),
        "other bins": support.value(db, "SELECT gpu_histogram_state(1, -100, 100.5, 899)"),
        "many bins": support.value(db, "SELECT gpu_histogram_state(1, 0, 1, 1000000)"),
    }
    for name, state in good.items():
        bad[f"{name}'s"] = state
        bad[f"{name}'s, cut"] = state[:-1]
        bad[f"{name}'s, and more"] = state + b"\x00"
        bad[f"{name}'s, changed"] = state[:5] + bytes([state[5] ^ 0x41]) + state[6:]
    return bad


def test_errors():
    """One row that is no state of the function: the same error; none if the row does not count."""
    db = views.connect(FOLDER.new())
    fill(db, rows=200)
    for name in FUNCTIONS:
        views.create(db, name, f"SELECT {name}_merge({name}) FROM t")
        views.create(db, f"{name}_3", f"SELECT k % 3, {name}_merge({name}) FROM t GROUP BY 1")
        views.create(db, f"{name}_2", f"SELECT {name}_state_merge({name}) FROM t WHERE k <> 100")
    failures = 0
    for what, state in list(bad_states(db).items())[:: 3 if tap.QUICK else 1]:
        batch = support.Batch(f"merged with {what}")
        sets = ", ".join(f"{name} = ?1" for name in FUNCTIONS)
        db.execute(f"UPDATE t SET {sets} WHERE k = 100", (state,))
        for name in FUNCTIONS:
            want = views.outcome(db, f"SELECT {name}_merge({name}) FROM t")
            failures += isinstance(want, Failure)
            got = views.ask(db, name)
            batch.compare(views.comparable(got), views.comparable(want), name)
            done = views.accelerated(db, name)
            told = views.plan(db, name)[0]
            batch.compare(done, not isinstance(want, Failure), f"{name}: {told}")
            want = views.outcome(db, f"SELECT k % 3, {name}_merge({name}) FROM t GROUP BY 1")
            got = views.ask(db, f"{name}_3")
            batch.compare(views.comparable(got), views.comparable(want), f"{name}: by group")
            done = views.accelerated(db, f"{name}_3")
            batch.compare(done, not isinstance(want, Failure), f"{name}: by group")
            want = views.outcome(db, f"SELECT {name}_state_merge({name}) FROM t WHERE k <> 100")
            got = views.ask(db, f"{name}_2")
            batch.compare(views.comparable(got), views.comparable(want), f"{name}: filtered")
            batch.check(views.accelerated(db, f"{name}_2"), f"{name}: filtered")
        batch.end()
    tap.ok(failures > 500, f"{failures} errors")
    db.close()


def bytes_of(db, column):
    """What is kept of a column, in bytes; each column is there once."""
    rows = db.execute('SELECT bytes FROM clreduce_columns WHERE "column" = ?', (column,)).fetchall()
    return [number for (number,) in rows]


def test_kept():
    """A column with bytes serves all, and takes the place of one without; its size is told."""
    db = views.connect(FOLDER.new())
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
    db.close()


def test_changes(rng):
    """In a write-ahead log what has changed is read again, with its bytes."""
    batch = support.Batch("changes of pages with TEXT and BLOBs")
    db = views.connect(FOLDER.new())
    db.execute("PRAGMA page_size = 512")
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA wal_autocheckpoint = 0")
    fill(db)
    selects = {
        "a": "SELECT gpu_count_distinct(s), gpu_mode(s), gpu_count_distinct(l) FROM t",
        "b": "SELECT gpu_sum_merge(gpu_sum), gpu_max_state_merge(gpu_max) FROM t WHERE k % 2",
        "c": "SELECT gpu_count_distinct(n), gpu_mode(n) FROM t",
    }
    for name, select in selects.items():
        views.create(db, name, select)
    changes = (
        "UPDATE t SET s = 'new ' || k, l = zeroblob(k % 900) WHERE k BETWEEN ?1 AND ?1 + 5",
        "UPDATE t SET gpu_sum = gpu_avg, gpu_max = (SELECT gpu_max_state(1)) WHERE k = ?1",
        "DELETE FROM t WHERE k BETWEEN ?1 AND ?1 + 2",
        "INSERT INTO t(s, l, gpu_sum, n) SELECT s || '!', l, gpu_sum, n FROM t WHERE k < ?1 % 20",
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
            want = views.comparable(views.outcome(db, select))
            got = views.comparable(views.ask(db, name))
            batch.compare(got, want, f"{name} after {change} {marks}")
            batch.check(views.accelerated(db, name), f"{name}: {views.plan(db, name)[0]}")
            refreshed += "pages have changed" in views.plan(db, name)[-1]
    batch.end()
    tap.ok(refreshed > 0, f"{refreshed} times only what had changed was read")
    db.close()


def test_memory():
    """What does not fit: different values are for SQLite, states stream; and values_memory."""
    db = views.connect(FOLDER.new())
    fill(db)
    size = support.value(db, "SELECT sum(length(CAST(l AS BLOB))) FROM t")
    views.create(db, "d", "SELECT gpu_count_distinct(l) FROM t")
    views.create(db, "m", "SELECT gpu_histogram_merge(gpu_histogram), gpu_sum(n) FROM t")
    batch = support.Batch("in little memory")
    for memory in (1, 20 * ROWS, size // 2, 0):
        support.configure(db, column_memory=memory)
        for _ in range(3):
            for name, select in (
                ("d", "SELECT gpu_count_distinct(l) FROM t"),
                ("m", "SELECT gpu_histogram_merge(gpu_histogram), gpu_sum(n) FROM t"),
            ):
                want = views.comparable(views.outcome(db, select))
                batch.compare(views.comparable(views.ask(db, name)), want, f"{memory}: {name}")
            plans = [views.plan(db, name)[0] for name in "dm"]
            kept = sum(number for (number,) in db.execute("SELECT bytes FROM clreduce_columns"))
            batch.check(memory == 0 or kept <= memory + 100_000, f"{kept} bytes of {memory}")
            together = "row by row: the columns take more than column_memory, and a function"
            expected = "accelerated: host" if memory == 0 else together
            batch.check(plans[0].startswith(expected), plans[0])
            streams = memory in (1, 20 * ROWS)
            batch.check(not streams or plans[1].endswith("streaming the table"), plans[1])
            batch.check(memory != 0 or plans[1] == "accelerated: host", plans[1])
    support.configure(db, values_memory=3000)
    for select in (
        "SELECT gpu_count_distinct(s), gpu_mode(l) FROM t",
        "SELECT gpu_histogram_merge(gpu_histogram) FROM t",
    ):
        verdict = check(db, batch, select, 2, "values_memory")
        batch.check(verdict == "row by row: the values take more than values_memory: raise that setting", verdict)
    batch.end()
    db.close()


def test_length():
    """A value that is longer than SQLite hands out is SQLite's error."""
    db = views.connect(FOLDER.new())
    db.execute("CREATE TABLE long AS SELECT 1 AS a, zeroblob(1000) AS b")
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 500)
    if isinstance(views.outcome(db, "SELECT a FROM long"), Failure):
        tap.skip(1, f"to SQLite {sqlite3.sqlite_version} that is the limit of a row's length")
        return
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1_000_000_000)
    fill(db, rows=100)
    selects = (
        "SELECT gpu_count_distinct(l) FROM t",
        "SELECT gpu_count_distinct(s) FROM t",
        "SELECT gpu_histogram_state_merge(gpu_histogram) FROM t",
    )
    for number, select in enumerate(selects):
        views.create(db, f"v{number}", select)
        views.ask(db, f"v{number}")
    batch = support.Batch("limits of a value's length")
    for limit in (1_000_000_000, 3000, 100, 1_000_000):
        db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max(limit, 100))
        for number, select in enumerate(selects):
            want = views.comparable(views.outcome(db, select))
            batch.compare(views.comparable(views.ask(db, f"v{number}")), want, f"{limit}: {select}")
    batch.end()
    db.close()


def test_defaults():
    """Rows from before a column whose default is TEXT have no bytes of it."""
    batch = support.Batch("a default that is TEXT")
    db = views.connect(FOLDER.new())
    fill(db)
    db.execute("ALTER TABLE t ADD COLUMN added DEFAULT 'of old'")
    db.execute("UPDATE t SET added = k % 5 WHERE k % 4 = 0")
    select = "SELECT gpu_count_distinct(added), gpu_mode(added), count(added) FROM t"
    check(db, batch, select, 3, "")
    batch.check("rows that were written before" in views.plan(db, "v")[-1], views.plan(db, "v")[-1])
    batch.check(views.accelerated(db, "v"), views.plan(db, "v")[0])
    batch.end()
    db.close()


def test_threads():
    """Tables of so many rows that several threads scan them."""
    db = views.connect(FOLDER.new())
    db.execute("PRAGMA synchronous = OFF")
    db.execute("CREATE TABLE t(k INTEGER PRIMARY KEY, few, many TEXT, s, h, m)")
    db.execute(
        "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < ?)"
        " INSERT INTO t SELECT i, CASE i % 3 WHEN 0 THEN 'few ' || i % 100 WHEN 1 THEN i % 5"
        " ELSE zeroblob(i % 7) END, 'many ' || i * 7919 % 120011, gpu_sum_state(i * 0.37),"
        " gpu_histogram_state(i % 50, 0, 40, 4), gpu_max_state(i * 31 % 1009 || 'th')"
        " FROM r GROUP BY i",
        (150_000,),
    )
    selects = (
        "SELECT gpu_count_distinct(few), gpu_mode(few) FROM t",
        "SELECT gpu_count_distinct(many), gpu_mode(many) FROM t",
        "SELECT gpu_count_distinct(many), gpu_mode(many), gpu_mode(few) FROM t WHERE k % 10 <> 3",
        "SELECT gpu_sum_merge(s), gpu_sum_state_merge(s), gpu_histogram_merge(h) FROM t",
        "SELECT gpu_max_merge(m), gpu_avg_merge(s) FILTER (WHERE k % 3) FROM t WHERE k > 1000",
    )
    for memory in (0, 1_000_000):
        support.configure(db, column_memory=memory)
        batch = support.Batch(f"150,000 rows, column_memory {memory}")
        for select in selects:
            views.evict(db)
            verdict = check(db, batch, select, 2, str(memory))
            streams = memory != 0 and "merge" in select
            expected = "streaming" if streams else "row by row" if memory else "accelerated: host"
            batch.check(expected in verdict, f"{select}: {verdict}")
        batch.end()
    support.configure(db, column_memory=0)
    batch = support.Batch("150,000 rows, of which one is none of the function's")
    for state in (b"", 5, support.value(db, "SELECT gpu_histogram_state(5, 0, 41, 4)")):
        db.execute("UPDATE t SET s = ?1, h = ?1, m = ?1 WHERE k = 149999", (state,))
        for select in ("SELECT gpu_sum_merge(s) FROM t", "SELECT gpu_histogram_merge(h) FROM t"):
            verdict = check(db, batch, select, 1, repr(state))
            batch.check(verdict.startswith("row by row"), verdict)
    batch.end()
    db.close()


def test_devices():
    """With a device its copies have no addresses: columns with bytes stay on the host."""
    for device in views.devices()[1:]:
        batch = support.Batch(f"with a device: {device}")
        started = views.warm(device)
        db = views.connect(FOLDER.new(), device)
        fill(db)
        for select in DISTINCT[:7]:
            verdict = check(db, batch, select.format(t="t"), 8, device)
            batch.check("(n)" in select or verdict == "accelerated: host", f"{select}: {verdict}")
        check(db, batch, "SELECT count(m), count(l), gpu_sum(n) FROM t WHERE k > 9", 8, device)
        check(db, batch, "SELECT gpu_sum_merge(gpu_sum), gpu_sum(n) FROM t", 8, device)
        batch.end()
        db.close()
        started.close()


def main():
    rng = support.seed()
    test_forms()
    test_errors()
    test_kept()
    test_changes(rng)
    test_memory()
    if hasattr(sqlite3.Connection, "setlimit"):
        test_length()
    else:
        tap.skip(1, "this Python cannot set limits")
    test_defaults()
    test_threads()
    test_devices()
    tap.done()


main()
