-- Views with GROUP BY and DISTINCT over the flights of tests/data/, 20 times over: what the SELECT
-- gives, and quicker. From the source folder:
--
--     sqlite3 -cmd '.load build/clreduce' <sql/groups.sql
--
-- A view reads the pages of a database file: this makes one in /tmp and removes it.

.mode box
.nullvalue NULL
.shell rm -f /tmp/clreduce-groups.db
ATTACH '/tmp/clreduce-groups.db' AS demo;

CREATE TABLE temp.csv(date TEXT, delay INTEGER, distance INTEGER, origin TEXT, destination TEXT);
.import --csv --skip 1 tests/data/flights.csv csv
CREATE TABLE demo.flights(id INTEGER PRIMARY KEY, date TEXT, delay INTEGER, distance INTEGER,
                          origin TEXT, destination TEXT);
INSERT INTO demo.flights(date, delay, distance, origin, destination)
SELECT csv.* FROM csv, (WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 20)
                        SELECT i FROM n);

.print The airports with the latest flights. The view gives what its SELECT gives, to the bit:
SELECT origin, count(*) AS n, gpu_avg(delay) AS mean, gpu_median(delay) AS median
FROM demo.flights GROUP BY origin HAVING n > 10000 ORDER BY mean DESC LIMIT 5;

CREATE VIRTUAL TABLE temp.airports USING clreduce((
  SELECT origin, count(*) AS n, gpu_avg(delay) AS mean, gpu_median(delay) AS median
  FROM demo.flights GROUP BY origin HAVING n > 10000 ORDER BY mean DESC LIMIT 5));
SELECT * FROM airports;
SELECT line FROM clreduce_plan('airports');

.print
.print By month and by weekday: SQLite evaluates each expression once for a date.
CREATE VIRTUAL TABLE temp.months USING clreduce((
  SELECT substr(date, 1, 7) AS month, count(*) AS n, sum(delay) AS minutes,
         gpu_percentile(delay, 90) AS "late tenth"
  FROM demo.flights WHERE distance > :least GROUP BY month));
SELECT * FROM months(0);
SELECT * FROM months(2000);
CREATE VIRTUAL TABLE temp.days USING clreduce((
  SELECT strftime('%w', date) AS weekday, gpu_avg(delay) AS mean, gpu_corr(delay, distance) AS corr
  FROM demo.flights GROUP BY weekday));
SELECT * FROM days;

.print
.print By numbers that are computed, and by words:
CREATE VIRTUAL TABLE temp.lengths USING clreduce((
  SELECT round(distance / 500.0) * 500 AS miles,
         CASE WHEN delay > 15 THEN 'late' ELSE 'in time' END AS kind, count(*) AS n
  FROM demo.flights GROUP BY miles, kind));
SELECT miles, sum(n) AS flights,
       round(100.0 * coalesce(sum(n) FILTER (WHERE kind = 'late'), 0) / sum(n), 1) AS "% late"
FROM lengths GROUP BY miles;

.print
.print The values there are, in the order in which they come:
CREATE VIRTUAL TABLE temp.places USING clreduce((
  SELECT DISTINCT destination FROM demo.flights WHERE origin = 'ORD' AND distance > 1800));
SELECT group_concat(destination) AS destinations FROM places;

.print
.print States: parts that are kept and merged, exactly:
CREATE VIRTUAL TABLE temp.parts USING clreduce((
  SELECT origin, substr(date, 1, 7) AS month, gpu_avg_state(delay) AS state
  FROM demo.flights GROUP BY origin, month));
CREATE TABLE demo.kept AS SELECT * FROM parts;
SELECT (SELECT gpu_avg_merge(state) FROM demo.kept WHERE origin = 'ORD') AS merged,
       (SELECT gpu_avg(delay) FROM demo.flights WHERE origin = 'ORD') AS "row by row";

.print
.print The few rows that a WHERE finds, without an index:
CREATE VIRTUAL TABLE temp.worst USING clreduce((
  SELECT * FROM demo.flights WHERE delay > 900 ORDER BY id LIMIT 2));
SELECT * FROM worst;
SELECT line FROM clreduce_plan('worst') LIMIT 1;

.print
.print What is left to SQLite says so:
CREATE VIRTUAL TABLE temp.bare USING clreduce((
  SELECT origin, destination, count(*) FROM demo.flights GROUP BY origin));
SELECT line FROM clreduce_plan('bare') LIMIT 1;

DETACH demo;
.shell rm -f /tmp/clreduce-groups.db
