"""clreduce.Connection and connect(): an application's own statements are accelerated, and nothing else is to be seen of it."""

import contextlib
import ctypes
import ctypes.util
import os
import sqlite3
import subprocess
import sys
import threading

import clreduce
import pytest
from clreduce import acceleration, connections
from conftest import names_of

#: So often a statement is run: cold, warm, compared, and after that.
RUNS = 6

STATEMENTS = [
    ("SELECT origin, avg(fare), sum(delay) AS \"a \"\"b\" FROM flights GROUP BY origin", (), True),
    ("SELECT count(*), max(delay) FROM flights WHERE distance > ? AND delay < ?", (500, 100), True),
    ("SELECT count(*) FROM flights WHERE distance > ?2 AND delay < ?1", (100, 500), True),
    ("SELECT count(*) FROM flights WHERE distance > :d AND delay < @m AND delay > -$m", {"d": 500, "m": 100}, True),
    ("SELECT * FROM flights WHERE delay > 400 ORDER BY delay", (), True),
    (" -- a comment\nselect distinct origin from flights order by 1;", (), True),
    ("SELECT count(*) FROM flights WHERE origin = 'O''Hare' OR delay > 10", (), True),
    ("SELECT count(*) FROM flights AS a JOIN flights AS b ON a.rowid = b.rowid", (), True),
    ("WITH n AS (SELECT origin, count(*) AS n FROM flights WHERE delay > ? GROUP BY origin) SELECT max(n), min(n) FROM n", (9,), True),
    ("SELECT count(*) * 100.0 / (SELECT count(*) FROM flights) AS share FROM (SELECT DISTINCT origin, destination FROM flights)", (), True),
    ("SELECT * FROM flights WHERE rowid = 5", (), False),
    ("WITH n AS (SELECT 1 AS x) SELECT x FROM n", (), False),
    ("SELECT count(*) FROM sqlite_master", (), False),
    ("SELECT count(*) FROM flights WHERE delay > random() * 0", (), False),
    ("PRAGMA user_version", (), False),
    ("VALUES (1, NULL), (2, x'00')", (), False),
    ("EXPLAIN QUERY PLAN SELECT count(*) FROM flights", (), False),
    ("-- nothing", (), False),
]


@pytest.fixture(autouse=True)
def eager(monkeypatch):
    """The tests' databases are small, and yet large enough, and what a scan has read is held to be quicker for it."""
    monkeypatch.setattr(acceleration, "SMALL", 0)
    monkeypatch.setattr(acceleration, "LEAST_ROW", 1.0)


def plain_of(path, **options):
    """A connection that gives the same without acceleration."""
    connection = clreduce.loading.open_database(path, **options)
    connection.execute("SELECT clreduce_set('override', 'on')")
    return connection


def scans(connection):
    """How many SELECTs of the connection were accelerated."""
    return clreduce.statements.ask(connection, "SELECT sum(value) FROM clreduce_stats WHERE name LIKE 'scans_on%' OR name = 'answers_kept'")


def accelerated_runs(connection, sql, parameters=()):
    """How many SELECTs of the connection were accelerated by so many runs of a statement, each with the same rows."""
    before = scans(connection)
    rows = [connection.execute(sql, parameters).fetchall() for _ in range(RUNS)]
    assert all(row == rows[0] for row in rows)
    return scans(connection) - before


@pytest.mark.parametrize("sql, parameters, is_accelerated", STATEMENTS)
def test_statements(sqlite, flights, sql, parameters, is_accelerated):
    plain, accelerated = plain_of(flights), sqlite.connect(flights, factory=clreduce.Connection)
    expected = plain.execute(sql, parameters)
    names, rows = expected.description, expected.fetchall()
    for _ in range(RUNS):
        for cursor in (accelerated.execute(sql, parameters), accelerated.cursor().execute(sql, parameters)):
            assert cursor.description == names and list(cursor) == rows
            assert (cursor.rowcount, cursor.lastrowid, cursor.arraysize) == (expected.rowcount, expected.lastrowid, 1)
    assert (accelerated_runs(accelerated, sql, parameters) > 0) == is_accelerated
    assert accelerated.total_changes == 0 and not accelerated.in_transaction


