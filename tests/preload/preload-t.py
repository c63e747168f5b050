"""clreduce-run: programs that know nothing of clreduce give the same output with it, and are accelerated."""

import ctypes
import ctypes.util
import glob
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile

import tap

RUN = os.path.join(tap.BUILDDIR, "clreduce-run")
LIBRARY = os.path.join(tap.BUILDDIR, "libclreduce-preload.so")
TRANSCRIPT = (sys.executable, os.path.join(tap.SRCDIR, "tests/preload/transcript.py"))
LAUNCH = os.path.join(tap.SRCDIR, "tests/launch.sh")
FOLDER = tempfile.mkdtemp(prefix="clreduce-test.")
SMALL, LARGE = (os.path.join(FOLDER, name) for name in ("small.db", "large.db"))

#: SQLite takes 20 milliseconds for them, as is expected of 80 nanoseconds for each.
ROWS = 400_000 if tap.QUICK else 700_000

#: Every SELECT goes another way: a database of a few rows will do.
ALWAYS = "view_threshold=0"


def run(program, *arguments, settings="", options=("--report",), text="", taken=True, **environment):
    """A program's output, what it wrote on stderr beside the report, and the report."""
    command = [LAUNCH] + ([RUN, *options] if taken else []) + [program, *arguments]
    environment = {**os.environ, "CLREDUCE_SETTINGS": settings, **environment}
    if "CLREDUCE_EXTENSION" not in environment:
        environment["CLREDUCE_EXTENSION"] = ""
    done = subprocess.run(command, input=text, capture_output=True, text=True, env=environment, timeout=300, check=False)
    lines = done.stderr.splitlines()
    told = [line[len("clreduce-run: "):] for line in lines if line.startswith("clreduce-run: ")]
    others = [line for line in lines if not line.startswith("clreduce-run: ")]
    return f"{done.stdout}{'|'.join(others)}|{done.returncode}", told


def accelerated(told):
    """How many runs were accelerated, by the report."""
    counts = [re.match(r" *(\d+) +(\d+) ", line) for line in told]
    return sum(int(count.group(2)) for count in counts if count)


#: Cases of which runs over many rows are stopped, and begun anew.
STOPPED = ("columns", "errors", "exec", "first", "interrupt", "log", "nested", "parameters", "statements")


def fill(path, rows):
    """A database with a table of so many rows, made by the shell."""
    script = f"""CREATE TABLE t(k INTEGER, v REAL, s TEXT, big INTEGER);
        WITH n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < {rows})
        INSERT INTO t SELECT i % 10, i * 0.5, 's' || (i % 7), 9000000000000000000 FROM n;"""
    subprocess.run([tap.SQLITE3, "-init", "/dev/null", path], input=script, text=True, check=True)


def compare_case(case, database, settings):
    """The program has to print the same for a case, to its end. Returns the report."""
    path = os.path.join(FOLDER, "case.db")
    shutil.copy(database, path)
    want, _ = run(*TRANSCRIPT, case, path, taken=False)
    shutil.copy(database, path)
    got, told = run(*TRANSCRIPT, case, path, settings=settings)
    if not tap.ok(got == want and want.endswith("\n|0"), f"{case} in {os.path.basename(database)}: the same output"):
        for wanted, given in itertools.zip_longest(want.splitlines(), got.splitlines()):
            if wanted != given:
                tap.diag(f"want: {wanted}\n got: {given}")
    return told


def test_cases():
    """The program that calls SQLite in many ways: each SELECT accelerated, and those that take long."""
    fill(SMALL, 3000)
    fill(LARGE, ROWS)
    for case in subprocess.run(TRANSCRIPT, capture_output=True, text=True, check=True).stdout.split():
        told = compare_case(case, SMALL, ALWAYS)
        tap.ok(accelerated(told) > 0, f"{case}: {accelerated(told)} runs were accelerated")
        if case in STOPPED:
            told = compare_case(case, LARGE, "")
        if case == "first":
            tap.is_equal([line for line in told if "SELECT max(c)" in line and re.match(r" *1 +1 ", line)] != [], True, "its first run, of several SELECTs")


