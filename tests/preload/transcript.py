"""A program that knows nothing of clreduce: it calls SQLite's functions as C programs do, and prints what it sees. A test
runs it with and without the library that is loaded before SQLite's, and compares.

    transcript.py CASE DATABASE

The database has t(k INTEGER, v REAL, s TEXT, big INTEGER) with some rows. Without arguments it lists the cases.
"""

import ctypes
import ctypes.util
import os
import sys
import threading
import types
from ctypes import CFUNCTYPE, POINTER, byref, c_char_p, c_int, c_int64, c_uint, c_uint64, c_void_p

GROUPS = "SELECT k, sum(v) AS total, count(*) FROM t GROUP BY k ORDER BY k"
BOUND = "SELECT count(*), sum(v), max(s) FROM t WHERE k > ?1 AND s <> :s"
ROW, DONE, DENY, IGNORE, READ = 100, 101, 1, 2, 20
PERSISTENT, TRANSIENT, DETERMINISTIC = 1, c_void_p(-1), 1 | 0x800
READONLY, READWRITE, URI, NOMUTEX, FULLMUTEX, SHAREDCACHE, PRIVATECACHE = 1, 2, 0x40, 0x8000, 0x10000, 0x20000, 0x40000

#: All names that the linker has, those of a library loaded before SQLite's first.
ctypes.CDLL(ctypes.util.find_library("sqlite3"), ctypes.RTLD_GLOBAL)
LINKED = ctypes.CDLL(None)
#: What functions give that give no int.
for _kind, _names in {
        c_char_p: "errmsg column_text column_name column_decltype column_database_name column_table_name column_origin_name sql value_text",
        c_void_p: "expanded_sql column_blob column_value column_text16 next_stmt trace context_db_handle backup_init",
        c_int64: "column_int64 last_insert_rowid", ctypes.c_double: "column_double"}.items():
    for _name in _names.split():
        # A SQLite may be built without some.
        if hasattr(LINKED, "sqlite3_" + _name):
            getattr(LINKED, "sqlite3_" + _name).restype = _kind
TOLD_OF_COLUMNS = [_name for _name in ("name", "decltype", "database_name", "table_name", "origin_name")
                   if hasattr(LINKED, "sqlite3_column_" + _name)]

AUTHORIZER = CFUNCTYPE(c_int, c_void_p, c_int, c_char_p, c_char_p, c_char_p, c_char_p)
EACH_ROW = CFUNCTYPE(c_int, c_void_p, c_int, POINTER(c_char_p), POINTER(c_char_p))
FUNCTION = CFUNCTYPE(None, c_void_p, c_int, POINTER(c_void_p))
PROGRESS = CFUNCTYPE(c_int, c_void_p)

#: The connection, and its database's path.
this = types.SimpleNamespace(db=c_void_p(), path=None)


def call(name, *arguments):
    """What a function gives: texts are UTF-8, and pointers are c_void_p."""
    given = [each.encode() if isinstance(each, str) else each for each in arguments]
    result = getattr(LINKED, "sqlite3_" + name)(*given)
    return result.decode() if isinstance(result, bytes) else result


def text(value):
    """A text or NULL."""
    return "NULL" if value is None else value.decode() if isinstance(value, bytes) else value


def taken(pointer):
    """A text that has to be freed."""
    told = None if not pointer else ctypes.string_at(pointer)
    call("free", c_void_p(pointer))
    return text(told)


def wide(narrow):
    """UTF-16."""
    return ctypes.create_string_buffer((narrow + "\0").encode(f"utf-16-{sys.byteorder[0]}e"))


def say(what, rc):
    """What the connection says of its last call. Where that gave a row, or no more rows, the text may be one of an error before."""
    code = call("errcode", this.db)
    print(f"{what}: {rc}, {code} {call('extended_errcode', this.db)} {'' if code in (ROW, DONE) else call('errmsg', this.db)}")


def told(name, *arguments):
    """Calls a function, and says what it gave."""
    say(name, call(name, *arguments))


def closed(what, rc):
    """Says what was given where there is no connection to ask."""
    print(f"{what}: {rc}")


def open_file():
    """Another connection to the database."""
    opened = c_void_p()
    if call("open", this.path, byref(opened)) != 0:
        sys.exit(f"cannot open {this.path}")
    call("extended_result_codes", opened, 1)
    return opened


def run_beside(sql, db=None):
    """Runs statements by another connection, and says whether it could."""
    other = db or open_file()
    print(f"  beside: {sql}: {call('exec', other, sql, None, None, None)}")
    if db is None:
        call("close", other)


class Statement:
    """A statement; each call is said."""

    def __init__(self, handle):
        self.handle = handle

    def call(self, name, *arguments):
        """What a function of statements gives."""
        return call(name, self.handle, *arguments)

    def row(self):
        """Says the row at which it is."""
        shown = [f"{self.call('column_type', i)}:{text(self.call('column_text', i))}" for i in range(self.call("data_count"))]
        print("  " + (" | ".join(shown) or "(no columns)"))

    def run(self, most):
        """Steps to the end, or so many times."""
        rc = ROW
        while rc == ROW and most > 0:
            most -= 1
            rc = self.call("step")
            if rc == ROW:
                self.row()
        say("ran", rc)
        return self

    def reset(self, what="reset"):
        """Resets it."""
        say(what, self.call("reset"))
        return self

    def finalize(self, what="finalize"):
        """Ends it."""
        say(what, self.call("finalize"))

    def bind(self, which, value, what="bind"):
        """Binds a parameter, by its number or its name."""
        number = self.call("bind_parameter_index", which) if isinstance(which, str) else which
        kinds = {int: "int", float: "double", str: "text", bytes: "zeroblob", type(None): "null"}
        kind, values = kinds[type(value)], [] if value is None else [value]
        if kind == "double":
            values = [ctypes.c_double(value)]
        elif kind == "text":
            values += [-1, TRANSIENT]
        elif kind == "zeroblob":
            values = [len(value)]
        say(what, self.call(f"bind_{kind}", number, *values))
        return self

    def expanded(self):
        """Says the text with the values of the parameters."""
        print(taken(self.call("expanded_sql")))

    def columns(self):
        """Says all about the columns."""
        print(text(self.call("sql")))
        for i in range(self.call("column_count")):
            print(*(text(self.call("column_" + name, i)) for name in TOLD_OF_COLUMNS))
        print(f"data {self.call('data_count')} busy {self.call('stmt_busy')} readonly {self.call('stmt_readonly')}"
              f" explain {self.call('stmt_isexplain')}")


