"""The columns kept for accelerated views: what clreduce_columns lists, how long they are kept.

With little column_memory the least recently used ones go, and whatever was dropped, by that or by
clreduce_evict(), answers stay those of the SELECTs.
"""

import os
import time

import support
import tap
import view_support as views

#: All devices have memory of their own here: view-shared-t.py is for the others.
os.environ["CLREDUCE_DEVICE_COLUMNS"] = "copied"

ROWS = 2000
COLUMNS = 'SELECT "database", "table", "column", type, rows, bytes, device_bytes, hits'


def fill(db, table="t", rows=ROWS, factor=3):
    """A new table: an INTEGER PRIMARY KEY, and columns of each type that is kept."""
    support.execute(db, "PRAGMA synchronous = OFF",
                    f"CREATE TABLE {table}(k INTEGER PRIMARY KEY, a INT, b REAL, m, n INT, s TEXT)",
                    support.numbered(table, rows, f"i << 33, (i * {factor}) << 33, i / 3.0,"
                                     " CASE i % 3 WHEN 0 THEN i WHEN 1 THEN i * 0.5 END, NULL, 'text ' || i"))


def kept(db):
    """What is kept, by table and column."""
    return {(row[1], row[2]): row for row in db.execute(f"{COLUMNS} FROM clreduce_columns")}


def names(db):
    """The columns that are kept, in order."""
    return sorted(column for _, column in kept(db))


def size(db):
    """How many bytes of columns are kept."""
    return support.value(db, "SELECT coalesce(sum(bytes), 0) FROM clreduce_columns")


def check(db, batch, name, select, parameters=()):
    """Compares a view with its SELECT."""
    got = views.ask(db, name, parameters)
    want = views.outcome(db, select, parameters)
    return batch.compare(got, want, f"{name}: {select}")


def test_list(db, batch):
    """Each column once, whatever the views, with its type, size and hits."""
    fill(db)
    selects = {
        "v": "SELECT gpu_sum(a), gpu_sum(b) FROM t",
        "w": "SELECT gpu_max(b), count(m), count(n), count(s), gpu_sum(k) FROM t",
    }
    tap.is_equal(kept(db), {}, "nothing is kept at first")
    views.create_all(db, selects)
    tap.is_equal(kept(db), {}, "nor for views that were not asked")
    check(db, batch, "v", selects["v"])
    tap.is_equal(
        sorted(kept(db).values()),
        [
            ("main", "t", "a", "INTEGER", ROWS, 8 * ROWS, None, 1),
            ("main", "t", "b", "REAL", ROWS, 8 * ROWS, None, 1),
        ],
        "the columns of one view",
    )
    for _ in range(3):
        check(db, batch, "w", selects["w"])
    check(db, batch, "v", selects["v"])
    listed = kept(db)
    tap.is_equal(names(db), ["a", "b", "k", "m", "n", "s"], "the columns of both views, each once")
    types = {column: row[3] for (_, column), row in listed.items()}
    tap.is_equal(
        [types[name] for name in "abkmns"],
        ["INTEGER", "REAL", "INTEGER", "mixed", "NULL", "TEXT or BLOB"],
        "their types",
    )
    hits = {column: row[7] for (_, column), row in listed.items()}
    tap.is_equal([hits[name] for name in "abkmns"], [2, 5, 3, 3, 3, 3], "their hits")
    tap.ok(all(row[4] == ROWS for row in listed.values()), "their rows")
    before = size(db)
    decoded = support.stats(db)["bytes_decoded"]
    tap.is_equal(support.value(db, "SELECT clreduce_evict()"), before, "clreduce_evict() frees all")
    tap.is_equal(kept(db), {}, "and nothing is kept")
    tap.is_equal(support.value(db, "SELECT clreduce_evict()"), 0, "nothing is left to free")
    views.ask(db, "v")
    tap.ok(support.stats(db)["bytes_decoded"] > decoded, "columns are read again")
    tap.is_equal([row[7] for row in kept(db).values()], [1, 1], "and hits are counted anew")
    other = views.connect(views.new())
    tap.is_equal(kept(other), {}, "another connection has its own")


