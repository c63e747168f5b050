"""Accelerated views of text on a device: codes lie there, and what SQLite says of each is looked up.

What a view gives is what its SELECT gives (clause 1 of view.h), to the bit, and a device gives it: as
values come that the dictionary did not have, with parameters, with NULLs, and with results of several
types.
"""

import os

import support
import tap
import view_support as views

#: All devices have memory of their own here: view-shared-t.py is for the others.
os.environ["CLREDUCE_DEVICE_COLUMNS"] = "copied"

ROWS = 6_000

#: Rows for more values than two bytes tell apart, where a column may have one for four rows.
LARGE_ROWS, LARGE_VALUES = 350_000, 70_000

CITIES = ["ORD", "LAX", "JFK", "SFO", "", "Zürich", "ord", None]
MIXED = [None, 0, 1, 12, 2**53 + 1, -(2**63), 0.5, 12.0, "12", "x", "1e3", b"12", b""]


def fill(db, rng, rows=ROWS):
    """The table, with a column of text, of days, of anything, and two of numbers."""
    db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, x REAL, n INTEGER, city TEXT, day TEXT, any)")
    add(db, rng, rows)


def add(db, rng, rows, city=None):
    """More rows; city(i) is a row's city."""
    city = city or (lambda i: rng.choice(CITIES))
    db.executemany(
        "INSERT INTO t(x, n, city, day, any) VALUES(?, ?, ?, ?, ?)",
        (
            (
                rng.randint(-999, 999) / 8 if rng.random() > 0.01 else None,
                rng.randint(-99, 99),
                city(i),
                f"20{rng.randint(10, 12)}-0{rng.randint(1, 9)}-{rng.randint(10, 28)}",
                rng.choice(MIXED),
            )
            for i in range(rows)
        ),
    )


def mix(value):
    """NULL, an INTEGER or a REAL."""
    if isinstance(value, (str, bytes)):
        return len(value)
    return value


ASKED = (
    ("SELECT gpu_avg(x), count(*) FROM t WHERE city = 'ORD'", ()),
    ("SELECT gpu_sum(x) FROM t WHERE day LIKE '2011-0%' AND n > 5", ()),
    ("SELECT gpu_sum(x), gpu_max(n) FROM t WHERE upper(city) <> 'ORD' AND strftime('%w', day) = '0'", ()),
    ("SELECT gpu_sum(length(city)), gpu_min(length(city)), count(length(city)) FROM t", ()),
    ("SELECT gpu_sum(julianday(day)), gpu_dot(x, julianday(day)) FROM t", ()),
    ("SELECT gpu_sum(CASE WHEN city GLOB '[A-P]*' THEN x ELSE n END) FROM t WHERE city IS NOT NULL", ()),
    ("SELECT gpu_total(mix(any)), count(mix(any)), gpu_max(mix(any) + n) FROM t WHERE mix(city) <> 3", ()),
    ("SELECT gpu_dot(mix(any), x) FROM t WHERE mix(any) BETWEEN -1 AND 100", ()),
    ("SELECT count(any || ''), count(any) FROM t WHERE any IS NOT 'x'", ()),
    ("SELECT gpu_sum(n) FILTER (WHERE city = 'LAX'), gpu_sum(n) FILTER (WHERE city = 'JFK') FROM t", ()),
    ("SELECT gpu_min(city), gpu_max(city), gpu_min(substr(day, 1, 7)), gpu_max(upper(city)) FROM t", ()),
    ("SELECT count(*), gpu_sum(x) FROM t WHERE city = ?1", ("LAX",)),
    # Where all rows might be left out, the host would be done already.
    ("SELECT count(*), gpu_sum(x) FROM t WHERE city = ?1 OR abs(n) < 0", ("nowhere",)),
    ("SELECT count(*), gpu_sum(x) FROM t WHERE city = ?1 OR abs(n) < 0", (None,)),
    ("SELECT count(*), gpu_sum(x * ?2) FROM t WHERE city IN (?1, 'SFO') OR any LIKE ?2", ("JFK", 12)),
)


