"""A process that writes: python3 writer.py DATABASE MODE SEED END MORTAL COUNTERS SLOT

Moves money between accounts until END, a time, and now and then changes the schema or tends the
file. A MORTAL one sometimes kills itself in the middle of a commit or a checkpoint.
"""

import os
import random
import signal
import sqlite3
import sys
import threading

import bank
import counters


class Writer:
    """A connection, and the chance that decides what it does."""

    def __init__(self, path, mode, seed, mortal, counted):
        self.rng, self.mode, self.mortal, self.counted = random.Random(seed), mode, mortal, counted
        self.db = sqlite3.connect(path, isolation_level=None, timeout=60)
        self.db.execute(f"PRAGMA synchronous = {self.rng.choice(('OFF', 'OFF', 'NORMAL'))}")
        self.db.execute("PRAGMA cache_size = 10")  # soon dirty pages go to the file
        self.db.execute(f"PRAGMA wal_autocheckpoint = {self.rng.choice((0, 5, 100))}")
        if mode != "WAL":
            self.db.execute(f"PRAGMA journal_mode = {mode}")

    def account(self):
        """The id of some account."""
        sql = "SELECT id FROM account WHERE id <= ? OR id = 1 ORDER BY id DESC LIMIT 1"
        return self.db.execute(sql, (self.rng.randrange(bank.ROWS),)).fetchone()[0]

    def move(self):
        """Money from accounts to others."""
        for _ in range(self.rng.choice((1, 1, 3, 30))):
            amount = self.rng.randint(-(10**9), 10**9)
            for sign in (1, -1):
                sql = "UPDATE account SET amount = amount + ?, stamp = stamp + 1 WHERE id = ?"
                self.db.execute(sql, (sign * amount, self.account()))

    def replace(self):
        """An account that is closed, and one with the same amount that is opened."""
        number = self.account()
        if number == 1:
            return
        amount, owner = self.db.execute("SELECT amount, owner FROM account WHERE id = ?", (number,)).fetchone()
        self.db.execute("DELETE FROM account WHERE id = ?", (number,))
        note = "n" * self.rng.choice((0, 10, 900, 3000))
        self.db.execute(
            "INSERT INTO account(owner, amount, rate, note, stamp) VALUES (?, ?, ?, ?, 0)",
            (owner, amount, self.rng.random() * 1000, note),
        )

    def rewrite(self):
        """Many rows on many pages, which the cache does not hold until the commit."""
        first = self.rng.randrange(bank.ROWS)
        self.db.execute(
            "UPDATE account SET note = ?, rate = rate + 0.125 WHERE id BETWEEN ? AND ?",
            ("q" * self.rng.choice((0, 50, 600)), first, first + self.rng.choice((30, 400))),
        )

    def may_die(self):
        """Dies in a moment, perhaps: amid what the next statement does."""
        if self.mortal and self.rng.random() < 0.1:
            delay = self.rng.random() * self.rng.choice((0.0003, 0.003, 0.03))
            threading.Timer(delay, os.kill, (os.getpid(), signal.SIGKILL)).start()

    def transaction(self):
        """One of them, sometimes taken back where the journal can do that."""
        # Without a journal nothing may fail once it has begun.
        self.db.execute("BEGIN EXCLUSIVE" if self.mode == "OFF" else "BEGIN IMMEDIATE")
        for _ in range(self.rng.randint(1, 2)):
            self.rng.choice((self.move, self.move, self.replace, self.rewrite))()
        if self.mode != "OFF" and self.rng.random() < 0.1:
            self.db.execute("UPDATE account SET amount = amount + 1")
            self.db.execute("ROLLBACK")
            self.counted.add("rollbacks")
        else:
            self.may_die()
            self.db.execute("COMMIT")
            self.counted.add("commits")

    def schema_change(self):
        """A statement that changes the schema; some have nothing to do, and fail."""
        number = self.rng.randrange(3)
        columns = len(self.db.execute("PRAGMA table_info(account)").fetchall())
        choices = [
            f"CREATE INDEX IF NOT EXISTS i{number} ON account(amount, owner)",
            f"DROP INDEX IF EXISTS i{number}",
            f"CREATE TABLE IF NOT EXISTS side{number} AS SELECT * FROM account LIMIT 200",
            f"DROP TABLE IF EXISTS side{number}",
            "ANALYZE",
            "REINDEX",
        ]
        if columns < 20:
            default = self.rng.choice(("7", "0.5", "'x'", "NULL"))
            # Another writer may add one at the same time.
            name = f"more{self.rng.randrange(2**32)}"
            choices.append(f"ALTER TABLE account ADD COLUMN {name} DEFAULT {default}")
        return self.rng.choice(choices)

    def upkeep(self):
        """A change of the schema or the file."""
        luck = self.rng.random()
        if luck < 0.1:
            sql = "VACUUM"
        elif luck < 0.5 and self.mode == "WAL":
            sql = f"PRAGMA wal_checkpoint({self.rng.choice(('TRUNCATE', 'RESTART', 'FULL'))})"
        else:
            sql = self.schema_change()
        self.may_die()
        self.db.execute(sql).fetchall()
        self.counted.add("upkeep")

    def step(self):
        """A transaction mostly."""
        if self.rng.random() < 0.06:
            self.upkeep()
        else:
            self.transaction()


def main():
    path, mode, seed, end, mortal, figures, slot = sys.argv[1:]
    counted = counters.Counters(figures, int(slot))
    bank.run(Writer(path, mode, int(seed), mortal == "1", counted), float(end), pause=0.003)


main()
