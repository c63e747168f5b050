#!/usr/bin/env python3
"""Random scripts of statements, run by two processes: plainly, and through the preloaded library, print the same.

A script writes, asks, begins and ends transactions, changes the schema, and leaves statements half read, by two
connections of one database; every table is answered by views (view_threshold 0).

    preload-random-t.py [SECONDS]

goes on for so long; otherwise it runs some scripts.
"""

import itertools
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "sqlite"))

import support  # noqa: E402
import tap  # noqa: E402
from domains import DAYS, NUMBERS, WORDS, Groups, Inner  # noqa: E402
from generate import Writer  # noqa: E402

#: The tests' own variables are for nobody else.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("CLREDUCE_")}
PYTHON = "/usr/bin/python3"
RUN = pathlib.Path(os.environ.get("CLREDUCE_BUILD", tap.BUILDDIR)).resolve() / "clreduce-run"
#: What a program does with SQLite's own functions alone.
OWN = re.compile(r"\bgpu_(sum|total|avg|min|max)\(")
#: A line of the report: runs, and those that were accelerated.
COUNTS = re.compile(r"^clreduce-run: +(\d+) +(\d+) (.*?(?: INSERT | REPLACE | UPDATE | DELETE | CREATE ))?", re.MULTILINE)
CHANGES = (
    "INSERT INTO t(x, n, city, day, kind, price) SELECT x + 1, n, city, day, kind, price FROM t WHERE id % 50 = {n}",
    "UPDATE t SET n = n + 1 WHERE id % 17 = {n}", "DELETE FROM t WHERE id % 97 = {n}", "UPDATE t SET city = 'new' || id WHERE id % 331 = {n}",
    "CREATE INDEX IF NOT EXISTS i{n} ON t(kind)", "DROP INDEX IF EXISTS i{n}", "ALTER TABLE t ADD COLUMN extra{n}", "ALTER TABLE t DROP COLUMN extra{n}",
    "CREATE TEMP TABLE t AS SELECT * FROM main.t WHERE id < 40", "DROP TABLE temp.t", "ALTER TABLE t RENAME TO u", "ALTER TABLE u RENAME TO t",
    "CREATE VIEW v{n} AS SELECT kind, count(*) AS c FROM t GROUP BY kind", "DROP VIEW v{n}", "ATTACH ':memory:' AS other", "DETACH other",
    "CREATE TABLE other.t(x, n, city)", "ANALYZE", "REINDEX", "VACUUM", "PRAGMA user_version = {n}", "INSERT INTO t(id) VALUES({n})",
    "UPDATE t SET x = (SELECT avg(x) FROM t) WHERE id = {n} RETURNING x", "PRAGMA case_sensitive_like = 1", "PRAGMA case_sensitive_like = 0",
    "PRAGMA query_only = 1", "PRAGMA query_only = 0", "PRAGMA count_changes = 0", "PRAGMA full_column_names = 1", "PRAGMA full_column_names = 0",
)
#: What writes SELECTs' rows, each followed by what it wrote.
WRITES = ("CREATE TABLE w AS {select}", "CREATE TEMP TABLE w AS {select}", "INSERT INTO w SELECT * FROM ({select})", "DROP TABLE w",
          "INSERT INTO s(b) SELECT count(*) FROM ({select})", "UPDATE s SET b = b + (SELECT count(*) FROM ({select})) WHERE a > 'k'",
          "DELETE FROM s WHERE b = (SELECT max(n) FROM t) OR b IN (SELECT n FROM t GROUP BY n HAVING count(*) > 9)",
          "INSERT INTO s SELECT kind, count(*), max(x) FROM t WHERE id > {n} GROUP BY kind",
          "INSERT OR REPLACE INTO s SELECT kind, count(*), max(n) FROM t WHERE id > {n} GROUP BY 1 ORDER BY 2 DESC LIMIT 3",
          "INSERT OR IGNORE INTO s SELECT day, count(*), avg(n) FROM t GROUP BY day", "INSERT OR FAIL INTO s SELECT city, n, max(id) FROM t GROUP BY city",
          "INSERT INTO s SELECT kind, count(*), {n} FROM t WHERE n > {n} GROUP BY kind ON CONFLICT(a) DO UPDATE SET b = b + (SELECT min(n) FROM t)",
          "WITH g AS (SELECT kind AS k, count(*) AS c FROM t GROUP BY kind) UPDATE s SET b = c FROM g WHERE k = a",
          "REPLACE INTO s SELECT s.a, count(*), max(t.n) FROM t JOIN s ON s.a = t.kind GROUP BY 1", "DELETE FROM s WHERE c < (SELECT avg(n) FROM t)",
          "CREATE TRIGGER IF NOT EXISTS fill AFTER INSERT ON s BEGIN UPDATE t SET n = n + 1 WHERE id = new.b % 7; END", "DROP TRIGGER IF EXISTS fill")
