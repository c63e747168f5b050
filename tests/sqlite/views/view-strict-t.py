"""Declared types, STRICT tables and defaults: a view reads short records as SQLite does.

Rows from before ALTER TABLE ADD COLUMN end before the column, so that its default, with the
column's affinity, is their value. ANY has no affinity in a STRICT table and is NUMERIC in others.
A view's columns compare as those of an ordinary view do.
"""

import itertools
import sqlite3

import support
import tap
import view_support as views

ROWS = 1_200

HAS_STRICT = sqlite3.sqlite_version_info >= (3, 37)

DEFAULTS = (
    "5.0", "-0.0", "0.0", "5.5", "5", "-5", "1e15", "1e20", "9e999", "0x10", "'5'", "'5.0'", "'x'",
    "x'35'", "NULL", "(5)", "(5.0)", "TRUE", "9223372036854775807", "9223372036854775808", "''",
)

TYPES = ("ANY", "any", "INT", "INTEGER", "REAL", "TEXT", "BLOB")
OTHER_TYPES = ("", "MANY", '"any"', "ANY(5)")

#: What aggregates and comparisons make of the column; also with rows that have it.
SELECTS = (
    "SELECT max(a), min(a), count(a), count(*) FROM t",
    "SELECT sum(a), total(a), gpu_sum(a), gpu_max(a) FROM t",
    "SELECT gpu_count_distinct(a), gpu_mode(a) FROM t",
    "SELECT count(*), max(a) FROM t WHERE a = 5",
    "SELECT count(*) FROM t WHERE a > 4.5 OR a IS NULL",
    "SELECT count(*) FROM t WHERE a = '5'",
    "SELECT count(*) FROM t WHERE a = b",
    "SELECT sum(a IS NULL), sum(a IS NOT NULL), sum(a = 5) FROM t",
    "SELECT max(a * 1), min(coalesce(a, 1)) FROM t",
)


def compare(db, what):
    """Each SELECT through its view. Returns how many were accelerated."""
    fast, wrong = 0, []
    for select in SELECTS:
        want = views.outcome(db, select)
        got = views.through_view(db, select)
        again = views.ask(db, "view_of_it")
        fast += views.accelerated(db, "view_of_it")
        if not (tap.is_same(got, want) and tap.is_same(again, want)):
            wrong.append(f"{select}: {got!r}, then {again!r}, directly {want!r}")
    if wrong:
        for line in wrong:
            tap.diag(f"{what}: {line}")
    return fast, not wrong


def add_default(kind, default, strict):
    """A column of that type is added with that default. None where SQLite does not allow it."""
    path = views.new()
    db = views.connect(path)
    support.execute(db, "PRAGMA synchronous = OFF", f"CREATE TABLE t(b INT){' STRICT' if strict else ''}",
                    support.numbered("t", ROWS, "i % 7"))
    try:
        db.execute(f"ALTER TABLE t ADD COLUMN a {kind} DEFAULT {default}")
    except sqlite3.Error:
        db.close()
        return None
    short, good = compare(db, f"{kind} DEFAULT {default}{' STRICT' if strict else ''}")
    for value in ("5.0", "5", "'5'", "'x'", "x'35'", "NULL", "-0.0", "2.5"):
        db.execute(f"INSERT OR IGNORE INTO t(b, a) SELECT 5, {value}" if not strict else
                   f"INSERT INTO t(b, a) SELECT 5, {value} WHERE {int(kind.upper() == 'ANY')}")
    some, also = compare(db, f"{kind} DEFAULT {default}, mixed")
    db.close()
    return good and also, short + some


@tap.each((False, TYPES + OTHER_TYPES), *[(True, TYPES)][:HAS_STRICT])
def test_types(strict, types):
    """All types with all defaults."""
    for number, kind in enumerate(types):
        # In quick runs every third default, for each type from another one on.
        defaults = DEFAULTS[number % 3 :: 3] if tap.QUICK else DEFAULTS
        results = [add_default(kind, default, strict) for default in defaults]
        tried = [result for result in results if result is not None]
        fast = sum(count for _, count in tried)
        name = f"{kind or 'no type'}{' in a STRICT table' if strict else ''}"
        tap.ok(all(good for good, _ in tried), f"{name}: {len(tried)} defaults")
        tap.ok(fast > 0 or not tried, f"{name}: {fast} answers without SQLite's rows")


KEYS = (
    ("CREATE TABLE t(a INTEGER PRIMARY KEY DESC, b INT)", None),
    ("CREATE TABLE t(a INTEGER, b INT, PRIMARY KEY(a DESC))", None),
    ("CREATE TABLE t(a INT PRIMARY KEY, b INT)", None),
    ("CREATE TABLE t(a INTEGER PRIMARY KEY, b INT)", "STRICT"),
    ("CREATE TABLE t(a INT PRIMARY KEY, b INT)", "STRICT"),
    ("CREATE TABLE t(a ANY PRIMARY KEY, b INT)", "STRICT"),
    ("CREATE TABLE t(a ANY PRIMARY KEY, b INT)", "STRICT, WITHOUT ROWID"),
    ("CREATE TABLE t(a INTEGER PRIMARY KEY, b INT)", "WITHOUT ROWID"),
    ("CREATE TABLE t(a INTEGER PRIMARY KEY, b INT, c ANY AS (a * 2.0) STORED)", "STRICT"),
    ("CREATE TABLE t(c ANY AS (a * 2.0) VIRTUAL, a INTEGER PRIMARY KEY, b INT)", "STRICT"),
    ("CREATE TABLE t(rowid ANY, a ANY, b INT, oid REAL)", "STRICT"),
)