def test_log(sqlite, tmp_path, flights):
    """Commits to a write-ahead log, by the connection or by others."""
    path = tmp_path / "log.db"
    other = plain_of(path, isolation_level=None)
    other.execute("PRAGMA journal_mode = wal")
    other.execute("CREATE TABLE t AS SELECT x.value AS x FROM json_each('[1, 2, 3]') AS x, json_each(?) AS y", ("[" + "0," * 4999 + "0]",))
    own = sqlite.connect(path, factory=clreduce.Connection, isolation_level=None)
    sql = "SELECT x, count(*) FROM t GROUP BY x"
    for _ in range(RUNS):
        own.execute(sql).fetchall()
    for connection in (own, other) * 3:
        before = clreduce.statements.ask(own, "SELECT value FROM clreduce_stats WHERE name = 'selects_by_rows'")
        connection.execute("INSERT INTO t VALUES (9)")
        assert own.execute(sql).fetchall() == other.execute(sql).fetchall()
        assert clreduce.statements.ask(own, "SELECT value FROM clreduce_stats WHERE name = 'selects_by_rows'") == before


@pytest.mark.parametrize("name", ["sqlite3", "pysqlite3", "sqlean", "apsw"])
def test_connect(request, monkeypatch, flights, name):
    """connect() takes the first module that can, and connections of apsw."""
    sql = STATEMENTS[0][0]
    module = request.getfixturevalue("sqlite") if name == "sqlite3" else pytest.importorskip(name)
    expected = plain_of(flights).execute(sql).fetchall()
    monkeypatch.setattr("clreduce.loading.MODULES", (name,))
    if name == "apsw":
        connection = module.Connection(flights)
        assert clreduce.connect(connection) is connection and clreduce.connect(connection) is connection
    else:
        connection = clreduce.connect(flights)
        assert isinstance(connection, module.Connection) and isinstance(connection.cursor(), module.Cursor)
    assert connection.execute(sql).fetchall() == expected
    assert names_of(connection.execute(sql))[2] == 'a "b'
    assert accelerated_runs(connection, sql) > 0
    for wrong in ("SELECT nosuch FROM flights WHERE 1", "SELECT abs(-9223372036854775808), count(*) FROM flights", "nonsense"):
        with pytest.raises(module.Error):
            connection.execute(wrong).fetchall()


def test_every_way_to_fetch(sqlite, flights):
    sql = "SELECT origin, count(*) FROM flights GROUP BY origin"
    expected = sqlite.connect(flights).execute(sql).fetchall()
    connection = sqlite.connect(flights, factory=clreduce.Connection)
    for _ in range(RUNS):
        assert connection.execute(sql).fetchall() == list(connection.execute(sql)) == expected
        cursor = connection.execute(sql)
        assert [cursor.fetchone(), *cursor.fetchmany(3), next(cursor), *cursor.fetchmany(size=2)] == expected[:7]
        assert iter(cursor) is cursor and type(cursor).__name__ == "Cursor" and isinstance(cursor, sqlite.Cursor)
        assert list(cursor) == expected[7:] and cursor.fetchone() is None


@pytest.mark.parametrize("sql, parameters", [
    ("SELECT nosuch FROM flights WHERE 1", ()), ("SELECT count(* FROM flights", ()), ("SELECT gpu_sum() FROM flights", ()),
    ("SELECT count(*) FROM flights WHERE delay > ?", ()), ("SELECT count(*) FROM flights WHERE delay > ?", (1, 2)),
    ("SELECT count(*) FROM flights WHERE delay > :a", {"b": 1}), ("SELECT count(*) FROM flights WHERE delay > ?", (object(),)),
    ("SELECT count(*) FROM flights WHERE delay > ?", 5), ("SELECT count(*) FROM flights; SELECT 1", ()),
    ("SELECT sum(delay * 0 + 9223372036854775807) FROM flights", ()), ("SELECT count(*) FROM flights\0", ()),
    ("SELECT '\ud800', count(*) FROM flights", ()), (5, ()), (None, ()), ([], ()), (b"SELECT 1", ()),
    ("SELECT json_extract(origin, '$'), count(*) FROM flights GROUP BY 1", ()), ("SELECT fails(origin), count(*) FROM flights", ()),
])
def test_errors(sqlite, flights, sql, parameters):
    errors = []
    for connection in (plain_of(flights), sqlite.connect(flights, factory=clreduce.Connection)):
        connection.create_function("fails", 1, lambda _: 1 / 0, deterministic=True)
        for run in (connection.execute, connection.cursor().execute) * RUNS:
            with pytest.raises(Exception) as caught:
                run(sql, parameters).fetchall()
            errors.append((type(caught.value), str(caught.value), getattr(caught.value, "sqlite_errorcode", None)))
    assert len(set(errors)) == 1


