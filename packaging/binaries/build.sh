#!/bin/sh
# Builds the extension for people to download: a file for each platform, which needs no other library
# than the system's, and runs with any glibc from 2.17 on, with Windows from 10 on, and with macOS from 11
# on. The compiler is Zig's, of PyPI, which knows the C libraries of all of them; of the system it takes
# the headers of SQLite and OpenCL alone.
#
#     build.sh FOLDER [PLATFORM...]     FOLDER/PLATFORM/clreduce.so, .dll or .dylib, for x86_64, aarch64
#                                       (Linux), windows-x86_64, macos-x86_64 and macos-aarch64
#
# ZIG is another zig than that of PyPI, and CONFIGURE_FLAGS are more of configure's options.
set -eu

test $# -gt 0 || {
    echo "usage: $0 FOLDER [PLATFORM...]" >&2
    exit 2
}
source=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1/include"
folder=$(cd "$1" && pwd)
shift
test $# -gt 0 || set -- x86_64 aarch64 windows-x86_64 macos-x86_64 macos-aarch64

if test -z "${ZIG:-}"; then
    ZIG=$folder/zig/ziglang/zig
    test -x "$ZIG" || PIP_ROOT_USER_ACTION=ignore "${PYTHON:-python3}" -m pip --quiet install \
        --disable-pip-version-check --no-compile --only-binary :all: --target "$folder/zig" \
        ziglang==0.17.1
fi

# Beside other headers of the system's own C library these could not be used.
cp "$(pkg-config --variable=includedir sqlite3)"/sqlite3*.h "$folder/include/"
cp -R "$(pkg-config --variable=includedir OpenCL)/CL" "$folder/include/"
ln -sfn CL "$folder/include/OpenCL" # as macOS calls them

test -x "$source/configure" || (cd "$source" && autoreconf -i)
for platform in "$@"; do
    architecture=${platform#*-}
    case $platform in
        windows-*) host=$architecture-w64-mingw32 target=$architecture-windows-gnu file=clreduce.dll ;;
        macos-*) host=$architecture-apple-darwin20 target=$architecture-macos.11.0 file=clreduce.dylib ;;
        *) host=$architecture-linux-gnu target=$architecture-linux-gnu.2.17 file=clreduce.so ;;
    esac
    # Anew each time. What it has compiled Zig has in a cache of its own, which does without the tracking
    # of dependencies.
    build=$folder/$platform
    rm -rf "$build"
    mkdir "$build"
    # shellcheck disable=SC2086  # The options are a list of words.
    (cd "$build" && "$source/configure" --quiet \
        --host="$host" ac_tool_warned=yes --disable-dependency-tracking \
        CC="$ZIG cc -target $target" AR="$ZIG ar" RANLIB="$ZIG ranlib" \
        CFLAGS="-O2 -include $source/packaging/binaries/libc.h" LDFLAGS=-s \
        SQLITE_CFLAGS="-I$folder/include" SQLITE_LIBS=-lsqlite3 \
        OPENCL_CFLAGS="-I$folder/include" OPENCL_LIBS=-lOpenCL ${CONFIGURE_FLAGS:-})
    # The parser first: others include what it generates.
    make -C "$build" --no-print-directory ext/query/syntax/grammar.h
    make -C "$build" --no-print-directory "$file"
done
