#!/usr/bin/env bash
# From nothing to a trained network: installs what is missing, builds what it runs, measures this
# machine, compiles a plan for local ranks, shows it, and trains the digits CNN with it. There are as
# many ranks as processors, 2 at least and 4 at most. Ends with 0 when the accuracy on images that
# were not trained on reaches 97 %. The last lines compare the step that was predicted with the step
# that was measured.
#
#   samples/quickstart.sh            BUILD names another build folder, as for setup.sh
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export BUILD=${BUILD:-$top/build}
[[ $BUILD == /* ]] || BUILD=$PWD/$BUILD # this script changes the folder
wanted=97 # percent
batch=128 # samples a rank
epochs=300

# Where ranks share a processor each waits for the others' turns on it, which predictions leave out.
# --pin gives each rank its own: left to the kernel, ranks that wake each other may come to share one.
processors=$(nproc)
ranks=$((processors < 2 ? 2 : processors > 4 ? 4 : processors))

if [[ $# != 0 ]]; then
  sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
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
model=(models/digits-cnn.onnx --batch $batch)

# The model's gradients are 24 kB: longer messages need not be measured.
measure() {
  syncline calibrate -n $ranks --pin --time 10s --sizes 64B,1KiB,4KiB,16KiB,64KiB \
    -o "$out/machine.yaml" &&
    syncline profile "${model[@]}" -n $ranks --pin -o "$out/operations.json"
}

say "measuring this machine with $ranks ranks at once, about 15 s"
if measure 2>&1 | tee "$out/measuring"; then
  isMeasured=yes
  planned=(--cluster "$out/machine.yaml" --profile "$out/operations.json")
else
  isMeasured=no
  nominal=clusters/local4.yaml
  sed "s/^name: .*/name: $ranks local ranks/; s/^ranks: .*/ranks: $ranks/" $nominal \
    > "$out/nominal.yaml"
  planned=(--cluster "$out/nominal.yaml")
  say "this machine cannot be measured: planning with the nominal rates of $nominal;" \
    "the reason: $(grep -a 'error: ' "$out/measuring" | tail -n 1)"
fi

say "compiling a plan of models/digits-cnn.onnx"
syncline compile "${model[@]}" "${planned[@]}" -o "$plan"

say "the plan: which gradients travel together, and when"
syncline inspect "$plan"

say "its proof, checked again without the solver"
syncline verify "$plan"

say "training with $ranks local ranks"
syncline run "$plan" -n $ranks --pin --data data/digits-train-x.npy,data/digits-train-y.npy --shuffle \
  --epochs $epochs --lr 0.05 --momentum 0.9 --weight-decay 1e-4 \
  --eval data/digits-test-x.npy,data/digits-test-y.npy --save "$out/digits-trained.onnx" \
  2>&1 | tee "$out/log"

accuracy=$(sed -n 's/^test accuracy \([0-9.]*\) %.*/\1/p' "$out/log")
if ! awk -v got="${accuracy:-0}" -v wanted=$wanted 'BEGIN { exit !(got >= wanted) }'; then
  say "the accuracy on images that were not trained on is ${accuracy:-unknown} %," \
    "expected $wanted %" >&2
  exit 1
fi

# predicted, measured; a plan by a profile whose steps scatter predicts their mean
steps=$(sed -n -e 's/.* median step \([0-9.]*\) ms (predicted \([0-9.]*\) ms).*/\2 \1 median/p' \
  -e 's/.* step .* (mean \([0-9.]*\) ms, predicted mean \([0-9.]*\) ms).*/\2 \1 mean/p' "$out/log")
say "done: $accuracy % of the images that were not trained on are recognised (wanted: $wanted %)"
awk -v steps="$steps" -v isMeasured=$isMeasured 'BEGIN {
  if (split(steps, ms, " ") != 3 || ms[2] <= 0)
    exit
  printf "a step was predicted to take %s ms and took %s ms (%s): prediction %+.0f %%\n",
         ms[1], ms[2], ms[3], 100 * (ms[1] / ms[2] - 1)
  if (isMeasured == "no")
    print "the prediction is by nominal rates, as this machine was not measured"
}'
