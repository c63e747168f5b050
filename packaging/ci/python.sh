#!/usr/bin/env bash
# Builds the wheel, installs it into a fresh virtual environment beside the four modules for SQLite, pandas, SQLAlchemy
# and Dask, and runs its tests there.
#
#     packaging/ci/python.sh [FOLDER]     its own; it is build/ci/python
#
# The extension is what binaries.sh has built in the folder beside, or else build/clreduce.so, or else one is built.
# The environment variable PYTHON names the Python to test with. The last line is "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/../.."

python=${PYTHON:-/usr/bin/python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
export CLREDUCE_DEVICE=host PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONPYCACHEPREFIX=$work/bytecode

# check WHAT COMMAND...: counts whether the command succeeds.
check()
{
    local what=$1
    shift
    if "$@"; then
        passed=$((passed + 1)) && echo "ok - $what"
    else
        failed=$((failed + 1)) && echo "not ok - $what"
    fi
}

extension=${1:-build/ci/python}/../binaries/x86_64/clreduce.so
[ -e "$extension" ] || extension=build/clreduce.so
if [ -e "$extension" ]; then
    mkdir "$work/extension"
    export CLREDUCE_EXTENSION=$work/extension/clreduce.so
    cp "$extension" "$CLREDUCE_EXTENSION"
    strip -S "$CLREDUCE_EXTENSION"
fi

"$python" -m venv "$work/tools"
"$work/tools/bin/pip" install --quiet --no-compile build auditwheel
"$work/tools/bin/python" -m build --wheel --outdir "$work" packaging/python >"$work/build.log" 2>&1 ||
    { tail -n 50 "$work/build.log"; exit 1; }
wheel=$(echo "$work"/clreduce-*.whl)
echo "$(basename "$wheel"): $(stat -c %s "$wheel") bytes"

# The platform that the wheel names is one that auditwheel finds, or a newer one.
tag_fits()
{
    "$work/tools/bin/auditwheel" show "$wheel" >"$work/audit" 2>&1 || { cat "$work/audit"; return 1; }
    local named=${wheel##*-none-} found
    named=${named%.whl}
    found=$(tr '\n' ' ' <"$work/audit" | sed -nE 's/.*following platform tag: "([a-z0-9_]+)".*/\1/p')
    echo "the wheel's tag $named, auditwheel's $found"
    [ "$named" = "$found" ] || [ "$(printf '%s\n' "$named" "$found" | sort -V | tail -n 1)" = "$named" ]
}
check "auditwheel agrees with the tag" tag_fits

"$python" -m venv "$work/venv"
start=$(date +%s%N)
"$work/venv/bin/pip" install --quiet --no-compile "$wheel"
(cd "$work" && venv/bin/python -c 'import clreduce
print(*clreduce.connect(":memory:").execute("SELECT gpu_sum(column1) FROM (VALUES (1e16), (1.0), (-1e16))").fetchone())') \
    >"$work/answer"
echo "from pip install to the first answer: $((($(date +%s%N) - start) / 1000000)) ms"
check "the first answer" grep -qFx 1.0 "$work/answer"

"$work/venv/bin/pip" install --quiet --no-compile "${wheel}[cli,dask]" pytest apsw pysqlite3-binary sqlean.py pandas sqlalchemy
"$work/venv/bin/python" -m pytest -q -p no:cacheprovider --rootdir packaging/python packaging/python/tests >"$work/tests.log" 2>&1 ||
    grep -E '^(E  |FAILED|ERROR)' "$work/tests.log" || true
tail -n 1 "$work/tests.log"
count() { { grep -oE "[0-9]+ $1" "$work/tests.log" || true; } | tail -n 1 | cut -d ' ' -f 1; }
more=$(count passed) wrong=$(count failed) errors=$(count error) skipped=$(count skipped)
passed=$((passed + ${more:-0})) failed=$((failed + ${wrong:-0} + ${errors:-0}))
[ -n "$more" ] || failed=$((failed + 1))
echo "$passed passed, $failed failed${skipped:+, $skipped skipped}"
[ "$failed" -eq 0 ]
