"""The gate of plain SQL: what statements of applications take through the preloaded library, beside the same plainly.

Both run in fresh Python processes that nobody changed, which alternate. A cell is a statement over a table of some size:
its first run in a process, and the median of its later ones; of both the median of some processes, whose number does not
depend on what they measure. A cell is slower if it is by the medians of the first half of the processes, and by those of the
second: the machine has slow minutes. The plain program is measured twice, as if it were two: the second one, the control,
shows how many cells are slower by chance. By itself the module makes the table of docs/plain-sql.md:

    python3 bench/measuring/gate.py BUILD [ROWS]
"""

import hashlib
import json
import os
import pathlib
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

PYTHON = "/usr/bin/python3"
SIZES = (10, 100, 1_000, 10_000, 100_000, 1_000_000, 3_000_000)
#: The ways to run the program, and their processes: of cells that take SQLite microseconds, which differ more from one
#: process to the next, and of scans of more rows than SMALL.
WAYS = ("plain", "preloaded", "control")
SMALL, PROCESSES, LONG_PROCESSES = 10_000, 60, 6
#: The later runs of a statement in a process: so many, unless they take longer, and at least LEAST.
RUNS, SECONDS, LEAST = 12, 0.3, 3
#: A cell is slower if it takes more than so many times as long, and so many seconds.
FACTOR, MORE = 1.05, 5e-6

#: Statements of one table, and what their parameters are: an id, a user, an amount, or a range of ids. "+" begins what is
#: written before each run. These take SQLite microseconds in a table of any size.
QUICK = (
    ("one row by its key", "SELECT * FROM {t} WHERE id = ?", "i"),
    ("a key written in the text", "SELECT amount FROM {t} WHERE id = {i}", ""),
    ("a key and a condition", "SELECT amount FROM {t} WHERE id = ? AND kind = 'view'", "i"),
    ("rows by an index", "SELECT id, amount, note FROM {t} WHERE user_id = ?", "u"),
    ("count by an index", "SELECT count(*) FROM {t} WHERE user_id = ?", "u"),
    ("sum by an index", "SELECT sum(amount), max(ts) FROM {t} WHERE user_id = ?", "u"),
    ("exists", "SELECT EXISTS (SELECT 1 FROM {t} WHERE user_id = ?)", "u"),
    ("the last rows", "SELECT id, kind, amount FROM {t} ORDER BY id DESC LIMIT 10", ""),
    ("a page", "SELECT id, kind, amount FROM {t} WHERE id > ? ORDER BY id LIMIT 20", "i"),
    ("a range of keys", "SELECT count(*), sum(amount) FROM {t} WHERE id BETWEEN ? AND ?", "r"),
    ("max of the key", "SELECT max(id) FROM {t}", ""),
    ("the first that fit", "SELECT id FROM {t} WHERE kind = 'buy' AND amount < ? LIMIT 5", "a"),
)
#: These have it go over the table.
SCANS = (
    ("all rows", "SELECT count(*) FROM {t}", ""),
    ("count where", "SELECT count(*) FROM {t} WHERE kind = 'buy'", ""),
    ("sum", "SELECT sum(amount), avg(amount) FROM {t}", ""),
    ("sum where", "SELECT sum(amount) FROM {t} WHERE kind = 'buy' AND amount > ?", "a"),
    ("few groups", "SELECT kind, count(*), sum(amount) FROM {t} GROUP BY kind ORDER BY 2 DESC", ""),
    ("many groups", "SELECT user_id, count(*) AS c, avg(amount) FROM {t} GROUP BY user_id ORDER BY c DESC, user_id LIMIT 10", ""),
    ("days", "SELECT date(ts) AS day, count(*) FROM {t} GROUP BY day ORDER BY day", ""),
    ("distinct", "SELECT DISTINCT kind FROM {t}", ""),
    ("many rows", "SELECT id, kind, amount FROM {t} WHERE kind = 'view' LIMIT 10000", ""),
    ("rows that a scan finds", "SELECT id, amount FROM {t} WHERE amount > 99990 ORDER BY id", ""),
    ("text that does not repeat", "SELECT count(*) FROM {t} WHERE note LIKE '%99%'", ""),
    ("a join", "SELECT u.country, count(*) FROM {t} AS e JOIN users AS u ON u.id = e.user_id GROUP BY u.country", ""),
    ("a subquery", "SELECT count(*) FROM (SELECT kind FROM {t} WHERE amount > ?)", "a"),
    ("a table filled by groups", "REPLACE INTO filled SELECT kind, count(*), max(amount) FROM {t} GROUP BY kind", ""),
    ("after an insert", "+INSERT INTO {t}(user_id, kind, amount, ts, note) VALUES(1, 'buy', 1, '2024-01-01', 'x')", ""),
)
AFTER = "SELECT count(*), max(amount) FROM {t} WHERE kind = 'buy'"
FILLED = "SELECT * FROM filled ORDER BY kind"


