"""Small tables like those of three benchmarks and of an analyst, and what is asked of them.

The questions have the shapes of the h2oai groupby benchmark, of TPC-H's Q1 and Q6, and of
ClickBench's 43 queries. Those of the last are in words of our own, over a table of our own, in
their order; SQLite has no regular expressions that replace, so that a host's name is cut out by
substr().
"""

import csv
import datetime
import os

import support
import tap

#: What the visits begin with, one of their users, and one of their pages.
START, USER, PAGE = datetime.datetime(2013, 7, 1), 3 * 10**18 + 7, "http://shop.test/50"


def h2oai(db, rng, rows=20_000):
    """The data of the groupby benchmark, with 1/100 of its numbers of groups."""
    def row():
        return (f"id{rng.randint(1, 20):03}", f"id{rng.randint(1, 20):03}",
                f"id{rng.randint(1, rows // 20):010}", rng.randint(1, 20), rng.randint(1, 20),
                rng.randint(1, rows // 20), rng.randint(1, 5), rng.randint(1, 15),
                round(rng.random() * 100, 6))
    support.table(db, "h2o(id1 TEXT, id2 TEXT, id3 TEXT, id4 INTEGER, id5 INTEGER, id6 INTEGER,"
                  " v1 INTEGER, v2 INTEGER, v3 REAL)", (row() for _ in range(rows)))


def lineitem(db, rng, rows=10_000):
    """The columns of TPC-H's lines that Q1 and Q6 read."""
    def row():
        day = datetime.date(1992, 1, 2) + datetime.timedelta(rng.randrange(2_500))
        quantity = rng.randint(1, 50)
        return (float(quantity), round(quantity * rng.uniform(900, 2_000), 2),
                rng.randint(0, 10) / 100, rng.randint(0, 8) / 100,
                rng.choice("ANR"), rng.choice("FO"), str(day))
    support.table(db, "lineitem(l_quantity REAL, l_extendedprice REAL, l_discount REAL, l_tax REAL,"
                  " l_returnflag TEXT, l_linestatus TEXT, l_shipdate TEXT)", (row() for _ in range(rows)))


#: The columns of the table of a web site's visits.
HITS = {
    "watch_id": "INTEGER", "user_id": "INTEGER", "counter_id": "INTEGER", "client_ip": "INTEGER",
    "event_time": "TEXT", "event_date": "TEXT", "region_id": "INTEGER", "url": "TEXT",
    "title": "TEXT", "referer": "TEXT", "search_phrase": "TEXT", "search_engine_id": "INTEGER",
    "adv_engine_id": "INTEGER", "traffic_source_id": "INTEGER", "phone": "INTEGER",
    "phone_model": "TEXT", "resolution_width": "INTEGER", "client_width": "INTEGER",
    "client_height": "INTEGER", "is_refresh": "INTEGER", "is_link": "INTEGER",
    "is_download": "INTEGER", "dont_count": "INTEGER", "url_hash": "INTEGER",
    "referer_hash": "INTEGER",
}


def hits(db, rng, rows=16_000):
    """Visits of web pages. Many values are 0 or empty, as they are there."""
    users = [USER, *(rng.randint(1, 2**62) for _ in range(900))]
    urls = [f"http://{host}/{page}" for host in
            ("example.com", "www.example.org", "maps.google.test", "shop.test")
            for page in range(60)]
    # Few visits are of the pages that are searched for.
    weights = [1 if "google" in url else 40 for url in urls]
    titles = [f"Page {i}" for i in range(200)] + ["About Google", "Google and others"]
    phrases = [f"how to {i}" for i in range(120)]

    def often(share, value):
        return value if rng.random() < share else type(value)()

    def row(number):
        minute = START + datetime.timedelta(minutes=rng.randrange(3_000))
        url = rng.choices(urls, weights)[0]
        referer = often(0.5, rng.choice(urls[50:70] + urls[-20:]))
        phone = often(0.2, rng.randint(1, 9))
        return (2**61 + number * 1_000_003, rng.choice(users),
                rng.choice((62, 62, rng.randint(1, 80))), rng.randint(-2**31, -2**31 + 2_000),
                f"{minute}", f"{minute:%Y-%m-%d}", rng.randint(1, 300), url, rng.choice(titles),
                referer, often(0.15, rng.choice(phrases)), often(0.2, rng.randint(1, 30)),
                often(0.1, rng.randint(1, 40)), rng.randint(-1, 9), phone,
                f"model {phone}" if phone else "", rng.choice((1024, 1366, 1920)),
                rng.randint(30, 120) * 10, rng.randint(30, 90) * 10, rng.randint(0, 1),
                rng.randint(0, 1), often(0.1, 1), often(0.1, 1), hash_of(url), hash_of(referer))
    support.table(db, f"hits({', '.join(f'{name} {kind}' for name, kind in HITS.items())})",
                  (row(number) for number in range(rows)))


def hash_of(text):
    """A number of 63 bits for a text."""
    return int.from_bytes(text.encode()[-8:], "little") >> 1


def flights(db):
    """A fifth of the flights of the tests' data, five times: all of the 20,000 have hardly any two
    that leave in the same minute."""
    with open(os.path.join(tap.SRCDIR, "tests", "data", "flights.csv"), newline="", encoding="utf-8") as file:
        rows = [row for row in csv.reader(file) if row[0] != "date"][::5] * 5
    support.table(db, "flights(date TEXT, delay INTEGER, distance INTEGER, origin TEXT, destination TEXT)", rows)


H2OAI = {
    "h2oai 1": "SELECT id1, sum(v1) FROM h2o GROUP BY id1",
    "h2oai 2": "SELECT id1, id2, sum(v1) FROM h2o GROUP BY id1, id2",
    "h2oai 3": "SELECT id3, sum(v1), gpu_avg(v3) FROM h2o GROUP BY id3",
    "h2oai 4": "SELECT id4, avg(v1), avg(v2), gpu_avg(v3) FROM h2o GROUP BY id4",
    "h2oai 5": "SELECT id6, sum(v1), sum(v2), gpu_sum(v3) FROM h2o GROUP BY id6",
    "h2oai 6": "SELECT id4, id5, gpu_median(v3), gpu_stddev_samp(v3) FROM h2o GROUP BY id4, id5",
    "h2oai 7": "SELECT id3, max(v1) - min(v2) FROM h2o GROUP BY id3",
    "h2oai 8": "SELECT id6, max(v3) FROM h2o GROUP BY id6",
    "h2oai 9": "SELECT id2, id4, gpu_regr_r2(v1, v2) FROM h2o GROUP BY id2, id4",
    "h2oai 10": "SELECT id1, id2, id3, id4, id5, id6, gpu_sum(v3), count(*) FROM h2o"
                " GROUP BY id1, id2, id3, id4, id5, id6",
}

TPCH = {
    "TPC-H Q1": "SELECT l_returnflag, l_linestatus, gpu_sum(l_quantity) AS sum_qty,"
                " gpu_sum(l_extendedprice) AS sum_base_price,"
                " gpu_sum(l_extendedprice * (1 - l_discount)) AS sum_disc_price,"
                " gpu_sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS sum_charge,"
                " gpu_avg(l_quantity) AS avg_qty, gpu_avg(l_extendedprice) AS avg_price,"
                " gpu_avg(l_discount) AS avg_disc, count(*) AS count_order FROM lineitem"
                " WHERE l_shipdate <= date('1998-12-01', '-90 days')"
                " GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus",
    "TPC-H Q6": "SELECT gpu_sum(l_extendedprice * l_discount) AS revenue FROM lineitem"
                " WHERE l_shipdate >= '1994-01-01' AND l_shipdate < date('1994-01-01', '+1 year')"
                " AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24",
}

#: The pages of a site in a month, as six of the questions have them.
JULY = ("counter_id = 62 AND event_date >= '2013-07-01' AND event_date <= '2013-07-31'"
        " AND is_refresh = 0")
#: The host's name in an address.
HOST = ("replace(substr(referer, instr(referer, '//') + 2,"
        " instr(substr(referer, instr(referer, '//') + 2), '/') - 1), 'www.', '')")

CLICKS = {f"ClickBench {number}": select for number, select in enumerate((
    "SELECT count(*) FROM hits",
    "SELECT count(*) FROM hits WHERE adv_engine_id <> 0",
    "SELECT sum(adv_engine_id), count(*), avg(resolution_width) FROM hits",
    # SQLite's avg() of numbers of 62 bits is inexact, and SQLite's alone.
    "SELECT gpu_avg(user_id) FROM hits",
    "SELECT count(DISTINCT user_id) FROM hits",
    "SELECT count(DISTINCT search_phrase) FROM hits",
    "SELECT min(event_date), max(event_date) FROM hits",
    "SELECT adv_engine_id, count(*) FROM hits WHERE adv_engine_id <> 0 GROUP BY adv_engine_id"
    " ORDER BY count(*) DESC",
    "SELECT region_id, count(DISTINCT user_id) AS users FROM hits GROUP BY region_id"
    " ORDER BY users DESC LIMIT 10",
    "SELECT region_id, sum(adv_engine_id), count(*) AS n, avg(resolution_width),"
    " count(DISTINCT user_id) FROM hits GROUP BY region_id ORDER BY n DESC LIMIT 10",
    "SELECT phone_model, count(DISTINCT user_id) AS users FROM hits WHERE phone_model <> ''"
    " GROUP BY phone_model ORDER BY users DESC LIMIT 10",
    "SELECT phone, phone_model, count(DISTINCT user_id) AS users FROM hits WHERE phone_model <> ''"
    " GROUP BY phone, phone_model ORDER BY users DESC LIMIT 10",
    "SELECT search_phrase, count(*) AS n FROM hits WHERE search_phrase <> ''"
    " GROUP BY search_phrase ORDER BY n DESC LIMIT 10",
    "SELECT search_phrase, count(DISTINCT user_id) AS users FROM hits WHERE search_phrase <> ''"
    " GROUP BY search_phrase ORDER BY users DESC LIMIT 10",
    "SELECT search_engine_id, search_phrase, count(*) AS n FROM hits WHERE search_phrase <> ''"
    " GROUP BY search_engine_id, search_phrase ORDER BY n DESC LIMIT 10",
    "SELECT user_id, count(*) FROM hits GROUP BY user_id ORDER BY count(*) DESC LIMIT 10",
    "SELECT user_id, search_phrase, count(*) FROM hits GROUP BY user_id, search_phrase"
    " ORDER BY count(*) DESC LIMIT 10",
    "SELECT user_id, search_phrase, count(*) FROM hits GROUP BY user_id, search_phrase LIMIT 10",
    "SELECT user_id, strftime('%M', event_time) AS m, search_phrase, count(*) FROM hits"
    " GROUP BY user_id, m, search_phrase ORDER BY count(*) DESC LIMIT 10",
    f"SELECT user_id FROM hits WHERE user_id = {USER}",
    "SELECT count(*) FROM hits WHERE url LIKE '%google%'",
    "SELECT search_phrase, min(url), count(*) AS n FROM hits WHERE url LIKE '%google%'"
    " AND search_phrase <> '' GROUP BY search_phrase ORDER BY n DESC LIMIT 10",
    "SELECT search_phrase, min(url), min(title), count(*) AS n, count(DISTINCT user_id) FROM hits"
    " WHERE title LIKE '%Google%' AND url NOT LIKE '%.google.%' AND search_phrase <> ''"
    " GROUP BY search_phrase ORDER BY n DESC LIMIT 10",
    "SELECT * FROM hits WHERE url LIKE '%google%' ORDER BY event_time LIMIT 10",
    "SELECT search_phrase FROM hits WHERE search_phrase <> '' ORDER BY event_time LIMIT 10",
    "SELECT search_phrase FROM hits WHERE search_phrase <> '' ORDER BY search_phrase LIMIT 10",
    "SELECT search_phrase FROM hits WHERE search_phrase <> ''"
    " ORDER BY event_time, search_phrase LIMIT 10",
    "SELECT counter_id, avg(length(url)) AS l, count(*) AS n FROM hits WHERE url <> ''"
    " GROUP BY counter_id HAVING count(*) > 50 ORDER BY l DESC LIMIT 25",
    f"SELECT {HOST} AS host, avg(length(referer)) AS l, count(*) AS n, min(referer) FROM hits"
    " WHERE referer <> '' GROUP BY host HAVING count(*) > 50 ORDER BY l DESC LIMIT 25",
    "SELECT " + ", ".join(f"sum(resolution_width + {i})" for i in range(90)) + " FROM hits",
    "SELECT search_engine_id, client_ip, count(*) AS n, sum(is_refresh), avg(resolution_width)"
    " FROM hits WHERE search_phrase <> '' GROUP BY search_engine_id, client_ip ORDER BY n DESC"
    " LIMIT 10",
    "SELECT watch_id, client_ip, count(*) AS n, sum(is_refresh), avg(resolution_width) FROM hits"
    " WHERE search_phrase <> '' GROUP BY watch_id, client_ip ORDER BY n DESC LIMIT 10",
    "SELECT watch_id, client_ip, count(*) AS n, sum(is_refresh), avg(resolution_width) FROM hits"
    " GROUP BY watch_id, client_ip ORDER BY n DESC LIMIT 10",
    "SELECT url, count(*) AS n FROM hits GROUP BY url ORDER BY n DESC LIMIT 10",
    "SELECT 1, url, count(*) AS n FROM hits GROUP BY 1, url ORDER BY n DESC LIMIT 10",
    "SELECT client_ip, client_ip - 1, client_ip - 2, client_ip - 3, count(*) AS n FROM hits"
    " GROUP BY client_ip, client_ip - 1, client_ip - 2, client_ip - 3 ORDER BY n DESC LIMIT 10",
    f"SELECT url, count(*) AS views FROM hits WHERE {JULY} AND dont_count = 0 AND url <> ''"
    " GROUP BY url ORDER BY views DESC LIMIT 10",
    f"SELECT title, count(*) AS views FROM hits WHERE {JULY} AND dont_count = 0 AND title <> ''"
    " GROUP BY title ORDER BY views DESC LIMIT 10",
    f"SELECT url, count(*) AS views FROM hits WHERE {JULY} AND is_link <> 0 AND is_download = 0"
    " GROUP BY url ORDER BY views DESC LIMIT 10 OFFSET 100",
    "SELECT traffic_source_id, search_engine_id, adv_engine_id,"
    " CASE WHEN search_engine_id = 0 AND adv_engine_id = 0 THEN referer ELSE '' END AS source,"
    f" url AS target, count(*) AS views FROM hits WHERE {JULY}"
    " GROUP BY traffic_source_id, search_engine_id, adv_engine_id, source, target"
    " ORDER BY views DESC LIMIT 10 OFFSET 100",
    f"SELECT url_hash, event_date, count(*) AS views FROM hits WHERE {JULY}"
    f" AND traffic_source_id IN (-1, 6) AND referer_hash = {hash_of(PAGE)}"
    " GROUP BY url_hash, event_date ORDER BY views DESC LIMIT 10 OFFSET 1",
    "SELECT client_width, client_height, count(*) AS views FROM hits"
    f" WHERE {JULY} AND dont_count = 0 AND url_hash = {hash_of(PAGE)}"
    " GROUP BY client_width, client_height ORDER BY views DESC LIMIT 10 OFFSET 5",
    "SELECT strftime('%Y-%m-%d %H:%M:00', event_time) AS m, count(*) AS views FROM hits"
    f" WHERE {JULY} AND dont_count = 0 GROUP BY strftime('%Y-%m-%d %H:%M:00', event_time)"
    " ORDER BY strftime('%Y-%m-%d %H:%M:00', event_time) LIMIT 10 OFFSET 100",
))}

FLIGHTS = {
    "origins, the top ten": "SELECT origin, count(*) AS n, sum(delay) AS minutes FROM flights"
                            " GROUP BY origin ORDER BY minutes DESC LIMIT 10",
    "by month": "SELECT substr(date, 1, 7) AS month, sum(delay), avg(delay) FROM flights"
                " GROUP BY month",
    "by weekday": "SELECT strftime('%w', date) AS day, count(*), avg(delay) FROM flights"
                  " GROUP BY day ORDER BY day",
    "by hour, from a subquery": "SELECT hour, avg(delay), max(delay) FROM (SELECT"
                                " CAST(substr(date, 12, 2) AS INTEGER) AS hour, delay FROM flights"
                                " WHERE delay IS NOT NULL) GROUP BY hour",
    "by how late": "SELECT CASE WHEN delay > 60 THEN 'very late' WHEN delay > 15 THEN 'late'"
                   " ELSE 'on time' END AS kind, count(*), avg(distance) FROM flights GROUP BY kind",
    "by distance": "SELECT round(distance / 250.0) * 250 AS miles, count(*), avg(delay)"
                   " FROM flights GROUP BY miles",
    "the airports": "SELECT DISTINCT origin FROM flights",
    "routes": "SELECT DISTINCT origin, destination FROM flights ORDER BY origin, destination",
    "busy airports": "SELECT origin, count(*) AS n, avg(delay) FROM flights GROUP BY origin"
                     " HAVING count(*) > 300 ORDER BY avg(delay) DESC",
    "by airport and month": "SELECT origin, substr(date, 1, 7) AS month, count(*), sum(delay)"
                            " FROM flights GROUP BY origin, month",
    "the median by month": "SELECT substr(date, 1, 7) AS month, gpu_median(delay),"
                           " gpu_percentile(delay, 95) FROM flights GROUP BY month",
    "destinations by origin": "SELECT origin, gpu_count_distinct(destination) AS places"
                              " FROM flights GROUP BY origin ORDER BY places DESC, origin LIMIT 5",
    "states by origin": "SELECT origin, gpu_avg_state(delay) FROM flights GROUP BY origin",
    "the share of late ones": "SELECT origin, round(100.0 * count(*) FILTER (WHERE delay > 15)"
                              " / count(*), 1) AS late FROM flights WHERE distance > 500"
                              " GROUP BY origin ORDER BY late DESC LIMIT 10",
    "delay and distance by weekday": "SELECT strftime('%w', date) AS day,"
                                     " gpu_corr(delay, distance), gpu_stddev_samp(delay)"
                                     " FROM flights GROUP BY 1",
    "against the average": "SELECT origin, avg(delay) - (SELECT avg(delay) FROM flights) AS more"
                           " FROM flights GROUP BY origin ORDER BY more DESC LIMIT 3",
}
