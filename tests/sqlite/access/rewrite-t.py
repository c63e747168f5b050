"""clreduce_rewrite(select): the text that reads the accelerated view of a SELECT, for programs that only send text.

Its columns have the names and declared types of the SELECT, its parameters their names and numbers, and its rows are the
same. Where there is no such view the result is NULL.
"""

import re
import sqlite3

import support
import tap
import view_support as views

ROWS = 3_000
MOST = 32


def open_database(_):
    """A connection that converts values by their declared types and by the columns' names."""
    db = views.connect(views.new(), detect_types=sqlite3.PARSE_DECLTYPES | sqlite3.PARSE_COLNAMES)
    support.table(db, "t(d DATE, x INTEGER, s VARCHAR(10), k \"primary key\", c \"int collate nocase, e\", h \"int hidden\")",
                  ((f"2001-02-{i % 9 + 10}", i % 97, f"s{i % 7}", i % 5, i % 3, i % 4) for i in range(ROWS)))
    return db


#: SELECTs with their parameters.
REWRITTEN = [
    ("SELECT gpu_sum(x) FROM t;", ()),
    ("SELECT d, d, s AS \"a \"\"b\"\"\", count(*) FROM t WHERE x > ? AND x < ? GROUP BY 1, 3", (3, 90)),
    ("SELECT max(d) AS \"d [date]\", gpu_sum(x + :c) FROM t WHERE x < :a OR x = $b", {"a": 50, "b": 70, "c": 3}),
    ("SELECT gpu_sum(x) AS n FROM t WHERE x > ?3", (0, 0, 9)),
    (f"SELECT gpu_sum(x) AS n FROM t WHERE x IN ({', '.join('?' * 20)})", (*range(5, 20), None, 3, None, 70, None)),
    ("SELECT k, count(*) FROM t GROUP BY k", ()),
    ("SELECT c, count(*) FROM t GROUP BY c", ()),
    ("SELECT gpu_sum(x) FROM t WHERE x > :least AND s <> ?7 -- a comment;", (3, None, None, None, None, None, "s1")),
    ("SELECT ')); DROP TABLE t; --' AS x, count(*) FROM t /* ); */", ()),
    ("  SELECT max(x) FROM t WHERE s = '\u00e4\u20ac' OR x < 9;\n", ()),
]

#: Texts that are to be run as they are.
LEFT = [
    "", " ; ", "nonsense", "SELECT nosuch FROM t", "SELECT x FROM t", "SELECT gpu_sum(x) FROM t; SELECT 1", "DELETE FROM t",
    "EXPLAIN SELECT gpu_sum(x) FROM t", "PRAGMA user_version", "SELECT a.x FROM t AS a JOIN t AS b USING (x) LIMIT 1",
    "SELECT h, count(*) FROM t GROUP BY h", "SELECT gpu_sum(x) FROM t)); DROP TABLE t; --", "SELECT * FROM (SELECT gpu_sum(x) FROM t",
    "DELETE FROM t RETURNING count(*)", "PRAGMA foreign_keys = 1", "/* on */ PRAGMA foreign_keys = 1",
]


def rewritten(db, sql):
    """The text, or None, or a Failure."""
    return support.value(db, "SELECT clreduce_rewrite(?)", sql)


def name_of(db, sql):
    """The name of the view that the text reads."""
    return re.search(r'temp\."(\w+)"', rewritten(db, sql))[1]


def made(db):
    """The names of all views that were made."""
    sql = "SELECT name FROM pragma_module_list WHERE name GLOB 'clreduce_view_*' ORDER BY name"
    return [name for (name,) in db.execute(sql)]


def outcome(db, sql, parameters):
    """The rows of a statement, and its columns' names."""
    cursor = db.execute(sql, parameters)
    return cursor.fetchall(), [column[0] for column in cursor.description]


