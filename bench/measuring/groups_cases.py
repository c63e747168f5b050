"""What the part about groups asks: h2oai's groupby queries, TPC-H's Q1, flights, and one row."""

import collections

#: sql: what a view holds. plain: the same with SQLite's own functions, where it has them, which is
#: what SQLite is timed with; None: sql. duckdb: DuckDB's twin. tenth: rows are compared
#: with SQLite's over a tenth of them. first: a first query is measured as well.
Question = collections.namedtuple("Question", "name table sql duckdb plain tenth first",
                                  defaults=(None, False, True))


def h2oai(number, items, keys, plain=None, **more):
    """A query of the groupby benchmark: DuckDB's has the plain functions."""
    own = plain or items
    return Question(f"h2oai q{number}", "h2o", f"SELECT {keys}, {items} FROM h2o GROUP BY {keys}",
                    more.pop("duckdb", None) or f"SELECT {keys}, {own} FROM h2o GROUP BY {keys}",
                    plain and f"SELECT {keys}, {plain} FROM h2o GROUP BY {keys}",
                    tenth=True, **more)


ALL_IDS = "id1, id2, id3, id4, id5, id6"
MEDIANS = "SELECT id4, id5, median(v3), stddev_samp(v3) FROM h2o GROUP BY id4, id5"
SQUARES = "SELECT id2, id4, regr_r2(v1, v2) FROM h2o GROUP BY id2, id4"

#: What is asked of the groupby benchmark's data.
H2OAI = (
    h2oai(1, "sum(v1)", "id1"),
    h2oai(2, "sum(v1)", "id1, id2"),
    h2oai(3, "sum(v1), gpu_avg(v3)", "id3", "sum(v1), avg(v3)"),
    h2oai(4, "avg(v1), avg(v2), gpu_avg(v3)", "id4", "avg(v1), avg(v2), avg(v3)"),
    h2oai(5, "sum(v1), sum(v2), gpu_sum(v3)", "id6", "sum(v1), sum(v2), sum(v3)"),
    h2oai(6, "gpu_median(v3), gpu_stddev_samp(v3)", "id4, id5", duckdb=MEDIANS),
    h2oai(7, "max(v1) - min(v2)", "id3"),
    h2oai(8, "max(v3)", "id6"),
    h2oai(9, "gpu_regr_r2(v1, v2)", "id2, id4", duckdb=SQUARES),
    h2oai(10, "gpu_sum(v3), count(*)", ALL_IDS, "sum(v3), count(*)", first=False),
)


def one_row(value):
    """The search for the row with a value, in a column without an index."""
    sql = f"SELECT * FROM h2o WHERE v3 = {value}"
    return Question("one row found", "h2o", sql, sql)


def priced(aggregate_sum, aggregate_avg, day):
    """TPC-H's Q1."""
    total, mean = aggregate_sum, aggregate_avg
    return (f"SELECT l_returnflag, l_linestatus, {total}(l_quantity), {total}(l_extendedprice),"
            f" {total}(l_extendedprice * (1 - l_discount)),"
            f" {total}(l_extendedprice * (1 - l_discount) * (1 + l_tax)), {mean}(l_quantity),"
            f" {mean}(l_extendedprice), {mean}(l_discount), count(*) FROM lineitem"
            f" WHERE l_shipdate <= {day} GROUP BY l_returnflag, l_linestatus"
            " ORDER BY l_returnflag, l_linestatus")


LINEITEM = (Question("TPC-H Q1", "lineitem", priced("gpu_sum", "gpu_avg", "'1998-09-02'"),
                     priced("sum", "avg", "DATE '1998-09-02'"),
                     priced("sum", "avg", "'1998-09-02'")),)


def flights(name, sql, duckdb=None):
    """A question about flights, of which SQLite has the same functions or none."""
    return Question(name, "flights", sql, duckdb or sql)


FLIGHTS = (
    flights("by origin", "SELECT origin, sum(delay) FROM flights GROUP BY origin"),
    flights("by month", "SELECT substr(date, 1, 7) AS month, sum(delay) FROM flights"
            " GROUP BY month"),
    flights("by weekday", "SELECT strftime('%w', date) AS day, sum(delay) FROM flights"
            " GROUP BY day",
            "SELECT strftime(CAST(date AS TIMESTAMP), '%w') AS day, sum(delay) FROM flights"
            " GROUP BY day"),
    flights("median by month", "SELECT substr(date, 1, 7) AS month, gpu_median(delay) FROM flights"
            " GROUP BY month",
            "SELECT substr(date, 1, 7) AS month, median(delay) FROM flights GROUP BY month"),
    flights("DISTINCT origin", "SELECT DISTINCT origin FROM flights"),
    flights("top 10 by count", "SELECT origin, count(*) AS n FROM flights GROUP BY origin"
            " ORDER BY n DESC, origin LIMIT 10"),
)
