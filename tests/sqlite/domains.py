"""Random data: kinds of tables, and random changes of them. What is asked about each says its section of selects.grammar.

A domain is a table t, mostly, in a database of its own, with a connection that has views; view_data.py has the one whose
tables have all forms of storage.
"""

import contextlib
import datetime
import sqlite3

import support
import tap
import view_data
import view_support as views
from generate import Writer

WORDS = ["ORD", "ord", "LAX", "JFK", "Ord", "", "a", "A", "ab  ", "ab", "Zürich", "ZÜRICH", "%", "_x",
         "12", " 12", "12 ", "1e3", "-0.0", "0x10", "9007199254740993", "NULL", "x\0y", "'", '"', "\ufffd"]
NUMBERS = [0, 1, -1, 12, 1000, 2**53 + 1, -(2**63), 2**63 - 1, 0.0, 0.5, -0.0, 1.0, 12.0, 1e3, 1e300]
DAYS = [str(datetime.date(2001, 1, 1) + datetime.timedelta(i)) for i in range(40)]


def backwards(a, b):
    """A collation of the application's."""
    a, b = a[::-1], b[::-1]
    return (a > b) - (a < b)


def connect(path, device="host", **options):
    """A connection with the application's collation. Statements that are kept would go on to mean what they meant."""
    db = views.connect(path, device, cached_statements=0, **options)
    db.execute("PRAGMA synchronous = OFF")
    db.create_collation("backwards", backwards)
    return db


class Domain:
    """A kind of tables: what selects.grammar calls it, what makes them, and what changes them."""

    section = None
    words = {}  #: the rules that are not in the grammar: lists of texts
    changes = ()  #: statements, in which {n} is a random number
    parameters = (5, 0.5, "a", None)
    other = None  #: another connection that changes the table

    def __init__(self, rng, path, device, encoding="UTF-8"):
        self.rng, self.path, self.log = rng, path, []
        self.db = connect(path, device)
        self.db.execute(f"PRAGMA encoding = '{encoding}'")
        self.encoding = encoding
        self.fill(rng)
        self.writer = Writer(rng, self.section, self.words, self.parameter)

    def fill(self, rng):
        """Makes the tables."""
        raise NotImplementedError

    def parameter(self, rng):
        """A value for a parameter."""
        return rng.choice(self.parameters)

    def select(self):
        """A SELECT and its parameters."""
        return self.writer.select()

    def run(self, sql, parameters=()):
        """Runs a statement, which may fail."""
        self.log.append(sql)
        try:
            self.db.execute(sql, parameters).fetchall()
        except sqlite3.Error as error:
            self.log[-1] += f" -- {error}"

    def change(self):
        """Some change."""
        if self.changes:
            self.run(self.rng.choice(self.changes).replace("{n}", str(self.rng.randrange(100))))

    def refresh(self):
        """To be called when a change was taken back."""

    def insert(self, table, rows):
        """Rows, which are tuples."""
        support.insert(self.db, table, rows)

    def close(self):
        """Ends the connection."""
        support.configure(self.db, column_memory=0)
        self.db.close()


class Numbers(view_data.Table):
    """Tables of any form."""

    section = "numbers"

    def __init__(self, rng, path, device, encoding=None):
        # What a device gets has some rows at least.
        super().__init__(rng, path, device, (0, 1, 3, 40, 40, 200, 200, 1200) if device == "host" else (150, 1200))
        self.writer = Writer(rng, self.section, {}, self.parameter)

    def parameter(self, rng):
        """Mostly a small number."""
        if rng.random() < 0.3:
            return view_data.anything(rng)
        return rng.choice((rng.randint(-20, 20), rng.randint(-80, 80) / 8))

    def select(self):
        """Of the columns that there are now."""
        names, alias = self.numbers(), self.rng.choice(("", "", " AS q", " q"))
        self.writer.words = {
            "column": names, "table": [self.name], "alias": [alias], "any_column": [column.name for column in self.columns],
            "qualified": [f"{'q' if alias else 't'}.{name}" for name in names],
        }
        return self.writer.select()


class Texts(Domain):
    """A table of columns of every kind, each of few distinct values, with text among them, and a few of numbers."""

    section = "texts"
    columns = {"city": "TEXT", "code": "TEXT COLLATE NOCASE", "trimmed": "VARCHAR(20) COLLATE RTRIM", "day": "TEXT", "stamp": "TIMESTAMP",
               "num": "NUMERIC", "any": "", "blob": "BLOB", "kind": "INTEGER", "price": "REAL", "epoch": "INTEGER"}
    words = {"column": list(columns),
             "word": ["'" + word.replace("\0", "").replace("'", "''") + "'" for word in WORDS + DAYS[:5]]}
    parameters = (*WORDS, *NUMBERS, *DAYS, None, b"12", b"")
    changes = ("DELETE FROM t WHERE id % 97 = {n} % 97", "UPDATE t SET city = 'new' || id WHERE id % 331 = {n}")

    @staticmethod
    def value(rng, name):
        """A value for a column."""
        if rng.random() < 0.05:
            return None
        if name == "blob" and rng.random() < 0.4:
            return rng.choice(WORDS).encode()
        return {
            "city": lambda: rng.choice(WORDS), "code": lambda: rng.choice(WORDS), "trimmed": lambda: rng.choice(WORDS),
            "day": lambda: rng.choice(DAYS), "stamp": lambda: rng.choice(DAYS[:20]) + " 10:20:30", "kind": lambda: rng.randint(-3, 20),
            "price": lambda: rng.randint(-40, 40) / 4, "epoch": lambda: 978_300_000 + 86_400 * rng.randint(0, 60),
        }.get(name, lambda: rng.choice(WORDS + NUMBERS))()

    @classmethod
    def create(cls, db, rng, rows=6_000):
        """The table in any database."""
        declared = ", ".join(f'"{name}" {kind}' for name, kind in cls.columns.items())
        db.execute(f"CREATE TABLE t(id INTEGER PRIMARY KEY, x REAL, n INTEGER, {declared})")
        cls.add(db, rng, rows)

    @classmethod
    def add(cls, db, rng, rows):
        """More rows."""
        db.executemany(f"INSERT INTO t VALUES(NULL, ?, ?{', ?' * len(cls.columns)})", (
            (rng.randint(-999, 999) / 8, rng.randint(-99, 99), *(cls.value(rng, name) for name in cls.columns)) for _ in range(rows)))

    def fill(self, rng):
        self.create(self.db, rng)

    def change(self):
        kind = self.rng.randrange(4)
        if kind == 0:
            self.add(self.db, self.rng, 50)
        elif kind == 1:
            name = self.rng.choice(list(self.columns))
            self.run(f'UPDATE t SET "{name}" = ? WHERE id % 17 = ?', (self.value(self.rng, name), self.rng.randrange(17)))
        else:
            super().change()


