"""Every window frame: the aggregates against the exact answer for the rows of each frame.

SQLite itself tells which rows those are: group_concat() over the same window lists them. So the
test models no frames, only what an aggregate answers for a list of rows.
"""

import itertools
import math
import sqlite3

import support
import tap
from reference import INT_MAX, INT_MIN, Failure, Sum, answer, beats, extreme

BOUNDS_BEFORE = ("UNBOUNDED PRECEDING", "{n} PRECEDING", "CURRENT ROW", "{n} FOLLOWING")
BOUNDS_AFTER = ("{n} PRECEDING", "CURRENT ROW", "{n} FOLLOWING", "UNBOUNDED FOLLOWING")
EXCLUDES = ("", "EXCLUDE CURRENT ROW", "EXCLUDE GROUP", "EXCLUDE TIES", "EXCLUDE NO OTHERS")

ROWS = 24 if tap.QUICK else 32
LONG = 70_001


def bound_pairs():
    """The pairs of bounds that SQL allows: a frame does not start after its kind of end."""
    place = {text: index for index, text in enumerate(BOUNDS_BEFORE + BOUNDS_AFTER[-1:])}
    for start, end in itertools.product(BOUNDS_BEFORE, BOUNDS_AFTER):
        if place[start] <= place[end]:
            yield start, end


def integers(rng):
    """Small integers, and some that are not."""
    return rng.choice((rng.randint(-5, 5), rng.randint(-5, 5), 2**53 + 1, -(2**53), None))


def limits(rng):
    """Integers at the limits: some frames overflow."""
    return rng.choice((INT_MAX, INT_MIN, -INT_MAX, 1, -1, 2**62))


def reals(rng):
    """Reals whose running sum loses bits, in floating point, once the large ones have left."""
    return rng.choice((0.1, -0.3, 1e-300, 5e-324, 1e16, 1e300, -1e300, 0.0, -0.0, 1 / 3))


def extremes(rng):
    """What a running sum would never get rid of."""
    return rng.choice((math.inf, -math.inf, 1.7e308, -1.7e308, 1, 2.5, 3, -4, None, 0))


def mixed(rng):
    """All storage classes: REALs, TEXT and BLOBs come and go among INTEGERs."""
    return rng.choice((1, 2, 3, -7, 40, None, 2.0, 0.5, -3.25, "12", "x", "", b"3", b"", "2", 2**53 + 1))


def few(rng):
    """Equal values of several types, for the extremes."""
    return rng.choice((0, 0.0, -0.0, 1, 1.0, "1", "1", b"1"))


KINDS = (integers, limits, reals, extremes, mixed, few)


