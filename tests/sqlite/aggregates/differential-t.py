"""Random queries: the aggregates against SQLite's own, on data for which those are exact.

The values are small integers and multiples of 1/8, so that no sum of the built-ins rounds, and both must agree in type
and in every bit. The queries are those of selects.grammar, where gpu_dot{a}{b} is also read as sum((a) * (b)).
"""

import re
import sqlite3

import support
import tap
from generate import Writer

#: Queries of a section.
QUERIES = {"aggregates": 300 if tap.QUICK else 5000, "ordered": 75}
DOT = re.compile(r"gpu_dot\{([^{}]*)\}\{([^{}]*)\}")
ANYTHING = (None, 1, 5, -3, 2.5, -7.25, 0.125, "a", "B", "b", "", "12", b"a", b"", b"c\x00", "\u00e9")


def data(rng):
    """Random rows of the table t: r is never whole, q is at times, and in m no INTEGER equals a REAL."""
    for number in range(rng.choice((0, 1, 40, 120))):
        yield (
            number, rng.randrange(4), rng.choice("xyz"), rng.choice((None, rng.randint(-9, 9))), rng.randint(-20, 20),
            rng.choice((None, rng.randint(-40, 40) + rng.choice((0.5, 0.125)))), rng.randint(-80, 80) / 8,
            rng.choice((None, "a", "ab", "", "B", "aba", "10")), rng.choice(ANYTHING),
        )


def populate(connections, rng):
    """New tables with the same rows in all connections."""
    rows, more = list(data(rng)), [(rng.randrange(5), rng.randint(-5, 5)) for _ in range(12)]
    for _, db in connections:
        db.executescript("""DROP VIEW IF EXISTS v; DROP TABLE IF EXISTS t; DROP TABLE IF EXISTS u;
            CREATE TABLE t(id INTEGER PRIMARY KEY, g INT, h TEXT, i INT, j INT, r, q, s TEXT, m);
            CREATE TABLE u(g INT, w INT);
            CREATE VIEW v AS SELECT * FROM t WHERE j > -10;""")
        db.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        db.executemany("INSERT INTO u VALUES (?, ?)", more)


def compare(batch, connections, query):
    """The built-ins' answer against ours, over every connection."""
    builtin, ours = DOT.sub(r"sum((\1) * (\2))", query).replace("gpu_", ""), DOT.sub(r"gpu_dot(\1, \2)", query)
    want = support.rows(connections[0][1], builtin)
    if isinstance(want, support.Failure):
        batch.check(False, f"the built-ins fail: {want.message}\n  {builtin}")
        return
    # Rows of no stated order: what the plan of the query left behind does not matter.
    ordered = list if "ORDER BY" in query.rsplit(")", 1)[-1] else lambda rows: sorted(rows, key=repr)
    for label, db in connections:
        got = support.rows(db, ours)
        got = got if isinstance(got, support.Failure) else ordered(got)
        batch.compare(got, ordered(want), f"{label}: {ours}\n  {builtin}")


@tap.each(*QUERIES.items())
def test_queries(connections, rng, section, count):
    """Queries of a section, over new rows now and then."""
    if section == "ordered" and sqlite3.sqlite_version_info < (3, 44):
        tap.skip(1, f"ORDER BY inside an aggregate: SQLite {sqlite3.sqlite_version} has it not")
        return
    batch, writer = support.Batch(f"{count} random queries: {section}"), Writer(rng, section, {}, None)
    for number in range(count):
        if number % 40 == 0:
            populate(connections, rng)
        compare(batch, connections, writer.select()[0])


def test_device(connections):
    """A device has done some of it."""
    if not support.skip_device(1, "queries on a device"):
        support.took_part(connections[-1][1], "the queries")


CONNECTIONS = [("host", support.connect())]
CONNECTIONS += [(f"{mode}, chunks of 16", support.connect(mode, **support.SMALL)) for mode in support.modes()]
support.run(globals(), connections=[CONNECTIONS])
