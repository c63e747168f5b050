"""Views with GROUP BY and DISTINCT: h2oai's groupby queries, TPC-H's Q1, and questions about
flights, beside SQLite and DuckDB, whose rows are delivered too.

A view and DuckDB take turns. SQLite takes seconds to tens of seconds for these queries, so that it
runs each of them once, with its own functions where it has them. Every view's rows are compared
with those of its SELECT, to the bit and in their order: those of the groupby benchmark over a tenth
of the rows, as their SELECT is another one than SQLite is timed with.
"""

import contextlib
import functools
import json
import subprocess
import time

from measuring import groups_cases as cases
from measuring import method
from measuring import peers
from measuring import text
from measuring import views

ROUNDS, SECONDS = 5, 6
#: Results of so many rows are not made objects of Python.
MANY_ROWS = 1_000_000

LINES = {"l_quantity": (4, "REAL"), "l_extendedprice": (5, "REAL"), "l_discount": (6, "REAL"),
         "l_tax": (7, "REAL"), "l_returnflag": (8, "TEXT"), "l_linestatus": (9, "TEXT"),
         "l_shipdate": (10, "TEXT")}

#: The steps of mix() in DuckDB's SQL.
STEPS = ("(n + {0} * 2654435769) & 4294967295", "(xor(x{0}, x{0} >> 16) * 2146121005) & 4294967295",
         "(xor(x{0}, x{0} >> 15) * 2221713035) & 4294967295", "xor(x{0}, x{0} >> 16)")
#: What takes longer than so many ns runs once, and not by turns.
LONG = 5_000_000_000


