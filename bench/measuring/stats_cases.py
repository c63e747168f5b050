"""What is measured of statistics: functions, SQLite's and DuckDB's nearest, and their tables.

SQLite's are an expression that finds the same in inexact arithmetic, a GROUP BY, count(DISTINCT),
and median() and percentile() of SQLite's extension, which are in its core since 3.51. The tables
are described in statistics_data.h.
"""

import re

from measuring import peers

LOW, HIGH, BINS = -716, 716, 50
WIDTH = (HIGH - LOW) / BINS

VAR_POP = "sum(x * x) / count(x) - avg(x) * avg(x)"
STDDEV_SAMP = "sqrt((sum(x * x) - sum(x) * sum(x) / count(x)) / (count(x) - 1))"
CORR = ("(count(*) * sum(x * y) - sum(x) * sum(y)) / sqrt((count(*) * sum(x * x) - sum(x) * sum(x))"
        " * (count(*) * sum(y * y) - sum(y) * sum(y)))")
SLOPE = ("(count(*) * sum(x * y) - sum(x) * sum(y)) / "
         "(count(*) * sum(x * x) - sum(x) * sum(x))")

#: A name, our call, SQLite's SELECT and DuckDB's.
FUNCTIONS = (
    ("var_pop", "gpu_var_pop(x)", f"SELECT {VAR_POP} FROM t", "SELECT var_pop(x) FROM t"),
    ("stddev_samp", "gpu_stddev_samp(x)", f"SELECT {STDDEV_SAMP} FROM t",
     "SELECT stddev_samp(x) FROM t"),
    ("corr", "gpu_corr(y, x)", f"SELECT {CORR} FROM t", "SELECT corr(y, x) FROM t"),
    ("regr_slope", "gpu_regr_slope(y, x)", f"SELECT {SLOPE} FROM t",
     "SELECT regr_slope(y, x) FROM t"),
    ("norm", "gpu_norm(x)", "SELECT sqrt(sum(x * x)) FROM t", "SELECT sqrt(sum(x * x)) FROM t"),
    ("count_distinct", "gpu_count_distinct(x)", "SELECT count(DISTINCT x) FROM t",
     "SELECT count(DISTINCT x) FROM t"),
    ("count_distinct, few", "gpu_count_distinct(k)", "SELECT count(DISTINCT k) FROM t",
     "SELECT count(DISTINCT k) FROM t"),
    ("median", "gpu_median(x)", "SELECT median(x) FROM t", "SELECT median(x) FROM t"),
    ("percentile", "gpu_percentile(x, 90)", "SELECT percentile(x, 90) FROM t",
     "SELECT quantile_cont(x, 0.9) FROM t"),
    ("mode", "gpu_mode(k)", "SELECT k FROM t GROUP BY k ORDER BY count(*) DESC, k LIMIT 1",
     "SELECT mode(k) FROM t"),
    ("histogram", f"gpu_histogram(x, {LOW}, {HIGH}, {BINS})",
     f"SELECT CAST((x + {-LOW}) / {WIDTH} AS INTEGER) AS bin, count(*) FROM t GROUP BY bin",
     f"SELECT CAST(floor((x + {-LOW}) / {WIDTH}) AS INTEGER) AS bin, count(*) FROM t GROUP BY bin"),
)
#: What sqlean has for the same purpose: a name, our call and its own.
SQLEAN = (("var_pop, sqlean", "gpu_var_pop(x)", "stats_var_pop(x)"),
          ("stddev_samp, sqlean", "gpu_stddev_samp(x)", "stats_stddev_samp(x)"),
          ("median, sqlean", "gpu_median(x)", "stats_median(x)"),
          ("percentile, sqlean", "gpu_percentile(x, 90)", "stats_perc(x, 90)"))