class Groups(Texts):
    """The same table, in groups. An order within the call of an aggregate is there from SQLite 3.44 on."""

    section = "groups"
    words = {**Texts.words, **({} if sqlite3.sqlite_version_info >= (3, 44) else {"in_order": [""]})}


class Inner(Groups):
    """And ordinary views of it."""

    section = "inner"
    shown = """
        CREATE VIEW shown AS SELECT city AS a1, n AS b1, x AS c1, kind AS d1, * FROM t WHERE id % 5 > 0;
        CREATE VIEW listed(a1, b1, c1, d1, day, n, x, kind, city, id) AS SELECT day, n % 7, x * 2, lower(day), day, n, x, kind, city, id FROM t;
        CREATE VIEW upon AS SELECT b1 AS a1, a1 AS b1, c1, d1, day, n, x, kind, city, id FROM shown WHERE n > -50;"""

    def fill(self, rng):
        super().fill(rng)
        self.db.executescript(self.shown)


class Ctes(Inner):
    """The same in WITH."""

    section = "ctes"


class Subqueries(Texts):
    """And tables that subqueries read, of another database too, which change and are hidden."""

    section = "subqueries"
    changes = (*Texts.changes, "UPDATE places SET n = n + 1 WHERE n > 0", "INSERT INTO places VALUES('JFK', 'a', 4, 0.5)", "DELETE FROM places",
               *("INSERT INTO places VALUES('ORD', 'ord', 3, 1.0), ('LAX', 'JFK', -2, 2.5), ('ab', 'LAX ', 5, NULL)",) * 2,
               "UPDATE other.far SET n = n - 1", "DROP TABLE IF EXISTS temp.places",
               "CREATE TEMP TABLE IF NOT EXISTS places AS SELECT 'LAX' AS city, 'lax' AS code, 77 AS n, 7.5 AS r")

    @staticmethod
    def create_others(db):
        """Those tables, for any connection with the table t."""
        db.executescript("""
            CREATE TABLE places(city TEXT, code TEXT COLLATE NOCASE, n INT, r REAL);
            INSERT INTO places VALUES('ORD', 'ord', 3, 1.0), ('LAX', 'JFK', -2, 2.5), ('ab', 'LAX ', 5, NULL), (NULL, 'Zürich', NULL, -1),
                ('12', '12', 12, 12);
            ATTACH '' AS other;
            CREATE TABLE other.far(city TEXT, n INT, r);
            INSERT INTO other.far VALUES('ORD', 4, 3), ('ab', -5, 'LAX'), ('x', 1, 12);
            CREATE VIEW hidden AS SELECT r, code COLLATE RTRIM AS trimmed FROM places;""")
        views.create(db, "inner_view", "SELECT kind, gpu_sum(x) AS s FROM t WHERE n > 3 GROUP BY kind ORDER BY s")

    def fill(self, rng):
        super().fill(rng)
        self.create_others(self.db)


class Affinities(Domain):
    """Columns of every affinity, and another table's."""

    section = "affinities"
    parameters = (5, 5.0, "5", "a", 2.5, None, b"5")
    columns = {"r": "REAL", "i": "INTEGER", "m": "NUMERIC", "s": "TEXT", "c": "TEXT COLLATE NOCASE", "a": "", "b": "BLOB"}
    inner = ("w TEXT", "u INTEGER", "v REAL", "z", "q NUMERIC", "d BLOB", "e TEXT COLLATE NOCASE")

    @classmethod
    def create(cls, db, rng):
        """The tables in any database."""
        words = ("5", "5.0", "-1", "0", "a", "5x", "1e1", "", "2.5")
        values = {"r": (0.0, 1.0, 2.5, 5.0, -1.0), "i": (0, 1, 2, 5, 10, -1), "m": (0, 1, 5, -1), "s": words, "c": words,
                  "a": (0.5, 1.0, 2.5, 5.0, 7.5), "b": (0, 5.5, "5", b"5", b"a")}
        support.table(db, f"t({', '.join(f'{name} {kind}' for name, kind in cls.columns.items())}, x REAL)", (
            (*(None if rng.random() < 0.05 else rng.choice(values[name]) for name in cls.columns), i / 8) for i in range(800)))
        support.table(db, f"o({', '.join(cls.inner)})", (
            ("5", 5, 5.0, 5, 5, b"5", "A"), ("5.0", 0, 2.5, 5.0, 2.5, 5, "5"), ("a", 10, None, "5", 0, None, "a"),
            ("1e1", -1, 0.5, 2, 10, b"a", "0"), (None, 1, 1, -1, -1, 1, "1")))

    def fill(self, rng):
        self.create(self.db, rng)


class Json(Domain):
    """A column of JSON, and functions of which nothing is known."""

    section = "json"

    @staticmethod
    def create(db):
        """The table in any database."""
        for name in ("tagged", "passed"):
            db.create_function(name, 1, lambda text: text, deterministic=True)
        support.table(db, "t(j TEXT, n INTEGER)", ((f'{{"a": [{i % 7}]}}', i % 7) for i in range(1000)))

    def fill(self, rng):
        self.create(self.db)


