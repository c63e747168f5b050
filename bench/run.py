#!/usr/bin/env python3
"""Measures what this project claims, beside what a user would use instead. `make bench` runs it.

    make bench                         every part, with 10 million rows
    make bench BENCH=kernel            a part, or several: BENCH="feed peers"
    make bench BENCH_ROWS=100000000    another scale for what runs over tables; that of the views
                                       has twice as many rows
    make bench BENCH=statistics        with a tenth of the rows in a run of several parts, since
                                       SQLite's count(DISTINCT) and the like are slow; by itself
                                       with all rows
    make bench BENCH_PYTHON=...        an interpreter that can import duckdb, numpy and sqlean (from
                                       the package sqlean.py), where the usual one cannot
    make bench BENCH_PERCENTILE=...    SQLite's ext/misc/percentile.c, whose median() is measured
                                       with the statistics; without it, that of apsw's SQLite is,
                                       where the interpreter can import apsw

    make bench BENCH=text BENCH_PYTHON=... BENCH_FLIGHTS=flights.csv.gz
                                       views of text and dates, and of a wide table: TPC-H's
                                       lines at scale BENCH_SCALE (1), with tpchgen-cli beside the
                                       interpreter
    make bench BENCH=groups BENCH_PYTHON=... BENCH_FLIGHTS=flights.csv.gz
                                       views with GROUP BY: h2oai's groupby benchmark, and likewise
                                       TPC-H's Q1 and flights
    make bench BENCH=pool BENCH_CONNECTIONS="1 8" BENCH_COMMITS="0 20" BENCH_SECONDS=5
                                       connections that ask the same views, beside a writer; 4
                                       million rows, where the feed has ten; by itself alone
    make bench BENCH=star              views of joins, with the program tpchgen-cli of PyPI;
    make bench BENCH=time              views of TEXT that hardly repeats, timestamps and URLs;
                                       likewise
    make bench BENCH=columnar          the queries of sqlite-columnar's benchmark, over a table of 6 GB;
    make bench BENCH=shapes            45 SELECTs as applications write them, in Python processes
                                       that nobody changed; with a tenth of the rows

The results are left in bench-results/ of the build directory: NAME.json, with everything that was
measured, and NAME.md, NAME-tables.md and their pictures. What is published is made by three runs:
`make bench-report MACHINE=name` (bench/report.py).
"""

import argparse
import concurrent.futures
import math
import os
import subprocess
import sys
import time

from measuring import accuracy
from measuring import changes
from measuring import columnar
from measuring import feed
from measuring import gate
from measuring import groups
from measuring import machine
from measuring import method
from measuring import peers
from measuring import pool
from measuring import process
from measuring import queries
from measuring import scale
from measuring import shapes
from measuring import star
from measuring import stats
from measuring import text
from measuring import times
from measuring import views
from measuring.tools import Tools
from page import files
from page import targets
from page.whole import Runs, description

#: The parts of device-bench, with the seconds that each may take of the five minutes of them all.
DEVICE_SECONDS = {"bandwidth": 10, "kernel": 30, "host": 10, "exponents": 8, "transfer": 12,
                  "devices": 8, "ladder": 14, "startup": 10}
#: Those of them that measure an OpenCL device alone.
ON_DEVICES = ("bandwidth", "kernel", "transfer", "devices", "ladder")
#: The parts that are a module each, whose measure(tools, machine) returns results and what failed.
MODULES = {"views": views, "scale": scale, "queries": queries, "accuracy": accuracy,
           "changes": changes, "statistics": stats, "text": text, "groups": groups,
           "pool": pool, "gate": gate, "star": star, "time": times,
           "columnar": columnar, "shapes": shapes}
#: The scale that the targets are about.
ROWS = 10_000_000

PARTS = (*DEVICE_SECONDS, "feed", "first", "memory", "size", "peers", *MODULES)
#: What takes longer than all others, and is measured when it is asked for, or for a report: in each of its runs, or in the
#: last one alone.
APART = ("pool",)
FOR_REPORTS = ("star", "time", "shapes")
ONCE_A_REPORT = ("columnar",)


def device_part(tools, part):
    """What device-bench says. If that fails, what it said before, and how it failed."""
    command = [tools.device_bench, part, "--seconds", str(DEVICE_SECONDS[part])]
    lines, failure = [], None
    try:
        for line in method.run_lines(command):
            lines.append(line)
    except method.BenchError as error:
        failure = str(error)
    return lines, failure


def note_missing(results, reasons):
    """Keeps for the report, and says, what is not measured."""
    results["missing"] += reasons
    for reason in reasons:
        print(f"bench: {reason}", file=sys.stderr)


def measure(part, tools, results):
    """One part's results, and what failed of it or None."""
    failure = None
    if part in DEVICE_SECONDS:
        found = []
        if part != "startup" or results["machine"]["device"] is not None:
            found, failure = device_part(tools, part)
        if part == "startup":
            found.append(process.load(tools))
    elif part == "feed":
        found = feed.measure(tools)
    elif part == "peers":
        found = peers.measure(tools, results["machine"]["cores"], results["parts"].get("feed"))
    elif part in MODULES:
        found, failure = MODULES[part].measure(tools, results["machine"])
        if part in ("statistics", "text", "groups"):
            note_missing(results, found["missing"])
    else:
        found = getattr(process, part)(tools)
    return found, failure


