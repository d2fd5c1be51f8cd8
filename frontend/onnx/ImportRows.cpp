// Gather: parts of a tensor, and entries of a dimension by known, given or computed numbers.
#include "frontend/onnx/IndexedRows.h"
#include "frontend/onnx/OpTable.h"
#include "frontend/onnx/ShapeRules.h"

#include "onnx/onnx_pb.h"

#include <limits>

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

/// Rows of a table by numbers that are an input, or its elements in other places.
static LogicalResult importEmbedding(NodeImport &node, Value table, Value ids) {
  nn::Dims dims(shapeOf(ids));
  llvm::append_range(dims, shapeOf(table).drop_front());
  SYNCLINE_TRY_MLIR(type, node.type(dims, table));
  return node.define(node.create<nn::EmbeddingOp>(*type, ids, table));
}

/// Rows of a table by numbers that are known at import, as relative positions are looked up.
LogicalResult frontend::importKnownRows(NodeImport &node, Value table, nn::DimsRef indices,
                                        nn::DimsRef idDims, BatchLayout::Place place) {
  const nn::Dims shape(shapeOf(table));
  if (shape.size() == 1) // nn.embedding's rows are vectors
    table = node.reshape(table, {shape[0], 1});
  Value ids = indexConstant(node, indices, idDims, place);
  nn::Dims dims(idDims), rows(idDims);
  llvm::append_range(dims, nn::DimsRef(shape).drop_front());
  llvm::append_range(rows, shapeOf(table).drop_front());
  SYNCLINE_TRY_MLIR(type, node.type(rows, table));
  return node.define(node.reshape(node.create<nn::EmbeddingOp>(*type, ids, table), dims));
}

FailureOr<Value> frontend::createOneHot(NodeImport &node, Value numbers, std::int64_t depth,
                                        std::int64_t axis) {
  llvm::SmallVector<float> places;
  for (std::int64_t place = 0; place < depth; ++place)
    places.push_back(static_cast<float>(place));
  nn::Dims dims(shapeOf(numbers)), alone{depth};
  alone.append(shapeOf(numbers).size() - axis, 1);
  auto type = RankedTensorType::get(alone, elementOf(numbers));
  Value place = node.create<nn::ConstantOp>(
      type, DenseElementsAttr::get(type, llvm::ArrayRef<float>(places)));
  dims.insert(dims.begin() + axis, 1);
  SYNCLINE_TRY_MLIR(difference,
                    createBinary(node, nn::BinaryKind::sub, node.reshape(numbers, dims), place));
  const auto unary = [&](nn::UnaryKind kind, Value x, double least, double most) {
    return node.create<nn::UnaryOp>(x.getType(), kind, x, llvm::APFloat(least),
                                    llvm::APFloat(most));
  };
  Value size = unary(nn::UnaryKind::abs, *difference, 0, 0);
  Value differs = unary(nn::UnaryKind::clip, size, 0, 1);
  return createBinary(node, nn::BinaryKind::sub, node.scalar(1, differs), differs);
}

/// The rows, infinite where there is none.
static FailureOr<Value> withInfinities(NodeImport &node, Value rows, Value ones) {
  const nn::Dims axes{static_cast<std::int64_t>(shapeOf(ones).size()) - 1};
  auto type = RankedTensorType::get(nn::reducedShape(shapeOf(ones), axes, /*keepDims=*/true),
                                    elementOf(ones));
  Value found = node.create<nn::ReduceOp>(type, nn::Reduction::sum, ones, axes);
  FailureOr<Value> missing = createBinary(node, nn::BinaryKind::sub, node.scalar(1, found), found);
  Value infinity = node.scalar(std::numeric_limits<double>::infinity(), rows);
  FailureOr<Value> added = failed(missing)
                               ? FailureOr<Value>()
                               : createBinary(node, nn::BinaryKind::mask, infinity, *missing);
  return failed(added) ? FailureOr<Value>() : createBinary(node, nn::BinaryKind::add, rows, *added);
}

/// Whether the numbers are known to be those of rows.
static bool areWithin(const std::optional<WholeBounds> &bounds, std::int64_t rows) {
  return bounds && bounds->least >= 0 && bounds->most < rows;
}

/// Rows of a small table by numbers that the step computes, as places of tokens that padding does
/// not count: a product with ones and zeros, so that ranks may gather its factors. A number that is
/// not known to be a row's makes an infinite row where it is none: nothing else checks it.
static LogicalResult importComputedRows(NodeImport &node, Value table, Value numbers) {
  const nn::Dims shape(shapeOf(table));
  nn::Dims dims(shapeOf(numbers));
  llvm::append_range(dims, nn::DimsRef(shape).drop_front());
  SYNCLINE_TRY_MLIR(type, node.type(dims, table));
  const std::int64_t width = nn::elementCount(shape) / shape[0];
  const std::optional<WholeBounds> bounds = node.state.values.boundsOf(node.inputName(1));
  if (!bounds || bounds->least < 0)
    numbers = fromFront(node, numbers, shape[0]);
  SYNCLINE_TRY_MLIR(ones, createOneHot(node, numbers, shape[0], rankOf(numbers)));
  SYNCLINE_TRY_MLIR(
      rows, createMatmul(node, *ones, false, node.reshape(table, {shape[0], width}), false, {}));
  if (!areWithin(bounds, shape[0]))
    rows = withInfinities(node, *rows, *ones);
  return failed(rows) ? failure() : node.define(node.reshape(*rows, dims));
}