class Collations(Domain):
    """Columns with collating sequences by which no two values are equal and yet differ."""

    section = "collations"
    texts = ("ORD", "lax", "Jfk", "", "a b", "Zürich", "ab", "_x", "[", "ba", None)

    @classmethod
    def create(cls, db, rng):
        """The table in any database."""
        support.table(db, "t(id INTEGER PRIMARY KEY, city TEXT, code TEXT COLLATE NOCASE, trimmed TEXT COLLATE RTRIM, x REAL)", (
            (None, *(rng.choice(cls.texts) for _ in range(3)), rng.randint(-99, 99) / 8) for _ in range(3_000)))

    def fill(self, rng):
        self.create(self.db, rng)


#: Units of UTF-16 and parts of UTF-8, of which texts are made: marks of byte order, what is no character, halves of
#: surrogate pairs, NUL; in UTF-8 also overlong forms, and what none begins or goes on with.
UNITS = (0xFEFF, 0xFFFE, 0xFFFF, 0xFFFD, 0xD800, 0xDBFF, 0xDC00, 0xDFFF, 0x61, 0x41, 0x20, 0x00, 0x25, 0x100, 0xD83D, 0xDE00)
PARTS = (b"\xef\xbb\xbf", b"\xef\xbf\xbe", b"\xef\xbf\xbf", b"\xef\xbf\xbd", b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xf0\x9f\x98\x80",
         b"a", b"A", b" ", b"\0", b"%", b"\xc4\x80", b"\xc0\x80", b"\x80", b"\xff", b"\xfe", b"\xff\xfe", b"\xfe\xff", b"\xf8\x88\x80\x80\x80")


class Encodings(Domain):
    """TEXT that conversions change: SQLite gives a BLOB of a table the database's encoding. Few texts are kept as UTF-8
    does not have them: else SQLite would answer most queries."""

    section = "encodings"
    parameters = ("a", "\ufeffa", "\ufeff", "\ufffea", "\uffff", "\ufffd", "\U0001f600", "a\0b", "\0", "", "%\ufeff%", "\ufeff%", "_", 5,
                  b"\xff\xfea", None)
    tables = "CREATE TABLE t(x INT, s TEXT, c TEXT COLLATE NOCASE)"

    def text(self, rng):
        """The bytes of a TEXT."""
        count = rng.choice((0, 1, 1, 1, 2, 2, 3))
        if self.encoding == "UTF-8":
            return b"".join(rng.choice(PARTS) for _ in range(count))
        order = "little" if self.encoding == "UTF-16le" else "big"
        return b"".join(rng.choice(UNITS).to_bytes(2, order) for _ in range(count))

    def fill(self, rng):
        texts = [self.text(rng) for _ in range(40)]
        self.db.execute("CREATE TABLE raw(i INTEGER PRIMARY KEY, b BLOB)")
        self.insert("raw", ((None, rng.choice(texts)) for _ in range(1_200)))
        self.db.execute(self.tables)
        self.db.execute("INSERT INTO t SELECT i, CAST(b AS TEXT), CAST(b AS TEXT) FROM raw")


class FilledEncodings(Encodings):
    """The same, in columns that SQLite fills."""

    tables = "CREATE TABLE t(x INT, r, q, s TEXT AS (r), c TEXT COLLATE NOCASE AS (q))"


class Ties(Domain):
    """A table of few values, in any order of its rows, with indexes whose names look like a part of a query's plan."""

    section = "ties"
    parameters = (1, 1, 2, 3, 4, 0, 30, None, "2", 2.0)
    names = ("i", "y TEMP B-TREE GROUP BY", "TEMP B-TREE FOR DISTINCT", "x USING COVERING INDEX y (", "SCALAR SUBQUERY 1", "SEARCH",
             "k (a=?)", 'q"uote', "MULTI-INDEX OR", "RIGHT PART OF ORDER BY")
    tables = (
        "a INT, b INT, s TEXT, id INTEGER PRIMARY KEY",
        "a INT NOT NULL, b REAL, s TEXT COLLATE NOCASE, id INTEGER PRIMARY KEY",
        "a INT, b INT NOT NULL, s TEXT, id INT UNIQUE",
        "a INT, b INT, s TEXT, id INT NOT NULL, PRIMARY KEY(a, id)",
        "a INT, b INT, s TEXT, id INT, PRIMARY KEY(b DESC, id)",
    )

    def fill(self, rng):
        # Before 3.38 SQLite loses rows by the end of a primary key that descends.
        declared = rng.choice(self.tables[: None if sqlite3.sqlite_version_info >= (3, 38) else -1])
        without = " WITHOUT ROWID" if "PRIMARY KEY(" in declared and rng.random() < 0.5 else ""
        letters = rng.choice(("abc", "aAbBc")) if "NOCASE" not in declared else "abc"
        self.run(f"CREATE TABLE t({declared}){without}")
        self.insert("t", ((rng.randint(0, 4), rng.randint(0, 3), rng.choice(letters), id) for id in rng.sample(range(1, 601), 600)))
        self.run("CREATE TABLE o(a INT)")
        self.insert("o", [(2,), (0,), (1,)])
        for name in rng.sample(self.names, rng.randint(0, 3)):
            columns = rng.sample(("a", "b", "s", "id"), rng.randint(1, 3))
            terms = [f"{column}{rng.choice(('', '', ' COLLATE BINARY', ' COLLATE NOCASE')) if column == 's' else ''}"
                     f"{rng.choice(('', '', ' DESC'))}" for column in columns]
            where = rng.choice(("", "", "", " WHERE a > 1", " WHERE b IS NOT NULL"))
            unique = "UNIQUE " if "id" in columns and not where else ""
            quoted = name.replace('"', '""')
            self.run(f'CREATE {unique}INDEX "{quoted}" ON t({", ".join(terms)}){where}')
        if rng.random() < 0.5:
            self.run("ANALYZE")


