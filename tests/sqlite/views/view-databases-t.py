"""Joins and subqueries of tables in several databases of a connection: attached files, databases in memory, temp. Whatever
becomes of any of them, a view gives what its SELECT gives.
"""

import contextlib
import functools
import sqlite3
import time

import support
import tap
import view_support as views

ROWS, KEYS = (1_100, 90) if tap.QUICK else (5_000, 200)
#: The databases of the fact table t, of the dimension d, and of e, to which t and d lead.
LAYOUTS = (("main", "one", "two"), ("main", "one", "one"), ("main", "temp", "one"), ("main", "main", "two"), ("one", "main", "two"), ("one", "two", "temp"),
           ("one", "one", "temp"), ("temp", "main", "one"))
#: What is attached as one, and as two.
KINDS = (("DELETE", "WAL"), ("WAL", "memory"), ("memory", "DELETE"), ("unnamed", "WAL"))
SELECTS = {
    "inner_join": "SELECT d.a, count(*), sum(n) FROM {t} JOIN {d} ON d.id = t.k WHERE d.b <> 'b3' GROUP BY d.a ORDER BY 1",
    "left_join": "SELECT coalesce(d.b, 'none'), count(*), gpu_sum(n) FROM {t} LEFT JOIN {d} ON d.id = t.k AND a > 1 GROUP BY 1 ORDER BY 1",
    "branch": "SELECT e.name, count(*), sum(n) FROM {t} JOIN {d} ON d.id = t.k JOIN {e} ON e.code = d.c GROUP BY 1 ORDER BY 1",
    "both": "SELECT count(*), sum(n * d.a) FROM {t}, {d}, {e} WHERE d.id = t.k AND e.code = t.c AND e.name <> 'e2'",
    "common": "SELECT name, count(*) FROM {t} LEFT JOIN {e} USING (code) GROUP BY name ORDER BY name",
    "unordered": "SELECT d.a, count(*) FROM {t} JOIN {d} ON d.id = t.k GROUP BY d.a",
    "by_key": "SELECT d.id, d.b, count(*), min(n) FROM {t} JOIN {d} ON d.id = t.k GROUP BY d.id",
    "qualified": "SELECT max({T}.t.n), min({D}.d.b) FROM {T}.t JOIN {D}.d ON {D}.d.id = {T}.t.k WHERE {D}.d.a = 2",
    "found": "SELECT t.id, n, b FROM {t} JOIN {d} ON d.id = t.k WHERE d.b = 'rare'",
    "eager": "SELECT d.id, d.b, count(t.n), sum(t.n) FROM {d} LEFT JOIN {t} ON t.k = d.id GROUP BY d.id ORDER BY d.id",
    "listed": "SELECT count(*), sum(n) FROM {t} WHERE k IN (SELECT id FROM {d} WHERE a = 3)",
    "unlisted": "SELECT count(*), sum(n) FROM {t} WHERE k NOT IN (SELECT id FROM {d} WHERE a = 3)",
    "existing": "SELECT count(*), sum(n) FROM {t} WHERE EXISTS (SELECT 1 FROM {d} WHERE d.id = t.k AND a = 3)",
    "scalar": "SELECT (SELECT b FROM {d} WHERE d.id = t.k) AS b, count(*) FROM {t} GROUP BY 1 ORDER BY 1",
    "joined_within": "SELECT sum(n) FROM {t} WHERE k IN (SELECT d.id FROM {d} JOIN {e} ON e.code = d.c WHERE e.name = 'e1')",
    "of_all": "SELECT count(*), sum(n), (SELECT max(a) FROM {d}) FROM {t} WHERE n > (SELECT min(x) FROM {e})",
}
FILES = ("DELETE", "WAL")
#: Changes by another connection.
OTHERS = ("UPDATE t SET n = n + 2 WHERE id % 3 = 1", "UPDATE d SET a = a + 2, b = 'b4' WHERE id % 5 = 2", "UPDATE e SET name = 'e2' WHERE x % 4 = 1")


