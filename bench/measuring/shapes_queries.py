"""A shop's tables, and 45 SELECTs of a kind that applications have: times, joins, and SELECTs inside of SELECTs."""

import datetime
import json
import random

TABLES = """
CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL UNIQUE, country TEXT, plan TEXT, signup TEXT);
CREATE TABLE products(id INTEGER PRIMARY KEY, name TEXT NOT NULL, category TEXT NOT NULL, price REAL NOT NULL, cost REAL);
CREATE TABLE orders(id INTEGER PRIMARY KEY, user_id INT NOT NULL REFERENCES users(id), ordered TEXT NOT NULL, shipped TEXT,
    status TEXT NOT NULL, total REAL NOT NULL);
CREATE TABLE events(id INTEGER PRIMARY KEY, ts TEXT NOT NULL, user_id INT REFERENCES users(id),
    product_id INT REFERENCES products(id), kind TEXT NOT NULL, url TEXT NOT NULL, payload TEXT, quantity INT, amount REAL);
"""
INDEXES = "CREATE INDEX orders_user ON orders(user_id); CREATE INDEX events_user ON events(user_id);"
KINDS, COUNTRIES, PLANS = ("view", "view", "view", "click", "click", "cart", "buy"), "DE FR US US GB NL BR JP".split(), "free free basic pro".split()
CATEGORIES = ("books", "garden", "games", "kitchen", "music", "sport", "toys", "travel")
PAGES = ("product", "product", "search", "category", "checkout", "account")
DEVICES, STATUSES = ("phone", "phone", "desktop", "tablet"), ("paid", "paid", "shipped", "shipped", "refunded", "open")
DAYS = 730


