"""Derived columns: expressions that neither a scan nor a lookup can compute, which SQLite evaluates row by row, once.

A view gives what its SELECT gives (clause 1 of view.h): whatever changes between two runs, and whoever made the columns.
"""

import os
import sqlite3
import time

import support
import tap
import view_support as views

ROWS = 3_000 if tap.QUICK else 20_000

#: Of one row, and of columns that repeat and those that do not: numbers, and what groups have in common.
NUMBERS = ("url LIKE '%checkout%'", "kind || country = 'ade'", "length(kind || country)", "instr(url, kind)",
           "json_extract(doc, '$.k') > 3", "length(url) + y", "kind < country", "kind IN (country, 'b')",
           "substr(url, 1, instr(url, kind)) <> country", "CAST(kind || y AS INTEGER)", "unicode(url) = unicode(doc)",
           "time(y * 777, 'unixepoch') > '12:00'", "julianday(y * 1000, 'unixepoch', 'localtime') > 2440588", "strftime('%d', url) IS NULL",
           "kind || country = :p", "json_extract(doc, '$.k') IN (:p, 3) COLLATE NOCASE", "kind || y LIKE '%' || :p || '%'",
           "coalesce(country, kind) NOT BETWEEN :p AND 'c' || :p", "time(y * 777, 'unixepoch') > time('now', :p)",
           "CASE kind WHEN country THEN 1 WHEN lower(mail) THEN 2 ELSE length(doc) END", "y BETWEEN length(url) AND length(doc)",
           "own(url) = 'h1'", "own(kind || mail) > :p", "length(own(doc)) + y", "own(url) || kind <> own(doc)")
GROUPS = ("kind || ':' || country", "substr(url, 1, instr(substr(url, 9), '/') + 8)", "json_extract(doc, '$.k')",
          "date(y * 40000, 'unixepoch', 'localtime')", "strftime('%w %H', x, 'utc') || kind", "time(mail) || time(y, 'unixepoch', '+1 day')",
          "coalesce(kind || country, :p)", "CASE WHEN kind || country > :p THEN 'late' END", "upper(json_extract(doc, '$.k') || :p)",
          "coalesce(country, kind)", "y || kind", "min(kind, country)", "kind || y % 3", "json_extract(doc, '$.' || kind)", "x || country",
          "own(url)", "own(mail) || kind", "coalesce(own(country || doc), :p)")


def value(rng, number):
    """A row, beside its id."""
    page = rng.choice(("checkout", "cart", "", "é"))
    doc = rng.choice(('{"k":%d,"a":"x%d"}' % (number % 7, number), '{"k":null}', '{"k":1.0,"n":%d}' % number, "[]"))
    return (rng.choice("abc"), rng.choice(("de", "fr", "a", None)), f"http://h{number % 40}.org/{page}/{number}", doc,
            number % 90 if rng.random() > 0.02 else None, rng.choice((0.0, -0.0, 1.0, 2.5, None)), f"User{number}@Mail.org")


def fill(path, rng, mode="WAL", rows=ROWS, encoding="UTF-8"):
    """The database with its table."""
    db = sqlite3.connect(path, isolation_level=None)
    support.execute(db, "PRAGMA synchronous = OFF", f"PRAGMA encoding = '{encoding}'",
                    f"PRAGMA journal_mode = {mode}",
                    "CREATE TABLE t(id INTEGER PRIMARY KEY, kind TEXT, country TEXT, url TEXT, doc TEXT, y INT, x REAL, mail TEXT)",
                    "BEGIN")
    db.executemany("INSERT INTO t VALUES(?, ?, ?, ?, ?, ?, ?, ?)", ((i * 10, *value(rng, i)) for i in range(rows)))
    db.execute("COMMIT")
    db.close()


def opened(rng, count=1, **options):
    """So many connections to a new database."""
    path = views.new()
    fill(path, rng, **options)
    return [views.connect(path) for _ in range(count)]


