// Decides which nodes are computed at import, and computes those that move elements.
#include "frontend/onnx/FoldConstants.h"
#include "frontend/onnx/ShapeRules.h"

#include "onnx/onnx_pb.h"

#include <algorithm>
#include <cmath>

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

static ConstantTensor emptyLike(const ConstantTensor &x, const nn::Dims &dims) {
  ConstantTensor result;
  result.type = x.type;
  result.dims = dims;
  return result;
}

static void append(ConstantTensor &result, const ConstantTensor &x, std::int64_t at) {
  if (x.isReal())
    result.reals.push_back(x.reals[at]);
  else
    result.ints.push_back(x.ints[at]);
}

static nn::Dims rowMajorStrides(nn::DimsRef dims) {
  nn::Dims strides(dims.size());
  std::int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0; stride *= dims[i])
    strides[i] = stride;
  return strides;
}

FailureOr<ConstantTensor> frontend::stridedView(NodeImport &node, const ConstantTensor &x,
                                                const nn::Dims &dims, std::int64_t base,
                                                const nn::Dims &strides) {
  if (!isSaneShape(dims) || nn::elementCount(dims) > maxConstantElements)
    return node.error("a constant of shape " + nn::toString(dims) +
                      " is too large to compute at import");
  ConstantTensor result = emptyLike(x, dims);
  nn::Dims index(dims.size(), 0);
  for (std::int64_t left = nn::elementCount(dims); left > 0; --left) {
    append(result, x, base);
    for (size_t d = dims.size(); d-- > 0;) { // next index, last dimension fastest
      base += strides[d];
      if (++index[d] < dims[d])
        break;
      base -= strides[d] * dims[d];
      index[d] = 0;
    }
  }
  return result;
}

FailureOr<ConstantTensor> frontend::broadcastTo(NodeImport &node, const ConstantTensor &x,
                                                const nn::Dims &dims) {
  nn::Dims own = rowMajorStrides(x.dims), strides(dims.size(), 0);
  size_t missing = dims.size() - x.dims.size();
  for (size_t i = 0; i < x.dims.size(); ++i)
    strides[missing + i] = x.dims[i] == 1 ? 0 : own[i];
  return stridedView(node, x, dims, 0, strides);
}

static FailureOr<ConstantTensor> foldView(NodeImport &node, Constants in) {
  SYNCLINE_TRY_MLIR(dims, viewShape(node, in[0]->dims));
  ConstantTensor result = *in[0];
  result.dims = *dims;
  return result;
}

static FailureOr<ConstantTensor> foldSlice(NodeImport &node, Constants in) {
  SYNCLINE_TRY_MLIR(ranges, sliceRanges(node, in[0]->dims));
  nn::Dims strides = rowMajorStrides(in[0]->dims);
  std::int64_t base = 0;
  for (size_t i = 0; i < strides.size(); ++i) {
    base += strides[i] * ranges->starts[i];
    // The step of a single element is not used, and as a huge number it would overflow.
    strides[i] = ranges->counts[i] > 1 ? strides[i] * ranges->steps[i] : 0;
  }
  return stridedView(node, *in[0], ranges->counts, base, strides);
}

static FailureOr<ConstantTensor> foldTranspose(NodeImport &node, Constants in) {
  SYNCLINE_TRY_MLIR(order, permutation(node, in[0]->dims.size()));
  nn::Dims own = rowMajorStrides(in[0]->dims), dims, strides;
  for (std::int64_t d : *order) {
    dims.push_back(in[0]->dims[d]);
    strides.push_back(own[d]);
  }
  return stridedView(node, *in[0], dims, 0, strides);
}

static FailureOr<ConstantTensor> foldExpand(NodeImport &node, Constants in) {
  std::optional<nn::Dims> target = node.list("shape", 1);
  if (!target)
    return failure();
  llvm::Expected<nn::Dims> dims = nn::broadcastShape(in[0]->dims, *target);
  if (!dims)
    return node.error(llvm::toString(dims.takeError()));
  return broadcastTo(node, *in[0], *dims);
}

static FailureOr<ConstantTensor> foldTile(NodeImport &node, Constants in) {
  SYNCLINE_TRY_MLIR(repeats, tileRepeats(node, in[0]->dims.size()));
  const nn::Dims own = rowMajorStrides(in[0]->dims);
  nn::Dims dims, apart, strides;
  for (const auto &[size, count, stride] : llvm::zip_equal(in[0]->dims, *repeats, own)) {
    apart.append({count, size});
    strides.append({0, stride});
    dims.push_back(count * size);
  }
  FailureOr<ConstantTensor> result = stridedView(node, *in[0], apart, 0, strides);
  if (succeeded(result))
    result->dims = dims;
  return result;
}

