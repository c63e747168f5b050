"""Accelerated views of tables whose columns do not fit into column_memory.

Their pages are read and scanned as they pass, and nothing of them is kept. With a column_memory of
next to nothing that is so for small tables too: each page is a part of its own.
"""

import os
import sqlite3

import support
import tap
import view_support as views

ROWS = 1500 if tap.QUICK else 5000
#: A page at a time; some pages; what leaves a part of a table out.
MEMORIES = (1, 1000, 10_000, 60_000)
FORMS = [(512, 0, "DELETE"), (1024, 2, "WAL"), (4096, 1, "TRUNCATE"), (65536, 0, "WAL")]
STREAMS = "accelerated: host, streaming the table"

SELECTS = {
    "sums": "SELECT gpu_sum(a), gpu_total(b), gpu_avg(b), gpu_sum(k), count(*) FROM t",
    "extremes": "SELECT gpu_min(a), gpu_max(b), gpu_min(m), gpu_max(m), max(a), min(k) FROM t",
    "mixed": "SELECT gpu_sum(m), count(m), gpu_dot(a, m), count(s), count(n) FROM t",
    "moments": "SELECT gpu_var_samp(b), gpu_stddev_pop(a), gpu_corr(a, b), gpu_regr_r2(b, m),"
    " gpu_covar_samp(m, a), gpu_norm(b) FROM t",
    "states": "SELECT gpu_sum_state(b), gpu_corr_state(a, b), gpu_max_state(m) FROM t",
    "filtered": "SELECT gpu_sum(a * b), count(*) FILTER (WHERE m IS NULL), sum(k) FROM t"
    " WHERE a % 3 = 1 AND b > :least OR m BETWEEN 5 AND 20",
    "added": "SELECT gpu_sum(later), gpu_max(later), gpu_sum(late), count(late) FROM t",
    "none": "SELECT gpu_sum(a), count(*), gpu_min(b), gpu_total(b) FROM t WHERE k * 2 < 0",
    "rowids": "SELECT gpu_sum(rowid), gpu_max(_rowid_) FROM t WHERE b < 99",
    "counts": "SELECT count(*) FROM t",
}
PARAMETERS = {"filtered": (50.5,)}

#: SELECTs that meet what only SQLite knows: it runs them.
UNSURE = {
    "texts": "SELECT gpu_sum(s) FROM t",
    "compared": "SELECT count(*) FROM t WHERE s > 5",
    "overflow": "SELECT gpu_sum(a * 9000000000000000000), gpu_sum(abs(x)) FROM t",
}

#: SELECTs that need all values of a column together.
TOGETHER = {
    "median": "SELECT gpu_median(a), gpu_sum(a) FROM t",
    "counted": "SELECT gpu_count_distinct(m), gpu_percentile_disc(b, 0.3) FROM t WHERE k > 9",
}


def fill(db, rows=ROWS, table="t"):
    """A table with a column of each type, some in long rows, some rows without the last columns."""
    support.execute(db, "PRAGMA synchronous = OFF", f"CREATE TABLE {table}(k INTEGER PRIMARY KEY, a INT, b REAL, s, m, n, x INT)")
    into, before = f"{table}(k, a, b, s, m, x)", rows * 2 // 3
    values = (
        "i, i * 7919 % 2003 - 999, i * 37 % 1009 / 7.0 + (i % 13) * 1e15,"
        " CASE i % 11 WHEN 0 THEN zeroblob(i * 31 % 6000) ELSE 'text ' || i END,"
        " CASE i / 300 % 4 WHEN 0 THEN i % 90 WHEN 1 THEN i * 0.5 WHEN 2 THEN NULL"
        " ELSE CASE i % 3 WHEN 0 THEN i WHEN 1 THEN i * 0.25 END END,"
        f" CASE WHEN i IN ({before}, {rows}) THEN -9223372036854775808 ELSE i END"
    )
    support.execute(db, "BEGIN", support.numbered(into, before, values),
                    f"ALTER TABLE {table} ADD COLUMN later INT DEFAULT 7", f"ALTER TABLE {table} ADD COLUMN late REAL",
                    support.numbered(into, rows - before, values, before + 1),
                    f"UPDATE {table} SET later = k, late = k WHERE k % 10 = 3",
                    f"DELETE FROM {table} WHERE k % 17 = 5", "COMMIT")


def check(db, batch, name, select, what):
    """Compares a view with its SELECT."""
    parameters = PARAMETERS.get(name, ())
    want = views.outcome(db, select, parameters)
    got = views.ask(db, name, parameters)
    return batch.compare(got, want, f"{what}, {name}: {select}")


def streamed(db):
    """How many scans were streams."""
    return support.stats(db)["scans_streamed"]


def kept(db):
    """The columns that are kept."""
    return [name for (name,) in db.execute('SELECT "column" FROM clreduce_columns ORDER BY 1')]


