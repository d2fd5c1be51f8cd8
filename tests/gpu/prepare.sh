#!/usr/bin/env bash
# Collects what a machine with a GPU needs to check Syncline: plans, what their numbers are compared with, the sources,
# and the libraries that the runtime is built with. Run where Syncline is built whole (samples/setup.sh --tests) and nvcc
# is installed; needs no GPU. OUT then has a script of its own, check.sh.
#
#   tests/gpu/prepare.sh [--small] [--tar] [--runtime FOLDER] OUT
#
#   --small    only what libraries on the host can run, for trials without a GPU
#   --tar      OUT is one file, for a gzip-compressed archive of a folder
#   --runtime  a build folder with the CUDA backend, whose programs travel, so that check.sh builds nothing
#
# Environment: BUILD, the build folder (default: build); NVCC, the compiler of steps; PYTHON (default: /usr/bin/python3).
# The sources are those of the last commit.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../.." && pwd)
small=() archive='' runtime=''
fail() {
  echo "prepare: $1" >&2
  exit 1
}
usage() { sed -n '2,15s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }

while (($#)); do
  case $1 in
    --small) small=(--small) ;;
    --tar) archive=yes ;;
    --runtime)
      (($# > 1)) || { usage >&2 && exit 2; }
      runtime=$2
      shift
      ;;
    -h | --help) usage && exit 0 ;;
    -*) usage >&2 && exit 2 ;;
    *) break ;;
  esac
  shift
done
(($# == 1)) || { usage >&2 && exit 2; }
out=$1
[[ ! -e $out ]] || fail "'$out' exists already"
export BUILD=${BUILD:-$top/build}
[[ -x $BUILD/bin/syncline ]] || fail "no '$BUILD/bin/syncline': run samples/setup.sh --tests first"
programs=(bin/syncline-run bin/conformance-cuda bin/bench-gpu-update lib/libsyncline-cuda.so lib/libnccl-tuner-syncline.so)
for file in ${runtime:+"${programs[@]}"}; do
  [[ -e $runtime/$file ]] || fail "no '$runtime/$file': build ${file##*/} with SYNCLINE_CUDA=ON and SYNCLINE_TESTS=ON"
done
git -C "$top" diff --quiet HEAD || echo "prepare: the tree has changes that are not committed; they are left out" >&2

# Made beside OUT and renamed: whole, or not there.
partial=$(mktemp -d "$(dirname "$out")/.prepare.XXXXXX")
trap 'rm -rf "$partial"' EXIT
folder=$partial/syncline-check
mkdir "$folder"
"$here/bundle.sh" "$folder/bundle"
git -C "$top" archive --format=tar.gz -o "$folder/source.tar.gz" HEAD
cp "$here/check.sh" "$folder/"
for file in ${runtime:+"${programs[@]}"}; do
  mkdir -p "$folder/runtime/${file%/*}"
  cp "$runtime/$file" "$folder/runtime/$file"
  strip --strip-debug "$folder/runtime/$file"
done
"${PYTHON:-/usr/bin/python3}" "$here/prepare.py" "$folder" "${small[@]}"
rm -rf "$folder/models"
du -sh "$folder" | sed 's/\t.*/ in the folder/'
if [[ $archive ]]; then
  tar -C "$partial" -czf "$partial/archive" syncline-check
  mv "$partial/archive" "$out"
  du -sh "$out"
else
  mv "$folder" "$out"
fi
echo "prepare: ready; on the machine with a GPU: $([[ $archive ]] && echo "tar xzf $(basename "$out"), then ")check.sh FOLDER LOGS"
