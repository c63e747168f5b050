#!/bin/sh
# Fetches another SQLite than the system's, for tests to run in: a shared library out of a wheel of
# PyPI, which any program loads in the place of its own by LD_LIBRARY_PATH.
#
#     sqlite.sh newest FOLDER            FOLDER gets libsqlite3.so.0 and a sqlite3 shell
#     sqlite.sh oldest FOLDER            FOLDER gets libsqlite3.so.0
#     sqlite.sh between FOLDER VERSION   the same of 3.42 or 3.46, which stable distributions have for years
#     sqlite.sh newest-aarch64 FOLDER    the newest, for that architecture
#     sqlite.sh driver FOLDER VERSION    FOLDER gets a Python driver with a SQLite of its own, of 3.45 or 3.50
#     sqlite.sh source FOLDER            FOLDER gets the source of Debian's own, with SQLite's tests
set -eu

python=/usr/bin/python3
folder=$2
work=$folder/wheel

# wheel NAME==VERSION OPTION...: fetches it and unpacks it.
wheel()
{
    "$python" -m pip --disable-pip-version-check --quiet download --no-deps \
        --only-binary :all: --dest "$work" "$@"
    "$python" -m zipfile -e "$work"/*.whl "$work"
}

rm -rf "$folder"
mkdir -p "$work"
case $1 in
    newest | newest-aarch64)
        # It has the library as a file of its own, beside the module that has it built in.
        case $1 in
            newest) wheel apsw ;;
            *) wheel apsw --platform manylinux_2_28_aarch64 ;;
        esac
        mv "$work"/apsw/sqlite_extra_binaries/libsqlite3_tool.so "$folder"/
        ln -s libsqlite3_tool.so "$folder"/libsqlite3.so.0
        mv "$work"/apsw/sqlite_extra_binaries/sqlite3_shell "$folder"/sqlite3
        chmod +x "$folder"/sqlite3
        ;;
    oldest)
        # SQLite 3.35.5, of May 2021: there is no wheel with 3.34. It is built without two functions
        # that Python's module names, and hardly ever calls.
        wheel pyproj==3.1.0 --python-version 38 --implementation cp --abi cp38 \
            --platform manylinux2010_x86_64
        mv "$work"/pyproj.libs/libsqlite3-* "$work"/pyproj.libs/libz-* "$folder"/
        cat >"$work"/lacking.c <<'END'
#include <stddef.h>

unsigned char *sqlite3_serialize(void *db, const char *schema, long long *size, unsigned flags);
int sqlite3_deserialize(void *db, const char *schema, unsigned char *data, long long size,
                        long long room, unsigned flags);

unsigned char *sqlite3_serialize(void *db, const char *schema, long long *size, unsigned flags)
{
    (void)db, (void)schema, (void)flags;
    if (size != NULL)
        *size = -1;
    return NULL;
}

int sqlite3_deserialize(void *db, const char *schema, unsigned char *data, long long size,
                        long long room, unsigned flags)
{
    (void)db, (void)schema, (void)data, (void)size, (void)room, (void)flags;
    return 1; /* SQLITE_ERROR */
}
END
        "${CC:-cc}" -shared -fPIC -o "$folder"/libsqlite3.so.0 "$work"/lacking.c \
            -Wl,--no-as-needed "$folder"/libsqlite3-* -Wl,-soname,libsqlite3.so.0 \
            -Wl,--allow-shlib-undefined "-Wl,-rpath,$(cd "$folder" && pwd)"
        ;;
    between)
        case $3 in
            3.42) release=3.6.1 ;;
            3.46) release=3.7.0 ;;
        esac
        wheel "pyproj==$release" --python-version 310 --implementation cp --abi cp310 \
            --platform manylinux_2_17_x86_64
        mv "$work"/pyproj.libs/libsqlite3-* "$folder"/libsqlite3.so.0
        ;;
    driver)
        case $3 in
            3.45) wheel sqlean.py==3.45.1 ;;
            3.50) wheel sqlean.py==3.50.4.5 ;;
        esac
        mv "$work"/sqlean "$folder"/
        ;;
    source)
        # What the system reads stays as it is: the list of sources is this folder's own.
        lists=$(realpath "$work")
        sed -n 's/^VERSION_CODENAME=//p' /etc/os-release >"$lists"/codename
        for suite in "debian $(cat "$lists"/codename)" \
            "debian-security $(cat "$lists"/codename)-security"; do
            echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
                "http://deb.debian.org/$suite main"
        done >"$lists"/sources.list
        mkdir "$lists"/lists "$lists"/cache
        set -- -o Dir::Etc::sourcelist="$lists"/sources.list -o Dir::Etc::sourceparts=/dev/null \
            -o Dir::State::lists="$lists"/lists -o Dir::Cache="$lists"/cache \
            -o APT::Sandbox::User=root
        apt-get --quiet "$@" update
        (cd "$work" && apt-get --quiet "$@" source --download-only sqlite3)
        tar -xJf "$work"/sqlite3_*.orig.tar.xz --strip-components=1 -C "$folder"
        ;;
esac
rm -rf "$work"
