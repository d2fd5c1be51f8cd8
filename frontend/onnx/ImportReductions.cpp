// Reductions over dimensions, most of them composed of sums and maxima, and places of extremes.
#include "frontend/onnx/OpTable.h"
#include "frontend/onnx/ShapeRules.h"

#include "llvm/ADT/StringSwitch.h"

#include "onnx/onnx_pb.h"

#include <algorithm>
#include <cstdlib>

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;
using Kind = nn::BinaryKind;
using nn::UnaryKind;

namespace {

/// The operations of a node that reduces.
class Reducer {
public:
  /// Results have the reduced dimensions as ones where `keeps` is set.
  Reducer(NodeImport &node, const nn::Dims &axes, bool keeps)
      : node(node), axes(axes), keeps(keeps) {}

  /// The node's result; null for an operator that is no reduction.
  Value reduce(Value x) {
    using Method = Value (Reducer::*)(Value);
    const auto method = llvm::StringSwitch<Method>(node.op())
                            .Case("ReduceL1", &Reducer::sumOfAbsolutes)
                            .Case("ReduceL2", &Reducer::norm)
                            .Case("ReduceLogSum", &Reducer::logOfSum)
                            .Case("ReduceLogSumExp", &Reducer::logSumExp)
                            .Case("ReduceMax", &Reducer::maximum)
                            .Case("ReduceMean", &Reducer::mean)
                            .Case("ReduceMin", &Reducer::minimum)
                            .Case("ReduceProd", &Reducer::product)
                            .Case("ReduceSum", &Reducer::sum)
                            .Case("ReduceSumSquare", &Reducer::sumOfSquares)
                            .Default(nullptr);
    return method ? (this->*method)(x) : Value();
  }

  /// The place of the largest element along the one axis, of equal ones the first or the last: the
  /// largest of numbers that tell places apart, and are zero but where a maximum is.
  Value placeOfLargest(Value x, bool isLast) {
    const double count = static_cast<double>(shapeOf(x)[axes[0]]);
    Value maxima = Reducer(node, axes, /*keeps=*/true).maximum(x);
    Value best = maximum(
        combine(Kind::mul, isLargest(x, maxima), numbersAlong(x, axes[0], /*grow=*/isLast)));
    return isLast ? combine(Kind::sub, best, node.scalar(1, best))
                  : combine(Kind::sub, node.scalar(count, best), best);
  }

  Value negative(Value x) { return apply(UnaryKind::neg, x); }

private:
  Value combine(Kind kind, Value a, Value b) { return *createBinary(node, kind, a, b); }

  Value apply(UnaryKind kind, Value x, double alpha = 0, double beta = 0) {
    return node.create<nn::UnaryOp>(x.getType(), kind, x, llvm::APFloat(alpha),
                                    llvm::APFloat(beta));
  }

  Value by(nn::Reduction kind, Value x) {
    if (axes.empty())
      return x;
    const auto type =
        RankedTensorType::get(nn::reducedShape(shapeOf(x), axes, keeps), elementOf(x));
    return node.create<nn::ReduceOp>(type, kind, x, axes);
  }

  Value maximum(Value x) { return by(nn::Reduction::maximum, x); }
  Value sum(Value x) { return by(nn::Reduction::sum, x); }
  Value mean(Value x) { return by(nn::Reduction::mean, x); }
  Value minimum(Value x) { return negative(maximum(negative(x))); }

  Value sumOfAbsolutes(Value x) { return sum(apply(UnaryKind::abs, x)); }
  Value sumOfSquares(Value x) { return sum(combine(Kind::mul, x, x)); }
  Value logOfSum(Value x) { return apply(UnaryKind::log, sum(x)); }

  /// The root of the sum of squares. Where that is zero the root is taken of one and masked, which
  /// makes the gradient zero, as in PyTorch.
  Value norm(Value x) {
    Value squares = sumOfSquares(x);
    Value isZero = combine(Kind::not_less, node.scalar(0, squares), squares);
    Value root = apply(UnaryKind::sqrt, combine(Kind::add, squares, isZero));
    return combine(Kind::mask, root, squares);
  }

