// Computes nodes that take parts of a constant, GatherND and GatherElements, or change some:
// ScatterND, as assignments to slices are exported, and Trilu; and NonZero.
#include "frontend/onnx/FoldConstants.h"

#include "onnx/onnx_pb.h"

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

/// Copies `count` elements of `from` at `at` to `to` at `place`.
static void copyElements(ConstantTensor &to, std::int64_t place, const ConstantTensor &from,
                         std::int64_t at, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    if (to.isReal())
      to.reals[place + i] = from.reals[at + i];
    else
      to.ints[place + i] = from.ints[at + i];
}

/// The shape that updates need: that of the indices without their last dimension, then x's
/// dimensions that they do not name.
static nn::Dims updateShape(nn::DimsRef x, nn::DimsRef indices) {
  nn::Dims dims(indices.drop_back());
  llvm::append_range(dims, x.drop_front(indices.back()));
  return dims;
}

FailureOr<nn::Dims> frontend::rowsNamed(NodeImport &node, nn::DimsRef x,
                                        const ConstantTensor &indices, std::int64_t shared) {
  const nn::DimsRef dims = indices.dims;
  const std::int64_t named = dims.empty() ? 0 : dims.back();
  const auto rank = static_cast<std::int64_t>(x.size());
  if (indices.isReal() || shared < 0 || named < 1 || named > rank - shared ||
      shared >= static_cast<std::int64_t>(dims.size()) ||
      dims.take_front(shared) != x.take_front(shared))
    return node.error("expected indices that fit x, " + nn::toString(x) + ", got " +
                      nn::toString(dims));
  const std::int64_t count = indices.size() / named;
  const std::int64_t each =
      nn::elementCount(dims.drop_front(shared)) / named; // of one place in the shared dimensions
  nn::Dims rows;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t row = i / each;
    for (std::int64_t d = 0; d < named; ++d) {
      const std::int64_t index = indices.ints[i * named + d], size = x[shared + d];
      if (index < -size || index >= size)
        return node.error("index " + llvm::Twine(index) + " is not within size " +
                          llvm::Twine(size));
      row = row * size + (index < 0 ? index + size : index);
    }
    rows.push_back(row);
  }
  return rows;
}

FailureOr<ConstantTensor> frontend::foldGatherNd(NodeImport &node, Constants in) {
  const ConstantTensor &x = *in[0], &indices = *in[1];
  const std::int64_t shared = node.integer("batch_dims", 0);
  SYNCLINE_TRY_MLIR(rows, rowsNamed(node, x.dims, indices, shared));
  const nn::DimsRef inner = nn::DimsRef(x.dims).drop_front(shared + indices.dims.back());
  ConstantTensor result;
  result.type = x.type;
  result.dims.assign(indices.dims.begin(), indices.dims.end() - 1);
  llvm::append_range(result.dims, inner);
  if (!isSaneShape(result.dims) || nn::elementCount(result.dims) > maxConstantElements)
    return node.error("a constant of shape " + nn::toString(result.dims) +
                      " is too large to compute at import");
  const std::int64_t width = nn::elementCount(inner);
  result.reals.resize(x.isReal() ? rows->size() * width : 0);
  result.ints.resize(x.isReal() ? 0 : rows->size() * width);
  for (std::size_t i = 0; i < rows->size(); ++i)
    copyElements(result, static_cast<std::int64_t>(i) * width, x, (*rows)[i] * width, width);
  return result;
}

FailureOr<ConstantTensor> frontend::foldScatterNd(NodeImport &node, Constants in) {
  if (node.text("reduction", "none") != "none")
    return node.error("expected no reduction");
  const ConstantTensor &x = *in[0], &indices = *in[1], &updates = *in[2];
  SYNCLINE_TRY_MLIR(rows, rowsNamed(node, x.dims, indices));
  if (updates.type != x.type || updates.dims != updateShape(x.dims, indices.dims))
    return node.error("expected updates that fit x, " + nn::toString(x.dims) + ", and indices, " +
                      nn::toString(indices.dims) + ", got " + nn::toString(updates.dims));
  const std::int64_t width = nn::elementCount(nn::DimsRef(x.dims).drop_front(indices.dims.back()));
  ConstantTensor result = x;
  for (std::size_t i = 0; i < rows->size(); ++i)
    copyElements(result, (*rows)[i] * width, updates, static_cast<std::int64_t>(i) * width, width);
  return result;
}

