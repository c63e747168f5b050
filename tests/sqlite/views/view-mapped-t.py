"""Views of a file that SQLite has mapped into memory give what their SELECTs give, read nothing that
is there, and leave SQLite free to end the mapping: as the file grows and shrinks, by whoever writes
it, within transactions, and in each journal mode.
"""

import os
import sqlite3

import support
import tap
import view_support as views

ROWS = 20_000 if tap.QUICK else 60_000
LARGE = 1 << 30
SELECTS = (
    "SELECT gpu_sum(price), count(*) FROM t",
    "SELECT gpu_sum(price * part), gpu_max(id) FROM t WHERE part > 0.03",
    "SELECT name, gpu_avg(price), count(part) FROM t GROUP BY name",
)


def add(db, rows):
    """More rows: of several shapes, and some with overflow pages."""
    values = "i * 7919 % 100000 / 100.0, i % 11 / 100.0, 'name ' || i % 25, zeroblob(iif(i % 500, 60 + i % 90, 9000))"
    db.execute(support.numbered("t(price, part, name, pad)", rows, values))


def is_mapped(path):
    """Whether the file is mapped into this process's memory."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        return any(line.rstrip().endswith(path) for line in maps)


def bytes_read():
    """What this process has read by system calls, in bytes."""
    with open("/proc/self/io", encoding="ascii") as counters:
        return int(counters.readline().split()[1])


def compare(db, what, reads_pages=True):
    """Every SELECT, by pages that are read anew and as it is asked again."""
    for number, select in enumerate(SELECTS):
        views.create(db, f"v{number}", select)
        views.evict(db)
        for again in ("first", "again"):
            views.agree(db, f"v{number}", select, (), f"{what}, {again}: {select}")
            if reads_pages:
                tap.ok(views.accelerated(db, f"v{number}"), "accelerated")


@tap.each("DELETE", "WAL")
def test_changes(path, mode):
    """A file that changes by its own connection and by another one, before and after it is mapped anew."""
    db = views.connect(path, journal_mode=mode)
    db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, price REAL, part REAL, name TEXT, pad)")
    add(db, ROWS)
    other = sqlite3.connect(path, isolation_level=None, timeout=5)
    db.execute(f"PRAGMA mmap_size = {LARGE}")
    compare(db, mode)
    for writer, who in ((db, "its own"), (other, "another")):
        for change in (
            lambda db: add(db, ROWS // 3),
            lambda db: db.execute("UPDATE t SET price = price + 1 WHERE id % 100 = 7"),
            lambda db: db.execute("DELETE FROM t WHERE id % 3 <> 0"),
            lambda db: db.execute("VACUUM"),
            lambda db: db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall(),
            lambda db: add(db, 10),
        ):
            change(writer)
            compare(db, f"{mode}, changed by {who}")
    db.execute("BEGIN")
    compare(db, f"{mode}, in a transaction", mode != "WAL")
    support.execute(db, "ROLLBACK", f"PRAGMA mmap_size = {os.path.getsize(path) // 2}")
    compare(db, f"{mode}, half of the file")


def can_map():
    """Whether this SQLite maps files, and this system tells."""
    db = sqlite3.connect(views.new())
    size = db.execute("PRAGMA mmap_size = 65536").fetchone()
    db.close()
    return size == (65536,) and os.path.exists("/proc/self/io") and os.path.exists("/proc/self/maps")


def test_mapping(path):
    """What is mapped is not read, and the mapping goes when it is not wanted any more."""
    if not can_map():
        return
    db = views.connect(path)
    db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, price REAL, part REAL, name TEXT, pad)")
    add(db, ROWS)
    views.create(db, "v", SELECTS[0])
    size = os.path.getsize(path)
    read = {}
    for mmap_size in (0, LARGE, 0):
        db.execute(f"PRAGMA mmap_size = {mmap_size}")
        tap.ok(mmap_size > 0 or not is_mapped(path), "no mapping yet, or no longer")
        views.evict(db)
        before = bytes_read()
        db.execute("SELECT * FROM v").fetchall()
        read[mmap_size] = bytes_read() - before
        tap.is_equal(is_mapped(path), mmap_size > 0, f"mapped, PRAGMA mmap_size = {mmap_size}")
    tap.ok(read[0] > size * 0.7, f"{read[0]} of {size} bytes are read without a mapping")
    tap.ok(read[LARGE] < size / 5, f"{read[LARGE]} with one")


views.run(globals())
