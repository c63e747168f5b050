"""Accelerated views: what names and parameters mean, and which rows are one row.

A view gives what its SELECT gives now, whatever the names in it have come to mean (clause 1 of
view.h): tests/sql/names.test has what they come to mean. Its parameters may come from anywhere in a statement, and its rowids tell rows apart.
"""

import itertools
import sqlite3

import support
import tap
import view_support as views

ROWS = 2000


def connect(path=":memory:", **options):
    """Statements that are kept would go on to mean what they meant."""
    return views.connect(path, cached_statements=0, keep_answers="on", **options)


class Odd:
    """An aggregate that is nobody else's."""

    def __init__(self):
        self.count = 0

    def step(self, *_):
        self.count += 1

    def finalize(self):
        return self.count * 1000 + 1


def make(batch, db, selects):
    """The table, and views of the SELECTs."""
    support.execute(db, "CREATE TABLE t(x)", support.numbered("t", ROWS, "i"))
    for name, select in selects.items():
        problem = views.create(db, name, select)
        batch.check(problem is None, f"{name}: {problem}")


def test_functions(batch):
    """Functions and collating sequences that are replaced after views were made and asked."""
    selects = {
        "a": "SELECT gpu_sum(x) FROM t",
        "b": "SELECT sum(x), count(*) FROM t",
        "c": "SELECT max(x), min(x) FROM t WHERE abs(x) > 3",
        "d": "SELECT twice(x) FROM t LIMIT 2",
        "e": "SELECT max(y COLLATE mine) FROM (SELECT 'a' AS y UNION ALL SELECT 'B')",
        "f": "SELECT avg(x), total(x) FROM t",
    }
    changes = [
        lambda db: db.create_function("twice", 1, lambda x: x * 3),
        lambda db: db.create_collation("mine", lambda a, b: (b > a) - (b < a)),
        lambda db: db.create_aggregate("sum", 1, Odd),
        lambda db: db.create_aggregate("gpu_sum", 1, Odd),
        lambda db: db.create_aggregate("max", 1, Odd),
        lambda db: db.create_aggregate("avg", 1, Odd),
        lambda db: db.create_function("abs", 1, lambda x: 5),
        lambda db: db.create_aggregate("sum", 1, None),
    ]
    db = connect()
    db.create_function("twice", 1, lambda x: x * 2)
    db.create_collation("mine", lambda a, b: (a > b) - (a < b))
    make(batch, db, selects)
    for number, change in enumerate([lambda db: None, *changes]):
        change(db)
        for name, select in selects.items():
            for _ in range(2):
                got, want = views.ask(db, name), views.outcome(db, select)
                batch.compare(got, want, f"{number}: {name}")


def test_functions_of_any_arity(batch):
    """Functions of any number of arguments, which do not expire statements: seen by later statements."""
    selects = {
        "a": "SELECT gpu_sum(x), gpu_total(x) FROM t",
        "b": "SELECT sum(x), count(x) FROM t",
        "c": "SELECT count(*) FROM t WHERE abs(x) > 3",
    }
    changes = [
        lambda db: db.create_aggregate("sum", -1, Odd),
        lambda db: db.create_aggregate("gpu_sum", -1, Odd),
        lambda db: db.create_function("abs", -1, lambda *x: 5),
        lambda db: db.create_aggregate("count", -1, Odd),
    ]
    db = connect(views.new())
    make(batch, db, selects)
    for number, change in enumerate([lambda db: None, *changes]):
        change(db)
        for name, select in selects.items():
            got = views.outcome(db, f"SELECT * FROM {name} -- {number}")
            want = views.outcome(db, f"{select} -- {number}")
            batch.compare(got, want, f"{number}: {name}")
            line = views.plan(db, name)[0]
            batch.check(number > 0 or line == "accelerated: host", f"{name}: {line}")


