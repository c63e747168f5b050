"""Values that need not be looked at: a view has the errors of its SELECT all the same.

count(x) and x IS NULL only ask whether a value is there, which its type in the record's header
tells. SQLite reads the value as well, but not everywhere, and not in every version, and so finds a
broken chain of overflow pages, or a value beyond SQLITE_LIMIT_LENGTH. And where a column is NOT
NULL, some versions do not look at all: a NULL that is there all the same is not seen.
"""

import sqlite3

import support
import tap
import view_support as views

PAGE = 1024
ROWS = 3_000
DEVICES = ["host", *views.warmed()]
LENGTH = 0  # SQLITE_LIMIT_LENGTH

SELECTS = (
    "SELECT count(x) FROM t",
    "SELECT count(x), count(y), sum(k) FROM t",
    "SELECT sum(x IS NULL) FROM t",
    "SELECT max(x IS NOT NULL), gpu_sum(k) FROM t",
    "SELECT count(*) FROM t WHERE x IS NULL",
    "SELECT count(*), gpu_sum(k) FROM t WHERE x IS NOT NULL",
    "SELECT sum(CASE WHEN x IS NULL THEN 1 ELSE 2 END) FROM t",
    "SELECT count(x) FILTER (WHERE k < 100) FROM t",
    "SELECT count(y), gpu_sum(y) FROM t",
    "SELECT gpu_sum(k), count(*) FROM t",
    "SELECT gpu_count_distinct(x), gpu_mode(k) FROM t",
)


def compare(db, what, selects=SELECTS, repeat=2):
    """One check: views of the SELECTs, in the same connection, asked twice. Returns how many
    answers were accelerated, and how many of the SELECTs have errors."""
    wrong, fast, errors = [], 0, 0
    for select in selects:
        want = views.outcome(db, select)
        errors += views.fails(want)
        got = views.through_view(db, select)
        for _ in range(repeat):
            if not tap.is_same(got, want):
                wrong.append(f"{select}: {got!r}, directly {want!r}; {views.plan(db, 'view_of_it')}")
            fast += views.accelerated(db, "view_of_it")
            got = views.ask(db, "view_of_it")
    tap.ok(not wrong, what)
    for line in wrong:
        tap.diag(line)
    return fast, errors


def fill(path, long, journal="delete", rows=ROWS, declared="x TEXT"):
    """A table with one long value, in the middle."""
    db = views.connect(path)
    support.execute(db, f"PRAGMA page_size = {PAGE}", f"PRAGMA journal_mode = {journal}", "PRAGMA synchronous = OFF",
                    f"CREATE TABLE t(k INT, {declared}, y INT)")
    values = f"i, CASE i WHEN {rows // 2} THEN ? WHEN 5 THEN NULL ELSE 'a' || i END, i % 7"
    db.execute(support.numbered("t", rows, values), ("z" * long,))
    return db


def chain_pages(data):
    """The overflow pages that are full of the long value."""
    full = b"z" * (PAGE - 4)
    return [at for at in range(0, len(data), PAGE) if data[at + 4 : at + PAGE] == full]


def break_chain(path, number, value):
    """Overwrites the number of the page after one of the chain's."""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    at = chain_pages(data)[number]
    data[at : at + 4] = value.to_bytes(4, "big")
    with open(path, "wb") as file:
        file.write(data)


@tap.each(*DEVICES)
def test_chains(device):
    """A broken chain is an error where SQLite meets it, and nowhere else."""
    for what, number, value in (
        ("ends early", 3, 0),
        ("leads beyond the file", 5, 1_000_000),
        ("leads to the schema", 0, 1),
        ("is whole", None, 0),
    ):
        path = views.new()
        fill(path, 20_000, rows=40_000 if device != "host" else ROWS).close()
        if number is not None:
            break_chain(path, number, value)
        db = views.connect(path, device=device)
        fast, errors = compare(db, f"{device}: a chain that {what}")
        tap.ok(fast > 0, f"{device}: {fast} answers were accelerated")
        tap.ok((errors > 0) == (number is not None), f"{device}: {errors} SELECTs have errors")
        support.configure(db, column_memory=1)
        views.evict(db)
        compare(db, f"{device}: a chain that {what}, streaming")


def test_whole_chains(path):
    """Values in overflow pages are no reason not to accelerate, and their pages are watched."""
    writer = fill(path, 20_000, journal="wal")
    db = views.connect(path)
    views.create(db, "v", "SELECT count(x), sum(x IS NULL), sum(k) FROM t")
    for sql in (
        "SELECT 1",
        "UPDATE t SET x = NULL WHERE k = 1500",
        "UPDATE t SET x = zeroblob(9000) WHERE k = 1500",
        "UPDATE t SET x = zeroblob(8000) WHERE k = 1500",
        "DELETE FROM t WHERE k = 1500",
    ):
        writer.execute(sql)
        views.agree(db, "v", "SELECT count(x), sum(x IS NULL), sum(k) FROM t", (), sql)
        tap.ok(views.accelerated(db, "v"), "accelerated")


