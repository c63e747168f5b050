"""Entries of a dimension's keys whose rows have the same values are alike: SQLite evaluates one of them. Whatever the keys
and the rows are, a view gives what its SELECT gives.
"""

import contextlib

import support
import tap
import view_support as views

#: More keys than the 1,024 from which on it is looked for what is alike.
KEYS, ROWS, NAMES = (2_000, 4_500, 6) if tap.QUICK else (4_000, 9_000, 6)
#: Rowids that are dense, or leave gaps, or lie at both ends of what there is.
IDS = ("i", "i * 7", f"(i - {KEYS // 2}) * {2**63 // (KEYS // 2)}")
#: The fact table's key, by its declared type: of rows that are there, of others, and of no INTEGER.
KEY_KINDS = ("INT", "", "REAL", "TEXT")
OTHERS = ("CASE i % 50 WHEN 0 THEN {key} + 0.0 WHEN 1 THEN {key} || '' WHEN 2 THEN NULL WHEN 3 THEN {key} + 0.5 WHEN 4 THEN x'37' ELSE {key} END,"
          " i % {keys}")
MIXED = "CASE i % 7 WHEN 0 THEN NULL WHEN 1 THEN 1 WHEN 2 THEN 1.0 WHEN 3 THEN '1' WHEN 4 THEN x'31' WHEN 5 THEN 0.0 ELSE -0.0 END"
SELECTS = {
    "inner": "SELECT a, count(*), gpu_sum(n) FROM t JOIN d ON d.id = t.k WHERE b <> 'b3' GROUP BY a ORDER BY a",
    "left": "SELECT coalesce(b, 'none'), count(*), gpu_sum(n) FROM t LEFT JOIN d ON t.k = d.id AND a > 1 GROUP BY 1 ORDER BY 1",
    "missing": "SELECT count(*), min(n) FROM t LEFT JOIN d ON d.id = t.k WHERE d.id IS NULL OR a = 2",
    "typed": "SELECT typeof(m), count(*), gpu_sum(n) FROM t JOIN d ON d.id = k GROUP BY 1 ORDER BY 1",
    "compared": "SELECT count(*) FROM t JOIN d ON d.id = k WHERE b = 'B2' OR m = 1",
    "summed": "SELECT gpu_sum(a * 2 + n), max(a) FROM t JOIN d ON d.id = k WHERE b LIKE 'b%'",
    "added": "SELECT c, count(*) FROM t JOIN d ON d.id = k GROUP BY c ORDER BY c",
    "own": "SELECT count(*) FROM t JOIN d ON d.id = k WHERE a + k % 3 = 2",
    "rowid": "SELECT count(*) FROM t JOIN d ON d.id = k WHERE d.id % 5 = 2",
    "error": "SELECT count(*) FROM t JOIN d ON d.id = k WHERE abs(-9223372036854775807 - (a = 4 AND b = 'b4')) > 0",
    "two": "SELECT d.a, e.a, count(*) FROM t JOIN d ON d.id = k JOIN d AS e ON e.id = n GROUP BY 1, 2 ORDER BY 1, 2",
    "way": "SELECT e.b, count(*) FROM t JOIN d ON d.id = k JOIN d AS e ON e.id = d.a GROUP BY 1 ORDER BY 1",
    "listed": "SELECT count(*), gpu_sum(n) FROM t WHERE k IN (SELECT id FROM d WHERE a = 3)",
}
CHANGES = ("UPDATE d SET a = a + 1 WHERE rowid % 3 = 0", "DELETE FROM d WHERE rowid % 11 = 0", "UPDATE d SET b = 'B2' WHERE a = 3", "UPDATE d SET m = printf('%.9000c', 'x') WHERE a = 2",
           "INSERT INTO t SELECT -k, n FROM t WHERE typeof(k) = 'integer' LIMIT 900", "INSERT INTO d(a, b) SELECT a, b FROM d LIMIT 500", "ALTER TABLE d ADD COLUMN z DEFAULT 'z'",
           "UPDATE d SET b = 'b' || rowid WHERE a = 1", "UPDATE d SET id = id + 1 WHERE id = (SELECT max(id) FROM d)", "DELETE FROM d")


def make(db, ids, kind, encoding):
    """The tables, whose column c was added to rows that were there."""
    support.execute(db, f"PRAGMA encoding = '{encoding}'", "CREATE TABLE d(id INTEGER PRIMARY KEY, a INT, b TEXT COLLATE NOCASE, m)", f"CREATE TABLE t(k {kind}, n INT)",
                    support.numbered("d", KEYS, f"{ids}, i * 31 % 5, 'b' || (i % {NAMES}), {MIXED}"), "ALTER TABLE d ADD COLUMN c INT DEFAULT 7",
                    "UPDATE d SET c = a WHERE rowid % 2 = 0",
                    support.numbered("t", ROWS, OTHERS.format(key=ids.replace("i", f"(i * 7919 % {KEYS + 500} + 1)"), keys=KEYS)))


@tap.each(*((ids, kind, "UTF-16le" if kind == "TEXT" else "UTF-8") for ids in IDS for kind in KEY_KINDS))
def test_answers(batch, ids, kind, encoding):
    """The same rows as the SELECT's, as the dimension changes."""
    with contextlib.closing(views.connect(views.new())) as db:
        make(db, ids, kind, encoding)
        for name, select in SELECTS.items():
            views.create(db, name, select)
        for change in ("SELECT 1",) + CHANGES:
            db.execute(change).fetchall()
            for name, select in SELECTS.items():
                batch.compare(views.ask(db, name), views.outcome(db, select), f"{ids}, {kind}: {change}: {name}")


def count_calls(select):
    """How often a view has a function called for keys that are INTEGERs."""
    calls = []
    with contextlib.closing(views.connect(views.new())) as db:
        make(db, "i", "INT", "UTF-8")
        db.create_function("seen", 1, lambda value: calls.append(value) or value, deterministic=True)
        wanted = db.execute(select).fetchall()
        views.create(db, "v", select)
        others = db.execute("SELECT count(DISTINCT k) + 1 FROM t WHERE typeof(k) <> 'integer'").fetchone()[0]
        del calls[:]
        tap.is_equal(db.execute("SELECT * FROM v").fetchall(), wanted, f"the SELECT's rows: {select}")
        tap.ok(views.accelerated(db, "v"), "by a scan")
    return len(calls) - others


def test_calls():
    """One entry of those that are alike is evaluated; where the key itself is asked for, none is like another."""
    kinds = 5 * NAMES + 1
    count = count_calls("SELECT count(*) FROM t JOIN d ON d.id = k WHERE seen(a) = 2 AND b <> 'b1'")
    tap.ok(count <= kinds, f"{count} calls for {kinds} kinds of rows")
    count = count_calls("SELECT count(*) FROM t JOIN d ON d.id = k WHERE seen(a) + k * 0 = 2 AND b <> 'b1'")
    tap.ok(count >= KEYS, f"{count} calls with the key")
    count = count_calls("SELECT count(*) FROM t JOIN d ON d.id = k WHERE seen(a) = 2 AND d.id % 7 < 5")
    tap.ok(count >= KEYS, f"{count} calls with the rowid")


views.run(globals())
