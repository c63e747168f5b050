"""Pictures beside the raw tables: the feed, views, statistics, bandwidth and the ladder.

Each function is given results and a machine's name, and returns SVG, or None where its part was
not measured.
"""

from page import charts
from page import found
from page import plots

#: A line of the bandwidth plot: its name, and the part, name, operation and type that it shows.
BANDWIDTH = (("plain read", "kernel", "plain read", "sum", "real"),
             ("host read, all threads", "kernel", "host read, all threads", "sum", "real"),
             ("exact sum, REAL", "kernel", "exact", "sum", "real"),
             ("exact sum, INTEGER", "kernel", "exact", "sum", "integer"),
             ("exact dot, REAL", "kernel", "exact", "dot", "real"),
             ("min/max, REAL", "kernel", "exact", "extremes", "real"),
             ("exact sum, REAL, with launch", "kernel", "exact, wall", "sum", "real"),
             ("host, exact sum, one thread", "host", "exact, one thread", "sum", "real"))

BLUE, GREEN, GREY = 0, 2, 6


def feed(results, machine):
    """How many times each case is as fast as SQLite's own, and as aggregates that do nothing."""
    cases = results["parts"].get("feed")
    if not cases:
        return None
    rows = [(case["name"], case["statements"][1]["speed"], BLUE) for case in cases]
    for case in cases:
        for name, statement in zip(("no-op", "no-op, context"), case["statements"][3:]):
            rows.append((f"{case['name']}, {name}", statement["speed"], GREY))
    return plots.bars(f"Fed by rows: speed over SQLite's own aggregate, {machine}",
                      "times as fast, more is better; thin lines reach from the least to the "
                      "greatest; grey: over an aggregate that does nothing",
                      rows, mark=1)


def views(results, machine):
    """How many times each view is as fast as SQLite's own sum."""
    part = results["parts"].get("views")
    if not part:
        return None
    rows = [(f"{row['name']}, {found.view_state(row)}, {row['device']}", row["speed"],
             BLUE if row["kind"] == "first" else GREEN) for row in part["candidates"]]
    return plots.bars(f"Accelerated views: speed over SELECT sum(x), {machine}",
                      "times as fast, logarithmic; blue: pages read, green: columns resident",
                      rows, mark=1, digits=1, logarithmic=True)


def fed_statistics(results, machine):
    """How many times the statistics are as fast as SQLite's, both fed by rows."""
    part = results["parts"].get("statistics")
    if not part:
        return None
    rows = []
    for case in part["fed"]:
        ours, *others = case["statements"]
        # Our own, on another device, is what a case may have besides.
        rows += [(f"{case['name']}, fed", other["speed"], BLUE)
                 for other in others if other["sql"] != ours["sql"]][:1]
    return plots.bars(f"Statistics fed by rows: speed over SQLite's nearest, {machine}", "times as fast, logarithmic",
                      rows, mark=1, digits=1, logarithmic=True)


def viewed_statistics(results, machine):
    """How many times views of statistics are as fast as their SELECTs, on the first of the devices."""
    part = results["parts"].get("statistics")
    if not part or not part["views"]:
        return None
    device = part["views"][0]["device"]
    rows = [(f"{row['name']}, {found.view_state(row)}", row["speed"], BLUE if row["kind"] == "first" else GREEN)
            for row in part["views"] if row["device"] == device]
    return plots.bars(f"Views of statistics: speed over their SELECTs, device {device}, {machine}",
                      "times as fast, logarithmic; blue: pages read, green: columns resident",
                      rows, mark=1, digits=1, logarithmic=True)


def bandwidth(results, machine):
    """GB/s over bytes."""
    series = []
    for label, part, name, operation, element in BANDWIDTH:
        points = {}
        for line in found.lines(results, part, name=name, operation=operation, element=element):
            # A size comes again, at the end, with values of all exponents.
            if line["gbytes_per_s"]:
                points.setdefault(line["bytes"], line["gbytes_per_s"])
        if points:
            series.append((label, sorted(points.items())))
    if not series:
        return None
    points = [point for _, values in series for point in values]
    sizes = sorted({x for x, _ in points})
    x_axis = charts.logarithmic("bytes reduced", sizes, plots.byte_label)
    x_axis.ticks = [(size, plots.byte_label(size)) for size in sizes[::2]]
    y_axis = charts.logarithmic("GB/s", [y for _, y in points], "{:,g}".format)
    return charts.draw(f"Bandwidth against size, {machine}", x_axis, y_axis,
                       [charts.Series(name, values, number)
                        for number, (name, values) in enumerate(series)])


def ladder(results, machine):
    """GB/s of each rung, at the largest size."""
    lines = results["parts"].get("ladder")
    if not lines:
        return None
    largest = max(line["bytes"] for line in lines)
    rows = []
    for line in lines:
        if line["bytes"] == largest:
            colour = GREEN if found.is_ours(line) else BLUE if found.is_rung(line) else GREY
            rows.append((line["name"], line["gbytes_per_s"], colour))
    return plots.bars(f"The ladder of reduction kernels, {machine}",
                      f"GB/s over {plots.byte_label(largest)} of REAL; green: exact", rows,
                      digits=1)

#: The pictures by their names.
PICTURES = {"feed": feed, "views": views, "statistics": fed_statistics, "statistics-views": viewed_statistics,
            "bandwidth": bandwidth, "ladder": ladder}
