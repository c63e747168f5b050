#!/bin/sh
# The extension's file: its entry points, no SQLite of its own, no link to OpenCL, all kernels inside.
. "${CLREDUCE_SRCDIR:-.}/tests/tap.sh"

module=$CLREDUCE_EXTENSION.so
test -f "$module" || tap_skip_all 'the extension is no ELF file'
command -v nm >/dev/null || tap_skip_all 'there is no nm'

# The names that a linker and a sanitizer define by themselves start with an underscore.
exported=$(nm -D --defined-only "$module" | awk '$3 !~ /^_/ { print $3 }' | sort)
tap_is "$exported" 'clreduce_gate
clreduce_prepare_v2
clreduce_prepare_v3
sqlite3_clreduce_init' 'the entry points are all that the extension exports'
undefined=$(nm -D --undefined-only "$module" | awk '$2 ~ /^sqlite3/ { print $2 }')
tap_is "$undefined" '' 'it uses the SQLite that loads it, through the table of functions'

# Functions of SQLite, and those of them that the sources name outside of comments.
functions=$(echo '#include <sqlite3ext.h>' | $CC -E -dM - 2>/dev/null | awk '$3 ~ /^sqlite3_api->/ { print $2 }' | sort)
if test -n "$functions"; then
    sources=$(find "$CLREDUCE_SRCDIR/ext/sqlite" "$CLREDUCE_SRCDIR/ext/clreduce.c" -name '*.[ch]')
    # shellcheck disable=SC2086  # Names without spaces.
    named=$(sed -e 's/sqlite3_api->/sqlite3_/' -e 's|/\*.*\*/||' -e '/\/\*/,/\*\//d' $sources | grep -oE 'sqlite3_[a-z0-9_]+' | sort -u)
    table=$(sed -n 's/.* = \(sqlite3_[a-z0-9_]*\),$/\1/p' "$CLREDUCE_SRCDIR/ext/linked.c" | sort)
    tap_is "$table" "$(printf '%s\n' "$named" | grep -Fx "$functions")" \
        'the library to link with has a table of the functions that it calls'
else
    tap_skip 1 'the compiler does not find sqlite3ext.h'
fi

undefined=$(nm -D --undefined-only "$module" | awk '$2 ~ /^cl[A-Z]/ { print $2 }')
tap_is "$undefined" '' 'it names no function of OpenCL'
if command -v objdump >/dev/null; then
    linked=$(objdump -p "$module" | awk '$1 == "NEEDED" { print $2 }')
    tap_like "$linked" '*libc.so*' 'it needs the C library'
    tap_is "$(printf '%s\n' "$linked" | grep -iE 'opencl|sqlite')" '' 'and neither OpenCL nor SQLite'
else
    tap_skip 2 'there is no objdump'
fi

cp "$module" "$tap_tmp/elsewhere.so"
loaded=$(cd "$tap_tmp" && launch "${SQLITE3:-false}" -init /dev/null -batch :memory: \
    ".load ./elsewhere sqlite3_clreduce_init" 'SELECT gpu_sum(1)' 2>&1)
if test -n "$SQLITE3"; then
    tap_is "$loaded" 1 'the one file is all that is needed at run time'
else
    tap_skip 1 'there is no sqlite3 shell'
fi
tap_done
