"""What the project set out to reach, and what of it was measured.

Each target names the kind of device that it is about, how good is good enough, and the function
that finds the figure among a machine's results: the worst one, where it covers several sizes.
"""

import operator
from dataclasses import dataclass
from typing import Callable

MIB, GIB = 1 << 20, 1 << 30
AT_LEAST, MORE_THAN, AT_MOST = operator.ge, operator.gt, operator.le


@dataclass
class Target:
    """A line of the table; figure() returns a number, or None where it was not measured."""

    what: str
    device: str                # gpu, cpu, no gpu (a cpu or no device at all), or any
    compare: Callable
    limit: float
    unit: str                  # %, GB/s, ms, x, or ratio
    figure: Callable

    def goal(self):
        """The limit in words."""
        sign = {AT_LEAST: "≥", MORE_THAN: ">", AT_MOST: "≤"}[self.compare]
        return f"{sign} {show(self.limit, self.unit)}"


def show(value, unit):
    """A figure as the tables show it."""
    if unit == "%":
        return f"{100 * value:.0f}%"
    if unit == "ms":
        return f"{value:.1f} ms"
    if unit == "GB/s":
        return f"{value:,.0f} GB/s"
    digits = 0 if value >= 100 else 2
    return f"{value:,.{digits}f}{'×' if unit == 'x' else ''}"


def lines(results, part, least=0, **wanted):
    """The lines of device-bench for a part, those with these values and at least so many bytes."""
    return [line for line in results["parts"].get(part, ())
            if line.get("bytes", 0) >= least
            and all(line.get(key) == value for key, value in wanted.items())]


def worst(values):
    """The least of some figures, or None of none."""
    return min(values, default=None)


def exact_share(operation, element, least):
    """An exact kernel's bandwidth, as a share of the plain read of as many bytes."""
    return lambda results: worst(
        line["share_of_read"] for line in lines(results, "kernel", least, name="exact",
                                                operation=operation, element=element))


def exact_bandwidth(operation, element, least):
    """An exact kernel's bandwidth."""
    return lambda results: worst(
        line["gbytes_per_s"] for line in lines(results, "kernel", least, name="exact",
                                               operation=operation, element=element))


def mapped_bandwidth(results):
    """Through mapped buffers, from memory that is filled already."""
    return worst(line["gbytes_per_s"] for line in lines(results, "transfer", 64 * MIB,
                                                        name="mapped, transfer alone"))


def overlap(results):
    """How much quicker several chunks are if one is filled while another one is transferred."""
    return worst(line["ratio"] for line in lines(results, "transfer", 4 * 64 * MIB,
                                                 name="mapped, overlapped"))


def device_over_host(operation):
    """The device's exact kernel against one thread of the host, over as many bytes."""
    def figure(results):
        host = {line["bytes"]: line["gbytes_per_s"]
                for line in lines(results, "host", 64 * MIB, name="exact, one thread",
                                  operation=operation, element="real")}
        return worst(line["gbytes_per_s"] / host[line["bytes"]]
                     for line in lines(results, "kernel", 64 * MIB, name="exact",
                                       operation=operation, element="real")
                     if line["bytes"] in host)
    return figure


def host_share(results):
    """The host's exact sum on one thread, as a share of one thread's plain read."""
    return worst(line["share_of_read"] for line in lines(results, "host", 64 * MIB,
                                                         name="exact, one thread",
                                                         operation="sum", element="real"))


def host_over_fsum(results):
    """How many times the host's exact sum is as fast as math.fsum, value for value."""
    host = worst(line["gbytes_per_s"] for line in lines(results, "host", 64 * MIB,
                                                        name="exact, one thread",
                                                        operation="sum", element="real"))
    peers = results["parts"].get("peers")
    fsum = [row["time_ns"]["median"] / peers["rows"] for row in (peers or {}).get("results", ())
            if row["operation"] == "math.fsum(x)"]
    return fsum[0] / (8 / host) if fsum and host else None


