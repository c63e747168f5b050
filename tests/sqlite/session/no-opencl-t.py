"""Without OpenCL, as there is no loader, no whole one, or no platform: the host serves, with the same
bits, and the devices' table and the statistics say why. With it: it is opened when it is needed, and a
driver for CPUs alone is never started by itself: without /sys PoCL ends the process."""

import glob
import os
import shlex
import subprocess
import tempfile

import support
import tap

PROGRAM = """
import random, re
def opened():
    with open("/proc/self/maps") as maps:
        return sorted(set(re.findall("/.*libOpenCL[^/]*$", maps.read(), re.M)))
rng = random.Random(1)
db = support.connect({device!r}, {path!r}, chunk_size=64, host_threshold=1, view_threshold=0)
support.fill(db, [(rng.uniform(-1, 1) * 10.0**rng.randint(-300, 300), rng.randint(-10**6, 10**6))
                  for _ in range(5000)])
loaded = opened()
query = ("SELECT gpu_sum(x), gpu_total(x), gpu_avg(x), gpu_min(x), gpu_max(x), gpu_dot(x, y),"
         " gpu_sum(y), gpu_max(y), gpu_dot(y, y) FROM t")
print("answers", [value.hex() if isinstance(value, float) else value
                  for value in db.execute(query).fetchone()])
print("grouped", hash(tuple(db.execute("SELECT gpu_sum(x) FROM t GROUP BY rowid % 100"))))
print("window", hash(tuple(db.execute("SELECT gpu_sum(x) OVER (ROWS 200 PRECEDING) FROM t"))))
db.execute("CREATE VIRTUAL TABLE temp.v USING clreduce((SELECT y % 7 AS k, sum(y), gpu_avg(x) FROM t"
           " WHERE x > 0 GROUP BY k))")
print("view", hash(tuple(db.execute("SELECT * FROM v"))))
print("plan", db.execute("SELECT line FROM clreduce_plan('v')").fetchone()[0])
print("devices", db.execute("SELECT count(name) FROM clreduce_devices").fetchone()[0])
print("reasons", db.execute("SELECT count(*), in_use, reason FROM clreduce_devices").fetchone())
print("loaded", *loaded)
print("opened", *opened())
for attempt in range(100):
    got = support.stats(db)
    if got["host_no_device"] or got["chunks_to_device"] or {device!r} == "host":
        break
    import time
    time.sleep(0.05)
    db.execute(query).fetchone()
got = support.stats(db)
for name in ("chunks_to_device", "kernels_launched", "host_no_device", "host_device_setting"):
    print(name, got[name])
print("last_error", got["last_error"])
"""


#: Whether auto opens OpenCL here.
TRACES = any(map(glob.glob, ("/dev/nvidia*", "/dev/dri/render*", "/dev/kfd", "/dev/dxg", "/dev/mali*")))
NOT_LOOKED_FOR = "no device was looked for, as there is no trace of a GPU"

#: What runs a command without /sys; and with a /dev that has traces of a GPU, whose driver is not there.
WITHOUT_SYS = ("unshare", "-rm", "sh", "-ec", 'mount -t tmpfs none /sys; shift; exec "$@"', "sh", "{folder}")
WITH_TRACES = (*WITHOUT_SYS[:4], """mount -t tmpfs none /sys
mount -t tmpfs none "$1"
for name in null zero random urandom; do
    touch "$1/$name"
    mount --bind "/dev/$name" "$1/$name"
done
mkdir "$1/dri"
touch "$1/dri/renderD128"
mount --rbind "$1" /dev
shift
exec "$@"
""", *WITHOUT_SYS[5:])


def outcome(device, within=(), **environment):
    """What the program printed, by the first word; None if it failed, with a diagnostic."""
    environment.setdefault("CLREDUCE_DEVICE", None)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as empty:
        program = PROGRAM.format(device=device, path=os.path.join(folder, "t.db"))
        within = [word.format(folder=empty) for word in within]
        process = support.child(program, within=within, PYTHONHASHSEED="0", **environment)
    if process.returncode != 0:
        tap.diag(process.stdout + process.stderr)
        return None
    return dict(line.partition(" ")[::2] for line in process.stdout.splitlines())


def library(folder, name, function):
    """Compiles a library that has one function of OpenCL's, which ends the process. Its path."""
    source = os.path.join(folder, "library.c")
    path = os.path.join(folder, name)
    with open(source, "w", encoding="ascii") as file:
        file.write(f"#include <stdlib.h>\nint {function}(void) {{ abort(); }}\n")
    compiler = shlex.split(os.environ.get("CC") or "cc")
    subprocess.run([*compiler, "-shared", "-fPIC", "-o", path, source], check=True)
    return path


