-- Answers on the host, of rows and of views, with each REAL as its bytes: the same with any compiler and on
-- any processor. For an empty database file and a shell that has the extension loaded:
-- packaging/ci/binaries.sh.

.bail on
.nullvalue NULL

CREATE TABLE flights(date TEXT, delay INTEGER, distance INTEGER, origin TEXT, destination TEXT);
.import --csv --skip 1 tests/data/flights.csv flights

-- REALs of all sizes, exactly the same everywhere.
CREATE TABLE numbers(k INTEGER, i INTEGER, x REAL, y REAL, t TEXT);
WITH RECURSIVE n(i, s) AS (
  SELECT 1, 20010519 UNION ALL
  SELECT i + 1, (s * 1103515245 + 12345) % 2147483648 FROM n WHERE i < 30000)
INSERT INTO numbers
SELECT s / 65536 % 37, s - 1073741824, ieee754(s * 4194301 * (1 - s / 256 % 2 * 2), s / 1024 % 900 - 500),
       nullif(s / 4096 % 1000, 7) / 16.0 - 25, 'text ' || (s / 8192 % 500)
FROM n;

SELECT clreduce_set('view_threshold', 0);

.print Rows
SELECT gpu_sum(i), hex(gpu_sum_state(x)), hex(gpu_dot_state(x, y)), hex(gpu_covar_pop_state(y, i)) FROM numbers;
SELECT hex(ieee754_to_blob(gpu_sum(x))), hex(ieee754_to_blob(gpu_avg(y))), hex(ieee754_to_blob(gpu_stddev_samp(y))),
       hex(ieee754_to_blob(gpu_corr(i, y))), hex(ieee754_to_blob(gpu_norm(y))), hex(ieee754_to_blob(gpu_median(y))),
       gpu_max(t), gpu_mode(k), gpu_count_distinct(i), gpu_histogram(y, -25, 40, 12)
FROM numbers;
SELECT sum(s), hex(ieee754_to_blob(gpu_sum(a))) FROM (
  SELECT gpu_sum(i) OVER w AS s, gpu_avg(y) OVER w AS a FROM numbers WHERE k < 9
  WINDOW w AS (ORDER BY i ROWS 100 PRECEDING));

.print Views
CREATE VIRTUAL TABLE temp.whole USING clreduce((
  SELECT count(*) AS n, gpu_sum(x) AS a, gpu_dot(x, y) AS b, gpu_regr_slope(y, i) AS c, gpu_percentile(y, 90) AS d,
         sum(i) AS s, gpu_sum(i * 2 + k) AS u, gpu_min(t) AS least
  FROM numbers WHERE y > -10 AND t LIKE '%4%'));
SELECT n, s, u, least, hex(ieee754_to_blob(a)), hex(ieee754_to_blob(b)), hex(ieee754_to_blob(c)), hex(ieee754_to_blob(d))
FROM whole;

CREATE VIRTUAL TABLE temp.groups USING clreduce((
  SELECT k, count(y) AS n, sum(i) AS s, gpu_sum(x) AS a, gpu_avg(y) AS b, gpu_var_pop(y) AS c, gpu_median(y) AS d
  FROM numbers GROUP BY k ORDER BY k));
SELECT k, n, s, hex(ieee754_to_blob(a)), hex(ieee754_to_blob(b)), hex(ieee754_to_blob(c)), hex(ieee754_to_blob(d)) FROM groups;

CREATE VIRTUAL TABLE temp.airports USING clreduce((
  SELECT origin, count(*) AS n, gpu_avg(delay) AS mean, max(distance) AS far FROM flights
  WHERE delay > 0 GROUP BY origin HAVING n > 40 ORDER BY n DESC, origin));
SELECT origin, n, far, hex(ieee754_to_blob(mean)) FROM airports;

.print Views and their SELECTs differ in so many rows:
SELECT count(*) FROM (SELECT * FROM groups EXCEPT
  SELECT k, count(y), sum(i), gpu_sum(x), gpu_avg(y), gpu_var_pop(y), gpu_median(y) FROM numbers GROUP BY k);
SELECT count(*) FROM (SELECT * FROM airports EXCEPT
  SELECT origin, count(*) AS n, gpu_avg(delay), max(distance) FROM flights
  WHERE delay > 0 GROUP BY origin HAVING n > 40);

SELECT name, (SELECT line FROM clreduce_plan(name) LIMIT 1) FROM temp.sqlite_master;
