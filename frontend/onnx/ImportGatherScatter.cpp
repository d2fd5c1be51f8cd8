// Elements by their places: GatherND, GatherElements, ScatterND and ScatterElements.
#include "frontend/onnx/FoldConstants.h"
#include "frontend/onnx/IndexedRows.h"
#include "frontend/onnx/OpTable.h"
#include "frontend/onnx/ShapeRules.h"

#include "onnx/onnx_pb.h"

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

/// What lists of indices name in x: places in `named` dimensions behind the first `shared`.
struct CellLists {
  std::int64_t shared = 0, named = 0;
  nn::Dims idDims; ///< of the lists
  nn::Dims sizes;  ///< of the named dimensions
  nn::Dims table;  ///< x with its named dimensions as one
};

/// Reads the shapes of operands 0 and 1.
static FailureOr<CellLists> cellLists(NodeImport &node, nn::DimsRef x, std::int64_t shared) {
  const RankedTensorType type = node.state.values.typeOf(node.inputName(1));
  const nn::DimsRef indices = type ? type.getShape() : nn::DimsRef();
  CellLists lists;
  lists.shared = shared;
  lists.named = indices.empty() ? 0 : indices.back();
  const auto rank = static_cast<std::int64_t>(x.size());
  if (shared < 0 || lists.named < 1 || lists.named > rank - shared ||
      shared >= static_cast<std::int64_t>(indices.size()) ||
      indices.take_front(shared) != x.take_front(shared))
    return node.error("expected indices that fit x, " + nn::toString(x) + ", got " +
                      nn::toString(indices));
  lists.idDims.assign(indices.drop_back().begin(), indices.drop_back().end());
  lists.sizes = nn::Dims(x.slice(shared, lists.named));
  lists.table = nn::Dims(x.take_front(shared));
  lists.table.push_back(nn::elementCount(lists.sizes));
  llvm::append_range(lists.table, x.drop_front(shared + lists.named));
  return lists;
}

/// Where the table of x's cells has the batch.
static BatchLayout::Place placeOfTable(NodeImport &node, Value x, nn::DimsRef table) {
  BatchLayout &layout = node.state.values.layout;
  const BatchLayout::Place place = layout.of(x);
  return place ? placeIn(table, spanOf(shapeOf(x), *place), layout.batch) : place;
}

/// Rows of the table by lists that the step computes or is given.
static FailureOr<IndexedRows> givenCells(NodeImport &node, Value x, const CellLists &lists) {
  Value numbers = indicesOf(node, 1);
  if (!numbers)
    return failure();
  const BatchLayout::Place place = placeOfTable(node, x, lists.table);
  const bool namesSamples = place && place->dim == lists.shared;
  if (lists.named > 1 || namesSamples) {
    numbers = node.state.values.real(node.inputName(1));
    if (!numbers || !elementOf(numbers).isF32())
      return node.error("indices '" + node.inputName(1) + "' cannot be computed with as f32");
  }
  if (lists.named > 1) {
    SYNCLINE_TRY_MLIR(counted, placeNumbers(node, numbers, lists.sizes));
    numbers = *counted;
  }
  numbers = node.reshape(numbers, lists.idDims);
  if (lists.shared == 0)
    return computedRows(node, lists.table, place, numbers);
  return IndexedRows{lists.table, numbers, lists.shared, lists.shared};
}

// A list of indices names a row of x once the dimensions that it counts are one.
static LogicalResult importGatherNd(NodeImport &node) {
  Value x = floatOperand(node);
  if (!x)
    return failure();
  const std::int64_t shared = node.integer("batch_dims", 0);
  SYNCLINE_TRY_MLIR(lists, cellLists(node, shapeOf(x), shared));
  if (!node.isKnown(1)) {
    SYNCLINE_TRY_MLIR(rows, givenCells(node, x, *lists));
    SYNCLINE_TRY_MLIR(y, createGatherRows(node, x, *rows));
    nn::Dims dims(lists->idDims);
    llvm::append_range(dims, nn::DimsRef(lists->table).drop_front(shared + 1));
    return node.define(node.reshape(*y, dims));
  }
  SYNCLINE_TRY_MLIR(rows, rowsNamed(node, shapeOf(x), *node.constant(1), shared));
  if (rows->empty())
    return node.error("expected at least one index");
  const std::int64_t counted = shared + lists->named;
  nn::Dims dims{nn::elementCount(shapeOf(x).take_front(counted))};
  llvm::append_range(dims, shapeOf(x).drop_front(counted));
  Value table = node.reshape(x, dims);
  return areEven(*rows) ? importSlices(node, table, 0, *rows, lists->idDims)
                        : importKnownRows(node, table, *rows, lists->idDims);
}