class Case:
    """A connection with such databases, and views of the SELECTs."""

    def __init__(self, label, layout, kinds, main="WAL", qualified=True):
        self.batch, self.kinds = support.Batch(label), dict(zip(("one", "two"), kinds))
        self.t, self.d, self.e = layout
        self.paths, self.locked = {"main": views.new()}, ()
        # Statements that are kept would go on to mean what they meant.
        self.db = views.connect(self.paths["main"], cached_statements=0, isolation_level=None, journal_mode=main)
        for name, kind in self.kinds.items():
            self.paths[name] = {"memory": ":memory:", "unnamed": ""}.get(kind) if kind not in FILES else views.new()
            self.attach(name)
        support.execute(self.db, f"CREATE TABLE {self.t}.t(id INTEGER PRIMARY KEY, k INT, n INT, code TEXT, c TEXT)",
                        support.numbered(f"{self.t}.t", ROWS, f"i, i * 7919 % {KEYS + 30}, i % 97, 'c' || (i % 13), 'c' || (i % 7)"),
                        f"CREATE TABLE {self.d}.d(id INTEGER PRIMARY KEY, a INT, b TEXT, c TEXT)",
                        support.numbered(f"{self.d}.d", KEYS, "i, i % 5, CASE i WHEN 77 THEN 'rare' ELSE 'b' || (i % 7) END, 'c' || (i % 11)"),
                        f"CREATE TABLE {self.e}.e(code TEXT UNIQUE, name TEXT, x INT)", support.numbered(f"{self.e}.e", 12, "'c' || i, 'e' || (i % 4), i"))
        self.selects = {}
        for name, select in SELECTS.items():
            if name == "qualified" and not qualified:
                continue
            self.selects[name] = select.format(T=self.t, D=self.d, **{
                table: f"{schema}.{table} AS {table}" if qualified else table for table, schema in zip("tde", layout)})
        self.make()

    def make(self):
        """Makes the views."""
        for name, select in self.selects.items():
            self.batch.compare(views.create(self.db, name, select), None, f"{name} is made")

    def attach(self, name):
        """Attaches the database of that name."""
        self.db.execute(f"ATTACH ? AS {name}", (self.paths[name],))
        if self.kinds[name] in FILES:
            self.db.execute(f"PRAGMA {name}.journal_mode = {self.kinds[name]}").fetchall()

    def run(self, *statements):
        """Runs statements."""
        support.execute(self.db, *statements)

    def check_anew(self, step, fast=()):
        """The same, and once more of new views: what was the reason against a plan is believed for a while."""
        self.check(step)
        self.make()
        self.check(step, fast)

    def check(self, step, fast=(), slow=()):
        """Each view gives what its SELECT gives, at once and when it is asked again; those named are accelerated then, or not; fast: True: all."""
        for name, select in self.selects.items():
            want = views.outcome(self.db, select)
            is_fast = isinstance(want, list) and (fast is True or name in fast)
            # SQLite fills columns for who asks again.
            for turn in range(4):
                self.batch.compare(views.ask(self.db, name), want, f"{step}: {name}: {select}")
                if turn > 0 and (not is_fast or views.accelerated(self.db, name)):
                    break
            line = views.plan(self.db, name)[0] if isinstance(want, list) else ""
            self.batch.check(line.startswith("accelerated") or not is_fast, f"{step}: {name}: {line}")
            self.batch.check(not line.startswith("accelerated") or name not in slow, f"{step}: {name}: {line}")
        self.check_locks(step)

    def check_locks(self, step):
        """Where no transaction is open nobody else is kept from a file."""
        for name, path in self.paths.items():
            if self.db.in_transaction or path in ("", ":memory:") or name in self.locked:
                continue
            with contextlib.closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as other:
                try:
                    support.execute(other, "BEGIN EXCLUSIVE", "ROLLBACK")
                except sqlite3.Error as error:
                    self.batch.check(False, f"{step}: {name}: {error}")

    def by_other(self, place, *statements):
        """Runs statements by another connection to a file."""
        with contextlib.closing(sqlite3.connect(self.paths[place], timeout=0, isolation_level=None)) as other:
            support.execute(other, *statements)

    def is_wal(self, place):
        """Whether a database has a log, beside which others write while it is read."""
        return self.paths[place] not in ("", ":memory:") and self.db.execute(f"PRAGMA {place}.journal_mode").fetchone() == ("wal",)

    def has(self, place, change):
        """Whether a database has the table that a statement changes."""
        return change.split()[1] in [table for table, schema in zip("tde", (self.t, self.d, self.e)) if schema == place]

    def reading(self, *places):
        """The names of the views that read any of those databases."""
        return [name for name, select in self.selects.items() if any(f"{place}.{table} " in select for place in places for table in "tde")]

    def close(self):
        """Ends it."""
        self.db.close()
        self.batch.end()


def cases(*, qualified=True, kinds=KINDS, layouts=LAYOUTS):
    """What makes a case for each layout, with kinds in turn."""
    for number, layout in enumerate(layouts):
        for one, two in kinds if not tap.QUICK else (kinds[number % len(kinds)],):
            main = FILES[number % 2]
            label = f"{layout[0]}.t, {layout[1]}.d, {layout[2]}.e; main {main}, one {one}, two {two}"
            yield functools.partial(Case, label, layout, (one, two), main, qualified)


