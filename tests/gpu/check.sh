#!/usr/bin/env bash
# Builds the runtime on this machine and checks it on its GPUs: the backends' suite, numbers against PyTorch, several
# ranks, sanitizers, lost ranks, bad input, speed. What tells most comes first. Writes one table, LOGS/table.txt, after
# every row, and LOGS/check.tar.gz at the end: the table and the logs of all checks. A signal ends it with both written.
# Another call with the same folders goes on where this one ended. Exit code: 1 when a check failed or has not run.
#
#   check.sh PREPARED LOGS [--only REGEX] [--budget SECONDS] [--again] [--build FOLDER] [--module FILE]
#
#   PREPARED  the folder that prepare.sh wrote; with a runtime in it (prepare.sh --runtime) nothing is built
#   LOGS      a folder to write into, the build included
#   --only    checks whose name the expression matches
#   --budget  what all checks of this call may take; what is not done then is left to the next call
#   --again   runs also what an earlier call has found
#   --build   a build folder that is ready, in place of building
#   --module  a backend over libraries of the host (libsyncline-host-cuda.so), to try the checks without a GPU
#
# Needs nvcc (12 or later), cuDNN 9, NCCL, CMake, Ninja, a C++20 compiler and python3; with NumPy numbers are compared,
# with PyTorch on this GPU. PYTHON names another interpreter than python3.
set -euo pipefail

(($# >= 2)) && [[ $1 != -* && $2 != -* ]] || {
  sed -n '2,21s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
  [[ ${1:-} == --help || ${1:-} == -h ]] && exit 0
  exit 2
}
prepared=$(cd "$1" && pwd)
mkdir -p "$2"
logs=$(cd "$2" && pwd)
shift 2
[[ -f $prepared/manifest.json ]] || {
  echo "check: '$prepared' is not what prepare.sh writes: no manifest.json" >&2
  exit 1
}
# What was built of other sources is of no use.
cmp -s "$prepared/source.tar.gz" "$logs/source.tar.gz" || {
  rm -rf "$logs/source" "$logs/build" "$logs/source.tar.gz"
  mkdir -p "$logs/source"
  tar -C "$logs/source" -xzf "$prepared/source.tar.gz"
  cp "$prepared/source.tar.gz" "$logs/"
}
exec "${PYTHON:-python3}" "$logs/source/tests/gpu/check.py" "$prepared" "$logs" "$@"
