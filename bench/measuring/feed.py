"""The feed: what a query costs with the aggregates, beside the same query with SQLite's own.

A case is a list of statements that take turns in one process; the first one is what the case is
about, and a speed is how many times it is as fast as another one, round by round. The tables are
described in feed_data.h.
"""

from measuring import method

TWINS = (("gpu_sum", "sum"), ("gpu_avg", "avg"), ("gpu_total", "total"), ("gpu_min", "min"),
         ("gpu_max", "max"))
FRAME = "OVER (ORDER BY id ROWS 100 PRECEDING)"

#: Rounds of a case at most, and the seconds after which it has enough of them.
ROUNDS, SECONDS = 9, 2


def columns():
    """REAL in all rows, with the floor that no aggregate can pass; INTEGER and mixed in a tenth."""
    for ours, theirs in TWINS:
        statements = [("auto", f"SELECT {ours}(x) FROM t"), ("auto", f"SELECT {theirs}(x) FROM t")]
        if ours in ("gpu_sum", "gpu_max"):
            statements.append(("host", f"SELECT {ours}(x) FROM t"))
        if ours == "gpu_sum":
            statements += [("auto", f"SELECT {floor}(x) FROM t")
                           for floor in ("bench_noop", "bench_context")]
        yield f"{ours}, REAL", "all", statements
    for column, kind in (("i", "INTEGER"), ("m", "mixed")):
        for ours, theirs in TWINS:
            yield f"{ours}, {kind}", "tenth", [("auto", f"SELECT {name}({column}) FROM mixed")
                                               for name in (ours, theirs)]


def combined():
    """Two columns in one aggregate, and three aggregates in one query."""
    yield "gpu_dot, REAL", "all", [("auto", "SELECT gpu_dot(x, y) FROM t"),
                                   ("auto", "SELECT sum(x * y) FROM t"),
                                   ("host", "SELECT gpu_dot(x, y) FROM t")]
    yield "gpu_dot, INTEGER", "tenth", [("auto", "SELECT gpu_dot(i, id) FROM mixed"),
                                        ("auto", "SELECT sum(i * id) FROM mixed")]
    yield "three aggregates", "all", [("auto", "SELECT gpu_sum(x), gpu_min(x), gpu_max(x) FROM t"),
                                      ("auto", "SELECT sum(x), min(x), max(x) FROM t")]


def groups():
    """Groups that lie in order cost little but the aggregate; others are sorted first."""
    for table, rows in (("in10", "tenth"), ("in1000", "tenth"), ("inmany", "all")):
        label = {"in10": "10", "in1000": "1,000", "inmany": "rows / 10"}[table]
        yield f"GROUP BY, {label} groups in order", rows, [
            ("auto", f"SELECT {name}(x) FROM {table} GROUP BY g") for name in ("gpu_sum", "sum")]
    for column, label in (("g10", "10"), ("g1000", "1,000"), ("gmany", "rows / 10")):
        yield f"GROUP BY, {label} groups in no order", "tenth", [
            ("auto", f"SELECT {name}(x) FROM mixed GROUP BY {column}")
            for name in ("gpu_sum", "sum")]


def windows():
    """Frames that rows enter and leave."""
    for ours, theirs in (TWINS[0], TWINS[4]):
        yield f"{ours}, window", "tenth", [("auto", f"SELECT {name}(x) {FRAME} FROM mixed")
                                           for name in (ours, theirs)]


def all_cases():
    """Every case: its name, the rows of its table (all or a tenth), its statements."""
    for make in (columns, combined, groups, windows):
        yield from make()


def evaluate(case, rows):
    """Adds to a case, as feed-bench measured it, the summaries of its times and speeds."""
    statements = case["statements"]
    for statement in statements:
        statement["time_ns"] = method.summary(statement["ns"])
        statement["speed"] = method.ratios(statement["ns"], statements[0]["ns"])
    case["rows"] = rows
    return case


def measure(tools, only=None):
    """Measures all cases, or those of the names in only."""
    chosen = [case for case in all_cases() if only is None or case[0] in only]
    counts = {name: tools.rows if rows == "all" else tools.rows // 10 for name, rows, _ in chosen}
    results = []
    path = tools.database()
    method.say(f"feed: {chosen[0][0]}")
    for case in tools.compare(path, [(name, statements)
                                     for name, _, statements in chosen], ROUNDS, SECONDS):
        results.append(evaluate(case, counts[case["name"]]))
        if len(results) < len(chosen):
            method.say(f"feed: {chosen[len(results)][0]}")
    return results
