"""Accelerated views on several devices of a kind: each has, and scans, some of the rows.

What a view gives is what its SELECT gives (clause 1 of view.h), to the bit, and all of the devices give
it: sums, moments, extremes, filters, lookups, groups and histograms. PoCL is asked for
two devices; of others a test can use what the machine has.
"""

import os

os.environ["POCL_DEVICES"] = "pthread pthread pthread"
# Devices that share the host's columns would take no memory for them.
os.environ["CLREDUCE_DEVICE_COLUMNS"] = "copied"

import support  # noqa: E402  (OpenCL is found when the first connection asks for devices)
import tap  # noqa: E402
import view_support as views  # noqa: E402

ROWS = 5_001


def fill(db, rng, rows=ROWS):
    """Columns of all kinds: INTEGERs wide and narrow, REALs, NULLs, types that mix, text."""
    declared = "t(id INTEGER PRIMARY KEY, city TEXT, few INTEGER, n INTEGER, big INTEGER, x REAL, y REAL, mixed, late, none)"
    support.table(db, declared, (
        (
            None,
            rng.choice(["ORD", "LAX", "Zürich", "", None]),
            rng.randint(-2, 9),
            rng.randint(-99, 99),
            rng.choice([2**62, -(2**62), 1, 0]) + i,
            rng.random() * 10 ** rng.randint(-300, 300),
            rng.randint(-9999, 9999) / 8 if i % 5 else None,
            rng.choice([None, 1, -7, 0.5]),
            1 if i < rows - 3 else 0.25,
            None,
        )
        for i in range(rows)
    ))


SCANS = (
    "SELECT count(*), count(y), gpu_sum(n), gpu_total(big), gpu_sum(x), gpu_sum(mixed), gpu_sum(late) FROM t",
    "SELECT gpu_min(n), gpu_max(big), gpu_min(x), gpu_max(y), gpu_max(mixed), gpu_max(late), gpu_sum(none) FROM t",
    "SELECT gpu_dot(x, y), gpu_corr(n, y), gpu_sum(x + n) FILTER (WHERE few < 3) FROM t WHERE id % 7 < 5",
    "SELECT gpu_sum_state(x), count(*) FROM t WHERE city IN ('ORD', 'Zürich') AND length(city) > 2",
    "SELECT gpu_histogram(x, -500, 500, 20), gpu_histogram(n, 0, 10, 5) FROM t",
)

GROUPS = (
    "SELECT few, count(*), gpu_sum(y), gpu_sum(n), gpu_max(y), gpu_avg(big) FROM t GROUP BY few",
    "SELECT DISTINCT city FROM t WHERE n < 0",
)

#: What several devices leave to the host, whose answer they have.
HOSTS = (
    "SELECT gpu_mode(n) FROM t",
    "SELECT count(DISTINCT n) FROM t",
    "SELECT gpu_median(n), gpu_percentile(big, 10), gpu_percentile(few, 99), gpu_median(id) FROM t",
)


def test_answers(kind, rng, most):
    """All that is asked, of two devices, and some of it of three."""
    for devices, selects in ((most, SCANS[:1]), (2, SCANS[1:] + GROUPS)):
        db = views.connect_several(kind, views.new(), devices)
        fill(db, rng)
        for select in selects:
            tap.is_equal(views.create(db, "asked", select), None, "a view")
            views.given_by_device(db, "asked", select)
            tap.is_equal(views.plan(db, "asked")[0].rpartition(" (")[2], f"{devices} devices)", "by all of them")
        for select in HOSTS:
            views.create(db, "asked", select)
            for _ in range(4):
                tap.is_equal(repr(views.ask(db, "asked")), repr(views.outcome(db, select)), select)
            tap.is_equal(views.plan(db, "asked")[0], "accelerated: host", "the host's")


