#!/bin/sh
# Builds the extension for people to download: a file for each architecture, which runs with any glibc
# from 2.17 on and needs no other library. The compiler is Zig's, of PyPI, which knows the C libraries of
# all architectures and years; of the system it takes the headers of SQLite and OpenCL alone.
#
#     build.sh FOLDER [ARCHITECTURE...]     FOLDER/ARCHITECTURE/clreduce.so, for x86_64 and aarch64
#
# ZIG is another zig than that of PyPI, and CONFIGURE_FLAGS are more of configure's options.
set -eu

test $# -gt 0 || {
    echo "usage: $0 FOLDER [ARCHITECTURE...]" >&2
    exit 2
}
source=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1/include"
folder=$(cd "$1" && pwd)
shift
test $# -gt 0 || set -- x86_64 aarch64

if test -z "${ZIG:-}"; then
    ZIG=$folder/zig/ziglang/zig
    test -x "$ZIG" || PIP_ROOT_USER_ACTION=ignore "${PYTHON:-python3}" -m pip --quiet install \
        --disable-pip-version-check --no-compile --only-binary :all: --target "$folder/zig" \
        ziglang==0.17.1
fi

# Beside other headers of the system's own C library these could not be used.
cp "$(pkg-config --variable=includedir sqlite3)"/sqlite3*.h "$folder/include/"
cp -R "$(pkg-config --variable=includedir OpenCL)/CL" "$folder/include/"

test -x "$source/configure" || (cd "$source" && autoreconf -i)
for architecture in "$@"; do
    # Anew each time. What it has compiled Zig has in a cache of its own, which does without the tracking
    # of dependencies.
    build=$folder/$architecture
    rm -rf "$build"
    mkdir "$build"
    # shellcheck disable=SC2086  # The options are a list of words.
    (cd "$build" && "$source/configure" --quiet \
        --host="$architecture-linux-gnu" ac_tool_warned=yes --disable-dependency-tracking \
        CC="$ZIG cc -target $architecture-linux-gnu.2.17" AR="$ZIG ar" RANLIB="$ZIG ranlib" \
        CFLAGS="-O2 -include $source/packaging/binaries/libc.h" LDFLAGS=-s \
        SQLITE_CFLAGS="-I$folder/include" SQLITE_LIBS=-lsqlite3 \
        OPENCL_CFLAGS="-I$folder/include" OPENCL_LIBS=-lOpenCL ${CONFIGURE_FLAGS:-})
    # The parser first: others include what it generates.
    make -C "$build" --no-print-directory ext/query/syntax/grammar.h
    make -C "$build" --no-print-directory clreduce.so
done
