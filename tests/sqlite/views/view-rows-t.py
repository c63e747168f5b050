"""Views of tables whose pages can't be read: SQLite fills the columns, and only for as long as it
can be proved that the database is the same are they used again (ext/sqlite/columns/row_version.h).

Whatever happens between two queries, a view gives what its SELECT gives; and when nothing happens,
its columns are there.
"""

import random
import sqlite3
import threading

import support
import tap
import view_support as views

FOLDER = views.Folder()
ROWS = 300
LATER, FILLED, KEPT = "will be kept when asked", "rows through SQLite", "all columns are resident"

FILL = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})"
    " INSERT INTO {table}(a, b, c) SELECT i, i * 0.25,"
    " CASE i % 5 WHEN 0 THEN NULL WHEN 1 THEN i WHEN 2 THEN i * 0.5 ELSE 'text ' || i END FROM n"
)
PLAIN = "CREATE TABLE {table}(a INT, b REAL, c)"
KEYED = "CREATE TABLE {table}(a INT, b REAL, c, PRIMARY KEY (a)) WITHOUT ROWID"
VIRTUAL = (
    "CREATE TABLE {table}(a INT, s INT AS (a + 1) STORED, b REAL, c,"
    " g AS (a * b - s), j REAL AS (json_extract('[' || a || ']', '$[0]')))"
)

SELECTS = {
    "sums": "SELECT gpu_sum(a), gpu_total(b), count(c), count(*) FROM t",
    "part": "SELECT gpu_sum(a), max(b), gpu_dot(a, b) FROM t WHERE b > :least",
}
ON_VIRTUAL = dict(SELECTS, made="SELECT gpu_sum(g), gpu_sum(j * a), gpu_max(g) FROM t WHERE g > 3")
PARAMETERS = {"part": (10,)}


def fill(db, kind, table="t", rows=ROWS):
    """A table of that declaration, with rows."""
    db.execute(kind.format(table=table))
    db.execute(FILL.format(table=table, rows=rows))


