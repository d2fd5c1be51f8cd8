#!/usr/bin/env bash
# Runs every test: installs what is missing, builds, then unit, conformance, lit and lint tests
# (ctest), then those in Python: end to end, inputs changed at random, numbers against PyTorch's.
#
#   tests/run.sh            BUILD names another build folder, as for samples/setup.sh
#
# The last line is "N passed, N failed, N skipped". Exit code: 0 when none failed.
set -uo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export BUILD=${BUILD:-$top/build}
python=/usr/bin/python3
passed=0 failed=0 skipped=0

"$top/samples/setup.sh" --tests || exit 1
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

say() { printf '\n== %s\n' "$*"; }
add() { # passed, failed, skipped
  passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
}

# Counts come from the JUnit file; tests that ended before it was written count as one failure.
with_ctest() {
  say "unit, conformance, lit and lint tests"
  # One more than processors: tests of ranks mostly wait, and few of them run at once.
  ctest --test-dir "$BUILD" --output-on-failure -j $(($(nproc) + 1)) --timeout 300 \
    --output-junit "$results/ctest.xml"
  add $($python "$top/tests/count.py" "$results/ctest.xml" || echo 0 1 0)
}

# Each file is a process, and as many run at a time as there are processors.
with_python() { # folders
  say "in Python: $*"
  $python "$top/tests/count.py" --run "${@/#/$top/tests/}" --jobs "$(nproc)" \
    --counts "$results/python"
  add $(head -1 "$results/python" || echo 0 1 0)
}

with_ctest
with_python numerics e2e fuzz
echo
echo "$passed passed, $failed failed, $skipped skipped"
((failed == 0))
