"""Accelerated views beside writers: every answer is of one snapshot, and of the current one.

Writer processes and a writer thread move amounts between rows, so that the total and the number of
rows never change, and each transaction counts up a stamp. What a view says of all of these must be
what the same read transaction finds row by row: a torn load shows in the totals, a stale one in
the stamp.
"""

import os
import random
import sqlite3
import threading
import time

import support
import tap
import view_support as views

ROWS = 5_000 if tap.QUICK else 20_000
TOTAL = sum(range(1, ROWS + 1))
SECONDS = 1.5 if tap.QUICK else 10
READERS = 3
MODES = ("DELETE", "TRUNCATE", "PERSIST", "MEMORY", "WAL")

VIEWS = {
    "whole": "SELECT gpu_sum(amount), count(*), gpu_sum(amount * 1), gpu_max(stamp) FROM t",
    "part": "SELECT gpu_sum(amount), count(amount), sum(amount + 0), max(stamp) FROM t"
    " WHERE id > :least AND amount IS NOT NULL",
}
STAMP = "SELECT stamp FROM t WHERE id = 1"

#: What SQLite may say where others write, and what makes asking again worthwhile.
BUSY = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL")


class Writer:
    """Moves amounts between rows until a time is over."""

    def __init__(self, path, mode, seed, end):
        self.rng, self.mode, self.end = random.Random(seed), mode, end
        self.db = sqlite3.connect(path, isolation_level=None, timeout=10, check_same_thread=False)
        self.db.execute("PRAGMA synchronous = OFF")
        self.db.execute("PRAGMA cache_size = 20")  # soon dirty pages go to the file
        self.db.execute("PRAGMA wal_autocheckpoint = 30")
        if mode != "WAL":
            self.db.execute(f"PRAGMA journal_mode = {mode}")
        self.done = 0

    def move(self):
        """Amounts from rows to others."""
        for _ in range(self.rng.choice((1, 1, 3, 40))):
            amount = self.rng.randint(-(10**9), 10**9)
            change = "UPDATE t SET amount = amount + ? WHERE id = ?"
            rows = self.db.execute(
                "SELECT id FROM t WHERE id >= ? OR id = 1 ORDER BY id DESC LIMIT 2",
                (self.rng.randrange(ROWS),),
            ).fetchall()
            for sign, (row,) in zip((1, -1), rows):
                self.db.execute(change, (sign * amount, row))

    def replace(self):
        """Rows that go, and as many that come."""
        first = self.rng.randint(2, ROWS)
        rows = self.db.execute(
            "DELETE FROM t WHERE id IN (SELECT id FROM t WHERE id >= ? LIMIT 2) RETURNING amount",
            (first,),
        ).fetchall()
        amount = sum(value for (value,) in rows)
        for number in range(len(rows)):
            pad = "p" * self.rng.choice((0, 10, 900, 3000))
            values = (amount if number == 0 else 0, pad)
            self.db.execute("INSERT INTO t(amount, stamp, pad) VALUES (?, 0, ?)", values)

    def pad(self):
        """Rows that move to other pages."""
        first = self.rng.randrange(ROWS)
        size = self.rng.choice((0, 50, 600))
        self.db.execute(
            "UPDATE t SET pad = ? WHERE id BETWEEN ? AND ?", ("q" * size, first, first + 30)
        )

    def transaction(self):
        """One of them, or several, sometimes taken back."""
        self.db.execute("BEGIN IMMEDIATE")
        self.db.execute("UPDATE t SET stamp = stamp + 1 WHERE id = 1")
        for _ in range(self.rng.randint(1, 2)):
            self.rng.choice((self.move, self.move, self.replace, self.pad))()
        if self.rng.random() < 0.1:
            self.db.execute("UPDATE t SET amount = amount + 1")
            self.db.execute("ROLLBACK")
        else:
            self.db.execute("COMMIT")

    def step(self):
        """A transaction mostly, or upkeep of the file."""
        luck = self.rng.random()
        if luck < 0.005:
            self.db.execute("VACUUM")
        elif luck < 0.04 and self.mode == "WAL":
            kind = self.rng.choice(("TRUNCATE", "RESTART", "FULL", "PASSIVE"))
            self.db.execute(f"PRAGMA wal_checkpoint({kind})").fetchall()
        else:
            self.transaction()
            self.done += 1

    def run(self):
        """The writer's life."""
        while time.time() < self.end:
            try:
                self.step()
            except sqlite3.OperationalError as error:
                if not error.sqlite_errorname.startswith(BUSY):
                    raise
                if self.db.in_transaction:
                    self.db.execute("ROLLBACK")
            time.sleep(self.rng.random() * 0.01)  # readers get their turn
        self.db.close()
        return self.done


