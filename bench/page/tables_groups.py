"""The raw table of views with GROUP BY and DISTINCT, as Markdown; None where it was not measured."""

from page import found
from page.words import duration, same, table, times, times_as_fast


def rows_of(part):
    """A line for each question."""
    for row in part["rows"]:
        theirs = (duration(row["duckdb_ns"]["median"]), times_as_fast(row["duckdb_speed"])
                  ) if "duckdb_ns" in row else ("", "")
        yield (row["name"], f"{row['groups']:,}", row["device"], found.view_state(row),
               times(row["time_ns"]), duration(row["sqlite_ns"]),
               times_as_fast(row["speed"]), *theirs, row["plan"], same(row["same"]))


def groups(results):
    """Views with GROUP BY and DISTINCT."""
    part = results["parts"].get("groups")
    if not part or not part["rows"]:
        return None
    return ("### Groups\n\n"
            "h2oai's groupby queries over as many rows as the page says, TPC-H's Q1, 3 million\n"
            "flights. SQLite runs each query once, with its own functions where it has them. DuckDB\n"
            "has its own table in memory and all threads. All rows are delivered: SQLite's and the views' to a\n"
            "program in C, DuckDB's to Python or into a table of its own, whichever is quicker.\n"
            "The view's rows are compared with its SELECT's, to the bit, h2oai's over a tenth of the\n"
            "rows.\n\n"
            + table(("question", "rows:", "device", "columns", "time:", "SQLite:", "speed:",
                     "DuckDB:", "speed:", "plan", "result"), rows_of(part)))