def prepare(sql, name="prepare_v2"):
    """A statement, by one of the functions for UTF-8 or for UTF-16."""
    handle, tail = c_void_p(), c_void_p()
    given = wide(sql) if "16" in name else ctypes.create_string_buffer(sql.encode())
    flags = (PERSISTENT,) if name.endswith("v3") else ()
    say(sql if name == "prepare_v2" else f"{name} {sql}", call(name, this.db, given, -1, *flags, byref(handle), byref(tail)))
    if name != "prepare_v2":
        left = ctypes.string_at(given, len(given))[tail.value - ctypes.addressof(given):] if tail else None
        print(f"  tail {left}\n  {text(call('sql', handle))}")
    return Statement(handle)


def once(sql, most):
    """A statement that is there for so many steps alone."""
    prepare(sql).run(most).finalize()


def execute(*texts):
    """Runs statements without looking at rows."""
    for sql in texts:
        say(sql, call("exec", this.db, sql, None, None, None))


def statements():
    """Says which statements there are."""
    print("statements:")
    each = call("next_stmt", this.db, None)
    while each:
        print(f"  {text(call('sql', c_void_p(each)))}, busy {call('stmt_busy', c_void_p(each))}")
        each = call("next_stmt", this.db, c_void_p(each))


def define(name, count, function, flags=1):
    """An SQL function."""
    told("create_function", this.db, name, count, flags, None, function, None, None)


def reopen_with_log():
    """Opens the database anew, with a log."""
    call("close", this.db)
    call("shutdown")
    closed("log", call("config", 16, write_log, LOGGED))
    closed("URIs", call("config", 17, 1))
    closed("lookaside", call("config", 13, 512, 100))
    this.db = open_file()


LOGGED = c_char_p(b"log")
BEGIN = c_char_p(b"trace")


@CFUNCTYPE(None, c_char_p, c_int, c_char_p)
def write_log(argument, code, message):
    """The error log."""
    print(f"  {text(argument)} {code}: {text(message)}")


@FUNCTION
def odd(context, _count, values):
    """Whether a number is odd."""
    call("result_int", c_void_p(context), call("value_int", c_void_p(values[0])) % 2)


@CFUNCTYPE(None, c_void_p, c_int, c_char_p, c_char_p, c_int64)
def updated(_, action, schema, table, rowid):
    """The update hook."""
    print(f"  updated: {action} {text(schema)}.{text(table)} {rowid}")


COMMITTED = PROGRESS(lambda _: print("  committed") or 0)
REFUSED = PROGRESS(lambda _: print("  refused") or 1)


def counts():
    """Says what the connection counts, and whether it is in a transaction."""
    print(call("changes", this.db), call("total_changes", this.db), call("last_insert_rowid", this.db),
          call("get_autocommit", this.db), call("txn_state", this.db, None))


def case_parameters():
    statement = prepare(BOUND)
    for i in range(3):
        statement.bind(1, i).bind(":s", "s1" if i == 1 else "s2").run(1).bind(1, 5, "bind while it runs").expanded()
        statement.run(1).bind(1, None, "bind at the end").expanded()
        if i == 1:
            statement.run(9)
        statement.reset().run(9).reset().expanded()
    statement.bind(3, 1, "out of range")
    say("clear", statement.call("clear_bindings"))
    statement.run(9)
    say("clear", statement.call("clear_bindings"))
    statement.reset().bind(1, 1.5).bind(2, b"000").run(9).finalize()


def case_columns():
    statement = prepare(GROUPS)
    statement.columns()
    statement.run(2).columns()
    print(statement.call("column_int64", 0), f"{statement.call('column_double', 1):.17g}", statement.call("column_int", 2),
          statement.call("column_bytes", 1))
    print(call("value_type", c_void_p(statement.call("column_value", 1))), int(statement.call("column_blob", 0) is not None))
    begin = statement.call("column_text16", 1)
    print(ctypes.string_at(begin, statement.call("column_bytes16", 1)).hex(" ", 2))
    print(f"beyond: {statement.call('column_type', 3)} {text(statement.call('column_text', 3))}")
    statement.run(1000).columns()
    print(f"at the end: {statement.call('column_type', 0)} {statement.call('column_int', 0)}")
    statement.reset().columns()
    print(f"runs {statement.call('stmt_status', 6, 1)}, none again {statement.call('stmt_status', 6, 0)}")
    statement.run(3).reset("reset in the middle").run(2).finalize("finalize in the middle")


