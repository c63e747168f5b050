"""Statistics and order statistics: fed by rows, merged from states, and in accelerated views.

A case's first statement is ours, and a speed is how many times it is as fast as another one, round
by round. The others are SQLite's nearest: an expression that finds the same in inexact arithmetic,
a GROUP BY, count(DISTINCT), and median() and percentile() of SQLite's extension, which are in
its core since 3.51. The package sqlean.py has a SQLite with statistics of its own, which read the
same file there. DuckDB has the values in a table of its own. The tables are described in
statistics_data.h.
"""

import math
import os
import pathlib
import re
from contextlib import closing

import method
import peers
import views

LOW, HIGH, BINS = -716, 716, 50
WIDTH = (HIGH - LOW) / BINS

VAR_POP = "sum(x * x) / count(x) - avg(x) * avg(x)"
STDDEV_SAMP = "sqrt((sum(x * x) - sum(x) * sum(x) / count(x)) / (count(x) - 1))"
CORR = ("(count(*) * sum(x * y) - sum(x) * sum(y)) / sqrt((count(*) * sum(x * x) - sum(x) * sum(x))"
        " * (count(*) * sum(y * y) - sum(y) * sum(y)))")
SLOPE = ("(count(*) * sum(x * y) - sum(x) * sum(y)) / "
         "(count(*) * sum(x * x) - sum(x) * sum(x))")

#: A name, our call, SQLite's SELECT and DuckDB's.
FUNCTIONS = (
    ("var_pop", "gpu_var_pop(x)", f"SELECT {VAR_POP} FROM t", "SELECT var_pop(x) FROM t"),
    ("stddev_samp", "gpu_stddev_samp(x)", f"SELECT {STDDEV_SAMP} FROM t",
     "SELECT stddev_samp(x) FROM t"),
    ("corr", "gpu_corr(y, x)", f"SELECT {CORR} FROM t", "SELECT corr(y, x) FROM t"),
    ("regr_slope", "gpu_regr_slope(y, x)", f"SELECT {SLOPE} FROM t",
     "SELECT regr_slope(y, x) FROM t"),
    ("norm", "gpu_norm(x)", "SELECT sqrt(sum(x * x)) FROM t", "SELECT sqrt(sum(x * x)) FROM t"),
    ("count_distinct", "gpu_count_distinct(x)", "SELECT count(DISTINCT x) FROM t",
     "SELECT count(DISTINCT x) FROM t"),
    ("count_distinct, few", "gpu_count_distinct(k)", "SELECT count(DISTINCT k) FROM t",
     "SELECT count(DISTINCT k) FROM t"),
    ("median", "gpu_median(x)", "SELECT median(x) FROM t", "SELECT median(x) FROM t"),
    ("percentile", "gpu_percentile(x, 90)", "SELECT percentile(x, 90) FROM t",
     "SELECT quantile_cont(x, 0.9) FROM t"),
    ("mode", "gpu_mode(k)", "SELECT k FROM t GROUP BY k ORDER BY count(*) DESC, k LIMIT 1",
     "SELECT mode(k) FROM t"),
    ("histogram", f"gpu_histogram(x, {LOW}, {HIGH}, {BINS})",
     f"SELECT CAST((x + {-LOW}) / {WIDTH} AS INTEGER) AS bin, count(*) FROM t GROUP BY bin",
     f"SELECT CAST(floor((x + {-LOW}) / {WIDTH}) AS INTEGER) AS bin, count(*) FROM t GROUP BY bin"),
)
#: What sqlean has for the same purpose: a name, our call and its own.
SQLEAN = (("var_pop, sqlean", "gpu_var_pop(x)", "stats_var_pop(x)"),
          ("stddev_samp, sqlean", "gpu_stddev_samp(x)", "stats_stddev_samp(x)"),
          ("median, sqlean", "gpu_median(x)", "stats_median(x)"),
          ("percentile, sqlean", "gpu_percentile(x, 90)", "stats_perc(x, 90)"))
#: What views of TEXT and of states are measured with: a name, our call and its table.
OTHER_TABLES = (("count_distinct, TEXT", "gpu_count_distinct(word)", "words"),
                ("sum_merge", "gpu_sum_merge(state)", "states"))