class Server:
    """view-bench, which runs what it is asked to run."""

    def __init__(self, tools, path, device):
        self.device = device
        self.process = subprocess.Popen([tools.view_bench, "rows", path, tools.extension, device],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, kind, sql):
        """What it says of one run."""
        try:
            self.process.stdin.write(f"{kind}\t{sql}\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        line = self.process.stdout.readline()
        if not line:
            raise method.BenchError(f"view-bench rows failed: {sql}")
        return json.loads(line)

    def warm_up(self, sql):
        """Brings a view's columns to where they stay, and waits a while for a device."""
        end = time.monotonic() + views.DEVICE_WAIT
        found = self.ask("again", sql)
        while (self.device != "host" and time.monotonic() < end
               and found["plan"].startswith("accelerated: host")):
            time.sleep(0.05)
            found = self.ask("again", sql)
        return found

    def close(self):
        """Ends it."""
        self.process.stdin.close()
        self.process.wait()


@contextlib.contextmanager
def serving(tools, path, device):
    """A server that ends with the block."""
    server = Server(tools, path, device)
    try:
        yield server
    finally:
        server.close()


def mix(n, column):
    """The numbers that the values of a column are made of."""
    x = (n + column * 2654435769) & 0xffffffff
    x = ((x ^ x >> 16) * 2146121005) & 0xffffffff
    x = ((x ^ x >> 15) * 2221713035) & 0xffffffff
    return x ^ x >> 16


def h2oai_duckdb(duckdb, rows):
    """A connection of DuckDB's with the data of the groupby benchmark."""
    values = max(rows // 100, 1)
    connection = duckdb.connect(":memory:")
    source = f"(SELECT range::UBIGINT AS n FROM range(1, {rows + 1}))"
    for step in STEPS:
        listed = ", ".join(f"{step.format(column)} AS x{column}" for column in range(1, 10))
        source = f"(SELECT {listed} FROM {source})"

    def text_of(column, count, digits):
        return f"'id' || lpad((x{column} % {count} + 1)::VARCHAR, {digits}, '0')"

    def number(column, count):
        return f"(x{column} % {count} + 1)::BIGINT"

    connection.execute(
        f"CREATE TABLE h2o AS SELECT {text_of(1, 100, 3)} AS id1, {text_of(2, 100, 3)} AS id2,"
        f" {text_of(3, values, 10)} AS id3, {number(4, 100)} AS id4, {number(5, 100)} AS id5,"
        f" {number(6, values)} AS id6, {number(7, 5)} AS v1, {number(8, 15)} AS v2,"
        f" (x9 % 100000001)::DOUBLE / 1e6 AS v3 FROM {source}")
    return connection


def fetch_rows(connection, sql):
    """A query of DuckDB's, whose rows become objects of Python. Their number."""
    result, count = connection.execute(sql), 0
    while rows := result.fetchmany(100_000):
        count += len(rows)
    return count


def keep_rows(connection, sql):
    """A query of DuckDB's, whose rows go into a table of its own."""
    connection.execute(f"CREATE OR REPLACE TEMP TABLE result AS {sql}")


def duckdb_ways(connection, question, rows):
    """The ways to have DuckDB's rows delivered, as candidates."""
    if connection is None:
        return []
    ways = [lambda: keep_rows(connection, question.duckdb)]
    if rows < MANY_ROWS:
        ways.append(lambda: fetch_rows(connection, question.duckdb))
    return [method.timed(way) for way in ways]


def ask_sqlite(server, question):
    """SQLite's time for a question, and whether the view's rows are its SELECT's."""
    compared = question.sql.replace(" FROM h2o", " FROM tenth") if question.tenth else question.sql
    timed = question.plain or question.sql
    wanted = server.ask("select", compared)
    found = server.ask("check", compared)
    plain = wanted if timed == compared else server.ask("select", timed)
    return {"sqlite_ns": plain["ns"], "sqlite_sql": timed,
            "same": (found["hash"], found["rows"]) == (wanted["hash"], wanted["rows"])}


def row_of(question, server, kind, found, times, sqlite, duckdb):
    """A line of the results."""
    row = {"name": question.name, "table": question.table, "device": server.device, "kind": kind,
           "sql": question.sql, "plan": found["plan"], "groups": found["rows"], "ns": times,
           "time_ns": method.summary(times), **sqlite}
    row["speed"] = sqlite["sqlite_ns"] / row["time_ns"]["median"]
    if duckdb:
        row["duckdb_ns"] = duckdb
        row["duckdb_speed"] = duckdb["median"] / row["time_ns"]["median"]
    return row


def measure_question(server, question, connection):
    """A question's lines: its first query and the later ones, by turns with DuckDB."""
    method.say(f"groups: {question.name}, {server.device}")
    sqlite = ask_sqlite(server, question)
    found = server.warm_up(question.sql)
    sqlite["same"] = sqlite["same"] and (connection is None or found["rows"] == connection.execute(
        f"SELECT count(*) FROM ({question.duckdb})").fetchone()[0])
    kinds = ("first", "again") if question.first else ("again",)
    ways = duckdb_ways(connection, question, found["rows"])
    candidates = [*(functools.partial(lambda kind: server.ask(kind, question.sql)["ns"], kind)
                    for kind in kinds), *ways]
    times = ([[candidate()] for candidate in candidates] if found["ns"] > LONG
             else method.take_turns(candidates, ROUNDS, SECONDS))
    theirs = min(map(method.summary, times[len(kinds):]), key=lambda one: one["median"],
                 default=None)
    return [row_of(question, server, kind, found, ns, dict(sqlite), theirs)
            for kind, ns in zip(kinds, times)]


def measure_table(tools, machine, path, questions, connect):
    """The questions about one table. connect: makes DuckDB's."""
    duckdb = peers.find("duckdb")
    connection = None
    if duckdb is not None:
        method.say(f"groups: DuckDB, {questions[0].table}")
        connection = connect(duckdb)
        connection.execute(f"SET threads = {machine['cores']}")
    rows = []
    for device in views.devices(machine["device"]):
        with serving(tools, path, device) as server:
            for question in questions:
                rows += measure_question(server, question, connection)
    if connection is not None:
        connection.close()
    return rows


def h2oai(tools, machine):
    """The groupby benchmark's rows."""
    path = tools.make([tools.view_bench, "groups"], "groups.db", tools.rows)
    value = mix(tools.rows // 2, 9) % 100000001 / 1e6
    return measure_table(tools, machine, path, (*cases.H2OAI, cases.one_row(value)),
                         lambda duckdb: h2oai_duckdb(duckdb, tools.rows))


def others():
    """What else is asked about: a file's name, a table, its columns, where its rows come from, why
    they may be missing, and the questions."""
    return (("groups", "lineitem", {name: kind for name, (_, kind) in LINES.items()},
             functools.partial(text.lineitem_rows, LINES), "tpchgen-cli is not installed",
             cases.LINEITEM),
            ("text", "flights", text.FIELDS, text.flight_rows, "BENCH_FLIGHTS names no file",
             cases.FLIGHTS))


def measure(tools, machine):
    """All of it, and what failed or None."""
    part = {"rows": h2oai(tools, machine), "missing": []}
    for prefix, table, columns, source, why, questions in others():
        path = text.database(tools, prefix, table, columns, source)
        if path is None:
            part["missing"].append(f"groups of the table {table} are not measured: {why}")
            continue
        part["rows"] += measure_table(
            tools, machine, path, questions,
            functools.partial(text.duckdb_table, path=path, name=table, columns=columns))
    failures = [f"{row['sql']} ({row['device']}, {row['kind']}): other rows"
                for row in part["rows"] if not row["same"]]
    return part, "; ".join(failures) or None
