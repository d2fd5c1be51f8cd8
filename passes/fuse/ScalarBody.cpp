// Scalar code of each elementwise operation.
#include "passes/fuse/ScalarBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <numbers>

using namespace mlir;
using namespace syncline::fuse;
using namespace syncline::nn;

bool syncline::fuse::isElementwise(Operation *op) {
  return isa<UnaryOp, UnaryBackwardOp, BinaryOp, PReluBackwardOp, BroadcastOp>(op);
}

/// From where on softplus is its operand: the threshold of PyTorch's softplus and mish.
static constexpr double softplusIsLinear = 20;

namespace {

/// Short names for building scalar operations.
struct Scalars {
  OpBuilder &builder;
  Location loc;
  Type type;

  /// The constant with this value; the whole body has one for each value.
  Value number(double value) {
    FloatAttr attribute = builder.getFloatAttr(type, value);
    for (auto constant : builder.getBlock()->getOps<arith::ConstantOp>())
      if (constant.getValue() == attribute)
        return constant;
    return builder.create<arith::ConstantOp>(loc, attribute);
  }
  Value add(Value a, Value b) { return builder.create<arith::AddFOp>(loc, a, b); }
  Value sub(Value a, Value b) { return builder.create<arith::SubFOp>(loc, a, b); }
  Value mul(Value a, Value b) { return builder.create<arith::MulFOp>(loc, a, b); }
  Value div(Value a, Value b) { return builder.create<arith::DivFOp>(loc, a, b); }
  Value neg(Value a) { return builder.create<arith::NegFOp>(loc, a); }
  template <typename Op> Value math(Value a) { return builder.create<Op>(loc, a); }

  /// The value of (a ∘ b ? yes : no).
  Value choose(Value a, arith::CmpFPredicate relation, Value b, Value yes, Value no) {
    Value condition = builder.create<arith::CmpFOp>(loc, relation, a, b);
    return builder.create<arith::SelectOp>(loc, condition, yes, no);
  }
  Value ifPositive(Value a, Value yes, Value no) {
    return choose(a, arith::CmpFPredicate::OGT, number(0), yes, no);
  }
  Value clamp(Value a, double low, double high) {
    Value least = number(low), most = number(high);
    Value raised = choose(a, arith::CmpFPredicate::OLT, least, least, a);
    return choose(raised, arith::CmpFPredicate::OGT, most, most, raised);
  }
  /// `value` where low < a < high, otherwise zero.
  Value within(Value a, double low, double high, Value value) {
    Value zero = number(0);
    Value above = choose(a, arith::CmpFPredicate::OGT, number(low), value, zero);
    return choose(a, arith::CmpFPredicate::OLT, number(high), above, zero);
  }
  Value sigmoid(Value a) { return div(number(1), add(number(1), math<math::ExpOp>(neg(a)))); }
  /// log(1 + eᵃ). From 20 on the result is a, as in PyTorch, and eᵃ need not be finite.
  Value softplus(Value a) {
    Value low = math<math::Log1pOp>(math<math::ExpOp>(a));
    return choose(a, arith::CmpFPredicate::OGT, number(softplusIsLinear), a, low);
  }
  /// `value` where a > 0, -`value` where a < 0, otherwise zero.
  Value signTimes(Value a, Value value) {
    Value left = choose(a, arith::CmpFPredicate::OLT, number(0), neg(value), number(0));
    return ifPositive(a, value, left);
  }
  /// 1 - a² and a² - 1, which keep their digits beside 1. Both are positive zeros at 1.
  Value oneLessSquare(Value a) { return mul(sub(number(1), a), add(number(1), a)); }
  Value squareLessOne(Value a) { return mul(sub(a, number(1)), add(a, number(1))); }
  /// a to a constant power; the small ones without a call.
  Value power(Value a, double exponent) {
    if (exponent == 1)
      return a;
    if (exponent == 0.5)
      return math<math::SqrtOp>(a);
    if (exponent == 2)
      return mul(a, a);
    if (exponent == 3)
      return mul(mul(a, a), a);
    return builder.create<math::PowFOp>(loc, a, number(exponent));
  }
};

} // namespace