def case_errors():
    prepare("SELECT count(*) FROM nosuch WHERE k > 1").finalize()
    told("step", None)
    told("reset", None)
    # Only SQLite's own run is one of the statement's.
    statement = prepare("SELECT k, count(*) FROM t GROUP BY k LIMIT ?").bind(1, "no number").run(9)
    print(f"runs {statement.call('stmt_status', 6, 0)}")
    statement.finalize()
    prepare("SELECT sum(big) FROM t WHERE k >= 0").run(9).run(9).reset().run(9).finalize()
    execute("CREATE TABLE u AS SELECT * FROM t")
    statement, other = prepare("SELECT count(*), sum(v) FROM u WHERE k < 5"), prepare("SELECT * FROM u WHERE k = 3 AND v < 30")
    statement.run(9)
    other.run(2)
    execute("DROP TABLE u")
    statement.reset()
    execute("ALTER TABLE u ADD COLUMN added DEFAULT 7")
    other.run(1).reset().columns()
    other.run(2).columns()
    other.reset()
    statement.run(9).reset()
    execute("DROP TABLE u")
    statement.run(9)
    other.run(9)
    statement.reset()
    execute("CREATE TABLE u(k, v)")
    statement.run(9).finalize()
    other.finalize()
    execute("DROP TABLE u")


def case_statements():
    first, second, third = prepare(GROUPS), prepare(BOUND), prepare("SELECT 1")
    statements()
    first.run(2)
    second.run(9)
    statements()
    second.finalize()
    statements()
    third.finalize()
    first.finalize()
    statements()


def case_authorizer():
    asked = []

    @AUTHORIZER
    def authorize(_, action, *names):
        asked.append(action)
        print("  asked:", action, *map(text, names))
        return 0

    def hides(column):
        return AUTHORIZER(lambda _, action, table, name, *others: IGNORE if (action, table, name) == (READ, b"t", column) else 0)

    #: Refuses all that is read, or only to look at the schema.
    refuse = AUTHORIZER(lambda _, action, *names: DENY if action == READ else 0)
    refuse_schema = AUTHORIZER(lambda _, action, table, *names: DENY if action == READ and (table or b"").startswith(b"sqlite_") else 0)
    hide_v, hide_k = hides(b"v"), hides(b"k")

    @FUNCTION
    def nested(context, _count, _values):
        """How many tables there are, by a statement of its own, or that it may not say."""
        handle = c_void_p()
        if call("prepare_v2", this.db, "SELECT count(*) FROM sqlite_schema", -1, byref(handle), None) != 0:
            call("result_text", c_void_p(context), "refused", -1, TRANSIENT)
            return
        call("step", handle)
        call("result_value", c_void_p(context), c_void_p(call("column_value", handle, 0)))
        call("finalize", handle)

    def set_authorizer(function):
        told("set_authorizer", this.db, function, None)

    before = prepare(GROUPS).run(2)
    set_authorizer(authorize)
    before.run(1000).reset()
    after = prepare(BOUND)
    before.run(2)
    after.run(9)
    set_authorizer(None)
    print(len(asked))
    before.reset().run(2).finalize()
    after.finalize()
    print(len(asked))
    # What it says holds.
    set_authorizer(hide_v)
    before = prepare(GROUPS).run(2)
    for function in (None, authorize, hide_k, refuse):
        set_authorizer(function)
        before.reset().run(2)
    before.finalize()
    prepare(GROUPS).finalize()
    set_authorizer(authorize)
    execute(BOUND, BOUND, "SELECT sum(k + nosuch) FROM t")
    define("nested", 1, nested, DETERMINISTIC)
    print(len(asked))
    set_authorizer(refuse_schema)
    execute("SELECT nested(k), count(*) FROM t WHERE k < 2 GROUP BY 1", "SELECT nested(k), count(*) FROM t WHERE k < 3 GROUP BY 1")
    set_authorizer(None)
    execute("SELECT nested(k), count(*) FROM t WHERE k < 3 GROUP BY 1")
    # A name comes to mean what may not be read.
    refuse_hidden = AUTHORIZER(lambda _, action, table, *names: DENY if (action, table) == (READ, b"hidden") else 0)
    set_authorizer(refuse_hidden)
    statement = prepare(GROUPS).run(2).reset().run(2).reset()
    for sql in ("ALTER TABLE t RENAME TO hidden", "CREATE VIEW t AS SELECT * FROM hidden"):
        run_beside(sql)
    statement.run(2).reset().run(2).finalize()
    set_authorizer(None)


def case_trace():
    @CFUNCTYPE(c_int, c_uint, c_void_p, c_void_p, c_void_p)
    def trace(event, _argument, subject, detail):
        print(f"  traced: {event} {'NULL' if event == 8 else taken(call('expanded_sql', c_void_p(subject)))}")
        if event == 1:
            print(f"    {text(ctypes.string_at(detail))}")
        if event == 2:
            print(f"    it took time: {c_int64.from_address(detail).value >= 0}")
        return 0

    trace_text = CFUNCTYPE(None, c_void_p, c_char_p)(lambda _, sql: print(f"  traced: {text(sql)}"))
    profile = CFUNCTYPE(None, c_void_p, c_char_p, c_uint64)(lambda _, sql, time: print(f"  profiled: {text(sql)}"))
    refuse_row = EACH_ROW(lambda *_: 1)
    statement = prepare(GROUPS).run(1000).reset()
    told("trace_v2", this.db, 15, trace, None)
    statement.run(2).reset()
    execute(BOUND)
    told("trace_v2", this.db, 0, None, None)
    statement.run(1000).reset()
    told("trace_v2", this.db, 15, trace, BEGIN)
    statement.run(1000).run(2).reset()
    execute(GROUPS, f"{BOUND};\n\t {BOUND} ; SELECT 3")
    told("exec", this.db, GROUPS, refuse_row, None, None)
    prepare(BOUND).bind(1, 4).bind(2, "s3").run(3).finalize()
    # What is asked for, or closed, amid a run.
    told("trace_v2", this.db, 0, None, None)
    statement.run(1)
    told("trace_v2", this.db, 15, trace, BEGIN)
    statement.run(1).reset()
    file, this.db = this.db, open_file()
    prepare(GROUPS).run(1000).finalize()
    told("trace_v2", this.db, 15, trace, None)
    beside = prepare(GROUPS).run(1)
    closed("close_v2", call("close_v2", this.db))
    closed("step", beside.call("step"))
    closed("finalize", beside.call("finalize"))
    this.db = file
    print(f"the same argument: {call('trace', this.db, trace_text, None) == ctypes.cast(BEGIN, c_void_p).value}")
    statement.run(1).reset()
    call("trace", this.db, None, None)
    call("profile", this.db, profile, None)
    statement.run(1000).finalize()
    call("profile", this.db, None, None)
    once(BOUND, 9)


