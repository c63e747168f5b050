"""execute(), rewrite() and accelerate(): what comes is what the statement itself gives."""

import clreduce
import pytest
from conftest import connect, names_of

#: 3000 rows, in one transaction.
FILL = "INSERT INTO t WITH n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < 2999) SELECT i FROM n"

#: Statements with their parameters, and whether a view is read.
STATEMENTS = [
    ("SELECT origin, gpu_avg(delay) FROM flights GROUP BY origin", (), True),
    ("SELECT gpu_sum(fare) AS \"a \"\"b\", gpu_sum(fare) AS n, delay > 0 FROM flights WHERE delay > 0 GROUP BY 3;", (), True),
    ("SELECT count(*), gpu_max(delay) FROM flights WHERE distance > ? AND delay < ?", (500, 100), True),
    ("SELECT count(*) FROM flights WHERE distance > ?2 AND delay < ?1", (100, 500), True),
    ("SELECT count(*) FROM flights WHERE distance > :d AND delay < @m AND delay > -$m", {"d": 500, "m": 100}, True),
    ("SELECT * FROM flights WHERE delay > 400 ORDER BY delay", (), True),
    ("SELECT count(*) FROM flights AS a JOIN flights AS b ON a.rowid = b.rowid", (), True),
    ("WITH n AS (SELECT 1 AS x) SELECT x FROM n", (), False),
    ("PRAGMA user_version", (), False),
    ("VALUES (1, NULL), (2, x'00')", (), False),
]


@pytest.mark.parametrize("sql, parameters, is_accelerated", STATEMENTS)
def test_execute(driver, flights, sql, parameters, is_accelerated):
    connection = connect(driver, flights)
    assert ("clreduce_view_" in clreduce.rewrite(connection, sql)) == is_accelerated
    plain = connection.execute(sql, parameters)
    names = names_of(plain)
    accelerated = clreduce.execute(connection, sql, parameters)
    assert names_of(accelerated) == names
    assert accelerated.fetchall() == plain.fetchall()


def test_statements_that_write(driver, tmp_path):
    connection = connect(driver, tmp_path / "new.db")
    clreduce.execute(connection, "CREATE TABLE t(x INTEGER)")
    clreduce.execute(connection, FILL)
    assert clreduce.execute(connection, "SELECT gpu_sum(x) FROM t").fetchall() == [(4498500,)]
    clreduce.execute(connection, "UPDATE t SET x = x + :more", {"more": 1})
    assert clreduce.execute(connection, "SELECT gpu_sum(x) FROM t").fetchall() == [(4501500,)]


@pytest.mark.parametrize("sql", ["SELECT nosuch FROM flights", "nonsense", "SELECT gpu_sum() FROM flights"])
def test_errors(driver, flights, sql):
    connection = connect(driver, flights)
    errors = []
    for run in (connection.execute, lambda text: clreduce.execute(connection, text)):
        with pytest.raises(driver.Error) as caught:
            run(sql)
        errors.append((type(caught.value), str(caught.value)))
    assert errors[0] == errors[1]


def test_row_factories(sqlite, flights):
    connection = connect(sqlite, flights)
    connection.row_factory = sqlite.Row
    connection.text_factory = bytes
    row = clreduce.execute(connection, "SELECT origin, gpu_max(delay) AS worst FROM flights GROUP BY origin").fetchone()
    assert row["origin"] == b"ABE" and row.keys() == ["origin", "worst"]


def test_row_tracers(flights):
    apsw = pytest.importorskip("apsw")
    connection, statements = connect(apsw, flights), []
    connection.row_trace = lambda cursor, row: {"row": row}
    connection.exec_trace = lambda cursor, sql, bindings: statements.append(sql) or True
    cursor = clreduce.execute(connection, "SELECT gpu_max(delay) FROM flights")
    assert cursor.fetchall() == [{"row": (919,)}] and len(statements) == 1


def test_converters(sqlite, tmp_path):
    """Declared types are those of the SELECT, so that modules convert as they do."""
    connection = clreduce.load(sqlite.connect(tmp_path / "new.db", detect_types=sqlite.PARSE_DECLTYPES))
    connection.execute("CREATE TABLE t(flag BOOLEAN_TEXT, n INTEGER)")
    connection.executemany("INSERT INTO t VALUES (?, ?)", [(i % 2, i) for i in range(3000)])
    connection.commit()
    sqlite.register_converter("BOOLEAN_TEXT", lambda value: value == b"1")
    sql = "SELECT flag, count(*) FROM t GROUP BY flag"
    assert clreduce.rewrite(connection, sql) != sql
    assert clreduce.execute(connection, sql).fetchall() == [(False, 1500), (True, 1500)]


def test_transaction(driver, tmp_path):
    connection = connect(driver, tmp_path / "new.db")
    connection.execute("CREATE TABLE t(x INTEGER)")
    connection.execute("BEGIN")
    connection.execute(FILL)
    assert clreduce.execute(connection, "SELECT gpu_sum(x) FROM t").fetchall() == [(4498500,)]
    connection.execute("ROLLBACK")
    assert clreduce.execute(connection, "SELECT gpu_sum(x) FROM t").fetchall() == [(None,)]


def test_accelerate(driver, tmp_path):
    connection = connect(driver, tmp_path / "new.db")
    connection.execute("CREATE TABLE t(x INTEGER)")
    connection.execute(FILL)
    connection.execute("CREATE VIEW greatest AS SELECT max(x) AS x FROM t WHERE x > 5")
    connection.execute("CREATE VIEW pairs AS SELECT count(*) FROM t AS a JOIN t AS b USING (x)")
    if getattr(connection, "in_transaction", False):
        connection.execute("COMMIT")
    assert clreduce.accelerate(connection) == 1
    assert clreduce.accelerate(connection, "greatest") == 1
    assert connection.execute("SELECT x FROM greatest").fetchall() == [(2999,)]
    assert connection.execute("SELECT line FROM clreduce_plan('greatest')").fetchone() == ("accelerated: host",)
    with pytest.raises(driver.Error, match="view 'pairs' cannot be accelerated: table b is not joined by a unique key"):
        clreduce.accelerate(connection, "pairs")