class Few(Domain):
    """Tables of which SQLite may find few rows by an index, the rowid or a key. Views are as by default."""

    section = "few"
    rows = 20_000
    words = {"row": [str(row) for row in range(-5, rows, 37)]}

    def fill(self, rng):
        self.db.executescript("""
            CREATE TABLE t(id INTEGER PRIMARY KEY, k INT, u INT, x REAL, s TEXT, big INT);
            CREATE INDEX ik ON t(k); CREATE UNIQUE INDEX iu ON t(u); CREATE INDEX "is" ON t(s COLLATE NOCASE);
            CREATE INDEX ikx ON t(k DESC, x) WHERE k > 150;
            CREATE TABLE w(a INT, b INT, x REAL, PRIMARY KEY(a, b)) WITHOUT ROWID;""")
        self.insert("t", ((i, i * 7919 % 200, i * 7919 % self.rows, i * 0.37, "abcAB"[i % 5], 2**62 if i % 200 == 11 else i)
                          for i in range(1, self.rows + 1)))
        self.insert("w", ((i % 500, i, i / 8) for i in range(self.rows)))
        support.configure(self.db, view_threshold=1000)

    def parameter(self, rng):
        return rng.choice((rng.randint(-1, 205), rng.randint(-1, 205), rng.randint(-5, self.rows), None, "7", 7.5))


class Partial(Domain):
    """Rows of which none has another one's url."""

    section = "partial"
    parameters = (7, 0, "http://5", None)
    changes = ("UPDATE t SET x = (x + 1) % 1000 WHERE id % 7 = 0",
               "INSERT INTO t SELECT NULL, x, y, n, city, url || '.{n}', ref FROM t WHERE id % 400 = 0")

    def fill(self, rng):
        self.db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, x INTEGER, y REAL, n INT, city TEXT, url TEXT, ref TEXT COLLATE NOCASE)")
        self.insert("t", ((None, rng.randrange(1_000), rng.randint(-999, 999) / 8, rng.choice((None, 1, 2, 3)),
                           rng.choice(("Oslo", "Rome", "rome", None)), f"http://{i}.org", rng.choice((f"r{rng.random()}", None)))
                          for i in range(4_000)))


class DeviceGroups(Domain):
    """Keys and values for a device: `many` is different in nearly each row, `wide` spills now and then, `wild` always."""

    section = "device_groups"
    cities = ("ORD", "LAX", "JFK", "SFO", "", "Zürich", "ord", None)
    spread = (0.0, -0.0, 1e-300, -1e300, 1e300, 0.1, 3.5, float("inf"), None)

    @classmethod
    def create(cls, db, rng, rows, in_order=False):
        """The table in any database. in_order: rows of a city, and among these of one `few`, lie beside each other."""
        made = [(
            None, rng.choice(cls.cities), f"20{rng.randint(10, 12)}-0{rng.randint(1, 9)}-{rng.randint(10, 28)}",
            rng.randint(-2, 3) if rng.random() > 0.1 else None, rng.randint(0, rows), rng.randint(-99, 99),
            rng.choice((2**62, -(2**62), 2**40, 1, -1)), rng.randint(-999, 999) / 8, rng.choice((None, 1, 2, 7, 0.5, -2.25)),
            rng.random() * 100 if rng.random() > 0.002 else 1e-30, rng.choice(cls.spread)) for _ in range(rows)]
        if in_order:
            made.sort(key=lambda row: (row[1] or "", row[3] or 0))
        support.table(db, "t(id INTEGER PRIMARY KEY, city TEXT, day TEXT, few INTEGER, many INTEGER, n INTEGER, big INTEGER, x REAL,"
                          " mixed, wide REAL, wild REAL)", made)

    def fill(self, rng):
        self.create(self.db, rng, 5_000, in_order=rng.random() < 0.5)


class Edges(Domain):
    """Numbers near those from where on no REAL has each INTEGER, in columns of all affinities."""

    section = "edges"
    edges = (2**53, -(2**53), 2**54, 2**47, -(2**47), 2**60, 2**62, 435090932899640449, 2**63, -(2**63))
    indexes = ()

    def large(self, rng):
        """A number near an edge."""
        number = rng.choice(self.edges) + rng.choice((0, 0, 1, -1, 2, 3, -3, 255, -1024, 2048))
        number = max(views.INT_MIN, min(views.INT_MAX, number))
        return number if rng.random() < 0.6 else float(number)

    parameter = large

    def fill(self, rng):
        self.words = {"large": [repr(self.large(rng)) for _ in range(2_000)]}
        self.db.execute("CREATE TABLE t(k INTEGER PRIMARY KEY, r REAL, n NUMERIC, i BIGINT, b BLOB, m)")
        keys = {*range(-700, 700), *(min(views.INT_MAX, int(self.large(rng))) for _ in range(300)), views.INT_MIN, views.INT_MAX}
        self.insert("t", ((key, *(self.large(rng) if rng.random() < 0.95 else None for _ in range(5))) for key in keys))
        for column in self.indexes:
            self.db.execute(f"CREATE INDEX 'on {column}' ON t({column})")


class IndexedEdges(Edges):
    """The same, with an index on each column."""

    indexes = ("r", "n", "i DESC", "b", "m", "i + 0")


