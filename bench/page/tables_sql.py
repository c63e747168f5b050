"""Raw tables of what runs in SQLite: the feed, views, first queries and peers, as Markdown.

Each function is given results and returns a section, or None where its part was not measured.
"""

import re

from page import found
from page.words import byte_label, duration, same, speed, table, times, times_as_fast


def statement_name(statement):
    """A statement of the feed, told from the others of its case."""
    call = re.match(r"SELECT (.*?)(?: OVER .*)? FROM", statement["sql"]).group(1)
    return f"`{call}`" + (" (host)" if statement["device"] == "host" else "")


def feed_rows(case):
    """A line for each comparison of a case; what is the same for all is in the first."""
    def per_row(statement):
        return f"{statement['time_ns']['median'] / case['rows']:.1f}"

    first, *others = case["statements"]
    head = (case["name"], f"{case['rows']:,}", per_row(first))
    for other in others:
        yield (*head, statement_name(other), per_row(other), speed(other["speed"]))
        head = ("", "", "")


def feed(results):
    """The aggregates beside SQLite's own."""
    cases = results["parts"].get("feed")
    if not cases:
        return None
    return ("### Feed\n\n"
            "Times in ns a row, with device auto unless it says host; a speed is how many times\n"
            "the case is as fast as what it is held against. `bench_noop` does nothing and\n"
            "`bench_context` only asks for its context: what SQLite itself spends on a row.\n\n"
            + table(("case", "rows:", "ns:", "against", "ns:", "speed:"),
                    [row for case in cases for row in feed_rows(case)]))


def view_rows(part):
    """A line for each view; "read" is what of the file it read."""
    for row in part["candidates"]:
        read = byte_label(row["bytes_decoded"]) if row["bytes_decoded"] else ""
        yield (f"`{row['sql']}`", row["device"], found.view_state(row), times(row["time_ns"]),
               speed(row["speed"]), duration(row["select_ns"]), read, row["plan"],
               same(row["same"]))


def view_bandwidth(results):
    """A sentence on the bandwidth of what reads a resident column once, or an empty text."""
    told = []
    part = results["parts"]["views"]
    for row in part["candidates"] + part.get("large", []):
        if (row["name"] not in ("sum(x)", "histogram(x)") or row["kind"] != "again"
                or not found.view_bandwidth(row)):
            continue
        plain = found.plain_read(results, row["device"] == "host")
        rows = f", {row['rows']:,} rows" if "rows" in row else ""
        told.append(f"{row['name']}, {row['device']}{rows}: {found.view_bandwidth(row):,.4g} GB/s"
                    + (f", beside {plain:,.4g} of a plain read" if plain else ""))
    return f"\nBandwidth of resident columns: {'; '.join(told)}.\n" if told else ""


def view_peers(part):
    """DuckDB beside the resident views."""
    if not part["duckdb"]:
        return ""
    rows = []
    for row in part["duckdb"]["results"]:
        theirs = row["time_ns"]["median"]
        ours = [(other["device"], theirs / other["time_ns"]["median"])
                for other in part["candidates"]
                if (other["name"], other["kind"]) == (row["name"], "again")]
        rows.append((row["name"], row["threads"], times(row["time_ns"]),
                     ", ".join(f"{device}: {times_as_fast(fast)}" for device, fast in ours)))
    return ("\nDuckDB, from its own table in memory; the last column has its median over that of\n"
            "the resident view.\n\n"
            + table(("DuckDB", "threads:", "time:", "the view is as fast:"), rows))


def view_small(part):
    """A table too small for a view to help."""
    plain = part["small_reference"]
    rows = [("the SELECT itself", "host", f"{plain['runs']:,}", times(plain["time_ns"]),
             duration(plain["mean_ns"]), "", "")]
    rows += [("a view of it", row["device"], f"{row['runs']:,}", times(row["time_ns"]),
              duration(row["mean_ns"]), speed(row["speed"]), row["plan"]) for row in part["small"]]
    return (f"\n`{plain['sql']}`, 200 rows, prepared once: what a view costs where it\n"
            "cannot help. A speed is that of the view over the SELECT.\n\n"
            + table(("", "device", "runs:", "time:", "mean:", "speed:", "plan"), rows))