/// How updates are combined with what stands in their places.
static FailureOr<ScatterKind> scatterKind(NodeImport &node) {
  const std::string reduction = node.text("reduction", "none");
  const auto kind = llvm::StringSwitch<std::optional<ScatterKind>>(reduction)
                        .Case("none", ScatterKind::replace)
                        .Case("add", ScatterKind::add)
                        .Case("mul", ScatterKind::multiply)
                        .Case("max", ScatterKind::maximum)
                        .Case("min", ScatterKind::minimum)
                        .Default(std::nullopt);
  if (!kind)
    return node.error("expected reduction none, add, mul, max or min, got '" + reduction + "'");
  return *kind;
}

/// The updates, operand 2, whose shape is `dims`; null with an error.
static Value updatesOf(NodeImport &node, Value x, nn::DimsRef dims) {
  Value updates = node.hasInput(2) ? node.state.values.real(node.inputName(2)) : Value();
  if (!updates || elementOf(updates) != elementOf(x))
    (void)node.error("expected updates of x's element type");
  else if (shapeOf(updates) != dims)
    (void)node.error("expected updates of shape " + nn::toString(dims) + ", got " +
                     nn::toString(shapeOf(updates)));
  else
    return updates;
  return {};
}

static LogicalResult importScatterNd(NodeImport &node) {
  Value x = floatOperand(node);
  SYNCLINE_TRY_MLIR(kind, x ? scatterKind(node) : FailureOr<ScatterKind>());
  SYNCLINE_TRY_MLIR(lists, cellLists(node, shapeOf(x), 0));
  nn::Dims dims(lists->idDims);
  llvm::append_range(dims, nn::DimsRef(lists->table).drop_front());
  Value updates = updatesOf(node, x, dims);
  if (!updates)
    return failure();
  FailureOr<IndexedRows> rows;
  if (node.isKnown(1)) {
    SYNCLINE_TRY_MLIR(numbers, rowsNamed(node, shapeOf(x), *node.constant(1)));
    if (numbers->empty())
      return node.defineAlias();
    rows =
        knownRows(node, lists->table, placeOfTable(node, x, lists->table), *numbers, lists->idDims);
  } else {
    rows = givenCells(node, x, *lists);
  }
  SYNCLINE_TRY_MLIR(y, succeeded(rows) ? createScatterRows(node, updates, x, *rows, *kind)
                                       : FailureOr<Value>());
  return node.define(node.reshape(*y, shapeOf(x)));
}

/// The first elements of x in every dimension, as many as `dims` says.
static FailureOr<Value> firstOf(NodeImport &node, Value x, nn::DimsRef dims) {
  SliceRanges ranges = wholeRange(shapeOf(x));
  ranges.counts = nn::Dims(dims);
  return shapeOf(x) == dims ? FailureOr<Value>(x) : createSlice(node, x, ranges);
}

/// The axis of operands 0 and 1, whose shapes are checked: off the axis indices may name fewer
/// elements than x has.
static FailureOr<std::int64_t> elementsAxis(NodeImport &node, nn::DimsRef x, Value indices) {
  SYNCLINE_TRY_MLIR(axis, node.axis(node.integer("axis", 0), x.size()));
  const nn::DimsRef dims = shapeOf(indices);
  bool fits = dims.size() == x.size();
  for (std::size_t d = 0; fits && d < dims.size(); ++d)
    fits = static_cast<std::int64_t>(d) == *axis || dims[d] <= x[d];
  if (!fits)
    return node.error("expected indices that fit x, " + nn::toString(x) + ", got " +
                      nn::toString(dims));
  return *axis;
}

/// Checks indices that are known: nothing else names a node that is wrong.
static LogicalResult checkKnown(NodeImport &node, std::int64_t size) {
  return node.isKnown(1) ? LogicalResult(gatherIndices(node, size)) : success();
}

/// The order of dimensions in which `axis` is last, or back from it.
static nn::Dims axisLast(std::size_t rank, std::int64_t axis, bool isBack) {
  nn::Dims order;
  for (std::size_t d = 0; d < rank; ++d)
    order.push_back(static_cast<std::int64_t>(d));
  if (isBack)
    std::rotate(order.begin() + axis, order.end() - 1, order.end());
  else
    std::rotate(order.begin() + axis, order.begin() + axis + 1, order.end());
  return order;
}

/// The last dimension of x by indices of x's rank.
static IndexedRows alongLast(Value x, Value indices) {
  const std::int64_t last = rankOf(x) - 1;
  return {nn::Dims(shapeOf(x)), indices, last, last};
}

