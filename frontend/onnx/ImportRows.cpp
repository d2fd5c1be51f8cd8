// Gather and GatherND: parts of a tensor, and rows of a table by known, given or computed numbers.
#include "frontend/onnx/FoldConstants.h"
#include "frontend/onnx/OpTable.h"
#include "frontend/onnx/ShapeRules.h"

#include "onnx/onnx_pb.h"

#include <limits>

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

/// Rows of a table by numbers that are an input, or its elements in other places.
static LogicalResult importEmbedding(NodeImport &node, Value table) {
  Value ids = node.tensor(1);
  if (!ids || !elementOf(ids).isInteger(64))
    return node.error("expected int64 indices, got '" + node.inputName(1) + "'");
  if (shapeOf(table).size() < 2 || !isa<FloatType>(elementOf(table)))
    return node.error("expected a floating-point table of rank 2 or more, got " +
                      nn::toString(shapeOf(table)));
  nn::Dims dims(shapeOf(ids));
  llvm::append_range(dims, shapeOf(table).drop_front());
  SYNCLINE_TRY_MLIR(type, node.type(dims, table));
  return node.define(node.create<nn::EmbeddingOp>(*type, ids, table));
}

/// Rows of a table by numbers that are known at import, as relative positions are looked up.
static LogicalResult importKnownRows(NodeImport &node, Value table, const nn::Dims &indices,
                                     nn::DimsRef idDims, BatchLayout::Place place = {}) {
  if (!isa<FloatType>(elementOf(table)))
    return node.error("indices that are not evenly spaced are supported for floating-point only");
  const nn::Dims shape(shapeOf(table));
  if (shape.size() == 1) // nn.embedding's rows are vectors
    table = node.reshape(table, {shape[0], 1});
  auto idType = RankedTensorType::get(idDims, node.state.builder.getI64Type());
  Value ids = node.create<nn::ConstantOp>(
      idType, DenseElementsAttr::get(idType, llvm::ArrayRef<std::int64_t>(indices)));
  node.state.values.layout.set(ids, place);
  nn::Dims dims(idDims), rows(idDims);
  llvm::append_range(dims, nn::DimsRef(shape).drop_front());
  llvm::append_range(rows, shapeOf(table).drop_front());
  SYNCLINE_TRY_MLIR(type, node.type(rows, table));
  return node.define(node.reshape(node.create<nn::EmbeddingOp>(*type, ids, table), dims));
}

