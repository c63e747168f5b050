"""WITHOUT ROWID tables, whose rows lie in the b-tree of their primary key: also in its interior pages.

Random tables of every page size, with keys of several columns, DESC and collating sequences, long keys with
overflow pages, and other indexes. Whatever happens to them, a view gives what its SELECT gives, and reads pages.
"""

import itertools
import sqlite3

import support
import tap
import view_support as views
from random_table import COLLATIONS, TABLES, TYPES, RandomTable

FOLDER = views.Folder()


class Keyed(RandomTable):
    """A table WITHOUT ROWID."""

    def __init__(self, rng, check, tally):
        super().__init__(rng, check, FOLDER.new(), 512 << rng.choice((0, 0, 0, 1, 2, 3, 5, 7)))
        self.tally = tally
        self.columns = [f"c{number}" for number in range(rng.randint(2, 7))]
        self.create()
        self.longest = rng.choice((0, 30, 300, 3000))
        self.pool = [self.value() for _ in range(30)]
        self.fill(rng.choice((0, 1, 20, 300, 900, 900, 2500)))
        self.selects = self.questions()

    def create(self):
        """The table and its indexes, some of which have all of some columns."""
        rng, columns = self.rng, self.columns
        parts = [f"{name} {rng.choice(TYPES)} {rng.choice(COLLATIONS)}" for name in columns]
        key = rng.sample(columns, rng.randint(1, min(3, len(columns))))
        if rng.random() < 0.3:
            key.append(rng.choice(key))
        key = ", ".join(f"{name} {rng.choice(COLLATIONS)} {rng.choice(('', 'ASC', 'DESC'))}" for name in key)
        if rng.random() < 0.15:
            parts = ["id INTEGER PRIMARY KEY"] + parts
        else:
            parts.append(f"PRIMARY KEY ({key})")
        if rng.random() < 0.2:
            parts.insert(0, f"made AS ({rng.choice(columns)}) {rng.choice(('VIRTUAL', 'STORED'))}")
        self.run(f"CREATE TABLE t({', '.join(parts)}) WITHOUT ROWID")
        for number in range(rng.randrange(3)):
            some = ", ".join(rng.sample(columns, rng.randint(1, 2)))
            self.run(f"CREATE INDEX x{number} ON t({some})")

    def value(self):
        """Any value, in a key as well."""
        rng = self.rng
        kind = rng.randrange(8)
        if kind == 0:
            return rng.choice((0, 1, -1, 127, 128, -(2**63), 2**63 - 1, rng.getrandbits(40)))
        if kind == 1:
            return rng.choice((0.0, 1.5, -3.0, 1e300, 5e-324, float(rng.getrandbits(60))))
        if kind == 2:
            return rng.randbytes(rng.randint(0, self.longest))
        if kind == 3:
            return rng.choice(("a", "A", "a ", "")) * rng.randint(0, self.longest or 3)
        return rng.choice((rng.randrange(10**6), rng.randrange(5), rng.random(), str(rng.random())))

    def fill(self, count):
        """More rows, some with NULLs where they may be."""
        rng = self.rng
        names = [row[1] for row in self.db.execute("PRAGMA table_info(t)") if row[1] != "made"]
        sql = f"INSERT OR REPLACE INTO t({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
        self.log.append(f"{count} rows, longest {self.longest}")
        self.db.execute("SAVEPOINT filling")
        for _ in range(count):
            row = [rng.choice(self.pool) if rng.random() < 0.9 else rng.randrange(100) for _ in names]
            if rng.random() < 0.1:
                row[rng.randrange(len(row))] = None
            try:
                self.db.execute(sql, row)
            except sqlite3.Error:  # a NULL in a key
                continue
        self.db.execute("RELEASE filling")

    def questions(self):
        """Some SELECTs of the table."""
        rng = self.rng
        one, two = rng.choice(self.columns), rng.choice(self.columns)
        made = "SELECT gpu_sum(made), count(*) FROM t"
        has_made = [made] * any(row[1] == "made" for row in self.db.execute("PRAGMA table_xinfo(t)"))
        return has_made + [
            "SELECT count(*) FROM t",
            f"SELECT {', '.join(f'count({name}), gpu_max({name})' for name in self.columns)} FROM t",
            f"SELECT {', '.join(f'count({name})' for name in self.columns)} FROM t",
            f"SELECT {', '.join(f'gpu_count_distinct({name})' for name in self.columns)} FROM t",
            f"SELECT count({one}), count(*) FROM t WHERE {two} IS NOT NULL",
            f"SELECT gpu_count_distinct({one}), gpu_mode({two}), gpu_median(CAST({one} AS REAL)) FROM t",
            f"SELECT gpu_sum({one}), gpu_total({two}), count(*) FROM t WHERE typeof({one}) IN ('real', 'integer')",
            f"SELECT {one}, count(*), gpu_min({two}) FROM t GROUP BY {one} ORDER BY {one}",
            f"SELECT count(*), gpu_max({two}) FROM t WHERE {one} > 3 AND {two} IS NOT NULL",
            f"SELECT DISTINCT typeof({one}) FROM t ORDER BY 1",
        ]

    def change(self):
        """Something happens to the table."""
        rng = self.rng
        column, kind = rng.choice(self.columns), rng.randrange(12)
        if kind < 3:
            self.fill(rng.choice((1, 1, 5, 50)))
        elif kind == 3:
            self.run(f"DELETE FROM t WHERE abs(random()) % {rng.choice((2, 20, 200))} = 0")
        elif kind == 4:
            self.run(f"UPDATE OR IGNORE t SET {column} = ? WHERE abs(random()) % 30 = 0", (self.value(),))
        elif kind == 5:
            self.fill_in_transaction()
        elif kind == 6:
            self.run("VACUUM")
        elif kind == 7:
            default = rng.choice(("5", "-2.5", "NULL", "'text'"))
            name = f"added{len(self.log)}"
            self.run(f"ALTER TABLE t ADD COLUMN {name} {rng.choice(TYPES)} DEFAULT {default}")
            self.columns.append(name)
            self.selects = self.questions()
        elif kind == 8:
            self.run(f"CREATE INDEX x{len(self.log)} ON t({column})")
        elif kind == 9:
            self.run_elsewhere("DELETE FROM t WHERE abs(random()) % 50 = 0")
        elif kind == 10:
            self.run(rng.choice(("PRAGMA wal_checkpoint(TRUNCATE)", "REINDEX", "ANALYZE", "PRAGMA incremental_vacuum")))
        else:
            views.evict(self.db)

    def turn_ends(self):
        """Counts the views that are accelerated."""
        for number in range(len(self.selects)):
            self.tally.add(self.db, f"v{number}")


