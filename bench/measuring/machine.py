"""What was measured on: processor, device, driver, and the versions of what takes part."""

import os
import platform
import re
import subprocess

from measuring import peers

DEVICES = (
    "SELECT name, type, version, platform, compute_units, memory_bytes FROM clreduce_devices "
    "WHERE in_use")


def first_match(path, pattern):
    """The first group of a pattern's first match in a file, or None."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            match = re.search(pattern, file.read(), re.MULTILINE)
    except OSError:
        return None
    return match and match.group(1)


def processor():
    """The processor's name, as well as the system tells it."""
    name = first_match("/proc/cpuinfo", r"^model name\s*: (.*)$")
    if name is None and platform.system() == "Darwin":
        name = subprocess.run(["sysctl", "-n", "machdep.cpu.brand_string"], check=False,
                              capture_output=True, text=True).stdout.strip()
    return name or platform.processor() or platform.machine()


def system():
    """The operating system's name and its kernel's."""
    name = first_match("/etc/os-release", r'^PRETTY_NAME="?([^"\n]*)')
    kernel = f"{platform.system()} {platform.release()}"
    return f"{name}, {kernel}" if name else kernel


def cores():
    """How many processors this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()


def memory():
    """The machine's memory in bytes, or None."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return None


def compiler(command):
    """The first line with which a compiler introduces itself, and its options."""
    words = command.split()
    if not words:
        return None
    try:
        told = subprocess.run([words[0], "--version"], check=False, capture_output=True, text=True)
    except OSError:
        return command
    return " ".join([told.stdout.partition("\n")[0]] + words[1:])


def git(*arguments):
    """What git says of the sources; nothing where they are no checkout, or there is no git."""
    command = ["git", "-C", os.path.dirname(os.path.abspath(__file__)), *arguments]
    try:
        told = subprocess.run(command, check=False, capture_output=True, text=True)
    except OSError:
        return ""
    return told.stdout.strip() if told.returncode == 0 else ""


def commit():
    """The commit of the sources: $BENCH_COMMIT, for a copy of them; else the checkout's, with "+" behind it if they, the
    published pages aside, are not as it has them; or None."""
    if os.environ.get("BENCH_COMMIT"):
        return os.environ["BENCH_COMMIT"]
    name = git("rev-parse", "--short=8", "HEAD")
    is_other = git("status", "--porcelain", "-uno", ":/", ":(top,exclude)bench/report") != ""
    return name + "+" * is_other if name else None


def driver(device):
    """The version of the driver behind a device, which OpenCL keeps apart from the device's own."""
    nvidia = first_match("/proc/driver/nvidia/version", r"Kernel Module.*?(\d+\.[\d.]+)")
    if nvidia and "NVIDIA" in device["platform"]:
        return f"{device['version']}, driver {nvidia}"
    return device["version"]


def device_in_use(tools):
    """The OpenCL device that the extension uses, or None."""
    keys = ("name", "type", "version", "platform", "compute_units", "memory_bytes")
    for row in tools.query(DEVICES):
        device = dict(zip(keys, row))
        device["driver"] = driver(device)
        return device
    return None


def describe(tools, compiler_command):
    """All of it, as JSON takes it."""
    sqlite, clreduce = tools.query("SELECT sqlite_version(), clreduce_version()")[0]
    return {"processor": processor(), "cores": cores(), "memory_bytes": memory(),
            "system": system(), "device": device_in_use(tools),
            "versions": {"clreduce": clreduce, "commit": commit(), "SQLite": sqlite, **peers.versions(),
                         "Python": platform.python_version(),
                         "compiler": compiler(compiler_command)}}
