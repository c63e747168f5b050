"""Views of text and dates, and of a wide table: TPC-H's lines, and questions about flights, beside
SQLite and DuckDB.

The lines of TPC-H come from tpchgen-cli, where that is installed with this interpreter; the flights
from the file that BENCH_FLIGHTS names (date, delay, distance, origin, destination; may be gzipped),
repeated to FLIGHT_ROWS rows. What is not there is said to be missing.
"""

import collections
import contextlib
import csv
import functools
import gzip
import itertools
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import zlib

from measuring import method
from measuring import peers
from measuring import views
from measuring.tools import read_back

FLIGHT_ROWS = 3_000_000
ROUNDS, SECONDS = 5, 5

#: A table: its columns and their types; a function that says of which source it is made, or None without
#: one; one that gives its rows; and why they may be missing.
Table = collections.namedtuple("Table", "name columns source rows why")

#: A name, a table, the SELECT, and DuckDB's twin of it.
QUESTIONS = (
    ("TPC-H Q6", "lineitem",
     "SELECT gpu_sum(l_extendedprice * l_discount) FROM lineitem WHERE l_shipdate >= '1994-01-01'"
     " AND l_shipdate < '1995-01-01' AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24",
     "SELECT sum(l_extendedprice * l_discount) FROM lineitem WHERE l_shipdate >= DATE '1994-01-01'"
     " AND l_shipdate < DATE '1995-01-01' AND l_discount BETWEEN 0.05 AND 0.07"
     " AND l_quantity < 24"),
    ("one column of 16", "lineitem", "SELECT gpu_sum(l_extendedprice) FROM lineitem",
     "SELECT sum(l_extendedprice) FROM lineitem"),
    ("four columns of 16", "lineitem",
     "SELECT gpu_sum(l_quantity), gpu_sum(l_extendedprice), gpu_sum(l_discount), gpu_sum(l_tax)"
     " FROM lineitem",
     "SELECT sum(l_quantity), sum(l_extendedprice), sum(l_discount), sum(l_tax) FROM lineitem"),
    ("origin = 'ORD'", "flights", "SELECT gpu_avg(delay) FROM flights WHERE origin = 'ORD'",
     "SELECT avg(delay) FROM flights WHERE origin = 'ORD'"),
    ("date LIKE", "flights", "SELECT gpu_avg(delay) FROM flights WHERE date LIKE '2001-01-1%'",
     "SELECT avg(delay) FROM flights WHERE date LIKE '2001-01-1%'"),
    ("strftime(date)", "flights",
     "SELECT gpu_avg(delay) FROM flights WHERE strftime('%w', date) = '0'",
     "SELECT avg(delay) FROM flights WHERE strftime(CAST(date AS DATE), '%w') = '0'"),
    ("min(date), max(date)", "flights",
     "SELECT gpu_min(date), gpu_max(date) FROM flights WHERE origin IN ('ORD', 'LAX')",
     "SELECT min(date), max(date) FROM flights WHERE origin IN ('ORD', 'LAX')"),
)


def tpch_scale():
    """The scale of TPC-H's lines."""
    return os.environ.get("BENCH_SCALE", "1")


def tpch_generator():
    """The path of tpchgen-cli, or None."""
    program = os.path.join(os.path.dirname(sys.executable), "tpchgen-cli")
    return program if os.path.exists(program) else shutil.which("tpchgen-cli")


@contextlib.contextmanager
def lineitem_rows():
    """TPC-H's lines."""
    with tempfile.TemporaryDirectory(prefix="clreduce-bench-") as folder:
        subprocess.run([tpch_generator(), "csv", "-s", tpch_scale(), "-T", "lineitem", "-o",
                        folder], check=True, stdout=subprocess.DEVNULL)
        names = sorted(name for name in os.listdir(folder) if name.startswith("lineitem"))
        with open(os.path.join(folder, names[0]), newline="", encoding="utf-8") as file:
            lines = csv.reader(file)
            next(lines)
            yield lines


def flights_file():
    """The path of the file of flights, or None."""
    return os.environ.get("BENCH_FLIGHTS") or None


@contextlib.contextmanager
def flight_rows():
    """FLIGHT_ROWS rows of the flights."""
    path = flights_file()
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", newline="") as file:
        lines = [line for line in csv.reader(file) if line[0] != "date"]
    yield itertools.islice(itertools.cycle(lines), FLIGHT_ROWS)


LINEITEM = Table("lineitem", (("l_orderkey", "INTEGER"), ("l_partkey", "INTEGER"),
                              ("l_suppkey", "INTEGER"), ("l_linenumber", "INTEGER"),
                              ("l_quantity", "REAL"), ("l_extendedprice", "REAL"),
                              ("l_discount", "REAL"), ("l_tax", "REAL"), ("l_returnflag", "TEXT"),
                              ("l_linestatus", "TEXT"), ("l_shipdate", "TEXT"),
                              ("l_commitdate", "TEXT"), ("l_receiptdate", "TEXT"),
                              ("l_shipinstruct", "TEXT"), ("l_shipmode", "TEXT"),
                              ("l_comment", "TEXT")),
                 lambda: tpch_generator() and f"scale {tpch_scale()}", lineitem_rows,
                 "tpchgen-cli is not installed")
