"""clreduce_rewrite(select): the text that reads the accelerated view of a SELECT, for programs that only send text.

Its columns have the names and declared types of the SELECT, its parameters their names and numbers, and its rows are the
same. Where there is no such view the result is NULL.
"""

import sqlite3

import support
import tap
import view_support as views

FOLDER = views.Folder()
ROWS = 3_000


def open_database():
    """A connection that converts values by their declared types and by the columns' names."""
    db = views.connect(FOLDER.new(), isolation_level=None, detect_types=sqlite3.PARSE_DECLTYPES | sqlite3.PARSE_COLNAMES)
    db.execute("CREATE TABLE t(d DATE, x INTEGER, s VARCHAR(10), k \"primary key\", c \"int collate nocase, e\","
               " h \"int hidden\")")
    db.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)",
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
]

#: Texts that are to be run as they are.
LEFT = [
    "", " ; ", "nonsense", "SELECT nosuch FROM t", "SELECT x FROM t", "SELECT gpu_sum(x) FROM t; SELECT 1", "DELETE FROM t",
    "EXPLAIN SELECT gpu_sum(x) FROM t", "PRAGMA user_version", "SELECT a.x FROM t AS a JOIN t AS b USING (x) LIMIT 1",
    "SELECT h, count(*) FROM t GROUP BY h",
]


def rewritten(db, sql):
    """The text, or None, or a Failure."""
    return support.value(db, "SELECT clreduce_rewrite(?)", sql)


def outcome(db, sql, parameters):
    """The rows of a statement, and its columns' names."""
    cursor = db.execute(sql, parameters)
    return cursor.fetchall(), [column[0] for column in cursor.description]


def test_stale_schema():
    """Another connection has changed the schema: views go with what this one knows of it, while the SELECT is planned."""
    path = FOLDER.new()
    db, other = views.connect(path), sqlite3.connect(path, isolation_level=None)
    db.execute("CREATE TABLE t(x INTEGER)")
    db.execute("SELECT clreduce_view('SELECT gpu_sum(x) FROM t')").fetchall()
    for turn in range(3):
        other.execute(f"CREATE TABLE t{turn}(x)")
        select = f"SELECT gpu_sum(x + {turn}) FROM t"
        text = rewritten(db, select)
        tap.is_equal(outcome(db, text, ()), outcome(db, select, ()), f"{turn + 1} changes of the schema by others")
    for turn in range(3):
        other.execute(f"CREATE VIEW w{turn} AS SELECT gpu_sum(x + {turn}) AS s FROM t")
        tap.is_equal(support.value(db, "SELECT clreduce_accelerate(?)", f"w{turn}"), 1, f"... and a view: w{turn}")
        tap.is_equal(outcome(db, f"SELECT * FROM w{turn}", ()), ([(None,)], ["s"]), "... which is read")
    other.close()
    db.close()


def main():
    """Runs the tests."""
    test_stale_schema()
    db = open_database()
    for sql, parameters in REWRITTEN:
        text = rewritten(db, sql)
        tap.ok(text is not None and "clreduce_view_" in text, f"{sql}: {text}")
        if text is not None:
            tap.is_equal(outcome(db, text, parameters), outcome(db, sql, parameters), "with the same rows and columns")
            tap.is_equal(rewritten(db, sql), text, "and again the same")
    for sql in LEFT:
        tap.is_equal(rewritten(db, sql), None, f"left as it is: {sql!r}")
    tap.is_equal(support.value(db, "SELECT count(*) FROM t"), ROWS, "nothing happened to the table")
    for argument, message in ((None, "must be the text of a statement, not NULL"), ("SELECT 1\0", "must not contain a NUL")):
        tap.raises(lambda argument=argument: db.execute("SELECT clreduce_rewrite(?)", (argument,)).fetchall(),
                   f"clreduce_rewrite: the argument {message}", repr(argument))
    db.execute("CREATE VIEW w AS SELECT clreduce_rewrite('SELECT 1') AS name")
    tap.raises(lambda: db.execute("SELECT * FROM w"), "unsafe use of clreduce_rewrite()", "not in a view")
    db.execute("BEGIN")
    known = REWRITTEN[0][0]
    tap.is_equal(rewritten(db, "SELECT gpu_sum(x + 1) FROM t"), None, "no view is made that ROLLBACK would take back")
    tap.ok(rewritten(db, known) is not None, "one from before is used")
    db.execute("DELETE FROM t WHERE x > 5")
    text = rewritten(db, known)
    tap.is_equal(db.execute(text).fetchall(), db.execute(known).fetchall(), "and shows the transaction's changes")
    db.execute("ROLLBACK")
    db.close()
    tap.done()


main()
