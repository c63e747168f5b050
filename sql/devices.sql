-- The devices, the settings, and what this connection's aggregates did. From the source folder:
--
--     sqlite3 -cmd '.load build/clreduce' <sql/devices.sql

.mode box

.print Devices, and for each that is not in use the reason:
SELECT platform, name, type, compute_units, memory_bytes >> 20 AS mib, fp64, in_use, reason
FROM clreduce_devices;

.print
.print Settings of this connection:
SELECT name, value, "default", meaning FROM clreduce_settings;

.print
.print A setting is changed by name. Results do not depend on any of them:
SELECT clreduce_set('device', 'host'), gpu_sum(value * 0.1) FROM generate_series(1, 1000000);
SELECT clreduce_set('device', 'auto'), gpu_sum(value * 0.1) FROM generate_series(1, 1000000);

.print
.print What was done since the connection was opened:
SELECT name, value, unit, meaning FROM clreduce_stats;