def view_keyed(part):
    """What SQLite may answer by reading few rows."""
    rows = [(row["name"], row["kind"], times(row["plain_ns"]), times(row["time_ns"]),
             speed(row["speed"]), row["plan"]) for row in part["keyed"]]
    return (f"\n{part['rows'] // 2:,} rows with two indexes: what SQLite may answer by reading few of them. A speed is\n"
            "that of the view over its own SELECT.\n\n"
            + table(("rows", "queries", "SELECT:", "view:", "speed:", "plan"), rows))


def views(results):
    """Accelerated views beside the SELECTs that they hold."""
    part = results["parts"].get("views")
    if not part:
        return None
    plain = part["reference"]
    return ("### Accelerated views\n\n"
            f"{part['rows']:,} rows in a file of {byte_label(part['file_bytes'])} that the\n"
            "system holds in memory, read back from disk. A speed is how many times a view is as\n"
            f"fast as `{plain['sql']}`, which took\n"
            f"{times(plain['time_ns'])} in the same rounds. The view's own SELECT\n"
            "ran once, by SQLite's rows, and the bits of both results were compared.\n\n"
            + table(("view of", "device", "columns", "time:", "speed:", "its SELECT:", "read:",
                     "plan", "result"), view_rows(part))
            + view_bandwidth(results) + view_peers(part) + view_small(part) + view_keyed(part))


def first(results):
    """What the first query waited for."""
    part = results["parts"].get("first")
    if not part:
        return None
    figure = part["statistics"]
    start = {key: value * 1e6 for key, value in part["startup_ms"].items()}
    rows = (("device auto", times(part["auto_ns"])), ("device host", times(part["host_ns"])),
            ("SQLite's sum without the extension", times(part["none_ns"])),
            ("difference of auto and host", times(part["difference_ns"])),
            ("waited, device auto: neither running nor ready to", times(part["waited_ns"]["auto"])),
            ("waited, device host", times(part["waited_ns"]["host"])),
            ("of the device's start, done by then in the background", times(start)))
    return ("### The first query of a process, with cold caches\n\n"
            f"`{part['sql']}` over {part['rows']:,} rows, loading included, with nothing\n"
            "compiled before. With device auto it is "
            f"{speed(part['speed_over_host'])} as fast as on the\nhost, and "
            f"{speed(part['speed_over_sum'])} as fast as SQLite's sum.\n\n"
            + table(("", "time:"), rows) +
            f"\nOf its chunks, {figure['chunks_to_device']} went to the device; "
            f"{figure['host_before_start']} came before it was started, and "
            f"{figure['host_device_starting']} while it was starting.\n")


def peers(results):
    """SQLite, DuckDB, NumPy and Python side by side."""
    part = results["parts"].get("peers")
    if not part:
        return None
    rows = [(row["peer"], f"`{row['operation']}`", row["threads"] or "",
             f"{row['time_ns']['median'] / part['rows']:.2f}", times(row["time_ns"]),
             repr(row["result"])) for row in part["results"]]
    same = "have the same bits" if part["same_values"] else "**differ**"
    return ("### Peers\n\n"
            f"{part['rows']:,} values; SQLite reads them from a file row by row, DuckDB from its\n"
            "own table in memory, NumPy from an array, Python from a list.\n\n"
            + table(("", "operation", "threads:", "ns a value:", "time:", "result:"), rows)
            + f"\nThe exact sums, gpu_sum and math.fsum, {same}.\n")


def text_rows(part):
    """A line for each view of text."""
    for row in part["rows"]:
        yield (row["name"], row["device"], row["kind"], times(row["time_ns"]), speed(row["speed"]),
               times_as_fast(row["duckdb_speed"]) if "duckdb_speed" in row else "", row["plan"],
               same(row["same"]))


def text(results):
    """Views of text and dates."""
    part = results["parts"].get("text")
    if not part or not part["rows"]:
        return None
    return ("### Text and dates\n\n"
            "A speed is how many times a view is as fast as its own SELECT in SQLite; beside DuckDB\n"
            "it is that of the medians, DuckDB having its own table in memory and all threads.\n\n"
            + table(("question", "device", "columns", "time:", "speed:", "beside DuckDB:", "plan",
                     "result"), text_rows(part)))