def change_rows(case):
    """The statements that change rows of each table, one after the other."""
    return (f"UPDATE {case.d}.d SET a = a + 1 WHERE id % 3 = 0", f"UPDATE {case.e}.e SET name = 'e1' WHERE x = 5", f"UPDATE {case.t}.t SET n = n + 1 WHERE id % 50 = 3",
            f"INSERT OR REPLACE INTO {case.d}.d VALUES({KEYS + 5}, 3, 'rare', 'c1')", f"DELETE FROM {case.e}.e WHERE x = 3", f"DELETE FROM {case.d}.d WHERE id % 11 = 0",
            f"INSERT INTO {case.t}.t(k, n, code, c) SELECT id, 5, 'c2', c FROM {case.d}.d LIMIT 20")


@tap.each(*cases())
def test_changes(make):
    """Rows that change, by commits of the connection and of others, and within transactions."""
    case = make()
    case.check("at first", True)
    for statement in change_rows(case):
        case.run(statement)
        case.check(statement, True)
    for statement in change_rows(case):
        place = statement.split(".")[0].split()[-1]
        if case.paths.get(place) not in (None, "", ":memory:"):
            case.by_other(place, statement.replace(f"FROM {case.d}.d LIMIT", "FROM (SELECT 7 AS id, 'c3' AS c) LIMIT").replace(f"{place}.", ""))
            case.check(f"by another connection: {statement}", True)
    for statement in change_rows(case):
        place = statement.split(".")[0].split()[-1]
        case.run("BEGIN", statement)
        case.check(f"uncommitted: {statement}", slow=[name for name in case.reading(place) if name not in ("eager", "of_all")])
        case.run("SAVEPOINT inside", f"DELETE FROM {case.d}.d", f"UPDATE {case.t}.t SET k = 1 WHERE id % 40 = 0")
        case.check("all of a dimension deleted")
        case.run("ROLLBACK TO inside")
        case.check("and restored")
        case.run("ROLLBACK")
        case.check(f"rolled back: {statement}", True)
    case.run("BEGIN")
    case.check("in a transaction that reads", True)
    for place in ("main", "one", "two"):
        if case.is_wal(place):
            case.by_other(place, *[change for change in OTHERS if case.has(place, change)])
            case.check(f"another connection commits to {place} meanwhile", True)
    case.run("COMMIT")
    case.check("after that", True)
    case.run("BEGIN", *change_rows(case), "COMMIT")
    case.check("all at once", True)
    case.close()


#: SELECTs whose rows, or lists, are in the order in which SQLite goes over the dimension, and not over the fact table.
ORDERS = {
    "row_order": "SELECT t.id, t.n, d.b FROM {d} CROSS JOIN {t} ON t.k = d.id WHERE t.n = 17",
    "list_order": "SELECT group_concat(t.n) FROM {d} CROSS JOIN {t} ON t.k = d.id WHERE d.a = 1",
    "limited": "SELECT t.id FROM {d} CROSS JOIN {t} ON t.k = d.id WHERE t.n = 17 LIMIT 9",
    "group_order": "SELECT d.id, count(*) FROM {t} CROSS JOIN {d} ON d.id = t.k GROUP BY d.id",
    "extreme": "SELECT t.id, max(t.n) FROM {d} CROSS JOIN {t} ON t.k = d.id",
}


@tap.each(*cases(kinds=KINDS[:1]))
def test_orders(make):
    """The first table of each database has the same root page: SQLite's loops over one are not taken for those over another."""
    case = make()
    case.run(f"CREATE INDEX {case.t}.by_k ON t(k)")
    case.selects = {name: select.format(t=f"{case.t}.t AS t", d=f"{case.d}.d AS d") for name, select in ORDERS.items()}
    case.make()
    case.check("at first")
    case.run(*change_rows(case))
    case.check("after changes")
    case.close()


def test_alike():
    """Many keys of a dimension in another database, of which a table in the fact table's has the root page."""
    case = Case("alike", ("main", "one", "two"), ("WAL", "DELETE"))
    case.run("DELETE FROM one.d", support.numbered("one.d", 4_000, "i, i % 5, 'b' || (i % 7), 'c' || (i % 11)"),
             "UPDATE t SET k = id * 31 % 4100", support.numbered("t(k, n, code, c)", 6_000, "i * 17 % 4100, i % 97, 'c1', 'c2'"))
    case.selects["by_b"] = "SELECT d.b, count(*), sum(n) FROM main.t JOIN one.d ON d.id = k GROUP BY 1 ORDER BY 1"
    case.make()
    case.check("at first", True)
    case.run("UPDATE one.d SET b = 'b4', a = a + 1 WHERE id % 3 = 0")
    case.check("the dimension changes", True)
    case.close()