#: Declared types as a schema may have them, with the affinity that SQLite gives each of them.
TYPES = {
    "a,b,c": "NUM",
    "0": "NUM",
    "(": "NUM",
    ")": "NUM",
    "); --": "NUM",
    "INT,": "INT",
    "TEXT(": "TEXT",
    "": "NUM",
    'a"b\'c`d[e]': "NUM",
    "char, x HIDDEN": "TEXT",
    "hidden": "NUM",
    "INT hidden x, y": "INT",
    "PRIMARY KEY": "NUM",
    "NOT NULL DEFAULT 7": "NUM",
    "int generated always": "INT",
    "blob\n-- real": "",
    "REAL COLLATE NOCASE": "REAL",
    "\u00e4\u0001 double": "REAL",
    "varchar(10, 20": "TEXT",
}


def column_types(db, table):
    """The names and the declared types of columns, hidden ones last."""
    return [column[1:3] for column in db.execute(f"PRAGMA table_xinfo({table})")]


def test_types(batch):
    """Declared types that would end a column, or begin one, if they stood in a declaration as they are."""
    compare = "SELECT x, z, typeof(z), z = '5', z = 5, z < '3', z || '' FROM {} WHERE x > 1"
    for declared, affinity in TYPES.items():
        quoted = declared.replace('"', '""')
        path = views.new()
        db = connect(path)
        support.execute(db, f'CREATE TABLE t(x INT, z "{quoted}", "7" "{quoted}" DEFAULT \'5\')',
                        support.numbered("t", 500, "i, iif(i % 5, '' || i % 7, 'a'), i % 3"),
                        "CREATE VIEW ordinary AS SELECT x, z FROM t WHERE z = '5'",
                        "CREATE VIEW grouped AS SELECT z, count(*), max(x) FROM t GROUP BY z")
        kept = f"\"{quoted}\"" if "hidden" not in declared.lower() else affinity
        plain = connect()
        plain.execute(f"CREATE TABLE t(x INT, z {kept}, y {kept})")
        batch.compare(views.create(db, "v", "SELECT x, z, z AS z FROM t WHERE x < :most"), None, declared)
        want = [("x", "INT"), ("z", column_types(plain, "t")[1][1]), ("z:1", column_types(plain, "t")[2][1])]
        batch.compare(column_types(db, "v"), [*want, ("most", "")], f"columns of type {declared!r}")
        got = db.execute(compare.format("v") + " AND most = 9").fetchall()
        batch.compare(got, db.execute(compare.format("t") + " AND x < 9").fetchall(), f"values of type {declared!r}")
        for each in ("SELECT count(*), sum(x) FROM t WHERE z = '5'", "SELECT z, count(*) FROM t GROUP BY z",
                     "SELECT count(*) FROM t WHERE z IN ('5', '6') OR \"7\" < '2'"):
            for _ in range(2):
                batch.compare(views.through_view(db, each), views.outcome(db, each), f"{declared!r}: {each}")
        plain.close()
        asked = ["SELECT *, typeof(z), z = '5' FROM ordinary", "SELECT *, typeof(z), z < '5' FROM grouped"]
        wanted = [views.outcome(db, each) for each in asked]
        for view in ("ordinary", "grouped"):
            got = support.value(db, f"SELECT clreduce_accelerate('{view}')")
            batch.check(not isinstance(got, support.Failure), f"{declared!r}: {got}")
        for each, want in zip(asked, wanted):
            batch.compare(views.outcome(db, each), want, f"{declared!r}: {each}")
        db.close()


def test_numbers_of_names(db):
    """As many columns of one name, and of names that such a number makes, as a table may have."""
    names = ["a"] * 1990 + ["A:7", "b", "B", "b:1", "a:1990", "b:1", "c:1", "c", "C"]
    views.create(db, "v", f"SELECT {', '.join(f'1 AS [{name}]' for name in names)} WHERE :a")
    want = ["a", *(f"a:{number}" for number in range(1, 1990))]
    want += ["A:7:1", "b", "B:1", "b:1:1", "a:1990", "b:1:2", "c:1", "c", "C:2", "a:1991"]
    tap.is_equal([name for name, _ in column_types(db, "v")], want, "names with numbers")
    tap.is_equal(db.execute("SELECT count(*) FROM v(1)").fetchall(), [(1,)], "and a row")


