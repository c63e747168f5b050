"""What a process pays once: loading, a first query while a device starts, memory; and the size."""

import os
import shutil
import subprocess
import tempfile

from measuring import method
from measuring.tools import cold_caches

QUERY = "SELECT gpu_sum(x) FROM t"
PLAIN_QUERY = "SELECT sum(x) FROM t"
ROUNDS, SECONDS = 7, 6


def load(tools):
    """The time that loading the extension takes, in processes that do nothing else."""
    method.say("start-up: loading")
    times = [tools.once("host", "SELECT 1")["load_ns"] for _ in range(11)]
    found = method.summary(times[1:])
    return {"part": "startup", "name": "load the extension", "device": "host", "ns": times[1:],
            **{f"{name}_ns": found[name] for name in ("median", "min", "max")}}


def first(tools):
    """The first query of a process that finds no compiled kernels: on its own choice of a device,
    on the host alone, and SQLite's own sum without the extension.

    All processes have cold caches, so that nothing but the device and the query is another.
    """
    reports = {"auto": [], "host": [], "none": []}

    def run(device):
        method.say(f"first query: {device}")
        with cold_caches() as environment:
            report = tools.once(device, PLAIN_QUERY if device == "none" else QUERY, environment)
        reports[device].append(report)
        return report["load_ns"] + report["query_ns"]

    tools.database()
    auto, host, none = method.take_turns([lambda: run("auto"), lambda: run("host"),
                                          lambda: run("none")], ROUNDS, SECONDS)
    return {"rows": tools.rows, "sql": QUERY, "ns": {"auto": auto, "host": host, "none": none},
            "auto_ns": method.summary(auto), "host_ns": method.summary(host),
            "none_ns": method.summary(none), "speed_over_host": method.ratios(host, auto),
            "speed_over_sum": method.ratios(none, auto),
            "difference_ns": method.summary([one - other for one, other in zip(auto, host)]),
            "waited_ns": {device: method.summary([report["waited_ns"] for report in found])
                          for device, found in reports.items() if device != "none"},
            "startup_ms": method.summary([report["statistics"]["startup_time"]
                                          for report in reports["auto"]]),
            "statistics": reports["auto"][-1]["statistics"]}


def memory(tools):
    """The most memory that a big feed needs, in processes of their own."""
    rows = []
    for name, device, sql in (("sum", "none", PLAIN_QUERY), ("gpu_sum, host", "host", QUERY),
                              ("gpu_sum, auto", "auto", QUERY)):
        method.say(f"memory: {name}")
        reports = [tools.once(device, sql) for _ in range(3)]
        rows.append({"name": name, "rows": tools.rows,
                     "peak_bytes": method.summary([report["peak_bytes"] for report in reports]),
                     "peak_bytes_before": method.summary([report["peak_bytes_before"]
                                                          for report in reports])})
    return rows


def size(tools):
    """The extension's size as it was built, and without symbols."""
    result = {"bytes": os.path.getsize(tools.extension), "stripped_bytes": None}
    strip = shutil.which("strip")
    if strip is None:
        return result
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, os.path.basename(tools.extension))
        shutil.copyfile(tools.extension, copy)
        if subprocess.run([strip, "-x", copy], check=False).returncode == 0:
            result["stripped_bytes"] = os.path.getsize(copy)
    return result
