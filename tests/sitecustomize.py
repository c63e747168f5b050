"""Python runs this at its start: CLREDUCE_TEST_DRIVER names a package to be used as sqlite3.

Drivers of PyPI have an SQLite built in, as pysqlite3-binary and sqlean.py; the Python tests then run
in that one.
"""

import importlib
import os
import sys

_driver = os.environ.get("CLREDUCE_TEST_DRIVER")
if _driver:
    sys.modules["sqlite3"] = importlib.import_module(f"{_driver}.dbapi2")