def register(db, place, count=1):
    """Has the connection a function of its own: which part of a text, by the place."""
    db.create_function("own", count, lambda text, *others: None if text is None else str(text)[7 - place * 3:9 - place * 3], deterministic=True)


def select_of(rng):
    """A SELECT with such expressions."""
    number, other, group = rng.choice(NUMBERS), rng.choice(NUMBERS), rng.choice(GROUPS)
    return rng.choice((
        f"SELECT count(*), gpu_sum(y) FROM t WHERE {number}",
        f"SELECT gpu_sum({number}), count({other}), max({number}) FROM t",
        f"SELECT {group}, count(*), gpu_sum(x) FROM t GROUP BY 1",
        f"SELECT {group} AS g, sum(y), min({rng.choice(GROUPS)}) FROM t WHERE {number} OR y = 7 GROUP BY g ORDER BY 2 DESC, 1",
        f"SELECT count(DISTINCT {group}), gpu_max({group}) FROM t WHERE y > 5",
        f"SELECT id, url FROM t WHERE {number} AND {other} AND +y = 3 ORDER BY url LIMIT 5",
        f"SELECT y, gpu_sum({number}) FILTER (WHERE {other}) FROM t GROUP BY y ORDER BY y",
    ))


CHANGES = (
    "UPDATE t SET kind = 'zz', url = url || '/checkout' WHERE id % 970 = 0",
    "DELETE FROM t WHERE id BETWEEN 1000 AND 1900",
    "UPDATE t SET doc = '{\"k\":9}' WHERE id = 400",
    "INSERT OR IGNORE INTO t SELECT id + 3, country, kind, mail, doc, y, x, url FROM t WHERE id % 10 = 0 AND id BETWEEN 4000 AND 6000 AND country > ''",
)


@tap.each(("WAL", "UTF-8"), ("DELETE", "UTF-8"), ("WAL", "UTF-16le"), ("WAL", "UTF-16be"))
def test_random(rng, mode, encoding):
    """Two connections ask, and change rows between."""
    connections = opened(rng, 2, mode=mode, encoding=encoding)
    for place, db in enumerate(connections):
        register(db, place)
    tally = views.Tally()
    for turn in range(12 if tap.QUICK else 60):
        selects = [select_of(rng) for _ in range(4)]
        for db in connections:
            views.create_all(db, selects)
        for ask in range(24):
            db, i = rng.choice(connections), rng.randrange(len(selects))
            parameters = (rng.choice(("ade", "a", 3, "1 hours", None)),) if ":p" in selects[i] else ()
            if not views.agree(db, f"v{i}", selects[i], parameters, f"{mode}: {selects[i]}"):
                tap.diag(views.plan(db, f"v{i}")[0])
            tally.add(db, f"v{i}")
            if ask == 12 and turn % 5 == 0:
                register(db, rng.randrange(3))
            if ask in (9, 16):
                rng.choice(connections).execute(rng.choice(CHANGES[:3] if turn % 3 else CHANGES))
    tally.require(0.2, f"{mode}, {encoding}")
    tap.ok(not connections[0].execute("PRAGMA integrity_check").fetchone()[0] != "ok", "the database is sound")


def asked(db, select, times=3, parameters=()):
    """Whether a view is accelerated in the end; all that it gives is checked."""
    views.agree(db, "v", select, parameters, select, times=times, anew=True)
    return views.accelerated(db, "v")


#: Pieces of texts and patterns: case, characters beyond ASCII that fold to it elsewhere, and bytes that are no characters.
PIECES = ("a", "A", "b", "B", "z", "Z", "@", "[", "`", "{", "/", "'", "é", "K", "İ", "ſ", "\0", "%", "ab", "aab", "")
#: Values that are no TEXT in a column of type BLOB, or have no valid characters.
OTHERS = ("x'6162'", "NULL", "CAST(x'ff6142' AS TEXT)", "CAST(x'c361' AS TEXT)", "CAST(x'610062' AS TEXT)", "12", "''")


