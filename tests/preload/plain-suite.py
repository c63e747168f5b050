#!/usr/bin/env python3
"""Runs SQLite's own TCL tests twice, plainly and through the preloaded library, and compares all that they print.

    plain-suite.py FOLDER [PATTERN...] [--only SECONDS] [--jobs N]

FOLDER is SQLite's source, of the version that the system has. Every table is answered by views there (view_threshold 0).
Files that need a command of SQLite's own build end where they call it, in both runs at the same place. Lines of times,
of memory and of temporary names are left out of the comparison.

A TAP line for each file; the last lines give the tests that both runs have passed through, and the share of the SELECTs
that were accelerated, which must be more than one in a hundred.
"""

import argparse
import concurrent.futures
import fnmatch
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("CLREDUCE_BUILD", "build")).resolve()
# What no file of SQLite's is for here: minutes of random statements, processes that are killed, and timings.
LEFT_OUT = ("all.test", "*crash*", "*malloc*", "*fault*", "*speed*", "soak*", "*quick.test", "memleak*", "veryquick*",
            "*thread*", "permutations.test", "*oserror*", "full.test", "mallocAll.test", "valgrind.test", "*ioerr*")
# Each of its parts ends after some characters: a file may print a megabyte without a space.
CHANGING = re.compile(r"\d{1,20}(\.\d{1,20})? ?(ms|us|uS|seconds|microseconds)\b|^(Memory used|Allocation count|Page-cache|"
                      r"Parser stack|Maximum memory|Current memory|Time:|memory used).*|/[^ \n]{0,200}tmp[^ \n]{0,200}",
                      re.MULTILINE)
TEST = re.compile(r"^(?P<name>[^ \n]+)\.\.\.", re.MULTILINE)
COUNTS = re.compile(r"^clreduce-run: +(\d+) +(\d+) ", re.MULTILINE)
MOST_SECONDS = 120


def run(source, name, preloaded):
    """What a file prints, with what is different in every run left out, and the counts of the report."""
    with tempfile.TemporaryDirectory(prefix="clreduce-plain-") as folder:
        command = ["tclsh", str(HERE / "plain_suite.tcl"), str(source / "test"), name]
        environment = {**os.environ, "CLREDUCE_SETTINGS": "view_threshold=0,device=host,override=off", "TZ": "UTC"}
        counts = [0, 0]
        if preloaded:
            command = [str(BUILD / "clreduce-run"), "--quiet", "--report", "--", *command]
        try:
            ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=MOST_SECONDS, check=False)
            text = ran.stdout.decode("latin-1") + f"exit {ran.returncode}\n"
        except subprocess.TimeoutExpired:
            return None, counts
        found = COUNTS.findall(ran.stderr.decode("latin-1"))
        counts = [sum(map(int, column)) for column in zip(*found)] or counts
        return CHANGING.sub("", text), counts


def compare(source, name):
    """The line of a file, whether it is as it should be, its tests, and the counts."""
    want, _ = run(source, name, False)
    if want is None:
        return f"{name} # SKIP it takes more than {MOST_SECONDS} s", True, 0, [0, 0]
    got, counts = run(source, name, True)
    tests = len(TEST.findall(want))
    if got != want and run(source, name, False)[0] != want:
        return f"{name} # SKIP it prints something else each time", True, 0, [0, 0]
    if got == want:
        return f"{name}, {tests} tests, {counts[1]} of {counts[0]} accelerated", True, tests, counts
    lines = ["", "# it took too long"] if got is None else []
    if got is not None:
        plain, other = want.splitlines(), got.splitlines()
        at = next((i for i, (a, b) in enumerate(zip(plain, other)) if a != b), min(len(plain), len(other)))
        lines = ["", *(f"# plain: {line}" for line in plain[at:at + 3]), *(f"# preloaded: {line}" for line in other[at:at + 3])]
    return f"{name}, {tests} tests" + "\n".join(lines), False, tests, counts


def main():
    """Runs the files, of which a part is chosen."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("patterns", nargs="*", default=["*.test"])
    parser.add_argument("--only", type=float, default=float("inf"), metavar="SECONDS", help="begin no file after so long")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    names = sorted(path.name for path in (options.source / "test").glob("*.test")
                   if any(fnmatch.fnmatch(path.name, pattern) for pattern in options.patterns)
                   and not any(fnmatch.fnmatch(path.name, pattern) for pattern in LEFT_OUT))
    end, failed, tests, runs, accelerated, number = time.monotonic() + options.only, 0, 0, 0, 0, 0

    def work(name):
        return compare(options.source, name) if time.monotonic() < end else None

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for number, result in enumerate(filter(None, pool.map(work, names)), 1):
            line, good, count, counts = result
            failed, tests = failed + (not good), tests + count
            runs, accelerated = runs + counts[0], accelerated + counts[1]
            print(f"{'ok' if good else 'not ok'} {number} - {line}", flush=True)
    print(f"# {number} files, {tests} tests: {accelerated} of {runs} SELECTs that were watched were accelerated")
    good = accelerated * 100 > runs > 0
    print(f"{'ok' if good else 'not ok'} {number + 1} - more than one in a hundred")
    print(f"1..{number + 1}")
    sys.exit(failed > 0 or not good)


main()
