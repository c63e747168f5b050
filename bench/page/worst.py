"""The worst cases beside the best ones, and where DuckDB is faster.

Each case is a label and a speed: how many times something is as fast as what it is held against.
"""

from page import found
from page.words import byte_label, duration, mebibytes, table, times_as_fast


def ends(what, cases):
    """A line of the table: the slowest case and the quickest one; none without cases."""
    cases = sorted(cases, key=lambda case: case[1])
    if not cases:
        return []
    told = [f"{times_as_fast(speed)}: {label}" for label, speed in (cases[0], cases[-1])]
    return [(what, *told)] if len(cases) > 1 else [(what, told[0], "")]


def exact_cases(results, on_host):
    """The exact sum, dot and extremes against a plain read, of what is not over at once."""
    for part in ("kernel", "host", "exponents"):
        for line in found.lines(results, part, 16 * found.MIB):
            if (line["share_of_read"] is None or not line["name"].startswith("exact")
                    or "wall" in line["name"] or (line["device"] == "host") != on_host):
                continue
            label = f"{line['operation']}, {line['element'].upper()}, {byte_label(line['bytes'])}"
            if "spread" in line:
                label += f", exponents spread over {line['spread']} bits"
            elif "all exponents" in line["name"]:
                label += ", all exponents"
            yield label, line["share_of_read"]


def fed_cases(results):
    """Functions fed by rows against SQLite's own, and its nearest."""
    for case in results["parts"].get("feed", ()):
        yield case["name"], case["statements"][1]["speed"]["median"]
    for case in results["parts"].get("statistics", {}).get("fed", ()):
        ours, *others = case["statements"]
        for other in others:
            if other["sql"] != ours["sql"]:
                yield f"{case['name']}, against `{call(other['sql'])}`", other["speed"]["median"]


def call(sql):
    """What a statement is about."""
    return sql.removeprefix("SELECT ").removesuffix(" FROM t")


def question_rows(results):
    """The lines of the parts whose questions are SELECTs of their own, each with the part's name."""
    for part, lines in (("groups", "rows"), ("time", "results"), ("star", "results")):
        for row in (results["parts"].get(part) or {}).get(lines, ()):
            yield part, row


def view_cases(results):
    """Views against the SELECTs that SQLite runs."""
    part = results["parts"].get("views", {})
    for row in part.get("candidates", ()):
        yield (f"{row['name']}, {found.view_state(row)}, {row['device']}, against sum(x)",
               row["speed"]["median"])
    for row in part.get("small", ()):
        yield f"200 rows, {row['device']}, against its SELECT", row["speed"]["median"]
    for row in part.get("keyed", ()):
        yield f"{row['name']}, {row['kind']}, against its SELECT", row["speed"]["median"]
    for row in results["parts"].get("statistics", {}).get("views", ()):
        yield (f"{row['name']}, {found.view_state(row)}, {row['device']}, against its SELECT",
               row["speed"]["median"])
    for part, row in question_rows(results):
        if "speed" in row:
            yield (f"{part}: {row['name']}, {found.view_state(row)}, {row['device']}, against SQLite", row["speed"])


def first_cases(results):
    """The first query of a process, against SQLite's sum."""
    part = results["parts"].get("first")
    if part:
        yield (f"{duration(part['auto_ns']['median'])} for {part['rows']:,} rows",
               part["speed_over_sum"]["median"])


def change_cases(results):
    """The next query after pages were changed, against SQLite's sum."""
    for row in results["parts"].get("changes", {}).get("results", ()):
        what = "all pages read anew" if row["anew"] else f"{row['pages']:,} changed pages"
        yield f"{what}, {row['device']}", row["speed"]["median"]


def memory_lines(results):
    """What memory it takes, without a best case."""
    parts = results["parts"]
    peaks = {row["name"]: row["peak_bytes"]["median"] for row in parts.get("memory", ())}
    if "sum" in peaks:
        told = "; ".join(f"{name}: {mebibytes(peak)}" for name, peak in peaks.items())
        rows = parts["memory"][0]["rows"]
        yield f"memory: peak of a process that feeds {rows:,} rows", told, ""
    views = parts.get("views")
    if views:
        size = max((row["columns"].get("v.x", 0) for row in views["candidates"]), default=0)
        yield ("memory: a resident column of a view", f"{byte_label(size)} for {views['rows']:,} "
               f"rows, of a file of {byte_label(views['file_bytes'])}", "")


