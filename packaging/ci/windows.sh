#!/usr/bin/env bash
# The extension for Windows, in wine, with SQLite's shell and a driver for Python's tests, both built of
# Debian's source package of SQLite: the answers are those of the file for Linux, to the bit, and the tests
# pass that Windows can pass.
#
#     packaging/ci/windows.sh FOLDER     FOLDER keeps what is fetched and built
#
# The files are what binaries.sh has built in the folder beside; without them they are built.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
. packaging/checks.sh

work=${1?a folder is needed}
mkdir -p "$work" && work=$(cd "$work" && pwd) || exit 1
binaries=$work/../binaries

apt_install autoconf automake gcc lemon libsqlite3-dev make ocl-icd-opencl-dev pkg-config pocl-opencl-icd python3 python3-pip \
    sqlite3 tcl wine wine64 xz-utils >"$work/tools.log" 2>&1 || tap_bail "the tools are not there: $work/tools.log"
[ -f "$binaries/x86_64/clreduce.so" ] && [ -f "$binaries/windows-x86_64/clreduce.dll" ] ||
    packaging/binaries/build.sh "$binaries" x86_64 windows-x86_64 >"$work/build.log" 2>&1 ||
    tap_bail "the files are not built: $work/build.log"
zig=${ZIG:-$binaries/zig/ziglang/zig}

to_windows=("$zig" cc -target x86_64-windows-gnu -O2 -s -w)

# sqlite FOLDER: builds it and its shell there, with the options of Debian's shell that tests ask for.
sqlite()
{
    .ci/sqlite.sh source "$1/source" && mkdir -p "$1/build" && (
        cd "$1/build" && ../source/configure --quiet && make sqlite3.c shell.c &&
            "${to_windows[@]}" -I. -c -DSQLITE_ALLOW_ROWID_IN_VIEW -DSQLITE_ENABLE_COLUMN_METADATA \
                -DSQLITE_ENABLE_DBSTAT_VTAB -DSQLITE_ENABLE_FTS5 -DSQLITE_ENABLE_MATH_FUNCTIONS -DSQLITE_ENABLE_RTREE \
                -DSQLITE_ENABLE_STMTVTAB -DSQLITE_MAX_VARIABLE_NUMBER=250000 -DSQLITE_SECURE_DELETE \
                -DSQLITE_ENABLE_PREUPDATE_HOOK sqlite3.c &&
            "${to_windows[@]}" -I. -o sqlite3.exe shell.c sqlite3.o*
    )
}

{ [ -f "$work/build/sqlite3.exe" ] || sqlite "$work"; } >"$work/sqlite.log" 2>&1 &&
    "${to_windows[@]}" -I"$work/build" -o "$work/build/driver.exe" tests/windows/driver.c "$work"/build/sqlite3.o* \
        >>"$work/sqlite.log" 2>&1 &&
    "${to_windows[@]}" -Iext -Itests -o "$work/build/team-t.exe" tests/engine/worker/team-t.c tests/tap.c \
        ext/engine/worker/team.c ext/base/{memory,system_windows}.c >>"$work/sqlite.log" 2>&1
tap_ok $? 'SQLite is built for Windows, and the programs of the tests' || {
    tap_diag "$(tail -n 20 "$work/sqlite.log")"
    tap_bail 'there is nothing to try'
}
cp "$binaries/windows-x86_64/clreduce.dll" "$work/build/"

# Everything of wine's is in the folder, and nothing of it is shown.
export LC_ALL=C.UTF-8 WINEPREFIX=$work/wine WINEDEBUG=-all CLREDUCE_DEVICE=host
unset DISPLAY

# shell DATABASE: the SQL on the standard input, by the shell for Windows with the extension.
shell()
{
    timeout 300 wine "$work/build/sqlite3.exe" -init NUL -batch -cmd ".load '$work/build/clreduce'" "$1" 2>"$tap_tmp/errors" |
        tr -d '\r'
}

# ---- The same answers.

shell "$tap_tmp/windows.db" <packaging/ci/binaries.sql >"$tap_tmp/windows"
sqlite3 -init /dev/null -batch -cmd ".load '$binaries/x86_64/clreduce'" "$tap_tmp/linux.db" \
    <packaging/ci/binaries.sql >"$tap_tmp/linux"
