# shellcheck shell=sh
# A small TAP (Test Anything Protocol) producer for the shell tests, and what they all need:
#
#     . "${CLREDUCE_SRCDIR:-.}/tests/tap.sh"
#     tap_is "$(sql 'SELECT gpu_sum(1)')" 1 'one row'
#     tap_done
#
# The tests run under `make check`, which sets the environment that is read here. $tap_tmp is an empty
# folder, removed at the end.

tap_run=0
tap_failed=0
tap_tmp=$(mktemp -d "${TMPDIR:-/tmp}/clreduce-test.XXXXXX") || exit 1
trap 'rm -rf "$tap_tmp"' EXIT
trap 'exit 1' HUP INT TERM

# tap_diag TEXT: a comment in the log, which may have several lines.
tap_diag()
{
    printf '%s\n' "$1" | sed 's/^/# /'
}

# tap_ok STATUS NAME: passes if STATUS is 0, as in: some command; tap_ok $? 'it works'
tap_ok()
{
    tap_run=$((tap_run + 1))
    if test "$1" -eq 0; then
        printf 'ok %d - %s\n' "$tap_run" "$2"
    else
        tap_failed=$((tap_failed + 1))
        printf 'not ok %d - %s\n' "$tap_run" "$2"
    fi
    return "$1"
}

# tap_is GOT WANT NAME: passes if the two strings are the same.
tap_is()
{
    if test "$1" = "$2"; then
        tap_ok 0 "$3"
    else
        tap_ok 1 "$3"
        tap_diag " got: $1"
        tap_diag "want: $2"
        return 1
    fi
}

# tap_like GOT PATTERN NAME: passes if the string matches the shell pattern.
tap_like()
{
    # shellcheck disable=SC2254  # A pattern is just what is wanted here.
    case $1 in
        $2) tap_ok 0 "$3" ;;
        *)
            tap_ok 1 "$3"
            tap_diag "      got: $1"
            tap_diag "not like: $2"
            return 1
            ;;
    esac
}

# tap_skip COUNT REASON: counts that many checks as skipped.
tap_skip()
{
    tap_left=$1
    while test "$tap_left" -gt 0; do
        tap_run=$((tap_run + 1))
        tap_left=$((tap_left - 1))
        printf 'ok %d # SKIP %s\n' "$tap_run" "$2"
    done
}

# tap_skip_all REASON: skips the whole test, before its first check; does not return.
tap_skip_all()
{
    printf '1..0 # SKIP %s\n' "$1"
    exit 0
}

# tap_bail REASON: gives up on the test; does not return.
tap_bail()
{
    printf 'Bail out! %s\n' "$1"
    exit 1
}

# tap_done: prints the plan and ends the test; does not return.
tap_done()
{
    printf '1..%d\n' "$tap_run"
    test "$tap_failed" -eq 0
    exit
}

# launch PROGRAM ARGUMENT...: runs a program that loads the extension, with what a sanitizer needs.
launch()
{
    "${CLREDUCE_SRCDIR:-.}/tests/launch.sh" "$@"
}

# sql TEXT [ARGUMENT...]: what the sqlite3 shell prints, on both streams, for that input, with the
# extension loaded.
sql()
{
    tap_text=$1
    shift
    printf '%s\n' "$tap_text" |
        launch "$SQLITE3" -init /dev/null -batch -cmd ".load '$CLREDUCE_EXTENSION'" "$@" 2>&1
}
