"""What the commands do."""

import base64
import csv
import json
import os
import re
import sys
import time

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..acceleration import configure
from ..connections import SETTINGS
from ..loading import LoadError, capable_module, open_database
from ..statements import ask, plan_of, rewrite
from .running import in_background

OUT = Console(highlight=False)
ERRORS = Console(stderr=True, highlight=False)


def run(options):
    """Runs the command of the options, and returns its exit status."""
    module = None
    try:
        module = capable_module()
        return {"devices": devices, "query": query, "advise": advise}[options.command](options)
    except (LoadError, OSError) as error:
        message = error
    except KeyboardInterrupt:
        message = "interrupted"
    except Exception as error:
        if module is None or not isinstance(error, module.Error):
            raise
        message = error
    ERRORS.print(f"[red]{escape(str(message))}")
    return 1


def database_of(options):
    """The database, for reading alone and for any thread. Its views scan whenever they are asked: that is what is measured."""
    if not os.path.exists(options.database):
        raise FileNotFoundError(f"there is no database {options.database}")
    connection = open_database(options.database, read_only=True, check_same_thread=False, isolation_level=None)
    ask(connection, "SELECT clreduce_set('keep_answers', 'off')")
    if options.device is not None:
        ask(connection, "SELECT clreduce_set('device', ?)", options.device)
    return connection


def show(value):
    """A value of SQLite's as text."""
    if value is None:
        return "[dim]NULL"
    if isinstance(value, bytes):
        return f"x'{value[:16].hex()}{'…' if len(value) > 16 else ''}'"
    return escape(str(value))


def table_of(columns, rows):
    """A table; columns that begin with a number are aligned to the right."""
    table = Table()
    for i, column in enumerate(columns):
        is_number = bool(rows) and isinstance(rows[0][i], (int, float))
        table.add_column(escape(column), justify="right" if is_number else "left")
    for row in rows:
        table.add_row(*map(show, row))
    return table


def write_plainly(options, columns, rows):
    """Writes rows as the options say for programs. BLOBs are x'..' in CSV, and in JSON objects with base64."""
    if options.csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([f"x'{value.hex()}'" if isinstance(value, bytes) else value for value in row] for row in rows)
    else:
        json.dump([dict(zip(columns, row)) for row in rows], sys.stdout, ensure_ascii=False, indent=1,
                  default=lambda value: {"base64": base64.b64encode(value).decode()})
        print()


def devices(_options):
    """Shows the OpenCL devices."""
    with_devices = open_database(":memory:")
    cursor = with_devices.execute("SELECT name, platform, type, compute_units AS units, memory_bytes / 1048576 AS MiB,"
                                  " iif(fp64, 'yes', 'no') AS fp64, iif(in_use, 'yes', 'no: ' || reason) AS \"in use\""
                                  " FROM clreduce_devices")
    rows = cursor.fetchall()
    if rows:
        OUT.print(table_of([column[0] for column in cursor.description], rows))
    else:
        OUT.print("There is no OpenCL device: the host's threads do the work.")
    return 0


def query(options):
    """Shows the rows of a SELECT, the time, and what ran where."""
    connection = database_of(options)

    def answer():
        cursor = connection.execute(rewrite(connection, options.sql))
        return [column[0] for column in cursor.description or ()], cursor.fetchall()

    start = time.perf_counter()
    columns, rows = in_background(connection, answer, ERRORS, os.path.getsize(options.database))
    seconds = time.perf_counter() - start
    if options.csv or options.json:
        write_plainly(options, columns, rows)
        return 0
    OUT.print(table_of(columns, rows[:max(options.rows, 0)]))
    if len(rows) > options.rows:
        OUT.print(f"… and {len(rows) - options.rows} more rows")
    plan = plan_of(connection, options.sql)
    OUT.print(f"{len(rows)} row{'' if len(rows) == 1 else 's'} in {seconds:.3f} s, {escape(plan[0])}", soft_wrap=True)
    if options.plan:
        OUT.print(escape("\n".join(plan[1:])), soft_wrap=True)
    return 0


def statements_of(text, is_complete):
    """The statements of a text. is_complete tells whether a text ends with the end of one."""
    statement = ""
    for part in text.split(";"):
        statement += part
        if is_complete(statement + ";"):
            if statement.strip():
                yield statement.strip()
            statement = ""
        else:
            statement += ";"
    if statement.strip(" \t\r\n;"):
        yield statement.rstrip("; \t\r\n").strip()


class Pair:
    """Two connections: SQLite's own, and that of an unchanged program, whose sums are exact."""

    def __init__(self, options):
        self.plain, self.own, self.size = database_of(options), database_of(options), os.path.getsize(options.database)
        configure(self.own, SETTINGS)

    def seconds(self, connection, text):
        """How long a statement takes."""
        start = time.perf_counter()
        in_background(connection, lambda: connection.execute(text).fetchall(), ERRORS, self.size)
        return time.perf_counter() - start

    def measure(self, sql):
        """The seconds that the view of a SELECT takes first and again, None without one, and its plan's first line."""
        plan = plan_of(self.own, sql)[0]
        ask(self.own, "SELECT clreduce_evict()")
        view = rewrite(self.own, sql)
        if view == sql:
            return None, None, plan
        return self.seconds(self.own, view), self.seconds(self.own, view), plan_of(self.own, sql)[0]


