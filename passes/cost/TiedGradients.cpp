// Recognises the gradients of tied weights.
#include "passes/cost/TiedGradients.h"

#include "syncline/RowsPart.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace syncline::cost {

/// Whether the loop adds its two operands of one shape, and does nothing else.
static bool isSum(nn::PointwiseOp loop) {
  if (loop.getInputs().size() != 2 || loop.getOutputs().size() != 1 ||
      loop.getInputs()[0] == loop.getInputs()[1])
    return false;
  for (Value input : loop.getInputs())
    if (input.getType() != loop.getOutputs()[0].getType())
      return false;
  Block &body = loop.getBody().front();
  auto add = dyn_cast<arith::AddFOp>(body.front());
  return add && body.getOperations().size() == 2 &&
         llvm::equal(body.getTerminator()->getOperands(), ValueRange(add.getResult())) &&
         ((add.getLhs() == body.getArgument(0) && add.getRhs() == body.getArgument(1)) ||
          (add.getLhs() == body.getArgument(1) && add.getRhs() == body.getArgument(0)));
}

/// This rank's own summand, whether it is synchronised or not.
static Value localOf(Value summand) {
  auto gradient = summand.getDefiningOp<sync::GradientOp>();
  return gradient ? gradient.getLocal() : summand;
}

static nn::EmbeddingBackwardOp rowsOf(Value summand) {
  return localOf(summand).getDefiningOp<nn::EmbeddingBackwardOp>();
}

std::optional<TiedGradient> tiedGradientOf(nn::UpdateOp update) {
  auto sum = update.getGradient().getDefiningOp<nn::PointwiseOp>();
  if (!sum || !isSum(sum) || !update.getGradient().hasOneUse())
    return std::nullopt;
  TiedGradient tied{.sum = sum};
  for (OpOperand &operand : sum->getOpOperands())
    (rowsOf(operand.get()) ? tied.rows : tied.dense) = &operand;
  if (!tied.rows || !tied.dense)
    return std::nullopt;
  Operation *dense = localOf(tied.dense->get()).getDefiningOp();
  nn::EmbeddingBackwardOp rows = rowsOf(tied.rows->get());
  if (!dense || !dense->hasAttr(nn::backwardAttr) || !dense->isBeforeInBlock(rows) ||
      !localOf(tied.dense->get()).hasOneUse() || !rows.getDtable().hasOneUse())
    return std::nullopt;
  return tied;
}

std::string rowsNameOf(StringRef parameter) { return (parameter + StringRef(rowsEnding)).str(); }

llvm::SmallVector<sync::GradientOp, 2> synchronisedBy(nn::UpdateOp update) {
  if (auto whole = update.getGradient().getDefiningOp<sync::GradientOp>())
    return {whole};
  const std::optional<TiedGradient> tied = tiedGradientOf(update);
  if (!tied)
    return {};
  auto dense = tied->dense->get().getDefiningOp<sync::GradientOp>(),
       rows = tied->rows->get().getDefiningOp<sync::GradientOp>();
  return dense && rows ? llvm::SmallVector<sync::GradientOp, 2>{dense, rows}
                       : llvm::SmallVector<sync::GradientOp, 2>{};
}

} // namespace syncline::cost
