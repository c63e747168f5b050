"""Connections that run an application's own statements as accelerated ones."""

import functools
import sqlite3
from time import perf_counter

from .acceleration import REWRITE, REWRITE_FIRST, SCHEMA, WRITES, Acceleration, configure, fetched
from .loading import capable_module, load, open_database
from .statements import ask

#: The settings of a connection whose statements are not written for clreduce.
SETTINGS = {"override": "on"}

#: SQLite's result codes SQLITE_BUSY and SQLITE_INTERRUPT, of which extended ones have more bits.
BUSY, INTERRUPT = 5, 9

#: Instructions of SQLite between two looks at the time.
INSTRUCTIONS = 5000


def timed_methods(cursor_class, names):
    """A subclass whose calls that fetch are timed, for the time of a run."""
    def timed(name):
        method = getattr(cursor_class, name)

        @functools.wraps(method)
        def fetch(self, *arguments, **options):
            start = perf_counter()
            try:
                return method(self, *arguments, **options)
            finally:
                fetched(self, start)

        return fetch

    return type(cursor_class.__name__, (cursor_class,),
                {"__module__": cursor_class.__module__, "__qualname__": cursor_class.__qualname__, "__doc__": cursor_class.__doc__,
                 **{name: timed(name) for name in names if hasattr(cursor_class, name)}})


class Measured:
    """The part of a cursor whose runs are timed now and then: by another class for as long as that lasts."""

    FETCHES = ("__next__", "fetchone", "fetchmany", "fetchall")
    measure = untimed = None

    def measure_run(self, measure):
        """Adds the time of the calls that fetch."""
        self.stop_measuring()
        untimed = type(self)
        timed = TIMED.get(untimed)
        if timed is None:
            timed = TIMED[untimed] = timed_methods(untimed, self.FETCHES)
        self.measure, self.untimed, self.__class__ = measure, untimed, timed

    def stop_measuring(self):
        """Has the class be that of before."""
        if self.measure is not None:
            self.__class__, self.measure = self.untimed, None


#: The classes of measured runs.
TIMED = {}


@functools.lru_cache(None)
def cursor_class_of(base, own):
    """The class of accelerated cursors for an application's subclass of a module's Cursor, which keeps its name.

    own: the accelerated subclass of base. A class that cannot be joined with it stays as it is.
    """
    if issubclass(base, own):
        return base
    try:
        return type(base.__name__, (base, own), {"__module__": base.__module__, "__qualname__": base.__qualname__,
                                                 "__doc__": base.__doc__})
    except TypeError:
        return base


