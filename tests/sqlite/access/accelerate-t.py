"""clreduce_accelerate(): ordinary views that accelerated ones go before.

A statement that names the view gives what it gives without: the same rows, columns, types and comparisons, whatever
the names in the view mean elsewhere, and an error where the ordinary view has gone or has other columns.
"""

import sqlite3

import support
import tap
import view_support as views

ROWS = 3_000


def fill(db, table, factor=1):
    """A table of numbers and a few words."""
    rows = ((factor * (i % 97), i / 8, f"S{i % 7}", f"2020-01-0{i % 9 + 1}", i % 5 or "none") for i in range(ROWS))
    support.table(db, f"{table}(x INTEGER, r REAL, s TEXT COLLATE NOCASE, d DATE, n)", rows)


def open_database(path=None, **options):
    """A connection to a database, which is filled if it is a new one."""
    db = views.connect(path or views.new(), **options)
    if path is None:
        fill(db, "t")
    return db


def accelerate(db, *name):
    """What the function gives, or its error's text."""
    found = support.value(db, f"SELECT clreduce_accelerate({', '.join('?' * len(name))})", *name)
    return found.message if isinstance(found, support.Failure) else found


def described(db, sql):
    """The rows, and the columns' names."""
    try:
        cursor = db.execute(sql)
        return [tuple(column[0] for column in cursor.description)] + cursor.fetchall()
    except views.ERRORS as error:
        return [str(error)]


def temporary(db):
    """The names of what is in temp."""
    return sorted(name for (name,) in db.execute("SELECT name FROM temp.sqlite_master"))


def without(path, sql, *setup):
    """What the statement gives on a connection without accelerated views."""
    db = open_database(path)
    support.execute(db, *setup)
    found = described(db, sql)
    db.close()
    return found


# ---- What statements give.

VIEWS = {
    "plain": "SELECT count(*) AS n, gpu_sum(r) AS total, max(x) FROM t WHERE x > 5",
    'the "one"': "SELECT gpu_avg(x) AS \"a \"\"b\"\"\", gpu_min(n), gpu_min(s) AS s FROM t WHERE s LIKE 's3%'",
    "with columns": "SELECT gpu_sum(x), count(r), gpu_max(d), CAST(max(x) AS TEXT), CAST(sum(x) AS REAL) FROM t",
    "Select": "SELECT gpu_sum(t.x) AS x, gpu_sum(main.t.r) + 1 AS x FROM main.t",
}

CREATED = {"with columns": 'CREATE VIEW main."with columns" /* ( */ ("a, b", [c)], `d "`, \'e\', f) -- AS (\n AS\n'}

STATEMENTS = [
    'SELECT * FROM plain',
    'SELECT total, n FROM Plain AS p WHERE p.n > 1 ORDER BY total',
    'SELECT plain.*, t.x FROM t JOIN plain ON t.x = plain."max(x)" ORDER BY t.r LIMIT 3',
    'SELECT * FROM (SELECT * FROM "the ""one""" UNION ALL SELECT * FROM [the "one"])',
    'SELECT * FROM "with columns"',
    'SELECT f, e, typeof(e), typeof(f) FROM "with columns" WHERE e = 96',
    'SELECT count(*) FROM "with columns" WHERE "a, b" = \'143328\'',
    'SELECT count(*) FROM t JOIN "with columns" AS w ON w.e = t.x',
    'SELECT count(*) FROM t JOIN "with columns" AS w ON t.s = w.[c)]',
    'SELECT count(*) FROM t WHERE d IN (SELECT [c)] FROM "with columns")',
    'SELECT count(*) FROM word JOIN plain ON word.w = plain.n',
    'SELECT count(*) FROM word WHERE w IN (SELECT n FROM plain)',
    'SELECT count(*) FROM word WHERE w = (SELECT n FROM plain)',
    'SELECT * FROM "Select"',
    'SELECT "x:1" FROM "Select" GROUP BY 1',
    'SELECT rowid FROM plain',
    'INSERT INTO plain VALUES (1, 2, 3)',
    'SELECT * FROM main.plain',
    'SELECT * FROM above',
]


