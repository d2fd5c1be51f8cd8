// The pass `fuse-pointwise`: elementwise operations become loops with scalar bodies.
#include "ir/Refusal.h"
#include "passes/Passes.h"
#include "passes/fuse/Combine.h"
#include "passes/fuse/PointwiseGroups.h"
#include "passes/fuse/ScalarBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"

namespace syncline {
#define GEN_PASS_DEF_FUSEPOINTWISE
#include "passes/Passes.h.inc"
} // namespace syncline

using namespace mlir;
using namespace syncline;
using namespace syncline::fuse;
using namespace syncline::nn;

/// Fills the loop's body with the members' scalar operations, one after the other.
static void buildBody(PointwiseOp loop, const PointwiseGroup &group, ArrayRef<Value> outputs) {
  Block &body = loop.getBody().emplaceBlock();
  OpBuilder builder = OpBuilder::atBlockEnd(&body);
  IRMapping scalars;
  for (Value input : loop.getInputs()) {
    Type element = cast<RankedTensorType>(input.getType()).getElementType();
    scalars.map(input, body.addArgument(element, input.getLoc()));
  }
  for (Operation *op : group.members) {
    llvm::SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      if (FloatAttr constant = splatValue(operand); constant && !scalars.contains(operand))
        scalars.map(operand, builder.create<arith::ConstantOp>(op->getLoc(), constant));
      operands.push_back(scalars.lookup(operand));
    }
    for (auto [result, scalar] : llvm::zip(op->getResults(), buildScalars(builder, op, operands)))
      scalars.map(result, scalar);
  }
  llvm::SmallVector<Value> yielded;
  for (Value output : outputs)
    yielded.push_back(scalars.lookup(output));
  builder.create<YieldOp>(loop.getLoc(), yielded);
}

static void emit(const PointwiseGroup &group) {
  Operation *last = group.members.back();
  llvm::SmallVector<Value> inputs = group.inputs(), outputs = group.outputs();
  if (!outputs.empty()) {
    OpBuilder builder(last);
    auto loop = builder.create<PointwiseOp>(last->getLoc(), ValueRange(outputs).getTypes(), inputs);
    combineAttributes(loop, group.members);
    buildBody(loop, group, outputs);
    for (auto [old, result] : llvm::zip(outputs, loop.getOutputs()))
      old.replaceUsesWithIf(result, [&](OpOperand &use) {
        return !llvm::is_contained(group.members, use.getOwner());
      });
  }
  for (Operation *op : llvm::reverse(group.members))
    op->erase();
}

static LogicalResult expectFloats(Operation *op) {
  for (Value value : op->getOperands())
    if (Type type = cast<RankedTensorType>(value.getType()).getElementType(); !isa<FloatType>(type))
      return refuseOp(op) << "expected floating-point elements, got " << type;
  return success();
}

static LogicalResult fuseStep(StepOp step) {
  for (Operation &op : step.getBody().front())
    if (isElementwise(&op) && failed(expectFloats(&op)))
      return failure();
  for (const PointwiseGroup &group : groupPointwise(step))
    emit(group);
  for (auto constant : llvm::make_early_inc_range(step.getBody().getOps<ConstantOp>()))
    if (constant->use_empty())
      constant->erase();
  // This is the barrier after the phase.
  for (Operation &op : step.getBody().front())
    if (isElementwise(&op))
      return op.emitOpError("expected all elementwise operations to be fused");
  return success();
}

namespace {
struct FusePointwise : syncline::impl::FusePointwiseBase<FusePointwise> {
  void runOnOperation() override {
    if (failed(fuseStep(getOperation())))
      signalPassFailure();
  }
};
} // namespace