SHELL_SCRIPT = """.headers on
.mode column
SELECT k, sum(v), count(*) FROM t GROUP BY k;
SELECT k, sum(v), count(*) FROM t GROUP BY k;
SELECT count(*) FROM t WHERE s = 's3' AND v > 100;
SELECT count(*) FROM nosuch WHERE a = 1;
.tables
.schema
.mode insert
SELECT DISTINCT s FROM t WHERE k = 4;
.parameter set :k 5
SELECT max(v), min(v) FROM t WHERE k = :k;
CREATE TEMP TABLE few AS SELECT s, count(*) AS n FROM t GROUP BY s;
SELECT * FROM few WHERE n > 0;
PRAGMA table_list;
PRAGMA database_list;
SELECT name FROM pragma_module_list WHERE name LIKE 'clr%view%' AND 0;
.dump few
.tables
"""

PYTHON_SCRIPT = """
import sqlite3, sys, threading
db = sqlite3.connect(sys.argv[1])
for k in range(3):
    print(db.execute("SELECT k, sum(v), count(*) FROM t WHERE k > ? GROUP BY k ORDER BY 1 DESC LIMIT 4", (k,)).fetchall())
cursor = db.execute("SELECT s AS word, avg(v) FROM t WHERE k <> 3 GROUP BY s")
print([column[0] for column in cursor.description], cursor.fetchone(), cursor.fetchmany(2))
for wrong in ("SELECT sum(big) FROM t WHERE k > 1", "SELECT count(*) FROM t WHERE nosuch = 1"):
    try:
        print(db.execute(wrong).fetchall())
    except sqlite3.Error as error:
        print(type(error), error)
print(db.total_changes, db.in_transaction)
seen = []
db.set_trace_callback(seen.append)
print(db.execute("SELECT max(v) FROM t WHERE k = 2").fetchone(), seen)
db.set_trace_callback(None)
def work():
    mine = sqlite3.connect(sys.argv[1])
    results.append([mine.execute("SELECT count(*), max(v) FROM t WHERE s <> 's1'").fetchall() for _ in range(3)])
results = []
threads = [threading.Thread(target=work) for _ in range(4)]
[thread.start() for thread in threads], [thread.join() for thread in threads]
print(results)
print("\\n".join(sqlite3.connect(sys.argv[2]).iterdump())[:300])
print(db.execute("SELECT name FROM sqlite_temp_master UNION SELECT name FROM sqlite_master").fetchall())
"""


def test_programs():
    """The shell and a Python program, unchanged."""
    for name, command, text in (
        ("the shell", (tap.SQLITE3, "-init", "/dev/null", LARGE), SHELL_SCRIPT),
        ("Python", (sys.executable, "-c", PYTHON_SCRIPT, LARGE, SMALL), ""),
    ):
        want, _ = run(*command, text=text, taken=False)
        got, told = run(*command, text=text)
        tap.is_equal(got, want, f"{name}: the same output")
        tap.ok(accelerated(told) >= 3, f"{name}: {accelerated(told)} runs were accelerated")
        got, told = run(*command, text=text, options=("--explain",))
        tap.is_equal(got, want, f"{name}: the same output, and explained")
        tap.ok(any(line.startswith("accelerated: ") for line in told), f"{name}: it says what was accelerated")
        tap.ok(any("by SQLite, as " in line for line in told), f"{name}: it says why something was not")
        tap.is_equal(run(*command, text=text, options=("--quiet",)), (want, []), f"{name}: and nothing where not asked")


def test_search():
    """SQLite's own full-text search reads tables of its own, which is nothing that the application has asked for."""
    script = """CREATE VIRTUAL TABLE notes USING fts5(text);
        INSERT INTO notes VALUES('a note'), ('another one');
        SELECT count(*) FROM notes WHERE notes MATCH 'note';"""
    want, _ = run(tap.SQLITE3, ":memory:", script, taken=False)
    if "no such module" in want:
        tap.skip(2, "this SQLite has no FTS5")
        return
    got, told = run(tap.SQLITE3, ":memory:", script)
    tap.is_equal(got, want, "full-text search: the same output")
    tap.is_equal([line for line in told if "notes_" in line], [], "and nothing of its own statements")


