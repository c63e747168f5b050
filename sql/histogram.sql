-- A histogram of real flights' delays, as bars, also from states a month; and medians, percentiles, modes and
-- distinct values of them.
-- From the source folder:
--
--     sqlite3 -cmd '.load build/clreduce' <sql/histogram.sql

.mode list
.headers off
CREATE TABLE flight (date TEXT, delay INTEGER, distance INTEGER, origin TEXT, destination TEXT);
.import --csv --skip 1 tests/data/flights.csv flight

.print Flights by minutes late, from half an hour early to two hours late, in steps of ten:
.print

-- gpu_histogram() gives a JSON array: what is below, the bins, what is above.
WITH range(low, high, bins) AS (VALUES (-30, 120, 15)),
     bin(i, flights) AS (
         SELECT key, value FROM range, json_each((SELECT gpu_histogram(delay, low, high, bins) FROM flight))
     ),
     most(flights) AS (SELECT max(flights) FROM bin)
SELECT printf('%9s ', CASE
                          WHEN i = 0 THEN 'below ' || low
                          WHEN i > bins THEN 'above ' || high
                          ELSE low + (i - 1) * (high - low) / bins
                      END)
       || printf('%6d ', bin.flights)
       || replace(printf('%.*c', (bin.flights * 60 + most.flights - 1) / most.flights, '#'), '#',
                  CASE WHEN bin.flights > 0 THEN '#' ELSE '' END)
FROM bin, range, most ORDER BY i;

-- States of histograms with the same low, high and bins can be kept, and merged for any period.
CREATE TABLE monthly AS
SELECT substr(date, 1, 7) AS month, gpu_histogram_state(delay, 0, 60, 3) AS delays FROM flight GROUP BY month;

.mode box
.headers on
.print
.print Flights by minutes late, in months and in all of them, from a state a month:
SELECT month, json_extract(h, '$[0]') AS early, json_extract(h, '$[1]') AS "0 to 19",
       json_extract(h, '$[2]') AS "20 to 39", json_extract(h, '$[3]') AS "40 to 60", json_extract(h, '$[4]') AS later
FROM (SELECT month, gpu_histogram_merge(delays) AS h FROM monthly GROUP BY month
      UNION ALL SELECT 'all', gpu_histogram_merge(delays) FROM monthly);

.print
.print The same flights in a few numbers. The mean is far from the median: some are very late.
SELECT gpu_avg(delay) AS mean, gpu_median(delay) AS median, gpu_mode(delay) AS mode,
       gpu_percentile(delay, 90) AS "90 in 100 below", gpu_percentile(delay, 99) AS "99 in 100 below",
       gpu_count_distinct(delay) AS "different delays", gpu_count_distinct(origin) AS airports
FROM flight;

.print
.print The busiest airports, by the delay that one flight in four exceeds:
SELECT origin, count(*) AS flights, gpu_median(delay) AS median, gpu_percentile_cont(delay, 0.75) AS "3 in 4 below",
       gpu_mode(destination) AS "most frequent destination", gpu_count_distinct(destination) AS destinations
FROM flight GROUP BY origin ORDER BY flights DESC LIMIT 6;

.print
.print Chicago: the median of each flight and the six before it:
SELECT date, destination, delay, gpu_median(delay) OVER seven AS median
FROM flight WHERE origin = 'ORD'
WINDOW seven AS (ORDER BY date, destination ROWS 6 PRECEDING) LIMIT 5;
