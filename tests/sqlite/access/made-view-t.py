"""clreduce_view(select): the accelerated view of a SELECT, made or found again, by its name.

The view gives what the SELECT gives, its columns and parameters are the SELECT's, and an error says what is wrong
with the argument.
"""

import sqlite3

import support
import tap
import view_support as views

FOLDER = views.Folder()
ROWS = 3_000
MOST = 32


def open_database(path=None, **options):
    """A connection to a database, which is filled if it is a new one."""
    db = views.connect(path or FOLDER.new(), isolation_level=None, **options)
    if path is None:
        db.execute("BEGIN")
        db.execute("CREATE TABLE t(x INTEGER, r REAL, s TEXT)")
        db.executemany("INSERT INTO t VALUES (?, ?, ?)", ((i % 97, i / 8, f"s{i % 7}") for i in range(ROWS)))
        db.execute("COMMIT")
    return db


def make(db, select):
    """The name of the view, or a Failure."""
    return support.value(db, "SELECT clreduce_view(?)", select)


def made(db):
    """The names of all views that were made."""
    sql = "SELECT name FROM temp.sqlite_master WHERE name GLOB 'clreduce_view_*' AND type = 'table' ORDER BY name"
    return [name for (name,) in db.execute(sql)]


# ---- What a view is.

#: A SELECT, parameters in their order, and whether it is accelerated.
SELECTS = [
    ("SELECT gpu_sum(r), count(*) AS n FROM t WHERE x > 5", (), True),
    ("SELECT gpu_sum(r) FROM t WHERE x > :least AND s <> ?7 -- a comment;", (3, None, None, None, None, None, "s1"), True),
    ("  SELECT gpu_avg(x) AS \"a \"\"b\"\"\", gpu_avg(x) AS \"A \"\"B\"\"\" FROM t;\n ; ", (), True),
    ("SELECT x, s FROM t WHERE x = ? LIMIT 3", (7,), False),
    ("WITH n AS (SELECT count(*) AS n FROM t) SELECT n + ?1 FROM n", (1,), False),
    ("VALUES (1, 'a;'), (2, ';b');", (), False),
    ("SELECT ')); DROP TABLE t; --' AS x, count(*) FROM t /* ); */", (), True),
    ("SELECT max(x) FROM t WHERE s = '\u00e4\u20ac' OR x < 9", (), True),
]


def test_selects():
    """Views give what their SELECTs give, are found again, and are planned as all are."""
    db = open_database()
    batch = support.Batch("views of SELECTs")
    for select, parameters, accelerated in SELECTS:
        name = make(db, select)
        want = views.outcome(db, select.rstrip(" ;\n"), parameters)
        for _ in range(2):
            batch.compare(views.ask(db, name, parameters), want, select)
        batch.compare(views.accelerated(db, name), accelerated, f"{select}: {views.plan(db, name)[0]}")
        batch.compare(make(db, select), name, f"found again: {select}")
        batch.compare(make(db, select.rstrip(" ;\n") + " ;"), name, f"found again without its end: {select}")
    batch.compare(len(made(db)), len(SELECTS), "one view for each")
    batch.compare(support.value(db, "SELECT count(*) FROM t"), ROWS, "nothing happened to the table")
    batch.end()
    columns = [column[0] for column in db.execute(f"SELECT * FROM {make(db, SELECTS[0][0])}").description]
    tap.is_equal(columns, ["gpu_sum(r)", "n"], "the columns have the SELECT's names")
    db.close()


ERRORS = [
    (None, "clreduce_view: the argument must be the text of a SELECT, not NULL"),
    ("", "clreduce_view: there is no SELECT: ''"),
    (" ;; ", "clreduce_view: there is no SELECT: ''"),
    (17, "clreduce_view: near \"17\": syntax error, in '17'"),
    ("SELECT 1\0", "clreduce_view: the argument must not contain a NUL, as after 'SELECT 1'"),
    ("DELETE FROM t", "clreduce_view: a view holds a SELECT, and this is another statement: 'DELETE FROM t'"),
    ("DELETE FROM t RETURNING x", "clreduce_view: a view holds a SELECT, and this is another statement"),
    ("PRAGMA foreign_keys = 1", "clreduce_view: a view holds a SELECT, and this is another statement"),
    ("EXPLAIN SELECT 1", "clreduce_view: a view holds a SELECT, and this is another statement"),
    ("SELECT 1; SELECT 2", "clreduce_view: a view holds one statement, and these are several: 'SELECT 1; SELECT 2'"),
    ("SELECT nosuch FROM t", "clreduce_view: no such column: nosuch, in 'SELECT nosuch FROM t'"),
    ("SELECT 1)); DROP TABLE t; --", "clreduce_view: near \")\": syntax error, in 'SELECT 1)); DROP TABLE t; --'"),
    ("SELECT * FROM (SELECT 1", "clreduce_view: incomplete input, in 'SELECT * FROM (SELECT 1'"),
]


