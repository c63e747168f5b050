"""Tables and SELECTs for the contract of accelerated views."""

import support
import view_support as views

TABLES = """
    CREATE TABLE t(id INTEGER PRIMARY KEY, i INT, r REAL, s TEXT, m);
    INSERT INTO t VALUES (1, 10, 0.5, 'a', NULL), (2, -20, -0.0, '12', 3),
        (3, NULL, 1e308, '', 2.5), (4, 9223372036854775807, 1e308, 'b', x'00'),
        (5, 5, NULL, NULL, 'x'), (6, 10, 7, '5', -1);
    CREATE TABLE u(k INT, w REAL, "odd ""name" TEXT);
    INSERT INTO u VALUES (1, 10, 'p'), (2, 20.5, 'q'), (3, NULL, 'r'), (10, 7, 's');
"""


def fails(number):
    """A function that fails at the third row."""
    if number == 3:
        raise ValueError(number)
    return number


def opened(device="host"):
    """A connection with the tables."""
    db = views.connect(device=device)
    db.executescript(TABLES)
    db.create_function("fails", 1, fails)
    return db


def with_numbers():
    """A connection to a file with a table n."""
    db = views.connect(views.new())
    support.table(db, "n(k INT, x REAL)", ((i, i / 8) for i in range(100)))
    return db
