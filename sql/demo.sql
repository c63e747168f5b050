-- The demonstration: real flights, aggregates of clreduce with their built-in twins beside them, an
-- accelerated view, and who did the work. ./setup demo runs it; by hand, from the source folder:
--
--     sqlite3 -cmd '.load build/clreduce' flights.db <sql/demo.sql

.read sql/flights.sql
.mode box

-- Each flight 100 times, so that a device has something to do.
CREATE TEMP VIEW many AS
    WITH RECURSIVE copy(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copy LIMIT 100)
    SELECT flights.*, distance * 1.609344 AS km FROM copy, flights;

.print
.print 20,000 flights within the USA in early 2001, each 100 times: 2,000,000 rows. A GPU, if there is one, starts
.print in the background, and the host does its work meanwhile. This waits until that is over:

-- Feeds the query's aggregates until no chunk was reduced on the host because its device was starting.
.mode list
.headers off
WITH RECURSIVE attempt(n, before, after) AS (
    SELECT 0, -1, 0
    UNION ALL
    SELECT n + 1, after,
        CASE WHEN (
            SELECT gpu_sum(delay) + gpu_max(delay) + gpu_avg(km) + gpu_dot(delay, distance)
            FROM many WHERE n >= 0
        ) THEN (SELECT value FROM clreduce_stats WHERE name = 'host_device_starting' AND n >= 0) END
    FROM attempt WHERE before <> after AND n < 50
)
SELECT coalesce(
    (SELECT name || ' (' || type || ')' FROM clreduce_devices WHERE in_use),
    'no GPU is used, so the host goes on') FROM attempt WHERE n = 1;
.mode box
.headers on

.print
.print clreduce:
.timer on
SELECT gpu_sum(delay), gpu_max(delay), gpu_avg(km), gpu_dot(delay, distance) FROM many;
.timer off
.print
.print Built in:
.timer on
SELECT sum(delay), max(delay), avg(km), sum(delay * distance) FROM many;
.timer off

.print
.print The busiest airports, and how many minutes late their flights arrive:
SELECT origin, count(*) AS flights, gpu_avg(delay), avg(delay), gpu_max(delay), max(delay)
FROM flights GROUP BY origin ORDER BY flights DESC LIMIT 5;

.print
.print An accelerated view, which reads the pages of the table and keeps its columns: the latest airports.
CREATE VIRTUAL TABLE temp.airports USING clreduce((
    SELECT origin, count(*) AS n, round(gpu_avg(delay), 2) AS mean, gpu_median(delay) AS median
    FROM flights GROUP BY origin HAVING n > 500 ORDER BY mean DESC LIMIT 3));
SELECT * FROM airports;
SELECT line AS "what the view did" FROM clreduce_plan('airports');

.print
.print Chicago: the mean delay of each flight and the six before it:
SELECT date, destination, delay, gpu_avg(delay) OVER seven, avg(delay) OVER seven
FROM flights WHERE origin = 'ORD'
WINDOW seven AS (ORDER BY date, destination ROWS 6 PRECEDING) LIMIT 5;

.print
.print 1e16 + 1.0 - 1e16 + 0.25, rounded once and rounded after each row:
SELECT gpu_sum(x), sum(x) FROM (SELECT 1e16 AS x UNION ALL VALUES (1.0), (-1e16), (0.25));

.print
.print Who did the work:
SELECT coalesce(name, '(none)') AS device, type, in_use, reason FROM clreduce_devices;
SELECT name, value, unit FROM clreduce_stats
WHERE name IN ('values_fed', 'chunks_to_device', 'bytes_to_device', 'kernels_launched', 'transfer_time',
    'kernel_time', 'startup_time', 'chunks_on_host');
