"""Memory does not grow with the rows: what is buffered is bounded, and all of it is freed.

What gpu_min and gpu_max may keep of values that get ever worse is bounded by a quarter of
values_memory.
"""

import resource

import support
import tap

#: Rows of the long query; the short one, which sets the mark, has a twentieth of them.
ROWS = 100_000 if tap.QUICK else 2_000_000

MEASURE = """
import resource
db = support.connect({mode!r}, host_threshold=1, values_memory=16_000_000)
query = ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
         " SELECT {select} FROM n{rest}")
peaks = []
if {mode!r} != "host":
    support.wait_for_device(db)
for rows in ({rows} // 20, {rows}):
    db.execute(query % rows).fetchall()
    peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
print(*peaks)
"""

QUERIES = {
    "a sum of REALs": ("gpu_sum(i * 0.5)", ""),
    "a sum of both types": ("gpu_sum(CASE WHEN i %% 2 THEN i ELSE i * 0.5 END)", ""),
    "dot products": ("gpu_dot(i, 0.5), gpu_dot(i, 2)", ""),
    "extremes": ("gpu_min(i), gpu_max(i * 0.5)", ""),
    "extremes of TEXT": ("gpu_min('text ' || i), gpu_max('text ' || i)", ""),
    "groups": ("count(*) FROM (SELECT gpu_sum(i * 0.5), gpu_max(i) FROM n GROUP BY i / 10) -- ", ""),
}

#: How much more the long query may use, in KiB: buffers that fill only now, what malloc wastes.
ALLOWED = 16 * 1024

#: Kilobytes of one thing, to see whether it is freed: it is made this often.
REPEAT = """
import resource
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
def once():
    db = support.connect({mode!r}, **support.SMALL)
    support.fill(db, [(i * 0.5, "text %d" % i) for i in range(2000)])
    db.execute("SELECT gpu_sum(x), gpu_dot(x, x), gpu_max(y) FROM t").fetchall()
    db.execute("SELECT gpu_sum(x) OVER w, gpu_max(y) OVER w FROM t"
               " WINDOW w AS (ROWS 50 PRECEDING)").fetchone()
    try:
        db.execute("SELECT gpu_sum(x), gpu_max(y), abs(-9223372036854775807 - (rowid > 1900))"
                   " FROM t GROUP BY rowid / 500").fetchall()
    except Exception as error:
        assert "integer overflow" in str(error), error
    else:
        raise AssertionError("abs() of the least integer is no error")
    db.close()
for turn in range(20):
    once()
before = peak()
for turn in range({turns}):
    once()
print(before, peak())
"""


def measure(code, name):
    """One check: the second of two peaks that a process printed is not far above the first."""
    process = support.child(code)
    if process.returncode != 0:
        support.child_ok(process, name)
        return
    before, after = map(int, process.stdout.split())
    tap.ok(after - before <= ALLOWED, f"{name}: {before} KiB, then {after} KiB")


def test_queries(mode):
    """Many rows take what few rows take."""
    # A device has the chunks of all: in quick runs every second query.
    for name, (select, rest) in list(QUERIES.items())[:: 2 if tap.QUICK and mode != "host" else 1]:
        measure(MEASURE.format(mode=mode, select=select, rest=rest, rows=ROWS), f"{name}, {mode}")


def test_repeated(mode):
    """Connections and statements, again and again."""
    measure(REPEAT.format(mode=mode, turns=20 if tap.QUICK else 200), f"connections and statements, again and again, {mode}")


if not hasattr(resource, "RUSAGE_SELF"):
    tap.skip_all("no resource usage here")
if tap.SANITIZED:
    tap.skip_all("a sanitizer's own memory would be measured")
support.run(globals(), mode=support.modes())
