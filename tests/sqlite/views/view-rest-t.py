"""Views on devices that have no room for whole columns: the device goes over the first rows, and the host over the rest.

SQLite's own answer to the SELECT is the oracle, as in view_support.py, and that of a host alone, whose bits the two
together must give. Devices get copies here, for which the setting device_memory makes room.
"""

import os
import random
import re
import threading
import time

os.environ["CLREDUCE_DEVICE_COLUMNS"] = "copied"

import support
import tap
import view_support as views

FOLDER = views.Folder()
ROWS = 60_000 if tap.QUICK else 200_000

#: Seconds to wait for a part that is to come.
PATIENCE_S = 60

#: Bytes a row of the columns below on a device: REALs and NULLs, INTEGERs, narrow INTEGERs and NULLs, several types.
WIDTHS = {"x": 9, "i": 8, "n": 3, "m": 9}

#: What a query asks, and of which columns.
SELECTS = {
    "real": ("SELECT gpu_sum(x), gpu_max(x), gpu_min(x), count(x), count(*) FROM t", "x"),
    "integer": ("SELECT gpu_total(i), gpu_min(i), max(i), gpu_stddev_pop(i) FROM t", "i"),
    "narrow": ("SELECT gpu_sum(n), gpu_avg(n), min(n), max(n) FROM t", "n"),
    "mixed": ("SELECT gpu_sum(m), gpu_max(m), count(m), count(*) FROM t", "m"),
    "filter": ("SELECT gpu_sum(x), count(*), gpu_max(n) FROM t WHERE n % 7 = 3 AND x > 1000", "xn"),
    "expressions": ("SELECT gpu_sum(x * 3 - n), gpu_dot(x, n), gpu_avg(abs(x)), count(m) FILTER (WHERE n > 0) FROM t", "xnm"),
    "moved": ("SELECT gpu_sum(n + 1), gpu_sum(n + 2), gpu_sum(n + 3), gpu_sum(n - 4) FROM t", "n"),
    "nobody": ("SELECT gpu_sum(x), count(*), gpu_min(i) FROM t WHERE n > 100000", "xin"),
}


def make(path, journal="wal"):
    """The table, and the connection that changes it."""
    db = views.connect(path, isolation_level=None)
    db.execute(f"PRAGMA journal_mode = {journal}")
    db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, x REAL, i INT, n INT, m)")
    fill(db, 1, ROWS)
    return db


def fill(db, first, last):
    db.execute(
        "WITH RECURSIVE r(k) AS (VALUES (?) UNION ALL SELECT k + 1 FROM r WHERE k < ?)"
        " INSERT INTO t SELECT k, CASE WHEN k % 11 = 0 THEN NULL ELSE (k * 7919 % 65537) / 7.0 END,"
        " (k * 104729 % 4001 - 2000) << 40, CASE WHEN k % 13 = 0 THEN NULL ELSE k * 31 % 60000 END,"
        " CASE k % 3 WHEN 0 THEN NULL WHEN 1 THEN k ELSE k / 3.0 END FROM r",
        (first, last),
    )


def open_views(path, device):
    """A connection with the views."""
    db = views.connect(path, device=device, isolation_level=None)
    for name, (select, _) in SELECTS.items():
        views.create(db, name, select)
    return db


def room(db, device_rows, columns):
    """Has devices have room for so many rows of these columns. Nothing is there that was before."""
    views.evict(db)
    support.configure(db, device_memory=device_rows * sum(WIDTHS[name] for name in columns))


def host_rows(db, name):
    """Over how many rows the host went beside a device for the view's last answer, or None."""
    found = re.fullmatch(r"accelerated: device .*, and host \((\d+) rows\)", views.plan(db, name)[0])
    return int(found[1]) if found else None


def device_rows(db):
    """How many rows of each column devices have."""
    return dict(db.execute("SELECT \"column\", device_rows FROM clreduce_columns WHERE \"table\" = 't'"))


def device_bytes(db):
    return support.value(db, "SELECT max(column_bytes) FROM clreduce_devices")


def ask_until(db, name, batch, what, done):
    """Asks a view until the plan is as wanted; each answer is compared. Returns whether it is."""
    want = views.comparable(views.outcome(db, SELECTS[name][0]))
    end = time.monotonic() + PATIENCE_S
    while True:
        got = views.comparable(views.ask(db, name))
        if not tap.is_same(got, want):
            batch.compare(got, want, f"{what}: {name}")
            return False
        if done(db, name):
            return True
        if time.monotonic() > end:
            return False
        time.sleep(0.002)


def is_divided(db, name):
    return host_rows(db, name) is not None


