"""SELECTs within statements are accelerated by themselves: rows, their order, names and errors are those of the statement.

The statements are those of selects.grammar. Each is run as it is, and as clreduce_rewrite() writes it.
"""

import generate
import support
import tap
import view_support as views

FOLDER = views.Folder()
SELECTS = 900 if tap.QUICK else 12_000
ROWS = 700
CITIES = ["ORD", "ord", "LAX", "SFO", "JFK", None, "", "Ord ", "12", "Zürich"]
#: At least so many of the statements that are no errors are rewritten: a fifth fewer than by the seeds that were tried.
LEAST_SHARE = 0.45


def open_database(rng, encoding):
    """A connection with a large table t, a small one u, and indexes that only some statements use."""
    db = views.connect(FOLDER.new(), isolation_level=None)
    db.execute(f"PRAGMA encoding = '{encoding}'")
    db.executescript("""
        CREATE TABLE t(id INTEGER PRIMARY KEY, city TEXT, kind INT, n INTEGER, x REAL, day TEXT, price NUMERIC,
                       code TEXT COLLATE NOCASE, trimmed TEXT COLLATE RTRIM);
        CREATE TABLE u(id INTEGER PRIMARY KEY, city TEXT UNIQUE, n INTEGER, name TEXT);
        CREATE TABLE places(n INT, city TEXT);
    """)
    db.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (
        (i, rng.choice(CITIES), rng.choice((1, 2, 3, 4, None)), rng.randrange(100), rng.choice((None, rng.randrange(4000) / 8, -0.5)),
         f"2024-0{rng.randrange(1, 4)}-{rng.randrange(10, 29)}", rng.choice((1, 2.5, "7", None)), rng.choice(("a", "A", "b", "B")),
         rng.choice(("x", "x ", "y"))) for i in range(ROWS)))
    db.executemany("INSERT INTO u VALUES (?, ?, ?, ?)", ((i, city, i % 4, "ORD") for i, city in enumerate(CITIES)))
    db.executemany("INSERT INTO places VALUES (?, ?)", ((i % 3, city) for i, city in enumerate(CITIES)))
    for index in rng.sample(["kind", "city, n", "n", "day DESC, city", "code"], rng.randrange(3)):
        db.execute(f"CREATE INDEX \"{index}\" ON t({index})")
    if rng.random() < 0.3:
        db.execute("ANALYZE")
    db.execute("SELECT clreduce_set('override', 'on')")
    return db


def outcome(db, sql, values):
    """Rows and names, or the error."""
    try:
        cursor = db.execute(sql, values)
        return [*cursor, tuple(column[0] for column in cursor.description)]
    except views.ERRORS as error:
        return views.comparable(views.failure(error))


def test_random(rng, encoding):
    """Statements of the grammar."""
    batch = support.Batch(f"{encoding}: {SELECTS} random statements, as they are and rewritten")
    count = rewritten = 0
    for number in range(SELECTS):
        if number % 150 == 0:
            db = open_database(rng, encoding)
            writer = generate.Writer(rng, "units", {}, lambda rng: rng.choice((0, 1, 3, 5, 40, None, 2.5, "3", "b")))
        sql, values = writer.select()
        text = support.value(db, "SELECT clreduce_rewrite(?)", sql)
        plain = outcome(db, sql, values)
        count += isinstance(plain, list)
        if text is not None:
            rewritten += 1
            batch.compare(outcome(db, text, values), plain, f"{sql}\n{values}\n{text}")
    batch.end()
    tap.ok(rewritten >= LEAST_SHARE * count, f"{rewritten} of {count} statements are rewritten")


if __name__ == "__main__":
    generator = support.seed()
    for name in ("UTF-8", "UTF-16le"):
        test_random(generator, name)
    tap.done()