@tap.each(*cases(layouts=LAYOUTS[::2] if tap.QUICK else LAYOUTS))
def test_schemas(make):
    """Tables that are dropped, made anew, renamed, and lose their keys."""
    case = make()
    case.check("at first", True)
    case.run(f"ALTER TABLE {case.d}.d RENAME TO far")
    case.check("renamed")
    case.run(f"CREATE TABLE {case.d}.d(id INTEGER PRIMARY KEY, a INT, b TEXT, c TEXT)", f"INSERT INTO {case.d}.d SELECT id + 2, a, b, c FROM {case.d}.far WHERE id < 90")
    case.check_anew("another one in its place", True)
    case.run(f"DROP TABLE {case.d}.d", f"ALTER TABLE {case.d}.far RENAME TO d")
    case.check("renamed back", True)
    case.run(f"DROP TABLE {case.e}.e")
    case.check("dropped")
    case.run(f"CREATE TABLE {case.e}.e(code TEXT, name TEXT, x INT)", f"CREATE UNIQUE INDEX {case.e}.by_code ON e(code)", support.numbered(f"{case.e}.e", 12, "'c' || i, 'f' || (i % 3), i"))
    case.check_anew("with an index", True)
    case.run(f"DROP INDEX {case.e}.by_code", f"INSERT INTO {case.e}.e VALUES('c1', 'f9', 3), ('c5', 'f9', 5)")
    case.check("without a key", slow=("branch", "both", "common"))
    case.run(f"DELETE FROM {case.e}.e WHERE name = 'f9'", f"CREATE UNIQUE INDEX {case.e}.by_code ON e(code COLLATE NOCASE)")
    case.check("with a key that compares otherwise")
    case.run(f"DROP INDEX {case.e}.by_code", f"CREATE UNIQUE INDEX {case.e}.by_code ON e(code)", f"DROP TABLE {case.d}.d",
             f"CREATE TABLE {case.d}.d(id REAL PRIMARY KEY, a INT, b TEXT COLLATE NOCASE, c)", support.numbered(f"{case.d}.d", 60, "i * 0.5, i % 5, 'B' || (i % 4), 'c' || (i % 11)"))
    case.check_anew("keys of another type", ("inner_join", "branch", "listed", "scalar"))
    case.run(f"DROP TABLE {case.d}.d", f"CREATE TABLE {case.d}.d(b TEXT, id INT, a INT, c TEXT, PRIMARY KEY(id)) WITHOUT ROWID",
             support.numbered(f"{case.d}.d", 60, "'b' || (i % 4), i, i % 5, 'c' || (i % 11)"))
    case.check_anew("without rowids", ("inner_join", "branch", "listed", "scalar"))
    if case.paths.get(case.e) not in (None, "", ":memory:"):
        case.by_other(case.e, "DROP INDEX by_code", "INSERT INTO e VALUES('c1', 'f9', 3), ('c5', 'f9', 5)")
        case.check("another connection drops the key", slow=("branch", "both", "common"))
        case.by_other(case.e, "DELETE FROM e WHERE name = 'f9'", "CREATE UNIQUE INDEX by_code ON e(code)")
        case.check_anew("and makes it again", ("branch", "both"))
    case.close()


@tap.each(*cases(kinds=(("WAL", "DELETE"), ("DELETE", "memory"), ("DELETE", "WAL"), ("WAL", "WAL")), layouts=[layout for layout in LAYOUTS if layout[0] == "main" and "one" in layout]))
def test_attaching(make):
    """Another file under the same name, which has the same schema, and other rows."""
    case = make()
    case.check("at first", True)
    copy = views.new()
    case.db.execute("VACUUM one INTO ?", (copy,))
    with contextlib.closing(sqlite3.connect(copy, isolation_level=None)) as other:
        for table, change in {"d": "UPDATE d SET a = a + 1, b = 'b2' WHERE id % 4 = 1", "e": "UPDATE e SET name = 'e1' WHERE x % 3 = 1"}.items():
            if other.execute("SELECT count(*) FROM sqlite_master WHERE name = ?", (table,)).fetchone() == (1,):
                other.execute(change)
    here = case.paths["one"]
    for turn, path in enumerate((copy, here, copy)):
        case.run("DETACH one")
        if turn == 1:
            case.check("detached", slow=case.reading("one"))
        case.paths["one"] = path
        case.attach("one")
        case.check_anew(f"attached, turn {turn}", True)
    case.db.execute("ATTACH ':memory:' AS three")
    case.check("one more", True)
    if case.paths["two"] != ":memory:":
        case.run("DETACH one", "DETACH two")
        case.attach("two")
        case.attach("one")
        case.check("in another order", True)
    # What a name means changes from one look to the next.
    case.run("DETACH one")
    case.db.execute("ATTACH ':memory:' AS one")
    case.check("an empty one", slow=case.reading("one"))
    case.close()


