// Computes elementwise operators on constants.
#include "frontend/onnx/ElementType.h"
#include "frontend/onnx/FoldConstants.h"

#include "onnx/onnx_pb.h"

#include <cmath>
#include <limits>

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;
using onnx::TensorProto;

std::int64_t frontend::wrap(int type, std::uint64_t value) {
  switch (type) {
  case TensorProto::INT32:
    return static_cast<std::int32_t>(value);
  case TensorProto::INT8:
    return static_cast<std::int8_t>(value);
  case TensorProto::UINT8:
    return static_cast<std::uint8_t>(value);
  case TensorProto::BOOL:
    return value != 0;
  }
  return static_cast<std::int64_t>(value);
}

/// Converts NaN to 0 and a value out of range to the nearest integer; C++ defines neither.
static std::int64_t toInteger(double value) {
  constexpr double limit = 9.2e18;
  return std::isnan(value) ? 0 : static_cast<std::int64_t>(std::clamp(value, -limit, limit));
}

ConstantTensor frontend::castTo(const ConstantTensor &x, int to) {
  ConstantTensor result;
  result.type = to;
  result.dims = x.dims;
  result.fromShape = x.fromShape;
  const bool fromReal = x.isReal(), toReal = result.isReal();
  for (std::int64_t i = 0; i < x.size(); ++i) {
    if (toReal)
      result.reals.push_back(roundTo(to, fromReal ? x.reals[i] : static_cast<double>(x.ints[i])));
    else if (to == TensorProto::BOOL)
      result.ints.push_back(fromReal ? x.reals[i] != 0 : x.ints[i] != 0);
    else
      result.ints.push_back(
          wrap(to, static_cast<std::uint64_t>(fromReal ? toInteger(x.reals[i]) : x.ints[i])));
  }
  return result;
}

static FailureOr<ConstantTensor> foldCast(NodeImport &node, Constants in) {
  auto to = static_cast<int>(node.integer("to", 0));
  if (elementBytes(to) == 0)
    return node.error("conversion to " + elementName(to) + " is not supported");
  return castTo(*in[0], to);
}

static FailureOr<ConstantTensor> foldUnary(NodeImport &node, Constants in) {
  ConstantTensor result = *in[0];
  llvm::StringRef op = node.op();
  for (double &value : result.reals)
    value = op == "Neg"     ? -value
            : op == "Abs"   ? std::abs(value)
            : op == "Floor" ? std::floor(value)
            : op == "Ceil"  ? std::ceil(value)
            : op == "Cos"   ? std::cos(value)
            : op == "Sin"   ? std::sin(value)
            : op == "Exp"   ? std::exp(value)
            : op == "Log"   ? std::log(value)
            : op == "Sqrt"  ? std::sqrt(value)
                            : 1 / value;
  for (std::int64_t &value : result.ints) {
    if (op == "Not")
      value = value == 0;
    else if (op == "Neg" || (op == "Abs" && value < 0))
      value = wrap(result.type, 0 - static_cast<std::uint64_t>(value));
  }
  return result;
}

static FailureOr<ConstantTensor> foldIsNan(NodeImport &node, Constants in) {
  if (!in[0]->isReal())
    return node.error("expected floating-point elements");
  ConstantTensor result;
  result.type = TensorProto::BOOL;
  result.dims = in[0]->dims;
  for (double value : in[0]->reals)
    result.ints.push_back(std::isnan(value));
  return result;
}

/// C's quotient, or numpy's remainder, which has the divisor's sign. Precondition: b is not 0.
static std::int64_t divide(std::int64_t a, std::int64_t b, bool remainder) {
  if (b == -1) // avoids the only quotient that overflows
    return remainder ? 0 : static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(a));
  if (!remainder)
    return a / b;
  std::int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static FailureOr<std::int64_t> combine(NodeImport &node, std::int64_t a, std::int64_t b) {
  llvm::StringRef op = node.op();
  auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
  if (op == "Div" || op == "Mod") {
    if (b == 0)
      return node.error("division by zero");
    return divide(a, b, op == "Mod");
  }
  if (op == "Max" || op == "Min")
    return (op == "Max") == (a > b) ? a : b;
  return static_cast<std::int64_t>(op == "Add" ? x + y : op == "Sub" ? x - y : x * y);
}

static double combine(llvm::StringRef op, double a, double b) {
  if (op == "Max" || op == "Min")
    return (op == "Max") == (a > b) ? a : b;
  if (op == "Mod")
    return std::fmod(a, b);
  return op == "Add" ? a + b : op == "Sub" ? a - b : op == "Mul" ? a * b : a / b;
}

static FailureOr<llvm::SmallVector<ConstantTensor, 3>> broadcastAll(NodeImport &node, Constants in);

