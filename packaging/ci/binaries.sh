#!/usr/bin/env bash
# The extension's files as people download them: what they need of the system, and that those for Linux
# give the same answers, bit for bit, as each other, with and without vectors of the processor's. What is
# not for this processor runs in QEMU. Those for macOS are not run; windows.sh runs that for Windows.
#
#     packaging/ci/binaries.sh FOLDER     FOLDER keeps what is fetched and built
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
. packaging/checks.sh

work=${1?a folder is needed}
mkdir -p "$work" && work=$(cd "$work" && pwd) || exit 1

apt_install autoconf automake binutils gcc libc6-arm64-cross lemon libsqlite3-dev llvm make ocl-icd-opencl-dev pkg-config \
    python3 python3-pip qemu-user >"$work/tools.log" 2>&1 || tap_bail "the tools are not there: $work/tools.log"
root=/usr/aarch64-linux-gnu

CONFIGURE_FLAGS=--enable-werror packaging/binaries/build.sh "$work" >"$work/build.log" 2>&1
tap_ok $? 'all are built, without a warning' || {
    tap_diag "$(tail -n 50 "$work/build.log")"
    tap_bail 'there is nothing to try'
}
for shell in newest newest-aarch64; do
    test -x "$work/$shell/sqlite3" || .ci/sqlite.sh "$shell" "$work/$shell" ||
        tap_bail 'there is no sqlite3 shell'
done

# QEMU of Debian's backports, unpacked alone: that of Debian 12 takes the fourth register of places for none, and
# looks up words elsewhere than processors with AVX2 do.
qemu_x86_64()
{
    local folder=$work/qemu apt
    [ ! -x "$folder/usr/bin/qemu-x86_64" ] || return 0
    mkdir -p "$folder"/{lists,cache} || return
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian" \
        "$(. /etc/os-release && echo "$VERSION_CODENAME")-backports main" >"$folder/sources.list"
    apt=(apt-get --quiet -o Dir::Etc::sourcelist="$folder/sources.list" -o Dir::Etc::sourceparts=/dev/null
        -o Dir::State::lists="$folder/lists" -o Dir::Cache="$folder/cache" -o APT::Sandbox::User=root)
    (cd "$folder" && "${apt[@]}" update && "${apt[@]}" download qemu-user && dpkg-deb -x qemu-user_*.deb . &&
        rm -rf qemu-user_*.deb lists cache)
}
qemu_x86_64 >"$work/qemu.log" 2>&1 || tap_bail "there is no newer QEMU: $work/qemu.log"

# ---- What they need.

