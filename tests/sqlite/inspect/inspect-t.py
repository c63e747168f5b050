"""What can be seen from SQL: devices, statistics, settings. set-t.py has what can be set."""

import tempfile
import os
import re

import support
import tap

COLUMNS = {
    "clreduce_devices": (
        "platform name type version compute_units memory_bytes fp64 arithmetic in_use reason column_bytes".split()
    ),
    "clreduce_stats": "name value unit meaning".split(),
    "clreduce_settings": "name value default meaning".split(),
}
STATS = """
    values_fed chunks_to_device bytes_to_device kernels_launched passes
    transfer_time kernel_time startup_time is_building
    column_bytes_copied lookup_bytes chunks_on_host
    host_below_threshold host_device_setting host_no_device host_before_start
    host_device_starting host_device_busy host_device_failed host_remainder host_after_fork
    device_errors scans_on_device scans_on_host scans_streamed selects_by_rows
    answers_kept blocks_skipped bytes_decoded rows_loaded entries_evaluated leaves_kept leaves_refreshed malformed_page
    last_error build_log""".split()
REASONS = [name for name in STATS if name.startswith("host_")]


def test_tables():
    """The three tables: columns, a row for each thing, a meaning for each row."""
    db = support.connect()
    for table, columns in COLUMNS.items():
        got = [entry[0] for entry in db.execute(f"SELECT * FROM {table} LIMIT 0").description]
        tap.is_equal(got, columns, f"the columns of {table}")
    names = [row[0] for row in db.execute("SELECT name FROM clreduce_stats")]
    tap.is_equal(sorted(names), sorted(STATS), "the rows of clreduce_stats")
    for table in ("clreduce_stats", "clreduce_settings"):
        tap.is_equal(
            support.value(db, f"SELECT count(*) FROM {table} WHERE coalesce(meaning, '') = ''"),
            0,
            f"every row of {table} has a meaning",
        )
        tap.is_equal(
            support.value(
                db,
                f"SELECT a.value IS b.value FROM {table} AS a JOIN {table} AS b"
                " USING (name) ORDER BY a.name LIMIT 1",
            ),
            1,
            f"{table} joined with itself",
        )
    for table in COLUMNS:
        for statement in (
            f"INSERT INTO {table} DEFAULT VALUES",
            f"DELETE FROM {table}",
            f"UPDATE {table} SET name = 'x'",
        ):
            tap.ok(isinstance(support.rows(db, statement), support.Failure), f"refused: {statement}")
    tap.ok(
        re.fullmatch(r"\d+\.\d+(\.\d+)?\S*", support.value(db, "SELECT clreduce_version()")),
        "clreduce_version() looks like a version",
    )


def test_tables_in_views():
    """A schema that is not trusted may read what starts nothing, and must not start OpenCL."""
    with tempfile.TemporaryDirectory() as folder:
        db = support.connect(path=os.path.join(folder, "a.db"))
        for table in ("stats", "settings", "devices"):
            db.execute(f"CREATE VIEW {table} AS SELECT count(*) FROM clreduce_{table}")
        db.execute("PRAGMA trusted_schema = OFF")
        tap.ok(support.value(db, "SELECT * FROM stats") > 10, "the statistics, in a view")
        tap.ok(support.value(db, "SELECT * FROM settings") > 3, "the settings, in a view")
        tap.raises(
            lambda: db.execute("SELECT * FROM devices").fetchall(),
            "unsafe use of virtual table",
            "the devices are not for a view of an untrusted schema",
        )
        db.close()


def test_host_stats():
    """What the statistics say when the host did the work."""
    db = support.connect("host", chunk_size=100, host_threshold=1)
    tap.is_equal(support.stats(db)["values_fed"], 0, "nothing fed at first")
    support.fill(db, [(i if i % 3 else i * 0.5, 1.5) for i in range(1000)])
    db.execute("SELECT gpu_sum(x) FROM t").fetchall()
    got = support.stats(db)
    tap.is_equal(got["values_fed"], 1000, "values fed: one a row")
    tap.is_equal(
        [got[name] for name in ("chunks_to_device", "bytes_to_device", "kernels_launched", "passes")],
        [0, 0, 0, 0],
        "nothing went to a device",
    )
    tap.ok(got["host_device_setting"] > 0, "chunks stayed on the host because of the setting")
    tap.is_equal(
        got["chunks_on_host"],
        sum(got[name] for name in REASONS),
        "the chunks on the host are those of all reasons",
    )
    tap.is_equal(got["device_errors"], 0, "no device error")
    # Where OpenCL has no platform, that is an error of its own, which the setting does not hide.
    error = got["last_error"] or ""
    tap.ok((not error or "CL_PLATFORM_NOT_FOUND" in error) and not got["build_log"], "no error, no build log")
    db.execute("SELECT gpu_sum(x) OVER (ROWS 3 PRECEDING) FROM t").fetchall()
    tap.ok(support.stats(db)["values_fed"] >= 2000, "window functions feed too")
    before = support.stats(db)["values_fed"]
    db.execute("SELECT gpu_sum(NULL) FROM t").fetchall()
    tap.is_equal(support.stats(db)["values_fed"], before, "NULL is not fed")
    other = support.connect()
    tap.is_equal(support.stats(other)["values_fed"], 0, "another connection has its own statistics")