def is_ours(line):
    """Whether a line of the ladder is one of the project's own kernels."""
    return "exact" in line["name"]


def is_rung(line):
    """Whether a line of the ladder is a kernel of the literature."""
    return line["name"][:1].isdigit() and not is_ours(line)


def ladder_share(operations, ours):
    """One of the project's kernels against the best rung that does the same, over as many bytes."""
    def figure(results):
        shares = []
        for line in lines(results, "ladder"):
            if not is_ours(line) or line["operation"] != ours:
                continue
            rungs = [rung["gbytes_per_s"] for rung in lines(results, "ladder", bytes=line["bytes"])
                     if is_rung(rung) and rung["operation"] in operations]
            if rungs:
                shares.append(line["gbytes_per_s"] / max(rungs))
        return worst(shares)
    return figure


def feed_ratio(name, against=1):
    """A case of the feed: its first statement's time over another one's, the rounds' median."""
    def figure(results):
        for case in results["parts"].get("feed", ()):
            if case["name"] == name:
                return case["statements"][against]["ratio"]["median"]
        return None
    return figure


def first_ratio(results):
    """The first query with device auto over the same with device host."""
    return results["parts"]["first"]["ratio"]["median"] if "first" in results["parts"] else None


def first_wait(results):
    """How long the first query neither ran nor could have run, in ms."""
    part = results["parts"].get("first")
    return part["waited_ns"]["auto"]["median"] / 1e6 if part else None


def view_state(row):
    """Where a view's columns are before it runs."""
    return "pages read" if row["kind"] == "first" else "resident"


def find_view(results, device, name, kind):
    """The views' candidate, or None; the device is a target's: with a gpu, auto is on it."""
    setting = "auto" if device == "gpu" else "host"
    for row in results["parts"].get("views", {}).get("candidates", ()):
        if (row["device"], row["name"], row["kind"]) == (setting, name, kind):
            return row
    return None


def view_speed(device, name, kind):
    """How many times a view is as fast as SELECT sum(x)."""
    def figure(results):
        row = find_view(results, device, name, kind)
        return row and row["speedup"]["median"]
    return figure


def view_over_duckdb(device):
    """How many times the resident sum is as fast as DuckDB's with all threads."""
    def figure(results):
        row = find_view(results, device, "sum(x)", "again")
        duckdb = results["parts"]["views"]["duckdb"] if row else None
        if not duckdb:
            return None
        theirs = min(found["time_ns"]["median"] for found in duckdb["results"]
                     if found["name"] == "sum(x)"
                     and found["threads"] == results["machine"]["cores"])
        return theirs / row["time_ns"]["median"]
    return figure


def view_bandwidth(row):
    """The GB/s at which a resident view of x reads it, or None where x is not resident."""
    size = row["columns"].get("v.x")
    return size / row["time_ns"]["median"] if size else None


def plain_read(results, host):
    """The GB/s of the plain read of the largest size, by the host or the device, or None."""
    found = [line for part in ("bandwidth", "kernel") for line in lines(results, part)
             if line["name"] == ("read, all threads" if host else "plain read")
             and (line["device"] == "host") == host and line.get("element") == "real"]
    return max(found, key=lambda line: line["bytes"])["gbytes_per_s"] if found else None


def resident_share(results):
    """The resident sum over at least 1 GiB, as a share of the plain sum's bandwidth."""
    large, plain = results["parts"].get("views", {}).get("large", ()), plain_read(results, False)
    if plain is None:
        return None
    return worst(view_bandwidth(row) / plain
                 for row in large
                 if row["name"] == "sum(x)" and row["columns"].get("v.x", 0) >= GIB)


def small_ratio(results):
    """A view of 200 rows over its SELECT."""
    small = results["parts"].get("views", {}).get("small", ())
    return max((row["ratio"]["median"] for row in small), default=None)


