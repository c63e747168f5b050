"""After commits in WAL mode only the pages that have changed are read again, and nothing is missed.

The plan of a view says how many leaf pages of its table were read again where that was possible;
the answers are compared with those of the SELECTs after each step.
"""

import re
import subprocess
import sys

import support
import tap
import view_support as views

ROWS = 6000
FILL = (
    "WITH RECURSIVE n(i) AS (SELECT {first} UNION ALL SELECT i + 1 FROM n WHERE i < {last})"
    " INSERT INTO {table} SELECT i, i % 1000 - 300, i * 0.25,"
    " CASE i % 3 WHEN 0 THEN i WHEN 1 THEN i * 0.5 END, printf('%.*c', {text}, 'x'), i * 7 FROM n"
)
TABLE = "CREATE TABLE {table}(k INTEGER PRIMARY KEY, a INT, b REAL, m, s TEXT, z INT)"
SELECTS = {
    "v": "SELECT gpu_sum(a), gpu_sum(b), gpu_max(a), count(*) FROM t",
    "w": "SELECT gpu_total(m), count(m), gpu_sum(k), gpu_min(b) FROM t WHERE a > 10",
}
PARTLY = re.compile(r"read the last time: (\d+) bytes: (\d+) of (\d+) leaf pages have changed")


def fill(db, table, first, last, text="i % 30"):
    """Adds rows of those keys; text is the length of the TEXT before the last column."""
    db.execute(FILL.format(table=table, first=first, last=last, text=text))


def make(page_size=1024, auto_vacuum=0, device="host"):
    """A connection to a new database, of which all is in the file, and its path."""
    path = views.new()
    db = views.connect(path, device)
    support.execute(db, f"PRAGMA page_size = {page_size}", f"PRAGMA auto_vacuum = {auto_vacuum}",
                    "PRAGMA journal_mode = WAL", "PRAGMA synchronous = OFF", "PRAGMA wal_autocheckpoint = 0")
    return db, path


def checkpoint(db, how):
    """A checkpoint."""
    db.execute(f"PRAGMA wal_checkpoint({how})").fetchall()


class Changes(views.Watch):
    """Views of one connection, whose answers and plans are looked at after each step."""

    def __init__(self, db, selects, label):
        super().__init__(db, label, selects, {})
        self.look("the first time")

    def look(self, step):
        """Compares all views, and gives what was read: what all their plans said of that."""
        said = []
        for name in self.selects:
            verdict, *_, last = self.ask(name, step)
            self.batch.check(verdict.startswith("accelerated"), f"{step}: {name} is accelerated")
            said.append(last)
        return said

    def partly(self, step, least, most):
        """Looks: from `least` to `most` leaves were read again, by the first view alone."""
        before = support.stats(self.db)
        first, *others = self.look(step)
        after = support.stats(self.db)
        found = PARTLY.fullmatch(first)
        if not self.batch.check(found, f"{step}: {first}"):
            return
        read, leaves = int(found[2]), int(found[3])
        self.batch.check(least <= read <= most < leaves, f"{step}: {first}; {least} to {most}")
        for line in others:  # of the same table, or of one that has not changed
            same = PARTLY.fullmatch(line)
            self.batch.check(same or "all columns are resident" in line, f"{step}: {line}")
            if same:
                self.batch.compare(same[2], "0", f"{step}: {line}")
                leaves += int(same[3])
        counted = [after[name] - before[name] for name in ("leaves_refreshed", "leaves_kept")]
        self.batch.compare(counted, [read, leaves - read], f"{step}: the statistics")

    def wholly(self, step):
        """Looks: all was read again."""
        said = self.look(step)[0]
        self.batch.check("the database has changed" in said, f"{step}: {said}")


