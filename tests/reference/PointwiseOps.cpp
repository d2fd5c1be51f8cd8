// Reference elementwise operations, by kind and as scalar bodies.
#include "tests/reference/Values.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace syncline::nn;

namespace syncline::reference {

static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// Like PyTorch's, which is x from 20 on.
static double softplus(double x) { return x > 20 ? x : std::log1p(std::exp(x)); }

static double unary(UnaryKind kind, double x, double alpha, double beta) {
  switch (kind) {
  case UnaryKind::relu:
    return std::max(x, 0.0);
  case UnaryKind::leaky_relu:
    return x > 0 ? x : alpha * x;
  case UnaryKind::sigmoid:
    return sigmoid(x);
  case UnaryKind::tanh:
    return std::tanh(x);
  case UnaryKind::hard_sigmoid:
    return std::clamp(alpha * x + beta, 0.0, 1.0);
  case UnaryKind::hard_swish:
    return x * std::clamp(x / 6 + 0.5, 0.0, 1.0);
  case UnaryKind::clip:
    return std::clamp(x, alpha, beta);
  case UnaryKind::elu:
    return x > 0 ? x : alpha * std::expm1(x);
  case UnaryKind::neg:
    return -x;
  case UnaryKind::exp:
    return std::exp(x);
  case UnaryKind::log:
    return std::log(x);
  case UnaryKind::sqrt:
    return std::sqrt(x);
  case UnaryKind::abs:
    return std::abs(x);
  case UnaryKind::reciprocal:
    return 1 / x;
  case UnaryKind::erf:
    return std::erf(x);
  case UnaryKind::pow:
    return std::pow(x, alpha);
  case UnaryKind::softplus:
    return softplus(x);
  case UnaryKind::softsign:
    return x / (1 + std::abs(x));
  case UnaryKind::mish:
    return x * std::tanh(softplus(x));
  case UnaryKind::swish:
    return x * sigmoid(alpha * x);
  case UnaryKind::thresholded_relu:
    return x <= alpha ? 0 : x;
  case UnaryKind::celu:
    return x > 0 ? x : alpha * std::expm1(x / alpha);
  case UnaryKind::sin:
    return std::sin(x);
  case UnaryKind::cos:
    return std::cos(x);
  case UnaryKind::tan:
    return std::tan(x);
  case UnaryKind::atan:
    return std::atan(x);
  case UnaryKind::acos:
    return std::acos(x);
  case UnaryKind::asin:
    return std::asin(x);
  case UnaryKind::sinh:
    return std::sinh(x);
  case UnaryKind::cosh:
    return std::cosh(x);
  case UnaryKind::asinh:
    return std::asinh(x);
  case UnaryKind::acosh:
    return std::acosh(x);
  case UnaryKind::atanh:
    return std::atanh(x);
  case UnaryKind::floor:
    return std::floor(x);
  case UnaryKind::ceil:
    return std::ceil(x);
  case UnaryKind::round: // halves to even
    return x - std::remainder(x, 1.0);
  case UnaryKind::sign:
    return (x > 0) - (x < 0);
  }
  llvm_unreachable("all kinds are listed");
}

/// The derivative; `r` is the result or the operand, as NN21 says.
static double derivative(UnaryKind kind, double r, double alpha, double beta) {
  switch (kind) {
  case UnaryKind::relu:
    return !(r <= 0); // PyTorch lets the gradient of NaN through
  case UnaryKind::leaky_relu:
    return r > 0 ? 1 : alpha;
  case UnaryKind::sigmoid:
    return r * (1 - r);
  case UnaryKind::tanh:
    return 1 - r * r;
  case UnaryKind::hard_sigmoid:
    return alpha * r + beta > 0 && alpha * r + beta < 1 ? alpha : 0;
  case UnaryKind::hard_swish:
    return r <= -3 ? 0 : r >= 3 ? 1 : r / 3 + 0.5;
  case UnaryKind::clip:
    return r > alpha && r < beta;
  case UnaryKind::elu:
    return r > 0 ? 1 : r + alpha;
  case UnaryKind::neg:
    return -1;
  case UnaryKind::exp:
    return r;
  case UnaryKind::log:
    return 1 / r;
  case UnaryKind::sqrt:
    return 0.5 / r;
  case UnaryKind::abs:
    return (r > 0) - (r < 0);
  case UnaryKind::reciprocal:
    return -r * r;
  case UnaryKind::erf:
    return 2 * std::numbers::inv_sqrtpi * std::exp(-r * r);
  case UnaryKind::pow:
    return alpha * std::pow(r, alpha - 1);
  case UnaryKind::softplus:
    return r > 20 ? 1 : sigmoid(r);
  case UnaryKind::softsign:
    return 1 / ((1 + std::abs(r)) * (1 + std::abs(r)));
  case UnaryKind::mish: {
    const double t = std::tanh(softplus(r));
    return r > 20 ? 1 : t + r * sigmoid(r) * (1 - t * t);
  }
  case UnaryKind::swish:
    return sigmoid(alpha * r) + alpha * r * sigmoid(alpha * r) * sigmoid(-alpha * r);
  case UnaryKind::thresholded_relu:
    return !(r <= alpha);
  case UnaryKind::celu:
    return r <= 0 ? std::exp(r / alpha) : 1;
  case UnaryKind::sin:
    return std::cos(r);
  case UnaryKind::cos:
    return -std::sin(r);
  case UnaryKind::tan:
    return 1 + r * r;
  case UnaryKind::atan:
    return 1 / (1 + r * r);
  case UnaryKind::acos:
    return -1 / std::sqrt(1 - r * r);
  case UnaryKind::asin:
    return 1 / std::sqrt(1 - r * r);
  case UnaryKind::sinh:
    return std::cosh(r);
  case UnaryKind::cosh:
    return std::sinh(r);
  case UnaryKind::asinh:
    return 1 / std::sqrt(r * r + 1);
  case UnaryKind::acosh:
    return 1 / std::sqrt(r * r - 1);
  case UnaryKind::atanh:
    return 1 / (1 - r * r);
  case UnaryKind::floor:
  case UnaryKind::ceil:
  case UnaryKind::round:
  case UnaryKind::sign:
    return 0;
  }
  llvm_unreachable("all kinds are listed");
}

static double binary(BinaryKind kind, double a, double b) {
  switch (kind) {
  case BinaryKind::add:
    return a + b;
  case BinaryKind::sub:
    return a - b;
  case BinaryKind::mul:
    return a * b;
  case BinaryKind::div:
    return a / b;
  case BinaryKind::prelu:
    return a > 0 ? a : a * b;
  case BinaryKind::mask:
    return b == 0 ? 0 : a;
  case BinaryKind::max:
    return std::isnan(a) || a > b ? a : b;
  case BinaryKind::min:
    return std::isnan(a) || a < b ? a : b;
  case BinaryKind::tie_share:
    return a < b ? 0 : a == b ? 0.5 : 1;
  case BinaryKind::not_less:
    return a >= b ? 1 : 0;
  }
  llvm_unreachable("all kinds are listed");
}

static bool compare(arith::CmpFPredicate predicate, double a, double b) {
  switch (predicate) {
  case arith::CmpFPredicate::OLT:
    return a < b;
  case arith::CmpFPredicate::OLE:
    return a <= b;
  case arith::CmpFPredicate::OGT:
    return a > b;
  case arith::CmpFPredicate::OGE:
    return a >= b;
  case arith::CmpFPredicate::OEQ:
    return a == b;
  default: // the predicates that fusion does not make
    llvm_unreachable("unexpected comparison in a pointwise body");
  }
}

/// One operation of a body; the scalar dialects are told apart by name.
static double scalarOp(Operation *op, const llvm::DenseMap<Value, double> &scalars) {
  auto in = [&](unsigned i) { return scalars.lookup(op->getOperand(i)); };
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return cast<FloatAttr>(constant.getValue()).getValueAsDouble();
  if (auto comparison = dyn_cast<arith::CmpFOp>(op))
    return compare(comparison.getPredicate(), in(0), in(1));
  StringRef name = op->getName().getStringRef();
  if (name == "arith.addf")
    return in(0) + in(1);
  if (name == "arith.subf")
    return in(0) - in(1);
  if (name == "arith.mulf")
    return in(0) * in(1);
  if (name == "arith.divf")
    return in(0) / in(1);
  if (name == "arith.negf")
    return -in(0);
  if (name == "arith.maximumf")
    return binary(BinaryKind::max, in(0), in(1));
  if (name == "arith.minimumf")
    return binary(BinaryKind::min, in(0), in(1));
  if (name == "arith.select")
    return in(0) != 0 ? in(1) : in(2);
  if (name == "math.exp")
    return std::exp(in(0));
  if (name == "math.expm1")
    return std::expm1(in(0));
  if (name == "math.log")
    return std::log(in(0));
  if (name == "math.sqrt")
    return std::sqrt(in(0));
  if (name == "math.tanh")
    return std::tanh(in(0));
  if (name == "math.erf")
    return std::erf(in(0));
  if (name == "math.powf")
    return std::pow(in(0), in(1));
  if (name == "math.absf")
    return std::abs(in(0));
  if (name == "math.log1p")
    return std::log1p(in(0));
  if (name == "math.sin")
    return std::sin(in(0));
  if (name == "math.cos")
    return std::cos(in(0));
  if (name == "math.tan")
    return std::tan(in(0));
  if (name == "math.atan")
    return std::atan(in(0));
  if (name == "math.acos")
    return std::acos(in(0));
  if (name == "math.asin")
    return std::asin(in(0));
  if (name == "math.sinh")
    return std::sinh(in(0));
  if (name == "math.cosh")
    return std::cosh(in(0));
  if (name == "math.asinh")
    return std::asinh(in(0));
  if (name == "math.acosh")
    return std::acosh(in(0));
  if (name == "math.atanh")
    return std::atanh(in(0));
  if (name == "math.floor")
    return std::floor(in(0));
  if (name == "math.ceil")
    return std::ceil(in(0));
  if (name == "math.roundeven")
    return unary(UnaryKind::round, in(0), 0, 0);
  llvm_unreachable("unexpected operation in a pointwise body");
}

static void pointwise(PointwiseOp op, Values &values) {
  Block &body = op.getBody().front();
  std::vector<Tensor> results;
  for (Value output : op.getOutputs())
    results.push_back(values.make(output));
  forEachIndex(results[0].shape, [&](DimsRef i) {
    llvm::DenseMap<Value, double> scalars;
    for (auto [argument, input] : llvm::zip(body.getArguments(), op.getInputs()))
      scalars[argument] = values[input].broadcastAt(i);
    for (Operation &inner : body.without_terminator())
      scalars[inner.getResult(0)] = scalarOp(&inner, scalars);
    for (auto [result, yielded] : llvm::zip(results, body.getTerminator()->getOperands()))
      result.at(i) = scalars.lookup(yielded);
  });
  for (auto [output, result] : llvm::zip(op.getOutputs(), results))
    values.set(output, std::move(result));
}

static void preluBackward(PReluBackwardOp op, Values &values) {
  const Tensor &a = values[op.getA()], &b = values[op.getB()], &dy = values[op.getDy()];
  Tensor da = values.make(op.getDa()), db = values.make(op.getDb());
  forEachIndex(a.shape, [&](DimsRef i) {
    da.at(i) = a.at(i) > 0 ? dy.at(i) : b.broadcastAt(i) * dy.at(i);
    db.at(i) = a.at(i) > 0 ? 0 : a.at(i) * dy.at(i);
  });
  values.set(op.getDa(), std::move(da));
  values.set(op.getDb(), std::move(db));
}

/// Fills the one result of `op` element by element.
static void fill(Operation *op, Values &values, const std::function<double(DimsRef)> &element) {
  Tensor result = values.make(op->getResult(0));
  forEachIndex(result.shape, [&](DimsRef i) { result.at(i) = element(i); });
  values.set(op->getResult(0), std::move(result));
}

bool evaluatePointwise(Operation *op, Values &values) {
  auto in = [&](Value operand, DimsRef i) { return values[operand].broadcastAt(i); };
  if (auto known = dyn_cast<UnaryOp>(op)) {
    double alpha = known.getAlpha().convertToDouble(), beta = known.getBeta().convertToDouble();
    fill(op, values,
         [&](DimsRef i) { return unary(known.getKind(), in(known.getX(), i), alpha, beta); });
  } else if (auto known = dyn_cast<UnaryBackwardOp>(op)) {
    double alpha = known.getAlpha().convertToDouble(), beta = known.getBeta().convertToDouble();
    fill(op, values, [&](DimsRef i) {
      return derivative(known.getKind(), in(known.getReference(), i), alpha, beta) *
             in(known.getDy(), i);
    });
  } else if (auto known = dyn_cast<BinaryOp>(op)) {
    fill(op, values, [&](DimsRef i) {
      return binary(known.getKind(), in(known.getA(), i), in(known.getB(), i));
    });
  } else if (auto known = dyn_cast<BroadcastOp>(op)) {
    fill(op, values, [&](DimsRef i) { return in(known.getX(), i); });
  } else if (auto known = dyn_cast<PReluBackwardOp>(op)) {
    preluBackward(known, values);
  } else if (auto known = dyn_cast<PointwiseOp>(op)) {
    pointwise(known, values);
  } else {
    return false;
  }
  return true;
}

} // namespace syncline::reference