def case_changes():
    call("update_hook", this.db, updated, None)
    call("commit_hook", this.db, COMMITTED, None)
    execute("CREATE TEMP TABLE w(x)", "INSERT INTO w VALUES (1), (2), (3)")
    statement = prepare(GROUPS).run(1000)
    counts()
    statement.reset()
    execute("BEGIN", "INSERT INTO w VALUES (4)")
    statement.run(2)
    execute("UPDATE w SET x = x + 1")
    statement.run(1)
    execute("COMMIT")
    statement.run(1)
    execute("BEGIN; DELETE FROM w", "ROLLBACK")
    statement.run(1000)
    counts()
    statement.finalize()
    counts()


def case_writes():
    """SELECTs in statements that write: what is written, what hooks see, and how they fail."""
    sums = "SELECT s, count(*), max(v) FROM t GROUP BY s"

    def filled():
        once("SELECT rowid, *, (SELECT count(*) FROM t) FROM w ORDER BY rowid", 100)
        counts()

    rolled_back = CFUNCTYPE(None, c_void_p)(lambda _: print("  rolled back"))
    no_hook = CFUNCTYPE(None, c_void_p)()
    execute("CREATE TABLE w(a TEXT PRIMARY KEY, b INTEGER, c REAL)", "CREATE TABLE other(x CHECK (x < 3))")
    call("update_hook", this.db, updated, None)
    call("commit_hook", this.db, COMMITTED, None)
    statement = prepare("INSERT INTO w SELECT s, count(*), max(v) FROM t WHERE k > ? GROUP BY s")
    for i in range(3):
        statement.bind(1, i).run(1).expanded()
        statement.reset()
        filled()
        execute("DELETE FROM w") if i != 1 else execute("DELETE FROM w WHERE b < 430")
    statement.run(1)
    statement.run(1).finalize()
    # In transactions: one that has written nothing, one that has, and one that is rolled back.
    for begin in ("BEGIN", "BEGIN IMMEDIATE", "SAVEPOINT s"):
        call("rollback_hook", this.db, rolled_back if "IM" in begin else no_hook, None)
        execute("DELETE FROM w", begin)
        once(f"INSERT INTO w {sums}", 1)
        once(f"INSERT OR REPLACE INTO w {sums} ORDER BY 2 LIMIT 2", 1)
        filled()
        execute("RELEASE s" if "s" in begin else "ROLLBACK")
        filled()
    # Conflicts, each way: after the first rows have been written.
    execute("DELETE FROM w WHERE a <> 's3'")
    for way in ("", "OR IGNORE", "OR FAIL", "OR ROLLBACK", "OR ABORT", "OR REPLACE"):
        for begin, end in (("", ""), ("BEGIN", "COMMIT")):
            execute(begin)
            once(f"INSERT {way} INTO w {sums}", 1)
            filled()
            execute(end, "DELETE FROM w WHERE a <> 's3'")
    once(f"INSERT INTO w {sums} ON CONFLICT DO NOTHING", 1)
    once("INSERT INTO w SELECT s, count(*), 1 FROM t WHERE v > 1 GROUP BY s ON CONFLICT(a) DO UPDATE SET b = b + (SELECT max(k) FROM t)", 1)
    filled()
    # Errors in the SELECTs, and of checks.
    for wrong in ("INSERT INTO w SELECT s, sum(big), 0 FROM t GROUP BY s", "UPDATE w SET b = (SELECT sum(big) FROM t)",
                  "INSERT INTO other SELECT count(*) FROM t GROUP BY k", "INSERT INTO w SELECT s, count(*) FROM t GROUP BY s",
                  "CREATE TABLE w AS SELECT max(v) FROM t", "DELETE FROM w WHERE a IN (SELECT abs(-9223372036854775808 + k) FROM t GROUP BY k)"):
        once(wrong, 1)
    filled()
    once("UPDATE w SET b = b + (SELECT max(k) FROM t), c = (SELECT min(v) FROM t WHERE s = 's2') WHERE a IN (SELECT s FROM t GROUP BY s HAVING max(k) > 3)", 1)
    once("DELETE FROM w WHERE b < (SELECT avg(k) * 100 FROM t)", 1)
    once("WITH g AS (SELECT s, count(*) AS n FROM t GROUP BY s) UPDATE w SET b = n FROM g WHERE s = a", 1)
    filled()
    # A progress handler counts the steps of a statement that writes, and ends one by their number.
    steps = [0]
    count_step = PROGRESS(lambda _: steps.__setitem__(0, steps[0] + 1) or 0)
    call("progress_handler", this.db, 10, count_step, None)
    once("INSERT INTO w SELECT s || 'x', 1, 1 FROM t GROUP BY s", 1)
    print(steps)
    call("progress_handler", this.db, 0, PROGRESS(), None)
    # New tables: their definitions and the rows' order.
    for made in ("TABLE n", "TEMP TABLE m", "TABLE IF NOT EXISTS n"):
        text_of = f"CREATE {made} AS SELECT s, s AS \"a b\", count(*), sum(v) AS s, k + 1, NULL FROM t GROUP BY s, k % 2 ORDER BY 3 DESC"
        execute(text_of) if "TEMP" in made else once(text_of, 1)
    # Those that fail once they have been filled.
    call("commit_hook", this.db, REFUSED, None)
    for made in ("TABLE p", "TEMP TABLE p"):
        once(f"CREATE {made} AS {sums}", 1)
    call("commit_hook", this.db, COMMITTED, None)
    once(f"CREATE TABLE p AS {sums} UNION ALL SELECT 1, sum(big), 1 FROM t", 1)
    once("SELECT * FROM n", 9)
    once("SELECT * FROM m", 9)
    once("SELECT sql FROM sqlite_master UNION ALL SELECT sql FROM sqlite_temp_master", 9)
    # A table that is written and read, by itself or by what a trigger does.
    execute("CREATE TABLE both AS SELECT k, v FROM t")
    once("INSERT INTO both SELECT k, count(*) FROM both GROUP BY k", 1)
    once("UPDATE both SET v = (SELECT sum(v) FROM both) WHERE k = 1 AND v < 9", 1)
    once("SELECT k, count(*), sum(v) FROM both GROUP BY k", 20)
    execute("DELETE FROM w", "CREATE TRIGGER filled AFTER INSERT ON w BEGIN UPDATE t SET v = v + 1 WHERE k = 3; END")
    once(f"INSERT INTO w {sums}", 1)
    once("SELECT sum(v) FROM t", 1)
    execute("DROP TRIGGER filled", "CREATE TRIGGER failing AFTER INSERT ON w WHEN new.a = 's4' BEGIN SELECT RAISE(FAIL, 'no s4'); END", "DELETE FROM w")
    once(f"INSERT INTO w {sums}", 1)
    filled()
    execute("DROP TRIGGER failing", "DELETE FROM w")
    # By sqlite3_exec(), several in one text, with and without a callback.
    told_rows = EACH_ROW(lambda _, count, values, names: print("  row", [text(values[i]) for i in range(count)]) or 0)
    for callback in (told_rows, None):
        told("exec", this.db, f"DELETE FROM w; INSERT INTO w {sums} ; SELECT count(*) FROM w; INSERT INTO w {sums}; SELECT 1", callback, None, None)
        told("exec", this.db, f"CREATE TABLE x AS {sums}; UPDATE x SET s = (SELECT max(k) FROM t); SELECT * FROM x LIMIT 2; DROP TABLE x", callback, None, None)
    execute("DELETE FROM w")
    # The schema changes under a prepared one, here and elsewhere.
    statement = prepare(f"INSERT OR REPLACE INTO w {sums}").run(1).reset()
    call("rollback_hook", this.db, rolled_back, None)
    execute("ALTER TABLE w ADD COLUMN d DEFAULT 4")
    statement.run(1).reset()
    execute("ALTER TABLE w DROP COLUMN d")
    statement.run(1).reset()
    call("rollback_hook", this.db, no_hook, None)
    run_beside("ALTER TABLE t ADD COLUMN added")
    statement.run(1).reset()
    run_beside("CREATE TRIGGER IF NOT EXISTS beside AFTER INSERT ON w BEGIN DELETE FROM t WHERE k = 9 AND new.a = 's5'; END")
    statement.run(1).reset()
    filled()
    # A table of which the statement, which has nothing to change, need not read a row.
    nothing = prepare("DELETE FROM other WHERE x < (SELECT avg(k) FROM t)").run(1).reset()
    run_beside("ALTER TABLE t RENAME TO renamed")
    nothing.run(1).reset()
    run_beside("ALTER TABLE renamed RENAME TO t")
    nothing.run(1).reset()
    nothing.finalize()
    run_beside("DROP TABLE w")
    statement.run(1).reset()
    statement.finalize()
    # Another one is writing, or reading.
    execute("CREATE TABLE w(a TEXT PRIMARY KEY, b INTEGER, c REAL)")
    other = open_file()
    run_beside("BEGIN IMMEDIATE", other)
    statement = prepare(f"INSERT INTO w {sums}").run(1).reset()
    run_beside("ROLLBACK", other)
    run_beside("BEGIN; SELECT count(*) FROM t", other)
    statement.run(1).reset()
    run_beside("COMMIT", other)
    reader = prepare("SELECT k FROM t").run(1)
    execute("DELETE FROM w")
    statement.run(1).reset()
    statement.finalize()
    reader.run(2).finalize()
    filled()
    call("close", other)


