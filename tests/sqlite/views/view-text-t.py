"""Accelerated views of text, dates and any function: dictionaries and lookups.

What kernels do not compute of one column, SQLite evaluates once for each of its distinct values. A
view gives what its SELECT gives (clause 1 of view.h): in every encoding, with every affinity and
collation, with functions of the application, and with errors only where a row has one.
"""

import datetime
import re

import support
import tap
import view_support as views

FOLDER = views.Folder()
ROWS = 6_000
STATEMENTS = 160 if tap.QUICK else 4_000

#: On a device, which compiles nearly each of them.
ON_DEVICE = 30 if tap.QUICK else 200

#: What a device never does: nobody waits for it.
HOSTS_OWN = re.compile("_distinct|_mode|_median")

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


def test_differential(rng, device, encoding, statements):
    """Random SELECTs over the table, which changes in between."""
    db = connect(FOLDER.new(), device)
    db.execute(f"PRAGMA encoding = '{encoding}'")
    fill(db, rng)
    db.commit()
    tally = views.Tally()
    batch = support.Batch(f"{encoding}, {device}: {statements} random SELECTs and their views")
    writer = Writer(rng)
    for i in range(statements):
        if i % 40 == 39:
            change(db, rng)
        select = writer.select()
        want = views.outcome(db, select, writer.values)
        got = views.through_view(db, select, writer.values)

        def judge(got, what=f"{select} {writer.values}"):
            return batch.compare(views.comparable(got), views.comparable(want), what)

        hosts_own = device == "host" or bool(HOSTS_OWN.search(select))
        if judge(got) and not hosts_own and views.accelerated(db, "view_of_it"):
            views.ask_device(db, "view_of_it", writer.values, judge)
        if not isinstance(want, views.Failure):
            tally.add(db, "view_of_it", hosts_own)
    batch.end()
    tally.require(0.6, f"{encoding}, {device}")
    if device != "host":
        tally.require_device(0.8, f"{encoding}, {device}")
    db.close()


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


#: What people ask: an analyst of flights, and three benchmarks.
ASKED = (
    "SELECT gpu_avg(x) FROM t WHERE city = 'ORD'",
    "SELECT gpu_avg(x) FROM t WHERE day LIKE '2001-01-1%'",
    "SELECT gpu_sum(x) FROM t WHERE day BETWEEN '2001-01-01' AND '2001-01-05' AND upper(city) <> 'LAX'",
    "SELECT count(*), gpu_median(x) FROM t WHERE strftime('%w', day) = '0'",
    "SELECT gpu_sum(x * n) AS revenue FROM t WHERE day >= '2001-01-02' AND day < date('2001-01-02', '+7 days')"
    " AND n BETWEEN 5 - 4 AND 60 AND x < 24",
    "SELECT count(*) FROM t WHERE city LIKE '%R%'",
    "SELECT count(*) FROM t WHERE code = 'ord'",
    "SELECT count(*) FROM t WHERE city IN ('ORD', 'LAX') AND code NOT IN ('a')",
    "SELECT gpu_sum(length(city)), gpu_max(x) FROM t WHERE city <> ''",
    "SELECT gpu_sum(x) FROM t WHERE CAST(substr(day, 9) AS INTEGER) % 2 = 0",
    "SELECT gpu_avg(x) FROM t WHERE strftime('%Y', epoch, 'unixepoch') = '2001'",
    "SELECT gpu_sum(CASE WHEN city GLOB 'O*' THEN x ELSE 0 END) FROM t",
    "SELECT gpu_sum(x) FILTER (WHERE trimmed = 'ab'), printf('%.1f', gpu_avg(x)) FROM t",
    "SELECT count(*) FROM t WHERE any = '12' OR stamp < '2001-01-05' COLLATE NOCASE",
    "SELECT gpu_sum(x) FROM t AS q WHERE q.city || '!' = 'JFK!'",
)


