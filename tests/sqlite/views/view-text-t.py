"""Accelerated views of text, dates and any function: dictionaries and lookups.

What kernels do not compute of one column, SQLite evaluates once for each of its distinct values. A
view gives what its SELECT gives (clause 1 of view.h): in every encoding, with every affinity and
collation, with functions of the application, and with errors only where a row has one.
"""

import time

import support
import tap
import view_support as views
from domains import DAYS, Texts, connect
from view_support import is_fast

#: What people ask: an analyst of flights, and three benchmarks.
ASKED = (
    "SELECT gpu_avg(x) FROM t WHERE city = 'ORD'",
    "SELECT gpu_avg(x) FROM t WHERE day LIKE '2001-01-1%'",
    "SELECT gpu_sum(x) FROM t WHERE day BETWEEN '2001-01-01' AND '2001-01-05' AND upper(city) <> 'LAX'",
    "SELECT count(*), gpu_median(x) FROM t WHERE strftime('%w', day) = '0'",
    "SELECT gpu_sum(x * n) AS revenue FROM t WHERE day >= '2001-01-02' AND day < date('2001-01-02', '+7 days')"
    " AND n BETWEEN 5 - 4 AND 60 AND x < 24",
    "SELECT count(*) FROM t WHERE city LIKE '%R%'",
    "SELECT count(*) FROM t WHERE code = 'ord'",
    "SELECT count(*) FROM t WHERE city IN ('ORD', 'LAX') AND code NOT IN ('a')",
    "SELECT gpu_sum(length(city)), gpu_max(x) FROM t WHERE city <> ''",
    "SELECT gpu_sum(x) FROM t WHERE CAST(substr(day, 9) AS INTEGER) % 2 = 0",
    "SELECT gpu_avg(x) FROM t WHERE strftime('%Y', epoch, 'unixepoch') = '2001'",
    "SELECT gpu_sum(CASE WHEN city GLOB 'O*' THEN x ELSE 0 END) FROM t",
    "SELECT gpu_sum(x) FILTER (WHERE trimmed = 'ab'), printf('%.1f', gpu_avg(x)) FROM t",
    "SELECT count(*) FROM t WHERE any = '12' OR stamp < '2001-01-05' COLLATE NOCASE",
    "SELECT gpu_sum(x) FROM t AS q WHERE q.city || '!' = 'JFK!'",
)


def test_asked(rng):
    """Shapes of queries that must be accelerated."""
    for encoding in ("UTF-8", "UTF-16le"):
        db = connect(views.new(), encoding=encoding)
        Texts.create(db, rng)
        for select in ASKED:
            is_fast(db, select)
        is_fast(db, "SELECT count(*) FROM t WHERE city = ?1", ("LAX",))
        is_fast(db, "SELECT count(*) FROM t WHERE city = ?1 AND x > ?2", ("LAX", 3))
        is_fast(db, "SELECT count(*) FROM t WHERE trim(any) IN (?1, ?2)", ("12", b"a"))


def test_growth(rng):
    """New values come, by this connection and by another, and are taken back."""
    for mode in ("DELETE", "WAL", "TRUNCATE", "PERSIST"):
        path = views.new()
        db = connect(path, journal_mode=mode)
        Texts.create(db, rng, 3_000)
        db.commit()
        other = connect(path, journal_mode=mode)  # on Windows nobody deletes a journal that others have open
        selects = {
            "v": "SELECT count(*), gpu_sum(x) FROM t WHERE city LIKE '%new%' OR city = 'ORD'",
            "w": "SELECT gpu_sum(length(city)), gpu_sum(x) FROM t WHERE code = 'new 3' OR city > 'm'",
        }
        batch = support.Batch(f"{mode}: values come and go")
        tally = views.Tally()
        views.create_all(db, selects)
        for i in range(15 if tap.QUICK else 80):
            writer = rng.choice((db, other))
            kind = rng.randrange(4)
            if kind == 0:
                writer.execute("UPDATE t SET city = ?, code = ? WHERE id % 101 = ?", (f"new {i}", f"NEW {i}", i))
            elif kind == 1:
                Texts.add(writer, rng, 20)
            elif kind == 2:
                writer.execute("UPDATE t SET city = 'new' || (id % 700) WHERE id % 7 = 1")
            else:
                writer.execute("DELETE FROM t WHERE id % 211 = ?", (i,))
            if rng.random() < 0.2:
                writer.rollback()
            elif writer is db and rng.random() < 0.3:
                for name, select in selects.items():
                    batch.compare(views.ask(db, name), views.outcome(db, select), f"uncommitted: {select}")
            writer.commit()
            for name, select in selects.items():
                batch.compare(views.ask(db, name), views.outcome(db, select), select)
                tally.add(db, name, hosts_own=True)
        tally.require(0.6, mode)