static Value unary(Scalars &s, UnaryKind kind, Value x, double alpha, double beta) {
  switch (kind) {
  case UnaryKind::relu:
    return s.choose(x, arith::CmpFPredicate::OLT, s.number(0), s.number(0), x);
  case UnaryKind::leaky_relu:
    return s.ifPositive(x, x, s.mul(s.number(alpha), x));
  case UnaryKind::sigmoid:
    return s.sigmoid(x);
  case UnaryKind::tanh:
    return s.math<math::TanhOp>(x);
  case UnaryKind::hard_sigmoid:
    return s.clamp(s.add(s.mul(s.number(alpha), x), s.number(beta)), 0, 1);
  case UnaryKind::hard_swish:
    return s.mul(x, s.clamp(s.add(s.mul(s.number(1.0 / 6), x), s.number(0.5)), 0, 1));
  case UnaryKind::clip:
    return s.clamp(x, alpha, beta);
  case UnaryKind::elu:
    return s.ifPositive(x, x, s.mul(s.number(alpha), s.math<math::ExpM1Op>(x)));
  case UnaryKind::neg:
    return s.neg(x);
  case UnaryKind::exp:
    return s.math<math::ExpOp>(x);
  case UnaryKind::log:
    return s.math<math::LogOp>(x);
  case UnaryKind::sqrt:
    return s.math<math::SqrtOp>(x);
  case UnaryKind::abs:
    return s.math<math::AbsFOp>(x);
  case UnaryKind::reciprocal:
    return s.div(s.number(1), x);
  case UnaryKind::erf:
    return s.math<math::ErfOp>(x);
  case UnaryKind::pow:
    return s.power(x, alpha);
  case UnaryKind::softplus:
    return s.softplus(x);
  case UnaryKind::softsign:
    return s.div(x, s.add(s.number(1), s.math<math::AbsFOp>(x)));
  case UnaryKind::mish:
    return s.mul(x, s.math<math::TanhOp>(s.softplus(x)));
  case UnaryKind::swish:
    return s.mul(x, s.sigmoid(s.mul(s.number(alpha), x)));
  case UnaryKind::thresholded_relu: // lets NaN through, as PyTorch does
    return s.choose(x, arith::CmpFPredicate::OLE, s.number(alpha), s.number(0), x);
  case UnaryKind::celu:
    return s.ifPositive(x, x,
                        s.mul(s.number(alpha), s.math<math::ExpM1Op>(s.div(x, s.number(alpha)))));
  case UnaryKind::sin:
    return s.math<math::SinOp>(x);
  case UnaryKind::cos:
    return s.math<math::CosOp>(x);
  case UnaryKind::tan:
    return s.math<math::TanOp>(x);
  case UnaryKind::atan:
    return s.math<math::AtanOp>(x);
  case UnaryKind::acos:
    return s.math<math::AcosOp>(x);
  case UnaryKind::asin:
    return s.math<math::AsinOp>(x);
  case UnaryKind::sinh:
    return s.math<math::SinhOp>(x);
  case UnaryKind::cosh:
    return s.math<math::CoshOp>(x);
  case UnaryKind::asinh:
    return s.math<math::AsinhOp>(x);
  case UnaryKind::acosh:
    return s.math<math::AcoshOp>(x);
  case UnaryKind::atanh:
    return s.math<math::AtanhOp>(x);
  case UnaryKind::floor:
    return s.math<math::FloorOp>(x);
  case UnaryKind::ceil:
    return s.math<math::CeilOp>(x);
  case UnaryKind::round:
    return s.math<math::RoundEvenOp>(x);
  case UnaryKind::sign:
    return s.signTimes(x, s.number(1));
  }
  llvm_unreachable("all kinds are listed");
}

static Value softplusBackward(Scalars &s, Value x, Value dy) {
  Value low = s.mul(dy, s.sigmoid(x));
  return s.choose(x, arith::CmpFPredicate::OGT, s.number(softplusIsLinear), dy, low);
}

