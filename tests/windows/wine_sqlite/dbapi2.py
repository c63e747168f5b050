"""As much of the module sqlite3 as the tests use, by tests/windows/driver.c: CLREDUCE_WINE_DRIVER is the program.

All connections of a Python process are in one process of Windows. One call at a time is under way there.
"""

import itertools
import os
import struct
import subprocess
import threading

PARSE_DECLTYPES, PARSE_COLNAMES = 1, 2
SQLITE_LIMIT_LENGTH, SQLITE_LIMIT_SQL_LENGTH, SQLITE_LIMIT_COLUMN, SQLITE_LIMIT_EXPR_DEPTH = range(4)
SQLITE_LIMIT_LIKE_PATTERN_LENGTH, SQLITE_LIMIT_VARIABLE_NUMBER = 8, 9
READ_WRITE_CREATE_URI = 0x2 | 0x4 | 0x40
DETERMINISTIC = 0x800
SQLITE_OK, SQLITE_DENY, SQLITE_IGNORE = range(3)
SQLITE_CREATE_TEMP_VIEW, SQLITE_READ, SQLITE_FUNCTION = 6, 20, 31


class Warning(Exception):
    pass


class Error(Exception):
    pass


class InterfaceError(Error):
    pass


class DatabaseError(Error):
    pass


class DataError(DatabaseError):
    pass


class OperationalError(DatabaseError):
    pass


class IntegrityError(DatabaseError):
    pass


class InternalError(DatabaseError):
    pass


class ProgrammingError(DatabaseError):
    pass


class NotSupportedError(DatabaseError):
    pass


#: Of SQLite's codes, as Python has it; of all others it is OperationalError or DatabaseError.
ERRORS = {2: InternalError, 7: MemoryError, 12: InternalError, 11: DatabaseError, 18: DataError, 19: IntegrityError, 20: IntegrityError,
          21: InterfaceError, 26: DatabaseError}
NAMES = ("OK ERROR INTERNAL PERM ABORT BUSY LOCKED NOMEM READONLY INTERRUPT IOERR CORRUPT NOTFOUND FULL CANTOPEN PROTOCOL EMPTY"
         " SCHEMA TOOBIG CONSTRAINT MISMATCH MISUSE NOLFS AUTH FORMAT RANGE NOTADB").split()


def pack(*values):
    """The bytes of a message."""
    parts = []
    for value in values:
        if value is None:
            parts.append(b"n")
        elif isinstance(value, int):
            if not -2**63 <= value < 2**63:
                raise OverflowError("Python int too large to convert to SQLite INTEGER")
            parts.append(b"i" + struct.pack("<q", value))
        elif isinstance(value, float):
            parts.append(b"d" + struct.pack("<d", value))
        elif isinstance(value, str):
            data = value.encode()
            parts.append(b"t" + struct.pack("<I", len(data)) + data)
        elif isinstance(value, (bytes, bytearray, memoryview)):
            data = bytes(value)
            parts.append(b"b" + struct.pack("<I", len(data)) + data)
        else:
            raise InterfaceError(f"no value of SQLite: {type(value).__name__}")
    data = b"".join(parts)
    return struct.pack("<I", len(data)) + data


def unpack(data):
    """The values of a message."""
    values, at = [], 0
    while at < len(data):
        kind = data[at : at + 1]
        at += 1
        if kind == b"n":
            values.append(None)
        elif kind in b"id":
            values.append(struct.unpack_from("<q" if kind == b"i" else "<d", data, at)[0])
            at += 8
        else:
            (size,) = struct.unpack_from("<I", data, at)
            value = data[at + 4 : at + 4 + size]
            values.append(value.decode() if kind == b"t" else value)
            at += 4 + size
    return values


