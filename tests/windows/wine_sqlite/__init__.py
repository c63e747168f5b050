"""An SQLite for Windows, run by wine, as Python's tests use sqlite3: CLREDUCE_TEST_DRIVER=wine_sqlite."""
