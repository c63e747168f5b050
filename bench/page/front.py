"""A machine's page: targets, worst cases, pictures, and how it was measured."""

import statistics

from page import targets
from page import worst
from page.tables_pictures import ahead
from page.words import table

#: What each picture shows, in words.
CAPTIONS = {
    "scale": "Time against rows",
    "queries": "Total time against the number of queries, all that comes before them included",
    "accuracy": "Error against time, on values that cancel",
    "exponents": "Speed of the exact sum against the spread of the exponents",
    "changes": "Time of the next query against the pages that were changed",
}

METHOD = """## How it was measured

- {count}
  No part was measured again by itself.
- In a run, candidates take turns; a time is the median of several rounds, and a speed the median of
  the quotients of both times in each round. More is better for every speed.
- What stands here is the median of the runs; a range goes from the least to the greatest. For
  targets that is the range of the runs' figures, for pictures and raw tables that of all their
  rounds.
- Databases were read back from disk before and are held in memory by the system. Results of views
  were compared with those of their SELECTs, to the bit; what differs is said where it was found.
- DuckDB, NumPy and Python have the values in memory in a form of their own; only the total time of
  queries includes how they came there.
- Machines that are shared are noisy: a speed holds better than a time. Reading pages depends on the
  machine's memory more than on anything here, and on whether it was touched before, so that its
  range belongs to the figure.

The raw figures are in [{name}-tables.md]({name}-tables.md). Both pages are made of the runs' JSON
alone.
"""


def machine_name(results):
    """What tells the machine from others: its device, or its cores where those are the device."""
    machine = results["machine"]
    device = machine["device"]
    if device and device["type"] != "cpu":
        return device["name"]
    if not device:
        return f"{machine['cores']} cores"
    platform = device["platform"].replace("Portable Computing Language", "PoCL")
    return f"{platform} on {machine['cores']} cores"


def calls_words(run):
    """In how many calls a run was measured that had no time for all of it in one."""
    return "" if run["calls"] == 1 else f", in {run['calls']} calls"


def machine(runs):
    """The machine, the runs, and what is missing."""
    about = runs.whole["machine"]
    device, memory_bytes = about["device"], about["memory_bytes"]
    memory_size = f", {memory_bytes / 2**30:.0f} GiB" if memory_bytes else ""
    lines = [f"# {machine_name(runs.whole)}", "",
             f"- {about['processor']}, {about['cores']} cores{memory_size}; {about['system']}"]
    if device:
        lines.append(f"- {device['name']} ({device['type']}, {device['compute_units']} compute "
                     f"units, {int(device['memory_bytes']) / 2**30:.0f} GiB): {device['driver']}")
    lines.append("- " + ", ".join(f"{name} {version}"
                                  for name, version in about["versions"].items() if version))
    lines.append(f"- made by `{runs.whole['command']}`, with {runs.whole['rows']:,} rows")
    lines += [f"- run {number}: {run['started']} to {run['ended']} UTC{calls_words(run)}"
              for number, run in sorted(runs.results.items())]
    lines += [f"- **run {number} is missing**" for number in runs.missing()]
    for number, run in sorted(runs.results.items()):
        if run["left"]:
            lines.append(f"- missing (run {number}), for want of time: {', '.join(run['left'])}")
    # A sentence on what was not measured is the same in every run that it is about.
    reasons = {}
    for number, run in sorted(runs.results.items()):
        for reason in run["missing"]:
            reasons.setdefault(reason, []).append(str(number))
    for reason, numbers in reasons.items():
        where = "" if len(numbers) == len(runs.results) else f" (run {', '.join(numbers)})"
        lines.append(f"- missing{where}: {reason}")
    return "\n".join(lines) + "\n"


def target_row(target, runs):
    """A target with the median of the runs, their range, and how many of them met it."""
    figures = [figure for figure in map(target.figure, runs.results.values()) if figure is not None]
    if not figures:
        return target.what, target.goal(), "not measured", "", ""

    def show(figure):
        return targets.show(figure, target.unit)

    met = sum(map(target.is_met, figures))
    words = f"{met} of {runs.expected} met"
    return (target.what, target.goal(), show(statistics.median(figures)),
            f"{show(min(figures))} to {show(max(figures))}",
            words if met == runs.expected else f"**{words}**")


def goals(runs):
    """Each target; of runs of some parts, those that were measured."""
    is_whole = "kernel" in runs.whole["parts"]
    rows = [target_row(target, runs) for target in targets.of_machine(runs.whole)]
    rows = [row for row in rows if is_whole or row[2] != "not measured"]
    if not rows:
        return None
    return "## Targets\n\n" + table(("what", "target:", "median:", "runs:", "met"), rows)


def count_words(runs):
    """A sentence on how many runs there are."""
    if runs.expected == 1:
        return f"`{runs.whole['command']}` ran once."
    if runs.missing():
        return (f"Of {runs.expected} runs of the whole bench, one after the other, by the same "
                f"command, {len(runs.missing())} failed or are missing, and are not replaced.")
    return f"The whole bench ran {runs.expected} times, one after the other, by the same command."


def break_even(results):
    """Sentences on who is ahead in the total time of queries."""
    part = results["parts"].get("queries")
    if not part:
        return ""
    who = {"view, host": "the view on the host", "view, auto": "the view on the GPU"}
    told = [f"- In total time {who[row['name']]} is ahead of {row['against']} {ahead(row)}.\n"
            for row in part["break_even"]]
    if part["imported"]:
        told.append(f"- DuckDB imported {part['imported']}.\n")
    return "\n" + "".join(told)


def page(runs, pictures):
    """The page, with those pictures whose names and files are given."""
    sections = [machine(runs), goals(runs), worst.section(runs.whole)]
    if pictures:
        notes = {"queries": break_even(runs.whole)}
        sections.append("## Pictures\n\n" + "\n".join(
            f"{CAPTIONS[name]}:\n\n![{CAPTIONS[name]}]({file})\n{notes.get(name, '')}"
            for name, file in pictures.items()))
    sections.append(METHOD.format(name=runs.name, count=count_words(runs)))
    return "\n".join(section for section in sections if section)
