"""The raw tables of plain SQL, which programs run that nobody changed, as Markdown; None where it was not measured."""

from measuring import gate as cells
from measuring import shapes as selects
from page.words import duration


def shapes(results):
    """SELECTs as applications write them."""
    part = results["parts"].get("shapes")
    if not part:
        return None
    return ("### SELECTs of programs that nobody changed\n\n"
            "Each runs in Python processes of its own, plainly and through `clreduce-run` by turns. The figures say how\n"
            "many times as fast its first run is, its second one, and the median of the later ones.\n\n"
            + selects.HEAD + "\n" + "".join(selects.line(row) + "\n" for row in part["rows"])
            + f"\n{selects.told(selects.summary(part['rows']))}.\n")


def shell(times):
    """A sentence on the shell with the SELECT that the README shows, where there is a shell."""
    if times is None:
        return ""
    # The shell's timer has milliseconds.
    plain, first, again = (duration(times[way] * 1e9) if times[way] > 0 else "less than 1 ms" for way in ("plain", "first", "again"))
    return (f"`sqlite3` with `{cells.SHELL.replace('t{size}', 'events')}` over the largest table takes {plain},\n"
            f"through `clreduce-run` {first}, and the same SELECT again {again}.\n")


def gate(results):
    """What statements of any program take."""
    part = results["parts"].get("gate")
    if not part:
        return None
    found = part["cells"]
    counted = cells.summary(found)
    return ("### Statements of programs that nobody changed\n\n"
            "How many times as fast a statement is through `clreduce-run`, in its first run of a process and in later\n"
            "ones, over tables of so many rows, with `override=off`.\n\n"
            + cells.table(found) + "\n\n"
            f"Of {counted['count']} cells {counted['quicker']} are at least twice as quick, {len(counted['slower'])} slower\n"
            f"in both halves of the processes, by more than 5% and 5 µs, {len(counted['slower_by_chance'])} so by chance, and\n"
            f"{len(counted['different'])} have other rows.\n\n" + shell(part.get("shell")))