def test_least_recently_used(db, batch):
    """With memory for three columns, the one that goes is the one whose use is longest ago."""
    fill(db)
    selects = {f"v_{name}": f"SELECT gpu_sum({name}) FROM t" for name in "kabm"}
    selects["v_all"] = "SELECT gpu_sum(k), gpu_sum(a), gpu_sum(b), gpu_max(m) FROM t"
    views.create_all(db, selects)
    support.configure(db, column_memory=27 * ROWS)
    for used, left in (
        ("k", "k"),
        ("a", "ak"),
        ("b", "abk"),
        ("k", "abk"),
        ("m", "bkm"),
        ("a", "akm"),
        ("a", "akm"),
        ("m", "akm"),
        ("b", "abm"),
    ):
        check(db, batch, f"v_{used}", selects[f"v_{used}"])
        batch.compare(names(db), list(left), f"after {used}")
        batch.check(size(db) <= 27 * ROWS, f"{size(db)} bytes after {used}")
        batch.check(views.accelerated(db, f"v_{used}"), f"{used} is accelerated")
    check(db, batch, "v_all", selects["v_all"])
    verdict = views.plan(db, "v_all")[0]
    batch.check("streaming" in verdict, f"there is no room for all four: {verdict}")
    batch.check(size(db) <= 27 * ROWS, f"{size(db)} bytes after all four")
    support.configure(db, column_memory=20 * ROWS)
    for used in "kabkbkma":
        check(db, batch, f"v_{used}", selects[f"v_{used}"])
        batch.check(views.accelerated(db, f"v_{used}"), f"{used} is accelerated with less")
        batch.check(size(db) <= 20 * ROWS, f"{size(db)} bytes, and two columns' room")
    support.configure(db, column_memory=1000)
    for name, select in reversed(selects.items()):
        check(db, batch, name, select)
    batch.compare(names(db), [], "no room for any")
    support.configure(db, column_memory=0)
    for name, select in selects.items():
        check(db, batch, name, select)
    batch.compare(names(db), ["a", "b", "k", "m"], "with memory enough")


def test_many(db, batch, rng):
    """Views of many tables, asked in any order, while memory is for a few columns alone."""
    db.execute("ATTACH ? AS other", (views.new(),))
    selects = {}
    tables = [f"main.t{i}" for i in range(12)] + [f"other.t{i}" for i in range(4)]
    for number, table in enumerate(tables):
        fill(db, table, rows=rng.randint(1, 3000), factor=number + 1)
        for i in range(3):
            one, two = rng.choice("kabmn"), rng.choice("kabmns")
            name = f"v{number}_{i}"
            selects[name] = f"SELECT gpu_sum({one}), count({two}), gpu_max(b) FROM {table}"
            selects[name] += f" WHERE {rng.choice('kab')} > {rng.randint(0, 500)}"
            batch.check(views.create(db, name, selects[name]) is None, name)
    largest = memory = 0
    tally = views.Tally()
    for _ in range(300 if tap.QUICK else 2000):
        name = rng.choice(list(selects))
        step = rng.random()
        if step < 0.05:
            memory = rng.choice((0, 100000, 200000, 500000))
            support.configure(db, column_memory=memory)
        elif step < 0.1:
            db.execute(f"UPDATE {rng.choice(tables)} SET a = a + 1 WHERE k % 10 = 3")
        elif step < 0.12:
            before = size(db)
            batch.compare(support.value(db, "SELECT clreduce_evict()"), before, "evicted")
        check(db, batch, name, selects[name])
        tally.add(db, name)
        if memory:
            # What the latest scan used stays: at most five columns of 3000 rows.
            batch.check(size(db) <= max(memory, 5 * 9 * 3000), f"{size(db)} bytes of {memory}")
        largest = max(largest, size(db))
    tap.diag(f"{largest} bytes at most, {len(selects)} views")
    tally.require(0.5, "many views")


def test_small_tables(db, batch):
    """What was read of tables that turned out too small for a view does not add up."""
    support.configure(db, view_threshold=1000000, column_memory=30 * ROWS)
    for i in range(10):
        fill(db, f"t{i}")
        select = f"SELECT gpu_sum(a), gpu_sum(b) FROM t{i}"
        views.create(db, f"v{i}", select)
        check(db, batch, f"v{i}", select)
        batch.check(size(db) <= 30 * ROWS, f"{size(db)} bytes after {i + 1} tables")


