"""INTEGERs, and REALs of few decimals, that take fewer bytes than 8 in memory: the answers are those
of the SELECTs, and clreduce_columns says how wide columns are; a value that does not fit widens them.
"""

import itertools
import math
import os

import support
import tap
import view_support as views

ROWS = 5000
# Copies on a device that could share the host's memory are counted, too.
os.environ["CLREDUCE_DEVICE_COLUMNS"] = "copied"

INT_MIN, INT_MAX = views.INT_MIN, views.INT_MAX

#: What columns are asked: whole, by blocks, by bounds, by few rows of a block, by groups.
SELECTS = [
    "SELECT gpu_sum(x), gpu_min(x), gpu_max(x), count(x), gpu_dot(x, x) FROM t",
    "SELECT gpu_avg(x), gpu_dot(x, y), gpu_sum(y) FROM t",
    "SELECT gpu_avg(y + 1), gpu_max(y - x / 2) FROM t WHERE x IS NOT NULL",
    "SELECT count(*), gpu_sum(y), gpu_max(x) FROM t WHERE x BETWEEN :low AND :high",
    "SELECT count(*), gpu_sum(y) FROM t WHERE x > :low AND x < :high AND y <> 3",
    "SELECT count(*), gpu_min(y) FROM t WHERE x = :low",
    "SELECT count(*) FROM t WHERE x < :low + 0.5",
    "SELECT gpu_median(x), gpu_percentile(x, 90) FROM t",
    "SELECT gpu_count_distinct(x), gpu_mode(x) FROM t",
    "SELECT gpu_histogram(y, 0, 10, 5) FROM t",
    "SELECT y, count(*), gpu_sum(x), gpu_min(x), gpu_max(x) FROM t GROUP BY y ORDER BY y",
    "SELECT x, count(*) FROM t GROUP BY x ORDER BY x LIMIT 300",
    "SELECT count(x) FROM t",
]


def fill(db, values, rows=ROWS):
    """A table of x, which has the values one after the other, and y."""
    db.execute("PRAGMA synchronous = OFF")
    support.table(db, "t(x, y INT)", ((x, i % 7) for i, x in zip(range(rows), itertools.cycle(values))))


def width(db, name="x"):
    """The bytes of a row's value in a column, and all that the column takes."""
    return db.execute("SELECT width, bytes FROM clreduce_columns WHERE \"column\" = ? AND type <> 'codes'", (name,)).fetchone()


def check(db, batch, bounds, what):
    """Compares all SELECTs with their views, one after the other."""
    for i, select in enumerate(SELECTS):
        parameters = bounds if ":low" in select else ()
        if ":low" in select and ":high" not in select:
            parameters = bounds[:1]
        want = views.outcome(db, select, parameters)
        if db.execute("SELECT count(*) FROM temp.sqlite_master WHERE name = ?", (f"v{i}",)).fetchone()[0] == 0:
            batch.check(views.create(db, f"v{i}", select) is None, f"{what}: {select}")
        batch.compare(views.ask(db, f"v{i}", parameters), want, f"{what}: {select} of {parameters}")


