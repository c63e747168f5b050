"""Covering indexes: where SQLite's own plan reads an index and no table, and the index is much smaller, a view
reads the index's pages.

Partial indexes, those of expressions, DESC, collating sequences and affinities: whatever the index, a view gives what
its SELECT gives.
"""

import support
import tap
import view_support as views
from random_table import COLLATIONS, TABLES, TYPES, RandomTable

FOLDER = views.Folder()
COLUMNS = ("a", "b", "c", "d")
INDEX, TABLE = "covering index main.", "table main.t,"


def read(db, name):
    """What was read for the view's last answer, as its plan has it."""
    return [line for line in views.plan(db, name) if "when last read" in line][0]


class Indexed(RandomTable):
    """A wide table with indexes."""

    def __init__(self, rng, check):
        super().__init__(rng, check, FOLDER.new(), 512 << rng.randrange(3))
        self.found = 0
        parts = [f"{name} {rng.choice(TYPES)} {rng.choice(COLLATIONS)}" for name in COLUMNS]
        parts += ["made AS (a || b) VIRTUAL", "kept REAL AS (d) STORED", "pad TEXT"]
        key = rng.choice(("", "", "k INTEGER PRIMARY KEY, "))
        self.run(f"CREATE TABLE t({key}{', '.join(parts)})")
        self.pool = [self.value() for _ in range(30)]
        self.fill(rng.choice((300, 900)))
        for number in range(rng.randint(1, 4)):
            self.index(f"x{number}")
        if rng.random() < 0.5:
            self.run("ANALYZE")
        self.selects = self.questions()

    def index(self, name):
        """An index of any kind."""
        rng = self.rng
        columns = rng.sample(COLUMNS + ("made", "kept"), rng.randint(1, 4))
        if rng.random() < 0.2:
            columns.insert(rng.randrange(len(columns) + 1), rng.choice(("a + 1", "lower(b)", "a || b")))
        parts = [
            f"{column} {rng.choice(COLLATIONS)} {rng.choice(('', '', 'ASC', 'DESC'))}" for column in columns
        ]
        where = rng.choice(("", "", "", " WHERE a > 5", " WHERE b IS NOT NULL"))
        self.run(f"CREATE INDEX {name} ON t({', '.join(parts)}){where}")

    def value(self):
        """Any value."""
        rng = self.rng
        kind = rng.randrange(7)
        if kind == 0:
            return rng.choice((0, 1, -1, 127, 128, -(2**63), 2**63 - 1, 2**53 + 1, rng.getrandbits(40)))
        if kind == 1:
            return rng.choice((0.0, -0.0, 1.5, -3.0, 1e300, 5e-324, 5.0, float(rng.getrandbits(60))))
        if kind == 2:
            return rng.randbytes(rng.choice((0, 3, 40, 400)))
        if kind == 3:
            return rng.choice(("a", "A", "a ", "", "12", "5.0")) * rng.choice((0, 1, 2, 200))
        return rng.choice((rng.randrange(10**6), rng.random(), str(rng.random()), None))

    def fill(self, count):
        """More rows."""
        rng = self.rng
        self.log.append(f"{count} rows")
        rows = [
            [rng.choice(self.pool) if rng.random() < 0.6 else rng.randrange(100) for _ in COLUMNS] for _ in range(count)
        ]
        self.db.execute("SAVEPOINT filling")
        self.db.executemany("INSERT INTO t(a, b, c, d, pad) VALUES (?, ?, ?, ?, hex(zeroblob(300)))", rows)
        self.db.execute("RELEASE filling")

    def questions(self):
        """Some SELECTs of the table."""
        one, two = self.rng.sample(COLUMNS + ("kept",), 2)
        return [
            f"SELECT count({one}), count(*) FROM t",
            f"SELECT gpu_count_distinct({one}), gpu_mode({two}) FROM t",
            f"SELECT gpu_count_distinct({one}), count({two}) FROM t WHERE a > 5",
            f"SELECT gpu_total({one}), gpu_max({two}) FROM t WHERE typeof({one}) IN ('real', 'integer')",
            f"SELECT {one}, count(*), count({two}) FROM t WHERE b IS NOT NULL GROUP BY {one} ORDER BY {one}",
            f"SELECT typeof({one}), count(*) FROM t GROUP BY 1 ORDER BY 1",
            f"SELECT {one}, count(*) FROM t GROUP BY {one}",
            "SELECT gpu_sum(kept), count(made) FROM t",
        ]

    def change(self):
        """Something happens to the table or its indexes."""
        rng = self.rng
        column, kind = rng.choice(COLUMNS), rng.randrange(11)
        if kind < 2:
            self.fill(rng.choice((1, 1, 5, 50)))
        elif kind == 2:
            self.run(f"DELETE FROM t WHERE abs(random()) % {rng.choice((2, 20, 200))} = 0")
        elif kind == 3:
            self.run(f"UPDATE t SET {column} = ? WHERE abs(random()) % 30 = 0", (rng.choice(self.pool),))
        elif kind == 4:
            self.fill_in_transaction()
        elif kind == 5:
            self.run("VACUUM")
        elif kind == 6:  # another index of the same name
            self.run("DROP INDEX x0")
            self.index("x0")
        elif kind == 7:
            self.run("DROP INDEX x1")
        elif kind == 8:
            self.run_elsewhere(f"UPDATE t SET {column} = 7 WHERE abs(random()) % 50 = 0")
        elif kind == 9:
            self.run(rng.choice(("PRAGMA wal_checkpoint(TRUNCATE)", "REINDEX", "ANALYZE")))
        else:
            views.evict(self.db)

    def answered(self, name):
        """Counts the answers that were read from an index."""
        self.found += views.accelerated(self.db, name) and INDEX in read(self.db, name)


