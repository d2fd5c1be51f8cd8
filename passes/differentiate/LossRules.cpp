// Rules for losses. The forward operation of a loss also computes its gradient.
#include "passes/differentiate/Rules.h"

using namespace mlir;
using namespace syncline::differentiate;
using namespace syncline::nn;

/// The rule of all losses with a scalar result and a ready gradient with respect to `value`.
static LogicalResult useReadyGradient(Operation *op, Value value, Value target, Value ready,
                                      Value loss, Gradients &g) {
  if (g.of(ready))
    return op->emitOpError("no derivative for the gradient of a loss");
  if (g.wanted(target))
    return op->emitOpError("no derivative with respect to the target");
  Value dy = g.of(loss);
  g.add(value, g.isOne(dy) ? ready : g.binary(BinaryKind::mul, ready, dy));
  return success();
}

static LogicalResult differentiateCrossEntropy(CrossEntropyOp op, Gradients &g) {
  return useReadyGradient(op, op.getLogits(), op.getTarget(), op.getGradient(), op.getLoss(), g);
}

static LogicalResult differentiateMeanSquaredError(MeanSquaredErrorOp op, Gradients &g) {
  return useReadyGradient(op, op.getValue(), op.getTarget(), op.getGradient(), op.getLoss(), g);
}

void syncline::differentiate::attachLossRules(MLIRContext *context) {
  attachRule<CrossEntropyOp, differentiateCrossEntropy>(context);
  attachRule<MeanSquaredErrorOp, differentiateMeanSquaredError>(context);
}
