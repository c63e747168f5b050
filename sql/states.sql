-- States that merge, over the flights of tests/data/: one an hour, kept in a table, from which a dashboard
-- takes any period; and shards, files of their own, merged to one answer. What merging gives is what all
-- rows at once give, to the last bit. From the source folder:
--
--     sqlite3 -cmd '.load build/clreduce' <sql/states.sql
--
-- The shards are database files: this makes two in /tmp and removes them.

.mode box
.nullvalue NULL
CREATE TABLE flight(date TEXT, delay INTEGER, distance INTEGER, origin TEXT, destination TEXT);
.import --csv --skip 1 tests/data/flights.csv flight

-- ---- One state an hour and origin.

CREATE TABLE hourly(
    hour TEXT,
    origin TEXT,
    delay BLOB,   -- of gpu_avg, and so of gpu_sum and gpu_total
    worst BLOB,   -- of gpu_max
    spread BLOB,  -- of the standard deviations, the variances and gpu_norm
    reach BLOB,   -- of gpu_corr, the covariances and the regressions
    PRIMARY KEY (hour, origin)
) WITHOUT ROWID;

INSERT INTO hourly
SELECT substr(date, 1, 13), origin, gpu_avg_state(delay), gpu_max_state(delay),
    gpu_stddev_samp_state(delay), gpu_corr_state(delay, distance)
FROM flight WHERE rowid % 10 <> 0 GROUP BY 1, 2;

.print A few hours and their states:
SELECT hour, origin, hex(delay) AS delay, hex(worst) AS worst, hex(spread) AS spread
FROM hourly WHERE origin = 'ORD' ORDER BY hour LIMIT 3;

-- Rows that come late, for hours that are there already or not: their states are merged into the old ones.
INSERT INTO hourly
SELECT substr(date, 1, 13), origin, gpu_avg_state(delay), gpu_max_state(delay),
    gpu_stddev_samp_state(delay), gpu_corr_state(delay, distance)
FROM flight WHERE rowid % 10 = 0 GROUP BY 1, 2
ON CONFLICT (hour, origin) DO UPDATE SET
    delay = (SELECT gpu_avg_state_merge(state)
             FROM (SELECT hourly.delay AS state UNION ALL SELECT excluded.delay)),
    worst = (SELECT gpu_max_state_merge(state)
             FROM (SELECT hourly.worst AS state UNION ALL SELECT excluded.worst)),
    spread = (SELECT gpu_stddev_samp_state_merge(state)
              FROM (SELECT hourly.spread AS state UNION ALL SELECT excluded.spread)),
    reach = (SELECT gpu_corr_state_merge(state)
             FROM (SELECT hourly.reach AS state UNION ALL SELECT excluded.reach));

.print
.print The dashboard: any period and any grouping, from the states alone.
SELECT substr(hour, 1, 7) AS month, gpu_sum_merge(delay) AS minutes, gpu_avg_merge(delay) AS mean,
    gpu_stddev_samp_merge(spread) AS deviation, gpu_max_merge(worst) AS worst,
    gpu_corr_merge(reach) AS correlation
FROM hourly GROUP BY month;

.print
.print The same from the rows, as the states hold them exactly:
SELECT substr(date, 1, 7) AS month, gpu_sum(delay) AS minutes, gpu_avg(delay) AS mean,
    gpu_stddev_samp(delay) AS deviation, gpu_max(delay) AS worst,
    gpu_corr(delay, distance) AS correlation
FROM flight GROUP BY month;

.print
.print A state serves all functions of its kind, and windows: weeks of seven days, from states a day.
WITH daily AS (
    SELECT substr(hour, 1, 10) AS day, gpu_avg_state_merge(delay) AS delay
    FROM hourly WHERE hour < '2001-01-15' GROUP BY day
)
SELECT day, gpu_avg_merge(delay) AS mean, gpu_avg_merge(delay) OVER week AS mean_of_week
FROM daily GROUP BY day WINDOW week AS (ORDER BY day ROWS 6 PRECEDING) LIMIT 9;

-- ---- Shards: each keeps its own states, and sends a row, not its flights.

.shell rm -f /tmp/clreduce-states-east.db /tmp/clreduce-states-west.db
ATTACH '/tmp/clreduce-states-east.db' AS east;
ATTACH '/tmp/clreduce-states-west.db' AS west;

CREATE TABLE east.summary AS
SELECT origin, gpu_avg_state(distance * 1.609344) AS km, gpu_corr_state(delay, distance) AS reach
FROM flight WHERE rowid % 3 = 0 GROUP BY origin;
CREATE TABLE west.summary AS
SELECT origin, gpu_avg_state(distance * 1.609344) AS km, gpu_corr_state(delay, distance) AS reach
FROM flight WHERE rowid % 3 <> 0 GROUP BY origin;

CREATE TEMP VIEW summary AS
SELECT * FROM east.summary UNION ALL SELECT * FROM west.summary;

.print
.print Two shards merged, and all rows in one place:
SELECT 'shards' AS source, gpu_avg_merge(km) AS km, gpu_corr_merge(reach) AS correlation FROM summary
UNION ALL
SELECT 'rows', gpu_avg(distance * 1.609344), gpu_corr(delay, distance) FROM flight;

.print
.print Are even their states the same, byte by byte?
SELECT (SELECT gpu_avg_state_merge(km) FROM summary) =
       (SELECT gpu_avg_state(distance * 1.609344) FROM flight) AS same;

DETACH east;
DETACH west;
.shell rm -f /tmp/clreduce-states-east.db /tmp/clreduce-states-west.db
