"""What the tests of connections that share columns have in common: connections with the same views,
whose answers are held against SQLite's own in the same transaction.

Whether columns are shared is nothing that an answer may show. So whatever is done to the files, and
whoever has read them before, each connection's view gives what its SELECT gives.
"""

import sqlite3

import support
import view_support as views

ROWS = 800

#: Of sums, a filter, groups by text, a rank, texts, and of rows.
SELECTS = {
    "sums": "SELECT gpu_sum(a), gpu_total(b), count(*), gpu_max(k) FROM {t}",
    "part": "SELECT gpu_sum(a), max(b), avg(a) FROM {t} WHERE a > 40 AND c <> 'name 3'",
    "grouped": "SELECT c, count(*), gpu_sum(a) FROM {t} GROUP BY c ORDER BY c",
    "ranks": "SELECT gpu_median(b), gpu_count_distinct(c), gpu_max(c) FROM {t}",
    "rows": "SELECT k, a, c FROM {t} WHERE a % 50 = 7 ORDER BY k",
}
TABLE = "CREATE TABLE {t}(k INTEGER PRIMARY KEY, a INT, b REAL, c TEXT)"
FILL = support.numbered("{t}", "{rows}", "i, i * {factor} % 1000, i * 0.25 * {factor}, 'name ' || (i * {factor} % 7)")


#: All answers of this process's clients, and how many of them were accelerated.
TALLY = views.Tally()


def make(path, mode="DELETE", factor=1, rows=ROWS, tables=("t",)):
    """A new database by always the same steps: other factors give other values and nothing else."""
    db = sqlite3.connect(path, isolation_level=None)
    support.execute(db, "PRAGMA page_size = 1024", "PRAGMA synchronous = OFF", f"PRAGMA journal_mode = {mode}")
    for table in tables:
        db.execute(TABLE.format(t=table))
        db.execute(FILL.format(t=table, rows=rows, factor=factor))
    db.close()


def made(*form, **more):
    """The path of such a database."""
    path = views.new()
    make(path, *form, **more)
    return path


def has(db, setting):
    """Whether the extension has a setting."""
    sql = "SELECT count(*) FROM clreduce_settings WHERE name = ?"
    return bool(support.value(db, sql, setting))


class Client:
    """A connection of a pool, with the views of one table.

    retention: milliseconds that columns stay after a file's last connection, where that can be set.
    before: statements that come before the views.
    """

    def __init__(self, path, label="", table="t", retention=None, before=(), selects=None, **options):
        self.label, self.db = label or path, views.connect(path, column_memory=None, **options)
        for sql in before:
            self.db.execute(sql)
        if retention is not None and has(self.db, "column_retention"):
            support.configure(self.db, column_retention=retention)
        self.selects = {name: text.format(t=table) for name, text in (SELECTS if selects is None else selects).items()}
        self.problems = [views.create(self.db, name, text) for name, text in self.selects.items()]

    def run(self, sql, *parameters):
        """Runs a statement; its rows."""
        return self.db.execute(sql, parameters).fetchall()

    def check(self, batch, step, names=None):
        """Compares views with their SELECTs in one transaction, or in the one that is open."""
        inside = self.db.in_transaction
        if not inside:
            self.run("BEGIN")
        for name in names or self.selects:
            got = views.ask(self.db, name)
            TALLY.add(self.db, name)
            batch.compare(got, views.outcome(self.db, self.selects[name]), f"{step}: {self.label}, {name}")
        if not inside:
            self.run("COMMIT")

    def decoded(self):
        """How many bytes of pages were read for this connection's views so far, and rows loaded."""
        found = support.stats(self.db)
        return found["bytes_decoded"] + found["rows_loaded"]

    def accelerated(self, name):
        """Whether the view's last answer came without SQLite's rows."""
        return views.accelerated(self.db, name)

    def evict(self):
        """Frees what can be freed; the bytes of that."""
        return support.value(self.db, "SELECT clreduce_evict()")

    def close(self):
        """Closes the connection."""
        self.db.close()


def check_all(clients, batch, step, names=None):
    """Has the clients compare their views, one after the other."""
    for client in clients:
        client.check(batch, step, names)


def close_all(clients):
    """Closes their connections."""
    for client in clients:
        client.close()