  /// log Σ exp x = s + log Σ exp(x - s). s is close to the maximum and finite, so that no power
  /// overflows, and rounded, so that no gradient flows through it.
  Value logSumExp(Value x) {
    const double largest =
        llvm::APFloat::getLargest(cast<FloatType>(elementOf(x)).getFloatSemantics())
            .convertToDouble();
    Value most = Reducer(node, axes, /*keeps=*/true).maximum(x);
    Value shift = apply(UnaryKind::floor, apply(UnaryKind::clip, most, -largest, largest));
    Value powers = apply(UnaryKind::exp, combine(Kind::sub, x, shift));
    Value logarithm = apply(UnaryKind::log, sum(powers));
    return combine(Kind::add, logarithm, node.reshape(shift, shapeOf(logarithm)));
  }

  Value product(Value x) {
    const nn::Dims dims = nn::reducedShape(shapeOf(x), axes, keeps);
    BatchLayout &layout = node.state.values.layout;
    const BatchLayout::Place place = layout.of(x);
    if (place && llvm::is_contained(axes, place->dim))
      layout.refuse("it would multiply along dimension " + std::to_string(place->dim) +
                    ", which has the batch, and so mix samples");
    for (const std::int64_t axis : axes)
      x = productAlong(x, axis);
    return node.reshape(x, dims);
  }

  /// Multiplies one half of the entries by the other until one is left. The gradient is made of
  /// products, too, and so is right where factors are zero.
  Value productAlong(Value x, std::int64_t axis) {
    Value odd;
    for (std::int64_t count = shapeOf(x)[axis]; count > 1; count /= 2) {
      const std::int64_t half = count / 2;
      if (count % 2 == 1) {
        Value last = part(x, axis, count - 1, 1);
        odd = odd ? combine(Kind::mul, odd, last) : last;
      }
      x = combine(Kind::mul, part(x, axis, 0, half), part(x, axis, half, half));
    }
    return odd ? combine(Kind::mul, x, odd) : x;
  }

  Value part(Value x, std::int64_t axis, std::int64_t start, std::int64_t count) {
    SliceRanges ranges = wholeRange(shapeOf(x));
    ranges.starts[axis] = start;
    ranges.counts[axis] = count;
    return *createSlice(node, x, ranges);
  }

  /// One at the maxima of x, or where x is NaN if a maximum is, zero elsewhere.
  Value isLargest(Value x, Value maxima) {
    Value isNumber = combine(Kind::not_less, x, x);
    Value isNan = combine(Kind::sub, node.scalar(1, x), isNumber);
    return combine(Kind::add, combine(Kind::not_less, x, maxima), isNan);
  }

  /// Numbers along an axis that fall, or grow, by one from entry to entry, the least being one.
  Value numbersAlong(Value like, std::int64_t axis, bool grow) {
    const nn::DimsRef shape = shapeOf(like);
    llvm::SmallVector<float> numbers;
    for (std::int64_t i = 0; i < shape[axis]; ++i)
      numbers.push_back(static_cast<float>(grow ? i + 1 : shape[axis] - i));
    nn::Dims dims(shape.size(), 1);
    dims[axis] = shape[axis];
    const auto type = RankedTensorType::get(dims, elementOf(like));
    return node.create<nn::ConstantOp>(
        type, DenseElementsAttr::get(type, llvm::ArrayRef<float>(numbers)));
  }

  NodeImport &node;
  const nn::Dims &axes;
  const bool keeps;
};

bool keepsDims(NodeImport &node) { return node.integer("keepdims", 1) != 0; }

} // namespace

/// The bounds of a reduction of `terms` integers; unset where they are not known.
static std::optional<WholeBounds> boundsAfter(llvm::StringRef op, std::int64_t terms,
                                              std::optional<WholeBounds> x) {
  constexpr std::int64_t limit = std::int64_t(1) << 24; // of a bound; beyond it f32 is not exact
  if (!x || terms > limit || x->least < -limit || x->most > limit)
    return std::nullopt;
  if (op == "ReduceMax" || op == "ReduceMin")
    return x;
  if (op == "ReduceSum")
    return WholeBounds{x->least * terms, x->most * terms};
  const std::int64_t size = std::max(std::abs(x->least), std::abs(x->most));
  if (op == "ReduceL1")
    return WholeBounds{0, size * terms};
  return op == "ReduceSumSquare" && size <= 1 << 12
             ? std::optional(WholeBounds{0, size * size * terms})
             : std::nullopt;
}