class Watch:
    """A connection whose views are compared with their SELECTs, and whose plans are looked at."""

    def __init__(self, db, label, selects=None, parameters=None):
        self.db, self.label = db, label
        self.selects = SELECTS if selects is None else selects
        self.parameters = PARAMETERS if parameters is None else parameters
        self.batch = support.Batch(f"filled by SQLite: {label}")
        for name, select in self.selects.items():
            problem = views.create(db, name, select)
            self.batch.check(problem is None, f"{name}: {problem}")
        self.kept("at first")

    def ask(self, name, step):
        """Asks a view and compares its rows; its plan."""
        parameters = self.parameters.get(name, ())
        got = views.comparable(views.ask(self.db, name, parameters))
        want = views.comparable(views.outcome(self.db, self.selects[name], parameters))
        self.batch.compare(got, want, f"{step}: {name}")
        return views.plan(self.db, name)

    def settle(self, step):
        """Asks each view until its columns are there, or it is clear that they won't be."""
        last = {}
        for name in self.selects:
            for _ in range(12):
                last[name] = self.ask(name, step)
                if KEPT in last[name][-1] or LATER not in last[name][0] + FILLED * (
                    FILLED in last[name][-1]
                ):
                    if FILLED not in last[name][-1]:
                        break
        return last

    def kept(self, step):
        """Nothing but queries happens: after some all columns are there, and stay."""
        self.settle(step)
        loaded = support.stats(self.db)["rows_loaded"]
        for name in self.selects:
            lines = self.ask(name, step)
            self.batch.check(
                lines[0].startswith("accelerated") and KEPT in lines[-1],
                f"{step}: {name} is not kept: {lines}",
            )
        same = support.stats(self.db)["rows_loaded"] == loaded
        self.batch.check(same, f"{step}: columns were filled though nothing happened")

    def by_rows(self, step, reason):
        """SQLite runs the SELECTs, however often they are asked."""
        for name, lines in self.settle(step).items():
            told = lines[0].startswith("row by row") and reason in lines[0]
            self.batch.check(told, f"{step}: {name} is not by rows for '{reason}': {lines}")

    def run(self, sql, db=None, reason=None):
        """A statement, here or elsewhere, after which columns are kept again, or by rows why."""
        step = sql if db is None else f"elsewhere: {sql}"
        try:
            (db or self.db).execute(sql).fetchall()
        except sqlite3.Error as error:
            step += f" -- {error}"
        if reason is None:
            self.kept(step)
        else:
            self.by_rows(step, reason)

    def unchanged(self, sql):
        """A statement that changes nothing: the columns stay."""
        loaded = support.stats(self.db)["rows_loaded"]
        self.db.execute(sql).fetchall()
        for name in self.selects:
            lines = self.ask(name, sql)
            self.batch.check(KEPT in lines[-1], f"{sql}: {name} lost its columns: {lines}")
        same = support.stats(self.db)["rows_loaded"] == loaded
        self.batch.check(same, f"{sql}: columns were filled again")

    def end(self):
        """The check."""
        self.batch.end()


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
        ("WITHOUT ROWID, DELETE", KEYED, "PRAGMA journal_mode = DELETE", None, SELECTS),
        ("WITHOUT ROWID, WAL", KEYED, "PRAGMA journal_mode = WAL", None, SELECTS),
        ("WITHOUT ROWID, OFF", KEYED, "PRAGMA journal_mode = OFF", None, SELECTS),
        ("virtual columns", VIRTUAL, "PRAGMA journal_mode = TRUNCATE", None, ON_VIRTUAL),
        ("exclusive", PLAIN, "PRAGMA locking_mode = EXCLUSIVE", None, SELECTS),
        (
            "exclusive, WAL",
            PLAIN,
            "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL",
            None,
            SELECTS,
        ),
        ("in memory", PLAIN, "", ":memory:", SELECTS),
        ("in memory, virtual columns", VIRTUAL, "", ":memory:", ON_VIRTUAL),
        ("in memory, by a name", KEYED, "", "file:view_rows_own?mode=memory&cache=shared", SELECTS),
        ("a temporary file", PLAIN, "PRAGMA cache_size = 5", "", SELECTS),
    )
    for label, kind, setup, path, selects in kinds:
        db = views.connect(FOLDER.new() if path is None else path, uri=True)
        db.executescript(f"PRAGMA synchronous = OFF; {setup}")
        fill(db, kind)
        watch = Watch(db, label, selects)
        for sql in QUIET:
            watch.unchanged(sql)
        for sql, reason in CHANGES:
            watch.run(sql, None, reason)
        watch.end()
        db.close()


def test_temporary():
    """Temporary tables, which also take a name that another table had."""
    db = views.connect(FOLDER.new())
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
    watch.end()
    db.close()


def test_elsewhere():
    """Another connection changes the file, or its schema."""
    for mode in ("DELETE", "PERSIST", "WAL"):
        for label, kind, selects in (("", KEYED, SELECTS), ("virtual", VIRTUAL, ON_VIRTUAL)):
            path = FOLDER.new()
            db, other = views.connect(path), sqlite3.connect(path, isolation_level=None)
            db.execute(f"PRAGMA journal_mode = {mode}")
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
            if mode == "WAL" and not label:
                db.execute("BEGIN")
                watch.kept("a snapshot")
                other.execute("UPDATE t SET b = 1")
                watch.unchanged("SELECT 'while another connection commits'")
                db.execute("COMMIT")
                watch.kept("after the snapshot")
            for sql in ("DROP TABLE t", PLAIN.format(table="t"), FILL.format(table="t", rows=9)):
                other.execute(sql)
            if not label:
                for name in watch.selects:
                    watch.ask(name, "another table of that name")
            watch.end()
            other.close()
            db.close()


def test_late_columns():
    """Rows from before a column whose default is TEXT: the pages lack it."""
    db = views.connect(FOLDER.new())
    fill(db, PLAIN)
    db.execute("ALTER TABLE t ADD COLUMN d INT DEFAULT '12'")
    db.execute("INSERT INTO t(a, d) VALUES (5, 7)")
    selects = {"late": "SELECT gpu_sum(a), count(d) FROM t WHERE a < 200"}
    watch = Watch(db, "a default that is TEXT", selects, {})
    line = watch.ask("late", "again")[-1]
    watch.batch.check("default is no number" in line, line)
    watch.run("UPDATE t SET a = a + 1")
    watch.run("DELETE FROM t WHERE a < 50")
    watch.end()
    db.close()


