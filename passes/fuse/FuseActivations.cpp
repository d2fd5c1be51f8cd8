// The pass `fuse-activations`: a relu becomes part of the operation before it.
#include "passes/Passes.h"
#include "passes/fuse/Combine.h"

#include "mlir/IR/Builders.h"

namespace syncline {
#define GEN_PASS_DEF_FUSEACTIVATIONS
#include "passes/Passes.h.inc"
} // namespace syncline

using namespace mlir;
using namespace syncline::fuse;
using namespace syncline::nn;

namespace {
/// The backward half of a batch_norm followed by relu; both are null when the step has none.
struct BackwardPair {
  BatchNormBackwardOp norm;
  UnaryBackwardOp relu;
};
} // namespace

/// Finds the backward half; fails when it is not exactly relu's derivative followed
/// by batch_norm's.
static FailureOr<BackwardPair> findBackward(BatchNormOp norm, UnaryOp relu) {
  BackwardPair pair;
  for (Operation *user : norm.getMean().getUsers()) {
    auto found = dyn_cast<BatchNormBackwardOp>(user);
    if (!found || pair.norm)
      return failure();
    pair.norm = found;
  }
  if (!pair.norm)
    return pair;
  pair.relu = pair.norm.getDy().getDefiningOp<UnaryBackwardOp>();
  if (!pair.relu || pair.relu.getKind() != UnaryKind::relu ||
      pair.relu.getReference() != relu.getY() || !pair.relu->hasOneUse())
    return failure();
  return pair;
}

static ActivationAttr reluAttr(Operation *op) {
  return ActivationAttr::get(op->getContext(), Activation::relu);
}

static void fuseBackward(BackwardPair pair, Value workspace) {
  BatchNormBackwardOp norm = pair.norm;
  OpBuilder builder(norm);
  auto fused = builder.create<BatchNormBackwardOp>(
      norm.getLoc(), norm.getDx().getType(), norm.getDscale().getType(), norm.getDshift().getType(),
      norm.getX(), norm.getScale(), norm.getMean(), norm.getVariance(), pair.relu.getDy(),
      workspace, norm.getEpsilonAttr(), reluAttr(norm));
  combineAttributes(fused, {pair.relu, norm});
  norm.replaceAllUsesWith(fused);
  norm.erase();
  pair.relu.erase();
}

static void fuseBatchNorm(BatchNormOp norm, UnaryOp relu) {
  FailureOr<BackwardPair> pair = findBackward(norm, relu);
  if (failed(pair))
    return;
  OpBuilder builder(norm);
  auto y = cast<RankedTensorType>(norm.getY().getType());
  auto mask = RankedTensorType::get(y.getShape(), builder.getIntegerType(8, /*isSigned=*/false));
  auto fused = builder.create<BatchNormOp>(
      norm.getLoc(), y, norm.getMean().getType(), norm.getVariance().getType(), mask, norm.getX(),
      norm.getScale(), norm.getShift(), norm.getRunningMean(), norm.getRunningVariance(),
      norm.getEpsilonAttr(), norm.getMomentumAttr(), reluAttr(norm));
  combineAttributes(fused, {relu, norm});
  if (pair->norm)
    fuseBackward(*pair, fused.getWorkspace());
  relu.getY().replaceAllUsesWith(fused.getY());
  norm.getMean().replaceAllUsesWith(fused.getMean());
  norm.getVariance().replaceAllUsesWith(fused.getVariance());
  relu.erase();
  norm.erase();
}

/// Fuses relu into a convolution or product. Relu's derivative reads the result, which stays
/// the same.
template <typename Op> static void fuseLinear(Op op, UnaryOp relu) {
  combineAttributes(op, {relu, op});
  op.setActivation(Activation::relu);
  relu.getY().replaceAllUsesWith(op.getY());
  relu.erase();
}

static void fuseRelu(UnaryOp relu) {
  if (relu.getKind() != UnaryKind::relu || !relu.getX().hasOneUse())
    return;
  Operation *before = relu.getX().getDefiningOp();
  if (auto norm = dyn_cast<BatchNormOp>(before)) {
    if (norm.getActivation() == Activation::none)
      fuseBatchNorm(norm, relu);
  } else if (auto conv = dyn_cast<ConvOp>(before)) {
    if (conv.getActivation() == Activation::none)
      fuseLinear(conv, relu);
  } else if (auto matmul = dyn_cast<MatmulOp>(before)) {
    if (matmul.getActivation() == Activation::none)
      fuseLinear(matmul, relu);
  }
}

namespace {
struct FuseActivations : syncline::impl::FuseActivationsBase<FuseActivations> {
  void runOnOperation() override {
    for (auto op : llvm::make_early_inc_range(getOperation().getBody().getOps<UnaryOp>()))
      fuseRelu(op);
  }
};
} // namespace
