"""Views whose columns a device decodes and then has alone: what SQL sees of that, and never misses.

SQLite's own answer to the SELECT is the oracle, as in view_support.py. The loads themselves are
tested in tests/storage/load/fed_load-t.c; here it is what follows when the host needs such columns, when
they change, and when they have to go.
"""

import os
import time

import support
import tap
import view_support as views

#: All devices have memory of their own here: view-shared-t.py is for the others.
os.environ["CLREDUCE_DEVICE_COLUMNS"] = "copied"

ROWS = 40_000
TIMEOUT_S = 60

#: The columns that it needs are not the same as those of the next.
SELECTS = (
    "SELECT gpu_sum(x), gpu_min(x), count(*) FROM t",
    "SELECT gpu_sum(i), gpu_max(i) FROM t WHERE x > 0.25",
    "SELECT gpu_dot(x, i), count(late), gpu_total(late) FROM t",
    "SELECT gpu_sum(rowid), gpu_avg(mixed) FROM t WHERE mixed IS NOT NULL",
)


def fill(path, page_size=4096, journal="delete"):
    """A table of numbers, whole and not, some NULL, with a column that came later."""
    db = views.connect(path)
    db.execute(f"PRAGMA page_size = {page_size}")
    db.execute(f"PRAGMA journal_mode = {journal}")
    db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, x REAL, i INT, mixed, note TEXT)")
    db.execute(
        "WITH RECURSIVE n(k) AS (VALUES (1) UNION ALL SELECT k + 1 FROM n WHERE k < ?)"
        " INSERT INTO t SELECT k, (k % 1000) / 7.0, k * k - 5, CASE k % 5 WHEN 0 THEN NULL"
        " WHEN 1 THEN k ELSE k * 0.5 END, 'note ' || k FROM n",
        (ROWS,),
    )
    db.execute("ALTER TABLE t ADD COLUMN late INT DEFAULT 3")
    db.commit()
    return db


def open_views(path, device):
    """A connection with a view of each SELECT."""
    db = views.connect(path, device=device)
    for number, select in enumerate(SELECTS):
        views.create(db, f"v{number}", select)
    return db


def agree(db, what):
    """One check: all views give what their SELECTs give."""
    wrong = [
        select
        for number, select in enumerate(SELECTS)
        if views.comparable(views.ask(db, f"v{number}"))
        != views.comparable(views.outcome(db, select))
    ]
    return tap.is_equal(wrong, [], what)


def fed(db):
    """The bytes of pages that a device has decoded so far."""
    return support.stats(db)["bytes_decoded_on_device"]


def ask_until_fed(db, name, what):
    """Asks a view with nothing kept, until the device has what it takes to decode for it."""
    start = time.monotonic()
    while True:
        before = fed(db)
        views.evict(db)
        answer = views.ask(db, name)
        if fed(db) > before:
            break
        if time.monotonic() - start > TIMEOUT_S:
            tap.ok(False, what)
            tap.diag("; ".join(views.plan(db, name)))
            return answer
        time.sleep(0.01)
    tap.ok(True, what)
    return answer


def columns(db):
    """What is kept: names, with the bytes on the host and on the device."""
    return {
        name: (here, there)
        for name, here, there in db.execute(
            'SELECT "column", bytes, device_bytes FROM clreduce_columns'
        )
    }


def test_answers(folder, device):
    for page_size in (512, 4096) if tap.QUICK else (512, 4096, 16384):
        path = folder.new()
        fill(path, page_size).close()
        db = open_views(path, device)
        for number, select in enumerate(SELECTS):
            what = f"{device}, pages of {page_size}: {select}"
            got = ask_until_fed(db, f"v{number}", f"{what}: decoded by the device")
            tap.is_equal(got, views.outcome(db, select), f"{what}: the SELECT's own answer")
        agree(db, f"{device}, pages of {page_size}: again")
        db.close()


def test_inspection(folder, device):
    path = folder.new()
    fill(path).close()
    db = open_views(path, device)
    ask_until_fed(db, "v0", f"{device}: decoded by the device")
    here, there = columns(db)["x"]
    tap.is_equal((here, there), (0, 8 * ROWS), f"{device}: the column is there, and not here")
    plan = views.plan(db, "v0")
    tap.ok(plan[0].startswith("accelerated: device"), f"{device}: answered there")
    tap.ok(any("bytes on the device" in line for line in plan), f"{device}: the plan tells where")
    tap.ok(any("decoded by" in line for line in plan), f"{device}: and who has decoded")
    views.ask(db, "v0")
    tap.ok(views.plan(db, "v0")[-1].endswith("all columns are resident"), f"{device}: it stays")
    db.close()


