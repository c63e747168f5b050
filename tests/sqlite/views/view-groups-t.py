"""Accelerated views with GROUP BY and DISTINCT, and of rows that are found by a scan.

A view gives the rows of its SELECT, in the same order where SQLite does not read an index: keys of
every type, collation and affinity, expressions of them, HAVING, ORDER BY and LIMIT over groups, and
all aggregates, each of them for each group. SQLite itself fetches rows of which few pass WHERE.
"""

import json
import re
import sqlite3

import support
import tap
import view_support as views
from view_texts import COLUMNS, Writer, change, connect, fill, is_fast

FOLDER = views.Folder()
STATEMENTS = 120 if tap.QUICK else 3_000
#: Two columns do not fit, and the dictionaries of a few do: the table streams.
LITTLE = 100_000

NUMERIC_KEYS = (
    "n", "n % 5", "x > 0", "round(x / 100) * 100", "kind", "price", "n / 10", "abs(n) % 3", "kind + 1",
    "x IS NULL", "'c'", "CASE WHEN n > 50 THEN 2 WHEN n > 0 THEN 1 END", "-n", "id % 7", "n % 3 + kind", "epoch / 86400",
)
CALLS = (
    "count(*)", "count(x)", "gpu_sum(x)", "gpu_sum(n)", "gpu_avg(x)", "gpu_total(price)", "gpu_min(x)", "gpu_max(n)",
    "sum(n)", "avg(kind)", "min(n)", "max(price)", "total(n)", "gpu_stddev_samp(x)", "gpu_var_pop(n)",
    "gpu_corr(x, n)", "gpu_dot(x, price)", "gpu_median(x)", "gpu_percentile(n, 90)", "gpu_mode(kind)",
    "gpu_count_distinct(n)", "gpu_count_distinct(city)", "gpu_min(city)", "gpu_max(substr(day, 1, 7))",
    "gpu_histogram(x, -50, 50, 3)", "gpu_sum_state(x)", "gpu_avg_state(n)", "gpu_sum(x) FILTER (WHERE n > 0)",
    "count(*) FILTER (WHERE city = 'ORD')", "gpu_sum(length(city))", "gpu_sum(x * n)", "gpu_max(any)",
    "gpu_sum(CASE WHEN day > '2001-01-20' THEN n END)", "round(gpu_avg(x), 2)", "'n=' || count(*)",
    "gpu_max(n) - gpu_min(n)", "count(DISTINCT day)", "count(DISTINCT n % 7)", "min(city)", "max(day)",
    "count(DISTINCT any) FILTER (WHERE x > 0)", "CASE WHEN count(*) > 100 THEN 'many' ELSE 'few' END",
)


