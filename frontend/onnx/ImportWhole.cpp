// Operators on integers and truth values that are known when a step runs: masks, mostly. A step
// computes with f32, which holds integers up to 2^24; truth values are 0 and 1.
#include "frontend/onnx/ElementType.h"
#include "frontend/onnx/FoldConstants.h"
#include "frontend/onnx/ImportNoise.h"
#include "frontend/onnx/OpTable.h"

#include "llvm/ADT/StringMap.h"

#include "onnx/onnx_pb.h"

#include <algorithm>
#include <cmath>

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;
using Kind = nn::BinaryKind;
using onnx::TensorProto;

bool frontend::isWholeOperand(NodeImport &node, unsigned i) {
  return node.hasInput(i) && node.state.values.isWhole(node.inputName(i));
}

Value frontend::realOperand(NodeImport &node, unsigned i) {
  Value value = node.hasInput(i) ? node.state.values.real(node.inputName(i)) : Value();
  if (!value || !elementOf(value).isF32()) {
    (void)node.error("operand " + llvm::Twine(i + 1) + " cannot be computed with as f32");
    return {};
  }
  return value;
}

static Value notOf(NodeImport &node, Value truth) {
  return *createBinary(node, Kind::sub, node.scalar(1, truth), truth);
}

/// One where x is positive, zero elsewhere. x has whole numbers, or a factor makes every number but
/// the very smallest exceed one. A mask then keeps the derivative of clip, which is not zero at 0,
/// from what x is computed from.
static Value isPositive(NodeImport &node, Value x, bool isWhole) {
  if (!isWhole)
    x = *createBinary(node, Kind::mul, x, node.scalar(0x1p127, x));
  Value y = node.create<nn::UnaryOp>(x.getType(), nn::UnaryKind::clip, x, llvm::APFloat(0.0),
                                     llvm::APFloat(1.0));
  return isWhole ? y : *createBinary(node, Kind::mask, node.scalar(1, y), y);
}

static Value isNotZero(NodeImport &node, Value x, bool isWhole) {
  Value size = node.create<nn::UnaryOp>(x.getType(), nn::UnaryKind::abs, x, llvm::APFloat(0.0),
                                        llvm::APFloat(0.0));
  return isPositive(node, size, isWhole);
}

LogicalResult frontend::defineWhole(NodeImport &node, FailureOr<Value> value, int type,
                                    std::optional<WholeBounds> bounds) {
  if (failed(value) || failed(node.define(*value)))
    return failure();
  if (node.isUsed(0))
    node.state.values.setWhole(node.proto.output(0), type, bounds);
  return success();
}

static LogicalResult defineTruth(NodeImport &node, FailureOr<Value> value) {
  return defineWhole(node, value, TensorProto::BOOL, WholeBounds{0, 1});
}

/// The integers modulo 2^8 or 2^16, in that range. x - size·round(x/size) lies within half a size
/// of 0. Adding a number whose last place is 1 makes f32 round.
static Value wrapped(NodeImport &node, Value x, WholeBounds range) {
  const auto size = static_cast<double>(range.most - range.least + 1);
  constexpr double lastPlaceIsOne = 0x1.8p23;
  Value shifted = *createBinary(node, Kind::mul, x, node.scalar(1 / size, x));
  shifted = *createBinary(node, Kind::add, shifted, node.scalar(lastPlaceIsOne, x));
  Value count = *createBinary(node, Kind::sub, shifted, node.scalar(lastPlaceIsOne, x));
  Value whole = *createBinary(node, Kind::mul, count, node.scalar(size, x));
  Value rest = *createBinary(node, Kind::sub, x, whole);
  const auto most = static_cast<double>(range.most), least = static_cast<double>(range.least);
  const auto sizeWhere = [&](Value difference) {
    Value where = isPositive(node, difference, /*isWhole=*/true);
    return *createBinary(node, Kind::mul, where, node.scalar(size, x));
  };
  Value above = sizeWhere(*createBinary(node, Kind::sub, rest, node.scalar(most, x)));
  rest = *createBinary(node, Kind::sub, rest, above);
  Value below = sizeWhere(*createBinary(node, Kind::sub, node.scalar(least, x), rest));
  return *createBinary(node, Kind::add, rest, below);
}