static FailureOr<ConstantTensor> foldGather(NodeImport &node, Constants in) {
  const ConstantTensor &x = *in[0];
  SYNCLINE_TRY_MLIR(axis, gatherAxis(node, x.dims.size()));
  SYNCLINE_TRY_MLIR(indices, gatherIndices(node, x.dims[*axis]));
  nn::DimsRef before = nn::DimsRef(x.dims).take_front(*axis),
              after = nn::DimsRef(x.dims).drop_front(*axis + 1);
  nn::Dims dims(before);
  dims.append(in[1]->dims);
  dims.append(after.begin(), after.end());
  if (!isSaneShape(dims) || nn::elementCount(dims) > maxConstantElements)
    return node.error("a constant of shape " + nn::toString(dims) +
                      " is too large to compute at import");
  ConstantTensor result = emptyLike(x, dims);
  std::int64_t inner = nn::elementCount(after), outer = nn::elementCount(before);
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t index : *indices)
      for (std::int64_t i = 0; i < inner; ++i)
        append(result, x, (o * x.dims[*axis] + index) * inner + i);
  return result;
}

static FailureOr<ConstantTensor> foldConcat(NodeImport &node, Constants in) {
  SYNCLINE_TRY_MLIR(axis, node.axis(node.integer("axis", 0), in[0]->dims.size()));
  nn::Dims dims = in[0]->dims;
  for (const ConstantTensor *x : in.drop_front()) {
    nn::Dims other = x->dims;
    if (other.size() == dims.size()) {
      dims[*axis] += other[*axis];
      other[*axis] = dims[*axis];
    }
    if (other != dims || x->type != in[0]->type)
      return node.error("operands differ in type or off axis " + llvm::Twine(*axis));
  }
  if (!isSaneShape(dims) || nn::elementCount(dims) > maxConstantElements)
    return node.error("a constant of shape " + nn::toString(dims) +
                      " is too large to compute at import");
  ConstantTensor result = emptyLike(*in[0], dims);
  std::int64_t outer = nn::elementCount(nn::DimsRef(dims).take_front(*axis));
  for (std::int64_t o = 0; o < outer; ++o)
    for (const ConstantTensor *x : in) {
      std::int64_t row = x->size() / outer;
      for (std::int64_t i = 0; i < row; ++i)
        append(result, *x, o * row + i);
    }
  return result;
}

static FailureOr<ConstantTensor> foldCastLike(NodeImport &, Constants in) {
  return castTo(*in[0], in[1]->type);
}

static FailureOr<ConstantTensor> foldShape(NodeImport &node, Constants in) {
  return shapeConstant(node, in[0]->dims);
}

static FailureOr<ConstantTensor> foldRealRange(NodeImport &node, Constants in) {
  const double start = in[0]->reals[0], limit = in[1]->reals[0], delta = in[2]->reals[0];
  const int type = in[0]->type; // in which the number of elements is computed too
  const double count = std::ceil(roundTo(type, roundTo(type, limit - start) / delta));
  if (!(std::abs(count) <= static_cast<double>(maxConstantElements)))
    return node.error("its range is too long to compute at import");
  ConstantTensor result = emptyLike(*in[0], {static_cast<std::int64_t>(std::max(count, 0.0))});
  for (std::int64_t i = 0; i < result.dims[0]; ++i)
    result.reals.push_back(std::fma(static_cast<double>(i), delta, start)); // rounded once
  return result;
}

static FailureOr<ConstantTensor> foldRange(NodeImport &node, Constants in) {
  const auto isNumber = [&](const ConstantTensor *x) {
    return x->isReal() && x->size() == 1 && x->type == in[0]->type;
  };
  if (in.size() == 3 && llvm::all_of(in, isNumber))
    return foldRealRange(node, in);
  if (in.size() != 3 || in[0]->isReal() || in[1]->isReal() || in[2]->isReal() ||
      in[0]->size() != 1 || in[1]->size() != 1 || in[2]->size() != 1 || in[2]->ints[0] == 0)
    return node.error("expected numbers of one kind as start, limit and delta, and delta not 0");
  // Differences of arbitrary 64-bit operands need more than 64 bits.
  __int128 start = in[0]->ints[0], limit = in[1]->ints[0], delta = in[2]->ints[0];
  __int128 span = delta > 0 ? limit - start : start - limit, stride = delta > 0 ? delta : -delta;
  __int128 count = span > 0 ? (span + stride - 1) / stride : 0;
  if (count > maxConstantElements)
    return node.error("its range is too long to compute at import");
  ConstantTensor result = emptyLike(*in[0], {static_cast<std::int64_t>(count)});
  for (__int128 i = 0; i < count; ++i)
    result.ints.push_back(static_cast<std::int64_t>(start + i * delta));
  return result;
}