def test_schema(db, batch):
    """Columns that are added, tables that are dropped and created anew, with the same columns."""
    fill(db)
    selects = {"v": "SELECT gpu_sum(a), gpu_sum(b), count(*) FROM t"}
    views.create(db, "v", selects["v"])

    def check_all(step):
        for name, select in selects.items():
            for _ in range(2):
                check(db, batch, name, select)
                batch.check(views.accelerated(db, name), f"{step}: {name} is accelerated")

    check_all("at first")
    db.execute("ALTER TABLE t ADD COLUMN x INT DEFAULT 7")
    selects["w"] = "SELECT gpu_sum(x), gpu_max(x), count(a) FROM t WHERE b > 100"
    views.create(db, "w", selects["w"])
    check_all("ADD COLUMN")
    batch.compare(kept(db)["t", "x"][3:5], ("INTEGER", ROWS), "the default's type")
    db.execute("UPDATE t SET x = x * 0.5 WHERE (k >> 33) % 2")
    check_all("UPDATE of the new column")
    batch.compare(kept(db)["t", "x"][3], "mixed", "its type now")
    db.execute("ALTER TABLE t ADD COLUMN y REAL DEFAULT 3")
    selects["y"] = "SELECT gpu_sum(y), gpu_avg(y) FROM t"
    views.create(db, "y", selects["y"])
    check_all("ADD COLUMN REAL")
    batch.compare(kept(db)["t", "y"][3], "REAL", "an INTEGER default of a REAL column")
    for factor in (5, 7):
        db.execute("DROP TABLE t")
        fill(db, factor=factor, rows=ROWS // factor)
        support.execute(db, "ALTER TABLE t ADD COLUMN x INT DEFAULT 8", "ALTER TABLE t ADD COLUMN y REAL DEFAULT 4.5")
        check_all(f"created anew, factor {factor}")
        rows = {row[4] for row in kept(db).values()}
        batch.compare(rows, {ROWS // factor}, "only the new table's columns are kept")
    support.execute(db, "DROP TABLE t", "CREATE TABLE t(b INT, x, k REAL, a TEXT, y INT)",
                    support.numbered("t", 1500, "i, i, i, i, 1"))
    for name, select in selects.items():
        check(db, batch, name, select)
    for name in selects:
        db.execute(f"DROP TABLE {name}")
    db.execute("DROP TABLE t")
    left = size(db)
    batch.compare(support.value(db, "SELECT clreduce_evict()"), left, "evicted in the end")
    batch.compare(kept(db), {}, "of a table that is gone nothing is kept")
    batch.compare(support.value(db, "SELECT clreduce_evict()"), 0, "nor is anything left to free")


def test_device():
    """Copies on a device: listed, counted by clreduce_evict(), and dropped to save memory."""
    kinds = [kind for kind in views.devices() if kind != "host"]
    if not kinds:
        tap.skip(1, "no device to keep columns on")
        return
    db = views.connect(views.new(), device=kinds[0])
    fill(db)
    batch = support.Batch(f"columns on {kinds[0]}")
    selects = {f"v_{name}": f"SELECT gpu_sum({name}), gpu_max({name}) FROM t" for name in "kabm"}
    views.create_all(db, selects)

    def ask_until(wanted, asked):
        for _ in range(600):
            for name in asked:
                check(db, batch, name, selects[name])
            if wanted():
                return True
            time.sleep(0.02)
        return False

    on_device = "SELECT coalesce(sum(device_bytes), 0) FROM clreduce_columns"
    batch.check(ask_until(lambda: support.value(db, on_device) == 33 * ROWS, selects), "copies")
    db.execute("PRAGMA journal_mode = WAL")
    for _ in range(2):
        db.execute("UPDATE t SET a = a + 1 WHERE k = 5")
        check(db, batch, "v_a", selects["v_a"])
        there = {column for (_, column), row in kept(db).items() if row[6]}
        batch.check(ask_until(lambda: support.value(db, on_device) == 33 * ROWS, selects), "copies")
    batch.check(there >= set("kbm"), f"after a change of a there were copies of {sorted(there)}")
    # Of each column's two blocks of rows the host keeps the extremes, which it has of both together too, and the sums.
    zones = 4 * (32 + 3 * 24 + 2 * 24)
    batch.compare(support.value(db, "SELECT clreduce_evict()"), 2 * 33 * ROWS + zones, "evicted bytes")
    batch.compare(support.value(db, on_device), 0, "nothing is left")
    support.configure(db, column_memory=20 * ROWS)
    batch.check(ask_until(lambda: support.value(db, on_device) > 0, ["v_a"]), "a copy")
    for _ in range(20):
        for name, select in selects.items():
            check(db, batch, name, select)
            bytes_there = support.value(db, on_device)
            batch.check(bytes_there <= 20 * ROWS, f"{bytes_there} bytes on the device")
            batch.check(size(db) <= 20 * ROWS, f"{size(db)} bytes on the host")


def test_other_changes():
    """What expires statements and changes nothing in the file leaves columns where they are."""
    for mode in ("DELETE", "WAL"):
        db = views.connect(views.new(), journal_mode=mode)
        fill(db)
        select = "SELECT gpu_sum(a), gpu_sum(b) FROM t"
        views.create(db, "v", select)
        batch = support.Batch(f"{mode}: temp tables, views and functions come and go")
        check(db, batch, "v", select)
        for change in ("CREATE TEMP TABLE z(a)", "INSERT INTO temp.z VALUES(1)", "DROP TABLE temp.z",
                       "CREATE VIRTUAL TABLE temp.w USING clreduce((SELECT count(*) FROM t WHERE k > 3))", "DROP TABLE w",
                       f"ATTACH '{views.new()}' AS other", "CREATE TABLE other.t(a)", "DETACH other"):
            db.execute(change)
            db.create_function("one", 0, lambda: 1)
            check(db, batch, "v", select)
            last = views.plan(db, "v")[-1]
            batch.check("0 bytes" in last, f"{change}: {last}")
        for change in ("UPDATE t SET a = a + 1 WHERE k = 5", "CREATE TABLE u(a)", "ALTER TABLE t ADD COLUMN c DEFAULT 5",
                       "ALTER TABLE t DROP COLUMN n", "DROP TABLE t; CREATE TABLE t(k INTEGER PRIMARY KEY, b INT, a REAL)",
                       "INSERT INTO t SELECT value, value, value / 4.0 FROM json_each('[1,2,3]')"):
            db.executescript(change)
            check(db, batch, "v", select)


# Nothing stays of the files of the tests before.
support.configure(views.connect(), column_retention=0)
views.run(globals())