def fed_statistic(part, name, theirs=None):
    """Of a statistic, our statement fed by rows or the one with this call; None without it."""
    for case in part["fed"]:
        if case["name"] == name:
            return next((statement for statement in case["statements"]
                         if theirs in (None, statement["sql"])), None)
    return None


def statistic_speed(name, theirs):
    """How many times a function is as fast as a statement of SQLite, both fed by rows."""
    def figure(results):
        part = results["parts"].get("statistics")
        statement = part and fed_statistic(part, name, f"SELECT {theirs} FROM t")
        return statement and statement["speed"]["median"]
    return figure


def view_targets(device, first, again, filtered, duckdb):
    """The targets of views for a kind of device."""
    head = "view against SELECT sum(x): "
    return (Target(f"{head}sum(x), pages read", device, AT_LEAST, first, "x",
                   view_speed(device, "sum(x)", "first")),
            Target(f"{head}sum(x), resident", device, AT_LEAST, again, "x",
                   view_speed(device, "sum(x)", "again")),
            Target(f"{head}sum(x * y) WHERE i > 500, resident", device, AT_LEAST, filtered, "x",
                   view_speed(device, "sum(x * y) WHERE", "again")),
            Target("view against DuckDB with all threads: sum(x), resident", device, AT_LEAST,
                   duckdb, "x", view_over_duckdb(device)))


def feed_target(aggregate, limit, twin, name=None):
    """A target of the feed in REAL columns."""
    return Target(f"feed: {aggregate} against {twin}", "any", AT_MOST, limit, "ratio",
                  feed_ratio(name or f"{aggregate}, REAL"))


