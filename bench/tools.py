"""The programs that measure: device-bench and feed-bench, and the extension that both are about."""

import os
import shutil
import tempfile
from contextlib import contextmanager

import method


class Tools:
    """Where the build put the programs and the extension, and the database that feed-bench made."""

    def __init__(self, build, output, rows):
        suffix = "dylib" if os.path.exists(os.path.join(build, "clreduce.dylib")) else "so"
        self.extension = os.path.join(build, f"clreduce.{suffix}")
        self.feed_bench = os.path.join(build, "bench", "feed-bench")
        self.device_bench = os.path.join(build, "bench", "device-bench")
        self.rows = rows
        self.path = os.path.join(output, "feed.db")
        self.made = False

    def database(self):
        """The path of the feed's database, which is made at the first call."""
        if not self.made:
            method.say(f"making {self.path} with {self.rows} rows")
            list(method.run_lines([self.feed_bench, "make", self.path, str(self.rows)]))
            # Another process's first read must find the file in memory, as the later ones do.
            with open(self.path, "rb") as file:
                while file.read(1 << 24):
                    pass
            self.made = True
        return self.path

    def compare(self, cases, rounds, seconds):
        """Runs cases, each a name and statements (device, SQL), and yields what feed-bench says."""
        lines = ["\t".join([name] + [f"{device}:{sql}" for device, sql in statements]) + "\n"
                 for name, statements in cases]
        command = [self.feed_bench, "compare", self.database(), self.extension, str(rounds),
                   str(seconds)]
        yield from method.run_lines(command, "".join(lines))

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