def test_asked(device, rng):
    """What people ask: all of it is a device's."""
    for encoding in ("UTF-8", "UTF-16le"):
        db = views.connect(views.new(), device, encoding=encoding)
        db.create_function("mix", 1, mix, deterministic=True)
        fill(db, rng)
        # In quick runs each encoding has some, and the last one, whose columns are looked at.
        step = 1 if not tap.QUICK else 3 if encoding == "UTF-8" else 7
        for select, parameters in ASKED[:-1:step] + ASKED[-1:]:
            if encoding != "UTF-8" and "gpu_min(city)" in select:
                continue  # what is not UTF-8 has no order here
            views.evict(db)
            problem = views.create(db, "asked", select)
            tap.is_equal(problem, None, "a view")
            views.given_by_device(db, "asked", select, parameters)
        columns = db.execute("SELECT type, rows, bytes, device_bytes FROM clreduce_columns").fetchall()
        codes = [column for column in columns if column[0] == "codes"]
        tap.is_equal([there == rows for _, rows, _, there in codes], [True, True], "codes, a byte a row there")
        db.execute("SELECT clreduce_evict()")
        tap.is_equal(db.execute("SELECT count(*) FROM clreduce_columns").fetchone()[0], 0, "which go")
        views.given_by_device(db, "asked", ASKED[-1][0], ASKED[-1][1], "and come again")


def test_own(device, rng):
    """What devices do not answer is right nevertheless."""
    db = views.connect(views.new(), device)
    fill(db, rng)
    for select in (
        "SELECT gpu_mode(city), gpu_count_distinct(city), gpu_sum(x) FROM t WHERE day > '2011'",
        "SELECT gpu_median(n), gpu_sum(length(city)) FROM t",
        "SELECT gpu_median(length(city)) FROM t WHERE city <> ''",
        "SELECT gpu_sum(any + 1) FROM t WHERE typeof(any) <> 'blob' AND city = 'ORD'",
        "SELECT gpu_sum(x) FROM t WHERE json_extract('{' || any || '}', '$.a') IS NULL",
        "SELECT gpu_min(any), gpu_max(any) FROM t",
    ):
        views.create(db, "own", select)
        for _ in range(3):
            views.ask_device(db, "own")
            views.agree(db, "own", select, (), select)


@tap.each("WAL", "DELETE")
def test_growth(path, device, rng, mode):
    """Values come that there were not; codes take two bytes instead of one."""
    db = views.connect(path, device, journal_mode=mode)
    fill(db, rng)
    other = views.connect(path, device)
    selects = {
        "a": "SELECT count(*), gpu_sum(x) FROM t WHERE city LIKE '%new%' OR city = 'ORD'",
        "b": "SELECT gpu_sum(length(city)), gpu_max(city), gpu_sum(n) FROM t WHERE city > 'M'",
    }
    views.create_all(db, selects)

    def check(what):
        for name, select in selects.items():
            views.given_by_device(db, name, select, (), f"{mode}, {what}: {select}")

    check("at first")
    add(db, rng, 100)
    check("more rows")
    db.execute("UPDATE t SET city = 'new' || (id % 5) WHERE id % 7 = 1")
    check("more values")
    other.execute("UPDATE t SET city = 'new' || (id % 700) WHERE id % 3 = 1")
    check("more than 256, by another connection")
    db.execute("UPDATE t SET city = NULL WHERE id % 5 = 1")
    check("NULLs")
    support.execute(db, "BEGIN", "UPDATE t SET city = 'gone'")
    for name, select in selects.items():
        views.agree(db, name, select, (), f"uncommitted: {select}")
    db.execute("ROLLBACK")
    check("taken back")
    db.execute("DELETE FROM t WHERE city LIKE 'new%'")
    check("values that no row has any more")


