// The pass `differentiate`: from the loss back to the parameters.
#include "ir/Refusal.h"
#include "ir/Try.h"
#include "passes/Passes.h"
#include "passes/differentiate/Rules.h"

namespace syncline {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "passes/Passes.h.inc"
} // namespace syncline

using namespace mlir;
using namespace syncline;
using namespace syncline::differentiate;
using namespace syncline::nn;

/// The loss of a step that has one loss and was not differentiated before; null after an error.
static LossOp findLoss(StepOp step) {
  LossOp loss;
  for (Operation &op : step.getBody().front()) {
    if (isa<UpdateOp>(op)) {
      op.emitOpError("expected a step without updates: it was differentiated before");
      return {};
    }
    if (auto found = dyn_cast<LossOp>(op))
      loss = found;
  }
  if (!loss)
    step.emitOpError("expected an 'nn.loss' to differentiate");
  return loss;
}

static LogicalResult differentiateOp(Operation *op, Gradients &gradients) {
  auto hasGradient = [&](Value v) { return static_cast<bool>(gradients.of(v)); };
  bool wanted = llvm::any_of(op->getResults(), [&](Value v) { return gradients.wanted(v); });
  if (isa<ParameterOp>(op) || !wanted || llvm::none_of(op->getResults(), hasGradient))
    return success();
  auto rule = dyn_cast<DifferentiableOpInterface>(op);
  if (!rule)
    return refuseOp(op) << "no derivative for this operation, between a parameter and the loss";
  gradients.enter(op);
  return rule.differentiate(gradients);
}

namespace {
struct Update {
  ParameterOp parameter;
  Value gradient;
};
} // namespace

/// Every parameter's update with its gradient; fails at a parameter without a gradient.
static FailureOr<SmallVector<Update>> collectUpdates(StepOp step, Gradients &gradients) {
  SmallVector<Update> updates;
  for (auto parameter : step.getBody().getOps<ParameterOp>()) {
    Value gradient = gradients.of(parameter.getResult());
    if (!gradient)
      return refuse(parameter.getLoc()) << "parameter '" << parameter.getName()
                                        << "' has no gradient: the loss depends on it through "
                                           "comparisons or rounding alone or not at all; "
                                           "'--freeze "
                                        << parameter.getName() << "' leaves it as it is";
    updates.push_back({parameter, gradient});
  }
  return updates;
}

/// Copies gradients that have another reader, as soon as they are complete. A bucket is summed in
/// place, so a gradient inside it may have no other reader.
static void ownGradients(MutableArrayRef<Update> updates, Operation *lastForward) {
  llvm::DenseMap<Value, int> claims;
  for (const Update &update : updates)
    ++claims[update.gradient];
  for (Update &update : updates) {
    Value gradient = update.gradient;
    Operation *source = gradient.getDefiningOp();
    if (claims[gradient] == 1 && gradient.use_empty() && !isa<ConstantOp>(source))
      continue;
    OpBuilder builder(source->getContext());
    builder.setInsertionPointAfter(source->isBeforeInBlock(lastForward) ? lastForward : source);
    auto copy = builder.create<BroadcastOp>(gradient.getLoc(), gradient.getType(), gradient);
    copy->setAttr(backwardAttr, builder.getUnitAttr());
    copy->setAttr(layerAttr, update.parameter.getNameAttr()); // keeps two copies apart for CSE
    update.gradient = copy;
  }
}

/// Whether `a` is complete before `b`.
static bool readyBefore(Value a, Value b) {
  Operation *first = a.getDefiningOp(), *second = b.getDefiningOp();
  if (first != second)
    return first->isBeforeInBlock(second);
  return cast<OpResult>(a).getResultNumber() < cast<OpResult>(b).getResultNumber();
}

static LogicalResult appendUpdates(StepOp step, Gradients &gradients, Operation *lastForward) {
  SYNCLINE_TRY_MLIR(updates, collectUpdates(step, gradients));
  ownGradients(*updates, lastForward);
  llvm::stable_sort(*updates, [](const Update &a, const Update &b) {
    return readyBefore(a.gradient, b.gradient);
  });
  OpBuilder builder = OpBuilder::atBlockEnd(&step.getBody().front());
  for (Update &update : *updates)
    builder.create<UpdateOp>(update.parameter.getLoc(), update.parameter.getResult(),
                             update.gradient);
  return success();
}

/// Checks what the pass ensures (Passes.td), in release builds too.
static LogicalResult verifyDifferentiated(StepOp step) {
  llvm::DenseSet<Value> updated;
  Value last;
  for (Operation &op : step.getBody().front()) {
    auto update = dyn_cast<UpdateOp>(op);
    if (!update && last)
      return op.emitOpError("expected updates at the end of the step");
    if (!update)
      continue;
    Value gradient = update.getGradient();
    if (!gradient.hasOneUse())
      return update.emitOpError("expected a gradient that only its update reads");
    if (last && !readyBefore(last, gradient))
      return update.emitOpError("expected updates in the order in which gradients are complete");
    last = gradient;
    updated.insert(update.getParameter());
  }
  for (auto parameter : step.getBody().getOps<ParameterOp>())
    if (!updated.contains(parameter.getResult()))
      return parameter.emitOpError("expected an update for '") << parameter.getName() << "'";
  return success();
}

static LogicalResult differentiateStep(StepOp step) {
  LossOp loss = findLoss(step);
  if (!loss)
    return failure();
  SmallVector<Operation *> forward;
  for (Operation &op : step.getBody().front())
    forward.push_back(&op);
  Gradients gradients(step, loss);
  for (Operation *op : llvm::reverse(forward)) {
    if (failed(differentiateOp(op, gradients)))
      return failure();
    gradients.leave(op);
  }
  gradients.finish();
  if (failed(appendUpdates(step, gradients, forward.back())))
    return failure();
  return verifyDifferentiated(step);
}

namespace {
struct Differentiate : syncline::impl::DifferentiateBase<Differentiate> {
  void runOnOperation() override {
    if (failed(differentiateStep(getOperation())))
      signalPassFailure();
  }
};
} // namespace
