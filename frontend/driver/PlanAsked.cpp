// Has candidates planned, and refuses what the user asked for in vain.
#include "frontend/driver/PlanAsked.h"

#include "frontend/driver/MemoryShortage.h"
#include "ir/FirstOf.h"
#include "ir/cluster/Cluster.h"
#include "ir/nn/NN.h"
#include "ir/plan/Plan.h"
#include "syncline/RowsPart.h"

#include "mlir/IR/BuiltinAttributes.h"

#include <optional>

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

candidates::ExpectFits expectFits(const InputPaths &paths) {
  return [cluster = paths.cluster](const candidates::Candidate &candidate, ModuleOp plan) {
    return expectMemory(cluster, candidate, plan);
  };
}

Result<candidates::Choice> planAsked(const candidates::Request &request, const InputPaths &paths,
                                     ModuleOp source, const EnterPhase &enter) {
  auto spec = source->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
  if (request.recomputesToFit && !spec.getDevice().getMemorySize())
    return Status::badInput("'" + paths.cluster + "' does not state its devices' 'memory-size', " +
                            "into which '--recompute auto' fits the step");
  std::optional<candidates::Candidate> refused; // the first without room
  std::string shortage;
  const auto fits = [&](const candidates::Candidate &candidate, ModuleOp plan) {
    const Status status = expectMemory(paths.cluster, candidate, plan);
    if (!status && !refused) {
      refused = candidate;
      shortage = status.message();
    }
    return status;
  };
  Result<candidates::Choice> choice = candidates::choosePlan(request, source, fits, enter);
  const bool recomputes = request.recomputesToFit || !request.asked.recompute.empty();
  if (!choice && refused && !recomputes && firstOf<nn::StepOp>(source) &&
      choice.status().message() == shortage)
    return Status::badInput(shortage + recomputedText(*refused, source, enter));
  if (choice && request.asked.splitTied && !isSplit(*choice->plan))
    return Status::badInput("--split-tied always: '" + paths.model +
                            "' has no table that an embedding and one other operation read");
  return choice;
}

} // namespace syncline::driver