#: What a view of TEXT is measured with: a name, our call and its table.
TEXT = ("count_distinct, TEXT", "gpu_count_distinct(word)", "words")
#: Views whose first query is measured too: with its pages to read, and maybe values to sort.
READ_FIRST = ("corr", "count_distinct", "median", TEXT[0])
#: Several statistics over the same columns: a name, the calls, and the function among those above
#: that they are held against.
SEVERAL = (("three of (y, x)", "gpu_corr(y, x), gpu_regr_slope(y, x), gpu_covar_pop(y, x)", "corr"),
           ("five percentiles", "gpu_percentile(x, 1), gpu_percentile(x, 25), gpu_median(x),"
            " gpu_percentile(x, 75), gpu_percentile(x, 99)", "median"))

FUNCTION_LIST = "SELECT DISTINCT name FROM pragma_function_list"
#: What SQLite's own extension adds, and newer SQLites have built in; what a case of those is
#: called.
PERCENTILE = {"median", "percentile"}
BUILT_IN = "{}, built in"


def fed_devices(device):
    """The settings to feed with: auto, and the host too where auto may be another device."""
    return ("auto", "host") if device and device["type"] != "cpu" else ("auto",)


def fed_cases(settings):
    """Each function beside SQLite's, and states: a name and statements (device, SQL) each."""
    for name, call, theirs, _ in FUNCTIONS:
        ours = [(setting, f"SELECT {call} FROM t") for setting in settings]
        yield name, [ours[0], (settings[0], theirs), *ours[1:]]
    yield "sum_state, GROUP BY", [(settings[0], f"SELECT {name}(x) FROM grouped GROUP BY g")
                                  for name in ("gpu_sum_state", "sum")]
    yield "sum_merge", [(settings[0], sql) for sql in
                        ("SELECT gpu_sum_merge(state) FROM states", "SELECT sum(part) FROM sums",
                         "SELECT gpu_sum(x) FROM grouped")]


def preparations(percentile):
    """What the cases need: tables that only functions of ours, or SQLite, can fill, and SQLite's
    median()."""
    statements = [f"CREATE TABLE IF NOT EXISTS {table} AS SELECT {select}" for table, select in
                  (("states", "gpu_sum_state(x) AS state FROM grouped GROUP BY g"),
                   ("sums", "sum(x) AS part FROM grouped GROUP BY g"),
                   ("words", "CAST(x AS TEXT) AS word FROM t"))]
    if percentile:
        quoted = percentile.replace("'", "''")
        statements.append(f"SELECT load_extension('{quoted}')")
    return [("auto", sql) for sql in statements]


def called(sql):
    """The names of the functions in a statement."""
    return set(re.findall(r"\b([a-z_]+)\(", sql))


def possible(cases, known):
    """The cases without the statements that call unknown functions, and those functions' names.

    A case whose first statement cannot run is left out.
    """
    chosen, unknown = [], set()
    for name, statements in cases:
        lacking = [called(sql) - known for _, sql in statements]
        unknown.update(*lacking)
        if not lacking[0]:
            chosen.append((name, [statement for statement, lacks in zip(statements, lacking)
                                  if not lacks]))
    return chosen, unknown


def view_candidates(settings, known):
    """What views are measured of: (device, name, kind, SELECT), a function's own SELECT first."""
    selects = [(name, call, "t") for name, call, *_ in FUNCTIONS + SEVERAL] + [TEXT]
    for device in settings:
        for name, call, table in selects:
            if called(call) <= known:
                for kind in ("select", "first", "again"):
                    if kind != "first" or name in READ_FIRST:
                        yield device, name, kind, f"SELECT {call} FROM {table}"


def scrambled(multiplier):
    """The integers that the columns are made of, in DuckDB's SQL."""
    h = f"(n * {multiplier} & 4294967295)"
    g = f"(xor({h}, {h} >> 16) * 73244475 & 4294967295)"
    return f"xor({g}, {g} >> 16)"


def duckdb_columns():
    """The columns of t in DuckDB's SQL, by their names."""
    x, y = (f"({scrambled(multiplier)} - 2147483648)::DOUBLE / {divisor}::DOUBLE"
            for multiplier, divisor in (peers.X, peers.Y))
    one, other = (f"({scrambled(multiplier)} % 1000)" for multiplier in (3266489917, 668265263))
    return {"x": x, "y": f"{y} + {x} / 2::DOUBLE", "k": f"{one} * {other} // 1000"}
