"""What can be set from SQL and from the environment: all settings, what is valid, and who may set."""

import os

import support
import tap

DEFAULTS = {
    "device": "auto",
    "chunk_size": "16384",
    "host_threshold": "4096",
    "start_after": "1048576",
    "chunks_in_flight": "2",
    "device_timeout": "10000",
    "view_threshold": "1000",
    "column_memory": "0",
    "device_memory": "0",
    "column_retention": "10000",
    "values_memory": "0",
    "keep_answers": "on",
    "override": "off",
    "device_arithmetic": os.environ.get("CLREDUCE_DEVICE_ARITHMETIC", "auto"),
    "device_columns": os.environ.get("CLREDUCE_DEVICE_COLUMNS", "auto"),
    "devices": "0",
}

#: Settings that take numbers: the least and greatest allowed, where there are firm ones.
RANGES = {
    "chunk_size": (16, 16777216),
    "host_threshold": (1, None),
    "start_after": (0, None),
    "chunks_in_flight": (1, 64),
    "device_timeout": (100, None),
    "view_threshold": (0, None),
    "column_memory": (0, None),
    "device_memory": (0, None),
    "column_retention": (0, 86400000),
    "values_memory": (0, None),
    "devices": (0, 16),
}


def settings_of(db, column="value"):
    """The settings as text, by name."""
    return {name: str(text) for name, text in db.execute(f'SELECT name, "{column}" FROM clreduce_settings')}


def test_set():
    """clreduce_set(): what it returns, what it changes, and where."""
    db, other = support.connect(), support.connect()
    tap.is_equal(sorted(settings_of(db)), sorted(DEFAULTS), "the rows of clreduce_settings")
    db.execute("SELECT clreduce_set('device', 'auto')")
    for name, text in (
        ("chunk_size", "1000"),
        ("host_threshold", "1"),
        ("chunks_in_flight", "64"),
        ("device_timeout", "123"),
        ("device", "cpu"),
        ("device", "host"),
    ):
        got = support.value(db, "SELECT clreduce_set(?, ?)", name, text)
        tap.is_equal(str(got), text, f"clreduce_set('{name}', '{text}') returns the value")
        tap.is_equal(settings_of(db)[name], text, "and clreduce_settings shows it")
    got = support.value(db, "SELECT clreduce_set('chunk_size', 2000)")
    tap.is_equal(str(got), "2000", "a number need not be text")
    tap.is_equal(settings_of(db)["chunk_size"], "2000", "and is taken")
    tap.is_equal({**settings_of(other), "device": "auto"}, DEFAULTS, "another connection keeps its settings")
    tap.is_equal(settings_of(db, "default"), DEFAULTS, "the defaults stay")


def test_set_errors(db):
    """An unknown name or a wrong value: an error that lists the valid ones, and no change."""
    before = settings_of(db)
    error = support.value(db, "SELECT clreduce_set('foo', 1)")
    tap.ok(support.is_refused(error, "clreduce_set: no setting 'foo'; there are: ", *DEFAULTS), "an unknown setting: the error lists all")
    tap.diag(error)
    for name, (least, greatest) in RANGES.items():
        wrong = ["x", "x" + "\u00e4" * 40, "", "1.5", "12 apples", "99999999999999999999", str(least - 1), None, 1.5]
        if greatest is not None:
            wrong.append(str(greatest + 1))
        for value in wrong:
            error = support.value(db, "SELECT clreduce_set(?, ?)", name, value)
            told = support.is_refused(error, "clreduce_set: ", name, str(least))
            if not tap.ok(told, f"{name} {value!r} is refused, and the error says what is valid"):
                tap.diag(error)
    for value in ("", None, "x" * 100000, "x" + "\u00e4" * 40):
        error = support.value(db, "SELECT clreduce_set('device', ?)", value)
        tap.ok(support.is_refused(error, "", "device"), f"device {support.show(value)[:20]} is refused")
        tap.diag(str(error)[:200])
    for call in ("clreduce_set()", "clreduce_set('device')", "clreduce_set('device', 'host', 1)"):
        tap.raises(
            lambda call=call: db.execute(f"SELECT {call}"),
            "wrong number of arguments to function",
            f"refused: {call}",
        )
    for name in (None, "", "chunk_size "):
        tap.ok(support.is_refused(support.value(db, "SELECT clreduce_set(?, '16')", name), ""), f"no setting {name!r}")
    for name, value in (
        ("device", "host\0"),
        ("device", "host\0x"),
        ("device", "\0"),
        ("device\0", "cpu"),
        ("chunk_size", "16\0"),
        ("chunk_size", b"16\0x"),
        ("chunk_size\0x", 16),
    ):
        got = support.value(db, "SELECT clreduce_set(?, ?)", name, value)
        tap.ok(support.is_refused(got, "", "must not contain a NUL"), f"{name!r} {value!r} is refused: {got}".replace("\0", "NUL"))
    tap.is_equal(settings_of(db), before, "nothing has changed")
    tap.is_equal(support.value(db, "SELECT gpu_sum(1)"), 1, "and the connection works")


