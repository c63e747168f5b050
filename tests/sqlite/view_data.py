"""Random tables in all forms in which SQLite stores them, and random changes of them."""

import sqlite3

import view_support as views

TYPES = (
    ["INT", "INTEGER", "REAL", "REAL", "DOUBLE", "FLOAT", "NUMERIC", "DECIMAL(5,2)", "BIGINT", ""]
    + ["TEXT", "VARCHAR(9)", "BLOB", "DATE", "BOOLEAN", "FLOATING POINT", "CHARINT"]
)
STRICT_TYPES = ["INT", "INTEGER", "REAL", "REAL", "ANY", "TEXT", "BLOB"]
NAMES = ["a", "b", "c", "d", "e", "f", "g", '"a b"', '"select"', "[x]", "oid", "ROWID", "\u00e9"]
DEFAULTS = ["NULL", "5", "2.5", "-7", "'x'", "'12'", "1e3", "x'01'", "-0.0", "9e999"]
DEFAULTS += ["(1+1)", "0x1F", "0x1FFFFFFFFFF", "9.22e18", "9223372036854775808", "TRUE", "'-0.0'"]
HOSTILE_INTEGERS = [views.INT_MAX, views.INT_MIN, views.INT_MAX - 1, views.INT_MIN + 1]
HOSTILE_INTEGERS += [sign * (2**53 + more) for sign in (1, -1) for more in (-1, 0, 1, 2)]
HOSTILE_INTEGERS += [2**31, -(2**31) - 1, 2**47, 2**55 + 1, 2**62, 0, 1, -1, 127, 128, 32768]
HOSTILE_REALS = [float("inf"), float("-inf"), 5e-324, -5e-324, 2.2250738585072014e-308, -0.0, 0.0]
HOSTILE_REALS += [1e308, -1e308, 1.7976931348623157e308, 2.0**53, 2.0**53 + 2, -(2.0**53), 2.0**63]
HOSTILE_REALS += [-(2.0**63), 9223372036854774784.0, 1e-300, 0.1, 1e16, 3.0, 4503599627370497.5]
WORDS = ["one", "two", "three", "Two", "", "one ", b"one", None, 7]
TEXTS = ["", "a", "12", " 7 ", "1e3", "-0", "0x10", "9223372036854775808", "b\0c", "\u00e9", "NaN"]


def _long(rng):
    """A value that needs overflow pages, or nearly."""
    size = rng.choice((30, 100, 450, 1000, 4050, 9000))
    return rng.choice(("t" * size, b"b" * size))


#: What a column holds; the name, how often, and a function of the generator.
PROFILES = [
    ("small integers", 6, lambda rng: rng.randint(-9, 9)),
    ("integers or NULL", 4, lambda rng: rng.choice((None, rng.randint(-(10**6), 10**12)))),
    ("eighths", 5, lambda rng: rng.randint(-800, 800) / 8),
    ("reals", 4, lambda rng: rng.uniform(-1, 1) * 10.0 ** rng.randint(-20, 20)),
    ("whole reals or NULL", 4, lambda rng: rng.choice((None, float(rng.randint(-99, 99))))),
    ("both", 3, lambda rng: rng.choice((rng.randint(-9, 9), rng.randint(-9, 9) / 4))),
    ("hostile integers", 1, lambda rng: rng.choice(HOSTILE_INTEGERS)),
    ("hostile reals", 2, lambda rng: rng.choice(HOSTILE_REALS)),
    ("TEXT", 1, lambda rng: rng.choice(TEXTS)),
    ("anything", 1, lambda rng: anything(rng)),
    ("rarely TEXT", 2, lambda rng: rng.choice(TEXTS) if rng.random() < 0.02 else rng.randint(0, 9)),
    ("long", 2, _long),
    ("NULL", 1, lambda rng: None),
    ("words", 1, lambda rng: rng.choice(WORDS)),
]
WEIGHTS = [weight for _, weight, _ in PROFILES]


def anything(rng):
    """A value of any type."""
    kinds = (HOSTILE_INTEGERS, HOSTILE_REALS, TEXTS, (b"", b"12", b"\0"), (None,), (1, 2, 2.5))
    return rng.choice(rng.choice(kinds))


class Column:
    """A column: its name as written in SQL, and what its values are like."""

    def __init__(self, rng, name, declaration):
        self.name, self.declaration = name, declaration
        self.profile, _, self.value = rng.choices(PROFILES, WEIGHTS)[0]

    def is_number(self):
        """Whether it holds mostly numbers, as numbers."""
        texts = any(part in self.declaration for part in ("CHAR", "TEXT"))
        return self.profile not in ("TEXT", "anything", "long", "words") and not texts


