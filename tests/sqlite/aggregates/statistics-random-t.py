"""The statistics on random and hostile groups, on many rows, and in windows.

The exact answer comes from statistics_reference.py, and every bit has to be right.
"""

import support
import tap
from kinds import KINDS
from moment_kinds import GROUPS
from statistics_reference import FUNCTIONS, Moments, call, common_exponent
from statistics_runs import CALLS, answers, connections, fill, same

#: Random groups of each kind; each is a case for every function, in each mode and order.
GROUPS_OF_A_KIND = 30 if tap.QUICK else 850


def test_groups(rng, runs):
    """Random and hostile groups, all in one table: a check for each kind and way to run them."""
    groups = [(kind, kind_rows(rng)) for kind, kind_rows in GROUPS.items() for _ in range(GROUPS_OF_A_KIND)]
    want = [answers(rows) for _, rows in groups]
    table = [(number, y, x) for number, (_, rows) in enumerate(groups) for y, x in rows]
    for label, db in runs:
        for order in ("as they are", "shuffled"):
            support.table(db, "g(number INTEGER, y, x)", table)
            got = db.execute(f"SELECT number, {CALLS} FROM g GROUP BY number").fetchall()
            found = {row[0]: row[1:] for row in got}
            for kind in GROUPS:
                batch = support.Batch(f"{kind}, {label}, {order}")
                for number, (of_kind, rows) in enumerate(groups):
                    if of_kind == kind:
                        same(batch, found.get(number, ()), want[number], f"group {number}", rows)
            rng.shuffle(table)
    tap.diag(f"{len(groups) * len(FUNCTIONS)} cases in {len(groups)} groups, {len(table)} rows")


def test_long(rng, runs):
    """Groups of many chunks, rows as they are and shuffled, on a source that waits for a device."""
    sizes = (100, 600) if tap.QUICK else (100, 257, 1000, 2049)
    for kind, rows_of in KINDS.items():
        batch = support.Batch(f"many rows, {kind}")
        for size in sizes:
            rows = [(y, x) for x, y in rows_of(rng, size)]
            want = answers(rows)
            for label, db in runs:
                source = "t"
                if label != "host":
                    chunk = max(16, size // rng.choice((1, 3, 10)))
                    support.configure(db, chunk_size=chunk)
                    source = support.lingering(1 + len(FUNCTIONS) * size / chunk / 20)
                fill(db, rows)
                got = db.execute(f"SELECT {CALLS} FROM {source}").fetchone()
                same(batch, got, want, f"{size} rows, {label}")
            rng.shuffle(rows)
            for label, db in runs:
                fill(db, rows)
                got = db.execute(f"SELECT {CALLS} FROM t").fetchone()
                same(batch, got, want, f"{size} rows, {label}, shuffled")


def window_rows(rng, size):
    """Rows of a kind for a while, then of another one: infinities and the like enter and leave."""
    rows = []
    while len(rows) < size:
        rows += GROUPS[rng.choice(list(GROUPS))](rng)
    return rows[:size]


def sliding(rows, before, after):
    """The answers for each row's frame, from moments that rows enter and leave."""
    exact = Moments(common_exponent([value for row in rows for value in row]))
    inside = (0, 0)
    for i in range(len(rows)):
        first, last = max(0, i - before), max(0, min(len(rows), i + after + 1))
        first = min(first, last)
        for y, x in rows[inside[1] : last]:
            exact.add(y, x)
        for y, x in rows[inside[0] : first]:
            exact.add(y, x, -1)
        inside = (first, last)
        yield exact.results()


def test_windows(rng, runs):
    """Frames over which rows enter and leave; each is compared."""
    rows = window_rows(rng, 150 if tap.QUICK else 500)
    calls = ", ".join(f"{call(name)} OVER w" for name in FUNCTIONS)
    frames = (
        ("ROWS 1 PRECEDING", 1, 0),
        ("ROWS 5 PRECEDING", 5, 0),
        ("ROWS BETWEEN 3 PRECEDING AND 2 FOLLOWING", 3, 2),
        ("ROWS BETWEEN 40 PRECEDING AND 20 PRECEDING", 40, -20),
        ("ROWS UNBOUNDED PRECEDING", len(rows), 0),
    )
    for frame, before, after in frames:
        want = list(sliding(rows, before, after))
        for label, db in runs:
            batch = support.Batch(f"{frame}, {label}")
            fill(db, rows)
            got = db.execute(f"SELECT {calls} FROM t WINDOW w AS (ORDER BY rowid {frame}) ORDER BY rowid").fetchall()
            batch.compare(len(got), len(want), "rows")
            for number, (given, right) in enumerate(zip(got, want)):
                nearby = rows[max(0, number - before) : number + 1]
                same(batch, given, right, f"the frame of row {number}", nearby)


def test_device(runs):
    """A device has done some of it."""
    if not support.skip_device(1, "statistics on a device"):
        support.took_part(runs[-1][1], "the statistics")


support.run(globals(), runs=tuple(connections()))
