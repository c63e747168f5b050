"""The tables of the Star Schema Benchmark and its thirteen queries (O'Neil, O'Neil, Chen: Star Schema Benchmark, 2009)."""

TABLES = """
CREATE TABLE lineorder(lo_orderkey INT, lo_linenumber INT, lo_custkey INT, lo_partkey INT, lo_suppkey INT, lo_orderdate INT,
    lo_quantity INT, lo_extendedprice INT, lo_discount INT, lo_revenue INT, lo_supplycost INT);
CREATE TABLE dates(d_datekey INTEGER PRIMARY KEY, d_year INT, d_yearmonthnum INT, d_yearmonth TEXT, d_weeknuminyear INT);
CREATE TABLE customer(c_custkey INTEGER PRIMARY KEY, c_city TEXT, c_nation TEXT, c_region TEXT);
CREATE TABLE supplier(s_suppkey INTEGER PRIMARY KEY, s_city TEXT, s_nation TEXT, s_region TEXT);
CREATE TABLE part(p_partkey INTEGER PRIMARY KEY, p_mfgr TEXT, p_category TEXT, p_brand1 TEXT);
"""
DATE, CUSTOMER = "JOIN dates ON lo_orderdate = d_datekey", "JOIN customer ON lo_custkey = c_custkey"
SUPPLIER, PART = "JOIN supplier ON lo_suppkey = s_suppkey", "JOIN part ON lo_partkey = p_partkey"


def discounts(condition):
    """A query of the first flight."""
    return f"SELECT sum(lo_extendedprice * lo_discount) FROM lineorder {DATE} WHERE {condition}"


def brands(condition):
    """A query of the second flight."""
    return (f"SELECT sum(lo_revenue), d_year, p_brand1 FROM lineorder {DATE} {PART} {SUPPLIER} WHERE {condition}"
            " GROUP BY d_year, p_brand1 ORDER BY d_year, p_brand1")


def places(place, condition):
    """A query of the third flight."""
    return (f"SELECT c_{place}, s_{place}, d_year, sum(lo_revenue) AS revenue FROM lineorder {CUSTOMER} {SUPPLIER} {DATE}"
            f" WHERE {condition} GROUP BY c_{place}, s_{place}, d_year ORDER BY d_year ASC, revenue DESC, 1, 2")


def profits(keys, condition):
    """A query of the fourth flight."""
    return (f"SELECT {keys}, sum(lo_revenue - lo_supplycost) AS profit FROM lineorder {DATE} {CUSTOMER} {SUPPLIER} {PART}"
            f" WHERE {condition} GROUP BY {keys} ORDER BY {keys}")


CITIES = "c_city IN ('UNITED KI1', 'UNITED KI5') AND s_city IN ('UNITED KI1', 'UNITED KI5')"
AMERICA, MAKERS = "c_region = 'AMERICA' AND s_region = 'AMERICA'", "p_mfgr IN ('MFGR#1', 'MFGR#2')"
QUERIES = {
    "Q1.1": discounts("d_year = 1993 AND lo_discount BETWEEN 1 AND 3 AND lo_quantity < 25"),
    "Q1.2": discounts("d_yearmonthnum = 199401 AND lo_discount BETWEEN 4 AND 6 AND lo_quantity BETWEEN 26 AND 35"),
    "Q1.3": discounts("d_weeknuminyear = 6 AND d_year = 1994 AND lo_discount BETWEEN 5 AND 7 AND lo_quantity BETWEEN 26 AND 35"),
    "Q2.1": brands("p_category = 'MFGR#12' AND s_region = 'AMERICA'"),
    "Q2.2": brands("p_brand1 BETWEEN 'MFGR#2221' AND 'MFGR#2228' AND s_region = 'ASIA'"),
    "Q2.3": brands("p_brand1 = 'MFGR#2221' AND s_region = 'EUROPE'"),
    "Q3.1": places("nation", "c_region = 'ASIA' AND s_region = 'ASIA' AND d_year BETWEEN 1992 AND 1997"),
    "Q3.2": places("city", "c_nation = 'UNITED STATES' AND s_nation = 'UNITED STATES' AND d_year BETWEEN 1992 AND 1997"),
    "Q3.3": places("city", f"{CITIES} AND d_year BETWEEN 1992 AND 1997"),
    "Q3.4": places("city", f"{CITIES} AND d_yearmonth = 'Dec1997'"),
    "Q4.1": profits("d_year, c_nation", f"{AMERICA} AND {MAKERS}"),
    "Q4.2": profits("d_year, s_nation, p_category", f"{AMERICA} AND d_year IN (1997, 1998) AND {MAKERS}"),
    "Q4.3": profits("d_year, s_city, p_brand1", "c_region = 'AMERICA' AND s_nation = 'UNITED STATES' AND d_year IN (1997, 1998)"
                    " AND p_category = 'MFGR#14'"),
}
