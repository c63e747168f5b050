"""Real data: flight records, the aggregates beside SQLite's own and beside known answers."""

import csv
import os

import support
import tap
from reference import answer

DATA = os.path.join(support.ROOT, "tests", "data", "flights.csv")

#: Twins that must agree in every bit: the columns are integers, whose sums the built-ins get right.
TWINS = ["{}sum(delay)", "{}total(distance)", "{}avg(delay)", "{}min(delay)", "{}max(delay)", "{}min(origin)", "{}max(date)"]
QUERIES = [
    "SELECT {calls} FROM flights",
    "SELECT {calls} FROM flights WHERE delay > 60",
    "SELECT origin, {calls} FROM flights GROUP BY origin ORDER BY origin",
    "SELECT substr(date, 1, 10) AS day, {calls} FROM flights GROUP BY day HAVING {one} > 0 ORDER BY day",
    "SELECT origin, destination, {calls} FROM flights GROUP BY origin, destination ORDER BY 1, 2",
]
MOVING = (
    "SELECT {0}avg(delay) OVER w, {0}max(delay) OVER w, {0}sum(distance) OVER w FROM flights WHERE origin IN ('SFO', 'ORD')"
    " WINDOW w AS (PARTITION BY origin ORDER BY date, rowid ROWS BETWEEN 49 PRECEDING AND CURRENT ROW)"
)


#: Computed from the file with exact rational arithmetic, without SQLite: see tests/data/README.md.
KNOWN = {
    "gpu_sum(delay)": 125808,
    "gpu_sum(distance)": 14694020,
    "gpu_dot(delay, distance)": 87322069,
    "gpu_min(delay)": -80,
    "gpu_max(delay)": 919,
    "gpu_min(distance)": 31,
    "gpu_max(distance)": 4962,
    "gpu_avg(delay)": 6.2904,
    "gpu_avg(distance)": 734.701,
}


def load(db):
    """The flights as a table; how many there are."""
    db.execute("CREATE TABLE flights(date TEXT, delay INT, distance INT, origin TEXT, destination TEXT)")
    with open(DATA, encoding="utf-8", newline="") as file:
        records = list(csv.DictReader(file))
    db.executemany("INSERT INTO flights VALUES (:date, :delay, :distance, :origin, :destination)", records)
    return len(records)


def test_flights(mode):
    """Known answers, whole queries beside SQLite's, a moving average, and sums where SQLite rounds: kilometres, and squares."""
    db = support.connect(mode, chunk_size=1000, host_threshold=1)
    count = load(db)
    tap.is_equal(support.value(db, "SELECT count(*) FROM flights"), count, f"{mode}: {count} flights")
    known = db.execute(f"SELECT {', '.join(KNOWN)} FROM flights").fetchone()
    tap.is_equal(known, tuple(KNOWN.values()), f"{mode}: the known answers")
    for query in QUERIES:
        both = []
        for prefix in ("", "gpu_"):
            calls = [call.format(prefix) for call in TWINS]
            calls.append("gpu_dot(delay, distance)" if prefix else "sum(delay * distance)")
            both.append(db.execute(query.format(calls=", ".join(calls), one=calls[0])).fetchall())
        tap.is_equal(both[1], both[0], f"{mode}: {query}")
    tap.is_equal(db.execute(MOVING.format("gpu_")).fetchall(), db.execute(MOVING.format("")).fetchall(), f"{mode}: moving averages")
    query = "SELECT {} FROM (SELECT distance * 1.609344 AS x, delay / 60.0 AS y FROM flights)"
    pairs = db.execute(query.format("x, y")).fetchall()
    for function in support.FUNCTIONS:
        got = support.value(db, query.format(support.call(function)))
        tap.is_equal(got, answer(function, pairs), f"{mode}: {function} of kilometres and hours is exact")
    if mode != "host":
        support.took_part(db, "the flights")


def test_device():
    """Whether there is one."""
    support.skip_device(1, "flights on a device")


support.run(globals(), mode=support.modes())