def test_asked(rng):
    """Shapes of queries that must be accelerated."""
    for encoding in ("UTF-8", "UTF-16le"):
        db = connect(FOLDER.new())
        db.execute(f"PRAGMA encoding = '{encoding}'")
        fill(db, rng)
        db.commit()
        for select in ASKED:
            is_fast(db, select)
        is_fast(db, "SELECT count(*) FROM t WHERE city = ?1", ("LAX",))
        is_fast(db, "SELECT count(*) FROM t WHERE city = ?1 AND x > ?2", ("LAX", 3))
        is_fast(db, "SELECT count(*) FROM t WHERE trim(any) IN (?1, ?2)", ("12", b"a"))
        db.close()


def test_growth(rng):
    """New values come, by this connection and by another, and are taken back."""
    for mode in ("DELETE", "WAL", "TRUNCATE", "PERSIST"):
        path = FOLDER.new()
        db = connect(path)
        db.execute(f"PRAGMA journal_mode = {mode}")
        fill(db, rng, 3_000)
        db.commit()
        other = connect(path)
        selects = {
            "v": "SELECT count(*), gpu_sum(x) FROM t WHERE city LIKE '%new%' OR city = 'ORD'",
            "w": "SELECT gpu_sum(length(city)), gpu_sum(x) FROM t WHERE code = 'new 3' OR city > 'm'",
        }
        batch = support.Batch(f"{mode}: values come and go")
        tally = views.Tally()
        for name, select in selects.items():
            views.create(db, name, select)
        for i in range(15 if tap.QUICK else 80):
            writer = rng.choice((db, other))
            kind = rng.randrange(4)
            if kind == 0:
                writer.execute("UPDATE t SET city = ?, code = ? WHERE id % 101 = ?", (f"new {i}", f"NEW {i}", i))
            elif kind == 1:
                add(writer, rng, 20)
            elif kind == 2:
                writer.execute("UPDATE t SET city = 'new' || (id % 700) WHERE id % 7 = 1")
            else:
                writer.execute("DELETE FROM t WHERE id % 211 = ?", (i,))
            if rng.random() < 0.2:
                writer.rollback()
            elif writer is db and rng.random() < 0.3:
                for name, select in selects.items():
                    batch.compare(views.ask(db, name), views.outcome(db, select), f"uncommitted: {select}")
            writer.commit()
            for name, select in selects.items():
                batch.compare(views.ask(db, name), views.outcome(db, select), select)
                tally.add(db, name, hosts_own=True)
        batch.end()
        tally.require(0.6, mode)
        other.close()
        db.close()


def test_functions(rng):
    """Functions of the application: called once for each value, replaced, failing."""
    db = connect(FOLDER.new())
    fill(db, rng)
    db.commit()
    calls = []

    def spy(value):
        calls.append(value)
        return len(value or "")

    db.create_function("spy", 1, spy, deterministic=True)
    is_fast(db, "SELECT gpu_sum(x) FROM t WHERE spy(city) = 3")
    values = db.execute("SELECT count(*) FROM (SELECT DISTINCT city COLLATE BINARY FROM t)").fetchone()[0]
    calls.clear()
    views.ask(db, "view_of_it")
    tap.ok(0 < len(calls) <= values, f"at most one call for each of {values} values: {len(calls)}")
    select = "SELECT count(*) FROM t WHERE spy(city) = 3"
    views.create(db, "replaced", select)
    views.ask(db, "replaced")
    db.create_function("spy", 1, lambda value: 3, deterministic=True)
    views.agree(db, "replaced", select, (), "a function is replaced")
    db.create_function("spy", -1, lambda *values: 4, deterministic=True)
    views.agree(db, "replaced", select, (), "one of any arguments comes beside it")
    db.create_function("spy", 1, None)
    views.agree(db, "replaced", select, (), "and the first one goes")
    db.create_function("any_time", 1, lambda value: 3)
    select = "SELECT count(*) FROM t WHERE any_time(city) = 3"
    tap.is_equal(views.through_view(db, select), views.outcome(db, select), "not deterministic")
    tap.ok("any_time" in views.plan(db, "view_of_it")[0], "which the plan says")

    select = "SELECT count(*) FROM t WHERE city LIKE 'ord'"
    views.create(db, "liked", select)
    views.agree(db, "liked", select, (), "LIKE")
    db.execute("PRAGMA case_sensitive_like = 1")
    views.agree(db, "liked", select, (), "LIKE that is case sensitive")
    db.execute("PRAGMA case_sensitive_like = 0")
    views.agree(db, "liked", select, (), "and not again")

    select = "SELECT count(*) FROM t WHERE city < 'LAX' COLLATE backwards"
    views.create(db, "sorted", select)
    views.agree(db, "sorted", select, (), "a collation of the application's")
    db.create_collation("backwards", lambda a, b: (a > b) - (a < b))
    views.agree(db, "sorted", select, (), "which is replaced")
    db.create_collation("backwards", None)
    views.agree(db, "sorted", select, (), "and removed")
    db.close()


