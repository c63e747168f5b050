"""Rows that ORDER BY leaves equal come in the order in which the SELECT gives them, so that LIMIT keeps the same ones.

That is the order in which SQLite goes over the groups: by a sorter, whose keys take their directions from ORDER BY
where that has as many terms, or by an index, from one end or the other. Which of them it is stands in SQLite's code;
the names of indexes say nothing.
"""

import sqlite3

import support
import tap
import view_support as views

FOLDER = views.Folder()
ROWS = 600
ROUNDS = 120 if tap.QUICK else 1200
STATEMENTS = 12

#: What a reader of EXPLAIN QUERY PLAN's text would take for something else.
NAMES = (
    "i", "y TEMP B-TREE GROUP BY", "TEMP B-TREE FOR DISTINCT", "x USING COVERING INDEX y (", "SCALAR SUBQUERY 1",
    "SEARCH", "k (a=?)", 'q"uote', "MULTI-INDEX OR", "RIGHT PART OF ORDER BY",
)
TABLES = (
    "a INT, b INT, s TEXT, id INTEGER PRIMARY KEY",
    "a INT NOT NULL, b REAL, s TEXT COLLATE NOCASE, id INTEGER PRIMARY KEY",
    "a INT, b INT NOT NULL, s TEXT, id INT UNIQUE",
    "a INT, b INT, s TEXT, id INT, PRIMARY KEY(b DESC, id)",
    "a INT, b INT, s TEXT, id INT NOT NULL, PRIMARY KEY(a, id)",
)
KEYS = ("a", "b", "s", "id", "a, b", "b, a", "s, a", "a, s, b", "a + 0", "a % 3, b", "id / 50", "1, a", "a, 'x', b", "id, a")
ORDERS = ("n", "n DESC", "n, m", "m DESC, n DESC", "m", "1", "1 DESC", "n DESC, 1", "2 DESC", "n % 2 DESC, m", "total(b) < 5")


def connect():
    """A connection to a database of its own, which need not outlive the machine."""
    db = views.connect(FOLDER.new())
    db.execute("PRAGMA synchronous = OFF")
    return db


def add_indexes(db, rng):
    """Up to three indexes, of any kind, and now and then what the planner goes by."""
    for name in rng.sample(NAMES, rng.randint(0, 3)):
        columns = rng.sample(("a", "b", "s", "id"), rng.randint(1, 3))
        terms = [f"{column}{rng.choice(('', '', ' COLLATE BINARY', ' COLLATE NOCASE')) if column == 's' else ''}"
                 f"{rng.choice(('', '', ' DESC'))}" for column in columns]
        where = rng.choice(("", "", "", " WHERE a > 1", " WHERE b IS NOT NULL"))
        unique = "UNIQUE " if "id" in columns and not where else ""
        quoted = name.replace('"', '""')
        db.execute(f'CREATE {unique}INDEX "{quoted}" ON t({", ".join(terms)}){where}')
    if rng.random() < 0.5:
        db.execute("ANALYZE")


def fill(db, rng):
    """A table of few values, in any order of its rows."""
    # Before 3.38 SQLite loses rows by the end of a primary key that descends.
    declared = rng.choice([table for table in TABLES if sqlite3.sqlite_version_info >= (3, 38) or "DESC" not in table])
    without = " WITHOUT ROWID" if "PRIMARY KEY(" in declared and rng.random() < 0.5 else ""
    db.execute(f"CREATE TABLE t({declared}){without}")
    numbers = rng.sample(range(1, ROWS + 1), ROWS)
    letters = rng.choice(("abc", "aAbBc")) if "NOCASE" not in declared else "abc"
    db.executemany("INSERT INTO t VALUES(?, ?, ?, ?)", (
        (rng.randint(0, 4), rng.randint(0, 3), rng.choice(letters), number) for number in numbers))
    add_indexes(db, rng)