class Driver:
    """The program, started at the first call."""

    def __init__(self):
        self.lock = threading.RLock()
        self.process = None
        self.functions = []

    def _receive(self):
        head = self.process.stdout.read(4)
        if len(head) < 4:
            raise OperationalError("the driver has ended")
        return unpack(self.process.stdout.read(struct.unpack("<I", head)[0]))

    def _send(self, *values):
        self.process.stdin.write(pack(*values))
        self.process.stdin.flush()

    def call(self, *values):
        """Runs a command; its results."""
        with self.lock:
            if self.process is None:
                self.process = subprocess.Popen(["wine", os.environ["CLREDUCE_WINE_DRIVER"]], stdin=subprocess.PIPE,
                                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            self._send(*values)
            while True:
                kind, *results = self._receive()
                if kind == "ok":
                    return results
                if kind == "several":
                    raise Warning("You can only execute one statement at a time.")
                if kind == "error":
                    code, text = results
                    error = ERRORS.get(code & 255, OperationalError)(text)
                    error.sqlite_errorcode = code
                    error.sqlite_errorname = "SQLITE_" + NAMES[code & 255]
                    raise error
                try:
                    result = self.functions[results[0]](*results[1:])
                except Exception:
                    self._send("error", "user-defined function raised exception")
                else:
                    self._send("ok", int(result) if isinstance(result, bool) else result)

    def end(self):
        """Ends the program."""
        self.process.communicate()
        self.process = None


driver = Driver()
_version = driver.call("version")[0]
driver.end()  # the next one has what a test sets in the environment
sqlite_version = _version
sqlite_version_info = tuple(map(int, _version.split(".")))


class Cursor:
    """Of one statement at a time."""

    arraysize = 1

    def __init__(self, connection):
        self.connection = connection
        self.description = None
        self.rowcount = -1
        self._statement = None
        self._rows = []
        self._is_over = True

    def _take(self, values):
        """Takes rows: each is 1 and its values; 0 is the end."""
        width = len(self.description or ())
        at = 0
        while at < len(values):
            if values[at] == 0:
                self._is_over = True
                self._statement = None
                return
            self._rows.append(tuple(values[at + 1 : at + 1 + width]))
            at += 1 + width

    def close(self):
        """Ends the statement."""
        if self._statement is not None and self.connection.number is not None:
            driver.call("release", self._statement)
        self._statement = None
        self._rows = []
        self._is_over = True

    def __del__(self):
        try:
            self.close()
        except (Error, OSError):
            pass  # the driver has ended before

    def execute(self, sql, parameters=()):
        self.close()
        self.connection.begin_before(sql)
        if isinstance(parameters, dict):
            given = [part for name, value in parameters.items() for part in (":" + name, value)]
        else:
            given = list(parameters)
        if "\0" in sql:
            raise ValueError("embedded null character")
        number, count, width, *rest = driver.call("execute", self.connection.check(), sql, int(isinstance(parameters, dict)), *given)
        if not isinstance(parameters, dict) and count != len(given):
            if number >= 0 and rest[width:][:1] == [1]:
                driver.call("release", number)
            raise ProgrammingError("Incorrect number of bindings supplied. The current statement uses "
                                   f"{count}, and there are {len(given)} supplied.")
        self.description = tuple((name, *[None] * 6) for name in rest[:width]) or None
        self._statement = number if number >= 0 else None
        self._is_over = False
        self._take(rest[width:])
        return self

    def executemany(self, sql, rows):
        rows = iter(rows)
        self.close()
        self.connection.begin_before(sql)
        while part := list(itertools.islice(rows, 1000)):
            if isinstance(part[0], dict):
                for row in part:
                    self.execute(sql, row)
                continue
            driver.call("many", self.connection.check(), sql, len(part[0]), *itertools.chain.from_iterable(part))
        return self

    def executescript(self, script):
        if self.connection.in_transaction:
            self.connection.commit()
        driver.call("script", self.connection.check(), script)
        return self

    def fetchone(self):
        if not self._rows and not self._is_over:
            self._ask(1)
        if not self._rows:
            return None
        row = self.connection.made(self, self._rows.pop(0))
        if not self._rows and not self._is_over:
            self._ask(1)  # as Python does: the statement is over with its last row
        return row

    def fetchmany(self, size=1):
        found = []
        while len(found) < size and (row := self.fetchone()) is not None:
            found.append(row)
        return found

    def fetchall(self):
        if not self._is_over:
            self._ask(2**62)
        rows, self._rows = self._rows, []
        return [self.connection.made(self, row) for row in rows]

    def _ask(self, most):
        try:
            self._take(driver.call("rows", self._statement, most))
        except Error:
            self._statement = None
            self._is_over = True
            raise

    def __iter__(self):
        while (row := self.fetchone()) is not None:
            yield row

    def __next__(self):
        row = self.fetchone()
        if row is None:
            raise StopIteration
        return row


class Connection:
    """A connection."""

    row_factory = None
    text_factory = str

    def __init__(self, database, timeout=5.0, detect_types=0, isolation_level="", check_same_thread=True, factory=None,
                 cached_statements=128, uri=False):
        self.number = None
        self.isolation_level = isolation_level
        (self.number,) = driver.call("open", os.fspath(database), READ_WRITE_CREATE_URI if uri else READ_WRITE_CREATE_URI & ~0x40,
                                     int(timeout * 1000), int(cached_statements > 0))

    def check(self):
        """The connection's number, if it is open."""
        if self.number is None:
            raise ProgrammingError("Cannot operate on a closed database.")
        return self.number

    def begin_before(self, sql):
        """Begins a transaction as Python does, before a statement that writes."""
        if (self.isolation_level is not None and sql.lstrip()[:7].upper().rstrip() in ("INSERT", "UPDATE", "DELETE", "REPLACE")
                and not self.in_transaction):
            driver.call("script", self.check(), f"BEGIN {self.isolation_level}")

    def made(self, cursor, row):
        """The row as the row factory makes it."""
        return row if self.row_factory is None else self.row_factory(cursor, row)

    def cursor(self):
        return Cursor(self)

    def execute(self, *arguments):
        return self.cursor().execute(*arguments)

    def executemany(self, *arguments):
        return self.cursor().executemany(*arguments)

    def executescript(self, *arguments):
        return self.cursor().executescript(*arguments)

    @property
    def in_transaction(self):
        return driver.call("state", self.check())[0] == 0

    @property
    def total_changes(self):
        return driver.call("state", self.check())[1]

    def commit(self):
        if self.in_transaction:
            driver.call("script", self.number, "COMMIT")

    def rollback(self):
        if self.in_transaction:
            driver.call("script", self.number, "ROLLBACK")

    def close(self):
        if self.number is not None:
            driver.call("close", self.number)
        self.number = None

    def backup(self, target):
        driver.call("backup", self.check(), target.check())

    def enable_load_extension(self, enabled):
        driver.call("allow", self.check(), int(enabled))

    def load_extension(self, path):
        driver.call("load", self.check(), path)

    def create_function(self, name, narg, func, *, deterministic=False):
        driver.functions.append(func)
        driver.call("function", self.check(), name, narg, DETERMINISTIC if deterministic else 0, len(driver.functions) - 1)

    def create_collation(self, name, callable, /):
        driver.functions.append(callable)
        driver.call("collation", self.check(), name, len(driver.functions) - 1)

    def set_authorizer(self, authorizer_callback):
        driver.functions.append(authorizer_callback)
        driver.call("authorizer", self.check(), -1 if authorizer_callback is None else len(driver.functions) - 1)

    def set_progress_handler(self, progress_handler, n):
        driver.functions.append(progress_handler)
        driver.call("progress", self.check(), 0 if progress_handler is None else n, len(driver.functions) - 1)

    def setlimit(self, category, limit):
        return driver.call("limit", self.check(), category, limit)[0]

    def getlimit(self, category):
        return self.setlimit(category, -1)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.commit()
        else:
            self.rollback()
        return False


def connect(database, *arguments, factory=Connection, **options):
    """A connection."""
    return factory(database, *arguments, **options)
