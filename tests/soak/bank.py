"""The database of the soak: accounts whose amounts move about and whose sum never changes."""

import sqlite3
import time

ROWS = 3000
TOTAL = sum(range(1, ROWS + 1))

#: What SQLite may say where others write, and what makes asking again worthwhile.
BUSY = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL")

#: The SELECTs whose views are asked, each with the values of its parameters.
SELECTS = {
    "whole": ("SELECT gpu_sum(amount), count(*), gpu_max(stamp) FROM account", ()),
    "part": (
        "SELECT gpu_sum(amount), count(amount), gpu_avg(rate), min(amount), gpu_dot(amount, rate)"
        " FROM account WHERE id > :least AND owner <> 3",
        (ROWS // 3,),
    ),
    "moments": ("SELECT gpu_var_pop(amount), gpu_corr(amount, rate), gpu_stddev_samp(rate) FROM account", ()),
    "ranks": (
        "SELECT gpu_median(amount), gpu_percentile_disc(rate, 0.9), gpu_count_distinct(owner)"
        " FROM account",
        (),
    ),
    "bins": ("SELECT gpu_histogram(rate, 0, 1000, 50) FROM account", ()),
    "notes": ("SELECT gpu_count_distinct(note), gpu_max(note), count(note) FROM account", ()),
}

#: Those that no device answers: it has no TEXT, and the order of a column is the host's.
HOSTS = ("notes", "ranks")


def create(path, mode, page_size):
    """The database, over many pages."""
    db = sqlite3.connect(path, isolation_level=None)
    db.execute(f"PRAGMA page_size = {page_size}")
    db.execute(f"PRAGMA journal_mode = {mode if mode == 'WAL' else 'DELETE'}")
    db.execute(
        "CREATE TABLE account(id INTEGER PRIMARY KEY, owner INT, amount INT, rate REAL, note TEXT,"
        " stamp INT)"
    )
    db.execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
        " INSERT INTO account SELECT i, i % 17, i, i * 0.37,"
        " CASE i % 20 WHEN 0 THEN hex(zeroblob(i % 1000)) ELSE 'note ' || i END, 0 FROM n",
        (ROWS,),
    )
    db.close()


def problems(path):
    """What is wrong with the database in the end: a list of texts."""
    db = sqlite3.connect(path, isolation_level=None, timeout=30)
    found = [text for (text,) in db.execute("PRAGMA integrity_check") if text != "ok"]
    sums = db.execute("SELECT sum(amount), count(*) FROM account").fetchone()
    db.close()
    if sums != (TOTAL, ROWS):
        found.append(f"sum and count are {sums} in the end, and not {(TOTAL, ROWS)}")
    return found


def is_busy(error):
    """Whether it is one of those that other connections' work explains."""
    return getattr(error, "sqlite_errorname", "").startswith(BUSY)


def run(client, end, pause):
    """Has a reader or a writer take steps until END, a time, and closes its connection.

    A step that another connection's work stops is rolled back and counted. Between two steps there is
    a pause of up to so many seconds, in which others get their turn.
    """
    while time.time() < end:
        try:
            client.step()
        except sqlite3.OperationalError as error:
            if not is_busy(error):
                raise
            client.counted.add("busy")
            if client.db.in_transaction:
                client.db.execute("ROLLBACK")
        time.sleep(client.rng.random() * pause)
    client.db.close()
