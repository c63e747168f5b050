"""Sizes that a small file only claims: a view takes no memory for them, and answers as its SELECT.

Each database is read in a process of its own, which says how much its memory has grown.
"""

import json
import resource
import sqlite3
import struct
import subprocess
import sys

import support
import tap
import view_support as views

#: Bytes that a process may grow by; with sanitizers memory is counted otherwise.
MOST = 200 << 20

PAGE = 1024
FRAME = 24 + PAGE

SELECT = "SELECT gpu_sum(a), count(*), gpu_max(b), count(b) FROM t"


def make(path):
    """The bytes of a small database, and of its log with a commit."""
    db = sqlite3.connect(path, isolation_level=None)
    support.execute(db, f"PRAGMA page_size = {PAGE}", "PRAGMA journal_mode = WAL", "CREATE TABLE t(a INT, b REAL)",
                    support.numbered("t", 500, "i, i / 4.0"), "PRAGMA wal_checkpoint(TRUNCATE)",
                    "UPDATE t SET a = a + 1 WHERE rowid < 20")
    images = []
    for suffix in ("", "-wal"):
        with open(path + suffix, "rb") as file:
            images.append(file.read())
    db.close()
    views.remove(path)
    return images


def checksum(data, order, sums):
    """The log's checksum, https://sqlite.org/fileformat2.html, section 4.2."""
    first, second = sums
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for one, other in zip(words[::2], words[1::2]):
        first = (first + one + second) & 0xFFFFFFFF
        second = (second + other + first) & 0xFFFFFFFF
    return first, second


def with_log_size(log, size):
    """The log with that number of pages in its last commit, and checksums that are right."""
    data = bytearray(log)
    order = ">" if data[3] & 1 else "<"
    last = 32 + ((len(data) - 32) // FRAME - 1) * FRAME
    struct.pack_into(">I", data, last + 4, size)
    sums = struct.unpack_from(">II", data, last - FRAME + 16 if last > 32 else 24)
    sums = checksum(bytes(data[last : last + 8]), order, sums)
    sums = checksum(bytes(data[last + 24 : last + FRAME]), order, sums)
    struct.pack_into(">II", data, last + 16, *sums)
    return bytes(data)


def with_header_size(image, size):
    """The database with that number of pages in its header, which says that it is valid."""
    data = bytearray(image)
    struct.pack_into(">I", data, 28, size)
    data[92:96] = data[24:28]
    return bytes(data)


def with_payload_size(image):
    """The database with a cell that claims to be as long as a varint of four bytes can say."""
    data = bytearray(image)
    for start in range(PAGE, len(data), PAGE):
        if data[start] == 13:
            cells = struct.unpack_from(">H", data, start + 3)[0]
            at = start + struct.unpack_from(">H", data, start + 8 + 2 * (cells // 2))[0]
            data[at : at + 4] = b"\xff\xff\xff\x7f"
            return bytes(data)
    raise AssertionError("no leaf")


def child(path):
    """What the view and the SELECT give, and how much memory came to be used, as JSON."""
    try:
        db = views.connect(path)
    except views.ERRORS as error:  # newer versions refuse such a file at once
        print(json.dumps([repr(error), [repr(error)], 0, "not opened"]))
        return
    want = views.outcome(db, SELECT)
    views.through_view(db, "SELECT gpu_sum(x) FROM (SELECT 1 AS x)")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    got = [views.through_view(db, SELECT), views.ask(db, "view_of_it")]
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    plan = views.outcome(db, "SELECT line FROM clreduce_plan('view_of_it') LIMIT 1")
    print(json.dumps([repr(want), [repr(one) for one in got], (after - before) << 10, str(plan)]))


def read(path, images, what, accelerated=None):
    """Reads the database in a process of its own. Returns whether it took little memory."""
    for suffix, data in zip(("", "-wal"), images):
        with open(path + suffix, "wb") as file:
            file.write(data)
    result = subprocess.run([sys.executable, __file__, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    views.remove(path)
    if not tap.ok(result.returncode == 0, f"{what}: the process ends well"):
        tap.diag(result.stderr)
        return False
    want, got, grown, plan = json.loads(result.stdout)
    tap.diag(f"{what}: {plan}; memory grew by {grown} bytes")
    same = all(one == want or ("error" in one and "malformed" in one) for one in got)
    tap.ok(same, f"{what}: as the SELECT has it")
    if not same:
        tap.diag(f"{got}, directly {want}")
    if accelerated is not None:
        tap.ok(("('accelerated" in plan) == accelerated, f"{what}: {plan}")
    if tap.SANITIZED:
        tap.skip(1, f"{what}: a sanitizer's memory is not counted")
        return True
    return tap.ok(grown < MOST, f"{what}: memory grew by {grown >> 20} MiB")


def test(path):
    image, log = make(path)
    pages = len(image) // PAGE
    read(path, (image, log), "as it was", accelerated=True)
    # The first would take 1 GiB of a map of all pages: if it does, the others are not tried.
    for size in (0x0FFFFFFF, 0x7FFFFFFF, 0xFFFFFFF0, 0xFFFFFFFF):
        if not read(path, (image, with_log_size(log, size)), f"{size:#x} pages in a commit"):
            return
    read(path, (image, with_log_size(log, pages + 1)), "a page more in a commit")
    for size in (0x0FFFFFFF, 0xFFFFFFFE, 0xFFFFFFFF, pages + 1):
        read(path, (with_header_size(image, size), b""), f"{size:#x} pages in the header")
    read(path, (with_payload_size(image), b""), "a payload of 268,435,455 bytes")
    read(path, (image[: len(image) // 2], b""), "half of the file")
    read(path, (image[: len(image) // 2], log), "half of the file, with its log")


if len(sys.argv) > 1:
    child(sys.argv[1])
else:
    test(views.new())
    tap.done()
