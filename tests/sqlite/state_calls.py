"""Every function that has states, how it is called, and rows for it."""

import statistics_reference as statistics
import support

FUNCTIONS = support.FUNCTIONS + statistics.FUNCTIONS + ("gpu_histogram",)
#: Which functions take one another's states.
FAMILIES = (
    ("gpu_sum", "gpu_total", "gpu_avg"),
    ("gpu_dot",),
    ("gpu_min",),
    ("gpu_max",),
    statistics.SINGLE,
    statistics.PAIRED,
    ("gpu_histogram",),
)
#: Bytes that a state of a few small integers may take.
SMALL_STATE = 40


def call(function, suffix="", x="x", y="y"):
    """The text of a call of the function, or of its state, for the columns."""
    if function == "gpu_histogram":  # of numbers alone
        return f"{function}{suffix}(iif(typeof({x}) IN ('integer', 'real'), {x}, NULL), -5, 9.5, 7)"
    if function in statistics.FUNCTIONS:
        text = statistics.call(function, y, x)
    else:
        text = support.call(function, x, y)
    return text.replace("(", suffix + "(", 1)


def column(function):
    """The column of a table of states that has those of the function."""
    return function[len("gpu_") :]


def columns(suffix="", source=call):
    """A list of all functions' calls, each with the name of its column."""
    return ", ".join(f"{source(name, suffix)} AS {column(name)}" for name in FUNCTIONS)


def numbered(parts, rows):
    """Rows (x, y) with a part each."""
    return [(part, x, y) for part, (x, y) in zip(parts, rows)]


def fill(db, rows):
    """The table t(part, x, y)."""
    support.table(db, "t(part, x, y)", rows)


def keep_states(db):
    """The table s: all functions' states for each part of t, for no rows at all, and NULLs."""
    db.execute("DROP TABLE IF EXISTS s")
    db.execute(f"CREATE TABLE s AS SELECT part, {columns('_state')} FROM t GROUP BY part")
    db.execute(f"INSERT INTO s SELECT -1, {columns('_state')} FROM t WHERE 0")
    db.execute("INSERT INTO s(part) VALUES (-2), (-3)")
