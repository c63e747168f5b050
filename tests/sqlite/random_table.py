"""Random tables that change, each in a database of its own, and views of them: what tests have in common that ask how
the pages of such tables are read."""

import sqlite3

import support
import tap
import view_support as views

TABLES = 25 if tap.QUICK else 200
TYPES = ("INT", "INTEGER", "REAL", "TEXT", "NUMERIC", "BLOB", "", "DOUBLE", "VARCHAR(9)")
COLLATIONS = ("", "", "", "COLLATE NOCASE", "COLLATE RTRIM", "COLLATE BINARY")


class RandomTable:
    """The table t, of whose views self.selects has the SELECTs. A subclass makes it, with fill(count) and change()."""

    def __init__(self, rng, check, path, page_size):
        self.rng, self.check, self.path, self.log, self.selects = rng, check, path, [], ()
        self.db = views.connect(path)
        self.run(f"PRAGMA page_size = {page_size}")
        self.run(f"PRAGMA auto_vacuum = {rng.randrange(3)}")
        self.run(f"PRAGMA encoding = '{rng.choice(('UTF-8', 'UTF-8', 'UTF-16le'))}'")
        self.run(f"PRAGMA journal_mode = {rng.choice(('DELETE', 'WAL', 'WAL'))}")
        self.run("PRAGMA synchronous = OFF")

    def run(self, sql, parameters=(), db=None):
        """A statement, which may fail."""
        self.log.append(sql)
        try:
            return (db or self.db).execute(sql, parameters).fetchall()
        except sqlite3.Error as error:
            self.log.append(f"-- {error}")
            return None

    def run_elsewhere(self, sql):
        """The same by another connection."""
        other = sqlite3.connect(self.path, isolation_level=None)
        self.run(sql, (), other)
        other.close()

    def fill_in_transaction(self):
        """Rows that views have to see before they are committed, or rolled back."""
        self.run("BEGIN")
        self.fill(30)
        self.compare("uncommitted")
        self.run(self.rng.choice(("ROLLBACK", "COMMIT")))

    def compare(self, step):
        """Each view and its SELECT; made anew, if the step is so."""
        for number, select in enumerate(self.selects):
            want = views.comparable(views.outcome(self.db, select))
            problem = views.create(self.db, f"v{number}", select) if step == "new" else None
            got = views.comparable(problem or views.ask(self.db, f"v{number}"))
            if not self.check.compare(got, want, f"{step}: {select}"):
                tap.diag("\n".join(self.log + views.plan(self.db, f"v{number}")))
            self.answered(f"v{number}")

    def answered(self, name):
        """Called when a view has been compared."""

    def live(self):
        """Compares and changes it in turns, with less memory from some turn on, and closes the database."""
        memory = self.rng.choice((0, 0, 1, 30_000))
        for turn in range(8):
            if turn == 4:
                support.configure(self.db, column_memory=memory)
            self.compare("new")
            self.compare(f"again, turn {turn}")
            self.turn_ends()
            self.change()
        support.configure(self.db, column_memory=0)
        self.db.close()

    def turn_ends(self):
        """Called before a turn's change."""
