"""The raw table of connections that ask the same views, as Markdown; None where it was not measured."""

from page.words import duration, mebibytes, same, table, times_as_fast


def bytes_of(row, when, what):
    """What memory was taken then, where it was measured."""
    return mebibytes(row[when][what]) if row.get(when, {}).get(what) else ""


def optional(row, name):
    """A quotient, where there is one."""
    return times_as_fast(row[name]) if name in row else ""


def rows_of(part):
    """A line for each pool."""
    for row in part["results"]:
        yield (row["device"], row["connections"], f"{row['commits']:g}", f"{row['per_second']:,.4g}",
               optional(row, "against_one"), duration(row["p50_ns"]), duration(row["p99_ns"]),
               duration(row["longest_ns"]), same(row.get("same")))


def rows_of_memory(part):
    """A line for each pool whose memory is known."""
    for row in part["results"]:
        if "columns_against_one" in row:
            yield (row["device"], row["connections"], f"{row['commits']:g}",
                   *(bytes_of(row, when, what) for what in ("columns", "process")
                     for when in ("one_bytes", "all_bytes")),
                   optional(row, "memory_against_one"), bytes_of(row, "end_bytes", "process"),
                   duration(row["first_ns"]), duration(max(row["others_ns"])),
                   duration(row["again_ns"]), optional(row, "others_against_again"))


def pool(results):
    """Pools of connections."""
    part = results["parts"].get("pool")
    if not part:
        return None
    return (f"### Pools of connections\n\n"
            f"Ten views of {part['rows']:,} rows are asked in turn by each connection of a process,\n"
            f"for {part['seconds']:g} s, beside a writer in WAL mode that changes a row in each commit.\n"
            "DuckDB has as many cursors, and a writer, on a table of its own in memory.\n\n"
            + table(("who", "connections:", "commits/s:", "queries/s:", "against one:", "median:",
                     "99%:", "longest:", "result"), rows_of(part))
            + "\nMemory of the columns and of the process, after the first connection's ten answers and\n"
            "after those of all. The quotient is of what the process has taken since before them. The\n"
            "times are those of the ten answers: the first connection's first ones, those of the\n"
            "slowest other connection, and the first connection's again.\n\n"
            + table(("who", "connections:", "commits/s:", "columns, one:", "all:", "process, one:",
                     "all:", "all against one:", "in the end:", "first:", "others:", "again:",
                     "others against again:"), rows_of_memory(part)))