class Times(Domain):
    """Timestamps of one format, mostly. Of some tables a few values are none, or come later."""

    section = "times"
    rows = 2_000
    #: What is nearly a timestamp, and what is none.
    odd = ("2024-02-30 00:00:00", "2024-01-01 24:00:00", "2024-01-02t10:00:00", " 2024-01-02 10:00", "12024-01-02 10:00",
           "2024-01-02 10:00:00\0x", "2024-01-02 10:00+01:00", "2024-01-02", "x", "10:00", 5, 2.5, b"2024-01-02 10:00:00")
    changes = ("UPDATE t SET ts = ended WHERE id % 90 = {n}", "UPDATE t SET n = n + 1 WHERE id % 50 = {n} % 50",
               "UPDATE t SET ended = '' WHERE id = {n}", "UPDATE t SET ts = '2024-01-02T10:00' WHERE id = {n}",
               "INSERT INTO t SELECT NULL, ts, ended, u, j, n FROM t WHERE id % 60 = {n} % 60", "DELETE FROM t WHERE id % 70 = {n} % 70")

    def stamp(self, rng):
        """A timestamp in the table's format."""
        date = f"{rng.choice((0, 1999, 9999)) if rng.random() < 0.01 else 2024:04}-{rng.choice((1, 3, 12)):02}-{rng.choice((1, 2, 15, 31)):02}"
        time = f"{rng.choice((0, 10, 23)):02}:{rng.choice((0, 59)):02}:{rng.choice((0, 7, 59)):02}"
        fraction = rng.choice((0, 999_999, 999_500, 5_000, 123_456))
        return date + self.middle + (time + f".{fraction:06}")[:self.length] + self.behind

    def value(self, rng):
        """A timestamp, or none."""
        if rng.random() < self.odd_share:
            return rng.choice(self.odd)
        return rng.choice((None, "")) if rng.random() < 0.01 else self.stamp(rng)

    def fill(self, rng):
        self.middle, self.length, self.behind = rng.choice(" T"), rng.choice((5, 8, 8, 12, 15)), rng.choice(("", "", "Z", "+00:00"))
        self.odd_share = rng.choice((0, 0, 0, 0.01))
        self.words = {"stamp": [repr(self.stamp(rng)[:length]) for length in (32, 32, 32, 32, 18, 13, 11, 10, 7)]}
        kind = rng.choice(("TEXT", "DATETIME", "", "TIMESTAMP", "TEXT COLLATE NOCASE"))
        self.db.execute(f"CREATE TABLE t(id INTEGER PRIMARY KEY, ts {kind}, ended TEXT, u INTEGER, j REAL, n INT)")
        self.insert("t", ((None, self.value(rng), self.value(rng), rng.randrange(1_700_000_000, 1_705_000_000, 7_919),
                           2_460_000.5 + rng.randrange(400) / 8, rng.randrange(100)) for _ in range(self.rows)))

    def parameter(self, rng):
        return rng.choice((self.stamp(rng), self.stamp(rng), self.stamp(rng)[:rng.randrange(20)], rng.choice(self.odd), None))