def test_forms():
    """All SELECTs over tables in all forms, in little memory, streamed or run by SQLite."""
    for page_size, auto_vacuum, mode in FORMS:
        batch = support.Batch(f"streams of pages of {page_size}, {auto_vacuum}, {mode}")
        db = views.connect(views.new())
        support.execute(db, f"PRAGMA page_size = {page_size}", f"PRAGMA auto_vacuum = {auto_vacuum}",
                        f"PRAGMA journal_mode = {mode}")
        fill(db)
        for name, select in {**SELECTS, **UNSURE, **TOGETHER}.items():
            batch.check(views.create(db, name, select) is None, name)
        for memory in MEMORIES:
            support.configure(db, column_memory=memory)
            for name, select in SELECTS.items():
                before = streamed(db)
                check(db, batch, name, select, f"{memory} bytes")
                verdict = views.plan(db, name)[0]
                batch.check(verdict.startswith("accelerated"), f"{memory} bytes, {name}: {verdict}")
                fits = "streaming" not in verdict
                batch.compare(streamed(db) - before, 1 - fits, f"{memory} bytes, {name}: counted")
                # To count rows takes no column.
                may_fit = memory == MEMORIES[-1] or name == "counts"
                batch.check(not fits or may_fit, f"{memory} bytes, {name}: streamed")
                batch.check(fits or not kept(db), f"{memory} bytes, {name}: {kept(db)} are kept")
                db.execute("SELECT clreduce_evict()")
            for name, select in UNSURE.items():
                check(db, batch, name, select, f"{memory} bytes")
                verdict = views.plan(db, name)[0]
                # A column that has text is asked for its different values.
                told = "so do the different values of text" if memory == MEMORIES[-1] and name != "overflow" else "some row has a value"
                batch.check(verdict.startswith("row by row: ") and told in verdict, f"{memory} bytes, {name}: {verdict}")
            for name, select in TOGETHER.items():
                check(db, batch, name, select, f"{memory} bytes")
                verdict = views.plan(db, name)[0]
                expected = "all values together" in verdict or memory == MEMORIES[-1]
                batch.check(expected, f"{memory} bytes, {name}: {verdict}")


def test_told(path):
    """What the plan and the statistics say of streams, and how many bytes they read."""
    db = views.connect(path)
    fill(db, rows=20_000)
    size = os.path.getsize(path)
    support.configure(db, column_memory=40_000)
    views.create(db, "v", "SELECT gpu_sum(a), gpu_sum(b) FROM t")
    want = views.outcome(db, "SELECT gpu_sum(a), gpu_sum(b) FROM t")
    rows = support.value(db, "SELECT count(*) FROM t")
    leaves = support.value(db, "SELECT sum(pgsize) FROM dbstat WHERE name = 't'")
    leaves = leaves if isinstance(leaves, int) else size
    for turn in range(3):
        before = support.stats(db)
        tap.is_equal(views.ask(db, "v"), want, f"turn {turn}: the answer")
        after = support.stats(db)
        count = after["bytes_decoded"] - before["bytes_decoded"]
        tap.is_equal(
            views.plan(db, "v"),
            [
                STREAMS,
                f"table main.t, {rows} rows when last read",
                "column a: not resident",
                "column b: not resident",
                f"read the last time: {count} bytes: the columns take more than column_memory",
            ],
            f"turn {turn}: the plan",
        )
        tap.is_equal(
            [after[name] - before[name] for name in ("scans_streamed", "scans_on_host")],
            [1, 1],
            f"turn {turn}: both count it",
        )
        # The first turn finds out, with a part of the table, that it does not fit.
        tap.ok(count < 1.3 * size, f"turn {turn}: {count} bytes of {size} were read")
        tap.ok(turn == 0 or count <= leaves * 1.02, f"turn {turn}: {count} bytes of {leaves}")
    tap.is_equal(kept(db), [], "nothing is kept")


