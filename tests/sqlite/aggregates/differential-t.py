"""Random queries: the aggregates against SQLite's own, on data for which those are exact.

The values are small integers and multiples of 1/8, so that no sum of the built-ins rounds, and both
must agree in type and in every bit. A query is written once, with @sum(...) for the function: the
twin of gpu_dot(a, b) is sum((a) * (b)).
"""

import itertools
import re
import sqlite3

import support
import tap

#: Queries in each check.
QUERIES = 60 if tap.QUICK else 1000

COLUMNS = {
    "i": "integers or NULL",
    "j": "integers",
    "r": "reals or NULL, never whole",
    "q": "reals, some whole",
    "s": "text or NULL",
    "m": "any storage class; no INTEGER equals a REAL",
}
INTEGERS = (
    "i",
    "j",
    "i + j",
    "i * j",
    "-i",
    "length(s)",
    "i % 5",
    "coalesce(i, 100)",
    "a.g * 2",
    "CASE WHEN i > 0 THEN j END",
    "CAST(q AS INTEGER)",
    "i IS NULL",
    "1",
    "NULL",
)
REALS = (
    "r",
    "q",
    "r + q",
    "i + 0.5",
    "r * 2",
    "q * j",
    "CASE WHEN j < 0 THEN r ELSE q END",
    "0.25",
    "CAST(i AS REAL)",
    "abs(r)",
    "-q",
)
ANYTHING = (
    "m",
    "s",
    "i",
    "r",
    "q",
    "upper(s)",
    "coalesce(s, m)",
    "CAST(s AS BLOB)",
    "m || ''",
    "NULL",
    "j || s",
    "CASE WHEN j > 0 THEN m ELSE s END",
)
CONDITIONS = (
    "i > 0",
    "r IS NOT NULL",
    "s LIKE '%a%'",
    "j % 3 = 1",
    "a.g IN (1, 2)",
    "h = 'x'",
    "q < 2.5",
    "1",
    "0",
    "m > 3",
    "i IS NULL",
    "typeof(m) = 'text'",
    "NOT (i > j)",
)
KEYS = ("a.g", "h", "j % 4", "s", "typeof(m)", "i > 0", "a.g + 1", "NULL", "substr(s, 1, 1)")
FRAMES = (
    "",
    "ROWS {n} PRECEDING",
    "ROWS BETWEEN {n} PRECEDING AND {n} FOLLOWING",
    "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
    "ROWS BETWEEN {n} FOLLOWING AND 9 FOLLOWING",
    "ROWS BETWEEN 9 PRECEDING AND {n} PRECEDING",
    "RANGE BETWEEN {n} PRECEDING AND CURRENT ROW",
    "RANGE BETWEEN UNBOUNDED PRECEDING AND {n} FOLLOWING",
    "GROUPS {n} PRECEDING",
    "GROUPS BETWEEN {n} PRECEDING AND {n} FOLLOWING",
    "GROUPS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
    "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
    "RANGE BETWEEN CURRENT ROW AND {n} FOLLOWING",
)
EXCLUDES = ("", "", "", "EXCLUDE CURRENT ROW", "EXCLUDE TIES", "EXCLUDE GROUP")

#: What can stand in FROM; each has the columns of the table under the name `a`.
SOURCES = (
    "t AS a",
    "v AS a",
    "(SELECT * FROM t WHERE {where}) AS a",
    "(SELECT * FROM t ORDER BY m DESC LIMIT {n} * 7) AS a",
    "t AS a JOIN u ON u.g = a.g",
    "t AS a LEFT JOIN u ON u.g = a.g AND u.w > {n}",
    "t AS a, (SELECT {n} AS w UNION ALL SELECT 0) AS u",
    "(SELECT * FROM t UNION ALL SELECT * FROM v) AS a",
    "(SELECT DISTINCT 0 AS id, g, h, i, j, r, q, s, m FROM t) AS a",
    "(SELECT * FROM t WHERE 0) AS a",
)