def test_stale_schema(path):
    """Another connection has changed the schema: views go with what this one knows of it, while the SELECT is planned."""
    db, other = views.connect(path), sqlite3.connect(path, isolation_level=None)
    support.execute(db, "CREATE TABLE t(x INTEGER)", "SELECT clreduce_rewrite('SELECT gpu_sum(x) FROM t')")
    for turn in range(3):
        other.execute(f"CREATE TABLE t{turn}(x)")
        select = f"SELECT gpu_sum(x + {turn}) FROM t"
        text = rewritten(db, select)
        tap.is_equal(outcome(db, text, ()), outcome(db, select, ()), f"{turn + 1} changes of the schema by others")
    for turn, (old, new) in enumerate((("x", "y"), ("y", "x"))):
        other.execute(f"ALTER TABLE t RENAME COLUMN {old} TO {new}")
        select = f"SELECT * FROM t WHERE 1 > {turn} AND +t.oid = 5"
        text = rewritten(db, select) or select
        tap.is_equal(outcome(db, text, ()), ([], [new]), f"{old} is renamed {new} by another connection")
    for turn in range(3):
        other.execute(f"CREATE VIEW w{turn} AS SELECT gpu_sum(x + {turn}) AS s FROM t")
        tap.is_equal(support.value(db, "SELECT clreduce_accelerate(?)", f"w{turn}"), 1, f"... and a view: w{turn}")
        tap.is_equal(outcome(db, f"SELECT * FROM w{turn}", ()), ([(None,)], ["s"]), "... which is read")


def test_places(db):
    """In schemas it is refused; a statement that writes makes no view; a SELECT that runs may go on."""
    select = "SELECT gpu_sum(x) FROM t"
    support.execute(db, "CREATE TABLE log(text)", "CREATE VIEW w AS SELECT clreduce_rewrite('SELECT 1') AS name",
                    "CREATE TRIGGER tr AFTER INSERT ON t BEGIN INSERT INTO log SELECT clreduce_rewrite('SELECT 1'); END")
    for sql in ("SELECT * FROM w", "INSERT INTO t(x) VALUES (1)"):
        tap.raises(lambda sql=sql: db.execute(sql).fetchall(), "unsafe use of clreduce_rewrite()", sql)
    db.execute("DROP TRIGGER tr")
    for what in ("makes none", "uses none"):
        db.execute("INSERT INTO log SELECT clreduce_rewrite(?)", (select,))
        db.execute("UPDATE log SET text = clreduce_rewrite(?)", (select,))
        tap.ok(set(db.execute("SELECT text FROM log")) == {(None,)}, f"a statement that writes {what}")
        rewritten(db, select)
    texts = [text for (text,) in db.execute("SELECT clreduce_rewrite('SELECT count(*) + ' || column1 || ' FROM t')"
                                            " FROM (VALUES (1), (2), (1))")]
    tap.ok(None not in texts and texts[0] == texts[2] != texts[1], f"several in one SELECT: {texts}")
    cursor = db.execute("SELECT x, (SELECT count(*) FROM t AS u WHERE u.x = t.x AND u.k < 1) FROM t ORDER BY t.k")
    first = cursor.fetchone()
    text = rewritten(db, "SELECT gpu_max(x) FROM t")
    tap.is_equal(db.execute(text).fetchall(), [(96,)], "while another SELECT runs")
    try:
        rest = cursor.fetchall()
        whole = [first] + rest
    except sqlite3.Error as error:  # as SQLite's own CREATE does to such a SELECT
        tap.ok("ROLLBACK" in str(error) or "abort" in str(error), f"the other SELECT is stopped: {error}")
    else:
        tap.is_equal(len(whole), ROWS, "the other SELECT goes on")