FailureOr<ConstantTensor> frontend::foldTrilu(NodeImport &node, Constants in) {
  const bool isUpper = node.integer("upper", 1) != 0;
  const nn::DimsRef dims = in[0]->dims;
  if (dims.size() < 2 || (in.size() > 1 && (in[1]->isReal() || in[1]->size() != 1)))
    return node.error("expected matrices and a whole number as diagonal");
  const std::int64_t rows = dims[dims.size() - 2], columns = dims.back();
  const std::int64_t diagonal =
      in.size() > 1 ? std::clamp(in[1]->ints[0], -rows - 1, columns + 1) : 0;
  ConstantTensor result = *in[0];
  for (std::int64_t i = 0; i < result.size(); ++i) {
    const std::int64_t row = i / columns % rows, column = i % columns;
    if (isUpper ? column - row >= diagonal : column - row <= diagonal)
      continue;
    if (result.isReal())
      result.reals[i] = 0;
    else
      result.ints[i] = 0;
  }
  return result;
}

FailureOr<ConstantTensor> frontend::foldGatherElements(NodeImport &node, Constants in) {
  const ConstantTensor &x = *in[0], &indices = *in[1];
  SYNCLINE_TRY_MLIR(axis, node.axis(node.integer("axis", 0), x.dims.size()));
  const auto rank = static_cast<std::int64_t>(x.dims.size());
  for (std::int64_t d = 0; d < rank; ++d)
    if (indices.isReal() || static_cast<std::int64_t>(indices.dims.size()) != rank ||
        (d != *axis && indices.dims[d] > x.dims[d]))
      return node.error("expected indices that fit x, " + nn::toString(x.dims) + ", got " +
                        nn::toString(indices.dims));
  ConstantTensor result = indices;
  result.type = x.type;
  if (x.isReal()) {
    result.reals.resize(indices.ints.size());
    result.ints.clear();
  }
  for (std::int64_t i = 0; i < indices.size(); ++i) {
    const std::int64_t size = x.dims[*axis];
    const std::int64_t index = indices.ints[i] < 0 ? indices.ints[i] + size : indices.ints[i];
    if (index < 0 || index >= size)
      return node.error("index " + llvm::Twine(indices.ints[i]) + " is not within size " +
                        llvm::Twine(size));
    std::int64_t place = 0, rest = i, stride = 1;
    for (std::int64_t d = rank; d-- > 0; rest /= indices.dims[d], stride *= x.dims[d])
      place += stride * (d == *axis ? index : rest % indices.dims[d]);
    copyElements(result, i, x, place, 1);
  }
  return result;
}

// The result is [rank, count]: a column has the coordinates of one element.
FailureOr<ConstantTensor> frontend::foldNonZero(NodeImport &node, Constants in) {
  const ConstantTensor &x = *in[0];
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < x.size(); ++i)
    if (x.isReal() ? x.reals[i] != 0 : x.ints[i] != 0)
      places.push_back(i);
  const auto rank = static_cast<std::int64_t>(x.dims.size());
  const auto count = static_cast<std::int64_t>(places.size());
  if (rank * count > maxConstantElements)
    return node.error("its places are too many to compute at import");
  ConstantTensor result = integerList({});
  result.dims = {rank, count};
  for (std::int64_t d = 0; d < rank; ++d) {
    const std::int64_t inner = nn::elementCount(nn::DimsRef(x.dims).drop_front(d + 1));
    for (const std::int64_t place : places)
      result.ints.push_back(place / inner % x.dims[d]);
  }
  return result;
}
