// Pass `form-buckets`: carries a solution out. Each of its buckets becomes one all-reduce.
#include "passes/Passes.h"
#include "passes/merge/MergeOps.h"

#include "llvm/ADT/StringMap.h"

namespace syncline {
#define GEN_PASS_DEF_FORMBUCKETS
#include "passes/Passes.h.inc"
} // namespace syncline

using namespace mlir;
using namespace syncline;

namespace {

using GradientsByName = llvm::StringMap<sync::GradientOp>;

/// One message in place of its members' `sync.gradient` operations.
void formBucket(OpBuilder &builder, llvm::MutableArrayRef<sync::GradientOp> members,
                std::int64_t number, const solver::Group &group) {
  llvm::SmallVector<Value> local;
  llvm::SmallVector<StringRef> names;
  llvm::SmallVector<Type> types;
  for (sync::GradientOp member : members) {
    local.push_back(member.getLocal());
    names.push_back(member.getParameter());
    types.push_back(member.getType());
  }
  auto bucket = builder.create<sync::AllReduceOp>(
      members.front().getLoc(), types, local, builder.getStrArrayAttr(names),
      builder.getI64IntegerAttr(number), builder.getI64IntegerAttr(0),
      cluster::SchemeAttr::get(builder.getContext(), toSyncScheme(solver::Scheme::ring)),
      builder.getF64FloatAttr(group.ready), builder.getF64FloatAttr(group.start),
      builder.getF64FloatAttr(group.end));
  for (auto [member, agreed] : llvm::zip(members, bucket.getAgreed()))
    member.getAgreed().replaceAllUsesWith(agreed);
}

/// Takes the members of a group out of `gradients`.
FailureOr<llvm::SmallVector<sync::GradientOp>> takeMembers(sync::SolutionOp solution,
                                                           ArrayAttr layers,
                                                           const solver::Group &group,
                                                           GradientsByName &gradients) {
  llvm::SmallVector<sync::GradientOp> members;
  for (std::size_t k = 0; k < group.layerCount; ++k) {
    auto name = cast<StringAttr>(layers[group.firstLayer + k]).getValue();
    sync::GradientOp gradient = gradients.lookup(name);
    if (!gradient)
      return solution.emitOpError("layer '") << name << "' has no 'sync.gradient' in the step";
    members.push_back(gradient);
    gradients.erase(name);
  }
  return members;
}

/// Updates go last, so that every bucket can stand between its members and them. Returns the first.
Operation *moveUpdatesToEnd(nn::StepOp step) {
  Block &body = step.getBody().front();
  llvm::SmallVector<nn::UpdateOp> updates(step.getOps<nn::UpdateOp>());
  for (nn::UpdateOp update : updates)
    update->moveBefore(&body, body.end());
  return updates.empty() ? nullptr : updates.front();
}

LogicalResult formBuckets(nn::StepOp step, sync::SolutionOp solution) {
  FailureOr<sync::ProblemOp> problemOp = problemOf(solution);
  if (failed(problemOp))
    return failure();
  FailureOr<solver::MergeProblem> problem = toMergeProblem(*problemOp);
  if (failed(problem))
    return failure();
  FailureOr<solver::Solution> answer = toSolution(solution, *problem);
  if (failed(answer))
    return failure();

  GradientsByName gradients;
  for (auto gradient : step.getOps<sync::GradientOp>())
    gradients[gradient.getParameter()] = gradient;
  Operation *firstUpdate = moveUpdatesToEnd(step);
  OpBuilder builder(step->getContext());
  if (firstUpdate)
    builder.setInsertionPoint(firstUpdate);
  for (auto [number, group] : llvm::enumerate(answer->groups)) {
    auto members = takeMembers(solution, problemOp->getLayers(), group, gradients);
    if (failed(members))
      return failure();
    formBucket(builder, *members, static_cast<std::int64_t>(number), group);
    for (sync::GradientOp member : *members)
      member.erase();
  }
  if (!gradients.empty())
    return gradients.begin()->second.emitOpError("no bucket of the solution holds this gradient");
  return success();
}

struct FormBuckets : syncline::impl::FormBucketsBase<FormBuckets> {
  void runOnOperation() override {
    auto steps = getOperation().getOps<nn::StepOp>();
    auto solutions = getOperation().getOps<sync::SolutionOp>();
    if (steps.empty())
      return; // a trace has nothing to carry out
    if (solutions.empty()) {
      (*steps.begin()).emitError("expected a 'sync.solution' beside the step");
      return signalPassFailure();
    }
    if (failed(formBuckets(*steps.begin(), *solutions.begin())))
      signalPassFailure();
  }
};
} // namespace