#: A string, a name in quotes or a comment, in which nothing is changed; or what is.
QUOTED = r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|/\*.*?\*/"""

#: Changes by a part of the plan's reason: a pattern of the text, and what takes its place.
CHANGES = [
    ("write gpu_", r"\b(sum|total|avg|min|max)(?=\s*\()", r"gpu_\1"),
    ("INDEXED BY", r"\bINDEXED\s+BY\s+\w+", ""),
    ("TRUE", r"\bTRUE\b", "1"),
    ("FALSE", r"\bFALSE\b", "0"),
    ("write SELECT +column", r"(\bIN\s*\(\s*SELECT\s+)(?=\w)", r"\1+"),
]


def replace_outside(pattern, replacement, sql):
    """re.sub() outside of strings, quoted names and comments."""
    def replaced(match):
        return match[0] if match.lastgroup == "quoted" else re.sub(pattern, replacement, match[0], flags=re.IGNORECASE)

    return re.sub(rf"(?P<quoted>{QUOTED})|[^'\"`\[/-]+|.", replaced, sql, flags=re.IGNORECASE | re.DOTALL)


def changed_of(sql, plan):
    """A text of a SELECT that is likely to be accelerated instead, by its plan's reason; None: nobody knows one."""
    for reason, pattern, replacement in CHANGES:
        if reason in plan:
            changed = replace_outside(pattern, replacement, sql)
            if changed != sql:
                return changed
    keys = re.search(r"\bGROUP\s+BY\s+([\w\s,.\"]+)\Z", sql, re.IGNORECASE)
    if keys and "write ORDER BY with all keys" in plan:
        return f"{sql.rstrip()} ORDER BY {keys[1].strip()}"
    return None


#: Changes of the schema, by a part of the plan's reason.
SCHEMA_CHANGES = [
    ("is a virtual table", "copy the virtual table: CREATE TABLE copy AS SELECT * FROM it"),
    ("virtual generated column", "make the generated column STORED"),
    ("is a temporary view", "read the view's table, or create the view in main"),
]


def advice_of(pair, sql, plan):
    """What would be accelerated in a statement's place: a text, its seconds again, and whether its rows are the same."""
    changed = changed_of(sql, plan)
    if changed is None:
        hints = [hint for reason, hint in SCHEMA_CHANGES if reason in plan]
        return (hints[0] if hints else None), None, None
    _, again, plan = pair.measure(changed)
    if again is None or not plan.startswith("accelerated"):
        return None, None, None
    rows = [sorted(map(repr, connection.execute(text))) for connection, text in ((pair.plain, sql), (pair.own, changed))]
    return changed, again, rows[0] == rows[1]


#: The columns of advise; times are in milliseconds.
ADVICE = ("statement", "accelerated", "reason", "plain_ms", "first_ms", "again_ms", "factor", "instead", "instead_ms", "same_rows")


def advise_on(pair, sql, errors):
    """One statement's row of ADVICE."""
    try:
        first, again, plan = pair.measure(sql)
        plain = pair.seconds(pair.plain, sql)
        answer, _, reason = plan.partition(": ")
        instead, seconds, same = None, None, None
        if answer != "accelerated":
            instead, seconds, same = advice_of(pair, sql, plan)
    except errors as error:
        return (sql, "error", str(error), *[None] * 7)
    best = seconds if answer != "accelerated" else again
    times = [None if value is None else round(value * 1000, 3) for value in (plain, first, again)]
    return (sql, "yes" if answer == "accelerated" else "no", reason, *times, round(plain / best, 1) if best else None, instead,
            None if seconds is None else round(seconds * 1000, 3), None if same is None else "yes" if same else "no")


def advise(options):
    """Shows for each query of a file what an unchanged program gains, and what would be gained by another text."""
    module = capable_module()
    with open(options.queries, encoding="utf-8") as file:
        statements = list(statements_of(file.read(), module.complete_statement))
    pair = Pair(options)
    rows = [advise_on(pair, sql, module.Error) for sql in statements]
    if options.csv or options.json:
        write_plainly(options, ADVICE, rows)
        return 0
    table = Table(show_lines=True)
    table.add_column("statement", ratio=3, overflow="fold")
    for name in ("SQLite", "first", "again"):
        table.add_column(f"{name} ms", justify="right", no_wrap=True)
    table.add_column("gain", justify="right", no_wrap=True)
    table.add_column("accelerated", ratio=3, overflow="fold")
    for sql, accelerated, reason, *times, factor, instead, seconds, same in rows:
        colour = {"yes": "green", "no": "yellow", "error": "red"}[accelerated]
        text = f"[{colour}]{accelerated}[/]: {escape(reason)}"
        if instead is not None:
            text += f"\n[bold]instead[/]: {escape(instead)}"
        if seconds is not None:
            text += f"\n{seconds:.1f} ms, {'the same rows' if same == 'yes' else 'other bits or types in some rows'}"
        table.add_row(escape(sql), *("" if value is None else f"{value:.1f}" for value in times),
                      "" if factor is None else f"{factor:.1f} x", text)
    OUT.print(table)
    OUT.print(f"{len(statements)} queries, each once with no columns kept (first), again, and once by SQLite. "
              "The gain is SQLite's time by the one of again, or of what is to be written instead.")
    return 0
