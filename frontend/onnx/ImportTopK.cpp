// The largest elements, and ones where an index points.
#include "frontend/onnx/IndexedRows.h"
#include "frontend/onnx/OpTable.h"
#include "frontend/onnx/ShapeRules.h"

#include "onnx/onnx_pb.h"

#include <cmath>

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;
using Kind = nn::BinaryKind;

/// The order of dimensions in which `axis` and the last have changed places.
static nn::Dims swappedWithLast(std::size_t rank, std::int64_t axis) {
  nn::Dims order;
  for (std::size_t d = 0; d < rank; ++d)
    order.push_back(static_cast<std::int64_t>(d));
  std::swap(order[axis], order.back());
  return order;
}

/// How many elements TopK takes: an attribute before opset 10, an operand since.
static FailureOr<std::int64_t> countOf(NodeImport &node, std::int64_t size) {
  const ConstantTensor *known = node.hasInput(1) ? node.constant(1) : nullptr;
  if (node.hasInput(1) && (!known || known->isReal() || known->size() != 1))
    return node.error("expected a constant integer as k, got '" + node.inputName(1) + "'");
  const std::int64_t count = known ? known->ints[0] : node.integer("k", 0);
  if (count < 1 || count > size)
    return node.error("expected k from 1 to " + llvm::Twine(size) + ", got " + llvm::Twine(count));
  return count;
}

// The step's operation works on the last dimension and sorts, which `sorted = 0` leaves open.
static LogicalResult importTopK(NodeImport &node) {
  constexpr std::int64_t mostPlaces = 1 << 24; // that f32 tells apart
  Value x = node.tensor(0);
  SYNCLINE_TRY_MLIR(axis, node.axis(node.integer("axis", -1), shapeOf(x).size()));
  const std::int64_t size = shapeOf(x)[*axis];
  SYNCLINE_TRY_MLIR(count, countOf(node, size));
  if (size > mostPlaces)
    return node.error("at most 2^24 elements are supported, got " + llvm::Twine(size));
  const nn::Dims order = swappedWithLast(shapeOf(x).size(), *axis);
  x = createTranspose(node, x, order);
  nn::Dims dims(shapeOf(x));
  dims.back() = *count;
  SYNCLINE_TRY_MLIR(type, node.type(dims, x));
  auto top = node.create<nn::TopKOp>(*type, *type, x, node.integer("largest", 1) != 0);
  BatchLayout &layout = node.state.values.layout;
  layout.set(top.getIndices(), layout.of(top.getValues()));
  if (failed(node.define(createTranspose(node, top.getValues(), order), 0)) ||
      failed(node.define(createTranspose(node, top.getIndices(), order), 1)))
    return failure();
  if (node.isUsed(1))
    node.state.values.setWhole(node.proto.output(1), onnx::TensorProto::INT64,
                               WholeBounds{0, size - 1});
  return success();
}

/// The numbers where OneHot is off and on; nothing with an error.
static std::optional<std::pair<double, double>> levelsOf(NodeImport &node) {
  const ConstantTensor *values = node.constant(2);
  if (!values || values->size() != 2) {
    (void)node.error("expected two constant values, got '" + node.inputName(2) + "'");
    return std::nullopt;
  }
  if (values->isReal())
    return std::pair(values->reals[0], values->reals[1]);
  return std::pair(static_cast<double>(values->ints[0]), static_cast<double>(values->ints[1]));
}

/// How many entries the new dimension has.
static FailureOr<std::int64_t> depthOf(NodeImport &node) {
  constexpr std::int64_t mostEntries = 1 << 24; // that f32 tells apart
  const ConstantTensor *known = node.constant(1);
  if (!known || known->size() != 1)
    return node.error("expected a constant number as depth, got '" + node.inputName(1) + "'");
  const double depth = known->isReal() ? known->reals[0] : static_cast<double>(known->ints[0]);
  if (!(depth >= 1 && depth <= mostEntries))
    return node.error("expected a depth from 1 to 2^24, got " + decimal(depth));
  return static_cast<std::int64_t>(depth);
}

static LogicalResult importOneHot(NodeImport &node) {
  Value numbers = isWholeOperand(node, 0) ? node.state.values.real(node.inputName(0)) : Value();
  if (!numbers || !elementOf(numbers).isF32())
    return node.error("expected integers as indices, got '" + node.inputName(0) + "'");
  const auto levels = levelsOf(node);
  SYNCLINE_TRY_MLIR(depth, levels ? depthOf(node) : FailureOr<std::int64_t>());
  const std::size_t rank = shapeOf(numbers).size() + 1;
  SYNCLINE_TRY_MLIR(axis, node.axis(node.integer("axis", -1), rank));
  nn::Dims dims(shapeOf(numbers));
  dims.insert(dims.begin() + *axis, *depth);
  if (failed(node.type(dims, numbers)))
    return failure();
  const std::optional<WholeBounds> bounds = node.state.values.boundsOf(node.inputName(0));
  if (!bounds || bounds->least < 0)
    numbers = fromFront(node, numbers, *depth);
  SYNCLINE_TRY_MLIR(ones, createOneHot(node, numbers, *depth, *axis));
  const auto [off, on] = *levels;
  if (!std::isfinite(on - off))
    return node.error("expected finite values, got " + decimal(off) + " and " + decimal(on));
  Value y = *ones;
  if (on - off != 1)
    y = *createBinary(node, Kind::mul, y, node.scalar(on - off, y));
  if (off != 0)
    y = *createBinary(node, Kind::add, y, node.scalar(off, y));
  if (failed(node.define(y)))
    return failure();
  const int type = node.state.values.wholeType(node.inputName(2));
  if (node.isUsed(0) && !node.constant(2)->isReal())
    node.state.values.setWhole(node.proto.output(0), type,
                               WholeBounds{static_cast<std::int64_t>(std::min(off, on)),
                                           static_cast<std::int64_t>(std::max(off, on))});
  return success();
}

OpRows frontend::topOps() {
  static constexpr OpRow rows[] = {
      {"OneHot", {importOneHot, 3, 0}},
      {"TopK", {importTopK, 1, 1}},
  };
  return rows;
}