def tables(rows, today):
    """The rows of each table, with so many events, which end before that day."""
    rng = random.Random(41)
    start = datetime.datetime.combine(today, datetime.time()) - datetime.timedelta(days=DAYS)
    users, products, orders = max(rows // 50, 10), 1000, rows // 5

    def time(second):
        return str(start + datetime.timedelta(seconds=second))

    def event(number):
        user, product, kind = rng.randrange(users), rng.randrange(products), rng.choice(KINDS)
        page = rng.choice(PAGES)
        url = f"https://shop.example/{page}/{product if page == 'product' else rng.randrange(50)}?session={rng.getrandbits(40):x}"
        payload = json.dumps({"device": rng.choice(DEVICES), "ms": rng.randrange(20, 3000), "request": f"{rng.getrandbits(48):x}"})
        quantity = rng.randrange(1, 6)
        return (number, time(number * DAYS * 86400 // rows + rng.randrange(40)), user if rng.random() < 0.97 else None,
                product if rng.random() < 0.9 else None, kind, url, payload, quantity, rng.randrange(100, 50_000) / 100)

    def order(number):
        second = rng.randrange(DAYS * 86400)
        status = rng.choice(STATUSES)
        shipped = time(second + rng.randrange(3600, 9 * 86400)) if status in ("shipped", "refunded") else None
        return number, rng.randrange(users), time(second), shipped, status, rng.randrange(500, 90_000) / 100

    yield "users", ((number, f"User {number}", f"user{number}@mail.example", rng.choice(COUNTRIES), rng.choice(PLANS),
                     time(rng.randrange(DAYS * 86400))) for number in range(users))
    yield "products", ((number, f"Product {number}", rng.choice(CATEGORIES), rng.randrange(200, 30_000) / 100, rng.randrange(100, 9_000) / 100)
                       for number in range(products))
    yield "orders", (order(number) for number in range(orders))
    yield "events", (event(number) for number in range(1, rows + 1))


#: {day}, {month}, {later}: a day in the middle of the events, its month, and the day a week after it.
QUERIES = {
    # Times, and other text that hardly repeats.
    "count and sum by day": "SELECT date(ts) AS day, count(*), sum(amount) FROM events GROUP BY day ORDER BY day",
    "kinds by month": "SELECT strftime('%Y-%m', ts) AS month, kind, count(*) FROM events GROUP BY 1, 2 ORDER BY 1, 2",
    "days of the week": "SELECT strftime('%w', ts), avg(amount) FROM events WHERE kind = 'buy' GROUP BY 1",
    "a week": "SELECT count(*), sum(amount) FROM events WHERE ts >= '{day}' AND ts < '{later}'",
    "the last 30 days": "SELECT kind, count(*) FROM events WHERE ts >= datetime('now', '-30 days') GROUP BY kind",
    "yesterday by hour": "SELECT strftime('%H', ts) AS hour, count(*) FROM events WHERE date(ts) = date('now', '-1 day') GROUP BY hour",
    "local days": "SELECT date(ts, 'localtime') AS day, count(*) FROM events GROUP BY day ORDER BY count(*) DESC LIMIT 10",
    "a month by LIKE": ("SELECT kind, count(*) FROM events WHERE ts LIKE ? GROUP BY kind", "{month}%"),
    "first and last": "SELECT kind, min(ts), max(ts), count(DISTINCT date(ts)) FROM events GROUP BY kind",
    "days to ship": "SELECT status, avg(julianday(shipped) - julianday(ordered)) FROM orders WHERE shipped IS NOT NULL GROUP BY status",
    "a page in the URL": "SELECT count(*) FROM events WHERE url LIKE '%/checkout/%'",
    "pages": "SELECT substr(url, 1, instr(url, '?') - 1) AS page, count(*) AS n FROM events GROUP BY page ORDER BY n DESC, page LIMIT 20",
    "a JSON field": "SELECT json_extract(payload, '$.device') AS device, count(*), avg(json_extract(payload, '$.ms')) FROM events GROUP BY device",
    "text of two columns": "SELECT kind || ':' || quantity AS label, count(*) FROM events GROUP BY label ORDER BY label",
    # Joins.
    "by country": "SELECT u.country, count(*), sum(e.amount) FROM events e JOIN users u ON u.id = e.user_id GROUP BY u.country ORDER BY 3 DESC",
    "by category and plan": "SELECT p.category, u.plan, sum(e.amount) FROM events e JOIN products p ON p.id = e.product_id"
    " JOIN users u ON u.id = e.user_id WHERE e.kind = 'buy' GROUP BY p.category, u.plan",
    "with or without a product": "SELECT coalesce(p.category, 'none') AS category, count(*) FROM events e"
    " LEFT JOIN products p ON p.id = e.product_id GROUP BY 1 ORDER BY 2 DESC",
    "a product of two tables": "SELECT p.category, sum(e.quantity * p.price), sum(e.quantity * (p.price - p.cost)) FROM events e, products p"
    " WHERE p.id = e.product_id AND e.kind = 'buy' GROUP BY p.category",
    "a country's events": "SELECT kind, count(*) FROM events WHERE user_id IN (SELECT id FROM users WHERE country = 'DE') GROUP BY kind",
    "events of a plan": "SELECT count(*), sum(amount) FROM events e WHERE EXISTS (SELECT 1 FROM users u WHERE u.id = e.user_id AND u.plan = 'pro')",
    "best customers": "SELECT user_id, (SELECT name FROM users WHERE id = user_id) AS name, sum(amount) AS spent FROM events WHERE kind = 'buy'"
    " GROUP BY user_id ORDER BY spent DESC LIMIT 10",
    "cohorts": "SELECT strftime('%Y-%m', u.signup) AS cohort, strftime('%Y-%m', e.ts) AS month, count(DISTINCT e.user_id) FROM events e"
    " JOIN users u ON u.id = e.user_id WHERE e.kind = 'buy' GROUP BY 1, 2 ORDER BY 1, 2",
    # SELECTs inside of SELECTs.
    "a CTE that filters": "WITH recent AS (SELECT * FROM events WHERE ts >= '{day}') SELECT kind, count(*), avg(amount) FROM recent GROUP BY kind",
    "a CTE used twice": "WITH daily AS (SELECT date(ts) AS day, sum(amount) AS total FROM events GROUP BY 1)"
    " SELECT day, total, total / (SELECT max(total) FROM daily) FROM daily ORDER BY day",
    "UNION ALL": "SELECT 'buyers' AS what, count(DISTINCT user_id) FROM events WHERE kind = 'buy' UNION ALL SELECT 'orders', count(*) FROM orders"
    " WHERE status = 'paid' UNION ALL SELECT 'revenue', round(sum(amount)) FROM events WHERE kind = 'buy'",
    "carts without a buyer": "SELECT count(*) FROM (SELECT user_id FROM events WHERE kind = 'cart' AND amount > 400 EXCEPT"
    " SELECT user_id FROM events WHERE kind = 'buy' AND amount > 400)",
    "aggregates of aggregates": "SELECT avg(n), max(n), avg(spent) FROM (SELECT user_id, count(*) AS n, sum(amount) AS spent FROM events GROUP BY user_id)",
    "a histogram of counts": "SELECT n, count(*) FROM (SELECT user_id, count(*) AS n FROM events WHERE kind = 'buy' GROUP BY user_id) GROUP BY n ORDER BY n",
    "two grouped subqueries": "SELECT o.status, count(*), avg(e.n) FROM (SELECT user_id, status, sum(total) AS paid FROM orders GROUP BY user_id, status) o"
    " JOIN (SELECT user_id, count(*) AS n FROM events GROUP BY user_id) e ON e.user_id = o.user_id WHERE o.paid > 500 GROUP BY o.status",
    "a dashboard's numbers": "SELECT (SELECT count(*) FROM events WHERE kind = 'view'), (SELECT sum(amount) FROM events WHERE kind = 'buy'),"
    " (SELECT count(*) FROM orders WHERE status = 'open')",
    "above the average": "SELECT kind, count(*) FROM events WHERE amount > (SELECT avg(amount) FROM events) GROUP BY kind",
    "a running total": "SELECT date(ts) AS day, sum(amount), sum(sum(amount)) OVER (ORDER BY date(ts)) FROM events WHERE kind = 'buy' GROUP BY day",
    "month over month": "SELECT month, total, total - lag(total) OVER (ORDER BY month) FROM"
    " (SELECT substr(ts, 1, 7) AS month, sum(amount) AS total FROM events GROUP BY 1) ORDER BY month",
    "the best of each category": "SELECT category, name, total FROM (SELECT p.category, p.name, sum(e.amount) AS total, row_number() OVER"
    " (PARTITION BY p.category ORDER BY sum(e.amount) DESC) AS place FROM events e JOIN products p ON p.id = e.product_id"
    " GROUP BY p.id) WHERE place = 1 ORDER BY category",
    "a conversion rate": "SELECT substr(ts, 1, 10) AS day, 100.0 * sum(kind = 'buy') / count(*) FROM events GROUP BY day ORDER BY day",
    "a funnel": "SELECT count(DISTINCT CASE WHEN kind = 'view' THEN user_id END), count(DISTINCT CASE WHEN kind = 'cart' THEN user_id END),"
    " count(DISTINCT CASE WHEN kind = 'buy' THEN user_id END), count(*) FROM events WHERE ts >= '{day}'",
    "buyers of many orders": "SELECT kind, count(*), sum(amount) FROM events WHERE user_id IN"
    " (SELECT user_id FROM orders GROUP BY user_id HAVING count(*) > 15) GROUP BY kind",
    "more than the mean order": "SELECT product_id, avg(amount) AS mean FROM events WHERE kind = 'buy' GROUP BY product_id"
    " HAVING mean > (SELECT avg(total) * 0.6 FROM orders) ORDER BY mean DESC LIMIT 20",
    "a page's count": "SELECT count(*) FROM (SELECT id, ts, amount FROM events WHERE kind = 'buy' AND amount > 100 ORDER BY ts DESC)",
    # The first rows, the row of the maximum, and lists.
    "the dearest events": "SELECT id, ts, user_id, amount FROM events ORDER BY amount DESC, id LIMIT 10",
    "the newest of a kind": "SELECT id, ts, url FROM events WHERE kind = 'buy' ORDER BY ts DESC, id DESC LIMIT 20 OFFSET 40",
    "each product's dearest event": "SELECT product_id, max(amount), user_id, ts FROM events WHERE product_id IS NOT NULL GROUP BY product_id",
    "each product's newest event": "SELECT product_id, ts, kind, amount FROM (SELECT *, row_number() OVER (PARTITION BY product_id ORDER BY ts DESC, id)"
    " AS place FROM events WHERE product_id IS NOT NULL) WHERE place = 1 ORDER BY product_id",
    "distinct values in a list": "SELECT product_id, group_concat(DISTINCT kind), count(DISTINCT user_id) FROM events GROUP BY product_id",
    "a JSON list": "SELECT country, json_group_array(json_object('plan', plan, 'n', n)) FROM (SELECT u.country, u.plan, count(*) AS n FROM events e"
    " JOIN users u ON u.id = e.user_id GROUP BY 1, 2 ORDER BY 1, 3 DESC) GROUP BY country",
}
