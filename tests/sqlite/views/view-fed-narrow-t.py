"""Columns that devices decode, and keep in as few bytes as the host would: the answers are those of the
SELECTs, clreduce_columns says what is on the devices, and a host that needs such columns has them as narrow.

SQLite's own answer to the SELECT is the oracle, as in view_support.py. view-narrow-t.py is about the host's columns and
those that it sends. With several devices each has a frame of its own.
"""

import os

os.environ["POCL_DEVICES"] = "pthread pthread pthread"
# Devices that share the host's columns would take no memory for them.
os.environ["CLREDUCE_DEVICE_COLUMNS"] = "copied"

import support  # noqa: E402  (OpenCL is found when the first connection asks for devices)
import tap  # noqa: E402
import view_support as views  # noqa: E402

FOLDER = views.Folder()
ROWS = 12_000
HALF = ROWS // 2
#: In the middle of what is decoded as a sample.
ODD = ROWS * 7 // 16

#: Columns by a row's number k, with the bytes that a value takes on one device, and whether the rows have tags.
COLUMNS = {
    "bytes": ("k % 256", 1, False),
    "signed": ("k % 256 - 128", 1, False),
    "halves": ("k % 300", 2, False),
    "words": ("k * 300", 4, False),
    "far": ("k % 200 + 1000000000000", 1, False),
    "wide": ("k * 1000000", 8, False),
    "nulls": ("iif(k % 3, k % 100, NULL)", 1, True),
    "text": ("iif(k % 50, k % 100, 'text ' || k)", 1, True),
    "one_outlier": (f"iif(k = {ODD}, 70000, k % 100)", 4, False),
    "one_far": (f"iif(k = {ODD}, -9223372036854775807, k % 100)", 8, False),
    "one_real": (f"iif(k = {ODD}, 0.25, k % 100)", 8, True),
    "prices": ("k % 5000 / 100.0", 2, False),
    "tenths": ("(k % 100 - 50) / 10.0", 1, False),
    "degrees": ("(525000000 + k * 7) / 10000000.0", 4, False),
    "one_finer": (f"iif(k = {ODD}, 0.125, k % 50 / 10.0)", 2, False),
    "one_third": (f"iif(k = {ODD}, 1 / 3.0, k % 50 / 10.0)", 8, False),
    "one_negative_zero": (f"iif(k = {ODD}, -0.0, k % 50 / 10.0)", 8, False),
    "one_infinity": (f"iif(k = {ODD}, -9e999, k % 50 / 10.0)", 8, False),
    "one_integer": (f"iif(k = {ODD}, 7, k % 50 / 10.0)", 8, True),
    "null_prices": ("iif(k % 4, k % 2000 / 100.0, NULL)", 2, True),
    "sevenths": ("k / 7.0", 8, False),
    "zeros": ("0.0", 1, False),
    "low_then_high": (f"iif(k > {HALF}, 1000000 + k % 10, k % 10)", 4, False),
    "prices_then_mills": (f"iif(k > {HALF}, k % 50 / 1000.0, k % 50 / 100.0)", 2, False),
    "null_then_far": (f"iif(k > {HALF}, 100000 + k % 10, NULL)", 4, True),
    "prices_then_thirds": (f"iif(k > {HALF}, k / 3.0, k % 50 / 10.0)", 8, False),
}


def select_of(name):
    return (
        f"SELECT count({name}), gpu_sum({name}), gpu_min({name}), gpu_max({name}), gpu_avg({name} + 1),"
        f" gpu_total(iif(rowid > {HALF - 100}, {name}, 0)) FROM t"
    )


def fill(path):
    db = views.connect(path)
    db.execute("PRAGMA page_size = 1024")
    db.execute("PRAGMA synchronous = OFF")
    db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, " + ", ".join(COLUMNS) + ")")
    db.execute(
        "WITH RECURSIVE n(k) AS (VALUES (1) UNION ALL SELECT k + 1 FROM n WHERE k < ?)"
        " INSERT INTO t SELECT k, " + ", ".join(text for text, _, _ in COLUMNS.values()) + " FROM n",
        (ROWS,),
    )
    db.commit()
    return db


def is_fed(db, name):
    return any("decoded by" in line for line in views.plan(db, name))


def there(db, name):
    """The bytes of a column's rows on devices, and on the host."""
    return db.execute(
        'SELECT device_bytes, bytes, width FROM clreduce_columns WHERE "column" = ?', (name,)
    ).fetchone()


def ask_until_fed(db, batch, name):
    """Asks with nothing kept until a device decodes: all answers are the SELECT's, to the bit."""
    want = repr(views.comparable(views.outcome(db, select_of(name))))
    got = views.ask_anew(db, f"v_{name}", want, lambda: is_fed(db, f"v_{name}"))
    batch.compare(got, want, f"{name}: decoded by the device")
    batch.check(is_fed(db, f"v_{name}"), f"{name}: is decoded by the device")
    batch.compare(repr(views.comparable(views.ask(db, f"v_{name}"))), want, f"{name}: again")
    return want