def case_attached():
    """Databases beside main, and what is locked while statements are half read."""
    attach = f"ATTACH '{this.path}-beside' AS beside"
    beside = "SELECT k, sum(v), count(*) FROM beside.t GROUP BY k ORDER BY k"
    both = "SELECT a.k, count(*) FROM t AS a JOIN beside.few AS b ON b.k = a.k GROUP BY a.k ORDER BY 1"
    temporary = "SELECT k, sum(v) FROM temp.mine WHERE v > 1 GROUP BY k"
    execute(attach, "CREATE TABLE IF NOT EXISTS beside.t AS SELECT * FROM t", "CREATE TABLE IF NOT EXISTS beside.few(k INTEGER PRIMARY KEY)",
            "INSERT OR IGNORE INTO beside.few VALUES (3), (4), (8)", "CREATE TEMP TABLE mine AS SELECT * FROM t")
    for sql in (beside, both, temporary, GROUPS):
        for _ in range(2):
            statement = prepare(sql).run(2)
            run_beside("INSERT INTO t VALUES (1, 2, 's', 4)")
            execute("DETACH beside")
            statement.run(20).finalize()
    execute("BEGIN", beside, GROUPS, "UPDATE beside.t SET v = 1 WHERE k = 3", beside, "ROLLBACK", beside, "DETACH beside", beside, attach,
            "DROP TABLE beside.t; DROP TABLE beside.few", "DETACH beside")