def test_closed(sqlite, flights):
    connection = sqlite.connect(flights, factory=clreduce.Connection)
    cursor = connection.execute("SELECT count(*) FROM flights")
    connection.close()
    for run in (cursor.execute, connection.execute):
        with pytest.raises(sqlite.ProgrammingError, match="closed"):
            run("SELECT count(*) FROM flights")
    with pytest.raises(sqlite.ProgrammingError):
        type(cursor).__new__(type(cursor)).execute("SELECT 1")


class Own(sqlite3.Cursor):
    """An application's."""

    executed = 0

    def execute(self, sql, parameters=()):
        self.executed += 1
        return super().execute(sql.replace("%s", "?"), parameters)

    def fetchone(self):
        row = super().fetchone()
        return row and ("own", *row)


class Slots(sqlite3.Cursor):
    """One that has less."""

    __slots__ = ("more",)


@pytest.mark.parametrize("factory", [Own, Slots, sqlite3.Cursor, lambda connection: Own(connection)])
def test_cursors_of_the_application(sqlite, flights, factory):
    connection = sqlite.connect(flights, factory=clreduce.Connection)
    own = factory is Own or not isinstance(factory, type)
    for i in range(RUNS):
        cursor = connection.cursor(factory=factory)
        assert isinstance(cursor, Own if own else factory)
        assert cursor.execute("SELECT max(delay) FROM flights WHERE distance > " + ("%s" if own else "?"), (5,)) is cursor
        assert cursor.fetchone() == (("own", 919) if own else (919,))
        if own:
            assert cursor.executed == 1 and type(cursor).__name__ == "Own"
    with pytest.raises(TypeError):
        connection.cursor(factory=5)
    with pytest.raises(TypeError):
        connection.cursor(factory=lambda connection: None)
    if factory is Own:
        assert connection.acceleration.texts["SELECT max(delay) FROM flights WHERE distance > ?"].text is not None


def test_factories_of_rows_and_text(sqlite, flights):
    connection = sqlite.connect(flights, factory=clreduce.Connection)
    connection.row_factory, connection.text_factory = sqlite.Row, bytes
    for _ in range(RUNS):
        row = connection.execute("SELECT origin, max(delay) AS worst FROM flights GROUP BY origin").fetchone()
        assert row["origin"] == b"ABE" and row.keys() == ["origin", "worst"]
        cursor = connection.cursor()
        cursor.row_factory = lambda cursor, row: {"n": row[0], "name": cursor.description[0][0]}
        assert cursor.execute("SELECT count(*) FROM flights WHERE delay > 0").fetchone()["name"] == "count(*)"


def test_converters(sqlite, tmp_path):
    types = sqlite.PARSE_DECLTYPES | sqlite.PARSE_COLNAMES
    connection = sqlite.connect(tmp_path / "new.db", detect_types=types, factory=clreduce.Connection)
    connection.execute("CREATE TABLE t(flag BOOLEAN_TEXT, n INTEGER)")
    connection.executemany("INSERT INTO t VALUES (?, ?)", [(i % 2, i) for i in range(3000)])
    connection.commit()
    sqlite.register_converter("BOOLEAN_TEXT", lambda value: value == b"1")
    sqlite.register_converter("HALF", lambda value: int(value) / 2)
    sql = 'SELECT flag, count(*) AS "n [half]" FROM t GROUP BY flag'
    for _ in range(RUNS):
        cursor = connection.execute(sql)
        assert cursor.fetchall() == [(False, 750.0), (True, 750.0)]
        assert [column[0] for column in cursor.description] == ["flag", "n"]
    assert accelerated_runs(connection, sql) > 0


def fill(connection, rows=3000):
    """A table t of numbers."""
    connection.execute("CREATE TABLE t(x INTEGER)")
    connection.execute("INSERT INTO t WITH n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < ? - 1) SELECT i FROM n", (rows,))


@pytest.mark.parametrize("options", [{}, {"isolation_level": None}, {"isolation_level": "IMMEDIATE"}, {"autocommit": False}])
def test_transactions(sqlite, tmp_path, options):
    if "autocommit" in options and sys.version_info < (3, 12):
        pytest.skip("Python 3.12 has it")
    sql = "SELECT sum(x), count(*) FROM t"
    connection = sqlite.connect(tmp_path / "new.db", factory=clreduce.Connection, **options)
    fill(connection)
    connection.commit()
    begins = [] if options else ["BEGIN"]
    for i in range(RUNS):
        assert connection.execute(sql).fetchall() == [(4498500, 3000)]
        for begin in begins:
            connection.execute(begin)
        if options.get("isolation_level", "") is None:
            connection.execute("BEGIN")
        assert connection.execute("INSERT INTO t VALUES (?)", (i,)).rowcount == 1
        assert connection.in_transaction
        assert connection.execute(sql).fetchall() == [(4498500 + i, 3001)]
        connection.rollback()
        assert connection.execute(sql).fetchall() == [(4498500, 3000)]
    changes = connection.total_changes
    assert accelerated_runs(connection, sql) > 0 and connection.total_changes == changes == 3000 + RUNS
    connection.execute("INSERT INTO t VALUES (1)")
    assert connection.execute(sql).fetchall() == [(4498501, 3001)]
    cursor = connection.execute(sql)
    assert cursor.lastrowid == 3001


