"""The extension keeps no file of Windows open: whoever could delete or rename it without the extension, can with it.

And the C function of the DLL has the same rows as SQLite's. packaging/ci/windows.sh runs this.
"""

import support
import tap
import view_support as views
from wine_sqlite.dbapi2 import driver

SELECT = "SELECT gpu_sum(a), count(*) FROM t"
ERROR_SHARING_VIOLATION = 32


def delete(path):
    """Windows' code of an error; 0: the file is deleted."""
    return driver.call("delete", path)[0]


def fill(path, factor=1, mode="DELETE"):
    """A connection to a new database, whose view holds its columns."""
    db = views.connect(path)
    support.execute(db, f"PRAGMA journal_mode = {mode}", "CREATE TABLE t(a)")
    db.execute("WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO t SELECT i * ? FROM n", (factor,))
    views.create(db, "v", SELECT)
    look(db, factor)
    return db


def look(db, factor=1):
    """The view is accelerated and right, twice."""
    for _ in range(2):
        tap.is_equal(views.ask(db, "v"), [(12_502_500 * factor, 5000)], "the answer")
        tap.ok(views.accelerated(db, "v"), views.plan(db, "v")[0])


@tap.each("DELETE", "WAL")
def test_delete(mode):
    """Once the last connection has closed, while others of the process stay, and another file may take the name."""
    path = views.new()
    witness = fill(views.new())
    for factor in (1, 2, 3):
        db = fill(path, factor, mode)
        other = views.connect(path)
        views.create(other, "v", SELECT)
        look(other, factor)
        tap.is_equal(delete(path), ERROR_SHARING_VIOLATION, "a connection keeps the file, as SQLite does")
        db.close()
        tap.is_equal(delete(path), ERROR_SHARING_VIOLATION, "and so does the other one")
        look(other, factor)
        other.close()
        tap.is_equal(delete(path), 0, "no connection is left")
        look(witness)


def test_detach():
    """An attached file is given back when it is detached."""
    path = views.new()
    fill(path, 4).close()
    db = fill(views.new())
    db.execute("ATTACH ? AS side", (path,))
    views.create(db, "w", "SELECT gpu_sum(a) FROM side.t")
    tap.is_equal(views.ask(db, "w"), [(50_010_000,)], "of the attached file")
    support.execute(db, "DROP TABLE w", "DETACH side")
    tap.is_equal(delete(path), 0, "no connection is left")
    look(db)


def test_rename():
    """A file that others have put in the place of one that was renamed is another one."""
    path, aside = views.new(), views.new()
    fill(path, 5).close()
    tap.is_equal(driver.call("rename", path, aside)[0], 0, "renamed")
    here, there = fill(path, 6), views.connect(aside)
    views.create(there, "v", SELECT)
    look(there, 5)
    look(here, 6)


#: Of each kind that is accelerated in another way.
STATEMENTS = [
    ("SELECT kind, count(*), sum(n), avg(x) FROM s WHERE n > ? GROUP BY kind ORDER BY kind", (7,)),
    ("SELECT sum(x), max(n) FROM s", ()),
    ("SELECT strftime('%Y-%m', day) AS month, sum(n) FROM s GROUP BY month ORDER BY month", ()),
    ("SELECT count(*) FROM s WHERE day BETWEEN '2024-02-01' AND date('2024-02-01', '+20 days')", ()),
    ("SELECT d.name, sum(s.x) FROM s JOIN d ON d.id = s.kind GROUP BY d.name ORDER BY d.name", ()),
    ("SELECT count(*) FROM s WHERE day || kind LIKE '%5%3'", ()),
    ("SELECT id, n FROM s WHERE n > (SELECT avg(n) FROM s) ORDER BY x DESC, id LIMIT 5", ()),
    ("WITH g AS (SELECT kind, sum(n) AS total FROM s GROUP BY kind) SELECT max(total) - min(total) FROM g", ()),
]


def accelerated(db):
    """How often views have answered."""
    stats = support.stats(db)
    return stats["scans_on_host"] + stats["answers_kept"]


def test_prepare():
    """clreduce_prepare_v2() of the DLL: rows and columns are those of SQLite's own, and most are of accelerated statements."""
    db = views.connect(views.new())
    db.executescript("""
        CREATE TABLE d(id INTEGER PRIMARY KEY, name TEXT); INSERT INTO d VALUES (0, 'a'), (1, 'b'), (2, 'c'), (3, NULL);
        CREATE TABLE s(id INTEGER PRIMARY KEY, kind INT, n INT, x REAL, day TEXT);
        WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
        INSERT INTO s SELECT i, i % 5, i * 7919 % 1009, i % 97 / 8.0, date('2024-01-01', i % 90 || ' days') FROM n;
        SELECT clreduce_set('override', 'on');
    """)
    want = [(db.execute(sql, values).fetchall(), db.execute(sql, values).description) for sql, values in STATEMENTS]
    before = accelerated(db)
    tap.is_equal(driver.call("prepare_by", db.number, "clreduce.dll", "clreduce_prepare_v2"), [1], "the function is there")
    for (sql, values), (rows, names) in zip(STATEMENTS, want):
        for time in ("at first", "again", "and again"):
            cursor = db.execute(sql, values)
            tap.is_equal(cursor.fetchall(), rows, f"{time}: {sql}")
            tap.is_equal(cursor.description, names, "its columns")
    tap.ok(accelerated(db) - before >= 2 * len(STATEMENTS), f"{accelerated(db) - before} were accelerated")


views.run(globals())