def test_zones(kind, rng):
    """Blocks that zones leave out are of whole columns, and not of shards: of one device they are left out."""
    selects = (
        "SELECT count(*), gpu_sum(x), gpu_max(n) FROM t WHERE id BETWEEN 1900 AND 4200",
        "SELECT few, count(*), gpu_sum(y) FROM t WHERE id > 3000 GROUP BY few",
        "SELECT DISTINCT city FROM t WHERE id BETWEEN 2500 AND 4700",
    )
    for devices in (2, 1):
        db = views.connect_several(kind, views.new(), devices)
        fill(db, rng)
        for select in selects[:: 2 if tap.QUICK else 1]:
            tap.is_equal(views.create(db, "asked", select), None, "a view")
            for _ in range(3):
                views.given_by_device(db, "asked", select)
            before = support.stats(db)
            views.given_by_device(db, "asked", select)
            after = support.stats(db)
            is_alone = after["scans_on_host"] == before["scans_on_host"]
            skipped = after["blocks_skipped"] - before["blocks_skipped"]
            tap.ok(not is_alone or (skipped > 0) == (devices == 1), f"{skipped} blocks left out by {devices}")


def test_changes(kind, rng):
    """Rows that come, go and change; and a row more or less at the shards' ends."""
    db = views.connect_several(kind, views.new(), 2)
    fill(db, rng, 4_096)
    select = "SELECT count(*), gpu_sum(x), gpu_sum(n), gpu_max(big), gpu_sum(y) FROM t"
    tap.is_equal(views.create(db, "changing", select), None, "a view")
    views.given_by_device(db, "changing", select)
    for change in (
        "INSERT INTO t(n, x) VALUES(5, 0.5)",
        "DELETE FROM t WHERE id IN (1024, 2048, 2049)",
        "UPDATE t SET x = x * 2 WHERE id BETWEEN 2000 AND 2100",
        "UPDATE t SET y = 'text' WHERE id = 4000",
        "UPDATE t SET y = NULL WHERE id = 4000",
        "DELETE FROM t WHERE id > 2500",
    ):
        db.execute(change)
        want = repr(views.outcome(db, select))
        for _ in range(3):
            tap.is_equal(repr(views.ask(db, "changing")), want, change)
    db.execute("DELETE FROM t WHERE id > 900")
    tap.ok(views.ask_device(db, "changing"), "a device gives what is left")
    tap.ok(not views.plan(db, "changing")[0].endswith("devices)"), "one, of so few rows")


def test_sent(kind, rng, most):
    """After a commit in WAL mode each device is sent the changed rows that it has, until the shards begin elsewhere."""
    db = views.connect_several(kind, views.new(), most)
    support.execute(db, "PRAGMA journal_mode = WAL", "PRAGMA wal_autocheckpoint = 0")
    rows, end = 30_000, 30_000 // most // 1024 * 1024
    fill(db, rng, rows)
    db.commit()
    select = "SELECT gpu_sum(n), gpu_sum(x), gpu_max(big) FROM t"
    tap.is_equal(views.create(db, "sent", select), None, "a view")
    views.given_by_device(db, "sent", select)
    for what, change in (
        ("a row of the first shard", "UPDATE t SET n = n + 1, x = -x, big = big - 1 WHERE id = 3"),
        ("a row of the last one", f"UPDATE t SET n = n - 1, x = x / 2 WHERE id = {rows - 5}"),
        ("rows anywhere", "UPDATE t SET x = 17 WHERE id % 9000 = 17"),
        ("rows over the end of one", f"UPDATE t SET x = 7 WHERE id BETWEEN {end - 40} AND {end + 1100}"),
        ("no row", "UPDATE t SET none = 1 WHERE id = 8"),
        ("rows at the end", "INSERT INTO t(n, x, big) VALUES(1, 2.5, 3), (4, -1.5, 6)"),
        ("fewer rows", f"DELETE FROM t WHERE id = {rows}"),
    ):
        before = support.value(db, "SELECT value FROM clreduce_stats WHERE name = 'column_bytes_copied'")
        db.execute(change)
        db.commit()
        views.given_by_device(db, "sent", select)
        sent = support.value(db, "SELECT value FROM clreduce_stats WHERE name = 'column_bytes_copied'") - before
        tap.ok(sent < 4 * rows, f"{what}: {sent} bytes are sent to {most} devices")
    for _ in range(4):
        db.execute("INSERT INTO t(n, x, big) SELECT n, x, big FROM t LIMIT 900")
        db.commit()
        views.given_by_device(db, "sent", select, what="shards that begin elsewhere")