@pytest.mark.parametrize("journal", ["wal", "delete"])
@pytest.mark.parametrize("options", [{}, {"isolation_level": None}, {"check_same_thread": False}])
def test_statements_that_write(sqlite, tmp_path, journal, options):
    """SELECTs in them are accelerated, if they are the first of their transaction, and all is as without."""
    statements = ["CREATE TABLE sums AS SELECT k, sum(r) AS s FROM t GROUP BY k",
                  "INSERT INTO sums SELECT k, count(*) FROM t WHERE r > ? GROUP BY k",
                  "INSERT INTO sums SELECT k, count(*) FROM t WHERE r > ? GROUP BY k",
                  "UPDATE sums SET s = s + (SELECT max(r) FROM t WHERE r < ?)",
                  "DELETE FROM sums WHERE k IN (SELECT k FROM t GROUP BY k HAVING min(r) > ?)",
                  "INSERT INTO t SELECT k, max(r) + ? FROM t GROUP BY k",
                  "INSERT INTO sums SELECT max(k), ? FROM t",
                  "INSERT INTO once SELECT k + ? FROM t GROUP BY k",
                  "SELECT k, s FROM sums ORDER BY 1, 2"]
    outcomes = []
    for factory in (clreduce.Connection, sqlite.Connection):
        connection = sqlite.connect(tmp_path / f"{factory.__module__}.db", factory=factory, **options)
        connection.execute(f"PRAGMA journal_mode = {journal}")
        connection.execute("CREATE TABLE t(k INTEGER, r INTEGER)")
        connection.execute("CREATE TABLE once(k INTEGER PRIMARY KEY)")
        connection.execute("INSERT INTO t WITH n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < 2999) SELECT i % 7, i FROM n")
        connection.commit()
        told, accelerated = [], 0
        for turn in range(3):
            for sql in statements if turn == 0 else statements[1:]:
                before = scans(connection) if factory is clreduce.Connection else 0
                try:
                    cursor = connection.execute(sql, (turn,) if "?" in sql else ())
                    told.append((cursor.rowcount, cursor.lastrowid, cursor.description, cursor.fetchall()))
                except sqlite.IntegrityError as error:
                    told.append(str(error))
                told.append((connection.in_transaction, connection.total_changes))
                accelerated += factory is clreduce.Connection and scans(connection) > before and sql[:6] != "SELECT"
                connection.commit()
            connection.execute("DELETE FROM t WHERE k = 3")
            for sql in statements[-2:]:  # not the first ones
                with contextlib.suppress(sqlite.IntegrityError):
                    told.append(connection.execute(sql, (turn,) if "?" in sql else ()).fetchall())
            connection.rollback()
        outcomes.append((told, list(connection.iterdump())))
        if factory is clreduce.Connection:
            assert accelerated > 6 if options != {"check_same_thread": False} else 0 < accelerated < 3
        connection.close()
    assert outcomes[0] == outcomes[1]


def test_changes_of_the_schema(sqlite, tmp_path):
    path = tmp_path / "new.db"
    connection = sqlite.connect(path, factory=clreduce.Connection, isolation_level=None)
    fill(connection)
    sql = "SELECT * FROM t WHERE x > 2997 ORDER BY x"
    for _ in range(RUNS):
        assert connection.execute(sql).fetchall() == [(2998,), (2999,)]
    other = sqlite.connect(path, isolation_level=None)
    other.execute("ALTER TABLE t ADD COLUMN y DEFAULT 5")
    for _ in range(RUNS):
        assert connection.execute(sql).fetchall() == [(2998, 5), (2999, 5)]
    connection.execute("ALTER TABLE t RENAME COLUMN y TO z")
    for _ in range(RUNS):
        cursor = connection.execute(sql)
        assert [column[0] for column in cursor.description] == ["x", "z"] and len(cursor.fetchall()) == 2
    connection.executescript("DROP TABLE t; CREATE TABLE t(x); INSERT INTO t VALUES (2998.5);")
    assert connection.execute(sql).fetchall() == [(2998.5,)]
    other.execute("DROP TABLE t")
    with pytest.raises(sqlite.OperationalError, match="no such table: t"):
        connection.execute(sql)


