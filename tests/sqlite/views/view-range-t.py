"""Views whose WHERE bounds the first columns of a covering index, or of a WITHOUT ROWID table's key, read the pages
that can have these rows, and no others.

Which pages those are is said by the keys of the index's interior pages: values of all types, in the order that
SQLite has for them, DESC as well, and such as go on in overflow pages. Whatever they are, and whatever WHERE asks
for, views give what their SELECTs give.
"""

import support
import tap
import view_support as views

FOLDER = views.Folder()
ROWS = 14000
ROUNDS = 30 if tap.QUICK else 150
PART = "accelerated: host, reading a part of the table"
FEW = "row by row: the rows are on"

#: What begins the texts that are longer than a page of 512 bytes holds of them.
STEM = "the beginning of many a long text, "

#: The first column's type, and how its values are made, by the row's number and the generator.
KEYS = {
    "integers": ("INTEGER", lambda i, rng: i * 7919 % 20011 - 9000),
    "few integers": ("INT", lambda i, rng: i % 7 if i % 5 else None),
    "reals": ("REAL", lambda i, rng: rng.choice((i * 0.37 - 500, float(i), -0.0, None))),
    "large numbers": ("NUMERIC", lambda i, rng: rng.choice((2**53 + i, float(2**53 + i), -(2**63) + i, 1e18 * i))),
    "dates": ("TEXT", lambda i, rng: f"{1992 + i % 7}-{i // 7 % 12 + 1:02}-{i // 90 % 7 + 1:02}"),
    "dates, numeric": ("DATE", lambda i, rng: f"{1992 + i % 7}-{i // 7 % 12 + 1:02}-{i // 90 % 7 + 1:02}"),
    "long texts": ("TEXT", lambda i, rng: STEM * (7 if i % 20 == 3 else 1 + i % 2) + str(i % 83) + "x" * (i % 4)),
    "anything": ("", lambda i, rng: rng.choice((i, i * 0.5, f"t{i % 60}", str(i % 90), None, b"b%d" % (i % 50),
                                                (STEM * 5).encode() + b"%d" % (i % 9)))),
    "text of numbers": ("TEXT", lambda i, rng: i % 500),
    "another order": ("TEXT COLLATE NOCASE", lambda i, rng: rng.choice("aAbBcC") + str(i % 70)),
}

#: The tables: the key's first column is of a type and in an order.
TABLES = {
    "an index": "CREATE TABLE t(a {0}, b INT, c INT, pad TEXT); CREATE INDEX x ON t(a {1}, b, c)",
    "an index in binary order": "CREATE TABLE t(a {0}, b INT, c INT, pad TEXT);"
                                " CREATE INDEX x ON t(a COLLATE BINARY {1}, b DESC, c)",
    "a primary key": "CREATE TABLE t(a {0}, b INT, c INT, pad TEXT, PRIMARY KEY(a {1}, b, c)) WITHOUT ROWID",
}

SELECTS = (
    "SELECT count(*), gpu_sum(c), gpu_total(b), gpu_max(c) FROM t WHERE {}",
    "SELECT b % 5, count(*), gpu_sum(c) FROM t WHERE {} GROUP BY 1",
    "SELECT count(a), gpu_min(c) FILTER (WHERE b > 100) FROM t WHERE {}",
    "SELECT typeof(a), count(*), gpu_sum(c) FROM t WHERE {} GROUP BY 1 ORDER BY 1",
    "SELECT a, count(*), gpu_sum(c) FROM t WHERE {} GROUP BY a ORDER BY a",
    "SELECT gpu_count_distinct(b), gpu_median(c) FROM t WHERE {}",
)


