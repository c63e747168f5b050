"""A small TAP (Test Anything Protocol) producer for the Python tests, and what they all need.

    import tap

    db = tap.connect()
    def test_one_row():
        tap.is_equal(db.execute("SELECT gpu_sum(1)").fetchone()[0], 1, "one row")

    tap.run(globals())

Each check prints one line, and returns whether it passed. The end prints the number of checks that
ran, so that a test which dies half-way has no plan, and counts as an error.

The tests run under `make check`, which sets the environment that is read here.
"""

import inspect
import itertools
import marshal
import math
import os
import sqlite3
import struct
import subprocess
import sys

EXTENSION = os.environ.get("CLREDUCE_EXTENSION", "./clreduce")
SRCDIR = os.environ.get("CLREDUCE_SRCDIR", os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILDDIR = os.environ.get("CLREDUCE_BUILDDIR", os.getcwd())
SQLITE3 = os.environ.get("SQLITE3", "sqlite3")

# Whether tests are to use some of their cases alone.
QUICK = os.environ.get("CLREDUCE_TEST_LONG", "") in ("", "0")

# Whether the extension is built with a sanitizer, which needs memory and time of its own.
SANITIZED = bool(os.environ.get("CLREDUCE_PRELOAD"))

_run = 0
_failed = 0


def _say(line):
    # Flushed at once: a later crash must not take the results so far with it.
    print(line, flush=True)


def ok(passed, name):
    """One check."""
    global _run, _failed
    _run += 1
    if not passed:
        _failed += 1
    # Line breaks and '#' have a meaning in TAP.
    name = " ".join(str(name).split()).replace("#", ".")
    _say("%s %d - %s" % ("ok" if passed else "not ok", _run, name))
    return bool(passed)


def bits(value):
    """The bits of a float as an int."""
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def _show(value):
    if isinstance(value, float):
        return "%r %s (0x%016x)" % (value, value.hex(), bits(value))
    return "%s %r" % (type(value).__name__, value)


def _has_same_bytes(got, want):
    """Whether lists or tuples are the same byte by byte, which nearly all are, and which is quickly told: in this form every
    value has its type and its bits. Others may be the same all the same, as NaNs are, or be such as have no such form."""
    try:
        return marshal.dumps(got, 2) == marshal.dumps(want, 2)
    except ValueError:
        return False


def is_same(got, want):
    """Whether two SQL values are of one type and equal; floats bit by bit, all NaNs alike.

    Lists and tuples are compared item by item.
    """
    if isinstance(got, (list, tuple)) and isinstance(want, (list, tuple)):
        return _has_same_bytes(got, want) or (len(got) == len(want) and all(map(is_same, got, want)))
    if type(got) is not type(want):
        return False
    if isinstance(got, float):
        return (math.isnan(got) and math.isnan(want)) or bits(got) == bits(want)
    return got == want


def is_equal(got, want, name):
    """One check: is_same(), with both values in the diagnostics of a failure."""
    same = is_same(got, want)
    ok(same, name)
    if not same:
        diag(" got: " + _show(got))
        diag("want: " + _show(want))
    return same


def raises(call, fragment, name, kind=sqlite3.Error):
    """One check: call() raises an exception of that kind, whose text contains the fragment."""
    try:
        got = call()
    except kind as error:
        passed = fragment in str(error)
        ok(passed, name)
        if not passed:
            diag("message: %s" % error)
            diag("lacks:   %s" % fragment)
        return passed
    ok(False, name)
    diag("no error, but: %r" % (got,))
    return False


def skip(count, reason):
    """Counts that many checks as skipped."""
    global _run
    for _ in range(count):
        _run += 1
        _say("ok %d # SKIP %s" % (_run, reason))


def skip_all(reason):
    """Skips the whole test, before its first check; does not return."""
    _say("1..0 # SKIP %s" % reason)
    sys.exit(0)


def no_device(what):
    """To be called where there is no device to test on, before what needs one is skipped: gives up on
    the test where CLREDUCE_REQUIRE_DEVICE says that there has to be one."""
    if os.environ.get("CLREDUCE_REQUIRE_DEVICE", "") not in ("", "0"):
        bail("%s, and CLREDUCE_REQUIRE_DEVICE is set" % what)


def bail(reason):
    """Gives up on the test; does not return."""
    _say("Bail out! %s" % reason)
    sys.exit(1)


def diag(text):
    """A comment in the test's log. May have several lines."""
    for line in str(text).splitlines() or [""]:
        _say("# " + line)


#: What the test that runs has made and run() is to end; None where there is no run().
_open = None


def ended_later(thing):
    """Leaves it to run() to end a batch or to close a connection, and gives it back."""
    if _open is not None:
        _open.append(thing)
    return thing


def each(*cases):
    """Has run() call the test below once for each case: a value for its last parameter, or a tuple for several."""

    def remember(test):
        test.cases = cases
        return test

    return remember


def run(module, **given):
    """Runs the tests of a module, which are globals(), as they stand in it: all functions test_*. They have what is given by
    the names of their parameters: once each item of a list, and what a function makes of the test, anew each time. When a
    test is over its batches are ended and its connections closed. Does not return."""
    global _open
    for name, test in list(module.items()):
        if not name.startswith("test_"):
            continue
        cases = [case if isinstance(case, tuple) else (case,) for case in getattr(test, "cases", [()])]
        parameters = list(inspect.signature(test).parameters)
        found = [given[name] for name in parameters[: len(parameters) - len(cases[0])] if name in given] if cases else []
        rounds = itertools.product(*(value if isinstance(value, list) else [value] for value in found))
        for values, case in itertools.product(rounds, cases):
            _open = []
            test(*(value(test) if inspect.isfunction(value) else value for value in values), *case)
            for batch in _open:
                if hasattr(batch, "end"):
                    batch.end()
            for connection in reversed(_open):
                if hasattr(connection, "close"):
                    connection.close()
    done()


def done():
    """Ends the test; does not return."""
    _say("1..%d" % _run)
    if _failed:
        diag("%d of %d checks failed" % (_failed, _run))
    sys.exit(1 if _failed else 0)


class _Connection(sqlite3.Connection):
    """A connection that writes many rows in one transaction: in autocommit mode each row makes a journal."""

    def executemany(self, sql, rows):
        if self.isolation_level is not None or self.in_transaction:
            return super().executemany(sql, rows)
        self.execute("BEGIN")
        try:
            return super().executemany(sql, rows)
        finally:
            if self.in_transaction:
                self.execute("COMMIT")


def connect(database=":memory:", **options):
    """A connection with the extension loaded, in autocommit mode unless options say otherwise."""
    options.setdefault("isolation_level", None)
    options.setdefault("factory", _Connection)
    db = sqlite3.connect(database, **options)
    db.enable_load_extension(True)
    db.load_extension(EXTENSION)
    db.enable_load_extension(False)
    return ended_later(db)


def device_kinds(condition="1", *parameters):
    """The kinds of OpenCL devices here of which the condition holds, in the columns of clreduce_devices; the best
    one first."""
    db = connect()
    db.execute("SELECT clreduce_set('device', 'cpu')").fetchall()  # has all of them looked for
    found = {kind for (kind,) in db.execute(f"SELECT type FROM clreduce_devices WHERE {condition}", parameters)}
    db.close()
    return [kind for kind in ("gpu", "accelerator", "cpu") if kind in found]


def shell(sql, *arguments, **options):
    """Runs the sqlite3 shell with the extension loaded and that text as its input.

    Gives the finished process, whose stdout and stderr are text.
    """
    options.setdefault("timeout", 600)
    return subprocess.run(
        [SQLITE3, "-init", os.devnull, "-batch", "-cmd", ".load '%s'" % EXTENSION, *arguments],
        input=sql,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        check=False,
        **options,
    )
