// Computes elementwise operators on constants.
#include "frontend/onnx/ElementType.h"
#include "frontend/onnx/FoldConstants.h"

#include "onnx/onnx_pb.h"

#include <cmath>

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;
using onnx::TensorProto;

/// Drops the fraction. ONNX does not say which integers NaN and numbers out of range become: here
/// they are those of x86 processors, which NumPy and PyTorch show there.
static std::int64_t toInteger(int to, double value) {
  const bool has64Bits =
      to == TensorProto::INT64 || to == TensorProto::UINT64 || to == TensorProto::UINT32;
  const double limit = has64Bits ? 0x1p63 : 0x1p31;
  value = std::trunc(value);
  return static_cast<std::int64_t>(value >= -limit && value < limit ? value : -limit);
}

ConstantTensor frontend::castTo(const ConstantTensor &x, int to) {
  ConstantTensor result;
  result.type = to;
  result.dims = x.dims;
  result.fromShape = x.fromShape;
  const bool isTruth = to == TensorProto::BOOL;
  for (double value : x.reals)
    if (result.isReal())
      result.reals.push_back(value);
    else
      result.ints.push_back(isTruth ? value != 0 : toInteger(to, value));
  for (std::int64_t value : x.ints)
    if (result.isReal())
      result.reals.push_back(nearestReal(to, value));
    else
      result.ints.push_back(value);
  roundElements(result);
  if (x.atOtherBatch)
    result.setAtOtherBatch(castTo(*x.atOtherBatch, to));
  return result;
}

static FailureOr<ConstantTensor> foldCast(NodeImport &node, Constants in) {
  auto to = static_cast<int>(node.integer("to", 0));
  if (elementBytes(to) == 0)
    return node.error("conversion to " + elementName(to) + " is not supported");
  return castTo(*in[0], to);
}

/// A function of real numbers. Its double is rounded once more to a narrower type, which seldom
/// makes a difference; for doubles it is computed with twice the digits where one is not exact.
struct RealFunction {
  double (*narrow)(double) = nullptr;
  _Float128 (*wide)(_Float128) = nullptr;
};

static RealFunction realFunction(llvm::StringRef op) {
  static const llvm::StringMap<RealFunction> table = {
      {"Abs", {[](double x) { return std::abs(x); }}},
      {"Ceil", {[](double x) { return std::ceil(x); }}},
      {"Cos", {[](double x) { return std::cos(x); }, cosf128}},
      {"Exp", {[](double x) { return std::exp(x); }, expf128}},
      {"Floor", {[](double x) { return std::floor(x); }}},
      {"Log", {[](double x) { return std::log(x); }, logf128}},
      {"Neg", {[](double x) { return -x; }}},
      {"Reciprocal", {[](double x) { return 1 / x; }}},
      {"Sign", {[](double x) { return static_cast<double>((x > 0) - (x < 0)); }}}, // 0 of NaN
      {"Sin", {[](double x) { return std::sin(x); }, sinf128}},
      {"Sqrt", {[](double x) { return std::sqrt(x); }}},
  };
  return table.lookup(op);
}

static FailureOr<ConstantTensor> foldUnary(NodeImport &node, Constants in) {
  ConstantTensor result = *in[0];
  const llvm::StringRef op = node.op();
  const RealFunction function = realFunction(op);
  const bool takesIntegers = op == "Abs" || op == "Neg" || op == "Not" || op == "Sign";
  if (result.isReal() ? !function.narrow : !takesIntegers)
    return node.error("expected " +
                      llvm::Twine(function.narrow ? "floating-point elements" : "truth values"));
  for (double &value : result.reals)
    value = function.wide && result.type == TensorProto::DOUBLE
                ? static_cast<double>(function.wide(value))
                : function.narrow(value);
  for (std::int64_t &value : result.ints)
    if (op == "Not")
      value = value == 0;
    else if (op == "Sign")
      value = (value > 0) - (value < 0);
    else if (op == "Neg" || value < 0)
      value = static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(value));
  return result;
}

/// IsNaN or IsInf.
static FailureOr<ConstantTensor> foldIsNotFinite(NodeImport &node, Constants in) {
  if (!in[0]->isReal())
    return node.error("expected floating-point elements");
  const bool asksNan = node.op() == "IsNaN";
  const bool isPositive = node.integer("detect_positive", 1) != 0;
  const bool isNegative = node.integer("detect_negative", 1) != 0;
  ConstantTensor result;
  result.type = TensorProto::BOOL;
  result.dims = in[0]->dims;
  for (double value : in[0]->reals)
    result.ints.push_back(asksNan ? std::isnan(value)
                                  : std::isinf(value) && (value > 0 ? isPositive : isNegative));
  return result;
}