class Questions:
    """Conditions on the first columns, with parameters."""

    def __init__(self, rng, values):
        self.rng, self.values = rng, sorted(values, key=repr)

    def value(self):
        """A value of the column, or near one, or of another type."""
        rng = self.rng
        kind = rng.randrange(16)
        if kind == 0:
            return rng.choice((None, 2**63 - 1, -(2**63), 2.0**63, -1e300, 0, -0.0, "", "17", " 5 ", "1e3", b"", b"b3"))
        value = rng.choice(self.values)
        if kind == 1 and isinstance(value, int):
            return float(value)
        if kind == 2 and isinstance(value, str):
            return value[: rng.randrange(len(value) + 1)]
        if kind == 3 and isinstance(value, str):
            return value + rng.choice(("", "\0", "~", "é"))
        if kind == 4 and isinstance(value, (int, float)) and abs(value) < 2**50:
            return value + rng.choice((0.5, 1, -1))
        return value

    def near(self):
        """Two values that are often not far from each other."""
        rng = self.rng
        if rng.random() < 0.2:
            return [self.value(), self.value()]
        same = [value for value in self.values if isinstance(value, type(rng.choice(self.values)))]
        try:
            same.sort()
        except TypeError:  # NULLs
            return [None, self.value()]
        first = rng.randrange(len(same))
        return [same[first], same[min(len(same) - 1, first + rng.choice((0, 1, 30, len(same) // 9, len(same) // 3)))]]

    def literal(self, value):
        """The value as SQL has it, if it can be written so that it is the same."""
        if isinstance(value, str) and "\0" not in value:
            return "'" + value.replace("'", "''") + "'"
        if isinstance(value, int) and value > -(2**63):
            return str(value)
        return None

    def place(self, value, values):
        """A literal, or a parameter."""
        text = self.literal(value) if self.rng.random() < 0.4 else None
        if text is not None:
            return text
        values.append(value)
        return f"?{len(values)}"

    def one(self, values):
        """A condition; its parameters' values are appended."""
        rng = self.rng
        kind = rng.randrange(8)
        low, high = self.near()
        if kind <= 2:
            return f"a BETWEEN {self.place(low, values)} AND {self.place(high, values)}"
        if kind == 3:
            return f"a >= {self.place(low, values)} AND {self.place(high, values)} > a"
        if kind == 4:
            return f"a IN ({self.place(low, values)}, {self.place(high, values)})"
        if kind == 5:
            return f"a = {self.place(low, values)}"
        operator = rng.choice(("=", "<", "<=", ">", ">=", "<>", "IS", "IS NOT"))
        if kind == 6 and rng.random() < 0.6:
            text = f"a = {self.place(rng.choice(self.values), values)} AND b {rng.choice(('<', '>=', '='))} "
            return text + f"{self.place(rng.choice((0, 7, 500, 990.5, None)), values)}"
        if kind == 6:
            return f"{self.place(self.value(), values)} {operator} a"
        return f"a {operator} {self.place(self.value(), values)}"

    def some(self):
        """One, or one with something else; and its parameters."""
        rng, values = self.rng, []
        text = self.one(values)
        kind = rng.randrange(10)
        if kind == 0:
            text = f"{text} AND b < 300"
        elif kind == 1:
            text = f"({text} OR c = 5)"
        elif kind == 2:
            text = f"NOT ({text})"
        elif kind == 3:
            text = f"(({text}) {rng.choice(('AND', 'OR'))} ({self.one(values)}))"
        elif kind == 4:
            text = f"{text} AND abs(b) >= 0"
        elif kind == 5:
            text = f"{text} AND {rng.choice(('a IS NOT NULL', 'length(a) > 2', 'b <> 7', '+a > 5', 'likely(b > 3)'))}"
        return text, values


def fill(db, table, key, order, rng, rows=ROWS):
    """A table; its first column's values."""
    kind, value = KEYS[key]
    db.execute(f"PRAGMA page_size = {1024 if key == 'long texts' else 512}")
    db.executescript(TABLES[table].format(kind, order))
    wide = "p" * (10 if table == "a primary key" else 770 if key == "long texts" else 120)
    db.execute("BEGIN")
    db.executemany("INSERT OR IGNORE INTO t VALUES (?, ?, ?, ?)",
                   ((value(i, rng), i % 1000, i, wide) for i in range(rows)))
    db.execute("COMMIT")
    return [row for (row,) in db.execute("SELECT DISTINCT a FROM t")]


def change(db, rng, other):
    """Something happens to the table, by this connection or the other one."""
    kind = rng.randrange(4)
    who = rng.choice((db, other))
    if kind == 0:
        who.execute("UPDATE OR IGNORE t SET c = c + 1 WHERE c % 97 = ?", (rng.randrange(97),))
    elif kind == 1:
        who.execute("DELETE FROM t WHERE c % 53 = ?", (rng.randrange(53),))
    elif kind == 2:
        who.execute("INSERT OR IGNORE INTO t SELECT a, b + 1, c + 100000, pad FROM t WHERE c % 61 = ?",
                    (rng.randrange(61),))
    elif not db.in_transaction:
        db.execute("BEGIN")
        sql = "UPDATE OR IGNORE t SET a = (SELECT a FROM t LIMIT 1 OFFSET ?) WHERE c % 31 = 3"
        db.execute(sql, (rng.randrange(9),))


def test_random(table, key, order, rng):
    """Random conditions; the columns go now and then, and the table changes."""
    name = f"{table} of {key} {order}"
    batch, path = support.Batch(name), FOLDER.new()
    db = views.connect(path, column_memory=rng.choice((1 << 30, 1 << 30, 60_000)))
    db.execute(f"PRAGMA encoding = '{rng.choice(('UTF-8', 'UTF-8', 'UTF-8', 'UTF-16le'))}'")
    questions = Questions(rng, fill(db, table, key, order, rng))
    db.execute(f"PRAGMA journal_mode = {rng.choice(('WAL', 'DELETE'))}")
    other = views.connect(path, column_memory=None)
    parts = 0
    for turn in range(ROUNDS):
        condition, values = questions.some()
        select = rng.choice(SELECTS).format(condition)
        problem = views.create(db, "v", select)
        batch.check(problem is None, f"{select}: {problem}")
        for _ in range(2):
            want = views.comparable(views.outcome(db, select, values))
            got = views.comparable(views.ask(db, "v", values))
            if not batch.compare(got, want, f"{select} {values}"):
                tap.diag("\n".join(views.plan(db, "v")))
            parts += views.plan(db, "v")[0] == PART
        if db.in_transaction:
            db.execute(rng.choice(("COMMIT", "ROLLBACK")))
        if turn % 8 == 7:
            change(db, rng, other)
        if rng.random() < 0.7:
            views.evict(db)
    batch.end()
    support.configure(db, column_memory=0)
    other.close()
    db.close()
    return parts


def read(db, name, parameters=()):
    """How many bytes of pages a view reads."""
    before = support.stats(db)["bytes_decoded"]
    views.ask(db, name, parameters)
    return support.stats(db)["bytes_decoded"] - before


def pages_of(db, name):
    """How many pages a b-tree has."""
    return db.execute("SELECT count(*) FROM dbstat WHERE name = ?", (name,)).fetchone()[0]


def has_dbstat(db):
    """Whether this SQLite tells of pages."""
    return db.execute("SELECT count(*) FROM pragma_module_list WHERE name = 'dbstat'").fetchone()[0] > 0


#: Conditions that let about a tenth of the rows through, or less, and the values of their parameters.
BOUNDED = {
    "integers": (("a BETWEEN ?1 AND ?2", (1000, 3000)), ("a >= 9000", ()), ("a < ?1 AND b > 5", (-7500,)),
                 ("?1 >= a", (-7500.5,)), ("a > 2000 AND a <= 3000 AND c > 0", ()), ("a IN (?1, 1100)", (1000,))),
    "few integers": (("a = 3", ()), ("a IS ?1", (6,)), ("a >= 6", ()), ("a > 5 AND a < 100", ()),
                     ("a = 3 AND b BETWEEN ?1 AND ?2", (100, 300)), ("b > 500 AND b < 990 AND a IS 5", ())),
    "reals": (("a BETWEEN 700 AND 1000", ()), ("a < ?1", (-400,))),
    "dates": (("a >= '1994-01-01' AND a < '1995-01-01'", ()), ("a BETWEEN ?1 AND ?2", ("1993-02-01", "1993-12-07")),
              ("'1992-09-01' > a AND b <> 5", ()), ("a > '1998-03' AND b <> 7", ())),
    "dates, numeric": (("a >= '1994-01-01' AND a < '1995-01-01'", ()), ("a > ?1 AND b > 3", ("1998-03-01",))),
    "long texts": (("a BETWEEN ?1 AND ?2", (STEM * 7, STEM * 7 + "9")), (f"a > '{STEM * 2}9'", ()),
                   (f"a < '{STEM}2'", ())),
    "anything": (("a BETWEEN 't4' AND 't6'", ()),),
}

#: Those that say nothing of the key's order, whatever else they ask for.
UNBOUNDED = {
    "integers": ("NOT (a < 5)", "a + 1 = 7", "a = 5 OR c = 7", "a <> 5", "abs(a) = 5", "a = 5 AND abs(c) > 2"),
    "dates": ("a <> '1994'", "a LIKE '1994%'", "lower(a) = '1994-01-01'", "a > '1998-06' COLLATE NOCASE",
              "a >= '1998-06-01' AND length(a) = 10", "a > 1998 AND b = 3",
              "a = '1994-01-01' OR a = '1994-01-02'"),
    "dates, numeric": ("a > '1998'", "a > ' 19e2 '"),
    "another order": ("a > 'c5'", "a BETWEEN 'b1' AND 'b2'"),
}


def settle(db):
    """Loads whole columns, and forgets them: what parts have been read does not count from then on."""
    views.through_view(db, "SELECT count(a), gpu_sum(b), gpu_sum(c) FROM t", (), "whole")
    views.evict(db)


def test_ways(rng):
    """What is read of which tables for which conditions."""
    for table in ("an index", "a primary key"):
        for order in ("", "DESC"):
            for key in dict.fromkeys((*BOUNDED, *UNBOUNDED)):
                db = views.connect(FOLDER.new(), column_memory=1 << 30)
                fill(db, table, key, order, rng)
                size = pages_of(db, "x" if table == "an index" else "t") if has_dbstat(db) else None
                for condition, values in BOUNDED.get(key, ()):
                    select = f"SELECT count(*), gpu_sum(c) FROM t WHERE {condition}"
                    views.create(db, "v", select)
                    views.agree(db, "v", select, values, f"{table} {order}: {select} {values}")
                    way = views.plan(db, "v")[0]
                    tap.ok(way == PART or way.startswith(FEW), f"a part is read: {way}")
                    views.evict(db)
                    if way == PART and size is not None:
                        got, most = read(db, "v", values), size * (2048 if key == "long texts" else 256)
                        tap.ok(512 <= got < most, f"{got} bytes, less than {most}")
                    settle(db)
                for condition in UNBOUNDED.get(key, ()):
                    select = f"SELECT count(*), gpu_sum(c) FROM t WHERE {condition}"
                    views.create(db, "v", select)
                    views.agree(db, "v", select, (), f"{table} {order}: {select}")
                    way = views.plan(db, "v")[0]
                    tap.ok(way != PART and not way.startswith(FEW), f"no part is read: {way}")
                    views.evict(db)
                db.close()


def test_columns(rng):
    """The second column counts where the first one has one value; very few pages are SQLite's."""
    for table in ("an index", "a primary key"):
        db = views.connect(FOLDER.new(), column_memory=1 << 30)
        fill(db, table, "few integers", rng.choice(("", "DESC")), rng)
        for condition, way in (("a = 3", PART), ("a = 3 AND b = 10", FEW), ("a >= 6 AND b = 10", PART),
                               ("a = 3 AND b > 200 AND b < 220", FEW), ("a IS NULL AND b = 10", None)):
            select = f"SELECT count(*), gpu_sum(c) FROM t WHERE {condition}"
            views.create(db, "v", select)
            views.agree(db, "v", select, (), f"{table}: {select}")
            tap.ok(way is None or views.plan(db, "v")[0].startswith(way), f"{views.plan(db, 'v')[0]}")
            settle(db)
        db.close()


def swap_cells(path, page, first, second, size=512):
    """Exchanges two cells of an interior page."""
    with open(path, "r+b") as file:
        file.seek((page - 1) * size + 12)
        pointers = bytearray(file.read(2 * (second + 1)))
        one, other = slice(2 * first, 2 * first + 2), slice(2 * second, 2 * second + 2)
        pointers[one], pointers[other] = pointers[other], pointers[one]
        file.seek((page - 1) * size + 12)
        file.write(pointers)


def test_disorder(rng):
    """Interior pages whose keys are not in order: what SQLite finds without the index is there."""
    path = FOLDER.new()
    db = views.connect(path)
    fill(db, "an index", "integers", rng.choice(("", "DESC")), rng)
    if not has_dbstat(db):
        tap.skip("no dbstat: which pages are interior ones is not known")
        return
    pages = db.execute("SELECT pageno, ncell FROM dbstat WHERE name = 'x' AND pagetype = 'internal' AND ncell > 3")
    pages = pages.fetchall()
    db.close()
    batch = support.Batch("keys that are not in order")
    for _ in range(10 if tap.QUICK else 60):
        page, cells = rng.choice(pages)
        first, second = sorted(rng.sample(range(cells), 2))
        swap_cells(path, page, first, second)
        db = views.connect(path, column_memory=1 << 30)
        for _ in range(4):
            low = rng.randint(-9000, 11000)
            high = low + rng.choice((500, 3000))
            select = f"SELECT count(*), gpu_sum(c) FROM t WHERE a BETWEEN {low} AND {high}"
            want = db.execute(select.replace("t WHERE", "t NOT INDEXED WHERE")).fetchall()
            views.create(db, "v", select)
            got = views.ask(db, "v")
            way = views.plan(db, "v")[0]
            if way.startswith("accelerated"):
                batch.compare(got, want, f"{select}, page {page}, cells {first} and {second}: {way}")
            views.evict(db)
        db.close()
        swap_cells(path, page, first, second)
    batch.end()


def main():
    """All of it."""
    rng = support.seed()
    test_ways(rng)
    test_columns(rng)
    test_disorder(rng)
    parts = 0
    for key in KEYS:
        for table in TABLES:
            parts += test_random(table, key, rng.choice(("", "DESC")), rng)
    tap.ok(parts > 4 * len(KEYS), f"{parts} answers came from a part of the table")
    tap.done()


main()