/// One where the number is that of the row, zero elsewhere: the ids' shape and a dimension of rows.
static FailureOr<Value> oneHot(NodeImport &node, Value numbers, std::int64_t rows) {
  llvm::SmallVector<float> places;
  for (std::int64_t row = 0; row < rows; ++row)
    places.push_back(static_cast<float>(row));
  auto type = RankedTensorType::get({rows}, elementOf(numbers));
  Value place = node.create<nn::ConstantOp>(
      type, DenseElementsAttr::get(type, llvm::ArrayRef<float>(places)));
  nn::Dims dims(shapeOf(numbers));
  dims.push_back(1);
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

/// Rows of a table by numbers that the step computes, as places of tokens that padding does not
/// count. They are f32, so that the lookup is a product with ones and zeros. A number that is not
/// known to be a row's makes an infinite row where it is none: nothing else checks it.
static LogicalResult importComputedRows(NodeImport &node, Value table, Value numbers) {
  constexpr std::int64_t mostRows = 4096;
  const nn::Dims shape(shapeOf(table));
  if (shape.size() < 2 || !isa<FloatType>(elementOf(table)) ||
      elementOf(table) != elementOf(numbers))
    return node.error("expected a table of f32 of rank 2 or more, got '" + node.inputName(0) + "'");
  if (shape[0] > mostRows)
    return node.error("computed indices are supported into at most " + llvm::Twine(mostRows) +
                      " rows, got " + llvm::Twine(shape[0]));
  const std::optional<WholeBounds> bounds = node.state.values.boundsOf(node.inputName(1));
  if (bounds && (bounds->most < 0 || bounds->least >= shape[0]))
    return node.error("indices of " + llvm::Twine(bounds->least) + " to " +
                      llvm::Twine(bounds->most) + " do not fit a table of " +
                      llvm::Twine(shape[0]) + " rows");
  nn::Dims dims(shapeOf(numbers));
  llvm::append_range(dims, nn::DimsRef(shape).drop_front());
  SYNCLINE_TRY_MLIR(type, node.type(dims, table));
  const std::int64_t width = nn::elementCount(shape) / shape[0];
  SYNCLINE_TRY_MLIR(ones, oneHot(node, numbers, shape[0]));
  SYNCLINE_TRY_MLIR(
      rows, createMatmul(node, *ones, false, node.reshape(table, {shape[0], width}), false, {}));
  if (!areWithin(bounds, shape[0]))
    rows = withInfinities(node, *rows, *ones);
  return failed(rows) ? failure() : node.define(node.reshape(*rows, dims));
}

static bool areEven(const nn::Dims &indices) {
  const std::int64_t step = indices.size() > 1 ? indices[1] - indices[0] : 1;
  bool areEven = !indices.empty() && step != 0;
  for (std::size_t i = 1; i < indices.size(); ++i)
    areEven &= indices[i] - indices[i - 1] == step;
  return areEven;
}

/// Slices along an axis at indices that are even.
static LogicalResult importSlices(NodeImport &node, Value x, std::int64_t axis,
                                  const nn::Dims &indices, nn::DimsRef indexDims) {
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

// A Gather of one index, or of indices at even distances, is a slice.
static LogicalResult importGather(NodeImport &node) {
  Value x = node.tensor(0);
  if (node.integer("axis", 0) == 0 && x && !node.constant(1) && node.isBatched(1)) {
    Value numbers = node.tensor(1);
    if (numbers && elementOf(numbers).isInteger(1)) // truth values
      numbers = node.state.values.real(node.inputName(1));
    if (numbers && isWholeOperand(node, 1) && elementOf(numbers).isF32())
      return importComputedRows(node, x, numbers);
    return importEmbedding(node, x);
  }
  SYNCLINE_TRY_MLIR(axis, gatherAxis(node, shapeOf(x).size()));
  SYNCLINE_TRY_MLIR(indices, gatherIndices(node, shapeOf(x)[*axis]));
  const ConstantTensor &known = *node.constant(1);
  const nn::Dims &indexDims = known.dims;
  if (!areEven(*indices) && *axis == 0 && !indices->empty())
    return importKnownRows(node, x, *indices, indexDims, node.state.values.layout.of(known));
  if (!areEven(*indices))
    return node.error("indices that are not evenly spaced are supported along axis 0 only");
  return importSlices(node, x, *axis, *indices, indexDims);
}

// A list of indices names a row of x once the dimensions that it counts are one.
static LogicalResult importGatherNd(NodeImport &node) {
  if (!node.isKnown(1))
    return node.error("expected indices that are known at import, got '" + node.inputName(1) + "'");
  Value x = node.tensor(0);
  const ConstantTensor &indices = *node.constant(1);
  const std::int64_t shared = node.integer("batch_dims", 0);
  SYNCLINE_TRY_MLIR(rows, rowsNamed(node, shapeOf(x), indices, shared));
  if (rows->empty())
    return node.error("expected at least one index");
  const std::int64_t counted = shared + indices.dims.back();
  nn::Dims dims{nn::elementCount(shapeOf(x).take_front(counted))};
  llvm::append_range(dims, shapeOf(x).drop_front(counted));
  const nn::DimsRef indexDims = nn::DimsRef(indices.dims).drop_back();
  Value table = node.reshape(x, dims);
  return areEven(*rows) ? importSlices(node, table, 0, *rows, indexDims)
                        : importKnownRows(node, table, *rows, indexDims);
}

// Elements of equal ones, whichever they are: the token types that stand in where none are given.
static LogicalResult importGatherElements(NodeImport &node) {
  const ConstantTensor *x = node.isKnown(0) ? node.constant(0) : nullptr;
  const RankedTensorType indices = node.state.values.typeOf(node.inputName(1));
  if (!x || !indices || x->size() == 0 || !llvm::all_equal(x->ints) || !llvm::all_equal(x->reals))
    return node.error("expected a constant, and indices that are known or one value in it");
  if (nn::elementCount(indices.getShape()) > maxConstantElements)
    return node.error("a constant of shape " + nn::toString(indices.getShape()) +
                      " is too large to compute at import");
  ConstantTensor result = filled(*x, indices.getShape());
  result.fromShape = true;
  if (Value known = node.tensor(1))
    result.setAtOtherBatch(filled(*x, node.state.values.layout.dimsAtOtherBatch(known)));
  return node.defineConstant(std::move(result));
}

OpRows frontend::rowOps() {
  static constexpr OpRow rows[] = {
      {"Gather", {importGather, 2, 1, false}},
      {"GatherElements", {importGatherElements, 2, 0}},
      {"GatherND", {importGatherNd, 2, 1, false}},
  };
  return rows;
}