class Table:
    """A random table in a database of its own, with a connection that has views."""

    def __init__(self, rng, path, device, sizes):
        self.rng, self.log = rng, []
        self.pick, self.chance = rng.choice, lambda share: rng.random() < share
        self.path = ":memory:" if self.chance(0.04) else path
        attached = self.path == path and self.chance(0.15)
        self.db = views.connect(":memory:" if attached else self.path, device)
        self.add_dice(self.db)
        self.schema = "main"
        if attached:
            self.schema = "side"
            self.run(f"ATTACH '{path}' AS side")
        elif self.chance(0.04):
            self.schema = "temp"
        self.prepare_database(attached)
        self.name = f"{self.schema}.t" if attached or self.chance(0.2) else "t"
        self.create()
        self.fill(rng.choice(sizes))
        for _ in range(rng.randrange(4)):
            self.alter()
        for _ in range(self.pick((0, 0, 1, 3))):
            self.index()
        if self.chance(0.4):
            self.run(f"DELETE FROM {self.name} WHERE dice(3) = 0")
            self.fill(rng.randrange(60))
        self.other = None
        if self.path == path and self.schema != "temp":
            self.other = sqlite3.connect(path, isolation_level=None)
            self.other.execute("PRAGMA synchronous = OFF")
            self.add_dice(self.other)

    def add_dice(self, db):
        """Chance in SQL, which repeats with the seed."""
        db.create_function("dice", 1, self.rng.randrange)

    def run(self, sql, parameters=(), db=None):
        """Runs a statement that may fail; the log has it in any case."""
        self.log.append(f"{sql};" + (" -- by another connection" if db else ""))
        try:
            (db or self.db).execute(sql, parameters).fetchall()
        except sqlite3.Error as error:
            self.log[-1] += f" -- {error}"

    def prepare_database(self, attached):
        """The database's own form."""
        schema = self.schema if attached else "main"
        self.run("PRAGMA synchronous = OFF")
        self.run(f"PRAGMA {schema}.page_size = {512 << self.rng.randrange(8)}")
        if not attached:
            self.run(f"PRAGMA encoding = '{self.pick(('UTF-8', 'UTF-8', 'UTF-16le', 'UTF-16be'))}'")
        self.run(f"PRAGMA {schema}.auto_vacuum = {self.rng.randrange(3)}")
        modes = ("DELETE", "TRUNCATE", "PERSIST", "MEMORY", "WAL", "WAL")
        self.run(f"PRAGMA {schema}.journal_mode = {self.pick(modes)}")
        if self.chance(0.3):
            self.run(f"PRAGMA {schema}.wal_autocheckpoint = {self.pick((0, 2, 50))}")
        if self.chance(0.1):
            self.run(f"PRAGMA {schema}.mmap_size = {self.pick((10000, 10**8))}")

    def create(self):
        """The table's declaration."""
        strict = self.chance(0.15)
        without_rowid = self.chance(0.07)
        names = self.rng.sample(NAMES, self.rng.randint(2, 8))
        types = STRICT_TYPES if strict else TYPES
        self.columns = [Column(self.rng, name, self.pick(types)) for name in names]
        parts = [f"{column.name} {column.declaration}" for column in self.columns]
        keys = ("", "", "", "id INTEGER PRIMARY KEY", "id INTEGER PRIMARY KEY AUTOINCREMENT")
        key = self.pick(keys + ("id INTEGER PRIMARY KEY DESC", "id INT PRIMARY KEY"))
        if without_rowid:
            key = self.pick(("id INTEGER PRIMARY KEY", "id INT, PRIMARY KEY (id DESC)"))
        last = key if "PRIMARY KEY (" in key else ""
        if key and not last:
            parts.insert(self.rng.randint(0, len(parts)), key)
        self.key = "id" if key else None
        self.generated = []
        if self.chance(0.12):
            source = self.pick(names)
            parts.insert(0, f"made REAL AS ({source} * 2) {self.pick(('VIRTUAL', 'STORED'))}")
            self.generated.append("made")
        options = ["STRICT"] * strict + ["WITHOUT ROWID"] * without_rowid
        parts += [last] if last else []
        self.rowids = [] if without_rowid else ["rowid", "_rowid_", "oid"]
        self.run(f"CREATE TABLE {self.schema}.t({', '.join(parts)}) {', '.join(options)}")

    def fill(self, count, db=None):
        """More rows."""
        names = [column.name for column in self.columns]
        extra = []
        if self.key and ("WITHOUT" in " ".join(self.log[-9:]) or self.chance(0.5)):
            names.append(self.key)
            extra = [lambda rng: rng.choice((rng.randrange(99999), rng.choice(HOSTILE_INTEGERS)))]
        marks = ", ".join("?" * len(names))
        sql = f"INSERT OR IGNORE INTO {self.target(db)}({', '.join(names)}) VALUES ({marks})"
        makers = [column.value for column in self.columns] + extra
        rows = [[make(self.rng) for make in makers] for _ in range(count)]
        self.log.append(f"{sql}; -- {count} rows like {rows[:1]!r:.300}")
        for row in rows:
            try:
                (db or self.db).execute(sql, row)
            except sqlite3.Error:  # a STRICT table does not take everything
                continue

    def target(self, db):
        """The table's name for a connection: the other one has the file as its main database."""
        return self.name if db is None or self.schema == "main" else "t"

    def alter(self, db=None):
        """Another column, fewer, or another name."""
        table = self.target(db)
        kind = self.rng.randrange(4)
        if kind < 2:
            column = Column(self.rng, f"added{self.rng.randrange(10**6)}", self.pick(TYPES))
            default = self.pick(DEFAULTS)
            before = len(self.log)
            declared = f"{column.declaration} DEFAULT {default}"
            self.run(f"ALTER TABLE {table} ADD COLUMN {column.name} {declared}", (), db)
            if " -- cannot" not in self.log[before] and "error" not in self.log[before]:
                self.columns.append(column)
        elif kind == 2:
            column, name = self.pick(self.columns), f"renamed{self.rng.randrange(10**6)}"
            self.run(f"ALTER TABLE {table} RENAME COLUMN {column.name} TO {name}", (), db)
        elif len(self.columns) > 2:
            column = self.pick(self.columns)
            self.run(f"ALTER TABLE {table} DROP COLUMN {column.name}", (), db)
        self.refresh()

    def refresh(self):
        """Takes the columns' names from SQLite, whatever of it all has worked."""
        info = f"SELECT name, hidden FROM pragma_table_xinfo('t', '{self.schema}')"
        by_name = {column.name.strip('"[]').lower(): column for column in self.columns}
        self.columns = []
        for name, hidden in self.db.execute(info).fetchall():
            if hidden or name == "id":
                continue
            column = by_name.get(name.lower())
            if column is None:
                column = Column(self.rng, name, "")
            column.name = '"' + name.replace('"', '""') + '"'
            self.columns.append(column)

    def index(self, db=None):
        """An index on some columns."""
        names = [column.name for column in self.rng.sample(self.columns, self.rng.randint(1, 2))]
        on = ", ".join(name + self.pick(("", " DESC", " COLLATE NOCASE")) for name in names)
        number = self.rng.randrange(10**6)
        schema = "" if db else f"{self.schema}."
        where = f" WHERE {names[0]} > 1" if self.chance(0.1) else ""
        self.run(f"CREATE INDEX {schema}i{number} ON t({on}){where}", (), db)

    def change(self, db=None):
        """Some change of the data, seldom of the schema, by one of the connections."""
        table, column = self.target(db), self.pick(self.columns)
        where = self.pick(("dice(4) = 0", "dice(30) = 0", "1"))
        kind = self.rng.randrange(12)
        inside = (db or self.db).in_transaction
        if kind < 3:
            self.fill(self.rng.randrange(30), db)
        elif kind < 6:
            value = self.pick((column.value, anything))(self.rng)
            sql = f"UPDATE OR IGNORE {table} SET {column.name} = ? WHERE {where}"
            self.run(sql, (value,), db)
        elif kind < 7:
            self.run(f"DELETE FROM {table} WHERE {where}", (), db)
        elif kind < 8:
            sql = f"UPDATE OR IGNORE {table} SET {column.name} = {column.name} + 1 WHERE {where}"
            self.run(sql, (), db)
        elif kind < 9 and not inside:
            self.run("VACUUM" if db else f"VACUUM {self.schema}", (), db)
        elif kind < 10:
            self.alter(db)
        elif kind < 11:
            self.index(db)
        else:
            mode = self.pick(("PASSIVE", "RESTART", "TRUNCATE"))
            self.run(f"PRAGMA wal_checkpoint({mode})", (), db)

    def numbers(self):
        """Columns to compute with, those that are mostly numbers more often."""
        names = [column.name for column in self.columns]
        good = [column.name for column in self.columns if column.is_number()]
        others = self.rowids[:1] + self.generated + ([self.key] if self.key else [])
        return names + good * 4 + others

    def close(self):
        """Ends both connections."""
        if self.other:
            self.other.close()
        self.db.close()
        if self.path != ":memory:":
            views.remove(self.path)