@pytest.mark.parametrize("create", ["CREATE TEMP TABLE T(x)", "CREATE TEMP VIEW t AS SELECT NULL AS x WHERE 0"])
def test_names_that_temp_hides(sqlite, tmp_path, create):
    connection = sqlite.connect(tmp_path / "new.db", factory=clreduce.Connection, isolation_level=None)
    fill(connection)
    sql = "SELECT max(x) FROM t WHERE x > 5"
    assert accelerated_runs(connection, sql) > 0
    connection.executescript(create)
    assert accelerated_runs(connection, sql) == 0 and connection.execute(sql).fetchall() == [(None,)]
    connection.execute("DROP " + create.split()[2] + " temp.t")
    assert accelerated_runs(connection, sql) > 0 and connection.execute(sql).fetchall() == [(2999,)]


class Waits(list):
    """What gets an item for each, and the handler, which is to live as long."""


def count_waits(connection, path):
    """The Waits of a connection: it gets an item whenever the connection would wait for a lock, which it then does not."""
    library = ctypes.CDLL(ctypes.util.find_library("sqlite3"))
    library.sqlite3_db_filename.restype = ctypes.c_char_p
    # What the object has first is SQLite's connection.
    db = ctypes.c_void_p.from_address(id(connection) + object.__basicsize__)
    if os.path.realpath(library.sqlite3_db_filename(db, b"main").decode()) != os.path.realpath(path):
        pytest.skip("the module has another copy of SQLite")
    waits = Waits()
    waits.handler = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int)(lambda _, attempts: waits.append(attempts) or 0)
    library.sqlite3_busy_handler(db, waits.handler, None)
    return waits


@pytest.mark.parametrize("runs", range(RUNS))
@pytest.mark.parametrize("few", ["temp.few", "attached.few", None])
def test_locks(sqlite, tmp_path, runs, few):
    """SQLite waits once where the database is locked, and so does a statement that has run so often."""
    path = tmp_path / "new.db"
    connection = sqlite.connect(path, factory=clreduce.Connection, isolation_level=None)
    fill(connection)
    connection.execute("CREATE TABLE log(n INTEGER)")
    statements = {
        "SELECT max(x) FROM t WHERE x > 5": [(2999,)],
        "SELECT count(*) FROM t AS a WHERE x IN (SELECT max(x) FROM t GROUP BY x % 10)": [(10,)],
        "INSERT INTO log SELECT count(*) FROM t WHERE x > 5": [],
    }
    other_rows = f"SELECT max(n) FROM {few} WHERE n < 6"
    if few:
        connection.execute("ATTACH ? AS attached", (str(tmp_path / "other.db"),))
        connection.execute(f"CREATE TABLE {few} AS SELECT 5 AS n")
        statements[other_rows] = [(5,)]
    for sql, rows in statements.items():
        for _ in range(runs):
            assert connection.execute(sql).fetchall() == rows
    waits = count_waits(connection, path)
    other = sqlite.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    for sql, rows in statements.items():
        connection.acceleration.next_look = 0.0
        waits.clear()
        if sql != other_rows:
            with pytest.raises(sqlite.OperationalError, match="^database is locked$"):
                connection.execute(sql)
            assert waits == [0], sql
        else:
            assert connection.execute(sql).fetchall() == rows and len(waits) <= 1
    other.execute("COMMIT")
    for sql, rows in statements.items():
        assert connection.execute(sql).fetchall() == rows
    # A transaction has its snapshot of main from when it reads that.
    connection.execute("BEGIN")
    connection.acceleration.next_look = 0.0
    if few:
        assert connection.execute(other_rows).fetchall() == [(5,)]
    other.execute("INSERT INTO t VALUES (3000)")
    assert connection.execute("SELECT max(x) FROM t WHERE x > 5").fetchall() == [(3000,)]
    connection.execute("COMMIT")


def test_connecting_to_what_is_locked(sqlite, tmp_path):
    path = tmp_path / "new.db"
    plain = sqlite.connect(path, isolation_level=None)
    fill(plain)
    plain.execute("BEGIN EXCLUSIVE")
    connection = sqlite.connect(path, factory=clreduce.Connection, isolation_level=None, timeout=0)
    waits = count_waits(connection, path)
    with pytest.raises(sqlite.OperationalError, match="^database is locked$"):
        connection.execute("SELECT max(x) FROM t WHERE x > 5")
    assert waits == [0]
    plain.execute("COMMIT")
    assert accelerated_runs(connection, "SELECT max(x) FROM t WHERE x > 5") > 0


