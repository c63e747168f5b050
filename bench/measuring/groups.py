"""Views with GROUP BY and DISTINCT: h2oai's groupby queries, TPC-H's Q1, and questions about
flights, beside SQLite and DuckDB, whose rows are delivered too.

Views, on every device, and DuckDB take turns. SQLite takes seconds to tens of seconds for these
queries, so that it runs each of them once, with its own functions where it has them; and of several
runs of one report in one alone, from which the others have its time: the first question's in the
second run, the next one's in the third, and so on. There every view's rows are compared with those
of its SELECT as well, to the bit and in their order: those of the groupby benchmark over a tenth of
the rows, as their SELECT is another one than SQLite is timed with.
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

ROUNDS, SECONDS = 5, 2
#: Results of so many rows are not made objects of Python.
MANY_ROWS = 1_000_000

#: The steps of mix() in DuckDB's SQL.
STEPS = ("(n + {0} * 2654435769) & 4294967295", "(xor(x{0}, x{0} >> 16) * 2146121005) & 4294967295",
         "(xor(x{0}, x{0} >> 15) * 2221713035) & 4294967295", "xor(x{0}, x{0} >> 16)")
#: What takes longer than so many ns runs once, and not by turns.
LONG = 3_000_000_000
#: The seconds that a view is given to come to a device, when that was waited for before: its programs take one or two.
LATER_WAIT = 3


class Server:
    """view-bench, which runs what it is asked to run."""

    def __init__(self, tools, path, device):
        self.device = device
        self.wait = 0 if device == "host" else views.DEVICE_WAIT
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
        end = time.monotonic() + self.wait
        found = self.ask("again", sql)
        while time.monotonic() < end and found["plan"].startswith("accelerated: host"):
            time.sleep(0.05)
            found = self.ask("again", sql)
        self.wait = min(self.wait, LATER_WAIT)
        return found

    def close(self):
        """Ends it."""
        self.process.stdin.close()
        self.process.wait()


@contextlib.contextmanager
def serving(tools, path, devices):
    """A server for each device, which ends with the block."""
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(contextlib.closing(Server(tools, path, device)))
               for device in devices]


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


def ask_sqlite(servers, question):
    """SQLite's time for a question, and whether each view's rows are its SELECT's."""
    compared = question.sql.replace(" FROM h2o", " FROM tenth") if question.tenth else question.sql
    timed = question.plain or question.sql
    wanted = servers[-1].ask("select", compared)
    plain = wanted if timed == compared else servers[-1].ask("select", timed)
    found = [server.ask("check", compared) for server in servers]
    return plain["ns"], [(one["hash"], one["rows"]) == (wanted["hash"], wanted["rows"])
                         for one in found]


def row_of(question, server, kind, found, times):
    """A line of the results."""
    return {"name": question.name, "table": question.table, "device": server.device, "kind": kind,
            "sql": question.sql, "plan": found["plan"], "groups": found["rows"], "ns": times,
            "time_ns": method.summary(times), "sqlite_sql": question.plain or question.sql}


def add_sqlite(rows, servers, question):
    """Adds to a question's lines SQLite's time, and whether their rows are right."""
    sqlite, same = ask_sqlite(servers, question)
    right = dict(zip((server.device for server in servers), same))
    for row in rows:
        row.update(sqlite_ns=sqlite, speed=sqlite / row["time_ns"]["median"])
        row["same"] = row.get("same", True) and right[row["device"]]


def add_duckdb(rows, connection, question, times):
    """Adds to a question's lines DuckDB's times, and whether it has as many rows."""
    best = min(map(method.summary, times), key=lambda one: one["median"])
    (count,), = connection.execute(f"SELECT count(*) FROM ({question.duckdb})").fetchall()
    for row in rows:
        row.update(duckdb_ns=best, duckdb_speed=best["median"] / row["time_ns"]["median"],
                   same=row["groups"] == count)


def measure_kinds(servers, found, sql, kinds, ways):
    """Each device's times of the kinds of queries, as (server, found, kind, times), and those of a peer's ways to ask. The
    later queries take turns with the peer, and then the first ones, which evict what later ones find, with each other."""
    def turns(candidates):
        if max(one["ns"] for one in found) > LONG:
            return [[candidate()] for candidate in candidates]
        return method.take_turns(candidates, ROUNDS, SECONDS)

    def ask(kind):
        return [functools.partial(lambda server: server.ask(kind, sql)["ns"], server) for server in servers]

    later = turns(ask("again") + ways)
    times = {"again": later, "first": turns(ask("first")) if "first" in kinds else []}
    return ([(server, one, kind, times[kind][number]) for number, (server, one) in enumerate(zip(servers, found)) for kind in kinds],
            later[len(servers):])


def measure_question(servers, question, connection, asks_sqlite):
    """A question's lines, of each device: its first query and the later ones."""
    method.say(f"groups: {question.name}")
    kinds = ("first", "again") if question.first else ("again",)
    found = [server.warm_up(question.sql) for server in servers]
    ways = duckdb_ways(connection, question, found[0]["rows"])
    ours, theirs = measure_kinds(servers, found, question.sql, kinds, ways)
    rows = [row_of(question, server, kind, one, ns) for server, one, kind, ns in ours]
    if ways:
        add_duckdb(rows, connection, question, theirs)
    if asks_sqlite:
        add_sqlite(rows, servers, question)
    return rows


def measure_table(tools, machine, path, questions, connect, missing):
    """The questions about one table. connect: makes DuckDB's. Adds to what is missing."""
    duckdb = peers.find("duckdb")
    connection = None
    if duckdb is not None:
        method.say(f"groups: DuckDB, {questions[0].table}")
        connection = connect(duckdb)
        connection.execute(f"SET threads = {machine['cores']}")
    rows = []
    with serving(tools, path, views.devices(machine["device"])) as servers:
        # A device builds the programs of all of them while it is waited for the first one's.
        for question in questions:
            for server in servers:
                server.ask("again", question.sql)
        for number, question in enumerate(questions):
            if tools.is_late():
                missing.append(f"groups: {question.name} is not measured: {tools.too_late()}")
                continue
            rows += measure_question(servers, question, connection, tools.has_turn(number))
    return rows


def h2oai_database(tools):
    """The path of the database of the groupby benchmark."""
    return tools.make([tools.view_bench, "groups"], "groups.db", tools.rows)


def h2oai(tools, machine, missing):
    """The groupby benchmark's rows."""
    value = mix(tools.rows // 2, 9) % 100000001 / 1e6
    return measure_table(tools, machine, h2oai_database(tools),
                         (*cases.H2OAI, cases.one_row(value)),
                         lambda duckdb: h2oai_duckdb(duckdb, tools.rows), missing)


def measure(tools, machine):
    """All of it, and what failed or None."""
    missing = []
    part = {"rows": h2oai(tools, machine, missing), "missing": missing}
    for table, questions in ((text.LINEITEM, cases.LINEITEM), (text.FLIGHTS, cases.FLIGHTS)):
        path = text.database(tools, table)
        if path is None:
            missing.append(f"groups of the table {table.name} are not measured: {table.why}")
            continue
        part["rows"] += measure_table(
            tools, machine, path, questions,
            functools.partial(text.duckdb_table, path=path, table=table), missing)
    failures = [f"{row['sql']} ({row['device']}, {row['kind']}): other rows"
                for row in part["rows"] if not row.get("same", True)]
    return part, "; ".join(failures) or None
