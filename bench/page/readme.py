"""The table of README.md: the figures of the published machines side by side.

Each row says what is measured, against what, and how its figure is found among a run's results: a
function of the kind of device, gpu or no gpu, that returns one of results, as in page/found.py.
"""

import statistics

from page import found
from page.words import table, times_as_fast

#: The machines of the table, and what stands at the heads of their columns.
MACHINES = {"two-cores": "two cores, no GPU", "nvidia-h200": "16 cores, H200 GPU"}


def plain(figure):
    """A figure that is about any machine."""
    return lambda device: figure


def view(name, kind):
    """A view against SELECT sum(x)."""
    return lambda device: found.view_speed(device, name, kind)


def question(part, lines, name, figure):
    """A view of a part, later."""
    return lambda device: found.line_figure(part, lines, device, name, figure)


def all_questions(part, kind, figure):
    """The geometric mean of the questions of a part."""
    return lambda device: found.asked(part, device, kind, lambda row: row.get(figure), statistics.geometric_mean)


def spread(which):
    """The SELECTs of programs that nobody changed, of which each run has a third: a figure of all runs together."""
    def find(_device):
        return found.shape_speed(which)
    find.shared_part = "shapes"
    return find


def on_a_device(figure):
    """A figure of machines that have a device alone."""
    return lambda device: figure if device == "gpu" else lambda results: None


#: What stands behind a figure that so many runs have, where more are there.
NOTES = {1: "¹ One run had it.", 2: "² Two runs had it."}

DUCKDB = "DuckDB, all threads"
SPEED, OVER_DUCKDB = "speed", "duckdb_speed"
ROWS = (
    ("view of `gpu_sum(x)`, first query, which reads the pages", "`SELECT sum(x)`", view("sum(x)", "first")),
    ("view of `gpu_sum(x)`, later", "`SELECT sum(x)`", view("sum(x)", "again")),
    ("view of `gpu_sum(x * y) WHERE i > 500`, later", "`SELECT sum(x)`", view("sum(x * y) WHERE", "again")),
    ("view of `gpu_median(x)`, later", "`SELECT gpu_median(x)`", question("statistics", "views", "median", SPEED)),
    ("view of `gpu_sum(x)`, later", DUCKDB, found.view_over_duckdb),
    ("view of `gpu_norm(x)`, later", DUCKDB, lambda device: found.statistic_over_duckdb("norm", device)),
    ("view with GROUP BY a text of 100 values, later", "SQLite's `sum` with GROUP BY", question("groups", "rows", "h2oai q1", SPEED)),
    ("the same", DUCKDB, question("groups", "rows", "h2oai q1", OVER_DUCKDB)),
    ("view with GROUP BY a text of 100,000 values, later", DUCKDB, question("groups", "rows", "h2oai q3", OVER_DUCKDB)),
    ("view with GROUP BY six columns, 10 million groups", DUCKDB, question("groups", "rows", "h2oai q10", OVER_DUCKDB)),
    ("view of TPC-H Q6, scale 1, later", "the SELECT", question("text", "rows", "TPC-H Q6", SPEED)),
    ("the same", DUCKDB, question("text", "rows", "TPC-H Q6", OVER_DUCKDB)),
    ("views of the joins of the Star Schema Benchmark, first query", "the SELECTs", all_questions("star", "first", SPEED)),
    ("the same, later", "the SELECTs", all_questions("star", "again", SPEED)),
    ("the same, later", DUCKDB, all_questions("star", "again", OVER_DUCKDB)),
    ("views of TEXT timestamps, by day, month and hour, first query", "the SELECTs", all_questions("time", "first", SPEED)),
    ("the same, later", "the SELECTs", all_questions("time", "again", SPEED)),
    ("the same, later", "DuckDB's TIMESTAMP, all threads", all_questions("time", "again", OVER_DUCKDB)),
    ("45 SELECTs of programs that nobody changed, median, first run", "without clreduce", spread(0)),
    ("the same, later", "without clreduce", spread(2)),
    ("view of a table of 200 rows", "its SELECT", plain(found.small_speed)),
    ("first query of a process, while a device starts", "with the device `host`", on_a_device(found.first_speed)),
    ("`gpu_sum(x)`, row by row", "`sum(x)`", plain(found.feed_speed("gpu_sum, REAL"))),
    ("`gpu_count_distinct(x)`, row by row", "`count(DISTINCT x)`",
     plain(found.statistic_speed("count_distinct", "count(DISTINCT x)"))),
    ("`gpu_median(x)`, row by row", "`median(x)` of SQLite 3.54", plain(found.statistic_speed("median, built in", "median(x)"))),
    ("`gpu_sum_state(x)`, groups of ten rows", "`sum(x)`", plain(found.fed_speed("sum_state, GROUP BY"))),
    ("`gpu_norm(x)`, row by row", "DuckDB, its own table, all threads", plain(found.statistic_over_duckdb("norm", None))),
    ("sums of values of all exponents (1e-300 beside 1e300), 64 MiB, on a device", "a plain read of the memory",
     on_a_device(found.exponents_share)),
)


def cell(runs, find):
    """The median of the runs that have the figure, with a note where these are not all that are there."""
    kind = "gpu" if (runs.whole["machine"]["device"] or {}).get("type") == "gpu" else "no gpu"
    parts = runs.results.values()
    if hasattr(find, "shared_part"):
        parts = [runs.whole for results in parts if find.shared_part in results["parts"]]
    figures = [figure for figure in map(find(kind), parts) if figure is not None]
    if not figures:
        return ""
    note = "" if len(figures) == len(runs.results) else NOTES[len(figures)][0]
    return times_as_fast(statistics.median(figures)).rstrip("×") + note


def compare(machines):
    """The table of the machines' runs, by their names."""
    heads = [MACHINES[name] + (f", {len(runs.results)} of {runs.expected} runs" if runs.missing() else "")
             for name, runs in machines.items()]
    head = ("what", "against", *(f"{title}:" for title in heads))
    return table(head, [(what, against, *(cell(runs, find) for runs in machines.values())) for what, against, find in ROWS])


def refill(text, machines):
    """The text of README.md with the figures of these runs in its table."""
    begin, filled = text.index("| what | against |"), compare(machines)
    after = text[text.index("\n\n", begin) + 2:]
    if after.startswith(tuple(NOTES.values())):
        after = after[after.index("\n\n") + 2:]
    notes = " ".join(note for note in NOTES.values() if note[0] in filled)
    return f"{text[:begin]}{filled}\n{notes}\n\n{after}" if notes else f"{text[:begin]}{filled}\n{after}"