def test_transactions(db):
    """A view outlives ROLLBACK: it is in no schema."""
    known, other = "SELECT gpu_sum(x) FROM t", "SELECT gpu_sum(x + {}) FROM t"
    text = rewritten(db, known)
    for i, (begin, end) in enumerate((("BEGIN", "ROLLBACK"), ("SAVEPOINT a", "ROLLBACK TO a; RELEASE a"))):
        db.execute(begin)
        tap.is_equal(rewritten(db, known), text, f"{begin}: one from before is used")
        db.execute("DELETE FROM t WHERE x > 5")
        new = rewritten(db, other.format(i))
        for each, select in ((text, known), (new, other.format(i))):
            tap.is_equal(db.execute(each).fetchall(), db.execute(select).fetchall(), "and shows the transaction's changes")
        for sql in end.split(";"):
            db.execute(sql)
        for each, select in ((text, known), (new, other.format(i))):
            tap.is_equal(db.execute(each).fetchall(), db.execute(select).fetchall(), f"after {end}")
            tap.is_equal(rewritten(db, select), each, "and it is the same view")
    tap.is_equal(db.execute("SELECT count(*) FROM temp.sqlite_master").fetchall(), [(0,)], "no schema has them")


#: Statements that write, what they have before them, and whether they are accelerated by themselves, in a transaction that has
#: begun, there if it is promised that they are the first, and behind another one that writes.
WRITING = [
    ("INSERT INTO log SELECT k, count(*), sum(x) FROM t GROUP BY k", "", (True, False, True, False)),
    ("CREATE TABLE made AS SELECT s, max(x) AS m FROM t GROUP BY s", "", (True, False, True, False)),
    ("UPDATE log SET b = (SELECT count(*) FROM t WHERE x > 5) WHERE a < 3", "", (True, False, True, False)),
    ("DELETE FROM log WHERE b IN (SELECT max(x) FROM t GROUP BY k)", "", (True, False, True, False)),
    ("INSERT INTO log SELECT k, count(*), 0 FROM t GROUP BY k", "CREATE TRIGGER g AFTER INSERT ON log BEGIN UPDATE t SET x = x + 1 WHERE k = 3; END",
     (False, False, False, False)),
    ("INSERT INTO log SELECT k, own(n), 0 FROM (SELECT k, count(*) AS n FROM t GROUP BY k)", "", (True, False, True, False)),
]


def written(db, text):
    """What a statement says that it has written, and all rows after it; and whether SELECTs of it were accelerated."""
    by_rows, changes = support.stats(db)["selects_by_rows"], db.total_changes
    cursor = db.execute(text)
    counted = db.total_changes - changes, cursor.rowcount
    is_accelerated = support.stats(db)["selects_by_rows"] == by_rows
    names = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    return (counted, [(name, sorted(db.execute(f"SELECT * FROM {name}"), key=repr)) for name in names]), is_accelerated


def test_writing(path):
    """SELECTs in statements that write: accelerated where all is committed that they read, and the same rows anywhere."""
    for journal in ("wal", "delete"):
        for i, (sql, prelude, expected) in enumerate(WRITING):
            for how, accelerated in zip(("by itself", "in BEGIN", "promised", "second"), expected):
                file = f"{path}-{journal}-{i}-{how.replace(' ', '')}"
                for rewriting in (False, True):
                    fresh = file + ("r" if rewriting else "")
                    db = views.connect(fresh)
                    db.create_function("own", 1, lambda value: value * 2)
                    support.execute(db, f"PRAGMA journal_mode = {journal}",
                                    "CREATE TABLE t(x INTEGER, k INTEGER, s TEXT)", "CREATE TABLE log(a, b, c)",
                                    support.numbered("t", 3_000, "i % 97, i % 5, 's' || i % 7", 0),
                                    "INSERT INTO log VALUES (1, 96, 0), (2, 5, 0), (3, 96, 1)")
                    text = sql
                    if rewriting:
                        text = support.value(db, "SELECT clreduce_rewrite(?, ?)", sql, how == "promised") or sql
                        tap.ok("clreduce_view_" in text, f"{journal}, {how}: {sql}")
                    if prelude:
                        db.execute(prelude)
                    if how != "by itself":
                        db.execute("BEGIN")
                    if how == "second":
                        db.execute("UPDATE t SET x = x + 100 WHERE k = 1")
                    result, is_accelerated = written(db, text)
                    if how != "by itself":
                        db.execute("COMMIT")
                    db.close()
                    if not rewriting:
                        want = result
                tap.is_equal(result, want, "it writes the same")
                tap.is_equal(is_accelerated, accelerated, f"accelerated: {accelerated}")


