// Finds equal copies by going back through the operations that made them.
#include "frontend/onnx/BindCopies.h"

#include "frontend/onnx/BatchLayout.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cstring>
#include <map>
#include <tuple>

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

namespace {

/// Whether the operation makes all entries of the result's dimension from one, or from none.
bool repeatsAll(nn::BroadcastOp op, std::int64_t dim) {
  const std::int64_t d = dim - (rankOf(op.getY()) - rankOf(op.getX()));
  return d < 0 || shapeOf(op.getX())[d] == 1;
}

/// One rule an operation: which of its operands have to have equal copies for its result to have.
class Alike {
public:
  Alike(std::int64_t count, llvm::SmallVectorImpl<Operation *> &made) : count(count), made(made) {}

  bool of(Value value, const BatchPlace &place) {
    constexpr int deepest = 256;
    if (place.dim < 0 || place.dim >= rankOf(value) ||
        shapeOf(value)[place.dim] != place.factor() * count || depth == deepest)
      return false;
    if (count == 1)
      return true;
    const auto [known, isNew] = answers.try_emplace(
        {value.getAsOpaquePointer(), place.dim, place.outer, place.inner}, false);
    if (!isNew)
      return known->second;
    Operation *op = value.getDefiningOp();
    ++depth;
    const bool isAlike = op && op->getResult(0) == value && check(op, place);
    --depth;
    return known->second = isAlike;
  }

private:
  bool check(Operation *op, const BatchPlace &place) {
    return llvm::TypeSwitch<Operation *, bool>(op)
        .Case<nn::ConstantOp>([&](auto op) { return ofConstant(op, place); })
        .Case<nn::UnaryOp>([&](auto op) { return of(op.getX(), place); })
        .Case<nn::BinaryOp>([&](auto op) {
          return repeated(op.getA(), op.getY(), place) && repeated(op.getB(), op.getY(), place);
        })
        .Case<nn::BroadcastOp>([&](nn::BroadcastOp op) {
          if (!repeatsAll(op, place.dim))
            return repeated(op.getX(), op.getY(), place);
          made.push_back(op);
          return true;
        })
        .Case<nn::ReshapeOp>([&](nn::ReshapeOp op) {
          const auto from = placeIn(shapeOf(op.getX()), spanOf(shapeOf(op.getY()), place), count);
          return from && of(op.getX(), *from);
        })
        .Case<nn::TransposeOp>([&](nn::TransposeOp op) {
          return of(op.getX(), at(place, op.getPermutation()[place.dim]));
        })
        .Case<nn::SliceOp>([&](nn::SliceOp op) {
          const bool isWhole = op.getStarts()[place.dim] == 0 && op.getSteps()[place.dim] == 1;
          return isWhole && of(op.getX(), place);
        })
        .Case<nn::ConcatOp>([&](nn::ConcatOp op) {
          return static_cast<std::int64_t>(op.getAxis()) != place.dim &&
                 llvm::all_of(op.getXs(), [&](Value x) { return of(x, place); });
        })
        .Case<nn::MatmulOp>([&](auto op) { return ofMatmul(op, place); })
        .Case<nn::SoftmaxOp>([&](nn::SoftmaxOp op) {
          return static_cast<std::int64_t>(op.getAxis()) != place.dim && of(op.getX(), place);
        })
        .Case<nn::LayerNormOp>([&](nn::LayerNormOp op) {
          return place.dim < rankOf(op.getX()) - rankOf(op.getScale()) && of(op.getX(), place);
        })
        .Case<nn::EmbeddingOp>([&](nn::EmbeddingOp op) {
          return place.dim < rankOf(op.getIds()) && of(op.getIds(), place);
        })
        .Default([](Operation *) { return false; });
  }

  static BatchPlace at(BatchPlace place, std::int64_t dim) {
    place.dim = dim;
    return place;
  }

  /// Whether an operand that is broadcast to `y` has equal copies, or the one that all share.
  bool repeated(Value x, Value y, const BatchPlace &place) {
    const std::int64_t d = place.dim - (rankOf(y) - rankOf(x));
    return d < 0 || shapeOf(x)[d] == 1 || of(x, at(place, d));
  }