def test_attached():
    """Other databases under the same name, made alike: in memory, and files."""
    for second in (":memory:", None):
        db = views.connect()
        paths = [second or FOLDER.new() for _ in range(2)]
        selects = {
            name: select.replace("FROM t", "FROM side.t") for name, select in SELECTS.items()
        }
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
        watch.end()
        db.close()


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
        db = views.connect(path or FOLDER.new())
        fill(db, KEYED)
        watch = Watch(db, f"deserialized, {path or 'a file'}")
        for image in images * 2:
            db.deserialize(image)
            watch.by_rows("deserialized", "a deserialized one")
            watch.run("UPDATE t SET b = b + 1", None, "a deserialized one")
        watch.end()
        db.close()
    db = views.connect("file:/view_rows?vfs=memdb", uri=True)
    fill(db, PLAIN)
    watch = Watch(db, "a database of the VFS memdb", {})
    watch.selects = SELECTS
    for name, select in SELECTS.items():
        watch.batch.check(views.create(db, name, select) is None, name)
    watch.by_rows("memdb", "a deserialized one")
    watch.end()
    db.close()


def test_backup():
    """The backup API writes into a database that has views, at once and in steps."""
    for path in (":memory:", None):
        source, db = sqlite3.connect(":memory:", isolation_level=None), None
        fill(source, KEYED, rows=2000)
        db = views.connect(path or FOLDER.new())
        fill(db, KEYED)
        watch = Watch(db, f"a backup into {path or 'a file'}")
        for pages in (-1, 5, 5):
            source.execute("UPDATE t SET b = b + 1")
            source.backup(db, pages=pages)
            watch.kept(f"after {pages} pages at a time")
        watch.end()
        source.close()
        db.close()


def test_blob_write():
    """Incremental writing into a BLOB, of which a column is computed."""
    if not hasattr(sqlite3.Connection, "blobopen"):
        tap.skip(1, "this Python has no Connection.blobopen()")
        return
    for path in (":memory:", None):
        db = views.connect(path or FOLDER.new())
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
        watch.end()
        db.close()


def test_shared_cache():
    """Connections that share a cache see what is not committed; alone again one has columns."""
    for uri in ("file:view_rows?mode=memory&cache=shared", f"file:{FOLDER.new()}?cache=shared"):
        db = views.connect(uri, uri=True, wait=0)
        fill(db, KEYED)
        for uncommitted in (0, 1):
            db.execute(f"PRAGMA read_uncommitted = {uncommitted}")
            watch = Watch(db, f"shared cache, read_uncommitted {uncommitted}, {uri[:15]}")
            for end in ("ROLLBACK", "COMMIT"):
                other = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=0)
                watch.run("SELECT 1", None, "a cache is shared")
                other.execute("BEGIN")
                other.execute("UPDATE t SET b = b + 1")
                for name in SELECTS:
                    watch.ask(name, "uncommitted elsewhere")
                other.execute(end)
                watch.run("SELECT 1", None, "a cache is shared")
                other.close()
                watch.kept(f"alone again after {end}")
            watch.end()
        db.close()


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
            for step in ("PRAGMA journal_mode = OFF", "BEGIN", sql, "ROLLBACK"):
                db.execute(step).fetchall()
            watch.run("PRAGMA journal_mode = MEMORY")
        watch.end()
        db.close()


def test_functions():
    """Generated columns of functions: SQLite's own, replaced ones, and the application's."""
    say = "may follow from more than its row"
    db = views.connect()
    db.execute("CREATE TABLE t(a INT, b AS (abs(a) + coalesce(a, 0, 1)), c AS (a LIKE '1%'))")
    db.execute(
        FILL.format(table="u", rows=ROWS)
        .replace("INSERT INTO u(a, b, c)", "INSERT INTO t")
        .split(" SELECT i, i * 0.25")[0]
        + "(a) SELECT i - 50 FROM n"
    )
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
    watch.end()
    db.close()

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
    watch = Watch.__new__(Watch)
    watch.db, watch.selects, watch.parameters = db, selects, {}
    watch.batch = support.Batch("functions and collations of the application's")
    for name, select in selects.items():
        watch.batch.check(views.create(db, name, select) is None, name)
    for state[0] in (1, 2, 3):
        watch.by_rows(f"state {state[0]}", "the virtual generated column")
    watch.end()
    db.close()


