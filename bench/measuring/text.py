"""Views of text and dates: TPC-H's Q6, and questions about flights, beside SQLite and DuckDB.

The lines of TPC-H come from tpchgen-cli, where that is installed with this interpreter; the flights
from the file that BENCH_FLIGHTS names (date, delay, distance, origin, destination; may be gzipped),
repeated to FLIGHTS rows. What is not there is said to be missing.
"""

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

from measuring import method
from measuring import peers
from measuring import views
from measuring.tools import read_back

FLIGHTS = 3_000_000
ROUNDS, SECONDS = 5, 20

#: Columns of TPC-H's lineitem that the query reads, by their place in the file, and their types.
LINES = {"l_quantity": (4, "REAL"), "l_extendedprice": (5, "REAL"), "l_discount": (6, "REAL"),
         "l_returnflag": (8, "TEXT"), "l_shipdate": (10, "TEXT")}
FIELDS = {"date": "TEXT", "delay": "INTEGER", "distance": "INTEGER", "origin": "TEXT",
          "destination": "TEXT"}

#: A name, a table, the SELECT, and DuckDB's twin of it.
QUESTIONS = (
    ("TPC-H Q6", "lineitem",
     "SELECT gpu_sum(l_extendedprice * l_discount) FROM lineitem WHERE l_shipdate >= '1994-01-01'"
     " AND l_shipdate < '1995-01-01' AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24",
     "SELECT sum(l_extendedprice * l_discount) FROM lineitem WHERE l_shipdate >= DATE '1994-01-01'"
     " AND l_shipdate < DATE '1995-01-01' AND l_discount BETWEEN 0.05 AND 0.07"
     " AND l_quantity < 24"),
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


@contextlib.contextmanager
def lineitem_rows(columns):
    """The wanted fields, as LINES has them, of TPC-H's lines at scale BENCH_SCALE (1), or None."""
    program = os.path.join(os.path.dirname(sys.executable), "tpchgen-cli")
    program = program if os.path.exists(program) else shutil.which("tpchgen-cli")
    if program is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="clreduce-bench-") as folder:
        subprocess.run([program, "csv", "-s", os.environ.get("BENCH_SCALE", "1"), "-T", "lineitem",
                        "-o", folder], check=True, stdout=subprocess.DEVNULL)
        names = sorted(name for name in os.listdir(folder) if name.startswith("lineitem"))
        with open(os.path.join(folder, names[0]), newline="", encoding="utf-8") as file:
            lines = csv.reader(file)
            next(lines)
            places = [place for place, _ in columns.values()]
            yield ([line[place] for place in places] for line in lines)


@contextlib.contextmanager
def flight_rows():
    """FLIGHTS rows of the flights, or None."""
    path = os.environ.get("BENCH_FLIGHTS", "")
    if not path:
        yield None
        return
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", newline="") as file:
        lines = [line for line in csv.reader(file) if line[0] != "date"]
    yield itertools.islice(itertools.cycle(lines), FLIGHTS)


TABLES = (("lineitem", {name: kind for name, (_, kind) in LINES.items()},
           functools.partial(lineitem_rows, LINES), "tpchgen-cli is not installed"),
          ("flights", FIELDS, flight_rows, "BENCH_FLIGHTS names no file"))


def fill(path, name, columns, rows):
    """A database with the table."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        declared = ", ".join(f"{column} {kind}" for column, kind in columns.items())
        database.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; "
                               f"CREATE TABLE {name}({declared}); BEGIN")
        database.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(columns))})", rows)
        database.execute("COMMIT")
    read_back(path)


def database(tools, prefix, name, columns, source):
    """The path of the table's database, made if it is not there yet, or None."""
    path = os.path.join(tools.output, f"{prefix}-{name}.db")
    if path in tools.made:
        return path
    with source() as rows:
        if rows is None:
            return None
        method.say(f"making {path}")
        with contextlib.suppress(FileNotFoundError):
            os.remove(path)
        fill(path, name, columns, rows)
    tools.made.add(path)
    return path


def duckdb_table(duckdb, path, name, columns):
    """A connection of DuckDB's with the table in memory: dates of lines as DATE, the rest as it
    is."""
    types = {"TEXT": "VARCHAR", "REAL": "DOUBLE", "INTEGER": "BIGINT", "DATE": "DATE"}
    connection = duckdb.connect(":memory:")
    kinds = {column: "DATE" if column == "l_shipdate" else kind for column, kind in columns.items()}
    with tempfile.NamedTemporaryFile("w", suffix=".csv", newline="", encoding="utf-8") as file:
        with contextlib.closing(sqlite3.connect(path)) as source:
            csv.writer(file).writerows(source.execute(f"SELECT * FROM {name}"))
        file.flush()
        listed = ", ".join(f"'{column}': '{types[kind]}'" for column, kind in kinds.items())
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM read_csv('{file.name}', "
                           f"header = false, columns = {{{listed}}})")
    return connection


def measure_duckdb(path, name, columns, cores):
    """DuckDB's times for the table's questions, with all threads; {} where it is not installed."""
    duckdb = peers.find("duckdb")
    if duckdb is None:
        return {}
    method.say(f"text: DuckDB, {name}")
    connection = duckdb_table(duckdb, path, name, columns)
    connection.execute(f"SET threads = {cores}")
    twins = [(question, twin) for question, table, _, twin in QUESTIONS if table == name]
    times = method.take_turns([method.timed(lambda sql=sql: connection.execute(sql).fetchall())
                               for _, sql in twins], peers.ROUNDS, peers.SECONDS)
    connection.close()
    return {question: ns for (question, _), ns in zip(twins, times)}


def measure_table(tools, machine, name, columns, path):
    """The questions about one table: each as SQLite's SELECT, a first query and the later ones."""
    asked = [(question, sql) for question, table, sql, _ in QUESTIONS if table == name]
    theirs = measure_duckdb(path, name, columns, machine["cores"])
    rows = []
    for question, sql in asked:
        for device in views.devices(machine["device"]):
            method.say(f"text: {question}")
            lines = [(device, kind, sql) for kind in ("select", "first", "again")]
            select, *found = tools.compare_views(path, lines, ROUNDS, SECONDS, views.DEVICE_WAIT)
            for line in found:
                rows.append({"name": question, "table": name, **line,
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
    for name, columns, source, why in TABLES:
        path = database(tools, "text", name, columns, source)
        if path is None:
            part["missing"].append(f"the table {name} is not measured: {why}")
        else:
            part["rows"] += measure_table(tools, machine, name, columns, path)
    failures = [f"{row['sql']} ({row['device']}, {row['kind']}): {row['result']}, not "
                f"{row['expected']}" for row in part["rows"] if not row["same"]]
    return part, "; ".join(failures) or None