class Stars(Domain):
    """A fact table and its dimensions, some of whose keys no row has, and some of which are missing."""

    section = "stars"
    words = {} if sqlite3.sqlite_version_info >= (3, 39) else {"right": ["INNER"]}
    #: More than one block. To most RIGHT JOINs SQLite goes over all of them for each row of a dimension.
    rows = 1_100 if tap.QUICK else 3_000
    parameters = (0, 3, 2.5, "n1", "N3", "l3", None, "3")
    mixed = (1, 2, 3, 1.0, "1", "2", "x", 2.5, b"1", None)
    tables = ("CREATE TABLE d(id INTEGER PRIMARY KEY, name TEXT, big INT, v REAL, rid INT, up INT, any)",
              "CREATE TABLE r(rid INT UNIQUE, title TEXT COLLATE NOCASE)", "CREATE TABLE p(a INT, b INT, label TEXT, weight INT, UNIQUE(a, b))")
    changes = ("UPDATE t SET n = n + 1 WHERE id % 50 = {n} % 50", "INSERT INTO t SELECT NULL, did, other, code, w, n, x, any FROM t WHERE id % 60 = {n} % 60",
               "UPDATE d SET name = 'n' || {n} WHERE id % 10 = {n} % 10", "DELETE FROM d WHERE id = {n}", "DELETE FROM r WHERE rid = {n} % 5",
               "INSERT OR REPLACE INTO d VALUES({n}, 'new', 3, 0.5, 2, 1, NULL)", "UPDATE d SET rid = {n} % 7, up = {n} WHERE id > {n}",
               "DELETE FROM t WHERE id % 70 = {n} % 70", "UPDATE c SET label = 'l3' WHERE weight = {n} % 5", "DELETE FROM r", "DELETE FROM w WHERE id = 1",
               "INSERT OR IGNORE INTO r VALUES({n} % 5, 'T' || {n})", "UPDATE t SET did = NULL WHERE id % 40 = {n} % 40",
               "UPDATE d SET name = printf('%.600c', 'n') || {n} WHERE id % 50 = {n} % 50", "UPDATE t SET n = n + 1 WHERE id = {n}",
               "UPDATE d SET name = replace(name, 'n', 'm') WHERE id % 50 = {n} % 50", "UPDATE t SET any = 'n1' WHERE id = {n} + 7", "VACUUM",
               "DELETE FROM q WHERE c = {n} % 7", "UPDATE q SET label = 'l3' WHERE c = {n} % 5", "UPDATE t SET w = {n} % 4, code = 'b' WHERE id % 30 = {n} % 30",
               "ALTER TABLE d RENAME COLUMN any TO anything", "ALTER TABLE d RENAME COLUMN anything TO any", "DROP INDEX IF EXISTS by_did",
               "CREATE INDEX IF NOT EXISTS by_did ON t(did)", "CREATE TEMP TABLE d AS SELECT * FROM main.d WHERE id < {n}", "DROP TABLE IF EXISTS temp.d", "ANALYZE",
               "CREATE UNIQUE INDEX IF NOT EXISTS by_v ON d(v DESC)", "CREATE UNIQUE INDEX IF NOT EXISTS by_v ON d(v COLLATE NOCASE)", "DROP INDEX IF EXISTS by_v")

    def fill(self, rng):
        kind, keyed = rng.choice((("TEXT", "TEXT"), ("TEXT", "TEXT COLLATE NOCASE"), ("", ""), ("TEXT COLLATE NOCASE", "TEXT"), ("INT", "TEXT"), ("", "TEXT")))
        other = rng.choice(("", "INT", "TEXT", "REAL"))
        self.run(f"PRAGMA page_size = {512 << rng.choice((0, 1, 3))}")
        self.run(f"PRAGMA auto_vacuum = {rng.randrange(3)}")
        self.run(f"PRAGMA journal_mode = {rng.choice(('WAL', 'WAL', 'DELETE'))}")
        for statement in self.tables:
            self.db.execute(statement)
        self.db.execute(f"CREATE TABLE c(code {keyed} UNIQUE, label TEXT, weight NUMERIC)")
        self.db.execute(f"CREATE TABLE w(id {rng.choice(('', 'INT', 'TEXT', 'REAL'))} PRIMARY KEY, label TEXT, weight REAL) WITHOUT ROWID")
        self.db.execute(f"CREATE TABLE q(a {rng.choice(('', 'INT', 'TEXT', 'REAL'))}, b {keyed}, label TEXT, weight NUMERIC, c INT, UNIQUE(a, b))")
        self.db.execute(f"CREATE TABLE t(id INTEGER PRIMARY KEY, did INT, other, code {kind}, w {other}, n INT, x REAL, any TEXT)")
        keys = rng.choice((30, 150, 700, 900))
        if tap.QUICK and keys > 150 and rng.random() < 0.75:
            # SQLite would spend half of a run with going over all rows for each of many keys.
            self.words = {**self.words, "right": ["LEFT"]}
        if rng.random() < 0.4:
            self.run("CREATE UNIQUE INDEX by_v ON d(v)")
        self.insert("d", ((i, rng.choice((None, f"n{i % 9}", f"N{i % 4}")), i % 7, i / 4, i % 6, rng.randrange(40), rng.choice(self.mixed))
                          for i in range(keys) if rng.random() < 0.9))
        self.insert("r", [(i, f"{rng.choice('tT')}{i}") for i in range(5)] + [(None, "none"), (None, "nor")])
        self.insert("p", ((i, k, f"l{i % 5}", i + k) for i in range(keys) for k in range(3)))
        for _ in range(40):
            self.run("INSERT OR IGNORE INTO c VALUES(?, ?, ?)", (rng.choice(("a", "A", "b", "B", "é", 1, "1", 1.0, None)), f"l{rng.randrange(5)}", rng.choice((1, 2.5, 7, None))))
            self.run("INSERT OR IGNORE INTO q VALUES(?, ?, ?, ?, ?)", (rng.choice(self.mixed), rng.choice(("a", "A", "b", "é", 1, "1", 2, None)), f"l{rng.randrange(5)}",
                                                                        rng.choice((1, 2.5, None)), rng.randrange(9)))
            self.run("INSERT OR IGNORE INTO w VALUES(?, ?, ?)", (rng.choice(self.mixed), f"l{rng.randrange(5)}", rng.choice((1, 2.5, None))))
        self.insert("t", ((None, rng.choice((rng.randrange(keys), rng.randrange(keys), rng.randrange(-3, keys + 9), None)),
                           rng.choice((rng.randrange(keys), rng.randrange(keys) * 1.0, str(rng.randrange(keys)))), rng.choice(("a", "A", "b", "é", "1", 1, None)),
                           rng.choice(self.mixed), rng.randrange(100), rng.randrange(400) / 8, f"n{rng.randrange(4)}") for _ in range(self.rows)))


class LookedUp(Stars):
    """The same, looked up by subqueries."""

    section = "looked_up"


class Merged(Stars):
    """The same by way of subqueries, views and CTEs."""

    section = "merged"

    def fill(self, rng):
        super().fill(rng)
        self.db.execute("CREATE VIEW some_d AS SELECT * FROM d WHERE id % 7 > 0")
        self.db.execute("CREATE VIEW sold AS SELECT t.n AS c, d.name AS a, d.big AS b, t.x, r.title AS e FROM t LEFT JOIN some_d AS d ON d.id = t.did LEFT JOIN r ON r.rid = d.rid")
        self.db.execute("CREATE VIEW some_t(id, did, other, code, n, x, any) AS SELECT id, did, other, code, n, x, any FROM t WHERE n > 1")