def test_errors():
    """Generated columns with errors, which a lower limit makes: SQLite's, each time."""
    if not hasattr(sqlite3.Connection, "setlimit"):
        tap.skip(1, "this Python has no Connection.setlimit()")
        return
    db = views.connect()
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
    watch.end()
    db.close()


def test_authorizer():
    """An authorizer that hides a column, comes and goes."""
    db = views.connect()
    fill(db, KEYED)

    def hide(action, table, column, *_):
        """NULL in the place of a."""
        hidden = action == sqlite3.SQLITE_READ and (table, column) == ("t", "a")
        return sqlite3.SQLITE_IGNORE if hidden else sqlite3.SQLITE_OK

    db.set_authorizer(hide)
    batch = support.Batch("an authorizer")
    for _ in range(2):
        got = views.comparable(views.through_view(db, SELECTS["sums"]))
        batch.compare(got, views.comparable(views.outcome(db, SELECTS["sums"])), "hidden")
        for _ in range(3):
            views.ask(db, "view_of_it")
        lines = views.plan(db, "view_of_it")
        batch.check(lines[0].startswith("row by row"), f"hidden: {lines}")
        db.set_authorizer(None)
        got = views.comparable(views.through_view(db, SELECTS["sums"]))
        for _ in range(3):
            batch.compare(got, views.comparable(views.outcome(db, SELECTS["sums"])), "seen")
            got = views.comparable(views.ask(db, "view_of_it"))
        lines = views.plan(db, "view_of_it")
        batch.check(KEPT in lines[-1], f"seen: {lines}")
        db.set_authorizer(hide)
        for _ in range(3):
            got = views.comparable(views.ask(db, "view_of_it"))
            batch.compare(got, views.comparable(views.outcome(db, SELECTS["sums"])), "hidden now")
        got = views.comparable(views.through_view(db, SELECTS["sums"]))
    batch.end()
    db.close()


def test_lines():
    """What the plan says at each asking, and what the tables list."""
    db = views.connect()
    fill(db, PLAIN)
    views.create(db, "v", "SELECT gpu_sum(a), gpu_min(rowid) FROM t")
    views.create(db, "w", "SELECT gpu_max(b * a) FROM t")
    want = "the database is in memory, or temporary"
    views.ask(db, "v")
    tap.is_equal(
        views.plan(db, "v")[0], f"row by row: {want}; will be kept when asked again", "once"
    )
    views.ask(db, "v")
    lines = views.plan(db, "v")
    tap.is_equal(lines[0], "accelerated: host", "asked again")
    tap.is_equal(lines[1], f"table main.t, {ROWS} rows when last read", "the table")
    tap.is_equal(lines[2], f"column a: INTEGER, {8 * ROWS} bytes", "a column")
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
        [
            ("t", "a", "INTEGER", ROWS, 1),
            ("t", "b", "REAL", ROWS, 1),
            ("t", "rowid", "INTEGER", ROWS, 0),
        ],
        "all columns of one image are filled together",
    )
    tap.is_equal(support.stats(db)["rows_loaded"], 2 * ROWS, "rows_loaded")
    views.ask(db, "v")
    tap.ok(KEPT in views.plan(db, "v")[-1], "the first view has its columns still")
    tap.is_equal(support.value(db, "SELECT clreduce_evict()"), 3 * 8 * ROWS, "clreduce_evict()")
    tap.is_equal(db.execute(listed).fetchall(), [], "and none are left")
    views.ask(db, "v")
    tap.ok(LATER in views.plan(db, "v")[0], "after that all begins anew")
    support.configure(db, view_threshold=ROWS + 1)
    for _ in range(3):
        views.ask(db, "v")
    tap.ok("view_threshold" in views.plan(db, "v")[0], "view_threshold")
    db.close()