def test_unknown_device(db):
    """A device that is not there: either refused with a list, or the host serves and says so."""
    got = support.value(db, "SELECT clreduce_set('device', 'no such device')")
    if isinstance(got, support.Failure):
        tap.ok("auto" in got.message and "host" in got.message, "an unknown device is refused, with a list")
    else:
        support.configure(db, chunk_size=16, host_threshold=1)
        support.fill(db, [(i * 0.5, None) for i in range(100)])
        tap.is_equal(support.value(db, "SELECT gpu_sum(x) FROM t"), 2475.0, "without the device: the host")
        tap.is_equal(support.value(db, "SELECT count(*) FROM clreduce_devices WHERE in_use"), 0, "no device is in use")


def test_directonly(db):
    """Only a statement of the user's own can change settings; the aggregates are innocuous."""
    support.execute(db, "CREATE TABLE t(x)", "INSERT INTO t VALUES (1), (2)",
                    "CREATE VIEW setter AS SELECT clreduce_set('chunk_size', '16')",
                    "CREATE VIEW adder AS SELECT gpu_sum(x) AS s, gpu_dot(x, x) AS d, gpu_max(x) AS m FROM t",
                    "CREATE TABLE log(s)")
    for trusted in ("ON", "OFF"):
        db.execute(f"PRAGMA trusted_schema = {trusted}")
        tap.raises(
            lambda: db.execute("SELECT * FROM setter").fetchall(),
            "unsafe use of clreduce_set()",
            f"a view cannot set, trusted_schema {trusted}",
        )
        tap.is_equal(support.rows(db, "SELECT * FROM adder"), [(3, 5, 2)], f"a view can sum, trusted_schema {trusted}")
        db.execute("CREATE TRIGGER sets AFTER INSERT ON log BEGIN SELECT clreduce_set('chunk_size', '16'); END")
        tap.raises(
            lambda: db.execute("INSERT INTO log VALUES (1)"),
            "unsafe use of clreduce_set()",
            f"a trigger cannot set, trusted_schema {trusted}",
        )
        db.execute("DROP TRIGGER sets")
        db.execute("CREATE TRIGGER adds AFTER INSERT ON t BEGIN INSERT INTO log SELECT gpu_sum(x) FROM t; END")
        result = support.rows(db, "INSERT INTO t VALUES (0)")
        tap.is_equal(
            (result, db.execute("SELECT s FROM log").fetchall()),
            ([], [(3,)]),
            f"a trigger can sum, trusted_schema {trusted}",
        )
        support.execute(db, "DROP TRIGGER adds", "DELETE FROM log")
    tap.ok(settings_of(db)["chunk_size"] == "16384", "the setting is as it was")


def test_environment():
    """CLREDUCE_DEVICE gives the default of the setting `device`."""
    code = (
        "db = tap.connect()\n"
        "print(*db.execute('SELECT value, [default] FROM clreduce_settings WHERE name = ?',"
        " ['device']).fetchone(), db.execute('SELECT gpu_sum(1)').fetchone()[0])\n"
    )
    for given, want in (
        ("host", "host host 1"),
        ("cpu", "cpu cpu 1"),
        ("", "auto auto 1"),
        (None, "auto auto 1"),
        ("no such device", "no such device no such device 1"),
    ):
        process = support.child(code, CLREDUCE_DEVICE=given)
        tap.is_equal(process.stdout.strip(), want, f"CLREDUCE_DEVICE {given!r}")
    process = support.child(code + "print(db.execute('SELECT clreduce_set(1, 2)'))", CLREDUCE_DEVICE="x" * 100000)
    tap.ok(process.returncode == 1 and "no setting" in process.stderr, "CLREDUCE_DEVICE of 100,000 bytes")


CONFIGURABLE = (
    "SELECT gpu_sum(x), gpu_avg(x), gpu_min(x), gpu_max(y), gpu_sum(y), gpu_dot(x, y),"
    " gpu_dot(y, 2) FROM t"
)


def test_settings_do_not_matter(rng, db):
    """Random settings, changed between and during queries: one answer."""
    support.fill(
        db,
        [(rng.uniform(-1, 1) * 10.0 ** rng.randint(-300, 300), rng.randint(-(2**40), 2**40)) for _ in range(5000)],
    )
    want = db.execute(CONFIGURABLE).fetchone()
    # A device that did not answer in time is not used again, so short times come last.
    for what, times in (("settings", (10000,)), ("settings and timeouts", (100, 200, 10000))):
        batch = support.Batch(f"{what} change no answer")
        for _ in range(30 if tap.QUICK else 150):
            chosen = {
                "device": rng.choice(support.modes() + ["cpu", "gpu"]),
                "chunk_size": rng.choice((16, 17, 100, 1000, 1024, 4999, 5000, 5001, 16777216)),
                "host_threshold": rng.choice((1, 10, 100, 2**40)),
                "start_after": rng.choice((0, 1, 10000)),
                "chunks_in_flight": rng.choice((1, 2, 5, 64)),
                "device_timeout": rng.choice(times),
            }
            support.configure(db, **chosen)
            batch.compare(db.execute(CONFIGURABLE).fetchone(), want, str(chosen))
    support.configure(db, device="host", chunk_size=100)
    changed = (
        "SELECT gpu_sum(x) FROM t WHERE CASE WHEN rowid % 1000 THEN 1"
        " ELSE clreduce_set('chunk_size', 16 + rowid) > 0"
        " AND clreduce_set('device', iif(rowid % 2000, 'auto', 'host')) > 0 END"
    )
    tap.is_equal(support.value(db, changed), want[0], "settings that change during a query")


os.environ.pop("CLREDUCE_DEVICE", None)  # it would change the defaults
support.run(globals(), db=lambda _: support.connect())
