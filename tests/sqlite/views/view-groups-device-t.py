"""Accelerated views with groups on a device: its kernels make them, in local memory or in global.

What a view gives is what its SELECT gives (clause 1 of view.h), to the bit and in its order, and a device
gives it: for keys of codes, of small ranges and with NULLs, few groups and many, what spills out of its
window, and tables that change so that a plan will not do.
"""

import os

import support
import tap
import view_support as views
from domains import DeviceGroups
from matrix import Run

ROWS = 20_000


ASKED = (
    ("SELECT city, count(*), sum(n), gpu_sum(x), gpu_avg(x) FROM t GROUP BY city", ()),
    ("SELECT few, count(few), gpu_min(n), gpu_max(x), min(n), max(x) FROM t GROUP BY few", ()),
    ("SELECT substr(day, 1, 7), gpu_sum(x), count(*) FROM t WHERE n > ?1 GROUP BY 1 ORDER BY 2 DESC LIMIT 5", (3,)),
    ("SELECT city, few, gpu_sum(x) FILTER (WHERE n < 0), gpu_avg(n) FROM t GROUP BY city, few ORDER BY city DESC, few", ()),
    ("SELECT DISTINCT city FROM t", ()),
    ("SELECT DISTINCT few, city FROM t WHERE x > 0", ()),
    ("SELECT many, gpu_sum(x), count(*) FROM t GROUP BY many", ()),
    ("SELECT many, gpu_max(n), gpu_min(x) FROM t GROUP BY many ORDER BY 2, 1 LIMIT 20", ()),
    ("SELECT few, gpu_sum(mixed), count(mixed), gpu_max(mixed) FROM t GROUP BY few", ()),
    ("SELECT few, gpu_sum(wide) FROM t GROUP BY few", ()),
    ("SELECT city, gpu_avg(big) FROM t GROUP BY city", ()),
    ("SELECT CASE WHEN n > 50 THEN 'high' WHEN n > 0 THEN 'low' END, count(*) FROM t GROUP BY 1", ()),
    ("SELECT abs(n) % 7, gpu_dot(n, few), gpu_sum(n * 2) FROM t GROUP BY 1 HAVING gpu_sum(n) <> 0", ()),
    ("SELECT upper(city), gpu_sum_state(x) FROM t GROUP BY 1", ()),
    # Few rows pass, by what the lookups say: they wait for each other.
    ("SELECT many % 4000, gpu_sum(x), count(*), max(n) FROM t WHERE city = 'ORD' AND n > ?1 AND n <= 60 GROUP BY 1", (-40,)),
    ("SELECT few, gpu_sum(n), min(x) FROM t WHERE x < 100.5 AND day LIKE '2011%' AND city > 'a' GROUP BY few", ()),
)

#: A device leaves these to the host, whose answer they have.
HOSTS = (
    ("SELECT city, gpu_median(x) FROM t GROUP BY city", ()),
    ("SELECT x, count(*) FROM t GROUP BY x", ()),
    ("SELECT few, gpu_sum(wild) FROM t GROUP BY few", ()),
)


def test_asked(device, rng):
    """What people ask."""
    # In quick runs each table has some of them, and REALs by integers fewer.
    by_integers = os.environ.get("CLREDUCE_DEVICE_ARITHMETIC") == "integer"
    for rows, step in ((ROWS, 4 if by_integers else 2), (4_000, 5)):
        db = views.connect(views.new(), device)
        DeviceGroups.create(db, rng, rows)
        for select, parameters in ASKED[:: step if tap.QUICK else 1]:
            problem = views.create(db, "asked", select)
            tap.is_equal(problem, None, "a view")
            views.given_by_device(db, "asked", select, parameters)
        for select, parameters in HOSTS:
            views.create(db, "asked", select)
            want = views.outcome(db, select, parameters)
            for _ in range(3):
                tap.is_equal(repr(views.ask(db, "asked", parameters)), repr(want), select)


def test_changes(device, rng):
    """Rows whose keys, types and sizes are others than those that a plan has been made from."""
    db = views.connect(views.new(), device)
    DeviceGroups.create(db, rng, ROWS)
    select = "SELECT few, city, count(*), gpu_sum(mixed), gpu_sum(x), gpu_sum(n), max(n) FROM t GROUP BY few, city"
    views.given_by_device(db, "changing", select, anew=True)
    for change in (
        "INSERT INTO t(few, city, n, x, mixed) VALUES(70, 'new', 5, 0.5, NULL)",
        "UPDATE t SET few = 2000 WHERE id = 17",
        "UPDATE t SET n = 4611686018427387904 WHERE id = 4711",
        "UPDATE t SET x = 1e-310 WHERE id % 3000 = 5",
        "UPDATE t SET x = NULL WHERE id = 99",
        "UPDATE t SET mixed = 0.1 WHERE id = 100",
        "DELETE FROM t WHERE city = 'ORD'",
    ):
        db.execute(change)
        views.given_by_device(db, "changing", select)
    db.execute("UPDATE t SET few = 'text' WHERE id = 7")
    want = views.outcome(db, select)
    for _ in range(3):
        tap.is_equal(repr(views.ask(db, "changing")), repr(want), "a key of text among numbers")
    db.execute("UPDATE t SET few = 9223372036854775807 WHERE id = 7")
    want = views.outcome(db, select)
    for _ in range(3):
        tap.is_equal(repr(views.ask(db, "changing")), repr(want), "a key too far from the others")


