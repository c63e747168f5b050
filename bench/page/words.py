"""Tables of Markdown, and times, speeds and sizes as they stand in them."""

from page.plots import byte_label
from page.targets import times_as_fast


def table(head, rows):
    """A table; columns whose head ends in a colon hold figures."""
    rule = ["---:" if title.endswith(":") else "---" for title in head]
    cells = [[title.rstrip(":") for title in head], rule, *rows]
    return "\n".join(f"| {' | '.join(str(cell) for cell in row)} |" for row in cells) + "\n"


def duration(nanoseconds):
    """A time in the unit that suits it."""
    for unit, name in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if abs(nanoseconds) >= unit:
            value = nanoseconds / unit
            return f"{value:,.0f} {name}" if abs(value) >= 999.5 else f"{value:.3g} {name}"
    return f"{nanoseconds:.3g} ns"


def ranged(summary, form):
    """A summary as its median with the range."""
    return f"{form(summary['median'])} ({form(summary['min'])} to {form(summary['max'])})"


def times(summary):
    """A summary of times."""
    return ranged(summary, duration)


def speed(summary):
    """A summary of how many times something is as fast."""
    return ranged(summary, times_as_fast)


def times_of(line):
    """The summary of the times of a line of device-bench."""
    return {name: line[f"{name}_ns"] for name in ("median", "min", "max")}


def bandwidth(line):
    """The GB/s of a line of device-bench."""
    return f"{line['gbytes_per_s']:,.4g}" if line["gbytes_per_s"] else ""


def mebibytes(count):
    """A size."""
    return f"{count / 2**20:,.1f} MiB"


def same(value):
    """Whether two results are the same, where they were compared."""
    return {True: "same", False: "**another**", None: ""}[value]


__all__ = ["bandwidth", "byte_label", "duration", "mebibytes", "ranged", "same", "speed", "table",
           "times", "times_as_fast", "times_of"]
