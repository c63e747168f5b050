"""Puts the extension into the wheel, and names the platforms that the wheel is for.

The extension is the file that the environment variable CLREDUCE_EXTENSION names. Without it, it is built from the
checkout that this folder is in, by configure and make.
"""

import os
import re
import struct
import subprocess
import sysconfig
import tempfile

from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.dirname(os.path.dirname(HERE))

#: What a manylinux wheel may link to, of what the extension does (PEP 600).
SYSTEM_LIBRARIES = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "ld-linux-x86-64.so.2",
                    "ld-linux-aarch64.so.1"}
MACHINES = {"EM_X86_64": "x86_64", "EM_AARCH64": "aarch64"}
#: The same of macOS' files (mach/machine.h), and the load command that has the oldest system.
MAC_MACHINES = {0x01000007: "x86_64", 0x0100000C: "arm64"}
LC_BUILD_VERSION = 0x32


def build_extension(folder):
    """Builds the extension in a folder, and returns its path."""
    if not os.path.exists(os.path.join(SOURCES, "configure.ac")):
        raise RuntimeError("the wheel is built in a checkout of clreduce, or of the file that CLREDUCE_EXTENSION names")
    if not os.path.exists(os.path.join(SOURCES, "configure")):
        subprocess.run(["autoreconf", "-i"], cwd=SOURCES, check=True)
    subprocess.run([os.path.join(SOURCES, "configure"), "--quiet"], cwd=folder, check=True)
    subprocess.run(["make", f"-j{os.cpu_count() or 1}"], cwd=folder, check=True)
    path = find_extension(os.path.join(folder, "clreduce"))
    subprocess.run(["strip", "-S", path], check=True)
    return path


def find_extension(path):
    """The file of that name, which may lack its ending, as SQLite finds it."""
    for end in ("", ".so", ".dll", ".dylib"):
        if os.path.isfile(path + end):
            return path + end
    raise FileNotFoundError(f"there is no extension {path}: CLREDUCE_EXTENSION names the file clreduce.so")


def oldest_glibc(file):
    """The oldest version of glibc, (major, minor), that has all symbols which the ELF file needs."""
    versions = [(2, 5)]
    for section in file.iter_sections():
        if isinstance(section, GNUVerNeedSection):
            for _, needed in section.iter_versions():
                found = (re.fullmatch(r"GLIBC_(\d+)\.(\d+)(\.\d+)?", version.name) for version in needed)
                versions += [(int(match[1]), int(match[2])) for match in found if match]
    return max(versions)


def mac_platform(data):
    """The platform tag of a file for macOS."""
    machine, _, _, count = struct.unpack_from("<4I", data, 4)
    at = 32
    for _ in range(count):
        command, size = struct.unpack_from("<2I", data, at)
        if command == LC_BUILD_VERSION:
            (oldest,) = struct.unpack_from("<I", data, at + 12)
            return f"macosx_{oldest >> 16}_{oldest >> 8 & 255}_{MAC_MACHINES[machine]}"
        at += size
    raise ValueError("the file does not say for which macOS it is")


def platform_of(path):
    """The platform tag: win_amd64, macosx_X_Y_MACHINE or manylinux_2_X_MACHINE, and linux_MACHINE where other libraries than
    the system's are needed."""
    with open(path, "rb") as stream:
        magic = stream.read(4)
        if magic[:2] == b"MZ":
            return "win_amd64"
        if magic == b"\xcf\xfa\xed\xfe":
            return mac_platform(magic + stream.read())
        if magic != b"\x7fELF":
            return re.sub(r"[-.]", "_", sysconfig.get_platform())
        file = ELFFile(stream)
        machine = MACHINES[file["e_machine"]]
        needed = {tag.needed for tag in file.get_section_by_name(".dynamic").iter_tags() if tag.entry.d_tag == "DT_NEEDED"}
        if needed <= SYSTEM_LIBRARIES:
            return "manylinux_{}_{}_{}".format(*oldest_glibc(file), machine)
        return f"linux_{machine}"


class ExtensionHook(BuildHookInterface):
    """The wheel's part of the build."""

    def initialize(self, version, build_data):
        given = os.environ.get("CLREDUCE_EXTENSION")
        if given:
            path = find_extension(given)
        else:
            self.folder = tempfile.TemporaryDirectory()
            path = build_extension(self.folder.name)
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform_of(path)}"
        build_data["force_include"][path] = "clreduce/clreduce" + os.path.splitext(path)[1]
        build_data["extra_metadata"][os.path.join(SOURCES, "LICENSE")] = "LICENSE"
