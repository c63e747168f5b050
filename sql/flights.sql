-- The table flights, of the 20,000 real flights of tests/data/, made anew. From the source folder:
--
--     sqlite3 flights.db <sql/flights.sql

DROP TABLE IF EXISTS flights;
CREATE TABLE flights(date TEXT, delay INTEGER, distance INTEGER, origin TEXT, destination TEXT);
.import --csv --skip 1 tests/data/flights.csv flights