def test_functions(rng, db):
    """Functions of the application: called once for each value, replaced, failing."""
    Texts.create(db, rng)
    calls = []

    def spy(value):
        calls.append(value)
        return len(value or "")

    db.create_function("spy", 1, spy, deterministic=True)
    is_fast(db, "SELECT gpu_sum(x) FROM t WHERE spy(city) = 3")
    values = db.execute("SELECT count(*) FROM (SELECT DISTINCT city COLLATE BINARY FROM t)").fetchone()[0]
    views.create(db, "spied", "SELECT gpu_sum(x) FROM t WHERE spy(city) = 4")
    calls.clear()
    views.ask(db, "spied")
    tap.ok(0 < len(calls) <= values, f"at most one call for each of {values} values: {len(calls)}")
    calls.clear()
    views.ask(db, "spied")
    tap.is_equal(calls, [], "and none for another query")
    select = "SELECT count(*) FROM t WHERE spy(city) = 3"
    views.create(db, "replaced", select)
    views.ask(db, "replaced")
    db.create_function("spy", 1, lambda value: 3, deterministic=True)
    views.agree(db, "replaced", select, (), "a function is replaced")
    db.create_function("spy", -1, lambda *values: 4, deterministic=True)
    views.agree(db, "replaced", select, (), "one of any arguments comes beside it")
    db.create_function("spy", 1, None)
    views.agree(db, "replaced", select, (), "and the first one goes")
    db.create_function("any_time", 1, lambda value: 3)
    select = "SELECT count(*) FROM t WHERE any_time(city) = 3"
    tap.is_equal(views.through_view(db, select), views.outcome(db, select), "not deterministic")
    tap.ok("any_time" in views.plan(db, "view_of_it")[0], "which the plan says")

    select = "SELECT count(*) FROM t WHERE city LIKE 'ord'"
    views.agree(db, "liked", select, (), "LIKE", anew=True)
    db.execute("PRAGMA case_sensitive_like = 1")
    views.agree(db, "liked", select, (), "LIKE that is case sensitive")
    db.execute("PRAGMA case_sensitive_like = 0")
    views.agree(db, "liked", select, (), "and not again")

    select = "SELECT count(*) FROM t WHERE city < 'LAX' COLLATE backwards"
    views.agree(db, "sorted", select, (), "a collation of the application's", anew=True)
    db.create_collation("backwards", lambda a, b: (a > b) - (a < b))
    views.agree(db, "sorted", select, (), "which is replaced")
    db.create_collation("backwards", None)
    views.agree(db, "sorted", select, (), "and removed")


def test_nested(rng, db):
    """A function that asks the view which calls it, or drops it."""
    Texts.create(db, rng, 600)
    depth = []

    def ask(value):
        if depth:
            return 1
        depth.append(value)
        try:
            return db.execute("SELECT * FROM nested").fetchone()[0]
        finally:
            depth.pop()

    db.create_function("ask", 1, ask, deterministic=True)
    select = "SELECT count(*), ask(count(*)) FROM t WHERE ask(city) > 0"
    views.agree(db, "nested", select, (), "a view within itself", times=3, anew=True)
    db.create_function("ask", 1, lambda value: db.execute("DROP TABLE nested") and 1, deterministic=True)
    tap.ok(isinstance(views.ask(db, "nested"), views.Failure), "it can't be dropped meanwhile")


