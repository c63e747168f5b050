"""What the tests share: the flights in one file and in 64, and the modules for SQLite."""

import csv
import importlib
import os
import random
import sqlite3

import clreduce
import pytest

DATA = os.path.join(os.path.dirname(__file__), *[os.pardir] * 3, "tests", "data", "flights.csv")
TABLE = "CREATE TABLE flights(date TEXT, delay INTEGER, distance INTEGER, origin TEXT, destination TEXT, fare REAL)"
SHARDS = 64


def read_flights():
    """The flights of the tests' data, with fares whose sum depends on the order in which doubles are added."""
    source = random.Random(7)
    with open(DATA, newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    return [(date, int(delay), int(distance), origin, destination, source.choice((1, -1)) * 10 ** source.uniform(-9, 18))
            for date, delay, distance, origin, destination in rows]


def write(path, rows):
    """A database of flights."""
    connection = clreduce.connect(path)
    connection.execute(TABLE)
    connection.executemany("INSERT INTO flights VALUES (?, ?, ?, ?, ?, ?)", rows)
    connection.commit()
    connection.close()
    return str(path)


@pytest.fixture(scope="session")
def flights(tmp_path_factory):
    """One file that has all flights."""
    return write(tmp_path_factory.mktemp("one") / "flights.db", read_flights())


@pytest.fixture(scope="session")
def shards(tmp_path_factory):
    """64 files: each day's flights are in one of them."""
    folder, parts = tmp_path_factory.mktemp("shards"), [[] for _ in range(SHARDS)]
    rows = read_flights()
    days = {day: i for i, day in enumerate(sorted({row[0][:10] for row in rows}))}
    for row in rows:
        parts[days[row[0][:10]] % SHARDS].append(row)
    return [write(folder / f"{i}.db", part) for i, part in enumerate(parts)]


@pytest.fixture
def sqlite():
    """Python's own module, which some builds of Python have without extensions."""
    if not hasattr(sqlite3.Connection, "enable_load_extension"):
        pytest.skip("sqlite3 of this Python cannot load extensions")
    return sqlite3


@pytest.fixture(params=["sqlite3", "pysqlite3", "sqlean", "apsw"])
def driver(request):
    """Each of the modules in turn."""
    return request.getfixturevalue("sqlite") if request.param == "sqlite3" else importlib.import_module(request.param)


def connect(module, path=":memory:"):
    """A connection of the module, with the extension."""
    return clreduce.load((module.Connection if module.__name__ == "apsw" else module.connect)(str(path)))


def names_of(cursor):
    """The names of a cursor's columns."""
    get = getattr(cursor, "get_description", None)
    return [column[0] for column in (get() if get else cursor.description)]
