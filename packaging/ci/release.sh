#!/usr/bin/env bash
# Makes a release and looks at it: `make release-check`, with the tools that it needs.
#
#     packaging/ci/release.sh [FOLDER]     FOLDER keeps what is fetched and built; it is build/ci/release
#
# The binaries are those that binaries.sh has built in the folder beside, or else they are built.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
. packaging/checks.sh

work=$(work_folder "${1:-build/ci/release}") || exit 1
tools=$work/tools
binaries=$work/../binaries
[ -f "$binaries/macos-aarch64/clreduce.dylib" ] || binaries=

check 'the tools are there' apt_install autoconf automake file gcc git lemon libsqlite3-dev make \
    ocl-icd-opencl-dev pandoc pkg-config python3 python3-pip python3-venv sqlite3 &&
    check 'reuse and spdx-tools are installed' eval \
        "[ -x $tools/bin/reuse ] || /usr/bin/python3 -m venv $tools && $tools/bin/pip install --quiet reuse spdx-tools" &&
    check 'the build is configured' configured "$work/build" &&
    PATH=$tools/bin:$PATH make -C "$work/build" --no-print-directory --silent BINARIES="$binaries" release-check && exit
[ "$failed" -eq 0 ] || finish
exit 1