@tap.each("delete", "wal")
def test_limits(path, journal):
    """The limit may be changed at any time, also when columns are there already."""
    fill(path, 200_000, journal=journal).close()
    db = views.connect(path)
    if not hasattr(db, "setlimit"):
        tap.skip(1, "this Python can't set limits")
        return
    usual = db.getlimit(LENGTH)
    for limit in (usual, 199_999, 200_000, 150_000, usual, 30_000, 2_000, 1_000_000):
        db.setlimit(LENGTH, limit)
        fast, _ = compare(db, f"{journal}: values of {limit} bytes at most")
        if limit >= 150_000:
            tap.ok(fast > 0, f"{journal}: {fast} answers were accelerated")


NULL_SELECTS = SELECTS[:-1] + (
    "SELECT sum(x IN (1, 3)), sum(x NOT IN (1, 3)) FROM t",
    "SELECT count(*) FROM t WHERE x NOT IN (3)",
    "SELECT sum(x IS y), sum(x IS NOT 3), sum(NOT x) FROM t",
    "SELECT max(coalesce(x, 7)), sum(ifnull(x, 9)) FROM t",
    "SELECT min(x), gpu_sum(x), gpu_max(x), gpu_median(x) FROM t",
    "SELECT count(*) FROM t WHERE x IS NOT NULL AND k > 5",
    "SELECT sum((x IS NULL) IS NULL), sum(x + 1 IS NULL) FROM t",
)


def make_not_null(path, value, rows=ROWS, extra=""):
    """A NOT NULL column x with that value in one row, which the schema came to forbid later."""
    db = views.connect(path)
    support.execute(db, "PRAGMA synchronous = OFF", f"CREATE TABLE t(k INT, x INT{extra}, y INT)",
                    support.numbered("t(k, x, y)", rows, f"i, CASE i WHEN {rows // 2} THEN {value} ELSE i % 5 END, i % 7"),
                    "PRAGMA writable_schema = ON", "UPDATE sqlite_master SET sql = replace(sql, 'x INT', 'x INT NOT NULL')")
    db.close()


@tap.each(*DEVICES)
def test_not_null(device):
    """A NULL in a NOT NULL column: some versions of SQLite settle tests by the schema."""
    rows = 40_000 if device != "host" else ROWS
    for value, extra, broken in (("NULL", "", True), ("3", "", False)):
        path = views.new()
        make_not_null(path, value, rows)
        db = views.connect(path, device=device)
        name = f"{device}: NOT NULL with {value}"
        fast, _ = compare(db, name, NULL_SELECTS)
        tap.ok(fast > len(NULL_SELECTS) if not broken else True, f"{name}: {fast} accelerated")
        support.configure(db, column_memory=1)
        views.evict(db)
        compare(db, f"{name}, streaming", NULL_SELECTS)


def test_not_null_by_rows():
    """The same of columns that SQLite fills: a generated column and an attached memory database."""
    if sqlite3.sqlite_version_info < (3, 31):
        tap.skip(1, "no generated columns")
        return
    for value in ("NULL", "3"):
        path = views.new()
        make_not_null(path, value)
        db = views.connect(path)
        support.execute(db, "CREATE TABLE u(k INT, g INT AS (k + 0) VIRTUAL, x INT)",
                        "INSERT INTO u(k, x) SELECT k, x FROM t", "PRAGMA writable_schema = ON",
                        "UPDATE sqlite_master SET sql = replace(sql, ', x INT)', ', x INT NOT NULL)') WHERE name = 'u'")
        db.close()
        db = views.connect(path)
        selects = ("SELECT sum(g), sum(x IS NULL), count(x) FROM u", "SELECT count(*), max(g) FROM u WHERE x IS NULL")
        fast, _ = compare(db, f"by rows: NOT NULL with {value}", selects, repeat=6)
        if value != "NULL":
            tap.ok(fast > 0, f"by rows: {fast} accelerated")


def test_not_null_later(path):
    """A NULL comes to a NOT NULL column whose leaves are refreshed."""
    make_not_null(path, "3")
    db = views.connect(path, journal_mode="WAL")
    # A connection that knows an older schema may write NULL: here it is the default of x.
    views.agree(db, "v", "SELECT sum(x IS NULL), count(x), sum(k) FROM t", (), "before", anew=True)
    tap.ok(views.accelerated(db, "v"), "accelerated")
    writer = views.connect(path)
    writer.execute("PRAGMA writable_schema = ON")
    writer.execute("UPDATE sqlite_master SET sql = replace(sql, 'x INT NOT NULL', 'x INT')")
    writer.close()
    writer = views.connect(path)
    support.execute(writer, "UPDATE t SET x = NULL WHERE k = 7", "PRAGMA writable_schema = ON",
                    "UPDATE sqlite_master SET sql = replace(sql, 'x INT', 'x INT NOT NULL')")
    writer.close()
    for what in ("after", "again"):
        views.agree(db, "v", "SELECT sum(x IS NULL), count(x), sum(k) FROM t", (), what)


views.run(globals())