def test_writers(path):
    """Other statements of the connection that write, and blob handles."""
    db = views.connect(path)
    support.execute(db, "CREATE TABLE t(x INTEGER, b BLOB)", "CREATE TABLE log(n)",
                    support.numbered("t", 3_000, "i, zeroblob(8)", 0))
    writing = "INSERT INTO log SELECT count(DISTINCT b) FROM t"
    text, sums, counts = (rewritten(db, sql) for sql in (writing, "SELECT sum(x), 1 FROM t", "SELECT count(DISTINCT b) FROM t"))
    half = db.execute("UPDATE t SET x = x + 1 WHERE x < 10 RETURNING x")
    half.fetchone()
    db.execute(text)
    tap.is_equal(db.execute(sums).fetchall(), db.execute("SELECT sum(x), 1 FROM t").fetchall(), "while a statement that has written is not done")
    half.close()
    if hasattr(db, "blobopen"):  # Python 3.11 has it
        db.execute("BEGIN")
        promised = support.value(db, "SELECT clreduce_rewrite(?, TRUE)", writing)
        with db.blobopen("t", "b", 1) as blob:
            blob.write(b"\1")
            tap.is_equal(db.execute(counts).fetchall(), [(2,)], "a blob handle is no statement to ask")
        tap.is_equal(support.value(db, "SELECT clreduce_rewrite(?, TRUE)", writing), text, "a promise that can't be true")
        db.execute(text)
        db.execute("COMMIT")
        tap.is_equal(promised, text, "the same text")
        with db.blobopen("t", "b", 2) as blob:
            blob.write(b"\2")
            db.execute(text)
        db.execute(text)
    want = [(1,), (2,), (3,), (3,)] if hasattr(db, "blobopen") else [(1,)]
    tap.is_equal(db.execute("SELECT n FROM log").fetchall(), want, "what has been written is seen")
    tap.is_equal(rewritten(db, "INSERT INTO log SELECT count(*) FROM t RETURNING n"), None, "RETURNING gives rows")
    db.execute("DROP TABLE t")
    tap.raises(lambda: db.execute(text), "no such table: main.t" if "main.t" in text else "no such table: t", "a table that has gone")


def test_attached(db, path):
    """Databases that a SELECT does not read are not locked until the end of a transaction."""
    other = sqlite3.connect(path, isolation_level=None, timeout=0)
    other.execute("CREATE TABLE o AS SELECT 1 AS a")
    db.execute("ATTACH ? AS other", (path,))
    db.execute("INSERT INTO other.o SELECT x FROM t")
    for temp in ("without temp", "with temp"):
        db.execute("BEGIN")
        text = rewritten(db, f"SELECT gpu_sum(x) AS \"{temp}\" FROM t -- end")
        tap.ok(text is not None, f"{temp}: a view of main")
        support.execute(other, "BEGIN EXCLUSIVE", "COMMIT")
        tap.is_equal(db.execute(text).fetchall(), db.execute("SELECT sum(x) FROM t").fetchall(), "and others may write elsewhere")
        read = f"SELECT gpu_sum(a) AS \"{temp}\" FROM other.o"
        tap.is_equal(db.execute(rewritten(db, read)).fetchall(), db.execute("SELECT sum(a) FROM other.o").fetchall(), "a view of the other")
        support.execute(db, "COMMIT", "CREATE TEMP TABLE IF NOT EXISTS few AS SELECT 1")


