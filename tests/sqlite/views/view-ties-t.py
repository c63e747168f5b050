"""The top of a table by count, where an index has the keys, and has a name that looks like a part of a query's plan: which
way SQLite goes over the groups stands in its code. view-random-t.py has random tables and SELECTs of this kind.
"""

import tap
import view_support as views
from domains import Ties, connect

FOLDER = views.Folder()


def main():
    for name in Ties.names:
        db = connect(FOLDER.new())
        quoted = name.replace('"', '""')
        db.execute("CREATE TABLE t(k INT, x INT)")
        db.executemany("INSERT INTO t VALUES(?, ?)", ((i * 7 % 50, i) for i in range(500)))
        db.execute(f'CREATE INDEX "{quoted}" ON t(k DESC)')
        for select in ("SELECT k, count(*) FROM t GROUP BY k ORDER BY count(*) DESC LIMIT 3",
                       "SELECT k, count(*) FROM t GROUP BY k", "SELECT DISTINCT k FROM t LIMIT 3"):
            views.is_fast(db, select)
        db.close()
    tap.done()


main()
