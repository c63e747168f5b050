"""How far sums are from the right one, beside what they cost, on values that cancel.

A third of the values are of either sign and of sizes from 1 to 2^60, a third are the same with the
other sign, and a third are between 0 and 1; they come in no order. What is left is the sum of the
small ones. The condition number is the sum of the sizes over the size of the sum: the factor by
which a relative error may grow. An error is counted in units of the right sum's last place (ulps),
so that a sum that is rounded correctly has 0.
"""

import math
import random

from measuring import method
from measuring import peers
from measuring import stats
from measuring import views

MOST_VALUES = 1_000_000
ROUNDS, SECONDS = 5, 2
SEED = 1


def make_values(count):
    """The values, the same ones every time."""
    source = random.Random(SEED)
    third = count // 3
    large = [source.choice((-1, 1)) * source.uniform(1, 2) * 2.0 ** source.randrange(60)
             for _ in range(third)]
    values = large + [-value for value in large]
    values += [source.random() for _ in range(count - len(values))]
    source.shuffle(values)
    return values


def ulps(found, right):
    """The error of a sum in units of the right one's last place."""
    return abs(found - right) / math.ulp(right)


def row(name, threads, times, result, right):
    """One way to sum."""
    return {"name": name, "threads": threads, "ns": times, "time_ns": method.summary(times),
            "result": repr(result), "ulps": ulps(result, right)}


def in_process(name, threads, call, right):
    """A way that this interpreter calls."""
    method.say(f"accuracy: {name}")
    times, = method.take_turns([method.timed(call)], ROUNDS, SECONDS)
    return row(name, threads, times, float(call()), right)


def fed(tools, path, right):
    """SQLite's sum and ours, fed by rows."""
    statements = [("auto", f"SELECT {name}(x) FROM t") for name in ("sum", "gpu_sum")]
    case, = tools.compare(path, [("accuracy", statements)], ROUNDS, SECONDS)
    names = ("SQLite's sum", "gpu_sum, fed by rows")
    return [row(name, 1, statement["ns"], float(statement["result"]), right)
            for name, statement in zip(names, case["statements"])]


def in_views(tools, path, count, settings, right):
    """gpu_sum in a view whose column is resident."""
    lines = tools.compare_views(path, [(device, "again", "SELECT gpu_sum(x) FROM t")
                                       for device in settings], ROUNDS, SECONDS,
                                views.device_wait(tools, count))
    return [row(f"gpu_sum, view, {device}", None, line["ns"], float(line["result"]), right)
            for device, line in zip(settings, lines)]


def newer_sqlite(tools, path, right):
    """The sum of apsw's SQLite, which has compensated its sums since 3.43; none without apsw."""
    connection, version = stats.apsw_connection(tools, path)
    if connection is None:
        return []

    def call():
        (value,), = connection.execute("SELECT sum(x) FROM t")
        return value

    found = in_process(f"sum of {version}", 1, call, right)
    connection.close()
    return [found]


def measure_duckdb(values, cores, right):
    """DuckDB's sum and its fsum, with all threads; none without DuckDB."""
    duckdb = peers.find("duckdb")
    if duckdb is None:
        return []
    connection = duckdb.connect(":memory:")
    connection.execute(f"SET threads = {cores}")
    connection.execute("CREATE TABLE t AS SELECT unnest(?::DOUBLE[]) AS x", [values])

    def call(name):
        return connection.execute(f"SELECT {name}(x) FROM t").fetchone()[0]

    found = [in_process(f"DuckDB's {name}", cores, lambda name=name: call(name), right)
             for name in ("sum", "fsum")]
    connection.close()
    return found


def measure(tools, machine):
    """The results, and what failed or None: an exact sum that is not rounded correctly."""
    count = max(1000, min(MOST_VALUES, tools.rows // 10))
    method.say("accuracy: values")
    values = make_values(count)
    right = math.fsum(values)
    path = tools.values_database("accuracy.db", values)
    results = fed(tools, path, right)
    results += in_views(tools, path, count, views.devices(machine["device"]), right)
    results += newer_sqlite(tools, path, right)
    results.append(in_process("math.fsum", 1, lambda: math.fsum(values), right))
    numpy = peers.find("numpy")
    if numpy is not None:
        array = numpy.array(values)
        results.append(in_process("NumPy's sum", 1, array.sum, right))
    results += measure_duckdb(values, machine["cores"], right)
    wrong = [f"{found['name']}: {found['result']}, not {right!r}" for found in results
             if found["name"].startswith("gpu_sum") and found["ulps"] != 0]
    return {"values": count, "condition": math.fsum(map(abs, values)) / abs(right),
            "results": results}, "; ".join(wrong) or None
