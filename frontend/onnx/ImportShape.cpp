// Operators that move elements.
#include "frontend/onnx/FoldConstants.h"
#include "frontend/onnx/OpTable.h"
#include "frontend/onnx/ShapeRules.h"

#include "onnx/onnx_pb.h"

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

static LogicalResult importView(NodeImport &node) {
  Value x = node.tensor(0);
  BatchLayout &layout = node.state.values.layout;
  const BatchLayout::Place place = layout.of(x);
  SYNCLINE_TRY_MLIR(view, viewOf(node, shapeOf(x), place));
  SYNCLINE_TRY_MLIR(type, node.type(view->dims, x));
  if (place && !view->place)
    layout.refuse("its result of shape " + nn::toString(view->dims) + " would lose the batch");
  if (*type == x.getType() && view->place == place)
    return node.define(x);
  Value y = node.create<nn::ReshapeOp>(*type, x);
  layout.set(y, view->place);
  return node.define(y);
}

static LogicalResult importTranspose(NodeImport &node) {
  Value x = node.tensor(0);
  SYNCLINE_TRY_MLIR(order, permutation(node, shapeOf(x).size()));
  if (llvm::is_sorted(*order))
    return node.defineAlias();
  nn::Dims dims;
  for (std::int64_t d : *order)
    dims.push_back(shapeOf(x)[d]);
  auto type = RankedTensorType::get(dims, elementOf(x));
  return node.define(node.create<nn::TransposeOp>(type, x, *order));
}

/// Whether an operand without elements can be joined along the axis. PyTorch also joins one of
/// shape [0] with others of any rank.
static bool fitsBeside(nn::DimsRef empty, nn::DimsRef other, std::int64_t axis) {
  if (empty == nn::DimsRef{0})
    return true;
  nn::Dims same(empty);
  if (empty.size() == other.size())
    same[axis] = other[axis];
  return nn::DimsRef(same) == other && empty[axis] == 0;
}

// Operands without elements are left out.
static LogicalResult importConcat(NodeImport &node) {
  llvm::SmallVector<Value> xs;
  unsigned last = 0;
  for (unsigned i = 0; i < node.inputCount(); ++i) {
    if (!node.hasInput(i))
      return node.error("operand " + llvm::Twine(i + 1) + " is missing");
    if (isEmpty(node, i))
      continue;
    xs.push_back(node.tensor(i));
    last = i;
  }
  if (xs.empty())
    return node.error("its operands have no elements");
  nn::Dims dims(shapeOf(xs[0]));
  if (!node.attribute("axis"))
    return node.error("expected an axis");
  SYNCLINE_TRY_MLIR(axis, node.axis(node.integer("axis", 0), dims.size()));
  for (Value x : llvm::drop_begin(xs)) {
    nn::Dims other(shapeOf(x));
    if (other.size() == dims.size()) {
      dims[*axis] += other[*axis];
      other[*axis] = dims[*axis];
    }
    if (other != dims)
      return node.error("operand of shape " + nn::toString(shapeOf(x)) +
                        " differs from the first, " + nn::toString(shapeOf(xs[0])) + ", off axis " +
                        llvm::Twine(*axis) + node.state.values.layout.exportHint(/*isOpen=*/false));
  }
  for (unsigned i = 0; i < node.inputCount(); ++i)
    if (isEmpty(node, i) && !fitsBeside(node.constant(i)->dims, shapeOf(xs[0]), *axis))
      return node.error("operand '" + node.inputName(i) + "' of shape " +
                        nn::toString(node.constant(i)->dims) + " differs from " +
                        nn::toString(shapeOf(xs[0])) + " off axis " + llvm::Twine(*axis));
  if (xs.size() == 1)
    return node.defineAlias(last);
  SYNCLINE_TRY_MLIR(type, node.type(dims, xs[0]));
  return node.define(node.create<nn::ConcatOp>(*type, xs, static_cast<std::uint64_t>(*axis)));
}

FailureOr<Value> frontend::createSlice(NodeImport &node, Value x, const SliceRanges &ranges) {
  SYNCLINE_TRY_MLIR(type, node.type(ranges.counts, x));
  return node.create<nn::SliceOp>(*type, x, ranges.starts, ranges.steps).getResult();
}

static LogicalResult importSlice(NodeImport &node) {
  Value x = node.tensor(0);
  SYNCLINE_TRY_MLIR(ranges, sliceRanges(node, shapeOf(x)));
  bool forward = llvm::all_of(ranges->steps, [](std::int64_t step) { return step > 0; });
  if (forward && ranges->counts == nn::Dims(shapeOf(x)))
    return node.defineAlias();
  if (llvm::is_contained(ranges->counts, 0))
    return defineEmptyPart(node, x, ranges->counts);
  FailureOr<Value> y = createSlice(node, x, *ranges);
  return failed(y) ? failure() : node.define(*y);
}

/// The parts' sizes: given, or even ones; since opset 18 the last may be smaller.
static FailureOr<nn::Dims> splitSizes(NodeImport &node, std::int64_t size) {
  auto parts = static_cast<std::int64_t>(node.outputCount());
  std::optional<nn::Dims> sizes = node.list("split", 1);
  if (node.integer("num_outputs", parts) != parts)
    return node.error("num_outputs differs from its " + llvm::Twine(parts) + " results");
  if (!sizes) {
    std::int64_t part = (size + parts - 1) / parts;
    sizes = nn::Dims(parts, part);
    sizes->back() = size - part * (parts - 1);
    if (sizes->back() < 1 || (node.opset() < 18 && sizes->back() != part))
      return node.error("cannot split " + llvm::Twine(size) + " evenly into " + llvm::Twine(parts));
  }
  std::int64_t total = 0;
  for (std::int64_t part : *sizes)
    total += part < 0 ? maxElements : part;
  if (total != size || static_cast<std::int64_t>(sizes->size()) != parts)
    return node.error("expected " + llvm::Twine(parts) + " parts that make up " +
                      llvm::Twine(size) + ", got " + nn::toString(*sizes));
  return *sizes;
}

static LogicalResult importSplit(NodeImport &node) {
  Value x = node.tensor(0);
  SYNCLINE_TRY_MLIR(axis, node.axis(node.integer("axis", 0), shapeOf(x).size()));
  SYNCLINE_TRY_MLIR(sizes, splitSizes(node, shapeOf(x)[*axis]));
  SliceRanges ranges = wholeRange(shapeOf(x));
  for (unsigned i = 0; i < sizes->size(); ++i) {
    ranges.counts[*axis] = (*sizes)[i];
    if (ranges.counts[*axis] == 0) {
      if (failed(defineEmptyPart(node, x, ranges.counts, i)))
        return failure();
    } else if (node.isUsed(i)) {
      FailureOr<Value> y = createSlice(node, x, ranges);
      if (failed(y) || failed(node.define(*y, i)))
        return failure();
    }
    ranges.starts[*axis] += (*sizes)[i];
  }
  return success();
}

OpRows frontend::shapeOps() {
  static constexpr OpRow rows[] = {
      {"Concat", {importConcat, 1, allOperands, false}},
      {"Flatten", {importView, 1, 1, false}},
      {"Reshape", {importView, 2, 1, false}},
      {"Slice", {importSlice, 1, 1, false}},
      {"Split", {importSplit, 1, 1, false}},
      {"Squeeze", {importView, 1, 1, false}},
      {"Transpose", {importTranspose, 1, 1, false}},
      {"Unsqueeze", {importView, 1, 1, false}},
  };
  return rows;
}
