// Pad: constants by nn.pad; reflected, repeated and wrapped elements by slices that are joined.
#include "frontend/onnx/OpTable.h"
#include "frontend/onnx/ShapeRules.h"

#include "llvm/ADT/Sequence.h"

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

namespace {

/// Elements to add in front of and behind each dimension; negative ones crop.
struct Pads {
  nn::Dims begins, ends;
};

} // namespace

static FailureOr<Pads> readPads(NodeImport &node, nn::DimsRef dims) {
  const auto rank = static_cast<std::int64_t>(dims.size());
  const std::optional<nn::Dims> pads = node.list("pads", 1);
  const nn::Dims axes =
      node.list("axes", 3).value_or(llvm::to_vector<6>(llvm::seq<std::int64_t>(0, rank)));
  if (!pads || pads->size() != 2 * axes.size() || failed(node.axes(axes, dims.size())))
    return node.error("expected two pads for each of " + llvm::Twine(axes.size()) + " dimensions");
  Pads result{nn::Dims(dims.size(), 0), nn::Dims(dims.size(), 0)};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
    const std::int64_t begin = (*pads)[i], end = (*pads)[i + axes.size()];
    if (-begin >= dims[axis] || -end >= dims[axis] || -begin - end >= dims[axis])
      return node.error("pads crop all of dimension " + llvm::Twine(axis));
    result.begins[axis] = begin;
    result.ends[axis] = end;
  }
  return result;
}

/// `count` entries of the axis from `start` on, in steps of 1 or -1.
static FailureOr<Value> entries(NodeImport &node, Value x, std::int64_t axis, std::int64_t start,
                                std::int64_t count, std::int64_t step = 1) {
  SliceRanges ranges = wholeRange(shapeOf(x));
  ranges.starts[axis] = start;
  ranges.steps[axis] = step;
  ranges.counts[axis] = count;
  return createSlice(node, x, ranges);
}

/// The `count` entries that come in front of the axis, or behind it.
static FailureOr<Value> surround(NodeImport &node, Value x, std::int64_t axis, std::int64_t count,
                                 bool isFront, llvm::StringRef mode) {
  const std::int64_t size = shapeOf(x)[axis], most = mode == "wrap" ? size : size - 1;
  if (mode != "edge" && count > most)
    return node.error("mode '" + mode + "' adds at most " + llvm::Twine(most) +
                      " entries to dimension " + llvm::Twine(axis) + " of " +
                      nn::toString(shapeOf(x)) + ", got " + llvm::Twine(count));
  if (mode == "reflect")
    return entries(node, x, axis, isFront ? count : size - 2, count, -1);
  if (mode == "wrap")
    return entries(node, x, axis, isFront ? size - count : 0, count);
  SYNCLINE_TRY_MLIR(edge, entries(node, x, axis, isFront ? 0 : size - 1, 1));
  nn::Dims dims(shapeOf(*edge));
  dims[axis] = count;
  SYNCLINE_TRY_MLIR(type, node.type(dims, x));
  return node.create<nn::BroadcastOp>(*type, *edge).getResult();
}

static FailureOr<Value> padAxis(NodeImport &node, Value x, std::int64_t axis, const Pads &pads,
                                llvm::StringRef mode) {
  const std::int64_t begin = pads.begins[axis], end = pads.ends[axis];
  const std::int64_t start = std::max<std::int64_t>(-begin, 0);
  const std::int64_t kept = shapeOf(x)[axis] - start - std::max<std::int64_t>(-end, 0);
  if (kept != shapeOf(x)[axis]) {
    SYNCLINE_TRY_MLIR(part, entries(node, x, axis, start, kept));
    x = *part;
  }
  llvm::SmallVector<Value, 3> parts{x};
  if (begin > 0) {
    SYNCLINE_TRY_MLIR(front, surround(node, x, axis, begin, /*isFront=*/true, mode));
    parts.insert(parts.begin(), *front);
  }
  if (end > 0) {
    SYNCLINE_TRY_MLIR(back, surround(node, x, axis, end, /*isFront=*/false, mode));
    parts.push_back(*back);
  }
  if (parts.size() == 1)
    return x;
  nn::Dims dims(shapeOf(x));
  dims[axis] += std::max<std::int64_t>(begin, 0) + std::max<std::int64_t>(end, 0);
  SYNCLINE_TRY_MLIR(type, node.type(dims, x));
  return node.create<nn::ConcatOp>(*type, parts, static_cast<std::uint64_t>(axis)).getResult();
}

// Pads and value are attributes before opset 11, operands since.
static LogicalResult importPad(NodeImport &node) {
  Value x = node.tensor(0);
  const std::string mode = node.text("mode", "constant");
  const bool isJoined = mode == "reflect" || mode == "edge" || mode == "wrap";
  if (!isJoined && mode != "constant")
    return node.error("expected mode 'constant', 'reflect', 'edge' or 'wrap', got '" + mode + "'");
  SYNCLINE_TRY_MLIR(pads, readPads(node, shapeOf(x)));
  const nn::Dims none(shapeOf(x).size(), 0);
  if (pads->begins == none && pads->ends == none)
    return node.defineAlias();
  if (isJoined) {
    for (std::int64_t axis = 0; axis < rankOf(x); ++axis) {
      SYNCLINE_TRY_MLIR(padded, padAxis(node, x, axis, *pads, mode));
      x = *padded;
    }
    return node.define(x);
  }
  nn::Dims dims(shapeOf(x));
  for (std::size_t axis = 0; axis < dims.size(); ++axis)
    dims[axis] += pads->begins[axis] + pads->ends[axis];
  SYNCLINE_TRY_MLIR(type, node.type(dims, x));
  const double value = node.number("value", 2).value_or(0);
  return node.define(node.create<nn::PadOp>(*type, x, pads->begins, llvm::APFloat(value)));
}

OpRows frontend::padOps() {
  static constexpr OpRow rows[] = {{"Pad", {importPad, 1, 1, false}}};
  return rows;
}
