-- An accelerated view over the flights of tests/data/, 20 times over: the SELECT itself, the view, and
-- what the view says of how it was done. From the source folder:
--
--     sqlite3 -cmd '.load build/clreduce' <sql/views.sql
--
-- A view reads the pages of a database file: this makes one in /tmp and removes it.

.mode box
.nullvalue NULL
.shell rm -f /tmp/clreduce-views.db
ATTACH '/tmp/clreduce-views.db' AS demo;

CREATE TABLE temp.csv(date TEXT, delay INTEGER, distance INTEGER, origin TEXT, destination TEXT);
.import --csv --skip 1 tests/data/flights.csv csv
CREATE TABLE demo.flights(id INTEGER PRIMARY KEY, date TEXT, delay INTEGER, distance INTEGER,
                          origin TEXT, destination TEXT);
INSERT INTO demo.flights(date, delay, distance, origin, destination)
SELECT csv.* FROM csv, (WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 20)
                        SELECT i FROM n);

CREATE VIRTUAL TABLE temp.late USING clreduce((
  SELECT gpu_sum(delay) AS minutes, gpu_max(delay) AS worst, gpu_dot(delay, distance) AS weighted,
         count(*) AS n
  FROM demo.flights WHERE distance > :least AND delay BETWEEN -60 AND 600));

.print The SELECT itself, row by row:
SELECT gpu_sum(delay) AS minutes, gpu_max(delay) AS worst, gpu_dot(delay, distance) AS weighted,
       count(*) AS n
FROM demo.flights WHERE distance > 500 AND delay BETWEEN -60 AND 600;

.print
.print The view, with 500 for :least; then with other numbers, from columns that are in memory already:
SELECT * FROM late(500);
SELECT value AS least, late.* FROM json_each('[0, 1000, 2000]'), late(value);

.print
.print What it did:
SELECT line FROM clreduce_plan('late');
SELECT * FROM clreduce_columns;

.print
.print A change is seen at once:
UPDATE demo.flights SET delay = delay + 1 WHERE id <= 1000;
SELECT * FROM late(500);

DETACH demo;
.shell rm -f /tmp/clreduce-views.db