def test_random(rng):
    """One check: tables that change."""
    check, tally = support.Batch(f"{TABLES} tables"), views.Tally()
    for _ in range(TABLES):
        Keyed(rng, check, tally).live()
    check.end()
    tally.require(0.25, "WITHOUT ROWID tables")


def large(db, rows=20_000, table="t"):
    """A table with interior pages."""
    db.execute(f"CREATE TABLE {table}(k INT, name TEXT, x REAL, PRIMARY KEY (name DESC, k)) WITHOUT ROWID")
    db.execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
        f" INSERT INTO {table} SELECT i * 7919 % 100003, 'name ' || (i % 997), i / 4.0 FROM n",
        (rows,),
    )


SELECT = "SELECT gpu_sum(k), gpu_total(x), count(DISTINCT name), count(*) FROM t"


def test_pages():
    """Columns come from pages at the first query, whatever pages there are, and each row once."""
    for size, vacuum, mode in itertools.product((512, 4096, 65536), (0, 1), ("DELETE", "WAL")):
        db = views.connect(FOLDER.new())
        db.execute(f"PRAGMA page_size = {size}")
        db.execute(f"PRAGMA auto_vacuum = {vacuum}")
        db.execute(f"PRAGMA journal_mode = {mode}")
        large(db)
        views.create(db, "v", SELECT)
        what = f"pages of {size} bytes, auto_vacuum {vacuum}, {mode}"
        views.agree(db, "v", SELECT, (), what)
        lines = views.plan(db, "v")
        tap.ok("accelerated" in lines[0] and "bytes: the columns were not" in lines[-1], f"{what}: {lines}")
        tap.is_equal(support.stats(db)["rows_loaded"], 0, f"{what}: none of SQLite's rows")
        db.close()


def test_refresh():
    """In WAL mode leaves, and interior pages, that have not changed are kept."""
    db = views.connect(FOLDER.new())
    db.execute("PRAGMA page_size = 1024")
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA wal_autocheckpoint = 0")
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
    db.close()


