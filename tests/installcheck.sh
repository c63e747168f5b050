#!/bin/sh
# What `make installcheck` does with an installed clreduce: loads the extension from where it is
# installed, then builds the example through clreduce.pc and runs it. The makefile sets the environment:
# prefix, extensiondir and pkgconfigdir (all with DESTDIR), CC, PKG_CONFIG, SQLITE3.
set -eu
: "${SQLITE3?}" "${CC?}" "${PKG_CONFIG?}" "${prefix?}" "${extensiondir?}" "${pkgconfigdir?}"

work=$(mktemp -d "${TMPDIR:-/tmp}/clreduce-installed.XXXXXX")
trap 'rm -rf "$work"' EXIT

if test -n "$SQLITE3"; then
    result=$("$CLREDUCE_SRCDIR/tests/launch.sh" "$SQLITE3" -init /dev/null -batch -bail :memory: \
        ".load '$extensiondir/clreduce'" \
        'SELECT gpu_sum(value) FROM (SELECT 40 AS value UNION SELECT 2)')
    test "$result" = 42 || {
        echo "installcheck: gpu_sum() gave '$result' instead of 42" >&2
        exit 1
    }
    echo "installcheck: $extensiondir/clreduce loads and adds"
else
    echo 'installcheck: the extension is not loaded, there is no sqlite3 shell'
fi

PKG_CONFIG_PATH=$pkgconfigdir${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
export PKG_CONFIG_PATH
if "$PKG_CONFIG" --exists sqlite3 2>/dev/null; then
    flags=$("$PKG_CONFIG" --define-variable="prefix=$prefix" --cflags --libs clreduce sqlite3)
    # shellcheck disable=SC2086  # Both are lists of words.
    $CC "$CLREDUCE_SRCDIR/examples/embed.c" -o "$work/embed" $flags
    "$work/embed"
    echo 'installcheck: the example builds through clreduce.pc, and its results are right'
else
    echo 'installcheck: the example is not built, pkg-config knows no sqlite3'
fi
