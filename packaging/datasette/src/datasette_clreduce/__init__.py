"""Loads clreduce into Datasette's connections, and makes the accelerated views that the configuration names."""

from datasette import hookimpl

PLUGIN = "datasette-clreduce"

#: What visitors could change for others, or write: their SQL runs on connections that all share.
REFUSED = (("clreduce_accelerate", 0), ("clreduce_accelerate", 1), ("clreduce_evict", 0), ("clreduce_rewrite", 1),
           ("clreduce_set", 2))


#: What the configuration may have, and in JSON each is.
KEYS = {"path": (str, "a string"), "views": (dict, "an object"), "accelerate": (list, "an array"), "settings": (dict, "an object")}


class ConfigurationError(RuntimeError):
    """The plugin's configuration cannot be followed; the message says which part."""


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