def test_random(rng):
    """Two checks: tables that change, and that indexes are read: there are more tables where that was rare."""
    check, found, count = support.Batch(f"{TABLES} tables or more"), 0, 0
    while count < TABLES or (found <= TABLES and count < 2 * TABLES):
        table = Indexed(rng, check)
        table.live()
        found += table.found
        count += 1
    check.end()
    tap.ok(found > TABLES, f"{found} answers were read from indexes")


def wide(db, rows=20_000):
    """A table whose rows are wide."""
    db.execute("CREATE TABLE t(a INT, b REAL, c TEXT, d, pad TEXT)")
    db.execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
        " INSERT INTO t SELECT i * 7919 % 10007, CASE i % 3 WHEN 0 THEN i WHEN 1 THEN i * 0.5 END, 'n' || (i % 99),"
        " i % 5, hex(zeroblob(80)) FROM n",
        (rows,),
    )


def test_kinds():
    """Which indexes are read, and which are not."""
    db = views.connect(FOLDER.new())
    wide(db)
    cases = (
        ("(b, a)", "SELECT gpu_sum(a), gpu_total(b), count(*) FROM t", INDEX),
        ("(b DESC, a DESC)", "SELECT gpu_sum(a), gpu_total(b) FROM t WHERE b > 100", INDEX),
        ("(c COLLATE NOCASE, a)", "SELECT gpu_count_distinct(c), gpu_max(a) FROM t", INDEX),
        ("(lower(c), b)", "SELECT gpu_total(b) FROM t", INDEX),
        ("(a) WHERE a > 5", "SELECT gpu_sum(a) FROM t WHERE a > 5", TABLE),
        ("(a) WHERE b IS NULL", "SELECT gpu_sum(a) FROM t", TABLE),
        ("(a, pad, c, d, b)", "SELECT gpu_sum(a) FROM t", TABLE),
        ("(a + 1)", "SELECT gpu_sum(a + 1) FROM t", TABLE),
        ("(a)", "SELECT gpu_sum(a), gpu_total(b) FROM t", TABLE),
        ("(a)", "SELECT gpu_sum(a), gpu_sum(rowid) FROM t", TABLE),
        ("(a, d)", "SELECT d, count(*) FROM t GROUP BY d ORDER BY d", INDEX),
    )
    for index, select, expected in cases:
        db.execute("DROP INDEX IF EXISTS x")
        db.execute(f"CREATE INDEX x ON t{index}")
        views.evict(db)
        views.create(db, "v", select)
        for _ in range(2):
            views.agree(db, "v", select, (), f"{index}: {select}")
        tap.ok(read(db, "v").startswith(expected), f"{index}: {select}: {views.plan(db, 'v')}")
    db.close()