def duckdb_views(results):
    """Resident views against DuckDB with all threads: a label, our time, and DuckDB's."""
    views = results["parts"].get("views") or {}
    statistics = results["parts"].get("statistics") or {}
    for ours, theirs in ((views.get("candidates", ()), (views.get("duckdb") or {}).get("results")),
                         (statistics.get("views", ()), statistics.get("duckdb"))):
        for duckdb in found.with_all_threads(theirs, results):
            for row in ours:
                if (row["name"], row["kind"]) == (duckdb["name"], "again"):
                    yield (f"view of {row['name']}, resident, {row['device']}",
                           row["time_ns"]["median"], duckdb["time_ns"]["median"])
    for part, row in question_rows(results):
        if row["kind"] == "again" and "duckdb_ns" in row:
            yield (f"view, {part}: {row['name']}, resident, {row['device']}",
                   row["time_ns"]["median"], row["duckdb_ns"]["median"])


def duckdb_fed(results):
    """Functions fed by rows against DuckDB with all threads, in the same form."""
    part = results["parts"].get("statistics") or {}
    for duckdb in found.with_all_threads(part.get("duckdb"), results):
        statement = found.fed_statistic(part, duckdb["name"])
        if statement:
            yield (f"{duckdb['name']}, fed by rows", statement["time_ns"]["median"],
                   duckdb["time_ns"]["median"])
    peers = (results["parts"].get("peers") or {}).get("results", ())
    theirs = {row["operation"]: row["time_ns"]["median"]
              for row in found.with_all_threads([row for row in peers if row["peer"] == "DuckDB"],
                                          results)}
    twins = {"gpu_sum(x)": "sum(x)", "gpu_max(x)": "max(x)", "gpu_dot(x, y)": "sum(x * y)"}
    for row in peers:
        twin = twins.get(row["operation"])
        if twin in theirs and row["peer"] == "clreduce, auto":
            yield f"{row['operation']}, fed by rows", row["time_ns"]["median"], theirs[twin]


def speeds(cases):
    """Cases of two times as cases of a speed."""
    return [(label, theirs / ours) for label, ours, theirs in cases]


def duckdb_wins(results):
    """A table of what DuckDB does faster, the widest gap first; or an empty text."""
    cases = [case for case in (*duckdb_views(results), *duckdb_fed(results)) if case[1] > case[2]]
    if not cases:
        return ""
    cases.sort(key=lambda case: case[2] / case[1])
    return ("\nWhere DuckDB is faster, with all threads and its own table in memory:\n\n"
            + table(("what", "here:", "DuckDB:", "times as fast as DuckDB:"),
                    [(label, duration(ours), duration(theirs), times_as_fast(theirs / ours))
                     for label, ours, theirs in cases]))


def section(results):
    """The worst and the best cases; None where nothing of them was measured."""
    kind = (results["machine"]["device"] or {"type": ""})["type"].upper()
    rows = [*ends(f"exact kernels on the device, a {kind}, against a plain read",
                  exact_cases(results, False)),
            *ends("exact sums on one thread of the host, against its plain read",
                  exact_cases(results, True)),
            *ends("fed by rows, against SQLite", fed_cases(results)),
            *ends("views, against SQLite", view_cases(results)),
            *ends("first query of a process, cold caches, against SQLite's sum",
                  first_cases(results)),
            *ends("next query after changes, against SQLite's sum", change_cases(results)),
            *ends("resident views, against DuckDB with all threads",
                  speeds(duckdb_views(results))),
            *ends("fed by rows, against DuckDB with all threads", speeds(duckdb_fed(results))),
            *memory_lines(results)]
    if not rows:
        return None
    return ("## The worst and the best\n\nHow many times as fast, at the slowest case and the "
            "quickest one that was measured.\n\n"
            + table(("what", "at its worst", "at its best"), rows) + duckdb_wins(results))
