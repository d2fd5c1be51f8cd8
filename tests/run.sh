#!/usr/bin/env bash
# Runs the tests: installs what is missing, builds, then runs every test once.
#
#   tests/run.sh                       the short run, which continuous integration runs too
#   tests/run.sh --long [FOLDER ..]    with all repetitions, of all folders of tests/ or of these; a
#                                      run that was cut goes on where it was
#
# BUILD names another build folder, as for samples/setup.sh. What tests/run.py takes besides is passed
# on. The last line is "N passed, N failed, N skipped". Exit code: 0 when none failed.
#
# Run it at the usual priority: some tests give ranks a limit of a few seconds. In the scheduling
# class SCHED_IDLE, beside other load, a process can wait longer than that for a processor.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export BUILD=${BUILD:-$top/build}
"$top/samples/setup.sh" --tests
exec /usr/bin/python3 "$top/tests/run.py" "$@"