def test_numbers_of_parameters(db):
    """The number of a parameter is also that of hidden columns."""
    tap.is_equal(views.create(db, "v", "SELECT ?1999 AS x"), None, "as many as a table may have")
    tap.is_equal(db.execute('SELECT x FROM v WHERE "?1999" = 5').fetchall(), [(5,)], "the last one")
    for number in (2_000, 32_766, 100_000):
        problem = str(views.create(db, "w", f"SELECT ?{number} AS x"))
        if "variable number must be between" not in problem:  # SQLite's own limit is a lower one
            tap.ok("a view has 2000 columns at most" in problem and f"?{number}:" in problem, problem)
    problem = str(views.create(db, "w", f"SELECT {', '.join(['1 AS x'] * 1_500)} WHERE ?501"))
    tap.ok("1500 columns" in problem and "?501" in problem, problem)


def test_rowids(batch, db):
    """Rows that two terms of an OR have in common are one, and all others are not."""
    views.create(db, "v", "SELECT :lo AS l, :hi AS h")
    rows = db.execute(
        "SELECT l, h FROM v WHERE (lo = x'61' AND hi = CAST(x'6203000000' AS TEXT))"
        " OR (lo = x'610300000062' AND hi = '')"
    ).fetchall()
    tap.is_equal(len(rows), 2, f"values of other lengths are others: {rows}")
    values = [None, 0, 1, 1 << 40, -1, 0.0, 1.0, 2.5, "", "a", "ab", "b", b"", b"a", b"ab", b"\0"]
    sets = list(itertools.product(values[1:], repeat=2))
    terms = " OR ".join(["(lo = ? AND hi = ?)"] * 40)
    for first in range(0, len(sets) - 39, 40):
        part = sets[first : first + 40]
        got = db.execute(f"SELECT l, h, lo, hi FROM v WHERE {terms}", sum(part, ())).fetchall()
        batch.compare(sorted(map(repr, got)), sorted(repr(pair * 2) for pair in part), f"{first}")
        twice = part[:20] * 2
        got = db.execute(f"SELECT l, h FROM v WHERE {terms}", sum(twice, ())).fetchall()
        batch.compare(sorted(map(repr, got)), sorted(map(repr, part[:20])), f"{first}, twice")
    views.create(db, "n", "SELECT value FROM json_each(:list) WHERE value <> :not")
    lists = [f"[{','.join(map(str, range(size)))}]" for size in (3, 200, 5)]
    got = db.execute(
        'SELECT count(*), count(DISTINCT n.rowid) FROM n WHERE (list = ?1 AND "not" = 1)'
        ' OR (list = ?2 AND "not" = 1) OR (list = ?3 AND "not" = 1)'
        ' OR (list = ?1 AND "not" = 1)',
        lists,
    ).fetchall()
    tap.is_equal(got, [(2 + 199 + 4,) * 2], "sets of many rows do not overlap")
    many = 70000  # more than are kept
    db.execute("CREATE TEMP TABLE generated AS WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL"
               f" SELECT value + 1 FROM n WHERE value < {many}) SELECT value FROM n")
    got = db.execute(
        "SELECT count(*), count(DISTINCT v.rowid), count(DISTINCT l) FROM v WHERE"
        " (lo IN (SELECT value FROM generated) AND hi = 1)"
        " OR (hi = 1 AND lo IN (SELECT value FROM generated)) OR (lo = -5 AND hi = 0)"
    ).fetchall()
    tap.is_equal(got, [(many + 1,) * 3], "more sets than are kept")