def test_nothing_is_left(sqlite, flights, tmp_path):
    connection, plain = sqlite.connect(flights, factory=clreduce.Connection), sqlite.connect(flights)
    accelerated_runs(connection, STATEMENTS[0][0])
    assert connection.execute("SELECT count(*) FROM sqlite_temp_master").fetchone() == (0,)
    assert list(connection.iterdump()) == list(plain.iterdump())
    copy = sqlite.connect(tmp_path / "copy.db", factory=clreduce.Connection)
    connection.backup(copy)
    assert copy.execute("SELECT count(*) FROM flights").fetchall() == [(20000,)]
    with connection as same:
        assert same is connection
    assert connection.isolation_level == plain.isolation_level


def test_callbacks(sqlite, flights):
    """The application sees its own statements alone."""
    sql, seen = "SELECT count(*) FROM flights WHERE delay > 5", []
    connection = sqlite.connect(flights, factory=clreduce.Connection)
    accelerated_runs(connection, sql)
    connection.set_trace_callback(seen.append)
    assert accelerated_runs(connection, sql) == 0
    assert [text for text in seen if "clreduce" not in text] == [sql] * RUNS
    connection.set_trace_callback(None)
    calls = []
    connection.set_authorizer(lambda *call: calls.append(call) or sqlite.SQLITE_OK)
    assert connection.execute("SELECT count(*) FROM flights WHERE delay > 6").fetchone()[0] > 0
    assert calls and not any("clreduce" in str(call) for call in calls)
    connection.set_authorizer(lambda *call: sqlite.SQLITE_DENY)
    with pytest.raises(sqlite.DatabaseError, match="not authorized|prohibited"):
        connection.execute("SELECT count(*) FROM flights WHERE delay > 7")
    connection.set_authorizer(None)
    assert accelerated_runs(connection, sql) > 0


def test_interrupt(sqlite, flights):
    """What the application's progress handler ends is not run again, and its handler stays."""
    connection = sqlite.connect(flights, factory=clreduce.Connection)
    calls, answer = [], 0
    connection.set_progress_handler(lambda: calls.append(1) or answer, 1)
    sql = "SELECT origin, count(*) FROM flights WHERE delay > 5 GROUP BY origin"
    accelerated_runs(connection, sql)
    assert calls
    answer = 1
    with pytest.raises(sqlite.OperationalError, match="^interrupted$"):
        connection.execute(sql).fetchall()
    connection.set_progress_handler(None, 1)
    assert connection.execute(sql).fetchone()[0] == "ABE"


@pytest.mark.parametrize("sql", ["SELECT count(*) FROM few", "SELECT n FROM few WHERE n > 4"])
def test_what_is_no_quicker_is_handed_back(sqlite, flights, tmp_path, monkeypatch, sql):
    connection = sqlite.connect(tmp_path / "few.db", factory=clreduce.Connection, isolation_level=None)
    connection.execute("CREATE TABLE few(n INTEGER)")
    connection.execute("INSERT INTO few VALUES (5)")
    rows = [connection.execute(sql).fetchall() for _ in range(10)]
    shape = connection.acceleration.texts[sql].shape
    assert rows == [rows[0]] * 10 and shape.pause_end > 0 and shape.pauses == 1
    shape.pause_end = 0.0  # it is over
    rows += [connection.execute(sql).fetchall() for _ in range(10)]
    assert rows == [rows[0]] * 20 and shape.pauses == 2
    monkeypatch.setattr(acceleration, "LOOK", 0.0)  # the data grow
    connection.acceleration.next_look = 0.0
    fill(connection, 30000)
    connection.execute("INSERT INTO few SELECT x + 5 FROM t")
    connection.execute(sql).fetchall()
    connection.execute("INSERT INTO few SELECT n FROM few")
    connection.execute(sql).fetchall()
    assert accelerated_runs(connection, "SELECT sum(n) FROM few") > 0


