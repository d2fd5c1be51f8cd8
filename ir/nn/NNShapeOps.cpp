// Verifies operations that move or reduce elements (NN40 to NN46).
#include "ir/nn/NN.h"
#include "ir/nn/Shapes.h"

using namespace mlir;
using namespace syncline::nn;

static DimsRef shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

LogicalResult ReshapeOp::verify() {
  if (elementCount(shapeOf(getX())) != elementCount(shapeOf(getY())))
    return emitOpError("NN40: expected as many elements in ")
           << getY().getType() << " as in " << getX().getType();
  return success();
}

/// Folds two reshapes into one, and removes a reshape that changes nothing.
OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (getX().getType() == getY().getType())
    return getX();
  auto before = getX().getDefiningOp<ReshapeOp>();
  if (!before)
    return {};
  getXMutable().assign(before.getX());
  return getY();
}

LogicalResult TransposeOp::verify() {
  DimsRef x = shapeOf(getX()), y = shapeOf(getY()), order = getPermutation();
  Dims sorted(order);
  llvm::sort(sorted);
  for (auto [i, d] : llvm::enumerate(sorted))
    if (d != static_cast<std::int64_t>(i))
      return emitOpError("NN41: expected a permutation of the dimensions, got ") << toString(order);
  if (order.size() != x.size() || y.size() != x.size())
    return emitOpError("NN41: expected operand, result and permutation of one rank");
  for (size_t i = 0; i < y.size(); ++i)
    if (y[i] != x[order[i]])
      return emitOpError("NN41: dimension ") << i << " of the result should be " << x[order[i]];
  return success();
}

LogicalResult ConcatOp::verify() {
  DimsRef y = shapeOf(getY());
  auto axis = static_cast<std::int64_t>(getAxis());
  if (getXs().empty() || axis < 0 || axis >= static_cast<std::int64_t>(y.size()))
    return emitOpError("NN42: expected operands and an axis within their rank");
  std::int64_t total = 0;
  for (Value x : getXs()) {
    Dims other(shapeOf(x));
    if (other.size() != y.size())
      return emitOpError("NN42: expected operands of the result's rank, got ") << x.getType();
    total += other[axis];
    other[axis] = y[axis];
    if (llvm::ArrayRef(other) != y)
      return emitOpError("NN42: operand ")
             << x.getType() << " differs from the result off axis " << axis;
  }
  if (total != y[axis])
    return emitOpError("NN42: expected ") << total << " along axis " << axis << ", got " << y[axis];
  return success();
}

/// NN43: every element that the small side names lies within the large side.
static LogicalResult verifySlice(Operation *op, DimsRef large, DimsRef small, DimsRef starts,
                                 DimsRef steps) {
  if (small.size() != large.size() || starts.size() != large.size() || steps.size() != large.size())
    return op->emitOpError("NN43: expected one start and one step a dimension");
  for (size_t i = 0; i < large.size(); ++i) {
    std::int64_t last = starts[i] + (small[i] - 1) * steps[i];
    if (steps[i] == 0 || starts[i] < 0 || starts[i] >= large[i] || last < 0 || last >= large[i])
      return op->emitOpError("NN43: dimension ") << i << " runs from " << starts[i] << " to "
                                                 << last << ", outside [0, " << large[i] << ")";
  }
  return success();
}

LogicalResult SliceOp::verify() {
  return verifySlice(*this, shapeOf(getX()), shapeOf(getY()), getStarts(), getSteps());
}

LogicalResult SliceBackwardOp::verify() {
  return verifySlice(*this, shapeOf(getDx()), shapeOf(getDy()), getStarts(), getSteps());
}

LogicalResult PadOp::verify() {
  if (shapeOf(getX()).size() != shapeOf(getY()).size() ||
      getBegins().size() != shapeOf(getX()).size())
    return emitOpError("NN44: expected operand, result and begins of one rank");
  return success();
}

LogicalResult ReduceOp::verify() {
  DimsRef x = shapeOf(getX()), y = shapeOf(getY());
  for (std::int64_t axis : getAxes())
    if (axis < 0 || axis >= static_cast<std::int64_t>(x.size()))
      return emitOpError("NN45: expected axes within the operand's rank, got ") << axis;
  Dims kept = reducedShape(x, getAxes(), true), dropped = reducedShape(x, getAxes(), false);
  if (y != llvm::ArrayRef(kept) && y != llvm::ArrayRef(dropped))
    return emitOpError("NN45: expected a result of shape ")
           << toString(kept) << " or " << toString(dropped) << ", got " << toString(y);
  return success();
}

static LogicalResult verifyEmbedding(Operation *op, Value ids, Value table, Value rows) {
  if (!cast<RankedTensorType>(ids.getType()).getElementType().isInteger(64))
    return op->emitOpError("NN46: expected ids of i64, got ") << ids.getType();
  const DimsRef whole = shapeOf(table);
  if (whole.size() < 2)
    return op->emitOpError("NN46: expected a table of rank 2 or more, got ") << table.getType();
  Dims wanted(shapeOf(ids));
  llvm::append_range(wanted, whole.drop_front());
  if (shapeOf(rows) != DimsRef(wanted))
    return op->emitOpError("NN46: expected rows of shape ")
           << toString(wanted) << ", got " << toString(shapeOf(rows));
  return success();
}

LogicalResult EmbeddingOp::verify() { return verifyEmbedding(*this, getIds(), getTable(), getY()); }

LogicalResult EmbeddingBackwardOp::verify() {
  if (getOnto() && getOnto().getType() != getDtable().getType())
    return emitOpError("NN46: expected rows to be added onto ")
           << getDtable().getType() << ", got " << getOnto().getType();
  return verifyEmbedding(*this, getIds(), getDtable(), getDy());
}
