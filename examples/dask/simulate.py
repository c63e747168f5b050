"""What a tree of merges moves: 10,000 shards of states, merged level by level.

    simulate.py [--shards 10000] [--groups 100] [--rows 3] [--fan-in 8]

Every shard has that many rows of each group. Each aggregate is followed by itself: the bytes that all nodes of a level
send to the next, those of a state, and the time that one node takes to merge what it gets. The result is compared with
that of all rows at once, bit by bit.
"""

import argparse
import time

import clreduce

#: Aggregates by what they are of: delays are whole minutes, fares are REALs from 1e-9 to 1e18.
AGGREGATES = ["gpu_avg(delay)", "gpu_max(delay)", "gpu_avg(fare)", "gpu_var_samp(fare)", "gpu_corr(fare, delay)",
              "gpu_histogram(delay, -30, 90, 12)"]

ROWS = """CREATE TABLE flights AS
    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {count})
    SELECT i / {per_shard} AS shard, i % {groups} AS airport, (i * 2654435761 >> 7) % 300 - 80 AS delay,
           ((i * 40503 >> 3) % 1000003) / 7.0 * pow(10, (i * 2654435761 >> 9) % 22 - 9) AS fare
    FROM n"""


def parts_of(call):
    """The state's function and the finishing one of a call, and its arguments."""
    name, _, arguments = call.partition("(")
    return f"{name}_state", f"{name}_state_merge", f"{name}_merge", arguments.rstrip(")")


def follow(database, call, fan_in):
    """Merges the states of one aggregate; yields for each level its nodes, the bytes they send, and the seconds of one."""
    state, merge, _, arguments = parts_of(call)
    database.execute("DROP TABLE IF EXISTS sent")
    database.execute(f"CREATE TABLE sent AS SELECT shard AS node, airport, {state}({arguments}) AS state FROM flights GROUP BY 1, 2")
    seconds = None
    while True:
        nodes, size, states = database.execute("SELECT count(DISTINCT node), sum(length(state)), count(*) FROM sent").fetchone()
        yield nodes, size, states, seconds
        if nodes == 1:
            return
        start = time.perf_counter()
        database.execute(f"CREATE TABLE merged AS SELECT node / {fan_in} AS node, airport, {merge}(state) AS state"
                         " FROM sent GROUP BY 1, 2")
        seconds = (time.perf_counter() - start) / -(-nodes // fan_in)
        database.execute("DROP TABLE sent")
        database.execute("ALTER TABLE merged RENAME TO sent")


def main():
    """Prints a line for each level of each aggregate."""
    parser = argparse.ArgumentParser(description="what a tree of merges moves")
    for name, value in (("shards", 10_000), ("groups", 100), ("rows", 3), ("fan-in", 8)):
        parser.add_argument(f"--{name}", type=int, default=value)
    options = parser.parse_args()
    database = clreduce.connect(":memory:", isolation_level=None)
    database.execute(ROWS.format(count=options.shards * options.groups * options.rows, per_shard=options.groups * options.rows,
                                 groups=options.groups))
    print(f"{'aggregate':36}{'nodes':>8}{'bytes a state':>15}{'MB sent':>9}{'ms to merge':>13}")
    for call in AGGREGATES:
        for nodes, size, states, seconds in follow(database, call, options.fan_in):
            time_taken = "" if seconds is None else f"{seconds * 1000:.2f}"
            print(f"{call:36}{nodes:8}{size / states:15.1f}{size / 1e6:9.2f}{time_taken:>13}")
        finish = parts_of(call)[2]
        found = database.execute(f"SELECT airport, {finish}(state) FROM sent GROUP BY 1").fetchall()
        wanted = database.execute(f"SELECT airport, {call} FROM flights GROUP BY 1").fetchall()
        if list(map(repr, found)) != list(map(repr, wanted)):
            raise SystemExit(f"{call}: the merged states give other results than the rows")
    print("all results have the bits of the rows at once")


main()
