"""A program that nobody changed: runs a script of preload-random-t.py.

    run_script.py SCRIPT DATABASE
"""

import sqlite3
import sys


def main(path, database):
    """Runs the script, and prints what comes out of each step."""
    with open(path, encoding="utf-8") as file:
        script = eval(file.read())  # pylint: disable=eval-used # what write_script() wrote
    dbs = [sqlite3.connect(database, isolation_level=None, timeout=0) for _ in range(2)]
    held = []
    for number, (which, sql, values, most) in enumerate(script):
        db = dbs[which]
        cursor = db.cursor()
        # Where two statements run SQLite keeps the read transactions by which it attaches a database, or looks for a missing
        # table, until the transaction ends, and an accelerated statement may be two.
        if sql.startswith("DETACH"):
            held = []
            if db.in_transaction:
                continue
        if sql.startswith("REINDEX"):
            # It takes the indexes that the connection knows, perhaps of before another one has made some. An accelerated
            # statement has looked at the schema since then.
            db.execute("SELECT count(*) FROM main.sqlite_master").fetchall()
        try:
            cursor.execute(sql, values)
            rows = cursor.fetchall() if most is None else cursor.fetchmany(most)
            told = (cursor.description and [column[0] for column in cursor.description], rows)
            if most is not None:
                held = [*held[-2:], cursor]
        except sqlite3.Error as error:
            told = f"{type(error).__name__}: {error}"
        print(number, sql, ascii(told), db.in_transaction, db.total_changes)
    for db in reversed(dbs):
        db.close()


main(*sys.argv[1:])
