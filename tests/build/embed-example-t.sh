#!/bin/sh
# The example of an application with the extension built in.
. "${CLREDUCE_SRCDIR:-.}/tests/tap.sh"

embed=${CLREDUCE_BUILDDIR:-.}/examples/embed
test -x "$embed" || tap_skip_all 'the example is not built without the SQLite library'

output=$("$embed" 2>&1)
tap_ok $? 'the example finds its own results right'
tap_like "$output" '*gpu_sum(amount)*1.25*' 'and prints them'
tap_done
