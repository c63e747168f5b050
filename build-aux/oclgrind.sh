#!/bin/sh
# Runs the kernels of every kind on Oclgrind, a device that is simulated and watches them: no access
# outside of a buffer, no data race, no wrong use of OpenCL's functions.
#
#     oclgrind.sh tests/opencl/core/kernels-t [FIRST STEP]
#
# FIRST STEP: of the many scans and groups each STEP-th from FIRST on, counted from 0; with each fourth FIRST the
# histogram, which takes longest.
#
# Fails on any report, and where results differ from the host's. What Oclgrind 21.10 cannot do:
#
# - It does not know what LLVM makes of restrict in inlined functions: the programs are compiled
#   without.
# - Its look-out for uninitialized values does not know the instruction freeze, which LLVM puts into
#   most kernels: it is left out.
# - It has no sub-groups; the kernels have no use for them.
set -eu

oclgrind=${OCLGRIND:-oclgrind}
program=$1
shift
options='-Drestrict='
log=$(mktemp)
output=$(mktemp)
trap 'rm -f "$log" "$output"' EXIT

if ! command -v "$oclgrind" >/dev/null 2>&1; then
    echo "oclgrind.sh: there is no $oclgrind" >&2
    exit 77
fi

failures=0

# watch SIZE KIND ARGUMENT...: runs the program for that kind, with groups of so many work-items at most.
watch() {
    size=$1
    shift
    status=0
    : >"$log"
    "$oclgrind" --data-races --check-api --build-options "$options" --log "$log" --max-errors 20 \
        --max-wgsize "$size" "$program" "$@" >"$output" 2>&1 || status=$?
    if ! grep -q '^1\.\.[1-9]' "$output"; then
        echo "not ok - $*: did not run to its end (status $status)"
        cat "$output"
        failures=$((failures + 1))
    elif grep -q '[^[:space:]]' "$log"; then
        echo "not ok - $*: Oclgrind reports"
        cat "$log"
        failures=$((failures + 1))
    elif grep -q '^not ok' "$output"; then
        echo "not ok - $*: results differ"
        cat "$output"
        failures=$((failures + 1))
    else
        echo "ok - $*"
    fi
}

tests=5
for kind in sum dot extremes; do
    watch 256 "$kind"
done
if test $((${1:-0} % 4)) -eq 0; then
    tests=6
    watch 256 histogram
fi
# Smaller groups go over fewer values: these are slow.
watch 64 scan "$@"
watch 32 groups "$@"
echo "1..$tests"
test "$failures" = 0
