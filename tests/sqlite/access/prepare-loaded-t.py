"""clreduce_prepare_v2() of the loadable extension, by its symbol, as languages with a foreign-function interface call it."""

import ctypes
import ctypes.util
import os

import tap

NAME = next((tap.EXTENSION + end for end in (".so", ".dylib") if os.path.exists(tap.EXTENSION + end)), None)
LIBRARY = ctypes.util.find_library("sqlite3")
MISUSE, ROW = 21, 100
if NAME is None or LIBRARY is None:
    tap.skip_all("there is no shared library of SQLite, or of the extension")


def test_prepare():
    """Loads the extension into a connection, and prepares with it."""
    sqlite = ctypes.CDLL(LIBRARY)
    for function in ("sqlite3_column_name", "sqlite3_sql", "sqlite3_errmsg", "sqlite3_bind_parameter_name"):
        getattr(sqlite, function).restype = ctypes.c_char_p
    db, statement, tail = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_char_p()
    tap.is_equal(sqlite.sqlite3_open(b":memory:", ctypes.byref(db)), 0, "a database in memory")
    prepare = ctypes.CDLL(NAME).clreduce_prepare_v2

    def call(sql):
        return prepare(db, sql, -1, ctypes.byref(statement), ctypes.byref(tail))

    tap.is_equal(call(b"SELECT 1"), MISUSE, "misuse before the extension is loaded")
    sqlite.sqlite3_enable_load_extension(db, 1)
    loaded = sqlite.sqlite3_load_extension(db, NAME.encode(), None, None)
    if not tap.is_equal(loaded, 0, f"loaded: {sqlite.sqlite3_errmsg(db)}"):
        return
    script = (b"CREATE TABLE t(x); WITH n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 5000)"
              b" INSERT INTO t SELECT i FROM n")
    tap.is_equal(sqlite.sqlite3_exec(db, script, None, None, None), 0, "a table")
    tap.is_equal(call(b"SELECT gpu_sum(x) AS total FROM t WHERE x < :most; SELECT 2"), 0, "prepared")
    tap.ok(b"clreduce_view_1" in sqlite.sqlite3_sql(statement), f"accelerated: {sqlite.sqlite3_sql(statement)}")
    tap.is_equal(tail.value, b" SELECT 2", "the tail")
    tap.is_equal(sqlite.sqlite3_bind_parameter_name(statement, 1), b":most", "the parameter")
    tap.is_equal(sqlite.sqlite3_column_name(statement, 0), b"total", "the column")
    sqlite.sqlite3_bind_int(statement, 1, 100)
    tap.is_equal(sqlite.sqlite3_step(statement), ROW, "a row")
    tap.is_equal(sqlite.sqlite3_column_int(statement, 0), 4950, "with the sum")
    sqlite.sqlite3_finalize(statement)
    tap.is_equal(sqlite.sqlite3_close(db), 0, "the connection can be closed")


tap.run(globals())
