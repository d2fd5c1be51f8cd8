// Pass `lower-to-plan`: from what to agree on to when and where everything happens.
#include "ir/cluster/Cluster.h"
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

/// Nothing that is computed for nobody gets a place.
void eraseDeadOperations(nn::StepOp step) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(step.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
}

LogicalResult lowerStep(nn::StepOp step, std::int64_t ranks) {
  eraseDeadOperations(step);
  FailureOr<std::vector<lower::Bucket>> buckets = lower::collectBuckets(step);
  if (failed(buckets))
    return failure();
  FailureOr<std::vector<lower::Action>> actions = lower::schedule(step, *buckets);
  if (failed(actions))
    return failure();
  FailureOr<lower::Arena> arena = lower::planArena(step, *actions, *buckets);
  if (failed(arena))
    return failure();
  lower::Decisions decisions{std::move(*buckets), std::move(*actions), std::move(*arena)};
  if (failed(lower::writePlan(step, ranks, decisions)))
    return failure();
  step.erase();
  return success();
}

struct LowerToPlan : syncline::impl::LowerToPlanBase<LowerToPlan> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::SmallVector<nn::StepOp> steps(module.getOps<nn::StepOp>());
    if (steps.empty())
      return; // a trace: nothing to run
    auto cluster = module->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
    if (!cluster) {
      module.emitError("expected attribute '") << cluster::specAttr << "' on the module";
      return signalPassFailure();
    }
    for (nn::StepOp step : steps)
      if (failed(lowerStep(step, cluster.getRanks())))
        return signalPassFailure();
  }
};

} // namespace
