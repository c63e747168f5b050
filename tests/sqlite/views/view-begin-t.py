"""Views that are made, read and dropped within BEGIN, or read by a CREATE, while another connection commits.

They give what their SELECT gives, and from pages where the transaction is one that they began; what
ROLLBACK brings back can be dropped.
"""

import itertools
import sqlite3

import support
import tap
import view_support as views

SELECT = "SELECT gpu_sum(a) AS s, count(*) FROM t WHERE b > 3"
OTHER = "SELECT gpu_sum(b) AS s FROM t"
CHANGES = (
    ("nothing", ()),
    ("commits", ("INSERT INTO t VALUES (7, 8)", "UPDATE t SET a = a + 1 WHERE rowid = 5")),
    ("a checkpoint", ("INSERT INTO t VALUES (7, 8)", "PRAGMA wal_checkpoint(TRUNCATE)", "DELETE FROM t WHERE b = 9")),
    ("another schema", ("ALTER TABLE t ADD COLUMN c", "INSERT INTO t(a, b) VALUES (1, 9)")),
)


def begin(mode):
    """Two connections to a database, of which the first one has the extension."""
    path = views.new()
    other = sqlite3.connect(path, isolation_level=None)
    support.execute(other, f"PRAGMA journal_mode = {mode}", "CREATE TABLE t(a INT, b INT)",
                    support.numbered("t", 2_000, "i, i"))
    return views.connect(path), other


def look(db, name, select, what):
    """The view agrees with its SELECT, and reads pages."""
    views.agree(db, name, select, (), what)
    tap.ok(views.accelerated(db, name), f"... from pages: {views.plan(db, name)[0]}")


@tap.each(*itertools.product(("WAL", "DELETE"), CHANGES, (False, True)))
def test_made(mode, case, known):
    """Made within BEGIN, twice; beside another view that was read before, or not."""
    label, changes = case
    db, other = begin(mode)
    what = f"{mode}, after {label}, {'beside another view' if known else 'the first view'}"
    if known:
        views.create(db, "known", OTHER)
        views.ask(db, "known")
    for name in ("v", "w"):
        for sql in changes if name == "v" else ():
            other.execute(sql).fetchall()
        db.execute("BEGIN")
        views.create(db, name, SELECT)
        look(db, name, SELECT, f"{what}: {name} is made within BEGIN")
        if known:
            look(db, "known", OTHER, f"{what}: and the other one")
        if mode == "WAL":
            other.execute("INSERT INTO t(a, b) VALUES (1000, 1000)")
            look(db, "v", SELECT, f"{what}: and once more, overtaken by a commit")
        db.execute("COMMIT")
        look(db, "v", SELECT, f"{what}: after COMMIT")


def test_begun_by_others():
    """A transaction that SQLite began is not proved to be any snapshot; one that is, stays so."""
    db, other = begin("WAL")
    views.create(db, "v", SELECT)
    views.ask(db, "v")
    for sql in (None, "UPDATE t SET a = a + 3", "ALTER TABLE t ADD COLUMN c"):
        if sql:
            other.execute(sql)
        support.execute(db, "BEGIN", "SELECT count(*) FROM t")
        if sql:
            other.execute("UPDATE t SET a = a + 10")
        views.agree(db, "v", SELECT, (), f"begun by a SELECT, after {sql}")
        views.agree(db, "w", OTHER, (), f"... and a new view, after {sql}", anew=True)
        db.execute("COMMIT")