@tap.each("DELETE", "WAL")
def test_changes(path, mode):
    """Tables that outgrow the memory and fit again, and settings that change, between two asks."""
    db, other = views.connect(path, journal_mode=mode), sqlite3.connect(path, isolation_level=None)
    fill(db, rows=600)
    other.execute("PRAGMA synchronous = OFF")
    batch = support.Batch(f"tables that stream at times, {mode}")
    select = SELECTS["filtered"]
    views.create(db, "filtered", select)
    support.configure(db, column_memory=9 * 5 * 1000)

    def ask(what, *verdicts):
        for verdict in verdicts:
            check(db, batch, "filtered", select, what)
            got = views.plan(db, "filtered")[0]
            batch.check(verdict in got, f"{what}: {got}, expected {verdict!r}")

    more = "INSERT INTO t(a, b, m) SELECT a, b, m FROM t"
    ask("few rows", "accelerated: host", "accelerated: host")
    batch.compare(kept(db), ["a", "b", "k", "m"], "the columns are kept")
    for connection in (db, other):
        connection.execute(more)
        ask("more rows", STREAMS, STREAMS)
        batch.compare(kept(db), [], "nothing is kept")
        connection.execute(more)
        ask("still more rows", STREAMS)
        connection.execute("DELETE FROM t WHERE k > 600")
        # The first one learns that the table is small again.
        ask("few rows again", STREAMS, "accelerated: host")
        batch.compare(kept(db), ["a", "b", "k", "m"], "the columns are kept again")
    support.configure(db, column_memory=1)
    ask("resident, but the memory is less", "accelerated: host")
    db.execute("UPDATE t SET b = b + 1 WHERE k % 4 = 0")
    ask("next to no memory", STREAMS, STREAMS)
    support.execute(db, "BEGIN", "UPDATE t SET a = a + 1")
    ask("uncommitted changes", "row by row")
    db.execute("ROLLBACK")
    ask("rolled back", STREAMS)
    support.configure(db, view_threshold=601)
    ask("below view_threshold", "row by row: the table has")
    support.configure(db, view_threshold=0)
    ask("above it", STREAMS)
    other.execute("DELETE FROM t")
    ask("no rows", "row by row: the table is empty", "row by row: the table is empty")
    other.execute("INSERT INTO t(a, b, m) VALUES (1, 60, 3), (4, 70, 8), (7, 80, 10)")
    ask("three rows", STREAMS)
    support.configure(db, column_memory=0)
    ask("memory enough", "accelerated: host")
    batch.compare(kept(db), ["a", "b", "k", "m"], "the columns are kept in the end")


def test_others_stay(db, batch):
    """A stream leaves other tables' columns where they are, but for the room that it needs."""
    # Sets of pages of databases that were closed a moment ago count as well.
    support.value(db, "SELECT clreduce_evict()")
    fill(db, rows=4000)
    for name in ("small", "smaller"):
        fill(db, rows=400, table=name)
        views.create(db, f"v_{name}", f"SELECT gpu_sum(k), gpu_sum(x) FROM {name}")
    support.configure(db, column_memory=30_000)
    views.create(db, "sums", SELECTS["sums"])
    for name in ("small", "smaller"):
        views.ask(db, f"v_{name}")
    batch.compare(len(kept(db)), 4, "columns of two small tables")
    check(db, batch, "sums", SELECTS["sums"], "beside them")
    batch.compare(views.plan(db, "sums")[0], STREAMS, "the large one")
    batch.compare(len(kept(db)), 4, "columns stay")
    size = support.value(db, "SELECT sum(bytes) FROM clreduce_columns")
    support.configure(db, column_memory=size * 15 // 8)
    check(db, batch, "sums", SELECTS["sums"], "with less room")
    batch.compare(len(kept(db)), 3, "the one whose use is longest ago has gone")


#: The most memory that a query takes, after an earlier one has made what stays.
MEASURE = """
import view_support as views
def peak():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
def reset():
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
db = views.connect({path!r})
support.configure(db, column_memory={memory})
views.create(db, "v", {select!r})
views.ask(db, "v")
views.evict(db)
reset()
before = peak()
views.ask(db, "v")
print(peak() - before, views.plan(db, "v")[0])
"""


def test_memory():
    """A table of some 40 MB of columns in 4 MB, and how much there is at most."""
    if tap.SANITIZED or not os.access("/proc/self/clear_refs", os.W_OK):
        tap.skip(2, "the most memory in use cannot be told here")
        return
    path, rows = views.new(), 600_000
    db = views.connect(path)
    columns = [f"c{i}" for i in range(8)]
    support.execute(db, "PRAGMA synchronous = OFF", f"CREATE TABLE t({', '.join(columns)})",
                    support.numbered("t", rows, ", ".join(f"(i * {i + 3} % 1001) << 32" for i in range(8))))
    db.close()
    select = f"SELECT {', '.join(f'gpu_sum({name})' for name in columns)} FROM t"
    # Beside the columns: each thread's pages, its sums, and what the C library keeps for it.
    allowed = 4096 + 8192 + 1024 * (os.cpu_count() or 1)
    for memory, streams in ((0, False), (4 << 20, True)):
        code = MEASURE.format(path=path, memory=memory, select=select)
        done = support.child(code)
        tap.diag(f"column_memory {memory}: {done.stdout.strip()} {done.stderr[-500:]}")
        taken, verdict = done.stdout.strip().split(" ", 1)
        if streams:
            fine = verdict == STREAMS and int(taken) <= allowed
        else:
            fine = verdict == "accelerated: host" and int(taken) >= rows * 8 * 8 // 1024
        tap.ok(fine, f"column_memory {memory}: {taken} KiB, {verdict}")


views.run(globals())
