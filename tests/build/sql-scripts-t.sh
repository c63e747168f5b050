#!/bin/sh
# The scripts in sql/ run without an error, and show what they are to show.
. "${CLREDUCE_SRCDIR:-.}/tests/tap.sh"

test -n "$SQLITE3" || tap_skip_all 'there is no sqlite3 shell'
cd "${CLREDUCE_SRCDIR:-.}" || exit 1

for script in sql/*.sql; do
    output=$(sql ".read $script" -bail "$tap_tmp/${script#sql/}.db")
    tap_ok $? "$script runs" || tap_diag "$output"
    case $script in
        sql/demo.sql)
            # The known answers of tests/data/README.md, 100 times, from clreduce and from SQLite.
            for answer in 12580800 8732206900; do
                tap_like "$output" "*$answer*$answer*" "$script shows $answer and its twin"
            done
            tap_like "$output" '*ATL*9.7*PHX*9.37*ORD*8.61*accelerated: *' "$script shows a view at work"
            tap_is "$("$SQLITE3" "$tap_tmp/demo.sql.db" 'SELECT count(*) FROM flights, sqlite_schema')" \
                20000 'and leaves the flights alone'
            ;;
        sql/views.sql)
            tap_like "$output" "*row by row*accelerated*delay*distance*" "$script shows a view at work"
            ;;
        sql/groups.sql)
            # The SELECT's rows and the view's, and a sum of states that is the rows'.
            tap_like "$output" '*ATL*9.70375*LAX*ATL*9.70375*LAX*accelerated*8.6093023255814*8.6093023255814*' \
                "$script shows groups, and states that merge"
            tap_like "$output" '*2001-05-19 07:30*accelerated*row by row: a column*' \
                "$script shows rows that are found, and what is left to SQLite"
            ;;
        sql/states.sql)
            tap_like "$output" '*shards*1182.386646144*-0.0140134730473583*rows*1182.386646144*-0.0140134730473583*' \
                "$script shows shards and rows that agree"
            ;;
        sql/histogram.sql)
            # The mean delay of tests/data/README.md, and the bar of the most frequent delays.
            tap_like "$output" '*6304 ############################################################*6.2904*-1.0*' \
                "$script shows bars, and a mean and a median"
            ;;
        sql/exactness.sql)
            tap_like "$output" '*1.25*1.25*1.0e+308*2.25*1.0*9223372036854775807*' \
                "$script shows exact answers"
            ;;
    esac
done
tap_done
