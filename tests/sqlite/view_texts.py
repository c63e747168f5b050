"""A table of columns of every kind, each of few distinct values, with text among them, and random
expressions over it."""

import datetime

import tap
import view_support as views

ROWS = 6_000

#: A table with the kinds of columns there are, each of few distinct values.
COLUMNS = {
    "city": "TEXT",
    "code": "TEXT COLLATE NOCASE",
    "trimmed": "VARCHAR(20) COLLATE RTRIM",
    "day": "TEXT",
    "stamp": "TIMESTAMP",
    "num": "NUMERIC",
    "any": "",
    "blob": "BLOB",
    "kind": "INTEGER",
    "price": "REAL",
    "epoch": "INTEGER",
}
WORDS = ["ORD", "ord", "LAX", "JFK", "Ord", "", "a", "A", "ab  ", "ab", "Zürich", "ZÜRICH", "%", "_x",
         "12", " 12", "12 ", "1e3", "-0.0", "0x10", "9007199254740993", "NULL", "x\0y", "'", '"', "\ufffd"]
NUMBERS = [0, 1, -1, 12, 1000, 2**53 + 1, -(2**63), 2**63 - 1, 0.0, 0.5, -0.0, 1.0, 12.0, 1e3, 1e300]
DAYS = [str(datetime.date(2001, 1, 1) + datetime.timedelta(i)) for i in range(40)]

COLLATIONS = ("", "", "", " COLLATE NOCASE", " COLLATE RTRIM", " COLLATE BINARY", " COLLATE backwards")


def backwards(a, b):
    """A collation of the application's."""
    a, b = a[::-1], b[::-1]
    return (a > b) - (a < b)


def value_for(rng, name):
    """A value for a column."""
    if rng.random() < 0.05:
        return None
    if name in ("city", "code", "trimmed"):
        return rng.choice(WORDS)
    if name == "day":
        return rng.choice(DAYS)
    if name == "stamp":
        return rng.choice(DAYS[:20]) + " 10:20:30"
    if name == "kind":
        return rng.randint(-3, 20)
    if name == "price":
        return rng.randint(-40, 40) / 4
    if name == "epoch":
        return 978_300_000 + 86_400 * rng.randint(0, 60)
    if name == "blob" and rng.random() < 0.4:
        return rng.choice(WORDS).encode()
    return rng.choice(WORDS + NUMBERS)


def fill(db, rng, rows=ROWS, table="t"):
    """The table, and a column of numbers for the aggregates."""
    declared = ", ".join(f'"{name}" {kind}' for name, kind in COLUMNS.items())
    db.execute(f"CREATE TABLE {table}(id INTEGER PRIMARY KEY, x REAL, n INTEGER, {declared})")
    add(db, rng, rows, table)


def add(db, rng, rows, table="t"):
    """More rows."""
    marks = ", ".join("?" * (len(COLUMNS) + 2))
    names = ", ".join(f'"{name}"' for name in COLUMNS)
    db.executemany(
        f"INSERT INTO {table}(x, n, {names}) VALUES({marks})",
        (
            (rng.randint(-999, 999) / 8, rng.randint(-99, 99), *(value_for(rng, n) for n in COLUMNS))
            for _ in range(rows)
        ),
    )


