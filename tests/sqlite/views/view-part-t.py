"""Views whose WHERE asks for few rowids read the pages that can have these, and no others.

That is so as long as such queries are few: then columns are loaded, as for any other query. Which pages those
are is said by the keys of the b-tree's interior pages; whatever they are, views give what their SELECTs give.
"""

import support
import tap
import view_support as views

FOLDER = views.Folder()
ROWS = 12000 if tap.QUICK else 30000
ROUNDS = 60 if tap.QUICK else 300
PART = "accelerated: host, reading a part of the table"

#: How the rowids of the rows are made of their numbers.
ROWIDS = {
    "dense": lambda i, rows: i,
    "negative": lambda i, rows: 3 * (i - rows // 2),
    "sparse": lambda i, rows: i * 2**40 - 2**50,
    "at the ends": lambda i, rows: i - 2**63 if i < rows // 2 else 2**63 - rows + i,
}

SELECTS = (
    "SELECT count(*), gpu_sum(a), gpu_total(b), gpu_min(id), gpu_max(rowid) FROM t WHERE {}",
    "SELECT g, count(*), gpu_sum(a), gpu_avg(b) FROM t WHERE {} GROUP BY g",
    "SELECT gpu_sum(a) FILTER (WHERE b > 100), count(s), gpu_max(b) FROM t WHERE {}",
    "SELECT s, count(*), gpu_sum(a) FROM t WHERE {} GROUP BY s",
    "SELECT gpu_median(a), gpu_count_distinct(g) FROM t WHERE {}",
    "SELECT id, a, s FROM t WHERE {}",
)
#: Those whose rows need not be kept.
PARTIAL = SELECTS[:4]


def fill(db, order, rows=ROWS, page_size=512):
    """The table, of rowids in that order; some are deleted, so that pages are not full."""
    db.execute(f"PRAGMA page_size = {page_size}")
    db.execute("CREATE TABLE t(a INTEGER, id INTEGER PRIMARY KEY, b REAL, g INTEGER, s TEXT)")
    db.execute("BEGIN")
    db.executemany(
        "INSERT INTO t(id, a, b, g, s) VALUES (?, ?, ?, ?, ?)",
        ((ROWIDS[order](i, rows), i * 7919 % 2003, i * 0.37, i % 5, f"text {i % 7} ...") for i in range(rows)),
    )
    db.execute("DELETE FROM t WHERE a % 11 = 3")
    db.execute("COMMIT")


class Conditions:
    """Conditions on rowids, with parameters."""

    def __init__(self, rng, order):
        self.rng, self.order = rng, order

    def rowid(self):
        """A rowid, of a row or not, as a number of one type or the other, or nothing of the kind."""
        rng = self.rng
        kind = rng.randrange(14)
        if kind == 0:
            return rng.choice((None, 2**63 - 1, -(2**63), 2.0**63, -(2.0**63), 1e300, -1e300, 0, -0.0, "17", "x"))
        value = ROWIDS[self.order](rng.randint(-10, ROWS + 10), ROWS) + rng.choice((0, 0, 0, 1, -1))
        value = max(-(2**63), min(2**63 - 1, value))
        return float(value) if kind == 1 else value + 0.5 if kind == 2 and abs(value) < 2**50 else value

    def near(self):
        """Two rowids with few rows in between."""
        first = self.rng.randint(-10, ROWS)
        last = first + self.rng.choice((0, 1, 5, 100, ROWS // 50, ROWS // 10, ROWS // 2, -3))
        return [max(-(2**63), min(2**63 - 1, ROWIDS[self.order](i, ROWS))) for i in (first, last)]

    def one(self):
        """A condition."""
        rng = self.rng
        name = rng.choice(("id", "rowid", "_rowid_"))
        kind = rng.randrange(9)
        if kind <= 3:
            return f"{name} BETWEEN ? AND ?", self.near()
        if kind == 4:
            return f"{name} > ? AND ? >= id", self.near()
        if kind == 5:
            return f"{name} IN (?, ?)", self.near()
        if kind == 6:
            low, high = self.near()
            return f"(id >= ? AND id < ? OR {name} = ?)", [low, high, high]
        if kind == 7:
            return f"{name} BETWEEN ? AND ?", [self.rowid(), self.rowid()]
        return f"{name} {rng.choice(('=', '<', '<=', '>', '>=', '<>', 'IS', 'IS NOT'))} ?", [self.rowid()]

    def some(self):
        """One, or one with something else."""
        rng = self.rng
        text, values = self.one()
        kind = rng.randrange(8)
        if kind == 0:
            return f"{text} AND b > ?", values + [ROWS * 0.2]
        if kind == 1:
            return f"({text} OR a = ?)", values + [5]
        if kind == 2:
            return f"NOT ({text})", values
        if kind == 3:
            other, more = self.one()
            return f"({text} {rng.choice(('AND', 'OR'))} {other})", values + more
        if kind == 4:
            return f"{text} AND abs(a) >= ?", values + [0]
        return text, values


def numbered(select):
    """The SELECT with ?1, ?2, ... for its question marks."""
    parts = select.split("?")
    return "".join(part + (f"?{i + 1}" if i + 1 < len(parts) else "") for i, part in enumerate(parts))


def test_random(order, rng):
    """Random conditions; the columns go now and then, and the table changes."""
    batch = support.Batch(f"rowids {order}")
    db = views.connect(FOLDER.new(), column_memory=1 << 30)
    fill(db, order)
    db.execute(f"PRAGMA journal_mode = {rng.choice(('WAL', 'DELETE'))}")
    conditions = Conditions(rng, order)
    parts = 0
    for turn in range(ROUNDS):
        condition, values = conditions.some()
        select = numbered(rng.choice(SELECTS).format(condition))
        problem = views.create(db, "v", select)
        batch.check(problem is None, f"{select}: {problem}")
        for _ in range(2):
            want = views.comparable(views.outcome(db, select, values))
            got = views.comparable(views.ask(db, "v", values))
            batch.compare(got, want, f"{select} {values}")
            parts += views.plan(db, "v")[0] == PART
        if turn % 10 == 9:
            db.execute("UPDATE t SET a = a + 1 WHERE id = (SELECT id FROM t LIMIT 1 OFFSET ?)", (turn * 7,))
            db.execute("DELETE FROM t WHERE id = (SELECT id FROM t LIMIT 1 OFFSET ?)", (turn * 11,))
        if rng.random() < 0.7:
            views.evict(db)
    batch.end()
    tap.ok(parts > ROUNDS // 6, f"rowids {order}: {parts} answers came from a part of the table")
    db.close()


def read(db, parameters):
    """How many bytes of pages a view reads."""
    before = support.stats(db)["bytes_decoded"]
    views.ask(db, "v", parameters)
    return support.stats(db)["bytes_decoded"] - before


def test_way():
    """Which queries read a part, how much that is, and when columns are loaded after all."""
    path = FOLDER.new()
    db = views.connect(path, column_memory=1 << 30)
    fill(db, "dense")
    size = db.execute("PRAGMA page_count").fetchone()[0] * 512
    low = ROWS // 2
    for select in SELECTS:
        text = numbered(select.format("id BETWEEN ? AND ?"))
        views.create(db, "v", text)
        views.agree(db, "v", text, (low, low + ROWS // 100), text)
        is_part = views.plan(db, "v")[0] == PART
        tap.is_equal(is_part, select in PARTIAL, f"a part is read: {text}")
        views.agree(db, "v", text, (low, low + ROWS // 2), text)
        tap.is_equal(views.plan(db, "v")[0] == PART, False, "not for half of the rows")
        views.evict(db)
    views.create(db, "v", "SELECT gpu_sum(a) FROM t WHERE id BETWEEN ?1 AND ?2")
    asked = 0
    while True:
        got = read(db, (low, low + ROWS // 100))
        if views.plan(db, "v")[0] != PART:
            break
        asked += 1
        tap.ok(512 <= got < size // 40, f"{got} bytes of {size} are read for 1% of the rows")
    tap.ok(12 <= asked <= 26, f"asked {asked} times, a part is read: then the columns are loaded")
    tap.ok(got > size // 2, f"{got} bytes")
    tap.is_equal(read(db, (low, low + 5)), 0, "and are here")
    reading = db.execute("SELECT count(*) FROM clreduce_columns").fetchone()[0]
    tap.is_equal(reading, 2, "both of them")
    db.close()
    small = views.connect(FOLDER.new())
    fill(small, "dense", 1000)
    views.create(small, "v", "SELECT gpu_sum(a) FROM t WHERE id BETWEEN 5 AND 6")
    views.ask(small, "v")
    tap.is_equal(views.plan(small, "v")[0], "accelerated: host", "a table of few pages is loaded")
    small.close()


def test_stream():
    """A table that is too large for column_memory is read by rowids whatever they are."""
    db = views.connect(FOLDER.new(), column_memory=60_000)
    fill(db, "negative")
    size = db.execute("PRAGMA page_count").fetchone()[0] * 512
    select = "SELECT gpu_sum(a), count(*) FROM t WHERE id > ?1"
    views.create(db, "v", select)
    views.agree(db, "v", select, (-5,), "half of a stream")
    tap.is_equal(views.plan(db, "v")[0], "accelerated: host, streaming the table", "the way")
    got = read(db, (-5,))
    tap.ok(size // 4 < got < size * 2 // 3, f"{got} bytes of {size} are read for half of the rows")
    views.agree(db, "v", select, (2**62,), "no rows")
    db.close()


def main():
    """All of it."""
    rng = support.seed()
    test_way()
    test_stream()
    for order in ROWIDS:
        test_random(order, rng)
    tap.done()


main()
