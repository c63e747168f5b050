"""Accelerated views follow their database: never stale, never torn (clause 3 of view.h).

After whatever happens to a database, every view gives what its SELECT gives. Views are asked twice
before, so that the columns are held in memory if they ever are.
"""

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys

import support
import tap
import view_support as views

ROWS = 600

SELECTS = {
    "whole": "SELECT gpu_sum(a), gpu_total(b), count(*) FROM t",
    "part": "SELECT gpu_sum(a), max(b), gpu_min(b), avg(a) FROM t WHERE a > :least",
    "ids": "SELECT gpu_sum(rowid), count(b) FROM t WHERE b < 100.5",
}
PARAMETERS = {"part": (10,)}
FILL = support.numbered("{table}", "{rows}", "i * {factor}, i * 0.25, 'padding ' || i")
TABLE = "CREATE TABLE {table}(a INT, b REAL, c TEXT)"


def fill(db, table="t", factor=1, rows=ROWS):
    """A new table with rows. Nothing here depends on what the disk has when the power fails."""
    support.execute(db, "PRAGMA synchronous = OFF", TABLE.format(table=table),
                    FILL.format(table=table, factor=factor, rows=rows))


class Watch(views.Watch):
    """Each view is asked twice after each step."""

    def __init__(self, db, label, selects=SELECTS):
        super().__init__(db, f"fresh: {label}", selects, PARAMETERS)
        self.check("at first")

    def check(self, step):
        """Compares all views."""
        for name in self.selects:
            self.ask(name, step)
            self.ask(name, f"{step}, again")

    def run(self, sql, db=None):
        """Runs a statement, here or on another connection, and compares what views give."""
        (db or self.db).execute(sql).fetchall()
        self.check(sql if db is None else f"elsewhere: {sql}")


def by_another_process(path, sql):
    """Runs SQL in a process that knows nothing of the extension."""
    code = "import sqlite3, sys; d = sqlite3.connect(sys.argv[1], isolation_level=None);"
    code += " d.executescript(sys.argv[2]); d.close()"
    subprocess.run([sys.executable, "-c", code, path, sql], check=True, timeout=60)


OWN_CHANGES = [
    "UPDATE t SET a = a + 1",
    "UPDATE t SET b = -b WHERE rowid = 300",
    "DELETE FROM t WHERE rowid % 7 = 0",
    "INSERT INTO t SELECT a + 1000, b, c FROM t WHERE a < 50",
    "BEGIN",
    "UPDATE t SET a = a + 5 WHERE rowid < 10",
    "SAVEPOINT one",
    "DELETE FROM t WHERE rowid > 20",
    "SAVEPOINT two",
    "UPDATE t SET b = 1e308 WHERE rowid < 3",
    "ROLLBACK TO two",
    "ROLLBACK TO one",
    "RELEASE one",
    "COMMIT",
    "BEGIN IMMEDIATE",
    "UPDATE t SET a = 7",
    "ROLLBACK",
    "SAVEPOINT outermost",
    "DELETE FROM t",
    "ROLLBACK TO outermost",
    "RELEASE outermost",
    "BEGIN",
    "PRAGMA cache_size = 2",
    "UPDATE t SET c = c || ' and so much more text that pages have to leave the cache'",
    "UPDATE t SET a = a * 2",
    "ROLLBACK",
    "PRAGMA cache_size = -2000",
    "DELETE FROM t",
    FILL.format(table="t", factor=3, rows=ROWS),
    "ALTER TABLE t ADD COLUMN d INT DEFAULT 5",
    "UPDATE t SET d = a WHERE rowid % 2",
    "ALTER TABLE t RENAME COLUMN d TO e",
    "ALTER TABLE t DROP COLUMN c",
    "VACUUM",
    "CREATE INDEX t_a ON t(a)",
    "DROP INDEX t_a",
    "REINDEX",
    "ANALYZE",
    "BEGIN",
    "DROP TABLE t",
    TABLE.format(table="t"),
    FILL.format(table="t", factor=2, rows=50),
    "ROLLBACK",
    "DROP TABLE t",
    "CREATE TABLE t(b TEXT, a REAL, c)",
    "INSERT INTO t VALUES ('12', 4, NULL), ('x', 2.5, 1), (NULL, 1e999, 2)",
    "DROP TABLE t",
    "CREATE VIEW t AS SELECT 1 AS a, 2.5 AS b, 3 AS rowid",
    "DROP VIEW t",
    "CREATE TABLE t(a INT, b REAL, c TEXT, PRIMARY KEY (a DESC)) WITHOUT ROWID",
    "INSERT INTO t VALUES (1, 2, 'x'), (30, 40.5, 'y')",
    "DROP TABLE t",
    "CREATE TABLE t(a INTEGER PRIMARY KEY, b REAL AS (a * 0.5) VIRTUAL, c INT AS (a) STORED)",
    "INSERT INTO t(a) VALUES (5), (20), (-3)",
]


