"""Views whose columns several devices decode: each has the pages, and then the rows, of its own shard.

SQLite's own answer to the SELECT is the oracle, as in view_support.py. view-fed-t.py is about one device,
view-devices-t.py about shards that are copied. PoCL is asked for several devices; of others a test can use
what the machine has.
"""

import os
import time

os.environ["POCL_DEVICES"] = "pthread pthread pthread"
# Devices that share the host's columns would take no memory for them.
os.environ["CLREDUCE_DEVICE_COLUMNS"] = "copied"

import support  # noqa: E402  (OpenCL is found when the first connection asks for devices)
import tap  # noqa: E402
import view_support as views  # noqa: E402

FOLDER = views.Folder()
ROWS = 12_000
TIMEOUT_S = 60

#: A row's values, by its number k: of one kind in all shards, or another one in some.
COLUMNS = {
    "x REAL": "(k % 1000) / 7.0",
    "i INT": "k * k - 5",
    "y REAL": "iif(k % 3, k / 3.0, NULL)",
    "mixed": "CASE k % 5 WHEN 0 THEN NULL WHEN 1 THEN k ELSE k * 0.5 END",
    "first_null": f"iif(k > {ROWS // 2}, k, NULL)",
    "late_real": f"iif(k = {ROWS - 1}, 0.25, k)",
    "note TEXT": "'note ' || k",
}

SELECTS = (
    "SELECT gpu_sum(x), gpu_min(x), count(*) FROM t",
    "SELECT gpu_sum(i), gpu_max(i), gpu_sum(x) FROM t WHERE y > 0.25",
    "SELECT gpu_dot(x, i), count(mixed), gpu_total(mixed) FROM t",
    "SELECT gpu_sum(first_null), count(first_null), gpu_max(late_real), gpu_sum(late_real) FROM t",
    "SELECT gpu_sum(rowid), gpu_avg(y), count(note) FROM t WHERE mixed IS NOT NULL",
)

#: What the host has to do with such columns, or does with what it fetches.
OTHERS = (
    "SELECT gpu_median(x), gpu_percentile(y, 90), gpu_mode(i) FROM t",
    "SELECT gpu_histogram(x, 0, 100, 20), gpu_count_distinct(i) FROM t WHERE i > 1000",
    "SELECT i % 7, count(*), gpu_sum(late_real), gpu_sum(first_null), gpu_max(mixed) FROM t GROUP BY i % 7",
    "SELECT gpu_sum(x) FROM t WHERE rowid BETWEEN 3000 AND 9000",
)


def fill(path, page_size=1024, journal="delete"):
    """A table of all of the columns, on some hundred pages."""
    db = views.connect(path)
    db.execute(f"PRAGMA page_size = {page_size}")
    db.execute(f"PRAGMA journal_mode = {journal}")
    db.execute(f"CREATE TABLE t(id INTEGER PRIMARY KEY, {', '.join(COLUMNS)})")
    db.execute(
        "WITH RECURSIVE n(k) AS (VALUES (1) UNION ALL SELECT k + 1 FROM n WHERE k < ?)"
        f" INSERT INTO t SELECT k, {', '.join(COLUMNS.values())} FROM n",
        (ROWS,),
    )
    db.commit()
    return db


def open_views(kind, path, devices):
    """A connection that uses so many devices, with a view of each SELECT."""
    db = views.connect_several(kind, path, devices)
    for number, select in enumerate(SELECTS):
        views.create(db, f"v{number}", select)
    return db


def fed(db):
    """The bytes of pages that devices have decoded so far."""
    return support.stats(db)["bytes_decoded_on_device"]


def is_fed(db, name, devices):
    """Whether so many devices have decoded a view's columns for its last query."""
    return any("decoded by" in line and f"({devices} devices)" in line for line in views.plan(db, name))


def ask_until_fed(db, name, devices, what):
    """Two checks: all that a view gives, with nothing kept, is what its SELECT gives, and in the end the devices
    decode for it."""
    want = repr(views.comparable(views.outcome(db, SELECTS[int(name[1:])])))
    got = views.ask_anew(db, name, want, lambda: is_fed(db, name, devices))
    tap.is_equal(got, want, f"{what}: the SELECT's own answer")
    if not tap.ok(is_fed(db, name, devices), f"{what}: decoded by {devices} devices"):
        tap.diag("\n".join(views.plan(db, name)))


def agree(db, what):
    """One check: all views give what their SELECTs give."""
    wrong = [
        select
        for number, select in enumerate(SELECTS)
        if repr(views.comparable(views.ask(db, f"v{number}"))) != repr(views.comparable(views.outcome(db, select)))
    ]
    return tap.is_equal(wrong, [], what)