/// With t = tanh(softplus(x)) it is t + x·sigmoid(x)·(1 - t²), which is 1 to the last place where
/// softplus is x.
static Value mishBackward(Scalars &s, Value x, Value dy) {
  Value t = s.math<math::TanhOp>(s.softplus(x));
  Value bend = s.mul(s.mul(x, s.sigmoid(x)), s.sub(s.number(1), s.mul(t, t)));
  return s.choose(x, arith::CmpFPredicate::OGT, s.number(softplusIsLinear), dy,
                  s.mul(dy, s.add(t, bend)));
}

static Value hardSwishBackward(Scalars &s, Value x, Value dy) {
  Value middle = s.mul(dy, s.add(s.mul(s.number(1.0 / 3), x), s.number(0.5)));
  Value right = s.choose(x, arith::CmpFPredicate::OGE, s.number(3), dy, middle);
  return s.choose(x, arith::CmpFPredicate::OLE, s.number(-3), s.number(0), right);
}

static Value softsignBackward(Scalars &s, Value x, Value dy) {
  Value size = s.add(s.number(1), s.math<math::AbsFOp>(x));
  return s.div(s.div(dy, size), size);
}

static Value swishBackward(Scalars &s, Value x, Value dy, double alpha) {
  Value sigmoid = s.sigmoid(s.mul(s.number(alpha), x));
  Value bend = s.mul(s.mul(x, sigmoid), s.sub(s.number(1), sigmoid));
  return s.mul(dy, s.add(sigmoid, s.mul(s.number(alpha), bend)));
}

/// The derivative of a unary operation. `r` is forward's result or operand, as NN21 says.
static Value unaryBackward(Scalars &s, UnaryKind kind, Value r, Value dy, double alpha,
                           double beta) {
  switch (kind) {
  case UnaryKind::relu: // lets the gradient of NaN through, as PyTorch does
    return s.choose(r, arith::CmpFPredicate::OLE, s.number(0), s.number(0), dy);
  case UnaryKind::leaky_relu:
    return s.ifPositive(r, dy, s.mul(s.number(alpha), dy));
  case UnaryKind::sigmoid:
    return s.mul(dy, s.mul(r, s.sub(s.number(1), r)));
  case UnaryKind::tanh:
    return s.mul(dy, s.sub(s.number(1), s.mul(r, r)));
  case UnaryKind::hard_sigmoid:
    return s.within(s.add(s.mul(s.number(alpha), r), s.number(beta)), 0, 1,
                    s.mul(s.number(alpha), dy));
  case UnaryKind::hard_swish:
    return hardSwishBackward(s, r, dy);
  case UnaryKind::clip:
    return s.within(r, alpha, beta, dy);
  case UnaryKind::elu:
    return s.ifPositive(r, dy, s.mul(dy, s.add(r, s.number(alpha))));
  case UnaryKind::neg:
    return s.neg(dy);
  case UnaryKind::exp:
    return s.mul(dy, r);
  case UnaryKind::log:
    return s.div(dy, r);
  case UnaryKind::sqrt:
    return s.div(s.mul(s.number(0.5), dy), r);
  case UnaryKind::abs:
    return s.signTimes(r, dy);
  case UnaryKind::reciprocal:
    return s.neg(s.mul(dy, s.mul(r, r)));
  case UnaryKind::erf:
    return s.mul(
        dy, s.mul(s.number(2 * std::numbers::inv_sqrtpi), s.math<math::ExpOp>(s.neg(s.mul(r, r)))));
  case UnaryKind::pow:
    return s.mul(dy, s.mul(s.number(alpha), s.power(r, alpha - 1)));
  case UnaryKind::softplus:
    return softplusBackward(s, r, dy);
  case UnaryKind::softsign:
    return softsignBackward(s, r, dy);
  case UnaryKind::mish:
    return mishBackward(s, r, dy);
  case UnaryKind::swish:
    return swishBackward(s, r, dy, alpha);
  case UnaryKind::thresholded_relu:
    return s.choose(r, arith::CmpFPredicate::OLE, s.number(alpha), s.number(0), dy);
  case UnaryKind::celu: // of NaN it is dy, as in PyTorch
    return s.choose(r, arith::CmpFPredicate::OLE, s.number(0),
                    s.mul(dy, s.math<math::ExpOp>(s.div(r, s.number(alpha)))), dy);
  case UnaryKind::sin:
    return s.mul(dy, s.math<math::CosOp>(r));
  case UnaryKind::cos:
    return s.neg(s.mul(dy, s.math<math::SinOp>(r)));
  case UnaryKind::tan:
    return s.mul(dy, s.add(s.number(1), s.mul(r, r)));
  case UnaryKind::atan:
    return s.div(dy, s.add(s.number(1), s.mul(r, r)));
  case UnaryKind::acos:
    return s.neg(s.div(dy, s.math<math::SqrtOp>(s.oneLessSquare(r))));
  case UnaryKind::asin:
    return s.div(dy, s.math<math::SqrtOp>(s.oneLessSquare(r)));
  case UnaryKind::sinh:
    return s.mul(dy, s.math<math::CoshOp>(r));
  case UnaryKind::cosh:
    return s.mul(dy, s.math<math::SinhOp>(r));
  case UnaryKind::asinh:
    return s.div(dy, s.math<math::SqrtOp>(s.add(s.number(1), s.mul(r, r))));
  case UnaryKind::acosh: // a number below -1 too, as in PyTorch
    return s.div(dy, s.math<math::SqrtOp>(s.squareLessOne(r)));
  case UnaryKind::atanh:
    return s.div(dy, s.oneLessSquare(r));
  case UnaryKind::floor:
  case UnaryKind::ceil:
  case UnaryKind::round:
  case UnaryKind::sign:
    return s.number(0);
  }
  llvm_unreachable("all kinds are listed");
}