LOG_SCRIPT = """
import sqlite3, sys
db, other = (sqlite3.connect(sys.argv[1], isolation_level=None) for _ in range(2))
print(db.execute("PRAGMA journal_mode = WAL").fetchall())
for i in range(10):
    for writer in (db, other) if i > 3 else ():
        writer.execute("UPDATE t SET v = v + 1 WHERE k = ?", (i,)).fetchall()
    print(db.execute("SELECT k, sum(v), count(*) FROM t GROUP BY k").fetchall())
"""


def compare_script(name, script, what, rows=20_000, settings=ALWAYS):
    """A script has to print the same over a table of its own, which it may change. Returns the table's file, and the report."""
    path = os.path.join(FOLDER, f"{name}.db")
    fill(path, rows)
    want, _ = run(sys.executable, "-c", script, path, taken=False)
    os.remove(path)
    fill(path, rows)
    got, told = run(sys.executable, "-c", script, path, settings=settings)
    tap.is_equal(got, want, f"{what}: the same output")
    return path, told


def test_log():
    """With a write-ahead log a statement is accelerated again after commits, the connection's own and those of another one."""
    _, told = compare_script("log", LOG_SCRIPT, "a write-ahead log")
    tap.ok(accelerated(told) >= 9, f"a write-ahead log: {accelerated(told)} of 10 runs were accelerated")


#: As ORMs write them: all constants are bound, functions are the program's own, and GROUP BY has parameters of its own.
BOUND_SCRIPT = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.create_function("part", 3, lambda what, text, end: text[:2] + (what or '') + (end or ''), deterministic=True)
for turn in range(2):
    for what in ("-", "-", "-", "-", "+", "+", None, 7):
        print(db.execute("SELECT s || ? || k AS g, count(*) FROM t GROUP BY s || ? || k ORDER BY 1", (what, what)).fetchall())
        print(db.execute("SELECT CASE WHEN v > ? THEN ? ELSE ? END AS g, max(k) FROM t GROUP BY 1", (900, what, "x")).fetchall())
        if what != 7:
            print(db.execute("SELECT part(?, s || v, ?) AS g, count(*) FROM t GROUP BY 1", (what, None)).fetchall())
    db.create_function("part", 3, lambda what, text, end: text[:3], deterministic=True)
"""


def test_bound():
    """Bound constants are as good as literals, and the program's own functions as SQLite's, until they are replaced."""
    _, told = compare_script("bound", BOUND_SCRIPT, "bound constants")
    counts = {name: accelerated([line for line in told if name in line]) for name in ("s || ?", "CASE", "part(")}
    tap.ok(all(count > 5 for count in counts.values()), f"bound constants: accelerated {counts}")


#: SQLite's own take any number of arguments: those of two suit calls of two better, and expire no statement.
BESIDE_SCRIPT = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None, cached_statements=0)
selects = ("SELECT printf('%d', count(*)) FROM t WHERE v > 10", "SELECT k, printf('%d', count(*)) FROM t GROUP BY k", "SELECT max(printf('%s', s)) FROM t",
           "SELECT char(65, 66) || s, count(*) FROM t GROUP BY 1", "SELECT count(*) FROM t WHERE k || printf('%s', s) = '1s1'",
           "SELECT count(*) FROM t WHERE coalesce(s, 'a') = 's1'", "SELECT count(*) FROM t WHERE date(s, '+1 day') IS NULL")
for turn in range(10):
    print([db.execute(sql).fetchall() for sql in selects])
    if turn == 4:
        for name in ("printf", "char", "coalesce", "date"):
            db.create_function(name, 2, lambda *values: "mine", deterministic=True)
"""


def test_beside():
    """Functions of the program that come beside SQLite's own, and statements that it prepares anew for each run."""
    _, told = compare_script("beside", BESIDE_SCRIPT, "functions beside SQLite's")
    tap.ok(accelerated(told) > 30, f"functions beside SQLite's: {accelerated(told)} runs were accelerated")


UNITS_SCRIPT = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
sql = "WITH g AS (SELECT k, sum(big / 1000000000) AS s FROM t GROUP BY k) SELECT max(s), (SELECT count(*) FROM t WHERE v > ?) FROM g"
for i in range(10):
    print(db.execute(sql, (i,)).fetchall())
