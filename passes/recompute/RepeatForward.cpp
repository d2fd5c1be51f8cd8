// Clones operations in front of their first readers in the backward pass.
#include "passes/recompute/RepeatForward.h"

#include "ir/nn/NN.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace syncline::recompute {

namespace {

class Repeating {
public:
  Repeating(nn::StepOp step, ArrayRef<Block> blocks) : step(step), builder(step.getContext()) {
    for (auto [number, block] : llvm::enumerate(blocks))
      for (Operation *op : block.ops)
        blockOf.try_emplace(op, number);
    for (const Block &block : blocks)
      for (Operation *op : block.ops)
        if (isRepeatable(op, block.extent))
          repeatable.insert(op);
  }

  Repeated run() {
    SmallVector<Operation *> backward;
    for (Operation &op : step.getBody().front())
      if (op.hasAttr(nn::backwardAttr))
        backward.push_back(&op);
    for (Operation *op : backward)
      for (OpOperand &operand : op->getOpOperands())
        operand.set(again(operand.get(), op));
    return repeated;
  }

private:
  bool isRepeatable(Operation *op, Extent extent) const {
    if (isa<nn::CrossEntropyOp, nn::MeanSquaredErrorOp>(op))
      return false;
    if (extent == Extent::light && isHeavy(op))
      return false;
    return llvm::none_of(op->getUsers(), [&](Operation *user) {
      return !user->hasAttr(nn::backwardAttr) &&
             (!blockOf.contains(user) || blockOf.lookup(user) != blockOf.lookup(op));
    });
  }

  /// The value as the backward pass reads it: computed again in front of `reader` where that did
  /// not happen before, or the value itself where it is kept.
  Value again(Value value, Operation *reader) {
    Operation *op = value.getDefiningOp();
    if (!repeatable.contains(op))
      return value;
    if (!known.contains(value))
      repeat(op, reader);
    return known.lookup(value);
  }

  void repeat(Operation *op, Operation *reader) {
    IRMapping operands;
    for (Value operand : op->getOperands())
      operands.map(operand, again(operand, reader));
    builder.setInsertionPoint(reader);
    Operation *copy = builder.clone(*op, operands);
    // The two attributes also keep CSE from merging the copy with the original: operations with
    // different attributes are different to it. Were they merged, the result would be kept again.
    copy->setAttr(nn::backwardAttr, builder.getUnitAttr());
    copy->setAttr(nn::recomputedAttr, builder.getUnitAttr());
    if (auto norm = dyn_cast<nn::BatchNormOp>(copy))
      norm.setMomentumAttr(builder.getF64FloatAttr(0)); // the statistics have seen this batch
    for (auto [first, second] : llvm::zip(op->getResults(), copy->getResults()))
      known.map(first, second);
    ++repeated.operations;
    if (auto seconds = op->getAttrOfType<FloatAttr>(nn::secondsAttr))
      repeated.seconds += seconds.getValueAsDouble();
  }

  nn::StepOp step;
  OpBuilder builder;
  llvm::DenseMap<Operation *, std::size_t> blockOf;
  llvm::DenseSet<Operation *> repeatable;
  IRMapping known; ///< results that were computed again
  Repeated repeated;
};

} // namespace

Repeated repeatForward(nn::StepOp step, ArrayRef<Block> blocks) {
  return Repeating(step, blocks).run();
}

} // namespace syncline::recompute
