// Trilu: the upper or lower triangles of matrices that a step computes.
#include "frontend/onnx/OpTable.h"

#include <algorithm>

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

/// The diagonal up to which, or from which, elements stay; within the matrix or right beside it.
static FailureOr<std::int64_t> diagonalOf(NodeImport &node, std::int64_t rows,
                                          std::int64_t columns) {
  if (!node.hasInput(1))
    return 0;
  const ConstantTensor *k = node.constant(1);
  if (!k || k->isReal() || k->size() != 1)
    return node.error("expected a constant integer as k, got '" + node.inputName(1) + "'");
  return std::clamp(k->ints[0], -rows, columns);
}

/// first, first + 1, .. as a constant of this shape.
static Value counted(NodeImport &node, std::int64_t first, nn::DimsRef dims, Type element) {
  llvm::SmallVector<APFloat> values;
  for (std::int64_t i = 0; i < nn::elementCount(dims); ++i)
    values.push_back(
        cast<FloatAttr>(FloatAttr::get(element, static_cast<double>(first + i))).getValue());
  const auto type = RankedTensorType::get(dims, element);
  return node.create<nn::ConstantOp>(type, DenseElementsAttr::get(type, values));
}

// A mask from the numbers of rows and columns, which a loop computes: it needs no memory.
static FailureOr<Value> triangleOf(NodeImport &node, Value x, std::int64_t diagonal, bool isUpper) {
  constexpr std::int64_t exact = 1 << 24; // as f32
  const nn::DimsRef dims = shapeOf(x);
  const std::int64_t rows = dims[dims.size() - 2], columns = dims.back();
  if (rows > exact || columns > exact)
    return node.error("expected at most " + llvm::Twine(exact) + " rows and columns, got " +
                      nn::toString(dims.take_back(2)));
  using Kind = nn::BinaryKind;
  // Positive where column - row >= diagonal, or where it is <= diagonal.
  Value row = counted(node, isUpper ? diagonal - 1 : diagonal + 1, {rows, 1}, elementOf(x));
  Value column = counted(node, 0, {columns}, elementOf(x));
  Value kept = *(isUpper ? createBinary(node, Kind::sub, column, row)
                         : createBinary(node, Kind::sub, row, column));
  kept = node.create<nn::UnaryOp>(kept.getType(), nn::UnaryKind::clip, kept, llvm::APFloat(0.0),
                                  llvm::APFloat(1.0));
  return createBinary(node, Kind::mask, x, kept);
}

LogicalResult frontend::importTriangle(NodeImport &node) {
  const bool isWhole = isWholeOperand(node, 0);
  Value x = isWhole ? realOperand(node, 0) : node.tensor(0);
  if (!x || !isa<FloatType>(elementOf(x)))
    return node.error("operand '" + node.inputName(0) + "' cannot be computed with");
  const nn::DimsRef dims = shapeOf(x);
  if (dims.size() < 2)
    return node.error("expected matrices, got shape " + nn::toString(dims));
  const std::int64_t rows = dims[dims.size() - 2], columns = dims.back();
  SYNCLINE_TRY_MLIR(diagonal, diagonalOf(node, rows, columns));
  const bool isUpper = node.integer("upper", 1) != 0;
  if (isUpper ? *diagonal <= 1 - rows : *diagonal >= columns - 1)
    return node.defineAlias();
  SYNCLINE_TRY_MLIR(triangle, triangleOf(node, x, *diagonal, isUpper));
  if (!isWhole)
    return node.define(*triangle);
  std::optional<WholeBounds> bounds = node.state.values.boundsOf(node.inputName(0));
  if (bounds)
    bounds = {std::min<std::int64_t>(bounds->least, 0), std::max<std::int64_t>(bounds->most, 0)};
  return defineWhole(node, triangle, node.state.values.wholeType(node.inputName(0)), bounds);
}
