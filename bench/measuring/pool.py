"""Connections of one process that ask the same views, beside a writer in WAL mode.

Pools of several sizes meet writers of several speeds: queries a second, how long they take, and
what memory the process takes. SQLite, which is slow, runs the same questions with some of the
pools, and DuckDB has as many cursors on a table of its own in memory, and a writer as well.

BENCH_CONNECTIONS, BENCH_COMMITS and BENCH_SECONDS set the pools' sizes, the commits a second, and
the seconds that each combination is measured.
"""

import collections
import os
import threading
import time

from measuring import method
from measuring import peers
from measuring import views

CONNECTIONS, COMMITS, SECONDS = (1, 2, 8, 16), (0, 20, 200), 5
#: With so many connections and commits a second SQLite runs, too.
SQLITE_CONNECTIONS, SQLITE_COMMITS = (1, 8), 20

Question = collections.namedtuple("Question", "name view plain duckdb")


def question(name, sql, plain=None, duckdb=None):
    """A view's SELECT, and the same in the functions of SQLite and of DuckDB; in SQLite's in both,
    if they are not given."""
    usual = sql.replace("gpu_", "")
    return Question(name, sql, plain or usual, duckdb or usual)


QUESTIONS = (
    question("sum", "SELECT gpu_sum(x) FROM v"),
    question("averages", "SELECT gpu_avg(y), gpu_sum(j), count(*) FROM v"),
    question("product, filtered", "SELECT gpu_sum(x * y) FROM v WHERE i > 500"),
    question("count of a range", "SELECT count(*) FROM v WHERE i BETWEEN 200 AND 300 AND j > 0"),
    question("extremes, filtered", "SELECT gpu_max(x), gpu_min(y) FROM v WHERE j < 0"),
    question("1000 groups", "SELECT i, count(*), gpu_sum(x) FROM v GROUP BY i"),
    question("10 groups, filtered", "SELECT i % 10 AS k, gpu_avg(y), gpu_max(j) FROM v WHERE x > 0"
             " GROUP BY k"),
    question("median", "SELECT gpu_median(x) FROM v",
             "SELECT x FROM v ORDER BY x LIMIT 1 OFFSET (SELECT count(*) / 2 FROM v)"),
    question("variance", "SELECT gpu_var_samp(y) FROM v", "SELECT avg(y * y) - avg(y) * avg(y) FROM v"),
    question("either of two", "SELECT gpu_sum(j) FROM v WHERE x > 100 OR y < -100"),
)


def numbers(name, usual, kind=int):
    """A variable of the environment as a tuple of numbers."""
    return tuple(map(kind, os.environ.get(name, "").split())) or usual


def rows_of(tools):
    """4 million rows, where the feed has ten."""
    return tools.rows * 2 // 5


def database(tools):
    """The path of the database, whose rows writers change."""
    return tools.make([tools.view_bench, "make"], "pool.db", rows_of(tools))


def run_pool(tools, device, connections, commits, seconds, check=False):
    """What view-bench says of a pool. check: views are compared with their SELECTs."""
    method.say(f"pool: {connections} connections, {commits} commits a second, {device}")
    texts = [one.plain if device == "none" else one.view for one in QUESTIONS]
    command = [tools.view_bench, "pool", database(tools), tools.extension, device, str(connections),
               str(commits), str(seconds), str(int(check))]
    found, = method.run_lines(command, "".join(f"{text}\n" for text in texts))
    return {**found, "device": "SQLite" if device == "none" else device}