def test_kept(rng, db):
    """Results of a large dictionary are kept, as long as everything is the same, and extended."""
    support.table(db, "t(id INTEGER PRIMARY KEY, x REAL, s TEXT, d TEXT)",
                  ((None, i % 7, f"value {i % 900}", DAYS[i % 40] + f" 0{i % 10}:{i % 60:02}") for i in range(9_000)))
    calls = []

    def spy(value, other=0):
        calls.append(value)
        return len(value) + other

    db.create_function("spy", 1, spy, deterministic=True)
    selects = {
        "a": "SELECT gpu_sum(x), count(*) FROM t WHERE spy(s) = 9 AND s <> 'value 5'",
        "b": "SELECT gpu_max(s), gpu_sum(x) FROM t WHERE s LIKE ?1",
        "c": "SELECT count(*) FROM t WHERE strftime('%w', d) = '0'",
        "e": "SELECT count(*) FROM t WHERE s < 'value 3' COLLATE backwards",
    }
    views.create_all(db, selects)

    def agree(what, fast=False):
        for name, select in selects.items():
            for values in (("%1",), ("%2",), ("%2",)) if "?1" in select else ((), ()):
                views.agree(db, name, select, values, f"{what}: {select} {values}")
                if fast:
                    tap.ok(views.accelerated(db, name), f"{what}: accelerated")

    agree("at first", fast=True)
    calls.clear()
    views.ask(db, "a")
    tap.is_equal(calls, [], "nothing is evaluated again")
    db.execute("INSERT INTO t(x, s, d) SELECT 1, 'value ' || id, '2002-02-02' FROM t WHERE id BETWEEN 900 AND 950")
    calls.clear()
    views.ask(db, "a")
    tap.ok(0 < len(calls) <= 900 + 51, f"a dictionary that has grown: {len(calls)} calls")
    agree("more values", fast=True)
    # SQLite does not say of LIKE that it is deterministic once it is case sensitive.
    changes = (
        ("PRAGMA case_sensitive_like = 1", lambda: db.execute("PRAGMA case_sensitive_like = 1").fetchall()),
        ("another function", lambda: db.create_function("spy", 1, lambda v: 9, deterministic=True)),
        ("another one", lambda: db.create_function("spy", 1, lambda v: 8, deterministic=True)),
        ("of any arguments", lambda: db.create_function("spy", -1, lambda *v: 9, deterministic=True)),
        ("the first goes", lambda: db.create_function("spy", 1, None)),
        ("and comes", lambda: db.create_function("spy", 1, spy, deterministic=True)),
        ("a collation", lambda: db.create_collation("backwards", lambda a, b: (a > b) - (a < b))),
        ("strftime()", lambda: db.create_function("strftime", -1, lambda *v: "0", deterministic=True)),
        ("strftime() of two", lambda: db.create_function("strftime", 2, lambda *v: "1", deterministic=True)),
        ("no limit", lambda: db.execute("SELECT 1")),
    )
    for what, change in changes:
        change()
        agree(what)
    db.create_function("spy", 1, spy)
    views.agree(db, "a", selects["a"], (), "no longer deterministic")
    tap.ok(not views.accelerated(db, "a"), "and SQLite's")


def test_present(db):
    """TEXT that is 'now' to SQLite, which reads no further than a NUL, is so at each time anew."""
    support.table(db, "t(id INTEGER PRIMARY KEY, s TEXT)", ((None, f"2001-01-{i % 28 + 1:02} 00:{i % 59:02}") for i in range(9_000)))
    for number, (value, call) in enumerate((
        ("now", "julianday(s)"),
        ("now\0x", "julianday(s)"),
        ("now\0", "julianday(s || ' ')"),
        ("w\0", "julianday('no' || s || ' ')"),
        ("n", "julianday(s || 'ow' || char(0) || ' ')"),
    )):
        db.execute("INSERT OR REPLACE INTO t VALUES(9999, ?)", (value,))
        name = f"present{number}"
        views.create(db, name, f"SELECT max({call}), count(*) FROM t WHERE id > 0")
        before = views.ask(db, name)[0][0]
        tap.ok(before > 2_460_000, f"the present time: {call} of {value!r}")
        time.sleep(0.005)
        tap.ok(views.ask(db, name)[0][0] > before, "which goes on")
    is_fast(db, "SELECT max(julianday(substr(s, 1, 7) || '-01')), count(*) FROM t WHERE id < 9999")


