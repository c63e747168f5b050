"""The sessions that README.md and docs/ show are what the sqlite3 shell prints.

A session is one or more fenced blocks of the language "console" in one page. The first begins with "$ sqlite3", which
may name flights.db, as ./setup demo leaves it; a block that does not goes on with the session before it.
A line "Error: text" stands for an error whose message ends with the text.
"""

import os
import re
import subprocess
import sys
import tempfile

import tap

SOURCE = os.environ.get("CLREDUCE_SRCDIR", os.path.join(os.path.dirname(__file__), "..", ".."))
EXTENSION = os.environ["CLREDUCE_EXTENSION"]
SHELL = os.environ.get("SQLITE3", "")
MARK = "-- end of step --"
#: None of the settings that the environment can have, as for one who has just installed it.
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("CLREDUCE_")}


class Session:
    """What is typed after one "$ sqlite3": pairs of SQL and the lines that it prints."""

    def __init__(self, database):
        self.database = database
        self.steps = []

    def read(self, lines):
        for line in lines:
            if line.startswith("sqlite> "):
                self.steps.append([line[len("sqlite> "):], []])
            elif line.startswith("   ...> "):
                self.steps[-1][0] += "\n" + line[len("   ...> "):]
            else:
                self.steps[-1][1].append(line)


#: How a line of SQL begins.
SQL = re.compile(r"\s*(sqlite> |SELECT |WITH |VALUES|INSERT |UPDATE |DELETE |CREATE |DROP |ALTER |PRAGMA |\.load )")


def read_page(page):
    """The sessions of a page, and the SQL in its other blocks: those with fences, and what is indented."""
    with open(page, encoding="utf-8") as file:
        text = file.read()
    sessions = []
    for block in re.findall(r"^```console\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        lines = block.splitlines()
        if lines[0].startswith("$ sqlite3"):
            sessions.append(Session(lines.pop(0)[len("$ sqlite3"):].strip()))
        sessions[-1].read(lines)
    text = re.sub(r"^```console\n.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    others = re.findall(r"^```.*?^```|^ {4}[^\n]*$", text, re.DOTALL | re.MULTILINE)
    return sessions, [line for block in others for line in block.splitlines() if SQL.match(line)]


def import_flights(folder):
    subprocess.run([SHELL, "-batch", "-init", os.devnull, os.path.join(folder, "flights.db")], cwd=SOURCE,
                   input=".read sql/flights.sql", text=True, check=True)


def run(session, folder):
    """What the shell prints for each step, and the messages of all errors."""
    script = "".join(f"{sql.replace('build/clreduce', EXTENSION)}\n.print {MARK}\n" for sql, _ in session.steps)
    done = subprocess.run([SHELL, "-batch", "-init", os.devnull, session.database or ":memory:"], input=script, cwd=folder,
                          env=CLEAN, capture_output=True, text=True, check=False)
    return [part.splitlines() for part in done.stdout.split(MARK + "\n")], done.stderr.splitlines()


def check_session(page, session):
    with tempfile.TemporaryDirectory() as folder:
        import_flights(folder)
        printed, errors = run(session, folder)
    tap.is_equal(len(printed), len(session.steps) + 1, f"{page}: the session of {len(session.steps)} steps runs to its end")
    for (sql, wanted), lines in zip(session.steps, printed):
        for line in wanted:
            if line.startswith("Error: "):
                text = line[len("Error: "):]
                tap.ok(bool(errors) and re.sub(r" \(\d+\)$", "", errors.pop(0)).endswith(text), f"{page}: {text}")
        tap.is_equal(lines, [line for line in wanted if not line.startswith("Error: ")], f"{page}: {sql}")
    tap.is_equal(errors, [], f"{page}: no other errors")


def check_links(page):
    """Links to files of the tree, which a reader follows from the page's folder."""
    folder = os.path.dirname(os.path.join(SOURCE, page))
    with open(os.path.join(SOURCE, page), encoding="utf-8") as file:
        links = re.findall(r"\]\(([^)#\s]+)", file.read())
    missing = [link for link in links if "://" not in link and not os.path.exists(os.path.join(folder, link))]
    tap.is_equal(missing, [], f"{page}: {len(links)} links lead to files that exist")


def check_settings():
    """The page of settings has a row for each of them, with its default."""
    done = subprocess.run([SHELL, "-batch", "-init", os.devnull, ":memory:",
                           "-cmd", f".load {EXTENSION}",
                           "SELECT '| `' || name || '` | `' || \"default\" || '` |' FROM clreduce_settings"],
                          env=CLEAN,
                          capture_output=True, text=True, check=True)
    with open(os.path.join(SOURCE, "docs", "settings.md"), encoding="utf-8") as file:
        page = re.sub(r"^(\| `\w+` \|) ([^`| ]+) \|", r"\1 `\2` |", file.read(), flags=re.MULTILINE)
    for row in done.stdout.splitlines():
        tap.ok(row in page, f"docs/settings.md: {row}")
    tap.ok(done.stdout != "", "there are settings")


def check_reasons():
    """The page of settings has the reasons why SQLite runs a view's SELECT, and no others."""
    with open(os.path.join(SOURCE, "ext", "query", "reasons.h"), encoding="utf-8") as file:
        reasons = re.findall(r'^CLR_WHY\((\w+),((?:\s*"(?:[^"\\]|\\.)*")+)\)', file.read(), re.MULTILINE)
    with open(os.path.join(SOURCE, "docs", "settings.md"), encoding="utf-8") as file:
        page = file.read()
    others = set(re.findall(r"^- `([^`]*)`", page.split("### Why row by row")[1].split("\n## ")[0], re.MULTILINE))
    tap.ok(len(reasons) > 100, f"there are {len(reasons)} reasons")
    for name, literals in reasons:
        text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals)).replace('\\"', '"')
        for sign, word in (("%n", "NAME"), ("%1", "N"), ("%2", "M"), ("%c", "CAUSE")):
            text = text.replace(sign, word)
        tap.ok(f"- `{text}`" in page, f"docs/settings.md: {name}: {text}")
        others.discard(text)
    tap.is_equal(others, set(), "docs/settings.md: all its reasons can be given")


def main():
    if not SHELL:
        tap.skip_all("configure found no sqlite3 shell")
        return 0
    pages = ["README.md"] + sorted(os.path.join("docs", name) for name in os.listdir(os.path.join(SOURCE, "docs"))
                                   if name.endswith(".md"))
    shown = set()
    check_settings()
    check_reasons()
    for page in pages + ["CONTRIBUTING.md", "SECURITY.md"]:
        check_links(page)
    for page in pages:
        sessions, loose = read_page(os.path.join(SOURCE, page))
        tap.is_equal(loose, [], f"{page}: all SQL is in sessions, which are run")
        for session in sessions:
            check_session(page, session)
            shown.add(page)
    tap.ok({"README.md", "docs/functions.md", "docs/views.md"} <= shown, "the README, functions and views show sessions")
    return tap.done()


sys.exit(main())
