"""Clauses 5 to 8 of the aggregates' contract, as far as tests/sql/aggregates.test does not have them: TEXT as SQLite reads it,
collating sequences, new connections, types, arguments, and memory.
"""

import support
import tap
from reference import answer

LITERALS = """2|-2|+2| 2 |2 |\t2\n|007|0|-0|2.0|2.|.5|1e3|1e0|2e-1|0x10|abc||12abc|- 2|--2|1_000|1,5|inf|9e999
9223372036854775807|-9223372036854775808|+9223372036854775807|00009223372036854775807
9223372036854775808|-9223372036854775809|18446744073709551616|123456789012345678901234567890
9007199254740993|9007199254740993.0|\u0662|2\u00a0|\u00a02|2\u2003""".replace("\n9", "|9").split("|")


def ones(values):
    """A column as rows for the functions of one argument."""
    return [(item, None) for item in values]


def test_literals():
    """TEXT and BLOB as SQLite's own sum() reads them, in every encoding, in views and states too."""
    for encoding in ("UTF-8", "UTF-16le", "UTF-16be"):
        db = support.connect()
        support.execute(db, f"PRAGMA encoding = '{encoding}'", "SELECT clreduce_set('view_threshold', 0)",
                        "CREATE TABLE one(x)",
                        "CREATE VIRTUAL TABLE temp.v USING clreduce((SELECT gpu_sum(x) AS s FROM one))")
        batch = support.Batch(f"5 TEXT and BLOB as sum() reads them, {encoding}")
        for text in LITERALS:
            for value in (text, text.encode(), text + "\0", text + "\0" + "1"):
                db.execute("DELETE FROM one")
                db.execute("INSERT INTO one VALUES (?)", (value,))
                for query, twin in (
                    ("gpu_sum(x)", "sum(x)"),
                    ("gpu_total(x)", "total(x)"),
                    ("gpu_avg(x)", "avg(x)"),
                    ("gpu_sum(x) OVER ()", "sum(x) OVER ()"),
                    ("gpu_sum(x || '')", "sum(x || '')"),
                    ("gpu_dot(x, 1)", "sum(x)"),
                    ("gpu_dot(1, x)", "sum(x)"),
                    ("(SELECT s FROM v)", "sum(x)"),
                    ("gpu_sum_merge(s) FROM (SELECT gpu_sum_state(x) AS s", "sum(x) FROM (SELECT x"),
                ):
                    closing = ")" if "(SELECT gpu" in query else ""
                    got = support.value(db, f"SELECT {query} FROM one{closing}")
                    want = support.value(db, f"SELECT {twin} FROM one{closing}")
                    batch.compare(got, want, f"{query} of {value!r}")
        db.close()


def test_collations(db):
    """6: TEXT is compared by BINARY, whatever the column says; UTF-16 databases too."""
    support.execute(db, "CREATE TEMP TABLE c(x TEXT COLLATE NOCASE)", "INSERT INTO c VALUES ('a'), ('B'), ('c')")
    tap.is_equal(
        db.execute("SELECT gpu_min(x), gpu_max(x), min(x), max(x) FROM c").fetchone(),
        ("B", "c", "a", "c"),
        "6 gpu_min, gpu_max: BINARY, though the column is NOCASE",
    )
    for encoding in ("UTF-16le", "UTF-16be"):
        wide = support.connect()
        wide.execute(f"PRAGMA encoding = '{encoding}'")
        support.fill(wide, ones(["\u0101", "a", "\U0001f600", "\uffee", "12"]))
        tap.is_equal(
            wide.execute("SELECT gpu_min(x), gpu_max(x), gpu_sum(x) FROM t").fetchone(),
            ("12", "\U0001f600", 12.0),
            f"6 gpu_min, gpu_max: by bytes of UTF-8 in {encoding}",
        )
        wide.close()


def test_fresh():
    """6: the first values that a connection ever sees, when nothing is kept from earlier ones."""
    for items in ([""], [b""], ["", "a"], [b"", "a"], ["x"], [None, ""], [2, ""]):
        for function in ("gpu_min", "gpu_max"):
            for sql in (f"SELECT {function}(x) FROM t", f"SELECT {function}(x) OVER () FROM t LIMIT 1"):
                db = support.connect()
                support.fill(db, ones(items))
                tap.is_equal(
                    support.value(db, sql),
                    answer(function, ones(items)),
                    f"6 {function} of {items} in a new connection: {sql}",
                )
                db.close()


def test_types(db):
    """6: what SQLite calls the type of each result."""
    got = db.execute(
        """SELECT typeof(gpu_sum(1)), typeof(gpu_sum(1.0)), typeof(gpu_sum('1.0')),
                        typeof(gpu_sum(NULL)), typeof(gpu_total(1)), typeof(gpu_avg(1)),
                        typeof(gpu_min('a')), typeof(gpu_max(x'00')), typeof(gpu_min(1.0)),
                        typeof(gpu_max(1)), typeof(gpu_dot(1, 1)), typeof(gpu_dot(1, 1.0))"""
    ).fetchone()
    want = ("integer", "real", "real", "null", "real", "real", "text", "blob", "real", "integer", "integer", "real")
    tap.is_equal(got, want, "6 the types of the results")


def test_arguments(db):
    """8: SQLite's own error for a wrong number of arguments."""
    for function in support.FUNCTIONS:
        right = 2 if function.endswith("dot") else 1
        for count in {0, 1, 2, 3} - {right}:
            given = ", ".join(["1"] * count)
            tap.raises(
                lambda given=given, function=function: db.execute(f"SELECT {function}({given})"),
                f"wrong number of arguments to function {function}()",
                f"8 {function} with {count} arguments",
            )


#: Lowers the heap's limit step by step: each query gives its answer or reports that memory is out.
STARVE = """
db = support.connect({mode!r}, chunk_size=4096, host_threshold=1)
support.fill(db, ((i * 0.5 if i % 2 else i, "text %d" % i) for i in range(20000)))
queries = ["SELECT gpu_sum(x), gpu_dot(x, x), gpu_min(y), gpu_max(x) FROM t",
           "SELECT sum(m), sum(s) FROM (SELECT length(gpu_max(y) OVER w) AS m,"
           " gpu_sum(x) OVER w AS s FROM t WINDOW w AS (ORDER BY rowid ROWS 3000 PRECEDING))",
           "SELECT count(*), sum(s) FROM (SELECT gpu_sum(x) AS s FROM t GROUP BY rowid % 1000)"]
want = [db.execute(query).fetchall() for query in queries]
short = 0
for limit in {limits}:
    for query, answer in [("PRAGMA hard_heap_limit = %d" % limit, [(limit,)]), *zip(queries, want)]:
        try:
            assert db.execute(query).fetchall() == answer, query
        except MemoryError:
            short += 1
    if short > {most}:
        break
print("short of memory", short, "times")
"""


def test_memory():
    """8: out of memory is SQLITE_NOMEM, and neither a crash nor a wrong answer."""
    limits, most = range(4_000_000, 400_000, -30_000), 30
    if tap.QUICK:
        limits, most = range(2_000_000, 400_000, -60_000), 15
    for mode in support.modes():
        process = support.child(STARVE.format(mode=mode, limits=limits, most=most))
        support.child_ok(process, f"8 less and less memory, {mode}: an answer or SQLITE_NOMEM")
        tap.diag(process.stdout.strip())


support.run(globals(), db=support.connect())
