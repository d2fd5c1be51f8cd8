// Rules for normalisations, softmax and dropout.
#include "passes/differentiate/Rules.h"

#include "ir/Refusal.h"

using namespace mlir;
using namespace syncline;
using namespace syncline::differentiate;
using namespace syncline::nn;

static LogicalResult differentiateBatchNorm(BatchNormOp op, Gradients &g) {
  if (op.getActivation() != Activation::none)
    return op.emitOpError("no derivative for a fused activation; fuse after differentiating");
  if (g.of(op.getMean()) || g.of(op.getVariance()))
    return refuseOp(op) << "no derivative for the batch's mean and variance as results";
  Value x = op.getX(), scale = op.getScale();
  auto back = g.create<BatchNormBackwardOp>(x.getType(), scale.getType(), op.getShift().getType(),
                                            x, scale, op.getMean(), op.getVariance(),
                                            g.of(op.getY()), Value(), op.getEpsilonAttr(),
                                            ActivationAttr::get(op.getContext(), Activation::none));
  g.add(scale, back.getDscale());
  g.add(op.getShift(), back.getDshift());
  g.add(x, back.getDx());
  return success();
}

static LogicalResult differentiateLayerNorm(LayerNormOp op, Gradients &g) {
  Value x = op.getX(), scale = op.getScale();
  auto back = g.create<LayerNormBackwardOp>(x.getType(), scale.getType(), scale.getType(), x, scale,
                                            g.of(op.getY()), op.getEpsilonAttr());
  g.add(scale, back.getDscale());
  if (op.getShift())
    g.add(op.getShift(), back.getDshift());
  g.add(x, back.getDx());
  return success();
}

static LogicalResult differentiateLrn(LrnOp op, Gradients &g) {
  g.add(op.getX(),
        g.create<LrnBackwardOp>(op.getX().getType(), op.getX(), g.of(op.getY()), op.getSizeAttr(),
                                op.getAlphaAttr(), op.getBetaAttr(), op.getBiasAttr()));
  return success();
}

static LogicalResult differentiateSoftmax(SoftmaxOp op, Gradients &g) {
  g.add(op.getX(), g.create<SoftmaxBackwardOp>(op.getX().getType(), op.getY(), g.of(op.getY()),
                                               op.getAxisAttr(), op.getLogarithmAttr()));
  return success();
}

static LogicalResult differentiateDropout(DropoutOp op, Gradients &g) {
  g.add(op.getX(), g.create<DropoutBackwardOp>(op.getX().getType(), g.of(op.getY()), op.getMask(),
                                               op.getRatioAttr()));
  return success();
}

void syncline::differentiate::attachNormalizationRules(MLIRContext *context) {
  attachRule<BatchNormOp, differentiateBatchNorm>(context);
  attachRule<LayerNormOp, differentiateLayerNorm>(context);
  attachRule<LrnOp, differentiateLrn>(context);
  attachRule<SoftmaxOp, differentiateSoftmax>(context);
  attachRule<DropoutOp, differentiateDropout>(context);
}