def make(path, sizes):
    """The database: a table of each size, with an index, and users."""
    rng = random.Random(1)
    db = sqlite3.connect(path)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("CREATE TABLE users(id INTEGER PRIMARY KEY, country TEXT)")
    db.execute("CREATE TABLE filled(kind TEXT PRIMARY KEY, n INT, most INT)")
    db.executemany("INSERT INTO users VALUES(?, ?)", ((i, rng.choice("ABCDEFGH")) for i in range(1000)))
    for size in sizes:
        db.execute(f"CREATE TABLE t{size}(id INTEGER PRIMARY KEY, user_id INT, kind TEXT, amount INT, ts TEXT, note TEXT)")
        db.executemany(f"INSERT INTO t{size} VALUES(?, ?, ?, ?, ?, ?)", (
            (i, rng.randrange(1000), rng.choice(("view", "view", "click", "buy")), rng.randrange(100_000),
             f"2024-{i * 12 // size % 12 + 1:02}-{i * 336 // size % 28 + 1:02} 10:00:{i % 60:02}", f"note {i * 7919 % size}")
            for i in range(size)))
        db.execute(f"CREATE INDEX by_user{size} ON t{size}(user_id)")
        db.commit()
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()


def parameters_of(rng, kind, size):
    """Values for the parameters of a statement."""
    low = rng.randrange(size)
    return {"": (), "i": (low,), "u": (rng.randrange(1000),), "a": (rng.randrange(99_000),), "r": (low, low + 50)}[kind]


def child(path, cells):
    """Runs the statements, and prints for each its first time, the median of the later ones, and a hash of its rows."""
    statements = {name: (sql, kind) for name, sql, kind in QUICK + SCANS}
    db = sqlite3.connect(path, isolation_level=None)
    # Disks are not measured.
    db.execute("PRAGMA synchronous = OFF")
    db.execute("SELECT count(*) FROM users").fetchall()
    told = []
    for name, size in cells:
        sql, kind = statements[name]
        rng = random.Random(name + str(size))
        times, rows, end = [], hashlib.sha256(), time.perf_counter() + SECONDS
        while len(times) <= LEAST or (len(times) <= RUNS and time.perf_counter() < end):
            text = sql.replace("{t}", f"t{size}").replace("{i}", str(rng.randrange(size)))
            if text.startswith("+"):
                db.execute("BEGIN")
                db.execute(text[1:])
                db.execute("COMMIT")
                text = AFTER.replace("{t}", f"t{size}")
            parameters = parameters_of(rng, kind, size)
            start = time.perf_counter()
            found = db.execute(text, parameters).fetchall()
            times.append(time.perf_counter() - start)
            if " filled " in sql:
                found = db.execute(FILLED).fetchall()
            if len(times) <= LEAST:
                rows.update(repr(found).encode())
        told.append([name, size, times[0], statistics.median(times[1:]), rows.hexdigest()])
    # The next process finds the tables as they were.
    for size in dict.fromkeys(size for _, size in cells):
        db.execute(f"DELETE FROM t{size} WHERE id >= {size}")
    db.execute("DELETE FROM filled")
    db.close()
    print(json.dumps(told))


def run(build, path, cells, way):
    """What a process measured, by cell."""
    command = [PYTHON, __file__, "--child", path, json.dumps(cells)]
    if way == "preloaded":
        command = [str(build / "clreduce-run"), "--quiet", "--", *command]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "CLREDUCE_SETTINGS": "override=off,keep_answers=off," + os.environ.get("CLREDUCE_SETTINGS", "")})
    return {(name, size): (first, later, rows) for name, size, first, later, rows in json.loads(ran.stdout)}


def measure_cells(build, sizes=SIZES, turn=(1, 1)):
    """The cells, in the order of statements and sizes: the medians of the processes of each way, and whether all rows were
    the same. turn: a run's number and how many there are, each of which takes some of the statements."""
    parts = {PROCESSES: [], LONG_PROCESSES: []}
    run, runs = turn
    for size in sizes:
        for statements in (QUICK, SCANS):
            parts[LONG_PROCESSES if statements is SCANS and size > SMALL else PROCESSES] += [
                (name, size) for name, _, _ in statements[run - 1::runs]]
    found = {}
    with tempfile.TemporaryDirectory(prefix="clreduce-gate-") as folder:
        path = os.path.join(folder, "gate.db")
        make(path, sizes)
        for count, cells in parts.items():
            found.update(measure_part(build, path, cells, count))
    return [found[name, size] for name, _, _ in QUICK + SCANS for size in sizes if (name, size) in found]