FoldFunction frontend::findShapeFold(llvm::StringRef op) {
  static const llvm::StringMap<FoldFunction> table = {
      {"CastLike", foldCastLike},   {"Concat", foldConcat},
      {"CumSum", foldCumSum},       {"Einsum", foldEinsum},
      {"Expand", foldExpand},       {"Flatten", foldView},
      {"Gather", foldGather},       {"GatherElements", foldGatherElements},
      {"GatherND", foldGatherNd},   {"MatMul", foldMatMul},
      {"NonZero", foldNonZero},     {"Range", foldRange},
      {"ReduceL1", foldReduce},     {"ReduceL2", foldReduce},
      {"ReduceMax", foldReduce},    {"ReduceMean", foldReduce},
      {"ReduceMin", foldReduce},    {"ReduceProd", foldReduce},
      {"ReduceSum", foldReduce},    {"ReduceSumSquare", foldReduce},
      {"Reshape", foldView},        {"Shape", foldShape},
      {"ScatterND", foldScatterNd}, {"Size", foldShape},
      {"Slice", foldSlice},         {"Squeeze", foldView},
      {"Tile", foldTile},           {"Trilu", foldTrilu},
      {"Transpose", foldTranspose}, {"Unsqueeze", foldView},
  };
  return table.lookup(op);
}

/// How many operands an operator of the fold tables needs.
static unsigned minOperands(llvm::StringRef op) {
  if (op == "Range" || op == "ScatterND" || op == "Where")
    return 3;
  const bool isPair = op == "CastLike" || op == "CumSum" || op == "Expand" || op == "Gather" ||
                      op == "MatMul" || op == "GatherElements" || op == "GatherND";
  return isPair || op == "Reshape" || op == "Tile" ? 2 : 1;
}

LogicalResult frontend::checkFolded(NodeImport &node, const ConstantTensor &result) {
  if (exceedsInt64(result))
    return node.error("its result has integers of uint64 from 2^63 on, which are not supported");
  return success();
}

/// Computes the result once more from what the operands are at another batch. Where that fails, the
/// result counts as alike.
static void foldAtOtherBatch(NodeImport &node, FoldFunction fold, ConstantTensor &result) {
  llvm::SmallVector<const ConstantTensor *> operands;
  bool differs = false;
  node.readsOtherBatch = true;
  for (unsigned i = 0; i < node.inputCount(); ++i)
    if (node.hasInput(i)) {
      operands.push_back(node.constant(i));
      differs |= node.state.values.constant(node.inputName(i)) != operands.back();
    }
  FailureOr<ConstantTensor> other;
  if (differs)
    other = fold(node, operands);
  node.readsOtherBatch = false;
  result.atOtherBatch.reset();
  if (node.failed())
    node.state.values.status = Status::ok();
  if (failed(other))
    return;
  roundElements(*other);
  result.setAtOtherBatch(std::move(*other));
}

FailureOr<bool> frontend::foldNode(NodeImport &node) {
  const FoldFunction elementwise = findElementwiseFold(node.op());
  const FoldFunction fold = elementwise ? elementwise : findShapeFold(node.op());
  if (!fold || node.inputCount() < minOperands(node.op()) || !node.hasInput(0))
    return false;
  if (elementwise || node.op() == "Expand" || node.op() == "Tile")
    if (const FailureOr<bool> done = foldRepeated(node, fold); failed(done) || *done)
      return done;
  llvm::SmallVector<const ConstantTensor *> operands;
  bool fromShape = false;
  for (unsigned i = 0; i < node.inputCount(); ++i) {
    if (!node.hasInput(i))
      continue;
    if (!node.isKnown(i))
      return false;
    operands.push_back(node.constant(i));
    fromShape |= operands.back()->fromShape;
  }
  if (operands.size() < minOperands(node.op()))
    return false;
  SYNCLINE_TRY_MLIR(result, fold(node, operands));
  result->fromShape = fromShape;
  roundElements(*result);
  foldAtOtherBatch(node, fold, *result);
  if (failed(checkFolded(node, *result)))
    return failure();
  return succeeded(node.defineConstant(std::move(*result)));
}
