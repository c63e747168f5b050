"""What the commands do."""

import os
import time

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

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
    """The database, for reading alone and for any thread."""
    if not os.path.exists(options.database):
        raise FileNotFoundError(f"there is no database {options.database}")
    connection = open_database(options.database, read_only=True, check_same_thread=False, isolation_level=None)
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


def measure(connection, sql, size):
    """The seconds that SQLite takes for a SELECT, those that the view takes first and again, and its plan's first line."""
    def seconds(text):
        start = time.perf_counter()
        in_background(connection, lambda: connection.execute(text).fetchall(), ERRORS, size)
        return time.perf_counter() - start

    plan = plan_of(connection, sql)[0]
    plain = seconds(sql)
    ask(connection, "SELECT clreduce_evict()")
    view = rewrite(connection, sql)
    if view == sql:
        return plain, None, None, plan
    return plain, seconds(view), seconds(view), plan_of(connection, sql)[0]


def tell(plan):
    """A plan's first line as an answer to whether the query is accelerated."""
    answer, _, reason = plan.partition(": ")
    return f"{'[green]yes' if answer == 'accelerated' else '[yellow]no'}[/]: {escape(reason)}"


def advise(options):
    """Shows for each query of a file whether it is accelerated, its times, and why not."""
    module = capable_module()
    with open(options.queries, encoding="utf-8") as file:
        statements = list(statements_of(file.read(), module.complete_statement))
    connection = database_of(options)
    size = os.path.getsize(options.database)
    for sql in statements:
        OUT.print(escape(sql))
        try:
            plain, first, again, plan = measure(connection, sql, size)
        except module.Error as error:
            lines = [f"[red]{escape(str(error))}"]
        else:
            lines = [tell(plan), f"SQLite {plain * 1000:.1f} ms"]
            if again is not None:
                lines[1] += (f", first {first * 1000:.1f} ms, again {again * 1000:.1f} ms: "
                             f"{plain / again:.1f} times as fast")
        OUT.print(Padding("\n".join(lines), (0, 0, 1, 4), expand=False))
    OUT.print(f"{len(statements)} queries, each once by SQLite, once with no columns kept (first), and again. "
              "Files were in the page cache after SQLite's.")
    return 0
