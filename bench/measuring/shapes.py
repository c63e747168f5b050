"""SELECTs as applications write them, through the preloaded library and plainly.

Each runs in Python processes of its own, which nobody changed, plainly and through clreduce-run by turns: its first run, its
second one, and the median of the later ones; the best of some processes. By itself the module makes a table of them, or of
those whose names it is given:

    python3 bench/measuring/shapes.py BUILD [NAME...]
"""

import collections
import contextlib
import datetime
import json
import math
import os
import pathlib
import re
import sqlite3
import statistics
import subprocess
import sys
import time
import zlib

if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from measuring import shapes_queries

PYTHON = "/usr/bin/python3"
ROWS, ROUNDS = 1_000_000, 3
#: The later runs of a process: not fewer, and not more unless they take less time.
LEAST, MOST, SECONDS = 5, 20, 1.0
#: What a SELECT is wanted to be: so many times as fast later, and in its first two runs not so many times as slow.
WANTED, SLOWER = 10, 1.3

#: times: seconds of the first run, of the second one, and of the later ones.
Run = collections.namedtuple("Run", "times rows told")


def make(path, rows):
    """Makes the database, unless it is there with as many rows and of this day."""
    today = datetime.datetime.now(datetime.timezone.utc).date()
    version = zlib.crc32(f"{rows} {today} {shapes_queries.TABLES}".encode()) >> 1
    with contextlib.closing(sqlite3.connect(path)) as found:
        if found.execute("PRAGMA user_version").fetchone()[0] == version:
            return
    os.remove(path)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as made:
        made.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + shapes_queries.TABLES)
        made.execute("BEGIN")
        for name, listed in shapes_queries.tables(rows, today):
            columns = len(made.execute(f"PRAGMA table_info({name})").fetchall())
            made.executemany(f"INSERT INTO {name} VALUES({', '.join('?' * columns)})", listed)
        made.execute("COMMIT")
        made.executescript(shapes_queries.INDEXES + f"ANALYZE; PRAGMA user_version = {version}")


def dated(query):
    """A query's SQL and its parameters, with their days."""
    middle = datetime.datetime.now(datetime.timezone.utc).date() - datetime.timedelta(days=shapes_queries.DAYS // 2)
    days = {"{day}": str(middle), "{later}": str(middle + datetime.timedelta(days=7)), "{month}": str(middle)[:7]}
    texts = (query,) if isinstance(query, str) else query
    for place, day in days.items():
        texts = [text.replace(place, day) for text in texts]
    return texts[0], texts[1:]


def child(path, name):
    """Runs a query again and again, and prints its times and its rows."""
    sql, parameters = dated(shapes_queries.QUERIES[name])
    db = sqlite3.connect(path)
    db.execute("SELECT count(*) FROM sqlite_master").fetchall()
    times, end = [], math.inf
    while len(times) < 2 + LEAST or (len(times) < 2 + MOST and time.perf_counter() < end):
        if len(times) == 2:
            end = time.perf_counter() + SECONDS
        start = time.perf_counter()
        rows = db.execute(sql, parameters).fetchall()
        times.append(time.perf_counter() - start)
        if len(times) == 1:
            first = rows
    print(json.dumps([[*times[:2], statistics.median(times[2:])], [first, rows]]))


def run(build, path, name, is_preloaded):
    """What a process measured, and what clreduce said of the query."""
    command = [PYTHON, __file__, "--child", path, name]
    if is_preloaded:
        command = [str(build / "clreduce-run"), "--explain", "--", *command]
    settings = "keep_answers=off," + os.environ.get("CLREDUCE_SETTINGS", "")
    ran = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "CLREDUCE_SETTINGS": settings})
    times, rows = json.loads(ran.stdout)
    said = [line for line in ran.stderr.splitlines() if dated(shapes_queries.QUERIES[name])[0][:40] in line]
    told = re.search(r"clreduce-run: (?:by SQLite, as )?(.*?): \S+ s by SQLite, ", said[0]) if said else None
    return Run(times, rows, told[1] if told else "not looked at")