/// The exponent may be of another type than the base, which the result has.
static FailureOr<ConstantTensor> foldPow(NodeImport &node, Constants in) {
  if (in.size() != 2)
    return node.error("expected a base and an exponent");
  auto operands = broadcastAll(node, in);
  if (failed(operands))
    return failure();
  ConstantTensor &base = (*operands)[0];
  const ConstantTensor &exponent = (*operands)[1];
  for (std::int64_t i = 0; i < base.size(); ++i) {
    const double power =
        exponent.isReal() ? exponent.reals[i] : static_cast<double>(exponent.ints[i]);
    if (!base.isReal() && base.ints[i] == 0 && power < 0)
      return node.error("the integer 0 has no power of " + decimal(power));
    if (base.isReal())
      base.reals[i] = std::pow(base.reals[i], power);
    else
      base.ints[i] = wrap(base.type, static_cast<std::uint64_t>(toInteger(
                                         std::pow(static_cast<double>(base.ints[i]), power))));
  }
  return base;
}

template <typename T> static bool compare(llvm::StringRef op, T a, T b) {
  if (op == "And" || op == "Or")
    return op == "And" ? a != 0 && b != 0 : a != 0 || b != 0;
  if (op == "Equal")
    return a == b;
  if (op == "Less" || op == "LessOrEqual")
    return a < b || (op == "LessOrEqual" && a == b);
  return a > b || (op == "GreaterOrEqual" && a == b);
}

/// All operands broadcast to their common shape.
static FailureOr<llvm::SmallVector<ConstantTensor, 3>> broadcastAll(NodeImport &node,
                                                                    Constants in) {
  nn::Dims dims;
  for (const ConstantTensor *x : in) {
    llvm::Expected<nn::Dims> common = nn::broadcastShape(dims, x->dims);
    if (!common)
      return node.error(llvm::toString(common.takeError()));
    dims = *common;
  }
  llvm::SmallVector<ConstantTensor, 3> result;
  for (const ConstantTensor *x : in) {
    FailureOr<ConstantTensor> full = broadcastTo(node, *x, dims);
    if (failed(full))
      return failure();
    result.push_back(std::move(*full));
  }
  return result;
}

/// Two operands of one element type, broadcast to their common shape.
static FailureOr<llvm::SmallVector<ConstantTensor, 3>> broadcastPair(NodeImport &node,
                                                                     Constants in) {
  if (in.size() != 2 || in[0]->type != in[1]->type)
    return node.error("expected two operands of one element type");
  return broadcastAll(node, in);
}

static FailureOr<ConstantTensor> foldBinary(NodeImport &node, Constants in) {
  auto operands = broadcastPair(node, in);
  if (failed(operands))
    return failure();
  ConstantTensor &a = (*operands)[0], &b = (*operands)[1];
  for (size_t i = 0; i < a.reals.size(); ++i)
    a.reals[i] = combine(node.op(), a.reals[i], b.reals[i]);
  for (size_t i = 0; i < a.ints.size(); ++i) {
    FailureOr<std::int64_t> value = combine(node, a.ints[i], b.ints[i]);
    if (failed(value))
      return failure();
    a.ints[i] = wrap(a.type, static_cast<std::uint64_t>(*value));
  }
  return a;
}

static FailureOr<ConstantTensor> foldComparison(NodeImport &node, Constants in) {
  auto operands = broadcastPair(node, in);
  if (failed(operands))
    return failure();
  const ConstantTensor &a = (*operands)[0], &b = (*operands)[1];
  ConstantTensor result;
  result.type = TensorProto::BOOL;
  result.dims = a.dims;
  for (std::int64_t i = 0; i < a.size(); ++i)
    result.ints.push_back(a.isReal() ? compare(node.op(), a.reals[i], b.reals[i])
                                     : compare(node.op(), a.ints[i], b.ints[i]));
  return result;
}

static FailureOr<ConstantTensor> foldWhere(NodeImport &node, Constants in) {
  if (in.size() != 3 || in[0]->isReal() || in[1]->type != in[2]->type)
    return node.error("expected a condition and two operands of one element type");
  auto operands = broadcastAll(node, in);
  if (failed(operands))
    return failure();
  ConstantTensor &yes = (*operands)[1];
  const ConstantTensor &condition = (*operands)[0], &no = (*operands)[2];
  for (std::int64_t i = 0; i < yes.size(); ++i)
    if (condition.ints[i] == 0)
      (yes.isReal() ? void(yes.reals[i] = no.reals[i]) : void(yes.ints[i] = no.ints[i]));
  return yes;
}

FoldFunction frontend::findElementwiseFold(llvm::StringRef op) {
  static const llvm::StringMap<FoldFunction> table = {
      {"Abs", foldUnary},        {"Add", foldBinary},         {"And", foldComparison},
      {"Cast", foldCast},        {"Ceil", foldUnary},         {"Cos", foldUnary},
      {"Div", foldBinary},       {"Equal", foldComparison},   {"Exp", foldUnary},
      {"Floor", foldUnary},      {"Greater", foldComparison}, {"GreaterOrEqual", foldComparison},
      {"IsNaN", foldIsNan},      {"Less", foldComparison},    {"LessOrEqual", foldComparison},
      {"Log", foldUnary},        {"Max", foldBinary},         {"Min", foldBinary},
      {"Mod", foldBinary},       {"Mul", foldBinary},         {"Neg", foldUnary},
      {"Not", foldUnary},        {"Or", foldComparison},      {"Pow", foldPow},
      {"Reciprocal", foldUnary}, {"Sin", foldUnary},          {"Sqrt", foldUnary},
      {"Sub", foldBinary},       {"Where", foldWhere},
  };
  return table.lookup(op);
}
