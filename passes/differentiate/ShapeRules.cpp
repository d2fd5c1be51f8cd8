// Rules for operations that move or reduce elements.
#include "passes/differentiate/Rules.h"

#include "ir/nn/Shapes.h"

using namespace mlir;
using namespace syncline::differentiate;
using namespace syncline::nn;

static LogicalResult differentiateReshape(ReshapeOp op, Gradients &g) {
  g.add(op.getX(), g.reshape(g.of(op.getY()), tensorType(op.getX())));
  return success();
}

static LogicalResult differentiateTranspose(TransposeOp op, Gradients &g) {
  Dims inverse(op.getPermutation().size());
  for (auto [i, d] : llvm::enumerate(op.getPermutation()))
    inverse[d] = i;
  g.add(op.getX(), g.create<TransposeOp>(op.getX().getType(), g.of(op.getY()), inverse));
  return success();
}

static LogicalResult differentiateConcat(ConcatOp op, Gradients &g) {
  Dims starts(tensorType(op.getY()).getRank(), 0), steps(starts.size(), 1);
  for (Value x : op.getXs()) {
    if (g.wanted(x))
      g.add(x, g.create<SliceOp>(x.getType(), g.of(op.getY()), starts, steps));
    starts[op.getAxis()] += tensorType(x).getDimSize(op.getAxis());
  }
  return success();
}

static LogicalResult differentiateSlice(SliceOp op, Gradients &g) {
  g.addPart(op, g.of(op.getY()));
  return success();
}

/// The rule of padding. Padding that only grows is undone by a slice, any other by the
/// opposite padding.
static LogicalResult differentiatePad(PadOp op, Gradients &g) {
  RankedTensorType x = tensorType(op.getX()), y = tensorType(op.getY());
  Dims back;
  bool grows = true;
  for (auto [i, begin] : llvm::enumerate(op.getBegins())) {
    grows &= begin >= 0 && y.getDimSize(i) - x.getDimSize(i) - begin >= 0;
    back.push_back(-begin);
  }
  Value dy = g.of(op.getY());
  if (grows)
    g.add(op.getX(), g.create<SliceOp>(x, dy, op.getBegins(), Dims(back.size(), 1)));
  else
    g.add(op.getX(), g.create<PadOp>(x, dy, back, llvm::APFloat(0.0)));
  return success();
}

/// The elements that are the maximum share its gradient evenly, as in PyTorch's amax. None is where
/// the maximum is NaN, so that 0/0 makes their gradients NaN.
static void differentiateMaximum(ReduceOp op, Gradients &g) {
  RankedTensorType x = tensorType(op.getX());
  auto kept =
      RankedTensorType::get(reducedShape(x.getShape(), op.getAxes(), true), x.getElementType());
  Value isMaximum =
      g.binary(BinaryKind::not_less, op.getX(), g.reshape(op.getY(), kept)); // equal, that is
  Value count = g.create<ReduceOp>(kept, Reduction::sum, isMaximum, op.getAxes());
  Value share = g.binary(BinaryKind::div, g.reshape(g.of(op.getY()), kept), count);
  g.add(op.getX(), g.binary(BinaryKind::mul, isMaximum, share));
}

/// The rule of reductions. The gradient is scaled while it is small, then repeated.
static LogicalResult differentiateReduce(ReduceOp op, Gradients &g) {
  if (op.getKind() == Reduction::maximum) {
    differentiateMaximum(op, g);
    return success();
  }
  RankedTensorType x = tensorType(op.getX());
  Value dy = g.of(op.getY());
  if (op.getKind() == Reduction::mean) {
    double count = double(x.getNumElements()) / double(tensorType(dy).getNumElements());
    dy = g.binary(BinaryKind::mul, dy, g.scalar(1 / count, x.getElementType()));
  }
  Dims kept = reducedShape(x.getShape(), op.getAxes(), true);
  dy = g.reshape(dy, RankedTensorType::get(kept, x.getElementType()));
  if (dy.getType() != x)
    dy = g.create<BroadcastOp>(x, dy);
  g.add(op.getX(), dy);
  return success();
}

static LogicalResult differentiateEmbedding(EmbeddingOp op, Gradients &g) {
  Value table = op.getTable();
  g.add(table,
        g.create<EmbeddingBackwardOp>(table.getType(), op.getIds(), g.of(op.getY()), Value()));
  return success();
}

static LogicalResult differentiateResample(ResampleOp op, Gradients &g) {
  g.add(op.getX(), g.create<ResampleBackwardOp>(op.getX().getType(), g.of(op.getY()),
                                                op.getAxesAttr(), op.getCoordinatesAttr(),
                                                op.getFilterAttr(), op.getCubicCoefficientAttr(),
                                                op.getExcludeOutsideAttr(), op.getAntialiasAttr()));
  return success();
}

void syncline::differentiate::attachShapeRules(MLIRContext *context) {
  attachRule<EmbeddingOp, differentiateEmbedding>(context);
  attachRule<ReshapeOp, differentiateReshape>(context);
  attachRule<TransposeOp, differentiateTranspose>(context);
  attachRule<ConcatOp, differentiateConcat>(context);
  attachRule<SliceOp, differentiateSlice>(context);
  attachRule<PadOp, differentiatePad>(context);
  attachRule<ReduceOp, differentiateReduce>(context);
  attachRule<ResampleOp, differentiateResample>(context);
}