def test_nested(rng):
    """A function that asks the view which calls it, or drops it."""
    db = connect(FOLDER.new())
    fill(db, rng)
    db.commit()
    depth = []

    def ask(value):
        if depth:
            return 1
        depth.append(value)
        try:
            return db.execute("SELECT * FROM nested").fetchone()[0]
        finally:
            depth.pop()

    db.create_function("ask", 1, ask, deterministic=True)
    select = "SELECT count(*), ask(count(*)) FROM t WHERE ask(city) > 0"
    views.create(db, "nested", select)
    for _ in range(3):
        views.agree(db, "nested", select, (), "a view within itself")
    db.create_function("ask", 1, lambda value: db.execute("DROP TABLE nested") and 1, deterministic=True)
    tap.ok(isinstance(views.ask(db, "nested"), views.Failure), "it can't be dropped meanwhile")
    db.close()


def test_kept(rng):
    """Results of a large dictionary are kept, as long as everything is the same, and extended."""
    db = connect(FOLDER.new())
    db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, x REAL, s TEXT, d TEXT)")
    db.executemany(
        "INSERT INTO t(x, s, d) VALUES(?, ?, ?)",
        ((i % 7, f"value {i % 900}", DAYS[i % 40] + f" 0{i % 10}:{i % 60:02}") for i in range(9_000)),
    )
    db.commit()
    calls = []

    def spy(value, other=0):
        calls.append(value)
        return len(value) + other

    db.create_function("spy", 1, spy, deterministic=True)
    selects = {
        "a": "SELECT gpu_sum(x), count(*) FROM t WHERE spy(s) = 9 AND s <> 'value 5'",
        "b": "SELECT gpu_max(s), gpu_sum(x) FROM t WHERE s LIKE ?1",
        "c": "SELECT count(*) FROM t WHERE strftime('%w', d) = '0'",
        "e": "SELECT count(*) FROM t WHERE s < 'value 3' COLLATE backwards",
    }
    for name, select in selects.items():
        views.create(db, name, select)

    def agree(what, fast=False):
        for name, select in selects.items():
            for values in (("%1",), ("%2",), ("%2",)) if "?1" in select else ((), ()):
                views.agree(db, name, select, values, f"{what}: {select} {values}")
                if fast:
                    tap.ok(views.accelerated(db, name), f"{what}: accelerated")

    agree("at first", fast=True)
    calls.clear()
    views.ask(db, "a")
    tap.is_equal(calls, [], "nothing is evaluated again")
    db.execute("INSERT INTO t(x, s, d) SELECT 1, 'value ' || id, '2002-02-02' FROM t WHERE id BETWEEN 900 AND 950")
    db.commit()
    calls.clear()
    views.ask(db, "a")
    tap.ok(0 < len(calls) <= 900 + 51, f"a dictionary that has grown: {len(calls)} calls")
    agree("more values", fast=True)
    # SQLite does not say of LIKE that it is deterministic once it is case sensitive.
    changes = (
        ("PRAGMA case_sensitive_like = 1", lambda: db.execute("PRAGMA case_sensitive_like = 1").fetchall()),
        ("another function", lambda: db.create_function("spy", 1, lambda v: 9, deterministic=True)),
        ("another one", lambda: db.create_function("spy", 1, lambda v: 8, deterministic=True)),
        ("of any arguments", lambda: db.create_function("spy", -1, lambda *v: 9, deterministic=True)),
        ("the first goes", lambda: db.create_function("spy", 1, None)),
        ("and comes", lambda: db.create_function("spy", 1, spy, deterministic=True)),
        ("a collation", lambda: db.create_collation("backwards", lambda a, b: (a > b) - (a < b))),
        ("strftime()", lambda: db.create_function("strftime", -1, lambda *v: "0", deterministic=True)),
        ("strftime() of two", lambda: db.create_function("strftime", 2, lambda *v: "1", deterministic=True)),
        ("no limit", lambda: db.execute("SELECT 1")),
    )
    for what, change in changes:
        change()
        agree(what)
    db.create_function("spy", 1, spy)
    views.agree(db, "a", selects["a"], (), "no longer deterministic")
    tap.ok(not views.accelerated(db, "a"), "and SQLite's")
    db.close()


