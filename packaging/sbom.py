"""The bill of materials of a release, in SPDX 2.3 as JSON.

    sbom.py TARBALL SECONDS URL

prints what is in the tarball, file by file, under which license, and what is needed besides to build and to run
it. SECONDS since 1970 are the release's time, and URL is the project's home: the same arguments give the same
bytes.
"""

import fnmatch
import hashlib
import json
import os
import sys
import tarfile
import time
import tomllib

GPL2 = "GPL-2.0-or-later WITH Autoconf-exception-generic"

#: What autoreconf adds. REUSE.toml, for the files of the repository, does not have it.
GENERATED = {
    "Makefile.in": "FSFULLRWD",
    "aclocal.m4": f"FSFULLRWD AND ({GPL2})",
    "configure": "FSFUL",
    "build-aux/ar-lib": GPL2,
    "build-aux/compile": GPL2,
    "build-aux/config.guess": "GPL-3.0-or-later WITH Autoconf-exception-generic-3.0",
    "build-aux/config.sub": "GPL-3.0-or-later WITH Autoconf-exception-generic-3.0",
    "build-aux/depcomp": GPL2,
    "build-aux/install-sh": "X11",
    "build-aux/missing": GPL2,
    "build-aux/tap-driver.sh": GPL2,
}

#: Name, license, how it is related to clreduce, and a word on that.
OTHERS = [
    ("SQLite", "blessing", "DEPENDENCY_OF", "3.34 or later: the program that loads the extension has it"),
    ("OpenCL-ICD-loader", "NOASSERTION", "OPTIONAL_DEPENDENCY_OF", "looked for at run time; without it the host works"),
    ("OpenCL-Headers", "Apache-2.0", "BUILD_DEPENDENCY_OF", ""),
    ("Lemon", "blessing", "BUILD_TOOL_OF", "SQLite's parser generator; ext/query/syntax/grammar.c is its output"),
]


def license_of(path, annotations):
    """The license of a file of the tarball. The last annotation that matches counts."""
    if path in GENERATED:
        return GENERATED[path]
    found = None
    for annotation in annotations:
        patterns = annotation["path"]
        for pattern in [patterns] if isinstance(patterns, str) else patterns:
            if fnmatch.fnmatchcase(path, pattern):
                found = annotation["SPDX-License-Identifier"]
    return found


def read(tarball):
    """The tarball's files: pairs of name and bytes."""
    with tarfile.open(tarball) as archive:
        for member in sorted(archive.getmembers(), key=lambda member: member.name):
            if member.isfile():
                yield member.name.split("/", 1)[1], archive.extractfile(member).read()


def checksums(data):
    return [{"algorithm": name.upper(), "checksumValue": hashlib.new(name, data).hexdigest()} for name in ("sha1", "sha256")]


def file_entry(number, path, data, annotations):
    spdx_license = license_of(path, annotations)
    return {
        "SPDXID": f"SPDXRef-File-{number}",
        "fileName": f"./{path}",
        "checksums": checksums(data),
        "licenseConcluded": spdx_license,
        "licenseInfoInFiles": ["NOASSERTION"],
        "copyrightText": "NOASSERTION" if path in GENERATED else "2026 The clreduce authors" if spdx_license == "MIT" else "NONE",
    }


def other_entry(name, spdx_license, comment):
    entry = {
        "SPDXID": f"SPDXRef-{name}",
        "name": name,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": spdx_license,
        "licenseDeclared": spdx_license,
        "copyrightText": "NOASSERTION",
    }
    return entry | ({"comment": comment} if comment else {})


def document(tarball, seconds, url):
    contents = dict(read(tarball))
    annotations = tomllib.loads(contents["REUSE.toml"].decode())["annotations"]
    files = [file_entry(number, path, data, annotations) for number, (path, data) in enumerate(contents.items(), 1)]
    verification = hashlib.sha1("".join(sorted(entry["checksums"][0]["checksumValue"] for entry in files)).encode())
    with open(tarball, "rb") as file:
        sums = checksums(file.read())
    package = os.path.basename(tarball).removesuffix(".tar.gz")
    name, version = package.rsplit("-", 1)
    work = "LicenseRef-US-Government-Work"
    return {
        "SPDXID": "SPDXRef-DOCUMENT",
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "name": package,
        "documentNamespace": f"{url}spdx/{package}-{sums[1]['checksumValue']}",
        "creationInfo": {
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds)),
            "creators": ["Organization: The clreduce authors", "Tool: sbom.py"],
        },
        "packages": [{
            "SPDXID": "SPDXRef-Package",
            "name": name,
            "versionInfo": version,
            "packageFileName": os.path.basename(tarball),
            "supplier": "Organization: The clreduce authors",
            "downloadLocation": "NOASSERTION",
            "homepage": url,
            "checksums": sums,
            "packageVerificationCode": {"packageVerificationCodeValue": verification.hexdigest()},
            "licenseConcluded": "NOASSERTION",
            "licenseDeclared": f"MIT AND {work}",
            "licenseInfoFromFiles": ["NOASSERTION"],
            "copyrightText": "2026 The clreduce authors",
        }] + [other_entry(other, spdx_license, comment) for other, spdx_license, _, comment in OTHERS],
        "files": files,
        "hasExtractedLicensingInfos": [{
            "licenseId": work,
            "name": "A work of the government of the United States of America",
            "extractedText": contents[f"LICENSES/{work}.txt"].decode(),
        }],
        "relationships": [
            {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-Package"},
        ] + [
            {"spdxElementId": "SPDXRef-Package", "relationshipType": "CONTAINS", "relatedSpdxElement": entry["SPDXID"]}
            for entry in files
        ] + [
            {"spdxElementId": f"SPDXRef-{other}", "relationshipType": relation, "relatedSpdxElement": "SPDXRef-Package"}
            for other, _, relation, _ in OTHERS
        ],
    }


def main():
    if len(sys.argv) != 4:
        sys.exit("usage: sbom.py TARBALL SECONDS URL")
    json.dump(document(sys.argv[1], int(sys.argv[2]), sys.argv[3]), sys.stdout, indent=1)
    print()


main()