class Writer:
    """Writes random queries."""

    def __init__(self, rng):
        self.rng = rng
        self.pick = rng.choice

    def number(self):
        """A small number for a frame or a limit."""
        return self.rng.randint(0, 5)

    def call(self, plain=True):
        """A call of an aggregate; DISTINCT only where it is no window function."""
        kind = self.rng.randrange(8)
        distinct = "DISTINCT " if plain and self.rng.random() < 0.2 else ""
        if kind < 3:
            return f"@{self.pick(('min', 'max'))}({distinct}{self.pick(ANYTHING)})"
        if kind < 6:
            return f"@{self.pick(('sum', 'total', 'avg'))}({distinct}{self.pick(INTEGERS + REALS)})"
        if kind < 7:
            return f"@dot({self.pick(INTEGERS)}, {self.pick(INTEGERS)})"
        return f"@dot({self.pick(REALS)}, {self.pick(INTEGERS + REALS)})"

    def aggregate(self):
        """An aggregate, sometimes with a filter or inside an expression."""
        text = self.call()
        if self.rng.random() < 0.3:
            text += f" FILTER (WHERE {self.pick(CONDITIONS)})"
        if self.rng.random() < 0.15:
            text = self.pick(
                ("typeof({})", "coalesce({}, 'none')", "({}) IS NULL", "quote({})")
            ).format(text)
        return text

    def source(self):
        """The FROM clause."""
        text = self.pick(SOURCES)
        return text.format(where=self.pick(CONDITIONS).replace("a.g", "g"), n=self.number())

    def plain(self, columns=None):
        """An aggregate query, with or without groups."""
        count = columns or self.rng.randint(1, 5)
        query = f"SELECT {', '.join(self.aggregate() for _ in range(count))} FROM {self.source()}"
        if self.rng.random() < 0.4:
            query += f" WHERE {self.pick(CONDITIONS)}"
        return query

    def grouped(self, columns=None):
        """A query with GROUP BY, perhaps HAVING and ORDER BY."""
        keys = self.rng.sample(KEYS, self.rng.randint(1, 2))
        count = columns or self.rng.randint(1, 4)
        calls = [self.aggregate() for _ in range(count)]
        shown = calls if columns else keys + calls
        query = f"SELECT {', '.join(shown)} FROM {self.source()}"
        if self.rng.random() < 0.3:
            query += f" WHERE {self.pick(CONDITIONS)}"
        query += f" GROUP BY {', '.join(keys)}"
        if self.rng.random() < 0.4:
            bound = self.pick(("> 0", "IS NOT NULL", "< 'a'", "<> 1"))
            query += f" HAVING {self.call()} {bound}"
        if not columns and self.rng.random() < 0.5:
            query += f" ORDER BY {self.pick(calls)} DESC, {', '.join(keys)}"
        return query

    def window(self):
        """Window functions over random frames."""
        frame = self.pick(FRAMES).format(n=self.number())
        if frame:
            frame += " " + self.pick(EXCLUDES)
        partition = self.pick(("", "", "PARTITION BY a.g", "PARTITION BY h"))
        order = "ORDER BY j" if frame.startswith(("RANGE", "GROUPS")) else "ORDER BY j, id"
        calls = []
        for _ in range(self.rng.randint(1, 3)):
            call = self.call(plain=False)
            # SQLite's own min() and max() ignore a filter over frames from which rows leave.
            if self.rng.random() < 0.25 and not call.startswith(("@min", "@max")):
                call += f" FILTER (WHERE {self.pick(CONDITIONS)})"
            calls.append(f"{call} OVER w")
        source = self.pick(("t AS a", "v AS a", "(SELECT * FROM t WHERE i IS NOT NULL) AS a"))
        return (
            f"SELECT id, {', '.join(calls)} FROM {source}"
            f" WINDOW w AS ({partition} {order} {frame}) ORDER BY id"
        )

    def window_over_groups(self):
        """Window functions over the groups' aggregates."""
        inner = self.pick(("@sum(i)", "@total(q)", "@max(r)", "@dot(i, j)", "@avg(j * 4)"))
        outer = self.pick(("@sum", "@min", "@max", "@total"))
        if inner.startswith("@avg"):
            outer = self.pick(("@min", "@max"))
        return (
            f"SELECT a.g, {outer}({inner}) OVER (ORDER BY a.g ROWS {self.number()} PRECEDING)"
            f" FROM t AS a GROUP BY a.g ORDER BY a.g"
        )

    def nested(self):
        """Subqueries, compounds, common table expressions, views of aggregates."""
        kind = self.rng.randrange(6)
        if kind == 0:
            operator = self.pick(("UNION ALL", "UNION", "EXCEPT", "INTERSECT"))
            return f"{self.plain(2)} {operator} {self.grouped(2)}"
        if kind == 1:
            inner = f"SELECT {self.aggregate_of_u()} FROM u WHERE u.g = t.g"
            return f"SELECT id, ({inner}) FROM t ORDER BY id"
        if kind == 2:
            return f"WITH c(x) AS ({self.grouped(1)}) SELECT @min(x), @max(x), count(x) FROM c"
        if kind == 3:
            return f"SELECT id FROM t AS a WHERE i > ({self.plain(1)}) ORDER BY id"
        if kind == 4:
            return (
                "WITH RECURSIVE n(k) AS"
                f" (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < {self.number()} * 40)"
                " SELECT @sum(k), @avg(k * 0.5), @max(k), @dot(k, k), @total(-k) FROM n"
            )
        return f"SELECT x.*, y.* FROM ({self.plain()}) AS x, ({self.plain()}) AS y"

    def aggregate_of_u(self):
        """An aggregate over the table u, which may refer to the row outside."""
        return self.pick(
            (
                "@sum(u.w)",
                "@max(u.w + t.j)",
                "@dot(u.w, t.j)",
                "@avg(u.w)",
                "@min(t.s || u.w)",
                "@total(u.w * t.q)",
            )
        )