def test_errors(rng):
    """An expression fails for a value: the SELECT's error if a row has it, else nothing."""
    db = connect(FOLDER.new())
    db.execute("CREATE TABLE j(id INTEGER PRIMARY KEY, x INT, doc TEXT)")
    db.executemany(
        "INSERT INTO j(x, doc) VALUES(?, ?)",
        ((i, '{"a": %d}' % (i % 9)) for i in range(3_000)),
    )
    db.commit()
    select = "SELECT gpu_sum(x) FROM j WHERE json_extract(doc, '$.a') = 3"
    is_fast(db, select, name="js")
    db.execute("UPDATE j SET doc = 'no JSON' WHERE id = 77")
    db.commit()
    views.agree(db, "js", select, (), "an error")
    tap.ok(isinstance(views.ask(db, "js"), views.Failure), "which is one")
    db.execute("UPDATE j SET doc = '{}' WHERE id = 77")
    db.commit()
    views.agree(db, "js", select, (), "the value is gone")
    tap.ok(views.accelerated(db, "js"), "accelerated again, though the dictionary has it")
    db.close()


def test_rights(rng):
    """An authorizer that denies a function, or hides what it does not know."""
    db = connect(FOLDER.new())
    fill(db, rng)
    db.commit()
    select = "SELECT count(*) FROM t WHERE upper(city) = 'ORD'"
    is_fast(db, select)
    want = views.outcome(db, select)
    db.set_authorizer(
        lambda action, a, b, *rest: 2 if action == 20 and "entries" in (a or "") else 0
    )
    tap.is_equal(views.through_view(db, select), want, "tables that are not known are hidden")
    db.set_authorizer(lambda action, a, b, *rest: 1 if action == 31 and b == "upper" else 0)
    tap.is_equal(
        views.comparable(views.ask(db, "view_of_it")),
        views.comparable(views.outcome(db, select)),
        "a function is denied",
    )
    db.set_authorizer(None)
    db.close()


def test_many_values(rng):
    """A column that hardly repeats is SQLite's."""
    db = connect(FOLDER.new())
    db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, x REAL, url TEXT)")
    db.executemany("INSERT INTO t(x, url) VALUES(?, ?)", ((i, f"http://{i}.org") for i in range(5_000)))
    db.commit()
    select = "SELECT count(*), gpu_sum(x) FROM t WHERE url LIKE '%7%'"
    tap.is_equal(views.through_view(db, select), views.outcome(db, select), "many values")
    tap.ok("url" in views.plan(db, "view_of_it")[0], "as the plan says")
    db.close()


def main():
    rng = support.seed()
    test_asked(rng)
    test_functions(rng)
    test_nested(rng)
    test_kept(rng)
    test_errors(rng)
    test_rights(rng)
    test_many_values(rng)
    test_growth(rng)
    for encoding in ("UTF-8", "UTF-16le", "UTF-16be"):
        test_differential(rng, "host", encoding, STATEMENTS if encoding == "UTF-8" else STATEMENTS // 2)
    for device in views.devices()[1:]:
        started = views.warm(device)
        test_differential(rng, device, "UTF-8", ON_DEVICE)
        started.close()
    tap.done()


main()