LogicalResult frontend::defineWrapped(NodeImport &node, FailureOr<Value> x, int type,
                                      std::optional<WholeBounds> bounds) {
  constexpr std::int64_t largestWrapped = 1 << 16;
  const std::optional<WholeBounds> range = rangeOf(type);
  const bool fits =
      !range || (bounds && bounds->least >= range->least && bounds->most <= range->most);
  if (failed(x) || fits)
    return defineWhole(node, x, type, bounds);
  if (range->most > largestWrapped)
    return node.error("integers that may be negative are not supported as " + elementName(type));
  return defineWhole(node, wrapped(node, *x, *range), type, range);
}

static std::optional<WholeBounds> boundsOf(NodeImport &node, unsigned i) {
  return node.state.values.boundsOf(node.inputName(i));
}

LogicalResult frontend::importWholeCast(NodeImport &node) {
  const auto to = static_cast<int>(node.integer("to", 0));
  const bool isWhole = isWholeOperand(node, 0);
  if (const std::string why = whyNotInStep(to); !why.empty())
    return node.error(why);
  const bool isInteger = isWhole && elementType(to, node.state.builder.getContext());
  if (to != TensorProto::BOOL && to != TensorProto::FLOAT && !isInteger)
    return node.error("conversion of tensors to " + elementName(to) + " is not supported");
  const int from = isWhole ? node.state.values.wholeType(node.inputName(0)) : 0;
  const auto isWide = [](int type) {
    return type == TensorProto::INT32 || type == TensorProto::INT64;
  };
  if (from == to || (isWide(from) && isWide(to)))
    return node.defineAlias();
  Value x = realOperand(node, 0);
  if (!x)
    return failure();
  if (to == TensorProto::FLOAT)
    return node.define(x);
  return to == TensorProto::BOOL ? defineTruth(node, isNotZero(node, x, isWhole))
                                 : defineWrapped(node, x, to, boundsOf(node, 0));
}

// a < b is b - a > 0; a = b is not |a - b| > 0.
static LogicalResult importRelation(NodeImport &node) {
  const llvm::StringRef op = node.op();
  const bool isWhole = isWholeOperand(node, 0) && isWholeOperand(node, 1);
  if (Value drawn = createBernoulli(node))
    return defineTruth(node, drawn);
  Value a = realOperand(node, 0), b = a ? realOperand(node, 1) : Value();
  if (!b)
    return failure();
  if (op == "Less" || op == "GreaterOrEqual")
    std::swap(a, b);
  SYNCLINE_TRY_MLIR(difference, createBinary(node, Kind::sub, a, b));
  if (op == "Equal" || op == "Xor") {
    Value differs = isNotZero(node, *difference, isWhole);
    return defineTruth(node, op == "Xor" ? differs : notOf(node, differs));
  }
  Value truth = isPositive(node, *difference, isWhole);
  return defineTruth(node, op == "Less" || op == "Greater" ? truth : notOf(node, truth));
}

FailureOr<Value> frontend::createLess(NodeImport &node, Value a, Value b) {
  SYNCLINE_TRY_MLIR(difference, createBinary(node, Kind::sub, b, a));
  return isPositive(node, *difference, /*isWhole=*/false);
}

static LogicalResult importAnd(NodeImport &node) {
  Value a = realOperand(node, 0), b = a ? realOperand(node, 1) : Value();
  return b ? defineTruth(node, createBinary(node, Kind::mul, a, b)) : failure();
}