class Writer:
    """Writes random conditions and values over one column."""

    def __init__(self, rng):
        self.rng, self.values = rng, []
        self.pick = rng.choice

    def parameter(self):
        """A parameter of any type."""
        self.values.append(self.pick(WORDS + NUMBERS + DAYS + [None, b"12", b""]))
        return f"?{len(self.values)}"

    def literal(self):
        """A literal, mostly text."""
        kind = self.rng.random()
        if kind < 0.1:
            return self.parameter()
        if kind < 0.25:
            return self.pick(("0", "1", "12", "-1", "0.5", "1e3", "NULL", "x'3132'", "x''"))
        word = self.pick(WORDS + DAYS[:5])
        return "'" + word.replace("\0", "").replace("'", "''") + "'"

    def value(self, column, depth=2):
        """An expression over the column."""
        below = (lambda: self.value(column, depth - 1)) if depth else (lambda: f'"{column}"')
        kind = self.rng.randrange(26) if depth else 0
        if kind < 6:
            return self.pick((f'"{column}"', f't."{column}"', f'"{column}"'))
        if kind < 8:
            return f"{self.pick(('upper', 'lower', 'length', 'trim', 'hex', 'typeof', 'quote'))}({below()})"
        if kind < 10:
            return f"substr({below()}, {self.rng.randint(-3, 4)}, {self.rng.randint(0, 5)})"
        if kind < 12:
            return f"{below()} || {self.literal()}"
        if kind < 13:
            return f"replace({below()}, {self.literal()}, 'q')"
        if kind < 14:
            return f"instr({below()}, {self.literal()})"
        if kind < 16:
            return f"CAST({below()} AS {self.pick(('TEXT', 'INTEGER', 'REAL', 'NUMERIC', 'BLOB'))})"
        if kind < 18:
            return f"strftime('{self.pick(('%Y', '%w', '%s', '%m-%d'))}', {below()})"
        if kind < 19:
            return f"{self.pick(('date', 'julianday', 'datetime'))}({below()}, '+1 day')"
        if kind < 20:
            return f"coalesce({below()}, {self.literal()})"
        if kind < 21:
            return f"CASE WHEN {self.condition(column, 0)} THEN {below()} ELSE {self.literal()} END"
        if kind < 22:
            return f"printf('%s-%d', {below()}, {below()})"
        if kind < 23:
            return f"({below()}{self.pick(COLLATIONS)})"
        if kind < 24:
            return f"iif({self.condition(column, 0)}, 1, {below()})"
        if kind < 25:
            return f"nullif({below()}, {self.literal()})"
        return f"({below()} {self.pick(('+', '-', '*', '/', '%', '&', '|', '<<', '>>'))} {self.literal()})"

    def condition(self, column, depth=1):
        """A condition over the column."""
        value, kind = self.value(column, depth), self.rng.randrange(10)
        if kind < 4:
            operator = self.pick(("=", "==", "<>", "<", "<=", ">", ">=", "IS", "IS NOT"))
            return f"{value} {operator} {self.literal()}{self.pick(COLLATIONS)}"
        if kind < 5:
            return f"{value} {self.pick(('', 'NOT '))}BETWEEN {self.literal()} AND {self.literal()}"
        if kind < 6:
            listed = ", ".join(self.literal() for _ in range(self.rng.randint(1, 4)))
            return f"{value} {self.pick(('', 'NOT '))}IN ({listed})"
        if kind < 8:
            pattern = self.pick(("'%a%'", "'O%'", "'2001-01-1%'", "'_x'", "'12'", "'%'", None))
            pattern = pattern or self.literal()
            escape = self.pick(("", "", " ESCAPE '_'"))
            return f"{value} {self.pick(('', 'NOT '))}LIKE {pattern}{escape}"
        if kind < 9:
            pattern = "'*O*'" if self.rng.random() < 0.5 else self.literal()
            return f"{value} {self.pick(('', 'NOT '))}GLOB {pattern}"
        return f"{value} {self.pick(('IS NULL', 'IS NOT NULL', 'NOTNULL'))}"

    def where(self):
        """Conditions over one column each, put together."""
        parts = []
        for _ in range(self.pick((1, 1, 2, 3))):
            if self.rng.random() < 0.25:
                parts.append(self.pick(("n > 0", "x < 10.5", "kind = 3", "price >= 1", "id % 3 = 1")))
            else:
                parts.append(self.condition(self.pick(list(COLUMNS))))
        return f" {self.pick(('AND', 'AND', 'OR'))} ".join(f"({part})" for part in parts)

    def select(self):
        """A SELECT."""
        self.values = []
        calls = self.pick((
            "count(*)", "gpu_sum(x), count(*)", "gpu_avg(n), gpu_min(x)", "gpu_median(n), count(city)",
            "gpu_sum(n) FILTER (WHERE {}), count(*)", "gpu_sum(length({})), count(*)",
            "gpu_max(CASE WHEN {} THEN x ELSE n END)", "count({}), 'n=' || count(*)",
            "gpu_min(<>), gpu_max(<>)", "gpu_mode(<>), gpu_count_distinct(<>)", "gpu_max_state(<>)",
        ))
        column = self.pick(list(COLUMNS))
        while "<>" in calls:
            calls = calls.replace("<>", self.value(self.pick(list(COLUMNS)), 1), 1)
        if "length({})" in calls:
            calls = calls.format(self.value(column))
        elif "{}" in calls:
            calls = calls.format(self.condition(column))
        return f"SELECT {calls} FROM t WHERE {self.where()}"


def connect(path, device="host", **options):
    """A connection with the application's collation. Statements that are kept would go on to mean
    what they meant."""
    db = views.connect(path, device, cached_statements=0, **options)
    db.execute("PRAGMA synchronous = OFF")
    db.create_collation("backwards", backwards)
    return db


def change(db, rng):
    """One change of the table, which may be taken back."""
    kind = rng.randrange(5)
    if kind == 0:
        add(db, rng, 50)
    elif kind == 1:
        name = rng.choice(list(COLUMNS))
        db.execute(f'UPDATE t SET "{name}" = ? WHERE id % 17 = ?', (value_for(rng, name), rng.randrange(17)))
    elif kind == 2:
        db.execute("DELETE FROM t WHERE id % 97 = ?", (rng.randrange(97),))
    elif kind == 3:
        db.execute("UPDATE t SET city = 'new' || id WHERE id % 331 = ?", (rng.randrange(331),))
    else:
        db.execute("BEGIN")
        db.execute("UPDATE t SET city = 'gone'")
        db.rollback()
    db.commit()


def is_fast(db, select, parameters=(), name="view_of_it"):
    """One check: the view gives what the SELECT gives, and is accelerated."""
    want = views.outcome(db, select, parameters)
    got = views.through_view(db, select, parameters, name)
    tap.is_equal(views.comparable(got), views.comparable(want), select)
    verdict = views.plan(db, name)[0]
    if not tap.ok(verdict.startswith("accelerated"), f"accelerated: {select}"):
        tap.diag(verdict)