def make_views(db):
    """The views, a view that reads one of them, and TEXT to compare with."""
    for name, select in VIEWS.items():
        quoted = name.replace('"', '""')
        db.execute(CREATED.get(name, f'CREATE VIEW "{quoted}" AS ') + select)
    support.execute(db, "CREATE VIEW above AS SELECT n + 1 FROM plain", "CREATE TABLE word(w TEXT)",
                    "INSERT INTO word SELECT count(*) FROM t WHERE x > 5")


def test_statements():
    """Statements over the views, with and without."""
    db = open_database()
    path = db.execute("PRAGMA database_list").fetchone()[2]
    make_views(db)
    for name in VIEWS:
        tap.is_equal(accelerate(db, name), 1, f"accelerated: {name}")
        tap.is_equal(accelerate(db, name.upper()), 1, "and again, in other letters")
    before = temporary(db)
    batch = support.Batch("statements over views")
    for sql in STATEMENTS:
        for _ in range(2):
            batch.compare(described(db, sql), without(path, sql), sql)
    for name in VIEWS:
        batch.check(views.plan(db, name)[0].startswith("accelerated"), f"{name}: {views.plan(db, name)[0]}")
    batch.check(any(line.startswith("table main.t,") for line in views.plan(db, "plain")), "the plan names the table")
    tap.is_equal(accelerate(db), len(VIEWS), "all of them: those that are, and not the one that reads a view")
    tap.is_equal(temporary(db), before, "which makes nothing anew")
    db.close()
    fresh = open_database(path)
    tap.is_equal(temporary(fresh), [], "another connection has none of it")
    tap.is_equal(accelerate(fresh), len(VIEWS), "all at once")
    batch = support.Batch("statements over views that were accelerated at once")
    for sql in STATEMENTS:
        batch.compare(described(fresh, sql), without(path, sql), sql)


def test_columns(path):
    """Columns have the declared types of the ordinary view's, and the rows their own."""
    db = views.connect(path, detect_types=sqlite3.PARSE_DECLTYPES)
    db.execute("CREATE TABLE t(d DATE, \"odd\" \"a hidden type\", v VARCHAR(20) COLLATE NOCASE, z DECIMAL(10, 2))")
    support.execute(db, "INSERT INTO t VALUES ('2020-02-03', 1, 'A', 7)", "CREATE VIEW w AS SELECT d, odd, v, z FROM t")
    db.execute("CREATE VIRTUAL TABLE temp.direct USING clreduce((SELECT * FROM main.w))")
    for column in ("d", "odd", "v", "z"):
        for condition in (f"{column} = 'a'", f"{column} = '7'", f"{column} < 'b'", f"{column} IN ('1', 'a')"):
            tap.is_equal(described(db, f"SELECT {column}, {condition} FROM direct"),
                         described(db, f"SELECT {column}, {condition} FROM main.w"), f"as in the view: {condition}")
    tap.is_equal(described(db, "SELECT * FROM direct"), described(db, "SELECT * FROM main.w"), "dates are dates")


#: Views of several rows, whose keys have affinities and types of their own.
GROUPED = {
    "words": "SELECT v, count(*) AS n, sum(i) AS total FROM g GROUP BY v",
    "days": "SELECT d, v, gpu_sum(r) AS r FROM g WHERE i > 2 GROUP BY d, v HAVING count(*) > 10",
    "months": "SELECT substr(d, 1, 7) AS month, CAST(i AS TEXT) AS i, count(*) AS n FROM g GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2",
    "distinct_ones": "SELECT DISTINCT i, n FROM g",
    "worst": "SELECT v AS w, max(i) AS m, n + 0 AS n FROM g GROUP BY v, n + 0",
}
LITERALS = ("'v1'", "'V1'", "5", "'5'", "625", "2.0", "'2'", "'2020-03-01'", "NULL")


