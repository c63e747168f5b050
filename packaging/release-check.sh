#!/usr/bin/env bash
# What `make release-check` looks at: that a release is what its sources say, and can be made again by
# anybody, byte for byte. In the build directory; the makefile sets the environment: MAKE, srcdir,
# VERSION, PACKAGE_URL, SOURCE_DATE_EPOCH, and BINARIES, which may be empty.
set -uo pipefail
: "${MAKE?}" "${BINARIES?}" "${srcdir?}" "${VERSION?}" "${PACKAGE_URL?}" "${SOURCE_DATE_EPOCH?}"
. "$srcdir/packaging/checks.sh"

release=clreduce-$VERSION
here=$PWD
work=$(mktemp -d "${TMPDIR:-/tmp}/clreduce-release.XXXXXX")
trap 'rm -rf "$work"' EXIT

# The version has one home, ext/clreduce.h, and the others follow.
versions()
{
    grep -q "^clreduce $VERSION " <(head -n 1 "$srcdir/NEWS") || {
        echo "NEWS begins with another version than $VERSION"
        return 1
    }
    [ ! -f "$srcdir/debian/changelog" ] ||
        grep -qF "clreduce ($VERSION-" <(head -n 1 "$srcdir/debian/changelog") || {
        echo "debian/changelog begins with another version than $VERSION"
        return 1
    }
    python3 - "$srcdir" "$VERSION" "$PACKAGE_URL" <<'END'
import glob, json, sys, tomllib
folder, version, url = sys.argv[1:]
with open(f"{folder}/sqlpkg.json") as file:
    package = json.load(file)
assert package["version"] == version, f"sqlpkg.json: version {package['version']} instead of {version}"
for key in ("homepage", "repository"):
    assert package[key] == url, f"sqlpkg.json: {key} {package[key]} instead of {url}"
for path in glob.glob(f"{folder}/packaging/*/pyproject.toml"):
    with open(path, "rb") as file:
        project = tomllib.load(file)["project"]
    assert project.get("version", version) == version, f"{path}: version {project['version']} instead of {version}"
END
}

# What sqlpkg reads, each of its type, and no other.
sqlpkg()
{
    python3 - "$srcdir/sqlpkg.json" <<'END'
import json, sys
with open(sys.argv[1]) as file:
    package = json.load(file)
texts = dict.fromkeys(("owner", "name", "version", "homepage", "repository", "license", "description"), str)
lists = dict.fromkeys(("authors", "keywords", "symbols"), list)
for given, known in ((package, texts | lists | {"assets": dict}),
                     (package["assets"], {"path": str, "pattern": str, "files": dict})):
    for key, value in given.items():
        assert key in known, f"sqlpkg knows no {key}"
        assert isinstance(value, known[key]), f"{key} is no {known[key].__name__}"
    assert given.keys() == known.keys(), f"missing: {known.keys() - given.keys()}"
for platform, asset in package["assets"]["files"].items():
    assert platform in ("linux-amd64", "linux-arm64", "windows-amd64", "darwin-amd64", "darwin-arm64"), platform
    assert "{version}" in asset, asset
END
}

made()
{
    rm -f "$release.tar.gz" "$release.spdx.json" "$release"-*.zip SHA256SUMS checksums.txt &&
        "$MAKE" --no-print-directory BINARIES="$BINARIES" release
}

# same TARBALL TARBALL: whether they have the same bytes. Prints the first lines that differ.
same()
{
    cmp "$1" "$2" && return
    mkdir "$work/one" "$work/other" && tar -C "$work/one" -xf "$1" && tar -C "$work/other" -xf "$2" &&
        (cd "$work" && diff -r one other | head -n 20)
    rm -rf "$work/one" "$work/other"
    return 1
}

# again FOLDER: the tarball made once more, by the sources in that folder, in another environment.
again()
{
    mkdir "$1/made" && (
        umask 077
        export TZ=Pacific/Chatham LC_ALL=C
        cd "$1/made" && ../configure --quiet && "$MAKE" --no-print-directory -j "$(nproc)" release-tarball
    ) && same "$here/$release.tar.gz" "$1/made/$release.tar.gz" && rm -rf "$1/made"
}

# The files of the repository, as they are now, with configure made anew.
of_sources()
{
    mkdir "$work/sources" && git -C "$srcdir" ls-files -z --cached --others --exclude-standard |
        (cd "$srcdir" && xargs -0 tar -cf -) | (umask 077 && tar -C "$work/sources" -xf - --no-same-permissions) &&
        (cd "$work/sources" && autoreconf -i -W none) && again "$work/sources"
}

of_itself()
{
    tar -C "$work" -xf "$release.tar.gz" && again "$work/$release"
}

# Nothing in it leaves its folder or belongs to somebody, and what a checkout has to make is there.
contents()
{
    local file
    ! tar --numeric-owner -tvf "$release.tar.gz" | grep -vE "^[-d]r[w-][x-]r-[x-]r-[x-] 0/0 .* $release/" &&
        for file in configure docs/clreduce.7 ext/query/syntax/grammar.c LICENSE LICENSES/MIT.txt; do
            [ -f "$work/$release/$file" ] || {
                echo "the tarball has no $file"
                return 1
            }
        done
}