def test_writing(db):
    """A statement that writes what its view reads does not see that; one that reads gets rows as
    they come, also in a transaction that writes."""
    support.execute(db, "CREATE TABLE t(x)", support.numbered("t", ROWS, "i"))
    calls = []
    db.create_function("seen", 1, lambda x: calls.append(x) or x)
    views.create(db, "v", "SELECT seen(x) AS x FROM t")
    support.execute(db, "BEGIN IMMEDIATE", "DELETE FROM t WHERE x = 1", "SELECT x FROM v LIMIT 1")
    tap.ok(len(calls) <= 2, f"{len(calls)} rows were read for one")
    db.execute("INSERT INTO t SELECT x + 10000 FROM v")
    tap.is_equal(support.value(db, "SELECT count(*) FROM t"), 2 * (ROWS - 1), "what is inserted is not read")
    db.execute("UPDATE t SET x = x + (SELECT max(x) FROM v)")
    tap.is_equal(support.value(db, "SELECT count(*) FROM t WHERE x = (SELECT max(x) FROM t)"), 1, "nor what is updated")
    db.execute("CREATE TRIGGER r AFTER DELETE ON t BEGIN INSERT INTO t SELECT -1; END")
    db.execute("DELETE FROM t WHERE x IN (SELECT x FROM v)")
    got = support.rows(db, "SELECT x, count(*) FROM t GROUP BY x")
    tap.is_equal(got, [(-1, 2 * (ROWS - 1))], "nor what a trigger inserts")
    db.execute("COMMIT")
    reading = db.execute("SELECT x FROM v")
    reading.fetchone()
    db.execute("INSERT INTO t VALUES (77)")
    got = reading.fetchall()
    rows = 2 * (ROWS - 1)
    tap.ok(len(got) in (rows - 1, rows), "another statement may write meanwhile")


#: What an authorizer is asked about: SQLITE_READ and SQLITE_PRAGMA.
READ, PRAGMA = 20, 19


def hiding(answer, wanted):
    """An authorizer that gives the answer for all actions that are wanted, and allows others."""
    return lambda action, first, second, *rest: answer if wanted(action, first) else 0


def test_hidden():
    """An authorizer that hides, or refuses, PRAGMAs and the columns of schemas: views answer as their
    SELECTs do, and nothing is said to lack memory."""
    wanted = {
        "PRAGMAs": lambda action, first: action == PRAGMA,
        "schemas": lambda action, first: action == READ and first in ("sqlite_master", "sqlite_temp_master"),
    }
    for name, answer in itertools.product(wanted, (2, 1)):
        batch = support.Batch(f"{name} that an authorizer {'hides' if answer == 2 else 'refuses'}")
        path, other = views.new(), views.new()
        for number, file in enumerate((path, other)):
            db = views.connect(file)
            support.execute(db, f"CREATE TABLE {'tu'[number]}(x)", support.numbered("tu"[number], ROWS, f"i * {number + 3}"),
                            "CREATE VIEW held AS SELECT gpu_sum(x) AS s FROM t")
        selects = ("SELECT gpu_sum(x), count(*) FROM t", "SELECT gpu_max(x) FROM u")
        for is_late in (False, True):
            db = views.connect(path)
            db.execute("ATTACH ? AS b", (other,))
            if is_late:
                views.create_all(db, selects)
            db.set_authorizer(hiding(answer, wanted[name]))
            for number, select in enumerate(selects):
                made = None if is_late else views.create(db, f"v{number}", select)
                want = views.outcome(db, select)
                batch.check(made is None or "NOMEM" not in str(made), f"{select}: {made}")
                for turn in range(2):
                    got = want if made else views.outcome(db, f"SELECT * FROM v{number}")
                    batch.compare(got, want, f"{select}, {turn}")
            for sql in ("SELECT line FROM clreduce_plan('v0')", "SELECT clreduce_rewrite('SELECT gpu_sum(x) FROM u')",
                        "SELECT clreduce_accelerate('held')", "SELECT clreduce_accelerate()", "SELECT * FROM held"):
                got = views.outcome(db, sql)
                batch.check("NOMEM" not in str(got), f"{sql}: {got}")
            db.set_authorizer(None)
            for number, select in enumerate(selects):
                views.agree(db, f"v{number}", select, (), "without it") if is_late else None


def test_interrupted(batch):
    """sqlite3_interrupt() after any instruction of any statement that a view needs is SQLITE_INTERRUPT,
    and the next answer is right."""
    path, other, sql = views.new(), views.new(), "SELECT gpu_sum(x), count(*) FROM u WHERE x > 2"
    db = views.connect(other)
    support.execute(db, "CREATE TABLE u(x)", support.numbered("u", 20, "i * 3"))
    want = views.outcome(db, sql)
    db.close()
    left = 0

    def count():
        nonlocal left
        left -= 1
        if left == 0:
            db.interrupt()
        return 0

    statements = (f"CREATE VIRTUAL TABLE temp.v USING clreduce(({sql}))", "SELECT * FROM v")
    for at in range(1, 100_000, 7 if tap.QUICK else 1):
        db = views.connect(path)
        db.execute("ATTACH ? AS b", (other,))
        left = at
        db.set_progress_handler(count, 1)
        for statement in statements:
            got = views.outcome(db, statement)
            if isinstance(got, views.Failure):
                break
        db.set_progress_handler(None, 1)
        batch.check(not isinstance(got, views.Failure) or "SQLITE_INTERRUPT: interrupted" in str(got), f"{at}: {got}")
        if statement is not statements[0]:
            batch.compare(views.outcome(db, "SELECT * FROM v"), want, f"{at}: after that")
        db.close()
        if left > 0:
            break
    batch.check(at > 100, f"{at} instructions")