class Reader:
    """A thread that asks views until a time is over."""

    def __init__(self, path, device, seed, end, tally, memory):
        self.rng, self.end, self.tally = random.Random(seed), end, tally
        self.db = views.connect(path, device, wait=10)
        support.configure(self.db, column_memory=memory)
        for name, select in VIEWS.items():
            problem = views.create(self.db, name, select)
            assert problem is None, problem
        self.wrong = []

    def ask(self):
        """Asks a view in a read transaction, and the stamp beside it."""
        name = self.rng.choice(list(VIEWS))
        parameters = (-1,) if name == "part" else ()
        marks = "(?)" if parameters else ""
        inside = self.rng.random() < 0.6
        if inside:
            self.db.execute("BEGIN")
        before = self.db.execute(STAMP).fetchone()[0] if self.rng.random() < 0.7 else None
        row = self.db.execute(f"SELECT * FROM {name}{marks}", parameters).fetchone()
        after = self.db.execute(STAMP).fetchone()[0]
        if inside:
            self.db.execute("COMMIT")
        self.tally.add(self.db, name)
        if row[:3] != (TOTAL, ROWS, TOTAL):
            self.wrong.append(f"{name} is torn: {row}, and not {(TOTAL, ROWS, TOTAL)}")
        least = after if inside else before or 0
        if not least <= row[3] <= after:
            self.wrong.append(f"{name} has stamp {row[3]}, not from {least} to {after}")

    def run(self):
        """The reader's life."""
        try:
            while time.time() < self.end and len(self.wrong) < 5:
                try:
                    self.ask()
                except sqlite3.OperationalError as error:
                    if not error.sqlite_errorname.startswith(BUSY):
                        raise
                    if self.db.in_transaction:
                        self.db.execute("ROLLBACK")
                time.sleep(self.rng.random() * 0.03)  # writers get their turn
        except Exception as problem:  # a thread's exception would be lost
            self.wrong.append(repr(problem))
        self.db.close()


def make(path, mode):
    """The database, over many pages."""
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA page_size = 1024")
    db.execute(f"PRAGMA journal_mode = {mode}")
    db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, pad TEXT, amount INT, stamp INT)")
    db.execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
        " INSERT INTO t SELECT i, CASE i % 50 WHEN 0 THEN hex(zeroblob(i % 1000)) ELSE '' END,"
        " i, 0 FROM n",
        (ROWS,),
    )
    db.close()


PROCESS = """
import runpy
module = runpy.run_path({file!r}, run_name="writer")
writer = module["Writer"]({path!r}, {mode!r}, {seed}, {end})
print(writer.run())
"""


def test_mode(rng, folder, device, mode):
    """One check: all readers beside all writers."""
    path, tally = folder.new(), views.Tally()
    make(path, mode)
    end = time.time() + SECONDS
    # For every second one the table streams.
    readers = [Reader(path, device, rng.random(), end, tally, i % 2) for i in range(READERS)]
    written = []

    def process(seed):
        code = PROCESS.format(
            file=os.path.abspath(__file__), path=path, mode=mode, seed=seed, end=end
        )
        written.append(support.child(code, timeout=SECONDS * 10 + 60))

    local = Writer(path, mode, rng.random(), end)
    threads = [threading.Thread(target=reader.run) for reader in readers]
    threads += [threading.Thread(target=process, args=(rng.random(),)) for _ in range(2)]
    threads.append(threading.Thread(target=local.run))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wrong = [problem for reader in readers for problem in reader.wrong]
    wrong += [f"{child.stdout} {child.stderr}" for child in written if child.returncode != 0]
    tap.ok(not wrong, f"{mode}, {device}: {tally.answers} answers beside writers")
    for problem in wrong[:5]:
        tap.diag(problem)
    count = local.done + sum(int(child.stdout) for child in written if child.returncode == 0)
    tap.ok(tally.answers > 0 and count > 0, f"{mode}, {device}: both had their turns")
    tap.diag(f"{count} transactions")
    tally.require(0.5, f"{mode}, {device}")


def main():
    rng, folder = support.seed(), views.Folder()
    for mode in MODES:
        test_mode(rng, folder, "host", mode)
    for device in views.devices()[1:]:
        test_mode(rng, folder, device, "WAL")
    tap.done()


if __name__ == "__main__":
    main()