class GroupWriter(Writer):
    """Writes random SELECTs with groups."""

    def key(self):
        """A key: a column, a number or an expression."""
        kind = self.rng.random()
        if kind < 0.35:
            return f'"{self.pick(list(COLUMNS))}"'
        if kind < 0.65:
            return self.pick(NUMERIC_KEYS)
        return self.value(self.pick(list(COLUMNS)), 1)

    def grouped(self):
        """A SELECT with GROUP BY."""
        self.values = []
        keys = [self.key() for _ in range(self.pick((1, 1, 1, 2, 2, 3)))]
        items = [*keys, *(self.pick(CALLS) for _ in range(self.rng.randint(0, 4)))]
        self.rng.shuffle(items)
        names = [f"i{i}" if self.rng.random() < 0.4 else None for i in range(len(items))]
        terms = []
        for key in keys:
            at = items.index(key)
            terms.append(self.pick((key, key, str(at + 1), names[at] or key)))
        listed = ", ".join(item + (f" AS {name}" if name else "") for item, name in zip(items, names))
        text = f"SELECT {self.pick(('', '', '', 'DISTINCT '))}{listed} FROM t"
        if self.rng.random() < 0.5:
            text += f" WHERE {self.where()}"
        text += f" GROUP BY {', '.join(terms)}"
        if self.rng.random() < 0.3:
            text += f" HAVING {self.having(keys, names)}"
        return text + self.ordered(keys, len(items), names)

    def having(self, keys, names):
        """A condition over groups."""
        named = next(filter(None, names), None)
        kind = self.rng.randrange(5)
        if kind == 0:
            return f"{keys[0]} > {self.literal()}"
        if kind == 1:
            return f"gpu_sum(x) > 0 OR {keys[-1]} = {self.literal()}"
        if kind == 2 and named:
            return f"{named} > 3"
        return self.pick(("count(*) > 5", f"{keys[0]} IS NOT NULL"))

    def ordered(self, keys, items, names):
        """ORDER BY and LIMIT, or not."""
        text = ""
        if self.rng.random() < 0.5:
            choices = [*keys, "count(*)", "gpu_sum(n)", *map(str, range(1, items + 1)), *filter(None, names)]
            terms = [
                self.pick(choices) + self.pick(("", " ASC", " DESC", " DESC NULLS LAST"))
                for _ in range(self.rng.randint(1, 3))
            ]
            text += f" ORDER BY {', '.join(terms)}"
        if self.rng.random() < 0.2:
            text += f" LIMIT {self.rng.randint(0, 7)}" + self.pick(("", " OFFSET 2"))
        return text

    def distinct(self):
        """A SELECT DISTINCT."""
        self.values = []
        items = [self.key() for _ in range(self.pick((1, 1, 2)))]
        where = f" WHERE {self.where()}" if self.rng.random() < 0.5 else ""
        return f"SELECT DISTINCT {', '.join(items)} FROM t{where}" + self.ordered(items, len(items), [])


    def rows(self):
        """A SELECT of rows, of which few pass mostly."""
        self.values = []
        items = [
            self.pick(("*", "t.*", "id", "rowid AS r")) if self.rng.random() < 0.6 else self.key()
            for _ in range(self.pick((1, 1, 2, 3)))
        ]
        where = self.where()
        if self.rng.random() < 0.8:
            where = f"({where}) AND {self.pick(('id % 61 = 3', 'n = 7', 'x > 122', 'n BETWEEN 3 AND 4 AND price > 0'))}"
        text = f"SELECT {', '.join(items)} FROM t WHERE {where}"
        if self.rng.random() < 0.6:
            terms = [self.key() + self.pick(("", " DESC")) for _ in range(self.rng.randint(1, 2))]
            text += f" ORDER BY {', '.join(terms)}" + self.pick(("", "", " LIMIT 5", " LIMIT 3 OFFSET 2"))
        return text


    def nested(self):
        """A SELECT from a subquery, whose columns have other names or meanings."""
        self.values = []
        inner = [self.key(), self.key(), self.pick(("x", "n", "x * 2", "kind")), self.pick(("city", "n", "lower(day)"))]
        names = self.pick((("a1", "b1", "c1", "d1"), ("day", "n", "x", "city"), ("n", "x", "kind", "id")))
        listed = ", ".join(f"{item} AS {name}" for item, name in zip(inner, names))
        where = f" WHERE {self.where()}" if self.rng.random() < 0.5 else ""
        a, b, c, d = (self.pick(("", "", "s.")) + name for name in names)
        source = f"(SELECT {self.pick((listed, listed, '*, ' + listed))} FROM {self.pick(('t', 't AS t'))}{where}) AS s"
        outer = self.pick((
            f"SELECT {a} AS g, gpu_sum({c}), count({d}) FROM {source} GROUP BY {a}",
            f"SELECT {b}, {a}, gpu_avg({c}), count(*) AS {names[1]} FROM {source} GROUP BY {a}, {b}",
            f"SELECT gpu_sum({c}), count(DISTINCT {d}), gpu_max({a}) FROM {source} WHERE {b} IS NOT NULL",
            f"SELECT upper({d}) || '!' AS {names[0]}, gpu_max({c}) FROM {source} WHERE {c} > 0 GROUP BY upper({d}) || '!'",
            f"SELECT DISTINCT {a}, {d} FROM {source} WHERE {d} <> 3",
            f"SELECT count(*) FROM {source} GROUP BY {a}, {d} HAVING {d} > 3 OR count({c}) > 5",
        ))
        return outer + self.pick(("", "", " ORDER BY 1", f" ORDER BY {names[0]} DESC", f" ORDER BY {names[1]}, 1"))


def as_reals(result):
    """Rows with their integers as REALs: SQLite 3.40's sorter gives a REAL that is whole, and goes
    through CASE or such a function, as an INTEGER."""
    return [
        tuple(float(value) if isinstance(value, int) and abs(value) < 2**53 else value for value in row)
        if isinstance(row, tuple) else row
        for row in result
    ] if isinstance(result, list) else result


def test_differential(rng, encoding, statements, memory=0):
    """Random SELECTs over the table, which changes in between, in so much column_memory."""
    db = connect(FOLDER.new())
    support.configure(db, column_memory=memory)
    db.execute(f"PRAGMA encoding = '{encoding}'")
    fill(db, rng)
    db.commit()
    tally = views.Tally()
    batch = support.Batch(f"{encoding}, column_memory {memory}: {statements} random SELECTs and their views")
    writer = GroupWriter(rng)
    for i in range(statements):
        if i % 40 == 39:
            change(db, rng)
        select = rng.choices((writer.grouped, writer.rows, writer.nested, writer.distinct), (6, 2, 2, 1))[0]()
        want = views.outcome(db, select, writer.values)
        got = views.through_view(db, select, writer.values)
        both = [views.comparable(got), views.comparable(want)]
        if "price" in select and re.search("CASE|iif|nullif|coalesce", select):
            both = [as_reals(rows) for rows in both]
        batch.compare(*both, f"{select} {writer.values}")
        if not isinstance(want, views.Failure):
            tally.add(db, "view_of_it", hosts_own=True)
    batch.end()
    tally.require(0.4, f"{encoding}, column_memory {memory}")
    if memory:
        streamed = support.stats(db)["scans_streamed"]
        tap.ok(streamed > statements / 5, f"{encoding}: {streamed} of {statements} streamed")
    db.close()