/// Elements of equal ones, whichever they are: the token types that stand in where none are given.
static LogicalResult importEqualElements(NodeImport &node, const ConstantTensor &x,
                                         nn::DimsRef dims) {
  if (nn::elementCount(dims) > maxConstantElements)
    return node.error("a constant of shape " + nn::toString(dims) +
                      " is too large to compute at import");
  ConstantTensor result = filled(x, dims);
  result.fromShape = true;
  if (Value known = node.tensor(1))
    result.setAtOtherBatch(filled(x, node.state.values.layout.dimsAtOtherBatch(known)));
  return node.defineConstant(std::move(result));
}

/// The part of x that lies beside the indices: their shape, but for the whole of `axis`.
static FailureOr<Value> partBeside(NodeImport &node, Value x, Value indices, std::int64_t axis) {
  if (failed(checkKnown(node, shapeOf(x)[axis])))
    return failure();
  nn::Dims dims(shapeOf(indices));
  dims[axis] = shapeOf(x)[axis];
  return firstOf(node, x, dims);
}

static LogicalResult importGatherElements(NodeImport &node) {
  const ConstantTensor *known = node.isKnown(0) ? node.constant(0) : nullptr;
  const RankedTensorType type = node.state.values.typeOf(node.inputName(1));
  if (known && type && known->size() > 0 && llvm::all_equal(known->ints) &&
      llvm::all_equal(known->reals))
    return importEqualElements(node, *known, type.getShape());
  Value x = floatOperand(node), indices = x ? indicesOf(node, 1) : Value();
  SYNCLINE_TRY_MLIR(axis,
                    indices ? elementsAxis(node, shapeOf(x), indices) : FailureOr<std::int64_t>());
  SYNCLINE_TRY_MLIR(part, partBeside(node, x, indices, *axis));
  const std::size_t rank = shapeOf(x).size();
  const nn::Dims order = axisLast(rank, *axis, /*isBack=*/false);
  Value table = createTranspose(node, *part, order);
  indices = createTranspose(node, indices, order);
  SYNCLINE_TRY_MLIR(y, createGatherRows(node, table, alongLast(table, indices)));
  return node.define(createTranspose(node, *y, axisLast(rank, *axis, /*isBack=*/true)));
}

/// x with its first elements in every dimension replaced by those of `part`.
static FailureOr<Value> withFirst(NodeImport &node, Value x, Value part) {
  for (std::int64_t d = 0; d < rankOf(x); ++d) {
    nn::Dims dims(shapeOf(part));
    if (dims[d] == shapeOf(x)[d])
      continue;
    SliceRanges rest = wholeRange(shapeOf(x));
    rest.counts = dims;
    rest.starts[d] = dims[d];
    rest.counts[d] = shapeOf(x)[d] - dims[d];
    SYNCLINE_TRY_MLIR(behind, createSlice(node, x, rest));
    dims[d] = shapeOf(x)[d];
    auto type = RankedTensorType::get(dims, elementOf(x));
    part =
        node.create<nn::ConcatOp>(type, ValueRange{part, *behind}, static_cast<std::uint64_t>(d));
  }
  return part;
}

static LogicalResult importScatterElements(NodeImport &node) {
  Value x = floatOperand(node), indices = x ? indicesOf(node, 1) : Value();
  SYNCLINE_TRY_MLIR(axis,
                    indices ? elementsAxis(node, shapeOf(x), indices) : FailureOr<std::int64_t>());
  SYNCLINE_TRY_MLIR(kind, scatterKind(node));
  Value updates = updatesOf(node, x, shapeOf(indices));
  if (!updates)
    return failure();
  SYNCLINE_TRY_MLIR(part, partBeside(node, x, indices, *axis));
  const std::size_t rank = shapeOf(x).size();
  const nn::Dims order = axisLast(rank, *axis, /*isBack=*/false);
  Value table = createTranspose(node, *part, order);
  SYNCLINE_TRY_MLIR(
      scattered, createScatterRows(node, createTranspose(node, updates, order), table,
                                   alongLast(table, createTranspose(node, indices, order)), *kind));
  Value y = createTranspose(node, *scattered, axisLast(rank, *axis, /*isBack=*/true));
  SYNCLINE_TRY_MLIR(whole, withFirst(node, x, y));
  return node.define(*whole);
}

OpRows frontend::gatherScatterOps() {
  static constexpr OpRow rows[] = {
      {"GatherElements", {importGatherElements, 2, 0, false}},
      {"GatherND", {importGatherNd, 2, 1, false}},
      {"ScatterElements", {importScatterElements, 3, 1, false}},
      {"ScatterND", {importScatterNd, 3, 1, false}},
  };
  return rows;
}
