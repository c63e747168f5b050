"""The programs that measure, their databases, and the extension that all of them are about."""

import contextlib
import os
import shutil
import sqlite3
import tempfile
import time
import zlib

from measuring import method


class Tools:
    """Where the build put the programs and the extension, and the databases that they made."""

    def __init__(self, build, output, rows, statistics_rows, percentile, run, limit):
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
        # The number of this run, and how many there are of a report.
        self.run, self.runs = run
        self.start, self.limit = time.monotonic(), limit

    def is_late(self):
        """Whether the run has taken so long that nothing more is to begin."""
        return time.monotonic() - self.start > self.limit

    def too_late(self):
        """Why something is not measured then."""
        return f"{self.limit:g} seconds had passed"

    def has_turn(self, number):
        """Whether this run measures what one run of a report measures; numbers spread that over the
        runs."""
        return (number + 1) % self.runs == self.run - 1

    def extension_for(self, name):
        """The path of a copy of the extension: a file of it serves one SQLite in a process."""
        folder = os.path.join(self.output, name)
        path = os.path.join(folder, os.path.basename(self.extension))
        if path not in self.made:
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(folder)
            shutil.copy(self.extension, path)
            self.made.add(path)
        return path

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

    def copy(self, name, rows, fill):
        """The path of a database that fill(source, path, rows) makes of the views' database, unless
        it is there already with so many rows."""
        source, path = self.view_database(), os.path.join(self.output, name)
        if path not in self.made:
            with contextlib.closing(sqlite3.connect(path)) as database:
                is_there = database.execute("PRAGMA user_version").fetchone()[0] == rows
            if not is_there:
                method.say(f"making {path} with {rows} rows")
                os.remove(path)
                fill(source, path, rows)
            read_back(path)
            self.made.add(path)
        return path

    def numbered_database(self, name, table, select):
        """The path of a database with a table, of a name and columns in parentheses, which has what the list of a SELECT
        makes of each number i up to the rows. It is made unless it is there already, made the same way."""
        path = os.path.join(self.output, name)
        if path in self.made:
            return path
        statements = (f"CREATE TABLE {table};"
                      f"WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers LIMIT {self.rows})"
                      f" INSERT INTO {table.partition('(')[0]} SELECT {select} FROM numbers;")
        version = zlib.crc32(statements.encode()) >> 1
        with contextlib.closing(sqlite3.connect(path)) as database:
            is_there = database.execute("PRAGMA user_version").fetchone()[0] == version
        if not is_there:
            method.say(f"making {path} with {self.rows} rows")
            os.remove(path)
            with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
                database.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                                       f"{statements} PRAGMA user_version = {version}")
        read_back(path)
        self.made.add(path)
        return path

    def large_database(self, rows):
        """The path of a database whose table v has the views' x, again and again, and no more."""
        return self.copy("large.db", rows, fill_large)

    def scale_database(self, rows):
        """The path of a database with a table of each of scale_sizes(rows), as scale_table() names
        it, which has the first rows of the views' table."""
        return self.copy("scale.db", rows, fill_scale)

    def statistics_database(self):
        """The path of the statistics' database."""
        return self.make([self.feed_bench, "make", "statistics"], "statistics.db",
                         self.statistics_rows)

    def changes_database(self):
        """The path of a database with a tenth of the rows, whose pages are changed; made anew."""
        path = os.path.join(self.output, "changes.db")
        for suffix in ("", "-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                os.remove(path + suffix)
        self.made.discard(path)
        return self.make([self.view_bench, "make"], "changes.db", self.rows // 10)

    def values_database(self, name, values):
        """The path of a database whose table t has the values in its column x; made anew."""
        path = os.path.join(self.output, name)
        with contextlib.suppress(FileNotFoundError):
            os.remove(path)
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
            database.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; "
                                   "CREATE TABLE t(x REAL); BEGIN")
            database.executemany("INSERT INTO t VALUES (?)", ((value,) for value in values))
            database.execute("COMMIT")
        read_back(path)
        return path

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

    def compare_views(self, path, candidates, rounds, seconds, device_wait):
        """What view-bench says of candidates (device, kind, SELECT) in a database, in order."""
        command = [self.view_bench, "compare", path, self.extension, str(rounds), str(seconds),
                   str(device_wait)]
        lines = ["\t".join(candidate) + "\n" for candidate in candidates]
        return list(method.run_lines(command, "".join(lines)))

    def session(self, path, device, runs, seconds, sql):
        """What view-bench says of a process of its own that queries again and again."""
        command = [self.view_bench, "session", path, self.extension, device, str(runs),
                   str(seconds), sql]
        return list(method.run_lines(command))[-1]

    def change(self, path, device, rounds, device_wait, sql):
        """What view-bench says of a view's query after its pages were changed, for each number."""
        command = [self.view_bench, "changes", path, self.extension, device, str(rounds),
                   str(device_wait), sql]
        return list(method.run_lines(command))

    def once(self, device, sql, environment=None):
        """What feed-bench says of one query in a process of its own."""
        command = [self.feed_bench, "once", self.database(), self.extension, device, sql]
        return list(method.run_lines(command, environment=environment))[-1]

    def query(self, sql):
        """The rows of a query that needs no table, as lists of texts."""
        return list(method.run_lines([self.feed_bench, "query", ":memory:", self.extension, sql]))


def scale_table(rows):
    """The name of the table with so many rows."""
    return f"v{rows}"


def scale_sizes(rows):
    """The powers of ten from 1,000 to a number of rows."""
    return [10 ** power for power in range(3, 10) if 10 ** power <= rows]


@contextlib.contextmanager
def copying(source, path, rows):
    """A connection to a new database, in which another one is attached as "source"."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
        database.execute("ATTACH ? AS source", (source,))
        yield database
        database.execute(f"PRAGMA main.user_version = {rows}")


def fill_large(source, path, rows):
    """Copies x as often as is needed for so many rows."""
    with copying(source, path, rows) as database:
        database.execute("CREATE TABLE v(x REAL)")
        left = rows
        while left > 0:
            left -= database.execute("INSERT INTO v SELECT x FROM source.v LIMIT ?",
                                     (left,)).rowcount


def fill_scale(source, path, rows):
    """Copies the first rows to a table of each size."""
    with copying(source, path, rows) as database:
        for size in scale_sizes(rows):
            database.execute(f"CREATE TABLE {scale_table(size)}"
                             "(id INTEGER PRIMARY KEY, x REAL, y REAL, i INTEGER, j INTEGER)")
            database.execute(f"INSERT INTO {scale_table(size)} "
                             "SELECT * FROM source.v ORDER BY id LIMIT ?", (size,))


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


@contextlib.contextmanager
def cold_caches():
    """An environment in which none of the kernels that were compiled before are found."""
    folder = tempfile.mkdtemp(prefix="clreduce-bench-")
    try:
        yield {"POCL_CACHE_DIR": folder, "CUDA_CACHE_PATH": folder, "CUDA_CACHE_DISABLE": "0",
               "XDG_CACHE_HOME": folder}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
