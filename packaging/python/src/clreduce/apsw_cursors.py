"""Accelerated cursors for connections of apsw, which has its connections make them (Connection.cursor_factory)."""

import threading
from time import perf_counter

import apsw

from .acceleration import REWRITE, REWRITE_FIRST, Acceleration, configure
from .connections import INSTRUCTIONS, Measured, cursor_class_of
from .loading import load
from .statements import ask

WRITING = 2  # SQLITE_TXN_WRITE

plain = apsw.Cursor.execute


class Cursor(Measured, apsw.Cursor):
    """A cursor of apsw's whose SELECTs are accelerated where that is quicker."""

    FETCHES = (*Measured.FETCHES, "get")
    error = apsw.Error
    acceleration = None

    def execute(self, statements, bindings=None, **options):
        """As apsw's."""
        if self.measure is not None:
            self.stop_measuring()
        acceleration = self.acceleration
        try:
            statement = acceleration.texts[statements]
        except (KeyError, TypeError):
            statement = acceleration.learn(statements)
        try:
            if statement.shape is None or options:
                return plain(self, statements, bindings, **options)
            return acceleration.run(self, statement, statements, lambda text: plain(self, text, bindings))
        finally:
            # Several statements may stand in a text.
            if statement.is_schema or (statement.writes and ";" in statements):
                acceleration.clear()

    def executemany(self, statements, sequenceofbindings, **options):
        """As apsw's."""
        self.stop_measuring()
        return super().executemany(statements, sequenceofbindings, **options)

    def plain_execute(self, statements, bindings=None):
        """apsw's own execute()."""
        return plain(self, statements, bindings)

    def rewrite(self, sql, is_first):
        """The text of the accelerated statement of another one, as bytes, or None."""
        return ask(self.connection, REWRITE_FIRST if is_first else REWRITE, sql)

    def is_watched(self):
        """Whether the application would see other statements than its own, or the transaction has written."""
        connection = self.connection
        return (self.exec_trace is not None or connection.exec_trace is not None or connection.authorizer is not None
                or connection.txn_state() == WRITING)

    @staticmethod
    def is_of_one_thread():
        """Never: threads may share a connection."""
        return False

    @staticmethod
    def is_final(error):
        """Whether the error is of an interrupt, or of a lock."""
        return isinstance(error, (apsw.InterruptError, apsw.BusyError))

    def run_until(self, end, sql, execute):
        """Runs the statement to its first row. Returns None if the time is up before."""
        thread, own = threading.get_ident(), object()
        is_over = False

        def look():
            nonlocal is_over
            is_over = perf_counter() > end and threading.get_ident() == thread
            return is_over

        self.connection.set_progress_handler(look, INSTRUCTIONS, id=own)
        try:
            return execute(sql)
        except apsw.InterruptError:
            if is_over:
                return None
            raise
        finally:
            self.connection.set_progress_handler(None, id=own)


class Factory:
    """Makes a connection's cursors."""

    def __init__(self, own):
        self.acceleration = Acceleration()
        self.make = own
        if isinstance(own, type) and issubclass(own, apsw.Cursor):
            self.make = Cursor if own is apsw.Cursor else cursor_class_of(own, Cursor)

    def __call__(self, connection):
        cursor = self.make(connection)
        if isinstance(cursor, Cursor):
            cursor.acceleration = self.acceleration
        return cursor


def accelerate_connection(connection, settings):
    """Loads clreduce into a connection of apsw, and has its SELECTs accelerated where that is quicker."""
    if not isinstance(connection.cursor_factory, Factory):
        load(connection)
        configure(connection, settings, is_new=False)
        connection.cursor_factory = Factory(connection.cursor_factory)
        connection.cursor_factory.acceleration.find_files(connection)
    return connection