@tap.each(*cases(qualified=False, layouts=(("main", "one", "two"), ("main", "two", "two"), ("one", "main", "two"), ("two", "two", "one"), ("main", "temp", "one"))))
def test_names(make):
    """Names without a schema mean the first table that has them, in temp, main and the attached databases in their order."""
    case = make()
    case.check("at first", True)
    for place in ("temp", "main", "one"):
        for table, schema in (("d", case.d), ("e", case.e)):
            order = ["temp", "main", "one", "two"]
            if order.index(place) >= order.index(schema):
                continue
            # With and without a table before it: its root page may be that of the table that it hides.
            case.run(*[f"CREATE TABLE {place}.first(a)"] * (table == "e"), f"CREATE TABLE {place}.{table} AS SELECT * FROM {schema}.{table} WHERE rowid % 2")
            case.check(f"{place}.{table} hides {schema}.{table}")
            case.run(f"CREATE UNIQUE INDEX {place}.unique_key ON {table}({'id' if table == 'd' else 'code'})")
            case.check_anew("with a key", ("inner_join", "common", "listed", "scalar"))
            case.run(f"UPDATE {schema}.{table} SET c = 'c1' WHERE id % 2" if table == "d" else f"UPDATE {schema}.e SET name = 'e3' WHERE x % 2")
            case.check("the hidden one changes", ("inner_join", "common", "listed", "scalar"))
            case.run(f"UPDATE {place}.{table} SET c = 'c2' WHERE id % 3 = 1" if table == "d" else f"UPDATE {place}.e SET name = 'e4' WHERE x % 3")
            case.check("the hiding one changes", ("inner_join", "common", "listed", "scalar"))
            case.run(f"DROP TABLE {place}.{table}", f"DROP TABLE IF EXISTS {place}.first")
            case.check_anew("shown again", True)
    if case.t != "temp":
        case.run("CREATE TEMP TABLE t AS SELECT id, k + 1 AS k, n, code, c FROM t WHERE id % 2")
        case.check_anew("a fact table hides the other", ("inner_join", "listed"))
        case.run("DROP TABLE temp.t")
        case.check_anew("shown again", True)
    case.close()


def test_ordinary_views():
    """Ordinary views in main and in attached databases are read as their SELECTs; those in temp, which may read any database, by SQLite."""
    case = Case("ordinary views", ("main", "one", "two"), ("WAL", "DELETE"))
    case.run("CREATE VIEW some_t AS SELECT * FROM t WHERE n > 5", "CREATE VIEW one.some_d AS SELECT id, a, b FROM d WHERE a <> 2",
             "CREATE TEMP VIEW joined_rows AS SELECT t.n, t.k, d.a, d.b FROM main.t AS t JOIN one.d AS d ON d.id = t.k", "CREATE TEMP VIEW few AS SELECT id FROM one.d WHERE a < 4")
    case.selects = {"by_views": "SELECT b, count(*) FROM some_t JOIN some_d AS d ON d.id = k GROUP BY b ORDER BY b", "within": "SELECT sum(n) FROM some_t WHERE k IN (SELECT id FROM some_d)",
                    "temporary": "SELECT a, count(*), sum(n) FROM joined_rows WHERE b <> 'b1' GROUP BY a ORDER BY a", "within_few": "SELECT sum(n) FROM main.t WHERE k IN (SELECT id FROM few)"}
    case.make()
    accelerated = [name for name in case.selects if name != "temporary"]
    case.check("at first", accelerated, ("temporary",))
    case.run("UPDATE one.d SET a = a + 1 WHERE id % 3 = 0")
    case.check("the dimension changes", accelerated)
    case.run("CREATE TEMP TABLE d AS SELECT id, 7 AS a, 'b5' AS b FROM one.d WHERE id % 2")
    case.check("a table that is hidden, but not to a view", accelerated)
    case.run("DROP TABLE temp.d", "DROP VIEW one.some_d", "CREATE VIEW one.some_d AS SELECT id, a, upper(b) AS b FROM d WHERE a <> 3")
    case.check("another view", accelerated)
    case.close()