if len(sys.argv) > 2:
    print(*(row[3] for row in db.execute("EXPLAIN QUERY PLAN " + sql, (0,))), sep=chr(10))
"""


def test_units():
    """A kept statement of which SELECTs are accelerated by themselves: once the view of all of it has failed, each run."""
    path, told = compare_script("units", UNITS_SCRIPT, "units")
    tap.is_equal(accelerated(told), 10, "units: all of 10 runs were accelerated")
    got, _ = run(sys.executable, "-c", UNITS_SCRIPT, path, "explain", settings=ALWAYS)
    counts = [got.count(f"SCAN t BY clreduce ({way}, columns resident)") for way in ("answer kept", "host")]
    tap.is_equal(counts, [1, 1], "units: the plan shows both")


#: Python begins a transaction before a statement that writes.
WRITES_SCRIPT = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
print(db.execute(f"PRAGMA journal_mode = {sys.argv[2]}").fetchall())
db.execute("CREATE TABLE w(a, b, c)")
for i in range(3):
    print(db.execute("INSERT INTO w SELECT s, count(*), sum(v) FROM t WHERE k > ? GROUP BY s", (i,)).rowcount, db.in_transaction)
    print(db.execute("DELETE FROM w WHERE c < (SELECT avg(v) FROM t)").rowcount, db.total_changes)
    db.rollback() if i == 1 else db.commit()
print(db.execute("CREATE TABLE made AS SELECT s, max(v) FROM t GROUP BY s").rowcount)
print(db.execute("SELECT * FROM w").fetchall(), db.execute("SELECT * FROM made").fetchall())
"""


def test_writes():
    """Many rows that go into a few of another table: the first run too, and each in a transaction that has written nothing yet."""
    path = os.path.join(FOLDER, "writes.db")
    for mode in ("delete", "wal"):
        shutil.copy(LARGE, path)
        want, _ = run(sys.executable, "-c", WRITES_SCRIPT, path, mode, taken=False)
        shutil.copy(LARGE, path)
        got, told = run(sys.executable, "-c", WRITES_SCRIPT, path, mode)
        tap.is_equal(got, want, f"writes, {mode}: the same output")
        counts = {name: accelerated([line for line in told if name in line]) for name in ("INSERT", "CREATE", "DELETE")}
        tap.is_equal(counts, {"INSERT": 3, "CREATE": 1, "DELETE": 0}, f"writes, {mode}: accelerated")


#: What a statement that writes asks of the one before it: whether a row was there to be changed.
CHANGES_SCRIPT = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("CREATE TABLE w(a, b)")
for statement in ("INSERT INTO w SELECT changes(), count(*) FROM t WHERE k > 3", "INSERT INTO w SELECT s, count(*) FROM t WHERE changes() = 0 GROUP BY s",
                  "WITH g AS (SELECT max(v) AS m FROM t) INSERT INTO w SELECT m, Changes() FROM g", "DELETE FROM w WHERE a = (SELECT max(k) FROM t) + changes()"):
    for _ in range(3):
        db.execute("UPDATE t SET v = v + 1 WHERE k = 7")
        db.execute(statement)
print(db.execute("SELECT * FROM w").fetchall(), db.total_changes)
"""


def test_changes():
    """A statement that writes and calls changes() is told of the one before it."""
    compare_script("changes", CHANGES_SCRIPT, "changes()")


#: Statements that take SQLite no time, so that most runs of them are not looked at, until one takes long.
QUIET = "SELECT count(*), max(v), min(s), avg(k) FROM t WHERE ? AND k < 4"
QUIET_SCRIPT = f"""
import sqlite3, sys
db, other = (sqlite3.connect(sys.argv[1], isolation_level=None) for _ in range(2))
def quick(sql, times):
    for i in range(times):
        print(db.execute(sql, (0,)).fetchall(), db.execute("SELECT * FROM t WHERE rowid > ? AND rowid < 9", (i % 10,)).fetchone())