def test_errors():
    """What is no SELECT is an error, and makes nothing."""
    db = open_database()
    for argument, message in ERRORS:
        found = make(db, argument)
        tap.ok(isinstance(found, support.Failure) and str(found.message).startswith(message),
               f"{argument!r}: {found}")
    tap.is_equal(made(db), [], "no view is made")
    tap.is_equal(support.value(db, "SELECT count(*) FROM t"), ROWS, "nothing happened to the table")
    tap.raises(lambda: db.execute("SELECT clreduce_view()"), "wrong number of arguments", "without an argument")
    db.close()


# ---- Where it is called.


def test_places():
    """In schemas it is refused, and in statements that write."""
    db = open_database()
    db.execute("CREATE VIEW w AS SELECT clreduce_view('SELECT 1') AS name")
    db.execute("CREATE TABLE log(name)")
    db.execute("CREATE TRIGGER tr AFTER INSERT ON t BEGIN INSERT INTO log SELECT clreduce_view('SELECT 1'); END")
    for sql in ("SELECT * FROM w", "INSERT INTO t VALUES (1, 1, 1)"):
        tap.raises(lambda sql=sql: db.execute(sql).fetchall(), "unsafe use of clreduce_view()", sql)
    db.execute("DROP TRIGGER tr")
    for sql in ("INSERT INTO log SELECT clreduce_view('SELECT 1')", "UPDATE t SET s = clreduce_view('SELECT 1')",
                "CREATE TABLE names AS SELECT clreduce_view('SELECT 1')",
                "DELETE FROM t WHERE clreduce_view('SELECT 1') = 1"):
        tap.raises(lambda sql=sql: db.execute(sql).fetchall(),
                   "clreduce_view: a statement that writes is running: call it in a SELECT by itself", sql)
    tap.is_equal(support.value(db, "SELECT count(*) FROM t"), ROWS, "nothing was written")
    names = [name for (name,) in db.execute("SELECT clreduce_view('SELECT count(*), ' || column1 || ' FROM t')"
                                            " FROM (VALUES (1), (2), (1))")]
    tap.ok(len(names) == 3 and names[0] == names[2] != names[1], f"several in one SELECT: {names}")
    cursor = db.execute("SELECT x, (SELECT count(*) FROM t AS u WHERE u.x = t.x AND u.r < 9) FROM t ORDER BY t.r")
    first = cursor.fetchone()
    name = make(db, "SELECT gpu_sum(x) FROM t")
    tap.is_equal(views.ask(db, name), views.outcome(db, "SELECT gpu_sum(x) FROM t"), "while another SELECT runs")
    try:
        rest = cursor.fetchall()
        whole = [first] + rest
    except sqlite3.Error as error:  # as SQLite's own CREATE does to such a SELECT
        tap.ok("ROLLBACK" in str(error) or "abort" in str(error), f"the other SELECT is stopped: {error}")
    else:
        tap.is_equal(len(whole), ROWS, "the other SELECT goes on")
    db.close()


def test_transactions():
    """A transaction takes back what was made in it."""
    db = open_database()
    select = "SELECT gpu_sum(x) FROM t"
    db.execute("BEGIN")
    first = make(db, select)
    tap.is_equal(views.ask(db, first), views.outcome(db, select), "in a transaction")
    db.execute("ROLLBACK")
    tap.raises(lambda: db.execute(f"SELECT * FROM {first}"), "no such table", "rolled back")
    second = make(db, select)
    tap.is_equal(views.ask(db, second), views.outcome(db, select), "made again")
    db.execute("BEGIN")
    db.execute("INSERT INTO t VALUES (1000, 1, 's')")
    tap.is_equal(make(db, select), second, "found in a transaction")
    tap.is_equal(views.ask(db, second), views.outcome(db, select), "with what it has written")
    other = make(db, select + " WHERE r > 2")
    db.execute("COMMIT")
    tap.is_equal(views.ask(db, other), views.outcome(db, select + " WHERE r > 2"), "committed")
    db.execute("SAVEPOINT a")
    third = make(db, "SELECT 3")
    db.execute("ROLLBACK TO a")
    db.execute("RELEASE a")
    tap.ok(third not in made(db) and second in made(db), "a savepoint")
    tap.is_equal(views.ask(db, make(db, "SELECT 3")), [(3,)], "made again after it")
    db.close()


def test_rights():
    """Read-only databases have a temp schema; query_only and authorizers are heeded."""
    path = FOLDER.new()
    db = open_database()
    db.execute("VACUUM INTO ?", (path,))
    db.close()
    db = views.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None)
    name = make(db, "SELECT count(*) FROM t")
    tap.is_equal(views.ask(db, name), [(ROWS,)], "a database that cannot be written")
    db.execute("PRAGMA query_only = 1")
    tap.is_equal(make(db, "SELECT count(*) FROM t"), name, "query_only: found")
    found = make(db, "SELECT count(*) + 1 FROM t")
    tap.is_equal(str(getattr(found, "message", found)), "clreduce_view: attempt to write a readonly database, in 'SELECT count(*) + 1 FROM t'", "query_only: not made")
    db.execute("PRAGMA query_only = 0")
    before = made(db)
    for denied in (sqlite3.SQLITE_CREATE_VTABLE, sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE):
        db.set_authorizer(lambda action, *rest, denied=denied: sqlite3.SQLITE_DENY if action == denied else 0)
        found = make(db, f"SELECT count(*) + {denied} FROM t")
        tap.is_equal(str(getattr(found, "message", found)),
                     f"clreduce_view: not authorized, in 'SELECT count(*) + {denied} FROM t'", f"denied: {denied}")
    db.set_authorizer(lambda action, a, b, *rest: sqlite3.SQLITE_DENY if (action, a) == (20, "t") else 0)
    found = make(db, "SELECT count(x) FROM t")
    tap.ok("prohibited" in str(getattr(found, "message", found)), f"a column that must not be read: {found}")
    db.set_authorizer(None)
    tap.is_equal(made(db), before, "nothing is made")
    db.close()