#: Indexes that SQLite may read groups by, in orders that are not that of the keys.
INDEXES = (
    "t(a)", "t(a DESC)", "t(b, a)", "t(a, b)", "t(a, b DESC)", "t(b)", "t(b, a, x)", "t(a COLLATE NOCASE)",
    "t(x, b, a)", "t(upper(a))",
)


def test_indexes(rng):
    """The rows' order where SQLite reads an index, or the primary key."""
    for schema in ("id INTEGER PRIMARY KEY, a TEXT, b INT, x REAL",
                   "id INT, a TEXT, b INT, x REAL, PRIMARY KEY(b, id)",
                   "id INT, a TEXT, b INT, x REAL, PRIMARY KEY(a DESC, id)"):
        without = " WITHOUT ROWID" if "id)" in schema else ""
        db = connect(FOLDER.new())
        db.execute(f"CREATE TABLE t({schema}){without}")
        db.executemany("INSERT INTO t VALUES(?, ?, ?, ?)", (
            (i, rng.choice(("x", "Y", "zz", "", "x1")), rng.randint(1, 9), i / 8) for i in range(3_000)))
        db.commit()
        batch = support.Batch(f"{schema}{without}: the order of the rows with indexes")
        tally = views.Tally()
        for index in (None, *INDEXES):
            db.execute("DROP INDEX IF EXISTS i")
            if index:
                db.execute(f"CREATE INDEX i ON {index}")
            for select in ("SELECT a, count(*) FROM t GROUP BY a", "SELECT a, b, gpu_sum(x) FROM t GROUP BY a, b",
                           "SELECT DISTINCT a FROM t", "SELECT DISTINCT b, a FROM t", "SELECT DISTINCT a, b FROM t",
                           "SELECT b, gpu_sum(x) FROM t WHERE a = 'x' GROUP BY b", "SELECT DISTINCT b FROM t WHERE a > 'x'",
                           "SELECT upper(a) AS u, count(*) FROM t GROUP BY u", "SELECT id % 5, count(*) FROM t GROUP BY 1",
                           "SELECT id, gpu_sum(x) FROM t WHERE id < 50 GROUP BY id", "SELECT a, b FROM t GROUP BY b, a",
                           "SELECT b, id FROM t WHERE id < 50 GROUP BY b, id", "SELECT a, b FROM t GROUP BY a, b ORDER BY b, a DESC",
                           "SELECT a, count(*) AS n FROM t GROUP BY a ORDER BY n / 1000", "SELECT DISTINCT a FROM t ORDER BY a DESC"):
                want = views.outcome(db, select)
                # Columns that SQLite fills are kept when they are asked for again.
                views.create(db, "view_of_it", select)
                for _ in range(4 if without else 1):
                    views.ask(db, "view_of_it")
                batch.compare(views.ask(db, "view_of_it"), want, f"{index}: {select}")
                tally.add(db, "view_of_it", hosts_own=True)
        batch.end()
        tally.require(0.4, schema)
        db.close()


def test_collations(rng):
    """Keys of other collating sequences: accelerated where no two of them are equal and yet differ,
    which may come and go."""
    db = connect(FOLDER.new())
    db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, city TEXT, code TEXT COLLATE NOCASE, trimmed TEXT COLLATE RTRIM, x REAL)")
    words = ["ORD", "lax", "Jfk", "", "a b", "Zürich", "ab", "_x", "[", "ba"]
    db.executemany("INSERT INTO t(city, code, trimmed, x) VALUES(?, ?, ?, ?)", (
        (*(rng.choice((*words, None)) for _ in range(3)), rng.randint(-99, 99) / 8) for _ in range(3_000)))
    db.commit()
    keys = ("code", "trimmed", "city COLLATE NOCASE", "city COLLATE rtrim", "city COLLATE backwards", "upper(code)",
            "substr(trimmed, 1, 2)", "code COLLATE BINARY", "code = 'ord'")
    batch = support.Batch("keys of other collating sequences")
    tally = views.Tally()

    def ask(select):
        batch.compare(views.comparable(views.through_view(db, select)), views.comparable(views.outcome(db, select)), select)
        tally.add(db, "view_of_it", hosts_own=True)
        return views.plan(db, "view_of_it")[0]

    for _ in range(60 if tap.QUICK else 400):
        key, other = rng.choice(keys), rng.choice((*keys, "x > 0", "city"))
        listed = rng.sample([key.split(" COLLATE ")[0], "gpu_sum(x)", key, "count(*) AS n", "min(upper(code))", "count(DISTINCT upper(trimmed))", f"upper({key})"], 3)
        ask(f"SELECT {', '.join(listed)} FROM t GROUP BY {key}{rng.choice(('', ', ' + other))}"
            + rng.choice(("", " HAVING count(*) > 20", f" HAVING length({key}) > 1 OR {key}"))
            + rng.choice(("", f" ORDER BY {key} DESC", " ORDER BY 1, 2", f" ORDER BY upper({key}), {key}", f" ORDER BY count(*), {other}", f" ORDER BY {other} LIMIT 3")))
    tally.require(0.7, "keys of other collating sequences")
    select = "SELECT code, gpu_sum(x) FROM t GROUP BY code"
    tap.is_equal(ask(select), "accelerated: host", "no two are equal")
    id_of = db.execute("SELECT id FROM t WHERE code = 'ORD' LIMIT 1").fetchone()[0]
    db.execute(f"UPDATE t SET code = 'ord' WHERE id = {id_of}")
    equal = "row by row: keys are equal by their collating sequence and yet differ: SQLite names the group by one of them"
    tap.is_equal(ask(select), equal, "one is written otherwise")
    tap.is_equal(ask(f"{select.replace('GROUP', 'WHERE id <> {} GROUP').format(id_of)}"), "accelerated: host", "and left out by WHERE")
    db.execute(f"UPDATE t SET code = 'ORD' WHERE id = {id_of}")
    tap.is_equal(ask(select), "accelerated: host", "and written back")
    db.execute("BEGIN")
    db.execute("UPDATE t SET code = upper(code)")
    ask(select)
    db.rollback()
    tap.is_equal(ask(select), "accelerated: host", "taken back")
    db.execute("UPDATE t SET city = 'ab  ' WHERE id = 5")
    db.commit()
    tap.is_equal(ask("SELECT city, count(*) FROM t GROUP BY city COLLATE RTRIM"), equal, "spaces at the end")
    tap.is_equal(ask("SELECT city, count(*) FROM t GROUP BY city COLLATE NOCASE"), "accelerated: host", "which NOCASE sees")
    db.create_collation("backwards", lambda a, b: 0)
    tap.is_equal(ask("SELECT city, count(*) FROM t GROUP BY city COLLATE backwards"), equal, "all are equal")
    batch.end()
    db.close()


