"""What the SQL tests share: connections with settings, the modes to run in, waiting for a device.

A mode is a value of the setting `device`. Every test runs on the host; where OpenCL has a device
that the extension would use it runs there too, and elsewhere says that it skipped that.
"""

import contextlib
import itertools
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the sources may be read-only, and stay clean
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
os.environ.setdefault("CLREDUCE_EXTENSION", os.path.join(ROOT, "clreduce"))
sys.path.insert(1, os.path.dirname(HERE))

import tap  # noqa: E402  (found through the path above)
from reference import Failure, show  # noqa: E402

if not hasattr(sqlite3.Connection, "enable_load_extension"):
    tap.skip_all("this Python's sqlite3 module cannot load extensions")

FUNCTIONS = ("gpu_sum", "gpu_total", "gpu_avg", "gpu_min", "gpu_max", "gpu_dot")

#: Settings that send to the device whatever can go there: a chunk is full soon, no part too small.
SMALL = {"chunk_size": 16, "host_threshold": 1, "chunks_in_flight": 64}

#: How long to wait for a device: a first start compiles the kernels.
TIMEOUT = 60


def device():
    """The device to test on: the environment's, or the kind of the best one that OpenCL has here. The processes that
    this one starts have the same."""
    if not os.environ.get("CLREDUCE_TEST_DEVICE"):
        os.environ["CLREDUCE_TEST_DEVICE"] = (tap.device_kinds() or ["cpu"])[0]
    return os.environ["CLREDUCE_TEST_DEVICE"]


def connect(device="host", path=":memory:", **settings):
    """A connection with the extension loaded, those settings, and the function pause(ms).

    A device is started by the first chunk, unless the settings say otherwise.
    """
    db = tap.connect(path, check_same_thread=False)
    db.create_function("pause", 1, lambda ms: time.sleep(ms / 1000))
    if device != "host":
        settings.setdefault("start_after", 0)
    configure(db, device=device, **settings)
    return db


def configure(db, **settings):
    """Changes settings of the connection."""
    for name, value in settings.items():
        db.execute("SELECT clreduce_set(?, ?)", (name, value)).fetchall()


def execute(db, *statements):
    """Runs statements, one after the other."""
    for sql in statements:
        db.execute(sql).fetchall()


def numbered(into, rows, values, first=1):
    """A statement that inserts so many rows of expressions of a number i, which counts from the first one on."""
    return (f"INSERT INTO {into} WITH RECURSIVE n(i) AS (SELECT {first} UNION ALL SELECT i + 1 FROM n LIMIT {rows})"
            f" SELECT {values} FROM n")


def rows(db, sql, *parameters):
    """All rows of a query; an error that SQLite reports for it as a Failure instead."""
    try:
        return db.execute(sql, parameters).fetchall()
    except sqlite3.Error as error:
        return Failure(str(error))


def value(db, sql, *parameters):
    """The one value of a query that gives one, or a Failure."""
    result = rows(db, sql, *parameters)
    return result if isinstance(result, Failure) else result[0][0]


def is_refused(got, start, *fragments):
    """Whether it is an error whose message begins so, and has all of these."""
    return isinstance(got, Failure) and got.message.startswith(start) and all(each in got.message for each in fragments)


def stats(db):
    """The connection's statistics, by name."""
    return dict(db.execute("SELECT name, value FROM clreduce_stats"))


def call(function, x="x", y="y"):
    """The text of a call: gpu_dot takes two arguments, the others one."""
    return f"{function}({x}, {y})" if function.endswith("dot") else f"{function}({x})"


def insert(db, name, rows):
    """Adds rows to a table."""
    rows = iter(rows)
    for first in rows:
        db.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(first))})", itertools.chain([first], rows))


def table(db, declared, rows):
    """A new table, in the place of an older one, as CREATE TABLE declares it, with these rows in this order."""
    name = declared.partition("(")[0]
    execute(db, f"DROP TABLE IF EXISTS {name}", f"CREATE TABLE {declared}")
    insert(db, name, rows)


def fill(db, pairs, name="t"):
    """A new table of (x, y) with just these rows; no affinity changes a value."""
    table(db, f"{name}(x, y)", pairs)


def lingering(chunks):
    """The table t, x and y, as a source whose end is slow to come, by the number of chunks in it.

    What a device has not begun when a statement ends is reduced on the host. So a test that wants
    chunks on the device pauses before that, in a last row of NULLs, which counts for nothing.
    """
    return f"(SELECT x, y FROM t UNION ALL SELECT pause({min(1 + 0.06 * chunks, 5)}), NULL)"


def wait_for_device(db):
    """Feeds the device until it has taken every kind of chunk; whether it did in time."""
    limit = time.monotonic() + TIMEOUT
    feed = """WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n
              WHERE i < 3 * (SELECT value FROM clreduce_settings WHERE name = 'chunk_size'))
              SELECT {} FROM (SELECT i, i * 0.5 AS r FROM n UNION ALL SELECT pause(1), NULL)"""
    for calls in ("gpu_sum({0})", "gpu_dot({0}, {0})"):
        for column in ("i", "r"):
            before = taken = stats(db)["chunks_to_device"]
            while taken == before:
                if time.monotonic() > limit:
                    return False
                db.execute(feed.format(calls.format(column))).fetchall()
                taken = stats(db)["chunks_to_device"]
    return True


