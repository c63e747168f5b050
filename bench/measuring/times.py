"""Views of times as applications keep them, TEXT that hardly repeats, beside SQLite and DuckDB.

The table has events of the five years before this day: a timestamp, nearly unique and nearly in
order, a kind of eight, an amount with two decimals, and a URL, nearly unique, of which one in ten
leads to a checkout. DuckDB has the same in memory, the timestamp as TIMESTAMP and as text. Each
question says how many times as fast as SQLite and DuckDB its view is wanted to be.
"""

import collections
import contextlib
import datetime
import math
import sqlite3

from measuring import groups
from measuring import method
from measuring import peers
from measuring import views

YEARS, DAY = 5, 86400
#: The columns by the row's number i, in what SQLite and DuckDB both understand, but for the division of integers. The
#: numbers are mixed, so that columns know nothing of each other.
MIXED = "(i * {} & 4294967295)"
SECOND = f"{{start}} + i * {YEARS * 365 * DAY} {{division}} {{rows}} + {MIXED.format(2654435761)} % 400"
SQLITE_TIME, DUCKDB_TIME = "datetime({}, 'unixepoch')", "make_timestamp(({}) * 1000000)"
COLUMNS = (("kind", "TEXT", f"'kind' || ({MIXED.format(2246822519)} % 8)"),
           ("amount", "REAL", f"{MIXED.format(3266489917)} % 100000 / 100.0"),
           ("url", "TEXT", f"'https://example.com/' || CASE {MIXED.format(668265263)} % 10 WHEN 0 THEN 'checkout' "
            f"ELSE 'product' END || '/' || ({MIXED.format(374761393)} % {{rows}}) || '?ref=' || (i % 97)"))

#: SELECTs of SQLite's that take as long have one turn.
SLOW_NS = 4 * 10**9

#: sql: what a view holds; SQLite is timed with its own functions. duckdb, text: DuckDB's twins, of its TIMESTAMP and of
#: the text ts_text. wanted: how many times as fast the view's later queries are to be as SQLite and DuckDB's
#: TIMESTAMP, and its first one as SQLite. {first}, {last}: two days, a hundredth of the time apart; {month}: 30 days
#: before this one.
Question = collections.namedtuple("Question", "name sql duckdb text wanted")
Wanted = collections.namedtuple("Wanted", "sqlite duckdb first")


def grouped(name, key, duckdb_key, shown, text_key, duckdb):
    """A question for the count and the sum of each of some times. shown: DuckDB's key k as SQLite has it."""
    items = "count(*) AS n, sum(amount) AS s FROM events GROUP BY k"
    return Question(name, f"SELECT {key}, count(*), gpu_sum(amount) FROM events GROUP BY 1",
                    f"SELECT {shown}, n, s FROM (SELECT {duckdb_key} AS k, {items})",
                    f"SELECT {text_key} AS k, {items}", Wanted(300, duckdb, 4))


def filtered(name, items, condition, wanted, now="", end=""):
    """A question about some rows. condition: for {ts}, and for {now}, a time that DuckDB is given."""
    def write(ts, time):
        return f"SELECT {items} FROM events WHERE " + condition.replace("{ts}", ts).replace("{now}", time) + end

    plain = write("ts", "TIMESTAMP '{month}'").replace("gpu_", "")
    text = write("ts_text", "'{month} 00:00:00'").replace("gpu_", "")
    return Question(name, write("ts", now), plain, text if "{ts}" in condition else None, wanted)


QUESTIONS = (
    grouped("by date(ts)", "date(ts)", "ts::DATE", "k::VARCHAR", "ts_text[1:10]", 6),
    grouped("by month", "strftime('%Y-%m', ts)", "date_trunc('month', ts)", "strftime(k, '%Y-%m')", "ts_text[1:7]", 6),
    grouped("by hour", "strftime('%H', ts)", "hour(ts)", "lpad(k::VARCHAR, 2, '0')", "ts_text[12:13]", 4),
    filtered("sum of 1%", "count(*), gpu_sum(amount)", "{ts} BETWEEN '{first}' AND '{last}'", Wanted(2000, 3, 4)),
    filtered("last 30 days", "kind, count(*)", "{ts} >= {now}", Wanted(200, 1, 4),
             "datetime('now', 'start of day', '-30 days')", " GROUP BY kind"),
    filtered("url LIKE", "count(*)", "url LIKE '%checkout%'", Wanted(100, 3, 0.77)),
)


def today():
    """This day, as SQLite's 'now' has it."""
    return datetime.datetime.now(datetime.timezone.utc).date()


def source_of(rows, division, time):
    """A SELECT's list of all columns but the key, in a dialect that divides so, and makes a time of seconds so."""
    start = int(datetime.datetime.combine(today(), datetime.time(), datetime.timezone.utc).timestamp())
    places = {"rows": rows, "start": start - YEARS * 365 * DAY, "division": division}
    listed = [(time.format(SECOND.format(**places)), "ts")]
    listed += [(value.format(**places), name) for name, _, value in COLUMNS]
    return ", ".join(f"{value} AS {name}" for value, name in listed)


