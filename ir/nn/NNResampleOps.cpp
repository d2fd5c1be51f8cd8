// Verifies operations that resize dimensions (NN18).
#include "ir/nn/NN.h"
#include "ir/nn/Shapes.h"

using namespace mlir;
using namespace syncline::nn;

static DimsRef shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

/// NN18: `from` and `to` are the shapes of the resample's operand and result.
template <typename Op> static LogicalResult verifyResample(Op op, DimsRef from, DimsRef to) {
  const DimsRef axes = op.getAxes(), coordinates = op.getCoordinates();
  if (from.size() != to.size())
    return op.emitOpError("NN18: expected operand and result of one rank");
  std::size_t next = 0;
  for (auto [i, sizes] : llvm::enumerate(llvm::zip(from, to))) {
    const auto [before, after] = sizes;
    const bool isResized = next < axes.size() && axes[next] == static_cast<std::int64_t>(i);
    next += isResized;
    if (!isResized && before != after)
      return op.emitOpError("NN18: dimension ")
             << i << " is not resized, but " << before << " becomes " << after;
    if (isResized && (before < 1 || after < 1))
      return op.emitOpError("NN18: expected sizes of at least 1 in dimension ") << i;
  }
  if (axes.empty() || axes.size() > 3 || next != axes.size())
    return op.emitOpError("NN18: expected 1 to 3 ascending axes within the rank, got ")
           << toString(axes);
  if (coordinates.size() != 3 * axes.size())
    return op.emitOpError("NN18: expected three coordinates an axis");
  constexpr std::int64_t most = std::int64_t(1) << 31;
  for (std::size_t i = 0; i < coordinates.size(); i += 3)
    if (coordinates[i] < 0 || coordinates[i] > most || std::abs(coordinates[i + 1]) > most * most ||
        coordinates[i + 2] < 1 || coordinates[i + 2] > most)
      return op.emitOpError("NN18: coordinates of axis ") << axes[i / 3] << " are beyond the range";
  if (op.getFilter() > 5)
    return op.emitOpError("NN18: expected a filter from 0 to 5, got ") << op.getFilter();
  return success();
}

LogicalResult ResampleOp::verify() {
  return verifyResample(*this, shapeOf(getX()), shapeOf(getY()));
}

LogicalResult ResampleBackwardOp::verify() {
  return verifyResample(*this, shapeOf(getDx()), shapeOf(getDy()));
}
