"""SELECT DISTINCT without ORDER BY gives a view's rows in the order in which its SELECT gives them, so that LIMIT keeps
the same ones.

SQLite leaves a DISTINCT out where a UNIQUE index or the rowid says that no two rows are alike: they come as they are
read then, by the table or by an index. Where an index has equal rows side by side they come in its order, and else in
that of the rows which have a value first.
"""

import random

import tap
import view_support as views

ROWS = 3_000

#: A table's declaration and its indexes.
TABLES = {
    "a UNIQUE NOT NULL column": "CREATE TABLE t(a INTEGER NOT NULL UNIQUE, b INT, c INT NOT NULL, d INT)",
    "a UNIQUE column with NULLs": "CREATE TABLE t(a INTEGER UNIQUE, b INT, c INT NOT NULL, d INT)",
    "a UNIQUE index of two columns":
        "CREATE TABLE t(a INTEGER NOT NULL, b INT NOT NULL, c INT NOT NULL, d INT);"
        " CREATE UNIQUE INDEX x ON t(b, a)",
    "a UNIQUE column and a covering index": "CREATE TABLE t(a INTEGER NOT NULL UNIQUE, b INT, c INT NOT NULL, d INT);"
                                            " CREATE INDEX x ON t(b, a); CREATE INDEX y ON t(d)",
    "a partial UNIQUE index": "CREATE TABLE t(a INTEGER NOT NULL, b INT, c INT NOT NULL, d INT);"
                              " CREATE UNIQUE INDEX x ON t(a) WHERE b > 2",
    "a primary key": "CREATE TABLE t(a INTEGER PRIMARY KEY, b INT, c INT NOT NULL, d INT)",
    "a key without rowids": "CREATE TABLE t(a INTEGER PRIMARY KEY, b INT, c INT NOT NULL, d INT) WITHOUT ROWID",
    "an index": "CREATE TABLE t(a INTEGER NOT NULL, b INT, c INT NOT NULL, d INT); CREATE INDEX x ON t(b)",
    "an index that descends": "CREATE TABLE t(a INTEGER NOT NULL, b INT, c INT NOT NULL, d INT);"
                              " CREATE INDEX x ON t(b DESC, c)",
    "no index": "CREATE TABLE t(a INTEGER NOT NULL, b INT, c INT NOT NULL, d INT)",
}

KEYS = ("a", "b", "a, b", "b, a", "b, c", "c, b", "rowid", "a + 0", "b % 3, a", "d", "c, d")
CONDITIONS = ("", " WHERE b > 2", " WHERE b = 3", " WHERE a < 900 AND d > 1", " WHERE a = 17")
ENDS = ("", " LIMIT 3", " LIMIT 5 OFFSET 2")


def fill(db, name):
    """The table of that name, whose rows are in another order than its keys."""
    rng = random.Random(7)
    keys = list(range(ROWS))
    rng.shuffle(keys)
    db.executescript(TABLES[name])
    db.executemany("INSERT INTO t VALUES(?, ?, ?, ?)",
                   ((key, rng.randint(0, 6), rng.randint(0, 4), rng.choice((0, 1, 2, 3))) for key in keys))
    db.execute("ANALYZE")


def test_table(folder, name):
    """All SELECTs over a table. Returns how many were accelerated."""
    db = views.connect(folder.new())
    fill(db, name)
    wrong = fast = 0
    for number, keys in enumerate(KEYS):
        if keys == "rowid" and "WITHOUT ROWID" in TABLES[name]:
            continue
        for turn, condition in enumerate(CONDITIONS):
            # In quick runs the ends take turns.
            for end in ENDS[(number + turn) % 3 :][:1] if tap.QUICK else ENDS:
                select = f"SELECT DISTINCT {keys} FROM t{condition}{end}"
                want, got = views.outcome(db, select), views.through_view(db, select)
                fast += views.accelerated(db, "view_of_it")
                if not tap.is_same(views.comparable(got), views.comparable(want)):
                    wrong += 1
                    tap.diag(f"{select}: {got!r:.200}, directly {want!r:.200}")
    tap.ok(wrong == 0, f"{name}: rows come in the SELECT's order")
    db.close()
    return fast


def test_left_out(folder):
    """What SQLite leaves out is its own, and ORDER BY makes it the view's."""
    db = views.connect(folder.new())
    fill(db, "a UNIQUE NOT NULL column")
    views.through_view(db, "SELECT DISTINCT a FROM t WHERE b > 2 LIMIT 3")
    tap.ok(not views.accelerated(db, "view_of_it"), "a DISTINCT that SQLite leaves out is SQLite's")
    views.through_view(db, "SELECT DISTINCT a FROM t WHERE b > 2 ORDER BY a LIMIT 3")
    tap.ok(views.accelerated(db, "view_of_it"), "with ORDER BY it is the view's")
    db.close()


def main():
    folder = views.Folder()
    fast = {name: test_table(folder, name) for name in TABLES}
    # The order of the keys is never that of the first rows where there are no rowids.
    tap.ok(all(count > 0 for name, count in fast.items() if "WITHOUT ROWID" not in TABLES[name]),
           f"some of each table's SELECTs are accelerated: {fast}")
    test_left_out(folder)
    tap.done()


main()