def test_column_names():
    """A view's columns keep their names, whatever names SQLite gives those of a SELECT by its settings."""
    selects = (
        "SELECT x, sum(\"a b\") FROM t GROUP BY x", "SELECT t.x, u.y FROM t JOIN t AS u USING(x) WHERE x < 2", "SELECT x, x, x, x, x, t.x, count(*) AS x FROM t",
        "SELECT *, y AS \"t.x\" FROM t WHERE x < 2", "SELECT * FROM (SELECT * FROM t) LIMIT 5", "SELECT y AS \"x:1\", x, x FROM t WHERE x < 3",
        "SELECT count(*), t . x, 1.5, y AS \"a \"\"b, c\" FROM t GROUP BY x", "VALUES(1, 2)", "WITH c AS (SELECT x FROM t) SELECT max(x), \"x\" FROM c -- ;",
    )
    for made_by in ((0, 1), (1, 1), (1, 0), (0, 0)):
        db = views.connect()
        support.table(db, 't(x INT, y TEXT, "a b" INT)', ((i % 40, str(i % 3), i) for i in range(ROWS)))
        plain = [[column[0] for column in db.execute(f"SELECT * FROM ({select}\n)").description] for select in selects]
        db.execute("CREATE VIEW ordinary AS SELECT t.x, count(*) FROM t GROUP BY x")

        def turn(settings):
            for name, value in zip(("full_column_names", "short_column_names"), settings):
                db.execute(f"PRAGMA {name} = {value}")

        turn(made_by)
        for number, select in enumerate(selects):
            tap.is_equal(views.create(db, f"v{number}", select), None, f"{made_by}: {select}")
        db.execute("SELECT clreduce_accelerate('ordinary')").fetchall()
        for settings in ((0, 1), (1, 1), (1, 0), (0, 0)):
            turn(settings)
            support.execute(db, "ALTER TABLE t RENAME TO other", "ALTER TABLE other RENAME TO t")
            for number, select in enumerate(selects):
                names = [name for _, name, *_ in db.execute(f"PRAGMA table_info(v{number})")]
                # SQLite numbers many columns of one name at random.
                same = len(names) == len(plain[number]) and all(
                    a == b or (a.split(":")[0] == b.split(":")[0] and int(b.split(":")[1]) > 3) for a, b in zip(names, plain[number])
                )
                tap.ok(same, f"{made_by} and then {settings}: {names} of {select}")
                tap.is_equal(views.ask(db, f"v{number}"), views.outcome(db, select), f"{settings}: its rows")
            tap.is_equal(views.outcome(db, "SELECT x FROM ordinary"), views.outcome(db, "SELECT x FROM main.ordinary"), f"{settings}: an ordinary view")
            select = "SELECT t.x, count(*) FROM t GROUP BY t.x"
            rewritten = db.execute("SELECT clreduce_rewrite(?)", (select,)).fetchone()[0]
            tap.is_equal(
                [column[0] for column in db.execute(rewritten).description], [column[0] for column in db.execute(select).description],
                f"{settings}: a SELECT that is rewritten",
            )


