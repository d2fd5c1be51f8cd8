// The table from nn operations to the runtime's kernels.
#include "passes/lower/Kernels.h"

#include "ir/nn/NN.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace syncline::lower {

using plan::Kernel;
using Names = llvm::ArrayRef<llvm::StringRef>;

/// Takes the first names of each list, since optional operands and results come last.
static KernelUse use(Operation *op, Kernel kernel, Names ins, Names outs) {
  KernelUse result{kernel, {}, {}};
  ins = ins.take_front(op->getNumOperands());
  outs = outs.take_front(op->getNumResults());
  result.ins.assign(ins.begin(), ins.end());
  result.outs.assign(outs.begin(), outs.end());
  return result;
}

static std::optional<KernelUse> linearKernel(Operation *op) {
  using Use = std::optional<KernelUse>;
  return llvm::TypeSwitch<Operation *, Use>(op)
      .Case([&](nn::ConvOp) { return use(op, Kernel::conv, {"x", "w", "bias"}, {"y"}); })
      .Case([&](nn::ConvBackwardDataOp) {
        return use(op, Kernel::convBackwardData, {"dy", "w"}, {"dx"});
      })
      .Case([&](nn::ConvBackwardWeightsOp) {
        return use(op, Kernel::convBackwardWeights, {"x", "dy"}, {"dw", "dbias"});
      })
      .Case([&](nn::MatmulOp) { return use(op, Kernel::matmul, {"a", "b", "bias"}, {"y"}); })
      .Default([](Operation *) { return std::nullopt; });
}

static std::optional<KernelUse> normalizationKernel(Operation *op) {
  using Use = std::optional<KernelUse>;
  return llvm::TypeSwitch<Operation *, Use>(op)
      .Case([&](nn::BatchNormOp) {
        return use(op, Kernel::batchNorm, {"x", "scale", "shift", "runningMean", "runningVariance"},
                   {"y", "mean", "variance", "workspace"});
      })
      .Case([&](nn::BatchNormBackwardOp) {
        return use(op, Kernel::batchNormBackward,
                   {"x", "scale", "mean", "variance", "dy", "workspace"},
                   {"dx", "dscale", "dshift"});
      })
      .Case([&](nn::LayerNormOp) {
        return use(op, Kernel::layerNorm, {"x", "scale", "shift"}, {"y"});
      })
      .Case([&](nn::LayerNormBackwardOp) {
        return use(op, Kernel::layerNormBackward, {"x", "scale", "dy"}, {"dx", "dscale", "dshift"});
      })
      .Case([&](nn::LrnOp) { return use(op, Kernel::lrn, {"x"}, {"y"}); })
      .Case([&](nn::LrnBackwardOp) { return use(op, Kernel::lrnBackward, {"x", "dy"}, {"dx"}); })
      .Case([&](nn::SoftmaxOp) { return use(op, Kernel::softmax, {"x"}, {"y"}); })
      .Case([&](nn::SoftmaxBackwardOp) {
        return use(op, Kernel::softmaxBackward, {"y", "dy"}, {"dx"});
      })
      .Case([&](nn::DropoutOp) { return use(op, Kernel::dropout, {"x"}, {"y", "mask"}); })
      .Case([&](nn::DropoutBackwardOp) {
        return use(op, Kernel::dropoutBackward, {"dy", "mask"}, {"dx"});
      })
      .Case([&](nn::CrossEntropyOp) {
        return use(op, Kernel::crossEntropy, {"logits", "target"}, {"loss", "dlogits"});
      })
      .Case([&](nn::MeanSquaredErrorOp) {
        return use(op, Kernel::meanSquaredError, {"y", "target"}, {"loss", "dy"});
      })
      .Default([](Operation *) { return std::nullopt; });
}

static std::optional<KernelUse> dataKernel(Operation *op) {
  using Use = std::optional<KernelUse>;
  return llvm::TypeSwitch<Operation *, Use>(op)
      .Case([&](nn::MaxPoolOp) { return use(op, Kernel::maxPool, {"x"}, {"y", "workspace"}); })
      .Case([&](nn::MaxPoolBackwardOp) {
        return use(op, Kernel::maxPoolBackward, {"dy", "workspace"}, {"dx"});
      })
      .Case([&](nn::AveragePoolOp) { return use(op, Kernel::averagePool, {"x"}, {"y"}); })
      .Case([&](nn::AveragePoolBackwardOp) {
        return use(op, Kernel::averagePoolBackward, {"dy"}, {"dx"});
      })
      .Case([&](nn::ConcatOp) {
        return use(op, Kernel::concat, llvm::SmallVector<StringRef>(op->getNumOperands(), "x"),
                   {"y"});
      })
      .Case([&](nn::EmbeddingOp) { return use(op, Kernel::embedding, {"ids", "table"}, {"y"}); })
      .Case([&](nn::EmbeddingBackwardOp) {
        return use(op, Kernel::embeddingBackward, {"ids", "dy", "onto"}, {"dtable"});
      })
      .Case([&](nn::SliceOp) { return use(op, Kernel::slice, {"x"}, {"y"}); })
      .Case([&](nn::SliceBackwardOp) { return use(op, Kernel::sliceBackward, {"dy"}, {"dx"}); })
      .Case([&](nn::PadOp) { return use(op, Kernel::pad, {"x"}, {"y"}); })
      .Case([&](nn::TransposeOp) { return use(op, Kernel::transpose, {"x"}, {"y"}); })
      .Case([&](nn::ReshapeOp) { return use(op, Kernel::reshape, {"x"}, {"y"}); })
      .Case([&](nn::ReduceOp) { return use(op, Kernel::reduce, {"x"}, {"y"}); })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<KernelUse> kernelOf(Operation *op) {
  for (auto family : {linearKernel, normalizationKernel, dataKernel})
    if (std::optional<KernelUse> found = family(op))
      return found;
  return std::nullopt;
}

bool keepsZero(nn::PointwiseOp op) {
  Block &body = op.getBody().front();
  llvm::DenseMap<Value, Attribute> known;
  Builder builder(op.getContext());
  for (Value argument : body.getArguments())
    known[argument] = builder.getZeroAttr(argument.getType());
  for (Operation &inner : body.without_terminator()) {
    llvm::SmallVector<OpFoldResult> folded;
    // The first attempt may only move a constant operand to the last place.
    for (int attempt = 0; attempt < 2 && folded.empty(); ++attempt) {
      llvm::SmallVector<Attribute> operands;
      for (Value operand : inner.getOperands())
        operands.push_back(known.lookup(operand));
      if (failed(inner.fold(operands, folded)))
        break;
    }
    if (folded.size() != inner.getNumResults())
      continue;
    for (auto [result, value] : llvm::zip(inner.getResults(), folded))
      known[result] =
          isa<Attribute>(value) ? cast<Attribute>(value) : known.lookup(cast<Value>(value));
  }
  return llvm::all_of(body.getTerminator()->getOperands(), [&](Value yielded) {
    Attribute value = known.lookup(yielded);
    return value && (matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero()));
  });
}

} // namespace syncline::lower