#: Columns of every affinity, and another table's.
AFFINITIES = {"r": "REAL", "i": "INTEGER", "m": "NUMERIC", "s": "TEXT", "c": "TEXT COLLATE NOCASE", "a": "", "b": "BLOB"}
INNER = ("w TEXT", "u INTEGER", "v REAL", "z", "q NUMERIC", "d BLOB", "e TEXT COLLATE NOCASE")
LITERALS = ("5", "5.0", "'5'", "'5.0'", "0", "'a'", "2.5", "'2.5'", "x'35'", "'A'", "NULL", "-1", "'-1'", "1e1", "'1e1'")


class HavingWriter:
    """Writes random SELECTs that compare and compute with their keys, whose affinities decide what comes of it."""

    def __init__(self, rng):
        self.rng, self.pick, self.values = rng, rng.choice, []

    def key(self):
        """A key of any affinity, or none."""
        name, kind = self.pick(list(AFFINITIES)), self.pick(("TEXT", "REAL", "INTEGER", "NUMERIC", "BLOB"))
        return self.pick((
            name, name, name, name, f"CAST({name} AS {kind})", f"CAST({name} AS {kind})", f"CAST({name} || '' AS {kind})",
            f"CAST({name} + 0 AS {kind})", f"+{name}", f"+CAST({name} AS {kind})", f"{name} + 0", f"{name} || ''", f"-{name}",
            f"likely({name})", f"unlikely(CAST({name} AS {kind}))", f"coalesce({name}, 5)", f"{name} COLLATE NOCASE",
            f"iif({name} > 1, {name}, 0)", f"nullif({name}, 1)",
        ))

    def constant(self):
        """A literal or a parameter."""
        if self.rng.random() < 0.85:
            return self.pick(LITERALS)
        self.values.append(self.pick((5, 5.0, "5", "a", 2.5, None, b"5")))
        return f"?{len(self.values)}"

    def used(self, use):
        """A key, or what SQLite may look through on its way to it."""
        return self.pick((use, use, use, use, f"+{use}", f"likely({use})", f"({use})", f"+likely({use})", f"unlikely(+{use})",
                          f"likelihood({use}, 0.5)", f"{use} COLLATE NOCASE", f"CAST({use} AS TEXT)"))

    def condition(self, uses):
        """A condition about keys."""
        use, kind = self.pick(uses), self.rng.randrange(12)
        if kind < 3:
            return f"{self.used(use)} {self.pick(('=', '=', '<', '>=', '<>', 'IS'))} {self.constant()}"
        if kind < 4:
            return f"{self.used(use)} {self.pick(('=', '<', 'IS'))} {self.used(self.pick(uses))}"
        if kind < 5:
            return f"{use} = {self.pick(('count(*)', 'max(x)', 'gpu_sum(x)'))}"
        if kind < 6:
            return f"typeof({use}) = '{self.pick(('real', 'integer', 'text'))}'"
        if kind < 7:
            return f"{use} / 2 = 2.5"
        if kind < 8:
            return f"{self.used(use)} BETWEEN {self.constant()} AND {self.constant()}"
        if kind < 9:
            return f"{self.used(use)} {self.pick(('', 'NOT '))}IN ({self.constant()}, {self.constant()})"
        if kind < 11:
            return f"{self.used(self.pick((use, use, 'count(*)')))} {self.pick(('', 'NOT '))}IN (SELECT {self.pick('wuvzqde')} FROM o)"
        return f"{self.used(use)} = (SELECT {self.pick('wuvzqde')} FROM o LIMIT 1 OFFSET {self.rng.randrange(5)})"

    def select(self):
        """A SELECT, whose keys may be a subquery's columns, and its items have names."""
        self.values = []
        keys = [self.key() for _ in range(self.pick((1, 1, 2)))]
        uses, source, names = [key if key in AFFINITIES else f"({key})" for key in keys], "t", [""] * len(keys)
        if self.rng.random() < 0.2:
            source = f"(SELECT {', '.join(f'{key} AS k{i}' for i, key in enumerate(keys))}, x FROM t)"
            keys = uses = [f"k{i}" for i in range(len(keys))]
        elif self.rng.random() < 0.2:
            names = [f" AS n{i}" for i in range(len(keys))]
        items = [*map("".join, zip(keys, names)), "count(*)"]
        items += [self.pick((f"typeof({uses[0]})", f"{uses[-1]} / 2", self.condition(uses))) for _ in range(self.rng.randrange(3))]
        text = f"SELECT {', '.join(items)} FROM {source} GROUP BY {', '.join(keys)}"
        named = uses + [name.removeprefix(" AS ") for name in names if name]
        if self.rng.random() < 0.8:
            text += f" HAVING {self.pick((' AND ', ' AND ', ' OR ')).join(self.condition(named) for _ in range(self.pick((1, 2, 2, 3))))}"
        if self.rng.random() < 0.4:
            text += f" ORDER BY {self.pick((self.condition(named), self.used(self.pick(named)), '2'))}{self.pick(('', ' DESC'))}, 1"
        return text


