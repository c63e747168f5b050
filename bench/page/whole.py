"""Several runs of one command as one: for each figure the median of the runs, with their range.

A run's results are a tree of dictionaries and lists, whose leaves are numbers and words. The trees
of several runs are put together leaf by leaf. A summary (median, min, max) becomes the median of
the medians with the least and the greatest time of all runs; a number becomes the median of the
numbers; a statement that something is right holds if it holds in every run. Elements of lists are
found again by what they are about, so that one that is missing in a run is taken from the others.
"""

import statistics

#: What tells the elements of a list apart: what they are about, not what was measured of them.
IDENTITY = ("name", "device", "sql", "kind", "rows", "bytes", "element", "operation", "threads",
            "spread", "pages", "anew", "queries", "peer", "sqlite", "against", "what", "connections",
            "commits")
#: What stays within a run: the times of its rounds, and texts of its last round.
ROUNDS = ("ns", "sum_ns")


class MismatchError(Exception):
    """Runs that are not of one command on one machine."""


class Runs:
    """The runs of a machine, by their number from 1 on, and how many there should be."""

    def __init__(self, name, results, expected):
        self.name, self.results, self.expected = name, results, expected
        if len({description(run) for run in results.values()}) != 1:
            raise MismatchError(f"{name}: the runs are of other commits, commands, scales or machines")
        share_sqlite(list(results.values()))
        self.whole = combine(list(results.values()))

    def missing(self):
        """The numbers of the runs that are not there."""
        return [number for number in range(1, self.expected + 1) if number not in self.results]


def description(run):
    """What runs must have in common. What a device says of its memory may differ."""
    machine = run["machine"]
    device = machine["device"] or {}
    return (run["command"], run["rows"], machine["processor"], machine["cores"],
            device.get("name"), str(machine["versions"]))


def group_rows(run):
    """A run's lines of views with groups, by what they are about."""
    return by_identity(run["parts"].get("groups", {}).get("rows", ()))


def share_sqlite(runs):
    """Holds the views with groups against SQLite's time in every run: it was measured in one of
    them."""
    known = {}
    for run in runs:
        for key, row in group_rows(run).items():
            if "sqlite_ns" in row:
                known.setdefault(key, row["sqlite_ns"])
    for run in runs:
        for key, row in group_rows(run).items():
            if key in known and "sqlite_ns" not in row:
                row.update(sqlite_ns=known[key], speed=known[key] / row["time_ns"]["median"])


def is_summary(value):
    """Whether a dictionary is a summary of times or speeds."""
    return {"median", "min", "max"} <= value.keys()


def combine_summaries(values):
    """The median of the runs' medians, and the range of all their rounds."""
    return {"median": statistics.median(value["median"] for value in values),
            "min": min(value["min"] for value in values),
            "max": max(value["max"] for value in values),
            "runs": sum(value.get("runs", 1) for value in values)}


def identity(element, number):
    """What an element of a list is about; of what says nothing, its place."""
    if not isinstance(element, dict):
        return number
    return tuple((key, str(element[key])) for key in IDENTITY if key in element) or number


def by_identity(elements):
    """A list's elements by what they are about; the second of the same is told from the first."""
    found = {}
    for number, element in enumerate(elements):
        key, again = identity(element, number), 0
        while (key, again) in found:
            again += 1
        found[key, again] = element
    return found


def combine_lists(values):
    """The elements of all lists, in the order of the first list that has them."""
    lists = [by_identity(value) for value in values]
    keys = list(dict.fromkeys(key for found in lists for key in found))
    return [combine([found[key] for found in lists if key in found]) for key in keys]


def combine_dictionaries(values):
    """The members of all dictionaries."""
    if all(is_summary(value) for value in values):
        return combine_summaries(values)
    keys = list(dict.fromkeys(key for value in values for key in value))
    return {key: combine([value[key] for value in values if key in value])
            for key in keys if key not in ROUNDS}


def combine(values):
    """One tree of several."""
    values = [value for value in values if value is not None]
    if not values:
        return None
    first = values[0]
    if isinstance(first, dict):
        return combine_dictionaries(values)
    if isinstance(first, list):
        return combine_lists(values)
    if isinstance(first, bool):
        return all(values)
    if isinstance(first, (int, float)):
        middle = statistics.median(values)
        return int(middle) if all(isinstance(value, int) for value in values) else middle
    return first
