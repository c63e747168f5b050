"""Rows for the statistics, all of which run over them in one query, and what they answer."""

import support
import tap
from reference import Failure
from statistics_reference import FUNCTIONS, call, moments

CALLS = ", ".join(map(call, FUNCTIONS))


def answers(rows):
    """What all functions must answer for a list of rows."""
    return moments(rows).results()


def differences(got, want, what):
    """Says which functions answered something else; None if none did."""
    if isinstance(got, Failure):
        return f"{what}: {got}"
    wrong = [
        f"{name}: got {given!r}, want {right!r}"
        for name, given, right in zip(FUNCTIONS, got, want)
        if not tap.is_same(given, right)
    ]
    return f"{what}\n  " + "\n  ".join(wrong[:4]) if wrong or len(got) != len(want) else None


def same(batch, got, want, what, rows=None):
    """Compares the answers of all functions, and shows the rows if one is wrong."""
    if tap.is_same(tuple(got) if isinstance(got, list) else got, want):
        return batch.check(True, what)
    shown = "" if rows is None else f"\n  rows: {rows!r}"[:600]
    return batch.check(False, f"{differences(got, want, what)}{shown}")


def fill(db, rows):
    """The table t of these rows (y, x)."""
    support.fill(db, [(x, y) for y, x in rows])


def connections():
    """A connection for each way to reduce, by its name; the host's is the first one."""
    runs = [("host", support.connect())]
    runs += [(f"{mode}, small chunks", support.connect(mode, **support.SMALL)) for mode in support.modes()]
    return runs
