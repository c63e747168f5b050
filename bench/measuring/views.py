"""Accelerated views: a first query and the later ones, beside the SELECT that SQLite runs.

The candidates take turns with SELECT sum(x), SQLite's own; a speed is how many times they are as
fast. Every view's row is compared with that
of the SELECT it holds. The table, of twice the rows of the others, is described in view_data.h.
"""

import os

from measuring import method
from measuring import peers

REFERENCE = "SELECT sum(x) FROM v"
SUM = "SELECT gpu_sum(x) FROM v"
FILTERED = "SELECT gpu_sum(x * y) FROM v WHERE i > 500"
#: All of x is between the ends.
HISTOGRAM = "SELECT gpu_histogram(x, -716, 716, 100) FROM v"

#: A name, the kind of bench/view_bench.c, and the SELECT. About half of the rows pass i > 500; id is in order,
#: and {first} to {last} is a hundredth of its {rows} values.
CANDIDATES = (
    ("sum(x)", "first", SUM),
    ("sum(x)", "again", SUM),
    ("sum(x * y) WHERE", "first", FILTERED),
    ("sum(x * y) WHERE", "again", FILTERED),
    ("dot(x, y) WHERE", "again", "SELECT gpu_dot(x, y) FROM v WHERE i > 500"),
    ("max(x)", "again", "SELECT gpu_max(x) FROM v"),
    ("count(*) WHERE", "again", "SELECT count(*) FROM v WHERE i > 500"),
    ("three aggregates", "again", "SELECT gpu_sum(x), gpu_min(x), gpu_max(y) FROM v"),
    ("histogram(x)", "again", HISTOGRAM),
    ("sum(x) WHERE x > ?", "changing", "SELECT gpu_sum(x) FROM v WHERE x > ?"),
    ("sum(x) WHERE id, all", "again", "SELECT gpu_sum(x) FROM v WHERE id BETWEEN 1 AND {rows}"),
    ("sum(x) WHERE id, 1%", "again", "SELECT gpu_sum(x) FROM v WHERE id BETWEEN {first} AND {last}"),
)
SMALL = "SELECT gpu_sum(x) FROM small"

#: What SQLite may answer by reading few rows of a table with indexes on k, of which there are 2^20 values, and on u,
#: of which each is there once among 2^32.
KEYED = (
    ("GROUP BY the rowid LIMIT 1", "SELECT id FROM keyed GROUP BY id LIMIT 1"),
    ("DISTINCT LIMIT 1 by an index", "SELECT DISTINCT u FROM keyed LIMIT 1"),
    ("GROUP BY LIMIT 1 by an index", "SELECT gpu_sum(x) FROM keyed GROUP BY k LIMIT 1"),
    ("max() of an index", "SELECT max(k) FROM keyed"),
    ("max() of the rowid", "SELECT max(id) FROM keyed"),
    ("one row by the rowid", "SELECT gpu_sum(x) FROM keyed WHERE id = 5"),
    ("one value of an index", "SELECT gpu_sum(x) FROM keyed WHERE k = 777"),
    ("IN by an index", "SELECT gpu_sum(x) FROM keyed WHERE k IN (5, 777, 99999)"),
    ("a range by an index, 0.01%", "SELECT gpu_sum(x) FROM keyed WHERE u BETWEEN 1000000 AND 1429496"),
    ("a range by an index, 0.1%", "SELECT gpu_sum(x) FROM keyed WHERE u BETWEEN 1000000 AND 5294967"),
    ("a range by an index, 1%", "SELECT gpu_sum(x) FROM keyed WHERE u BETWEEN 1000000 AND 43949672"),
    ("a range by an index, half", "SELECT gpu_sum(x) FROM keyed WHERE u < 2147483648"),
)

#: For a GPU, a column that is large enough for its bandwidth: 1 GiB. SQLite reads it row by row as
#: well, for the results to be compared.
LARGE_ROWS = 1 << 27
LARGE = (("sum(x)", SUM), ("histogram(x)", HISTOGRAM))

#: Rounds at most, the seconds after which there are enough, and those to wait for a device.
ROUNDS, SECONDS, DEVICE_WAIT = 5, 8, 30
SMALL_ROUNDS, KEYED_ROUNDS = 15, 9

#: DuckDB's twins of candidates, and two results that are the same however they are computed.
TWINS = (("sum(x)", "sum(x)", ""), ("sum(x * y) WHERE", "sum(x * y)", "WHERE i > 500"))
COMPARED = (("max(x)", "max(x)", ""), ("count(*) WHERE", "count(*)", "WHERE i > 500"))


def devices(device):
    """The settings to measure with: auto means the host where no device is faster."""
    return ("auto", "host") if device and device["type"] != "cpu" else ("host",)


def device_wait(tools, rows):
    """The seconds to wait for a device: none where so few rows start none."""
    start_after, = tools.query("SELECT value FROM clreduce_settings WHERE name = 'start_after'")
    return DEVICE_WAIT if rows >= int(start_after[0]) else 0


