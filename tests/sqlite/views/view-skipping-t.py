"""Views leave out blocks of rows that their filter lets nothing of through, and nobody notices: on
data in order and in none, for every comparison, between changes, they give what their SELECTs give.
"""

import support
import tap
import view_support as views
from domains import Zones
from matrix import Run, run_all, times

BLOCK = 1024
#: What is asked about the rows that a condition leaves.
SELECTS = (
    "SELECT count(*), gpu_sum(i), gpu_total(r), gpu_max(n) FROM t WHERE {}",
    "SELECT d, count(*), gpu_sum(i), gpu_min(r) FROM t WHERE {} GROUP BY d",
    "SELECT gpu_sum(i) FILTER (WHERE r > 5), gpu_sum(i + 1), gpu_sum(i + 2), gpu_sum(i + 3) FROM t WHERE {}",
    "SELECT id, i, d FROM t WHERE {}",
)


def skipped(db, name, parameters=()):
    """How many blocks a view leaves out when it is asked."""
    before = support.stats(db)["blocks_skipped"]
    views.ask(db, name, parameters)
    return support.stats(db)["blocks_skipped"] - before


def expect(db, select, parameters, blocks, what):
    """Checks how many blocks a view leaves out, and its answer."""
    views.create(db, "v", select)
    views.ask(db, "v", parameters)
    tap.is_equal(skipped(db, "v", parameters), blocks, f"{what}: blocks left out")
    views.agree(db, "v", select, parameters, what)


def test_sizes(rng):
    """Where a block ends."""
    for rows in (BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 2 * BLOCK + 1):
        db = views.connect(views.new())
        Zones.create(db, rng, "ascending", rows)
        blocks = (rows + BLOCK - 1) // BLOCK
        select = "SELECT count(*), gpu_sum(i) FROM t WHERE i >= ?1"
        expect(db, select, (rows - 1,), blocks - 1 if blocks > 1 else 0, f"{rows} rows, the last")
        expect(db, select, (rows,), blocks if blocks > 1 else 0, f"{rows} rows, none")
        expect(db, select, (0,), 0, f"{rows} rows, all")