def test_memory_limit():
    """Columns that do not fit: by rows, until the setting changes. Others have to make room."""
    db = views.connect()
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
    watch.selects = {
        "t1": "SELECT gpu_sum(a), gpu_sum(b) FROM t",
        "u1": "SELECT gpu_sum(a), gpu_total(b) FROM u",
    }
    for name, select in watch.selects.items():
        views.create(db, name, select)
    support.configure(db, column_memory=9 * ROWS * 3)
    loaded, turns = support.stats(db)["rows_loaded"], 64
    for turn in range(turns):
        for name in watch.selects:
            watch.ask(name, f"turn {turn}")
    loads = (support.stats(db)["rows_loaded"] - loaded) / ROWS
    watch.batch.check(0 < loads <= turns, f"{loads} loads of two tables in {turns} turns")
    watch.end()
    db.close()


def test_changes_often():
    """A table that changes after two queries each time: it is filled ever more seldom."""
    db = views.connect()
    fill(db, KEYED)
    views.create(db, "v", SELECTS["sums"])
    batch = support.Batch("a table that changes often")
    for turn in range(100):
        for _ in range(2):
            want = views.outcome(db, SELECTS["sums"])
            batch.compare(views.ask(db, "v"), want, f"turn {turn}")
        db.execute("UPDATE t SET b = b + 1 WHERE a = 3")
    loads = support.stats(db)["rows_loaded"] / ROWS
    batch.check(loads == 1, f"{loads} loads")
    batch.check("2 times more" in views.plan(db, "v")[0] or LATER in views.plan(db, "v")[0], "said")
    for _ in range(4):
        views.ask(db, "v")
    batch.check(KEPT in views.plan(db, "v")[-1], f"in the end: {views.plan(db, 'v')}")
    batch.end()
    db.close()


def test_loader():
    """The function that fills columns is for views alone."""
    db = views.connect()
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
    db.close()


def test_interrupt():
    """A load that is interrupted, by another thread or the progress handler, leaves nothing."""
    rows = 30_000 if tap.QUICK else 200_000
    rng = random.Random(7)
    for path in (":memory:", None):
        path = path or FOLDER.new()
        db = views.connect(path)
        fill(db, KEYED, rows=rows)
        select = "SELECT gpu_sum(a), gpu_sum(b * a), count(c) FROM t"
        views.create(db, "v", select)
        want = views.outcome(db, select)
        batch = support.Batch(f"interrupted loads, {path}")
        ended = 0
        for turn in range(20):
            views.evict(db)
            batch.compare(views.ask(db, "v"), want, f"turn {turn}: by rows")
            if turn % 2:
                left = iter(range(rng.randrange(1, rows // 40)))
                db.set_progress_handler(lambda left=left: next(left, None) is None, 100)
                got = views.ask(db, "v")
                db.set_progress_handler(None, 0)
            else:
                timer = threading.Timer(rng.random() * 0.03, db.interrupt)
                timer.start()
                got = views.ask(db, "v")
                timer.cancel()
                timer.join()
            got = views.comparable(got)
            stopped = got == ("error", "SQLITE_INTERRUPT: interrupted")
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
        batch.end()
        db.close()


def test_device():
    """Columns that SQLite filled go to a device as well."""
    for device in views.devices()[1:]:
        started = views.warm(device)
        db = views.connect(":memory:", device)
        fill(db, VIRTUAL, rows=5000)
        views.create(db, "v", ON_VIRTUAL["made"])
        batch, on_device = support.Batch(f"on a device, {device}"), False
        for _ in range(500):
            want = views.outcome(db, ON_VIRTUAL["made"])
            batch.compare(views.ask(db, "v"), want, "asked")
            on_device = views.plan(db, "v")[0].startswith("accelerated: device")
            if on_device:
                break
        batch.check(on_device, f"it was the device in the end: {views.plan(db, 'v')}")
        batch.end()
        db.close()
        started.close()


def main():
    test_lines()
    test_loader()
    test_own()
    test_temporary()
    test_elsewhere()
    test_late_columns()
    test_attached()
    test_deserialized()
    test_backup()
    test_blob_write()
    test_shared_cache()
    test_without_journal()
    test_functions()
    test_errors()
    test_authorizer()
    test_memory_limit()
    test_changes_often()
    test_interrupt()
    test_device()
    tap.done()


main()