def check_own(mode, path):
    """What the connection itself does, in each journal mode."""
    db = views.connect(path, keep_answers="on", journal_mode=mode)
    fill(db)
    watch = Watch(db, f"own changes, {mode}, {os.path.basename(path)[:20] or 'temporary'}")
    for sql in OWN_CHANGES:
        watch.run(sql)
    db.close()


MODES = ("DELETE", "TRUNCATE", "PERSIST", "MEMORY", "OFF", "WAL")


@tap.each(*MODES)
def test_own(path, mode):
    """In a file."""
    check_own(mode, path)


ELSEWHERE = [
    "UPDATE t SET a = a + 1 WHERE rowid = 17",
    "UPDATE t SET a = a - 1 WHERE rowid = 17",
    "DELETE FROM t WHERE rowid % 3 = 0",
    "BEGIN; UPDATE t SET a = 0; ROLLBACK",
    "BEGIN; UPDATE t SET a = a + 1; UPDATE t SET b = b * 2; COMMIT",
    "VACUUM",
    "PRAGMA page_size = 1024; VACUUM",
    "ALTER TABLE t ADD COLUMN d REAL DEFAULT 5",
    "ALTER TABLE t RENAME COLUMN a TO was_a",
    "ALTER TABLE t RENAME COLUMN was_a TO a",
    "ALTER TABLE t RENAME TO other; CREATE TABLE t(a INT, b REAL); INSERT INTO t VALUES (99, 1)",
    "DROP TABLE t; ALTER TABLE other RENAME TO t",
    "CREATE TABLE swap AS SELECT * FROM t; UPDATE swap SET a = 1; DROP TABLE t;"
    " ALTER TABLE swap RENAME TO t",
    "DELETE FROM t",
    FILL.format(table="t(a, b, c)", factor=11, rows=ROWS),
]


@tap.each(*MODES)
def test_elsewhere(path, mode):
    """What another connection and another process do."""
    db, other = views.connect(path, keep_answers="on", journal_mode=mode), sqlite3.connect(path, isolation_level=None)
    other.execute(f"PRAGMA journal_mode = {mode}")
    fill(db)
    watch = Watch(db, f"changes by others, {mode}")
    for sql in ELSEWHERE:
        other.executescript(sql)
        watch.check(f"another connection: {sql}")
    for sql in ELSEWHERE[:6] + ELSEWHERE[-2:]:
        # On Windows nobody deletes a journal that others keep open.
        by_another_process(path, f"PRAGMA journal_mode = {mode}; {sql}")
        watch.check(f"another process: {sql}")
    db.execute("BEGIN")
    watch.check("a read transaction")
    if mode == "WAL":
        other.execute("UPDATE t SET a = -a")
        watch.check("a read transaction of an older snapshot")
        third = views.connect(path, keep_answers="on")
        later = Watch(third, "a newer snapshot beside an older one")
        other.execute("UPDATE t SET b = b + 1")
        later.check("... goes on")
        watch.check("the older snapshot, again")
        third.close()
    db.execute("COMMIT")
    watch.check("and after it")
    support.execute(other, "BEGIN IMMEDIATE", "UPDATE t SET a = a + 1")
    watch.check("while another writes")
    other.execute("COMMIT")
    watch.check("and has written")


def test_wal(path):
    """Checkpoints, and logs that begin again with as many frames as before."""
    db, other = views.connect(path, keep_answers="on", journal_mode="WAL"), sqlite3.connect(path, isolation_level=None)
    fill(db)
    watch = Watch(db, "write-ahead log")
    for turn in range(12):
        for kind in ("PASSIVE", "FULL", "RESTART", "TRUNCATE"):
            watch.run(f"PRAGMA wal_checkpoint({kind})", (other, None)[turn % 2])
            watch.run(f"UPDATE t SET a = a + {turn} WHERE rowid = 5", other)
            watch.run("UPDATE t SET b = b + 1", (None, other)[turn % 2])
    for mode in ("DELETE", "WAL", "TRUNCATE", "PERSIST", "WAL", "DELETE"):
        other.execute("SELECT 1 FROM t").fetchall()
        other.close()
        watch.run(f"PRAGMA journal_mode = {mode}")
        other = sqlite3.connect(path, isolation_level=None)
        other.execute(f"PRAGMA journal_mode = {mode}")
        watch.run("UPDATE t SET a = a + 1", other)
        watch.run("UPDATE t SET b = b + 1 WHERE rowid < 4")
    for size in (512, 65536, 4096):
        other.close()
        watch.run(f"PRAGMA page_size = {size}")
        watch.run("VACUUM")
        other = sqlite3.connect(path, isolation_level=None)
        watch.run("UPDATE t SET a = a + 1", other)