def candidates_of(rows):
    """The candidates for a table of so many rows."""
    first = rows * 42 // 100
    return [(name, kind, sql.format(rows=rows, first=first, last=first + rows // 100 - 1))
            for name, kind, sql in CANDIDATES]


def evaluate(name, found, reference):
    """A candidate as view-bench measured it, with the summaries of its times and speeds."""
    return {"name": name, **found, "time_ns": method.summary(found["ns"]),
            "speed": method.ratios(reference["ns"], found["ns"]),
            "same": found["result"] == found["expected"]}


def compare(tools, reference, candidates, rounds, seconds_to_wait):
    """The reference, a statement of the host, and the candidates (device, name, kind, SELECT)."""
    lines = [("host", "select", reference)]
    lines += [(device, kind, sql) for device, _, kind, sql in candidates]
    first, *found = tools.compare_views(tools.view_database(), lines, rounds, SECONDS,
                                       seconds_to_wait)
    first["time_ns"] = method.summary(first["ns"])
    return first, [evaluate(candidate[1], line, first)
                   for candidate, line in zip(candidates, found)]


def measure_keyed(tools):
    """Views' first and later queries, each beside its own SELECT."""
    lines = [("host", kind, sql) for _, sql in KEYED for kind in ("select", "first", "again")]
    found = tools.compare_views(tools.view_database(), lines, KEYED_ROUNDS, SECONDS, 0)
    results = []
    for place, (name, _) in enumerate(KEYED):
        plain, *views = found[3 * place:3 * place + 3]
        results += [{**evaluate(name, view, plain), "plain_ns": method.summary(plain["ns"])}
                    for view in views]
    return results


def measure_duckdb(rows, cores):
    """DuckDB on the same values in memory, with one thread and with all; None where it is not."""
    duckdb = peers.find("duckdb")
    if duckdb is None:
        return None
    method.say("views: DuckDB")
    connection = peers.duckdb_table(duckdb, rows, i="(n * 3266489917 & 4294967295) // 256 % 1000")
    results = []

    def query(call, condition):
        return connection.execute(f"SELECT {call} FROM t {condition}").fetchall()

    for threads in sorted({1, cores}):
        connection.execute(f"SET threads = {threads}")
        times = method.take_turns([method.timed(lambda twin=twin: query(*twin[1:]))
                                   for twin in TWINS], peers.ROUNDS, peers.SECONDS / 2)
        results += [{"name": name, "threads": threads, "ns": ns, "time_ns": method.summary(ns)}
                    for (name, _, _), ns in zip(TWINS, times)]
    values = {name: repr(query(*call)[0][0]) for name, *call in COMPARED}
    connection.close()
    return {"results": results, "values": values}


def same_values(part):
    """Whether DuckDB's table has the values of the database."""
    return all(float(part["duckdb"]["values"][row["name"]]) == float(row["result"])
               for row in part["candidates"] if row["name"] in part["duckdb"]["values"])


def wrong(part):
    """What failed: the views whose row is not their SELECT's, to the bit. None if there are none."""
    failures = [f"{row['sql']} ({row['device']}, {row['kind']}): {row['result']}, not "
                f"{row['expected']}"
                for row in part["candidates"] + part["small"] + part["large"] + part["keyed"]
                if not row["same"]]
    if part["duckdb"] and not same_values(part):
        failures.append("DuckDB's table has other values")
    return "; ".join(failures) or None


def large_database(tools, device):
    """The path of the database with a large column, or None where no GPU reads it."""
    return tools.large_database(LARGE_ROWS) if "auto" in devices(device) else None


def measure_large(tools, device):
    """The resident sum and histogram of a large column, on a GPU."""
    path = large_database(tools, device)
    if path is None:
        return []
    method.say("views: a large table")
    lines = tools.compare_views(path, [("auto", "again", sql) for _, sql in LARGE], ROUNDS, SECONDS,
                                DEVICE_WAIT)
    return [{"name": name, **found, "rows": LARGE_ROWS,
             "time_ns": method.summary(found["ns"]),
             "same": found["result"] == found["expected"]}
            for (name, _), found in zip(LARGE, lines)]


def measure(tools, machine):
    """All of it, and what failed or None."""
    settings = devices(machine["device"])
    path = tools.view_database()
    method.say("views")
    reference, candidates = compare(
        tools, REFERENCE,
        [(device, *candidate) for device in settings
         for candidate in candidates_of(tools.view_rows)], ROUNDS,
        device_wait(tools, tools.view_rows))
    method.say("views: a small table")
    plain, small = compare(tools, SMALL, [(device, "200 rows", "again", SMALL)
                                          for device in settings], SMALL_ROUNDS, 0)
    method.say("views: few rows")
    keyed = measure_keyed(tools)
    part = {"rows": tools.view_rows, "keyed": keyed, "file_bytes": os.path.getsize(path),
            "reference": reference, "candidates": candidates,
            "small_reference": plain, "small": small,
            "large": measure_large(tools, machine["device"]),
            "duckdb": measure_duckdb(tools.view_rows, machine["cores"])}
    return part, wrong(part)
