// Rule P22: a plan's prediction is what a simulation gives.
#include "passes/check/PlanFacts.h"

#include "ir/cluster/Cluster.h"
#include "ir/sync/Sync.h"
#include "passes/problem/Rounding.h"
#include "passes/simulate/ir/PredictTimes.h"

#include <cmath>

using namespace mlir;

namespace syncline::check {

namespace {

using simulate::PredictedMessage;
using simulate::Prediction;

class PredictionRules {
public:
  PredictionRules(sync::PredictionOp claimed, const Prediction &simulated)
      : claimed(claimed), simulated(simulated) {}

  LogicalResult check() {
    if (claimed.getReady().getValues().size() != simulated.messages.size())
      return claimed.emitOpError("P22: expected times of ")
             << simulated.messages.size() << " messages, got "
             << claimed.getReady().getValues().size();
    return failure(failed(checkMessages()) || failed(checkTotals()));
  }

private:
  /// Whether two times agree up to rounding of the step's time, since waiting is a difference of
  /// times. False where either is NaN.
  bool agree(double got, double expected) const {
    return std::abs(got - expected) <= problem::sumRounding * simulated.step;
  }

  LogicalResult expect(const llvm::Twine &what, double got, double expected) {
    if (agree(got, expected))
      return success();
    return claimed.emitOpError("P22: expected ")
           << what << " " << expected << " s as in virtual time, got " << got << " s";
  }

  LogicalResult checkMessages() {
    const std::tuple<StringRef, sync::TimesAttr, double PredictedMessage::*> kinds[] = {
        {"is ready at", claimed.getReady(), &PredictedMessage::ready},
        {"starts at", claimed.getStart(), &PredictedMessage::start},
        {"ends at", claimed.getEnd(), &PredictedMessage::end},
        {"is reconstructed at", claimed.getReconstructed(), &PredictedMessage::reconstructed},
        {"is exposed for", claimed.getExposed(), &PredictedMessage::exposed}};
    for (std::size_t i = 0; i < simulated.messages.size(); ++i)
      for (auto [what, times, time] : kinds)
        if (failed(expect("that message " + llvm::Twine(i) + " " + what, times.getValues()[i],
                          simulated.messages[i].*time)))
          return failure();
    return success();
  }

  LogicalResult checkTotals() {
    const std::tuple<StringRef, FloatAttr, double> totals[] = {
        {"the forward pass to end at", claimed.getForwardEndAttr(), simulated.forwardEnd},
        {"the backward pass to end at", claimed.getBackwardEndAttr(), simulated.backwardEnd},
        {"communication to end at", claimed.getCommunicationEndAttr(), simulated.communicationEnd},
        {"reconstruction to end at", claimed.getReconstructionEndAttr(),
         simulated.reconstructionEnd},
        {"updates to take", claimed.getUpdatesAttr(), simulated.updates},
        {"the step to end at", claimed.getStepAttr(), simulated.step}};
    for (auto [what, got, expected] : totals)
      if (failed(expect(what, got.getValueAsDouble(), expected)))
        return failure();
    if (failed(
            checkOptional(claimed.getAloneAttr(), "one device by itself to take", simulated.alone)))
      return failure();
    if (!simulated.microBatch && claimed.getMicroBatchAttr())
      return claimed.emitOpError("P22: expected no 'micro_batch' here");
    if (failed(checkOptional(claimed.getMicroBatchAttr(), "a micro-batch to take",
                             simulated.microBatch.value_or(0))) ||
        failed(checkMicroBatches()))
      return failure();
    if (claimed.getUnclipped().has_value() != simulated.unclipped.has_value())
      return claimed.emitOpError("P22: expected ")
             << (simulated.unclipped ? "'unclipped' beside a program with 'clip_norm'"
                                     : "no 'unclipped' beside a program without 'clip_norm'");
    if (failed(checkOptional(claimed.getUnclippedAttr(), "the step to take without clipping",
                             simulated.unclipped.value_or(0))))
      return failure();
    if (simulated.waiting > 0 && !claimed.getWaitingAttr())
      return claimed.emitOpError("P22: expected 'waiting'");
    return checkOptional(claimed.getWaitingAttr(), "ranks to wait for weights for",
                         simulated.waiting);
  }

  /// Checks what a prediction says only of steps of several micro-batches.
  LogicalResult checkMicroBatches() {
    const std::pair<StringRef, FloatAttr> microBatch{"micro_batch", claimed.getMicroBatchAttr()},
        leastMicroBatch{"least_micro_batch", claimed.getLeastMicroBatchAttr()},
        gathering{"gathering", claimed.getGatheringAttr()};
    if (simulated.leastMicroBatch) {
      for (auto [name, seconds] : {microBatch, leastMicroBatch})
        if (!seconds)
          return claimed.emitOpError("P22: expected '")
                 << name << "' beside a program with 'accumulate'";
    } else {
      for (auto [name, seconds] : {leastMicroBatch, gathering})
        if (seconds)
          return claimed.emitOpError("P22: expected no '")
                 << name << "' beside a program without 'accumulate'";
    }
    return checkOptional(leastMicroBatch.second, "a micro-batch of any plan to take at least",
                         simulated.leastMicroBatch.value_or(0));
  }

  /// Checks a time that a prediction may leave out.
  LogicalResult checkOptional(FloatAttr got, StringRef what, double expected) {
    return got ? expect(what, got.getValueAsDouble(), expected) : success();
  }

  sync::PredictionOp claimed;
  const Prediction &simulated;
};

} // namespace

LogicalResult checkPrediction(ModuleOp module) {
  const auto problems = module.getOps<sync::ProblemOp>();
  const auto predictions = module.getOps<sync::PredictionOp>();
  if (problems.empty() || module.getOps<sync::SolutionOp>().empty() ||
      !module->hasAttrOfType<cluster::SpecAttr>(cluster::specAttr))
    return success();
  sync::ProblemOp problem = *problems.begin();
  if (!llvm::hasSingleElement(predictions))
    return problem.emitOpError("P22: expected one prediction beside it");
  sync::PredictionOp claimed = *predictions.begin();
  if (claimed.getProblem() != problem.getSymName())
    return claimed.emitOpError("P22: expected a prediction of '")
           << problem.getSymName() << "', got one of '" << claimed.getProblem() << "'";
  Result<Prediction> simulated = simulate::predictPlan(module);
  if (!simulated)
    return claimed.emitOpError("P22: nothing to compare with: ") << simulated.status().message();
  return PredictionRules(claimed, *simulated).check();
}

} // namespace syncline::check
