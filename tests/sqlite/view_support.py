"""What the tests of accelerated views share: making a view of a SELECT, and comparing the two.

The first clause of the contract in ext/sqlite/view/module.h is the oracle of all these tests: whatever a
SELECT gives when it is run directly, its view gives on the same connection, to the type and the
bit, and an error with the same code and message.
"""

import collections
import itertools
import os
import re
import sqlite3
import tempfile
import threading
import time

import support
import tap
from reference import Failure

#: What SQLite reports, also of a damaged file with names that Python can't decode.
ERRORS = (sqlite3.Error, UnicodeDecodeError)

INT_MIN, INT_MAX = -(2**63), 2**63 - 1
#: Options of connect() that are PRAGMAs.
PRAGMAS = ("page_size", "encoding", "journal_mode")


def text(raw):
    """TEXT from the database; damaged ones are no UTF-8, and must still compare."""
    return raw.decode("utf-8", "surrogateescape")


_folders, _numbers = [], itertools.count(1)


def new():
    """The path of a database that does not exist yet, in a folder that is made for the first one, and goes when the test ends."""
    if not _folders:
        _folders.append(tempfile.TemporaryDirectory(prefix="clreduce-view-"))
    return os.path.join(_folders[0].name, f"{next(_numbers)}.db")


def connect(path=":memory:", device="host", wait=5, column_memory=0, keep_answers="off", **options):
    """A connection with the extension whose views are accelerated whatever their tables' size, and scan whenever
    they are asked, and, unless that is None, such a column_memory, which is the process's. Some options are PRAGMAs."""
    pragmas = [f"PRAGMA {name} = '{options.pop(name)}'" for name in PRAGMAS if name in options]
    options.setdefault("check_same_thread", False)
    options.setdefault("timeout", wait)
    db = tap.connect(path, **options)
    db.text_factory = text
    support.configure(db, device=device, view_threshold=0, keep_answers=keep_answers)
    if column_memory is not None:
        support.configure(db, column_memory=column_memory)
    if device != "host":
        # A device on a busy machine is slow, and no less a device.
        support.configure(db, start_after=0, host_threshold=1, device_timeout=120_000)
    support.execute(db, *pragmas)
    return db


#: That of the devices to test on, or None: any.
ARITHMETIC = os.environ.get("CLREDUCE_DEVICE_ARITHMETIC")


def devices(arithmetic=ARITHMETIC):
    """The host, and each type of device with that arithmetic, or any, that OpenCL offers here and the extension
    would use."""
    kinds = tap.device_kinds("arithmetic = coalesce(?, arithmetic)", arithmetic)
    if not kinds:
        tap.no_device(f"OpenCL offers no device with {arithmetic or 'any'} arithmetic")
    return ["host"] + kinds


def find_several():
    """A kind of which there are several devices alike, and how many, or None. Those of PoCL from version 4 on are
    none: see tests/opencl/devices.h."""
    db = tap.connect()
    support.configure(db, device="cpu")  # has all of them looked for
    found = db.execute(
        "SELECT type, count(*) FROM clreduce_devices"
        " WHERE arithmetic = coalesce(?, arithmetic) AND type IN ('gpu', 'accelerator', 'cpu')"
        " AND version NOT LIKE '%PoCL HSTR: cpu-%'"
        " GROUP BY platform, name, type HAVING count(*) > 1",
        (ARITHMETIC,),
    ).fetchone()
    db.close()
    return found


def connect_several(kind, path, devices, **options):
    """A connection whose views use so many devices of the kind."""
    db = connect(path, kind, **options)
    support.configure(db, devices=devices)
    return db


def outcome(db, sql, parameters=()):
    """The rows of a query as a list, or what SQLite reports as a Failure, with its code."""
    try:
        return db.execute(sql, parameters).fetchall()
    except ERRORS as error:
        return failure(error)


def failure(error):
    """An error as a value that compares: SQLite's code and message."""
    return Failure(f"{getattr(error, 'sqlite_errorname', type(error).__name__)}: {error}")


