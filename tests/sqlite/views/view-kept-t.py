"""A view's last answer serves the same query again until the database, a value or a function changes.

Each case says how often the answer was kept; what a view gives is compared with its SELECT every time.
"""

import os
import sqlite3
import time

import support
import tap
import view_support as views

ROWS = 3000


def make(encoding="UTF-8", journal="WAL"):
    """A connection that keeps answers, to a new table of rows beside a small one, and its path."""
    path = views.new()
    db = views.connect(path, keep_answers="on")
    support.execute(db, "PRAGMA synchronous = OFF", f"PRAGMA encoding = '{encoding}'",
                    f"PRAGMA journal_mode = {journal}",
                    "CREATE TABLE t(k INT, x REAL, s TEXT, many TEXT, city TEXT COLLATE NOCASE, ts TEXT, d INT)",
                    "CREATE TABLE d(id INTEGER PRIMARY KEY, name TEXT)",
                    "INSERT INTO d VALUES (0, 'a'), (1, 'b'), (2, 'c')",
                    support.numbered("t", ROWS, "i % 7, i * 0.25, 's' || (i % 5), 'm' || (i % 700), 'C' || (i % 3),"
                                     " datetime(1e9 + i * 60, 'unixepoch'), i % 4"))
    return db, path


class Kept(views.Watch):
    """One view, and how often its answer was kept."""

    def __init__(self, db, select, parameters=(), label=None):
        super().__init__(db, label or select, {"v": select}, {"v": parameters})

    def ask_for(self, step, kept):
        """Asks once; kept: whether the last answer serves."""
        before = support.stats(self.db)
        line = self.ask("v", step)[0]
        after = support.stats(self.db)
        was_kept, scans = (sum(after[name] - before[name] for name in names)
                           for names in (("answers_kept",), ("scans_on_host", "scans_on_device")))
        self.batch.check((was_kept, scans) == (int(kept), int(not kept)), f"{step}: kept {was_kept}, scanned {scans}: {line}")
        if kept:
            self.batch.check(line == "accelerated: answer kept", f"{step}: {line}")

    def ask_anew(self, step):
        """Asks twice: a new answer is kept, and serves the second time."""
        self.ask_for(step, False)
        self.ask_for(f"{step}, again", True)


#: SELECTs, with parameters that serve and others.
ASKED = {
    "SELECT count(*), gpu_sum(x), max(s) FROM t": None,
    "SELECT gpu_sum(x) FROM t WHERE k > ?": ((3,), (4,)),
    "SELECT k, count(*), gpu_sum(x) FROM t GROUP BY k": None,
    "SELECT s, count(*) AS n FROM t WHERE x < ? GROUP BY s HAVING n > 2 ORDER BY n DESC, s LIMIT 3": ((500.5,), (9,)),
    "SELECT city, count(*) FROM t GROUP BY city ORDER BY 1": None,
    "SELECT count(*) FROM t WHERE many LIKE ?": (("m1%",), ("m2%",)),
    "SELECT count(*) FROM t WHERE s || 'q' > ?": (("s2",), ("s4",)),
    "SELECT date(ts) AS day, count(*) FROM t GROUP BY day": None,
    "SELECT count(*) FROM t WHERE ts < ?": (("2001-09-09 12",), ("2001-09-10",)),
    "SELECT gpu_percentile(x, ?), gpu_median(k) FROM t": ((50,), (60,)),
    "SELECT name, count(*) FROM t JOIN d ON d.id = t.d GROUP BY name": None,
    "SELECT count(*) FROM t WHERE d IN (SELECT id FROM d WHERE name > ?)": (("a",), ("b",)),
    "SELECT k, s, x FROM t WHERE many = ?": (("m17",), ("m18",)),
    "SELECT k, max(x), many FROM t GROUP BY k": None,
    "SELECT x, many FROM t ORDER BY x DESC LIMIT 7": None,
}


@tap.each(("WAL", "UTF-8"), ("DELETE", "UTF-8"), ("WAL", "UTF-16le"))
def test_asked_again(journal, encoding):
    """By itself, with other values, after commits here and elsewhere, and with a rollback."""
    for select, given in ASKED.items():
        if encoding != "UTF-8" and ("max(s)" in select or "ts <" in select):
            continue  # SQLite's
        db, path = make(encoding, journal)
        other = sqlite3.connect(path, isolation_level=None, timeout=20)
        first, second = given or ((), ())
        view = Kept(db, select, first, f"{journal}, {encoding}: {select}")
        for turn in range(3):
            view.ask("v", f"turn {turn}")
        view.ask_for("again", True)
        if given:
            view.parameters["v"] = second
            view.ask_anew("other values")
            view.parameters["v"] = first
            view.ask_for("the first ones", False)
        db.execute("UPDATE t SET x = x + 1, s = 's9', many = 'm1' WHERE rowid = 5")
        view.ask_anew("after a commit")
        other.execute("UPDATE d SET name = name || 'x' WHERE id = 1")
        view.ask_anew("after one elsewhere")
        support.execute(db, "BEGIN", "DELETE FROM t WHERE rowid < 50")
        view.ask("v", "within a transaction that writes")
        db.execute("ROLLBACK")
        view.ask("v", "after it is rolled back")
        view.ask("v", "... again")
        view.ask_for("... and again", True)
        other.close()