def condition(rng):
    """A WHERE, or none."""
    return rng.choice((
        "", "", "", " WHERE a > 1", " WHERE a = 2", " WHERE a IN (3, 1)", " WHERE b IN (2, 0, 1) AND a = 1",
        " WHERE a > 1 OR b = 2", " WHERE s >= 'b'", " WHERE id BETWEEN 40 AND 400", " WHERE id = 17 OR id = 5",
        " WHERE id IN (9, 300, 7)", " WHERE a IN (1, 3) AND b IN (0, 2)",
        " WHERE a = 1 AND b >= 1", " WHERE b > 0 AND a < 4", " WHERE s = 'a'",
    ))


def statement(rng):
    """A SELECT with groups, and ORDER BY that most often leaves much open."""
    keys, where = rng.choice(KEYS), condition(rng)
    limit = rng.choice(("", " LIMIT 3", " LIMIT 2 OFFSET 1"))
    if rng.random() < 0.25:
        order = rng.choice(("", "", f" ORDER BY {keys.split(',')[0]}", " ORDER BY 1 DESC"))
        return f"SELECT DISTINCT {keys} FROM t{where}{order}{limit}"
    aggregate = rng.choice(("count(*)", "count(*) / 50", "max(a)", "min(id) % 3", "gpu_sum(1)"))
    named = ", ".join(f"{key} AS k{number}" for number, key in enumerate(keys.split(", ")))
    having = rng.choice(("", "", " HAVING count(*) > 1", " HAVING count(*) % 4 IN (SELECT a FROM o)",
                         " HAVING count(*) > (SELECT min(a) FROM t GROUP BY b ORDER BY 1 LIMIT 1)"))
    order = rng.choice(("", *(f" ORDER BY {order}" for order in ORDERS), f" ORDER BY {keys}",
                        " ORDER BY " + ", ".join(f"{key} DESC" for key in keys.split(", ") if key not in ("1", "'x'"))))
    if order == " ORDER BY ":
        order = ""
    grouped = keys if not keys.startswith("1") else "2, a" if rng.random() < 0.5 else "'y', a"
    return (f"SELECT {named}, {aggregate} AS n, count(*) > 20 AS m FROM t{where} GROUP BY {grouped}{having}{order}{limit}")


def test_random(rng):
    """Random tables and SELECTs."""
    batch, tally = support.Batch("ties"), views.Tally()
    for _ in range(ROUNDS // STATEMENTS * 2):
        db = connect()
        fill(db, rng)
        db.execute("CREATE TABLE o(a INT)")
        db.execute("INSERT INTO o VALUES(2), (0), (1)")
        db.commit()
        for _ in range(STATEMENTS):
            select = statement(rng)
            want = views.outcome(db, select)
            got = views.through_view(db, select)
            schema = [sql for (sql,) in db.execute("SELECT sql FROM sqlite_master WHERE sql NOT NULL")]
            batch.compare(views.comparable(got), views.comparable(want), f"{select}; {schema}")
            tally.add(db, "view_of_it", hosts_own=True)
        db.close()
    batch.end()
    tally.require(0.4, "ties")


def test_named():
    """The top of a table by count, where an index has the keys, and has a name that says otherwise."""
    for name in NAMES:
        db = connect()
        quoted = name.replace('"', '""')
        db.execute("CREATE TABLE t(k INT, x INT)")
        db.executemany("INSERT INTO t VALUES(?, ?)", ((i * 7 % 50, i) for i in range(500)))
        db.execute(f'CREATE INDEX "{quoted}" ON t(k DESC)')
        db.commit()
        for select in ("SELECT k, count(*) FROM t GROUP BY k ORDER BY count(*) DESC LIMIT 3",
                       "SELECT k, count(*) FROM t GROUP BY k", "SELECT DISTINCT k FROM t LIMIT 3"):
            views.create(db, "v", select)
            views.agree(db, "v", select, (), f"{name}: {select}")
            tap.ok(views.accelerated(db, "v"), "... accelerated")
        db.close()


def main():
    test_named()
    test_random(support.seed())
    tap.done()


main()