bool frontend::areEven(nn::DimsRef indices) {
  const std::int64_t step = indices.size() > 1 ? indices[1] - indices[0] : 1;
  bool areEven = !indices.empty() && step != 0;
  for (std::size_t i = 1; i < indices.size(); ++i)
    areEven &= indices[i] - indices[i - 1] == step;
  return areEven;
}

LogicalResult frontend::importSlices(NodeImport &node, Value x, std::int64_t axis,
                                     nn::DimsRef indices, nn::DimsRef indexDims) {
  SliceRanges ranges = wholeRange(shapeOf(x));
  ranges.starts[axis] = indices[0];
  ranges.steps[axis] = indices.size() > 1 ? indices[1] - indices[0] : 1;
  ranges.counts[axis] = static_cast<std::int64_t>(indices.size());
  const bool isWhole = ranges.steps[axis] > 0 && ranges.counts == nn::Dims(shapeOf(x));
  SYNCLINE_TRY_MLIR(y, isWhole ? FailureOr<Value>(x) : createSlice(node, x, ranges));
  nn::Dims dims(nn::DimsRef(ranges.counts).take_front(axis));
  llvm::append_range(dims, indexDims);
  llvm::append_range(dims, nn::DimsRef(ranges.counts).drop_front(axis + 1));
  return node.define(node.reshape(*y, dims));
}

/// Fails where all numbers are known to be those of no entry.
static LogicalResult checkBounds(NodeImport &node, std::int64_t size) {
  const std::optional<WholeBounds> bounds = node.state.values.boundsOf(node.inputName(1));
  if (bounds && (bounds->most < -size || bounds->least >= size))
    return node.error("indices of " + llvm::Twine(bounds->least) + " to " +
                      llvm::Twine(bounds->most) + " do not fit a table of " + llvm::Twine(size) +
                      " rows");
  return success();
}

/// Entries of a dimension by numbers that are an input or that the step computes.
static LogicalResult importGivenRows(NodeImport &node, Value x, std::int64_t axis) {
  constexpr std::int64_t mostOnes = 4096; // in a row of a product
  const std::int64_t rows = shapeOf(x)[axis];
  Value numbers = indicesOf(node, 1);
  if (!numbers || failed(checkBounds(node, rows)))
    return failure();
  const BatchLayout::Place place = node.state.values.layout.of(x);
  const bool isTable = axis == 0 && shapeOf(x).size() > 1 && !place;
  if (isTable && elementOf(numbers).isInteger(64))
    return importEmbedding(node, x, numbers);
  if (isTable && rows <= mostOnes)
    return importComputedRows(node, x, numbers);
  if (place && place->dim == axis) { // samples may name their own rows
    numbers = node.state.values.real(node.inputName(1));
    if (!numbers)
      return node.error("indices '" + node.inputName(1) + "' cannot be computed with as f32");
  }
  const IndexedRows named = axis == 0 ? computedRows(node, shapeOf(x), place, numbers)
                                      : IndexedRows{nn::Dims(shapeOf(x)), numbers, axis, 0};
  nn::Dims dims(shapeOf(x).take_front(axis));
  llvm::append_range(dims, node.state.values.typeOf(node.inputName(1)).getShape());
  llvm::append_range(dims, shapeOf(x).drop_front(axis + 1));
  SYNCLINE_TRY_MLIR(y, createGatherRows(node, x, named));
  return node.define(node.reshape(*y, dims));
}

Value frontend::floatOperand(NodeImport &node) {
  Value x = node.tensor(0);
  if (x && !isa<FloatType>(elementOf(x)))
    x = node.state.values.real(node.inputName(0));
  if (!x || !isa<FloatType>(elementOf(x)))
    (void)node.error("operand '" + node.inputName(0) + "' cannot be computed with as f32");
  return node.failed() ? Value() : x;
}

// A Gather of one index, or of indices at even distances, is a slice.
static LogicalResult importGather(NodeImport &node) {
  SYNCLINE_TRY_MLIR(axis, gatherAxis(node, shapeOf(node.tensor(0)).size()));
  if (!node.constant(1)) {
    Value x = floatOperand(node);
    return x ? importGivenRows(node, x, *axis) : failure();
  }
  Value x = node.tensor(0);
  SYNCLINE_TRY_MLIR(indices, gatherIndices(node, shapeOf(x)[*axis]));
  const ConstantTensor &known = *node.constant(1);
  if (areEven(*indices))
    return importSlices(node, x, *axis, *indices, known.dims);
  if (indices->empty())
    return node.error("expected at least one index");
  x = floatOperand(node);
  const BatchLayout::Place place = node.state.values.layout.of(known);
  if (!x || *axis == 0)
    return x ? importKnownRows(node, x, *indices, known.dims, place) : failure();
  const IndexedRows named{nn::Dims(shapeOf(x)), indexConstant(node, *indices, known.dims, place),
                          *axis, 0};
  SYNCLINE_TRY_MLIR(y, createGatherRows(node, x, named));
  return node.define(*y);
}

OpRows frontend::rowOps() {
  static constexpr OpRow rows[] = {
      {"Gather", {importGather, 2, 1, false}},
  };
  return rows;
}
