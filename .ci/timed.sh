#!/usr/bin/env bash
# Runs a test, and adds a line to the file $CI_TEST_TIMES: the seconds of CPU time that it has taken,
# with its children, and its name. Which tests a run's time goes to does not depend on what else runs.
#
#     timed.sh COMMAND ARGUMENT...
set -u

TIMEFORMAT="%U %S ${*: -1}"
exec 3>&2
{ time "$@" 2>&3; } 2>>"${CI_TEST_TIMES:-/dev/null}"