TARGETS = (
    Target("exact sum kernel, REAL, ≥ 1 GiB, against the plain sum", "gpu", AT_LEAST, 0.9, "%",
           exact_share("sum", "real", GIB)),
    Target("exact sum kernel, REAL, ≥ 1 GiB", "gpu", AT_LEAST, 3400, "GB/s",
           exact_bandwidth("sum", "real", GIB)),
    Target("exact sum kernel, INTEGER, ≥ 1 GiB, against the plain read", "gpu", AT_LEAST, 0.9, "%",
           exact_share("sum", "integer", GIB)),
    Target("min/max kernel, REAL, ≥ 1 GiB, against the plain read", "gpu", AT_LEAST, 0.9, "%",
           exact_share("extremes", "real", GIB)),
    Target("min/max kernel, INTEGER, ≥ 1 GiB, against the plain read", "gpu", AT_LEAST, 0.9, "%",
           exact_share("extremes", "integer", GIB)),
    Target("exact dot kernel, REAL, ≥ 1 GiB, against the plain read", "gpu", AT_LEAST, 0.8, "%",
           exact_share("dot", "real", GIB)),
    Target("host to device through mapped buffers, ≥ 64 MiB", "gpu", AT_LEAST, 50, "GB/s",
           mapped_bandwidth),
    Target("a chunk's transfer overlaps the next one's filling, against one after the other", "gpu",
           MORE_THAN, 1, "x", overlap),
    Target("exact sum, REAL, ≥ 64 MiB, against the plain C read on all cores", "cpu", AT_LEAST, 0.8,
           "%", exact_share("sum", "real", 64 * MIB)),
    Target("exact dot, REAL, ≥ 64 MiB, against the plain C read on all cores", "cpu", AT_LEAST, 0.8,
           "%", exact_share("dot", "real", 64 * MIB)),
    Target("exact sum, REAL, ≥ 64 MiB, against the host path", "cpu", AT_LEAST, 1, "x",
           device_over_host("sum")),
    Target("exact dot, REAL, ≥ 64 MiB, against the host path", "cpu", AT_LEAST, 1, "x",
           device_over_host("dot")),
    Target("host path, one thread, exact sum, against one thread's plain read", "any", AT_LEAST,
           0.5, "%", host_share),
    Target("host path, one thread, exact sum, against math.fsum", "any", AT_LEAST, 10, "x",
           host_over_fsum),
    Target("ladder: exact sum against the best inexact rung", "any", AT_LEAST, 0.9, "%",
           ladder_share(("sum",), "sum")),
    Target("ladder: exact dot against the dot of a single group", "any", AT_LEAST, 0.9, "%",
           ladder_share(("dot",), "dot")),
    Target("ladder: min/max against the best rung for min or max", "any", AT_LEAST, 0.9, "%",
           ladder_share(("min", "max"), "extremes")),
    feed_target("gpu_sum", 1, "sum"),
    feed_target("gpu_avg", 1, "avg"),
    feed_target("gpu_total", 1, "total"),
    feed_target("gpu_min", 1, "min"),
    feed_target("gpu_max", 1, "max"),
    Target("feed: gpu_sum against an aggregate that does nothing", "any", AT_MOST, 1.15, "ratio",
           feed_ratio("gpu_sum, REAL", 3)),
    Target("feed: gpu_dot(x, y) against sum(x * y)", "any", AT_MOST, 0.95, "ratio",
           feed_ratio("gpu_dot, REAL")),
    Target("GROUP BY into groups of 10, gpu_sum against sum", "any", AT_MOST, 1.05, "ratio",
           feed_ratio("GROUP BY, rows / 10 groups in order")),
    Target("window, ROWS 100 PRECEDING, gpu_sum against sum", "any", AT_MOST, 1.2, "ratio",
           feed_ratio("gpu_sum, window")),
    Target("window, ROWS 100 PRECEDING, gpu_max against max", "any", AT_MOST, 1.2, "ratio",
           feed_ratio("gpu_max, window")),
    Target("first query of a process, cold caches, device auto against host", "any", AT_MOST, 1.02,
           "ratio", first_ratio),
    # The system counts a thread's time by the tick of its clock.
    Target("first query of a process, cold caches, device auto: waiting", "any", AT_MOST, 4, "ms",
           first_wait),
    *view_targets("no gpu", first=10, again=60, filtered=40, duckdb=1),
    *view_targets("gpu", first=40, again=5000, filtered=3000, duckdb=20),
    Target("view: resident sum(x), ≥ 1 GiB, against the plain sum", "gpu", AT_LEAST, 0.85, "%",
           resident_share),
    Target("view of 200 rows against its SELECT", "any", AT_MOST, 2, "ratio", small_ratio),
    Target("fed by rows: gpu_count_distinct(x) against count(DISTINCT x)", "any", AT_LEAST, 10, "x",
           statistic_speed("count_distinct", "count(DISTINCT x)")),
    Target("fed by rows: gpu_median(x) against median(x) of SQLite's extension", "any",
           AT_LEAST, 3, "x", statistic_speed("median", "median(x)")),
    Target("fed by rows: gpu_median(x) against stats_median(x) of sqlean", "any", AT_LEAST, 3, "x",
           statistic_speed("median, sqlean", "stats_median(x)")),
    Target("fed by rows: gpu_median(x) against median(x) that is built into SQLite", "any", AT_LEAST,
           1, "x", statistic_speed("median, built in", "median(x)")),
)


def table(results):
    """Each target that is about this machine's device: what, goal, figure, and whether it is met.

    The last two are None where the figure was not measured.
    """
    device = results["machine"]["device"]
    kind = "cpu" if device and device["type"] == "cpu" else "gpu" if device else None
    kinds = {"any", kind, None if kind == "gpu" else "no gpu"}
    for target in TARGETS:
        if target.device not in kinds:
            continue
        figure = target.figure(results)
        if figure is None:
            yield target.what, target.goal(), None, None
        else:
            yield (target.what, target.goal(), show(figure, target.unit),
                   target.compare(figure, target.limit))