def test_choice():
    """Columns of the table that are here already go before those of an index, and those before its pages."""
    db = views.connect(FOLDER.new())
    wide(db)
    db.execute("CREATE INDEX x ON t(a)")
    db.execute("CREATE INDEX y ON t(c)")
    selects = {
        "one": "SELECT gpu_sum(a) FROM t",
        "two": "SELECT gpu_sum(a), gpu_total(b) FROM t",
        "like": "SELECT count(*) FROM t WHERE c LIKE '%7'",
        "both": "SELECT gpu_sum(a) FROM t WHERE c LIKE '%7'",
    }
    for name, select in selects.items():
        views.create(db, name, select)
    steps = (
        ("one", INDEX, ""), ("two", TABLE, ""), ("one", TABLE, "0 bytes"), ("two", TABLE, "0 bytes"),
        ("like", INDEX, ""), ("like", INDEX, "0 bytes"), ("both", TABLE, ""), ("like", TABLE, "0 bytes"),
    )
    for name, expected, amount in steps:
        views.agree(db, name, selects[name], (), f"{name}, {expected}")
        lines = views.plan(db, name)
        tap.ok(read(db, name).startswith(expected) and f"time: {amount}" in lines[-1], f"{lines}")
    db.close()


def test_refresh():
    """In WAL mode the pages of the index that have not changed are kept."""
    db = views.connect(FOLDER.new())
    for pragma in ("page_size = 1024", "journal_mode = WAL", "wal_autocheckpoint = 0"):
        db.execute(f"PRAGMA {pragma}").fetchall()
    wide(db)
    db.execute("CREATE INDEX x ON t(d, a)")
    select = "SELECT gpu_sum(a), gpu_sum(d), count(*) FROM t"
    views.create(db, "v", select)
    views.agree(db, "v", select, (), "at first")
    for sql in ("UPDATE t SET d = 3 WHERE a = 17", "DELETE FROM t WHERE a = 18", "INSERT INTO t(a, d) VALUES (5, NULL)"):
        db.execute(sql)
        views.agree(db, "v", select, (), sql)
        lines = views.plan(db, "v")
        tap.ok(read(db, "v").startswith(INDEX) and "leaf pages have changed" in lines[-1], f"{sql}: {lines}")
    db.execute("UPDATE t SET pad = 'other'")
    views.agree(db, "v", select, (), "a change of another column")
    lines = views.plan(db, "v")
    tap.ok(": 0 of" in lines[-1], f"no leaf of the index has changed: {lines}")
    db.close()


def test_stream():
    """Columns that do not fit."""
    db = views.connect(FOLDER.new())
    wide(db, 60_000)
    db.execute("CREATE INDEX x ON t(c, a, b)")
    support.configure(db, column_memory=300_000)
    for select in (
        "SELECT gpu_sum(a), gpu_total(b), count(*) FROM t WHERE b > 100",
        "SELECT a % 7, count(*), gpu_total(b) FROM t GROUP BY a % 7 ORDER BY 1",
        "SELECT gpu_sum(a) FROM t WHERE c LIKE '%7'",
    ):
        views.create(db, "v", select)
        views.agree(db, "v", select, (), f"streamed: {select}")
        lines = views.plan(db, "v")
        tap.ok("streaming" in lines[0] and read(db, "v").startswith(INDEX), f"streamed: {lines}")
    support.configure(db, column_memory=0)
    db.close()


def test_attached():
    """A table of an attached database, under a name that a table of the main one has as well."""
    db = views.connect(FOLDER.new())
    wide(db, 3000)
    path = FOLDER.new()
    side = views.connect(path)
    wide(side, 9000)
    side.execute("CREATE INDEX x ON t(a)")
    side.close()
    db.execute("ATTACH ? AS side", (path,))
    db.execute("CREATE INDEX x ON t(b)")
    for select in ("SELECT gpu_sum(a) FROM side.t", "SELECT gpu_sum(a) FROM t", "SELECT gpu_total(b) FROM t"):
        views.create(db, "v", select)
        views.agree(db, "v", select, (), select)
    db.close()


def main():
    rng = support.seed()
    test_random(rng)
    test_kinds()
    test_choice()
    test_refresh()
    test_stream()
    test_attached()
    tap.done()


main()
