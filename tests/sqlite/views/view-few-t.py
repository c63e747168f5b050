"""What SQLite answers by reading few rows stays SQLite's: no page is read for it, and no column brought.

Which SELECTs may be so is said by SQLite's own code, and how many rows they read by a run that ends when it takes
too long. Whoever answers, rows, their order and errors are those of the SELECT.
"""

import support
import tap
import view_support as views
from domains import Few

FOLDER = views.Folder()
ROWS = Few.rows
TURNS = 1000
FEW = "row by row: SQLite finds the rows itself"

#: SELECTs, and their parameters, of few rows of a table: by an index, the rowid or the key, from their ends or in
#: their order.
FEW_ROWS = (
    ("SELECT id, count(*) FROM t GROUP BY id LIMIT 5", ()),
    ("SELECT DISTINCT u FROM t LIMIT 3", ()),
    ("SELECT k, count(*), gpu_sum(x) FROM t GROUP BY k LIMIT 1", ()),
    ("SELECT k, sum(x) FROM t GROUP BY k ORDER BY k DESC LIMIT 1", ()),
    ("SELECT max(k) FROM t", ()),
    ("SELECT max(id) FROM t", ()),
    ("SELECT min(u) FROM t", ()),
    ("SELECT gpu_sum(x) FROM t WHERE k = 5", ()),
    ("SELECT sum(x), count(*) FROM t WHERE k = ?", (7,)),
    ("SELECT count(*), max(x) FROM t WHERE u = 777", ()),
    ("SELECT total(x) FROM t WHERE id = ?", (19,)),
    ("SELECT gpu_sum(x) FROM t WHERE u IN (1, 2, 700)", ()),
    ("SELECT gpu_avg(x) FROM t WHERE id BETWEEN 3 AND ?", (17,)),
    ("SELECT count(*), gpu_max(x) FROM t WHERE id BETWEEN ? AND ?", (100, 140)),
    ("SELECT s, count(*) FROM t WHERE u > 19_980 GROUP BY s".replace("_", ""), ()),
    ("SELECT gpu_sum(x) FROM w WHERE a = 3", ()),
    ("SELECT count(*), gpu_max(b) FROM w WHERE a = ? AND b > 4000", (4,)),
)
#: And of many, or of all as far as SQLite knows.
MANY_ROWS = (
    ("SELECT gpu_sum(x) FROM t WHERE k < 150", ()),
    ("SELECT count(*), gpu_sum(x) FROM t WHERE id BETWEEN ? AND ?", (100, ROWS // 2)),
    ("SELECT gpu_sum(x), gpu_max(k) FROM t WHERE u >= ?", (ROWS // 2,)),
    ("SELECT k, count(*), gpu_sum(x) FROM t GROUP BY k LIMIT 150", ()),
    ("SELECT gpu_sum(x) FROM t", ()),
    ("SELECT gpu_max(x) FROM t", ()),
    ("SELECT x, count(*) FROM t GROUP BY x LIMIT 1", ()),
)


def fill():
    """A connection to a database with the tables, whose views are as by default."""
    db = views.connect(FOLDER.new(), column_memory=1 << 30)
    support.configure(db, view_threshold=1000)
    db.execute("PRAGMA synchronous = OFF")
    Few.create(db)
    db.commit()
    return db


def bytes_read(db):
    """What views have read of pages so far."""
    (count,) = db.execute("SELECT value FROM clreduce_stats WHERE name = 'bytes_decoded'").fetchone()
    return count


def test_few(db):
    """They are answered without pages, the first time and later ones."""
    for select, parameters in FEW_ROWS:
        before = bytes_read(db)
        views.create(db, "v", select)
        for turn in ("first", "again"):
            views.agree(db, "v", select, parameters, f"{turn}: {select}")
        line = views.plan(db, "v")[0]
        tap.ok(line.startswith(FEW) and bytes_read(db) == before, f"... by SQLite, without pages: {line}")


def test_many(db):
    """They are scanned at once."""
    for select, parameters in MANY_ROWS:
        db.execute("SELECT clreduce_evict()")
        views.create(db, "v", select)
        views.agree(db, "v", select, parameters, f"first: {select}")
        tap.ok(views.accelerated(db, "v"), f"... scanned: {views.plan(db, 'v')[0]}")
        views.agree(db, "v", select, parameters, f"again: {select}")


def test_again(db):
    """What takes less than a load does so as long as nobody asks for it again and again."""
    select = f"SELECT count(*), gpu_sum(x) FROM t WHERE id BETWEEN ? AND ? + {ROWS // 50}"
    batch, turn = support.Batch("again and again"), 0
    views.create(db, "v", select)
    while turn < TURNS and not (turn and views.accelerated(db, "v")):
        batch.compare(views.ask(db, "v", (turn, turn)), views.outcome(db, select, (turn, turn)), f"{turn}: {select}")
        turn += 1
    batch.end()
    tap.ok(turn < TURNS, f"the columns are loaded for query {turn}")


def test_threshold(db):
    """Where tables of any size are to be scanned all SELECTs are."""
    support.configure(db, view_threshold=0)
    for select, parameters in FEW_ROWS:
        views.create(db, "v", select)
        views.agree(db, "v", select, parameters, f"view_threshold 0: {select}")
        tap.ok(not views.plan(db, "v")[0].startswith(FEW), "... not left to SQLite for few rows")
    support.configure(db, view_threshold=1000)


def test_errors(db):
    """Errors are SQLite's, whether rows are few or not."""
    for select in ("SELECT sum(big) FROM t WHERE k = 109", "SELECT sum(big) FROM t WHERE k < 150",
                   "SELECT sum(abs(big - 9223372036854775807 - 12)) FROM t WHERE id = 11",
                   "SELECT gpu_sum(big) FROM t WHERE big = 4611686018427387904 AND k = 109"):
        views.create(db, "v", select)
        for _ in range(2):
            views.agree(db, "v", select, (), select)
    for call in ("clreduce_count_row(1)", "clreduce_count_row(NULL)"):
        got = views.outcome(db, f"SELECT {call}")
        tap.ok("is for accelerated views alone" in str(got), f"{call}: {got}")


def test_changes(db):
    """Indexes, functions and values that come and go."""
    select = "SELECT s, count(*), gpu_sum(x) FROM t WHERE k = ? GROUP BY s ORDER BY count(*) DESC LIMIT 2"
    views.create(db, "v", select)
    for statement in ("DROP INDEX ik", "CREATE INDEX ik ON t(k, s)", "UPDATE t SET k = 5 WHERE id < 9000", "ANALYZE",
                      "DROP INDEX ik", "CREATE INDEX ik ON t(s DESC, k)", "DELETE FROM t WHERE id < 5000"):
        views.agree(db, "v", select, (5,), f"before {statement}")
        db.execute(statement)
        db.commit()
        for value in (5, 6):
            views.agree(db, "v", select, (value,), f"after {statement}: k = {value}")


def main():
    db = fill()
    test_few(db)
    test_many(db)
    test_again(db)
    test_threshold(db)
    test_errors(db)
    test_changes(db)
    db.close()
    tap.done()


main()