# The archives as sqlpkg takes them: the checksums are in checksums.txt, and of the files those are unpacked that
# the pattern fits; here each into a folder of its platform.
archives()
{
    python3 - "$srcdir/sqlpkg.json" "$work" <<'END'
import fnmatch, hashlib, json, os, sys, zipfile
with open(sys.argv[1]) as file:
    package = json.load(file)
with open("checksums.txt") as file:
    sums = {name: checksum for checksum, name in map(str.split, file)}
elf, mac = b"\x7fELF\2\1", b"\xcf\xfa\xed\xfe"
for platform, folder, end, begins, place, machine in (
        ("linux-amd64", "x86_64", "so", elf, 18, b"\x3e\0"), ("linux-arm64", "aarch64", "so", elf, 18, b"\xb7\0"),
        ("windows-amd64", "windows-x86_64", "dll", b"MZ", None, b"\x64\x86"),
        ("darwin-amd64", "macos-x86_64", "dylib", mac, 4, b"\7\0\0\1"),
        ("darwin-arm64", "macos-aarch64", "dylib", mac, 4, b"\x0c\0\0\1")):
    name = package["assets"]["files"][platform].replace("{version}", package["version"])
    with open(name, "rb") as file:
        assert hashlib.sha256(file.read()).hexdigest() == sums[name], f"{name}: another checksum than checksums.txt has"
    with zipfile.ZipFile(name) as archive:
        assert archive.namelist() == ["LICENSE", f"clreduce.{end}"], f"{name} has {archive.namelist()}"
        file, = fnmatch.filter(archive.namelist(), package["assets"]["pattern"])
        data = archive.read(file)
        if place is None:  # Windows' files say where
            place = int.from_bytes(data[60:64], "little") + 4
        assert data.startswith(begins) and data[place:].startswith(machine), f"{name}: {file} is for another processor"
        archive.extract(file, os.path.join(sys.argv[2], folder))
END
}

archive_loads()
{
    [ "$(sqlite3 -cmd ".load $work/$(uname -m)/clreduce" :memory: 'SELECT clreduce_version()')" = "$VERSION" ]
}

# With the binaries that are in them: a compiler of another day may make others.
archives_again()
{
    local archive
    mkdir "$work/again" &&
        (cd "$work/again" && python3 "$srcdir/packaging/archives.py" "$srcdir/sqlpkg.json" .. "$SOURCE_DATE_EPOCH") &&
        for archive in "$release"-*.zip; do cmp "$archive" "$work/again/$archive" || return; done
}

bill()
{
    pyspdxtools --infile "$release.spdx.json" &&
        python3 "$srcdir/packaging/sbom.py" "$release.tar.gz" "$SOURCE_DATE_EPOCH" "$PACKAGE_URL" |
        cmp - "$release.spdx.json"
}

# For programs that link the archive: what it says of itself, and all that a static program needs.
pkg_config()
{
    local libraries
    export PKG_CONFIG_PATH=$here
    pkg-config --validate clreduce.pc && grep -qxF "URL: $PACKAGE_URL" clreduce.pc &&
        grep -qx 'License: MIT' clreduce.pc && libraries=$(pkg-config --static --libs clreduce) &&
        echo "$libraries" && [[ $libraries == *-lclreduce*-lsqlite3* ]] &&
        [[ $(pkg-config --libs clreduce) != *-lsqlite3* ]]
}

for tool in git pkg-config pyspdxtools python3 reuse sqlite3; do
    command -v "$tool" >/dev/null || {
        echo "release-check: $tool is needed: see docs/releasing.md" >&2
        exit 1
    }
done
check 'all files have the same version and home' versions
check 'sqlpkg.json has what sqlpkg reads' sqlpkg
check 'every file says its license: reuse lint' reuse --root "$srcdir" lint
check 'clreduce.pc is complete' pkg_config
if check 'make release makes tarball, bill of materials, archives and checksums' made; then
    if [ -e "$srcdir/.git" ]; then
        check 'made again by the sources, the tarball is the same' of_sources
    else
        skip 'made again by the sources, the tarball is the same' 'the sources are a release'
    fi
    check 'made again by itself, it is the same' of_itself
    check 'the tarball has what it should' contents
    check 'the bill of materials is valid, and the same again' bill
    check 'sqlpkg finds a file for each platform in the archives' archives &&
        check 'the one for this processor loads' archive_loads &&
        check 'packed again, the archives are the same' archives_again
    check 'the checksums are right' sha256sum --check --strict SHA256SUMS
    check 'and sqlpkg has them, too' cmp SHA256SUMS checksums.txt
    stat --format='%n: %s bytes' "$release.tar.gz" "$release.spdx.json" "$release"-*.zip
fi
finish
