# shellcheck shell=bash
# What the scripts in packaging/ci have in common: counted checks, and a closing line that says how many
# passed. Source it from the top of the source tree.

passed=0
failed=0
skipped=0

# check NAME COMMAND...: runs the command, and counts it. Its output is printed where it fails, indented, so
# that it has no lines that look like checks.
check()
{
    local name=$1 output start=$SECONDS
    shift
    if output=$("$@" 2>&1 </dev/null); then
        passed=$((passed + 1))
        printf 'ok - %s (%d s)\n' "$name" $((SECONDS - start))
    else
        failed=$((failed + 1))
        printf 'not ok - %s (%d s)\n' "$name" $((SECONDS - start))
        printf '%s\n' "$output" | sed 's/^/    /'
        return 1
    fi
}

# skip NAME REASON
skip()
{
    skipped=$((skipped + 1))
    printf 'ok - %s # SKIP %s\n' "$1" "$2"
}

# pytest_checks LOG COMMAND...: runs pytest, and counts each of its tests as a check.
pytest_checks()
{
    local log=$1 status result test reason
    shift
    COLUMNS=500 "$@" -p no:cacheprovider --tb=short --verbose </dev/null >"$log" 2>&1
    status=$?
    # "tests/test_datasette.py::test_page PASSED [ 94%]"
    while IFS=$'\t' read -r result test reason; do
        if [ "$result" = SKIPPED ]; then skip "$test" "$reason"; else check "$test" [ "$result" = PASSED ]; fi
    done < <(sed -nE 's/^.*::(.*) (PASSED|FAILED|ERROR|SKIPPED)( \((.*)\))? +\[ *[0-9]+%\]$/\2\t\1\t\4/p' "$log")
    check 'all of pytest passes' [ "$status" -eq 0 ] || sed 's/^/    /' "$log"
}

# finish: the closing line. Returns non-zero if a check has failed.
finish()
{
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ]
}

# as_root COMMAND...: by sudo, unless root runs this.
as_root()
{
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

# apt_install PACKAGE...: installs those that are missing.
apt_install()
{
    local package missing=()
    for package in "$@"; do
        dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed ||
            missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return 0
    as_root apt-get update --quiet &&
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
            "${missing[@]}"
}

# work_folder FOLDER: makes it, and prints its absolute path.
work_folder()
{
    mkdir -p "$1" && (cd "$1" && pwd)
}

# configured FOLDER: configures a build there, if there is none.
configured()
{
    [ -x configure ] || autoreconf -i -W none || return
    mkdir -p "$1" || return
    [ -f "$1/Makefile" ] || (cd "$1" && "$OLDPWD/configure" --quiet)
}