def matching(text, start):
    """The index of the parenthesis that closes the one at the start."""
    depth = 0
    for index in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[index], 0)
        if depth == 0:
            return index
    raise ValueError(text)


def builtin(query):
    """The query with SQLite's own functions."""
    while "@dot(" in query:
        start = query.index("@dot(")
        end = matching(query, start + 4)
        left, right = split_arguments(query[start + 5 : end])
        query = f"{query[:start]}sum(({left}) * ({right})){query[end + 1:]}"
    return query.replace("@", "")


def split_arguments(text):
    """The two arguments of a call."""
    depth = 0
    for index, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            return text[:index], text[index + 1 :]
    raise ValueError(text)


def ours(query):
    """The query with the extension's functions."""
    return re.sub(r"@(\w+)\(", r"gpu_\1(", query)


def data(rng):
    """Random rows of the table t."""
    anything = (
        None,
        1,
        5,
        -3,
        2.5,
        -7.25,
        0.125,
        "a",
        "B",
        "b",
        "",
        "12",
        b"a",
        b"",
        b"c\x00",
        "\u00e9",
    )
    for number in range(rng.choice((0, 1, 40, 120))):
        yield (
            number,
            rng.randrange(4),
            rng.choice("xyz"),
            rng.choice((None, rng.randint(-9, 9))),
            rng.randint(-20, 20),
            rng.choice((None, rng.randint(-40, 40) + rng.choice((0.5, 0.125)))),
            rng.randint(-80, 80) / 8,
            rng.choice((None, "a", "ab", "", "B", "aba", "10")),
            rng.choice(anything),
        )


def populate(connections, rng):
    """New tables with the same rows in all connections."""
    rows, more = list(data(rng)), [(rng.randrange(5), rng.randint(-5, 5)) for _ in range(12)]
    for db in connections:
        db.executescript("""DROP VIEW IF EXISTS v; DROP TABLE IF EXISTS t; DROP TABLE IF EXISTS u;
            CREATE TABLE t(id INTEGER PRIMARY KEY, g INT, h TEXT, i INT, j INT, r, q, s TEXT, m);
            CREATE TABLE u(g INT, w INT);
            CREATE VIEW v AS SELECT * FROM t WHERE j > -10;""")
        db.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        db.executemany("INSERT INTO u VALUES (?, ?)", more)


def compare(batch, connections, query):
    """The built-ins' answer against ours, over every connection."""
    want = support.rows(connections[0][1], builtin(query))
    if isinstance(want, support.Failure):
        batch.check(False, f"the built-ins fail: {want.message}\n  {builtin(query)}")
        return
    for label, db in connections:
        got = support.rows(db, ours(query))
        if not isinstance(got, support.Failure) and "ORDER BY" not in query.rsplit(")", 1)[-1]:
            # Rows of no stated order: what the plan of the query left behind does not matter.
            got, ordered = sorted(got, key=repr), sorted(want, key=repr)
        else:
            ordered = want
        batch.compare(got, ordered, f"{label}: {ours(query)}\n  {builtin(query)}")


def test_kind(rng, connections, name, write):
    """A check of many random queries of one kind."""
    batch = support.Batch(f"{QUERIES} random queries: {name}")
    for number in range(QUERIES):
        if number % 40 == 0:
            populate([db for _, db in connections], rng)
        compare(batch, connections, write())
    batch.end()


def test_order_inside(rng, connections):
    """ORDER BY inside an aggregate changes nothing."""
    if sqlite3.sqlite_version_info < (3, 44):
        tap.skip(1, f"ORDER BY inside an aggregate: SQLite {sqlite3.sqlite_version} has it not")
        return
    batch = support.Batch("ORDER BY inside an aggregate")
    populate([db for _, db in connections], rng)
    for argument, order in itertools.product(INTEGERS + REALS, ("m", "j DESC", "s, r")):
        function = rng.choice(("sum", "total", "avg", "min", "max"))
        query = f"SELECT @{function}({argument} ORDER BY {order}) FROM t AS a"
        compare(batch, connections, query)
    batch.end()


def main():
    rng = support.seed()
    writer = Writer(rng)
    connections = [("host", support.connect())]
    connections += [
        (f"{mode}, chunks of 16", support.connect(mode, **support.SMALL))
        for mode in support.modes()
    ]
    kinds = (
        ("aggregates", writer.plain),
        ("GROUP BY", writer.grouped),
        ("windows", writer.window),
        ("windows over groups", writer.window_over_groups),
        ("nested", writer.nested),
    )
    for name, write in kinds:
        test_kind(rng, connections, name, write)
    test_order_inside(rng, connections)
    if not support.skip_device(1, "queries on a device"):
        support.took_part(connections[-1][1], "the queries")
    tap.done()


main()
