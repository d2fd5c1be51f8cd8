// Reads the updates' times from a trace, or asks the cost model.
#include "passes/simulate/ir/UpdateWeights.h"

#include "ir/FirstOf.h"
#include "ir/cluster/Cluster.h"
#include "ir/nn/NN.h"
#include "ir/plan/Plan.h"
#include "passes/cost/CostModel.h"
#include "passes/cost/Timeline.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace syncline::simulate {

/// Seconds of each gradient's update, as a trace states them; empty where it states none.
static std::vector<double> statedUpdates(sync::TraceOp trace, sync::ProblemOp problem) {
  llvm::StringMap<double> stated;
  for (auto layer : trace.getOps<sync::LayerOp>())
    if (const double update = cost::updateOf(layer); update > 0)
      stated[layer.getName()] = update;
  std::vector<double> seconds;
  for (StringAttr name : problem.getLayers().getAsRange<StringAttr>())
    seconds.push_back(stated.lookup(name));
  return stated.empty() ? std::vector<double>() : seconds;
}

/// Seconds of each gradient's update by the cost model; a program's updates share their time in
/// this proportion. Empty where the cost model knows none.
static std::vector<double> updateSeconds(ModuleOp module, sync::ProblemOp problem,
                                         cluster::SpecAttr spec) {
  constexpr double elementBytes = 4; // f32
  auto measured = module->getAttrOfType<FloatAttr>(cluster::updateAttr);
  const auto rate = measured ? std::optional(measured.getValueAsDouble()) : std::nullopt;
  std::vector<double> seconds;
  for (std::int64_t count : problem.getBytes()) {
    const auto bytes = static_cast<double>(count);
    seconds.push_back(cost::updateSeconds(bytes / elementBytes, bytes, spec.getDevice(), rate,
                                          nn::optimizerOf(module), cost::precisionOf(module)));
  }
  const bool isKnown = llvm::any_of(seconds, [](double update) { return update > 0; });
  return isKnown ? seconds : std::vector<double>();
}

std::vector<double> updateWeightsOf(ModuleOp module, sync::ProblemOp problem,
                                    cluster::SpecAttr spec) {
  if (auto trace = firstOf<sync::TraceOp>(module))
    return statedUpdates(trace, problem);
  if (firstOf<plan::ProgramOp>(module))
    return updateSeconds(module, problem, spec);
  return {};
}

} // namespace syncline::simulate
