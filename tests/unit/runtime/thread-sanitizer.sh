#!/usr/bin/env bash
# Whether ThreadSanitizer finds races between the runtime's threads: servers, shards, stores, sending threads, channels,
# read-ahead, all-reduce, groups of the C interface. Run by ctest as 'thread-sanitizer'.
#
#   tests/unit/runtime/thread-sanitizer.sh FOLDER        builds in FOLDER; what is there already is kept
#
# Environment: JOBS, compilers at a time (default: 2).
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../../.." && pwd)
folder=$1
fail() {
  echo "thread-sanitizer: $1" >&2
  exit 1
}

mkdir -p "$folder"
cmake -S "$top" -B "$folder/build" -G Ninja -DSYNCLINE_COMPILER=OFF -DSYNCLINE_CUDA=OFF \
  -DCMAKE_BUILD_TYPE=RelWithDebInfo "-DCMAKE_CXX_FLAGS=-fsanitize=thread -g1" >"$folder/configure.log" 2>&1 || {
  cat "$folder/configure.log"
  fail "configuring failed"
}
ninja -C "$folder/build" -j "${JOBS:-2}" unit-threads unit-api || fail "the build failed"
export TSAN_OPTIONS="exitcode=66 suppressions=$here/thread-sanitizer.txt" OMP_NUM_THREADS=1
for program in unit-threads unit-api; do
  "$folder/build/bin/$program" || fail "$program: a test failed, or threads race"
done
