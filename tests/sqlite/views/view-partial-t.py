"""Accelerated views whose WHERE a scan computes in part: it finds the few rows for which that part is
true, and SQLite runs the SELECT, with aggregates and GROUP BY or without, over these.

A view gives what its SELECT gives (clause 1 of view.h), in the same order.
"""

import support
import tap
import view_support as views

FOLDER = views.Folder()
ROWS = 4_000
SELECTS = 150 if tap.QUICK else 1_500

#: What a scan does not compute: several columns with text, and a column that hardly repeats.
OTHERS = ("url LIKE '%7%'", "url || city > 'http://2'", "city <> ref", "length(url) > length(city) + :length",
          "upper(url) GLOB '*1*'", "ref > 'r3'", "coalesce(city, url) < ?2", "url IS NOT ref")

#: What it computes; the first ones let few rows pass.
TERMS = ("x = 7", "x BETWEEN 20 AND 23", "x IN (1, 900, 901)", "x = :x", "(x = 5 AND y > 0)", "y > -900",
         "city = 'Oslo'", "n IS NOT NULL", "y < 500 OR n = 3")

CALLS = ("count(*)", "count(n)", "gpu_sum(y)", "sum(n)", "sum(y)", "avg(y)", "gpu_max(url)", "max(url)", "min(url || city)",
         "gpu_sum(length(url || city)) FILTER (WHERE n > ?2)", "count(DISTINCT city)", "gpu_median(y)", "gpu_count_distinct(url)",
         "total(y) + ?2", "gpu_histogram(y, -1000, 1000, 4)", "gpu_sum_state(y)")

ENDS = ("", "", " GROUP BY city", " GROUP BY city, n % 2 HAVING count(*) > 1 ORDER BY 1", " GROUP BY ?2 || city",
        " GROUP BY n ORDER BY max(url) LIMIT 3", " LIMIT 1")


def fill(db, rng, rows=ROWS, first=0):
    """Rows of which none has another one's url."""
    db.executemany(
        "INSERT INTO t(x, y, n, city, url, ref) VALUES(?, ?, ?, ?, ?, ?)",
        (
            (rng.randrange(1_000), rng.randint(-999, 999) / 8, rng.choice((None, 1, 2, 3)),
             rng.choice(("Oslo", "Rome", "rome", None)), f"http://{first + i}.org", rng.choice((f"r{rng.random()}", None)))
            for i in range(rows)
        ),
    )
    db.commit()


def make(rng):
    """A database with the table."""
    db = views.connect(FOLDER.new())
    db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, x INTEGER, y REAL, n INT, city TEXT, url TEXT, ref TEXT COLLATE NOCASE)")
    fill(db, rng)
    return db


def write(rng):
    """A SELECT of which most need SQLite, and have a condition that lets few rows pass."""
    terms = [rng.choice(TERMS[:5])] + rng.sample(TERMS[5:], rng.randint(0, 1)) + rng.sample(OTHERS, rng.randint(0, 2))
    rng.shuffle(terms)
    where = " AND ".join(f"({term})" if " OR " in term else term for term in terms)
    if rng.random() < 0.2:
        return f"SELECT id, url, y FROM t WHERE {where}" + rng.choice(("", " ORDER BY url DESC", " ORDER BY n, id LIMIT 4"))
    calls = ", ".join(rng.sample(CALLS, rng.randint(1, 3)))
    return f"SELECT {calls} FROM t WHERE {where}{rng.choice(ENDS)}"


def test_differential(rng):
    db = make(rng)
    batch = support.Batch("SELECTs of a few rows")
    tally = views.Tally()
    for i in range(SELECTS):
        select = write(rng)
        views.create(db, "v", select)
        given = [rng.choice((7, 0, "http://5", None)) for _ in range(4)]
        for _ in range(2):
            want, got = ask_both(db, select, given)
            batch.check(repr(views.comparable(want)) == repr(views.comparable(got)), f"{select}: {got}, not {want}, with {given}")
        tally.add(db, "v")
        db.execute("DROP TABLE temp.v")
        if i % 50 == 49:
            db.execute("UPDATE t SET x = (x + 1) % 1000 WHERE id % 7 = 0")
            fill(db, rng, 10, ROWS + i)
    batch.end()
    tally.require(0.8, "of them are accelerated")
    db.close()


