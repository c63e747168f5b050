"""The programs that measure, their databases, and the extension that all of them are about."""

import os
import shutil
import sqlite3
import tempfile
from contextlib import contextmanager

import method


class Tools:
    """Where the build put the programs and the extension, and the databases that they made."""

    def __init__(self, build, output, rows, statistics_rows, percentile):
        suffix = "dylib" if os.path.exists(os.path.join(build, "clreduce.dylib")) else "so"
        self.extension = os.path.join(build, f"clreduce.{suffix}")
        self.feed_bench, self.view_bench, self.device_bench = (
            os.path.join(build, "bench", name)
            for name in ("feed-bench", "view-bench", "device-bench"))
        self.rows, self.view_rows, self.statistics_rows = rows, 2 * rows, statistics_rows
        # SQLite's own extension with median() and percentile(), or an empty text.
        self.percentile = percentile
        self.output = output
        self.made = set()

    def make(self, command, name, rows):
        """The path of a database, which a command makes at the first call."""
        path = os.path.join(self.output, name)
        if path not in self.made:
            method.say(f"making {path} with {rows} rows")
            list(method.run_lines([*command, path, str(rows)]))
            read_back(path)
            self.made.add(path)
        return path

    def database(self):
        """The path of the feed's database."""
        return self.make([self.feed_bench, "make", "feed"], "feed.db", self.rows)

    def view_database(self):
        """The path of the views' database."""
        return self.make([self.view_bench, "make"], "views.db", self.view_rows)

    @contextmanager
    def large_database(self, rows):
        """The path of a database whose table v has the views' x, again and again, and no more."""
        source, path = self.view_database(), os.path.join(self.output, "large.db")
        method.say(f"making {path} with {rows} rows")
        if os.path.exists(path):
            os.remove(path)
        database = sqlite3.connect(path, isolation_level=None)
        database.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; "
                               "CREATE TABLE v(x REAL)")
        database.execute("ATTACH ? AS source", (source,))
        while rows > 0:
            rows -= database.execute("INSERT INTO v SELECT x FROM source.v LIMIT ?",
                                     (rows,)).rowcount
        database.close()
        try:
            yield path
        finally:
            os.remove(path)

    def statistics_database(self):
        """The path of the statistics' database."""
        return self.make([self.feed_bench, "make", "statistics"], "statistics.db",
                         self.statistics_rows)

    def compare(self, path, cases, rounds, seconds, preparations=()):
        """Runs cases in a database and yields what feed-bench says of each.

        A case is a name and statements (device, SQL). The preparations, which are statements too
        and are not timed, come before the first case, on the connections that the cases have.
        """
        before = [f"{device}!{sql}" for device, sql in preparations]
        lines = []
        for name, statements in cases:
            lines.append("\t".join([name, *before, *(f"{device}:{sql}"
                                                     for device, sql in statements)]) + "\n")
            before = []
        command = [self.feed_bench, "compare", path, self.extension, str(rounds), str(seconds)]
        yield from method.run_lines(command, "".join(lines))

    def compare_views(self, path, candidates, rounds, seconds, patience):
        """What view-bench says of candidates (device, kind, SELECT) in a database, in order."""
        command = [self.view_bench, "compare", path, self.extension, str(rounds), str(seconds),
                   str(patience)]
        lines = ["\t".join(candidate) + "\n" for candidate in candidates]
        return list(method.run_lines(command, "".join(lines)))

    def once(self, device, sql, environment=None):
        """What feed-bench says of one query in a process of its own."""
        command = [self.feed_bench, "once", self.database(), self.extension, device, sql]
        return list(method.run_lines(command, environment=environment))[-1]

    def query(self, sql):
        """The rows of a query that needs no table, as lists of texts."""
        return list(method.run_lines([self.feed_bench, "query", ":memory:", self.extension, sql]))


def read_back(path):
    """Has the system hold a new file in memory as one that was read from disk.

    So are most databases in use, and another process's first read must find it there, as the later
    ones do. What is in memory because it was just written is in single pages, which take longer to
    copy than the large folios that come of reading.
    """
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        while file.read(1 << 24):
            pass


@contextmanager
def cold_caches():
    """An environment in which the drivers find none of the kernels that they compiled before."""
    folder = tempfile.mkdtemp(prefix="clreduce-bench-")
    try:
        yield {"POCL_CACHE_DIR": folder, "CUDA_CACHE_PATH": folder, "CUDA_CACHE_DISABLE": "0"}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
