"""The command clreduce: devices, query and advise. It needs rich, which the extra [cli] brings."""

import argparse
import sys


def main(arguments=None):
    """Runs the command, and returns its exit status."""
    parser = argparse.ArgumentParser(prog="clreduce", description="Exact aggregates and accelerated views for SQLite.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("devices", help="the OpenCL devices, and why one is not used")
    query = commands.add_parser("query", help="run a SELECT, accelerated where it can be")
    query.add_argument("database", help="the database file, which is opened for reading alone")
    query.add_argument("sql", help="the SELECT")
    query.add_argument("--rows", type=int, default=100, help="how many rows to show at most (100)")
    query.add_argument("--plan", action="store_true", help="show all that clreduce_plan() says")
    advise = commands.add_parser("advise", help="which queries are accelerated, why not, and what is gained")
    advise.add_argument("database", help="the database file, which is opened for reading alone")
    advise.add_argument("queries", help="a file of SELECTs with a semicolon behind each")
    for command in (query, advise):
        form = command.add_mutually_exclusive_group()
        form.add_argument("--csv", action="store_true", help="write CSV, with the names in the first line")
        form.add_argument("--json", action="store_true", help="write a JSON array of objects")
        command.add_argument("--device", help="the setting device: auto, gpu, cpu, host or a part of a name")
    options = parser.parse_args(arguments)
    try:
        from . import commands as run
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "rich":
            raise
        print("clreduce: the command needs rich: pip install rich", file=sys.stderr)
        return 2
    return run.run(options)