class Scattered(Stars):
    """The same in several databases of the connection, by whose names in front nobody tells them: tables hide each other, and
    databases come and go."""

    places = ("main", "temp", "one", "two", "three")
    changes = (*(change.replace("main.d", "d") for change in Stars.changes if "by_" not in change), "DROP TABLE IF EXISTS temp.r",
               "CREATE TEMP TABLE r AS SELECT * FROM r WHERE rid > {n} % 3", "CREATE TABLE main.p AS SELECT * FROM p WHERE a < {n}", "ALTER TABLE main.p RENAME TO p{n}",
               "CREATE UNIQUE INDEX one.by_name ON d(name, id)", "DROP INDEX one.by_name", "CREATE TEMP TABLE t AS SELECT * FROM t WHERE id > {n}", "DROP TABLE temp.t",
               "ALTER TABLE two.d RENAME TO far", "ALTER TABLE two.far RENAME TO d", "DROP TABLE IF EXISTS three.c", "PRAGMA one.wal_checkpoint", "VACUUM one")

    def fill(self, rng):
        super().fill(rng)
        self.files = {}
        for place in self.places[2:]:
            kind = rng.choice(("WAL", "DELETE", "WAL", "DELETE", "memory", "temporary"))
            self.files[place] = {"memory": ":memory:", "temporary": ""}.get(kind) if kind.islower() else views.new()
            self.attach(place, self.files[place])
            if kind.isupper():
                self.run(f"PRAGMA {place}.journal_mode = {kind}")
            self.run(f"CREATE TABLE {place}.first(a)" * rng.randrange(2) or "SELECT 1")
        for table in ("t", "d", "r", "p", "c", "w", "q"):
            self.move(table, rng.choice(self.places))

    def attach(self, place, path):
        """Attaches a file by a name."""
        self.run(f"ATTACH ? AS {place}", (path,))

    def move(self, table, place):
        """Moves a table from main, with its unique keys."""
        if place == "main":
            return
        [(sql,)] = self.db.execute("SELECT sql FROM main.sqlite_master WHERE name = ?", (table,))
        self.run(sql.replace("CREATE TABLE ", f"CREATE TABLE {place}.", 1))
        self.run(f"INSERT INTO {place}.{table} SELECT * FROM main.{table}")
        self.run(f"DROP TABLE main.{table}")

    def change(self):
        kind, (one, two) = self.rng.randrange(10), self.rng.sample(self.places[2:], 2)
        if kind == 0 and self.files[one] and self.files[two]:
            self.run(f"DETACH {one}")
            self.run(f"DETACH {two}")
            if self.rng.random() < 0.5 and "memory" not in self.files[one] + self.files[two]:
                self.files[one], self.files[two] = self.files[two], self.files[one]
            self.attach(one, self.files[one])
            self.attach(two, self.files[two])
        elif kind < 4 and self.files[one] not in ("", ":memory:"):
            self.commit(self.files[one])
        else:
            super().change()

    def commit(self, path):
        """A change by another connection, if nobody keeps it from that."""
        change = self.rng.choice(Stars.changes).replace("{n}", str(self.rng.randrange(100)))
        self.log.append(f"{path}: {change}")
        with contextlib.closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as other:
            try:
                other.execute(change).fetchall()
            except sqlite3.Error as error:
                self.log[-1] += f" -- {error}"


class ScatteredLookedUp(Scattered):
    """The same, looked up by subqueries."""

    section = "looked_up"


class FilledTimes(Times):
    """The same in memory, so that SQLite fills the columns."""

    def __init__(self, rng, path, device, encoding="UTF-8"):
        super().__init__(rng, ":memory:", device, encoding)


