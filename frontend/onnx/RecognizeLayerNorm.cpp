// Matches from the product with the scale back to x. One operation in place of nine keeps one
// tensor for the backward pass in place of four, and sums in double.
#include "frontend/onnx/RecognizeLayerNorm.h"

#include "ir/nn/NN.h"
#include "ir/nn/Shapes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

#include <optional>

using namespace syncline;
using namespace mlir;

namespace {

struct Normalized {
  Value x;
  APFloat epsilon;
  std::int64_t rank; ///< of the normalized dimensions
};

/// The operation that makes the value, if it is a binary one of this kind.
nn::BinaryOp binary(Value value, nn::BinaryKind kind) {
  auto op = value.getDefiningOp<nn::BinaryOp>();
  return op && op.getKind() == kind ? op : nn::BinaryOp();
}

nn::UnaryOp unary(Value value, nn::UnaryKind kind) {
  auto op = value.getDefiningOp<nn::UnaryOp>();
  return op && op.getKind() == kind ? op : nn::UnaryOp();
}

nn::DimsRef dimsOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

/// The mean over the last dimensions, kept as ones; its operand and how many dimensions.
std::optional<std::pair<Value, std::int64_t>> lastMean(Value value) {
  auto reduce = value.getDefiningOp<nn::ReduceOp>();
  if (!reduce || reduce.getKind() != nn::Reduction::mean)
    return std::nullopt;
  const nn::DimsRef axes = reduce.getAxes();
  const auto rank = static_cast<std::int64_t>(dimsOf(reduce.getX()).size());
  const auto count = static_cast<std::int64_t>(axes.size());
  nn::Dims sorted(axes);
  llvm::sort(sorted);
  for (std::int64_t i = 0; i < count; ++i)
    if (sorted[i] != rank - count + i)
      return std::nullopt;
  if (static_cast<std::int64_t>(dimsOf(value).size()) != rank || count == 0)
    return std::nullopt;
  return std::pair(reduce.getX(), count);
}

/// The operand of a square: a power of two or a product with itself.
Value squared(Value value) {
  if (auto power = unary(value, nn::UnaryKind::pow); power && power.getAlpha().isExactlyValue(2))
    return power.getX();
  auto product = binary(value, nn::BinaryKind::mul);
  return product && product.getA() == product.getB() ? product.getA() : Value();
}

/// The variance of `difference` in variance + epsilon, whose root divides it.
std::optional<APFloat> epsilonIn(Value sum, Value difference, std::int64_t rank) {
  auto add = binary(sum, nn::BinaryKind::add);
  if (!add)
    return std::nullopt;
  for (auto [variance, constant] :
       {std::pair(add.getA(), add.getB()), std::pair(add.getB(), add.getA())}) {
    DenseFPElementsAttr values;
    const auto mean = lastMean(variance);
    if (mean && mean->second == rank && squared(mean->first) == difference &&
        matchPattern(constant, m_Constant(&values)) && values.isSplat() &&
        !values.getSplatValue<APFloat>().isNegative())
      return values.getSplatValue<APFloat>();
  }
  return std::nullopt;
}

/// What (x - mean)/sqrt(variance + epsilon) is computed from.
std::optional<Normalized> normalized(Value value) {
  auto quotient = binary(value, nn::BinaryKind::div);
  if (!quotient)
    return std::nullopt;
  auto difference = binary(quotient.getA(), nn::BinaryKind::sub);
  auto root = unary(quotient.getB(), nn::UnaryKind::sqrt);
  if (!difference || !root)
    return std::nullopt;
  const auto mean = lastMean(difference.getB());
  if (!mean || mean->first != difference.getA() || difference.getType() != mean->first.getType())
    return std::nullopt;
  const auto epsilon = epsilonIn(root.getX(), difference, mean->second);
  if (!epsilon)
    return std::nullopt;
  return Normalized{mean->first, *epsilon, mean->second};
}

/// Replaces the product of a normalized tensor and a scale, and the sum behind it.
void recognizeAt(nn::BinaryOp product) {
  if (product.getKind() != nn::BinaryKind::mul)
    return;
  for (auto [value, scale] :
       {std::pair(product.getA(), product.getB()), std::pair(product.getB(), product.getA())}) {
    const auto found = normalized(value);
    if (!found || dimsOf(scale) != dimsOf(found->x).take_back(found->rank))
      continue;
    nn::BinaryOp last = product;
    Value shift;
    if (product->hasOneUse())
      if (auto sum = dyn_cast<nn::BinaryOp>(*product->user_begin());
          sum && sum.getKind() == nn::BinaryKind::add) {
        const Value other = sum.getA() == product.getY() ? sum.getB() : sum.getA();
        if (other.getType() == scale.getType()) {
          shift = other;
          last = sum;
        }
      }
    OpBuilder builder(last);
    bool inexact;
    APFloat epsilon = found->epsilon;
    epsilon.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
    auto norm = builder.create<nn::LayerNormOp>(last.getLoc(), found->x.getType(), found->x, scale,
                                                shift, epsilon);
    norm->setAttr(nn::layerAttr, last->getAttr(nn::layerAttr));
    last.getY().replaceAllUsesWith(norm.getY());
    return;
  }
}

} // namespace

void frontend::recognizeLayerNorms(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block))
    if (auto product = dyn_cast<nn::BinaryOp>(op))
      recognizeAt(product);
}