  bool ofConstant(nn::ConstantOp op, const BatchPlace &place) {
    auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
    if (!elements || elements.isSplat())
      return elements != nullptr;
    const std::int64_t width = elements.getElementType().getIntOrFloatBitWidth() / 8;
    const auto span = spanOf(shapeOf(op.getResult()), place);
    const char *data = elements.getRawData().data();
    const std::int64_t bytes = span.after * width;
    for (std::int64_t i = 0; width > 0 && i < span.before * count; ++i)
      if (std::memcmp(data + i * bytes, data + i / count * count * bytes, bytes) != 0)
        return false;
    return width > 0;
  }

  bool ofMatmul(nn::MatmulOp op, const BatchPlace &place) {
    const std::int64_t rank = rankOf(op.getY());
    Value a = op.getA(), b = op.getB(), bias = op.getBias();
    if (bias && !repeated(bias, op.getY(), place))
      return false;
    if (place.dim == rank - 2)
      return of(a, at(place, rankOf(a) - (op.getTransposeA() ? 1 : 2)));
    if (place.dim == rank - 1)
      return of(b, at(place, rankOf(b) - (op.getTransposeB() ? 2 : 1)));
    return repeated(a, op.getY(), place) && repeated(b, op.getY(), place);
  }

  const std::int64_t count;
  llvm::SmallVectorImpl<Operation *> &made;
  std::map<std::tuple<const void *, std::int64_t, std::int64_t, std::int64_t>, bool> answers;
  int depth = 0;
};

/// Whether `value`, which has no batch, has the same for each of `count` samples at the place. The
/// operations that make it say so; `made` gets those that made copies of one.
bool hasEqualCopies(Value value, BatchPlace place, std::int64_t count,
                    llvm::SmallVectorImpl<Operation *> &made) {
  return Alike(count, made).of(value, place);
}

} // namespace

/// Operators whose operands' dimensions are counted from the last one, and agree or are repeated.
static bool joins(llvm::StringRef op) {
  return llvm::StringSwitch<bool>(op)
      .Cases("Add", "Attention", "Concat", "Div", "MatMul", "Max", "Min", "Mul", true)
      .Cases("PRelu", "Sub", "Sum", "Where", true)
      .Default(false);
}

/// The batch's place in an operand, with its dimension counted from the end.
static BatchLayout::Place placeFromEnd(NodeImport &node) {
  GraphValues &values = node.state.values;
  for (unsigned i = 0; i < node.inputCount(); ++i) {
    if (!node.hasInput(i) || !node.isBatched(i))
      continue;
    Value operand = node.tensor(i);
    BatchLayout::Place place = operand ? values.layout.of(operand) : std::nullopt;
    if (!place)
      continue;
    place->dim = static_cast<std::int64_t>(shapeOf(operand).size()) - place->dim;
    return place;
  }
  return {};
}

/// As many copies as the batch has, of one of those that `x` has at the place.
static Value boundCopies(NodeImport &node, Value x, const BatchPlace &place) {
  const BatchLayout &layout = node.state.values.layout;
  nn::Dims dims(shapeOf(x));
  dims[place.dim] = place.factor() * layout.batch;
  auto type = RankedTensorType::get(dims, elementOf(x));
  auto all = x.getDefiningOp<nn::BroadcastOp>();
  if (all && repeatsAll(all, place.dim))
    return node.create<nn::BroadcastOp>(type, all.getX());
  nn::Dims apart(shapeOf(x));
  const std::size_t at = place.dim + 1;
  const nn::Dims parts{place.outer, *layout.exported, place.inner};
  apart.erase(apart.begin() + place.dim);
  apart.insert(apart.begin() + place.dim, parts.begin(), parts.end());
  const nn::Dims starts(apart.size(), 0), steps(apart.size(), 1);
  Value one = node.reshape(x, apart);
  const auto resized = [&](std::int64_t copies) {
    apart[at] = copies;
    return RankedTensorType::get(apart, elementOf(x));
  };
  if (*layout.exported > 1)
    one = node.create<nn::SliceOp>(resized(1), one, starts, steps);
  return node.reshape(node.create<nn::BroadcastOp>(resized(layout.batch), one), dims);
}

