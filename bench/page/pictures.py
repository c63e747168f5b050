"""The five pictures of a machine's page.

Each function is given results and a machine's name, and returns SVG, or None where its part was
not measured.
"""

from page import charts
from page.words import duration

#: Whoever is drawn has the same colour and marker in every picture.
BLUE, RED, GREEN, OCHRE, PURPLE, PINK, GREY, TEAL = range(8)
LOOKS = {"SQLite": (GREY, "square"), "host": (BLUE, "circle"), "auto": (GREEN, "triangle"),
         "DuckDB": (OCHRE, "diamond")}
#: The same for ways to sum, by how their names begin.
SUM_LOOKS = (("gpu_sum, fed", (TEAL, "circle")), ("gpu_sum, view, host", LOOKS["host"]),
             ("gpu_sum, view", LOOKS["auto"]), ("SQLite's", LOOKS["SQLite"]),
             ("sum of SQLite", (GREY, "triangle")), ("math.fsum", (RED, "square")),
             ("NumPy", (PURPLE, "triangle")), ("DuckDB's fsum", (PINK, "diamond")),
             ("DuckDB", LOOKS["DuckDB"]))
NAMES = {"host": "host", "auto": "GPU"}


def count_label(count):
    """A number of things."""
    return f"{count:,.0f}"


def superscript(power):
    """A power of ten, written as such where it is long."""
    if power == 0:
        return "1"
    digits = str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{digits}"


def powers_of_ten(values):
    """Those from the least of some numbers to the greatest."""
    return [10 ** power for power in range(10) if min(values) <= 10 ** power <= max(values)]


def time_axis(label, values):
    """A logarithmic axis of times in ns."""
    return charts.logarithmic(label, values, duration)


def scale(results, machine):
    """The time of a sum against the rows of its table."""
    part = results["parts"].get("scale")
    if not part:
        return None
    series = {}
    for row in part:
        series.setdefault((row["device"], row["kind"]), []).append(row)
    drawn = []
    for (device, kind), rows in series.items():
        colour, marker = LOOKS[device]
        name = {"SQLite": "SQLite's sum", "DuckDB": "DuckDB, its own table"}.get(device)
        if name is None:
            name = f"view, {NAMES[device]}, {'first' if kind == 'first' else 'later'}"
        rows = sorted(rows, key=lambda row: row["rows"])
        drawn.append(charts.Series(
            name, [(row["rows"], row["time_ns"]["median"]) for row in rows], colour, marker,
            dash=charts.DASHED if kind == "first" else "",
            ranges=[(row["rows"], row["time_ns"]["min"], row["time_ns"]["max"]) for row in rows]))
    sizes = [row["rows"] for row in part]
    return charts.draw(
        f"Time of a sum against rows, {machine}",
        charts.logarithmic("rows of the table", sizes, count_label, ticks=powers_of_ten(sizes)),
        time_axis("time of a query", [row["time_ns"][end] for row in part
                                      for end in ("min", "max")]),
        drawn, "Less is better. Dashed: the first query, which reads the pages. Thin lines reach "
               "from the least to the greatest of all runs.")


def queries(results, machine):
    """The total time of queries against their number."""
    part = results["parts"].get("queries")
    if not part:
        return None
    drawn, times = [], []
    for way in part["ways"]:
        device = way["name"].removeprefix("view, ")
        colour, marker = LOOKS[device]
        points = [(mark["queries"], mark["time_ns"]["median"]) for mark in way["marks"]]
        times += [time for _, time in points]
        measured = sum(mark["measured"] for mark in way["marks"])
        name = {"SQLite": "SQLite's sum", "DuckDB": "DuckDB, with import"}.get(
            device, f"view, {NAMES.get(device)}, with load")
        drawn.append(charts.Series(name, points[:measured], colour, marker))
        if measured < len(points):
            drawn.append(charts.Series("", points[max(measured - 1, 0):], colour, "",
                                       charts.DASHED))
    return charts.draw(
        f"Total time against the number of queries, {machine}",
        charts.logarithmic("queries, one after the other",
                           [mark["queries"] for way in part["ways"] for mark in way["marks"]],
                           count_label),
        time_axis("time since before connecting", times), drawn,
        f"Less is better. A sum of {part['rows']:,} rows. Dashed: continued from the median of the "
        "later queries.")