@pytest.mark.parametrize("shared", [False, True])
def test_the_comparison(sqlite, flights, monkeypatch, shared):
    """A plain run decides, which ends where it takes longer, if no other thread may be waiting."""
    monkeypatch.setattr(acceleration, "LEAST_ROW", 0.0)
    monkeypatch.setattr(acceleration, "WORTH", 100.0)
    connection = sqlite.connect(flights, factory=clreduce.Connection, check_same_thread=not shared)
    sql = "SELECT origin, sum(fare) FROM flights WHERE delay > 5 GROUP BY origin"
    rows = [connection.execute(sql).fetchall() for _ in range(3)]
    shape = connection.acceleration.texts[sql].shape
    assert shape.runs == 2 and 0 < shape.trial.seconds < 100 and 0 < shape.warm.seconds < 100
    shape.warm.seconds = 0.0
    rows += [connection.execute(sql).fetchall()]
    assert shape.is_settled and shape.runs == 3
    shape.reset()
    rows += [connection.execute(sql).fetchall() for _ in range(3)]
    shape.warm.seconds = 100.0
    rows += [connection.execute(sql).fetchall() for _ in range(2)]
    assert shape.pause_end > 0 and shape.runs == 0
    shape.pause_end = 0.0
    rows += [connection.execute(sql).fetchall() for _ in range(2)]
    monkeypatch.setattr(acceleration, "WORTH", 0.0)
    shape.warm.seconds = 0.0
    rows += [connection.execute(sql).fetchall()]
    assert shape.is_settled != shared and rows == [rows[0]] * len(rows)


def test_what_becomes_slow_is_compared_anew(sqlite, flights):
    connection = sqlite.connect(flights, factory=clreduce.Connection)
    sql = "SELECT count(*) FROM flights WHERE delay > 5"
    accelerated_runs(connection, sql)
    shape = connection.acceleration.texts[sql].shape
    assert shape.is_settled
    for _ in range(3):
        connection.acceleration.watch(shape, 100.0)
    assert not shape.is_settled and accelerated_runs(connection, sql) > 0 and shape.is_settled


def test_small_databases(sqlite, tmp_path, monkeypatch):
    monkeypatch.setattr(acceleration, "SMALL", 1 << 20)
    connection = sqlite.connect(tmp_path / "few.db", factory=clreduce.Connection)
    fill(connection)
    connection.commit()
    sql = "SELECT count(*) FROM t"
    assert accelerated_runs(connection, sql) == 0 and connection.acceleration.is_small
    connection.execute("ATTACH ? AS other", (str(tmp_path / "other.db"),))
    assert connection.execute(sql).fetchone() == (3000,) and not connection.acceleration.is_small


def test_what_fails_is_run_as_it_is(sqlite, flights, monkeypatch):
    monkeypatch.setattr(connections, "REWRITE", "SELECT CAST('SELECT nosuch' AS BLOB) WHERE ? <> ''")
    connection = sqlite.connect(flights, factory=clreduce.Connection)
    assert connection.execute("SELECT max(delay) FROM flights").fetchall() == [(919,)]
    monkeypatch.setattr(connections, "REWRITE", "SELECT nosuch(?)")
    assert connection.execute("SELECT min(delay) FROM flights").fetchall() == connection.execute(
        "SELECT +min(delay) FROM flights").fetchall()


def test_memory_is_bounded(sqlite, flights, monkeypatch):
    monkeypatch.setattr(acceleration, "MOST_TEXTS", 20)
    monkeypatch.setattr(acceleration, "MOST_SHAPES", 10)
    connection = sqlite.connect(flights, factory=clreduce.Connection)
    for i in range(100):
        assert connection.execute(f"SELECT count(*) FROM flights WHERE delay > {i}").fetchone()[0] > 0
        assert connection.execute(f"SELECT count(*) AS n{i} FROM flights WHERE rowid IN (?, 2)", (i,)).fetchone()[0] < 3
        assert len(connection.acceleration.texts) <= 20 and len(connection.acceleration.shapes) <= 10


def test_shapes(sqlite):
    """Texts that differ in literals are one; names and parameters with digits stay."""
    connection = sqlite.connect(":memory:", factory=clreduce.Connection)
    learn = connection.acceleration.learn
    one = learn("SELECT count(*) FROM t1 WHERE a = 5 AND b = 'x''y' AND c IN (1, 2, 3)").shape
    assert learn("SELECT count(*) FROM t1 WHERE a = 6.5 AND b = '' AND c IN (?, ?)").shape is one
    assert learn("SELECT count(*) FROM t2 WHERE a = 5 AND b = 'x''y' AND c IN (1, 2, 3)").shape is not one
    assert learn("SELECT a FROM t").shape is learn("SELECT 1").shape is None
    writing = learn("WITH n AS (SELECT 1) INSERT INTO t SELECT * FROM n")
    assert writing.writes and writing.shape is not None and not writing.is_schema
    assert learn("CREATE TABLE n AS SELECT count(*) FROM t").is_schema
    assert learn("INSERT INTO t VALUES (abs(-1))") is acceleration.WRITES
    assert learn("SELECT count(*) FROM t" + " " * 20000) is acceleration.WRITES


