#!/usr/bin/env bash
# Installs the plugin of Datasette in environments of its own, one with the latest release of Datasette and one
# with an alpha of 1.0, and asks a server with it, by HTTP and by headless Chromium.
#
#     packaging/ci/datasette.sh [FOLDER]     FOLDER keeps what is fetched and built; it is build/ci/datasette
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
. packaging/checks.sh

work=$(work_folder "${1:-build/ci/datasette}") || exit 1

# The build in build/ if there is one, else one of its own.
build=$PWD/build
[ -f "$build/clreduce.so" ] || build=$work/build

extension()
{
    configured "$build" && make -C "$build" -j "$(nproc)" --no-print-directory clreduce.so
}

# environment FOLDER DATASETTE: with that version. It has the system's Python: many others cannot load extensions.
environment()
{
    { [ -x "$1/bin/python" ] || /usr/bin/python3 -m venv "$1"; } &&
        CLREDUCE_EXTENSION=$build/clreduce "$1/bin/python" -m pip install --quiet httpx pytest "$2" ./packaging/python ./packaging/datasette
}

# try FOLDER DATASETTE: what the tests of the plugin say with that version.
try()
{
    check "pip installs the plugin, the package and $2" environment "$1" "$2" &&
        CLREDUCE_EXTENSION=$build/clreduce pytest_checks "$1/tests.log" "$1/bin/python" -m pytest packaging/datasette
}

check 'the tools are there' apt_install autoconf automake gcc lemon libsqlite3-dev make ocl-icd-opencl-dev \
    pkg-config python3 python3-venv sqlite3
browser=$(command -v chromium || { apt_install chromium fonts-dejavu-core >"$work/chromium.log" 2>&1 && command -v chromium; }) ||
    skip 'a browser shows the page' 'there is no Chromium'
if check 'the extension is built' extension; then
    echo "browser: ${browser:-none}"
    try "$work/release" 'datasette<1'
    try "$work/alpha" datasette==1.0a41
fi
finish
