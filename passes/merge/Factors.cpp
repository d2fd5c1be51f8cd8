// Finds gradients that are products over samples, and the sums that ride with them.
#include "passes/merge/Factors.h"

#include "ir/plan/Plan.h"

using namespace mlir;

namespace syncline {

Value withoutReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<nn::ReshapeOp>())
    value = reshape.getX();
  return value;
}

Value withoutCopies(Value value) {
  for (;;) {
    value = withoutReshapes(value);
    auto transpose = value.getDefiningOp<nn::TransposeOp>();
    if (!transpose)
      return value;
    value = transpose.getX();
  }
}

static bool isStored(Value value) {
  Operation *source = withoutReshapes(value).getDefiningOp();
  return isa_and_nonnull<nn::ParameterOp, nn::StateOp, nn::ConstantOp>(source);
}

/// Does the operation sum over dimension 0 of both operands, and do nothing else with it?
static bool sumsOverSamples(Value product) {
  if (auto weights = product.getDefiningOp<nn::ConvBackwardWeightsOp>())
    return product == weights.getDw();
  auto matmul = product.getDefiningOp<nn::MatmulOp>();
  const auto isMatrix = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getRank() == 2;
  };
  return matmul && isMatrix(matmul.getA()) && isMatrix(matmul.getB()) && matmul.getTransposeA() &&
         !matmul.getTransposeB() && !matmul.getBias() &&
         matmul.getActivation() == nn::Activation::none;
}

/// Is the gradient a sum of one of the factors over, at least, the dimension that is gathered?
static bool ridesWith(sync::GradientOp gradient, const FactorPair &pair) {
  const Value sum = withoutCopies(gradient.getLocal());
  if (auto weights = dyn_cast<nn::ConvBackwardWeightsOp>(pair.product);
      weights && weights.getDbias() && sum == weights.getDbias())
    return true;
  auto reduce = sum.getDefiningOp<nn::ReduceOp>();
  if (!reduce || reduce.getKind() != nn::Reduction::sum || !llvm::is_contained(reduce.getAxes(), 0))
    return false;
  const Value source = withoutReshapes(reduce.getX());
  return source == withoutReshapes(pair.left) || source == withoutReshapes(pair.right);
}

std::optional<FactorPair> factorsOf(sync::GradientOp gradient) {
  const Value value = withoutCopies(gradient.getLocal());
  if (!sumsOverSamples(value))
    return std::nullopt;
  FactorPair pair;
  pair.product = value.getDefiningOp();
  pair.left = pair.product->getOperand(0);
  pair.right = pair.product->getOperand(1);
  if (isStored(pair.left) || isStored(pair.right))
    return std::nullopt;
  for (Value factor : {pair.left, pair.right})
    pair.bytes += plan::denseBytes(cast<ShapedType>(factor.getType()));
  auto step = gradient->getParentOfType<nn::StepOp>();
  for (auto other : step.getOps<sync::GradientOp>())
    if (other != gradient && ridesWith(other, pair))
      pair.riders.push_back(other);
  return pair;
}

} // namespace syncline