def test_errors(rng, db):
    """An expression fails for a value: the SELECT's error if a row has it, else nothing."""
    support.table(db, "j(id INTEGER PRIMARY KEY, x INT, doc TEXT)", ((None, i, '{"a": %d}' % (i % 9)) for i in range(3_000)))
    select = "SELECT gpu_sum(x) FROM j WHERE json_extract(doc, '$.a') = 3"
    is_fast(db, select, name="js")
    db.execute("UPDATE j SET doc = 'no JSON' WHERE id = 77")
    views.agree(db, "js", select, (), "an error")
    tap.ok(isinstance(views.ask(db, "js"), views.Failure), "which is one")
    db.execute("UPDATE j SET doc = '{}' WHERE id = 77")
    views.agree(db, "js", select, (), "the value is gone")
    tap.ok(views.accelerated(db, "js"), "accelerated again, though the dictionary has it")


def test_rights(rng, db):
    """An authorizer that denies a function, or hides what it does not know."""
    Texts.create(db, rng)
    select = "SELECT count(*) FROM t WHERE upper(city) = 'ORD'"
    is_fast(db, select)
    want = views.outcome(db, select)
    db.set_authorizer(lambda action, a, b, *rest: 2 if action == 20 and "entries" in (a or "") else 0)
    tap.is_equal(views.through_view(db, select), want, "tables that are not known are hidden")
    db.set_authorizer(lambda action, a, b, *rest: 1 if action == 31 and b == "upper" else 0)
    tap.is_equal(views.ask(db, "view_of_it"), views.outcome(db, select), "a function is denied")
    db.set_authorizer(None)


def test_rounded(rng, db):
    """round(x, n) has the digits of the SQLite that runs, which says them once for each value."""
    values = [rng.choice((1.005, 2.675, 0.5, 1e15 / 3, 5e-324)) * rng.randint(1, 99) / rng.choice((1, 8, 1_000)) for _ in range(300)]
    support.table(db, "t(x REAL)", ((rng.choice(values + [None]),) for _ in range(3_000)))
    for digits in (-1, 0, 1, 2, 3, 15, 30, 400):
        is_fast(db, f"SELECT gpu_sum(round(x, {digits})), max(round(x, {digits})), count(*) FROM t")
    is_fast(db, "SELECT round(x, ?1), count(*) FROM t GROUP BY round(x, ?1)", (2,))


def test_many_values(rng, db):
    """A column that hardly repeats is SQLite's."""
    support.table(db, "t(id INTEGER PRIMARY KEY, x REAL, url TEXT)", ((None, i, f"http://{i}.org") for i in range(5_000)))
    select = "SELECT url, count(*), gpu_sum(x) FROM t GROUP BY url LIMIT 3"
    tap.is_equal(views.through_view(db, select), views.outcome(db, select), "many values")
    tap.ok("url" in views.plan(db, "view_of_it")[0], "as the plan says")


@tap.each("UTF-8", "UTF-16le", "UTF-16be")
def test_odd_text(encoding):
    """What the functions themselves give of text that conversions change, without a view, and of states of another database."""
    db, other = views.connect(encoding=encoding), views.connect()
    for text in ("\uffff", "\ufffe", "\ufeffa", "\U0001f600\uffff", "a\0\uffff"):
        support.execute(db, "DROP TABLE IF EXISTS one", "CREATE TABLE one(b)")
        db.execute("INSERT INTO one VALUES(?)", (text.encode(encoding),))
        want = support.rows(db, "SELECT hex(b) FROM one")
        for call in ("gpu_min", "gpu_max", "gpu_mode"):
            got = support.rows(db, f"SELECT hex({call}(CAST(b AS TEXT))) FROM one")
            tap.is_equal(got, want, f"{encoding}: {call}() of {text!a}")
        support.execute(other, "DROP TABLE IF EXISTS one", "CREATE TABLE one(b)")
        other.execute("INSERT INTO one VALUES(?)", (text.encode(),))
        state = support.value(other, "SELECT gpu_max_state(CAST(b AS TEXT)) FROM one")
        tap.is_equal(support.rows(db, "SELECT hex(gpu_max_merge(?))", state), want, f"{encoding}: a state of {text!a}")


views.run(globals(), db=lambda _: connect(views.new()))