class Cursors:
    """DuckDB's cursors, each in a thread, beside a writer."""

    def __init__(self, connection, connections, commits, rows):
        self.times, self.end, self.committed = [], 0, 0
        self.commits, self.rows = commits, rows
        self.cursors = [connection.cursor() for _ in range(connections)]
        self.writer = connection.cursor()

    def ask(self, number):
        """Asks in turn until the end."""
        step, times = number, []
        while time.monotonic() < self.end:
            sql = QUESTIONS[step % len(QUESTIONS)].duckdb
            start = time.perf_counter_ns()
            self.cursors[number].execute(sql).fetchall()
            times.append(time.perf_counter_ns() - start)
            step += 1
        self.times += times

    def write(self):
        """Changes a row so many times a second; what is late is not made up for."""
        following = time.monotonic()
        while time.monotonic() < self.end:
            row = 1 + self.committed * 7919 % self.rows
            self.writer.execute("UPDATE v SET j = (j + 7) % 1000001 WHERE id = ?", (row,))
            self.committed += 1
            following = max(following + 1 / self.commits, time.monotonic())
            time.sleep(max(0, following - time.monotonic()))

    def run(self, seconds):
        """All of them, for so long."""
        start = time.monotonic()
        self.end = start + seconds
        threads = [threading.Thread(target=self.ask, args=(number,))
                   for number in range(len(self.cursors))]
        if self.commits:
            threads.append(threading.Thread(target=self.write))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        taken = time.monotonic() - start
        self.times.sort()
        count = len(self.times)
        return {"device": "DuckDB", "connections": len(self.cursors), "commits": self.commits,
                "seconds": taken, "answers": count, "per_second": count / taken,
                "p50_ns": self.times[count // 2], "p99_ns": self.times[count * 99 // 100],
                "longest_ns": self.times[-1], "committed": self.committed}


def duckdb_table(duckdb, rows, cores):
    """A connection with the values of the database."""
    connection = peers.duckdb_table(
        duckdb, rows, id="n", i="(n * 3266489917 & 4294967295) // 256 % 1000",
        j="(n * 668265263 & 4294967295) // 256 % 2000001 - 1000000")
    connection.execute("ALTER TABLE t RENAME TO v")
    connection.execute(f"SET threads = {cores}")
    return connection


def measure_duckdb(rows, cores, pools, seconds):
    """DuckDB's lines; none where it is not."""
    duckdb = peers.find("duckdb")
    if duckdb is None:
        return []
    method.say("pool: DuckDB")
    connection = duckdb_table(duckdb, rows, cores)
    results = [Cursors(connection, connections, commits, rows).run(seconds)
               for connections, commits in pools]
    connection.close()
    return results


def figures(results):
    """What the pools are about, beside one connection with the same writer: queries a second, memory,
    and how long the other connections' first answers took, against those of resident columns."""
    alone = {(row["device"], row["commits"]): row for row in results if row["connections"] == 1}
    for row in results:
        one = alone.get((row["device"], row["commits"]))
        if one is not None and one is not row:
            row["against_one"] = row["per_second"] / one["per_second"]
        if row.get("others_ns") and row["one_bytes"]["columns"]:
            before, first, full = (row[when] for when in ("before_bytes", "one_bytes", "all_bytes"))
            row["columns_against_one"] = full["columns"] / first["columns"]
            row["memory_against_one"] = ((full["process"] - before["process"])
                                         / max(first["process"] - before["process"], 1))
            row["others_against_again"] = max(row["others_ns"]) / row["again_ns"]


def measure(tools, machine):
    """All of it, and what failed or None."""
    pools = [(connections, commits) for commits in numbers("BENCH_COMMITS", COMMITS)
             for connections in numbers("BENCH_CONNECTIONS", CONNECTIONS)]
    seconds, = numbers("BENCH_SECONDS", (SECONDS,), float)
    # SELECTs take their time: with the last pool they are run.
    results = [run_pool(tools, device, *pool, seconds, pool == pools[-1])
               for device in views.devices(machine["device"]) for pool in pools]
    results += [run_pool(tools, "none", *pool, seconds) for pool in pools
                if pool[0] in SQLITE_CONNECTIONS and pool[1] == SQLITE_COMMITS]
    results += measure_duckdb(rows_of(tools), machine["cores"], pools, seconds)
    figures(results)
    wrong = [f"{row['connections']} connections, {row['commits']} commits a second ({row['device']})"
             " give other rows than their SELECTs" for row in results if not row.get("same", True)]
    return {"rows": rows_of(tools), "seconds": seconds, "results": results}, "; ".join(wrong) or None
