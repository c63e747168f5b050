"""Declared types, STRICT tables and defaults: a view reads short records as SQLite does.

Rows from before ALTER TABLE ADD COLUMN end before the column, so that its default, with the
column's affinity, is their value. ANY has no affinity in a STRICT table and is NUMERIC in others.
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
        want = views.comparable(views.outcome(db, select))
        got = views.comparable(views.through_view(db, select))
        again = views.comparable(views.ask(db, "view_of_it"))
        fast += views.accelerated(db, "view_of_it")
        if not (tap.is_same(got, want) and tap.is_same(again, want)):
            wrong.append(f"{select}: {got!r}, then {again!r}, directly {want!r}")
    if wrong:
        for line in wrong:
            tap.diag(f"{what}: {line}")
    return fast, not wrong


def test_default(folder, kind, default, strict):
    """A column of that type is added with that default. None where SQLite does not allow it."""
    path = folder.new()
    db = views.connect(path)
    db.execute("PRAGMA synchronous = OFF")
    db.execute(f"CREATE TABLE t(b INT){' STRICT' if strict else ''}")
    db.execute(
        "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT ?)"
        " INSERT INTO t SELECT i % 7 FROM n", (ROWS,)
    )
    try:
        db.execute(f"ALTER TABLE t ADD COLUMN a {kind} DEFAULT {default}")
    except sqlite3.Error:
        db.close()
        return None
    db.commit()
    short, good = compare(db, f"{kind} DEFAULT {default}{' STRICT' if strict else ''}")
    for value in ("5.0", "5", "'5'", "'x'", "x'35'", "NULL", "-0.0", "2.5"):
        db.execute(f"INSERT OR IGNORE INTO t(b, a) SELECT 5, {value}" if not strict else
                   f"INSERT INTO t(b, a) SELECT 5, {value} WHERE {int(kind.upper() == 'ANY')}")
    db.commit()
    some, also = compare(db, f"{kind} DEFAULT {default}, mixed")
    db.close()
    return good and also, short + some


def test_types(folder, strict, types):
    """All types with all defaults."""
    for number, kind in enumerate(types):
        # In quick runs every third default, for each type from another one on.
        defaults = DEFAULTS[number % 3 :: 3] if tap.QUICK else DEFAULTS
        results = [test_default(folder, kind, default, strict) for default in defaults]
        tried = [result for result in results if result is not None]
        fast = sum(count for _, count in tried)
        name = f"{kind or 'no type'}{' in a STRICT table' if strict else ''}"
        tap.ok(all(good for good, _ in tried), f"{name}: {len(tried)} defaults")
        tap.ok(fast > 0, f"{name}: {fast} answers without SQLite's rows")


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


def test_keys(folder):
    """Keys that are the rowid, or only look like it, and generated columns."""
    for sql, options in KEYS:
        if options and "STRICT" in options and not HAS_STRICT:
            continue
        db = views.connect(folder.new())
        db.execute(f"{sql} {options or ''}")
        db.execute(
            "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT ?)"
            " INSERT INTO t(a, b) SELECT 3 * i, i % 7 FROM n", (ROWS,)
        )
        db.commit()
        wrong = []
        names = ["a", "b", "rowid", "_rowid_", "oid"] + (["c"] if " c ANY" in sql or "(c " in sql else [])
        for name, call in itertools.product(names, ("sum", "max", "count")):
            select = f"SELECT {call}({name}), count(*) FROM t WHERE b < 5"
            want = views.comparable(views.outcome(db, select))
            got = views.comparable(views.through_view(db, select))
            if want[:1] != ("error",) and not tap.is_same(got, want):
                wrong.append(f"{select}: {got!r}, directly {want!r}")
        for line in wrong:
            tap.diag(line)
        tap.ok(not wrong, f"{sql} {options or ''}")
        db.close()


def main():
    folder = views.Folder()
    test_types(folder, False, TYPES + OTHER_TYPES)
    if HAS_STRICT:
        test_types(folder, True, TYPES)
    test_keys(folder)
    tap.done()


main()
