// Rules for elementwise operations.
//
// A rule creates a product right before the sum that reduces it, so that fusion can make one loop
// of both.
#include "passes/differentiate/Rules.h"

#include "ir/Refusal.h"
#include "ir/nn/UnaryKinds.h"

using namespace mlir;
using namespace syncline;
using namespace syncline::differentiate;
using namespace syncline::nn;

static LogicalResult differentiateUnary(UnaryOp op, Gradients &g) {
  Value dy = g.of(op.getY()), x = op.getX();
  UnaryKind kind = op.getKind();
  if (kind == UnaryKind::neg) { // a reference to the operand would keep it alive for nothing
    g.add(x, g.negate(dy));
    return success();
  }
  const UnaryRow &row = rowOf(kind);
  if (!row.hasDerivative())
    return success();
  if (row.reference == Reference::signOfResult && op.getAlpha().isNegative())
    return refuseOp(op) << "NN21: no derivative for a negative alpha, got "
                        << op.getAlpha().convertToDouble();
  Value reference = row.refersToResult() ? op.getY() : x;
  g.add(x, g.create<UnaryBackwardOp>(x.getType(), op.getKindAttr(), reference, dy,
                                     op.getAlphaAttr(), op.getBetaAttr()));
  return success();
}

static void differentiateProduct(BinaryOp op, Gradients &g, Value dy) {
  Value a = op.getA(), b = op.getB(), da, db;
  if (g.wanted(a))
    da = g.binary(BinaryKind::mul, dy, b);
  if (g.wanted(b))
    db = g.binary(BinaryKind::mul, dy, a);
  if (da)
    g.add(a, da);
  if (db)
    g.add(b, db);
}

/// y = a / b: da = dy / b, db = -y·da.
static void differentiateQuotient(BinaryOp op, Gradients &g, Value dy) {
  Value da = g.binary(BinaryKind::div, dy, op.getB()), db;
  if (g.wanted(op.getB())) {
    db = g.binary(BinaryKind::mul, da, op.getY());
    db = g.negate(db);
  }
  g.add(op.getA(), da);
  if (db)
    g.add(op.getB(), db);
}

static void differentiatePRelu(BinaryOp op, Gradients &g, Value dy) {
  Value a = op.getA();
  if (a.getType() != dy.getType())
    a = g.create<BroadcastOp>(dy.getType(), a);
  auto back = g.create<PReluBackwardOp>(dy.getType(), dy.getType(), a, op.getB(), dy);
  g.add(op.getA(), back.getDa());
  g.add(op.getB(), back.getDb());
}

/// Whether the value is one constant number, repeated or not: exporters write clamp's bounds both
/// ways. A maximum(x, zeros) of PyTorch looks the same, and gets the gradient of a clamp.
static bool isOneNumber(Value value) {
  while (isa_and_nonnull<BroadcastOp, ReshapeOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  auto constant = value.getDefiningOp<ConstantOp>();
  auto values = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : nullptr;
  return values && values.isSplat();
}

/// The gradient of x, of which and `other` the result is the larger one, or the smaller one. Where
/// they are equal, both get half of it as in PyTorch's maximum, but x gets all of it beside one
/// constant number, as in PyTorch's clamp.
static Value gradientOfChosen(Gradients &g, bool isLarger, Value x, Value other, Value dy) {
  Value least = isLarger ? other : x, most = isLarger ? x : other;
  if (isOneNumber(other))
    return g.binary(BinaryKind::mask, dy, g.binary(BinaryKind::not_less, most, least));
  Value share = g.binary(BinaryKind::tie_share, most, least);
  return g.binary(BinaryKind::mask, g.binary(BinaryKind::mul, dy, share), share);
}

static void differentiateChoice(BinaryOp op, Gradients &g, Value dy) {
  const bool isLarger = op.getKind() == BinaryKind::max;
  Value a = op.getA(), b = op.getB(), da, db;
  if (g.wanted(a))
    da = gradientOfChosen(g, isLarger, a, b, dy);
  if (g.wanted(b))
    db = gradientOfChosen(g, isLarger, b, a, dy);
  if (da)
    g.add(a, da);
  if (db)
    g.add(b, db);
}

static LogicalResult differentiateBinary(BinaryOp op, Gradients &g) {
  Value dy = g.of(op.getY()), a = op.getA(), b = op.getB();
  switch (op.getKind()) {
  case BinaryKind::add:
    g.add(a, dy);
    g.add(b, dy);
    break;
  case BinaryKind::sub:
    g.add(a, dy);
    if (g.wanted(b))
      g.add(b, g.negate(dy));
    break;
  case BinaryKind::mul:
    differentiateProduct(op, g, dy);
    break;
  case BinaryKind::div:
    differentiateQuotient(op, g, dy);
    break;
  case BinaryKind::prelu:
    differentiatePRelu(op, g, dy);
    break;
  case BinaryKind::mask: // NN20c: nothing for b
    g.add(a, g.binary(BinaryKind::mask, dy, b));
    break;
  case BinaryKind::max:
  case BinaryKind::min:
    differentiateChoice(op, g, dy);
    break;
  case BinaryKind::tie_share: // NN20c: nothing for both
  case BinaryKind::not_less:
    break;
  }
  return success();
}

static LogicalResult differentiateBroadcast(BroadcastOp op, Gradients &g) {
  g.add(op.getX(), g.of(op.getY()));
  return success();
}

void syncline::differentiate::attachPointwiseRules(MLIRContext *context) {
  attachRule<UnaryOp, differentiateUnary>(context);
  attachRule<BinaryOp, differentiateBinary>(context);
  attachRule<BroadcastOp, differentiateBroadcast>(context);
}
