"""SELECTs by states: the bits of one file, over any split and any tree; and what is refused."""

import random

import clreduce
import pytest
from clreduce import states

pytest.importorskip("sqlglot")

SELECTS = [
    ("SELECT origin, gpu_avg(delay), gpu_max(delay) FROM flights GROUP BY origin", {}),
    ("SELECT count(*), gpu_sum(fare), gpu_total(fare) AS t, gpu_avg(fare), gpu_dot(fare, delay), gpu_min(fare) FROM flights", {}),
    ("SELECT gpu_sum(fare), gpu_max(origin), count(fare), gpu_total(fare) FROM flights WHERE delay > 100000", {}),
    ("SELECT substr(date, 1, 7) AS m, round(gpu_avg(delay), 2) AS mean, count(*) AS n, 100.0 * count(*) / gpu_sum(distance)"
     " FROM flights AS f WHERE f.delay IS NOT NULL AND origin NOT IN ('ORD') GROUP BY m HAVING n > 10 AND gpu_max(delay) > 5"
     " ORDER BY mean DESC, 3 LIMIT 3", {}),
    ("SELECT Origin, destination, gpu_corr(fare, distance), count(delay) FILTER (WHERE delay > 0) FROM main.flights"
     " GROUP BY 1, 2 ORDER BY origin DESC, 2 LIMIT 7 OFFSET 2", {}),
    ("SELECT distance / 250 AS k, gpu_histogram(delay, -30, 90, 6) AS h, json_array(gpu_histogram(delay, -30, 90, 6)),"
     " gpu_var_samp(fare), gpu_stddev_pop(fare), gpu_norm(fare), gpu_regr_slope(fare, delay) FROM flights GROUP BY k", {}),
    ("SELECT fare > 0 AS positive, fare, count(*) FROM flights WHERE fare BETWEEN -:w AND :w GROUP BY 1, fare"
     " HAVING count(*) >= :n", {"w": 5, "n": 1}),
    ("SELECT strftime('%w', date), CASE WHEN delay > 15 THEN 'late' ELSE 'in time' END AS kind, count(*), gpu_sum(delay) IS NOT 3"
     " FROM flights GROUP BY 1, kind ORDER BY count(*) % 7, kind || 'x'", {}),
    ("SELECT upper(origin) || '-' || count(*) || gpu_max(destination) FROM flights GROUP BY upper(origin)", {}),
    ("SELECT CAST(fare AS INTEGER) % 10 AS digit, gpu_sum(fare) FILTER (WHERE fare > :w) FROM flights GROUP BY digit", {"w": 1}),
]

REFUSED = [
    ("SELECT gpu_median(delay) FROM flights", "gpu_median() is not distributed: it has no small state"),
    ("SELECT gpu_percentile(delay, 5) FROM flights", "gpu_percentile() is not distributed: it has no small state"),
    ("SELECT gpu_mode(delay) FROM flights", "gpu_mode() is not distributed: it has no small state"),
    ("SELECT gpu_count_distinct(origin) FROM flights", "gpu_count_distinct() is not distributed: it has no small state"),
    ("SELECT count(DISTINCT origin) FROM flights", "count(DISTINCT) is not distributed"),
    ("SELECT sum(delay) FROM flights", "sum() is not distributed: write gpu_sum()"),
    ("SELECT max(delay) FROM flights", "max() is not distributed: write gpu_max()"),
    ("SELECT group_concat(origin) FROM flights", "group_concat() is not distributed"),
    ("SELECT origin FROM flights", "neither a key of GROUP BY nor in an aggregate"),
    ("SELECT DISTINCT origin FROM flights", "DISTINCT is not distributed: write GROUP BY"),
    ("SELECT origin, delay, count(*) FROM flights GROUP BY 1", "\"delay\": a column that is neither a key of GROUP BY"),
    ("SELECT gpu_max(rowid) FROM flights", "rowid is no column of flights: rows have other numbers"),
    ("SELECT gpu_sum(a.delay) FROM flights a JOIN flights b USING (origin)", "a join is not distributed"),
    ("SELECT count(*) FROM flights, flights", "a join is not distributed"),
    ("SELECT count(*) FROM (SELECT * FROM flights)", "one table"),
    ("SELECT count(*) FROM generate_series(1, 2)", "one table"),
    ("SELECT count(*) FROM other.flights", "one table"),
    ("SELECT origin, count(*) FROM flights WHERE delay > (SELECT 3) GROUP BY 1", "a subquery"),
    ("SELECT count(*) FROM flights WHERE delay IN (SELECT 3)", "a subquery"),
    ("SELECT count(*) FROM flights WHERE EXISTS (SELECT 3)", "a subquery"),
    ("SELECT count(*) FROM flights WHERE random() > 3", "random() is not distributed"),
    ("SELECT count(*) FROM flights WHERE date > date('NOW')", "'NOW' means other things"),
    ("SELECT count(*) FROM flights WHERE date > date()", "date() is not distributed"),
    ("SELECT count(*) FROM flights WHERE date > CURRENT_DATE", "CURRENT_DATE is no column"),
    ("SELECT count(*) FROM flights UNION ALL SELECT 2", "one SELECT is needed"),
    ("WITH x AS (SELECT 1) SELECT count(*) FROM flights", "WITH is not distributed"),
    ("SELECT origin, count(*) FROM flights GROUP BY 1 LIMIT 3", "LIMIT without ORDER BY"),
    ("SELECT gpu_sum(delay) OVER () FROM flights", "a window function"),
    ("SELECT delay AS origin, count(*) FROM flights GROUP BY origin", "origin is a column and the name of another one"),
    ("SELECT delay * 2 AS d, gpu_sum(delay) FROM flights GROUP BY 1 HAVING gpu_sum(d) > 3", "write its expression"),
    ("SELECT delay * 2 AS d, count(*) FROM flights WHERE d > 3 GROUP BY 1", "write its expression"),
    ("SELECT origin COLLATE NOCASE, count(*) FROM flights GROUP BY 1", "another collating sequence than BINARY"),
    ("SELECT 'a' || \"nosuch\", count(*) FROM flights GROUP BY 1", "\"nosuch\" is no column"),
    ("SELECT -delay, +delay, count(*) FROM flights GROUP BY 1, 2 ORDER BY -delay", "not read as SQLite reads it"),
    ("DELETE FROM flights", "one SELECT is needed"),
    ("SELECT 1; SELECT 2", "one SELECT is needed"),
    ("SELECT count(*) FROM flights WHERE delay > ?", "write :name"),
    ("nonsense (", "cannot be read"),
    ("SELECT 1 FROM flights", "there is no aggregate and no GROUP BY"),
]


