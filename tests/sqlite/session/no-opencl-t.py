"""Without any OpenCL platform: the host serves, with the same bits, and the statistics say why."""

import tempfile

import support
import tap

PROGRAM = """
import random
rng = random.Random(1)
db = support.connect({device!r}, chunk_size=64, host_threshold=1)
support.fill(db, [(rng.uniform(-1, 1) * 10.0**rng.randint(-300, 300), rng.randint(-10**6, 10**6))
                  for _ in range(5000)])
query = ("SELECT gpu_sum(x), gpu_total(x), gpu_avg(x), gpu_min(x), gpu_max(x), gpu_dot(x, y),"
         " gpu_sum(y), gpu_max(y), gpu_dot(y, y) FROM t")
print("answers", [value.hex() if isinstance(value, float) else value
                  for value in db.execute(query).fetchone()])
print("grouped", hash(tuple(db.execute("SELECT gpu_sum(x) FROM t GROUP BY rowid % 100"))))
print("window", hash(tuple(db.execute("SELECT gpu_sum(x) OVER (ROWS 200 PRECEDING) FROM t"))))
print("devices", db.execute("SELECT count(*) FROM clreduce_devices").fetchone()[0])
for attempt in range(100):
    if support.stats(db)["host_no_device"] or {device!r} == "host":
        break
    import time
    time.sleep(0.05)
    db.execute(query).fetchone()
got = support.stats(db)
for name in ("chunks_to_device", "kernels_launched", "host_no_device", "host_device_setting"):
    print(name, got[name])
print("last_error", got["last_error"])
"""


def outcome(device, **environment):
    """What the program printed, by the first word; None if it failed, with a diagnostic."""
    process = support.child(PROGRAM.format(device=device), PYTHONHASHSEED="0", **environment)
    if process.returncode != 0:
        tap.diag(process.stdout + process.stderr)
        return None
    return dict(line.split(" ", 1) for line in process.stdout.splitlines())


def main():
    want = outcome("host")
    if not tap.ok(want is not None, "with OpenCL, on the host"):
        tap.done()
    with tempfile.TemporaryDirectory() as folder:
        # Both the loaders' ways to say where the drivers are listed.
        nothing = {"OCL_ICD_VENDORS": folder, "OCL_ICD_FILENAMES": None}
        if support.child("", **nothing).returncode != 0:
            tap.bail("Python does not start")
        for device in ("auto", "gpu", "cpu", "host"):
            got = outcome(device, **nothing)
            if not tap.ok(
                got is not None, f"without a platform, device '{device}': the program ends well"
            ):
                continue
            for name in ("answers", "grouped", "window"):
                tap.is_equal(got[name], want[name], f"device '{device}': the same bits, {name}")
            if int(got["devices"]) > 0:
                tap.skip(1, "this OpenCL library does not heed OCL_ICD_VENDORS")
                continue
            tap.is_equal(got["chunks_to_device"], "0", f"device '{device}': no chunk on a device")
            tap.is_equal(got["kernels_launched"], "0", f"device '{device}': no kernel launched")
            reason = "host_device_setting" if device == "host" else "host_no_device"
            tap.ok(int(got[reason]) > 0, f"device '{device}': {reason} counts the chunks")
            tap.diag(f"last_error: {got['last_error']}")
        process = support.child("support.connect('pocl')", **nothing)
        tap.ok("clreduce_set: device must be auto" in process.stderr, "a device's name is refused")
    tap.done()


main()