def test_grown(db):
    """Columns that are loaded after another table has made the database larger."""
    support.execute(db, "PRAGMA page_size = 512", "PRAGMA journal_mode = WAL")
    fill(db, rows=20 * ROWS)
    db.execute("CREATE TABLE other(x)")
    views.create(db, "v", "SELECT gpu_sum(a) FROM t")
    views.create(db, "w", "SELECT gpu_total(b), gpu_count_distinct(c) FROM t")
    tap.is_equal(views.ask(db, "v"), views.outcome(db, "SELECT sum(a) FROM t"), "a column")
    db.execute("INSERT INTO other VALUES (zeroblob(10000000))")
    tap.is_equal(views.ask(db, "v"), views.outcome(db, "SELECT sum(a) FROM t"), "when it has grown")
    want = views.outcome(db, "SELECT total(b), count(DISTINCT c) FROM t")
    tap.is_equal(views.ask(db, "w"), want, "and two more columns")
    tap.ok(views.accelerated(db, "w"), f"by the view: {views.plan(db, 'w')[0]}")


def test_attached():
    """Files that come and go under one schema name, with equal counters in them."""
    paths = [views.new() for _ in range(3)]
    for factor, path in enumerate(paths, 2):
        made = sqlite3.connect(path, isolation_level=None)
        fill(made, factor=factor)
        made.close()
    db = views.connect(keep_answers="on")
    fill(db, factor=100)
    db.execute("ATTACH ? AS side", (paths[0],))
    selects = {name: select.replace("FROM t", "FROM side.t") for name, select in SELECTS.items()}
    selects["unqualified"] = SELECTS["whole"]
    watch = Watch(db, "attached databases", selects)
    for path in paths[1:] + [paths[0], ":memory:", "", paths[1]]:
        watch.run("DETACH side")
        db.execute("ATTACH ? AS side", (path,))
        if path in ("", ":memory:"):
            fill(db, "side.t", 9)
        watch.check(f"attached {path}")
        watch.run("UPDATE side.t SET a = a + 1 WHERE rowid = 5")
    watch.run("DROP TABLE main.t")
    watch.run(TABLE.format(table="temp.t"))
    watch.run("INSERT INTO temp.t VALUES (1, 2, 3), (40, 50, 60)")
    watch.run("DROP TABLE temp.t")
    watch.run("DETACH side")


def test_replaced():
    """A whole database that takes the place of another, by a backup or from memory."""
    path, source = views.new(), views.new()
    db, other = views.connect(path, keep_answers="on"), sqlite3.connect(source, isolation_level=None)
    fill(db)
    fill(other, factor=5)
    watch = Watch(db, "replaced")
    with contextlib.closing(sqlite3.connect(path)) as target:
        other.backup(target)
    watch.check("a backup into the file by another connection")
    other.execute("UPDATE t SET a = a + 1")
    other.backup(db)
    watch.check("a backup into this connection")
    if views.can_deserialize():
        image = other.serialize()
        watch.run("UPDATE t SET a = 0 WHERE rowid < 9")
        db.deserialize(image)
        watch.check("an image in memory")
        watch.run("UPDATE t SET b = 0 WHERE rowid < 9")


def test_memory(db):
    """Databases without a file, and temporary tables."""
    for path in (":memory:", ""):
        for mode in ("MEMORY", "OFF", "DELETE"):
            check_own(mode, path)
    fill(db, factor=2)
    watch = Watch(db, "temporary tables")
    watch.run("CREATE TEMP TABLE t AS SELECT a + 1 AS a, b, c FROM main.t WHERE a < 100")
    watch.run("UPDATE temp.t SET a = a + 1")
    watch.run("UPDATE main.t SET a = a + 1")
    watch.run("CREATE TEMP VIEW shown AS SELECT * FROM main.t")
    watch.run("DROP TABLE temp.t")
    watch.run("CREATE TEMP VIEW t AS SELECT a AS rowid, * FROM main.t WHERE a < 50")
    watch.run("DROP VIEW temp.t")


def test_shared_cache():
    """Connections that share a cache: one reads what the other has not committed."""
    memory = "file:view_fresh?mode=memory&cache=shared"
    for uri in (f"file:{views.new()}?cache=shared", memory):
        db, other = (views.connect(uri, uri=True, wait=0, keep_answers="on") for _ in range(2))
        fill(db)
        for uncommitted in (0, 1):
            db.execute(f"PRAGMA read_uncommitted = {uncommitted}")
            watch = Watch(db, f"shared cache, read_uncommitted = {uncommitted}, {uri[:12]}")
            other.execute("BEGIN")
            watch.run("UPDATE t SET a = a + 1", other)
            watch.run("DELETE FROM t WHERE rowid % 5 = 0", other)
            other.execute("ROLLBACK")
            watch.check("rolled back")
            watch.run("UPDATE t SET a = a + 1", other)
            other.execute("BEGIN")
            watch.run("UPDATE t SET b = b + 1", other)
            watch.run("COMMIT", other)


