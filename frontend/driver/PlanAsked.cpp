// Has candidates planned, and refuses what the user asked for in vain.
#include "frontend/driver/PlanAsked.h"

#include "frontend/driver/DeviceMemory.h"
#include "ir/cluster/Cluster.h"
#include "ir/plan/Plan.h"
#include "syncline/RowsPart.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

namespace syncline::driver {
namespace {

/// Whether a gradient of the plan travels in two parts.
bool isSplit(ModuleOp plan) {
  for (auto program : plan.getOps<plan::ProgramOp>())
    for (auto bucket : program.getOps<plan::BucketOp>())
      if (isRowsPart(cast<StringAttr>(bucket.getMembers()[0]).getValue()))
        return true;
  return false;
}

} // namespace

Result<candidates::Choice> planAsked(const candidates::Request &request, const InputPaths &paths,
                                     ModuleOp source, const EnterPhase &enter) {
  auto spec = source->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
  if (request.recomputesToFit && !spec.getDevice().getMemorySize())
    return Status::badInput("'" + paths.cluster + "' does not state its devices' 'memory-size', " +
                            "into which '--recompute auto' fits the step");
  const auto fits = [&paths](const candidates::Candidate &candidate, ModuleOp plan) {
    return checkMemory(paths.cluster, candidate, plan);
  };
  Result<candidates::Choice> choice = candidates::choosePlan(request, source, fits, enter);
  if (choice && request.asked.splitTied && !isSplit(*choice->plan))
    return Status::badInput("--split-tied always: '" + paths.model +
                            "' has no table that an embedding and one other operation read");
  return choice;
}

} // namespace syncline::driver
