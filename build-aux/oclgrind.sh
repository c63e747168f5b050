#!/bin/sh
# Runs the kernels of every kind on Oclgrind, a device that is simulated and watches them: no access
# outside of a buffer, no data race, no wrong use of OpenCL's functions.
#
#     oclgrind.sh tests/opencl/core/kernels-t
#
# Fails on any report, and where results differ from the host's. What Oclgrind 21.10 cannot do:
#
# - Its vectors of truth values are wrong (-(a < b) of ulong8 gives 255 for 1). The sums and dot
#   products of CPU devices work in vectors: their results are not judged, what is reported is.
# - It does not know what LLVM makes of restrict in inlined functions, nor the compiler's own
#   prefetch: the programs are compiled without.
# - Its look-out for uninitialized values does not know the instruction freeze, which LLVM puts into
#   most kernels: it is left out.
# - It has no sub-groups; the kernels have no use for them.
#
# Scans, sorts and histograms as for CPU devices, which are nearly the same text, would take minutes.
set -eu

oclgrind=${OCLGRIND:-oclgrind}
program=$1
options='-Drestrict= -D__builtin_prefetch(address)='
log=$(mktemp)
output=$(mktemp)
trap 'rm -f "$log" "$output"' EXIT

if ! command -v "$oclgrind" >/dev/null 2>&1; then
    echo "oclgrind.sh: there is no $oclgrind" >&2
    exit 77
fi

failures=0

# watch JUDGED SIZE ARGUMENT...: runs the program, with groups of so many work-items at most. JUDGED
# says whether its own results count.
watch() {
    judged=$1 size=$2
    shift 2
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
    elif test "$judged" = yes && grep -q '^not ok' "$output"; then
        echo "not ok - $*: results differ"
        cat "$output"
        failures=$((failures + 1))
    else
        echo "ok - $*"
    fi
}

for kind in sum dot extremes histogram cells; do
    watch yes 256 gpu "$kind"
done
# Smaller groups go over fewer values: these two are slow.
watch yes 64 gpu scan
watch yes 32 gpu groups
watch yes 8 gpu sort
# Groups have one work-item here.
watch no 1 cpu sum
watch no 1 cpu dot
watch yes 1 cpu extremes
watch yes 1 cpu cells
echo 1..12
test "$failures" = 0