def test_options(path):
    """Ways to open a database, and its layouts."""
    db = views.connect(path, keep_answers="on")
    fill(db)
    db.close()
    for options in ("mode=ro", "immutable=1", "mode=ro&immutable=1", "nolock=1", "psow=0"):
        db = views.connect(f"file:{path}?{options}", uri=True)
        Watch(db, f"opened with {options}")
    for setup in (
        "PRAGMA mmap_size = 100000000",
        "PRAGMA mmap_size = 8192",
        "PRAGMA locking_mode = EXCLUSIVE",
        "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL",
        "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = TRUNCATE",
        "PRAGMA auto_vacuum = FULL",
        "PRAGMA auto_vacuum = INCREMENTAL",
        "PRAGMA page_size = 512",
        "PRAGMA page_size = 65536",
        "PRAGMA encoding = 'UTF-16le'",
        "PRAGMA query_only = 0; PRAGMA synchronous = OFF; PRAGMA cell_size_check = 1",
        "PRAGMA cache_size = 1",
    ):
        db = views.connect(views.new())
        db.executescript(setup)
        fill(db, rows=3000)
        watch = Watch(db, setup)
        watch.run("DELETE FROM t WHERE rowid BETWEEN 100 AND 2000")
        watch.run("PRAGMA incremental_vacuum(3)")
        watch.run("PRAGMA incremental_vacuum")
        watch.run("UPDATE t SET a = a + 1")
        watch.run("VACUUM")
        watch.run("UPDATE t SET b = -b")


def test_crash():
    """What a crashed writer left behind: a hot journal, and a log without an index."""
    for mode in ("DELETE", "WAL"):
        path, crashed = views.new(), views.new()
        made = sqlite3.connect(path, isolation_level=None)
        made.execute(f"PRAGMA journal_mode = {mode}")
        fill(made)
        support.execute(made, "PRAGMA cache_size = 1", "BEGIN", "UPDATE t SET a = a + 100, c = c || c")
        if mode == "WAL":
            support.execute(made, "COMMIT", "BEGIN", "UPDATE t SET a = a + 1000")
        for suffix in ("", "-wal", "-journal"):
            if os.path.exists(path + suffix):
                shutil.copy(path + suffix, crashed + suffix)
        made.close()
        db = views.connect(crashed)
        watch = Watch(db, f"after a crash, {mode}")
        watch.run("UPDATE t SET b = b + 1")


def test_columns_of_star(db):
    """A SELECT * whose table changes: as it is now, or an error that says what to do."""
    fill(db, rows=3)
    for sql in ("ALTER TABLE t ADD COLUMN d DEFAULT 7", "ALTER TABLE t DROP COLUMN c"):
        views.create(db, "star", "SELECT * FROM t")
        views.ask(db, "star")
        db.execute(sql)
        got = views.ask(db, "star")
        want = views.outcome(db, "SELECT * FROM t")
        told = views.fails(got, "create it again")
        tap.ok(told or tap.is_same(got, want), f"SELECT * after {sql}: {got}")
    db.execute("DROP TABLE t")
    tap.ok(views.fails(views.ask(db, "star")), "without its table: an error")
    tap.is_equal(support.rows(db, "DROP TABLE star"), [], "a view without its table can be dropped")


def test_without_table():
    """Views whose table is gone or lacks a column: SQLite's error, and they can be dropped."""
    breaks = {
        "DROP TABLE t": "no such table: t",
        "ALTER TABLE t RENAME COLUMN a TO z": "no such column: a",
        "ALTER TABLE t DROP COLUMN a": "no such column: a",
        "ALTER TABLE t RENAME TO z": "no such table: t",
    }
    for sql, message in breaks.items():
        for elsewhere in (False, True):
            path = views.new()
            db, other = views.connect(path, keep_answers="on"), sqlite3.connect(path, isolation_level=None)
            fill(db)
            watch = Watch(db, f"{sql}{' elsewhere' * elsewhere}, and back")
            watch.run(sql, other if elsewhere else None)
            got = views.outcome(db, "SELECT * FROM whole")
            watch.batch.compare(got, views.Failure(f"SQLITE_ERROR: {message}"), "the error")
            watch.batch.compare(support.rows(db, "DROP TABLE part"), [], "dropped")
            views.create(db, "part", "SELECT 1")
            watch.selects = dict(SELECTS, part="SELECT 1")
            watch.parameters = {}
            watch.check("created anew")
            for name in ("t", "z"):
                watch.run(f"DROP TABLE IF EXISTS {name}", other)
            fill(other, factor=3)
            watch.check("the table is there again")


views.run(globals())