def test_rights(db, path):
    """Read-only databases, query_only and authorizers."""
    db.execute("VACUUM INTO ?", (path,))
    db.close()
    db = views.connect(f"file:{path}?mode=ro", uri=True)
    text = rewritten(db, "SELECT count(*) FROM t")
    tap.is_equal(db.execute(text).fetchall(), [(ROWS,)], "a database that cannot be written")
    db.execute("PRAGMA query_only = 1")
    tap.is_equal(rewritten(db, "SELECT count(*) FROM t"), text, "query_only: found")
    tap.ok(rewritten(db, "SELECT count(*) + 1 FROM t") is not None, "query_only: made")
    db.execute("PRAGMA query_only = 0")
    before = made(db)
    db.set_authorizer(lambda action, a, b, *rest: sqlite3.SQLITE_DENY if (action, a) == (20, "t") else 0)
    tap.is_equal(rewritten(db, "SELECT count(x) FROM t"), None, "a column that must not be read")
    db.set_authorizer(None)
    tap.is_equal(made(db), before, "nothing is made")
    tap.ok(rewritten(db, "SELECT count(x) FROM t") is not None, "then it may")


def test_few(path):
    """The least recently used view goes, unless somebody has a use for it."""
    db = views.connect(path, cached_statements=0)
    support.execute(db, "CREATE TABLE t(x)", "INSERT INTO t VALUES (1), (2), (3)")
    select = "SELECT count(*) + {} FROM t"
    first, second, third, fourth = (name_of(db, select.format(i)) for i in range(4))
    held = db.execute(f"SELECT * FROM {first}")
    db.execute(f"CREATE TEMP VIEW over AS SELECT * FROM {second}")
    for i in range(4, MOST + 2):
        rewritten(db, select.format(i))
        views.ask(db, third)
    tap.is_equal(len(made(db)), MOST + 2, "two that others mention, and as many as there may be")
    for i in range(MOST + 2, MOST + 12):
        rewritten(db, select.format(i))
    left = made(db)
    tap.is_equal(len(left), MOST + 2, "no more than that")
    tap.ok(fourth not in left and third in left, "what was read last stays longer")
    tap.is_equal(held.fetchall(), [(3,)], "what is being read stays")
    tap.is_equal(support.value(db, "SELECT * FROM over"), 4, "and so does what another view reads")
    tap.is_equal(db.execute(rewritten(db, select.format(3))).fetchall(), [(6,)], "what has gone is made again")
    held.close()
    db.execute("DROP VIEW over")
    for i in range(MOST + 12, 3 * MOST):
        rewritten(db, select.format(i))
    tap.is_equal(len(made(db)), MOST, "all others have gone")
    dropped = name_of(db, select.format(70))
    tap.raises(lambda: db.execute(f"DROP TABLE temp.{dropped}"), "may not be dropped", "none can be dropped")
    following = int(name_of(db, select.format(200)).rsplit("_", 1)[1]) + 1
    db.execute(f"CREATE TEMP TABLE clreduce_view_{following}(x)")
    tap.is_equal(name_of(db, select.format(201)), f"clreduce_view_{following + 1}", "a name that a table has is not taken")


def test_changes(path):
    """Tables that change between one call and the next, by this connection and by another."""
    db, other = (views.connect(path) for _ in range(2))
    support.execute(db, "CREATE TABLE t(x INTEGER, r REAL, s TEXT)",
                    support.numbered("t", 3_000, "i % 97, i / 8.0, 's' || i % 7", 0))
    select = "SELECT * FROM t WHERE r < 1"
    rewritten(db, select)
    for who, change in (
        (other, "CREATE TABLE o1(x)"), (other, "ALTER TABLE t ADD COLUMN c"), (db, "ALTER TABLE t RENAME COLUMN c TO d"),
        (other, "ALTER TABLE t RENAME COLUMN d TO x2"), (db, "ALTER TABLE t ADD COLUMN e"),
        (other, "ALTER TABLE t DROP COLUMN e"), (db, "DROP TABLE o1"),
    ):
        who.execute("SELECT count(*) FROM t").fetchall()
        who.execute(change)
        want = outcome(db, select, ())
        tap.is_equal(outcome(db, rewritten(db, select), ()), want, f"after {change}")
    other.execute("ALTER TABLE t RENAME TO u")
    tap.is_equal(rewritten(db, select), None, "a table that has gone")
    other.execute("ALTER TABLE u RENAME TO t")
    want = outcome(db, select, ())
    tap.is_equal(outcome(db, rewritten(db, select), ()), want, "and has come back")
    db.execute("CREATE TEMP TABLE t AS SELECT 1 AS one")
    select = "SELECT count(*) FROM t"
    tap.is_equal(db.execute(rewritten(db, select)).fetchall(), [(1,)], "names mean what they mean in the SELECT")
    tap.is_equal(made(other), [], "another connection has none of it")
    tap.is_equal(other.execute(rewritten(other, select)).fetchall(), [(ROWS,)], "and makes its own")