def sizes(db):
    """What each device has of columns."""
    return [size for (size,) in db.execute("SELECT column_bytes FROM clreduce_devices WHERE in_use")]


def test_answers(kind, most):
    """Of two devices, and of more; each column that comes later joins those that are there."""
    for page_size in (512, 4096) if tap.QUICK else (512, 1024, 4096):
        path = FOLDER.new()
        fill(path, page_size).close()
        for devices in sorted({2, most}):
            db = open_views(kind, path, devices)
            for number, select in enumerate(SELECTS):
                ask_until_fed(db, f"v{number}", devices, f"pages of {page_size}: {select}")
            agree(db, f"pages of {page_size}: again")
            db.close()


def test_inspection(kind):
    path = FOLDER.new()
    fill(path).close()
    db = open_views(kind, path, 2)
    ask_until_fed(db, "v0", 2, "a column")
    parts = sizes(db)
    tap.ok(len(parts) == 2 and sum(parts) == 8 * ROWS, f"each device has its rows: {parts}")
    tap.ok(abs(parts[0] - parts[1]) < ROWS, "about as many as the other one")
    here = db.execute("SELECT bytes, device_bytes, rows FROM clreduce_columns WHERE \"column\" = 'x'").fetchone()
    tap.is_equal(here, (0, 8 * ROWS, ROWS), "and the host has none")
    plan = views.plan(db, "v0")
    tap.ok(plan[0].endswith("(2 devices)"), "both answer at once")
    tap.ok(any(line.endswith("bytes on 2 devices") for line in plan), "the plan says where it is")
    before = fed(db)
    views.ask(db, "v1")
    tap.ok(fed(db) > before and is_fed(db, "v1", 2), "what else a query needs goes to the same shards")
    tap.ok(views.plan(db, "v1")[0].endswith("(2 devices)"), "and both answer")
    db.close()


def test_host_needs(kind):
    """A host that is asked for has the columns fetched, and the devices keep their own."""
    path = FOLDER.new()
    fill(path).close()
    db, other = open_views(kind, path, 2), open_views(kind, path, 2)
    for number, select in enumerate(SELECTS):
        ask_until_fed(db, f"v{number}", 2, select)
        views.ask(other, f"v{number}")
        read = support.stats(db)["bytes_decoded"]
        support.configure(db, device="host")
        tap.is_equal(views.ask(db, f"v{number}"), views.outcome(db, select), f"{select}: then by the host")
        tap.is_equal(support.stats(db)["bytes_decoded"], read, "without reading pages again")
        support.configure(db, device=kind)
        views.given_by_device(db, f"v{number}", select)
        tap.ok(views.plan(db, f"v{number}")[0].endswith("(2 devices)"), "and then by the devices")
    other.close()
    for select in OTHERS:
        ask_until_fed(db, "v1", 2, "before that")
        for _ in range(2):
            got = views.through_view(db, select)
            tap.is_equal(repr(got), repr(views.outcome(db, select)), select)
    support.configure(db, devices=1)
    agree(db, "with the setting devices at 1")
    db.close()


def test_changes(kind, journal):
    """Commits of others, changes that are rolled back, and rows at the border of two shards."""
    path = FOLDER.new()
    writer = fill(path, journal=journal)
    db = open_views(kind, path, 2)
    border = ROWS // 2
    for change in (
        "UPDATE t SET x = -1, i = 7 WHERE id = 17",
        f"INSERT INTO t(id, x, i, mixed, note) VALUES ({ROWS + 5}, 0.125, 9, 'text', 'new')",
        f"DELETE FROM t WHERE id BETWEEN {border - 100} AND {border + 150}",
        f"UPDATE t SET y = zeroblob(3000) WHERE id BETWEEN {border - 300} AND {border - 290}",
        "DELETE FROM t WHERE id % 3 = 0",
    ):
        for number in range(len(SELECTS)):
            views.ask(db, f"v{number}")
        ask_until_fed(db, "v0", 2, f"{journal}: before {change}")
        writer.execute(change)
        writer.commit()
        agree(db, f"{journal}: {change}")
        views.evict(db)
        agree(db, f"{journal}: {change}, all anew")
    db.execute("DELETE FROM t WHERE id % 2 = 0")
    agree(db, f"{journal}: its own changes, not committed")
    db.rollback()
    agree(db, f"{journal}: a rollback")
    writer.execute("DELETE FROM t")
    writer.commit()
    agree(db, f"{journal}: an empty table")
    writer.close()
    db.close()