def test_what_changes_it():
    """Settings, functions, views over others, and what the columns cost."""
    db, _ = make()
    select = "SELECT gpu_sum(x), sum(k), count(*) FROM t"
    view = Kept(db, select)
    view.ask_anew("first")
    support.configure(db, override="on")
    view.ask_anew("a setting")
    support.configure(db, keep_answers="off")
    view.ask_for("switched off", False)
    view.ask_for("... again", False)
    support.configure(db, keep_answers="on")
    view.ask_anew("switched on")
    views.evict(db)
    view.ask_for("evicted", True)
    for column, count in (("s", 5), ("many", 700)):
        db.create_function("f", 1, lambda text: text + "1", deterministic=True)
        view = Kept(db, f"SELECT f({column}) AS y, count(*) FROM t WHERE f({column}) > 's' OR k = 3 GROUP BY y ORDER BY 2, 1 LIMIT 5",
                    label=f"a function of an application over {count} values")
        for turn in range(4):
            view.ask("v", f"turn {turn}")
        db.create_function("f", 1, lambda text: "t" + text, deterministic=True)
        view.ask("v", "another function")
        view.ask("v", "... again")


def test_codes():
    """Values of TEXT that are loaded anew have other codes than where they came with changes."""
    db, _ = make()
    view = Kept(db, "SELECT count(*), gpu_sum(x) FROM t WHERE lower(s) = ?", ("s1",), "codes")
    view.ask_for("first", False)
    db.execute("UPDATE t SET s = iif(s = 's1', 's2', 's1') WHERE rowid < 9 AND s IN ('s1', 's2')")
    view.ask_anew("after a commit")
    views.evict(db)
    view.parameters["v"] = ("s2",)
    view.ask_anew("loaded anew, another value")


def test_moments():
    """An operand that SQLite evaluates for each run is a value like others."""
    db, _ = make()
    moments = iter(range(100))
    db.create_function("step", 0, lambda: next(moments) // 3)
    view = Kept(db, "SELECT count(*), ? FROM t WHERE x > julianday(date('now')) - 2450000 AND k > ?", (1, 2))
    view.ask("v", "first")
    before = support.stats(db)["answers_kept"]
    view.ask("v", "again")
    tap.is_equal(support.stats(db)["answers_kept"] - before, 1, "the day is a value")
    view.parameters["v"] = (7, 2)
    view.ask_for("a value that only the rows have", True)


def test_zones():
    """Columns that SQLite derives by the time zone are others in another one."""
    db, _ = make()
    select = "SELECT date(ts, 'localtime') AS day, count(*) FROM t WHERE strftime('%H', ts, 'localtime') > '02' GROUP BY day"
    view = Kept(db, select)
    before = os.environ.get("TZ")
    for zone in ("UTC", "America/New_York", "Asia/Kolkata", "UTC"):
        os.environ["TZ"] = zone
        time.tzset()
        for turn in range(4):
            view.ask("v", f"{zone}, turn {turn}")
        view.ask_for(f"{zone}, at last", True)
    os.environ.pop("TZ") if before is None else os.environ.update(TZ=before)
    time.tzset()


def test_limits():
    """A large answer is not kept, and neither is one of an empty table lost."""
    db, _ = make()
    view = Kept(db, "SELECT many, x, count(*) FROM t GROUP BY many, x")
    for turn in range(3):
        view.ask_for(f"turn {turn}", False)
    view = Kept(db, "SELECT k, count(*) FROM t WHERE x < 0 GROUP BY k")
    view.ask_anew("no rows")


def test_streams():
    """A table that is too large for its columns to be kept is not read again either."""
    db, _ = make()
    support.configure(db, column_memory=30_000)
    for select in ("SELECT gpu_sum(x), count(*) FROM t WHERE k > 2", "SELECT k, gpu_sum(x), max(k) FROM t GROUP BY k",
                   "SELECT s, count(*) FROM t WHERE s <> 's1' GROUP BY s"):
        view = Kept(db, select, label=f"streaming: {select}")
        view.ask_for("first", False)
        tap.ok("streaming" in views.plan(db, "v")[0], "the table streams")
        before = support.stats(db)["bytes_decoded"]
        view.ask_for("again", True)
        tap.is_equal(support.stats(db)["bytes_decoded"], before, "nothing is read")
        db.execute("UPDATE t SET x = x + 1, s = 's7' WHERE rowid = 9")
        view.ask_anew("after a commit")
    support.configure(db, column_memory=0)


def test_cursors(rng):
    """Several queries of one view that are under way have answers of their own."""
    db, _ = make()
    views.create(db, "v", "SELECT k, count(*) FROM t WHERE x > ? GROUP BY k")
    want = {value: db.execute("SELECT k, count(*) FROM t WHERE x > ? GROUP BY k", (value,)).fetchall() for value in (1, 400)}
    batch = support.Batch("cursors over kept answers")
    for _ in range(60):
        running = [(value, db.execute("SELECT * FROM v(?)", (value,)), []) for value in rng.choices((1, 400), k=3)]
        while running:
            value, cursor, rows = running[rng.randrange(len(running))]
            row = cursor.fetchone()
            if row is not None:
                rows.append(row)
                if rng.random() > 0.1:
                    continue
                rows.extend(cursor)
            batch.compare(rows, want[value], f"x > {value}")
            running.remove((value, cursor, rows))
        if rng.random() < 0.2:
            db.execute("UPDATE t SET x = x WHERE rowid = 1")


views.run(globals())
