"""Two copies of SQLite's library in one process, as where a Python module has its own built in: the
extension's file serves the first one that loads it and refuses the others; a copy of it serves them."""

import ctypes
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import support
import tap

QUERY = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) "
    "SELECT gpu_sum(i * 0.5) || ' ' || gpu_max(i) || ' ' || gpu_median(i) FROM n"
)
ANSWER = "2250750.0 3000 1500.5"
SERVED = (
    "SELECT max(CAST(value AS INTEGER)) FROM clreduce_stats"
    " WHERE name IN ('chunks_to_device', 'host_no_device', 'host_device_failed')"
)
SUFFIX = ".dylib" if sys.platform == "darwin" else ".so"


def find_library():
    """The file of the library that this Python's sqlite3 module uses, or None."""
    try:
        with open("/proc/self/maps", encoding="utf-8") as maps:
            found = re.search(r"/\S*/libsqlite3\.so\S*", maps.read())
    except OSError:
        return None
    return found and found.group()


class Own:
    """A connection of this Python's sqlite3 module."""

    def __init__(self):
        self.db = support.sqlite3.connect(":memory:")
        self.db.enable_load_extension(True)

    def load(self, extension):
        """Returns the error, or None."""
        try:
            self.db.load_extension(extension)
        except support.sqlite3.Error as error:
            return str(error)
        return None

    def query(self, sql):
        return self.db.execute(sql).fetchone()[0]


class Other:
    """A connection of another copy of the library."""

    library = None

    def __init__(self):
        if Other.library is None:
            Other.library = ctypes.CDLL(sys.argv[2])
            for name in ("sqlite3_errmsg", "sqlite3_column_text"):
                getattr(Other.library, name).restype = ctypes.c_char_p
        self.db = ctypes.c_void_p()
        self.library.sqlite3_open(b":memory:", ctypes.byref(self.db))
        self.library.sqlite3_enable_load_extension(self.db, 1)

    def load(self, extension):
        """Returns the error, or None."""
        error = ctypes.c_char_p()
        code = self.library.sqlite3_load_extension(self.db, extension.encode(), None, ctypes.byref(error))
        return None if code == 0 else (error.value or b"").decode()

    def query(self, sql):
        statement = ctypes.c_void_p()
        code = self.library.sqlite3_prepare_v2(self.db, sql.encode(), -1, ctypes.byref(statement), None)
        result = self.library.sqlite3_errmsg(self.db)
        if code == 0 and self.library.sqlite3_step(statement) == 100:  # SQLITE_ROW
            result = self.library.sqlite3_column_text(statement, 0)
        result = result.decode()
        self.library.sqlite3_finalize(statement)
        return result


def use_device(db):
    """Waits for the device that the environment names, if it names one, to do chunks of QUERY."""
    db.query("SELECT clreduce_set('chunk_size', 64)")
    db.query("SELECT clreduce_set('host_threshold', 1)")
    if "CLREDUCE_DEVICE" not in os.environ:
        return
    start = time.monotonic()
    while time.monotonic() - start < support.TIMEOUT and int(db.query(SERVED)) == 0:
        db.query(QUERY)


def run_child(order, extension, copied):
    """Loads the extension into a connection of each, and prints what happened."""
    first, second = (Own, Other) if order == "own" else (Other, Own)
    db = first()
    print(db.load(extension))
    use_device(db)
    print(db.query(QUERY))
    refused = second()
    print(refused.load(copied))
    if copied != extension:
        use_device(refused)
    print(refused.query("SELECT 1" if copied == extension else QUERY))
    again = second()
    print(again.load(copied) is None)
    print(db.query(QUERY))
    new = first()
    print(new.load(extension))
    print(new.query(QUERY))


def child(library, order, extension, copied, **environment):
    """Runs that in a process of its own; returns its lines and its exit status."""
    process = subprocess.run(
        [sys.executable, os.path.abspath(__file__), order, library, extension, copied],
        stdout=subprocess.PIPE,
        check=False,
        env={**os.environ, **environment},
    )
    return process.stdout.decode().splitlines(), process.returncode


def check_refused(library, order):
    """The same file for both."""
    lines, status = child(library, order, tap.EXTENSION, tap.EXTENSION)
    tap.is_equal(status, 0, f"{order} first: no crash")
    if not tap.is_equal(len(lines), 8, f"{order} first: all of it ran"):
        return
    tap.is_equal(lines[:2], ["None", ANSWER], f"{order} first: the first library is served")
    version = support.sqlite3.sqlite_version
    tap.is_equal(
        lines[2],
        "error during initialization: "
        f"clreduce: this file serves another copy of SQLite ({version}) in this process; "
        f"let this one ({version}) load a copy of the file under another name",
        f"{order} first: the second one is told what to do",
    )
    tap.is_equal(lines[3:5], ["1", "False"], f"{order} first: and goes on without")
    tap.is_equal(lines[5:], [ANSWER, "None", ANSWER], f"{order} first: the first one goes on, and anew")


def check_copied(library, order, copied, **environment):
    """A copy of the file for the second."""
    lines, status = child(library, order, tap.EXTENSION, copied, **environment)
    name = f"{order} first, a copy of the file{' on a device' if environment else ''}"
    tap.is_equal(status, 0, f"{name}: no crash")
    tap.is_equal(lines, ["None", ANSWER, "None", ANSWER, "True", ANSWER, "None", ANSWER], f"{name}: both are served")


def test_libraries():
    """Either first."""
    library = find_library()
    if library is None:
        tap.skip_all("this Python's SQLite is no library of its own")
    with tempfile.TemporaryDirectory() as folder:
        other = shutil.copy(library, os.path.join(folder, "libother.so"))
        copied = shutil.copy(tap.EXTENSION + SUFFIX, os.path.join(folder, "clreduce" + SUFFIX))
        for order in ("own", "other"):
            check_refused(other, order)
            check_copied(other, order, copied[: -len(SUFFIX)])
        check_copied(other, "own", copied, CLREDUCE_DEVICE="cpu")


if len(sys.argv) > 1:
    run_child(sys.argv[1], sys.argv[3], sys.argv[4])
else:
    support.run(globals())
