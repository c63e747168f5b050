"""What the project set out to reach, and what of it was measured.

Each target names the kind of device that it is about, how good is good enough, and the function
that finds the figure among a machine's results. All speeds are how many times something is as fast
as another thing: more is better.
"""

import operator
import statistics
from dataclasses import dataclass
from typing import Callable

from measuring import gate
from measuring import shapes
from page import found
from page.found import GIB, MIB

AT_LEAST, MORE_THAN, AT_MOST = operator.ge, operator.gt, operator.le


@dataclass
class Target:
    """A line of the table; figure() returns a number, or None where it was not measured."""

    what: str
    device: str                # gpu, cpu, no gpu (a cpu or no device at all), or any
    compare: Callable
    limit: float
    unit: str                  # x (times as fast), GB/s, ms or %
    figure: Callable

    def goal(self):
        """The limit in words."""
        sign = {AT_LEAST: "≥", MORE_THAN: ">", AT_MOST: "≤"}[self.compare]
        return f"{sign} {show(self.limit, self.unit)}"

    def is_about(self, results):
        """Whether the results' machine has such a device."""
        device = results["machine"]["device"]
        kind = "cpu" if device and device["type"] == "cpu" else "gpu" if device else None
        return self.device in {"any", kind, None if kind == "gpu" else "no gpu"}

    def is_met(self, figure):
        """Whether a figure, which may be None, is good enough."""
        return figure is not None and self.compare(figure, self.limit)

    def row(self, results):
        """The target and what a run found of it, as its JSON has it."""
        figure = self.figure(results)
        return {"what": self.what, "goal": self.goal(), "unit": self.unit, "figure": figure,
                "met": None if figure is None else self.is_met(figure)}


def times_as_fast(value):
    """A speed with three digits that count, or as many as it has before the point."""
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 0.1 else 3
    return f"{value:,.{digits}f}×"


def show(value, unit):
    """A figure as the tables show it."""
    if unit == "ms":
        return f"{value:.1f} ms"
    if unit == "GB/s":
        return f"{value:,.0f} GB/s"
    if unit == "%":
        return f"{value:.0f}%"
    return times_as_fast(value)


def view_targets(device, first, again, filtered, duckdb):
    """The targets of views for a kind of device."""
    head = "view against SELECT sum(x): "
    return (Target(f"{head}sum(x), pages read", device, AT_LEAST, first, "x",
                   found.view_speed(device, "sum(x)", "first")),
            Target(f"{head}sum(x), resident", device, AT_LEAST, again, "x",
                   found.view_speed(device, "sum(x)", "again")),
            Target(f"{head}sum(x * y) WHERE i > 500, resident", device, AT_LEAST, filtered, "x",
                   found.view_speed(device, "sum(x * y) WHERE", "again")),
            Target("view against DuckDB with all threads: sum(x), resident", device, AT_LEAST,
                   duckdb, "x", found.view_over_duckdb(device)))


def group_target(device, label, names, limits, kind="again"):
    """Targets of views with groups: against DuckDB and SQLite, as far as limits has them."""
    state = found.view_state({"kind": kind})
    against = {"duckdb": ("DuckDB with all threads", "duckdb_speed"), "sqlite": ("SQLite", "speed")}
    return [Target(f"groups, {label}, {state}, against {against[peer][0]}", device, AT_LEAST, limit,
                   "x", found.group_speed(device, names, kind, against[peer][1]))
            for peer, limit in limits.items()]


def h2oai_target(device, numbers, limits, kind="again"):
    """Targets of queries of the groupby benchmark."""
    label = "h2oai " + ", ".join(f"q{number}" for number in numbers)
    return group_target(device, label, [f"h2oai q{number}" for number in numbers], limits, kind)


