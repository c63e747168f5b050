#!/usr/bin/env python3
"""Breaks the code in one place after the other and asks the tests: `make mutants` runs it.

    make mutants                       200 places by seed 1; their list is left in mutants/mutants.tsv
    make mutants MUTANTS=20 SEED=7     fewer, and others
    make mutants AGAIN=/tmp/old.tsv    those that an older run had caught, wherever they stand now:
                                       fails if one is no longer caught
    make mutants MOST=60               gives each mutant tests of 60 seconds of CPU time at most, the
                                       quickest first; without it all tests

A mutant is one changed operator, constant or condition, or one statement that is gone. It is caught
if a test fails, ends by a signal or exceeds its time. Mutants that do not compile do not count. All
is done in a copy of the sources, mutants/tree of the build directory.
"""

import argparse
import os
import random
import re
import resource
import subprocess
import sys
import time

#: The seconds after which a test of a mutant is taken to hang.
TEST_SECONDS = 120
#: What one operator becomes.
SWAPS = {
    " < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " == ": " != ", " != ": " == ",
    " && ": " || ", " || ": " && ", " + ": " - ", " - ": " + ", " << ": " >> ", " >> ": " << ",
    " & ": " | ", " | ": " & ", "true;": "false;", "false;": "true;", " 0;": " 1;", " 1;": " 0;",
    " += ": " -= ", " -= ": " += ", "++": "--", "--": "++",
}
SWAP = re.compile("|".join(re.escape(operator) for operator in sorted(SWAPS, key=len, reverse=True)))
CONDITION = re.compile(r"^(\s+(?:\} else )?if \()(.*)(\)(?: \{)?)$")
STATEMENT = re.compile(r"^\s+(?:\w+\(.*\)|[\w.>\[\]-]+ [+|&-]?= .*);$")
FUNCTION = re.compile(r"^\w.*?(\w+)\(")


class Mutant:
    """One changed line: by its function and text it is found again where the code has moved."""

    def __init__(self, function, line, kind, at):
        self.function, self.line, self.kind, self.at = function, line, kind, at

    def text(self):
        """The line as it becomes."""
        if self.kind == "drop":
            return re.match(r"\s*", self.line).group() + ";"
        if self.kind == "negate":
            return CONDITION.sub(r"\1!(\2)\3", self.line)
        operator = SWAP.match(self.line, self.at).group()
        return self.line[:self.at] + SWAPS[operator] + self.line[self.at + len(operator):]


def sites(path):
    """Each line of a file's functions that can be changed: its number, function and text."""
    function, inside = "", False
    with open(path, encoding="utf-8") as source:
        for number, line in enumerate(source.read().splitlines()):
            if not inside and FUNCTION.match(line) and not line.startswith("#"):
                function = FUNCTION.match(line).group(1)
            if line == "{":
                inside = True
            elif line == "}":
                inside = False
            elif inside and '"' not in line and not line.lstrip().startswith(("/*", "*", "#")):
                yield number, function, line.split(" /*")[0]


def changes(function, line):
    """The mutants of a line."""
    found = [Mutant(function, line, "swap", match.start()) for match in SWAP.finditer(line)]
    if CONDITION.match(line):
        found.append(Mutant(function, line, "negate", 0))
    if STATEMENT.match(line):
        found.append(Mutant(function, line, "drop", 0))
    return found


