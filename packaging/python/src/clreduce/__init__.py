"""Exact aggregates and accelerated views for SQLite.

    connection = sqlite3.connect("flights.db")
    clreduce.load(connection)
    clreduce.execute(connection, "SELECT origin, gpu_avg(delay) FROM flights GROUP BY origin").fetchall()
"""

from .loading import LoadError, connect, load, loadable_path
from .statements import accelerate, execute, rewrite

__all__ = ["LoadError", "accelerate", "connect", "execute", "load", "loadable_path", "rewrite"]
