"""The published page of a machine: it is made of the JSON of three runs alone, and says how many of
them met a target, their median and range, and which of them is missing.
"""

import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import tap

BENCH = os.path.join(tap.SRCDIR, "bench")
sys.path.insert(0, BENCH)

import run  # noqa: E402
from measuring import gate, method  # noqa: E402
from page import files, readme, whole  # noqa: E402

MACHINE = {"processor": "a processor", "cores": 2, "memory_bytes": 1 << 30, "system": "a system",
           "device": None, "versions": {"clreduce": "0.1.0", "DuckDB": None}}


def summary(median, low, high):
    """A summary as a run has it."""
    return {"median": median, "min": low, "max": high, "runs": 3}


def statement(sql, time, speed, low, high):
    """A statement of the feed."""
    return {"device": "auto", "sql": f"SELECT {sql} FROM t", "ns": [time, time, time],
            "time_ns": summary(time, time, time), "speed": summary(speed, low, high)}


def scale_row(device, kind, rows, time):
    """A line of the scale."""
    return {"rows": rows, "device": device, "kind": kind, "sql": f"{device} {kind}", "ns": [time],
            "time_ns": summary(time, time / 2, time * 2), "same": True}


def group_row(time, speed):
    """A question of the groups, that many times as fast as DuckDB."""
    return {"name": "h2oai q9", "table": "h2o", "device": "host", "kind": "again", "sql": "q9",
            "plan": "accelerated: host", "groups": 10000, "ns": [time],
            "time_ns": summary(time, time, time), "sqlite_ns": 100 * time, "speed": 100,
            "duckdb_ns": summary(time * speed, time, time), "duckdb_speed": speed, "same": True}


def event_row(speed):
    """A question about times, so many times as fast as DuckDB, of 4 that are wanted."""
    return {"name": "by hour", "device": "host", "kind": "again", "sql": "by hour", "plan": "accelerated: host", "ns": [1000],
            "time_ns": summary(1000, 1000, 1000), "sqlite_ns": 6e5, "speed": 600, "wanted": 300, "wanted_duckdb": 4,
            "duckdb_ns": summary(1000 * speed, 1000, 9000), "duckdb_speed": speed, "same": True}


def shape_row(speed):
    """A SELECT of a program, so many times as fast when it comes again."""
    return {"name": "a week", "sql": "SELECT 1", "plan": "accelerated", "plain": [0.5, 0.5, 0.5], "through": [1, 0.5, 0.5 / speed],
            "speeds": [0.5, 1, speed], "same": True}


def cell(preloaded):
    """A statement of a program that takes a second, and so many through the library."""
    ways = [1, preloaded, 1]
    return {"name": "exists", "rows": 10, "first": ways, "later": [1, 0.1, 1], "same": True,
            "halves": {"first": [ways, ways], "later": [[1, 0.1, 1], [1, 0.1, 1]]}}


def make_run(number, speed, time, same=True):
    """The results of a run in which gpu_sum is so many times as fast as sum."""
    scale = [scale_row(device, kind, rows, time * rows)
             for device, kind in (("SQLite", "select"), ("host", "first"), ("host", "again"))
             for rows in (1000, 10000)]
    scale[2]["same"] = same
    return {
        "format": 2, "command": "make bench-report MACHINE=some", "rows": 1000,
        "started": f"2026-01-0{number} 10:00:00", "ended": f"2026-01-0{number} 10:05:00",
        "machine": MACHINE, "missing": ["DuckDB is not measured"] if number == 2 else [],
        "calls": 2 if number == 3 else 1, "left": [], "seconds": {}, "parts": {
            "kernel": [],
            "feed": [{"name": "gpu_sum, REAL", "rows": 1000, "statements": [
                statement("gpu_sum(x)", 1000 * time, 1, 1, 1),
                statement("sum(x)", 1000 * time * speed, speed, speed - 0.25, speed + 0.25),
                statement("gpu_sum(x)", 1000 * time, 1, 1, 1),
                statement("bench_noop(x)", 900 * time, 0.9, 0.9, 0.9)]}],
            "groups": {"missing": [], "rows": [group_row(1000 * time, 2 * speed)]},
            "time": {"rows": 1000, "results": [event_row(4 * speed)]},
            "shapes": {"rows": [shape_row(10 * speed)]},
            "gate": {"cells": [cell(speed)], **gate.summary([cell(speed)]), "shell": {"plain": 1.5, "first": 0.25, "again": 0.002}},
            "scale": scale}}