def pattern_of(rng):
    """A pattern for LIKE, mostly one that a decoder knows."""
    pieces = [rng.choice(PIECES[:12] + PIECES[-3:] if rng.random() < 0.9 else PIECES) for _ in range(rng.randint(0, 3))]
    for place in (len(pieces), len(pieces) // 2, 0):
        if rng.random() < 0.7:
            pieces.insert(place, rng.choice(("%", "%", "%%", "_")) if rng.random() < 0.2 else "%")
    return "".join(pieces).replace("'", "''" if rng.random() < 0.5 else "").replace("\0", "")


@tap.each(("UTF-8", "TEXT"), ("UTF-8", "BLOB"), ("UTF-16le", "TEXT"))
def test_patterns(rng, db, encoding, kind):
    """LIKE of columns that hardly repeat, found as their pages are decoded; and of others than TEXT, which are SQLite's."""
    support.execute(db, f"PRAGMA encoding = '{encoding}'", f"CREATE TABLE t(id INTEGER PRIMARY KEY, n INT, s {kind}, long TEXT)")
    texts = ("".join(rng.choice(PIECES) for _ in range(rng.randint(0, 9))) for _ in range(ROWS))
    db.executemany("INSERT INTO t VALUES(NULL, ?, ? || ?, ?)", ((i % 50, text, i, "x" * rng.choice((0, 3, 9_000))) for i, text in enumerate(texts)))
    first = accelerated = 0
    turns = 40 if tap.QUICK else 300
    for turn in range(turns):
        condition = f"s {rng.choice(('LIKE', 'LIKE', 'NOT LIKE'))} '{pattern_of(rng)}'"
        other = f"{rng.choice(('s', 'long || s'))} LIKE '{pattern_of(rng)}'"
        select = rng.choice((f"SELECT count(*), gpu_sum(n) FROM t WHERE {condition}", f"SELECT n, count(*), gpu_sum({condition}) FROM t GROUP BY n ORDER BY n",
                             f"SELECT count({condition}), count(*) FROM t WHERE {other} OR {condition}",
                             f"SELECT id, s FROM t WHERE {condition} AND n = 7 ORDER BY id"))
        views.create(db, "v", select)
        for time in range(3):
            views.agree(db, "v", select, (), f"{turn}: {select}")
            first += time == 0 and views.accelerated(db, "v")
            accelerated += time == 2 and views.accelerated(db, "v")
            if time == 1:
                db.execute(f"UPDATE t SET s = s || 'ab', long = substr(long, 2) WHERE id % 97 = {turn % 97}")
        if turn >= turns * 2 // 3:
            db.execute(f"INSERT INTO t VALUES(NULL, 7, {rng.choice(OTHERS)}, '')")
    if encoding == "UTF-8":
        tap.ok(min(first, accelerated) > turns // 4, f"{kind}: of {turns} {first} were accelerated when they were first asked, {accelerated} later")


def test_case_of_like(rng):
    """A LIKE that the application has, limits, and columns that were added."""
    db = views.connect(views.new())
    support.table(db, "t(id INTEGER PRIMARY KEY, s TEXT)", ((None, f"Ab{i}") for i in range(ROWS)))
    select = "SELECT count(*) FROM t WHERE s LIKE '%aB1%'"
    tap.ok(asked(db, select, 1), "it is accelerated when it is first asked")
    db.execute("PRAGMA case_sensitive_like = 1")
    views.agree(db, "v", select, (), "another LIKE", times=3)
    db.execute("PRAGMA case_sensitive_like = 0")
    views.agree(db, "v", select, (), "LIKE as it was", times=3)
    added = "SELECT count(*), count(added LIKE '%z%') FROM t WHERE added LIKE '%Y%' OR s LIKE '%b7%'"
    support.execute(db, "ALTER TABLE t ADD COLUMN added TEXT DEFAULT 'xyz'", "INSERT INTO t(s, added) SELECT s, s || 'y' FROM t")
    asked(db, added)
    db = views.connect(views.new())
    support.table(db, "t(id INTEGER PRIMARY KEY, s TEXT)", ((None, f"Ab{i}") for i in range(ROWS)))
    if hasattr(db, "setlimit"):
        db.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 3)
        views.agree(db, "v", select, (), "a pattern that is too long", times=3, anew=True)


def test_rules(rng):
    """When a column is made, what of, and who is told of it."""
    db, other = opened(rng, 2)
    select = "SELECT count(*) FROM t WHERE url || '' LIKE '%checkout%'"
    tap.ok(not asked(db, select, 1), "SQLite runs the first query")
    tap.ok("asked again" in views.plan(db, "v")[0], "the plan says when that ends")
    views.agree(db, "v", select, (), select)
    tap.ok(views.plan(db, "v")[-1].startswith(f"read the last time: {ROWS} rows through SQLite"), "the second one makes the column")
    views.agree(db, "v", select, (), select)
    tap.ok(views.accelerated(db, "v"), "which is scanned from then on")
    tap.ok("LIKE '%checkout%'" in views.plan(db, "v")[2], "the plan names it")
    tap.ok(asked(other, select, 1), "and serves another connection at once")
    tap.ok(any("LIKE" in name for (name,) in db.execute("SELECT \"column\" FROM clreduce_columns")), "clreduce_columns has it")
    db.execute("UPDATE t SET url = 'checkout' WHERE id = 10")
    tap.ok(asked(db, select), "after a change it is made again")
    for select, fast in (
        ("SELECT gpu_sum(length(url)) FROM t WHERE length(url) > :least", True),
        ("SELECT count(*) FROM t WHERE kind || country = :both", True),
        ("SELECT count(*), gpu_sum(y) FROM t WHERE NOT kind || country IN (:both, 'BFR' COLLATE NOCASE)", True),
        ("SELECT count(*) FROM t WHERE json_extract(doc, '$.k') BETWEEN :both AND 'x' OR kind || country LIKE :both || '%'", True),
        ("SELECT count(*) FROM t WHERE json_extract(doc, '$.k') = :k OR time(y * 777, 'unixepoch') || kind > time('now')", True),
        ("SELECT count(*) FROM t WHERE CAST(json_extract(doc, '$.k') AS TEXT) = :k", True),
        ("SELECT count(*) FROM t WHERE lower(mail) = :both", False),
        ("SELECT count(*) FROM t WHERE kind || country = url || :both", True),
        ("SELECT lower(mail), count(*) FROM t GROUP BY 1", False),
        ("SELECT gpu_sum(json_extract(doc, '$.a')) FROM t", False),
        ("SELECT count(*) FROM t WHERE kind || country = 'ade' COLLATE NOCASE", True),
        ("SELECT count(*) FROM t WHERE date(y, '+' || length(url) || ' days') > '2000'", False),
        ("SELECT gpu_sum(length(url || random())) > 1 FROM t", False),
        ("SELECT count(*) FROM t WHERE date(y || url) IS NULL", False),
        ("SELECT count(*) FROM t WHERE date(y || '', url) IS NULL", False),
        ("SELECT count(*) FROM t WHERE time(y * 777, 'unixepoch') > kind", True),
    ):
        parameters = (25,) if ":least" in select else ("ade",) if ":both" in select else ("1",) if ":k" in select else ()
        tap.is_equal(asked(db, select, 4, parameters), fast, "is accelerated" if fast else "is not")
    support.execute(other, "CREATE TABLE w(a TEXT PRIMARY KEY, b TEXT) WITHOUT ROWID", "INSERT INTO w SELECT id, kind FROM t")
    tap.ok(not asked(db, "SELECT count(*) FROM w WHERE a || b LIKE '1%'"), "there are none of a table WITHOUT ROWID")
    support.execute(db, "CREATE TABLE o(rowid TEXT, oid TEXT, _rowid_ TEXT)", "INSERT INTO o SELECT id, kind, 2 FROM t")
    tap.ok(not asked(db, "SELECT count(*) FROM o WHERE rowid || oid LIKE '1%'"), "nor without a name of the rowid")
    db.execute("PRAGMA reverse_unordered_selects = 1")
    asked(db, "SELECT y, count(*) FROM t WHERE kind || country LIKE '%d%' GROUP BY y")


def test_own_functions(rng):
    """Columns with functions of the application's are one connection's, as long as these are the same."""
    db, other = opened(rng, 2)
    selects = ("SELECT own(url), count(*) FROM t GROUP BY 1", "SELECT gpu_sum(length(own(doc))), count(*) FROM t WHERE own(url) > 'h'",
               "SELECT count(*) FROM t WHERE own(mail) = :user OR own(kind || mail) BETWEEN 'a' AND :user")

    def loaded(each, fast, what):
        """How many rows SQLite has evaluated, in so many turns that views try it again after a column went that served few."""
        before = support.stats(each)["rows_loaded"]
        asked_with = [("r1",) if ":user" in select else () for select in selects]
        wanted = [views.outcome(each, select, parameters) for select, parameters in zip(selects, asked_with)]
        for _ in range(16):
            for i, select in enumerate(selects):
                tap.is_equal(views.ask(each, f"v{i}", asked_with[i]), wanted[i], f"{what}: {select}")
        for i in range(len(selects)):
            tap.is_equal(views.accelerated(each, f"v{i}"), i in fast, f"{what}: v{i} is{'' if i in fast else ' not'} accelerated")
        return support.stats(each)["rows_loaded"] - before

    def kept():
        return db.execute("SELECT count(*) FROM clreduce_columns WHERE \"column\" LIKE '%own%'").fetchone()[0]

    other.execute("UPDATE t SET y = 1 WHERE id = 0")
    for place, each in enumerate((db, other)):
        register(each, place)
        views.create_all(each, selects)
    tap.ok(loaded(db, range(3), "one connection") > 0, "columns are made")
    columns = kept()
    tap.is_equal(loaded(db, range(3), "once more"), 0, "and are kept")
    tap.ok(loaded(other, range(3), "another connection") > 0, "another connection makes its own")
    tap.is_equal(loaded(db, range(3), "both have some"), 0, "and leaves those of the first one")
    register(db, 2)
    tap.ok(loaded(db, range(3), "another function") > 0, "another function makes them anew")
    tap.is_equal(kept(), 2 * columns, "and the older ones go")
    register(db, 1, -1)
    tap.is_equal(loaded(db, range(3), "a variant that suits less"), 0, "statements that are kept call what they have called")
    for i in range(len(selects)):
        db.execute(f"SELECT count(*) FROM v{i}(NULL)" if ":user" in selects[i] else f"SELECT count(*) FROM v{i}").fetchall()
    tap.ok(loaded(db, range(3), "a variant that suits less") > 0, "which of several functions it is SQLite does not tell")
    other.execute("UPDATE t SET url = 'http://own.org/' || url WHERE id = 500")
    rows = loaded(db, range(3), "a row has changed")
    tap.ok(0 < rows < ROWS, f"{rows} rows, of leaves that have changed, are evaluated again")
    before = kept()
    other.close()
    tap.is_equal(kept(), before - columns, "with their connection columns go")
    db.create_function("own", 1, lambda text: text[0], deterministic=True)
    db.execute("UPDATE t SET doc = '' WHERE id = 900")
    loaded(db, (0, 2), "a function that fails for a row")
    db.create_function("own", 1, lambda text: text)
    tap.is_equal(loaded(db, (), "a function that is not deterministic"), 0, "it has no column")


def test_errors(rng):
    """A row's error is the SELECT's."""
    (db,) = opened(rng)
    db.execute("UPDATE t SET doc = '{' WHERE id = 700")
    for select in ("SELECT gpu_sum(json_extract(doc, '$.k')) FROM t", "SELECT json_extract(doc, '$.k') k, count(*) FROM t GROUP BY k",
                   "SELECT count(*) FROM t WHERE id <> 700 AND json_extract(doc, '$.k') = 1"):
        asked(db, select, 5)
    db.execute("UPDATE t SET doc = '{}' WHERE id = 700")
    tap.ok(asked(db, "SELECT gpu_sum(json_extract(doc, '$.k') + length(url)) FROM t"), "a column can be made without them")


@tap.each("short", "long")
def test_refreshed(rng, path, length):
    """After a commit the rows of leaves that have changed are evaluated again, and no others: also of rows with overflow
    pages, of which one may change alone."""
    fill(path, rng, rows=3000)
    db, other = views.connect(path, isolation_level=None), sqlite3.connect(path, isolation_level=None)
    if length == "long":
        db.execute("UPDATE t SET doc = json_object('k', id % 7, 'a', printf('%.*c', 9000, 'x') || 'end') WHERE id % 10000 = 0")
    other.execute("UPDATE t SET y = 1 WHERE id = 0")
    selects = {"v0": "SELECT count(*), gpu_sum(instr(url, kind)) FROM t WHERE kind || country LIKE 'a%'",
               "v1": "SELECT substr(kind || doc, -3) AS k, count(*) FROM t GROUP BY k ORDER BY k",
               "v2": "SELECT gpu_sum(length(doc) + length(url)), gpu_sum(instr(url, kind)) FROM t"}
    views.create_all(db, selects)

    def evaluated(step):
        """How many rows SQLite has evaluated for all views, which are accelerated."""
        before = support.stats(db)["rows_loaded"]
        for name, select in selects.items():
            views.agree(db, name, select, (), f"{length}, {step}: {select}")
            tap.ok(views.accelerated(db, name), f"{length}, {step}: {name} is accelerated")
        return support.stats(db)["rows_loaded"] - before

    for name, select in selects.items():
        views.agree(db, name, select, (), f"{length}: {select}", times=5)
    tap.is_equal(evaluated("at first"), 0, f"{length}: all columns are there")
    for step in ("UPDATE t SET kind = 'q' WHERE id = 14000", "UPDATE t SET y = y + 1 WHERE id IN (50, 20000)",
                 "DELETE FROM t WHERE id = 15000", "INSERT INTO t SELECT id + 5, kind, country, url, doc, y, x, mail FROM t WHERE id = 16000",
                 "INSERT INTO t SELECT id + 40000, kind, country, url, doc, y, x, mail FROM t WHERE id < 500",
                 "UPDATE t SET doc = substr(doc, 1, length(doc) - 3) || '?\"}' WHERE id = 20000",
                 "UPDATE t SET doc = substr(doc, 1, length(doc) - 3) || '!\"}' WHERE id = 20000"):
        other.execute(step)
        rows = evaluated(step)
        tap.ok(0 < rows < 2000, f"{length}, {step}: {rows} rows were evaluated")
    other.execute("CREATE TABLE u(x)")
    other.close()


SELECTS = ("SELECT count(*), gpu_sum(instr(url, kind)) FROM t WHERE kind || country LIKE 'a%'",
           "SELECT upper(kind || country) AS k, count(*) FROM t GROUP BY k")


def both_agree(connections, times=3):
    """What both connections' views give, several times."""
    for _ in range(times):
        for db in connections:
            for i, select in enumerate(SELECTS):
                views.agree(db, f"v{i}", select, (), f"{select}, on either side")


def test_trust(rng):
    """Functions, rights and limits are a connection's own: they change between runs."""
    db, other = connections = opened(rng, 2)
    for each in connections:
        views.create_all(each, SELECTS)
    both_agree(connections)
    tap.ok(views.accelerated(db, "v0") and views.accelerated(other, "v1"), "both are accelerated")

    def authorize(*arguments):
        return sqlite3.SQLITE_IGNORE if arguments[0] == sqlite3.SQLITE_READ and arguments[2] == "country" else sqlite3.SQLITE_OK

    def allow():
        """Also for statements that were prepared without these rights: that an authorizer goes SQLite does not tell them."""
        db.set_authorizer(lambda *arguments: sqlite3.SQLITE_OK)
        db.set_authorizer(None)

    def forbid(*arguments):
        return sqlite3.SQLITE_IGNORE if arguments[0] == sqlite3.SQLITE_FUNCTION and arguments[2] == "upper" else sqlite3.SQLITE_OK

    for change, undo in (
        (lambda: db.execute("PRAGMA case_sensitive_like = 1"), lambda: db.execute("PRAGMA case_sensitive_like = 0")),
        (lambda: db.set_authorizer(authorize), allow),
        (lambda: db.set_authorizer(forbid), allow),
        (lambda: db.create_function("instr", 2, lambda x, y: 7, deterministic=True), lambda: None),
        (lambda: db.create_function("upper", 1, lambda x: "U", deterministic=True), lambda: None),
    ):
        change()
        both_agree(connections)
        tap.ok(views.accelerated(other, "v0") and views.accelerated(other, "v1"), "the other connection's are still accelerated")
        views.evict(other)
        both_agree(connections)
        undo()
        both_agree(connections)
    views.create(db, "v1", SELECTS[1])
    both_agree(connections)
    tap.ok(views.accelerated(db, "v1"), "a column with an application's function is the connection's own")
    if hasattr(other, "setlimit"):
        other.execute(f"UPDATE t SET kind = '{'b' * 60}' WHERE id = 50")
        views.agree(other, "v2", "SELECT count(*) FROM t WHERE url LIKE kind || '%'", (), "a long pattern", times=3, anew=True)
        other.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 20)
        views.agree(other, "v2", "SELECT count(*) FROM t WHERE url LIKE kind || '%'", (), "one that is too long", times=3)