def create(db, name, select):
    """A view of the SELECT under that name, in the place of an older one; None, or a Failure."""
    try:
        db.execute(f"DROP TABLE IF EXISTS temp.{name}")
        # The line ends before the parentheses, which a comment at the SELECT's end would take.
        db.execute(f"CREATE VIRTUAL TABLE temp.{name} USING clreduce(({select}\n))")
    except ERRORS as error:
        return failure(error)
    return None


def create_all(db, selects):
    """Views of the SELECTs, by their names; those of a list are v0, v1, and so on."""
    for name, select in selects.items() if isinstance(selects, dict) else enumerate(selects):
        create(db, f"v{name}" if isinstance(name, int) else name, select)


def ask(db, name, parameters=()):
    """What a view gives for parameters in their order."""
    marks = f"({', '.join('?' * len(parameters))})" if parameters else ""
    return outcome(db, f"SELECT * FROM {name}{marks}", parameters)


def through_view(db, select, parameters=(), name="view_of_it"):
    """What the SELECT gives through a view that is made for it."""
    problem = create(db, name, select)
    return problem if problem else ask(db, name, parameters)


def agree(db, name, select, parameters, what, times=1, anew=False):
    """So many checks: a view, which may be made first, gives each time what its SELECT gives."""
    if anew:
        create(db, name, select)
    want = outcome(db, select, parameters)
    return all([tap.is_equal(ask(db, name, parameters), want, what) for _ in range(times)])


def fails(result, *fragments):
    """Whether an outcome is an error, and has one of the fragments in its text if there are any."""
    return isinstance(result, Failure) and (not fragments or any(fragment in result.message for fragment in fragments))


def is_fast(db, select, parameters=(), name="view_of_it"):
    """One check: the view gives what the SELECT gives, and is accelerated."""
    want, got = outcome(db, select, parameters), through_view(db, select, parameters, name)
    verdict = plan(db, name)[0]
    if tap.ok(tap.is_same(got, want) and verdict.startswith("accelerated"), f"accelerated: {select}"):
        return
    tap.diag(f"{verdict}\n got: {got!r:.2000}\nwant: {want!r:.2000}")


class Watch:
    """Views of a connection, which are held against their SELECTs."""

    def __init__(self, db, label, selects, parameters):
        self.db, self.selects, self.parameters, self.batch = db, selects, parameters, support.Batch(label)
        for name, select in selects.items():
            self.batch.compare(create(db, name, select), None, name)

    def ask(self, name, step):
        """Asks a view and compares its rows; its plan."""
        parameters = self.parameters.get(name, ())
        got = ask(self.db, name, parameters)
        self.batch.compare(got, outcome(self.db, self.selects[name], parameters), f"{step}: {name}")
        return plan(self.db, name)


def plan(db, name):
    """The lines of a view's plan."""
    return [line for (line,) in db.execute("SELECT line FROM clreduce_plan(?)", (name,))]


def accelerated(db, name):
    """Whether the view's last answer came without SQLite's rows."""
    return plan(db, name)[0].startswith("accelerated")


#: How long a device may take for what it builds, in seconds: no test waits so long for one that gets on.
BUILDING_S = 900


def _progress(db, name):
    """Whether something is under way for the view's next query, and what has come of it so far."""
    stats, columns = support.stats(db), [line for line in plan(db, name) if line.startswith("column ")]
    busy = stats["is_building"] or any("on its way" in line for line in columns)
    return busy, stats["startup_time"], columns


def ask_device(db, name, parameters=(), judge=None):
    """Asks a view until a device answers, or there is nothing left to wait for: no column is on its way to
    the device, nothing is built for it, and it leaves the query to the host three times, as it also does while
    it is at something else. judge(answer) is called with each answer, and returns whether to go on. Gives whether
    a device answered."""
    end = time.monotonic() + BUILDING_S
    refusals = 0
    while refusals < 3:
        before = _progress(db, name)
        answer = ask(db, name, parameters)
        if judge is not None and not judge(answer):
            return False
        verdict = plan(db, name)[0]
        if not verdict.startswith("accelerated: host"):
            return verdict.startswith("accelerated: device")
        after = _progress(db, name)
        refusals = refusals + 1 if before == after and not after[0] else 0
        if time.monotonic() > end:
            tap.diag(f"not on the device in {BUILDING_S} s: {after}")
            break
        if after[0] or refusals:
            time.sleep(0.02)
    return False