def measure_part(build, path, cells, count):
    """Some cells, by so many processes of each way."""
    measured = {way: [] for way in WAYS}
    for number in range(count if cells else 0):
        # Each way is as often the first as the others, and the last.
        for way in (WAYS[number % 3:] + WAYS[:number % 3])[::(-1) ** number]:
            measured[way].append(run(build, path, cells, way))

    def medians(cell, i, part=slice(None)):
        return [statistics.median(told[cell][i] for told in measured[way][part]) for way in WAYS]

    halves = slice(count // 2), slice(count // 2, None)
    return {
        cell: {
            "name": cell[0], "rows": cell[1],
            **{when: medians(cell, i) for i, when in enumerate(("first", "later"))},
            "halves": {when: [medians(cell, i, half) for half in halves] for i, when in enumerate(("first", "later"))},
            "same": len({told[cell][2] for way in WAYS for told in measured[way]}) == 1,
        } for cell in cells}


#: What the README's first lines ask.
SHELL = "SELECT kind, count(*), sum(amount) FROM t{size} GROUP BY kind"


def shell_times(build, sizes=SIZES):
    """Seconds of the shell with one SELECT over the largest table, plainly and through clreduce-run, and of a run when it
    comes again: medians of five processes of each, which alternate."""
    sql, times = SHELL.replace("{size}", str(max(sizes))), {"plain": [], "first": [], "again": []}
    with tempfile.TemporaryDirectory(prefix="clreduce-gate-") as folder:
        path = os.path.join(folder, "gate.db")
        make(path, (max(sizes),))
        for _ in range(5):
            for name, start in (("plain", []), ("first", [str(build / "clreduce-run"), "--quiet", "--"])):
                begin = time.perf_counter()
                subprocess.run([*start, "sqlite3", path, sql], check=True, capture_output=True)
                times[name].append(time.perf_counter() - begin)
            told = subprocess.run([str(build / "clreduce-run"), "--quiet", "--", "sqlite3", "-init", "/dev/null", path], check=True,
                                  capture_output=True, text=True, input=f"{sql};\n.timer on\n" + f"{sql};\n" * 9).stdout
            times["again"].append(statistics.median(float(line.split()[3]) for line in told.splitlines() if line.startswith("Run Time: real")))
    return {name: statistics.median(found) for name, found in times.items()}


def slower(found, way):
    """The cells in which a way of running the program is slower than the plain one in both halves, with the seconds of both
    ways."""
    number = WAYS.index(way)
    return [(cell["name"], cell["rows"], when, cell[when][0], cell[when][number]) for cell in found for when in ("first", "later")
            if all(half[number] > half[0] * FACTOR + MORE for half in cell["halves"][when])]


def summary(found):
    """What a user wants to know of the cells."""
    return {
        "count": 2 * len(found),
        "quicker": sum(cell[when][1] * 2 < cell[when][0] for cell in found for when in ("first", "later")),
        "slower": slower(found, "preloaded"),
        "slower_by_chance": slower(found, "control"),
        "different": [(cell["name"], cell["rows"]) for cell in found if not cell["same"]],
    }


def table(found):
    """The cells as Markdown: how many times as fast, first and later."""
    sizes = sorted({cell["rows"] for cell in found})
    by = {(cell["name"], cell["rows"]): cell for cell in found}
    lines = ["| first, later | " + " | ".join(f"{size:,}" for size in sizes) + " |", "| --- |" + " ---: |" * len(sizes)]
    for name in dict.fromkeys(cell["name"] for cell in found):
        ratios = [[by[name, size][when][0] / by[name, size][when][1] for when in ("first", "later")] for size in sizes]
        lines.append(f"| {name} | " + " | ".join(", ".join(f"{ratio:.3g}" for ratio in pair) for pair in ratios) + " |")
    return "\n".join(lines)


def measure(tools, _machine):
    """The part of bench/run.py."""
    sizes = [size for size in SIZES if size <= max(1_000, tools.rows)]
    build = pathlib.Path(os.environ.get("CLREDUCE_BUILD", ".")).resolve()
    found = measure_cells(build, sizes, (tools.run, tools.runs))
    told = summary(found)
    failures = [f"{len(told['different'])} cells differ"] if told["different"] else []
    try:
        told["shell"] = shell_times(build, sizes)
    except (OSError, subprocess.CalledProcessError) as error:
        failures.append(f"the shell's times are not measured: {error}")
    print(table(found), told, sep="\n", file=sys.stderr)
    return {"cells": found, **told}, "; ".join(failures) or None


def main():
    """A process of the measurement, or the table by itself."""
    if sys.argv[1] == "--child":
        child(sys.argv[2], json.loads(sys.argv[3]))
        return
    build, most = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) > 2 else max(SIZES)
    sizes = [size for size in SIZES if size <= most]
    found = measure_cells(build, sizes)
    print(table(found), *(f"{name}: {value}" for name, value in summary(found).items()), sep="\n", flush=True)
    print(f"shell: {shell_times(build, sizes)}")


if __name__ == "__main__":
    main()
