// Verifies recurrent layers (NN23).
#include "ir/nn/NN.h"
#include "ir/nn/Shapes.h"

#include "syncline/RecurrentCell.h"

using namespace mlir;
using namespace syncline;
using namespace syncline::nn;

static DimsRef shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

namespace {

struct Expected {
  StringRef what;
  Value value;
  Dims dims;
};

} // namespace

static LogicalResult expectShapes(Operation *op, ArrayRef<Expected> all) {
  for (const Expected &one : all)
    if (shapeOf(one.value) != DimsRef(one.dims))
      return op->emitOpError("NN23: expected ") << one.what << " of shape " << toString(one.dims)
                                                << ", got " << toString(shapeOf(one.value));
  return success();
}

/// Checks what both operations have. `x` and `y` may be gradients.
template <typename Op>
static LogicalResult verifyRecurrent(Op op, Value x, Value y, Value bias, Value last) {
  const std::uint64_t number = op.getCell();
  if (number >= static_cast<std::uint64_t>(recurrentCells))
    return op.emitOpError("NN23: expected a cell from 0 to 4, got ") << number;
  const auto cell = static_cast<RecurrentCell>(number);
  const DimsRef r = shapeOf(op.getR()), steps = shapeOf(x);
  if (r.size() != 3 || r[0] < 1 || r[0] > 2 || (r[0] == 2 && op.getReverse()) || r[2] < 1 ||
      r[1] != gatesOf(cell) * r[2])
    return op.emitOpError("NN23: expected r of one or two directions, ")
           << gatesOf(cell) << " gates of as many rows as it has columns, got " << toString(r);
  if (steps.size() != 3)
    return op.emitOpError("NN23: expected x of rank 3, got ") << toString(steps);
  const Value lengths = op.getLengths();
  if (lengths && !cast<RankedTensorType>(lengths.getType()).getElementType().isInteger(64))
    return op.emitOpError("NN23: expected lengths of i64, got ") << lengths.getType();
  const std::int64_t t = steps[0], b = steps[1], d = r[0], size = r[2];
  llvm::SmallVector<Expected> all{{"x", x, {t, b, d * r[1]}},
                                  {"y", y, {t, b, d * size}},
                                  {"a bias", bias, {d, 2 * r[1]}},
                                  {"states", op.getInitial(), {statesOf(cell), d, b, size}},
                                  {"states", last, {statesOf(cell), d, b, size}},
                                  {"saved", op.getSaved(), {d, t, b, savedOf(cell) * size}}};
  if (lengths)
    all.push_back({"lengths", lengths, {b}});
  return expectShapes(op, all);
}

LogicalResult RecurrentOp::verify() {
  return verifyRecurrent(*this, getX(), getY(), getBias(), getLast());
}

LogicalResult RecurrentBackwardOp::verify() {
  return verifyRecurrent(*this, getDx(), getDy(), getDbias(), getDlast());
}