/// Where operand `i` has the copies, of which there are as many as the file has samples.
static BatchLayout::Place placeOfCopies(NodeImport &node, unsigned i, BatchPlace place) {
  const BatchLayout &layout = node.state.values.layout;
  const RankedTensorType type = node.state.values.typeOf(node.inputName(i));
  const std::int64_t fromEnd = place.dim;
  if (!type || !isa<FloatType>(type.getElementType()) || type.getRank() < fromEnd)
    return {};
  place.dim = type.getRank() - fromEnd;
  if (type.getDimSize(place.dim) != place.factor() * *layout.exported)
    return {};
  const bool isConcat = node.op() == "Concat";
  const std::int64_t axis = isConcat ? node.integer("axis", 0) : 0;
  const bool isAlong = isConcat && (axis < 0 ? axis + type.getRank() : axis) == place.dim;
  const bool isSummed = node.op() == "MatMul" && fromEnd <= 2;
  // One copy is repeated by elementwise operators and products themselves.
  const bool isOne = place.factor() * *layout.exported == 1;
  const bool isRepeated = isOne && !isConcat && node.op() != "Attention";
  return isAlong || isSummed || isRepeated ? std::nullopt : BatchLayout::Place(place);
}

void frontend::bindCopies(NodeImport &node) {
  GraphValues &values = node.state.values;
  BatchLayout &layout = values.layout;
  if (!layout.exported || *layout.exported == layout.batch || !joins(node.op()))
    return;
  const BatchLayout::Place batch = placeFromEnd(node);
  for (unsigned i = 0; batch && i < node.inputCount(); ++i) {
    const BatchLayout::Place place =
        node.hasInput(i) ? placeOfCopies(node, i, *batch) : std::nullopt;
    Value x = place ? node.tensor(i) : Value();
    if (!x || layout.of(x))
      continue;
    llvm::SmallVector<Operation *> made;
    if (!hasEqualCopies(x, *place, *layout.exported, made))
      continue;
    for (Operation *op : made)
      node.state.copies.erase(op);
    Value y = boundCopies(node, x, *place);
    layout.set(y, place);
    node.bind(i, y);
  }
}

void frontend::addCopies(NodeImport &node, nn::BroadcastOp all) {
  const BatchLayout &layout = node.state.values.layout;
  if (layout.isAsExported() || layout.exported == 1)
    return;
  const nn::DimsRef dims = shapeOf(all);
  const std::string result = node.describe() + ": its result of shape " + nn::toString(dims);
  const std::string hint = layout.exportHint(/*isOpen=*/true);
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (!repeatsAll(all, static_cast<std::int64_t>(d)) || dims[d] == 1)
      continue;
    if (!layout.exported) {
      node.state.copies[all] = {result + " does not follow the batch" + hint, false};
    } else if (dims[d] == *layout.exported) {
      node.state.copies[all] = {result + " has copies for a batch of " + std::to_string(dims[d]) +
                                    ", expected " + std::to_string(layout.batch) + hint,
                                d == 0};
      return;
    }
  }
}

/// The operations of operands that have something else where another one has the batch.
static llvm::SetVector<Operation *> unfitOperands(NodeImport &node) {
  GraphValues &values = node.state.values;
  llvm::SetVector<Operation *> unfit;
  const BatchLayout::Place batch = placeFromEnd(node);
  for (unsigned i = 0; batch && i < node.inputCount(); ++i) {
    if (!node.hasInput(i) || !values.isComputed(values.rootOf(node.inputName(i))))
      continue;
    Value operand = node.tensor(i);
    const std::int64_t d = operand ? rankOf(operand) - batch->dim : -1;
    if (d < 0 || values.layout.of(operand) || !operand.getDefiningOp())
      continue;
    if (shapeOf(operand)[d] != 1)
      unfit.insert(operand.getDefiningOp());
  }
  return unfit;
}

std::string frontend::copiesBehind(NodeImport &node) {
  constexpr std::size_t mostVisited = 256;
  ImportState &state = node.state;
  if (state.copies.empty())
    return {};
  llvm::SetVector<Operation *> behind = unfitOperands(node);
  for (std::size_t i = 0; i < behind.size() && i < mostVisited; ++i) {
    if (const auto made = state.copies.find(behind[i]); made != state.copies.end())
      return made->second.what;
    for (Value operand : behind[i]->getOperands())
      if (operand.getDefiningOp() && !state.values.layout.of(operand))
        behind.insert(operand.getDefiningOp());
  }
  return {};
}

Status frontend::checkCopies(const ImportState &state) {
  for (const auto &[op, copies] : state.copies)
    if (copies.isFirst)
      return Status::badInput(copies.what);
  return Status::ok();
}