tap_is "$(grep -cE '[|]accelerated: (host|answer kept)' "$tap_tmp/windows")" 3 'views are accelerated' ||
    tap_diag "$(cat "$tap_tmp/errors")"
cmp "$tap_tmp/linux" "$tap_tmp/windows" >"$tap_tmp/differs" 2>&1
tap_ok $? 'the same answers as on Linux, to the bit' || tap_diag "$(diff "$tap_tmp/linux" "$tap_tmp/windows" | head -n 20)"
# The OpenCL.dll of wine leads to the system's drivers.
tap_is "$(CLREDUCE_DEVICE=cpu shell :memory: <<<'SELECT count(*) > 0 FROM clreduce_devices;')" 1 'OpenCL.dll is opened'

# ---- Names of files: each is of the temporary folder.

long=$(printf 'x%.0s' {1..100})
for name in 'with spaces.db' 'Größe und Maß.db' "$long/$long/long.db"; do
    mkdir -p "$tap_tmp/$(dirname "$name")"
    for mode in DELETE WAL; do
        rm -f "$tap_tmp/$name"
        path=Z:$tap_tmp/$name
        [ "${#path}" -lt 250 ] || path="file:////?/${path//\//\\}?vfs=win32-longpath"
        found=$(shell :memory: <<END
.open '$path'
.load '$work/build/clreduce'
PRAGMA journal_mode = $mode;
CREATE TABLE t(a, b);
INSERT INTO t SELECT value, value * 0.5 FROM generate_series(1, 20000);
SELECT clreduce_set('view_threshold', 0);
CREATE VIRTUAL TABLE temp.v USING clreduce((SELECT gpu_sum(b), count(*) FROM t));
SELECT * FROM v;
SELECT * FROM v;
SELECT count(*) FROM clreduce_plan('v') WHERE line LIKE 'accelerated%';
END
        )
        tap_is "$(tail -n 3 <<<"$found" | tr '\n' ' ')" '100005000.0|20000 100005000.0|20000 1 ' \
            "${name:0:30}, $mode" || tap_diag "$found $(cat "$tap_tmp/errors")"
    done
done

# ---- Threads: that those are started well which end at once.

timeout 300 wine "$work/build/team-t.exe" 5000 >"$work/team-t.log" 2>&1
tap_ok $? "tests/engine/worker/team-t.c: $(grep -c '^ok' "$work/team-t.log") checks" || tap_diag "$(tail -n 5 "$work/team-t.log")"

# ---- Python's tests. Not those of what Windows has not, of messages that name Linux's files, and of this process's memory.

export CLREDUCE_TEST_DRIVER=wine_sqlite CLREDUCE_WINE_DRIVER=$work/build/driver.exe
export CLREDUCE_EXTENSION=$work/build/clreduce CLREDUCE_SRCDIR=$PWD CLREDUCE_BUILDDIR=$work SQLITE3=
export PYTHONPATH=$PWD/tests/windows:$PWD/tests:$PWD/tests/sqlite:$PWD/tests/numeric PYTHONDONTWRITEBYTECODE=1
export POCL_CACHE_DIR=$work/pocl POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable # as make check does: a device is there at once
unset CLREDUCE_DEVICE
tests=(
    tests/windows/files.py tests/sql-t.py
    tests/sqlite/access/{accelerate,rewrite,units}-t.py
    tests/sqlite/aggregates/{contract-values,exact,flights,nist,order,states,states-refused,windows}-t.py
    tests/sqlite/columns/pool-snapshots-t.py
    tests/sqlite/views/view-{begin,bytes,cache,changed,corrupt,derived,dimensions,fresh,groups,groups-asked,joins-asked}-t.py
    tests/sqlite/views/view-{kept,keyed,lookup,order,shared,star,subqueries,text}-t.py tests/sqlite/views/view-t.py
)
for test in "${tests[@]}"; do
    output=$work/$(basename "$test").log
    timeout 600 /usr/bin/python3 "$test" >"$output" 2>&1
    tap_ok $? "$test: $(grep -c '^ok' "$output") checks" || tap_diag "$(grep -A 10 '^not ok' "$output" | head -n 40)" \
        "$(tail -n 5 "$output")"
done
wineserver -k 2>/dev/null
tap_done