// a or b = a + b - a·b
static LogicalResult importOr(NodeImport &node) {
  Value a = realOperand(node, 0), b = a ? realOperand(node, 1) : Value();
  FailureOr<Value> both = b ? createBinary(node, Kind::mul, a, b) : FailureOr<Value>();
  FailureOr<Value> sum = succeeded(both) ? createBinary(node, Kind::add, a, b) : FailureOr<Value>();
  return failed(sum) ? failure() : defineTruth(node, createBinary(node, Kind::sub, *sum, *both));
}

static LogicalResult importNot(NodeImport &node) {
  Value x = realOperand(node, 0);
  return x ? defineTruth(node, notOf(node, x)) : failure();
}

/// The bounds of a sum, difference or product; unset where those of an operand are.
static std::optional<WholeBounds> boundsAfter(Kind kind, std::optional<WholeBounds> a,
                                              std::optional<WholeBounds> b) {
  if (!a || !b)
    return std::nullopt;
  if (kind == Kind::add)
    return WholeBounds{a->least + b->least, a->most + b->most};
  if (kind == Kind::sub)
    return WholeBounds{a->least - b->most, a->most - b->least};
  const auto [least, most] =
      std::minmax({a->least * b->least, a->least * b->most, a->most * b->least, a->most * b->most});
  return WholeBounds{least, most};
}

static LogicalResult importWholeBinary(NodeImport &node) {
  if (node.op() == "Div")
    return node.error("division of integers that depend on the input is not supported");
  const Kind kind = node.op() == "Add" ? Kind::add : node.op() == "Sub" ? Kind::sub : Kind::mul;
  if (!isWholeOperand(node, 0) || !isWholeOperand(node, 1))
    return node.error("operands '" + node.inputName(0) + "' and '" + node.inputName(1) +
                      "' have different element types");
  Value a = realOperand(node, 0), b = a ? realOperand(node, 1) : Value();
  if (!b)
    return failure();
  return defineWrapped(node, createBinary(node, kind, a, b),
                       node.state.values.wholeType(node.inputName(0)),
                       boundsAfter(kind, boundsOf(node, 0), boundsOf(node, 1)));
}

static LogicalResult importWholeClip(NodeImport &node) {
  const std::optional<double> low = node.number("min", 1), high = node.number("max", 2);
  Value x = node.failed() ? Value() : realOperand(node, 0);
  if (!x)
    return failure();
  if (low && high && !(*low <= *high))
    return node.error("expected min <= max, got " + decimal(*low) + " and " + decimal(*high));
  constexpr double all = 0x1p64; // more than integers are
  Value y = node.create<nn::UnaryOp>(x.getType(), nn::UnaryKind::clip, x,
                                     llvm::APFloat(low.value_or(-all)),
                                     llvm::APFloat(high.value_or(all)));
  std::optional<WholeBounds> bounds = boundsOf(node, 0);
  const auto clipped = [&](std::int64_t value) {
    const double real = static_cast<double>(value);
    return static_cast<std::int64_t>(
        std::min(std::max(real, low.value_or(real)), high.value_or(all)));
  };
  if (bounds)
    bounds = WholeBounds{clipped(bounds->least), clipped(bounds->most)};
  else if (low && high && std::abs(*low) < 0x1p53 && std::abs(*high) < 0x1p53)
    bounds = WholeBounds{static_cast<std::int64_t>(*low), static_cast<std::int64_t>(*high)};
  return defineWhole(node, y, node.state.values.wholeType(node.inputName(0)), bounds);
}

/// x moved by `by` places along the axis, with zeros in the places that become free.
static Value moved(NodeImport &node, Value x, std::int64_t axis, std::int64_t by) {
  nn::Dims begins(shapeOf(x).size(), 0);
  begins[axis] = by;
  return node.create<nn::PadOp>(x.getType(), x, begins, llvm::APFloat(0.0));
}

