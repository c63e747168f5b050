"""A SELECT with GROUP BY as three: states of each file, states of states, and the result from them.

    plan = make_plan("SELECT origin, gpu_avg(delay) FROM flights GROUP BY origin", schema)
    parts = [read_states(file, plan) for file in files]      # anywhere
    columns, rows = finish(plan, merge_states(plan, parts))  # in any order, in any tree

States are exact, so the rows are those of one file with the rows of all files, bit by bit. What could be otherwise is
refused (NotDistributable).
"""

import math

from .loading import open_database
from .planning import NotDistributable, Plan, column, make_plan, parse
from .statements import execute

__all__ = ["NotDistributable", "Plan", "finish", "make_plan", "merge_states", "parse", "read_schema", "read_states"]


def read_schema(file, table):
    """The columns of a file's table, and its CREATE TABLE."""
    connection = open_database(file, read_only=True)
    try:
        found = connection.execute("SELECT sql, sql LIKE 'CREATE VIRTUAL%' FROM main.sqlite_master"
                                   " WHERE type = 'table' AND name = ? COLLATE NOCASE", (table,)).fetchone()
        if found is None or found[1]:
            raise NotDistributable(f"{file} has no table {table}, or it is a view or a virtual table")
        columns = connection.execute("SELECT name, upper(type), hidden FROM pragma_table_xinfo(?)", (table,)).fetchall()
        return tuple(columns), found[0]
    finally:
        connection.close()


def read_states(file, plan):
    """The rows of keys and states of a file."""
    schema = read_schema(file, plan.table)
    if schema[0] != plan.schema[0] or schema[1] != plan.schema[1] and "collate" in (schema[1] + plan.schema[1]).lower():
        raise NotDistributable(f"{file} has another table {plan.table} than the first file")
    connection = open_database(file, read_only=True)
    try:
        return execute(connection, plan.shard, plan.parameters).fetchall()
    finally:
        connection.close()


def hold(plan, parts):
    """A database in memory that has all rows of keys and states."""
    connection = open_database(":memory:", isolation_level=None)
    count = len(plan.key_types) + len(plan.merges)
    types = [*plan.key_types, *[""] * len(plan.merges)]
    connection.execute(f"CREATE TABLE parts({', '.join(f'{column(i)} {types[i]}' for i in range(count))})")
    connection.execute("BEGIN")
    for rows in parts:
        connection.executemany(f"INSERT INTO parts VALUES ({', '.join('?' * count)})", rows)
    connection.execute("COMMIT")
    return connection


def merge_states(plan, parts):
    """One list of rows of keys and states from several, in any order."""
    connection = hold(plan, parts)
    try:
        keys = [column(i) for i in range(len(plan.key_types))]
        states = [f"{merge}({column(len(keys) + i)})" for i, merge in enumerate(plan.merges)]
        sql = f"SELECT {', '.join(keys + states)} FROM parts" + (f" GROUP BY {', '.join(keys)}" if keys else "")
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def finish(plan, rows):
    """The names of the result's columns, and its rows."""
    connection = hold(plan, [rows])
    try:
        for i, *states in plan.mixed:
            check_mixed(connection, i, states, len(plan.key_types))
        return list(plan.columns), connection.execute(plan.finish, plan.parameters).fetchall()
    finally:
        connection.close()


def check_mixed(connection, i, states, keys):
    """Refuses groups whose keys are equal and yet differ: SQLite names the group by one of them."""
    calls = ", ".join(f"gpu_{name}_merge({column(state)})" for name, state in zip(("min", "max", "min", "max"), states))
    group = ", ".join(map(column, range(keys)))
    for least_type, greatest_type, least, greatest in connection.execute(f"SELECT {calls} FROM parts GROUP BY {group}"):
        if least_type != greatest_type or isinstance(least, float) and math.copysign(1, least) != math.copysign(1, greatest):
            raise NotDistributable(f"key {i + 1} of GROUP BY has equal values that differ, as 1 and 1.0, of which SQLite names "
                                   f"the group by one ({least!r} in one group): write CAST(... AS INTEGER) or AS TEXT")
