// Computes elementwise operators on constants that repeat, as masks do for each sample.
#include "frontend/onnx/FoldConstants.h"
#include "frontend/onnx/Repeats.h"

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

namespace {
struct Operand {
  const ConstantTensor *values;
  nn::DimsRef dims, dimsAtOtherBatch; ///< to which the values are broadcast
};
} // namespace

static std::optional<Operand> operandAt(NodeImport &node, unsigned i) {
  if (!node.hasInput(i))
    return std::nullopt;
  if (const RepeatedTensor *repeated = node.state.values.repeated(node.inputName(i)))
    return Operand{&repeated->values, repeated->dims, repeated->dimsAtOtherBatch};
  const ConstantTensor *known = node.isKnown(i) ? node.constant(i) : nullptr;
  if (!known)
    return std::nullopt;
  return Operand{known, known->dims, known->atOtherBatch ? known->atOtherBatch->dims : known->dims};
}

/// Whether the node repeats its first operand, as its second one says.
static bool repeats(const NodeImport &node) { return node.op() == "Expand" || node.op() == "Tile"; }

/// The dimensions of the node's result, at this batch or the other one; unset where it is not
/// computed at import, or not good.
static std::optional<nn::Dims> resultDims(NodeImport &node, llvm::ArrayRef<Operand> operands,
                                          bool atOtherBatch) {
  nn::Dims dims;
  if (repeats(node)) {
    node.readsOtherBatch = atOtherBatch;
    std::optional<nn::Dims> target = node.isKnown(1) ? node.list("shape", 1) : std::nullopt;
    node.readsOtherBatch = false;
    const nn::Dims x(atOtherBatch ? operands[0].dimsAtOtherBatch : operands[0].dims);
    const bool isTile = node.op() == "Tile";
    if (!target || (isTile && target->size() != x.size()))
      return std::nullopt;
    dims = *target;
    for (std::size_t d = 0; isTile && d < dims.size(); ++d)
      dims[d] *= x[d];
  }
  for (const Operand &operand : operands) {
    llvm::Expected<nn::Dims> common =
        nn::broadcastShape(dims, atOtherBatch ? operand.dimsAtOtherBatch : operand.dims);
    if (!common) {
      llvm::consumeError(common.takeError()); // the fold function says so
      return std::nullopt;
    }
    dims = *common;
  }
  return dims;
}

static void dropRepeats(ConstantTensor &x) {
  x.isReal() ? keepOneOfEqual(x.dims, x.reals) : keepOneOfEqual(x.dims, x.ints);
}

/// The values without what repeats; unset where more than that depends on the batch.
static std::optional<ConstantTensor> onceOf(const ConstantTensor &values) {
  ConstantTensor once = values;
  once.atOtherBatch.reset();
  dropRepeats(once);
  if (!values.atOtherBatch)
    return once;
  ConstantTensor other = *values.atOtherBatch;
  dropRepeats(other);
  return once.hasElementsOf(other) ? std::optional(std::move(once)) : std::nullopt;
}

FailureOr<bool> frontend::foldRepeated(NodeImport &node, FoldFunction fold) {
  const bool isExpand = repeats(node);
  llvm::SmallVector<Operand, 3> operands;
  for (unsigned i = 0; i < (isExpand ? 1 : node.inputCount()); ++i) {
    const std::optional<Operand> operand = operandAt(node, i);
    if (!operand)
      return false;
    operands.push_back(*operand);
  }
  std::optional<nn::Dims> dims = resultDims(node, operands, false);
  if (!node.state.values.status)
    return failure();
  if (!dims || !isSaneShape(*dims, 1) || nn::elementCount(*dims) <= maxConstantElements)
    return false;
  llvm::SmallVector<ConstantTensor, 3> once;
  llvm::SmallVector<const ConstantTensor *, 3> in;
  bool fromShape = isExpand && node.constant(1)->fromShape;
  for (const Operand &operand : operands) {
    std::optional<ConstantTensor> x = onceOf(*operand.values);
    if (!x)
      return false;
    fromShape |= x->fromShape;
    once.push_back(std::move(*x));
  }
  for (const ConstantTensor &x : once)
    in.push_back(&x);
  SYNCLINE_TRY_MLIR(result, isExpand ? once.front() : fold(node, in));
  result->fromShape = fromShape;
  roundElements(*result);
  std::optional<nn::Dims> others = resultDims(node, operands, true);
  if (!others || failed(checkFolded(node, *result)))
    return failure();
  return succeeded(node.defineRepeated({std::move(*result), std::move(*dims), std::move(*others)}));
}
