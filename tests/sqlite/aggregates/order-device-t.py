"""Order statistics and distinct values of rows that are fed, put in order by a device.

The host's answers, which order-t.py holds against exact references, are the oracle: a device that
is asked by name gives the same ones, to the bit, and what it cannot answer stays with the host.
"""

import math
import os
import time

import support
import tap
import view_support as views
from reference import Failure

ROWS = 40_000
TIMEOUT_S = 60

#: What a device puts in order, and so many numbers of eight bytes it takes for that.
KEPT = {
    "SELECT gpu_median(x) FROM t": 1,
    "SELECT gpu_percentile(x, 12.5), gpu_percentile_disc(x, 0.999) FROM t": 2,
    "SELECT gpu_median(i), gpu_percentile_cont(i, 0.3), gpu_percentile(z, 100) FROM t": 3,
    "SELECT gpu_count_distinct(x), gpu_count_distinct(i) FROM t": 2,
    "SELECT gpu_mode(x), gpu_mode(i) FROM t": 2,
    "SELECT gpu_percentile_disc(z, 0), gpu_median(holes) FROM t WHERE g > 1": 1,
}

#: What may begin there, and ends on the host, or never begins: both types, TEXT that comes late,
#: few different values, windows, small groups.
OTHERS = (
    "SELECT gpu_median(y), gpu_percentile_disc(y, 0.25), gpu_count_distinct(y), gpu_mode(y) FROM"
    " (SELECT x AS y FROM t UNION ALL SELECT i FROM t)",
    "SELECT gpu_mode(y), typeof(gpu_mode(y)), gpu_count_distinct(y) FROM"
    " (SELECT 5.0 AS y UNION ALL SELECT rowid FROM t)",
    "SELECT gpu_count_distinct(y), gpu_mode(y) FROM"
    " (SELECT i AS y FROM t UNION ALL SELECT 'text' || g FROM t UNION ALL SELECT i FROM t)",
    "SELECT gpu_count_distinct(g), gpu_mode(g), gpu_median(g) FROM t",
    "SELECT g, gpu_median(x), gpu_count_distinct(i), gpu_mode(z) FROM t GROUP BY g ORDER BY g",
    "SELECT gpu_median(DISTINCT i), gpu_count_distinct(x) FILTER (WHERE g <> 2) FROM t",
    "SELECT gpu_median(x), gpu_count_distinct(x) FROM t WHERE g > 9",
    "SELECT max(a), sum(b), max(c), sum(d) FROM (SELECT gpu_median(x) OVER w AS a,"
    " gpu_percentile(i, 90) OVER w AS b, gpu_mode(x) OVER w AS c, gpu_count_distinct(i) OVER w AS d"
    " FROM t WHERE rowid <= 3000 WINDOW w AS (ORDER BY rowid ROWS 900 PRECEDING))",
    "SELECT gpu_median(a), gpu_mode(b) FROM (SELECT gpu_median(x) OVER (ORDER BY g) AS a,"
    " gpu_count_distinct(i) OVER (ORDER BY g) AS b FROM t)",
    "SELECT gpu_median(y) FROM (SELECT x AS y FROM t UNION ALL SELECT 9e999)",
    "SELECT gpu_median(y) FROM (SELECT x AS y FROM t UNION ALL SELECT 'x')",
)