#: Views whose first query is measured too: with its pages to read, and maybe values to sort.
READ_FIRST = ("corr", "count_distinct", "median", "count_distinct, TEXT", "sum_merge")
#: Several statistics over the same columns: a name, the calls, and the function among those above
#: that they are held against.
SEVERAL = (("three of (y, x)", "gpu_corr(y, x), gpu_regr_slope(y, x), gpu_covar_pop(y, x)", "corr"),
           ("five percentiles", "gpu_percentile(x, 1), gpu_percentile(x, 25), gpu_median(x),"
            " gpu_percentile(x, 75), gpu_percentile(x, 99)", "median"))

#: By how much the results of inexact arithmetic may differ.
RELATIVE, ABSOLUTE = 1e-6, 1e-9

FUNCTION_LIST = "SELECT DISTINCT name FROM pragma_function_list"
#: What SQLite's own extension adds, and newer SQLites have built in; what a case of those is called.
PERCENTILE = {"median", "percentile"}
BUILT_IN = "{}, built in"

#: Rounds of a case at most, and the seconds after which it has enough of them.
ROUNDS, SECONDS = 5, 3
VIEW_ROUNDS, VIEW_SECONDS, PATIENCE = 5, 10, 30
DUCKDB_ROUNDS, DUCKDB_SECONDS = 5, 2


def fed_devices(device):
    """The settings to feed with: auto, and the host too where auto may be another device."""
    return ("auto", "host") if device and device["type"] != "cpu" else ("auto",)


def fed_cases(settings):
    """Each function beside SQLite's, and states: a name and statements (device, SQL) each."""
    for name, call, theirs, _ in FUNCTIONS:
        ours = [(setting, f"SELECT {call} FROM t") for setting in settings]
        yield name, [ours[0], (settings[0], theirs), *ours[1:]]
    yield "sum_state, GROUP BY", [(settings[0], f"SELECT {name}(x) FROM grouped GROUP BY g")
                                  for name in ("gpu_sum_state", "sum")]
    yield "sum_merge", [(settings[0], sql) for sql in
                        ("SELECT gpu_sum_merge(state) FROM states", "SELECT sum(part) FROM sums",
                         "SELECT gpu_sum(x) FROM grouped")]


def preparations(percentile):
    """What the cases need: tables that only functions of ours, or SQLite, can fill, and SQLite's
    median()."""
    statements = [f"CREATE TABLE IF NOT EXISTS {table} AS SELECT {select}" for table, select in
                  (("states", "gpu_sum_state(x) AS state FROM grouped GROUP BY g"),
                   ("sums", "sum(x) AS part FROM grouped GROUP BY g"),
                   ("words", "CAST(x AS TEXT) AS word FROM t"))]
    if percentile:
        quoted = percentile.replace("'", "''")
        statements.append(f"SELECT load_extension('{quoted}')")
    return [("auto", sql) for sql in statements]


def called(sql):
    """The names of the functions in a statement."""
    return set(re.findall(r"\b([a-z_]+)\(", sql))


def possible(cases, known):
    """The cases without the statements that call unknown functions, and those functions' names.

    A case whose first statement cannot run is left out.
    """
    chosen, unknown = [], set()
    for name, statements in cases:
        lacking = [called(sql) - known for _, sql in statements]
        unknown.update(*lacking)
        if not lacking[0]:
            chosen.append((name, [statement for statement, lacks in zip(statements, lacking)
                                  if not lacks]))
    return chosen, unknown


def agree(ours, theirs):
    """Whether two statements found the same; None of what is no number.

    The exact ones have to have the same bits, inexact ones the digits that they can have.
    """
    if called(theirs["sql"]) & called(ours["sql"]):
        return ours["result"] == theirs["result"]
    return close(ours["result"], theirs["result"])


