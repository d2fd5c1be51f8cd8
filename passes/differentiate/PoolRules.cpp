// Rules for pooling.
#include "passes/differentiate/Rules.h"

using namespace mlir;
using namespace syncline::differentiate;
using namespace syncline::nn;

static LogicalResult differentiateMaxPool(MaxPoolOp op, Gradients &g) {
  g.add(op.getX(),
        g.create<MaxPoolBackwardOp>(op.getX().getType(), g.of(op.getY()), op.getWorkspace(),
                                    op.getKernelAttr(), op.getStridesAttr(), op.getDilationsAttr(),
                                    op.getPadsBeginAttr(), op.getPadsEndAttr()));
  return success();
}

static LogicalResult differentiateAveragePool(AveragePoolOp op, Gradients &g) {
  g.add(op.getX(), g.create<AveragePoolBackwardOp>(
                       op.getX().getType(), g.of(op.getY()), op.getKernelAttr(),
                       op.getStridesAttr(), op.getDilationsAttr(), op.getPadsBeginAttr(),
                       op.getPadsEndAttr(), op.getCountIncludePadAttr()));
  return success();
}

void syncline::differentiate::attachPoolRules(MLIRContext *context) {
  attachRule<MaxPoolOp, differentiateMaxPool>(context);
  attachRule<AveragePoolOp, differentiateAveragePool>(context);
}
