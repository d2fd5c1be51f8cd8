// Finds gradients that are products over samples, and their piggybacks.
#include "passes/merge/Factors.h"

#include "ir/plan/Plan.h"

using namespace mlir;

namespace syncline::merge {

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

/// Whether the operation sums a product over dimension 0 of both operands, and does nothing else.
static bool sumsOverSamples(Value product) {
  if (auto weights = product.getDefiningOp<nn::ConvBackwardWeightsOp>())
    return product == weights.getDw();
  if (auto rows = product.getDefiningOp<nn::EmbeddingBackwardOp>())
    return !rows.getOnto();
  auto matmul = product.getDefiningOp<nn::MatmulOp>();
  const auto isMatrix = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getRank() == 2;
  };
  return matmul && isMatrix(matmul.getA()) && isMatrix(matmul.getB()) && matmul.getTransposeA() &&
         !matmul.getTransposeB() && !matmul.getBias() &&
         matmul.getActivation() == nn::Activation::none;
}

/// The value that the gradient is a sum of over, at least, the dimension that is gathered: a
/// tensor, or the bias's gradient that a convolution sums itself. Null where the gradient is no
/// such sum.
static Value summedBy(sync::GradientOp gradient) {
  const Value sum = withoutCopies(gradient.getLocal());
  if (auto weights = sum.getDefiningOp<nn::ConvBackwardWeightsOp>())
    return sum == weights.getDbias() ? sum : Value();
  auto reduce = sum.getDefiningOp<nn::ReduceOp>();
  if (!reduce || reduce.getKind() != nn::Reduction::sum || !llvm::is_contained(reduce.getAxes(), 0))
    return {};
  const Value source = withoutReshapes(reduce.getX());
  return source.getDefiningOp<nn::ConvBackwardWeightsOp>() ? Value() : source;
}

/// The values whose sums can be piggybacks of the pair.
static llvm::SmallVector<Value, 3> summedBeside(const FactorPair &pair) {
  llvm::SmallVector<Value, 3> sources{withoutReshapes(pair.left)};
  if (Value right = withoutReshapes(pair.right); right != sources.front())
    sources.push_back(right);
  if (auto weights = dyn_cast<nn::ConvBackwardWeightsOp>(pair.product);
      weights && weights.getDbias())
    sources.push_back(weights.getDbias());
  return sources;
}

bool isPiggybackOf(sync::GradientOp gradient, const FactorPair &pair) {
  const Value source = summedBy(gradient);
  return source && llvm::is_contained(summedBeside(pair), source);
}

Piggybacks::Piggybacks(nn::StepOp step) {
  for (auto [place, gradient] : llvm::enumerate(step.getOps<sync::GradientOp>()))
    if (Value source = summedBy(gradient))
      sumsOf[source].push_back({place, gradient});
}

llvm::SmallVector<sync::GradientOp> Piggybacks::of(sync::GradientOp carrier,
                                                   const FactorPair &pair) const {
  llvm::SmallVector<Sum, 4> found;
  for (Value source : summedBeside(pair))
    if (auto sums = sumsOf.find(source); sums != sumsOf.end())
      llvm::append_range(found, sums->second);
  llvm::sort(found, [](const Sum &a, const Sum &b) { return a.place < b.place; });
  llvm::SmallVector<sync::GradientOp> piggybacks;
  for (const Sum &sum : found)
    if (sum.gradient != carrier)
      piggybacks.push_back(sum.gradient);
  return piggybacks;
}

cluster::Scheme FactorPair::scheme() const {
  return isa<nn::EmbeddingBackwardOp>(product) ? cluster::Scheme::sparse : cluster::Scheme::factors;
}

double FactorPair::share() const {
  if (!isa<nn::EmbeddingBackwardOp>(product))
    return 1;
  const auto own = static_cast<double>(bytes);
  const std::int64_t table = plan::denseBytes(cast<ShapedType>(product->getResult(0).getType()));
  return own / (own + static_cast<double>(table));
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
  return pair;
}

} // namespace syncline::merge