def write_statements(view, columns):
    """Statements in which each column of a view compares with all kinds of values."""
    yield from (f"SELECT * FROM {view}{end}" for end in ("", " ORDER BY 1, 2", " ORDER BY 2 DESC, 1 LIMIT 3"))
    for column in columns:
        for literal in LITERALS:
            yield f"SELECT * FROM {view} WHERE {column} = {literal}"
            yield f"SELECT count(*), sum({column} < {literal}), sum({column} IN (1, {literal})) FROM {view}"
        for key in ("k", "m"):
            yield f"SELECT count(*) FROM {view} JOIN word ON word.{key} = {view}.{column}"
            yield f"SELECT word.{key} IN (SELECT {column} FROM {view}) FROM word"
        yield f"SELECT {column}, count(*) FROM {view} GROUP BY {column}"
        yield f"SELECT DISTINCT {column} FROM {view}"
        yield f"SELECT {column} FROM {view} UNION SELECT k FROM word"
        yield f"SELECT max({column}), min({column}) FROM {view}"
        yield f"SELECT * FROM {view} WHERE {column} LIKE 'v%' OR {column} BETWEEN '1' AND 'v1'"


def test_groups(batch, path):
    """Views of several rows: whatever is accelerated of them compares as before."""
    db = views.connect(path)
    rows = ((f"v{i % 5}", f"2020-0{i % 9 + 1}-01", i % 7, i / 8, i % 4 or None) for i in range(ROWS))
    support.table(db, "g(v VARCHAR(9), d DATE, i INT, r REAL, n)", rows)
    support.table(db, "word(k TEXT, m INT)", (("v1", 3), ("V2 ", 7), ("600", 1), ("5", 5), ("3.0", 375)))
    for name, select in GROUPED.items():
        db.execute(f"CREATE VIEW {name} AS {select}")
    plain = views.connect(path)
    tap.diag(f"{accelerate(db)} of {len(GROUPED)} are accelerated")
    for name in GROUPED:
        columns = [column[0] for column in plain.execute(f"SELECT * FROM {name}").description]
        for sql in write_statements(name, columns):
            batch.compare(described(db, sql), described(plain, sql), sql)


# ---- What names mean.


def test_names(path):
    """A view's names are its own database's."""
    db = open_database()
    db.execute("ATTACH ? AS \"b b\"", (path,))
    fill(db, '"b b".t', 7)
    fill(db, '"b b".only', -3)
    select = "SELECT gpu_sum(x) AS x, count(*) AS n FROM"
    support.execute(db, f"CREATE VIEW main.v AS {select} t", f"CREATE VIEW \"b b\".v AS {select} t")
    support.execute(db, f"CREATE VIEW \"b b\".u AS {select} t", f"CREATE VIEW \"b b\".o AS {select} only")
    db.execute(f"CREATE VIEW main.missing AS {select} only")
    tap.is_equal(accelerate(db), 3, "one of a name, and none that is an error")
    wanted = {name: described(db, f"SELECT * FROM {schema}.{name}")
              for schema, name in (("main", "v"), ('"b b"', "u"), ('"b b"', "o"))}
    for change in ("SELECT 1", "CREATE TEMP TABLE t(x, r, s)", "INSERT INTO temp.t VALUES (1, 2, 3)",
                   "CREATE TABLE main.only(x)", "DROP TABLE temp.t", "CREATE TEMP VIEW t AS SELECT 1 AS x"):
        db.execute(change).fetchall()
        for name, want in wanted.items():
            tap.is_equal(described(db, f"SELECT * FROM {name}"), want, f"{name} after {change}")
            tap.ok(views.accelerated(db, name), f"accelerated: {views.plan(db, name)[0]}")
    tap.is_equal(accelerate(db), 4, "one more has its table now")
    tap.is_equal(described(db, "SELECT * FROM missing"), [("x", "n"), (None, 0)], "its own, and not the attached one's")
    db.execute("DETACH \"b b\"")
    tap.ok("no such table" in described(db, "SELECT * FROM u")[0] or "unknown database" in described(db, "SELECT * FROM u")[0],
           f"a database that has gone: {described(db, 'SELECT * FROM u')}")
    tap.is_equal(described(db, "SELECT * FROM v"), wanted["v"], "main is still there")
    db.execute("ATTACH ? AS \"b b\"", (path,))
    tap.is_equal(described(db, "SELECT * FROM u"), wanted["u"], "and back again")