GROUP_TARGETS = (
    *h2oai_target("no gpu", (1, 2, 4), {"duckdb": 3, "sqlite": 500}),
    *h2oai_target("no gpu", (3, 5, 7), {"duckdb": 3, "sqlite": 100}),
    *h2oai_target("no gpu", (9,), {"duckdb": 2, "sqlite": 50}),
    *h2oai_target("no gpu", (6,), {"duckdb": 1, "sqlite": 50}),
    *h2oai_target("no gpu", (10,), {"duckdb": 1, "sqlite": 3}),
    *h2oai_target("no gpu", (1,), {"sqlite": 40}, "first"),
    *group_target("no gpu", "TPC-H Q1", ["TPC-H Q1"], {"sqlite": 10}, "first"),
    *group_target("no gpu", "TPC-H Q1", ["TPC-H Q1"], {"duckdb": 1.5, "sqlite": 150}),
    *group_target("no gpu", "flights by origin, month, weekday, median by month",
                  ["by origin", "by month", "by weekday", "median by month"],
                  {"duckdb": 2, "sqlite": 50}),
    *group_target("no gpu", "flights, DISTINCT origin, top 10 by count",
                  ["DISTINCT origin", "top 10 by count"], {"duckdb": 1, "sqlite": 50}),
    *group_target("no gpu", "one row found without an index", ["one row found"],
                  {"duckdb": 1, "sqlite": 50}),
    *h2oai_target("gpu", (1, 2, 4, 5), {"duckdb": 15}),
    *group_target("gpu", "TPC-H Q1", ["TPC-H Q1"], {"duckdb": 10}),
)


def share_of_wanted(figure, wanted):
    """How much of what is wanted a line of a part's questions has; None where its peer was not measured."""
    return lambda row: row[figure] / row[wanted] if figure in row else None


def event_targets(device):
    """The targets of views of timestamps: the questions have limits of their own."""
    head = "events, the least share of what is wanted of a question"
    return [Target(f"{head}, {found.view_state({'kind': kind})}, against {peer}", device, AT_LEAST, 1, "x",
                   found.asked("time", device, kind, share_of_wanted(figure, wanted)))
            for kind, peer, figure, wanted in (("again", "SQLite", "speed", "wanted"),
                                               ("again", "DuckDB's TIMESTAMP", "duckdb_speed", "wanted_duckdb"),
                                               ("first", "SQLite", "speed", "wanted"))]


def join_targets(device):
    """The targets of the Star Schema Benchmark."""
    mean, least = statistics.geometric_mean, min
    return [Target(f"joins, {of} of 13, {found.view_state({'kind': kind})}, against {peer}", device, AT_LEAST, limit, "x",
                   found.asked("star", device, kind, lambda row, figure=figure: row.get(figure), whole))
            for of, whole, kind, peer, figure, limit in (
                ("geometric mean", mean, "again", "DuckDB with all threads", "duckdb_speed", 6),
                ("the least", least, "again", "DuckDB with all threads", "duckdb_speed", 3),
                ("geometric mean", mean, "again", "SQLite", "speed", 300),
                ("geometric mean", mean, "first", "SQLite", "speed", 4))]


def quick_selects(results):
    """How many in a hundred SELECTs of programs that nobody changed are as quick as they are wanted."""
    part = results["parts"].get("shapes")
    return part and 100 * shapes.summary(part["rows"])["quick"] / len(part["rows"])


def slower_cells(results):
    """How many in a hundred statements of such programs are slower than without, in a first run or in later ones."""
    part = results["parts"].get("gate")
    return part and 100 * len(gate.slower(part["cells"], "preloaded")) / (2 * len(part["cells"]))


def feed_target(aggregate, limit, twin, name=None):
    """A target of the feed in REAL columns."""
    return Target(f"feed: {aggregate} against {twin}", "any", AT_LEAST, limit, "x",
                  found.feed_speed(name or f"{aggregate}, REAL"))