def test_large(device, rng):
    """Codes of four bytes; a lookup that is kept, extended, and replaced for other parameters."""
    db = views.connect(views.new(), device)
    fill(db, rng, 0)
    values = f"iif(i % 101 = 7, NULL, (i * 7919 % 1999 - 999) / 8.0), 'city ' || (i * {LARGE_VALUES} / {LARGE_ROWS})"
    db.execute(support.numbered("t(x, city)", LARGE_ROWS, values, 0))
    select = "SELECT gpu_sum(x), count(*), gpu_sum(length(city)) FROM t WHERE city LIKE ?1 OR abs(x) < 0"
    views.create(db, "large", select)
    for value in ("%1", "%1", "%77%", "none", "%1"):
        views.given_by_device(db, "large", select, (value,))
    sent = support.stats(db)["bytes_to_device"]
    tap.ok(views.ask_device(db, "large", ("%1",)), "asked again, a device gives it")
    tap.is_equal(support.stats(db)["bytes_to_device"], sent, "results that are kept are not sent again")
    there = db.execute("SELECT device_bytes / rows FROM clreduce_columns WHERE type = 'codes'").fetchall()
    tap.is_equal(there, [(4,)], "four bytes a row")
    db.execute("UPDATE t SET city = 'new 77' WHERE id % 1001 = 5")
    views.given_by_device(db, "large", select, ("%77%",), "another value")


def test_filled(device, rng):
    """Codes that come through SQLite, as the table has no pages to be read."""
    db = views.connect(views.new(), device)
    rows = ((i, i / 8, rng.choice(CITIES)) for i in range(ROWS))
    support.table(db, "w(id INTEGER PRIMARY KEY, x REAL, city TEXT) WITHOUT ROWID", rows)
    select = "SELECT gpu_sum(x), count(*), gpu_max(city) FROM w WHERE city LIKE '%R%'"
    views.agree(db, "filled", select, (), "filled when asked again", times=2, anew=True)
    views.given_by_device(db, "filled", select)
    db.execute("UPDATE w SET city = 'R' || (id % 300) WHERE id % 2 = 0")
    views.agree(db, "filled", select, (), "after a change", times=2)
    views.given_by_device(db, "filled", select, (), "and again")


def test_errors(device, rng):
    """An expression that fails for a value is an error if a row has it."""
    db = views.connect(views.new(), device)
    support.table(db, "j(id INTEGER PRIMARY KEY, x INT, doc TEXT)", ((None, i, '{"a": %d}' % (i % 9)) for i in range(3_000)))
    select = "SELECT gpu_sum(x) FROM j WHERE json_extract(doc, '$.a') = 3"
    views.given_by_device(db, "js", select, anew=True)
    db.execute("UPDATE j SET doc = 'no JSON' WHERE id = 77")
    for _ in range(3):
        views.ask_device(db, "js")
        views.agree(db, "js", select, (), "an error")
    tap.ok(isinstance(views.ask(db, "js"), views.Failure), "which is one")
    db.execute("UPDATE j SET doc = '{}' WHERE id = 77")
    views.given_by_device(db, "js", select, (), "the value is gone")


def test_limit(device, rng):
    """A value that is longer than the connection allows is SQLite's."""
    db = views.connect(views.new(), device)
    if not hasattr(db, "setlimit"):
        tap.skip(1, "this Python sets no limits")
        return
    fill(db, rng, 2_000)
    db.execute("UPDATE t SET city = ? WHERE id = 7", ("long" * 5_000,))
    select = "SELECT gpu_sum(x), gpu_sum(length(city)) FROM t WHERE n > 0 OR city <> 'x'"
    views.given_by_device(db, "limited", select, anew=True)
    before = db.setlimit(0, 10_000)
    views.agree(db, "limited", select, (), "a limit")
    db.setlimit(0, before)
    views.given_by_device(db, "limited", select, (), "and no more")


views.run(globals(), device=views.warmed())
