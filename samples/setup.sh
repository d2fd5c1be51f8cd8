#!/usr/bin/env bash
# Installs what building Syncline needs and is missing (Debian 12 packages), then builds it.
#
#   samples/setup.sh [--quick] [--runtime-only] [--no-cpu] [--tests] [--no-install]
#
#   --quick         only what samples/quickstart.sh runs: the commands, and ranks on CPUs. Without it
#                   also the CUDA backend, where a toolkit is found, and syncline-opt and its like
#   --runtime-only  the runtime alone: no LLVM, MLIR, ONNX or Z3 (what a cluster node needs)
#   --no-cpu        without the CPU backend and oneDNN (what a node with GPUs can spare)
#   --tests         also what tests/run.sh needs (Python packages, formatter), and the test programs
#   --no-install    never call the package manager; configuring then says what is missing
#
# Environment: BUILD, the build folder (default: build beside this repository's CMakeLists.txt);
# JOBS, compile jobs at a time (default: one a processor, fewer where memory is short).
# Running it again is cheap: without missing packages no package manager is called.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${BUILD:-$top/build}
compiler=ON cpu=ON tests=OFF install=yes quick=no

usage() { sed -n '2,15s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }
fail() {
  echo "setup: $1" >&2
  exit 1
}

for argument in "$@"; do
  case $argument in
    --quick) quick=yes ;;
    --runtime-only) compiler=OFF ;;
    --no-cpu) cpu=OFF ;;
    --tests) tests=ON ;;
    --no-install) install=no ;;
    -h | --help) usage && exit 0 ;;
    *) usage >&2 && exit 2 ;;
  esac
done
[[ $quick$tests != yesON ]] || fail "--quick builds no tests: give either --quick or --tests"

# What the chosen parts need, one package a word.
wanted() {
  echo g++ cmake ninja-build ccache mold
  echo libssl-dev nlohmann-json3-dev libcli11-dev
  echo libjpeg-dev libpng-dev # for images as data; without them they are refused
  [[ $cpu == OFF ]] || echo libdnnl-dev ocl-icd-opencl-dev
  if [[ $compiler == ON ]]; then
    echo libmlir-19-dev mlir-19-tools llvm-19-dev llvm-19-tools libz3-dev
    echo libonnx-dev libprotobuf-dev protobuf-compiler libyaml-cpp-dev libtinyxml2-dev zlib1g-dev
  fi
  if [[ $tests == ON ]]; then
    echo libgtest-dev iproute2
    # An optimised BLAS: without one PyTorch's linear layers run on the reference loops.
    [[ $compiler == OFF ]] || echo clang-format-19 clang-tidy-19 python3-torch \
      python3-torchvision python3-onnx python3-numpy python3-pil python3-yaml libopenblas0-pthread \
      libsimgrid-dev
    # What starts ranks: Open MPI, MPICH, Slurm with its daemons, and virtual environments for
    # torchrun and Intel MPI.
    [[ $compiler == OFF ]] || echo openmpi-bin mpich munge slurm-client slurmctld slurmd python3-venv
  fi
}

missing() {
  local package
  for package in $(wanted); do
    dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed ||
      echo "$package"
  done
}

by_hand() {
  printf '%s\n' "setup: $1" "Ask for these packages of Debian 12, or their like, to be installed:" \
    "  $(wanted | xargs)" "and run this script again with --no-install, or build by hand:" \
    "  cmake -S $top -B $build -G Ninja -DSYNCLINE_COMPILER=$compiler -DSYNCLINE_CPU=$cpu -DSYNCLINE_TESTS=$tests" \
    "  cmake --build $build" >&2
  exit 1
}

install_missing() {
  [[ $install == yes ]] || return 0
  command -v apt-get >/dev/null && command -v dpkg-query >/dev/null ||
    by_hand "this machine has no apt; packages are not installed for you"
  local packages as_root=()
  packages=$(missing | xargs)
  [[ -n $packages ]] || return 0
  if [[ $(id -u) != 0 ]]; then
    command -v sudo >/dev/null || by_hand "missing packages need root to install: $packages"
    as_root=(sudo)
  fi
  echo "setup: installing $packages"
  "${as_root[@]}" apt-get update -q || by_hand "'apt-get update' failed"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -q --no-install-recommends $packages || by_hand "'apt-get install' failed"
}

# A compile job takes up to 2 GiB: with little memory fewer run at a time than there are processors.
jobs_by_memory() {
  local processors memory
  processors=$(nproc)
  memory=$(awk '/^MemAvailable/ {print int($2 / 2097152)}' /proc/meminfo)
  ((memory >= 1)) || memory=1
  echo $((memory < processors ? memory : processors))
}

configure() {
  local log=$build/configure.log
  mkdir -p "$build"
  cmake -S "$top" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSYNCLINE_COMPILER=$compiler \
    -DSYNCLINE_CPU=$cpu -DSYNCLINE_TESTS=$tests -DCMAKE_JOB_POOLS=link=1 -DCMAKE_JOB_POOL_LINK=link >"$log" 2>&1 || {
    tail -30 "$log" >&2
    fail "configuring failed; the whole output is in '$log'"
  }
}

# On a terminal ninja redraws one line; elsewhere every 25th step and every message is printed.
compile() {
  local jobs=${JOBS:-$(jobs_by_memory)} targets=(all)
  # 'syncline' depends on the programs that it starts.
  [[ $quick == no ]] || targets=(syncline)
  [[ $quick$compiler != yesOFF ]] || targets=(syncline-run syncline-calibrate)
  export NINJA_STATUS='[%f/%t, %p, %es] '
  echo "setup: building in '$build', $jobs at a time"
  if [[ -t 1 ]]; then
    ninja -C "$build" -j "$jobs" "${targets[@]}"
  else
    ninja -C "$build" -j "$jobs" "${targets[@]}" | awk '
      /^\[[0-9]+\/[0-9]+,/ { last = $0; if (++steps % 25 == 0) { print; shown = $0; fflush() } ; next }
      { print; fflush() }
      END { if (last != shown) print last }'
  fi || fail "the build failed"
}

install_missing
configure
compile
echo "setup: ready; programs are in '$build/bin'; to have them on the path:"
if [[ $quick == yes ]]; then
  echo "  export PATH=$build/bin:\$PATH"
  echo "the CUDA backend and the other tools are built by samples/setup.sh without --quick"
else
  echo "  export PATH=$build/bin:\$PATH     # or: cmake --install $build --prefix ~/.local"
fi