sql = "{QUIET}"
quick(sql, 40)
other.execute("INSERT INTO t VALUES(3, 1e9, 'a', 1)")
quick(sql, 7)
other.execute("ALTER TABLE t ADD COLUMN extra DEFAULT 'e'")
quick(sql, 20)
db.execute("BEGIN")
db.execute("UPDATE t SET v = -1 WHERE rowid = 5")
quick(sql, 20)
db.execute("ROLLBACK")
half = [db.execute("SELECT rowid FROM t WHERE rowid > ? AND k < 9", (i,)) for i in range(40)]
print([cursor.fetchone() for cursor in half], [cursor.fetchmany(3) for cursor in half])
half.clear()
anew = sqlite3.connect(sys.argv[1], cached_statements=0)
for i in range(50):
    print(db.execute("SELECT s FROM t WHERE rowid > ?", (i,)).fetchone(), anew.execute("SELECT k FROM t WHERE rowid = ?", (i,)).fetchall())
anew.close()
for i in range(30):
    try:
        print(db.execute("SELECT sum(big) FROM t WHERE rowid > ? AND rowid < 4", (i % 3,)).fetchall())
    except sqlite3.Error as error:
        print(error)
for i in range(4):
    print(db.execute(sql, (1,)).fetchall())
quick(sql, 40)
other.execute("DELETE FROM t WHERE k = 3 AND v > 1000")
print(db.execute(sql, (1,)).fetchall())
quick(sql + " AND v > 0", 30)
seen = []
db.set_trace_callback(seen.append)
quick(sql + " AND v > 0", 5)
db.set_trace_callback(None)
quick(sql + " AND v > 1", 30)
db.set_authorizer(lambda *what: sqlite3.SQLITE_IGNORE if what[2] == "v" else sqlite3.SQLITE_OK)
quick(sql + " AND v > 1", 20)
print(seen)
"""


def test_quiet():
    """Of a statement that takes SQLite no time most runs are not looked at: the first that takes long is, and all are counted."""
    _, told = compare_script("quiet", QUIET_SCRIPT, "quiet runs", ROWS, "")
    lines = [line.split(maxsplit=5) for line in told]
    runs = {line[5]: int(line[0]) for line in lines if line[0].isdigit()}
    texts = (QUIET, "SELECT s FROM t WHERE rowid > ?", "SELECT k FROM t WHERE rowid = ?", "SELECT sum(big) FROM t WHERE rowid > ? AND rowid < 4")
    tap.is_equal([runs.get(text) for text in texts], [132, 50, 50, 30], "quiet runs: they are counted")
    tap.ok(accelerated([line for line in told if line.endswith(QUIET)]) > 1, "and those that take long are accelerated")


def test_settings():
    """Settings come from the environment, and from what is the default here."""
    command = (tap.SQLITE3, "-init", "/dev/null", ":memory:")
    asked = "SELECT name, value FROM clreduce_settings WHERE name IN ('column_memory', 'override', 'device') ORDER BY name"
    got, told = run(*command, asked, options=())
    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE")]
    for path in glob.glob("/sys/fs/cgroup/**/memory.max", recursive=True) + glob.glob("/sys/fs/cgroup/memory/**/memory.limit_in_bytes", recursive=True):
        with open(path, encoding="utf-8") as file:
            limits.append(int(file.read().replace("max", str(limits[0]))))
    memory = int(re.match(r"column_memory\|(\d+)\ndevice\|auto\noverride\|on\n\|0", got)[1])
    tap.ok(not told and memory in [limit // 8 for limit in limits], f"the defaults: {memory} bytes of columns")
    if tap.SANITIZED:
        tap.skip(1, "a sanitizer takes more addresses than that for itself")
    else:
        small = run("sh", "-c", 'ulimit -v 3000000; exec "$@"', "sh", *command, asked, options=())[0]
        tap.ok(f"column_memory|{min(memory, 3000000 * 1024 // 8)}\n" in small, "and where the shell leaves little memory")
    for settings in ("override=off,device=host, column_memory=1000000", " override=off  device=host,column_memory=1000000,"):
        got, told = run(*command, asked, options=(), settings=settings)
        tap.is_equal((got, told), ("column_memory|1000000\ndevice|host\noverride|off\n|0", []), f"'{settings}'")
    for settings, name in (("device=host,nosuch=1", "nosuch=1: "), ("override", "override=: ")):
        got, told = run(*command, "SELECT 1", options=(), settings=settings)
        tap.ok(got == "1\n|0" and len(told) == 1 and told[0].startswith("CLREDUCE_SETTINGS: " + name), f"wrong: {told}")
        tap.is_equal(run(*command, "SELECT 1", options=("--quiet",), settings=settings), ("1\n|0", []), "and quietly")


LOCKED_SCRIPT = """
import sqlite3, sys
locked = sqlite3.connect(sys.argv[1])
locked.execute("BEGIN EXCLUSIVE")
db = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=0)
locked.execute("COMMIT")
print(db.execute("SELECT k, sum(v) FROM t WHERE k < 3 GROUP BY k").fetchall())
print(db.execute("SELECT name, value FROM clreduce_settings WHERE name IN ('device', 'override') ORDER BY name").fetchall())
"""


#: SQLite waits for a lock as long as the program has said, and not twice as long.
WAITS_SCRIPT = """
import sqlite3, sys, time
WAIT = 1.5
other, db = (sqlite3.connect(sys.argv[1], isolation_level=None, timeout=WAIT) for _ in range(2))
db.execute("CREATE TABLE w(a, b)")
other.execute("BEGIN EXCLUSIVE")
for statement in ("SELECT k, sum(v) FROM t GROUP BY k", "INSERT INTO w SELECT k, sum(v) FROM t GROUP BY k"):
    begun = time.monotonic()
    try:
        db.execute(statement)
    except sqlite3.OperationalError as error:
        print(error, time.monotonic() - begun < 2 * WAIT, db.execute("PRAGMA busy_timeout").fetchall())