// Sums of one place, then of two, four, and so on: x + x moved by as many places. Integers stay
// exact, however products are computed.
static LogicalResult importCumSum(NodeImport &node) {
  Value x = realOperand(node, 0);
  SYNCLINE_TRY_MLIR(axis, x ? cumSumAxis(node, shapeOf(x).size()) : FailureOr<std::int64_t>());
  const std::int64_t count = shapeOf(x)[*axis];
  const std::int64_t sign = node.integer("reverse", 0) != 0 ? -1 : 1;
  if (node.integer("exclusive", 0) != 0)
    x = count == 1 ? *createBinary(node, Kind::mask, x, node.scalar(0, x)) // the sum of nothing
                   : moved(node, x, *axis, sign);
  for (std::int64_t by = 1; by < count; by *= 2)
    x = *createBinary(node, Kind::add, x, moved(node, x, *axis, sign * by));
  if (!isWholeOperand(node, 0))
    return node.define(x);
  std::optional<WholeBounds> bounds = boundsOf(node, 0);
  if (bounds)
    bounds = WholeBounds{std::min<std::int64_t>(0, bounds->least * count),
                         std::max<std::int64_t>(0, bounds->most * count)};
  return defineWhole(node, x, node.state.values.wholeType(node.inputName(0)), bounds);
}

ImportFunction frontend::findTruthOp(llvm::StringRef name) {
  static const llvm::StringMap<ImportFunction> table = {
      {"And", importAnd},
      {"Equal", importRelation},
      {"Greater", importRelation},
      {"Less", importRelation},
      {"GreaterOrEqual", importRelation},
      {"IsInf", importIsInfinite},
      {"IsNaN", importIsNan},
      {"LessOrEqual", importRelation},
      {"Not", importNot},
      {"Or", importOr},
      {"Xor", importRelation},
  };
  return table.lookup(name);
}

ImportFunction frontend::findWholeOp(llvm::StringRef name) {
  static const llvm::StringMap<ImportFunction> table = {
      {"Add", importWholeBinary},  {"BitwiseAnd", importBits}, {"BitwiseNot", importBits},
      {"BitwiseOr", importBits},   {"BitwiseXor", importBits}, {"Clip", importWholeClip},
      {"CumSum", importCumSum},    {"Div", importWholeBinary}, {"Max", importWholeExtreme},
      {"Min", importWholeExtreme}, {"Mul", importWholeBinary}, {"Sub", importWholeBinary},
      {"Trilu", importTriangle}};
  return table.lookup(name);
}

// The sum of two masked tensors; a masked element does not count even where it is not finite.
LogicalResult frontend::importChoice(NodeImport &node) {
  if (!isWholeOperand(node, 0))
    return node.error("expected a condition of truth values, got '" + node.inputName(0) + "'");
  const bool isWhole = isWholeOperand(node, 1);
  Value condition = realOperand(node, 0), yes = condition ? realOperand(node, 1) : Value();
  Value no = yes ? realOperand(node, 2) : Value();
  if (!no)
    return failure();
  FailureOr<Value> first = createBinary(node, Kind::mask, yes, condition);
  FailureOr<Value> second = succeeded(first)
                                ? createBinary(node, Kind::mask, no, notOf(node, condition))
                                : FailureOr<Value>();
  SYNCLINE_TRY_MLIR(sum, succeeded(second) ? createBinary(node, Kind::add, *first, *second)
                                           : FailureOr<Value>());
  if (!isWhole)
    return node.define(*sum);
  const auto a = boundsOf(node, 1), b = boundsOf(node, 2);
  std::optional<WholeBounds> bounds;
  if (a && b)
    bounds = WholeBounds{std::min(a->least, b->least), std::max(a->most, b->most)};
  return defineWhole(node, sum, node.state.values.wholeType(node.inputName(1)), bounds);
}

OpRows frontend::wholeOps() {
  static constexpr OpRow rows[] = {
      {"CumSum", {importCumSum, 2, 1}},
      {"Trilu", {importTriangle, 1, 1}},
  };
  return rows;
}