def test_unsuited(kind):
    """Rows with overflow pages before the column: a few are the host's, many make all its own."""
    path = FOLDER.new()
    writer = fill(path)
    writer.execute("UPDATE t SET mixed = zeroblob(9000) WHERE id % 1500 = 1")
    writer.execute("ALTER TABLE t ADD COLUMN after_it REAL DEFAULT 0.5")
    writer.execute("UPDATE t SET after_it = id * 0.5 WHERE id % 4 = 1")
    writer.commit()
    db = open_views(kind, path, 2)
    select = "SELECT gpu_sum(after_it), count(mixed), gpu_min(after_it) FROM t"
    views.create(db, "v", select)
    ask_until_fed(db, "v3", 2, "some long rows")
    start = time.monotonic()
    while not is_fed(db, "v", 2) and time.monotonic() - start < TIMEOUT_S:
        views.evict(db)
        views.agree(db, "v", select, (), "some long rows before the column")
    tap.ok(is_fed(db, "v", 2), "decoded by both devices, but for a few pages")
    writer.execute(f"UPDATE t SET mixed = zeroblob(5000) WHERE id % 20 = 1 AND id > {ROWS // 2}")
    writer.commit()
    before = fed(db)
    for _ in range(3):
        views.evict(db)
        views.agree(db, "v", select, (), "too many long rows for one of them")
    tap.is_equal(fed(db), before, "which the host decodes all")
    writer.close()
    db.close()


def test_guess(kind):
    """A table that has fewer rows than its pages make seem: too few for two devices, as is known in the end."""
    path = FOLDER.new()
    db = views.connect(path)
    db.execute("PRAGMA page_size = 512")
    db.execute("CREATE TABLE t(x REAL, i INT, note TEXT)")
    db.execute(
        "WITH RECURSIVE n(k) AS (VALUES (1) UNION ALL SELECT k + 1 FROM n WHERE k < 1965)"
        " INSERT INTO t SELECT k / 7.0, k, iif(k > 1950, zeroblob(400), 'a') FROM n"
    )
    db.commit()
    db.close()
    db = views.connect_several(kind, path, 2)
    selects = {"v0": "SELECT gpu_sum(x) FROM t", "v1": "SELECT gpu_sum(x), gpu_sum(i) FROM t"}
    for name, select in selects.items():
        views.create(db, name, select)
    start = time.monotonic()
    are_fed = False
    while not are_fed and time.monotonic() - start < TIMEOUT_S:
        views.evict(db)
        for name, select in selects.items():
            views.agree(db, name, select, (), select)
        are_fed = all(is_fed(db, name, 2) for name in selects)
    tap.ok(are_fed, "both columns are decoded by two devices")
    for name in selects:
        tap.ok(views.plan(db, name)[0].endswith("(2 devices)"), "which answer")
    db.close()


def test_memory(kind):
    """column_memory is each device's limit."""
    path = FOLDER.new()
    fill(path).close()
    db = open_views(kind, path, 2)
    for memory in (60 * ROWS, 20 * ROWS, 60_000):
        support.configure(db, column_memory=memory)
        for _ in range(2):
            agree(db, f"with column_memory {memory}")
        tap.ok(all(size <= memory for size in sizes(db)), f"which is kept to: {sizes(db)}")
    support.configure(db, column_memory=0)
    db.close()


def test_damage(kind):
    """SQLite's error, and the page that it is in: in the second device's part."""
    path = FOLDER.new()
    fill(path, 4096).close()
    sound = open_views(kind, path, 2)
    ask_until_fed(sound, "v1", 2, "a sound file")
    sound.close()
    with open(path, "r+b") as file:
        leaf = os.path.getsize(path) // 4096 - 9
        file.seek((leaf - 1) * 4096 + 8 + 2 * 10)
        file.write(b"\0\1")
    db = open_views(kind, path, 2)
    for _ in range(3):
        views.evict(db)
        views.agree(db, "v1", SELECTS[1], (), "a cell pointer into the header")
    tap.is_equal(support.stats(db)["malformed_page"], leaf, "and the page's number")
    db.close()


def main():
    found = views.find_several()
    if found is None:
        tap.skip_all("OpenCL has no two devices alike here")
    kind, most = found
    started = views.warm(kind)
    test_answers(kind, min(most, 3))
    test_inspection(kind)
    test_host_needs(kind)
    for journal in ("delete", "wal"):
        test_changes(kind, journal)
    test_unsuited(kind)
    test_guess(kind)
    test_memory(kind)
    test_damage(kind)
    started.close()
    tap.done()


main()