def measure_left(tools, results, path):
    """Fills in the results of each part that is left, and the file, if there is one, after each of
    them: what has no time may go on with it. A part that fails is named, and the others go on."""
    while results["left"] and not tools.is_late():
        part = results["left"][0]
        start = time.monotonic()
        failure, found = None, None
        if part in ON_DEVICES and results["machine"]["device"] is None:
            note_missing(results, [f"{part} is not measured: there is no device"])
        else:
            try:
                found, failure = measure(part, tools, results)
            except (method.BenchError, OSError, subprocess.SubprocessError) as error:
                failure = str(error)
        if found:
            results["parts"][part] = found
        if failure:
            note_missing(results, [f"{part}: {failure}"])
        results["seconds"][part] = round(time.monotonic() - start, 1)
        print(f"bench: {part} took {results['seconds'][part]} s", file=sys.stderr, flush=True)
        results["left"].pop(0)
        results["ended"] = now()
        if path:
            files.write_results(path, results)
    if results["left"]:
        print(f"bench: not measured, as {tools.too_late()}: {', '.join(results['left'])}",
              file=sys.stderr)


def make_databases(tools):
    """Makes what the runs find, several databases at a time."""
    def make_views():
        tools.scale_database(tools.rows)
        views.large_database(tools, machine.device_in_use(tools))

    with concurrent.futures.ThreadPoolExecutor() as pool:
        made = [pool.submit(make) for make in (
            tools.database, make_views, tools.statistics_database,
            lambda: groups.h2oai_database(tools), lambda: text.database(tools, text.LINEITEM),
            lambda: text.database(tools, text.FLIGHTS))]
    for one in made:
        one.result()


def parse(arguments):
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--build", default=".", help="where it all is built")
    parser.add_argument("--output", default="bench-results", help="the folder for the results")
    parser.add_argument("--json", default="", help="a file for the results, and no page of them")
    parser.add_argument("--rows", type=int, default=ROWS, help="rows of the feed")
    parser.add_argument("--compiler", default="", help="what it is built with, with options")
    parser.add_argument("--percentile", default="", help="a loadable extension with median()")
    parser.add_argument("--by", default="", help="the command of make that runs this")
    parser.add_argument("--run", type=turn, default=(1, 1), metavar="N/COUNT",
                        help="which of several runs of one report this is")
    parser.add_argument("--prepare", action="store_true",
                        help="make the databases that are not there, and measure nothing")
    parser.add_argument("--limit", type=float, default=math.inf, metavar="SECONDS",
                        help="what has not begun by then is left; with the same --json once "
                             "more, the run goes on with it")
    options = parser.parse_args(arguments)
    unknown = set(options.parts) - set(PARTS)
    if unknown:
        parser.error(f"no such part: {', '.join(sorted(unknown))}; there are: {', '.join(PARTS)}")
    if options.rows < 1000:
        parser.error("--rows: no fewer than 1000")
    return options


def turn(text):
    """A run's number and how many there are, of N/COUNT."""
    number, count = map(int, text.split("/"))
    if not 1 <= number <= count:
        raise ValueError(text)
    return number, count


def command(options, arguments):
    """What to run to measure it all again."""
    if not options.by:
        return " ".join(["bench/run.py", *arguments])
    words = [options.by]
    if options.parts:
        parts = " ".join(options.parts)
        words.append(f'BENCH="{parts}"' if len(options.parts) > 1 else f"BENCH={parts}")
    if options.rows != ROWS:
        words.append(f"BENCH_ROWS={options.rows}")
    if options.percentile:
        words.append("BENCH_PERCENTILE=ext/misc/percentile.c")
    if text.flights_file():
        words.append(f"BENCH_FLIGHTS={os.path.basename(text.flights_file())}")
    if text.tpch_scale() != "1":
        words.append(f"BENCH_SCALE={text.tpch_scale()}")
    return " ".join(words)


def now():
    """The time, as the results have it."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime())


def usual(number, count):
    """The parts that are measured where none are named, by one of so many runs."""
    left_out = set(APART)
    if count == 1:
        left_out.update(FOR_REPORTS)
    if count == 1 or number < count:
        left_out.update(ONCE_A_REPORT)
    return [part for part in PARTS if part not in left_out]


def going_on(results, path):
    """The results of a run that had no time for all its parts, or those of a run that begins. What
    was measured then counts; what was left is measured now."""
    before = files.read_results(path) if path else None
    if before is None:
        return results
    if description(before) != description(results):
        raise method.BenchError(f"{path} is of another commit, command, scale or machine")
    before["calls"] += 1
    return before


def main(arguments):
    """Measures, writes the results and maybe the page of them, and says where they are."""
    options = parse(arguments)
    os.makedirs(options.output, exist_ok=True)
    tools = Tools(os.path.abspath(options.build), os.path.abspath(options.output), options.rows,
                  options.rows if options.parts == ["statistics"] else options.rows // 10,
                  options.percentile, options.run, options.limit)
    if options.prepare:
        make_databases(tools)
        return 0
    method.say("looking at the machine")
    results = {
        "format": 2,
        "command": command(options, arguments),
        "started": now(),
        "ended": now(),
        "run": options.run[0],
        "rows": options.rows,
        "machine": machine.describe(tools, options.compiler),
        "calls": 1,
        "missing": [],
        "left": [],
        "parts": {},
        "seconds": {},
    }
    results = going_on(results, options.json)
    if results["calls"] == 1:
        note_missing(results, peers.missing())
        results["left"] = [part for part in PARTS if part in (options.parts or usual(*options.run))]
    measure_left(tools, results, options.json)
    results["targets"] = [target.row(results) for target in targets.of_machine(results)]
    name = "-".join(options.parts) or "all"
    path = options.json or os.path.join(options.output, f"{name}.json")
    files.write_results(path, results)
    print(path)
    if not options.json:
        print(files.write_page(Runs(name, {1: results}, 1), options.output))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except method.BenchError as error:
        sys.exit(f"bench: {error}")
