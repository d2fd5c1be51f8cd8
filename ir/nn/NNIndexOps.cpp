// Verifies operations that go by numbers which are a tensor themselves (NN47 and NN48).
#include "ir/nn/NN.h"
#include "ir/nn/Shapes.h"

#include "syncline/ScatterKind.h"

using namespace mlir;
using namespace syncline::nn;

static DimsRef shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

/// NN47: `rows` are entries of dimension `axis` of `whole`.
template <typename Op>
static LogicalResult verifyRows(Op op, DimsRef whole, Value indices, DimsRef rows) {
  const Type element = cast<RankedTensorType>(indices.getType()).getElementType();
  if (!element.isInteger(64) && !isa<FloatType>(element))
    return op.emitOpError("NN47: expected indices of i64 or floating point, got ")
           << indices.getType();
  const auto axis = static_cast<std::int64_t>(op.getAxis());
  const auto shared = static_cast<std::int64_t>(op.getShared());
  const DimsRef numbers = shapeOf(indices);
  if (axis < 0 || axis >= static_cast<std::int64_t>(whole.size()) || shared < 0 || shared > axis ||
      shared > static_cast<std::int64_t>(numbers.size()) ||
      numbers.take_front(shared) != whole.take_front(shared))
    return op.emitOpError("NN47: expected an axis within ")
           << toString(whole) << " and indices that share the first " << shared
           << " dimensions, got axis " << axis << " and " << toString(numbers);
  Dims wanted(whole.take_front(axis));
  llvm::append_range(wanted, numbers.drop_front(shared));
  llvm::append_range(wanted, whole.drop_front(axis + 1));
  if (rows != DimsRef(wanted))
    return op.emitOpError("NN47: expected entries of shape ")
           << toString(wanted) << ", got " << toString(rows);
  return success();
}

LogicalResult GatherRowsOp::verify() {
  return verifyRows(*this, shapeOf(getX()), getIndices(), shapeOf(getY()));
}

LogicalResult ScatterRowsOp::verify() {
  if (getOnto() && getOnto().getType() != getY().getType())
    return emitOpError("NN47: expected updates of ")
           << getY().getType() << ", got " << getOnto().getType();
  if (getKind() > static_cast<std::uint64_t>(syncline::ScatterKind::minimum))
    return emitOpError("NN47: expected a kind from 0 to 4, got ") << getKind();
  return verifyRows(*this, shapeOf(getY()), getIndices(), shapeOf(getUpdates()));
}

LogicalResult TopKOp::verify() {
  const DimsRef x = shapeOf(getX()), y = shapeOf(getValues());
  if (x.empty() || y.size() != x.size() || y.drop_back() != x.drop_back() || y.back() < 1 ||
      y.back() > x.back() || getIndices().getType() != getValues().getType())
    return emitOpError("NN48: expected results of 1 to ")
           << (x.empty() ? 0 : x.back()) << " entries of the last dimension, got "
           << getValues().getType() << " and " << getIndices().getType();
  return success();
}
