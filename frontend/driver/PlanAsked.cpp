// Has candidates planned, and refuses what the user asked for in vain.
#include "frontend/driver/PlanAsked.h"

#include "frontend/files/FormatUnits.h"
#include "ir/FirstOf.h"
#include "ir/cluster/Cluster.h"
#include "ir/nn/NN.h"
#include "ir/plan/Plan.h"
#include "passes/candidates/PlanCandidate.h"
#include "syncline/RowsPart.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

namespace syncline::driver {
namespace {

/// Refuses a plan that needs more bytes than the device has (candidates::missingBytes),
/// where the cluster file `path` states the device's memory. Errors: badInput.
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

/// Whether a gradient of the plan travels in two parts.
bool isSplit(ModuleOp plan) {
  for (auto program : plan.getOps<plan::ProgramOp>())
    for (auto bucket : program.getOps<plan::BucketOp>())
      if (isRowsPart(cast<StringAttr>(bucket.getMembers()[0]).getValue()))
        return true;
  return false;
}

} // namespace

candidates::ExpectFits expectFits(const InputPaths &paths) {
  return [cluster = paths.cluster](const candidates::Candidate &candidate, ModuleOp plan) {
    return checkMemory(cluster, candidate, plan);
  };
}

Result<candidates::Choice> planAsked(const candidates::Request &request, const InputPaths &paths,
                                     ModuleOp source, const EnterPhase &enter) {
  auto spec = source->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
  if (request.recomputesToFit && !spec.getDevice().getMemorySize())
    return Status::badInput("'" + paths.cluster + "' does not state its devices' 'memory-size', " +
                            "into which '--recompute auto' fits the step");
  Result<candidates::Choice> choice =
      candidates::choosePlan(request, source, expectFits(paths), enter);
  if (choice && request.asked.splitTied && !isSplit(*choice->plan))
    return Status::badInput("--split-tied always: '" + paths.model +
                            "' has no table that an embedding and one other operation read");
  return choice;
}

} // namespace syncline::driver
