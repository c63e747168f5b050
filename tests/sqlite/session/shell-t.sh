#!/bin/sh
# The extension in the sqlite3 shell, as a person loads and uses it.
. "${CLREDUCE_SRCDIR:-.}/tests/tap.sh"

test -n "${SQLITE3:-}" || tap_skip_all 'there is no sqlite3 shell'

folder=$(dirname "$CLREDUCE_EXTENSION")
cd "$folder" || tap_bail "cannot enter $folder"
base=$(basename "$CLREDUCE_EXTENSION")

# shell TEXT [ARGUMENT...]: what the shell prints for that input; nothing is loaded beforehand.
shell()
{
    shell_text=$1
    shift
    printf '%s\n' "$shell_text" | launch "$SQLITE3" -init /dev/null -batch "$@" 2>&1
}

tap_is "$(shell ".load ./$base
SELECT gpu_sum(value), gpu_sum(value * 0.5) FROM json_each('[1,2,3]');")" '6|3.0' '.load ./clreduce'

tap_is "$(shell "SELECT load_extension('./$base'); SELECT gpu_max(1);")" '
1' 'load_extension()'

tap_is "$(shell ".load ./$base
.load ./$base
SELECT gpu_sum(7);")" 7 '.load twice'

tap_is "$(shell ".load ./$base sqlite3_clreduce_init
SELECT gpu_sum(7);")" 7 '.load with the name of the entry point'

tap_is "$(sql 'CREATE TABLE t(x); INSERT INTO t VALUES (1), (2.5), (NULL), (4);
SELECT gpu_sum(x), gpu_total(x), gpu_avg(x), gpu_min(x), gpu_max(x), gpu_dot(x, x) FROM t;')" \
    '7.5|7.5|2.5|1|4|23.25' 'all aggregates'

tap_is "$(sql 'SELECT gpu_sum(x) FROM (SELECT 1e308 AS x UNION ALL SELECT 1e308 UNION ALL SELECT -1e308);')" \
    '1.0e+308' 'no running total that overflows'

tap_like "$(sql 'SELECT gpu_sum(x) FROM (SELECT 9223372036854775807 AS x UNION ALL SELECT 1);')" \
    '*integer overflow*' 'an overflow is an error'

tap_like "$(sql 'SELECT gpu_sum(1, 2);')" '*wrong number of arguments to function gpu_sum()*' \
    'too many arguments'

tap_is "$(sql "SELECT clreduce_set('device', 'host');
SELECT value FROM clreduce_settings WHERE name = 'device';")" 'host
host' 'a setting'

tap_is "$(sql "SELECT name, typeof(value) FROM clreduce_stats WHERE name = 'values_fed';")" \
    'values_fed|integer' 'statistics'

tap_like "$(sql 'SELECT count(*) FROM clreduce_devices;')" '[0-9]*' 'devices'

tap_is "$(sql 'SELECT gpu_sum(value) FROM generate_series(1, 1000000);')" 500000500000 'a million rows'

tap_is "$(sql "SELECT clreduce_set('host_threshold', 1);
SELECT gpu_sum(value * 0.5), gpu_max(value) FROM generate_series(1, 1000000);
SELECT sum(value) >= 2000000 FROM clreduce_stats WHERE name = 'values_fed';")" '1
250000250000.0|1000000
1' 'a million rows of both types, in chunks'

# The second database of the shell has connections of its own.
tap_is "$(sql ".connection 1
.open :memory:
.load ./$base
SELECT gpu_sum(3);
.connection 0
SELECT gpu_sum(4);")" '3
4' 'two connections in one shell'

database=$tap_tmp/a.db
sql 'CREATE TABLE t(x); INSERT INTO t VALUES (1), (2); CREATE VIEW v AS SELECT gpu_sum(x) AS s FROM t;' \
    "$database" >/dev/null
tap_is "$(sql 'SELECT s FROM v;' "$database")" 3 'a view in a file'
tap_like "$(shell 'SELECT s FROM v;' "$database")" '*no such function: gpu_sum*' \
    'a view in a file, without the extension'

tap_done