def test_keys():
    """Keys that are the rowid, or only look like it, and generated columns."""
    for sql, options in KEYS:
        if options and "STRICT" in options and not HAS_STRICT:
            continue
        db = views.connect(views.new())
        support.execute(db, f"{sql} {options or ''}", support.numbered("t(a, b)", ROWS, "3 * i, i % 7"))
        wrong = []
        names = ["a", "b", "rowid", "_rowid_", "oid"] + (["c"] if " c ANY" in sql or "(c " in sql else [])
        for name, call in itertools.product(names, ("sum", "max", "count")):
            select = f"SELECT {call}({name}), count(*) FROM t WHERE b < 5"
            want = views.outcome(db, select)
            got = views.through_view(db, select)
            if not views.fails(want) and not tap.is_same(got, want):
                wrong.append(f"{select}: {got!r}, directly {want!r}")
        for line in wrong:
            tap.diag(line)
        tap.ok(not wrong, f"{sql} {options or ''}")


#: Tables whose columns compare in all the ways that there are.
TABLES = """
CREATE TABLE s(a ANY, i INT, x TEXT, c TEXT COLLATE NOCASE, g ANY AS (i) STORED, h ANY AS (i) VIRTUAL, k ANY PRIMARY KEY) {strict};
CREATE TABLE n(a ANY, e "", v VARCHAR(3), m MANY, b, q "any", d DATE, o COLLATE NOCASE, r REAL, l BLOB);
CREATE VIEW held AS SELECT a, CAST(i AS TEXT) AS f, i + 0 AS j, c FROM s;
CREATE TABLE word(t TEXT COLLATE RTRIM, n INT, b);
INSERT INTO word VALUES ('5', 5, 5), ('a', 1, '5'), ('A', 2, 'a');
"""
MIXED = (5, "5", "a", "A", 5.0, b"5", None, "5.0", 7)

COMPARED = (
    "SELECT a, i, x, c, g, h FROM s", "SELECT a, e, v, m, b, q, d, o, r, l FROM n", "SELECT k AS a, rowid AS o FROM s",
    "SELECT a, c, count(*) AS n FROM s GROUP BY a, c", "SELECT a, o, max(e) AS m FROM n GROUP BY a, o",
    "SELECT (SELECT a FROM s WHERE i = 1) AS a, (SELECT a FROM n WHERE e = 5) AS b FROM s",
    "SELECT a FROM (SELECT a FROM s)", "WITH q AS (SELECT a, c FROM s) SELECT * FROM q", "SELECT * FROM held", "SELECT * FROM main.held",
    "SELECT max(a) AS a, min(c) AS c FROM s", "SELECT a FROM s UNION ALL SELECT a FROM s", "SELECT DISTINCT a, c FROM s",
    "SELECT CAST(i AS TEXT) AS a, CAST(x AS INT) AS b, x COLLATE NOCASE AS c, c COLLATE BINARY AS d, CAST(x AS NUMERIC) AS e, +a AS f FROM s",
    "SELECT CAST(1 AS TEXT) AS f, 2 AS g, CAST('5' AS INT) AS h, 'A' COLLATE NOCASE AS l, a FROM s", "SELECT CAST(5 AS TEXT) AS a, '5' AS b",
    "SELECT a, g, h, c FROM copied", "SELECT s.a AS a, n.a AS b, c, o FROM s JOIN n ON s.i = n.e", "SELECT a, c FROM s WHERE i > ?1",
    "VALUES (5, 'a'), ('5', 'A')",
)


def compared_with(column):
    """SELECTs in which a column of a view compares with values and columns of all kinds."""
    for literal in ("5", "'5'", "'5.0'", "5.0", "x'35'", "'a'", "'A'", "NULL"):
        yield f"SELECT {column}, typeof({column}) FROM {{0}} WHERE {column} = {literal}"
        yield f"SELECT count(*), sum({column} < {literal}), sum({column} IN (1, {literal})) FROM {{0}}"
    # An expression has no affinity, where a column without one has BLOB: TEXT is compared with this alone.
    yield from (f"SELECT count(*) FROM {{0}} JOIN (SELECT {key} AS other FROM word) ON other = {column}" for key in "nb")
    yield f"SELECT count(*) FROM (SELECT DISTINCT {column} FROM {{0}})"


def test_columns(db):
    """Columns of a view compare as those of an ordinary view of the same SELECT."""
    db.executescript(TABLES.format(strict="STRICT" if HAS_STRICT else ""))
    for i in range(90):
        value = MIXED[i % 9]
        db.execute("INSERT INTO s(a, i, x, c, k) VALUES (?, ?, ?, ?, ?)", (value, i % 9, str(i % 9), "aAbB"[i % 4], i if i % 2 else str(i)))
        db.execute(f"INSERT INTO n VALUES ({', '.join(['?'] * 10)})", (value,) * 10)
    db.execute("CREATE TABLE copied AS SELECT * FROM s")
    for select in COMPARED:
        batch = support.Batch(select)
        batch.compare(views.create(db, "v", select), None, "made")
        db.execute(f"CREATE TEMP VIEW w AS {select.replace('?1', '3')}")
        for (column,) in db.execute("SELECT name FROM pragma_table_info('w')").fetchall():
            for sql in compared_with(column):
                got = db.execute(sql.format("v(3) AS v" if "?1" in select else "v")).fetchall()
                batch.compare(sorted(map(repr, got)), sorted(map(repr, db.execute(sql.format("w")).fetchall())), sql.format("v"))
        db.execute("DROP VIEW w")


views.run(globals())
