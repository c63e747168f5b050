"""Clauses 5 to 8 of the aggregates' contract: TEXT, extremes, windows, arguments, and memory.

contract_cases.py says how each case runs.
"""

import math

import support
import tap
from contract_cases import HUGE, INF, NULL, OVERFLOWS, TINY, ULP, Runner, ones
from reference import INT_MAX, INT_MIN, answer

TEXTS = [
    ("an INTEGER as TEXT", "gpu_sum", ["12"], 12),
    ("an INTEGER as TEXT, signed", "gpu_sum", ["-12", "+5"], -7),
    ("an INTEGER as TEXT, with spaces", "gpu_sum", [" 2 ", "\t3\n"], 5),
    ("an INTEGER as TEXT, with zeros", "gpu_sum", ["007"], 7),
    ("a whole REAL as TEXT is REAL", "gpu_sum", ["2.0"], 2.0),
    ("a whole REAL as TEXT, with a point", "gpu_sum", ["2."], 2.0),
    ("a BLOB beside an INTEGER as TEXT", "gpu_sum", ["2", b"3"], 5.0),
    ("a real number as TEXT", "gpu_sum", ["0.5"], 0.5),
    ("an exponent", "gpu_sum", ["1e2"], 100.0),
    ("a prefix", "gpu_sum", ["12abc"], 12.0),
    ("spaces around", "gpu_sum", [" 3.5 "], 3.5),
    ("no number", "gpu_sum", ["abc"], 0.0),
    ("empty TEXT", "gpu_sum", [""], 0.0),
    ("hexadecimal is not read", "gpu_sum", ["0x10"], 0.0),
    ("an infinity as TEXT", "gpu_sum", ["9e999"], INF),
    ("infinities as TEXT", "gpu_sum", ["9e999", "-9e999"], NULL),
    ("the word is no infinity", "gpu_sum", ["inf", "nan"], 0.0),
    ("a BLOB", "gpu_sum", [b"12"], 12.0),
    ("a BLOB's prefix", "gpu_sum", [b"1.5\xff"], 1.5),
    ("an empty BLOB", "gpu_sum", [b""], 0.0),
    ("TEXT beside INTEGERs", "gpu_sum", [1, "2", 3], 6),
    ("TEXT that is a REAL makes it REAL", "gpu_sum", [1, "2e0"], 3.0),
    ("TEXT that is no number makes it REAL", "gpu_sum", [1, "x"], 1.0),
    ("a BLOB beside INTEGERs", "gpu_sum", [1, b"2", 3], 6.0),
    ("TEXT beside REALs", "gpu_sum", [1.5, "2", b"3"], 6.5),
    (
        "an INTEGER as TEXT is exact",
        "gpu_sum",
        ["9223372036854775807", "-9223372036854775808"],
        -1,
    ),
    (
        "odd INTEGERs as TEXT are exact",
        "gpu_sum",
        ["9007199254740993", "9007199254740993"],
        2**54 + 2,
    ),
    ("TEXT above 64 bits is REAL", "gpu_sum", ["9223372036854775808"], 2.0**63),
    ("TEXT below 64 bits is REAL", "gpu_sum", ["-9223372036854775809"], -(2.0**63)),
    ("INTEGERs as TEXT overflow", "gpu_sum", ["9223372036854775807", INT_MAX], OVERFLOWS),
    ("INTEGERs as TEXT never overflow", "gpu_total", ["9223372036854775807", INT_MAX], 2.0**64),
    ("INTEGERs as TEXT", "gpu_avg", ["2", "4"], 3.0),
    ("TEXT in a total", "gpu_total", ["1.5", "2x", b"3"], 6.5),
    ("TEXT in an average", "gpu_avg", ["1", "x", b"2", 4], 1.75),
    ("an INTEGER as TEXT by a number", "gpu_dot", [("2", 3)], 6),
    ("an INTEGER as TEXT by another", "gpu_dot", [("2", "3"), (4, 5)], 26),
    ("a REAL as TEXT by a number", "gpu_dot", [("2.0", 3)], 6.0),
    ("the products of TEXT overflow", "gpu_dot", [("9223372036854775807", "2")], OVERFLOWS),
    ("a number by a BLOB", "gpu_dot", [(3, b"2.5z")], 7.5),
    ("TEXT by TEXT", "gpu_dot", [("4", "0.5"), (1, 1)], 3.0),
    ("TEXT that is no number, by an infinity", "gpu_dot", [("x", INF)], NULL),
]
LITERALS = """2|-2|+2| 2 |2 |\t2\n|007|0|-0|2.0|2.|.5|1e3|1e0|2e-1|0x10|abc||12abc|- 2|--2|1_000|1,5|inf|9e999
9223372036854775807|-9223372036854775808|+9223372036854775807|00009223372036854775807
9223372036854775808|-9223372036854775809|18446744073709551616|123456789012345678901234567890
9007199254740993|9007199254740993.0|\u0662|2\u00a0|\u00a02|2\u2003""".replace("\n9", "|9").split("|")


