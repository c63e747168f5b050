"""Loads clreduce into Datasette's connections, accelerates the statements of all pages, and makes the accelerated views that
the configuration names."""

import secrets

import datasette.database
from datasette import hookimpl
from datasette.utils.sqlite import sqlite3

PLUGIN = "datasette-clreduce"

#: What visitors could change for others, or write: their SQL runs on connections that all share.
REFUSED = (("clreduce_accelerate", 0), ("clreduce_accelerate", 1), ("clreduce_evict", 0), ("clreduce_set", 2))
REWRITE = "clreduce_rewrite"

#: What the configuration may have, and in JSON each is.
KEYS = {"path": (str, "a string"), "views": (dict, "an object"), "accelerate": (list, "an array"), "settings": (dict, "an object")}


class ConfigurationError(RuntimeError):
    """The plugin's configuration cannot be followed; the message says which part."""


def accelerated_class():
    """The class of connections whose statements are accelerated; none without the Python package."""
    try:
        from clreduce.acceleration import REWRITE as ask_for
        from clreduce.connections import connection_class
        from clreduce.statements import ask
    except ImportError:
        return ()

    # A visitor's text is never the one that may be asked, nor one that SQLite has prepared for this.
    ask_for += f" -- {secrets.token_hex()}"

    class Connection(connection_class(sqlite3)):
        """A connection of Datasette's. It may ask for accelerated statements, and visitors may not."""

        asks = ()

        def prepare(self):
            """Waits for begin(): the configuration says what is loaded."""
            self.watch("configuration", True)

        def begin(self):
            """Has statements be accelerated from now on."""
            self.asks = []
            self.set_authorizer(None)
            self.watch("configuration", False)

        def set_authorizer(self, authorizer_callback):
            """As sqlite3's: another plugin's goes behind this one's."""
            asks = self.asks

            def authorize(action, name, function, *others):
                if not asks and isinstance(function, str) and function.lower() == REWRITE:
                    return sqlite3.SQLITE_DENY
                return sqlite3.SQLITE_OK if authorizer_callback is None else authorizer_callback(action, name, function, *others)

            sqlite3.Connection.set_authorizer(self, authorize)
            self.watch("authorizer", authorizer_callback is not None)

        def rewrite(self, sql, is_first=False):
            """The text of the accelerated statement of another one, or None. Connections are of several threads: none is first."""
            self.asks.append(sql)
            try:
                return ask(self, ask_for, sql)
            finally:
                self.asks.pop()

    return Connection


class DatasetteSqlite3:
    """The module sqlite3, for Datasette to open its connections."""

    def __init__(self):
        self.accelerated = accelerated_class()

    def __getattr__(self, name):
        return getattr(sqlite3, name)

    def connect(self, *arguments, **options):
        """As sqlite3's."""
        if self.accelerated and hasattr(sqlite3.Connection, "enable_load_extension"):
            options.setdefault("factory", self.accelerated)
        return sqlite3.connect(*arguments, **options)


# Datasette has no hook for the class of its connections.
datasette_sqlite3 = datasette.database.sqlite3 = DatasetteSqlite3()


@hookimpl
def prepare_connection(conn, database, datasette):
    """Called for each connection that Datasette opens, of which every thread has one for each database."""
    load(conn, configuration(datasette).get("path"))
    own = configuration(datasette, database)
    for name, value in own.get("settings", {}).items():
        run(conn, f"setting {name}", "SELECT clreduce_set(?, ?)", (name, value))
    for name, select in own.get("views", {}).items():
        quoted = name.replace('"', '""')
        run(conn, f"view {name} of {database}", f'CREATE VIRTUAL TABLE temp."{quoted}" USING clreduce(({select}))')
    for name in own.get("accelerate", []):
        run(conn, f"view {name} of {database}", "SELECT clreduce_accelerate(?)", (name,))
    for name, arguments in REFUSED:
        conn.create_function(name, arguments, refuse)
    if isinstance(conn, datasette_sqlite3.accelerated):
        conn.begin()
    else:
        for arguments in (1, 2):
            conn.create_function(REWRITE, arguments, refuse)


def configuration(datasette, database=None):
    """The plugin's part of the configuration: a database's own, or else the whole instance's. Empty if there is none.

    A null in it is as good as nothing.
    """
    own = datasette.plugin_config(PLUGIN, database=database) or {}
    for key, value in own.items():
        kind, name = KEYS.get(key, (None, None))
        if kind is None:
            raise ConfigurationError(f'{PLUGIN}: the configuration has no "{key}": it has {", ".join(KEYS)}')
        if value is not None and not isinstance(value, kind):
            raise ConfigurationError(f'{PLUGIN}: "{key}" in the configuration must be {name}, not {value!r}')
    return {key: value for key, value in own.items() if value is not None}


def load(conn, path):
    """Loads the file that the configuration names, or else that of the Python package clreduce."""
    if path is None:
        try:
            import clreduce
        except ImportError:
            raise ConfigurationError(f"{PLUGIN}: pip install ./packaging/python in a checkout of clreduce, or set "
                                     '"path" in the configuration of the plugin to the path of clreduce.so') from None
        clreduce.load(conn)
        return
    conn.enable_load_extension(True)
    try:
        conn.load_extension(path)
    except Exception as error:
        raise ConfigurationError(f"{PLUGIN}: {path} cannot be loaded: {error}") from error
    finally:
        conn.enable_load_extension(False)


def run(conn, what, sql, parameters=()):
    try:
        conn.execute(sql, parameters).fetchall()
    except Exception as error:
        raise ConfigurationError(f"{PLUGIN}: {what}: {error}") from error


def refuse(*_):
    raise PermissionError("only the plugin's configuration may call this function")