def case_close():
    statement, other = prepare(GROUPS), prepare(BOUND)
    other.run(9).finalize()
    statement.run(2)
    told("close", this.db)
    statement.run(1).reset()
    told("close", this.db)
    statement.finalize()
    closed("close", call("close", this.db))
    this.db = open_file()
    statement, other = prepare(GROUPS).run(2), prepare(BOUND).run(1)
    closed("close_v2", call("close_v2", this.db))
    closed("step", statement.call("step"))
    statement.row()
    closed("finalize", other.call("finalize"))
    for name in ("reset", "step", "finalize"):
        closed(name, statement.call(name))
    closed("close_v2", call("close_v2", None))
    this.db = open_file()
    # The connection ends with its last statement, and with it a transaction.
    statement = prepare(GROUPS).run(1000)
    execute("BEGIN")
    statement.run(2)
    closed("close_v2", call("close_v2", this.db))
    closed("finalize", statement.call("finalize"))
    this.db = open_file()
    execute("BEGIN EXCLUSIVE", "COMMIT")
    # No statement can be prepared anew from now on.
    allow = AUTHORIZER(lambda *_: 0)
    told("set_authorizer", this.db, allow, None)
    statement = prepare(GROUPS)
    closed("close_v2", call("close_v2", this.db))
    closed("step", statement.call("step"))
    statement.row()
    closed("finalize", statement.call("finalize"))
    this.db = open_file()
    prepare("SELECT s, group_concat(DISTINCT k) FROM t GROUP BY 1").run(1).finalize()
    closed("close", call("close", this.db))
    this.db = open_file()


def case_exec():
    def run(what, sql, left=1000):
        @EACH_ROW
        def print_row(_, count, values, names):
            nonlocal left
            print("  " + " | ".join(f"{text(names[i])}={text(values[i]) if values else 'no row'}" for i in range(count)))
            left -= 1
            return left == 0

        message = c_void_p()
        say(what, call("exec", this.db, sql, print_row, None, byref(message)))
        print(taken(message.value))

    none = "SELECT v FROM t WHERE k > 99 AND v > 1"
    run("exec", GROUPS)
    run("exec, to be ended", GROUPS, 2)
    run("several", "SELECT count(*) FROM t WHERE k > 3; ; SELECT max(v) FROM t WHERE k < 9; SELECT nosuch(1); SELECT 2")
    execute(GROUPS)
    run("an error at a row", "/* c */ SELECT sum(big) FROM t WHERE k > 1; SELECT 3")
    run("none", none)
    execute("PRAGMA empty_result_callbacks = 1")
    run("none", none + "; SELECT 4")
    run("none, to be ended", none + "; SELECT 4", 1)
    execute("PRAGMA empty_result_callbacks = 0")
    run("with writes", "SELECT count(*) FROM t WHERE k < 3; CREATE TEMP TABLE e(x); INSERT INTO e SELECT k FROM t;"
        " SELECT max(x) FROM e WHERE x > 0")


def case_oldest():
    """Prepares by the oldest functions, which keep what they have prepared from what has changed."""
    fails = "SELECT k, abs(sum(v - v) + min(k) - 9223372036854775807 - 1 - k) FROM t WHERE k < 3 GROUP BY k; SELECT 2"
    left = 5

    @PROGRESS
    def stop(_):
        nonlocal left
        left -= 1
        return left < 0

    for name in ("prepare", "prepare16"):
        statement = prepare(BOUND, name)
        for turn in range(3):
            statement.bind(1, turn).bind(2, "s3").run(3).bind(1, 1, "bind while it runs").reset()
        statement.finalize()
        prepare(fails, name).run(5).reset().run(5).finalize()
        prepare("SELECT nosuch FROM t", name).finalize()
        # Ended by the application.
        statement = prepare(GROUPS, name)
        call("progress_handler", this.db, 1, stop, None)
        statement.run(2)
        call("progress_handler", this.db, 0, None, None)
        statement.reset().run(2).finalize()
        # The schema changes, by this connection and by another.
        for change in (execute, run_beside):
            statement = prepare(GROUPS, name).run(1).reset()
            change(f"CREATE TABLE {change.__name__}_{name}(x)")
            statement.run(1).reset().run(1).finalize()
    # What a virtual table prepares meanwhile.
    execute("CREATE VIRTUAL TABLE words USING fts5(word); INSERT INTO words SELECT s FROM t")
    prepare("SELECT count(*), max(rowid) FROM words WHERE words MATCH 's3'", "prepare").run(2).finalize()
    once(GROUPS, 20)


def case_tables():
    def get(sql, db=None):
        rows, columns, table, message = c_int(-1), c_int(-1), POINTER(c_char_p)(), c_void_p()
        print(f"{sql}: {call('get_table', db or this.db, sql, byref(table), byref(rows), byref(columns), byref(message))}")
        print(f"{rows.value} rows, {columns.value} columns, {taken(message.value)}")
        print(*(text(table[i]) for i in range((rows.value + 1) * columns.value if table else 0)))
        call("free_table", table)

    @FUNCTION
    def read_within(context, _count, values):
        """Reads a table amid another one."""
        get(call("value_text", c_void_p(values[0])))
        call("result_int", c_void_p(context), 1)

    other = open_file()
    get(GROUPS)
    get(GROUPS)
    get(GROUPS, other)
    say("after it", 0)
    get('SELECT max(v) AS "the most" FROM t WHERE k > 99')
    get("SELECT k FROM t WHERE k > 99 AND v > 1")
    get("SELECT count(*) FROM t WHERE k > 3; SELECT max(v) FROM t WHERE k < 9")
    say("other columns", 0)
    for sql in ("SELECT count(*) FROM t WHERE k > 3; SELECT max(v), 1 FROM t WHERE k < 9", "SELECT sum(big) FROM t WHERE k > 1",
                "SELECT nosuch(k) FROM t WHERE k > 1"):
        get(sql)
        say("after it", 0)
    get("CREATE TEMP TABLE e(x); INSERT INTO e SELECT k FROM t; SELECT max(x) FROM e WHERE x > 0")
    get("")
    define("read_within", 1, read_within)
    get("SELECT read_within('SELECT count(*) FROM t WHERE v > 7')")
    call("close", other)


