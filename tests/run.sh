#!/usr/bin/env bash
# Runs every test: installs what is missing, builds, then unit, conformance, lit and lint tests
# (ctest), end-to-end tests, inputs changed at random and the comparison of numbers with PyTorch.
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
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$results"' EXIT

say() { printf '\n== %s\n' "$*"; }
add() { # passed, failed, skipped
  passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
}

# Counts come from the JUnit file; tests that ended before it was written count as one failure.
with_ctest() {
  say "unit, conformance, lit and lint tests"
  ctest --test-dir "$BUILD" --output-on-failure -j "$(nproc)" --timeout 300 \
    --output-junit "$results/ctest.xml"
  add $($python "$top/tests/count.py" "$results/ctest.xml" || echo 0 1 0)
}

with_python() { # folder
  $python "$top/tests/count.py" --run "$top/tests/$1" --counts "$results/$1"
}

with_ctest
# Ranks of the end-to-end tests wait for each other and for time limits, so that there is time for
# the numbers beside them.
$python "$top/tests/count.py" --run "$top/tests/numerics" --counts "$results/numerics" \
  >"$results/numerics.log" 2>&1 &
say "end to end: processes as ranks, bad input"
with_python e2e
say "inputs changed at random"
with_python fuzz
wait
say "numbers against PyTorch"
cat "$results/numerics.log"
for folder in e2e fuzz numerics; do
  add $(cat "$results/$folder" 2>/dev/null || echo 0 1 0)
done
echo
echo "$passed passed, $failed failed, $skipped skipped"
((failed == 0))