def test_stream():
    """Columns that do not fit: each page's rows are scanned as it passes."""
    db = views.connect(FOLDER.new())
    large(db, 50_000)
    support.configure(db, column_memory=300_000)
    for select in (
        "SELECT gpu_sum(k), gpu_total(x), count(*) FROM t WHERE x > 100",
        "SELECT k % 7, count(*), gpu_sum(k), gpu_max(x) FROM t GROUP BY k % 7 ORDER BY 1",
        "SELECT gpu_sum(k), count(*) FROM t WHERE name LIKE '%7'",
    ):
        views.create(db, "v", select)
        views.agree(db, "v", select, (), f"streamed: {select}")
        tap.is_equal(views.plan(db, "v")[0], "accelerated: host, streaming the table", "which is accelerated")
    tap.ok(support.stats(db)["scans_streamed"] >= 3, "streams")
    support.configure(db, column_memory=0)
    db.close()


def test_other_indexes():
    """An index that has a column too, in another place, is not taken for the table."""
    db = views.connect(FOLDER.new())
    db.execute("CREATE TABLE t(a INT, b INT, c INT, PRIMARY KEY (c, a)) WITHOUT ROWID")
    db.execute("CREATE INDEX t_b ON t(b)")
    db.execute("CREATE INDEX t_a ON t(a) WHERE a > 7")
    db.execute("CREATE INDEX t_e ON t(a + b, b DESC)")
    db.execute("WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT 900)"
               " INSERT INTO t SELECT i, i * 10, i * 100 FROM n")
    select = "SELECT gpu_sum(a), gpu_sum(b), gpu_sum(c) FROM t"
    views.create(db, "v", select)
    views.agree(db, "v", select, (), "three columns, three indexes")
    tap.is_equal(views.plan(db, "v")[0], "accelerated: host", "which is accelerated")
    db.execute("ATTACH ? AS side", (FOLDER.new(),))
    large(db, 3000, "side.t")
    select = SELECT.replace("FROM t", "FROM side.t")
    views.create(db, "w", select)
    views.agree(db, "w", select, (), "an attached database")
    tap.is_equal(views.plan(db, "w")[0], "accelerated: host", "which is accelerated")
    db.close()


def test_order():
    """What would show in which order the rows are, the table's or the image's, is left to SQLite."""
    db = views.connect(FOLDER.new())
    large(db, 5000)
    for select in (
        "SELECT DISTINCT name FROM t",
        "SELECT k FROM t WHERE x = 12.5",
        "SELECT name, count(*) FROM t GROUP BY name",
    ):
        views.create(db, "v", select)
        for _ in range(3):
            views.agree(db, "v", select, (), select)
    db.close()


def test_rowid():
    """There is no rowid: its names are those of items, and TEXT where they are in double quotes."""
    db = views.connect(FOLDER.new())
    large(db, 5000)
    for select, why in (
        ("SELECT k % 7 AS rowid, count(*) FROM t GROUP BY rowid ORDER BY rowid", "accelerated: host"),
        ("SELECT k % 7 AS oid, gpu_sum(x) FROM t WHERE x > 7 GROUP BY 1 HAVING oid > 2 ORDER BY oid", "accelerated: host"),
        ('SELECT count("rowid") FROM t', "row by row: rowid is no column of the table"),
        ("SELECT k FROM t WHERE x = 12.5", "row by row: rows of a WITHOUT ROWID table, or of one whose rowid has no name, are not accelerated:"
         " groups and aggregates are"),
    ):
        views.create(db, "v", select)
        views.agree(db, "v", select, (), select)
        tap.is_equal(views.plan(db, "v")[0], why, "... and the plan")
    db.close()


def test_devices():
    """The host decodes the columns, and devices scan them."""
    for device in views.devices()[1:]:
        db = views.connect(FOLDER.new(), device)
        large(db)
        select = "SELECT gpu_sum(k), gpu_total(x), count(*) FROM t WHERE x > 7"
        views.create(db, "v", select)
        views.given_by_device(db, "v", select)
        db.close()


def main():
    rng = support.seed()
    test_random(rng)
    test_pages()
    test_refresh()
    test_stream()
    test_other_indexes()
    test_order()
    test_rowid()
    test_devices()
    tap.done()


main()
