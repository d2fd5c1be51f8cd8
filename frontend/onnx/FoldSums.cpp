// Computes sums over constants: CumSum and MatMul.
#include "frontend/onnx/FoldConstants.h"

#include "onnx/onnx_pb.h"

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

/// result[place] = result[from] + x[at], rounded to the type; x[at] alone where `from` is negative.
static void addElement(ConstantTensor &result, std::int64_t place, std::int64_t from,
                       const ConstantTensor &x, std::int64_t at) {
  if (x.isReal())
    result.reals[place] =
        from < 0 ? x.reals[at] : roundTo(x.type, result.reals[from] + x.reals[at]);
  else
    result.ints[place] =
        wrap(x.type, static_cast<std::uint64_t>(x.ints[at]) +
                         static_cast<std::uint64_t>(from < 0 ? 0 : result.ints[from]));
}

static ConstantTensor zeros(int type, const nn::Dims &dims) {
  ConstantTensor result;
  result.type = type;
  result.dims = dims;
  if (result.isReal())
    result.reals.assign(result.size(), 0);
  else
    result.ints.assign(result.size(), 0);
  return result;
}

FailureOr<std::int64_t> frontend::cumSumAxis(NodeImport &node, size_t rank) {
  const ConstantTensor *axis = node.constant(1);
  if (!axis || axis->isReal() || axis->size() != 1)
    return node.error("expected a constant axis, got '" + node.inputName(1) + "'");
  return node.axis(axis->ints[0], rank);
}

FailureOr<ConstantTensor> frontend::foldCumSum(NodeImport &node, Constants in) {
  const ConstantTensor &x = *in[0];
  SYNCLINE_TRY_MLIR(axis, cumSumAxis(node, x.dims.size()));
  const std::int64_t begin = node.integer("exclusive", 0) != 0 ? 1 : 0; // before it, sums are 0
  const bool isReverse = node.integer("reverse", 0) != 0;
  const std::int64_t inner = nn::elementCount(nn::DimsRef(x.dims).drop_front(*axis + 1));
  const std::int64_t count = x.dims[*axis];
  ConstantTensor result = zeros(x.type, x.dims);
  for (std::int64_t first = 0; first < x.size(); first += inner * count)
    for (std::int64_t i = 0; i < inner; ++i)
      for (std::int64_t at = begin; at < count; ++at) {
        const auto placeOf = [&](std::int64_t k) {
          return first + i + inner * (isReverse ? count - 1 - k : k);
        };
        addElement(result, placeOf(at), at == begin ? -1 : placeOf(at - 1), x, placeOf(at - begin));
      }
  return result;
}

FailureOr<ConstantTensor> frontend::foldMatMul(NodeImport &node, Constants in) {
  constexpr std::int64_t maxProducts = std::int64_t{1} << 26;
  if (in.size() != 2 || !in[0]->isReal() || in[0]->type != in[1]->type || in[0]->dims.size() < 2 ||
      in[1]->dims.size() < 2)
    return node.error("expected two constants of one floating-point type and of rank 2 or more");
  llvm::Expected<nn::Dims> dims = nn::matmulShape(in[0]->dims, false, in[1]->dims, false);
  if (!dims)
    return node.error(llvm::toString(dims.takeError()));
  const std::int64_t rows = (*dims)[dims->size() - 2], columns = dims->back();
  const std::int64_t depth = in[0]->dims.back();
  nn::Dims left(nn::DimsRef(*dims).drop_back(2)), right(left);
  left.append({rows, depth});
  right.append({depth, columns});
  if (!isSaneShape(*dims) || nn::elementCount(*dims) > maxConstantElements ||
      nn::elementCount(*dims) * depth > maxProducts)
    return node.error("a product of shape " + nn::toString(*dims) +
                      " is too large to compute at import");
  FailureOr<ConstantTensor> a = broadcastTo(node, *in[0], left);
  FailureOr<ConstantTensor> b = broadcastTo(node, *in[1], right);
  if (failed(a) || failed(b))
    return failure();
  ConstantTensor result = zeros(in[0]->type, *dims);
  for (std::int64_t i = 0; i < result.size(); ++i) {
    const std::int64_t row = i / columns, stack = row / rows, column = i % columns;
    for (std::int64_t k = 0; k < depth; ++k)
      result.reals[i] +=
          a->reals[row * depth + k] * b->reals[(stack * depth + k) * columns + column];
  }
  return result;
}