@tap.each(*itertools.product(("WAL", "DELETE"), ("SELECT gpu_sum(a) FROM t", "SELECT a AS x FROM t WHERE a < 5")))
def test_dropped(mode, select):
    """A view that ROLLBACK brings back, whose SELECT is an error by then, can be dropped."""
    db, other = begin(mode)
    for change, back in (
        ("ALTER TABLE t RENAME COLUMN a TO z", "ALTER TABLE t RENAME COLUMN z TO a"),
        ("ALTER TABLE t RENAME TO u", "ALTER TABLE u RENAME TO t"),
    ):
        views.create(db, "v", select)
        support.execute(db, "BEGIN", "DROP TABLE v")
        views.create(db, "v", "SELECT 1 AS one")
        db.execute("ROLLBACK")
        other.execute(change)
        got = views.ask(db, "v")
        tap.ok(views.fails(got, "no such "), f"{mode}, {change}: reading it is an error: {got}")
        got = views.outcome(db, "SELECT * FROM v WHERE unknown > 5")
        tap.ok(views.fails(got, "no such "), f"... with a condition as well: {got}")
        tap.is_equal(views.outcome(db, "DROP TABLE v"), [], "... and it can be dropped")
        other.execute(back)
        tap.is_equal(views.create(db, "v", select), None, "... and made again")
        views.agree(db, "v", select, (), "... as what it was")
        support.execute(db, "BEGIN", "DROP TABLE v", "ROLLBACK")
        other.execute(change)
        views.ask(db, "v")
        other.execute(back)
        views.agree(db, "v", select, (), "brought back, and its column too")


def test_unknown(path):
    """A view whose columns are not known has them again when its SELECT is one again: or says what to do."""
    db, other = begin("DELETE")
    select = "SELECT a, b FROM side.u WHERE b < 3"
    db.execute("ATTACH ? AS side", (path,))
    support.execute(db, "CREATE TABLE side.u(a, b)", "INSERT INTO side.u VALUES (1, 2), (2, 3)")
    views.create(db, "v", select)
    support.execute(db, "BEGIN", "DROP TABLE v")
    views.create(db, "v", "SELECT 1 AS one")
    support.execute(db, "ROLLBACK", "DETACH side")
    other.execute("CREATE TABLE o(x)")
    got = views.ask(db, "v")
    tap.ok(views.fails(got, "no such table"), f"a database that is gone: {got}")
    db.execute("ATTACH ? AS side", (path,))
    got = views.ask(db, "v")
    told = views.fails(got, "create it again")
    tap.ok(told or got == [(1, 2)], f"... and there again: {got}")
    other.execute("DROP TABLE o")
    views.agree(db, "v", select, (), "... and connected anew")


@tap.each(*itertools.product(("WAL", "DELETE"), (False, True)))
def test_create(mode, within):
    """CREATE ... AS SELECT from a view right after another connection has changed the schema."""
    db, other = begin(mode)
    views.create(db, "v", SELECT)
    views.create(db, "over", "SELECT s + 1 AS s FROM v")
    want = db.execute(SELECT).fetchall()
    for turn, sql in enumerate(
        (
            "CREATE TEMP TABLE {} AS SELECT * FROM v",
            "/* one */ create table temp.{} as select a.s, o.s from v a, over o",
            "CREATE TABLE main.{} AS SELECT * FROM v",
            "CREATE TEMP TABLE {} AS SELECT * FROM json_each('[1, 2, 3]') j, v WHERE v.s > j.value",
        )
    ):
        other.execute(f"CREATE TABLE o{turn}(x)")
        if within:
            db.execute("BEGIN")
        tap.is_equal(views.outcome(db, sql.format(f"x{turn}")), [], f"{mode}{', within BEGIN' * within}: {sql}")
        if " TEMP TABLE {} AS SELECT * FROM v" in sql:
            tap.ok(views.accelerated(db, "v"), f"... from pages: {views.plan(db, 'v')[0]}")
        if within:
            db.execute("COMMIT")
        rows = db.execute(f"SELECT * FROM x{turn}").fetchall()
        tap.is_equal([row[-2:] for row in rows][:1] if turn != 1 else [(rows[0][0], len(rows))],
                     want if turn != 1 else [(want[0][0], 1)], "... and its rows")
    tap.is_equal(len(rows), 3, "each row once")


views.run(globals())
