// IsNaN and IsInf. PyTorch asks for a softmax's NaN, and writes zeros in place of the rows that a
// mask hides wholly.
#include "frontend/onnx/OpTable.h"
#include "ir/nn/Derivatives.h"

#include "llvm/ADT/DenseSet.h"

#include "onnx/onnx_pb.h"

#include <limits>

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;
using Kind = nn::BinaryKind;

static constexpr double largest = std::numeric_limits<float>::max();

/// Whether the value has a derivative with respect to a parameter.
static bool isTrained(Value value) {
  llvm::SmallVector<Value> pending{value};
  llvm::DenseSet<Value> seen;
  while (!pending.empty()) {
    auto next = dyn_cast<OpResult>(pending.pop_back_val());
    if (!next || !nn::hasDerivative(next) || !seen.insert(next).second)
      continue;
    if (isa<nn::ParameterOp>(next.getOwner()))
      return true;
    for (OpOperand &operand : next.getOwner()->getOpOperands())
      if (nn::hasDerivative(operand))
        pending.push_back(operand.get());
  }
  return false;
}

/// The operand of scores + mask that is not trained and has a number for each place; null where the
/// value is no such sum.
static Value maskIn(nn::BinaryOp sum) {
  if (!sum || sum.getKind() != Kind::add)
    return {};
  for (Value operand : {sum.getB(), sum.getA()})
    if (!shapeOf(operand).empty() && shapeOf(operand).back() == shapeOf(sum.getY()).back() &&
        !isTrained(operand))
      return operand;
  return {};
}

static DenseFPElementsAttr constantIn(Value value) {
  auto constant = value.getDefiningOp<nn::ConstantOp>();
  return constant ? dyn_cast<DenseFPElementsAttr>(constant.getValue()) : nullptr;
}

/// Whether each element of the mask is minus infinity; unset where it is not known. A constant's
/// infinities are added to it, chosen by ones: see GraphValues::infiniteTensor.
static std::optional<llvm::SmallVector<bool>> hiddenPlaces(Value mask) {
  llvm::SmallVector<bool> hidden;
  auto sum = mask.getDefiningOp<nn::BinaryOp>();
  if (!sum) {
    const DenseFPElementsAttr values = constantIn(mask);
    if (!values)
      return std::nullopt;
    for (const APFloat &value : values)
      hidden.push_back(value.isInfinity() && value.isNegative());
    return hidden;
  }
  auto added = sum.getB().getDefiningOp<nn::BinaryOp>();
  if (sum.getKind() != Kind::add || !added || added.getKind() != Kind::mask)
    return std::nullopt;
  const DenseFPElementsAttr number = constantIn(added.getA()), chosen = constantIn(added.getB());
  std::optional<llvm::SmallVector<bool>> rest = hiddenPlaces(sum.getA());
  if (!rest || !number || !number.isSplat() || !chosen ||
      chosen.getNumElements() != static_cast<std::int64_t>(rest->size()))
    return std::nullopt;
  const APFloat value = number.getSplatValue<APFloat>();
  size_t at = 0;
  for (const APFloat &one : chosen)
    (*rest)[at++] |= !one.isZero() && value.isInfinity() && value.isNegative();
  return rest;
}

/// Whether the mask is known and leaves every row a place.
static bool keepsAllRows(Value mask) {
  if (auto all = mask.getDefiningOp<nn::BroadcastOp>(); all && !shapeOf(all.getX()).empty())
    mask = all.getX(); // its rows repeat
  const auto hidden = hiddenPlaces(mask);
  if (!hidden)
    return false;
  const auto length = static_cast<size_t>(shapeOf(mask).back());
  for (size_t row = 0; row < hidden->size(); row += length)
    if (llvm::all_of(llvm::ArrayRef(*hidden).slice(row, length),
                     [](bool isHidden) { return isHidden; }))
      return false;
  return true;
}

static Value clip(NodeImport &node, Value x, double least, double most) {
  return node.create<nn::UnaryOp>(x.getType(), nn::UnaryKind::clip, x, llvm::APFloat(least),
                                  llvm::APFloat(most));
}

static Value combined(NodeImport &node, Kind kind, Value a, Value b) {
  return *createBinary(node, kind, a, b);
}