def is_devices(db, name):
    line = views.plan(db, name)[0]
    return line.startswith("accelerated: device") and "host" not in line


def is_settled(db, name):
    """Whether it is divided, or the device's; TEXT among the numbers is for SQLite."""
    return is_divided(db, name) or is_devices(db, name) or views.plan(db, name)[0].startswith("row by row")


def compare(db, batch, what):
    """All views against their SELECTs."""
    for name, (select, _) in SELECTS.items():
        batch.compare(views.comparable(views.ask(db, name)), views.comparable(views.outcome(db, select)), f"{what}: {name}")


def test_shares(device):
    """Room for parts of all sizes: both do their part of each query, as plan, columns and counters say."""
    path = FOLDER.new()
    make(path).close()
    db = open_views(path, device)
    batch = support.Batch(f"{device}: a part on the device, the rest on the host")
    for share in (0.5, 0.16, 0.3, 0.9):
        rows = int(ROWS * share)
        for name, (select, columns) in SELECTS.items():
            what = f"{share} of {name}"
            room(db, rows, columns)
            if name == "nobody":  # its blocks are left out, as zones tell, by whoever has them
                compare(db, batch, what)
                continue
            if not batch.check(ask_until(db, name, batch, what, is_divided), f"{what}: {views.plan(db, name)}"):
                continue
            kept = {device_rows(db)[column] for column in columns}
            batch.compare(len(kept), 1, f"{what}: as many rows of each column: {kept}")
            there = kept.pop()
            batch.check(rows - 2048 < there <= rows, f"{what}: {there} rows on the device, with room for {rows}")
            batch.compare(host_rows(db, name), ROWS - there, f"{what}: the host's rows")
            batch.check(any(f", {there} rows also on" in line for line in views.plan(db, name)), f"{what}: the plan's columns")
            batch.check(device_bytes(db) <= rows * sum(WIDTHS[c] for c in columns), f"{what}: bytes of the device")
            before = support.stats(db)
            batch.compare(views.comparable(views.ask(db, name)), views.comparable(views.outcome(db, select)), what)
            after = support.stats(db)
            for stat in ("scans_on_device", "scans_on_host"):
                batch.compare(after[stat] - before[stat], 1, f"{what}: {stat}")
            batch.check(after["kernels_launched"] > before["kernels_launched"], f"{what}: kernels")
            batch.compare(after["column_bytes_copied"] - before["column_bytes_copied"], 0, f"{what}: rows stay there")
    batch.end()
    support.configure(db, device_memory=0)
    db.close()