TARGETS = (
    Target("exact sum kernel, REAL, ≥ 1 GiB, against the plain sum", "gpu", AT_LEAST, 0.9, "x",
           found.exact_share("sum", "real", GIB)),
    Target("exact sum kernel, REAL, ≥ 1 GiB", "gpu", AT_LEAST, 3400, "GB/s",
           found.exact_bandwidth("sum", "real", GIB)),
    Target("exact sum kernel, INTEGER, ≥ 1 GiB, against the plain read", "gpu", AT_LEAST, 0.9, "x",
           found.exact_share("sum", "integer", GIB)),
    Target("min/max kernel, REAL, ≥ 1 GiB, against the plain read", "gpu", AT_LEAST, 0.9, "x",
           found.exact_share("extremes", "real", GIB)),
    Target("min/max kernel, INTEGER, ≥ 1 GiB, against the plain read", "gpu", AT_LEAST, 0.9, "x",
           found.exact_share("extremes", "integer", GIB)),
    Target("exact dot kernel, REAL, ≥ 1 GiB, against the plain read", "gpu", AT_LEAST, 0.8, "x",
           found.exact_share("dot", "real", GIB)),
    Target("host to device through mapped buffers, ≥ 64 MiB", "gpu", AT_LEAST, 50, "GB/s",
           found.mapped_bandwidth),
    Target("a chunk's transfer overlaps the next one's filling, against one after the other", "gpu",
           MORE_THAN, 1, "x", found.overlap),
    Target("exact sum, REAL, ≥ 64 MiB, against the plain C read on all cores", "cpu", AT_LEAST, 0.8,
           "x", found.exact_share("sum", "real", 64 * MIB)),
    Target("exact dot, REAL, ≥ 64 MiB, against the plain C read on all cores", "cpu", AT_LEAST, 0.8,
           "x", found.exact_share("dot", "real", 64 * MIB)),
    Target("host path, one thread, exact sum, against one thread's plain read", "any", AT_LEAST,
           0.5, "x", found.host_share),
    Target("host path, one thread, exact sum, against math.fsum", "any", AT_LEAST, 10, "x",
           found.host_over_fsum),
    # On a CPU no rung is what one would write there: the plain C read above is.
    Target("ladder: exact sum against the best inexact rung", "gpu", AT_LEAST, 0.9, "x",
           found.ladder_share(("sum",), "sum")),
    Target("ladder: exact dot against the best inexact dot", "gpu", AT_LEAST, 0.9, "x",
           found.ladder_share(("dot",), "dot")),
    Target("ladder: min/max against the best rung for min or max", "gpu", AT_LEAST, 0.9, "x",
           found.ladder_share(("min", "max"), "extremes")),
    feed_target("gpu_sum", 1, "sum"),
    feed_target("gpu_avg", 1, "avg"),
    feed_target("gpu_total", 1, "total"),
    feed_target("gpu_min", 1, "min"),
    feed_target("gpu_max", 1, "max"),
    Target("feed: gpu_sum against an aggregate that does nothing", "any", AT_LEAST, 1 / 1.15, "x",
           found.feed_speed("gpu_sum, REAL", 3)),
    Target("feed: gpu_dot(x, y) against sum(x * y)", "any", AT_LEAST, 1 / 0.95, "x",
           found.feed_speed("gpu_dot, REAL")),
    Target("GROUP BY into groups of 10, gpu_sum against sum", "any", AT_LEAST, 1 / 1.05, "x",
           found.feed_speed("GROUP BY, rows / 10 groups in order")),
    Target("window, ROWS 100 PRECEDING, gpu_sum against sum", "any", AT_LEAST, 1 / 1.2, "x",
           found.feed_speed("gpu_sum, window")),
    Target("window, ROWS 100 PRECEDING, gpu_max against max", "any", AT_LEAST, 1 / 1.2, "x",
           found.feed_speed("gpu_max, window")),
    Target("first query of a process, cold caches, device auto against host", "any", AT_LEAST,
           1 / 1.02, "x", found.first_speed),
    # The system counts a thread's time by the tick of its clock.
    Target("first query of a process, cold caches, device auto: waiting", "any", AT_MOST, 4, "ms",
           found.first_wait),
    *view_targets("no gpu", first=10, again=60, filtered=40, duckdb=1),
    *view_targets("gpu", first=40, again=5000, filtered=3000, duckdb=20),
    Target("view: resident sum(x), ≥ 1 GiB, against the plain sum", "gpu", AT_LEAST, 0.85, "x",
           found.resident_share),
    Target("view of 200 rows against its SELECT", "any", AT_LEAST, 0.5, "x", found.small_speed),
    Target("fed by rows: gpu_count_distinct(x) against count(DISTINCT x)", "any", AT_LEAST, 10, "x",
           found.statistic_speed("count_distinct", "count(DISTINCT x)")),
    Target("fed by rows: gpu_median(x) against median(x) of SQLite's extension", "any",
           AT_LEAST, 3, "x", found.statistic_speed("median", "median(x)")),
    Target("fed by rows: gpu_median(x) against stats_median(x) of sqlean", "any", AT_LEAST, 3, "x",
           found.statistic_speed("median, sqlean", "stats_median(x)")),
    Target("fed by rows: gpu_median(x) against median(x) that is built into SQLite", "any",
           AT_LEAST, 1, "x", found.statistic_speed("median, built in", "median(x)")),
    *GROUP_TARGETS,
    *event_targets("no gpu"),
    *event_targets("gpu"),
    *join_targets("no gpu"),
    Target("programs that nobody changed: SELECTs that are ten times as fast later", "any", AT_LEAST, 89, "%", quick_selects),
    Target("programs that nobody changed: statements slower than without", "any", AT_MOST, 0, "%", slower_cells),
)


def of_machine(results):
    """The targets that are about a machine's device."""
    return [target for target in TARGETS if target.is_about(results)]