def case_texts():
    several = "  SELECT count(*) FROM t WHERE k > 1 -- c\n ; SELECT 2"
    prepare(several, "prepare16_v2").run(9).finalize()
    prepare(GROUPS, "prepare16_v3").run(2).finalize()
    handle, end, given = c_void_p(), c_char_p(), c_char_p(several.encode())
    say("v3", call("prepare_v3", this.db, given, 38, PERSISTENT, byref(handle), byref(end)))
    print(f"{text(call('sql', handle))}, '{text(end.value)}'")
    Statement(handle).run(9).finalize()
    prepare(GROUPS, "prepare").run(2).finalize()
    print(not prepare("  ;").handle)
    statement = prepare("EXPLAIN QUERY PLAN SELECT k FROM t")  # others say what will run
    print(statement.call("stmt_isexplain"))
    statement.run(9).finalize()
    file = this.db
    this.db = c_void_p()
    told("open16", wide(":memory:"), byref(this.db))
    execute("PRAGMA encoding = 'UTF-16be'", "CREATE TABLE t(k, v, s); INSERT INTO t VALUES (1, 2, 'three'), (1, 5, 'six')")
    once(GROUPS, 9)
    once("PRAGMA encoding", 1)
    closed("close", call("close", this.db))
    this.db = file


def case_first():
    """First runs, of which long ones are stopped and begun anew; random() is never accelerated."""
    calls = []
    handler = PROGRESS(lambda _: calls.append(1) or 0)
    reopen_with_log()
    for sql in (GROUPS, "SELECT sum(random() > 0) >= 0, count(*) FROM t",
                "SELECT max(c), (SELECT min(v) FROM t) FROM (SELECT k, count(*) AS c FROM t GROUP BY k)"):
        statement = prepare(sql)
        say("step", statement.call("step"))
        print(f"  {call('errmsg', this.db)}")
        statement.row()
        statements()
        print(f"  run {statement.call('stmt_status', 6, 0)} times")
        if "random" in sql:
            print(f"  {statement.call('stmt_status', 1, 0)} steps, {statement.call('stmt_status', 2, 0)} sorts")
        statement.run(20).finalize()
    # The application's handler stays.
    call("progress_handler", this.db, 1000, handler, None)
    once("SELECT count(*), max(v) FROM t WHERE s <> 'nosuch'", 3)
    calls.clear()
    once("WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < 9999) SELECT sum(i) FROM c", 3)
    print(f"handler called: {bool(calls)}")


def case_interrupt():
    stop = PROGRESS(lambda _: 1)
    statement, writer = prepare("SELECT count(*) FROM t AS a WHERE a.k + 0 > 1").run(9).reset(), open_file()
    call("progress_handler", this.db, 1, stop, None)
    statement.run(1).reset()
    call("progress_handler", this.db, 0, None, None)
    statement.run(9).reset()
    run_beside("BEGIN EXCLUSIVE", writer)
    statement.run(1).run(1)
    run_beside("COMMIT", writer)
    statement.run(1).reset()
    other = prepare(GROUPS).run(1)
    call("interrupt", this.db)
    other.run(1).reset().run(1).finalize()
    statement.finalize()
    call("close", writer)


def case_functions():
    define("odd", 1, odd, DETERMINISTIC)
    once("SELECT k, count(*) FROM t WHERE odd(k) GROUP BY k ORDER BY 1", 1000)
    execute("ATTACH ':memory:' AS m; CREATE TABLE m.t AS SELECT * FROM main.t WHERE k < 4")
    statement = prepare("SELECT k, sum(v) FROM m.t GROUP BY k ORDER BY k").run(2)
    statement.columns()
    execute("DETACH m")
    statement.run(1).reset()
    execute("DETACH m")
    statement.run(1).finalize()


def case_nested():
    """Statements within others, and two of one text."""
    @FUNCTION
    def count_rows(context, _count, _values):
        """By a statement of its own."""
        handle, db = c_void_p(), c_void_p(call("context_db_handle", c_void_p(context)))
        call("prepare_v2", db, "SELECT count(*) FROM t WHERE k > 2", -1, byref(handle), None)
        call("step", handle)
        call("result_int", c_void_p(context), call("column_int", handle, 0))
        call("finalize", handle)

    fail = FUNCTION(lambda context, _count, _values: call("result_error", c_void_p(context), "it fails", -1) and None)
    define("count_rows", 0, count_rows)
    define("fail", 1, fail, DETERMINISTIC)
    once("SELECT count_rows(), count(*) FROM t WHERE k > 1", 2)
    prepare("SELECT count(*) FROM t WHERE fail(s) = 'x'").run(1).run(1).finalize()
    outer, inner = prepare(GROUPS), prepare(GROUPS)
    while outer.call("step") == ROW:
        inner.run(1)
        print(outer.call("column_int", 0), inner.call("column_int", 0))
    inner.finalize()
    outer.finalize()


