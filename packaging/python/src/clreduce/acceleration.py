"""Which statements of an application are run as accelerated ones, whatever module runs them.

A guess here chooses the quicker way and never the answer: the plain statement is always there to run instead.
"""

import os
import re
from time import perf_counter

from .statements import ask, rows

#: Seconds of a plain run from which it is worth to ask for another way, in a database that is small.
WORTH = 0.002
#: A database of fewer bytes is small: SQLite reads all of it in about a millisecond.
SMALL = 1 << 20
#: Seconds in which SQLite goes from a row to the next at best, where it does not just count them.
LEAST_ROW = 2e-8
#: Seconds until a statement that was refused, or no quicker, is looked at again. Each time it is twice as long.
PAUSE, MOST_DOUBLINGS = 60.0, 6
#: Seconds between looks at the size of the database and at its schema.
LOOK = 1.0
#: What is remembered at most, and the longest text that is.
MOST_TEXTS, MOST_SHAPES, LONGEST = 2048, 1024, 16384
#: Runs that are counted before a statement is compared: the first has loaded the columns.
WARM = 2
#: So many calls that fetch rows are timed in a run.
MOST_FETCHES = 10000

FIRST_WORD = re.compile(r"(?:\s+|--[^\n]*\n|/\*.*?\*/)*([a-z]+)", re.IGNORECASE | re.DOTALL)
#: Without any of these nothing is computed or found.
MATTERS = re.compile(r"\(|\b(?:where|distinct|group)\b", re.IGNORECASE)
WRITES_BEHIND_WITH = re.compile(r"\b(?:insert|update|delete|replace)\b", re.IGNORECASE)
HAS_SELECT = re.compile(r"\bselect\b", re.IGNORECASE)
LITERAL = re.compile(r"'(?:[^']|'')*'|(?<![\w.:@$?])\d[\w.]*")
LIST = re.compile(r"\?\d*(?:\s*,\s*\?\d*)+")
VIEW = re.compile(r'clreduce_view_\d+')
ROWS = re.compile(r", (\d+) rows when last read")

#: The application's text_factory has nothing to do with BLOBs.
PLAN = "SELECT CAST(group_concat(line, char(10)) AS BLOB) FROM clreduce_plan(?)"
REWRITE = "SELECT CAST(clreduce_rewrite(?) AS BLOB)"
REWRITE_FIRST = "SELECT CAST(clreduce_rewrite(?, TRUE) AS BLOB)"


class Shape:
    """What is known of all texts that differ in literals alone. Times are seconds."""

    def __init__(self):
        self.pause_end = 0.0  # until then SQLite runs them
        self.pauses = 0
        self.reset()

    def reset(self):
        """Forgets the times."""
        self.is_worth = False  # whatever the size of the database is
        self.runs = 0  # accelerated ones
        self.warm = None  # the Measure of the last accelerated run
        self.trial = None  # the Measure of a plain run after these
        self.plain = 0.0  # of a plain run until its first row; 0: not known
        self.is_settled = False  # accelerated is quicker
        self.slow = 0  # runs in a row that were slower than they should be

    def refuse(self, now):
        """Has SQLite run them for a while."""
        self.pause_end = now + PAUSE * 2 ** self.pauses
        self.pauses = min(self.pauses + 1, MOST_DOUBLINGS)
        self.reset()


class Measure:
    """The seconds of one run, with those of fetching its rows."""

    __slots__ = ("seconds", "fetches")

    def __init__(self, seconds):
        self.seconds, self.fetches = seconds, 0


class Statement:
    """One text. shape is None if there is nothing in it that could be accelerated."""

    __slots__ = ("shape", "text", "writes", "is_schema")

    def __init__(self, shape=None, writes=False, is_schema=False):
        self.shape, self.text = shape, None
        self.writes = writes  # it may change data
        self.is_schema = is_schema  # it may change the schema