@functools.lru_cache(None)
def connection_class(module):
    """The class of accelerated connections of sqlite3, or of a module with its interface."""
    plain, plain_connection, plain_cursor = module.Cursor.execute, module.Connection, module.Connection.cursor

    class Cursor(Measured, module.Cursor):
        """A cursor of sqlite3's whose SELECTs are accelerated where that is quicker."""

        error = module.Error

        def execute(self, sql, parameters=(), /):
            """As sqlite3's."""
            if self.measure is not None:
                self.stop_measuring()
            try:
                acceleration = self.connection.acceleration
            except AttributeError:  # of a cursor that its class has not begun, or of another connection
                return plain(self, sql, parameters)
            try:
                statement = acceleration.texts[sql]
            except (KeyError, TypeError):
                statement = acceleration.learn(sql)
            try:
                if statement.shape is None:
                    return plain(self, sql, parameters)
                return acceleration.run(self, statement, sql, lambda text: plain(self, text, parameters))
            finally:
                acceleration.note(statement)

        def executemany(self, sql, parameters, /):
            """As sqlite3's."""
            self.stop_measuring()
            note(self, WRITES)
            return super().executemany(sql, parameters)

        def executescript(self, script, /):
            """As sqlite3's."""
            self.stop_measuring()
            note(self, SCHEMA)  # nobody has seen its statements
            return super().executescript(script)

        def plain_execute(self, sql, parameters=()):
            """sqlite3's own execute()."""
            return plain(self, sql, parameters)

        def rewrite(self, sql, is_first):
            """The connection's rewrite()."""
            return self.connection.rewrite(sql, is_first)

        def is_watched(self):
            """Whether the application would see other statements than its own."""
            return bool(self.connection.watchers)

        def is_of_one_thread(self):
            """Whether the connection belongs to a thread."""
            return self.connection.is_of_one_thread

        @staticmethod
        def is_final(error):
            """Whether the error is of an interrupt, or of a lock."""
            code = getattr(error, "sqlite_errorcode", None)  # which Python has from 3.11 on
            return str(error) in ("interrupted", "database is locked") if code is None else code & 0xFF in (BUSY, INTERRUPT)

        def run_until(self, end, sql, execute):
            """Runs the statement to its first row. Returns None if the time is up before.

            Threads that share a connection with a progress handler may wait for each other for ever: sqlite3 holds the
            interpreter's lock where it waits for the connection's. So they get none, and no end.
            """
            connection = self.connection
            own, steps = connection.progress or (None, INSTRUCTIONS)
            is_over = False
            if own is None and not connection.is_of_one_thread:
                return execute(sql)

            def look():
                nonlocal is_over
                if own is not None and own():
                    return 1
                is_over = perf_counter() > end
                return is_over

            plain_connection.set_progress_handler(connection, look, steps)
            try:
                return execute(sql)
            except module.Error as error:
                if is_over and self.is_final(error):
                    return None
                raise
            finally:
                plain_connection.set_progress_handler(connection, own, steps)

    class Connection(plain_connection):
        """A connection of sqlite3's that loads clreduce, and whose SELECTs are accelerated where that is quicker.

        sqlite3.connect(path, factory=clreduce.Connection). The settings are those of clreduce_settings, and the environment
        variable CLREDUCE_SETTINGS goes before them.
        """

        settings = SETTINGS
        progress = None

        def __init__(self, *arguments, **options):
            self.acceleration = Acceleration()
            self.watchers = set()
            self.is_of_one_thread = bool(options.get("check_same_thread", arguments[4] if len(arguments) > 4 else True))
            super().__init__(*arguments, **options)
            try:
                self.prepare()
            except BaseException:
                self.close()
                raise

        def prepare(self):
            """Loads the extension."""
            load(self)
            configure(self, self.settings)
            self.acceleration.find_files(self)

        def rewrite(self, sql, is_first=False):
            """The text of the accelerated statement of another one, as bytes, or None."""
            return ask(self, REWRITE_FIRST if is_first else REWRITE, sql)

        def cursor(self, factory=Cursor):
            """As sqlite3's. The SELECTs of subclasses of sqlite3's cursors are accelerated as well."""
            if factory is not Cursor and isinstance(factory, type) and issubclass(factory, module.Cursor):
                factory = Cursor if factory is module.Cursor else cursor_class_of(factory, Cursor)
            return super().cursor(factory)

        def execute(self, sql, parameters=(), /):
            """As sqlite3's."""
            return plain_cursor(self, Cursor).execute(sql, parameters)

        def executemany(self, sql, parameters, /):
            """As sqlite3's."""
            return plain_cursor(self, Cursor).executemany(sql, parameters)

        def executescript(self, script, /):
            """As sqlite3's."""
            return plain_cursor(self, Cursor).executescript(script)

        def commit(self):
            """As sqlite3's."""
            super().commit()
            self.acceleration.wrote = False

        def rollback(self):
            """As sqlite3's."""
            super().rollback()
            self.acceleration.clear()
            self.acceleration.wrote = False

        def set_progress_handler(self, progress_handler, n):
            """As sqlite3's."""
            super().set_progress_handler(progress_handler, n)
            self.progress = None if progress_handler is None else (progress_handler, n)

        # ---- What would see other statements than the application's, or harm them, has these run alone.

        def set_authorizer(self, authorizer_callback):
            """As sqlite3's."""
            super().set_authorizer(authorizer_callback)
            self.watch("authorizer", authorizer_callback is not None)

        def set_trace_callback(self, trace_callback):
            """As sqlite3's."""
            super().set_trace_callback(trace_callback)
            self.watch("trace", trace_callback is not None)

        def deserialize(self, *arguments, **options):
            """As sqlite3's. After it SQLite crashes on tables that are in no schema, as those of accelerated statements."""
            self.watch("deserialize", True)
            return super().deserialize(*arguments, **options)

        def watch(self, what, is_on):
            """Takes note that something watches, or does not."""
            (self.watchers.add if is_on else self.watchers.discard)(what)

    for made in (Cursor, Connection):
        made.__module__, made.__qualname__ = "clreduce", made.__name__
    if not hasattr(plain_connection, "deserialize"):
        del Connection.deserialize
    return Connection


def note(cursor, statement):
    """Tells the connection's acceleration of a Statement that a cursor runs."""
    acceleration = getattr(getattr(cursor, "connection", None), "acceleration", None)
    if acceleration is not None:
        acceleration.note(statement)


#: The class of Python's own module, for sqlite3.connect(path, factory=clreduce.Connection).
Connection = connection_class(sqlite3)


def connect(database, read_only=False, **options):
    """A connection whose SELECTs are accelerated where that is quicker.

    database is a path, and the connection one of sqlite3, or else of pysqlite3 or sqlean: the first that can load the
    extension. read_only opens a file that exists for reading alone. The options are those of sqlite3.connect().
    Or database is a connection of apsw, which is returned.
    """
    if any(kind.__module__ == "apsw" for kind in type(database).__mro__):
        from .apsw_cursors import accelerate_connection  # where there is apsw alone

        return accelerate_connection(database, SETTINGS)
    return open_database(database, read_only, factory=connection_class(capable_module()), **options)
