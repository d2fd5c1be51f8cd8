#!/usr/bin/env bash
# Whether the runtime builds with no more than what bundle.sh collects, without the CPU backend, and says what
# it lacks. Run by ctest as 'lean-runtime'.
#
#   tests/gpu/lean.sh FOLDER        FOLDER is written anew
#
# Environment: JOBS, compilers at a time (default: 2); SYNCLINE, the whole build's command, compiles a plan to be refused.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../.." && pwd)
folder=$1
fail() {
  echo "lean: $1" >&2
  exit 1
}

rm -rf "$folder"
mkdir -p "$folder"
"$here/bundle.sh" "$folder/bundle"
hidden=()
for package in dnnl OpenMP; do
  hidden+=("-DCMAKE_DISABLE_FIND_PACKAGE_$package=ON")
done
cmake -S "$top" -B "$folder/build" -G Ninja -DSYNCLINE_COMPILER=OFF -DSYNCLINE_CUDA=OFF -DSYNCLINE_TESTS=OFF \
  -DCMAKE_PREFIX_PATH="$folder/bundle" "${hidden[@]}" >"$folder/configure.log" 2>&1 || {
  cat "$folder/configure.log"
  fail "configuring failed"
}
grep -F 'CPU backend: no: no oneDNN, no OpenMP' "$folder/configure.log" ||
  fail "the configuration does not say why there is no CPU backend"
# Whatever else this machine has installed must not be what was found.
for entry in OPENSSL_CRYPTO_LIBRARY nlohmann_json_DIR CLI11_DIR; do
  grep -E "^$entry:[A-Z]+=$folder/bundle/" "$folder/build/CMakeCache.txt" || fail "$entry is not the bundle's"
done
ninja -C "$folder/build" -j "${JOBS:-2}" syncline-run syncline-calibrate || fail "the build failed"
code=0
"$folder/build/bin/syncline-calibrate" -n 2 --time 1s >"$folder/calibrate.log" 2>&1 || code=$?
cat "$folder/calibrate.log"
[[ $code == 1 ]] || fail "expected exit code 1 of syncline-calibrate, got $code"
[[ $(grep -c error: "$folder/calibrate.log") == 1 ]] || fail "expected one message of syncline-calibrate"
grep -F 'this build has no ' "$folder/calibrate.log" || fail "expected a message that says what is missing"
program=$folder/build/bin/syncline-run
! ldd "$program" | grep -E 'dnnl|gomp|crypto' || fail "the program depends on more than the bundle"

[[ -n ${SYNCLINE:-} ]] || exit 0
"$SYNCLINE" compile "$top/samples/models/digits-cnn.onnx" --cluster "$top/samples/clusters/laptop.yaml" --nodes 1 \
  --batch 2 --loss cross-entropy -o "$folder/digits.plan" >/dev/null
code=0
"$program" "$folder/digits.plan" --steps 1 >"$folder/run.log" 2>&1 || code=$?
cat "$folder/run.log"
[[ $code == 1 ]] || fail "expected exit code 1, got $code"
[[ $(grep -c error: "$folder/run.log") == 1 ]] || fail "expected one message"
grep -F 'this build has no CPU backend' "$folder/run.log" || fail "expected a message that says what is missing"
