// What is missing, in words.
#include "frontend/driver/DeviceMemory.h"

#include "frontend/files/FormatUnits.h"
#include "ir/FirstOf.h"
#include "ir/cluster/Cluster.h"
#include "ir/nn/NN.h"
#include "ir/plan/Plan.h"
#include "passes/candidates/DeviceMemory.h"

using namespace mlir;

namespace syncline::driver {

Status checkMemory(const std::string &path, const candidates::Candidate &candidate, ModuleOp plan) {
  const std::int64_t missing = candidates::missingBytes(plan);
  if (missing <= 0)
    return Status::ok();
  auto spec = plan->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
  const std::int64_t size = *spec.getDevice().getMemorySize();
  auto program = firstOf<plan::ProgramOp>(plan);
  const bool recomputes = program->hasAttr(nn::recomputationAttr);
  return Status::badInput(
      "the plan needs " + files::formatBytes(size + missing) + " of memory on every device" +
      (recomputes ? ", with recomputation" : "") + ", '" + path + "' has devices of " +
      files::formatBytes(size) +
      (recomputes ? ", " + std::to_string(missing) + " bytes too few" : "") +
      "; a smaller --batch" +
      (candidate.overlap == "step" ? " or '--overlap backward' needs less" : " needs less") +
      (recomputes ? "" : ", and so does --recompute"));
}

} // namespace syncline::driver