def fill(db, rng):
    """Numbers of all magnitudes, mostly different, and both zeros."""
    db.execute("CREATE TABLE t(g, x, i, z, holes)")
    for row in range(ROWS):
        x = rng.choice((0.0, -0.0, 0.5, 2.5) if row % 8 == 0 else (rng.gauss(0, 1), rng.random()))
        i = 7 if row % 9 == 0 else rng.choice((rng.randrange(-(2**63), 2**63), rng.randrange(2**40)))
        z = math.ldexp(rng.uniform(-1, 1), rng.randint(-1000, 1000))
        db.execute(
            "INSERT INTO t VALUES (?, ?, ?, ?, ?)",
            (row * 4 // ROWS, x, i, z, i if row % 7 else None),
        )
    db.commit()


def copy(source, device):
    """The same table on a connection whose numbers go to that device, however few they are."""
    db = support.connect(device, host_threshold=1)
    source.backup(db)
    return db


def sent(db):
    """What has been put in order for the connection: bytes, and launches of kernels."""
    now = support.stats(db)
    return now["bytes_to_device"], now["kernels_launched"]


def served(db, select):
    """Runs a SELECT until it is the device that answers: one that is busy is not waited for."""
    before, limit = sent(db), time.monotonic() + TIMEOUT_S
    while sent(db) == before and time.monotonic() < limit:
        support.rows(db, select)
    return sent(db) > before


def test_kept(db, host, device):
    """The first answers are the host's, while the device starts; then they are the device's."""
    for select, calls in KEPT.items():
        batch = support.Batch(f"{device}: {select}")
        want, limit, times = support.rows(host, select), time.monotonic() + TIMEOUT_S, 0
        while times < 3 and time.monotonic() < limit:
            before = sent(db)
            batch.compare(support.rows(db, select), want, "the answer")
            after = sent(db)
            count = support.value(db, "SELECT count(*) FROM t" + select.partition("FROM t")[2])
            times += after[0] - before[0] > 0.8 * calls * 8 * count and after[1] > before[1]
        batch.check(times == 3, "the device has answered")
        batch.end()


def test_others(db, host, device):
    """What a device does not put in order, or not to the end."""
    for select in OTHERS:
        want = views.comparable(support.rows(host, select))
        for _ in range(2):
            got = views.comparable(support.rows(db, select))
            tap.is_equal(got, want, f"{device}: {select}")


def test_memory(db, host, device):
    """Past values_memory: the host's error, or the answer, which the host then has not to have."""
    calls = ("gpu_median(x)", "gpu_percentile(i, 30)", "gpu_count_distinct(i)", "gpu_mode(x)")
    answers = {call: support.rows(host, f"SELECT {call} FROM t") for call in calls}
    for limit in (1_000, 100_000, 300_000, 700_000, 1_500_000):
        for other in (db, host):
            support.configure(other, values_memory=limit)
        for call, answer in answers.items():
            got, want = (support.rows(other, f"SELECT {call} FROM t") for other in (db, host))
            tap.ok(
                tap.is_same(views.comparable(got), views.comparable(want))
                or (isinstance(want, Failure) and tap.is_same(got, answer)),
                f"{device}, {limit} bytes: {call}: {got}",
            )
    for other in (db, host):
        support.configure(other, values_memory=0)


def test_stopped(db, device):
    """A statement that is stopped when all its rows have come launches nothing (clause 8)."""
    stop = [False]

    def interrupt():
        db.interrupt()

    def ask_to_stop():
        stop[0] = True

    db.create_function("interrupt_it", 0, interrupt)
    db.create_function("ask_to_stop", 0, ask_to_stop)
    for call in ("gpu_median(y)", "gpu_count_distinct(y)", "gpu_mode(y)"):
        select = f"SELECT {call} FROM (SELECT x AS y FROM t UNION ALL SELECT "
        before = sent(db)
        got = support.rows(db, select + "interrupt_it())")
        tap.ok("interrupted" in str(got), f"{device}: {call} is interrupted")
        stop[0] = False
        db.set_progress_handler(lambda: stop[0], 1)
        got = support.rows(db, select + "ask_to_stop())")
        db.set_progress_handler(None, 0)
        tap.ok("interrupted" in str(got), f"{device}: {call} is stopped by a progress handler")
        tap.is_equal(sent(db), before, "and launches nothing")
        tap.ok(served(db, select + "NULL)"), "as it does otherwise")


def test_forked(db, host, device):
    """A child after fork() has no device, and the same answers; its parent goes on."""
    wants = {select: support.rows(host, select) for select in KEPT}
    half = db.execute("SELECT gpu_median(x) OVER (ORDER BY g) FROM t")
    half.fetchone()
    child = os.fork()
    if child == 0:
        right = all(
            tap.is_same(support.rows(db, select), want) for select, want in wants.items()
        )
        half.close()
        os._exit(0 if right else 1)
    tap.is_equal(os.waitpid(child, 0)[1], 0, f"{device}: a child's answers")
    half.close()
    for select, want in wants.items():
        tap.is_equal(support.rows(db, select), want, f"{device}: the parent's answers")
        tap.ok(served(db, select), f"{device}: by the device")


def main():
    """Every test, on each device."""
    rng = support.seed()
    host = support.connect()
    fill(host, rng)
    devices = views.devices()[1:]
    if not devices:
        tap.skip(1, "no OpenCL device")
    for device in devices:
        db = copy(host, device)
        test_kept(db, host, device)
        test_others(db, host, device)
        test_memory(db, host, device)
        test_stopped(db, device)
        test_forked(db, host, device)
        db.close()
    host.close()
    tap.done()


if __name__ == "__main__":
    main()
