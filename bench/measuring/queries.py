"""The total time of a number of queries, all that comes before the first one included.

SQLite pays for every row in every query. A process with a view loads the extension, creates the
view, and reads the pages in its first query. DuckDB imports the column first, from the same file:
by its own extension for SQLite's files where that is installed, or else through NumPy, which is the
quickest way that an interpreter has without it. Connecting is included for all of them.

What was not run is continued from the median of the later queries, and marked so.
"""

import contextlib
import itertools
import sqlite3
import statistics
import time

from measuring import method
from measuring import peers
from measuring import views
from measuring.tools import scale_sizes, scale_table

#: The numbers of queries that are shown, and how many are looked through for a break-even.
MARKS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
FURTHEST = 1_000_000

#: Queries of a session at most, and the seconds after which it has enough of them.
RUNS, SECONDS, PLAIN_RUNS = 1000, 0.5, 3
ROUNDS = 3


class Session:
    """The times since the beginning after each query that ran, and those that would follow."""

    def __init__(self, times):
        self.times = times
        steps = [after - before for before, after in zip(times, times[1:])]
        #: What a query costs in the long run.
        self.each = statistics.median(steps[len(steps) // 2:])

    def total(self, queries):
        """The time of so many queries."""
        if queries <= len(self.times):
            return self.times[queries - 1]
        return self.times[-1] + (queries - len(self.times)) * self.each


def import_rows(duckdb, path, table):
    """A connection of DuckDB with the column x of the file's table in a table t; and how."""
    connection = duckdb.connect(":memory:", config={"autoinstall_known_extensions": False})
    with contextlib.suppress(duckdb.Error):
        connection.execute("LOAD sqlite")
        connection.execute(f"CREATE TABLE t AS SELECT x FROM sqlite_scan('{path}', '{table}')")
        return connection, "DuckDB's extension for SQLite's files"
    numpy = peers.find("numpy")
    with contextlib.closing(sqlite3.connect(path)) as source:
        rows = source.execute(f"SELECT x FROM {table}")
        values = numpy.fromiter(itertools.chain.from_iterable(rows), dtype=numpy.float64)
    connection.register("imported", {"x": values})
    connection.execute("CREATE TABLE t AS SELECT x FROM imported")
    return connection, "rows read by Python's sqlite3 into a NumPy array"


def duckdb_session(duckdb, path, table):
    """The times of a session of DuckDB's, and how it imported."""
    start = time.perf_counter_ns()
    connection, how = import_rows(duckdb, path, table)
    times = []
    while len(times) < RUNS and (len(times) < 3 or times[-1] - times[0] < SECONDS * 1e9):
        connection.execute("SELECT sum(x) FROM t").fetchall()
        times.append(time.perf_counter_ns() - start)
    connection.close()
    return times, how


def summarise(name, sessions):
    """One way to run the queries: what its rounds say."""
    measured = min(len(session.times) for session in sessions)
    return {"name": name,
            "first_ns": method.summary([session.total(1) for session in sessions]),
            "each_ns": method.summary([session.each for session in sessions]),
            "marks": [{"queries": mark, "measured": mark <= measured,
                       "time_ns": method.summary([session.total(mark) for session in sessions])}
                      for mark in MARKS]}


def break_even(ours, theirs):
    """From which query on ours took no more in all, and until which; FURTHEST stands for what does
    not come in the first thousand, and for what does not end before.

    Both are lists of sessions, of which the medians are compared.
    """
    def is_ahead(queries):
        return (statistics.median(session.total(queries) for session in ours)
                <= statistics.median(session.total(queries) for session in theirs))

    first = next((count for count in range(1, RUNS + 1) if is_ahead(count)), FURTHEST)
    if first == FURTHEST or is_ahead(FURTHEST):
        return {"ahead_from": first, "ahead_until": FURTHEST}
    # Behind at the furthest, ahead at the first: halved until they meet.
    low, high = first, FURTHEST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if is_ahead(middle) else (low, middle)
    return {"ahead_from": first, "ahead_until": low}


def measure(tools, machine):
    """The results, and None: results are compared where the scale is measured."""
    rows = max(scale_sizes(tools.rows))
    path, table = tools.scale_database(tools.rows), scale_table(rows)
    ours = f"SELECT gpu_sum(x) FROM {table}"
    ways = [("SQLite", lambda: tools.session(path, "none", PLAIN_RUNS, SECONDS,
                                             f"SELECT sum(x) FROM {table}")["ns"])]
    ways += [(f"view, {device}", lambda device=device: tools.session(path, device, RUNS, SECONDS,
                                                                     ours)["ns"])
             for device in views.devices(machine["device"])]
    duckdb, imported = peers.find("duckdb"), set()

    def run_duckdb():
        times, how = duckdb_session(duckdb, path, table)
        imported.add(how)
        return times

    if duckdb is not None and peers.find("numpy") is not None:
        ways.append(("DuckDB", run_duckdb))
    sessions = {name: [] for name, _ in ways}
    for _ in range(ROUNDS):
        for name, run in ways:
            method.say(f"queries: {name}")
            sessions[name].append(Session(run()))
    pairs = [(name, other) for name in sessions if name.startswith("view")
             for other in ("SQLite", "DuckDB") if other in sessions]
    return {"rows": rows, "sql": ours, "imported": ", ".join(imported),
            "ways": [summarise(name, found) for name, found in sessions.items()],
            "break_even": [{"name": name, "against": other,
                            **break_even(sessions[name], sessions[other])}
                           for name, other in pairs]}, None