def test_affinities(rng):
    """What a key is compared with is converted as in the SELECT, and its value and type are the column's."""
    db = connect(FOLDER.new())
    db.execute(f"CREATE TABLE t({', '.join(f'{name} {kind}' for name, kind in AFFINITIES.items())}, x REAL)")
    words = ("5", "5.0", "-1", "0", "a", "5x", "1e1", "", "2.5")
    values = {"r": (0.0, 1.0, 2.5, 5.0, -1.0), "i": (0, 1, 2, 5, 10, -1), "m": (0, 1, 5, -1), "s": words, "c": words,
              "a": (0.5, 1.0, 2.5, 5.0, 7.5), "b": (0, 5.5, "5", b"5", b"a")}
    db.executemany(f"INSERT INTO t VALUES({', '.join('?' * len(AFFINITIES))}, ?)", (
        (*(None if rng.random() < 0.05 else rng.choice(values[name]) for name in AFFINITIES), i / 8) for i in range(800)))
    db.execute(f"CREATE TABLE o({', '.join(INNER)})")
    db.executemany("INSERT INTO o VALUES(?, ?, ?, ?, ?, ?, ?)", (
        ("5", 5, 5.0, 5, 5, b"5", "A"), ("5.0", 0, 2.5, 5.0, 2.5, 5, "5"), ("a", 10, None, "5", 0, None, "a"), ("1e1", -1, 0.5, 2, 10, b"a", "0"), (None, 1, 1, -1, -1, 1, "1")))
    db.commit()
    for select in ("SELECT r, count(*) FROM t GROUP BY r HAVING r = 5 AND r / 2 = 2.5",
                   "SELECT r, count(*) FROM t GROUP BY r HAVING r = 5 AND typeof(r) = 'real'",
                   "SELECT CAST(i AS REAL), count(*) FROM t GROUP BY 1 HAVING CAST(i AS REAL) = 5 AND CAST(i AS REAL) / 2 = 2.5",
                   "SELECT likely(s), count(*), likely(s) IN (SELECT e FROM o) FROM t GROUP BY likely(s)",
                   "SELECT CAST(likely(s) AS TEXT), count(*), CAST(likely(s) AS TEXT) IN (SELECT e FROM o) FROM t GROUP BY 1",
                   "SELECT k, count(*) FROM (SELECT iif(s > 1, s, 0) AS k FROM t) GROUP BY k HAVING k IN (SELECT +e FROM o)"):
        is_fast(db, select)
    real = "SELECT r, count(*) FROM t GROUP BY r HAVING r = ?1 AND r / 2 = 2.5 AND typeof(r) = 'real'"
    is_fast(db, real, (5,))
    for wrapped in ("+i", "likely(i)", "unlikely(i)", "likelihood(i, 0.5)", "+likely(i)", "likely(+i)", "+m", "likely(m)", "+n", "(i)", "coalesce(i, 3)"):
        for inner in INNER:
            select = (f"SELECT i, m, i AS n, typeof(i), typeof(m), count(*) FROM t GROUP BY i, m"
                      f" HAVING {wrapped} IN (SELECT {inner.split()[0]} FROM o)")
            tap.is_equal(views.through_view(db, select), views.outcome(db, select), select)
    writer, tally = HavingWriter(rng), views.Tally()
    batch = support.Batch("random SELECTs that compare their keys")
    for _ in range(4 * STATEMENTS):
        select = writer.select()
        numbers = list(dict.fromkeys(re.findall(r"\?(\d+)", select)))
        values = [writer.values[int(number) - 1] for number in numbers]
        select = re.sub(r"\?(\d+)", lambda found, numbers=numbers: f"?{numbers.index(found[1]) + 1}", select)
        got, want = views.through_view(db, select, values), views.outcome(db, select, values)
        batch.compare(views.comparable(got), views.comparable(want), f"{select} {values}")
        if not isinstance(want, views.Failure):
            tally.add(db, "view_of_it", hosts_own=True)
    batch.end()
    tally.require(0.3, "keys that are compared")
    db.close()


