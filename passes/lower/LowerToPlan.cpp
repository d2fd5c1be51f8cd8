// The pass `lower-to-plan`: from the messages of a step to a program with order and memory.
#include "ir/Refusal.h"
#include "ir/Try.h"
#include "ir/cluster/Cluster.h"
#include "ir/nn/NN.h"
#include "ir/plan/Plan.h"
#include "passes/Passes.h"
#include "passes/lower/PlanWriter.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace syncline {
#define GEN_PASS_DEF_LOWERTOPLAN
#include "passes/Passes.h.inc"
} // namespace syncline

using namespace mlir;
using namespace syncline;

namespace {

/// Erases operations whose results have no use, so that they get no place.
void eraseDeadOperations(nn::StepOp step) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(step.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
}

/// The number of processes besides the ranks: dedicated servers, where any message goes
/// through them.
std::int64_t serversOf(cluster::SpecAttr cluster, const std::vector<lower::Bucket> &buckets) {
  cluster::ServersAttr servers = cluster.getServers();
  const bool used = llvm::any_of(buckets, [](const lower::Bucket &bucket) {
    return bucket.scheme == cluster::Scheme::parameterServer;
  });
  return used && servers && servers.getDedicated() ? servers.getCount() : 0;
}

LogicalResult lowerStep(nn::StepOp step, cluster::SpecAttr cluster, lower::Overlap overlap,
                        double clipNorm, std::int64_t microBatches, bool rounds) {
  eraseDeadOperations(step);
  SYNCLINE_TRY_MLIR(messages, lower::collectMessages(step));
  for (const lower::Bucket &bucket : messages->buckets)
    if (bucket.isRowsPart() && overlap == lower::Overlap::step)
      return refuse(bucket.message->getLoc())
             << "a gradient that travels in two parts has one update, for which a step waits at "
                "its end; expected '--overlap backward', or '--split-tied never'";
  SYNCLINE_TRY_MLIR(actions, lower::schedule(step, *messages, overlap));
  SYNCLINE_TRY_MLIR(arena, lower::planArena(step, *actions, messages->buckets, rounds));
  lower::Decisions decisions{cluster.getRanks(),
                             serversOf(cluster, messages->buckets),
                             overlap,
                             std::move(messages->buckets),
                             std::move(*actions),
                             std::move(*arena)};
  SYNCLINE_TRY_MLIR(program, lower::writePlan(step, decisions));
  if (clipNorm > 0)
    program->setClipNorm(llvm::APFloat(clipNorm));
  if (microBatches > 1)
    program->setAccumulate(microBatches);
  step.erase();
  return success();
}

struct LowerToPlan : syncline::impl::LowerToPlanBase<LowerToPlan> {
  using LowerToPlanBase::LowerToPlanBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::SmallVector<nn::StepOp> steps(module.getOps<nn::StepOp>());
    if (steps.empty())
      return; // a module with a trace has no step to lower
    auto cluster = module->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
    if (!cluster) {
      module.emitError("expected attribute '") << cluster::specAttr << "' on the module";
      return signalPassFailure();
    }
    const auto into =
        overlap == plan::overlapStep ? lower::Overlap::step : lower::Overlap::backward;
    for (nn::StepOp step : steps)
      if (failed(lowerStep(step, cluster, into, clipNorm, accumulate, nn::storesBfloat16(module))))
        return signalPassFailure();
  }
};

} // namespace
