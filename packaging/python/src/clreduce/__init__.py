"""Exact aggregates and accelerated views for SQLite.

    connection = sqlite3.connect("flights.db", factory=clreduce.Connection)
    connection.execute("SELECT origin, avg(delay) FROM flights GROUP BY origin").fetchall()
"""

from .connections import Connection, connect
from .loading import LoadError, load, loadable_path
from .statements import accelerate, execute, rewrite

__all__ = ["Connection", "LoadError", "accelerate", "connect", "execute", "load", "loadable_path", "rewrite"]