FLIGHTS = Table("flights", (("date", "TEXT"), ("delay", "INTEGER"), ("distance", "INTEGER"),
                            ("origin", "TEXT"), ("destination", "TEXT")),
                lambda: flights_file() and f"{os.path.getsize(flights_file())} bytes", flight_rows,
                "BENCH_FLIGHTS names no file")


def fill(path, table, version):
    """A database with the table, and at last that version."""
    with contextlib.suppress(FileNotFoundError):
        os.remove(path)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database, \
            table.rows() as rows:
        declared = ", ".join(f"{column} {kind}" for column, kind in table.columns)
        database.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; "
                               f"CREATE TABLE {table.name}({declared}); BEGIN")
        database.executemany(f"INSERT INTO {table.name} VALUES "
                             f"({', '.join('?' * len(table.columns))})", rows)
        database.execute(f"PRAGMA user_version = {version}")
        database.execute("COMMIT")


def database(tools, table):
    """The path of the table's database, made unless it is there of this source, or None."""
    path = os.path.join(tools.output, f"text-{table.name}.db")
    source = table.source()
    if path in tools.made or source is None:
        return source and path
    version = zlib.crc32(f"{source}, {table.columns}".encode()) >> 1
    with contextlib.closing(sqlite3.connect(path)) as found:
        is_there = found.execute("PRAGMA user_version").fetchone()[0] == version
    if not is_there:
        method.say(f"making {path}")
        fill(path, table, version)
        read_back(path)
    tools.made.add(path)
    return path


@functools.cache
def duckdb_table(duckdb, path, table):
    """The one connection of DuckDB's with the table in memory: dates of lines as DATE, the rest as
    it is."""
    types = {"TEXT": "VARCHAR", "REAL": "DOUBLE", "INTEGER": "BIGINT"}
    connection = duckdb.connect(":memory:")
    with tempfile.NamedTemporaryFile("w", suffix=".csv", newline="", encoding="utf-8") as file:
        with contextlib.closing(sqlite3.connect(path)) as source:
            csv.writer(file).writerows(source.execute(f"SELECT * FROM {table.name}"))
        file.flush()
        listed = ", ".join(f"'{column}': '{'DATE' if column == 'l_shipdate' else types[kind]}'"
                           for column, kind in table.columns)
        connection.execute(f"CREATE TABLE {table.name} AS SELECT * FROM read_csv('{file.name}', "
                           f"header = false, columns = {{{listed}}})")
    return connection


def measure_duckdb(path, table, cores):
    """DuckDB's times for the table's questions, with all threads; {} where it is not installed."""
    duckdb = peers.find("duckdb")
    if duckdb is None:
        return {}
    method.say(f"text: DuckDB, {table.name}")
    connection = duckdb_table(duckdb, path, table)
    connection.execute(f"SET threads = {cores}")
    twins = [(question, twin) for question, name, _, twin in QUESTIONS if name == table.name]
    times = method.take_turns([method.timed(lambda sql=sql: connection.execute(sql).fetchall())
                               for _, sql in twins], peers.ROUNDS, peers.SECONDS)
    return {question: ns for (question, _), ns in zip(twins, times)}


def measure_table(tools, machine, table, path):
    """The questions about one table: each as SQLite's SELECT, a first query and the later ones."""
    asked = [(question, sql) for question, name, sql, _ in QUESTIONS if name == table.name]
    theirs = measure_duckdb(path, table, machine["cores"])
    rows = []
    for device in views.devices(machine["device"]):
        method.say(f"text: {table.name}, {device}")
        lines = [(device, kind, sql) for _, sql in asked for kind in ("select", "first", "again")]
        found = tools.compare_views(path, lines, ROUNDS, SECONDS, views.DEVICE_WAIT)
        for number, line in enumerate(found):
            if line["kind"] == "select":
                select = line
                continue
            question = asked[number // 3][0]
            rows.append({"name": question, "table": table.name, **line,
                         "time_ns": method.summary(line["ns"]),
                         "speed": method.ratios(select["ns"], line["ns"]),
                         "same": line["result"] == line["expected"],
                         "duckdb_ns": theirs.get(question)})
            if question in theirs and line["kind"] == "again":
                rows[-1]["duckdb_speed"] = (method.summary(theirs[question])["median"]
                                            / method.summary(line["ns"])["median"])
    return rows


def measure(tools, machine):
    """All of it, and what failed or None."""
    part = {"rows": [], "missing": []}
    for table in (LINEITEM, FLIGHTS):
        path = database(tools, table)
        if path is None:
            part["missing"].append(f"the table {table.name} is not measured: {table.why}")
        else:
            part["rows"] += measure_table(tools, machine, table, path)
    failures = [f"{row['sql']} ({row['device']}, {row['kind']}): {row['result']}, not "
                f"{row['expected']}" for row in part["rows"] if not row["same"]]
    return part, "; ".join(failures) or None
