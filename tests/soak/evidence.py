"""What is kept of a difference: what SQLite logged, who had locks, the files as they were.

To be imported before sqlite3, which begins with its log as it is then.
"""

import collections
import ctypes
import os
import subprocess

CONFIG_LOG = 16

#: What SQLite logged last; a schema that has changed is nothing special here.
_messages = collections.deque(maxlen=40)
_SCHEMA = 17


@ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p)
def _note(_, code, message):
    if code & 0xFF != _SCHEMA:
        _messages.append(f"({code}) {message.decode(errors='replace')}")


def begin():
    """Has SQLite's messages kept, if it is the library that the system's Python takes."""
    try:
        library = ctypes.CDLL("libsqlite3.so.0")
    except OSError:
        return
    library.sqlite3_config(CONFIG_LOG, _note, None)


def _locks(path):
    """All processes' locks on a file, as the kernel tells them."""
    inode = f":{os.stat(path).st_ino} "
    with open("/proc/locks", encoding="ascii") as locks:
        return [line.strip() for line in locks if inode in line]


def gather(db, path, select, parameters):
    """What can be known in the transaction in which an answer was wrong: lines of text.

    The files are copied beside the database by another process: a descriptor that this one closed
    would take its locks with it.
    """
    lines = [f"process {os.getpid()}; locks on the database:", *_locks(path)]
    for name in (path, f"{path}-journal", f"{path}-wal"):
        if os.path.exists(name):
            lines.append(f"{name}: {os.stat(name).st_size} bytes, copied as it is now")
            subprocess.run(["cp", name, f"{name}.kept-{os.getpid()}"], check=False)
    for sql, values in (
        (select, parameters),
        ("PRAGMA quick_check", ()),
        ("PRAGMA page_count", ()),
        ("PRAGMA freelist_count", ()),
        ("PRAGMA schema_version", ()),
    ):
        try:
            lines.append(f"{sql}: {db.execute(sql, values).fetchall()!r}")
        except Exception as error:  # which is one more piece of evidence
            lines.append(f"{sql}: {getattr(error, 'sqlite_errorname', '')} {error}")
    return [*lines, "SQLite's log:", *_messages]
