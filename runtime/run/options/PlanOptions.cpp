// Options that follow from the plan, or that it must allow.
#include "runtime/run/options/Options.h"

#include "syncline/RowsPart.h"

namespace syncline::run {

std::vector<std::string> Options::follow(const Plan &plan) {
  std::vector<std::string> notes;
  const auto differs = [&](const std::string &option, const std::string &here,
                           const std::string &there) {
    notes.push_back("'" + option + " " + here + "': the plan was made for " + there +
                    ", its predictions do not hold; 'syncline compile " + option + " " + here +
                    "' makes one");
  };
  backend = plan.backend;
  precision = plan.precision;
  wire = plan.wire;
  if (!optimizerFlags.clipNorm && opTimes.empty()) // which measures each update by itself
    optimizerFlags.clipNorm = plan.clipNorm;
  microBatches = wantedMicroBatches.value_or(alone ? 1 : plan.microBatches);
  if (microBatches != plan.microBatches && !alone && !plan.consistency.isLocal())
    differs("--accumulate", std::to_string(microBatches), std::to_string(plan.microBatches));
  if (plan.threads && threads != *plan.threads && opTimes.empty() && backend == "cpu")
    notes.push_back("'--threads " + std::to_string(threads) + "': the plan's times are those of " +
                    std::to_string(*plan.threads) +
                    " in each rank, its predictions do not hold; 'syncline profile --threads " +
                    std::to_string(threads) + "' measures others");
  return notes;
}

/// Rows travel in every micro-batch, and would be added to gradients that travel in the last one
/// only. Where a message travels in several captured micro-batches, it is not known which of them
/// has sent it.
Status Options::checkMicroBatches(const Plan &plan) const {
  if (!trace.empty())
    return Status::badInput("'" + plan.folder +
                            "': '--trace' is for steps of one batch, but the plan's have " +
                            std::to_string(microBatches) + "; expected '--accumulate 1' beside it");
  for (const PlanBucket &bucket : plan.buckets) {
    const std::string what =
        "'" + plan.folder + "': '--accumulate': bucket " + std::to_string(bucket.id);
    for (const std::string &member : bucket.members)
      if (isRowsPart(member))
        return Status::badInput(what + " brings rows of '" + std::string(parameterOf(member)) +
                                "' in each micro-batch, but the rest of that gradient travels once "
                                "a step; expected a plan of "
                                "'syncline compile --split-tied never'");
    if (capturesSteps && plan.gradientRanks() > 1 && isGathered(bucket.scheme))
      return Status::badInput(what + " travels by '" + std::string(schemeName(bucket.scheme)) +
                              "', in each micro-batch, but with '--cuda-graph' messages can travel "
                              "in the last one only; "
                              "expected a plan of 'syncline compile --scheme *=ring'");
  }
  return Status::ok();
}

/// All updates wait until all gradients are known to be finite.
Status Options::checkLossScale(const Plan &plan) const {
  const auto refuse = [&](const std::string &why) {
    return Status::badInput("'" + plan.folder + "': '--loss-scale' " + why);
  };
  if (plan.consistency.isLocal())
    return refuse("is for gradients that travel, but with consistency '" + plan.consistency.text +
                  "' weights do, in float32");
  if (plan.overlapsSteps)
    return refuse("needs all gradients before the first update, but messages reach into the next "
                  "step; expected a plan of 'syncline compile --overlap backward'");
  if (!plan.loss.hasKernel())
    return refuse("is for a cross-entropy of classes and for mse, but the plan's loss is '" +
                  plan.loss.text() + "'");
  return Status::ok();
}

} // namespace syncline::run