def test_hidden(path):
    """A table of temp hides another one, which SQLite finds few rows of by an index."""
    db = views.connect(path)
    support.execute(db, "SELECT clreduce_set('view_threshold', 1000)",
                    "CREATE TABLE t(k INTEGER PRIMARY KEY, n INTEGER)", "CREATE INDEX by_n ON t(n)",
                    support.numbered("t", 20_000, "i, i % 1000"))
    select = "SELECT count(*), max(k) FROM t WHERE n = 7"
    text = rewritten(db, select)
    tap.is_equal(db.execute(text).fetchall(), [(20, 19007)], "few rows")
    few = views.plan(db, name_of(db, select))
    held = db.execute("SELECT * FROM t")
    held.fetchone()
    support.execute(db, "CREATE TEMP TABLE t(k INTEGER PRIMARY KEY, n INTEGER)", "CREATE INDEX temp.by_n ON t(n)",
                    "INSERT INTO temp.t VALUES (1, 7)")
    for what in ("hidden by a table of temp", "and again"):
        tap.is_equal(db.execute(text).fetchall(), [(1, 1)], what)
        tap.is_equal(db.execute(rewritten(db, select)).fetchall(), [(1, 1)], f"{what}, asked for again")
    held.close()
    db.execute("DROP TABLE temp.t")
    tap.is_equal(db.execute(text).fetchall(), [(20, 19007)], "and no more")
    db.execute("CREATE TEMP VIEW t AS SELECT 1 AS k, 7 AS n")
    tap.is_equal(db.execute(text).fetchall(), [(1, 1)], "hidden by a view of temp, which is not accelerated")
    tap.is_equal(rewritten(db, select), None, "nor is it when it is asked for again")
    db.execute("DROP VIEW temp.t")
    text = rewritten(db, select)
    tap.is_equal(db.execute(text).fetchall(), [(20, 19007)], "and no more")
    tap.is_equal(views.plan(db, name_of(db, select)), few, "found as before")


def test_texts(db):
    """All texts, of one connection."""
    for sql, parameters in REWRITTEN:
        text = rewritten(db, sql)
        tap.ok(text is not None and "clreduce_view_" in text, f"{sql}: {text}")
        if text is not None:
            tap.is_equal(outcome(db, text, parameters), outcome(db, sql, parameters), "with the same rows and columns")
            tap.is_equal(rewritten(db, sql.rstrip(" ;\n") + " ;\n ; "), text, "and again the same")
    tap.is_equal(len(made(db)), len(REWRITTEN), "one view for each")
    for sql in LEFT:
        tap.is_equal(rewritten(db, sql), None, f"left as it is: {sql!r}")
    tap.is_equal(support.value(db, "SELECT count(*) FROM t"), ROWS, "nothing happened to the table")
    tap.is_equal(support.value(db, "PRAGMA foreign_keys"), 0, "nor to what a PRAGMA sets when it is prepared")
    for argument, message in ((None, "must be the text of a statement, not NULL"), ("SELECT 1\0", "must not contain a NUL")):
        tap.raises(lambda argument=argument: db.execute("SELECT clreduce_rewrite(?)", (argument,)).fetchall(),
                   f"clreduce_rewrite: the argument {message}", repr(argument))


views.run(globals(), db=open_database)