#: An expression that may be JSON by its subtype, or is not, of the column j.
JSON = ("json(j)", "json_extract(j, '$.a')", "j -> '$.a'", "json_quote(json(j))", "json_quote(j)", "json_array(j)", "json_set(j, '$.b', json('[1]'))",
        "coalesce(NULL, json(j))", "iif(n > 3, json(j), j)", "nullif(json(j), 1)", "likely(json(j))", "+json(j)", "max(json(j), '')",
        "CAST(json(j) AS TEXT)", "j", "upper(json(j))", "json(j) || ''", "json_extract(j, '$.a[0]')", "json_type(j)", "tagged(j)", "passed(json(j))")
#: What is made of it.
READ = ("json_array({})", "json_object('k', {}, 'n', count(*))", "json_quote({})", "json_set('{{}}', '$.a', {})", "json_array(+{})",
        "json_array(coalesce({}, 1))", "json_array(CASE WHEN 1 THEN {} END)", "json_array(json({}))", "json_array({} || '')",
        "json_array(json_array({}))", "json_array(upper({}))", "json_array(passed({}))", "json_type({})", "json_array(1, 'a')",
        "json_array(gpu_histogram(n, 0, 9, 3), {})", "json_insert('[]', '$[0]', max({}))", "json_array(min({}))", "json_array(gpu_max({}))")


def test_subtypes(rng):
    """JSON functions tell JSON from other text as in the SELECT: of keys, of aggregates and of a subquery's columns."""
    db = connect(FOLDER.new())
    db.create_function("tagged", 1, lambda text: text, deterministic=True)
    db.create_function("passed", 1, lambda text: text, deterministic=True)
    db.execute("CREATE TABLE t(j TEXT, n INTEGER)")
    db.executemany("INSERT INTO t VALUES(?, ?)", ((f'{{"a": [{i % 7}]}}', i % 7) for i in range(1000)))
    db.commit()
    tally = views.Tally()
    batch = support.Batch("random SELECTs with JSON and their views")
    for i in range(2 * STATEMENTS):
        key = rng.choice(JSON)
        read, other = (rng.choice(READ) for _ in range(2))
        alone = not any(call in read + other for call in ("max(", "min(", "count("))
        select = rng.choice((
            f"SELECT {key}, {read.format(key)} FROM t GROUP BY {key} HAVING {other.format(key)} LIKE '[%' ORDER BY {other.format(key)}",
            f"SELECT {read.format(key)} FROM t GROUP BY n",
            f"SELECT {read.format(f'max({key})')}, {other.format(f'gpu_max({key})')} FROM t",
            f"SELECT {key} AS k, count(*) FROM t GROUP BY k HAVING {read.format('k')} LIKE '[%'",
            f"SELECT {read.format('x')} FROM (SELECT {key} AS x, n FROM t) GROUP BY {'1' if alone else 'x'}",
            f"SELECT n, count(*), gpu_max({read.format('x') if alone else 'x'}) FROM (SELECT {key} AS x, n FROM t) GROUP BY n",
            f"SELECT count(*) FROM (SELECT {key} AS x, n FROM t) WHERE {read.format('x') if alone else 'x'} LIKE '[[%'",
            f"SELECT count(*) FROM t WHERE {read.format(key) if alone else key} LIKE '[[%'",
        ))
        got, want = views.through_view(db, select), views.outcome(db, select)
        batch.compare(views.comparable(got), views.comparable(want), select)
        if not isinstance(want, views.Failure):
            tally.add(db, "view_of_it", hosts_own=True)
    batch.end()
    tally.require(0.2, "JSON")
    for select in ("SELECT json_array(n, count(*)), json_object('day', upper(j)) FROM t GROUP BY n, upper(j)",
                   "SELECT json_array(json(json(j))), json_array(json(j) || '') FROM t GROUP BY json(j)",
                   "SELECT json_array(json(max(json(j)))), json_array(max(n)), json_array(gpu_histogram(n, 0, 9, 3)) FROM t"):
        # Older versions have JSON functions as an application has its own, of which less is known.
        if sqlite3.sqlite_version_info >= (3, 38):
            is_fast(db, select)
    why = ("row by row: json_array() asks whether its argument is JSON, which is not known of a key, an aggregate or a subquery's column:"
           " write json(argument) if it is JSON, else argument || ''")
    for select in ("SELECT json_array(json_extract(j, '$.a')) FROM t GROUP BY json_extract(j, '$.a')", "SELECT json_array(max(json(j))) FROM t",
                   "SELECT json_array(x) FROM (SELECT json(j) AS x FROM t) GROUP BY 1"):
        tap.is_equal(views.through_view(db, select), views.outcome(db, select), select)
        tap.is_equal(views.plan(db, "view_of_it")[0], why, f"why not {select}")
    for select in ("SELECT json(j) AS x, count(*) FROM t GROUP BY json(j)", "SELECT max(json(j)) AS x FROM t", "SELECT json(j) AS x FROM t WHERE n = 3"):
        for threshold in (0, 100_000):
            support.configure(db, view_threshold=threshold)
            views.create(db, "json_view", select)
            want = {(json.dumps([x], separators=(",", ":")),) for (x, *_) in views.outcome(db, select)}
            tap.is_equal(set(views.outcome(db, "SELECT json_array(x) FROM json_view")), want, f"a view's column is TEXT, view_threshold {threshold}: {select}")
    db.close()