def database(tools):
    """The path of the database, made unless it is there with as many rows and of this day."""
    columns = ", ".join(f"{name} {kind}" for name, kind, _ in COLUMNS)
    return tools.numbered_database("times.db", f"events(id INTEGER PRIMARY KEY, ts TEXT, {columns})",
                                   f"i, {source_of(tools.rows, '/', SQLITE_TIME)}")


def duckdb_table(duckdb, rows):
    """DuckDB's table, by the same formulas."""
    connection = duckdb.connect(":memory:")
    connection.execute(f"CREATE TABLE events AS SELECT *, strftime(ts, '%Y-%m-%d %H:%M:%S') AS ts_text"
                       f" FROM (SELECT {source_of(rows, '//', DUCKDB_TIME)} FROM range(1, {rows + 1}) r(i))")
    return connection


def dated(question):
    """The question with its days."""
    middle = today() - datetime.timedelta(days=YEARS * 365 // 2)
    days = {"{first}": middle, "{last}": middle + datetime.timedelta(days=YEARS * 365 // 100),
            "{month}": today() - datetime.timedelta(days=30)}

    def fill_in(sql):
        for place, day in days.items():
            sql = sql and sql.replace(place, str(day))
        return sql

    return question._replace(sql=fill_in(question.sql), duckdb=fill_in(question.duckdb), text=fill_in(question.text))


def are_same(ours, theirs):
    """Whether two results have the same rows, in whatever order, but for the rounding of sums."""
    def is_same(one, other):
        return one == other or (isinstance(one, float) and math.isclose(one, other, rel_tol=1e-9))

    return len(ours) == len(theirs) and all(
        len(one) == len(other) and all(map(is_same, one, other))
        for one, other in zip(sorted(ours), sorted(theirs)))


def ask_duckdb(connection, path, question):
    """The ways to ask DuckDB, by their names, as candidates; and whether it gives SQLite's answers."""
    if connection is None:
        return {}, True
    asked = {"duckdb": question.duckdb, "duckdb_text": question.text}
    asked = {name: sql for name, sql in asked.items() if sql is not None}
    with contextlib.closing(sqlite3.connect(path)) as plain:
        wanted = plain.execute(question.sql.replace("gpu_", "")).fetchall()
    same = all(are_same(wanted, connection.execute(sql).fetchall()) for sql in asked.values())
    return {name: method.timed(lambda sql=sql: connection.execute(sql).fetchall()) for name, sql in asked.items()}, same


def time_sqlite(server, sql):
    """The median time of SQLite's own answers: of one where that is slow, and else of three, as one turn of a quick SELECT
    differs from the next by half on a machine that others share."""
    times = [server.ask("select", sql)["ns"]]
    while max(times) < SLOW_NS and len(times) < 3:
        times.append(server.ask("select", sql)["ns"])
    return method.summary(times)["median"]


def measure_question(servers, path, question, connection):
    """A question's lines: of each device its first query and the later ones, beside DuckDB's."""
    method.say(f"time: {question.name}")
    found = [server.warm_up(question.sql) for server in servers]
    ways, same = ask_duckdb(connection, path, question)
    ours, times = groups.measure_kinds(servers, found, question.sql, ("first", "again"), list(ways.values()))
    theirs = {name: method.summary(ns) for name, ns in zip(ways, times)}
    plain = question.sql.replace("gpu_", "")
    wanted = servers[-1].ask("select", question.sql)
    sqlite = time_sqlite(servers[-1], plain)
    rows = []
    for server, one, kind, ns in ours:
        checked = server.ask("check", question.sql)
        middle = method.summary(ns)["median"]
        rows.append({"name": question.name, "device": server.device, "kind": kind, "sql": question.sql,
                     "plan": one["plan"], "ns": ns, "time_ns": method.summary(ns), "sqlite_ns": sqlite,
                     "speed": sqlite / middle, "wanted": question.wanted.first if kind == "first"
                     else question.wanted.sqlite,
                     **{f"{name}_ns": their for name, their in theirs.items()},
                     **{f"{name}_speed": their["median"] / middle for name, their in theirs.items()},
                     "wanted_duckdb": None if kind == "first" else question.wanted.duckdb,
                     "same": same and (checked["hash"], checked["rows"]) == (wanted["hash"], wanted["rows"])})
    return rows


def measure(tools, machine):
    """All of it, and what failed or None."""
    path = database(tools)
    duckdb, connection = peers.find("duckdb"), None
    if duckdb is not None:
        method.say("time: DuckDB's table")
        connection = duckdb_table(duckdb, tools.rows)
        connection.execute(f"SET threads = {machine['cores']}")
    part = {"rows": tools.rows, "results": []}
    with groups.serving(tools, path, views.devices(machine["device"])) as servers:
        for question in QUESTIONS:
            part["results"] += measure_question(servers, path, dated(question), connection)
    failures = [f"{row['sql']} ({row['device']}, {row['kind']}): other rows" for row in part["results"]
                if not row["same"]]
    return part, "; ".join(failures) or None
