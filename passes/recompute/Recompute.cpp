// The pass `recompute`: results of the forward pass are computed again instead of kept.
#include "ir/Refusal.h"
#include "ir/nn/NN.h"
#include "passes/Passes.h"
#include "passes/recompute/PoseStep.h"
#include "passes/recompute/RepeatForward.h"
#include "passes/recompute/Search.h"
#include "passes/recompute/StepArena.h"

#include "mlir/IR/Builders.h"

namespace syncline {
#define GEN_PASS_DEF_RECOMPUTE
#include "passes/Passes.h.inc"
} // namespace syncline

using namespace mlir;

namespace syncline {

using namespace recompute;

namespace {

/// The arena of the step with these choices.
FailureOr<std::int64_t> arenaWith(nn::StepOp step, const Choices &choices, bool rounds) {
  OwningOpRef<nn::StepOp> tried = step.clone();
  const PosedStep copy = poseStep(*tried, rounds);
  repeatForward(*tried, recompute::blocksOf(copy, choices));
  return stepArena(*tried, rounds);
}

/// The blocks that free `bytes` of the arena in the fewest seconds. The search counts living bytes,
/// so that an arena with gaps wants another search, with a lower limit. Where nothing frees so
/// much, it returns the blocks that free most; whoever asked sees that by `nn.recomputation`.
FailureOr<std::vector<Block>> chooseBlocks(nn::StepOp step, std::int64_t arena, std::int64_t bytes,
                                           bool rounds) {
  constexpr int mostSearches = 12;
  const PosedStep posed = poseStep(step, rounds);
  const std::int64_t limit = arena - bytes;
  std::int64_t target = limit, least = 0;
  Choices best;
  for (int search = 0; search < mostSearches; ++search) {
    const Found found = cheapest(posed.problem, target);
    const FailureOr<std::int64_t> taken = arenaWith(step, found.choices, rounds);
    if (failed(taken))
      return failure();
    if (best.empty() || *taken < least) {
      best = found.choices;
      least = *taken;
    }
    if (least <= limit || found.outcome.bytes > target)
      break;
    // Another answer lies below what this one has alive.
    target = std::min(target - (*taken - limit), found.outcome.bytes - 1);
  }
  return recompute::blocksOf(posed, best);
}

FailureOr<std::vector<Block>> namedBlocks(nn::StepOp step, ArrayRef<std::string> globs) {
  Result<std::vector<Block>> blocks = blocksNamed(step, globs);
  if (!blocks)
    return refuse(step.getLoc()) << blocks.status().message();
  return std::move(*blocks);
}

LogicalResult recomputeStep(nn::StepOp step, ArrayRef<std::string> globs, std::int64_t free) {
  auto module = step->getParentOfType<ModuleOp>();
  const bool rounds = module && nn::storesBfloat16(module);
  const FailureOr<std::int64_t> before = stepArena(step, rounds);
  if (failed(before))
    return failure();
  const FailureOr<std::vector<Block>> blocks =
      free > 0 ? chooseBlocks(step, *before, free, rounds) : namedBlocks(step, globs);
  if (failed(blocks))
    return failure();
  repeatForward(step, *blocks);
  const FailureOr<std::int64_t> after = stepArena(step, rounds);
  if (failed(after))
    return failure();
  Builder builder(step.getContext());
  SmallVector<StringRef> names;
  for (const Block &block : *blocks)
    names.push_back(block.name);
  SmallVector<NamedAttribute> parts{
      builder.getNamedAttr("blocks", builder.getStrArrayAttr(names)),
      builder.getNamedAttr("freed", builder.getI64IntegerAttr(*before - *after))};
  if (free > 0)
    parts.push_back(builder.getNamedAttr("asked", builder.getI64IntegerAttr(free)));
  step->setAttr(nn::recomputationAttr, builder.getDictionaryAttr(parts));
  return success();
}

struct Recompute : syncline::impl::RecomputeBase<Recompute> {
  using RecomputeBase::RecomputeBase;

  void runOnOperation() override {
    if ((free > 0 || !globs.empty()) && failed(recomputeStep(getOperation(), globs, free)))
      signalPassFailure();
  }
};

} // namespace
} // namespace syncline