# ---- Errors.


def test_collations():
    """Names are SQLite's, folded in ASCII, whatever the application's NOCASE takes for the same."""
    for name, collation in (("all", lambda a, b: 0), ("none", lambda a, b: -1)):
        db = open_database()
        db.execute("CREATE VIEW aa AS SELECT count(*) AS n FROM t")
        db.execute("CREATE VIEW ab AS SELECT gpu_sum(x) AS total FROM t")
        db.execute("CREATE VIEW ac AS SELECT gpu_max(x) AS most FROM t")
        db.execute("CREATE TRIGGER written INSTEAD OF INSERT ON ac BEGIN SELECT 1; END")
        db.create_collation("NOCASE", collation)
        tap.is_equal(accelerate(db, "AB"), 1, f"{name} equal: a view by its name")
        tap.is_equal(described(db, "SELECT * FROM ab"), described(db, "SELECT * FROM main.ab"), f"{name} equal: its text")
        tap.ok("triggers" in accelerate(db, "AC"), f"{name} equal: another one's trigger")
        tap.is_equal(accelerate(db), 2, f"{name} equal: all that can be")
        tap.is_equal(described(db, "SELECT * FROM aa"), described(db, "SELECT * FROM main.aa"), f"{name} equal: another text")
        select = "SELECT gpu_sum(x), count(*) FROM t WHERE x > 3"
        rewritten = support.value(db, "SELECT clreduce_rewrite(?)", select)
        tap.is_equal(described(db, rewritten), described(db, select), f"{name} equal: a SELECT that is rewritten")
        db.close()