def literals():
    """TEXT and BLOB as SQLite's own sum() reads them, in every encoding, in views and states too."""
    for encoding in ("UTF-8", "UTF-16le", "UTF-16be"):
        db = support.connect()
        db.execute(f"PRAGMA encoding = '{encoding}'")
        db.execute("SELECT clreduce_set('view_threshold', 0)")
        db.execute("CREATE TABLE one(x)")
        db.execute("CREATE VIRTUAL TABLE temp.v USING clreduce((SELECT gpu_sum(x) AS s FROM one))")
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
        batch.end()
        db.close()


EXTREMES = [
    ("INTEGERs", "gpu_min", [3, -7, 5], -7),
    ("INTEGERs", "gpu_max", [3, -7, 5], 5),
    ("negative INTEGERs", "gpu_max", [-3, -7, -5], -3),
    ("the limits", "gpu_min", [INT_MAX, INT_MIN, 0], INT_MIN),
    ("the limits", "gpu_max", [INT_MIN, INT_MAX, 0], INT_MAX),
    ("the greatest alone", "gpu_min", [INT_MAX], INT_MAX),
    ("the least alone", "gpu_max", [INT_MIN], INT_MIN),
    ("REALs", "gpu_min", [3.5, -7.25, 5.0], -7.25),
    ("REALs", "gpu_max", [3.5, -7.25, 5.0], 5.0),
    ("very negative REALs", "gpu_max", [-1e308, -HUGE], -1e308),
    ("very positive REALs", "gpu_min", [1e308, HUGE], 1e308),
    ("subnormals", "gpu_min", [TINY, 2 * TINY, 1.0], TINY),
    ("negative subnormals", "gpu_max", [-TINY, -2 * TINY, -1.0], -TINY),
    ("infinities", "gpu_min", [1e308, INF, -INF], -INF),
    ("infinities", "gpu_max", [-1e308, INF, -INF], INF),
    ("an infinity alone", "gpu_min", [INF], INF),
    ("a negative infinity alone", "gpu_max", [-INF], -INF),
    ("an infinity and an INTEGER", "gpu_min", [INF, INT_MAX], INT_MAX),
    ("an infinity and an INTEGER", "gpu_max", [-INF, INT_MIN], INT_MIN),
    ("INTEGER against REAL", "gpu_min", [2, 1.5, 3], 1.5),
    ("INTEGER against REAL", "gpu_max", [2, 1.5, 3], 3),
    ("equal: INTEGER", "gpu_min", [1.0, 1], 1),
    ("equal: INTEGER", "gpu_max", [1.0, 1], 1),
    ("equal zeros: INTEGER", "gpu_min", [0.0, 0, -0.0], 0),
    ("equal zeros: INTEGER", "gpu_max", [0.0, 0, -0.0], 0),
    ("zeros of both signs", "gpu_min", [0.0, -0.0], -0.0),
    ("zeros of both signs", "gpu_max", [-0.0, 0.0], 0.0),
    ("a negative zero alone", "gpu_max", [-0.0], -0.0),
    ("2 to the 53 and one more", "gpu_max", [2.0**53, 2**53 + 1], 2**53 + 1),
    ("2 to the 53 and one more", "gpu_min", [2.0**53 + 2, 2**53 + 1], 2**53 + 1),
    ("2 to the 53 plus two, a REAL, is greater", "gpu_max", [2.0**53 + 2, 2**53 + 1], 2.0**53 + 2),
    ("minus 2 to the 53 and one less", "gpu_min", [-(2.0**53), -(2**53) - 1], -(2**53) - 1),
    ("2 to the 63 is above every INTEGER", "gpu_max", [2.0**63, INT_MAX], 2.0**63),
    ("2 to the 63 is above every INTEGER", "gpu_min", [2.0**63, INT_MAX], INT_MAX),
    ("minus 2 to the 63 equals the least INTEGER", "gpu_min", [-(2.0**63), INT_MIN], INT_MIN),
    ("minus 2 to the 63 equals the least INTEGER", "gpu_max", [-(2.0**63), INT_MIN], INT_MIN),
    (
        "below every INTEGER",
        "gpu_min",
        [math.nextafter(-(2.0**63), -INF), INT_MIN],
        math.nextafter(-(2.0**63), -INF),
    ),
    ("a whole REAL stays REAL", "gpu_max", [3.0, 2], 3.0),
    ("numbers before TEXT", "gpu_min", ["1", 2, "a"], 2),
    ("numbers before TEXT", "gpu_max", ["1", 2, INF], "1"),
    ("TEXT before BLOB", "gpu_max", [b"a", "b", 9], b"a"),
    ("TEXT before BLOB", "gpu_min", [b"a", "b"], "b"),
    ("numbers before BLOB", "gpu_min", [b"", INF], INF),
    ("empty TEXT", "gpu_min", ["", "a"], ""),
    ("empty TEXT is above numbers", "gpu_max", ["", 1], ""),
    ("an empty BLOB is above TEXT", "gpu_max", ["zzz", b""], b""),
    ("a longer TEXT is above its prefix", "gpu_max", ["ab", "abc"], "abc"),
    ("a longer TEXT is above its prefix", "gpu_min", ["abc", "ab"], "ab"),
    ("TEXT by its bytes: capitals first", "gpu_min", ["b", "a", "Z"], "Z"),
    (
        "TEXT by its bytes, beyond ASCII",
        "gpu_max",
        ["z", "\u00e4", "\uffee", "\U0001f600"],
        "\U0001f600",
    ),
    ("TEXT that looks like numbers", "gpu_max", ["9", "10"], "9"),
    ("TEXT with a NUL", "gpu_max", ["a\0b", "a\0c", "a"], "a\0c"),
    ("TEXT with a NUL", "gpu_min", ["a\0b", "a\0"], "a\0"),
    ("BLOBs by unsigned bytes", "gpu_max", [b"\x7f", b"\x80", b"\x00"], b"\x80"),
    ("BLOBs by unsigned bytes", "gpu_min", [b"\x7f", b"\x80", b"\x00\x00", b"\x00"], b"\x00"),
    ("long TEXT", "gpu_max", ["x" * 70000 + "a", "x" * 70000 + "b"], "x" * 70000 + "b"),
    ("TEXT is not read as a number", "gpu_min", ["-5", 3], 3),
]


