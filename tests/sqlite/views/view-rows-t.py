"""Views of tables whose pages can't be read: SQLite fills the columns, and only for as long as it
can be proved that the database is the same are they used again (ext/sqlite/columns/row_source.c).

Whatever happens between two queries, a view gives what its SELECT gives; and when nothing happens,
its columns are there.
"""

import sqlite3

import support
import tap
import view_support as views
from view_rows import FILL, KEYED, ON_VIRTUAL, PLAIN, SELECTS, VIRTUAL, Watch, fill

OWN = "own uncommitted changes"
#: What a connection does itself, and why rows are SQLite's from then on, if they are.
CHANGES = [
    ("UPDATE t SET b = b + 1 WHERE a = 7", None),
    ("UPDATE t SET a = a + 1000", None),
    ("DELETE FROM t WHERE a % 7 = 0", None),
    ("INSERT INTO t(a, b, c) VALUES (-5, 1e300, 'x'), (-6, NULL, x'00')", None),
    ("INSERT INTO t(a, b) SELECT a, 1 / (a - 1100) FROM t", None),
    ("BEGIN", None),
    ("UPDATE t SET b = 2 WHERE a % 3 = 0", OWN),
    ("SAVEPOINT one", OWN),
    ("DELETE FROM t WHERE a % 2 = 0", OWN),
    ("ROLLBACK TO one", OWN),
    ("RELEASE one", OWN),
    ("ROLLBACK", None),
    ("SAVEPOINT two", None),
    ("UPDATE t SET b = b * 2", OWN),
    ("RELEASE two", None),
    ("BEGIN", None),
    ("DELETE FROM t WHERE a % 4 = 0", OWN),
    ("COMMIT", None),
    ("BEGIN IMMEDIATE", OWN),
    ("COMMIT", None),
    ("ALTER TABLE t ADD COLUMN d INT DEFAULT 5", None),
    ("ALTER TABLE t RENAME COLUMN d TO e", None),
    ("UPDATE t SET e = 6", None),
    ("ALTER TABLE t DROP COLUMN e", None),
    ("CREATE INDEX t_b ON t(b)", None),
    ("DELETE FROM t WHERE b > 50 AND a % 2", None),
    ("DROP INDEX t_b", None),
    ("VACUUM", None),
    ("ANALYZE", None),
    ("REINDEX", None),
    ("PRAGMA reverse_unordered_selects = 1", None),
    ("PRAGMA reverse_unordered_selects = 0", None),
    ("PRAGMA user_version = 7", None),
]
QUIET = (
    "SELECT 1",
    "SELECT sum(a) FROM t",
    "PRAGMA table_info(t)",
    "BEGIN",
    "COMMIT",
    "BEGIN",
    "ROLLBACK",
    "SAVEPOINT s",
    "RELEASE s",
)


def test_own():
    """A connection's own changes, in every kind of database."""
    kinds = (
        ("virtual columns, DELETE", VIRTUAL, "PRAGMA journal_mode = DELETE", None, ON_VIRTUAL),
        ("virtual columns, WAL", VIRTUAL, "PRAGMA journal_mode = WAL", None, ON_VIRTUAL),
        ("virtual columns, OFF", VIRTUAL, "PRAGMA journal_mode = OFF", None, ON_VIRTUAL),
        ("virtual columns, TRUNCATE", VIRTUAL, "PRAGMA journal_mode = TRUNCATE", None, ON_VIRTUAL),
        ("exclusive", PLAIN, "PRAGMA locking_mode = EXCLUSIVE", None, SELECTS),
        ("exclusive, WAL", PLAIN, "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL", None, SELECTS),
        ("in memory", PLAIN, "", ":memory:", SELECTS),
        ("in memory, virtual columns", VIRTUAL, "", ":memory:", ON_VIRTUAL),
        ("in memory, by a name", KEYED, "", "file:view_rows_own?mode=memory&cache=shared", SELECTS),
        ("a temporary file", PLAIN, "PRAGMA cache_size = 5", "", SELECTS),
    )
    for label, kind, setup, path, selects in kinds:
        db = views.connect(views.new() if path is None else path, uri=True)
        db.executescript(f"PRAGMA synchronous = OFF; {setup}")
        fill(db, kind)
        watch = Watch(db, label, selects)
        for sql in QUIET:
            watch.unchanged(sql)
        for sql, reason in CHANGES:
            watch.run(sql, None, reason)