def test_host_needs(folder, device):
    """A host that is asked for has the columns fetched, and the device keeps its own."""
    path = folder.new()
    fill(path).close()
    db = open_views(path, device)
    ask_until_fed(db, "v0", f"{device}: decoded by the device")
    read = support.stats(db)["bytes_decoded"]
    support.configure(db, device="host")
    tap.is_equal(views.ask(db, "v0"), views.outcome(db, SELECTS[0]), f"{device}: then on the host")
    tap.is_equal(support.stats(db)["bytes_decoded"], read, f"{device}: without reading pages again")
    tap.is_equal(columns(db)["x"], (8 * ROWS, 8 * ROWS), f"{device}: and is both here and there")
    support.configure(db, device=device)
    views.ask(db, "v0")
    tap.ok(
        views.plan(db, "v0")[0].startswith("accelerated: device"), f"{device}: there once more"
    )
    for select in (
        "SELECT gpu_median(x), gpu_percentile(x, 90), gpu_mode(i) FROM t",
        "SELECT gpu_histogram(x, 0, 100, 20), gpu_count_distinct(i) FROM t WHERE i > 1000",
        "SELECT gpu_count_distinct(note) FROM t",
    ):
        ask_until_fed(db, "v1", f"{device}: decoded by the device")
        got = views.through_view(db, select)
        tap.is_equal(got, views.outcome(db, select), f"{device}: {select} of such columns")
    db.close()


def test_changes(folder, device, journal):
    path = folder.new()
    writer = fill(path, journal=journal)
    db = open_views(path, device)
    for number in range(len(SELECTS)):
        views.ask(db, f"v{number}")
    ask_until_fed(db, "v0", f"{device}, {journal}: decoded by the device")
    kept = support.stats(db)["leaves_kept"]
    writer.execute("UPDATE t SET x = -1, i = 7 WHERE id = 17")
    writer.execute("INSERT INTO t VALUES (?, 0.125, 9, 'text', 'new', 1)", (ROWS + 5,))
    writer.commit()
    agree(db, f"{device}, {journal}: a commit of another connection")
    if journal == "wal":
        tap.ok(support.stats(db)["leaves_kept"] > kept, f"{device}: pages are kept by the log")
    db.execute("DELETE FROM t WHERE id % 3 = 0")
    agree(db, f"{device}, {journal}: its own changes, not committed")
    db.rollback()
    agree(db, f"{device}, {journal}: a rollback")
    writer.execute("DELETE FROM t")
    writer.commit()
    agree(db, f"{device}, {journal}: an empty table")
    writer.close()
    db.close()


def test_memory(folder, device):
    """column_memory is the device's limit as well."""
    path = folder.new()
    fill(path).close()
    db = open_views(path, device)
    for number in range(len(SELECTS)):
        ask_until_fed(db, f"v{number}", f"{device}: view {number} decoded by the device")
    for memory in (27 * ROWS + 1000, 20 * ROWS, 100_000):
        support.configure(db, column_memory=memory)
        agree(db, f"{device}: with column_memory {memory}")
        there = sum(there or 0 for _, there in columns(db).values())
        here = sum(here for here, _ in columns(db).values())
        tap.ok(there <= memory and here <= memory, f"{device}: which is kept to")
    db.close()


def test_unsuited(folder, device):
    """Rows with overflow pages before the column: a few are the host's, many make all its own."""
    path = folder.new()
    writer = fill(path)
    writer.execute("UPDATE t SET mixed = zeroblob(9000) WHERE id % 3000 = 1")
    writer.execute("ALTER TABLE t ADD COLUMN after_it REAL")
    writer.execute("UPDATE t SET after_it = id * 0.5")
    writer.commit()
    db = open_views(path, device)
    select = "SELECT gpu_sum(after_it), count(mixed) FROM t"
    views.create(db, "v", select)
    got = ask_until_fed(db, "v", f"{device}: some long rows: decoded by the device")
    tap.is_equal(got, views.outcome(db, select), f"{device}: some long rows")
    writer.execute("UPDATE t SET mixed = zeroblob(5000) WHERE id % 50 = 1")
    writer.commit()
    before = fed(db)
    for _ in range(3):
        views.evict(db)
        tap.is_equal(
            views.ask(db, "v"), views.outcome(db, select), f"{device}: too many long rows"
        )
    tap.is_equal(fed(db), before, f"{device}: which the host decodes")
    writer.close()
    db.close()


def test_damage(folder, device):
    """SQLite's error, and the page that it is in."""
    path = folder.new()
    db = fill(path)
    leaf = support.value(
        db, "SELECT pageno FROM dbstat WHERE name = 't' AND pagetype = 'leaf' LIMIT 1 OFFSET 40"
    ) if support.value(db, "SELECT count(*) FROM pragma_module_list WHERE name = 'dbstat'") else 45
    db.close()
    sound = open_views(path, device)
    ask_until_fed(sound, "v1", f"{device}: decoded by the device")
    sound.close()
    with open(path, "r+b") as file:
        file.seek((leaf - 1) * 4096 + 8 + 2 * 10)
        file.write(b"\0\1")
    db = open_views(path, device)
    tap.is_equal(
        views.comparable(views.ask(db, "v1")),
        views.comparable(views.outcome(db, SELECTS[1])),
        f"{device}: a cell pointer into the header: SQLite's error",
    )
    tap.is_equal(support.stats(db)["malformed_page"], leaf, f"{device}: and the page's number")
    db.close()


def main():
    folder = views.Folder()
    found = [device for device in views.devices() if device != "host"]
    if not found:
        tap.skip_all("no OpenCL device that could decode")
    for device in found:
        started = views.warm(device)
        test_answers(folder, device)
        test_inspection(folder, device)
        test_host_needs(folder, device)
        for journal in ("delete", "wal"):
            test_changes(folder, device, journal)
        test_memory(folder, device)
        test_unsuited(folder, device)
        test_damage(folder, device)
        started.close()
    tap.done()


main()