def test_columns(kind, devices):
    """What each column takes on the devices, alone and with the others; then the host needs it."""
    path = FOLDER.new()
    fill(path).close()
    db = views.connect_several(kind, path, devices)
    batch = support.Batch(f"{devices} devices")
    for name, (_, width, has_tags) in list(COLUMNS.items())[:: 3 if tap.QUICK and devices > 1 else 1]:
        views.create(db, f"v_{name}", select_of(name))
        want = ask_until_fed(db, batch, name)
        size, here, _ = there(db, name)
        tags = ROWS * has_tags
        if devices == 1:
            batch.compare(size, width * ROWS + tags, f"{name}: bytes on the device")
        else:
            batch.check(size <= width * ROWS + tags, f"{name}: {size} bytes on the devices")
        batch.compare(here, 0, f"{name}: bytes on the host")
        support.configure(db, device="host")
        batch.compare(repr(views.ask(db, f"v_{name}")), want, f"{name}: fetched by the host")
        batch.compare(there(db, name)[1:], (width * ROWS + tags, width), f"{name}: then on the host")
        support.configure(db, device=kind)
        batch.compare(repr(views.ask(db, f"v_{name}")), want, f"{name}: after that")
    batch.end()
    db.close()


#: Changes of a column of 0 to 99, which has one device's copy widened.
CHANGES = (
    ("UPDATE t SET bytes = 17 WHERE id = 500", 1),
    ("UPDATE t SET bytes = 256 WHERE id = 501", 2),
    ("UPDATE t SET bytes = -70000 WHERE id = 11000", 4),
    ("UPDATE t SET bytes = 9223372036854775807 WHERE id = 3", 8),
    ("UPDATE t SET bytes = 1.5 WHERE id = 4", 8),
)
PRICE_CHANGES = (
    ("UPDATE t SET prices = 655.35 WHERE id = 500", 2),
    ("UPDATE t SET prices = 655.36 WHERE id = 501", 4),
    ("UPDATE t SET prices = 0.125 WHERE id = 11000", 4),
    ("UPDATE t SET prices = -0.0 WHERE id = 3", 8),
)


def test_changes(kind, devices):
    """Refreshes of what devices have decoded."""
    for name, changes in (("bytes", CHANGES), ("prices", PRICE_CHANGES)):
        path = FOLDER.new()
        writer = fill(path)
        db = views.connect_several(kind, path, devices)
        views.create(db, f"v_{name}", select_of(name))
        batch = support.Batch(f"{devices} devices: changes of {name}")
        for change, width in changes:
            ask_until_fed(db, batch, name)
            writer.execute(change)
            writer.commit()
            want = repr(views.comparable(views.outcome(db, select_of(name))))
            for _ in range(3):
                batch.compare(repr(views.comparable(views.ask(db, f"v_{name}"))), want, change)
            batch.compare(there(db, name)[2] in (None, width), True, f"{change}: width on the host")
        batch.end()
        writer.close()
        db.close()


def test_refreshed(kind):
    """A copy that is as the host's column is changed in place after the host has fetched it."""
    path = FOLDER.new()
    writer = fill(path)
    db = views.connect_several(kind, path, 1)
    batch = support.Batch("refreshed after it was decoded")
    for name in ("bytes", "prices", "far", "sevenths"):
        views.create(db, f"v_{name}", select_of(name))
        ask_until_fed(db, batch, name)
        size = there(db, name)[0]
        writer.execute(f"UPDATE t SET {name} = (SELECT {name} FROM t WHERE id = 8000) WHERE id % 1000 = 1")
        writer.commit()
        want = repr(views.comparable(views.outcome(db, select_of(name))))
        got = []

        def is_right(answer, want=want, got=got):
            got.append(repr(views.comparable(answer)))
            return got[-1] == want

        done = views.ask_device(db, f"v_{name}", judge=is_right)
        batch.compare(got[-1], want, f"{name}: refreshed")
        batch.check(done, f"{name}: answered by the device")
        batch.compare(there(db, name)[0], size, f"{name}: as narrow as before")
    batch.end()
    writer.close()
    db.close()


def main():
    several = views.find_several()
    kind = several[0] if several is not None else views.devices()[-1]
    started = views.warm(kind)
    for devices in (1, 2, 3) if several is not None and several[1] > 2 else (1,):
        test_columns(kind, devices)
    for devices in (1, 2) if several is not None else (1,):
        test_changes(kind, devices)
    test_refreshed(kind)
    started.close()
    tap.done()


main()