/// One where the mask is minus infinity in a whole row: [..., 1].
static Value hiddenRows(NodeImport &node, Value mask) {
  // Halved, so that a row of least finite numbers, which hides nothing, counts.
  Value half = combined(node, Kind::mul, mask, node.scalar(0.5, mask));
  Value kept = combined(node, Kind::add, half, node.scalar(largest, mask));
  kept = clip(node, kept, 0, 1);
  const nn::Dims axes{static_cast<std::int64_t>(shapeOf(mask).size()) - 1};
  auto type = RankedTensorType::get(nn::reducedShape(shapeOf(mask), axes, /*keepDims=*/true),
                                    elementOf(mask));
  Value any = node.create<nn::ReduceOp>(type, nn::Reduction::sum, kept, axes);
  any = clip(node, any, 0, 1);
  return combined(node, Kind::sub, node.scalar(1, any), any);
}

static LogicalResult defineTruth(NodeImport &node, Value truth) {
  if (failed(node.define(truth)))
    return failure();
  if (node.isUsed(0))
    node.state.values.setWhole(node.proto.output(0), onnx::TensorProto::BOOL, WholeBounds{0, 1});
  return success();
}

static LogicalResult importIsNanOf(NodeImport &node, Value x) {
  Value isNumber = combined(node, Kind::not_less, x, x);
  return defineTruth(node, combined(node, Kind::sub, node.scalar(1, isNumber), isNumber));
}

// The mask's infinities become the least finite number: softmax's row is then finite where it is
// hidden, and so is its derivative, which zeros in its place would not make so.
LogicalResult frontend::importIsNan(NodeImport &node) {
  Value x = realOperand(node, 0);
  if (!x)
    return failure();
  if (Value known = node.state.whereNan.lookup(x))
    return defineTruth(node, known);
  auto softmax = x.getDefiningOp<nn::SoftmaxOp>();
  if (!softmax)
    return importIsNanOf(node, x);
  auto sum = softmax.getX().getDefiningOp<nn::BinaryOp>();
  Value mask = maskIn(sum);
  if (!mask || softmax.getAxis() + 1 != shapeOf(x).size())
    return node.error("expected a softmax over the last dimension of scores and a mask that is "
                      "added to them; others are not supported");
  if (keepsAllRows(mask)) {
    ConstantTensor no;
    no.type = onnx::TensorProto::BOOL;
    no.dims.assign(shapeOf(x).size(), 1);
    no.ints = {0};
    return node.defineConstant(std::move(no));
  }
  Value hidden = hiddenRows(node, mask);
  Value truth = node.create<nn::BroadcastOp>(x.getType(), hidden);
  node.state.values.layout.set(truth, node.state.values.layout.of(x)); // it has x's shape
  Value scores = sum.getA() == mask ? sum.getB() : sum.getA();
  Value finite = clip(node, mask, -largest, largest);
  Value masked = combined(node, Kind::add, scores, finite);
  for (Value made : {finite, masked})
    made.getDefiningOp()->moveBefore(softmax);
  softmax.getXMutable().assign(masked);
  node.state.whereNan[x] = truth;
  return defineTruth(node, truth);
}

// Half of an infinity is not less than the largest finite number; half of every other number is.
LogicalResult frontend::importIsInfinite(NodeImport &node) {
  const bool isPositive = node.integer("detect_positive", 1) != 0;
  const bool isNegative = node.integer("detect_negative", 1) != 0;
  Value x = realOperand(node, 0);
  if (!x)
    return failure();
  const auto apply = [&](nn::UnaryKind kind) -> Value {
    return node.create<nn::UnaryOp>(x.getType(), kind, x, llvm::APFloat(0.0), llvm::APFloat(0.0));
  };
  Value size = x;
  if (isPositive && isNegative)
    size = apply(nn::UnaryKind::abs);
  else if (isNegative)
    size = apply(nn::UnaryKind::neg);
  else if (!isPositive)
    size = combined(node, Kind::mask, x, node.scalar(0, x));
  Value half = combined(node, Kind::mul, size, node.scalar(0.5, x));
  return defineTruth(node, combined(node, Kind::not_less, half, node.scalar(largest, x)));
}