@tap.each((512, 0), (1024, 1), (1024, 2), (4096, 0))
def test_steps(page_size, auto_vacuum):
    """What a writer may do, here or elsewhere, and how many leaves have to be read then."""
    db, path = make(page_size, auto_vacuum)
    other = views.connect(path)
    other.execute("PRAGMA wal_autocheckpoint = 0")
    for table in "tu":
        db.execute(TABLE.format(table=table))
    fill(db, "t", 1, ROWS)
    changes = Changes(db, SELECTS, f"pages of {page_size} bytes, auto_vacuum {auto_vacuum}")
    rows = 20 * 4096 // page_size  # that many have at most some ten leaves
    last = ROWS
    for writer, where in ((db, "here"), (other, "elsewhere")):
        for _ in range(3):
            last += 1
            fill(writer, "t", last, last)
            changes.partly(f"a row, {where}", 1, 3)
        fill(writer, "t", last + 1, last + 300)
        last += 300
        changes.partly(f"300 rows, {where}", 2, 60)
        writer.execute(f"UPDATE t SET a = -a, m = 0.5 WHERE k = {ROWS // 2}")
        changes.partly(f"UPDATE in the middle, {where}", 1, 4)
        writer.execute("UPDATE t SET b = NULL, a = 1e3 WHERE k IN (1, 3000)")
        changes.partly(f"UPDATE of two, {where}", 2, 8)
        writer.execute(f"UPDATE t SET s = '{where * 40}' WHERE k BETWEEN 900 AND 903")
        changes.partly(f"UPDATE that splits leaves, {where}", 2, 12)
        writer.execute(f"DELETE FROM t WHERE k BETWEEN 4000 AND {4000 + rows}")
        changes.partly(f"DELETE in the middle, {where}", 1, 14)
        fill(writer, "t", 4010, 4020)
        changes.partly(f"INSERT into the hole, {where}", 1, 10)
        writer.execute("DELETE FROM t WHERE k BETWEEN 4010 AND 4020")
        fill(writer, "t", 4000, 4000 + rows)
        fill(writer, "u", 1000 * last, 1000 * last + 10)
        changes.partly(f"both at once, {where}", 1, 30)
        fill(writer, "u", 1000 * last + 11, 1000 * last + 400)
        changes.partly(f"another table, {where}", 0, 0)
        support.execute(writer, "BEGIN", "UPDATE t SET a = a + 1", "ROLLBACK", "BEGIN",
                        "UPDATE t SET a = 5 WHERE k = 17", "SAVEPOINT s",
                        "UPDATE t SET a = 6 WHERE k BETWEEN 5000 AND 5010", "ROLLBACK TO s", "COMMIT")
        changes.partly(f"what a savepoint left, {where}", 1, 8)
        checkpoint(writer, "PASSIVE")
        changes.look(f"PASSIVE, {where}")
        last += 1
        fill(writer, "t", last, last)
        changes.wholly(f"a log begun anew, {where}")
        last += 1
        fill(writer, "t", last, last)
        checkpoint(writer, "PASSIVE")
        changes.partly(f"a row, and all is in the database file, {where}", 1, 3)
        for how in ("RESTART", "TRUNCATE"):
            checkpoint(writer, how)
            changes.look(f"{how}, {where}")
            last += 1
            fill(writer, "t", last, last)
            changes.look(f"a row after that, {where}")
            last += 1
            fill(writer, "t", last, last)
            changes.partly(f"another row after {how}, {where}", 1, 3)
        writer.execute("UPDATE t SET a = a + 1")
        if page_size < 4096:  # else the table has few leaves
            changes.wholly(f"UPDATE of all, {where}")
        writer.execute("CREATE TABLE x(y)")
        changes.wholly(f"CREATE TABLE, {where}")
        writer.execute("DROP TABLE x")
        changes.look(f"DROP TABLE, {where}")
        writer.execute("DELETE FROM t WHERE k > 4500")
        changes.look(f"fewer rows, {where}")
        fill(writer, "t", 4501, last)
        changes.look(f"more rows, {where}")
    other.execute("VACUUM")
    changes.wholly("VACUUM")
    fill(db, "t", last + 1, last + 1)
    changes.partly("a row", 1, 3)
    db.execute("DELETE FROM t WHERE k > 100")
    for name in SELECTS:
        changes.batch.compare(views.ask(db, name), views.outcome(db, SELECTS[name]), "few rows")