WRITTEN = "SELECT rowid, *, (SELECT sql FROM temp.sqlite_master WHERE name = 'w'), (SELECT sum(n) FROM t) FROM {table}"
TRANSACTIONS = ("BEGIN", "BEGIN IMMEDIATE", "COMMIT", "ROLLBACK", "SAVEPOINT s", "ROLLBACK TO s", "RELEASE s")
ASIDE = ("SELECT changes(), total_changes(), last_insert_rowid()", "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY 2",
         "SELECT type, name, sql FROM temp.sqlite_master", "PRAGMA table_info(t)", "EXPLAIN SELECT 1", "SELECT name FROM pragma_database_list",
         "SELECT * FROM v3", "SELECT nosuch FROM t", "SELECT * FROM nosuch", "SELECT count(*) FROM t WHERE", "SELECT abs('x'), 1/0")
FILLED = "CREATE TABLE s(a TEXT PRIMARY KEY, b INTEGER, c REAL CHECK(c < 1e6))"
TABLE = "CREATE TABLE t(id INTEGER PRIMARY KEY, x REAL, n INTEGER, " + ", ".join(f'"{name}" {kind}' for name, kind in Groups.columns.items()) + ")"


def write_script(rng, steps):
    """Steps: the connection's number, the statement, its parameters, and how many of its rows are read; None: all."""
    writers = [Writer(rng, section, Groups.words, lambda rng: rng.choice((*WORDS, *NUMBERS, *DAYS, None)))
               for section in ("groups", "groups", "inner", "ctes")]
    selects, script = [], []
    for _ in range(steps):
        kind, db = rng.random(), rng.choice((0, 0, 0, 1))
        if kind < 0.55:
            if not selects or rng.random() < 0.4:
                text, values = rng.choice(writers).select()
                text = OWN.sub(r"\1(", text)
                if "gpu_" in text or "backwards" in text:
                    continue
                selects.append((text, values))
            text, values = rng.choice(selects[-6:])
            script.append((db, text, values, rng.choice((None, None, None, 1, 3))))
        elif kind < 0.65 and selects:
            text, values = rng.choice(selects[-6:])
            text = rng.choice(WRITES).replace("{n}", str(rng.randrange(9))).replace("{select}", text)
            script += [(db, text, values if "?" in text or ":" in text else (), None),
                       (db, WRITTEN.replace("{table}", "w" if " w" in text[:25] else "s"), (), None)]
        elif kind < 0.75:
            # No text comes twice, so that Python keeps no statement: one that SQLite prepares anew in vain may have locked the
            # database before, where nothing has expired it.
            script.append((db, f'{rng.choice(CHANGES).replace("{n}", str(rng.randrange(5)))} -- {len(script)}', (), None))
        elif kind < 0.88:
            script.append((db, rng.choice(TRANSACTIONS), (), None))
        else:
            script.append((db, rng.choice(ASIDE), (), None))
    return script


def fill(rng, database):
    """Makes a database."""
    db = sqlite3.connect(database)
    db.execute(f"PRAGMA journal_mode = {rng.choice(('delete', 'wal'))}")
    db.execute(TABLE)
    db.execute(FILLED)
    Groups.add(db, rng, 800)
    db.executescript(Inner.shown)
    db.commit()
    db.close()


def run(script, filled, preloaded):
    """What a process prints that has a copy of a database, and how many runs there were, how many accelerated, and how many of
    these wrote."""
    database = filled.with_name(f"{preloaded}.db")
    shutil.copy(filled, database)
    command = [PYTHON, str(HERE / "run_script.py"), str(script), str(database)]
    if preloaded:
        command = [str(RUN), "--report", "--", *command]
    ran = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=300, check=False,
                         env={**ENVIRONMENT, "CLREDUCE_SETTINGS": "view_threshold=0,device=host,override=off"})
    told = COUNTS.findall(ran.stderr)
    counts = [sum(int(line[column]) for line in told if line[2] or not writes) for column, writes in ((0, False), (1, False), (1, True))]
    return ran.stdout + f"exit {ran.returncode}", counts, ran.stderr


def main():
    """Compares the scripts' outputs."""
    if not RUN.exists() or not shutil.which(PYTHON):
        tap.skip_all(f"there is no {RUN}, or no {PYTHON}")
    rng = support.seed()
    batch, runs, accelerated, writes = support.Batch("the same output"), 0, 0, 0
    with tempfile.TemporaryDirectory(prefix="clreduce-random-") as name:
        end = time.monotonic() + float(sys.argv[1]) if len(sys.argv) > 1 else None
        for number in range(12 if tap.QUICK else 120) if end is None else itertools.count():
            if end is not None and time.monotonic() > end:
                break
            folder = pathlib.Path(name) / str(number)
            folder.mkdir()
            if number > 0:
                shutil.rmtree(folder.with_name(str(number - 1)))
            script, filled = folder / "script", folder / "filled.db"
            script.write_text(repr(write_script(rng, 120)), encoding="utf-8")
            fill(rng, filled)
            want, _, _ = run(script, filled, False)
            got, counts, errors = run(script, filled, True)
            runs, accelerated, writes = runs + counts[0], accelerated + counts[1], writes + counts[2]
            if not batch.compare(got.splitlines(), want.splitlines(), f"script {number}"):
                tap.diag(errors[-400:])
    batch.end()
    tap.ok(accelerated * 20 > runs > 0, f"one in twenty is accelerated: {accelerated} of {runs}")
    tap.ok(writes > 0, f"and some that write: {writes}")
    tap.done()


main()
