#!/usr/bin/env bash
# Builds the wheels. That for this processor is installed into a fresh virtual environment beside the four modules for
# SQLite, pandas, SQLAlchemy, Django and Dask, and runs its tests there; that for aarch64 in Debian's Python, in QEMU.
#
#     packaging/ci/python.sh [FOLDER]     FOLDER keeps the wheels and logs; it is build/ci/python
#
# The extensions are what binaries.sh has built in the folder beside. Without it there is
# build/clreduce.so, or else one is built, and no other wheel. The environment variable PYTHON names the Python to test with.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
. packaging/checks.sh

python=${PYTHON:-/usr/bin/python3}
work=$(work_folder "${1:-build/ci/python}") || exit 1
wheels=$work/wheels
arm64=$work/arm64
export CLREDUCE_DEVICE=host PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONDONTWRITEBYTECODE=1

# The folder has nothing of an earlier run.
tools()
{
    apt_install autoconf automake binutils gcc lemon libsqlite3-dev make mmdebstrap ocl-icd-opencl-dev pkg-config \
        python3 python3-venv qemu-user &&
        as_root rm -rf "$work"/{aarch64,arm64,extension,figures,foreign,tools,venv,wheels} &&
        "$python" -m venv "$work/tools" && "$python" -m venv "$work/venv" &&
        "$work/tools/bin/pip" install --quiet --no-compile build auditwheel
}