def test_inner_names():
    """Names of items that are those of the columns by which a query is finished."""
    db = connect(FOLDER.new())
    db.execute("CREATE TABLE t(s, x INT)")
    db.executemany("INSERT INTO t VALUES (?, ?)", ((f"{i % 7}", i) for i in range(300)))
    db.commit()
    for name in ("k:0:text", "K:0:Blob", "k:0:real", "c:0", "C:1", "c:source"):
        for select in ('SELECT s, count(*) AS "{}" FROM t GROUP BY s HAVING "{}" > 3', 'SELECT s, max(x) AS [{}] FROM t GROUP BY s ORDER BY -[{}]',
                       'SELECT count(*) AS "{}" FROM t ORDER BY "{}" + 1'):
            text = select.format(name, name)
            tap.is_equal(views.through_view(db, text), views.outcome(db, text), text)
    db.close()


def test_rights(rng):
    """An authorizer that hides, or refuses, what it does not know: the table of groups."""
    db = connect(FOLDER.new())
    fill(db, rng)
    db.commit()
    selects = ("SELECT city, gpu_sum(x) FROM t GROUP BY city", "SELECT DISTINCT kind FROM t",
               "SELECT * FROM t WHERE n = 7 AND kind = 3", "SELECT kind + 1, count(*) FROM t GROUP BY 1 HAVING count(*) > 3")
    for select in selects:
        is_fast(db, select)
        want = views.outcome(db, select)
        for verdict, hidden in ((2, "k:0:text"), (2, "k:0:numeric"), (2, "k:0:real"), (2, "k:0:blob"), (2, "c:0"), (2, "source"), (1, "source"), (2, "")):
            db.set_authorizer(
                lambda action, table, column, *rest, verdict=verdict, hidden=hidden:
                verdict if action == 20 and table == "clreduce_groups" and column == hidden else 0
            )
            tap.is_equal(views.through_view(db, select), want, f"{hidden!r} is {'hidden' if verdict == 2 else 'denied'}")
            db.set_authorizer(None)
    db.close()


def test_hidden():
    """Rows of an ordinary view are its own database's, whatever hides the table's name."""
    db = connect(FOLDER.new())
    db.execute("ATTACH ? AS [o\"ther]", (FOLDER.new(),))
    db.execute("CREATE TABLE [o\"ther].t(id INTEGER PRIMARY KEY, n INT, x)")
    db.executemany("INSERT INTO t VALUES(?, ?, ?)", ((i, i % 100, i / 8) for i in range(3_000)))
    db.execute("CREATE VIEW [o\"ther].few AS SELECT id, t.x FROM t WHERE n = 7")
    db.execute("SELECT clreduce_accelerate('few')")
    want = views.outcome(db, "SELECT * FROM [o\"ther].few")
    for table in (None, "temp.t", "main.t"):
        if table:
            db.execute(f"CREATE TABLE {table} AS SELECT id, n, -1 AS x FROM [o\"ther].t")
        tap.is_equal(views.outcome(db, "SELECT * FROM few"), want, f"rows beside {table}")
        tap.ok(views.accelerated(db, "few"), "accelerated")
    db.close()


def test_kept_values(rng):
    """Values of a view outlive the rows that they were in."""
    db = connect(FOLDER.new())
    fill(db, rng)
    db.commit()
    views.create(db, "g", "SELECT city, day, gpu_sum(x) AS s FROM t WHERE n > :least GROUP BY city, day")
    select = "SELECT city, day, gpu_sum(x) AS s FROM t WHERE n > {} GROUP BY city, day"
    asked = "SELECT max(city), min(day), max(length(city)) FROM (SELECT 0 AS n UNION ALL SELECT 40 UNION ALL SELECT 90), g(n)"
    parts = " UNION ALL ".join(f"SELECT * FROM ({select.format(n)})" for n in (0, 40, 90))
    want = views.outcome(db, f"SELECT max(city), min(day), max(length(city)) FROM ({parts})")
    tap.is_equal(views.outcome(db, asked), want, "the greatest of several answers")
    pair = views.outcome(db, "SELECT a.city, b.city, a.s FROM g(80) AS a, g(90) AS b WHERE a.day = b.day ORDER BY 1, 2, 3")
    want = views.outcome(db, f"SELECT a.city, b.city, a.s FROM ({select.format(80)}) AS a, ({select.format(90)}) AS b"
                             " WHERE a.day = b.day ORDER BY 1, 2, 3")
    tap.is_equal(pair, want, "one view beside itself")
    db.close()