def given_by_device(db, name, select, parameters=(), what=None, anew=False):
    """Two checks: all that a view, which may be made first, gives is what the SELECT gives, and in the end a device gives it."""
    if anew:
        create(db, name, select)
    want = repr(outcome(db, select, parameters))
    wrong = []

    def judge(got):
        if repr(got) != want:
            wrong.append(got)
        return not wrong

    before = support.stats(db)["scans_on_device"]
    answered = ask_device(db, name, parameters, judge)
    tap.is_equal(wrong, [], f"{what or select} {parameters}")
    if not tap.ok(answered and support.stats(db)["scans_on_device"] > before, "a device gives it"):
        tap.diag("\n".join(plan(db, name)))


def evict(db):
    """Has the connection forget the columns that it holds, where it holds any."""
    outcome(db, "SELECT clreduce_evict()")


def warm(device):
    """Waits until a device has been started; it stays so as long as the connection does."""
    db = support.connect(device, **support.SMALL)
    if device != "host":
        support.wait_for_device(db)
    return db


#: What keeps devices started.
WARM = []


def warmed(arithmetic=ARITHMETIC):
    """Each device, which stays started from now on."""
    found = devices(arithmetic)[1:]
    WARM.extend(map(warm, found))
    return found


def run(module, **given):
    """Runs a module's tests, as support.run() does. What is also given: `path`, of a new file, and `db`, a connection to one."""
    files = {"path": lambda _: new(), "db": lambda _: connect(new())}
    support.run(module, **{**files, **given})


def can_deserialize():
    """Whether this Python and this SQLite can make a database of bytes."""
    try:
        return bool(sqlite3.connect(":memory:").serialize())
    except (AttributeError, sqlite3.OperationalError):
        return False


def remove(path):
    """Deletes a database with all that goes with it."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        if os.path.exists(path + suffix):
            os.remove(path + suffix)


class Tally:
    """Counts answers, those of them that were accelerated, and those of these that a device gave;
    threads may share one."""

    def __init__(self):
        self.lock = threading.Lock()
        self.answers = 0
        self.fast = 0
        self.for_device = 0
        self.on_device = 0
        self.reasons = collections.Counter()

    def add(self, db, name, hosts_own=False):
        """Counts the view's last answer. hosts_own: no device is expected to give such."""
        verdict = plan(db, name)[0]
        with self.lock:
            self.answers += 1
            self.fast += verdict.startswith("accelerated")
            self.for_device += verdict.startswith("accelerated") and not hosts_own
            self.on_device += verdict.startswith("accelerated: device")
            # Names and numbers differ, the reason is the same.
            self.reasons[re.sub(r"[\d'\"].*", "", verdict)] += 1

    def report(self, what):
        """A diagnostic with the numbers, and the commonest reasons."""
        tap.diag(f"{what}: {self.fast} of {self.answers} answers were accelerated")
        tap.diag(f"  {self.on_device} of them on a device, which {self.for_device} were for")
        for reason, count in self.reasons.most_common(8):
            tap.diag(f"  {count} {reason}")

    def require(self, share, what):
        """One check: that share of the answers was accelerated."""
        self.report(what)
        tap.ok(
            0 < self.answers and self.fast >= share * self.answers,
            f"{what}: {share:.0%} of the answers were accelerated at least",
        )

    def require_device(self, share, what):
        """One check: a device gave that share of the accelerated answers that are for devices."""
        tap.ok(
            0 < self.for_device and self.on_device >= share * self.for_device,
            f"{what}: {share:.0%} of these came from the device at least",
        )
