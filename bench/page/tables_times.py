"""The raw tables of views of times, of joins and of sqlite-columnar's queries, as Markdown; None where they were not
measured."""

from page import found
from page.words import duration, same, table, times, times_as_fast


def wanted(limit):
    """How many times as fast something is wanted to be."""
    return "" if limit is None else f"≥ {times_as_fast(limit)}"


def rows_of(part):
    """A line for each question, on each device, of a first query and of later ones."""
    for row in part["results"]:
        theirs = []
        for peer in ("duckdb", "duckdb_text"):
            theirs += [duration(row[f"{peer}_ns"]["median"]), times_as_fast(row[f"{peer}_speed"])
                       ] if f"{peer}_ns" in row else ["", ""]
        yield (row["name"], row["device"], found.view_state(row), times(row["time_ns"]),
               duration(row["sqlite_ns"]), times_as_fast(row["speed"]), wanted(row["wanted"]), *theirs[:2],
               wanted(row["wanted_duckdb"]), *theirs[2:], row["plan"], same(row["same"]))


def joins(results):
    """Views of joins: the queries of the Star Schema Benchmark."""
    part = results["parts"].get("star")
    if not part:
        return None
    return ("### Joins\n\n"
            f"The thirteen queries of the Star Schema Benchmark, over {part['rows']:,} rows of lineorder.\n"
            "SQLite runs each SELECT once, with its own functions. DuckDB has the tables in memory, and all\n"
            "threads. A view's rows are compared with its SELECT's, to the bit.\n\n"
            + table(("query", "device", "columns", "time:", "SQLite:", "speed:", "wanted:", "DuckDB:", "speed:", "wanted:",
                     "plan", "result"), (row[:10] + row[12:] for row in rows_of(part))))


def times_of_events(results):
    """Views of TEXT that hardly repeats: timestamps and URLs."""
    part = results["parts"].get("time")
    if not part:
        return None
    return ("### Times\n\n"
            f"{part['rows']:,} events of five years, whose timestamp and URL are TEXT and hardly repeat.\n"
            "SQLite runs each SELECT once, with its own functions. DuckDB has the events in memory, their\n"
            "times as TIMESTAMP and as text, and all threads. A view's rows are compared with its SELECT's,\n"
            "to the bit, and DuckDB's with SQLite's, but for the rounding of sums.\n\n"
            + table(("question", "device", "columns", "time:", "SQLite:", "speed:", "wanted:", "DuckDB, TIMESTAMP:",
                     "speed:", "wanted:", "DuckDB, text:", "speed:", "plan", "result"), rows_of(part)))


def columnar(results):
    """Views with the queries of sqlite-columnar's benchmark."""
    part = results["parts"].get("columnar")
    if not part:
        return None
    lines = ((row["name"], row["device"], found.view_state(row), times(row["time_ns"]), duration(row["sqlite_ns"]),
              times_as_fast(row["speed"]), times_as_fast(row["published_speed"]), duration(row["published_ns"]),
              *((duration(row["duckdb_ns"]["median"]), times_as_fast(row["duckdb_speed"])) if "duckdb_ns" in row else ("", "")),
              row["plan"], same(row["same"])) for row in part["results"])
    return ("### sqlite-columnar's queries\n\n"
            f"{part['rows']:,} rows of the shape of its benchmark. What it says of itself was measured on another machine,\n"
            "with functions of its own, over a copy of the table, which took it 133 s to make. SQLite runs each SELECT once.\n"
            "DuckDB has the columns in memory, and all threads.\n\n"
            + table(("question", "device", "columns", "time:", "SQLite:", "speed:", "sqlite-columnar's speed:", "its time:",
                     "DuckDB:", "speed:", "plan", "result"), lines))