def case_renamed():
    """Statements whose columns are renamed after they were prepared: by another connection, which also takes that back before
    a statement of the same text is run, and by this one, before anything is accelerated."""
    def run(*several):
        for statement in several:
            statement.run(1).columns()
            statement.run(1000).reset()

    few, other = "SELECT * FROM t WHERE v = 1.5 OR v = 700", "SELECT * FROM t WHERE v = 2.5 OR v = 800"
    once(few, 1000)
    run_beside("ALTER TABLE t RENAME COLUMN s TO w")
    once("SELECT count(*) FROM t", 1000)
    run_beside("ALTER TABLE t RENAME COLUMN w TO s")
    statement = prepare(few)
    run(statement, statement)
    statement.finalize()
    statement, second = prepare(other), prepare(other)
    execute("BEGIN IMMEDIATE")
    statement.run(1000).reset()
    execute("COMMIT", "ALTER TABLE t RENAME COLUMN s TO w")
    run(statement, statement, second, second)
    statement.finalize()
    second.finalize()


def case_kept():
    """A statement that is kept while what it reads changes, by this connection and by another."""
    others = ("CREATE INDEX i ON t(k)", "DROP INDEX i", "ALTER TABLE t RENAME COLUMN s TO w", "ALTER TABLE t RENAME COLUMN w TO s",
              "ALTER TABLE t RENAME TO t2; CREATE TABLE t(k, v, s, big); INSERT INTO t VALUES (1, 2, 'other', 3)",
              "DROP TABLE t; ALTER TABLE t2 RENAME TO t", "VACUUM")
    own = ("SAVEPOINT a; INSERT INTO t VALUES (77, 1, 'new', 0)", "ROLLBACK TO a; RELEASE a", "INSERT INTO t VALUES (78, 1, 'newer', 0)",
           "DELETE FROM t WHERE k = 78", "CREATE TEMP TABLE t(k, v, s, big); INSERT INTO temp.t VALUES (1, 2, 'temp', 3)",
           "DROP TABLE temp.t", "PRAGMA query_only = 1; PRAGMA case_sensitive_like = 1", "PRAGMA reverse_unordered_selects = 1")
    statement, few = prepare("SELECT s, count(*), max(v) FROM t GROUP BY s"), prepare("SELECT k, s FROM t WHERE v = 1.5 OR v = 700 OR s LIKE 'N%'")
    other = open_file()
    for i, sql in enumerate(others):
        run_beside(sql, other)
        statement.run(1000)
        few.run(1000)
        (few if i % 2 else statement).reset()
    for sql in own:
        few.run(2)
        execute(sql)
        statement.run(1000)
        few.run(1000)
    call("close", other)
    statement.finalize()
    few.finalize()


def case_backup():
    sql, blob, memory, to = "SELECT count(*), max(v) FROM t WHERE k > 1", c_void_p(), c_void_p(), c_void_p()
    statement = prepare(sql)
    told("blob_open", this.db, "main", "t", "s", c_int64(1), 0, byref(blob))
    statement.run(9)
    call("blob_close", blob)
    call("open", ":memory:", byref(memory))
    backup = c_void_p(call("backup_init", memory, "main", this.db, "main"))
    closed("step", call("backup_step", backup, 5))
    statement.run(1)
    closed("close", call("close", this.db))
    closed("step", call("backup_step", backup, -1))
    closed("finish", call("backup_finish", backup))
    call("prepare_v2", memory, sql, -1, byref(to), None)
    Statement(to).run(9).finalize()
    statement.finalize()
    call("close", memory)


def case_log():
    reopen_with_log()
    define("odd", 1, odd, DETERMINISTIC)
    prepare("SELECT count(*) FROM t WHERE k = 3 AND odd(s) = 1 AND json_extract(s, '$.x') > 1").run(3).finalize()
    once(GROUPS, 2)
    execute("SELEC 1")
    prepare("SELECT nosuch FROM t WHERE k > 1").finalize()


def sum_groups(where, flags):
    """Several runs by a connection of its own."""
    db, handle, total = c_void_p(), c_void_p(), 0
    call("open_v2", where, byref(db), flags, None)
    for _ in range(5):
        call("prepare_v2", db, GROUPS, -1, byref(handle), None)
        while call("step", handle) == ROW:
            total += call("column_int", handle, 1) + call("column_int", handle, 2)
        call("finalize", handle)
    call("close", db)
    return total


def case_threads():
    sums = [None] * 8

    def work(i):
        sums[i] = sum_groups(this.path, READONLY | NOMUTEX)

    threading.stack_size(512 << 10)
    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(sums))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(*sums, sep="\n")


def case_fork():
    statement = prepare(GROUPS).run(2)
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        print(f"in the child: {sum_groups(this.path, READWRITE)}", flush=True)
        os._exit(3)
    print(f"it gave {os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}")
    statement.run(1000).finalize()


def case_flags():
    for where, flags in ((f"file:{this.path}?mode=ro&cache=shared", READONLY | URI), (this.path, READWRITE | FULLMUTEX | SHAREDCACHE),
                         (this.path, READONLY | PRIVATECACHE)):
        print(sum_groups(where, flags))
    told("open_v2", "/nosuch/file", byref(this.db), READONLY, None)
    closed("close", call("close", this.db))
    this.db = open_file()


CASES = {name.removeprefix("case_"): function for name, function in list(globals().items()) if name.startswith("case_")}


def main(*arguments):
    """Runs a case."""
    if not arguments:
        print(*CASES, sep="\n")
        return
    case, this.path = arguments
    this.db = open_file()
    say("open", 0)
    CASES[case]()
    closed("close", call("close", this.db))


main(*sys.argv[1:])
