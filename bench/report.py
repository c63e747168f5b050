#!/usr/bin/env python3
"""Measures a machine for its published page, and makes the page of what was measured.

    bench/report.py measure NAME FOLDER [--run NUMBER] -- OPTION...
        Runs all of bench/run.py three times in a row, with the same options, and writes
        FOLDER/runs/NAME-1.json and so on, and the page. What was there of that name is removed
        first. With a number, only that one of the three runs, for a machine that is lent for so
        long at a time: 1 removes what was there, and 2 and 3 do not measure again what is there.
        A run that had no time for all parts (--limit) goes on with those that are left, as often
        as it takes.

    bench/report.py page FOLDER [NAME...]
        Makes FOLDER/NAME.md, NAME-tables.md and their pictures of the runs in FOLDER/runs alone: of
        all machines, or of those that are named. A run that is not there is said to be missing.

    bench/report.py readme FOLDER README
        Fills in README's table, of the same runs.
"""

import argparse
import os
import re
import subprocess
import sys

from page import files
from page import readme
from page.whole import MismatchError, Runs

RUNS = 3


class ReportError(Exception):
    """What was asked for cannot be done."""


def run_path(folder, name, number):
    """The file of a run's results."""
    return os.path.join(folder, "runs", f"{name}-{number}.json")


def read_runs(folder, name):
    """The runs of a machine that are there, which is one at least."""
    found = {number: files.read_results(run_path(folder, name, number))
             for number in range(1, RUNS + 1)}
    found = {number: results for number, results in found.items() if results is not None}
    if not found:
        raise ReportError(f"there is no run of {name} in {os.path.join(folder, 'runs')}")
    return Runs(name, found, RUNS)


def make_page(folder, name):
    """Makes a machine's page and says where it is."""
    print(files.write_page(read_runs(folder, name), folder))


def fill_readme(folder, path):
    """Fills in the table of a README."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    text = readme.refill(text, {name: read_runs(folder, name) for name in readme.MACHINES})
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def names(folder):
    """The machines of which there are runs."""
    runs = os.path.join(folder, "runs")
    found = os.listdir(runs) if os.path.isdir(runs) else []
    return sorted({match.group(1) for match in
                   (re.fullmatch(r"(.+)-\d+\.json", file) for file in found) if match})


def remove_runs(folder, name):
    """Removes what is there of a machine's runs."""
    for number in range(1, RUNS + 1):
        if os.path.exists(run_path(folder, name, number)):
            os.remove(run_path(folder, name, number))


def measure(folder, name, only, options):
    """The runs, one after the other; one that fails is left out, and the others go on."""
    os.makedirs(os.path.join(folder, "runs"), exist_ok=True)
    before = files.read_results(run_path(folder, name, only)) if only is not None else None
    goes_on = before is not None and len(before["left"]) > 0
    if only is not None and only > 1 and before is not None and not goes_on:
        raise ReportError(f"run {only} of {name} is there, and is not measured again; "
                          "run 1 begins anew")
    if only in (None, 1) and not goes_on:
        remove_runs(folder, name)
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "run.py")
    for number in range(1, RUNS + 1) if only is None else (only,):
        done = subprocess.run([sys.executable, program, *options, "--by",
                               f"make bench-report MACHINE={name}", "--run", f"{number}/{RUNS}",
                               "--json", run_path(folder, name, number)], check=False)
        if done.returncode != 0:
            print(f"bench: run {number} of {name} failed", file=sys.stderr)
    make_page(folder, name)


def parse(arguments):
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("name")
    measuring.add_argument("folder")
    measuring.add_argument("--run", type=int, choices=range(1, RUNS + 1), default=None)
    pages = commands.add_parser("page")
    pages.add_argument("folder")
    pages.add_argument("names", nargs="*")
    filling = commands.add_parser("readme")
    filling.add_argument("folder")
    filling.add_argument("path")
    # What is behind -- is for bench/run.py.
    end = arguments.index("--") if "--" in arguments else len(arguments)
    options = parser.parse_args(arguments[:end])
    options.run_options = arguments[end + 1:]
    if options.command == "measure" and not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", options.name):
        parser.error("the machine's name is made of small letters and digits, with - between them")
    return options


def main(arguments):
    """Does what the command line says."""
    options = parse(arguments)
    if options.command == "measure":
        measure(options.folder, options.name, options.run, options.run_options)
    elif options.command == "readme":
        fill_readme(options.folder, options.path)
    else:
        for name in options.names or names(options.folder):
            make_page(options.folder, name)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (ReportError, MismatchError) as error:
        sys.exit(f"bench: {error}")
