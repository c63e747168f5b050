"""Views of joins beside SQLite and DuckDB: the thirteen queries of the Star Schema Benchmark.

The data are made of TPC-H's, as the benchmark's paper says (O'Neil, O'Neil, Chen: Star Schema
Benchmark, 2009): lineorder is lineitem joined with orders, with money in cents and dates as the
INTEGERs yyyymmdd. TPC-H's come from the program tpchgen-cli; without it nothing is measured.
"""

import contextlib
import csv
import datetime
import os
import shutil
import sqlite3
import subprocess
import tempfile

from measuring import groups
from measuring import method
from measuring import peers
from measuring import star_queries
from measuring import times
from measuring import views
from measuring.tools import read_back

#: Rows of lineorder at scale 1, about.
SCALE_ROWS = 6_000_000
WANTED = times.Wanted(300, 6, 4)


def read(folder, name):
    """The rows of a table of TPC-H, without the names of its columns."""
    with open(os.path.join(folder, f"{name}.csv"), encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        next(rows)
        yield from rows


def cents(text):
    """An amount of money as an INTEGER."""
    return round(float(text) * 100)


def datekey(text):
    """A day as an INTEGER."""
    return int(text.replace("-", ""))


def days():
    """The rows of dates."""
    for number in range(7 * 366 - 5):
        day = datetime.date(1992, 1, 1) + datetime.timedelta(number)
        yield (int(day.strftime("%Y%m%d")), day.year, day.year * 100 + day.month, day.strftime("%b%Y"),
               (day.timetuple().tm_yday - 1) // 7 + 1)


def people(folder, name):
    """The rows of customer or supplier: a city is the beginning of its nation and a digit."""
    regions = {row[0]: row[1] for row in read(folder, "region")}
    nations = {row[0]: (row[1], regions[row[2]]) for row in read(folder, "nation")}
    for row in read(folder, name):
        nation, region = nations[row[3]]
        yield int(row[0]), f"{nation[:9]:9}{int(row[0]) % 10}", nation, region


def parts(folder):
    """The rows of part."""
    for row in read(folder, "part"):
        category = row[3].replace("Brand", "MFGR")
        yield int(row[0]), category[:-1], category, f"{category}{int(row[0]) % 40 + 1}"


def lineorders(folder):
    """The rows of lineorder."""
    orders = {row[0]: (int(row[1]), datekey(row[4])) for row in read(folder, "orders")}
    for row in read(folder, "lineitem"):
        customer, day = orders[row[0]]
        price, discount, quantity = cents(row[5]), cents(row[6]), int(row[4])
        yield (int(row[0]), int(row[3]), customer, int(row[1]), int(row[2]), day, quantity, price, discount,
               price * (100 - discount) // 100, 6 * price // (10 * quantity))


def fill(path, generator, scale):
    """Makes the database."""
    with tempfile.TemporaryDirectory() as folder, contextlib.closing(sqlite3.connect(path, isolation_level=None)) as made:
        subprocess.run([generator, "csv", "-s", str(scale), "--tables", "lineitem,orders,part,supplier,customer,nation,region",
                        "-o", folder], check=True, capture_output=True)
        made.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + star_queries.TABLES)
        made.execute("BEGIN")
        for name, rows in (("dates", days()), ("customer", people(folder, "customer")), ("supplier", people(folder, "supplier")),
                           ("part", parts(folder)), ("lineorder", lineorders(folder))):
            columns = len(made.execute(f"PRAGMA table_info({name})").fetchall())
            made.executemany(f"INSERT INTO {name} VALUES({', '.join('?' * columns)})", rows)
        made.execute("COMMIT")
        made.execute("ANALYZE")


def database(tools, generator):
    """The path of the database, made unless it is there."""
    scale = max(tools.rows / SCALE_ROWS, 0.01)
    path = os.path.join(tools.output, f"star-{scale:.2f}.db")
    if not os.path.exists(path):
        method.say(f"making {path}")
        fill(f"{path}.new", generator, scale)
        os.replace(f"{path}.new", path)
        read_back(path)
    return path


def duckdb_tables(duckdb, path):
    """DuckDB's tables, with the rows of SQLite's."""
    connection = duckdb.connect(":memory:")
    connection.execute("SET preserve_insertion_order = true")
    with contextlib.closing(sqlite3.connect(path)) as db, tempfile.TemporaryDirectory() as folder:
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").fetchall():
            connection.execute(db.execute("SELECT replace(sql, ' INT', ' BIGINT') FROM sqlite_master WHERE name = ?", (name,)).fetchone()[0]
                               .replace("BIGINTEGER", "BIGINT"))
            file = os.path.join(folder, name)
            with open(file, "w", encoding="utf-8", newline="") as out:
                csv.writer(out).writerows(db.execute(f"SELECT * FROM {name}"))
            connection.execute(f"COPY {name} FROM '{file}' (HEADER false)")
    return connection


def measure(tools, machine):
    """All of it, and what failed or None."""
    generator = shutil.which("tpchgen-cli")
    if generator is None:
        return None, "star: there is no tpchgen-cli"
    path = database(tools, generator)
    duckdb, connection = peers.find("duckdb"), None
    if duckdb is not None:
        method.say("star: DuckDB's tables")
        connection = duckdb_tables(duckdb, path)
        connection.execute(f"SET threads = {machine['cores']}")
    with contextlib.closing(sqlite3.connect(path)) as db:
        part = {"rows": db.execute("SELECT count(*) FROM lineorder").fetchone()[0], "results": []}
    with groups.serving(tools, path, views.devices(machine["device"])) as servers:
        for name, sql in star_queries.QUERIES.items():
            question = times.Question(name, sql, sql, None, WANTED)
            part["results"] += times.measure_question(servers, path, question, connection)
    failures = [f"{row['name']} ({row['device']}, {row['kind']}): other rows" for row in part["results"] if not row["same"]]
    return part, "; ".join(failures) or None