RUNS = {1: make_run(1, 1.5, 40), 2: make_run(2, 0.75, 10), 3: make_run(3, 1.25, 20)}


def write_runs(folder, runs):
    """Writes the files that the page is made of."""
    os.makedirs(os.path.join(folder, "runs"), exist_ok=True)
    for number, run in runs.items():
        files.write_results(os.path.join(folder, "runs", f"some-{number}.json"), run)


def report(*arguments):
    """Runs bench/report.py; returns its exit status and what it says is wrong."""
    done = subprocess.run([sys.executable, os.path.join(BENCH, "report.py"), *arguments],
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def make_page(folder):
    """Makes all pages of a folder; returns the exit status and what is wrong."""
    return report("page", folder)


def read(folder, name):
    """A file's text."""
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return file.read()


def line_of(text, beginning):
    """The cells of the table's row that begins so."""
    for line in text.splitlines():
        if line.startswith(f"| {beginning} |"):
            return [cell.strip() for cell in line.strip("|").split("|")][1:]
    return None


def check_three_runs(folder):
    """Median, range and count of three runs."""
    write_runs(folder, RUNS)
    tap.is_equal(make_page(folder), (0, ""), "the page of three runs is made")
    page, tables = read(folder, "some.md"), read(folder, "some-tables.md")
    tap.is_equal(line_of(page, "feed: gpu_sum against sum"),
                 ["≥ 1.00×", "1.25×", "0.75× to 1.50×", "**2 of 3 met**"],
                 "a target has the median of the runs, their range, and how many met it")
    tap.is_equal(line_of(page, "feed: gpu_max against max"), ["≥ 1.00×", "not measured", "", ""],
                 "a target that was not measured is said")
    tap.ok("is missing" not in page, "no run is said to be missing")
    tap.ok("run 3: 2026-01-03 10:00:00 to 2026-01-03 10:05:00 UTC, in 2 calls" in page,
           "a run in several calls is said")
    tap.ok("- missing (run 2): DuckDB is not measured" in page, "what a run did not measure is said with its number")
    tap.is_equal(line_of(tables, "gpu_sum, REAL"),
                 ["1,000", "20.0", "`sum(x)`", "25.0", "1.25× (0.50× to 1.75×)"],
                 "a table has the medians of the runs, and the range of all their rounds")
    tap.is_equal(line_of(page, "groups, h2oai q9, resident, against DuckDB with all threads"),
                 ["≥ 2.00×", "2.50×", "1.50× to 3.00×", "**2 of 3 met**"],
                 "a target of groups is about the questions that it names")
    tap.is_equal(line_of(page, "groups, h2oai q6, resident, against SQLite"),
                 ["≥ 50.0×", "not measured", "", ""], "and is not measured without them")
    tap.is_equal(line_of(tables, "h2oai q9"),
                 ["10,000", "host", "resident", "20 µs (10 µs to 40 µs)", "2 ms", "100×", "50 µs",
                  "2.50×", "accelerated: host", "same"], "the table of groups has a line for each")
    tap.is_equal(line_of(page, "events, the least share of what is wanted of a question, resident, against DuckDB's TIMESTAMP"),
                 ["≥ 1.00×", "1.25×", "0.75× to 1.50×", "**2 of 3 met**"], "questions have limits of their own")
    tap.is_equal(line_of(page, "programs that nobody changed: statements slower than without"),
                 ["≤ 0%", "50%", "0% to 50%", "**1 of 3 met**"], "a target may be a share")
    tap.is_equal(line_of(tables, "a week"), ["500", "0.5", "1", "12.5", "accelerated"], "the table of programs' SELECTs has a line for each")
    tap.is_equal(line_of(tables, "exists"), ["0.8, 10"], "and so has that of their statements")
    tap.ok("through `clreduce-run` 250 ms, and the same SELECT again 2 ms" in tables, "the shell's times are told")
    tap.ok("0.75×" not in tables, "and no figure of one run besides")
    picture = xml.etree.ElementTree.fromstring(read(folder, "some-scale.svg"))
    texts = [element.text for element in picture.iter() if element.tag.endswith("text")]
    tap.ok("rows of the table" in texts and "time of a query" in texts, "a picture is well-formed and names its axes")
    tap.ok("(some-scale.svg)" in page, "the page shows it")
    tap.ok(not os.path.exists(os.path.join(folder, "some-accuracy.svg")), "what was not measured is not drawn")
    return {name: read(folder, name) for name in os.listdir(folder) if name != "runs"}


def check_again(folder, before):
    """The same page comes from the same JSON."""
    for name in before:
        os.remove(os.path.join(folder, name))
    make_page(folder)
    tap.is_equal({name: read(folder, name) for name in before}, before, "the page that is made again is the same")


def check_missing(folder):
    """A run that is not there."""
    os.remove(os.path.join(folder, "runs", "some-3.json"))
    make_page(folder)
    page = read(folder, "some.md")
    tap.ok("- **run 3 is missing**" in page, "a missing run is said")
    tap.ok("1 failed or are missing, and are not replaced" in page, "and that nothing stands in for it")
    tap.is_equal(line_of(page, "feed: gpu_sum against sum"),
                 ["≥ 1.00×", "1.12×", "0.75× to 1.50×", "**1 of 3 met**"],
                 "a missing run has not met a target")


def check_mismatch(folder):
    """A run of another scale."""
    write_runs(folder, {3: dict(RUNS[3], rows=2000)})
    code, error = make_page(folder)
    tap.ok(code != 0 and "other commits, commands, scales or machines" in error, "runs of different scales make no page")
    write_runs(folder, {3: dict(RUNS[3], machine={**MACHINE, "versions": {**MACHINE["versions"], "commit": "12345678"}})})
    code, error = make_page(folder)
    tap.ok(code != 0 and "other commits, commands, scales or machines" in error, "nor do those of different commits")
    write_runs(folder, RUNS)


def check_measuring(folder):
    """What is there is not measured again by itself, and what fails is not there."""
    before = read(folder, os.path.join("runs", "some-2.json"))
    code, error = report("measure", "some", folder, "--run", "2", "--", "--rows", "1000")
    tap.ok(code != 0 and "run 2 of some is there, and is not measured again" in error,
           "a run that is there is not measured again")
    tap.is_equal(read(folder, os.path.join("runs", "some-2.json")), before, "and stays as it is")
    code, error = report("measure", "some", folder, "--run", "1", "--", "nothing")
    tap.ok(code != 0 and "run 1 of some failed" in error and "there is no run of some" in error,
           "a run that fails is said, and leaves none of those before")
    tap.is_equal(os.listdir(os.path.join(folder, "runs")), [], "run 1 begins anew")
    code, error = report("measure", "../some", folder)
    tap.ok(code != 0 and "the machine's name" in error, "a name that is no name is refused")


class Clock:
    """Tools that are late after so many parts."""

    def __init__(self, parts):
        self.parts = parts

    def is_late(self):
        self.parts -= 1
        return self.parts < 0

    def too_late(self):
        return "time is over"


def check_parts():
    """Which parts a run has."""
    apart = ["pool", "star", "time", "columnar", "shapes"]
    tap.is_equal([[part for part in apart if part in run.usual(*turn)] for turn in ((1, 1), (1, 3), (3, 3))],
                 [[], ["star", "time", "shapes"], ["star", "time", "columnar", "shapes"]],
                 "a report has more parts than a run by itself, and one of them once")


def check_going_on(folder):
    """A run that has no time for all parts goes on with the others."""
    path = os.path.join(folder, "part.json")
    measured = []
    begun = dict(make_run(1, 1, 1), calls=1, left=["feed", "size", "views"], parts={})
    run.measure = lambda part, tools, results: (measured.append(part) or [part], None)
    run.measure_left(Clock(2), run.going_on(begun, path), path)
    kept = files.read_results(path)
    tap.is_equal((kept["parts"], kept["left"]), ({"feed": ["feed"], "size": ["size"]}, ["views"]),
                 "what had time is kept, and so are the names of what had none")
    again = run.going_on(dict(make_run(1, 1, 1), calls=1, left=["feed", "size", "views"]), path)
    run.measure_left(Clock(9), again, path)
    kept = files.read_results(path)
    tap.is_equal((measured, list(kept["parts"]), kept["left"], kept["calls"]),
                 (["feed", "size", "views"], ["feed", "size", "views"], [], 2), "a run goes on with what is left, once")
    try:
        run.going_on(dict(begun, rows=2000), path)
        tap.ok(False, "and with no other run's results")
    except method.BenchError as error:
        tap.ok("of another commit, command, scale or machine" in str(error), "and with no other run's results")


def check_readme():
    """README's table is that of the published runs."""
    whole_runs = whole.Runs("some", RUNS, 3)
    of_one = {**RUNS, **{number: dict(RUNS[number], parts={}) for number in (1, 3)}}
    find = readme.plain(lambda results: results["parts"].get("feed") and results["parts"]["feed"][0]["statements"][1]["speed"]["median"])
    tap.is_equal([readme.cell(runs, find) for runs in (whole_runs, whole.Runs("some", of_one, 3))], ["1.25", "0.75¹"],
                 "a figure is the median of the runs, and says in how few it was measured")
    without = {**RUNS, 3: dict(RUNS[3], parts={part: found for part, found in RUNS[3]["parts"].items() if part != "shapes"})}
    tap.is_equal([readme.cell(runs, readme.spread(2)) for runs in (whole_runs, whole.Runs("some", without, 3))],
                 ["12.5", "11.2²"], "what the runs share is of all of them, and says how few had it")
    with open(os.path.join(tap.SRCDIR, "README.md"), encoding="utf-8") as file:
        text = file.read()
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "README.md"), "w", encoding="utf-8") as file:
            file.write(text)
        tap.is_equal(report("readme", os.path.join(BENCH, "report"), file.name), (0, ""), "README's table is filled in")
        tap.ok(read(folder, "README.md") == text, "and was so before (make bench-readme)")


