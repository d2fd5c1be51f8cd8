// Adds up what a device holds.
#include "passes/candidates/DeviceMemory.h"

#include "ir/cluster/Cluster.h"
#include "ir/plan/OptimizerState.h"
#include "ir/plan/Plan.h"

#include <algorithm>

using namespace mlir;

namespace syncline::candidates {

static std::int64_t neededBytes(plan::ProgramOp program) {
  std::int64_t needed =
      plan::exchangeBytes(program) + plan::optimizerBytes(program) + plan::sumsBytes(program);
  for (NamedAttribute space : program.getSpaces())
    needed += cast<IntegerAttr>(space.getValue()).getInt();
  return needed;
}

std::int64_t missingBytes(ModuleOp plan) {
  auto spec = plan->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
  const std::optional<std::int64_t> size = spec.getDevice().getMemorySize();
  std::int64_t missing = 0;
  if (size)
    for (auto program : plan.getOps<plan::ProgramOp>())
      missing = std::max(missing, neededBytes(program) - *size);
  return missing;
}

} // namespace syncline::candidates