@tap.each(("main", "one", "two"), ("one", "main", "two"), ("main", "temp", "one"))
def test_authorizers(fact, place, other):
    """What an authorizer denies is denied; what it hides is hidden; and afterwards all is as it was."""
    case = Case(f"authorizers: {fact}, {place}, {other}", (fact, place, other), ("WAL", "DELETE"))
    case.check("at first", True)

    def deny(kind, table):
        """An authorizer for one database."""
        return lambda action, first, second, schema, by: (
            kind if schema == place and (action, first) == (sqlite3.SQLITE_READ, table) and second != "id" else sqlite3.SQLITE_OK)

    for kind in (sqlite3.SQLITE_DENY, sqlite3.SQLITE_IGNORE):
        for table in ("d", "sqlite_master"):
            case.db.set_authorizer(deny(kind, table))
            for _ in range(2):
                case.check(f"{kind} of {table}")
            case.db.set_authorizer(None)
            case.check("no authorizer")
    # The list of databases is hidden: nothing but main and temp is known to be there.
    case.db.set_authorizer(lambda action, first, *_: sqlite3.SQLITE_IGNORE if (action, first) == (sqlite3.SQLITE_PRAGMA, "database_list") else sqlite3.SQLITE_OK)
    case.check("hidden names")
    case.db.set_authorizer(None)
    case.check_anew("no authorizer", True)
    case.close()


@tap.each("DELETE", "WAL")
def test_locked(mode):
    """A database that others have for themselves is an error, as it is to SQLite, and leaves nothing locked."""
    case = Case(f"locked, main in {mode} mode", ("main", "one", "two"), ("DELETE", "DELETE"), mode)
    case.db.execute("PRAGMA busy_timeout = 0").fetchall()
    case.check("at first", True)
    for place, change in {"one": "UPDATE d SET a = 1", "two": "UPDATE e SET name = 'e1'", "main": "UPDATE t SET n = n + 1"}.items():
        with contextlib.closing(sqlite3.connect(case.paths[place], timeout=0, isolation_level=None)) as other:
            support.execute(other, "BEGIN EXCLUSIVE", change)
            case.locked = (place,)
            case.check(f"{place} is locked", [name for name in case.selects if name not in case.reading(place)])
            case.locked = ()
            other.execute("COMMIT")
        case.check(f"{place} is free", True)
    case.close()