def one_file(file, sql, parameters):
    """The names of the columns and the rows by SQLite alone."""
    connection = clreduce.connect(file, read_only=True)
    cursor = connection.execute(sql, parameters)
    rows = cursor.fetchall()
    names = [column[0] for column in cursor.description]
    connection.close()
    return names, rows


def bits(result):
    """A result, so that values which differ are not equal: 1 and 1.0, 0.0 and -0.0."""
    return result[0], [tuple(map(repr, row)) for row in result[1]]


@pytest.mark.parametrize("sql, parameters", SELECTS)
def test_trees(flights, shards, sql, parameters):
    plan = states.make_plan(sql, states.read_schema(shards[0], "flights"), parameters)
    want = bits(one_file(flights, sql, parameters))
    parts = [states.read_states(file, plan) for file in shards]
    source = random.Random(3)
    for _ in range(2):
        left = source.sample(parts, len(parts))
        while len(left) > 1:
            count = source.randint(2, 9)
            left = [*left[count:], states.merge_states(plan, left[:count])]
        assert bits(states.finish(plan, left[0])) == want


@pytest.mark.parametrize("sql, message", REFUSED)
def test_refused(flights, sql, message):
    with pytest.raises(states.NotDistributable) as caught:
        states.make_plan(sql, states.read_schema(flights, "flights"))
    assert message in str(caught.value)


def test_refused_parameter(flights):
    with pytest.raises(states.NotDistributable, match="other tasks"):
        states.make_plan("SELECT count(*) FROM flights WHERE date > date(:d)", states.read_schema(flights, "flights"), {"d": "now"})


def write_values(path, declaration, values):
    """A database with one table of one column."""
    connection = clreduce.connect(path)
    connection.execute(declaration)
    connection.executemany("INSERT INTO t VALUES (?)", [(value,) for value in values])
    connection.commit()
    connection.close()
    return path


@pytest.mark.parametrize("key, values, others", [
    ("x", [1], [1.0]), ("x", [1, 1.0], []), ("x * 1.0", [0.0], [-0.0]), ("x", [2, 0.0], [-0.0, 3])])
def test_equal_keys_that_differ(tmp_path, key, values, others):
    files = [write_values(tmp_path / f"{i}.db", "CREATE TABLE t(x)", part) for i, part in enumerate((values, others))]
    plan = states.make_plan(f"SELECT {key}, count(*) FROM t GROUP BY 1", states.read_schema(files[0], "t"))
    parts = [states.read_states(file, plan) for file in files]
    with pytest.raises(states.NotDistributable, match="equal values that differ"):
        states.finish(plan, states.merge_states(plan, parts))


def test_values(tmp_path):
    """Keys of all types come back as they are, whatever the column."""
    values = [None, 1, 2.5, -(2**63), 2**63 - 1, 1e300, "1", "", "a", "A", b"1", b"", float("inf"), 9007199254740993, 9007199254740992.0]
    for declaration in ("x", "x INTEGER", "x REAL", "x TEXT", "x NUMERIC", "x BLOB"):
        files = [write_values(tmp_path / f"{declaration}{i}.db", f"CREATE TABLE t({declaration})", values[i::3]) for i in range(3)]
        one = write_values(tmp_path / f"{declaration}.db", f"CREATE TABLE t({declaration})", values)
        sql = "SELECT x, typeof(x), x = '1', count(*), gpu_max(x) FROM t GROUP BY x ORDER BY x DESC"
        plan = states.make_plan(sql, states.read_schema(files[0], "t"))
        rows = states.merge_states(plan, [states.read_states(file, plan) for file in files])
        assert bits(states.finish(plan, rows)) == bits(one_file(one, sql, {}))


def test_other_tables(tmp_path):
    """Files whose tables differ are no parts of one."""
    files = [write_values(tmp_path / f"{i}.db", f"CREATE TABLE t(x {declaration})", [1])
             for i, declaration in enumerate(("TEXT", "INTEGER", "TEXT COLLATE NOCASE"))]
    plan = states.make_plan("SELECT x, count(*) FROM t GROUP BY x", states.read_schema(files[0], "t"))
    for file in files[1:]:
        with pytest.raises(states.NotDistributable, match="another table t than the first file"):
            states.read_states(file, plan)
    with pytest.raises(states.NotDistributable, match="another collating sequence"):
        states.make_plan("SELECT x, count(*) FROM t GROUP BY x", states.read_schema(files[2], "t"))
    for sql, name in (("SELECT count(*) FROM t", "u"), ("SELECT count(*) FROM v", "v")):
        clreduce.connect(files[0]).execute("CREATE VIEW IF NOT EXISTS v AS SELECT 1").close()
        with pytest.raises(states.NotDistributable, match=f"has no table {name}"):
            states.read_schema(files[0], name)
