"""What is looked up in dimensions is kept as long as these are what they were, whatever else a commit changes."""

import support
import tap
import view_support as views

KEYS, ROWS = 1_500, 8_000
SELECT = ("SELECT d.kind, count(*), gpu_sum(t.n), min(seen(d.name)) FROM t JOIN d ON d.id = t.did WHERE seen(d.name) <> 'n7'"
          " GROUP BY d.kind ORDER BY 1")

#: Keys of a long dimension, more than two bytes number, of which the fact table has each once or twice; and what is asked of it.
MANY = 70_000
MANY_SELECTS = {
    "joined": "SELECT kind, count(*), sum(n), gpu_sum(weight) FROM t JOIN d ON d.id = t.did GROUP BY kind ORDER BY kind",
    "left": "SELECT count(*) FROM t LEFT JOIN d ON d.id = t.did AND d.kind <> 'k3' WHERE d.id IS NULL OR weight > 6300",
    "listed": "SELECT sum(n) FROM t WHERE did IN (SELECT id FROM d WHERE kind = 'k5')",
    "alone": "SELECT count(*) FROM t WHERE did || '' LIKE '%77%'",
}


class Case:
    """A database, a view in it, and the calls of a function that it looks up."""

    def __init__(self, mode, layout=""):
        self.path = views.new()
        self.calls = 0
        self.db = views.connect(self.path)
        support.execute(self.db, f"PRAGMA journal_mode = {mode}", "PRAGMA wal_autocheckpoint = 0")
        self.db.create_function("seen", 1, self.see, deterministic=True)
        support.execute(self.db, f"CREATE TABLE d(id INTEGER PRIMARY KEY, kind INT, name TEXT){layout}",
                        "CREATE TABLE t(id INTEGER PRIMARY KEY, did INT, n INT)", "CREATE INDEX by_n ON t(n)",
                        "CREATE TABLE other(a)", support.numbered("d", KEYS, "i * 7919 % 10007, i % 5, 'n' || i"),
                        support.numbered("t", ROWS, f"i, (i * 31 % {KEYS} + 1) * 7919 % 10007, i % 90"))
        tap.is_equal(views.create(self.db, "v", SELECT), None, f"a view, {mode}{layout}")

    def see(self, value):
        """The value, whose asking is counted."""
        self.calls += 1
        return value

    def check(self, evaluated, what):
        """The view gives what its SELECT gives, and has asked for all keys or none."""
        self.calls = 0
        rows = self.db.execute("SELECT * FROM v").fetchall()
        tap.is_equal(self.calls >= KEYS, evaluated, f"{what}: {self.calls} calls")
        tap.ok(evaluated or self.calls == 0, "or none")
        tap.is_equal(views.plan(self.db, "v")[0].split(":")[0], "accelerated", "by a scan")
        tap.is_equal(rows, self.db.execute(SELECT).fetchall(), "the SELECT's rows")

    def commit(self, statement, by_other=False):
        """Changes the database, by this connection or another one."""
        if not by_other:
            self.db.execute(statement)
            return
        other = views.connect(self.path)
        other.execute(statement)
        other.close()


@tap.each("", " WITHOUT ROWID")
def test_wal(layout):
    """Commits that change pages of dimensions, and commits that change none."""
    case = Case("WAL", layout)
    case.check(True, "the first time")
    case.check(False, "again")
    for by_other in (False, True):
        case.commit("UPDATE t SET n = n + 1 WHERE id % 100 = 3", by_other)
        case.check(False, "rows of the fact table have changed")
        case.commit("INSERT INTO t(did, n) SELECT did, 5 FROM t LIMIT 10", by_other)
        case.check(False, "and others have come")
        case.commit("INSERT INTO other VALUES(randomblob(9000))", by_other)
        case.check(False, "another table has changed")
        case.commit(f"UPDATE d SET name = 'm{by_other}' WHERE id = 7919", by_other)
        case.check(True, "a row of the dimension has changed")
        case.check(False, "but not again")
        case.commit(f"INSERT OR REPLACE INTO d VALUES(3, 2, 'new{by_other}'), (10009, 1, 'more')", by_other)
        case.check(True, "others have come there")
        case.commit(f"DELETE FROM d WHERE id % 9 = {2 + by_other}", by_other)
        case.check(True, "or gone")
        case.commit("UPDATE t SET n = 8 WHERE id = 77", by_other)
        case.check(False, "and the fact table again")
    support.execute(case.db, "BEGIN", "UPDATE d SET kind = kind + 1")
    tap.is_equal(case.db.execute("SELECT * FROM v").fetchall(), case.db.execute(SELECT).fetchall(), "before the commit")
    case.db.execute("ROLLBACK")
    case.check(False, "after a rollback")
    case.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    case.commit("UPDATE t SET n = 9 WHERE id = 78")
    case.check(True, "in another log nothing is known")
    case.commit("UPDATE t SET n = 10 WHERE id = 78")
    case.check(False, "of this one it is")
    case.commit("CREATE TABLE late(a)")
    case.check(True, "another schema")
    case.commit("UPDATE d SET name = printf('%.9000c', 'n') WHERE id = 7919")
    case.check(True, "a row with overflow pages")
    case.commit("UPDATE d SET name = printf('%.9000c', 'm') WHERE id = 7919", True)
    case.check(True, "of which one changes")
    case.commit("UPDATE t SET n = 11 WHERE id = 78")
    case.check(True, "with such a row nothing is known")


def test_rollback_mode():
    """Where nothing says which pages have changed, a commit is one to the dimensions."""
    case = Case("DELETE")
    case.check(True, "the first time")
    case.check(False, "again")
    case.commit("UPDATE t SET n = n + 1 WHERE id = 3")
    case.check(True, "any commit")


@tap.each("WAL", "DELETE")
def test_many_keys(db, mode):
    """A dimension nearly as long as the fact table is worth its lookups, while other expressions of the key are not."""
    support.execute(db, f"PRAGMA journal_mode = {mode}", "PRAGMA synchronous = OFF",
                    "CREATE TABLE d(id INTEGER PRIMARY KEY, kind TEXT, weight REAL)",
                    "CREATE TABLE t(id INTEGER PRIMARY KEY, did INT, n INT)",
                    support.numbered("d", MANY, "i, 'k' || (i % 7), i / 8.0") + " WHERE i % 50",
                    support.numbered("t", MANY * 3 // 2, f"i, nullif(i * 7919 % {MANY}, 3), i % 90"))
    watch = views.Watch(db, f"many keys, {mode}", MANY_SELECTS, {})
    for step in ("", "UPDATE d SET kind = 'other' WHERE id < 900", "INSERT INTO t(did, n) SELECT id + 1, 7 FROM d LIMIT 999",
                 f"UPDATE t SET did = did + {MANY} WHERE id % 4000 = 5", "DELETE FROM d WHERE id % 3 = 0"):
        if step:
            db.execute(step)
        for name in MANY_SELECTS:
            line = watch.ask(name, step or "at first")[0]
            watch.batch.check(name == "alone" or line.startswith("accelerated"), f"{step}: {name}: {line}")


views.run(globals())
