"""What a user would use instead, on the same values: DuckDB, NumPy, math.fsum and SQLite's own.
Beside the statistics (stats.py) also sqlean's.

Whatever this interpreter cannot import is left out, and said to be missing. The values are made
here by the formulas in tables.h, and compared with the database's by their sum.
"""

import importlib
import importlib.metadata
import math
import os
import sys

from measuring import feed
from measuring import method

X, Y = (2654435761, 3000000.0), (2246822519, 5000000.0)
ROUNDS, SECONDS = 7, 6

#: What is imported: its name, module and package.
IMPORTED = (("DuckDB", "duckdb", "duckdb"), ("NumPy", "numpy", "numpy"),
            ("sqlean", "sqlean", "sqlean.py"))

#: The feed's cases that have a peer.
SQLITE_CASES = ("gpu_sum, REAL", "gpu_max, REAL", "gpu_dot, REAL")


def find(name):
    """A module, or None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def version(name, package):
    """A module's version, also of a package that has no metadata; None without the module."""
    module = find(name)
    try:
        return module and importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return getattr(module, "__version__", "of an unknown version")


def versions():
    """The versions of the peers that there are; None for the missing ones."""
    return {label: version(module, package) for label, module, package in IMPORTED}


def missing():
    """A sentence for each peer that is not there."""
    return [f"{label} is not measured: {os.path.basename(sys.executable)} cannot import it"
            for label, found in versions().items() if found is None]


def row(peer, operation, threads, times, result):
    """One result, as the report takes it."""
    return {"peer": peer, "operation": operation, "threads": threads, "ns": times,
            "time_ns": method.summary(times), "result": result}


def column(rows, multiplier, divisor):
    """A column's values as a list of floats."""
    return [((n * multiplier & 0xffffffff) - 2147483648) / divisor for n in range(1, rows + 1)]


def measure_fsum(rows):
    """math.fsum, which is exact as gpu_sum is, over a list of floats."""
    method.say("peers: math.fsum")
    values = column(rows, *X)
    times, = method.take_turns([method.timed(lambda: math.fsum(values))], 5, SECONDS)
    return row("Python", "math.fsum(x)", 1, times, math.fsum(values))


def measure_numpy(numpy, rows):
    """NumPy's reductions of two arrays."""
    method.say("peers: NumPy")
    n = numpy.arange(1, rows + 1, dtype=numpy.int64)
    x, y = (((n * multiplier & 0xffffffff) - 2147483648) / divisor
            for multiplier, divisor in (X, Y))
    calls = (("sum(x)", x.sum), ("max(x)", x.max), ("dot(x, y)", lambda: numpy.dot(x, y)))
    times = method.take_turns([method.timed(call) for _, call in calls], ROUNDS, SECONDS)
    return [row("NumPy", name, threads, ns, float(call()))
            for (name, call), ns, threads in zip(calls, times, (1, 1, None))]


def duckdb_table(duckdb, rows, **more):
    """A connection with the columns, and more of them by their names, in a table in memory."""
    connection = duckdb.connect(":memory:")
    x, y = (f"((n * {multiplier} & 4294967295) - 2147483648)::DOUBLE / {divisor}::DOUBLE"
            for multiplier, divisor in (X, Y))
    columns = ", ".join(f"{value} AS {name}" for name, value in {"x": x, "y": y, **more}.items())
    connection.execute(f"CREATE TABLE t AS SELECT {columns} FROM range(1, {rows + 1}) r(n)")
    return connection


def measure_duckdb(duckdb, rows, cores):
    """DuckDB's aggregates, with one thread and with all."""
    method.say("peers: DuckDB")
    connection = duckdb_table(duckdb, rows)
    results = []
    names = ("sum(x)", "fsum(x)", "max(x)", "sum(x * y)")

    def candidate(name):
        return method.timed(lambda: connection.execute(f"SELECT {name} FROM t").fetchall())

    for threads in sorted({1, cores}):
        connection.execute(f"SET threads = {threads}")
        times = method.take_turns([candidate(name) for name in names], ROUNDS, SECONDS)
        for name, ns in zip(names, times):
            value, = connection.execute(f"SELECT {name} FROM t").fetchone()
            results.append(row("DuckDB", name, threads, ns, value))
    connection.close()
    return results


def from_feed(cases):
    """SQLite's rows, out of the feed's cases."""
    results = []
    for case in cases:
        for statement in case["statements"] if case["name"] in SQLITE_CASES else ():
            call = statement["sql"].removeprefix("SELECT ").removesuffix(" FROM t")
            if call.startswith("bench_"):
                continue
            ours = call.startswith("gpu_")
            peer = f"clreduce, {statement['device']}" if ours else "SQLite"
            results.append(row(peer, call, None if ours else 1, statement["ns"],
                               float(statement["result"])))
    return results


def measure(tools, cores, feed_cases):
    """All peers that there are; SQLite's rows from the feed, if that was measured."""
    results = from_feed(feed_cases or feed.measure(tools, SQLITE_CASES))
    duckdb, numpy = find("duckdb"), find("numpy")
    if duckdb is not None:
        results += measure_duckdb(duckdb, tools.rows, cores)
    if numpy is not None:
        results += measure_numpy(numpy, tools.rows)
    results.append(measure_fsum(tools.rows))
    return {"rows": tools.rows, "results": results, "same_values": same_values(results)}


def same_values(results):
    """Whether the exact sums, of the database's values and of those made here, are the same."""
    sums = {found["operation"]: found["result"] for found in results}
    return sums["gpu_sum(x)"] == sums["math.fsum(x)"]
