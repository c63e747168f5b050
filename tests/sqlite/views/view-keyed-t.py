"""WITHOUT ROWID tables, whose rows lie in the b-tree of their primary key: also in its interior pages.

Random tables of every page size, with keys of several columns, DESC and collating sequences, long keys with
overflow pages, and other indexes. Whatever happens to them, a view gives what its SELECT gives, and reads pages.
"""

import itertools

import support
import tap
import view_support as views
from domains import Keyed
from matrix import Run, run_all, times


def large(db, rows=20_000, table="t"):
    """A table with interior pages."""
    support.execute(db, f"CREATE TABLE {table}(k INT, name TEXT, x REAL, PRIMARY KEY (name DESC, k)) WITHOUT ROWID",
                    support.numbered(table, rows, "i * 7919 % 100003, 'name ' || (i % 997), i / 4.0"))


SELECT = "SELECT gpu_sum(k), gpu_total(x), count(DISTINCT name), count(*) FROM t"


def test_random(rng):
    """Random SELECTs of random tables."""
    run_all(rng, [Run(Keyed, times(900, 9_000), memories=(0, 0, 1, 30_000), on_table=30, between=5, fast=0.25, asks_again=2)])


def test_pages():
    """Columns come from pages at the first query, whatever pages there are, and each row once."""
    for size, vacuum, mode in itertools.product((512, 4096, 65536), (0, 1), ("DELETE", "WAL")):
        db = views.connect(views.new())
        support.execute(db, f"PRAGMA page_size = {size}", f"PRAGMA auto_vacuum = {vacuum}",
                        f"PRAGMA journal_mode = {mode}")
        large(db)
        views.create(db, "v", SELECT)
        what = f"pages of {size} bytes, auto_vacuum {vacuum}, {mode}"
        views.agree(db, "v", SELECT, (), what)
        lines = views.plan(db, "v")
        tap.ok("accelerated" in lines[0] and "bytes: the columns were not" in lines[-1], f"{what}: {lines}")
        tap.is_equal(support.stats(db)["rows_loaded"], 0, f"{what}: none of SQLite's rows")


def test_lengths():
    """Rows that just fit into a page's part of theirs, and others that have overflow pages, with a value behind."""
    for size in (512, 1024, 4096):
        db = views.connect(views.new(), page_size=size)
        fits = (size - 12) * 64 // 255 - 23
        support.table(db, "t(k INT PRIMARY KEY, s TEXT, z INT) WITHOUT ROWID",
                      ((i, "x" * i, 2**40 + i) for i in range(fits - 40, fits + 20)))
        select = "SELECT gpu_sum(z), gpu_max(z), gpu_sum(k), count(s) FROM t"
        views.is_fast(db, select)


def test_refresh(db):
    """In WAL mode leaves, and interior pages, that have not changed are kept."""
    support.execute(db, "PRAGMA page_size = 1024", "PRAGMA journal_mode = WAL", "PRAGMA wal_autocheckpoint = 0")
    large(db)
    views.create(db, "v", SELECT)
    views.ask(db, "v")
    kept = support.stats(db)["leaves_kept"]
    for sql in (
        "UPDATE t SET x = x + 1 WHERE name = 'name 5' AND k % 3 = 0",
        "DELETE FROM t WHERE name = 'name 500'",
        "INSERT INTO t SELECT k + 1000000, name, 0.5 FROM t WHERE name = 'name 77'",
        "UPDATE t SET name = 'another' WHERE name = 'name 9'",
    ):
        db.execute(sql)
        views.agree(db, "v", SELECT, (), sql)
        lines = views.plan(db, "v")
        tap.ok("leaf pages have changed" in lines[-1], f"refreshed: {lines[-1]}")
    tap.ok(support.stats(db)["leaves_kept"] > kept + 400, "leaves were kept")


def test_stream(db):
    """Columns that do not fit: each page's rows are scanned as it passes."""
    large(db, 50_000)
    support.configure(db, column_memory=300_000)
    for select in (
        "SELECT gpu_sum(k), gpu_total(x), count(*) FROM t WHERE x > 100",
        "SELECT k % 7, count(*), gpu_sum(k), gpu_max(x) FROM t GROUP BY k % 7 ORDER BY 1",
        "SELECT gpu_sum(k), count(*) FROM t WHERE name LIKE '%7'",
    ):
        views.agree(db, "v", select, (), f"streamed: {select}", anew=True)
        tap.is_equal(views.plan(db, "v")[0], "accelerated: host, streaming the table", "which is accelerated")
    tap.ok(support.stats(db)["scans_streamed"] >= 3, "streams")
    support.configure(db, column_memory=0)


def test_other_indexes(db):
    """An index that has a column too, in another place, is not taken for the table."""
    support.execute(db, "CREATE TABLE t(a INT, b INT, c INT, PRIMARY KEY (c, a)) WITHOUT ROWID",
                    "CREATE INDEX t_b ON t(b)", "CREATE INDEX t_a ON t(a) WHERE a > 7",
                    "CREATE INDEX t_e ON t(a + b, b DESC)", support.numbered("t", 900, "i, i * 10, i * 100"))
    select = "SELECT gpu_sum(a), gpu_sum(b), gpu_sum(c) FROM t"
    views.agree(db, "v", select, (), "three columns, three indexes", anew=True)
    tap.is_equal(views.plan(db, "v")[0], "accelerated: host", "which is accelerated")
    db.execute("ATTACH ? AS side", (views.new(),))
    large(db, 3000, "side.t")
    select = SELECT.replace("FROM t", "FROM side.t")
    views.agree(db, "w", select, (), "an attached database", anew=True)
    tap.is_equal(views.plan(db, "w")[0], "accelerated: host", "which is accelerated")


def test_order(db):
    """What would show in which order the rows are, the table's or the image's, is left to SQLite."""
    large(db, 5000)
    for select in (
        "SELECT DISTINCT name FROM t",
        "SELECT k FROM t WHERE x = 12.5",
        "SELECT name, count(*) FROM t GROUP BY name",
    ):
        views.agree(db, "v", select, (), select, times=3, anew=True)


def test_rowid(db):
    """There is no rowid: its names are those of items, and TEXT where they are in double quotes."""
    large(db, 5000)
    for select, why in (
        ("SELECT k % 7 AS rowid, count(*) FROM t GROUP BY rowid ORDER BY rowid", "accelerated: host"),
        ("SELECT k % 7 AS oid, gpu_sum(x) FROM t WHERE x > 7 GROUP BY 1 HAVING oid > 2 ORDER BY oid", "accelerated: host"),
        ('SELECT count("rowid") FROM t', "row by row: rowid is no column of the table"),
        ("SELECT k FROM t WHERE x = 12.5", "row by row: rows of a WITHOUT ROWID table, or of one whose rowid has no name, are not accelerated:"
         " groups and aggregates are"),
    ):
        views.agree(db, "v", select, (), select, anew=True)
        tap.is_equal(views.plan(db, "v")[0], why, "... and the plan")


def test_devices():
    """The host decodes the columns, and devices scan them."""
    for device in views.devices()[1:]:
        db = views.connect(views.new(), device)
        large(db)
        select = "SELECT gpu_sum(k), gpu_total(x), count(*) FROM t WHERE x > 7"
        views.given_by_device(db, "v", select, anew=True)


views.run(globals())