class Table:
    """A table of random rows: id, partition g, order o, filter f, values x and y.

    The order has ties: pairs, or in other tables half of all rows, more than a small chunk.
    """

    def __init__(self, rng, kind, db_list):
        self.peers = rng.choice((2, ROWS // 2))
        self.rows = [
            (i, rng.randrange(2), rng.randrange(self.peers), rng.randrange(3), kind(rng), kind(rng))
            for i in range(ROWS)
        ]
        self.values = [(row[4], row[5]) for row in self.rows]
        rng.shuffle(self.rows)
        self.name = kind.__name__
        for db in db_list:
            support.table(db, f"{self.name}(id, g, o, f, x, y)", self.rows)

    def frames(self, db, over, filtered):
        """The ids in the frame of each row, as SQLite lists them."""
        query = f"SELECT group_concat(id) {filtered} {over} FROM {self.name} ORDER BY id"
        return [() if row[0] is None else tuple(map(int, str(row[0]).split(","))) for row in db.execute(query)]

    def expected(self, function, frames):
        """A column of answers, or the one error that the whole query ends with."""
        column = []
        for frame in frames:
            want = answer(function, [self.values[i] for i in frame])
            if isinstance(want, Failure):
                return want
            column.append(want)
        return column


def compare(batch, db, table, over, filtered, label, frames):
    """All functions over one window, in one mode."""
    for function in support.FUNCTIONS:
        query = f"SELECT {support.call(function)} {filtered} {over} FROM {table.name} ORDER BY id"
        got = support.rows(db, query)
        if not isinstance(got, Failure):
            got = [row[0] for row in got]
        batch.compare(got, table.expected(function, frames), f"{label}: {query}")


def test_frames(rng, runs):
    """A check for each kind of frame and pair of bounds, over all exclusions and kinds of data."""
    host = runs[0][1]
    tables = [Table(rng, kind, [db for _, db in runs]) for kind in KINDS]
    for unit, (start, end) in itertools.product(("ROWS", "RANGE", "GROUPS"), bound_pairs()):
        batch = support.Batch(f"{unit} BETWEEN {start} AND {end}".format(n="n"))
        for number, exclude in enumerate(EXCLUDES):
            # The partition and the filter take turns with the exclusion, in every combination.
            chosen = rng.sample(tables, 2) if tap.QUICK else tables
            for table, turn in zip(chosen, itertools.count(number + rng.randrange(4))):
                partition = "PARTITION BY g" if turn & 1 else ""
                filtered = "FILTER (WHERE f > 0)" if turn & 2 else ""
                low, high = sorted((rng.randint(0, 3), rng.randint(1, 6)), reverse="PRECEDING" in end)
                direction = rng.choice(("", "DESC"))
                frame = f"{unit} BETWEEN {start.format(n=low)} AND {end.format(n=high)} {exclude}"
                over = f"OVER ({partition} ORDER BY o {direction} {frame})"
                if unit == "ROWS":
                    over = over.replace("ORDER BY o", "ORDER BY o, id")
                frames = table.frames(host, over, filtered)
                for label, db in runs:
                    compare(batch, db, table, over, filtered, label, frames)


def test_defaults(rng, runs):
    """Windows without a frame, without an order, named, and several in one query."""
    table = Table(rng, mixed_again, [db for _, db in runs])
    for what, over in (
        ("no order", "OVER ()"),
        ("a partition", "OVER (PARTITION BY g)"),
        ("an order with ties", "OVER (ORDER BY o)"),
        ("an order, backwards", "OVER (PARTITION BY g ORDER BY o DESC, id)"),
    ):
        batch = support.Batch(f"the default frame with {what}")
        for filtered in ("", "FILTER (WHERE f = 1)"):
            frames = table.frames(runs[0][1], over, filtered)
            for label, db in runs:
                compare(batch, db, table, over, filtered, label, frames)
    batch = support.Batch("all functions over two windows in one query")
    windows = (
        "(PARTITION BY g ORDER BY o, id ROWS 2 PRECEDING)",
        "(ORDER BY o RANGE BETWEEN 1 PRECEDING AND 2 FOLLOWING EXCLUDE TIES)",
    )
    for label, db in runs:
        columns = [f"{support.call(function)} OVER w{i}" for function in support.FUNCTIONS for i in (0, 1)]
        got = support.rows(
            db,
            f"SELECT {', '.join(columns)} FROM {table.name}"
            f" WINDOW w0 AS {windows[0]}, w1 AS {windows[1]} ORDER BY id",
        )
        frames = [table.frames(db, "OVER " + window, "") for window in windows]
        want = [table.expected(function, frames[i]) for function in support.FUNCTIONS for i in (0, 1)]
        failure = next((column for column in want if isinstance(column, Failure)), None)
        batch.compare(got, failure or list(zip(*want)), label)


def mixed_again(rng):
    """The kind `mixed`, in a table of another name."""
    return mixed(rng)


def long_values(rng, count):
    """A partition of many values, of a kind at a time, so that types enter and leave for long."""
    kinds = (
        lambda: rng.uniform(-1, 1),
        lambda: rng.randint(-(10**8), 10**8),
        lambda: 1e300 * rng.random(),
        lambda: rng.choice((1, 0.5, None)),
        lambda: rng.choice((5e-324, -1e-310)),
        lambda: rng.randint(-(10**8), 10**8),
    )
    return [(kinds[i * len(kinds) // count](), kinds[i * len(kinds) // count]()) for i in range(count)]


def remaining(pairs):
    """The answers for the frame from each row to the end: sum, dot, min, max."""
    total, dot = Sum(), Sum()
    least = greatest = None
    for x, y in reversed(pairs):
        total.add(x)
        dot.add_product(x, y)
        least, greatest = extreme((least, x), False), extreme((greatest, x), True)
        yield total.value(), dot.value(), least, greatest


def sliding(pairs, width):
    """The answers for the frame of each row and those before it, that many in all."""
    total, dot = Sum(), Sum()
    for i, (x, y) in enumerate(pairs):
        total.add(x)
        dot.add_product(x, y)
        if i >= width:
            total.add(pairs[i - width][0], -1)
            dot.add_product(*pairs[i - width], -1)
        yield total.value(), dot.value()


def sliding_extremes(pairs, width):
    """The extremes of each row and those before it, from queues of what may still count."""
    queues = ([], [])
    heads = [0, 0]
    for i, (x, _) in enumerate(pairs):
        for largest, queue in enumerate(queues):
            if heads[largest] < len(queue) and queue[heads[largest]][0] <= i - width:
                heads[largest] += 1
            if x is not None:
                while len(queue) > heads[largest] and not beats(queue[-1][1], x, bool(largest)):
                    queue.pop()
                queue.append((i, x))
        yield tuple(queue[head][1] if head < len(queue) else None for queue, head in zip(queues, heads))


def test_long(rng, modes):
    """Frames that fill chunks, and from which more leaves than a chunk holds."""
    count = 2001 if tap.QUICK else LONG
    pairs = long_values(rng, count)
    tails = list(remaining(pairs))[::-1]
    heads = list(remaining(pairs[::-1]))
    width = count // 3
    slides = [a + b for a, b in zip(sliding(pairs, width), sliding_extremes(pairs, width))]
    select = (
        "SELECT gpu_sum(x) OVER w, gpu_dot(x, y) OVER w, gpu_min(x) OVER w, gpu_max(x) OVER w"
        " FROM t WINDOW w AS (ORDER BY rowid ROWS BETWEEN {}) ORDER BY rowid"
    )
    for mode in modes:
        for chunk in (65536, 1000, 16):
            db = support.connect(mode, chunk_size=chunk, host_threshold=1)
            support.fill(db, pairs)
            what = f"{count} rows, {mode}, chunks of {chunk}"
            for frame, want in (
                ("CURRENT ROW AND UNBOUNDED FOLLOWING", tails),
                ("UNBOUNDED PRECEDING AND CURRENT ROW", heads),
                ("UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING", tails[:1] * count),
                (f"{width - 1} PRECEDING AND CURRENT ROW", slides),
            ):
                batch = support.Batch(f"{frame.replace(str(width - 1), 'many')}: {what}")
                got = support.rows(db, select.format(frame))
                if isinstance(got, Failure):
                    batch.compare(got, want[0], "the query")
                else:
                    for number, (left, right) in enumerate(zip(got, want)):
                        batch.compare(left, right, f"row {number}")
                    batch.compare(len(got), count, "rows")
            db.close()


INSIDE = """CREATE TABLE place(a, b); CREATE TABLE door(x);
    CREATE TRIGGER inside AFTER INSERT ON door BEGIN INSERT INTO place {query}; END;"""
OUTSIDE = """CREATE TABLE gate(x);
    CREATE TRIGGER outside AFTER INSERT ON gate BEGIN INSERT INTO door VALUES (1); END;"""

#: Where a query can stand: how to put it there, to see what it gives, and to take it away.
PLACES = {
    "a view": ("CREATE VIEW place AS {query}", "SELECT * FROM place", "DROP VIEW place"),
    "a new table": ("CREATE TABLE place AS {query}", "SELECT * FROM place", "DROP TABLE place"),
    "a subquery": ("SELECT 1", "SELECT (SELECT a FROM ({query})), (SELECT b FROM ({query}))", "SELECT 1"),
    "INSERT": ("CREATE TABLE place(a, b)", "INSERT INTO place {query} RETURNING *", "DROP TABLE place"),
    "UPDATE": (
        "CREATE TABLE place AS SELECT 1 AS a, 2 AS b",
        "UPDATE place SET (a, b) = ({query}) RETURNING *",
        "DROP TABLE place",
    ),
    "a trigger": (INSIDE + "INSERT INTO door VALUES (1)", "SELECT * FROM place", "DROP TABLE door; DROP TABLE place"),
    "a trigger of a trigger": (
        INSIDE + OUTSIDE + "INSERT INTO gate VALUES (1)",
        "SELECT * FROM place",
        "DROP TABLE gate; DROP TABLE door; DROP TABLE place",
    ),
    "a query that a function runs": (
        "SELECT 1",
        "SELECT run('SELECT a FROM ({query})'), gpu_max(b) FROM ({query})",
        "SELECT 1",
    ),
}


def test_places(modes):
    """A window function far from the text of the statement that the user runs."""
    if sqlite3.sqlite_version_info < (3, 35):
        tap.skip(1, "RETURNING came with SQLite 3.35")
        return
    pairs = [((i * 7919) % 1000, i) for i in range(1000)]
    over = "OVER (ORDER BY y ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)"
    inner = f"SELECT gpu_max(x) {over} AS p, gpu_min(x) {over} AS q FROM t"
    query = f"SELECT sum(p) AS a, sum(q) AS b FROM ({inner})"
    want = tuple(map(sum, zip(*((most, least) for _, _, least, most in remaining(pairs)))))
    for mode in modes:
        db = support.connect(mode, **support.SMALL)
        db.create_function("run", 1, lambda sql, db=db: support.value(db, sql))
        support.fill(db, pairs)
        for place, (prepare, select, drop) in PLACES.items():
            db.executescript(prepare.format(query=query))
            tap.is_equal(db.execute(select.format(query=query)).fetchone(), want, f"in {place}, {mode}")
            db.executescript(drop)
        db.close()


#: What the frame from row i to the last one has, row count. The first row is alone.
TAILS = {
    "gpu_max(-i)": lambda i, count: -i,
    "gpu_min(i)": lambda i, count: i,
    "gpu_min(i * 0.5)": lambda i, count: i * 0.5,
    "gpu_min(printf('%08d', i))": lambda i, count: f"{i:08d}",
    "gpu_max(CASE i % 3 WHEN 0 THEN -i WHEN 1 THEN -0.5 - i END)": lambda i, count: (
        -i if i % 3 == 0 else -0.5 - i if i % 3 == 1 else None if i == count else -i - 1
    ),
    "gpu_count_distinct(i / 2)": lambda i, count: count // 2 - i // 2 + 1,
    "gpu_count_distinct(i * 0.5)": lambda i, count: count - i + 1,
    "gpu_count_distinct('t' || i)": lambda i, count: count - i + 1,
    "gpu_mode(i)": lambda i, count: i,
    "gpu_median(i)": lambda i, count: (i + count) / 2,
    "gpu_sum(i)": lambda i, count: (count * (count + 1) - i * (i - 1)) // 2,
}


def test_new_names(modes):
    """Names of a running statement that come to mean something else: it goes on as it began."""
    count = 1000 if tap.QUICK else 40_001
    for mode in modes:
        db = support.connect(mode, **support.SMALL)
        support.execute(db, "SELECT clreduce_set('start_after', 0)", "CREATE TABLE t(g, i)", support.numbered("t", count, "i > 1, i"))
        for call, want in TAILS.items():
            db.executescript(
                f"""CREATE VIEW v AS SELECT i, {call} OVER w AS n FROM t WINDOW w AS
                    (PARTITION BY g ORDER BY i ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)"""
            )
            rows = db.execute("SELECT i, n FROM v")  # which steps to the first row
            db.execute("CREATE TEMP TABLE v(i, n)")
            batch = support.Batch(f"{call} of a view that is now hidden, {mode}")
            for i, got in rows:
                batch.compare(got, want(i, count if i > 1 else 1), f"row {i}")
            db.executescript("DROP TABLE temp.v; DROP VIEW v")
        db.close()


#: A frame that shrinks.
TAIL = "OVER (ORDER BY rowid ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)"


def test_memory():
    """Beyond values_memory a window is an error that says so, and the aggregate alone is none."""
    db = support.connect()
    support.fill(db, [(i, f"{i:040d}") for i in range(20_000)])
    support.configure(db, values_memory=400_000)
    for call, least in (("gpu_min(x)", 0), ("gpu_min(x * 0.5)", 0.0), ("gpu_min(y)", "0" * 40)):
        tap.is_equal(support.value(db, f"SELECT {call} FROM t"), least, f"{call}: the least")
        tap.is_equal(
            support.rows(db, f"SELECT {call} OVER (ORDER BY rowid) FROM t"),
            [(least,)] * 20_000,
            f"{call}: in a frame that grows",
        )
        got = support.rows(db, f"SELECT {call} {TAIL} FROM t")
        told = "gpu_min: the values that its window may come to would", "100000 bytes that the setting values_memory allows"
        tap.ok(support.is_refused(got, *told), f"{call}: in a frame that shrinks: {str(got)[:200]}")
        got = support.rows(db, f"SELECT {call} OVER (ORDER BY rowid DESC ROWS 99 PRECEDING) FROM t")
        tap.ok(isinstance(got, list), f"{call}: in a frame that slides")
    for name, query in (
        ("equal values", f"SELECT gpu_max('seven') {TAIL} FROM t"),
        ("long TEXT", "SELECT gpu_max(printf('%09999d', 99 - x)) OVER (ORDER BY rowid) FROM t WHERE x < 30"),
        ("extremes", f"SELECT gpu_min(x) {TAIL} FROM t WHERE x < 2000"),
        ("medians", f"SELECT gpu_median(x) {TAIL} FROM t WHERE x < 9000"),
    ):
        batch = support.Batch(f"{name} take no memory that is not given back")
        for turn in range(8):
            got = support.rows(db, query)
            batch.check(isinstance(got, list), f"turn {turn}: {str(got)[:200]}")
    support.configure(db, values_memory=0)


def test_empty():
    """An empty TEXT or BLOB is no NULL."""
    db = support.connect()
    for value in ("", b""):
        got = support.rows(db, "SELECT gpu_min(x) OVER (), gpu_max(x) OVER () FROM (SELECT ? AS x)", value)
        tap.is_equal(got, [(value, value)], f"the extremes of {value!r}")


def test_device(runs):
    """A device has done some of it."""
    if not support.skip_device(1, "windows on a device"):
        support.took_part(runs[-1][1], "the windows")


MODES = tuple(support.modes())
RUNS = ("host", support.connect()), *((f"{mode}, chunks of 16", support.connect(mode, **support.SMALL)) for mode in MODES)
support.run(globals(), runs=RUNS, modes=MODES)