def test_waits():
    """Who waits for a lock waits once, as SQLite does."""
    case = Case("waits", ("main", "one", "two"), ("DELETE", "DELETE"))
    case.check("at first", True)
    with contextlib.closing(sqlite3.connect(case.paths["one"], timeout=0, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        case.db.execute("PRAGMA busy_timeout = 300").fetchall()
        took = []
        for asked in ("SELECT * FROM inner_join", case.selects["inner_join"]):
            start = time.monotonic()
            case.batch.check(views.fails(views.outcome(case.db, asked), "locked"), "an error")
            took.append(time.monotonic() - start)
        case.batch.check(took[0] < 1.6 * took[1], f"{took[0]:.2f} s, and SQLite {took[1]:.2f} s")
        other.execute("ROLLBACK")
    case.check("free", True)
    case.close()


def test_looked_into():
    """A database in which a name is looked for, and not found, is kept by no transaction of the application's."""
    case = Case("looked into", ("main", "two", "two"), ("DELETE", "DELETE"))
    select = "SELECT a, count(*) FROM t JOIN d ON d.id = t.k GROUP BY a ORDER BY a"
    case.selects = {"looked": select}
    case.make()
    case.check("at first", True)
    for name, statements in {"a SELECT": (f"SELECT * FROM ({select})",), "its view": ("SELECT * FROM looked",),
                             "a statement that writes": ("SELECT clreduce_rewrite('CREATE TABLE kept AS SELECT n, count(*) FROM main.t GROUP BY n')",)}.items():
        case.run("BEGIN")
        for statement in statements:
            case.batch.compare(views.outcome(case.db, statement) == [], False, name)
        for place, locked in (("one", False), ("main", True)):
            with contextlib.closing(sqlite3.connect(case.paths[place], timeout=0, isolation_level=None)) as other:
                got = views.outcome(other, "BEGIN EXCLUSIVE")
                case.batch.check(views.fails(got, "locked") if locked and not case.is_wal(place) else got == [], f"{name}: {place}: {got}")
        case.run("COMMIT")
    case.check("after that", True)
    with contextlib.closing(sqlite3.connect(case.paths["one"], timeout=0, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        start = time.monotonic()
        case.db.execute("PRAGMA busy_timeout = 2000").fetchall()
        rewritten = views.outcome(case.db, "SELECT clreduce_rewrite('CREATE TABLE kept AS SELECT n, count(*) FROM main.t GROUP BY n') IS NOT NULL")
        case.batch.compare(rewritten, [(1,)], "a statement that writes is rewritten")
        case.batch.check(time.monotonic() - start < 1.5, "without a wait")
    case.close()


def count_calls(case, statement, what, evaluated):
    """One check: whether a view asks for all keys again after a statement."""
    case.run(statement)
    del case.calls[:]
    case.batch.compare(views.ask(case.db, "called"), views.outcome(case.db, case.called.replace("seen(", "abs(")), what)
    case.batch.check(bool(case.calls) == evaluated, f"{what}: {len(case.calls)} calls")
    case.batch.check(views.accelerated(case.db, "called"), f"{what}: {views.plan(case.db, 'called')[0]}")


@tap.each("WAL", "DELETE")
def test_kept(mode):
    """What was looked up is kept for as long as the dimension's database is the same, whatever a commit changes in the fact table's."""
    case = Case(f"kept: {mode}", ("main", "one", "two"), (mode, "WAL"))
    case.calls = []
    case.db.create_function("seen", 1, lambda value: case.calls.append(value) or value, deterministic=True)
    case.called = "SELECT count(*), sum(n) FROM main.t JOIN one.d ON d.id = k WHERE seen(a) = 2"
    views.create(case.db, "called", case.called)
    count_calls(case, "SELECT 1", "at first", True)
    count_calls(case, "SELECT 1", "again", False)
    count_calls(case, "UPDATE t SET n = n + 1", "the fact table changes", False)
    count_calls(case, "UPDATE two.e SET x = 1", "a database that is not read", False)
    count_calls(case, "UPDATE one.d SET a = 2 WHERE id < 50", "the dimension changes", True)
    count_calls(case, "CREATE TABLE one.other(x)", "its schema", True)
    count_calls(case, "INSERT INTO one.other VALUES(1)", "its database", True)
    case.close()


@tap.each(("main", "one", "two"), ("one", "main", "two"), ("main", "temp", "one"))
def test_writers(fact, place, other):
    """A view within a statement that writes, to what it reads or elsewhere, and calls that write meanwhile."""
    case = Case(f"writers: {fact}, {place}, {other}", (fact, place, other), ("WAL", "DELETE"))
    case.run("CREATE TABLE main.kept(a, b, c)", "CREATE TABLE one.kept(a, b, c)", "CREATE TEMP TABLE few(a, b, c)")
    case.check("at first", True)
    for into in ("main.kept", "one.kept", "temp.few"):
        want = case.db.execute(case.selects["inner_join"]).fetchall()
        case.run(f"INSERT INTO {into} SELECT * FROM inner_join")
        case.batch.compare(case.db.execute(f"SELECT * FROM {into}").fetchall(), want, f"into {into}")
        case.check(f"after INSERT INTO {into}", True)
    case.run(f"INSERT INTO {place}.d SELECT a + 1000, a, 'b9', 'c1' FROM inner_join")
    case.check("into the dimension", True)
    case.run(f"UPDATE {place}.d SET a = (SELECT count(*) % 7 FROM listed) WHERE id = {KEYS}")
    case.check("by a subquery", True)

    def write(value):
        """Changes the dimension while it is read."""
        if value == KEYS // 2:
            case.db.execute(f"UPDATE {place}.d SET b = b || 'x' WHERE id % 2")
        return value

    case.db.create_function("write", 1, write)
    select = f"SELECT count(*), sum(n) FROM {fact}.t JOIN {place}.d ON d.id = k WHERE write(d.id) % 2 = 1 AND b LIKE '%x'"
    views.create(case.db, "writes", select)
    for _ in range(3):
        views.ask(case.db, "writes")
        case.check("a call has written", True)
    case.close()


@tap.each(*FILES)
def test_same_file(mode):
    """A file that is attached to itself is two databases: what one of them has written the other one has from the commit on."""
    batch = support.Batch(f"one file: {mode}")
    path = views.new()
    with contextlib.closing(views.connect(path, cached_statements=0, isolation_level=None, journal_mode=mode)) as db:
        support.execute(db, "CREATE TABLE t(k INT, n INT)", "CREATE TABLE d(id INTEGER PRIMARY KEY, a INT)", support.numbered("t", ROWS, "i % 90, i"), support.numbered("d", 80, "i, i % 5"))
        db.execute("ATTACH ? AS again", (path,))
        selects = {f"{t}_{d}_{number}": select.format(t, d) for t in ("main", "again") for d in ("main", "again") for number, select in enumerate(
            ("SELECT a, count(*), sum(n) FROM {}.t JOIN {}.d ON d.id = k GROUP BY a", "SELECT sum(n) FROM {}.t WHERE k IN (SELECT id FROM {}.d WHERE a = 2)"))}
        views.create_all(db, selects)
        for step in ("SELECT 1", "UPDATE d SET a = a + 1 WHERE id % 3", "BEGIN", "UPDATE again.d SET a = 2 WHERE id % 4 = 1", "ROLLBACK", "UPDATE again.t SET n = n + 1",
                     "BEGIN", "UPDATE main.d SET a = 3 WHERE id % 4 = 1", "COMMIT", "DELETE FROM again.d WHERE id % 7 = 1"):
            views.outcome(db, step)
            for name, select in selects.items():
                for _ in range(2):
                    batch.compare(views.ask(db, name), views.outcome(db, select), f"{step}: {name}")
                batch.check(db.in_transaction or views.accelerated(db, name), f"{step}: {name}: {views.plan(db, name)[0]}")
    batch.end()


@tap.each(("main", "one", "two"), ("one", "temp", "main"))
def test_interrupts(fact, place, other):
    """A query that is interrupted while a dimension is asked leaves nothing locked, and the next one is answered."""
    case = Case(f"interrupts: {fact}, {place}, {other}", (fact, place, other), ("DELETE", "WAL"))
    case.check("at first", True)
    for after in range(0, 60, 1 if not tap.QUICK else 7):
        left = [after]

        def stop():
            """Whether it is time."""
            left[0] -= 1
            return left[0] < 0

        case.run(f"UPDATE {place}.d SET a = a + 1 WHERE id % 5 = {after % 5}")
        want = {name: views.outcome(case.db, select) for name, select in case.selects.items()}
        case.db.set_progress_handler(stop, 40)
        for name in case.selects:
            left[0] = after
            got = views.ask(case.db, name)
            case.batch.check(views.fails(got, "interrupted") or got == want[name], f"{after}: {name}: {got}")
        case.db.set_progress_handler(None, 0)
        case.check_locks(f"interrupted after {after}")
    case.check_anew("at last", True)
    case.close()


def test_connections():
    """Connections of a process, each with a database of its own by the same name, share the fact table's columns alone."""
    path = views.new()
    dbs = [views.connect(path, cached_statements=0, isolation_level=None) for _ in range(4)]
    support.execute(dbs[0], "CREATE TABLE t(k INT, n INT)", support.numbered("t", ROWS, "i % 90, i"))
    batch = support.Batch("connections")
    selects = {f"{place}_{number}": select.format(f"{place}.d") for place in ("aux", "temp") for number, select in enumerate(
        ("SELECT b, count(*), sum(n) FROM main.t JOIN {} ON d.id = k GROUP BY b ORDER BY b", "SELECT sum(n) FROM main.t WHERE k IN (SELECT id FROM {} WHERE b = 'b2')"))}
    for number, db in enumerate(dbs):
        db.execute("ATTACH ? AS aux", (":memory:" if number % 2 else views.new(),))
        for place in ("aux", "temp"):
            support.execute(db, f"CREATE TABLE {place}.d(id INTEGER PRIMARY KEY, b TEXT)", support.numbered(f"{place}.d", 80, f"i, 'b' || (i * {number + 3} % 7)"))
        views.create_all(db, selects)
    for turn in range(3):
        for number, db in enumerate(dbs):
            for name, select in selects.items():
                batch.compare(views.ask(db, name), views.outcome(db, select), f"{turn}, {number}: {name}")
                batch.check(views.accelerated(db, name), f"{turn}, {number}: {views.plan(db, name)[0]}")
            db.execute(f"UPDATE aux.d SET b = 'b{turn + number}' WHERE id % 9 = {turn}")
            db.execute(f"UPDATE temp.d SET b = 'b{turn * number}' WHERE id % 7 = {turn}")
    for db in dbs:
        db.close()
    batch.end()


def test_journals():
    """Databases without a file whose ROLLBACK restores nothing."""
    case = Case("no journal", ("main", "one", "temp"), ("memory", "WAL"))
    case.check("at first", True)
    for place, change in (("one", "UPDATE one.d SET a = 3 WHERE id < 50"), ("temp", "UPDATE temp.e SET name = 'e1'")):
        case.run(f"PRAGMA {place}.journal_mode = OFF", "BEGIN", change, "ROLLBACK")
        case.check("rolled back without a journal")
        case.run(f"PRAGMA {place}.journal_mode = MEMORY")
        case.check("with a journal again", True)
    case.close()


views.run(globals())
