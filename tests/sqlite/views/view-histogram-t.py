"""Histograms of whole columns, counted by a device.

A view's first queries are the host's, while the device gets the columns and builds what counts
bins; from then on the device answers, and nothing else changes. What it cannot answer stays with
the host.
"""

import math
import time

import support
import tap
import view_support as views

ROWS = 3_000 if tap.QUICK else 12_000
TIMEOUT_S = 60
#: What a device answers.
WHOLE = (
    "SELECT gpu_histogram(x, -2, 2, 7), gpu_histogram(x, -0.5, 4.5, 5), count(x) FROM t",
    "SELECT gpu_histogram(i, 0, 100, 100), gpu_histogram(i, -9223372036854775808, 9.3e18, 1000) FROM t",
    "SELECT gpu_histogram(z, -1e-300, 1e300, 3), gpu_histogram(z, -1e308, 1e308, 2000) FROM t",
    "SELECT gpu_histogram(same, 7, 8, 1), gpu_histogram(infinite, 0.0, 0.5, 2), max(i) FROM t",
    "SELECT gpu_histogram(x, -2, 2, 9), gpu_sum(x), gpu_histogram_state(i, 0, 50, 10) FROM t",
)
#: Order statistics; a filter, NULLs, both types; more bins than rows.
OTHERS = (
    "SELECT gpu_histogram(x, -2, 2, 7), gpu_median(x) FROM t",
    "SELECT gpu_mode(x), gpu_count_distinct(i), gpu_histogram(i, 0, 9, 9) FROM t",
    "SELECT gpu_histogram(x, -2, 2, 7) FROM t WHERE i > 0",
    "SELECT gpu_histogram(x, -2, 2, 7) FILTER (WHERE i > 0), gpu_sum(x) FROM t",
    "SELECT gpu_histogram(x + 1, -2, 2, 7), gpu_histogram(i, 0, 9, 3) FROM t",
    "SELECT gpu_histogram(holes, -2, 2, 7), gpu_histogram(mixed, 0, 9, 9) FROM t",
    "SELECT gpu_histogram(x, -2, 2, 50000) FROM t",
)


def rows(rng):
    """Columns of one type with equal values, both zeros and all magnitudes; and harder ones."""
    for row in range(ROWS):
        x = rng.choice((0.0, -0.0, rng.gauss(0, 1), rng.randrange(-5, 5) + 0.5))
        i = rng.choice((rng.randrange(-(2**63), 2**63), rng.randrange(100)))
        z = math.ldexp(rng.uniform(-1, 1), rng.randint(-1000, 1000)) + 2.0**-1070
        holes = None if row % 3 == 0 else i
        yield x, i, z, 7, holes, i if row % 2 else x, math.inf if row == 5 else x


def fill(path, rng):
    """The table, in a database of its own."""
    db = views.connect(path)
    support.table(db, "t(x REAL, i INT, z REAL, same INT, holes INT, mixed, infinite REAL)", rows(rng))
    db.close()


def verdict(db, name):
    """The plan's first line."""
    return views.plan(db, name)[0]


def ask_until_counted(db, name, want, batch):
    """Asks again and again, comparing each answer, until the device gives it; returns whether."""
    end = time.monotonic() + TIMEOUT_S
    while time.monotonic() < end:
        batch.compare(views.ask(db, name), want, verdict(db, name))
        if verdict(db, name).startswith("accelerated: device"):
            return True
        time.sleep(0.05)
    return False


def test_device(path, device):
    """The same answers before and after, and after a change."""
    db = views.connect(path, device)
    for number, select in enumerate(WHOLE):
        want = views.outcome(db, select)
        views.create(db, f"w{number}", select)
        batch = support.Batch(f"{device}: {select}")
        counted_there = ask_until_counted(db, f"w{number}", want, batch)
        tap.ok(counted_there, f"... at last from the {device}: {verdict(db, f'w{number}')}")
    for number, select in enumerate(OTHERS):
        views.agree(db, f"o{number}", select, (), f"{device}, for the host: {select}", anew=True)
    db.execute("INSERT INTO t(x, i, z) VALUES (1.5, 99, 0.5)")
    for number, select in enumerate(WHOLE):
        views.agree(db, f"w{number}", select, (), f"{device}, after a change: {select}")
    db.execute("DELETE FROM t WHERE rowid = (SELECT max(rowid) FROM t)")


if not views.devices()[1:]:
    tap.skip_all("no device that could count")
PATH = views.new()
fill(PATH, support.seed())
views.run(globals(), path=PATH, device=views.devices()[1:])