@tap.each((512, ""), (512, " WITHOUT ROWID"), (1024, ""))
def test_bytes(page_size, without):
    """Of the interior pages those alone are read that have changed, and none for another table.

    Without rowids interior pages have rows, too, by the version of SQLite others. If it is one high above the leaves that
    changes, all are read.
    """
    db, path = make(page_size)
    for table in "tu":
        db.execute(TABLE.format(table=table) + without)
    fill(db, "t", 1, ROWS)
    changes = Changes(db, {"v": SELECTS["v"]}, f"bytes, pages of {page_size} bytes{without}")

    def pages(step, most):
        """Looks, and compares how many pages were read, apart from the log."""
        said = changes.look(step)[0]
        found = PARTLY.fullmatch(said)
        if changes.batch.check(found, f"{step}: {said}"):
            changes.batch.check(int(found[1]) <= most * page_size, f"{step}: {said}; {most} pages")

    with Elsewhere(path) as other:
        for writer in (db, other):
            for k in (2, ROWS // 2, ROWS - 1):
                writer.execute(f"UPDATE t SET a = a + 1 WHERE k = {k}")
                pages(f"a row, {k}", 2 if without else 1)
            fill(writer, "u", *((1, 300) if writer is db else (301, 700)))
            pages("another table", 0)
            writer.execute(f"UPDATE t SET a = a + 1 WHERE k = 7 OR k = {ROWS - 70}")
            pages("two rows", 4 if without else 2)
            k = 3000 if writer is db else 4000
            writer.execute(f"UPDATE t SET s = printf('%.*c', {page_size // 5}, 'x') WHERE k = {k}")
            pages("a leaf that is divided", 100 if without else 6)


def test_chains():
    """Leaves for whose values overflow pages are read are read again if one of these changes."""
    db, _ = make()
    selects = {"before": "SELECT gpu_sum(a), gpu_sum(b) FROM t", "behind": "SELECT gpu_sum(z), count(*) FROM u"}
    for table in "tu":
        db.execute(TABLE.format(table=table))
        fill(db, table, 1, 3000, "iif(i % 100, 1, 5000)")
    changes = Changes(db, selects, "overflow pages")

    def read(step, least, most):
        """Looks: so many leaves were read again by the second view."""
        said = changes.look(step)[1]
        found = PARTLY.fullmatch(said)
        changes.batch.check(found and least <= int(found[2]) <= most, said)

    db.execute("UPDATE t SET s = s || 'y' WHERE k = 100")
    changes.partly("a chain changes before which all values are", 1, 2)
    fill(db, "u", 3001, 3400, "iif(i % 100, 1, 5000)")
    read("further chains", 10, 25)
    for k in (100, 2000):
        db.execute(f"UPDATE u SET z = 12345 WHERE k = {k}")
        read("the end of a chain changes", 34, 36)
    db.execute("DELETE FROM u WHERE k % 200 = 0 AND k > 400")
    changes.look("fewer chains")
    for _ in range(3):
        db.execute("UPDATE u SET z = z + 1 WHERE k = 200")
        read("the end of one of few chains changes", 10, 25)
    db.execute("UPDATE u SET s = 'short'")
    changes.look("no more overflow pages")
    db.execute("UPDATE u SET z = 3 WHERE k = 1")
    read("a row without a chain", 1, 1)


def test_further_columns():
    """Columns that are asked for after rows have moved, and those that were dropped for memory."""
    db, _ = make()
    db.execute(TABLE.format(table="t"))
    fill(db, "t", 1, ROWS)
    changes = Changes(db, {"v": SELECTS["v"]}, "further columns")
    db.execute("DELETE FROM t WHERE k BETWEEN 1000 AND 1100")
    changes.partly("rows have moved", 1, 6)
    select = "SELECT gpu_sum(a), gpu_sum(m), gpu_sum(z), gpu_sum(k) FROM t"
    changes.batch.compare(views.create(db, "x", select), None, "x")
    changes.selects["x"] = select
    changes.look("another view")
    changes.look("and again")
    db.execute("DELETE FROM t WHERE k BETWEEN 2000 AND 2100")
    changes.partly("rows have moved again", 1, 6)
    for memory in (300000, 400000, 0):
        support.configure(db, column_memory=memory)
        for k in range(3000, 3006):
            db.execute(f"DELETE FROM t WHERE k = {k}")
            changes.look(f"column_memory {memory}")
    db.execute("PRAGMA journal_mode = DELETE").fetchall()
    changes.look("journal_mode DELETE")
    db.execute("UPDATE t SET a = a + 1 WHERE k = 5")
    changes.wholly("a rollback mode")
    support.execute(db, "PRAGMA journal_mode = WAL", "UPDATE t SET a = a + 1 WHERE k = 5")
    changes.wholly("WAL again")
    db.execute("UPDATE t SET a = a + 1 WHERE k = 5")
    changes.partly("and in it", 1, 1)


def test_kept_columns():
    """A further column after a change: it is loaded, and those that are there are refreshed."""
    db, _ = make()
    db.execute(TABLE.format(table="t"))
    fill(db, "t", 1, ROWS)
    changes = Changes(db, {"v": SELECTS["v"]}, "kept columns")
    columns = ("m", "z", "s")
    selects = {f"x{i}": f"SELECT count({columns[i]}), gpu_sum(k) FROM t" for i in range(3)}
    for name, select in selects.items():  # a change of the schema
        changes.batch.compare(views.create(db, name, select), None, name)
    changes.look("at first")

    def decoded(name):
        """What a view's first query reads: bytes, leaves read again and leaves kept."""
        select = selects[name]
        before = support.stats(db)
        got = views.ask(db, name)
        after = support.stats(db)
        changes.batch.compare(got, views.outcome(db, select), select)
        said = views.plan(db, name)[-1]
        changes.batch.check("the columns were not resident" in said, f"{name}: {said}")
        counted = ("bytes_decoded", "leaves_refreshed", "leaves_kept")
        return [after[key] - before[key] for key in counted]

    whole, read, kept = decoded("x0")
    changes.batch.compare((read, kept), (0, 0), "nothing has changed")
    for i in range(1, 3):
        # Rows move, and leaves go: what is loaded has to fit what has been refreshed.
        db.execute(f"DELETE FROM t WHERE k BETWEEN {i * 1000} AND {i * 1000 + 100}")
        size, read, kept = decoded(f"x{i}")
        changes.batch.check(0 < read < 10 < kept, f"{i}: {read} leaves read, {kept} kept")
        changes.batch.check(whole * 0.8 < size < whole * 1.3, f"{i}: {size} of {whole} bytes")
    listed = {row[0] for row in db.execute('SELECT "column" FROM clreduce_columns')}
    changes.batch.check({"a", "b", "m", "z", "k", "s"} <= listed, f"columns kept: {listed}")
    changes.selects.update(selects)
    before = support.stats(db)["bytes_decoded"]
    changes.look("all of them")
    changes.batch.compare(support.stats(db)["bytes_decoded"], before, "they are resident")
    db.execute("UPDATE t SET a = 5, z = 6 WHERE k = 700")
    changes.partly("and refreshed together", 1, 1)


class Elsewhere:
    """A connection of another process, which knows nothing of the extension."""

    CODE = (
        "import sqlite3, sys\n"
        "db = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=0)\n"
        "for line in sys.stdin:\n"
        "    try: db.execute(line).fetchall(); print('done', flush=True)\n"
        "    except sqlite3.Error as error: print(error, flush=True)\n"
    )

    def __init__(self, path):
        self.process = subprocess.Popen(
            [sys.executable, "-c", self.CODE, path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.communicate()

    def execute(self, sql):
        """Runs a statement, of which rows and errors stay there."""
        self.process.stdin.write(sql + "\n")
        self.process.stdin.flush()
        self.process.stdout.readline()
        return self

    def fetchall(self):
        """No rows."""
        return []


class Writer:
    """Random transactions on tables that it makes: w is one WITHOUT ROWID."""

    def __init__(self, rng, connections, tables):
        self.rng, self.connections, self.tables = rng, connections, tables
        for table in tables:
            without = " WITHOUT ROWID" if table == "w" else ""
            connections[0].execute(TABLE.format(table=table) + without)
            connections[0].execute(f"CREATE INDEX {table}_a ON {table}(a)")
            fill(connections[0], table, 1, rng.choice((200, 1500, 5000)))

    def statement(self):
        """A random change of a table."""
        rng = self.rng
        table = rng.choice(self.tables)
        k = rng.randrange(6000)
        new = f"(SELECT coalesce(max(k), 0) FROM {table}) + 1 +"
        width = rng.choice((0, 1, 5, 60))
        span = f"WHERE k BETWEEN {k} AND {k + width}"
        change = rng.choice(("a = a + 1", "b = -b", "m = a", "m = 'x'", "m = NULL", "z = a * 2"))
        length = rng.choice((0, 3, 40, 400, 3000))
        return rng.choice(
            (
                f"UPDATE {table} SET {change} {span}",
                f"UPDATE {table} SET s = printf('%.*c', {length}, 'y') {span}",
                # All that may change is an overflow page: the leaf stays as it is.
                f"UPDATE {table} SET s = substr(s, 1, length(s) - 1) || '{rng.choice('abc')}' {span}",
                f"DELETE FROM {table} {span}",
                f"INSERT INTO {table} SELECT {new} k - {k}, a, b, m, s, z FROM {table} {span}",
                f"INSERT OR REPLACE INTO {table} SELECT k + 7, a, m, b, s, z FROM {table} {span}",
                FILL.format(table=table, first=10**6, last=10**6 + width, text=length).replace(
                    "SELECT i,", f"SELECT {new} i - 1000000,"
                ),
            )
        )

    def transaction(self):
        """A random transaction on a random connection, with savepoints and rollbacks in it."""
        rng = self.rng
        db = rng.choice(self.connections)
        db.execute("BEGIN IMMEDIATE")
        for _ in range(rng.choice((1, 1, 1, 2, 5))):
            if rng.random() < 0.2:
                db.execute("SAVEPOINT s")
                db.execute(self.statement())
                db.execute(rng.choice(("ROLLBACK TO s", "RELEASE s")))
            else:
                db.execute(self.statement())
        db.execute("ROLLBACK" if rng.random() < 0.05 else "COMMIT")
        if rng.random() < 0.05:
            checkpoint(db, rng.choice(("PASSIVE", "PASSIVE", "FULL", "RESTART", "TRUNCATE")))
        if rng.random() < 0.05:
            db.execute(f"PRAGMA wal_autocheckpoint = {rng.choice((0, 3, 50, 1000))}").fetchall()
        if rng.random() < 0.02:
            db.execute("PRAGMA incremental_vacuum(5)").fetchall()


class Reader:
    """A connection that stays in its snapshot for a while."""

    def __init__(self, rng, path, device, selects):
        self.rng, self.selects = rng, selects
        self.db = views.connect(path, device)
        self.is_held = False
        views.create_all(self.db, selects)

    def step(self):
        """Begins a snapshot, or ends it, or does neither."""
        if self.rng.random() < 0.1:
            self.db.execute("COMMIT" if self.is_held else "BEGIN")
            self.is_held = not self.is_held
            if self.is_held:
                self.db.execute("SELECT count(*) FROM sqlite_schema").fetchall()


@tap.each(*views.devices())
def test_random(rng, device):
    """Random transactions, the views of random tables compared after each."""
    rounds = 2 if tap.QUICK else 5
    transactions = 60 if tap.QUICK else 150
    batch = support.Batch(f"random transactions, views on {device}")
    answers = partly = 0
    for _ in range(rounds):
        page_size, auto_vacuum = rng.choice((512, 512, 1024, 4096)), rng.choice((0, 1, 2))
        db, path = make(page_size, auto_vacuum, device)
        other, elsewhere = views.connect(path), Elsewhere(path)
        tables = ["t", "u", "w"]
        for connection in (db, other):
            connection.execute("PRAGMA busy_timeout = 0").fetchall()
        writer = Writer(rng, (db, other, elsewhere), tables)
        selects = {}
        for table in tables:
            selects[f"p_{table}"] = (f"SELECT gpu_sum(a), gpu_sum(b), gpu_sum(k), count(m), count(s) FROM {table}")
            selects[f"q_{table}"] = f"SELECT gpu_sum(z), gpu_max(z), count(*) FROM {table}"
            selects[f"r_{table}"] = f"SELECT gpu_total(b), gpu_sum(a), count(*) FROM {table}"
            # By expressions that SQLite evaluates for the rows that have changed.
            selects[f"d_{table}"] = f"SELECT gpu_sum(length(s || m)), sum(a) FROM {table} WHERE s || z LIKE '%a%1'"
            selects[f"g_{table}"] = (
                f"SELECT substr(s || m, -1) AS e, count(*), gpu_sum(z) FROM {table} GROUP BY e ORDER BY e"
            )
        for name, select in selects.items():
            batch.compare(views.create(db, name, select), None, name)
        reader = Reader(rng, path, device, selects)
        for i in range(transactions):
            writer.transaction()
            reader.step()
            for name in rng.sample(list(selects), rng.choice((1, 2, 6))):
                asked = reader.db if rng.random() < 0.2 else db
                got = views.ask(asked, name)
                want = views.outcome(asked, selects[name])
                held = "an older snapshot, " if asked is not db and reader.is_held else ""
                what = f"pages of {page_size}, auto_vacuum {auto_vacuum}, {held}{i}: {selects[name]}"
                batch.compare(got, want, what)
                answers += 1
                partly += PARTLY.fullmatch(views.plan(asked, name)[-1]) is not None
        batch.compare(support.value(db, "PRAGMA integrity_check"), "ok", "integrity")
        for connection in (reader.db, other, db):
            connection.close()
        elsewhere.__exit__()
    tap.diag(f"{partly} of {answers} answers from columns of which a part was read again")
    batch.check(partly > answers / 20, f"only {partly} of {answers} times a part was read again")


views.run(globals())
