#!/bin/sh
# Runs a program that is not built here but loads the extension (sqlite3, python3): a sanitizer's
# run-time library has to be there before it. Only that program gets it, and not the shell around it.
#
#     launch.sh PROGRAM ARGUMENT...
#
# As the interpreter of a kind of tests it skips the test if configure found no such program.
set -eu

if test -z "${1:-}"; then
    echo '1..0 # SKIP configure found no interpreter that can run this test'
    exit 0
fi
if test -n "${CLREDUCE_PRELOAD:-}"; then
    LD_PRELOAD=$CLREDUCE_PRELOAD${LD_PRELOAD:+:$LD_PRELOAD}
    export LD_PRELOAD
    # What the interpreter, the OpenCL driver and the linker that it starts leave behind is not ours;
    # leaks of the extension are found by the C tests.
    ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
    export ASAN_OPTIONS
fi
exec "$@"