class Zones(Domain):
    """Numbers that follow each other in an order, or in none: of their blocks of rows a filter lets nothing of some through."""

    section = "zones"
    rows = 6_144 if tap.QUICK else 9_216
    orders = {
        "ascending": lambda rng, rows: list(range(rows)),
        "descending": lambda rng, rows: list(range(rows, 0, -1)),
        "random": lambda rng, rows: [rng.randrange(rows) for _ in range(rows)],
        "clustered": lambda rng, rows: [i // 700 * 977 % rows for i in range(rows)],
        "nearly": lambda rng, rows: [max(0, i - rng.randrange(30)) for i in range(rows)],
    }
    #: What columns have of a row's number: without a type, where TEXT would come to be compared, there is none.
    columns = {
        "i": ("INTEGER", lambda rng, n: n),
        "r": ("REAL", lambda rng, n: n / 8),
        "n": ("INTEGER", lambda rng, n: None if n % 50 < 25 else n),
        "m": ("", lambda rng, n: n if rng.random() < 0.5 else n + 0.5),
        "few": ("", lambda rng, n: 2**53 + n // 3000 if n % 3000 else float(2**53 + n // 3000)),
        "zero": ("REAL", lambda rng, n: -0.0 if n % 2 else 0.0),
        "d": ("TEXT", lambda rng, n: f"2024-{n // 28 % 12 + 1:02}-{n % 28 + 1:02}"),
        # Those of which whole blocks in order have one value, one type, or few values; and those that blocks may be too wide for.
        "c": ("INTEGER", lambda rng, n: -(n // 2048) or None),
        "f": ("TEXT", lambda rng, n: f"x{n // 1500}"),
        "e": ("TEXT", lambda rng, n: f"2024-01-{n // 400 % 28 + 1:02}"),
        "k": ("", lambda rng, n: n + 0.5 if n // 1024 % 3 == 1 else n),
        "v": ("REAL", lambda rng, n: None if n % 90 == 3 else n / 7),
        "w": ("REAL", lambda rng, n: n / 7 * 10.0 ** (n // 2000 % 8 * 35 if n % 3 == 0 else 0)),
        # Those whose sums of runs of rows are told by what is kept of them.
        "p": ("REAL", lambda rng, n: n * 37 % 9973 / 100),
        "q": ("INTEGER", lambda rng, n: n * 37 % 250 - 100),
        "b": ("INTEGER", lambda rng, n: 2**51 - 125 + n * 37 % 250),
    }
    numbers = (0, -0.0, 0.5, -1, 2**53, 2**53 + 1, 2.0**53, 2**53 + 2, 2**63 - 1, -(2**63), 2.0**63, 1e300, -1e300, None)
    words = {"day": [f"'2024-{month:02}-{day:02}'" for month in range(14) for day in range(1, 29)],
             "month": [f"'2024-{month:02}'" for month in range(14)]}
    changes = ("INSERT INTO t(i, r, n, m, few, zero, d, c, f, e, k, v, w, p, q, b)"
               " SELECT i + 7, r, n, m, few, zero, d, c, f, e, k, v, w, p, q, b FROM t LIMIT 3",
               "UPDATE t SET i = -5, r = 1e6, n = NULL WHERE id = (SELECT max(id) / 2 FROM t)",
               "UPDATE t SET i = iif(typeof(i) = 'text', 17, 'not a number') WHERE id = 1030",
               "DELETE FROM t WHERE id BETWEEN 2000 AND 2010",
               "DELETE FROM t WHERE id > (SELECT max(id) - 40 FROM t)",
               "INSERT OR REPLACE INTO t(id, i, d) VALUES (2005, 99999, '1999-01-01')",
               "DELETE FROM t WHERE id % 5 = 0", "VACUUM")

    @classmethod
    def create(cls, db, rng, order, rows):
        """The table in any database."""
        db.execute(f"CREATE TABLE t(id INTEGER PRIMARY KEY, {', '.join(f'{name} {kind}' for name, (kind, _) in cls.columns.items())})")
        cls.add(db, rng, cls.orders[order](rng, rows))

    @classmethod
    def add(cls, db, rng, numbers):
        """More rows."""
        marks = ", ".join("?" * len(cls.columns))
        db.executemany(f"INSERT INTO t({', '.join(cls.columns)}) VALUES({marks})", (
            [make(rng, n) for _, make in cls.columns.values()] for n in numbers))

    def fill(self, rng):
        self.run(f"PRAGMA journal_mode = {rng.choice(('WAL', 'DELETE'))}")
        order = rng.choice(list(self.orders))
        self.log.append(order)
        self.create(self.db, rng, order, self.rows)

    def parameter(self, rng):
        if rng.random() < 0.2:
            return rng.choice(self.numbers)
        n = rng.randint(-5, self.rows + 5) / rng.choice((1, 1, 8))
        return rng.choice((int(n), float(n), n + 0.5))


class Keyed(Domain):
    """Tables WITHOUT ROWID of every page size, with keys of several columns, DESC and collating sequences, long keys with
    overflow pages, and other indexes."""

    section = "keyed"
    parameters = (3, 0, 1.5, "a", None)
    types = ("INT", "INTEGER", "REAL", "TEXT", "NUMERIC", "BLOB", "", "DOUBLE", "VARCHAR(9)")
    collations = ("", "", "", "COLLATE NOCASE", "COLLATE RTRIM", "COLLATE BINARY")

    def fill(self, rng):
        self.run(f"PRAGMA encoding = '{rng.choice(('UTF-8', 'UTF-8', 'UTF-16le'))}'")
        self.run(f"PRAGMA page_size = {512 << rng.choice((0, 0, 0, 1, 2, 3, 5, 7))}")
        self.run(f"PRAGMA auto_vacuum = {rng.randrange(3)}")
        self.run(f"PRAGMA journal_mode = {rng.choice(('DELETE', 'WAL', 'WAL'))}")
        self.create(rng, [f"c{number}" for number in range(rng.randint(2, 7))])
        self.longest = rng.choice((0, 30, 300, 3000))
        self.pool = [self.value() for _ in range(30)]
        self.add(rng.choice((0, 1, 20, 300, 900, 900, 2500)))

    def create(self, rng, columns):
        """The table and its indexes, some of which have all of some columns."""
        parts = [f"{name} {rng.choice(self.types)} {rng.choice(self.collations)}" for name in columns]
        key = rng.sample(columns, rng.randint(1, min(3, len(columns))))
        if rng.random() < 0.3:
            key.append(rng.choice(key))
        key = ", ".join(f"{name} {rng.choice(self.collations)} {rng.choice(('', 'ASC', 'DESC'))}" for name in key)
        if rng.random() < 0.15:
            parts = ["id INTEGER PRIMARY KEY"] + parts
        else:
            parts.append(f"PRIMARY KEY ({key})")
        self.made = rng.random() < 0.2
        if self.made:
            parts.insert(0, f"made AS ({rng.choice(columns)}) {rng.choice(('VIRTUAL', 'STORED'))}")
        self.run(f"CREATE TABLE t({', '.join(parts)}) WITHOUT ROWID")
        for number in range(rng.randrange(3)):
            self.run(f"CREATE INDEX x{number} ON t({', '.join(rng.sample(columns, rng.randint(1, 2)))})")

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

    def names(self):
        """The columns that there are now and that values can be given for."""
        return [name for _, name, *_ in self.db.execute("PRAGMA table_info(t)") if name != "made"]

    def add(self, count):
        """More rows, some with NULLs where they may be: not in a key."""
        rng, names = self.rng, self.names()
        self.log.append(f"{count} rows, longest {self.longest}")
        self.db.executemany(f"INSERT OR IGNORE INTO t({', '.join(names)}) VALUES ({', '.join('?' * len(names))})", (
            [None if rng.random() < 0.1 / len(names) else rng.choice(self.pool) if rng.random() < 0.9 else rng.randrange(100) for _ in names]
            for _ in range(count)))

    def select(self):
        names = self.names()
        self.writer.words = {"column": names, "made": ["made" if self.made else names[0]]}
        for rule, call in (("counts", "count({0})"), ("maxima", "count({0}), gpu_max({0})"), ("distincts", "gpu_count_distinct({0})")):
            self.writer.words[rule] = [", ".join(map(call.format, names))]
        return self.writer.select()

    def change(self):
        rng = self.rng
        column, kind = rng.choice(self.names()), rng.randrange(11)
        if kind < 3:
            self.add(rng.choice((1, 1, 5, 50)))
        elif kind == 3:
            self.run(f"DELETE FROM t WHERE abs(random()) % {rng.choice((2, 20, 200))} = 0")
        elif kind == 4:
            self.run(f"UPDATE OR IGNORE t SET {column} = ? WHERE abs(random()) % 30 = 0", (self.value(),))
        elif kind == 5:
            default = rng.choice(("5", "-2.5", "NULL", "'text'"))
            self.run(f"ALTER TABLE t ADD COLUMN added{len(self.log)} {rng.choice(self.types)} DEFAULT {default}")
        elif kind == 6:
            self.run(f"CREATE INDEX x{len(self.log)} ON t({column})")
        elif kind == 7 and not self.db.in_transaction:
            self.log.append("elsewhere: DELETE")
            other = sqlite3.connect(self.path, isolation_level=None)
            other.execute("DELETE FROM t WHERE abs(random()) % 50 = 0")
            other.close()
        elif kind == 8:
            self.run(rng.choice(("PRAGMA wal_checkpoint(TRUNCATE)", "REINDEX", "ANALYZE", "PRAGMA incremental_vacuum")))
        elif kind == 9:
            self.run("VACUUM")
        else:
            views.evict(self.db)
