"""The session that the README shows is what the sqlite3 shell prints."""

import os
import re
import subprocess
import sys

import tap

SOURCE = os.environ.get("CLREDUCE_SRCDIR", os.path.join(os.path.dirname(__file__), "..", ".."))
EXTENSION = os.environ["CLREDUCE_EXTENSION"]
SHELL = os.environ.get("SQLITE3", "")


def read_transcript():
    """The steps of the README's first fenced block: pairs of SQL and what it printed."""
    with open(os.path.join(SOURCE, "README.md"), encoding="utf-8") as readme:
        block = re.search(r"```\n\$ sqlite3\n(.*?)```", readme.read(), re.DOTALL).group(1)
    steps = []
    for line in block.splitlines():
        if line.startswith("sqlite> "):
            steps.append([line[len("sqlite> "):], []])
        elif line.startswith("   ...> "):
            steps[-1][0] += "\n" + line[len("   ...> "):]
        else:
            steps[-1][1].append(line)
    return steps


def run(statements):
    """What the shell prints for these lines, and what it says is wrong."""
    done = subprocess.run([SHELL, "-batch", "-init", os.devnull, ":memory:"], input="\n".join(statements) + "\n",
                          capture_output=True, text=True, check=False)
    return done.stdout.splitlines(), done.stderr


def main():
    if not SHELL:
        tap.skip_all("configure found no sqlite3 shell")
        return 0
    steps = read_transcript()
    tap.ok(len(steps) >= 8, "the README has a transcript")
    for number in range(1, len(steps) + 1):
        statements = [sql.replace("build/clreduce", EXTENSION) for sql, _ in steps[:number]]
        printed, errors = run(statements)
        wanted = [line for _, output in steps[:number] for line in output]
        tap.is_equal((printed, errors), (wanted, ""), steps[number - 1][0])
    return tap.done()


sys.exit(main())