def test_times(rng):
    """Local times are those of the time zone that there is; nothing is kept of the present time."""
    (db,) = opened(rng)
    db.execute("UPDATE t SET y = id * 1000")
    select = "SELECT date(y, 'unixepoch', 'localtime') AS day, count(*), min(time(y, 'unixepoch', 'localtime')) FROM t GROUP BY day"
    known = os.environ.get("TZ")
    for zone in ("UTC", "America/New_York", "XYZ+7:30", "America/New_York", "ABC-14"):
        os.environ["TZ"] = zone
        time.tzset()
        tap.ok(asked(db, select), f"{zone}: columns of that zone")
    del os.environ["TZ"]
    if known is not None:
        os.environ["TZ"] = known
    time.tzset()
    select = "SELECT time(mail) IS NULL, count(*) FROM t WHERE time(mail) || kind IS NULL GROUP BY 1"
    tap.ok(asked(db, select, 4), "times that are none")
    for word in ("now", " Now", "subsec"):
        db.execute("UPDATE t SET mail = ? WHERE id = 700", (word,))
        tap.ok(not asked(db, select, 4), f"{word!r}: the present time is no column")


def test_interrupted(rng):
    """Interrupted wherever it is, the next query is right."""
    db, other = opened(rng, 2)
    told = 0
    for turn in range(30):
        views.create(db, "v", SELECTS[turn % 2])
        want = views.outcome(db, SELECTS[turn % 2])
        views.ask(db, "v")
        with support.stopped(db, turn * 3, 400):
            got = views.ask(db, "v")
        told += got != want
        if got != want:
            tap.ok("interrupted" in str(got), f"interrupted after {turn * 3}: {got!r:.100}")
        tap.is_equal(views.ask(db, "v"), want, "and asked again")
        tap.is_equal(views.through_view(other, SELECTS[turn % 2]), want, "and by another connection")
        views.evict(db)
    tap.ok(told > 3, f"{told} of 30 were interrupted")


views.run(globals())
