"""One sum over tables of 1,000 rows, 10,000 and so on: SQLite's, views' and DuckDB's.

A first query is that of a view whose columns were evicted, so that it reads the pages; the later
ones find the column resident. DuckDB has a table of its own in memory, and all threads.
"""

from measuring import method
from measuring import peers
from measuring import views
from measuring.tools import scale_sizes, scale_table

#: Rounds at most, and the seconds after which there are enough of them.
ROUNDS, SECONDS = 5, 5
DUCKDB_SECONDS = 0.5


def candidates(rows, settings):
    """What runs over a table: (device, kind, SELECT)."""
    table = scale_table(rows)
    yield "host", "select", f"SELECT sum(x) FROM {table}"
    for device in settings:
        for kind in ("first", "again"):
            yield device, kind, f"SELECT gpu_sum(x) FROM {table}"


def measure_duckdb(rows, cores):
    """DuckDB's sum over so many rows, or None where there is no DuckDB."""
    duckdb = peers.find("duckdb")
    if duckdb is None:
        return None
    connection = peers.duckdb_table(duckdb, rows)
    connection.execute(f"SET threads = {cores}")
    times, = method.take_turns(
        [method.timed(lambda: connection.execute("SELECT sum(x) FROM t").fetchall())], ROUNDS,
        DUCKDB_SECONDS)
    connection.close()
    return {"rows": rows, "device": "DuckDB", "kind": "select", "ns": times,
            "time_ns": method.summary(times)}


def measure(tools, machine):
    """The results, and what failed or None."""
    settings = views.devices(machine["device"])
    counts = scale_sizes(tools.rows)
    path = tools.scale_database(tools.rows)
    method.say("scale: SQLite and views")
    # The largest comes first: where that is for the device, the others are not waited for as long.
    chosen = [(rows, *candidate) for rows in reversed(counts)
              for candidate in candidates(rows, settings)]
    lines = tools.compare_views(path, [candidate[1:] for candidate in chosen], ROUNDS, SECONDS,
                                views.device_wait(tools, max(counts)))
    results = []
    for (rows, device, kind, sql), found in zip(chosen, lines):
        row = {"rows": rows, "device": "SQLite" if kind == "select" else device, "kind": kind,
               "sql": sql, "ns": found["ns"], "time_ns": method.summary(found["ns"])}
        if kind != "select":
            row.update(plan=found["plan"], same=found["result"] == found["expected"])
        results.append(row)
    method.say("scale: DuckDB")
    results += filter(None, (measure_duckdb(rows, machine["cores"]) for rows in counts))
    wrong = [f"{row['sql']} ({row['device']}, {row['kind']}) is not its SELECT's"
             for row in results if not row.get("same", True)]
    return results, "; ".join(wrong) or None
