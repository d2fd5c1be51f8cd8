// Adds up what a device holds.
#include "frontend/driver/DeviceMemory.h"

#include "frontend/files/FormatUnits.h"
#include "ir/FirstOf.h"
#include "ir/cluster/Cluster.h"
#include "ir/nn/RecomputedAttr.h"
#include "ir/plan/AccumulateAttr.h"
#include "ir/plan/OptimizerState.h"

#include <algorithm>

using namespace mlir;

namespace syncline::driver {

static std::int64_t neededBytes(plan::ProgramOp program) {
  std::int64_t needed =
      plan::exchangeBytes(program) + plan::optimizerBytes(program) + plan::sumsBytes(program);
  for (NamedAttribute space : program.getSpaces())
    needed += cast<IntegerAttr>(space.getValue()).getInt();
  return needed;
}

std::int64_t missingBytes(ModuleOp module) {
  auto spec = module->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
  const std::optional<std::int64_t> size = spec.getDevice().getMemorySize();
  std::int64_t missing = 0;
  if (size)
    for (auto program : module.getOps<plan::ProgramOp>())
      missing = std::max(missing, neededBytes(program) - *size);
  return missing;
}

Status checkMemory(const std::string &path, const std::string &overlap, ModuleOp module) {
  const std::int64_t missing = missingBytes(module);
  if (missing <= 0)
    return Status::ok();
  auto spec = module->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
  const std::int64_t size = *spec.getDevice().getMemorySize();
  auto program = firstOf<plan::ProgramOp>(module);
  const bool recomputes = program->hasAttr(nn::recomputationAttr);
  return Status::badInput(
      "the plan needs " + files::formatBytes(size + missing) + " of memory on every device" +
      (recomputes ? ", with recomputation" : "") + ", '" + path + "' has devices of " +
      files::formatBytes(size) +
      (recomputes ? ", " + std::to_string(missing) + " bytes too few" : "") +
      "; a smaller --batch" +
      (overlap == "step" ? " or '--overlap backward' needs less" : " needs less") +
      (recomputes ? "" : ", and so does --recompute"));
}

} // namespace syncline::driver
