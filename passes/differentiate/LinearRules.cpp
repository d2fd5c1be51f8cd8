// Rules for convolution and matrix product.
#include "passes/differentiate/Rules.h"

#include "ir/nn/Shapes.h"

using namespace mlir;
using namespace syncline::differentiate;
using namespace syncline::nn;

/// Fails where an activation is fused. Activations are fused after differentiation, since their
/// derivative would need the value before the activation.
template <typename Op> static LogicalResult expectNoActivation(Op op) {
  if (op.getActivation() == Activation::none)
    return success();
  return op.emitOpError("no derivative for a fused activation; fuse after differentiating");
}

/// The sum of `dy` over all dimensions but the channels.
static Value channelSum(Gradients &g, Value dy, Type type) {
  Dims axes;
  for (std::int64_t i = 0; i < tensorType(dy).getRank(); ++i)
    if (i != 1)
      axes.push_back(i);
  return g.create<ReduceOp>(type, Reduction::sum, dy, axes);
}

static LogicalResult differentiateConv(ConvOp op, Gradients &g) {
  if (failed(expectNoActivation(op)))
    return failure();
  Value dy = g.of(op.getY()), x = op.getX(), w = op.getW(), bias = op.getBias();
  bool wantBias = bias && g.wanted(bias);
  if (g.wanted(w)) {
    auto weights = g.create<ConvBackwardWeightsOp>(
        w.getType(), wantBias ? bias.getType() : Type(), x, dy, op.getStridesAttr(),
        op.getDilationsAttr(), op.getPadsBeginAttr(), op.getPadsEndAttr(), op.getGroupsAttr());
    g.add(w, weights.getDw());
    if (wantBias)
      g.add(bias, weights.getDbias());
  } else if (wantBias) {
    g.add(bias, channelSum(g, dy, bias.getType()));
  }
  if (g.wanted(x))
    g.add(x, g.create<ConvBackwardDataOp>(x.getType(), dy, w, op.getStridesAttr(),
                                          op.getDilationsAttr(), op.getPadsBeginAttr(),
                                          op.getPadsEndAttr(), op.getGroupsAttr()));
  return success();
}

/// A transposed convolution: its data's gradient is the convolution that it runs backwards, and its
/// weights' gradient is that convolution's, with data and gradient in each other's place.
static LogicalResult differentiateTransposed(ConvBackwardDataOp op, Gradients &g) {
  Value dy = g.of(op.getDx()), x = op.getDy(), w = op.getW();
  if (g.wanted(w))
    g.add(w, g.create<ConvBackwardWeightsOp>(w.getType(), Type(), dy, x, op.getStridesAttr(),
                                             op.getDilationsAttr(), op.getPadsBeginAttr(),
                                             op.getPadsEndAttr(), op.getGroupsAttr())
                 .getDw());
  if (g.wanted(x))
    g.add(x,
          g.create<ConvOp>(x.getType(), dy, w, Value(), op.getStridesAttr(), op.getDilationsAttr(),
                           op.getPadsBeginAttr(), op.getPadsEndAttr(), op.getGroupsAttr(),
                           ActivationAttr::get(op.getContext(), Activation::none)));
  return success();
}

static Value product(Gradients &g, Value a, bool transposeA, Value b, bool transposeB) {
  Dims shape = llvm::cantFail(
      matmulShape(tensorType(a).getShape(), transposeA, tensorType(b).getShape(), transposeB));
  auto type = RankedTensorType::get(shape, tensorType(a).getElementType());
  return g.create<MatmulOp>(type, a, b, Value(), transposeA, transposeB, Activation::none);
}

/// Reshapes [.., m, n] to [..·m, n].
static Value asMatrix(Gradients &g, Value value) {
  RankedTensorType type = tensorType(value);
  std::int64_t columns = type.getShape().back();
  return g.reshape(value, RankedTensorType::get({type.getNumElements() / columns, columns},
                                                type.getElementType()));
}

/// d(b) of y = op(a)·op(b). Where a is not transposed, the product transposes it, so no transposed
/// tensor is ever stored.
static Value rightGradient(Gradients &g, MatmulOp op, Value dy) {
  Value a = op.getA();
  // One b for a whole batch: a single product also sums over the batch.
  if (tensorType(op.getB()).getRank() == 2 && !op.getTransposeA()) {
    a = asMatrix(g, a);
    dy = asMatrix(g, dy);
  }
  return op.getTransposeB() ? product(g, dy, true, a, op.getTransposeA())
                            : product(g, a, !op.getTransposeA(), dy, false);
}

static Value leftGradient(Gradients &g, MatmulOp op, Value dy) {
  return op.getTransposeA() ? product(g, op.getB(), op.getTransposeB(), dy, true)
                            : product(g, dy, false, op.getB(), !op.getTransposeB());
}

static LogicalResult differentiateMatmul(MatmulOp op, Gradients &g) {
  if (failed(expectNoActivation(op)))
    return failure();
  Value dy = g.of(op.getY());
  if (op.getBias()) // before the weight, as PyTorch's nn.Linear, whose gradients DDP takes in order
    g.add(op.getBias(), dy);
  if (g.wanted(op.getB()))
    g.add(op.getB(), rightGradient(g, op, dy));
  if (g.wanted(op.getA()))
    g.add(op.getA(), leftGradient(g, op, dy));
  return success();
}

void syncline::differentiate::attachLinearRules(MLIRContext *context) {
  attachRule<ConvOp, differentiateConv>(context);
  attachRule<ConvBackwardDataOp, differentiateTransposed>(context);
  attachRule<MatmulOp, differentiateMatmul>(context);
}