def sum_looks(name):
    """The colour and marker of a way to sum."""
    return next(looks for beginning, looks in SUM_LOOKS if name.startswith(beginning))


def accuracy(results, machine):
    """The error of sums against what they cost."""
    part = results["parts"].get("accuracy")
    if not part:
        return None
    rows = [(row, row["time_ns"]["median"] / part["values"]) for row in part["results"]]
    y_axis = charts.logarithmic("error in ulps", [1, *(max(row["ulps"], 10) for row, _ in rows)],
                                lambda value: superscript(round(len(f"{value:.0f}")) - 1),
                                factor=30)
    # What has no error stands on a line of its own, below one ulp.
    y_axis.low = 1 / 30
    y_axis.ticks = [(y_axis.low, "0")] + [tick for tick in y_axis.ticks if tick[0] >= 1]
    drawn = [charts.Series(row["name"].replace("view, auto", "view, GPU"), [(time, row["ulps"])],
                           *sum_looks(row["name"]), joined=False) for row, time in rows]
    return charts.draw(
        f"Error against time, {machine}",
        charts.logarithmic("ns a value", [time for _, time in rows], "{:,g}".format, factor=1.5),
        y_axis, drawn,
        f"Less is better on both axes; 0 is rounded correctly. {part['values']:,} values whose sum "
        f"has the condition number {part['condition']:.1e}.")


def exponents(results, machine):
    """The exact sum's speed against the spread of the exponents."""
    lines = [line for line in results["parts"].get("exponents", ()) if line["name"] == "exact"]
    if not lines:
        return None
    spreads = sorted({line["spread"] for line in lines})
    series = {}
    for line in lines:
        series.setdefault(line["device"], {})[line["spread"]] = line["share_of_read"]
    drawn = []
    for device, shares in series.items():
        colour, marker = LOOKS["host" if device == "host" else "auto"]
        kind = (results["machine"]["device"] or {}).get("type", "")
        name = "host, one thread" if device == "host" else f"device ({kind.upper()})"
        drawn.append(charts.Series(name, [(spreads.index(spread), share)
                                          for spread, share in sorted(shares.items())],
                                   colour, marker))
    shares = [line["share_of_read"] for line in lines]
    y_axis = charts.logarithmic("times as fast as a plain read", [*shares, 1], "{:g}×".format)
    return charts.draw(
        f"Exact sum against the spread of exponents, {machine}",
        charts.places("bits over which the exponents are spread", list(map(str, spreads))),
        y_axis, drawn,
        "More is better. A device is held against its own plain read; a CPU against the host's "
        "with all threads.")


def changes(results, machine):
    """The time of a view's next query against the pages that were changed."""
    part = results["parts"].get("changes")
    if not part:
        return None
    drawn, times, pages = [], [], []
    by_device = {}
    for row in part["results"]:
        by_device.setdefault(row["device"], []).append(row)
    for device, rows in by_device.items():
        colour, marker = LOOKS[device]
        changed = sorted((row["pages"], row["time_ns"]["median"]) for row in rows if row["pages"])
        if not changed:
            continue
        ends = [changed[0][0], changed[-1][0]]
        pages += ends
        drawn.append(charts.Series(f"view, {NAMES[device]}", changed, colour, marker))
        times += [time for _, time in changed]
        for row in rows:
            if not row["pages"]:
                name = f"{NAMES[device]}, {'all read anew' if row['anew'] else 'nothing changed'}"
                time = row["time_ns"]["median"]
                drawn.append(charts.Series(name, [(end, time) for end in ends], colour, "",
                                           charts.DASHED if row["anew"] else charts.DOTTED))
                times.append(time)
    rows = [row for row in by_device[next(iter(by_device))] if row["pages"]]
    plain = sorted((row["pages"], row["sum_time_ns"]["median"]) for row in rows)
    drawn.append(charts.Series("SQLite's sum", plain, *LOOKS["SQLite"]))
    return charts.draw(
        f"Time of the next query against changed pages, {machine}",
        charts.logarithmic("pages changed since the last query", pages, count_label,
                           ticks=powers_of_ten(pages)),
        time_axis("time of a query", times + [time for _, time in plain]), drawn,
        f"Less is better. A table of {part['rows']:,} rows in WAL mode; the last point has all of "
        "its pages.")


#: The pictures by their names, in the order of the page.
PICTURES = {"scale": scale, "queries": queries, "accuracy": accuracy, "exponents": exponents,
            "changes": changes}
