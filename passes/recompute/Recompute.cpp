// The pass `recompute`: results of the forward pass are computed again instead of kept.
#include "ir/Refusal.h"
#include "ir/Try.h"
#include "ir/nn/NN.h"
#include "passes/Passes.h"
#include "passes/lower/Lifetimes.h"
#include "passes/lower/Schedule.h"
#include "passes/recompute/PoseStep.h"
#include "passes/recompute/RepeatForward.h"
#include "passes/recompute/Search.h"

#include "mlir/IR/Builders.h"

namespace syncline {
#define GEN_PASS_DEF_RECOMPUTE
#include "passes/Passes.h.inc"
} // namespace syncline

using namespace mlir;

namespace syncline {

using namespace recompute;

namespace {

/// Asks the planner of memory, with one message of all gradients: the bytes of the arena that
/// `lower-to-plan` gives the step if all of its gradients travel as sums. Messages by factors take
/// more (passes/lower/README.md). With `rounds` the step is in bf16. Precondition: the step is
/// differentiated and fused. Fails as lower::schedule and lower::planArena do.
FailureOr<std::int64_t> stepArena(nn::StepOp step, bool rounds) {
  lower::Messages messages;
  lower::Bucket all;
  all.completedBy = 0; // its own message brings all of its gradients
  for (auto update : step.getOps<nn::UpdateOp>()) {
    all.message = update;
    all.members.push_back(
        {update.getParameter().getDefiningOp<nn::ParameterOp>(), update.getGradient()});
  }
  if (all.message)
    messages.buckets.push_back(std::move(all));
  SYNCLINE_TRY_MLIR(actions, lower::schedule(step, messages, lower::Overlap::backward));
  SYNCLINE_TRY_MLIR(arena, lower::planArena(step, *actions, messages.buckets, rounds));
  return arena->bytes;
}

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
    SYNCLINE_TRY_MLIR(taken, arenaWith(step, found.choices, rounds));
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
  SYNCLINE_TRY_MLIR(before, stepArena(step, rounds));
  SYNCLINE_TRY_MLIR(blocks, free > 0 ? chooseBlocks(step, *before, free, rounds)
                                     : namedBlocks(step, globs));
  repeatForward(step, *blocks);
  SYNCLINE_TRY_MLIR(after, stepArena(step, rounds));
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