def test_errors():
    """What cannot be accelerated says why, and leaves nothing."""
    db = open_database()
    for name, select in {
        "joined": "SELECT count(*) FROM t, t AS u", "rows": "SELECT random() FROM t", "broken": "SELECT count(*) FROM nosuch",
        "sorted": "SELECT max(s COLLATE RTRIM) FROM t", "written": "SELECT count(*) AS n FROM t",
        "written2": "SELECT count(*) AS n FROM t", "unsafe": "SELECT gpu_sum(secret(x)) FROM t",
        "taken": "SELECT count(*) AS n FROM t",
    }.items():
        db.execute(f"CREATE VIEW {name} AS {select}")
    db.create_function("secret", 1, lambda x: x, deterministic=True)
    support.execute(db, "CREATE TRIGGER tr INSTEAD OF INSERT ON written BEGIN DELETE FROM t; END",
                    "CREATE TEMP TRIGGER tr2 INSTEAD OF INSERT ON main.written2 BEGIN SELECT 1; END",
                    "CREATE TEMP VIEW mine AS SELECT count(*) FROM t", "CREATE TEMP TABLE taken(x)")
    before = temporary(db)
    for name, message in (
        ("nosuch", "no database has a view 'nosuch'"),
        ("mine", "no database has a view 'mine'"),
        ("t", "'t' is a table, and no view"),
        ("it's", "no database has a view 'it''s'"),
        ("joined", "view 'joined' cannot be accelerated: table u is not joined by"),
        ("rows", "view 'rows' cannot be accelerated: "),
        ("broken", "view 'broken' cannot be accelerated: no such table: main.nosuch"),
        ("sorted", "view 'sorted' has COLLATE, which is not accelerated here"),
        ("written", "view 'written' has triggers, which an accelerated one would hide"),
        ("written2", "view 'written2' has triggers, which an accelerated one would hide"),
        ("taken", "temp has something else of the name 'taken' already"),
        (None, "the argument must be the name of a view, not NULL"),
        ("a\0b", "the argument must not contain a NUL, as after 'a'"),
    ):
        found = accelerate(db, name)
        tap.ok(str(found).startswith(f"clreduce_accelerate: {message}"), f"{name!r}: {found}")
    tap.is_equal(temporary(db), before, "nothing is made")
    tap.is_equal(accelerate(db), 1, "all that can be: the one that calls a function")
    db.execute("PRAGMA trusted_schema = 0")
    want = described(db, "SELECT * FROM main.unsafe")
    tap.ok("unsafe use of secret()" in want[0], f"a schema that is not trusted: {want}")
    tap.is_equal(described(db, "SELECT * FROM unsafe"), want, "is trusted no more by way of the accelerated view")
    db.execute("PRAGMA trusted_schema = 1")
    tap.is_equal(described(db, "SELECT * FROM unsafe"), described(db, "SELECT * FROM main.unsafe"), "trusted again")
    for sql in ("CREATE VIEW w AS SELECT clreduce_accelerate()", "CREATE VIEW w2 AS SELECT clreduce_accelerate('x')"):
        db.execute(sql)
        tap.raises(lambda sql=sql: db.execute(f"SELECT * FROM {sql.split()[2]}").fetchall(), "unsafe use of clreduce_accelerate()", sql)
    tap.raises(lambda: db.execute("INSERT INTO t(x) SELECT clreduce_accelerate()"),
               "clreduce_accelerate: a statement that writes is running", "in a statement that writes")


def test_utf16(path):
    """By the first statement of a connection: some versions of SQLite do not read the schema of such a database amid it."""
    db = views.connect(path, encoding="UTF-16")
    fill(db, "t")
    db.execute("CREATE VIEW v AS SELECT s, count(*) AS n FROM t GROUP BY s")
    db.close()
    db = open_database(path)
    refused = "clreduce_accelerate: database table is locked: if its text is UTF-16, read one of its tables first"
    found = accelerate(db, "v")
    tap.ok(found in (1, refused), f"the first statement: {found}")
    db.execute("SELECT 1 FROM t LIMIT 1").fetchall()
    tap.is_equal(accelerate(db, "v"), 1, "once the schema is read")
    tap.is_equal(described(db, "SELECT * FROM v"), described(db, "SELECT * FROM main.v"), "and that is the view's")


def test_rights():
    """Authorizers, and a connection that must not write."""
    db = open_database()
    support.execute(db, "CREATE VIEW v AS SELECT gpu_sum(x) AS x FROM t", "PRAGMA query_only = 1")
    tap.is_equal(accelerate(db, "v"), "clreduce_accelerate: view 'v': attempt to write a readonly database", "query_only")
    db.execute("PRAGMA query_only = 0")
    for name in (("v",), ()):
        db.set_authorizer(lambda action, *rest: sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_CREATE_TEMP_VIEW else 0)
        found = accelerate(db, *name)
        db.set_authorizer(None)
        tap.ok(str(found).startswith("clreduce_accelerate: view 'v': not authorized"), f"denied: {name}: {found}")
        tap.is_equal(temporary(db), [], "nothing is left")
    tap.is_equal(accelerate(db, "v"), 1, "then it may")
    # The ordinary view may read the column, and nobody else.
    db.set_authorizer(lambda action, a, b, c, by: sqlite3.SQLITE_DENY if (action, a, b, by) == (20, "t", "x", None) else 0)
    tap.is_equal(described(db, "SELECT * FROM v"), described(db, "SELECT * FROM main.v"), "rights of the ordinary view")
    db.set_authorizer(lambda action, a, *rest: sqlite3.SQLITE_DENY if (action, a) == (20, "t") else 0)
    tap.is_equal(described(db, "SELECT * FROM v"), described(db, "SELECT * FROM main.v"), "which it may lose")
    tap.ok("prohibited" in described(db, "SELECT * FROM v")[0], f"{described(db, 'SELECT * FROM v')}")
    db.set_authorizer(None)
    tap.is_equal(described(db, "SELECT * FROM v"), described(db, "SELECT * FROM main.v"), "and get back")


