"""Accelerated views of TEXT that conversions change: marks of byte order, U+FFFE and U+FFFF, halves of surrogate pairs,
NULs, and bytes that are no UTF-8, in databases of every encoding.

A view gives what its SELECT gives (clause 1 of view.h), by the bytes of the database's encoding, whether its columns
come from pages, through SQLite or in a stream.
"""

import support
import tap
import view_support as views

FOLDER = views.Folder()
STATEMENTS = 60 if tap.QUICK else 1_500
TOGETHER = 20
ROWS = 1_200

#: Units of UTF-16, of which texts are made.
UNITS = (0xFEFF, 0xFFFE, 0xFFFF, 0xFFFD, 0xD800, 0xDBFF, 0xDC00, 0xDFFF, 0x61, 0x41, 0x20, 0x00, 0x25, 0x100, 0xD83D, 0xDE00)
#: Of UTF-8: the same, overlong forms, and what none begins or goes on with.
PARTS = (b"\xef\xbb\xbf", b"\xef\xbf\xbe", b"\xef\xbf\xbf", b"\xef\xbf\xbd", b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xf0\x9f\x98\x80",
         b"a", b"A", b" ", b"\0", b"%", b"\xc4\x80", b"\xc0\x80", b"\x80", b"\xff", b"\xfe", b"\xff\xfe", b"\xfe\xff", b"\xf8\x88\x80\x80\x80")
#: What an application binds, which SQLite converts.
BOUND = ("a", "\ufeffa", "\ufeff", "\ufffea", "\uffff", "\ufffd", "\U0001f600", "a\0b", "\0", "", "%\ufeff%", "\ufeff%", "_", 5, b"\xff\xfea", None)

VALUES = ("s", "c", "s || 'x'", "substr(s, 1, 1)", "trim(s)", "s || s", "hex(s)", "length(s)", "lower(s)", "unicode(s)", "typeof(s)",
          "quote(s)", "instr(s, char(65279))", "s || char(65535)", "char(65279) || s", "CAST(s AS BLOB)", "s = 'a'", "+s")
CONDITIONS = ("{} = ?1", "{} > ?1", "{} LIKE ?1", "{} GLOB 'a*'", "{} IN ('a', ?1, char(65279))", "{} BETWEEN ?1 AND char(65533)",
              "length({}) = 2", "hex({}) > hex(?1)", "{} = CAST(x'feff0061' AS TEXT)", "{} NOT NULL", "{} < {} || 'a'")


def random_text(rng, encoding):
    """The bytes of a TEXT."""
    count = rng.choice((0, 1, 1, 1, 2, 2, 3))
    if encoding == "UTF-8":
        return b"".join(rng.choice(PARTS) for _ in range(count))
    order = "little" if encoding == "UTF-16le" else "big"
    return b"".join(rng.choice(UNITS).to_bytes(2, order) for _ in range(count))


def fill(db, rng, encoding, has_pages):
    """The tables raw(b), of texts' bytes, and t(x, s, c), whose TEXT these are: SQLite gives a BLOB of a table the
    database's encoding. Few texts of them are kept as UTF-8 does not have them: else SQLite would answer most queries."""
    texts = [random_text(rng, encoding) for _ in range(40)]
    db.execute("CREATE TABLE raw(i INTEGER PRIMARY KEY, b BLOB)")
    db.executemany("INSERT INTO raw(b) VALUES(?)", ((rng.choice(texts),) for _ in range(ROWS)))
    if has_pages:
        db.execute("CREATE TABLE t(x INT, s TEXT, c TEXT COLLATE NOCASE)")
        db.execute("INSERT INTO t SELECT i, CAST(b AS TEXT), CAST(b AS TEXT) FROM raw")
    else:
        db.execute("CREATE TABLE t(x INT, r, q, s TEXT AS (r), c TEXT COLLATE NOCASE AS (q))")
        db.execute("INSERT INTO t SELECT i, CAST(b AS TEXT), CAST(b AS TEXT) FROM raw")


