"""Raw tables of what the pictures of a machine's page draw, as Markdown.

Each function is given results and returns a section, or None where its part was not measured.
"""

from page.words import (bandwidth, byte_label, duration, same, speed, table, times, times_as_fast,
                        times_of)

#: What stands for a query that does not come, as in measuring/queries.py.
FURTHEST = 1_000_000


def scale(results):
    """A sum over tables of different sizes."""
    part = results["parts"].get("scale")
    if not part:
        return None
    rows = [(f"{row['rows']:,}", row["device"], row["kind"].replace("select", ""),
             times(row["time_ns"]), row.get("plan", ""), same(row.get("same")))
            for row in sorted(part, key=lambda row: row["rows"])]
    return ("### Rows\n\n"
            "A view's first query, after its columns were evicted, and again with the column\n"
            "resident; SQLite's sum; and DuckDB's, over a table of its own in memory.\n\n"
            + table(("rows:", "who", "query", "time:", "plan", "result"), rows))


def ahead(row):
    """From which query on one is ahead of another in total time, and until which."""
    if row["ahead_from"] >= FURTHEST:
        return "not once in the first thousand queries"
    until = "" if row["ahead_until"] >= FURTHEST else f", until query {row['ahead_until']:,}"
    return f"from query {row['ahead_from']:,} on{until}"


def queries(results):
    """The total time of a number of queries."""
    part = results["parts"].get("queries")
    if not part:
        return None
    rows = [(way["name"], times(way["first_ns"]), times(way["each_ns"]),
             *(duration(mark["time_ns"]["median"]) + ("" if mark["measured"] else " *")
               for mark in way["marks"] if mark["queries"] in (10, 100, 1000)))
            for way in part["ways"]]
    told = [(row["name"], row["against"], ahead(row)) for row in part["break_even"]]
    imported = f" DuckDB imported {part['imported']}." if part["imported"] else ""
    return ("### Queries\n\n"
            f"`{part['sql']}`, {part['rows']:,} rows, again and again in a process of its own.\n"
            "The first query's time has everything before it in it: connecting, loading the\n"
            f"extension, creating the view, reading or importing.{imported}\n"
            "With an asterisk: not run, but continued from the median of the later queries.\n\n"
            + table(("who", "first:", "each of the later ones:", "10 in all:", "100 in all:",
                     "1,000 in all:"), rows)
            + "\n" + table(("ahead in total time", "of", "when"), told))


def ulps(count):
    """An error."""
    return "0" if count == 0 else f"{count:,.1f}" if count < 1e6 else f"{count:.1e}"


def accuracy(results):
    """Errors and times."""
    part = results["parts"].get("accuracy")
    if not part:
        return None
    rows = [(row["name"], row["threads"] or "", ulps(row["ulps"]),
             f"{row['time_ns']['median'] / part['values']:.2f}", times(row["time_ns"]),
             row["result"]) for row in part["results"]]
    return ("### Accuracy\n\n"
            f"{part['values']:,} values that cancel: the sum's condition number is "
            f"{part['condition']:.2e}. An error\nis counted in units of the right sum's last "
            "place.\n\n"
            + table(("sum by", "threads:", "error in ulps:", "ns a value:", "time:", "result:"),
                    rows))


def exponents(results):
    """The exact sum and the plain read, by the spread of the exponents."""
    lines = results["parts"].get("exponents")
    if not lines:
        return None
    rows = [(line["spread"], "host" if line["device"] == "host" else "device", line["name"],
             times(times_of(line)), bandwidth(line),
             "" if line["share_of_read"] is None else times_as_fast(line["share_of_read"]))
            for line in lines]
    return ("### Exponents\n\n"
            f"A sum of {byte_label(lines[0]['bytes'])} whose values have exponents that are spread "
            "over so many bits; on\none thread of the host, and on the device. A speed is how many "
            "times it is as fast as\nthe plain read above it: where the device is the processor, "
            "the host's with all threads.\n\n"
            + table(("bits:", "where", "what", "time:", "GB/s:", "speed:"), rows))


def changes(results):
    """A view's next query after pages were changed."""
    part = results["parts"].get("changes")
    if not part:
        return None
    rows = [(row["device"], "all read anew" if row["anew"] else f"{row['pages']:,}",
             times(row["time_ns"]), times(row["sum_time_ns"]), speed(row["speed"]),
             byte_label(row["bytes_decoded"]), same(row["same"])) for row in part["results"]]
    return ("### Changes\n\n"
            f"`{part['sql']}`, {part['rows']:,} rows, right after another connection changed pages "
            "of the table\nin WAL mode. A speed is how many times the view is as fast as SQLite's "
            "sum.\n\n"
            + table(("device", "pages changed:", "time:", "SQLite's sum:", "speed:", "read:",
                     "result"), rows))
