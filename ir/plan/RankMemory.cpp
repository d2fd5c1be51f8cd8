// Adds up what lies in a device's memory.
#include "ir/plan/RankMemory.h"

#include "ir/FirstOf.h"
#include "ir/nn/NN.h"
#include "ir/plan/OptimizerState.h"
#include "ir/sync/Sync.h"
#include "syncline/GpuMemory.h"

#include <numeric>

using namespace mlir;

namespace syncline::plan {

std::int64_t libraryBytes(cluster::SpecAttr spec) { return spec.getNccl() ? gpuAllowance : 0; }

std::int64_t neededBytes(ProgramOp program, cluster::SpecAttr spec) {
  std::int64_t needed = exchangeBytes(program) + optimizerBytes(program) + sumsBytes(program);
  for (NamedAttribute space : program.getSpaces())
    needed += cast<IntegerAttr>(space.getValue()).getInt();
  return needed + libraryBytes(spec);
}

/// Parameters, gradients and moments of a plan without a step.
static std::int64_t trainedBytes(ModuleOp plan) {
  auto problem = firstOf<sync::ProblemOp>(plan);
  if (!problem)
    return 0;
  const ArrayRef<std::int64_t> gradients = problem.getBytes();
  const std::int64_t bytes = std::accumulate(gradients.begin(), gradients.end(), std::int64_t{0});
  const OptimizerKind optimizer = nn::optimizerOf(plan);
  return bytes * (2 + (optimizer == OptimizerKind::sgd ? 0 : stateSlots(optimizer)));
}

RankMemory rankMemory(ModuleOp plan) {
  auto spec = plan->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
  RankMemory memory{.size = spec.getDevice().getMemorySize()};
  auto program = firstOf<ProgramOp>(plan);
  memory.hasActivations = static_cast<bool>(program);
  memory.needed = program ? neededBytes(program, spec) : trainedBytes(plan) + libraryBytes(spec);
  return memory;
}

} // namespace syncline::plan