/// A reduction of integers or truth values to such, computed in f32.
static LogicalResult importWholeReduction(NodeImport &node) {
  const llvm::StringRef op = node.op();
  const bool isWhole = llvm::StringSwitch<bool>(op)
                           .Cases("ReduceL1", "ReduceMax", "ReduceMin", "ReduceProd", true)
                           .Cases("ReduceSum", "ReduceSumSquare", true)
                           .Default(false);
  const int type = node.state.values.wholeType(node.inputName(0));
  const bool isExtreme = op == "ReduceMax" || op == "ReduceMin";
  if (!isWhole || (type == onnx::TensorProto::BOOL && !isExtreme))
    return node.error("expected floating-point elements in '" + node.inputName(0) + "'");
  Value x = realOperand(node, 0);
  SYNCLINE_TRY_MLIR(axes, x ? reducedAxes(node, shapeOf(x).size()) : FailureOr<nn::Dims>());
  Value y = Reducer(node, *axes, keepsDims(node)).reduce(x);
  const std::int64_t terms = nn::elementCount(shapeOf(x)) / nn::elementCount(shapeOf(y));
  return defineWhole(node, y, type,
                     boundsAfter(op, terms, node.state.values.boundsOf(node.inputName(0))));
}

static LogicalResult importReduction(NodeImport &node) {
  Value x = node.tensor(0);
  SYNCLINE_TRY_MLIR(axes, reducedAxes(node, shapeOf(x).size()));
  Value y = Reducer(node, *axes, keepsDims(node)).reduce(x);
  return y == x ? node.defineAlias() : node.define(y);
}

// NaN counts as the largest and as the smallest, as in PyTorch.
static LogicalResult importPlaceOfExtreme(NodeImport &node) {
  constexpr std::int64_t most = 1 << 24; // entries that f32 can number
  if (!node.state.isStep)
    return node.error("its result of integers is known by its shape");
  Value x = realOperand(node, 0);
  SYNCLINE_TRY_MLIR(axis, x ? node.axis(node.integer("axis", 0), shapeOf(x).size())
                            : FailureOr<std::int64_t>());
  const std::int64_t count = shapeOf(x)[*axis];
  if (count > most)
    return node.error("expected at most " + llvm::Twine(most) + " entries along axis " +
                      llvm::Twine(*axis) + ", got " + llvm::Twine(count));
  const nn::Dims axes{*axis};
  Reducer along(node, axes, keepsDims(node));
  Value place = along.placeOfLargest(node.op() == "ArgMin" ? along.negative(x) : x,
                                     node.integer("select_last_index", 0) != 0);
  return defineWhole(node, place, onnx::TensorProto::INT64, WholeBounds{0, count - 1});
}

ImportFunction frontend::findWholeReduction(llvm::StringRef name) {
  return llvm::StringSwitch<ImportFunction>(name)
      .StartsWith("Reduce", importWholeReduction)
      .Cases("ArgMax", "ArgMin", importPlaceOfExtreme)
      .Default(nullptr);
}

OpRows frontend::reductionOps() {
  static constexpr OpRow rows[] = {
      {"ArgMax", {importPlaceOfExtreme, 1, 1}},  {"ArgMin", {importPlaceOfExtreme, 1, 1}},
      {"ReduceL1", {importReduction, 1, 1}},     {"ReduceL2", {importReduction, 1, 1}},
      {"ReduceLogSum", {importReduction, 1, 1}}, {"ReduceLogSumExp", {importReduction, 1, 1}},
      {"ReduceMax", {importReduction, 1, 1}},    {"ReduceMean", {importReduction, 1, 1}},
      {"ReduceMin", {importReduction, 1, 1}},    {"ReduceProd", {importReduction, 1, 1}},
      {"ReduceSum", {importReduction, 1, 1}},    {"ReduceSumSquare", {importReduction, 1, 1}},
  };
  return rows;
}