# wheel ARCHITECTURE: into $wheels.
wheel()
{
    local extension=$work/../binaries/$1/clreduce.so
    if [ ! -e "$extension" ] && [ -e build/clreduce.so ]; then
        extension=$work/extension/clreduce.so
        mkdir "$work/extension" && strip -S -o "$extension" build/clreduce.so || return
    fi
    [ -e "$extension" ] || extension=
    CLREDUCE_EXTENSION=$extension "$work/tools/bin/python" -m build --wheel --outdir "$wheels" packaging/python &&
        (cd "$wheels" && stat --format='%n: %s bytes' ./*"_$1.whl") >>"$work/figures"
}

# tag_fits WHEEL: the platform that it names is one that auditwheel finds, or a newer one.
tag_fits()
{
    local found named=${1##*-none-}
    named=${named%.whl}
    "$work/tools/bin/auditwheel" show "$1" >"$work/audit" || return
    found=$(tr '\n' ' ' <"$work/audit" | sed -nE 's/.*following platform tag: "([a-z0-9_]+)".*/\1/p')
    echo "the wheel's tag $named, auditwheel's $found"
    [ "$(printf '%s\n' "$named" "$found" | sort -V | tail -n 1)" = "$named" ]
}

first_answer()
{
    local start answer
    start=$(date +%s%N)
    "$work/venv/bin/pip" install --quiet --no-compile "$native" && answer=$(cd "$work" && venv/bin/python -c 'import clreduce
print(*clreduce.connect(":memory:").execute("SELECT gpu_sum(column1) FROM (VALUES (1e16), (1.0), (-1e16))").fetchone())') &&
        echo "from pip install to the first answer: $((($(date +%s%N) - start) / 1000000)) ms" >>"$work/figures" &&
        [ "$answer" = 1.0 ]
}

load_time()
{
    (cd "$work" && venv/bin/python - >>"$work/figures") <<'END'
import statistics, time
import clreduce
from clreduce.loading import capable_module

def load():
    connection = capable_module().connect(":memory:")
    start = time.perf_counter()
    clreduce.load(connection)
    return (time.perf_counter() - start) * 1000

def known(connection, sql):
    """The microseconds of a statement that the connection knows."""
    for _ in range(3):
        connection.execute(sql).fetchall()
    times = []
    for _ in range(2000):
        start = time.perf_counter()
        connection.execute(sql).fetchall()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e6

module = capable_module()
plain, accelerated = module.connect(":memory:"), clreduce.connect(":memory:")
for connection in (plain, accelerated):
    connection.execute("CREATE TABLE t(a INTEGER PRIMARY KEY, b)")
sql = "SELECT b FROM t WHERE a = 5"
print(f"a known SELECT: {known(plain, sql):.2f} us by {module.__name__}, {known(accelerated, sql):.2f} us by clreduce.Connection")
print(f"load: {load():.2f} ms at first, then {statistics.median(load() for _ in range(50)):.2f} ms")
END
}

with_others()
{
    "$work/venv/bin/pip" install --quiet --no-compile "${native}[cli,dask]" pytest apsw pysqlite3-binary sqlean.py pandas sqlalchemy
}

# What has more to fetch than the rest: tests of it are skipped where it is not there.
with_frameworks()
{
    "$work/venv/bin/pip" install --quiet --no-compile django jupysql ipython ||
        echo 'Django and jupysql could not be fetched'
}

# Debian's Python for aarch64, unpacked alone.
aarch64_python()
{
    as_root mmdebstrap --quiet --variant=extract --architectures=arm64 --include=python3-minimal,libpython3-stdlib \
        "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$arm64"
}

# The packages that pip takes for it: there is no pysqlite3-binary.
aarch64_packages()
{
    local version
    version=$(basename "$arm64"/usr/bin/python3.[0-9]*) && version=${version#python} &&
        "$work/tools/bin/pip" install --quiet --no-compile --target "$work/aarch64" --only-binary :all: \
            --platform=manylinux_2_{17,28}_aarch64 --implementation=cp --python-version="$version" \
            --abi={"cp${version/./}",abi3,none} "$wheels"/*_aarch64.whl pytest apsw sqlean.py
}

if ! check 'the tools are there' tools || ! check 'the wheel is built' wheel "$(uname -m)"; then
    finish
    exit
fi
native=$(echo "$wheels"/*)
check 'auditwheel agrees with its tag' tag_fits "$native"
if check 'pip installs it, and it answers' first_answer && check 'it loads again' load_time &&
    check 'the four modules for SQLite and all others are there' with_others; then
    check 'Django and jupysql, if they can be fetched' with_frameworks
    pytest_checks "$work/tests.log" "$work/venv/bin/python" -m pytest --rootdir packaging/python packaging/python/tests
fi
if [ -e "$work/../binaries/aarch64/clreduce.so" ]; then
    check 'aarch64: the wheel is built' wheel aarch64 &&
        check 'aarch64: auditwheel agrees with its tag' tag_fits "$wheels"/*_aarch64.whl &&
        check 'aarch64: there is a Python of Debian' aarch64_python &&
        check 'aarch64: pip takes the wheel for it' aarch64_packages &&
        # What QEMU runs starts no other program in QEMU.
        PYTHONPATH=$work/aarch64 pytest_checks "$work/aarch64.log" \
            qemu-aarch64 -L "$arm64" "$arm64"/usr/bin/python3.[0-9]* -m pytest -k 'not pysqlite3 and not module_in_its_place' \
            --rootdir packaging/python packaging/python/tests/test_{loading,statements}.py
fi

# foreign TAG FILE: the wheel of that file has the tag, and pip takes it for that platform.
foreign()
{
    CLREDUCE_EXTENSION=$2 "$work/tools/bin/python" -m build --wheel --outdir "$wheels" packaging/python &&
        "$work/tools/bin/pip" install --quiet --no-compile --no-deps --only-binary :all: --platform "$1" \
            --target "$work/foreign/$1" "$wheels"/*"-none-$1.whl" &&
        cmp "$2" "$work/foreign/$1/clreduce/$(basename "$2")" &&
        (cd "$wheels" && stat --format='%n: %s bytes' ./*"-none-$1.whl") >>"$work/figures"
}

for file in win_amd64:windows-x86_64/clreduce.dll macosx_11_0_x86_64:macos-x86_64/clreduce.dylib \
    macosx_11_0_arm64:macos-aarch64/clreduce.dylib; do
    path=$work/../binaries/${file#*:}
    [ ! -e "$path" ] || check "the wheel for ${file%%:*} is built, and pip takes it" foreign "${file%%:*}" "$path"
done
cat "$work/figures"
finish
