"""The raw table of views with GROUP BY and DISTINCT, as Markdown; None where it was not measured."""

from page import found
from page.words import duration, same, table, times, times_as_fast


def rows_of(part):
    """A line for each question."""
    for row in part["rows"]:
        theirs = (duration(row["duckdb_ns"]["median"]), times_as_fast(row["duckdb_speed"])
                  ) if "duckdb_ns" in row else ("", "")
        sqlite = (duration(row["sqlite_ns"]), times_as_fast(row["speed"])
                  ) if "sqlite_ns" in row else ("", "")
        yield (row["name"], f"{row['groups']:,}", row["device"], found.view_state(row),
               times(row["time_ns"]), *sqlite, *theirs, row["plan"],
               same(row["same"]) if "same" in row else "not compared")


def groups(results):
    """Views with GROUP BY and DISTINCT."""
    part = results["parts"].get("groups")
    if not part or not part["rows"]:
        return None
    return ("### Groups\n\n"
            "h2oai's groupby queries over as many rows as the page says, TPC-H's Q1, 3 million\n"
            "flights. SQLite runs each query once, in one of the runs alone, with its own functions\n"
            "where it has them. DuckDB has its own table in memory and all threads. All rows are\n"
            "delivered: SQLite's and the views' to a program in C, DuckDB's to Python or into a\n"
            "table of its own, whichever is quicker. The view's rows are compared with its SELECT's\n"
            "in the same run, to the bit, h2oai's over a tenth of the rows.\n\n"
            + table(("question", "rows:", "device", "columns", "time:", "SQLite:", "speed:",
                     "DuckDB:", "speed:", "plan", "result"), rows_of(part)))