def test_temporary(db):
    """Temporary tables, which also take a name that another table had."""
    fill(db, KEYED)
    watch = Watch(db, "temporary tables")
    watch.run("CREATE TEMP TABLE t AS SELECT a + 1 AS a, b, c FROM main.t WHERE a < 100")
    watch.run("UPDATE temp.t SET a = a + 1")
    watch.run("UPDATE main.t SET a = a + 1")
    watch.run("BEGIN")
    watch.run("DELETE FROM temp.t WHERE a < 20", None, OWN)
    watch.run("ROLLBACK")
    watch.run("DROP TABLE temp.t")
    watch.run("CREATE TEMP TABLE other(x)")
    watch.run("INSERT INTO temp.other VALUES (1)")


def test_elsewhere():
    """Another connection changes the file, or its schema."""
    for mode in ("DELETE", "PERSIST", "WAL"):
        made = {"made": ON_VIRTUAL["made"]}
        for label, kind, selects in (("", KEYED, SELECTS), ("virtual", VIRTUAL, made)):
            path = views.new()
            db, other = views.connect(path, journal_mode=mode), sqlite3.connect(path, isolation_level=None)
            fill(db, kind)
            watch = Watch(db, f"another connection, {mode} {label}", selects)
            for sql in (
                "UPDATE t SET b = b + 1 WHERE a = 8",
                "BEGIN",
                "UPDATE t SET b = b + 1",
                "ROLLBACK",
                "DELETE FROM t WHERE a % 3 = 0",
                "PRAGMA wal_checkpoint(TRUNCATE)",
                "INSERT INTO t(a, b) VALUES (100000, 5)",
                "ALTER TABLE t ADD COLUMN d DEFAULT 'x'",
                "VACUUM",
                "CREATE INDEX t_a ON t(a)",
            ):
                watch.run(sql, other)
            if mode == "WAL" and label:
                db.execute("BEGIN")
                watch.kept("a snapshot")
                other.execute("UPDATE t SET b = 1")
                watch.unchanged("SELECT 'while another connection commits'")
                db.execute("COMMIT")
                watch.kept("after the snapshot")
            support.execute(other, "DROP TABLE t", PLAIN.format(table="t"), FILL.format(table="t", rows=9))
            if not label:
                for name in watch.selects:
                    watch.ask(name, "another table of that name")


def test_late_columns(db):
    """Rows from before a column whose default is TEXT: the pages lack it."""
    fill(db, PLAIN)
    support.execute(db, "ALTER TABLE t ADD COLUMN d INT DEFAULT '12'", "INSERT INTO t(a, d) VALUES (5, 7)")
    selects = {"late": "SELECT gpu_sum(a), count(d) FROM t WHERE a < 200"}
    watch = Watch(db, "a default that is TEXT", selects, {})
    line = watch.ask("late", "again")[-1]
    watch.batch.check("default is no number" in line, line)
    watch.run("UPDATE t SET a = a + 1")
    watch.run("DELETE FROM t WHERE a < 50")


def test_attached():
    """Other databases under the same name, made alike: in memory, and files."""
    for second in (":memory:", None):
        db = views.connect()
        paths = [second or views.new() for _ in range(2)]
        selects = {name: select.replace("FROM t", "FROM side.t") for name, select in SELECTS.items()}
        watch = None
        for turn in range(4):
            db.execute("ATTACH ? AS side", (paths[turn % 2],))
            if second or turn < 2:
                fill(db, KEYED, "side.t")
                db.execute("UPDATE side.t SET a = a + ?", (1000 * turn,))
            watch = watch or Watch(db, f"attached, {second or 'files'}", selects)
            watch.kept(f"turn {turn}")
            watch.run("UPDATE side.t SET b = b + 1")
            db.execute("DETACH side")
            for name in selects:
                watch.ask(name, "detached")


def test_deserialized():
    """An image in the database's place, made so that all that SQLite counts may repeat."""
    if not views.can_deserialize():
        tap.skip(3, "nothing can be deserialized here")
        return
    images = []
    for factor in (1, 2, 3):
        with sqlite3.connect(":memory:", isolation_level=None) as made:
            fill(made, KEYED)
            made.execute("UPDATE t SET b = b * ?", (factor,))
            images.append(made.serialize())
    for path in (":memory:", None):
        db = views.connect(path or views.new())
        fill(db, KEYED)
        watch = Watch(db, f"deserialized, {path or 'a file'}")
        for image in images * 2:
            db.deserialize(image)
            watch.by_rows("deserialized", "a deserialized one")
            watch.run("UPDATE t SET b = b + 1", None, "a deserialized one")
    db = views.connect("file:/view_rows?vfs=memdb", uri=True)
    fill(db, PLAIN)
    Watch(db, "a database of the VFS memdb", reason="a deserialized one")