def test_setting(path, kind, rng):
    """The setting `devices`, and who has what."""
    db = views.connect_several(kind, path, 2)
    views.evict(db)
    fill(db, rng)
    select = "SELECT gpu_sum(x) FROM t"
    tap.is_equal(views.create(db, "asked", select), None, "a view")
    views.given_by_device(db, "asked", select)
    sizes = [size for (size,) in db.execute("SELECT column_bytes FROM clreduce_devices WHERE in_use")]
    tap.ok(len(sizes) == 2 and all(size > 0 for size in sizes), f"two devices have columns: {sizes}")
    tap.is_equal(sum(sizes), support.value(db, "SELECT sum(device_bytes) FROM clreduce_columns"), "all that there is")
    tap.ok(any(line.endswith("also on 2 devices") for line in views.plan(db, "asked")), "the plan says where they are")
    reasons = {reason for (reason,) in db.execute("SELECT reason FROM clreduce_devices WHERE NOT in_use AND type = ?", (kind,))}
    are_others = support.value(db, f"SELECT count(*) FROM clreduce_devices WHERE type = '{kind}'") > 2
    tap.is_equal(reasons, {"the setting devices is 2"} if are_others else set(), "why others are not used")
    other = views.connect_several(kind, path, 1)
    views.create(other, "asked", select)
    for _ in range(3):
        tap.is_equal(repr(views.ask(other, "asked")), repr(views.outcome(db, select)), "with another setting")
    tap.is_equal(views.plan(other, "asked")[0], "accelerated: host", "the copies stay where another one uses them")
    other.close()
    support.configure(db, devices=1)
    views.given_by_device(db, "asked", select)
    tap.ok(not views.plan(db, "asked")[0].endswith("devices)"), "then one device has them")
    sizes = [size for (size,) in db.execute("SELECT column_bytes FROM clreduce_devices") if size > 0]
    tap.is_equal(len(sizes), 1, "and the others nothing")
    for wrong in ("-1", "17", "two"):
        problem = views.outcome(db, "SELECT clreduce_set('devices', ?)", (wrong,))
        tap.is_equal(
            problem.message.partition(": ")[2],
            f"clreduce_set: devices must be an integer from 0 to 16, not '{wrong}'",
            "the setting's range",
        )


def test_memory(kind, rng):
    """Columns go from all devices where they take more than column_memory, those used least recently first."""
    db = views.connect_several(kind, views.new(), 2, column_memory=200_000)
    fill(db, rng)
    for column in ("x", "mixed", "x") if tap.QUICK else ("x", "y", "big", "mixed", "late", "x"):
        select = f"SELECT gpu_max({column}) FROM t"
        tap.is_equal(views.create(db, "asked", select), None, "a view")
        views.given_by_device(db, "asked", select)
        sizes = [size for (size,) in db.execute("SELECT column_bytes FROM clreduce_devices WHERE in_use")]
        tap.ok(all(0 < size <= 200_000 for size in sizes), f"no more than column_memory: {sizes}")
    support.configure(db, column_memory=0)


FOUND = views.find_several()
if FOUND is None:
    tap.skip_all("OpenCL has no two devices alike here")
STARTED = views.warm(FOUND[0])
views.run(globals(), kind=FOUND[0], most=min(FOUND[1], 3))