def collations(db):
    """6: TEXT is compared by BINARY, whatever the column says; UTF-16 databases too."""
    db.execute("CREATE TEMP TABLE c(x TEXT COLLATE NOCASE)")
    db.execute("INSERT INTO c VALUES ('a'), ('B'), ('c')")
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


def fresh():
    """6: the first values that a connection ever sees, when nothing is kept from earlier ones."""
    for items in ([""], [b""], ["", "a"], [b"", "a"], ["x"], [NULL, ""], [2, ""]):
        for function in ("gpu_min", "gpu_max"):
            for sql in (
                f"SELECT {function}(x) FROM t",
                f"SELECT {function}(x) OVER () FROM t LIMIT 1",
            ):
                db = support.connect()
                support.fill(db, ones(items))
                tap.is_equal(
                    support.value(db, sql),
                    answer(function, ones(items)),
                    f"6 {function} of {items} in a new connection: {sql}",
                )
                db.close()


def types(db):
    """6: what SQLite calls the type of each result."""
    got = db.execute(
        """SELECT typeof(gpu_sum(1)), typeof(gpu_sum(1.0)), typeof(gpu_sum('1.0')),
                        typeof(gpu_sum(NULL)), typeof(gpu_total(1)), typeof(gpu_avg(1)),
                        typeof(gpu_min('a')), typeof(gpu_max(x'00')), typeof(gpu_min(1.0)),
                        typeof(gpu_max(1)), typeof(gpu_dot(1, 1)), typeof(gpu_dot(1, 1.0))"""
    ).fetchone()
    tap.is_equal(
        got,
        (
            "integer",
            "real",
            "real",
            "null",
            "real",
            "real",
            "text",
            "blob",
            "real",
            "integer",
            "integer",
            "real",
        ),
        "6 the types of the results",
    )


