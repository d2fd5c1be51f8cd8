// The rule for recurrent layers.
#include "passes/differentiate/Rules.h"

using namespace mlir;
using namespace syncline::differentiate;
using namespace syncline::nn;

/// The gradient that has reached the value, or zeros.
static Value gradientOrZero(Gradients &g, Value value) {
  if (Value known = g.of(value))
    return known;
  const RankedTensorType type = tensorType(value);
  return g.create<BroadcastOp>(type, g.scalar(0, type.getElementType()));
}

static LogicalResult differentiateRecurrent(RecurrentOp op, Gradients &g) {
  const Value dy = gradientOrZero(g, op.getY()), dlast = gradientOrZero(g, op.getLast());
  auto back = g.create<RecurrentBackwardOp>(op.getX().getType(), op.getR().getType(),
                                            op.getBias().getType(), op.getInitial().getType(),
                                            op.getR(), op.getInitial(), op.getSaved(), dy, dlast,
                                            op.getLengths(), op.getCellAttr(), op.getReverseAttr());
  g.add(op.getR(), back.getDr());
  g.add(op.getBias(), back.getDbias());
  g.add(op.getInitial(), back.getDinitial());
  g.add(op.getX(), back.getDx());
  return success();
}

void syncline::differentiate::attachRecurrentRules(MLIRContext *context) {
  attachRule<RecurrentOp, differentiateRecurrent>(context);
}