def test_kinds(db, rng):
    """What kinds of conditions leave blocks out, and which do not."""
    rows = 10 * BLOCK
    Zones.create(db, rng, "ascending", rows)
    some, other = 5 * BLOCK + 10, 8 * BLOCK + 10
    for condition, parameters, blocks in (
        ("i = ?1", (some,), 9),
        ("i IS ?1", (some,), 9),
        ("?1 >= i", (some,), 4),
        ("i BETWEEN ?1 AND ?2", (some, some + 5), 9),
        ("i NOT BETWEEN ?1 AND ?2", (some, some + 5), 0),
        ("i > ?1 AND i < ?2", (some, other), 6),
        ("i < ?1 OR i > ?2", (some, other), 2),
        ("i IN (?1, ?2, -1)", (some, other), 8),
        ("i = ?1", (some + 0.5,), 10),
        ("i < ?1", (some - 9.5,), 4),
        ("r BETWEEN ?1 AND ?2", (some / 8, some / 8 + 1), 9),
        ("n = ?1 AND n > 0", (some // 50 * 50 + 30,), 9),
        ("m BETWEEN ?1 AND ?2", (some, some + 5), 0),
        ("zero = ?1", (-0.0,), 0),
        ("zero < ?1", (0,), 10),
        ("zero > -1 AND i = ?1", (some,), 9),
        ("id = ?1", (some,), 9),
        ("i % 7 = 0 AND i > ?1", (other,), 8),
        ("abs(i) < ?1 AND i < ?1", (some,), 0),
        ("i <> ?1", (some,), 0),
        ("n IS NULL", (), 0),
        ("i IS NULL", (), 10),
        ("i > ?1", (None,), 0),
    ):
        for number, select in enumerate(SELECTS):
            # SQLite finds few rows by itself where it has their keys.
            if number < 3 or (blocks >= 9 and "id" not in condition):
                expect(db, select.format(condition), parameters, blocks, f"{condition}, select {number}")


def test_texts(db):
    """Dates in order, which are codes."""
    rows = 10 * BLOCK
    support.execute(db, "CREATE TABLE t(d TEXT, x REAL)",
                    support.numbered("t", rows, "date('2020-01-01', (i / 20) || ' days'), i * 0.5", 0))
    for condition, parameters, blocks in (
        ("d = ?1", ("2020-01-05",), 9),
        ("d BETWEEN ?1 AND ?2", ("2020-01-05", "2020-01-09"), 9),
        ("d >= ?1 AND d < ?2", ("2021-01-01", "2021-01-05"), 9),
        ("d LIKE ?1", ("2020-01-%",), 9),
        ("strftime('%Y', d) = ?1", ("2021",), 7),
        ("d > ?1", ("9",), 10),
        ("d IS NULL", (), 0),
    ):
        expect(db, f"SELECT count(*), gpu_sum(x) FROM t WHERE {condition}", parameters, blocks, condition)
        expect(db, f"SELECT d, gpu_sum(x) FROM t WHERE {condition} GROUP BY d", parameters, blocks, condition)


def test_whole(rng):
    """Blocks that pass as a whole and are of one group, of whose columns there are sums from the second time on."""
    for order in Zones.orders:
        db = views.connect(views.new())
        Zones.create(db, rng, order, 6 * BLOCK)
        db.commit()
        for select in (
            "SELECT c, gpu_sum(k), count(*), gpu_min(k), gpu_max(k) FROM t GROUP BY c",
            "SELECT DISTINCT c, f FROM t",
            "SELECT f, gpu_sum(v), count(v), gpu_avg(n), gpu_sum(i), gpu_sum(w), gpu_min(zero) FROM t GROUP BY f",
            "SELECT e >= '2024-01-04', c, gpu_sum(v), gpu_max(r) FROM t WHERE r >= 200 GROUP BY 1, 2 ORDER BY 1 DESC, 2",
            # Codes that a block has few of, and of which several are of one group.
            "SELECT substr(e, 10, 1), count(*), gpu_sum(v), gpu_sum(w), gpu_max(r) FROM t GROUP BY 1",
            "SELECT substr(e, 10, 1) AS x, gpu_median(v), gpu_sum(k), gpu_min(i) FROM t WHERE i > 50 GROUP BY x ORDER BY x DESC",
            "SELECT DISTINCT CASE WHEN e > '2024-01-04' THEN substr(e, 10, 1) END FROM t",
            "SELECT e, c, count(*), gpu_sum(p), gpu_avg(q), gpu_sum(p) FROM t GROUP BY 1, 2",
            "SELECT f, gpu_sum(b), gpu_avg(p), count(*), gpu_sum(q) FROM t GROUP BY f",
            "SELECT substr(e, 10, 1), gpu_total(p), gpu_sum(q) FROM t WHERE r >= 200 GROUP BY 1",
            "SELECT gpu_sum(v), gpu_avg(k), gpu_sum(i), gpu_min(v), gpu_max(n), count(n) FROM t",
            "SELECT gpu_sum(v), gpu_avg(k), count(*) FROM t WHERE r BETWEEN 100 AND 600 AND f <> 'x1'",
        ):
            views.create(db, "v", select)
            for _ in range(3):
                views.ask(db, "v")
            views.agree(db, "v", select, (), f"{order}: {select}")
            tap.ok(views.accelerated(db, "v"), "accelerated")


def test_first_rows(db, rng):
    """Codes of one group that come in another order than they were found in: it begins with the first of its rows."""
    db.execute("PRAGMA journal_mode = WAL")
    Zones.create(db, rng, "ascending", 6 * BLOCK)
    db.commit()
    select = "SELECT DISTINCT substr(e, 10, 1) FROM t"
    views.create(db, "v", select)
    for _ in range(3):
        views.ask(db, "v")
    for before, after in (("01", "12"), ("15", "01"), ("04", "03")):
        db.execute("UPDATE t SET e = '2024-01-' || ? WHERE e = '2024-01-' || ?", (after, before))
        db.commit()
        for _ in range(3):
            views.ask(db, "v")
        views.agree(db, "v", select, (), f"{after} in the place of {before}")


def test_changes(db):
    """Zones follow what changes: those of blocks that stay are there, and none is out of date."""
    db.execute("PRAGMA journal_mode = WAL")
    rows = 200 * BLOCK
    support.execute(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, i INTEGER, m INTEGER)", support.numbered("t", rows, "NULL, i, i * 7919 % 1009", 0))
    select = "SELECT count(*), gpu_sum(i) FROM t WHERE i BETWEEN ?1 AND ?2"
    views.create(db, "v", select)

    def check(low, high, blocks, what):
        tap.is_equal(skipped(db, "v", (low, high)), blocks, f"{what}: blocks left out")
        views.agree(db, "v", select, (low, high), what)

    # A write-ahead log says what has changed since it was seen.
    support.execute(db, "PRAGMA wal_checkpoint(TRUNCATE)", "UPDATE t SET m = m + 1 WHERE id = 9")
    check(5, 9, 199, "columns that were just loaded")
    db.execute("UPDATE t SET i = 7 WHERE id = ?", (rows // 2,))
    check(5, 9, 198, "a row in the middle")
    db.execute("UPDATE t SET i = NULL WHERE id = ?", (rows // 2,))
    check(5, 9, 199, "a NULL")
    db.execute("INSERT INTO t(i) VALUES (6), (7)")
    check(5, 9, 199, "rows at the end")
    check(rows - 2, rows, 200, "the last block")
    db.execute("DELETE FROM t WHERE id = 50")
    skipped(db, "v", (5, 9))
    check(5, 9, 198, "all rows move")
    db.execute("UPDATE t SET i = 'x' WHERE id = ?", (rows // 2,))
    check(5, 9, 0, "a text")


def test_first(db, rng):
    """The first query that can use them makes zones; their bytes count from then on; and they go with the column."""
    Zones.create(db, rng, "ascending", 10 * BLOCK)
    views.create(db, "v", "SELECT gpu_sum(r) FROM t WHERE r < 10")
    size = "SELECT bytes FROM clreduce_columns"
    views.create(db, "w", "SELECT gpu_sum(r) FROM t")
    views.ask(db, "w")
    tap.is_equal(db.execute(size).fetchall(), [(10 * BLOCK * 4,)], "no zones")
    views.ask(db, "v")
    bytes_now = db.execute(size).fetchone()[0]
    tap.ok(10 * BLOCK * 4 < bytes_now < 10 * BLOCK * 4 + 1000, f"zones: {bytes_now} bytes")
    tap.ok(views.plan(db, "v")[2].endswith(f"{bytes_now} bytes"), "the plan says so")
    tap.is_equal(db.execute("SELECT clreduce_evict()").fetchone()[0] >= bytes_now, True, "which are freed")
    tap.is_equal(skipped(db, "v"), 9, "and made anew")


def test_random(rng):
    """Random SELECTs of random tables."""
    run_all(rng, [Run(Zones, times(160, 900), on_table=20, between=4, fast=0.5, asks_again=2)]
            + [Run(Zones, times(20, 60), device=device, on_table=5, between=4, fast=0.5) for device in views.devices()[1:]])


def test_ranges(device):
    """A device goes over ranges of rows: those of one piece, or of several far from each other; with groups, of
    which there are few or many, as well."""
    db = views.connect(views.new(), device)
    # A gap of 1024 blocks makes two ranges of one.
    blocks_there = 1100
    rows = blocks_there * BLOCK
    support.execute(db, "CREATE TABLE t(i INTEGER, few INTEGER, many INTEGER, r REAL)",
                    support.numbered("t", rows, "i, i % 7, i * 37 % 30011, i * 0.37", 0))
    apart = "i BETWEEN ?1 AND ?2 OR i > ?3"
    for keys in ("", "few", "many"):
        for condition, parameters, blocks, ranges in (
            ("i BETWEEN ?1 AND ?2", (70 * BLOCK + 5, 130 * BLOCK - 6), blocks_there - 60, 1),
            (apart, (10 * BLOCK, 69 * BLOCK, rows - 3), blocks_there - 61, 2),
            (apart, (100 * BLOCK, 159 * BLOCK, rows - 3), blocks_there - 61, 1),
        ):
            # Extremes by group are two launches on some devices.
            most = ", gpu_max(i)" if keys != "few" else ""
            select = f"SELECT {keys and keys + ','} count(*), gpu_sum(i), gpu_sum(r){most} FROM t"
            select += f" WHERE {condition}" + (keys and f" GROUP BY {keys}")
            what = f"{device}, {keys}, {condition} {parameters}"
            views.create(db, "v", select)
            views.ask(db, "v", parameters)
            views.given_by_device(db, "v", select, parameters, what)
            before = support.stats(db)
            views.ask(db, "v", parameters)
            after = support.stats(db)
            tap.is_equal(after["blocks_skipped"] - before["blocks_skipped"], blocks, f"{what}: blocks left out")
            if keys == "few":
                launched = after["kernels_launched"] - before["kernels_launched"]
                tap.is_equal(launched, ranges, f"{what}: a launch for each range")


views.run(globals(), device=views.warmed())
