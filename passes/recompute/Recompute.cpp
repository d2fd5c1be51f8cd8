// The pass `recompute`: results of the forward pass are computed again instead of kept.
#include "ir/Refusal.h"
#include "ir/nn/PrecisionAttr.h"
#include "ir/nn/RecomputedAttr.h"
#include "passes/Passes.h"
#include "passes/recompute/RepeatForward.h"
#include "passes/recompute/StepArena.h"

#include "mlir/IR/Builders.h"

namespace syncline {
#define GEN_PASS_DEF_RECOMPUTE
#include "passes/Passes.h.inc"
} // namespace syncline

using namespace mlir;

namespace syncline {
namespace {

LogicalResult recomputeStep(nn::StepOp step, ArrayRef<std::string> globs) {
  auto module = step->getParentOfType<ModuleOp>();
  const bool rounds = module && nn::storesBfloat16(module);
  Result<std::vector<recompute::Block>> blocks = recompute::blocksNamed(step, globs);
  if (!blocks)
    return refuse(step.getLoc()) << blocks.status().message();
  const FailureOr<std::int64_t> before = recompute::stepArena(step, rounds);
  if (failed(before))
    return failure();
  recompute::repeatForward(step, *blocks);
  const FailureOr<std::int64_t> after = recompute::stepArena(step, rounds);
  if (failed(after))
    return failure();
  Builder builder(step.getContext());
  SmallVector<StringRef> names;
  for (const recompute::Block &block : *blocks)
    names.push_back(block.name);
  step->setAttr(nn::recomputationAttr,
                builder.getDictionaryAttr(
                    {builder.getNamedAttr("blocks", builder.getStrArrayAttr(names)),
                     builder.getNamedAttr("freed", builder.getI64IntegerAttr(*before - *after))}));
  return success();
}

struct Recompute : syncline::impl::RecomputeBase<Recompute> {
  using RecomputeBase::RecomputeBase;

  void runOnOperation() override {
    if (!globs.empty() && failed(recomputeStep(getOperation(), globs)))
      signalPassFailure();
  }
};

} // namespace
} // namespace syncline