def close(ours, theirs):
    """Whether two numbers are the same but for what inexact arithmetic loses; None of others."""
    try:
        return math.isclose(float(ours), float(theirs), rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    except (TypeError, ValueError):
        return None


def evaluate(case):
    """Adds to a case the summaries of its times, and of how many times its first is as fast."""
    first = case["statements"][0]
    for statement in case["statements"]:
        statement["time_ns"] = method.summary(statement["ns"])
        statement["speed"] = method.ratios(statement["ns"], first["ns"])
        statement["agrees"] = agree(first, statement)
    return case


def measure_fed(tools, path, cases):
    """What feed-bench says of cases, evaluated."""
    results = []
    method.say(f"statistics: {cases[0][0]}")
    for case in tools.compare(path, cases, ROUNDS, SECONDS, preparations(tools.percentile)):
        results.append(evaluate(case))
        if len(results) < len(cases):
            method.say(f"statistics: {cases[len(results)][0]}")
    return results


def apsw_connection(tools, path):
    """The database in the SQLite of the package apsw, with the extension; None without apsw."""
    apsw = peers.find("apsw")
    if apsw is None:
        return None, None
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    connection.enable_load_extension(True)
    connection.load_extension(tools.extension)
    return connection, f"SQLite {apsw.sqlitelibversion()}"


def sqlean_connection(tools, path):
    """The database in the SQLite of the package sqlean.py; None without it."""
    sqlean = peers.find("sqlean")
    if sqlean is None:
        return None, None
    sqlean.extensions.enable("stats")
    connection = sqlean.connect(pathlib.Path(path).as_uri() + "?mode=ro", uri=True)
    connection.enable_load_extension(True)
    connection.load_extension(tools.extension)
    return connection, f"sqlean's SQLite {sqlean.sqlite_version}"


def measure_here(connection, version, cases):
    """The cases in a SQLite that this interpreter has, as far as there are their functions."""
    if connection is None:
        return []
    results = []
    with closing(connection):
        cases, _ = possible(cases, {name for name, in connection.execute(FUNCTION_LIST)})
        cases = [case for case in cases if len(case[1]) > 1]
        for name, statements in cases:
            method.say(f"statistics: {name}, {version}")
            found = {}

            def run(sql, found=found):
                (found[sql], *_), *_ = connection.execute(sql)

            times = method.take_turns([method.timed(lambda sql=sql, run=run: run(sql))
                                       for _, sql in statements], ROUNDS, SECONDS)
            results.append(evaluate({"name": name, "sqlite": version, "statements": [
                {"device": device, "sql": sql, "result": repr(found[sql]), "ns": ns}
                for (device, sql), ns in zip(statements, times)]}))
    return results


def measure_sqlean(tools, path):
    """sqlean's statistics beside ours in its SQLite; none without it."""
    return measure_here(*sqlean_connection(tools, path), [
        (name, [("auto", f"SELECT {call} FROM t") for call in calls]) for name, *calls in SQLEAN])


def view_candidates(settings, known):
    """What views are measured of: (device, name, kind, SELECT), a function's own SELECT first."""
    selects = [(name, call, "t") for name, call, *_ in FUNCTIONS + SEVERAL] + list(OTHER_TABLES)
    for device in settings:
        for name, call, table in selects:
            if called(call) <= known:
                for kind in ("select", "first", "again"):
                    if kind != "first" or name in READ_FIRST:
                        yield device, name, kind, f"SELECT {call} FROM {table}"


def measure_views(tools, path, settings, known, patience):
    """The views, with how many times each is as fast as its SELECT fed by rows, by turns."""
    method.say("statistics: views")
    candidates = list(view_candidates(settings, known))
    found = tools.compare_views(path, [(device, kind, sql) for device, _, kind, sql in candidates],
                                VIEW_ROUNDS, VIEW_SECONDS, patience)
    results, fed, resident = [], None, {}
    held_against = {name: one for name, _, one in SEVERAL}
    for (device, name, kind, _), line in zip(candidates, found):
        if kind == "select":
            fed = line
            continue
        row = views.evaluate(name, line, fed)
        row["select_time_ns"] = method.summary(fed["ns"])
        if kind == "again":
            resident[device, name] = line
        if name in held_against:
            row["one"] = held_against[name]
            row["over_one"] = method.ratios(line["ns"], resident[device, row["one"]]["ns"])
        results.append(row)
    return results


def scrambled(multiplier):
    """The integers that the columns are made of, in DuckDB's SQL."""
    h = f"(n * {multiplier} & 4294967295)"
    g = f"(xor({h}, {h} >> 16) * 73244475 & 4294967295)"
    return f"xor({g}, {g} >> 16)"


def duckdb_columns():
    """The columns of t in DuckDB's SQL, by their names."""
    x, y = (f"({scrambled(multiplier)} - 2147483648)::DOUBLE / {divisor}::DOUBLE"
            for multiplier, divisor in (peers.X, peers.Y))
    one, other = (f"({scrambled(multiplier)} % 1000)" for multiplier in (3266489917, 668265263))
    return {"x": x, "y": f"{y} + {x} / 2::DOUBLE", "k": f"{one} * {other} // 1000"}


def measure_duckdb(rows, cores):
    """DuckDB's functions, with one thread and with all; None where it is not."""
    duckdb = peers.find("duckdb")
    if duckdb is None:
        return None
    method.say("statistics: DuckDB")
    results = []
    with closing(peers.duckdb_table(duckdb, rows, **duckdb_columns())) as connection:
        for threads in sorted({1, cores}):
            connection.execute(f"SET threads = {threads}")
            for name, _, _, sql in FUNCTIONS:
                def run(sql=sql):
                    return connection.execute(sql).fetchall()

                times, = method.take_turns([method.timed(run)], DUCKDB_ROUNDS, DUCKDB_SECONDS)
                results.append({"name": name, "sql": sql, "threads": threads, "ns": times,
                                "time_ns": method.summary(times), "result": repr(run()[0][0])})
    return results


def find_case(part, name):
    """What was fed, by its name, or None."""
    return next((case for case in part["fed"] if case["name"] == name), None)


def wrong(part):
    """What failed: statements and views whose results are not the same. None if there are none."""
    failures = []
    for case in part["fed"]:
        ours, *others = case["statements"]
        failures += [f"{other['sql']}: {other['result']}, and {ours['result']} by {ours['sql']}"
                     for other in others if other["agrees"] is False]
    failures += [f"{row['sql']} ({row['device']}, {row['kind']}): {row['result']}, not "
                 f"{row['expected']}" for row in part["views"] if not row["same"]]
    for row in part["duckdb"] or ():
        case = find_case(part, row["name"])
        if case and close(case["statements"][0]["result"], row["result"]) is False:
            failures.append(f"DuckDB, {row['sql']}: {row['result']}")
    return "; ".join(failures) or None


def lacking(unknown):
    """A sentence for each function that is not there."""
    return [f"{name}() is not measured: there is no such function"
            + (" in this SQLite; BENCH_PERCENTILE names its ext/misc/percentile.c"
               if name in PERCENTILE else "") for name in sorted(unknown)]


def measure_all_fed(tools, path, settings, known):
    """What is fed, also in apsw's SQLite if it has median() built in, and in sqlean's; and the
    functions that lack."""
    cases, unknown = possible(fed_cases(settings), known)
    built_in = [(BUILT_IN.format(name), statements) for name, statements in fed_cases(("auto",))
                if any(called(sql) & PERCENTILE for _, sql in statements)]
    fed = measure_fed(tools, path, cases) + measure_sqlean(tools, path)
    return fed + measure_here(*apsw_connection(tools, path), built_in), unknown


def measure(tools, machine):
    """All of it, and what failed or None."""
    path = tools.statistics_database()
    known = {name for name, in tools.query(FUNCTION_LIST)}
    fed, unknown = measure_all_fed(tools, path, fed_devices(machine["device"]),
                                   known | (PERCENTILE if tools.percentile else set()))
    start_after, = tools.query("SELECT value FROM clreduce_settings WHERE name = 'start_after'")
    patience = PATIENCE if tools.statistics_rows >= int(start_after[0]) else 0
    part = {"rows": tools.statistics_rows, "file_bytes": os.path.getsize(path), "fed": fed,
            "views": measure_views(tools, path, views.devices(machine["device"]), known, patience),
            "duckdb": measure_duckdb(tools.statistics_rows, machine["cores"]),
            "missing": lacking(unknown)}
    return part, wrong(part)