for architecture in x86_64 aarch64; do
    file=$work/$architecture/clreduce.so
    newest=$(objdump -T "$file" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
    tap_is "$(printf '%s\n' "$newest" GLIBC_2.2 GLIBC_2.17 | sort -V | tail -n 1)" GLIBC_2.17 \
        "$architecture: of the C library it needs no more than $newest"
    # The loader is the C library's as well: variables of threads need it.
    needed=$(objdump -p "$file" | awk '$1 == "NEEDED" && $2 !~ /^ld-linux/ { print $2 }' | sort | tr '\n' ' ')
    tap_is "$needed" 'libc.so.6 libdl.so.2 libm.so.6 libpthread.so.0 ' "$architecture: and nothing else"
    exported=$(objdump -T "$file" | awk '/ g / && !/\*UND\*/ { print $NF }' | sort | tr '\n' ' ')
    tap_is "$exported" 'clreduce_gate clreduce_prepare_v2 clreduce_prepare_v3 sqlite3_clreduce_init ' \
        "$architecture: it exports the entry points"
    own=$(objdump -T "$file" | awk '/\*UND\*/ { print $NF }' | grep -cxE 'memcpy|memmove|strlen')
    tap_is "$own" 3 "$architecture: such functions are the C library's"
    tap_diag "$architecture: $(wc -c <"$file") bytes, $(gzip -9 <"$file" | wc -c) compressed"
done

objdump -T "$work/x86_64/clreduce.so" | grep -q '\*UND\*.* fma$'
tap_ok $? 'x86_64: and fma() is, which processors without vectors need'

file=$work/windows-x86_64/clreduce.dll
needed=$(objdump -p "$file" | awk '/DLL Name/ { print $3 }' | grep -vE '^(KERNEL32|api-ms-win-crt-[a-z]+-l1-1-0)\.dll$')
tap_is "$needed" '' 'windows-x86_64: it needs no library but those of Windows 10'
exported=$(objdump -p "$file" | sed -n '/Ordinal\/Name/,/^$/s/^\t\[ *[0-9]*\] //p' | sort | tr '\n' ' ')
tap_is "$exported" 'clreduce_gate clreduce_prepare_v2 clreduce_prepare_v3 sqlite3_clreduce_init ' \
    'windows-x86_64: it exports the entry points'
tap_is "$(objdump -p "$file" | grep -cw fma)" 1 "windows-x86_64: fma() is the C library's"

for architecture in x86_64 aarch64; do
    file=$work/macos-$architecture/clreduce.dylib
    commands=$(llvm-objdump --macho --private-headers "$file")
    tap_is "$(awk '$1 == "minos" { print $2 }' <<<"$commands")" 11.0 "macos-$architecture: it is for macOS 11 or later"
    tap_is "$(awk '/LC_((ID|LOAD)_DYLIB|RPATH)$/ { next_name = 1 } next_name && $1 == "name" { print $2; next_name = 0 }' \
        <<<"$commands" | tr '\n' ' ')" 'clreduce.dylib /usr/lib/libSystem.B.dylib ' \
        "macos-$architecture: it names no library but the system's, and no folder"
    exported=$(llvm-nm --extern-only --defined-only --format=just-symbols "$file" | grep -v '^__' | sort | tr '\n' ' ')
    tap_is "$exported" '_clreduce_gate _clreduce_prepare_v2 _clreduce_prepare_v3 _sqlite3_clreduce_init ' \
        "macos-$architecture: it exports the entry points"
    output=$(make -C "$work/macos-$architecture" --no-print-directory clreduce-run libclreduce-preload.dylib 2>&1)
    tap_ok $? "macos-$architecture: clreduce-run is built, too, without a warning" || tap_diag "$output"
done
for file in "$work"/*/clreduce.{so,dll,dylib}; do
    ! grep -qaF "$work" "$file" && ! grep -qaF "$PWD/" "$file"
    tap_ok $? "$(basename "$(dirname "$file")"): no path of the build is in it"
done

# ---- What they answer.

# on PROCESSOR ARGUMENT...: what the sqlite3 shell with the extension prints there. A processor is
# native, a model of x86_64 that QEMU knows, or aarch64.
on()
{
    processor=$1
    shift
    case $processor in
        native) set -- env LD_LIBRARY_PATH="$work/newest" "$work/newest/sqlite3" \
            -cmd ".load '$work/x86_64/clreduce'" "$@" ;;
        aarch64) set -- qemu-aarch64 -L "$root" -E LD_LIBRARY_PATH="$work/newest-aarch64" \
            "$work/newest-aarch64/sqlite3" -cmd ".load '$work/aarch64/clreduce'" "$@" ;;
        *) set -- "$work/qemu/usr/bin/qemu-x86_64" -cpu "$processor" -E LD_LIBRARY_PATH="$work/newest" \
            "$work/newest/sqlite3" -cmd ".load '$work/x86_64/clreduce'" "$@" ;;
    esac
    timeout 120 "$@" -init /dev/null -batch 2>"$tap_tmp/errors"
}

# answers PROCESSOR: those of binaries.sql, on the host.
answers()
{
    CLREDUCE_DEVICE=host on "$1" "$tap_tmp/$1.db" <packaging/ci/binaries.sql
}

answers native >"$tap_tmp/native"
tap_ok $? 'native: the answers'
tap_is "$(grep -c '^[0-9]*|[0-9]*|-*[0-9]*|[0-9A-F]*' "$tap_tmp/native")" 38 'one row and 37 groups'
tap_is "$(tail -n 5 "$tap_tmp/native" | tr '\n' ' ')" \
    '0 0 whole|accelerated: host groups|accelerated: host airports|accelerated: answer kept ' \
    'native: views are accelerated, and give what their SELECTs give'
for processor in Haswell Nehalem aarch64; do
    answers "$processor" >"$tap_tmp/$processor" || tap_diag "$(cat "$tap_tmp/errors")"
    cmp "$tap_tmp/native" "$tap_tmp/$processor" >"$tap_tmp/differs" 2>&1
    tap_ok $? "$processor: the same answers, to the bit" || {
        tap_diag "$(cat "$tap_tmp/differs")"
        tap_diag "$(diff "$tap_tmp/native" "$tap_tmp/$processor" | head -n 20)"
    }
done

# That no vectors are used would change no answer.
"${ZIG:-$work/zig/ziglang/zig}" cc -target x86_64-linux-gnu.2.17 -O2 -Iext -o "$tap_tmp/vectors" \
    ext/base/processor.c -x c - <<'END'
#include "base/processor.h"
#include <stdio.h>
int main(void)
{
    return printf("%d\n", (int)clr_processor_vectors()) < 0;
}
END
tap_is "$("$work/qemu/usr/bin/qemu-x86_64" -cpu Haswell "$tap_tmp/vectors" 2>/dev/null)" 1 'Haswell: AVX2 is used'
tap_is "$("$work/qemu/usr/bin/qemu-x86_64" -cpu Nehalem "$tap_tmp/vectors" 2>/dev/null)" 0 'Nehalem: no vectors are'

tap_like "$(CLREDUCE_DEVICE=gpu on aarch64 :memory: 'SELECT reason FROM clreduce_devices')" \
    'no OpenCL ICD loader could be opened (libOpenCL.so.1: *Install one*' \
    'aarch64: there is no OpenCL, and how to get it is told'
tap_done
