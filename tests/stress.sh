#!/usr/bin/env bash
# Runs the short run's tests again and again, in a new random order each time, and prints each test
# that ever failed and how often. Needs a build with tests (tests/run.sh makes one).
#
#   tests/stress.sh N [SEED]
#
# In ten rounds four busy loops run beside four of them, and two have eight jobs at a time. Then comes
# one more round under each cap of the instruction set that this processor has
# (runtime/cpu/README.md). Rounds are logged in tests/stress.jsonl of the build folder. Called again
# with these numbers and this source, the script goes on behind the last round. Exit code: 0 when no
# test ever failed.
set -euo pipefail

if [[ ! ${1-} =~ ^[0-9]+$ || ! ${2-1} =~ ^[0-9]+$ ]]; then
  sed -n '2,12s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
fi
exec /usr/bin/python3 "$(dirname "${BASH_SOURCE[0]}")/runner/stress.py" "$@"
