// From the command line to candidates.
#include "frontend/driver/PlanAsked.h"

#include "frontend/driver/DeviceMemory.h"
#include "ir/cluster/Cluster.h"
#include "ir/plan/Plan.h"
#include "syncline/RowsPart.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

namespace syncline::driver {
namespace {

/// What the options ask of a plan, and what they leave open.
candidates::Request requestOf(const CompileOptions &options,
                              const std::shared_ptr<const solver::Planner> &planner) {
  candidates::Request request;
  request.opensOverlap = options.overlap == "auto";
  request.opensChannels = options.channels == "auto";
  request.opensSplit = options.splitTied == "auto";
  request.recomputesToFit = options.recomputesToFit();
  candidates::Candidate &asked = request.asked;
  asked.planner = planner;
  asked.requested = options.schemes;
  if (!request.opensOverlap)
    asked.overlap = options.overlap;
  if (!request.opensChannels)
    asked.channels = std::stoi(options.channels);
  asked.splitTied = options.splitTied == "always";
  asked.consistency = options.consistency;
  asked.clipNorm = options.clipNorm.value_or(0);
  asked.accumulate = options.accumulate;
  if (!request.recomputesToFit)
    asked.recompute = options.recompute;
  return request;
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

Result<candidates::Choice> planAsked(const CompileOptions &options,
                                     const std::shared_ptr<const solver::Planner> &planner,
                                     ModuleOp source, const EnterPhase &enter) {
  const candidates::Request request = requestOf(options, planner);
  auto spec = source->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
  if (request.recomputesToFit && !spec.getDevice().getMemorySize())
    return Status::badInput("'" + options.cluster +
                            "' does not state its devices' 'memory-size', " +
                            "into which '--recompute auto' fits the step");
  const auto fits = [&options](const candidates::Candidate &candidate, ModuleOp plan) {
    return checkMemory(options.cluster, candidate, plan);
  };
  Result<candidates::Choice> choice = candidates::choosePlan(request, source, fits, enter);
  if (choice && request.asked.splitTied && !isSplit(*choice->plan))
    return Status::badInput("--split-tied always: '" + options.model +
                            "' has no table that an embedding and one other operation read");
  return choice;
}

} // namespace syncline::driver