#: Statements without a SELECT that could be accelerated.
NEUTRAL, WRITES, SCHEMA = Statement(), Statement(writes=True), Statement(writes=True, is_schema=True)
KINDS = {word: SCHEMA for word in ("create", "drop", "alter", "attach", "detach", "pragma", "vacuum", "reindex", "analyze",
                                   "rollback")} | \
        {word: NEUTRAL for word in ("select", "with", "explain", "values", "begin", "commit", "end", "savepoint", "release")}


def fetched(cursor, start):
    """Adds the time since start to the run that is measured, which ends with many calls."""
    measure = cursor.measure
    measure.seconds += perf_counter() - start
    measure.fetches += 1
    if measure.fetches > MOST_FETCHES:
        cursor.stop_measuring()


class Acceleration:
    """What one connection remembers of its statements. It doesn't hold the connection.

    A cursor of the connection has plain_execute(), which is the one of its module; connection; is_final(), whether an error
    of an accelerated statement is the plain one's as well: of an interrupt, or of a lock for which SQLite has waited as long as
    it should; error, the class of its errors; rewrite(), which asks for the accelerated text; run_until(), which
    is plain_execute() until a time, and then returns None; measure_run(), which has the calls that fetch be timed;
    is_watched(), whether the application would see what is run; and is_of_one_thread(), whether no other thread can run a
    statement in between.
    """

    def __init__(self):
        self.path = self.log = ""  # of the main database's file and of its write-ahead log, if it is in a file
        self.texts = {}
        self.shapes = {}
        self.next_look = 0.0
        self.schema = None  # its version
        self.size = self.known_size = 0  # bytes at the last look, and when pauses ended for it
        self.others = 0  # databases beside main
        self.wrote = False  # statements of this transaction may have written
        self.version = None  # of the database when a text was last asked for: it changes with what is committed, by whomever

    def find_files(self, connection):
        """Asks where the database is, for which no lock is needed, of a connection that is new."""
        try:
            self.path = rows(connection, "PRAGMA database_list")[0][2] or ""
        except Exception:  # as a path that is no text
            return
        self.log = self.path and self.path + "-wal"

    def clear(self):
        """Forgets all: the schema may be another one."""
        self.texts.clear()
        self.shapes.clear()
        self.next_look = 0.0

    def note(self, statement):
        """Takes note that a Statement is run."""
        if statement.writes:
            self.wrote = True
        if statement.is_schema:
            self.clear()

    def learn(self, sql):
        """The Statement of a text that was not known."""
        word = FIRST_WORD.match(sql) if type(sql) is str and len(sql) <= LONGEST else None
        if word is None:
            return WRITES if not isinstance(sql, str) or len(sql) > LONGEST else NEUTRAL
        first = word[1].lower()
        kind = KINDS.get(first, WRITES)
        if first == "with" and WRITES_BEHIND_WITH.search(sql):
            kind = WRITES
        if (kind is WRITES or first in ("select", "with", "create")) and HAS_SELECT.search(sql) and MATTERS.search(sql):
            key = LIST.sub("?", LITERAL.sub("?", sql))
            if key not in self.shapes:
                if len(self.shapes) >= MOST_SHAPES:
                    self.clear()
                self.shapes[key] = Shape()
            kind = Statement(self.shapes[key], kind.writes, kind.is_schema)
        if len(self.texts) >= MOST_TEXTS:
            self.texts.clear()
        self.texts[sql] = kind
        return kind

    @property
    def is_small(self):
        """Whether SQLite reads the database in no time."""
        return self.size < SMALL and not self.others

    def look_at_size(self):
        """Takes note of the size of the database, which is the file's: to ask SQLite would wait for locks."""
        self.size = size_of(self.path) + size_of(self.log)
        if self.size > 1.5 * self.known_size:
            self.known_size = self.size
            for shape in self.shapes.values():
                shape.pause_end = 0.0

    def look_at_schema(self, connection):
        """Forgets what was known of another schema, and looks for other databases."""
        try:
            self.others = others_of(connection)
            # The statement may have read these alone, and then main would be waited for.
            schema = self.schema if self.others else ask(connection, "PRAGMA main.schema_version")
        except Exception:  # as it is locked by now, or closed: the application's next statement tells
            return
        if schema != self.schema and self.schema is not None:
            self.clear()
        self.schema = schema

    def run(self, cursor, statement, sql, execute):
        """Runs a statement that has a shape. execute(text) is the cursor's plain_execute() with the parameters."""
        connection, start = cursor.connection, perf_counter()
        if start < self.next_look:
            return self.choose(cursor, statement, sql, execute, start)
        self.next_look = start + LOOK
        self.look_at_size()
        result = self.choose(cursor, statement, sql, execute, start)
        # Before the statement this would wait for a lock, and then the statement again; and in a transaction it might begin the
        # snapshot.
        if not connection.in_transaction and not cursor.is_watched():
            self.look_at_schema(connection)
        return result

    def choose(self, cursor, statement, sql, execute, start):
        """Runs the statement in the way that is the quicker one as far as is known."""
        shape, connection = statement.shape, cursor.connection
        # To ask for another text would begin the transaction's snapshot, with which one that writes may come too late.
        if statement.writes and connection.in_transaction:
            return execute(sql)
        if start < shape.pause_end or cursor.is_watched() or self.wrote and self.is_in_transaction(connection):
            return execute(sql)
        if self.is_small and not shape.is_worth:
            return self.run_plain(shape, sql, execute, start)
        if shape.runs >= WARM and not shape.is_settled:
            done, result = self.compare(cursor, statement, sql, execute)
            if done:
                return result
        if statement.writes:
            return self.run_writing(cursor, statement, sql, execute)
        return self.run_accelerated(cursor, statement, sql, execute)

    def is_in_transaction(self, connection):
        """Whether the transaction that may have written is still open."""
        self.wrote = connection.in_transaction
        return self.wrote

    def run_plain(self, shape, sql, execute, start):
        """Runs the statement as it is, and takes note if that is long."""
        result = execute(sql)
        shape.plain = perf_counter() - start
        shape.is_worth = shape.plain >= WORTH
        return result

    def run_accelerated(self, cursor, statement, sql, execute):
        """Runs the accelerated statement, and the plain one where there is none, or where it fails before its first row."""
        shape, start = statement.shape, perf_counter()
        was_known = statement.text is not None
        # To SQLite views are main's, whatever they read: where that may be another database it is asked again whether main's
        # locks and snapshots are the statement's.
        if not was_known or self.others or self.has_new_log(cursor):
            statement.text = self.rewrite(cursor, sql)
        while statement.text is not None:
            try:
                result = execute(statement.text)
                break
            except cursor.error as error:
                if cursor.is_final(error):
                    raise
            # What was known may be gone; what was just given fails for the statement's own reason, or is none.
            statement.text = self.rewrite(cursor, sql) if was_known else None
            was_known = False
        else:
            result = execute(sql)
            shape.refuse(start)
            return result
        self.note_run(cursor, shape, perf_counter() - start)
        return result

    def has_new_log(self, cursor):
        """Whether a write-ahead log may have changed: a view reads it if it was asked for since, and before the transaction that
        reads it."""
        connection = cursor.connection
        if not os.path.exists(self.log):
            return False
        if connection.in_transaction:  # whose snapshot may not have begun, and would by asking for the version
            return True
        changes = connection.total_changes
        version = changes() if callable(changes) else changes, ask(connection, "PRAGMA main.data_version")
        changed, self.version = version != self.version, version
        return changed

    def run_writing(self, cursor, statement, sql, execute):
        """Runs a statement that writes with its SELECTs accelerated. An error is its own: nothing is run after it."""
        shape, start = statement.shape, perf_counter()
        statement.text = self.rewrite(cursor, sql, cursor.is_of_one_thread())
        if statement.text is None:
            shape.refuse(start)
            return execute(sql)
        result = execute(statement.text)
        self.note_run(cursor, shape, perf_counter() - start)
        return result

    def note_run(self, cursor, shape, seconds):
        """Takes note of an accelerated run until its first row."""
        shape.runs += 1
        if shape.is_settled:
            self.watch(shape, seconds)
        else:
            shape.warm = Measure(seconds)
            cursor.measure_run(shape.warm)

    @staticmethod
    def rewrite(cursor, sql, is_first=False):
        """The accelerated statement's text; None: there is none. is_first: nothing else runs before, nor has written in its
        transaction."""
        try:
            text = cursor.rewrite(sql, is_first)
        except cursor.error as error:  # the plain statement tells what is wrong, or would after another wait
            if cursor.is_final(error):
                raise
            return None
        return None if text is None else text.decode()

    @staticmethod
    def watch(shape, seconds):
        """Compares anew what has become slow."""
        usual = shape.warm.seconds
        if seconds <= 4 * usual or seconds < WORTH:
            shape.slow = 0
            return
        shape.slow += 1
        if shape.slow > WARM:
            shape.reset()
            shape.is_worth, shape.runs = True, 1

    def compare(self, cursor, statement, sql, execute):
        """Finds out whether the accelerated statement is quicker. Returns whether the plain one has run, and its result."""
        shape, warm = statement.shape, statement.shape.warm.seconds
        now = perf_counter()
        if shape.trial is not None:
            if shape.trial.seconds > warm:
                shape.is_settled = True
                return False, None
            shape.refuse(now)
            return True, execute(sql)
        scanned = self.rows_scanned(cursor, statement)
        if scanned is None:
            shape.refuse(now)
            return True, execute(sql)
        if scanned * LEAST_ROW > warm or shape.plain > warm:
            shape.is_settled = True
            return False, None
        start = perf_counter()
        result = execute(sql) if statement.writes else cursor.run_until(start + max(warm, WORTH), sql, execute)
        if result is None:
            shape.is_settled = True
            return False, None
        shape.trial = Measure(perf_counter() - start)
        cursor.measure_run(shape.trial)
        return True, result

    def rows_scanned(self, cursor, statement):
        """How many rows the accelerated statement has gone over; None: SQLite has run it."""
        names = set(VIEW.findall(statement.text or ""))
        if self.others:  # views, and so their plans, are behind locks of main, and the statement may not be
            return 0
        try:
            plans = [ask(cursor.connection, PLAN, name).decode() for name in names]
        except cursor.error as error:
            if cursor.is_final(error):
                raise
            return 0
        found = [ROWS.search(plan) for plan in plans if plan.startswith("accelerated")]
        return None if plans and not found else sum(int(row[1]) for row in found if row)