class Tree:
    """A copy of the sources, built, in which one line at a time is another."""

    def __init__(self, place, jobs):
        self.root, self.jobs = os.path.join(place, "tree"), jobs
        self.build, self.times = os.path.join(place, "build"), os.path.join(place, "times")
        os.makedirs(self.build)
        subprocess.run(["../tree/configure", "--quiet", "CFLAGS=-O1"], cwd=self.build, check=True)
        self.files = [os.path.join(folder, name)
                      for folder, _, names in sorted(os.walk(os.path.join(self.root, "ext")))
                      for name in sorted(names) if name.endswith((".c", ".inc"))]

    def make(self, *arguments):
        """What make prints, and whether it succeeded."""
        done = subprocess.run(["make", f"-j{self.jobs}", *arguments], cwd=self.build, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return done.stdout, done.returncode == 0

    def compiles(self):
        """Builds the extension, and the library that the tests' programs are linked with."""
        return self.make("--silent", "clreduce.so", "libclreduce.a")[1]

    def run(self, tests):
        """The tests that fail, of some."""
        limit = (f"timeout --kill-after=5 {TEST_SECONDS} "
                 f"{sys.executable} {os.path.abspath(__file__)} --timed {self.times}")
        programs = [test for test in tests if not test.endswith((".py", ".sh"))]
        self.make("--silent", *programs)
        output, passed = self.make("check-TESTS", "TESTS=" + " ".join(tests), "TEST_LIMIT=" + limit)
        failed = sorted(set(re.findall(r"^(?:FAIL|ERROR): (\S+)", output, re.MULTILINE)))
        return failed or ([] if passed else ["make"])

    def measure(self):
        """All tests that pass, with their CPU times, the quickest first."""
        output, compiled = self.make("--silent", "all", "check", "TESTS=")
        if not compiled:
            sys.exit(f"mutants: the sources do not compile\n{output}")
        tests, _ = self.make("--silent", "--eval=list-tests: ; @echo $(TESTS)", "list-tests")
        failed = self.run(tests.split())
        print(f"mutants: these fail already, and are left out: {' '.join(failed) or 'none'}")
        with open(self.times, encoding="utf-8") as file:
            times = [line.split() for line in file]
        os.remove(self.times)
        names = {re.sub(r".*?(tests/.*)", r"\1", name): float(seconds) for seconds, name in times}
        return sorted((seconds, name) for name, seconds in names.items() if name not in failed)


def timed(times, *command):
    """Runs a test, and adds its CPU time, with that of its children, and its name to a file."""
    status = subprocess.run(command, check=False).returncode
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(times, "a", encoding="utf-8") as file:
        file.write(f"{used.ru_utime + used.ru_stime:.2f} {command[-1]}\n")
    return status if status >= 0 else 128 - status


def room(name):
    """The part of the house that a source or a test belongs to: numeric, query, ..."""
    parts = name.split("/")
    return parts[1] if len(parts) > 2 else ""


def stages(tests, path, most):
    """The tests in batches that double: those of the file's own room first."""
    own = [test for test in tests if room(test[1]) == room(path)]
    order, spent = own + [test for test in tests if test not in own], 0.0
    batch, size = [], 4
    for seconds, name in order:
        if most and spent + seconds > most:
            continue
        spent += seconds
        batch.append(name)
        if len(batch) == size:
            yield batch
            batch, size = [], 2 * size
    if batch:
        yield batch


def judge(tree, path, number, mutant, tests, most):
    """The first tests that catch a mutant, [] if none does, or None if it does not compile."""
    with open(path, encoding="utf-8") as file:
        whole = file.read()
    lines = whole.split("\n")
    lines[number] = lines[number].replace(mutant.line, mutant.text(), 1)
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines))
        if not tree.compiles():
            return None
        for batch in stages(tests, os.path.relpath(path, tree.root), most):
            failed = tree.run(batch)
            if failed:
                return failed
        return []
    finally:
        with open(path, "w", encoding="utf-8") as file:
            file.write(whole)


def choose(tree, seed):
    """Mutants without end, in an order that the seed gives: each line is as likely as another."""
    places = [(path, *site) for path in tree.files for site in sites(path) if changes(site[1], site[2])]
    order = random.Random(seed)
    order.shuffle(places)
    for path, number, function, line in places:
        yield path, number, order.choice(changes(function, line))


def choose_again(tree, file):
    """Those that another run had caught, and None as the path of one whose line is gone."""
    places = {}
    for path in tree.files:
        for number, function, line in sites(path):
            places.setdefault((function, line.strip()), (path, number, line))
    with open(file, encoding="utf-8") as rows:
        for row in rows:
            outcome, _, function, kind, at, line = row.rstrip("\n").split("\t")
            path, number, found = places.get((function, line), (None, 0, line))
            shift = len(found) - len(found.lstrip())
            if outcome == "caught":
                yield path, number, Mutant(function, found, kind, int(at) + shift)


def main():
    """Judges the mutants and prints them: caught by which tests, or not."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("place", help="the folder that has the copy of the sources, tree/")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--again", metavar="FILE")
    parser.add_argument("--most", type=float, default=0)
    options = parser.parse_args()
    tree = Tree(os.path.abspath(options.place), os.cpu_count() or 1)
    tests = tree.measure()
    chosen = (choose_again(tree, options.again) if options.again else choose(tree, options.seed))
    counts = {"caught": 0, "missed": 0, "gone": 0}
    started = time.monotonic()
    with open(os.path.join(options.place, "mutants.tsv"), "w", encoding="utf-8") as table:
        for path, number, mutant in chosen:
            if not options.again and counts["caught"] + counts["missed"] == options.count:
                break
            caught = judge(tree, path, number, mutant, tests, options.most) if path else None
            outcome = ("gone" if not path else "unbuilt" if caught is None else "caught" if caught else "missed")
            if outcome == "unbuilt" and not options.again:
                continue
            counts["gone" if outcome == "unbuilt" else outcome] += 1
            indent = len(mutant.line) - len(mutant.line.lstrip())
            print(f"{outcome}: {mutant.function}: {mutant.text().strip()} "
                  f"[{' '.join(caught or [])}] {time.monotonic() - started:.0f} s", flush=True)
            table.write("\t".join((outcome, os.path.relpath(path or "", tree.root) if path else "",
                                   mutant.function, mutant.kind, str(mutant.at - indent),
                                   mutant.line.strip())) + "\n")
            table.flush()
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items())
          + (f", seed {options.seed}" if not options.again else ""))
    return 1 if options.again and counts["missed"] else 0


if __name__ == "__main__":
    sys.exit(timed(*sys.argv[2:]) if sys.argv[1:2] == ["--timed"] else main())