/// C's quotient or remainder, or numpy's remainder, which has the divisor's sign.
enum class Division { quotient, remainder, modulo };

/// Precondition: b is not 0.
static std::int64_t divide(std::int64_t a, std::int64_t b, Division kind) {
  if (b == -1) // avoids the only quotient that overflows
    return kind == Division::quotient ? static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(a))
                                      : 0;
  if (kind == Division::quotient)
    return a / b;
  const std::int64_t rest = a % b;
  return kind == Division::modulo && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static FailureOr<std::int64_t> combine(NodeImport &node, std::int64_t a, std::int64_t b) {
  llvm::StringRef op = node.op();
  auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
  if (op == "Div" || op == "Mod") {
    if (b == 0)
      return node.error("division by zero");
    return divide(a, b,
                  op == "Div"                    ? Division::quotient
                  : node.integer("fmod", 0) != 0 ? Division::remainder
                                                 : Division::modulo);
  }
  if (op == "Max" || op == "Min")
    return (op == "Max") == (a > b) ? a : b;
  return static_cast<std::int64_t>(op == "Add" ? x + y : op == "Sub" ? x - y : x * y);
}

static FailureOr<double> combine(NodeImport &node, double a, double b) {
  const llvm::StringRef op = node.op();
  if (op == "Max" || op == "Min") {
    const bool isUnordered = std::isnan(a) || std::isnan(b);
    return isUnordered ? a + b : (op == "Max") == (a > b) ? a : b;
  }
  if (op == "Mod") {
    if (node.integer("fmod", 0) == 0)
      return node.error("expected 1 as fmod, which floating-point elements need");
    return std::fmod(a, b);
  }
  return op == "Add" ? a + b : op == "Sub" ? a - b : op == "Mul" ? a * b : a / b;
}

/// A power modulo 2^64.
static std::uint64_t naturalPower(std::uint64_t base, std::uint64_t exponent) {
  std::uint64_t result = 1;
  for (; exponent > 0; exponent /= 2, base *= base)
    result *= exponent % 2 == 1 ? base : 1;
  return result;
}

/// A power of an integer, without its fraction. Precondition: 0 has no negative exponent.
static std::int64_t wholePower(std::int64_t base, std::int64_t exponent) {
  if (exponent >= 0)
    return static_cast<std::int64_t>(
        naturalPower(static_cast<std::uint64_t>(base), static_cast<std::uint64_t>(exponent)));
  return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
}

/// The power of an integer by a real exponent: exact where the exponent is whole.
static std::int64_t wholePower(int type, std::int64_t base, double exponent) {
  const double near = std::pow(static_cast<double>(base), exponent);
  const bool isExact =
      exponent == std::trunc(exponent) && std::abs(exponent) < 0x1p63 && std::abs(near) < 0x1p63;
  return isExact ? wholePower(base, static_cast<std::int64_t>(exponent)) : toInteger(type, near);
}

static FailureOr<llvm::SmallVector<ConstantTensor, 3>> broadcastAll(NodeImport &node, Constants in);

/// The exponent may be of another type than the base, which the result has.
static FailureOr<ConstantTensor> foldPow(NodeImport &node, Constants in) {
  if (in.size() != 2)
    return node.error("expected a base and an exponent");
  SYNCLINE_TRY_MLIR(operands, broadcastAll(node, in));
  ConstantTensor &base = (*operands)[0];
  const ConstantTensor &exponent = (*operands)[1];
  for (std::int64_t i = 0; i < base.size(); ++i) {
    const double power =
        exponent.isReal() ? exponent.reals[i] : static_cast<double>(exponent.ints[i]);
    if (!base.isReal() && base.ints[i] == 0 && power < 0)
      return node.error("the integer 0 has no power of " + decimal(power));
    if (base.isReal())
      base.reals[i] = base.type == TensorProto::DOUBLE
                          ? static_cast<double>(powf128(base.reals[i], power))
                          : std::pow(base.reals[i], power);
    else
      base.ints[i] = exponent.isReal() ? wholePower(base.type, base.ints[i], power)
                                       : wholePower(base.ints[i], exponent.ints[i]);
  }
  return base;
}

static FailureOr<llvm::SmallVector<ConstantTensor, 3>> broadcastPair(NodeImport &node,
                                                                     Constants in);

static FailureOr<ConstantTensor> foldClip(NodeImport &node, Constants in) {
  const std::optional<double> low = node.number("min", 1), high = node.number("max", 2);
  if (node.failed())
    return failure();
  ConstantTensor result = *in[0];
  for (double &value : result.reals)
    value = std::min(std::max(value, low.value_or(value)), high.value_or(HUGE_VAL)); // keeps NaN
  for (std::int64_t &value : result.ints) {
    value = low && static_cast<double>(value) < *low ? static_cast<std::int64_t>(*low) : value;
    value = high && static_cast<double>(value) > *high ? static_cast<std::int64_t>(*high) : value;
  }
  return result;
}

