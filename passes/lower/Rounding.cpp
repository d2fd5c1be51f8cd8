// The table from nn operations to how backends store their results in bf16.
#include "passes/lower/Rounding.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace syncline::lower {

static llvm::ArrayRef<std::int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// Whether each sample and channel is one number. oneDNN's f32 sums such means, so they stay f32.
static bool isOnePosition(Value image) {
  return llvm::all_of(shapeOf(image).drop_front(2), [](std::int64_t n) { return n == 1; });
}

/// Whether a max pooling keeps its windows' positions in bytes. With wider ones the CPU computes
/// in f32.
static bool hasByteTaps(Value workspace) {
  return cast<RankedTensorType>(workspace.getType()).getElementTypeBitWidth() == 8;
}

/// Whether a resampling works in any layout of its operand. The CPU computes others in f32.
template <typename Op> static bool keepsLayout(Op op) {
  return op.getAxes().front() >= 2 && shapeOf(op->getResult(0)).size() <= 5;
}

bool isFlat(nn::PointwiseOp op) {
  return llvm::all_of(op.getInputs(), [shape = shapeOf(op.getOutputs()[0])](Value operand) {
    return shapeOf(operand) == shape;
  });
}

bool isStoredRounded(OpResult result, llvm::function_ref<bool(Value)> isRounded) {
  if (!cast<RankedTensorType>(result.getType()).getElementType().isF32())
    return false;
  Operation *op = result.getOwner();
  const bool isFirst = result.getResultNumber() == 0;
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<nn::ConvOp, nn::ConvBackwardDataOp>([](Operation *) { return true; })
      .Case<nn::BatchNormOp, nn::BatchNormBackwardOp>(
          [&](Operation *) { return isFirst && isRounded(op->getOperand(0)); })
      .Case([&](nn::MaxPoolOp) {
        return isFirst && isRounded(op->getOperand(0)) && hasByteTaps(op->getResult(1));
      })
      .Case([&](nn::MaxPoolBackwardOp) {
        auto forward = op->getOperand(1).getDefiningOp<nn::MaxPoolOp>();
        return isRounded(op->getOperand(0)) && forward && isRounded(forward->getResult(0));
      })
      .Case(
          [&](nn::AveragePoolOp) { return isRounded(op->getOperand(0)) && !isOnePosition(result); })
      .Case<nn::AveragePoolBackwardOp, nn::SliceOp, nn::SliceBackwardOp, nn::PadOp, nn::ReshapeOp>(
          [&](Operation *) { return isRounded(op->getOperand(0)); })
      .Case<nn::ResampleOp, nn::ResampleBackwardOp>(
          [&](auto resample) { return keepsLayout(resample) && isRounded(op->getOperand(0)); })
      .Case([&](nn::ConcatOp) { return llvm::all_of(op->getOperands(), isRounded); })
      .Case([&](nn::PointwiseOp loop) {
        return isFlat(loop) && llvm::any_of(op->getOperands(), isRounded);
      })
      .Default([](Operation *) { return false; });
}

} // namespace syncline::lower