other.execute("COMMIT")
print(db.execute("SELECT k, sum(v) FROM t GROUP BY k").fetchall())
"""


def test_waits():
    """A statement that fails because of a lock has waited for it once."""
    compare_script("waits", WAITS_SCRIPT, "a lock that is waited for")


def test_locked():
    """A connection that is opened while its file is locked has its settings all the same, once it has prepared something."""
    got, told = run(sys.executable, "-c", LOCKED_SCRIPT, LARGE, options=(), settings="device=host")
    sums = [(k, sum(range(k, ROWS + 1, 10)) * 0.5) for k in range(3)]
    want = f"{sums}\n[('device', 'host'), ('override', 'on')]\n|0"
    tap.is_equal((got, told), (want, []), "opened while it is locked: the settings")


def test_programs_without():
    """Programs that have no SQLite to be taken over say so."""
    _, told = run(sys.executable, "-c", "pass", options=())
    tap.ok(len(told) == 1 and "used no SQLite" in told[0], f"no SQLite: {told}")
    tap.is_equal(run(sys.executable, "-c", "pass", options=("--quiet",)), ("|0", []), "and quietly")
    code = f"import subprocess; subprocess.run([{tap.SQLITE3!r}, ':memory:', 'SELECT 1'])"
    _, told = run(sys.executable, "-c", code, options=())
    tap.is_equal(told, [], "a child has one")
    name = ctypes.util.find_library("sqlite3")
    code = f"import ctypes; s = ctypes.CDLL({name!r}); d = ctypes.c_void_p(); s.sqlite3_open(b':memory:', ctypes.byref(d))"
    _, told = run(sys.executable, "-c", code, options=())
    tap.ok(len(told) == 1 and "libsqlite3" in told[0] and "clreduce.Connection" in told[0], f"called otherwise: {told}")
    got, told = run(RUN, "--nosuch", taken=False)
    tap.ok(got.endswith("|127") and "no such option" in told[0], f"a wrong option: {told}")
    got, told = run("/nosuch/program", options=())
    tap.ok(got.endswith("|127") and "/nosuch/program" in told[0], f"a wrong program: {told}")
    _, told = run(tap.SQLITE3, ":memory:", "SELECT 1", options=("--explain",), CLREDUCE_EXTENSION="/nosuch/extension")
    tap.ok("could not be loaded" in told[0], f"no extension: {told}")
    other = os.path.join(FOLDER, "clreduce.so")
    version = tap.connect().execute("SELECT clreduce_version()").fetchone()[0].encode()
    with open(tap.EXTENSION + ".so", "rb") as ours, open(other, "wb") as file:
        file.write(ours.read().replace(b"\0" + version + b"\0", b"\0" + b"?" * len(version) + b"\0"))
    got, told = run(tap.SQLITE3, "-init", "/dev/null", ":memory:", "SELECT 1", options=("--explain",), CLREDUCE_EXTENSION=other)
    tap.ok(got == "1\n|0" and "is another version" in told[0], f"an extension of another version: {told}")
    got, told = run(tap.SQLITE3, "-init", "/dev/null", ":memory:", "SELECT 1", options=(), CLREDUCE_EXTENSION="/nosuch")
    tap.is_equal((got, told), ("1\n|0", []), "the program runs nevertheless")


def test_static():
    """A program that is linked statically can't be reached, which is said before it runs."""
    source, program = os.path.join(FOLDER, "static.c"), os.path.join(FOLDER, "static")
    with open(source, "w", encoding="ascii") as file:
        file.write("int main(void) { return 5; }\n")
    compiler = os.environ.get("CC", "cc").split()
    if subprocess.run([*compiler, "-static", "-o", program, source], capture_output=True, check=False).returncode != 0:
        tap.skip(2, "no static program can be linked")
        return
    got, told = run(program, options=())
    tap.ok(got == "|5" and len(told) == 1 and "statically" in told[0], f"{got} {told}")
    tap.is_equal(run(program, options=("--quiet",)), ("|5", []), "and quietly")