def random_select(rng):
    """A SELECT, and its parameters."""
    value = rng.choice(VALUES)
    where = ""
    if rng.random() < 0.6:
        text = rng.choice(CONDITIONS)
        where = " WHERE " + text.format(*(rng.choice(VALUES[:4]),) * text.count("{}"))
    shape = rng.randrange(7)
    if shape == 0:
        select = f"SELECT hex({value}), {value}, count(*) FROM t{where} GROUP BY {value}"
    elif shape == 1:
        select = f"SELECT DISTINCT {value} FROM t{where}"
    elif shape == 2:
        select = f"SELECT x % 7, gpu_min({value}), hex(gpu_max({value})), gpu_count_distinct({value}) FROM t{where} GROUP BY 1"
    elif shape == 3:
        select = f"SELECT min({value}), max({value}), count(*), count(DISTINCT {value}), gpu_mode({value}) FROM t{where}"
    elif shape == 4:
        select = f"SELECT {value}, sum(x) FROM t{where} GROUP BY 1 HAVING count(*) > 3 ORDER BY {value} DESC, 2"
    elif shape == 5:
        select = f"SELECT s, x, length(s), hex(c) FROM t{where or ' WHERE x < 9'} ORDER BY s, x"
    else:
        select = f"SELECT count(*), sum(length(s)), sum({value} LIKE '%a%') FROM t{where}"
    return select, [rng.choice(BOUND)] if "?1" in select else []


def test_random(rng, encoding, source):
    """Random SELECTs and their views, some at a time: columns are filled once they are asked for again."""
    db = views.connect(FOLDER.new())
    db.execute(f"PRAGMA encoding = '{encoding}'")
    fill(db, rng, encoding, source != "filled")
    db.commit()
    support.configure(db, column_memory=5_000 if source == "in little memory" else 0)
    what = f"{encoding}, {source}"
    batch = support.Batch(f"{what}: {STATEMENTS} SELECTs and their views")
    answered = 0
    for _ in range(STATEMENTS // TOGETHER):
        selects = [random_select(rng) for _ in range(TOGETHER)]
        for number, (select, _) in enumerate(selects):
            views.create(db, f"v{number}", select)
        for turn in range(3):
            for number, (select, parameters) in enumerate(selects):
                want = views.comparable(views.outcome(db, select, parameters))
                got = views.comparable(views.ask(db, f"v{number}", parameters))
                batch.compare(got, want, f"turn {turn}: {select} {parameters}")
        answered += sum(views.accelerated(db, f"v{number}") for number in range(TOGETHER))
    batch.end()
    tap.ok(answered > STATEMENTS // (30 if source == "in little memory" else 4), f"{what}: {answered} accelerated")
    support.configure(db, column_memory=0)
    db.close()


def test_functions(encoding):
    """What the functions themselves give, without a view, and of states of another database."""
    db, other = views.connect(), views.connect()
    db.execute(f"PRAGMA encoding = '{encoding}'")
    for text in ("\uffff", "\ufffe", "\ufeffa", "\U0001f600\uffff", "a\0\uffff"):
        db.execute("DROP TABLE IF EXISTS one")
        db.execute("CREATE TABLE one(b)")
        db.execute("INSERT INTO one VALUES(?)", (text.encode(encoding),))
        want = support.rows(db, "SELECT hex(b) FROM one")
        for call in ("gpu_min", "gpu_max", "gpu_mode"):
            got = support.rows(db, f"SELECT hex({call}(CAST(b AS TEXT))) FROM one")
            tap.is_equal(got, want, f"{encoding}: {call}() of {text!a}")
        other.execute("DROP TABLE IF EXISTS one")
        other.execute("CREATE TABLE one(b)")
        other.execute("INSERT INTO one VALUES(?)", (text.encode(),))
        state = support.value(other, "SELECT gpu_max_state(CAST(b AS TEXT)) FROM one")
        got = support.rows(db, "SELECT hex(gpu_max_merge(?))", state)
        tap.is_equal(got, want, f"{encoding}: a state of {text!a}")
    db.close()
    other.close()


def main():
    rng = support.seed()
    for encoding in ("UTF-8", "UTF-16le", "UTF-16be"):
        for source in ("read", "filled", "in little memory"):
            test_random(rng, encoding, source)
        test_functions(encoding)
    tap.done()


main()
