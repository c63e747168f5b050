"""The raw tables of statistics, order statistics and states, as Markdown."""

from page import found
from page.words import byte_label, same, speed, table, times, times_as_fast


def call(statement):
    """What a statement is about, as it stands in the tables."""
    return f"`{statement['sql'].removeprefix('SELECT ').removesuffix(' FROM t')}`"


def fed_rows(part):
    """A line for each statement that a function fed by rows is held against."""
    def per_row(statement):
        return f"{statement['time_ns']['median'] / part['rows']:.1f}"

    for case in part["fed"]:
        ours, *others = case["statements"]
        head = (call(ours), per_row(ours))
        if not others:
            yield (*head, "", "", "", "")
        for other in others:
            name = call(other) + (" (host)" if other["device"] == "host" else "")
            name += f", {case['sqlite']}" if "sqlite" in case else ""
            yield (*head, name, per_row(other), speed(other["speed"]), same(other["agrees"]))
            head = ("", "")


def view_rows(part):
    """A line for each view of a statistic."""
    for row in part["views"]:
        read = byte_label(row["bytes_decoded"]) if row["bytes_decoded"] else ""
        columns = "" if row["plan"].startswith("row by row") else found.view_state(row)
        yield (call(row), row["device"], columns, times(row["time_ns"]),
               times(row["select_time_ns"]), speed(row["speed"]), read, row["plan"],
               same(row["same"]))


def several(part):
    """A sentence on several statistics in one view, or an empty text."""
    told = [f"{row['name']} over {row['one']}, {row['device']}: {speed(row['over_one'])}"
            for row in part["views"] if "one" in row]
    if not told:
        return ""
    return ("\nHow many times a view of several statistics is as fast as that of one: "
            f"{'; '.join(told)}.\n")


def duckdb_row(part, row):
    """One of DuckDB's functions beside ours, fed by rows and in the resident views."""
    def fast(ours):
        return times_as_fast(row["time_ns"]["median"] / ours["time_ns"]["median"])

    fed = found.fed_statistic(part, row["name"])
    resident = [f"{other['device']}: {fast(other)}" for other in part["views"]
                if (other["name"], other["kind"]) == (row["name"], "again")]
    return (call(row), row["threads"], times(row["time_ns"]), fast(fed) if fed else "",
            ", ".join(resident))


def duckdb(part):
    """DuckDB beside the functions fed by rows and the resident views."""
    if not part["duckdb"]:
        return ""
    return ("\nDuckDB, from its own table in memory; the last columns have its median over that\n"
            "of our function fed by rows and over that of the resident view.\n\n"
            + table(("DuckDB", "threads:", "time:", "fed, as fast:", "view, as fast:"),
                    [duckdb_row(part, row) for row in part["duckdb"]]))


def statistics(results):
    """Statistics, order statistics and states."""
    part = results["parts"].get("statistics")
    if not part:
        return None
    return ("### Statistics\n\n"
            f"{part['rows']:,} rows in a file of {byte_label(part['file_bytes'])} that the\n"
            "system holds in memory, read back from disk. Times in ns for each of them; a speed\n"
            "is how many times our function, fed by rows as well, is as fast. SQLite's\n"
            "expressions find the same in inexact arithmetic. The states and the sums that are\n"
            "merged are those of groups of ten rows.\n\n"
            + table(("fed by rows", "ns:", "against", "ns:", "speed:", "result"), fed_rows(part))
            + "\nViews of the same; a speed is how many times a view is as fast as its own SELECT\n"
            "fed by rows.\n\n"
            + table(("view of", "device", "columns", "time:", "its SELECT:", "speed:", "read:",
                     "plan", "result"), view_rows(part))
            + several(part) + duckdb(part))
