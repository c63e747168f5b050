#!/usr/bin/env bash
# Builds the Debian packages as Debian does, and tries them where nothing else is: in a bare chroot, with
# apt, without what they only recommend. Those for arm64 are cross-built, and load in QEMU.
#
#     packaging/ci/debian.sh [FOLDER]     FOLDER keeps what is fetched and built; it is build/ci/debian
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
. packaging/checks.sh

work=$(work_folder "${1:-build/ci/debian}") || exit 1
version=$(sed -n 's/^#define CLREDUCE_VERSION "\(.*\)"$/\1/p' ext/clreduce.h)
tree=$work/clreduce-$version
debian=$(. /etc/os-release && echo "$VERSION_CODENAME")
chroot=$(mktemp -d "${TMPDIR:-/tmp}/clreduce-chroot.XXXXXX")
# What may still be mounted there is not the chroot's own.
trap 'as_root rm -rf --one-file-system "$chroot"' EXIT
# debhelper gives builds a home of their own, and the compiler's cache is in this one.
CCACHE_DIR=$(ccache -k cache_dir 2>/dev/null) && export CCACHE_DIR CCACHE_BASEDIR=$work
export DEBIAN_FRONTEND=noninteractive
# Debian's machines have no device, and where this runs there need not be one.
unset CLREDUCE_REQUIRE_DEVICE

tools()
{
    apt_install autoconf automake autopkgtest debian-archive-keyring dpkg-dev lintian mmdebstrap qemu-user &&
        as_root apt-get build-dep --yes --no-install-recommends ./
}

# Debian's lists stay there, so that apt need not ask for them again.
bare_chroot()
{
    as_root mmdebstrap --quiet --variant=minbase --skip=cleanup/apt/lists \
        --dpkgopt=force-unsafe-io --aptopt='APT::Install-Recommends "0"' \
        "$debian" "$chroot"
}

source_package()
{
    rm -rf "$tree" "$work"/arm64 "$work"/*.{deb,dsc,changes,buildinfo,tar.xz} && configured "$work/build" &&
        make -C "$work/build" --no-print-directory dist &&
        cp "$work/build/clreduce-$version.tar.gz" "$work/clreduce_$version.orig.tar.gz" &&
        tar -C "$work" -xf "$work/clreduce_$version.orig.tar.gz" && cp -R debian "$tree"
}

binary_packages()
{
    (cd "$tree" && DEB_BUILD_OPTIONS="parallel=$(nproc)" dpkg-buildpackage --no-sign)
}

# The extension needs SQLite and the C library, and no OpenCL.
dependencies()
{
    local needs
    needs=$(dpkg-deb --field "$work"/libsqlite3-mod-clreduce_*.deb Depends) && echo "$needs" &&
        ! grep -qi opencl <<<"$needs" &&
        dpkg-deb --field "$work"/libsqlite3-mod-clreduce_*.deb Recommends | grep -q ocl-icd-libopencl1
}

installed()
{
    as_root cp "$work"/libsqlite3-mod-clreduce_*.deb "$work"/clreduce-run_*.deb "$chroot/tmp/" &&
        as_root chroot "$chroot" sh -c \
            'apt-get install --yes /tmp/libsqlite3-mod-clreduce_*.deb /tmp/clreduce-run_*.deb sqlite3'
}

loads()
{
    local answer
    answer=$(as_root chroot "$chroot" sqlite3 -cmd '.load clreduce' :memory: \
        "SELECT gpu_sum(value) FROM json_each('[1e16, 1.0, -1e16]')" 'SELECT clreduce_version()')
    echo "$answer"
    [ "$answer" = "1.0"$'\n'"$version" ]
}

# A program of the system's, unchanged.
runs()
{
    local answer
    answer=$(as_root chroot "$chroot" clreduce-run sqlite3 :memory: \
        "SELECT sum(value) FROM json_each('[1e16, 1.0, -1e16]')")
    echo "$answer"
    [ "$answer" = "1.0" ]
}

# As Debian tests a package: debian/tests/control.
tests_of_package()
{
    as_root rm -rf "$work/autopkgtest"
    (cd "$work" && as_root autopkgtest --output-dir="$work/autopkgtest" --no-built-binaries \
        "clreduce_$version-1.dsc" libsqlite3-mod-clreduce_*.deb libclreduce-dev_*.deb -- chroot "$chroot")
}

removed()
{
    as_root chroot "$chroot" dpkg --purge clreduce-run libsqlite3-mod-clreduce libclreduce-dev &&
        [ -z "$(as_root find "$chroot/usr" -name '*clreduce*')" ]
}

# In a chroot of its own, which has the compiler; nothing is left of it.
arm64_packages()
{
    # shellcheck disable=SC2016  # "$1" is for mmdebstrap's shell: the chroot.
    mkdir "$work/arm64" && as_root mmdebstrap --quiet --variant=minbase \
        --architectures="$(dpkg --print-architecture),arm64" --include=crossbuild-essential-arm64 \
        --dpkgopt=force-unsafe-io --aptopt='APT::Install-Recommends "0"' \
        --customize-hook='mkdir "$1/build"' --customize-hook="copy-in '$tree' /build" \
        --customize-hook='chroot "$1" sh -c "cd /build/* && apt-get build-dep --yes -aarm64 -Pcross,nocheck ./ &&
            DEB_BUILD_OPTIONS=parallel=$(nproc) dpkg-buildpackage -aarm64 -Pcross,nocheck --build=any --no-sign"' \
        --customize-hook='cp "$1"/build/*.deb '"'$work/arm64'" "$debian" /dev/null
}

# In Debian's shell for it, unpacked alone, as the package is.
arm64_loads()
{
    local root=$work/arm64/root answer
    as_root mmdebstrap --quiet --variant=extract --architectures=arm64 --include=sqlite3 "$debian" "$root" &&
        as_root dpkg-deb --extract "$work"/arm64/libsqlite3-mod-clreduce_*.deb "$root" &&
        answer=$(qemu-aarch64 -L "$root" "$root/usr/bin/sqlite3" -cmd '.load clreduce' :memory: 'SELECT clreduce_version()') &&
        echo "$answer" && [ "$answer" = "$version" ]
}

check 'the tools are there' tools || {
    finish
    exit
}
bare_chroot >"$work/chroot.log" 2>&1 &
chroot_made=$!
if check 'the source package is made of the distribution' source_package &&
    check 'dpkg-buildpackage builds it, and its tests pass' binary_packages; then
    check 'lintian finds no errors and no warnings' lintian --fail-on error,warning "$work"/*.changes
    check 'no package depends on OpenCL' dependencies
    wait "$chroot_made"
    if check 'there is a bare chroot' [ $? -eq 0 ]; then
        check 'apt installs the extension there' installed && check 'it loads by its name' loads
        check 'clreduce-run has it in an unchanged program' runs
        check 'the tests of the packages pass there' tests_of_package
        check 'nothing is left of it when it is purged' removed
    else
        cat "$work/chroot.log"
    fi
    check 'the packages for arm64 are cross-built' arm64_packages && check 'arm64: it loads by its name' arm64_loads
    (cd "$work" && stat --format='%n: %s bytes' ./*.deb ./arm64/*.deb)
fi
wait
finish