def test_device_stats():
    """What the statistics say when a device did the work."""
    if support.skip_device(9, "statistics of a device"):
        return
    db = support.connect(support.device(), chunk_size=1024, host_threshold=1, chunks_in_flight=64)
    support.fill(db, [(i * 0.25, i) for i in range(10 * 1024 + 5)])
    tap.is_equal(
        support.value(db, f"SELECT gpu_sum(x) FROM {support.lingering(64)}"),
        0.25 * sum(range(10 * 1024 + 5)),
        "the sum",
    )
    got = support.stats(db)
    tap.ok(
        got["chunks_to_device"] + got["chunks_on_host"] - got["host_remainder"] >= 10,
        "ten full chunks, on the device or the host",
    )
    tap.ok(got["chunks_to_device"] > 0, "some of them on the device")
    tap.ok(got["bytes_to_device"] >= 8 * 1024 * got["chunks_to_device"], "eight bytes a value")
    tap.ok(got["kernels_launched"] >= got["chunks_to_device"], "kernels were launched")
    tap.ok(got["passes"] >= got["chunks_to_device"], "passes were counted")
    tap.ok(got["transfer_time"] > 0 and got["kernel_time"] > 0, "profiling gave times")
    tap.ok(got["startup_time"] > 0, "start-up took a time")
    tap.is_equal(
        [got["device_errors"], got["last_error"] or None, got["build_log"] or None],
        [0, None, None],
        "no errors",
    )
    tap.diag(", ".join(f"{name} {got[name]}" for name in STATS))


def test_threshold():
    """A part of a chunk that is too small stays on the host."""
    if support.skip_device(3, "the threshold"):
        return
    db = support.connect(support.device(), chunk_size=64, host_threshold=65)
    support.fill(db, [(i, i * 0.5) for i in range(1000)])
    tap.is_equal(support.rows(db, "SELECT gpu_sum(x), gpu_sum(y) FROM t"), [(499500, 249750.0)], "the sums")
    got = support.stats(db)
    tap.is_equal(got["chunks_to_device"], 0, "nothing goes to the device")
    tap.ok(got["host_below_threshold"] > 0, "because it is below the threshold")


def test_devices():
    """The table of devices, and which one is in use under each setting."""
    db = support.connect(support.device())
    # Without a device one row says why: no-opencl-t.py.
    support.configure(db, devices=1)
    devices = db.execute("SELECT * FROM clreduce_devices WHERE name IS NOT NULL").fetchall()
    for platform, name, kind, version, units, memory, fp64, arithmetic, in_use, reason, held in devices:
        tap.ok(isinstance(platform, str) and platform and isinstance(name, str) and name, f"{platform}: {name}")
        tap.ok(kind in ("gpu", "accelerator", "cpu", "other"), f"its type: {kind}")
        tap.ok(str(version).startswith("OpenCL "), f"its version: {version}")
        tap.ok(units > 0 and memory > 0, f"its compute units and bytes: {units}, {memory}")
        tap.ok(fp64 in (0, 1) and in_use in (0, 1), f"its flags: {fp64}, {in_use}")
        tap.ok(arithmetic == "integer" or (fp64 and arithmetic == "fp64"), f"its arithmetic: {arithmetic}")
        tap.ok(bool(in_use) != bool(reason), f"in use, or a reason why not: {reason}")
        tap.is_equal(held, 0, "it has no columns")
    best = min([("gpu", "accelerator", "cpu").index(device[2]) for device in devices if device[8]], default=None)
    if best is None:
        tap.skip(5, "which device is in use: there is none")
        db.close()
        return
    used = [device for device in devices if device[8]]
    tap.is_equal(len(used), 1, f"{support.device()}: one device is in use")
    platform, name, kind = used[0][:3]
    for setting in (kind, name, name[1:5].upper(), platform, platform[-4:].lower()):
        support.configure(db, device=setting)
        count = support.value(db, "SELECT count(*) FROM clreduce_devices WHERE in_use")
        tap.is_equal(count, 1, f"device '{setting}': one device is in use")
    support.configure(db, device="host")
    tap.is_equal(
        support.value(db, "SELECT count(*) FROM clreduce_devices WHERE in_use"),
        0,
        "host: no device is in use",
    )
    tap.is_equal(
        support.value(db, "SELECT count(*) FROM clreduce_devices WHERE coalesce(reason, '') = ''"),
        0,
        "and each has a reason",
    )
    for kind in {"gpu", "accelerator", "cpu"} - {device[2] for device in devices}:
        support.configure(db, device=kind)
        tap.is_equal(
            support.value(db, "SELECT count(*) FROM clreduce_devices WHERE in_use"),
            0,
            f"{kind}: no such device",
        )
        tap.is_equal(support.value(db, "SELECT gpu_sum(2)"), 2, "the host serves")


def test_start_after():
    """Nothing starts OpenCL before enough values were fed, and then something does."""
    code = """
db = support.connect("auto", chunk_size=100, host_threshold=1, start_after=5000)
support.fill(db, [(i, None) for i in range(1000)])
for turn in range(4):
    assert db.execute("SELECT gpu_sum(x) FROM t").fetchone()[0] == 499500
got = support.stats(db)
assert (got["host_before_start"], got["host_remainder"], got["chunks_on_host"]) == (36, 4, 40), got
assert got["startup_time"] == 0, got
for turn in range(4):
    db.execute("SELECT gpu_sum(x) FROM t").fetchone()
got = support.stats(db)
assert got["host_before_start"] < 72 and got["values_fed"] == 8000, got
"""
    support.child_ok(support.child(code), "a device starts after some values, and not before")


support.run(globals())