def test_views_anew(batch, path):
    """Ordinary views in FROM that become others, in one commit, also by another connection."""
    db, other = connect(path), connect(path)
    db.executescript(f"""
        PRAGMA journal_mode = WAL;
        CREATE TABLE t(a INT, b INT);
        {support.numbered("t", ROWS, "i % 5, i % 7")};
        CREATE VIEW v AS SELECT a AS k FROM t;
        CREATE VIEW u AS SELECT k AS z FROM v;""")
    selects = {
        "w0": "SELECT k, count(*) FROM v GROUP BY k",
        "w1": "SELECT z, count(*) FROM u WHERE z > 1 GROUP BY z",
        "w2": "WITH s AS (SELECT * FROM u) SELECT z, count(*) FROM s GROUP BY 1",
    }
    views.create_all(db, selects)
    changes = (
        (other, "DROP VIEW v; CREATE VIEW v AS SELECT b AS k FROM t WHERE a < 3"),
        (db, "DROP VIEW v; CREATE VIEW v(x, k) AS SELECT b, a + b FROM t"),
        (db, "CREATE VIEW new AS SELECT * FROM t; DROP VIEW v; CREATE VIEW v AS SELECT a AS k FROM new WHERE b"),
        (other, "DROP VIEW v; DROP VIEW new; CREATE TABLE v(k); INSERT INTO v VALUES (3), (3), (4)"),
        (db, "DROP TABLE v; CREATE VIEW v AS SELECT a AS k FROM t"),
    )
    for connection, change in (*changes, (other, "DELETE FROM t WHERE a = 1")):
        connection.executescript(f"BEGIN; {change}; COMMIT")
        for name, select in selects.items():
            batch.compare(views.ask(db, name), views.outcome(db, select), f"{change}: {select}")
            batch.check(views.accelerated(db, name), f"{change}: {select}: {views.plan(db, name)[0]}")


def test_limits():
    """Limits of the connection, lowered and raised again: they are for the SELECT, and not for statements of ours."""
    if not hasattr(sqlite3.Connection, "setlimit"):
        tap.skip(1, "this Python's sqlite3 module sets no limits")
        return
    selects = (
        "SELECT x, count(*), sum(n), max(s) FROM t WHERE n < 900 GROUP BY x", "SELECT gpu_sum(x), gpu_max(s), count(*) FROM t WHERE s LIKE '%1' OR s = '2'",
        "SELECT s, count(*) FROM t GROUP BY s HAVING count(*) > 3", "SELECT g, count(*) FROM filled GROUP BY g", "SELECT DISTINCT s, x FROM t",
        "SELECT gpu_median(n), gpu_mode(n) FROM t", "SELECT sum(x) FROM t",
    )

    def give(db, sql):
        try:
            return db.execute(sql).fetchall()
        except (sqlite3.Error, MemoryError) as error:  # more operations than may be are too little memory
            return repr(error)

    limits = {
        sqlite3.SQLITE_LIMIT_SQL_LENGTH: (80, 100, 200), sqlite3.SQLITE_LIMIT_COLUMN: (1, 2, 3, 4, 5, 10),
        sqlite3.SQLITE_LIMIT_EXPR_DEPTH: (1, 2, 3, 4, 6, 10), sqlite3.SQLITE_LIMIT_FUNCTION_ARG: (0, 1, 2, 3),
        sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: (1, 2), sqlite3.SQLITE_LIMIT_VDBE_OP: (30, 60, 100, 200, 400),
        sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: (1, 2),
    }
    for reconnects in (False, True):
        batch = support.Batch(f"limits, {'with' if reconnects else 'without'} a change of the schema")
        for limit, values in limits.items():
            for value in values:
                db = views.connect(cached_statements=0 if reconnects else 128)
                support.table(db, "t(x INT, s TEXT, n INT)", ((i % 10, str(i % 3), i) for i in range(ROWS)))
                support.execute(db, "CREATE TABLE filled(r INT, g AS (r + 1))", "INSERT INTO filled SELECT x FROM t")
                for number, select in enumerate(selects):
                    views.create(db, f"v{number}", select)
                    views.ask(db, f"v{number}")
                if reconnects:
                    db.execute("CREATE TABLE another(x)")
                before = db.setlimit(limit, value)
                for lifted in (False, False, True):
                    if lifted:
                        db.setlimit(limit, before)
                    for number, select in enumerate(selects):
                        batch.compare(give(db, f"SELECT * FROM v{number}"), give(db, select), f"limit {limit}: {value}, lifted: {lifted}: {select}")


views.run(globals(), db=lambda _: connect())
