#!/usr/bin/env bash
# From nothing to a trained network: installs what is missing, builds what it runs, compiles a plan
# for four local ranks, shows it, and trains the digits CNN with it. Ends with 0 when the accuracy on
# images that were not trained on reaches 97 %.
#
#   samples/quickstart.sh            BUILD names another build folder, as for setup.sh
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export BUILD=${BUILD:-$top/build}
wanted=97 # percent

if [[ $# != 0 ]]; then
  sed -n '2,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
fi

say() { printf '\n== %s\n' "$*"; }
syncline() {
  echo "\$ syncline $*"
  "$BUILD/bin/syncline" "$@"
}

"$top/samples/setup.sh" --quick
cd "$top/samples"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
plan=$out/digits.plan

say "compiling a plan: models/digits-cnn.onnx on clusters/local4.yaml"
syncline compile models/digits-cnn.onnx --cluster clusters/local4.yaml --batch 16 \
  --loss cross-entropy -o "$plan"

say "the plan: who travels with whom, and when"
syncline inspect "$plan"

say "its proof, checked again without the solver"
syncline verify "$plan"

say "training with four local ranks"
syncline run "$plan" -n 4 --data data/digits-train-x.npy,data/digits-train-y.npy --shuffle --epochs 30 \
  --lr 0.05 --momentum 0.9 --weight-decay 1e-4 \
  --eval data/digits-test-x.npy,data/digits-test-y.npy --save "$out/digits-trained.onnx" \
  2>&1 | tee "$out/log"

accuracy=$(sed -n 's/^test accuracy \([0-9.]*\) %.*/\1/p' "$out/log")
if ! awk -v got="${accuracy:-0}" -v wanted=$wanted 'BEGIN { exit !(got >= wanted) }'; then
  say "the accuracy on images that were not trained on is ${accuracy:-unknown} %, expected $wanted %" >&2
  exit 1
fi
say "done: $accuracy % of the images that were not trained on are recognised (wanted: $wanted %)"
