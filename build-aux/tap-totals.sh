#!/bin/sh
# Prints how many tests passed, failed and were skipped, by the header of a test-suite.log that
# `make check` left, as: 12 passed, 0 failed, 3 skipped
#
#     tap-totals.sh FILE
set -eu

test -r "$1" || {
    echo "$0: there is no $1" >&2
    exit 1
}
awk '
    $1 == "#" && ($2 == "PASS:" || $2 == "XFAIL:") { passed += $3 }
    $1 == "#" && $2 == "SKIP:" { skipped += $3 }
    $1 == "#" && ($2 == "FAIL:" || $2 == "XPASS:" || $2 == "ERROR:") { failed += $3 }
    $1 == "#" && $2 == "ERROR:" { exit } # the last line of the header
    END { printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped }
' "$1"