WINDOWS = [
    ("an infinity leaves", "gpu_sum", [INF, 1.5, 2.5], [INF, INF, 4.0]),
    ("infinities of both signs leave", "gpu_sum", [INF, -INF, 1.0, 2.0], [INF, NULL, -INF, 3.0]),
    ("1e300 leaves", "gpu_sum", [1e300, 1e-300, 2e-300], [1e300, 1e300, 3e-300]),
    ("an overflow leaves", "gpu_sum", [HUGE, HUGE, 1.0, 1.5], [HUGE, INF, HUGE, 2.5]),
    ("a REAL leaves: INTEGER again", "gpu_sum", [0.5, 1, 2], [0.5, 1.5, 3]),
    ("TEXT leaves: INTEGER again", "gpu_sum", ["7.", 1, 2], [7.0, 8.0, 3]),
    ("an INTEGER as TEXT leaves", "gpu_sum", ["7", 1, 2], [7, 8, 3]),
    ("a BLOB leaves: INTEGER again", "gpu_sum", [b"7", 1, 2], [7.0, 8.0, 3]),
    ("all leave: NULL", "gpu_sum", [1, NULL, NULL, 2], [1, 1, NULL, 2]),
    ("all leave: 0.0", "gpu_total", [1, NULL, NULL, 2], [1.0, 1.0, 0.0, 2.0]),
    ("INTEGERs at the limit leave", "gpu_sum", [INT_MAX, INT_MIN, 5], [INT_MAX, -1, INT_MIN + 5]),
    ("tenths leave", "gpu_sum", [0.1, 0.2, 0.3], [0.1, 0.1 + 0.2, 0.5]),
    ("an average after an infinity", "gpu_avg", [INF, 1, 2], [INF, INF, 1.5]),
    ("an average after 1e300", "gpu_avg", [1e300, 0.1, 0.1], [1e300, 5e299, 0.1]),
    ("the least leaves", "gpu_min", [1, 5, 3], [1, 1, 3]),
    ("the greatest leaves", "gpu_max", [9.5, 1, 5], [9.5, 9.5, 5]),
    ("a BLOB leaves", "gpu_max", [b"z", "t", 1.0, 2], [b"z", b"z", "t", 2]),
    ("the INTEGER of equals leaves", "gpu_min", [1, 1.0, 1.0], [1, 1, 1.0]),
    ("the INTEGER of equals stays", "gpu_max", [1.0, 1, 1.0], [1.0, 1, 1]),
    ("zeros", "gpu_min", [-0.0, 0.0, 0.0], [-0.0, -0.0, 0.0]),
]
DOT_WINDOWS = [
    ("an infinity leaves", [(INF, 1), (1.5, 2), (2, 1)], [INF, INF, 5.0]),
    ("zero by an infinity leaves", [(0, INF), (1, 2), (2, 4)], [NULL, NULL, 10]),
    ("a large product leaves", [(1e200, 1e200), (1.0, 2.0), (0.5, 1.0)], [INF, INF, 2.5]),
    ("a tiny product leaves", [(TINY, TINY), (1, 1), (ULP / 2, 1)], [0.0, 1.0, 1.0]),
    ("a REAL leaves: INTEGER again", [(0.5, 4), (1, 3), (2, 2)], [2.0, 5.0, 7]),
    (
        "a large INTEGER product leaves",
        [(INT_MAX, 1), (-(2**31), 2**32), (7, 1)],
        [INT_MAX, -1, INT_MIN + 7],
    ),
]


def windows(runner):
    """7: frames of two rows, over which values enter and leave."""
    for what, function, values, want in WINDOWS:
        window(runner, what, function, ones(values), want)
    for what, pairs, want in DOT_WINDOWS:
        window(runner, what, "gpu_dot", pairs, want)


def window(runner, what, function, pairs, want):
    """7: one check of a frame of two rows."""
    batch = support.Batch(f"7 {function}: {what}")
    sql = (
        f"SELECT {support.call(function)} OVER (ORDER BY rowid ROWS 1 PRECEDING) FROM t"
        " ORDER BY rowid"
    )
    for label, db, _ in runner.runs:
        support.fill(db, pairs)
        got = [row[0] for row in db.execute(sql)]
        batch.compare(got, want, label)
    batch.end()


def arguments(db):
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
    for query, answer in zip(queries, want):
        try:
            assert db.execute(query).fetchall() == answer, query
        except MemoryError:
            short += 1
    db.execute("PRAGMA hard_heap_limit = %d" % limit).fetchall()
    if short > {most}:
        break
print("short of memory", short, "times")
"""


def memory():
    """8: out of memory is SQLITE_NOMEM, and neither a crash nor a wrong answer."""
    limits, most = range(4_000_000, 400_000, -30_000), 30
    if tap.QUICK:
        limits, most = range(2_000_000, 400_000, -60_000), 15
    for mode in support.modes():
        process = support.child(STARVE.format(mode=mode, limits=limits, most=most))
        support.child_ok(process, f"8 less and less memory, {mode}: an answer or SQLITE_NOMEM")
        tap.diag(process.stdout.strip())


def main():
    runner = Runner()
    db = runner.runs[0][1]
    runner.cases("5", TEXTS)
    literals()
    runner.cases("6", EXTREMES)
    collations(db)
    fresh()
    types(db)
    windows(runner)
    arguments(db)
    memory()
    tap.done()


main()