static Value binary(Scalars &s, BinaryKind kind, Value a, Value b) {
  switch (kind) {
  case BinaryKind::add:
    return s.add(a, b);
  case BinaryKind::sub:
    return s.sub(a, b);
  case BinaryKind::mul:
    return s.mul(a, b);
  case BinaryKind::div:
    return s.div(a, b);
  case BinaryKind::prelu:
    return s.ifPositive(a, a, s.mul(a, b));
  case BinaryKind::mask:
    return s.choose(b, arith::CmpFPredicate::OEQ, s.number(0), s.number(0), a);
  case BinaryKind::max:
    return s.builder.create<arith::MaximumFOp>(s.loc, a, b);
  case BinaryKind::min:
    return s.builder.create<arith::MinimumFOp>(s.loc, a, b);
  case BinaryKind::tie_share: {
    Value equal = s.choose(a, arith::CmpFPredicate::OEQ, b, s.number(0.5), s.number(1));
    return s.choose(a, arith::CmpFPredicate::OLT, b, s.number(0), equal);
  }
  case BinaryKind::not_less:
    return s.choose(a, arith::CmpFPredicate::OGE, b, s.number(1), s.number(0));
  }
  llvm_unreachable("all kinds are listed");
}

llvm::SmallVector<Value> syncline::fuse::buildScalars(OpBuilder &builder, Operation *op,
                                                      ValueRange operands) {
  Type type = cast<RankedTensorType>(op->getResult(0).getType()).getElementType();
  Scalars s{builder, op->getLoc(), type};
  if (auto known = dyn_cast<UnaryOp>(op))
    return {unary(s, known.getKind(), operands[0], known.getAlpha().convertToDouble(),
                  known.getBeta().convertToDouble())};
  if (auto known = dyn_cast<UnaryBackwardOp>(op))
    return {unaryBackward(s, known.getKind(), operands[0], operands[1],
                          known.getAlpha().convertToDouble(), known.getBeta().convertToDouble())};
  if (auto known = dyn_cast<BinaryOp>(op))
    return {binary(s, known.getKind(), operands[0], operands[1])};
  if (isa<BroadcastOp>(op))
    return {operands[0]};
  assert(isa<PReluBackwardOp>(op) && "isElementwise() knows what there is");
  Value a = operands[0], b = operands[1], dy = operands[2];
  return {s.ifPositive(a, dy, s.mul(b, dy)), s.ifPositive(a, s.number(0), s.mul(a, dy))};
}