#: So many groups: in local memory, there in slices, or in global memory.
COUNTS = (5_000, 10_000, 100_000) if tap.QUICK else (5_000, 10_000, 100_000, 300_000, 1_000_000)


def test_many(device, rng):
    """Many groups, with NULL among their keys, of values that spill and that are NULL, with conditions."""
    for count in COUNTS:
        db = views.connect(views.new(), device)
        values = (
            f"i, CASE WHEN i % 997 > 0 THEN abs(random() % {count}) - 40 END, random() % 100,"
            " CASE WHEN i % 13 > 0 THEN random() % 100000 / 8.0 END,"
            " CASE WHEN i % 501 > 0 THEN random() % 1000000 / 7e4 ELSE 1e-30 * i END"
        )
        support.execute(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, k INTEGER, n INTEGER, x REAL, wide REAL)",
                        support.numbered("t", max(50_000, count * 6 // 10) + rng.randint(0, 5_000), values))
        selects = (
            "SELECT k, gpu_sum(x) FROM t GROUP BY k",
            "SELECT k, count(*), gpu_sum(n), gpu_avg(wide) FROM t WHERE n <> 7 GROUP BY k ORDER BY k DESC",
            "SELECT k, gpu_sum(wide) FILTER (WHERE x > 0), count(x), gpu_min(x), gpu_max(n) FROM t GROUP BY k",
        )[: 3 if count <= 100_000 else 2]
        # In quick runs each number has one of them.
        for select in selects[COUNTS.index(count) :][:1] if tap.QUICK else selects:
            tap.is_equal(views.create(db, "many", select), None, "a view")
            views.given_by_device(db, "many", select, what=f"{count} groups: {select}")


def test_runs(device, rng):
    """Rows in the order of their groups, but for some that are not, in groups few and far between, with conditions."""
    db = views.connect(views.new(), device)
    rows, late = 40_000 + rng.randint(0, 3_000), rng.randint(100, 30_000)
    values = (
        f"i, CASE WHEN i / 5000 <> 3 THEN i / 5000 END, i / 3000 * 97, date('2024-01-30', i / 4000 || ' days'),"
        f" CASE WHEN i BETWEEN {late} AND {late} + 40 THEN -1 ELSE i / 9000 END, random() % 1000,"
        " CASE WHEN i % 13 > 0 THEN random() % 100000 / 8.0 END, CASE WHEN i % 5 > 0 THEN random() % 1000000007 ELSE random() / 7e12 END"
    )
    support.execute(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, k INTEGER, far INTEGER, day TEXT, late INTEGER, n INTEGER, x REAL, mixed)",
                    support.numbered("t", rows, values))
    for select in (
        "SELECT k, count(*), gpu_sum(x), min(n), gpu_max(x) FROM t GROUP BY k",
        "SELECT far, count(*), gpu_sum(mixed), count(x) FROM t GROUP BY far",
        "SELECT day, late, count(*), sum(n), gpu_sum(x) FILTER (WHERE n > 0) FROM t GROUP BY day, late",
        "SELECT substr(day, 1, 7), gpu_max(mixed), gpu_avg(n), gpu_min(x) FROM t WHERE n > -900 GROUP BY 1 ORDER BY 2",
    ):
        views.given_by_device(db, "runs", select, anew=True)
    select = "SELECT far, late, gpu_sum(mixed), max(n), sum(n) FROM t GROUP BY far, late"
    views.given_by_device(db, "runs", select, anew=True)
    for change in (
        f"UPDATE t SET far = far + 1 WHERE id BETWEEN {late} AND {late} + {rng.randint(1, 6_000)}",
        "UPDATE t SET late = 2, n = -n WHERE id % 7 = 3",
        "UPDATE t SET far = 5 * (id % 50)",
    ):
        db.execute(change)
        views.given_by_device(db, "runs", select, what=change)


def test_random(device, rng):
    """Random SELECTs."""
    Run(DeviceGroups, 4 if tap.QUICK else 40, device=device, fast=0.2, on_device=0.2).all(rng)


views.run(globals(), device=views.warmed())