def ask_both(db, select, given):
    """What the SELECT gives and its view, with as many parameters as it takes."""
    names = [row[1] for row in db.execute("PRAGMA table_xinfo(v)") if row[6] == 1]
    values = given[: len(names)]
    return views.outcome(db, select, values), views.ask(db, "v", values)


def test_asked(rng):
    """What is accelerated, and what is not."""
    db = make(rng)
    cases = (
        ("SELECT gpu_sum(y) FROM t WHERE x = 7 AND url LIKE '%1%'", True),
        ("SELECT gpu_sum(y) FROM t WHERE url LIKE '%1%' AND x = 7 AND ref > 'r2'", True),
        ("SELECT gpu_max(url) FROM t WHERE x = 7", True),
        ("SELECT gpu_sum(length(url || city)) FROM t WHERE x = 7", True),
        ("SELECT gpu_sum(y) FROM t WHERE x > 7 AND url LIKE '%1%'", False),
        ("SELECT gpu_sum(y) FROM t WHERE x = 7 OR url LIKE '%1%'", False),
        ("SELECT gpu_sum(y) FROM t WHERE url LIKE '%1%'", False),
        ("SELECT gpu_sum(y) FROM t WHERE x = 7 AND random() > length(url)", False),
        ("SELECT gpu_sum(y + random()) FROM t WHERE x = 7", False),
        ("SELECT url FROM t WHERE x = 7 AND url LIKE '%1%' LIMIT 1", False),
    )
    for select, fast in cases:
        views.create(db, "v", select)
        for _ in range(2):
            want, got = views.outcome(db, select), views.ask(db, "v")
        if "random" not in select:
            tap.is_equal(repr(got), repr(want), select)
        tap.is_equal(views.accelerated(db, "v"), fast, "is accelerated" if fast else "is not")
        db.execute("DROP TABLE temp.v")
    db.execute("CREATE INDEX i ON t(x)")
    views.create(db, "v", cases[0][0])
    tap.is_equal(views.ask(db, "v"), views.outcome(db, cases[0][0]), "with an index")
    tap.ok(not views.accelerated(db, "v"), "by which SQLite finds the rows")
    db.close()


def test_errors(rng):
    """An error of SQLite's is the view's, if a row has it."""
    db = make(rng)
    db.execute("UPDATE t SET ref = '{' WHERE id % 2 = 0")
    for select in ("SELECT count(*) FROM t WHERE x < 9 AND json_extract(ref, '$.' || city) IS NULL",
                   "SELECT gpu_sum(n * 9223372036854775807) FROM t WHERE x = 7 AND url > city",
                   "SELECT sum(abs(-9223372036854775807 - n)) FROM t WHERE n = 1 AND x = 7 AND url > city"):
        views.create(db, "v", select)
        for _ in range(2):
            tap.is_equal(repr(views.ask(db, "v")), repr(views.outcome(db, select)), select)
        db.execute("DROP TABLE temp.v")
    db.close()


def test_schemas(rng):
    """The SELECT of an ordinary view means tables of its own schema."""
    db = make(rng)
    db.execute("ATTACH ? AS other", (FOLDER.new(),))
    db.execute("CREATE TABLE other.t AS SELECT id, 7 AS x, y, url, city FROM main.t WHERE id < 3000")
    db.execute("UPDATE other.t SET x = id % 500")
    for name, select in (("part", "SELECT count(*), sum(y) FROM t WHERE x = 7 AND url || city > ''"),
                         ("found", "SELECT t.id, url FROM t WHERE x = 7")):
        db.execute(f"CREATE VIEW other.{name} AS {select}")
        want = views.outcome(db, f"SELECT * FROM other.{name}")
        db.execute(f"SELECT clreduce_accelerate('{name}')").fetchall()
        for _ in range(3):
            tap.is_equal(repr(views.outcome(db, f"SELECT * FROM {name}")), repr(want), f"{name}: the other schema's rows")
        tap.ok(views.accelerated(db, name), "by a scan")
    db.close()


def main():
    rng = support.seed()
    test_asked(rng)
    test_errors(rng)
    test_schemas(rng)
    test_differential(rng)
    tap.done()


main()