def test_too_small(device):
    """Less than an eighth is not worth a part; nor do groups and order statistics have one."""
    path = FOLDER.new()
    make(path).close()
    db = open_views(path, device)
    batch = support.Batch(f"{device}: no part")
    room(db, ROWS // 9, "x")
    for _ in range(12):
        batch.compare(views.comparable(views.ask(db, "real")), views.outcome(db, SELECTS["real"][0]), "a ninth")
    batch.compare(views.plan(db, "real")[0], "accelerated: host", "a ninth")
    batch.compare(device_rows(db), {"x": 0}, "a ninth: rows on the device")
    room(db, ROWS // 2, "xn")
    for select in ("SELECT n % 3, gpu_sum(x) FROM t GROUP BY 1", "SELECT gpu_median(x), gpu_sum(n) FROM t"):
        for _ in range(12):
            got = views.through_view(db, select)
            batch.check(isinstance(got, list) and got, f"{select}: {got}")
        batch.check("and host" not in views.plan(db, "view_of_it")[0], select)
        batch.compare(set(device_rows(db).values()), {0}, f"{select}: rows on the device")
    batch.end()
    support.configure(db, device_memory=0)
    db.close()


CHANGES = (
    "UPDATE t SET x = -x WHERE id = 17",
    f"UPDATE t SET x = x + 0.5, n = n - 1, m = 3 WHERE id = {ROWS - 5}",
    "UPDATE t SET i = i + 1, n = NULL WHERE id % 5000 = 5",
    f"INSERT INTO t SELECT id + {ROWS}, x, -i, n, m FROM t WHERE id < 300",
    "DELETE FROM t WHERE id BETWEEN 500 AND 900",
    "UPDATE t SET m = 'text' WHERE id = 99",
    "UPDATE t SET m = 2.5 WHERE id = 99",
    "UPDATE t SET n = 70000 WHERE id = 2000",
    "UPDATE t SET n = 1 WHERE id = 2000",
    "UPDATE t SET m = 1, x = 0.5 WHERE id % 2 = 0",
    f"DELETE FROM t WHERE id > {ROWS // 2}",
    "DELETE FROM t WHERE id > 400",
)


def test_changes(device, journal):
    """Parts go with the table, of whichever connection a change is."""
    path = FOLDER.new()
    writer = make(path, journal)
    db, other = open_views(path, device), open_views(path, device)
    batch = support.Batch(f"{device}, {journal}: changes of columns that are there in part")
    # Too little for whole copies of x and n at once, beside which m would have no part.
    room(db, ROWS * 2 // 5, "xinm")
    for change in CHANGES:
        divided = ask_until(db, "expressions", batch, change, is_settled)
        batch.check(divided, f"{change}: divided before, or all there, or SQLite's: {views.plan(db, 'expressions')}")
        writer.execute(change)
        compare(db, batch, change)
        compare(other, batch, f"{change}, another connection")
        db.execute("BEGIN")
        compare(db, batch, "in a transaction")
        if journal == "wal":
            writer.execute("UPDATE t SET i = i / 2 WHERE id % 50 = 3")
        compare(other, batch, f"{change}: while one reads the old version")
        compare(db, batch, "of the old version")
        db.execute("COMMIT")
        db.execute("BEGIN")
        db.execute("UPDATE t SET x = x + 1")
        compare(db, batch, "its own changes")
        db.execute("ROLLBACK")
        compare(db, batch, "a rollback")
    batch.end()
    support.configure(db, device_memory=0)
    for connection in (writer, db, other):
        connection.close()


def test_kept(device):
    """A change of a few rows sends these alone, and one of rows that the host has sends nothing."""
    path = FOLDER.new()
    writer = make(path)
    db = open_views(path, device)
    # What a commit has changed is known between two snapshots of one log: so there has to be one.
    writer.execute("UPDATE t SET i = i + 1 WHERE id = 100")
    batch = support.Batch(f"{device}: parts are refreshed")
    room(db, ROWS // 2, "i")
    batch.check(ask_until(db, "integer", batch, "first", is_divided), "divided")
    whole = device_rows(db)["i"] * WIDTHS["i"]
    for what, change, most in (
        ("a row of the host's", f"UPDATE t SET i = 77 << 40 WHERE id = {ROWS - 3}", 0),
        ("rows behind the last", f"INSERT INTO t(id, i) VALUES ({ROWS + 1}, 5), ({ROWS + 2}, 6)", 0),
        ("a row of the device's", "UPDATE t SET i = 78 << 40 WHERE id = 3", whole // 4),
    ):
        before = support.stats(db)["column_bytes_copied"]
        writer.execute(change)
        batch.check(ask_until(db, "integer", batch, what, is_divided), f"{what}: divided again")
        sent = support.stats(db)["column_bytes_copied"] - before
        batch.check(sent <= most, f"{what}: {sent} bytes were sent")
        batch.check(sent > 0 or most == 0, f"{what}: it was sent")
    batch.end()
    support.configure(db, device_memory=0)
    for connection in (writer, db):
        connection.close()


def test_setting(device):
    """More room and less of it, from query to query: parts grow, become whole, and go."""
    path = FOLDER.new()
    make(path).close()
    db = open_views(path, device)
    batch = support.Batch(f"{device}: the room changes")
    room(db, ROWS // 2, "x")
    batch.check(ask_until(db, "real", batch, "half", is_divided), "half of it")
    for share, most in ((0.25, 0.25), (0.3, 0.3), (0.8, 0.8)):
        rows = int(share * ROWS)
        support.configure(db, device_memory=WIDTHS["x"] * rows)
        wanted = lambda c, v: is_divided(c, v) and rows / 1.5 - 2048 < ROWS - host_rows(c, v) <= rows
        batch.check(ask_until(db, "real", batch, share, wanted), f"{share}: {views.plan(db, 'real')}")
        batch.check(device_bytes(db) <= WIDTHS["x"] * rows, f"{share}: {device_bytes(db)} bytes")
    support.configure(db, device_memory=0)
    batch.check(ask_until(db, "real", batch, "all", is_devices), f"room for all: {views.plan(db, 'real')}")
    batch.compare(device_bytes(db), WIDTHS["x"] * ROWS, "a whole copy takes the part's place")
    views.evict(db)
    support.configure(db, device_memory=1)
    batch.check(ask_until(db, "real", batch, "none", lambda c, v: views.plan(c, v)[0] == "accelerated: host"), "no room")
    batch.compare(device_bytes(db), 0, "nothing is left there")
    support.configure(db, device_memory=0)
    batch.end()
    db.close()


def test_others(device):
    """A whole copy takes the room of parts, and a part that of what nobody uses any more, not of what is used."""
    path = FOLDER.new()
    make(path).close()
    db = open_views(path, device)
    batch = support.Batch(f"{device}: several queries share the room")
    room(db, ROWS * 3 // 4, "x")
    batch.check(ask_until(db, "real", batch, "first", is_divided), "a part of x")
    batch.check(ask_until(db, "narrow", batch, "whole", is_devices), "all of n, which fits")
    batch.check(device_bytes(db) <= WIDTHS["x"] * ROWS * 3 // 4, f"{device_bytes(db)} bytes")
    batch.check(ask_until(db, "filter", batch, "both", is_divided), f"x and n: {views.plan(db, 'filter')}")
    batch.compare(device_rows(db)["n"], ROWS, "n stays whole")
    before = support.stats(db)["column_bytes_copied"]
    for _ in range(20):  # in turn
        for name in ("filter", "integer"):
            batch.compare(views.comparable(views.ask(db, name)), views.comparable(views.outcome(db, SELECTS[name][0])), name)
    batch.compare(support.stats(db)["column_bytes_copied"] - before, 0, "in turn, nothing is copied")
    batch.check(ask_until(db, "integer", batch, "others", is_divided), "what nobody else asks for goes")
    batch.end()
    support.configure(db, device_memory=0)
    db.close()


def test_skipping(device):
    """Blocks that are left out: of the device's rows, of the host's, or of both."""
    path = FOLDER.new()
    writer = views.connect(path, isolation_level=None)
    writer.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, x REAL, i INT, n INT, m)")
    writer.execute(
        "WITH RECURSIVE r(k) AS (VALUES (1) UNION ALL SELECT k + 1 FROM r WHERE k < ?)"
        " INSERT INTO t SELECT k, k / 7.0, k * 1000003, k % 500, k FROM r", (ROWS,),
    )
    db = views.connect(path, device=device, isolation_level=None)
    batch = support.Batch(f"{device}: blocks of a divided scan")
    views.create(db, "range", "SELECT gpu_sum(x), count(*), gpu_min(i), gpu_max(n) FROM t WHERE i BETWEEN ? AND ?")
    room(db, ROWS // 2, "xin")
    marker = random.Random(7)
    seen = set()
    end = time.monotonic() + PATIENCE_S
    turn = 0
    while turn < 60 or (len(seen) < 3 and time.monotonic() < end):
        first = marker.randrange(ROWS)
        for bounds in ((first, first + marker.randrange(ROWS)), (0, ROWS // 4), (ROWS - 3000, ROWS), (ROWS // 4, ROWS - 5000)):
            sql = "SELECT gpu_sum(x), count(*), gpu_min(i), gpu_max(n) FROM t WHERE i BETWEEN ? AND ?"
            bounds = tuple(bound * 1000003 for bound in bounds)
            batch.compare(views.ask(db, "range", bounds), views.outcome(db, sql, bounds), f"{bounds}")
            line = views.plan(db, "range")[0]
            seen.add("both" if "and host" in line else "device" if "device" in line else "host")
        turn += 1
    batch.compare(seen, {"both", "device", "host"}, "each did some alone, and both together")
    batch.end()
    support.configure(db, device_memory=0)
    for connection in (writer, db):
        connection.close()


def test_interrupts(device):
    """An interrupt at any moment of a divided scan leaves all in order."""
    path = FOLDER.new()
    make(path).close()
    db = open_views(path, device)
    batch = support.Batch(f"{device}: divided scans that are interrupted")
    want = views.comparable(views.outcome(db, SELECTS["expressions"][0]))
    room(db, ROWS // 2, "xnm")
    batch.check(ask_until(db, "expressions", batch, "before", is_divided), "divided")
    start = time.monotonic()
    views.ask(db, "expressions")
    whole = time.monotonic() - start
    for turn in range(40):
        timer = threading.Timer(whole * turn / 40, db.interrupt)
        timer.start()
        got = views.comparable(views.ask(db, "expressions"))
        timer.join()
        batch.check(got == ("error", "SQLITE_INTERRUPT: interrupted") or tap.is_same(got, want), f"turn {turn}: {got}")
    batch.check(ask_until(db, "expressions", batch, "after", is_divided), "divided afterwards")
    batch.end()
    support.configure(db, device_memory=0)
    db.close()


def main():
    found = [device for device in views.devices() if device != "host"]
    if not found:
        tap.skip_all("OpenCL offers no device")
    for device in found:
        started = views.warm(device)
        test_shares(device)
        test_too_small(device)
        for journal in ("delete", "wal"):
            test_changes(device, journal)
        test_kept(device)
        test_setting(device)
        test_others(device)
        test_skipping(device)
        test_interrupts(device)
        started.close()
    tap.done()


main()