#: What a column has, and how many bytes a value of it takes.
FAMILIES = [
    ("bytes", (0, 255, 3, 17), 1),
    ("more than bytes", (0, 256, 3), 2),
    ("halves", (65535, 0, 1), 2),
    ("more than halves", (65536, 0, 1), 4),
    ("words", (2**32 - 1, 0, 1), 4),
    ("more than words", (2**32, 0, 1), 8),
    ("signed bytes", (-128, 127, 0), 1),
    ("more than signed bytes", (-129, 127, 0), 2),
    ("signed halves", (-32768, 32767, 5), 2),
    ("signed words", (-(2**31), 2**31 - 1, 5), 4),
    ("more than signed words", (-(2**31) - 1, 2**31 - 1), 8),
    ("one value", (42,), 1),
    ("zeros", (0,), 1),
    ("the least", (INT_MIN, INT_MIN + 255), 1),
    ("the greatest", (INT_MAX, INT_MAX - 255), 1),
    ("near the least", (INT_MIN, INT_MIN + 256), 2),
    ("near the greatest", (INT_MAX - 65536, INT_MAX), 4),
    ("least and greatest", (INT_MIN, INT_MAX), 8),
    ("least and 0", (INT_MIN, 0), 8),
    ("NULLs", (None, 200, 7), 1),
    ("nothing but NULLs", (None,), 1),
    ("NULLs far from the others", (None, 2**40), 8),
    ("REALs too", (1, 2.5, 3), 8),
    ("one REAL", (-1.5,), 1),
    ("infinities", (1, 9e999), 8),
    ("TEXT too", (1, "text", 200), 1),
    ("BLOBs too", (b"\0", 70000, None), 4),
    ("tenths", (0.1, -12.8, 3.0, 0.0, 12.7), 1),
    ("more than bytes of tenths", (0.1, -12.9, 12.7), 2),
    ("prices", (0.01, 655.35, 19.99, 0.29, 0.57), 2),
    ("more than prices", (0.0, 655.36, 19.99), 4),
    ("negative prices", (-327.68, 327.67, 0.0, -0.01), 2),
    ("most of four bytes", (42949672.95, 0.01), 4),
    ("more than four bytes", (42949672.96, 0.0), 8),
    ("degrees", (52.5200066, 13.404954, -73.9857001, 0.1 + 0.2 - 0.3000000000000001), 8),
    ("degrees of seven decimals", (52.5200066, 13.404954, -73.9857001), 4),
    ("whole REALs", (1.0, 200.0, 77.0), 1),
    ("far from 0", (1e9 + 0.01, 1e9 + 2.5), 1),
    ("a sum of tenths", (0.1, 0.2, 0.1 + 0.2), 8),
    ("a price's neighbour above", (19.99, 0.01, math.nextafter(19.99, 20)), 8),
    ("a price's neighbour below", (19.99, 0.01, math.nextafter(19.99, 19)), 8),
    ("a negative zero", (19.99, -0.0, 0.01), 8),
    ("nothing but zeros", (0.0,), 1),
    ("an infinity", (19.99, -9e999), 8),
    ("subnormals", (5e-324, 19.99), 8),
    ("prices and NULLs", (None, 19.99, 0.5), 2),
    ("prices and TEXT", (19.99, "text", 0.5), 2),
    ("prices and INTEGERs", (19.99, 7, 0.5), 8),
    ("nine decimals", (0.123456789, 0.5), 4),
    ("ten decimals", (0.1234567891, 0.5), 8),
]