def others_of(connection):
    """How many databases there are beside main, or may be. No lock is needed for it, as it would be for a SELECT."""
    if getattr(connection, "text_factory", str) not in (str, bytes):  # the application's own would be called
        return 1
    return len(rows(connection, "PRAGMA database_list")) - 1


def size_of(path):
    """A file's bytes; 0 if there is none, as for a database in memory."""
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def settings_of(own):
    """The settings of a connection whose statements nobody has written for clreduce: its own, and the environment's.

    CLREDUCE_SETTINGS is as "override=off,device=host", with commas or spaces.
    """
    settings = dict(own)
    for word in re.split(r"[,\s]+", os.environ.get("CLREDUCE_SETTINGS", "")):
        if word:
            name, _, value = word.partition("=")
            settings[name] = value
    return settings


def has_memory(connection):
    """Whether the application has set column_memory, or may have."""
    try:
        return ask(connection, "SELECT CAST(value AS INTEGER) FROM clreduce_settings WHERE name = 'column_memory'") != 0
    except Exception:  # as it is locked: then it reads no table of settings either
        return True


def configure(connection, own, is_new=True):
    """Sets these settings. Columns take an eighth of the machine's memory at most, if nobody has said otherwise.

    is_new: the application cannot have set any.
    """
    settings = settings_of(own)
    if "column_memory" not in settings and (is_new or not has_memory(connection)):
        settings["column_memory"] = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 8
    for name, value in settings.items():
        if (name, value) != ("override", "off"):  # which it is, and cannot become again
            ask(connection, "SELECT clreduce_set(?, ?)", name, value)