def host_serves(what, want, reason, devices, **environment):
    """With each setting of `device`: the host's answers, no device, and that reason for it."""
    for device in devices:
        case = f"{what}, device '{device}'"
        got = outcome(device, **environment)
        if not tap.ok(got is not None, f"{case}: the program ends well"):
            continue
        for name in ("answers", "grouped", "window", "view"):
            tap.is_equal(got[name], want[name], f"{case}: the same bits, {name}")
        if int(got["devices"]) > 0 and "OCL_ICD_VENDORS" in environment:
            tap.skip(1, "this OpenCL library does not heed OCL_ICD_VENDORS")
            continue
        tap.ok("accelerated" in got["plan"], f"{case}: {got['plan']}")
        tap.is_equal(got["devices"], "0", f"{case}: no device")
        for name in ("chunks_to_device", "kernels_launched"):
            tap.is_equal(got[name], "0", f"{case}: {name}")
        chunks = "host_device_setting" if device == "host" else "host_no_device"
        tap.ok(int(got[chunks]) > 0, f"{case}: {chunks} counts the chunks")
        shown, error = reason, reason
        if device == "host" or (device == "auto" and not TRACES):
            error = "None"
            shown = NOT_LOOKED_FOR if device == "auto" else "no device was looked for, as the setting device is 'host'"
        tap.ok(got["reasons"].startswith("(1, 0, ") and shown in got["reasons"], f"{case}: {got['reasons']}")
        tap.ok(error in got["last_error"], f"{case}: {got['last_error']}")


def test_opened(want, system):
    """Where there is OpenCL it is opened when it is needed."""
    tap.ok("accelerated" in want["plan"], f"its view: {want['plan']}")
    tap.is_equal(want["opened"], "", "which has not opened OpenCL")
    tap.is_equal(system["loaded"], "", "a connection that is opened has not opened OpenCL")


def test_auto(want):
    """OpenCL is not opened where there is no trace of a GPU, and no driver for CPUs alone is started where there
    is one."""
    if TRACES:
        tap.skip(2, "there are traces of a GPU")
    else:
        got = outcome("auto")
        tap.ok(got and got["opened"] == "" and NOT_LOOKED_FOR in got["reasons"], "without a trace OpenCL is not opened")
        tap.ok(got and got["answers"] == want["answers"] and got["view"] == want["view"], "the host has the same bits")
    for name, within in (("without /sys", WITHOUT_SYS), ("and with traces of a GPU", WITH_TRACES)):
        with tempfile.TemporaryDirectory() as folder:
            process = support.child("", within=[word.format(folder=folder) for word in within])
        if process.returncode != 0:
            tap.skip(2, f"no process can be run {name}: {process.stderr}")
            continue
        for device in ("auto", "gpu"):
            got = outcome(device, within)
            tap.ok(got and got["answers"] == want["answers"] and got["view"] == want["view"],
                   f"{name}, device '{device}': {got and got['reasons']}")


def test_loaders(want, system):
    """The system's loader, which has devices, and others before it in the search path."""
    if not system["opened"]:
        tap.no_device("there is no OpenCL")
        tap.skip(1, f"there is no OpenCL: {system['reasons']}")
        return
    path = os.environ.get("LD_LIBRARY_PATH", "")
    preload = os.environ.get("LD_PRELOAD", "")
    with tempfile.TemporaryDirectory() as folder:
        # The search for a library ends with an error at a file of its name that is none.
        search = {"LD_LIBRARY_PATH": f"{folder}:{path}"}
        for name in ("libOpenCL.so.1", "libOpenCL.so"):
            with open(os.path.join(folder, name), "wb"):
                pass
        host_serves("no loader", want, "Install one (Debian, Ubuntu: ocl-icd-", ["auto", "cpu"], **search)
        library(folder, "libOpenCL.so.1", "clGetPlatformIDs")
        lacking = "libOpenCL.so.1 has no clBuildProgram: an ICD loader of OpenCL 1.2 or later is needed"
        host_serves("a loader that lacks functions", want, lacking, ["auto"], **search)
        os.unlink(os.path.join(folder, "libOpenCL.so"))
        os.symlink(system["opened"], os.path.join(folder, "libOpenCL.so"))
        got = outcome(support.device(), **search)
        tap.ok(got and got["devices"] == system["devices"], "a whole one by the second name serves")
        alone = library(folder, "preloaded.so", "clCreateCommandQueue")
        got = outcome(support.device(), LD_PRELOAD=f"{preload}:{alone}")
        tap.ok(
            got and got["devices"] == system["devices"] and got["answers"] == want["answers"],
            "a function that stands alone before the loader's is not called",
        )
        if got and got["devices"] != "0":
            tap.ok(int(got["kernels_launched"]) > 0, "and a device has done some of the work")


def test_without(want, system):
    """There is a loader, and no platform."""
    with tempfile.TemporaryDirectory() as folder:
        # Both the loaders' ways to say where the drivers are listed.
        nothing = {"OCL_ICD_VENDORS": folder, "OCL_ICD_FILENAMES": None}
        if support.child("", **nothing).returncode != 0:
            tap.bail("Python does not start")
        reason = "Install the OpenCL driver" if system["opened"] else "Install one"
        host_serves("without a platform", want, reason, ["auto", "gpu", "cpu", "host"], **nothing)
        process = support.child("support.connect('pocl')", **nothing)
        tap.ok("clreduce_set: device must be auto" in process.stderr, "a device's name is refused")


WANT, SYSTEM = outcome("host"), outcome(support.device())
if WANT is None or SYSTEM is None:
    tap.bail("the program fails with OpenCL, on the host or on a device")
support.run(globals(), want=WANT, system=SYSTEM)
