"""Views on devices whose memory is the host's: they use its columns where they lie, and nothing is copied.

SQLite's own answer to the SELECT is the oracle, as in view_support.py. Such columns must stay as they are while
a device may read them, and change all the same when the table does.
"""

import support
import tap
import view_support as views

ROWS = 8_000 if tap.QUICK else 100_000

#: REALs, INTEGERs of all bytes, values of several types, and codes.
SELECTS = {
    "sums": "SELECT gpu_sum(x), gpu_max(i), count(m) FROM t",
    "products": "SELECT gpu_dot(x, m), gpu_sum(x + 1) FROM t WHERE i > 0",
    "codes": "SELECT count(*), gpu_total(x) FROM t WHERE city LIKE 'c1%'",
}


def fill(path, journal):
    """The table, and the connection that changes it."""
    db = views.connect(path)
    support.execute(db, f"PRAGMA journal_mode = {journal}", "CREATE TABLE t(id INTEGER PRIMARY KEY, x REAL, i INT, m, city TEXT)",
                    support.numbered("t", ROWS, "i, (i * 7919 % 65537) / 7.0, (i * 104729 % 4001 - 2000) << 50,"
                                     " CASE i % 3 WHEN 0 THEN NULL WHEN 1 THEN i ELSE i / 3.0 END, 'c' || (i % 150)"))
    return db


def open_views(path, device):
    """A connection with the views."""
    db = views.connect(path, device=device)
    views.create_all(db, SELECTS)
    return db


def compare(db, batch, what):
    """All views against their SELECTs."""
    for name, select in SELECTS.items():
        batch.compare(views.ask(db, name), views.outcome(db, select), f"{what}: {name}")


def ask_devices(db, batch, what):
    """The same, by the device."""
    for name, select in SELECTS.items():
        batch.check(views.ask_device(db, name), f"{what}: {name}: a device answers")
        batch.compare(views.ask(db, name), views.outcome(db, select), f"{what}: {name}")


def copied(db):
    """The bytes of columns that this process has copied to devices."""
    return support.stats(db)["column_bytes_copied"]


def columns(db):
    """What is kept: names, with the bytes on the host and on the device."""
    listed = db.execute('SELECT "column", bytes, device_bytes FROM clreduce_columns WHERE "table" = \'t\'')
    return {name: (here, there) for name, here, there in listed}


def load(db, device):
    """Has the host load all columns, and then the device asked."""
    support.configure(db, device="host")
    for name in SELECTS:
        views.ask(db, name)
    support.configure(db, device=device)


def test_nothing_copied(path, device):
    """No byte of a column is copied, and none counts as the device's."""
    fill(path, "wal").close()
    db = open_views(path, device)
    load(db, device)
    before = copied(db)
    batch = support.Batch(f"{device}: columns of the host's")
    views.ask_device(db, "sums")
    ask_devices(db, batch, "resident")
    batch.compare(copied(db) - before, 0, "bytes copied")
    kept = columns(db)
    batch.compare([there for _, there in kept.values()], [0] * 4, "bytes there")
    batch.check(any("shared with the device" in line for line in views.plan(db, "sums")), "the plan says so")
    lookups = support.stats(db)["lookup_bytes"]
    batch.compare(support.value(db, "SELECT clreduce_evict()"), sum(here for here, _ in kept.values()) + lookups, "evicted bytes")


@tap.each("delete", "wal")
def test_changes(path, device, journal):
    """Columns are refreshed, in place where nobody reads them, while devices have them."""
    writer = fill(path, journal)
    db, other = open_views(path, device), open_views(path, device)
    load(db, device)
    before = copied(db)
    batch = support.Batch(f"{device}, {journal}: changes of columns of the host's")
    changes = (
        "UPDATE t SET x = -x WHERE id = 17",
        "UPDATE t SET city = 'c1 and new', i = i + 1 WHERE id % 1000 = 5",
        "INSERT INTO t SELECT id + 1000000, x, -i, m, city FROM t WHERE id < 300",
        "DELETE FROM t WHERE id BETWEEN 500 AND 4000",
        "UPDATE t SET m = 'text' WHERE id = 99",
        "UPDATE t SET x = NULL WHERE id % 7 = 0",
        "UPDATE t SET m = 1, x = 0.5",
        "DELETE FROM t WHERE id > 1000",
    )
    for change in changes:
        for name in SELECTS:
            views.ask_device(db, name)
        writer.execute(change)
        compare(db, batch, change)
        compare(other, batch, f"{change}, another connection")
        db.execute("BEGIN")
        compare(db, batch, "in a transaction")
        if journal == "wal":
            writer.execute("UPDATE t SET i = i / 2 WHERE id % 50 = 3")
        compare(other, batch, f"{change}: while one reads the old version")
        compare(db, batch, "of the old version")
        support.execute(db, "COMMIT", "BEGIN", "UPDATE t SET x = x + 1, city = 'mine'")
        compare(db, batch, "its own changes")
        db.execute("ROLLBACK")
        compare(db, batch, "a rollback")
    batch.compare(copied(db) - before, 0, "bytes copied")


def test_memory(path, device):
    """Columns go while devices have them, and come again; copies that take nothing are not dropped for room."""
    fill(path, "delete").close()
    db = open_views(path, device)
    batch = support.Batch(f"{device}: columns of the host's come and go")
    for memory in (0, 30 * ROWS, 10 * ROWS, 100_000):
        support.configure(db, column_memory=memory)
        for _ in range(3):
            compare(db, batch, f"with column_memory {memory}")
            here, there = (sum(part or 0 for part in side) for side in zip(*(columns(db).values() or [(0, 0)])))
            batch.check(not memory or (here <= memory and there <= memory), f"{here} and {there} bytes")
            views.ask_device(db, "sums")
        views.evict(db)
        batch.compare(columns(db), {}, "evicted")


# CPU devices have no other memory; of the rest nobody can say.
if "cpu" not in views.devices():
    tap.skip_all("no OpenCL device whose memory is the host's")
STARTED = views.warm("cpu")
views.run(globals(), device="cpu")