_modes = None


def modes():
    """The modes that can run here. Waits, once, until the device to test on is ready."""
    global _modes
    if _modes is None:
        _modes = ["host"]
        reason = _unusable()
        if reason:
            tap.no_device(reason)
            tap.diag(f"not run on a device: {reason}")
        else:
            _modes.append(device())
    return _modes


def _unusable():
    """Why there is no device to test on, or None."""
    db = connect(device(), **SMALL)
    try:
        if not value(db, "SELECT count(*) FROM clreduce_devices WHERE in_use"):
            return "OpenCL offers none that is in use"
        if not wait_for_device(db):
            tap.ok(False, f"the device takes a chunk within {TIMEOUT} s")
            return "it never took a chunk"
    finally:
        db.close()
    return None


@contextlib.contextmanager
def stopped(db, calls, instructions):
    """What runs within is interrupted by the progress handler, after so many calls of it, one each so many instructions."""
    left = iter(range(calls))
    db.set_progress_handler(lambda: next(left, None) is None, instructions)
    yield
    db.set_progress_handler(None, 0)


def skip_device(count, what):
    """Counts checks as skipped where there is no device; whether it did."""
    if device() in modes():
        return False
    tap.skip(count, f"{what}: no OpenCL device in use")
    return True


def took_part(db, what):
    """One check: the connection's device has reduced some chunks. For queries by the hundred: of a
    single one the host may do all before the device has begun."""
    count = stats(db)["chunks_to_device"]
    return tap.ok(count > 0, f"a device took part in {what}: {count} chunks")


def seed():
    """A random generator; its seed is printed, and CLREDUCE_SEED repeats a run. Quick runs are all the same."""
    number = int(os.environ.get("CLREDUCE_SEED") or (1 if tap.QUICK else random.SystemRandom().randrange(2**32)))
    tap.diag(f"CLREDUCE_SEED={number}")
    return random.Random(number)


class Batch:
    """Many comparisons that make up one check, which end() or else the test's end makes; a failure shows the first few differences."""

    SHOWN = 5

    def __init__(self, name):
        self.name = name
        self.run = 0
        self.failures = []
        self.is_open = True
        tap.ended_later(self)

    def compare(self, got, want, what):
        """One comparison; the text says what was compared. Whether it held."""
        self.run += 1
        if tap.is_same(got, want):
            return True
        if isinstance(got, list) and isinstance(want, list):
            what += f"\n  {len(got)} and {len(want)} rows; the first that differs"
            got, want = next((pair for pair in zip(got, want) if not tap.is_same(*pair)), (got, want))
        self.failures.append(f"{what}\n   got: {show(got)}\n  want: {show(want)}")
        return False

    def check(self, passed, what):
        """One comparison that was made already."""
        self.run += 1
        if not passed:
            self.failures.append(what)
        return passed

    def skip(self, reason):
        """Ends it without a check."""
        self.is_open = False
        tap.skip(1, reason)

    def end(self):
        """The check itself."""
        if not self.is_open:
            return not self.failures
        self.is_open = False
        passed = tap.ok(self.run > 0 and not self.failures, self.name)
        if not self.run:
            tap.diag("nothing was compared")
        for failure in self.failures[: self.SHOWN]:
            tap.diag(failure)
        if len(self.failures) > self.SHOWN:
            tap.diag(f"... and more: {len(self.failures)} of {self.run} comparisons failed")
        return passed


def run(module, **given):
    """Runs a module's tests, as tap.run() does. What is also given: `rng`, a random generator for all of them, and `batch`,
    whose name is what the test says that it is about."""
    generators = []

    def rng(_):
        if not generators:
            generators.append(seed())
        return generators[0]

    tap.run(module, rng=rng, batch=lambda test: Batch(test.__doc__.split(".")[0]), **given)


def child(code, timeout=300, within=(), **environment):
    """Runs Python code in a process of its own, with `support` and `tap` imported.

    within: a command that runs the command behind it. A value None removes a variable from its environment. Gives the finished process; one that did
    not end in time is killed, and its exit status is then None.
    """
    variables = dict(os.environ)
    for name, text in environment.items():
        if text is None:
            variables.pop(name, None)
        else:
            variables[name] = text
    prelude = f"import sys\nsys.path.insert(0, {HERE!r})\nimport support, tap\n"
    command = [*within, sys.executable, "-c", prelude + code]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        # Files and not pipes, so that what was written is known if the process has to be killed.
        try:
            status = subprocess.run(
                command,
                env=variables,
                timeout=timeout,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=errors,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            status = None
            errors.write(f"\nstill running after {timeout} s")
        out.seek(0)
        errors.seek(0)
        return subprocess.CompletedProcess(command, status, out.read(), errors.read())


def child_ok(process, name):
    """One check: the process ended well; its output is shown if not."""
    if tap.ok(process.returncode == 0, name):
        return True
    tap.diag(f"exit status {process.returncode}")
    tap.diag(process.stdout[-2000:])
    tap.diag(process.stderr[-2000:])
    return False
