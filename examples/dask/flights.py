"""Makes a directory of SQLite files, one for each day, and asks one SELECT of all of them by Dask.

    flights.py FLIGHTS.CSV FOLDER [--workers 2] [--scheduler ADDRESS]

FLIGHTS.CSV has the columns date, delay, distance, origin and destination, as tests/data/flights.csv. FOLDER must be where
all workers see it. Without a scheduler's address the workers are processes of this machine.
"""

import argparse
import csv
import os
import sqlite3
from pathlib import Path

import clreduce.dask
from distributed import Client, LocalCluster

SELECT = """SELECT origin, count(*) AS flights, round(gpu_avg(delay), 2) AS mean, gpu_max(delay) AS worst
            FROM flights GROUP BY origin HAVING flights > 500 ORDER BY mean DESC"""


def make_shards(source, folder):
    """Writes the flights of each day into a file of its own, and returns the files' paths."""
    os.makedirs(folder, exist_ok=True)
    days = {}
    with open(source, newline="", encoding="utf-8") as file:
        for row in list(csv.reader(file))[1:]:
            days.setdefault(row[0][:10], []).append(row)
    for day, rows in days.items():
        path = Path(folder, f"{day}.db")
        path.unlink(missing_ok=True)
        database = sqlite3.connect(path)
        database.execute("CREATE TABLE flights(date TEXT, delay INTEGER, distance INTEGER, origin TEXT, destination TEXT)")
        database.executemany("INSERT INTO flights VALUES (?, ?, ?, ?, ?)", rows)
        database.commit()
        database.close()
    return sorted(Path(folder).glob("*.db"))


def main():
    """Makes the files and prints the result."""
    parser = argparse.ArgumentParser(description="one SELECT over a directory of SQLite files")
    parser.add_argument("flights")
    parser.add_argument("folder")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--scheduler")
    options = parser.parse_args()
    files = make_shards(options.flights, options.folder)
    cluster = options.scheduler or LocalCluster(n_workers=options.workers, threads_per_worker=1, dashboard_address=None)
    with Client(cluster):
        columns, rows = clreduce.dask.aggregate(files, SELECT, progress=True, retries=2)
    print(f"{len(files)} files")
    print(*columns, sep="\t")
    for row in rows:
        print(*row, sep="\t")
    if not options.scheduler:
        cluster.close()


if __name__ == "__main__":
    main()