# ---- How many there are.


def test_few():
    """The least recently used goes, unless somebody has a use for it."""
    db = open_database(cached_statements=0)
    select = "SELECT count(*) + {} FROM t"
    first, second, third, fourth = (make(db, select.format(i)) for i in range(4))
    held = db.execute(f"SELECT * FROM {first}")
    db.execute(f"CREATE TEMP VIEW over AS SELECT * FROM {second}")
    for i in range(4, MOST + 2):
        make(db, select.format(i))
        views.ask(db, third)
    tap.is_equal(len(made(db)), MOST + 2, "two that others mention, and as many as there may be")
    for i in range(MOST + 2, MOST + 12):
        make(db, select.format(i))
    left = made(db)
    tap.is_equal(len(left), MOST + 2, "no more than that")
    tap.ok(fourth not in left and third in left, "what was read last stays longer")
    tap.is_equal(held.fetchall(), [(ROWS,)], "what is being read stays")
    tap.is_equal(support.value(db, "SELECT * FROM over"), ROWS + 1, "and so does what another view reads")
    tap.is_equal(views.ask(db, make(db, select.format(3))), [(ROWS + 3,)], "what has gone is made again")
    held.close()
    db.execute("DROP VIEW over")
    for i in range(MOST + 12, 3 * MOST):
        make(db, select.format(i))
    tap.is_equal(len(made(db)), MOST, "all others have gone")
    db.execute(f"DROP TABLE temp.{make(db, select.format(70))}")
    tap.is_equal(views.ask(db, make(db, select.format(70))), [(ROWS + 70,)], "one that the user dropped is made again")
    db.execute("CREATE TABLE clreduce_view_200(x)")
    name = "clreduce_view_1"
    while name != "clreduce_view_201":
        name = make(db, f"SELECT '{name}'")
        if name == "clreduce_view_200":
            break
    tap.is_equal(name, "clreduce_view_201", "a name that a table has is not taken")
    db.close()


# ---- Changes.


def test_changes():
    """Tables that change between one call and the next, by this connection and by another."""
    db = open_database()
    path = db.execute("PRAGMA database_list").fetchone()[2]
    other = open_database(path)
    select = "SELECT * FROM t WHERE r < 1"
    name = make(db, select)
    batch = support.Batch("a view of a table that changes")
    for who, change in (
        (other, "CREATE TABLE o1(x)"), (other, "ALTER TABLE t ADD COLUMN c"), (db, "ALTER TABLE t RENAME COLUMN c TO d"),
        (other, "ALTER TABLE t RENAME COLUMN d TO x2"), (db, "ALTER TABLE t ADD COLUMN e"),
        (other, "ALTER TABLE t DROP COLUMN e"), (db, "DROP TABLE o1"),
    ):
        who.execute("SELECT count(*) FROM t").fetchall()
        who.execute(change)
        name = make(db, select)
        batch.compare(views.ask(db, name), views.outcome(db, select), f"{change}: {name}")
        got = [column[0] for column in db.execute(f"SELECT * FROM {name}").description]
        want = [column[0] for column in db.execute(select).description]
        batch.compare(got, want, f"the columns after {change}")
    batch.end()
    other.execute("ALTER TABLE t RENAME TO u")
    found = make(db, select)
    tap.is_equal(str(getattr(found, "message", found)), f"clreduce_view: no such table: t, in '{select}'",
                 "a table that has gone")
    other.execute("ALTER TABLE u RENAME TO t")
    tap.is_equal(views.ask(db, make(db, select)), views.outcome(db, select), "and has come back")
    db.execute("CREATE TEMP TABLE t AS SELECT 1 AS one")
    select = "SELECT count(*) FROM t"
    tap.is_equal(views.ask(db, make(db, select)), [(1,)], "names mean what they mean in the SELECT")
    second = open_database(path)
    tap.is_equal(support.rows(second, "SELECT * FROM temp.sqlite_master"), [], "another connection has none of it")
    tap.is_equal(views.ask(second, make(second, select)), [(ROWS,)], "and makes its own")
    for each in (second, other, db):
        each.close()


def main():
    """Runs the tests."""
    test_selects()
    test_errors()
    test_places()
    test_transactions()
    test_rights()
    test_few()
    test_changes()
    tap.done()


main()