# ---- Changes.

SELECTS = [
    "SELECT gpu_sum(x) AS a, count(*) AS b FROM t",
    "SELECT gpu_sum(x) + 1 AS a, count(*) AS b FROM t",
    "SELECT gpu_sum(r) AS a, count(s) AS b FROM t WHERE x > 9",
    "SELECT x + 0 AS a, r + 0 AS b FROM t WHERE x = 90 AND r > 300 ORDER BY 2",
]
OTHER_COLUMNS = [
    "SELECT count(*) AS b, gpu_sum(x) AS a FROM t",
    "SELECT gpu_sum(x) AS a FROM t",
    "SELECT gpu_sum(x) AS a, count(*) AS b, 1 AS c FROM t",
]
CHANGED = "clreduce: view v has other columns now: call clreduce_accelerate('v') again"


def test_changes(batch):
    """A view that is dropped, or created again, by this connection or by another."""
    db = open_database()
    other = open_database(db.execute("PRAGMA database_list").fetchone()[2])
    db.execute(f"CREATE VIEW v AS {SELECTS[0]}")

    def both(what):
        batch.compare(described(db, "SELECT * FROM v"), described(db, "SELECT * FROM main.v"), what)

    for who in (db, other):
        batch.compare(accelerate(db, "v"), 1, "accelerated")
        both("at first")
        for select in SELECTS[1:] + SELECTS[:1]:
            who.execute("DROP VIEW main.v")
            batch.compare(described(db, "SELECT * FROM v")[0].split(":", 1)[-1], " main.v", "dropped")
            who.execute(f"CREATE VIEW main.v AS {select}")
            both(select)
            both(f"{select}, again")
        for select in OTHER_COLUMNS:
            support.execute(who, "BEGIN", "DROP VIEW main.v", f"CREATE VIEW main.v AS {select}", "COMMIT")
            found = described(db, "SELECT * FROM v")[0]
            batch.compare(found, CHANGED, select)
            batch.check(views.plan(db, "v")[0].startswith("row by row: "), f"the plan: {views.plan(db, 'v')[0]}")
            batch.compare(accelerate(db, "v"), 1, "accelerated again")
            both(f"{select}, accelerated again")
        support.execute(who, "DROP VIEW main.v", f"CREATE VIEW main.v AS {SELECTS[0]}")
        batch.compare(accelerate(db, "v"), 1, "accelerated at last")
        support.execute(who, "DROP TABLE t", "CREATE TABLE t(x, r, s)", "INSERT INTO t VALUES (3, 4, 5)")
        both("another table")
        db.execute("DROP VIEW temp.v")
    batch.compare(temporary(db), [], "nothing is left")
    db.execute("BEGIN")
    tap.is_equal(accelerate(db, "v"), 1, "in a transaction")
    db.execute("INSERT INTO t VALUES (5, 6, 7)")
    tap.is_equal(described(db, "SELECT * FROM v"), described(db, "SELECT * FROM main.v"), "with what it has written")
    db.execute("ROLLBACK")
    tap.ok("v" not in temporary(db), "which takes it back")
    tap.is_equal(described(db, "SELECT * FROM v"), described(db, "SELECT * FROM main.v"), "and the ordinary one is there")
    tap.is_equal(accelerate(db), 1, "accelerated")
    tap.raises(lambda: db.execute("DROP TABLE temp.v"), "use DROP VIEW", "it is a view")


views.run(globals())
