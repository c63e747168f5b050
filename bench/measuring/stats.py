"""Statistics and order statistics: fed by rows, merged from states, and in accelerated views.

A case's first statement is ours, and a speed is how many times it is as fast as another one, round
by round. The others are SQLite's nearest (stats_cases.py). The package sqlean.py has a SQLite with
statistics of its own, which read the same file there. DuckDB has the values in a table of its own.
"""

import math
import os
import pathlib
from contextlib import closing

from measuring import method
from measuring import peers
from measuring import views
from measuring.stats_cases import (BUILT_IN, FUNCTION_LIST, FUNCTIONS, PERCENTILE, SEVERAL, SQLEAN,
                                   called, duckdb_columns, fed_cases, fed_devices, possible,
                                   preparations, view_candidates)

#: By how much the results of inexact arithmetic may differ.
RELATIVE, ABSOLUTE = 1e-6, 1e-9

#: Rounds of a case at most, and the seconds after which it has enough of them.
ROUNDS, SECONDS = 5, 1
VIEW_ROUNDS, VIEW_SECONDS = 5, 6
DUCKDB_ROUNDS, DUCKDB_SECONDS = 5, 1


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
    connection.load_extension(tools.extension_for("apsw"))
    return connection, f"SQLite {apsw.sqlitelibversion()}"


def sqlean_connection(tools, path):
    """The database in the SQLite of the package sqlean.py; None without it."""
    sqlean = peers.find("sqlean")
    if sqlean is None:
        return None, None
    sqlean.extensions.enable("stats")
    connection = sqlean.connect(pathlib.Path(path).as_uri() + "?mode=ro", uri=True)
    connection.enable_load_extension(True)
    connection.load_extension(tools.extension_for("sqlean"))
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


def measure_views(tools, path, settings, known, device_wait):
    """The views, with how many times each is as fast as its SELECT fed by rows, by turns."""
    method.say("statistics: views")
    candidates = list(view_candidates(settings, known))
    found = tools.compare_views(path, [(device, kind, sql) for device, _, kind, sql in candidates],
                                VIEW_ROUNDS, VIEW_SECONDS, device_wait)
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
            row["over_one"] = method.ratios(resident[device, row["one"]]["ns"], line["ns"])
        results.append(row)
    return results


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
    part = {"rows": tools.statistics_rows, "file_bytes": os.path.getsize(path), "fed": fed,
            "views": measure_views(tools, path, views.devices(machine["device"]), known,
                                   views.device_wait(tools, tools.statistics_rows)),
            "duckdb": measure_duckdb(tools.statistics_rows, machine["cores"]),
            "missing": lacking(unknown)}
    return part, wrong(part)
