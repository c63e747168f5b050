"""The queries of sqlite-columnar's benchmark, over a table of the same shape, beside what it says of itself.

sqlite-columnar (https://github.com/sqliteai/sqlite-columnar, its BENCHMARK.md of 2026-05-10) copies a table into a b-tree
for each column, keeps sums of blocks of rows, and has functions that read them: columnar_sum('c', 'v1'). Its machine is not
named there: how many times as fast as the SELECT each is can be compared, and times only roughly. Views are asked here with
SQL, over the table itself, and DuckDB has it in memory without the two columns of text that no query reads.
"""

import collections

from measuring import groups
from measuring import peers
from measuring import times
from measuring import views

#: The columns that queries read by the row's number i, in what SQLite and DuckDB both understand, and the others.
READ = (("ts", "INTEGER", "i"), ("id1", "INTEGER", "i % 100"), ("id2", "INTEGER", "i % 1000"), ("id3", "INTEGER", "i % 10000"),
        ("id4", "INTEGER", "i % 10"), ("id5", "INTEGER", "i % 100000"), ("id6", "INTEGER", "i % 7"), ("v1", "INTEGER", "i % 100"),
        ("v2", "INTEGER", "i * 7 % 1000"), ("v3", "REAL", "(i % 1000) * 0.1e0"))
OTHERS = (("cold0", "INTEGER", "i * 13 % 1000000"), ("cold1", "INTEGER", "i * 17 % 1000000"),
          *((f"coldtxt{number}", "TEXT", "'" + "".join(chr(97 + (letter + number) % 26) for letter in range(256)) + "'")
            for number in range(2)))

#: What it says of itself: ms, and how many times as fast as SQLite. {low}, {high}: a hundredth of the rows.
Published = collections.namedtuple("Published", "name sql ms speed")
RANGE = "WHERE ts BETWEEN {low} AND {high}"
QUESTIONS = (
    Published("sum", "SELECT sum(v1) FROM r", 0.032, 130583),
    Published("average", "SELECT gpu_avg(v3) FROM r", 0.032, 129317),
    Published("count", "SELECT count(v1) FROM r", 0.032, 125194),
    Published("sum by 100", "SELECT id1, sum(v1) FROM r GROUP BY id1", 1322.187, 6.04),
    Published("count by 100", "SELECT id1, count(*) FROM r GROUP BY id1", 560.804, 14.13),
    Published("three by 100", "SELECT id1, sum(v1), avg(v1), count(v1) FROM r GROUP BY id1", 1320.321, 6.42),
    Published("extremes by 10,000", "SELECT id3, min(v1), max(v1), count(v1) FROM r GROUP BY id3", 1410.172, 4.31),
    Published("range", f"SELECT sum(v1), gpu_avg(v3), count(v1) FROM r {RANGE}", 17.287, 248.89),
    Published("three by 100 of a range", f"SELECT id1, sum(v1), avg(v1), count(v1) FROM r {RANGE} GROUP BY id1", 14.502, 273.2),
)


def listed(columns):
    """A SELECT's list of columns."""
    return ", ".join(f"{value} AS {name}" for name, _, value in columns)


def database(tools):
    """The path of the database, made unless it is there with as many rows."""
    columns = ", ".join(f"{name} {kind}" for name, kind, _ in READ + OTHERS)
    return tools.numbered_database("columnar.db", f"r({columns})", listed(READ + OTHERS))


def duckdb_table(duckdb, machine, rows):
    """DuckDB's table, by the same formulas, in a connection with as many threads as there are processors."""
    connection = duckdb.connect(":memory:")
    connection.execute(f"SET threads = {machine['cores']}")
    connection.execute(f"CREATE TABLE r AS SELECT {listed(READ)} FROM range(1, {rows + 1}) numbers(i)")
    return connection


def measure(tools, machine):
    """All of it, and what failed or None."""
    path = database(tools)
    duckdb = peers.find("duckdb")
    connection = None if duckdb is None else duckdb_table(duckdb, machine, tools.rows)
    part = {"rows": tools.rows, "results": []}
    with groups.serving(tools, path, views.devices(machine["device"])) as servers:
        for published in QUESTIONS:
            sql = published.sql.format(low=tools.rows // 100, high=tools.rows // 50)
            question = times.Question(published.name, sql, sql.replace("gpu_", ""), None, times.Wanted(None, None, None))
            for row in times.measure_question(servers, path, question, connection):
                part["results"].append({**row, "published_ns": published.ms * 1e6, "published_speed": published.speed})
    failures = [f"{row['sql']} ({row['device']}, {row['kind']}): other rows" for row in part["results"] if not row["same"]]
    return part, "; ".join(failures) or None
