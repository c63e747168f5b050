"""Loading the extension into connections of the modules that Python has for SQLite."""

import importlib
import os
import shutil
import sys
import tempfile
import threading
from urllib.parse import quote

#: Modules with the interface of Python's own sqlite3, and the packages that bring them.
MODULES = ("sqlite3", "pysqlite3", "sqlean")

OTHERS = ("pip install pysqlite3-binary (import pysqlite3), pip install sqlean.py (import sqlean) or pip install apsw, "
          "and open the connection with that; or take a Python whose sqlite3 can: Linux distributions' own, and "
          "Homebrew's on macOS")


class LoadError(RuntimeError):
    """The extension could not be loaded; the message says what helps."""


def loadable_path():
    """The path of the extension without its ending, as SQLite's load_extension() takes it."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "clreduce")


def load(connection):
    """Loads the extension into a connection of sqlite3, pysqlite3, sqlean or apsw, and returns the connection.

    A connection that has it stays as it is. Loading of extensions is switched off afterwards.
    """
    can_load = getattr(connection, "enable_load_extension", None)
    if can_load is None:
        raise LoadError(unable(f"module {type(connection).__module__} of this Python ({sys.executable})"))
    try:
        can_load(True)
    except Exception as error:
        raise LoadError(unable(f"SQLite of module {type(connection).__module__} ({error})")) from error
    try:
        load_file(connection, loadable_path())
    finally:
        can_load(False)
    return connection


def unable(what):
    """The message for a module that cannot load extensions."""
    return f"clreduce: {what} cannot load extensions: {OTHERS}"


_copies = []
_copies_lock = threading.Lock()


def load_file(connection, path):
    """Loads a file. One file serves one copy of SQLite in a process: another copy of SQLite gets a copy of the file."""
    with _copies_lock:
        for file in [path, *(os.path.join(folder.name, "clreduce") for folder in _copies)]:
            if is_loaded(connection, file):
                return
        _copies.append(copy_file(path))
        is_loaded(connection, os.path.join(_copies[-1].name, "clreduce"))


def is_loaded(connection, file):
    """Loads the file, and returns whether it is no other SQLite's."""
    try:
        connection.load_extension(file)
    except Exception as error:
        if "serves another copy of SQLite" in str(error):
            return False
        raise LoadError(f"clreduce: {file} could not be loaded: {error}") from error
    return True


def copy_file(path):
    """A temporary folder, for as long as the process lives, that has a copy of the extension."""
    folder = tempfile.TemporaryDirectory(prefix="clreduce-")
    for end in (".so", ".dll", ".dylib"):
        if os.path.exists(path + end):
            shutil.copy(path + end, folder.name)
    return folder


def capable_module():
    """The first of the modules like sqlite3 whose connections can load extensions."""
    for name in MODULES:
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        if hasattr(module.Connection, "enable_load_extension"):
            return module
    raise LoadError(unable(f"module sqlite3 of this Python ({sys.executable})"))


def open_database(database, read_only=False, **options):
    """A connection with the extension, of sqlite3, or else of pysqlite3 or sqlean: the first that can load it.

    database is a path. read_only opens a file that exists for reading alone. The options are those of sqlite3.connect().
    """
    module = capable_module()
    if read_only:
        database = f"file:{quote(os.path.abspath(database))}?mode=ro"
        options["uri"] = True
    connection = module.connect(database, **options)
    try:
        return load(connection)
    except Exception:
        connection.close()
        raise
