"""The programs that measure, their databases, and the extension that all of them are about."""

import os
import shutil
import tempfile
from contextlib import contextmanager

import method


class Tools:
    """Where the build put the programs and the extension, and the databases that they made."""

    def __init__(self, build, output, rows):
        suffix = "dylib" if os.path.exists(os.path.join(build, "clreduce.dylib")) else "so"
        self.extension = os.path.join(build, f"clreduce.{suffix}")
        self.feed_bench, self.view_bench, self.device_bench = (
            os.path.join(build, "bench", name)
            for name in ("feed-bench", "view-bench", "device-bench"))
        self.rows, self.view_rows = rows, 2 * rows
        self.output = output
        self.made = set()

    def make(self, program, name, rows):
        """The path of a database, which the program makes at the first call."""
        path = os.path.join(self.output, name)
        if path not in self.made:
            method.say(f"making {path} with {rows} rows")
            list(method.run_lines([program, "make", path, str(rows)]))
            # Another process's first read must find the file in memory, as the later ones do.
            with open(path, "rb") as file:
                while file.read(1 << 24):
                    pass
            self.made.add(path)
        return path

    def database(self):
        """The path of the feed's database."""
        return self.make(self.feed_bench, "feed.db", self.rows)

    def view_database(self):
        """The path of the views' database."""
        return self.make(self.view_bench, "views.db", self.view_rows)

    def compare(self, cases, rounds, seconds):
        """Runs cases, each a name and statements (device, SQL), and yields what feed-bench says."""
        lines = ["\t".join([name] + [f"{device}:{sql}" for device, sql in statements]) + "\n"
                 for name, statements in cases]
        command = [self.feed_bench, "compare", self.database(), self.extension, str(rounds),
                   str(seconds)]
        yield from method.run_lines(command, "".join(lines))

    def compare_views(self, candidates, rounds, seconds, patience):
        """What view-bench says of candidates (device, kind, SELECT), in their order."""
        command = [self.view_bench, "compare", self.view_database(), self.extension, str(rounds),
                   str(seconds), str(patience)]
        lines = ["\t".join(candidate) + "\n" for candidate in candidates]
        return list(method.run_lines(command, "".join(lines)))

    def once(self, device, sql, environment=None):
        """What feed-bench says of one query in a process of its own."""
        command = [self.feed_bench, "once", self.database(), self.extension, device, sql]
        return list(method.run_lines(command, environment=environment))[-1]

    def query(self, sql):
        """The rows of a query that needs no table, as lists of texts."""
        return list(method.run_lines([self.feed_bench, "query", ":memory:", self.extension, sql]))


@contextmanager
def cold_caches():
    """An environment in which the drivers find none of the kernels that they compiled before."""
    folder = tempfile.mkdtemp(prefix="clreduce-bench-")
    try:
        yield {"POCL_CACHE_DIR": folder, "CUDA_CACHE_PATH": folder, "CUDA_CACHE_DISABLE": "0"}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
