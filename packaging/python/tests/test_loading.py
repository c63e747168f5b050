"""load(), loadable_path() and connect(): in every module for SQLite, several of them in one process."""

import os
import subprocess
import sys
from importlib.metadata import version

import clreduce
import pytest
from conftest import connect


def test_driver(driver):
    connection = connect(driver)
    assert connection.execute("SELECT clreduce_version()").fetchone() == (version("clreduce"),)
    assert clreduce.load(connection) is connection
    assert connection.execute("SELECT gpu_sum(column1) FROM (VALUES (1e16), (1.0), (-1e16))").fetchone() == (1.0,)
    with pytest.raises(Exception, match="not authorized"):
        connection.execute(f"SELECT load_extension('{clreduce.loadable_path()}')").fetchone()


def test_path():
    assert any(os.path.isfile(clreduce.loadable_path() + end) for end in (".so", ".dylib"))


def test_no_loading():
    with pytest.raises(clreduce.LoadError) as caught:
        clreduce.load(object())
    for name in ("apsw", "sqlean.py", "pysqlite3-binary", sys.executable):
        assert name in str(caught.value)


def test_no_file(driver, monkeypatch):
    monkeypatch.setattr("clreduce.loading.loadable_path", lambda: "/nosuch/clreduce")
    with pytest.raises(clreduce.LoadError, match="/nosuch/clreduce could not be loaded: .*nosuch"):
        connect(driver)


def test_module_in_its_place():
    """Where sqlite3 cannot load extensions connect() takes another module that is there."""
    script = ("import sqlite3, clreduce; sqlite3.Connection = object;"
              " print(type(clreduce.connect(':memory:')).__base__.__module__.partition('.')[0])")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() in ("pysqlite3", "sqlean")


def test_read_only(tmp_path):
    path = tmp_path / "a 100% ? #.db"
    clreduce.connect(path).execute("CREATE TABLE t(x)").close()
    connection = clreduce.connect(path, read_only=True)
    assert connection.execute("SELECT count(*) FROM t").fetchone() == (0,)
    with pytest.raises(Exception, match="readonly"):
        connection.execute("INSERT INTO t VALUES (1)")
    with pytest.raises(Exception, match="unable to open"):
        clreduce.connect(tmp_path / "nosuch.db", read_only=True).execute("SELECT 1 FROM sqlite_master")
