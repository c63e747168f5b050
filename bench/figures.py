"""What of the results is drawn: the feed's ratios, speeds of views and statistics, bandwidth, and
the ladder.
"""

import re

import plots
import targets

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


def machine_name(results):
    """What tells the machine from others: its device, or its cores where those are the device."""
    machine = results["machine"]
    device = machine["device"]
    if device and device["type"] != "cpu":
        return device["name"]
    platform = device["platform"] if device else "host"
    platform = platform.replace("Portable Computing Language", "PoCL")
    return f"{platform} on {machine['cores']} cores"


def slug(results):
    """A name for the machine's files."""
    return re.sub(r"[^a-z0-9]+", "-", machine_name(results).lower()).strip("-")


def feed(results):
    """The ratio of each case to SQLite's own, and to the aggregates that do nothing."""
    cases = results["parts"].get("feed")
    if not cases:
        return None
    rows = [(case["name"], case["statements"][1]["ratio"], BLUE) for case in cases]
    for case in cases:
        for name, statement in zip(("no-op", "no-op, context"), case["statements"][3:]):
            rows.append((f"{case['name']}, over {name}", statement["ratio"], GREY))
    return plots.bars(f"Feed: time over that of SQLite's own aggregate, {machine_name(results)}",
                      "less is better; thin lines reach from the least to the greatest ratio",
                      rows, mark=1)


def views(results):
    """How many times each view is as fast as SQLite's own sum."""
    part = results["parts"].get("views")
    if not part:
        return None
    rows = [(f"{row['name']}, {targets.view_state(row)}, {row['device']}", row["speedup"],
             BLUE if row["kind"] == "first" else GREEN) for row in part["candidates"]]
    return plots.bars(f"Accelerated views: speed over SELECT sum(x), {machine_name(results)}",
                      "times as fast, logarithmic; blue: pages read, green: columns resident",
                      rows, mark=1, digits=1, logarithmic=True)


def statistics(results):
    """How many times the statistics are as fast as SQLite's, fed by rows and in views."""
    part = results["parts"].get("statistics")
    if not part:
        return None
    rows = []
    for case in part["fed"]:
        ours, *others = case["statements"]
        # Our own, on another device, is what a case may have besides.
        rows += [(f"{case['name']}, fed", other["speed"], BLUE)
                 for other in others if other["sql"] != ours["sql"]][:1]
    rows += [(f"{row['name']}, {targets.view_state(row)}, {row['device']}", row["speedup"], GREEN)
             for row in part["views"]]
    return plots.bars(f"Statistics: speed over SQLite fed by rows, {machine_name(results)}",
                      "times as fast, logarithmic; blue: our function over SQLite's nearest, both "
                      "fed by rows; green: a view over its SELECT",
                      rows, mark=1, digits=1, logarithmic=True)


def bandwidth(results):
    """GB/s over bytes."""
    series = []
    for label, part, name, operation, element in BANDWIDTH:
        points = {}
        for line in targets.lines(results, part, name=name, operation=operation, element=element):
            # A size comes again, at the end, with values of all exponents.
            if line["gbytes_per_s"]:
                points.setdefault(line["bytes"], line["gbytes_per_s"])
        if points:
            series.append((label, sorted(points.items())))
    if not series:
        return None
    title = f"Bandwidth against size, {machine_name(results)}"
    return plots.lines_over_bytes(title, "GB/s", series)


def ladder(results):
    """GB/s of each rung, at the largest size."""
    lines = results["parts"].get("ladder")
    if not lines:
        return None
    largest = max(line["bytes"] for line in lines)
    rows = []
    for line in lines:
        if line["bytes"] == largest:
            colour = GREEN if targets.is_ours(line) else BLUE if targets.is_rung(line) else GREY
            rows.append((line["name"], line["gbytes_per_s"], colour))
    return plots.bars(f"The ladder of reduction kernels, {machine_name(results)}",
                      f"GB/s over {plots.byte_label(largest)} of REAL; green: exact", rows,
                      digits=1)


def draw(results, name):
    """A plot as SVG, or None where its part was not measured."""
    return {"feed": feed, "views": views, "statistics": statistics, "bandwidth": bandwidth,
            "ladder": ladder}[name](results)
