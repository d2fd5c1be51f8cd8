// Adds up what a device holds.
#include "frontend/driver/DeviceMemory.h"

#include "frontend/files/FormatUnits.h"
#include "ir/cluster/Cluster.h"
#include "ir/plan/OptimizerState.h"

using namespace mlir;

namespace syncline::driver {

Status checkMemory(const std::string &path, const std::string &overlap, ModuleOp module) {
  auto spec = module->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
  const std::optional<std::int64_t> size = spec.getDevice().getMemorySize();
  if (!size)
    return Status::ok();
  for (auto program : module.getOps<plan::ProgramOp>()) {
    std::int64_t needed = plan::exchangeBytes(program) + plan::optimizerBytes(program);
    for (NamedAttribute space : program.getSpaces())
      needed += cast<IntegerAttr>(space.getValue()).getInt();
    if (needed > *size)
      return Status::badInput(
          "the plan needs " + files::formatBytes(needed) + " of memory on every device, '" + path +
          "' has devices of " + files::formatBytes(*size) + "; a smaller --batch" +
          (overlap == "step" ? " or '--overlap backward' needs less" : " needs less"));
  }
  return Status::ok();
}

} // namespace syncline::driver