TWO_SCRIPT = """
import ctypes, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
print(db.execute("SELECT count(*) FROM t WHERE k > 2").fetchall())
other = ctypes.CDLL(sys.argv[2])
rows, handle = [], ctypes.c_void_p()
kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(ctypes.c_char_p), ctypes.c_void_p)
add = kind(lambda _, count, values, names: rows.append([values[i] for i in range(count)]) or 0)
print(other.sqlite3_open(sys.argv[1].encode(), ctypes.byref(handle)))
for _ in range(2):
    print(other.sqlite3_exec(handle, b"SELECT k, count(*) FROM t WHERE k < 4 GROUP BY k", add, None, None), rows)
    print(db.execute("SELECT k, count(*) FROM t WHERE k < 4 GROUP BY k").fetchall())
print(other.sqlite3_close(handle))
"""


def test_copies():
    """A second copy of SQLite in the process stays apart, and the extension may be loaded by the program too."""
    library = next((line.split()[-1] for line in open("/proc/self/maps", encoding="utf-8") if "libsqlite3" in line), None)
    if library is None:
        tap.skip(2, "Python has no libsqlite3 of the system")
    else:
        other = os.path.join(FOLDER, "other-sqlite.so")
        shutil.copy(library, other)
        want, _ = run(sys.executable, "-c", TWO_SCRIPT, LARGE, other, taken=False)
        got, told = run(sys.executable, "-c", TWO_SCRIPT, LARGE, other)
        tap.is_equal(got, want, "two copies: the same output")
        tap.ok(accelerated(told) >= 2, f"two copies: {told}")
    load = (".load " + os.environ.get("CLREDUCE_EXTENSION", ""), "SELECT gpu_sum(k) FROM t")
    arguments = [tap.SQLITE3, "-init", "/dev/null", LARGE, *load]
    want, _ = run(*arguments, taken=False)
    tap.is_equal(run(*arguments, options=()), (want, []), "a program that loads the extension itself")


def main():
    """Runs the tests."""
    if not os.path.exists(LIBRARY) or not ctypes.util.find_library("sqlite3") or not tap.SQLITE3:
        tap.skip_all("there is no library to be loaded first, no SQLite of the system, or no sqlite3 shell")
        return
    try:
        test_cases()
        test_programs()
        test_search()
        test_log()
        test_bound()
        test_beside()
        test_units()
        test_writes()
        test_changes()
        test_quiet()
        test_settings()
        test_waits()
        test_locked()
        test_programs_without()
        test_static()
        test_copies()
    finally:
        shutil.rmtree(FOLDER)
    tap.done()


main()
