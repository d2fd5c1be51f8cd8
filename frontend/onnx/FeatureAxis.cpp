// Goes over the step from the inputs on and notes where each operation has its features.
#include "frontend/onnx/FeatureAxis.h"

#include "frontend/onnx/ValueTypes.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

using Axis = std::optional<std::int64_t>;

/// Where dimension `axis` of shape `from` is in shape `to`, which has the same elements; nothing
/// where it is joined with others or divided.
static Axis reshapedAxis(nn::DimsRef from, nn::DimsRef to, std::int64_t axis) {
  std::size_t i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    if (from[i] != to[j] && (from[i] == 1 || to[j] == 1)) {
      from[i] == 1 ? ++i : ++j;
      continue;
    }
    const std::size_t firstFrom = i, firstTo = j;
    std::int64_t left = from[i++], right = to[j++];
    while (left != right) {
      if (left < right ? i == from.size() : j == to.size())
        return std::nullopt;
      left < right ? left *= from[i++] : right *= to[j++];
    }
    const auto at = static_cast<std::size_t>(axis);
    if (at >= firstFrom && at < i)
      return i - firstFrom == 1 && j - firstTo == 1 ? Axis(firstTo) : std::nullopt;
  }
  return std::nullopt;
}

namespace {

class Features {
public:
  /// Takes note of an operation whose operands have been seen.
  void see(Operation &op) {
    const bool isInput = isa<nn::InputOp>(op);
    if (op.getNumResults() == 0 ||
        !(isInput || llvm::any_of(op.getOperands(), [&](Value v) { return isComputed(v); })))
      return;
    for (Value result : op.getResults())
      axes[result] = std::nullopt;
    if (!isInput)
      axes[op.getResult(0)] = axisOf(op);
    if (auto recurrent = dyn_cast<nn::RecurrentOp>(op))
      axes[recurrent.getLast()] = 3;
  }

  Axis of(Value value) const { return axes.lookup(value); }

private:
  /// Whether the value depends on an input: others are weights and constants.
  bool isComputed(Value value) const { return axes.contains(value); }

  Axis axisOf(Operation &op) const {
    return llvm::TypeSwitch<Operation *, Axis>(&op)
        .Case([&](nn::AxesOpInterface o) {
          const Axis axis = o.getFeatureAxis();
          return axis ? axis : of(o->getOperand(0));
        })
        .Case([](nn::RecurrentOp) { return Axis(2); })
        .Case([](nn::EmbeddingOp o) { return rankOf(o->getResult(0)) - 1; })
        .Case([&](nn::GatherRowsOp o) { return ofGathered(o); })
        .Case([&](nn::ScatterRowsOp o) { return o.getOnto() ? of(o.getOnto()) : Axis(); })
        .Case([&](nn::MatmulOp o) { return ofProduct(o); })
        .Case([&](nn::TransposeOp o) { return ofTransposed(o); })
        .Case([&](nn::ReshapeOp o) {
          const Axis axis = of(o.getX());
          return axis ? reshapedAxis(shapeOf(o.getX()), shapeOf(o.getY()), *axis) : axis;
        })
        .Case([&](nn::ReduceOp o) { return ofReduced(o); })
        .Default([&](Operation *o) { return ofOperands(*o); });
  }

  Axis ofProduct(nn::MatmulOp product) const {
    const bool isWeighted = isComputed(product.getA()) != isComputed(product.getB());
    if (!isWeighted)
      return std::nullopt; // of two computed values, as in attention
    const std::int64_t rank = rankOf(product.getY());
    const bool isLeft = isComputed(product.getA());
    const std::int64_t made = isLeft ? rank - 1 : rank - 2, other = isLeft ? rank - 2 : rank - 1;
    const Value data = isLeft ? product.getA() : product.getB();
    const bool isTransposed = isLeft ? product.getTransposeA() : product.getTransposeB();
    const bool overPositions =
        rank > 2 && rankOf(data) == rank && of(data) == (isTransposed ? made : other);
    return overPositions ? other : made;
  }

  Axis ofGathered(nn::GatherRowsOp op) const {
    const Axis axis = of(op.getX());
    const auto replaced = static_cast<std::int64_t>(op.getAxis());
    const std::int64_t named = rankOf(op.getY()) - rankOf(op.getX()) + 1;
    if (axis && *axis == replaced && named != 1)
      return std::nullopt;
    return axis && *axis > replaced ? *axis + named - 1 : axis;
  }

  Axis ofTransposed(nn::TransposeOp op) const {
    const Axis axis = of(op.getX());
    const auto order = op.getPermutation();
    const auto *place = axis ? llvm::find(order, *axis) : order.end();
    return place == order.end() ? Axis() : place - order.begin();
  }

  Axis ofReduced(nn::ReduceOp op) const {
    const Axis axis = of(op.getX());
    if (!axis || llvm::is_contained(op.getAxes(), *axis))
      return std::nullopt;
    if (rankOf(op.getY()) == rankOf(op.getX()))
      return axis;
    return *axis - llvm::count_if(op.getAxes(), [&](std::int64_t a) { return a < *axis; });
  }

  /// What the operands agree on; they have the result's last dimensions.
  Axis ofOperands(Operation &op) const {
    Axis common;
    for (Value operand : op.getOperands()) {
      Axis axis = of(operand);
      if (!axis)
        continue;
      *axis += rankOf(op.getResult(0)) - rankOf(operand);
      if (common && common != axis)
        return std::nullopt;
      common = axis;
    }
    return common;
  }

  llvm::DenseMap<Value, Axis> axes;
};

} // namespace

Axis frontend::featureAxis(Value output) {
  Features features;
  for (Operation &op : *output.getParentBlock())
    features.see(op);
  return features.of(output);
}