def test_backup():
    """The backup API writes into a database that has views, at once and in steps."""
    for path in (":memory:", None):
        source, db = sqlite3.connect(":memory:", isolation_level=None), None
        fill(source, KEYED, rows=2000)
        db = views.connect(path or views.new())
        fill(db, KEYED)
        watch = Watch(db, f"a backup into {path or 'a file'}")
        for pages in (-1, 5, 5):
            source.execute("UPDATE t SET b = b + 1")
            source.backup(db, pages=pages)
            watch.kept(f"after {pages} pages at a time")
        source.close()


def test_blob_write():
    """Incremental writing into a BLOB, of which a column is computed."""
    if not hasattr(sqlite3.Connection, "blobopen"):
        tap.skip(1, "this Python has no Connection.blobopen()")
        return
    for path in (":memory:", None):
        db = views.connect(path or views.new())
        db.execute("CREATE TABLE t(a INTEGER PRIMARY KEY, c TEXT, n AS (CAST(c AS INT)))")
        db.execute("INSERT INTO t(a, c) VALUES (1, '11'), (2, '22'), (3, '33')")
        try:
            db.blobopen("t", "c", 2).close()
        except sqlite3.OperationalError as error:
            # Newer ones keep generated columns from being wrong.
            tap.ok("generated columns" in str(error), f"SQLite opens no such BLOB: {error}")
            db.close()
            continue
        watch = Watch(db, f"blob_write, {path or 'a file'}", {"sums": "SELECT gpu_sum(n) FROM t"})
        for text in (b"99", b"98"):
            with db.blobopen("t", "c", 2) as blob:
                blob.write(text)
            watch.kept("written")
        db.execute("BEGIN")
        with db.blobopen("t", "c", 2) as blob:
            blob.write(b"77")
            watch.ask("sums", "open")
        watch.by_rows("uncommitted", OWN)
        db.execute("ROLLBACK")
        watch.kept("rolled back")


def test_reversed():
    """DISTINCT gives values as the rows have them, also where SQLite fills columns from the last row on."""
    db = views.connect(":memory:")
    fill(db, PLAIN)
    watch = views.Watch(db, "filled by SQLite, reversed", {"kinds": "SELECT DISTINCT a * 31 % 17 FROM t"}, {})
    for reverse in (0, 1, 0):
        db.execute(f"PRAGMA reverse_unordered_selects = {reverse}")
        for turn in range(4):
            lines = watch.ask("kinds", f"reversed: {reverse}, turn {turn}")
        told = lines[0].startswith("row by row: DISTINCT gives" if reverse else "accelerated")
        watch.batch.check(told, f"reversed: {reverse}: {lines}")


def test_shared_cache():
    """Connections that share a cache see what is not committed; alone again one has columns."""
    for uri in ("file:view_rows?mode=memory&cache=shared", f"file:{views.new()}?cache=shared"):
        db = views.connect(uri, uri=True, wait=0)
        fill(db, KEYED)
        for uncommitted in (0, 1):
            db.execute(f"PRAGMA read_uncommitted = {uncommitted}")
            watch = Watch(db, f"shared cache, read_uncommitted {uncommitted}, {uri[:15]}")
            for end in ("ROLLBACK", "COMMIT"):
                other = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=0)
                watch.run("SELECT 1", None, "the connection shares its cache")
                support.execute(other, "BEGIN", "UPDATE t SET b = b + 1")
                for name in SELECTS:
                    watch.ask(name, "uncommitted elsewhere")
                other.execute(end)
                watch.run("SELECT 1", None, "the connection shares its cache")
                other.close()
                watch.kept(f"alone again after {end}")


def test_without_journal():
    """In memory, and without a journal: what is rolled back stays."""
    reason = "has no journal"
    for path in (":memory:", ""):
        db = views.connect(path)
        fill(db, PLAIN)
        watch = Watch(db, f"no journal, {path or 'a temporary file'}")
        watch.run("PRAGMA journal_mode = OFF", None, reason)
        watch.run("UPDATE t SET a = a + 1", None, reason)
        watch.run("PRAGMA journal_mode = MEMORY")
        for sql in ("UPDATE t SET a = a + 1", "DELETE FROM t WHERE a < 9", "UPDATE t SET b = a"):
            support.execute(db, "PRAGMA journal_mode = OFF", "BEGIN", sql, "ROLLBACK")
            watch.run("PRAGMA journal_mode = MEMORY")


views.run(globals())