def check_sqlite():
    """What SQLite took for groups in one run is what all runs are held against."""
    runs = {number: make_run(number, 1.5, number) for number in (1, 2, 3)}
    for number in (1, 3):
        row, = runs[number]["parts"]["groups"]["rows"]
        del row["sqlite_ns"], row["speed"], row["same"]
    together = whole.Runs("some", runs, 3)
    rows = [run["parts"]["groups"]["rows"][0] for run in together.results.values()]
    tap.is_equal([(row["sqlite_ns"], row["speed"]) for row in rows],
                 [(200000, 200.0), (200000, 100), (200000, 200 / 3)],
                 "SQLite's time in one run is held against the view's in each")
    tap.is_equal(["same" in row for row in rows], [False, True, False], "and rows are compared in that run alone")


def check_combining():
    """What trees of results are put together to."""
    one, two = make_run(1, 1.5, 40), make_run(2, 0.75, 10, same=False)
    extra = scale_row("DuckDB", "select", 1000, 7)
    two["parts"]["scale"].insert(0, extra)
    scale = whole.combine([one, two])["parts"]["scale"]
    tap.is_equal([row["same"] for row in scale], [True, True, False, True, True, True, True],
                 "a result is the same if it is so in every run")
    tap.is_equal(scale[-1]["time_ns"]["median"], 7, "what one run has alone is kept")
    tap.is_equal(whole.combine([3, 9, 4]), 4, "a number is the median of the runs")
    tap.is_equal(json.dumps(whole.combine([RUNS[1], RUNS[1]])["parts"]["feed"][0]["rows"]), "1000", "a count stays one")


def main():
    """All checks."""
    with tempfile.TemporaryDirectory() as folder:
        before = check_three_runs(folder)
        check_again(folder, before)
        check_missing(folder)
        check_mismatch(folder)
        check_measuring(folder)
        check_going_on(folder)
    check_parts()
    check_readme()
    check_sqlite()
    check_combining()
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