def test_families():
    """Columns of each width, with their boundaries."""
    for name, values, bytes_each in FAMILIES[:: 2 if tap.QUICK else 1]:
        batch = support.Batch(f"{name}")
        db = views.connect(views.new())
        fill(db, values)
        views.create(db, "first", "SELECT count(x), count(y) FROM t")
        views.ask(db, "first")
        tags = ROWS if len({type(value) for value in values}) > 1 else 0
        batch.compare(width(db), (bytes_each, bytes_each * ROWS + tags), "bytes of x")
        batch.compare(width(db, "y"), (1, ROWS), "bytes of y")
        numbers = [value for value in values if isinstance(value, (int, float))] or [0]
        ranges = (
            (math.nextafter(min(numbers), math.inf), math.nextafter(max(numbers), -math.inf)),
            (min(numbers), max(numbers)),
            (INT_MIN, min(numbers)),
            (max(numbers) // 2, max(numbers)),
            (INT_MIN, INT_MAX),
            (INT_MAX, INT_MIN),
        )
        for low, high in ranges[: 2 if tap.QUICK else None]:
            check(db, batch, (low, high), name)


#: What becomes of a column of 0 to 9: a statement, and how wide the column is then.
INTEGER_CHANGES = [
    ("UPDATE t SET x = 255 WHERE rowid = 4000", 1),
    ("UPDATE t SET x = 256 WHERE rowid = 17", 2),
    ("INSERT INTO t VALUES (NULL, 3), (65535, 1)", 2),
    ("DELETE FROM t WHERE x = 65535", 2),
    ("INSERT INTO t SELECT 65536, 1", 4),
    ("INSERT INTO t SELECT x - 70000, 2 FROM t LIMIT 700", 4),
    ("UPDATE t SET x = 4294967296 WHERE rowid % 1000 = 0", 8),
    ("UPDATE t SET x = 'text' WHERE rowid % 999 = 0", 8),
    ("DELETE FROM t WHERE typeof(x) <> 'integer' OR x NOT BETWEEN 0 AND 255", 8),
]

#: Likewise of 0.0 to 0.9; what is no decimal, by the last bit, widens as much as can be.
DECIMAL_CHANGES = [
    ("UPDATE t SET x = 25.5 WHERE rowid = 4000", 1),
    ("UPDATE t SET x = 0.25 WHERE rowid = 17", 2),
    ("INSERT INTO t VALUES (NULL, 3), (655.35, 1)", 2),
    ("DELETE FROM t WHERE x = 655.35 OR x = 0.25", 2),
    ("UPDATE t SET x = 3.25 WHERE rowid % 7 = 0", 2),
    ("INSERT INTO t SELECT 99.125, 2 FROM t LIMIT 700", 4),
    ("UPDATE t SET x = 0.0 WHERE rowid % 11 = 0", 4),
    ("UPDATE t SET x = 0.1 + 0.2 WHERE rowid = 1234", 8),
    ("DELETE FROM t WHERE x = 0.1 + 0.2 OR x <> round(x, 1)", 8),
]

#: Likewise of NULLs alone.
NULL_CHANGES = [
    ("UPDATE t SET x = 0.25 WHERE rowid = 17", 1),
    ("UPDATE t SET x = 7 WHERE rowid = 170", 8),
    ("UPDATE t SET x = NULL", 8),
]


@tap.each((range(10), INTEGER_CHANGES), ([i / 10 for i in range(10)], DECIMAL_CHANGES), ([None], NULL_CHANGES))
def test_changes(values, changes):
    """Refreshes that widen, by this connection and by another, and by one that is rolled back; and
    how wide what is left is when it is read anew."""
    for others in (False, True):
        path = views.new()
        db = views.connect(path, journal_mode="WAL")
        fill(db, values)
        writer = tap.connect(path) if others else db
        batch = support.Batch("changed by another connection" if others else "changed")
        check(db, batch, (3, 7), "at first")
        for change, bytes_each in changes:
            support.execute(writer, "BEGIN", "INSERT INTO t VALUES (-1, 1), (9223372036854775807, 2)")
            if not others:
                check(db, batch, (3, 7), "in a transaction")
            writer.execute("ROLLBACK")
            check(db, batch, (3, 7), "rolled back")
            writer.execute(change)
            writer.commit()
            check(db, batch, (3, 300), change)
            batch.compare(width(db)[0], bytes_each, change)
        batch.compare(support.stats(db)["leaves_refreshed"] > 0, True, "leaves are refreshed")
        db.execute("SELECT clreduce_evict()").fetchall()
        check(db, batch, (3, 300), "read anew")
        batch.compare(width(db)[0], 1, "read anew")
        if others:
            writer.close()


def test_reader(batch, path):
    """A reader of an older version keeps it, narrow as it was, while another one's is widened."""
    old, new = views.connect(path, journal_mode="WAL"), views.connect(path)
    fill(old, range(10))
    select = "SELECT x, gpu_sum(y), count(*) FROM t GROUP BY x ORDER BY x"
    whole = "SELECT gpu_sum(x), gpu_max(x), gpu_median(x) FROM t"
    for db in (old, new):
        views.create(db, "v", select)
        views.create(db, "w", whole)
        views.ask(db, "v")
    old.execute("BEGIN")
    before = views.outcome(old, select), views.outcome(old, whole)
    cursor = old.execute("SELECT * FROM v")
    first = cursor.fetchone()
    for value in (300, 70000, 2**50):
        new.execute("UPDATE t SET x = ? WHERE rowid % 100 = 7", (value,))
        new.commit()
        batch.compare(views.ask(new, "v"), views.outcome(new, select), f"{value}, the new version")
        batch.compare(views.ask(new, "w"), views.outcome(new, whole), f"{value}, the new version")
        batch.compare(views.ask(old, "v"), before[0], f"{value}, the old version")
        batch.compare(views.ask(old, "w"), before[1], f"{value}, the old version")
    batch.compare([first] + cursor.fetchall(), before[0], "the rest of the old answer")
    old.execute("COMMIT")
    batch.compare(views.ask(old, "w"), views.outcome(new, whole), "the new version at last")


def test_growing():
    """Values that get larger, or smaller, with each page: each width takes over from the last."""
    growths = (
        ("ascending", "i", 4),
        ("from far away", "i + 1000000000000", 4),
        ("descending", "-i", 4),
        ("ever faster", "i * i * i", 8),
        ("late", "CASE WHEN i > 69990 THEN 300 ELSE 1 END", 2),
        ("NULL for long", "CASE WHEN i > 50000 THEN i END", 4),
        ("REAL at the end", "CASE WHEN i > 69999 THEN 0.5 ELSE i END", 8),
        ("prices", "i / 100.0", 4),
        ("small prices", "i % 900 / 100.0", 2),
        ("more decimals soon", "CASE WHEN i < 20000 THEN i / 10.0 ELSE i / 1000.0 END", 4),
        ("more decimals late", "CASE WHEN i < 66000 THEN i % 9 / 10.0 ELSE i % 9 / 100.0 END", 1),
        ("a third at the end", "CASE WHEN i > 69999 THEN 1 / 3.0 ELSE i / 100.0 END", 8),
        ("INTEGER at the end", "CASE WHEN i > 69999 THEN 7 ELSE i / 100.0 END", 8),
        ("NULL, then prices", "CASE WHEN i > 50000 THEN i % 900 / 100.0 END", 2),
        ("INTEGERs, then REALs", "CASE WHEN i > 50000 THEN i / 100.0 ELSE i % 2 END", 8),
    )
    for name, expression, bytes_each in growths[:: 2 if tap.QUICK else 1]:
        batch = support.Batch(f"growing: {name}")
        db = views.connect(views.new())
        support.execute(db, "PRAGMA synchronous = OFF", "CREATE TABLE t(x, y INT)",
                        support.numbered("t", 70_000, f"{expression}, i % 7"))
        check(db, batch, (256, 100000), name)
        batch.compare(width(db)[0], bytes_each, "width")


#: What the least and the greatest values of each 1,024 rows take, and of each 64 times as many, and the sums of the former.
ZONES = 32 + 24 * (-(-ROWS // 1024) + -(-ROWS // 65536)) + 24 * -(-ROWS // 1024)


def test_filled(db, batch):
    """Columns that SQLite has filled are narrow too."""
    support.table(db, "t(k INTEGER PRIMARY KEY, x INT, y INT, z TEXT, UNIQUE(z, k)) WITHOUT ROWID",
                  ((i, i % 1000 - 500, i % 7, "z") for i in range(ROWS)))
    for _ in range(2):
        check(db, batch, (-3, 400), "filled")
    batch.compare(width(db), (2, 2 * ROWS + ZONES), "bytes")
    db.execute("UPDATE t SET x = 9223372036854775807 WHERE k = 7")
    for _ in range(2):
        check(db, batch, (-3, 400), "filled again")
    batch.compare(width(db), (8, 8 * ROWS + ZONES), "bytes")


ON_DEVICE = [
    "SELECT gpu_avg(x), gpu_max(x), gpu_sum(y) FROM t WHERE x <> 1",
    "SELECT gpu_avg(x), gpu_min(x), gpu_max(x), count(x), gpu_sum(y) FROM t",
    "SELECT gpu_covar_pop(x, y), gpu_sum(y) FROM t WHERE x IS NOT NULL",
    "SELECT y, count(*), gpu_avg(x), gpu_min(x), gpu_max(x) FROM t GROUP BY y ORDER BY y",
]
#: What GPUs are asked, of columns without NULLs.
HISTOGRAM = "SELECT gpu_histogram(x, 0, 300, 5) FROM t"


def on_device(db):
    """The bytes that x and y take on the device."""
    return db.execute('SELECT device_bytes FROM clreduce_columns ORDER BY "column"').fetchall()


def test_device():
    """A device has the same answers, of values that are as narrow there as on the host."""
    families = FAMILIES[:12] + FAMILIES[13:16] + FAMILIES[27:43] + FAMILIES[45:46] + FAMILIES[47:]
    for device in views.devices()[1:]:
        for turn, (name, values, bytes_each) in enumerate((families[1::12] if tap.QUICK else families) + FAMILIES[19:20]):
            db = views.connect(views.new(), device=device)
            fill(db, values)
            mixed = len({type(value) for value in values}) > 1
            asked = ON_DEVICE if mixed or device == "cpu" else [*ON_DEVICE, HISTOGRAM]
            # In quick runs half of them: each is compiled for each width.
            for i, select in enumerate(asked[turn % 2 :: 2] if tap.QUICK else asked):
                views.given_by_device(db, f"v{i}", select, (), f"{device}: {name}: {select}", anew=True)
            tags = ROWS if mixed else 0
            tap.is_equal(on_device(db), [(bytes_each * ROWS + tags,), (ROWS,)], "bytes there")


def test_device_changes():
    """A refresh that widens a column widens its copy on a device, which is as narrow as that."""
    step = 2 if tap.QUICK else 1
    integers = (range(10), INTEGER_CHANGES[:2] + INTEGER_CHANGES[4:7], ON_DEVICE[::step])
    decimals = ([i / 10 for i in range(10)], DECIMAL_CHANGES[:8], ON_DEVICE[step - 1 :: step])
    for device, (values, changes, asked) in itertools.product(views.devices()[1:], (integers, decimals)):
        db = views.connect(views.new(), device=device)
        fill(db, values)
        views.create_all(db, asked)
        for change, _ in [("SELECT 1", 1)] + changes[:: 3 if tap.QUICK else 1]:
            db.execute(change)
            for i, select in enumerate(asked):
                views.given_by_device(db, f"v{i}", select, (), f"{device}: {change}: {select}")
            rows, nulls = db.execute("SELECT count(*), count(*) - count(x) FROM t").fetchone()
            there = (width(db)[0] + (nulls > 0)) * rows
            tap.is_equal(on_device(db), [(there,), (rows,)], f"bytes there: {change}")
        db.execute("SELECT clreduce_evict()").fetchall()
        for i, select in enumerate(asked):
            views.given_by_device(db, f"v{i}", select, (), f"{device}: read anew: {select}")


views.run(globals())