/// Operators on the bits of integers; BitwiseNot has one operand.
static FailureOr<ConstantTensor> foldBits(NodeImport &node, Constants in) {
  const llvm::StringRef op = node.op();
  const auto areIntegers = [](const ConstantTensor *x) {
    return !x->isReal() && x->type != TensorProto::BOOL;
  };
  if (in.size() != (op == "BitwiseNot" ? 1 : 2) || !llvm::all_of(in, areIntegers))
    return node.error("expected integers");
  if (in.size() == 1) {
    ConstantTensor result = *in[0];
    for (std::int64_t &value : result.ints)
      value = ~value;
    return result;
  }
  SYNCLINE_TRY_MLIR(operands, broadcastPair(node, in));
  ConstantTensor &a = (*operands)[0];
  for (const auto &[x, y] : llvm::zip_equal(a.ints, (*operands)[1].ints))
    x = op == "BitwiseAnd" ? x & y : op == "BitwiseOr" ? x | y : x ^ y;
  return a;
}

template <typename T> static bool compare(llvm::StringRef op, T a, T b) {
  if (op == "And" || op == "Or")
    return op == "And" ? a != 0 && b != 0 : a != 0 || b != 0;
  if (op == "Xor")
    return (a != 0) != (b != 0);
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
    SYNCLINE_TRY_MLIR(full, broadcastTo(node, *x, dims));
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
  SYNCLINE_TRY_MLIR(operands, broadcastPair(node, in));
  ConstantTensor &a = (*operands)[0], &b = (*operands)[1];
  for (size_t i = 0; i < a.reals.size(); ++i) {
    SYNCLINE_TRY_MLIR(value, combine(node, a.reals[i], b.reals[i]));
    a.reals[i] = *value;
  }
  for (size_t i = 0; i < a.ints.size(); ++i) {
    SYNCLINE_TRY_MLIR(value, combine(node, a.ints[i], b.ints[i]));
    a.ints[i] = *value;
  }
  return a;
}

/// Max or Min of one or more operands.
static FailureOr<ConstantTensor> foldExtreme(NodeImport &node, Constants in) {
  ConstantTensor result = *in[0];
  for (const ConstantTensor *x : in.drop_front()) {
    SYNCLINE_TRY_MLIR(next, foldBinary(node, {&result, x}));
    result = std::move(*next);
  }
  return result;
}

static FailureOr<ConstantTensor> foldComparison(NodeImport &node, Constants in) {
  SYNCLINE_TRY_MLIR(operands, broadcastPair(node, in));
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
  SYNCLINE_TRY_MLIR(operands, broadcastAll(node, in));
  ConstantTensor &yes = (*operands)[1];
  const ConstantTensor &condition = (*operands)[0], &no = (*operands)[2];
  for (std::int64_t i = 0; i < yes.size(); ++i)
    if (condition.ints[i] == 0)
      (yes.isReal() ? void(yes.reals[i] = no.reals[i]) : void(yes.ints[i] = no.ints[i]));
  return yes;
}

FoldFunction frontend::findElementwiseFold(llvm::StringRef op) {
  static const llvm::StringMap<FoldFunction> table = {
      {"Abs", foldUnary},
      {"Add", foldBinary},
      {"And", foldComparison},
      {"BitwiseAnd", foldBits},
      {"BitwiseNot", foldBits},
      {"BitwiseOr", foldBits},
      {"BitwiseXor", foldBits},
      {"Cast", foldCast},
      {"Clip", foldClip},
      {"Ceil", foldUnary},
      {"Cos", foldUnary},
      {"Div", foldBinary},
      {"Equal", foldComparison},
      {"Exp", foldUnary},
      {"Floor", foldUnary},
      {"Greater", foldComparison},
      {"GreaterOrEqual", foldComparison},
      {"IsInf", foldIsNotFinite},
      {"IsNaN", foldIsNotFinite},
      {"Less", foldComparison},
      {"LessOrEqual", foldComparison},
      {"Log", foldUnary},
      {"Max", foldExtreme},
      {"Min", foldExtreme},
      {"Mod", foldBinary},
      {"Mul", foldBinary},
      {"Neg", foldUnary},
      {"Not", foldUnary},
      {"Or", foldComparison},
      {"Pow", foldPow},
      {"Reciprocal", foldUnary},
      {"Sign", foldUnary},
      {"Sin", foldUnary},
      {"Sqrt", foldUnary},
      {"Sub", foldBinary},
      {"Where", foldWhere},
      {"Xor", foldComparison},
  };
  return table.lookup(op);
}
