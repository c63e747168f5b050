"""The archives of a release that sqlpkg.json names: the extension for each platform, with the license.

    archives.py SQLPKG.JSON BINARIES SECONDS

writes them to the current folder, and prints their names. BINARIES has the extensions as packaging/binaries/build.sh
leaves them: PLATFORM/clreduce.so, .dll or .dylib. SECONDS since 1970 are the release's time: the same files give the same bytes.
"""

import json
import os
import sys
import time
import zipfile

#: sqlpkg's names of platforms, and the files for them.
FILES = {"linux-amd64": "x86_64/clreduce.so", "linux-arm64": "aarch64/clreduce.so",
         "windows-amd64": "windows-x86_64/clreduce.dll", "darwin-amd64": "macos-x86_64/clreduce.dylib",
         "darwin-arm64": "macos-aarch64/clreduce.dylib"}


def write(archive, files, seconds):
    """Writes a zip archive of files: pairs of the name there and the path here."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as made:
        for name, path in files:
            entry = zipfile.ZipInfo(name, time.gmtime(seconds)[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix: the next line is its modes.
            entry.external_attr = 0o100644 << 16
            with open(path, "rb") as file:
                made.writestr(entry, file.read())


def main():
    specification, binaries, seconds = sys.argv[1:]
    with open(specification, encoding="utf-8") as file:
        package = json.load(file)
    assets, license_text = package["assets"], os.path.join(os.path.dirname(specification), "LICENSE")
    for platform, name in assets["files"].items():
        extension = os.path.join(binaries, FILES[platform])
        archive = name.replace("{version}", package["version"])
        write(archive, [("LICENSE", license_text), (os.path.basename(extension), extension)], int(seconds))
        print(archive)


main()
