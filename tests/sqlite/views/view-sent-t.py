"""After commits in WAL mode only the rows that have changed are sent to a device that has copies.

What the devices answer then is what the SELECTs do, whatever has become of the rows: other values, also
such as the copy has no room for, more rows, fewer, and rows in other places.
"""

import os

import support
import tap
import view_support as views

#: All devices have memory of their own here: of others the columns are the host's.
os.environ["CLREDUCE_DEVICE_COLUMNS"] = "copied"

ROWS = 20_000 if tap.QUICK else 40_000
SELECTS = (
    "SELECT gpu_sum(n), gpu_max(n), gpu_total(big), gpu_sum(x), gpu_min(x), count(y), gpu_sum(y) FROM t",
    "SELECT gpu_total(mixed), count(mixed), gpu_sum(k) FROM t",
    "SELECT word, count(*), gpu_sum(n) FROM t GROUP BY word",
)
TABLE = "t(k INTEGER PRIMARY KEY, n INT, big INT, x REAL, y REAL, mixed, word TEXT, unused)"


def row(rng, key):
    """Values that the copies have room for."""
    return (key, rng.randint(0, 99), rng.randint(-(2**62), 2**62), rng.random() * 10 ** rng.randint(-9, 9),
            rng.choice([None, key / 3, -key / 7]), rng.choice([None, 1, -7, 1 / 3]),
            rng.choice(["one", "two", "three", None]), "x" * rng.randint(0, 30))


def make(rng, device):
    """A database, with views of it on a device."""
    db = views.connect(views.new(), device)
    support.execute(db, "PRAGMA journal_mode = WAL", "PRAGMA synchronous = OFF", "PRAGMA wal_autocheckpoint = 0")
    support.table(db, TABLE, (row(rng, key) for key in range(1, ROWS + 1)))
    views.create_all(db, SELECTS)
    return db


def copied(db):
    """The bytes that have been copied so far."""
    return support.value(db, "SELECT value FROM clreduce_stats WHERE name = 'column_bytes_copied'")


def ask(db, what):
    """Each view, until the device answers."""
    for i, select in enumerate(SELECTS):
        views.given_by_device(db, f"v{i}", select, (), f"{what}: {select}")


def update(db, rng, assignment):
    """Changes a few rows that lie together, and others anywhere."""
    start = rng.randint(1, ROWS - 200)
    db.execute(f"UPDATE t SET {assignment} WHERE k BETWEEN ? AND ?", (start, start + rng.randint(0, 90)))
    for _ in range(rng.randint(0, 12)):
        db.execute(f"UPDATE t SET {assignment} WHERE k = ?", (rng.randint(1, ROWS),))


def append(db, rng):
    """Adds rows at the end."""
    key = support.value(db, "SELECT max(k) FROM t")
    support.insert(db, "t", (row(rng, key + i) for i in range(1, rng.randint(2, 300))))


#: What changes, and whether the rows of other leaf pages stay where they are, and values in their form.
CHANGES = (
    ("other INTEGERs", lambda db, rng: update(db, rng, "n = (n + 1) % 100, big = ~big"), True),
    ("other REALs", lambda db, rng: update(db, rng, "x = -x, y = -y"), True),
    ("other text", lambda db, rng: update(db, rng, "word = CASE word WHEN 'one' THEN 'two' ELSE word END"), True),
    ("NULLs", lambda db, rng: update(db, rng, "y = NULL, word = NULL"), True),
    ("values where there were NULLs", lambda db, rng: update(db, rng, "y = coalesce(y, 1 / 7.0)"), False),
    ("other types", lambda db, rng: update(db, rng, "mixed = CASE typeof(mixed) WHEN 'real' THEN 3 ELSE 1 / 9.0 END"),
     False),
    ("rows at the end", append, True),
    ("nothing that is asked for", lambda db, rng: update(db, rng, "unused = 'y'"), True),
    ("values that need more bytes", lambda db, rng: update(db, rng, "n = 70000"), False),
    ("new words", lambda db, rng: update(db, rng, f"word = 'new {rng.randint(0, 999)}'"), False),
    ("fewer rows", lambda db, rng: db.execute("DELETE FROM t WHERE k > ?", (ROWS - rng.randint(1, 500),)), False),
    ("rows gone from the middle",
     lambda db, rng: db.execute("DELETE FROM t WHERE k BETWEEN 500 AND ?", (rng.randint(500, 900),)), False),
    ("most rows", lambda db, rng: db.execute("UPDATE t SET n = 99 - n WHERE k % 3 = 0"), False),
)


def test_each(device, rng):
    """One change after the other: by a connection, and the next time by another one. What was read anew is
    sent anew, but for the rest changed rows will do."""
    by_rows_count = 0
    for name, change, by_rows in CHANGES:
        db = make(rng, device)
        ask(db, f"{device}, before {name}")
        other = views.connect(support.value(db, "SELECT file FROM pragma_database_list WHERE name = 'main'"), "host")
        for writer in (db, other) if tap.QUICK else (db, other, db):
            before = copied(db)
            change(writer, rng)
            writer.commit()
            views.ask(db, "v0")
            refreshed = any("leaf pages have changed" in line for line in views.plan(db, "v0"))
            # Columns that the device alone had have come back before that.
            back = copied(db) - before if copied(db) - before > 8 * ROWS else 0
            ask(db, f"{device}, {name}")
            if by_rows and refreshed:
                sent = copied(db) - before - back
                tap.ok(sent < 8 * ROWS, f"{device}, {name}: {sent} bytes are sent")
                by_rows_count += 1
    tap.ok(by_rows_count > 5, f"{device}: refreshed {by_rows_count} times where rows stay")


def test_mixed(device, rng):
    """Chance decides what comes, several changes at once, and readers that keep the old rows."""
    db = make(rng, device)
    ask(db, f"{device}, at first")
    path = support.value(db, "SELECT file FROM pragma_database_list WHERE name = 'main'")
    reader, writer = views.connect(path, device), views.connect(path, "host")
    views.create_all(reader, SELECTS)
    for step in range(6 if tap.QUICK else 12):
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM t").fetchone()
        for name, change, _ in rng.sample(CHANGES, rng.randint(1, 3)):
            tap.diag(f"step {step}: {name}")
            change(writer, rng)
        writer.commit()
        ask(db, f"{device}, step {step}")
        for i, select in enumerate(SELECTS):
            views.agree(reader, f"v{i}", select, (), f"{device}, step {step}: a reader of the version before: {select}")
        reader.execute("COMMIT")


views.run(globals(), device=views.devices()[1:])