def test_threads(sqlite, flights):
    connection = sqlite.connect(flights, factory=clreduce.Connection, check_same_thread=False)
    sql, errors = "SELECT origin, avg(fare) FROM flights WHERE delay > ? GROUP BY origin", []
    expected = [plain_of(flights).execute(sql, (i,)).fetchall() for i in range(4)]

    def work(i):
        try:
            for _ in range(20):
                assert connection.execute(sql, (i,)).fetchall() == expected[i]
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def test_settings(sqlite, flights, monkeypatch):
    def value(name, factory=clreduce.Connection):
        connection = sqlite.connect(flights, factory=factory)
        return connection.execute("SELECT value FROM clreduce_settings WHERE name = ?", (name,)).fetchone()[0]

    class Own(clreduce.Connection):
        """Without exact sums."""

        settings = {"view_threshold": 500}

    assert value("override") == "on" and value("override", Own) == "off" and int(value("view_threshold", Own)) == 500
    assert 0 < int(value("column_memory")) <= os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 8
    monkeypatch.setenv("CLREDUCE_SETTINGS", "override=off, view_threshold=7")
    assert value("override") == "off" and int(value("view_threshold", Own)) == 7
    monkeypatch.setenv("CLREDUCE_SETTINGS", "nosuch=1")
    with pytest.raises(sqlite.Error, match="nosuch"):
        value("override")


def test_without_loading():
    """Where the module cannot load extensions the error says what to do."""
    script = ("import sqlite3, clreduce.loading as loading\n"
              "from clreduce.connections import Connection\n"
              "class Other(Connection):\n"
              "    @property\n"
              "    def enable_load_extension(self): raise AttributeError\n"
              "try: sqlite3.connect(':memory:', factory=Other)\n"
              "except loading.LoadError as error: print(error)")
    done = subprocess.run([sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=True)
    assert "cannot load extensions" in done.stdout and "apsw" in done.stdout and done.stderr == ""


def test_apsw(flights):
    """Traces, cursors of the application's and transactions of apsw's."""
    apsw = pytest.importorskip("apsw")
    sql, seen = "SELECT count(*), max(delay) FROM flights WHERE distance > ?", []

    class OwnCursor(apsw.Cursor):
        """An application's."""

        def execute(self, statements, *arguments, **options):
            seen.append(statements)
            return super().execute(statements, *arguments, **options)

    connection = apsw.Connection(flights)
    connection.cursor_factory = OwnCursor
    clreduce.connect(connection)
    assert isinstance(connection.cursor(), OwnCursor)
    assert accelerated_runs(connection, sql, (500,)) > 0 and seen.count(sql) == RUNS
    traced = []
    connection.exec_trace = lambda cursor, text, bindings: traced.append((text, bindings)) or True
    assert connection.execute(sql, (500,)).get == connection.execute(sql, (500,)).fetchone()
    assert traced == [(sql, (500,))] * 2
    connection.exec_trace = None
    with pytest.raises(apsw.SQLError, match="no such column: nosuch"):
        connection.execute("SELECT count(nosuch) FROM flights")
    connection.set_progress_handler(lambda: True, 1)
    with pytest.raises(apsw.InterruptError):
        connection.execute(sql, (500,)).fetchall()
    connection.set_progress_handler(None)
    with connection:
        connection.execute("CREATE TEMP TABLE t(x)")
        assert connection.execute("SELECT count(*) FROM t; SELECT count(*) FROM flights").fetchall() == [(0,), (20000,)]


@pytest.mark.parametrize("runs", range(RUNS))
def test_locks_of_apsw(tmp_path, runs):
    """SQLite waits once there as well."""
    apsw = pytest.importorskip("apsw")
    path, waits = str(tmp_path / "new.db"), []
    plain = apsw.Connection(path)
    fill(plain)
    connection = clreduce.connect(apsw.Connection(path))
    sql = "SELECT max(x) FROM t WHERE x > 5"
    for _ in range(runs):
        assert list(connection.execute(sql)) == [(2999,)]
    connection.set_busy_handler(lambda attempts: waits.append(attempts) or False)
    plain.execute("BEGIN EXCLUSIVE")
    with pytest.raises(apsw.BusyError, match="database is locked"):
        connection.execute(sql)
    assert waits == [0]
    plain.execute("COMMIT")
    assert list(connection.execute(sql)) == [(2999,)]