def test_plain_rows():
    """Keys and aggregates that are asked for as they are: bytes of every sort, by one thread and by several, and
    rows that are read while the table changes."""
    db = connect(FOLDER.new())
    db.execute("CREATE TABLE z (k, n INTEGER)")
    db.execute("WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 60000) INSERT INTO z SELECT CASE n % 8"
               " WHEN 0 THEN 'a' WHEN 1 THEN 'a' || char(0) WHEN 2 THEN 'a' || char(0) || 'b' WHEN 3 THEN '' WHEN 4 THEN x''"
               " WHEN 5 THEN x'00' WHEN 6 THEN '\u00fc' || n ELSE printf('%0500d', n % 3) END, n % 1000 FROM c")
    db.commit()
    wanted = "k, count(*), sum(n), gpu_min(k), max(n), gpu_sum_state(n)"
    for select in (f"SELECT {wanted} FROM z GROUP BY k", f"SELECT sum(n), k, k, sum(n) FROM z WHERE k > x'' OR k < 'c' GROUP BY 2",
                   "SELECT DISTINCT k FROM z", f"SELECT {wanted} FROM z GROUP BY k, n % 7",
                   "SELECT n, k, rowid * 3 AS r, count(*), gpu_sum(n / 7.0), gpu_median(n) FROM z GROUP BY n, k, r", "SELECT (k), avg(n) FROM z GROUP BY k",
                   "SELECT k, gpu_var_pop(n), gpu_median(n), gpu_mode(n), gpu_percentile(n, 90), gpu_stddev_samp(n) FROM z GROUP BY k"):
        is_fast(db, select)
        tap.ok(views.through_view(db, select) == views.outcome(db, select), select)
    select = "SELECT k, count(*) FROM z GROUP BY k"
    want = db.execute(select).fetchall()
    views.create(db, "p", select)
    rows = db.execute("SELECT * FROM p")
    got = [rows.fetchone()]
    db.execute("DELETE FROM z WHERE k = 'a'")
    tap.ok(got + rows.fetchall() == want, "rows of before a change")
    want = db.execute(select).fetchall()
    db.execute("INSERT INTO z SELECT * FROM p")
    tap.ok(db.execute("SELECT k, n FROM z ORDER BY rowid DESC LIMIT ?", (len(want),)).fetchall() == want[::-1],
           "rows that go into their table")
    db.close()


def test_bounds():
    """SQLite's own sums of small INTEGERs, with one that is not small where no sample sees it."""
    db = connect(FOLDER.new())
    db.execute("CREATE TABLE b (k INTEGER, n INTEGER)")
    db.execute("WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 100000) INSERT INTO b SELECT n % 10, n % 5"
               " FROM c")
    db.commit()
    select = "SELECT k, sum(n), avg(n), total(n), count(n) FROM b GROUP BY k"
    is_fast(db, select)
    for value in (3, 1 << 40, -(1 << 40), (1 << 53) + 1, -(1 << 63), 0.1, None, "'text'"):
        value = "NULL" if value is None else value
        db.execute(f"UPDATE b SET n = {value} WHERE rowid = 3001")
        tap.is_equal(views.through_view(db, select), views.outcome(db, select), f"sums beside {value}")
    db.close()


def test_empty_groups():
    """A group of NULLs alone has no value, whatever is made of that."""
    db = connect(FOLDER.new())
    db.execute("CREATE TABLE e (k INTEGER, x)")
    db.execute("WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 9000) INSERT INTO e"
               " SELECT n % 3, CASE WHEN n % 3 > 0 THEN n / 4.0 END FROM c")
    db.commit()
    for call in ("gpu_histogram(x, 0, 9, 3)", "gpu_histogram_state(x, 0, 9, 3)", "gpu_median(x)", "gpu_mode(x)",
                 "gpu_count_distinct(x)", "gpu_sum_state(x)", "gpu_max(x)", "gpu_var_pop(x)"):
        select = f"SELECT k, {call}, {call} * 2, {call} IS NULL FROM e GROUP BY k"
        is_fast(db, select)
        tap.is_equal(views.through_view(db, select), views.outcome(db, select), call)
    db.close()


def main():
    rng = support.seed()
    test_empty_groups()
    test_plain_rows()
    test_bounds()
    test_collations(rng)
    test_affinities(rng)
    test_subtypes(rng)
    test_inner_names()
    test_rights(rng)
    test_hidden()
    test_kept_values(rng)
    test_indexes(rng)
    for encoding in ("UTF-8", "UTF-16le"):
        test_differential(rng, encoding, STATEMENTS)
        test_differential(rng, encoding, STATEMENTS // 2, LITTLE)
    tap.done()


main()