def are_same(ours, theirs):
    """Whether two results have the same rows in the same order, but for the rounding of sums, which clreduce's are free of."""
    if isinstance(ours, list):
        return isinstance(theirs, list) and len(ours) == len(theirs) and all(map(are_same, ours, theirs))
    return ours == theirs or (isinstance(ours, float) and isinstance(theirs, float) and math.isclose(ours, theirs, rel_tol=1e-9))


def measure_query(build, path, name, rounds):
    """A query's line."""
    runs = {False: [], True: []}
    for number in range(rounds):
        for is_preloaded in (False, True) if number % 2 == 0 else (True, False):
            runs[is_preloaded].append(run(build, path, name, is_preloaded))
    plain, through = ([min(run.times[which] for run in runs[way]) for which in range(3)] for way in (False, True))
    wanted = runs[False][0].rows[0]
    return {"name": name, "sql": dated(shapes_queries.QUERIES[name])[0], "plan": runs[True][-1].told,
            "plain": plain, "through": through, "speeds": [one / other for one, other in zip(plain, through)],
            "same": all(are_same(rows, wanted) for way in runs.values() for run in way for rows in run.rows)}


def measure_queries(build, path, names=(), rounds=ROUNDS, say=None):
    """All lines, or those of some names; each is said when it is known."""
    found = []
    for name in names or shapes_queries.QUERIES:
        found.append(measure_query(build, path, name, rounds))
        if say:
            say(line(found[-1]))
    return found


HEAD = "| | SQLite, ms | first | second | later | |\n| --- | ---: | ---: | ---: | ---: | --- |"


def line(row):
    """A query's line of the table in Markdown: SQLite's time, and how many times as fast the first, second and later runs are."""
    speeds = " | ".join(f"{speed:.3g}" for speed in row["speeds"])
    return f"| {row['name']} | {row['plain'][2] * 1e3:.0f} | {speeds} | {'' if row['same'] else 'DIFFERENT; '}{row['plan']} |"


def summary(found):
    """How many queries are as they are wanted."""
    return {"queries": len(found), "quick": sum(row["speeds"][2] >= WANTED for row in found),
            "slower": sum(min(row["speeds"][:2]) < 1 / SLOWER for row in found),
            "different": sum(not row["same"] for row in found)}


def told(counts):
    """The summary, for people."""
    return (f"of {counts['queries']}: {counts['quick']} at least {WANTED} times as fast later, {counts['slower']} more than {SLOWER} times"
            f" as slow in the first two runs, {counts['different']} different")


def measure(tools, _machine):
    """The part of bench/run.py: over a tenth of the rows."""
    path = os.path.join(tools.output, "shapes.db")
    make(path, max(tools.rows // 10, 1000))
    print(HEAD, file=sys.stderr, flush=True)
    names = tuple(shapes_queries.QUERIES)[tools.run - 1::tools.runs]
    found = measure_queries(pathlib.Path(tools.extension).parent, path, names, say=lambda text: print(text, file=sys.stderr, flush=True))
    counts = summary(found)
    print(told(counts), file=sys.stderr)
    failure = f"{counts['different']} queries differ" if counts["different"] else None
    return {"rows": found, **counts}, failure


def main():
    """A process of the measurement, or the table by itself."""
    if sys.argv[1] == "--child":
        child(*sys.argv[2:])
        return
    build = pathlib.Path(sys.argv[1]).resolve()
    (build / "bench-results").mkdir(exist_ok=True)
    path = str(build / "bench-results" / "shapes.db")
    make(path, ROWS)
    print(HEAD, flush=True)
    print(told(summary(measure_queries(build, path, sys.argv[2:], say=lambda text: print(text, flush=True)))))


if __name__ == "__main__":
    main()
