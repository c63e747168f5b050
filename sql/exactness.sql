-- Where a sum that is rounded after each row goes wrong, and one that is rounded once does not. From the
-- source folder:
--
--     sqlite3 -cmd '.load build/clreduce' <sql/exactness.sql

.mode box
.nullvalue NULL

.print Small amounts beside large ones:
SELECT gpu_sum(x), sum(x) FROM (SELECT 1e16 AS x UNION ALL VALUES (1.0), (-1e16), (0.25));

.print
.print The same rows in another order:
SELECT gpu_sum(x), sum(x) FROM (SELECT 0.25 AS x UNION ALL VALUES (1e16), (-1e16), (1.0));

.print
.print A running total beyond the largest double, and a total within it:
SELECT gpu_sum(x), sum(x) FROM (SELECT 1e308 AS x UNION ALL VALUES (1e308), (-1e308));

.print
.print A large value leaves a window, and leaves no trace:
SELECT id, x, gpu_sum(x) OVER two, sum(x) OVER two
FROM (SELECT 1 AS id, 1e300 AS x UNION ALL VALUES (2, 1.5), (3, 2.0), (4, 0.25))
WINDOW two AS (ORDER BY id ROWS 1 PRECEDING);

.print
.print A dot product of which only the last digits are left:
SELECT gpu_dot(x, y), sum(x * y)
FROM (SELECT 134217729.0 AS x, 134217729.0 AS y UNION ALL VALUES (-134217730.0, 134217728.0));

.print
.print A total that is an integer of 64 bits, though half-way it is not:
SELECT gpu_sum(x) FROM (SELECT 9223372036854775807 AS x UNION ALL VALUES (1), (-1));
